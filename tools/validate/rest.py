#!/usr/bin/env python3
"""Rest: a column slumps and then lies for a long time. Speeds, drift and front while it lies, and what a step costs then against
a step while it flows."""
import json
import os
import subprocess

import numpy as np

from common import Tool, drift, mean_speed, thickness
from svg_plot import Plot


def scene(resolution, seconds):
    return {
        "solver": "flip", "resolution": resolution, "fps": 24, "frames": int(24 * seconds) + 1,
        "domain": {"min": [0, 0, 0], "max": [1, 0.3, 0.5], "walls": {"friction": 0.7}},
        "materials": {"sand": {"kind": "sand", "friction_angle": 35}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.25, 0.3, 0.3]}}}],
    }


def step_cost(tool, path, run, frames_from, frames_to):
    """Seconds a step between two frames, by continuing the run from the one to the other."""
    def read():
        with open(os.path.join(run.folder, "run.json"), encoding="utf-8") as file:
            summary = json.load(file)
        writing = sum(summary["seconds"]["stages"].get(name, 0.0) for name in ("snapshot", "wait for disk"))
        return summary["steps"], sum(summary["seconds"]["stages"].values()) - writing

    command = [tool.args.wadi, "run", path, "-o", run.folder, "--quiet", "--threads", str(tool.args.threads)]
    for setting in tool.args.set:
        command += ["--set", setting]
    subprocess.run(command + ["--overwrite", "--frames", str(frames_from)], check=True)
    steps, seconds = read()
    subprocess.run(command + ["--resume", "--frames", str(frames_to)], check=True)
    more_steps, more_seconds = read()
    return (more_seconds - seconds) / (more_steps - steps)


def front_of(run, frame, cell):
    profile = thickness(run.read(frame, "position"), (0, 0), (1, 0.3), cell, 0.5 * cell).mean(axis=1)
    return float(np.flatnonzero(profile > 0.03 * 0.25).max(initial=0) + 1)


def main():
    tool = Tool("rest", __doc__)
    resolution, seconds = (24, 4) if tool.quick else (50, 60)
    cell = 1.0 / resolution
    run = tool.run("rest", scene(resolution, seconds))
    times = np.unique(np.round(np.geomspace(0.25, seconds, 12) * 24).astype(int)) + 1
    rows = []
    for previous, frame in zip(times, times[1:]):
        rows.append({"time": (frame - 1) / 24, "mean_speed": mean_speed(run, frame),
                     "drift_cells": drift(run, previous, frame) / cell, "front": front_of(run, frame, cell)})
    path = os.path.join(tool.folder, "rest.json")
    flowing = step_cost(tool, path, run, 3, 10)
    last = int(24 * seconds) + 1
    resting = step_cost(tool, path, run, last - 24, last)
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
