#include "dem/list/dem_sleepers.h"

static const double CELL = 6.0; /* largest radii */

WadiStatus wadi_dem_asleep_build(WadiDemAsleep *asleep, const WadiParticles *particles, int32_t count,
                                 const float *radius, double largest_radius, WadiArena *arena,
                                 WadiError *error)
{
    const double scale = wadi_dem_fixed_point_scale(largest_radius);
    const double *x[3] = { particles->x, particles->y, particles->z };
    const size_t padded = (size_t)count + WADI_DEM_LANES;
    int32_t *subset = NULL;
    asleep->largest_radius = largest_radius;
    WADI_TRY(wadi_arena_reset(arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &subset, (size_t)count, "sleeping grains", error));
    for (int32_t i = 0; i < count; ++i) {
        subset[i] = i;
    }
    WADI_TRY(wadi_cells_build_subset(&asleep->cells, particles, subset, count, CELL * largest_radius, arena,
                                     error));
    WADI_TRY(WADI_ARENA_NEW(arena, &asleep->radius, padded, "sleeping grains", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &asleep->axis[a], padded, "sleeping grains", error));
        for (int32_t n = 0; n < count; ++n) {
            asleep->axis[a][n] = wadi_dem_fixed_point(x[a][asleep->cells.order[n]], scale);
        }
        for (int l = 0; l < WADI_DEM_LANES; ++l) {
            asleep->axis[a][count + l] = 0;
        }
    }
    for (int32_t n = 0; n < count; ++n) {
        asleep->radius[n] = radius[asleep->cells.order[n]];
    }
    return WADI_OK;
}

/* A box in fixed-point positions. */
typedef struct Window {
    int32_t low[3];
    uint32_t size[3];
} Window;

/* Adds the grains of a cell that are in the window; false: there is no room. */
static bool add_cell(WadiDemSleepers *s, const WadiDemAsleep *asleep, const Window *w, int32_t cell)
{
    const int32_t end = asleep->cells.start[cell + 1];
    for (int32_t n = asleep->cells.start[cell]; n < end; n += WADI_DEM_LANES) {
        WadiU8 is_in = (WadiU8){ 0 } - 1u;
        for (int a = 0; a < 3; ++a) {
            const WadiU8 from = *(const WadiU8 *)(asleep->axis[a] + n) - (uint32_t)w->low[a];
            is_in &= (WadiU8)(from <= w->size[a]);
        }
        const WadiI8 mask = (WadiI8)is_in;
        unsigned bits = wadi_row_bits(&mask);
        bits &= end - n < WADI_DEM_LANES ? (1u << (end - n)) - 1 : 0xffu;
        if (s->count + 2 * WADI_DEM_LANES > WADI_DEM_SLEEPERS_MAX) {
            return false;
        }
        for (; bits != 0; bits &= bits - 1) {
            const int32_t at = n + __builtin_ctz(bits);
            s->grain[s->count] = asleep->cells.order[at];
            for (int a = 0; a < 3; ++a) {
                s->x[a][s->count] = (float)(asleep->axis[a][at] - w->low[a]);
            }
            s->radius[s->count++] = asleep->radius[at];
        }
    }
    return true;
}

bool wadi_dem_sleepers_find(WadiDemSleepers *sleepers, const WadiDemAsleep *asleep, const WadiBox *box,
                            double far)
{
    const WadiCells *cells = &asleep->cells;
    const double scale = wadi_dem_fixed_point_scale(asleep->largest_radius);
    const double low[3] = { box->min.x - far, box->min.y - far, box->min.z - far };
    const double high[3] = { box->max.x + far, box->max.y + far, box->max.z + far };
    int32_t from[3], to[3];
    Window w;
    sleepers->count = 0;
    for (int a = 0; a < 3; ++a) {
        from[a] = (int32_t)floor(low[a] / cells->cell_size);
        to[a] = (int32_t)floor(high[a] / cells->cell_size);
        w.low[a] = sleepers->origin[a] = wadi_dem_fixed_point(low[a], scale);
        w.size[a] = (uint32_t)((high[a] - low[a]) * scale) + 2u;
    }
    for (int32_t k = from[2]; k <= to[2]; ++k) {
        for (int32_t j = from[1]; j <= to[1]; ++j) {
            for (int32_t i = from[0]; i <= to[0]; ++i) {
                const int32_t cell = wadi_cells_find(cells, i, j, k);
                if (cell >= 0 && !add_cell(sleepers, asleep, &w, cell)) {
                    return false;
                }
            }
        }
    }
    for (int32_t n = sleepers->count; n < sleepers->count + WADI_DEM_LANES; ++n) {
        sleepers->x[0][n] = sleepers->x[1][n] = sleepers->x[2][n] = 0.0f;
        sleepers->radius[n] = -1e9f;
    }
    return true;
}
