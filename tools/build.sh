#!/usr/bin/env bash
# Configures a preset and builds targets of it: tools/build.sh PRESET [TARGET...]. The configure step is silent unless
# it fails; it is repeated each time so that a changed preset takes effect.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
folder=build
[ "$preset" = release ] || folder=build/$preset

mkdir -p "$folder"
if ! cmake --preset "$preset" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    echo "build: cmake --preset $preset failed; tools/setup.sh installs what is missing" >&2
    exit 1
fi
if [ $# -gt 0 ]; then
    cmake --build "$folder" --target "$@"
else
    cmake --build "$folder"
fi
