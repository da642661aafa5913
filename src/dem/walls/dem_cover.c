#include "dem/walls/dem_cover.h"

#include <string.h>

#include "core/alloc.h"

enum { CUBE = 8 }; /* lattice points along a cube that is skipped as a whole */

static const double MOST = 2e7;       /* spheres */
static const double CANDIDATES = 0.5; /* radii between the points from which the spheres are chosen */
static const double SMALLEST = 0.05;  /* radii */

typedef struct Covering {
    WadiDemCover *cover;
    const WadiShape *shape;
    uint32_t solid;
    WadiVec3 low;
    double step; /* m, of the lattice */
} Covering;

/* Radius of the largest sphere, up to that of a grain, inside a shape that touches its surface at `foot`. */
static double largest_inside(const Covering *c, WadiVec3 foot, WadiVec3 normal)
{
    double radius = c->cover->radius;
    while (radius > SMALLEST * c->cover->radius &&
           wadi_shape_distance(c->shape, wadi_add_scaled(foot, normal, -radius), 0.0) > -0.95 * radius) {
        radius *= 0.8;
    }
    return radius;
}

/* Adds a sphere at the surface point of a lattice point that is nearer to the surface than half a step. */
static WadiStatus add_sphere(const Covering *c, WadiVec3 x, WadiError *error)
{
    WadiParticles *p = &c->cover->spheres;
    WadiSurfacePoint s = wadi_shape_sample(c->shape, x, 0.0);
    int32_t i;
    if (s.distance >= 0.0 && s.distance <= 0.5 * c->step) {
        s = wadi_shape_sample_within(c->shape, x, 0.0, c->step);
    }
    if (!(fabs(s.distance) <= 0.5 * c->step)) {
        return WADI_OK;
    }
    if (p->count >= MOST) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "more than %.0f million spheres cover the colliders; use larger grains or "
                         "dem.surfaces: smooth",
                         1e-6 * MOST);
    }
    WADI_TRY(wadi_particles_append(p, 1, &i, error));
    uint32_t *solid = wadi_particles_column(p, c->cover->solid_column);
    float *radius = wadi_particles_column(p, c->cover->radius_column);
    const WadiVec3 foot = wadi_add_scaled(x, s.normal, -s.distance);
    radius[i] = (float)largest_inside(c, foot, s.normal);
    solid[i] = c->solid;
    const WadiVec3 centre = wadi_add_scaled(foot, s.normal, -(double)radius[i]);
    p->x[i] = centre.x, p->y[i] = centre.y, p->z[i] = centre.z;
    return WADI_OK;
}

static WadiStatus cover_cube(const Covering *c, const int64_t first[3], const int64_t count[3],
                             WadiError *error)
{
    const double half = 0.5 * (CUBE - 1);
    const WadiVec3 at = { (double)first[0] + half, (double)first[1] + half, (double)first[2] + half };
    const WadiVec3 middle = wadi_add_scaled(c->low, at, c->step);
    if (fabs(wadi_shape_clearance(c->shape, middle, 0.0)) > (1.7320508 * half + 0.5) * c->step) {
        return WADI_OK;
    }
    for (int n = 0; n < CUBE * CUBE * CUBE; ++n) {
        const int64_t i = first[0] + n % CUBE, j = first[1] + n / CUBE % CUBE, k = first[2] + n / CUBE / CUBE;
        if (i < count[0] && j < count[1] && k < count[2]) {
            const WadiVec3 x = { (double)i, (double)j, (double)k };
            WADI_TRY(add_sphere(c, wadi_add_scaled(c->low, x, c->step), error));
        }
    }
    return WADI_OK;
}

static WadiStatus cover_solid(const Covering *c, WadiBox box, WadiError *error)
{
    const WadiVec3 size = wadi_box_size(box);
    const double length[3] = { size.x, size.y, size.z };
    int64_t count[3], first[3];
    for (int a = 0; a < 3; ++a) {
        if (!(length[a] >= 0.0)) {
            return WADI_OK; /* outside */
        }
        count[a] = (int64_t)(length[a] / c->step) + 1;
    }
    for (first[2] = 0; first[2] < count[2]; first[2] += CUBE) {
        for (first[1] = 0; first[1] < count[1]; first[1] += CUBE) {
            for (first[0] = 0; first[0] < count[0]; first[0] += CUBE) {
                WADI_TRY(cover_cube(c, first, count, error));
            }
        }
    }
    return WADI_OK;
}

/* Leaves out spheres whose centre is nearer than a radius to that of an earlier one of its solid: spheres
 * side by side would be as smooth as the surface. */
