/* The height field below the grains of mode `surface_flow`: creation, evaluation, checkpoints. */
#include "dem/dem_surface.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "dem/contact/dem_forces.h"
#include "dem/dem.h"
#include "math/exp.h"

enum { BLOCK = 4096, NUMBERS = 8 }; /* NUMBERS: of a checkpoint */
/* sqrt(d / g): time in which grains that have just woken lose their speed. They are pressed together as when
 * they froze, and the load on them may have changed since: what is too much is lost as heat, not as jumps. */
static const double DAMPING = 0.05;
static const double BALANCED = 0.5; /* g: acceleration below which grains may freeze */

WadiStatus wadi_dem_surface_create(WadiDem *dem, WadiError *error)
{
    const WadiWorld *world = dem->context.world;
    WadiParticles *p = dem->context.particles;
    WadiDemSurface *s = NULL;
    WadiDemColumns *columns = NULL;
    WADI_TRY(WADI_NEW(&s, 1, "surface flow", error));
    dem->surface = s;
    WADI_TRY(wadi_particles_add_column(p, "flow_state", WADI_TYPE_U8, &s->state_column, error));
    WADI_TRY(wadi_particles_add_vector(p, "flow_mark", WADI_TYPE_F32, &s->mark_column, error));
    const WadiDemColumnsIn in = { .solids = &world->solids,
                                  .box = world->scene->domain,
                                  .width = wadi_dem_def(world->scene)->column_width * dem->diameter,
                                  .least = dem->diameter };
    WADI_TRY(wadi_dem_columns_create(&columns, &in, error));
    s->flow.columns = columns;
    WADI_TRY(WADI_NEW(&s->frozen_count, (size_t)columns->count, "grains of columns", error));
    WADI_TRY(WADI_NEW(&s->quiescent, (size_t)columns->count, "quiescent columns", error));
    wadi_dem_flow_init(&s->flow, columns, dem->diameter, wadi_dem_repose(world->scene, 0.0),
                       dem->diameter / (dem->unit_time * dem->unit_time));
    s->flow.least_depth = wadi_dem_flow_depth(world->scene) * dem->diameter;
    return WADI_OK;
}

void wadi_dem_surface_destroy(WadiDemSurface *surface)
{
    if (surface != NULL) {
        const size_t gaps = surface->flow.columns != NULL ? (size_t)surface->flow.columns->count : 0;
        WADI_DELETE(surface->frozen_count, gaps);
        WADI_DELETE(surface->quiescent, gaps);
        wadi_dem_columns_destroy(surface->flow.columns);
        WADI_DELETE(surface, 1);
    }
}

/* Frozen grains of the gaps: their number, and where not NULL the lowest and the highest position, m. */
static void count_frozen(const WadiDem *dem, int32_t *frozen_count, double *low, double *high)
{
    const WadiDemColumns *c = dem->surface->flow.columns;
    const WadiParticles *p = dem->context.particles;
    memset(frozen_count, 0, (size_t)c->count * sizeof(*frozen_count));
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
        const int32_t gap = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
        if (gap < 0) {
            continue;
        }
        if (low != NULL) {
            low[gap] = frozen_count[gap] > 0 ? fmin(low[gap], p->z[i]) : p->z[i];
            high[gap] = frozen_count[gap] > 0 ? fmax(high[gap], p->z[i]) : p->z[i];
        }
        frozen_count[gap] += 1;
    }
}

bool wadi_dem_surface_is_frozen(const WadiDem *dem)
{
    const WadiDemSurface *s = dem->surface;
    const WadiParticles *p = dem->context.particles;
    return p->count > 0 && dem->sleep.count == p->count && s->known_count == p->count &&
           s->known_next_id == p->next_id;
}

void wadi_dem_surface_wake(WadiDem *dem)
{
    WadiDemSurface *s = dem->surface;
    const WadiDemColumns *c = s->flow.columns;
    uint8_t *state = wadi_particles_column(dem->context.particles, s->state_column);
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        state[i] = WADI_DEM_WOKEN;
    }
    memcpy(c->height, c->floor, (size_t)c->count * sizeof(*c->height));
    memset(s->frozen_count, 0, (size_t)c->count * sizeof(*s->frozen_count));
    memset(s->quiescent, 0, (size_t)c->count);
    s->damping = WADI_DEM_WOKEN + 1;
    dem->sleep.count = 0;
    dem->is_set_changed = dem->is_stale = true;
}

