/* New foam, spray and bubbles at fast, colliding and breaking water; new dust at colliding sand. They start
 * in a cylinder along the path of their particle, and move as a point of it. [IAAT12 section 3.4] */
#include <math.h>

#include "core/random.h"
#include "secondary/potential.h"
#include "secondary/secondary.h"

static const double PI = 3.14159265358979324;
/* Volume a second that the wildest material makes, over its own. */
static const double WATER_RATE = 0.3, SAND_RATE = 0.005;
/* Spacings: wide enough that the normals of unevenly spread particles show the surface. */
static const double SUPPORT = 3.0;
enum { MADE_MAX = 100000000 };

typedef struct Maker {
    WadiSecondary *secondary;
    const WadiWorld *world;
    const WadiSecondaryStep *step;
    const WadiFlow *flow;
    bool is_sand;
    double size, life; /* m, diameter; s, mean */
    double per_volume; /* in this frame, of the wildest material, 1/m^3 */
} Maker;

/* Two unit vectors across `along`, which has length 1. */
static void span_disc(WadiVec3 along, WadiVec3 *u, WadiVec3 *w)
{
    WadiVec3 other = fabs(along.x) < 0.7 ? wadi_vec3(1.0, 0.0, 0.0) : wadi_vec3(0.0, 1.0, 0.0);
    *u = wadi_normalized_or(wadi_cross(along, other), wadi_vec3(0.0, 0.0, 1.0));
    *w = wadi_cross(along, *u);
}

/* The k-th new one of a particle; false: there is no room. `seed` is that of the frame. */
static bool make_one(const Maker *m, int32_t particle, int k, uint64_t seed, double potential,
                     WadiSecondaryParticle *made)
{
    const float *v = m->flow->velocity[particle];
    const WadiVec3 velocity = wadi_vec3((double)v[0], (double)v[1], (double)v[2]);
    const double speed = wadi_norm(velocity), spacing = (double)m->flow->cloud.spacing[particle];
    const uint64_t id = wadi_hash_combine(m->flow->cloud.id[particle], (uint64_t)k + 1);
    double at[3], more[3];
    wadi_random_unit3(seed, wadi_hash_combine(id, 1), WADI_RANDOM_SECONDARY, at);
    wadi_random_unit3(seed, wadi_hash_combine(id, 2), WADI_RANDOM_SECONDARY, more);
    WadiVec3 u, w;
    span_disc(wadi_scale(velocity, 1.0 / speed), &u, &w);
    const double r = 0.5 * spacing * sqrt(at[0]), angle = 2.0 * PI * at[1];
    const WadiVec3 across = wadi_add(wadi_scale(u, r * cos(angle)), wadi_scale(w, r * sin(angle)));
    const double back = at[2] * m->step->frame_time;
    made->x = wadi_add_scaled(wadi_add(m->flow->cloud.position[particle], across), velocity, -back);
    /* It spreads: a spacing in the time in which its particle covers one. */
    const WadiVec3 spread = wadi_add_scaled(velocity, across, speed * 0.2 / spacing);
    made->v[0] = (float)spread.x;
    made->v[1] = (float)spread.y;
    made->v[2] = (float)spread.z;
    made->radius = (float)(0.5 * m->size * (0.6 + 0.8 * more[0]));
    made->life = (float)(m->life * (0.5 + more[1]) * (0.5 + 0.5 * potential));
    made->kind = m->is_sand ? WADI_SECONDARY_DUST : WADI_SECONDARY_SPRAY;
    made->material = m->flow->material[particle];
    return wadi_solids_distance(&m->world->solids, made->x, m->step->time, spacing) > 0.0;
}

static WadiStatus make_all(const Maker *m, const float *potential, WadiError *error)
{
    WadiSecondary *secondary = m->secondary;
    const uint64_t seed = wadi_hash_combine((uint64_t)m->world->scene->seed, (uint64_t)m->step->frame);
    /* From what is there alone: the files of the frame before are the state. */
    const size_t old = secondary->list.count;
    uint32_t next_id = old > 0 ? secondary->list.data[old - 1].id + 1 : 0;
    for (int32_t i = 0; i < m->flow->cloud.count; ++i) {
        if (!(potential[i] > 0.0f)) {
            continue;
        }
        const double spacing = (double)m->flow->cloud.spacing[i],
                     wanted = m->per_volume * spacing * spacing * spacing * (double)potential[i];
        const double whole =
            floor(wanted + wadi_random_unit(seed, m->flow->cloud.id[i], WADI_RANDOM_SECONDARY));
        if (whole + (double)secondary->list.count > MADE_MAX) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "more than %d particles of foam or dust; take a smaller secondary.amount or a "
                             "larger secondary.size",
                             MADE_MAX);
        }
        for (int k = 0; k < (int)whole; ++k) {
            WadiSecondaryParticle made;
            if (make_one(m, i, k, seed, (double)potential[i], &made)) {
                made.id = next_id++;
                WADI_TRY(WADI_ARRAY_PUSH(&secondary->list, made, "foam", error));
            }
        }
    }
    return WADI_OK;
}

WadiStatus wadi_secondary_make(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, bool is_sand, WadiArena *arena,
                               WadiError *error)
{
    const WadiSecondaryDef *def = &world->scene->secondary;
    bool picks[256];
    double slow, fast;
    wadi_secondary_speeds(world->scene, is_sand, &slow, &fast);
    wadi_secondary_pick(world->scene, step->time, is_sand, picks);
    WadiFlow flow;
    WADI_TRY(wadi_flow_build(&flow,
                             &(WadiFlowDef){ .after = step->after,
                                             .frame_time = step->frame_time,
                                             .part = 1.0,
                                             .support = SUPPORT,
                                             .picks = picks,
                                             .near_speed = slow },
                             arena, error));
    float *potential;
    WADI_TRY(wadi_secondary_potential(
        &potential, &flow,
        &(WadiPotentialDef){
            .slow = slow, .fast = fast, .is_sand = is_sand, .solids = &world->solids, .time = step->time },
        arena, error));
    const double size = def->size > 0.0 ? def->size : 0.25 * world->spacing;
    const double rate = is_sand ? SAND_RATE * def->dust : WATER_RATE * def->amount;
    Maker maker = { .secondary = secondary,
                    .world = world,
                    .step = step,
                    .flow = &flow,
                    .is_sand = is_sand,
                    .size = size,
                    .life = is_sand ? def->dust_life : def->life,
                    .per_volume = rate * step->frame_time / (PI / 6.0 * size * size * size) };
    return make_all(&maker, potential, error);
}
