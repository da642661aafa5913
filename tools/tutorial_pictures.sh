#!/usr/bin/env bash
# Makes the pictures of docs/tutorial.md anew: tutorial_pictures.sh PATH/TO/wadi
set -euo pipefail
wadi=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pictures=$root/docs/tutorial
mkdir -p "$pictures"

# strip NAME FRAMES...: the frames of the step side by side.
strip() {
    local name=$1 inputs=() frame
    shift
    for frame in "$@"; do
        "$wadi" render "$folder/$name.run" --quality draft --samples 32 --size 480x270 --frames "$frame" --no-video -q
        inputs+=(-i "$folder/$name.run/images/tower.$(printf %04d "$frame").png")
    done
    ffmpeg -v error -y "${inputs[@]}" -filter_complex "hstack=inputs=$#,scale=960:-1" -q:v 4 "$pictures/$name.jpg"
}

for scene in "$root"/scenes/tutorial/*.yaml; do
    name=$(basename "$scene" .yaml)
    "$wadi" run "$scene" -o "$folder/$name.run" -q
done
"$wadi" secondary "$folder/5-shot.run" -q
strip 1-heap 1 12 24
strip 2-tower 1 12 24
strip 3-wave 1 19 37
strip 4-soak 19 27 47
strip 5-shot 19 27 47
"$wadi" render "$folder/4-soak.run" --color wetness --quality draft --size 480x270 --frames 32 --no-video -q
ffmpeg -v error -y -i "$folder/4-soak.run/images/tower.wetness.0032.png" -q:v 4 "$pictures/4-wetness.jpg"
du -ch "$pictures"/*
