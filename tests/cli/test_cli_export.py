"""wadi export against the real binary: files, events, refusals; with WADI_LONG=1 also POV-Ray and Blender, which draw them."""
import json
import os
import re
import struct
import subprocess

from cli_harness import (SCENE, Skipped, contains, events_of, good, is_equal, is_usage_error, main, needs, read, shown,
                         wadi, write)
from pbrt_reader import Reader
from test_cli_run import documented_events

TWO = """\
wadi: 1
name: two
solver: points
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 12
frames: 3
materials: {sand: {kind: sand}, water: {kind: water}}
bodies:
- {material: sand, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.3]}}}
- {material: water, velocity: [1, 0, 0], shape: {sphere: {center: [0.6, 0.6, 0.6], radius: 0.2}}}
colliders: [{name: post, shape: {box: {min: [0.7, 0.1, 0], max: [0.8, 0.2, 0.4]}}}]
"""
SMALL = ["--set", "render.width=64", "--set", "render.height=36", "--threads", "1"]


def simulate(scene=TWO, name="a.run", frames=None):
    write("scene.yaml", scene)
    good("run", "scene.yaml", "-o", name, "--quiet", "--threads", "1", *(["--frames", frames] if frames else []))
    return name


def files(run, target):
    return shown(os.path.join(run, "export", target))


def is_long_run():
    if not os.environ.get("WADI_LONG"):
        raise Skipped("WADI_LONG is not set")


def test_pov_tells_what_it_made_and_keeps_it():
    run = simulate()
    out = good("export", run, "--to", "pov", *SMALL).out
    contains(out, "3 frames written, 0 kept")
    contains(out, "a.run/export/pov")
    is_equal(files(run, "pov"), ["two.0001.pov", "two.0002.pov", "two.0003.pov", "two.inc", "two.sky.hdr",
                                  "two.solid.0.inc"])
    first = read("a.run/export/pov/two.0002.pov")
    contains(good("export", run, "--to", "pov", *SMALL).out, "0 frames written, 3 kept")
    # Edits by the user in the shared file are kept until a setting changes.
    write("a.run/export/pov/two.inc", read("a.run/export/pov/two.inc") + "// mine\n")
    os.remove("a.run/export/pov/two.0002.pov")
    contains(good("export", run, "--to", "pov", *SMALL).out, "1 frame written, 2 kept")
    contains(read("a.run/export/pov/two.inc"), "// mine")
    is_equal(read("a.run/export/pov/two.0002.pov"), first)
    contains(good("export", run, "--to", "pov", *SMALL, "--force", "--frames", "2").out, "1 frame written")
    assert "// mine" not in read("a.run/export/pov/two.inc")
    result = good("export", run, "--to", "pov", "--quiet", *SMALL, "--set", "materials.sand.look.grains=2")
    is_equal((result.out, result.err), ("", ""))
    assert len(read("a.run/export/pov/two.0002.pov")) < len(first)


def test_same_bytes_for_any_thread_count():
    run = simulate()
    for threads in ("1", "2", "5"):
        for target in ("pov", "pbrt", "ply", "blender"):
            good("export", run, "--to", target, "-o", f"{target}.{threads}", "--frames", "3", "--threads", threads,
                 "--quiet")
    for target in ("pov", "pbrt", "ply", "blender"):
        names = shown(f"{target}.1")
        assert len(names) >= 3
        for threads in ("2", "5"):
            is_equal(shown(f"{target}.{threads}"), names)
            for name in names:
                with open(f"{target}.1/{name}", "rb") as one, open(f"{target}.{threads}/{name}", "rb") as other:
                    assert one.read() == other.read(), f"{target}/{name} with {threads} threads"


