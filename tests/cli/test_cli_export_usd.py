"""wadi export --to usd: what is in the files, by a reader of our own and, with WADI_LONG=1, by three.js and TinyUSDZ."""
import json
import os
import shutil
import subprocess

import numpy as np

from cli_harness import Skipped, contains, good, is_equal, is_usage_error, main, read, shown, wadi, write
from usd_stage import look
from usdc_reader import Layer

SCENE = """\
wadi: 1
name: two
solver: flip
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 12
frames: 4
materials: {sand.a: {kind: sand}, sand-a: {kind: sand}, water: {kind: water}, late: {kind: water}}
bodies:
- {material: sand.a, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.3]}}}
- {material: sand-a, shape: {box: {min: [0, 0.6, 0], max: [0.2, 0.8, 0.2]}}}
- {material: water, velocity: [1, 0, 0], shape: {sphere: {center: [0.6, 0.6, 0.6], radius: 0.2}}}
emitters:
- {material: late, start: 0.1, rate: 0.05, velocity: [0, 0, -1], shape: {sphere: {center: [0.8, 0.2, 0.8], radius: 0.15}}}
colliders:
- {name: post, shape: {box: {min: [0.7, 0.1, 0], max: [0.8, 0.2, 0.4]}}}
- {name: 2.ball, shape: {sphere: {center: [0.3, 0.8, 0.5], radius: 0.1}, translate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 0.5]]]}}}
render: {camera: {from: [3, -2, 2], to: [0.5, 0.5, 0.2], angle: 40}}
"""
SMALL = ["--set", "render.width=64", "--set", "render.height=36", "--threads", "1", "--quiet"]


def simulate(scene=SCENE, name="a.run"):
    write("scene.yaml", scene)
    good("run", "scene.yaml", "-o", name, "--quiet", "--threads", "1")
    return name


def read_ply(path):
    """Columns of the vertices of a binary PLY file."""
    with open(path, "rb") as file:
        header, data = file.read().split(b"end_header\n", 1)
    kinds = {"float": "<f4", "double": "<f8", "uint": "<u4", "uchar": "u1"}
    vertex = header.decode().split("element vertex ")[1].split("element face")[0].splitlines()
    fields = [line.split()[1:] for line in vertex[1:] if line.startswith("property")]
    return np.frombuffer(data, np.dtype([(name, kinds[kind]) for kind, name in fields]), int(vertex[0]))


def columns(table, names):
    return np.stack([table[name].astype("<f4") for name in names], axis=1)


def check_particles(layer, path, frame, ply):
    def value(name):
        return layer.at_time(f"{path}.{name}", frame)

    assert np.array_equal(value("points"), columns(ply, "xyz"))
    assert np.array_equal(value("velocities"), columns(ply, ("vx", "vy", "vz")))
    assert np.array_equal(value("ids"), ply["id"])
    assert np.array_equal(value("widths"), 2 * ply["radius"])
    assert np.array_equal(value("primvars:density"), ply["density"])


def check_frame(layer, frame, run="a.run"):
    """The frame's particles are those of PLY files, its meshes closed about them."""
    for prim, material in (("sand_a", "sand.a"), ("sand_a__1", "sand-a"), ("water", "water"), ("late", "late")):
        ply = read_ply(f"{run}/export/ply/{material}.particles.{frame:04d}.ply")
        check_particles(layer, f"/wadi/geo/{prim}/particles", frame, ply)
        mesh = f"/wadi/geo/{prim}/surface"
        points, corners = layer.at_time(mesh + ".points", frame), layer.at_time(mesh + ".faceVertexIndices", frame)
        assert np.all(layer.at_time(mesh + ".faceVertexCounts", frame) == 3)
        is_equal(len(corners), 3 * len(layer.at_time(mesh + ".faceVertexCounts", frame)))
        for name in ("normals", "velocities", "primvars:displayColor", "primvars:density"):
            is_equal(len(layer.at_time(f"{mesh}.{name}", frame)), len(points))
        is_equal(len(corners) == 0, len(points) == 0)
        assert len(ply) > 0 or len(points) == 0
        if len(points):
            edges = set(map(tuple, np.concatenate([corners.reshape(-1, 3)[:, [i, (i + 1) % 3]] for i in range(3)])))
            assert all((b, a) in edges for a, b in edges), "the mesh has a rim"
            low, high = layer.at_time(mesh + ".extent", frame)
            assert np.array_equal(low, points.min(0)) and np.array_equal(high, points.max(0))


