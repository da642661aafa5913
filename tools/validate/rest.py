#!/usr/bin/env python3
"""Rest: columns that have slumped and heaps that have been poured lie for a minute, for friction angles of 10 to 45 degrees. Speeds,
drift and front while they lie, and what a step costs then against a step while they flow."""
import numpy as np

import pile
from common import G, Tool, drift, front, mean_speed, thickness
from svg_plot import Plot

FPS = 8
SETTLE = 10  # s until it has to lie still


def column_scene(resolution, angle):
    return {
        "solver": "flip", "resolution": resolution, "fps": FPS,
        "domain": {"min": [0, 0, 0], "max": [1, 0.3, 0.5], "walls": {"friction": 0.7}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.25, 0.3, 0.3]}}}],
    }


def heap_scene(height, angle):
    return {**pile.scene(angle, height, 4.0, 0), "fps": FPS}


def steps_and_seconds(run):
    """Steps so far and the seconds spent in them, without the writing of frames."""
    stages = run.summary["seconds"]["stages"]
    return np.array([run.summary["steps"],
                     sum(stages.values()) - sum(stages.get(name, 0.0) for name in ("snapshot", "wait for disk"))])


def front_of(run, frame, cell, threshold):
    position = run.read(frame, "position")
    side = np.ceil(position.max(axis=0) / cell + 2) * cell
    return front(thickness(position, (0, 0), side[:2], cell, 0.5 * cell)[:, :4].mean(axis=1), cell, threshold) / cell


def measure(tool, name, scene, cell, flows_until, seconds):
    """Simulates in three parts: while it flows, until it has to lie still, and from then on."""
    marks = [int(FPS * t) + 1 for t in (flows_until, flows_until + SETTLE, flows_until + SETTLE + seconds)]
    scene = {**scene, "frames": marks[2]}
    flowing = steps_and_seconds(tool.run(name, scene, frames=marks[0]))
    settled = steps_and_seconds(tool.run(name, scene, frames=marks[1], resume=True))
    run = tool.run(name, scene, frames=marks[2], resume=True)
    resting = steps_and_seconds(run) - settled
    speeds = np.array([mean_speed(run, frame) for frame in range(marks[0], marks[2] + 1)]) / np.sqrt(G * cell)
    still = np.flatnonzero(speeds >= 1e-3)
    asleep = np.flatnonzero(speeds == 0.0)
    return {"particles": int(len(run.read(marks[2], "id"))),
            "until_slow": float((still.max(initial=-1) + 1) / FPS),
            "until_asleep": float(asleep[0] / FPS) if len(asleep) else None,
            "speed": float(speeds[marks[1] - marks[0]:].max()),
            "drift": drift(run, marks[1], marks[2]) / cell,
            "front": front_of(run, marks[2], cell, 0.5 * cell) - front_of(run, marks[1], cell, 0.5 * cell),
            "flowing_ms": float(1e3 * flowing[1] / flowing[0]), "resting_ms": float(1e3 * resting[1] / resting[0]),
            "cost": float(resting[1] / resting[0] * flowing[0] / flowing[1]),
            "cost_second": float(resting[1] / seconds * flows_until / flowing[1]), "speeds": speeds.tolist()}


def main():
    tool = Tool("rest", __doc__)
    resolution, height, seconds = (24, 8, 4) if tool.quick else (50, 16, 60)
    rows = []
    plot = Plot("Mean speed of slumped columns", "time, s", "mean speed / √(g dx)", log=True)
    for angle in (10, 35) if tool.quick else (10, 20, 30, 35, 45):
        found = measure(tool, f"column-{angle}", column_scene(resolution, angle), 1 / resolution, 1.0, seconds)
        rows.append({"kind": "slumped column", "angle": angle, **found})
        speeds = np.array(found["speeds"][: 8 * FPS])
        times = 1.0 + np.arange(len(speeds)) / FPS
        plot.line(times[speeds > 0], speeds[speeds > 0], f"{angle}°")
    for angle in (20, 35) if tool.quick else (20, 30, 35, 40):
        found = measure(tool, f"heap-{angle}", heap_scene(height, angle), pile.CELL, 4.0, seconds)
        rows.append({"kind": "poured heap", "angle": angle, **found})
    for row in rows:
        del row["speeds"]  # they are in the plot
    tool.write(rows, [("kind", "sand", "s"), ("angle", "friction angle", "d"), ("particles", "particles", ","),
                      ("until_slow", "s until below 1e-3 √(g dx)", ".1f"), ("until_asleep", "s until asleep", ".1f"),
                      ("speed", "largest mean speed / √(g dx)", ".1e"), ("drift", "drift, cells/s", ".5f"),
                      ("front", "front moved, cells", ".3f"), ("flowing_ms", "ms a flowing step", ".1f"),
                      ("resting_ms", "ms a resting step", ".2f"), ("cost", "ratio", ".3f")], plot,
               f"Times count from the end of the first second (columns) or of the pour (heaps). Speed, drift and front: over the "
               f"{seconds} s that begin {SETTLE} s after it.")


if __name__ == "__main__":
    main()
