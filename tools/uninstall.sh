#!/usr/bin/env bash
# Removes the files that `make install` listed, and the folders that they leave empty: tools/uninstall.sh MANIFEST DESTDIR PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."

manifest=$1
destdir=$2
prefix=${3%/}
if [ ! -f "$manifest" ]; then
    echo "uninstall: $manifest is missing: run make install with the same PREFIX first, it makes the list anew" >&2
    exit 1
fi
# The list is that of the last install; of another prefix it would remove what nobody asked for.
while IFS= read -r path || [ -n "$path" ]; do
    case $path in
        "$prefix"/*) ;;
        *)
            echo "uninstall: the last make install was not under $prefix: it has $path" >&2
            exit 1
            ;;
    esac
done <"$manifest"

removed=0
while IFS= read -r path || [ -n "$path" ]; do
    if [ -e "$destdir$path" ] || [ -L "$destdir$path" ]; then
        rm -f -- "$destdir$path"
        removed=$((removed + 1))
    fi
    # Folders that only wadi has, once they are empty; bin, lib/pkgconfig and the like stay.
    folder=$(dirname "$path")
    while [[ $folder/ == */wadi/* || $folder/ == */glibc-hwcaps/* ]]; do
        rmdir -- "$destdir$folder" 2>/dev/null || break
        folder=$(dirname "$folder")
    done
done <"$manifest"
echo "uninstall: $removed files removed from $destdir$prefix"