def test_pbrt_is_what_the_format_allows():
    run = simulate()
    good("export", run, "--to", "pbrt", "--set", "render.walls=glass", "--set", "render.ground=checker", *SMALL)
    scene = Reader("a.run/export/pbrt/two.0003.pbrt")
    is_equal(scene.options["Film"][1], {"xresolution": [64], "yresolution": [36], "filename": ["two.0003.exr"]})
    is_equal(sorted(kind for kind, _ in scene.lights), ["distant", "infinite"])
    kinds = [kind for kind, *_ in scene.shapes]
    grains = json.loads(good("export", run, "--to", "pbrt", "--frames", "3", "--force", "--json", "--set",
                             "render.walls=glass", "--set", "render.ground=checker", *SMALL).out.splitlines()[0])["grains"]
    is_equal(kinds.count("sphere"), grains)
    is_equal(kinds.count("bilinearmesh"), 1)
    water = [shape for shape in scene.shapes if shape[3] is not None]
    is_equal([(shape[0], shape[2][0], shape[3]) for shape in water], [("plymesh", "dielectric", "water inside")])
    is_equal(sum(shape[2][0] == "thindielectric" for shape in scene.shapes), 4)
    # Every grain lies inside the block of sand, up to its own radius.
    for kind, values, _, _, transform in scene.shapes:
        if kind == "sphere":
            assert -0.1 < transform[12] < 0.5 and -0.1 < transform[13] < 0.5 and 0 < values["radius"][0] < 0.1


FLYING = """\
wadi: 1
name: fly
solver: points
gravity: [0, 0, 0]
fps: 20
cell_size: 0.1
frames: 2
materials: {sand: {kind: sand, look: {style: balls}}}
bodies: [{material: sand, velocity: [2, 0, 0], shape: {sphere: {radius: 0.2}}}]
render: {shutter: 0.5, camera: {from: [0, -2, 0], to: [0, 0, 0]}}
"""


def test_spheres_are_swept_by_their_velocity():
    """2 m/s over half of 0.05 s: 50 mm, half of it before the frame's time."""
    run = simulate(FLYING, "fly.run")
    good("export", run, "--to", "ply", "--quiet")
    good("export", run, "--to", "pbrt", "--quiet", *SMALL)
    scene = Reader("fly.run/export/pbrt/fly.0002.pbrt")
    ways = [[b - a for a, b in zip(shape[4][12:15], end[12:15])]
            for shape, end in zip(scene.shapes, scene.ends) if shape[0] == "sphere"]
    assert len(ways) > 30
    for way in ways:
        assert abs(way[0] - 0.05) < 1e-3 and abs(way[1]) < 1e-3 and abs(way[2]) < 1e-3, way
    middles = [0.5 * (shape[4][12] + end[12]) for shape, end in zip(scene.shapes, scene.ends) if shape[0] == "sphere"]
    assert abs(sum(middles) / len(middles) - 0.1) < 0.02, "at the frame's time, 0.05 s, the ball is at 0.1 m"
    good("export", run, "--to", "pov", "--quiet", *SMALL)
    moving = re.findall(r"sphere\{<[^>]*>\+clock\*<([^>]*)>", read("fly.run/export/pov/fly.0002.pov"))
    is_equal(len(moving), len(ways))
    assert all(abs(float(way.split(",")[0]) - 0.05) < 1e-3 for way in moving), moving[:3]
    # Without a shutter nothing moves.
    good("export", run, "--to", "pov", "-o", "still", "--quiet", *SMALL, "--set", "render.shutter=0")
    good("export", run, "--to", "pbrt", "-o", "still", "--quiet", *SMALL, "--set", "render.shutter=0")
    assert "clock" not in read("still/fly.0002.pov") and "ActiveTransform" not in read("still/fly.0002.pbrt")


def read_points(path):
    with open(path, "rb") as file:
        header, data = file.read().split(b"end_header\n", 1)
    kinds = {"float": "f", "double": "d", "uint": "I", "uchar": "B"}
    fields = re.findall(r"^property (\w+) (\w+)$", header.decode(), re.M)
    count = int(re.search(r"element vertex (\d+)", header.decode()).group(1))
    record = struct.Struct("<" + "".join(kinds[kind] for kind, _ in fields))
    is_equal(len(data), count * record.size)
    return [dict(zip((name for _, name in fields), values)) for values in record.iter_unpack(data)]


