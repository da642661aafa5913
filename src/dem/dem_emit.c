/* Emitters of grains: a plug of packed grains moves through the emitter with its velocity, and a grain of the
 * plug is born when it is inside the shape, touches no other and its volume is due. So a jet that leaves at
 * the rate area times velocity is as dense as bulk material, and no grain overlaps another. [theory 13.3] */
#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "dem/dem.h"
#include "dem/list/dem_search.h"
#include "dem/pack/dem_pack.h"

enum { PLUG_SPHERES = 12, PLUG_BODIES = 7 }; /* grains of a plug along its period */

static const double TOUCH = 0.01;   /* diameters that a new grain may overlap others: its radius is fitted */
static const double CROSSING = 0.5; /* of the emitter's thickness that the plug moves between two tests */
enum { CROSSINGS_MAX = 16 };
/* A plug in which more than this part of the grains is jammed is packed anew with wider spacings. */
static const double JAMMED_PART = 0.02, LOOSER = 1.01;
enum { LOOSENINGS_MAX = 12 };

/* A grain of the plug inside the emitter. */
typedef struct Candidate {
    uint64_t rank; /* a hash: the lowest are born first */
    int32_t grain; /* of the plug */
    WadiVec3 x;    /* m, at the end of the step */
} Candidate;

typedef struct Emission {
    const WadiDem *dem;
    const WadiEmitIn *in;
    double begin, end; /* s */
    WadiBox box;       /* of the shape, m */
    WadiVec3 travel;   /* m, of the plug at `end` */
    Candidate *candidate;
    int32_t count;
    WadiCells cells; /* of the particles around the shape */
    int32_t near_count;
} Emission;

/* m: from the centre of the largest grain to its surface. */
static double grain_extent(const WadiDem *dem)
{
    const WadiDemShape shape = (WadiDemShape)wadi_dem_def(dem->context.world->scene)->shape;
    return wadi_dem_largest_radius(dem) * (1.0 + wadi_norm(wadi_dem_member_centre(shape, 0)));
}

/* Packs the grains of the plug at random in a period of `along` lattice spacings. */
static WadiStatus pack_plug(const WadiDem *dem, int along, double spacing, WadiDemPack *pack,
                            WadiDemPackReport *report, WadiError *error)
{
    const uint64_t seed = (uint64_t)dem->context.world->scene->seed;
    for (int32_t g = 0; g < pack->count; ++g) {
        double u[3];
        wadi_random_unit3(seed, (uint64_t)g, WADI_RANDOM_EMIT, u);
        const int32_t x = g % along, y = g / along % along, z = g / (along * along);
        pack->centre[g] = (WadiVec3){ spacing * (x + u[0]), spacing * (y + u[1]), spacing * (z + u[2]) };
        wadi_random_unit3(seed, (uint64_t)g, WADI_RANDOM_TURN, u);
        wadi_dem_random_turn(u, pack->turn[g]);
    }
    pack->period = along * spacing;
    return wadi_dem_pack(pack, report, error);
}

/* As dense as bulk material, or as densely as its grains fit: those that overlap are not born. */
static WadiStatus make_plug(WadiDem *dem, WadiError *error)
{
    const WadiScene *scene = dem->context.world->scene;
    WadiDemPlug *plug = &dem->plug;
    const int along = dem->spheres_each == 1 ? PLUG_SPHERES : PLUG_BODIES;
    static const WadiSolids none = { .domain = { { -INFINITY, -INFINITY, -INFINITY },
                                                 { INFINITY, INFINITY, INFINITY } } };
    const int32_t count = along * along * along;
    double *radius = NULL;
    int32_t *body_of = NULL;
    WADI_TRY(WADI_ARENA_NEW(&plug->memory, &plug->centre, (size_t)count, "plug of grains", error));
    WADI_TRY(WADI_ARENA_NEW(&plug->memory, &plug->turn, (size_t)count, "plug of grains", error));
    WADI_TRY(WADI_ARENA_NEW(&plug->memory, &plug->size, (size_t)count, "plug of grains", error));
    WADI_TRY(WADI_ARENA_NEW(&plug->memory, &radius, (size_t)count, "plug of grains", error));
    WADI_TRY(WADI_ARENA_NEW(&plug->memory, &body_of, (size_t)count, "plug of grains", error));
    for (int32_t g = 0; g < count; ++g) {
        body_of[g] = -1;
        plug->size[g] = (uint8_t)wadi_dem_random_class(dem, (uint32_t)g);
        radius[g] = wadi_dem_radius_of_class(dem, plug->size[g]);
    }
    WadiDemPack pack = { .shape = (WadiDemShape)wadi_dem_def(scene)->shape,
                         .solids = &none,
                         .diameter = dem->diameter,
                         .count = count,
                         .centre = plug->centre,
                         .turn = plug->turn,
                         .radius = radius,
                         .body_of = body_of };
    double spacing = dem->context.world->spacing;
    WadiDemPackReport report;
    WADI_TRY(pack_plug(dem, along, spacing, &pack, &report, error));
    for (int n = 1; n < LOOSENINGS_MAX && report.jammed > JAMMED_PART * count; ++n) {
        spacing *= LOOSER;
        WADI_TRY(pack_plug(dem, along, spacing, &pack, &report, error));
    }
    plug->period = pack.period;
    plug->count = count; /* last: a plug that failed has none */
    return WADI_OK;
}

