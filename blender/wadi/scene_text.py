# SPDX-License-Identifier: GPL-3.0-or-later
"""What was recorded of a Blender scene becomes a scene of wadi: its text and its meshes. Needs numpy, not Blender."""
from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import presets
from .keys import curve, transform
from .mesh_files import Mesh

TAKEN = {f"{axis}_{end}" for axis in "xyz" for end in ("min", "max")}  # forces on the sides of the domain have these names
LISTS = {"BODY": "bodies", "COLLIDER": "colliders", "EMITTER": "emitters", "DRAIN": "drains", "FORCE": "forces"}


class SceneError(Exception):
    """What cannot become a scene; the text names the object."""


@dataclass
class Recorded:
    """An object with a role. `samples` and `matrices` have one item a frame, or one when nothing moves; `meshes` as many where
    the mesh deforms; `settings` do not change with time."""

    name: str
    role: str
    settings: Dict[str, Any] = field(default_factory=dict)
    samples: Dict[str, List[Any]] = field(default_factory=dict)
    matrices: List[np.ndarray] = field(default_factory=list)
    meshes: List[Mesh] = field(default_factory=list)


@dataclass
class Recording:
    """A Blender scene, as far as wadi needs it."""

    name: str
    frames: int
    fps: float
    gravity: List[List[float]]
    objects: List[Recorded]


@dataclass
class SceneFiles:
    """The text of a scene, its meshes by file name, which object a line, an item of a list or a material comes from, and what
    objects are called in it."""

    text: str
    files: Dict[str, bytes]
    lines: Dict[int, str]
    places: Dict[str, str]
    names: Dict[str, str]