def test_ply_has_the_meshes_of_surface_and_the_particles():
    run = simulate()
    good("export", run, "--to", "ply", "--threads", "1")
    good("surface", run, "--quiet", "--threads", "1")
    for name in shown("a.run/surface"):
        with open(f"a.run/surface/{name}", "rb") as one, open(f"a.run/export/ply/{name}", "rb") as other:
            assert one.read() == other.read(), name
    points = read_points("a.run/export/ply/water.particles.0003.ply")
    counts = json.loads(read("a.run/run.json"))["particles"]
    is_equal((len(points), len(read_points("a.run/export/ply/sand.particles.0003.ply"))),
             (counts["water"], counts["sand"]))
    time = 2 / 24
    for point in points:
        assert abs(point["vx"] - 1) < 1e-5 and abs(point["vz"] + 9.81 * time) < 1e-4, point
        assert point["material"] == 1 and point["radius"] > 0 and point["density"] == 1000, point
    is_equal(len({point["id"] for point in points}), len(points))
    turned = {p["id"]: p for p in (good("export", run, "--to", "ply", "--up", "y", "-o", "y", "--frames", "3") and
                                   read_points("y/water.particles.0003.ply"))}
    for p in points:
        q = turned[p["id"]]
        is_equal((q["x"], q["y"], q["z"], q["vy"]), (p["x"], p["z"], -p["y"], p["vz"]))
    contains(good("export", run, "--to", "ply", "--threads", "1").out, "0 frames written, 3 kept")


def test_obj_with_y_up_stands_on_y():
    run = simulate()
    for up in ("y", "z"):
        good("export", run, "--to", "obj", "--up", up, "-o", up, "--frames", "1", "--quiet")
    corners = {}
    for up in ("y", "z"):
        lines = [line.split()[1:] for line in read(f"{up}/sand.0001.obj").splitlines() if line.startswith("v ")]
        corners[up] = [tuple(float(value) for value in line) for line in lines]
    is_equal(len(corners["y"]), len(corners["z"]))
    for a, b in zip(corners["y"], corners["z"]):
        assert abs(a[0] - b[0]) + abs(a[1] - b[2]) + abs(a[2] + b[1]) < 1e-6, (a, b)


def test_blender_files_say_what_there_is():
    run = simulate()
    out = good("export", run, "--to", "blender", *SMALL).out
    contains(out, "blender -P a.run/export/blender/load.py -- --scene")
    frame = json.loads(read("a.run/export/blender/two.0003.json"))
    is_equal([(item["name"], item["kind"]) for item in frame["objects"]],
             [("sand", "particles"), ("sand", "grains"), ("sand", "mesh"), ("water", "mesh"), ("post", "solid")])
    for item in frame["objects"]:
        assert os.path.exists(os.path.join("a.run/export/blender", item["file"])), item
    scene = json.loads(read("a.run/export/blender/scene.json"))
    is_equal([look["look"] for look in scene["materials"]], ["sand", "water"])
    assert abs(sum(colour[3] for colour in scene["materials"][0]["palette"]) - 1) < 1e-5
    compile(read("a.run/export/blender/load.py"), "load.py", "exec")


MOVER = """\
- {name: mover, shape: {sphere: {center: [0.2, 0.7, 0.2], radius: 0.1},
                        translate: {keys: [[0, [0, 0, 0]], [1, [0.3, 0, 0]]]}}}
"""


