/* Removes particles that leave through an open side of the domain. One byte per particle has the sides (bits
 * WADI_SIDE_…) beyond which it started and through which it has not entered yet: an emitter may be outside
 * the domain (bodies are clipped to it). Walls extend outside for such particles; one that never enters is
 * removed when it is far away. */
#include <math.h>

#include "core/parallel.h"
#include "sim/sim.h"

enum { SIDES_BLOCK = 8192 };

/* Largest distance from the domain of a particle that has not entered yet, in longest sides of the domain. */
static const double entry_distance = 4.0;

typedef struct OpenSides {
    const WadiParticles *particles;
    WadiBox domain, far; /* closed sides are at infinity */
    uint8_t *outside, *is_removed;
} OpenSides;

static OpenSides open_sides(const WadiSim *sim)
{
    const WadiBox domain = sim->world->solids.domain;
    const WadiVec3 size = wadi_box_size(domain);
    const double distance = entry_distance * fmax(size.x, fmax(size.y, size.z));
    const WadiVec3 margin = { distance, distance, distance };
    const WadiBox far = { wadi_sub(domain.min, margin), wadi_add(domain.max, margin) };
    const int open = ~sim->world->solids.closed_sides;
    return (OpenSides){ .particles = &sim->particles,
                        .domain = wadi_box_closed_sides(domain, open),
                        .far = wadi_box_closed_sides(far, open),
                        .outside = wadi_particles_column(&sim->particles, sim->outside_column) };
}

/* Marks the particles of a block that left; returns their number. */
static double mark_block(void *context, int64_t first, int64_t end)
{
    const OpenSides *sides = context;
    const WadiParticles *p = sides->particles;
    int64_t count = 0;
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const int beyond = wadi_box_sides_beyond(sides->domain, x);
        const bool has_left = (beyond & ~sides->outside[i]) != 0 || wadi_box_sides_beyond(sides->far, x) != 0;
        /* A particle that is not finite is lost, not drained. */
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
    wadi_sim_remove_drained(sim, sides.is_removed);
    return WADI_OK;
}
