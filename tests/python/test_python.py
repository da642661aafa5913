#!/usr/bin/env python3
"""The Python package, from a wheel made of this build's library: test_python.py WADI."""

import contextlib
import copy
import gc
import hashlib
import inspect
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / 'build/wadi'
LIBRARY = COMMAND.parent / 'libwadi.so'


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


try:
    import numpy as np
except ImportError:
    skip('numpy is not installed')
if not LIBRARY.exists():
    skip(f'{LIBRARY} was not built')
if any(name in LIBRARY.read_bytes() for name in (b'__asan_init', b'__tsan_init', b'__ubsan_handle')):
    skip('a library with a sanitizer needs a Python with one')

sys.path.insert(0, str(ROOT / 'python'))
sys.dont_write_bytecode = True
import make_abi  # noqa: E402
import make_wheel  # noqa: E402

sys.path.pop(0)
FOLDER = tempfile.TemporaryDirectory()
TMP = pathlib.Path(FOLDER.name)
WHEEL = make_wheel.make(LIBRARY, TMP / 'wheel', alone=True)
with zipfile.ZipFile(WHEEL) as archive:
    archive.extractall(TMP / 'site')
sys.path.insert(0, str(TMP / 'site'))
import wadi  # noqa: E402

DROP = {'wadi': 1, 'name': 'drop', 'solver': 'points', 'cell_size': 0.0125, 'frames': 25, 'fps': 24,
        'materials': {'sand': {'kind': 'sand', 'density': 1600}},
        'bodies': [{'material': 'sand', 'shape': wadi.box(center=[0, 0, 10], size=[0.1, 0.1, 0.1])}]}
DAM = {'wadi': 1, 'name': 'dam', 'solver': 'flip', 'cell_size': 0.05, 'fps': 24, 'frames': 6,
       'domain': {'min': [0, 0, 0], 'max': [1, 0.5, 0.6]}, 'materials': {'water': {'kind': 'water'}},
       'bodies': [{'material': 'water', 'shape': wadi.box([0, 0, 0], [0.4, 0.5, 0.4])}]}
BIN = {'wadi': 1, 'name': 'bin', 'solver': 'dem', 'cell_size': 0.02, 'frames': 4, 'fps': 24,
       'domain': {'min': [0, 0, 0], 'max': [0.1, 0.1, 0.2], 'walls': {'friction': 0.5}},
       'materials': {'sand': {'kind': 'sand', 'density': 1600, 'friction_angle': 35}},
       'bodies': [{'material': 'sand', 'shape': wadi.box([0, 0, 0], [0.1, 0.1, 0.08])}],
       'colliders': [{'name': 'post', 'shape': wadi.sphere((0.05, 0.05, 0.04), 0.02)}]}


def memory():
    """Resident bytes of this process."""
    return int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


