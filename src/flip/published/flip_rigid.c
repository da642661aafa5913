/* The stop rule and the sliding stress of [ZB05 sec. 3.2; theory 6.12].
 * Differs: stress has the sign of the strain rate (the printed minus accelerates shear); shear is measured
 * on edges (central differences miss the shortest shear wave); friction uses the solver's pressure; the
 * applied stress is limited. */
#include "flip/published/flip_rigid.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/published/flip_rigid_cells.h"
#include "flip/transfer/flip_row_table.h"

enum { ROW_BLOCK = 256 };

typedef struct Classify {
    const WadiFrictionGrid *grid;
    const float *const *velocity;
    const WadiRigidLoad *load;
    WadiRigidCells *cells;
} Classify;

/* Axes of rate[3 + kind]. */
static const int edge_axis[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };

static bool edge_is_active(const WadiFrictionGrid *grid, int32_t cell, int a, int b)
{
    return wadi_face_is_free(grid, cell, a) && wadi_face_is_free(grid, cell, b) &&
           wadi_face_is_free(grid, wadi_cell_neighbour(grid->rows, cell, 2 * b), a) &&
           wadi_face_is_free(grid, wadi_cell_neighbour(grid->rows, cell, 2 * a), b);
}

static void measure_rates(void *context, int64_t first, int64_t end)
{
    const Classify *work = context;
    const WadiFrictionGrid *grid = work->grid;
    float *const *rate = work->cells->rate;
    const int32_t stop = 8 * (int32_t)end;
    for (int32_t c = wadi_cell_with_faces(grid, 8 * (int32_t)(first > 0 ? first : 1), stop); c < stop;
         c = wadi_cell_with_faces(grid, c + 1, stop)) {
        if (wadi_cell_bit(grid->fluid, c)) {
            float d[3];
            for (int a = 0; a < 3; ++a) {
                d[a] =
                    work->velocity[a][wadi_cell_neighbour(grid->rows, c, 2 * a + 1)] - work->velocity[a][c];
            }
            float mean = (d[0] + d[1] + d[2]) / 3.0f;
            for (int a = 0; a < 3; ++a) {
                rate[a][c] = d[a] - mean;
            }
        }
        for (int kind = 0; kind < 3; ++kind) {
            int a = edge_axis[kind][0], b = edge_axis[kind][1];
            if (edge_is_active(grid, c, a, b)) {
                int32_t low_b = wadi_cell_neighbour(grid->rows, c, 2 * b),
                        low_a = wadi_cell_neighbour(grid->rows, c, 2 * a);
                rate[3 + kind][c] = 0.5f * (work->velocity[a][c] - work->velocity[a][low_b] +
                                            work->velocity[b][c] - work->velocity[b][low_a]);
            }
        }
    }
}

/* sigma_bar of the stress that would stop the cell in one step: shear as the mean square over the cell's
 * active edges. */
static double stopping_stress(const Classify *work, int32_t c)
{
    const WadiRows *rows = work->grid->rows;
    double square = 0.0;
    for (int a = 0; a < 3; ++a) {
        double d = (double)work->cells->rate[a][c];
        square += 0.5 * d * d;
    }
    for (int kind = 0; kind < 3; ++kind) {
        int a = edge_axis[kind][0], b = edge_axis[kind][1], count = 0;
        double sum = 0.0;
        for (int e = 0; e < 4; ++e) {
            int32_t at = e & 1 ? wadi_cell_neighbour(rows, c, 2 * a + 1) : c;
            at = e & 2 ? wadi_cell_neighbour(rows, at, 2 * b + 1) : at;
            double t = (double)work->cells->rate[3 + kind][at];
            sum += t * t;
            count += edge_is_active(work->grid, at, a, b);
        }
        square += count > 0 ? sum / count : 0.0;
    }
    return sqrt(square);
}

static void test_yield(void *context, int64_t first, int64_t end)
{
    const Classify *work = context;
    const WadiRigidLoad *load = work->load;
    for (int32_t c = 8 * (int32_t)(first > 0 ? first : 1); c < 8 * end; ++c) {
        if (!wadi_cell_bit(work->grid->fluid, c)) {
            continue;
        }
        double pressure = fmax(load->pressure[wadi_table_cell(work->grid->pressure_row, (size_t)c)], 0.0);
        double cohesion = load->cohesion != NULL ? (double)load->cohesion[c] : 0.0;
        double stress = stopping_stress(work, c);
        double ratio = load->sliding_fraction;
        const double yield = (double)load->k[c] * pressure + cohesion;
        if (stress < yield) {
            work->cells->rigid[c >> 3] |= (uint8_t)(1 << (c & 7));
        } else if (stress > 0.0) {
            ratio = fmin(ratio, yield / stress);
        }
        work->cells->stress_ratio[c] = (float)ratio;
    }
}

