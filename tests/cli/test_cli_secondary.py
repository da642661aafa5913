"""wadi secondary against the real binary: files, what is kept, resuming, pictures."""
import filecmp
import json
import os
import shutil

import h5py

from cli_harness import ROOT, contains, good, is_equal, main, shown, wadi, write

DAM = """\
wadi: 1
solver: flip
domain: {min: [0, 0, 0], max: [3, 0.5, 2]}
cell_size: 0.1
frames: 16
materials: {water: {kind: water}}
bodies: [{material: water, velocity: [3, 0, 0], shape: {box: {min: [1.5, 0, 0], max: [3, 0.5, 1.4]}}}]
"""


def simulate(scene=DAM, name="a.run"):
    write("scene.yaml", scene)
    good("run", "scene.yaml", "-o", name, "--quiet")
    return name


def files(run):
    return [name for name in shown(os.path.join(run, "secondary")) if name.endswith(".h5")]


def pixels(path):
    """The picture's data without its texts, which name the settings."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 8, b""
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        found += data[at + 8:at + 8 + size] if data[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + size
    return found


def test_secondary_makes_a_file_a_frame_and_keeps_them():
    run = simulate()
    contains(good("secondary", run).out, "16 frames, 16 files written, 0 kept")
    is_equal(len(files(run)), 16)
    assert os.path.exists(os.path.join(run, "secondary", "scene.xdmf"))
    again = good("secondary", run).out
    contains(again, "0 files written, 16 kept")
    assert "particles" not in again.splitlines()[-1], "kept files are not read: their number of particles is not 0"
    contains(good("secondary", run, "--set", "secondary.amount=2").out, "16 files written")
    contains(good("info", os.path.join(run, "secondary", files(run)[-1])).out, "life")


def test_the_wave_at_the_duck_has_bubbles():
    """The gallery's duck is 13 cm tall: its wave of 1 m/s has bubbles and foam only with the speeds of its scale."""
    scene = os.path.join(ROOT, "scenes", "gallery", "sand-duck", "sand-duck.yaml")
    good("run", scene, "-o", "duck.run", "--set", "cell_size=0.018", "--frames", "8", "--quiet")
    made = []
    for speeds in ([], ["--set", "secondary={slow: 1, fast: 4}"]):
        good("secondary", "duck.run", "--quiet", *speeds)
        with h5py.File(os.path.join("duck.run", "secondary", files("duck.run")[-1])) as file:
            kinds = file["particles/kind"][:]
            made.append([int((kinds == kind).sum()) for kind in (1, 2)])  # foam, bubbles
    assert min(made[0]) >= 20, made
    assert 10 * sum(made[1]) <= sum(made[0]), made


def test_stopped_and_continued_gives_the_same_bytes():
    run = simulate()
    shutil.copytree(run, "b.run")
    good("secondary", run, "--quiet", "--threads", "1")
    good("secondary", "b.run", "--quiet", "--frames", "9", "--threads", "2")
    is_equal(len(files("b.run")), 9)
    contains(good("secondary", "b.run", "--threads", "5").out, "7 files written, 9 kept")
    for name in files(run):
        assert filecmp.cmp(os.path.join(run, "secondary", name), os.path.join("b.run", "secondary", name), False), name
    # A file that was damaged is made again, as are those that followed from another one before it.
    with open(os.path.join("b.run", "secondary", files(run)[4]), "r+b") as file:
        file.truncate(1000)
    contains(good("secondary", "b.run").out, "1 file written, 15 kept")
    assert filecmp.cmp(os.path.join(run, "secondary", files(run)[4]), os.path.join("b.run", "secondary", files(run)[4]),
                       False)


def test_pictures_show_it():
    run = simulate()
    draw = ("render", run, "--frames", "16", "--quality", "draft", "--size", "96x54", "--no-video", "--quiet", "--threads", "1")
    good(*draw, "--set", "render.secondary=false")
    picture = os.path.join(run, "images", "scene.0016.png")
    without = pixels(picture)
    assert not os.path.exists(os.path.join(run, "secondary"))
    good("secondary", run, "--quiet")
    good(*draw)
    assert pixels(picture) != without
    good(*draw, "--set", "render.secondary=false")
    assert pixels(picture) == without


