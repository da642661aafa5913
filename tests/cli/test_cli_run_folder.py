"""What a run folder says about itself: run.json over several sessions, and whose checkpoints, frames and files it holds."""
import json
import os
import shutil
import signal
import time

from cli_harness import SCENE, contains, frame_files, good, is_equal, main, read, start, wadi, write

ADAPTIVE = """\
wadi: 1
solver: sph
fps: 20
cell_size: 0.02
frames: 4
domain: {min: [0, 0, 0], max: [0.16, 0.04, 0.3]}
materials: {water: {kind: water}}
bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.16, 0.04, 0.16]}}}]
sph: {adaptive: {}}
"""


def summary(run):
    return json.loads(read(run + "/run.json"))


def test_session_without_steps_loses_nothing_of_run_json():
    write("scene.yaml", ADAPTIVE)
    good("run", "scene.yaml", "-o", "r", "-q", "--threads", "1")
    before = summary("r")
    assert before["resampling"]["merges"] > 0, before
    good("run", "scene.yaml", "-o", "r", "-q", "--resume", "--threads", "1")
    after = summary("r")
    # The wall-clock time and the memory grow with every session.
    for key in ("seconds", "peak_rss_bytes"):
        assert key in after
        before.pop(key), after.pop(key)
    is_equal(after, before)


def test_stop_inside_a_frame_keeps_the_hash_of_the_last_one():
    write("scene.yaml", ADAPTIVE.replace("fps: 20", "fps: 0.2"))
    good("run", "scene.yaml", "-o", "r", "-q", "--frames", "1")
    before = summary("r")
    # Stopped sessions continue inside the frame.
    for _ in range(2):
        process = start("run", "scene.yaml", "-o", "r", "--resume", "--frames", "2", "-q")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        is_equal(process.returncode, 130, err)
    after = summary("r")
    assert after["steps"] > before["steps"] and after["frames"] == 1, after
    is_equal(after["state_hash"], before["state_hash"])


if __name__ == "__main__":
    main(globals())
