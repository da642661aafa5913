#!/usr/bin/env python3
"""Constants of src/sph that are neither derived nor published: each by 0.7 and by 1.3, and what the law tests of sph say to it.
`--table` writes the table of docs/sph.md from the sources, `--check` compares it.

A copy of the tree in which every constant reads its factor from the environment is built once; each variant is then a run of
the same programs. `--factors 0,100` shows which rules could be left out. A figure counts as moved where it changes by more
than a tenth and by more than three times what changes of 1e-4 in all constants do to it."""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Law tests of all, and those that alone can see what a file does.
ADAPT = ["sph_adaptive", "sph_resample", "sph_target", "sph_feature"]
WATER = ["sph_dam", "sph_hole", "sph_honey", "sph_pressure", "sph_tait", "sph_tanks", "sph_tension", "sph_viscosity"]
POROUS = ["sph_bed", "sph_odd_scenes", "sph_porous", "sph_porous_limits", "sph_sculpture", "sph_seepage", "sph_sleep", "sph_slope", "sph_stories",
          "sph_wet"]
SAND = ["cohesion_laws", "sph_friction", "sph_pairs", "sph_sand", "sph_slab", "sph_walls", "overfull"]
TESTS = SAND + POROUS + WATER + ADAPT
SEEN = [("adapt/|sph_adapt_step", ADAPT), ("porous/|sph_porous", POROUS), ("bonds/|friction/|sph_friction|sph_solve_sand", SAND + POROUS),
        ("tension/|sph_tension", ["sph_tension", "sph_odd_scenes"]), ("sph_solve_tait", ["sph_tait"]), ("", TESTS)]
# With --quick: without those that take more than some seconds.
LONG = ["cohesion_laws", "sph_adaptive", "sph_dam", "sph_odd_scenes", "sph_seepage", "sph_tanks", "overfull"]

# Constants that are no choice: units, rounding, theorems, lattice sums, and what papers print. Their comments derive them.
EXACT = {
    "PI": "number", "pi": "number", "DEGREE": "unit", "LARGE": "range of floats", "SMALL": "range of floats", "CELL_MAX": "range of int32_t",
    "CENTRAL": "2 (d + 2)", "LEAST_HYSTERESIS": "third root of 2", "EXPONENT": "published [LD09]", "SOUND_FACTOR": "published [LD09]",
    "SURE": "rounding of floats", "LEAST_DETERMINANT": "rounding of floats", "LEAST_VISCOSITY": "property of water",
    "EIGENVALUE_MIN": "lattice", "IMPACT": "1 / SOUND_FACTOR", "SHORT_GRADIENT": "geometry",
    "EVENT": "a split halves", "DIRECTIONS": "work", "START_PASSES": "2^6 volumes", **dict.fromkeys(
        ("ACROSS", "LEAST_SHARE", "LEAST_SQUARE", "LEAST_DISTANCE", "LEAST_DIAGONAL", "LEAST_FLOW", "WALL_DISTANCE", "PARTING"), "no division by 0, or rounding: a hundredth of them changes nothing"), "T10_STEP": "published [T10]",
}
# Rooms of the papers' methods: their constants are what the papers leave open.
PAPERS = re.compile("published/|papers/")
# Enumerators that are sizes of work, lanes, bits and flags: results do not depend on them, or they are no numbers.
WORK = re.compile(r".*BLOCK|LANES|GROUP|SLABS|STRIP|BINS|PER_OCTAVE|.*_BITS|BIAS|DIGITS|NUMBERS|.*_NUMBERS|ROWS|WIDTH|SIDE|BLOCKS|"
                  r"UNROLLED|BITS|.*_MAX|.*_PADDED|.*_BUFFER|WADI_SPH_(?!POWER).*|STANDING|IN_MOTION|ASKED_.*|MIN_PARTICLES|STEPS")
# Macros of the same kind.
SWEPT_MACROS = re.compile(r"^#define (\w+) +(\d[\d.e-]*f?)\b")
KERNEL = re.compile(r"WADI_SPH_(WATER_SUPPORT|SUPPORT|REACH)") # listed, and not changed: tables are made of them when they are compiled
EXACT_MACROS = re.compile(r"SKIN|.*LEAST_DIFFERENCE|.*SOUND_VISCOSITY|.*_PLACES|.*_SUPPORT|.*_REACH|.*LEAST_VOLUME|.*INVERSE_DENSITY|HAS_.*|.*DROP_LEAST")

