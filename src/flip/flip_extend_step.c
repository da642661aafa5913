/* Velocities on faces in the air and on closed faces, for particles near the surface and near walls. */
#include <math.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/transfer/flip_extend.h"
#include "flip/transfer/flip_extend_air.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

/* Largest change and fade-out speed of flip_extend_air.c, in units of sqrt(g dx): enough for gentle waves
 * of a few cells, without more splash from drops. */
static const float AIR_CHANGE = 0.6f, AIR_FAST = 4.0f; /* of sqrt(g dx) */

/* Particles read the velocities beside faces that are less open: small masses gain nothing [theory 3.1]. */
static const float READ_OPEN = 0.2f;

static bool has_flip(const WadiFlip *flip)
{
    bool has_any = false;
    for (int m = 0; m < flip->materials.count; ++m) {
        has_any = has_any || flip->flip_fraction[m] > 0.0f;
    }
    return has_any;
}

typedef struct ReadContext {
    const WadiFlipStep *step;
    float *open[3];
} ReadContext;

static void find_read(void *user, int64_t first, int64_t end)
{
    const ReadContext *context = user;
    for (int axis = 0; axis < 3; ++axis) {
        for (int64_t row = first; row < end; ++row) {
            const WadiF8 open = WADI_ROW(context->step->solid.open[axis], row);
            const WadiI8 is_read = open >= READ_OPEN;
            WADI_ROW_OUT(context->open[axis], row) = (WadiF8)((WadiI8)open & is_read);
        }
    }
}

static void forget_small(void *user, int64_t first, int64_t end)
{
    const ReadContext *context = user;
    const WadiFlipStep *step = context->step;
    for (int axis = 0; axis < 3; ++axis) {
        for (int64_t row = first; row < end; ++row) {
            const WadiI8 is_read =
                WADI_ROW(context->open[axis], wadi_table_row(step->solid.row, (int32_t)row)) > 0.0f;
            step->known[axis][row] &= (uint8_t)wadi_row_bits(&is_read);
        }
    }
}

/* Open fractions of the faces whose velocity particles read; the others are closed to them. */
static WadiStatus find_read_faces(const WadiFlip *flip, WadiFlipStep *step, float *open[3], WadiError *error)
{
    ReadContext context = { .step = step };
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &context.open[axis],
                                WADI_ROW_CELLS * (size_t)step->solid.row_count, "open faces", error));
        open[axis] = context.open[axis];
    }
    wadi_parallel_for(step->solid.row_count, WADI_ROW_BLOCK, find_read, &context);
    wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, forget_small, &context);
    return WADI_OK;
}

static WadiStatus find_oblique_walls(WadiFlipExtendIn *in, WadiArena *scratch, WadiError *error)
{
    const size_t rows = (size_t)in->rows->count;
    uint8_t *cut, *oblique;
    WADI_TRY(WADI_ARENA_NEW(scratch, &cut, rows, "oblique walls", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &oblique, rows, "oblique walls", error));
    wadi_flip_find_oblique(in, cut, oblique);
    in->oblique = oblique;
    return WADI_OK;
}

WadiStatus wadi_flip_extend_velocity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        return WADI_OK; /* a part of the solve */
    }
    const WadiRows *rows = &step->grid.rows;
    float *open[3] = { step->solid.open[0], step->solid.open[1], step->solid.open[2] };
    if (wadi_flip_has_small_faces(flip)) {
        WADI_TRY(find_read_faces(flip, step, open, error));
    }
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
        in.open[a] = walls.open[a] = air.open[a] = open[a];
        walls.solid_velocity[a] = air.solid_velocity[a] = step->solid.velocity[a];
    }
    in.is_mirrored = has_flip(flip);
    if (is_kept && in.is_mirrored) {
        WADI_TRY(find_oblique_walls(&in, flip->context.scratch, error));
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
