#include "sph/porous/sph_porous_flow.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "matter/wetting.h"
#include "sph/pairs/sph_lanes.h"
#include "world/water.h"

enum { BLOCK = WADI_SPH_FLOW_BLOCK };

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
                    const double f = (double)kernel->of[1].scale * 6.0 / (h * h) * (t * t - 4.0 * m * m) / q;
                    lattice.laplacian += f * i * i;
                    lattice.diagonal += 2.0 * f;
                }
            }
        }
    }
    return lattice;
}

static double whole_of(const WadiSphPorousIn *in, int32_t i)
{
    return in->rest_volume[i];
}

double wadi_sph_full_mass(const WadiSphPorousIn *in, int32_t i)
{
    return whole_of(in, i) * in->materials[in->material[i]].density / in->water_density;
}

double wadi_sph_water_capacity(const WadiSphPorousIn *in, int32_t i)
{
    const double pores = whole_of(in, i) * in->materials[in->material[i]].pores.porosity;
    const double most = in->is_sand[i] ? pores : WADI_SPH_WATER_MOST * wadi_sph_full_mass(in, i);
    return floor(most * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

double wadi_sph_mass_with_water(const WadiSphPorousIn *in, const double *water, int32_t i)
{
    return water[i] + (in->is_sand[i] ? wadi_sph_full_mass(in, i) : 0.0);
}

static double saturation_of(const WadiSphPorousIn *in, const double *water, int32_t i)
{
    return fmin(1.0, water[i] / (whole_of(in, i) * in->materials[in->material[i]].pores.porosity));
}

void wadi_sph_flow_set_head(const WadiSphFlow *x, int32_t i)
{
    const WadiSphPorousIn *in = x->in;
    const WadiPoresDef *pores = &in->materials[in->material[i]].pores;
    double head = larger(0.0, in->pressure[i]);
    float mobility = x->entry, seeping = 0.0f;
    if (in->is_sand[i]) {
        const double s = saturation_of(in, x->water, i);
        head = head > 0.0 ? head : -wadi_suction(pores, s);
        mobility = (float)wadi_relative_permeability(pores, s);
        seeping = s >= WADI_SPH_SATURATED ? mobility * x->entry : 0.0f;
    }
    x->level[i] = (WadiSphLevel){ x->base[i] + wadi_sph_cut(x, head / x->unit), mobility };
    x->seeping[i] = seeping;
}

double wadi_sph_outflow(const WadiSphFlow *x, int32_t i, double *conductance)
{
    const WadiSphPorousIn *in = x->in;
    const double air = in->leaks && in->is_sand[i] ? (double)(1.0f - in->density[i]) : 0.0;
    *conductance = 0.0;
    if (air <= 1.0 - (double)WADI_SPH_INSIDE || x->level[i].potential <= x->base[i]) {
        return 0.0;
    }
    /* V_i F_ij grows with the size of the particle. */
    const double outlet =
        0.5 * in->lattice.diagonal * air * (double)wadi_sph_size(in->pairs, i) / WADI_SPH_PLACES;
    *conductance = outlet * x->rate[in->material[i]] * (double)x->seeping[i];
    return *conductance * (x->level[i].potential - x->base[i]) * x->unit;
}

/* Sand that is wet or has a neighbour with water, and water that has a neighbour of sand. */
static bool is_active(const WadiSphFlow *x, int32_t i)
{
    const WadiSphPairs *pairs = x->in->pairs;
    const int64_t other = pairs->start[i] + pairs->same[i];
    if (x->in->role[i] == WADI_SPH_GHOST) {
        return false;
    }
    if (other < pairs->start[i + 1] || (x->in->is_sand[i] && x->water[i] > 0.0)) {
        return true;
    }
    for (int64_t n = pairs->start[i]; n < other && x->in->is_sand[i]; ++n) {
        if (x->water[wadi_sph_other(pairs, n)] > 0.0) {
            return true;
        }
    }
    return false;
}

/* Pa: the potential of a particle without a head, and how large heads are at the start. */
static double base_of(const WadiSphFlow *x, int64_t i)
{
    const WadiSphPorousIn *in = x->in;
    return -in->water_density *
           (in->gravity.x * in->x[i] + in->gravity.y * in->y[i] + in->gravity.z * in->z[i]);
}

static double highest_base(void *context, int64_t first, int64_t end)
{
    double most = -INFINITY;
    for (int64_t i = first; i < end; ++i) {
        most = larger(most, base_of(context, i));
    }
    return most;
}

static double deepest_base(void *context, int64_t first, int64_t end)
{
    double most = -INFINITY;
    for (int64_t i = first; i < end; ++i) {
        most = larger(most, -base_of(context, i));
    }
    return most;
}

static double highest_head(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    double most = 0.0;
    for (int64_t i = first; i < end; ++i) {
        const WadiPoresDef *pores = &x->in->materials[x->in->material[i]].pores;
        most = larger(most, larger(x->in->pressure[i], x->in->is_sand[i] ? wadi_suction(pores, 0.0) : 0.0));
    }
    return most;
}

static double highest_permeability(void *context, int64_t first, int64_t end)
{
    const WadiSphPorousIn *in = ((const WadiSphFlow *)context)->in;
    double most = 0.0;
    for (int64_t i = first; i < end; ++i) {
        most = larger(most, in->is_sand[i] ? in->materials[in->material[i]].pores.permeability : 0.0);
    }
    return most;
}

/* Heads do not become larger than what presses at first and the weight of all water. A quarter of the range
 * of the integers is left to overshooting. */
static WadiStatus set_unit(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const WadiSphPorousIn *in = x->in;
    const int64_t count = in->pairs->count;
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)wadi_parallel_block_count(count, BLOCK), "porous flow",
                            error));
    const double high = wadi_parallel_max(count, BLOCK, highest_base, x, partials);
    x->lowest_base = -wadi_parallel_max(count, BLOCK, deepest_base, x, partials);
    const double range = high - x->lowest_base + wadi_parallel_max(count, BLOCK, highest_head, x, partials);
    x->unit = range > 0.0 && range < 1e300 ? range / (INT32_C(1) << 28) : 1.0;
    x->highest = 3.0 * (INT32_C(1) << 28);
    const double most = wadi_parallel_max(count, BLOCK, highest_permeability, x, partials);
    const double weight = in->water_density * wadi_norm(in->gravity);
    const double part = most * in->dt * weight / (in->viscosity * in->spacing);
    x->entry = in->entry > 0.0 && part > in->entry ? (float)(in->entry / part) : 1.0f;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

