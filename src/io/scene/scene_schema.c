#include "io/scene/scene_schema.h"

#include <math.h>

#include "sim/solvers.h"

#define AT(type, member) .offset = offsetof(type, member)
#define LIST_AT(type, member, count) .offset = offsetof(type, member), .count_offset = offsetof(type, count)
#define NONE_INFINITE .fallback = { INFINITY }, .fallback_text = "none"

/* Limits of what single precision and run time allow. Values that must be positive also have a smallest
 * value: dividing by less overflows. */
#define POSITION .unit = "m", .minimum = -1e6, .maximum = 1e6
#define VELOCITY .unit = "m/s", .minimum = -1e5, .maximum = 1e5
#define ACCELERATION .unit = "m/s^2", .minimum = -1e5, .maximum = 1e5
#define TIME .unit = "s", .minimum = 0, .maximum = 1e6
#define FRICTION .minimum = 0, .maximum = 100
#define FRACTION .minimum = 0, .maximum = 1

enum {
    REQUIRED = WADI_SCENE_REQUIRED,
    KEYED = WADI_SCENE_KEYFRAMES,
    BELOW_MAX = WADI_SCENE_BELOW_MAX,
    NO_EFFECT = WADI_SCENE_NO_EFFECT,
};

#define SOLVER_CHOICE(name, summary) { #name, 0, summary },
static const WadiSceneChoice solvers[] = { WADI_SOLVERS(SOLVER_CHOICE, SOLVER_CHOICE, SOLVER_CHOICE) };
#define TRANSFER "a transfer of the solver flip: materials: {sand: {…, transfer: "
static const WadiSceneChoice other_solvers[] = {
    { "pic", 0, TRANSFER "pic}}" },
    { "apic", 0, TRANSFER "apic}}" },
    { "mpm", 0, "flip is particles and a grid, with sand and water" },
    { "dfsph", 0, "sph is smoothed particles that are not compressed" },
    { "wcsph", 0, "sph is smoothed particles; sph: {pressure: tait} is the weakly compressible way" },
    { "pbd", 0, "dem is single grains, flip is sand and water in bulk" },
};
static const WadiSceneChoices solvers_choices = {
    .list = solvers,
    .count = WADI_SCENE_COUNT(solvers, WADI_SCENE_CHOICE_MAX),
    .hints = other_solvers,
    .hint_count = WADI_SCENE_COUNT(other_solvers, WADI_SCENE_CHOICE_MAX),
};

static const WadiSceneChoice per_cell[] = {
    { "1", 1, "" }, { "8", 2, "" }, { "27", 3, "" }, { "64", 4, "" }
};
static const WadiSceneChoices per_cell_choices = { .list = per_cell,
                                                   .count = WADI_SCENE_COUNT(per_cell, WADI_SCENE_CHOICE_MAX),
                                                   .is_numbers = true };

static const WadiSceneChoice sides[] = {
    { "x_min", WADI_SIDE_X_MIN, "" }, { "x_max", WADI_SIDE_X_MAX, "" }, { "y_min", WADI_SIDE_Y_MIN, "" },
    { "y_max", WADI_SIDE_Y_MAX, "" }, { "z_min", WADI_SIDE_Z_MIN, "" }, { "z_max", WADI_SIDE_Z_MAX, "" },
};
static const WadiSceneChoice other_sides[] = {
    { "top", 0, "the top is z_max" },
    { "bottom", 0, "the bottom is z_min" },
    { "left", 0, "sides are x_min, x_max, y_min, y_max" },
    { "right", 0, "sides are x_min, x_max, y_min, y_max" },
    { "all", 0, "all is [x_min, x_max, y_min, y_max, z_min, z_max]" },
};
static const WadiSceneChoices sides_choices = {
    .list = sides,
    .count = WADI_SCENE_COUNT(sides, WADI_SCENE_CHOICE_MAX),
    .hints = other_sides,
    .hint_count = WADI_SCENE_COUNT(other_sides, WADI_SCENE_CHOICE_MAX),
};

