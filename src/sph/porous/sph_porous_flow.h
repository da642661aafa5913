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
    float head, mobility; /* as below */
} WadiSphLevel;

/* Parts of a particle's flows that take place, of WADI_SPH_ALL, rounded down. */
typedef struct WadiSphFactor {
    int32_t give, take; /* of a donor and of an acceptor */
} WadiSphFactor;

#define WADI_SPH_ALL (INT32_C(1) << 30)

typedef struct WadiSphFlow {
    const WadiSphPorousIn *in;
    double *water;
    WadiF4 *velocity;
    int32_t *active; /* particles that may exchange water */
    int32_t active_count;
    uint8_t *is_fast; /* per particle; also of fixed ones */
    int32_t *list;    /* those of the present pass, with flows: active ones */
    int32_t list_count;
    bool is_split;   /* only fast pairs flow; else only those whose numbers are no NAN */
    double *head;    /* p where there is pressure, else -P_c, Pa; rounded, also the numbers of the pairs */
    float *mobility; /* S^b; of water 1 */
    float *seeping;  /* the same towards water: only saturated sand gives */
    WadiSphLevel *level;
    /* Per pair of a listed particle; those of one particle are padded to whole eights, without a flow. */
    float *rates;        /* conductance over the mobility of the donor, 1/Pa */
    float *fall;         /* Pa: weight of the water between them */
    float *flow;         /* mass that leaves the particle; the memory of `fall` */
    int64_t *flow_start; /* per particle, where it is listed: its first pair there */
    WadiSphFactor *factor;
    double *into;          /* mass that a listed particle would take without limits; the memory of `gain` */
    double *gain;          /* mass */
    WadiF4 *gain_momentum; /* over the unit of mass, relative to the particle's velocity */
    double *slow;          /* by material: the largest saturation of slow sand */
    double *rate;          /* by material: 2 dt K / (viscosity dx^2 lattice), 1/Pa */
    double sand_rate;      /* that of all sand that takes part; -1: they differ */
    double *outlet;        /* conductance into the air, over a particle's rate */
    double *leak;          /* mass that goes there; then with its factor */
    double noise;          /* as in->noise; 0 in the solve of the pressure, which would be too low by it */
    double *capacity;      /* room for water in an empty particle */
    float weight[3];       /* of water, Pa a place, by axis */
} WadiSphFlow;

/* Lists the active particles, sets their heads, which of them are fast, and the rates of a whole step. Memory
 * in the arena. */
WadiStatus wadi_sph_flow_begin(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Head and mobility of a particle from its water and pressure. */
void wadi_sph_flow_set_head(const WadiSphFlow *x, int32_t i);
/* Conductances and weights of the pairs of the listed particles. */
WadiStatus wadi_sph_flow_make(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Gains and leaks of the listed particles, applied; then their heads. */
void wadi_sph_flow_apply(WadiSphFlow *x);
/* Flows of the listed particles with their limits, applied. */
void wadi_sph_flow_exchange(WadiSphFlow *x);
/* The flow of slow pairs in a step. */
WadiStatus wadi_sph_flow_slow(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Lists the particles of fast pairs. */
WadiStatus wadi_sph_flow_list_fast(WadiSphFlow *x, WadiArena *arena, WadiError *error);
/* Heads of the listed sand at the end of the step, and from these the pressure in its pores, x->in->pressure.
 * Returns the number of iterations. */
WadiStatus wadi_sph_pore_pressure(WadiSphFlow *x, int *iterations, WadiArena *arena, WadiError *error);

/* sph_porous_limits.c. The flows without limits, and the factors that hold 0 <= S <= 1. */
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

/* Mass that leaves saturated sand into the air, without limits. */
static inline double wadi_sph_outflow(const WadiSphFlow *x, int32_t i, double *conductance)
{
    *conductance = 0.0;
    if (x->outlet[i] == 0.0 || !(x->head[i] > 0.0)) {
        return 0.0;
    }
    *conductance = x->outlet[i] * x->rate[x->in->material[i]] * (double)x->seeping[i];
    return *conductance * x->head[i];
}

/* The neighbours with which i can exchange water: of water only sand. */
static inline int64_t wadi_sph_flow_first(const WadiSphFlow *x, int32_t i)
{
    return x->in->pairs->start[i] + (x->in->is_sand[i] ? 0 : x->in->pairs->same[i]);
}

/* Their number, up to a multiple of eight. */
static inline int64_t wadi_sph_flow_room(const WadiSphFlow *x, int32_t i)
{
    return (x->in->pairs->start[i + 1] - wadi_sph_flow_first(x, i) + 7) / 8 * 8;
}

#endif