/* Others than the active ones take no part, even where their neighbours become wet during this step. */
static void begin_block(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        x->is_active[i] = is_active(x, i);
        x->factor[i].give = x->factor[i].take = x->is_active[i] != 0 ? WADI_SPH_ALL : 0;
        x->base[i] = (int32_t)lrint((base_of(x, i) - x->lowest_base) / x->unit);
        wadi_sph_flow_set_head(x, i);
    }
}

/* How often a second the fastest particle could be filled or emptied by suction and by its weight, where no
 * sand is wetter than `saturation`. */
static double fastest_rate(const WadiSphPorousIn *in, int material, double permeability, double saturation)
{
    const WadiPoresDef *pores = &in->materials[material].pores;
    const double dx = in->spacing, weight = in->water_density * wadi_norm(in->gravity) * dx;
    const double mobility = wadi_relative_permeability(pores, saturation);
    const double head_rate = mobility * wadi_suction_slope(pores, saturation) +
                             mobility / saturation * pores->flow_exponent * weight;
    return permeability / (in->viscosity * pores->porosity) * head_rate * in->lattice.diagonal /
           (in->lattice.laplacian * dx * dx);
}

/* The saturation up to which the explicit flow of a whole step is monotone. Saturated sand may become full
 * in a step, and have a pressure in its pores. */
static double slow_saturation(const WadiSphPorousIn *in, int material, double permeability)
{
    double low = 0.0, high = WADI_SPH_SATURATED;
    if (fastest_rate(in, material, permeability, high) * in->dt <= 1.0) {
        return high;
    }
    for (int n = 0; n < 20; ++n) {
        const double middle = 0.5 * (low + high);
        const bool is_slow = fastest_rate(in, material, permeability, middle) * in->dt <= 1.0;
        low = is_slow ? middle : low;
        high = is_slow ? high : middle;
    }
    return low;
}

/* The rate of a pair with sand in it: between two sands as two resistances in a row. */
static WadiStatus set_pair_rates(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const WadiMaterial *materials = x->in->materials;
    const size_t count = (size_t)x->material_count;
    const double scale = (double)x->in->pairs->slope_unit * x->unit;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->pair_rate, count * count, "porous flow", error));
    for (size_t m = 0; m < count; ++m) {
        for (size_t n = 0; n < count; ++n) {
            const double a = x->rate[m], b = x->rate[n];
            const bool is_sand[2] = { materials[m].kind == WADI_MATERIAL_SAND,
                                      materials[n].kind == WADI_MATERIAL_SAND };
            const double mean = a + b > 0.0 ? 2.0 * (a * b) / (a + b) : 0.0;
            const double rate = is_sand[0] && is_sand[1] ? mean : is_sand[0] ? a : b;
            x->pair_rate[count * m + n] = (float)(rate * scale);
        }
    }
    return WADI_OK;
}

