#!/usr/bin/env bash
# Installs into a temporary folder and uses it as a stranger would: the README's program and examples/ compiled with
# pkg-config alone, shared and static, and with CMake's find_package; with a C and a C++ compiler's eyes on the headers; the exported names compared
# with the public headers; and the same bytes from the library for every processor and the faster one beside it.
set -euo pipefail
# `program | grep -q` fails now and then here: grep ends at the first match, and the program dies of what it still writes.
cd "$(dirname "$0")/.."

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
fail() {
    echo "install: $*" >&2
    exit 1
}

make --no-print-directory install DESTDIR="$stage" PREFIX=/usr >"$stage/log" 2>&1 || {
    cat "$stage/log" >&2
    fail "make install failed"
}
library=$(find "$stage/usr" -name libwadi.so)
libdir=$(dirname "$library")
[ -x "$stage/usr/bin/wadi" ] || fail "bin/wadi is missing"
[ -f "$libdir/libwadi.a" ] || fail "libwadi.a is missing"

# Every function that the headers declare is exported, and nothing else is.
cat "$stage"/usr/include/wadi/*.h | tr '\n' ' ' | grep -oE 'WADI_API [^;(]*\bwadi_[a-z0-9_]+\(' |
    grep -oE 'wadi_[a-z0-9_]+\($' | tr -d '(' | sort -u >"$stage/declared"
nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$stage/exported"
[ -s "$stage/declared" ] || fail "no function found in the headers"
diff "$stage/declared" "$stage/exported" >"$stage/difference" || {
    echo "install: declared in the headers (<) against exported by libwadi.so (>):" >&2
    cat "$stage/difference" >&2
    exit 1
}

export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra cflags <<<"$(pkg-config --cflags wadi)"
read -ra shared <<<"$(pkg-config --libs wadi)"
read -ra static <<<"$(pkg-config --static --libs wadi)"
grep -qwF "$(pkg-config --modversion wadi)" <<<"$("$stage/usr/bin/wadi" --version)" ||
    fail "wadi.pc and wadi --version disagree"

# Each public header stands alone, in strict C and as C++.
for header in "$stage"/usr/include/wadi/*.h; do
    for language in c c++; do
        clang -x "$language" -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I"$stage/usr/include" "$header"
    done
done

tools/readme_example.sh >"$stage/readme.c"
programs=("$stage/readme.c")
for example in examples/*.c; do
    [ ! -f "$example" ] || programs+=("$example")
done
strict=(-std=c17 -Wall -Wextra -Wpedantic -Werror)
for program in "${programs[@]}"; do
    name=$(basename "$program" .c)
    gcc "${strict[@]}" "${cflags[@]}" "$program" "${shared[@]}" -o "$stage/$name-shared"
done
# A static link is what -lwadi means where there is no shared library.
mkdir "$stage/shared"
mv "$libdir"/libwadi.so* "$stage/shared"
for program in "${programs[@]}"; do
    name=$(basename "$program" .c)
    gcc "${strict[@]}" "${cflags[@]}" "$program" "${static[@]}" -o "$stage/$name-static"
    if grep -q libwadi <<<"$(ldd "$stage/$name-static")"; then
        fail "$name: the static program wants libwadi.so"
    fi
done

mv "$stage"/shared/libwadi.so* "$libdir"
export LD_LIBRARY_PATH=$libdir
"$stage/readme-shared" >"$stage/readme-shared.out"
"$stage/readme-static" >"$stage/readme-static.out"
cat "$stage/readme-shared.out"
cmp "$stage/readme-shared.out" "$stage/readme-static.out" || fail "shared and static print different things"
# One second of free fall from 10 m; a step that is not exact for constant acceleration would miss it.
height=$(sed -n 's/^mean height \([0-9.]*\) m$/\1/p' "$stage/readme-shared.out")
awk -v h="$height" 'BEGIN { exit !(h > 5.085 && h < 5.105) }' || fail "mean height is \"$height\", expected 5.095"

# A project of someone else's: find_package alone, shared and static; the examples need no other file.
mkdir "$stage/consumer"
cp examples/surface_in_memory.c examples/embed.c "$stage/consumer"
# Until 1.0 a minor version promises nothing to programs written for another one.
IFS=. read -r major minor _ <<<"$(pkg-config --modversion wadi)"
cat >"$stage/consumer/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(consumer C)
foreach(other $((minor - 1)) $((minor + 1)))
  find_package(wadi $major.\${other} QUIET)
  if(wadi_FOUND)
    message(FATAL_ERROR "version $major.$minor serves as $major.\${other}")
  endif()
endforeach()
find_package(wadi $major.$minor REQUIRED COMPONENTS static)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
add_executable(shared surface_in_memory.c)
target_link_libraries(shared PRIVATE wadi::wadi)
add_executable(embed embed.c)
target_link_libraries(embed PRIVATE wadi::wadi Threads::Threads)
add_executable(static surface_in_memory.c)
target_link_libraries(static PRIVATE wadi::wadi_static)
END
{
    cmake -S "$stage/consumer" -B "$stage/consumer/build" -DCMAKE_PREFIX_PATH="$stage/usr" &&
        cmake --build "$stage/consumer/build"
} >"$stage/consumer/log" 2>&1 || {
    cat "$stage/consumer/log" >&2
    fail "find_package(wadi) does not serve a project"
}
grep -q "libwadi.so.0 => $libdir/" <<<"$(ldd "$stage/consumer/build/shared")" || fail "wadi::wadi is not the shared library"
if grep -q libwadi <<<"$(ldd "$stage/consumer/build/static")"; then
    fail "wadi::wadi_static wants libwadi.so"
fi
for kind in shared static; do
    "$stage/consumer/build/$kind" "$stage/$kind.obj" >"$stage/$kind.out"
    grep -q '^[0-9]\{4,\} triangles' "$stage/$kind.out" || fail "examples/surface_in_memory.c made no mesh"
done
cmp "$stage/shared.obj" "$stage/static.obj" || fail "shared and static make different meshes"
grep -q 'closed, manifold' <<<"$("$stage/usr/bin/wadi" info "$stage/shared.obj")" || fail "that mesh is not closed"

# Arrays in, arrays out: all of the water is there in the last frame, and it pushes the paddle.
"$stage/consumer/build/embed" >"$stage/embed.out"
grep -q '^frame 24: 8000 particles' "$stage/embed.out" || fail "examples/embed.c lost water"

# The documents are there and their links lead somewhere.
for document in README.md docs/library.md docs/cli.md examples/run_scene.c; do
    [ -f "$stage/usr/share/doc/wadi/$document" ] || fail "share/doc/wadi/$document is missing"
done

# The gallery is found from where the installed command lies.
"$stage/usr/bin/wadi" gallery sand-column --print | cmp - scenes/gallery/sand-column/sand-column.yaml ||
    fail "wadi gallery does not find its scenes"

tools/readme_example.sh yaml >"$stage/readme.yaml"
"$stage/usr/bin/wadi" check "$stage/readme.yaml" >"$stage/check.out" || {
    cat "$stage/check.out" >&2
    fail "wadi check refuses the scene of README.md"
}
"$stage/run_scene-shared" scenes/demo/demo.yaml "$stage/demo.run" >"$stage/run.out"
[ -f "$stage/demo.run/run.json" ] || fail "examples/run_scene.c wrote no run.json"

# What is installed runs on any processor of the family. The loader takes the library for x86-64-v3 where it can, and
# `--glibc-hwcaps-mask` with a level that there is not leaves the other one: the results are the same bytes.
state_hash() {
    "${@:2}" run scenes/demo/demo.yaml -o "$stage/$1.run" --frames 4 --quiet
    grep -o '"state_hash": *"[^"]*"' "$stage/$1.run/run.json"
}
unset LD_LIBRARY_PATH
if [ -d "$libdir/glibc-hwcaps" ]; then
    loader=$(ldd "$stage/usr/bin/wadi" | grep -oE '/[^ ]*/ld-linux[^ ]*')
    taken=$(LD_DEBUG=files "$stage/usr/bin/wadi" --version 2>&1 | grep -oE 'calling init: .*libwadi.*')
    if grep -q 'x86-64-v3 (supported' <<<"$("$loader" --help)"; then
        grep -q x86-64-v3 <<<"$taken" || fail "the library for x86-64-v3 is not taken: $taken"
    fi
    fast=$(state_hash fast "$stage/usr/bin/wadi")
    plain=$(state_hash plain "$loader" --glibc-hwcaps-mask none "$stage/usr/bin/wadi")
    if [ -f "$libdir/wadi/wadi_vdb.so" ]; then
        "$stage/usr/bin/wadi" surface "$stage/fast.run" --frames 1 --format vdb --quiet ||
            fail "the library for x86-64-v3 does not find the module for OpenVDB"
    fi
    [ "$fast" = "$plain" ] || fail "x86-64-v3 and plain x86-64 give different states: $fast, $plain"
fi

# All of it goes again, and what others put beside it stays.
touch "$stage/usr/bin/other"
make --no-print-directory uninstall DESTDIR="$stage" PREFIX=/opt >"$stage/log" 2>&1 && fail "make uninstall takes another PREFIX"
make --no-print-directory uninstall DESTDIR="$stage" PREFIX=/usr >"$stage/log" 2>&1 || {
    cat "$stage/log" >&2
    fail "make uninstall failed"
}
left=$(find "$stage/usr" ! -type d ! -path "$stage/usr/bin/other")
[ -z "$left" ] || fail "make uninstall leaves $left"
[ -f "$stage/usr/bin/other" ] || fail "make uninstall removes what it did not install"
[ ! -e "$stage/usr/share/doc/wadi" ] || fail "make uninstall leaves share/doc/wadi"
