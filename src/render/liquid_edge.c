/* A liquid's particles are as large as its thinnest parts, which their surface shows as beads: shores of
 * puddles, and films that run up walls. */
#include "render/liquid_edge.h"

#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "render/frame_scene_internal.h"
#include "surface/cloud/bins.h"
#include "surface/cloud/cloud_append.h"

enum { BLOCK = 256, OFFSETS_MAX = 32 };
/* Spacings: radius of the kernel. */
static const double NEAR = 2.0;
/* Sums of the kernel (1 - q)^3, q the squared distance over that of the radius: within a liquid or sand 5.1,
 * at its surface half of that, a spacing above its highest particles 0.9. */
static const float INSIDE = 2.5f, OPEN = 1.5f;
/* Spacings: how far the liquid goes on, and where there must still be sand behind it. */
static const double REACH = 2.3, BEHIND = 1.0;
/* Slope of the liquid in sand, which takes it below the sand's surface. */
static const double SLOPE = 0.3;

/* Sum of the kernels at a point, at most about `enough`. */
static float sum_at(const WadiBins *bins, WadiVec3 x, float enough)
{
    float sum = 0.0f;
    WadiBinWalk walk = wadi_bins_walk(bins, (WadiBox){ x, x });
    for (WadiBinSpan span; sum < enough && wadi_bins_next(&walk, &span);) {
        const WadiVec3 at = wadi_sub(x, span.corner);
        for (int32_t k = span.first; k < span.end; ++k) {
            const float *p = bins->point[k];
            const float dx = p[0] - (float)at.x, dy = p[1] - (float)at.y, dz = p[2] - (float)at.z;
            const float t = 1.0f - (dx * dx + dy * dy + dz * dz) / (p[3] * p[3]);
            sum += t > 0.0f ? t * t * t : 0.0f;
        }
    }
    return sum;
}

typedef struct Shore {
    const WadiCloud *cloud;
    WadiBins liquid, sand;
    int offset_count;
    WadiVec3 offset[OFFSETS_MAX]; /* spacings */
    uint32_t *chosen;             /* per particle: bits of the offsets where the liquid goes on */
} Shore;

static void choose_block(void *context, int64_t first, int64_t end)
{
    const Shore *shore = context;
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = shore->cloud->position[i];
        const double spacing = (double)shore->cloud->spacing[i];
        shore->chosen[i] = 0;
        const WadiVec3 above = { x.x, x.y, x.z + 1.1 * spacing };
        if (sum_at(&shore->sand, x, 0.01f) == 0.0f || sum_at(&shore->liquid, above, OPEN) >= OPEN) {
            continue;
        }
        for (int n = 0; n < shore->offset_count; ++n) {
            const WadiVec3 along = wadi_scale(shore->offset[n], spacing), p = wadi_add(x, along);
            const WadiVec3 behind = wadi_add_scaled(p, along, BEHIND * spacing / wadi_norm(along));
            if (sum_at(&shore->sand, p, INSIDE) >= INSIDE && sum_at(&shore->sand, behind, INSIDE) >= INSIDE &&
                sum_at(&shore->liquid, p, OPEN) < OPEN) {
                shore->chosen[i] |= UINT32_C(1) << n;
            }
        }
    }
}

/* Cubes of a spacing with a new particle: their hashes, and their numbers, counted from 1. */
typedef struct Taken {
    uint64_t *key;
    int32_t *number; /* 0: free */
    size_t mask;
} Taken;

/* The number of the cube with x in it; it is `next` if the cube is new. */
static int32_t take(Taken *taken, WadiVec3 x, double spacing, int32_t next)
{
    uint64_t key = 0;
    for (int a = 0; a < 3; ++a) {
        key = wadi_hash_combine(key, (uint64_t)(int64_t)floor(wadi_component(x, a) / spacing));
    }
    size_t slot = (size_t)key & taken->mask;
    while (taken->number[slot] != 0 && taken->key[slot] != key) {
        slot = (slot + 1) & taken->mask;
    }
    if (taken->number[slot] == 0) {
        taken->key[slot] = key;
        taken->number[slot] = next;
    }
    return taken->number[slot];
}

