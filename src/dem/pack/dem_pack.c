/* Overlaps are relaxed as by soft frictionless spheres [JT85; OLLN02]: a sphere is moved by half of each
 * overlap with its neighbours, and a part of its last displacement is added, which spreads the motion over
 * many grains. [theory 13.3] */
#include "dem/pack/dem_pack.h"

#include <math.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "particles/cells.h"

/* What does not fit into a body after CONFINED_ROUNDS rises out of it. */
enum { BLOCK = 256, ROUNDS = 4000, CONFINED_ROUNDS = 300 };

const double WADI_DEM_PACKED_OVERLAP = 1e-3;
const double WADI_DEM_JAMMED = 0.01;
static const double SKIN = 0.3;     /* diameters by which neighbour lists look farther than contacts */
static const double GAIN = 0.5;     /* of half an overlap: stable for twelve neighbours */
static const double MOMENTUM = 0.9; /* of the last displacement */
static const double LONGEST = 0.1;  /* diameters of a displacement */
/* Grains grow to their size from SMALLEST of it in the first rounds: else spheres of one grain are caught
 * between those of another. */
enum { GROWTH_ROUNDS = 100 };
static const double SMALLEST = 0.2;

double wadi_dem_packed_fraction(WadiDemShape shape)
{
    static const double fraction[WADI_DEM_SHAPE_COUNT] = {
        [WADI_DEM_SPHERES] = 0.58,     [WADI_DEM_PAIRS] = 0.575, [WADI_DEM_TRIANGLES] = 0.57,
        [WADI_DEM_TETRAHEDRA] = 0.555, [WADI_DEM_CUBES] = 0.5,
    };
    return fraction[shape];
}

double wadi_dem_packed_bonds(WadiDemShape shape)
{
    static const double bonds[WADI_DEM_SHAPE_COUNT] = {
        [WADI_DEM_SPHERES] = 6.3,    [WADI_DEM_PAIRS] = 5.9, [WADI_DEM_TRIANGLES] = 5.3,
        [WADI_DEM_TETRAHEDRA] = 4.7, [WADI_DEM_CUBES] = 3.5,
    };
    return bonds[shape];
}

/* Sphere k of grain g is number g * each + k of the store; after those of the grains come the fixed ones,
 * then images of spheres beside the faces of a period. */
typedef struct Relaxing {
    const WadiDemPack *pack;
    int each;
    int32_t sphere_count, image_count;
    WadiParticles spheres;
    double scale;             /* of the grains */
    double *radius;           /* per sphere and image: of a grown one, m */
    int32_t *image_of;        /* per image */
    WadiVec3 *image_shift;    /* m */
    bool is_confined;         /* centres stay inside their bodies */
    uint8_t *is_border;       /* per grain: near the surface of its body */
    uint8_t *is_near;         /* per sphere: to a solid */
    WadiVec3 *moved, *turned; /* per grain: last displacement, m, and rotation, rad */
    double *overlap;          /* per grain: the largest one, m */
    WadiVec3 *listed;         /* per sphere: position when the lists were made */
    WadiNeighbours near;
    double cutoff; /* m, of lists */
    double *partials;
    WadiArena memory; /* of lists */
} Relaxing;

static WadiVec3 position(const Relaxing *r, int32_t i)
{
    return (WadiVec3){ r->spheres.x[i], r->spheres.y[i], r->spheres.z[i] };
}

static void set_position(const Relaxing *r, int32_t i, WadiVec3 x)
{
    r->spheres.x[i] = x.x, r->spheres.y[i] = x.y, r->spheres.z[i] = x.z;
}

static void place_spheres(const Relaxing *r, int32_t g)
{
    const WadiDemPack *pack = r->pack;
    for (int k = 0; k < r->each; ++k) {
        const double radius = r->scale * pack->radius[g];
        const WadiVec3 arm = wadi_scale(wadi_dem_member_centre(pack->shape, k), radius);
        set_position(r, g * r->each + k, wadi_add(pack->centre[g], wadi_dem_turned(pack->turn[g], arm)));
    }
}

