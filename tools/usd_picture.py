#!/usr/bin/env python3
"""The picture of docs/export.md: a frame of a USD stage as OpenUSD composes it, drawn by three.js in a browser.
usd_picture.py FOLDER STAGE FRAME PNG; wants npm and chromium."""
import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
CLI = TOOLS.parent / "tests/cli"
sys.dont_write_bytecode = True
sys.path.insert(0, str(CLI))
from usd_stage import show  # noqa: E402

VIEW = {"from": [0.5, -1.75, 1.15], "to": [0.48, 0.3, 0.19], "angle": 19, "size": [960, 420], "width": 0.012}

if __name__ == "__main__":
    folder, stage, frame, png = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), os.path.abspath(sys.argv[4])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        shutil.copy(CLI / "usd/package.json", work)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"], check=True,
                       stdout=subprocess.DEVNULL)
        said = show(str(TOOLS / "usd_picture.html"), "node_modules", folder, stage, times=[frame], **VIEW)
        with open(png, "wb") as file:
            file.write(base64.b64decode(said[0]["picture"].split(",", 1)[1]))
        os.chdir("/")
