#include "sph/porous/sph_porous.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "matter/wetting.h"
#include "world/water.h"

enum { BLOCK = 1024, SUBSTEPS_MAX = 64, ROUNDS = 8 };

/* Part of the longest step in which a linear flow stays monotone. */
static const double MARGIN = 0.9;
/* Smaller ones are held up where there is no room. */
static const double LEAST_FLOW = 1e-8;

typedef struct Exchange {
    const WadiSphPorousIn *in;
    double *water;
    WadiF4 *velocity;
    int32_t *active; /* particles that may exchange water */
    int32_t active_count;
    double *head;        /* p - P_c, Pa */
    double *mobility;    /* S^b; of water 1 */
    double *seeping;     /* the same towards water: only saturated sand gives */
    double *flow;        /* per pair of an active particle: mass that leaves it */
    double *give, *take; /* factors of donors and acceptors */
    double *into;        /* mass that an active particle would take without limits */
    double *next;        /* factors of the full ones in the next round */
    int32_t *full;       /* particles that are offered more than their room */
    int32_t full_count;
    double *gain;          /* mass */
    WadiF4 *gain_momentum; /* over the unit of mass, relative to the particle's velocity */
    double *rate;          /* by material: 2 dt K / (viscosity dx^2 lattice), 1/Pa */
    double weight[3];      /* of water, Pa a place, by axis */
} Exchange;

WadiSphLattice wadi_sph_lattice(const WadiSphKernel *kernel)
{
    WadiSphLattice lattice = { 0 };
    const double h = WADI_SPH_SUPPORT;
    for (int k = -2; k <= 2; ++k) {
        for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2; ++i) {
                const double q = sqrt((double)(i * i + j * j + k * k)) / h;
                if (q > 0.0 && q < 1.0) {
                    const double t = 1.0 - q, m = fmax(0.0, 0.5 - q);
                    const double f = (double)kernel->scale * 6.0 / (h * h) * (t * t - 4.0 * m * m) / q;
                    lattice.laplacian += f * i * i;
                    lattice.diagonal += 2.0 * f;
                }
            }
        }
    }
    return lattice;
}

double wadi_sph_full_mass(const WadiSphPorousIn *in, int material)
{
    return in->materials[material].density / in->water_density;
}

