/* Keys of the sph solver's settings and their defaults. */
#include "sph/sph_settings.h"

#include <stdio.h>
#include <string.h>

#include "matter/materials.h"

static const double LEAST_HYSTERESIS = 1.26; /* the third root of 2 */

#define AT(member) .offset = offsetof(WadiSphDef, member)

static const WadiSceneChoice published[] = {
    { "none", WADI_SPH_PUBLISHED_NONE, "wadi's own method" },
    { "ld09", WADI_SPH_PUBLISHED_LD09,
      "Lenaerts and Dutré 2009: Tait pressure, local friction with clusters, porous flow" },
    { "t10", WADI_SPH_PUBLISHED_T10,
      "Teng 2010: the same with porosity by density, collisions, surface tension, splits and merges" },
};
WADI_SCENE_CHOICES(published);
static const WadiSceneChoice pressures[] = {
    { "solve", WADI_SPH_PRESSURE_SOLVE, "one problem for all particles: nothing is compressed" },
    { "tait", WADI_SPH_PRESSURE_TAIT, "an explicit equation of state, about 1 % compression; without sand" },
};
WADI_SCENE_CHOICES(pressures);

#define ADAPT_AT(member) .offset = offsetof(WadiSphAdaptDef, member)
#define NEAR_AT(member) .offset = offsetof(WadiSphAdaptDef, member), .minimum = -1, .maximum = 1e6

