#include "world/solver.h"

void wadi_solver_tell_stage(const WadiSolverContext *context, const char *name, const WadiStageGrid *grid)
{
    if (context->watch != NULL && context->watch->call != NULL) {
        context->watch->call(context->watch->user, name, grid);
    }
}

WadiStatus wadi_solver_check_stage(const WadiSolverContext *context, const char *name, WadiError *error)
{
    wadi_solver_tell_stage(context, name, NULL);
    return wadi_solver_check_particles(context, name, error);
}

WadiStatus wadi_solver_check_particles(const WadiSolverContext *context, const char *name, WadiError *error)
{
#ifdef WADI_CHECKS
    const WadiParticles *p = context->particles;
    int32_t i = wadi_particles_find_not_finite(p);
    if (i >= 0) {
        return wadi_fail(
            error, WADI_ERR_NUMERIC,
            "stage '%s' made particle %u not finite: position (%g, %g, %g), velocity (%g, %g, %g)", name,
            p->id[i], p->x[i], p->y[i], p->z[i], (double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    }
#else
    (void)context, (void)name, (void)error;
#endif
    return WADI_OK;
}
