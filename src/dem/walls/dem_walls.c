#include "dem/walls/dem_walls.h"

#include "core/array.h"
#include "core/parallel.h"

enum { BLOCK = 256 };

static const double CORNER_STEPS[2] = { 2.0, 1.0 }; /* diameters */
static const double SAME_PLANE = 0.9;               /* cosine between normals */
static const double SAME_CONTACT = 0.7;

typedef struct Finder {
    const WadiDemWallsIn *in;
    uint8_t *count; /* per grain from `first` on */
    WadiDemWall *wall;
    int32_t *start;
} Finder;

static WadiDemWall wall_at(const WadiSurfacePoint *s, int32_t grain, int32_t solid, bool is_moving)
{
    return (WadiDemWall){
        .normal = { (float)s->normal.x, (float)s->normal.y, (float)s->normal.z, (float)s->distance },
        .velocity = { (float)s->velocity.x, (float)s->velocity.y, (float)s->velocity.z },
        .grain = grain,
        .solid = solid,
        .is_flat = solid < 0,
        .is_moving = is_moving,
    };
}

/* Another plane of a shape with `count` known ones near x. Away from these, distances grow by as much as the
 * planes recede; where the distance is less, there is another plane. */
static bool find_plane(const Finder *f, const WadiShape *shape, WadiVec3 x, double reach,
                       const WadiSurfacePoint *known, int count, WadiSurfacePoint *out)
{
    WadiVec3 away = { 0, 0, 0 };
    for (int c = 0; c < count; ++c) {
        away = wadi_add(away, known[c].normal);
    }
    away = wadi_normalized_or(away, known[0].normal);
    for (int s = 0; s < 2; ++s) {
        const double length = CORNER_STEPS[s] * f->in->diameter;
        double expected = INFINITY;
        for (int c = 0; c < count; ++c) {
            expected = fmin(expected, known[c].distance + length * wadi_dot(away, known[c].normal));
        }
        const WadiVec3 y = wadi_add_scaled(x, away, length);
        if (wadi_shape_clearance(shape, y, f->in->time) >= expected - 0.02 * length) {
            return false;
        }
        *out = wadi_shape_sample_within(shape, y, f->in->time, expected);
        if (out->distance >= expected - 0.02 * length) {
            return false;
        }
        out->distance -= length * wadi_dot(away, out->normal);
        bool is_new = out->distance < reach && out->distance > known[0].distance - 0.05 * f->in->diameter;
        for (int c = 0; c < count; ++c) {
            is_new = is_new && wadi_dot(out->normal, known[c].normal) < SAME_PLANE;
        }
        if (is_new) {
            return true;
        }
    }
    return false;
}

/* Spheres that cover a solid, and the solid below them. */
static int find_of_cover(const Finder *f, int32_t i, WadiVec3 x, double reach, int index, WadiDemWall *out,
                         int room)
{
    const WadiDemCover *cover = f->in->cover;
    const WadiShape *shape = f->in->solids->solids[index].shape;
    const bool is_moving = wadi_shape_is_moving(shape);
    int32_t sphere[WADI_DEM_PLANE_MAX];
    WadiSurfacePoint point[WADI_DEM_PLANE_MAX];
    int count = wadi_dem_cover_find(cover, index, x, reach, f->in->time, sphere, point, room - 1);
    for (int n = 0; n < count; ++n) {
        out[n] = wall_at(&point[n], i, f->in->solids->count + sphere[n], is_moving);
    }
    WadiSurfacePoint below = wadi_shape_sample_within(shape, x, f->in->time, reach);
    below.distance += wadi_dem_cover_depth(cover);
    if (below.distance < reach) {
        out[count++] = wall_at(&below, i, index, is_moving);
    }
    return count;
}

static int find_of_solid(const Finder *f, int32_t i, WadiVec3 x, double reach, int index, WadiDemWall *out,
                         int room)
{
    const WadiShape *shape = f->in->solids->solids[index].shape;
    const bool is_moving = wadi_shape_is_moving(shape);
    if (is_moving) {
        const double t0 = f->in->time, t1 = t0 + f->in->lifetime;
        reach += f->in->lifetime * wadi_shape_speed_bound(shape, x, reach, t0, t1);
    }
    if (!(wadi_shape_clearance_from_outside(shape, x, f->in->time) < reach)) {
        return 0;
    }
    if (f->in->cover != NULL) {
        return find_of_cover(f, i, x, reach, index, out, room);
    }
    WadiSurfacePoint known[3];
    known[0] = wadi_shape_sample_within(shape, x, f->in->time, reach);
    int count = known[0].distance < reach ? 1 : 0;
    /* Of a moving solid the nearest plane alone: it is sampled in every step. */
    while (count > 0 && count < 3 && !is_moving && wadi_shape_may_have_corners(shape) &&
           find_plane(f, shape, x, reach, known, count, &known[count])) {
        count += 1;
    }
    for (int c = 0; c < count && c < room; ++c) {
        out[c] = wall_at(&known[c], i, index, is_moving);
        /* Planes after the first are not the nearest point: they are not sampled again. */
        out[c].is_flat = c > 0;
    }
    return count < room ? count : room;
}