static const WadiSceneChoice materials[] = {
    { "sand", WADI_MATERIAL_SAND, "grains that hold a slope up to their friction angle" },
    { "water", WADI_MATERIAL_WATER, "an incompressible liquid" },
};
#define THICK_LIQUID(numbers) "a liquid is water with a viscosity: {kind: water, " numbers "}"
#define GRAINS(numbers) "grains are sand: {kind: sand, " numbers "}"
static const WadiSceneChoice other_materials[] = {
    { "honey", 0, THICK_LIQUID("density: 1400, viscosity: 10") },
    { "syrup", 0, THICK_LIQUID("density: 1350, viscosity: 3") },
    { "oil", 0, THICK_LIQUID("density: 920, viscosity: 0.08") },
    { "lava", 0, THICK_LIQUID("density: 2700, viscosity: 500") },
    { "chocolate", 0, THICK_LIQUID("density: 1300, viscosity: 5") },
    { "milk", 0, THICK_LIQUID("density: 1030, viscosity: 0.002") },
    { "mud", 0,
      "mud is sand full of water with the solver sph (saturation: 1 in its body), or {kind: water, "
      "density: 1800, viscosity: 50}" },
    { "gravel", 0, GRAINS("grain_size: 0.01, friction_angle: 38, look: {preset: gravel}") },
    { "soil", 0, GRAINS("density: 1300, friction_angle: 33, cohesion: 500") },
    { "dirt", 0, GRAINS("density: 1300, friction_angle: 33, cohesion: 500") },
    { "snow", 0, GRAINS("density: 300, friction_angle: 40, cohesion: 500, look: {preset: sugar}") },
    { "granular", 0, GRAINS("friction_angle: 35") },
    { "fluid", 0, "a liquid is {kind: water}" },
    { "liquid", 0, "a liquid is {kind: water}" },
};
static const WadiSceneChoices materials_choices = {
    .list = materials,
    .count = WADI_SCENE_COUNT(materials, WADI_SCENE_CHOICE_MAX),
    .hints = other_materials,
    .hint_count = WADI_SCENE_COUNT(other_materials, WADI_SCENE_CHOICE_MAX),
};

static const WadiSceneChoice transfers[] = {
    { "flip", WADI_TRANSFER_FLIP, "changes of the grid's velocities, with a little of `pic`" },
    { "pic", WADI_TRANSFER_PIC, "the grid's velocities themselves: smooth and damped" },
    { "apic", WADI_TRANSFER_APIC, "the grid's velocities and their gradients: keeps rotation" },
};
WADI_SCENE_CHOICES(transfers);

static const WadiSceneChoice yields[] = {
    { "tan", WADI_YIELD_TAN, "the friction angle is the angle of repose" },
    { "plane", WADI_YIELD_PLANE, "Mohr-Coulomb in plane strain" },
    { "zb05", WADI_YIELD_ZB05, "the sliding rule of ZB05" },
    { "triaxial", WADI_YIELD_TRIAXIAL, "Mohr-Coulomb matched in triaxial compression" },
};
WADI_SCENE_CHOICES(yields);

static const WadiSceneChoice snaps[] = {
    { "none", WADI_SNAP_NONE, "leave them where they are" },
    { "zb05", WADI_SNAP_ZB05, "move those within a cell of the free surface to a depth of half a cell" },
    { "layer", WADI_SNAP_LAYER, "move the outermost layer only, to a depth of half a spacing" },
};
WADI_SCENE_CHOICES(snaps);

static const WadiSceneChoice forces[] = {
    { "uniform", WADI_FORCE_UNIFORM, "the same acceleration everywhere" },
    { "drag", WADI_FORCE_DRAG, "pulls velocities towards that of a wind" },
    { "point", WADI_FORCE_POINT, "attracts to a point, or pushes away from it" },
};
static const WadiSceneChoice other_forces[] = {
    { "wind", 0, "a wind is {kind: drag, velocity: [3, 0, 0], rate: 2}" },
    { "gravity", 0, "'gravity' is a key of the scene itself" },
};
static const WadiSceneChoices forces_choices = {
    .list = forces,
    .count = WADI_SCENE_COUNT(forces, WADI_SCENE_CHOICE_MAX),
    .hints = other_forces,
    .hint_count = WADI_SCENE_COUNT(other_forces, WADI_SCENE_CHOICE_MAX),
};

