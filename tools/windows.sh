#!/usr/bin/env bash
# Builds the solver's library for Windows with mingw-w64 (build/windows/libwadi.a) and shows under wine that scenes give the bytes that
# they give here: states of every solver and surfaces. tools/windows.sh [SCENE.yaml...]: other scenes.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/windows
compiler=x86_64-w64-mingw32-gcc-posix
[ $# -gt 0 ] || set -- tests/golden/states/*.yaml

for command in "$compiler" wine cmake ninja; do
    command -v "$command" >/dev/null || {
        echo "windows: $command is not installed (tools/setup.sh long installs it)" >&2
        exit 1
    }
done
fyaml=$(tools/fyaml_source.sh)
mkdir -p "$folder"
cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER $compiler)
END
make_states() {
    if ! { cmake -G Ninja -S tests/windows -B "$1" -DCMAKE_BUILD_TYPE=Release "-DFYAML_SOURCE=$fyaml" "${@:2}" &&
        cmake --build "$1"; } >"$1.log" 2>&1; then
        cat "$1.log" >&2
        exit 1
    fi
}
make_states "$folder/here"
make_states "$folder/there" "-DCMAKE_TOOLCHAIN_FILE=$folder/toolchain.cmake"
cp "$folder/there/libwadi.a" "$folder/"

"$folder/here/states" "$@" >"$folder/here.txt"
WINEPREFIX=$folder/wine WINEDEBUG=-all wine "$folder/there/states.exe" "$@" 2>"$folder/wine.log" | tr -d '\r' >"$folder/there.txt" ||
    { cat "$folder/wine.log" >&2; exit 1; }
[ -s "$folder/here.txt" ] || { echo "windows: no scene has run" >&2; exit 1; }
diff "$folder/here.txt" "$folder/there.txt" || { echo "windows: other bytes under wine" >&2; exit 1; }
echo "windows: $(wc -l <"$folder/here.txt") scenes give the same bytes"