/* One particle for each cube, in the mean of the places chosen in it. */
static WadiStatus add_chosen(WadiCloud *shored, const Shore *shore, size_t chosen, WadiArena *arena,
                             WadiError *error)
{
    const WadiCloud *cloud = shore->cloud;
    Taken taken = { .mask = 63 };
    int32_t *places;
    while (taken.mask < 2 * chosen) {
        taken.mask = 2 * taken.mask + 1;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &taken.key, taken.mask + 1, "particles in sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &taken.number, taken.mask + 1, "particles in sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &places, chosen, "particles in sand", error));
    memset(taken.number, 0, (taken.mask + 1) * sizeof *taken.number);
    for (int32_t i = 0; i < cloud->count; ++i) {
        wadi_cloud_append(shored, cloud, i, cloud->position[i]);
    }
    for (int32_t i = 0; i < cloud->count; ++i) {
        for (uint32_t left = shore->chosen[i]; left != 0; left &= left - 1) {
            const double spacing = (double)cloud->spacing[i];
            const WadiVec3 p =
                wadi_add_scaled(cloud->position[i], shore->offset[__builtin_ctz(left)], spacing);
            const int32_t next = shored->count - cloud->count + 1, number = take(&taken, p, spacing, next);
            if (number == next) {
                wadi_cloud_append(shored, cloud, i, p);
                places[number - 1] = 1;
            } else {
                WadiVec3 *mean = &shored->position[cloud->count + number - 1];
                *mean = wadi_add_scaled(*mean, wadi_sub(p, *mean), 1.0 / ++places[number - 1]);
            }
        }
    }
    return WADI_OK;
}

WadiStatus wadi_liquid_shore(WadiCloud *shored, const WadiCloud *cloud, const WadiCloud *sand,
                             WadiArena *arena, WadiError *error)
{
    *shored = *cloud;
    if (cloud->count == 0 || sand->count == 0) {
        return WADI_OK;
    }
    Shore shore = { .cloud = cloud };
    for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
            if ((i != 0 || j != 0) && i * i + j * j <= REACH * REACH) {
                const double drop = SLOPE * sqrt((double)(i * i + j * j));
                shore.offset[shore.offset_count++] = wadi_vec3(i, j, -drop);
            }
        }
    }
    WADI_TRY(wadi_bins_build(&shore.liquid, cloud, NEAR, arena, error));
    WADI_TRY(wadi_bins_build(&shore.sand, sand, NEAR, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &shore.chosen, (size_t)cloud->count, "shores", error));
    wadi_parallel_for(cloud->count, BLOCK, choose_block, &shore);
    size_t chosen = 0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        chosen += (size_t)__builtin_popcount(shore.chosen[i]);
    }
    WADI_TRY(wadi_cloud_like(shored, cloud, (size_t)cloud->count + chosen, arena, error));
    return add_chosen(shored, &shore, chosen, arena, error);
}

/* Spacings: thickest film, and the distance from the wall at which there is no liquid before it. */
static const double FILM = 5.0, BEFORE_FILM = 5.7;

typedef struct Films {
    const WadiCloud *cloud;
    const WadiBins *bins;
    WadiBox walls;
    uint8_t *is_film;
} Films;

/* Whether no liquid is before the film: at the height of the particle, or a little lower. */
static bool is_film(const Films *films, WadiVec3 x, double spacing, WadiVec3 inward, double distance)
{
    for (int below = 0; below <= 2; ++below) {
        WadiVec3 front = wadi_add_scaled(x, inward, BEFORE_FILM * spacing - distance);
        front.z -= below * spacing;
        if (front.z > films->walls.min.z && sum_at(films->bins, front, OPEN) >= OPEN) {
            return false;
        }
    }
    return true;
}

