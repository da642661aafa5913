/* Velocities on faces in the air and on closed faces, for particles near the surface and near walls. */
#include <math.h>

#include "flip/flip.h"
#include "flip/transfer/flip_extend.h"
#include "flip/transfer/flip_extend_air.h"

/* Largest change and fade-out speed of flip_extend_air.c, in units of sqrt(g dx): enough for gentle waves
 * of a few cells, without more splash from drops. */
static const float AIR_CHANGE = 0.6f, AIR_FAST = 4.0f; /* of sqrt(g dx) */

WadiStatus wadi_flip_extend_velocity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        return WADI_OK; /* a part of the solve */
    }
    const WadiRows *rows = &step->grid.rows;
    /* The change by pressure and friction varies little from face to face. Viscosity changes a face by what
     * it differs from its neighbours: there it gets their velocity. */
    const bool is_chord = wadi_flip_path(flip->context.world->scene) == WADI_FLIP_PATH_CHORD,
               is_kept = is_chord && !wadi_flip_is_viscous(flip);
    WadiFlipExtendIn in = { .rows = rows,
                            .layers = WADI_FLIP_MARGIN + 1,
                            .before_row = step->saved_row,
                            .change_fraction =
                                (float)wadi_flip_kept_fraction(flip, flip->materials.has_sand, step->dt),
                            .solid_row = step->solid.row };
    WadiFlipWallIn walls = { .rows = rows,
                             .solid_row = step->solid.row,
                             .distance = step->solid.distance,
                             .chord = is_chord ? step->dt / step->grid.cell_size : 0.0,
                             .solids = step->solid.velocity[0] != NULL ? &flip->context.world->solids : NULL,
                             .time = step->solid.time,
                             .dt = step->dt,
                             .cell_size = step->grid.cell_size,
                             .deepest = step->grid.cell_size };
    const double g = wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
    const float speed = (float)sqrt(g * step->grid.cell_size) + 1e-30f;
    WadiFlipAirIn air = { .rows = rows,
                          .cells = step->occupied_air,
                          .solid_row = step->solid.row,
                          .divergence = step->divergence,
                          .divergence_row = step->saved_row,
                          .cell_size = (float)step->grid.cell_size,
                          .largest_change = AIR_CHANGE * speed,
                          .fast = AIR_FAST * speed };
    for (int a = 0; a < 3; ++a) {
        in.known[a] = air.known[a] = step->known[a];
        in.before[a] = is_kept ? step->saved[a] : NULL;
        in.has_before[a] = step->reached[a];
        in.open[a] = walls.open[a] = air.open[a] = step->solid.open[a];
        walls.solid_velocity[a] = air.solid_velocity[a] = step->solid.velocity[a];
    }
    if (step->bonded != NULL) {
        const WadiFlipLinearIn linear = { .rows = rows, .known = step->known, .bonded = step->bonded };
        WADI_TRY(wadi_flip_extend_linear(&linear, step->grid.velocity, flip->context.scratch, error));
    }
    WADI_TRY(wadi_flip_extend(&in, step->grid.velocity, NULL, flip->context.scratch, error));
    if (!flip->materials.has_sand) {
        WADI_TRY(wadi_flip_extend_air(&air, step->grid.velocity, flip->context.scratch, error));
    }
    return wadi_flip_extend_walls(&walls, step->grid.velocity, flip->context.scratch, error);
}