def test_frames_are_the_particles_and_meshes_of_ply():
    run = simulate()
    contains(good("export", run, "--to", "usd", *SMALL[:-1]).out, "4 frames written, 0 kept")
    good("export", run, "--to", "ply", "--threads", "1", "--quiet")
    is_equal(shown("a.run/export/usd"), [*(f"two.{f:04d}.usdc" for f in range(1, 5)), "two.manifest.usdc", "two.sky.hdr",
                                         "two.static.usdc", "two.usda"])
    for frame in range(1, 5):
        layer = Layer(f"a.run/export/usd/two.{frame:04d}.usdc")
        check_frame(layer, frame)
        is_equal(layer.fields["/"]["upAxis"], "Z")
        is_equal((layer.fields["/"]["timeCodesPerSecond"], layer.fields["/"]["startTimeCode"]), (24, frame))
        late = len(layer.at_time("/wadi/geo/late/particles.points", frame))
        assert (late > 0) == (frame >= 4), (frame, late)  # frame f is at (f - 1) / 24 s
    contains(good("export", run, "--to", "usd", *SMALL[:-1]).out, "0 frames written, 4 kept")


def test_manifest_declares_what_frames_have():
    run = simulate()
    good("export", run, "--to", "usd", *SMALL)
    manifest = Layer("a.run/export/usd/two.manifest.usdc")
    for frame in range(1, 5):
        layer = Layer(f"a.run/export/usd/two.{frame:04d}.usdc")
        is_equal(layer.kinds, manifest.kinds)
        for path, fields in layer.fields.items():
            is_equal(fields.get("typeName"), manifest.fields[path].get("typeName"))
            if "timeSamples" in fields:
                is_equal(list(fields["timeSamples"]), [frame])
                # A value at no time would hide those of the clips.
                assert "default" not in manifest.fields[path] and "timeSamples" not in manifest.fields[path], path


def test_camera_colliders_and_what_never_moves():
    run = simulate()
    good("export", run, "--to", "usd", *SMALL)
    layer, still = Layer("a.run/export/usd/two.0003.usdc"), Layer("a.run/export/usd/two.static.usdc")
    camera = layer.at_time("/wadi/camera.xformOp:transform", 3)
    eye, target = np.array([3, -2, 2]), np.array([0.5, 0.5, 0.2])
    assert np.allclose(camera[3, :3], eye) and np.allclose(camera[:3, :3] @ camera[:3, :3].T, np.eye(3))
    assert np.allclose(-camera[2, :3], (target - eye) / np.linalg.norm(target - eye))
    aperture, focal = (layer.at_time(f"/wadi/camera.{name}", 3) for name in ("verticalAperture", "focalLength"))
    assert abs(np.degrees(2 * np.arctan(aperture / (2 * focal))) - 40) < 1e-4
    ball = layer.at_time("/wadi/colliders/_2_ball.points", 3)
    assert np.allclose((ball.min(0) + ball.max(0)) / 2, [0.3, 0.8, 0.5 + 0.5 * 2 / 24], atol=2e-3)
    assert "/wadi/colliders/post" in still.kinds and "/wadi/colliders/_2_ball" not in still.kinds
    assert all("timeSamples" not in fields for fields in still.fields.values())
    root = read("a.run/export/usd/two.usda")
    for text in ("@./two.manifest.usdc@", '"./two.####.usdc"', "templateEndTime = 4", "</wadi/materials/sand_a__1>"):
        contains(root, text)


