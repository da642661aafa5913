#!/usr/bin/env python3
"""Times wadi and Blender's Mantaflow in turn on one scene: a ball of water of 267,000 particles drops into a box of 100^3 cells.

Both take steps of at most four cells, keep all particles and write every frame. Prints seconds a frame of each run, means and
medians, and how many times faster wadi is. Blender 3 or later must be installed.

    tools/beside_mantaflow.py build/wadi            two bakes between three series of 14 runs, about three minutes
    tools/beside_mantaflow.py build/wadi --runs 4 --bakes 1
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FRAMES = 24
SCENE = """wadi: 1
name: ball
solver: flip
domain: {min: [-2, -2, 0], max: [2, 2, 4], walls: {friction: 0}}
resolution: 100
particles_per_cell: 8
frames: %d
fps: 24
flip: {cfl: 4}
materials: {water: {kind: water}}
bodies: [{material: water, shape: {sphere: {center: [0, 0, 1.4], radius: 0.8}}}]
""" % FRAMES

# Runs inside Blender, with the folder for its cache as the last argument.
BAKE = """
import sys, time
import bpy

bpy.ops.object.select_all(action='SELECT')
bpy.ops.object.delete()
bpy.context.scene.render.fps = 24
bpy.context.scene.frame_end = %(frames)d
bpy.ops.mesh.primitive_uv_sphere_add(segments=96, ring_count=48, radius=0.8, location=(0, 0, 1.4))
flow = bpy.context.object.modifiers.new('flow', 'FLUID')
flow.fluid_type = 'FLOW'
flow.flow_settings.flow_type = 'LIQUID'
flow.flow_settings.flow_behavior = 'GEOMETRY'
bpy.ops.mesh.primitive_cube_add(size=4, location=(0, 0, 2))
fluid = bpy.context.object.modifiers.new('domain', 'FLUID')
fluid.fluid_type = 'DOMAIN'
domain = fluid.domain_settings
domain.domain_type = 'LIQUID'
domain.resolution_max = 100
domain.particle_number = 2          # along an axis of a cell
domain.particle_band_width = 1000   # no particle is given up
domain.cfl_condition = 4
domain.cache_type = 'MODULAR'
domain.cache_data_format = 'UNI'
domain.cache_directory = sys.argv[-1]
domain.cache_frame_start = 1
domain.cache_frame_end = %(frames)d
bpy.context.scene.frame_set(1)
start = time.time()
bpy.ops.fluid.bake_data()
print('SECONDS', time.time() - start)
""" % {"frames": FRAMES}


def run_wadi(wadi, folder):
    scene = os.path.join(folder, "ball.yaml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SCENE)
    run = tempfile.mkdtemp(suffix=".run", dir=folder)
    start = time.time()
    subprocess.run([wadi, "run", scene, "-o", run, "-q"], check=True)
    wall = time.time() - start
    with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
        return wall / FRAMES, json.load(file)["seconds"]["total"] / FRAMES


def run_mantaflow(blender, folder):
    script = os.path.join(folder, "bake.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(BAKE)
    command = [blender, "-b", "-t", str(os.cpu_count()), "--factory-startup", "-P", script, "--",
               tempfile.mkdtemp(dir=folder)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if line.startswith("SECONDS"):
            return float(line.split()[1]) / FRAMES
    sys.exit("blender said nothing of its time:\n" + text[-2000:])


def show(name, seconds):
    print("%-28s mean %.4f  median %.4f  least %.4f  most %.4f s a frame" %
          (name, statistics.mean(seconds), statistics.median(seconds), min(seconds), max(seconds)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wadi")
    parser.add_argument("--blender", default="blender")
    parser.add_argument("--runs", type=int, default=14, help="of wadi, before and after each bake")
    parser.add_argument("--bakes", type=int, default=2)
    arguments = parser.parse_args()
    walls, totals, bakes = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.bakes + 1):
            for _ in range(arguments.runs):
                wall, total = run_wadi(arguments.wadi, folder)
                walls.append(wall)
                totals.append(total)
            if turn < arguments.bakes:
                bakes.append(run_mantaflow(arguments.blender, folder))
    show("wadi, the whole command", walls)
    show("wadi, by its run.json", totals)
    show("Mantaflow, bake of the data", bakes)
    for name, seconds in (("the whole command", walls), ("run.json", totals)):
        print("wadi is %.1f times faster by the means, %.1f by its median (%s)" %
              (statistics.mean(bakes) / statistics.mean(seconds),
               statistics.mean(bakes) / statistics.median(seconds), name))


main()
