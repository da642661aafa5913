/* Velocities outside the fluid and at solids, as printed. [ZB05 secs. 3.3, 4.2.3; A24 sec. I-B] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/published/flip_printed.h"
#include "flip/published/flip_rigid_cells.h"
#include "grid/sweep.h"

typedef struct Faces {
    const WadiPrintedCells *cells;
    float *const *velocity;
} Faces;

static void stop_rows(void *context, int64_t first, int64_t end)
{
    const Faces *work = context;
    const WadiPrintedCells *cells = work->cells;
    for (int32_t c = 8 * (int32_t)(first > 0 ? first : 1); c < 8 * end; ++c) {
        for (int a = 0; a < 3; ++a) {
            const int32_t low = wadi_cell_neighbour(cells->rows, c, 2 * a);
            const int is_high_solid = wadi_cell_bit(cells->solid, c);
            if (is_high_solid == wadi_cell_bit(cells->solid, low)) {
                continue;
            }
            const float *speeds = cells->solid_speed[a];
            const float solid = speeds != NULL ? speeds[wadi_table_cell(cells->solid_row, (size_t)c)] : 0.0f;
            float *u = &work->velocity[a][c];
            *u = is_high_solid ? fminf(*u, solid) : fmaxf(*u, solid);
        }
    }
}

void wadi_printed_stop_at_solids(const WadiPrintedCells *cells, float *const velocity[3])
{
    wadi_parallel_for(cells->rows->count, WADI_ROW_BLOCK, stop_rows, &(Faces){ cells, velocity });
}

static void clear_rows(void *context, int64_t first, int64_t end)
{
    const Faces *work = context;
    for (int32_t c = 8 * (int32_t)(first > 0 ? first : 1); c < 8 * end; ++c) {
        for (int a = 0; a < 3; ++a) {
            const int32_t low = wadi_cell_neighbour(work->cells->rows, c, 2 * a);
            if (wadi_cell_bit(work->cells->solid, c) || wadi_cell_bit(work->cells->solid, low)) {
                work->velocity[a][c] = 0.0f;
            }
        }
    }
}

void wadi_printed_clear_solids(const WadiPrintedCells *cells, float *const velocity[3])
{
    wadi_parallel_for(cells->rows->count, WADI_ROW_BLOCK, clear_rows, &(Faces){ cells, velocity });
}

typedef struct Extension {
    const WadiPrintedCells *cells;
    int axis;
    const float *distance; /* of cells */
    float *face_distance, *velocity;
    uint8_t *known;
} Extension;

static void begin_rows(void *context, int64_t first, int64_t end)
{
    const Extension *work = context;
    const WadiPrintedCells *cells = work->cells;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const unsigned known =
            cells->fluid[row] | wadi_row_neighbour_bits(cells->rows, cells->fluid, row, 2 * work->axis);
        work->known[row] = row > 0 ? (uint8_t)known : 0;
        for (int32_t c = 8 * row; row > 0 && c < 8 * row + 8; ++c) {
            const int32_t low = wadi_cell_neighbour(cells->rows, c, 2 * work->axis);
            const float beyond = low >= 8 ? work->distance[low] : work->distance[c];
            work->face_distance[c] = 0.5f * (work->distance[c] + beyond);
            work->velocity[c] = known >> (c & 7) & 1 ? work->velocity[c] : 0.0f;
        }
    }
}

WadiStatus wadi_printed_extend(const WadiPrintedCells *cells, float *const velocity[3], WadiArena *scratch,
                               WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    const size_t floats = wadi_rows_floats(cells->rows);
    WadiSweepReport report;
    Extension work = { .cells = cells };
    float *distance = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &distance, floats, "distances", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &work.face_distance, floats, "distances", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &work.known, (size_t)cells->rows->count, "known faces", error));
    memset(distance, 0, floats * sizeof *distance);
    memset(work.face_distance, 0, floats * sizeof *work.face_distance);
    WADI_TRY(wadi_sweep_distance(cells->rows, cells->fluid, cells->cell_size, 16.0 * cells->cell_size,
                                 distance, scratch, &report, error));
    work.distance = distance;
    for (work.axis = 0; work.axis < 3; ++work.axis) {
        work.velocity = velocity[work.axis];
        wadi_parallel_for(cells->rows->count, WADI_ROW_BLOCK, begin_rows, &work);
        WADI_TRY(wadi_sweep_extend(cells->rows, work.known, work.face_distance, work.velocity, scratch,
                                   &report, error));
    }
    wadi_arena_release(scratch, mark);
    wadi_printed_stop_at_solids(cells, velocity);
    return WADI_OK;
}
