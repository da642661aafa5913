#!/usr/bin/env python3
"""Laws: momentum, angular momentum, energy, waves, critical heights and slopes, each with its exact value and what flip, sph and dem give.
Every scene is run by all solvers to which the law applies, with the same cells and the same material."""
import json
import re
import subprocess

import numpy as np

from common import G, Tool
from svg_plot import Plot

SOLVERS = ("flip", "sph", "dem")
LIQUID = {"m": {"kind": "water"}}


def sand(angle=30, cohesion=0):
    return {"m": {"kind": "sand", "friction_angle": angle, "density": 1600, **({"cohesion": cohesion} if cohesion else {})}}


def box(low, high):
    return {"box": {"min": low, "max": high}}


def base(solver, cell, fps, seconds):
    """Grains of dem are one a cell: half as many cells then have as many grains."""
    return {"solver": solver, "cell_size": cell, "fps": fps, "frames": int(round(fps * seconds)) + 1,
            **({"particles_per_cell": 1} if solver == "dem" else {})}


class Laws:
    def __init__(self, tool):
        self.tool = tool
        self.rows = []
        self.curves = {}
        self.known = {}

    def frames(self, law, scene):
        """(time, position, velocity, material) of the frames; two laws may measure the same scene."""
        key = json.dumps(scene)
        if key not in self.known:
            run = self.tool.run(re.sub("[^a-zA-Z0-9.]+", "-", law)[:48] + "-" + scene["solver"], scene)
            found = []
            for frame in range(1, scene["frames"] + 1):
                x, v, material = run.read(frame, "position", "velocity", "material")
                found.append(((frame - 1) / scene["fps"], x.astype(float), v.astype(float), material))
            self.tool.forget(run)
            self.known[key] = found
        return self.known[key]

    def law(self, name, unit, exact, make, measure, solvers=SOLVERS, form=".3f"):
        """One row. `make(solver)` is the scene, `measure(frames, solver)` the number; `exact` is one too, or a text for a bound."""
        row = {"law": name, "unit": unit, "exact": exact if isinstance(exact, str) else format(exact, form)}
        for solver in solvers:
            scene = make(solver)
            try:
                value = float(measure(self.frames(name, scene), solver))
            except subprocess.CalledProcessError:
                row[solver], row[solver + "_off"] = "the run failed", None
                continue
            if np.isfinite(value):
                row[solver] = format(value, form)
                row[solver + "_off"] = f"{100 * (value - exact) / abs(exact):+.1f} %" if not isinstance(exact, str) and exact else None
            else:
                row[solver] = "none"
        self.rows.append(row)


def thrown(laws, quick):
    """A cube thrown in free flight: where its middle is after 0.3 s."""
    cell, seconds, speed = (0.02, 0.3, 1.0)

    def make(solver):
        return {**base(solver, cell, 20, seconds), "materials": LIQUID if solver != "dem" else sand(),
                "bodies": [{"material": "m", "velocity": [speed, 0, 0], "shape": box([-0.1] * 3, [0.1] * 3)}]}

    def way(axis):
        return lambda frames, solver: frames[-1][1][:, axis].mean() - frames[0][1][:, axis].mean()

    laws.law("momentum: way of a thrown cube along x in 0.3 s", "m", speed * seconds, make, way(0), form=".4f")
    laws.law("momentum: its fall", "m", -0.5 * G * seconds ** 2, make, way(2), form=".4f")


def spin_of(x, v):
    middle, mean = x.mean(axis=0), v.mean(axis=0)
    r, u = x - middle, v - mean
    return float((r[:, 0] * u[:, 1] - r[:, 1] * u[:, 0]).sum())


def spinning(laws, quick):
    """A ball that spins in flight, and a liquid that spins in a round vessel without friction."""
    omega, radius = 8.0, 0.16
    turn = 2 * np.pi / omega

    def ball(solver):
        return {**base(solver, 0.02, 40, turn / 4), "materials": LIQUID if solver != "dem" else sand(),
                "bodies": [{"material": "m", "velocity": [1, 0, 2], "angular_velocity": [0, 0, omega],
                            "shape": {"sphere": {"center": [0, 0, 0], "radius": radius}}}]}

    def vessel(solver):
        outer = radius + 0.05
        hole = {"cylinder": {"from": [0, 0, 0], "to": [0, 0, 0.6], "radius": radius}}
        return {**base(solver, 0.02, 20, turn), "materials": LIQUID,
                "domain": {"min": [-outer + 0.01, -outer + 0.01, -0.04], "max": [outer - 0.01, outer - 0.01, 0.5],
                           "walls": {"friction": 0}},
                "colliders": [{"friction": 0, "shape": {"difference": [box([-outer, -outer, -0.05], [outer, outer, 0.45]), hole]}}],
                "bodies": [{"material": "m", "angular_velocity": [0, 0, omega],
                            "shape": {"cylinder": {"from": [0, 0, 0], "to": [0, 0, 0.16], "radius": radius}}}]}

    def kept(frames, solver):
        return spin_of(*frames[-1][1:3]) / spin_of(*frames[0][1:3])

    def swerve(frames, solver):
        return abs(frames[-1][1][:, 1].mean() - frames[0][1][:, 1].mean()) / 0.02

    laws.law("angular momentum of a ball in flight after a quarter turn", "of the first", 1.0, ball, kept)
    laws.law("the same: how far it swerves from its plane", "cells", 0.0, ball, swerve)
    laws.law("angular momentum in a round vessel without friction after a turn, 8 cells in its radius", "of the first", 1.0, vessel,
             kept, solvers=("flip", "sph"))


