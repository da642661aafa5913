# SPDX-License-Identifier: GPL-3.0-or-later
"""What users set: the role of an object with its numbers, how a scene is baked, and where a collection has its results from.
Blender reads the annotations, so that they cannot be postponed (`from __future__ import annotations`)."""
import os

import bpy
from bpy.props import (BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty)

from . import presets

ROLES = [("NONE", "None", "wadi leaves the object alone"),
         ("DOMAIN", "Domain", "The box in which everything happens"),
         ("BODY", "Body", "Sand or water that is there at the start"),
         ("EMITTER", "Emitter", "Sand or water pours from it"),
         ("DRAIN", "Drain", "Sand and water that enter it vanish"),
         ("COLLIDER", "Collider", "A solid, at rest, moving or deforming"),
         ("FORCE", "Force", "A wind, a push or a pull")]
SOLVERS = [("flip", "Water and Sand", "FLIP: the first choice for most scenes"),
           ("sph", "Wet Sand and Mud", "SPH: water that soaks into sand; slower"),
           ("dem", "Grains and Stones", "DEM: each grain a body of its own; no water")]
FORCES = [("uniform", "Uniform", "The same acceleration everywhere"), ("drag", "Wind", "Pulls velocities towards that of a wind"),
          ("point", "Point", "Pulls towards the object, or pushes away from it")]
SIDES = [("x_min", "−X", ""), ("x_max", "+X", ""), ("y_min", "−Y", ""), ("y_max", "+Y", ""), ("z_min", "Floor", ""), ("z_max", "Top", "")]
AXES = [("WORLD", "World", "Directions are those of the world"), ("OBJECT", "Object", "Directions turn with the object")]
METHODS = [("zhu_bridson", "Standard", "Keeps drops and volume"), ("anisotropic", "Smooth", "Flat where water is flat; slower")]


def take_preset(made, _context):
    """A new preset replaces the numbers of the material."""
    for name, value in presets.values_of(made.preset).items():
        setattr(made, name, value)


class WadiObject(bpy.types.PropertyGroup):
    """Of an object: its role and what goes with it. Names of numbers are those of the scene language."""
    role: EnumProperty(name="Role", items=ROLES, default="NONE", description="What the object is to wadi", options=set())
    # Domain.
    solver: EnumProperty(name="Solver", items=SOLVERS, default="flip", options=set())
    resolution: IntProperty(name="Resolution", default=64, min=8, soft_max=400, max=2000, options=set(),
                            description="Cells along the longest side of the domain. Twice as many take 8 to 16 times as long")
    wall_friction: FloatProperty(name="Wall Friction", default=0.5, min=0, max=100, description="Coulomb friction coefficient of the sides")
    wall_restitution: FloatProperty(name="Wall Bounce", default=0, min=0, max=1, description="Part of the normal velocity that is left after a bounce")
    open: EnumProperty(name="Open Sides", items=SIDES, options={"ENUM_FLAG"}, description="Sides without a wall: what leaves there is removed")
    method: EnumProperty(name="Surface", items=METHODS, default="zhu_bridson", options=set())
    smoothing: IntProperty(name="Smoothing", default=0, min=0, max=1000, options=set(), description="Passes of smoothing on the mesh; volume stays")
    use_foam: BoolProperty(name="Foam, Spray and Dust", default=True, options=set())
    foam_amount: FloatProperty(name="Foam", default=1, min=0, max=10000, soft_max=10, options=set())
    dust_amount: FloatProperty(name="Dust", default=1, min=0, max=10000, soft_max=10, options=set())
    # Material of bodies and emitters.
    preset: EnumProperty(name="Material", items=presets.items(), default="water", update=take_preset, options=set())
    density: FloatProperty(name="Density (kg/m³)", default=1000, min=0.001, max=1e5, options=set(), description="Mass of a cubic metre, pores included")
    friction_angle: FloatProperty(name="Friction Angle (°)", default=35, min=0, max=89, description="About the steepest slope on which it rests, in degrees")
    cohesion: FloatProperty(name="Cohesion (Pa)", default=0, min=0, max=1e7, description="Strength without pressure: none for dry sand, about 1000 Pa for moist sand")
    viscosity: FloatProperty(name="Viscosity (Pa s)", default=0, min=0, max=1e7, description="Water 0.001, honey 10, mud 10 to 1000")
    surface_tension: FloatProperty(name="Surface Tension (N/m)", default=0, min=0, max=100, description="Water 0.072; matters below a centimetre")
    grain_size: FloatProperty(name="Grain Size", default=0.0004, min=1e-9, max=1, precision=5, unit="LENGTH", options=set())
    wetness: FloatProperty(name="Wet Look", default=0, min=0, max=1, subtype="FACTOR", options=set(), description="How wet it looks at least")
    saturation: FloatProperty(name="Saturation", default=0, min=0, max=1, subtype="FACTOR", options=set(),
                              description="Part of the pores that is full of water at the start; 0.4 holds best, 1 is mud")
    # Body.
    body_velocity: FloatVectorProperty(name="Velocity", subtype="VELOCITY", unit="VELOCITY", options=set())
    angular_velocity: FloatVectorProperty(name="Rotation (rad/s)", options=set(), description="Angular velocity at the start, about its middle")
    # Emitter.
    velocity: FloatVectorProperty(name="Velocity", subtype="VELOCITY", unit="VELOCITY", default=(0, 0, -1))
    rate: FloatProperty(name="Rate (m³/s)", default=0.001, min=0, max=1e6, precision=5, description="Volume that pours in a second")
    axes: EnumProperty(name="Axes", items=AXES, default="WORLD", options=set())
    # Emitter, drain, force.
    use_start: BoolProperty(name="From Frame", options=set())
    start: IntProperty(name="Start", default=1, options=set())
    use_end: BoolProperty(name="To Frame", options=set())
    end: IntProperty(name="End", default=100, options=set())
    # Collider.
    friction: FloatProperty(name="Friction", default=0.5, min=0, max=100, description="Coulomb friction coefficient")
    restitution: FloatProperty(name="Bounce", default=0, min=0, max=1, description="Part of the normal velocity that is left after a bounce")
    thickness: FloatProperty(name="Thickness", default=0, min=0, unit="LENGTH", options=set(), description="0: a closed solid; more: a shell about its faces")
    # Force.
    force_kind: EnumProperty(name="Force", items=FORCES, default="drag", options=set())
    acceleration: FloatVectorProperty(name="Acceleration", subtype="ACCELERATION", unit="ACCELERATION", default=(0, 0, 1))
    wind: FloatVectorProperty(name="Wind", subtype="VELOCITY", unit="VELOCITY", default=(3, 0, 0))
    wind_rate: FloatProperty(name="Drag (1/s)", default=2, min=0, max=1e6, description="How fast velocities approach the wind's")
    strength: FloatProperty(name="Strength", default=10, unit="ACCELERATION", description="Acceleration towards the object; negative pushes away")
    radius: FloatProperty(name="Radius", default=1, min=1e-6, unit="LENGTH", options=set(), description="Beyond it the force falls as the square of distance")
    use_region: BoolProperty(name="Inside the Object Only", options=set())
    # Of objects that show results.
    result_kind: StringProperty(options={"HIDDEN"})
    result_name: StringProperty(options={"HIDDEN"})
    shown: StringProperty(options={"HIDDEN"})


