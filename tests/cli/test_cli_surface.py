"""wadi surface against the real binary: files, events, refusals, stopping, and other programs that read the meshes."""
import os
import signal
import struct
import subprocess
import time

from cli_harness import (SCENE, contains, events_of, finish, good, is_equal, is_quick, is_usage_error, main, needs, shown,
                         start, wadi, write)
from test_cli_run import documented_events


def simulate(name="a.run", more=""):
    write("scene.yaml", SCENE + more)
    good("run", "scene.yaml", "-o", name, "--quiet")
    return name


def meshes(run, folder="surface"):
    return shown(os.path.join(run, folder))


def read_ply(path):
    """(comments, columns of the vertices by name, faces) of a binary PLY file of floats."""
    with open(path, "rb") as file:
        header, data = file.read().split(b"end_header\n", 1)
    lines = header.decode().splitlines()
    comments = dict(line.split(" ", 2)[1:] for line in lines if line.startswith("comment "))
    names = [line.split()[2] for line in lines if line.startswith("property float")]
    vertices, faces = (int(line.split()[2]) for line in lines if line.startswith("element"))
    values = struct.unpack_from(f"<{vertices * len(names)}f", data)
    columns = {name: values[i::len(names)] for i, name in enumerate(names)}
    start_of_faces = 4 * vertices * len(names)
    triangles = [struct.unpack_from("<Biii", data, start_of_faces + 13 * i) for i in range(faces)]
    is_equal(len(data), start_of_faces + 13 * faces)
    return comments, columns, triangles


def test_surface_tells_what_it_made_and_keeps_it():
    run = simulate()
    out = good("surface", run).out
    contains(out, "5 frames, 5 files written, 0 kept")
    contains(out, "a.run/surface")
    is_equal(meshes(run), [f"sand.{i:04d}.ply" for i in range(1, 6)])
    contains(good("surface", run).out, "0 files written, 5 kept")
    contains(good("surface", run, "--force", "--frames", "2-3").out, "2 files written")
    result = good("surface", run, "--quiet")
    is_equal((result.out, result.err), ("", ""))


def test_ply_has_attributes_and_facts():
    run = simulate()
    good("surface", run, "--frames", "5", "--quiet")
    comments, columns, triangles = read_ply(os.path.join(run, "surface", "sand.0005.ply"))
    is_equal((comments["frame"], comments["material"], comments["fps"], comments["up"], comments["unit"]),
             ("5", "sand", "24", "z", "metre"))
    assert abs(float(comments["time"]) - 4 / 24) < 1e-9, comments
    assert {"x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz", "density"} <= set(columns), columns.keys()
    # Particles in free fall from rest all have the same velocity.
    assert all(abs(v + 9.81 * 4 / 24) < 1e-3 for v in columns["vz"]), min(columns["vz"])
    assert all(v == 1600.0 for v in columns["density"])
    for nx, ny, nz in zip(columns["nx"], columns["ny"], columns["nz"]):
        assert abs(nx * nx + ny * ny + nz * nz - 1) < 1e-4
    assert all(corner < len(columns["x"]) for _, *corners in triangles for corner in corners)
    info = good("info", os.path.join(run, "surface", "sand.0005.ply")).out
    contains(info, "closed, manifold")
    contains(info, "Euler characteristic 2")


