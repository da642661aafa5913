#!/usr/bin/env python3
"""Slopes of dem against the friction angle: a bank whose wall is drawn away, a heap on a rough floor in the three modes, a box that is tilted slowly
(where its bed starts to flow and at what slope it flows), a layer that flows down an incline and one that starts again, and drums that turn. The map from angles to contact
friction in src/dem/bodies/dem_friction.c is chosen by this table; with --friction MU,… the columns are those of sliding frictions instead of angles."""
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


def cone(position):
    """Slope of a cone about the z axis by the centre of its volume, for heaps too small for flank(): height over radius is twice the mean height over the
    mean distance. The farthest 3 % of the spheres, those that rolled away, do not count."""
    distance = np.hypot(position[:, 0], position[:, 1])
    near = distance <= np.quantile(distance, 0.97)
    return degrees(2 * position[near, 2].mean() / distance[near].mean())


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


def surface_of(position, radius, part):
    """Slope of the middle part of a surface along x."""
    found = tops(position, radius)
    x = np.unique(found[:, 0])
    z = np.array([np.median(found[found[:, 0] == at, 2]) for at in x])
    chosen = (x > x[0] + part * (x[-1] - x[0])) & (x < x[-1] - part * (x[-1] - x[0]))
    return degrees(np.polyfit(x[chosen], z[chosen], 1)[0])


def surface(run, frame, part):
    return surface_of(*run.read(frame, "position", "radius"), part)


def box(tool, angle, dem, length=0.4):
    """A bed 8 grains deep; from 12 degrees on gravity turns by 6 degrees a second. The angles at which half of the upper grains move, and of the flowing surface."""
    keys = [[0, gravity(0)], [0.6, gravity(0)]] + [[1 + (tilt - 12) / 6, gravity(tilt)] for tilt in range(12, 61)]
    run = tool.run(f"box-{angle:g}-{length:g}", {
        **BASE, "frames": 180 if length < 1 else round(20 * (1 + (angle - 2) / 6)), "fps": 20, "gravity": {"keys": keys}, "materials": sand(angle),
        "dem": {"surfaces": "covered", **dem}, "colliders": [FLOOR],
        "domain": {"min": [0, 0, -0.05], "max": [length, 0.06 if length < 1 else 0.04, 0.4], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [length, 0.06, 0.08]}}}]})
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


def coulomb_start(angle, length):
    """Where an exact Coulomb sand starts: the upper half of the bed, 4 grains, pushes up the passive wedge at the lower end and leaves the active one at the upper."""
    active = np.tan(np.radians(45 - angle / 2)) ** 2
    return degrees(np.tan(np.radians(angle)) + (1 / active - active) * 0.04 / (2 * length))


def bank(tool, angle, dem):
    """A bed 12 grains high beside a wall that is drawn away at 0.16 sqrt(g d): the slope of the plateau and ramp nearest to the heights that it leaves."""
    end = 0.2 + 0.25 / 0.05
    wall = {"box": {"min": [0.2, -0.1, 0.001], "max": [0.23, 0.14, 0.3]}, "translate": {"keys": [[0, [0, 0, 0]], [0.2, [0, 0, 0]], [end, [0.25, 0, 0]]]}}
    run = tool.run(f"bank-{dem.get('shape', 'spheres')}-{angle:g}", {
        **BASE, "frames": 109, "fps": 20, "materials": sand(angle), "dem": dem, "colliders": [FLOOR, {"friction": 0, "shape": wall}],
        "domain": {"min": [0, 0, -0.03], "max": [0.64, 0.04, 0.25], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.2, 0.04, 0.12]}}}]})
    position, radius = run.read(run.frames, "position", "radius")
    highest = {}
    for x, y, z in zip(*np.floor(position[:, :2].T / [[D], [2 * D]]).astype(int), position[:, 2] + radius):
        highest[(x, y)] = max(highest.get((x, y), 0), z)
    at = np.unique([x for x, _ in highest])
    height = np.array([np.mean([z for (x, _), z in highest.items() if x == n]) for n in at])
    top, chosen = height[:8].mean(), height > 1.2 * D
    best = min((float(np.sum((np.clip(top - (at - edge) * D * np.tan(np.radians(slope)), 0, top) - height)[chosen] ** 2)), slope)
               for slope in np.arange(10, 60, 0.1) for edge in np.arange(0, at[-1], 0.25))
    return best[1]


