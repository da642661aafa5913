#!/usr/bin/env python3
"""Piles poured on a rough floor in three dimensions: the angle of the flank against the friction angle, along the axes of the
grid and along its diagonals, and what the pile still does at the end."""
import numpy as np

from common import Tool, drift, mean_speed, slope, thickness
from svg_plot import Plot

REACH = 0.4  # m: the volume poured is that of a cone of this radius and the friction angle

def scene(angle, resolution, rate, pour, rest):
    cell = 1.0 / resolution
    drop = REACH * np.tan(np.radians(angle)) + 0.08  # gently: just above where the apex will be
    return {
        "solver": "flip",
        "domain": {"min": [-0.5, -0.5, 0], "max": [0.5, 0.5, 0.6], "walls": {"friction": 1.0}},
        "resolution": resolution, "fps": 24, "frames": int(24 * (pour + rest)) + 1,
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "emitters": [{"material": "sand", "rate": rate, "end": pour, "velocity": [0, 0, 0],
                      "shape": {"cylinder": {"from": [0, 0, drop], "to": [0, 0, drop + cell],
                                             "radius": max(0.05, 2 * cell)}}}],
    }


def flank(field, cell, direction, width):
    """Slope over the middle of the flank along a direction through the apex, in a strip of `width` to both sides."""
    nx, ny = field.shape
    x, y = np.meshgrid((np.arange(nx) + 0.5) * cell - 0.5, (np.arange(ny) + 0.5) * cell - 0.5, indexing="ij")
    along = x * direction[0] + y * direction[1]
    across = np.abs(x * direction[1] - y * direction[0])
    # From 15 to 70 % of the height: neither the rounded top where the jet lands nor the thin toe.
    top = np.sort(field.ravel())[-4:].mean()
    chosen = (along > 0) & (across <= width) & (field > 0.15 * top) & (field < 0.7 * top)
    return slope(along[chosen], field[chosen])


def measure(run, resolution):
    cell = 1.0 / resolution
    field = thickness(run.read(run.frames, "position"), (-0.5, -0.5), (0.5, 0.5), cell, 0.5 * cell)
    half = np.sqrt(0.5)
    axes = [flank(field, cell, d, 2 * cell) for d in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    diagonals = [flank(field, cell, d, 2 * cell) for d in ((half, half), (-half, half), (half, -half), (-half, -half))]

    def mean(found):
        found = [f for f in found if f is not None]
        return float(np.mean(found)) if found else None

    return {"axes": mean(axes), "diagonals": mean(diagonals), "each": axes + diagonals,
            "height_cells": float(field.max() / cell), "particles": int(sum(run.summary["particles"].values())),
            "mean_speed": mean_speed(run, run.frames),
            "drift_cells": drift(run, run.frames - int(run.fps // 2), run.frames) / cell}


def main():
    tool = Tool("pile", __doc__)
    resolution, pour, rest = (40, 4.0, 1.0) if tool.quick else (64, 8.0, 4.0)
    rows = []
    for angle in (20, 35) if tool.quick else (20, 30, 35, 40):
        # The same reach for every angle.
        rate = np.pi / 3 * REACH ** 3 * np.tan(np.radians(angle)) / pour
        found = measure(tool.run(f"pile-{angle}", scene(angle, resolution, rate, pour, rest)), resolution)
        rows.append({"angle": angle, **found})
    plot = Plot(f"Poured piles, {resolution} cells a metre", "friction angle, degrees", "flank, degrees")
    angles = [row["angle"] for row in rows]
    plot.line(angles, angles, "equal", dashed=True)
    for key in ("axes", "diagonals"):
        plot.points(angles, [float("nan") if row[key] is None else row[key] for row in rows], key)
    tool.write(rows, [("angle", "friction angle", "d"), ("axes", "flank along axes", ".1f"),
                      ("diagonals", "along diagonals", ".1f"), ("height_cells", "height, cells", ".1f"),
                      ("particles", "particles", ","), ("mean_speed", "mean speed at the end, m/s", ".1e"),
                      ("drift_cells", "drift over the last half second, cells/s", ".4f")], plot,
               "Expected: within 3 degrees of the friction angle, and rising with it.")


if __name__ == "__main__":
    main()
