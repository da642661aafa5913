#include "sph/adapt/sph_relax.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/kernels.h"
#include "particles/cells.h"

enum { BLOCK = 256, SWEEPS = 20, APART = 10, PLANES_MAX = 3 };

static const double SUPPORT = 2.0; /* sizes */
/* Part of what would make the gradient 0 if the others stayed, and the farthest shift of a sweep, sizes. */
static const double RELAXATION = 0.3, FARTHEST = 0.05;
static const double NEAREST = 0.3; /* sizes from a solid: a shift that ends nearer is undone */

/* Planes of the solids about a particle that shifts, which mirror what lies before them. */
typedef struct Planes {
    int count;
    WadiVec3 normal[PLANES_MAX];
    double offset[PLANES_MAX]; /* distance of x: normal . x - offset */
} Planes;

typedef struct Relax {
    const WadiSphRelaxIn *in;
    WadiNeighbours lists;
    float *radius; /* m: supports */
    double *size;  /* m: edge of the cube that a particle fills */
    int32_t *list; /* particles that shift */
    int32_t listed;
    /* By place in the list. */
    WadiVec3 *shift, *start;
    Planes *planes;
    bool is_steep; /* kernel of the sweep */
} Relax;

/* Sums of a particle: e_i, and what e_i changes by with a shift, by size. */
typedef struct Crowding {
    WadiVec3 gradient;
    double stiffness;
    bool is_steep; /* by which kernel */
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
    if (solids == NULL || wadi_solids_distance(solids, x, in->time, support) >= support) {
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

/* The slope of the solver's kernel, or, if `is_steep`, of one that also parts what lies close: the first is
 * flat at distance 0. */
static double slope_of(double distance, double h, bool is_steep)
{
    return is_steep ? wadi_kernel_spiky_slope(distance, h) : wadi_kernel_cubic_slope(distance, h, 3);
}

static void add_one(Crowding *sum, WadiVec3 from, double h, double volume)
{
    const double square = wadi_dot(from, from);
    if (square < h * h) {
        const double distance = sqrt(square);
        const double slope = -volume * slope_of(distance, h, sum->is_steep);
        sum->gradient = wadi_add_scaled(sum->gradient, from, slope / fmax(distance, 1e-6 * h));
        sum->stiffness += slope / h;
    }
}

/* The planes, as bits, whose image of y is nearer to x than h. */
static unsigned find_mirrors(const Planes *planes, WadiVec3 x, WadiVec3 y, double h)
{
    const WadiVec3 from = wadi_sub(x, y);
    const double square = wadi_dot(from, from);
    unsigned near = 0;
    for (int c = 0; c < planes->count; ++c) {
        const double away = wadi_dot(planes->normal[c], x) - planes->offset[c];
        const double other = wadi_dot(planes->normal[c], y) - planes->offset[c];
        near |= (unsigned)(square + 4.0 * away * fmax(other, 0.0) < h * h) << c;
    }
    return near;
}

/* The images of y in all sets of the planes, in single ones and in corners, as x meets them, along the planes
 * alone. */
static void add_images(Crowding *sum, const Planes *planes, WadiVec3 x, WadiVec3 y, double h, double volume)
{
    const unsigned near = find_mirrors(planes, x, y, h);
    for (unsigned set = 1; set <= near; ++set) {
        if ((set & ~near) != 0) {
            continue;
        }
        WadiVec3 image = y;
        Crowding one = { .is_steep = sum->is_steep };
        for (int c = 0; c < planes->count; ++c) {
            if ((set >> c & 1) != 0) {
                const double distance = wadi_dot(planes->normal[c], image) - planes->offset[c];
                image = wadi_add_scaled(image, planes->normal[c], -2.0 * fmax(distance, 0.0));
            }
        }
        add_one(&one, wadi_sub(x, image), h, volume);
        for (int c = 0; c < planes->count; ++c) {
            if ((set >> c & 1) != 0) {
                one.gradient = wadi_add_scaled(one.gradient, planes->normal[c],
                                               -wadi_dot(one.gradient, planes->normal[c]));
            }
        }
        sum->gradient = wadi_add(sum->gradient, one.gradient);
        sum->stiffness += one.stiffness;
    }
}

/* What the solver's walls press, half of it: pairs press with the pressures of two. */
static void add_walls(Crowding *sum, const Relax *r, const Planes *planes, WadiVec3 x, double size)
{
    for (int c = 0; c < planes->count; ++c) {
        double part, slope;
        const double distance = wadi_dot(planes->normal[c], x) - planes->offset[c];
        wadi_sph_kernel_wall(r->in->kernel, distance / size, &part, &slope);
        sum->gradient = wadi_add_scaled(sum->gradient, planes->normal[c], -0.5 * slope / size);
        sum->stiffness -= 0.5 * slope / (size * size);
    }
}

/* A part of the shift that would make e_i vanish if the others stayed. */
static void shift_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    const WadiParticles *p = r->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = r->list[n];
        const WadiVec3 x = position_of(p, i);
        Crowding sum = { .is_steep = r->is_steep };
        add_walls(&sum, r, &r->planes[n], x, r->size[i]);
        for (int64_t k = r->lists.start[i]; k < r->lists.start[i + 1]; ++k) {
            const int32_t j = r->lists.index[k];
            if (r->in->is_removed[j] == 0) {
                const WadiVec3 y = position_of(p, j);
                const double h = 0.5 * SUPPORT * (r->size[i] + r->size[j]);
                const double volume = r->size[j] * r->size[j] * r->size[j];
                add_one(&sum, wadi_sub(x, y), h, volume);
                add_images(&sum, &r->planes[n], x, y, h, volume);
            }
        }
        const double scale = sum.stiffness > 0.0 ? RELAXATION / sum.stiffness : 0.0;
        const double length = scale * wadi_norm(sum.gradient), most = FARTHEST * r->size[i];
        r->shift[n] = wadi_scale(sum.gradient, length > most ? scale * most / length : scale);
    }
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
        if (is_near && in->may_move[i] != 0 && in->is_removed[i] == 0) {
            r->list[r->listed++] = i;
        }
    }
}

