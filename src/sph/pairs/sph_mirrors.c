#include "sph/pairs/sph_mirrors.h"

#include <string.h>

#include "core/parallel.h"
#include "math/minmax.h"
#include "sph/pairs/sph_weigh.h"

enum { BLOCK = 1024, PARTICLE_BLOCK = 4096, LANES = WADI_SPH_LANES };

/* spacings^2: neighbours that are nearer to each other say nothing about a wall. */
static const float LEAST_SQUARE = 1e-3f;
static const float LEAST_DISTANCE = 1e-3f; /* spacings: of a particle and its image */

typedef struct Mirrors {
    const WadiSphPairsIn *in;
    WadiSphPairs *pairs;
    float *density;
    WadiSphWeight weight; /* of water */
    float reach;          /* spacings, of particles of size 1 */
} Mirrors;

/* A wall that two particles are near to. `more`: four times the product of their distances, spacings^2; so
 * much larger is the squared distance of one to the image of the other. `sum`: of their distances,
 * spacings. `speed`: of the wall along its normal, m/s. The contacts of both. */
typedef struct Common {
    WadiF4 normal;
    float more, sum;
    float weight, speed;
    int contact, contact_j;
} Common;

static inline float dot3(WadiF4 a, WadiF4 b)
{
    const WadiF4 product = a * b;
    return product[0] + product[1] + product[2];
}