double wadi_sph_water_capacity(const WadiSphPorousIn *in, int32_t i)
{
    const int m = in->material[i];
    const double most =
        in->is_sand[i] ? in->materials[m].pores.porosity : WADI_SPH_WATER_MOST * wadi_sph_full_mass(in, m);
    return floor(most * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

double wadi_sph_mass_with_water(const WadiSphPorousIn *in, const double *water, int32_t i)
{
    return water[i] + (in->is_sand[i] ? in->materials[in->material[i]].density / in->water_density : 0.0);
}

static double saturation_of(const Exchange *x, int32_t i)
{
    return fmin(1.0, x->water[i] / x->in->materials[x->in->material[i]].pores.porosity);
}

static void set_head(const Exchange *x, int32_t i)
{
    const WadiSphPorousIn *in = x->in;
    const WadiPoresDef *pores = &in->materials[in->material[i]].pores;
    if (in->is_sand[i]) {
        const double s = saturation_of(x, i);
        x->head[i] = in->pressure[i] - wadi_suction(pores, s);
        x->mobility[i] = wadi_relative_permeability(pores, s);
        x->seeping[i] = s >= WADI_SPH_SATURATED ? x->mobility[i] : 0.0;
    } else {
        x->head[i] = fmax(0.0, in->pressure[i]);
        x->mobility[i] = 1.0;
        x->seeping[i] = 0.0;
    }
}

static void set_heads(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    for (int64_t i = first; i < end; ++i) {
        set_head(x, (int32_t)i);
    }
}

static void set_active_heads(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    for (int64_t a = first; a < end; ++a) {
        set_head(x, x->active[a]);
    }
}

/* Mass that goes from i to j in a substep, without limits; exactly the opposite of that from j to i. `slope`
 * is that of the pair at i. */
static inline __attribute__((always_inline)) double flux(const Exchange *x, int32_t i, int32_t j, float slope)
{
    const WadiSphPorousIn *in = x->in;
    const WadiI4 d = in->pairs->place[i] - in->pairs->place[j];
    const double fall =
        (double)d[0] * x->weight[0] + (double)d[1] * x->weight[1] + (double)d[2] * x->weight[2];
    const double drop = (x->head[i] - x->head[j]) - fall;
    const int32_t donor = drop > 0.0 ? i : j, acceptor = drop > 0.0 ? j : i;
    const double mobility = in->is_sand[acceptor] ? x->mobility[donor] : x->seeping[donor];
    if (mobility == 0.0) {
        return 0.0;
    }
    const double rate_i = x->rate[in->material[i]], rate_j = x->rate[in->material[j]];
    double rate = in->is_sand[i] ? rate_i : rate_j;
    if (in->is_sand[i] && in->is_sand[j] && rate_i != rate_j) {
        rate = 2.0 * rate_i * rate_j / (rate_i + rate_j);
    }
    /* Of a pair with water, both sides have the same product of volume and slope. */
    const float volume = !in->is_sand[i] && in->volume != NULL ? in->volume[i] : 1.0f;
    const float weight = volume * slope;
    return (double)weight * rate * mobility * drop;
}

/* The neighbours with which i can exchange water: of water only sand. */
static inline int64_t first_neighbour(const Exchange *x, int32_t i)
{
    return x->in->pairs->start[i] + (x->in->is_sand[i] ? 0 : x->in->pairs->same[i]);
}

/* Whole quanta, rounded towards none: the sums of a donor and of an acceptor stay within their limits. */
static double whole(double mass)
{
    return trunc(mass * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

static void limit_block(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        double out = 0.0, into = 0.0;
        for (int64_t n = first_neighbour(x, i); n < pairs->start[i + 1]; ++n) {
            const double mass = flux(x, i, pairs->index[n], pairs->slope[n]);
            x->flow[n] = mass;
            out += mass > 0.0 ? mass : 0.0;
            into += mass < 0.0 ? -mass : 0.0;
        }
        const double room = fmax(0.0, wadi_sph_water_capacity(x->in, i) - x->water[i]);
        x->give[i] = out > x->water[i] ? x->water[i] / out : 1.0;
        x->take[i] = into > room ? room / into : 1.0;
        x->into[i] = into;
    }
}

/* What i surely loses with the present factors. */
static double sure_loss(const Exchange *x, int32_t i)
{
    const WadiSphPairs *pairs = x->in->pairs;
    double loss = 0.0;
    for (int64_t n = first_neighbour(x, i); n < pairs->start[i + 1]; ++n) {
        const int32_t j = pairs->index[n];
        const double out = x->flow[n];
        loss += out > 0.0 ? whole(out * fmin(x->give[i], x->take[j])) : 0.0;
    }
    return loss;
}

static void round_block(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    for (int64_t f = first; f < end; ++f) {
        const int32_t i = x->full[f];
        const double room = fmax(0.0, wadi_sph_water_capacity(x->in, i) - x->water[i]) + sure_loss(x, i);
        x->next[f] = fmin(1.0, room / x->into[i]);
    }
}

/* Full particles take as much as they lose, so that water flows through saturated sand. The factors grow from
 * round to round and are valid after each: what is lost with the last ones is a lower bound. */
static void widen(Exchange *x)
{
    x->full_count = 0;
    for (int32_t a = 0; a < x->active_count; ++a) {
        x->full[x->full_count] = x->active[a];
        x->full_count += x->take[x->active[a]] < 1.0 && x->into[x->active[a]] > LEAST_FLOW;
    }
    for (int round = 0; round < ROUNDS && x->full_count > 0; ++round) {
        wadi_parallel_for(x->full_count, BLOCK, round_block, x);
        for (int32_t f = 0; f < x->full_count; ++f) {
            x->take[x->full[f]] = fmax(x->take[x->full[f]], x->next[f]);
        }
    }
}

static void gain_block(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        double gain = 0.0;
        WadiF4 momentum = { 0 };
        for (int64_t n = first_neighbour(x, i); n < pairs->start[i + 1]; ++n) {
            const int32_t j = pairs->index[n];
            const double out = x->flow[n];
            if (out == 0.0) {
                continue;
            }
            const double factor = out > 0.0 ? fmin(x->give[i], x->take[j]) : fmin(x->give[j], x->take[i]);
            const double mass = whole(out * factor);
            gain -= mass;
            if (mass < 0.0 && x->velocity != NULL) {
                momentum += (x->velocity[j] - x->velocity[i]) * (float)-mass;
            }
        }
        x->gain[i] = gain;
        x->gain_momentum[i] = momentum;
    }
}

static void apply_block(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    for (int64_t a = first; a < end; ++a) {
        const int32_t i = x->active[a];
        x->water[i] += x->gain[i];
        const double mass = wadi_sph_mass_with_water(x->in, x->water, i);
        if (x->velocity != NULL && mass > 0.0) {
            x->velocity[i] += x->gain_momentum[i] * (float)(1.0 / mass);
        }
    }
}

/* Sand that is wet or has a neighbour with water, and water that has a neighbour of sand. */
static bool is_active(const Exchange *x, int32_t i)
{
    const WadiSphPairs *pairs = x->in->pairs;
    const int64_t other = pairs->start[i] + pairs->same[i];
    if (other < pairs->start[i + 1] || (x->in->is_sand[i] && x->water[i] > 0.0)) {
        return true;
    }
    for (int64_t n = pairs->start[i]; n < other && x->in->is_sand[i]; ++n) {
        if (x->water[pairs->index[n]] > 0.0) {
            return true;
        }
    }
    return false;
}

static void mark_active(void *context, int64_t first, int64_t end)
{
    const Exchange *x = context;
    for (int64_t i = first; i < end; ++i) {
        x->active[i] = is_active(x, (int32_t)i);
    }
}

/* How often a second the fastest particle could be filled or emptied by suction and by its weight. */
static double fastest_rate(const WadiSphPorousIn *in, int material, double permeability)
{
    const WadiPoresDef *pores = &in->materials[material].pores;
    const double dx = in->spacing, weight = in->water_density * wadi_norm(in->gravity) * dx;
    const double drop = wadi_suction_slope(pores) + pores->flow_exponent * weight;
    return permeability / (in->viscosity * pores->porosity) * drop * in->lattice.diagonal /
           (in->lattice.laplacian * dx * dx);
}

/* Substeps in which the flow is monotone; sand that would need too many is less permeable. */
static WadiStatus set_rates(Exchange *x, int *substeps, WadiArena *arena, WadiError *error)
{
    const WadiSphPorousIn *in = x->in;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->rate, 256, "porous flow", error));
    memset(x->rate, 0, 256 * sizeof *x->rate);
    bool is_seen[256] = { 0 };
    double fastest = 0.0;
    for (int32_t a = 0; a < x->active_count; ++a) {
        is_seen[in->material[x->active[a]]] |= in->is_sand[x->active[a]];
    }
    for (int m = 0; m < 256; ++m) {
        fastest =
            is_seen[m] ? fmax(fastest, fastest_rate(in, m, in->materials[m].pores.permeability)) : fastest;
    }
    *substeps = (int)fmin(fmax(1.0, ceil(fastest * in->dt / MARGIN)), SUBSTEPS_MAX);
    const double dt = in->dt / *substeps;
    for (int m = 0; m < 256; ++m) {
        if (is_seen[m]) {
            const double wanted = in->materials[m].pores.permeability;
            const double rate = fastest_rate(in, m, wanted) * dt / MARGIN;
            const double permeability = rate > 1.0 ? wanted / rate : wanted;
            x->rate[m] = 2.0 * dt * permeability * WADI_SPH_PLACES /
                         (in->viscosity * in->spacing * in->spacing * in->lattice.laplacian);
        }
    }
    return WADI_OK;
}

