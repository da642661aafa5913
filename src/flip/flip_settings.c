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
    { "sand", WADI_FLIP_UNILATERAL_SAND, "only that of sand: its grains part freely" },
    { "all", WADI_FLIP_UNILATERAL_ALL, "that of water too" },
    { "none", WADI_FLIP_UNILATERAL_NONE, "all pressure may pull, as in ZB05" },
};
WADI_SCENE_CHOICES(unilaterals);

static const WadiSceneChoice surfaces[] = {
    { "auto", WADI_FLIP_SURFACE_AUTO, "ghost fluid for water, first order for sand" },
    { "first_order", WADI_FLIP_SURFACE_FIRST_ORDER, "at the centres of the cells beyond, as in ZB05" },
    { "face", WADI_FLIP_SURFACE_FACE, "on the faces of cells" },
    { "ghost_fluid", WADI_FLIP_SURFACE_GHOST_FLUID, "where the fill of the cells says: second order" },
};
WADI_SCENE_CHOICES(surfaces);

static const WadiSceneChoice solids[] = {
    { "cut_cells", WADI_FLIP_SOLIDS_CUT_CELLS, "open fractions of the faces" },
    { "voxels", WADI_FLIP_SOLIDS_VOXELS, "whole cells, as in ZB05: rough walls" },
};
WADI_SCENE_CHOICES(solids);

static const WadiSceneChoice frictions[] = {
    { "solve", WADI_FLIP_FRICTION_SOLVE, "one global problem: piles come to rest" },
    { "zb05", WADI_FLIP_FRICTION_ZB05, "the paper's rule of one cell at a time, repaired" },
    { "zb05_literal", WADI_FLIP_FRICTION_ZB05_LITERAL, "the same as printed" },
};
WADI_SCENE_CHOICES(frictions);

static const WadiSceneChoice wall_frictions[] = {
    { "pressure", WADI_FLIP_WALL_FRICTION_PRESSURE, "Coulomb's law with the pressure at the wall" },
    { "zb05", WADI_FLIP_WALL_FRICTION_ZB05, "from the velocity into the wall, as printed" },
};
WADI_SCENE_CHOICES(wall_frictions);

static const WadiSceneChoice paths[] = {
    { "rk2", 2, "midpoint rule" },
    { "rk3", 3, "Ralston's rule of third order" },
};
WADI_SCENE_CHOICES(paths);

static const WadiSceneField flip_fields[] = {
    { "pressure", WADI_SCENE_ENUM, AT(pressure), .choices = &pressures_choices,
      .doc = "How the pressure is solved for." },
    { "tolerance", WADI_SCENE_NUMBER, AT(tolerance), .minimum = 1e-12, .maximum = 0.1, .fallback = { 1e-4 },
      .doc = "Divergence that is left, relative to the largest before." },
    { "sweeps", WADI_SCENE_INT, AT(sweeps), .minimum = 1, .maximum = 10000, .fallback = { 60 },
      .doc = "Sweeps of `gauss_seidel` a step." },
    { "over_relaxation", WADI_SCENE_NUMBER, AT(over_relaxation), .flags = WADI_SCENE_BELOW_MAX, .minimum = 1,
      .maximum = 2, .fallback = { 1.9 }, .doc = "Of `gauss_seidel`; 1 is plain." },
    { "unilateral", WADI_SCENE_ENUM, AT(unilateral), .choices = &unilaterals_choices,
      .doc = "Whose pressure is kept from pulling, so that material may part." },
    { "surface", WADI_SCENE_ENUM, AT(surface), .choices = &surfaces_choices,
      .doc = "Where the pressure is thought to be zero." },
    { "solids", WADI_SCENE_ENUM, AT(solids), .choices = &solids_choices,
      .doc = "How solids lie in the grid." },
    { "friction", WADI_SCENE_ENUM, AT(friction), .choices = &frictions_choices,
      .doc = "Friction inside sand." },
    { "friction_iterations", WADI_SCENE_INT, AT(friction_iterations), .minimum = 1, .maximum = 100000,
      .fallback_text = "by depth", .doc = "At most so many iterations of `solve` a round." },
    { "friction_rounds", WADI_SCENE_INT, AT(friction_rounds), .minimum = 1, .maximum = 100, .fallback = { 1 },
      .doc = "Rounds of friction and pressure a step." },
    { "wall_friction", WADI_SCENE_ENUM, AT(wall_friction), .choices = &wall_frictions_choices,
      .doc = "Friction of sand at solids, with `zb05`." },
    { "density_rate", WADI_SCENE_NUMBER, AT(density_rate), .unit = "1/s", .minimum = 0, .maximum = 1000,
      .fallback = { -1 }, .fallback_text = "0.8 / √(dx/g)",
      .doc = "How fast crowded and thin places go back to the density of the start." },
    { "density_band", WADI_SCENE_NUMBER, AT(density_band), .minimum = 0, .maximum = 1, .fallback = { -1 },
      .fallback_text = "0.2 for sand, 0.05 for water, 0.1 with `gauss_seidel`",
      .doc = "Part of the density that may be too much or too little." },
    { "density_alpha", WADI_SCENE_NUMBER, AT(density_alpha), .minimum = 0, .maximum = 1,
      .doc = "Part of the crowding that `gauss_seidel` pushes out in a step, as in INF585." },
    { "pair_separation", WADI_SCENE_INT, AT(pair_separation), .minimum = 0, .maximum = 20,
      .doc = "Iterations a step that push particles closer than their size apart." },
    { "path", WADI_SCENE_ENUM, AT(path_order), .choices = &paths_choices, .fallback = { 2 },
      .doc = "How particles follow the velocities." },
    { "cfl", WADI_SCENE_NUMBER, AT(cfl), .unit = "cells", .minimum = 1e-3, .maximum = 20, .fallback = { 2 },
      .doc = "No particle moves farther in a step." },
    { "sand_step", WADI_SCENE_NUMBER, AT(sand_step), .unit = "√(dx/g)", .minimum = 1e-3, .maximum = 1000,
      .fallback = { 0.21 }, .doc = "No step with sand in the scene is longer." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Sand at rest that nothing touches is left alone until something does." },
};
const WadiSceneObject wadi_flip_settings = {
    .name = "flip",
    .doc = "Settings of the solver `flip`. The defaults are the best known; the others are there to compare. "
           "√(dx/g) is the "
           "time in which a grain falls half a cell: dx is the size of a cell, g the largest gravity of the "
           "scene, "
           "or 9.81 m/s² where there is none.",
    WADI_SCENE_FIELDS(flip_fields),
    .size = sizeof(WadiFlipDef),
    .example = "{friction: zb05, surface: first_order}",
    /* So that runs of `points` from before other solvers had settings still resume. */
    .is_always_hashed = true,
};

const char *wadi_flip_check_settings(const WadiScene *scene, char *text, size_t size)
{
    /* As soon as they move, every third cell is empty and the material sinks into the holes. */
    if (scene->particles_per_axis == 1) {
        snprintf(text, size, "1 is too few for the solver flip, which needs 8 or more");
        return "particles_per_cell";
    }
    return NULL;
}

double wadi_flip_loose_band(const WadiScene *scene)
{
    bool has_sand = false;
    for (int m = 0; m < scene->material_count; ++m) {
        has_sand =
            has_sand || (scene->materials[m].kind == WADI_MATERIAL_SAND && !scene->materials[m].is_unused);
    }
    const double band = wadi_flip_def(scene)->density_band;
    return band >= 0.0 ? band : has_sand ? 0.2 : 0.1;
}
