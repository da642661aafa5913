/* Keys of the sph solver's settings and their defaults. */
#include "sph/sph_settings.h"

#define AT(member) .offset = offsetof(WadiSphDef, member)

static const WadiSceneChoice frictions[] = {
    { "solve", WADI_SPH_FRICTION_SOLVE, "one global problem: piles come to rest" },
    { "zb05", WADI_SPH_FRICTION_ZB05, "the papers' rule of one particle at a time, with rigid clusters" },
};
WADI_SCENE_CHOICES(frictions);
static const WadiSceneChoice pressures[] = {
    { "solve", WADI_SPH_PRESSURE_SOLVE, "one problem for all particles: nothing is compressed" },
    { "tait", WADI_SPH_PRESSURE_TAIT,
      "an equation of state with a speed of sound, explicit: about 1 % compression, and many short steps" },
};
WADI_SCENE_CHOICES(pressures);

#define ADAPT_AT(member) .offset = offsetof(WadiSphAdaptDef, member)
#define NEAR_AT(member) .offset = offsetof(WadiSphAdaptDef, member), .minimum = -1, .maximum = 1e6

static const WadiSceneField near_fields[] = {
    { "surface", WADI_SCENE_NUMBER, NEAR_AT(surface), .unit = "spacings", .fallback = { 2 },
      .doc = "From the free surface, which is so drawn by the finest particles." },
    { "interface", WADI_SCENE_NUMBER, NEAR_AT(interface), .unit = "spacings", .fallback = { 2 },
      .doc = "From where sand meets water." },
    { "colliders", WADI_SCENE_NUMBER, NEAR_AT(colliders), .unit = "spacings", .fallback = { 2 },
      .doc = "From colliders; walls of the domain are none." },
    { "point", WADI_SCENE_VEC3, ADAPT_AT(at), .unit = "m", .minimum = -1e9, .maximum = 1e9,
      .doc = "A point of interest." },
    { "point_distance", WADI_SCENE_NUMBER, NEAR_AT(point), .unit = "m", .fallback = { -1 },
      .doc = "From `point`." },
    { "camera", WADI_SCENE_NUMBER, NEAR_AT(camera), .unit = "m", .fallback = { -1 },
      .doc = "From `render.camera`, where it is at the time." },
};
static const WadiSceneObject near_object = {
    .name = "near",
    .doc = "Distances within which particles are the finest; -1 turns a rule off.",
    WADI_SCENE_FIELDS(near_fields),
    .example = "{surface: 4, point: [0, 0, 0.5], point_distance: 0.2}",
};

static const WadiSceneField adapt_fields[] = {
    { "largest", WADI_SCENE_NUMBER, ADAPT_AT(largest), .unit = "spacings", .minimum = 1.26, .maximum = 4,
      .fallback = { 2 }, .doc = "Size of the largest particles; their mass is the third power of it." },
    { "split", WADI_SCENE_NUMBER, ADAPT_AT(split), .minimum = 0.1, .maximum = 100, .fallback = { 1 },
      .doc = "A particle is split where the body is thinner than this many of its supports." },
    { "merge", WADI_SCENE_NUMBER, ADAPT_AT(merge), .minimum = 0.1, .maximum = 1000, .fallback = { 1.5 },
      .doc = "Two are merged where it is thicker than this many; at least 1.26 times `split`." },
    { "interval", WADI_SCENE_INT, ADAPT_AT(interval), .unit = "steps", .minimum = 1, .maximum = 10000,
      .fallback = { 20 }, .doc = "Steps between resampling passes." },
    { "wait", WADI_SCENE_INT, ADAPT_AT(wait), .unit = "passes", .minimum = 1, .maximum = 100,
      .fallback = { 2 }, .doc = "An event is done once so many resampling passes in a row request it." },
    { "near", WADI_SCENE_OBJECT, .object = &near_object,
      .doc = "Where particles are the finest, however thick the body is." },
};
static const WadiSceneObject adapt_object = {
    .name = "adaptive",
    .doc = "Particle sizes that follow the body: fine where it is thin and near what is looked at, coarse "
           "inside. Particles are split and merged; mass, water and momentum stay.",
    WADI_SCENE_FIELDS(adapt_fields),
    .size = sizeof(WadiSphAdaptDef),
    .example = "{largest: 2}",
};

static const WadiSceneField sph_fields[] = {
    { "pressure", WADI_SCENE_ENUM, AT(pressure), .choices = &pressures_choices,
      .fallback = { WADI_SPH_PRESSURE_SOLVE }, .doc = "How the pressure is found." },
    { "tolerance", WADI_SCENE_NUMBER, AT(tolerance), .minimum = 1e-8, .maximum = 1, .fallback = { 2e-2 },
      .doc = "Error of the pressure solve: rate of compression that is left, over what gravity adds in the "
             "longest step." },
    { "pressure_iterations", WADI_SCENE_INT, AT(pressure_iterations), .minimum = 1, .maximum = 100000,
      .fallback = { 100 }, .doc = "At most so many iterations of the pressure a solve." },
    { "friction", WADI_SCENE_ENUM, AT(friction), .choices = &frictions_choices,
      .doc = "Friction inside sand." },
    { "friction_iterations", WADI_SCENE_INT, AT(friction_iterations), .minimum = 1, .maximum = 100000,
      .fallback = { 4 }, .doc = "At most so many iterations of `solve` a round." },
    { "friction_rounds", WADI_SCENE_INT, AT(friction_rounds), .minimum = 1, .maximum = 100, .fallback = { 1 },
      .doc = "Rounds of friction and pressure a step." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Sand and pools of water at rest are left out of the step until something disturbs them." },
    { "cfl", WADI_SCENE_NUMBER, AT(cfl), .unit = "spacings", .minimum = 1e-3, .maximum = 10,
      .fallback = { 0.4 }, .doc = "No particle moves farther in a step." },
    { "step", WADI_SCENE_NUMBER, AT(step), .unit = "√(dx/g)", .minimum = 1e-3, .maximum = 1000,
      .fallback = { 0.1 }, .doc = "No step is longer." },
    { "density_rate", WADI_SCENE_NUMBER, AT(density_rate), .minimum = 0, .maximum = 1, .fallback = { 0.5 },
      .doc = "Part of the excess density that a step removes." },
    { "density_speed", WADI_SCENE_NUMBER, AT(density_speed), .unit = "√(g dx)", .minimum = 0, .maximum = 10,
      .fallback = { 0.5 }, .doc = "Over-dense particles separate no faster than this." },
    { "damping", WADI_SCENE_NUMBER, AT(damping), .unit = "dx √(g dx)", .minimum = 0, .maximum = 1,
      .fallback = { 0.05 },
      .doc = "Kinematic viscosity between particles, without friction at walls: lets water come to rest." },
    { "adaptive", WADI_SCENE_OBJECT, AT(adapt), .object = &adapt_object,
      .presence = offsetof(WadiSphDef, is_adaptive), .fallback_text = "all particles have one size",
      .doc = "Particles of different sizes; `{}` for the defaults." },
};
const WadiSceneObject wadi_sph_settings = {
    .name = "sph",
    .doc = "Settings of the solver `sph`. dx is the distance between particles, g the largest gravity of the "
           "scene, or 9.81 m/s² where there is none.",
    WADI_SCENE_FIELDS(sph_fields),
    .size = sizeof(WadiSphDef),
    .example = "{tolerance: 1e-4}",
};
