#!/usr/bin/env python3
"""Slopes of dem against the friction angle: a heap on a rough floor in the three modes, a box that is tilted slowly (where its bed starts to flow
and at what slope it flows), a layer that flows down an incline, and a drum that turns. The map from angles to contact friction in
src/dem/contact/dem_friction.c is chosen by this table; with --friction MU,… the columns are those of sliding frictions instead of angles."""
import sys

import numpy as np

from common import Tool, G

D = 0.01  # m, of a grain
BASE = {"cell_size": D, "particles_per_cell": 1, "gravity": [0, 0, -G]}
FLOOR = {"friction": 1.0, "shape": {"box": {"min": [-1, -1, -1], "max": [2, 1, 0]}}}


def sand(angle):
    return {"sand": {"kind": "sand", "friction_angle": angle}}


def gravity(tilt):
    """Gravity in the frame of a box that is tilted by so many degrees."""
    return [G * float(np.sin(np.radians(tilt))), 0, -G * float(np.cos(np.radians(tilt)))]


def tops(position, radius):
    """Highest point of the grains of each column, two grains wide: x, y, z."""
    found = {}
    for x, y, z in zip(*np.floor(position[:, :2].T / (2 * D)).astype(int), position[:, 2] + radius):
        found[(x, y)] = max(found.get((x, y), -np.inf), z)
    return np.array([((x + 0.5) * 2 * D, (y + 0.5) * 2 * D, z) for (x, y), z in found.items()])


def degrees(slope):
    return float(np.degrees(np.arctan(slope)))


def flank(position, radius):
    """Slope of a cone about the z axis: of the heights of rings a grain wide, between the toe, a fifth of the height and a grain, and the tip, four fifths."""
    found = tops(position, radius)
    distance = np.hypot(found[:, 0], found[:, 1])
    ring = np.floor(distance / D).astype(int)
    full = [n for n in np.unique(ring) if np.count_nonzero(ring == n) > 2]
    middle = np.array([distance[ring == n].mean() for n in full])
    height = np.array([found[ring == n, 2].mean() for n in full])
    chosen = (height > 0.2 * height.max() + D) & (height < 0.8 * height.max())
    return -degrees(np.polyfit(middle[chosen], height[chosen], 1)[0]) if chosen.sum() > 1 else None


def exact_cone(angle):
    """What flank() reads of a cone of that angle, 10 grains high, cut out of spheres at random: the mean of 6."""
    random, slope, found = np.random.default_rng(1), np.tan(np.radians(angle)), []
    height = 10 * D
    spacing = D * (np.pi / 6 / 0.6) ** (1 / 3)
    for turn in random.uniform(0, np.pi, 6):
        across = np.arange(-height / slope, height / slope, spacing)
        x, y, z = (part.ravel() + random.normal(0, 0.2 * D, part.size) for part in np.meshgrid(across, across, np.arange(D / 2, height, spacing)))
        position = np.stack((x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), z), axis=1)
        inside = z + np.hypot(x, y) * slope + D / 2 * np.hypot(1, slope) < height
        found.append(flank(position[inside], D / 2))
    return float(np.mean(found))


def heap(tool, angle, dem):
    """4,200 grains poured on a rough floor as a jet 4 grains across, from a height of 16 grains: a heap of 7 to 12 grains' height."""
    run = tool.run(f"heap-{dem.get('mode', 'full')}-{angle:g}", {
        **BASE, "frames": 68, "fps": 10, "materials": sand(angle), "dem": dem,
        "domain": {"min": [-0.3, -0.3, 0], "max": [0.3, 0.3, 0.3], "walls": {"friction": 1.0, "open": ["x_min", "x_max", "y_min", "y_max"]}},
        "emitters": [{"material": "sand", "shape": {"cylinder": {"from": [0, 0, 0.16], "to": [0, 0, 0.2], "radius": 0.02}},
                      "velocity": [0, 0, -0.6], "rate": 0.0007, "end": 6}]})
    position, velocity, radius = run.read(run.frames, "position", "velocity", "radius")
    slow = np.linalg.norm(velocity, axis=1) < 0.3
    return flank(position[slow], radius[slow])


def surface(run, frame, part):
    """Slope of the middle part of a surface along x."""
    found = tops(*run.read(frame, "position", "radius"))
    x = np.unique(found[:, 0])
    z = np.array([np.median(found[found[:, 0] == at, 2]) for at in x])
    chosen = (x > x[0] + part * (x[-1] - x[0])) & (x < x[-1] - part * (x[-1] - x[0]))
    return degrees(np.polyfit(x[chosen], z[chosen], 1)[0])


