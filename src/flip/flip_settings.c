/* Keys of the flip solver's settings, their defaults and their constraints. */
#include "flip/flip_settings.h"

#include <stdio.h>
#include <string.h>

#define AT(member) .offset = offsetof(WadiFlipDef, member)

static const WadiSceneChoice published[] = {
    { "none", WADI_FLIP_PUBLISHED_NONE, "wadi's own method" },
    { "zb05", WADI_FLIP_PUBLISHED_ZB05, "Zhu and Bridson 2005; deviations: docs/reproduction.md" },
    { "a24", WADI_FLIP_PUBLISHED_A24, "Audouard 2024 (INF585); sand is a liquid there" },
};
WADI_SCENE_CHOICES(published);

static const WadiSceneChoice pressures[] = {
    { "multigrid", WADI_FLIP_PRESSURE_MULTIGRID, "conjugate gradients with a multigrid preconditioner" },
    { "gauss_seidel", WADI_FLIP_PRESSURE_GAUSS_SEIDEL,
      "sweeps over the cells with over-relaxation, as in INF585" },
};
WADI_SCENE_CHOICES(pressures);

static const WadiSceneChoice unilaterals[] = {
    { "sand", WADI_FLIP_UNILATERAL_SAND, "only that of sand: its grains separate freely" },
    { "all", WADI_FLIP_UNILATERAL_ALL, "that of sand and water" },
    { "none", WADI_FLIP_UNILATERAL_NONE, "pressure may be negative everywhere, as in ZB05" },
};
WADI_SCENE_CHOICES(unilaterals);

static const WadiSceneChoice surfaces[] = {
    { "auto", WADI_FLIP_SURFACE_AUTO, "ghost fluid for scenes with water, first order for sand alone" },
    { "first_order", WADI_FLIP_SURFACE_FIRST_ORDER,
      "at the centres of the empty cells next to the surface, as in ZB05" },
    { "face", WADI_FLIP_SURFACE_FACE, "on the faces of cells" },
    { "ghost_fluid", WADI_FLIP_SURFACE_GHOST_FLUID,
      "where the fill of the cells places the surface: second order" },
};
WADI_SCENE_CHOICES(surfaces);

static const WadiSceneChoice solids[] = {
    { "cut_cells", WADI_FLIP_SOLIDS_CUT_CELLS, "open fractions of faces: smooth walls" },
    { "voxels", WADI_FLIP_SOLIDS_VOXELS, "whole cells, as in ZB05: stepped walls" },
};
WADI_SCENE_CHOICES(solids);

static const WadiSceneChoice frictions[] = {
    { "solve", WADI_FLIP_FRICTION_SOLVE, "one global problem: piles come to rest" },
    { "zb05", WADI_FLIP_FRICTION_ZB05, "the rule of ZB05 for each cell, corrected" },
};
static const WadiSceneChoice old_frictions[] = {
    { "zb05_literal", 0, "use `published: zb05` for the whole method as printed, or `friction: zb05`" },
};
WADI_SCENE_CHOICES_WITHOUT(frictions, old_frictions);

static const WadiSceneChoice wall_frictions[] = {
    { "pressure", WADI_FLIP_WALL_FRICTION_PRESSURE, "Coulomb's law with the pressure at the wall" },
    { "zb05", WADI_FLIP_WALL_FRICTION_ZB05, "from the velocity of one cell into the wall (ZB05 eq. 4)" },
};
WADI_SCENE_CHOICES(wall_frictions);

static const WadiSceneChoice paths[] = {
    { "auto", WADI_FLIP_PATH_AUTO, "`chord`; `rk2` with `friction: zb05` and with `gauss_seidel`" },
    { "chord", WADI_FLIP_PATH_CHORD, "straight, conserves volume and angular momentum" },
    { "rk2", WADI_FLIP_PATH_RK2, "midpoint method" },
    { "rk3", WADI_FLIP_PATH_RK3, "Ralston's third-order method" },
};
WADI_SCENE_CHOICES(paths);

