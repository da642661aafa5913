#!/usr/bin/env python3
"""The parts of the Blender add-on that need no Blender, against the real command: test_blender_scene.py WADI."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WADI", "wadi"))
sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
sys.path.insert(0, os.path.join(ROOT, "blender"))
from wadi import keys, mesh_files as meshes, presets, scene_text  # noqa: E402
from wadi.job import Job  # noqa: E402

CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)], np.float32)
TRIANGLES = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
                      (1, 5, 7), (1, 7, 3)], np.int32)
CUBE = meshes.Mesh(CORNERS, TRIANGLES)
STILL = {"friction_angle": [35.0], "cohesion": [0.0], "viscosity": [0.0], "surface_tension": [0.0]}


def placed(center, size=(1, 1, 1), angles=(0, 0, 0)):
    matrix = np.eye(4)
    matrix[:3, :3] = keys.rotation_of(angles) * np.array(size)
    matrix[:3, 3] = center
    return matrix


def made(name, role, center, size, settings=None, samples=None, **others):
    return scene_text.Recorded(name, role, settings or {}, samples or {}, others.get("matrices", [placed(center, size)]),
                               others.get("meshes", [CUBE]))


def domain(**settings):
    return made("The Box", "DOMAIN", (0.5, 0.25, 0.3), (1, 0.5, 0.6),
                {"solver": "flip", "resolution": 16, "open": [], "surface": {"method": "zhu_bridson"}, "foam_amount": 1.0,
                 "dust_amount": 1.0, **settings}, {"wall_friction": [0.5], "wall_restitution": [0.0]})


def body(name="Pond", preset="water", center=(0.2, 0.25, 0.1), size=(0.4, 0.5, 0.2), **numbers):
    values = {**presets.values_of(preset), **numbers}
    settings = {"preset": preset, "body_velocity": [0.0, 0.0, 0.0], "angular_velocity": [0.0, 0.0, 0.0],
                **{key: values[key] for key in ("density", "grain_size", "wetness", "saturation")}}
    return made(name, "BODY", center, size, settings, {key: [values[key]] for key in presets.KEYFRAMED})


def recording(*objects, frames=4):
    return scene_text.Recording("try", frames, 24.0, [[0.0, 0.0, -9.81]], list(objects))


def collider(matrices, name="Paddle"):
    return made(name, "COLLIDER", (0, 0, 0), (1, 1, 1), {"thickness": 0.0}, {"friction": [0.3], "restitution": [0.0]}, matrices=matrices)


class Keys(unittest.TestCase):
    def test_equal_samples_are_a_number_and_straight_lines_two_keys(self):
        self.assertEqual(keys.curve([2.0] * 9, 24), 2.0)
        self.assertEqual(keys.curve([[1.0, 2.0, 3.0]], 24), [1.0, 2.0, 3.0])
        self.assertEqual(keys.curve([0.0, 0.5, 1.0, 1.5, 2.0], 2.0), {"keys": [[0.0, 0.0], [2.0, 2.0]]})

    def test_keys_give_all_samples_back(self):
        samples = [math.sin(0.3 * frame) if frame < 20 else 1.0 for frame in range(50)]
        found = keys.curve(samples, 24)["keys"]
        again = np.interp(np.arange(50) / 24, [key[0] for key in found], [key[1] for key in found])
        self.assertLess(np.abs(again - samples).max(), 1.01e-7)
        self.assertLess(len(found), 25)

    def test_angles_turn_as_the_matrix_says_and_go_on_past_a_half_turn(self):
        turn = keys.rotation_of((0, 0, 90))
        np.testing.assert_allclose(turn @ (1, 0, 0), (0, 1, 0), atol=1e-15)  # from x to y
        turn = keys.rotation_of((90, 0, 90))  # x first: z to -y, then to +x
        np.testing.assert_allclose(turn @ (0, 0, 1), (1, 0, 0), atol=1e-15)
        found = keys.transform([placed((0, 0, 0), angles=(0, 0, angle)) for angle in range(0, 800, 40)], 24)
        self.assertAlmostEqual(found["rotate"]["keys"][-1][1][2], 760.0, places=9)

    def test_motion_that_angles_cannot_follow_becomes_a_sequence(self):
        self.assertIsNone(keys.transform([placed((0, 0, 0), (1, 1, -1))], 24))  # mirrored
        shear = np.eye(4)
        shear[0, 1] = 0.2
        self.assertIsNone(keys.transform([shear], 24))
        poles = [placed((0, 0, 0), angles=(0, 80, 0)), placed((0, 0, 0), angles=(170, 80, 170))]
        self.assertIsNone(keys.transform(poles, 24))

    def test_every_rotation_is_found_again(self):
        for number in range(200):
            angles = 360 * np.modf(number * np.array((0.618, 0.755, 0.569)))[0] - 180
            if number % 10 == 0:
                angles[1] = 90.0 if number % 20 == 0 else -90.0
            turn = keys.rotation_of(angles)
            found = keys.rotation_of(keys.euler_near(turn, np.array((10.0, -500.0, 400.0))))
            np.testing.assert_allclose(found, turn, atol=1e-9, err_msg=str(angles))


class Files(unittest.TestCase):
    def test_a_mesh_is_read_back_and_mirrors_keep_its_volume(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cube.ply")
            for size in ((2, 3, 0.5), (-2, 3, 0.5), (-2, -3, -0.5)):
                with open(path, "wb") as file:
                    file.write(CUBE.moved(placed((5, 6, 7), size, (10, 20, 30))).bytes())
                columns, triangles = meshes.read_ply(path)
                points = np.stack([columns[axis] for axis in "xyz"], 1)
                np.testing.assert_allclose(points.mean(0), (5, 6, 7))
                self.assertAlmostEqual(meshes.volume(points - points[0], triangles), 3.0, places=12)
            with open(path, "r+b") as file:
                file.truncate(300)
            self.assertRaises(ValueError, meshes.read_ply, path)


class Scenes(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def write(self, *objects, frames=4):
        files = scene_text.build(recording(*objects, frames=frames), "try.meshes")
        os.makedirs(os.path.join(self.folder, "try.meshes"), exist_ok=True)
        for name, data in files.files.items():
            with open(os.path.join(self.folder, "try.meshes", name), "wb") as file:
                file.write(data)
        with open(os.path.join(self.folder, "try.yaml"), "w", encoding="utf-8") as file:
            file.write(files.text)
        return files

    def wadi(self, *arguments):
        return subprocess.run([WADI, *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=300)

    def good(self, *arguments):
        found = self.wadi(*arguments)
        self.assertEqual(found.returncode, 0, found.stderr + found.stdout)
        return found.stdout

    def test_wadi_takes_every_role_solver_and_preset(self):
        times = {"start": 1, "end": 3}
        emitter = made("Tap", "EMITTER", (0.7, 0.25, 0.5), (0.1, 0.1, 0.1),
                       {**body().settings, **times}, {**STILL, "velocity": [[0.0, 0.0, -1.0]] * 2, "rate": [0.0, 0.001, 0.0, 0.0]})
        forces = [made(f"F {kind}", "FORCE", (0.5, 0.2, 0.3), (0.2, 0.2, 0.2), {"force_kind": kind, "radius": 0.5, "use_region": True, **times},
                       {"acceleration": [[0.0, 0.0, 1.0]], "wind": [[3.0, 0.0, 0.0]], "wind_rate": [2.0], "strength": [5.0, 6.0, 7.0, 8.0]})
                  for kind in ("uniform", "drag", "point")]
        moves = [placed((0.5, 0.25, 0.1), (0.1, 0.2, 0.2), (0, 0, 20 * frame)) for frame in range(4)]
        shapes = [meshes.Mesh((CORNERS * (1 + 0.1 * frame)).astype(np.float32), TRIANGLES) for frame in range(4)]
        bend = made("Bend", "COLLIDER", (0.8, 0.4, 0.1), (0.1, 0.1, 0.1), {"thickness": 0.01}, {"friction": [0.3], "restitution": [0.0, 0.1, 0.2, 0.3]},
                    matrices=[placed((0.8, 0.4, 0.1), (0.1, 0.1, 0.1))] * 4, meshes=shapes)
        drain = made("Hole", "DRAIN", (0.95, 0.05, 0.05), (0.1, 0.1, 0.1), times)
        for solver in ("flip", "sph", "dem"):
            for preset in presets.PRESETS:
                if solver == "dem" and presets.PRESETS[preset].kind == "water":
                    continue
                tap = emitter if solver != "dem" else drain
                self.write(domain(solver=solver, open=["z_max"]), body(preset=preset), tap, drain, bend, collider(moves), *forces)
                told = self.wadi("check", "try.yaml", "--no-time")
                self.assertEqual(told.returncode, 0, f"{solver} {preset}: {told.stderr}")

    def test_a_moving_collider_is_where_it_was_recorded(self):
        moves = [placed((0.3 + 0.05 * frame, 0.25, 0.2 + 0.01 * frame ** 2), (0.1, 0.2, 0.05), (25 * frame, 10 * frame, -70 * frame))
                 for frame in range(4)]
        through_poles = [placed((0.8, 0.25, 0.3), (0.05, 0.1, 0.1), angles) for angles in ((0, 80, 0), (170, 80, 170), (40, -85, 0), (0, 90, 30))]
        self.write(domain(), body(), collider(moves, "A"), collider(through_poles, "B"))
        self.good("run", "try.yaml", "--quiet")
        self.good("export", "try.run", "--to", "blender", "--set", "render.colliders=true", "--quiet")
        for frame in range(4):
            for number, matrices in enumerate((moves, through_poles)):
                columns, _ = meshes.read_ply(os.path.join(self.folder, f"try.run/export/blender/solid.{number}.{frame + 1:04d}.ply"))
                found = np.stack([columns[axis] for axis in "xyz"], 1).astype(np.float64)
                wanted = CUBE.moved(matrices[frame]).points
                distances = np.linalg.norm(found[:, None] - wanted[None], axis=2)
                self.assertLess(max(distances.min(0).max(), distances.min(1).max()), 1e-6, (frame, number))

    def test_meshes_of_moving_objects_have_their_true_size(self):
        """Distances to a mesh that wadi scales unevenly are bounds only. A scale that is animated stays."""
        moves = [placed((0.5 + 0.01 * frame, 0.25, 0.2), (0.1, 0.2, 0.05), (0, 0, 9 * frame)) for frame in range(4)]
        files = self.write(domain(), body(), collider(moves))
        self.assertEqual(set(json.loads(files.text)["colliders"][0]["shape"]), {"mesh", "translate", "rotate"})
        columns, _ = meshes.read_ply(os.path.join(self.folder, "try.meshes/Paddle.ply"))
        np.testing.assert_allclose([np.ptp(columns[axis]) for axis in "xyz"], (0.1, 0.2, 0.05), rtol=1e-12)
        growing = [placed((0.5, 0.25, 0.2), (0.1 + 0.01 * frame, 0.2, 0.05)) for frame in range(4)]
        self.assertIn("scale", json.loads(self.write(domain(), body(), collider(growing)).text)["colliders"][0]["shape"])

    def test_errors_name_the_object(self):
        name = "try.yaml"
        cases = [(body("Rain", density=-1.0), "Rain: "), (body("My Sand", "dry_sand", wetness=7.0), "My Sand: "),
                 (made("Hole", "DRAIN", (0, 0, 0), (1, 1, 1), {"start": 9, "end": 2}), "Hole: ")]
        for wrong, start in cases:
            files = self.write(domain(), body(), wrong)
            told = self.wadi("run", name, "--json")
            self.assertEqual(told.returncode, 2, told.stdout)
            text = json.loads(told.stdout.splitlines()[-1])["text"]
            self.assertTrue(scene_text.with_objects(text, files, name).startswith(start), scene_text.with_objects(text, files, name))
        for objects, start in (((body(),), "No object has the role Domain"), ((domain(), domain(), body()), "Several objects"),
                               ((domain(),), "Nothing to simulate"), ((domain(), made("Flat", "DRAIN", (0, 0, 0), (1, 1, 1), meshes=[])), "Flat: ")):
            with self.assertRaises(scene_text.SceneError) as caught:
                scene_text.build(recording(*objects), "try.meshes")
            self.assertTrue(str(caught.exception).startswith(start), caught.exception)

    def test_objects_keep_names_of_their_own(self):
        """Those of wadi have no spaces, no umlauts, and not the names of sides; files may be on a disk that ignores case."""
        names = ["a b", "a_b", "A.B", "a.b", "Öse", "Äse", "x_min", "7"]
        still = {"friction": [0.5], "restitution": [0.0]}
        files = self.write(domain(), body(), *(made(name, "COLLIDER", (0.5, 0.25, 0.01), (0.01, 0.01, 0.01), samples=still) for name in names))
        found = [one["name"] for one in json.loads(files.text)["colliders"]]
        self.assertEqual(len({name.lower() for name in [*found, "x_min"]}), len(names) + 1, found)
        self.assertEqual(len({name.lower() for name in files.files}), len(names) + 1)
        self.good("run", "try.yaml", "--quiet", "--set", "frames=2")
        with open(os.path.join(self.folder, "try.run/forces.csv"), encoding="utf-8") as file:
            solids = [line.split(",")[2] for line in file.readlines()[1:]]
        self.assertEqual(len(set(solids)), len(solids), solids)
        for name, one in zip(names, found):
            said = scene_text.with_objects(f"try.meshes/{one}.ply: cut off", files, "try.yaml")
            self.assertTrue(said.startswith(f"{name}: "), said)

    def test_objects_share_a_material_when_their_numbers_are_equal(self):
        files = scene_text.build(recording(domain(), body("A", "dry_sand"), body("B", "dry_sand"), body("C", "dry_sand", friction_angle=20.0)), "m")
        self.assertEqual(list(json.loads(files.text)["materials"]), ["dry_sand", "dry_sand_2"])
        self.assertEqual(files.places["materials.dry_sand"], "A, B")

    def test_hashes_tell_from_which_frame_on_a_scene_differs(self):
        moves = [placed((0.1 * frame, 0, 0)) for frame in range(8)]
        before = scene_text.content_hashes(recording(domain(), body(), collider(moves), frames=8))
        self.assertEqual(scene_text.content_hashes(recording(body(), collider(moves[:4]), domain()))[:4], before[:4])  # in any order
        moves[5] = placed((9, 0, 0))
        after = scene_text.content_hashes(recording(domain(), body(), collider(moves), frames=8))
        self.assertEqual([a == b for a, b in zip(before, after)], [True] * 5 + [False] * 3)
        other = scene_text.content_hashes(recording(domain(), body(density=999.0), collider(moves), frames=8))
        self.assertFalse(set(other) & set(before))

    def test_a_stopped_job_goes_on_to_the_same_state(self):
        self.write(domain(resolution=32), body(), frames=24)
        self.good("run", "try.yaml", "-o", "whole.run", "--quiet")
        job = Job([[WADI, "run", "try.yaml", "-o", "try.run", "--threads", "1", "--json"]], self.folder)
        while job.outcome is None and job.progress < 0.2:
            time.sleep(0.01)
        job.stop()
        self.assertEqual(job.join().state, "STOPPED", job.outcome)
        self.assertLess(job.progress, 1.0)
        job = Job([[WADI, "run", "try.yaml", "-o", "try.run", "--resume", "--json"], [WADI, "export", "try.run", "--to", "blender", "--json"]], self.folder)
        self.assertEqual(job.join().state, "DONE", job.outcome)
        states = []
        for run in ("whole", "try"):
            with open(os.path.join(self.folder, f"{run}.run", "run.json"), encoding="utf-8") as file:
                states.append(json.load(file)["state_hash"])
        self.assertEqual(states[0], states[1])

    def test_jobs_say_what_went_wrong(self):
        job = Job([["no-such-wadi", "run", "try.yaml"]], self.folder)
        self.assertIn("no-such-wadi", job.join().text)
        job = Job([[WADI, "run", "absent.yaml", "--json"]], self.folder)
        self.assertEqual(job.join().state, "FAILED")
        self.assertIn("absent.yaml", job.outcome.text)

    def test_secondary_frames_are_read_as_wadi_wrote_them(self):
        self.write(domain(resolution=24), body(center=(0.2, 0.25, 0.25), size=(0.4, 0.5, 0.5)), frames=14)
        self.good("run", "try.yaml", "--quiet")
        told = json.loads(self.good("secondary", "try.run", "--json").splitlines()[-2])
        arrays = meshes.read_frame(os.path.join(self.folder, "try.run/secondary/try.0014.h5"))
        self.assertGreater(told["particles"], 0)
        self.assertEqual({len(values) for values in arrays.values()}, {told["particles"]})
        self.assertEqual(arrays["position"].shape[1], 3)
        self.assertTrue(((arrays["position"] > -0.1) & (arrays["position"] < 1.1)).all())
        self.assertLessEqual(set(arrays["kind"]), {0, 1, 2, 3})
        self.assertTrue((arrays["life"] > 0).all())
        self.assertRaises(ValueError, meshes.read_frame, os.path.join(self.folder, "try.yaml"))


class Modules(unittest.TestCase):
    def test_they_are_licensed_typed_and_small(self):
        folder = os.path.join(ROOT, "blender/wadi")
        for name in os.listdir(folder):
            if name.endswith((".py", ".toml")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    lines = file.read().splitlines()
                self.assertEqual(lines[0], "# SPDX-License-Identifier: GPL-3.0-or-later", name)
                self.assertLess(len(lines), 400, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
