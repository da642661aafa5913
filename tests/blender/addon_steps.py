"""Steps of test_blender_addon.py, inside Blender: blender … -P addon_steps.py -- STEP [ARGUMENT…]. Prints `facts {…}`."""
import json
import os
import sys
import threading
import time

import bpy

STEP, *ARGUMENTS = sys.argv[sys.argv.index("--") + 1:]
SCENE = bpy.context.scene


def addon(part):
    """A module of the add-on, by whatever name this Blender has it."""
    return next(module for name, module in sys.modules.items() if name.endswith("wadi." + part))


def tell(**facts):
    print("facts", json.dumps(facts, sort_keys=True))


def cube(name, center, size, role="NONE", **values):
    bpy.ops.mesh.primitive_cube_add(size=1, location=center, scale=size)
    made = bpy.context.object
    made.name, made.wadi.role = name, role
    for key, value in values.items():
        setattr(made.wadi, key, value)
    return made


def results():
    return sorted((made for made in bpy.data.objects if made.wadi.result_kind), key=lambda made: made.name)


def volume_of(made):
    import bmesh
    mesh = bmesh.new()
    mesh.from_mesh(made.data)
    found = mesh.calc_volume()
    mesh.free()
    return found


def all_roles():
    """Every role, also an animated and a deforming collider, and keys on a panel's property."""
    cube("Domain", (0.5, 0.25, 0.3), (1, 0.5, 0.6), "DOMAIN", resolution=32)
    cube("Pond", (0.15, 0.25, 0.2), (0.3, 0.5, 0.4), "BODY", preset="water")
    cube("Dune", (0.85, 0.25, 0.1), (0.3, 0.5, 0.2), "BODY", preset="dry_sand")
    tap = cube("Tap", (0.65, 0.3, 0.5), (0.16, 0.16, 0.12), "EMITTER", preset="honey", rate=0.004)
    tap.wadi.keyframe_insert("rate", frame=1)
    tap.wadi.rate = 0.008
    tap.wadi.keyframe_insert("rate", frame=12)
    paddle = cube("Paddle", (0.5, 0.25, 0.12), (0.06, 0.3, 0.2), "COLLIDER")
    for frame, x, turn in ((1, 0.5, 0.0), (24, 0.62, 1.5)):
        paddle.location.x, paddle.rotation_euler.z = x, turn
        paddle.keyframe_insert("location", frame=frame)
        paddle.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.06, location=(0.42, 0.42, 0.06))
    ball = bpy.context.object
    ball.name, ball.wadi.role = "Ball", "COLLIDER"
    ball.shape_key_add(name="Basis")
    wide = ball.shape_key_add(name="Wide")
    for point in wide.data:
        point.co.x *= 1.4
    for frame, value in ((1, 0.0), (24, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    cube("Clod", (0.9, 0.1, 0.3), (0.12, 0.12, 0.12), "BODY", preset="mud")
    cube("Stone", (0.75, 0.1, 0.05), (0.06, 0.06, 0.1), "COLLIDER")
    cube("Hole", (0.98, 0.48, 0.15), (0.04, 0.04, 0.3), "DRAIN")
    bpy.ops.object.empty_add(location=(0.3, 0.25, 0.5))
    wind = bpy.context.object
    wind.name, wind.wadi.role, wind.wadi.wind = "Wind", "FORCE", (0.5, 0, 0)


def user_facts():
    """What is the user's own."""
    return {"objects": sorted(made.name for made in SCENE.objects if not made.wadi.result_kind), "camera": SCENE.camera.name,
            "world": SCENE.world.name, "engine": SCENE.render.engine, "fps": SCENE.render.fps, "size": SCENE.render.resolution_x,
            "end": SCENE.frame_end, "frame": SCENE.frame_current, "transform": SCENE.view_settings.view_transform,
            "materials": sorted(made.name for made in bpy.data.materials if not made.name.startswith("wadi ")),
            "cube": [list(vertex.co) for vertex in bpy.data.objects["Cube"].data.vertices]}


def shown(frames):
    found = {}
    for frame in frames:
        SCENE.frame_set(frame)
        found[frame] = {made.name: [len(made.data.vertices), sum(vertex.co.x for vertex in made.data.vertices)] for made in results()}
    return found


def solids(folder):
    """Positions of the colliders as Blender has them, as text files."""
    import numpy
    for frame in range(1, 25):
        SCENE.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for name in ("Ball", "Paddle", "Stone"):
            made = bpy.data.objects[name].evaluated_get(depsgraph)
            mesh = made.to_mesh()
            matrix = numpy.array(made.matrix_world, float)
            points = numpy.array([tuple(vertex.co) for vertex in mesh.vertices], float) @ matrix[:3, :3].T + matrix[:3, 3]
            numpy.save(os.path.join(folder, f"{name}.{frame}.npy"), points)


def step_bake():
    """In the factory scene, whose cube, camera and light are the user's."""
    SCENE.frame_end, SCENE.frame_current = 24, 7
    all_roles()
    bpy.ops.wm.save_as_mainfile(filepath=ARGUMENTS[0])
    before = user_facts()
    told = list(bpy.ops.wadi.bake())
    after = user_facts()
    os.makedirs("solids", exist_ok=True)
    frames, volumes = shown((1, 12, 24)), {}
    for frame in (1, 8, 24):
        SCENE.frame_set(frame)
        volumes[frame] = {made.name: volume_of(made) for made in results() if made.wadi.result_kind == "mesh"}
    driest = {made.name: float(min(item.value for item in made.data.attributes["wetness"].data))
               for made in results() if made.wadi.result_kind == "mesh" and "wetness" in made.data.attributes}
    attributes = {made.name: sorted(attribute.name for attribute in made.data.attributes) for made in results()}
    solids("solids")
    SCENE.frame_set(12)
    bpy.ops.wm.save_mainfile()
    tell(told=told, status=SCENE.wadi.status, same=before == after, shown=frames, volumes=volumes, attributes=attributes, driest=driest,
         seen=[made.name for made in SCENE.objects if made.wadi.result_kind])


def step_reopen():
    before = {made.name: len(made.data.vertices) for made in results()}
    tell(before=before, shown=shown((1, 12, 24)))


def step_states():
    """Edits and what the comparison says of them; then the user deletes an object of the results and changes a material."""
    found = {}

    def compare(word):
        bpy.ops.wadi.check()
        found[word] = SCENE.wadi.state

    compare("as baked")
    bpy.data.objects["Cube"].location.x += 3
    compare("other object moved")
    bpy.data.objects["Stone"].location.x += 0.001
    compare("collider moved")
    bpy.data.objects["Stone"].location.x -= 0.001
    bpy.data.objects["Stone"].location = (0.75, 0.1, 0.05)
    compare("moved back")
    SCENE.frame_end = 28
    compare("longer")
    told = list(bpy.ops.wadi.bake(mode="RESUME"))
    compare("extended")
    bpy.data.objects["Tap"].wadi.viscosity = 5
    compare("thinner honey")
    try:
        bpy.ops.wadi.bake(mode="RESUME")
        refused = ""
    except RuntimeError as error:
        refused = str(error)
    bpy.data.objects["wadi water"].data.materials[0] = bpy.data.materials.new("mine")
    bpy.data.objects.remove(bpy.data.objects["wadi foam"])
    SCENE.frame_set(5)
    bpy.ops.wadi.show()
    tell(states=found, told=told, refused=refused, kept=bpy.data.objects["wadi water"].data.materials[0].name,
         back="wadi foam" in bpy.data.objects, last=len(shown((28,))[28]))


def step_errors():
    bpy.ops.wm.save_as_mainfile(filepath=ARGUMENTS[0])
    said = []

    def bake():
        try:
            bpy.ops.wadi.bake()
            said.append("baked")
        except RuntimeError as error:
            said.append(str(error))

    bake()
    cube("Domain", (0.5, 0.5, 0.5), (1, 1, 1), "DOMAIN", resolution=12)
    cube("Pond", (0.5, 0.5, 0.2), (0.5, 0.5, 0.3), "BODY")
    bpy.context.scene.frame_end = 2
    empty = bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))
    SCENE.collection.objects.link(empty)
    empty.wadi.role = "COLLIDER"
    bake()
    empty.wadi.role = "NONE"
    hole = cube("Hole", (0.1, 0.1, 0.1), (0.1, 0.1, 0.1), "DRAIN", use_start=True, start=20, use_end=True, end=3)
    bake()
    hole.wadi.role = "NONE"
    os.environ["WADI"] = "no-such-wadi"
    bake()
    tell(said=said)