static WadiStatus zeroed(WadiArena *arena, void **memory, size_t count, size_t size, WadiError *error)
{
    WADI_TRY(wadi_arena_alloc(arena, memory, count, size, "rigid groups", error));
    memset(*memory, 0, count * size);
    return WADI_OK;
}

WadiStatus wadi_rigid_classify(const WadiFrictionGrid *grid, const float *const velocity[3],
                               const WadiRigidLoad *load, WadiRigidCells *cells, WadiArena *arena,
                               WadiError *error)
{
    *cells = (WadiRigidCells){ 0 };
    size_t count = wadi_rows_floats(grid->rows);
    for (int n = 0; n < 6; ++n) {
        WADI_TRY(zeroed(arena, (void **)&cells->rate[n], count, sizeof(float), error));
    }
    WADI_TRY(zeroed(arena, (void **)&cells->stress_ratio, count, sizeof(float), error));
    WADI_TRY(zeroed(arena, (void **)&cells->rigid, (size_t)grid->rows->count, 1, error));
    Classify work = { .grid = grid, .velocity = velocity, .load = load, .cells = cells };
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, measure_rates, &work);
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, test_yield, &work);
    return WADI_OK;
}

typedef struct Slide {
    const WadiFrictionGrid *grid;
    const WadiRigidCells *cells;
    const WadiRigidGroups *groups;
    float *shear[3]; /* stress on the low edges */
    float *const *velocity;
} Slide;

static void stress_edges(void *context, int64_t first, int64_t end)
{
    const Slide *work = context;
    const WadiRows *rows = work->grid->rows;
    const float *ratio = work->cells->stress_ratio;
    const int32_t stop = 8 * (int32_t)end;
    for (int32_t c = wadi_cell_with_faces(work->grid, 8 * (int32_t)(first > 0 ? first : 1), stop); c < stop;
         c = wadi_cell_with_faces(work->grid, c + 1, stop)) {
        for (int kind = 0; kind < 3; ++kind) {
            int32_t low_a = wadi_cell_neighbour(rows, c, 2 * edge_axis[kind][0]);
            int32_t low_b = wadi_cell_neighbour(rows, c, 2 * edge_axis[kind][1]);
            int32_t low = wadi_cell_neighbour(rows, low_a, 2 * edge_axis[kind][1]);
            float mean = 0.25f * (ratio[c] + ratio[low_a] + ratio[low_b] + ratio[low]);
            work->shear[kind][c] = mean * work->cells->rate[3 + kind][c];
        }
    }
}

static void push_faces(void *context, int64_t first, int64_t end)
{
    static const int kind_of[3][3] = { { -1, 0, 1 }, { 0, -1, 2 }, { 1, 2, -1 } };
    const Slide *work = context;
    const WadiRows *rows = work->grid->rows;
    const WadiRigidCells *cells = work->cells;
    const int32_t stop = 8 * (int32_t)end;
    for (int32_t c = wadi_cell_with_faces(work->grid, 8 * (int32_t)(first > 0 ? first : 1), stop); c < stop;
         c = wadi_cell_with_faces(work->grid, c + 1, stop)) {
        for (int a = 0; a < 3; ++a) {
            int32_t low = wadi_cell_neighbour(rows, c, 2 * a);
            bool is_grouped = work->groups->group[c] >= 0 || work->groups->group[low] >= 0;
            if (is_grouped || !wadi_face_is_free(work->grid, c, a)) {
                continue;
            }
            float force =
                cells->stress_ratio[c] * cells->rate[a][c] - cells->stress_ratio[low] * cells->rate[a][low];
            for (int b = 0; b < 3; ++b) {
                if (b != a) {
                    const float *shear = work->shear[kind_of[a][b]];
                    force += shear[wadi_cell_neighbour(rows, c, 2 * b + 1)] - shear[c];
                }
            }
            work->velocity[a][c] += force;
        }
    }
}

WadiStatus wadi_rigid_slide(const WadiFrictionGrid *grid, const WadiRigidCells *cells,
                            const WadiRigidGroups *groups, float *const velocity[3], WadiArena *arena,
                            WadiError *error)
{
    Slide work = { .grid = grid, .cells = cells, .groups = groups, .velocity = velocity };
    for (int kind = 0; kind < 3; ++kind) {
        WADI_TRY(
            zeroed(arena, (void **)&work.shear[kind], wadi_rows_floats(grid->rows), sizeof(float), error));
    }
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, stress_edges, &work);
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, push_faces, &work);
    return WADI_OK;
}
