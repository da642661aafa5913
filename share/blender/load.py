"""Shows a run of wadi in Blender. `wadi export RUN --to blender` wrote this script beside the files that it reads.

    blender my.blend -P load.py                             the run in a collection of its own; all else stays as it is
    blender -P load.py -- --scene                           the same in a new scene with wadi's camera, light and sky
    blender -b -P load.py -- --frame 12 --render out.png    one picture of that scene, drawn by Cycles
    blender -P load.py -- --draw particles                  a ball for every particle instead of grains

For Blender 3.4 and later. The objects are filled from the files of a frame when the frame changes. Their points carry what the
particles carry, under the same names: `velocity` (m/s, which Cycles blurs by), `wetness`, `radius`, ...; nodes reach them by
Attribute and Named Attribute.

A saved file keeps this script as the text `wadi_load.py`, which Blender runs when it opens the file, if it may run scripts
(`blender -y`, or Allow Execution). The collection has the folder of the files as the property `wadi_folder`, and the frame of
the scene that shows frame 1 of the run as `wadi_start`."""
import argparse
import functools
import glob
import json
import math
import os
import pathlib
import sys

import bpy
import mathutils
import numpy as np
from bpy.app.handlers import persistent

TEXT_NAME = "wadi_load.py"
POINTS = ("grains", "balls", "particles", "foam")
PLY_TYPES = {"float": "<f4", "double": "<f8", "uchar": "u1", "uint": "<u4", "int": "<i4"}


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_ply(path):
    """(columns of the vertices by name, triangles) of a PLY file that wadi wrote."""
    with open(path, "rb") as file:
        vertices, faces, fields = 0, 0, []
        for line in iter(lambda: file.readline().decode().split(), ["end_header"]):
            if line[:2] == ["element", "vertex"]:
                vertices = int(line[2])
            elif line[:2] == ["element", "face"]:
                faces = int(line[2])
            elif line[0] == "property" and line[1] != "list":
                fields.append((line[2], PLY_TYPES[line[1]]))
        columns = np.fromfile(file, np.dtype(fields), vertices)
        triangles = np.fromfile(file, np.dtype([("count", "u1"), ("corner", "<i4", 3)]), faces)["corner"]
    return {name: columns[name] for name, _ in fields}, triangles


def vectors(columns, names):
    return np.stack([columns[name] for name in names], 1).astype(np.float32)


def attributes_of(columns):
    """What Blender keeps for each point: velocity as a vector, everything else as numbers under its own name."""
    found = {}
    for name, values in columns.items():
        if name == "vx":
            found["velocity"] = vectors(columns, ("vx", "vy", "vz"))
        elif name.endswith("_x"):
            found[name[:-2]] = vectors(columns, [name[:-1] + axis for axis in "xyz"])
        elif name not in ("x", "y", "z", "nx", "ny", "nz", "vy", "vz") and name[-2:] not in ("_y", "_z"):
            found[name] = values.astype(np.float32 if values.dtype.kind == "f" else np.int32)
    return found


def wet_film(wetness):
    """The part of wet sand that a film of water covers. As in wadi's own pictures, like the rest."""
    t = np.clip((wetness - 0.4) / 0.6, 0, 1)
    return t * t * (3 - 2 * t)


def dark_colour(colour, wetness):
    """Water between the grains lets light go deeper: they are darker."""
    forward = 0.926 * (1 - np.exp(-2.5 * np.clip(wetness, 0, 1)))[:, None]
    colour = np.clip(colour, 0, 1)
    single = 1 - ((1 - colour) / (1 + colour)) ** 2
    root = np.sqrt(1 - single * (1 - forward) / (1 - forward * single))
    return np.minimum((1 - root) / (1 + root), 0.98)


def wet_colour(colour, wetness):
    """Grains with water between them and a film over them."""
    colour, film = dark_colour(colour, wetness), wet_film(wetness)[:, None]
    return colour + film * (colour * 0.53 / (1 - 0.47 * colour) - colour)


