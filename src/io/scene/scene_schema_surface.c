/* Keys for what is made of finished frames: surfaces, foam and dust. None changes the simulation. */
#include <math.h>

#include "io/scene/scene_schema.h"
#include "world/scene.h"

#define AT(member) .offset = offsetof(WadiScene, surface.member)

static const WadiSceneChoice methods[] = {
    { "zhu_bridson", WADI_SURFACE_KEY_ZHU_BRIDSON, "the distance from averaged positions, as in ZB05" },
    { "anisotropic", WADI_SURFACE_KEY_ANISOTROPIC,
      "ellipsoids that follow the surface: flatter, at more cost" },
    { "blobby", WADI_SURFACE_KEY_BLOBBY, "sum of kernels, to compare with" },
    { "mls", WADI_SURFACE_KEY_MLS, "moving least squares of planes, without smoothing on a grid" },
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
      .doc = "Edge of the cells from which the mesh is made." },
    { "reach", WADI_SCENE_NUMBER, AT(reach), .flags = WADI_SCENE_ABOVE_MIN, .unit = "spacings",
      .minimum = 0.5, .maximum = 16, .fallback = { 2 },
      .doc = "Radius of the kernel; particles farther away have no influence: R of ZB05." },
    { "radius", WADI_SCENE_NUMBER, AT(radius), .unit = "spacings", .minimum = 0.01, .maximum = 8,
      .fallback = { 1 },
      .doc = "Distance of the surface from an isolated particle: r of ZB05. Less than `reach`." },
    { "offset", WADI_SCENE_NUMBER, AT(offset), .unit = "spacings", .minimum = -8, .maximum = 8,
      .fallback = { INFINITY }, .fallback_text = "conserves volume",
      .doc = "Inward displacement of the surface; 0 is the paper's. With a number volume is not corrected." },
    { "fix_concave", WADI_SCENE_BOOL, AT(fix_concave),
      .doc = "`zhu_bridson` without blobs in concave regions (Solenthaler 2007)." },
    { "smoothing", WADI_SCENE_INT, AT(smoothing), .unit = "passes", .minimum = 0, .maximum = 10,
      .fallback = { WADI_SURFACE_AUTO_PASSES }, .fallback_text = "1; with `mls` 0",
      .doc = "Passes of smoothing on the function; p passes blur over √(p/3) cells." },
    { "lowering", WADI_SCENE_INT, AT(lowering), .unit = "passes", .minimum = 0, .maximum = 10,
      .doc = "Further passes that only add material." },
    { "flatten", WADI_SCENE_NUMBER, AT(flatten), .unit = "spacings", .minimum = 0, .maximum = 16,
      .fallback = { INFINITY }, .fallback_text = "5; with `mls` 0",
      .doc = "Radius over which bumps of nearly flat surfaces are averaged; 0: off." },
    { "mesh_smoothing", WADI_SCENE_INT, AT(mesh_smoothing), .unit = "passes", .minimum = 0, .maximum = 1000,
      .doc = "Passes of smoothing on the mesh; the volume is conserved." },
    { "walls", WADI_SCENE_ENUM, AT(walls), .choices = &walls_choices,
      .doc = "Treatment of the mesh at closed sides of the domain." },
    { "materials", WADI_SCENE_ENUM, AT(materials), .choices = &materials_choices,
      .doc = "Whether each material has a separate mesh." },
};
const WadiSceneObject wadi_scene_surface_object = {
    .name = "surface",
    .doc = "How `wadi surface` makes meshes from particles; the simulation does not depend on it.",
    WADI_SCENE_FIELDS(surface_fields),
    .example = "{method: anisotropic, smoothing: 0, walls: open}",
};

#define SECONDARY_AT(member) .offset = offsetof(WadiScene, secondary.member)

static const WadiSceneField secondary_fields[] = {
    { "amount", WADI_SCENE_NUMBER, SECONDARY_AT(amount), .minimum = 0, .maximum = 1e4, .fallback = { 1 },
      .doc = "Of foam, spray and bubbles; with 1 the wildest surface makes 30 % of its volume a second." },
    { "dust", WADI_SCENE_NUMBER, SECONDARY_AT(dust), .minimum = 0, .maximum = 1e4, .fallback = { 1 },
      .doc = "Of dust, where dry sand hits hard." },
    { "size", WADI_SCENE_NUMBER, SECONDARY_AT(size), .unit = "m", .minimum = 1e-7, .maximum = 1e3,
      .fallback_text = "a quarter of the particles' spacing",
      .doc = "Diameter; half of it makes eight times as many." },
    { "life", WADI_SCENE_NUMBER, SECONDARY_AT(life), .flags = WADI_SCENE_ABOVE_MIN, .unit = "s", .minimum = 0,
      .maximum = 1e4, .fallback = { 3 }, .doc = "Mean life of foam. Bubbles and spray do not age." },
    { "dust_life", WADI_SCENE_NUMBER, SECONDARY_AT(dust_life), .flags = WADI_SCENE_ABOVE_MIN, .unit = "s",
      .minimum = 0, .maximum = 1e4, .fallback = { 2 }, .doc = "Mean time that dust lasts." },
    { "slow", WADI_SCENE_NUMBER, SECONDARY_AT(slow), .unit = "m/s", .minimum = 0, .maximum = 1e4,
      .fallback = { -1 }, .fallback_text = "0.2 √(g L) in a domain of the volume L³, 0.23 to 1; 1 for dust",
      .doc = "Material slower than this makes none." },
    { "fast", WADI_SCENE_NUMBER, SECONDARY_AT(fast), .flags = WADI_SCENE_ABOVE_MIN, .unit = "m/s",
      .minimum = 0, .maximum = 1e4, .fallback = { -1 }, .fallback_text = "four times `slow`",
      .doc = "Faster material makes no more. Above `slow`." },
    { "rise", WADI_SCENE_NUMBER, SECONDARY_AT(rise), .unit = "m/s", .minimum = 0, .maximum = 100,
      .fallback = { 0.25 }, .doc = "Speed at which bubbles rise in still water." },
    { "drying", WADI_SCENE_NUMBER, SECONDARY_AT(drying), .flags = WADI_SCENE_ABOVE_MIN, .unit = "s",
      .minimum = 0, .maximum = 1e6, .fallback = { 60 },
      .doc = "Time in which sand dries, where the solver has no water inside sand." },
    { "grains", WADI_SCENE_INT, SECONDARY_AT(grains), .unit = "a particle", .minimum = 0, .maximum = 64,
      .doc = "Fine grains that the sand carries, drawn instead of its surface; LD09 has 10. 0: none." },
};
const WadiSceneObject wadi_scene_secondary_object = {
    .name = "secondary",
    .doc = "How `wadi secondary` makes foam, spray, bubbles, dust, wet sand and fine grains; the simulation "
           "does not depend on it.",
    WADI_SCENE_FIELDS(secondary_fields),
    .example = "{amount: 2, size: 0.004, life: 5}",
};
