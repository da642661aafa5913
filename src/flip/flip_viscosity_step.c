/* Viscosity in the step: the coefficient of every cell from its particles, then the solve. */
#include <string.h>

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

/* Without velocities of the solids and strains. */
static WadiFlipViscosityIn viscosity_in(const WadiFlip *flip, const WadiFlipStep *step)
{
    WadiFlipViscosityIn in = { .rows = &step->grid.rows,
                               .fluid = step->cells.pressure_cells,
                               .solid = step->cells.inside,
                               .distance = step->cells.surface_distance,
                               .solid_row = step->solid.row,
                               .solid_distance = step->solid.distance,
                               .coefficient = step->cells.viscosity,
                               .reference_density = flip->materials.density,
                               .cell_size = step->grid.cell_size };
    for (int a = 0; a < 3; ++a) {
        in.open[a] = step->solid.open[a];
        in.reached[a] = step->reached[a];
        in.density[a] = step->cells.mix.face_density[a];
    }
    return in;
}

WadiStatus wadi_flip_apply_viscosity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    const double h = step->grid.cell_size, scale = step->force_dt / (flip->materials.density * h * h);
    float of_material[WADI_MATERIALS_MAX];
    for (int m = 0; m < scene->material_count; ++m) {
        of_material[m] = (float)(scale * wadi_curve_value(&scene->materials[m].viscosity, step->time));
    }
    WADI_TRY(wadi_flip_material_mean(flip, step, of_material, &step->cells.viscosity, error));
    WadiFlipViscosityIn in = viscosity_in(flip, step);
    in.solver = (WadiPoissonSettings){ .tolerance = 1e-6,
                                       .absolute = 1e-3 * wadi_flip_gravity_step(flip, step),
                                       .max_iterations = 400 };
    for (int a = 0; a < 3; ++a) {
        in.solid_velocity[a] = step->solid.velocity[a];
    }
    for (int n = 0; n < 6; ++n) {
        in.strain[n] = step->cells.turn_strain[n];
    }
    in.strain_row = step->saved_row;
    WadiFlipViscosityReport report;
    return wadi_flip_viscosity(&in, step->grid.velocity, flip->context.scratch, &report, error);
}

WadiStatus wadi_flip_smooth_change(const WadiFlip *flip, const WadiFlipStep *step, float *const impulse[3],
                                   float *const change[3], WadiError *error)
{
    WadiFlipViscosityIn in = viscosity_in(flip, step);
    for (int a = 0; a < 3; ++a) {
        in.impulse[a] = impulse[a];
        memset(change[a], 0, wadi_rows_floats(in.rows) * sizeof(float));
    }
    in.solver = (WadiPoissonSettings){ .tolerance = 1e-5, .max_iterations = 400 };
    WadiFlipViscosityReport report;
    return wadi_flip_viscosity(&in, change, flip->context.scratch, &report, error);
}