static const WadiSceneField wall_fields[] = {
    { "friction", WADI_SCENE_CURVE1, AT(WadiScene, wall_friction), .flags = KEYED, FRICTION,
      .fallback = { 0.5 }, .where = offsetof(WadiScene, where_wall_friction),
      .doc = "Coulomb friction coefficient of the walls." },
    { "restitution", WADI_SCENE_CURVE1, AT(WadiScene, wall_restitution), .flags = KEYED, FRACTION,
      .doc = "Fraction of the normal velocity after a bounce off a wall." },
    { "open", WADI_SCENE_BITS_OFF, AT(WadiScene, closed_sides), .fallback = { WADI_SIDE_ALL },
      .fallback_text = "all closed", .choices = &sides_choices,
      .doc = "Sides without a wall. Particles that leave are removed and counted as drained, also at the "
             "top; those poured outside may enter." },
};
static const WadiSceneObject wall_object = {
    .name = "walls",
    .doc = "The sides of the domain, with the same numbers as a collider.",
    WADI_SCENE_FIELDS(wall_fields),
    .example = "{friction: 0.6, open: [z_max]}",
};

static const WadiSceneField domain_fields[] = {
    { "min", WADI_SCENE_VEC3, AT(WadiScene, domain.min), .flags = REQUIRED, POSITION,
      .doc = "Corner with the smallest coordinates." },
    { "max", WADI_SCENE_VEC3, AT(WadiScene, domain.max), .flags = REQUIRED, POSITION,
      .doc = "Corner with the largest coordinates." },
    { "walls", WADI_SCENE_OBJECT, .object = &wall_object, .fallback_text = "closed",
      .doc = "How the sides behave." },
};
const WadiSceneObject wadi_scene_domain_object = {
    .name = "domain",
    .doc = "The box that the simulation happens in. Without it space has no end.",
    WADI_SCENE_FIELDS(domain_fields),
    .example = "{min: [0, 0, 0], max: [1, 0.6, 0.6], walls: {friction: 0.6}}",
};

#define SAND_ONLY .kinds = 1u << WADI_MATERIAL_SAND
#define PORES_ONLY SAND_ONLY, .where = offsetof(WadiMaterial, where_pores)
#define PORES(member)                                                                                        \
    WADI_SCENE_NUMBER, AT(WadiMaterial, pores.member), .flags = WADI_SCENE_HASH_IF_CHANGED, PORES_ONLY
