"""Run folders: simulating into them, reading them, and what is made of them."""

from __future__ import annotations

import csv
import ctypes
import dataclasses
import json
import operator
import os
import pathlib
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _abi
from ._library import LIBRARY, NotCopied, call, encode, put_sets, take_text
from ._progress import Progress, Watch
from .arrays import Particles
from .errors import ArgumentError, FileError
from .scene import Sets

if TYPE_CHECKING:
    from .scene import Scene

Frames = Union[None, int, range, Tuple[int, int]]      # all, one, a range, (first, last)
Callback = Optional[Callable[[Progress], object]]      # True stops

_QUALITIES = {'draft': 0, 'preview': 1, 'final': 2}
_FORMATS = {'ply': _abi.WADI_SURFACE_PLY, 'obj': _abi.WADI_SURFACE_OBJ, 'vdb': _abi.WADI_SURFACE_VDB}


def _frames(definition, frames):
    """Frames of a call: None (all), a number, a range, or a pair (first, last)."""
    if frames is None:
        return
    if isinstance(frames, range):
        if len(frames) == 0:
            raise ArgumentError('no frames')
        first, last = frames[0], frames[-1]
        if hasattr(definition, 'every'):
            definition.every = frames.step
        elif frames.step != 1:
            raise ArgumentError('every frame of the range is made: its step must be 1')
    elif isinstance(frames, (tuple, list)):
        first, last = frames
    else:
        first = last = frames
    definition.first_frame, definition.last_frame = int(first), int(last)


@dataclasses.dataclass(frozen=True)
class Made:
    """Files that a call made: `paths` are those reported, `folder` is where they lie, `kept` existed already."""

    folder: pathlib.Path
    kept: int
    paths: list
    seconds: float


class RunFrame(NotCopied):
    """A frame of a run folder. It is read when the first of its quantities is wanted, and stays readable."""

    _instead = 'run[number] is one anew'

    def __init__(self, run, number):
        self.run, self.number = run, number
        self._reader, self._generation = None, 0

    def _handle(self):
        if self._reader is None:
            reader = ctypes.c_void_p()
            call('wadi_run_reader_open', ctypes.byref(reader), encode(self.run.folder))
            try:
                call('wadi_run_reader_read', reader, self.number)
            except Exception:
                LIBRARY.wadi_run_reader_close(reader)
                raise
            self._reader = reader
        return self._reader

    def __del__(self):
        if getattr(self, '_reader', None):
            LIBRARY.wadi_run_reader_close(self._reader)

    @property
    def time(self) -> float:
        """s"""
        return LIBRARY.wadi_run_reader_time(self._handle())

    @property
    def particles(self) -> Particles:
        """All quantities by name."""
        return Particles(self, 'wadi_run_reader')

    def keys(self) -> list[str]:
        """Names of the quantities."""
        return self.particles.keys()

    def __contains__(self, name):
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        return self.particles[name]

    def __len__(self):
        return len(self.particles)

    def picture(self, width: int = 640, elevation: float = 20.0) -> bytes:
        """A quick PNG, as bytes: particles as balls, coloured by speed. `Run.render` makes real pictures."""
        from .pictures import picture_of
        return picture_of(self['position'].xyz, self['velocity'].norm(), width, elevation)

    def _repr_png_(self):
        return self.picture()

    def __repr__(self):
        return f'<frame {self.number} of {self.run.folder}>'


