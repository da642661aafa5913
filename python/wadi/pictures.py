"""Quick pictures of particles for notebooks: small balls seen from the side and a little from above."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from .errors import ArgumentError

# Points of the map viridis, from low to high.
_MAP = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)


def _colors(values):
    low, high = np.percentile(values, [1, 99]) if len(values) else (0.0, 1.0)
    t = np.clip((values - low) / (high - low), 0, 1) if high > low else np.full(len(values), 0.4)
    at = t * (len(_MAP) - 1)
    i = np.minimum(at.astype(int), len(_MAP) - 2)
    part = (at - i)[:, None]
    return _MAP[i] * (1 - part) + _MAP[i + 1] * part


def png(pixels: np.ndarray) -> bytes:
    """The bytes of a PNG file of (height, width, 3) uint8."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress(rows.tobytes(), 6)) + chunk(b'IEND', b''))


def picture_of(xyz, values=None, width: int = 640, elevation: float = 20.0, radius: float | None = None) -> bytes:
    """A PNG of points, coloured by values. x goes to the right, z up; the viewer looks along +y and down."""
    if not 1 <= width <= 10000:
        raise ArgumentError(f'a picture is 1 to 10000 pixels wide, not {width}')
    xyz = np.asarray(xyz, float)
    is_finite = np.isfinite(xyz).all(axis=1)
    if not is_finite.all():
        xyz, values = xyz[is_finite], None if values is None else np.asarray(values)[is_finite]
    if len(xyz) == 0:
        return png(np.full((max(width // 2, 1), width, 3), 255, np.uint8))
    sine, cosine = np.sin(np.radians(elevation)), np.cos(np.radians(elevation))
    u, v = xyz[:, 0], xyz[:, 2] * cosine + xyz[:, 1] * sine
    depth = xyz[:, 1] * cosine - xyz[:, 2] * sine
    low, size = np.array([u.min(), v.min()]), np.array([np.ptp(u), np.ptp(v)])
    scale = 0.92 * width / max(size[0], 0.75 * size[1] * 4 / 3, 1e-12)
    height = int(min(max(size[1] * scale + 0.08 * width, 0.3 * width), 1.5 * width))
    x = (u - low[0] - size[0] / 2) * scale + width / 2
    y = height / 2 - (v - low[1] - size[1] / 2) * scale
    if radius is None:  # as if they filled their box
        volume = np.prod(np.maximum(np.ptp(xyz, axis=0), 1e-9))
        radius = 0.6 * (volume / len(xyz)) ** (1 / 3)
    r = int(np.clip(round(radius * scale), 1, 12))
    colors = _colors(np.asarray(values, float)) if values is not None else np.tile([70.0, 120.0, 190.0], (len(xyz), 1))
    order = np.argsort(-depth, kind='stable')  # the nearest last
    image = np.full((height, width, 3), 255.0)
    nearest = np.full(height * width, -1, np.int64)
    shade = np.ones(height * width)
    column, row = x[order].astype(int), y[order].astype(int)
    rank = np.arange(len(order))
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            square = (dx * dx + dy * dy) / (r + 0.5) ** 2
            if square > 1:
                continue
            px, py = column + dx, row + dy
            inside = (px >= 0) & (px < width) & (py >= 0) & (py < height)
            at, ranks = (py * width + px)[inside], rank[inside]
            best = np.full(height * width, -1, np.int64)
            np.maximum.at(best, at, ranks)
            nearer = best > nearest
            nearest[nearer] = best[nearer]
            shade[nearer] = 1.0 - 0.45 * square
    drawn = nearest >= 0
    flat = image.reshape(-1, 3)
    flat[drawn] = colors[order][nearest[drawn]] * shade[drawn, None]
    return png(image.astype(np.uint8))
