#!/usr/bin/env python3
"""Rest: a column slumps and then lies for a long time. Speeds, drift and front while it lies, and what a step costs then against
a step while it flows."""
import numpy as np

from common import Tool, drift, mean_speed, thickness
from svg_plot import Plot

FPS = 8

def scene(resolution, seconds):
    return {
        "solver": "flip", "resolution": resolution, "fps": FPS, "frames": FPS * seconds + 1,
        "domain": {"min": [0, 0, 0], "max": [1, 0.3, 0.5], "walls": {"friction": 0.7}},
        "materials": {"sand": {"kind": "sand", "friction_angle": 35}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.25, 0.3, 0.3]}}}],
    }


def steps_and_seconds(run):
    """Steps so far and the seconds spent in them, without the writing of frames."""
    stages = run.summary["seconds"]["stages"]
    return run.summary["steps"], sum(stages.values()) - sum(stages.get(name, 0.0) for name in ("snapshot", "wait for disk"))


def step_cost(tool, name, made, begin, end):
    """Seconds a step between two frames: the run stops at the one and is continued to the other."""
    steps, seconds = steps_and_seconds(tool.run(name, made, frames=begin))
    run = tool.run(name, made, frames=end, resume=True)
    more_steps, more_seconds = steps_and_seconds(run)
    return run, (more_seconds - seconds) / (more_steps - steps)


def front_of(run, frame, cell):
    profile = thickness(run.read(frame, "position"), (0, 0), (1, 0.3), cell, 0.5 * cell).mean(axis=1)
    return float(np.flatnonzero(profile > 0.03 * 0.25).max(initial=0) + 1)


def main():
    tool = Tool("rest", __doc__)
    resolution, seconds = (24, 4) if tool.quick else (50, 60)
    cell = 1.0 / resolution
    made = scene(resolution, seconds)
    last = FPS * seconds + 1
    _, flowing = step_cost(tool, "flow", made, 2, 4)
    run, resting = step_cost(tool, "rest", made, last - FPS, last)
    frames = np.unique(np.round(np.geomspace(0.25, seconds, 12) * FPS).astype(int)) + 1
    rows = []
    for previous, frame in zip(frames, frames[1:]):
        rows.append({"time": (frame - 1) / FPS, "mean_speed": mean_speed(run, frame),
                     "drift_cells": drift(run, previous, frame) / cell, "front": front_of(run, frame, cell)})
    plot = Plot(f"A slumped column, {run.summary['particles']['sand']:,} particles", "time, s", "mean drift, cells/s", log=True)
    plot.points([row["time"] for row in rows], [max(row["drift_cells"], 1e-9) for row in rows], "drift")
    plot.points([row["time"] for row in rows], [max(row["mean_speed"] / cell, 1e-9) for row in rows], "speed")
    note = (f"A step while it flows takes {1e3 * flowing:.1f} ms, the last second's {1e3 * resting:.1f} ms: "
            f"{resting / flowing:.2f} of it.")
    tool.write(rows, [("time", "time, s", ".2f"), ("mean_speed", "mean speed, m/s", ".2e"),
                      ("drift_cells", "mean drift since the row above, cells/s", ".5f"),
                      ("front", "front, cells", ".0f")], plot, note)


if __name__ == "__main__":
    main()