class Run:
    """A run folder: `len(run)` frames, `run[10]` the tenth (numbers are from 1), `run[-1]` the last.

    Frames are read when they are used. A run that is still being written may be opened too.
    """

    def __init__(self, folder: str | os.PathLike):
        self.folder = pathlib.Path(os.fsdecode(folder))
        self.info  # raises where there is no run

    @property
    def info(self) -> dict:
        """What `wadi info --json` says: solver, frames, particles, seconds, drift, state_hash, forces, …"""
        if not (self.folder / 'run.json').is_file():
            raise FileError(f'{self.folder} has no run.json: it is not the folder of a run')
        return json.loads(take_text('wadi_describe', encode(self.folder), True))

    @property
    def hash(self) -> int:
        """Of the last frame; `Simulation.hash`."""
        return int(self.info['state_hash'], 16)

    def __len__(self) -> int:
        return self.info['frames']

    @overload
    def __getitem__(self, index: slice) -> list[RunFrame]: ...

    @overload
    def __getitem__(self, index: int) -> RunFrame: ...

    def __getitem__(self, index: int | slice) -> RunFrame | list[RunFrame]:
        count = len(self)
        if isinstance(index, slice):
            is_from_first = index.start is None and (index.step is None or index.step > 0)
            numbers = range(count + 1)[slice(1 if is_from_first else index.start, index.stop, index.step)]
            return [RunFrame(self, n) for n in numbers if n >= 1]
        index = operator.index(index)
        number = index + count + 1 if index < 0 else index
        if not 1 <= number <= count:
            raise IndexError(f'{self.folder} has the frames 1 to {count}, not {index}')
        return RunFrame(self, number)

    def __iter__(self) -> Iterator[RunFrame]:
        for number in range(1, len(self) + 1):
            yield RunFrame(self, number)

    def __reversed__(self) -> Iterator[RunFrame]:
        return iter(self[::-1])

    @property
    def forces(self) -> dict[str, dict[str, np.ndarray]]:
        """Forces on solids: {solid: {"frame": (n,), "time": (n,), "pressure": (n, 3), "friction": …, …}}.

        From forces.csv; empty where the solver does not report them.
        """
        path, result = self.folder / 'forces.csv', {}
        if not path.exists():
            return result
        with open(path, newline='') as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            result.setdefault(row['solid'], []).append(row)
        vectors = ('pressure', 'friction', 'pressure_torque', 'friction_torque', 'pivot')
        for solid, lines in result.items():
            made = {'frame': np.array([int(r['frame']) for r in lines]),
                    'time': np.array([float(r['time']) for r in lines])}
            for v in vectors:
                made[v] = np.array([[float(r[f'{v}_{a}']) for a in 'xyz'] for r in lines])
            result[solid] = made
        return result

    def _make(self, name, definition, report, frames, sets, force, threads, progress):
        paths = []

        def note(p):
            if p.path and p.is_frame_done:
                paths.append(pathlib.Path(p.path))
            return progress(p) if progress else None

        if hasattr(definition, 'first_frame'):
            _frames(definition, frames)
        kept = put_sets(definition, sets)
        definition.is_forced, definition.threads = force, threads
        with Watch(definition, note):
            call(name, encode(self.folder), ctypes.byref(definition), ctypes.byref(report))
        del kept
        return Made(pathlib.Path(os.fsdecode(report.folder)), report.kept, paths, report.seconds)

    def surface(self, frames: Frames = None, sets: Sets = None, *, formats: str | Sequence[str] = ('ply',),
                material: str | None = None, folder: str | os.PathLike | None = None, y_up: bool = False,
                subframe: float = 0.0, force: bool = False, threads: int = 0, progress: Callback = None) -> Made:
        """Meshes of the frames, as files in RUN/surface: `wadi surface`. `frames`: a number, a range, (first, last)."""
        definition = LIBRARY.wadi_default_surface_def()
        formats = (formats,) if isinstance(formats, str) else formats
        for name in formats:
            if name not in _FORMATS:
                raise ArgumentError(f'no format {name!r}; there are {", ".join(_FORMATS)}')
        definition.formats = sum({_FORMATS[name] for name in formats})
        definition.material, definition.folder = encode(material), encode(folder)
        definition.is_y_up, definition.subframe = y_up, subframe
        return self._make('wadi_surface', definition, _abi.WadiSurfaceReport(), frames, sets, force, threads, progress)

    def secondary(self, last_frame: int = 0, sets: Sets = None, *, force: bool = False, threads: int = 0,
                  progress: Callback = None) -> Made:
        """Foam, spray, bubbles and dust: `wadi secondary`."""
        definition = LIBRARY.wadi_default_secondary_options()
        definition.last_frame = last_frame
        return self._make('wadi_secondary', definition, _abi.WadiSecondaryReport(), None, sets, force, threads,
                          progress)

    def render(self, frames: Frames = None, sets: Sets = None, *, quality: str = 'preview', samples: int = 0,
               size: tuple[int, int] | None = None, attribute: str | None = None, video: bool = True,
               folder: str | os.PathLike | None = None, force: bool = False, threads: int = 0,
               progress: Callback = None) -> Made:
        """Pictures of the frames, path traced, in RUN/images, and a video: `wadi render`. size: (width, height)."""
        definition = LIBRARY.wadi_default_render_def()
        if quality not in _QUALITIES:
            raise ArgumentError(f'no quality {quality!r}; there are {", ".join(_QUALITIES)}')
        definition.quality = _QUALITIES[quality]
        definition.attribute, definition.folder = encode(attribute), encode(folder)
        definition.has_video, definition.samples = video, samples
        sets = dict(sets) if isinstance(sets, dict) else sets
        if size is not None:
            pixels = {'render.width': int(size[0]), 'render.height': int(size[1])}
            sets = {**pixels, **sets} if isinstance(sets, dict) else [
                *(f'{key}={value}' for key, value in pixels.items()), *(sets or ())]
        return self._make('wadi_render', definition, _abi.WadiRenderReport(), frames, sets, force, threads, progress)

    def export(self, target: str, frames: Frames = None, sets: Sets = None, *,
               folder: str | os.PathLike | None = None, y_up: bool = False, one_file: bool = False, force: bool = False,
               threads: int = 0, progress: Callback = None) -> Made:
        """Scenes and files for other programs, in RUN/export: `wadi export`. target: "blender", "usd", "ply", …

        one_file  of "usd": all frames in one file instead of one file a frame
        """
        names = [LIBRARY.wadi_export_target_name(t).decode() for t in range(_abi.WADI_EXPORT_TARGET_COUNT)]
        if target not in names:
            raise ArgumentError(f'no target {target!r}; there are {", ".join(names)}')
        definition = LIBRARY.wadi_default_export_def()
        definition.target = names.index(target)
        definition.folder, definition.is_y_up, definition.is_one_file = encode(folder), y_up, one_file
        return self._make('wadi_export', definition, _abi.WadiExportReport(), frames, sets, force, threads, progress)

    def _repr_png_(self):
        return self[-1].picture() if len(self) else None

    def __repr__(self):
        info = self.info
        return f'<Run {str(self.folder)!r}: {info["frames"]} of {info["frame_count"]} frames, {info["solver"]}>'


