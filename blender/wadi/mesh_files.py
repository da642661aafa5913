# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with meshes and points: what wadi reads of a scene, and what it makes of it. Needs numpy, not Blender."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple

import numpy as np

PLY_TYPES = {"float": "<f4", "double": "<f8", "uchar": "u1", "uint": "<u4", "int": "<i4"}
FRAME_TYPES = ("u1", "<u4", "<u8", "<i4", "<f4", "<f8")
FRAME_MAGIC = b"WADI\r\n\x1a\n"
FRAME_ARRAYS = 352  # offset of the number of arrays, then 80 bytes an array


@dataclass
class Mesh:
    """Corners (n, 3) and triangles (m, 3)."""

    points: np.ndarray
    triangles: np.ndarray

    def is_equal(self, other: "Mesh") -> bool:
        return (self.points.shape == other.points.shape and np.array_equal(self.points, other.points)
                and self.triangles.shape == other.triangles.shape and np.array_equal(self.triangles, other.triangles))

    def has_triangles_of(self, other: "Mesh") -> bool:
        return len(self.points) == len(other.points) and np.array_equal(self.triangles, other.triangles)

    def moved(self, matrix: np.ndarray) -> "Mesh":
        """In double precision; a mirrored mesh keeps its outside outside."""
        points = self.points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        is_mirrored = np.linalg.det(matrix[:3, :3]) < 0
        return Mesh(points, self.triangles[:, ::-1] if is_mirrored else self.triangles)

    def bytes(self) -> bytes:
        """A binary PLY file."""
        head = (f"ply\nformat binary_little_endian 1.0\nelement vertex {len(self.points)}\n"
                "property double x\nproperty double y\nproperty double z\n"
                f"element face {len(self.triangles)}\nproperty list uchar int vertex_indices\nend_header\n")
        faces = np.empty(len(self.triangles), np.dtype([("count", "u1"), ("corner", "<i4", 3)]))
        faces["count"], faces["corner"] = 3, self.triangles
        return head.encode() + np.ascontiguousarray(self.points, "<f8").tobytes() + faces.tobytes()


def read_ply(path: str) -> Tuple[Dict[str, np.ndarray], np.ndarray]:
    """(columns of the vertices by name, triangles) of a PLY file that wadi wrote."""
    with open(path, "rb") as file:
        vertices, faces, fields = 0, 0, []
        for line in iter(lambda: file.readline().decode().split(), ["end_header"]):
            if not line:
                raise ValueError(f"{path}: the file ends in its header")
            if line[:2] == ["element", "vertex"]:
                vertices = int(line[2])
            elif line[:2] == ["element", "face"]:
                faces = int(line[2])
            elif line[0] == "property" and line[1] != "list":
                fields.append((line[2], PLY_TYPES[line[1]]))
        columns = np.fromfile(file, np.dtype(fields), vertices)
        triangles = np.fromfile(file, np.dtype([("count", "u1"), ("corner", "<i4", 3)]), faces)["corner"]
    if len(columns) != vertices or len(triangles) != faces:
        raise ValueError(f"{path}: the file is cut off")
    return {name: columns[name] for name, _ in fields}, triangles


def read_frame(path: str) -> Dict[str, np.ndarray]:
    """Arrays of a frame file of wadi by name. Its first 8192 bytes say where they are (docs/formats.md, The bytes)."""
    with open(path, "rb") as file:
        head = file.read(8192)
        if len(head) < 8192 or head[:8] != FRAME_MAGIC:
            raise ValueError(f"{path}: no frame of wadi")
        arrays = {}
        for number in range(int.from_bytes(head[FRAME_ARRAYS:FRAME_ARRAYS + 8], "little")):
            row = head[FRAME_ARRAYS + 8 + 80 * number:FRAME_ARRAYS + 88 + 80 * number]
            name = row[:48].split(b"\0")[0].decode()
            kind, components = np.frombuffer(row, "<u4", 2, 48)
            count, offset = np.frombuffer(row, "<u8", 2, 56)
            file.seek(int(offset))
            values = np.fromfile(file, FRAME_TYPES[kind], int(count) * int(components))
            if len(values) != int(count) * int(components):
                raise ValueError(f"{path}: the file is cut off")
            arrays[name] = values.reshape(-1, int(components)) if components > 1 else values
    return arrays


def vectors(columns: Dict[str, np.ndarray], names: List[str]) -> np.ndarray:
    return np.stack([columns[name] for name in names], 1).astype(np.float32)


def attributes_of(columns: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """What points carry: velocity as a vector, everything else under its own name as float or int."""
    found = {}
    for name, values in columns.items():
        if name == "vx":
            found["velocity"] = vectors(columns, ["vx", "vy", "vz"])
        elif name.endswith("_x"):
            found[name[:-2]] = vectors(columns, [name[:-1] + axis for axis in "xyz"])
        elif name not in ("x", "y", "z", "nx", "ny", "nz", "vy", "vz") and name[-2:] not in ("_y", "_z"):
            found[name] = values.astype(np.float32 if values.dtype.kind == "f" else np.int32)
    return found


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    """Of a closed mesh, m³."""
    a, b, c = (points[triangles[:, corner]].astype(np.float64) for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)