static const WadiSceneField flip_fields[] = {
    { "published", WADI_SCENE_ENUM, AT(published), .flags = WADI_SCENE_HASH_IF_CHANGED,
      .choices = &published_choices,
      .doc =
          "A paper's method; only `tolerance`, `sweeps`, `density_alpha` and `cfl` can be set beside it." },
    { "pressure", WADI_SCENE_ENUM, AT(pressure), .choices = &pressures_choices,
      .doc = "Method that solves for the pressure." },
    { "tolerance", WADI_SCENE_NUMBER, AT(tolerance), .minimum = 1e-12, .maximum = 0.1, .fallback = { 1e-4 },
      .doc = "Largest divergence after the pressure solve, relative to the largest before it." },
    { "sweeps", WADI_SCENE_INT, AT(sweeps), .minimum = 1, .maximum = 10000, .fallback = { 60 },
      .doc = "Number of sweeps of `gauss_seidel` per step." },
    { "over_relaxation", WADI_SCENE_NUMBER, AT(over_relaxation), .flags = WADI_SCENE_BELOW_MAX, .minimum = 1,
      .maximum = 2, .fallback = { 1.9 }, .doc = "Over-relaxation factor of `gauss_seidel`; 1: none." },
    { "unilateral", WADI_SCENE_ENUM, AT(unilateral), .choices = &unilaterals_choices,
      .doc = "Materials whose pressure must not be negative, so that they can separate." },
    { "surface", WADI_SCENE_ENUM, AT(surface), .choices = &surfaces_choices,
      .doc = "Where the pressure is zero at the free surface." },
    { "solids", WADI_SCENE_ENUM, AT(solids), .choices = &solids_choices,
      .doc = "How solids are represented on the grid." },
    { "friction", WADI_SCENE_ENUM, AT(friction), .choices = &frictions_choices,
      .doc = "Friction inside sand." },
    { "friction_iterations", WADI_SCENE_INT, AT(friction_iterations), .minimum = 1, .maximum = 100000,
      .fallback_text = "by depth", .doc = "Largest number of iterations of `solve` per round." },
    { "friction_rounds", WADI_SCENE_INT, AT(friction_rounds), .minimum = 1, .maximum = 100, .fallback = { 1 },
      .doc = "Number of times per step that friction and pressure are solved in turn." },
    { "wall_friction", WADI_SCENE_ENUM, AT(wall_friction), .choices = &wall_frictions_choices,
      .doc = "Friction of sand at solids, for `friction: zb05`." },
    { "density_rate", WADI_SCENE_NUMBER, AT(density_rate), .unit = "1/s", .minimum = 0, .maximum = 1000,
      .fallback = { -1 }, .fallback_text = "0.8 / √(dx/g)",
      .doc = "Rate at which density errors are corrected." },
    { "density_band", WADI_SCENE_NUMBER, AT(density_band), .minimum = 0, .maximum = 1, .fallback = { -1 },
      .fallback_text = "0.2 for sand, 0.05 for water, 0.1 with `gauss_seidel`",
      .doc = "Relative error of density that is not corrected." },
    { "density_alpha", WADI_SCENE_NUMBER, AT(density_alpha), .minimum = 0, .maximum = 1,
      .where = offsetof(WadiFlipDef, where_density_alpha), .fallback_text = "0; 0.1 with `published: a24`",
      .doc = "Fraction of the excess density that `gauss_seidel` removes per step, as in INF585." },
    { "pair_separation", WADI_SCENE_INT, AT(pair_separation), .minimum = 0, .maximum = 20,
      .doc = "Number of iterations per step that push apart particles closer than their diameter." },
    { "path", WADI_SCENE_ENUM, AT(path), .choices = &paths_choices,
      .doc = "How particles move within a step." },
    { "cfl", WADI_SCENE_NUMBER, AT(cfl), .unit = "cells", .minimum = 1e-3, .maximum = 20, .fallback = { 2 },
      .where = offsetof(WadiFlipDef, where_cfl),
      .fallback_text = "2; 5 with `published: zb05`, 1 with `published: a24`",
      .doc = "Largest distance that a particle moves in a step." },
    { "sand_step", WADI_SCENE_NUMBER, AT(sand_step), .unit = "√(dx/g)", .minimum = 1e-3, .maximum = 1000,
      .fallback = { 0.21 }, .doc = "Largest step size when the scene has sand; not with `published`." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Sand and pools at rest are not simulated until disturbed." },
};
const WadiSceneObject wadi_flip_settings = {
    .name = "flip",
    .doc = "Settings of the solver `flip`. dx is the cell size, g the largest gravity of the scene, or 9.81 "
           "m/s² if it has none.",
    WADI_SCENE_FIELDS(flip_fields),
    .size = sizeof(WadiFlipDef),
    .example = "{friction: zb05, surface: first_order}",
    /* Runs of `points` made before other solvers had settings can still be resumed. */
    .is_always_hashed = true,
};

/* Keys that a published method leaves to the scene. */
static bool is_free_key(const char *key)
{
    static const char *const keys[] = { "published", "tolerance", "sweeps", "density_alpha", "cfl" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_at_default(const WadiSceneField *field, const WadiFlipDef *def, const WadiFlipDef *defaults)
{
    const char *a = (const char *)def + field->offset, *b = (const char *)defaults + field->offset;
    switch (field->type) {
    case WADI_SCENE_NUMBER: return *(const double *)(const void *)a == *(const double *)(const void *)b;
    case WADI_SCENE_BOOL: return *(const bool *)a == *(const bool *)b;
    default: return *(const int *)(const void *)a == *(const int *)(const void *)b;
    }
}

static bool is_zero(const WadiCurve *curve)
{
    return wadi_curve_is_constant(curve) && !(wadi_curve_value(curve, 0.0) > 0.0);
}

/* A property of which the papers of `flip` have no force; NULL: none. */
static const char *absent_property(const WadiMaterial *material)
{
    return !is_zero(&material->viscosity)         ? "viscosity"
           : !is_zero(&material->surface_tension) ? "surface_tension"
           : material->tensile_strength > 0.0     ? "tensile_strength"
                                                  : NULL;
}

/* A key that the published method would not obey. */
static const char *check_published(const WadiScene *scene, char *text, size_t size)
{
    const WadiFlipDef *def = wadi_flip_def(scene);
    WadiFlipDef defaults = { 0 };
    wadi_scene_set_defaults(&wadi_flip_settings, &defaults);
    const char *method = published[def->published].name;
    for (int i = 0; i < wadi_flip_settings.field_count; ++i) {
        const WadiSceneField *field = &wadi_flip_settings.fields[i];
        if (!is_free_key(field->key) && !is_at_default(field, def, &defaults)) {
            snprintf(text, size, "'%s' has its own '%s'; leave that key out, or this one", method,
                     field->key);
            return "flip.published";
        }
    }
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const bool is_pic_only = def->published == WADI_FLIP_PUBLISHED_A24;
        if (material->where_transfer.text[0] != '\0' &&
            (material->transfer == WADI_TRANSFER_APIC ||
             (is_pic_only && material->transfer != WADI_TRANSFER_PIC))) {
            snprintf(text, size, "'%s' transfers by %s; change 'transfer' of the material '%s'", method,
                     is_pic_only ? "pic" : "pic or flip", material->name);
            return "flip.published";
        }
        const char *missing = absent_property(material);
        if (missing != NULL) {
            snprintf(text, size, "'%s' has no such force; leave '%s' of the material '%s' out", method,
                     missing, material->name);
            return "flip.published";
        }
        if (!is_pic_only && (material->yield != WADI_YIELD_TAN || material->friction_angle_fast > 0.0)) {
            snprintf(text, size,
                     "'%s' has its own law of yield; leave 'yield' and 'friction_angle_fast' of the material "
                     "'%s' out",
                     method, material->name);
            return "flip.published";
        }
    }
    return NULL;
}

void wadi_flip_resolve_settings(WadiScene *scene, void *settings)
{
    WadiFlipDef *def = settings;
    if (def->published == WADI_FLIP_PUBLISHED_NONE) {
        return;
    }
    const bool is_zb05 = def->published == WADI_FLIP_PUBLISHED_ZB05;
    def->pressure = is_zb05 ? WADI_FLIP_PRESSURE_MULTIGRID : WADI_FLIP_PRESSURE_GAUSS_SEIDEL;
    def->over_relaxation = 1.0;
    def->unilateral = WADI_FLIP_UNILATERAL_NONE;
    def->surface = WADI_FLIP_SURFACE_FIRST_ORDER;
    def->solids = WADI_FLIP_SOLIDS_VOXELS;
    def->friction = WADI_FLIP_FRICTION_ZB05;
    def->wall_friction = WADI_FLIP_WALL_FRICTION_ZB05;
    def->path = WADI_FLIP_PATH_RK2;
    def->sleep = false;
    def->density_alpha = !is_zb05 && def->where_density_alpha.text[0] == '\0' ? 0.1 : def->density_alpha;
    def->cfl = def->where_cfl.text[0] != '\0' ? def->cfl : is_zb05 ? 5.0 : 1.0;
    for (int m = 0; m < scene->material_count; ++m) {
        WadiMaterial *material = &scene->materials[m];
        if (material->where_transfer.text[0] == '\0' &&
            (!is_zb05 || material->kind == WADI_MATERIAL_SAND)) { /* sec. 4.2.4 */
            material->transfer = WADI_TRANSFER_PIC;
        }
        material->flip_fraction = material->flip_fraction < 0.0 ? 1.0 : material->flip_fraction;
    }
}

bool wadi_flip_is_published(const WadiScene *scene)
{
    const WadiFlipDef *def = wadi_flip_def(scene);
    return def->pressure == WADI_FLIP_PRESSURE_GAUSS_SEIDEL || def->friction != WADI_FLIP_FRICTION_SOLVE;
}

WadiFlipPathRule wadi_flip_path(const WadiScene *scene)
{
    const WadiFlipPathRule path = wadi_flip_def(scene)->path;
    if (path != WADI_FLIP_PATH_AUTO) {
        return path;
    }
    return wadi_flip_is_published(scene) ? WADI_FLIP_PATH_RK2 : WADI_FLIP_PATH_CHORD;
}

const char *wadi_flip_check_settings(const WadiScene *scene, char *text, size_t size)
{
    /* With one particle per cell every third cell becomes empty as soon as they move, and the material
     * sinks into the gaps. */
    if (scene->particles_per_axis == 1) {
        snprintf(text, size, "1 is too few for the solver flip, which needs 8 or more");
        return "particles_per_cell";
    }
    if (wadi_flip_def(scene)->published != WADI_FLIP_PUBLISHED_NONE) {
        return check_published(scene, text, size);
    }
    return NULL;
}

double wadi_flip_allowed_expansion(const WadiScene *scene)
{
    const double band = wadi_flip_def(scene)->density_band;
    return band >= 0.0 ? band : wadi_scene_has_sand(scene) ? 0.2 : 0.1;
}
