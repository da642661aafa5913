#!/usr/bin/env python3
"""Sand in an hourglass: the rate through the neck while the upper bulb empties, against Beverloo's law [BLV61] Q = C sqrt(g) (D - k d)^(5/2),
which does not depend on the fill height. Water in the same glass, whose rate falls with the root of its height, shows that the measurement detects such a dependence.

There is no air in the glass: what comes up through the neck of a real one, and makes fine sand pulse, is not simulated. Grains
have no size here, so that k d should be 0 or of the order of a cell."""
import numpy as np

from common import G, Tool
from svg_plot import Plot

RADIUS = 0.13  # m, of the bulbs
NECK = 0.28  # m, height of the neck
FILL = 0.43  # m, height of the sand


def scene(material, neck, cell, seconds):
    wide = neck / 2 + 0.32  # m: cones of 45 degrees, 0.32 m high

    def column(low, high, radius):
        return {"cylinder": {"from": [0, 0, low], "to": [0, 0, high], "radius": radius}}

    def cone(low, high, radius, top_radius):
        return {"cone": {"from": [0, 0, low], "to": [0, 0, high], "radius": radius, "top_radius": top_radius}}

    bulbs = [{"intersection": [column(NECK, 0.6, RADIUS), cone(NECK, 0.6, neck / 2, wide)]},
             column(NECK - 0.03, NECK + 0.03, neck / 2),
             {"intersection": [column(0.01, NECK, RADIUS), cone(NECK - 0.32, NECK, wide, neck / 2)]}]
    kinds = {"sand": {"kind": "sand", "friction_angle": 30}, "water": {"kind": "water"}}
    return {
        "solver": "flip", "cell_size": cell, "fps": 48, "frames": int(48 * seconds) + 1,
        "domain": {"min": [-0.14, -0.14, 0], "max": [0.14, 0.14, 0.56], "walls": {"friction": 0.3}},
        "materials": {"m": kinds[material]},
        "bodies": [{"material": "m", "shape": column(NECK, FILL, RADIUS + 0.01)}],
        "colliders": [{"name": "glass", "friction": 0.3 if material == "sand" else 0.0, "shape": {"difference": [
            {"box": {"min": [-0.2, -0.2, -0.1], "max": [0.2, 0.2, 0.7]}}, {"union": bulbs}]}}],
    }


def emptying(run, cell):
    """Time and volume above the neck, by frame."""
    above = [(run.read(frame, "position")[:, 2] > NECK).sum() for frame in range(1, run.frames + 1)]
    return np.arange(run.frames) / run.fps, np.array(above) * (0.5 * cell) ** 3


def rate(time, volume, high, low):
    """Mean rate while the volume falls from one part of the first to another; None: too few frames."""
    part = volume / volume[0]
    chosen = (part <= high) & (part >= low)
    return float(-np.polyfit(time[chosen], volume[chosen], 1)[0]) if chosen.sum() >= 4 else None


def main():
    tool = Tool("hourglass", __doc__)
    cell = 0.01 if tool.quick else 0.005
    cases = [("sand", neck) for neck in ((0.06, 0.08) if tool.quick else (0.04, 0.05, 0.06))] + [("water", 0.06)]
    plot = Plot("An hourglass runs out", "time, s", "left above the neck")
    rows = []
    for material, neck in cases:
        # A tenth more than Beverloo's law needs to empty the bulb with C = 0.58.
        seconds = 1.0 if material == "water" else 1.1 * 0.0042 / (0.58 * np.sqrt(G) * neck ** 2.5)
        run = tool.run(f"hourglass-{material}-{neck:g}", scene(material, neck, cell, min(seconds, 4.5)))
        time, volume = emptying(run, cell)
        plot.line(time, volume / volume[0], f"{material}, {100 * neck:g} cm", dashed=material == "water")
        whole = rate(time, volume, 0.9, 0.3)
        rows.append({"material": material, "neck": neck, "neck_cells": neck / cell, "rate": whole,
                     "full": rate(time, volume, 0.9, 0.7), "half": rate(time, volume, 0.7, 0.5),
                     "low": rate(time, volume, 0.5, 0.3), "lost": run.summary["lost_particles"],
                     "c": None if whole is None else whole / (np.sqrt(G) * neck ** 2.5)})
    sand = [row for row in rows if row["material"] == "sand" and row["rate"]]
    note = ""
    if len(sand) > 1:
        line = np.polyfit([row["neck"] for row in sand], [row["rate"] ** 0.4 for row in sand], 1)
        note = (f"Fit to Beverloo's law: C = {line[0] ** 2.5 / np.sqrt(G):.2f} (experiments 0.55 to 0.65), k d = "
                f"{-line[1] / line[0] / cell:.1f} cells.")
    tool.write(rows, [("material", "material", "s"), ("neck", "neck, m", "g"), ("neck_cells", "neck, cells", ".0f"),
                      ("rate", "rate, m³/s", ".5f"), ("full", "90 to 70 % left", ".5f"), ("half", "70 to 50 %", ".5f"),
                      ("low", "50 to 30 %", ".5f"), ("c", "C with k d = 0", ".2f"), ("lost", "lost", "d")], plot, note)


if __name__ == "__main__":
    main()