def clean_name(name: str) -> str:
    """A name as wadi allows it."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".-") or "object"


def content_hashes(recording: Recording) -> List[str]:
    """One for each frame, of all that decides the result up to it; 16 hexadecimal digits. So a bake can go on to later frames
    when only those changed."""
    objects = sorted(recording.objects, key=lambda made: made.name)
    digest = hashlib.sha256()
    meshes: Dict[int, str] = {}  # digests by identity, since most meshes are those of all frames

    def add(*values: Any) -> None:
        digest.update(json.dumps(values, sort_keys=True).encode() + b"\n")

    def mesh_digest(mesh: Mesh) -> str:
        if id(mesh) not in meshes:
            points, triangles = np.ascontiguousarray(mesh.points, np.float64), np.ascontiguousarray(mesh.triangles, np.int32)
            meshes[id(mesh)] = hashlib.sha256(points.tobytes() + triangles.tobytes()).hexdigest()
        return meshes[id(mesh)]

    add(recording.name, recording.fps, [(made.name, made.role, made.settings) for made in objects])
    found = []
    for frame in range(recording.frames):
        add(at(recording.gravity, frame))
        for made in objects:
            add({name: at(values, frame) for name, values in made.samples.items()}, np.asarray(at(made.matrices, frame)).tolist(),
                mesh_digest(at(made.meshes, frame)) if made.meshes else "")
        found.append(digest.copy().hexdigest()[:16])
    return found


def at(values: List[Any], frame: int) -> Any:
    """What does not move was recorded once."""
    return values[min(frame, len(values) - 1)]


class Builder:
    """Collects the parts of a scene."""

    def __init__(self, recording: Recording, domain: Recorded, mesh_folder: str) -> None:
        self.recording, self.domain, self.mesh_folder = recording, domain, mesh_folder
        self.fps = recording.fps
        self.files: Dict[str, bytes] = {}
        self.names: Dict[str, str] = {}  # of objects: as wadi allows them
        self.materials: Dict[str, Dict[str, Any]] = {}
        self.makers: Dict[str, List[str]] = {}  # of materials: names of objects
        self.items: Dict[str, List[Tuple[str, Dict[str, Any]]]] = {name: [] for name in LISTS.values()}

    def name_of(self, made: Recorded) -> str:
        """An own one for each object, of files too: names that differ may be equal once cleaned."""
        if made.name not in self.names:
            base, number = clean_name(made.name), 1
            name = base
            while name.lower() in TAKEN or name.lower() in map(str.lower, self.names.values()):
                number += 1
                name = f"{base}_{number}"
            self.names[made.name] = name
        return self.names[made.name]

    def path(self, name: str) -> str:
        return f"{self.mesh_folder}/{name}" if self.mesh_folder else name

    def shape(self, made: Recorded) -> Dict[str, Any]:
        """The mesh as it stands, with keys for its transform, or one file a frame."""
        if not made.meshes or len(made.meshes[0].triangles) == 0:
            raise SceneError(f"{made.name}: it has no faces; a {made.role.lower()} needs a mesh")
        thickness = {"thickness": made.settings["thickness"]} if made.settings.get("thickness", 0.0) > 0.0 else {}
        is_still = all(np.array_equal(matrix, made.matrices[0]) for matrix in made.matrices)
        if len(made.meshes) == 1 and is_still:
            name = self.name_of(made) + ".ply"
            self.files[name] = made.meshes[0].moved(made.matrices[0]).bytes()
            return {"mesh": {"file": self.path(name), **thickness}}
        if len(made.meshes) == 1:
            motion = transform(made.matrices, self.fps)
            if motion is not None:
                name, size = self.name_of(made) + ".ply", np.eye(4)
                if not isinstance(motion["scale"], dict):  # the file has its true size: distances to it are exact
                    size[:3, :3] = np.diag(motion.pop("scale"))
                self.files[name] = made.meshes[0].moved(size).bytes()
                return {"mesh": {"file": self.path(name), **thickness}, **motion}
        return self.sequence(made, thickness)

    def sequence(self, made: Recorded, thickness: Dict[str, float]) -> Dict[str, Any]:
        count = max(len(made.meshes), len(made.matrices))
        pattern = self.name_of(made) + ".%04d.ply"
        for frame in range(count):
            mesh = made.meshes[min(frame, len(made.meshes) - 1)]
            if not mesh.has_triangles_of(made.meshes[0]):
                raise SceneError(f"{made.name}: its mesh has other triangles in frame {frame + 1} than at the start; "
                                 "remove the modifier that changes them, or apply it")
            self.files[pattern % (frame + 1)] = mesh.moved(made.matrices[min(frame, len(made.matrices) - 1)]).bytes()
        return {"mesh_sequence": {"files": self.path(pattern), "first": 1, "last": count, "fps": self.fps, **thickness}}

    def material(self, made: Recorded) -> str:
        """The name of its material; objects with equal numbers share one."""
        preset = presets.PRESETS[made.settings["preset"]]
        solver = self.domain.settings["solver"]
        numbers: Dict[str, Any] = {"kind": preset.kind}
        for number in presets.numbers_for(made.settings["preset"], solver):
            numbers[number] = curve(made.samples[number], self.fps) if number in made.samples else made.settings[number]
        if preset.kind == "sand":
            numbers["look"] = {**preset.look, "wetness": made.settings["wetness"]}
        name, count = made.settings["preset"], 1
        while name in self.materials and self.materials[name] != numbers:
            count += 1
            name = f"{made.settings['preset']}_{count}"
        self.materials[name] = numbers
        self.makers.setdefault(name, []).append(made.name)
        return name

    def sampled(self, made: Recorded, *names: str) -> Dict[str, Any]:
        return {name: curve(made.samples[name], self.fps) for name in names}

    def times(self, made: Recorded) -> Dict[str, float]:
        """Start and end, given as frames of the run."""
        found = {}
        if made.settings.get("start", 0) > 0:
            found["start"] = made.settings["start"] / self.fps
        if made.settings.get("end") is not None:
            found["end"] = max(0.0, made.settings["end"] / self.fps)
        return found

    def saturation(self, made: Recorded) -> Dict[str, float]:
        is_sand = presets.PRESETS[made.settings["preset"]].kind == "sand"
        return {"saturation": made.settings["saturation"]} if is_sand and self.domain.settings["solver"] == "sph" else {}

    def add(self, made: Recorded) -> None:
        self.items[LISTS[made.role]].append((made.name, getattr(self, "add_" + made.role.lower())(made)))

    def add_body(self, made: Recorded) -> Dict[str, Any]:
        still = Recorded(made.name, made.role, made.settings, made.samples, made.matrices[:1], made.meshes[:1])
        return {"material": self.material(made), "shape": self.shape(still), "velocity": made.settings["body_velocity"],
                "angular_velocity": made.settings["angular_velocity"], **self.saturation(made)}

    def add_collider(self, made: Recorded) -> Dict[str, Any]:
        return {"name": self.name_of(made), "shape": self.shape(made), **self.sampled(made, "friction", "restitution")}

    def add_emitter(self, made: Recorded) -> Dict[str, Any]:
        return {"material": self.material(made), "shape": self.shape(made), **self.sampled(made, "velocity", "rate"),
                **self.times(made), **self.saturation(made)}

    def add_drain(self, made: Recorded) -> Dict[str, Any]:
        return {"shape": self.shape(made), **self.times(made)}

    def add_force(self, made: Recorded) -> Dict[str, Any]:
        kind = made.settings["force_kind"]
        found: Dict[str, Any] = {"kind": kind}
        if kind == "uniform":
            found.update(self.sampled(made, "acceleration"))
        elif kind == "drag":
            found.update(velocity=curve(made.samples["wind"], self.fps), rate=curve(made.samples["wind_rate"], self.fps))
        else:
            centers = [[float(part) for part in np.asarray(matrix)[:3, 3]] for matrix in made.matrices]
            found.update(center=curve(centers, self.fps), radius=made.settings["radius"], **self.sampled(made, "strength"))
        if made.settings["use_region"]:
            found["region"] = self.shape(made)
        return {**found, **self.times(made)}

    def head(self) -> Dict[str, Any]:
        made, settings = self.domain, self.domain.settings
        points = made.meshes[0].moved(made.matrices[0]).points
        walls: Dict[str, Any] = self.sampled(made, "wall_friction", "wall_restitution")
        walls = {"friction": walls["wall_friction"], "restitution": walls["wall_restitution"]}
        if settings["open"]:
            walls["open"] = settings["open"]
        return {"wadi": 1, "name": self.recording.name, "solver": settings["solver"],
                "domain": {"min": plain_row(points.min(0)), "max": plain_row(points.max(0)), "walls": walls},
                "resolution": settings["resolution"], "frames": self.recording.frames, "fps": self.fps,
                "gravity": curve(self.recording.gravity, self.fps),
                "surface": settings["surface"], "secondary": {"amount": settings["foam_amount"], "dust": settings["dust_amount"]},
                "render": {"ground": "none", "walls": "hidden", "colliders": False}}


def plain_row(row: np.ndarray) -> List[float]:
    """In the precision that Blender has."""
    return [float(f"{part:.7g}") for part in row]


def the_domain(recording: Recording) -> Recorded:
    domains = [made for made in recording.objects if made.role == "DOMAIN"]
    if not domains:
        raise SceneError("No object has the role Domain: give it to a box around everything that moves")
    if len(domains) > 1:
        raise SceneError("Several objects have the role Domain, a scene has one: " + ", ".join(made.name for made in domains))
    return domains[0]


def build(recording: Recording, mesh_folder: str) -> SceneFiles:
    """The scene of a recording, one line an item, so that the place of an error leads to its object. Its meshes are in a folder
    beside the scene."""
    domain = the_domain(recording)
    builder = Builder(recording, domain, mesh_folder)
    for made in recording.objects:
        if made.role in LISTS:
            builder.add(made)
    if not builder.materials:
        raise SceneError("Nothing to simulate: give an object the role Body or Emitter")
    lines: Dict[int, str] = {}
    places: Dict[str, str] = {"domain": domain.name}
    rows = ["{"]
    for key, value in builder.head().items():
        rows.append(f" {json.dumps(key)}: {json.dumps(value)},")
        lines[len(rows)] = domain.name
    rows.append(' "materials": {')
    for number, (name, value) in enumerate(builder.materials.items()):
        rows.append(f"  {json.dumps(name)}: {json.dumps(value)}" + ("," if number + 1 < len(builder.materials) else ""))
        lines[len(rows)] = places[f"materials.{name}"] = ", ".join(builder.makers[name])
    rows.append(" }" + ("," if any(builder.items.values()) else ""))
    filled = [(key, found) for key, found in builder.items.items() if found]
    for key, found in filled:
        rows.append(f' "{key}": [')
        for number, (name, value) in enumerate(found):
            rows.append(f"  {json.dumps(value)}" + ("," if number + 1 < len(found) else ""))
            lines[len(rows)] = places[f"{key}[{number}]"] = name
        rows.append(" ]" + ("," if key != filled[-1][0] else ""))
    rows.append("}\n")
    return SceneFiles("\n".join(rows), builder.files, lines, places, builder.names)


def object_of(line: str, scene: SceneFiles, scene_name: str) -> Optional[str]:
    """The object that a line of an error or warning of wadi is about."""
    place = re.search(re.escape(scene_name) + r":(\d+):", line)
    if place and int(place.group(1)) in scene.lines:
        return scene.lines[int(place.group(1))]
    for found in re.finditer(r"(?:bodies|colliders|emitters|drains|forces)\[\d+\]|materials\.[A-Za-z0-9._-]+?(?=[.:,\s]|$)", line):
        if found.group(0) in scene.places:
            return scene.places[found.group(0)]
    files = {name: maker for maker, name in scene.names.items()}
    for name in re.findall(r"([A-Za-z0-9._-]+?)(?:\.\d{4})?\.ply", line):
        if name in files:
            return files[name]
    return scene.places["domain"] if "domain" in line else None


def with_objects(text: str, scene: SceneFiles, scene_name: str) -> str:
    """An error of wadi with the names of objects in front of its lines."""
    rows = []
    for line in text.strip().splitlines():
        name = object_of(line, scene, scene_name)
        rows.append(f"{name}: {line}" if name else line)
    return "\n".join(rows)
