# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do: bake, resume, stop, compare with the bake, show results, write for a terminal."""
import atexit
from typing import Any, Optional

import bpy
from bpy.app.handlers import persistent
from bpy.props import EnumProperty

from . import bake, collect, results
from .job import Job
from .scene_text import SceneError, content_hashes

POLL = 0.25  # s between looks at a bake
WAIT = 0.7  # s after the last edit until the bake is compared with the scene


class Baking:
    """The bake of this session; one at a time."""

    def __init__(self) -> None:
        self.job: Optional[Job] = None
        self.plan: Optional[bake.Plan] = None
        self.scene = ""
        self.start = 1

    @property
    def is_running(self) -> bool:
        return self.job is not None and self.job.outcome is None


BAKING = Baking()


def redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "VIEW_3D"):
                area.tag_redraw()


def poll_job() -> Optional[float]:
    """A timer: copies the progress to the scene, and shows the results at the end."""
    scene = bpy.data.scenes.get(BAKING.scene)
    job = BAKING.job
    if scene is None or job is None:
        return None
    scene.wadi.progress, scene.wadi.status = job.progress, job.status
    redraw()
    if job.outcome is None:
        return POLL
    finish(scene)
    return None


def finish(scene: Any) -> bool:
    """True when it went well."""
    job, plan = BAKING.job, BAKING.plan
    assert job is not None and job.outcome is not None
    state, text = job.outcome.state, bake.problem_of(job.outcome.text, BAKING.plan)
    if state == "DONE":
        try:
            results.create(scene, bake.stored_folder(scene), plan.start)
            text = "\n".join([text] + [bake.problem_of(warning, plan) for warning in job.warnings])
        except (results.MissingRun, OSError, ValueError) as problem:
            state, text = "FAILED", str(problem)
    scene.wadi.state = {"DONE": "CURRENT"}.get(state, state)
    scene.wadi.status = text
    scene.wadi.progress = 1.0 if state == "DONE" else job.progress
    redraw()
    return state == "DONE"


class WADI_OT_bake(bpy.types.Operator):
    """Simulate the scene from its first to its last frame, beside Blender"""
    bl_idname = "wadi.bake"
    bl_label = "Bake"
    mode: EnumProperty(items=[(bake.NEW, "Anew", "From the first frame"), (bake.RESUME, "Resume", "Go on where it stopped, or to a later last frame")])

    @classmethod
    def poll(cls, _context):
        return not BAKING.is_running

    def execute(self, context):
        scene = context.scene
        try:
            BAKING.plan = bake.plan(context, self.mode)
            bake.write(BAKING.plan)
        except (SceneError, OSError) as problem:
            scene.wadi.status, scene.wadi.state = str(problem), "FAILED"
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        BAKING.scene = scene.name
        BAKING.job = Job(BAKING.plan.commands, BAKING.plan.paths.folder)
        scene.wadi.state, scene.wadi.progress, scene.wadi.status = "BAKING", 0.0, "Starting"
        if not bpy.app.background:
            bpy.app.timers.register(poll_job, first_interval=POLL, persistent=True)
            return {"FINISHED"}
        BAKING.job.join()
        is_good = finish(scene)
        self.report({"INFO"} if is_good else {"ERROR"}, scene.wadi.status)
        return {"FINISHED"} if is_good else {"CANCELLED"}


class WADI_OT_cancel(bpy.types.Operator):
    """Stop the bake. What is done stays, and Resume goes on from there"""
    bl_idname = "wadi.cancel"
    bl_label = "Stop"

    @classmethod
    def poll(cls, _context):
        return BAKING.is_running

    def execute(self, _context):
        BAKING.job.stop()
        return {"FINISHED"}


def compare(context: Any) -> str:
    """The state of the scene's bake."""
    return bake.state_of(bake.paths_of(context.scene), content_hashes(collect.record(context)))