static const WadiSceneField material_fields[] = {
    { "kind", WADI_SCENE_ENUM, AT(WadiMaterial, kind), .flags = REQUIRED, .choices = &materials_choices,
      .doc = "What it is." },
    { "density", WADI_SCENE_NUMBER, AT(WadiMaterial, density), .unit = "kg/m^3", .minimum = 1e-3,
      .maximum = 1e5, .fallback_text = "1600 for sand, 1000 for water",
      .where = offsetof(WadiMaterial, where_density),
      .doc = "Mass of a cubic metre in bulk, pores included." },
    { "friction_angle", WADI_SCENE_CURVE1, AT(WadiMaterial, friction_angle), .flags = KEYED | BELOW_MAX,
      .unit = "degrees", .minimum = 0, .maximum = 90, .fallback = { 35 }, SAND_ONLY,
      .where = offsetof(WadiMaterial, where_friction_angle),
      .doc = "Internal friction: about the steepest slope at which a dry pile rests." },
    { "yield", WADI_SCENE_ENUM, AT(WadiMaterial, yield), .choices = &yields_choices, SAND_ONLY,
      .doc = "How the friction angle bounds the stress." },
    { "cohesion", WADI_SCENE_CURVE1, AT(WadiMaterial, cohesion), .flags = KEYED, .unit = "Pa", .minimum = 0,
      .maximum = 1e7, SAND_ONLY, .doc = "Strength without pressure: 0 for dry sand, 1000 for moist." },
    { "tensile_strength", WADI_SCENE_NUMBER, AT(WadiMaterial, tensile_strength),
      .flags = WADI_SCENE_HASH_IF_CHANGED, .unit = "Pa", .minimum = 0, .maximum = 1e7, .fallback = { -1 },
      .fallback_text = "min(c, c/k) of the yield law σ̄ ≤ k p + c", SAND_ONLY,
      .doc = "Isotropic tension that cohesive sand bears. Parted sand bears none until it is pressed "
             "together again." },
    { "friction_angle_fast", WADI_SCENE_NUMBER, AT(WadiMaterial, friction_angle_fast), .flags = BELOW_MAX,
      .unit = "degrees", .minimum = 0, .maximum = 90, .fallback_text = "as `friction_angle`", SAND_ONLY,
      .doc = "Internal friction of sand that shears fast." },
    { "grain_size", WADI_SCENE_NUMBER, AT(WadiMaterial, grain_size), .unit = "m", .minimum = 1e-9,
      .maximum = 1, .fallback = { 0.0004 }, SAND_ONLY,
      .doc = "Diameter of grains, for pictures and for `friction_angle_fast`." },
    { "viscosity", WADI_SCENE_CURVE1, AT(WadiMaterial, viscosity), .flags = KEYED, .unit = "Pa s",
      .minimum = 0, .maximum = 1e7, .doc = "Water 0.001, honey 10, mud 10 to 1000; 0 costs nothing." },
    { "surface_tension", WADI_SCENE_CURVE1, AT(WadiMaterial, surface_tension), .flags = KEYED, .unit = "N/m",
      .minimum = 0, .maximum = 100, .kinds = 1u << WADI_MATERIAL_WATER,
      .doc = "Water 0.072; matters below a centimetre." },
    { "transfer", WADI_SCENE_ENUM, AT(WadiMaterial, transfer), .choices = &transfers_choices,
      .where = offsetof(WadiMaterial, where_transfer),
      .doc = "How the solver `flip` transfers velocities from the grid to particles." },
    { "flip_share", WADI_SCENE_NUMBER, AT(WadiMaterial, flip_fraction), FRACTION, .fallback = { -1 },
      .fallback_text = "exp(−0.01 s / T), T = 8 √(dx/g) for water, 2 √(dx/g) for sand",
      .doc = "Fraction of `flip` left after a hundredth of a second; the remainder is `pic`." },
    { "porosity", PORES(porosity), .minimum = 0.05, .maximum = 0.95, .fallback = { 0.4 },
      .doc = "Volume of the pores over the bulk volume." },
    { "permeability", PORES(permeability), .unit = "m^2", .minimum = 0, .maximum = 1e-3, .fallback = { 1e-9 },
      .doc = "Darcy permeability: fine sand 1e-11, gravel 1e-8; 0: takes no water." },
    { "capillary_pressure", PORES(capillary_pressure), .unit = "Pa", .minimum = 0, .maximum = 1e6,
      .fallback = { 1000 },
      .doc = "Suction of dry sand. Water rises by this over its weight: 1000 Pa lift it 0.1 m." },
    { "capillary_exponent", PORES(capillary_exponent), .minimum = 0.1, .maximum = 2, .fallback = { 0.5 },
      .doc = "The suction falls as (1 − saturation) to this power." },
    { "flow_exponent", PORES(flow_exponent), .minimum = 1, .maximum = 10, .fallback = { 3 },
      .doc = "The permeability rises as the saturation to this power." },
    { "ideal_saturation", PORES(ideal_saturation), .minimum = 0.01, .maximum = 0.99, .fallback = { 0.4 },
      .doc = "Where wet sand coheres best; with more water it turns to mud." },
    { "cohesion_wet", PORES(cohesion_wet), .unit = "Pa", .minimum = 0, .maximum = 1e7, .fallback = { 1000 },
      .doc = "Cohesion at `ideal_saturation`; dry sand has `cohesion`, mud none." },
    { "mud_viscosity", PORES(mud_viscosity), .unit = "Pa s", .minimum = 0, .maximum = 1e7, .fallback = { 5 },
      .doc = "Viscosity of saturated sand; 0 at `ideal_saturation` and below." },
    { "residual_friction", PORES(residual_friction), .minimum = 0, .maximum = 1, .fallback = { 0.2 },
      .doc = "Friction of saturated sand over that of sand at `ideal_saturation`." },
    { "stickiness", PORES(stickiness), .unit = "1/s²", .minimum = 0, .maximum = 1e6,
      .doc = "Pull of solids on sand within a spacing, at `ideal_saturation`." },
    { "evaporation", PORES(evaporation), .unit = "1/s", .minimum = 0, .maximum = 1e3,
      .doc = "Saturation that a lone grain loses in a second; within the bulk nothing dries." },
    { "look", WADI_SCENE_OBJECT, .flags = NO_EFFECT, .object = &wadi_scene_look_object,
      .fallback_text = "the defaults", .doc = "How it is drawn." },
};
const WadiSceneObject wadi_scene_material_object = {
    .name = "material",
    .doc = "What bodies and emitters are made of. The key is the material's name.",
    WADI_SCENE_FIELDS(material_fields),
    .size = sizeof(WadiMaterial),
    .where = offsetof(WadiMaterial, where),
    .name_offset = offsetof(WadiMaterial, name),
    .example = "sand: {kind: sand, density: 1600, friction_angle: 35}",
};

