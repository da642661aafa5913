/* Particles get their velocities and pressures and move; solids stop them, should the pressure fail to. */
#include <math.h>

#include "core/parallel.h"
#include "math/minmax.h"
#include "particles/collide.h"
#include "sph/sph.h"

enum { BLOCK = 1024 };

#define SKIN 1e-3 /* spacings: distance from solids after a contact */

typedef struct Move {
    const WadiSph *sph;
    const WadiSphStep *step;
    WadiCollideIn collide;
    WadiCollideReport *reports; /* per block */
    float *stiffest;            /* per block: the largest stiffness by the pressure */
    float to_pascal;
    WadiSphStiffness stiffness;
    bool are_solids_moving;
} Move;

/* Velocity of a particle at a wall that its shift drives away while its velocity points into it: the wall
 * stops what the shift undoes. Else a film would fall on, ever faster, without moving; and the collision
 * would let the path follow the velocity, and the particle stay on the wall for good. */
static WadiF4 stop_at_walls(const WadiSph *sph, const WadiSphStep *step, int32_t i, WadiF4 v, WadiF4 by)
{
    const WadiSphWalls *walls = &step->walls;
    const int32_t near = wadi_sph_near(walls, i);
    const float nearest = wadi_sph_nearest(&sph->kernel.of[0]) * step->size[i];
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        WadiF4 n = walls->contact[near][c].normal;
        const WadiF4 toward = (v - walls->contact[near][c].velocity) * n, shift = by * n;
        const float rate = toward[0] + toward[1] + toward[2];
        const float away = shift[0] + shift[1] + shift[2];
        if (n[3] < nearest && rate < 0.0f && away > 0.0f) {
            n[3] = 0.0f;
            v -= n * (rate + away > 0.0f ? rate : -away);
        }
    }
    return v;
}

/* Whether a way of `length` (spacings) is too short to reach a wall: those that the particle has contacts
 * with, none of which moves, and those beyond the radius within which contacts are found. */
static bool stays_clear(const Move *m, int64_t i, WadiVec3 x, double length)
{
    const WadiSphWalls *walls = &m->step->walls;
    const int32_t near = wadi_sph_near(walls, i);
    const double size = (double)m->step->size[i];
    const double radius = size * (near < 0 ? WADI_SPH_SUPPORT : WADI_SPH_WALL_REACH);
    double sweep = 0.0; /* spacings that a solid moves */
    if (m->are_solids_moving) {
        sweep = wadi_solids_speed_bound(m->collide.solids, x, radius * m->sph->spacing, m->collide.t0,
                                        m->collide.t1) *
                m->step->dt / m->sph->spacing;
    }
    bool is_clear = length + sweep + 2.0 * SKIN < radius;
    if (near < 0) {
        return is_clear;
    }
    is_clear = is_clear && walls->contact_count[near] > 0;
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        const WadiSphContact *contact = &walls->contact[near][c];
        is_clear =
            is_clear && length + 2.0 * SKIN < (double)contact->normal[3] && !wadi_sph_contact_moves(contact);
    }
    return is_clear;
}

static void move_block(void *context, int64_t first, int64_t end)
{
    const Move *m = context;
    const WadiSphStep *step = m->step;
    WadiParticles *p = m->sph->context.particles;
    float *pressure = wadi_particles_column(p, m->sph->pressure_column);
    const double dt = step->dt;
    float stiffest = 0.0f;
    for (int64_t i = first; i < end; ++i) {
        const int32_t k = step->sort.first + (int32_t)i;
        if (step->role[i] != WADI_SPH_ACTIVE) {
            continue;
        }
        const WadiF4 v = step->velocity[i];
        const WadiF4 shift = wadi_sph_xyz(step->shift[i]);
        p->vx[k] = v[0], p->vy[k] = v[1], p->vz[k] = v[2];
        /* A pressure that stops an impact lasts for one step, and says nothing about the next one. */
        const float next = step->pressure[i] * m->to_pascal, lasting = wadi_minf(next, pressure[k]);
        const float stiffness = wadi_sph_stiffness_of(&m->stiffness, p->material[k], lasting, step->size[i]);
        stiffest = wadi_maxf(stiffest, stiffness);
        pressure[k] = next;
        const WadiF4 u = v + shift;
        const WadiVec3 to = { p->x[k] + dt * (double)u[0], p->y[k] + dt * (double)u[1],
                              p->z[k] + dt * (double)u[2] };
        if (wadi_sph_near(&step->walls, i) >= 0) {
            const WadiF4 stopped = stop_at_walls(m->sph, step, (int32_t)i, v, shift);
            p->vx[k] = stopped[0], p->vy[k] = stopped[1], p->vz[k] = stopped[2];
        }
        const double way = dt * sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])) / m->sph->spacing;
        if (stays_clear(m, i, (WadiVec3){ p->x[k], p->y[k], p->z[k] }, way)) {
            p->x[k] = to.x, p->y[k] = to.y, p->z[k] = to.z;
        } else {
            wadi_collide_move_one(&m->collide, p, k, to, &m->reports[first / BLOCK]);
        }
    }
    m->stiffest[first / BLOCK] = stiffest;
}

WadiStatus wadi_sph_move(WadiSph *sph, const WadiSphStep *step, WadiStepReport *report, WadiError *error)
{
    const int64_t blocks = wadi_parallel_block_count(step->count, BLOCK);
    Move m = { .sph = sph,
               .step = step,
               .collide = { .solids = &sph->context.world->solids,
                            .t0 = step->time,
                            .t1 = step->time + step->dt,
                            .skin = SKIN * sph->spacing },
               .are_solids_moving = wadi_solids_are_moving(&sph->context.world->solids),
               .to_pascal = (float)(sph->materials.density * sph->spacing / step->dt) };
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &m.reports, (size_t)blocks, "contacts", error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &m.stiffest, (size_t)blocks, "contacts", error));
    WADI_TRY(wadi_sph_find_stiffness(sph, step->time, &m.stiffness, error));
    for (int64_t b = 0; b < blocks; ++b) {
        m.reports[b] = (WadiCollideReport){ 0 };
    }
    wadi_parallel_for(step->count, BLOCK, move_block, &m);
    float stiffest = 0.0f;
    for (int64_t b = 0; b < blocks; ++b) {
        report->stuck_particles += m.reports[b].stuck;
        stiffest = wadi_maxf(stiffest, m.stiffest[b]);
    }
    return wadi_sph_watch_pressure(sph, step->time, (double)stiffest, error);
}