def test_one_file_has_all_frames_and_y_up_turns_them():
    run = simulate()
    good("export", run, "--to", "usd", "--one-file", *SMALL)
    good("export", run, "--to", "ply", "--threads", "1", "--quiet")
    is_equal(shown("a.run/export/usd"), ["two.sky.hdr", "two.static.usdc", "two.usda", "two.usdc"])
    layer = Layer("a.run/export/usd/two.usdc")
    for frame in range(1, 5):
        check_frame(layer, frame)
    is_equal((layer.fields["/"]["startTimeCode"], layer.fields["/"]["endTimeCode"]), (1, 4))
    contains(read("a.run/export/usd/two.usda"), "@./two.usdc@")
    contains(good("export", run, "--to", "usd", "--one-file", *SMALL[:-1]).out, "0 frames written, 4 kept")
    good("export", run, "--to", "usd", "--one-file", "--up", "y", "-o", "y", *SMALL)
    turned = Layer("y/two.usdc")
    is_equal(turned.fields["/"]["upAxis"], "Y")
    for name in ("points", "velocities"):
        x, y, z = layer.at_time(f"/wadi/geo/water/particles.{name}", 4).T
        assert np.array_equal(turned.at_time(f"/wadi/geo/water/particles.{name}", 4), np.stack([x, z, -y], axis=1))


def test_same_bytes_for_any_thread_count():
    run = simulate()
    for threads in ("1", "2", "5"):
        good("export", run, "--to", "usd", "-o", threads, "--quiet", "--frames", "3-4", *SMALL[:4], "--threads", threads)
    for name in shown("1"):
        with open(f"1/{name}", "rb") as one:
            expected = one.read()
        for threads in ("2", "5"):
            with open(f"{threads}/{name}", "rb") as other:
                assert other.read() == expected, (name, threads)


def test_far_from_the_origin_nothing_is_rounded():
    """Coordinates are floats: what lies 100 km away keeps a tenth of a millimetre by a translation of /wadi."""
    far = simulate(SCENE, "near.run"), simulate("""\
wadi: 1
name: far
solver: points
domain: {min: [100000, 0, 0], max: [100001, 1, 1]}
resolution: 12
frames: 1
materials: {sand: {kind: sand}}
bodies:
- {material: sand, shape: {box: {min: [100000, 0, 0], max: [100000.4, 0.4, 0.3]}}}
""", "far.run")
    for run in far:
        good("export", run, "--to", "usd", "--frames", "1", *SMALL)
    good("export", "far.run", "--to", "ply", "--threads", "1", "--quiet")
    assert "/wadi.xformOp:transform" not in Layer("near.run/export/usd/two.0001.usdc").kinds
    layer = Layer("far.run/export/usd/far.0001.usdc")
    moved = layer.fields["/wadi.xformOp:transform"]["default"][3, :3]
    ply = read_ply("far.run/export/ply/sand.particles.0001.ply")
    expected = np.stack([ply[name].astype("<f8") for name in "xyz"], axis=1)
    assert np.abs(layer.at_time("/wadi/geo/sand/particles.points", 1) + moved - expected).max() < 1e-6


def test_one_file_is_for_usd_alone_and_stops_are_told():
    run = simulate()
    result = wadi("export", run, "--to", "pov", "--one-file")
    is_equal(result.code, 2)
    contains(result.err, "all frames in one file are for USD only, not for pov")
    contains(is_usage_error("export", run, "--to", "usdz"), "usd")


BOX = """\
wadi: 1
name: odd
cell_size: 0.04
frames: %d
domain: {min: [0, 0, 0], max: [0.6, 0.4, 0.5]%s}
materials: {water: {kind: water}, sand: {kind: sand}}
"""
ODD = {
    "adaptive": BOX % (4, "") + "solver: sph\nsph: {adaptive: {}}\nbodies:\n"
                "- {material: sand, shape: {box: {min: [0, 0, 0], max: [0.6, 0.4, 0.12]}}}\n"
                "- {material: water, shape: {box: {min: [0, 0, 0.12], max: [0.3, 0.4, 0.36]}}}\n",
    "stones": BOX % (4, "") + "solver: dem\nbodies: [{material: sand, shape: {box: {min: [0.1, 0.1, 0.05], max: [0.4, 0.3, 0.3]}}}]\n",
    "empty": BOX % (8, ", walls: {open: [z_min]}") + "solver: flip\nbodies:\n"
             "- {material: water, velocity: [0, 0, -4], shape: {sphere: {center: [0.3, 0.2, 0.15], radius: 0.1}}}\n"
             "emitters:\n- {material: sand, start: 0.2, rate: 0.01, velocity: [0, 0, -1], "
             "shape: {sphere: {center: [0.3, 0.2, 0.4], radius: 0.06}}}\n",
    "deform": BOX % (4, "") + "solver: flip\nbodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.2, 0.4, 0.4]}}}]\n"
              "colliders:\n- {name: flag, shape: {mesh_sequence: {files: 'flag.%04d.obj', first: 1, last: 4, fps: 24}}}\n",
}
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def flag(frame):
    """Corners of a block that is sheared from frame to frame."""
    return CORNERS * (0.1, 0.1, 0.2) + (0.3, 0.2, 0.1) + np.outer(CORNERS[:, 0], (0, 0, 0.02 * frame))


