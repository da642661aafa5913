#!/usr/bin/env python3
"""Instructions of a step of flip with a mesh that moves slowly against the same step with the mesh at rest.

tools/moving_mesh.py WADI [NAME ...] writes the meshes and scenes to a temporary folder, runs each for two
steps on one thread under callgrind, and prints the second step: the first also samples what is at rest.
Valgrind knows no AVX-512: build with -DWADI_NATIVE=OFF -DCMAKE_C_FLAGS=-march=x86-64-v3.
"""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

CELL = 0.025
SCENE = """wadi: 1
solver: flip
cell_size: {cell}
frames: 3
domain: {{min: [-0.5, -0.5, 0], max: [0.5, 0.5, 0.9]}}
materials: {{m: {{kind: water}}}}
bodies: [{{material: m, shape: {{box: {{min: [-0.5, -0.5, 0], max: [0.5, 0.5, 0.36]}}}}}}]
colliders: [{{name: c, shape: {{mesh: {{file: {mesh}}}, translate: {translate}, rotate: {rotate}}}}}]
"""


def lathe(profile, sides):
    """Closed surface of a profile of (radius, height) from axis to axis."""
    vertices, triangles, rings = [], [], []
    for r, z in profile:
        first = len(vertices)
        count = 1 if r == 0 else sides
        turns = [2 * math.pi * i / sides for i in range(count)]
        vertices += [(r * math.cos(t), r * math.sin(t), z) for t in turns]
        rings.append([first + i % count for i in range(sides)])
    for a, b in zip(rings, rings[1:]):
        for i in range(sides):
            j = (i + 1) % sides
            for t in ((a[i], a[j], b[j]), (a[i], b[j], b[i])):
                if len(set(t)) == 3:
                    triangles.append(t)
    return vertices, triangles


def blade(turn, thickness, along=16, across=6):
    """A twisted blade of a propeller."""
    def point(i, j, side):
        x, c = 0.05 + 0.28 * i / along, (j / across - 0.5) * 0.16
        twist, t = math.radians(60 - 35 * i / along), 0.5 * thickness * side
        y, z = c * math.cos(twist) - t * math.sin(twist), c * math.sin(twist) + t * math.cos(twist)
        return x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn), z

    vertices, index, triangles = [], {}, []
    for side in (1, -1):
        for i in range(along + 1):
            for j in range(across + 1):
                index[i, j, side] = len(vertices)
                vertices.append(point(i, j, side))
    for side in (1, -1):
        for i in range(along):
            for j in range(across):
                q = [index[i, j, side], index[i + 1, j, side], index[i + 1, j + 1, side], index[i, j + 1, side]]
                q = q if side > 0 else q[::-1]
                triangles += [(q[0], q[1], q[2]), (q[0], q[2], q[3])]
    rim = [(i, 0) for i in range(along)] + [(along, j) for j in range(across)]
    rim += [(i, across) for i in range(along, 0, -1)] + [(0, j) for j in range(across, 0, -1)]
    for p, q in zip(rim, rim[1:] + rim[:1]):
        a, b, c, d = index[p + (1,)], index[p + (-1,)], index[q + (-1,)], index[q + (1,)]
        triangles += [(a, b, c), (a, c, d)]
    return vertices, triangles


def join(parts):
    vertices, triangles = [], []
    for v, t in parts:
        triangles += [tuple(i + len(vertices) for i in one) for one in t]
        vertices += v
    return vertices, triangles


def vessel(wall):
    return lathe([(0, 0), (0.24, 0), (0.33, 0.6), (0.33 - wall, 0.6), (0.24 - wall, wall), (0, wall)], 40)


def bumpy(rings=32):
    turns = [math.pi * i / rings for i in range(1, rings)]
    inner = [(0.25 * math.sin(a) * (1 + 0.15 * math.cos(4 * a)), -0.25 * math.cos(a)) for a in turns]
    return lathe([(0, -0.25)] + inner + [(0, 0.25)], 48)


def propeller():
    hub = lathe([(0, -0.09), (0.045, -0.09), (0.045, 0.09), (0, 0.09)], 24)
    return join([blade(2 * math.pi * k / 3, 0.3 * CELL) for k in range(3)] + [hub])


CASES = {  # mesh or its file, height of its origin
    "vessel, walls of 0.3 cells": (lambda: vessel(0.3 * CELL), 0.05),
    "scenes/bucket, walls of 2 cells": ("scenes/bucket/bucket.obj", 0.05),
    "bumpy ball": (bumpy, 0.35),
    "propeller, blades of 0.3 cells": (propeller, 0.25),
}
MOTIONS = {"at rest": ((0, 0, 0), 0), "turning": ((0, 0, 0), 10), "sliding": ((0.05, 0.02, 0.03), 0)}


def write_mesh(mesh, path):
    if isinstance(mesh, str):
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", mesh), path)
        return
    vertices, triangles = mesh()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("v %.6f %.6f %.6f\n" % v for v in vertices)
        file.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in triangles)


def keys(start, end):
    return list(start) if start == end else "{keys: [[0, %s], [10, %s]]}" % (list(start), list(end))


def second_step(wadi, folder, scene):
    out = os.path.join(folder, "callgrind")
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=wadi_flip_take_step",
               "--dump-after=wadi_flip_take_step", "--callgrind-out-file=" + out, wadi, "run", scene,
               "-o", os.path.join(folder, "run"), "--overwrite", "--threads", "1", "-q"]
    subprocess.run(command, check=True, capture_output=True)
    with open(out + ".2", encoding="utf-8") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1]) / 1e6


def main():
    wadi, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(CASES)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            mesh, height = CASES[name]
            write_mesh(mesh, os.path.join(folder, "mesh.obj"))
            still = None
            for motion, (slide, turn) in MOTIONS.items():
                at = (0.01, 0.02, height)
                text = SCENE.format(cell=CELL, mesh="mesh.obj",
                                    translate=keys(at, tuple(a + s for a, s in zip(at, slide))),
                                    rotate=keys((10, 5, 0), (10, 5, turn)))
                scene = os.path.join(folder, "scene.yaml")
                with open(scene, "w", encoding="utf-8") as file:
                    file.write(text)
                count = second_step(wadi, folder, scene)
                still = still or count
                print(f"{name}, {motion}: {count:.0f} million, {count / still:.2f} times", flush=True)


if __name__ == "__main__":
    main()
