"""Folders of surfaces, pictures, secondary particles and exports: who works in them, what killed processes leave, and
folders that are links to another disk."""
import fcntl
import os
import shutil
import signal
import time

from cli_harness import contains, good, is_equal, main, read, start, wadi, write

MIX = """\
wadi: 1
name: mix
solver: flip
domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.2]}
resolution: 8
frames: 2
materials: {sand: {kind: sand}, water: {kind: water}}
bodies:
  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}
  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}, velocity: [-3, 0, 0]}
"""
DRAFT = ("--quality", "draft", "--size", "16x16", "--samples", "1", "--threads", "1", "-q")
# The command, the folder of its files in the run, the name of its work.
COMMANDS = [
    (("secondary", "r", "--set", "secondary.slow=0", "--threads", "1", "-q"), "secondary", "mix"),
    (("surface", "r", "--format", "ply,obj", "--threads", "1", "-q"), "surface", "surface.s000"),
    (("render", "r", *DRAFT, "--no-video", "--sheet", "2"), "images", "mix"),
    (("export", "r", "--to", "ply", "--threads", "1", "-q"), "export/ply", "particles"),
    (("export", "r", "--to", "pov", "--threads", "1", "-q"), "export/pov", "mix"),
    (("export", "r", "--to", "pbrt", "--threads", "1", "-q"), "export/pbrt", "mix"),
    (("export", "r", "--to", "blender", "--threads", "1", "-q"), "export/blender", "mix"),
]


def make_run():
    write("mix.yaml", MIX)
    good("run", "mix.yaml", "-o", "r", "-q")


def files_below(folder):
    """{path: bytes} without the hidden files."""
    found = {}
    for root, _, names in os.walk(folder, followlinks=True):
        for name in names:
            if not name.startswith("."):
                with open(os.path.join(root, name), "rb") as file:
                    found[os.path.relpath(os.path.join(root, name), folder)] = file.read()
    return found


def hidden_below(folder):
    return sorted(name for _, _, names in os.walk(folder, followlinks=True) for name in names if name.startswith(".wadi-w"))


def test_what_killed_processes_leave_goes_and_files_of_users_stay():
    make_run()
    for command, folder, _ in COMMANDS:
        good(*command)
        before = files_below("r")
        left = [f"r/{folder}/{name}.tmp-4194999" for name in os.listdir("r/" + folder) if not name.startswith(".")]
        if folder == "images":
            left += ["r/mix.mp4.tmp-4194999", "r/mix.gif.tmp-4194999", "r/mix.sheet.png.tmp-4194999"]
        assert left
        for name in left:
            write(name, "half a file")
        write(f"r/{folder}/notes.txt.tmp-4194999", "mine")
        good(*command)
        is_equal(sorted(set(files_below("r")) - set(before)), [f"{folder}/notes.txt.tmp-4194999"], command)
        is_equal({name: text for name, text in files_below("r").items() if name in before}, before, command)
    os.makedirs("r/particles", exist_ok=True)
    left = ["r/.wadi-run.tmp-4194999", "r/changes.yaml.tmp-4194999", "r/run.json.tmp-4194999", "r/scene.yaml.tmp-4194999"]
    for name in left:
        write(name, "half a file")
    good("run", "mix.yaml", "-o", "r", "--resume", "-q")
    is_equal([name for name in left if os.path.exists(name)], [])


def test_what_a_killed_layout_leaves_goes():
    write("mix.yaml", MIX)
    command = ("render", "mix.yaml", "--layout", "-o", "out", "--size", "32x24", "--threads", "1", "-q")
    good(*command)
    names = os.listdir("out")
    assert names
    running = f"out/{names[0]}.tmp-{os.getpid()}"
    for name in names:
        write(f"out/{name}.tmp-4194999", "half a file")
    write(running, "a process that still writes")
    write("out/mine.png.tmp-4194999", "mine")
    good(*command)
    is_equal(sorted(os.listdir("out")), sorted(names + [os.path.basename(running), "mine.png.tmp-4194999"]))


def test_second_process_with_other_settings_is_told_who_works_there():
    make_run()
    for command, folder, name in COMMANDS:
        good(*command)
        before = files_below("r")
        with open(f"r/{folder}/.wadi-work-0", "w", encoding="utf-8") as file:
            file.write(f"process 12345 on elsewhere since 2026-01-31T12:00:00Z, {name} 0123456789abcdef\n")
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            result = wadi(*command, "--force")
            is_equal(result.code, 75, (command, result))
            for part in (f"r/{folder}", "process 12345 on elsewhere", "2026-01-31T12:00:00Z", "wait for it"):
                contains(result.err, part)
            is_equal(files_below("r"), before)
            # Other files in the folder are no hindrance.
            file.seek(0)
            file.write("process 12345 on elsewhere since 2026-01-31T12:00:00Z, other 0123456789abcdef\n")
            file.flush()
            good(*command)
        # The file of a process that ended is no lock.
        good(*command)
        is_equal(hidden_below("r"), [], command)


