/* Quiescent sand is frozen in three steps of four. It keeps its position and velocity then, and its
 * neighbours find it with its pressure and stress as they were. Sand in balance stays; other sand gathers
 * speed at a quarter of the rate until it is not quiescent any more. So a jet in a heap costs what it moves,
 * where the tiles of sleep are too large. Water in pores flows in every step. [theory 11.8] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/rows.h"
#include "sph/sph.h"

/* It divides the numbers of the steps that measure loads on sleeping tiles, in which all has to take part. */
enum { FREEZE_STEPS = 4 };
enum { ROW_BLOCK = 32 };

/* Of g times the longest step: the mean velocity of a cell, and the speed of one of its particles, from which
 * on it is active. Sand without support gains the first at once. */
static const double QUIESCENT_MEAN = 0.1, QUIESCENT_LARGEST = 1.5;
/* Cells around active ones that are active as well; cells around wet sand that need lists of neighbours. */
enum { MARGIN = 1, WET_MARGIN = 1 };

typedef struct Quiescent {
    const WadiSph *sph;
    WadiSphStep *step;
    const double *water; /* in a scene with pores */
    float mean, largest; /* m/s, squared */
    uint8_t *active;     /* per row of the sort, from 1 on: lanes of active cells */
    uint8_t *wet;        /* and those with water */
} Quiescent;

static bool touches_moving_wall(const WadiSphWalls *walls, int32_t i)
{
    const int32_t near = wadi_sph_near(walls, i);
    bool is_moving = false;
    for (int c = 0; near >= 0 && c < walls->contact_count[near]; ++c) {
        is_moving = is_moving || wadi_sph_contact_moves(&walls->contact[near][c]);
    }
    return is_moving;
}

static float square_of(const WadiF4 *v)
{
    return (*v)[0] * (*v)[0] + (*v)[1] * (*v)[1] + (*v)[2] * (*v)[2];
}

static void classify_cells(void *context, int64_t first, int64_t end)
{
    const Quiescent *c = context;
    const WadiTileSort *sort = &c->step->sort;
    const WadiParticles *p = c->sph->context.particles;
    for (int64_t cell = 8 * first; cell < 8 * end; ++cell) {
        bool is_active = false, is_wet = false;
        WadiF4 sum = { 0 };
        for (int32_t k = sort->cell_start[cell]; k < sort->cell_start[cell + 1]; ++k) {
            const int32_t i = k - sort->first;
            const WadiF4 v = { p->vx[k], p->vy[k], p->vz[k], 0.0f };
            sum += v;
            is_active = is_active || !c->step->is_sand[i] || c->step->pore_pressure[i] > 0.0f ||
                        !(square_of(&v) < c->largest) || touches_moving_wall(&c->step->walls, i);
            is_wet = is_wet || (c->sph->has_pores && c->water[i] > 0.0);
        }
        const float particles = (float)(sort->cell_start[cell + 1] - sort->cell_start[cell]);
        is_active = is_active || square_of(&sum) > c->mean * particles * particles;
        const int64_t row = (cell >> 3) + 1;
        c->active[row] = (uint8_t)(c->active[row] | is_active << (cell & 7));
        c->wet[row] = (uint8_t)(c->wet[row] | is_wet << (cell & 7));
    }
}

/* Adds the cells beside those of the mask, also those at edges and corners. */
static void widen(const WadiRows *rows, uint8_t *mask, uint8_t *spare)
{
    const int32_t count = rows->count;
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(spare, mask, (size_t)count);
        for (int32_t row = 1; row < count; ++row) {
            const unsigned own = spare[row];
            const unsigned low = spare[rows->neighbour[row][2 * axis]];
            const unsigned high = spare[rows->neighbour[row][2 * axis + 1]];
            mask[row] =
                (uint8_t)(axis == 0 ? own | own << 1 | own >> 1 | low >> 7 | high << 7 : own | low | high);
        }
    }
}

static void freeze_cells(void *context, int64_t first, int64_t end)
{
    const Quiescent *c = context;
    const WadiSphStep *step = c->step;
    const WadiTileSort *sort = &step->sort;
    for (int64_t cell = 8 * first; cell < 8 * end; ++cell) {
        const int64_t row = (cell >> 3) + 1;
        const bool is_quiescent = (c->active[row] >> (cell & 7) & 1) == 0;
        const bool is_dry = (c->wet[row] >> (cell & 7) & 1) == 0;
        for (int32_t i = sort->cell_start[cell] - sort->first; i < sort->cell_start[cell + 1] - sort->first;
             ++i) {
            if (is_quiescent && step->role[i] != WADI_SPH_GHOST) {
                step->role[i] = is_dry ? WADI_SPH_FROZEN_DRY : WADI_SPH_FROZEN;
                step->inverse_density[i] = WADI_SPH_FIXED_INVERSE_DENSITY;
            }
        }
    }
}

static bool is_freezing_step(const WadiSph *sph, const WadiSphStep *step)
{
    return sph->steps % FREEZE_STEPS != 0 && !step->ends_frame && sph->sleep.is_on && sph->materials.has_sand;
}

WadiStatus wadi_sph_freeze_quiescent(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    if (!is_freezing_step(sph, step)) {
        return WADI_OK;
    }
    const double fall = wadi_sph_longest_step(sph) * sph->spacing / (sph->unit_time * sph->unit_time);
    WadiRows rows;
    uint8_t *spare = NULL;
    Quiescent c = { .sph = sph,
                    .step = step,
                    .mean = (float)(QUIESCENT_MEAN * QUIESCENT_MEAN * fall * fall),
                    .largest = (float)(QUIESCENT_LARGEST * QUIESCENT_LARGEST * fall * fall) };
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_rows_build(&rows, &step->sort.tiles, step->sort.row_mask, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &c.active, (size_t)rows.count, "quiescent sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &c.wet, (size_t)rows.count, "quiescent sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &spare, (size_t)rows.count, "quiescent sand", error));
    memset(c.active, 0, (size_t)rows.count);
    memset(c.wet, 0, (size_t)rows.count);
    if (sph->has_pores) {
        c.water = (const double *)wadi_particles_column(sph->context.particles, sph->water_column) +
                  step->sort.first;
    }
    const int farther = step->has_sizes;
    wadi_parallel_for(rows.count - 1, ROW_BLOCK, classify_cells, &c);
    for (int n = 0; n < MARGIN + farther; ++n) {
        widen(&rows, c.active, spare);
    }
    for (int n = 0; n < WET_MARGIN + farther; ++n) {
        widen(&rows, c.wet, spare);
    }
    wadi_parallel_for(rows.count - 1, ROW_BLOCK, freeze_cells, &c);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
