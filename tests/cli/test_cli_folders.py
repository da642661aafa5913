"""Which files wadi writes, and which it never changes: folders and files of the user, unexpected files in a run folder."""
import os
import shutil

from cli_harness import SCENE, contains, frame_files, good, hash_in, is_equal, main, read, wadi, write


def snapshot(folder="."):
    """{path: bytes} of all files below."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                found[os.path.join(root, name)] = file.read()
        found.update({os.path.join(root, name): None for name in folders})
    return found


def is_refused(folder, *arguments):
    before = snapshot(folder)
    for mode in ([], ["--overwrite"], ["--resume"], ["--from-frame", "1"]):
        result = wadi("run", *arguments, *mode)
        is_equal((result.code, result.out), (2, ""), result)
        contains(result.err, "not a run of wadi")
        is_equal(snapshot(folder), before, mode)
    return result.err


def test_folder_of_the_scene_itself_is_refused():
    write("scene.yaml", "# mine\n" + SCENE)
    contains(is_refused(".", "scene.yaml", "-o", ".", "--set", "resolution=9"), "it holds scene.yaml")
    is_refused(".", "scene.yaml", "-o", os.getcwd() + "//")


def test_foreign_files_are_not_replaced():
    write("scene.yaml", SCENE)
    for name, text in [("scene.yaml", "my: thesis\n"), ("run.json", '{"my": "thesis"}\n'), ("notes.txt", "mine"),
                       (".hidden", ""), ("assets/rock.obj", "v 0 0 0\n"), (".wadi-run", "not a mark of wadi")]:
        os.makedirs(os.path.dirname("q/" + name), exist_ok=True)
        write("q/" + name, text)
        contains(is_refused("q", "scene.yaml", "-o", "q"), "it holds " + name.split("/")[0])
        shutil.rmtree("q")


def test_empty_and_begun_folders_are_taken():
    write("scene.yaml", SCENE)
    os.mkdir("empty")
    good("run", "scene.yaml", "-o", "empty", "-q")
    # The state of a run folder after a kill before the first frame.
    os.makedirs("begun/particles")
    os.mkdir("begun/checkpoint")
    write("begun/lock", "process 1 on x since 2020-01-01T00:00:00Z\n")
    write("begun/.wadi-run.tmp-17", "A run")
    good("run", "scene.yaml", "-o", "begun", "-q")
    is_equal(hash_in("begun"), hash_in("empty"))
    shutil.rmtree("begun/particles")
    os.remove("begun/run.json")
    good("run", "scene.yaml", "-o", "begun", "--overwrite", "-q")


def test_runs_of_older_versions_are_recognised():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q")
    os.remove("r/.wadi-run")
    good("run", "scene.yaml", "-o", "r", "--resume", "--frames", "6", "-q")
    os.remove("r/.wadi-run")
    write("r/run.json", "damaged")
    good("run", "scene.yaml", "-o", "r", "--resume", "--frames", "7", "-q")
    is_equal(len(frame_files("r")), 7)


def test_scene_of_a_run_that_a_person_changed_is_kept():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-o", "r", "-q")
    good("run", "r/scene.yaml", "-o", "r", "--overwrite", "--set", "frames=3", "-q")
    is_equal(len(frame_files("r")), 3)
    mine = "# my words\n" + read("r/scene.yaml").replace("frames: 3", "frames:   4")
    write("r/scene.yaml", mine)
    before = snapshot("r")
    result = wadi("run", "r/scene.yaml", "-o", "r", "--overwrite", "--set", "resolution=9")
    is_equal(result.code, 2, result)
    contains(result.err, "changed by hand")
    is_equal(snapshot("r"), before)
    good("run", "r/scene.yaml", "-o", "r", "--overwrite", "-q")
    is_equal((len(frame_files("r")), read("r/scene.yaml")), (4, mine))


def test_pipes_in_a_run_folder_are_not_waited_for():
    write("rock.obj", "v 0 0 0\nv 0.3 0 0\nv 0 0.3 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    write("scene.yaml", SCENE.replace("frames: 5", "frames: 2").replace(": 16", ": 8") +
          "colliders: [{shape: {mesh: {file: rock.obj}}}]\n")
    good("run", "scene.yaml", "-o", "r", "-q")
    draft = ("--quality", "draft", "--size", "32x24", "--samples", "1", "--threads", "1", "-q")
    commands = [("surface", "r", "-q"), ("render", "r", *draft), ("export", "r", "--to", "pov", "-q"), ("info", "r"),
                ("run", "scene.yaml", "-o", "r", "--resume", "-q"), ("run", "scene.yaml", "-o", "r", "--overwrite", "-q")]
    for command in commands[:3]:
        good(*command)
    names = [name for name, content in snapshot("r").items() if content is not None and "0002" not in name]
    for i, name in enumerate(names):
        made = {"surface": commands[:1], "images": commands[1:2], "export": commands[2:3]}
        for command in made.get(name.split("/")[1], commands[:4] + [commands[4 + i % 2]]):
            shutil.rmtree("copy", ignore_errors=True)
            shutil.copytree("r", "copy")
            path = "copy" + name[1:]
            os.remove(path)
            os.mkfifo(path)
            result = wadi(*("copy" if word == "r" else word for word in command), timeout=20)
            assert result.code in (0, 1, 2), (name, command, result)
    for name in ("pipe.yaml", "pipe.json", "pipe.h5", "pipe.obj"):
        os.mkfifo(name)
        contains(wadi("info", name, timeout=20).err, "not a regular file")


if __name__ == "__main__":
    main(globals())
