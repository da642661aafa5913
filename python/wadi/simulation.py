"""Simulations in memory."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import threading
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import _abi
from ._library import LIBRARY, NotCopied, as_scene_text, call, encode, plain, take_text
from ._progress import Watch
from .arrays import Particles
from .errors import ArgumentError, BusyError, StaleError
from .meshes import Mesh, Points, _Handle, definition_of

if TYPE_CHECKING:
    from .scene import Scene


@dataclasses.dataclass(frozen=True)
class SolidForce:
    """Force and torque of the material on a solid: the mean over the last complete frame.

    Vectors are numpy arrays of three: `pressure` along the normals of the surface and `friction` across it, N;
    their torques about `pivot`, N m.
    """

    name: str
    collider: int
    pivot: np.ndarray
    pressure: np.ndarray
    friction: np.ndarray
    pressure_torque: np.ndarray
    friction_torque: np.ndarray

    @property
    def force(self) -> np.ndarray:
        """Pressure and friction together, N."""
        return self.pressure + self.friction

    @property
    def torque(self) -> np.ndarray:
        """Of both, about `pivot`, N m."""
        return self.pressure_torque + self.friction_torque


@dataclasses.dataclass(frozen=True)
class Frame:
    """A frame of a simulation that runs: its number and time, and its particles until the next step.

    After that its particles raise `StaleError`: a run folder (`wadi.run`) keeps all frames.
    """

    number: int
    time: float
    steps: int
    simulation: 'Simulation'

    @property
    def particles(self) -> Particles:
        """See `Simulation.particles`."""
        if self.simulation.steps != self.steps:
            raise StaleError(f'the particles of frame {self.number} are gone: the simulation is at frame '
                             f'{self.simulation.frame}; keep copies of what you need, or use the frames of a run folder')
        return self.simulation.particles

    def __getitem__(self, name: Any) -> Any:
        return self.particles[name]

    def _repr_png_(self) -> bytes:
        self.particles  # raises when they are gone
        return self.simulation.picture()


def _position(values):
    try:
        x, y, z = (float(v) for v in values)
    except (TypeError, ValueError):
        raise ArgumentError(f'a position is three numbers, not {values!r}') from None
    return (ctypes.c_double * 3)(x, y, z)


def _text_of(name, value):
    if not isinstance(value, str):
        raise ArgumentError(f'{name} is a text, not {value!r}')
    return encode(value)


class Simulation(NotCopied):
    """A scene that runs in memory; nothing is written to disk. Made by `Scene.simulate` and `Scene.resume`.

        sim = scene.simulate(threads=8)
        for frame in sim:                        # frame 2 to the last of the scene
            print(frame.number, frame["position"].z.max())
        sim.surface("water").save("water.ply")

    Not for two threads at once: the second one gets a `BusyError`. Long calls release the GIL.
    """

    _instead = 'scene.resume(sim.save()) is another one in the same state'

    def __init__(self, scene: Scene, threads: int = 0, state: bytes | None = None):
        self._pointer, self._generation = None, 0
        self._lock, self._user = threading.Lock(), None
        self.scene = scene
        definition = LIBRARY.wadi_default_sim_def()
        definition.threads = threads
        pointer = ctypes.c_void_p()
        self._watch = Watch(definition, None)  # the simulation keeps its log
        with self._watch:
            if state is None:
                call('wadi_sim_create', ctypes.byref(pointer), scene._handle(), ctypes.byref(definition))
            else:
                state = bytes(state)
                call('wadi_sim_load', ctypes.byref(pointer), scene._handle(), ctypes.byref(definition), state,
                     len(state))
        self._pointer = pointer

    def close(self) -> None:
        """Frees its memory now; views of it are stale."""
        if not self._pointer:
            return
        with self._use() as pointer:
            self._pointer = None
            self._generation += 1
            LIBRARY.wadi_sim_destroy(pointer)

    def __del__(self):
        if getattr(self, '_pointer', None):
            LIBRARY.wadi_sim_destroy(self._pointer)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _handle(self):
        if not self._pointer:
            raise ArgumentError('the simulation is closed')
        if self._user not in (None, threading.get_ident()):
            raise BusyError('another thread uses this simulation')
        return self._pointer

    @contextlib.contextmanager
    def _use(self):
        """For calls that release the GIL."""
        if not self._lock.acquire(blocking=False):
            raise BusyError('another thread uses this simulation')
        try:
            self._user = threading.get_ident()
            yield self._handle()
        finally:
            self._user = None
            self._lock.release()

    def _change(self, name, *arguments):
        with self._use() as pointer:
            self._generation += 1
            with self._watch:
                call(name, pointer, *arguments)

    # time
    @property
    def frame(self) -> int:
        """Last frame reached; 1 is the start."""
        return LIBRARY.wadi_sim_frame(self._handle())

    @property
    def time(self) -> float:
        """s"""
        return LIBRARY.wadi_sim_time(self._handle())

    @property
    def steps(self) -> int:
        """Steps taken."""
        return LIBRARY.wadi_sim_steps(self._handle())

    @property
    def hash(self) -> int:
        """Of the exact state: that of `run.json`, for any number of threads."""
        return LIBRARY.wadi_sim_state_hash(self._handle())

    @property
    def lost(self) -> int:
        """Particles lost."""
        return LIBRARY.wadi_sim_lost_particles(self._handle())

    @property
    def drained(self) -> int:
        """Particles drained."""
        return LIBRARY.wadi_sim_drained_particles(self._handle())

    @property
    def sleeping(self) -> int:
        """Particles left out of the last step because they rest."""
        return LIBRARY.wadi_sim_sleeping_particles(self._handle())

    def __len__(self) -> int:
        return LIBRARY.wadi_sim_particle_count(self._handle())

    def step(self) -> None:
        """One step, at most to the end of the frame."""
        self._change('wadi_sim_step')

    def step_frame(self, frames: int = 1) -> None:
        """Steps to the next frame, or `frames` of them. Ctrl-C stops it after a step."""
        if frames < 0:
            raise ArgumentError(f'{frames} frames: a simulation goes forward')
        for _ in range(frames):
            frame = self.frame
            while self.frame == frame:
                self._change('wadi_sim_step')

    def __iter__(self) -> Iterator[Frame]:
        """Steps frame by frame to the last frame of the scene."""
        while self.frame < self.scene.frames:
            self.step_frame()
            yield Frame(self.frame, self.time, self.steps, self)

    # what there is
    @property
    def particles(self) -> Particles:
        """The quantities of all particles by name, without copies: see `Particles`."""
        return Particles(self, 'wadi_sim')

    def __getitem__(self, name: str) -> Any:
        return self.particles[name]

    def surface(self, material: str | None = None, *, advance: float = 0.0, y_up: bool = False,
                threads: int = 0) -> Mesh:
        """The surface of a material, or of all together, as a `Mesh`, with the scene's surface settings."""
        handle = _Handle()
        definition = definition_of(material, advance, y_up, threads)
        with self._use() as pointer:
            call('wadi_sim_surface', pointer, ctypes.byref(definition), ctypes.byref(handle.data))
        return Mesh(handle)

    @property
    def forces(self) -> dict[str, SolidForce]:
        """Forces of the material on solids by name: colliders, and sides of the domain "x_min" to "z_max".

        Empty where the solver does not report them. See `SolidForce`.
        """
        result = {}
        for i in range(LIBRARY.wadi_sim_solid_count(self._handle())):
            f = _abi.WadiSolidForce()
            call('wadi_sim_solid_force', self._handle(), i, ctypes.byref(f))
            name = f.name.decode()
            result[name] = SolidForce(name, f.collider, *(np.array(getattr(f, key)[:]) for key in (
                'pivot', 'pressure', 'friction', 'pressure_torque', 'friction_torque')))
        return result

    @property
    def profile(self) -> dict[str, float]:
        """Seconds of each stage so far, by name."""
        made = _abi.WadiProfile()
        LIBRARY.wadi_sim_profile(self._handle(), ctypes.byref(made))
        return {made.stage[i].decode(): made.seconds[i] for i in range(made.stage_count)}

    # changes, recorded in `changes`
    def set(self, key: str, value) -> None:
        """Sets a value of the scene while it runs: set("gravity", [0, 0, -1.62]), set("flip.cfl", 2)."""
        self._change('wadi_sim_set', encode(f'{key}={as_scene_text(value)}'))

    def add(self, material: str, shape: dict, **keys) -> int:
        """Adds a body: add("water", wadi.sphere((0, 0, 1), 0.1), velocity=(0, 0, -1)). Returns the new particles."""
        added = ctypes.c_int64()
        text = json.dumps({'material': material, 'shape': shape, **keys}, default=plain)
        self._change('wadi_sim_add_particles', text.encode(), ctypes.byref(added))
        return added.value

    def add_points(self, xyz, velocity=None, material: str | int = 0) -> int:
        """Adds particles at positions (n, 3), m, with velocities (n, 3), m/s, of one material or of a number for each.

        Positions inside solids or nearer than 3/4 of the spacing to a present particle are left out. Returns how many
        were added.
        """
        if isinstance(material, str):
            names = [m['name'] for m in self.scene.facts()['materials']]
            if material not in names:
                raise ArgumentError(f'no material {material!r}; the scene has {", ".join(names)}')
            material = names.index(material)
        points = Points(xyz, spacing=1.0, velocity=velocity, material=np.broadcast_to(material, np.shape(xyz)[:1]))
        data, kept = points._data()
        data.spacing = 0.0  # that of the scene
        added = ctypes.c_int64()
        self._change('wadi_sim_add_points', ctypes.byref(data), ctypes.byref(added))
        del kept
        return added.value

    def remove(self, shape: dict, material: str | None = None) -> int:
        """Removes the particles inside a shape, of one material or all. Returns their number."""
        removed = ctypes.c_int64()
        region = {'shape': shape} if material is None else {'material': material, 'shape': shape}
        self._change('wadi_sim_remove_particles', json.dumps(region, default=plain).encode(), ctypes.byref(removed))
        return removed.value

    def add_collider(self, shape: dict, name: str | None = None, **keys) -> None:
        """Adds a solid: add_collider(wadi.sphere((0, 0, 0.1), 0.1), name="ball", friction=0.3)."""
        collider = {'shape': shape, **({'name': name} if name else {}), **keys}
        self._change('wadi_sim_add_collider', json.dumps(collider, default=plain).encode())

    def move(self, collider: str | int, to, duration: float) -> None:
        """Moves a collider (name or number) to the translation `to`, m, in a straight line in `duration` seconds."""
        self._change('wadi_sim_move_collider', encode(collider), _position(to), float(duration))

    def wet(self, material: str, saturation: float) -> None:
        """Sets how much of the pores of sand is water, 0 to 1 (solvers sph and dem)."""
        self._change('wadi_sim_set_saturation', _text_of('material', material), float(saturation))

    @property
    def changes(self) -> str:
        """The changes so far, as YAML: `repeat` makes them again on a new simulation, to the same bytes."""
        return take_text('wadi_sim_changes', self._handle())

    def repeat(self, changes: str) -> None:
        """Repeats a record of `changes`, each before the step of its number."""
        self._change('wadi_sim_repeat_changes', _text_of('changes', changes))

    def save(self) -> bytes:
        """The exact state as bytes, those of a checkpoint file; `Scene.resume` goes on from them."""
        buffer = _abi.WadiBuffer()
        with self._use() as pointer:
            call('wadi_sim_save', pointer, ctypes.byref(buffer))
        try:
            return ctypes.string_at(buffer.bytes, buffer.size)
        finally:
            LIBRARY.wadi_buffer_release(ctypes.byref(buffer))

    def picture(self, width: int = 640, elevation: float = 20.0) -> bytes:
        """A quick PNG, as bytes: particles as balls, coloured by speed."""
        from .pictures import picture_of
        return picture_of(self['position'].xyz, self['velocity'].norm(), width, elevation)

    def _repr_png_(self):
        return self.picture()

    def __repr__(self):
        if not self._pointer:
            return '<Simulation, closed>'
        return f'<Simulation of {self.scene.name!r}: frame {self.frame}, t = {self.time:.4g} s, {len(self)} particles>'