/* Displacement that the overlaps of a sphere ask for; the largest of these in *overlap. */
static WadiVec3 push_of(const Relaxing *r, int32_t i, double *overlap)
{
    const WadiDemPack *pack = r->pack;
    const WadiVec3 x = position(r, i);
    const double radius = r->scale * r->radius[i];
    WadiVec3 push = { 0, 0, 0 };
    for (int64_t n = r->near.start[i]; n < r->near.start[i + 1]; ++n) {
        const int32_t j = r->near.index[n];
        const WadiVec3 d = wadi_sub(x, position(r, j));
        const bool is_fixed = j >= pack->count * r->each && j < r->sphere_count;
        const double sum = radius + (is_fixed ? 1.0 : r->scale) * r->radius[j], square = wadi_dot(d, d);
        if (square >= sum * sum || j / r->each == i / r->each) {
            continue;
        }
        const double length = sqrt(square), over = sum - length;
        /* Two centres at one point are moved apart along an axis. */
        const WadiVec3 away =
            length > 0.0 ? wadi_scale(d, 1.0 / length) : (WadiVec3){ 0, 0, i < j ? -1.0 : 1.0 };
        push = wadi_add_scaled(push, away, is_fixed ? over : 0.5 * over);
        *overlap = fmax(*overlap, over);
    }
    WadiSolidPoint point;
    if (r->is_near[i] != 0 && wadi_solids_sample_within(pack->solids, x, pack->time, radius, &point)) {
        const double over = radius - point.surface.distance;
        push = wadi_add_scaled(push, point.surface.normal, over);
        *overlap = fmax(*overlap, over);
    }
    return push;
}

static WadiVec3 shortened(WadiVec3 a, double longest)
{
    const double length = wadi_norm(a);
    return length > longest ? wadi_scale(a, longest / length) : a;
}

/* Displacements and rotations of grains from their overlaps. Returns the largest overlap. */
static double find_moves(void *context, int64_t first, int64_t end)
{
    const Relaxing *r = context;
    const WadiDemPack *pack = r->pack;
    const double longest = LONGEST * pack->diameter;
    double overlap = 0.0;
    for (int32_t g = (int32_t)first; g < (int32_t)end; ++g) {
        WadiVec3 sum = { 0, 0, 0 }, torque = { 0, 0, 0 };
        double arms = 0.0;
        r->overlap[g] = 0.0;
        for (int k = 0; k < r->each; ++k) {
            const int32_t i = g * r->each + k;
            const WadiVec3 push = push_of(r, i, &r->overlap[g]),
                           arm = wadi_sub(position(r, i), pack->centre[g]);
            sum = wadi_add(sum, push);
            torque = wadi_add(torque, wadi_cross(arm, push));
            arms += wadi_dot(arm, arm);
        }
        overlap = fmax(overlap, r->overlap[g]);
        /* Mean moment of inertia of the spheres, each of mass 1. */
        const double inertia =
            2.0 / 3.0 * arms + 0.4 * r->each * r->scale * r->scale * pack->radius[g] * pack->radius[g];
        r->moved[g] =
            shortened(wadi_add_scaled(wadi_scale(r->moved[g], MOMENTUM), sum, GAIN / r->each), longest);
        r->turned[g] =
            r->each == 1
                ? (WadiVec3){ 0, 0, 0 }
                : shortened(wadi_add_scaled(wadi_scale(r->turned[g], MOMENTUM), torque, GAIN / inertia),
                            LONGEST);
    }
    return overlap;
}

/* A quaternion after a small rotation. */
static void turn_by(double q[4], WadiVec3 a)
{
    const WadiVec3 u = { q[1], q[2], q[3] };
    const WadiVec3 v = wadi_add(wadi_add_scaled(u, a, 0.5 * q[0]), wadi_scale(wadi_cross(a, u), 0.5));
    const double w = q[0] - 0.5 * wadi_dot(a, u), scale = 1.0 / sqrt(w * w + wadi_dot(v, v));
    q[0] = w * scale, q[1] = v.x * scale, q[2] = v.y * scale, q[3] = v.z * scale;
}