DECLARATION = re.compile(r"^static const (float|double) (\w+(?:\[\d+\])? = [^;]*);", re.M)
ENUMERATION = re.compile(r"^enum \{ ([A-Z_]+ = [^{}]*) \};", re.M)
HOOK = r"""
#include <stdlib.h>
#include <string.h>
static inline double sweep_of(const char *name)
{
    const char *is = getenv("WADI_SWEEP"), *all = getenv("WADI_SWEEP_ALL");
    unsigned hash = all != NULL ? (unsigned)atoi(all) : 0;
    for (const char *c = name; *c; ++c) hash = hash * 31u + (unsigned char)*c;
    for (; is != NULL; is = strchr(is, ';'), is += is != NULL)
        if (strncmp(is, name, strlen(name)) == 0 && is[strlen(name)] == '=')
            return atof(is + strlen(name) + 1);
    return all != NULL ? 1.0 + 1e-4 * ((hash >> 7) % 2 ? 1 : -1) : 1.0;
}
"""


def declarators(text):
    """(name, size, value) of `A = 1, B[2] = { 1, 2 }`."""
    for found in re.finditer(r"(\w+)(?:\[(\d+)\])? = (\{[^}]*\}|[^,]+)", text):
        yield found[1], int(found[2] or 0), found[3].strip()


def comment_of(lines, at):
    """The comment behind a line, else the one that ends just above it."""
    behind = re.search(r"/\* (.*) \*/\s*$", lines[at])
    if behind:
        return behind[1]
    above, row = [], at - 1
    while row >= 0 and re.match(r"(static const|enum) .*;$", lines[row]): # declarations that share a comment
        row -= 1
    while row >= 0 and lines[row].strip() and (above or lines[row].rstrip().endswith("*/")):
        above.insert(0, lines[row].strip(" /*"))
        if lines[row].startswith("/*"):
            return " ".join(above).strip()
        row -= 1
    return ""