class WadiScene(bpy.types.PropertyGroup):
    """Of a scene: where and how it is baked."""
    folder: StringProperty(name="Folder", default="//wadi", subtype="DIR_PATH", description="Where scene, run and results go", options=set())
    threads: IntProperty(name="Threads", default=0, min=0, max=1024, description="0: all cores", options=set())
    progress: FloatProperty(name="Progress", min=0, max=1, subtype="FACTOR", options={"SKIP_SAVE"})
    status: StringProperty(options={"SKIP_SAVE"})
    state: StringProperty(options={"SKIP_SAVE"}, description="of the bake: '', BAKING, CURRENT, CHANGED, OUTDATED, STOPPED or FAILED")


class WadiCollection(bpy.types.PropertyGroup):
    """Of a collection of results: the run's folder with its export, and the frame of the scene that shows frame 1."""
    folder: StringProperty(name="Run", subtype="DIR_PATH", options=set())
    start: IntProperty(name="First Frame", default=1, options=set())


class WadiPreferences(bpy.types.AddonPreferences):
    """Of this computer."""
    bl_idname = __package__
    program: StringProperty(name="wadi", default="wadi", subtype="FILE_PATH", description="The command wadi, where it is not in the PATH")

    def draw(self, _context):
        """The one line of the preferences."""
        self.layout.prop(self, "program")


def program(context) -> str:
    """The command: that of the preferences, else of the environment variable WADI, else of the PATH."""
    addon = context.preferences.addons.get(__package__)
    chosen = bpy.path.abspath(addon.preferences.program) if addon and addon.preferences else "wadi"
    return chosen if chosen != "wadi" else os.environ.get("WADI", "wadi")


CLASSES = (WadiObject, WadiScene, WadiCollection, WadiPreferences)


def register():
    for made in CLASSES:
        bpy.utils.register_class(made)
    bpy.types.Object.wadi = PointerProperty(type=WadiObject)
    bpy.types.Scene.wadi = PointerProperty(type=WadiScene)
    bpy.types.Collection.wadi = PointerProperty(type=WadiCollection)


def unregister():
    del bpy.types.Object.wadi, bpy.types.Scene.wadi, bpy.types.Collection.wadi
    for made in reversed(CLASSES):
        bpy.utils.unregister_class(made)
