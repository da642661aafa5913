"""Exceptions: one for each status of the library, with the library's own text."""

import re


class Error(Exception):
    """A call of the library failed. `str(error)` says what, where and what to do; `status` is its short name."""

    status = 'error'


class ArgumentError(Error, ValueError):
    """A value out of range, or an unknown name."""

    status = 'argument'


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""

    status = 'memory'


class FileError(Error, OSError):
    """A file or folder could not be read or written."""

    status = 'io'


class FormatError(Error, ValueError):
    """A file was read, and its content is invalid."""

    status = 'format'


class SceneError(Error, ValueError):
    """The scene is wrong. `problems` has all of them at once, each with its place."""

    status = 'scene'

    @property
    def problems(self):
        """A list of (file, line, column, text); line and column are None where a problem has no place."""
        result = []
        for line in str(self).splitlines():
            place = re.match(r'(.*?):(\d+):(\d+): (.*)', line)
            result.append((place[1], int(place[2]), int(place[3]), place[4]) if place else (None, None, None, line))
        return result


class BusyError(Error):
    """Another process uses the folder, or a frame is yet to come: try again later."""

    status = 'busy'


class Stopped(Error):
    """A progress callback asked to stop. What is finished remains; a run can be resumed."""

    status = 'stopped'


class NumericError(Error, ArithmeticError):
    """The simulation produced a value that is not finite."""

    status = 'numeric'


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not in this build or version."""

    status = 'unsupported'


class InternalError(Error):
    """An assert of the library failed: a bug. The objects of the call should be closed."""

    status = 'internal'


class StaleError(Error):
    """A view was used after the step that ended its life. Take it anew, or keep `view.copy()`."""

    status = 'stale'


# Remedies by WadiHint, in the words of this package; the library's own come behind `hint_at` bytes of its text.
REMEDIES = {1: 'continue with resume=True, replace them with overwrite=True, or choose another folder',
            2: 'take from_frame=N to continue from a frame with the new scene, or overwrite=True to begin again',
            3: 'from_frame=N drops those after frame N', 4: 'remove the cause, then continue with resume=True'}
BY_STATUS = {1: ArgumentError, 2: OutOfMemoryError, 3: FileError, 4: FormatError, 5: SceneError, 6: BusyError,
             7: Stopped, 8: NumericError, 9: UnsupportedError, 10: InternalError}