/* The shape contains a grain of the plug, at x when the step ends, at some time of the step. */
static bool is_inside(const Emission *e, WadiVec3 x)
{
    const WadiVec3 size = wadi_box_size(e->box);
    const WadiVec3 v = wadi_curve_value3(e->in->velocity, e->end);
    const double thin = fmin(size.x, fmin(size.y, size.z)), way = wadi_norm(v) * (e->end - e->begin);
    const int tests = way > CROSSING * thin ? (int)fmin(way / (CROSSING * thin) + 1.0, CROSSINGS_MAX) : 1;
    for (int n = 0; n < tests; ++n) {
        const double before = (e->end - e->begin) * n / tests;
        if (wadi_shape_contains(e->in->shape, wadi_add_scaled(x, v, -before), e->end)) {
            return true;
        }
    }
    return false;
}

/* No sphere of the grain touches a solid or another grain. */
static bool is_free(const Emission *e, const Candidate *c)
{
    const WadiDem *dem = e->dem;
    const WadiParticles *p = dem->context.particles;
    const float *radius = wadi_particles_column(p, dem->radius_column);
    const WadiDemShape shape = (WadiDemShape)wadi_dem_def(dem->context.world->scene)->shape;
    const double own = wadi_dem_radius_of_class(dem, dem->plug.size[c->grain]);
    const double touch = TOUCH * dem->diameter;
    for (int k = 0; k < dem->spheres_each; ++k) {
        const WadiVec3 arm = wadi_scale(wadi_dem_member_centre(shape, k), own);
        const WadiVec3 x = wadi_add(c->x, wadi_dem_turned(dem->plug.turn[c->grain], arm));
        if (e->in->solids != NULL &&
            wadi_solids_distance_within(e->in->solids, x, e->end, own) < own - touch) {
            return false;
        }
        WadiDemCellWalk walk;
        if (e->near_count > 0) {
            wadi_dem_cell_walk_begin(&walk, &e->cells, x, own + wadi_dem_largest_radius(dem));
            for (int32_t j; (j = wadi_dem_cell_walk_next(&walk)) >= 0;) {
                const WadiVec3 d = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
                const double least = own + (double)radius[j] - touch;
                if (wadi_dot(d, d) < least * least) {
                    return false;
                }
            }
        }
    }
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const Candidate *left = a, *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static double at_least(double a, double period)
{
    return ceil(a / period);
}

/* Grains of the plug whose centres are inside the emitter, in the order of their ranks. */
static WadiStatus find_candidates(Emission *e, WadiError *error)
{
    const WadiDemPlug *plug = &e->dem->plug;
    const double l = plug->period;
    const WadiVec3 v = wadi_curve_value3(e->in->velocity, e->end);
    const double way = wadi_norm(v) * (e->end - e->begin);
    const WadiBox box = wadi_box_grown(e->box, way);
    const WadiVec3 size = wadi_box_size(box);
    const double images = (ceil(size.x / l) + 1.0) * (ceil(size.y / l) + 1.0) * (ceil(size.z / l) + 1.0);
    e->count = 0;
    WADI_TRY(WADI_ARENA_NEW(e->dem->context.scratch, &e->candidate, (size_t)(images * plug->count),
                            "candidates of an emitter", error));
    for (int32_t g = 0; g < plug->count; ++g) {
        const WadiVec3 at = wadi_add(plug->centre[g], e->travel), low = wadi_sub(box.min, at);
        const WadiVec3 high = wadi_sub(box.max, at);
        for (double i = at_least(low.x, l); i * l <= high.x; i += 1.0) {
            for (double j = at_least(low.y, l); j * l <= high.y; j += 1.0) {
                for (double k = at_least(low.z, l); k * l <= high.z; k += 1.0) {
                    const WadiVec3 x = wadi_add(at, (WadiVec3){ i * l, j * l, k * l });
                    if (!is_inside(e, x)) {
                        continue;
                    }
                    const uint64_t image = wadi_hash_combine(
                        wadi_hash_combine((uint64_t)(int64_t)i, (uint64_t)(int64_t)j), (uint64_t)(int64_t)k);
                    const uint64_t rank = wadi_random_bits(e->in->seed, wadi_hash_combine(image, (uint64_t)g),
                                                           WADI_RANDOM_EMIT);
                    e->candidate[e->count++] = (Candidate){ rank, g, x };
                }
            }
        }
    }
    qsort(e->candidate, (size_t)e->count, sizeof *e->candidate, by_rank);
    return WADI_OK;
}

/* Cells of the particles that a new grain may touch. */
static WadiStatus find_near(Emission *e, WadiError *error)
{
    const WadiDem *dem = e->dem;
    const WadiParticles *p = dem->context.particles;
    const double largest = wadi_dem_largest_radius(dem);
    const WadiVec3 v = wadi_curve_value3(e->in->velocity, e->end);
    const double way = wadi_norm(v) * (e->end - e->begin);
    const WadiBox box = wadi_box_grown(e->box, way + grain_extent(dem) + largest);
    int32_t *subset = NULL;
    WADI_TRY(
        WADI_ARENA_NEW(dem->context.scratch, &subset, (size_t)p->count, "grains near an emitter", error));
    e->near_count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (wadi_box_contains(box, (WadiVec3){ p->x[i], p->y[i], p->z[i] })) {
            subset[e->near_count++] = i;
        }
    }
    return wadi_cells_build_subset(&e->cells, p, subset, e->near_count, 2.0 * largest, dem->context.scratch,
                                   error);
}

