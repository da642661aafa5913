/* The points solver: particles fall freely and collide with solids, never with each other. It is the
 * reference for the collision tests. A step of length dt from (x, v), with a = acceleration at mid-step: x1 =
 * x + v dt + a dt^2 / 2, v1 = v + a dt, exact for constant a; drag as in [theory 1.7]. Velocities are float
 * columns; the rounding error of v1 is stored in a second float column and added in the next step, else 240
 * additions of g dt lose up to 1e-4 m/s. The segment from x to x1 is then collided with the solids
 * (particles/collide). */
#include <math.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "particles/collide.h"
#include "world/solver.h"

enum { BLOCK = 1024 };

typedef struct Points {
    WadiSolverContext context;
    int rounding_column[3]; /* rounding errors of vx, vy, vz, m/s */
} Points;

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    static const char *const names[3] = { "vx_rest", "vy_rest", "vz_rest" };
    Points *points = NULL;
    WADI_TRY(WADI_NEW(&points, 1, "points solver", error));
    points->context = *context;
    for (int a = 0; a < 3; ++a) {
        WadiStatus status = wadi_particles_add_column(context->particles, names[a], WADI_TYPE_F32,
                                                      &points->rounding_column[a], error);
        if (status != WADI_OK) {
            WADI_DELETE(points, 1);
            return status;
        }
    }
    *solver = points;
    return WADI_OK;
}

static void destroy(void *solver)
{
    Points *points = solver;
    WADI_DELETE(points, 1);
}

static double largest_dt(const void *solver, double time, const char **limit)
{
    const Points *points = solver;
    const WadiWorld *world = points->context.world;
    /* The path deviates from its chord by a quarter of the change of its velocity times dt at most: half a
     * cell, and a quarter of one where that change is constant. */
    const WadiForceStep in = { .time = time, .dt = HUGE_VAL, .distance = 2.0 * world->cell_size };
    const double dt = wadi_world_force_step(world, points->context.particles, &in);
    *limit = isfinite(dt) ? "curved path" : "frame";
    return dt;
}

typedef struct Flight {
    const WadiWorld *world;
    WadiParticles *particles;
    float *rounding[3];
    WadiCollideIn collide;
    double time, dt;
} Flight;

/* Moves one block; returns the number of particles squeezed between solids. */
static double move_block(void *context, int64_t first, int64_t end)
{
    Flight *flight = context;
    WadiParticles *p = flight->particles;
    double dt = flight->dt;
    int64_t stuck = 0;
    for (int64_t i = first; i < end; ++i) {
        WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        WadiVec3 v = { (double)p->vx[i] + (double)flight->rounding[0][i],
                       (double)p->vy[i] + (double)flight->rounding[1][i],
                       (double)p->vz[i] + (double)flight->rounding[2][i] };
        const WadiKick kick = wadi_world_kick(flight->world, x, v, flight->time + 0.5 * dt, dt);
        WadiVec3 x1 = wadi_add(wadi_add_scaled(x, v, dt), kick.displacement);
        WadiVec3 v1 = wadi_add(v, kick.velocity);

        WadiCollideOut out = wadi_collide_move(&flight->collide, x, x1, v1);
        stuck += out.is_stuck;
        p->x[i] = out.x.x;
        p->y[i] = out.x.y;
        p->z[i] = out.x.z;
        p->vx[i] = (float)out.v.x;
        p->vy[i] = (float)out.v.y;
        p->vz[i] = (float)out.v.z;
        flight->rounding[0][i] = (float)(out.v.x - (double)p->vx[i]);
        flight->rounding[1][i] = (float)(out.v.y - (double)p->vy[i]);
        flight->rounding[2][i] = (float)(out.v.z - (double)p->vz[i]);
    }
    return (double)stuck;
}

static WadiStatus step(void *solver, const WadiSolverStep *now, WadiStepReport *report, WadiError *error)
{
    Points *points = solver;
    const WadiSolverContext *context = &points->context;
    WadiParticles *particles = context->particles;
    Flight flight = { .world = context->world,
                      .particles = particles,
                      .collide = { .solids = &context->world->solids,
                                   .t0 = now->time,
                                   .t1 = now->time + now->dt,
                                   .skin = 1e-4 * context->world->cell_size },
                      .time = now->time,
                      .dt = now->dt };
    for (int a = 0; a < 3; ++a) {
        flight.rounding[a] = wadi_particles_column(particles, points->rounding_column[a]);
    }
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &partials,
                            (size_t)wadi_parallel_block_count(particles->count, BLOCK), "block counts",
                            error));
    double stuck = 0.0;
    WADI_STAGE(context->times, "move_block and collide",
               stuck = wadi_parallel_sum(particles->count, BLOCK, move_block, &flight, partials));
    report->stuck_particles = (int64_t)stuck;
    return wadi_solver_check_stage(context, "move_block and collide", error);
}

const WadiSolverType wadi_points_solver = {
    .create = create,
    .destroy = destroy,
    .largest_dt = largest_dt,
    .step = step,
};
