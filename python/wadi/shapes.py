"""Shapes for bodies and colliders, as values of the scene language; docs/scene-reference.md has all of them."""


def _list(values):
    return [float(v) for v in values]


def sphere(center, radius, **keys):
    """A ball; further keys are those of every shape: translate, rotate, scale, pivot."""
    return {'sphere': {'center': _list(center), 'radius': float(radius)}, **keys}


def box(min=None, max=None, *, center=None, size=None, **keys):
    """A box from two corners, or from its center and its edges."""
    if min is not None:
        return {'box': {'min': _list(min), 'max': _list(max)}, **keys}
    return {'box': {'center': _list(center), 'size': _list(size)}, **keys}


def cylinder(start, end, radius, **keys):
    """A cylinder with flat ends."""
    return {'cylinder': {'from': _list(start), 'to': _list(end), 'radius': float(radius)}, **keys}


def capsule(start, end, radius, **keys):
    """A cylinder with round ends."""
    return {'capsule': {'from': _list(start), 'to': _list(end), 'radius': float(radius)}, **keys}


def mesh(file, **keys):
    """The solid inside a mesh file."""
    return {'mesh': {'file': str(file)}, **keys}


def union(*shapes, **keys):
    """What is inside any of the shapes."""
    return {'union': list(shapes), **keys}


def difference(shape, *others, **keys):
    """What is inside the first shape and in none of the others."""
    return {'difference': [shape, *others], **keys}