def run(scene: Scene | str | os.PathLike | dict, folder: str | os.PathLike | None = None, *, resume: bool = False,
        overwrite: bool = False, from_frame: int = 0, frames: int = 0, threads: int = 0, changes: str | None = None,
        progress: Callback = None) -> Run:
    """Simulates a scene into a run folder, NAME.run by default, and returns the `Run`.

    scene       a Scene, or what `Scene` takes: a path or a dict
    resume      go on from the newest checkpoint; start where there is none
    overwrite   remove an earlier run first
    from_frame  keep the frames up to this one and simulate the later ones anew, with the present scene
    progress    called with a `Progress` after every step; True stops, and the run can be resumed
    """
    from .scene import Scene
    if resume and overwrite:
        raise ArgumentError('either resume or overwrite')
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    definition = LIBRARY.wadi_default_run_def()
    folder = f'{scene.name}.run' if folder is None else folder
    definition.folder = encode(folder)
    definition.mode = _abi.WADI_RUN_RESUME if resume else _abi.WADI_RUN_OVERWRITE if overwrite else _abi.WADI_RUN_NEW
    definition.from_frame, definition.frames, definition.threads = from_frame, frames, threads
    definition.changes = encode(changes)
    report = _abi.WadiRunReport()
    with Watch(definition, progress):
        call('wadi_run', scene._handle(), ctypes.byref(definition), ctypes.byref(report))
    return Run(folder)


__all__ = ['Made', 'Run', 'RunFrame', 'run']
