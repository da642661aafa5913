/* The step that pressed water allows. The forces of a pressure push uneven particles back to even distances
 * as springs do, of the frequency sqrt(p / rho) / dx times a number. These springs are explicit: in longer
 * steps deep water shakes and collapses. [theory 11.4] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 8192, PER_OCTAVE = 8, BINS = 24 * PER_OCTAVE };
enum { MANTISSA_BITS = 23, BIN_BITS = 20, BIAS = 127 }; /* of a float */

/* Spacings that a wave of the speed sqrt(p / rho) may cross in a step. Tanks 30 to 100 spacings deep stand
 * with 0.39, and the deepest collapse with 0.46. */
static const double FARTHEST = 0.37;
static const double PART = 0.003; /* of the water that may have a higher pressure: impacts of few particles */
static const double FADE = 0.9;   /* a step: what was pressed is soon pressed again */

typedef struct Heads {
    const WadiSph *sph;
    float per_pascal[WADI_MATERIALS_MAX]; /* spacings of head */
    int32_t (*bins)[BINS];                /* per block: particles by head, from 1 spacing on */
} Heads;

/* The bin of a head of at least 1, by its exponent and the first bits of its mantissa. */
static inline int bin_of(float head)
{
    uint32_t bits;
    memcpy(&bits, &head, sizeof bits);
    const int bin = (int)(bits >> BIN_BITS) - (BIAS << (MANTISSA_BITS - BIN_BITS));
    return bin < BINS ? bin : BINS - 1;
}

static double lowest_of(int bin)
{
    return ldexp(1.0 + (double)(bin % PER_OCTAVE) / PER_OCTAVE, bin / PER_OCTAVE);
}

/* Returns the number of particles of water. */
static double count_heads(void *context, int64_t first, int64_t end)
{
    const Heads *heads = context;
    const WadiSph *sph = heads->sph;
    const WadiParticles *p = sph->context.particles;
    const float *pressure = wadi_particles_column(p, sph->pressure_column);
    const double *volume = sph->volume_column >= 0 ? wadi_particles_column(p, sph->volume_column) : NULL;
    int32_t *bins = heads->bins[first / BLOCK], water = 0;
    memset(bins, 0, sizeof heads->bins[0]);
    for (int64_t i = first; i < end; ++i) {
        const uint8_t material = p->material[i];
        if (sph->materials.is_sand[material]) {
            continue;
        }
        float head = pressure[i] * heads->per_pascal[material];
        if (volume != NULL) {
            const float size = (float)cbrt(volume[i]);
            head /= size * size;
        }
        water += 1;
        if (head >= 1.0f) {
            bins[bin_of(head)] += 1;
        }
    }
    return water;
}

/* The head that a part PART of the water exceeds, spacings; 0: less than 1. */
static WadiStatus find_head(const WadiSph *sph, double *head, WadiError *error)
{
    const int32_t count = sph->context.particles->count;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    WadiArena *arena = sph->context.scratch;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Heads heads = { .sph = sph };
    double *partials = NULL;
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    for (int m = 0; m < sph->context.world->scene->material_count; ++m) {
        heads.per_pascal[m] =
            (float)(1.0 / (sph->materials.density * g * sph->spacing)) / sph->materials.mass[m];
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)blocks, "pressures", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &heads.bins, (size_t)blocks, "pressures", error));
    const double most = PART * wadi_parallel_sum(count, BLOCK, count_heads, &heads, partials);
    double above = 0.0;
    int bin = BINS;
    while (bin > 0 && above <= most) {
        bin -= 1;
        for (int64_t b = 0; b < blocks; ++b) {
            above += heads.bins[b][bin];
        }
    }
    *head = above > most ? lowest_of(bin) : 0.0;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

WadiStatus wadi_sph_watch_pressure(WadiSph *sph, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    double head;
    if (!sph->materials.has_water || def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return WADI_OK;
    }
    WADI_TRY(find_head(sph, &head, error));
    sph->head = fmax(head, FADE * sph->head);
    return WADI_OK;
}

/* Before the first step there is no pressure: that of a column as high as all of the water. */
static double first_head(const WadiSph *sph, double time)
{
    const WadiParticles *p = sph->context.particles;
    const WadiVec3 down = wadi_curve_value3(&sph->context.world->scene->gravity, time);
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < p->count; ++i) {
        if (!sph->materials.is_sand[p->material[i]]) {
            const double potential = wadi_dot(down, (WadiVec3){ p->x[i], p->y[i], p->z[i] });
            low = fmin(low, potential), high = fmax(high, potential);
        }
    }
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    return high > low ? (high - low) / (g * sph->spacing) : 0.0;
}

double wadi_sph_pressed_dt(const WadiSph *sph, double time)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    if (!sph->materials.has_water || def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return INFINITY;
    }
    const double head = sph->steps == 0 ? fmax(sph->head, first_head(sph, time)) : sph->head;
    return head > 0.0 ? FARTHEST * sph->unit_time / sqrt(head) : (double)INFINITY;
}