void wadi_dem_surface_recount(WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    const uint8_t *state = wadi_particles_column(p, dem->surface->state_column);
    if (dem->known == p->count) {
        return;
    }
    int32_t low = 0, high = p->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (state[middle] == WADI_DEM_FROZEN) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    dem->sleep.count = low;
    dem->is_set_changed = true;
}

/* Frozen sand of the gaps, in scratch. */
typedef struct Frozen {
    int32_t *frozen_count;
    double *low, *high; /* m, of positions */
    double until;       /* s: no evaluation is later than the next after it */
} Frozen;

static WadiVec3 axis_of(const WadiDemColumns *c, int32_t gap, double z)
{
    double begin[2], end[2];
    for (int a = 0; a < 2; ++a) {
        wadi_dem_columns_span(c, wadi_dem_columns_of_gap(c, gap), a, &begin[a], &end[a]);
    }
    return (WadiVec3){ 0.5 * (begin[0] + end[0]), 0.5 * (begin[1] + end[1]), z };
}

/* A solid moves near the frozen sand of a gap before the next evaluation. */
static bool is_disturbed(const WadiDem *dem, const Frozen *frozen, int32_t gap, double time)
{
    const WadiDemColumns *c = dem->surface->flow.columns;
    const double half = 0.5 * (frozen->high[gap] - frozen->low[gap]);
    const double radius = half + c->wx + c->wy + 3.0 * dem->diameter;
    return frozen->frozen_count[gap] > 0 &&
           wadi_world_disturbs(dem->context.world, axis_of(c, gap, frozen->low[gap] + half), radius, time,
                               frozen->until);
}

/* Whether the solid between a gap and the next one above it in its column has moved away. */
static bool is_open_above(const WadiDem *dem, int32_t gap, double time)
{
    const WadiDemColumns *c = dem->surface->flow.columns;
    if (c->is_single || gap + 1 >= c->first[wadi_dem_columns_of_gap(c, gap) + 1]) {
        return false;
    }
    const WadiVec3 x = axis_of(c, gap, 0.5 * (c->ceiling[gap] + c->floor[gap + 1]));
    return wadi_solids_distance(&dem->context.world->solids, x, time, dem->diameter) >= 0.0;
}

/* The columns are vertical: they hold sand at rest if gravity is, up to the margin of theta_0. */
static bool is_vertical(const WadiDem *dem, double time)
{
    const WadiVec3 g = wadi_world_gravity(dem->context.world, time);
    return sqrt(g.x * g.x + g.y * g.y) <= -g.z * tan(WADI_DEM_FLOW_MARGIN);
}

/* Gaps that wake: all when gravity or a force changes or gravity is not vertical, those near a solid that
 * moves, and those that lost frozen grains. NULL: none. `opens`: as in dem_flow.h. */
static WadiStatus find_disturbed(WadiDem *dem, double time, uint8_t **disturbed, uint8_t **opens,
                                 WadiError *error)
{
    const WadiDemSurface *s = dem->surface;
    const WadiDemColumns *c = s->flow.columns;
    const WadiWorld *world = dem->context.world;
    const WadiParticles *p = dem->context.particles;
    WadiArena *scratch = dem->context.scratch;
    const size_t gaps = (size_t)c->count;
    const int64_t born = (int64_t)p->next_id - (int64_t)s->known_next_id;
    const bool has_removals = s->known_count + born != p->count;
    /* The next evaluation is after two intervals at the latest, and not in the first step of a frame. */
    Frozen frozen = { .until = time + 2.0 * s->flow.interval + 3.0 * wadi_dem_contact_step(dem, 0.0) };
    const bool is_steady = wadi_world_is_steady(world, time, frozen.until) && is_vertical(dem, time);
    const bool is_moving = wadi_solids_are_moving(&world->solids);
    *disturbed = *opens = NULL;
    if (is_steady && !is_moving && !has_removals) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, disturbed, gaps, "disturbed columns", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, opens, gaps, "disturbed columns", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &frozen.frozen_count, gaps, "disturbed columns", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &frozen.low, gaps, "disturbed columns", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &frozen.high, gaps, "disturbed columns", error));
    count_frozen(dem, frozen.frozen_count, frozen.low, frozen.high);
    for (int32_t i = 0; i < c->count; ++i) {
        (*disturbed)[i] = !is_steady || frozen.frozen_count[i] < s->frozen_count[i] ||
                          (is_moving && is_disturbed(dem, &frozen, i, time));
        (*opens)[i] = is_moving && is_open_above(dem, i, time);
    }
    for (int32_t i = 0; i + 1 < c->count; ++i) {
        (*disturbed)[i + 1] = (*disturbed)[i + 1] != 0 || ((*opens)[i] != 0 && (*disturbed)[i] != 0);
    }
    return WADI_OK;
}

