/* Viscosity in the step: the coefficient of every cell from its particles, then the solve. */
#include "flip/flip.h"
#include "flip/viscosity/flip_viscosity.h"

bool wadi_flip_is_viscous(const WadiFlip *flip)
{
    const WadiScene *scene = flip->context.world->scene;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiCurve *mu = &scene->materials[m].viscosity;
        if (!scene->materials[m].is_unused &&
            (!wadi_curve_is_constant(mu) || wadi_curve_value(mu, 0.0) > 0.0)) {
            return true;
        }
    }
    return false;
}

WadiStatus wadi_flip_apply_viscosity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    const double h = step->grid.cell_size, scale = step->force_dt / (flip->materials.density * h * h);
    float of_material[WADI_MATERIALS_MAX], *coefficient = NULL;
    for (int m = 0; m < scene->material_count; ++m) {
        of_material[m] = (float)(scale * wadi_curve_value(&scene->materials[m].viscosity, step->time));
    }
    WADI_TRY(wadi_flip_material_mean(flip, step, of_material, &coefficient, error));
    double g_dt = step->force_dt * wadi_norm(wadi_curve_value3(&scene->gravity, step->time));
    WadiFlipViscosityIn in = { .rows = rows,
                               .fluid = step->cells.pressure_cells,
                               .solid = step->cells.inside,
                               .distance = step->cells.surface_distance,
                               .solid_row = step->solid.row,
                               .solid_distance = step->solid.distance,
                               .coefficient = coefficient,
                               .reference_density = flip->materials.density,
                               .cell_size = h,
                               .solver = {
                                   .tolerance = 1e-6, .absolute = 1e-3 * g_dt, .max_iterations = 400 } };
    for (int a = 0; a < 3; ++a) {
        in.open[a] = step->solid.open[a];
        in.solid_velocity[a] = step->solid.velocity[a];
        in.reached[a] = step->reached[a];
        in.density[a] = step->cells.mix.face_density[a];
    }
    for (int n = 0; n < 6; ++n) {
        in.strain[n] = step->cells.turn_strain[n];
    }
    in.strain_row = step->saved_row;
    WadiFlipViscosityReport report;
    return wadi_flip_viscosity(&in, step->grid.velocity, arena, &report, error);
}
