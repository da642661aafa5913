"""Every example of the documents is a scene that wadi reads: whole scenes, pieces of scenes, `key: value` in a sentence and
--set on a command line."""
import os
import re
import subprocess

from cli_harness import ROOT, contains, is_equal, main, read, wadi, write

SOLVER, DOMAIN = "solver: flip", "domain: {min: [-2, -2, -2], max: [2, 2, 2]}"
MATERIALS = "materials: {sand: {kind: sand}, water: {kind: water}}"
BODIES = "bodies: [{material: sand, shape: {box: {size: 0.1}}}]"

# A scene around an example of each section of docs/scene-reference.md; %s is the example, in braces or not.
PLACES = {
    "scene": "%(keys)s",
    "domain": "domain: %(map)s",
    "walls": "domain: {min: [0, 0, 0], max: [1, 1, 1], walls: %(map)s}",
    "material": "materials:\n  %(keys)s",
    "body": "bodies:\n%(list)s",
    "collider": "colliders:\n%(list)s",
    "emitter": "emitters:\n%(list)s",
    "drain": "drains:\n%(list)s",
    "force": "forces:\n%(list)s",
    "shape": "bodies: [{material: sand, shape: %(map)s}]",
    "keyframes": "domain: {min: [0, 0, 0], max: [1, 1, 1], walls: {friction: %(map)s}}",
    "key": "gravity: {keys: [%(map)s]}",
    "flip": "flip: %(map)s",
    "sph": "solver: sph\nsph: %(map)s",
    "adaptive": "solver: sph\nsph: {adaptive: %(map)s}",
    "near": "solver: sph\nsph: {adaptive: {near: %(map)s}}",
    "dem": "solver: dem\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\ndem: %(map)s",
    "surface": "surface: %(map)s",
    "secondary": "secondary: %(map)s",
    "render": "render: %(map)s",
    "camera": "render: {camera: %(map)s}",
    "light": "render: {light: %(map)s}",
    "solid_look": "colliders: [{shape: {sphere: {radius: 0.1}}, look: %(map)s}]",
    "look": "materials: {sand: {kind: sand, look: %(map)s}, water: {kind: water}}",
}
# A sentence on a key of materials does not say the kind: every kind is tried.
MATERIAL_MAPS = ["materials: {sand: {kind: sand}, water: {kind: water, %s}}",
                 "materials: {water: {kind: water}, sand: {kind: sand, %s}}"]


def documents():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=False)
    names = listed.stdout.split()
    if listed.returncode != 0:  # an unpacked release has no git
        names = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, files in os.walk(ROOT)
                 for name in files if name.endswith(".md") and "/build" not in folder]
    return {name: read(os.path.join(ROOT, name)) for name in names if name != "CHANGELOG.md"}


def scene_with(piece):
    """A whole scene: the piece, and the keys that every scene must have."""
    keys = re.findall(r"^(\w+):", piece, re.M)
    lines = ["wadi: 1", piece]
    lines += [line for line in (SOLVER, DOMAIN, MATERIALS, BODIES) if line.split(":")[0] not in keys]
    if "on: table" in piece and "name: table" not in piece:
        lines.append("colliders: [{name: table, shape: {box: {size: 0.2}}}]")
    if "resolution" not in keys and "cell_size" not in keys:
        lines.append("cell_size: 0.05")
    return "\n".join(lines) + "\n"


def write_meshes(scene):
    """The meshes that a scene names, as tetrahedra."""
    for name in re.findall(r"[\w%]+(?:\.%\d+d)?\.obj", scene):
        last = int(re.search(r"last: (\d+)", scene).group(1)) if "%" in name else 1
        for number in range(1, last + 1):
            write(name % number if "%" in name else name,
                  "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")


def problem_with(scene):
    write_meshes(scene)
    write("example.yaml", scene)
    result = wadi("info", "example.yaml")
    return "" if result.code == 0 else result.err


def sections_of(text):
    """[(line number, heading, fenced block)] of the yaml blocks."""
    blocks, heading, begin, lines = [], "", None, []
    for number, line in enumerate(text.splitlines(), 1):
        if begin is not None:
            if line.strip() == "```":
                blocks.append((begin, heading, "\n".join(lines)))
                begin = None
            else:
                lines.append(line)
        elif re.match(r"\s*```ya?ml", line):
            begin, lines = number, []
        elif line.startswith("#"):
            heading = line.lstrip("# ").strip()
    assert begin is None, "a block has no end"
    return blocks


def place(section, block):
    return scene_with(PLACES[section] % {"map": block, "keys": block.strip(), "list": block})


def test_yaml_blocks_are_scenes_or_pieces_of_scenes():
    count, top_level = 0, keys_of_sections()["scene"]
    for name, text in documents().items():
        for line, heading, block in sections_of(text):
            if block.startswith("wadi:"):
                scene = block + "\n"
            elif heading not in PLACES and block.split(":")[0] in top_level:
                scene = scene_with(block)
            else:
                assert heading in PLACES, f"{name}:{line}: say in PLACES where a piece below '{heading}' stands"
                scene = place(heading, block)
            is_equal(problem_with(scene), "", f"{name}:{line}:\n{scene}")
            count += 1
    assert count >= 15, f"only {count} blocks found"


