# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between versions of Blender, from 3.4 on. Nothing else asks for the version."""
from __future__ import annotations

from typing import Any, Dict, Optional

import bpy
import numpy as np

OLDER_INPUTS = {"Transmission Weight": "Transmission", "Specular IOR Level": "Specular", "Subsurface Weight": "Subsurface",
                "Coat Weight": "Clearcoat", "Coat Roughness": "Clearcoat Roughness"}  # before 4.0


def socket(node: Any, name: str) -> Any:
    """An input by its name of today."""
    return node.inputs[name if name in node.inputs else OLDER_INPUTS[name]]


def add_interface_socket(tree: Any, name: str, is_output: bool, kind: str) -> None:
    """An input or output of a node group."""
    if hasattr(tree, "interface"):  # since 4.0
        tree.interface.new_socket(name, in_out="OUTPUT" if is_output else "INPUT", socket_type=kind)
    else:
        (tree.outputs if is_output else tree.inputs).new(kind, name)


def eevee() -> str:
    """The name of the engine EEVEE."""
    names = {item.identifier for item in bpy.types.RenderSettings.bl_rna.properties["engine"].enum_items}
    return "BLENDER_EEVEE_NEXT" if "BLENDER_EEVEE_NEXT" in names or (4, 2) <= bpy.app.version < (5, 0) else "BLENDER_EEVEE"


def make_blended(material: Any) -> None:
    """For EEVEE: what is behind is seen through it, and it casts no shadow of its own."""
    for name, value in (("blend_method", "BLEND"), ("shadow_method", "NONE"), ("show_transparent_back", False),
                        ("surface_render_method", "BLENDED"), ("use_transparent_shadow", True)):
        if hasattr(material, name):
            setattr(material, name, value)


def kind_of(values: np.ndarray) -> tuple:
    """(type of attribute, member of its items) for an array."""
    if values.dtype.kind in "iu":
        return "INT", "value"
    if values.ndim == 1:
        return "FLOAT", "value"
    return ("FLOAT_VECTOR", "vector") if values.shape[1] == 3 else ("FLOAT_COLOR", "color")


def fill_mesh(mesh: Any, points: np.ndarray, triangles: np.ndarray, attributes: Dict[str, np.ndarray],
              on_faces: Optional[Dict[str, np.ndarray]] = None) -> None:
    """Replaces all geometry of a mesh; its materials stay."""
    mesh.clear_geometry()
    domains = [("POINT", attributes), ("FACE", on_faces or {})]
    for _, found in domains:
        for name in found:
            if name in mesh.attributes:
                mesh.attributes.remove(mesh.attributes[name])
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    if len(triangles) > 0:
        mesh.loops.add(triangles.size)
        mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, np.int32).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
        if bpy.app.version < (3, 6, 0):  # later it follows from loop_start
            mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, np.int32))
        mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), bool))
    for domain, found in domains:
        for name, values in found.items():
            kind, member = kind_of(values)
            mesh.attributes.new(name, kind, domain).data.foreach_set(member, np.ascontiguousarray(values).ravel())
    mesh.update(calc_edges=len(triangles) > 0)
