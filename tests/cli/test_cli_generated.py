"""The files of the tree that are generated from the tables of options: manual, web page, shell completions."""
import json
import os
import re
import shlex
import subprocess
import sys

from cli_harness import (COMMANDS, ROOT, SCENE, contains, good, is_equal, is_usage_error, main, needs, read,
                         wadi, write)


def test_files_in_the_tree_are_up_to_date():
    for option, path in ((["--dump-man"], "docs/man/wadi.1"), (["--dump-markdown"], "docs/cli.md"),
                         (["--dump-completion", "bash"], "cli/completions/wadi.bash"),
                         (["--dump-completion", "zsh"], "cli/completions/_wadi"),
                         (["--dump-completion", "fish"], "cli/completions/wadi.fish")):
        kept = read(os.path.join(ROOT, path))
        assert good(*option).out == kept, f"{path} is old: wadi {' '.join(option)} > {path}"
    contains(is_usage_error("--dump-completion", "tcsh"), "expected bash, zsh or fish")


def test_drawings_of_the_theory_are_up_to_date():
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "theory_figures.py"), "made"], check=True)
    kept = os.path.join(ROOT, "docs", "theory")
    is_equal(sorted(os.listdir("made")), sorted(os.listdir(kept)))
    for name in os.listdir(kept):
        assert read(os.path.join("made", name)) == read(os.path.join(kept, name)), f"{name} is old: tools/theory_figures.py"
        contains(read(os.path.join(ROOT, "docs", "theory.md")), f"(theory/{name})")


def test_manual_page_is_clean():
    needs("mandoc")
    path = os.path.join(ROOT, "docs", "man", "wadi.1")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True,
                          check=False)
    is_equal((lint.returncode, lint.stdout + lint.stderr), (0, ""))


def bash_completions(*words):
    script = os.path.join(ROOT, "cli", "completions", "wadi.bash")
    array = " ".join(shlex.quote(word) for word in words)
    code = f"source {shlex.quote(script)}; COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _wadi; " \
           "printf '%s\\n' \"${COMPREPLY[@]}\""
    result = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True)
    is_equal(result.stderr, "")
    return sorted(line for line in result.stdout.split("\n") if line)


def make_completion_files():
    for name in ("pile.yaml", "pile.json", "note.txt", "my pile.yml"):
        write(name, SCENE)
    for name in ("old.run", "scenes"):
        os.mkdir(name)


def test_bash_completes_commands_options_and_files():
    make_completion_files()
    is_equal(bash_completions("wadi", ""), sorted(COMMANDS))
    is_equal(bash_completions("wadi", "sch"), ["schema"])
    is_equal(bash_completions("wadi", "--v"), ["--version"])
    is_equal(bash_completions("wadi", "run", "--fr"), ["--frames", "--from-frame"])
    is_equal(bash_completions("wadi", "run", ""),
             ["my pile.yml", "old.run", "pile.json", "pile.yaml", "scenes"])
    is_equal(bash_completions("wadi", "run", "pile.y"), ["pile.yaml"])
    is_equal(bash_completions("wadi", "run", "-o", ""), ["old.run", "scenes"])
    is_equal(bash_completions("wadi", "run", "--output", "=", "o"), ["old.run"])
    is_equal(bash_completions("wadi", "run", "--output", "="), ["old.run", "scenes"])
    is_equal(bash_completions("wadi", "run", "--frames", ""), [])
    is_equal(bash_completions("wadi", "info", "note"), ["note.txt"])
    is_equal(bash_completions("wadi", "help", "ru"), ["run"])
    is_equal(bash_completions("wadi", "gallery", "bunny-w"), ["bunny-water"])
    is_equal(bash_completions("wadi", "bench", ""), ["dem", "flip", "sph", "surface"])
    is_equal(bash_completions("wadi", "schema", ""), [])