/* Grains that are smaller than they will be count as moving: frozen, or below frozen ones, they would be
 * pressed into their neighbours. */
static void unsettle_growing(const WadiDem *dem, float *mark)
{
    const WadiParticles *p = dem->context.particles;
    const int32_t end = dem->has_growing ? dem->grains.count : 0;
    for (int32_t i = dem->sleep.count; i < end && i < p->count; ++i) {
        if ((double)dem->grains.shift[i][3] < 0.999 * wadi_dem_radius_of(dem, i)) {
            mark[i] = 1e6f;
        }
    }
}

typedef struct Balance {
    const WadiDem *dem;
    WadiVec3 gravity;
    uint8_t *is_unbalanced;
} Balance;

static void balance_block(void *context, int64_t first, int64_t end)
{
    const Balance *balance = context;
    const WadiDem *dem = balance->dem;
    const double g = wadi_norm(balance->gravity);
    for (int64_t n = first; n < end; ++n) {
        const int32_t i = (int32_t)n + dem->list.pairs.first;
        WadiF8 load;
        wadi_dem_load_of(&dem->grains, &dem->list.pairs, i, &load);
        const double m = (double)dem->mass[i];
        const WadiVec3 a = { (double)load[0] / m, (double)load[1] / m, (double)load[2] / m };
        balance->is_unbalanced[i] = wadi_norm(wadi_add(a, balance->gravity)) > BALANCED * g;
    }
}

/* Grains of several spheres: all spheres of a grain count as the whole does, since contacts accelerate that.
 * A frozen sphere holds the others of its grain. */
static void balance_bodies(const Balance *balance)
{
    const WadiDem *dem = balance->dem;
    const double g = wadi_norm(balance->gravity);
    for (int32_t b = 0; b < dem->bodies.count; ++b) {
        const WadiDemBody *body = &dem->bodies.body[b];
        const int32_t *member = &dem->bodies.member[body->first];
        WadiVec3 a = balance->gravity;
        for (int32_t k = 0; k < body->count; ++k) {
            WadiF8 load;
            wadi_dem_load_of(&dem->grains, &dem->list.pairs, member[k], &load);
            const WadiVec3 force = { (double)load[0], (double)load[1], (double)load[2] };
            a = wadi_add(a, wadi_scale(force, 1.0 / body->mass));
        }
        const bool is_unbalanced = body->anchor < 0 && wadi_norm(a) > BALANCED * g;
        for (int32_t k = 0; k < body->count; ++k) {
            balance->is_unbalanced[member[k]] = is_unbalanced;
        }
    }
}

bool wadi_dem_surface_has_loads(const WadiDem *dem)
{
    return dem->known == dem->context.particles->count && dem->grains.count > 0 &&
           dem->steps_since_list > 0 && dem->list.pairs.first == dem->sleep.count;
}

/* Grains that the forces of the last step accelerate do not freeze: they would wake under them. Without a
 * step since the last change all count as such. */
static WadiStatus find_unbalanced(const WadiDem *dem, double time, uint8_t **is_unbalanced, WadiError *error)
{
    const int32_t count = dem->context.particles->count;
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, is_unbalanced, (size_t)count, "balance of grains", error));
    memset(*is_unbalanced, 1, (size_t)count);
    Balance balance = { .dem = dem,
                        .gravity = wadi_curve_value3(&dem->context.world->scene->gravity, time),
                        .is_unbalanced = *is_unbalanced };
    if (wadi_dem_surface_has_loads(dem)) {
        wadi_parallel_for(dem->grains.count - dem->list.pairs.first, BLOCK, balance_block, &balance);
        balance_bodies(&balance);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_surface_sort(WadiDem *dem, WadiError *error)
{
    WadiParticles *p = dem->context.particles;
    const uint8_t *state = wadi_particles_column(p, dem->surface->state_column);
    float *omega[3];
    int32_t *order = NULL, at = 0;
    for (int c = 0; c < 3; ++c) {
        omega[c] = wadi_particles_column(p, dem->angular_velocity_column + c);
    }
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &order, (size_t)p->count, "order of grains", error));
    for (int32_t i = 0; i < p->count; ++i) {
        if (state[i] == WADI_DEM_FROZEN) {
            order[at++] = i;
            p->vx[i] = p->vy[i] = p->vz[i] = 0.0f;
            omega[0][i] = omega[1][i] = omega[2][i] = 0.0f;
        }
    }
    dem->sleep.count = at;
    for (int32_t i = 0; i < p->count; ++i) {
        if (state[i] != WADI_DEM_FROZEN) {
            order[at++] = i;
        }
    }
    dem->is_stale = dem->is_set_changed = true;
    return wadi_particles_permute(p, order, error);
}

