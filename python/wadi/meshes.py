"""Surfaces as triangle meshes, from simulations and from anyone's particles."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

import numpy as np

from . import _abi
from ._library import LIBRARY, NotCopied, call, encode
from .arrays import wrap
from .errors import ArgumentError

if TYPE_CHECKING:
    from .scene import Scene


class _Handle(NotCopied):
    def __init__(self):
        self.data = _abi.WadiMeshData()

    def __del__(self):
        LIBRARY.wadi_mesh_release(ctypes.byref(self.data))


_MATERIALS = 255  # at most, in a scene


def _address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value


class Mesh:
    """A closed triangle mesh. All arrays are read-only views of the mesh's own memory, valid as long as used.

    vertices    (n, 3) float64, m
    normals     (n, 3) float32, outward
    triangles   (m, 3) uint32, counterclockwise seen from outside
    mesh["velocity"]   attributes of the vertices by name; `keys()` lists them
    """

    def __init__(self, handle):
        d = handle.data
        n, m = d.vertex_count, d.triangle_count
        self.vertices = wrap(_address(d.position), (n, 3), 'f8', handle)
        self.normals = wrap(_address(d.normal), (n, 3), 'f4', handle)
        self.triangles = wrap(_address(d.triangle), (m, 3), 'u4', handle)
        self._attributes = {}
        for i in range(d.attribute_count):
            a = d.attribute[i]
            shape = (n,) if a.components == 1 else (n, a.components)
            self._attributes[a.name.decode()] = wrap(_address(a.values), shape, 'f4', handle)

    def keys(self) -> list[str]:
        """Names of the attributes of vertices."""
        return list(self._attributes)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._attributes[name]

    def __contains__(self, name):
        return name in self._attributes

    def __len__(self):
        return len(self.triangles)

    def _corners(self):
        return (self.vertices[self.triangles[:, c].astype(np.intp)] for c in range(3))

    @property
    def volume(self) -> float:
        """m^3 that it encloses."""
        a, b, c = self._corners()
        return float(np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0)

    @property
    def area(self) -> float:
        """m^2."""
        a, b, c = self._corners()
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)

    def save(self, path: str | os.PathLike) -> None:
        """Writes it as .ply (binary, with normals and attributes) or .obj (positions and normals), by the ending."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending == '.ply':
            content = self._ply()
        elif ending == '.obj':
            content = self._obj()
        else:
            raise ArgumentError(f'{path}: a mesh is saved as .ply or .obj')
        with open(path, 'wb') as file:
            file.write(content)

    def _ply(self):
        fields = [(a, '<f4', self.vertices[:, i]) for i, a in enumerate('xyz')]
        fields += [('n' + a, '<f4', self.normals[:, i]) for i, a in enumerate('xyz')]
        for name, values in self._attributes.items():
            if values.ndim == 1:
                fields.append((name, '<f4', values))
            else:
                fields += [(f'{name}_{a}', '<f4', values[:, i]) for i, a in enumerate('xyz')]
        rows = np.empty(len(self.vertices), [(name, kind) for name, kind, _ in fields])
        for name, _, values in fields:
            rows[name] = values
        faces = np.empty(len(self), [('n', 'u1'), ('v', '<i4', (3,))])
        faces['n'], faces['v'] = 3, self.triangles
        head = ['ply', 'format binary_little_endian 1.0', f'element vertex {len(rows)}']
        head += [f'property float {name}' for name, _, _ in fields]
        head += [f'element face {len(faces)}', 'property list uchar int vertex_indices', 'end_header', '']
        return '\n'.join(head).encode() + rows.tobytes() + faces.tobytes()

    def _obj(self):
        lines = [f'v {x:.9g} {y:.9g} {z:.9g}' for x, y, z in self.vertices]
        lines += [f'vn {x:.5g} {y:.5g} {z:.5g}' for x, y, z in self.normals]
        lines += [f'f {a}//{a} {b}//{b} {c}//{c}' for a, b, c in self.triangles.astype(np.int64) + 1]
        return ('\n'.join(lines) + '\n').encode()

    def _repr_png_(self):
        from .pictures import picture_of
        return picture_of(self.vertices, -self.normals[:, 1]) if len(self.vertices) else None

    def __repr__(self):
        return f'<Mesh of {len(self.triangles)} triangles, {len(self.vertices)} vertices>'


def definition_of(material, advance, y_up, threads):
    definition = LIBRARY.wadi_default_mesh_def()
    definition.material = encode(material)
    definition.advance = advance
    definition.is_y_up = y_up
    definition.threads = threads
    return definition


def _numbers(values, kind, name):
    """As an array of a type of numpy; texts, complex numbers, masks and lists of unequal length are refused."""
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind == 'O' else array
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f'{name}: expected numbers: {problem}') from None
    if array.dtype.kind not in 'biuf':
        raise ArgumentError(f'{name}: expected numbers, not {array.dtype}')
    if np.ma.is_masked(values):
        raise ArgumentError(f'{name} is masked in places: give the values that count')
    if kind == np.uint8 and array.size and not (np.equal(array, np.floor(array)).all() and array.min() >= 0
                                                and array.max() < _MATERIALS):
        raise ArgumentError(f'{name}: expected numbers of materials, 0 to {_MATERIALS - 1}')
    return np.ascontiguousarray(array, dtype=kind)


