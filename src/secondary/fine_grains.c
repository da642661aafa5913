#include "secondary/fine_grains.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "particles/collide.h"

enum { BLOCK = 1024, GRAINS_MAX = 100000000 };

static const double SUPPORT = 2.0; /* spacings */
/* Fraction of a particle's volume that its grains fill, and 3/(4 pi). */
static const double FILL = 0.6, BALL = 0.238732414637843;
/* Steps of an even sequence in the unit cube: powers of the root of t^4 = t + 1. */
static const double EVEN_STEP[3] = { 0.8191725133961645, 0.6710436067037893, 0.5497004779019703 };

void wadi_fine_grains_free(WadiFineGrains *grains)
{
    WADI_ARRAY_FREE(&grains->list);
}

bool wadi_fine_grains_apply(const WadiScene *scene)
{
    bool has_sand = false;
    for (int m = 0; m < scene->material_count; ++m) {
        has_sand = has_sand || scene->materials[m].kind == WADI_MATERIAL_SAND;
    }
    return has_sand && scene->secondary.grains > 0;
}

/* Sand between two frames: particles where they are in the first, in the order of the second. */
typedef struct Sand {
    WadiFlow flow;              /* at the first */
    const WadiVec3 *end;        /* at the second */
    const float (*velocity)[3]; /* there */
    double frame_time;
} Sand;

static WadiStatus find_sand(Sand *sand, const WadiScene *scene, const WadiSecondaryStep *step,
                            WadiArena *arena, WadiError *error)
{
    bool picks[256];
    wadi_secondary_pick(scene, step->time, true, picks);
    WadiFlow end;
    WadiFlowDef def = { .before = step->before,
                        .after = step->after,
                        .frame_time = step->frame_time,
                        .part = step->before != NULL ? 0.0 : 1.0,
                        .support = SUPPORT,
                        .picks = picks };
    WADI_TRY(wadi_flow_build(&sand->flow, &def, arena, error));
    def.part = 1.0;
    WADI_TRY(wadi_flow_collect(&end, &def, arena, error));
    sand->end = end.cloud.position;
    sand->velocity = (const float(*)[3])end.velocity;
    sand->frame_time = step->frame_time;
    return WADI_OK;
}

typedef struct Mover {
    const Sand *sand;
    const WadiWorld *world;
    WadiFineGrain *list;
    int32_t *home; /* per grain: the nearest particle; -1: none is near */
    double t0, t1; /* s */
} Mover;

/* What carries the point; *wetness: the mean of the particles. Returns the nearest of them, or -1. */
static int32_t sum_around(const Sand *sand, WadiVec3 x, WadiCarry *carry, double *wetness)
{
    const WadiFlow *flow = &sand->flow;
    double nearest = INFINITY;
    int32_t home = -1;
    *carry = (WadiCarry){ 0 };
    *wetness = 0.0;
    WadiBinWalk walk = wadi_bins_walk(&flow->bins, (WadiBox){ x, x });
    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
        const WadiVec3 at = wadi_sub(x, span.corner);
        for (int32_t n = span.first; n < span.end; ++n) {
            const float *p = flow->bins.point[n];
            const double r[3] = { (double)p[0] - at.x, (double)p[1] - at.y, (double)p[2] - at.z };
            const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], reach = (double)p[3];
            const double t = 1.0 - square / (reach * reach);
            if (!(t > 0.0)) {
                continue;
            }
            const int32_t i = flow->bins.order[n];
            const WadiVec3 d = wadi_sub(sand->end[i], flow->cloud.position[i]);
            wadi_carry_add(carry, t * t * t, r, (const double[3]){ d.x, d.y, d.z });
            *wetness += t * t * t * (double)flow->wetness[i];
            if (square < nearest) {
                nearest = square;
                home = i;
            }
        }
    }
    *wetness = carry->weight > 0.0 ? *wetness / carry->weight : 0.0;
    return home;
}

/* Outside of solids, along the path. */
static WadiVec3 stop_at_solids(const Mover *m, WadiVec3 from, WadiVec3 to)
{
    const double length = wadi_norm(wadi_sub(to, from)), skin = 1e-3 * m->world->cell_size;
    const WadiSolids *solids = &m->world->solids;
    const double reach = 2.0 * length + 2.0 * skin;
    if (!wadi_solids_are_moving(solids) && wadi_solids_clearance(solids, from, m->t0, reach) >= reach) {
        return to;
    }
    const WadiCollideIn in = { solids, m->t0, m->t1, skin };
    const WadiVec3 v = wadi_scale(wadi_sub(to, from), 1.0 / (m->t1 - m->t0));
    const WadiCollideOut out = wadi_collide_move(&in, from, to, v);
    return out.is_stuck || !wadi_is_finite(out.x) ? to : out.x;
}