static void set_marks(WadiDem *dem, float *mark[3])
{
    const WadiParticles *p = dem->context.particles;
    const WadiDemColumns *c = dem->surface->flow.columns;
    for (int32_t i = dem->sleep.count; i < p->count; ++i) {
        mark[0][i] = (float)(p->x[i] - c->x0);
        mark[1][i] = (float)(p->y[i] - c->y0);
        mark[2][i] = (float)p->z[i];
    }
}

WadiStatus wadi_dem_surface_evaluate(WadiDem *dem, double time, WadiError *error)
{
    WadiDemSurface *s = dem->surface;
    const WadiParticles *p = dem->context.particles;
    wadi_dem_surface_recount(dem);
    /* With a list that is made anyway, if it comes soon. Not in the first step of a frame: a resumed run has
     * no forces of a step before it. Where all is frozen there are neither lists nor forces. */
    const bool has_list = !dem->is_stale && s->elapsed < 2.0 * s->flow.interval;
    const bool may_evaluate = dem->sleep.count == p->count || (!has_list && !s->is_frame_new);
    const bool is_late = s->elapsed >= s->flow.interval && may_evaluate;
    if (!is_late) {
        return WADI_OK;
    }
    uint8_t *state = wadi_particles_column(p, s->state_column), *disturbed, *opens, *is_unbalanced = NULL;
    float *mark[3];
    for (int a = 0; a < 3; ++a) {
        mark[a] = wadi_particles_column(p, s->mark_column + a);
    }
    WADI_TRY(find_disturbed(dem, time, &disturbed, &opens, error));
    unsettle_growing(dem, mark[2]);
    WADI_TRY(find_unbalanced(dem, time, &is_unbalanced, error));
    const WadiDemFlowIn in = { .particles = p,
                               .first = dem->sleep.count,
                               .state = state,
                               .mark = { mark[0], mark[1], mark[2] },
                               .elapsed = s->elapsed,
                               .is_unbalanced = is_unbalanced,
                               .quiescent = s->quiescent,
                               .disturbed = disturbed,
                               .opens = opens };
    WadiDemFlowOut out = { .state = state };
    WADI_TRY(wadi_dem_flow_evaluate(&s->flow, &in, &out, dem->context.scratch, error));
    set_marks(dem, mark);
    s->elapsed = 0.0;
    s->froze += out.frozen;
    s->woke += out.woken;
    s->damping = out.woken > 0 ? WADI_DEM_WOKEN + 1 : s->damping > 0 ? s->damping - 1 : 0;
    s->known_count = p->count;
    s->known_next_id = p->next_id;
    if (out.frozen + out.woken > 0) {
        WADI_TRY(wadi_dem_surface_sort(dem, error));
    }
    if (out.frozen + out.woken > 0 || disturbed != NULL) {
        count_frozen(dem, s->frozen_count, NULL, NULL);
    }
    return WADI_OK;
}

typedef struct Damp {
    const WadiDem *dem;
    const uint8_t *state;
    float factor;
} Damp;

static void damp_block(void *context, int64_t first, int64_t end)
{
    const Damp *damp = context;
    for (int64_t i = first; i < end; ++i) {
        if (damp->state[i] != WADI_DEM_AWAKE && damp->state[i] != WADI_DEM_FROZEN) {
            WadiF8 *motion = &damp->dem->grains.motion[i];
            for (int k = 0; k < 3; ++k) {
                (*motion)[k] *= damp->factor;
                (*motion)[4 + k] *= damp->factor;
            }
        }
    }
}

void wadi_dem_surface_damp(WadiDem *dem, double dt)
{
    const WadiDemSurface *s = dem->surface;
    if (s->damping > 0) {
        Damp damp = { .dem = dem,
                      .state = wadi_particles_column(dem->context.particles, s->state_column),
                      .factor = (float)wadi_exp(-dt / (DAMPING * dem->unit_time)) };
        wadi_parallel_for(dem->grains.count, BLOCK, damp_block, &damp);
    }
}