class Interface(unittest.TestCase):
    def test_every_struct_of_the_headers_is_in_the_size_table(self):
        from ctypes import byref, c_int
        from wadi import _abi
        from wadi._library import LIBRARY as library
        count = c_int()
        types = library.wadi_abi_types(byref(count))
        names = {types[i].name.decode() for i in range(count.value)}
        written = set()
        for header in (ROOT / 'include/wadi').glob('*.h'):
            written |= set(re.findall(r'typedef struct (\w+) \{', header.read_text()))
        self.assertEqual(names, written)
        self.assertEqual({s.__name__ for s in _abi.STRUCTS}, written)

    def test_another_layout_is_refused(self):
        from wadi import _abi, _library
        fields = _abi.WadiSimDef._fields_

        class WadiSimDef(_abi.Structure):
            _fields_ = [*fields, ('more', _abi.c_int)]

        kept = _abi.STRUCTS
        _abi.STRUCTS = (WadiSimDef,)
        try:
            with self.assertRaisesRegex(ImportError, 'WadiSimDef has 40 bytes in the library and 48'):
                _library._check(_library.LIBRARY)
        finally:
            _abi.STRUCTS = kept

    def test_c_that_cannot_be_read_is_an_error(self):
        with self.assertRaises(SystemExit):
            make_abi.Abi().add_header('typedef struct A { Unknown x; } A;')
        with self.assertRaises(SystemExit):
            make_abi.Abi().add_header('int x;')

    def test_the_wheel_is_complete(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = wheel.namelist()
            record = next(n for n in names if n.endswith('/RECORD'))
            rows = [r.split(',') for r in wheel.read(record).decode().splitlines()]
            self.assertEqual([r[0] for r in rows], names)
            for name, digest, size in rows[:-1]:
                content = wheel.read(name)
                self.assertEqual(len(content), int(size))
                import base64
                made = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
                self.assertEqual(digest, f'sha256={made}')
        again = make_wheel.make(LIBRARY, TMP / 'again', alone=True)
        self.assertEqual(again.read_bytes(), WHEEL.read_bytes())

    def test_pip_installs_it_without_an_index(self):
        venv = TMP / 'venv'
        made = subprocess.run([sys.executable, '-m', 'venv', '--system-site-packages', venv], capture_output=True)
        if made.returncode != 0:
            self.skipTest('python3-venv is not installed')
        python = venv / 'bin/python'
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', '--no-index', WHEEL], check=True, cwd=TMP)
        out = subprocess.run([python, '-c', 'import wadi; print(wadi.__version__, wadi.__file__)'], check=True,
                             capture_output=True, text=True, cwd=TMP).stdout
        self.assertIn(str(venv.resolve()), out)
        subprocess.run([python, '-m', 'pip', 'uninstall', '--quiet', '--yes', 'wadi'], check=True, cwd=TMP)


class Scenes(unittest.TestCase):
    def test_dict_text_and_file_are_the_same_scene(self):
        path = TMP / 'drop.yaml'
        path.write_text(json.dumps(DROP))
        for scene in (wadi.Scene(DROP), wadi.Scene(text=json.dumps(DROP)), wadi.Scene(path), wadi.Scene(str(path))):
            self.assertEqual((scene.name, scene.solver, scene.frames, scene.fps), ('drop', 'points', 25, 24.0))
        self.assertEqual(wadi.Scene(path, {'frames': 7}).frames, 7)
        self.assertEqual(wadi.Scene(path, ['frames=8']).frames, 8)
        self.assertEqual(wadi.Scene({**DROP, 'frames': np.int64(9)}).frames, 9)

    def test_mistakes_have_their_place(self):
        path = TMP / 'bad.yaml'
        path.write_text('wadi: 1\nsolver: points\ncell_size: -1\nmaterails: {}\n')
        with self.assertRaises(wadi.SceneError) as caught:
            wadi.Scene(path)
        places = [(pathlib.Path(file).name, line) for file, line, _, _ in caught.exception.problems if file]
        self.assertIn(('bad.yaml', 3), places)
        self.assertIn(('bad.yaml', 4), places)
        self.assertIn('materials', str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(wadi.FileError):
            wadi.Scene(TMP / 'missing.yaml')
        with self.assertRaises(TypeError):
            wadi.Scene()

    def test_estimate_schema_and_facts(self):
        scene = wadi.Scene(DAM)
        self.assertEqual(scene.estimate().particles_start, len(scene.simulate(threads=1)))
        self.assertIn('materials', wadi.schema()['properties'])
        self.assertEqual(scene.facts()['materials'][0]['name'], 'water')


class Simulations(unittest.TestCase):
    def test_a_cube_falls_as_galileo_says(self):
        sim = wadi.Scene(DROP).simulate(threads=1)
        times = [frame.time for frame in sim]
        self.assertEqual(len(times), 24)
        self.assertAlmostEqual(sim['position'].z.mean(), 10 - 0.5 * 9.81, places=3)
        self.assertAlmostEqual(float(np.mean(sim['velocity'].z)), -9.81, places=3)

    def test_views_are_the_library_s_memory(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        p = sim.particles
        self.assertEqual(set(p), set(p.keys()))
        self.assertLessEqual({'position', 'velocity', 'id', 'material', 'radius', 'density'}, set(p))
        a, b = p['position'].z, p['position'].z
        self.assertTrue(np.shares_memory(a, b))
        self.assertFalse(a.flags.owndata)
        self.assertFalse(a.flags.writeable)
        with self.assertRaises(ValueError):
            a[0] = 1.0
        self.assertEqual(p['position'].xyz.shape, (len(sim), 3))
        self.assertEqual(np.asarray(p['velocity']).dtype, np.float32)
        self.assertEqual(p['id'].dtype, np.uint32)
        self.assertEqual(sorted(p['id']), list(range(len(sim))))
        with self.assertRaisesRegex(KeyError, "no quantity 'wetnes'"):
            p['wetnes']

    def test_stale_views_raise(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        z, v = sim['position'].z, sim['velocity']
        top, part, kept = z.max(), z[::2], z.copy()
        sim.step()
        for use in (lambda: z.max(), lambda: z + 1, lambda: 1 + z, lambda: z[0], lambda: np.sum(z), lambda: part.sum(),
                    lambda: np.concatenate([z, z]), lambda: list(z), lambda: repr(z), v.norm, lambda: v.xyz,
                    lambda: np.add(kept, z), lambda: z.astype(int), lambda: z > 0):
            with self.assertRaises(wadi.StaleError):
                use()
        self.assertEqual(kept.max(), top)
        self.assertLessEqual(sim['position'].z.max(), top)
        z = sim['position'].z
        sim.close()
        with self.assertRaises(wadi.StaleError):
            z.sum()
        with self.assertRaises(wadi.ArgumentError):
            sim.step()

    def test_a_frame_never_shows_the_particles_of_another(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        frames = iter(sim)
        second = next(frames)
        height = second['position'].z.mean()
        self.assertEqual(height, sim['position'].z.mean())
        sim.set('gravity', [0, 0, -1])
        self.assertEqual(second['position'].z.mean(), height)  # a change takes no time
        third = next(frames)
        for use in (lambda: second['position'], lambda: second.particles, second._repr_png_):
            with self.assertRaisesRegex(wadi.StaleError, 'frame 2'):
                use()
        self.assertEqual(third._repr_png_()[:4], b'\x89PNG')
        self.assertEqual((second.number, second.time), (2, 1 / 24))

    def test_no_use_of_a_stale_view_is_silent(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        x = sim['position'].x
        one = x[:1]
        sim.step()
        uses = {'==': lambda: x == 1, '!=': lambda: x != x, 'item': lambda: x.item(0), 'flat': lambda: x.flat, 'in': lambda: 0.5 in x,
                'searchsorted': lambda: x.searchsorted(0.5), 'tofile': lambda: x.tofile(TMP / 'x'), 'float': lambda: float(one),
                'bool': lambda: bool(one), 'repeat': lambda: x.repeat(2), 'ravel': lambda: x.ravel().sum(), 'T': lambda: x.T.sum(),
                'copy': lambda: copy.deepcopy(x), 'dumps': lambda: x.dumps(), 'other': lambda: np.zeros(len(x)) == x,
                'argument': lambda: sim['position'].x.searchsorted(x)}
        for name, use in uses.items():
            with self.assertRaises(wadi.StaleError, msg=name):
                use()

    def test_views_calculate_as_arrays(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        z = sim['position'].z
        plain = np.asarray(z)
        for made, wanted in ((z * 2, plain * 2), (z[z > 0.2], plain[plain > 0.2]), (np.sort(z), np.sort(plain)),
                             (z.reshape(-1, 1)[:, 0], plain), (np.histogram(z, 5)[0], np.histogram(plain, 5)[0])):
            np.testing.assert_array_equal(made, wanted)
        self.assertIs(type(z * 2), np.ndarray)
        out = np.empty(len(z))
        np.multiply(z, 3, out=out)
        np.testing.assert_array_equal(out, plain * 3)

    def test_saved_states_go_on_to_the_same_bytes(self):
        scene = wadi.Scene(DAM)
        sim = scene.simulate(threads=1)
        sim.step_frame(2)
        sim.step()
        again = scene.resume(sim.save(), threads=2)
        self.assertEqual(again.hash, sim.hash)
        sim.step_frame()
        again.step_frame()
        self.assertEqual(again.hash, sim.hash)
        with self.assertRaises(wadi.FormatError):
            scene.resume(b'no checkpoint')

    def test_copies_would_share_memory(self):
        scene = wadi.Scene(DAM)
        sim = scene.simulate(threads=1)
        for thing in (sim, next(iter(sim))):
            for make in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
                if make is copy.copy and thing is not sim:
                    continue  # a frame refers to the simulation, as its copy does
                with self.assertRaisesRegex(TypeError, 'scene.resume'):
                    make(thing)
        self.assertIs(copy.deepcopy(scene), scene)
        x = pickle.loads(pickle.dumps(sim['position'].x))
        self.assertIs(type(x), np.ndarray)
        self.assertEqual(pickle.loads(pickle.dumps(sim.surface('water'))).volume, sim.surface('water').volume)

    def test_a_second_thread_is_refused(self):
        sim = wadi.Scene({**DAM, 'cell_size': 0.02}).simulate(threads=1)
        done, refused = threading.Event(), []

        def look():
            while not done.is_set():
                for use in (lambda: len(sim), lambda: sim['position'], sim.save, sim.step, sim.close, sim.surface):
                    try:
                        use() if sim._user is not None and not done.is_set() else None
                    except wadi.BusyError as error:
                        refused.append(str(error))

        other = threading.Thread(target=look)
        with sim._use():  # as while a step runs
            other.start()
            time.sleep(0.05)
            done.set()
            other.join()
        self.assertGreater(len(refused), 5)
        self.assertIn('another thread', refused[0])
        sim.step()

    def test_ctrl_c_leaves_a_simulation_that_goes_on(self):
        program = """
import os, signal, sys, threading, time, wadi
scene = wadi.Scene({'wadi': 1, 'name': 'dam', 'solver': 'flip', 'cell_size': 0.025, 'fps': 0.02, 'frames': 2,
    'domain': {'min': [0, 0, 0], 'max': [1, 0.5, 0.6]}, 'materials': {'water': {'kind': 'water'}},
    'bodies': [{'material': 'water', 'shape': wadi.box([0, 0, 0], [0.4, 0.5, 0.4])}]})
sim = scene.simulate(threads=1)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    sim.step_frame()
    sys.exit('not interrupted')
except KeyboardInterrupt:
    print('interrupted at', sim.frame, sim.time)
before = sim.time
sim.step()
print(sim.time > before and len(sim['position'].x.copy()) == len(sim))
"""
        out = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=120,
                             env={**os.environ, 'PYTHONPATH': str(TMP / 'site')})
        self.assertEqual((out.returncode, out.stderr), (0, ''))
        self.assertIn('interrupted at 1', out.stdout)
        self.assertIn('True', out.stdout)

    def test_changes_are_recorded(self):
        scene = wadi.Scene(DAM)
        sim = scene.simulate(threads=1)
        before = len(sim)
        sim.set('gravity', [0, 0, -1.62])
        self.assertGreater(sim.add('water', wadi.sphere((0.7, 0.25, 0.4), 0.1), velocity=(0, 0, -1)), 0)
        self.assertGreater(len(sim), before)
        sim.add_collider(wadi.sphere((0, 0, 0), 0.1), name='ball')
        sim.move('ball', to=(0.8, 0.2, 0.1), duration=0.1)
        self.assertGreater(sim.remove(wadi.box([0, 0, 0], [0.1, 0.1, 0.1])), 0)
        sim.step_frame()
        other = wadi.Scene(DAM).simulate(threads=1)
        other.repeat(sim.changes)
        other.step_frame()
        self.assertEqual(other.hash, sim.hash)
        with self.assertRaisesRegex(wadi.SceneError, 'gravity'):
            sim.set('gravity', 'up')
        with self.assertRaises(wadi.ArgumentError):
            sim.set('cell_size', 1)

    def test_particles_from_arrays(self):
        scene = wadi.Scene({'wadi': 1, 'solver': 'points', 'cell_size': 0.1, 'fps': 10, 'gravity': [0, 0, -10],
                            'materials': {'sand': {'kind': 'sand'}, 'dust': {'kind': 'sand'}}}, may_be_empty=True)
        sim = scene.simulate(threads=1)
        xyz = np.array([[0, 0, 1], [5, 2, 3.0], [1, 1, 1]])
        self.assertEqual(sim.add_points(xyz, [[1, 2, 3], [0, 0, 0], [0, 0, 0]], material='dust'), 3)
        self.assertEqual(sim.add_points([[8, 8, 8], [9, 9, 9]], material=[0, 1]), 2)
        self.assertTrue(np.array_equal(sim.particles['position'].xyz[:3], xyz))
        self.assertEqual(list(sim.particles['material']), [1, 1, 1, 0, 1])
        for _ in range(5):
            sim.step_frame()  # 0.5 s: v t - 5 t^2
        self.assertTrue(np.allclose(sim.particles['position'].xyz[0], [0.5, 1.0, 1.0 + 1.5 - 1.25], atol=1e-6))
        with self.assertRaisesRegex(wadi.ArgumentError, "no material 'mud'; the scene has sand, dust"):
            sim.add_points(xyz, material='mud')
        with self.assertRaisesRegex(wadi.ArgumentError, 'particle 1 has position'):
            sim.add_points([[0, 0, 0], [0, np.nan, 0]])
        with self.assertRaisesRegex(wadi.ArgumentError, 'velocity has the shape'):
            sim.add_points(xyz, [[1, 2, 3]])
        with self.assertRaises(wadi.SceneError):
            wadi.Scene({'wadi': 1, 'solver': 'points', 'materials': {'sand': {'kind': 'sand'}}})

    def test_forces_hold_the_weight(self):
        sim = wadi.Scene({**BIN, 'frames': 16}).simulate()
        self.assertEqual([n for n in sim.forces if n[0] not in 'xyz'], ['post'])
        for frame in sim:
            pass
        self.assertEqual(frame.number, 16)
        total = sum(f.force for f in sim.forces.values())
        weight = len(sim) * 1600 * 0.01 ** 3 * 9.81
        self.assertLess(abs(total[2] + weight), 0.02 * weight)

    def test_solids_of_one_name_have_forces_of_their_own(self):
        ball = wadi.sphere((0.5, 0.25, 0.05), 0.05)
        twins = [{'name': name, 'shape': ball} for name in ('post', 'post', 'x_min')]
        sim = wadi.Scene({**DAM, 'colliders': [*twins, {'shape': ball}]}).simulate(threads=1)
        forces = sim.forces
        self.assertEqual(list(forces)[-4:], ['post', '1', '2', '3'])
        self.assertEqual([f.collider for f in forces.values()], [-1] * 6 + [0, 1, 2, 3])

    def test_warnings_and_threads(self):
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            wadi.Scene(DAM).simulate()
        thin = {**DAM, 'bodies': [{'material': 'water', 'shape': wadi.box([0.31, 0.1, 0.31], [0.311, 0.1001, 0.311])}]}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            try:
                wadi.Scene(thin).simulate()
            except wadi.Error:
                pass
        self.assertTrue(caught)
        # The GIL is released: another thread runs while a step does.
        sim = wadi.Scene({**DAM, 'cell_size': 0.03}).simulate(threads=1)
        turns, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                turns[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        during = 0
        for _ in range(200):  # on a machine that is busy, the other thread may miss some
            before = turns[0]
            sim.step()
            during += turns[0] - before
            if during > 10000:
                break
        stop.set()
        thread.join()
        self.assertGreater(during, 10000)

    def test_a_thousand_simulations_leave_nothing(self):
        scene = wadi.Scene({**DROP, 'cell_size': 0.05})

        def once():
            with scene.simulate(threads=1) as sim:
                sim.step()
                z = sim['position'].z
            del sim, z
            wadi.Scene({**DROP, 'cell_size': 0.05})

        for _ in range(100):
            once()
        gc.collect()
        before = memory()
        for _ in range(1000):
            once()
        gc.collect()
        self.assertLess(memory() - before, 4 << 20)


class Surfaces(unittest.TestCase):
    def test_points_of_others(self):
        h = 0.02
        n = np.arange(-25, 26) * h
        grid = np.stack(np.meshgrid(n, n, n, indexing='ij'), -1).reshape(-1, 3)
        ball = grid[np.linalg.norm(grid, axis=1) < 0.3]
        points = wadi.Points(ball, spacing=h, velocity=np.tile([1, 2, 3], (len(ball), 1)), heat=ball[:, 0])
        mesh = points.surface(threads=1)
        self.assertAlmostEqual(mesh.volume / (4 / 3 * np.pi * 0.3 ** 3), 1.0, delta=0.1)
        self.assertAlmostEqual(mesh.area / (4 * np.pi * 0.3 ** 2), 1.0, delta=0.1)
        np.testing.assert_allclose(mesh['velocity'], np.tile([1, 2, 3], (len(mesh.vertices), 1)), atol=1e-5)
        # Heat is x: interpolated to the vertices it is x within a spacing.
        self.assertLess(np.abs(mesh['heat'] - mesh.vertices[:, 0]).max(), 2 * h)
        v = mesh.vertices
        del mesh, points
        gc.collect()
        self.assertLess(np.abs(np.linalg.norm(v, axis=1) - 0.3).max(), 2 * h)
        wadi.Points(ball.astype('f4'), radius=np.full(len(ball), h / 2)).surface(settings={'method': 'blobby'})

    def test_wrong_arrays_are_refused(self):
        xyz = np.zeros((4, 3))
        for wrong in (lambda: wadi.Points(np.zeros((4, 2)), radius=1), lambda: wadi.Points(xyz),
                      lambda: wadi.Points(xyz, radius=1, spacing=1), lambda: wadi.Points(xyz, radius=[1, 2]),
                      lambda: wadi.Points(xyz, radius=1, velocity=np.zeros((3, 3)))):
            with self.assertRaises(wadi.ArgumentError):
                wrong()
        with self.assertRaises(wadi.NumericError):
            wadi.Points(np.full((4, 3), np.nan), radius=0.1).surface()

    def test_odd_arrays_are_refused_in_words(self):
        xyz = np.random.default_rng(1).random((50, 3))
        cases = [(xyz.astype(complex), {}, 'xyz: expected numbers'), ([['a', 'b', 'c']], {}, 'xyz: expected numbers'), ([[1, 2], [3]], {}, 'xyz'),
                 (np.ma.masked_greater(xyz, 0.5), {}, 'masked'), (xyz, {'radius': 0.0}, 'above 0'), (xyz, {'radius': float('nan')}, 'above 0'),
                 (xyz, {'radius': -np.ones(50)}, 'above 0'), (xyz, {'radius': 'thick'}, 'radius: expected numbers'),
                 (xyz, {'material': np.full(50, 0.5)}, '0 to 254'), (xyz, {'material': np.full(50, -1)}, '0 to 254'),
                 (xyz, {'material': np.full(50, 300)}, '0 to 254'), (xyz, {'a b': np.zeros(50)}, 'no spaces'), (None, {}, 'xyz')]
        for points, options, text in cases:
            with self.assertRaisesRegex(wadi.ArgumentError, text):
                wadi.Points(points, **{'radius': 0.05, **options})
        volume = wadi.Points(xyz, radius=0.05).surface().volume
        for same in (np.asfortranarray(xyz), xyz.astype('>f8'), np.repeat(xyz, 2, 0)[::2], xyz.tolist(), xyz.astype(object)):
            self.assertEqual(wadi.Points(same, radius=0.05).surface().volume, volume)
        self.assertEqual(len(wadi.Points(np.zeros((0, 3)), radius=0.05).surface()), 0)
        sim = wadi.Scene(DAM).simulate(threads=1)
        for use, kind, text in ((lambda: sim[0], KeyError, 'names'), (lambda: sim['position\0x'], KeyError, 'names'),
                                (lambda: sim.move('x', 'abc', 1), wadi.ArgumentError, 'three numbers'),
                                (lambda: sim.set('a\0b', 1), wadi.ArgumentError, 'zero byte'), (lambda: sim.wet(None, 1), wadi.ArgumentError, 'text'),
                                (lambda: sim.step_frame(-1), wadi.ArgumentError, 'forward'), (lambda: sim.picture(width=0), wadi.ArgumentError, 'pixels'),
                                (lambda: sim.scene.resume(None), wadi.ArgumentError, 'no state'),
                                (lambda: sim.scene.resume('/absent'), wadi.FileError, '/absent'), (lambda: wadi.Scene(5), TypeError, 'not int')):
            with self.assertRaisesRegex(kind, text):
                use()

    def test_meshes_are_saved(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        mesh = sim.surface('water')
        self.assertAlmostEqual(mesh.volume, 0.4 * 0.5 * 0.4, delta=0.1 * 0.08)
        for name in ('a.ply', 'a.obj'):
            mesh.save(TMP / name)
            facts = json.loads(subprocess.run([COMMAND, 'info', '--json', TMP / name], check=True,
                                              capture_output=True, text=True).stdout)
            self.assertEqual((facts['triangles'], facts['vertices']), (len(mesh), len(mesh.vertices)))
            self.assertAlmostEqual(facts['volume'], mesh.volume, places=5)
        with self.assertRaises(wadi.ArgumentError):
            mesh.save(TMP / 'a.stl')

    def test_pictures(self):
        sim = wadi.Scene(DAM).simulate(threads=1)
        for thing in (sim, sim.surface('water'), wadi.Points(sim['position'].xyz, radius=0.01)):
            picture = thing._repr_png_()
            self.assertEqual(picture[:8], b'\x89PNG\r\n\x1a\n')
            self.assertGreater(len(picture), 1000)


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = TMP / 'bin.yaml'
        cls.path.write_text(json.dumps(BIN))
        cls.seen = []
        cls.made = wadi.run(cls.path, TMP / 'bin.run', threads=1, progress=cls.seen.append)

    def test_the_command_makes_the_same_bytes(self):
        other = TMP / 'command.run'
        subprocess.run([COMMAND, 'run', self.path, '-o', other, '--quiet'], check=True)
        self.assertEqual(json.loads((other / 'run.json').read_text())['state_hash'],
                         json.loads((self.made.folder / 'run.json').read_text())['state_hash'])
        self.assertEqual((other / 'forces.csv').read_bytes(), (self.made.folder / 'forces.csv').read_bytes())
        sim = wadi.Scene(BIN).simulate(threads=2)
        for _ in sim:
            pass
        self.assertEqual(sim.hash, self.made.hash)
        for solid, force in sim.forces.items():
            np.testing.assert_allclose(self.made.forces[solid]['pressure'][-1], force.pressure, rtol=1e-12)

    def test_progress_stop_and_resume(self):
        self.assertTrue(any(p.is_frame_done and p.frame == 4 for p in self.seen))
        self.assertEqual(self.seen[-1].frame_count, 4)
        folder = TMP / 'stopped.run'
        with self.assertRaises(wadi.Stopped):
            wadi.run(BIN, folder, threads=1, progress=lambda p: p.steps > 50)
        self.assertLess(len(wadi.Run(folder)), 4)
        with self.assertRaisesRegex(wadi.ArgumentError, 'resume=True') as refused:
            wadi.run(BIN, folder)
        self.assertNotIn('WADI_RUN', str(refused.exception))
        resumed = wadi.run(BIN, folder, resume=True, threads=2)
        self.assertEqual(resumed.hash, self.made.hash)
        self.assertEqual((folder / 'forces.csv').read_bytes(), (self.made.folder / 'forces.csv').read_bytes())

        def broken(progress):
            raise KeyError('mine')

        with self.assertRaisesRegex(KeyError, 'mine'):
            wadi.run(BIN, TMP / 'broken.run', progress=broken)

    def test_frames_are_read_when_used(self):
        run = self.made
        self.assertEqual(len(run), 4)
        first, last = run[1], run[-1]
        a, b = first['position'], last['position']
        self.assertEqual((first.number, last.number), (1, 4))
        self.assertFalse(np.array_equal(a.xyz, b.xyz))
        self.assertLess(b.z.mean(), a.z.mean())
        for part, numbers in ((run[2:4], [2, 3]), (run[::-1], [4, 3, 2, 1]), (run[-2:], [3, 4]), (run[:-1], [1, 2, 3]),
                              (run[::2], [1, 3]), (run[3:1:-1], [3, 2]), (run[9:], []), (reversed(run), [4, 3, 2, 1])):
            self.assertEqual([f.number for f in part], numbers)
        self.assertEqual((run[np.int64(2)].number, wadi.Run(os.fsencode(run.folder))[2].number), (2, 2))
        for wrong in (1.0, 'last'):
            with self.assertRaises(TypeError):
                run[wrong]
        self.assertEqual([f.number for f in run], [1, 2, 3, 4])
        self.assertAlmostEqual(last.time, 3 / 24)
        with self.assertRaises(IndexError):
            run[5]
        self.assertEqual(last._repr_png_()[:4], b'\x89PNG')
        with self.assertRaises(wadi.FileError):
            wadi.Run(TMP)

    def test_surfaces_pictures_and_exports(self):
        made = self.made.surface(frames=(3, 4), formats=['ply', 'obj'], threads=1)
        self.assertEqual(sorted(p.name for p in made.folder.iterdir() if p.suffix == '.ply'),
                         ['sand.0003.ply', 'sand.0004.ply'])
        made = self.made.render(frames=4, quality='draft', size=(64, 48), video=False, threads=1, samples=1)
        self.assertTrue((made.folder / 'bin.0004.png').exists())
        made = self.made.export('ply', frames=range(4, 5), threads=1)
        self.assertTrue(any(made.folder.iterdir()))
        with self.assertRaisesRegex(wadi.ArgumentError, 'blender'):
            self.made.export('maya')
        with self.assertRaises(wadi.SceneError):
            self.made.surface(sets={'surface.methd': 1})

    def test_info_has_the_forces_of_the_last_frame(self):
        forces = {f['solid']: f for f in self.made.info['forces']}
        self.assertEqual(set(forces), set(self.made.forces))
        self.assertEqual(forces['post']['frame'], 4)
        np.testing.assert_allclose(forces['post']['pressure'], self.made.forces['post']['pressure'][-1])


class Documents(unittest.TestCase):
    def test_the_examples_of_the_documents_run(self):
        for page in ('README.md', 'docs/python.md'):
            text = (ROOT / page).read_text()
            blocks = re.findall(r'^```python\n(.*?)^```', text, re.S | re.M)
            self.assertTrue(blocks, page)
            program = '\n'.join(b for b in blocks if '# not run' not in b)
            folder = TMP / 'page'
            folder.mkdir(exist_ok=True)
            out = subprocess.run([sys.executable, '-c', program], cwd=folder, capture_output=True, text=True,
                                 env={**os.environ, 'PYTHONPATH': str(TMP / 'site')})
            self.assertEqual(out.returncode, 0, out.stderr)
            if page == 'README.md':
                self.assertIn('5.095', out.stdout)

    def test_the_notebook_finds_a_known_angle(self):
        """Its cells, one after the other; then the run-out at 31 degrees, which is none of its simulations."""
        cells = json.loads((ROOT / 'examples/python/friction_angle.ipynb').read_text())['cells']
        code = [''.join(cell['source']) for cell in cells if cell['cell_type'] == 'code']
        names = {}
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as told:
            warnings.simplefilter('error')
            for text in code:
                exec(compile(text, 'friction_angle.ipynb', 'exec'), names)
        self.assertIn('degrees', told.getvalue())
        self.assertTrue((np.diff(names['run_outs']) < 0).all(), names['run_outs'])
        self.assertAlmostEqual(names['fit'](names['run_out'](names['collapse'](31.0))), 31.0, delta=1.0)
        self.assertTrue(22 < names['angle'] < 38)
        self.assertTrue(eval(code[-1].splitlines()[-1], names)._repr_png_().startswith(b'\x89PNG'))

    @unittest.skipUnless(shutil.which('mypy'), 'mypy is not installed')
    def test_type_hints_fit_the_examples_and_find_a_mistake(self):
        blocks = [block for page in ('README.md', 'docs/python.md')
                  for block in re.findall(r'^```python\n(.*?)^```', (ROOT / page).read_text(), re.S | re.M)]
        for name, text in (('right', '\n'.join(blocks[1:])), ('wrong', blocks[1] + "\nsim.step_frame('2')\n")):
            path = TMP / f'{name}.py'
            path.write_text(text)
            said = subprocess.run(['mypy', '--cache-dir', TMP / 'mypy', path], capture_output=True, text=True,
                                  env={**os.environ, 'MYPYPATH': str(TMP / 'site')}).stdout
            mistakes = [line for line in said.splitlines() if line.startswith(str(path)) and ': error:' in line]
            self.assertEqual(len(mistakes), name == 'wrong', said)

    def test_help_teaches(self):
        for thing in [wadi, *(getattr(wadi, name) for name in wadi.__all__)]:
            self.assertTrue((thing.__doc__ or '').strip(), thing)
        for kind in (wadi.Scene, wadi.Simulation, wadi.Run, wadi.RunFrame, wadi.Mesh, wadi.Points, wadi.Vector):
            for name in dir(kind):
                if not name.startswith('_'):
                    self.assertTrue(getattr(kind, name).__doc__, f'{kind.__name__}.{name}')
                    if inspect.isfunction(getattr(kind, name)):
                        self.assertIn('return', getattr(kind, name).__annotations__, f'{kind.__name__}.{name}')
        self.assertIn('Points', wadi.__doc__)


if __name__ == '__main__':
    stream = io.TextIOWrapper(sys.stderr.buffer, line_buffering=True)
    result = unittest.TextTestRunner(stream, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(
        sys.modules[__name__]))
    FOLDER.cleanup()
    sys.exit(not result.wasSuccessful())