static const WadiSceneField body_fields[] = {
    { "material", WADI_SCENE_TEXT, AT(WadiBodyDef, material_name), .flags = REQUIRED,
      .doc = "Name of a material." },
    { "shape", WADI_SCENE_SHAPE, AT(WadiBodyDef, shape), .flags = REQUIRED,
      .doc = "What is filled with particles at time 0; keyframes are taken at time 0." },
    { "velocity", WADI_SCENE_VEC3, AT(WadiBodyDef, velocity), VELOCITY, .doc = "Velocity at time 0." },
    { "angular_velocity", WADI_SCENE_VEC3, AT(WadiBodyDef, angular_velocity), .unit = "rad/s",
      .minimum = -1e5, .maximum = 1e5,
      .doc = "Rotation at time 0 about the centre of the shape's bounding box." },
    { "jitter", WADI_SCENE_NUMBER, AT(WadiBodyDef, jitter), FRACTION, .fallback = { 1 },
      .doc = "Random displacement from a lattice; 1: anywhere in their part of the cell. `sph` takes a "
             "tenth, `dem` half." },
    { "snap", WADI_SCENE_ENUM, AT(WadiBodyDef, snap), .choices = &snaps_choices,
      .fallback = { WADI_SNAP_ZB05 },
      .doc = "What happens to particles near the free surface. The solver `sph` takes `zb05` for `none`." },
    { "saturation", WADI_SCENE_NUMBER, AT(WadiBodyDef, saturation), .flags = WADI_SCENE_HASH_IF_CHANGED,
      FRACTION, .where = offsetof(WadiBodyDef, where_saturation),
      .doc = "Of sand: part of its pores that is full of water at time 0." },
    { "sculpture", WADI_SCENE_BOOL, AT(WadiBodyDef, is_sculpture), .flags = NO_EFFECT,
      .doc = "Moist sand that keeps its shape: `saturation` defaults to `ideal_saturation`, `snap` to "
             "`layer`." },
};
const WadiSceneObject wadi_scene_body_object = {
    .name = "body",
    .doc = "Sand or water that exists from the beginning.",
    WADI_SCENE_FIELDS(body_fields),
    .size = sizeof(WadiBodyDef),
    .where = offsetof(WadiBodyDef, where),
    .example = "- {material: sand, shape: {box: {min: [0, 0, 0], max: [0.25, 0.6, 0.36]}}}",
};

static const WadiSceneField collider_fields[] = {
    { "name", WADI_SCENE_NAME, AT(WadiColliderDef, name), .flags = NO_EFFECT, .fallback_text = "none",
      .doc = "A name for messages and exports." },
    { "shape", WADI_SCENE_SHAPE, AT(WadiColliderDef, shape), .flags = REQUIRED,
      .doc = "The solid; keyframe its numbers or transform to move it." },
    { "friction", WADI_SCENE_CURVE1, AT(WadiColliderDef, friction), .flags = KEYED, FRICTION,
      .fallback = { 0.5 }, .doc = "Coulomb friction coefficient." },
    { "restitution", WADI_SCENE_CURVE1, AT(WadiColliderDef, restitution), .flags = KEYED, FRACTION,
      .doc = "Fraction of the normal velocity after a bounce." },
    { "look", WADI_SCENE_OBJECT, .flags = NO_EFFECT, .object = &wadi_scene_solid_look_object,
      .presence = offsetof(WadiColliderDef, look.is_given), .fallback_text = "the defaults",
      .doc = "How it is drawn." },
};
static const WadiSceneObject collider_object = {
    .name = "collider",
    .doc = "A solid that pushes particles.",
    WADI_SCENE_FIELDS(collider_fields),
    .size = sizeof(WadiColliderDef),
    .where = offsetof(WadiColliderDef, where),
    .example = "- {name: paddle, shape: {sphere: {radius: 0.1}, translate: {keys: [[0, [0, 0, 0]], [2, [1, "
               "0, 0]]]}}}",
};

