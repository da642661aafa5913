/* Particles of different sizes: every few steps target sizes are computed, and particles are split, merged
 * and share mass to follow them. Particles beside a free surface are left as they are, since changes would
 * be seen there. [T10; theory 11.9] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/cbrt.h"
#include "sph/adapt/sph_target.h"
#include "sph/published/sph_printed.h"
#include "sph/published/sph_printed_resample.h"
#include "sph/sph.h"
#include "world/water.h"

enum { BLOCK = 1024, LEDGER_NUMBERS = 10 };

/* Depth below the free surface, in sizes of the particle, above which it takes no part. */
static const float LEAST_DEPTH = 1.5f;
/* Part of the particles that may have an event of a kind at a time: with 0.05 the pressure is noisier for
 * longer after splits. */
static const double PART_MAX = 0.02;
static const double NEAREST = 0.3; /* sizes from a solid: what would come nearer by an event stays */

/* Passes before the first step: a merge doubles a volume, and the largest is 64. */
enum { START_PASSES = 8 };

/* The column `requests`: how many passes in a row requested an event, and of which kind. */
enum { REQUEST_COUNT = 0x7f, REQUEST_MERGE = 0x80 };

WadiStatus wadi_sph_adapt_create(WadiSph *sph, WadiError *error)
{
    WadiParticles *p = sph->context.particles;
    sph->volume_column = -1;
    if (!wadi_sph_def(sph->context.world->scene)->is_adaptive) {
        return WADI_OK;
    }
    WADI_TRY(wadi_particles_add_column(p, "volume", WADI_TYPE_F64, &sph->volume_column, error));
    WADI_TRY(wadi_particles_add_column(p, "radius", WADI_TYPE_F32, &sph->radius_column, error));
    wadi_particles_show_column(p, sph->radius_column);
    return wadi_particles_add_column(p, "requests", WADI_TYPE_U8, &sph->requests_column, error);
}

typedef struct Radii {
    const WadiSph *sph;
    int32_t first;
} Radii;

static void radius_block(void *context, int64_t first, int64_t end)
{
    const Radii *r = context;
    const WadiSph *sph = r->sph;
    const WadiParticles *p = sph->context.particles;
    const double *volume = wadi_particles_column(p, sph->volume_column);
    float *radius = wadi_particles_column(p, sph->radius_column);
    const WadiScene *scene = sph->context.world->scene;
    const double unit = wadi_water_density(scene);
    for (int64_t i = r->first + first; i < r->first + end; ++i) {
        const WadiMaterial *material = &scene->materials[p->material[i]];
        double full = volume[i];
        if (sph->has_pores && !sph->materials.is_sand[p->material[i]]) {
            const double *water = wadi_particles_column(p, sph->water_column);
            full = water[i] * unit / material->density;
        }
        radius[i] = (float)(0.5 * sph->spacing * wadi_cbrt(full));
    }
}

static void set_radii(const WadiSph *sph, int32_t first)
{
    Radii radii = { sph, first };
    if (sph->volume_column >= 0) {
        wadi_parallel_for(sph->context.particles->count - first, BLOCK, radius_block, &radii);
    }
}

void wadi_sph_adapt_born(void *solver, int32_t first)
{
    const WadiSph *sph = solver;
    if (sph->volume_column < 0) {
        return;
    }
    double *volume = wadi_particles_column(sph->context.particles, sph->volume_column);
    for (int32_t i = first; i < sph->context.particles->count; ++i) {
        volume[i] = 1.0;
    }
    set_radii(sph, first);
}

double wadi_sph_smallest_size(const WadiSph *sph)
{
    const WadiParticles *p = sph->context.particles;
    if (sph->volume_column < 0 || p->count == 0) {
        return 1.0;
    }
    const double *volume = wadi_particles_column(p, sph->volume_column);
    double least = volume[0];
    for (int32_t i = 1; i < p->count; ++i) {
        least = volume[i] < least ? volume[i] : least;
    }
    return wadi_cbrt(fmin(fmax(least, 0.5), 64.0));
}

/* Arrays by particle of the store. */
typedef struct Pass {
    WadiSph *sph;
    WadiSphTarget target;
    uint8_t *is_sand, *may;
    const double *volume;
    uint8_t *requests;
    int wait;     /* passes in a row that request an event before it is done */
    int32_t most; /* events of each kind */
} Pass;

static WadiStatus begin(Pass *s, WadiError *error)
{
    const WadiParticles *p = s->sph->context.particles;
    WadiArena *arena = s->sph->context.scratch;
    const size_t count = (size_t)p->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &s->target.split_above, count, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->target.merge_below, count, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->target.depth, count, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_sand, count, "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->may, count, "particle sizes", error));
    s->volume = wadi_particles_column(p, s->sph->volume_column);
    s->requests = wadi_particles_column(p, s->sph->requests_column);
    for (size_t i = 0; i < count; ++i) {
        s->is_sand[i] = s->sph->materials.is_sand[p->material[i]];
    }
    return WADI_OK;
}

