#!/usr/bin/env python3
"""Checks what the compiler does not: the order of the layers, sizes, citations, links and names.

Prints one `file:line: rule` for each breach and exits 1 if there was one.
`check_layers.py --self-test` builds a tree with every breach and shows that each is found.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# A layer includes itself and those before it; layers of the same row do not include each other. Between the two lists stands the
# row of the solvers: those that the solver table has.
BELOW_SOLVERS = [["core"], ["math"], ["grid"], ["geom"], ["particles"], ["world"], ["matter"], ["sleep"], ["linsys"]]
ABOVE_SOLVERS = [["sim"], ["io"], ["surface"], ["secondary"], ["render"], ["export"], ["api"]]
SOLVER_TABLE = "src/sim/solvers.h"
SOLVER = re.compile(r"^ +(?:PLAIN|SETTINGS|PLANNED)\((\w+),", re.MULTILINE)
# The rooms of a large layer, by the same rule; "" is the layer's own folder.
ROOMS = {
    "core": [["os"], ["machine"], [""]],
    "geom": [["mesh"], ["read"], [""], ["faces"]],
    "sph": [["walls"], ["pairs"], ["pressure", "friction", "porous", "viscosity", "tension", "adapt", "published"], ["sleep"], [""],
            ["bonds", "loads", "papers", "viscous"]],
    "flip": [["transfer"], ["solids", "viscosity", "pressure", "friction"], ["published", "sleep"], ["move"], [""],
             ["volume", "bonds", "papers", "loads"]],
    "dem": [["contact", "columns"], ["bodies"], ["pack"], ["list"], ["walls"], ["rest"], [""], ["published"]],
    "io": [["files", "yaml"], ["frame", "scene"], ["run"]],
    "surface": [["cloud"], ["field"], ["mesh"], ["write"], [""]],
    "render": [["image"], ["bed"], ["points"], ["trace"], [""]],
    "export": [[""], ["usd"]],
    "api": [[""], ["surface", "render", "secondary", "show", "farm"], ["export", "wedge"]],
}
MAX_FILES = 25  # in a folder of src/; larger ones are split into rooms

STANDARD_HEADERS = {
    "assert.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h",
    "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h",
}
MAX_LINES = 500
MAX_COLUMNS = 110  # of C files, comments included: clang-format does not break long comments
MAX_FUNCTION = 60
CODE = {".c", ".h", ".py", ".sh"}
TEXT = CODE | {".md", ".yaml", ".yml", ".json", ".txt", ".cmake", ".in", ".supp", ".fish", ".bash", ".1"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
MACHINE_PATH = re.compile(r"(?<![\w.~)}\]-])/(?:work|home|root|Users)(?:/|\b(?![\w-]))")
# A citation is a bracket that begins with a key of docs/references.md or with `theory`: [ZB05 eq. 7; theory 6.2, 6.3].
CITES = ("src", "include", "cli", "examples", "tests", "tools", "docs")
KEY = r"[A-Z][A-Za-z]{0,6}\d{2}"
CITATION = re.compile(rf"\[((?:{KEY}|theory)(?=[\],; ])[^\[\]]*)(?:\]|$)")
# A line of a comment that was broken inside a citation ends it here: " * theory 10.4] ..."
CITATION_REST = re.compile(r"^\s*\*?\s*(theory \d[^\[\]]*)\]")
NOT_IN_TREE = re.compile(r"(?i:\b(?:friction|speed|sph|dem) notes\b)|\bmodels \d|\bmodels [A-Z]\d|\banchors \d|"
                         r"\[[^\[\]]*\b(?:et al\.|[A-Z][a-z]+) (?:19|20)\d\d[^\[\]]*\](?!\()")
THEORY_TITLE = re.compile(r"^##+ (\d+(?:\.\d+)?) ")
TITLE = re.compile(r"^#+ (.*)")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
# What a document names: `wadi_name` or `file.c`. Patterns (`flip_*.c`, `test_NAME.c`) are not names.
PAGE = re.compile(r"(?<![\w/])docs/[\w/-]+\.md")
NAMED = re.compile(r"(?<![\w*.-])(wadi_[a-z0-9_]*[a-z0-9]|[a-z0-9_]+\.[ch]|[a-z0-9_]+\.(?:py|sh))(?![\w*])")


def tree_files(root):
    """Files git knows or would add; without git, all but build outputs."""
    if (root / ".git").exists():
        listing = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, check=True,
                                 capture_output=True).stdout.decode()
        names = sorted(set(filter(None, listing.split("\0"))))
        return [Path(name) for name in names if (root / name).is_file()]
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", ".git") and not f.endswith(".run")]
        found += [(Path(folder) / name).relative_to(root) for name in files]
    return sorted(found)


def room_rule(layer, room, other):
    """The rule that a file of `room` breaks by including a header of the room `other` of the same layer, or None."""
    ranks = {name: rank for rank, names in enumerate(ROOMS.get(layer, [[""]])) for name in names}
    for name in (room, other):
        if name not in ranks:
            return f"src/{layer}/{name} is no room: tools/check_layers.py lists them"
    if room != other and ranks[other] >= ranks[room]:
        return f"{layer}/{room} stands below {layer}/{other} or beside it"
    return None


class Layers:
    """The layers of a tree: `rank` by name, and their order in words."""

    def __init__(self, root):
        solvers = SOLVER.findall((root / SOLVER_TABLE).read_text("utf-8"))
        rows = [*BELOW_SOLVERS, solvers, *ABOVE_SOLVERS]
        self.rank = {layer: rank for rank, row in enumerate(rows) for layer in row}
        self.order = " < ".join("|".join(row) for row in rows)


def include_rule(path, target, is_quoted, layers):
    """The rule that `path` breaks by including `target`, or None."""
    top = path.parts[0]
    first = target.split("/")[0]
    if top == "src" and len(path.parts) > 2:
        layer = path.parts[1]
        if layer not in layers.rank:
            return f"src/{layer} is no layer: {layers.order}"
        if not is_quoted or first == "wadi":
            return None
        if "/" not in target:
            return "includes in src name the layer: \"layer/file.h\""
        if first not in layers.rank:
            return f"\"{first}\" is no layer: {layers.order}"
        if first != layer and layers.rank[first] == layers.rank[layer]:
            return f"{layer} and {first} stand side by side and never include each other"
        if layers.rank[first] > layers.rank[layer]:
            return f"{layer} stands below {first}: {layers.order}"
        if first == layer:
            return room_rule(layer, "/".join(path.parts[2:-1]), "/".join(target.split("/")[1:-1]))
    elif top == "include":
        if first != "wadi" and target not in STANDARD_HEADERS:
            return "public headers include wadi/ and the C standard library only"
    elif top in ("cli", "examples", "view"):
        if first in layers.rank and "/" in target:
            return f"{top} uses the public headers (wadi/) only"
        if is_quoted and first != "wadi" and ("/" in target or ".." in target):
            return f"{top} includes wadi/ and its own folder only"
    return None


def check_citations(line, keys, sections):
    """The rules that the citations of a line break."""
    if NOT_IN_TREE.search(line):
        yield "cites what a reader does not have: name a section of docs/theory.md or a key of docs/references.md"
    for text in CITATION.findall(line) + CITATION_REST.findall(line):
        for key in re.findall(rf"\b{KEY}\b", text):
            if key not in keys:
                yield f"[{key}] is not in docs/references.md"
        for part in text.split(";"):
            words = re.match(r"\s*theory (.*)", part)
            for number in re.findall(r"\d+(?:\.\d+)?", words.group(1)) if words else []:
                if number not in sections:
                    yield f"[theory {number}] is no section of docs/theory.md"


def slug(title):
    """The anchor that GitHub makes of a title."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def anchors(page):
    return {slug(match.group(1)) for match in map(TITLE.match, page.read_text("utf-8").splitlines()) if match}


