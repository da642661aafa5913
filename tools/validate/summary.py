#!/usr/bin/env python3
"""The results of all validation tools in one table: reads their .json files and writes results.md beside them. Runs last."""
import argparse
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def series(rows, key, form=".2f", scale=1.0):
    return " / ".join("–" if row.get(key) is None else format(scale * row[key], form) for row in rows)


def span(rows, key, form=".2f", scale=1.0):
    values = [scale * row[key] for row in rows if row.get(key) is not None]
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def links(name, *plots):
    return ", ".join([f"[table]({name}.md)", *(f"[plot]({plot}.svg)" for plot in plots or (name,))])


def of_solver(rows, solver):
    return [row for row in rows if row.get("solver", "flip") == solver]


def pile(rows):
    for row in of_solver(rows, "sph"):
        yield f"poured heap of sph, flank at {row['angle']}°, mean of {len(row['piles'])}, {row['height_cells']:.0f} cells high; lowest to " \
            "highest", f"{row['all']:.1f}°; {row['lowest']:.1f} to {row['highest']:.1f}°", "within 4°, rising", links("pile")
    rows = of_solver(rows, "flip")
    angles, files = series(rows, "angle", ".0f"), links("pile")
    yield f"poured heap, flank at {angles}°, means of {len(rows[0]['piles'])}", series(rows, "all", ".1f") + "°", "within 4°, rising", files
    yield "the same, axes against diagonals: mean, most of a heap, %", \
        " / ".join(f"{abs(row['difference']):.1f}, {row['worst']:.1f}" for row in rows), "5", files
    yield "the same, asleep after the pour at the latest, s", series(rows, "until_asleep", ".1f"), "a few seconds", files


def rest(rows):
    files = links("rest")
    for kind in dict.fromkeys(row["kind"] for row in rows):
        some = [row for row in rows if row["kind"] == kind]
        moved = f"{span(some, 'speed', '.1e')}, {span(some, 'drift', '.5f')}, {span(some, 'front', '.3f')}"
        yield f"{kind} of {span(some, 'angle', '.0f')}° at rest for 60 s: speed / √(g dx), drift in cells/s, front in cells", \
            moved, "1e-3, 0.001, 0", files
    yield "a resting step against a flowing one, %", span(rows, "cost", ".1f", 100), "10", files


def column_runouts(rows, of=""):
    for kind, angle in dict.fromkeys((row["kind"], row["angle"]) for row in rows):
        some = sorted((row for row in rows if (row["kind"], row["angle"]) == (kind, angle)), key=lambda row: row["a"])
        yield f"{kind} column of {of}{angle}°, a = {series(some, 'a', 'g')}: run-out", series(some, "runout"), \
            f"Lube {series(some, 'lube')}; Lajeunesse {series(some, 'lajeunesse')}", \
            links("column", "column" if kind == "planar" else "column-round")


