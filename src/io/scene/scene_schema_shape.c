/* The part of the table for shapes and keyframes. */
#include <math.h>

#include "geom/shape.h"
#include "io/scene/scene_schema.h"

#define PARAMETER(index) .offset = offsetof(WadiShapeDef, parameter) + (index) * sizeof(WadiCurve)
#define POSITION .unit = "m", .minimum = -1e6, .maximum = 1e6
#define LENGTH .unit = "m", .minimum = 0, .maximum = 1e6
#define LENGTH_ABOVE_0 .unit = "m", .minimum = 1e-9, .maximum = 1e6

enum {
    REQUIRED = WADI_SCENE_REQUIRED,
    KEYED = WADI_SCENE_KEYFRAMES,
    ONE_FOR_ALL = WADI_SCENE_ONE_FOR_ALL,
    NOT_ZERO = WADI_SCENE_NOT_ZERO,
};

#define OBJECT(c_name, shape_name, ...)                                                                      \
    static const WadiSceneField c_name##_fields[] = { __VA_ARGS__ };                                         \
    static const WadiSceneObject c_name##_object = { .name = shape_name, WADI_SCENE_FIELDS(c_name##_fields) }

/* Versions of clang-format disagree on lists in a macro. */
/* clang-format off */
#define CENTER(index)                                                                                        \
    { "center", WADI_SCENE_CURVE3, PARAMETER(index), .flags = KEYED, POSITION, .doc = "Its centre." }
#define FROM                                                                                                 \
    { "from", WADI_SCENE_CURVE3, PARAMETER(0), .flags = REQUIRED | KEYED, POSITION,                          \
      .doc = "One end of its axis." }
#define TO                                                                                                   \
    { "to", WADI_SCENE_CURVE3, PARAMETER(1), .flags = REQUIRED | KEYED, POSITION, .doc = "The other end." }
#define RADIUS(index, text)                                                                                  \
    { "radius", WADI_SCENE_CURVE1, PARAMETER(index), .flags = REQUIRED | KEYED, LENGTH_ABOVE_0,              \
      .doc = text }
#define THICKNESS                                                                                            \
    { "thickness", WADI_SCENE_CURVE1, PARAMETER(0), .flags = KEYED, LENGTH,                                  \
      .doc = "0: a closed solid; more: a shell of that thickness around the triangles." }
/* clang-format on */

/* parameter[2] and [3] hold center and size until the parser converts them to min and max. */
static const WadiSceneField box_fields[] = {
    { "min", WADI_SCENE_CURVE3, PARAMETER(0), .flags = KEYED, POSITION,
      .fallback_text = "from center and size", .doc = "Corner with the smallest coordinates; with `max`." },
    { "max", WADI_SCENE_CURVE3, PARAMETER(1), .flags = KEYED, POSITION,
      .fallback_text = "from center and size", .doc = "Corner with the largest coordinates." },
    { "center", WADI_SCENE_CURVE3, PARAMETER(2), .flags = KEYED, POSITION,
      .doc = "Its centre; with `size`." },
    { "size", WADI_SCENE_CURVE3, PARAMETER(3), .flags = KEYED | ONE_FOR_ALL, LENGTH_ABOVE_0,
      .fallback_text = "from min and max", .doc = "Its edges; one number for a cube." },
};
const WadiSceneObject wadi_scene_box_object = { .name = "box", WADI_SCENE_FIELDS(box_fields) };

OBJECT(sphere, "sphere", CENTER(0), RADIUS(1, "Its radius."));
OBJECT(ellipsoid, "ellipsoid", CENTER(0),
       { "radii", WADI_SCENE_CURVE3, PARAMETER(1), .flags = REQUIRED | KEYED | ONE_FOR_ALL, LENGTH_ABOVE_0,
         .doc = "Half axes along x, y and z." });
OBJECT(cylinder, "cylinder", FROM, TO, RADIUS(2, "Its radius; the ends are flat."));
OBJECT(cone, "cone", FROM, TO,
       { "radius", WADI_SCENE_CURVE1, PARAMETER(2), .flags = REQUIRED | KEYED, LENGTH,
         .doc = "Radius at `from`." },
       { "top_radius", WADI_SCENE_CURVE1, PARAMETER(3), .flags = KEYED, LENGTH,
         .doc = "Radius at `to`; 0 for a tip." });
OBJECT(capsule, "capsule", FROM, TO,
       RADIUS(2, "Its radius; the ends are half spheres beyond `from` and `to`."));
OBJECT(torus, "torus", CENTER(0),
       { "axis", WADI_SCENE_CURVE3, PARAMETER(1), .flags = KEYED | NOT_ZERO, .minimum = -1e6, .maximum = 1e6,
         .fallback = { 0, 0, 1 }, .doc = "Direction through the hole; any length." },
       RADIUS(2, "Radius of the circle in the middle of the tube."),
       { "tube", WADI_SCENE_CURVE1, PARAMETER(3), .flags = REQUIRED | KEYED, LENGTH_ABOVE_0,
         .doc = "Radius of the tube." });