def test_a_solid_that_stands_still_has_one_file_for_all_frames():
    two = TWO.replace("colliders: [{name: post, shape: {box: {min: [0.7, 0.1, 0], max: [0.8, 0.2, 0.4]}}}]\n", """\
colliders:
- {name: post, shape: {box: {min: [0.7, 0.1, 0], max: [0.8, 0.2, 0.4]}}}
""" + MOVER)
    run = simulate(two)
    for target, stem, ending in (("blender", "solid", "ply"), ("pbrt", "two.solid", "ply"), ("pov", "two.solid", "inc")):
        folder = f"a.run/export/{target}"
        good("export", run, "--to", target, *SMALL)
        moving = [f"{stem}.1.{frame:04d}.{ending}" for frame in (1, 2, 3)] if target != "pov" else []
        is_equal([name for name in files(run, target) if "solid." in name], [f"{stem}.0.{ending}"] + moving)
        contains(good("export", run, "--to", target, *SMALL).out, "0 frames written, 3 kept")
        # Damaged, it is written again, with the first frame that uses it.
        whole = open(f"{folder}/{stem}.0.{ending}", "rb").read()
        with open(f"{folder}/{stem}.0.{ending}", "ab") as file:
            file.write(b"x")
        contains(good("export", run, "--to", target, *SMALL).out, "1 frame written, 2 kept")
        is_equal(open(f"{folder}/{stem}.0.{ending}", "rb").read(), whole)
        os.remove(f"{folder}/{stem}.0.{ending}")
        good("export", run, "--to", target, *SMALL, "--frames", "3")
        is_equal(open(f"{folder}/{stem}.0.{ending}", "rb").read(), whole)
    # Without a domain, what is drawn of the ground follows the particles.
    run = simulate(TWO.replace("domain: {min: [0, 0, 0], max: [1, 1, 1]}\nresolution: 12", "cell_size: 0.08")
                   .replace("box: {min: [0.7, 0.1, 0], max: [0.8, 0.2, 0.4]}", "half_space: {point: [0, 0, 0], normal: [0, 0, 1]}"),
                   "b.run")
    good("export", run, "--to", "blender", *SMALL)
    is_equal(len([name for name in files(run, "blender") if name.startswith("solid.0.0")]), 3)


def in_blender(*arguments, timeout=600):
    needs("blender")
    environment = {**os.environ, "PWD": os.getcwd()}  # where Blender looks for relative paths
    result = subprocess.run(["blender", "-b", "--python-exit-code", "3", *arguments], capture_output=True, text=True, check=False,
                            env=environment, timeout=timeout)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout


OWN = """\
import bpy, json
scene = bpy.context.scene
cube = bpy.data.objects["Cube"]
facts = [sorted(o.name for o in scene.objects if "wadi_kind" not in o), scene.camera.name, scene.world.name,
         sorted(world.name for world in bpy.data.worlds), scene.render.engine, scene.render.fps, scene.render.fps_base,
         scene.render.resolution_x, scene.frame_start, scene.frame_end, scene.view_settings.exposure, len(bpy.data.scenes),
         scene.view_settings.view_transform, list(cube.location), len(cube.data.vertices)]
print("facts", json.dumps(facts))
for frame in range(1, 4):
    scene.frame_set(frame)
    shown = {o.name: [len(o.data.vertices), round(sum(v.co.x for v in o.data.vertices), 3)] for c in scene.collection.children for o in c.objects if "wadi_kind" in o}
    print("shown", frame, json.dumps(shown, sort_keys=True))
"""
EDIT = """\
import bpy
scene = bpy.context.scene
scene.render.engine, scene.render.fps, scene.render.resolution_x, scene.frame_end = "BLENDER_WORKBENCH", 30, 777, 99
"""


LINK = """\
import bpy
with bpy.data.libraries.load(bpy.path.abspath("//saved.blend"), link=True) as (there, here):
    here.collections = [name for name in there.collections if name.startswith("wadi")]
bpy.context.scene.collection.children.link(here.collections[0])
"""


def lines_of(out, word):
    return [line for line in out.splitlines() if line.startswith(word)]


