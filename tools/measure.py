#!/usr/bin/env python3
"""Writes the pages of measured figures in docs/measurements, each from its command.

    tools/measure.py tests              what the tests print (tests.md); --long with WADI_LONG=1 (tests-long.md)
    tools/measure.py tests test_flip_slab ...   only these, kept beside the others of the page
    tools/measure.py memory             bytes and iterations of `wadi bench flip` (memory.md)
    tools/measure.py speed              times of `wadi bench flip` and `wadi bench surface` (speed.md)
    tools/measure.py pages              the pages again from their .json files; --check: are they as written?

Each page has its figures in a .json file beside it, with the command, the commit and the date. `tests` and `memory` do not
depend on what else the machine does; `speed` wants it quiet.
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "measurements"
# Tests that print figures which depend on the code alone.
TESTS = """
test_flip_slab test_flip_ramp test_flip_friction test_flip_friction_walls test_flip_friction_piles test_flip_push
test_flip_drum test_flip_paddle test_flip_rest test_flip_sleep test_flip_sleep_tiles test_flip_sleep_slopes test_flip_pools
test_flip_scenes test_flip_scale test_flip_invariance test_flip_move test_flip_transfer_physics test_flip_per_cell
test_flip_dam test_flip_hydrostatic test_flip_tilted_tank test_flip_slosh test_flip_shallow test_flip_displace
test_flip_viscosity test_flip_viscosity_scenes test_flip_tension test_flip_tension_drop test_flip_mix test_flip_pore
test_flip_modes test_flip_relax test_flip_inf585 test_flip_separate test_linsys_iterations
test_surface_water test_surface_flatten test_surface_anisotropic test_surface_color test_surface_blobby test_march
test_grid_sweep
""".split()
MEMORY = [["water-ball", 3, 100000], ["water-ball", 3, 1000000], ["water-ball", 12, 0], ["water-ball", 24, 0],
          ["water-ball", 32, 0], ["sand-ball", 3, 100000], ["sand-ball", 3, 1000000], ["sand-ball", 24, 0],
          ["sand-column", 24, 60000], ["sand-column", 24, 119000], ["sand-column", 24, 0]]
SURFACE_SECONDS = {"read_seconds": "read, ms", "field_seconds": "field", "mesh_seconds": "mesh",
                   "write_seconds": "write", "seconds": "all"}
SPEED = ["water-ball", "water-ball-4", "sand-ball", "sand-column"]


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def processor():
    try:
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def origin(command):
    """Where figures come from: what was run, of which commit, when, on what."""
    commit = output("git", "rev-parse", "--short", "HEAD").strip()
    is_changed = output("git", "status", "--porcelain", "--untracked-files=no", "src", "include", "cli", "tests") != ""
    return {"command": command, "commit": commit + ("+" if is_changed else ""),
            "date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count()}


def origin_line(source):
    where = f", on {source['processor']} ({source['cores']} cores)" if source.get("processor") else ""
    note = f" {source['note']}" if source.get("note") else ""
    return f"`{source['command']}`, commit {source['commit']}, {source['date']}{where}.{note}"


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


# What cmocka prints itself, and times, which belong to `speed`.
FRAME = re.compile(r"^\[[ =\w-]{10}\]")
TIME = re.compile(r",?\s+[\d.]+ ms, \d+ threads$")


def printed(text):
    """[(name of the test, lines it printed)] of one test program."""
    found, lines = [], []
    for line in text.splitlines():
        match = re.match(r"\[ +(OK|FAILED|SKIPPED) +\] (\w+)", line)
        if match and lines:
            found.append([match.group(2), lines])
        if FRAME.match(line):
            lines = []
        elif line.strip():
            lines.append(TIME.sub("", line.strip()))
    return found


def measure_tests(name, arguments):
    path = OUT / f"{name}.json"
    data = json.loads(path.read_text("utf-8")) if path.exists() else {"programs": {}}
    environment = dict(os.environ, **({"WADI_LONG": "1"} if arguments.long else {}))
    source = origin("")
    for program in arguments.names or TESTS:
        print(f"measure: {program}", file=sys.stderr, flush=True)
        run = subprocess.run([str(ROOT / "build" / "tests" / program)], cwd=ROOT, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"{program} failed: no figures taken")
        prefix = "WADI_LONG=1 " if arguments.long else ""
        data["programs"][program] = {"origin": dict(source, command=f"{prefix}build/tests/{program}"),
                                     "tests": printed(run.stdout)}
    return data


def page_tests(name, data):
    size = "the larger cases (`WADI_LONG=1`)" if name.endswith("long") else "the sizes of `make test`"
    lines = ["# Figures that tests print", "",
             f"At {size}: the first figure of each program of `build/tests`; run by itself it prints all, and `{name}.json` holds "
             "them. A test fails when its figure leaves the bounds that it states.", ""]
    rows = [[f"`{program}`", entry["tests"][0][1][0].replace("|", "\\|")]
            for program, entry in sorted(data["programs"].items()) if entry["tests"]]
    return lines + table(["program", "figure"], rows)


def bench(*arguments):
    command = ["bench", *arguments]
    print("measure: wadi " + " ".join(command), file=sys.stderr, flush=True)
    return [json.loads(line) for line in output(str(ROOT / "build" / "wadi"), *command, "--json").splitlines()]


def measure_memory(_name, _arguments):
    source, rows = origin("tools/measure.py memory"), []
    for case, frames, scale in MEMORY:
        options = ["flip", "--case", case, "--frames", str(frames)] + (["--scale", str(scale)] if scale else [])
        rows += [{key: row[key] for key in ("case", "particles", "frames", "steps", "cells", "grid_cells",
                                            "pressure_solves", "pressure_iterations", "friction_solves",
                                            "friction_iterations", "particle_bytes", "scratch_bytes", "live_bytes")}
                 for row in bench(*options)]
    return {"origin": source, "rows": rows}


def page_memory(_name, data):
    rows = []
    for row in data["rows"]:
        allowed = 120 * row["particles"] + 300 * row["cells"]
        solves, frictions = max(1, row["pressure_solves"]), row["friction_solves"]
        rows.append([row["case"], f"{row['particles']:,}", row["frames"], row["steps"], f"{row['cells']:,}",
                     f"{row['grid_cells'] / row['cells']:.1f}", f"{row['pressure_iterations'] / solves:.1f}",
                     f"{row['friction_iterations'] / frictions:.1f}" if frictions else "–", row["particle_bytes"],
                     f"{row['scratch_bytes'] / row['cells']:.0f}", f"{row['live_bytes'] / 1e6:.1f}", f"{allowed / 1e6:.1f}"])
    return ["# Memory and iterations", "", origin_line(data["origin"]), "",
            "A cell is one with particles at the end of the run; cells in rows are all that the grid stores. Scratch is a "
            "step's. The last column is what was asked for: 120 bytes a particle and 300 a cell.", "",
            *table(["case", "particles", "frames", "steps", "cells", "cells in rows a cell", "pressure iterations a solve",
                    "friction iterations a solve", "bytes a particle", "scratch bytes a cell", "all that is allocated, MB",
                    "asked, MB"], rows)]


def measure_speed(_name, arguments):
    cases = {}
    for _ in range(arguments.repeat):
        for case in SPEED:
            for row in bench("flip", "--case", case):
                entry = cases.setdefault(case, {"particles": row["particles"], "steps": row["steps"], "runs": []})
                entry["runs"].append(row["seconds_per_frame"])
                for key in ("to_grid_per_second", "to_particles_per_second", "triad_bytes_per_second"):
                    entry.setdefault(key, []).append(row[key])
                for stage, rate in row["bytes_per_second"].items():
                    entry.setdefault("bytes_per_second", {}).setdefault(stage, []).append(rate)
    surface = [{key: row[key] for key in ("case", "particles", *SURFACE_SECONDS)} for row in bench("surface")]
    return {"flip": {"origin": origin("wadi bench flip"), "cases": cases},
            "surface": {"origin": origin("wadi bench surface"), "cases": surface}}


def most(values, form, scale):
    return format(scale * max(values), form) if values else "–"


def page_speed(_name, data):
    flip, surface = data["flip"], data["surface"]
    rows = []
    for case, entry in flip["cases"].items():
        streams = entry.get("bytes_per_second", {}).items()
        rows.append([case, f"{entry['particles']:,}", entry["steps"] or "–", f"{min(entry['runs']):.3f}",
                     f"{max(entry['runs']):.3f}", most(entry.get("to_grid_per_second"), ".0f", 1e-6),
                     most(entry.get("to_particles_per_second"), ".0f", 1e-6),
                     most(entry.get("triad_bytes_per_second"), ".0f", 1e-9),
                     ", ".join(f"{stage} {most(rates, '.1f', 1e-9)}" for stage, rates in streams) or "–"])
    lines = ["# Speed", "", "## Simulation", "", origin_line(flip["origin"]), "",
             *table(["case", "particles", "steps", "s a frame, least", "most", "million particles a second to the grid", "back",
                     "triad, GB/s", "stages, GB/s"], rows), "",
             "## Surfaces", "", origin_line(surface["origin"]), ""]
    rows = [[entry["case"], f"{entry['particles']:,}",
             *("–" if entry.get(key) is None else f"{1000 * entry[key]:.0f}" for key in SURFACE_SECONDS)]
            for entry in surface["cases"]]
    return lines + table(["case", "particles", *SURFACE_SECONDS.values()], rows)


PAGES = {"tests": (measure_tests, page_tests), "tests-long": (measure_tests, page_tests),
         "memory": (measure_memory, page_memory), "speed": (measure_speed, page_speed)}


def page_text(name, data):
    lines = PAGES[name][1](name, data)
    return "\n".join([lines[0], "", "Written by `tools/measure.py`; do not edit by hand.", *lines[1:]]) + "\n"


def render(is_check):
    """Pages from their .json files; with is_check only compares. Returns how many differ."""
    count = 0
    for name in PAGES:
        path = OUT / f"{name}.json"
        if path.exists():
            page = path.with_suffix(".md")
            text = page_text(name, json.loads(path.read_text("utf-8")))
            if not page.exists() or page.read_text("utf-8") != text:
                count += 1
                print(f"{page.relative_to(ROOT)}: not what tools/measure.py makes of {path.name}")
                if not is_check:
                    page.write_text(text, "utf-8")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tests", "memory", "speed", "pages"])
    parser.add_argument("names", nargs="*", help="tests: programs to run instead of all")
    parser.add_argument("--long", action="store_true", help="tests: with WADI_LONG=1")
    parser.add_argument("--repeat", type=int, default=5, help="speed: runs of each case")
    parser.add_argument("--check", action="store_true", help="pages: write nothing, exit 1 if a page differs")
    arguments = parser.parse_args()
    if arguments.what == "pages":
        return 1 if render(arguments.check) > 0 and arguments.check else 0
    name = "tests-long" if arguments.what == "tests" and arguments.long else arguments.what
    data = PAGES[name][0](name, arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    render(False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