def energy(laws, quick):
    """A dam breaks in a tank without friction: the energy never rises."""
    cell = 0.04 if quick else 0.025

    def make(solver):
        return {**base(solver, cell, 20, 1.0 if quick else 2.0), "materials": LIQUID if solver != "dem" else sand(),
                "domain": {"min": [0, 0, 0], "max": [1, 0.2, 1], "walls": {"friction": 0}},
                "bodies": [{"material": "m", "shape": box([0, 0, 0], [0.4, 0.2, 0.6])}]}

    def largest(frames, solver):
        total = [G * x[:, 2].mean() + 0.5 * (v ** 2).sum(axis=1).mean() for _, x, v, _ in frames]
        laws.curves.setdefault("energy", []).append((solver, [f[0] for f in frames], np.array(total) / total[0]))
        return max(total) / total[0]

    laws.law("energy of a dam break: largest over the first", "", "at most 1", make, largest)


def waves(laws, quick):
    """A standing wave across a tank without friction, half a wave long, and one between two liquids."""
    width, depth, cell = 1.0, 0.4, 0.04 if quick else 0.02
    k = np.pi / width
    period = 2 * np.pi / np.sqrt(G * k * np.tanh(k * depth))

    def make(solver):
        strips = int(round(2 * width / cell))
        bodies = [{"material": "m", "shape": box([i * width / strips, 0, 0], [(i + 1) * width / strips, 4 * cell,
                                                  depth + 0.04 * np.cos(k * (i + 0.5) * width / strips)])} for i in range(strips)]
        return {**base(solver, cell, 50, 2.1 * period), "materials": LIQUID, "bodies": bodies,
                "domain": {"min": [0, 0, 0], "max": [width, 4 * cell, 0.7], "walls": {"friction": 0}}}

    def mode(frames):
        """First mode of the level, in units of its amplitude: 0.04 m at the beginning."""
        a = np.array([np.cos(k * x[:, 0]).mean() for _, x, _, _ in frames])
        return np.array([f[0] for f in frames]), a / a[0]

    def found(frames, solver):
        t, a = mode(frames)
        laws.curves.setdefault("wave", []).append((solver, t, a))
        falls = [t[i] + (t[i + 1] - t[i]) * a[i] / (a[i] - a[i + 1]) for i in range(len(a) - 1) if a[i] > 0 >= a[i + 1]]
        return falls[1] - falls[0] if len(falls) > 1 else np.nan

    def decay(frames, solver):
        t, a = mode(frames)
        return a[t > 0.75 * period][: int(0.5 * period * 50)].max()

    laws.law("period of a standing wave, half a wave in the tank", "s", period, make, found, solvers=("flip", "sph"))
    laws.law("its height after a period", "of the first", 1.0, make, decay, solvers=("flip", "sph"))


def overturning(laws, quick):
    """Heavy over light liquid: growth of a sine of 40 cells."""
    width, depth, cell, low, high = 0.4, 0.2, 0.02, 600.0, 1200.0
    k = np.pi / width
    rate = np.sqrt(G * k * (high - low) / (high + low) * np.tanh(k * depth))

    def make(solver):
        strips, bodies = 40, []
        for i in range(2 * strips):
            x0, x1 = (i % strips) * width / strips, (i % strips + 1) * width / strips
            z = depth + 0.005 * np.cos(k * 0.5 * (x0 + x1))
            bodies.append({"material": "heavy" if i >= strips else "light", "jitter": 0.5,
                           "shape": box([x0, 0, z if i >= strips else 0], [x1, 2 * cell, 2 * depth if i >= strips else z])})
        return {**base(solver, cell, 50, 0.4), "bodies": bodies,
                "materials": {"heavy": {"kind": "water", "density": high}, "light": {"kind": "water", "density": low}},
                "domain": {"min": [0, 0, 0], "max": [width, 2 * cell, 2 * depth], "walls": {"friction": 0}}}

    def found(frames, solver):
        a = [np.cos(k * x[m == 0, 0]).sum() for _, x, _, m in (frames[0], frames[-1])]
        return np.arccosh(a[1] / a[0]) / frames[-1][0] if a[1] / a[0] >= 1 else np.nan

    laws.law("heavy over light liquid: rate of growth", "1/s", rate, make, found, solvers=("flip", "sph"))