def test_blender_leaves_the_rest_alone_and_a_saved_file_lives():
    needs("blender")
    run = simulate()
    good("export", run, "--to", "blender", *SMALL)
    write("own.py", OWN)
    write("edit.py", EDIT)
    load = "a.run/export/blender/load.py"
    before = in_blender("--factory-startup", "-P", "edit.py", "-P", "own.py")
    out = in_blender("--factory-startup", "-P", "edit.py", "-P", load, "-P", load, "-P", "own.py", "--",
                     "--save", os.path.abspath("saved.blend"))
    is_equal(lines_of(out, "facts"), lines_of(before, "facts"))
    shown = lines_of(out, "shown")
    is_equal(len(shown), 3)
    assert len(set(line[7:] for line in shown)) == 3, shown  # each frame has its own surface
    assert len(json.loads(shown[0].split(" ", 2)[2])) == 5, shown  # loaded twice, there once
    contains(out, "30: it plays at another speed")
    # Opened again, it goes on; also when it was moved with the run; without the run it says what is missing.
    is_equal(lines_of(in_blender("-y", "saved.blend", "-P", "own.py"), "shown"), shown)
    # Linked into another file.
    write("link.py", LINK.replace("//saved.blend", os.path.abspath("saved.blend")))
    is_equal(lines_of(in_blender("--factory-startup", "-P", "link.py", "-P", load, "-P", "own.py"), "shown"), shown)
    os.makedirs("elsewhere/blend")
    os.rename("saved.blend", "elsewhere/blend/saved.blend")
    os.rename("a.run", "elsewhere/a.run")
    is_equal(lines_of(in_blender("-y", "elsewhere/blend/saved.blend", "-P", "own.py"), "shown"), shown)
    os.rename("elsewhere/a.run", "elsewhere/b.run")
    out = in_blender("-y", "elsewhere/blend/saved.blend", "-P", "own.py")
    is_equal(out.count("export the run again"), 1, out)
    is_equal(len(set(line.split(" ", 2)[2] for line in lines_of(out, "shown"))), 1)


def test_json_events_have_the_documented_keys():
    run = simulate()
    documented = documented_events()
    result = good("export", run, "--to", "pov", "--json", *SMALL)
    events = events_of(result.out)
    is_equal(result.err, "")
    is_equal([event["event"] for event in events], ["export"] * 3 + ["exports"])
    for event in events:
        is_equal(set(event) - {"event"}, documented[event["event"]], event)
    is_equal([event["frame"] for event in events[:-1]], [1, 2, 3])
    error = events_of(wadi("export", "none.run", "--to", "pov", "--json").out)[-1]
    is_equal((error["event"], error["status"]), ("error", "io"))


def test_refusals():
    run = simulate()
    contains(is_usage_error("export", run), "--to is missing")
    contains(is_usage_error("export", run, "--to", "maya"), "pov, pbrt, blender")
    contains(is_usage_error("export", run, "--to", "pov", "--frames", "3-2"), "--frames")
    contains(is_usage_error("export", run, "--to", "pov", "--up", "x"), "y or z")
    for arguments, part in ((("--to", "pov", "--frames", "2-9"), "has frames up to 3"),
                            (("--to", "vdb", "--up", "y"), "z up"),
                            (("--to", "blender", "--up", "y"), "z is up")):
        result = wadi("export", run, *arguments)
        assert result.code != 0, result
        contains(result.err, part)
    result = wadi("export", run, "--to", "pov", "--set", "resolution=9")
    is_equal(result.code, 2, result)
    contains(result.err, "the run is made")
    result = wadi("export", run, "--to", "ply", "--set", "render.width=9")
    is_equal(result.code, 2, result)


def test_trouble_is_told_and_leaves_no_half_files():
    run = simulate()
    write("taken", "a file")
    for target in ("pov", "pbrt", "blender", "ply", "obj"):
        result = wadi("export", run, "--to", target, "-o", "taken/inside", *SMALL[-2:])
        is_equal(result.code, 1, result)
        contains(result.err, "taken")
    # First a missing frame, then a damaged one: the message names the file.
    os.rename("a.run/particles/two.0002.h5", "hidden")
    result = wadi("export", run, "--to", "pov", "-o", "out", "--frames", "1-3", *SMALL)
    assert result.code != 0, result
    contains(result.err, "two.0002.h5")
    os.rename("hidden", "a.run/particles/two.0002.h5")
    with open("a.run/particles/two.0002.h5", "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\xff" * 100)
    result = wadi("export", run, "--to", "pov", "-o", "out", *SMALL)
    is_equal(result.code, 1, result)
    contains(result.err, "two.0002.h5")
    assert not os.path.exists("out") or shown("out") == [], shown("out")