/* Moves the free ones of the candidates to the front, up to `most`; returns their number. */
static int32_t choose(const Emission *e, int64_t most)
{
    int32_t chosen = 0;
    for (int32_t n = 0; n < e->count && chosen < most; ++n) {
        if (is_free(e, &e->candidate[n])) {
            e->candidate[chosen++] = e->candidate[n];
        }
    }
    return chosen;
}

static WadiStatus give_birth(WadiDem *dem, const Emission *e, int32_t count, WadiError *error)
{
    WadiParticles *p = dem->context.particles;
    const WadiVec3 v = wadi_curve_value3(e->in->velocity, e->end);
    int32_t first;
    WADI_TRY(wadi_particles_append(p, (int64_t)count * dem->spheres_each, &first, error));
    uint8_t *size = wadi_particles_column(p, dem->size_column);
    for (int32_t n = 0; n < count; ++n) {
        const Candidate *c = &e->candidate[n];
        for (int k = 0; k < dem->spheres_each; ++k) {
            const int32_t i = first + n + k * count;
            size[i] = dem->plug.size[c->grain];
            p->vx[i] = (float)v.x, p->vy[i] = (float)v.y, p->vz[i] = (float)v.z;
            p->material[i] = e->in->material;
            if (dem->grain_column >= 0) {
                uint32_t *grain = wadi_particles_column(p, dem->grain_column);
                grain[i] = p->id[first + n];
            }
            wadi_emit_record_open_sides(e->in, c->x, p, i);
        }
        wadi_dem_place_spheres(dem, first + n, count, c->x, dem->plug.turn[c->grain]);
    }
    wadi_dem_count_born(dem, first);
    return WADI_OK;
}

/* A height field has no contacts: its particles are born anywhere in the emitter. */
static WadiStatus emit_to_field(WadiDem *dem, const WadiEmitIn *in, const WadiSolverStep *now,
                                WadiEmitState *state, WadiError *error)
{
    const int32_t first = dem->context.particles->count;
    const WadiOverfullRegion *region;
    int64_t count;
    WADI_TRY(wadi_emit_step(in, now->time, now->dt, state, dem->context.particles, &count, &region, error));
    if (count > 0) {
        wadi_dem_born(dem, first);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_emit(void *solver, const WadiEmitIn *in, const WadiSolverStep *now, WadiEmitState *state,
                         double *refused, WadiError *error)
{
    WadiDem *dem = solver;
    *refused = 0.0;
    if (dem->field != NULL) {
        return emit_to_field(dem, in, now, state, error);
    }
    const double each = in->particle_volume;
    const double remaining = (double)in->max_particles - (double)state->emitted;
    state->owed = remaining > 0.0 ? state->owed + wadi_emit_poured(in, now->time, now->time + now->dt) : 0.0;
    const double due = fmin(wadi_emit_due(state->owed, each), remaining);
    if (!(due >= 1.0)) {
        return WADI_OK;
    }
    if (now->time >= in->end) { /* what still waits has no room */
        *refused = state->owed;
        state->owed = 0.0;
        return WADI_OK;
    }
    if (dem->plug.count == 0) {
        WADI_TRY(make_plug(dem, error));
    }
    const double end = fmin(now->time + now->dt, in->end);
    Emission e = { .dem = dem, .in = in, .begin = now->time, .end = end };
    e.box = wadi_shape_bounds(in->shape, end);
    e.travel = wadi_emit_travel(in, end);
    if (!wadi_box_is_empty(e.box) && wadi_is_finite(e.box.min) && wadi_is_finite(e.box.max)) {
        WADI_TRY(find_candidates(&e, error));
        WADI_TRY(find_near(&e, error));
    }
    const int32_t count = choose(&e, (int64_t)due);
    WADI_TRY(give_birth(dem, &e, count, error));
    state->owed -= count * each;
    state->emitted += (uint64_t)count;
    state->tried += (uint64_t)e.count;
    /* What waits is at most what the shape holds. */
    *refused = fmax(0.0, state->owed - (e.count + 1) * each);
    state->owed -= *refused;
    return WADI_OK;
}
