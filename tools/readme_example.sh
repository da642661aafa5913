#!/usr/bin/env bash
# Prints the program (`c`) or the scene (`yaml`) of README.md: its one block marked so. Fails when there is none, or more
# than one, or when it is longer than a reader takes in at a glance.
set -euo pipefail
cd "$(dirname "$0")/.."

language=${1:-c}
blocks=$(grep -c "^\`\`\`$language\$" README.md || true)
if [ "$blocks" -ne 1 ]; then
    echo "README.md: $blocks blocks of $language, expected 1" >&2
    exit 1
fi
block=$(sed -n "/^\`\`\`$language\$/,/^\`\`\`\$/p" README.md | sed '1d;$d')
lines=$(wc -l <<<"$block")
if [ "$lines" -gt 30 ]; then
    echo "README.md: the example has $lines lines, at most 30" >&2
    exit 1
fi
printf '%s\n' "$block"
