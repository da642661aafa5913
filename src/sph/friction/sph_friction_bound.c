/* What friction takes from pressure and density. [theory 11.5] */
#include "core/parallel.h"
#include "sph/friction/sph_friction.h"

enum { BLOCK = 4096 };

/* Of |n|^2, n the sum of the gradients: on a lattice that is what the rows above a surface would add. At
 * edges and corners of a block the parts add up. */
static const float SURFACE_DENSITY = 0.577f;

float wadi_sph_friction_pressure(const WadiSphPairs *pairs, const float *pressure, int32_t i)
{
    const int64_t first = pairs->start[i], end = first + pairs->same[i];
    float sum = 0.0f, weight = 0.0f;
    for (int64_t n = first; n < end; ++n) {
        sum += wadi_sph_slope(pairs, i, n) * pressure[pairs->index[n]];
        weight += wadi_sph_slope(pairs, i, n);
    }
    return 0.5f * (pressure[i] + (weight > 0.0f ? sum / weight : pressure[i]));
}

typedef struct Surface {
    float *density;
    const WadiSphPairs *pairs;
    const WadiSphWalls *walls;
    const uint8_t *is_sand;
} Surface;

static void fill_block(void *context, int64_t first, int64_t end)
{
    const Surface *s = context;
    const WadiSphPairs *pairs = s->pairs;
    for (int64_t i = first; i < end; ++i) {
        const int32_t near = s->walls->of[i];
        WadiF4 sum = { 0 };
        for (int64_t n = pairs->start[i]; s->is_sand[i] && n < pairs->start[i + 1]; ++n) {
            sum += WADI_SPH_OFFSET(pairs->place[pairs->index[n]], pairs->place[i]) *
                   wadi_sph_slope(pairs, (int32_t)i, n);
        }
        if (near >= 0 && s->is_sand[i]) {
            sum += 0.5f * s->walls->gradient[near]; /* it is the force of a mirror image as well */
        }
        sum *= wadi_sph_size(pairs, (int32_t)i);
        s->density[i] += SURFACE_DENSITY * (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    }
}

void wadi_sph_friction_fill_surface(float *density, const WadiSphPairs *pairs, const WadiSphWalls *walls,
                                    const uint8_t *is_sand)
{
    Surface s = { density, pairs, walls, is_sand };
    wadi_parallel_for(pairs->count, BLOCK, fill_block, &s);
}
