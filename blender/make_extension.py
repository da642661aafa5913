#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the add-on into one file for Blender 3.4 and later: make_extension.py FOLDER. Equal files give equal bytes. Prints the path."""
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
FIRST_TIME = (1980, 1, 1, 0, 0, 0)


def make(folder: pathlib.Path) -> pathlib.Path:
    """The archive has one folder: add-ons of Blender before 4.2 need it, extensions may have it."""
    source = HERE / "wadi"
    version = re.search(r'^version = "(.*)"', (source / "blender_manifest.toml").read_text(encoding="utf-8"), re.M)[1]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"wadi-blender-{version}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(source.glob("*.py")) + [source / "blender_manifest.toml"]:
            member = zipfile.ZipInfo(f"wadi/{file.name}", FIRST_TIME)
            member.external_attr, member.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(member, file.read_bytes())
    return path


if __name__ == "__main__":
    print(make(pathlib.Path(sys.argv[1])))
