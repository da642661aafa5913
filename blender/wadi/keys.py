# SPDX-License-Identifier: GPL-3.0-or-later
"""Values by frame become wadi's keyframes, matrices its transforms. Needs numpy, not Blender."""
from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

LINE = 1e-7  # a key this near a line between its neighbours is left out; of values around 1, relative to larger ones
SHEAR = 1e-5  # axes of a transform are orthogonal up to this
SINGLE = 5e-7  # relative: a scale in single precision, from matrices of different rotations
TURN = 0.01  # rad: the most by which linear angles may leave the shortest rotation between two frames


def plain(value: Any) -> Any:
    """Numbers as Python has them, so that JSON has them exactly."""
    return [float(part) for part in value] if np.ndim(value) else float(value)


def corners_of(times: np.ndarray, values: np.ndarray) -> List[int]:
    """Those samples between which straight lines give all others."""
    tolerance = LINE * max(1.0, float(np.abs(values).max(initial=0.0)))
    kept, waiting = {0, len(values) - 1}, [(0, len(values) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        share = ((times[first + 1:last] - times[first]) / (times[last] - times[first]))[:, None]
        line = values[first] + share * (values[last] - values[first])
        distance = np.abs(values[first + 1:last] - line).max(1)
        farthest = int(distance.argmax())
        if distance[farthest] > tolerance:
            middle = first + 1 + farthest
            kept.add(middle)
            waiting += [(first, middle), (middle, last)]
    return sorted(kept)


def curve(samples: Sequence[Any], fps: float) -> Any:
    """A number or vector when all samples are equal, else keys with straight lines between them. Sample i is frame i + 1."""
    values = np.array(samples, np.float64).reshape(len(samples), -1)
    if len(samples) == 1 or (values == values[0]).all():
        return plain(samples[0])
    times = np.arange(len(samples)) / fps
    return {"keys": [[float(times[key]), plain(samples[key])] for key in corners_of(times, values)]}


def euler_near(rotation: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Angles about x, then y, then z, in degrees: of all that give the rotation those nearest to the previous ones."""
    y = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    if abs(math.cos(y)) < 1e-6:  # only x - z counts, or x + z: keep x
        x, side = math.radians(previous[0]), 1.0 if y > 0 else -1.0
        solutions = [(x, y, side * (x - math.atan2(side * rotation[0, 1], side * rotation[0, 2])))]
    else:
        x, z = math.atan2(rotation[2, 1], rotation[2, 2]), math.atan2(rotation[1, 0], rotation[0, 0])
        solutions = [(x, y, z), (x + math.pi, math.pi - y, z + math.pi)]
    found = []
    for solution in solutions:
        angles = np.degrees(solution)
        found.append(angles + 360.0 * np.round((previous - angles) / 360.0))
    return min(found, key=lambda angles: float(np.abs(angles - previous).sum()))


def rotation_of(angles: Sequence[float]) -> np.ndarray:
    """The matrix of angles in degrees about x, then y, then z, as wadi turns shapes."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(angles)), np.sin(np.radians(angles))
    x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return z @ y @ x


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    return 2.0 * math.asin(min(1.0, float(np.linalg.norm(a - b)) / math.sqrt(8.0)))


def halfway(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The middle of the shortest rotation from a to b."""
    u, _, v = np.linalg.svd(a + b)
    return u @ v


def transform(matrices: Sequence[np.ndarray], fps: float) -> Optional[Dict[str, Any]]:
    """Keys `translate`, `rotate` and `scale` for a mesh in local coordinates; None when straight lines between translations,
    angles and scales are not the motion: shear, mirrors, and rotations through the poles of the angles."""
    moves, turns, scales = [], [], []
    previous, last = np.zeros(3), None
    for matrix in matrices:
        axes = np.asarray(matrix, np.float64)[:3, :3]
        scale = np.linalg.norm(axes, axis=0)
        if scale.min() < 1e-9:
            return None
        rotation = axes / scale
        if np.abs(rotation.T @ rotation - np.eye(3)).max() > SHEAR or np.linalg.det(rotation) < 0:
            return None
        angles = euler_near(rotation, previous)
        if last is not None:
            middle = rotation_of(0.5 * (angles + previous))
            if angle_between(middle, halfway(last, rotation)) > TURN:
                return None
        moves.append([float(part) for part in np.asarray(matrix)[:3, 3]])
        turns.append([float(part) for part in angles])
        scales.append([float(part) for part in scale])
        previous, last = angles, rotation
    spread = np.ptp(scales, axis=0) / np.max(scales, axis=0)
    size = np.mean(scales, axis=0).tolist() if (spread <= SINGLE).all() else curve(scales, fps)
    return {"translate": curve(moves, fps), "rotate": curve(turns, fps), "scale": size}
