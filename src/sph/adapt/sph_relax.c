#include "sph/adapt/sph_relax.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/adapt/sph_around.h"
#include "sph/pairs/sph_lanes.h"

enum { BLOCK = 64, SWEEPS = 10, APART = 5, PLANES_MAX = 3, LANES = WADI_SPH_LANES };

/* Part of what would make the gradient 0 if the others stayed, and the farthest shift of a sweep, sizes. */
static const float RELAXATION = 0.3f, FARTHEST = 0.05f;
static const double NEAREST = 0.3; /* sizes from a solid: a shift that ends nearer is undone */

/* Planes of the solids about a particle that shifts, which mirror what lies before them. */
typedef struct Planes {
    int count;
    WadiVec3 normal[PLANES_MAX];
    double offset[PLANES_MAX]; /* m; distance of x: normal . x - offset */
} Planes;

typedef struct Relax {
    const WadiSphRelaxIn *in;
    WadiSphAround around;
    /* By place in the list of those that shift. */
    WadiVec3 *shift, *start; /* m */
    Planes *planes;
    bool is_steep; /* kernel of the sweep */
} Relax;

/* Sums over neighbours in eight lanes: e_i, and what e_i changes by with a shift, in sizes. */
typedef struct Crowding {
    WadiF8 x, y, z, stiffness;
} Crowding;

static WadiVec3 position_of(const WadiParticles *p, int32_t i)
{
    return wadi_vec3(p->x[i], p->y[i], p->z[i]);
}

static void add_plane(Planes *planes, WadiVec3 x, WadiVec3 normal, double distance)
{
    planes->normal[planes->count] = normal;
    planes->offset[planes->count] = wadi_dot(normal, x) - distance;
    planes->count += 1;
}

/* The nearest sides of the domain and solids within the support. */
static Planes find_planes(const WadiSphRelaxIn *in, WadiVec3 x, double support)
{
    Planes planes = { 0 };
    const WadiSolids *solids = in->solids;
    if (wadi_solids_distance_within(solids, x, in->time, support) >= support) {
        return planes;
    }
    for (int side = 0; side < 6 && planes.count < PLANES_MAX; ++side) {
        const WadiSurfacePoint wall = wadi_solids_wall(solids, side, x);
        if ((solids->closed_sides >> side & 1) != 0 && wall.distance < support) {
            add_plane(&planes, x, wall.normal, wall.distance);
        }
    }
    for (int n = 0; n < solids->count && planes.count < PLANES_MAX; ++n) {
        const WadiShape *shape = solids->solids[n].shape;
        if (wadi_shape_clearance_from_outside(shape, x, in->time) < support) {
            const WadiSurfacePoint wall = wadi_shape_sample_from_outside(shape, x, in->time);
            if (wall.distance < support) {
                add_plane(&planes, x, wall.normal, wall.distance);
            }
        }
    }
    return planes;
}

/* -W'/r over a common factor, and r/h, of eight squared distances: of the solver's kernel or, if
 * `is_steep`, of one that also parts what lies close; the first is flat at distance 0. `inverse`: 1/h;
 * `reach`: over h. */
static inline __attribute__((always_inline)) void weigh(const WadiF8 *square, const WadiF8 *inverse,
                                                        float reach, bool is_steep, WadiF8 *slope,
                                                        WadiF8 *part)
{
    const float *squares = (const float *)square, *inverses = (const float *)inverse;
    float *slopes = (float *)slope, *parts = (float *)part;
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        const float q = sqrtf(squares[l]) * inverses[l], t = q < 1.0f ? 1.0f - q : 0.0f;
        const float outer = t * t / (q > 1e-6f ? q : 1e-6f), inner = 2.0f - 3.0f * q;
        const float cut = q < reach ? outer : 0.0f;
        slopes[l] = is_steep ? outer : q < 0.5f ? inner : cut;
        parts[l] = q;
    }
}

