"""Valid scenes with a likely mistake: `wadi check` and `wadi run` warn of it with file, line and column. The scenes of the tree give no
warning."""
import glob
import json
import os
import resource
import subprocess
import time

from cli_harness import ROOT, WADI, clean_environment, contains, events_of, good, is_equal, is_quick, main, read, write

HEAD = """\
wadi: 1
solver: flip
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 20
frames: 3
materials: {sand: {kind: sand}, water: {kind: water}}
"""
BODY = "bodies: [{material: sand, shape: {box: {min: [0.2, 0.2, 0], max: [0.4, 0.4, 0.2]}}}]\n"
GRAINS = """\
wadi: 1
solver: dem
cell_size: 0.05
frames: 3
materials: {sand: {kind: sand}}
""" + BODY


def tetrahedron(scale):
    corners = ((0.2, 0.2, 0.1), (0.8, 0.2, 0.1), (0.5, 0.8, 0.1), (0.5, 0.4, 0.6))
    return "".join(f"v {scale * x} {scale * y} {scale * z}\n" for x, y, z in corners) + \
        "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def body(shape):
    return HEAD + "bodies: [{material: sand, shape: {%s}}]\n" % shape


def with_body(text):
    return HEAD + BODY + text + "\n"


# By name: the scene, written to scene.yaml, and words of its warning.
SCENES = {
    "outside": (body("box: {min: [2, 0, 0], max: [3, 1, 1]}"),
                ["scene.yaml:7:10: bodies[0] of sand", "no particles", "outside the domain", "x_max", "1 m beyond"]),
    "outside_turned": (body("box: {size: 0.1}, rotate: [30, 0, 0], translate: [0.5, 0.5, -0.3]"), ["z_min"]),
    "nothing": (body("box: {min: [2, 0, 0], max: [3, 1, 1]}"), ["nothing would be simulated"]),
    "small": (body("sphere: {center: [0.5, 0.5, 0.5], radius: 0.0005}"), ["smaller than one particle", "unit"]),
    "thin": (body("box: {min: [0.2, 0.2, 0], max: [0.4, 0.4, 0.03]}"), ["0.03 m thin", "a cell of 0.05 m"]),
    "millimetres": (body("mesh: {file: large.obj}"), ["millimetres", "scale: 0.001"]),
    "millimetres_away": (body("mesh: {file: large.obj}, translate: [300, 0, 0]"), ["millimetres", "scale: 0.001"]),
    "centimetres": (body("mesh: {file: larger.obj}"), ["centimetres", "scale: 0.01"]),
    "cut": (body("box: {min: [0.2, 0.2, 0], max: [0.4, 0.4, 2]}"), ["cut off by the domain", "50 %", "z_max"]),
    "cut_ball": (body("sphere: {center: [0, 0.5, 0.5], radius: 0.3}"), ["cut off by the domain", "50 %", "x_min"]),
    "cut_all_round": (body("box: {min: [-300, -300, -300], max: [300, 300, 300]}"),
                      ["cut off by the domain", "more than 99 %", "x_min, x_max, y_min, y_max, z_min, z_max"]),
    "millimetres_all_round": (body("mesh: {file: large.obj}, translate: [-499.5, -399.5, -199.5]"),
                              ["cut off by the domain", "millimetres", "scale: 0.001"]),
    "buried": (body("sphere: {center: [0.5, 0.5, 0.5], radius: 0.1}") +
               "colliders: [{name: rock, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}}]\n",
               ["no particles", "inside colliders[0] 'rock'"]),
    "nearly_buried": (body("sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}") +
                      "colliders: [{name: rock, shape: {sphere: {center: [0.5, 0.5, 0.45], radius: 0.22}}}]\n",
                      ["inside colliders", "'rock'"]),
    "same_place": (HEAD + "bodies: [{material: sand, shape: {box: {size: 0.6, center: [0.5, 0.5, 0.5]}}}, "
                          "{material: water, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n",
                   ["bodies[1] of water", "inside bodies[0]"]),
    "collider_outside": (with_body("colliders: [{name: ball, shape: {sphere: {center: [0, 0, -5], radius: 0.5}}}]"),
                         ["scene.yaml:8:13: colliders[0] 'ball' has no effect", "4.5 m beyond", "z_min"]),
    "collider_millimetres": (with_body("colliders: [{shape: {mesh: {file: large.obj}, translate: [0, 0, -1]}}]"),
                             ["colliders[0]", "millimetres"]),
    "emitter_outside": (with_body("emitters: [{material: water, rate: 0.01, shape: {sphere: {center: [0.5, 0.5, 1.5], "
                                  "radius: 0.1}}}]"), ["emitters[0] pours nothing", "z_max"]),
    "emitter_buried": (with_body("emitters: [{material: water, rate: 0.01, shape: {sphere: {center: [0.5, 0.5, 0.7], "
                                 "radius: 0.1}}}]\ncolliders: [{shape: {box: {min: [0.3, 0.3, 0.5], max: [0.7, 0.7, 0.9]}}}]"),
                       ["emitters[0] pours nothing", "inside colliders[0]"]),
    "emitter_litres": (with_body("emitters: [{material: water, rate: 2, shape: {sphere: {center: [0.5, 0.5, 0.7], "
                                 "radius: 0.1}}}]"), ["fills the whole domain in 0.5 s", "litre"]),
    "emitter_slow": (with_body("emitters: [{material: water, rate: 1.0e-7, shape: {sphere: {center: [0.5, 0.5, 0.7], "
                               "radius: 0.1}}}]"), ["pours no particle"]),
    "drain_outside": (with_body("drains: [{shape: {box: {min: [0, 0, -2], max: [1, 1, -1]}}}]"),
                      ["drains[0] removes nothing", "z_min"]),
    "density": ((HEAD + BODY).replace("{kind: sand}", "{kind: sand, density: 1.6}"),
                ["scene.yaml:6:41: materials.sand.density is 1.6 kg/m^3", "g/cm^3", "1600 kg/m^3"]),
    "density_water": ((HEAD + BODY).replace("{kind: water}", "{kind: water, density: 1}"),
                      ["materials.water.density", "1000 kg/m^3"]),
    "angle": ((HEAD + BODY).replace("{kind: sand}", "{kind: sand, friction_angle: 0.6}"),
              ["materials.sand.friction_angle is 0.6 degrees", "radians would be 34.4 degrees"]),
    "angle_fast": ((HEAD + BODY).replace("{kind: sand}", "{kind: sand, friction_angle_fast: 0.5}"),
                   ["materials.sand.friction_angle_fast"]),
    "angle_of_grains": (GRAINS.replace("{kind: sand}", "{kind: sand, friction_angle: 45}"),
                        ["scene.yaml:5:48: materials.sand.friction_angle is 45 degrees", "from 20 to 40 degrees"]),
    "angle_of_cubes": (GRAINS + "dem: {shape: cubes}\n", ["scene.yaml: materials.sand.friction_angle is 35 degrees",
                                                          "cubes", "from 20 to 25 degrees"]),
    "turn": (body("box: {min: [0.2, 0.2, 0], max: [0.4, 0.4, 0.2]}, rotate: [0, 0, 0.785], pivot: [0.3, 0.3, 0]"),
             ["rotate of this shape is 0.785 degrees", "45 degrees"]),
    "tension": ((HEAD + BODY).replace("{kind: water}", "{kind: water, surface_tension: 72}"),
                ["surface_tension is 72 N/m", "0.072 N/m"]),
    "gravity_up": (with_body("gravity: [0, 0, 9.81]"), ["scene.yaml:8:10: gravity points up"]),
    "gravity_y": (with_body("gravity: [0, -9.81, 0]"), ["gravity points along y", "[0, 0, -9.81] is down"]),
    "gravity_cm": (with_body("gravity: [0, 0, -981]"), ["lengths are metres"]),
    "weightless": (with_body("gravity: [0, 0, 0]"), ["nothing moves"]),
    "friction": ((HEAD + BODY).replace("max: [1, 1, 1]}", "max: [1, 1, 1], walls: {friction: 30}}"),
                 ["scene.yaml:3:60: domain.walls.friction is 30", "coefficient", "would be 0.58"]),
    "friction_collider": (with_body("colliders: [{friction: 20, shape: {sphere: {center: [0.7, 0.7, 0], radius: 0.1}}}]"),
                          ["colliders[0].friction is 20", "would be 0.36"]),
    "camera": (with_body("colliders: [{shape: {sphere: {center: [0.7, 0.7, 0.5], radius: 0.2}}}]\n"
                         "render: {camera: {from: [0.7, 0.7, 0.5], to: [0, 0, 0], angle: 30}}"),
               ["render.camera", "inside colliders[0]"]),
    "camera_angle": (with_body("render: {camera: {from: [3, 3, 3], to: [0, 0, 0], angle: 0.6}}"),
                     ["render.camera.angle is 0.6 degrees"]),
}