/* Counts requests in a row, and allows the events that were requested often enough. */
static void allow_block(void *context, int64_t first, int64_t end)
{
    const Pass *s = context;
    for (int64_t i = first; i < end; ++i) {
        const bool splits = s->volume[i] > (double)s->target.split_above[i];
        const bool merges = s->volume[i] <= (double)s->target.merge_below[i];
        const int kind = merges ? REQUEST_MERGE : 0, before = s->requests[i];
        const int count = (before & REQUEST_MERGE) == kind ? before & REQUEST_COUNT : 0;
        const int now = !splits && !merges ? 0 : count < REQUEST_COUNT ? count + 1 : count;
        const bool is_deep = s->target.depth[i] > LEAST_DEPTH;
        s->requests[i] = (uint8_t)(now == 0 ? 0 : now | kind);
        s->may[i] = 0;
        if (is_deep) {
            s->may[i] = WADI_SPH_MAY_SHARE;
            s->may[i] |= now < s->wait ? 0 : merges ? WADI_SPH_MAY_MERGE : WADI_SPH_MAY_SPLIT;
        }
    }
}

static WadiStatus find_target(const Pass *s, double time, WadiError *error)
{
    const WadiSph *sph = s->sph;
    const WadiSphAdaptDef *def = &wadi_sph_def(sph->context.world->scene)->adapt;
    const WadiCameraDef *camera = &sph->context.world->scene->render.camera;
    const WadiVec3 eye = camera->is_given ? wadi_curve_value3(&camera->from, time) : wadi_vec3(0.0, 0.0, 0.0);
    const double dx = sph->spacing;
    WadiSphTargetIn in = { .body = { .particles = sph->context.particles,
                                     .volume = s->volume,
                                     .spacing = dx,
                                     .solids = &sph->context.world->solids,
                                     .time = time },
                           .is_sand = s->is_sand,
                           .split = def->split,
                           .merge = def->merge,
                           .largest = def->largest,
                           .near = { .colliders = def->colliders * dx,
                                     .interface = def->interface * dx,
                                     .surface = def->surface * dx,
                                     .points = { { def->point, def->at }, { def->camera, eye } } } };
    if (wadi_sph_is_published(sph)) { /* by the local feature size alone */
        in.near = (WadiSphNear){ -1.0, -1.0, -1.0, { { -1.0, def->at }, { -1.0, eye } } };
    }
    return wadi_sph_target(&s->target, &in, sph->context.scratch, error);
}

/* Columns that add up and columns of which the mean counts. */
static void set_columns(const WadiSph *sph, WadiSphResampleIn *in)
{
    in->means[in->mean_count++] = sph->pressure_column;
    if (sph->materials.has_water) {
        in->means[in->mean_count++] = sph->shift_column;
    }
    for (int c = 0; c < WADI_SPH_STRESSES && sph->materials.has_sand; ++c) {
        in->means[in->mean_count++] = sph->stress_column[c];
    }
    for (int a = 0; a < 3 && sph->materials.has_sand; ++a) {
        in->means[in->mean_count++] = sph->wall_column + a;
    }
    if (sph->has_pores) {
        in->means[in->mean_count++] = sph->wetness_column;
        in->means[in->mean_count++] = sph->pore_column;
        in->sums[in->sum_count++] = sph->water_column;
        in->sums[in->sum_count++] = sph->film_column;
    }
}

/* By material: of a unit of volume, without what the column of water has. */
static void set_own_masses(const WadiSph *sph, double own_mass[WADI_MATERIALS_MAX])
{
    const WadiScene *scene = sph->context.world->scene;
    const double unit = wadi_water_density(scene);
    for (int m = 0; m < sph->materials.count; ++m) {
        const bool is_column = sph->has_pores && !sph->materials.is_sand[m];
        own_mass[m] = is_column ? 0.0 : scene->materials[m].density / unit;
    }
}

static WadiStatus resample_as_printed(const Pass *s, double time, WadiError *error)
{
    WadiSph *sph = s->sph;
    const double largest = wadi_sph_def(sph->context.world->scene)->adapt.largest;
    double own_mass[WADI_MATERIALS_MAX];
    set_own_masses(sph, own_mass);
    const WadiSphPrintedResampleIn in = { .particles = sph->context.particles,
                                          .own_mass = own_mass,
                                          .volume_column = sph->volume_column,
                                          .water_column = sph->has_pores ? sph->water_column : -1,
                                          .spacing = sph->spacing,
                                          .support = WADI_SPH_PRINTED_SUPPORT * sph->spacing,
                                          .solids = &sph->context.world->solids,
                                          .time = time,
                                          .largest = largest * largest * largest,
                                          .split_above = s->target.split_above,
                                          .merge_below = s->target.merge_below };
    return wadi_sph_printed_resample(&in, &sph->ledger.splits, &sph->ledger.merges, sph->context.scratch,
                                     error);
}