/* What eight at the offsets given press, at distances of their own. */
static inline __attribute__((always_inline)) void add_eight(Crowding *sum, const WadiSphEight *offset,
                                                            const WadiF8 *square, const WadiF8 *inverse,
                                                            const WadiF8 *volume, float reach, bool is_steep)
{
    WadiF8 slope, part;
    weigh(square, inverse, reach, is_steep, &slope, &part);
    const WadiF8 cube = *inverse * *inverse * *inverse;
    const WadiF8 push = slope * *volume * (cube * *inverse * *inverse);
    sum->x += push * offset->x;
    sum->y += push * offset->y;
    sum->z += push * offset->z;
    sum->stiffness += push * part;
}

/* Planes in spacings, with the distance of the particle that shifts. */
typedef struct Mirror {
    float x, y, z, away;
} Mirror;

/* The images of eight neighbours, or of the particle itself with the offset 0, in all sets of the planes,
 * in single ones and in corners, as the solver has them. */
static inline __attribute__((always_inline)) void add_images(Crowding *sum, const Mirror *mirrors, int count,
                                                             const WadiSphEight *offset,
                                                             const WadiF8 *inverse, const WadiF8 *volume,
                                                             float reach, bool is_steep)
{
    const WadiF8 zero = { 0 };
    for (unsigned set = 1; set < 1u << count; ++set) {
        WadiSphEight to = *offset;
        for (int c = 0; c < count; ++c) {
            if ((set >> c & 1) != 0) {
                const Mirror *m = &mirrors[c];
                const WadiF8 other = m->away - (offset->x * m->x + offset->y * m->y + offset->z * m->z);
                const WadiF8 twice = 2.0f * (WadiF8)((WadiI8)other & (other > zero));
                to.x += twice * m->x, to.y += twice * m->y, to.z += twice * m->z;
            }
        }
        const WadiF8 far = to.x * to.x + to.y * to.y + to.z * to.z;
        add_eight(sum, &to, &far, inverse, volume, reach, is_steep);
    }
}

static inline __attribute__((always_inline)) void add_neighbours(Crowding *sum, const Relax *r, int32_t n,
                                                                 const Mirror *mirrors, int count,
                                                                 bool is_steep)
{
    const WadiSphAround *around = &r->around;
    const WadiSphSpline *spline = r->in->spline;
    const float reach = spline->reach / spline->support, wide = 0.5f * spline->support;
    const int32_t own = around->list[n];
    const float size = wadi_sph_around_size(around, own);
    const int64_t end = around->start[n + 1];
    for (int64_t k = around->start[n]; k < end; k += LANES) {
        WadiSphEight offset;
        WadiF8 other, volume;
        wadi_sph_around_load(around, own, k, end, &offset, &other, &volume);
        const WadiF8 square = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
        const WadiF8 inverse = 1.0f / (wide * (other + size));
        add_eight(sum, &offset, &square, &inverse, &volume, reach, is_steep);
        if (count > 0) {
            add_images(sum, mirrors, count, &offset, &inverse, &volume, reach, is_steep);
        }
    }
    if (count > 0) {
        const WadiSphEight none = { { 0 }, { 0 }, { 0 }, { 0 } };
        const WadiF8 inverse = (WadiF8){ 0 } + 1.0f / (2.0f * wide * size), volume = { size * size * size };
        add_images(sum, mirrors, count, &none, &inverse, &volume, reach, is_steep);
    }
}

/* The planes as seen from a particle. */
static void set_mirrors(const Relax *r, int32_t n, Mirror *mirrors)
{
    const Planes *planes = &r->planes[n];
    const WadiVec3 x = position_of(r->in->particles, r->around.cells.order[r->around.list[n]]);
    for (int c = 0; c < planes->count; ++c) {
        const WadiVec3 normal = planes->normal[c];
        const double distance = fmax(0.0, wadi_dot(normal, x) - planes->offset[c]) / r->in->spacing;
        mirrors[c] = (Mirror){ (float)normal.x, (float)normal.y, (float)normal.z, (float)distance };
    }
}

