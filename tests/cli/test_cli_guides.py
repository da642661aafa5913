"""The commands of the tutorial, the how-tos and the list of questions run as they stand there, on small scenes."""
import glob
import os
import re
import shlex
import shutil
import subprocess

from cli_harness import ROOT, TIMEOUT, WADI, clean_environment, contains, is_equal, main, needs, read, write

BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.S | re.M)
# A small scene of sand, water, an emitter and a collider: what the how-tos call scene.yaml.
SCENE = """\
wadi: 1
name: scene
solver: flip
domain: {min: [0, 0, 0], max: [1, 0.5, 0.5]}
resolution: 16
frames: 3
checkpoint_every: 2
materials: {sand: {kind: sand}, water: {kind: water}}
bodies:
  - {material: sand, shape: {box: {min: [0.5, 0, 0], max: [0.9, 0.5, 0.3]}}}
  - {material: water, velocity: [2, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.3, 0.5, 0.3]}}}
colliders:
  - {name: post, shape: {cylinder: {from: [0.5, 0.25, 0], to: [0.5, 0.25, 0.4], radius: 0.08}}}
"""


def page(name):
    return read(os.path.join(ROOT, "docs", name))


def sections(text):
    """[(heading, text)] of the parts below `##`."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def small(line):
    """The command with few cells, frames and pixels; everything else as it is written."""
    line = re.sub(r"resolution=\d+", "resolution=18", line)
    line = re.sub(r"--size \d+x\d+", "--size 64x36", line)
    line = re.sub(r"--frames [1-9]\d+(-\d+)?", "--frames 3", line)
    line = re.sub(r"--from-frame \d+", "--from-frame 2", line)
    if line.startswith("wadi render"):
        line += " --samples 1" + ("" if "--size" in line else " --size 64x36")
    return line


def run_block(name, kind, block):
    for line in block.strip().replace("\\\n", " ").splitlines():
        command = small(line.split(" #")[0].strip())
        words = shlex.split(command)
        if words and words[0] == "wadi":
            words[0] = WADI
            result = subprocess.run(words, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                                    env=clean_environment(), check=False)
            expected = 2 if kind == "fails" else 0
            is_equal(result.returncode, expected, f"{name}: {line}\n{command}\n{result.stdout}{result.stderr}")
        else:
            assert words[0] in ("export", "mkdir", "cd", "make"), f"{name}: {line}: a command that no test runs"


def coarse(scene):
    scene = re.sub(r"^resolution: \d+", "resolution: 16", scene, flags=re.M)
    return re.sub(r"^frames: \d+", "frames: 3", scene, flags=re.M)


def test_the_tutorial_runs_and_leads_to_its_scenes():
    needs("ffmpeg")
    steps = {re.match(r"\d", os.path.basename(path)).group(): path
             for path in glob.glob(os.path.join(ROOT, "scenes", "tutorial", "*.yaml"))}
    seen, commands = set(), 0
    for heading, text in sections(page("tutorial.md")):
        number = heading[0]
        for language, kind, block in BLOCK.findall(text):
            if language == "yaml":
                scene = read(steps[number])
                contains(scene, block)
                write("tower.yaml", coarse(scene))
                seen.add(number)
            elif language == "sh":
                run_block("tutorial.md", kind.strip(), block)
                commands += 1
    is_equal(sorted(seen), sorted(steps))
    assert commands >= 10, commands
    for name in ("tower.run/tower.mp4", "tower.run/tower.sheet.png", "tower.layout.png", "shot.run/tower.mp4"):
        assert os.path.exists(name), name


def test_each_step_of_the_tutorial_says_all_that_changes():
    """Every line of a step's scene is in the step before, or in a block of the step."""
    paths = sorted(glob.glob(os.path.join(ROOT, "scenes", "tutorial", "*.yaml")))
    before = set()
    for path in paths:
        number = os.path.basename(path)[0]
        said = {line for heading, text in sections(page("tutorial.md")) if heading[0] == number
                for language, _, block in BLOCK.findall(text) if language == "yaml" for line in block.splitlines()}
        lines = set(read(path).splitlines()[1:])
        is_equal(sorted(lines - before - said), [], path)
        before = lines


def run_page(name, least):
    write("scene.yaml", SCENE)
    is_equal(subprocess.run([WADI, "run", "scene.yaml", "-q"], check=False, timeout=TIMEOUT).returncode, 0)
    commands = 0
    for number, (heading, text) in enumerate(sections(page(name))):
        blocks = [(kind.strip(), block) for language, kind, block in BLOCK.findall(text) if language == "sh"]
        if not blocks:
            continue
        folder = f"section{number}"
        os.mkdir(folder)
        shutil.copy("scene.yaml", folder)
        shutil.copytree("scene.run", os.path.join(folder, "scene.run"))
        os.chdir(folder)
        for kind, block in blocks:
            run_block(f"{name}, {heading}", kind, block)
            commands += 1
        os.chdir("..")
    assert commands >= least, commands


def test_the_commands_of_the_how_tos_run():
    needs("ffmpeg")
    run_page("howto.md", 6)


def test_the_commands_of_the_questions_run():
    run_page("faq.md", 3)


if __name__ == "__main__":
    main(globals())
