#include "render/bed/grain_shape.h"

#include "core/random.h"

enum { CANDIDATES = 24 };
/* Edges are round over this part of the grain's radius. */
static const float ROUNDING = 0.09f;

static WadiVec3f random_direction(uint64_t seed, uint64_t id)
{
    double u[3];
    wadi_random_unit3(seed, id, WADI_RANDOM_GRAIN, u);
    double z = 2.0 * u[0] - 1.0, r = sqrt(1.0 - z * z), angle = 2.0 * 3.14159265358979324 * u[1];
    return wadi_vec3f((float)(r * cos(angle)), (float)(r * sin(angle)), (float)z);
}

WadiGrainShape wadi_grain_shape(int number)
{
    WadiGrainShape shape;
    uint64_t seed = 5000 + (uint64_t)number;
    /* A flattened side and a long axis, different for each shape. */
    WadiVec3f flat = random_direction(seed, 1 << 20);
    for (int f = 0; f < WADI_GRAIN_FACES; ++f) {
        WadiVec3f best = { 0 };
        float widest = 2.0f;
        for (int c = 0; c < CANDIDATES; ++c) { /* the candidate farthest from the other faces */
            WadiVec3f try = random_direction(seed, (uint64_t)f * CANDIDATES + (uint64_t)c);
            float nearest = -1.0f;
            for (int other = 0; other < f; ++other) {
                float cosine = try.x * shape.x[other] + try.y * shape.y[other] + try.z * shape.z[other];
                nearest = wadi_maxf(nearest, cosine);
            }
            if (nearest < widest) {
                widest = nearest;
                best = try;
            }
        }
        double u = wadi_random_unit(seed, (1 << 21) + (uint64_t)f, WADI_RANDOM_GRAIN);
        float along = wadi_dotf(best, flat);
        shape.x[f] = best.x;
        shape.y[f] = best.y;
        shape.z[f] = best.z;
        shape.distance[f] = (0.72f + 0.22f * (float)u) * (1.0f - 0.22f * along * along);
    }
    return shape;
}

bool wadi_grain_shape_cross(const WadiGrainShape *shape, WadiVec3f o, WadiVec3f d, float *enter, float *leave)
{
    float along = -wadi_dotf(o, d), inside = 1.0f - wadi_dotf(o, o) + along * along;
    if (inside <= 0.0f) {
        return false;
    }
    float half = sqrtf(inside), first = along - half, last = along + half;
    for (int f = 0; f < WADI_GRAIN_FACES; ++f) {
        float to = shape->distance[f] - (shape->x[f] * o.x + shape->y[f] * o.y + shape->z[f] * o.z);
        float speed = shape->x[f] * d.x + shape->y[f] * d.y + shape->z[f] * d.z;
        float t = to / (fabsf(speed) > 1e-9f ? speed : 1e-9f);
        first = speed < 0.0f ? wadi_maxf(first, t) : first;
        last = speed < 0.0f ? last : wadi_minf(last, t);
    }
    *enter = first;
    *leave = last;
    return first < last;
}

WadiVec3f wadi_grain_shape_normal(const WadiGrainShape *shape, WadiVec3f p)
{
    float length = wadi_normf(p), near = wadi_maxf(1.0f - (1.0f - length) / ROUNDING, 0.0f);
    WadiVec3f sum = wadi_scalef(p, near * near / wadi_maxf(length, 1e-6f));
    for (int f = 0; f < WADI_GRAIN_FACES; ++f) {
        WadiVec3f n = { shape->x[f], shape->y[f], shape->z[f] };
        float gap = shape->distance[f] - wadi_dotf(n, p);
        float weight = wadi_maxf(1.0f - gap / ROUNDING, 0.0f);
        sum = wadi_add_scaledf(sum, n, weight * weight);
    }
    return wadi_normalizedf_or(sum, wadi_normalizedf_or(p, wadi_vec3f(0, 0, 1)));
}
