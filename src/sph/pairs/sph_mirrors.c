#include "sph/pairs/sph_mirrors.h"

#include <string.h>

#include "core/parallel.h"
#include "math/minmax.h"
#include "sph/pairs/sph_weigh.h"

enum { BLOCK = 1024, PARTICLE_BLOCK = 4096, LANES = WADI_SPH_LANES };

/* 1/spacing: a wall draws particles by at most this; half a spacing away it presses with 1. */
static const float DRAWN_MAX = 0.5f;

typedef struct Mirrors {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
} Mirrors;

/* A wall that two particles are near to. `more`: four times the product of their distances, spacings^2; so
 * much larger is the squared distance of one to the image of the other. `sum`: of their distances,
 * spacings. */
typedef struct Common {
    WadiF4 normal;
    float more, sum;
    float weight;
} Common;

static inline bool is_same_wall(const WadiSphContact *a, const WadiSphContact *b)
{
    const WadiF4 product = a->normal * b->normal;
    return a->solid == b->solid && !(product[0] + product[1] + product[2] < 0.7f);
}

/* Walls in which the image of one is nearer to the other than the root of `left` more than their squared
 * distance, spacings^2; farther ones add nothing, neither do corners with them. */
static int find_common(const WadiSphWalls *walls, int32_t near_i, int32_t near_j, float left,
                       Common common[WADI_SPH_CONTACT_MAX])
{
    int count = 0;
    for (int c = 0; c < walls->contact_count[near_i]; ++c) {
        const WadiSphContact *a = &walls->contact[near_i][c];
        for (int o = 0; o < walls->contact_count[near_j]; ++o) {
            const WadiSphContact *b = &walls->contact[near_j][o];
            const float more = 4.0f * wadi_maxf(a->normal[3] * b->normal[3], 0.0f);
            if (!(more < left) || !is_same_wall(a, b)) {
                continue;
            }
            WadiF4 n = a->normal + b->normal;
            const float sum = n[3];
            n *= 1.0f / sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            common[count++] = (Common){ n, more, wadi_maxf(sum, 0.0f), 0.5f * (a->weight + b->weight) };
            break;
        }
    }
    return count;
}

/* Whether there is such a wall. */
static bool has_common(const WadiSphWalls *walls, int32_t near_i, int32_t near_j, float left)
{
    for (int c = 0; c < walls->contact_count[near_i]; ++c) {
        const WadiSphContact *a = &walls->contact[near_i][c];
        for (int o = 0; o < walls->contact_count[near_j]; ++o) {
            const WadiSphContact *b = &walls->contact[near_j][o];
            if (4.0f * wadi_maxf(a->normal[3] * b->normal[3], 0.0f) < left && is_same_wall(a, b)) {
                return true;
            }
        }
    }
    return false;
}

/* Gradients of the images of j in all sets of the common walls, in single ones and in corners, as they act
 * on i, for a mean size; `back`: the same reflected at these walls, to be multiplied by the velocity of j
 * itself. */
static void sum_images(const Common *common, int count, const WadiF4 *offset, float scale, float size,
                       WadiF4 *gradient, WadiF4 *back)
{
    const float reach = (float)WADI_SPH_REACH * size;
    const float unit = (float)(WADI_SPH_PLACES * WADI_SPH_PLACES);
    const WadiF4 d = *offset; /* spacings */
    const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    *gradient = *back = (WadiF4){ 0 };
    for (unsigned set = 1; set < 1u << count; ++set) {
        float far = square, weight = 1.0f;
        WadiF4 along = d, across = { 0 };
        for (int c = 0; c < count; ++c) {
            if ((set >> c & 1) != 0) {
                const WadiF4 n = common[c].normal;
                far += common[c].more;
                weight *= common[c].weight;
                along -= n * (along[0] * n[0] + along[1] * n[1] + along[2] * n[2]);
                across -= n * common[c].sum;
            }
        }
        if (far < reach * reach) {
            const float s = wadi_sph_slope_at(far * unit, scale, 1.0f / size) * (float)WADI_SPH_PLACES;
            *gradient += (along + across) * (s * weight);
            *back += (along - across) * (s * weight);
        }
    }
}