WadiStatus wadi_dem_surface_save(const WadiDem *dem, WadiState *state, WadiError *error)
{
    const WadiDemSurface *s = dem->surface;
    const WadiDemColumns *c = s->flow.columns;
    const double numbers[NUMBERS] = { s->elapsed,
                                      (double)s->froze,
                                      (double)s->woke,
                                      (double)dem->sleep.count,
                                      (double)s->known_count,
                                      (double)s->known_next_id,
                                      (double)s->damping,
                                      s->is_frame_new };
    WADI_TRY(wadi_state_put(state, "dem_flow", WADI_TYPE_F64, 1, NUMBERS, numbers, error));
    WADI_TRY(wadi_state_put(state, "dem_height", WADI_TYPE_F64, 1, (size_t)c->count, c->height, error));
    WADI_TRY(wadi_state_put(state, "dem_calm", WADI_TYPE_U8, 1, (size_t)c->count, s->quiescent, error));
    return wadi_state_put(state, "dem_held", WADI_TYPE_I32, 1, (size_t)c->count, s->frozen_count, error);
}

/* Frozen grains are the first of the store; some may have been removed since the last step. */
static WadiStatus check_states(const WadiDem *dem, const WadiState *state, int32_t frozen, WadiError *error)
{
    const WadiStateArray *array = wadi_state_find(state, "flow_state");
    const uint8_t *value = array->data;
    int32_t first = 0;
    for (int32_t i = 0; i < (int32_t)array->count; ++i) {
        const bool is_frozen = value[i] == WADI_DEM_FROZEN;
        if ((is_frozen && (first < i || i >= frozen)) || (!is_frozen && value[i] > WADI_DEM_WOKEN)) {
            return wadi_state_fail(error, array, (size_t)i, "%d is not the state of one of %d frozen grains",
                                   value[i], frozen);
        }
        first += is_frozen;
    }
    if (first < frozen && dem->known == dem->context.particles->count) {
        return wadi_state_fail(error, array, (size_t)first, "only %d of %d grains are frozen", first, frozen);
    }
    return wadi_state_check_reals(wadi_state_find(state, "flow_mark"), -1e15, 1e15, error);
}

WadiStatus wadi_dem_surface_load(WadiDem *dem, const WadiState *state, WadiError *error)
{
    WadiDemSurface *s = dem->surface;
    WadiDemColumns *c = s->flow.columns;
    const WadiStateArray *numbers, *height, *frozen, *quiescent;
    const size_t gaps = (size_t)c->count;
    WADI_TRY(wadi_state_expect(state, "dem_flow", WADI_TYPE_F64, 1, NUMBERS, &numbers, error));
    WADI_TRY(
        wadi_state_expect_reals(state, "dem_height", WADI_TYPE_F64, 1, gaps, -1e15, 1e15, &height, error));
    WADI_TRY(wadi_state_expect(state, "dem_calm", WADI_TYPE_U8, 1, gaps, &quiescent, error));
    WADI_TRY(wadi_state_expect_integers(state, "dem_held", WADI_TYPE_I32, 1, gaps, 0, WADI_PARTICLES_MAX,
                                        &frozen, error));
    const double *number = numbers->data;
    const double most[NUMBERS] = {
        1e9, 1e15, 1e15, dem->context.particles->count, WADI_PARTICLES_MAX, UINT32_MAX, WADI_DEM_WOKEN + 1, 1
    };
    for (int k = 0; k < NUMBERS; ++k) {
        if (!(number[k] >= 0.0 && number[k] <= most[k] && (k == 0 || number[k] == floor(number[k])))) {
            return wadi_state_fail(error, numbers, (size_t)k, "%g is not from 0 to %g", number[k], most[k]);
        }
    }
    WADI_TRY(check_states(dem, state, (int32_t)number[3], error));
    const double *h = height->data;
    memcpy(c->height, h, (size_t)c->count * sizeof(*h));
    memcpy(s->quiescent, quiescent->data, (size_t)c->count);
    memcpy(s->frozen_count, frozen->data, (size_t)c->count * sizeof(*s->frozen_count));
    s->elapsed = number[0];
    s->froze = (int64_t)number[1];
    s->woke = (int64_t)number[2];
    dem->sleep.count = (int32_t)number[3];
    s->known_count = (int32_t)number[4];
    s->known_next_id = (uint32_t)number[5];
    s->damping = (int)number[6];
    s->is_frame_new = number[7] != 0.0;
    return WADI_OK;
}
