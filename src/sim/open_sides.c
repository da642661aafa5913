/* What crosses an open side of the domain is gone. A byte a particle has the sides (bits WADI_SIDE_…) that it began beyond and has
 * not come in through yet: an emitter may stand outside, above an open top or in front of an open side (bodies are cut off at the
 * domain). The walls beside an open side go on outside for those, so what never comes in is taken when it is far away. */
#include <math.h>

#include "core/parallel.h"
#include "sim/sim.h"

enum { SIDES_BLOCK = 8192 };

/* How far outside a particle may be that has not come in yet, in longest sides of the domain. */
static const double reach_of_world = 4.0;

typedef struct OpenSides {
    const WadiParticles *particles;
    WadiBox domain, far; /* their closed sides are at infinity */
    uint8_t *outside, *is_removed;
} OpenSides;

static OpenSides open_sides(const WadiSim *sim)
{
    const WadiBox domain = sim->world->solids.domain;
    const WadiVec3 size = wadi_box_size(domain);
    const double reach = reach_of_world * fmax(size.x, fmax(size.y, size.z));
    const WadiVec3 margin = { reach, reach, reach };
    const WadiBox far = { wadi_sub(domain.min, margin), wadi_add(domain.max, margin) };
    const int open = ~sim->world->solids.closed_sides;
    return (OpenSides){ .particles = &sim->particles,
                        .domain = wadi_box_closed_sides(domain, open),
                        .far = wadi_box_closed_sides(far, open),
                        .outside = wadi_particles_column(&sim->particles, sim->outside_column) };
}

/* Marks those of a block that left; returns how many. */
static double mark_block(void *context, int64_t first, int64_t end)
{
    const OpenSides *sides = context;
    const WadiParticles *p = sides->particles;
    int64_t count = 0;
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const int beyond = wadi_box_sides_beyond(sides->domain, x);
        const bool has_left = (beyond & ~sides->outside[i]) != 0 || wadi_box_sides_beyond(sides->far, x) != 0;
        /* What is no number is a loss, not a leave. */
        sides->is_removed[i] = has_left && wadi_is_finite(x);
        sides->outside[i] &= (uint8_t)beyond;
        count += sides->is_removed[i];
    }
    return (double)count;
}

WadiStatus wadi_sim_drain_open_sides(WadiSim *sim, WadiError *error)
{
    WadiParticles *p = &sim->particles;
    if (sim->outside_column == 0 || p->count == 0) {
        return WADI_OK;
    }
    OpenSides sides = open_sides(sim);
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &sides.is_removed, (size_t)p->count, "open sides", error));
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &partials,
                            (size_t)wadi_parallel_block_count(p->count, SIDES_BLOCK), "open sides", error));
    if (wadi_parallel_sum(p->count, SIDES_BLOCK, mark_block, &sides, partials) == 0.0) {
        return WADI_OK;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        sim->drained[p->material[i]] += sides.is_removed[i];
    }
    wadi_particles_remove(p, sides.is_removed);
    return WADI_OK;
}
