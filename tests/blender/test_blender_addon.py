#!/usr/bin/env python3
"""The Blender add-on from its archive, in Blender without a window: test_blender_addon.py WADI. With WADI_LONG=1; another Blender as
$BLENDER."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WADI", "wadi"))
BLENDER = os.environ.get("BLENDER", "blender")
STEPS = os.path.join(ROOT, "tests/blender/addon_steps.py")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


if os.environ.get("WADI_LONG", "0") in ("", "0"):
    skip("only with WADI_LONG=1")
if shutil.which(BLENDER) is None:
    skip("blender is not installed")
try:
    import numpy as np
except ImportError:
    skip("numpy is not installed")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "blender"))
from wadi import mesh_files as meshes  # noqa: E402

INSTALL = """\
import bpy, sys
path = sys.argv[-1]
if bpy.app.version < (4, 2):
    bpy.ops.preferences.addon_install(filepath=path)
    bpy.ops.preferences.addon_enable(module="wadi")
else:
    bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True)
bpy.ops.wm.save_userpref()
"""


class Addon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.addClassCleanup(cls.temporary.cleanup)
        home = os.path.join(cls.folder, "home")
        os.makedirs(home)
        cls.environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": os.path.join(home, ".config"), "WADI": WADI, "PWD": cls.folder}
        packed = subprocess.run([sys.executable, os.path.join(ROOT, "blender/make_extension.py"), os.path.join(cls.folder, "pack")],
                                capture_output=True, text=True, check=True).stdout.strip()
        with open(os.path.join(cls.folder, "install.py"), "w", encoding="utf-8") as file:
            file.write(INSTALL)
        told = cls.run_blender("-P", "install.py", "--", packed)
        assert "wadi" in told, told
        cls.baked = cls.step("bake", "try/wave.blend")

    @classmethod
    def run_blender(cls, *arguments, prefix=()):
        result = subprocess.run([*prefix, BLENDER, "-b", "--python-exit-code", "3", *arguments], cwd=cls.folder, env=cls.environment,
                                capture_output=True, text=True, check=False, timeout=900)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout

    @classmethod
    def step(cls, name, *arguments, file=(), prefix=()):
        """The facts that a step tells. Paths that end with .blend are in folders of their own."""
        places = []
        for argument in arguments:
            if argument.endswith(".blend"):
                argument = os.path.join(cls.folder, argument)
                os.makedirs(os.path.dirname(argument), exist_ok=True)
            places.append(argument)
        out = cls.run_blender(*file, "-P", STEPS, "--", name, *places, prefix=prefix)
        lines = [line for line in out.splitlines() if line.startswith("facts ")]
        assert lines, out[-3000:]
        return json.loads(lines[-1][6:])

    def info(self, path):
        told = subprocess.run([WADI, "info", "--json", path], capture_output=True, text=True, check=True).stdout
        return json.loads(told)

    def test_all_roles_bake_and_nothing_else_is_touched(self):
        facts = self.baked
        self.assertEqual(facts["told"], ["FINISHED"], facts)
        self.assertTrue(facts["same"])
        self.assertEqual(len({json.dumps(found) for found in facts["shown"].values()}), 3)
        self.assertLessEqual({"wadi water", "wadi dry_sand", "wadi honey", "wadi foam"}, set(facts["seen"]))
        for name in facts["seen"]:
            self.assertIn("velocity", facts["attributes"][name])
        self.assertLessEqual({"kind", "life", "wetness", "radius"}, set(facts["attributes"]["wadi foam"]))
        self.assertIn("wetness", facts["attributes"]["wadi dry_sand"])
        self.assertAlmostEqual(facts["driest"]["wadi mud"], 0.9, delta=1e-6)  # as wet as the preset looks

    def test_volumes_are_those_of_wadi_and_at_the_start_of_the_boxes(self):
        run = os.path.join(self.folder, "try/wadi/Scene.run")
        for frame, volumes in self.baked["volumes"].items():
            for name in ("water", "dry_sand", "honey"):
                path = os.path.join(run, f"export/blender/{name}.{int(frame):04d}.ply")
                wanted = self.info(path)["volume"] if os.path.exists(path) else 0.0
                self.assertAlmostEqual(volumes["wadi " + name], wanted, delta=1e-4 * wanted, msg=frame + name)
        for name, box in (("water", 0.3 * 0.5 * 0.4), ("dry_sand", 0.3 * 0.5 * 0.2)):
            self.assertAlmostEqual(self.baked["volumes"]["1"]["wadi " + name] / box, 1.0, delta=0.05, msg=name)

    def test_colliders_are_where_blender_has_them(self):
        run = os.path.join(self.folder, "try/wadi/Scene.run")
        out = os.path.join(self.folder, "out")
        subprocess.run([WADI, "export", run, "--to", "blender", "-o", out, "--set", "render.colliders=true", "--quiet"], check=True)
        for number, name in enumerate(("Ball", "Paddle", "Stone")):
            for frame in (1, 2, 13, 24):
                path = os.path.join(out, f"solid.{number}.{frame:04d}.ply")
                columns, _ = meshes.read_ply(path if os.path.exists(path) else os.path.join(out, f"solid.{number}.ply"))
                found = np.stack([columns[axis] for axis in "xyz"], 1).astype(float)
                wanted = np.load(os.path.join(self.folder, f"solids/{name}.{frame}.npy"))
                distances = np.linalg.norm(found[:, None] - wanted[None], axis=2)
                self.assertLess(max(distances.min(0).max(), distances.min(1).max()), 1e-6, (name, frame))

    def test_reopened_and_moved_files_show_the_same(self):
        shutil.copytree(os.path.join(self.folder, "try"), os.path.join(self.folder, "moved/far/away"))
        os.rename(os.path.join(self.folder, "try"), os.path.join(self.folder, "hidden"))
        try:
            facts = self.step("reopen", file=[os.path.join(self.folder, "moved/far/away/wave.blend")])
        finally:
            os.rename(os.path.join(self.folder, "hidden"), os.path.join(self.folder, "try"))
        self.assertEqual(facts["shown"], self.baked["shown"])
        self.assertEqual(facts["before"], {name: found[0] for name, found in self.baked["shown"]["12"].items()})

    def test_undo_keeps_objects_and_frame_together(self):
        facts = self.step("undo", file=[os.path.join(self.folder, "try/wave.blend")])
        self.assertEqual(facts["after"], facts["again"], facts)

    def test_states_follow_edits(self):
        shutil.copytree(os.path.join(self.folder, "try"), os.path.join(self.folder, "states"))
        facts = self.step("states", file=[os.path.join(self.folder, "states/wave.blend")])
        self.assertEqual(facts["states"], {"as baked": "CURRENT", "other object moved": "CURRENT", "collider moved": "OUTDATED",
                                           "moved back": "CURRENT", "longer": "STOPPED", "extended": "CURRENT", "thinner honey": "OUTDATED"})
        self.assertEqual(facts["told"], ["FINISHED"])
        self.assertIn("bake it anew", facts["refused"])
        self.assertEqual(facts["kept"], "mine")
        self.assertTrue(facts["back"])

    def test_results_of_another_file_stay_its_own(self):
        facts = self.step("linked", "linked/sim/a.blend", "linked/shot/b.blend")
        for shown in facts["shown"].values():
            self.assertAlmostEqual(shown["linked"], 0.3 ** 3, delta=0.25 * 0.3 ** 3)  # of 4 cells a side
            self.assertAlmostEqual(shown["own"], 0.6 ** 3, delta=0.1 * 0.6 ** 3)

    def test_hidden_objects_count_and_disabled_ones_are_named(self):
        facts = self.step("hidden", "hidden/h.blend")
        for name in ("Seen", "Eye", "Undrawn"):
            self.assertEqual(facts["ways"][name], [0.2, 0.6], name)
        self.assertNotIn("Excluded", facts["ways"])
        for name in ("Disabled", "Folded"):
            self.assertTrue(facts["said"][name].startswith(f"{name}: it is disabled in viewports"), facts)

    def test_curves_and_metaballs_follow_what_shapes_them(self):
        facts = self.step("shaped", "shaped/s.blend")
        self.assertAlmostEqual(facts["blob"][-1] - facts["blob"][0], 0.1, delta=0.03)  # the other ball moved so far
        self.assertAlmostEqual(facts["ring"][0], 0.5, delta=1e-3)
        self.assertAlmostEqual(facts["ring"][-1], 0.55, delta=1e-3)

    def test_errors_name_the_object(self):
        said = self.step("errors", "errors/e.blend")["said"]
        for text, part in zip(said, ("No object has the role Domain", "Nothing: it has no faces", "Hole: ", "no-such-wadi")):
            self.assertIn(part, text)

    def test_a_file_that_is_opened_meanwhile_is_left_alone(self):
        facts = self.step("opened")
        self.assertEqual((facts["polled"][1:], facts["status"], facts["state"], facts["shown"]), ([None, None], "", "", 0))
        self.assertGreater(facts["polled"][0], 0.0)

    def test_a_stopped_bake_resumes(self):
        facts = self.step("cancel", "cancel/c.blend")
        self.assertIn("Stopped", facts["first"])
        self.assertEqual((facts["state"], facts["compared"], facts["told"], facts["end"]), ("STOPPED", "STOPPED", ["FINISHED"], "CURRENT"))

    def test_a_terminal_bakes_the_same(self):
        facts = self.step("write", "write/w.blend")
        self.assertEqual((facts["code"], facts["state"]), (0, "CURRENT"), facts)
        self.assertGreaterEqual(facts["shown"], 1)

    def lengths(self, engine, prefix=()):
        found = []
        for blur in ("still", "blur"):
            facts = self.step("blur", engine, blur, os.path.join(self.folder, f"{engine}.{blur}.png"), prefix=prefix)
            found.append((facts["first"], facts["last"]))
        return found

    def check_blur(self, still, blurred):
        """100 pixels a metre: 10 pixels, and 10 more on each side."""
        self.assertAlmostEqual(still[1] - still[0] + 1, 10, delta=1)
        self.assertAlmostEqual(still[0] - blurred[0], 10, delta=1.5)
        self.assertAlmostEqual(blurred[1] - still[1], 10, delta=1.5)

    def test_motion_blur_in_cycles_is_as_long_as_the_way(self):
        self.check_blur(*self.lengths("CYCLES"))

    def test_motion_blur_in_eevee_is_as_long_as_the_way(self):
        if shutil.which("xvfb-run") is None:
            self.skipTest("xvfb-run is not installed: EEVEE needs a display")
        self.check_blur(*self.lengths("EEVEE", prefix=("xvfb-run", "-a")))

    def check_ball(self, engine, prefix=()):
        """π 25² pixels, less what a polyhedron of 320 faces lacks."""
        facts = self.step("balls", engine, os.path.join(self.folder, f"{engine}.ball.png"), prefix=prefix)
        self.assertAlmostEqual(facts["lit"] / (np.pi * 25 ** 2), 1.0, delta=0.05)
        self.assertEqual(len(facts["stones"]), 1)
        for scale, low, high in zip(facts["stones"][0], (0.85, 0.85, 0.7), (1.25, 1.1, 1.0)):  # parts of the radius
            self.assertTrue(0.25 * low <= scale <= 0.25 * high, facts)

    def test_points_are_drawn_by_cycles(self):
        self.check_ball("CYCLES")

    def test_points_are_drawn_by_eevee(self):
        if shutil.which("xvfb-run") is None:
            self.skipTest("xvfb-run is not installed: EEVEE needs a display")
        self.check_ball("EEVEE", prefix=("xvfb-run", "-a"))

    def test_the_example_goes_from_the_start_scene_to_a_picture(self):
        """The wave starts at half a metre a second and falls: it is a quarter of a metre further after half a second."""
        blend, picture = (os.path.join(self.folder, "castle", name) for name in ("wave.blend", "wave.png"))
        os.makedirs(os.path.dirname(blend))
        script = os.path.join(ROOT, "examples/blender/wave_on_castle.py")
        self.run_blender("-P", script, "--", blend, "--render", picture, "--resolution", "32", "--frames", "12", "--frame", "12",
                         "--size", "160x90", "--samples", "8")
        self.assertGreater(os.path.getsize(picture), 4000)
        run = os.path.join(self.folder, "castle/wadi/Scene.run")
        fronts = []
        for frame in (1, 12):
            columns, _ = meshes.read_ply(os.path.join(run, f"export/blender/water.{frame:04d}.ply"))
            fronts.append(float(np.quantile(columns["x"], 0.99)))
        self.assertLess(fronts[0], 0.0)  # the sea ends at -0.1
        self.assertGreater(fronts[1], fronts[0] + 0.25)
        self.assertTrue(os.path.exists(os.path.join(run, "export/blender/moist_sand.0012.ply")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
