#!/usr/bin/env python3
"""Collapse of columns of sand, planar and axisymmetric, aspect ratios a = H0/L0 of 0.5 to 8: run-out, final height and the time
until the front stops, against the laws of [LHSH04; LHSF05] and [LMV04; LMH05]. The front is where the deposit is 0.03 L0 thick.
With --solver sph or dem shorter columns of 30 degrees alone, with fewer particles, since their steps cost many times those of the
grid; grains of dem are half a cell wide."""
import numpy as np

from common import G, Tool, drift, front, mean_speed, thickness
from svg_plot import Plot

LENGTH = 0.1  # m, L0 or R0; the floor is a rough collider above the bottom of a slippery domain
THRESHOLD = 0.03


def planar_lube(a):
    return 1.2 * a if a < 2.3 else 1.9 * a ** (2 / 3)


def planar_lajeunesse(a):
    return 1.8 * a if a < 3 else 2.3 * a ** (2 / 3)


def round_lube(a):
    return 1.24 * a if a < 1.7 else 1.6 * a ** 0.5


def round_lajeunesse(a):
    return 1.0 * a if a < 4 else 2.0 * a ** 0.5


def planar_scene(a, cells, angle, seconds):
    cell = LENGTH / cells
    reach = LENGTH * (1 + 1.5 * planar_lajeunesse(a))
    # Four cells across and walls without friction there: a slice of a wide channel.
    return {
        "cell_size": cell, "fps": 60, "frames": int(60 * seconds) + 1,
        "domain": {"min": [0, 0, -4 * cell], "max": [round(reach / cell) * cell, 4 * cell, (a * cells + 4) * cell],
                   "walls": {"friction": 0, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [LENGTH, 4 * cell, a * LENGTH]}}}],
        "colliders": [{"name": "floor", "friction": float(np.tan(np.radians(angle))), "shape": {
            "box": {"min": [-1, -1, -1], "max": [10, 1, 0]}}}],
    }


def round_scene(a, cells, angle, seconds):
    cell = LENGTH / cells
    reach = round(LENGTH * (1 + 1.5 * round_lajeunesse(a)) / cell) * cell
    # A quarter of the column between two walls without friction.
    return {
        "cell_size": cell, "fps": 60, "frames": int(60 * seconds) + 1,
        "domain": {"min": [0, 0, -4 * cell], "max": [reach, reach, (a * cells + 4) * cell],
                   "walls": {"friction": 0, "open": ["z_max"]}},
        "materials": {"sand": {"kind": "sand", "friction_angle": angle}},
        "bodies": [{"material": "sand", "shape": {"cylinder": {"from": [0, 0, 0], "to": [0, 0, a * LENGTH],
                                                               "radius": LENGTH}}}],
        "colliders": [{"name": "floor", "friction": float(np.tan(np.radians(angle))), "shape": {
            "box": {"min": [-1, -1, -1], "max": [10, 10, 0]}}}],
    }


def planar_profile(positions, cell, reach):
    field = thickness(positions, (0, 0), (reach, 4 * cell), cell, 0.5 * cell)
    return field.mean(axis=1)


def round_profile(positions, cell, reach):
    """Mean thickness by distance from the axis, in rings one cell wide of a quarter turn."""
    distance = np.hypot(positions[:, 0], positions[:, 1])
    edges = np.arange(0, reach + cell, cell)
    count, _ = np.histogram(distance, bins=edges)
    return count * (0.5 * cell) ** 3 / (np.pi / 4 * (edges[1:] ** 2 - edges[:-1] ** 2))


