/* The step that pressed particles allow. The forces of a pressure push uneven particles back to even
 * distances as springs do, of the frequency sqrt(p / rho) / dx times a number. These springs are explicit: in
 * longer steps deep water and sand shake and collapse. [theory 11.4] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/cbrt.h"
#include "sph/sph.h"

enum { BLOCK = 8192, PER_OCTAVE = 8, BINS = 24 * PER_OCTAVE };
enum { MANTISSA_BITS = 23, BIN_BITS = 20, BIAS = 127 }; /* of a float */

/* Spacings that a wave of the speed sqrt(p / rho) may cross in a step: water, sand. Sand of 60 to 100 between
 * smooth walls rests with 0.4, creeps with 0.5 and boils with 0.7. */
static const double FARTHEST[2] = { 0.37, 0.45 };
/* Spacings of head: from here on steps of standing water fall with the head instead of its root. Tanks that
 * no lattice fits need this. */
static const double DEEP = 40.0;
/* In heads of DEEP: up to this. */
static const double DEEPEST = 3.0;
/* Of the particles that are awake: so many may have a higher pressure. Impacts push few, and not for long. */
static const double PART = 0.003;
/* Where sand prevails, so many particles that move, over how many more there are of sand than of water, may
 * have one as well: what a jet meets stops within a step, by a pressure that says nothing about the next one,
 * and would set the step of a whole heap. Slower than this part of sqrt(p / rho) they count as standing. */
static const double MOVING_PART = 0.05, MOVING = 0.1;
/* Part of its change that the head of a step adds to the mean of the last ones. Steps that follow each single
 * pressure shake what is deep, too. */
static const double RISE = 0.1, FALL = 0.05;

typedef struct Heads {
    const WadiSph *sph;
    int32_t first;                        /* particles before it sleep */
    float per_pascal[WADI_MATERIALS_MAX]; /* spacings of head of water that would need the same step */
    float per_speed;                      /* of a speed in MOVING sqrt(g dx), s/m */
    int32_t (*bins)[2][BINS]; /* per block, standing and moving: particles by head, from 1 spacing on */
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

/* Head over that of shallow water which would need the same step. */
static inline double stiffness_of(double head)
{
    return fmin(fmax(1.0, head / DEEP), DEEPEST);
}

/* Returns the particles of water. */
static double count_heads(void *context, int64_t first, int64_t end)
{
    const Heads *heads = context;
    const WadiSph *sph = heads->sph;
    const WadiParticles *p = sph->context.particles;
    const float *pressure = wadi_particles_column(p, sph->pressure_column);
    int32_t(*bins)[BINS] = heads->bins[first / BLOCK], water = 0;
    memset(bins, 0, sizeof heads->bins[0]);
    for (int64_t i = first + heads->first; i < end + heads->first; ++i) {
        float head = pressure[i] * heads->per_pascal[p->material[i]];
        if (sph->volume_column >= 0) {
            const double *volume = wadi_particles_column(p, sph->volume_column);
            const float size = (float)wadi_cbrt(volume[i]);
            head /= size * size;
        }
        const bool is_water = sph->materials.is_sand[p->material[i]] == 0;
        water += is_water ? 1 : 0;
        if (head >= 1.0f) {
            const float x = p->vx[i] * heads->per_speed, y = p->vy[i] * heads->per_speed,
                        z = p->vz[i] * heads->per_speed;
            const bool is_moving = x * x + y * y + z * z > head;
            head *= is_water && !is_moving ? (float)stiffness_of((double)head) : 1.0f;
            bins[is_moving][bin_of(head)] += 1;
        }
    }
    return water;
}

enum { STANDING = 1, IN_MOTION = 2 };

/* The head that `most` particles of these kinds exceed, spacings; 0: less than 1. */
static double head_of(const Heads *heads, int64_t blocks, int kinds, double most)
{
    double above = 0.0;
    int bin = BINS;
    while (bin > 0 && above <= most) {
        bin -= 1;
        for (int64_t b = 0; b < blocks; ++b) {
            above += (kinds & STANDING) != 0 ? heads->bins[b][0][bin] : 0;
            above += (kinds & IN_MOTION) != 0 ? heads->bins[b][1][bin] : 0;
        }
    }
    return above > most ? lowest_of(bin) : 0.0;
}

/* The head that sets the step, spacings. */
static WadiStatus find_head(const WadiSph *sph, double *head, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    Heads heads = { .sph = sph,
                    .first = wadi_sleep_first(&sph->sleep, p),
                    .per_speed = (float)(sph->unit_time / (MOVING * sph->spacing)) };
    const int32_t count = p->count - heads.first;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    WadiArena *arena = sph->context.scratch;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    double *partials = NULL;
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    for (int m = 0; m < sph->context.world->scene->material_count; ++m) {
        const double part = FARTHEST[0] / FARTHEST[sph->materials.is_sand[m]];
        heads.per_pascal[m] =
            (float)(part * part / (sph->materials.density * g * sph->spacing)) / sph->materials.mass[m];
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)blocks, "pressures", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &heads.bins, (size_t)blocks, "pressures", error));
    const double water = wadi_parallel_sum(count, BLOCK, count_heads, &heads, partials);
    const double most = PART * count, moving = MOVING_PART * (count - 2.0 * water);
    *head = moving > most
                ? fmax(head_of(&heads, blocks, STANDING, most), head_of(&heads, blocks, IN_MOTION, moving))
                : head_of(&heads, blocks, STANDING | IN_MOTION, most);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Depth {
    const WadiParticles *particles;
    WadiVec3 down; /* gravity, in spacings of head a metre */
} Depth;