class Points:
    """Any particles, to be surfaced: `wadi.Points(xyz, radius=0.01).surface().save("mine.ply")`.

    xyz       (n, 3), m
    radius    m: half the edge of the cube that a particle fills; one number, or one for each
    spacing   m: instead of radius, that edge, the same for all
    velocity  (n, 3), m/s; optional
    material  (n,) numbers of the scene's materials; optional
    further keywords: attributes, (n,) or (n, 3), interpolated to the vertices
    """

    def __init__(self, xyz, radius=None, spacing: float | None = None, velocity=None, material=None, **attributes):
        self.xyz = self._array(xyz, np.float64, 'xyz', 3)
        n = len(self.xyz)
        if (radius is None) == (spacing is None):
            raise ArgumentError('particles have either a radius or a spacing')
        self.spacing = float(_numbers(spacing, np.float64, 'spacing')) if spacing is not None else None
        self.radius = None
        if radius is not None and np.ndim(radius) == 0:
            self.spacing = 2.0 * float(_numbers(radius, np.float64, 'radius'))
        elif radius is not None:
            self.radius = self._array(radius, np.float32, 'radius', 1, n)
        for size in (self.spacing, self.radius):
            if size is not None and not (np.isfinite(size).all() and np.all(np.greater(size, 0))):
                raise ArgumentError('the size of particles must be finite and above 0 m')
        for name in attributes:
            if not name.isprintable() or any(part.isspace() for part in name):
                raise ArgumentError(f'{name!r}: the name of an attribute has no spaces')
        self.velocity = None if velocity is None else self._array(velocity, np.float32, 'velocity', 3, n)
        self.material = None if material is None else self._array(material, np.uint8, 'material', 1, n)
        self.attributes = {name: self._array(values, np.float32, name, np.shape(values)[-1] if np.ndim(values) > 1
                                             else 1, n) for name, values in attributes.items()}
        if len(self.attributes) > _abi.WADI_MESH_ATTRIBUTE_MAX:
            raise ArgumentError(f'at most {_abi.WADI_MESH_ATTRIBUTE_MAX} attributes')

    @staticmethod
    def _array(values, kind, name, components, count=None):
        array = _numbers(values, kind, name)
        shape = (len(array) if array.ndim else 0,) + ((components,) if components > 1 else ())
        if array.shape != shape or components not in (1, 3) or (count is not None and len(array) != count):
            wanted = f'({"n" if count is None else count}{", 3" if components == 3 else ""})'
            raise ArgumentError(f'{name} has the shape {np.shape(values)}, expected {wanted}')
        return array

    def __len__(self):
        return len(self.xyz)

    def _scene(self, settings):
        from .scene import Scene
        cell = 2.0 * self.spacing if self.spacing is not None else 4.0 * float(np.median(self.radius))
        count = 1 + (int(self.material.max()) if self.material is not None and len(self) else 0)
        return Scene({'wadi': 1, 'name': 'points', 'solver': 'points', 'cell_size': cell,
                      'materials': {f'material_{i}': {'kind': 'water'} for i in range(count)},
                      'surface': settings or {}}, may_be_empty=True)

    def _data(self):
        """They as a struct of the library, and what must live as long as it."""
        data = LIBRARY.wadi_default_particle_data()

        def pointer(array, kind):
            return array.ctypes.data_as(ctypes.POINTER(kind)) if array is not None else None

        data.count = len(self)
        data.position = pointer(self.xyz, ctypes.c_double)
        data.velocity = pointer(self.velocity, ctypes.c_float)
        data.radius = pointer(self.radius, ctypes.c_float)
        data.spacing = self.spacing or 0.0
        data.material = pointer(self.material, ctypes.c_uint8)
        data.attribute_count = len(self.attributes)
        names = [name.encode() for name in self.attributes]
        for i, values in enumerate(self.attributes.values()):
            data.attribute[i].name = names[i]
            data.attribute[i].components = 1 if values.ndim == 1 else 3
            data.attribute[i].values = pointer(values, ctypes.c_float)
        return data, (self, names)

    def surface(self, scene: Scene | None = None, *, settings: dict | None = None, material: str | None = None,
                advance: float = 0.0, y_up: bool = False, threads: int = 0) -> Mesh:
        """Their surface, with the surface settings of a scene, or with `settings` (a dict: docs/surface.md)."""
        scene = scene if scene is not None else self._scene(settings)
        data, kept = self._data()
        handle = _Handle()
        definition = definition_of(material, advance, y_up, threads)
        call('wadi_particles_surface', scene._handle(), ctypes.byref(data), ctypes.byref(definition),
             ctypes.byref(handle.data))
        del kept
        return Mesh(handle)

    def _repr_png_(self):
        from .pictures import picture_of
        return picture_of(self.xyz, np.linalg.norm(self.velocity, axis=1) if self.velocity is not None else None)

    def __repr__(self):
        return f'<Points: {len(self)}>'