static const WadiSceneField emitter_fields[] = {
    { "material", WADI_SCENE_TEXT, AT(WadiEmitterDef, material_name), .flags = REQUIRED,
      .doc = "Name of a material." },
    { "shape", WADI_SCENE_SHAPE, AT(WadiEmitterDef, shape), .flags = REQUIRED,
      .doc = "Where particles appear." },
    { "velocity", WADI_SCENE_CURVE3, AT(WadiEmitterDef, velocity), .flags = KEYED, VELOCITY,
      .doc = "Velocity they appear with." },
    { "rate", WADI_SCENE_CURVE1, AT(WadiEmitterDef, rate), .flags = REQUIRED | KEYED, .unit = "m^3/s",
      .minimum = 0, .maximum = 1e6, .doc = "Bulk volume that pours." },
    { "start", WADI_SCENE_NUMBER, AT(WadiEmitterDef, start), TIME, .doc = "When it begins." },
    { "end", WADI_SCENE_NUMBER, AT(WadiEmitterDef, end), TIME, NONE_INFINITE, .doc = "When it ends." },
    { "max_particles", WADI_SCENE_WHOLE, AT(WadiEmitterDef, max_particles), .minimum = 1, .maximum = 1e12,
      NONE_INFINITE, .doc = "It ends after this number of particles." },
    { "saturation", WADI_SCENE_NUMBER, AT(WadiEmitterDef, saturation), .flags = WADI_SCENE_HASH_IF_CHANGED,
      FRACTION, .where = offsetof(WadiEmitterDef, where_saturation),
      .doc = "Of sand: part of its pores that is full of water." },
};
const WadiSceneObject wadi_scene_emitter_object = {
    .name = "emitter",
    .doc = "Pours a material into the scene.",
    WADI_SCENE_FIELDS(emitter_fields),
    .size = sizeof(WadiEmitterDef),
    .where = offsetof(WadiEmitterDef, where),
    .example = "- {material: sand, shape: {sphere: {center: [0, 0, 1], radius: 0.1}}, velocity: [0, 0, -1], "
               "rate: 0.001}",
};

static const WadiSceneField drain_fields[] = {
    { "shape", WADI_SCENE_SHAPE, AT(WadiDrainDef, shape), .flags = REQUIRED,
      .doc = "Particles inside are removed." },
    { "start", WADI_SCENE_NUMBER, AT(WadiDrainDef, start), TIME, .doc = "When it begins." },
    { "end", WADI_SCENE_NUMBER, AT(WadiDrainDef, end), TIME, NONE_INFINITE, .doc = "When it ends." },
};
const WadiSceneObject wadi_scene_drain_object = {
    .name = "drain",
    .doc = "Removes particles.",
    WADI_SCENE_FIELDS(drain_fields),
    .size = sizeof(WadiDrainDef),
    .where = offsetof(WadiDrainDef, where),
    .example = "- {shape: {half_space: {point: [0, 0, -1]}}}",
};

#define UNIFORM .kinds = 1u << WADI_FORCE_UNIFORM
#define DRAG .kinds = 1u << WADI_FORCE_DRAG
#define POINT .kinds = 1u << WADI_FORCE_POINT
static const WadiSceneField force_fields[] = {
    { "kind", WADI_SCENE_ENUM, AT(WadiForceDef, kind), .flags = REQUIRED, .choices = &forces_choices,
      .doc = "Which force." },
    { "acceleration", WADI_SCENE_CURVE3, AT(WadiForceDef, acceleration), .flags = REQUIRED | KEYED,
      ACCELERATION, UNIFORM, .doc = "Added to gravity." },
    { "velocity", WADI_SCENE_CURVE3, AT(WadiForceDef, velocity), .flags = KEYED, VELOCITY, DRAG,
      .doc = "Of the wind." },
    { "rate", WADI_SCENE_CURVE1, AT(WadiForceDef, rate), .flags = REQUIRED | KEYED, .unit = "1/s",
      .minimum = 0, .maximum = 1e6, DRAG, .doc = "How fast velocities approach the wind's." },
    { "center", WADI_SCENE_CURVE3, AT(WadiForceDef, center), .flags = KEYED, POSITION, POINT,
      .doc = "The point." },
    { "strength", WADI_SCENE_CURVE1, AT(WadiForceDef, strength), .flags = REQUIRED | KEYED, ACCELERATION,
      POINT, .doc = "Acceleration towards the point within `radius`; negative pushes away." },
    { "radius", WADI_SCENE_NUMBER, AT(WadiForceDef, radius), .unit = "m", .minimum = 1e-6, .maximum = 1e6,
      .fallback = { 1 }, POINT, .doc = "Beyond it the force falls as the square of distance." },
    { "region", WADI_SCENE_SHAPE_NEW, AT(WadiForceDef, region), .fallback_text = "everywhere",
      .doc = "Only particles inside this shape feel the force." },
    { "start", WADI_SCENE_NUMBER, AT(WadiForceDef, start), TIME, .doc = "When it begins." },
    { "end", WADI_SCENE_NUMBER, AT(WadiForceDef, end), TIME, NONE_INFINITE, .doc = "When it ends." },
};
const WadiSceneObject wadi_scene_force_object = {
    .name = "force",
    .doc = "Acts on particles besides gravity.",
    WADI_SCENE_FIELDS(force_fields),
    .size = sizeof(WadiForceDef),
    .where = offsetof(WadiForceDef, where),
    .example = "- {kind: drag, velocity: [3, 0, 0], rate: 2}",
};