static WadiStatus resample(const Pass *s, double time, WadiError *error)
{
    WadiSph *sph = s->sph;
    const WadiScene *scene = sph->context.world->scene;
    const double largest = wadi_sph_def(scene)->adapt.largest;
    double own_mass[WADI_MATERIALS_MAX];
    set_own_masses(sph, own_mass);
    WadiSphResampleIn in = { .particles = sph->context.particles,
                             .first = sph->sleep.count,
                             .own_mass = own_mass,
                             .volume_column = sph->volume_column,
                             .spacing = sph->spacing,
                             .solids = &sph->context.world->solids,
                             .nearest = NEAREST,
                             .time = time,
                             .largest = largest * largest * largest,
                             .split_above = s->target.split_above,
                             .merge_below = s->target.merge_below,
                             .may = s->may,
                             .most = s->most };
    set_columns(sph, &in);
    return wadi_sph_resample(&in, &sph->ledger, sph->context.scratch, error);
}

static WadiStatus run_pass(Pass *s, double time, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(s->sph->context.scratch);
    WADI_TRY(begin(s, error));
    WADI_TRY(find_target(s, time, error));
    wadi_parallel_for(s->sph->context.particles->count, BLOCK, allow_block, s);
    WADI_TRY(wadi_sph_is_published(s->sph) ? resample_as_printed(s, time, error) : resample(s, time, error));
    wadi_arena_release(s->sph->context.scratch, mark);
    return WADI_OK;
}

WadiStatus wadi_sph_adapt_bodies(WadiSph *sph, double time, WadiError *error)
{
    Pass s = { .sph = sph, .wait = 1, .most = INT32_MAX };
    const WadiSphLedger *ledger = &sph->ledger;
    if (sph->volume_column < 0 || sph->steps > 0) {
        return WADI_OK;
    }
    for (int n = 0; n < START_PASSES; ++n) {
        const int64_t events = ledger->merges + ledger->splits + ledger->shares;
        WADI_TRY(run_pass(&s, time, error));
        if (ledger->merges + ledger->splits + ledger->shares == events) {
            break;
        }
    }
    set_radii(sph, 0);
    return WADI_OK;
}

WadiStatus wadi_sph_adapt(WadiSph *sph, double time, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    const WadiSphAdaptDef *def = &wadi_sph_def(sph->context.world->scene)->adapt;
    if (sph->steps % def->interval == 0 && sph->sleep.count < p->count) {
        Pass s = { .sph = sph, .wait = def->wait, .most = 1 + (int32_t)(PART_MAX * p->count) };
        WADI_TRY(run_pass(&s, time, error));
    }
    set_radii(sph, sph->sleep.count);
    return WADI_OK;
}

void wadi_sph_report_resampling(const void *solver, WadiResampling *out)
{
    const WadiSph *sph = solver;
    const WadiSphLedger *ledger = &sph->ledger;
    const double mass = wadi_water_density(sph->context.world->scene) * sph->context.world->particle_volume;
    *out = (WadiResampling){ .is_on = sph->volume_column >= 0,
                             .splits = ledger->splits,
                             .merges = ledger->merges,
                             .shares = ledger->shares,
                             .spin = wadi_scale(ledger->spin, mass),
                             .energy = mass * ledger->energy };
}

WadiStatus wadi_sph_adapt_save(const WadiSph *sph, WadiState *state, WadiError *error)
{
    const WadiSphLedger *l = &sph->ledger;
    const double numbers[LEDGER_NUMBERS] = { (double)l->splits, (double)l->merges, (double)l->shares,
                                             l->carried.x,      l->carried.y,      l->carried.z,
                                             l->spin.x,         l->spin.y,         l->spin.z,
                                             l->energy };
    return sph->volume_column < 0
               ? WADI_OK
               : wadi_state_put(state, "sph_sizes", WADI_TYPE_F64, LEDGER_NUMBERS, 1, numbers, error);
}

/* Volumes of a checkpoint are divided by. */
static WadiStatus check_volumes(const WadiSph *sph, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    const double *volume = wadi_particles_column(p, sph->volume_column);
    for (int32_t i = 0; i < p->count; ++i) {
        if (!(volume[i] >= 0.01 && volume[i] <= 1000.0)) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "particle %u has the volume %g in the checkpoint; resume from another one",
                             (unsigned)p->id[i], volume[i]);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_sph_adapt_load(WadiSph *sph, const WadiState *state, WadiError *error)
{
    const WadiStateArray *array;
    if (sph->volume_column < 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_expect(state, "sph_sizes", WADI_TYPE_F64, LEDGER_NUMBERS, 1, &array, error));
    const double *n = array->data;
    for (int k = 0; k < LEDGER_NUMBERS; ++k) {
        if (!(fabs(n[k]) < 1e15) || (k < 3 && n[k] < 0.0)) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "the counts of splits and merges in the checkpoint are damaged; resume from "
                             "another one");
        }
    }
    sph->ledger = (WadiSphLedger){ .splits = (int64_t)n[0],
                                   .merges = (int64_t)n[1],
                                   .shares = (int64_t)n[2],
                                   .carried = wadi_vec3(n[3], n[4], n[5]),
                                   .spin = wadi_vec3(n[6], n[7], n[8]),
                                   .energy = n[9] };
    return check_volumes(sph, error);
}
