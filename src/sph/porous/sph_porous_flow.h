/* What the stages of the porous flow share: the particles that take part, their heads, the flow of a pair.
 * A pair is fast where one of its particles is: near saturation, or of water. Slow pairs flow by the heads at
 * the start of a step, the others by those at its end. [theory 11.6] */
#ifndef WADI_SPH_POROUS_FLOW_H
#define WADI_SPH_POROUS_FLOW_H

#include <math.h>

#include "sph/porous/sph_porous.h"
#include "world/water.h"

enum { WADI_SPH_FLOW_BLOCK = 1024 };

/* What a pass reads of a neighbour. */
typedef struct WadiSphLevel {
    int32_t potential; /* head - rho g.x, in units */
    float mobility;    /* S^b; of water 1. Negative, or -0: has no flow with slow sand in the present pass */
} WadiSphLevel;

/* Parts of a particle's flows that take place, of WADI_SPH_ALL, rounded down. */
typedef struct WadiSphFactor {
    int32_t give, take; /* of a donor and of an acceptor */
} WadiSphFactor;

#define WADI_SPH_ALL (INT32_C(1) << 30)

/* Heads are p where there is pressure, else -P_c. */
typedef struct WadiSphFlow {
    const WadiSphPorousIn *in;
    double *water;
    WadiF4 *velocity;
    uint8_t *is_active; /* per particle: may exchange water */
    uint8_t *is_fast;   /* per particle; also of ghosts */
    int32_t active_count;
    int32_t *list; /* particles of the present pass: active ones */
    int32_t list_count;
    double unit;        /* of potentials, Pa */
    double highest;     /* units: larger heads, of any sign, are cut */
    double lowest_base; /* Pa: of the lowest particle */
    int32_t *base;      /* per particle: its potential without a head */
    WadiSphLevel *level;
    float entry;    /* part of the flow between sand and water: less than 1 where in->entry limits it */
    float *seeping; /* mobility towards water: only saturated sand gives */
    WadiSphFactor *factor;
    /* Per listed particle. */
    double *gain;          /* mass */
    double *into;          /* mass that it would take without limits */
    WadiF4 *gain_momentum; /* over the unit of mass, relative to the particle's velocity */
    double *slow;          /* by material: the largest saturation of slow sand */
    double *rate;          /* by material: 2 dt K / (viscosity dx^2 lattice), 1/Pa */
    double sand_rate;      /* that of all sand that takes part; -1: they differ */
    bool has_pair_rates;   /* they differ */
    float *pair_rate;      /* then, by the materials of a pair: per unit of potential, times that of slopes */
    int material_count;
} WadiSphFlow;

/* Flags the active particles, sets their heads, which of them are fast, and the rates of a whole step. Memory
 * in the arena. */
WadiStatus wadi_sph_flow_begin(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Head and mobility of a particle from its water and pressure. */
void wadi_sph_flow_set_head(const WadiSphFlow *x, int32_t i);
/* Memory for the gains of the listed particles. */
WadiStatus wadi_sph_flow_make(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Gains of the listed particles, applied. */
void wadi_sph_flow_apply(WadiSphFlow *x);
/* Flows of the listed particles with their limits, applied. */
void wadi_sph_flow_exchange(WadiSphFlow *x);
/* The flow of slow pairs in a step; then the heads of their particles. */
WadiStatus wadi_sph_flow_slow(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Lists the particles of fast pairs. */
WadiStatus wadi_sph_flow_list_fast(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Heads of the listed sand at the end of the step, and from these the pressure in its pores, x->in->pressure.
 * Returns the number of iterations. */
WadiStatus wadi_sph_pore_pressure(WadiSphFlow *x, int *iterations, WadiArena *arena, WadiError *error);

/* sph_porous_limits.c. The factors that hold 0 <= S <= 1. */
void wadi_sph_flow_limit(WadiSphFlow *x);

static inline int32_t wadi_sph_factor(double part)
{
    return (int32_t)(part * WADI_SPH_ALL);
}

/* Rounded towards none: the sums of a donor and of an acceptor stay within their limits. */
static inline double wadi_sph_whole_quanta(double mass)
{
    return trunc(mass * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

/* One instruction each, unlike fmin and fmax. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A head in units, whole and within the range. */
static inline int32_t wadi_sph_cut(const WadiSphFlow *x, double head)
{
    return (int32_t)lrint(smaller(larger(head, -x->highest), x->highest));
}

/* Mass that leaves saturated sand into the air, without limits. */
double wadi_sph_outflow(const WadiSphFlow *x, int32_t i, double *conductance);

#endif
