"""`wadi view` when something goes wrong: scenes and runs that vanish, recordings that are cut short, full disks, long work."""

import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Page, Server, run_tests  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
FOLDER = tempfile.mkdtemp()
SCENE = """\
wadi: 1
name: box
solver: flip
domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4]}
cell_size: 0.04
frames: 40
fps: 24
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.3, 0.2]}}}]
"""


def write_scene(name="box.yaml", text=SCENE):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def server(*arguments, scene=None):
    return Server(WADI, scene or write_scene(), "--threads", "1", *arguments, cwd=FOLDER)


def play_to(page, frame, speed=100):
    """Plays at least to the frame; returns the one where it is paused."""
    page.link.send(f"speed {speed}")
    page.link.send("play")
    page.picture(lambda p: p.frame >= frame)
    page.link.send("pause")
    page.stats = None
    page.until(lambda: page.stats is not None and not page.stats["playing"])
    return page.stats["frame"]


def record(page):
    """Records and returns the folder's name."""
    before = len(page.notes)
    page.link.send("record")
    page.until(lambda: page.problems or len(page.notes) > before)
    assert not page.problems, page.problems
    assert page.notes[before]["what"] == "recording"
    return page.notes[before]["why"].split(" into ")[1].split(";")[0]


def until_recorded(page):
    page.until(lambda: page.problems or any(n["what"] == "recorded" for n in page.notes))
    assert not page.problems, page.problems
    return page.notes[-1]["why"]


def frame_bytes(run, frame):
    with open(os.path.join(FOLDER, run, "particles", f"box.{frame:04}.h5"), "rb") as file:
        return file.read()


def test_a_scene_that_vanishes_leaves_the_simulation():
    path = write_scene("gone.yaml")
    with server("--paused", scene=path) as view:
        page = Page(view)
        start = page.picture().particles
        os.remove(path)
        page.link.send("restart")
        page.until(lambda: page.problems)
        assert "gone.yaml" in page.problems[0]["why"]
        for text in ("colour velocity", "step", "pour view_water 0.4 0.15 0.3 0.06 0 0 -1 0"):
            page.link.send(text)
        page.picture(lambda p: p.particles > start and p.steps == 1)
        write_scene("gone.yaml", SCENE.replace("solver: flip", "solver: flop"))
        page.link.send("restart")
        page.until(lambda: len(page.problems) > 1)
        assert "gone.yaml:3:9" in page.problems[1]["why"], page.problems
        write_scene("gone.yaml")
        page.link.send("restart")
        assert page.picture(lambda p: p.steps == 0).particles == start


def test_recordings_get_names_of_their_own():
    with server("--paused") as view:
        page = Page(view)
        page.picture()
        frames = play_to(page, 3)
        assert record(page) == "box.play.run"
        whole = until_recorded(page)
        assert f"box.play.run has the session, {frames} frames" in whole and "wadi render box.play.run" in whole, whole
        first = frame_bytes("box.play.run", 3)
        page.notes.clear()
        page.link.send("set gravity=[3, 0, -9]")
        frames = play_to(page, frames + 1)
        assert record(page) == "box.play-2.run"
        until_recorded(page)
        assert frame_bytes("box.play.run", 3) == first
        assert frame_bytes("box.play-2.run", frames)


def test_a_recording_that_the_end_cuts_short_is_continued_to_the_same_bytes():
    view = server("--paused", "--set", "cell_size=0.016", "-o", "cut.run")
    page = Page(view)
    page.picture()
    page.link.send("set gravity=[3, 0, -9]")
    last = play_to(page, 8, speed=1)
    assert record(page) == "cut.run"
    # A quick machine may be done before it says so.
    page.until(lambda: page.stats.get("recorded", 0) >= 1 or any(n["what"] == "recorded" for n in page.notes))
    assert page.stats.get("to_record", last) == last, page.stats
    page.link.send("restart")  # neither waits for the recording nor ends it
    page.picture(lambda p: p.steps == 0)
    view.process.send_signal(signal.SIGTERM)
    view.process.wait(60)
    told = view.process.stderr.read()
    view.stop()
    if "continue: " in told:
        assert "continue: wadi run cut.run/scene.yaml" in told, told
        command = told.split("continue: wadi ")[1].splitlines()[0].split()
        subprocess.run([WADI, *command, "--quiet"], cwd=FOLDER, check=True)
    subprocess.run([WADI, "run", "cut.run/scene.yaml", "--changes", "cut.run/changes.yaml", "-o", "whole.run", "--frames", str(last),
                    "--quiet"], cwd=FOLDER, check=True)
    for frame in (1, 4, last):
        assert frame_bytes("cut.run", frame) == frame_bytes("whole.run", frame), frame


def test_a_recording_that_cannot_be_written_is_a_message():
    os.makedirs(os.path.join(FOLDER, "theirs"), exist_ok=True)
    with server("--paused", "-o", "/proc/none/x.run") as view:
        page = Page(view)
        page.picture()
        page.link.send("record")
        page.until(lambda: page.problems)
        assert "x.run" in page.problems[0]["why"] and "nothing was recorded" in page.problems[0]["why"], page.problems
        page.link.send("step")
        page.picture(lambda p: p.steps == 1)


def test_a_full_disk_ends_a_recording_with_a_message():
    with server("--paused", "-o", "full.run") as view:
        page = Page(view)
        page.picture()
        play_to(page, 3)
        resource.prlimit(view.process.pid, resource.RLIMIT_FSIZE, (8192, 8192))  # files end there, as on a full disk
        page.link.send("record")
        page.until(lambda: page.problems)
        assert page.problems[0]["what"] == "record" and "full.run" in page.problems[0]["why"], page.problems
        page.link.send("step")
        page.picture(lambda p: p.frame >= 3)


def test_the_page_hears_of_long_work_and_stays():
    path = write_scene("slow.yaml")
    with server("--paused", scene=path) as view:
        page = Page(view)
        page.picture()
        os.remove(path)
        os.mkfifo(path)  # reading it takes until somebody writes
        page.link.send("restart")
        page.until(lambda: len(page.busy) > (35 if "WADI_LONG" in os.environ else 1))
        assert page.busy[0]["what"] == "starting again" and page.busy[1]["seconds"] > page.busy[0]["seconds"] >= 1, page.busy
        for _ in range(300):  # a long drag
            page.link.send("pour sand 0.4 0.15 0.3 0.06 0 0 -1 0")
        with open(path, "w", encoding="ascii") as file:
            file.write("wadi: 1\n")
        page.until(lambda: page.problems)
        assert "slow.yaml" in page.problems[0]["why"], page.problems
        os.remove(path)
        page.link.send("step")
        page.picture(lambda p: p.steps == 1)


if __name__ == "__main__":
    sys.exit(run_tests(WADI, FOLDER, globals()))