def column(rows):
    yield from column_runouts(of_solver(rows, "dem"), "dem, ")
    for row in of_solver(rows, "sph"):
        grid = [other["runout"] for other in of_solver(rows, "flip")
                if (other["kind"], other["angle"], other["a"]) == (row["kind"], row["angle"], row["a"])]
        yield f"{row['kind']} column of sph, {row['angle']}°, a = {row['a']:g}: run-out over that of flip", \
            f"{row['runout'] / grid[len(grid) // 2]:.2f}", "0.85 to 1.15", links("column", "column" if row["kind"] == "planar" else "column-round")
    rows = of_solver(rows, "flip")
    finest = {}
    for row in rows:  # of several grids the one in the middle
        finest.setdefault((row["kind"], row["angle"], row["a"]), []).append(row)
    chosen = [some[len(some) // 2] for some in finest.values()]
    yield from column_runouts(chosen)
    planar = sorted((row for row in chosen if row["kind"] == "planar" and row["angle"] == 30), key=lambda row: row["a"])
    yield "planar column of 30°: height / L₀", series(planar, "height"), series(planar, "height_law"), links("column")
    yield "planar columns: the front stops after, √(H₀/g)", \
        span([row for row in rows if row["kind"] == "planar"], "stop", ".1f"), "about 3.3", links("column")
    for angle in dict.fromkeys(row["angle"] for row in rows):
        grids = finest.get(("planar", angle, 1), [])
        yield f"planar column of {angle}°, a = 1, {series(grids, 'cells', '.0f')} cells in L₀: run-out; height", \
            f"{series(grids, 'runout')}; {series(grids, 'height')}", "no change", links("column")


def dam(rows):
    for solver, asked, plot in (("flip", "6", "dam"), ("sph", "8", "dam-sph")):
        some = of_solver(rows, solver)
        if some:
            yield f"dam break of {solver}, front 0.1 a deep, T ≤ 3, at {series(some, 'cells', '.0f')} cells in a, % off", \
                series(some, "front_0.1", ".1f"), asked, links("dam", plot)
            yield "the same, height of the column, of 2 a", series(some, "height", ".3f"), "0", links("dam", plot)


def silo(rows):
    holes, bases = ([row for row in rows if row.get(key) is not None] for key in ("hole", "base_part"))
    yield f"silo, holes of {series(holes, 'hole_cells', '.0f')} cells: C with k d = 0", series(holes, "c_from_rate"), \
        "0.55 to 0.65", links("silo")
    yield "the same, rate half empty over rate full", \
        " / ".join(f"{row['late'] / row['early']:.2f}" for row in holes if row.get("late")), "1", links("silo")
    yield "pressure at a silo's base over the weight above", span(bases, "base_part"), \
        f"Janssen, rough walls: {span([row for row in bases if row['friction'] > 0], 'janssen_low')} to " \
        f"{span([row for row in bases if row['friction'] > 0], 'janssen_high')}", links("silo")


def hourglass(rows):
    for row in rows:
        kept = row["material"] == "sand"
        yield f"hourglass, {row['material']}, neck of {row['neck_cells']:.0f} cells: l/s with 90 to 70, 70 to 50, 50 to 30 % left", \
            " / ".join(f"{1000 * row[key]:.2f}" for key in ("full", "half", "low")), \
            "no change" if kept else "falls as the root of the height", links("hourglass")
    yield "hourglass, sand: C with k d = 0", series([row for row in rows if row["material"] == "sand"], "c"), \
        "0.55 to 0.65", links("hourglass")


def scaling(rows):
    for case in dict.fromkeys(row["case"] for row in rows):
        some = [row for row in rows if row["case"] == case]
        yield f"{case}, {series(some, 'particles', ',.0f')} particles: µs a particle and step", \
            series(some, "microseconds", ".3f"), "linear", links("scaling")


def laws(rows):
    for row in rows:
        solvers = [solver for solver in ("flip", "sph", "dem") if row.get(solver)]
        unit = f", {row['unit']}" if row["unit"] else ""
        yield f"{row['law']}{unit}: {' / '.join(solvers)}", " / ".join(row[solver] for solver in solvers), row["exact"], links("laws")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the results in build/validate")
    parser.add_argument("--out", help="folder of the results; default docs/validation, with --quick build/validate")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if results.md is not what it would be")
    arguments, _ = parser.parse_known_args()  # others belong to the tools before it
    default = os.path.join("build", "validate") if arguments.quick else os.path.join("docs", "validation")
    out = arguments.out or os.path.join(ROOT, default)
    lines = ["# Results", "", "Written by `tools/validate/summary.py` from the tables beside it; do not edit by hand.", "",
             "| claim | measured | asked | files |", "|---|---|---|---|"]
    for read in (laws, pile, rest, column, dam, silo, hourglass, scaling):
        path = os.path.join(out, read.__name__ + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines += ["| " + " | ".join(row) + " |" for row in read(json.load(file)["rows"])]
    path, text = os.path.join(out, "results.md"), "\n".join(lines) + "\n"
    if arguments.check:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return 0
        print(f"{os.path.relpath(path, ROOT)}: not what tools/validate/summary.py makes of the tables beside it")
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
