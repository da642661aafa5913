"""Shapes for bodies and colliders, as values of the scene language; docs/scene-reference.md has all of them."""

from __future__ import annotations


def _list(values) -> list[float]:
    return [float(v) for v in values]


def sphere(center, radius: float, **keys) -> dict:
    """A ball; further keys are those of every shape: translate, rotate, scale, pivot."""
    return {'sphere': {'center': _list(center), 'radius': float(radius)}, **keys}


def box(min=None, max=None, *, center=None, size=None, **keys) -> dict:
    """A box from two corners, or from its center and its edges."""
    if min is not None:
        return {'box': {'min': _list(min), 'max': _list(max)}, **keys}
    return {'box': {'center': _list(center), 'size': _list(size)}, **keys}


def cylinder(start, end, radius: float, **keys) -> dict:
    """A cylinder with flat ends."""
    return {'cylinder': {'from': _list(start), 'to': _list(end), 'radius': float(radius)}, **keys}


def capsule(start, end, radius: float, **keys) -> dict:
    """A cylinder with round ends."""
    return {'capsule': {'from': _list(start), 'to': _list(end), 'radius': float(radius)}, **keys}


def mesh(file, **keys) -> dict:
    """The solid inside a mesh file."""
    return {'mesh': {'file': str(file)}, **keys}


def union(*shapes: dict, **keys) -> dict:
    """What is inside any of the shapes."""
    return {'union': list(shapes), **keys}


def difference(shape: dict, *others: dict, **keys) -> dict:
    """What is inside the first shape and in none of the others."""
    return {'difference': [shape, *others], **keys}
