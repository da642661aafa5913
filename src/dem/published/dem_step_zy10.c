/* One step of `dem.published: zy10`, stage by stage as printed [ZY10 sec. 3]: the height field evolves,
 * grains are trapped and dislodged, the others move by their contacts. All of it in every step, without rules
 * of rest, balance, quiescence or waking. docs/dem-surface-flow.md lists what the paper leaves open. */
#include <math.h>

#include "core/parallel.h"
#include "dem/columns/dem_gap_grains.h"
#include "dem/dem.h"
#include "dem/dem_stage.h"
#include "dem/published/dem_frontier.h"

enum { BLOCK = 4096, GAP_BLOCK = 256 };

typedef struct Heights {
    const WadiDemGapGrains *grains;
    const WadiDemColumns *columns;
    double *base; /* m: top of the static sand that has grains */
    double *surface;
} Heights;

static void measure_block(void *context, int64_t first, int64_t end)
{
    const Heights *h = context;
    for (int64_t gap = first; gap < end; ++gap) {
        h->surface[gap] = wadi_dem_gap_surface(h->grains, (int32_t)gap, h->base[gap]);
    }
}

/* Of each gap: the top of its frozen grains, at most h. */
static void find_bases(const WadiDem *dem, double *base)
{
    const WadiDemColumns *c = dem->surface->flow.columns;
    const WadiParticles *p = dem->context.particles;
    for (int32_t gap = 0; gap < c->count; ++gap) {
        base[gap] = c->floor[gap];
    }
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
        const int32_t gap = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
        if (gap >= 0) {
            base[gap] = fmax(base[gap], fmin(p->z[i] + 0.5 * dem->diameter, c->height[gap]));
        }
    }
}

/* H is measured, then h and R exchange sand. */
static WadiStatus evolve_heights(WadiDem *dem, const WadiDemStep *step, WadiError *error)
{
    WadiDemSurface *s = dem->surface;
    WadiArena *scratch = dem->context.scratch;
    WadiDemColumns *c = s->flow.columns;
    WadiDemGapGrains grains = { .columns = c,
                                .particles = dem->context.particles,
                                .first = dem->sleep.count,
                                .diameter = dem->diameter,
                                .fall_speed = s->flow.fall_speed };
    Heights heights = { .grains = &grains, .columns = c };
    WADI_TRY(WADI_ARENA_NEW(scratch, &heights.base, (size_t)c->count, "heights of columns", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &heights.surface, (size_t)c->count, "heights of columns", error));
    WADI_TRY(wadi_dem_gap_grains_sort(&grains, scratch, error));
    find_bases(dem, heights.base);
    wadi_parallel_for(c->count, GAP_BLOCK, measure_block, &heights);
    const WadiDemFrontier law = { .repose = wadi_dem_repose(dem->context.world->scene, step->time),
                                  .rate = s->flow.law.rate,
                                  .thinnest = s->flow.least_depth };
    wadi_dem_frontier_evolve(c, heights.surface, &law, step->dt);
    return WADI_OK;
}

typedef struct Transfer {
    const WadiDem *dem;
    uint8_t *state;
    const float *radius;
    int64_t *trapped, *dislodged; /* per block */
} Transfer;

static void transfer_block(void *context, int64_t first, int64_t end)
{
    const Transfer *t = context;
    const WadiDem *dem = t->dem;
    const WadiDemColumns *c = dem->surface->flow.columns;
    const WadiParticles *p = dem->context.particles;
    int64_t trapped = 0, dislodged = 0;
    for (int64_t i = first; i < end; ++i) {
        const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
        const int32_t gap = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
        const bool is_static = gap >= 0 && p->z[i] < c->height[gap];
        const bool was_static = t->state[i] == WADI_DEM_FROZEN;
        /* A grain that is still growing would keep its size. */
        const bool is_grown = (double)t->radius[i] > 0.999 * wadi_dem_radius_of(dem, i);
        if (is_static && !was_static && is_grown) {
            t->state[i] = WADI_DEM_FROZEN;
            trapped += 1;
        } else if (was_static && !is_static) {
            t->state[i] = WADI_DEM_AWAKE;
            dislodged += 1;
        }
    }
    t->trapped[first / BLOCK] = trapped;
    t->dislodged[first / BLOCK] = dislodged;
}

/* Erosion and deposition of grains: those below h are fixed, those above it move. */
static WadiStatus transfer_matter(WadiDem *dem, WadiError *error)
{
    WadiDemSurface *s = dem->surface;
    const WadiParticles *p = dem->context.particles;
    const int64_t blocks = wadi_parallel_block_count(p->count, BLOCK);
    Transfer transfer = { .dem = dem,
                          .state = wadi_particles_column(p, s->state_column),
                          .radius = wadi_particles_column(p, dem->radius_column) };
    WADI_TRY(
        WADI_ARENA_NEW(dem->context.scratch, &transfer.trapped, (size_t)blocks, "trapped grains", error));
    WADI_TRY(
        WADI_ARENA_NEW(dem->context.scratch, &transfer.dislodged, (size_t)blocks, "dislodged grains", error));
    wadi_parallel_for(p->count, BLOCK, transfer_block, &transfer);
    int64_t changed = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        s->froze += transfer.trapped[b];
        s->woke += transfer.dislodged[b];
        changed += transfer.trapped[b] + transfer.dislodged[b];
    }
    return changed > 0 ? wadi_dem_surface_sort(dem, error) : WADI_OK;
}

WadiStatus wadi_dem_step_zy10(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiDemStep step;
    if (!wadi_dem_begin_step(dem, now, &step)) {
        return WADI_OK;
    }
    wadi_dem_surface_recount(dem);
    RUN("height field", evolve_heights(dem, &step, error));
    RUN("matter transfer", transfer_matter(dem, error));
    if (wadi_dem_is_all_asleep(dem, report)) {
        return WADI_OK;
    }
    RUN("list", wadi_dem_rebuild_list(dem, &step, error));
    return wadi_dem_move_by_contacts(dem, &step, error);
}
