#!/usr/bin/env python3
"""Slopes of dem against the friction angle: a heap on a rough floor in the three modes, a box that is tilted slowly (where its bed starts to flow
and at what slope it flows), and a drum that turns. The map from angles to contact friction in src/dem/contact/dem_friction.c is chosen by this table; with
--friction MU,… the columns are those of sliding frictions instead of angles."""
import sys

import numpy as np

from common import Tool, G

D = 0.01  # m, of a grain
BASE = {"cell_size": D, "particles_per_cell": 1, "gravity": [0, 0, -G]}
FLOOR = {"friction": 1.0, "shape": {"box": {"min": [-1, -1, -1], "max": [2, 1, 0]}}}


def sand(angle):
    return {"sand": {"kind": "sand", "friction_angle": angle}}


def tops(position, radius):
    """Highest point of the grains of each column, two grains wide: x, y, z."""
    found = {}
    for x, y, z in zip(*np.floor(position[:, :2].T / (2 * D)).astype(int), position[:, 2] + radius):
        found[(x, y)] = max(found.get((x, y), -np.inf), z)
    return np.array([((x + 0.5) * 2 * D, (y + 0.5) * 2 * D, z) for (x, y), z in found.items()])


def degrees(slope):
    return float(np.degrees(np.arctan(slope)))


def heap(tool, angle, dem):
    """1,750 grains poured from a height of 16 grains. The flank is between a fifth and nine tenths of the height."""
    run = tool.run(f"heap-{dem.get('mode', 'full')}-{angle:g}", {
        **BASE, "frames": 85, "fps": 24, "materials": sand(angle), "dem": dem,
        "domain": {"min": [-0.25, -0.25, 0], "max": [0.25, 0.25, 0.3], "walls": {"friction": 1.0, "open": ["x_min", "x_max", "y_min", "y_max"]}},
        "emitters": [{"material": "sand", "shape": {"cylinder": {"from": [0, 0, 0.16], "to": [0, 0, 0.2], "radius": 0.03}},
                      "velocity": [0, 0, -0.3], "rate": 0.0007, "end": 2.5}]})
    position, velocity, radius = run.read(run.frames, "position", "velocity", "radius")
    slow = np.linalg.norm(velocity, axis=1) < 0.3
    found = tops(position[slow], radius[slow])
    distance = np.hypot(found[:, 0], found[:, 1])
    rings = [found[(distance >= r) & (distance < r + D), 2] for r in np.arange(0, 0.25, D)]
    middle = np.array([distance[(distance >= r) & (distance < r + D)].mean() if ring.size > 2 else np.nan for r, ring in zip(np.arange(0, 0.25, D), rings)])
    height = np.array([ring.mean() if ring.size > 2 else np.nan for ring in rings])
    top = np.nanmax(height)
    chosen = (height > 0.2 * top + D) & (height < 0.9 * top)
    return -degrees(np.polyfit(middle[chosen], height[chosen], 1)[0]) if chosen.sum() > 1 else None


def surface(run, frame, part):
    """Slope of the middle part of a surface along x."""
    found = tops(*run.read(frame, "position", "radius"))
    x = np.unique(found[:, 0])
    z = np.array([np.median(found[found[:, 0] == at, 2]) for at in x])
    chosen = (x > x[0] + part * (x[-1] - x[0])) & (x < x[-1] - part * (x[-1] - x[0]))
    return degrees(np.polyfit(x[chosen], z[chosen], 1)[0])


def box(tool, angle, dem):
    """A bed 8 grains deep; gravity turns by 6 degrees a second. The angles at which half of the upper grains move, and of the flowing surface."""
    turn = np.radians(np.linspace(0, 48, 33))
    keys = [[0, [0, 0, -G]]] + [[0.6 + 8 * float(a) / turn[-1], [G * float(np.sin(a)), 0, -G * float(np.cos(a))]] for a in turn]
    run = tool.run(f"box-{angle:g}", {
        **BASE, "frames": 172, "fps": 20, "gravity": {"keys": keys}, "materials": sand(angle), "dem": {"surfaces": "covered", **dem}, "colliders": [FLOOR],
        "domain": {"min": [0, 0, -0.05], "max": [0.4, 0.06, 0.4], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.4, 0.06, 0.08]}}}]})
    start, flowing, last = None, [], None
    for frame in range(14, run.frames + 1):
        tilt = 6 * (frame / 20 - 0.6)
        position, ids = run.read(frame, "position", "id")
        position = position[np.argsort(ids)]
        if last is not None and start is None and np.median(np.linalg.norm(position - last, axis=1)[position[:, 2] > 0.04]) * 20 > 0.1 * np.sqrt(G * D):
            start = tilt
        last = position
        if start is not None and tilt > start + 3:
            flowing.append(tilt - surface(run, frame, 0.25))
    return start, float(np.mean(flowing)) if flowing else None


def drum(tool, angle, dem):
    """Half full, 20 grains wide, 40 degrees a second; the mean of 2.5 s."""
    run = tool.run(f"drum-{angle:g}", {
        **BASE, "frames": 81, "fps": 20, "materials": sand(angle), "dem": {"surfaces": "covered", **dem},
        "domain": {"min": [-0.15, 0, -0.15], "max": [0.15, 0.06, 0.15], "walls": {"friction": 0}},
        "colliders": [{"friction": 1.0, "shape": {"difference": [{"cylinder": {"from": [0, -0.03, 0], "to": [0, 0.09, 0], "radius": 0.13}},
                                                                 {"cylinder": {"from": [0, -0.04, 0], "to": [0, 0.1, 0], "radius": 0.1}}],
                                                  "rotate": {"keys": [[0, [0, 0, 0]], [10, [0, 400, 0]]]}}}],
        "bodies": [{"material": "sand", "shape": {"intersection": [{"cylinder": {"from": [0, 0, 0], "to": [0, 0.06, 0], "radius": 0.1}},
                                                                   {"box": {"min": [-0.5, -0.5, -0.5], "max": [0.5, 0.5, 0]}}]}}]})
    return -float(np.mean([surface(run, frame, 0.2) for frame in range(30, 81, 2)]))


def add_arguments(parser):
    parser.add_argument("--friction", help="sliding frictions, with commas, instead of angles; grains do not roll")


def main():
    tool = Tool("grain_angles", __doc__, add_arguments, solvers=("flip", "dem"))
    tool.solver = "dem"
    rows = []
    cases = [float(value) for value in (tool.args.friction or ("25" if tool.quick else "20,25,30,35,40")).split(",")]
    for case in cases:
        dem = {"friction": case, "rolling_friction": 1.0} if tool.args.friction else {}
        angle = 30.0 if tool.args.friction else case
        row = {"case": case, "heap": heap(tool, angle, dem)}
        if not tool.args.friction:
            row["flow"] = heap(tool, angle, {"mode": "surface_flow"})
            row["field"] = heap(tool, angle, {"mode": "height_field"})
        row["start"], row["box"] = box(tool, angle, dem)
        row["drum"] = drum(tool, angle, dem)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    tool.write(rows, [("case", "friction" if tool.args.friction else "friction_angle", "g"), ("heap", "heap, full", ".1f"),
                      ("flow", "surface flow", ".1f"), ("field", "height field", ".1f"), ("start", "box starts at", ".1f"),
                      ("box", "box flows at", ".1f"), ("drum", "drum", ".1f")],
               note="Degrees. The flank of a heap 7 grains high is rounded by the jet: that of the height field, whose columns stand at the angle itself, reads 3 less too.")


if __name__ == "__main__":
    main()
