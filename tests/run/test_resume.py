"""A run that is killed and resumed, at any moment and with any thread count, ends in the bytes of the unbroken run."""
import json
import os
import random
import signal
import struct
import time

import harness

SCENE = """
wadi: 1
name: busy
solver: points
resolution: 20
frames: 40
checkpoint_every: 10
max_step: 0.01
domain: {min: [0, 0, 0], max: [1, 1, 1], walls: {friction: 0.3, restitution: 0.4}}
materials: {sand: {kind: sand}, water: {kind: water}}
bodies:
  - {material: sand, shape: {sphere: {center: [0.5, 0.5, 0.7], radius: 0.25}}, velocity: [1, 0, 0]}
colliders:
  - shape: {box: {center: [0.5, 0.5, 0.15], size: [0.8, 0.02, 0.2]}, pivot: [0.5, 0.5, 0.15],
            rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 360]]], repeat: true}}
emitters:
  - {material: water, shape: {sphere: {center: [0.2, 0.2, 0.9], radius: 0.05}}, rate: 0.01, velocity: [1, 1, 0]}
drains: [{shape: {box: {min: [0, 0, 0], max: [0.1, 1, 0.1]}}}]
"""

# Flows, sleeps from 1.4 s on, and is woken by what is poured onto it from 1.7 s on.
SAND = """
wadi: 1
name: sand
solver: flip
resolution: 40
frames: 48
domain: {min: [0, 0, 0], max: [0.8, 0.04, 0.5], walls: {friction: 0.7}}
materials: {sand: {kind: sand, friction_angle: 35}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.04, 0.08]}}}]
emitters:
  - {material: sand, shape: {box: {min: [0.06, 0.01, 0.36], max: [0.12, 0.03, 0.4]}}, velocity: [0, 0, -0.5],
     rate: 3e-4, start: 1.7, end: 1.9}
"""


# Grains fall, are poured and pushed: hundreds of steps a frame.
GRAINS = """
wadi: 1
name: grains
solver: dem
cell_size: 0.02
particles_per_cell: 1
frames: 6
domain: {min: [0, 0, 0], max: [0.3, 0.12, 0.3], walls: {friction: 0.5}}
materials: {gravel: {kind: sand, friction_angle: 35}}
bodies: [{material: gravel, shape: {box: {min: [0, 0, 0], max: [0.1, 0.12, 0.12]}}}]
emitters:
  - {material: gravel, shape: {sphere: {center: [0.2, 0.06, 0.25], radius: 0.03}}, rate: 0.002, velocity: [0, 0, -0.5]}
colliders:
  - {shape: {box: {center: [0.2, 0.06, 0.02], size: [0.02, 0.1, 0.04]}, translate: {keys: [[0, [0, 0, 0]], [0.2, [-0.05, 0, 0]]]}}}
"""


def frame_bytes(place, run):
    folder = os.path.join(place.path(run), "particles")
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def killed_at_twenty_moments_it_ends_the_same(place):
    place.write("busy.yaml", SCENE)
    begun = time.time()
    place.run("run", "busy.yaml", "-o", "whole.run", "--quiet", "--threads", "2")
    seconds = time.time() - begun
    expected = place.summary("whole.run")
    assert expected["finished"] and expected["frames"] == 40
    random.seed(1)
    kills = 0
    for _ in range(200):
        threads = random.choice(["1", "2", "5"])
        process = place.start("run", "busy.yaml", "-o", "broken.run", "--resume", "--threads", threads)
        time.sleep(random.uniform(0.0, 0.25 * seconds))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        if kills >= 20:
            break
        if os.path.exists(place.path("broken.run/run.json")) and place.summary("broken.run")["finished"]:
            # The run finished before twenty kills: resume from some frames before the end.
            place.run("run", "busy.yaml", "-o", "broken.run", "--from-frame", "20", "--frames", "21", "--quiet")
    assert kills >= 20, kills
    place.run("run", "busy.yaml", "-o", "broken.run", "--resume", "--quiet")
    summary = place.summary("broken.run")
    assert summary["state_hash"] == expected["state_hash"]
    assert summary["steps"] == expected["steps"] and summary["frames"] == 40
    assert frame_bytes(place, "broken.run") == frame_bytes(place, "whole.run")


