# SPDX-License-Identifier: GPL-3.0-or-later
"""wadi for Blender: roles on objects become a scene, wadi simulates it as a process of its own, and the result is shown in a
collection of its own. For Blender 3.4 and later. docs/blender.md is the page for users.

    presets, keys, mesh_files, scene_text, job   need no Blender
    versions                                  all that differs between versions of Blender
    properties, panels, operators             what users see
    collect, bake                             from Blender to wadi
    results, nodes, materials                 from wadi to Blender"""

bl_info = {"name": "wadi", "description": "Sand and water: simulate with wadi and show the result", "blender": (3, 4, 0), "version": (0, 1, 0),
           "location": "Properties, Physics", "category": "Physics"}

try:
    import bpy  # noqa: F401
except ImportError:  # tests of the modules that need none
    PARTS = ()
else:
    from . import operators, panels, properties, results
    PARTS = (properties, results, operators, panels)


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