def bed_colour(colour, wetness):
    """The same for a surface of grains: dry, half of the light leaves after one reflection, the rest after more; water between
    the grains hides their relief."""
    scattered = dark_colour(colour, wetness)
    dry = 0.5 * scattered / (1 - 0.5 * scattered)
    return wet_colour(colour, wetness) + (1 - wet_film(wetness)[:, None]) * (dry - scattered)


def with_alpha(colour):
    return np.concatenate([colour, np.ones((len(colour), 1))], 1).astype(np.float32)


def mean_colour(look):
    palette = np.array(look.get("palette", [look["colour"] + [1.0]]))
    return (palette[:, :3] * palette[:, 3:]).sum(0) / palette[:, 3].sum()


def fill_mesh(mesh, places, triangles, attributes, is_smooth=True):
    mesh.clear_geometry()
    for name in attributes:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
    mesh.vertices.add(len(places))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(places, np.float32).ravel())
    if len(triangles) > 0:
        mesh.loops.add(triangles.size)
        mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, np.int32).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
        if bpy.app.version < (3, 6, 0):  # later it follows from loop_start
            mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, np.int32))
        mesh.polygons.foreach_set("use_smooth", np.full(len(triangles), is_smooth))
    for name, values in attributes.items():
        domain = "POINT"
        if name == "grain_origin":  # one for a triangle: between two particles grains are cut, not stretched
            domain, values = "FACE", values[triangles[:, 0]]
        kind, member = (("INT", "value") if values.dtype.kind == "i" else
                        ("FLOAT", "value") if values.ndim == 1 else
                        ("FLOAT_VECTOR", "vector") if values.shape[1] == 3 else ("FLOAT_COLOR", "color"))
        mesh.attributes.new(name, kind, domain).data.foreach_set(member, np.ascontiguousarray(values).ravel())
    mesh.update(calc_edges=len(triangles) > 0)


def own_mesh(made):
    """Of an object: Blender writes no geometry into a mesh that is linked from another file; such an object gets one here."""
    if made.data.library is not None:
        mesh = bpy.data.meshes.new(made.data.name)
        for material in made.data.materials:
            mesh.materials.append(material)
        made.data = mesh
    return made.data


def link(tree, source, target):
    tree.links.new(source, target)


def principled(tree, **values):
    """A Principled BSDF; a name with several meanings is given as it is now, and found as it was before 4.0."""
    older = {"Transmission Weight": "Transmission", "Specular IOR Level": "Specular"}
    node = tree.nodes.new("ShaderNodeBsdfPrincipled")
    for name, value in values.items():
        name = name.replace("_", " ")
        name = name if name in node.inputs else older[name]
        node.inputs[name].default_value = value
    return node


def new_material(name):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes.clear()
    return material, material.node_tree, material.node_tree.nodes.new("ShaderNodeOutputMaterial")


def sand_material(name, look):
    """The colour and wetness of the points; on a surface, cells as large as grains with the colours of minerals and bent
    normals."""
    material, tree, output = new_material(name)
    shader = principled(tree, Specular_IOR_Level=0.3)
    colour, wetness = (tree.nodes.new("ShaderNodeAttribute") for _ in range(2))
    colour.attribute_name, wetness.attribute_name = "colour", "wetness"
    rough = tree.nodes.new("ShaderNodeMapRange")  # a film of water shines
    rough.inputs["From Min"].default_value = 0.4
    rough.inputs["To Min"].default_value, rough.inputs["To Max"].default_value = 1.0, 0.35
    base = colour.outputs["Color"]
    if look is not None and "palette" in look:
        base = add_grains(tree, base, shader, look)
    link(tree, base, shader.inputs["Base Color"])
    link(tree, wetness.outputs["Fac"], rough.inputs["Value"])
    link(tree, rough.outputs["Result"], shader.inputs["Roughness"])
    link(tree, shader.outputs[0], output.inputs["Surface"])
    return material