def shows_the_same(picture, drawn):
    """Sand, which is yellower than all else, lies at the same place: moved by 6 of 96 columns the two would agree to 0.6 only."""
    from png_reader import read_png  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    yellow = [(image[..., 0] - image[..., 2]).reshape(18, 3, 32, 3).mean((1, 3)).ravel()
              for image in (read_png(picture), read_png(drawn))]
    agreement = np.corrcoef(*yellow)[0, 1]
    assert agreement > 0.9, agreement


def draw_with_povray(folder, name, picture):
    result = subprocess.run(["povray", f"+I{name}", f"+O{picture}", "+W96", "+H54", "-D", "-A"], cwd=folder,
                            capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stderr[-2000:]
    complaints = [line for line in result.stderr.splitlines()
                  if re.search(r"warning|error", line, re.I) and "Stream" not in line]
    is_equal(complaints, [])


LONG = TWO.replace("solver: points", "solver: flip").replace("frames: 3", "frames: 24")
SIZE = ["--set", "render.width=96", "--set", "render.height=54"]
PLAIN = ["--set", "render.ground=plain", "--set", "render.ground_colour=[0.72, 0.7, 0.67]"]


def test_long_povray_draws_without_a_warning_what_wadi_draws():
    is_long_run()
    needs("povray")
    run = simulate(LONG, frames="8")
    good("render", run, "--frames", "8", "--no-video", "--quiet", *SIZE, *PLAIN)
    for options in ([], ["--up", "y"]):
        good("export", run, "--to", "pov", "--frames", "8", "-o", "out", "--force", "--quiet", *SIZE, *options)
        draw_with_povray("out", "two.0008.pov", os.path.abspath("drawn.png"))  # slabs, without a complaint
        good("export", run, "--to", "pov", "--frames", "8", "-o", "out", "--force", "--quiet", *SIZE, *PLAIN, *options)
        draw_with_povray("out", "two.0008.pov", os.path.abspath("drawn.png"))
        shows_the_same("a.run/images/two.0008.png", "drawn.png")
    good("export", run, "--to", "pov", "--frames", "8", "-o", "out", "--quiet", *SIZE, "--set", "render.walls=glass",
         "--set", "render.ground=checker", "--set", "materials.water.look.style=balls")
    draw_with_povray("out", "two.0008.pov", os.path.abspath("drawn.png"))


WALK = """\
import bpy
for frame in range(1, 25):
    bpy.context.scene.frame_set(frame)
    sand, water = (bpy.data.objects[name].data for name in ("sand", "water"))
    assert {"velocity", "wetness", "colour"} <= set(sand.attributes.keys()), sand.attributes.keys()
    assert sand.attributes["grain_origin"].domain == "FACE"
    assert "velocity" in water.attributes and len(water.polygons) > 100
    print("frame", frame, len(sand.polygons), len(water.polygons))
"""


def test_long_blender_shows_24_frames_and_draws_what_wadi_draws():
    is_long_run()
    needs("blender")
    run = simulate(LONG)
    good("render", run, "--frames", "8", "--no-video", "--quiet", *SIZE, *PLAIN)
    good("export", run, "--to", "blender", "--quiet", *SIZE, *PLAIN)
    write("walk.py", WALK)
    script = os.path.abspath(os.path.join(run, "export/blender/load.py"))
    out = in_blender("-P", script, "-P", "walk.py", "--", "--frame", "8", "--render", os.path.abspath("drawn.png"), "--samples",
                     "8")
    lines = [line.split() for line in lines_of(out, "frame ")]
    is_equal([int(line[1]) for line in lines], list(range(1, 25)))
    assert int(lines[-1][2]) > 100, lines[-1]
    shows_the_same("a.run/images/two.0008.png", "drawn.png")


if __name__ == "__main__":
    main(globals())
