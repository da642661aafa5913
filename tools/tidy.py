#!/usr/bin/env python3
"""clang-tidy over src, cli and examples: tools/tidy.py BUILD_FOLDER [--fast].

--fast leaves out the path-sensitive analyzer, which takes nearly all of the time.

A file is skipped when neither it, nor a header of ours it includes, nor its flags, nor .clang-tidy have changed since it
was last found clean: build/tidy has a file for the hash of each clean file.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CHECKED = ("src", "cli", "view", "examples")
HINTS = ROOT / "tools" / "tidy_hints.h"


def extra_arguments(path):
    """Includes tools/tidy_hints.h in files of the library, except in those that define the functions it wraps."""
    is_hinted = path.is_relative_to(ROOT / "src") and path.name not in ("status.c", "check.c")
    return [f"--extra-arg=-include{HINTS}"] if is_hinted else []


def closure(path, seen):
    """`path` and every header of ours it reaches."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in (path.parent, ROOT / "src", ROOT / "include"):
            closure((folder / name.decode()).resolve(), seen)


def key_of(command, version):
    files = set()
    closure(Path(command["file"]), files)
    digest = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes() + HINTS.read_bytes() + command["command"].encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def main():
    build = Path(sys.argv[1]).resolve()
    only = ["--checks=-clang-analyzer-*"] if "--fast" in sys.argv[2:] else []
    clean = ROOT / "build" / "tidy"
    clean.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    todo = []
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for command in commands:
        path = Path(command["file"])
        if path.suffix == ".c" and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in CHECKED:
            key = key_of(command, version + " ".join(only).encode())
            if not (clean / key).exists():
                todo.append((path, key))

    def check(item):
        path, key = item
        result = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), *only, *extra_arguments(path), str(path)],
                                capture_output=True, text=True, check=False)
        if result.returncode == 0:
            (clean / key).touch()
        return path, result

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, result in pool.map(check, todo):
            if result.returncode != 0:
                bad += 1
                print(result.stdout, result.stderr if not result.stdout else "", sep="")
    print(f"clang-tidy: {len(todo)} files checked, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
