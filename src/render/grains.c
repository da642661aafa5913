#include "render/grains.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/random.h"

enum {
    PATTERNS = 64,   /* different handfuls; each is also rotated at random */
    CANDIDATES = 16, /* candidates per grain: the one farthest from the others is used */
    PARTICLE_BLOCK = 512,
};

/* For neighbours that fill space evenly, weighted by (1 - q^2)^3 up to the support radius R: the sum of the
 * weights per particle of one spacing cubed, 4 pi (R/s)^3 16/315, and the variance along an axis, R^2 /
 * 11. */
static const double EVEN_SUM = 4.0 * 3.14159265358979324 * 8.0 * 16.0 / 315.0;
static const double EVEN_VARIANCE = WADI_GRAIN_SUPPORT * WADI_GRAIN_SUPPORT / 11.0;
/* Radius of a ball of one spacing cubed, slightly larger so that handfuls overlap without visible borders. */
static const float HANDFUL_RADIUS = 0.62035f * 1.12f;

typedef struct Point {
    float x, y, z;
} Point;

typedef struct Builder {
    const WadiCloud *cloud;
    const WadiBins *bins;
    const WadiGrainDef *def;
    const WadiCloudAttribute *wetness, *velocity; /* NULL: none */
    WadiVec3 origin;
    Point *pattern; /* PATTERNS x per_particle points in the unit ball */
    WadiGrains *out;
} Builder;

static Point random_in_ball(uint64_t seed, uint64_t id)
{
    double u[3];
    wadi_random_unit3(seed, id, WADI_RANDOM_GRAIN, u);
    double radius = cbrt(u[0]), z = 2.0 * u[1] - 1.0, rotation = 2.0 * 3.14159265358979324 * u[2];
    double r = sqrt(1.0 - z * z);
    return (Point){ (float)(radius * r * cos(rotation)), (float)(radius * r * sin(rotation)),
                    (float)(radius * z) };
}

static float distance2(Point a, Point b)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

/* Well separated points in the unit ball, by the best of several candidates. */
static void make_pattern(Point *pattern, int count, int number)
{
    for (int g = 0; g < count; ++g) {
        float best = -1.0f;
        for (int c = 0; c < CANDIDATES; ++c) {
            Point try = random_in_ball((uint64_t)number + 1, (uint64_t)g * CANDIDATES + (uint64_t)c);
            float nearest = 4.0f;
            for (int other = 0; other < g; ++other) {
                nearest = fminf(nearest, distance2(try, pattern[other]));
            }
            if (nearest > best) {
                best = nearest;
                pattern[g] = try;
            }
        }
    }
}

/* The symmetric matrix that stretches a handful. */
typedef struct Stretch {
    float xx, yy, zz, xy, xz, yz;
} Stretch;

static float determinant(const Stretch *s)
{
    return s->xx * (s->yy * s->zz - s->yz * s->yz) - s->xy * (s->xy * s->zz - s->yz * s->xz) +
           s->xz * (s->xy * s->yz - s->yy * s->xz);
}

/* Weighted sums over the neighbours, offsets in spacings. */
typedef struct Moments {
    float sum, x, y, z;
    Stretch square;
} Moments;

static void add_neighbour(Moments *sum, float w, float x, float y, float z)
{
    sum->sum += w;
    sum->x += w * x;
    sum->y += w * y;
    sum->z += w * z;
    sum->square.xx += w * x * x;
    sum->square.yy += w * y * y;
    sum->square.zz += w * z * z;
    sum->square.xy += w * x * y;
    sum->square.xz += w * x * z;
    sum->square.yz += w * y * z;
}

/* Moments of all particles whose support covers x, including the particle itself, with their weights at x. A
 * mixture of sizes that fills space evenly has the same sum as one size. */
static Moments neighbour_moments(const Builder *m, WadiVec3 x, float spacing)
{
    Moments sum = { 0 };
    WadiBinWalk walk = wadi_bins_walk(m->bins, (WadiBox){ x, x });
    float scale = 1.0f / spacing;
    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
        WadiVec3 at = wadi_sub(x, span.corner);
        for (int32_t n = span.first; n < span.end; ++n) {
            const float *point = m->bins->point[n];
            float dx = point[0] - (float)at.x, dy = point[1] - (float)at.y, dz = point[2] - (float)at.z;
            float t = 1.0f - (dx * dx + dy * dy + dz * dz) / (point[3] * point[3]);
            if (t > 0.0f) {
                add_neighbour(&sum, t * t * t, scale * dx, scale * dy, scale * dz);
            }
        }
    }
    return sum;
}

