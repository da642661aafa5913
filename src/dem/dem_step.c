/* One step of the dem solver, stage by stage. */
#include "core/parallel.h"
#include "dem/dem.h"
#include "dem/dem_stage.h"
#include "particles/collide.h"

enum { BLOCK = 1024 };

typedef struct Flight {
    const WadiDem *dem;
    WadiCollideIn collide;
    double time, dt;
} Flight;

static void fly_block(void *context, int64_t first, int64_t end)
{
    const Flight *f = context;
    WadiParticles *p = f->dem->context.particles;
    WadiCollideReport report = { 0 };
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        const WadiVec3 a = wadi_world_acceleration(f->dem->context.world, x, v, f->time);
        const WadiVec3 u = wadi_add_scaled(v, a, f->dt);
        p->vx[i] = (float)u.x, p->vy[i] = (float)u.y, p->vz[i] = (float)u.z;
        wadi_collide_move_one(&f->collide, p, (int32_t)i, wadi_add_scaled(x, u, f->dt), &report);
    }
}

static WadiStatus fly(WadiDem *dem, const WadiSolverStep *now)
{
    Flight f = { .dem = dem,
                 .collide = { .solids = &dem->context.world->solids,
                              .t0 = now->time,
                              .t1 = now->time + now->dt,
                              .skin = 0.5 * dem->diameter },
                 .time = now->time,
                 .dt = now->dt };
    wadi_parallel_for(dem->context.particles->count, BLOCK, fly_block, &f);
    return WADI_OK;
}

WadiStatus wadi_dem_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    WadiDem *dem = solver;
    (void)report;
    RUN("move", fly(dem, now));
    return WADI_OK;
}
