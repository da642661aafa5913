# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: scene files, the run folder, and what is known of the bake before. Between Blender and wadi, without operators."""
from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import bpy

from . import collect, properties
from .scene_text import Recording, SceneError, SceneFiles, build, clean_name, content_hashes

NEW, RESUME = "NEW", "RESUME"


@dataclass
class Paths:
    """Files of the bake of a scene."""

    folder: str
    name: str

    @property
    def scene(self) -> str:
        return os.path.join(self.folder, self.name + ".yaml")

    @property
    def meshes(self) -> str:
        return os.path.join(self.folder, self.name + ".meshes")

    @property
    def run(self) -> str:
        return os.path.join(self.folder, self.name + ".run")

    @property
    def record(self) -> str:
        """What was baked: hashes by frame."""
        return os.path.join(self.folder, self.name + ".bake.json")

    @property
    def script(self) -> str:
        return os.path.join(self.folder, self.name + ".bake.sh")


def paths_of(scene: Any) -> Paths:
    """Of a scene of Blender. Folders beside the Blender file need one that is saved."""
    folder = scene.wadi.folder
    if folder.startswith("//") and not bpy.data.filepath:
        raise SceneError("Save the Blender file first: the folder of the bake is beside it")
    return Paths(os.path.abspath(bpy.path.abspath(folder)), clean_name(scene.name))


def stored_folder(scene: Any) -> str:
    """The run folder as the collection of the results keeps it: relative to the Blender file where the user's folder is."""
    return os.path.join(scene.wadi.folder, clean_name(scene.name) + ".run")


def read_json(path: str) -> Dict[str, Any]:
    """Empty where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def frames_done(paths: Paths) -> int:
    return int(read_json(os.path.join(paths.run, "run.json")).get("frames", 0))


@dataclass
class Plan:
    """What a bake is going to do."""

    paths: Paths
    files: SceneFiles
    hashes: List[str]
    commands: List[List[str]]
    start: int


def is_current(paths: Paths, hashes: List[str], frames: int) -> bool:
    """Whether the first frames were made of the scene as it is."""
    stored = read_json(paths.record).get("hashes", [])
    return frames == 0 or (len(stored) >= frames and len(hashes) >= frames and stored[frames - 1] == hashes[frames - 1])


def state_of(paths: Paths, hashes: List[str]) -> str:
    """'' without a bake, OUTDATED, STOPPED where frames are missing, or CURRENT."""
    done = frames_done(paths)
    if done == 0 or not os.path.exists(paths.record):
        return ""
    if not is_current(paths, hashes, min(done, len(hashes))):
        return "OUTDATED"
    exported = os.path.join(paths.run, "export", "blender", f"{paths.name}.{len(hashes):04d}.json")
    return "CURRENT" if done >= len(hashes) and os.path.exists(exported) else "STOPPED"


def run_options(paths: Paths, hashes: List[str], recording: Recording, mode: str, text: str) -> List[str]:
    """How the simulation starts or goes on."""
    done = frames_done(paths)
    if mode == NEW or done == 0:
        return ["--overwrite"]
    if not is_current(paths, hashes, min(done, len(hashes))):
        raise SceneError("The scene changed since the bake, in what its finished frames show: bake it anew")
    if recording.frames <= done or read_json(paths.record).get("text") == without_frames(text):
        return ["--resume"]
    return ["--from-frame", str(done)]  # its keys go on where they ended


def without_frames(text: str) -> str:
    """The part of a scene that must be equal for a run to go on, shortened to its hash."""
    import hashlib
    lines = [line for line in text.splitlines() if not line.startswith(' "frames": ')]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def plan(context: Any, mode: str) -> Plan:
    """Records the scene; writes nothing."""
    scene = context.scene
    paths = paths_of(scene)
    recording = collect.record(context)
    files = build(recording, os.path.basename(paths.meshes))
    hashes = content_hashes(recording)
    program = properties.program(context)
    threads = ["--threads", str(scene.wadi.threads)] if scene.wadi.threads > 0 else []
    options = run_options(paths, hashes, recording, mode, files.text)
    domain = next(made for made in collect.with_roles(context) if made.wadi.role == "DOMAIN")
    foam = [[program, "secondary", paths.run, *threads, "--json"]] if domain.wadi.use_foam and domain.wadi.solver != "dem" else []
    commands = [[program, "run", paths.scene, "-o", paths.run, *options, *threads, "--json"], *foam,
                [program, "export", paths.run, "--to", "blender", *threads, "--json"]]
    return Plan(paths, files, hashes, commands, scene.frame_start)


def write(made: Plan) -> None:
    """The scene, its meshes, and what they were made of. Meshes of objects that are gone are removed."""
    os.makedirs(made.paths.meshes, exist_ok=True)
    for name in os.listdir(made.paths.meshes):
        if name.endswith(".ply") and name not in made.files.files:
            os.remove(os.path.join(made.paths.meshes, name))
    for name, data in made.files.files.items():
        with open(os.path.join(made.paths.meshes, name), "wb") as file:
            file.write(data)
    with open(made.paths.scene, "w", encoding="utf-8") as file:
        file.write(made.files.text)
    record = {"hashes": made.hashes, "text": without_frames(made.files.text), "start": made.start}
    with open(made.paths.record, "w", encoding="utf-8") as file:
        json.dump(record, file)


def command_text(made: Plan) -> str:
    """For a terminal: without the lines of JSON, and on where it was stopped."""
    lines = []
    for command in made.commands:
        words = [word for word in command if word != "--json"]
        lines.append(" ".join(shlex.quote("--resume" if word == "--overwrite" and frames_done(made.paths) == 0 else word) for word in words))
    return " &&\n".join(lines) + "\n"


def write_script(made: Plan) -> str:
    """Writes the commands into a script and returns how it is started."""
    with open(made.paths.script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n# Bakes the scene; started again, it goes on where it was stopped. Then: Show Results in Blender.\n")
        file.write(command_text(made))
    os.chmod(made.paths.script, 0o755)
    return "sh " + shlex.quote(made.paths.script)


def problem_of(text: str, made: Optional[Plan]) -> str:
    """An error of wadi with the names of objects."""
    from .scene_text import with_objects
    return with_objects(text, made.files, os.path.basename(made.paths.scene)) if made is not None else text
