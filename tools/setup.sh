#!/usr/bin/env bash
# Installs what is missing to build wadi (`build`), to make videos too (`demo`), to build its live view (`view`) or
# that with the solver inside the page (`web`), its Python package (`wheel`), packages of it (`package`), to test it
# (`test`) or to test it at length (`long`).
# On Debian and its relatives by apt-get, elsewhere says what is needed. Does nothing, fast, when nothing is missing.
set -euo pipefail

build=(gcc libc6-dev make cmake ninja-build pkg-config libfyaml-dev libembree-dev libhdf5-dev libpng-dev libwebsockets-dev libssl-dev)
demo=(ffmpeg)
# npm is several hundred packages on Debian: minutes, so that it is not asked for where the view is not.
view=(nodejs npm ca-certificates)
web=(emscripten)
package=(patchelf binutils dpkg-dev file python3)
wheel=(python3 python3-numpy python3-pip python3-venv)
test=(clang clang-format clang-tidy libclang-rt-dev libcmocka-dev g++ libopenvdb-dev libboost-dev binutils git mandoc mypy
      python3 python3-h5py python3-jsonschema python3-numpy python3-pip python3-venv python3-yaml shellcheck)
long=(skopeo blender xvfb xauth povray python3-paraview qemu-user-static gcc-mingw-w64-x86-64-posix wine wine64 chromium munge slurmctld slurmd slurm-client)
modules=(libfyaml hdf5 libpng)

case "${1:-build}" in
build) packages=("${build[@]}") ;;
demo) packages=("${build[@]}" "${demo[@]}") ;;
view) packages=("${build[@]}" "${view[@]}") ;;
web) packages=("${build[@]}" "${view[@]}" "${web[@]}") ;;
wheel) packages=("${build[@]}" "${wheel[@]}") ;;
package) packages=("${build[@]}" "${demo[@]}" "${package[@]}") ;;
test) packages=("${build[@]}" "${demo[@]}" "${test[@]}") ;;
long) packages=("${build[@]}" "${demo[@]}" "${view[@]}" "${web[@]}" "${package[@]}" "${test[@]}" "${long[@]}") ;;
*)
    echo "usage: $0 [build|demo|view|web|wheel|package|test|long]" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null; then
    missing=()
    for program in cc cmake ninja pkg-config; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    for module in "${modules[@]}"; do
        pkg-config --exists "$module" 2>/dev/null || missing+=("$module")
    done
    if [ "${#missing[@]}" -gt 0 ]; then
        echo "setup: no apt-get here; please install: ${missing[*]}" >&2
        echo "setup: in all wadi needs a C17 compiler, CMake >= 3.23, Ninja, pkg-config, libfyaml," \
            "Embree 3 or 4, HDF5 and libpng; videos need ffmpeg; the live view libwebsockets, OpenSSL and npm; its tests need clang, clang-format, clang-tidy, cmocka, git," \
            "mandoc, shellcheck and Python 3 with h5py" >&2
        exit 1
    fi
    exit 0
fi

# "ii " (installed) for each package that is there; dpkg-query fails for unknown names, which are then missing.
installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^\([^ :]*\)\(:[^ ]*\)\? ii.*/\1/p' || true)
missing=()
for package in "${packages[@]}"; do
    # A nodejs that is not Debian's has its npm inside.
    [ "$package" = npm ] && command -v npm >/dev/null && continue
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: please install as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "setup: failed: $*" >&2
        exit 1
    fi
}
echo "setup: installing ${missing[*]}"
quietly apt-get update
quietly apt-get install --yes --no-install-recommends "${missing[@]}"
