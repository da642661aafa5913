"""A repeated command keeps the files of the first one that are complete and unchanged, and makes all others again."""
import os
import subprocess

from cli_harness import (SCENE, Skipped, contains, events_of, good, is_equal, main, needs, read, shown, wadi, write)

DRAFT = ("--quality", "draft", "--size", "48x32", "--samples", "1", "--threads", "1", "--no-video")
# Commands by kind of output, each with the folder of its files.
WORK = {"ply": (("surface", "a.run", "--threads", "1"), "a.run/surface"),
        "obj": (("surface", "a.run", "--threads", "1", "--format", "obj", "-o", "a.run/obj"), "a.run/obj"),
        "images": (("render", "a.run", *DRAFT), "a.run/images"),
        "pov": (("export", "a.run", "--to", "pov", "--threads", "1"), "a.run/export/pov"),
        "pbrt": (("export", "a.run", "--to", "pbrt", "--threads", "1"), "a.run/export/pbrt"),
        "blender": (("export", "a.run", "--to", "blender", "--threads", "1"), "a.run/export/blender"),
        "particles": (("export", "a.run", "--to", "ply", "--threads", "1"), "a.run/export/ply")}


def simulate(scene=SCENE):
    scene = scene.replace("frames: 5", "frames: 2").replace("resolution: 16", "resolution: 8")
    write("scene.yaml", scene + "colliders: [{shape: {box: {min: [0.2, 0.2, 0], "
          "max: [0.4, 0.4, 0.2]}}}]\n")
    good("run", "scene.yaml", "-o", "a.run", "-q")


