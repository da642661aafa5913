#!/usr/bin/env bash
# Makes build/web: the page of `wadi view` with the solver inside it, for any web host. Needs npm, emscripten and apt-get, or in
# FYAML_SOURCE the unpacked source of libfyaml.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/inside
mkdir -p "$work"

fail() {
    echo "web: $1" >&2
    exit 1
}

command -v emcc >/dev/null || fail "emscripten is not installed (tools/setup.sh web installs it)"
FYAML_SOURCE=$(tools/fyaml_source.sh)

web/make_page.sh "$root/build/page"
[ ! -e build/page/missing ] || fail "the page is not made: $(cat build/page/missing)"

# Debian's emscripten needs Debian's JavaScript libraries, which other builds of node do not find.
export NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
toolchain=$(em-config EMSCRIPTEN_ROOT 2>/dev/null || dirname "$(readlink -f "$(command -v emcc)")")/cmake/Modules/Platform/Emscripten.cmake
for threads in OFF ON; do
    folder=$work/threads-$threads
    mkdir -p "$folder"
    cmake -G Ninja -S web/inside -B "$folder" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$toolchain" \
        "-DFYAML_SOURCE=$FYAML_SOURCE" "-DWADI_INSIDE_THREADS=$threads" >"$folder/configure.log" 2>&1 ||
        { cat "$folder/configure.log" >&2; fail "cmake failed"; }
    cmake --build "$folder"
done

rm -rf build/web.new
mkdir build/web.new
cp build/page/index.html build/page/app.js web/inside/worker.js "$work"/threads-OFF/wadi.{js,wasm} \
    "$work"/threads-ON/wadi-threads.{js,wasm,worker.js} build/web.new/
echo '{"worker": "worker.js"}' >build/web.new/host.json
# Hosts that read this file (Netlify, Cloudflare Pages) let the page share memory between threads.
printf '/*\n  Cross-Origin-Opener-Policy: same-origin\n  Cross-Origin-Embedder-Policy: require-corp\n' >build/web.new/_headers
rm -rf build/web
mv build/web.new build/web
echo "build/web is the page with the solver inside: copy it to any web host, or try it with"
echo "  python3 -m http.server --directory build/web --bind 127.0.0.1"