static double lowest_depth(void *context, int64_t first, int64_t end)
{
    const Depth *depth = context;
    const WadiParticles *p = depth->particles;
    double most = -INFINITY;
    for (int64_t i = first; i < end; ++i) {
        most = fmax(most, wadi_dot(depth->down, (WadiVec3){ p->x[i], p->y[i], p->z[i] }));
    }
    return most;
}

/* As large as the head of what stands can be: that of a column as high as all particles. */
static WadiStatus find_depth(const WadiSph *sph, double time, double *out, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    WadiArena *arena = sph->context.scratch;
    const double per_metre = sph->unit_time * sph->unit_time / (sph->spacing * sph->spacing);
    const WadiVec3 g = wadi_world_gravity(sph->context.world, time);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)wadi_parallel_block_count(p->count, BLOCK), "pressures",
                            error));
    Depth down = { p, wadi_scale(g, per_metre) }, up = { p, wadi_scale(g, -per_metre) };
    const double depth = wadi_parallel_max(p->count, BLOCK, lowest_depth, &down, partials) +
                         wadi_parallel_max(p->count, BLOCK, lowest_depth, &up, partials);
    *out = depth > 0.0 ? depth * stiffness_of(depth) : 0.0;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

/* The pressure of what is pressed together or stopped grows as steps shrink: it counts up to the depth. */
WadiStatus wadi_sph_watch_pressure(WadiSph *sph, double time, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    double head, most;
    if (def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return WADI_OK;
    }
    WADI_TRY(find_head(sph, &head, error));
    WADI_TRY(find_depth(sph, time, &most, error));
    sph->head = sph->steps == 0 ? most : sph->head;
    head = fmin(head, most);
    sph->head += (head > sph->head ? RISE : FALL) * (head - sph->head);
    return WADI_OK;
}

/* Before the first step there is no pressure: that of a column as high as all particles. */
double wadi_sph_pressure_limited_dt(const WadiSph *sph, double time)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    double head = sph->head;
    if (def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return INFINITY;
    }
    if (sph->steps == 0 && find_depth(sph, time, &head, NULL) != WADI_OK) {
        return INFINITY;
    }
    return head > 0.0 ? FARTHEST[0] * sph->unit_time / sqrt(head) : (double)INFINITY;
}
