#include "sph/adapt/sph_relax.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/kernels.h"
#include "particles/cells.h"

enum { BLOCK = 256, SWEEPS = 10 };

static const double SUPPORT = 2.0; /* sizes */
/* Part of what would make the gradient 0 if the others stayed, and the farthest shift of a sweep, sizes. */
static const double RELAXATION = 0.3, FARTHEST = 0.05;

typedef struct Relax {
    const WadiSphRelaxIn *in;
    WadiNeighbours lists;
    float *radius; /* m: supports */
    double *size;  /* m: edge of the cube that a particle fills */
    int32_t *list; /* particles that shift */
    int32_t listed;
    WadiVec3 *shift; /* by place in the list */
} Relax;

static WadiVec3 position_of(const WadiParticles *p, int32_t i)
{
    return wadi_vec3(p->x[i], p->y[i], p->z[i]);
}

/* A part of the shift that would make e_i vanish if the others stayed. */
static void shift_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    const WadiParticles *p = r->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = r->list[n];
        const WadiVec3 x = position_of(p, i);
        WadiVec3 sum = wadi_vec3(0.0, 0.0, 0.0);
        double stiffness = 0.0;
        for (int64_t k = r->lists.start[i]; k < r->lists.start[i + 1]; ++k) {
            const int32_t j = r->lists.index[k];
            const WadiVec3 d = wadi_sub(x, position_of(p, j));
            const double h = 0.5 * SUPPORT * (r->size[i] + r->size[j]), distance = wadi_norm(d);
            if (distance < h && r->in->is_removed[j] == 0) {
                const double volume = r->size[j] * r->size[j] * r->size[j];
                const double slope = -volume * wadi_kernel_cubic_slope(distance, h, 3);
                sum = wadi_add_scaled(sum, d, slope / fmax(distance, 1e-6 * h));
                stiffness += slope / h;
            }
        }
        const double scale = stiffness > 0.0 ? RELAXATION / stiffness : 0.0;
        const double length = scale * wadi_norm(sum), most = FARTHEST * r->size[i];
        r->shift[n] = wadi_scale(sum, length > most ? scale * most / length : scale);
    }
}

/* What lies nearer to a solid than its own size stays: it is the solid that keeps it there. */
static bool is_free(const WadiSphRelaxIn *in, int32_t i, double size)
{
    return in->may_move[i] != 0 && in->is_removed[i] == 0 &&
           (in->solids == NULL ||
            wadi_solids_distance(in->solids, position_of(in->particles, i), in->time, size) >= size);
}

/* What changed, and what lies in its support. */
static void list_particles(Relax *r)
{
    const WadiSphRelaxIn *in = r->in;
    const WadiParticles *p = in->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        bool is_near = in->is_changed[i] != 0;
        for (int64_t k = r->lists.start[i]; !is_near && k < r->lists.start[i + 1]; ++k) {
            const int32_t j = r->lists.index[k];
            const double h = 0.5 * SUPPORT * (r->size[i] + r->size[j]);
            is_near = in->is_changed[j] != 0 && wadi_norm(wadi_sub(position_of(p, i), position_of(p, j))) < h;
        }
        if (is_near && is_free(in, i, r->size[i])) {
            r->list[r->listed++] = i;
        }
    }
}

WadiStatus wadi_sph_relax(const WadiSphRelaxIn *in, WadiArena *arena, WadiError *error)
{
    WadiParticles *p = in->particles;
    const size_t count = (size_t)p->count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Relax r = { .in = in };
    WADI_TRY(WADI_ARENA_NEW(arena, &r.radius, count, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r.size, count, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r.list, count, "shifts", error));
    for (size_t i = 0; i < count; ++i) {
        r.size[i] = cbrt(in->volume[i]) * in->spacing;
        r.radius[i] = (float)(SUPPORT * r.size[i]);
    }
    WADI_TRY(wadi_neighbours_mixed(&r.lists, p, r.radius, arena, error));
    list_particles(&r);
    WADI_TRY(WADI_ARENA_NEW(arena, &r.shift, (size_t)r.listed, "shifts", error));
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        wadi_parallel_for(r.listed, BLOCK, shift_block, &r);
        for (int32_t n = 0; n < r.listed; ++n) {
            const int32_t i = r.list[n];
            p->x[i] += r.shift[n].x, p->y[i] += r.shift[n].y, p->z[i] += r.shift[n].z;
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
