#!/usr/bin/env bash
# The solvers and the mesher, built for Windows, give the same bytes under wine: with WADI_LONG=1, where mingw-w64 and wine are.
set -euo pipefail
if [ -z "${WADI_LONG:-}" ] || ! command -v x86_64-w64-mingw32-gcc-posix >/dev/null || ! command -v wine >/dev/null; then
    echo "skipped: WADI_LONG is not set, or mingw-w64 or wine is missing"
    exit 77
fi
"$(dirname "$0")/../../tools/windows.sh"