def small_bake(path, size):
    """Of a cube of water, in a file of its own."""
    bpy.ops.wm.read_homefile()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.context.scene.frame_end = 2
    cube("Domain", (0.5, 0.5, 0.5), (1, 1, 1), "DOMAIN", resolution=12)
    cube("Pond", (0.5, 0.5, 0.3), size, "BODY")


def step_linked():
    """A file with results of its own beside those of another file, whose scene has the same name."""
    first, second = ARGUMENTS
    small_bake(first, (0.3, 0.3, 0.3))
    bpy.ops.wadi.bake()
    bpy.ops.wm.save_mainfile()
    small_bake(second, (0.6, 0.6, 0.6))
    scene = bpy.context.scene
    with bpy.data.libraries.load(first, link=True) as (_, chosen):
        chosen.collections = ["wadi Scene"]
    scene.collection.children.link(chosen.collections[0])
    bpy.ops.wadi.bake()
    shown = {}
    for frame in (1, 2):
        scene.frame_set(frame)
        shown[frame] = {"linked" if made.library else "own": volume_of(made) for made in results() if made.wadi.result_kind == "mesh"}
    tell(shown=shown)


def step_hidden():
    """Colliders that move from 0.2 m to 0.6 m, hidden in every way that Blender has."""
    cube("Domain", (0.5, 0.5, 0.5), (1, 1, 1), "DOMAIN", resolution=12)
    cube("Pond", (0.5, 0.5, 0.2), (0.5, 0.5, 0.3), "BODY")
    SCENE.frame_end = 3
    solids = {name: cube(name, (0, 0, 0), (0.1, 0.1, 0.1), "COLLIDER") for name in ("Seen", "Eye", "Undrawn", "Excluded", "Disabled", "Folded")}
    for name, made in solids.items():
        for frame, x in ((1, 0.2), (3, 0.6)):
            made.location.x = x
            made.keyframe_insert("location", frame=frame)
        if name in ("Excluded", "Folded"):
            group = bpy.data.collections.new(name)
            SCENE.collection.children.link(group)
            made.users_collection[0].objects.unlink(made)
            group.objects.link(made)
    solids["Eye"].hide_set(True)
    solids["Undrawn"].hide_render = True
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True
    solids["Disabled"].hide_viewport, bpy.data.collections["Folded"].hide_viewport = True, True
    said = {}
    for name in ("Disabled", "Folded"):
        try:
            addon("collect").record(bpy.context)
        except addon("scene_text").SceneError as error:
            said[name] = str(error)
        solids[name].wadi.role = "NONE"
    objects = addon("collect").record(bpy.context).objects
    tell(said=said, ways={made.name: [round(float(matrix[0, 3]), 6) for matrix in (made.matrices[0], made.matrices[-1])]
                          for made in objects if made.role == "COLLIDER"})


