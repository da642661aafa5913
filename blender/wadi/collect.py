# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what wadi needs of a Blender scene: objects with a role, frame by frame where something moves."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

import bpy
import numpy as np

from . import presets, results
from .mesh_files import Mesh
from .scene_text import Recorded, Recording, SceneError, clean_name

WITH_FACES = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
SETTINGS: Dict[str, Tuple[str, ...]] = {
    "BODY": ("preset", "density", "grain_size", "wetness", "saturation"),
    "EMITTER": ("preset", "density", "grain_size", "wetness", "saturation"),
    "COLLIDER": ("thickness",), "DRAIN": (), "FORCE": ("force_kind", "radius", "use_region"),
    "DOMAIN": ("solver", "resolution"),
}
SAMPLES: Dict[str, Tuple[str, ...]] = {
    "BODY": presets.KEYFRAMED, "EMITTER": presets.KEYFRAMED + ("velocity", "rate"), "COLLIDER": ("friction", "restitution"), "DRAIN": (),
    "FORCE": ("acceleration", "wind", "wind_rate", "strength"), "DOMAIN": ("wall_friction", "wall_restitution"),
}
DIRECTIONS = ("velocity", "acceleration", "wind")  # may be in the object's axes
TIMED = {"EMITTER", "DRAIN", "FORCE"}


def with_roles(context: Any) -> List[Any]:
    """Of the view layer, without excluded collections; in an order that does not change when objects are added elsewhere."""
    return sorted((made for made in context.view_layer.objects if made.wadi.role != "NONE"), key=lambda made: made.name)


def short(value: Any) -> float:
    """Blender has single precision: the number with the fewest digits that is the same there, 0.0004 and not 0.00039999998989515."""
    return float(str(np.float32(value)))


def is_animated(made: Any) -> bool:
    """Whether anything could change it in time: keys, drivers, constraints, parents, modifiers, physics; of curves, texts and
    metaballs also other objects, such as a profile."""
    data = made.data
    return bool(made.animation_data or made.constraints or made.modifiers or made.rigid_body or made.type in WITH_FACES - {"MESH"}
                or (data is not None and (data.animation_data or getattr(data, "shape_keys", None)))
                or (made.parent is not None and (made.parent_type != "OBJECT" or is_animated(made.parent))))


def may_deform(made: Any) -> bool:
    data = made.data
    return bool(made.modifiers or made.type != "MESH" or (data is not None and (data.animation_data or getattr(data, "shape_keys", None)))
                or made.parent_type in {"ARMATURE", "LATTICE", "CURVE"})


def mesh_of(made: Any, depsgraph: Any) -> Mesh:
    """Of an evaluated object, in its own coordinates."""
    evaluated = made.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    if mesh is None:
        return Mesh(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32))
    mesh.calc_loop_triangles()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    return Mesh(points.reshape(-1, 3), triangles.reshape(-1, 3))


def settings_of(made: Any, scene: Any) -> Dict[str, Any]:
    """What does not change with time. Frames count from the first of the scene."""
    wadi = made.wadi
    found = {name: getattr(wadi, name) for name in SETTINGS[wadi.role]}
    found = {name: short(value) if isinstance(value, float) else value for name, value in found.items()}
    if wadi.role == "DOMAIN":
        found["open"] = sorted(wadi.open)
        found["surface"] = {"method": wadi.method, "mesh_smoothing": wadi.smoothing}
        found["foam_amount"] = short(wadi.foam_amount) if wadi.use_foam else 0.0
        found["dust_amount"] = short(wadi.dust_amount) if wadi.use_foam else 0.0
    elif wadi.role == "BODY":
        for name in ("body_velocity", "angular_velocity"):
            found[name] = [short(part) for part in getattr(wadi, name)]
    if wadi.role in TIMED:
        found["start"] = max(0, wadi.start - scene.frame_start) if wadi.use_start else 0
        found["end"] = max(0, wadi.end - scene.frame_start) if wadi.use_end else None
    return found


def sample(made: Any, record: Recorded, depsgraph: Any) -> None:
    """Appends what may change with time, as it is in the current frame. Blender writes animated values back to the object itself;
    its evaluated copy misses edits of the panel until something else changes."""
    evaluated = made.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise SceneError(f"{made.name}: it is disabled in viewports, where Blender neither moves nor modifies it; enable it (the eye in "
                         "the outliner and the camera may hide it), exclude its collection, or give it the role None")
    matrix = np.array(evaluated.matrix_world, np.float64)
    for name in SAMPLES[record.role]:
        value = getattr(made.wadi, name)
        if name in DIRECTIONS:
            value = [short(part) for part in value]
            if made.wadi.axes == "OBJECT":
                turned = (matrix[:3, :3] / np.maximum(np.linalg.norm(matrix[:3, :3], axis=0), 1e-12)) @ value
                value = [float(part) for part in turned]
        record.samples.setdefault(name, []).append(value if isinstance(value, list) else short(value))
    record.matrices.append(matrix)


def check(scene: Any, objects: List[Any]) -> None:
    """What would give a result that nobody wants."""
    if abs(scene.unit_settings.scale_length - 1.0) > 1e-6:
        raise SceneError(f"The scene's unit scale is {scene.unit_settings.scale_length:g}: wadi takes a unit of Blender as a metre; "
                         "set Scene, Units, Unit Scale to 1 and scale the objects")
    for made in objects:
        needs_faces = made.wadi.role != "FORCE" or made.wadi.use_region
        if needs_faces and made.type not in WITH_FACES:
            raise SceneError(f"{made.name}: it is no mesh; a {made.wadi.role.lower()} needs one")


def gravity_of(scene: Any) -> List[float]:
    return [short(part) for part in scene.gravity] if scene.use_gravity else [0.0, 0.0, 0.0]


def record(context: Any) -> Recording:
    """The scene from its first to its last frame. The current frame is the same afterwards."""
    scene = context.scene
    objects = with_roles(context)
    check(scene, objects)
    frames = scene.frame_end - scene.frame_start + 1
    moves = scene.animation_data is not None or any(map(is_animated, objects))
    records = [Recorded(made.name, made.wadi.role, settings_of(made, scene)) for made in objects]
    gravity: List[List[float]] = []
    before = (scene.frame_current, scene.frame_subframe)
    with results.paused():
        try:
            for number in range(frames if moves else 1):
                if moves:
                    scene.frame_set(scene.frame_start + number)
                depsgraph = context.evaluated_depsgraph_get()
                gravity.append(gravity_of(scene))
                for made, found in zip(objects, records):
                    sample(made, found, depsgraph)
                    if made.type in WITH_FACES and (number == 0 or may_deform(made)):
                        found.meshes.append(mesh_of(made, depsgraph))
        finally:
            if moves:
                scene.frame_set(before[0], subframe=before[1])
    for found in records:
        if all(mesh.is_equal(found.meshes[0]) for mesh in found.meshes):
            found.meshes = found.meshes[:1]
    return Recording(clean_name(scene.name), frames, scene.render.fps / scene.render.fps_base, gravity, records)
