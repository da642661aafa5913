"""A wave breaks on a sandcastle: from Blender's start scene to a picture, by the operators and properties that clicks use. Needs the
add-on wadi. docs/blender.md walks through it.

    blender -P examples/blender/wave_on_castle.py                                   build it and press Bake yourself
    blender -b -P examples/blender/wave_on_castle.py -- wave.blend --render out.png [--resolution 96] [--frame 18] [--eevee]"""
import argparse
import math
import os
import sys

import bpy

SAND, TOWERS = 0.06, ((0.28, -0.16), (0.28, 0.16), (0.56, -0.16), (0.56, 0.16))  # m: height of the beach, middles of the towers


def add_cube(name, low, high, **values):
    """Add, Mesh, Cube; then its place and size in the panel Item, and its role in Physics, wadi."""
    bpy.ops.mesh.primitive_cube_add(size=1, location=[(a + b) / 2 for a, b in zip(low, high)], scale=[b - a for a, b in zip(low, high)])
    return set_role(name, **values)


def add_tower(name, x, y, low, high, radius, top, **values):
    """Add, Mesh, Cone: one with two radii."""
    bpy.ops.mesh.primitive_cone_add(vertices=32, radius1=radius, radius2=top, depth=high - low, location=(x, y, (low + high) / 2))
    return set_role(name, **values)


def set_role(name, role="NONE", **values):
    made = bpy.context.object
    made.name, made.wadi.role = name, role
    for key, value in values.items():
        setattr(made.wadi, key, value)
    return made


def build(resolution, frames):
    """Domain, beach, castle and the wave."""
    scene = bpy.context.scene
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, 24
    add_cube("Domain", (-0.7, -0.35, 0), (0.9, 0.35, 0.6), role="DOMAIN", resolution=resolution, open={"z_max"})
    sand = {"role": "BODY", "preset": "moist_sand"}
    add_cube("Beach", (-0.1, -0.35, 0), (0.9, 0.35, SAND), **sand)
    for number, (x, y) in enumerate(TOWERS):
        add_tower(f"Tower {number + 1}", x, y, SAND, 0.3, 0.075, 0.055, **sand)
    add_cube("Wall", (0.26, -0.16, SAND), (0.3, 0.16, 0.2), **sand)
    add_cube("Keep", (0.36, -0.08, SAND), (0.52, 0.08, 0.24), **sand)
    for name in ("Beach", "Wall", "Keep", *(f"Tower {number + 1}" for number in range(len(TOWERS)))):
        bpy.data.objects[name].wadi.cohesion = 1000
    add_cube("Sea", (-0.7, -0.35, 0), (-0.1, 0.35, SAND), role="BODY", preset="water")
    add_cube("Wave", (-0.7, -0.35, SAND), (-0.4, 0.35, 0.3), role="BODY", preset="water", body_velocity=(0.5, 0, 0))


def light_and_camera():
    """What is simulated is drawn by its results: the boxes are hidden."""
    scene = bpy.context.scene
    for made in scene.objects:
        if made.wadi.role in ("DOMAIN", "BODY"):
            made.hide_render = True
            made.hide_set(True)
    bpy.ops.mesh.primitive_plane_add(size=12, location=(0, 0, -0.001))
    floor = bpy.data.materials.new("Floor")
    floor.diffuse_color, floor.use_nodes = (0.3, 0.29, 0.28, 1), True
    floor.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = floor.diffuse_color
    bpy.context.object.data.materials.append(floor)
    bpy.ops.object.light_add(type="SUN", rotation=(math.radians(48), math.radians(-12), math.radians(35)))
    bpy.context.object.data.energy, bpy.context.object.data.angle = 3.5, math.radians(2)
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    sky = scene.world.node_tree.nodes["Background"]
    sky.inputs["Color"].default_value, sky.inputs["Strength"].default_value = (0.62, 0.74, 0.9, 1), 0.6
    bpy.ops.object.camera_add(location=(1.2, -1.25, 0.85), rotation=(math.radians(62), 0, math.radians(39)))
    bpy.context.object.data.lens, scene.camera = 45, bpy.context.object


def render(options):
    scene = bpy.context.scene
    scene.frame_set(options.frame)
    eevee = "BLENDER_EEVEE_NEXT" if (4, 2) <= bpy.app.version < (5, 0) else "BLENDER_EEVEE"
    scene.render.engine = eevee if options.eevee else "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = (int(part) for part in options.size.split("x"))
    scene.render.resolution_percentage, scene.render.use_motion_blur = 100, True
    scene.cycles.samples, scene.cycles.use_denoising = options.samples, False
    scene.render.filepath = os.path.abspath(options.render)
    bpy.ops.render.render(write_still=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blend", nargs="?")
    parser.add_argument("--render")
    parser.add_argument("--resolution", type=int, default=96)
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--frame", type=int, default=15)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--eevee", action="store_true")
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else [])
    build(options.resolution, options.frames)
    light_and_camera()
    if options.blend:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(options.blend))
        bpy.ops.wadi.bake()
        bpy.ops.wm.save_mainfile()
    if options.render:
        render(options)


main()