def step_shaped():
    """A metaball and a curve that do not move, and what moves and shapes them: a ball beside it, and a profile."""
    cube("Domain", (0.5, 0.5, 0.5), (1, 1, 1), "DOMAIN", resolution=12)
    cube("Pond", (0.5, 0.5, 0.2), (0.5, 0.5, 0.3), "BODY")
    SCENE.frame_end = 3
    for name, x in (("Blob", 0.3), ("Blob.001", 0.45)):
        bpy.ops.object.metaball_add(radius=0.2, location=(x, 0.5, 0.5))
        bpy.context.object.name = name
    other = bpy.context.object
    bpy.data.objects["Blob"].wadi.role = "COLLIDER"
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.05)
    profile = bpy.context.object
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.2, location=(0.5, 0.5, 0.8))
    ring = bpy.context.object
    ring.name, ring.wadi.role, ring.data.bevel_mode, ring.data.bevel_object = "Ring", "COLLIDER", "OBJECT", profile
    for frame, move, size in ((1, 0.45, 1.0), (3, 0.55, 1.5)):
        other.location.x, profile.scale = move, (size, size, size)
        other.keyframe_insert("location", frame=frame)
        profile.keyframe_insert("scale", frame=frame)
    objects = addon("collect").record(bpy.context).objects
    width = {made.name: [float(mesh.points[:, 0].max() - mesh.points[:, 0].min()) for mesh in made.meshes] for made in objects}
    tell(blob=width["Blob"], ring=width["Ring"])