OBJECT(half_space, "half_space",
       { "point", WADI_SCENE_CURVE3, PARAMETER(0), .flags = KEYED, POSITION,
         .doc = "Any point of its plane." },
       { "normal", WADI_SCENE_CURVE3, PARAMETER(1), .flags = KEYED | NOT_ZERO, .minimum = -1e6,
         .maximum = 1e6, .fallback = { 0, 0, 1 }, .doc = "Direction out of the solid; any length." });
OBJECT(heightmap, "heightmap",
       { "file", WADI_SCENE_FILE, .offset = offsetof(WadiShapeDef, file), .flags = REQUIRED,
         .doc = "PNG picture, relative to the scene file: white is high, the first row is at max y." },
       { "min", WADI_SCENE_CURVE3, PARAMETER(0), .flags = REQUIRED | KEYED, POSITION,
         .doc = "Corner of the box that the picture fills; black is at its z." },
       { "max", WADI_SCENE_CURVE3, PARAMETER(1), .flags = REQUIRED | KEYED, POSITION,
         .doc = "Other corner; white is at its z." });
static const WadiSceneChoice mesh_ups[] = {
    { "z", WADI_MESH_UP_Z, "as in scenes, Blender and ParaView" },
    { "y", WADI_MESH_UP_Y, "as most OBJ and glTF files have it" },
    { "x", WADI_MESH_UP_X, "" },
    { "-x", WADI_MESH_UP_MINUS_X, "" },
    { "-y", WADI_MESH_UP_MINUS_Y, "" },
    { "-z", WADI_MESH_UP_MINUS_Z, "" },
};
WADI_SCENE_CHOICES(mesh_ups);

OBJECT(mesh, "mesh",
       { "file", WADI_SCENE_FILE, .offset = offsetof(WadiShapeDef, file), .flags = REQUIRED,
         .doc = "Mesh (OBJ, PLY, STL, OFF, glTF or GLB), relative to the scene file." },
       { "fit", WADI_SCENE_VEC3, .offset = offsetof(WadiShapeDef, fit.size),
         .presence = offsetof(WadiShapeDef, fit.has_size), .flags = ONE_FOR_ALL, LENGTH_ABOVE_0,
         .fallback_text = "the size in the file",
         .doc = "Scales it to this longest edge, or to fit into this box." },
       { "center", WADI_SCENE_VEC3, .offset = offsetof(WadiShapeDef, fit.center),
         .presence = offsetof(WadiShapeDef, fit.has_center), POSITION,
         .fallback_text = "the position in the file",
         .doc = "Where the centre of its bounding box goes; with `on` only x and y count." },
       { "up", WADI_SCENE_ENUM, .offset = offsetof(WadiShapeDef, fit.up), .choices = &mesh_ups_choices,
         .doc = "The axis of the file that points up, to z." },
       { "on", WADI_SCENE_NAME, .offset = offsetof(WadiShapeDef, mesh_on), .fallback_text = "nothing",
         .doc = "The same as `on` of the shape." },
       THICKNESS);
OBJECT(sequence, "mesh_sequence",
       { "files", WADI_SCENE_FILES, .offset = offsetof(WadiShapeDef, file), .flags = REQUIRED,
         .doc = "Names of the files with one number field, \"wave.%04d.obj\"." },
       { "first", WADI_SCENE_INT, .offset = offsetof(WadiShapeDef, first_number), .minimum = 0,
         .maximum = 9999999, .fallback = { 1 }, .doc = "Number of the first file." },
       { "last", WADI_SCENE_INT, .offset = offsetof(WadiShapeDef, last_number), .flags = REQUIRED,
         .minimum = 0, .maximum = 9999999, .doc = "Number of the last file." },
       { "fps", WADI_SCENE_CURVE1, PARAMETER(2), .unit = "files/s", .minimum = 1e-6, .maximum = 1e6,
         .fallback = { 24 }, .doc = "Files per second; between files the points move on straight lines." },
       { "start", WADI_SCENE_CURVE1, PARAMETER(1), .unit = "s", .minimum = -1e6, .maximum = 1e6,
         .doc = "Time of the first file." },
       THICKNESS);
OBJECT(smooth_union, "smooth_union", RADIUS(0, "How far the seam is rounded."),
       { "shapes", WADI_SCENE_SHAPES, .flags = REQUIRED, .doc = "The parts." });

/* clang-format off */
#define KIND(name, constant, parameters, text)                                                               \
    { name, WADI_SCENE_KIND, .value = constant, .object = parameters, .doc = text }