/* Expanded for each solver with settings: its table, and the scene key for it. */
#define NO_SETTINGS(name, summary)
#define SETTINGS_OBJECT(name, summary) , &wadi_##name##_settings
/* Versions of clang-format disagree on lists in a macro. */
/* clang-format off */
#define SETTINGS_KEY(name, summary)                                                                          \
    , { #name, WADI_SCENE_SETTINGS,                                                                          \
        .offset = offsetof(WadiScene, solver_settings) + WADI_SOLVER_##name * sizeof(void *),                \
        .object = &wadi_##name##_settings, .fallback_text = "the defaults",                                  \
        .doc = "Settings of the solver `" #name "`." }
/* clang-format on */

static const WadiSceneField scene_fields[] = {
    { "wadi", WADI_SCENE_INT, AT(WadiScene, version), .flags = REQUIRED | NO_EFFECT,
      .minimum = WADI_SCENE_VERSION, .maximum = WADI_SCENE_VERSION,
      .doc = "Version of the scene language; this is version 1." },
    { "name", WADI_SCENE_NAME, AT(WadiScene, name), .flags = NO_EFFECT, .fallback_text = "the file's stem",
      .doc = "Prefix of the frame files." },
    { "solver", WADI_SCENE_TEXT, AT(WadiScene, solver), .flags = REQUIRED, .choices = &solvers_choices,
      .where = offsetof(WadiScene, where_solver), .doc = "The method." },
    { "domain", WADI_SCENE_OBJECT, .object = &wadi_scene_domain_object,
      .presence = offsetof(WadiScene, has_domain), .fallback_text = "none: space has no end",
      .doc = "The box that the simulation happens in." },
    { "resolution", WADI_SCENE_INT, AT(WadiScene, resolution), .flags = NO_EFFECT, .unit = "cells",
      .minimum = 1, .maximum = 100000, .fallback_text = "none",
      .doc = "Cells along the longest side of the domain; give this or `cell_size`." },
    { "cell_size", WADI_SCENE_NUMBER, AT(WadiScene, cell_size), .unit = "m", .minimum = 1e-6, .maximum = 1e6,
      .fallback_text = "from `resolution`", .doc = "Edge of a grid cell; give this or `resolution`." },
    { "particles_per_cell", WADI_SCENE_ENUM, AT(WadiScene, particles_per_axis), .choices = &per_cell_choices,
      .fallback = { 2 }, .doc = "How densely bodies are filled; the solver `flip` needs 8 or more." },
    { "frames", WADI_SCENE_INT, AT(WadiScene, frames), .flags = NO_EFFECT, .minimum = 1, .maximum = 9999999,
      .fallback = { 72 }, .doc = "Frames to simulate; frame 1 is the state at time 0." },
    { "fps", WADI_SCENE_NUMBER, AT(WadiScene, fps), .unit = "frames/s", .minimum = 1e-3, .maximum = 1e6,
      .fallback = { 24 }, .doc = "Frames per second." },
    { "seed", WADI_SCENE_WHOLE, AT(WadiScene, seed), .minimum = 0, .maximum = 9007199254740992.0,
      .doc = "Another seed gives other random numbers." },
    { "gravity", WADI_SCENE_CURVE3, AT(WadiScene, gravity), .flags = KEYED, ACCELERATION,
      .fallback = { 0, 0, -9.81 }, .where = offsetof(WadiScene, where_gravity),
      .doc = "Acceleration of everything; z is up." },
    { "max_step", WADI_SCENE_NUMBER, AT(WadiScene, max_step), .unit = "s", .minimum = 1e-9, .maximum = 1e6,
      NONE_INFINITE, .doc = "No time step is longer." } WADI_SOLVERS(NO_SETTINGS, SETTINGS_KEY, NO_SETTINGS),
    { "surface", WADI_SCENE_OBJECT, .flags = NO_EFFECT, .object = &wadi_scene_surface_object,
      .fallback_text = "the defaults", .doc = "How `wadi surface` makes meshes from particles." },
    { "secondary", WADI_SCENE_OBJECT, .flags = NO_EFFECT, .object = &wadi_scene_secondary_object,
      .fallback_text = "the defaults", .doc = "How `wadi secondary` makes foam, spray, bubbles and dust." },
    { "render", WADI_SCENE_OBJECT, .flags = NO_EFFECT, .object = &wadi_scene_render_object,
      .fallback_text = "the defaults", .doc = "How `wadi render` draws the run." },
    { "texture", WADI_SCENE_BOOL, AT(WadiScene, has_texture),
      .doc = "Particles store their position at birth as the attribute `texture`, for the look `texture`." },
    { "visible_only", WADI_SCENE_BOOL, AT(WadiScene, is_visible_only), .flags = NO_EFFECT,
      .doc = "Frames leave out particles two spacings or more below others on every side. Surfaces of such "
             "frames are hollow." },
    { "checkpoint_every", WADI_SCENE_INT, AT(WadiScene, checkpoint_every), .flags = NO_EFFECT,
      .unit = "frames", .minimum = 1, .maximum = 9999999, .fallback = { 24 },
      .doc = "Frames between checkpoints that are kept; the newest are always kept." },
    { "materials", WADI_SCENE_MAP, LIST_AT(WadiScene, materials, material_count), .flags = REQUIRED,
      .object = &wadi_scene_material_object, .maximum = 255, .doc = "Materials by name." },
    { "bodies", WADI_SCENE_LIST, LIST_AT(WadiScene, bodies, body_count), .object = &wadi_scene_body_object,
      .maximum = WADI_SCENE_LIST_MAX, .fallback_text = "none",
      .doc = "Sand and water that exist from the beginning." },
    { "colliders", WADI_SCENE_LIST, LIST_AT(WadiScene, colliders, collider_count), .object = &collider_object,
      .maximum = WADI_SCENE_LIST_MAX, .fallback_text = "none", .doc = "Solids." },
    { "emitters", WADI_SCENE_LIST, LIST_AT(WadiScene, emitters, emitter_count),
      .object = &wadi_scene_emitter_object, .maximum = WADI_SCENE_LIST_MAX, .fallback_text = "none",
      .doc = "Sources of particles." },
    { "drains", WADI_SCENE_LIST, LIST_AT(WadiScene, drains, drain_count), .object = &wadi_scene_drain_object,
      .maximum = WADI_SCENE_LIST_MAX, .fallback_text = "none", .doc = "Regions that remove particles." },
    { "forces", WADI_SCENE_LIST, LIST_AT(WadiScene, forces, force_count), .object = &wadi_scene_force_object,
      .maximum = WADI_SCENE_LIST_MAX, .fallback_text = "none", .doc = "Forces besides gravity." },
};
const WadiSceneObject wadi_scene_object = {
    .name = "scene",
    .doc = "The whole file.",
    WADI_SCENE_FIELDS(scene_fields),
    .size = sizeof(WadiScene),
};

double wadi_scene_default_density(int material_kind)
{
    return material_kind == WADI_MATERIAL_WATER ? 1000.0 : 1600.0;
}

const WadiSceneObject *const *wadi_scene_objects(int *count)
{
    static const WadiSceneObject *const objects[] = {
        &wadi_scene_object,
        &wadi_scene_domain_object,
        &wall_object,
        &wadi_scene_material_object,
        &wadi_scene_body_object,
        &collider_object,
        &wadi_scene_emitter_object,
        &wadi_scene_drain_object,
        &wadi_scene_force_object,
        &wadi_scene_shape_object,
        &wadi_scene_curve_object,
        &wadi_scene_key_object WADI_SOLVERS(NO_SETTINGS, SETTINGS_OBJECT, NO_SETTINGS),
        &wadi_scene_surface_object,
        &wadi_scene_secondary_object,
        &wadi_scene_look_object,
        &wadi_scene_solid_look_object,
        &wadi_scene_render_object,
        &wadi_scene_camera_object,
        &wadi_scene_light_object,
    };
    *count = (int)(sizeof objects / sizeof *objects);
    return objects;
}
