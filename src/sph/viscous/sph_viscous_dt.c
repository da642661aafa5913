/* The step that pressed particles of a viscous liquid allow. Forces of a pressure push uneven particles back
 * as springs do (sph_pressure_dt.c), explicitly; viscosity damps these, implicitly. Where velocities follow
 * forces and positions these velocities, that is stable for omega^2 dt^2 <= 4 + 2 lambda, lambda the
 * eigenvalue of the viscosity: thick liquids bear more pressure. The pressure of a viscous flow does not
 * depend on the step, so all of it counts. [theory 11.4, 11.7] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/viscosity/sph_viscosity.h"

enum { BLOCK = 8192, PER_OCTAVE = 8, BINS = 24 * PER_OCTAVE };

/* omega dx / sqrt(p / rho): water is stable up to 0.37 spacings a step (sph_pressure_dt.c). */
static const double SPRING = 2.0 / 0.37;
/* lambda / c of the waves that the springs shake first. A cubic lattice has 11 at its shortest waves; with
 * that honey of 1000 Pa s in a slit is 2 % too dense, with 6 within 1 %. */
static const double LAMBDA = 6.0;
/* Of the particles: so many may be pressed more. */
static const double PART = 0.003;

typedef struct Limits {
    const WadiSph *sph;
    double longest;                     /* s */
    double viscous[WADI_MATERIALS_MAX]; /* 1/s: lambda over the step; 0: not thick */
    int32_t first;
    int32_t (*bins)[BINS]; /* per block: particles by the longest step over their own, in powers of 2 */
} Limits;

/* s: where a dt^2 <= 4 + b dt. */
static double step_of(const Limits *l, int material, double pressure)
{
    const WadiSph *sph = l->sph;
    const double density = sph->context.world->scene->materials[material].density;
    const double a = SPRING * SPRING * pressure / (density * sph->spacing * sph->spacing);
    const double b = 2.0 * l->viscous[material];
    return 0.5 * (b + sqrt(b * b + 16.0 * a)) / a;
}

static void count_block(void *context, int64_t first, int64_t end)
{
    const Limits *l = context;
    const WadiParticles *p = l->sph->context.particles;
    const float *pressure = wadi_particles_column(p, l->sph->pressure_column);
    int32_t *bins = l->bins[first / BLOCK];
    memset(bins, 0, sizeof *l->bins);
    for (int64_t i = first + l->first; i < end + l->first; ++i) {
        const int material = p->material[i];
        if (l->viscous[material] > 0.0 && pressure[i] > 0.0f) {
            const double octaves = log2(l->longest / step_of(l, material, (double)pressure[i]));
            const int bin = (int)(PER_OCTAVE * fmax(0.0, octaves));
            bins[bin < BINS ? bin : BINS - 1] += 1;
        }
    }
}

/* Whether a liquid is thick in the longest step. */
static bool find_viscous(Limits *l, double time)
{
    const WadiSph *sph = l->sph;
    const WadiScene *scene = sph->context.world->scene;
    bool has_thick = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double rate =
            wadi_curve_value(&material->viscosity, time) / (material->density * sph->spacing * sph->spacing);
        const bool is_thick =
            !sph->materials.is_sand[m] && !material->is_unused && rate * l->longest > (double)WADI_SPH_THICK;
        l->viscous[m] = is_thick ? LAMBDA * rate : 0.0;
        has_thick = has_thick || is_thick;
    }
    return has_thick;
}

double wadi_sph_viscous_limited_dt(const WadiSph *sph, double time)
{
    const WadiParticles *p = sph->context.particles;
    WadiArena *arena = sph->context.scratch;
    Limits l = { .sph = sph,
                 .longest = wadi_sph_longest_step(sph),
                 .first = wadi_sleep_first(&sph->sleep, p) };
    const int32_t count = p->count - l.first;
    const int64_t blocks = wadi_parallel_block_count(count, BLOCK);
    if (count <= 0 || !find_viscous(&l, time)) {
        return INFINITY;
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    double above = 0.0;
    int bin = BINS;
    if (WADI_ARENA_NEW(arena, &l.bins, (size_t)blocks, "pressures", NULL) != WADI_OK) {
        return INFINITY;
    }
    wadi_parallel_for(count, BLOCK, count_block, &l);
    while (bin > 0 && above <= PART * count) {
        bin -= 1;
        for (int64_t b = 0; b < blocks; ++b) {
            above += l.bins[b][bin];
        }
    }
    wadi_arena_release(arena, mark);
    return l.longest * exp2(-(double)bin / PER_OCTAVE);
}
