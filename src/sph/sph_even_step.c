/* Water of different sizes lies unevenly where sizes change, and where particles were split or merged: a
 * particle then has e = sum_j V_j grad W_ij other than 0, and the pressure moves it by 2 P e. So each step
 * shifts it a little against e, walls and their images counted, without a change of its velocity. [LXSR12;
 * theory 11.9] */
#include <math.h>

#include "core/parallel.h"
#include "sph/pressure/sph_operator.h"
#include "sph/sph.h"

enum { BLOCK = 512 };

/* Shift in sizes over e in 1/sizes; at 0.2 the pressure of deep water takes ten times the iterations, at 0.3
 * water of one size never rests. The farthest shift of a step, sizes. */
static const float RATE = 0.12f, FARTHEST = 0.05f;
static const float SURFACE = 0.92f; /* density: below it a particle lies at the free surface */

typedef struct Even {
    const WadiSphStep *step;
    const WadiSphPressureIn *in;
    float per_step; /* m/s a spacing */
} Even;

/* Neither at the surface nor beside it: e points out of the water there. */
static bool is_inside(const WadiSphStep *step, int32_t i)
{
    const WadiSphPairs *pairs = &step->pairs;
    bool is_inside = !step->is_sand[i] && step->density[i] >= SURFACE;
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1] && is_inside; ++n) {
        is_inside = step->density[wadi_sph_other(pairs, n)] >= SURFACE;
    }
    return is_inside;
}

static void even_block(void *context, int64_t first, int64_t end)
{
    const Even *even = context;
    const WadiSphStep *step = even->step;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        if (!is_inside(step, i)) {
            continue;
        }
        WadiF4 e;
        wadi_sph_push(even->in, i, &e);
        e[3] = 0.0f;
        const float size = step->size[i];
        const float length = RATE * size * sqrtf(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]); /* sizes */
        const float part = length > FARTHEST ? FARTHEST / length : 1.0f;
        step->shift[i] -= e * (part * RATE * size * size * even->per_step);
    }
}

void wadi_sph_even_out(const WadiSph *sph, const WadiSphStep *step, const WadiSphPressureIn *in)
{
    if (!step->has_sizes) {
        return;
    }
    Even even = { step, in, (float)(sph->spacing / step->dt) };
    for (int32_t i = 0; i < step->count; ++i) {
        wadi_sph_set_number(&step->pairs, i, 0.5f); /* the forces of these pressures are e */
    }
    wadi_parallel_for(step->count, BLOCK, even_block, &even);
}