def step_opened():
    """Another file is opened while a bake runs; its scene has the same name."""
    operators, job = addon("operators"), addon("job")

    class Running:
        progress, status, outcome, warnings = 0.5, "Simulating 12/24", None, []

    operators.BAKING.scene, operators.BAKING.job = SCENE.name, Running()
    polled = [operators.poll_job()]
    bpy.ops.wm.read_homefile()
    polled.append(operators.poll_job())
    Running.outcome = job.Outcome("DONE", "Baked")
    polled.append(operators.poll_job())
    tell(polled=polled, status=bpy.context.scene.wadi.status, state=bpy.context.scene.wadi.state, shown=len(results()))


def step_cancel():
    SCENE.frame_end = 40
    cube("Domain", (0.5, 0.25, 0.3), (1, 0.5, 0.6), "DOMAIN", resolution=40)
    cube("Pond", (0.15, 0.25, 0.2), (0.3, 0.5, 0.4), "BODY")
    bpy.ops.wm.save_as_mainfile(filepath=ARGUMENTS[0])
    baking = addon("operators").BAKING

    def stop():
        while baking.job is None or baking.job.progress < 0.1:
            time.sleep(0.01)
        baking.job.stop()

    threading.Thread(target=stop).start()
    try:
        bpy.ops.wadi.bake()
        first = "baked"
    except RuntimeError as error:
        first = str(error)
    state = SCENE.wadi.state
    bpy.ops.wadi.check()
    compared = SCENE.wadi.state
    told = list(bpy.ops.wadi.bake(mode="RESUME"))
    tell(first=first, state=state, compared=compared, told=told, end=SCENE.wadi.state, frames=len(shown(range(1, 41))))


def step_write():
    SCENE.frame_end = 3
    cube("Domain", (0.5, 0.25, 0.3), (1, 0.5, 0.6), "DOMAIN", resolution=16)
    cube("Pond", (0.15, 0.25, 0.2), (0.3, 0.5, 0.4), "BODY")
    bpy.ops.wm.save_as_mainfile(filepath=ARGUMENTS[0])
    bpy.ops.wadi.write()
    import subprocess
    code = subprocess.run(["sh", bpy.path.abspath("//wadi/Scene.bake.sh")], stdout=subprocess.DEVNULL, check=False).returncode
    bpy.ops.wadi.check()
    bpy.ops.wadi.show()
    tell(code=code, status=SCENE.wadi.status, state=SCENE.wadi.state, shown=len(results()))


def step_undo():
    SCENE.frame_set(20)
    bpy.ops.ed.undo_push(message="start")
    SCENE.frame_set(4)
    bpy.data.objects["Cube"].location.x += 1
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    frame = scene.frame_current
    after = {made.name: len(made.data.vertices) for made in results()}
    scene.frame_set(frame + 1)
    scene.frame_set(frame)
    tell(frame=frame, after=after, again={made.name: len(made.data.vertices) for made in results()})


def light_material():
    light = bpy.data.materials.new("light")
    light.use_nodes = True
    light.node_tree.nodes.clear()
    shine, end = light.node_tree.nodes.new("ShaderNodeEmission"), light.node_tree.nodes.new("ShaderNodeOutputMaterial")
    light.node_tree.links.new(shine.outputs[0], end.inputs[0])
    return light