/* A part of the shift that would make e_i vanish if the others stayed. */
static void shift_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    for (int32_t n = (int32_t)first; n < end; ++n) {
        Mirror mirrors[PLANES_MAX];
        Crowding sum = { 0 };
        WadiF4 all;
        set_mirrors(r, n, mirrors);
        if (r->is_steep) {
            add_neighbours(&sum, r, n, mirrors, r->planes[n].count, true);
        } else {
            add_neighbours(&sum, r, n, mirrors, r->planes[n].count, false);
        }
        wadi_sph_sum_four(&sum.x, &sum.y, &sum.z, &sum.stiffness, &all);
        const float scale = all[3] > 0.0f ? RELAXATION / all[3] : 0.0f;
        const float length = scale * sqrtf(all[0] * all[0] + all[1] * all[1] + all[2] * all[2]);
        const float most = FARTHEST * wadi_sph_around_size(&r->around, r->around.list[n]);
        const double by = (double)(length > most ? scale * most / length : scale) * r->in->spacing;
        r->shift[n] = wadi_vec3(by * (double)all[0], by * (double)all[1], by * (double)all[2]);
    }
}

static void move_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    WadiParticles *p = r->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t own = r->around.list[n], i = r->around.cells.order[own];
        p->x[i] += r->shift[n].x, p->y[i] += r->shift[n].y, p->z[i] += r->shift[n].z;
        wadi_sph_around_place(&r->around, p, own);
    }
}

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    for (int64_t n = first; n < end; ++n) {
        const int32_t own = r->around.list[n];
        const double support =
            (double)r->in->spline->support * r->in->spacing * (double)wadi_sph_around_size(&r->around, own);
        r->start[n] = position_of(r->in->particles, r->around.cells.order[own]);
        r->planes[n] = find_planes(r->in, r->start[n], support);
    }
}

static WadiStatus begin(Relax *r, WadiArena *arena, WadiError *error)
{
    const size_t listed = (size_t)r->around.listed;
    WADI_TRY(WADI_ARENA_NEW(arena, &r->shift, listed, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r->start, listed, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r->planes, listed, "shifts", error));
    wadi_parallel_for(r->around.listed, BLOCK, begin_block, r);
    return WADI_OK;
}

/* Solids are not planes: what came too near to one goes back. */
static void finish_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    WadiParticles *p = r->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t own = r->around.list[n], i = r->around.cells.order[own];
        const double least = NEAREST * r->in->spacing * (double)wadi_sph_around_size(&r->around, own);
        if (r->planes[n].count > 0 &&
            wadi_solids_distance_within(r->in->solids, position_of(p, i), r->in->time, least) < least) {
            p->x[i] = r->start[n].x, p->y[i] = r->start[n].y, p->z[i] = r->start[n].z;
        }
    }
}

WadiStatus wadi_sph_relax(const WadiSphRelaxIn *in, WadiArena *arena, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const WadiSphAroundIn around = { .particles = in->particles,
                                     .volume = in->volume,
                                     .spacing = in->spacing,
                                     .support = (double)in->spline->support,
                                     .is_removed = in->is_removed,
                                     .is_changed = in->is_changed,
                                     .may_move = in->may_move };
    Relax r = { .in = in };
    WADI_TRY(wadi_sph_around_find(&r.around, &around, arena, error));
    WADI_TRY(begin(&r, arena, error));
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        r.is_steep = sweep < APART;
        wadi_parallel_for(r.around.listed, BLOCK, shift_block, &r);
        wadi_parallel_for(r.around.listed, BLOCK, move_block, &r);
    }
    wadi_parallel_for(r.around.listed, BLOCK, finish_block, &r);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