/* What the images press away from the walls, `across`, is taken off the walls' own gradient, so that even
 * pressure presses as before. Where water is crowded they press more than the walls do, and what is left
 * would draw it: the more there is the stronger, until all of it lies on the floor. */
static void take_off(const WadiSphWalls *walls, int32_t near, WadiF4 across)
{
    float part = 1.0f;
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        const WadiSphContact *contact = &walls->contact[near][c];
        const WadiF4 product = across * contact->normal;
        const float along = product[0] + product[1] + product[2], most = contact->velocity[3] - DRAWN_MAX;
        part = along < most ? wadi_minf(part, most / along) : part;
    }
    walls->gradient[near] -= across * part;
}

/* The neighbours of a near particle that may have images end here. Sand has none: its friction has no images
 * either, and both have to be felt alike. */
static int64_t end_of(const Mirrors *m, int32_t i)
{
    return m->pairs->start[i] + (m->in->is_sand[i] ? 0 : m->pairs->same[i]);
}

/* A particle and a neighbour: x_j - x_i and the mean size, spacings; by how much the squared distance to an
 * image may be larger than that to the neighbour. */
typedef struct Couple {
    WadiF4 offset;
    float size, left;
} Couple;

static inline Couple couple_of(const WadiSphPairs *pairs, int32_t i, int32_t j)
{
    const float size = 0.5f * (wadi_sph_size(pairs, i) + wadi_sph_size(pairs, j));
    const WadiF4 d = WADI_SPH_OFFSET(pairs->place[j], pairs->place[i]) * (float)(1.0 / WADI_SPH_PLACES);
    const float reach = (float)WADI_SPH_REACH * size;
    return (Couple){ d, size, reach * reach - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) };
}

/* Of the neighbours n .. n + 7 of particle i, those that may have an image near enough, as bits: their
 * smallest distances to walls, the numbers of the pairs, are compared as those to one wall are. */
static inline __attribute__((always_inline)) unsigned find_close(const WadiSphPairs *pairs, int32_t i,
                                                                 int64_t n, int64_t end)
{
    const uint32_t *offset = pairs->offset + n;
    WadiSphEight eight;
    wadi_sph_load_eight(pairs, &pairs->place[i], offset, &eight);
    const float unit = (float)(1.0 / WADI_SPH_PLACES), own = wadi_maxf(wadi_sph_number(pairs, i), 0.0f);
    const WadiF8 x = eight.x * unit, y = eight.y * unit, z = eight.z * unit;
    WadiF8 reach = (WadiF8){ 0 } + (float)WADI_SPH_REACH;
    for (int l = 0; pairs->has_sizes && l < LANES; ++l) {
        reach[l] *= 0.5f * (pairs->size[i] + pairs->size[offset[l] >> 4]);
    }
    const WadiF8 none = { 0 }, left = reach * reach - (x * x + y * y + z * z);
    const WadiI8 is_close = 4.0f * (own * WADI_MAX8(eight.number, none)) < left;
    const unsigned bits = wadi_row_bits(&is_close);
    return end - n < LANES ? bits & ((1u << (end - n)) - 1) : bits;
}

static uint32_t count_images(const Mirrors *m, int32_t i, int32_t near)
{
    const WadiSphPairs *pairs = m->pairs;
    const WadiSphWalls *walls = m->in->walls;
    const int64_t end = end_of(m, i);
    uint32_t count = 0;
    for (int64_t n = pairs->start[i]; n < end; n += LANES) {
        for (unsigned left = find_close(pairs, i, n, end); left != 0; left &= left - 1) {
            const int32_t j = wadi_sph_other(pairs, n + __builtin_ctz(left));
            count += has_common(walls, near, wadi_sph_near(walls, j), couple_of(pairs, i, j).left);
        }
    }
    return count;
}

