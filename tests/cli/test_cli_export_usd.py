"""wadi export --to usd: what is in the files, by a reader of our own and, with WADI_LONG=1, by three.js and TinyUSDZ."""
import json
import os
import shutil
import subprocess

import numpy as np

from cli_harness import Skipped, contains, good, is_equal, is_usage_error, main, read, shown, wadi, write
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


def three_and_tiny(folder):
    """Both readers' view of the layers, by their files' names."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "usd")
    for name in ("package.json", "read.mjs"):
        shutil.copy(os.path.join(here, name), name)
    if subprocess.run(["npm", "install", "--no-audit", "--no-fund"], capture_output=True, check=False).returncode != 0:
        raise Skipped("npm cannot install three and tinyusdz")
    names = [os.path.join(folder, name) for name in shown(folder) if name.endswith(".usdc")]
    out = subprocess.run(["node", "read.mjs", *names], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    return {os.path.basename(line["file"]): line for line in map(json.loads, out.stdout.splitlines())}


def test_long_two_readers_see_the_same():
    if not os.environ.get("WADI_LONG"):
        raise Skipped("WADI_LONG is not set")
    if not shutil.which("npm") or not shutil.which("node"):
        raise Skipped("npm is not installed")
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


if __name__ == "__main__":
    main(globals())