def measure(run, profile_of, a, cell, reach):
    fronts = []
    for frame in range(1, run.frames + 1):
        profile = profile_of(run.read(frame, "position"), cell, reach)
        # Over three cells: the toe is about as thick as the threshold, and single columns of cells are noisy.
        smooth = np.convolve(np.pad(profile, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
        fronts.append(front(smooth, cell, THRESHOLD * LENGTH))
    fronts = np.array(fronts)
    stop = int(np.argmax(fronts >= LENGTH + 0.98 * (fronts[-1] - LENGTH)))
    height = float(profile[: max(1, len(profile) // 60)].mean())
    return {"runout": float(fronts[-1] / LENGTH - 1), "height": height / LENGTH,
            "stop": float(stop / run.fps / np.sqrt(a * LENGTH / G)),
            "mean_speed": mean_speed(run, run.frames),
            "drift": drift(run, run.frames - int(run.fps // 4), run.frames) / cell,
            "particles": int(sum(run.summary["particles"].values()))}


def main():
    tool = Tool("column", __doc__, solvers=("flip", "sph", "dem"))
    # Aspect ratio and cells in L0: fewer for tall columns, so that they do not take hours; three for the effect of the grid.
    cases = {"planar": ((0.5, 48), (1, 20), (1, 40), (1, 80), (2, 32), (4, 24), (8, 16)),
             "round": ((0.5, 28), (1, 24), (2, 20), (4, 14), (8, 12))}
    if tool.solver == "sph":
        cases = {"planar": ((0.5, 24), (1, 20), (2, 16)), "round": ((0.5, 14), (1, 12))}
    if tool.solver == "dem":
        cases = {"planar": ((0.5, 14), (1, 10), (2, 8), (4, 6)), "round": ((0.5, 10), (1, 9), (2, 7), (4, 6))}
    if tool.quick:
        cases = {"planar": ((0.5, 16), (2, 12)), "round": ((0.5, 8), (2, 8))}
    rows = []
    for angle in (30,) if tool.quick or tool.solver != "flip" else (30, 35):
        for kind, scene, profile, lube, lajeunesse in (
                ("planar", planar_scene, planar_profile, planar_lube, planar_lajeunesse),
                ("round", round_scene, round_profile, round_lube, round_lajeunesse)):
            for a, count in cases[kind]:
                cell = LENGTH / count
                seconds = 6 * np.sqrt(a * LENGTH / G) + 0.5
                made = scene(a, count, angle, seconds)
                reach = made["domain"]["max"][0]
                run = tool.run(f"column-{tool.solver}-{kind}-{angle}-{a:g}-{count}", made)
                rows.append({"kind": kind, "angle": angle, "a": a, "cells": count, "lube": lube(a),
                             "lajeunesse": lajeunesse(a),
                             "height_law": min(a, a ** 0.4) if kind == "planar" else None,
                             **measure(run, profile, a, cell, reach)})
    rows = tool.beside_others(rows)
    plots = {}
    for kind, title, lube, lajeunesse in (("planar", "Planar columns", planar_lube, planar_lajeunesse),
                                          ("round", "Round columns", round_lube, round_lajeunesse)):
        plot = plots[kind] = Plot(f"{title}: run-out, laws fitted to experiments", "a = H0/L0", "(L - L0)/L0", log=True)
        fine = np.geomspace(min(row["a"] for row in rows), max(row["a"] for row in rows), 60)
        plot.line(fine, [lube(a) for a in fine], "Lube et al.")
        plot.line(fine, [lajeunesse(a) for a in fine], "Lajeunesse et al.", dashed=True)
        for solver, angle in sorted({(row["solver"], row["angle"]) for row in rows}):
            chosen = [row for row in rows if (row["kind"], row["solver"], row["angle"]) == (kind, solver, angle)]
            plot.points([row["a"] for row in chosen], [row["runout"] for row in chosen], f"{solver}, {angle}°")
    tool.write_file("-round.svg", plots["round"].text())
    tool.write(rows, [("solver", "solver", "s"), ("kind", "column", "s"), ("angle", "friction angle", "d"), ("a", "a", "g"),
                      ("cells", "cells in L0", "d"), ("particles", "particles", ","),
                      ("runout", "run-out", ".2f"), ("lube", "Lube", ".2f"), ("lajeunesse", "Lajeunesse", ".2f"),
                      ("height", "height/L0", ".2f"), ("height_law", "law", ".2f"),
                      ("stop", "stop time/√(H0/g)", ".1f"),
                      ("drift", "drift in the last quarter second, cells/s", ".4f"),
                      ("mean_speed", "mean speed at the end, m/s", ".1e")], plots["planar"])


if __name__ == "__main__":
    main()