class Sources:
    """The constants of src/sph, and a copy of the tree in which they can be changed."""

    def __init__(self, root, is_read_only=False):
        self.root = root
        self.is_read_only = is_read_only
        self.rows = []

    def change(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines, short = text.split("\n"), os.path.relpath(path, os.path.join(self.root, "src", "sph"))
        hooks = []

        def row(name, value, position):
            reason = comment_of(lines, text.count("\n", 0, position))
            self.rows.append({"file": short, "constant": name, "value": value, "reason": reason})
            return f"{short}:{name}"

        def scaled(name, key, size, is_int):
            each = [f"{name}[{n}]" for n in range(size)] if size else [name]
            to = "0.5 + (double){0} * f" if is_int else "(double){0} * f"
            body = "".join(f" {e} = (__typeof__({e}))({to.format(e)});" for e in each)
            hooks.append(f'__attribute__((constructor, unused)) static void sweep_{name}(void) {{ const double f = sweep_of("{key}");{body} }}')

        def constants(found):
            for name, size, value in declarators(found[2]):
                if name not in EXACT:
                    scaled(name, row(name, value, found.start()), size, False)
            return f"static {found[1]} {found[2]};" if any(n not in EXACT for n, _, _ in declarators(found[2])) else found[0]

        def enums(found):
            kept, numbers = [], []
            for name, _, value in declarators(found[1]):
                if WORK.fullmatch(name) or name in EXACT or not value.isdigit():
                    kept.append(f"{name} = {value}")
                else:
                    scaled(name, row(name, value, found.start()), 0, True)
                    numbers.append(f"static int {name} = {value};")
            return (f"enum {{ {', '.join(kept)} }}; " if kept else "") + " ".join(numbers)

        changed = re.sub(ENUMERATION, enums, re.sub(DECLARATION, constants, text))
        out = []
        for line in changed.split("\n"):
            macro = SWEPT_MACROS.match(line)
            if macro and KERNEL.fullmatch(macro[1]):
                row(macro[1], macro[2], text.index(line))
            elif macro and not EXACT_MACROS.fullmatch(macro[1]):
                at = text.index(line)
                scaled(macro[1], row(macro[1], macro[2], at), 0, False)
                kind = "float" if macro[2].endswith("f") else "double"
                line = f"__attribute__((unused)) static {kind} {macro[1]} = {macro[2]};"
            out.append(line)
        if hooks and not self.is_read_only:
            with open(path, "w", encoding="utf-8") as file:
                # A guarded header ends with #endif; hooks of a source stand at its end.
                body = "\n".join(out).rstrip("\n")
                end = "\n#endif" if path.endswith(".h") else ""
                body = body[:-len(end)] if end else body
                file.write('#include "sph/sweep.h"\n' + body + "\n" + "\n".join(hooks) + end + "\n")

    def change_all(self):
        for folder, _, names in sorted(os.walk(os.path.join(self.root, "src", "sph"))):
            for name in sorted(names):
                self.change(os.path.join(folder, name))
        if self.is_read_only:
            return
        with open(os.path.join(self.root, "src", "sph", "sweep.h"), "w", encoding="utf-8") as file:
            file.write("#ifndef SWEEP_H\n#define SWEEP_H\n" + HOOK + "#endif\n")


TABLE = os.path.join(ROOT, "docs", "sph.md")
MARKS = ("<!-- constants: tools/validate/sph_constants.py --table -->\n", "<!-- end of constants -->\n")


def first_sentence(text):
    """Up to the first full stop that ends a sentence."""
    end = re.search(r"[.:;](?= [A-Z]|$)|(?<=\w)[;] ", text)
    return (text[:end.start()] if end else text).rstrip(".").replace("|", "∣")


def table_of(rows):
    """The rows as Markdown: a line a constant, those of a comment together."""
    groups = []
    for r in rows:
        if groups and groups[-1][0]["file"] == r["file"] and r["reason"] and groups[-1][0]["reason"] == r["reason"]:
            groups[-1].append(r)
        else:
            groups.append([r])
    lines = ["| constant | value | what it is | file |", "|---|---|---|---|"]
    for group in groups:
        cells = (", ".join(f"`{r['constant']}`" for r in group), ", ".join(r["value"].rstrip("f").replace("f,", ",").replace("f }", " }") for r in group),
                 first_sentence(group[0]["reason"]), f"`{group[0]['file']}`")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_table(is_check):
    """The table of docs/sph.md, from the sources."""
    sources = Sources(ROOT, is_read_only=True)
    sources.change_all()
    own = [r for r in sources.rows if not PAPERS.match(r["file"])]
    missing = [f"{r['file']}: {r['constant']}" for r in own if not r["reason"]]
    if missing:
        sys.exit("constants without a comment: " + "; ".join(missing))
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    made = before + MARKS[0] + f"{len(own)} numbers are chosen, and {len(sources.rows) - len(own)} that the papers leave open in their rooms.\n\n" + table_of(own) + MARKS[1] + after
    if is_check:
        if made != text:
            sys.exit("docs/sph.md: the table of constants is not that of src/sph; run tools/validate/sph_constants.py --table")
        return
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(made)


def copy_tree(to):
    """Only what changed is written, so that a second build is short."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in names.splitlines():
        if os.path.isfile(os.path.join(ROOT, name)) and os.path.getsize(os.path.join(ROOT, name)) < 1 << 24:
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(to, name))
    presets = os.path.join(to, "CMakePresets.json") # enumerators that become variables compare with other signs
    with open(presets, encoding="utf-8") as file:
        text = file.read()
    with open(presets, "w", encoding="utf-8") as file:
        file.write(text.replace('"WADI_WERROR": "ON"', '"WADI_WERROR": "OFF"'))


NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def figures(text):
    """What a test prints: (line, numbers), without names and times of cases."""
    return [(line, [float(n) for n in NUMBER.findall(line)]) for line in text.splitlines() if line and not line.startswith(("[", "    [", "##"))]


def run_test(folder, name, factor, limit):
    """(fails, figures). factor: of one constant, KEY=F; a number: of all, by a ten-thousandth; None: as it is."""
    with tempfile.TemporaryDirectory(prefix="wadi-sweep-") as scratch:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": scratch}
        if isinstance(factor, int):
            environment["WADI_SWEEP_ALL"] = str(factor)
        elif factor is not None:
            environment["WADI_SWEEP"] = factor
        command = [os.path.join(folder, "test_" + name)]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return ["takes more than two minutes"], []
        fails = sorted(set(re.findall(r"\[  FAILED  \] (\w+)$", done.stdout, re.M)) - {"tests"})
        return fails or (["ends"] if done.returncode else []), figures(done.stdout)


def difference(a, b):
    return abs(a - b) / max(abs(a), abs(b), 1e-9)


def largest_move(base, noise, now):
    """The figure that moved most beyond its noise: (part, line)."""
    best = (0.0, "")
    if [len(n) for _, n in base] != [len(n) for _, n in now]:
        return best
    for k, (line, numbers) in enumerate(base):
        for c, number in enumerate(numbers):
            band = max([difference(number, other[k][1][c]) for other in noise if len(other) == len(base) and len(other[k][1]) == len(numbers)],
                       default=0.0)
            moved = difference(number, now[k][1][c])
            if moved > 0.1 and moved > 3.0 * band and moved > best[0]:
                best = (moved, f"{line.strip()[:90]}: {number:g} → {now[k][1][c]:g}")
    return best


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the longest tests")
    parser.add_argument("--factors", default="0.7,1.3", help="of each constant")
    parser.add_argument("--only", default="", help="regular expression of FILE:CONSTANT")
    parser.add_argument("--tests", default="", help="regular expression of test names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    parser.add_argument("--out", help="folder for sph_constants.md; default docs/validation, with --quick build/validate")
    parser.add_argument("--tree", default=os.path.join(ROOT, "build", "sweep"), help="folder of the changed copy")
    parser.add_argument("--build", action="store_true", help="build the copy and stop")
    parser.add_argument("--table", action="store_true", help="write the table of constants of docs/sph.md and stop")
    parser.add_argument("--check", action="store_true", help="is the table that of the sources?")
    parser.add_argument("--built", action="store_true", help="the copy is there and built")
    return parser.parse_args()


def build(args):
    rows_path = os.path.join(args.tree, "constants.txt")
    if not args.built:
        copy_tree(args.tree)
        sources = Sources(args.tree)
        sources.change_all()
        with open(rows_path, "w", encoding="utf-8") as file:
            file.writelines("\t".join([r["file"], r["constant"], r["value"], r["reason"]]) + "\n" for r in sources.rows)
        targets = ["test_" + name for name in TESTS]
        subprocess.run([os.path.join(args.tree, "tools", "build.sh"), "release", *targets], check=True, stdout=sys.stderr)
    with open(rows_path, encoding="utf-8") as file:
        return [dict(zip(("file", "constant", "value", "reason"), line.rstrip("\n").split("\t"))) for line in file]


def verdict(base, noise, now, names):
    """Which tests fail, else the figure that moves most; None: neither."""
    fails = [f"{name}: {case}" for name in names if name in now for case in now[name][0] if case not in base[name][0]]
    moves = [largest_move(base[name][1], noise[name], now[name][1]) for name in names if name in now]
    best = max(moves, default=(0.0, ""))
    return ("fails", "; ".join(fails[:3]) + (f" and {len(fails) - 3} more" if len(fails) > 3 else "")) if fails else ("moves", best[1]) if best[0] > 0.0 else ("nothing", "")


def measure(args, rows):
    folder = os.path.join(args.tree, "build", "tests")
    names = [name for name in TESTS if re.search(args.tests, name) and (not args.quick or name not in LONG)]
    factors = [float(f) for f in args.factors.split(",")]
    rows = [r for r in rows if re.search(args.only, f"{r['file']}:{r['constant']}")]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        base = {name: pool.submit(run_test, folder, name, None, 3600) for name in names}
        noise = {(name, seed): pool.submit(run_test, folder, name, seed, 3600) for name in names for seed in (1, 2, 3)}
        jobs = {(n, f, name): pool.submit(run_test, folder, name, f"{r['file']}:{r['constant']}={f}", 120)
                for n, r in enumerate(rows) for f in factors for name in names
                if name in next(seen for files, seen in SEEN if re.match(files, r["file"]))}
        base = {name: job.result() for name, job in base.items()}
        noise = {name: [noise[name, seed].result()[1] for seed in (1, 2, 3)] for name in names}
        for n, r in enumerate(rows):
            r["effects"] = [verdict(base, noise, {name: jobs[n, f, name].result() for name in names if (n, f, name) in jobs}, names)
                            for f in factors]
            kinds = [kind for kind, _ in r["effects"]]
            r["changes"] = "a test fails" if "fails" in kinds else "a figure" if "moves" in kinds else "nothing"
            print(r["file"], r["constant"], r["changes"], *(text for _, text in r["effects"]), sep=" | ", file=sys.stderr, flush=True)
    return rows, factors


def write(args, rows, factors):
    out = args.out or os.path.join(ROOT, *(("build", "validate") if args.quick else ("docs", "validation")))
    os.makedirs(out, exist_ok=True)
    head = ["file", "constant", "value", "what it is", *(f"times {f:g}" for f in factors)]
    lines = ["Written by `tools/validate/sph_constants.py" + (" --quick`." if args.quick else "`."), "", "| " + " | ".join(head) + " |",
             "|" + "---|" * len(head)]
    for r in rows:
        cells = [r["file"], f"`{r['constant']}`", r["value"], r["reason"], *(text or "–" for _, text in r["effects"])]
        lines.append("| " + " | ".join(cell.replace("|", "∣") for cell in cells) + " |")
    with open(os.path.join(out, "sph_constants.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{len(rows)} constants; {sum(r['changes'] == 'nothing' for r in rows)} change nothing: {out}/sph_constants.md")


def main():
    args = arguments()
    if args.table or args.check:
        write_table(args.check)
        return
    rows = build(args)
    if not args.build:
        write(args, *measure(args, rows))


if __name__ == "__main__":
    main()
