"""wadi render against the real binary: files, events, a video by a stand-in for ffmpeg, refusals, stopping."""
import os
import shutil
import signal
import struct

from cli_harness import (SCENE, contains, events_of, finish, good, is_equal, is_usage_error, main, needs, start,
                         wadi, write)
from test_cli_run import documented_events

SMALL = ("--size", "64x36", "--quality", "draft", "--samples", "1", "--threads", "1")
# A stand-in for ffmpeg: stores the pictures unchanged in the boxes of an MP4 file, or makes a GIF of the same size.
FFMPEG = """#!/usr/bin/env python3
import struct, sys
def box(kind, inside):
    return struct.pack(">I", 8 + len(inside)) + kind + inside
data = sys.stdin.buffer.read()
count = data.count(b"IEND")
table = struct.pack(">III", 0, len(data) // count, count)
for kind in (b"stsz", b"stbl", b"minf", b"mdia", b"trak", b"moov"):
    table = box(kind, table)
gif = b"GIF89a" + bytes(7) + (b"," + bytes(9) + bytes([2, 1, 0, 0])) * count + b";"
with open(sys.argv[-1][len("file:"):], "wb") as file:
    file.write(gif if "gif" in sys.argv else box(b"ftyp", b"isom") + table + box(b"mdat", data))
"""


def simulate(name="a.run", more=""):
    write("scene.yaml", SCENE + more)
    good("run", "scene.yaml", "-o", name, "--quiet")
    return name


def with_ffmpeg(script):
    """An environment whose ffmpeg is the given script, or that has no ffmpeg if the script is empty."""
    os.makedirs("bin", exist_ok=True)
    if script:
        write("bin/ffmpeg", script)
        os.chmod("bin/ffmpeg", 0o755)
        return {"PATH": os.path.abspath("bin") + ":/usr/bin:/bin"}
    return {"PATH": os.path.abspath("bin")}


def pictures(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".png"))


def size_of(path):
    with open(path, "rb") as file:
        head = file.read(24)
    is_equal(head[:8], b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", head[16:24])


def test_pictures_video_and_sheet():
    run = simulate()
    result = good("render", run, *SMALL, "--sheet", "4", "--gif", environment=with_ffmpeg(FFMPEG))
    contains(result.out, "5 pictures drawn, 0 kept")
    for name in ("a.run/scene.mp4", "a.run/scene.gif", "a.run/scene.sheet.png"):
        contains(result.out, name)
        assert os.path.getsize(name) > 0, name
    is_equal(pictures("a.run/images"), [f"scene.{i:04d}.png" for i in range(1, 6)])
    is_equal(size_of("a.run/images/scene.0001.png"), (64, 36))
    # The video holds the bytes of all pictures in order.
    together = b"".join(open(f"a.run/images/scene.{i:04d}.png", "rb").read() for i in range(1, 6))
    video = open("a.run/scene.mp4", "rb").read()
    assert video.endswith(b"mdat" + together), len(video)
    contains(good("render", run, *SMALL, "--no-video").out, "0 pictures drawn, 5 kept")
    part = good("render", run, *SMALL, "--force", "--frames", "2-3", environment=with_ffmpeg(FFMPEG)).out
    contains(part, "2 pictures drawn")
    contains(part, "a.run/scene.0002-0003.mp4")
    is_equal(os.path.getsize("a.run/scene.mp4"), len(video))
    quiet = good("render", run, *SMALL, "--quiet", environment=with_ffmpeg(FFMPEG))
    is_equal((quiet.out, quiet.err), ("", ""))


def test_without_ffmpeg_the_pictures_stay():
    run = simulate()
    result = good("render", run, *SMALL, environment=with_ffmpeg(""))
    contains(result.err, "apt-get install ffmpeg")
    is_equal(len(pictures("a.run/images")), 5)
    assert not os.path.exists("a.run/scene.mp4")


def test_ffmpeg_that_fails_is_told_with_its_words():
    run = simulate()
    result = wadi("render", run, *SMALL, environment=with_ffmpeg("#!/bin/sh\necho No space left >&2\nexit 1\n"))
    is_equal(result.code, 1)
    contains(result.err, "ffmpeg failed: No space left")
    is_equal(len(pictures("a.run/images")), 5)


def test_real_video():
    needs("ffmpeg")
    needs("ffprobe")
    run = simulate()
    good("render", run, "--size", "65x37", *SMALL[2:], "--every", "2", "--quiet")
    import subprocess  # pylint: disable=import-outside-toplevel
    facts = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                            "stream=codec_name,pix_fmt,width,height,r_frame_rate,nb_read_frames", "-of", "default=nw=1",
                            "a.run/scene.mp4"], check=True, capture_output=True, text=True).stdout
    for fact in ("codec_name=h264", "pix_fmt=yuv420p", "width=66", "height=38", "r_frame_rate=12/1",
                 "nb_read_frames=3"):
        contains(facts, fact)