def check_lengths(layer):
    """What is given at points is given at each, and is finite; corners of triangles are among the points."""
    arrays = {}
    for path, fields in layer.fields.items():
        for value in (fields.get("default"), *fields.get("timeSamples", {}).values()):
            if isinstance(value, np.ndarray):
                assert value.dtype.kind != "f" or np.isfinite(value).all(), path
                arrays[path] = value
    prims = [path for path, fields in layer.fields.items() if fields.get("typeName") in ("Mesh", "Points")]
    for prim in prims:
        points = len(arrays[prim + ".points"])
        for path, value in arrays.items():
            name = path[len(prim) + 1:] if path.startswith(prim + ".") else ""
            if name in ("velocities", "normals", "widths", "ids") or name.startswith("primvars:"):
                assert len(value) in (points, 1), (path, len(value), points)
        if layer.fields[prim]["typeName"] == "Mesh":
            corners = arrays[prim + ".faceVertexIndices"]
            is_equal(len(corners), int(arrays[prim + ".faceVertexCounts"].sum()))
            assert len(corners) == 0 or corners.max() < points, prim
    return prims


def test_other_solvers_empty_frames_and_colliders_that_deform():
    for frame in range(1, 5):
        write(f"flag.{frame:04d}.obj", "".join("v %.17g %.17g %.17g\n" % tuple(p) for p in flag(frame)) +
              "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
    for name, scene in ODD.items():
        run = simulate(scene, name + ".run")
        good("secondary", run, "--threads", "1", "--quiet")
        for options in (("usd",), ("ply",), ("usd", "--one-file", "-o", "one")):
            good("export", run, "--to", *options, *(SMALL if options[0] == "usd" else ("--threads", "1", "--quiet")))
        one, counts = Layer("one/odd.usdc"), []
        shutil.rmtree("one")
        for frame in range(1, 9 if name == "empty" else 5):
            layer = Layer(f"{run}/export/usd/odd.{frame:04d}.usdc")
            prims = check_lengths(layer)
            assert "/wadi/foam" in prims or name == "stones", prims
            for material in ("water", "sand"):
                prim = f"/wadi/geo/{material}/particles"
                if prim in prims:
                    ply = read_ply(f"{run}/export/ply/{material}.particles.{frame:04d}.ply")
                    check_particles(layer, prim, frame, ply)
                    assert np.array_equal(layer.at_time(prim + ".points", frame), one.at_time(prim + ".points", frame))
                    counts.append(len(ply))
            if name == "deform":
                found = layer.at_time("/wadi/colliders/flag.points", frame)
                distances = np.linalg.norm(found[:, None] - flag(frame)[None], axis=2)
                assert distances.min(1).max() < 1e-6 and distances.min(0).max() < 1e-6, frame
        if name == "empty":
            assert counts[0] > 0 and counts[4:10] == [0] * 6 and counts[-1] > 0, counts  # frames 3 to 5 have nothing
        if name == "adaptive":
            widths = layer.at_time("/wadi/geo/water/particles.widths", 4)
            assert widths.max() > 1.2 * widths.min()  # of several sizes


def install_readers():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "usd")
    if not os.environ.get("WADI_LONG"):
        raise Skipped("WADI_LONG is not set")
    if not shutil.which("npm") or not shutil.which("node"):
        raise Skipped("npm is not installed")
    for name in ("package.json", "read.mjs"):
        shutil.copy(os.path.join(here, name), name)
    install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]
    if subprocess.run(install, capture_output=True, check=False).returncode != 0:
        raise Skipped("npm cannot install the readers")


