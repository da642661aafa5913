#!/usr/bin/env python3
"""Sand in a silo: how fast it flows out of a round hole, against Beverloo's law [BLV61] Q = C rho sqrt(g) (D - k d)^(5/2), whether the
flow depends on the fill, and the pressure at the base against Janssen's saturation [Jan95].

The pressure of the solver is what keeps sand from being compressed, not the mean of a stress that grains would measure: it has no
lateral ratio of its own. Janssen's figure is reported beside it, with the ratio left free between 0.3 and 1, and is no gate."""
import numpy as np

from common import G, Tool
from svg_plot import Plot

WIDTH = 0.24  # m, of the square silo
MOUTH = 0.4  # m, height of its floor


def flow_scene(hole, cell, fill, seconds):
    high = MOUTH + fill + 2 * cell
    return {
        "solver": "flip", "cell_size": cell, "fps": 24, "frames": int(24 * seconds) + 1,
        "domain": {"min": [0, 0, 0], "max": [WIDTH, WIDTH, high], "walls": {"friction": 0.5, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": 30}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, MOUTH], "max": [WIDTH, WIDTH, MOUTH + fill]}}}],
        "colliders": [{"name": "floor", "friction": 0.5, "shape": {"difference": [
            {"box": {"min": [-0.1, -0.1, MOUTH - 3 * cell], "max": [WIDTH + 0.1, WIDTH + 0.1, MOUTH]}},
            {"cylinder": {"from": [WIDTH / 2, WIDTH / 2, MOUTH - 4 * cell], "to": [WIDTH / 2, WIDTH / 2, MOUTH + cell],
                          "radius": hole / 2}}]}}],
        # What has fallen out is taken away well below the mouth.
        "drains": [{"shape": {"box": {"min": [-1, -1, -1], "max": [1, 1, MOUTH / 2]}}}],
    }


def flow(run, cell):
    """Volume above the floor by frame, and the rate over the frames between 80 and 30 % of the first volume."""
    volume = np.array([(run.read(frame, "position")[:, 2] > MOUTH - 3 * cell).sum() for frame in range(1, run.frames + 1)])
    volume = volume * (0.5 * cell) ** 3
    time = np.arange(run.frames) / run.fps
    part = volume / volume[0]

    def rate(high, low):
        chosen = (part <= high) & (part >= low)
        return float(-np.polyfit(time[chosen], volume[chosen], 1)[0]) if chosen.sum() >= 3 else None

    return rate(0.9, 0.4), rate(0.9, 0.65), rate(0.65, 0.4)


def fit(rows):
    """C and k d of Q = C sqrt(g) (D - k d)^(5/2): Q^(2/5) is a straight line over D."""
    if len(rows) < 2:
        return None, None
    line = np.polyfit([row["hole"] for row in rows], [row["rate"] ** 0.4 for row in rows], 1)
    return (float(line[0] ** 2.5 / np.sqrt(G)), float(-line[1] / line[0])) if line[0] > 0 else (None, None)


def base_scene(width, fill, cell, friction, seconds):
    return {
        "solver": "flip", "cell_size": cell, "fps": 24, "frames": int(24 * seconds) + 1,
        "domain": {"min": [0, 0, 0], "max": [width, width, fill + 2 * cell],
                   "walls": {"friction": friction, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": 30}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [width, width, fill]}}}],
    }


def base_pressure(run, cell):
    """Mean of the particles' `pressure` in the lowest layer of cells; None where frames do not have it."""
    if not run.has("pressure"):
        return None
    position, pressure = run.read(run.frames, "position", "pressure")
    return float(pressure[position[:, 2] < cell].mean())


def main():
    tool = Tool("silo", __doc__)
    cell = 0.02 if tool.quick else 0.01
    rows = []
    for hole in (0.1, 0.14) if tool.quick else (0.06, 0.08, 0.10, 0.12, 0.14):
        fill, seconds = (0.3, 1.2) if tool.quick else (0.3, 2.5)
        run = tool.run(f"silo-{hole:g}", flow_scene(hole, cell, fill, seconds))
        whole, early, late = flow(run, cell)
        rows.append({"hole_cells": hole / cell, "hole": hole, "rate": whole, "early": early, "late": late,
                     "c_from_rate": None if whole is None else whole / (np.sqrt(G) * hole ** 2.5)})
    known = [row for row in rows if row["rate"]]
    constant, offset = fit(known)
    widths = (0.1,) if tool.quick else (0.1, 0.2)
    for width in widths:
        for friction in (0.0, 0.5):
            fill = 4 * width
            run = tool.run(f"base-{width:g}-{friction:g}", base_scene(width, fill, cell, friction, 0.5))
            pressure = base_pressure(run, cell)
            weight = 1600 * G * (fill - 0.5 * cell)
            rows.append({"base_width": width, "friction": friction,
                         "base_part": None if pressure is None else pressure / weight,
                         "janssen_low": janssen(width, fill, friction, 1.0), "janssen_high": janssen(width, fill, friction, 0.3)})
    plot = Plot("Outflow of a silo", "diameter of the hole D, m", "Q, m³/s", log=True)
    if known:
        holes = np.linspace(known[0]["hole"], known[-1]["hole"], 30)
        plot.line(holes, 0.58 * np.sqrt(G) * holes ** 2.5, "0.58 √g D^2.5", dashed=True)
        if constant is not None:
            plot.line(holes, constant * np.sqrt(G) * np.maximum(holes - offset, 1e-9) ** 2.5, "fit")
        plot.points([r["hole"] for r in known], [r["rate"] for r in known], "wadi")
    note = ""
    if constant is not None:
        note = (f"Fit to Beverloo's law: C = {constant:.2f} (experiments 0.55 to 0.65), k d = {offset / cell:.1f} cells "
                "(k about 1.4 grains).")
    tool.write(rows, [("hole", "hole, m", "g"), ("hole_cells", "hole, cells", ".0f"), ("rate", "rate, m³/s", ".5f"),
                      ("early", "rate, full", ".5f"), ("late", "rate, half empty", ".5f"),
                      ("c_from_rate", "C with k d = 0", ".2f"), ("base_width", "silo width, m", "g"),
                      ("friction", "wall friction", "g"), ("base_part", "base pressure / weight", ".2f"),
                      ("janssen_low", "Janssen, ratio 1", ".2f"), ("janssen_high", "Janssen, ratio 0.3", ".2f")], plot, note)


def janssen(width, fill, friction, ratio):
    """Pressure at the base over the weight of the column, for a square silo."""
    if friction == 0.0:
        return 1.0
    depth = width / (4 * friction * ratio)
    return float(depth / fill * (1 - np.exp(-fill / depth)))


if __name__ == "__main__":
    main()
