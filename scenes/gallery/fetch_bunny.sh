#!/bin/sh
# Fetch the Stanford bunny from the npm package `bunny` and write it as a Wavefront OBJ file: fetch_bunny.sh TARGET.obj
# The package is read as data: two lists of numbers.
set -eu

target=${1:?usage: fetch_bunny.sh TARGET.obj}
what=bunny
package=bunny
version=1.0.1
checksum=381e02c74b98cf18814d7bec794726ef70b9c67e037273e82054d0043f6ae303
advice="and write package/index.js, which lists positions and cells, as an OBJ file to
  $target
Any closed mesh of about that size (10 units, y up) will do."
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
# shellcheck source=scenes/gallery/fetch_package.sh
. "$here/fetch_package.sh"

# exports.positions=[[x,y,z],...] and exports.cells=[[a,b,c],...] with indices from 0. A triple a line after `tr`;
# whatever is neither a triple of numbers nor one of the two names ends it.
tar xzOf "$archive" package/index.js >"$scratch/index.js" || by_hand "the package has no index.js"
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
