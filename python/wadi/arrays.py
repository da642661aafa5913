"""Views of the library's memory as numpy arrays, without copies, that notice when they are out of date."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _abi
from ._library import LIBRARY, call
from .errors import ArgumentError, StaleError

_DTYPES = ('u1', 'u4', 'f4', 'f8', 'i4', 'u8')  # in the order of WadiViewType


class View(np.ndarray):
    """A read-only numpy array whose memory belongs to a simulation.

    It shows the present state, without a copy, until the next step or change; then every use of it raises
    `StaleError`. `view.copy()` is an ordinary array that stays. `np.asarray(view)`, `np.array(view)` and
    `memoryview(view)` read the memory itself: there is no such guard.
    """

    def __array_finalize__(self, source):
        self._owner = getattr(source, '_owner', None)
        self._generation = getattr(source, '_generation', None)

    def _check(self):
        if self._owner is not None and self._owner._generation != self._generation:
            raise StaleError('this view is of an earlier step: take it anew from the particles, or keep view.copy()')

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [_unguarded(i) for i in inputs]
        if out is not None:
            options['out'] = tuple(_unguarded(o) for o in out)
        return getattr(ufunc, method)(*plain, **options)

    def __array_function__(self, function, types, args, kwargs):
        return function(*_unguarded(args), **_unguarded(kwargs))

    def __getitem__(self, index):
        self._check()
        return super().__getitem__(index)

    def __iter__(self):
        self._check()
        return super().__iter__()

    __hash__ = None
    flat = property(lambda self: _unguarded(self).flat, doc=np.ndarray.flat.__doc__)

    def __repr__(self):
        return repr(_unguarded(self))

    def __str__(self):
        return str(_unguarded(self))

    def __reduce__(self):
        return self.copy().__reduce__()

    def _guarded(name):
        def method(self, *args, **options):
            return getattr(_unguarded(self), name)(*_unguarded(args), **options)
        method.__name__, method.__doc__ = name, getattr(np.ndarray, name).__doc__
        return method

    for _name in ('all', 'any', 'argmax', 'argmin', 'argsort', 'astype', 'choose', 'clip', 'compress', 'copy', 'cumprod',
                  'cumsum', 'dot', 'dump', 'dumps', 'flatten', 'item', 'max', 'mean', 'min', 'nonzero', 'prod', 'ptp',
                  'repeat', 'round', 'searchsorted', 'std', 'sum', 'take', 'tobytes', 'tofile', 'tolist', 'var',
                  '__bool__', '__complex__', '__contains__', '__copy__', '__deepcopy__', '__eq__', '__float__',
                  '__index__', '__int__', '__ne__'):
        if hasattr(np.ndarray, _name):
            locals()[_name] = _guarded(_name)
    del _name, _guarded


def _unguarded(value):
    """The same with plain arrays instead of views, each of which is checked."""
    if isinstance(value, View):
        value._check()
        return value.view(np.ndarray)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_unguarded(v) for v in value)
    if isinstance(value, dict):
        return {key: _unguarded(v) for key, v in value.items()}
    return value


class Vector:
    """A quantity of three components, each a `View`: `v.x`, `v.y`, `v.z`; `v.xyz` is a copy of shape (n, 3)."""

    def __init__(self, components):
        self._components = components

    @property
    def x(self) -> View:
        """The first component of all particles."""
        return self._components[0]

    @property
    def y(self) -> View:
        """The second component of all particles."""
        return self._components[1]

    @property
    def z(self) -> View:
        """The third component of all particles."""
        return self._components[2]

    @property
    def xyz(self) -> np.ndarray:
        """A copy of shape (n, 3)."""
        return np.stack(_unguarded(list(self._components)), axis=1)

    def norm(self) -> np.ndarray:
        """The length of each vector, in double."""
        x, y, z = (np.asarray(c, dtype=float) for c in _unguarded(list(self._components)))
        return np.sqrt(x * x + y * y + z * z)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError('the components lie in three arrays: use .x, .y and .z for views without a copy')
        return self.xyz if dtype is None else self.xyz.astype(dtype)

    def __len__(self):
        return len(self._components[0])

    def __iter__(self):
        return iter(self._components)

    def __getitem__(self, index):
        return self.xyz[index]

    def copy(self) -> np.ndarray:
        """The same as `xyz`."""
        return self.xyz

    def __repr__(self):
        return f'Vector of {len(self)} {self._components[0].dtype} x 3'


class Memory:
    """Bytes at an address, for numpy; keeps `owner` alive as long as an array uses them."""

    def __init__(self, address, shape, dtype, strides, owner):
        self.owner = owner
        self.__array_interface__ = {'version': 3, 'data': (address, True), 'shape': shape,
                                    'typestr': np.dtype(dtype).str, 'strides': strides}


def wrap(address, shape, dtype, owner, strides=None) -> np.ndarray:
    """A read-only array of the library's memory."""
    if 0 in shape or not address:
        array = np.empty(shape, dtype)
        array.flags.writeable = False
        return array
    return np.asarray(Memory(address, shape, dtype, strides, owner))


class Particles:
    """The quantities of all particles by name, like a dict: `particles["position"].z`, `particles["pressure"]`.

    Vectors are `Vector`, the others `View`: memory of the library, read only, without a copy. `keys()` lists
    the names; docs/formats.md says what they are.
    """

    def __init__(self, owner, prefix):
        self._owner, self._prefix = owner, prefix

    def keys(self) -> list[str]:
        """The names, as in the frames of a run."""
        names, name_of = [], getattr(LIBRARY, self._prefix + '_view_name')
        while True:
            name = name_of(self._owner._handle(), len(names))
            if name is None:
                return names
            names.append(name.decode())

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def items(self) -> list[tuple[str, View | Vector]]:
        """(name, values) of all."""
        return [(name, self[name]) for name in self.keys()]

    def __len__(self):
        return len(self['id'])

    def __getitem__(self, name: str) -> Any:
        """The `Vector` or `View` of this name."""
        if not isinstance(name, str) or '\0' in name:
            raise KeyError(f'quantities have names, such as "position", not {name!r}')
        view = _abi.WadiView()
        try:
            call(self._prefix + '_view', self._owner._handle(), name.encode(), ctypes.byref(view))
        except ArgumentError as problem:
            raise KeyError(str(problem)) from None
        columns = []
        for c in range(view.components):
            array = wrap(view.data[c], (view.count,), _DTYPES[view.type], self._owner, (view.stride,)).view(View)
            array._owner, array._generation = self._owner, self._owner._generation
            columns.append(array)
        return columns[0] if view.components == 1 else Vector(tuple(columns))

    def __repr__(self):
        return f'Particles({len(self)}: {", ".join(self.keys())})'