static int find_of_grain(const Finder *f, int32_t i, WadiDemWall out[WADI_DEM_PLANE_MAX])
{
    const WadiSolids *solids = f->in->solids;
    const WadiParticles *p = f->in->particles;
    const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
    const double reach = (double)f->in->radius[i] + (double)f->in->skin[i];
    int count = 0;
    for (int side = 0; side < 6; ++side) {
        if ((solids->closed_sides >> side & 1) != 0) {
            const WadiSurfacePoint s = wadi_solids_wall(solids, side, x);
            if (s.distance < reach) {
                out[count++] = wall_at(&s, i, -1 - side, false);
            }
        }
    }
    for (int s = 0; s < solids->count && count < WADI_DEM_PLANE_MAX; ++s) {
        count += find_of_solid(f, i, x, reach, s, out + count, WADI_DEM_PLANE_MAX - count);
    }
    return count;
}

static void count_block(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    WadiDemWall wall[WADI_DEM_PLANE_MAX];
    for (int64_t n = first; n < end; ++n) {
        f->count[n] = (uint8_t)find_of_grain(f, f->in->first + (int32_t)n, wall);
    }
}

static void fill_block(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    WadiDemWall wall[WADI_DEM_PLANE_MAX];
    for (int64_t n = first; n < end; ++n) {
        if (f->count[n] > 0) {
            find_of_grain(f, f->in->first + (int32_t)n, wall);
            for (int c = 0; c < f->count[n]; ++c) {
                f->wall[f->start[n] + c] = wall[c];
            }
        }
    }
}

/* The wall of the earlier list, sorted by its grains, that continues as `wall`. */
static const WadiDemWall *find_earlier(const WadiDemWall *earlier, size_t count, int32_t grain,
                                       const WadiDemWall *wall)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (earlier[middle].grain < grain) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const WadiDemWall *best = NULL;
    float nearest = (float)SAME_CONTACT;
    for (; low < count && earlier[low].grain == grain; ++low) {
        const WadiF4 product = earlier[low].normal * wall->normal;
        const float cosine = product[0] + product[1] + product[2];
        if (earlier[low].solid == wall->solid && earlier[low].touches != 0 && cosine > nearest) {
            nearest = cosine;
            best = &earlier[low];
        }
    }
    return best;
}

WadiStatus wadi_dem_walls_find_chunks(WadiDemWalls *walls, int32_t first, int32_t count, WadiError *error)
{
    const int32_t chunks = (count - first + WADI_DEM_CHUNK - 1) / WADI_DEM_CHUNK;
    WADI_TRY(wadi_array_renew((void **)&walls->chunk, &walls->chunk_capacity, (size_t)chunks + 1,
                              sizeof *walls->chunk, "walls", error));
    size_t n = 0;
    for (int32_t c = 0; c <= chunks; ++c) {
        while (n < walls->count && walls->wall[n].grain < first + c * WADI_DEM_CHUNK) {
            ++n;
        }
        walls->chunk[c] = (int32_t)n;
    }
    return WADI_OK;
}

WadiStatus wadi_dem_walls_build(WadiDemWalls *walls, const WadiDemWallsIn *in, WadiArena *scratch,
                                WadiError *error)
{
    const int32_t awake = in->particles->count - in->first;
    Finder f = { .in = in };
    WadiDemWall *earlier = NULL;
    const size_t earlier_count = walls->count;
    WADI_TRY(WADI_ARENA_NEW(scratch, &earlier, earlier_count, "walls", error));
    for (size_t n = 0; n < earlier_count; ++n) {
        earlier[n] = walls->wall[n];
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &f.count, (size_t)awake, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &f.start, (size_t)awake + 1, "walls", error));
    wadi_parallel_for(awake, BLOCK, count_block, &f);
    for (int32_t n = 0; n < awake; ++n) {
        f.start[n] = f.count[n];
    }
    walls->count = (size_t)wadi_prefix_sum(f.start, awake);
    WADI_TRY(wadi_array_renew((void **)&walls->wall, &walls->capacity, walls->count, sizeof *walls->wall,
                              "walls", error));
    f.wall = walls->wall;
    wadi_parallel_for(awake, BLOCK, fill_block, &f);
    for (size_t n = 0; n < walls->count; ++n) {
        WadiDemWall *wall = &walls->wall[n];
        const uint32_t list_index = in->list_index[wall->grain];
        const WadiDemWall *before =
            list_index > 0 ? find_earlier(earlier, earlier_count, (int32_t)list_index - 1, wall) : NULL;
        if (before != NULL) {
            wall->spring = before->spring;
            wall->touches = 1;
        }
    }
    return wadi_dem_walls_find_chunks(walls, in->first, in->particles->count, error);
}

void wadi_dem_walls_free(WadiDemWalls *walls)
{
    WADI_DELETE(walls->wall, walls->capacity);
    WADI_DELETE(walls->chunk, walls->chunk_capacity);
    *walls = (WadiDemWalls){ 0 };
}