static WadiStatus set_rates(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const WadiSphPorousIn *in = x->in;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->rate, 256, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->slow, 256, "porous flow", error));
    memset(x->rate, 0, 256 * sizeof *x->rate);
    bool is_seen[256] = { 0 }, is_first = true;
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        is_seen[in->material[i]] |= in->is_sand[i] && x->is_active[i] != 0;
        x->active_count += x->is_active[i];
        x->material_count = in->material[i] >= x->material_count ? in->material[i] + 1 : x->material_count;
    }
    for (int m = 0; m < 256; ++m) {
        if (is_seen[m]) {
            x->rate[m] = 2.0 * in->dt * in->materials[m].pores.permeability * WADI_SPH_PLACES /
                         (in->viscosity * in->spacing * in->spacing * in->lattice.laplacian);
            x->sand_rate = is_first || x->rate[m] == x->sand_rate ? x->rate[m] : -1.0;
            is_first = false;
        }
    }
    x->has_pair_rates = x->sand_rate < 0.0;
    if (x->has_pair_rates) {
        WADI_TRY(set_pair_rates(x, arena, error));
    }
    /* Beside another sand the rate is at most twice its own. */
    const double most = x->has_pair_rates ? 2.0 : 1.0;
    for (int m = 0; m < 256; ++m) {
        x->slow[m] = is_seen[m] ? slow_saturation(in, m, most * in->materials[m].pores.permeability)
                                : WADI_SPH_SATURATED;
    }
    return WADI_OK;
}

static void mark_fast(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPorousIn *in = x->in;
    for (int64_t i = first; i < end; ++i) {
        const double capacity = wadi_sph_water_capacity(in, (int32_t)i);
        const bool is_wet = x->water[i] > x->slow[in->material[i]] * capacity || in->pressure[i] > 0.0;
        x->is_fast[i] = !in->is_sand[i] || is_wet;
    }
}

WadiStatus wadi_sph_flow_begin(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)x->in->pairs->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->is_active, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->is_fast, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->list, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->base, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->level, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->seeping, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->factor, count, "porous flow", error));
    WADI_TRY(set_unit(x, arena, error));
    wadi_parallel_for((int64_t)count, BLOCK, begin_block, x);
    WADI_TRY(set_rates(x, arena, error));
    wadi_parallel_for((int64_t)count, BLOCK, mark_fast, x);
    return WADI_OK;
}

WadiStatus wadi_sph_flow_make(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)x->list_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &x->into, count, "porous flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &x->gain, count, "porous flow", error));
    return WADI_ARENA_NEW(arena, &x->gain_momentum, count, "porous flow", error);
}

/* Active particles with a fast pair. Slow pairs do not flow. */
static void mark_listed(void *context, int64_t first, int64_t end)
{
    const WadiSphFlow *x = context;
    const WadiSphPairs *pairs = x->in->pairs;
    for (int64_t i = first; i < end; ++i) {
        bool is_listed = x->is_fast[i] != 0;
        const int64_t last = x->is_active[i] != 0 ? pairs->start[i + 1] : 0;
        for (int64_t n = pairs->start[i]; n < last && !is_listed; ++n) {
            is_listed = x->is_fast[wadi_sph_other(pairs, n)] != 0;
        }
        x->list[i] = is_listed && x->is_active[i] != 0;
        x->level[i].mobility = copysignf(x->level[i].mobility, x->is_fast[i] != 0 ? 1.0f : -1.0f);
    }
}

WadiStatus wadi_sph_flow_list_fast(WadiSphFlow *x, WadiArena *arena, WadiError *error)
{
    wadi_parallel_for(x->in->pairs->count, BLOCK, mark_listed, x);
    x->list_count = 0;
    for (int32_t i = 0; i < x->in->pairs->count; ++i) {
        /* In place: the list is never longer than what was read. */
        const bool is_listed = x->list[i] != 0;
        x->list[x->list_count] = i;
        x->list_count += is_listed;
    }
    return wadi_sph_flow_make(x, arena, error);
}
