/* What friction takes from pressure and density. [theory 11.5] */
#include "core/parallel.h"
#include "sph/friction/sph_friction.h"
#include "sph/pairs/sph_lanes.h"

enum { BLOCK = 4096 };

/* Of |n|^2, n the sum of the gradients: what the rows above the surface of a cubic lattice would add, 0.562
 * with the cut kernel and 0.575 without. At edges and corners of a block the parts add up. */
static const float SURFACE_DENSITY = 0.577f;

float wadi_sph_friction_pressure(const WadiSphPairs *pairs, const float *pressure, int32_t i)
{
    const int64_t first = pairs->start[i], end = first + pairs->same[i];
    WadiF8 sums = { 0 }, weights = { 0 };
    for (int64_t n = first; n < end; n += WADI_SPH_LANES) {
        WadiF8 slope, others;
        wadi_sph_load_slopes(pairs, n, end, &slope);
        for (int l = 0; l < WADI_SPH_LANES; ++l) {
            others[l] = pressure[wadi_sph_other(pairs, n + l)];
        }
        sums += slope * others;
        weights += slope;
    }
    const float sum = wadi_sph_sum_lanes(&sums), weight = wadi_sph_sum_lanes(&weights);
    return 0.5f * (pressure[i] + (weight > 0.0f ? sum / weight : pressure[i]));
}

float wadi_sph_friction_smooth(const WadiSphPairs *pairs, float pressure, float laplacian,
                               float inverse_density, int32_t i)
{
    const float weight =
        pairs->sum[i][3] * inverse_density * (wadi_sph_unit(pairs, i) * (float)WADI_SPH_PLACES);
    return weight > 0.0f ? pressure - 0.5f * (laplacian / weight) : pressure;
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
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = wadi_sph_near(s->walls, i);
        if (!s->is_sand[i]) {
            continue;
        }
        WadiF4 sum = s->pairs->sum[i] * -wadi_sph_unit(s->pairs, i);
        if (near >= 0) {
            sum += 0.5f * s->walls->gradient[near]; /* it is the force of a mirror image as well */
        }
        sum *= wadi_sph_size(s->pairs, i);
        s->density[i] += SURFACE_DENSITY * (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    }
}

void wadi_sph_friction_fill_surface(float *density, const WadiSphPairs *pairs, const WadiSphWalls *walls,
                                    const uint8_t *is_sand)
{
    Surface s = { density, pairs, walls, is_sand };
    wadi_parallel_for(pairs->count, BLOCK, fill_block, &s);
}