/* Applies them. Returns the largest displacement of a sphere since the lists were made. */
static double apply_moves(void *context, int64_t first, int64_t end)
{
    const Relaxing *r = context;
    const WadiDemPack *pack = r->pack;
    double farthest = 0.0;
    for (int32_t g = (int32_t)first; g < (int32_t)end; ++g) {
        WadiVec3 x = wadi_add(pack->centre[g], r->moved[g]);
        if (r->is_confined && r->is_border[g] != 0) {
            const WadiSurfacePoint s = wadi_shape_sample(pack->body[pack->body_of[g]], x, pack->time);
            x = wadi_add_scaled(x, s.normal, -fmax(s.distance, 0.0));
        }
        const WadiBox box = pack->solids->domain;
        x = (WadiVec3){ fmin(fmax(x.x, box.min.x), box.max.x), fmin(fmax(x.y, box.min.y), box.max.y),
                        fmin(fmax(x.z, box.min.z), box.max.z) };
        pack->centre[g] = x;
        turn_by(pack->turn[g], r->turned[g]);
        place_spheres(r, g);
        for (int k = 0; k < r->each; ++k) {
            const int32_t i = g * r->each + k;
            farthest = fmax(farthest, wadi_norm(wadi_sub(position(r, i), r->listed[i])));
        }
    }
    return farthest;
}

static void place_images(const Relaxing *r)
{
    for (int32_t n = 0; n < r->image_count; ++n) {
        set_position(r, r->sphere_count + n, wadi_add(position(r, r->image_of[n]), r->image_shift[n]));
    }
}

/* Grains of a period are moved into it, and spheres near its faces get images beyond the opposite ones. */
static WadiStatus make_images(Relaxing *r, WadiError *error)
{
    const WadiDemPack *pack = r->pack;
    const double period = pack->period, beyond = r->cutoff + 2.0 * pack->diameter;
    wadi_particles_drop_newest(&r->spheres, r->image_count);
    r->image_count = 0;
    if (!isfinite(period)) {
        return WADI_OK;
    }
    for (int32_t g = 0; g < pack->count; ++g) {
        const WadiVec3 x = pack->centre[g];
        pack->centre[g] = (WadiVec3){ x.x - period * floor(x.x / period), x.y - period * floor(x.y / period),
                                      x.z - period * floor(x.z / period) };
        place_spheres(r, g);
    }
    const size_t most = (size_t)r->sphere_count * 26;
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->image_of, most, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->image_shift, most, "packing", error));
    const WadiBox box = { { -beyond, -beyond, -beyond },
                          { period + beyond, period + beyond, period + beyond } };
    for (int32_t i = 0; i < r->sphere_count; ++i) {
        for (int n = 0; n < 27; ++n) {
            const int x = n % 3 - 1, y = n / 3 % 3 - 1, z = n / 9 - 1;
            const WadiVec3 shift = { period * x, period * y, period * z };
            if (n != 13 && wadi_box_contains(box, wadi_add(position(r, i), shift))) {
                r->image_of[r->image_count] = i;
                r->image_shift[r->image_count++] = shift;
            }
        }
    }
    int32_t first;
    WADI_TRY(wadi_particles_append(&r->spheres, r->image_count, &first, error));
    place_images(r);
    return WADI_OK;
}

static void find_border(void *context, int64_t first, int64_t end)
{
    const Relaxing *r = context;
    const WadiDemPack *pack = r->pack;
    for (int32_t g = (int32_t)first; g < (int32_t)end; ++g) {
        const int32_t b = pack->body_of[g];
        r->is_border[g] = b >= 0 && wadi_shape_distance(pack->body[b], pack->centre[g], pack->time) >
                                        -SKIN * pack->diameter;
    }
}

static void find_near_solids(void *context, int64_t first, int64_t end)
{
    const Relaxing *r = context;
    const double skin = SKIN * r->pack->diameter;
    for (int32_t i = (int32_t)first; i < (int32_t)end; ++i) {
        r->listed[i] = position(r, i);
        const double band = r->radius[i] + skin;
        r->is_near[i] =
            wadi_solids_distance_within(r->pack->solids, r->listed[i], r->pack->time, band) < band;
    }
}

