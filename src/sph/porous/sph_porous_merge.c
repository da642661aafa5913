/* Particles of water that have nearly vanished, and water on sand that is no particle yet. */
#include <math.h>

#include "sph/porous/sph_porous.h"
#include "world/water.h"

static bool has_room(const WadiSphPorousIn *in, const double *water, const uint8_t *is_removed, int32_t j,
                     double mass)
{
    return in->role[j] != WADI_SPH_GHOST && !is_removed[j] &&
           water[j] + mass <= wadi_sph_water_capacity(in, j);
}

/* The nearest neighbour with room, sand before water; -1: none. */
static int32_t find_heir(const WadiSphPorousIn *in, const double *water, const uint8_t *is_removed, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    int32_t heir = -1;
    float least = INFINITY;
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
        const int32_t j = wadi_sph_other(pairs, n);
        const WadiF4 d = WADI_SPH_OFFSET(pairs->place[i], pairs->place[j]);
        const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const bool is_better = heir < 0 || (in->is_sand[j] && !in->is_sand[heir]) ||
                               (in->is_sand[j] == in->is_sand[heir] && square < least);
        if (is_better && has_room(in, water, is_removed, j, water[i])) {
            heir = j;
            least = square;
        }
    }
    return heir;
}

int32_t wadi_sph_porous_merge(double *water, WadiF4 *velocity, uint8_t *is_removed, const WadiSphPorousIn *in)
{
    int32_t count = 0;
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        is_removed[i] = 0;
    }
    /* One after the other: an heir may be what is next. */
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        if (in->is_sand[i] || water[i] >= WADI_SPH_WATER_LEAST * wadi_sph_full_mass(in, i)) {
            continue;
        }
        const int32_t heir = find_heir(in, water, is_removed, i);
        if (heir < 0) {
            is_removed[i] = water[i] == 0.0;
            count += is_removed[i];
            continue;
        }
        const float part = (float)(water[i] / (wadi_sph_mass_with_water(in, water, heir) + water[i]));
        velocity[heir] += (velocity[i] - velocity[heir]) * part;
        water[heir] += water[i];
        water[i] = 0.0;
        is_removed[i] = 1;
        count += 1;
    }
    return count;
}

static int32_t nearest_water(const WadiSphPorousIn *in, const double *water, int32_t i)
{
    const WadiSphPairs *pairs = in->pairs;
    int32_t nearest = -1;
    float least = INFINITY;
    for (int64_t n = pairs->start[i] + pairs->same[i]; n < pairs->start[i + 1]; ++n) {
        const int32_t j = wadi_sph_other(pairs, n);
        const WadiF4 d = WADI_SPH_OFFSET(pairs->place[i], pairs->place[j]);
        const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (square < least && water[j] + in->film[i] <= wadi_sph_full_mass(in, j)) {
            nearest = j;
            least = square;
        }
    }
    return nearest;
}

void wadi_sph_porous_drip(double *water, WadiF4 *velocity, const WadiSphPorousIn *in)
{
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        if (!in->is_sand[i] || !(in->film[i] > 0.0)) {
            continue;
        }
        const double back = fmin(in->film[i], fmax(0.0, wadi_sph_water_capacity(in, i) - water[i]));
        water[i] += back;
        in->film[i] -= back;
        const int32_t to = in->film[i] > 0.0 ? nearest_water(in, water, i) : -1;
        if (to >= 0) {
            velocity[to] += (velocity[i] - velocity[to]) * (float)(in->film[i] / (water[to] + in->film[i]));
            water[to] += in->film[i];
            in->film[i] = 0.0;
        }
    }
}
