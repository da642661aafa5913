# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels: in the Physics tab of an object its role, in that of the domain the bake."""
import textwrap

import bpy

from . import operators, presets


def columns(layout):
    layout.use_property_split, layout.use_property_decorate = True, True
    return layout.column()


def draw_material(layout, wadi, solver):
    layout.prop(wadi, "preset")
    for name in presets.numbers_for(wadi.preset, solver):
        layout.prop(wadi, name)
    if presets.PRESETS[wadi.preset].kind == "sand":
        layout.prop(wadi, "wetness")
        if solver == "sph":
            layout.prop(wadi, "saturation")
    wanted = presets.PRESETS[wadi.preset].solver
    if wanted == "dem" and solver != "dem":
        layout.label(text="Stones need the solver Grains and Stones", icon="INFO")
    if presets.PRESETS[wadi.preset].kind == "water" and solver == "dem":
        layout.label(text="The solver Grains and Stones has no water", icon="ERROR")


def draw_times(layout, wadi):
    for use, frame in (("use_start", "start"), ("use_end", "end")):
        row = layout.row(heading=wadi.bl_rna.properties[use].name)
        row.prop(wadi, use, text="")
        part = row.row()
        part.active = getattr(wadi, use)
        part.prop(wadi, frame, text="")


def draw_force(layout, wadi, made):
    layout.prop(wadi, "force_kind")
    if wadi.force_kind == "uniform":
        layout.prop(wadi, "acceleration")
    elif wadi.force_kind == "drag":
        layout.prop(wadi, "wind")
        layout.prop(wadi, "wind_rate")
    else:
        layout.prop(wadi, "strength")
        layout.prop(wadi, "radius")
    if wadi.force_kind != "point":
        layout.prop(wadi, "axes")
    if made.type == "MESH":
        layout.prop(wadi, "use_region")
    draw_times(layout, wadi)


def draw_domain(layout, wadi):
    for name in ("solver", "resolution", "wall_friction", "wall_restitution"):
        layout.prop(wadi, name)
    layout.prop(wadi, "open", expand=True)
    layout.prop(wadi, "method")
    layout.prop(wadi, "smoothing")
    if wadi.solver != "dem":
        layout.prop(wadi, "use_foam")
        part = layout.column()
        part.active = wadi.use_foam
        part.prop(wadi, "foam_amount")
        part.prop(wadi, "dust_amount")


def draw_bake(layout, scene):
    wadi = scene.wadi
    layout.prop(wadi, "folder")
    layout.prop(wadi, "threads")
    if operators.BAKING.is_running:
        layout.prop(wadi, "progress", text=wadi.status, slider=True)
        layout.operator("wadi.cancel", icon="CANCEL")
        return
    row = layout.row(align=True)
    row.operator("wadi.bake", text="Bake", icon="PHYSICS").mode = "NEW"
    row.operator("wadi.bake", text="Resume or Extend").mode = "RESUME"
    row = layout.row(align=True)
    row.operator("wadi.check")
    row.operator("wadi.show")
    layout.operator("wadi.write", icon="CONSOLE")
    icon = {"FAILED": "ERROR", "OUTDATED": "ERROR", "CURRENT": "CHECKMARK"}.get(wadi.state, "INFO")
    for number, line in enumerate(part for text in wadi.status.splitlines() for part in textwrap.wrap(text, 60)):
        layout.label(text=line, icon=icon if number == 0 else "BLANK1")


class WADI_PT_object(bpy.types.Panel):
    """Role of the object, and what goes with it"""
    bl_label = "wadi"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and not context.object.wadi.result_kind

    def draw(self, context):
        """Of the active object."""
        made, wadi = context.object, context.object.wadi
        layout = columns(self.layout)
        layout.prop(wadi, "role")
        solver = next((one.wadi.solver for one in context.view_layer.objects if one.wadi.role == "DOMAIN"), "flip")
        if wadi.role == "DOMAIN":
            draw_domain(layout, wadi)
        elif wadi.role == "BODY":
            draw_material(layout, wadi, solver)
            layout.prop(wadi, "body_velocity")
            layout.prop(wadi, "angular_velocity")
        elif wadi.role == "EMITTER":
            draw_material(layout, wadi, solver)
            layout.prop(wadi, "rate")
            layout.prop(wadi, "velocity")
            layout.prop(wadi, "axes")
            draw_times(layout, wadi)
        elif wadi.role == "DRAIN":
            draw_times(layout, wadi)
        elif wadi.role == "COLLIDER":
            for name in ("friction", "restitution", "thickness"):
                layout.prop(wadi, name)
        elif wadi.role == "FORCE":
            draw_force(layout, wadi, made)


class WADI_PT_bake(bpy.types.Panel):
    """The bake, below the settings of the domain"""
    bl_label = "Bake"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"
    bl_parent_id = "WADI_PT_object"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.wadi.role == "DOMAIN"

    def draw(self, context):
        """Of the scene."""
        draw_bake(columns(self.layout), context.scene)


CLASSES = (WADI_PT_object, WADI_PT_bake)


def register():
    for made in CLASSES:
        bpy.utils.register_class(made)


def unregister():
    for made in reversed(CLASSES):
        bpy.utils.unregister_class(made)