# Unusual but sensible: no warning.
FINE = {
    "open_end": body("half_space: {point: [0, 0, 0.2]}"),
    "collider_flush": with_body("colliders: [{friction: 0.2, shape: {box: {min: [0, 0, -1], max: [1, 1, 0]}}}]"),  # the floor's friction
    "tilted_ball": body("sphere: {radius: 0.2}, rotate: [45, 30, 10], translate: [0.5, 0.5, 0.25]"),
    "moves_in": with_body("colliders: [{shape: {sphere: {radius: 0.1}, translate: {keys: [[0, [3, 0.5, 0.5]], "
                          "[9, [0.5, 0.5, 0.5]]]}}}]"),
    "drain_below": HEAD.replace("max: [1, 1, 1]}", "max: [1, 1, 1], walls: {open: [z_min]}}") + BODY +
    "drains: [{shape: {box: {min: [0, 0, -2], max: [1, 1, -1]}}}]\n",
    "frictionless": (HEAD + BODY).replace("{kind: sand}", "{kind: sand, friction_angle: 0}"),
    "drop": (HEAD + "gravity: [0, 0, 0]\nbodies: [{material: water, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n")
    .replace("{kind: water}", "{kind: water, surface_tension: 0.072}"),
    "around_a_rock": body("box: {min: [0, 0, 0], max: [1, 1, 0.5]}") +
    "colliders: [{shape: {sphere: {center: [0.5, 0.5, 0.3], radius: 0.3}}}]\n",
    "turning": with_body("colliders: [{shape: {box: {center: [0.7, 0.7, 0.5], size: 0.1}, pivot: [0.7, 0.7, 0.5], "
                         "rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 360]]], repeat: true}}}]"),
    "grains": GRAINS,
    "no_domain": "wadi: 1\nsolver: points\ncell_size: 0.05\nframes: 2\nmaterials: {sand: {kind: sand}}\n"
                 "bodies: [{material: sand, shape: {sphere: {radius: 0.2}}}]\n",
}


