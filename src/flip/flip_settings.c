/* Keys of the flip solver's settings, their defaults and their constraints. */
#include "flip/flip_settings.h"

#include <stdio.h>

#define AT(member) .offset = offsetof(WadiFlipDef, member)

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
      "where the volume of material in the cells places the surface: second order" },
};
WADI_SCENE_CHOICES(surfaces);

static const WadiSceneChoice solids[] = {
    { "cut_cells", WADI_FLIP_SOLIDS_CUT_CELLS, "as the open fraction of each face: smooth walls" },
    { "voxels", WADI_FLIP_SOLIDS_VOXELS, "as whole cells, like ZB05: stepped walls" },
};
WADI_SCENE_CHOICES(solids);

static const WadiSceneChoice frictions[] = {
    { "solve", WADI_FLIP_FRICTION_SOLVE, "one problem for all cells together: piles come to rest" },
    { "zb05", WADI_FLIP_FRICTION_ZB05,
      "the rule of ZB05 for each cell by itself, with its errors corrected" },
    { "zb05_literal", WADI_FLIP_FRICTION_ZB05_LITERAL, "the same, as printed in the paper" },
};
WADI_SCENE_CHOICES(frictions);

static const WadiSceneChoice wall_frictions[] = {
    { "pressure", WADI_FLIP_WALL_FRICTION_PRESSURE, "Coulomb's law with the pressure at the wall" },
    { "zb05", WADI_FLIP_WALL_FRICTION_ZB05, "from the velocity into the wall, as printed in ZB05" },
};
WADI_SCENE_CHOICES(wall_frictions);

static const WadiSceneChoice paths[] = {
    { "auto", WADI_FLIP_PATH_AUTO,
      "`chord`; `rk2` in scenes with sand, with `friction: zb05` and with `gauss_seidel`" },
    { "chord", WADI_FLIP_PATH_CHORD,
      "straight, by a displacement that keeps volume: keeps angular momentum" },
    { "rk2", WADI_FLIP_PATH_RK2, "midpoint method in the velocity field of the step" },
    { "rk3", WADI_FLIP_PATH_RK3, "Ralston's method of third order in the velocity field of the step" },
};
WADI_SCENE_CHOICES(paths);

static const WadiSceneField flip_fields[] = {
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
      .doc = "Rate at which regions that are too dense or too thin return to their initial density." },
    { "density_band", WADI_SCENE_NUMBER, AT(density_band), .minimum = 0, .maximum = 1, .fallback = { -1 },
      .fallback_text = "0.2 for sand, 0.05 for water, 0.1 with `gauss_seidel`",
      .doc = "Relative deviation from the initial density that is not corrected." },
    { "density_alpha", WADI_SCENE_NUMBER, AT(density_alpha), .minimum = 0, .maximum = 1,
      .doc = "Fraction of the excess density that `gauss_seidel` removes per step, as in INF585." },
    { "pair_separation", WADI_SCENE_INT, AT(pair_separation), .minimum = 0, .maximum = 20,
      .doc = "Number of iterations per step that push apart particles closer than their diameter." },
    { "path", WADI_SCENE_ENUM, AT(path), .choices = &paths_choices,
      .doc = "How particles move within a step." },
    { "cfl", WADI_SCENE_NUMBER, AT(cfl), .unit = "cells", .minimum = 1e-3, .maximum = 20, .fallback = { 2 },
      .doc = "Largest distance that a particle moves in a step." },
    { "sand_step", WADI_SCENE_NUMBER, AT(sand_step), .unit = "√(dx/g)", .minimum = 1e-3, .maximum = 1000,
      .fallback = { 0.21 }, .doc = "Largest step size when the scene has sand." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Sand and pools of water at rest are not simulated until something disturbs them." },
};
const WadiSceneObject wadi_flip_settings = {
    .name = "flip",
    .doc =
        "Settings of the solver `flip`. The defaults give the best results known; other values are for "
        "comparisons. "
        "√(dx/g) is the time in which a grain falls half a cell: dx is the cell size, g the largest gravity "
        "of the scene, or 9.81 m/s² if it has none.",
    WADI_SCENE_FIELDS(flip_fields),
    .size = sizeof(WadiFlipDef),
    .example = "{friction: zb05, surface: first_order}",
    /* Runs of `points` made before other solvers had settings can still be resumed. */
    .is_always_hashed = true,
};

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
    return wadi_flip_is_published(scene) || wadi_scene_has_sand(scene) ? WADI_FLIP_PATH_RK2
                                                                       : WADI_FLIP_PATH_CHORD;
}

const char *wadi_flip_check_settings(const WadiScene *scene, char *text, size_t size)
{
    /* With one particle per cell every third cell becomes empty as soon as they move, and the material
     * sinks into the gaps. */
    if (scene->particles_per_axis == 1) {
        snprintf(text, size, "1 is too few for the solver flip, which needs 8 or more");
        return "particles_per_cell";
    }
    return NULL;
}

double wadi_flip_allowed_expansion(const WadiScene *scene)
{
    const double band = wadi_flip_def(scene)->density_band;
    return band >= 0.0 ? band : wadi_scene_has_sand(scene) ? 0.2 : 0.1;
}