static WadiStatus make_lists(Relaxing *r, WadiError *error)
{
    WadiCells cells;
    WADI_TRY(wadi_arena_reset(&r->memory, error));
    WADI_TRY(make_images(r, error));
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->is_near, (size_t)r->sphere_count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->listed, (size_t)r->sphere_count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->radius, (size_t)r->spheres.count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->partials,
                            (size_t)wadi_parallel_block_count(r->pack->count, BLOCK), "packing", error));
    const int32_t own = r->pack->count * r->each;
    for (int32_t i = 0; i < r->spheres.count; ++i) {
        const int32_t of = i < r->sphere_count ? i : r->image_of[i - r->sphere_count];
        r->radius[i] = of < own ? r->pack->radius[of / r->each] : r->pack->fixed_radius[of - own];
    }
    WADI_TRY(WADI_ARENA_NEW(&r->memory, &r->is_border, (size_t)r->pack->count, "packing", error));
    wadi_parallel_for(r->sphere_count, BLOCK, find_near_solids, r);
    wadi_parallel_for(r->pack->count, BLOCK, find_border, r);
    WADI_TRY(wadi_cells_build(&cells, &r->spheres, r->cutoff, &r->memory, error));
    return wadi_neighbours_fixed(&r->near, &cells, &r->spheres, r->cutoff, &r->memory, error);
}

static WadiStatus relax(Relaxing *r, WadiDemPackReport *report, WadiError *error)
{
    const double enough = 0.5 * SKIN * r->pack->diameter;
    WADI_TRY(make_lists(r, error));
    for (report->rounds = 0; report->rounds < ROUNDS; report->rounds += 1) {
        r->scale = fmin(1.0, SMALLEST + (1.0 - SMALLEST) * report->rounds / GROWTH_ROUNDS);
        r->is_confined = report->rounds < CONFINED_ROUNDS;
        const double overlap = wadi_parallel_max(r->pack->count, BLOCK, find_moves, r, r->partials);
        report->overlap = overlap / r->pack->diameter;
        if (r->scale >= 1.0 && report->overlap <= WADI_DEM_PACKED_OVERLAP) {
            break;
        }
        const double moved = wadi_parallel_max(r->pack->count, BLOCK, apply_moves, r, r->partials);
        place_images(r);
        if (moved > enough) {
            WADI_TRY(make_lists(r, error));
        }
    }
    for (int32_t g = 0; g < r->pack->count; ++g) {
        report->jammed += r->overlap[g] > WADI_DEM_JAMMED * r->pack->diameter;
    }
    return WADI_OK;
}

static WadiStatus begin(Relaxing *r, WadiError *error)
{
    const WadiDemPack *pack = r->pack;
    int32_t first;
    double largest = 0.0;
    WADI_TRY(wadi_particles_init(&r->spheres, error));
    WADI_TRY(wadi_particles_append(&r->spheres, r->sphere_count, &first, error));
    WADI_TRY(WADI_NEW(&r->moved, (size_t)pack->count, "packing", error));
    WADI_TRY(WADI_NEW(&r->turned, (size_t)pack->count, "packing", error));
    WADI_TRY(WADI_NEW(&r->overlap, (size_t)pack->count, "packing", error));
    for (int32_t g = 0; g < pack->count; ++g) {
        place_spheres(r, g);
        largest = fmax(largest, pack->radius[g]);
    }
    for (int32_t n = 0; n < pack->fixed_count; ++n) {
        set_position(r, pack->count * r->each + n, pack->fixed[n]);
        largest = fmax(largest, pack->fixed_radius[n]);
    }
    r->cutoff = 2.0 * largest + SKIN * pack->diameter;
    return WADI_OK;
}

WadiStatus wadi_dem_pack(WadiDemPack *pack, WadiDemPackReport *report, WadiError *error)
{
    const int each = wadi_dem_member_count(pack->shape);
    Relaxing r = {
        .pack = pack, .each = each, .scale = SMALLEST, .sphere_count = pack->count * each + pack->fixed_count
    };
    *report = (WadiDemPackReport){ 0 };
    if (pack->count == 0) {
        return WADI_OK;
    }
    WadiStatus status = begin(&r, error);
    if (status == WADI_OK) {
        status = relax(&r, report, error);
    }
    WADI_DELETE(r.moved, (size_t)pack->count);
    WADI_DELETE(r.turned, (size_t)pack->count);
    WADI_DELETE(r.overlap, (size_t)pack->count);
    wadi_particles_free(&r.spheres);
    wadi_arena_free(&r.memory);
    return status;
}
