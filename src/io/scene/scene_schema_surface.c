/* Keys for surfaces of particles. None changes the simulation. */
#include <math.h>

#include "io/scene/scene_schema.h"
#include "world/scene.h"

#define AT(member) .offset = offsetof(WadiScene, surface.member)

static const WadiSceneChoice methods[] = {
    { "zhu_bridson", WADI_SURFACE_KEY_ZHU_BRIDSON, "distance to averaged positions, as in ZB05" },
    { "anisotropic", WADI_SURFACE_KEY_ANISOTROPIC,
      "ellipsoids that follow the surface: flat where water is flat, at more cost" },
    { "blobby", WADI_SURFACE_KEY_BLOBBY, "sum of kernels, to compare with" },
    { "color_field", WADI_SURFACE_KEY_COLOR_FIELD, "normalised density, to compare with" },
};
WADI_SCENE_CHOICES(methods);

static const WadiSceneChoice walls[] = {
    { "closed", WADI_SURFACE_WALLS_CLOSED, "the mesh has a face along the wall" },
    { "open", WADI_SURFACE_WALLS_OPEN, "it ends at the wall: for water behind glass" },
};
WADI_SCENE_CHOICES(walls);

static const WadiSceneChoice materials[] = {
    { "separate", WADI_SURFACE_MATERIALS_SEPARATE, "a mesh each" },
    { "joined", WADI_SURFACE_MATERIALS_JOINED, "one mesh, with the blend of their numbers on its vertices" },
};
WADI_SCENE_CHOICES(materials);

static const WadiSceneField surface_fields[] = {
    { "method", WADI_SCENE_ENUM, AT(method), .choices = &methods_choices,
      .doc = "The function whose zero is the surface." },
    { "cell_size", WADI_SCENE_NUMBER, AT(cell_size), .unit = "m", .minimum = 1e-7, .maximum = 1e6,
      .fallback_text = "the simulation's divided by 2.5",
      .doc = "Edge of the cells that the mesh is made from." },
    { "reach", WADI_SCENE_NUMBER, AT(reach), .flags = WADI_SCENE_ABOVE_MIN, .unit = "spacings",
      .minimum = 0.5, .maximum = 16, .fallback = { 2 },
      .doc = "Particles further away than this are not seen: R of ZB05." },
    { "radius", WADI_SCENE_NUMBER, AT(radius), .unit = "spacings", .minimum = 0.01, .maximum = 8,
      .fallback = { 1 }, .doc = "Distance of the surface from a particle alone: r of ZB05. Below `reach`." },
    { "offset", WADI_SCENE_NUMBER, AT(offset), .unit = "spacings", .minimum = -8, .maximum = 8,
      .fallback = { INFINITY },
      .fallback_text = "what keeps the volume of each frame: 0 to 0.38 with a `reach` of 2",
      .doc = "How far `zhu_bridson` is moved in; 0 is the paper's. A number leaves the volume as it comes "
             "out, of `anisotropic` too." },
    { "fix_concave", WADI_SCENE_BOOL, AT(fix_concave),
      .doc = "`zhu_bridson` without blobs in concave places (Solenthaler 2007)." },
    { "smoothing", WADI_SCENE_INT, AT(smoothing), .unit = "passes", .minimum = 0, .maximum = 10,
      .fallback = { 1 },
      .doc = "Passes of smoothing on the function, for a rough surface: p passes blur it over the root of "
             "p/3 cells. For "
             "more, `mesh_smoothing`." },
    { "lowering", WADI_SCENE_INT, AT(lowering), .unit = "passes", .minimum = 0, .maximum = 10,
      .doc = "Further passes that only add material: they fill dents and keep drops." },
    { "flatten", WADI_SCENE_NUMBER, AT(flatten), .unit = "spacings", .minimum = 0, .maximum = 16,
      .fallback = { 5 },
      .doc = "How far bumps are averaged where the surface is flat but for them; 0 leaves them." },
    { "mesh_smoothing", WADI_SCENE_INT, AT(mesh_smoothing), .unit = "passes", .minimum = 0, .maximum = 1000,
      .doc = "Passes of smoothing on the mesh; the volume stays." },
    { "walls", WADI_SCENE_ENUM, AT(walls), .choices = &walls_choices,
      .doc = "What becomes of the mesh at closed sides of the domain." },
    { "materials", WADI_SCENE_ENUM, AT(materials), .choices = &materials_choices,
      .doc = "Whether materials get meshes of their own." },
};
const WadiSceneObject wadi_scene_surface_object = {
    .name = "surface",
    .doc = "How `wadi surface` wraps particles into meshes; the simulation does not depend on it.",
    WADI_SCENE_FIELDS(surface_fields),
    .example = "{method: anisotropic, smoothing: 0, walls: open}",
};