def box(tool, angle, dem):
    """A bed 8 grains deep; from 12 degrees on gravity turns by 6 degrees a second. The angles at which half of the upper grains move, and of the flowing surface."""
    keys = [[0, gravity(0)], [0.6, gravity(0)]] + [[1 + (tilt - 12) / 6, gravity(tilt)] for tilt in range(12, 61)]
    run = tool.run(f"box-{angle:g}", {
        **BASE, "frames": 180, "fps": 20, "gravity": {"keys": keys}, "materials": sand(angle), "dem": {"surfaces": "covered", **dem}, "colliders": [FLOOR],
        "domain": {"min": [0, 0, -0.05], "max": [0.4, 0.06, 0.4], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.4, 0.06, 0.08]}}}]})
    start, flowing, last = None, [], None
    for frame in range(21, run.frames + 1):
        tilt = 12 + 6 * (frame / 20 - 1)
        position, ids = run.read(frame, "position", "id")
        position = position[np.argsort(ids)]
        if last is not None and start is None and np.median(np.linalg.norm(position - last, axis=1)[position[:, 2] > 0.04]) * 20 > 0.1 * np.sqrt(G * D):
            start = tilt
        last = position
        if start is not None and tilt > start + 3:
            flowing.append(tilt - surface(run, frame, 0.25))
    return start, float(np.mean(flowing)) if flowing else None


def incline(tool, angle, dem):
    """A layer 8 grains deep and 120 long on a rough plane, set flowing by a short tilt to 16 degrees above the angle and then held 6 below it. The
    angle whose friction balances gravity and the change of momentum of the layer's middle, at mean speeds of 0.1 to 1.2 sqrt(g d)."""
    tilt = degrees(0.2 + 1.1 * dem["friction"]) if "friction" in dem else angle - 6
    turns = ((0, 0), (0.2, 0), (0.3, tilt + 22), (0.36, tilt + 22), (0.4, tilt))
    run = tool.run(f"incline-{angle:g}", {
        **BASE, "frames": 50, "fps": 50, "gravity": {"keys": [[time, gravity(turn)] for time, turn in turns]}, "materials": sand(angle),
        "dem": {"surfaces": "covered", **dem}, "colliders": [FLOOR],
        "domain": {"min": [0, 0, -0.05], "max": [1.8, 0.04, 0.2], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [1.2, 0.04, 0.08]}}}]})
    position, ids = run.read(10, "position", "id")
    middle = ids[(position[:, 0] > 0.4) & (position[:, 0] < 0.8)]
    speeds = []
    for frame in range(21, run.frames + 1):
        velocity, ids = run.read(frame, "velocity", "id")
        speeds.append(velocity[np.isin(ids, middle), 0].mean() / np.sqrt(G * D))
    flows = np.flatnonzero((np.array(speeds) > 0.1) & (np.array(speeds) < 1.2))
    if flows.size < 4:
        return None
    change = np.polyfit(flows / run.fps, np.array(speeds)[flows] * np.sqrt(G * D), 1)[0]
    return degrees(np.tan(np.radians(tilt)) - change / (G * np.cos(np.radians(tilt))))


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
        row = {"case": case, "cone": exact_cone(angle), "heap": heap(tool, angle, dem)}
        if not tool.args.friction:
            row["flow"] = heap(tool, angle, {"mode": "surface_flow"})
            row["field"] = heap(tool, angle, {"mode": "height_field"})
        row["start"], row["box"] = box(tool, angle, dem)
        row["incline"] = incline(tool, angle, dem)
        row["drum"] = drum(tool, angle, dem)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    tool.write(rows, [("case", "friction" if tool.args.friction else "friction_angle", "g"), ("cone", "exact cone reads", ".1f"), ("heap", "heap, full", ".1f"),
                      ("flow", "surface flow", ".1f"), ("field", "height field", ".1f"), ("start", "box starts at", ".1f"),
                      ("box", "box flows at", ".1f"), ("incline", "incline", ".1f"), ("drum", "drum", ".1f")],
               note="Degrees. The jet rounds the tip of a heap: that of the height field, whose columns stand at the angle itself, reads 2 less.")


if __name__ == "__main__":
    main()