def add_grains(tree, base, shader, look):
    """Multiplies the colour by that of the grain's mineral over the mean of all, and bends the normal. Cells lie about the
    nearest particle and move with it."""
    place, cells, split, ramp, times, bump = (tree.nodes.new("ShaderNode" + kind) for kind in (
        "NewGeometry", "TexVoronoi", "SeparateXYZ", "ValToRGB", "VectorMath", "Bump"))
    more, about, origin = (tree.nodes.new("ShaderNode" + kind) for kind in ("VectorMath", "VectorMath", "Attribute"))
    origin.attribute_name, about.operation = "grain_origin", "SUBTRACT"
    cells.inputs["Scale"].default_value = 1 / look["grain_size"]
    mean, stops, start = mean_colour(look), [], 0.0
    for mineral in look["palette"]:
        for end in (-1, 1):
            ratio = np.array(mineral[:3]) * (1 + end * look["variation"]) / mean
            stops.append((min(start + (mineral[3] - 1e-4 if end > 0 else 0), 1.0), 1 + look["contrast"] * (ratio - 1)))
        start += mineral[3]
    largest = max(max(ratio) for _, ratio in stops)  # a ramp holds 0 to 1
    elements = ramp.color_ramp.elements
    while len(elements) < len(stops):
        elements.new(1.0)
    for element, (position, ratio) in zip(elements, stops):
        element.position, element.color = position, (*(ratio / largest), 1)
    times.operation, more.operation = "MULTIPLY", "SCALE"
    more.inputs["Scale"].default_value = largest
    bump.inputs["Strength"].default_value = 0.8 * look["contrast"]
    bump.inputs["Distance"].default_value = 0.5 * look["grain_size"]
    bump.invert = True
    link(tree, place.outputs["Position"], about.inputs[0])
    link(tree, origin.outputs["Vector"], about.inputs[1])
    link(tree, about.outputs[0], cells.inputs["Vector"])
    link(tree, cells.outputs["Color"], split.inputs[0])
    link(tree, split.outputs[0], ramp.inputs["Fac"])
    link(tree, base, times.inputs[0])
    link(tree, ramp.outputs["Color"], times.inputs[1])
    link(tree, times.outputs[0], more.inputs[0])
    link(tree, cells.outputs["Distance"], bump.inputs["Height"])
    link(tree, bump.outputs["Normal"], shader.inputs["Normal"])
    return more.outputs[0]


def clear_for_light(tree, shader, output, colour=(1, 1, 1)):
    """Light of sun and sky for what lies behind goes straight through: without caustics it would be dark there."""
    path, either, clear, mix = (tree.nodes.new("ShaderNode" + kind) for kind in (
        "LightPath", "Math", "BsdfTransparent", "MixShader"))
    either.operation = "MAXIMUM"
    clear.inputs["Color"].default_value = (*colour, 1)
    link(tree, path.outputs["Is Shadow Ray"], either.inputs[0])
    link(tree, path.outputs["Is Diffuse Ray"], either.inputs[1])
    link(tree, either.outputs[0], mix.inputs[0])
    link(tree, shader, mix.inputs[1])
    link(tree, clear.outputs[0], mix.inputs[2])
    link(tree, mix.outputs[0], output.inputs["Surface"])


def set_members(of, **values):
    """Sets those that this version of Blender has."""
    for name, value in values.items():
        if hasattr(of, name):
            setattr(of, name, value)


