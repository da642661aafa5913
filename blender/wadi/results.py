# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows a run in a collection of its own. Its objects are filled from the files of a frame when the frame changes; nothing
outside of the collection is touched."""
from __future__ import annotations

import contextlib
import functools
import json
import os
from typing import Any, Dict, Iterator, List, Optional

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import materials, mesh_files, nodes, presets
from .versions import fill_mesh

ON_FACES = ("grain_origin",)  # one for a triangle: between two particles grains are cut, not stretched
LEFT_OUT = ("particles", "solid", "glass")  # of the export: particles have surfaces, colliders are the user's own
FOAM_KINDS = 3  # of foam; the next one is dust
FOAM_SUBDIVISIONS, GRAIN_SUBDIVISIONS = 1, 2  # of balls that are meshes: 20 and 80 triangles
_paused = 0


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """While frames are set for other reasons than to see them."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def is_paused() -> bool:
    return _paused > 0


class MissingRun(Exception):
    """The files of a collection are not there."""


def folder_of(collection: Any) -> str:
    """Where the run is. Blender takes `//` relative to the file, so that both can be moved together."""
    return bpy.path.abspath(collection.wadi.folder, library=collection.library)


@functools.lru_cache(maxsize=8)
def frames_in(folder: str, _written: int) -> List[int]:
    """Numbers of the frames that are exported."""
    found = (name.rsplit(".", 2) for name in os.listdir(folder) if name.endswith(".json") and name != "scene.json")
    return sorted(int(parts[1]) for parts in found if len(parts) == 3 and parts[1].isdigit())


class Run:
    """The exported files of a run folder."""

    def __init__(self, folder: str) -> None:
        self.folder, self.export = folder, os.path.join(folder, "export", "blender")
        try:
            with open(os.path.join(self.export, "scene.json"), encoding="utf-8") as file:
                described = json.load(file)
            self.name = described["name"]
            self.wetness = {made["name"]: made.get("wetness", 0.0) for made in described.get("materials", [])}
            self.frames = frames_in(self.export, os.stat(self.export).st_mtime_ns)
        except OSError as problem:
            raise MissingRun(f"{folder} has no baked frames ({problem.strerror})") from None
        if not self.frames:
            raise MissingRun(f"{folder} has no baked frames")

    def nearest(self, number: int) -> int:
        """The frame that is shown: before the first the first, where one is missing the one before."""
        return max((frame for frame in self.frames if frame <= number), default=self.frames[0])

    def items(self, number: int) -> Dict[tuple, str]:
        """Files of a frame by kind and name."""
        with open(os.path.join(self.export, f"{self.name}.{number:04d}.json"), encoding="utf-8") as file:
            objects = json.load(file)["objects"]
        found = {(item["kind"], item["name"]): os.path.join(self.export, item["file"]) for item in objects
                 if item["kind"] not in LEFT_OUT and item["kind"] != "foam"}
        foam = os.path.join(self.folder, "secondary", f"{self.name}.{number:04d}.h5")
        if os.path.exists(foam):
            found["foam", "foam"] = foam
        return found


def shader_of(name: str) -> str:
    """Of a material of the scene, `dry_sand` or `dry_sand_2`."""
    preset = presets.PRESETS.get(name) or presets.PRESETS.get(name.rpartition("_")[0])
    return preset.shader if preset is not None else name if name == "foam" else "sand"


def create_object(collection: Any, kind: str, name: str) -> Any:
    label = f"wadi {name}" + ("" if kind in ("mesh", "foam") else f" {kind}")
    made = bpy.data.objects.new(label, bpy.data.meshes.new(label))
    made.wadi.result_kind, made.wadi.result_name = kind, name
    collection.objects.link(made)
    material = materials.make(shader_of(name))
    made.data.materials.append(material)
    modifier = made.modifiers.new(nodes.MODIFIER, "NODES")
    if kind == "mesh":
        modifier.node_group = nodes.mesh_nodes(label)
    elif shader_of(name) == "gravel":
        modifier.node_group = nodes.stone_nodes(label, material)
    else:
        modifier.node_group = nodes.ball_nodes(label, material, FOAM_SUBDIVISIONS if kind == "foam" else GRAIN_SUBDIVISIONS)
    return made


def own_mesh(made: Any) -> Any:
    """Of an object: Blender writes no geometry into a mesh that is linked from another file, so that such an object gets one here."""
    if made.data.library is not None:
        mesh = bpy.data.meshes.new(made.data.name)
        for material in made.data.materials:
            mesh.materials.append(material)
        made.data = mesh
    return made.data