def test_a_scene_is_simulated_first():
    write("drop.yaml", "name: drop\n" + SCENE)
    out = good("render", "drop.yaml", *SMALL, "--set", "resolution=12", "--set", "render.ground=none", "--frames",
               "5").out
    contains(out, "5 frames")
    contains(out, "1 picture drawn")
    is_equal(pictures("drop.run/images"), ["drop.0005.png"])
    again = good("render", "drop.yaml", *SMALL, "--set", "resolution=12", "--set", "render.ground=none", "--frames",
                 "5").out
    contains(again, "nothing was left to do")
    contains(again, "0 pictures drawn, 1 kept")
    changed = wadi("render", "drop.yaml", *SMALL, "--set", "resolution=8")
    is_equal(changed.code, 2)
    contains(changed.err, "--overwrite")
    contains(good("render", "drop.yaml", *SMALL, "--set", "resolution=8", "--overwrite", "--no-video").out, "5 pictures drawn")
    contains(is_usage_error("render", "drop.run", "--overwrite"), "scene file")


def test_a_layout_needs_no_run():
    write("stage.yaml", SCENE + "render: {camera: {from: [0.5, -3, 0.6], to: [0.5, 0.5, 0.5]}}\n")
    result = good("render", "stage.yaml", "--layout", "--time", "2", "--size", "64x36", "-o", "out")
    is_equal(result.out, "out/stage.layout.png\nout/stage.overview.png\n")
    for name in pictures("out"):
        is_equal(size_of("out/" + name), (64, 36))
    is_equal([name for name in os.listdir(".") if name.endswith(".run")], [])
    (event,) = events_of(good("render", "stage.yaml", "--layout", "--json", "--size", "32x18", "--set", "render={}").out)
    is_equal(set(event) - {"event"}, documented_events()["layout"])
    is_equal(event["overview"], "")  # no camera of its own to be shown
    contains(is_usage_error("render", "stage.yaml", "--time", "1"), "--time")
    contains(is_usage_error("render", "stage.yaml", "--layout", "--time", "x"), "--time")
    contains(is_usage_error("render", "folder", "--layout"), "--layout")


def test_json_events_have_the_documented_keys():
    run = simulate()
    documented = documented_events()
    result = good("render", run, *SMALL, "--json", environment=with_ffmpeg(""))
    events = events_of(result.out)
    is_equal(result.err, "")
    is_equal([event["event"] for event in events], ["image"] * 5 + ["warning", "images"])
    for event in events:
        is_equal(set(event) - {"event"}, documented[event["event"]], event)
    is_equal([event["frame"] for event in events[:5]], [1, 2, 3, 4, 5])
    is_equal((events[-1]["pictures"], events[-1]["kept"], events[-1]["video"], events[-1]["warnings"]), (5, 0, "", 1))
    assert events[0]["triangles"] > 0, events[0]


