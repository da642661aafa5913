#!/usr/bin/env bash
# Builds wadi for 64-bit ARM on another machine and runs the tests of state hashes and of the units of arithmetic there, under qemu:
# the same scenes give the same bytes. Installs clang, a linker and qemu; the libraries for ARM are unpacked into build/aarch64/sysroot.
# tools/aarch64.sh [REGEX]: other tests.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=${1:-'^test_(states|math|core|linsys_multigrid)$'}
folder=$PWD/build/aarch64
sysroot=$folder/sysroot
mkdir -p "$folder"

fail() {
    echo "aarch64: $1" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "no apt-get here: this needs Debian's packages for arm64"
missing=()
# gcc 12 for ARM ends with an internal error in friction's loops: clang.
command -v clang >/dev/null || missing+=(clang)
command -v aarch64-linux-gnu-ld >/dev/null || missing+=(binutils-aarch64-linux-gnu)
command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
[ "${#missing[@]}" -eq 0 ] || apt-get install --yes --no-install-recommends "${missing[@]}" >"$folder/install.log" 2>&1 ||
    fail "cannot install ${missing[*]}, see $folder/install.log (are you root?)"

# The packages for ARM with all that they need, as on a machine where nothing is installed; nothing of this machine changes.
if [ ! -e "$sysroot/complete" ]; then
    rm -rf "$sysroot" "$folder/apt"
    mkdir -p "$sysroot" "$folder/apt/lists/partial" "$folder/apt/archives/partial"
    : >"$folder/apt/status"
    apt=(apt-get -qq -o "Dir::State=$folder/apt" -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt"
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=)
    "${apt[@]}" update >"$folder/apt.log" 2>&1 || true # lists of other origins may have nothing for ARM
    "${apt[@]}" install --download-only --yes --no-install-recommends libc6-dev libgcc-12-dev libfyaml-dev libembree-dev \
        libhdf5-dev libpng-dev libcmocka-dev >>"$folder/apt.log" 2>&1 || fail "no packages for arm64, see $folder/apt.log"
    for package in "$folder"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$sysroot"
    done
    # Absolute links are of the sysroot, too.
    find "$sysroot" -type l -lname '/*' | while IFS= read -r link; do
        ln -snf "$sysroot$(readlink "$link")" "$link"
    done
    # What the packages' scripts would link.
    ln -s hdf5-serial.pc "$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
    touch "$sysroot/complete"
fi

cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH $sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L $sysroot)
END
export PKG_CONFIG_SYSROOT_DIR=$sysroot
export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig
cmake -G Ninja -S . -B "$folder" "-DCMAKE_TOOLCHAIN_FILE=$folder/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE=-O3 -DWADI_TESTS=ON -DWADI_WERROR=ON -DWADI_OPENVDB=OFF >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log" >&2; fail "cmake failed"; }
programs=$(ctest --test-dir "$folder" -N -R "$tests" | sed -n 's/^ *Test *#[0-9]*: \(test_[a-z0-9_]*\)$/\1/p')
[ -n "$programs" ] || fail "no tests are called $tests"
# shellcheck disable=SC2086 # names of targets
cmake --build "$folder" --target wadi_cli $programs >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2; fail "the build failed"; }
ctest --test-dir "$folder" --no-tests=error --output-on-failure -R "$tests" -j "$(nproc)"
