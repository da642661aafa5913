"""Functions shared by the validation tools: run scenes with the wadi command, read their frames, measure heaps, write results.

Each tool writes NAME.json (all numbers), NAME.md (a table) and NAME.svg (a plot) into --out. With --quick the grids are
coarse and the runs short: enough to see that the tool works, not to judge the solver."""
import argparse
import datetime
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    sys.exit(f"{missing}: the validation tools need numpy and h5py (Debian: apt install python3-numpy python3-h5py)")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
G = 9.81


def version():
    """The commit of the tree and the day, for the head of a page."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    return (f"commit {found}, " if found else "") + datetime.date.today().isoformat()


class Tool:
    """The command line of a tool, its scratch folder and its results."""

    def __init__(self, name, description, add_arguments=None, solvers=("flip",)):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--quick", action="store_true", help="coarse and short: a minute or two")
        parser.add_argument("--wadi", default=os.path.join(ROOT, "build", "wadi"), help="the command to test")
        parser.add_argument("--threads", type=int, default=0, help="threads of each run; 0: all cores")
        parser.add_argument("--out", help="folder for the results; default docs/validation, with --quick build/validate")
        parser.add_argument("--keep", help="folder to keep the runs in; default: a temporary one that is removed")
        parser.add_argument("--solver", default="flip", choices=solvers,
                            help="solver of every scene; rows of the other one stay as they are in NAME.json")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                            help="override a value of every scene, as in wadi run")
        if add_arguments is not None:
            add_arguments(parser)
        self.name = name
        self.version = version()
        self.args = parser.parse_args()
        self.quick = self.args.quick
        self.solver = self.args.solver
        default = os.path.join("build", "validate") if self.quick else os.path.join("docs", "validation")
        self.out = self.args.out or os.path.join(ROOT, default)
        os.makedirs(self.out, exist_ok=True)
        self.scratch = tempfile.TemporaryDirectory(prefix="wadi-validate-")
        self.folder = self.args.keep or self.scratch.name
        os.makedirs(self.folder, exist_ok=True)

    def run(self, name, scene, frames=0, resume=False):
        """Simulate a scene given as a dictionary, up to a frame if one is given; returns its Run. JSON is YAML."""
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"wadi": 1, "name": name, "solver": self.solver, **scene}, file, indent=1)
        run = os.path.join(self.folder, name + ".run")
        command = [self.args.wadi, "run", path, "-o", run, "--quiet", "--threads", str(self.args.threads),
                   "--resume" if resume else "--overwrite"]
        command += ["--frames", str(frames)] if frames else []
        for setting in self.args.set:
            command += ["--set", setting]
        print(f"{self.name}: {name}", file=sys.stderr, flush=True)
        subprocess.run(command, check=True)
        return Run(run, name)

    def forget(self, run):
        """Remove a run that was measured, unless runs are kept."""
        if not self.args.keep:
            shutil.rmtree(run.folder)

    def bench(self, *arguments):
        command = [self.args.wadi, "bench", "flip", "--json", "--threads", str(self.args.threads), *arguments]
        print(f"{self.name}: {shlex.join(command[1:])}", file=sys.stderr, flush=True)
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def beside_others(self, rows):
        """The rows, with those that the other solvers left in NAME.json: by solver, flip first."""
        path = os.path.join(self.out, self.name + ".json")
        kept = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept = [{"solver": "flip", **row} for row in json.load(file)["rows"]]
        rows = [{"solver": self.solver, **row} for row in rows]
        return sorted([row for row in kept if row["solver"] != self.solver] + rows, key=lambda row: row["solver"])

    def write(self, rows, columns, plot=None, note=""):
        """Rows are dictionaries; columns are (key, heading, format) of the table."""
        command = f"tools/validate/{self.name}.py" + (" --quick" if self.quick else "")
        command += f" --solver {self.solver}" if self.solver != "flip" else ""
        command += f" --largest {self.args.largest}" if getattr(self.args, "largest", 0) else ""
        command += "".join(f" --set {shlex.quote(setting)}" for setting in self.args.set)
        others = sorted({row["solver"] for row in rows if row.get("solver", self.solver) != self.solver})
        lines = [f"Written by `{command}`, {self.version}" + "".join(f"; the rows of {other} before" for other in others) + ".", ""]
        if note:
            lines += [note, ""]
        lines.append("| " + " | ".join(heading for _, heading, _ in columns) + " |")
        lines.append("|" + "---|" * len(columns))
        for row in rows:
            cells = ["–" if row.get(key) is None else format(row[key], form) for key, _, form in columns]
            lines.append("| " + " | ".join(cells) + " |")
        text = "\n".join(lines) + "\n"
        self.write_file(".md", text)
        self.write_file(".json", json.dumps({"command": command, "version": self.version, "rows": rows}, indent=1) + "\n")
        if plot is not None:
            self.write_file(".svg", plot.text())
        print(text)
        print(f"in {os.path.relpath(self.out)}: {self.name}.md, .json" + (", .svg" if plot is not None else ""))

    def write_file(self, suffix, text):
        with open(os.path.join(self.out, self.name + suffix), "w", encoding="utf-8") as file:
            file.write(text)


class Run:
    """A finished run folder."""

    def __init__(self, folder, name):
        self.folder = folder
        self.name = name
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.frames = self.summary["frames"]
        self.fps = self.summary["fps"]

    def path(self, frame):
        return os.path.join(self.folder, "particles", f"{self.name}.{frame:04d}.h5")

    def read(self, frame, *names):
        """Datasets of a frame: position, velocity, id, …"""
        with h5py.File(self.path(frame), "r") as file:
            found = [file["particles"][name][:] for name in names]
        return found if len(found) > 1 else found[0]

    def has(self, name):
        with h5py.File(self.path(1), "r") as file:
            return name in file["particles"]


def thickness(positions, low, high, cell, spacing):
    """Volume of sand above each column of cells, as a height: (nx, ny). Counting particles gives a smoother profile than the highest particle."""
    shape = [max(1, int(round((high[a] - low[a]) / cell))) for a in range(2)]
    edges = [np.linspace(low[a], high[a], shape[a] + 1) for a in range(2)]
    count, _, _ = np.histogram2d(positions[:, 0], positions[:, 1], bins=edges)
    area = np.diff(edges[0])[0] * np.diff(edges[1])[0]
    return count * spacing ** 3 / area


def front(profile, width, threshold):
    """Where a profile, from its beginning on, first falls below a thickness; between cells by interpolation."""
    for i in range(len(profile) - 1):
        if profile[i] >= threshold > profile[i + 1]:
            part = (profile[i] - threshold) / (profile[i] - profile[i + 1])
            return (i + 0.5 + part) * width
    return len(profile) * width


def mean_speed(run, frame):
    velocity = run.read(frame, "velocity")
    return float(np.sqrt((velocity.astype(float) ** 2).sum(axis=1)).mean())


def drift(run, first, last):
    """Mean distance of particles between two frames a second, m/s."""
    a, ids_a = run.read(first, "position", "id")
    b, ids_b = run.read(last, "position", "id")
    a, b = a[np.argsort(ids_a)], b[np.argsort(ids_b)]
    assert len(a) == len(b), "particles came or went"
    return float(np.sqrt(((a - b) ** 2).sum(axis=1)).mean() * run.fps / (last - first))


def slope(distance, height):
    """Angle in degrees of the straight line through points of a flank, positive when it falls; None: fewer than 3."""
    if len(distance) < 3:
        return None
    return float(-np.degrees(np.arctan(np.polyfit(distance, height, 1)[0])))