static void find_films(void *context, int64_t first, int64_t end)
{
    const Films *films = context;
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = films->cloud->position[i];
        const double spacing = (double)films->cloud->spacing[i];
        films->is_film[i] = 0;
        for (int side = 0; side < 4; ++side) { /* upright ones */
            const int axis = side / 2;
            const double low = wadi_component(films->walls.min, axis),
                         high = wadi_component(films->walls.max, axis), at = wadi_component(x, axis);
            const double distance = side % 2 == 0 ? at - low : high - at;
            if (distance < FILM * spacing) {
                const double sign = side % 2 == 0 ? 1.0 : -1.0;
                const WadiVec3 inward = axis == 0 ? wadi_vec3(sign, 0, 0) : wadi_vec3(0, sign, 0);
                films->is_film[i] |= is_film(films, x, spacing, inward, distance);
            }
        }
    }
}

WadiStatus wadi_liquid_without_films(WadiCloud *kept, const WadiCloud *cloud, WadiBox walls, WadiArena *arena,
                                     WadiError *error)
{
    *kept = *cloud;
    if (cloud->count == 0) {
        return WADI_OK;
    }
    WadiBins bins;
    Films films = { .cloud = cloud, .bins = &bins, .walls = walls };
    WADI_TRY(wadi_bins_build(&bins, cloud, NEAR, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &films.is_film, (size_t)cloud->count, "films at walls", error));
    wadi_parallel_for(cloud->count, BLOCK, find_films, &films);
    WADI_TRY(wadi_cloud_like(kept, cloud, (size_t)cloud->count, arena, error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (!films.is_film[i]) {
            wadi_cloud_append(kept, cloud, i, cloud->position[i]);
        }
    }
    return WADI_OK;
}

/* Positions and spacings of all sand. */
static WadiStatus gather_sand(WadiCloud *sand, const WadiScene *scene, const WadiState *frame,
                              WadiArena *arena, WadiError *error)
{
    const WadiStateArray *x, *radius, *material;
    WADI_TRY(wadi_state_expect(frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    WADI_TRY(wadi_state_expect(frame, "radius", WADI_TYPE_F32, 1, x->count, &radius, error));
    WADI_TRY(wadi_state_expect(frame, "material", WADI_TYPE_U8, 1, x->count, &material, error));
    *sand = (WadiCloud){ .spacing_min = INFINITY };
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->position, x->count, "particles of sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->spacing, x->count, "particles of sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->id, x->count, "particles of sand", error));
    for (size_t i = 0; i < x->count; ++i) {
        const uint8_t m = ((const uint8_t *)material->data)[i];
        if (m < scene->material_count && scene->materials[m].kind == WADI_MATERIAL_SAND) {
            const double *at = (const double *)x->data + 3 * i;
            const float spacing = 2.0f * ((const float *)radius->data)[i];
            sand->position[sand->count] = wadi_vec3(at[0], at[1], at[2]);
            sand->spacing[sand->count] = spacing;
            sand->id[sand->count++] = (uint32_t)i;
            sand->spacing_min = fmin(sand->spacing_min, (double)spacing);
            sand->spacing_max = fmax(sand->spacing_max, (double)spacing);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_frame_scene_edge(const WadiFrameBuilder *s, const WadiCloud *cloud, WadiCloud *edged,
                                 WadiError *error)
{
    const WadiScene *scene = s->def->scene;
    WadiArena *arena = &s->frame_scene->arena;
    WadiCloud inner = *cloud, sand;
    if (scene->has_domain && scene->render.walls != WADI_RENDER_WALLS_GLASS) {
        const WadiBox walls = wadi_box_closed_sides(scene->domain, scene->closed_sides);
        WADI_TRY(wadi_liquid_without_films(&inner, cloud, walls, arena, error));
    }
    WADI_TRY(gather_sand(&sand, scene, s->frame, arena, error));
    return wadi_liquid_shore(edged, &inner, &sand, arena, error);
}