static void move_block(void *context, int64_t first, int64_t end)
{
    const Mover *m = context;
    for (int64_t g = first; g < end; ++g) {
        WadiFineGrain *grain = &m->list[g];
        WadiCarry carry;
        double wetness, d[3];
        const int32_t home = sum_around(m->sand, grain->x, &carry, &wetness);
        m->home[g] = home;
        if (home < 0) {
            continue;
        }
        wadi_carry_displacement(&carry, SUPPORT * (double)m->sand->flow.cloud.spacing[home], d);
        const WadiVec3 old = grain->x;
        if (d[0] != 0.0 || d[1] != 0.0 || d[2] != 0.0) {
            grain->x = stop_at_solids(m, old, wadi_add(old, wadi_vec3(d[0], d[1], d[2])));
        }
        const WadiVec3 v = wadi_scale(wadi_sub(grain->x, old), 1.0 / m->sand->frame_time);
        grain->v[0] = (float)v.x;
        grain->v[1] = (float)v.y;
        grain->v[2] = (float)v.z;
        grain->wetness = (float)wetness;
    }
}

static void move_grains(WadiFineGrains *grains, const Mover *mover, int32_t *count, int per_particle)
{
    WadiFineGrain *list = grains->list.data;
    wadi_parallel_for((int64_t)grains->list.count, BLOCK, move_block, (void *)mover);
    size_t kept = 0;
    for (size_t g = 0; g < grains->list.count; ++g) {
        const int32_t home = mover->home[g];
        /* Where particles have gone, or grains crowd, the newest go. */
        if (home >= 0 && count[home] < 2 * per_particle) {
            count[home] += 1;
            list[kept++] = list[g];
        }
    }
    grains->list.count = kept;
}

/* The k-th grain of a particle: in the cube that the particle fills. */
static WadiFineGrain seed_one(const Sand *sand, int32_t i, int k, int per_particle, uint64_t seed)
{
    const WadiCloud *cloud = &sand->flow.cloud;
    const double spacing = (double)cloud->spacing[i];
    double u[3];
    wadi_random_unit3(seed, cloud->id[i], WADI_RANDOM_GRAIN, u);
    double at[3];
    for (int a = 0; a < 3; ++a) {
        const double place = u[a] + k * EVEN_STEP[a];
        at[a] = spacing * (place - floor(place) - 0.5);
    }
    WadiFineGrain grain = { .x = wadi_add(sand->end[i], wadi_vec3(at[0], at[1], at[2])),
                            .radius = (float)(spacing * cbrt(BALL * FILL / per_particle)),
                            .wetness = sand->flow.wetness[i],
                            .material = sand->flow.material[i] };
    memcpy(grain.v, sand->velocity[i], sizeof grain.v);
    return grain;
}

/* Particles with less than half of their grains get the others: new ones, and where sand has spread. */
static WadiStatus seed_grains(WadiFineGrains *grains, const Sand *sand, const WadiWorld *world,
                              const WadiSecondaryStep *step, const int32_t *count, WadiError *error)
{
    const int per_particle = world->scene->secondary.grains;
    const uint64_t seed = wadi_hash_combine((uint64_t)world->scene->seed, (uint64_t)step->frame);
    const size_t old = grains->list.count;
    uint32_t id = old > 0 ? grains->list.data[old - 1].id + 1 : 0;
    if ((double)sand->flow.cloud.count * per_particle > GRAINS_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "more than %d fine grains; take a smaller secondary.grains", GRAINS_MAX);
    }
    for (int32_t i = 0; i < sand->flow.cloud.count; ++i) {
        for (int k = count[i]; 2 * count[i] < per_particle && k < per_particle; ++k) {
            WadiFineGrain grain = seed_one(sand, i, k, per_particle, seed);
            if (wadi_solids_distance(&world->solids, grain.x, step->time, (double)grain.radius) > 0.0) {
                grain.id = id++;
                WADI_TRY(WADI_ARRAY_PUSH(&grains->list, grain, "fine grains", error));
            }
        }
    }
    return WADI_OK;
}

