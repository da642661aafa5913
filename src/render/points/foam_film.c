#include "render/points/foam_film.h"

#include <math.h>

#include "core/alloc.h"
#include "core/hash.h"

/* Optical depth of a patch at its middle. */
static const float DEPTH = 0.5f;
/* Bubbles in a patch: their size over its radius, and how much the depth varies among them. */
static const float BUBBLE_SIZE = 0.28f, BUBBLE_CONTRAST = 1.6f, BUBBLE_MORE = 0.13f;
/* A patch covers what is at most this part of its radius above or below it, as often as wide. */
static const float FLATNESS = 0.5f;

static bool is_usable(const WadiFoamPatch *patch)
{
    return wadi_is_finitef(patch->position) && patch->radius > 0.0f && isfinite(patch->radius);
}

WadiStatus wadi_foam_film_build(WadiFoamFilm *film, const WadiFoamPatch *patches, size_t count,
                                WadiError *error)
{
    *film = (WadiFoamFilm){ 0 };
    float radius = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        if (is_usable(&patches[i])) {
            film->count += 1;
            radius = wadi_maxf(radius, patches[i].radius);
        }
    }
    if (film->count == 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_point_buckets_create(&film->buckets, film->count, radius, error));
    WADI_TRY(WADI_NEW(&film->patches, film->count, "foam of a picture", error));
    for (size_t i = 0; i < count; ++i) {
        if (is_usable(&patches[i])) {
            wadi_point_buckets_add(&film->buckets, patches[i].position);
        }
    }
    wadi_point_buckets_sum(&film->buckets);
    for (size_t i = 0; i < count; ++i) {
        if (is_usable(&patches[i])) {
            film->patches[wadi_point_buckets_place(&film->buckets, patches[i].position)] = patches[i];
        }
    }
    return WADI_OK;
}

void wadi_foam_film_free(WadiFoamFilm *film)
{
    WADI_DELETE(film->patches, film->patches != NULL ? film->count : 0);
    wadi_point_buckets_free(&film->buckets);
    *film = (WadiFoamFilm){ 0 };
}

/* Distance from x to the nearest of the points of a jittered lattice, about 0.5 on average. */
static float nearest_bubble(uint32_t seed, WadiVec3f x)
{
    int32_t i = (int32_t)floorf(x.x), j = (int32_t)floorf(x.y), k = (int32_t)floorf(x.z);
    float nearest = 4.0f;
    for (int n = 0; n < 27; ++n) {
        int32_t a = i + n % 3 - 1, b = j + n / 3 % 3 - 1, c = k + n / 9 - 1;
        uint64_t h = wadi_hash_mix((uint64_t)seed + (uint64_t)(uint32_t)a * UINT64_C(0x9e3779b97f4a7c15) +
                                   (uint64_t)(uint32_t)b * UINT64_C(0xc2b2ae3d27d4eb4f) +
                                   (uint64_t)(uint32_t)c * UINT64_C(0x165667b19e3779f9));
        WadiVec3f away = { (float)a + (float)(h & 0xffff) * 0x1p-16f - x.x,
                           (float)b + (float)(h >> 16 & 0xffff) * 0x1p-16f - x.y,
                           (float)c + (float)(h >> 32 & 0xffff) * 0x1p-16f - x.z };
        nearest = wadi_minf(nearest, wadi_dotf(away, away));
    }
    return sqrtf(nearest);
}

/* Foam is thin in the middle of a bubble and thick where bubbles meet. More than 1 on average: uneven foam
 * covers less than even foam of the same depth, and near and far must cover the same. */
static float bubbles(const WadiFoamPatch *patch, WadiVec3f away, float width)
{
    float size = BUBBLE_SIZE * patch->radius, seen = wadi_minf(wadi_maxf(size / width - 1.0f, 0.0f), 1.0f);
    if (!(seen > 0.0f)) {
        return 1.0f;
    }
    float edge = nearest_bubble(patch->hash, wadi_scalef(away, 1.0f / size));
    return wadi_maxf(1.0f + seen * (BUBBLE_MORE + BUBBLE_CONTRAST * (edge / 0.55f - 1.0f)), 0.0f);
}

static float patch_depth(const WadiFoamPatch *patch, WadiVec3f position, WadiVec3f normal, float width)
{
    WadiVec3f away = wadi_subf(position, patch->position);
    float above = wadi_dotf(away, normal), square = wadi_dotf(away, away) - above * above;
    float q = (square + FLATNESS * FLATNESS * above * above) / (patch->radius * patch->radius);
    if (q >= 1.0f) {
        return 0.0f;
    }
    return DEPTH * (1.0f - q) * (1.0f - q) * bubbles(patch, away, width);
}

float wadi_foam_film_cover(const WadiFoamFilm *film, WadiVec3f p, WadiVec3f normal, float width)
{
    WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR];
    const int span_count = wadi_point_buckets_near(&film->buckets, p, spans);
    float depth = 0.0f;
    for (int s = 0; s < span_count; ++s) {
        for (uint32_t m = spans[s].first; m < spans[s].end; ++m) {
            depth += patch_depth(&film->patches[m], p, normal, width);
        }
    }
    return 1.0f - expf(-depth);
}