/* The image of j for i, which are both near walls; false: there is none. */
static bool find_image(const Mirrors *m, int32_t near, int32_t i, int32_t j, WadiSphMirror *image,
                       WadiF4 *pressed)
{
    const WadiSphWalls *walls = m->in->walls;
    Common common[WADI_SPH_CONTACT_MAX];
    const Couple couple = couple_of(m->pairs, i, j);
    const int walls_of_both = find_common(walls, near, wadi_sph_near(walls, j), couple.left, common);
    if (walls_of_both == 0) {
        return false;
    }
    WadiF4 gradient, back;
    sum_images(common, walls_of_both, &couple.offset, m->in->kernel->scale, couple.size, &gradient, &back);
    const float volume = m->in->volume[j];
    gradient *= volume, back *= volume;
    *image = (WadiSphMirror){ { gradient[0], gradient[1], gradient[2] },
                              { back[0], back[1], back[2] },
                              (uint32_t)j + WADI_SPH_MIRROR_BIT };
    *pressed += gradient - back; /* twice the part across the walls */
    return true;
}

static void write_images(const Mirrors *m, int32_t i, int32_t near)
{
    const WadiSphPairs *pairs = m->pairs;
    const int64_t end = end_of(m, i);
    WadiSphMirror *to = pairs->mirror + pairs->mirror_start[near], *const last =
                                                                       pairs->mirror +
                                                                       pairs->mirror_start[near + 1];
    WadiF4 pressed = { 0 };
    for (int64_t n = pairs->start[i]; n < end && to < last; n += LANES) {
        for (unsigned left = find_close(pairs, i, n, end); left != 0; left &= left - 1) {
            const int32_t j = wadi_sph_other(pairs, n + __builtin_ctz(left));
            to += find_image(m, near, i, j, to, &pressed);
        }
    }
    pressed[3] = 0.0f;
    take_off(m->in->walls, near, pressed);
}

/* The smallest distance of each particle to a wall as its number. */
static void mark_block(void *context, int64_t first, int64_t end)
{
    const Mirrors *m = context;
    const WadiSphWalls *walls = m->in->walls;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = wadi_sph_near(walls, i);
        float least = INFINITY; /* times 0 it is not a number, and not close either */
        if (near >= 0) {
            for (int c = 0; c < walls->contact_count[near]; ++c) {
                least = wadi_minf(least, walls->contact[near][c].normal[3]);
            }
        }
        wadi_sph_set_number(m->pairs, i, least);
    }
}

static void count_block(void *context, int64_t first, int64_t end)
{
    const Mirrors *m = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = wadi_sph_near(m->in->walls, i);
        if (near >= 0) {
            m->pairs->mirror_start[near + 1] = count_images(m, i, near);
        }
    }
}

static void fill_block(void *context, int64_t first, int64_t end)
{
    const Mirrors *m = context;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = wadi_sph_near(m->in->walls, i);
        if (near >= 0) {
            write_images(m, i, near);
        }
    }
}

WadiStatus wadi_sph_mirrors_find(WadiSphPairs *pairs, const WadiSphPairsIn *in, WadiArena *arena,
                                 WadiError *error)
{
    const int32_t count = in->walls->count;
    Mirrors m = { .in = in, .pairs = pairs };
    WADI_TRY(
        WADI_ARENA_NEW_TEMPORARY(arena, &pairs->mirror_start, (size_t)count + 1, "mirror images", error));
    wadi_parallel_for(pairs->count, PARTICLE_BLOCK, mark_block, &m);
    wadi_parallel_for(pairs->count, BLOCK, count_block, &m);
    pairs->mirror_start[0] = 0;
    for (int32_t near = 0; near < count; ++near) {
        pairs->mirror_start[near + 1] += pairs->mirror_start[near];
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &pairs->mirror, (size_t)pairs->mirror_start[count],
                                      "mirror images", error));
    wadi_parallel_for(pairs->count, BLOCK, fill_block, &m);
    return WADI_OK;
}
