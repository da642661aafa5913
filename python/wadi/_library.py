"""Loads libwadi, checks its layout, and calls it with exceptions instead of statuses."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib

from . import _abi
from .errors import BY_STATUS, REMEDIES, ArgumentError, Error, InternalError, UnsupportedError

_HERE = pathlib.Path(__file__).resolve().parent / 'lib'


def _has_v3():
    """Whether this processor has what x86-64-v3 needs."""
    try:
        text = pathlib.Path('/proc/cpuinfo').read_text()
    except OSError:
        return False
    flags = next((set(line.split()) for line in text.splitlines() if line.startswith('flags')), set())
    return {'avx2', 'bmi1', 'bmi2', 'f16c', 'fma', 'abm', 'movbe'} <= flags


def _find():
    given = os.environ.get('WADI_LIBRARY')
    if given:
        return pathlib.Path(given)
    faster = _HERE / 'x86-64-v3' / 'libwadi.so'
    return faster if faster.exists() and _has_v3() else _HERE / 'libwadi.so'


def _load():
    # Libraries that the wheel carries are loaded first, so that the loader finds them by their names.
    order = _HERE / 'order.txt'
    for name in order.read_text().split() if order.exists() else ():
        ctypes.CDLL(str(_HERE / name))
    path = _find()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as problem:
        raise ImportError(f'cannot load {path}: {problem}') from None
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _check(library):
    count = ctypes.c_int()
    types = library.wadi_abi_types(ctypes.byref(count))
    sizes = {types[i].name.decode(): types[i].size for i in range(count.value)}
    for struct in _abi.STRUCTS:
        size = ctypes.sizeof(struct)
        if sizes.get(struct.__name__) != size:
            raise ImportError(f'{struct.__name__} has {sizes.get(struct.__name__)} bytes in the library and {size} '
                              'here: the package and the library are of different versions')
    error = _abi.WadiError()
    if library.wadi_check_processor(ctypes.byref(error)) != 0:
        raise ImportError(error.text.decode(errors='replace'))


LIBRARY = _load()
_check(LIBRARY)


def version() -> str:
    """The library's version, "0.2.0"."""
    return LIBRARY.wadi_version().decode()


def failure(error):
    """The exception of a filled WadiError."""
    kind = BY_STATUS.get(error.status, Error)
    text = error.text
    if error.hint in REMEDIES:
        text = text[:error.hint_at] + f'; {REMEDIES[error.hint]}'.encode()
    made = kind(text.decode(errors='replace'))
    made.hint = error.hint
    return made


def call(name, *arguments):
    """Calls a function whose last argument is a WadiError; raises what it says. The GIL is released meanwhile."""
    error = _abi.WadiError()
    status = getattr(LIBRARY, name)(*arguments, ctypes.byref(error))
    if status != 0:
        error.status = status
        raise failure(error)


def take_text(name, *arguments):
    """The text that a function makes in its last argument before the WadiError."""
    text = ctypes.c_char_p()
    call(name, *arguments, ctypes.byref(text))
    try:
        return (text.value or b'').decode(errors='replace')
    finally:
        LIBRARY.wadi_text_release(text)


def encode(value):
    """Paths and texts as bytes; None stays."""
    if value is None:
        return None
    try:
        made = os.fsencode(value) if isinstance(value, (os.PathLike, bytes)) else str(value).encode()
    except UnicodeEncodeError as problem:
        raise ArgumentError(f'{value!r} is no text in UTF-8: {problem.reason}') from None
    if b'\0' in made:
        raise ArgumentError(f'{value!r} has a zero byte, at which the library would end it')
    return made


class NotCopied:
    """Objects with memory of the library: a copy would free it twice."""

    _instead = ''

    def __reduce_ex__(self, protocol):
        raise TypeError(f'a {type(self).__name__} is neither copied nor pickled: {self._instead}')


def plain(value):
    """Values of a scene for JSON: arrays of numpy and paths become lists and texts."""
    if hasattr(value, 'tolist'):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f'{type(value).__name__} cannot be a value of a scene')


def as_scene_text(value):
    """A value in the scene language: JSON is a part of it."""
    try:
        return value if isinstance(value, str) else json.dumps(value, default=plain)
    except ValueError as problem:  # a container within itself
        raise ArgumentError(f'{type(value).__name__} cannot be a value of a scene: {problem}') from None


def assignments(values):
    """`sets` as texts "a.b=c": from a dict, or a list of such texts."""
    if not values:
        return []
    if isinstance(values, str):
        return [values]
    if isinstance(values, dict):
        return [f'{key}={as_scene_text(value)}' for key, value in values.items()]
    return [str(value) for value in values]


def put_sets(definition, values):
    """Fills `sets` and `set_count` of a def; returns what must stay alive during the call."""
    texts = [encode(text) for text in assignments(values)]
    array = (ctypes.c_char_p * max(len(texts), 1))(*texts)
    definition.sets = array
    definition.set_count = len(texts)
    return array


__all__ = ['LIBRARY', 'call', 'take_text', 'encode', 'put_sets', 'as_scene_text', 'version', 'InternalError',
           'UnsupportedError']
