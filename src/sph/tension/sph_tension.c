#include "sph/tension/sph_tension.h"

#include <math.h>

#include "core/parallel.h"

enum { BLOCK = 1024 };

static const float NOISE = 0.1f; /* of |g|: what disorder makes of it inside; twice that is a surface */

typedef struct Tension {
    const WadiSphTensionIn *in;
    WadiF4 *velocity;
    WadiF4 *root; /* per particle: n times the root of the stress; 0: not at the surface */
} Tension;

static float dot(WadiF4 a, WadiF4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* What is missing around a particle. Walls are no surface: their images would be there. */
static WadiF4 missing_of(const WadiSphTensionIn *in, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    const WadiI4 place = pairs->place[i];
    WadiF4 sum = { 0 };
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
        sum -= WADI_SPH_OFFSET(place, pairs->place[wadi_sph_other(pairs, n)]) * wadi_sph_slope(pairs, i, n);
    }
    const int32_t near = wadi_sph_near(in->walls, i);
    if (near >= 0) {
        sum += in->walls->gradient[near] * 0.5f; /* the own image acts with the pressure twice */
        for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
            sum += *(const WadiF4 *)pairs->mirror[n].gradient;
        }
    }
    sum[3] = 0.0f;
    return sum;
}

static void root_block(void *context, int64_t first, int64_t end)
{
    const Tension *t = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        t->root[i] = (WadiF4){ 0 };
        if (!(t->in->strength[i] > 0.0f)) {
            continue;
        }
        const WadiF4 g = missing_of(t->in, i);
        const float size = sqrtf(dot(g, g));
        const float clear = size * wadi_sph_size(t->in->pairs, i) / NOISE - 1.0f;
        if (clear > 0.0f) {
            const float part = clear < 1.0f ? clear : 1.0f;
            t->root[i] = g * (sqrtf(t->in->spline->surface * t->in->strength[i] * size * part) / size);
        }
    }
}

/* T G of the stress with that root. */
static inline WadiF4 pull_of(WadiF4 root, WadiF4 gradient)
{
    return gradient * dot(root, root) - root * dot(root, gradient);
}

static inline float hold_factor(const WadiSphTensionIn *in, int32_t j, float inverse)
{
    const float square = inverse * inverse;
    return in->volume[j] * square * square * inverse;
}

static void pull_block(void *context, int64_t first, int64_t end)
{
    const Tension *t = context;
    const WadiSphTensionIn *in = t->in;
    const WadiSphPairs *pairs = in->pairs;
    const float to_h = 1.0f / (in->spline->support * (float)WADI_SPH_PLACES);
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (!(in->strength[i] > 0.0f)) {
            continue;
        }
        const WadiI4 place = pairs->place[i];
        const WadiF4 own = t->root[i];
        WadiF4 sum = { 0 }, hold = { 0 };
        for (int64_t n = pairs->start[i]; n < pairs->start[i] + pairs->same[i]; ++n) {
            const int32_t j = wadi_sph_other(pairs, n);
            const WadiF4 o = WADI_SPH_OFFSET(pairs->place[j], place), g = o * wadi_sph_slope(pairs, i, n);
            sum += pull_of(own, g) + pull_of(t->root[j], g);
            const float inverse = 2.0f / (wadi_sph_size(pairs, i) + wadi_sph_size(pairs, j));
            const WadiF4 q = o * (to_h * inverse);
            const float open = 1.0f - sqrtf(dot(q, q));
            hold += q * ((in->strength[i] + in->strength[j]) * open * open * hold_factor(in, j, inverse));
        }
        sum += hold * in->spline->attraction;
        sum[3] = 0.0f;
        t->velocity[i] += sum * in->inverse_density[i];
    }
}

WadiStatus wadi_sph_tension(WadiF4 *velocity, const WadiSphTensionIn *in, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Tension t = { .in = in, .velocity = velocity };
    WADI_TRY(WADI_ARENA_NEW(arena, &t.root, (size_t)in->pairs->count, "surface tension", error));
    wadi_parallel_for(in->pairs->count, BLOCK, root_block, &t);
    wadi_parallel_for(in->pairs->count, BLOCK, pull_block, &t);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
