#include "render/sand_surface.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "surface/cloud/cloud_mirror.h"

enum { BLOCK = 512 };
/* Weighted neighbours, the particle itself included, below which it flies alone: a lone one has 1, one of a
 * pair 1.4, one in the corner of a block 2 to 3, one within the bulk 5.1. */
static const float LOOSE_BELOW = 1.6f;
/* The same for particles within FOOT spacings of the floor, where sand thins out into single grains: the
 * corner of a layer one particle deep has 2.6, counting images, its side 3.3, its middle 4.2. */
static const float LOOSE_ON_FLOOR = 2.9f;
static const double FOOT = 1.2;
/* Particles up to this many spacings above the floor stand on sand. */
static const double HANGING = 2.2;
static const double NEAR = 2.0, OWNER_NEAR = 1.4; /* spacings */
/* Fraction of a particle's volume that its grains fill, and the radius of the cloud they form, spacings. */
static const double FILL = 0.6, SCATTER = 0.75;

/* Spacings: a particle up to this high above sand or the floor lies on it, thrown up only by the size of a
 * cell; across, sand this near carries it. */
static const double LYING = 3.0, UNDER = 0.9;

typedef struct Split {
    const WadiCloud *cloud;
    const WadiBins *bins;
    double floor; /* m; -INFINITY: none */
    uint8_t *is_loose;
    float *drop; /* m, from a loose particle down to what it lies on; INFINITY: it flies */
} Split;

static void classify_block(void *context, int64_t first, int64_t end)
{
    const Split *s = context;
    for (int64_t n = first; n < end; ++n) {
        int32_t i = s->bins->order[n];
        if (i >= s->cloud->count) { /* an image */
            continue;
        }
        WadiVec3 x = s->cloud->position[i];
        const bool is_low = x.z - s->floor < FOOT * (double)s->cloud->spacing[i];
        const float below = is_low ? LOOSE_ON_FLOOR : LOOSE_BELOW;
        float sum = 0.0f;
        WadiBinWalk walk = wadi_bins_walk(s->bins, (WadiBox){ x, x });
        for (WadiBinSpan span; sum < below && wadi_bins_next(&walk, &span);) {
            WadiVec3 at = wadi_sub(x, span.corner);
            for (int32_t k = span.first; k < span.end; ++k) {
                const float *p = s->bins->point[k];
                float dx = p[0] - (float)at.x, dy = p[1] - (float)at.y, dz = p[2] - (float)at.z;
                float t = 1.0f - (dx * dx + dy * dy + dz * dz) / (p[3] * p[3]);
                sum += t > 0.0f ? t * t * t : 0.0f;
            }
        }
        s->is_loose[i] = sum < below;
    }
}

/* How far below loose particles the sand is that they lie on. */
static void find_drops(void *context, int64_t first, int64_t end)
{
    const Split *s = context;
    for (int64_t i = first; i < end; ++i) {
        s->drop[i] = INFINITY;
        if (!s->is_loose[i]) {
            continue;
        }
        const WadiVec3 x = s->cloud->position[i];
        const double spacing = (double)s->cloud->spacing[i];
        const float most = (float)(LYING * spacing), across = (float)(UNDER * spacing);
        float drop = x.z - s->floor < LYING * spacing ? (float)(x.z - s->floor) : INFINITY;
        WadiBinWalk walk =
            wadi_bins_walk(s->bins, (WadiBox){ wadi_vec3(x.x, x.y, x.z - LYING * spacing), x });
        for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
            const WadiVec3 at = wadi_sub(x, span.corner);
            for (int32_t k = span.first; k < span.end; ++k) {
                const float *p = s->bins->point[k];
                const float dx = p[0] - (float)at.x, dy = p[1] - (float)at.y, down = (float)at.z - p[2];
                const int32_t other = s->bins->order[k];
                if (other < s->cloud->count && !s->is_loose[other] && down > 0.0f && down < most &&
                    dx * dx + dy * dy < across * across) {
                    const float top = down - 0.5f * s->cloud->spacing[other];
                    drop = fminf(drop, fmaxf(top, 0.0f));
                }
            }
        }
        s->drop[i] = drop;
    }
}

/* Appends particle i of another cloud with the same attributes; memory is there. */
static void append_particle(WadiCloud *to, const WadiCloud *from, int32_t i, WadiVec3 position)
{
    int32_t n = to->count++;
    to->position[n] = position;
    to->spacing[n] = from->spacing[i];
    to->id[n] = from->id[i];
    to->spacing_min = fmin(to->spacing_min, (double)from->spacing[i]);
    to->spacing_max = fmax(to->spacing_max, (double)from->spacing[i]);
    for (int a = 0; a < from->attribute_count; ++a) {
        size_t c = (size_t)from->attribute[a].components;
        memcpy(to->attribute[a].values + (size_t)n * c, from->attribute[a].values + (size_t)i * c,
               c * sizeof(float));
    }
}

