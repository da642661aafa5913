"""What a run folder says about itself: run.json over several sessions, and whose checkpoints, frames and files it holds."""
import json
import os
import shutil
import signal
import time

from cli_harness import SCENE, contains, good, is_equal, main, read, start, wadi, write

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
    write("scene.yaml", ADAPTIVE.replace("fps: 20", "fps: 0.005").replace("adaptive: {}", "adaptive: {}, sleep: false"))
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


def test_session_without_steps_leaves_secondary_particles():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q")
    good("secondary", "r", "-q")
    before = sorted(os.listdir("r/secondary"))
    good("run", "scene.yaml", "-o", "r", "-q", "--resume")
    is_equal(sorted(os.listdir("r/secondary")), before)
    # Those of a frame that becomes another one go.
    good("run", "scene.yaml", "-o", "r", "-q", "--from-frame", "1", "--set", "seed=7")
    is_equal([name for name in os.listdir("r/secondary") if name.endswith(".h5")], [])


def results(run):
    """{path: bytes} of frames, checkpoints and run.json."""
    found = {}
    for folder in ("particles", "checkpoint", "."):
        for name in os.listdir(f"{run}/{folder}"):
            if name.endswith((".h5", ".json")):
                with open(f"{run}/{folder}/{name}", "rb") as file:
                    found[f"{folder}/{name}"] = file.read()
    return found


def is_of_another_run(path, *command):
    result = wadi(*command)
    is_equal(result.code, 1, (command, result))
    contains(result.err, path + " is of another run")
    contains(result.err, "put the file of this run back, or remove it and continue the run")


RESUME = ("run", "scene.yaml", "-o", "r", "--resume", "--frames", "6", "-q")


def test_checkpoints_of_another_run_are_refused():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q", "--set", "checkpoint_every=2")
    good("run", "scene.yaml", "-o", "whole", "-q", "--frames", "6")
    tetra = "v 0 0 0\nv 0.3 0 0\nv 0 0.3 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    write("rock.obj", tetra)
    others = [("--set", "seed=7"), ("--set", "materials.sand.density=1700"), ("--set", "resolution=15"),
              ("--set", "colliders=[{shape: {mesh: {file: rock.obj}}}]")]
    for i, change in enumerate(others):
        # Of a milestone too.
        name = "checkpoint/scene.0005.h5" if i % 2 == 0 else "checkpoint/scene.0004.keep.h5"
        good("run", "scene.yaml", "-o", f"other{i}", "-q", "--set", "checkpoint_every=2", *change)
        shutil.copytree("r", "kept")
        shutil.copy(f"other{i}/{name}", "r/" + name)
        if i % 2 == 1:
            os.remove("r/checkpoint/scene.0005.h5")
        before = results("r")
        is_of_another_run("r/" + name, *RESUME)
        is_equal(results("r"), before)
        # Without it an older one is taken, or the run begins again; the result is that of the unbroken run.
        os.remove("r/" + name)
        good(*RESUME)
        is_equal(summary("r")["state_hash"], summary("whole")["state_hash"])
        shutil.rmtree("r")
        os.rename("kept", "r")
    # The same for a run whose run.json is lost, and not for the state of an equal run.
    shutil.copy("other0/checkpoint/scene.0005.h5", "r/checkpoint/scene.0005.h5")
    os.remove("r/run.json")
    is_of_another_run("r/checkpoint/scene.0005.h5", *RESUME)
    good("run", "scene.yaml", "-o", "equal", "-q")
    shutil.copy("equal/checkpoint/scene.0005.h5", "r/checkpoint/scene.0005.h5")
    good(*RESUME)
    is_equal(summary("r")["state_hash"], summary("whole")["state_hash"])


def test_frames_of_another_run_are_refused():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q")
    good("run", "scene.yaml", "-o", "other", "-q", "--set", "seed=7")
    shutil.copy("r/particles/scene.0003.h5", "kept.h5")
    shutil.copy("other/particles/scene.0003.h5", "r/particles/scene.0003.h5")
    draft = ("--quality", "draft", "--size", "16x16", "--samples", "1", "--threads", "1", "-q")
    for command in (("render", "r", *draft), ("surface", "r", "-q"), ("secondary", "r", "-q"),
                    ("export", "r", "--to", "ply", "-q"), ("export", "r", "--to", "pov", "-q"), RESUME):
        is_of_another_run("r/particles/scene.0003.h5", *command)
    os.remove("r/particles/scene.0003.h5")
    good(*RESUME)
    with open("kept.h5", "rb") as kept, open("r/particles/scene.0003.h5", "rb") as made:
        is_equal(made.read() == kept.read(), True)
    # Foam of another run is not drawn.
    good("secondary", "r", "-q")
    good("secondary", "other", "-q")
    shutil.copy("other/secondary/scene.0002.h5", "r/secondary/scene.0002.h5")
    is_of_another_run("r/secondary/scene.0002.h5", "render", "r", *draft)


def test_a_changed_scene_goes_on_with_frames_of_the_one_before():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q", "--set", "checkpoint_every=1")
    old = summary("r")["content_hash"]
    change = ("--set", "checkpoint_every=1", "--set", "seed=7")
    good("run", "scene.yaml", "-o", "r", "-q", "--from-frame", "3", *change)
    assert summary("r")["earlier_scenes"] == [old] and summary("r")["content_hash"] != old
    good("run", "scene.yaml", "-o", "r", "-q", "--resume", "--frames", "6", *change)
    good("surface", "r", "-q")
    good("secondary", "r", "-q")
    # Back to a frame of the first scene, with the second one, then with the first one again.
    good("run", "scene.yaml", "-o", "r", "-q", "--from-frame", "2", *change)
    good("run", "scene.yaml", "-o", "r", "-q", "--from-frame", "2", "--set", "checkpoint_every=1")
    is_equal(summary("r")["content_hash"], old)
    good("surface", "r", "-q")
    # A third scene is none of both.
    good("run", "scene.yaml", "-o", "other", "-q", "--set", "seed=8")
    shutil.copy("other/particles/scene.0001.h5", "r/particles/scene.0001.h5")
    is_of_another_run("r/particles/scene.0001.h5", "surface", "r", "-q")


if __name__ == "__main__":
    main(globals())