def test_info_takes_its_own_meshes_by_their_indices():
    # Two tetrahedra that touch in one point, each with its own vertex there. In a mesh by wadi they are two surfaces;
    # in other meshes vertices at one position are joined.
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    lines = [f"{s * x} {s * y} {s * z}" for s in (1, -1) for x, y, z in corners]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3), (4, 5, 6), (4, 7, 5), (4, 6, 7), (5, 7, 6)]
    for name, comment, word in (("own.ply", "comment wadi 0.2.0\n", "closed, manifold"),
                                ("other.ply", "comment by hand\n", "not manifold")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(f"ply\nformat ascii 1.0\n{comment}element vertex 8\nproperty float x\nproperty float y\n"
                       "property float z\nelement face 8\nproperty list uchar int vertex_indices\nend_header\n")
            file.write("\n".join(lines + ["3 %d %d %d" % face for face in faces]) + "\n")
        contains(good("info", name).out, word)


def test_json_events_have_the_documented_keys():
    run = simulate()
    documented = documented_events()
    result = good("surface", run, "--json", "--format", "ply,obj")
    events = events_of(result.out)
    is_equal(result.err, "")
    is_equal([event["event"] for event in events], ["mesh"] * 10 + ["meshes"])
    for event in events:
        is_equal(set(event) - {"event"}, documented[event["event"]], event)
    is_equal([event["frame"] for event in events[:-1]], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    error = events_of(wadi("surface", "none.run", "--json").out)[-1]
    is_equal((error["event"], error["status"]), ("error", "io"))


def test_settings_come_from_the_scene_and_then_from_the_command():
    run = simulate(more="surface: {cell_size: 0.05}\n")
    coarse = events_of(good("surface", run, "--json").out)[-1]["triangles"]
    fine = events_of(good("surface", run, "--json", "--set", "surface.cell_size=0.02").out)[-1]["triangles"]
    assert fine > 4 * coarse, (fine, coarse)
    for method in ("anisotropic", "blobby", "color_field"):
        is_equal(events_of(good("surface", run, "--json", "--method", method).out)[-1]["files"], 5)


def test_small_radii_leave_something():
    # Single particles: an offset suited to a radius of 1 would remove all of them.
    run = simulate(more="surface: {radius: 0.3, reach: 0.6, smoothing: 0, cell_size: 0.02}\n")
    assert events_of(good("surface", run, "--json", "--frames", "1").out)[-1]["triangles"] > 0


def test_output_folder_and_subframe():
    run = simulate()
    good("surface", run, "--frames", "1", "--subframe", "0.25", "-o", "elsewhere/meshes", "--quiet")
    is_equal(shown("elsewhere/meshes"), ["sand.s250.0001.ply"])
    assert not os.path.exists(os.path.join(run, "surface"))


def test_bad_usage():
    run = simulate()
    for option, value in (("--frames", "0"), ("--frames", "3-2"), ("--frames", "1-2-3"), ("--frames", "x"),
                          ("--subframe", "1.5"), ("--subframe", "half"), ("--format", "stl"), ("--format", "ply,")):
        contains(is_usage_error("surface", run, option, value), option)
    refused = wadi("surface", run, "--method", "anisotropi")
    is_equal(refused.code, 2)
    contains(refused.err, "did you mean 'anisotropic'?")
    refused = wadi("surface", run, "--material", "snow")
    is_equal(refused.code, 2)
    contains(refused.err, "known: sand")
    refused = wadi("surface", run, "--set", "surface.cell_size=2e-7")
    is_equal(refused.code, 1)
    contains(refused.err, "surface.cell_size=")


def test_level_sets_or_what_to_install():
    run = simulate()
    result = wadi("surface", run, "--format", "vdb", "--frames", "1")
    if result.code == 0:
        is_equal(meshes(run), ["sand.0001.vdb"])
        contains(good("surface", run, "--format", "vdb", "--frames", "1").out, "1 kept")
    else:
        is_equal(result.code, 2)
        contains(result.err, "libopenvdb-dev")


def test_interrupt_keeps_what_is_done():
    run = simulate(more="surface: {cell_size: 0.004}\n")
    good("surface", run, "--frames", "1", "--quiet")
    process = start("surface", run, "--json", "--threads", "1")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    code, out, _ = finish(process)
    if code == 0:  # it finished before the signal came
        return
    is_equal(code, 130)
    event = events_of(out)[-1]
    is_equal((event["event"], event["status"]), ("error", "stopped"))
    assert not [name for name in meshes(run) if "tmp" in name]
    contains(good("surface", run).out, "5 frames")


def test_same_bytes_for_any_threads():
    run = simulate()
    for threads in ("1", "2", "5"):
        good("surface", run, "--threads", threads, "-o", threads, "--quiet")
    for name in shown("1"):
        files = [open(os.path.join(threads, name), "rb").read() for threads in ("1", "2", "5")]
        assert files[0] == files[1] == files[2], name


BLENDER = """
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
def count(path):
    if path.endswith("ply"):
        (bpy.ops.wm.ply_import if bpy.app.version >= (3, 6) else bpy.ops.import_mesh.ply)(filepath=path)
    else:
        bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
    mesh = bpy.context.object.data
    low = [min(v.co[i] for v in mesh.vertices) for i in range(3)]
    print("FOUND", len(mesh.vertices), len(mesh.polygons), *low)
count("surface/sand.0001.ply")
count("surface/sand.0001.obj")
"""


def test_blender_reads_the_meshes():
    needs("blender")
    run = simulate()
    event = events_of(good("surface", run, "--format", "ply,obj", "--frames", "1", "--json").out)[-2]
    write("read.py", BLENDER)
    out = subprocess.run(["blender", "-b", "--python-exit-code", "3", "-P", os.path.abspath("read.py")], cwd=run,
                         capture_output=True, text=True, timeout=110, check=True).stdout
    found = [line.split()[1:] for line in out.splitlines() if line.startswith("FOUND")]
    is_equal(len(found), 2, out)
    for vertices, faces, *low in found:
        is_equal((int(vertices), int(faces)), (event["vertices"], event["triangles"]))
        assert all(abs(float(x) - 0.3) < 0.04 for x in low), low


def test_stops_within_a_frame():
    run = simulate()
    process = start("surface", run, "--frames", "5", "--set", "surface.cell_size=0.0008", "--threads", "1", "--json")
    time.sleep(0.7)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code, out, err = finish(process)
    seconds = time.monotonic() - began
    is_equal(code, 130, err)
    is_quick(seconds, 2.0)
    event = events_of(out)[-1]
    is_equal((event["event"], event["status"]), ("error", "stopped"))
    contains(err, "the same command goes on")
    is_equal(meshes(run), [])


def vertices(path):
    with open(path, encoding="utf-8") as file:
        return [tuple(map(float, line.split()[1:])) for line in file if line.startswith(("v ", "vn "))]


def test_up_turns_meshes_for_programs_in_which_y_is_up():
    run = simulate()
    for up in ("z", "y"):
        good("surface", run, "--frames", "1", "--format", "obj,ply", "--up", up, "-o", up, "--quiet")
    lying, standing = vertices("z/sand.0001.obj"), vertices("y/sand.0001.obj")
    assert len(lying) > 100
    is_equal([(x + 0.0, z + 0.0, 0.0 - y) for x, y, z in lying], [(x + 0.0, y + 0.0, z + 0.0) for x, y, z in standing])
    contains(open("y/sand.0001.ply", "rb").read(400).decode("latin-1"), "comment up y")
    # The same message as that of wadi export.
    good("export", run, "--to", "obj", "--frames", "1", "--up", "y", "-o", "e", "--quiet")
    is_equal(open("e/sand.0001.obj", "rb").read(), open("y/sand.0001.obj", "rb").read())
    contains(is_usage_error("surface", run, "--up", "x"), "y or z")
    contains(wadi("surface", run, "--up", "y", "--format", "vdb").err, "z up for vdb")


if __name__ == "__main__":
    main(globals())
