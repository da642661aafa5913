#!/usr/bin/env bash
# Makes the page: web/make_page.sh FOLDER. Writes FOLDER/page_files.c. Without npm or its registry that has no files, and FOLDER/missing
# says why: the rest of wadi is built all the same.
set -u
web=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder/modules" || exit 1
cp "$web/package.json" "$web/package-lock.json" "$folder/modules/" || exit 1

give_up() {
    echo "$1" >"$folder/missing"
    echo "the page of wadi view is not made: $1" >&2
    printf '#include "view_files.h"\n\nconst WadiViewFile wadi_view_files[1];\nconst size_t wadi_view_file_count = 0;\n' \
        >"$folder/page_files.c"
    exit 0
}

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    give_up "npm is not installed (tools/setup.sh view installs it)"
fi
if ! cmp -s "$web/package-lock.json" "$folder/modules/installed"; then
    (cd "$folder/modules" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline >"$folder/npm.log" 2>&1) ||
        give_up "npm could not install the packages of web/package.json, see $folder/npm.log"
    cp "$web/package-lock.json" "$folder/modules/installed"
fi
node "$web/bundle.mjs" "$folder" "$folder/modules/node_modules" >"$folder/bundle.log" 2>&1 ||
    give_up "the bundle failed, see $folder/bundle.log"
rm -f "$folder/missing"
