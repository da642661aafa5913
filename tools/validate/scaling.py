#!/usr/bin/env python3
"""Cost against size: the same splash and the same slump at growing numbers of particles, bytes a particle and a cell, and two bodies
a kilometre apart against the same two side by side."""
import time

from common import Tool
from svg_plot import Plot


def apart_scene(distance):
    sphere = {"radius": 0.1}
    return {
        "solver": "flip", "cell_size": 0.01, "fps": 24, "frames": 7,
        "materials": {"water": {"kind": "water"}},
        "bodies": [{"material": "water", "shape": {"sphere": {**sphere, "center": [x, 0, 0.2]}}} for x in (0, distance)],
        "colliders": [{"name": "floor", "friction": 0, "shape": {"half_space": {"point": [0, 0, 0], "normal": [0, 0, 1]}}}],
    }


def main():
    tool = Tool("scaling", __doc__, lambda parser: parser.add_argument("--largest", type=int, default=0,
                                                                       help="most particles; 0: 20 million"))
    sizes = (10000, 40000) if tool.quick else (100000, 300000, 1000000, 3000000, 10000000, 20000000)
    sizes = [size for size in sizes if size <= (tool.args.largest or size)]
    rows = []
    for case in ("water-ball", "sand-column"):
        for size in sizes:
            # The same for all: friction starts from nothing, and its first steps take the most iterations.
            found = tool.bench("--case", case, "--scale", str(size), "--frames", "2" if tool.quick else "3")[0]
            rows.append({"case": case, "particles": found["particles"], "steps": found["steps"],
                         "threads": found["threads"],
                         "microseconds": 1e6 / found["particle_steps_per_second"],
                         "pressure": found["pressure_iterations"] / max(1, found["pressure_solves"]),
                         "friction": found["friction_iterations"] / max(1, found["friction_solves"]),
                         "particle_bytes": found["particle_bytes"],
                         "cell_bytes": found["scratch_bytes"] / found["cells"],
                         "all_bytes": found["live_bytes"] / found["particles"]})
    apart = []
    for distance in (0.5, 1000.0):
        start = time.monotonic()
        run = tool.run(f"apart-{distance:g}", apart_scene(distance))
        apart.append((run.summary["seconds"]["total"], run.summary["peak_rss_bytes"], time.monotonic() - start))
    plot = Plot("Cost of a particle and step", "particles", "microseconds", log=True)
    for case in ("water-ball", "sand-column"):
        chosen = [row for row in rows if row["case"] == case]
        plot.line([row["particles"] for row in chosen], [row["microseconds"] for row in chosen], case)
    note = (f"Two balls of water 1 km apart took {apart[1][0] / apart[0][0]:.2f} times the seconds and "
            f"{apart[1][1] / apart[0][1]:.2f} times the memory of the same two 0.5 m apart.")
    tool.write(rows, [("case", "case", "s"), ("particles", "particles", ","), ("threads", "threads", "d"),
                      ("steps", "steps", "d"), ("microseconds", "µs a particle and step", ".3f"),
                      ("pressure", "pressure iterations a solve", ".1f"),
                      ("friction", "friction iterations a solve", ".1f"),
                      ("particle_bytes", "bytes a particle", "d"), ("cell_bytes", "scratch bytes a cell", ".0f"),
                      ("all_bytes", "all bytes over particles", ".0f")], plot, note)


if __name__ == "__main__":
    main()
