/* Viscosity and pressure of a thick liquid together: rounds of viscosity at a given pressure, and of the
 * pressure that its velocities lack. Each is a gradient step of the problem of both, the unknown of which is
 * the pressure, with the inviscid problem as its preconditioner: its eigenvalues are between 1 / (1 + lambda)
 * and 1, lambda that of the viscosity. So Nesterov's acceleration is safe, and helps where lambda is large.
 * The next step begins with the pressure of the last. [theory 11.7] */
#include <math.h>

#include "core/parallel.h"
#include "math/nesterov.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"

enum { BLOCK = 2048 };
enum { ROUNDS = 20 }; /* largest number, of honey of 1000 Pa s in a slit */

/* The rounds end when the pressure changes the velocities by less than this part of them, or by less than the
 * tolerance of a solve: each leaves velocities without compression. */
static const double TOLERANCE = 0.1;

typedef struct Stokes {
    WadiSph *sph;
    WadiSphStep *step;
    WadiF4 *v_forces; /* with the forces of the step, without pressure */
    WadiF4 *viscous;  /* after viscosity at the present pressure */
    float *last;      /* P of the round before */
    float momentum;
    double *partials;
} Stokes;

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    const WadiParticles *p = s->sph->context.particles;
    const int32_t base = s->step->sort.first;
    for (int64_t i = first; i < end; ++i) {
        const int64_t k = base + i;
        s->v_forces[i] = wadi_sph_xyz(s->step->velocity[i]);
        s->last[i] = s->step->pressure[i];
        s->viscous[i] = (WadiF4){ p->vx[k], p->vy[k], p->vz[k], 0.0f };
        if (s->step->role[i] == WADI_SPH_GHOST) {
            s->viscous[i] = (WadiF4){ 0 };
        }
    }
}

static WadiStatus begin(Stokes *s, WadiError *error)
{
    WadiArena *arena = s->sph->context.scratch;
    const size_t count = (size_t)s->step->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(s->step->count, BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->v_forces, count, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->viscous, count, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->last, count, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->partials, blocks, "viscosity", error));
    wadi_parallel_for(s->step->count, BLOCK, begin_block, s);
    return WADI_OK;
}

static void forces_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    for (int64_t i = first; i < end; ++i) {
        s->step->velocity[i] = s->v_forces[i];
    }
}

/* The velocities after viscosity; v* is what they would be without the pressure. */
static void viscous_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    for (int64_t i = first; i < end; ++i) {
        const WadiF4 pushed = s->step->velocity[i];
        s->step->velocity[i] = s->viscous[i];
        s->step->solve.v_star[i] = wadi_sph_xyz(s->viscous[i] + (s->v_forces[i] - pushed));
    }
}

static WadiStatus apply_viscosity(Stokes *s, WadiError *error)
{
    WADI_TRY(wadi_sph_solve_viscosity(s->sph, s->step, s->viscous, error));
    wadi_parallel_for(s->step->count, BLOCK, viscous_block, s);
    return WADI_OK;
}

/* The pressure of the next round: beyond the last one by a part of its change. */
static void extrapolate_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    const WadiSphStep *step = s->step;
    for (int64_t i = first; i < end; ++i) {
        const float now = step->pressure[i];
        step->pressure[i] = fmaxf(0.0f, now + s->momentum * (now - s->last[i]));
        s->last[i] = now;
    }
}

static double change_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    double sum = 0.0;
    for (int64_t i = first; i < end; ++i) {
        const WadiF4 change = s->step->velocity[i] - s->viscous[i], square = change * change;
        sum += (double)(square[0] + square[1] + square[2]);
    }
    return sum;
}

static double speed_block(void *context, int64_t first, int64_t end)
{
    const Stokes *s = context;
    double sum = 0.0;
    for (int64_t i = first; i < end; ++i) {
        const WadiF4 square = s->step->velocity[i] * s->step->velocity[i];
        sum += (double)(square[0] + square[1] + square[2]);
    }
    return sum;
}

static bool is_change_small(Stokes *s, double *change)
{
    const WadiSph *sph = s->sph;
    const int32_t count = s->step->count;
    const double rest = wadi_sph_tolerance(sph);
    *change = wadi_parallel_sum(count, BLOCK, change_block, s, s->partials);
    const double all = wadi_parallel_sum(count, BLOCK, speed_block, s, s->partials);
    return *change <= fmax(TOLERANCE * TOLERANCE * all, rest * rest * count);
}

WadiStatus wadi_sph_solve_viscous(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    Stokes s = { .sph = sph, .step = step };
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    RUN("viscosity", begin(&s, error));
    double t = 1.0, last = (double)INFINITY, change;
    for (int n = 1; n <= ROUNDS; ++n) {
        wadi_parallel_for(step->count, BLOCK, forces_block, &s);
        RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
        RUN("viscosity", apply_viscosity(&s, error));
        RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
        if (is_change_small(&s, &change) || n == ROUNDS) {
            break;
        }
        t = change < last ? t : 1.0;
        s.momentum = (float)wadi_nesterov_momentum(&t);
        last = change;
        wadi_parallel_for(step->count, BLOCK, extrapolate_block, &s);
    }
    return WADI_OK;
}