static WadiStatus begin(Exchange *x, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)x->in->pairs->count;
    const double place = x->in->water_density * x->in->spacing / WADI_SPH_PLACES;
    x->weight[0] = place * x->in->gravity.x;
    x->weight[1] = place * x->in->gravity.y;
    x->weight[2] = place * x->in->gravity.z;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->active, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->head, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->mobility, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->seeping, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->flow, (size_t)x->in->pairs->start[count], "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->give, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->take, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->gain, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->into, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->next, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->full, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->gain_momentum, count, "porous flow", error));
    wadi_parallel_for((int64_t)count, BLOCK, mark_active, x);
    for (int32_t i = 0; i < (int32_t)count; ++i) {
        /* In place: the list is never longer than what was read. */
        const bool is_listed = x->active[i] != 0;
        x->active[x->active_count] = i;
        x->active_count += is_listed;
        /* Others take no part, even where their neighbours become wet during this step. */
        x->give[i] = x->take[i] = is_listed ? 1.0 : 0.0;
    }
    wadi_parallel_for((int64_t)count, BLOCK, set_heads, x);
    return WADI_OK;
}

WadiStatus wadi_sph_porous_exchange(double *water, WadiF4 *velocity, const WadiSphPorousIn *in,
                                    WadiSphPorousReport *report, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Exchange x = { .in = in, .water = water, .velocity = velocity };
    *report = (WadiSphPorousReport){ 0 };
    WADI_TRY(begin(&x, arena, error));
    WADI_TRY(set_rates(&x, &report->substeps, arena, error));
    report->active = x.active_count;
    for (int n = 0; n < report->substeps; ++n) {
        wadi_parallel_for(x.active_count, BLOCK, limit_block, &x);
        widen(&x);
        wadi_parallel_for(x.active_count, BLOCK, gain_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, apply_block, &x);
        wadi_parallel_for(x.active_count, BLOCK, set_active_heads, &x);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
