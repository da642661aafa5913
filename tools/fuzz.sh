#!/usr/bin/env bash
# Runs each fuzz target for some seconds, from the inputs in tests/fuzz/corpus/TARGET: tools/fuzz.sh SECONDS.
# What a target learns stays in build/fuzz/corpus; an input that breaks it is written to build/fuzz/TARGET-crash-...,
# and belongs into tests/fuzz/corpus once the bug is fixed.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
tools/build.sh fuzz
export ASAN_OPTIONS=allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=tools/lsan.supp:print_suppressions=0

count=0
for source in tests/fuzz/fuzz_*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    learned=build/fuzz/corpus/$name
    mkdir -p "$learned"
    folders=("$learned")
    [ ! -d "tests/fuzz/corpus/$name" ] || folders+=("tests/fuzz/corpus/$name")
    echo "== $name, $seconds s"
    "build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="build/fuzz/$name-" "${folders[@]}"
    count=$((count + 1))
done
echo "fuzz: $count targets, no findings"