def warnings_of(scene, name="scene.yaml"):
    write(name, scene)
    write("large.obj", tetrahedron(1000))
    write("larger.obj", tetrahedron(50))
    return json.loads(good("check", name, "--no-time", "--json").out)["warnings"]


def test_each_mistake_is_named_once():
    for name, (scene, words) in SCENES.items():
        warnings = warnings_of(scene)
        is_equal(len(warnings), len(set(warnings)), name)
        for word in words:
            assert word in "\n".join(warnings), f"{name}: expected {word!r} in {warnings!r}"


def test_what_is_meant_gives_no_warning():
    for name, scene in FINE.items():
        is_equal(warnings_of(scene), [], name)


def test_the_time_of_a_short_run_is_not_zero():
    write("scene.yaml", HEAD + BODY)
    contains(good("check", "scene.yaml").out, "time           less than a second on ")


def test_the_time_can_be_left_out():
    write("scene.yaml", SCENES["density"][0])
    whole = json.loads(good("check", "scene.yaml", "--json").out)
    quick = json.loads(good("check", "scene.yaml", "--no-time", "--json").out)
    is_equal(quick["warnings"], whole["warnings"])
    assert whole["seconds"] > 0
    is_equal(quick["seconds"], None)
    for name in ("particles_end", "disk_bytes", "step", "steps_per_frame"):
        is_equal(quick[name], whole[name])
    assert "\ntime " not in good("check", "scene.yaml", "--no-time").out


