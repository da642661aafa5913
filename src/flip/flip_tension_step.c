/* Surface tension in the step: curvature of the surface times the tension of the liquid there, as P. */
#include <math.h>

#include "flip/flip.h"
#include "flip/pressure/flip_tension.h"
#include "flip/pressure/flip_tension_push.h"

static double tension_of(const WadiFlip *flip, int material, double time)
{
    const WadiMaterial *definition = &flip->context.world->scene->materials[material];
    return definition->is_unused ? 0.0 : wadi_curve_value(&definition->surface_tension, time);
}

WadiStatus wadi_flip_find_tension(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    float of_material[WADI_MATERIALS_MAX], *tension = NULL;
    double largest = 0.0;
    for (int m = 0; m < flip->materials.count; ++m) {
        double sigma = tension_of(flip, m, step->time);
        largest = fmax(largest, sigma);
        /* P = p dt / (rho h) */
        of_material[m] = (float)(sigma * step->force_dt / (flip->materials.density * step->grid.cell_size));
    }
    if (!(largest > 0.0) || step->cells.surface_distance == NULL) {
        return WADI_OK;
    }
    const WadiRows *rows = &step->grid.rows;
    const size_t floats = wadi_rows_floats(rows);
    WADI_TRY(wadi_flip_material_mean(flip, step, of_material, &tension, error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->cells.surface_pressure, floats, "surface tension",
                            error));
    WadiFlipCurvatureIn in = { .rows = rows,
                               .fluid = step->cells.pressure_cells,
                               .distance = step->cells.surface_distance,
                               .solid_row = step->solid.row,
                               .solid_fraction = step->solid.fraction,
                               .cell_size = step->grid.cell_size,
                               .passes = WADI_FLIP_CURVATURE_PASSES };
    WADI_TRY(wadi_flip_curvature(&in, step->cells.surface_pressure, flip->context.scratch, error));
    for (size_t i = 0; i < floats; ++i) {
        step->cells.surface_pressure[i] *= tension[i];
    }
    return WADI_OK;
}

void wadi_flip_push_surface(const WadiFlip *flip, WadiFlipStep *step)
{
    if (step->cells.surface_pressure != NULL) {
        WadiFlipProjectIn in = wadi_flip_projection(flip, step);
        wadi_flip_push_faces(&in, step->cells.surface_pressure, step->grid.velocity);
    }
}

double wadi_flip_tension_largest_dt(const WadiFlip *flip, double time)
{
    const WadiWorld *world = flip->context.world;
    double dt = (double)INFINITY;
    for (int m = 0; m < flip->materials.count; ++m) {
        dt = fmin(dt, wadi_flip_tension_step(tension_of(flip, m, time), world->scene->materials[m].density,
                                             world->cell_size));
    }
    return dt;
}