static void begin_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = r->list[n];
        r->start[n] = position_of(r->in->particles, i);
        r->planes[n] = find_planes(r->in, r->start[n], SUPPORT * r->size[i]);
    }
}

static WadiStatus begin(Relax *r, WadiArena *arena, WadiError *error)
{
    const size_t listed = (size_t)r->listed;
    WADI_TRY(WADI_ARENA_NEW(arena, &r->shift, listed, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r->start, listed, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r->planes, listed, "shifts", error));
    wadi_parallel_for(r->listed, BLOCK, begin_block, r);
    return WADI_OK;
}

/* Solids are not planes: what came too near to one goes back. */
static void finish_block(void *context, int64_t first, int64_t end)
{
    const Relax *r = context;
    WadiParticles *p = r->in->particles;
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = r->list[n];
        const double least = NEAREST * r->size[i];
        if (r->planes[n].count > 0 &&
            wadi_solids_distance(r->in->solids, position_of(p, i), r->in->time, least) < least) {
            p->x[i] = r->start[n].x, p->y[i] = r->start[n].y, p->z[i] = r->start[n].z;
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
    WADI_TRY(begin(&r, arena, error));
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        r.is_steep = sweep < APART;
        wadi_parallel_for(r.listed, BLOCK, shift_block, &r);
        for (int32_t n = 0; n < r.listed; ++n) {
            const int32_t i = r.list[n];
            p->x[i] += r.shift[n].x, p->y[i] += r.shift[n].y, p->z[i] += r.shift[n].z;
        }
    }
    wadi_parallel_for(r.listed, BLOCK, finish_block, &r);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
