#!/usr/bin/env python3
"""Why sand runs out of holes faster than Beverloo's law says and why a drum stands steeper than its friction angle: the same two scenes
with one thing changed at a time."""
import numpy as np

from common import G, Tool

WIDTH, MOUTH, HOLE = 0.2, 0.2, 0.1  # m: silo, height of its floor, hole
RADIUS, DEPTH = 0.2, 0.04  # m: drum, length of its axis

SILO = {
    "as it is": {}, "cells half as wide": {"cell": 0.005}, "cells twice as wide": {"cell": 0.02, "plate": 0.04},
    "300 iterations, 3 rounds": {"flip": {"friction_iterations": 300, "friction_rounds": 3}},
    "floor friction 0 for 0.5": {"floor": 0.0}, "floor friction 1 for 0.5": {"floor": 1.0},
    "friction angle 20° for 30°": {"angle": 20}, "friction angle 40° for 30°": {"angle": 40},
    "no density correction": {"flip": {"density_rate": 0}}, "pressure may pull": {"flip": {"unilateral": "none"}},
    "floor 1 cm thick for 3": {"plate": 0.01}, "PIC": {"material": {"transfer": "pic"}},
    "both": {"plate": 0.01, "material": {"transfer": "pic"}},
}
DRUM = {
    "as it is": {}, "cells 2/3 as wide": {"cell": RADIUS / 30}, "cells twice as wide": {"cell": 0.02},
    "a turn in 40 s for 10": {"period": 40, "seconds": 10}, "friction angle 10° for 30°": {"angle": 10},
    "100 iterations": {"flip": {"friction_iterations": 100}},
    "300 iterations, 3 rounds": {"flip": {"friction_iterations": 300, "friction_rounds": 3}},
    "sleep off": {"flip": {"sleep": False}}, "a turn in 5 s for 10": {"period": 5},
}


def silo_scene(cell=0.01, plate=0.03, floor=0.5, angle=30, flip=None, material=None):
    high = MOUTH + 0.2 + 2 * cell
    return {
        "solver": "flip", "cell_size": cell, "fps": 30, "frames": 15, "flip": flip or {},
        "domain": {"min": [0, 0, 0], "max": [WIDTH, WIDTH, high], "walls": {"friction": 0.5, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle, **(material or {})}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, MOUTH], "max": [WIDTH, WIDTH, MOUTH + 0.2]}}}],
        "colliders": [{"name": "floor", "friction": floor, "shape": {"difference": [
            {"box": {"min": [-0.1, -0.1, MOUTH - plate], "max": [WIDTH + 0.1, WIDTH + 0.1, MOUTH]}},
            {"cylinder": {"from": [WIDTH / 2, WIDTH / 2, MOUTH - plate - 0.02], "to": [WIDTH / 2, WIDTH / 2, MOUTH + 0.01],
                          "radius": HOLE / 2}}]}}],
        "drains": [{"shape": {"box": {"min": [-1, -1, -1], "max": [1, 1, 0.07]}}}],
    }


def silo_row(run, cell):
    """C of Q = C sqrt(g) D^(5/2) from the fifth frame on; fill and speed in the centimetre on either side of the mouth."""
    above, inside, axis = [], 0, []
    frames = range(5, run.frames + 1)
    for frame in frames:
        position, velocity = run.read(frame, "position", "velocity")
        above.append((position[:, 2] > MOUTH).sum() * (0.5 * cell) ** 3)
        away = np.hypot(position[:, 0] - WIDTH / 2, position[:, 1] - WIDTH / 2)
        mouth = (np.abs(position[:, 2] - MOUTH) < 0.01) & (away < HOLE / 2)
        inside += mouth.sum() * (0.5 * cell) ** 3 / len(frames)
        axis.append(-velocity[mouth & (away < HOLE / 8), 2])
    rate = -np.polyfit(np.arange(len(frames)) / run.fps, above, 1)[0]
    return {"C": rate / (np.sqrt(G) * HOLE ** 2.5), "fill": inside / (0.02 * np.pi * HOLE ** 2 / 4),
            "axis": np.concatenate(axis).mean() / np.sqrt(G * HOLE)}


def drum_scene(cell=0.01, period=10, seconds=4, angle=30, flip=None):
    return {
        "solver": "flip", "cell_size": cell, "fps": 8, "frames": 8 * seconds + 1, "flip": flip or {},
        "domain": {"min": [-0.24, 0, -0.24], "max": [0.24, DEPTH, 0.24], "walls": {"friction": 0}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [-0.2, 0, -0.2], "max": [0.2, DEPTH, 0]}}}],
        "colliders": [{"friction": 1, "shape": {
            "difference": [{"box": {"min": [-0.4, -1, -0.4], "max": [0.4, 1, 0.4]}},
                           {"cylinder": {"from": [0, -2, 0], "to": [0, 2, 0], "radius": RADIUS}}],
            "rotate": {"keys": [[0, [0, 0, 0]], [20, [0, -7200 / period, 0]]]}}}],
    }


def drum_row(run, cell):
    """Of the second half of the run: slope of the middle of the surface; speed at the surface down the slope, and how many cells
    below it sand no longer moves down."""
    bins = (np.arange(10) + 0.5) * RADIUS / 10 - 0.5 * RADIUS
    angles, depths, speeds = [], [], []
    for frame in range(run.frames // 2 + 1, run.frames + 1):
        position, velocity = run.read(frame, "position", "velocity")
        count = np.histogram(position[:, 0], bins=10, range=(-0.5 * RADIUS, 0.5 * RADIUS))[0]
        top = count * cell ** 3 / 8 / (RADIUS / 10 * DEPTH) - np.sqrt(RADIUS ** 2 - bins ** 2)
        slope = np.arctan(np.polyfit(bins, top, 1)[0])
        angles.append(np.degrees(slope))
        along, across = np.array([np.cos(slope), np.sin(slope)]), np.array([np.sin(slope), -np.cos(slope)])
        middle = np.abs(position[:, [0, 2]] @ along) < 0.04
        depths.append(position[middle][:, [0, 2]] @ across)
        speeds.append(-velocity[middle][:, [0, 2]] @ along)
    depth, speed = np.concatenate(depths), np.concatenate(speeds)
    depth = (depth - np.percentile(depth, 1)) / cell
    layers = [speed[(depth >= k) & (depth < k + 1)].mean() for k in range(12)]
    return {"angle": np.mean(angles), "speed": layers[0], "layer": next((k for k, v in enumerate(layers) if v < 0), None)}


def main():
    tool = Tool("causes", __doc__)
    rows = []
    for scenes, scene, measure, kind in ((SILO, silo_scene, silo_row, "silo"), (DRUM, drum_scene, drum_row, "drum")):
        for index, (name, change) in enumerate(list(scenes.items())[:2 if tool.quick else None]):
            run = tool.run(f"{kind}{index}", scene(**change))
            rows.append({"scene": kind, "change": name, **{key: None if value is None else float(value) for key, value in
                                                            measure(run, change.get("cell", 0.01)).items()}})
            tool.forget(run)
    tool.write(rows, [("scene", "scene", ""), ("change", "what is changed", ""), ("C", "C", ".2f"), ("fill", "fill of the mouth", ".2f"),
                      ("axis", "speed on its axis / √(gD)", ".2f"), ("angle", "slope, °", ".1f"),
                      ("speed", "speed at the surface, m/s", ".2f"), ("layer", "layer that flows, cells", ".0f")])


if __name__ == "__main__":
    main()
