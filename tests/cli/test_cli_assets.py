"""Meshes, height maps and pictures that a scene names: a run folder holds copies, so it can be moved and used alone."""
import json
import os
import shutil
import struct
import zlib

from cli_harness import ROOT, contains, good, hash_in, is_equal, last_event, main, read, wadi, write

HEAD = """\
wadi: 1   # the version
solver: points
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 8
frames: 2
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.7], radius: 0.2}}}]
"""
DRAFT = ("--quality", "draft", "--size", "64x48", "--threads", "1", "--no-video", "-q")


def tetra(path, size=0.3, at=(0.5, 0.5, 0.0), extra=""):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    x, y, z = at
    write(path, f"{extra}v {x} {y} {z}\nv {x + size} {y} {z}\nv {x} {y + size} {z}\nv {x} {y} {z + size}\n"
                "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")


def gltf(path, buffer):
    """A tetrahedron in glTF with its numbers in a separate binary file."""
    points = [0.5, 0.0, 0.5, 0.8, 0.0, 0.5, 0.5, 0.3, 0.5, 0.5, 0.0, 0.8]
    data = struct.pack("<12f12H", *points, 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.path.join(os.path.dirname(path), buffer), "wb") as file:
        file.write(data)
    write(path, json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"uri": buffer, "byteLength": len(data)}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48},
                        {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3",
                       "min": [0.5, 0.0, 0.5], "max": [0.8, 0.3, 0.8]},
                      {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}]}))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def height_map(path, scale=20):
    rows = b"".join(b"\0" + bytes([scale * y, 40 * y, 60]) for y in range(4))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 4, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def sky(path):
    with open(path, "wb") as file:
        file.write(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n" + bytes([128, 128, 200, 128]) * 8)


def named_files(run):
    """Paths of all files in RUN/assets, relative to it."""
    found = []
    for folder, _, names in os.walk(os.path.join(run, "assets")):
        found += [os.path.join(folder, name) for name in names]
    return sorted(os.path.basename(name) for name in found)


def test_moved_run_of_a_mesh_scene_is_drawn_exported_and_continued():
    shutil.copytree(os.path.join(ROOT, "scenes", "bucket"), "project")
    coarse = ("--set", "cell_size=0.07", "--threads", "1")
    good("run", "project/bucket.yaml", *coarse, "--frames", "2", "-q")
    whole = last_event("project/bucket.yaml", *coarse, "--frames", "3", "-o", "whole.run")["state_hash"]
    os.mkdir("elsewhere")
    shutil.move("bucket.run", "elsewhere/50% done.run")
    shutil.rmtree("project")
    os.chdir("elsewhere")
    good("render", "50% done.run", *DRAFT)
    assert os.path.getsize("50% done.run/images/bucket.0002.png") > 1000
    for target in ("pov", "pbrt", "blender", "ply", "obj"):
        good("export", "50% done.run", "--to", target, "--frames", "1", "--threads", "1", "-q")
    good("surface", "50% done.run", "--threads", "1", "-q")
    good("run", "50% done.run/scene.yaml", "-o", "50% done.run", "--resume", "--frames", "3", "-q")
    is_equal(hash_in("50% done.run"), whole)
    is_equal(named_files("50% done.run"), ["bucket.obj"])


def mixed_scene():
    """A scene with every kind of file, named in every way."""
    tetra("p/a/rock.obj")
    tetra("p/b/rock.obj", size=0.2)
    tetra("far away/rock, 3.obj", size=0.1, extra="mtllib none.mtl\nusemtl none\n")
    for i in (3, 4, 5):
        tetra(f"p/wave/w.{i:03d}.obj", at=(0.1, 0.1, 0.01 * i))
    gltf("p/g/rock.gltf", "rock_data.bin")
    height_map("p/hills.png")
    sky("p/sky.hdr")
    write("p/mixed.yaml", HEAD + f"""\
colliders:
  - {{shape: {{mesh: {{file: &rock a/rock.obj}}}}}}   # the first rock
  - {{shape: {{mesh: {{file: "b/rock.obj"}}, translate: [0.2, 0, 0]}}}}
  - {{shape: {{mesh: {{file: *rock}}, translate: [0, 0.2, 0]}}}}
  - shape:
      mesh:
        file: '{os.path.abspath("far away/rock, 3.obj")}'
      translate: [-0.3, 0, 0]
  - {{shape: {{mesh_sequence: {{files: wave/w.%03d.obj, first: 3, last: 5, fps: 24}}}}}}
  - {{shape: {{mesh: {{file: g/rock.gltf}}, translate: [0.1, 0, 0]}}}}
  - {{shape: {{heightmap: {{file: hills.png, min: [0, 0, 0], max: [1, 1, 0.1]}}}}}}
render: {{light: {{environment: sky.hdr}}}}
""")
    return "p/mixed.yaml"


def test_pipes_are_not_waited_for():
    scene = mixed_scene()
    for path in ("p/a/rock.obj", "p/wave/w.004.obj", "p/g/rock.gltf", "p/g/rock_data.bin", "p/hills.png", "p/sky.hdr"):
        os.rename(path, "kept")
        os.mkfifo(path)
        result = wadi("check", scene, timeout=20)
        is_equal(result.code, 2, (path, result))
        contains(result.err, "not a regular file")
        os.replace("kept", path)
    good("check", scene)


def test_every_kind_of_file_moves_with_the_run():
    scene = mixed_scene()
    first = last_event(scene, "--threads", "1")["state_hash"]
    text = read("mixed.run/scene.yaml")
    for kept in ("# the version", "# the first rock", "name: \"mixed\"", "&rock", "*rock"):
        contains(text, kept)
    is_equal(named_files("mixed.run"),
             ["hills.png", "rock.gltf", "rock.obj", "rock.obj", "rock__3.obj", "rock_data.bin", "sky.hdr",
              "w.003.obj", "w.004.obj", "w.005.obj"])
    # An unchanged scene can be resumed; one with a changed mesh counts as another scene.
    again = last_event(scene, "--resume", "--threads", "1")
    is_equal((again["frames_done"], again["state_hash"]), (0, first))
    tetra("p/wave/w.004.obj", at=(0.1, 0.1, 0.2))
    contains(wadi("run", scene, "--resume").err, "has changed since")

    os.mkdir("new")
    shutil.move("mixed.run", "new/r")
    shutil.rmtree("p")
    shutil.rmtree("far away")
    os.chdir("new")
    good("render", "r", *DRAFT)
    good("export", "r", "--to", "pov", "-q")
    copy = last_event("r/scene.yaml", "-o", "again", "--threads", "1")
    is_equal(copy["state_hash"], first)
    is_equal(read("again/scene.yaml"), read("r/scene.yaml"))


def test_missing_file_of_a_moved_run_is_named():
    tetra("rock.obj")
    write("scene.yaml", HEAD + "colliders: [{shape: {mesh: {file: rock.obj}}}]\n")
    good("run", "scene.yaml", "-q")
    shutil.rmtree("scene.run/assets")
    result = wadi("render", "scene.run", *DRAFT)
    is_equal(result.code, 1, result)
    contains(result.err, "scene.run/assets/")


def test_render_of_a_scene_finds_files_beside_it():
    tetra("p/rock.obj")
    sky("p/sky.hdr")
    write("p/s.yaml", HEAD + "colliders: [{shape: {mesh: {file: rock.obj}}}]\n")
    good("render", "p/s.yaml", *DRAFT, "--set", "render.light.environment=sky.hdr")
    is_equal(named_files("s.run"), ["rock.obj", "sky.hdr"])
    # With --set on a run folder, the file is looked up from the current folder.
    shutil.move("p/sky.hdr", "other.hdr")
    good("render", "s.run", *DRAFT, "--set", "render.light.environment=other.hdr")
    result = wadi("render", "s.run", *DRAFT, "--set", "render.light.environment=none.hdr")
    is_equal(result.code, 1, result)
    contains(result.err, "none.hdr")


def test_overwriting_replaces_the_copies():
    tetra("rock.obj")
    write("scene.yaml", HEAD + "colliders: [{shape: {mesh: {file: rock.obj}}}]\n")
    good("run", "scene.yaml", "-o", "r", "-q")
    old = os.listdir("r/assets")
    write("r/assets/" + old[0] + "/rock.obj.tmp-12", "half a file")
    tetra("rock.obj", size=0.4)
    good("run", "scene.yaml", "-o", "r", "--overwrite", "-q")
    new = os.listdir("r/assets")
    assert len(new) == 1 and new != old, (old, new)
    # Run the copied scene into its own run folder: the copied files are both source and destination.
    text, before = read("r/scene.yaml"), hash_in("r")
    good("run", "r/scene.yaml", "-o", "r", "--overwrite", "-q")
    is_equal((os.listdir("r/assets"), read("r/scene.yaml"), hash_in("r")), (new, text, before))
    write("r/assets/" + new[0] + "/rock.obj", "v 0 0 0\n")
    good("run", "scene.yaml", "-o", "r", "--resume", "-q")
    is_equal(read("r/assets/" + new[0] + "/rock.obj"), read("rock.obj"))


def assets(run):
    """{file name: path} of the copies."""
    return {name: os.path.join(folder, name) for folder, _, names in os.walk(run + "/assets") for name in names}


def images(run):
    found = {}
    for name in os.listdir(run + "/images"):
        with open(f"{run}/images/{name}", "rb") as file:
            found[name] = hash(file.read())
    return {name: content for name, content in found.items() if name[0] != "."}


def test_changed_copies_are_noticed_by_all_commands():
    scene = mixed_scene()
    good("run", scene, "-o", "r", "-q")
    loud = [word for word in DRAFT if word != "-q"]
    good("secondary", "r", "-q")
    good("render", "r", *loud)
    drawn = images("r")
    for name in ("w.004.obj", "rock_data.bin", "sky.hdr", "hills.png"):
        path = assets("r")[name]
        shutil.copy(path, "kept")
        with open(path, "r+b") as file: # one digit of a coordinate, or a colour
            text = file.read()
            at = {"w.004.obj": text.find(b"0.04"), "rock_data.bin": 4, "sky.hdr": len(text) - 3}.get(name, -1)
            file.seek(at + 3 if name == "w.004.obj" else at if at >= 0 else 0)
            file.write(b"9" if at >= 0 else b"")
        if name == "hills.png":
            height_map(path, scale=10)
        for command in (("render", "r", *loud), ("surface", "r"), ("secondary", "r"), ("export", "r", "--to", "pov"),
                        ("export", "r", "--to", "ply")):
            result = wadi(*command)
            is_equal(result.code, 0, (name, result))
            contains(result.err, "warning: r/assets/")
            contains(result.err, "has changed since the run")
        assert images("r") != drawn, name
        before = read("r/run.json"), read("r/scene.yaml")
        result = wadi("run", "r/scene.yaml", "-o", "r", "--resume")
        is_equal(result.code, 2, (name, result))
        contains(result.err, "r/assets/")
        contains(result.err, "put the original back")
        is_equal((read("r/run.json"), read("r/scene.yaml")), before)
        shutil.copy("kept", path)
        good("secondary", "r", "-q")
        result = good("render", "r", *loud)
        is_equal(result.err.count("warning"), 0)
        is_equal(images("r"), drawn, name)
    good("run", "r/scene.yaml", "-o", "r", "--resume", "-q")


def test_text_of_the_run_says_the_same_however_it_was_written():
    tetra("rock.obj")
    tetra("r\u00f6ck \U0001faa8.obj")
    mesh = "colliders:\n  - shape:\n      mesh:\n"
    for tail, kept in [
            (mesh + "        file: rock.obj # here\n", "# here"),
            (mesh + "        file: >-\n          rock.obj\n", ""),
            (mesh + '        "file": "r\\x6fck.obj"\n', ""),
            (mesh + "        # \u00fc\n        {file: 'r\u00f6ck \U0001faa8.obj'} # \U0001faa8\n", "# \U0001faa8"),
            (mesh.replace("\n", "\r\n") + "        file: rock.obj # here\r\n", "# here"),
            ("colliders: [{name: &n rock.obj, shape: {mesh: {file: *n}}}]\n", "rock.obj")]:
        write("scene.yaml", HEAD + tail)
        good("run", "scene.yaml", "-o", "r", "--overwrite", "-q")
        text = read("r/scene.yaml")
        contains(text, kept)
        contains(text, "assets/")
        is_equal(last_event("r/scene.yaml", "-o", "q", "--overwrite")["state_hash"], hash_in("r"), text)
        is_equal(len(named_files("r")), 1)
        contains(text, "name:")
    write("flow.yaml", "{wadi: 1, solver: points, resolution: 8, frames: 1, domain: {min: [0, 0, 0], max: [1, 1, 1]},\n"
          " materials: {sand: {kind: sand}}, colliders: [{shape: {mesh: {file: rock.obj}}}],\n"
          " bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.7], radius: 0.2}}}]}")
    good("run", "flow.yaml", "-q")
    contains(read("flow.run/scene.yaml"), '{name: "flow", wadi: 1, ')
    good("check", "flow.run/scene.yaml")


if __name__ == "__main__":
    main(globals())
