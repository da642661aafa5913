"""wadi gallery and wadi bench: what they list and print, a small run of each, and the messages when a part is missing."""
import json
import hashlib
import io
import os
import struct
import subprocess
import tarfile

from cli_harness import (ROOT, contains, events_of, good, hash_in, is_equal, is_usage_error, main, read, wadi, write)

GALLERY = os.path.join(ROOT, "scenes", "gallery")
ENTRIES = ["bunny-water", "bunny-sand-slippery", "bunny-sand", "water-column", "sand-column", "flip-vs-pic",
           "inf585-collapse", "inf585-alpha", "inf585-layers", "circle-blobs", "inf585-radius",
           "moist-column", "jet-on-pile", "rain-on-soil", "hourglass", "bunny-moist", "sand-duck", "sand-bunny-dragons",
           "sand-bunny-bear", "sand-bear", "floor-heap", "terrain-splash", "bowl-pour",
           "dragon-waves", "figure-heaps"]
MESHES = {"bunny-water": "bunny.obj", "bunny-sand-slippery": "bunny.obj", "bunny-sand": "bunny.obj",
          "bunny-moist": "bunny.obj", "sand-bunny-dragons": "bunny.obj and dragon.ply", "sand-bunny-bear": "bunny.obj",
          "dragon-waves": "dragon.ply", "figure-heaps": "bunny.obj"}
# A tetrahedron, 10 units tall with y up as the bunny is.
MESH = "v -5 0 -5\nv 5 0 -5\nv 0 0 5\nv 0 10 0\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n"


def entries():
    return [json.loads(line) for line in good("gallery", "--json").out.splitlines()]


def test_gallery_lists_its_entries():
    text = good("gallery").out
    for name in ENTRIES:
        contains(text, f"\n{name} " if name != ENTRIES[0] else f"{name} ")
    is_equal([entry["name"] for entry in entries()], ENTRIES)
    is_equal(sorted(name for name in os.listdir(GALLERY) if os.path.isdir(os.path.join(GALLERY, name))),
             sorted(ENTRIES))


def test_gallery_prints_the_scene_file():
    for name in ENTRIES:
        result = good("gallery", name, "--print")
        is_equal(result.out, read(os.path.join(GALLERY, name, f"{name}.yaml")))
        for mesh in ("bunny.obj", "dragon.ply"):
            is_equal(mesh in result.err, mesh in MESHES.get(name, ""))


def test_gallery_counts_are_those_of_the_papers():
    published = {"bunny-water": 269322, "bunny-sand": 269322, "bunny-sand-slippery": 269322, "water-column": 433479,
                 "sand-column": 433479, "moist-column": 120000, "jet-on-pile": 80000,
                 "bunny-moist": 70000, "floor-heap": 107687, "terrain-splash": 199039, "bowl-pour": 318053, "dragon-waves": 192975,
                 "figure-heaps": 207020, "sand-duck": 11234 + 23050, "sand-bunny-dragons": 21456 + 15525,
                 "sand-bunny-bear": 21456 + 28116, "sand-bear": 31107 + 40858}
    for entry in entries():
        expected = published.get(entry["name"], entry["particles"])
        assert abs(entry["particles"] - expected) <= 0.01 * expected, entry
        if entry["needs_mesh"]:
            continue  # its mesh is downloaded
        scene = os.path.join(GALLERY, entry["name"], entry["name"] + ".yaml")
        # A step of sand at this size takes seconds, and seeding in boxes is the same for every solver.
        has_settings = entry["name"].startswith(("inf585", "rain", "hourglass")) or entry["source"].startswith(("ZY10", "T10"))
        cheap = [] if has_settings else ["--solver", "points"]
        is_equal(json.loads(good("check", scene, "--no-time", "--json", *cheap).out)["particles_end"], entry["particles"],
                 entry["name"])


def test_unknown_entries_name_the_nearest():
    contains(is_usage_error("gallery", "buny-water"), "did you mean 'bunny-water'?")
    contains(is_usage_error("gallery", "flip"), "did you mean 'flip-vs-pic'?")
    contains(is_usage_error("gallery", "zzzzzz"), "wadi gallery lists what it has")
    contains(is_usage_error("gallery", "sand-column", "--overwrite", "--resume"), "--overwrite removes")