def above(path, width, height):
    """A camera that sees 100 pixels a metre from above, on black, in frame 5."""
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    SCENE.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale, camera.location.z = "ORTHO", 1.0, 5
    SCENE.camera, SCENE.world = camera, None
    SCENE.frame_set(5)
    render = SCENE.render
    render.resolution_x, render.resolution_y, render.resolution_percentage, render.filepath = width, height, 100, path
    SCENE.cycles.samples, SCENE.cycles.use_denoising, SCENE.cycles.filter_width, render.filter_size = 64, False, 0.01, 0.01
    SCENE.view_settings.view_transform = "Standard"


def step_blur():
    """A drop of 0.1 m that moves by 0.4 m a frame along x, from above: half of a frame's way lengthens its picture by 0.2 m."""
    engine, with_blur, path = ARGUMENTS
    versions, nodes = addon("versions"), addon("nodes")
    import numpy
    for made in list(bpy.data.objects):
        bpy.data.objects.remove(made)
    corners = numpy.array([(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)], "f4")
    triangles = numpy.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
                             (1, 5, 7), (1, 7, 3)], "i4")
    drop = bpy.data.objects.new("drop", bpy.data.meshes.new("drop"))
    SCENE.collection.objects.link(drop)
    velocity = numpy.tile(numpy.array([0.4 * 24, 0, 0], "f4"), (8, 1))
    versions.fill_mesh(drop.data, corners, triangles, {"velocity": velocity})
    drop.data.materials.append(light_material())
    drop.modifiers.new(nodes.MODIFIER, "NODES").node_group = nodes.mesh_nodes("drop")
    nodes.set_frame(drop, 5)
    above(path, 100, 20)
    render = SCENE.render
    render.engine = "CYCLES" if engine == "CYCLES" else versions.eevee()
    render.use_motion_blur, render.motion_blur_shutter = with_blur == "blur", 0.5
    if hasattr(SCENE.eevee, "use_motion_blur"):
        SCENE.eevee.use_motion_blur, SCENE.eevee.motion_blur_shutter = with_blur == "blur", 0.5
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(path)
    pixels = numpy.array(picture.pixels[:]).reshape(20, 100, 4)[10, :, 0]
    lit = numpy.nonzero(pixels > 0.02)[0]
    tell(first=int(lit[0]), last=int(lit[-1]))


def step_balls():
    """A point of 0.25 m, from above: a disc, whatever the engine draws points by. The engine is chosen after its frame was set."""
    engine, path = ARGUMENTS
    versions, nodes = addon("versions"), addon("nodes")
    import numpy
    for made in list(bpy.data.objects):
        bpy.data.objects.remove(made)
    shown = bpy.data.collections.new("shown")
    SCENE.collection.children.link(shown)
    shown.wadi.folder = "//nowhere"
    drop = bpy.data.objects.new("drop", bpy.data.meshes.new("drop"))
    drop.wadi.result_kind = "points"
    shown.objects.link(drop)
    versions.fill_mesh(drop.data, numpy.zeros((1, 3), "f4"), numpy.zeros((0, 3), "i4"),
                       {"velocity": numpy.zeros((1, 3), "f4"), "radius": numpy.full(1, 0.25, "f4")})
    drop.modifiers.new(nodes.MODIFIER, "NODES").node_group = nodes.ball_nodes("drop", light_material(), 3)
    above(path, 100, 100)
    SCENE.render.engine = "CYCLES" if engine == "CYCLES" else versions.eevee()
    bpy.ops.render.render(write_still=True)
    pixels = numpy.array(bpy.data.images.load(path).pixels[:]).reshape(-1, 4)[:, 0]
    drop.modifiers[nodes.MODIFIER].node_group = nodes.stone_nodes("stone", light_material())
    versions.fill_mesh(drop.data, numpy.zeros((1, 3), "f4"), numpy.zeros((0, 3), "i4"), {
        "velocity": numpy.zeros((1, 3), "f4"), "radius": numpy.full(1, 0.25, "f4"), "id": numpy.full(1, 7, "i4")})
    stones = [made.matrix_world.to_scale()[:] for made in bpy.context.evaluated_depsgraph_get().object_instances if made.is_instance]
    tell(lit=int((pixels > 0.5).sum()), stones=stones)


globals()["step_" + STEP]()