def three_and_tiny(folder):
    """Both readers' view of the layers, by their files' names."""
    names = [os.path.join(folder, name) for name in shown(folder) if name.endswith(".usdc")]
    out = subprocess.run(["node", "read.mjs", *names], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    return {os.path.basename(line["file"]): line for line in map(json.loads, out.stdout.splitlines())}


def test_long_two_readers_see_the_same():
    install_readers()
    # TinyUSDZ refuses a file with a mesh without points: none of these is empty.
    run = simulate("\n".join(line for line in SCENE.splitlines() if "late, start" not in line and line != "emitters:")
                   .replace(", late: {kind: water}", "") + "\n")
    good("export", run, "--to", "usd", *SMALL)
    for name, seen in three_and_tiny("a.run/export/usd").items():
        layer = Layer(f"a.run/export/usd/{name}")
        is_equal(seen["paths"], len(layer.kinds))
        expected = {}
        for path, fields in layer.fields.items():
            for time, values in fields.get("timeSamples", {}).items():
                if isinstance(values, np.ndarray) and values.dtype != np.dtype("<i8") and "/camera" not in path:
                    expected[f"{path}@{time:g}"] = [values.size, float(values.astype("f8").sum())]
        is_equal(sorted(seen["arrays"]), sorted(expected))
        for key, (size, total) in expected.items():
            is_equal(seen["arrays"][key][0], size)
            assert abs(seen["arrays"][key][1] - total) <= 1e-9 * max(1.0, size * abs(total)), key
        if name != "two.manifest.usdc":
            meshes = [path for path, fields in layer.fields.items() if fields.get("typeName") == "Mesh"]
            points = {path: layer.fields[path + ".points"]["default"] for path in meshes}
            is_equal(sorted(seen["tiny"]), sorted(meshes))
            for path, (count, total) in seen["tiny"].items():
                is_equal(count, points[path].size)
                assert abs(total - points[path].astype("f8").sum()) < 1e-6 * count, path


def check_composed(seen, layer, frame):
    """Points and corners at a time are those of the frame's file, with the materials of the stage."""
    for prim in ("sand_a", "sand_a__1", "water", "late"):
        path = f"/wadi/geo/{prim}/surface"
        points, corners = layer.at_time(path + ".points", frame), layer.at_time(path + ".faceVertexIndices", frame)
        for found, values in ((seen[path]["points"], points), (seen[path].get("corners", [0, 0]), corners)):
            is_equal(found[0], values.size)
            assert abs(found[1] - values.astype("f8").sum()) <= 1e-6 * max(1, values.size), (path, frame)
        is_equal(seen[path]["material"], "/wadi/materials/" + prim)
        for name in ("velocities", "displayColor"):
            is_equal(seen[path]["primvars"].get(name), [len(points), "vertex"])
    ball = layer.at_time("/wadi/colliders/_2_ball.points", frame).astype("f8").sum()
    assert abs(seen["/wadi/colliders/_2_ball"]["points"][1] - ball) < 1e-3


def test_long_openusd_composes_the_stage():
    """Value clips and one file, in and out of order; OpenUSD says nothing about our files."""
    install_readers()
    if not shutil.which("chromium"):
        raise Skipped("chromium is not installed")
    run = simulate()
    good("export", run, "--to", "usd", *SMALL)
    good("export", run, "--to", "usd", "--one-file", "-o", "one", *SMALL)
    for folder in ("a.run/export/usd", "one"):
        seen, said = look("node_modules", folder, "two.usda", [4, 1, 2, 3])
        assert not [text for text in said if "two." in text or "/wadi" in text], said
        for frame in range(1, 5):
            check_composed(seen[frame], Layer(f"a.run/export/usd/two.{frame:04d}.usdc"), frame)


if __name__ == "__main__":
    main(globals())