# The values that an option takes according to the command, and that the shells complete.
CHOICES = {
    ("run", "--solver"): ["dem", "flip", "points", "sph"],
    ("check", "--solver"): ["dem", "flip", "points", "sph"],
    ("view", "--solver"): ["dem", "flip", "points", "sph"],
    ("surface", "--method"): ["anisotropic", "blobby", "color_field", "mls", "zhu_bridson"],
    ("surface", "--format"): ["obj", "ply", "vdb"],
    ("surface", "--up"): ["y", "z"],
    ("render", "--quality"): ["draft", "final", "preview"],
    ("render", "--map"): ["dune", "grey", "kinds", "lagoon", "split"],
    ("export", "--to"): ["blender", "obj", "pbrt", "ply", "pov", "usd", "vdb"],
    ("export", "--up"): ["y", "z"],
}


def test_bash_completes_the_values_of_choices():
    for (command, option), values in CHOICES.items():
        is_equal(bash_completions("wadi", command, option, ""), values)
    is_equal(bash_completions("wadi", "render", "--quality", "=", "d"), ["draft"])
    is_equal(bash_completions("wadi", "export", "--to", "p"), ["pbrt", "ply", "pov"])
    contains(bash_completions("wadi", "bench", "flip", "--case", ""), "water-ball")


def test_what_is_offered_is_what_the_command_takes():
    write("pile.yaml", SCENE)
    good("run", "pile.yaml", "--frames", "1")
    for (command, option), values in CHOICES.items():
        scene = ["pile.yaml"] if command in ("run", "check", "view") else ["pile.run"]
        more = ["--color", "speed", "--frames", "1"] if option == "--map" else ["--to", "ply"] if (command, option) == ("export", "--up") else []
        refused = wadi(command, *scene, option, "nonsense", *more)
        assert refused.code != 0, f"{command} {option}"
        if "built without the page" in refused.err:
            continue
        for value in values:
            contains(refused.err, value)


def test_options_that_stand_for_a_key_offer_all_its_values():
    keys = json.loads(good("schema").out)["properties"]
    for command in ("run", "check", "view"):
        is_equal(CHOICES[command, "--solver"], sorted(keys["solver"]["enum"]))
    is_equal(CHOICES["surface", "--method"], sorted(keys["surface"]["properties"]["method"]["enum"]))


def test_zsh_and_fish_offer_the_values_of_choices():
    zsh = read(os.path.join(ROOT, "cli", "completions", "_wadi"))
    fish = read(os.path.join(ROOT, "cli", "completions", "wadi.fish"))
    for (command, option), values in CHOICES.items():
        entry = next(line for line in zsh.split(f"        {command})", 1)[1].splitlines() if f"{option}=[" in line)
        is_equal(sorted(re.search(r":\(([^)]*)\)'", entry).group(1).split()), values)
        entry = next(line for line in fish.splitlines()
                     if f"from {command}'" in line and f" -l {option[2:]} " in line)
        is_equal(sorted(re.search(r"-a '([^']*)'", entry).group(1).split()), values)


def test_fish_completes_commands_options_and_files():
    needs("fish")
    make_completion_files()
    script = os.path.join(ROOT, "cli", "completions", "wadi.fish")

    def fish(line):
        code = f"source {shlex.quote(script)}; complete -C {shlex.quote(line)}"
        result = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True,
                                check=True)
        return [entry.split("\t")[0] for entry in result.stdout.splitlines()]

    is_equal(sorted(fish("wadi ")), sorted(COMMANDS))
    is_equal(sorted(fish("wadi run --fr")), ["--frames", "--from-frame"])
    contains(fish("wadi run pi"), "pile.yaml")
    is_equal(fish("wadi run -o old"), ["old.run/"])
    is_equal(fish("wadi help ru"), ["run"])


def test_zsh_completion_is_valid():
    needs("zsh")
    script = os.path.join(ROOT, "cli", "completions", "_wadi")
    result = subprocess.run(["zsh", "-n", script], capture_output=True, text=True, check=False)
    is_equal((result.returncode, result.stderr), (0, ""))
    assert read(script).startswith("#compdef wadi\n")


if __name__ == "__main__":
    main(globals())
