#!/usr/bin/env bash
# The same scenes give the same bytes on 64-bit ARM, under qemu: with WADI_LONG=1, on Debian; else skipped.
set -euo pipefail
if [ -z "${WADI_LONG:-}" ] || ! command -v apt-get >/dev/null || ! command -v qemu-aarch64-static >/dev/null; then
    echo "skipped: WADI_LONG is not set, or this is no Debian with qemu-user-static"
    exit 77
fi
"$(dirname "$0")/../../tools/aarch64.sh"
