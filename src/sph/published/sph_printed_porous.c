/* Water in sand, by the printed formulas. [LAD08 as T10 eqs. 21 to 30 print it; LD09 sec. 3]
 * Eq. 22 has the gradient of W(x_j - x_i), which is the opposite of the one with respect to x_i: water is
 * drawn towards wet sand. Eq. 28 moves it against the velocity. Together the two let sand soak, while gravity
 * lifts the water. Eq. 28 gives one particle another amount than it takes from the other: what it makes or
 * loses is returned.
 * Not as printed: eq. 29 divides by |x_j - x_i|, which leaves eq. 28 without a length in its units. Undivided
 * they are right. A particle of water takes water up to a full one. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/published/sph_printed.h"

enum { BLOCK = 256 };

/* What a particle of water is: full in absorption, empty in emission. */
typedef enum Pass { ABSORPTION, EMISSION } Pass;

typedef struct Flow {
    const WadiSphPrinted *p;
    const WadiSphPrintedPores *pores;
    Pass pass;
    double *saturation, *pore; /* of the pass */
    double *suction;           /* Pa: P^c */
    double *change;            /* kg/s */
} Flow;

/* S^beta without the library's pow for usual exponents, which depends on the processor. */
static double power(double x, double e)
{
    if (e == 0.5) {
        return sqrt(x);
    }
    if (e != floor(e) || e < 1.0 || e > 10.0) {
        return pow(x, e);
    }
    double product = x;
    for (int n = 1; n < (int)e; ++n) {
        product *= x;
    }
    return product;
}

/* kg that a particle can hold. */
static double capacity_of(const Flow *f, int32_t i)
{
    return f->pores->water_density * f->pores->porosity[i] * wadi_sph_printed_volume(f->p, i);
}

static void state_block(void *context, int64_t first, int64_t end)
{
    const Flow *f = context;
    const WadiSphPrinted *p = f->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        const double full = f->pass == ABSORPTION ? 1.0 : 0.0, room = capacity_of(f, i);
        const double s = p->is_sand[i] ? fmin(1.0, f->pores->water[i] / room) : full;
        const double ratio = p->rest_density[i] / p->density[i];
        f->saturation[i] = s;
        f->suction[i] =
            f->pores->capillary[i] * (s < 1.0 ? power(1.0 - s, f->pores->capillary_exponent[i]) : 0.0);
        f->pore[i] = f->pores->pore_stiffness * s * (wadi_sph_printed_seventh(ratio) - 1.0);
    }
}

/* Whether water can come to i or go from it: pairs of water have no part. */
static bool exchanges(const Flow *f, int32_t i)
{
    const WadiSphPrinted *p = f->p;
    if (p->is_sand[i]) {
        return f->pass == ABSORPTION; /* in emission particles of water gain from sand */
    }
    for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
        if (p->is_sand[p->near.index[n]]) {
            return true;
        }
    }
    return false;
}

/* Eq. 27, with the gradients of eq. 22. */
static WadiVec3 pore_velocity(const Flow *f, int32_t i)
{
    const WadiSphPrinted *p = f->p;
    WadiVec3 sum = { 0 }; /* grad P^p - grad P^c */
    for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
        const int32_t j = p->near.index[n];
        const WadiVec3 d = wadi_sph_printed_between(p, i, j);
        const double slope = wadi_sph_printed_slope(wadi_norm(d), p->radius[j]);
        sum = wadi_add_scaled(sum, d, -slope * wadi_sph_printed_volume(p, j) * (f->pore[j] - f->suction[j]));
    }
    const WadiVec3 weight = wadi_scale(f->pores->gravity, f->pores->water_density);
    return wadi_scale(wadi_sub(sum, weight),
                      -f->pores->permeability[i] / (f->pores->porosity[i] * f->pores->viscosity));
}

/* Eqs. 28 and 29. */
static void change_block(void *context, int64_t first, int64_t end)
{
    const Flow *f = context;
    const WadiSphPrinted *p = f->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        f->change[i] = 0.0;
        if (!exchanges(f, i)) {
            continue;
        }
        const WadiVec3 v = pore_velocity(f, i);
        for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            const WadiVec3 d = wadi_sph_printed_between(p, i, j);
            if (!p->is_sand[i] && !p->is_sand[j]) {
                continue;
            }
            const double part = power(f->saturation[j], f->pores->flow_exponent[j]);
            f->change[i] += -wadi_dot(v, d) * part * wadi_sph_printed_volume(p, j) * f->pores->water[j] *
                            wadi_sph_printed_laplacian(wadi_norm(d), p->radius[j]);
        }
    }
}

/* Eq. 30, at most the free and the occupied volume. Returns what is there more than before. */
static double update(const Flow *f)
{
    double made = 0.0;
    for (int32_t i = 0; i < f->p->count; ++i) {
        const double before = f->pores->water[i], after = before + f->p->dt * f->change[i];
        const double room = f->p->is_sand[i] ? capacity_of(f, i) : f->pores->full[i];
        f->pores->water[i] = fmin(fmax(before, room), fmax(0.0, after));
        made += f->pores->water[i] - before;
    }
    return made;
}

WadiStatus wadi_sph_printed_flow(const WadiSphPrinted *p, WadiSphPrintedPores *pores, double *made,
                                 WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)p->count;
    Flow f = { .p = p, .pores = pores, .saturation = pores->saturation, .pore = pores->pore_pressure };
    WADI_TRY(WADI_ARENA_NEW(arena, &f.suction, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &f.change, count, "porous flow", error));
    *made = 0.0;
    wadi_parallel_for(p->count, BLOCK, state_block, &f);
    wadi_parallel_for(p->count, BLOCK, change_block, &f);
    *made += update(&f);
    f.pass = EMISSION;
    wadi_parallel_for(p->count, BLOCK, state_block, &f);
    wadi_parallel_for(p->count, BLOCK, change_block, &f);
    *made += update(&f);
    return WADI_OK;
}