def tipped(tool, angle):
    """The bed of the box, tipped at once by 45 degrees: the slope at which it comes to rest, of dem and of flip."""
    found = []
    for solver in ("dem", "flip"):
        tool.solver = solver
        run = tool.run(f"tipped-{solver}-{angle:g}", {
            **BASE, "frames": 49, "fps": 16, "gravity": gravity(45), "materials": sand(angle), "colliders": [FLOOR],
            **({"dem": {"surfaces": "covered"}} if solver == "dem" else {"particles_per_cell": 8}),
            "domain": {"min": [0, 0, -0.05], "max": [0.4, 0.06, 0.4], "walls": {"friction": 0}},
            "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [0.4, 0.06, 0.08]}}}]})
        position = run.read(run.frames, "position")
        found.append(45 - surface_of(position, D / 2 if solver == "dem" else D / 4, 0.25))
    tool.solver = "dem"
    return found


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


def layer_again(tool, angle, dem):
    """The layer of incline(), set flowing, brought to rest on a level plane and tilted again by 6 degrees a second: where its middle starts, at 0.1 sqrt(g d)."""
    low, at = angle - 10, 1.8
    turns = [(0, 0), (0.2, 0), (0.3, angle + 18), (0.4, angle + 18), (0.45, 2), (at - 0.2, 2), (at, low), (at + 4, low + 24)]
    run = tool.run(f"again-{angle:g}", {
        **BASE, "frames": 145, "fps": 25, "gravity": {"keys": [[time, gravity(turn)] for time, turn in turns]}, "materials": sand(angle),
        "dem": {"surfaces": "covered", **dem}, "colliders": [FLOOR],
        "domain": {"min": [0, 0, -0.05], "max": [2.4, 0.04, 0.3], "walls": {"friction": 0}},
        "bodies": [{"material": "sand", "shape": {"box": {"min": [0, 0, 0], "max": [1.2, 0.04, 0.08]}}}]})
    position, ids = run.read(round(at * run.fps) - 3, "position", "id")
    middle = ids[(position[:, 0] > 0.5) & (position[:, 0] < 1.0)]
    for frame in range(round(at * run.fps), run.frames + 1):
        velocity, ids = run.read(frame, "velocity", "id")
        if velocity[np.isin(ids, middle), 0].mean() > 0.1 * np.sqrt(G * D):
            return low + 6 * (frame / run.fps - at)
    return None


def drum(tool, angle, dem, across=20, rate=40, width=0.06):
    """Half full, so many grains across, turning by so many degrees a second; the mean from 60 to 160 degrees of turning, from 50 to 90 of the large one."""
    radius, first, last = across * D / 2, *((60, 160) if across < 40 else (50, 90))
    end = 1.2 * last / rate
    run = tool.run(f"drum-{across}-{angle:g}", {
        **BASE, "frames": last // 2, "fps": rate / 2, "materials": sand(angle), "dem": {"surfaces": "covered", **dem},
        "domain": {"min": [-radius - 0.05, 0, -radius - 0.05], "max": [radius + 0.05, width, radius + 0.05], "walls": {"friction": 0}},
        "colliders": [{"friction": 1.0, "shape": {"difference": [{"cylinder": {"from": [0, -0.03, 0], "to": [0, 0.09, 0], "radius": radius + 0.03}},
                                                                 {"cylinder": {"from": [0, -0.04, 0], "to": [0, 0.1, 0], "radius": radius}}],
                                                  "rotate": {"keys": [[0, [0, 0, 0]], [end, [0, end * rate, 0]]]}}}],
        "bodies": [{"material": "sand", "shape": {"intersection": [{"cylinder": {"from": [0, 0, 0], "to": [0, width, 0], "radius": radius}},
                                                                   {"box": {"min": [-0.5, -0.5, -0.5], "max": [0.5, 0.5, 0]}}]}}]})
    return -float(np.mean([surface(run, frame, 0.2) for frame in range(first // 2, run.frames + 1)]))


def quarter(tool, angle, dem):
    """A quarter of a heap between two sides without friction, 400 to 600 grains: 5 to 8 grains high. Exact cones of 20 to 40 degrees read 1.5 to 2 more."""
    height = float(np.interp(angle, (20, 25, 30, 35, 40), (7.5, 8, 10, 10, 12))) * D
    wide = height / np.tan(np.radians(angle))
    rate = 0.00175 * height  # m3/s: that of the heap, 0.0007 / 4 at a height of 10 grains
    end = np.pi / 12 * height * wide ** 2 / rate
    across = round(1.7 * wide + 0.1, 2)
    run = tool.run(f"quarter-{dem.get('shape', 'spheres')}-{angle:g}", {
        **BASE, "frames": int((end + 0.8) * 10), "fps": 10, "materials": sand(angle), "dem": dem,
        "colliders": [{"friction": 1.0, "shape": {"box": {"min": [-1, -1, -1], "max": [3, 3, 0]}}}],
        "domain": {"min": [0, 0, -0.03], "max": [across, across, round(1.3 * height + 0.2, 2)], "walls": {"friction": 0, "open": ["x_max", "y_max"]}},
        "emitters": [{"material": "sand", "shape": {"cylinder": {"from": [0, 0, height + 0.06], "to": [0, 0, height + 0.1], "radius": 0.02 * (height / (10 * D)) ** 0.5}},
                      "velocity": [0, 0, -0.6], "rate": rate, "end": end}]})
    return cone(run.read(run.frames, "position"))


# What is measured: the function, whether of all shapes, whether of a friction angle alone.
MEASURES = {
    "bank": (bank, True, False),
    "heap": (heap, True, False),
    "quarter": (quarter, True, True),
    "flow": (lambda tool, angle, dem: heap(tool, angle, {"mode": "surface_flow"}), False, True),
    "field": (lambda tool, angle, dem: heap(tool, angle, {"mode": "height_field"}), False, True),
    "start": (box, False, False),
    "long": (lambda tool, angle, dem: box(tool, angle, dem, length=1.2)[0], False, False),
    "again": (layer_again, False, True),
    "incline": (incline, False, False),
    "drum": (drum, False, False),
    "large_drum": (lambda tool, angle, dem: drum(tool, angle, dem, across=40, rate=20, width=0.04), False, False),
    "tipped": (lambda tool, angle, dem: tipped(tool, angle), False, True),
}


def add_arguments(parser):
    parser.add_argument("--friction", help="sliding frictions, with commas, instead of angles; rolling friction is 1 for spheres and equal for others")
    parser.add_argument("--angles", default="20,25,30,35,40", help="friction angles, with commas")
    parser.add_argument("--shape", default="spheres", help="of the grains; others than spheres have bank and heaps alone")
    parser.add_argument("--only", default="", help="measures to make, with commas: " + ", ".join(name for name in MEASURES))


def measure(tool, angle, dem):
    row = {}
    only = [name for name in tool.args.only.split(",") if name]
    is_angle = not tool.args.friction
    for name, (function, is_of_shapes, needs_angle) in MEASURES.items():
        if (name in only or not only) and (is_of_shapes or dem.get("shape", "spheres") == "spheres") and (is_angle or not needs_angle):
            found = function(tool, angle, dem)
            row.update(zip([name, name + "_flows" if name == "start" else name + "_flip"], found) if isinstance(found, (tuple, list)) else [(name, found)])
    row["coulomb"], row["coulomb_long"], row["tipped_least"] = coulomb_start(angle, 0.4), coulomb_start(angle, 1.2), 45 - degrees(2 * (1 - np.tan(np.radians(angle))))
    return row


def main():
    tool = Tool("grain_angles", __doc__, add_arguments, solvers=("flip", "dem"))
    tool.solver = "dem"
    rows = []
    cases = [float(value) for value in (tool.args.friction or ("25" if tool.quick else tool.args.angles)).split(",")]
    for case in cases:
        dem = {"shape": tool.args.shape} if tool.args.shape != "spheres" else {}
        if tool.args.friction:
            dem.update(friction=case, rolling_friction=1.0 if tool.args.shape == "spheres" else case)
        angle = 30.0 if tool.args.friction else case
        rows.append({"case": case, "cone": exact_cone(angle), **measure(tool, angle, dem)})
        print(rows[-1], file=sys.stderr, flush=True)
    tool.write(rows, [("case", "friction" if tool.args.friction else "friction_angle", "g"), ("bank", "bank", ".1f"), ("cone", "exact cone reads", ".1f"),
                      ("heap", "heap, full", ".1f"), ("quarter", "small quarter of a heap", ".1f"), ("flow", "surface flow", ".1f"), ("field", "height field", ".1f"), ("start_flows", "box flows at", ".1f"),
                      ("large_drum", "drum, 40 across", ".1f"), ("drum", "drum, 20 across", ".1f"), ("incline", "incline", ".1f"), ("again", "layer starts again", ".1f"), ("start", "box starts at", ".1f"), ("coulomb", "Coulomb", ".1f"),
                      ("long", "three times as long", ".1f"), ("coulomb_long", "Coulomb", ".1f"), ("tipped", "tipped by 45", ".1f"), ("tipped_flip", "flip", ".1f"),
                      ("tipped_least", "Coulomb, at least", ".1f")],
               note="Degrees. The jet rounds the tip of a heap: that of the height field, whose columns stand at the angle itself, reads 2 less.")


if __name__ == "__main__":
    main()