def test_processes_with_the_same_settings_share_the_work():
    make_run()
    shutil.copytree("r", "alone")
    for command, folder, _ in (COMMANDS[1], COMMANDS[2], COMMANDS[4]):
        good(*("alone" if word == "r" else word for word in command))
        processes = [start(*command) for _ in range(2)]
        for process in processes:
            _, err = process.communicate(timeout=100)
            is_equal(process.returncode, 0, (command, err))
        is_equal(files_below("r/" + folder), files_below("alone/" + folder), command)
    is_equal(hidden_below("r"), [])


def test_two_secondary_at_once():
    make_run()
    command = COMMANDS[0][0] + ("--set", "secondary.amount=20")
    good(*command)
    whole = files_below("r/secondary")
    for _ in range(20):
        shutil.rmtree("r/secondary")
        first = start(*command)
        while first.poll() is None and not os.path.exists("r/secondary/mix.0001.h5"):
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)
        if os.path.exists("r/secondary/.wadi-work-0"):
            break
        first.send_signal(signal.SIGCONT)
        first.communicate()
    second = wadi(*command)
    first.send_signal(signal.SIGCONT)
    is_equal(second.code, 75, second)
    contains(second.err, f"process {first.pid} on ")
    _, err = first.communicate(timeout=60)
    is_equal(first.returncode, 0, err)
    is_equal(files_below("r/secondary"), whole)
    # A killed process is no hindrance.
    shutil.rmtree("r/secondary")
    first = start(*command)
    while first.poll() is None and not os.path.exists("r/secondary/mix.0001.h5"):
        time.sleep(0.001)
    first.kill()
    first.communicate()
    good(*command)
    is_equal((files_below("r/secondary"), hidden_below("r")), (whole, []))


def other_disk():
    """A folder on another file system, where there is one."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.getcwd()
    folder = os.path.join(base, f"wadi-test-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    return folder


LINKED = ["secondary", "surface", "images", "export", "particles", "checkpoint", "assets"]


def test_folders_of_a_run_may_be_links_to_another_disk():
    make_run()
    for command, _, _ in COMMANDS:
        good(*command)
    good("run", "mix.yaml", "-o", "r", "--resume", "--frames", "3", "-q")
    plain, disk = files_below("r"), other_disk()
    plain.pop("run.json")
    try:
        os.mkdir("l")
        for name in LINKED:
            os.mkdir(f"{disk}/{name}")
            os.symlink(f"{disk}/{name}", "l/" + name)
        write("l/.wadi-run", read("r/.wadi-run").splitlines()[0] + "\n")
        good("run", "mix.yaml", "-o", "l", "-q")
        for command, folder, _ in COMMANDS:
            command = ["l" if word == "r" else word for word in command]
            good(*command)
            for name in os.listdir(f"{disk}/{folder}"):
                if not name.startswith("."):
                    write(f"{disk}/{folder}/{name}.tmp-4194999", "half a file")
            good(*command)
        good("run", "mix.yaml", "-o", "l", "--resume", "--frames", "3", "-q")
        linked = files_below("l")
        linked.pop("run.json")
        is_equal(sorted(linked), sorted(plain))
        is_equal(linked, plain)
        assert all(os.path.islink("l/" + name) for name in LINKED if name != "assets")
        good("run", "mix.yaml", "-o", "l", "--overwrite", "-q")
        assert os.path.islink("l/particles") and os.listdir(f"{disk}/particles")
    finally:
        shutil.rmtree(disk)
    # The disk is gone.
    for command, folder, _ in COMMANDS:
        result = wadi(*("l" if word == "r" else word for word in command))
        is_equal(result.code, 1, (command, result))
        contains(result.err, "which is not there")
    result = wadi("run", "mix.yaml", "-o", "l", "--resume")
    is_equal(result.code, 1, result)
    contains(result.err, "which is not there")
    shutil.rmtree("r/images")
    os.symlink("nowhere", "r/images")
    result = wadi(*COMMANDS[2][0])
    is_equal(result.code, 1, result)
    contains(result.err, "r/images is a link to nowhere, which is not there")


if __name__ == "__main__":
    main(globals())