def thread_counts_give_the_same_bytes(place):
    place.write("busy.yaml", SCENE)
    for threads in ["1", "2", "5"]:
        place.run("run", "busy.yaml", "-o", threads + ".run", "--frames", "12", "--threads", threads, "--quiet")
    assert frame_bytes(place, "1.run") == frame_bytes(place, "2.run") == frame_bytes(place, "5.run")


def a_longer_end_goes_on_where_it_stopped(place):
    place.write("busy.yaml", SCENE)
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "10", "--quiet")
    assert place.summary("a.run")["finished"]
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "20", "--resume", "--quiet")
    place.run("run", "busy.yaml", "-o", "b.run", "--frames", "20", "--quiet")
    assert place.summary("a.run")["state_hash"] == place.summary("b.run")["state_hash"]
    assert frame_bytes(place, "a.run") == frame_bytes(place, "b.run")


def sand_goes_on_flowing_sleeping_and_waking(place):
    place.write("sand.yaml", SAND)
    place.run("run", "sand.yaml", "-o", "whole.run", "--quiet")
    for frames in ["10", "39", "46", "48"]:
        place.run("run", "sand.yaml", "-o", "broken.run", "--frames", frames, "--resume", "--quiet")
        assert place.summary("broken.run")["warnings"] == []  # the newest checkpoint was good
    assert place.summary("broken.run")["state_hash"] == place.summary("whole.run")["state_hash"]
    assert place.summary("broken.run")["steps"] == place.summary("whole.run")["steps"]
    assert frame_bytes(place, "broken.run") == frame_bytes(place, "whole.run")


def grains_go_on_inside_a_frame(place):
    """Stopped by a signal, a run writes a checkpoint at once, most likely inside a frame."""
    place.write("grains.yaml", GRAINS)
    begun = time.time()
    place.run("run", "grains.yaml", "-o", "whole.run", "--quiet", "--threads", "1")
    seconds = time.time() - begun
    random.seed(2)
    for mode in ("full", "surface_flow"):
        if mode != "full":
            place.run("run", "grains.yaml", "-o", "whole.run", "--overwrite", "--quiet", "--set", f"dem.mode={mode}")
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            process = place.start("run", "grains.yaml", "-o", mode + ".run", "--resume", "--set", f"dem.mode={mode}",
                                  "--threads", random.choice(["1", "2", "5"]))
            time.sleep(random.uniform(0.1, 0.5) * seconds)
            process.send_signal(stop)
            process.wait()
        place.run("run", "grains.yaml", "-o", mode + ".run", "--resume", "--quiet", "--set", f"dem.mode={mode}")
        assert place.summary(mode + ".run")["state_hash"] == place.summary("whole.run")["state_hash"]
        assert frame_bytes(place, mode + ".run") == frame_bytes(place, "whole.run")


def from_a_frame_it_repeats_itself(place):
    place.write("busy.yaml", SCENE)
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "20", "--quiet")
    before = frame_bytes(place, "a.run")
    for frame in ["7", "10", "1"]:
        place.run("run", "busy.yaml", "-o", "a.run", "--frames", "20", "--from-frame", frame, "--quiet")
        assert frame_bytes(place, "a.run") == before


