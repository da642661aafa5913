"""Progress callbacks, warnings and stopping of long calls."""

import ctypes
import dataclasses
import signal
import threading
import warnings

from . import _abi
from .errors import Stopped


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a long call is. A callback that returns True stops it after the current step or file."""

    frame: int
    frame_count: int
    frames_done: int
    is_frame_done: bool
    stage: str
    seconds: float
    seconds_left: float
    path: str
    material: str
    particles: int
    steps: int
    dt: float
    dt_limit: str

    @property
    def fraction(self):
        """0 to 1 of the frames."""
        return self.frames_done / self.frame_count if self.frame_count else 0.0

    def __str__(self):
        left = f', {self.seconds_left:.0f} s left' if self.seconds_left >= 0 else ''
        return f'{self.stage} {self.frames_done}/{self.frame_count}{left}'


def _text(value):
    return value.decode(errors='replace') if value else ''


class Watch:
    """Connects a def with `progress`, `stop` and `log` to Python; exceptions of callbacks end the call."""

    def __init__(self, definition, progress):
        self._progress = progress
        self._problem = None
        self._is_stopping = False
        kind = dict(definition._fields_)
        if 'progress' in kind:
            self._on_progress = kind['progress'](self._report)
            definition.progress = self._on_progress
        if 'stop' in kind:
            self._on_stop = dict(_abi.WadiStop._fields_)['is_requested'](self._must_stop)
            definition.stop.is_requested = self._on_stop
        if 'log' in kind:
            self._on_log = dict(_abi.WadiLog._fields_)['function'](self._log)
            definition.log.function = self._on_log

    def _report(self, user, pointer):
        del user
        try:
            if self._progress is None or self._problem is not None:
                return
            p = pointer.contents
            if self._progress(Progress(p.frame, p.frame_count, p.frames_done, p.is_frame_done, _text(p.stage),
                                       p.seconds, p.seconds_left, _text(p.path), _text(p.material), p.particles,
                                       p.steps, p.dt, _text(p.dt_limit))) is True:
                self._is_stopping = True
        except BaseException as problem:  # also KeyboardInterrupt: it cannot pass through C
            self._problem = problem
            self._is_stopping = True

    def _log(self, user, level, text):
        del user
        if level != _abi.WADI_LOG_WARNING:
            return
        try:
            warnings.warn(_text(text), UserWarning, stacklevel=5)
        except Exception as problem:  # warnings as errors
            self._problem = self._problem or problem
            self._is_stopping = True

    def _must_stop(self, user):
        del user
        return self._is_stopping

    def _interrupt(self, number, frame):
        """Ctrl-C: an exception in a callback would end there, in C, and be lost."""
        del number, frame
        self._problem = self._problem or KeyboardInterrupt()
        self._is_stopping = True

    def __enter__(self):
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind, value, trace):
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) == self._interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        problem, self._problem, self._is_stopping = self._problem, None, False
        if problem is not None and (value is None or isinstance(value, Stopped)):
            raise problem
        return False
