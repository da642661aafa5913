#!/usr/bin/env python3
"""Shows that no file of a build can have warnings: each is compiled with -Werror and the common set, none silenced.

Two are silenced on purpose: clang's report that it did not vectorise a loop, which depends on the processor, and gcc's
note on parameters wider than the registers of a portable build."""

import json
import shlex
import sys

NEEDED = {"-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-ffp-contract=off"}
ALLOWED = {"-Wno-pass-failed", "-Wno-psabi"}


def main():
    commands = json.load(open(sys.argv[1], encoding="utf-8"))
    bad = 0
    for command in commands:
        flags = shlex.split(command["command"])
        missing = NEEDED.difference(flags)
        silenced = [f for f in flags
                    if f == "-w" or f.startswith("-Wno-") and f not in ALLOWED or f in ("-ffast-math", "-Ofast")]
        if missing or silenced:
            print(f"{command['file']}: without {sorted(missing)}, with {silenced}")
            bad += 1
    if not commands:
        print(f"{sys.argv[1]}: compiles nothing")
    return 1 if bad or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