def test_pictures_make_it():
    run = simulate()
    shutil.copytree(run, "b.run")
    draw = ("--quality", "draft", "--size", "96x54", "--no-video", "--quiet", "--threads", "1")
    good("secondary", run, "--quiet")
    good("render", "b.run", "--frames", "9", *draw)
    is_equal(len(files("b.run")), 9)
    good("render", "b.run", "--frames", "16", *draw)
    is_equal(len(files("b.run")), 16)
    for name in files(run):
        assert filecmp.cmp(os.path.join(run, "secondary", name), os.path.join("b.run", "secondary", name), False), name
    # What was made with other settings stays.
    good("secondary", run, "--quiet", "--set", "secondary.amount=2")
    kept = open(os.path.join(run, "secondary", files(run)[-1]), "rb").read()
    good("render", run, "--frames", "16", *draw)
    assert open(os.path.join(run, "secondary", files(run)[-1]), "rb").read() == kept
    # Not for numbers, nor where no liquid foams.
    shutil.rmtree(os.path.join(run, "secondary"))
    good("render", run, "--frames", "16", "--color", "speed", *draw)
    assert not os.path.exists(os.path.join(run, "secondary"))
    syrup = simulate(DAM.replace("{kind: water}", "{kind: water, viscosity: 5}").replace("frames: 16", "frames: 3"), "c.run")
    good("render", syrup, *draw)
    assert not os.path.exists(os.path.join(syrup, "secondary"))


def test_false_colours_leave_out_foam_without_the_attribute():
    run = simulate()
    good("secondary", run)
    for attribute in ("pressure", "speed"):  # foam has a speed, but no pressure
        good("render", run, "--color", attribute, "--frames", "16", "--size", "64x48", "--no-video", "--quality", "draft")
    picture = os.path.join(run, "images", "scene.pressure.0016.png")
    with_foam = pixels(picture)
    good("render", run, "--color", "pressure", "--frames", "16", "--size", "64x48", "--no-video", "--quality", "draft",
         "--set", "render.secondary=false")
    assert pixels(picture) == with_foam, "a picture of pressure has no foam in it"


COLUMN = """\
wadi: 1
solver: flip
domain: {min: [0, 0, 0], max: [1, 0.3, 0.5]}
cell_size: 0.05
frames: 8
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.4]}}}]
secondary: {grains: 6, dust: 0}
"""


def test_fine_grains_of_a_run():
    """Six a particle, in files that render makes, draws, and keeps; stopped and continued to the same bytes."""
    run = simulate(COLUMN)
    draw = ("--quality", "draft", "--size", "96x54", "--no-video", "--quiet", "--threads", "1")
    shutil.copytree(run, "b.run")
    shutil.copytree(run, "c.run")
    good("secondary", run, "--quiet", "--threads", "2")
    grains = [name for name in files(run) if ".grains." in name]
    is_equal(len(grains), 8)
    with h5py.File(os.path.join(run, "secondary", grains[0])) as made, \
            h5py.File(os.path.join(run, "particles", "scene.0001.h5")) as frame:
        # Those beyond the walls are left out.
        assert 0.9 < len(made["particles/id"]) / (6 * len(frame["particles/id"])) <= 1
    good("secondary", "b.run", "--quiet", "--frames", "3", "--threads", "1")
    good("render", "b.run", "--frames", "8", *draw)
    for name in grains:
        assert filecmp.cmp(os.path.join(run, "secondary", name), os.path.join("b.run", "secondary", name), False), name
    good("render", "c.run", "--frames", "8", "--set", "render.secondary=false", *draw)
    assert pixels(os.path.join("c.run", "images", "scene.0008.png")) != pixels(os.path.join("b.run", "images", "scene.0008.png"))
    good("secondary", run, "--quiet", "--set", "secondary.grains=0")
    is_equal([name for name in files(run) if ".grains." in name], [])