static inline bool is_same_wall(const WadiSphContact *a, const WadiSphContact *b)
{
    return a->solid == b->solid && !(dot3(a->normal, b->normal) < 0.7f);
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
            n *= 1.0f / sqrtf(dot3(n, n));
            common[count++] = (Common){
                n, more, wadi_maxf(sum, 0.0f), 0.5f * (a->weight + b->weight), dot3(a->normal, a->velocity),
                c, o
            };
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

/* Curvature of a wall about a particle, from the normals n at its neighbours: sum of -(n_j - n_i) . (x_j -
 * x_i) and of the squares of x_j - x_i along the wall. */
typedef struct Curvature {
    float turned, square;
} Curvature;

static inline Curvature curvature_of(const WadiSphContact *a, const WadiSphContact *b, const Common *common,
                                     WadiF4 offset)
{
    const float across = dot3(offset, common->normal);
    return (Curvature){ -dot3(b->normal - a->normal, offset), dot3(offset, offset) - across * across };
}

/* Volume of the image of a particle at distance d from a wall that bends by `turned` over `square`: outside
 * a bowl of radius R it is (R + d) / (R - d) = 1 + 2 d / (R - d) times as large, for each of two directions
 * the root of that. */
static inline float image_volume(const Curvature *curvature, float distance)
{
    if (!(curvature->square > LEAST_SQUARE)) {
        return 1.0f;
    }
    const float volume = 1.0f + 2.0f * distance * curvature->turned / curvature->square;
    return volume < 0.0f ? 0.0f : volume > 2.0f ? 2.0f : volume;
}

/* Of the images of a particle of volume 1 in all sets of the common walls, in single ones and in corners:
 * their density, their gradients as they act on i, and `back`, these reflected at the walls, to be
 * multiplied by the velocity of j itself. The fourth number of `gradient` is what the velocity of the walls
 * adds to the rate, m/s a spacing. */
typedef struct Images {
    WadiF4 gradient, back;
    float density;
} Images;

/* `offset`: x_j - x_i, spacings; 0: the particle itself. Nearer than where the slope is steepest, a third
 * of the support, the slope of its own image stays the same: towards a wall it never weakens. */
static Images sum_images(const Mirrors *m, const Common *common, int count, WadiF4 offset, float size)
{
    const float reach = m->reach * size, unit = (float)(WADI_SPH_PLACES * WADI_SPH_PLACES);
    const float square = dot3(offset, offset);
    Images images = { 0 };
    for (unsigned set = 1; set < 1u << count; ++set) {
        float far = square, weight = 1.0f;
        WadiF4 along = offset, across = { 0 };
        for (int c = 0; c < count; ++c) {
            if ((set >> c & 1) != 0) {
                const WadiF4 n = common[c].normal;
                far += common[c].more;
                weight *= common[c].weight;
                along -= n * dot3(along, n);
                across -= n * (square == 0.0f ? wadi_maxf(common[c].sum, LEAST_DISTANCE) : common[c].sum);
            }
        }
        if (!(far < reach * reach)) {
            continue;
        }
        float w, slope;
        wadi_sph_weigh_one(far * unit, &m->weight, 1.0f / size, &w, &slope);
        const float nearest = reach * (float)(1.0 / 3.0);
        if (square == 0.0f && far < nearest * nearest) {
            const float r = wadi_maxf(sqrtf(far), LEAST_DISTANCE);
            wadi_sph_weigh_one(nearest * nearest * unit, &m->weight, 1.0f / size, &w, &slope);
            const float steepest = slope * nearest * (float)WADI_SPH_PLACES;
            w += steepest * (nearest - r);
            slope *= nearest / r;
        }
        slope *= weight * (float)WADI_SPH_PLACES;
        WadiF4 gradient = (along + across) * slope;
        gradient[3] = 0.0f;
        for (int c = 0; c < count; ++c) {
            gradient[3] +=
                (set >> c & 1) != 0 ? 2.0f * common[c].speed * dot3(gradient, common[c].normal) : 0.0f;
        }
        images.density += w * weight;
        images.gradient += gradient;
        images.back += (along - across) * slope;
    }
    return images;
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

static inline Couple couple_of(const Mirrors *m, int32_t i, int32_t j)
{
    const WadiSphPairs *pairs = m->pairs;
    const float size = 0.5f * (wadi_sph_size(pairs, i) + wadi_sph_size(pairs, j));
    const WadiF4 d = WADI_SPH_OFFSET(pairs->place[j], pairs->place[i]) * (float)(1.0 / WADI_SPH_PLACES);
    const float reach = m->reach * size;
    return (Couple){ d, size, reach * reach - dot3(d, d) };
}

/* Of the neighbours n .. n + 7 of particle i, those that may have an image near enough, as bits: their
 * smallest distances to walls, the numbers of the pairs, are compared as those to one wall are. */
static inline __attribute__((always_inline)) unsigned find_close(const Mirrors *m, int32_t i, int64_t n,
                                                                 int64_t end)
{
    const WadiSphPairs *pairs = m->pairs;
    const uint32_t *offset = pairs->offset + n;
    WadiSphEight eight;
    wadi_sph_load_eight(pairs, &pairs->place[i], offset, &eight);
    const float unit = (float)(1.0 / WADI_SPH_PLACES), own = wadi_maxf(wadi_sph_number(pairs, i), 0.0f);
    const WadiF8 x = eight.x * unit, y = eight.y * unit, z = eight.z * unit;
    WadiF8 reach = (WadiF8){ 0 } + m->reach;
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
        for (unsigned left = find_close(m, i, n, end); left != 0; left &= left - 1) {
            const int32_t j = wadi_sph_other(pairs, n + __builtin_ctz(left));
            count += has_common(walls, near, wadi_sph_near(walls, j), couple_of(m, i, j).left);
        }
    }
    return count;
}

/* The image of j for i, which are both near walls; false: there is none. Adds to what all images of i add. */
static bool find_image(const Mirrors *m, int32_t near, int32_t i, int32_t j, WadiSphMirror *image,
                       Images *all, Curvature curvature[WADI_SPH_CONTACT_MAX])
{
    const WadiSphWalls *walls = m->in->walls;
    Common common[WADI_SPH_CONTACT_MAX];
    const Couple couple = couple_of(m, i, j);
    const int32_t near_j = wadi_sph_near(walls, j);
    const int walls_of_both = find_common(walls, near, near_j, couple.left, common);
    if (walls_of_both == 0) {
        return false;
    }
    for (int c = 0; c < walls_of_both && walls->has_solids; ++c) {
        const WadiSphContact *a = &walls->contact[near][common[c].contact];
        const WadiSphContact *b = &walls->contact[near_j][common[c].contact_j];
        const Curvature of_pair = curvature_of(a, b, &common[c], couple.offset);
        common[c].weight *= image_volume(&of_pair, 0.5f * common[c].sum);
        curvature[common[c].contact].turned += of_pair.turned;
        curvature[common[c].contact].square += of_pair.square;
    }
    const Images images = sum_images(m, common, walls_of_both, couple.offset, couple.size);
    const float volume = m->in->volume[j];
    const WadiF4 gradient = images.gradient * volume, back = images.back * volume;
    *image = (WadiSphMirror){ { gradient[0], gradient[1], gradient[2] },
                              { back[0], back[1], back[2] },
                              (uint32_t)j + WADI_SPH_MIRROR_BIT };
    all->density += images.density * volume;
    all->gradient[3] += gradient[3];
    return true;
}

/* The part of the neighbours of i that is sand, by their forces. */
static float sand_part(const Mirrors *m, int32_t i)
{
    const WadiSphPairs *pairs = m->pairs;
    const int64_t other = pairs->start[i] + (int64_t)pairs->same[i], end = pairs->start[i + 1];
    float water = 0.0f, sand = 0.0f;
    for (int64_t n = pairs->start[i]; n < end && other < end; ++n) {
        *(n < other ? &water : &sand) += (float)pairs->slope[n];
    }
    return sand > 0.0f ? sand / (water + sand) : 0.0f;
}

/* The wall of a particle of water: its own images, and where sand lies beside it, which has none, the part of
 * a wall in front of a full half space that this sand has. */
static void end_wall(const Mirrors *m, int32_t i, int32_t near, const Curvature *curvature, Images *all)
{
    const WadiSphWalls *walls = m->in->walls;
    const float size = wadi_sph_size(m->pairs, i), sand = sand_part(m, i);
    Common common[WADI_SPH_CONTACT_MAX];
    const int count = find_common(walls, near, near, m->reach * m->reach * size * size, common);
    for (int c = 0; c < count; ++c) {
        common[c].weight *= image_volume(&curvature[common[c].contact], 0.5f * common[c].sum);
    }
    const Images own = sum_images(m, common, count, (WadiF4){ 0 }, size);
    const float volume = m->in->volume[i];
    WadiF4 gradient = (own.gradient - own.back) * volume;
    gradient[3] = own.gradient[3] * volume + all->gradient[3];
    walls->gradient[near] = walls->gradient[near] * sand + gradient;
    m->density[i] += all->density + own.density * volume + walls->cover[near] * sand;
}

static void write_images(const Mirrors *m, int32_t i, int32_t near)
{
    const WadiSphPairs *pairs = m->pairs;
    const int64_t end = end_of(m, i);
    WadiSphMirror *to = pairs->mirror + pairs->mirror_start[near], *const last =
                                                                       pairs->mirror +
                                                                       pairs->mirror_start[near + 1];
    Images all = { 0 };
    Curvature curvature[WADI_SPH_CONTACT_MAX] = { { 0 } };
    for (int64_t n = pairs->start[i]; n < end && to < last; n += LANES) {
        for (unsigned left = find_close(m, i, n, end); left != 0; left &= left - 1) {
            const int32_t j = wadi_sph_other(pairs, n + __builtin_ctz(left));
            to += find_image(m, near, i, j, to, &all, curvature);
        }
    }
    if (!m->in->is_sand[i] && m->in->role[i] == WADI_SPH_ACTIVE) {
        end_wall(m, i, near, curvature, &all);
    }
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

WadiStatus wadi_sph_mirrors_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                                 WadiArena *arena, WadiError *error)
{
    const int32_t count = in->walls->count;
    const WadiSphSpline *water = &in->kernel->of[0];
    Mirrors m = { in, pairs, density, wadi_sph_weight(water), water->reach };
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