/* Whether the particle hangs just above the floor; *under is then the position of a copy on the floor. */
static bool is_hanging(const WadiCloud *cloud, int32_t i, double floor, WadiVec3 *under)
{
    double spacing = (double)cloud->spacing[i], height = cloud->position[i].z - floor;
    *under = cloud->position[i];
    under->z = floor + 0.5 * spacing;
    return height > 0.8 * spacing && height < HANGING * spacing;
}

/* The particles with is_loose[i] == which; with the bulk, copies on the floor under those that hang: the
 * foot of a heap has no hollow under it. */
static WadiStatus select_particles(WadiCloud *to, const WadiCloud *from, const Split *split, int which,
                                   WadiArena *arena, WadiError *error)
{
    *to = (WadiCloud){ .attribute_count = from->attribute_count };
    WadiVec3 under;
    size_t size = 0;
    for (int32_t i = 0; i < from->count; ++i) {
        if (split->is_loose[i] == which) {
            size += which == 0 && is_hanging(from, i, split->floor, &under) ? 2 : 1;
        }
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &to->position, size, "particles of sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &to->spacing, size, "particles of sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &to->id, size, "particles of sand", error));
    for (int a = 0; a < from->attribute_count; ++a) {
        to->attribute[a] = from->attribute[a];
        WADI_TRY(WADI_ARENA_NEW(arena, &to->attribute[a].values, size * (size_t)from->attribute[a].components,
                                "particles of sand", error));
    }
    to->spacing_min = size > 0 ? (double)INFINITY : 0.0;
    for (int32_t i = 0; i < from->count; ++i) {
        if (split->is_loose[i] != which) {
            continue;
        }
        append_particle(to, from, i, from->position[i]);
        if (which == 0 && is_hanging(from, i, split->floor, &under)) {
            append_particle(to, from, i, under);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_sand_split(WadiCloud *bulk, WadiCloud *loose, float **drop, const WadiCloud *cloud,
                           WadiBox walls, WadiArena *arena, WadiError *error)
{
    WadiBins bins;
    WadiCloud mirrored;
    Split split = { .cloud = cloud, .bins = &bins, .floor = walls.min.z };
    WADI_TRY(wadi_cloud_mirror(&mirrored, cloud, walls, 1.5, arena, error));
    WADI_TRY(wadi_bins_build(&bins, &mirrored, NEAR, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &split.is_loose, (size_t)cloud->count, "particles of sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &split.drop, (size_t)cloud->count, "particles of sand", error));
    wadi_parallel_for(mirrored.count, BLOCK, classify_block, &split);
    wadi_parallel_for(cloud->count, BLOCK, find_drops, &split);
    WADI_TRY(select_particles(bulk, cloud, &split, 0, arena, error));
    WADI_TRY(select_particles(loose, cloud, &split, 1, arena, error));
    int32_t count = 0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (split.is_loose[i]) { /* as select_particles does, in the order of the cloud */
            split.drop[count++] = split.drop[i];
        }
    }
    *drop = split.drop;
    return WADI_OK;
}

typedef struct Search {
    const WadiBins *bins;
    const WadiVec3 *vertices;
    uint32_t (*owner)[WADI_TRACE_OWNERS];
} Search;

static void search_block(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    for (int64_t v = first; v < end; ++v) {
        WadiVec3 x = s->vertices[v];
        float near[WADI_TRACE_OWNERS];
        uint32_t *owner = s->owner[v];
        for (int k = 0; k < WADI_TRACE_OWNERS; ++k) {
            near[k] = INFINITY;
            owner[k] = UINT32_MAX;
        }
        WadiBinWalk walk = wadi_bins_walk(s->bins, (WadiBox){ x, x });
        for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
            WadiVec3 at = wadi_sub(x, span.corner);
            for (int32_t n = span.first; n < span.end; ++n) {
                const float *p = s->bins->point[n];
                float dx = p[0] - (float)at.x, dy = p[1] - (float)at.y, dz = p[2] - (float)at.z;
                float square = dx * dx + dy * dy + dz * dz;
                if (!(square < near[WADI_TRACE_OWNERS - 1])) {
                    continue;
                }
                int k = WADI_TRACE_OWNERS - 1;
                for (; k > 0 && square < near[k - 1]; --k) {
                    near[k] = near[k - 1];
                    owner[k] = owner[k - 1];
                }
                near[k] = square;
                owner[k] = (uint32_t)s->bins->order[n];
            }
        }
    }
}

/* Leaves out the particles that own nothing. */
static WadiStatus compact(WadiSandOwners *owners, const WadiCloud *cloud, size_t vertex_count,
                          WadiVec3 origin, WadiArena *arena, WadiError *error)
{
    uint32_t *number, next = 0, *owner = (uint32_t *)owners->owner;
    WADI_TRY(WADI_ARENA_NEW(arena, &number, (size_t)cloud->count, "owners of grains", error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        number[i] = 0;
    }
    for (size_t n = 0; n < vertex_count * WADI_TRACE_OWNERS; ++n) {
        if (owner[n] != UINT32_MAX) {
            number[owner[n]] = 1;
        }
    }
    for (int32_t i = 0; i < cloud->count; ++i) {
        number[i] = number[i] != 0 ? next++ : UINT32_MAX;
    }
    owners->anchor_count = next;
    WADI_TRY(WADI_ARENA_NEW(arena, &owners->anchor, owners->anchor_count, "owners of grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &owners->anchor_hash, owners->anchor_count, "owners of grains", error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (number[i] != UINT32_MAX) {
            WadiVec3 x = wadi_sub(cloud->position[i], origin);
            float *to = owners->anchor[number[i]];
            to[0] = (float)x.x;
            to[1] = (float)x.y;
            to[2] = (float)x.z;
            owners->anchor_hash[number[i]] = cloud->id[i];
        }
    }
    for (size_t n = 0; n < vertex_count * WADI_TRACE_OWNERS; ++n) {
        owner[n] = owner[n] != UINT32_MAX ? number[owner[n]] : UINT32_MAX;
    }
    return WADI_OK;
}

WadiStatus wadi_sand_owners(WadiSandOwners *owners, const WadiCloud *cloud, const WadiVec3 *vertices,
                            size_t vertex_count, WadiVec3 origin, WadiArena *arena, WadiError *error)
{
    *owners = (WadiSandOwners){ 0 };
    WadiBins bins;
    WADI_TRY(WADI_ARENA_NEW(arena, &owners->owner, vertex_count, "owners of grains", error));
    WADI_TRY(wadi_bins_build(&bins, cloud, OWNER_NEAR, arena, error));
    Search search = { &bins, vertices, owners->owner };
    wadi_parallel_for((int64_t)vertex_count, BLOCK, search_block, &search);
    return compact(owners, cloud, vertex_count, origin, arena, error);
}

/* The number of grains of a particle and their mean diameter. */
static int loose_count(const WadiLooseDef *def, double spacing, double *size)
{
    *size = fmin(fmax(def->size, def->smallest), spacing);
    double real = FILL * 1.90985931710274 * pow(spacing / fmin(def->size, spacing), 3.0); /* 6 / pi */
    double shrink = def->size / *size;
    double count = real * fmin(shrink * shrink, 1.0);
    return (int)fmax(fmin(rint(count), def->count_max), 1.0);
}

static void scatter(WadiGrains *grains, size_t to, const WadiLooseDef *def, const WadiCloud *cloud, int32_t i,
                    int number, double size, WadiVec3 middle, double floor, float wetness)
{
    double u[3], v[3];
    wadi_random_unit3((uint64_t)number + 5000, cloud->id[i], WADI_RANDOM_GRAIN, u);
    wadi_random_unit3((uint64_t)number + 500000, cloud->id[i], WADI_RANDOM_GRAIN, v);
    /* Denser in the middle: the radius is uniform. */
    double z = 2.0 * u[0] - 1.0, across = sqrt(1.0 - z * z), angle = 2.0 * 3.14159265358979324 * u[1];
    double r = SCATTER * 2.0 * u[2] * (double)cloud->spacing[i];
    float *sphere = grains->sphere[to];
    sphere[0] = (float)(middle.x + r * across * cos(angle));
    sphere[1] = (float)(middle.y + r * across * sin(angle));
    sphere[3] = (float)(0.5 * size * (0.75 + 0.5 * v[0]));
    if (def->drop != NULL && isfinite(def->drop[i])) { /* half sunk, as between others */
        sphere[2] = (float)(middle.z - (double)def->drop[i]);
    } else {
        sphere[2] = (float)fmax(middle.z + r * z, floor + 0.5 * (double)sphere[3]);
    }
    grains->colour[to] = wadi_grain_colour(&def->palette, cloud->id[i], number, wetness);
}

WadiStatus wadi_loose_grains(WadiGrains *grains, const WadiCloud *cloud, WadiVec3 origin,
                             const WadiLooseDef *def, WadiArena *arena, WadiError *error)
{
    *grains = (WadiGrains){ 0 };
    const WadiCloudAttribute *wetness = wadi_cloud_find(cloud, "wetness"),
                             *velocity = def->has_velocity ? wadi_cloud_find(cloud, "velocity") : NULL;
    double size;
    size_t count = 0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        count += (size_t)loose_count(def, (double)cloud->spacing[i], &size);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &grains->sphere, count, "loose grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grains->colour, count, "loose grains", error));
    if (velocity != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &grains->velocity, count, "loose grains", error));
    }
    for (int32_t i = 0; i < cloud->count; ++i) {
        int of_particle = loose_count(def, (double)cloud->spacing[i], &size);
        WadiVec3 middle = wadi_sub(cloud->position[i], origin);
        float wet = wetness != NULL ? wetness->values[i] : def->wetness;
        for (int g = 0; g < of_particle; ++g, ++grains->count) {
            scatter(grains, grains->count, def, cloud, i, g, size, middle, def->floor - origin.z, wet);
            if (velocity != NULL) {
                memcpy(grains->velocity[grains->count], velocity->values + 3 * (size_t)i, sizeof(float[3]));
            }
        }
    }
    return WADI_OK;
}