def fill(made: Any, path: str, wetness: float) -> None:
    """Puts the geometry of a file into an object. It is at least as wet as its material looks."""
    triangles = np.zeros((0, 3), np.int32)
    if path.endswith(".h5"):
        columns = mesh_files.read_frame(path)
        points = columns.pop("position")
        attributes = {name: values.astype(np.float32 if values.dtype.kind == "f" else np.int32) for name, values in columns.items()}
        attributes["wetness"] = (columns["kind"] < FOAM_KINDS).astype(np.float32)
    else:
        columns, triangles = mesh_files.read_ply(path)
        points, attributes = mesh_files.vectors(columns, ["x", "y", "z"]), mesh_files.attributes_of(columns)
        if "colour" in attributes:
            attributes["colour"] = np.c_[attributes["colour"], np.ones(len(points), np.float32)].astype(np.float32)
    if wetness > 0.0:
        attributes["wetness"] = np.maximum(attributes.get("wetness", np.zeros(len(points), np.float32)), np.float32(wetness))
    on_faces = {name: attributes.pop(name)[triangles[:, 0]] for name in ON_FACES if name in attributes and len(triangles)}
    fill_mesh(own_mesh(made), points, triangles, attributes, on_faces)


def show(collection: Any, scene: Any) -> None:
    """Fills the objects of a collection for the frame of the scene and its engine."""
    run = Run(folder_of(collection))
    number = run.nearest(scene.frame_current - collection.wadi.start + 1)
    items = run.items(number)
    for made in collection.objects:
        key = (made.wadi.result_kind, made.wadi.result_name)
        if not key[0] or made.data is None:
            continue
        path = items.pop(key, None)
        shown = f"{number}" if path is not None else "nothing"
        if made.wadi.shown != shown:
            if path is not None:
                fill(made, path, run.wetness.get(key[1], 0.0))
            else:
                own_mesh(made).clear_geometry()
            made.wadi.shown = shown
        nodes.set_frame(made, number + collection.wadi.start - 1)
        nodes.set_as_meshes(made, scene.render.engine)


def create(scene: Any, folder: str, start: int) -> Any:
    """The collection of a run folder in a scene, with an object for all that its frames show. What is there already stays: its
    materials, modifiers and names too. One that is linked from another file is of a run beside that file."""
    run = Run(bpy.path.abspath(folder))
    collection = next((one for one in collections_of(scene) if one.wadi.folder == folder and one.library is None), None)
    if collection is None:
        collection = bpy.data.collections.new("wadi " + run.name)
        scene.collection.children.link(collection)
    collection.wadi.folder, collection.wadi.start = folder, start
    wanted = {key for number in run.frames for key in run.items(number)}
    present = {(made.wadi.result_kind, made.wadi.result_name) for made in collection.objects}
    for kind, name in sorted(wanted - present):
        create_object(collection, kind, name)
    for made in collection.objects:
        made.wadi.shown = ""
    show(collection, scene)
    return collection


def collections_of(scene: Any) -> List[Any]:
    return [one for one in scene.collection.children_recursive if one.wadi.folder]


_told: Dict[str, str] = {}


def show_all(scene: Any) -> Optional[str]:
    """The last problem, which is also printed once."""
    problem = None
    for collection in collections_of(scene):
        try:
            show(collection, scene)
            _told.pop(collection.name, None)
        except (MissingRun, OSError, ValueError, KeyError) as error:
            problem = f"{collection.name}: {error}"
            if _told.get(collection.name) != problem:
                _told[collection.name] = problem
                print("wadi:", problem)
    return problem


@persistent
def wadi_frame_changed(scene: Any, _depsgraph: Any = None) -> None:
    """Between frames the nodes move what is there."""
    if not _paused and scene.frame_subframe == 0:
        show_all(scene)


@persistent
def wadi_render_starts(scene: Any, *_: Any) -> None:
    """The engine may be another one than when the frame was set."""
    for collection in collections_of(scene):
        for made in collection.objects:
            nodes.set_as_meshes(made, scene.render.engine)


@persistent
def wadi_loaded(*_: Any) -> None:
    """Files may have changed since the Blender file was saved."""
    for scene in bpy.data.scenes:
        for collection in collections_of(scene):
            for made in collection.objects:
                made.wadi.shown = ""
        show_all(scene)


@persistent
def wadi_undone(*_: Any) -> None:
    """A step back brings back the geometry of another frame."""
    for scene in bpy.data.scenes:
        show_all(scene)


HANDLERS = (("frame_change_pre", wadi_frame_changed), ("render_init", wadi_render_starts), ("load_post", wadi_loaded),
            ("undo_post", wadi_undone), ("redo_post", wadi_undone))


def register() -> None:
    for name, function in HANDLERS:
        getattr(bpy.app.handlers, name).append(function)


def unregister() -> None:
    for name, function in HANDLERS:
        getattr(bpy.app.handlers, name).remove(function)