/* (I + C) / 2, C the relative variance of the neighbours: one step of Heron's method towards sqrt(C), never
 * below one half and without eigenvectors. Scaled to the particle's volume among its neighbours. */
static Stretch handful_stretch(const Moments *sum, float spacing)
{
    float inverse_sum = 1.0f / sum->sum, scale = inverse_sum / (float)EVEN_VARIANCE;
    float x = sum->x, y = sum->y, z = sum->z;
    Stretch s = { 0.5f + 0.5f * scale * (sum->square.xx - inverse_sum * x * x),
                  0.5f + 0.5f * scale * (sum->square.yy - inverse_sum * y * y),
                  0.5f + 0.5f * scale * (sum->square.zz - inverse_sum * z * z),
                  0.5f * scale * (sum->square.xy - inverse_sum * x * y),
                  0.5f * scale * (sum->square.xz - inverse_sum * x * z),
                  0.5f * scale * (sum->square.yz - inverse_sum * y * z) };
    float volume_ratio = (float)EVEN_SUM / fminf(sum->sum, (float)EVEN_SUM * 1.5f);
    float size = HANDFUL_RADIUS * spacing * cbrtf(volume_ratio / determinant(&s));
    return (Stretch){ size * s.xx, size * s.yy, size * s.zz, size * s.xy, size * s.xz, size * s.yz };
}

/* A uniformly distributed rotation from three numbers in [0, 1): a unit quaternion as a matrix. */
static void random_rotation(const double u[3], float rotation[3][3])
{
    double low = sqrt(1.0 - u[0]), high = sqrt(u[0]), a = 2.0 * 3.14159265358979324 * u[1],
           b = 2.0 * 3.14159265358979324 * u[2];
    float x = (float)(low * sin(a)), y = (float)(low * cos(a)), z = (float)(high * sin(b)),
          w = (float)(high * cos(b));
    float rows[3][3] = { { 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w) },
                         { 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w) },
                         { 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y) } };
    memcpy(rotation, rows, sizeof rows);
}

static uint8_t shaded(uint8_t value, float factor)
{
    return (uint8_t)fminf(fmaxf((float)value * factor + 0.5f, 0.0f), 255.0f);
}

/* Three random numbers in [0, 1) for colour and size. */
static void grain_numbers(uint32_t id, int number, double u[3])
{
    wadi_random_unit3((uint64_t)number + 1000, id, WADI_RANDOM_GRAIN, u);
}

WadiTraceColour wadi_grain_colour(const WadiGrainPalette *palette, uint32_t id, int number, float wetness)
{
    double u[3];
    grain_numbers(id, number, u);
    int c = 0;
    float remaining = (float)u[0];
    while (c + 1 < WADI_GRAIN_COLOURS && remaining >= palette->fraction[c]) {
        remaining -= palette->fraction[c++];
    }
    float factor = 1.0f + palette->variation * (float)(2.0 * u[1] - 1.0);
    const uint8_t *colour = palette->colour[palette->fraction[c] > 0.0f ? c : 0];
    return (WadiTraceColour){ shaded(colour[0], factor), shaded(colour[1], factor), shaded(colour[2], factor),
                              shaded(255, fminf(fmaxf(wetness, 0.0f), 1.0f)) };
}

static void make_handful(const Builder *m, int32_t particle)
{
    const WadiCloud *cloud = m->cloud;
    const WadiGrainDef *def = m->def;
    float spacing = cloud->spacing[particle];
    Moments sum = neighbour_moments(m, cloud->position[particle], spacing);
    Stretch s = handful_stretch(&sum, spacing);
    uint32_t id = cloud->id[particle];
    double u[3];
    float rotation[3][3];
    wadi_random_unit3(0, id, WADI_RANDOM_GRAIN, u);
    random_rotation(u, rotation);
    int number = (int)(wadi_random_bits(PATTERNS + 1, id, WADI_RANDOM_GRAIN) % PATTERNS);
    const Point *pattern = m->pattern + (size_t)number * (size_t)def->per_particle;
    WadiVec3 middle = wadi_sub(cloud->position[particle], m->origin);
    /* 3 / (4 pi), and the mean of (1 + v t)^3 for t uniform in -1 .. 1. */
    double cube =
        0.238732414637843 * def->fill / def->per_particle / (1.0 + def->size_variation * def->size_variation);
    float mean = spacing * (float)cbrt(cube);
    float wetness = m->wetness != NULL ? m->wetness->values[particle] : def->wetness;
    for (int g = 0; g < def->per_particle; ++g) {
        size_t to = (size_t)particle * (size_t)def->per_particle + (size_t)g;
        Point p = pattern[g];
        float x = rotation[0][0] * p.x + rotation[0][1] * p.y + rotation[0][2] * p.z;
        float y = rotation[1][0] * p.x + rotation[1][1] * p.y + rotation[1][2] * p.z;
        float z = rotation[2][0] * p.x + rotation[2][1] * p.y + rotation[2][2] * p.z;
        grain_numbers(id, g, u);
        float radius = mean * (1.0f + (float)def->size_variation * (float)(2.0 * u[2] - 1.0));
        m->out->sphere[to][0] = (float)(middle.x + (double)(s.xx * x + s.xy * y + s.xz * z));
        m->out->sphere[to][1] = (float)(middle.y + (double)(s.xy * x + s.yy * y + s.yz * z));
        m->out->sphere[to][2] = (float)(middle.z + (double)(s.xz * x + s.yz * y + s.zz * z));
        m->out->sphere[to][3] = radius;
        m->out->colour[to] = wadi_grain_colour(&def->palette, id, g, wetness);
        if (m->out->velocity != NULL) {
            memcpy(m->out->velocity[to], m->velocity->values + 3 * (size_t)particle, sizeof(float[3]));
        }
    }
}

