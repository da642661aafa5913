# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry nodes of results: points become balls or stones, and everything moves with its velocity between two frames."""
from __future__ import annotations

from typing import Any, Tuple

import bpy

from .versions import add_interface_socket

MODIFIER = "wadi"
FRAME = "wadi frame"  # the node with the frame that the geometry is of
AS_MESHES = "wadi as meshes"  # the node that chooses what balls are: 0 or 1


def add(tree: Any, kind: str, **members: Any) -> Any:
    node = tree.nodes.new(kind)
    for name, value in members.items():
        setattr(node, name, value)
    return node


def named(tree: Any, name: str, kind: str) -> Any:
    """The values of an attribute."""
    node = add(tree, "GeometryNodeInputNamedAttribute", data_type=kind)
    node.inputs["Name"].default_value = name
    return next(output for output in node.outputs if output.enabled and output.name == "Attribute")


def new_group(name: str) -> Tuple[Any, Any, Any]:
    """A tree from geometry to geometry, with the sockets of its ends."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    add_interface_socket(tree, "Geometry", False, "NodeSocketGeometry")
    add_interface_socket(tree, "Geometry", True, "NodeSocketGeometry")
    return tree, tree.nodes.new("NodeGroupInput").outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0]


def add_motion(tree: Any, geometry: Any) -> Any:
    """Moves points by their velocity and the time since the frame that the file is of: so that engines that look at several
    times within a frame see them move."""
    frame = add(tree, "ShaderNodeValue", name=FRAME, label="frame shown")
    now, rate = add(tree, "GeometryNodeInputSceneTime"), add(tree, "ShaderNodeMath", operation="DIVIDE")
    since, time = (add(tree, "ShaderNodeMath", operation=operation) for operation in ("SUBTRACT", "MULTIPLY"))
    move, place = add(tree, "ShaderNodeVectorMath", operation="SCALE"), add(tree, "GeometryNodeSetPosition")
    link = tree.links.new
    link(now.outputs["Frame"], since.inputs[0])
    link(frame.outputs[0], since.inputs[1])
    link(now.outputs["Seconds"], rate.inputs[0])  # seconds a frame
    link(now.outputs["Frame"], rate.inputs[1])
    link(since.outputs[0], time.inputs[0])
    link(rate.outputs[0], time.inputs[1])
    link(named(tree, "velocity", "FLOAT_VECTOR"), move.inputs[0])
    link(time.outputs[0], move.inputs["Scale"])
    link(geometry, place.inputs["Geometry"])
    link(move.outputs[0], place.inputs["Offset"])
    return place.outputs[0]


def mesh_nodes(name: str) -> Any:
    tree, start, end = new_group(name)
    tree.links.new(add_motion(tree, start), end)
    return tree


def ball_nodes(name: str, material: Any, subdivisions: int) -> Any:
    """A ball for each point, with its attributes: a point of a cloud for Cycles, a small mesh for engines that draw no clouds
    (`set_as_meshes`)."""
    tree, start, end = new_group(name)
    points, paint = add(tree, "GeometryNodeMeshToPoints"), add(tree, "GeometryNodeSetMaterial")
    middles, balls = add(tree, "GeometryNodeMeshToPoints"), add(tree, "GeometryNodeInstanceOnPoints")
    ball, smooth = add(tree, "GeometryNodeMeshIcoSphere"), add(tree, "GeometryNodeSetShadeSmooth")
    real, both = add(tree, "GeometryNodeRealizeInstances"), add(tree, "GeometryNodeJoinGeometry")
    as_meshes = add(tree, "ShaderNodeValue", name=AS_MESHES, label="balls are meshes")
    as_points = add(tree, "ShaderNodeMath", operation="LESS_THAN")
    as_points.inputs[1].default_value = 0.5
    ball.inputs["Radius"].default_value, ball.inputs["Subdivisions"].default_value = 1.0, subdivisions
    paint.inputs["Material"].default_value = material
    link = tree.links.new
    moved, radius = add_motion(tree, start), named(tree, "radius", "FLOAT")
    link(as_meshes.outputs[0], as_points.inputs[0])
    link(moved, points.inputs[0])
    link(as_points.outputs[0], points.inputs["Selection"])
    link(radius, points.inputs["Radius"])
    link(moved, middles.inputs[0])
    link(as_meshes.outputs[0], middles.inputs["Selection"])
    link(radius, middles.inputs["Radius"])  # the node replaces the attribute
    link(middles.outputs[0], balls.inputs["Points"])
    link(ball.outputs[0], smooth.inputs[0])
    link(smooth.outputs[0], balls.inputs["Instance"])
    link(radius, balls.inputs["Scale"])
    link(balls.outputs[0], real.inputs[0])
    link(real.outputs[0], both.inputs[0])
    link(points.outputs[0], both.inputs[0])
    link(both.outputs[0], paint.inputs["Geometry"])
    link(paint.outputs[0], end)
    return tree


def stone_nodes(name: str, material: Any) -> Any:
    """A stone for each point, turned at random by its id."""
    tree, start, end = new_group(name)
    points, stones = add(tree, "GeometryNodeMeshToPoints"), add(tree, "GeometryNodeInstanceOnPoints")
    ball, dents, bend = add(tree, "GeometryNodeMeshIcoSphere"), add(tree, "ShaderNodeTexNoise"), add(tree, "GeometryNodeSetPosition")
    middle, depth = (add(tree, "ShaderNodeVectorMath", operation=operation) for operation in ("SUBTRACT", "SCALE"))
    turn, size, edges = (add(tree, "FunctionNodeRandomValue", data_type="FLOAT_VECTOR") for _ in range(2)), None, None
    turn, size = turn
    paint, scale = add(tree, "GeometryNodeSetMaterial"), add(tree, "ShaderNodeVectorMath", operation="SCALE")
    edges = add(tree, "GeometryNodeSetShadeSmooth")
    ball.inputs["Radius"].default_value, ball.inputs["Subdivisions"].default_value = 1.0, 3
    dents.inputs["Scale"].default_value, dents.inputs["Detail"].default_value = 0.9, 1.5
    middle.inputs[1].default_value, depth.inputs["Scale"].default_value = (0.5, 0.5, 0.5), 1.1
    paint.inputs["Material"].default_value = material
    set_range(turn, (0, 0, 0), (6.2832, 6.2832, 6.2832))
    set_range(size, (0.85, 0.85, 0.7), (1.25, 1.1, 1.0))
    link = tree.links.new
    link(dents.outputs["Color"], middle.inputs[0])
    link(middle.outputs[0], depth.inputs[0])
    link(ball.outputs[0], bend.inputs["Geometry"])
    link(depth.outputs[0], bend.inputs["Offset"])
    link(bend.outputs[0], edges.inputs[0])
    link(edges.outputs[0], paint.inputs["Geometry"])
    link(add_motion(tree, start), points.inputs[0])
    radius = named(tree, "radius", "FLOAT")
    link(radius, points.inputs["Radius"])  # the node replaces the attribute
    link(points.outputs[0], stones.inputs["Points"])
    link(paint.outputs[0], stones.inputs["Instance"])
    identity = named(tree, "id", "INT")
    for random, seed in ((turn, 1), (size, 2)):
        link(identity, random.inputs["ID"])
        random.inputs["Seed"].default_value = seed
    link(turn.outputs[0], stones.inputs["Rotation"])
    link(size.outputs[0], scale.inputs[0])
    link(radius, scale.inputs["Scale"])
    link(scale.outputs[0], stones.inputs["Scale"])
    link(stones.outputs[0], end)
    return tree


def set_range(node: Any, low: Tuple[float, ...], high: Tuple[float, ...]) -> None:
    """Of random vectors; sockets of other types have the same names."""
    node.inputs[0].default_value, node.inputs[1].default_value = low, high


def set_value(made: Any, name: str, value: float) -> None:
    """Of a node of an object, where it has one."""
    modifier = made.modifiers.get(MODIFIER)
    node = modifier.node_group.nodes.get(name) if modifier is not None and modifier.node_group is not None else None
    if node is not None and node.outputs[0].default_value != value:
        node.outputs[0].default_value = value


def set_frame(made: Any, frame: int) -> None:
    """Tells the nodes of an object which frame of the scene its geometry is of."""
    set_value(made, FRAME, frame)


def set_as_meshes(made: Any, engine: str) -> None:
    """EEVEE and Workbench draw no clouds of points that nodes make."""
    set_value(made, AS_MESHES, 0.0 if engine == "CYCLES" else 1.0)