def size_of_png(path):
    with open(path, "rb") as file:
        header = file.read(24)
    is_equal(header[:8], b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", header[16:24])


def test_gallery_runs_an_entry_and_draws_it():
    result = good("gallery", "sand-column", "-o", "a.run", "--frames", "2", "--set", "resolution=12", "--threads", "1")
    contains(result.out, "a.run/contact.png")
    width, height = size_of_png("a.run/contact.png")
    assert width > height > 100, (width, height)
    # The side view shows a body: the picture is not empty.
    assert os.path.getsize("a.run/contact.png") > 5000
    contains(result.out, "12.00 | ZB05 fig. 6, sec. 6 |")
    first = hash_in("a.run")
    result = wadi("gallery", "sand-column", "-o", "a.run", "--frames", "2", "--set", "resolution=12")
    assert result.code != 0, "frames of an earlier run must not be replaced unasked"
    good("gallery", "sand-column", "-o", "a.run", "--frames", "2", "--set", "resolution=12", "--overwrite", "-q")
    is_equal(hash_in("a.run"), first)


def test_gallery_makes_the_runs_of_a_comparison():
    events = events_of(good("gallery", "flip-vs-pic", "-o", "c.run", "--frames", "3", "--set", "resolution=16",
                            "--threads", "1", "--json").out)
    is_equal([event["run"] for event in events if event["event"] == "end"], ["c.run/flip", "c.run/pic"])
    is_equal(events[-3], {"event": "picture", "path": "c.run/contact.png"})
    # The source gives no times of this comparison; no particle of it rests.
    for event, name in zip(events[-2:], ("flip", "pic")):
        is_equal(event["event"], "compare_frames")
        is_equal(event["run"], "c.run/" + name)
        is_equal([event["published_seconds_a_frame"], event["published_awake"], event["published_place"]], [None, None, ""])
        summary = json.loads(read(f"c.run/{name}/run.json"))
        awake, asleep = summary["awake_particles"], summary["sleeping_particles"]
        is_equal([len(awake), len(asleep)], [3, 3])
        is_equal(event["awake_mean"], sum(awake) / 3)
        is_equal(event["awake_most"], max(awake))
        is_equal(awake[-1] + asleep[-1], sum(summary["particles"].values()))
    contains(read("c.run/pic/scene.yaml"), "pic")
    size_of_png("c.run/contact.png")
    # A second run has nothing to do and removes nothing.
    good("gallery", "flip-vs-pic", "-o", "c.run", "--frames", "3", "--set", "resolution=16", "--resume", "-q")


def test_gallery_cuts_through_surfaces():
    good("gallery", "circle-blobs", "-o", "s.run", "--threads", "1", "-q")
    width, height = size_of_png("s.run/contact.png")
    is_equal(width, 2 * 480 + 4)
    assert abs(height - 480) < 30, height
    assert os.path.getsize("s.run/contact.png") > 4000


def test_gallery_takes_the_bunny_from_its_cache():
    os.makedirs("cache/wadi")
    write("cache/wadi/bunny.obj", MESH)
    here = os.getcwd()
    good("gallery", "bunny-sand", "-o", "b.run", "--frames", "2", "--set", "resolution=16", "--threads", "1", "-q",
         environment={"XDG_CACHE_HOME": os.path.join(here, "cache")})
    is_equal(json.loads(read("b.run/run.json"))["finished"], True)


def test_gallery_tells_what_to_do_without_npm():
    os.makedirs("empty")
    here = os.getcwd()
    result = wadi("gallery", "bunny-water", "-o", "b.run",
                  environment={"XDG_CACHE_HOME": os.path.join(here, "cache"), "PATH": os.path.join(here, "empty")})
    is_equal(result.code, 1, result)
    contains(result.err, "npm is not installed")
    contains(result.err, os.path.join(here, "cache", "wadi", "bunny.obj"))
    assert not os.path.exists("b.run")


FETCH = os.path.join(GALLERY, "fetch_bunny.sh")
DATA = ("exports.positions=[[-5,0,-5],[5,0.5,-5],[0,0,5e-1],[0,10,0]]\n"
        "exports.cells=[[0,1,2],[0,3,1],[1,3,2],[2,3,0]]")


def offer(index_js):
    """Writes a fake `npm` that packs index_js and a fake `node` that records its call into bin/; returns the SHA-256 of the package."""
    os.makedirs("bin", exist_ok=True)
    with tarfile.open("package.tgz", "w:gz") as tar:
        entry = tarfile.TarInfo("package/index.js")
        entry.size = len(index_js)
        tar.addfile(entry, io.BytesIO(index_js.encode()))
    here = os.getcwd()
    write("bin/npm", f"#!/bin/sh\ncp '{here}/package.tgz' bunny-1.0.1.tgz\necho bunny-1.0.1.tgz\n")
    write("bin/node", f"#!/bin/sh\ntouch '{here}/foreign-code-ran'\n")
    os.chmod("bin/npm", 0o755)
    os.chmod("bin/node", 0o755)
    with open("package.tgz", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def with_fake_npm():
    here = os.getcwd()
    return {"XDG_CACHE_HOME": os.path.join(here, "cache"), "PATH": os.path.join(here, "bin") + ":" + os.environ["PATH"]}


def test_gallery_refuses_a_changed_package():
    found = offer(DATA)
    result = wadi("gallery", "bunny-water", "-o", "b.run", environment=with_fake_npm())
    is_equal(result.code, 1, result)
    contains(result.err, f"SHA-256 {found} instead of ")
    contains(result.err, "was not used")
    is_equal(os.listdir("cache/wadi"), [])
    assert not os.path.exists("b.run")
    assert not os.path.exists("foreign-code-ran")


def test_the_bunny_is_read_as_data():
    def fetch(index_js):
        pinned = [line for line in read(FETCH).splitlines() if line.startswith("checksum=")]
        is_equal(len(pinned), 1)
        write("fetch.sh", read(FETCH).replace(pinned[0], "checksum=" + offer(index_js)))
        write("fetch_package.sh", read(os.path.join(GALLERY, "fetch_package.sh")))
        return subprocess.run(["sh", "fetch.sh", "out/bunny.obj"], env={**os.environ, **with_fake_npm()},
                              capture_output=True, text=True)

    result = fetch(DATA)
    is_equal(result.returncode, 0, result)
    is_equal(read("out/bunny.obj"), "v -5 0 -5\nv 5 0.5 -5\nv 0 0 5e-1\nv 0 10 0\n"
                                    "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n")
    os.remove("out/bunny.obj")
    for changed in (DATA + "\nrequire('fs').writeFileSync('foreign-code-ran','')", "exports.cells=[]", "",
                    DATA.replace("10", "f(10)"), DATA.replace("exports.cells", "exports.faces")):
        result = fetch(changed)
        is_equal(result.returncode, 1, result)
        contains(result.stderr, "does not list positions and cells")
        is_equal(os.listdir("out"), [])
    assert not os.path.exists("foreign-code-ran")


def test_gallery_scenes_are_looked_for_in_wadi_data():
    here = os.getcwd()
    result = wadi("gallery", "sand-column", "--print", environment={"WADI_DATA": here})
    is_equal(result.code, 1, result)
    contains(result.err, here)
    os.symlink(GALLERY, "gallery")
    contains(wadi("gallery", "sand-column", "--print", environment={"WADI_DATA": here}).out, "name: sand-column")


def test_bench_lists_what_it_has():
    text = good("bench").out
    for word in ("flip", "water-ball", "water-ball-4", "sand-ball", "sand-column", "rest"):
        contains(text, word)
    contains(is_usage_error("bench", "flop"), "did you mean 'flip'?")
    contains(is_usage_error("bench", "flip", "--case", "water-bal"), "did you mean 'water-ball'?")


def test_bench_times_the_stages():
    arguments = ["bench", "flip", "--case", "sand-column", "--frames", "1", "--scale", "2000", "--threads", "1"]
    text = good(*arguments).out
    for word in ("pressure", "friction", "particles to grid", "s a frame", "iterations a solve", "bytes a particle",
                 "memory bandwidth: triad", "1 thread"):
        contains(text, word)
    found = json.loads(good(*arguments, "--json").out)
    is_equal((found["bench"], found["case"], found["frames"], found["threads"]), ("flip", "sand-column", 1, 1))
    assert 1000 < found["particles"] < 4000, found
    # Every stage is inside the steps that were timed, and together they are nearly all of them.
    total = sum(found["stages"].values())
    assert 0.5 * found["seconds"] < total <= found["seconds"] * 1.001, (total, found["seconds"])
    for key in ("pressure_iterations", "friction_iterations", "cells", "particle_bytes", "scratch_bytes"):
        assert found[key] > 0, (key, found)
    assert found["cells"] <= found["grid_cells"], found
    assert found["triad_bytes_per_second"] > 0, found
    is_equal(sorted(found["bytes_per_second"]), ["friction", "grid to particles", "particles to grid", "pressure", "sort"])
    assert abs(found["cells"] * 8 / found["particles"] - 1) < 0.3, found


if __name__ == "__main__":
    main(globals())