WadiStatus wadi_fine_grains_step(WadiFineGrains *grains, const WadiWorld *world,
                                 const WadiSecondaryStep *step, WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_arena_reset(arena, error));
    Sand sand;
    int32_t *count;
    WADI_TRY(find_sand(&sand, world->scene, step, arena, error));
    const size_t particles = (size_t)sand.flow.cloud.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &count, particles, "fine grains of particles", error));
    memset(count, 0, particles * sizeof *count);
    if (step->before == NULL) {
        grains->list.count = 0;
    } else {
        Mover mover = { .sand = &sand,
                        .world = world,
                        .list = grains->list.data,
                        .t0 = step->time - step->frame_time,
                        .t1 = step->time };
        WADI_TRY(WADI_ARENA_NEW(arena, &mover.home, grains->list.count, "fine grains", error));
        move_grains(grains, &mover, count, world->scene->secondary.grains);
    }
    return seed_grains(grains, &sand, world, step, count, error);
}

WadiStatus wadi_fine_grains_save(const WadiFineGrains *grains, WadiState *state, WadiError *error)
{
    const size_t count = grains->list.count;
    double *x;
    float *v, *radius, *wetness;
    uint32_t *id;
    uint8_t *material;
    wadi_state_clear(state);
    WADI_TRY(wadi_state_add(state, "position", WADI_TYPE_F64, 3, count, (void **)&x, error));
    WADI_TRY(wadi_state_add(state, "velocity", WADI_TYPE_F32, 3, count, (void **)&v, error));
    WADI_TRY(wadi_state_add(state, "id", WADI_TYPE_U32, 1, count, (void **)&id, error));
    WADI_TRY(wadi_state_add(state, "material", WADI_TYPE_U8, 1, count, (void **)&material, error));
    WADI_TRY(wadi_state_add(state, "radius", WADI_TYPE_F32, 1, count, (void **)&radius, error));
    WADI_TRY(wadi_state_add(state, "wetness", WADI_TYPE_F32, 1, count, (void **)&wetness, error));
    for (size_t i = 0; i < count; ++i) {
        const WadiFineGrain *grain = &grains->list.data[i];
        x[3 * i] = grain->x.x;
        x[3 * i + 1] = grain->x.y;
        x[3 * i + 2] = grain->x.z;
        memcpy(v + 3 * i, grain->v, sizeof grain->v);
        id[i] = grain->id;
        material[i] = grain->material;
        radius[i] = grain->radius;
        wetness[i] = grain->wetness;
    }
    return WADI_OK;
}

WadiStatus wadi_fine_grains_load(WadiFineGrains *grains, const WadiState *state, WadiError *error)
{
    const WadiStateArray *x, *v, *id, *material, *radius, *wetness;
    WADI_TRY(wadi_state_expect(state, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    const size_t count = x->count;
    WADI_TRY(wadi_state_expect(state, "velocity", WADI_TYPE_F32, 3, count, &v, error));
    WADI_TRY(wadi_state_expect(state, "id", WADI_TYPE_U32, 1, count, &id, error));
    WADI_TRY(wadi_state_expect(state, "material", WADI_TYPE_U8, 1, count, &material, error));
    WADI_TRY(wadi_state_expect(state, "radius", WADI_TYPE_F32, 1, count, &radius, error));
    WADI_TRY(wadi_state_expect(state, "wetness", WADI_TYPE_F32, 1, count, &wetness, error));
    WADI_TRY(WADI_ARRAY_RESERVE(&grains->list, count, "fine grains", error));
    grains->list.count = count;
    for (size_t i = 0; i < count; ++i) {
        const double *at = (const double *)x->data + 3 * i;
        WadiFineGrain *grain = &grains->list.data[i];
        *grain = (WadiFineGrain){ .x = wadi_vec3(at[0], at[1], at[2]),
                                  .radius = ((const float *)radius->data)[i],
                                  .wetness = ((const float *)wetness->data)[i],
                                  .id = ((const uint32_t *)id->data)[i],
                                  .material = ((const uint8_t *)material->data)[i] };
        memcpy(grain->v, (const float *)v->data + 3 * i, sizeof grain->v);
        if (!wadi_is_finite(grain->x) || !(grain->radius > 0.0f) || (i > 0 && grain->id <= grain[-1].id)) {
            grains->list.count = 0;
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "grain %u: its position, radius or place in the list is wrong", grain->id);
        }
    }
    return WADI_OK;
}
