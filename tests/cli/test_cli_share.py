"""wadi render and surface --share against the real binary: several processes make each frame once, also when one is killed, while
a simulation goes on, and after a run was made longer."""
import json
import os
import shutil
import signal
import subprocess
import time

from cli_harness import (SCENE, TIMEOUT, WADI, clean_environment, contains, events_of, finish, good, is_equal, is_usage_error, main,
                         read, start, wadi, write)
from test_cli_render import FFMPEG, SMALL, pictures, with_ffmpeg

FRAMES = 12


def simulate(run="a.run", frames=FRAMES):
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", run, "--quiet", "--frames", str(frames), "--threads", "1")
    return run


def sharer(run, *options, environment=None):
    return subprocess.Popen([WADI, "render", run, *SMALL, "--share", "--json", *options], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=clean_environment(**(environment or {})))


def drawn(out):
    return [event["frame"] for event in events_of(out) if event["event"] == "image" and not event["kept"]]


def bytes_of(folder):
    found = {}
    for name in pictures(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def leftovers(folder):
    return [name for name in os.listdir(folder) if "claim" in name or "tmp" in name]


def test_four_sharers_draw_each_frame_once():
    run = simulate()
    shutil.copytree(run, "plain.run")
    good("render", "plain.run", *SMALL, "--no-video")
    environment = with_ffmpeg(FFMPEG)
    results = [finish(process) for process in [sharer(run, "--wait", environment=environment) for _ in range(4)]]
    is_equal([code for code, _, _ in results], [0] * 4, results)
    is_equal(sorted(sum((drawn(out) for _, out, _ in results), [])), list(range(1, FRAMES + 1)), results)
    is_equal(bytes_of(f"{run}/images"), bytes_of("plain.run/images"))
    is_equal(leftovers(f"{run}/images"), [])
    assert os.path.getsize(f"{run}/scene.mp4") > 0
    # The video is made once: its file stays as it is.
    before = os.stat(f"{run}/scene.mp4").st_ino
    contains(good("render", run, *SMALL, "--share", environment=environment).out, "0 pictures drawn, 12 kept")
    is_equal(os.stat(f"{run}/scene.mp4").st_ino, before)
    os.remove(f"{run}/scene.mp4")
    good("render", run, *SMALL, "--share", environment=environment)
    assert os.path.exists(f"{run}/scene.mp4")


def stopped_with_a_claim(run, *options):
    """A sharer that is stopped while it has a frame, and the frame."""
    for _ in range(20):
        process = sharer(run, "--no-video", *options)
        end = time.time() + TIMEOUT
        while process.poll() is None and time.time() < end:
            process.send_signal(signal.SIGSTOP)
            folder = f"{run}/images"
            names = os.listdir(folder) if os.path.isdir(folder) else []
            claims = [name for name in names if name.startswith(".wadi-claim-scene.0") and name.endswith("-1")]
            if claims and any(name.endswith(".png") for name in names):
                return process, int(claims[0].split(".")[-1].split("-")[0])
            process.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        process.communicate()
        shutil.rmtree(f"{run}/images", ignore_errors=True)
    raise AssertionError("no sharer was caught with a claim")


def test_frame_of_a_killed_sharer_is_taken_over():
    run = simulate()
    shutil.copytree(run, "plain.run")
    good("render", "plain.run", *SMALL, "--no-video")
    victim, frame = stopped_with_a_claim(run)
    claim = read(f"{run}/images/.wadi-claim-scene.{frame:04d}-1")
    contains(claim, f"process {victim.pid} on {os.uname().nodename} since ")
    victim.kill()
    before, _ = victim.communicate()
    # Without --wait: the rest is drawn, and the code says that a frame is not done.
    code, out, err = finish(sharer(run, "--no-video"))
    is_equal(code, 75, err)
    contains(err, f"process {victim.pid} on")
    assert frame not in drawn(out), out
    # With it the claim becomes stale.
    others = [finish(process) for process in [sharer(run, "--no-video", "--wait", "--stale", "2") for _ in range(3)]]
    is_equal([code for code, _, _ in others], [0] * 3, others)
    after = drawn(out) + sum((drawn(text) for _, text, _ in others), [])
    is_equal(sorted(drawn(before) + after), list(range(1, FRAMES + 1)), (before, out, others))
    is_equal(bytes_of(f"{run}/images"), bytes_of("plain.run/images"))
    is_equal(leftovers(f"{run}/images"), [])


def test_pictures_of_a_simulation_that_goes_on_are_kept():
    write("scene.yaml", SCENE)
    simulation = start("run", "scene.yaml", "-o", "a.run", "--frames", "9000", "--threads", "1", "--quiet")
    while simulation.poll() is None and not os.path.exists("a.run/run.json"):
        time.sleep(0.005)
    simulation.send_signal(signal.SIGSTOP)
    last = max(int(name.split(".")[1]) for name in os.listdir("a.run/particles") if name.endswith(".h5"))
    assert last < 9000, last
    # Not yet: 75, for render and surface, with and without --share.
    for command in (("render", "a.run", *SMALL, "--frames", "8999"), ("surface", "a.run", "--frames", "8990-9000"),
                    ("render", "a.run", *SMALL, "--frames", f"{last}-8999", "--share", "--no-video")):
        result = wadi(*command)
        is_equal(result.code, 75, result)
    follower = sharer("a.run", "--wait", "--no-video", "--frames", f"1-{last + 40}", "--every", "20")
    time.sleep(0.5)
    assert follower.poll() is None, follower.communicate()
    simulation.send_signal(signal.SIGCONT)
    code, out, err = finish(follower)
    is_equal(code, 0, err)
    simulation.send_signal(signal.SIGINT)
    is_equal(finish(simulation)[0], 130)
    end = events_of(out)[-1]
    count = end["pictures"] + end["kept"]
    assert count > 2 and end["pictures"] > 1, out
    # The run is longer by now: the plan stays, and so do the pictures, without --share too.
    kept = events_of(good("render", "a.run", *SMALL, "--json", "--no-video", "--frames", f"1-{last + 40}", "--every", "20").out)
    is_equal((kept[-1]["pictures"], kept[-1]["kept"]), (0, count))
    # Nobody simulates the rest.
    code, _, err = finish(sharer("a.run", "--wait", "--no-video", "--every", "1000", "--stale", "1"))
    is_equal(code, 75, err)
    contains(err, "no process makes them any more")


def test_plan_is_kept_when_the_run_is_extended():
    run = simulate(frames=4)
    good("render", run, *SMALL, "--share", "--no-video")
    plan, before = read(f"{run}/images/scene.plan.json"), bytes_of(f"{run}/images")
    is_equal(json.loads(plan)["frames"], 4)
    good("run", "scene.yaml", "-o", run, "--quiet", "--resume", "--frames", "7", "--threads", "1")
    contains(good("render", run, *SMALL, "--share", "--no-video").out, "3 pictures drawn, 4 kept")
    is_equal(read(f"{run}/images/scene.plan.json"), plan)
    is_equal({name: bytes_of(f"{run}/images")[name] for name in before}, before)
    # The same by the scene: its number of frames is not part of what is drawn.
    write("scene.yaml", "# longer\n" + SCENE.replace("frames: 5", "frames: 9"))
    good("run", "scene.yaml", "-o", run, "--quiet", "--resume", "--threads", "1")
    contains(good("render", run, *SMALL, "--share", "--no-video").out, "2 pictures drawn, 7 kept")
    # Another quality has the same plan; a plan that someone changed is another one.
    contains(good("render", run, *SMALL[:2], "--quality", "draft", "--samples", "2", "--threads", "1", "--no-video").out,
             "9 pictures drawn")
    is_equal(read(f"{run}/images/scene.plan.json"), plan)
    changed = json.loads(plan)
    changed["exposure"] += 1
    write(f"{run}/images/scene.plan.json", json.dumps(changed, indent=2))
    contains(good("render", run, *SMALL, "--share", "--no-video").out, "9 pictures drawn")
    write(f"{run}/images/scene.plan.json", "wadi: {")
    result = wadi("render", run, *SMALL, "--share", "--no-video")
    is_equal(result.code, 1, result)
    contains(result.err, "scene.plan.json: not a plan as wadi writes it; remove it")


def test_surfaces_are_shared():
    run = simulate()
    shutil.copytree(run, "plain.run")
    good("surface", "plain.run", "--quiet")
    processes = [subprocess.Popen([WADI, "surface", run, "--share", "--wait", "--json", "--threads", "2"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()) for _ in range(3)]
    results = [finish(process) for process in processes]
    is_equal([code for code, _, _ in results], [0] * 3, results)
    made = [event["frame"] for _, out, _ in results for event in events_of(out)
            if event["event"] == "mesh" and not event["kept"]]
    is_equal(sorted(made), list(range(1, FRAMES + 1)))
    for i in range(1, FRAMES + 1):
        with open(f"{run}/surface/sand.{i:04d}.ply", "rb") as one, open(f"plain.run/surface/sand.{i:04d}.ply", "rb") as two:
            is_equal(one.read() == two.read(), True, i)
    is_equal(leftovers(f"{run}/surface"), [])


def test_video_only_waits_for_pictures():
    run = simulate(frames=3)
    result = wadi("render", run, *SMALL, "--share", "--video", environment=with_ffmpeg(FFMPEG))
    is_equal(result.code, 75, result)
    contains(result.err, "the file of frame 1 is not there yet")
    good("render", run, *SMALL, "--share", "--no-video")
    contains(good("render", run, *SMALL, "--share", "--video", environment=with_ffmpeg(FFMPEG)).out, "a.run/scene.mp4")


def test_refusals():
    simulate(frames=2)
    contains(is_usage_error("render", "a.run", "--wait"), "--wait: expected --share beside it")
    contains(is_usage_error("render", "a.run", "--video"), "--video: expected --share beside it")
    contains(is_usage_error("surface", "a.run", "--stale", "5"), "--stale: expected --share beside it")
    contains(is_usage_error("render", "a.run", "--share", "--force"), "remove the old files and share")
    contains(is_usage_error("render", "scene.yaml", "--share"), "--share: expected a run folder")
    result = wadi("render", "none.run", "--share", "--wait")
    is_equal(result.code, 1, result)
    contains(result.err, "none.run: no such run folder")


if __name__ == "__main__":
    main(globals())