def test_small_waves_foam_as_large_ones():
    """The same dam an eighth as large, with the frames of times shorter by the root of 8: its speeds are shorter by that, too,
    and so are the thresholds, which are still above the slowest ripple, 0.23 m/s. What is made in a second is a part of the
    volume, so that `amount` makes up for the time."""
    small = """\
wadi: 1
solver: flip
domain: {min: [0, 0, 0], max: [0.375, 0.0625, 0.25]}
cell_size: 0.0125
fps: 67.8823
frames: 16
materials: {water: {kind: water}}
bodies: [{material: water, velocity: [1.0606602, 0, 0], shape: {box: {min: [0.1875, 0, 0], max: [0.375, 0.0625, 0.175]}}}]
secondary: {amount: 2.828427, life: 1.0606602, rise: 0.0884}
"""
    counts = []
    for name, scene in (("large.run", DAM), ("small.run", small)):
        run = simulate(scene, name)
        good("secondary", run, "--quiet")
        frame = json.loads(good("info", "--json", os.path.join(run, "secondary", files(run)[-1])).out)
        counts.append(frame["arrays"][0]["count"])
    assert counts[0] > 500 and abs(counts[1] / counts[0] - 1) < 0.15, counts


def test_a_frame_simulated_again_loses_its_foam():
    run = simulate()
    good("secondary", run, "--quiet")
    good("run", "scene.yaml", "-o", run, "--from-frame", "10", "--quiet")
    assert len(files(run)) in (9, 10), files(run)


SHORE = """\
wadi: 1
solver: flip
domain: {min: [0, 0, 0], max: [1.2, 0.4, 0.6]}
cell_size: 0.04
frames: 8
materials: {sand: {kind: sand, cohesion: 1000}, water: {kind: water}}
bodies:
  - {material: sand, shape: {box: {min: [0.6, 0, 0], max: [1.2, 0.4, 0.2]}}}
  - {material: water, velocity: [2, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}
"""


def test_sand_is_wet_where_water_was():
    run = simulate(SHORE)
    draw = ("render", run, "--frames", "8", "--quality", "draft", "--size", "96x54", "--no-video", "--quiet", "--threads", "1")
    good(*draw, "--set", "render.secondary=false")
    picture = os.path.join(run, "images", "scene.0008.png")
    without = pixels(picture)
    shutil.copytree(run, "b.run")
    good("secondary", run, "--quiet")
    wet = [name for name in files(run) if ".wet." in name]
    is_equal(len(wet), 6)  # at 2 m/s the water needs two frames for the gap
    contains(good("info", os.path.join(run, "secondary", wet[-1])).out, "wetness")
    good(*draw)
    assert pixels(picture) != without
    # The same bytes when it was stopped; a lost file of wet sand is made again.
    good("secondary", "b.run", "--quiet", "--frames", "5", "--threads", "2")
    good("secondary", "b.run", "--quiet", "--threads", "5")
    os.remove(os.path.join("b.run", "secondary", wet[3]))
    contains(good("secondary", "b.run").out, "1 file written, 7 kept")
    for name in files(run):
        assert filecmp.cmp(os.path.join(run, "secondary", name), os.path.join("b.run", "secondary", name), False), name


def test_slow_water_makes_none_and_says_so():
    run = simulate(DAM.replace("velocity: [3, 0, 0]", "velocity: [0, 0, 0]").replace("frames: 16", "frames: 2"))
    contains(good("secondary", run).out, "secondary.slow")


def test_wrong_settings_are_refused():
    run = simulate(DAM.replace("frames: 16", "frames: 2"))
    result = wadi("secondary", run, "--set", "secondary.slow=5", "--set", "secondary.fast=4")
    assert result.code != 0
    contains(result.err, "more than `slow`")
    contains(wadi("secondary", run, "--set", "resolution=5").err, "secondary.amount=2")
    contains(wadi("secondary", "none.run").err, "no such run folder")


if __name__ == "__main__":
    main(globals())
