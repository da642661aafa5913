/* Forces of solids on grains: the law of two grains, the second of which has no curvature and no end of
 * mass. */
#include "core/parallel.h"
#include "dem/contact/dem_kernel.h"
#include "dem/walls/dem_wall_loads.h"
#include "dem/walls/dem_walls.h"

enum { BATCH = 64, LANES = WADI_DEM_LANES };

static const double STALE = 0.05; /* diameters: farther from where it was sampled */

typedef struct Forces {
    WadiDemWalls *walls;
    const WadiDemWallForces *in;
} Forces;

typedef struct Batch {
    int count;
    int32_t wall[BATCH + LANES];
    float overlap[BATCH + LANES];
} Batch;

static void sample_again(const WadiDemWallForces *in, WadiDemWall *wall)
{
    const WadiParticles *p = in->particles;
    const int32_t i = wall->grain;
    const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
    const int32_t sphere = wall->solid - in->solids->count;
    WadiSurfacePoint s;
    if (sphere >= 0) {
        s = wadi_dem_cover_sample(in->cover, sphere, x, in->time);
    } else {
        const double within = (double)in->grains->shift[i][3] + 2.0 * STALE * in->diameter;
        s = wadi_shape_sample_within(in->solids->solids[wall->solid].shape, x, in->time, within);
        s.distance += wadi_dem_cover_depth(in->cover);
    }
    wall->normal = (WadiF4){ (float)s.normal.x, (float)s.normal.y, (float)s.normal.z, (float)s.distance };
    wall->velocity[0] = (float)s.velocity.x;
    wall->velocity[1] = (float)s.velocity.y;
    wall->velocity[2] = (float)s.velocity.z;
    wall->sampled = in->grains->shift[i];
}

/* Overlap of a grain and a wall, m. */
static float overlap_of(const WadiDemWallForces *in, WadiDemWall *wall)
{
    const WadiF4 shift = in->grains->shift[wall->grain];
    WadiF4 moved = shift - wall->sampled;
    const float square = moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2];
    const float stale = (float)(STALE * in->diameter);
    if (wall->is_moving || (!wall->is_flat && square > stale * stale)) {
        sample_again(in, wall);
        moved = (WadiF4){ 0 };
    }
    const WadiF4 product = wall->normal * moved;
    return shift[3] - (wall->normal[3] + product[0] + product[1] + product[2]);
}

static void load_lanes(const Forces *f, const Batch *b, int from, WadiDemLanes *lanes)
{
    for (int l = 0; l < LANES; ++l) {
        const int at = from + l < b->count ? from + l : b->count - 1;
        const WadiDemWall *wall = &f->walls->wall[b->wall[at]];
        lanes->motion[0][l] = f->in->grains->motion[wall->grain];
        lanes->motion[1][l] = (WadiF8){ wall->velocity[0], wall->velocity[1], wall->velocity[2] };
        lanes->spring[l] = wall->spring;
        for (int c = 0; c < 3; ++c) {
            lanes->normal[c][l] = -wall->normal[c];
        }
        lanes->overlap[l] = b->overlap[at];
        lanes->radius[l] = f->in->grains->shift[wall->grain][3];
        lanes->mass[l] = f->in->mass[wall->grain];
        lanes->damping[l] = wall->damping;
        lanes->friction[0][l] = wall->friction;
        const bool is_surface = f->in->has_rough_surfaces && wall->solid < f->in->solids->count;
        lanes->friction[1][l] = is_surface ? wall->friction : lanes->motion[0][l][7];
    }
    wadi_dem_transpose(lanes->motion[0]);
    wadi_dem_transpose(lanes->motion[1]);
    wadi_dem_transpose(lanes->spring);
    lanes->arm[0] = lanes->arm[2] = lanes->radius;
    lanes->arm[1] = (WadiF8){ 0 };
    lanes->bridge = lanes->grip = (WadiF8){ 0 }; /* moist grains do not stick to solids */
}

static void compute(const Forces *f, Batch *b)
{
    for (int from = 0; from < b->count; from += LANES) {
        WadiDemLanes lanes;
        load_lanes(f, b, from, &lanes);
        wadi_dem_contact(f->in->law, &lanes);
        wadi_dem_transpose(lanes.load[0]);
        wadi_dem_transpose(lanes.spring);
        for (int l = 0; l < LANES && from + l < b->count; ++l) {
            WadiDemWall *wall = &f->walls->wall[b->wall[from + l]];
            f->in->grains->load[wall->grain - f->in->pairs->first] += lanes.load[0][l];
            wall->spring = lanes.spring[l];
            if (f->in->wall_load != NULL) {
                f->in->wall_load[b->wall[from + l]] = lanes.load[0][l];
                wadi_dem_wall_remember(wall, &lanes.load[0][l]);
            }
        }
    }
    b->count = 0;
}

/* Friction and damping of a solid now. */
static void set_surface(const WadiDemWallForces *in, WadiDemWall *wall)
{
    const WadiSolids *solids = in->solids;
    const int32_t sphere = wall->solid - solids->count;
    const int solid = sphere >= 0 ? wadi_dem_cover_solid(in->cover, sphere) : wall->solid;
    const WadiCurve *friction = solid < 0 ? solids->wall_friction : solids->solids[solid].friction;
    const WadiCurve *restitution = solid < 0 ? solids->wall_restitution : solids->solids[solid].restitution;
    const double e = wadi_curve_value_or_zero(restitution, in->time);
    const int at = (int)(fmin(fmax(e, 0.0), 1.0) * (WADI_DEM_DAMPINGS - 1) + 0.5);
    wall->friction = (float)wadi_curve_value_or_zero(friction, in->time);
    wall->damping = in->damping_of[at];
}

/* Whether the centre of a grain is nearer than half its radius to the surface of a wall, or may be after a
 * step of the wall. */
static bool is_deep(const WadiDemWallForces *in, const WadiDemWall *wall, float overlap)
{
    const bool is_covered = wall->solid >= 0 && wall->solid < in->solids->count;
    const float radius = in->grains->shift[wall->grain][3], dt = (float)in->dt;
    const float *v = wall->velocity;
    const float square = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * dt * dt;
    return overlap > 0.5f * radius - (is_covered ? (float)wadi_dem_cover_depth(in->cover) : 0.0f) ||
           square > 0.04f * radius * radius;
}

static void compute_chunk(void *context, int64_t first, int64_t end)
{
    const Forces *f = context;
    Batch batch = { .count = 0 };
    for (int64_t c = first; c < end; ++c) {
        for (int32_t n = f->walls->chunk[c]; n < f->walls->chunk[c + 1]; ++n) {
            WadiDemWall *wall = &f->walls->wall[n];
            const float overlap = overlap_of(f->in, wall);
            if (f->in->is_deep != NULL && is_deep(f->in, wall, overlap)) {
                f->in->is_deep[wall->grain] = 1;
            }
            if (!(overlap > 0.0f)) {
                if (wall->touches != 0) {
                    wall->spring = (WadiF8){ 0 };
                    wall->touches = 0;
                }
                continue;
            }
            wall->touches = 1;
            set_surface(f->in, wall);
            batch.wall[batch.count] = n;
            batch.overlap[batch.count++] = overlap;
            if (batch.count == BATCH) {
                compute(f, &batch);
            }
        }
    }
    compute(f, &batch);
}

void wadi_dem_add_wall_forces(WadiDemWalls *walls, const WadiDemWallForces *in)
{
    Forces f = { walls, in };
    wadi_parallel_for(wadi_dem_chunk_count(in->pairs), 1, compute_chunk, &f);
}
