#!/usr/bin/env python3
"""How much denser than at rest the water of a run of the solver sph lies: mean of what is too much and of the error's size over the particles three
spacings or more inside, by the solver's kernel and by the whole cubic spline. Frame 1 is left out. Used for docs/sph.md."""
import argparse
import glob
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    sys.exit(f"{missing}: needs numpy and h5py (Debian: apt install python3-numpy python3-h5py)")

SUPPORT, CUT = 2.0, 1.85  # spacings
FILL_CELL, FILL_REACH = 1.5, 2  # particles inside have no empty cell of this width within so many cells


def spline(r):
    """Cubic spline over its value at 0, r in spacings."""
    t, m = np.clip(1 - r / SUPPORT, 0, None), np.clip(0.5 - r / SUPPORT, 0, None)
    return 2 * t**3 - 8 * m**3


KERNELS = {"solver's kernel": lambda r: np.where(r < CUT, spline(r) - spline(np.array(CUT)), 0), "cubic spline": spline}


def offsets(reach):
    steps = np.arange(-reach, reach + 1)
    return np.array(np.meshgrid(steps, steps, steps)).reshape(3, -1).T


def keys(cells):
    return (cells[:, 2] << 42) + (cells[:, 1] << 21) + cells[:, 0]


def are_inside(x):
    cells = np.floor(x / FILL_CELL).astype(np.int64) + (1 << 19)
    filled = np.unique(keys(cells))
    cell, of = np.unique(cells, axis=0, return_inverse=True)
    inside = np.ones(len(cell), bool)
    for offset in offsets(FILL_REACH):
        wanted = keys(cell + offset)
        inside &= filled[np.minimum(np.searchsorted(filled, wanted), len(filled) - 1)] == wanted
    return inside[of.reshape(-1)]


def density_errors(x):
    """x in spacings. Errors of the particles inside, by kernel."""
    cells = np.floor(x / SUPPORT).astype(np.int64) + (1 << 19)
    order = np.argsort(keys(cells), kind="stable")
    x, cells = x[order], cells[order]
    sorted_keys = keys(cells)
    inside = np.flatnonzero(are_inside(x))
    sums = {name: np.zeros(len(inside)) for name in KERNELS}
    for offset in offsets(1):
        wanted = keys(cells[inside] + offset)
        first, end = np.searchsorted(sorted_keys, wanted), np.searchsorted(sorted_keys, wanted, "right")
        for k in range(int((end - first).max(initial=0))):
            has = np.flatnonzero(first + k < end)
            r = np.linalg.norm(x[inside[has]] - x[first[has] + k], axis=1)
            for name, kernel in KERNELS.items():
                sums[name][has] += kernel(r)
    lattice = np.linalg.norm(offsets(2), axis=1)
    return {name: sums[name] / kernel(lattice).sum() - 1 for name, kernel in KERNELS.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="the run folder")
    parser.add_argument("--spacing", type=float, required=True, help="m, of the particles: half a cell with 8 a cell")
    args = parser.parse_args()
    frames = sorted(glob.glob(os.path.join(args.run, "particles", "*.h5")))[1:]
    if not frames:
        sys.exit(f"{args.run}: no frames after the first")
    means = {name: np.zeros(2) for name in KERNELS}
    for path in frames:
        with h5py.File(path) as frame:
            errors = density_errors(frame["particles"]["position"][:] / args.spacing)
        for name, error in errors.items():
            found = 100 * np.array([np.clip(error, 0, None).mean(), np.abs(error).mean()])
            means[name] += found / len(frames)
            print(f"{os.path.basename(path)}: {name}: {found[0]:.4f} % too dense, {found[1]:.4f} % off, {len(error)} particles")
    for name, found in means.items():
        print(f"mean of {len(frames)} frames: {name}: {found[0]:.4f} % too dense, {found[1]:.4f} % off")


main()