def test_false_colours_and_cuts():
    run = simulate()
    good("render", run, *SMALL, "--color", "speed", "--range", "0,2", "--map", "grey", "--cut", "x=0.5", "--frames", "3",
         "-o", "out", "--sheet", "1", "--quiet")
    is_equal(pictures("out"), ["scene.speed.0003-0003.sheet.png", "scene.speed.0003.png"])
    refused = wadi("render", run, *SMALL, "--color", "sped")
    is_equal(refused.code, 2)
    contains(refused.err, "velocity, id, material")
    refused = wadi("render", run, *SMALL, "--color", "speed", "--map", "rainbow")
    is_equal(refused.code, 2)
    contains(refused.err, "grey")
    whole, half = (events_of(good("render", run, *SMALL, "--json", "--frames", "1", "-o", name, *more).out)[0]["grains"]
                   for name, more in (("whole", ("--cut", "2,0.5,0.5,1,0,0")), ("half", ("--cut", "0.5,0.5,0.5,1,0,0"))))
    assert 0.4 * whole < half < 0.6 * whole, (whole, half)
    # x=0.55 leaves out the camera's side, wherever it stands.
    right, left = (events_of(good("render", run, *SMALL, "--json", "--frames", "1", "-o", "side", "--cut", "x=0.55", "--set",
                                  f"render.camera={{from: [{x}, 0.5, 0.5], to: [0.5, 0.5, 0.5]}}").out)[0]["grains"]
                   for x in (3, -3))
    assert 0.5 * whole < right < 0.9 * whole and abs(left + right - whole) < 0.02 * whole, (whole, left, right)


def test_bad_usage():
    run = simulate()
    for option, value in (("--frames", "0"), ("--frames", "3-2"), ("--frames", "1-2-3"), ("--frames", "-1"),
                          ("--frames", "x"), ("--quality", "best"), ("--size", "1280"), ("--size", "1280x"),
                          ("--size", "axb"), ("--every", "0"), ("--sheet", "101"), ("--samples", "0"),
                          ("--cut", "w=1"), ("--cut", "1,2,3"), ("--cut", "0,0,0,0,0,0"), ("--cut", "x=nan")):
        contains(is_usage_error("render", run, option, value), option)
    contains(is_usage_error("render", run, "--color", "speed", "--range", "2,1"), "--range")
    contains(is_usage_error("render", run, "--range", "0,1"), "--color")
    for arguments, part in ((("--size", "99999x10"), "16384"), (("--set", "resolution=3"), "the run is made"),
                            (("--set", "render.colour=1"), "render"), (("--frames", "6-9"), "frames up to 5")):
        refused = wadi("render", run, *arguments)
        is_equal(refused.code, 2, refused)
        contains(refused.err, part)
    for missing in ("none.run", "."):
        is_equal(wadi("render", missing).code, 1)
    write("a.run/file", "")
    refused = wadi("render", run, *SMALL, "-o", "a.run/file/deeper")
    is_equal(refused.code, 1)
    contains(refused.err, "a.run/file")
    shutil.rmtree("a.run/particles")
    refused = wadi("render", run)
    is_equal(refused.code, 1)
    contains(refused.err, "no finished frames")


def test_interrupt_keeps_what_is_done():
    run = simulate()
    process = start("render", run, "--json", "--size", "320x180", "--quality", "preview", "--no-video")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    code, out, _ = finish(process)
    if code == 0:  # it finished before the signal came
        return
    is_equal(code, 130)
    event = events_of(out)[-1]
    is_equal((event["event"], event["status"]), ("error", "stopped"))
    made = pictures("a.run/images")
    assert 1 <= len(made) < 5 and not [name for name in os.listdir("a.run/images") if "tmp" in name], made


def test_a_run_that_is_not_there_is_one_message():
    result = wadi("render", "nowhere.run")
    is_equal(result.code, 1)
    is_equal(result.err, "wadi: nowhere.run: no such run folder\n")


if __name__ == "__main__":
    main(globals())