static WadiStatus thin_out(WadiDemCover *cover, WadiError *error)
{
    WadiParticles *p = &cover->spheres;
    const uint32_t *solid = wadi_particles_column(p, cover->solid_column);
    uint8_t *is_left_out = NULL;
    WADI_TRY(wadi_cells_build(&cover->cells, p, cover->radius, &cover->memory, error));
    WADI_TRY(WADI_ARENA_NEW(&cover->memory, &is_left_out, (size_t)p->count, "spheres of colliders", error));
    memset(is_left_out, 0, (size_t)p->count);
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        WadiDemCellWalk walk;
        wadi_dem_cell_walk_begin(&walk, &cover->cells, x, cover->radius);
        for (int32_t j; is_left_out[i] == 0 && (j = wadi_dem_cell_walk_next(&walk)) >= 0;) {
            const WadiVec3 d = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
            if (j > i && solid[j] == solid[i] && wadi_norm(d) < cover->radius) {
                is_left_out[j] = 1;
            }
        }
    }
    wadi_particles_remove(p, is_left_out);
    return wadi_arena_reset(&cover->memory, error);
}

WadiStatus wadi_dem_cover_create(WadiDemCover *cover, const WadiSolids *solids, WadiBox box, double radius,
                                 WadiError *error)
{
    *cover = (WadiDemCover){ .solids = solids, .radius = radius };
    WADI_TRY(wadi_particles_init(&cover->spheres, error));
    WADI_TRY(wadi_particles_add_column(&cover->spheres, "solid", WADI_TYPE_U32, &cover->solid_column, error));
    WADI_TRY(
        wadi_particles_add_column(&cover->spheres, "radius", WADI_TYPE_F32, &cover->radius_column, error));
    for (int s = 0; s < solids->count; ++s) {
        Covering c = { cover, solids->solids[s].shape, (uint32_t)s, box.min, CANDIDATES * radius };
        WadiBox bounds = wadi_shape_bounds(c.shape, 0.0);
        const WadiVec3 more = { radius, radius, radius };
        bounds = (WadiBox){ wadi_sub(bounds.min, more), wadi_add(bounds.max, more) };
        /* A moving solid is covered everywhere: it may come in from outside. */
        bounds = wadi_shape_is_moving(c.shape) ? bounds : wadi_box_intersection(bounds, box);
        if (!isfinite(wadi_norm(wadi_box_size(bounds)))) {
            return wadi_fail(error, WADI_ERR_UNSUPPORTED,
                             "a solid without end cannot be covered with spheres; give the scene a `domain`, "
                             "or dem.surfaces: smooth");
        }
        c.low = bounds.min;
        WADI_TRY(cover_solid(&c, bounds, error));
    }
    WADI_TRY(thin_out(cover, error));
    return wadi_cells_build(&cover->cells, &cover->spheres, 4.0 * radius, &cover->memory, error);
}

void wadi_dem_cover_free(WadiDemCover *cover)
{
    wadi_particles_free(&cover->spheres);
    wadi_arena_free(&cover->memory);
    *cover = (WadiDemCover){ 0 };
}

int wadi_dem_cover_solid(const WadiDemCover *cover, int32_t sphere)
{
    const uint32_t *solid = wadi_particles_column(&cover->spheres, cover->solid_column);
    return (int)solid[sphere];
}

WadiSurfacePoint wadi_dem_cover_sample(const WadiDemCover *cover, int32_t sphere, WadiVec3 x, double time)
{
    const WadiParticles *p = &cover->spheres;
    const int index = wadi_dem_cover_solid(cover, sphere);
    const WadiShape *shape = cover->solids->solids[index].shape;
    const WadiVec3 start = { p->x[sphere], p->y[sphere], p->z[sphere] };
    const bool is_moving = wadi_shape_is_moving(shape);
    const WadiVec3 d = wadi_sub(x, is_moving ? wadi_shape_carry(shape, start, 0.0, time) : start);
    const float *radius = wadi_particles_column(p, cover->radius_column);
    WadiSurfacePoint point = { .distance = wadi_norm(d) - (double)radius[sphere], .velocity = { 0, 0, 0 } };
    point.normal = wadi_normalized_or(d, (WadiVec3){ 0, 0, 1 });
    if (is_moving) {
        wadi_solids_carry_velocity(cover->solids, index, x, time, &point.velocity);
    }
    return point;
}

int wadi_dem_cover_find(const WadiDemCover *cover, int solid, WadiVec3 x, double distance, double time,
                        int32_t *sphere, WadiSurfacePoint *point, int room)
{
    const WadiShape *shape = cover->solids->solids[solid].shape;
    const WadiVec3 start = wadi_shape_is_moving(shape) ? wadi_shape_carry(shape, x, time, 0.0) : x;
    WadiDemCellWalk walk;
    int count = 0;
    wadi_dem_cell_walk_begin(&walk, &cover->cells, start, distance + cover->radius);
    for (int32_t s; room > 0 && (s = wadi_dem_cell_walk_next(&walk)) >= 0;) {
        if (wadi_dem_cover_solid(cover, s) != solid) {
            continue;
        }
        const WadiSurfacePoint found = wadi_dem_cover_sample(cover, s, x, time);
        if (!(found.distance < distance) || (count == room && !(found.distance < point[room - 1].distance))) {
            continue;
        }
        /* Insertion by distance. */
        int at = count < room ? count++ : room - 1;
        for (; at > 0 && found.distance < point[at - 1].distance; --at) {
            point[at] = point[at - 1];
            sphere[at] = sphere[at - 1];
        }
        point[at] = found;
        sphere[at] = s;
    }
    return count;
}