def water_material(name, look):
    material, tree, output = new_material(name)
    # For EEVEE, before 4.2 and since: what is behind the water is seen through it.
    set_members(material, use_screen_refraction=True, use_raytrace_refraction=True, shadow_method="NONE",
                use_transparent_shadow=True)
    shader = principled(tree, Base_Color=(1, 1, 1, 1), Roughness=0.0, IOR=look["ior"], Transmission_Weight=1.0)
    clear_for_light(tree, shader.outputs[0], output)
    most = max(look["absorption"])
    if most > 0:
        inside = tree.nodes.new("ShaderNodeVolumeAbsorption")  # takes density (1 - colour) a metre
        inside.inputs["Density"].default_value = most
        inside.inputs["Color"].default_value = (*(1 - a / most for a in look["absorption"]), 1)
        link(tree, inside.outputs[0], output.inputs["Volume"])
    return material


def glass_material(name):
    """A sheet without thickness: straight through, and a mirror as Schlick says, from both sides alike."""
    material, tree, output = new_material(name)
    # For EEVEE, before 4.2 and since.
    set_members(material, blend_method="BLEND", shadow_method="NONE", show_transparent_back=True,
                surface_render_method="BLENDED", use_transparent_shadow=True)
    weight, power, share, through, mirror, mix = (tree.nodes.new("ShaderNode" + kind) for kind in (
        "LayerWeight", "Math", "Math", "BsdfTransparent", "BsdfAnisotropic", "MixShader"))  # the glossy one of all versions
    weight.inputs["Blend"].default_value = 0.5  # then Facing is 1 - |cosine|
    power.operation, share.operation = "POWER", "MULTIPLY_ADD"
    power.inputs[1].default_value, share.inputs[1].default_value, share.inputs[2].default_value = 5, 0.96, 0.04
    through.inputs["Color"].default_value = (0.97, 0.985, 0.98, 1)
    mirror.inputs["Roughness"].default_value = 0
    link(tree, weight.outputs["Facing"], power.inputs[0])
    link(tree, power.outputs[0], share.inputs[0])
    link(tree, share.outputs[0], mix.inputs[0])
    link(tree, through.outputs[0], mix.inputs[1])
    link(tree, mirror.outputs[0], mix.inputs[2])
    clear_for_light(tree, mix.outputs[0], output, (0.97, 0.985, 0.98))
    return material


def plain_material(name, colour, checker=0.0, other=(0, 0, 0), slabs=0.0):
    material, tree, output = new_material(name)
    shader = principled(tree, Base_Color=(*colour, 1), Roughness=0.7, Specular_IOR_Level=0.2)
    if checker > 0:
        place, pattern = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeTexChecker")
        pattern.inputs["Scale"].default_value = 1 / checker
        pattern.inputs["Color1"].default_value, pattern.inputs["Color2"].default_value = (*colour, 1), (*other, 1)
        link(tree, place.outputs["Position"], pattern.inputs["Vector"])
        link(tree, pattern.outputs["Color"], shader.inputs["Base Color"])
    elif slabs > 0:  # squares with joints, each of a brightness of its own
        place, pattern = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeTexBrick")
        pattern.offset, pattern.squash = 0.0, 1.0
        for key, value in (("Scale", 1.0), ("Brick Width", slabs), ("Row Height", slabs), ("Mortar Size", 0.007 * slabs),
                           ("Color1", (*(0.93 * c for c in colour), 1)), ("Color2", (*(1.07 * c for c in colour), 1)),
                           ("Mortar", (*other, 1))):
            pattern.inputs[key].default_value = value
        link(tree, place.outputs["Position"], pattern.inputs["Vector"])
        link(tree, pattern.outputs["Color"], shader.inputs["Base Color"])
    link(tree, shader.outputs[0], output.inputs["Surface"])
    return material


def solid_material(name, look):
    if look["look"] == "glass":
        return glass_material(name)
    material = plain_material(name, look["colour"])
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = look["roughness"]
    if look["has_pattern"]:  # its colours are those of the vertices
        colour = tree.nodes.new("ShaderNodeAttribute")
        colour.attribute_name = "colour"
        link(tree, colour.outputs["Color"], shader.inputs["Base Color"])
    return material


