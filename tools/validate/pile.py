#!/usr/bin/env python3
"""Piles poured on a rough floor in three dimensions: the angle of the flank against the friction angle, along the axes of the
grid and along its diagonals, and what the pile still does at the end. A quarter of each pile is simulated, in the corner of two
walls without friction."""
import numpy as np

from common import Tool, drift, mean_speed, slope, thickness
from svg_plot import Plot

CELL = 1.0 / 64  # m
FPS = 24
MOUTH = 4  # cells, radius of the funnel


def scene(angle, height, pour, rest):
    """The volume poured is that of a cone as high as `height` cells at the friction angle. The funnel is raised with the heap, as
    in measurements of the angle of repose: a jet that falls far digs a crater."""
    reach = height / np.tan(np.radians(angle))
    side = int(np.ceil(1.35 * reach + 4)) * CELL
    rate = np.pi / 12 * reach ** 2 * height * CELL ** 3 / pour
    times = np.linspace(0, pour, 17)
    lift = [[float(t), [0, 0, float((t / pour) ** (1 / 3) * height * CELL)]] for t in times]
    return {
        "solver": "flip", "cell_size": CELL, "fps": FPS, "frames": int(FPS * (pour + rest)) + 1,
        "domain": {"min": [0, 0, -4 * CELL], "max": [side, side, (height + 10) * CELL],
                   "walls": {"friction": 0, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "emitters": [{"material": "sand", "rate": rate, "end": pour, "velocity": [0, 0, -0.2],
                      "shape": {"cylinder": {"from": [0, 0, 3 * CELL], "to": [0, 0, 4 * CELL], "radius": MOUTH * CELL},
                                "translate": {"keys": lift}}}],
        "colliders": [{"name": "floor", "friction": 1.0, "shape": {"box": {"min": [-1, -1, -1], "max": [9, 9, 0]}}}],
    }


def flank(along, field, chosen):
    # From 15 to 75 % of the height: neither the rounded top where the jet lands nor the thin toe.
    top = np.sort(field.ravel())[-4:].mean()
    chosen = chosen & (field > 0.15 * top) & (field < 0.75 * top)
    return slope(along[chosen], field[chosen])


def base(along, field, chosen):
    """Radius at which the thickness of a wedge falls below half a cell, by interpolation; metres."""
    edges = np.arange(0, along.max(), CELL)
    profile = [field[chosen & (along >= low) & (along < low + CELL)] for low in edges]
    profile = np.array([part.mean() if part.size else np.nan for part in profile])
    for i in range(len(profile) - 1):
        if profile[i] >= 0.5 * CELL > profile[i + 1]:
            return float(edges[i] + CELL * (0.5 + (profile[i] - 0.5 * CELL) / (profile[i] - profile[i + 1])))
    return None


def measure(run, angle):
    position = run.read(run.frames, "position")
    side = (np.ceil(position[:, :2].max() / CELL) + 4) * CELL
    field = thickness(position, (0, 0), (side, side), CELL, 0.5 * CELL)
    x, y = np.meshgrid(*[(np.arange(n) + 0.5) * CELL for n in field.shape], indexing="ij")
    distance, turn = np.hypot(x, y), np.degrees(np.arctan2(y, x))
    # Wedges of 20 degrees about the axes and the diagonal.
    axes = (turn < 10) | (turn > 80)
    diagonal = np.abs(turn - 45) < 10
    everywhere = np.ones_like(axes)
    top = field[:2, :2].mean()
    radius = base(distance, field, everywhere)
    second = int(run.fps)
    return {"all": flank(distance, field, everywhere), "axes": flank(distance, field, axes),
            "diagonals": flank(distance, field, diagonal),
            "base_axes": base(distance, field, axes) / CELL, "base_diagonal": base(distance, field, diagonal) / CELL,
            "whole": float(np.degrees(np.arctan(top / radius))), "height_cells": float(top / CELL),
            "particles": int(len(position)), "mean_speed": mean_speed(run, run.frames),
            "drift_cells": drift(run, run.frames - second, run.frames) / CELL}


def main():
    tool = Tool("pile", __doc__)
    height, pour, rest = (10, 4.0, 2.5) if tool.quick else (20, 8.0, 3.0)
    rows = []
    for angle in (20, 35) if tool.quick else (20, 30, 35, 40):
        found = measure(tool.run(f"pile-{angle}", scene(angle, height, pour, rest)), angle)
        rows.append({"angle": angle, **found})
    plot = Plot("Poured piles", "friction angle, degrees", "flank, degrees")
    angles = [row["angle"] for row in rows]
    plot.line(angles, angles, "equal", dashed=True)
    for key in ("axes", "diagonals"):
        plot.points(angles, [float("nan") if row[key] is None else row[key] for row in rows], key)
    tool.write(rows, [("angle", "friction angle", "d"), ("all", "flank all round", ".1f"), ("axes", "along axes", ".1f"),
                      ("diagonals", "along diagonals", ".1f"), ("whole", "atan(height/base)", ".1f"),
                      ("height_cells", "height, cells", ".1f"), ("base_axes", "base along axes, cells", ".1f"),
                      ("base_diagonal", "along diagonals", ".1f"), ("particles", "particles", ","),
                      ("mean_speed", "mean speed at the end, m/s", ".1e"),
                      ("drift_cells", "drift in the last second, cells/s", ".3f")], plot,
               f"{rest:g} s after the end of the pour, cells of {1e3 * CELL:.1f} mm. Asked: within 4 degrees of the friction angle, "
               "rising with it; axes and diagonals within 5 %.")


if __name__ == "__main__":
    main()