/* In the order of the bins, so that neighbours are in the cache. */
static void make_block(void *context, int64_t first, int64_t end)
{
    const Builder *m = context;
    for (int64_t n = first; n < end; ++n) {
        make_handful(m, m->bins->order[n]);
    }
}

static WadiStatus allocate(Builder *m, size_t count, WadiArena *arena, WadiError *error)
{
    WadiGrains *grains = m->out;
    *grains = (WadiGrains){ .count = count };
    WADI_TRY(WADI_ARENA_NEW(arena, &grains->sphere, count, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &grains->colour, count, "colours of grains", error));
    if (m->def->has_velocity && m->velocity != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &grains->velocity, count, "velocities of grains", error));
    }
    return WADI_OK;
}

WadiStatus wadi_grains_make(WadiGrains *grains, const WadiCloud *cloud, const WadiBins *bins, WadiVec3 origin,
                            const WadiGrainDef *def, WadiArena *arena, WadiError *error)
{
    WADI_ASSERT_TRY(def->per_particle >= 1 && def->per_particle <= WADI_GRAIN_MAX && def->fill > 0.0, error);
    Builder m = { .cloud = cloud,
                  .bins = bins,
                  .def = def,
                  .wetness = wadi_cloud_find(cloud, "wetness"),
                  .velocity = wadi_cloud_find(cloud, "velocity"),
                  .origin = origin,
                  .out = grains };
    const size_t per_particle = (size_t)def->per_particle;
    WADI_TRY(allocate(&m, (size_t)cloud->count * per_particle, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &m.pattern, PATTERNS * per_particle, "patterns of grains", error));
    for (int p = 0; p < PATTERNS; ++p) {
        make_pattern(m.pattern + (size_t)p * per_particle, def->per_particle, p);
    }
    wadi_parallel_for(cloud->count, PARTICLE_BLOCK, make_block, &m);
    return WADI_OK;
}

static void make_single_block(void *context, int64_t first, int64_t end)
{
    const Builder *m = context;
    for (int64_t i = first; i < end; ++i) {
        const uint32_t id = m->cloud->id[i];
        const WadiVec3 x = wadi_sub(m->cloud->position[i], m->origin);
        double u[3];
        grain_numbers(id, 0, u);
        float *sphere = m->out->sphere[i];
        sphere[0] = (float)x.x;
        sphere[1] = (float)x.y;
        sphere[2] = (float)x.z;
        sphere[3] =
            0.5f * m->cloud->spacing[i] * (1.0f + (float)m->def->size_variation * (float)(2.0 * u[2] - 1.0));
        const float wetness = m->wetness != NULL ? m->wetness->values[i] : m->def->wetness;
        m->out->colour[i] = wadi_grain_colour(&m->def->palette, id, 0, wetness);
        if (m->out->velocity != NULL) {
            memcpy(m->out->velocity[i], m->velocity->values + 3 * i, sizeof(float[3]));
        }
    }
}

WadiStatus wadi_grains_single(WadiGrains *grains, const WadiCloud *cloud, WadiVec3 origin,
                              const WadiGrainDef *def, WadiArena *arena, WadiError *error)
{
    Builder m = { .cloud = cloud,
                  .def = def,
                  .wetness = wadi_cloud_find(cloud, "wetness"),
                  .velocity = wadi_cloud_find(cloud, "velocity"),
                  .origin = origin,
                  .out = grains };
    WADI_TRY(allocate(&m, (size_t)cloud->count, arena, error));
    wadi_parallel_for(cloud->count, PARTICLE_BLOCK, make_single_block, &m);
    return WADI_OK;
}