def test_a_run_warns_as_the_check_does():
    for name in ("outside", "density", "cut", "angle_of_grains"):
        write("scene.yaml", SCENES[name][0])
        events = events_of(good("run", "scene.yaml", "-o", name + ".run", "--frames", "1", "--json").out)
        said = [event["text"] for event in events if event["event"] == "warning"]
        for word in SCENES[name][1]:
            contains("\n".join(said), word)
        with open(os.path.join(name + ".run", "run.json"), encoding="utf-8") as file:
            is_equal(json.load(file)["warnings"], said)


def test_scenes_of_the_tree_give_no_warning():
    scenes = glob.glob(os.path.join(ROOT, "scenes", "*", "*.yaml")) + \
        glob.glob(os.path.join(ROOT, "scenes", "gallery", "*", "*.yaml"))
    assert len(scenes) > 20
    for scene in scenes:
        text = read(scene)
        if "bunny.obj" in text or "dragon.ply" in text:
            continue  # its mesh is not in the tree
        coarse = ["--set", "resolution=24"] if "\nresolution:" in text else []
        is_equal(json.loads(good("check", scene, *coarse, "--no-time", "--json").out)["warnings"], [], scene)


HUGE = HEAD.replace("resolution: 20", "cell_size: 0.0017") + "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], " \
    "max: [1, 1, 0.6]}}}]\n"


def limited(*arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    begin = time.monotonic()
    process = subprocess.run([WADI, *arguments], capture_output=True, text=True, preexec_fn=limit, check=False,
                             env=clean_environment())
    return process, time.monotonic() - begin


def test_too_many_particles_are_refused_at_once():
    write("huge.yaml", HUGE)
    good("run", "huge.yaml", "--set", "cell_size=0.1", "--set", "solver=points", "-o", "kept.run", "--frames", "2")
    kept = sorted(os.listdir("kept.run/particles"))
    for command in (["check", "huge.yaml"], ["run", "huge.yaml"], ["run", "huge.yaml", "-o", "kept.run", "--overwrite"]):
        process, seconds = limited(*command)
        is_equal(process.returncode, 1, process)
        is_quick(seconds, 1.0)
        for word in ("million particles", "GB of memory", "GB are there", "cell_size"):
            contains(process.stderr, word)
        assert "--resume" not in process.stderr, process
    assert not os.path.exists("huge.run")
    is_equal(sorted(os.listdir("kept.run/particles")), kept)


def test_pouring_too_much_is_refused_at_once():
    write("pour.yaml", HEAD.replace("resolution: 20", "cell_size: 0.002").replace("frames: 3", "frames: 240") +
          "emitters: [{material: water, rate: 0.09, shape: {sphere: {center: [0.5, 0.5, 0.8], radius: 0.1}}}]\n")
    process, _ = limited("run", "pour.yaml")
    is_equal(process.returncode, 1, process)
    contains(process.stderr, "GB are there")
    good_process, _ = limited("check", "pour.yaml", "--frames", "2")
    is_equal(good_process.returncode, 0, good_process)


if __name__ == "__main__":
    main(globals())