def check_links(root, path, line):
    """The rules that the links of a line of a document break."""
    for target, anchor in LINK.findall(line):
        if "://" in target:
            continue
        page = root / path.parent / target if target else root / path
        if not page.exists():
            yield f"link to {target}, which does not exist"
        elif anchor and page.suffix == ".md" and anchor not in anchors(page):
            yield f"link to #{anchor}, which {page.name} does not have"


def check_names(line, names):
    """Functions and files that a document names in backticks and that are not in the tree."""
    for code in re.findall(r"`([^`]+)`", line):
        for name in NAMED.findall(code):
            if name not in names:
                yield f"names {name}, which is not in the tree"


def check_code(path, lines, layers):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            rule = include_rule(path, match.group(2), match.group(1) == '"', layers)
            if rule:
                yield number, rule
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; a line has at most {MAX_COLUMNS}"
    if path.parts[0] == "src":
        yield from check_functions(lines)
    if path.parts[0] in ("src", "cli", "include") and len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines; a file has at most {MAX_LINES}: which second thing moved in?"


def check_functions(lines):
    """Functions that are too long: from a brace in the first column to the next."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            if number - begin - 1 > MAX_FUNCTION:
                yield begin, f"{number - begin - 1} lines; a function has at most {MAX_FUNCTION}"
            begin = None


def names_of(root, files):
    """Names of files, and every word wadi_... of the code."""
    names = {path.name for path in files}
    for path in files:
        if path.suffix in (".c", ".h", ".cc", ".cmake", ".txt", ".py"):
            names |= set(re.findall(r"\bwadi_\w+", (root / path).read_text("utf-8", errors="replace")))
    return names


def check_tree(root):
    """All breaches as (path, line, rule)."""
    breaches = []
    files = tree_files(root)
    seen = {}
    layers = Layers(root)
    folders = {}
    references = root / "docs/references.md"
    keys = set(re.findall(r"\*\*(\w+)\*\*", references.read_text("utf-8"))) if references.exists() else set()
    theory = root / "docs/theory.md"
    titles = [THEORY_TITLE.match(line) for line in theory.read_text("utf-8").splitlines()] if theory.exists() else []
    sections = [match.group(1) for match in titles if match]
    breaches += [(Path("docs/theory.md"), 1, f"has section {number} twice")
                 for number in sorted(set(sections)) if sections.count(number) > 1]
    names = names_of(root, files)
    for path in files:
        if path.suffix not in TEXT and path.name not in ("Makefile", "run"):
            continue
        try:
            lines = (root / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            if path.suffix in CODE:
                breaches.append((path, 1, "is not UTF-8"))
            continue
        if path.parts[0] == "src":
            folders[path.parent] = folders.get(path.parent, 0) + 1
            if folders[path.parent] == MAX_FILES + 1:
                breaches.append((path, 1, f"{path.parent} has more than {MAX_FILES} files: give them rooms"))
        if path.suffix in (".c", ".h"):
            breaches += [(path, number, rule) for number, rule in check_code(path, lines, layers)]
        # Public headers are included as wadi/NAME.h: their names need to be unique among themselves only. Python names the file of a
        # package.
        if path.suffix in CODE and path.parts[0] != "include" and path.name != "__init__.py":
            if path.name in seen:
                breaches.append((path, 1, f"file names are unique in the tree; also {seen[path.name]}"))
            seen.setdefault(path.name, path)
        # Input files of tests may be wrong on purpose.
        if path.parts[0] == "tests" and path.suffix not in CODE:
            continue
        for number, line in enumerate(lines, 1):
            if "\t" in line and path.name != "Makefile":
                breaches.append((path, number, "tab; indent with spaces"))
            if MACHINE_PATH.search(line):
                breaches.append((path, number, "absolute path of some machine"))
            rules = []
            if path.parts[0] in CITES and path.name != Path(__file__).name:
                rules += check_citations(line, keys, sections)
                rules += [f"names {page}, which does not exist" for page in PAGE.findall(line)
                          if not (root / page).exists()]
            if path.suffix == ".md":
                rules += check_links(root, path, line)
                # The changelog and CONTRIBUTING.md also name files that no longer exist or are still to be written.
                rules += check_names(line, names) if path.parts[0] in ("docs", "README.md") else []
            breaches += [(path, number, rule) for rule in rules]
    return breaches


def self_test():
    """Each file breaks the rule named beside it, or none."""
    tree = {
        SOLVER_TABLE: ("    PLAIN(points, x)\n    SETTINGS(flip, x)\n    PLANNED(sph, x)\n    PLANNED(dem, x)\n", None),
        "src/core/good.c": ('#include "core/good.h"\n#include "wadi/base.h"\n#include <hdf5.h>\n', None),
        "src/flip/good_top.c": ('#include "flip/good_top.h"\n#include "flip/sleep/rest.h"\n', None),
        "src/flip/move/good_room.c": ('#include "flip/sleep/rest.h"\n#include "flip/move/path.h"\n', None),
        "src/flip/sleep/up_room.c": ('#include "flip/flip.h"\n', "flip/sleep stands below"),
        "src/flip/solids/beside.c": ('#include "flip/friction/slots.h"\n', "or beside it"),
        "src/geom/attic/lost.c": ('#include "geom/mesh/mesh.h"\n', "is no room"),
        "src/io/run/good_io.c": ('#include "sim/loop.h"\n#include "math/vec3.h"\n', None),
        "src/export/good_export.c": ('#include "render/picture.h"\n#include "surface/mesh.h"\n', None),
        "include/wadi/good.h": ('#include "wadi/base.h"\n#include <stdint.h>\n', None),
        "cli/good_cli.c": ('#include "good_cli.h"\n#include "wadi/wadi.h"\n#include <unistd.h>\n', None),
        "tests/unit/test_good.c": ('#include "flip/flip.h"\n#include "check.h"\n', None),
        "docs/references.md": ("- **ZB05** Sand.\n", None),
        "src/points/cites.c": ("/* [ZB05 eq. 7] */\n", None),
        "src/render/cites_unknown.c": ("/* [ZB50 sec. 3] */\n", "[ZB50] is not in docs/references.md"),
        "src/render/cites_second.c": ("/* [ZB05 sec. 3; BB07] */\n", "[BB07] is not in docs/references.md"),
        "docs/theory.md": ("# Theory\n\n## 1 Grid\n\n### 1.1 Signs\n\n### 1.2 Rows\n", None),
        "src/points/theory.c": ("/* [theory 1.1, 1.2]; [ZB05 eq. 7; theory 1.1] [theory 1\n * section] */\n", None),
        "src/points/theory_rest.c": ("/* [ZB05 eq. 7;\n * theory 1.3] */\n", "[theory 1.3] is no section"),
        "tests/unit/test_theory.c": ("/* [theory 1.1, 1.3] */\n", "[theory 1.3] is no section"),
        "cli/theory_cli.c": ("/* [theory 2] */\n", "[theory 2] is no section"),
        "src/math/note.c": ("/* [friction notes 3.7] */\n", "a reader does not have"),
        "src/math/note_plain.c": ("/* Source: speed notes 5. */\n", "a reader does not have"),
        "src/math/note_models.c": ("/* [ZB05 sec. 4; models 2.2] */\n", "a reader does not have"),
        "src/math/note_test.c": ("/* Source: models T12. */\n", "a reader does not have"),
        "tools/note_anchors.py": ("# anchors 1.2\n", "a reader does not have"),
        "src/math/by_author.c": ("/* [McAdams et al. 2010] */\n", "a reader does not have"),
        "src/math/models.c": ("/* The models of cars; three models a scene; notes in the margin. */\n", None),
        "README.md": ("[tests](tests/unit/test_good.c) [web](https://example.org/home/x)\n"
                      "[part](docs/theory.md#11-signs), [here](#a-title-of-two)\n\n## A title, of `two`\n", None),
        "docs/anchor.md": ("[gone](theory.md#12-signs)\n", "which theory.md does not have"),
        "src/math/page.c": ("/* docs/theory.md */\n", None),
        "src/math/page_gone.c": ("/* docs/theories.md */\n", "names docs/theories.md"),
        "src/points/named.c": ("int wadi_points_named(void);\n", None),
        "docs/named.md": ("`wadi_points_named` in `points/named.c`, `wadi run`, `test_NAME.c`, `flip_*.c`, `wadi_*`\n", None),
        "docs/function_gone.md": ("`wadi_points_gone`\n", "names wadi_points_gone"),
        "docs/file_gone.md": ("`src/points/gone.c`\n", "names gone.c"),
        "src/geom/up.c": ('#include "math/vec3.h"\n#include "particles/store.h"\n', "geom stands below particles"),
        "src/grid/up_geom.c": ('#include "geom/shape.h"\n', "grid stands below geom"),
        "src/flip/side.c": ('#include "sph/sph.h"\n', "never include each other"),
        "src/sim/up_io.c": ('#include "io/files/files.h"\n', "sim stands below io"),
        "src/world/up_solver.c": ('#include "points/points.h"\n', "world stands below points"),
        "src/misc/nowhere.c": ("\n#include <math.h>\n", "is no layer"),
        "src/math/stray.c": ('#include "stray.h"\n', "name the layer"),
        "include/wadi/third.h": ("#include <hdf5.h>\n", "public headers include"),
        "include/wadi/inner.h": ('#include "core/alloc.h"\n', "public headers include"),
        "cli/deep.c": ('#include "core/alloc.h"\n', "cli uses the public headers"),
        "examples/dotted.c": ('#include "../src/core/alloc.h"\n', "examples includes wadi/"),
        "src/linsys/long_function.c": ("void f(void)\n{\n" + "    g();\n" * (MAX_FUNCTION + 1) + "}\n",
                                       "a function has at most"),
        "src/linsys/wide.c": ("/* " + "x" * MAX_COLUMNS + " */\n", "a line has at most"),
        "src/linsys/long.c": ("int x;\n" * (MAX_LINES + 1), "lines; a file has at most"),
        "src/dem/good.c": ("\n", "unique in the tree"),
        "tests/golden/tab_data.yaml": ("a:\t1\n", None),
        "src/sph/tab.c": ("int\tx;\n", "tab"),
        "docs/path.md": ("see " + "/" + "work/file.txt\n", "absolute path"),
        "tests/twin/path.c": ('open("' + "/" + 'home/me/x");\n', "absolute path"),
        "docs/link.md": ("[gone](nowhere.md)\n", "does not exist"),
    }
    tree |= {f"src/api/crowded_{i:02}.c": ("", None) for i in range(MAX_FILES)}
    tree["src/api/last_one.c"] = ("", "give them rooms")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, (text, _) in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = {}
        for path, _, rule in check_tree(root):
            found.setdefault(path.as_posix(), []).append(rule)
    failures = []
    for name, (_, expected) in tree.items():
        rules = found.pop(name, [])
        if expected is None and rules:
            failures.append(f"{name}: should be clean, but: {rules}")
        if expected is not None and (len(rules) != 1 or expected not in rules[0]):
            failures.append(f"{name}: expected one breach \"{expected}\", found {rules}")
    failures += [f"{name}: not in the tree, but: {rules}" for name, rules in found.items()]
    for failure in failures:
        print("self-test: " + failure)
    print(f"self-test: {len(tree)} files, {len(failures)} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    breaches = check_tree(arguments.root)
    for path, number, rule in breaches:
        print(f"{path}:{number}: {rule}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