def critical_height(laws, quick):
    """A vertical cut of cohesive sand: the parts of the critical height that stand and fall."""
    height, angle = 0.2, 30.0
    cell = 0.02 if quick else 0.0125
    width = 0.75 * height

    def make(part):
        def scene(solver):
            # H_c = 4 C tan(45 + phi/2) / (rho g)
            cohesion = height / part * 1600 * G / (4 * np.tan(np.radians(45 + angle / 2)))
            return {**base(solver, cell, 24, 1.0), "materials": sand(angle, cohesion),
                    "domain": {"min": [0, 0, -0.04], "max": [3 * height, 6 * cell, 1.25 * height], "walls": {"friction": 0}},
                    "colliders": [{"friction": 1, "shape": box([-1, -1, -1], [2, 1, 0])}],
                    "bodies": [{"material": "m", "shape": box([0, 0, 0], [width, 6 * cell, height])}]}
        return scene

    def fallen(frames, solver):
        """Sand more than a cell in front of the cut. Its height is no measure: grains settle into their packing."""
        return (frames[-1][1][:, 0] > width + cell).mean()

    laws.law("vertical cut of 0.6 H_c: sand in front of it after a second (it stands)", "of all", 0.0, make(0.6), fallen)
    laws.law("vertical cut of 1.6 H_c: the same (it falls)", "of all", "above 0.1", make(1.6), fallen)


def slopes(laws, quick):
    """Half a ridge of sand against a smooth wall: below its friction angle it stands, above it comes down to it."""
    cell, high, wide = 0.01, 12 if quick else 16, 6
    for angle in (30,) if quick else (20, 30, 40):

        def make(slope):
            def scene(solver, angle=angle):
                fall = np.tan(np.radians(slope))
                strips = int(high / fall)
                length = np.ceil(1.3 * high / np.tan(np.radians(angle - 8))) * cell
                bodies = [{"material": "m", "shape": box([i * cell, 0, 0], [(i + 1) * cell, wide * cell, (high - (i + 0.5) * fall) * cell])}
                          for i in range(strips)]
                return {**base(solver, cell, 12, 2.0), "materials": sand(angle), "bodies": bodies,
                        "domain": {"min": [0, 0, -0.03], "max": [length, wide * cell, 1.5 * high * cell], "walls": {"friction": 0}},
                        "colliders": [{"friction": 1, "shape": box([-1, -1, -1], [5, 1, 0])}]}
            return scene

        def flank(frames, solver):
            """Slope of the columns that are 15 to 75 % as high as the highest. Nine tenths of a column are below 0.9 of its height."""
            x = frames[-1][1]
            column = np.floor(x[:, 0] / cell).astype(int)
            at = np.array([i for i in range(column.max() + 1) if (column == i).sum() >= wide])
            height = np.array([np.percentile(x[column == i, 2], 90) / (0.9 * cell) for i in at])
            part = (height > 0.15 * height.max()) & (height < 0.75 * height.max())
            return -np.degrees(np.arctan(np.polyfit(at[part], height[part], 1)[0]))

        laws.law(f"ridge of {angle - 6}° of sand of {angle}°: its slope after 2 s (it stands)", "°", angle - 6.0, make(angle - 6), flank, form=".1f")
        laws.law(f"ridge of {angle + 8}° of sand of {angle}°: the same (it comes down)", "°", float(angle), make(angle + 8), flank, form=".1f")


def main():
    tool = Tool("laws", __doc__)
    laws = Laws(tool)
    for part in (thrown, spinning, energy, waves, overturning, critical_height, slopes):
        part(laws, tool.quick)
        laws.known.clear()
    plot = Plot("Standing wave", "time, s", "first mode over its beginning")
    for solver, t, a in laws.curves.get("wave", []):
        plot.line(t, a, solver)
    columns = [("law", "law", "s"), ("unit", "unit", "s"), ("exact", "exact", "s")]
    for solver in SOLVERS:
        columns += [(solver, solver, "s"), (solver + "_off", "off", "s")]
    tool.write(laws.rows, columns, plot,
               "The same scene in each solver to which the law applies; – where it does not. Cells of 1 to 4 cm, defaults otherwise. "
               "`off`: deviation from the exact value; none: nothing to measure, as a wave that does not come back.")


if __name__ == "__main__":
    main()