/* clang-format on */
static const WadiSceneField shape_fields[] = {
    KIND("box", WADI_SHAPE_BOX, &wadi_scene_box_object, "A box along the axes."),
    KIND("sphere", WADI_SHAPE_SPHERE, &sphere_object, "A ball."),
    KIND("ellipsoid", WADI_SHAPE_ELLIPSOID, &ellipsoid_object, "A ball stretched along the axes."),
    KIND("cylinder", WADI_SHAPE_CYLINDER, &cylinder_object, "A cylinder between two points."),
    KIND("cone", WADI_SHAPE_CONE, &cone_object, "A cone, or a frustum, between two points."),
    KIND("capsule", WADI_SHAPE_CAPSULE, &capsule_object, "All points near a line from point to point."),
    KIND("torus", WADI_SHAPE_TORUS, &torus_object, "A ring."),
    KIND("half_space", WADI_SHAPE_HALF_SPACE, &half_space_object, "Everything on one side of a plane."),
    KIND("heightmap", WADI_SHAPE_HEIGHTMAP, &heightmap_object, "Ground whose height is a picture."),
    KIND("mesh", WADI_SHAPE_MESH, &mesh_object, "A triangle mesh from a file."),
    KIND("mesh_sequence", WADI_SHAPE_MESH_SEQUENCE, &sequence_object, "A mesh that moves: one file a step."),
    KIND("union", WADI_SHAPE_UNION, NULL, "A list of shapes: what is in any of them."),
    KIND("intersection", WADI_SHAPE_INTERSECTION, NULL, "A list of shapes: what is in all of them."),
    KIND("difference", WADI_SHAPE_DIFFERENCE, NULL, "A list of shapes: the first without all others."),
    KIND("smooth_union", WADI_SHAPE_SMOOTH_UNION, &smooth_union_object, "A union with rounded seams."),
    { "translate", WADI_SCENE_CURVE3, .offset = offsetof(WadiShapeDef, translate), .flags = KEYED, POSITION,
      .doc = "Translation, after scaling and rotation." },
    { "rotate", WADI_SCENE_CURVE3, .offset = offsetof(WadiShapeDef, rotate), .flags = KEYED,
      .unit = "degrees", .minimum = -1e6, .maximum = 1e6,
      .doc = "Rotation about the x, then the y, then the z axis through `pivot`." },
    { "scale", WADI_SCENE_CURVE3, .offset = offsetof(WadiShapeDef, scale), .flags = KEYED | ONE_FOR_ALL,
      .minimum = 1e-6, .maximum = 1e6, .fallback = { 1, 1, 1 },
      .doc = "Scale about `pivot`; one number or one for each axis." },
    { "pivot", WADI_SCENE_CURVE3, .offset = offsetof(WadiShapeDef, pivot), .flags = KEYED, POSITION,
      .doc = "The fixed point of `rotate` and `scale`." },
    { "on", WADI_SCENE_NAME, .offset = offsetof(WadiShapeDef, on), .fallback_text = "nothing",
      .doc = "Puts it on top of the collider of that name, or with `ground` on the floor of the domain, at "
             "time 0; `translate` moves it on from there." },
};
const WadiSceneObject wadi_scene_shape_object = {
    .name = "shape",
    .doc = "A solid: exactly one of the shape keys, and optionally its transform.",
    WADI_SCENE_FIELDS(shape_fields),
    .size = sizeof(WadiShapeDef),
    .where = offsetof(WadiShapeDef, where),
    .example = "{mesh: {file: teapot.obj, fit: 0.3, center: [0.5, 0.4, 0], up: y}, on: table}",
};

static const WadiSceneChoice interpolations[] = {
    { "linear", WADI_INTERPOLATION_LINEAR, "straight lines" },
    { "smooth", WADI_INTERPOLATION_SMOOTH, "ease out of each key and into the next" },
    { "step", WADI_INTERPOLATION_STEP, "hold each value until the next key" },
};
WADI_SCENE_CHOICES(interpolations);

static const WadiSceneField curve_fields[] = {
    { "keys", WADI_SCENE_KEYS, .flags = REQUIRED, .object = &wadi_scene_key_object,
      .doc = "Keyframes in rising order of time: {time, value} or short [time, value]." },
    { "interpolation", WADI_SCENE_ENUM, .offset = offsetof(WadiCurve, interpolation),
      .choices = &interpolations_choices, .doc = "What happens between keys." },
    { "repeat", WADI_SCENE_BOOL, .offset = offsetof(WadiCurve, does_repeat),
      .doc = "Start again after the last key; otherwise its value holds." },
};
const WadiSceneObject wadi_scene_curve_object = {
    .name = "keyframes",
    .doc = "May stand for every number or vector that the tables mark as keyframable.",
    WADI_SCENE_FIELDS(curve_fields),
    .size = sizeof(WadiCurve),
    .example = "{keys: [[0, 1], [2, 5]], interpolation: smooth}",
};

static const WadiSceneField key_fields[] = {
    { "time", WADI_SCENE_NUMBER, .offset = offsetof(WadiKey, time), .flags = REQUIRED, .unit = "s",
      .minimum = -1e6, .maximum = 1e6, .doc = "When." },
    { "value", WADI_SCENE_KEY_VALUE, .offset = offsetof(WadiKey, value), .flags = REQUIRED,
      .doc = "What: as the key would be written without keyframes." },
};
const WadiSceneObject wadi_scene_key_object = {
    .name = "key",
    .doc = "One keyframe.",
    WADI_SCENE_FIELDS(key_fields),
    .size = sizeof(WadiKey),
    .example = "{time: 0.5, value: [0, 0, 1]}",
};
