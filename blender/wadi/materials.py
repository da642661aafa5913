# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials of results: one tree each, with an end for Cycles and one for EEVEE where they differ. A material that is there
already is used as it is, so that changes to it stay."""
from __future__ import annotations

import math
from typing import Any, Dict, Tuple

import bpy

from .versions import make_blended, socket

Colour = Tuple[float, float, float]
GRAINS: Dict[str, Tuple[Colour, Colour, float]] = {  # linear colour dry and wet, size of the grains that show (m)
    "sand": ((0.50, 0.385, 0.25), (0.17, 0.115, 0.065), 0.002),
    "mud": ((0.20, 0.125, 0.075), (0.065, 0.038, 0.02), 0.004),
    "gravel": ((0.30, 0.29, 0.28), (0.10, 0.095, 0.09), 0.003),
}


def add(tree: Any, kind: str, **members: Any) -> Any:
    node = tree.nodes.new("ShaderNode" + kind)
    for name, value in members.items():
        setattr(node, name, value)
    return node


def principled(tree: Any, **values: Any) -> Any:
    node = add(tree, "BsdfPrincipled")
    for name, value in values.items():
        socket(node, name.replace("_", " ")).default_value = value
    return node


def attribute(tree: Any, name: str, kind: str = "GEOMETRY") -> Any:
    return add(tree, "Attribute", attribute_name=name, attribute_type=kind)


def output(tree: Any, shader: Any, engine: str = "ALL") -> Any:
    node = add(tree, "OutputMaterial", target=engine)
    tree.links.new(shader, node.inputs["Surface"])
    return node


def mix_shaders(tree: Any, share: Any, first: Any, second: Any) -> Any:
    node = add(tree, "MixShader")
    tree.links.new(share, node.inputs[0])
    tree.links.new(first, node.inputs[1])
    tree.links.new(second, node.inputs[2])
    return node.outputs[0]


def mix_colours(tree: Any, share: Any, first: Any, second: Any, operation: str = "MIX") -> Any:
    """Of values or sockets."""
    node = add(tree, "MixRGB", blend_type=operation)
    for place, value in enumerate((share, first, second)):
        if hasattr(value, "node"):
            tree.links.new(value, node.inputs[place])
        else:
            node.inputs[place].default_value = (*value, 1) if isinstance(value, tuple) else value
    return node.outputs[0]


def ranged(tree: Any, value: Any, low: float, high: float, start: float, end: float) -> Any:
    node = add(tree, "MapRange")
    for name, number in (("From Min", low), ("From Max", high), ("To Min", start), ("To Max", end)):
        node.inputs[name].default_value = number
    tree.links.new(value, node.inputs["Value"])
    return node.outputs["Result"]


def make_sand(tree: Any, shader: str) -> None:
    """From dry to wet by the attribute `wetness`; grains are cells that move with the particles (`grain_origin`)."""
    dry, wet, size = GRAINS[shader]
    wetness = attribute(tree, "wetness").outputs["Fac"]
    place, origin, about = add(tree, "NewGeometry"), attribute(tree, "grain_origin"), add(tree, "VectorMath", operation="SUBTRACT")
    cells, split = add(tree, "TexVoronoi"), add(tree, "SeparateXYZ")
    cells.inputs["Scale"].default_value = 1 / size
    tree.links.new(place.outputs["Position"], about.inputs[0])
    tree.links.new(origin.outputs["Vector"], about.inputs[1])
    tree.links.new(about.outputs[0], cells.inputs["Vector"])
    tree.links.new(cells.outputs["Color"], split.inputs[0])
    base = mix_colours(tree, ranged(tree, wetness, 0.0, 0.6, 0, 1), dry, wet)
    ramp = add(tree, "ValToRGB")  # most grains are like the mean, some are dark, some bright
    stops = [(0.0, 0.45), (0.1, 0.75), (0.55, 1.0), (0.9, 1.2), (1.0, 1.45)]
    while len(ramp.color_ramp.elements) < len(stops):
        ramp.color_ramp.elements.new(1.0)
    for element, (position, value) in zip(ramp.color_ramp.elements, stops):
        element.position, element.color = position, (value, value, value, 1)
    tree.links.new(split.outputs[0], ramp.inputs["Fac"])
    node = principled(tree, Specular_IOR_Level=0.3)
    bump = add(tree, "Bump", invert=True)
    bump.inputs["Strength"].default_value, bump.inputs["Distance"].default_value = 0.5, 0.4 * size
    tree.links.new(cells.outputs["Distance"], bump.inputs["Height"])
    tree.links.new(mix_colours(tree, 1.0, base, ramp.outputs["Color"], "MULTIPLY"), node.inputs["Base Color"])
    tree.links.new(ranged(tree, wetness, 0.4, 1.0, 0.95, 0.3), node.inputs["Roughness"])
    tree.links.new(bump.outputs[0], node.inputs["Normal"])
    output(tree, node.outputs[0])


def make_gravel(tree: Any) -> None:
    """Each stone has a grey of its own, by a random number of its instance."""
    dry, wet, size = GRAINS["gravel"]
    place, spots = add(tree, "TexCoord"), add(tree, "TexNoise")
    spots.inputs["Scale"].default_value, spots.inputs["Detail"].default_value = 3.0, 6.0
    tree.links.new(place.outputs["Object"], spots.inputs["Vector"])
    random = add(tree, "ObjectInfo").outputs["Random"]
    tone = mix_colours(tree, random, (0.17, 0.16, 0.155), (0.46, 0.43, 0.39))
    wetness = attribute(tree, "wetness", "INSTANCER").outputs["Fac"]
    base = mix_colours(tree, ranged(tree, spots.outputs["Fac"], 0.35, 0.65, 0, 0.5), tone, (0.3, 0.27, 0.24))
    node = principled(tree, Specular_IOR_Level=0.35)
    bump = add(tree, "Bump")
    bump.inputs["Strength"].default_value, bump.inputs["Distance"].default_value = 0.35, size
    tree.links.new(spots.outputs["Fac"], bump.inputs["Height"])
    tree.links.new(mix_colours(tree, ranged(tree, wetness, 0, 0.6, 0, 1), base, wet), node.inputs["Base Color"])
    tree.links.new(ranged(tree, wetness, 0.2, 0.8, 0.8, 0.25), node.inputs["Roughness"])
    tree.links.new(bump.outputs[0], node.inputs["Normal"])
    output(tree, node.outputs[0])


def make_liquid(tree: Any, index: float, clarity: float, passed: Colour, surface: Colour, shallow: Colour, cover: float) -> None:
    """A clear liquid of which a `clarity` (m) lets the colour `passed` through. Cycles: refraction, and colour by depth; light of
    sun and sky goes straight through, since without caustics it would be dark below. EEVEE: what is behind shows through the
    colour `surface`, as much as `cover` leaves."""
    clear, path = add(tree, "BsdfTransparent"), add(tree, "LightPath")
    glass = principled(tree, Base_Color=(1, 1, 1, 1), Roughness=0.0, IOR=index, Transmission_Weight=1.0)
    # Light that total reflection traps leaves after three of them: Blender ends it after four (Light Paths, Glossy) and draws black.
    trapped = add(tree, "Math", operation="GREATER_THAN")
    trapped.inputs[1].default_value = 2.5
    tree.links.new(path.outputs["Glossy Depth"], trapped.inputs[0])
    straight = trapped.outputs[0]
    for name in ("Is Shadow Ray", "Is Diffuse Ray"):
        either = add(tree, "Math", operation="MAXIMUM")
        tree.links.new(straight, either.inputs[0])
        tree.links.new(path.outputs[name], either.inputs[1])
        straight = either.outputs[0]
    end = output(tree, mix_shaders(tree, straight, glass.outputs[0], clear.outputs[0]), "CYCLES")
    inside = add(tree, "VolumeAbsorption")  # absorbs density (1 - colour) a metre
    rates = [-math.log(part) / clarity for part in passed]
    inside.inputs["Density"].default_value = max(rates)
    inside.inputs["Color"].default_value = (*(1 - rate / max(rates) for rate in rates), 1)
    tree.links.new(inside.outputs[0], end.inputs["Volume"])
    weight, through, body = add(tree, "LayerWeight"), add(tree, "BsdfTransparent"), add(tree, "MixShader")
    weight.inputs["Blend"].default_value = 0.25
    through.inputs["Color"].default_value = (*shallow, 1)
    seen = principled(tree, Base_Color=(*surface, 1), Roughness=0.05, IOR=index)
    body.inputs[0].default_value = cover
    tree.links.new(through.outputs[0], body.inputs[1])
    tree.links.new(seen.outputs[0], body.inputs[2])
    output(tree, mix_shaders(tree, weight.outputs["Fresnel"], body.outputs[0], seen.outputs[0]), "EEVEE")


def make_foam(tree: Any) -> None:
    """White; dust (kind 3) has the colour of sand, and all fade in the last second of their life."""
    dry, _, _ = GRAINS["sand"]
    is_dust = ranged(tree, attribute(tree, "kind").outputs["Fac"], 2.4, 2.6, 0, 1)
    node = principled(tree, Roughness=0.6, Specular_IOR_Level=0.3)
    tree.links.new(mix_colours(tree, is_dust, (0.92, 0.94, 0.95), dry), node.inputs["Base Color"])
    share = ranged(tree, attribute(tree, "life").outputs["Fac"], 0.0, 1.0, 0.0, 1.0)
    output(tree, mix_shaders(tree, share, add(tree, "BsdfTransparent").outputs[0], node.outputs[0]))


def make(shader: str) -> Any:
    """The material of a shader (`presets.Preset.shader`, or `foam`)."""
    name = "wadi " + shader
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    if shader in ("sand", "mud"):
        make_sand(tree, shader)
    elif shader == "gravel":
        make_gravel(tree)
    elif shader == "foam":
        make_foam(tree)
        make_blended(material)
    elif shader == "honey":
        make_liquid(tree, 1.49, 0.04, (0.95, 0.5, 0.04), (0.75, 0.33, 0.02), (1.0, 0.55, 0.08), 0.6)
        make_blended(material)
    else:
        make_liquid(tree, 1.333, 3.0, (0.47, 0.80, 0.86), (0.25, 0.78, 0.85), (0.86, 0.96, 0.97), 0.12)
        make_blended(material)
    return material
