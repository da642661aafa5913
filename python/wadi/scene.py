"""Scenes: from a file, a dict or a text."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
import os
from typing import TYPE_CHECKING, Sequence, Union

from . import _abi
from ._library import LIBRARY, NotCopied, as_scene_text, call, encode, put_sets, take_text
from .errors import ArgumentError, FileError

if TYPE_CHECKING:
    from .runs import Run
    from .simulation import Simulation

Sets = Union[dict, Sequence[str], None]  # {"flip.cfl": 2} or ["flip.cfl=2"]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a run needs: see `Scene.estimate`."""

    particles_start: int
    particles_end: int
    memory_bytes: float
    disk_bytes: float
    cell_size: float
    spacing: float
    step: float
    step_limit: str
    steps_per_frame: float
    seconds: float


class Scene(NotCopied):
    """A valid scene, immutable; any number of simulations may share it.

    Scene("column.yaml")                          a file
    Scene("column.yaml", {"resolution": 64})      with values of it overridden
    Scene({"wadi": 1, "solver": "flip", ...})     a dict with the keys of a scene file
    Scene(text="{wadi: 1, ...}")                  the text of one
    Scene({...}, may_be_empty=True)               without bodies: `Simulation.add_points` gives the particles

    Raises SceneError with all mistakes at once, each with its place. The keys are in docs/scene-reference.md;
    `wadi.schema()` has them as a JSON Schema.
    """

    def __init__(self, source: str | os.PathLike | dict | None = None, sets: Sets = None, *, text: str | None = None,
                 folder: str | os.PathLike | None = None, may_be_empty: bool = False):
        if (source is None) == (text is None):
            raise TypeError('a scene is either a file, a dict, or text=')
        self._pointer = None
        definition = LIBRARY.wadi_default_scene_def()
        if source is not None and not isinstance(source, (dict, str, os.PathLike)):
            raise TypeError(f'a scene is a file, a dict, or text=, not {type(source).__name__}')
        if isinstance(source, dict):
            text = as_scene_text(source)
        elif source is not None:
            definition.path = encode(source)
        definition.text = encode(text)
        definition.folder = encode(folder)
        definition.may_be_empty = may_be_empty
        kept = put_sets(definition, sets)
        pointer = ctypes.c_void_p()
        call('wadi_scene_load', ctypes.byref(pointer), ctypes.byref(definition))
        del kept
        self._pointer = pointer

    def __del__(self):
        if getattr(self, '_pointer', None):
            LIBRARY.wadi_scene_destroy(self._pointer)

    _instead = 'keep the dict or the file that it was made of'

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def _handle(self):
        return self._pointer

    @property
    def name(self) -> str:
        """Its name, of files too."""
        return LIBRARY.wadi_scene_name(self._pointer).decode()

    @property
    def solver(self) -> str:
        """"flip", "sph", "dem", or "points"."""
        return LIBRARY.wadi_scene_solver(self._pointer).decode()

    @property
    def frames(self) -> int:
        """How many frames it has."""
        return LIBRARY.wadi_scene_frames(self._pointer)

    @property
    def fps(self) -> float:
        """Frames a second."""
        return LIBRARY.wadi_scene_fps(self._pointer)

    def facts(self, time: float = 0.0) -> dict:
        """What a viewer shows of it, as a dict: domain, materials, colliders, …, at a time."""
        return json.loads(take_text('wadi_scene_facts', self._pointer, float(time)))

    def estimate(self, frames: int = 0, threads: int = 0, seconds: bool = False) -> Estimate:
        """Particles, memory, disk and steps of a run; with `seconds` also its time, which takes some seconds."""
        made = _abi.WadiEstimate()
        if seconds:
            call('wadi_estimate', self._pointer, frames, threads, None, ctypes.byref(made))
        else:
            call('wadi_estimate_sizes', self._pointer, frames, None, ctypes.byref(made))
        values = {f.name: getattr(made, f.name) for f in dataclasses.fields(Estimate)}
        values['step_limit'] = (made.step_limit or b'').decode()
        return Estimate(**values)

    def simulate(self, threads: int = 0) -> Simulation:
        """A `Simulation` of it in memory, at frame 1."""
        from .simulation import Simulation
        return Simulation(self, threads=threads)

    def resume(self, state: bytes | str | os.PathLike, threads: int = 0) -> Simulation:
        """A `Simulation` that goes on from `Simulation.save()`, or from the path of a checkpoint file."""
        from .simulation import Simulation
        if state is None:
            raise ArgumentError('there is no state to resume: scene.simulate() starts anew')
        if isinstance(state, (str, os.PathLike)):
            try:
                with open(state, 'rb') as file:
                    state = file.read()
            except OSError as problem:
                raise FileError(f'cannot read {state}: {problem.strerror}') from None
        return Simulation(self, threads=threads, state=state)

    def run(self, folder: str | os.PathLike | None = None, **options) -> Run:
        """Simulates it into a run folder: see `wadi.run`."""
        from .runs import run
        return run(self, folder, **options)

    def __repr__(self):
        return f'<Scene {self.name!r}: {self.solver}, {self.frames} frames at {self.fps:g} a second>'


@functools.lru_cache(maxsize=1)
def schema() -> dict:
    """The JSON Schema of scene files, as a dict."""
    return json.loads(take_text('wadi_scene_schema'))
