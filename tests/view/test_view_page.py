"""Parts of the page of `wadi view` without a browser: tests/view/page with node. Needs node 18 and the packages of the page (npm at build);
else skipped.

test_view_page.py WADI"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODULES = os.path.join(ROOT, "build", "page", "modules", "node_modules")


def main():
    node = shutil.which("node")
    if node is None or not os.path.isdir(MODULES):
        print("skipped: needs node and the packages of the page (tools/setup.sh view)")
        return 77
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < 18:
        print("skipped: node --test needs node 18")
        return 77
    # A folder where the sources are modules of node and find three.js.
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "src")
        shutil.copytree(os.path.join(ROOT, "web", "src"), page)
        with open(os.path.join(folder, "package.json"), "w", encoding="ascii") as file:
            file.write('{"type": "module"}\n')
        os.symlink(MODULES, os.path.join(folder, "node_modules"))
        done = subprocess.run([node, "--test", os.path.join(HERE, "page")], env={**os.environ, "WADI_PAGE": page}, capture_output=True,
                              text=True, check=False)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
    passed = [line for line in done.stdout.splitlines() if line.startswith("# pass")]
    print(*passed)
    return 1 if done.returncode != 0 or not passed or int(passed[0].split()[2]) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