def test_every_section_of_the_reference_has_an_example_that_is_read():
    text = read(os.path.join(ROOT, "docs", "scene-reference.md"))
    with_example = {heading for _, heading, _ in sections_of(text)}
    is_equal(sorted(set(PLACES) - with_example - {"scene"}), [])


def keys_of_sections():
    sections, heading = {}, ""
    for line in read(os.path.join(ROOT, "docs", "scene-reference.md")).splitlines():
        if line.startswith("## "):
            heading = line[3:]
        row = re.match(r"\| `(\w+)` \|", line)
        if row:
            sections.setdefault(heading, set()).add(row.group(1))
    return sections


def readings_of(span, sections):
    """The scenes that a piece of text in backticks can stand for."""
    inner = span[1:-1] if span.startswith("{") else span
    first = inner.split(":")[0].strip()
    for section, keys in sections.items():
        if first in keys and section == "material":
            yield from (scene_with(form % inner) for form in MATERIAL_MAPS)
        elif first in keys and section in ("flip", "sph", "dem", "surface", "secondary", "render", "look", "walls", "light"):
            yield place(section, "{" + inner + "}")
        elif first in keys and section == "scene" and not span.startswith("{"):
            # Settings of a solver stand with the solver.
            box = "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
            yield scene_with({"sph": "solver: sph\n", "dem": "solver: dem\n" + box}.get(first, "") + inner)


def test_keys_with_values_in_sentences_are_read():
    sections, count = keys_of_sections(), 0
    for name, text in documents().items():
        plain = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.S | re.M)
        for span in re.findall(r"`([^`\n]+)`", plain):
            if not re.fullmatch(r"\{?[a-z_]+: [^|…]+", span):
                continue
            scenes = list(readings_of(span, sections))
            if scenes:
                problems = [problem_with(scene) for scene in scenes]
                assert "" in problems, f"{name}: `{span}`: {problems}"
                count += 1
    assert count >= 8, f"only {count} spans found"


def test_settings_on_command_lines_are_read():
    text = "\n".join(documents().values()) + wadi("help", "run").out + wadi("help", "gallery").out
    text = re.sub(r"^```sh fails$.*?^```$", "", text, flags=re.S | re.M)  # test_cli_guides: these fail
    settings = {(quoted or word).rstrip(".,;)")
                for quoted, word in re.findall(r"--set (?:'([^']+)'|([\w.\[\]]+=[^\s`']+))", text)}
    keys = keys_of_sections()["scene"]
    settings = {setting for setting in settings
                if re.split(r"[.\[=]", setting)[0] in keys and not re.search("=[A-Z…]", setting)}  # width=W is a placeholder
    assert len(settings) >= 5, settings
    rest = ("render: {}\nsurface: {}\ncolliders: [{shape: {sphere: {center: [0, 0, 1], radius: 0.2}}}]\n"
            "emitters: [{material: sand, shape: {sphere: {radius: 0.1}}, rate: 0.001}]")
    write("base.yaml", scene_with("solver: flip\nresolution: 8\nflip: {}\n" + rest))
    write("dem.yaml", scene_with("solver: dem\ndomain: {min: [-1, -1, -1], max: [1, 1, 2]}\nresolution: 8\ndem: {}\n" + rest))
    for setting in sorted(settings):
        result = wadi("check", "dem.yaml" if setting.startswith("dem.") else "base.yaml", "--set", setting)
        is_equal(result.code, 0, f"--set {setting}\n{result}")


def test_defaults_of_the_reference_are_plain_numbers():
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|", read(os.path.join(ROOT, "docs", "scene-reference.md")),
                      re.M)
    defaults = {key: default.strip() for key, _, default in rows}
    is_equal((defaults["sweeps"], defaults["width"], defaults["texture"], defaults["sleep"]),
             ("60", "960", "false", "true"))
    blank = [key for key, kind, default in rows if kind.strip() == "boolean" and default.strip() not in ("true", "false")]
    is_equal(blank, [])
    assert not any(re.search(r"\de\+", default) for default in defaults.values()), defaults


def words_in(text):
    """Words, without numbers, signs and the bars of tables."""
    return sum(any(c.isalpha() for c in word) for word in text.split())


def test_documents_can_be_read_through():
    counts = {name: words_in(text) for name, text in documents().items() if name.startswith("docs")}
    assert sum(counts.values()) < 50000, sorted(counts.items(), key=lambda item: item[1])[-8:]
    assert counts[os.path.join("docs", "theory.md")] < 9000, counts


def test_a_wrong_example_is_found():
    contains(problem_with(place("camera", "{from: {keys: [{t: 0, v: [3, -3, 1]}]}, to: [0, 0, 0]}")), "unknown key")


if __name__ == "__main__":
    main(globals())