class WADI_OT_check(bpy.types.Operator):
    """Compare the scene with what was baked, in all its frames"""
    bl_idname = "wadi.check"
    bl_label = "Compare with Bake"

    @classmethod
    def poll(cls, _context):
        return not BAKING.is_running

    def execute(self, context):
        wadi = context.scene.wadi
        try:
            wadi.state = compare(context)
        except SceneError as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        wadi.status = STATES.get(wadi.state, "")
        self.report({"INFO"}, wadi.status)
        return {"FINISHED"}


STATES = {"": "Nothing is baked yet", "CURRENT": "The bake is up to date", "OUTDATED": "Out of date: the scene changed since the bake",
          "CHANGED": "Objects were edited: compare with the bake", "STOPPED": "Frames are missing: Resume makes them"}


class WADI_OT_show(bpy.types.Operator):
    """Show what is baked, in a collection of its own. Finished frames of a stopped bake too, once they have meshes"""
    bl_idname = "wadi.show"
    bl_label = "Show Results"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        scene = context.scene
        try:
            start = bake.read_json(bake.paths_of(scene).record).get("start", scene.frame_start)
            results.create(scene, bake.stored_folder(scene), start)
        except (results.MissingRun, SceneError, OSError, ValueError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        return {"FINISHED"}


class WADI_OT_write(bpy.types.Operator):
    """Write the scene and a script that bakes it, for a terminal or another computer"""
    bl_idname = "wadi.write"
    bl_label = "Bake in a Terminal"

    def execute(self, context):
        try:
            made = bake.plan(context, bake.NEW)
            bake.write(made)
            command = bake.write_script(made)
        except (SceneError, OSError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        context.window_manager.clipboard = command
        context.scene.wadi.status = f"In a terminal, from the clipboard: {command}"
        self.report({"INFO"}, context.scene.wadi.status)
        return {"FINISHED"}


def compare_later() -> None:
    """A timer: compares at once where nothing moves, so that no frames need be set; else asks for the button."""
    scene = bpy.context.scene
    if BAKING.is_running or scene is None or scene.wadi.state not in ("CURRENT", "OUTDATED", "CHANGED"):
        return
    if any(map(collect.is_animated, collect.with_roles(bpy.context))) or scene.animation_data is not None:
        scene.wadi.state = "CHANGED"
    else:
        try:
            scene.wadi.state = compare(bpy.context)
        except SceneError:
            scene.wadi.state = "CHANGED"
    scene.wadi.status = STATES[scene.wadi.state]
    redraw()


@persistent
def wadi_edited(scene: Any, depsgraph: Any) -> None:
    """After an edit of an object with a role; not after a change of frame."""
    if results.is_paused() or not scene.wadi.state or not any(
            update.id.wadi.role != "NONE" for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)):
        return
    if bpy.app.timers.is_registered(compare_later):
        bpy.app.timers.unregister(compare_later)
    bpy.app.timers.register(compare_later, first_interval=WAIT)


@persistent
def wadi_opened(*_: Any) -> None:
    """Another file has no part in the bake that is running, whatever its scenes are called."""
    BAKING.scene = ""


def stop_at_exit() -> None:
    if BAKING.is_running:
        BAKING.job.stop()
        BAKING.job.thread.join(20)


CLASSES = (WADI_OT_bake, WADI_OT_cancel, WADI_OT_check, WADI_OT_show, WADI_OT_write)


def register():
    for made in CLASSES:
        bpy.utils.register_class(made)
    bpy.app.handlers.depsgraph_update_post.append(wadi_edited)
    bpy.app.handlers.load_post.append(wadi_opened)
    atexit.register(stop_at_exit)


def unregister():
    atexit.unregister(stop_at_exit)
    stop_at_exit()
    bpy.app.handlers.depsgraph_update_post.remove(wadi_edited)
    bpy.app.handlers.load_post.remove(wadi_opened)
    for timer in (poll_job, compare_later):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    for made in reversed(CLASSES):
        bpy.utils.unregister_class(made)