def a_changed_scene_is_not_mixed_in(place):
    place.write("busy.yaml", SCENE)
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "12", "--quiet")
    before = frame_bytes(place, "a.run")
    place.write("busy.yaml", SCENE.replace("friction: 0.3", "friction: 0.5"))
    refused = place.run("run", "busy.yaml", "-o", "a.run", "--resume", "--frames", "20", code=2)
    assert "changed" in refused.stderr and "--from-frame" in refused.stderr
    assert frame_bytes(place, "a.run") == before
    # --from-frame resumes a changed scene, from a frame whose checkpoint still exists.
    place.run("run", "busy.yaml", "-o", "a.run", "--from-frame", "10", "--frames", "12", "--quiet")
    after = frame_bytes(place, "a.run")
    assert after["busy.0010.h5"] == before["busy.0010.h5"] and after["busy.0012.h5"] != before["busy.0012.h5"]
    # With another fps frame 10 is at another time than its checkpoint, earlier or later.
    for fps in ("12", "48"):
        refused = place.run("run", "busy.yaml", "-o", "a.run", "--from-frame", "10", "--frames", "12", "--set", f"fps={fps}",
                            code=1)
        assert "frame 10" in refused.stderr and "fps" in refused.stderr, refused.stderr
        assert frame_bytes(place, "a.run") == after


def a_changed_buffer_of_a_mesh_is_not_mixed_in(place):
    gltf = {"asset": {"version": "2.0"}, "buffers": [{"uri": "ball.bin", "byteLength": 72}],
            "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                          {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0}
    place.write("ball.gltf", json.dumps(gltf))
    place.write("busy.yaml", SCENE.replace("colliders:", "colliders:\n  - shape: {mesh: {file: ball.gltf}}"))

    def write_buffer(height):
        with open(place.path("ball.bin"), "wb") as file:
            file.write(struct.pack("<12f12H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, height, 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3))

    write_buffer(1.0)
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "2", "--quiet")
    place.run("run", "busy.yaml", "-o", "a.run", "--resume", "--frames", "3", "--quiet")
    write_buffer(1.5)
    refused = place.run("run", "busy.yaml", "-o", "a.run", "--resume", "--frames", "4", code=2)
    assert "changed" in refused.stderr


def a_second_run_does_not_destroy_the_first(place):
    place.write("busy.yaml", SCENE)
    place.run("run", "busy.yaml", "-o", "a.run", "--frames", "3", "--quiet")
    before = frame_bytes(place, "a.run")
    refused = place.run("run", "busy.yaml", "-o", "a.run", "--frames", "3", code=2)
    assert "--resume" in refused.stderr and "--overwrite" in refused.stderr
    assert frame_bytes(place, "a.run") == before


def frames_of_visible_particles_are_parts_of_whole_ones(place):
    place.write("sand.yaml", SAND)
    larger = ["--quiet", "--set", "domain.max=[0.8, 0.3, 0.5]", "--set", "bodies[0].shape.box.max=[0.2, 0.2, 0.2]"]
    count = {}
    for run, visible in [("all.run", "false"), ("seen.run", "true")]:
        for frames in ["2", "4"]:
            place.run("run", "sand.yaml", "-o", run, "--frames", frames, "--resume", "--set", f"visible_only={visible}",
                      *larger)
        frame = json.loads(place.run("info", f"{run}/particles/sand.0004.h5", "--json").stdout)
        count[run] = {array["count"] for array in frame["arrays"]}
        assert len(count[run]) == 1
    assert place.summary("all.run")["state_hash"] == place.summary("seen.run")["state_hash"]
    assert place.summary("all.run")["particles"] == place.summary("seen.run")["particles"]
    (whole,), (seen,) = count["all.run"], count["seen.run"]
    assert whole == place.summary("all.run")["particles"]["sand"] and 0.3 * whole < seen < 0.8 * whole, (whole, seen)


if __name__ == "__main__":
    harness.main([
        killed_at_twenty_moments_it_ends_the_same,
        thread_counts_give_the_same_bytes,
        a_longer_end_goes_on_where_it_stopped,
        sand_goes_on_flowing_sleeping_and_waking,
        grains_go_on_inside_a_frame,
        from_a_frame_it_repeats_itself,
        a_changed_scene_is_not_mixed_in,
        a_changed_buffer_of_a_mesh_is_not_mixed_in,
        a_second_run_does_not_destroy_the_first,
        frames_of_visible_particles_are_parts_of_whole_ones,
    ])