def make_materials(scene):
    made = {"foam": sand_material("wadi foam", None)}
    for name, look in scene["solids"].items():
        made[name] = solid_material("wadi " + name, look)
    for look in scene["materials"]:
        name = "wadi " + look["name"]
        made[look["name"]] = (sand_material(name, look) if look["look"] == "sand" else
                              water_material(name, look) if look["look"] == "water" else
                              plain_material(name, look["colour"]))
        if look["look"] == "sand":
            made[look["name"], "grains"] = sand_material(name + " grains", None)
    return made


def points_nodes(name, material):
    """Vertices become points with the radius they carry, which Cycles draws as balls."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    if hasattr(tree, "interface"):
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    source, radius, points, paint, target = (tree.nodes.new(kind) for kind in (
        "NodeGroupInput", "GeometryNodeInputNamedAttribute", "GeometryNodeMeshToPoints", "GeometryNodeSetMaterial",
        "NodeGroupOutput"))
    radius.data_type = "FLOAT"
    radius.inputs["Name"].default_value = "radius"
    paint.inputs["Material"].default_value = material
    link(tree, source.outputs[0], points.inputs["Mesh"])
    link(tree, next(s for s in radius.outputs if s.enabled and s.name == "Attribute"), points.inputs["Radius"])
    link(tree, points.outputs[0], paint.inputs["Geometry"])
    link(tree, paint.outputs[0], target.inputs[0])
    return tree


def frame_files(folder, name):
    """The frames of a run by their numbers."""
    frames = {}
    for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + ".*.json")):
        frame = read_json(path)
        frames[frame["frame"]] = frame
    return frames


class Run:
    """A run in a collection. All that is needed to show other frames is in the properties of the collection and its objects, so
    that it is there again when a saved file is opened."""

    def __init__(self, folder, collection=None):
        self.folder = folder
        self.collection = collection
        self.scene = read_json(os.path.join(folder, "scene.json"))
        self.looks = {look["name"]: look for look in self.scene["materials"]}
        self.frames = frame_files(folder, self.scene["name"])
        if not self.frames:
            raise RuntimeError(f"no frames in {folder}; run wadi export again")

    def create(self, draw):
        """The collection, which is not in a scene yet, and the objects of all frames that it has not."""
        if self.collection is None:
            self.collection = bpy.data.collections.new("wadi " + self.scene["name"])
            self.collection["wadi_start"] = 1
        self.collection["wadi_folder"] = self.folder
        self.collection["wadi_draw"] = draw
        made = {(had.get("wadi_kind"), had.get("wadi_name")) for had in self.collection.objects}
        wanted = {(item["kind"], item["name"]): item for frame in self.frames.values() for item in frame["objects"]}
        for key in sorted(wanted.keys() - made):
            self.create_object(wanted[key])

    @functools.cached_property
    def materials(self):
        return make_materials(self.scene)

    def create_object(self, item):
        name = item["name"] + ("" if item["kind"] in ("mesh", "solid") else " " + item["kind"])
        made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        made["wadi_kind"], made["wadi_name"] = item["kind"], item["name"]
        self.collection.objects.link(made)
        material = self.materials[item["look"]]
        if item["kind"] in POINTS:
            material = self.materials.get((item["look"], "grains"), material)
            modifier = made.modifiers.new("wadi points", "NODES")
            modifier.node_group = points_nodes("wadi " + name, material)
        made.data.materials.append(material)

    def create_scene(self):
        """A scene that shows what `wadi render` draws: ground, sun, sky, camera and the settings of the picture."""
        scene = bpy.data.scenes.new("wadi " + self.scene["name"])
        around = bpy.data.collections.new("wadi " + self.scene["name"] + " surroundings")
        scene.collection.children.link(self.collection)
        scene.collection.children.link(around)
        self.create_ground(around, self.materials)
        self.create_light(around, scene)
        camera = bpy.data.objects.new("wadi camera", bpy.data.cameras.new("wadi camera"))
        camera["wadi_camera"] = self.collection.name
        around.objects.link(camera)
        scene.camera = camera
        set_up(scene, self)
        return scene

    def create_ground(self, collection, materials):
        ground = self.scene["ground"]
        if ground is None:
            return
        first = self.frames[min(self.frames)]["camera"]
        size = 1000 * max(1.0, first["focus"])
        x, y = first["eye"][:2]
        corners = [(x + i * size, y + j * size, ground["height"]) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        mesh = bpy.data.meshes.new("wadi ground")
        mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
        sand = next((look for look in self.scene["materials"] if "palette" in look), None)
        if ground["is_sand"] and sand is not None:
            columns = {"wetness": np.zeros(4, np.float32), "colour": with_alpha(bed_colour(np.tile(mean_colour(sand), (4, 1)), np.zeros(4)))}
            fill_mesh(mesh, np.array(corners, np.float32), np.array([(0, 1, 2), (0, 2, 3)]), columns)
            mesh.materials.append(materials[sand["name"]])
        else:
            mesh.materials.append(plain_material("wadi ground", ground["colour"], ground["checker"],
                                                 ground["checker_colour"], ground.get("slabs", 0.0)))
        collection.objects.link(bpy.data.objects.new("wadi ground", mesh))

    def create_light(self, collection, scene):
        sun = self.scene["sun"]
        strength = max(sun["irradiance"])
        if strength > 0:
            light = bpy.data.lights.new("wadi sun", "SUN")
            light.energy, light.angle = strength, math.radians(sun["angle"])
            light.color = [value / strength for value in sun["irradiance"]]
            made = bpy.data.objects.new("wadi sun", light)
            made.rotation_mode = "QUATERNION"
            made.rotation_quaternion = mathutils.Vector(sun["towards"]).to_track_quat("Z", "Y")
            collection.objects.link(made)
        world = bpy.data.worlds.new("wadi sky")
        world.use_nodes = True
        picture = world.node_tree.nodes.new("ShaderNodeTexEnvironment")
        picture.image = bpy.data.images.load(os.path.join(self.folder, self.scene["sky"]))
        background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
        link(world.node_tree, picture.outputs["Color"], background.inputs["Color"])
        scene.world = world

    @staticmethod
    def set_camera(camera, view):
        columns = [view["right"], view["up"], [-value for value in view["forward"]], view["eye"]]
        matrix = mathutils.Matrix.Identity(4)
        for column, values in enumerate(columns):
            for row, value in enumerate(values):
                matrix[row][column] = value
        camera.matrix_world = matrix
        lens = camera.data
        lens.sensor_fit, lens.lens_unit = "VERTICAL", "FOV"
        lens.angle = math.radians(view["view_angle"])
        lens.clip_start, lens.clip_end = 1e-3 * view["focus"], 1e4 * max(1.0, view["focus"])
        lens.dof.use_dof = view["lens_radius"] > 0
        if view["lens_radius"] > 0:
            lens.dof.focus_distance = view["focus"]
            lens.dof.aperture_fstop = 1e-3 * lens.lens / (2 * view["lens_radius"])

    def fill(self, mesh, item):
        columns, triangles = read_ply(os.path.join(self.folder, item["file"]))
        look = self.looks.get(item["look"])
        attributes = attributes_of(columns)
        if item["kind"] in ("grains", "foam"):
            attributes["colour"] = with_alpha(wet_colour(attributes["colour"], attributes["wetness"]))
        elif item["kind"] == "solid" and "colour" in attributes:
            attributes["colour"] = with_alpha(attributes["colour"])
        elif look is not None and look["look"] == "sand":
            count = len(columns["x"])
            wetness = attributes.setdefault("wetness", np.full(count, look.get("wetness", 0), np.float32))
            attributes["colour"] = with_alpha(bed_colour(np.tile(mean_colour(look), (count, 1)), wetness))
        fill_mesh(mesh, vectors(columns, "xyz"), triangles, attributes, item["kind"] != "solid")

    def is_shown(self, item):
        """Particles of sand instead of its surface and grains, or the other way round."""
        draw = self.collection.get("wadi_draw", "grains")
        if item["kind"] == "particles":
            return draw == "particles"
        is_sand = item["kind"] in ("mesh", "grains") and self.looks[item["look"]]["look"] == "sand"
        has_particles = "palette" in self.looks.get(item["look"], {})
        return draw == "grains" or not (is_sand and has_particles)

    def show(self, number):
        """Fills the objects from the files of a frame. An object has what it shows as the property `wadi_file`."""
        number = min(max(number, min(self.frames)), max(self.frames))
        while number not in self.frames:
            number -= 1
        frame = self.frames[number]
        items = {(item["kind"], item["name"]): item for item in frame["objects"] if self.is_shown(item)}
        for made in self.collection.objects:
            if "wadi_kind" not in made:
                continue
            item = items.get((made["wadi_kind"], made["wadi_name"]))
            if made.get("wadi_file") == (item["file"] if item else ""):
                continue
            if item is not None:
                self.fill(own_mesh(made), item)
            else:
                own_mesh(made).clear_geometry()
            made["wadi_file"] = item["file"] if item else ""
        for camera in bpy.data.objects:
            if camera.get("wadi_camera") == self.collection.name:
                self.set_camera(camera, frame["camera"])


def set_up(scene, run):
    scene.frame_start, scene.frame_end = min(run.frames), max(run.frames)
    scene.render.fps = max(1, round(run.scene["fps"]))
    scene.render.fps_base = scene.render.fps / run.scene["fps"]
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = run.scene["size"]
    scene.render.resolution_percentage = 100
    scene.render.use_motion_blur = run.scene["shutter"] > 0
    scene.render.motion_blur_shutter = max(0.01, run.scene["shutter"])
    scene.cycles.samples = 64
    scene.cycles.transparent_max_bounces = scene.cycles.transmission_bounces = 24
    scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False  # shadows of water are clear already
    scene.cycles.sample_clamp_indirect = 4
    set_members(scene.eevee, use_ssr=True, use_ssr_refraction=True, use_raytracing=True, use_soft_shadows=True)
    scene.view_settings.exposure = run.scene["exposure"]
    try:
        scene.view_settings.view_transform = "Filmic"
    except TypeError:  # a configuration without it
        pass


RUNS = {}  # by the name of the collection: (folder, run)


def folder_of(collection):
    """The folder of the files: where they were, or at the same place relative to a Blender file that was moved with them: of its
    folder and those above, the first that has the longest end of the path. None: nowhere."""
    stored = pathlib.Path(collection["wadi_folder"])
    above = pathlib.Path(bpy.data.filepath).parents if bpy.data.filepath else ()
    ends = (folder.joinpath(*stored.parts[first:]) for first in range(1, len(stored.parts)) for folder in above)
    return next((str(folder) for folder in (stored, *ends) if (folder / "scene.json").is_file()), None)


def run_of(collection):
    """None, once with a message, when its files are not there."""
    folder = folder_of(collection)
    known = RUNS.get(collection.name)
    if known is None or known[0] != folder:
        run = None
        try:
            run = Run(folder, collection) if folder is not None else None
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            print(f"wadi: {collection.name}: {error}")
        if run is None:
            print(f"wadi: the files of the collection '{collection.name}' are not in {collection['wadi_folder']}; set its "
                  "property wadi_folder to the folder with load.py, or export the run again")
        known = RUNS[collection.name] = (folder, run)
    if known[1] is not None:
        known[1].collection = collection  # Blender makes new objects for it when a step is undone
    return known[1]


@persistent
def wadi_on_frame(scene, _depsgraph=None):
    if scene.frame_subframe != 0:  # between frames Cycles moves points by their velocity
        return
    for collection in scene.collection.children_recursive:
        run = run_of(collection) if "wadi_folder" in collection else None
        if run is not None:
            run.show(scene.frame_current - int(collection.get("wadi_start", 1)) + 1)


@persistent
def wadi_on_load(*_):
    """Files may have been moved or written again since the Blender file was saved."""
    RUNS.clear()
    for made in bpy.data.objects:
        if "wadi_file" in made:
            del made["wadi_file"]
    for scene in bpy.data.scenes:
        wadi_on_frame(scene)


def register():
    for handlers, function in ((bpy.app.handlers.frame_change_pre, wadi_on_frame), (bpy.app.handlers.load_post, wadi_on_load)):
        for other in [other for other in handlers if getattr(other, "__name__", "") == function.__name__]:
            handlers.remove(other)
        handlers.append(function)


def keep_script():
    """So that a saved file shows other frames when it is opened again."""
    text = bpy.data.texts.get(TEXT_NAME) or bpy.data.texts.new(TEXT_NAME)
    with open(os.path.abspath(__file__), encoding="utf-8") as file:
        text.from_string(file.read())
    text.use_module = True


def imported(folder):
    """The collection of a folder that was imported before."""
    return next((collection for collection in bpy.data.collections
                 if "wadi_folder" in collection and folder_of(collection) == folder), None)


def main():
    arguments = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    parser = argparse.ArgumentParser(prog="blender -P load.py --", description="Shows a run of wadi.")
    parser.add_argument("--frame", type=int, help="show this frame")
    parser.add_argument("--render", metavar="PNG", help="draw that frame into a file")
    parser.add_argument("--samples", type=int, help="of Cycles, a pixel")
    parser.add_argument("--size", metavar="WxH", help="of the picture")
    parser.add_argument("--draw", choices=("grains", "particles"), default="grains")
    parser.add_argument("--scene", action="store_true", help="in a new scene, with wadi's camera, light, sky and settings")
    parser.add_argument("--save", metavar="BLEND", help="save the frame as a Blender file")
    options = parser.parse_args(arguments)
    folder = os.path.dirname(os.path.abspath(__file__))
    run = Run(folder, imported(folder))
    run.create(options.draw)
    scene = bpy.context.scene
    if options.scene or options.render is not None:
        scene = run.create_scene()
        bpy.context.window.scene = scene
        if options.size is not None:
            scene.render.resolution_x, scene.render.resolution_y = map(int, options.size.split("x"))
        if options.samples is not None:
            scene.cycles.samples = options.samples
    elif run.collection not in scene.collection.children_recursive:
        scene.collection.children.link(run.collection)
        fps = scene.render.fps / scene.render.fps_base
        if abs(fps - run.scene["fps"]) > 1e-3:
            print(f"wadi: the run has {run.scene['fps']:g} frames a second, the scene {fps:g}: it plays at another speed")
    register()
    keep_script()
    if options.frame is not None:
        scene.frame_set(options.frame)
    wadi_on_load()
    if options.save is not None:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(options.save))
    if options.render is not None:
        scene.render.filepath = os.path.abspath(options.render)
        scene.render.image_settings.file_format = "PNG"
        try:
            bpy.ops.render.render(write_still=True, scene=scene.name)
        except RuntimeError:  # Debian's Blender was built without the denoiser that it asks for
            if not scene.cycles.use_denoising:
                raise
            scene.cycles.use_denoising = False
            bpy.ops.render.render(write_still=True, scene=scene.name)


if __name__ == "__main__" and os.path.isfile(__file__):
    try:
        main()
    except Exception as error:  # Blender would print it and exit with 0
        if not bpy.app.background:
            raise
        import traceback
        traceback.print_exc()
        sys.exit(f"load.py: {error}")
else:  # the text of a saved file; load_post follows
    register()