def bytes_of(folder):
    found = {}
    for name in shown(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def kept_by(command):
    """How many frames or files a command keeps, and how many there are."""
    events = events_of(good(*command, "--json").out)
    items = [event for event in events if "kept" in event and isinstance(event["kept"], bool)]
    return sum(event["kept"] for event in items), len(items)


def test_damaged_and_missing_files_are_made_again():
    simulate(SCENE.replace("frames: 5", "frames:   1"))
    for kind, (command, folder) in WORK.items():
        good(*command, "-q")
        whole = bytes_of(folder)
        kept, count = kept_by(command)
        is_equal(kept, count, kind)
        for i, (name, content) in enumerate(whole.items()):
            path = os.path.join(folder, name)
            damages = [content[:-2], content[:len(content) // 2], b"",
                       content[:-9] + bytes([content[-9] ^ 1]) + content[-8:], content + b"\n"]
            is_shared = name.endswith((".inc", "materials.pbrt"))
            for damage in (None, damages[i % (3 if is_shared else 5)]):
                if damage is None:
                    os.remove(path)
                else:
                    with open(path, "wb") as file:
                        file.write(damage)
                kept, count = kept_by(command)
                assert kept < count, (kind, name, damage and len(damage))
                assert bytes_of(folder) == whole, (kind, name, damage and len(damage))


def test_what_a_person_changed_in_a_shared_file_stays():
    simulate()
    for kind, name in (("pov", "scene.inc"), ("pbrt", "scene.materials.pbrt")):
        command, folder = WORK[kind]
        good(*command, "-q")
        path = os.path.join(folder, name)
        mine = read(path).replace("0.5", "0.50")
        first, rest = mine.split("\n", 1)
        mine = first + "\n# mine\n" + rest
        write(path, mine)
        kept, count = kept_by(command)
        is_equal((kept, read(path)), (count, mine))
        good(*command, "--force", "-q")
        assert "mine" not in read(path)


def test_longer_run_is_told_to_blender():
    simulate()
    command, folder = WORK["blender"]
    good(*command, "-q")
    good("run", "scene.yaml", "-o", "a.run", "--resume", "--frames", "3", "-q")
    good(*command, "-q")
    contains(read(os.path.join(folder, "scene.json")), '"last_frame": 3')


def test_index_of_the_particles_comes_back():
    simulate()
    before = bytes_of("a.run/particles")
    for name in ("scene.xdmf", "scene.vertices"):
        os.remove(os.path.join("a.run/particles", name))
        good("run", "scene.yaml", "-o", "a.run", "--resume", "-q")
        is_equal(bytes_of("a.run/particles").keys(), before.keys())
        is_equal(bytes_of("a.run/particles")[name], before[name])


def test_files_of_others_are_not_replaced():
    simulate()
    os.mkdir("out")
    for target, name in (("blender", "scene.json"), ("blender", "load.py"), ("pov", "scene.inc"),
                         ("pov", "scene.sky.hdr"), ("pov", "scene.0001.pov"), ("ply", "sand.0001.ply")):
        write("out/" + name, "my thesis")
        result = wadi("export", "a.run", "--to", target, "-o", "out", "--force")
        is_equal(result.code, 2, result)
        contains(result.err, f"out/{name} is there and was not written by wadi")
        is_equal(read("out/" + name), "my thesis")
        for made in os.listdir("out"):
            os.remove("out/" + made)
    write("out/sand.0001.obj", "my thesis")
    contains(wadi("surface", "a.run", "--format", "obj", "-o", "out").err, "was not written by wadi")
    write("out/scene.0001.png", "my thesis")
    contains(wadi("render", "a.run", *DRAFT, "-o", "out").err, "was not written by wadi")
    is_equal((read("out/sand.0001.obj"), read("out/scene.0001.png")), ("my thesis", "my thesis"))


def test_videos_sheets_and_layouts_of_others_are_not_replaced():
    simulate()
    os.mkdir("out")
    for name, options in (("scene.mp4", DRAFT[:-1]), ("scene.gif", (*DRAFT, "--gif")), ("scene.sheet.png", (*DRAFT, "--sheet", "2"))):
        write("out/" + name, "my thesis")
        result = wadi("render", "a.run", "-o", "out", *options)
        is_equal(result.code, 2, result)
        contains(result.err, f"out/{name} is there and was not written by wadi")
        is_equal([other for other in os.listdir("out") if other.endswith(".png")], ["scene.sheet.png"] if "sheet" in name else [])
        is_equal(read("out/" + name), "my thesis")
        os.remove("out/" + name)
    write("out/scene.layout.png", "my thesis")
    contains(wadi("render", "scene.yaml", "--layout", "--size", "32x18", "-o", "out").err, "was not written by wadi")
    is_equal(read("out/scene.layout.png"), "my thesis")
    os.remove("out/scene.layout.png")
    for _ in range(2):  # its own are
        good("render", "scene.yaml", "--layout", "--size", "32x18", "-o", "out")
        good("render", "a.run", *DRAFT, "-o", "out", "--sheet", "2")


def test_index_that_was_cut_off_or_is_nonsense_costs_work_only():
    simulate()
    command, folder = WORK["ply"]
    good(*command, "-q")
    whole, index = bytes_of(folder), os.path.join(folder, ".wadi-files")
    text = read(index)
    for cut in list(range(0, len(text), 23)) + [len(text) - 1]:
        write(index, text[:cut])
        kept_by(command)
        assert bytes_of(folder) == whole
        kept, count = kept_by(command)
        is_equal(kept, count, cut)
    for nonsense in ("made 0 99999999999\n", "made zz\n" * 50, "end 0\n", text.replace("sand", "/etc/sand"), "\0\1" * 99):
        write(index, nonsense)
        is_equal(kept_by(command)[0], 0, nonsense)
        assert bytes_of(folder) == whole


def test_temporary_files_of_killed_commands_go():
    simulate()
    for kind, (command, folder) in WORK.items():
        os.makedirs(folder, exist_ok=True)
        names = {"ply": "sand.0001.ply", "obj": "sand.0002.obj", "images": "scene.0001.png", "pov": "scene.0001.pov",
                 "pbrt": "scene.sky.pfm", "blender": "load.py", "particles": "sand.particles.0001.ply"}
        with open(os.path.join(folder, ".wadi-files"), "a", encoding="utf-8") as file:
            file.write(f"begun {names[kind]}\n")
        write(os.path.join(folder, names[kind] + ".tmp-4711"), "half a file")
        write(os.path.join(folder, "notes.tmp-4711"), "mine")
        if kind == "images":
            for name in ("scene.mp4", "scene.gif", "scene.sheet.png"):
                write(f"a.run/{name}.tmp-4711", "half a file")
        good(*command, "-q")
        is_equal([name for name in os.listdir(folder) if ".tmp-" in name], ["notes.tmp-4711"], kind)
    is_equal([name for name in os.listdir("a.run") if ".tmp-" in name], [])


def test_full_disk_leaves_no_broken_video():
    needs("ffmpeg")
    simulate(SCENE.replace("frames: 5", "frames:   8"))
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", "disk"], capture_output=True,
                      check=False).returncode != 0:
        raise Skipped("no right to mount")
    try:
        size = ("--quality", "draft", "--size", "320x180", "--samples", "1", "--threads", "1")
        subprocess.run(["cp", "-r", "a.run", "disk/r"], check=True)
        good("render", "disk/r", *size, "--no-video", "-q")
        left = os.statvfs("disk").f_bavail * os.statvfs("disk").f_frsize
        for room in (4096, 16384):
            with open("disk/fill", "wb") as file:
                file.write(bytes(left - room))
            for kind in ((), ("--gif",)):
                result = wadi("render", "disk/r", *size, *kind, "-q")
                if result.code == 0:  # the video fitted on the disk
                    continue
                is_equal(result.code, 1, result)
                contains(result.err, "the disk of disk/r is full")
                assert "--resume" not in result.err, result
            is_equal([name for name in shown("disk/r") if ".tmp-" in name], [])
            for name in ("scene.mp4", "scene.gif"):
                if os.path.exists("disk/r/" + name):
                    subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", "disk/r/" + name, "-f", "null", "-"],
                                   check=True)
                    os.remove("disk/r/" + name)
            os.remove("disk/fill")
        good("render", "disk/r", *size, "--gif", "-q")
        is_equal([name for name in shown("disk/r") if name.endswith((".mp4", ".gif"))], ["scene.gif", "scene.mp4"])
    finally:
        subprocess.run(["umount", "disk"], check=True)


if __name__ == "__main__":
    main(globals())