static const WadiSceneField near_fields[] = {
    { "surface", WADI_SCENE_NUMBER, NEAR_AT(surface), .unit = "spacings", .fallback = { 2 },
      .doc = "From the free surface." },
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
    { "published", WADI_SCENE_ENUM, AT(published), .flags = WADI_SCENE_HASH_IF_CHANGED,
      .choices = &published_choices,
      .doc = "A paper's method; only `cluster_range`, `cfl`, `step`, `damping` and, with `t10`, `adaptive` "
             "can be set beside it." },
    { "cluster_range", WADI_SCENE_NUMBER, AT(cluster_range), .flags = WADI_SCENE_HASH_IF_CHANGED,
      .unit = "spacings", .minimum = 0, .maximum = 2, .fallback = { 1.2 },
      .doc = "With `published: ld09`, h′: rigid particles this close move as one body." },
    { "pressure", WADI_SCENE_ENUM, AT(pressure), .choices = &pressures_choices,
      .fallback = { WADI_SPH_PRESSURE_SOLVE }, .doc = "How the pressure is found." },
    { "tolerance", WADI_SCENE_NUMBER, AT(tolerance), .minimum = 1e-8, .maximum = 1, .fallback = { 2e-2 },
      .doc = "Rate of compression left by the pressure solve, over what gravity adds in the longest step." },
    { "pressure_iterations", WADI_SCENE_INT, AT(pressure_iterations), .minimum = 1, .maximum = 100000,
      .fallback = { 100 }, .doc = "Largest number of iterations of the pressure." },
    { "friction_iterations", WADI_SCENE_INT, AT(friction_iterations), .minimum = 1, .maximum = 100000,
      .fallback = { 4 }, .doc = "Largest number of iterations of friction a round." },
    { "friction_rounds", WADI_SCENE_INT, AT(friction_rounds), .minimum = 1, .maximum = 100, .fallback = { 1 },
      .doc = "Rounds of friction and pressure a step." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Sand and pools at rest are not simulated until disturbed." },
    { "cfl", WADI_SCENE_NUMBER, AT(cfl), .unit = "spacings", .minimum = 1e-3, .maximum = 10,
      .fallback = { 0.4 }, .doc = "No particle moves farther in a step." },
    { "step", WADI_SCENE_NUMBER, AT(step), .unit = "√(dx/g)", .minimum = 1e-3, .maximum = 1000,
      .fallback = { 0.1 }, .doc = "No step is longer." },
    { "density_rate", WADI_SCENE_NUMBER, AT(density_rate), .minimum = 0, .maximum = 1, .fallback = { 0.5 },
      .doc = "Part of the excess density that a step removes." },
    { "density_speed", WADI_SCENE_NUMBER, AT(density_speed), .unit = "√(g dx)", .minimum = 0, .maximum = 10,
      .fallback = { 0.5 }, .doc = "Over-dense particles separate no faster than this." },
    { "damping", WADI_SCENE_NUMBER, AT(damping), .unit = "dx √(g dx)", .minimum = 0, .maximum = 1,
      .fallback = { 0.05 }, .doc = "Kinematic viscosity between particles, which lets water come to rest." },
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

static const char *check_adaptive(const WadiScene *scene, char *text, size_t size)
{
    const WadiSphDef *def = wadi_sph_def(scene);
    const WadiSphAdaptDef *adapt = &def->adapt;
    if (!def->is_adaptive) {
        return NULL;
    }
    if (def->published == WADI_SPH_PUBLISHED_LD09) {
        snprintf(text, size,
                 "'ld09' has particles of one size; leave `adaptive` out, or use `published: t10`");
        return "sph.adaptive";
    }
    if (def->published == WADI_SPH_PUBLISHED_NONE && def->pressure == WADI_SPH_PRESSURE_TAIT) {
        snprintf(text, size, "particles of different sizes need `pressure: solve`");
        return "sph.adaptive";
    }
    if (adapt->merge < LEAST_HYSTERESIS * adapt->split) {
        snprintf(text, size,
                 "%g is less than %g times `split`: what is split would be merged again; use %g or more",
                 adapt->merge, LEAST_HYSTERESIS, LEAST_HYSTERESIS * adapt->split);
        return "sph.adaptive.merge";
    }
    if (adapt->camera >= 0.0 && !scene->render.camera.is_given) {
        snprintf(text, size, "the scene has no `render.camera`; give one, or a `point` instead");
        return "sph.adaptive.near.camera";
    }
    return NULL;
}

/* Keys that a published method leaves to the scene. */
static bool is_free_key(const char *key)
{
    static const char *const keys[] = { "published", "cluster_range", "cfl", "step", "damping", "adaptive" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_at_default(const WadiSceneField *field, const WadiSphDef *def, const WadiSphDef *defaults)
{
    const char *a = (const char *)def + field->offset, *b = (const char *)defaults + field->offset;
    switch (field->type) {
    case WADI_SCENE_NUMBER: return *(const double *)(const void *)a == *(const double *)(const void *)b;
    case WADI_SCENE_BOOL: return *(const bool *)a == *(const bool *)b;
    default: return *(const int *)(const void *)a == *(const int *)(const void *)b;
    }
}

/* A key that the published method would not obey. */
static const char *check_published(const WadiScene *scene, char *text, size_t size)
{
    const WadiSphDef *def = wadi_sph_def(scene);
    WadiSphDef defaults = { 0 };
    wadi_scene_set_defaults(&wadi_sph_settings, &defaults);
    const char *method = published[def->published].name;
    for (int i = 0; i < wadi_sph_settings.field_count; ++i) {
        const WadiSceneField *field = &wadi_sph_settings.fields[i];
        if (!is_free_key(field->key) && !is_at_default(field, def, &defaults)) {
            snprintf(text, size, "'%s' has its own '%s'; leave that key out, or this one", method,
                     field->key);
            return "sph.published";
        }
    }
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (material->yield != WADI_YIELD_TAN || material->friction_angle_fast > 0.0) {
            snprintf(text, size,
                     "'%s' has its own law of yield; leave 'yield' and 'friction_angle_fast' of the material "
                     "'%s' out",
                     method, material->name);
            return "sph.published";
        }
    }
    return NULL;
}

static bool has_own_range(const WadiScene *scene)
{
    const WadiSphDef *def = wadi_sph_def(scene);
    WadiSphDef defaults = { 0 };
    wadi_scene_set_defaults(&wadi_sph_settings, &defaults);
    return def->cluster_range != defaults.cluster_range;
}

const char *wadi_sph_check_settings(const WadiScene *scene, char *text, size_t size)
{
    const WadiSphDef *def = wadi_sph_def(scene);
    WadiMaterials materials;
    wadi_materials_init(&materials, scene);
    if (def->published != WADI_SPH_PUBLISHED_LD09 && has_own_range(scene)) {
        snprintf(text, size, "only `published: ld09` has this key; leave it out");
        return "sph.cluster_range";
    }
    if (def->published != WADI_SPH_PUBLISHED_NONE) {
        const char *wrong = check_published(scene, text, size);
        return wrong != NULL ? wrong : check_adaptive(scene, text, size);
    }
    /* Sand rests by a pressure that is found together with its friction. */
    if (def->pressure == WADI_SPH_PRESSURE_TAIT && materials.has_sand) {
        snprintf(text, size, "`tait` is for water only, and this scene has sand; use `solve`");
        return "sph.pressure";
    }
    return check_adaptive(scene, text, size);
}

void wadi_sph_resolve_settings(WadiScene *scene, void *settings)
{
    WadiSphDef *def = settings;
    (void)scene;
    if (def->published != WADI_SPH_PUBLISHED_NONE) {
        def->pressure = WADI_SPH_PRESSURE_TAIT;
        def->sleep = false;
    }
}
