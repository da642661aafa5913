"""The wadi command against the real binary: usage, help, scenes, check, info, schema, closed output."""
import json
import os
import re
import shlex
import subprocess

from cli_harness import (COMMANDS, PLANNED, SCENE, WADI, contains, events_of, frame_files, good, is_equal,
                         is_usage_error, main, needs, wadi, write)


def test_overview_without_arguments_is_bad_usage():
    result = wadi()
    is_equal(result.code, 2)
    is_equal(result.out, "")
    contains(result.err, "Commands:")


def test_help_lists_every_command():
    text = good("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.M), command
    is_equal(good("help").out, text)
    is_equal(good("-h").out, text)


def test_help_of_every_command_has_usage_options_codes_and_example():
    for command in COMMANDS:
        text = good(command, "--help").out
        assert text.startswith(f"Usage: wadi {command}"), text
        for part in ("Options:", "--help", "Exit codes:", "130", "Examples:", f"wadi {command}"):
            contains(text, part)
        is_equal(good("help", command).out, text)
        assert max(map(len, text.splitlines())) <= 80, "help is wider than 80 columns"


def test_help_wins_over_what_is_missing():
    good("run", "--frames", "3", "--help")


def test_version():
    assert re.fullmatch(r"wadi \d+\.\d+\.\d+\n", good("--version").out)


def test_unknown_commands_and_options_name_the_nearest():
    contains(is_usage_error("rnu", "x.yaml"), "unknown command 'rnu'; did you mean 'run'?")
    contains(is_usage_error("scene.yaml"), "did you mean 'wadi run scene.yaml'?")
    contains(is_usage_error("run", "x.yaml", "--resum"), "unknown option '--resum'; did you mean '--resume'?")
    contains(is_usage_error("run", "x.yaml", "--resum"), "see wadi run --help")
    contains(is_usage_error("run", "x.yaml", "--over"), "did you mean '--overwrite'?")
    contains(is_usage_error("run", "x.yaml", "--frmaes=3"), "did you mean '--frames'?")
    contains(is_usage_error("check", "x.yaml", "-z"), "unknown option '-z'")
    contains(is_usage_error("run", "x.yaml", "--resolution", "80"), "did you mean --set resolution=…, a value of the scene?")
    contains(is_usage_error("run", "x.yaml", "--cell-size=0.01"), "did you mean --set cell_size=…")
    contains(is_usage_error("run", "x.yaml", "--flip.cfl=2"), "did you mean --set flip.cfl=…")
    assert "--set" not in is_usage_error("info", "x.yaml", "--resolution=80").split("see wadi")[0]
    assert "--set" not in is_usage_error("run", "x.yaml", "--body=1").split("see wadi")[0]
    assert "did you mean" not in is_usage_error("zzzzzz")
    contains(is_usage_error("--verison"), "did you mean '--version'?")
    is_usage_error("run", "x.yaml", "--" + "a" * 5000)


def test_planned_commands_are_not_in_this_version():
    for command in PLANNED:
        for arguments in ([command], [command, "--help"], ["help", command]):
            contains(is_usage_error(*arguments), "not in this version")


def test_operands_are_counted():
    contains(is_usage_error("run"), "SCENE is missing")
    contains(is_usage_error("run", "a.yaml", "b.yaml"), "unexpected argument 'b.yaml'")
    contains(is_usage_error("schema", "x"), "unexpected argument 'x'")
    contains(is_usage_error("run", ""), "SCENE is empty")


def test_values_are_checked():
    for value in ("abc", "", "0", "-1", "10000000", "3.5", " 3", "+3", "0x3", "99999999999999999999"):
        error = is_usage_error("run", "x.yaml", "--frames", value)
        contains(error, f"--frames: expected a whole number from 1 to 9999999, found '{value}'")
    contains(is_usage_error("run", "x.yaml", "--frames"), "--frames needs a value: --frames N")
    contains(is_usage_error("run", "x.yaml", "--set", "abc"), "--set: expected KEY=VALUE, found 'abc'")
    contains(is_usage_error("run", "x.yaml", "--set", "=3"), "--set: expected KEY=VALUE")
    contains(is_usage_error("run", "x.yaml", "--json=1"), "--json takes no value")
    contains(is_usage_error("run", "x.yaml", "-o", ""), "-o: expected RUN, found nothing")
    contains(is_usage_error("run", "x.yaml", "--overwrite", "--resume"), "--overwrite removes the frames")
    contains(is_usage_error("run", "x.yaml", "--overwrite", "--from-frame", "2"),
             "--overwrite removes the frames that --from-frame would keep")


def test_options_are_written_in_every_usual_way():
    write("-scene.yaml", SCENE)
    write("scene.yaml", SCENE)
    for arguments in (["-o", "a.run", "scene.yaml"], ["scene.yaml", "-ob.run"],
                      ["--output=c.run", "scene.yaml"], ["scene.yaml", "--output", "d.run"],
                      ["-oe.run", "--", "-scene.yaml"]):
        good("run", "--frames=2", "-q", *arguments)
    for name in "abcde":
        is_equal(len(frame_files(f"{name}.run")), 2)


# Scenes


def test_missing_scene_is_bad_usage():
    for command in ("run", "check"):
        result = wadi(command, "none.yaml")
        is_equal(result.code, 2, result)
        contains(result.err, "none.yaml")


def test_scene_problems_are_printed_and_counted():
    write("bad.yaml", SCENE + "bogus: 1\nbogus_too: 2\n")
    result = wadi("run", "bad.yaml")
    is_equal(result.code, 2, result)
    is_equal(result.out, "")
    assert re.search(r"^bad\.yaml:8:\d+: .*bogus", result.err, re.M), result
    assert re.search(r"^bad\.yaml:9:\d+: .*bogus_too", result.err, re.M), result
    assert result.err.endswith("2 problems; nothing was run\n"), result
    assert not os.path.exists("bad.run")
    event = events_of(wadi("run", "bad.yaml", "--json").out)[-1]
    is_equal((event["event"], event["status"]), ("error", "scene"))


def test_overrides_reach_the_scene():
    write("scene.yaml", SCENE)
    result = wadi("check", "scene.yaml", "--set", "bogus=1")
    is_equal(result.code, 2, result)
    contains(result.err, "bogus")
    result = wadi("check", "scene.yaml", "--solver", "nonsense")
    is_equal(result.code, 2, result)
    contains(result.err, "nonsense")
    text = good("check", "scene.yaml", "--json", "--set", "frames=7", "--set", "frames=9").out
    is_equal(json.loads(text)["frames"], 9)
    write("other.yaml", SCENE.replace("solver: points", "solver: nonsense"))
    good("check", "other.yaml", "--solver", "points")


# Check, info, schema


def test_check_prints_a_table():
    write("scene.yaml", SCENE)
    text = good("check", "scene.yaml").out
    for row in ("scene", "solver", "frames", "cell size", "spacing", "particles", "memory", "disk",
                "first step", "steps a frame"):
        assert re.search(rf"^{row} +\S", text, re.M), row
    assert not os.path.exists("scene.run"), "check must write nothing"


def test_check_json_has_the_numbers():
    write("scene.yaml", SCENE)
    found = json.loads(good("check", "scene.yaml", "--json").out)
    is_equal((found["scene"], found["solver"], found["frames"]), ("scene.yaml", "points", 5))
    for key in ("cell_size", "spacing", "particles", "particles_end", "memory_bytes", "disk_bytes", "step",
                "steps_per_frame"):
        assert found[key] > 0, (key, found)
    assert isinstance(found["step_limit"], str) and isinstance(found["warnings"], list), found
    # resolution 16: the longest side of the domain, 1 m, has 16 cells.
    assert abs(found["cell_size"] - 1 / 16) < 1e-12, found
    is_equal(json.loads(good("check", "scene.yaml", "--frames", "50", "--json").out)["frames"], 50)


def test_json_survives_odd_file_names():
    name = b'a "b"\n\x01\xff.yaml'
    with open(name, "w", encoding="utf-8") as file:
        file.write(SCENE + "name: pile\n")
    found = json.loads(good("check", name, "--json").out)
    is_equal((found["scene"], found["name"]), ('a "b"\n\x01\ufffd.yaml', "pile"))
    good("run", name, "-o", b"odd\xff.run", "-q")
    assert all(events_of(good("run", name, "-o", b"odd\xff.run", "--overwrite", "--json").out))
    is_equal(json.loads(good("info", b"odd\xff.run", "--json").out)["scene"], 'a "b"\n\x01\ufffd.yaml')
    with open(b"odd\xff.run/run.json", encoding="utf-8") as file:
        is_equal(json.load(file)["scene"], 'a "b"\n\x01\ufffd.yaml')


def test_info_describes_runs_and_frames():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-q")
    frame = os.path.join("scene.run", "particles", frame_files("scene.run")[0])
    for path in ("scene.run", frame):
        text = good("info", path).out
        assert text.strip() and text.endswith("\n"), path
        assert isinstance(json.loads(good("info", "--json", path).out), dict)


def test_info_of_nothing_fails():
    result = wadi("info", "none.run")
    is_equal((result.code, result.out), (1, ""), result)
    contains(result.err, "none.run")
    is_equal(events_of(wadi("info", "none.run", "--json").out)[-1]["event"], "error")


def test_schema_is_json_and_the_reference_markdown():
    contains(json.loads(good("schema").out), "$schema")
    contains(good("schema", "--markdown").out, "# ")


def test_output_that_cannot_be_written_is_an_error():
    for arguments in (["schema"], ["--help"], ["--version"], ["run", "--help"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = wadi(*arguments, stdout=full)
        is_equal(result.code, 1, result)
        contains(result.err, "standard output")
        quoted = " ".join(shlex.quote(word) for word in [WADI, *arguments])
        closed = subprocess.run(["bash", "-c", quoted + " >&-"], stderr=subprocess.PIPE, text=True,
                                check=False)
        is_equal(closed.returncode, 1, closed.stderr)
        contains(closed.stderr, "standard output")


def test_events_that_cannot_be_written_do_not_stop_the_run():
    write("scene.yaml", SCENE)
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = wadi("run", "scene.yaml", "--json", stdout=full)
    is_equal(result.code, 1, result)
    contains(result.err, "standard output")
    is_equal(len(frame_files("scene.run")), 5)


if __name__ == "__main__":
    main(globals())
