#!/usr/bin/env bash
# Prints the folder of the unpacked source of libfyaml, for systems that have no package of it: FYAML_SOURCE, or the source as Debian
# has it, fetched into build/fyaml with apt's check of its signature.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/fyaml

fail() {
    echo "libfyaml: $1" >&2
    exit 1
}

if [ -n "${FYAML_SOURCE:-}" ]; then
    echo "$FYAML_SOURCE"
    exit
fi
if [ ! -d "$folder/source" ]; then
    command -v apt-get >/dev/null || fail "no apt-get here: set FYAML_SOURCE to the unpacked source of libfyaml"
    rm -rf "$folder"
    mkdir -p "$folder/lists/partial" "$folder/parts"
    # The machine's own list of packages, asked for sources.
    for list in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$folder/parts/$(basename "$list")"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >"$folder/parts/$(basename "$list")"
    done
    apt=(apt-get -qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$folder/parts"
        -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder" -o "APT::Sandbox::User=")
    # Lists of other origins may have no sources: what counts is whether libfyaml is found.
    "${apt[@]}" update >"$folder/log" 2>&1 || true
    (cd "$folder" && "${apt[@]}" source --download-only libfyaml >>log 2>&1) ||
        fail "the source of libfyaml cannot be fetched, see $folder/log"
    mkdir "$folder/unpacked"
    tar xf "$folder"/libfyaml_*.orig.tar.* -C "$folder/unpacked" --strip-components=1
    mv "$folder/unpacked" "$folder/source"
fi
echo "$folder/source"
