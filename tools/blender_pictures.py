#!/usr/bin/env python3
"""Pictures of the add-on for docs/blender.md and to judge its materials by: one small scene for each preset and the wave of the
page's walk, baked and rendered. In Blender: WADI=build/wadi blender -b -P tools/blender_pictures.py -- FOLDER [NAME…] [--eevee]
[--size 480x320] [--samples 48]. EEVEE needs a display: xvfb-run -a blender …"""
import argparse
import math
import os
import sys

import bpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "blender"))
sys.dont_write_bytecode = True
import wadi  # noqa: E402

FRAME_RATE = 24


def add_cube(name, low, high, role="NONE", **values):
    """A box between two corners, as Add, Mesh, Cube makes it."""
    center, size = [(a + b) / 2 for a, b in zip(low, high)], [b - a for a, b in zip(low, high)]
    bpy.ops.mesh.primitive_cube_add(size=1, location=center, scale=size)
    return named(name, role, **values)


def named(name, role, **values):
    made = bpy.context.object
    made.name, made.wadi.role = name, role
    for key, value in values.items():
        setattr(made.wadi, key, value)
    return made


def add_domain(size, resolution, **values):
    made = add_cube("Domain", (-size[0] / 2, -size[1] / 2, 0), (size[0] / 2, size[1] / 2, size[2]), "DOMAIN", resolution=resolution, **values)
    made.hide_render, made.display_type = True, "WIRE"
    return made


def add_pillar(radius, depth, location, role, name, **values):
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=radius, depth=depth, location=location)
    return named(name, role, **values)


def water():
    add_domain((1.0, 0.5, 0.5), 64, wall_friction=0.0)
    add_cube("Pond", (-0.5, -0.25, 0), (0.5, 0.25, 0.08), "BODY", preset="water")
    add_cube("Wave", (-0.5, -0.25, 0.08), (-0.2, 0.25, 0.36), "BODY", preset="water")
    paint(add_pillar(0.05, 0.3, (0.15, 0.0, 0.15), "COLLIDER", "Pillar"), (0.5, 0.12, 0.06))
    return 16


def honey():
    add_domain((0.3, 0.3, 0.3), 72)
    add_pillar(0.014, 0.02, (0, 0, 0.25), "EMITTER", "Spoon", preset="honey", rate=0.0003, velocity=(0, 0, -0.6))
    return 44


def dry_sand():
    add_domain((1.0, 1.0, 0.4), 80, wall_friction=0.7, open={"x_min", "x_max", "y_min", "y_max"})
    add_pillar(0.14, 0.3, (0, 0, 0.15), "BODY", "Column", preset="dry_sand")
    return 26


def moist_sand():
    add_domain((0.8, 0.8, 0.4), 80, wall_friction=0.7)
    add_pillar(0.12, 0.2, (-0.1, 0.05, 0.1), "BODY", "Tower", preset="moist_sand")
    add_cube("Wall", (0.0, 0.0, 0), (0.3, 0.1, 0.12), "BODY", preset="moist_sand")
    return 8


def mud():
    add_domain((1.0, 1.0, 0.4), 72, wall_friction=0.5)
    add_pillar(0.15, 0.26, (0, 0, 0.13), "BODY", "Clod", preset="mud")
    return 24


def gravel():
    add_domain((0.6, 0.6, 0.5), 30, solver="dem", wall_friction=0.6)
    add_pillar(0.14, 0.24, (0, 0, 0.13), "BODY", "Load", preset="gravel")
    return 22


PRESETS = {"water": water, "honey": honey, "dry_sand": dry_sand, "moist_sand": moist_sand, "mud": mud, "gravel": gravel}


def paint(made, colour):
    material = bpy.data.materials.new(made.name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1)
    made.data.materials.append(material)


def empty_scene():
    """As File, New, General with everything deleted."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    wadi.unregister()
    wadi.register()
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start = FRAME_RATE, 1
    return scene


def add_light_and_camera(scene, extent):
    """A floor, a low sun, a sky and a camera that sees the whole domain."""
    bpy.ops.mesh.primitive_plane_add(size=20 * extent, location=(0, 0, -0.001 * extent))
    paint(bpy.context.object, (0.34, 0.33, 0.32))
    bpy.ops.object.light_add(type="SUN", rotation=(math.radians(50), math.radians(8), math.radians(-40)))
    bpy.context.object.data.energy, bpy.context.object.data.angle = 3.5, math.radians(2)
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.62, 0.74, 0.9, 1)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.6
    scene.world = world
    bpy.ops.object.camera_add(location=(0.85 * extent, -1.5 * extent, 0.85 * extent))
    camera = bpy.context.object
    bpy.ops.object.empty_add(location=(0, 0, 0.08 * extent))
    look = camera.constraints.new("TRACK_TO")
    look.target = bpy.context.object
    camera.data.lens = 55
    scene.camera = camera


def render(scene, path, engine, size, samples):
    scene.render.engine = engine
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *size, 100
    scene.render.use_motion_blur = False
    scene.cycles.samples, scene.cycles.use_denoising = samples, False
    scene.eevee.taa_render_samples = 32
    for name in ("use_gtao", "use_ssr", "use_soft_shadows"):
        if hasattr(scene.eevee, name):
            setattr(scene.eevee, name, True)
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--eevee", action="store_true")
    parser.add_argument("--size", default="480x320")
    parser.add_argument("--samples", type=int, default=48)
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1:])
    size = tuple(int(part) for part in options.size.split("x"))
    wadi.register()
    for name in options.names or list(PRESETS):
        scene = empty_scene()
        scene.frame_end = PRESETS[name]()
        domain = bpy.data.objects["Domain"]
        folder = os.path.abspath(os.path.join(options.folder, name))
        os.makedirs(folder, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, name + ".blend"))
        bpy.ops.wadi.check()
        if scene.wadi.state != "CURRENT":
            bpy.ops.wadi.bake(mode="NEW")
        else:
            bpy.ops.wadi.show()
        for made in list(scene.objects):
            if made.wadi.role in ("BODY", "EMITTER", "DOMAIN"):
                made.hide_render = True
        add_light_and_camera(scene, max(domain.dimensions[:2]))
        scene.frame_set(scene.frame_end)
        versions = sys.modules["wadi.versions"]
        render(scene, os.path.join(folder, f"{name}.{'eevee' if options.eevee else 'cycles'}.png"), versions.eevee() if options.eevee else "CYCLES", size, options.samples)
        bpy.ops.wm.save_mainfile()


main()
