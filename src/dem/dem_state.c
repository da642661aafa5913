/* Checkpoints of the dem solver. The list is saved by the numbers of its grains. Before it is made anew only
 * its contacts are needed, and what decides on sleep: displacements, and forces on sleeping grains. Between
 * two lists all of it is saved: the next step of a resumed run is that of an unbroken one. */
#include "dem/dem_stage.h"

#include <math.h>
#include <string.h>

#include "core/array.h"
#include "dem/contact/dem_forces.h"

/* Numbers of a checkpoint. */
enum {
    FASTEST,
    LISTED,
    ASLEEP,
    KNOWN,
    STEPS,
    CHECKED_AT,
    LISTED_AT,
    LIFETIME,
    NOW,
    FASTEST_BORN,
    LAST_DT,
    IS_STALE,
    IS_NEAR_STALE,
    HAS_GROWING,
    IS_SET_CHANGED,
    NUMBERS
};
/* Per grain of the list: displacement, that at the choice of near pairs, the one at which the list is made
 * anew, friction, rolling friction, bridge, grip. */
enum { GRAIN_VALUES = 11 };
enum { BODY_VALUES = 13 }; /* displacement, rotation, velocity, angular momentum */

bool wadi_dem_is_list_used(const WadiDem *dem)
{
    return dem->grains.count > 0 && !dem->is_stale && dem->known == dem->context.particles->count;
}

static WadiStatus save_grains(const WadiDem *dem, WadiState *state, WadiError *error)
{
    const WadiDemGrains *g = &dem->grains;
    float *value = NULL;
    WADI_TRY(wadi_state_add(state, "dem_grains", WADI_TYPE_F32, GRAIN_VALUES, (size_t)g->count,
                            (void **)&value, error));
    for (int32_t i = 0; i < g->count; ++i, value += GRAIN_VALUES) {
        const int32_t row = i - dem->list.pairs.first; /* others have no mark */
        for (int c = 0; c < 3; ++c) {
            value[c] = g->shift[i][c];
            value[3 + c] = row >= 0 ? g->mark[row][c] : 0.0f;
        }
        value[6] = g->skin[i];
        value[7] = g->motion[i][3];
        value[8] = g->motion[i][7];
        value[9] = dem->rupture > 0.0 ? g->bridge[i] : 0.0f;
        value[10] = dem->rupture > 0.0 ? g->grip[i] : 0.0f;
    }
    return WADI_OK;
}

static WadiStatus save_bodies(const WadiDem *dem, WadiState *state, WadiError *error)
{
    double *value = NULL;
    WADI_TRY(
        wadi_state_put(state, "dem_base", WADI_TYPE_F64, 3, (size_t)dem->grains.count, dem->base, error));
    WADI_TRY(wadi_state_add(state, "dem_bodies", WADI_TYPE_F64, BODY_VALUES, (size_t)dem->bodies.count,
                            (void **)&value, error));
    for (int32_t b = 0; b < dem->bodies.count; ++b, value += BODY_VALUES) {
        const WadiDemBody *body = &dem->bodies.body[b];
        const double values[BODY_VALUES] = { body->shift.x,    body->shift.y,    body->shift.z,
                                             body->turn[0],    body->turn[1],    body->turn[2],
                                             body->turn[3],    body->velocity.x, body->velocity.y,
                                             body->velocity.z, body->momentum.x, body->momentum.y,
                                             body->momentum.z };
        memcpy(value, values, sizeof values);
    }
    return WADI_OK;
}

/* Forces of the last step, where the next one may decide by them on sleep. */
static WadiStatus save_loads(const WadiDem *dem, WadiState *state, WadiError *error)
{
    if (dem->sleep.is_on && wadi_dem_has_tile_loads(dem)) {
        double(*sum)[4] = NULL;
        WADI_TRY(wadi_state_add(state, "dem_tile_loads", WADI_TYPE_F64, 4, dem->sleep.tile_count,
                                (void **)&sum, error));
        wadi_dem_tile_loads(dem, sum);
    }
    if (dem->surface != NULL && wadi_dem_surface_has_loads(dem)) {
        const int32_t first = dem->list.pairs.first;
        float *force = NULL;
        WADI_TRY(wadi_state_add(state, "dem_loads", WADI_TYPE_F32, 3, (size_t)(dem->grains.count - first),
                                (void **)&force, error));
        for (int32_t i = first; i < dem->grains.count; ++i) {
            WadiF8 load;
            wadi_dem_load_of(&dem->grains, &dem->list.pairs, i, &load);
            for (int c = 0; c < 3; ++c) {
                *force++ = load[c] + 0.0f; /* no -0, which would not be kept */
            }
        }
    }
    return WADI_OK;
}

WadiStatus wadi_dem_save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiDem *dem = solver;
    const bool has_all = wadi_dem_is_list_used(dem);
    const double numbers[NUMBERS] = { [FASTEST] = dem->fastest,
                                      [LISTED] = dem->grains.count,
                                      [ASLEEP] = dem->list.pairs.first,
                                      [KNOWN] = dem->known,
                                      [STEPS] = dem->steps_since_list,
                                      [CHECKED_AT] = dem->checked_at,
                                      [LISTED_AT] = dem->listed_at,
                                      [LIFETIME] = dem->lifetime,
                                      [NOW] = dem->now,
                                      [FASTEST_BORN] = dem->fastest_born,
                                      [LAST_DT] = dem->last_dt,
                                      [IS_STALE] = dem->is_stale,
                                      [IS_NEAR_STALE] = dem->is_near_stale,
                                      [HAS_GROWING] = dem->has_growing,
                                      [IS_SET_CHANGED] = dem->is_set_changed };
    WADI_TRY(wadi_state_put(state, "dem", WADI_TYPE_F64, NUMBERS, 1, numbers, error));
    WADI_TRY(save_grains(dem, state, error));
    WADI_TRY(wadi_dem_save_list(dem, has_all, state, error));
    if (has_all && dem->grain_column >= 0) {
        WADI_TRY(save_bodies(dem, state, error));
    }
    WADI_TRY(save_loads(dem, state, error));
    return wadi_sleep_save(&dem->sleep, state, error);
}

/* Numbers of the list in the store. With a list that is used they are those of its order. */
static WadiStatus check_numbers(const WadiDem *dem, const WadiState *state, bool is_used, int32_t listed,
                                WadiError *error)
{
    const WadiStateArray *array = wadi_state_find(state, "list_number");
    const uint32_t *number = array->data;
    WADI_TRY(wadi_state_check_integers(array, 0, listed, error));
    if (is_used && listed > dem->context.particles->count) {
        return wadi_state_fail(error, array, array->count, "the list has %d grains", listed);
    }
    for (size_t i = 0; is_used && i < array->count; ++i) {
        if (number[i] != (i < (size_t)listed ? (uint32_t)i + 1 : 0)) {
            return wadi_state_fail(error, array, i, "%u is not in the order of the list", number[i]);
        }
    }
    return WADI_OK;
}

static WadiStatus take_numbers(WadiDem *dem, const WadiStateArray *array, WadiError *error)
{
    const double *n = array->data;
    static const double most[NUMBERS] = {
        [FASTEST] = 1e9,      [LISTED] = INT32_MAX / 8, [ASLEEP] = INT32_MAX / 8,
        [KNOWN] = INT32_MAX,  [STEPS] = INT32_MAX / 2,  [CHECKED_AT] = 1e30,
        [LISTED_AT] = 1e30,   [LIFETIME] = 1e30,        [NOW] = 1e30,
        [FASTEST_BORN] = 1e9, [LAST_DT] = 1e30,         [IS_STALE] = 1,
        [IS_NEAR_STALE] = 1,  [HAS_GROWING] = 1,        [IS_SET_CHANGED] = 1
    };
    for (int k = 0; k < NUMBERS; ++k) {
        const bool is_integer = k == FASTEST || (k >= CHECKED_AT && k <= LAST_DT) || n[k] == floor(n[k]);
        if (!(n[k] >= 0.0 && n[k] <= most[k] && is_integer)) {
            return wadi_state_fail(error, array, 0, "number %d is %g, not from 0 to %g", k, n[k], most[k]);
        }
    }
    if (n[ASLEEP] > n[LISTED]) {
        return wadi_state_fail(error, array, 0, "%g of %g grains sleep", n[ASLEEP], n[LISTED]);
    }
    dem->fastest = n[FASTEST];
    dem->known = (int32_t)n[KNOWN];
    dem->steps_since_list = (int)n[STEPS];
    dem->checked_at = n[CHECKED_AT];
    dem->listed_at = n[LISTED_AT];
    dem->lifetime = n[LIFETIME];
    dem->now = n[NOW];
    dem->fastest_born = n[FASTEST_BORN];
    dem->last_dt = n[LAST_DT];
    dem->is_stale = n[IS_STALE] != 0.0;
    dem->is_near_stale = n[IS_NEAR_STALE] != 0.0;
    dem->has_growing = n[HAS_GROWING] != 0.0;
    dem->is_set_changed = n[IS_SET_CHANGED] != 0.0;
    return WADI_OK;
}

/* What the store has of the grains of the list; grains that were removed since are not used. */
static void take_particles(WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    const uint32_t *number = wadi_particles_column(p, dem->list_index_column);
    const float *radius = wadi_particles_column(p, dem->radius_column), *omega[3];
    WadiDemGrains *g = &dem->grains;
    for (int c = 0; c < 3; ++c) {
        omega[c] = wadi_particles_column(p, dem->angular_velocity_column + c);
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (number[i] == 0) {
            continue;
        }
        const int32_t n = (int32_t)number[i] - 1;
        WadiF8 *motion = &g->motion[n];
        g->shift[n][3] = radius[i];
        *motion = (WadiF8){ p->vx[i],    p->vy[i],    p->vz[i],    (*motion)[3],
                            omega[0][i], omega[1][i], omega[2][i], (*motion)[7] };
        g->grown_radius[n] = (float)wadi_dem_radius_of(dem, i);
        dem->mass[n] = (float)wadi_dem_mass_of(dem, i);
        if (dem->base != NULL) {
            dem->base[n][0] = p->x[i], dem->base[n][1] = p->y[i], dem->base[n][2] = p->z[i];
        }
    }
}

static WadiStatus load_grains(WadiDem *dem, const WadiState *state, int32_t count, WadiError *error)
{
    const WadiStateArray *array;
    const int32_t first = dem->list.pairs.first, slots = wadi_dem_slot_count(&dem->list.pairs);
    WADI_TRY(wadi_state_expect_reals(state, "dem_grains", WADI_TYPE_F32, GRAIN_VALUES, (size_t)count,
                                     -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &array, error));
    WADI_TRY(wadi_dem_renew_grains(dem, count, slots, error));
    WADI_TRY(wadi_array_renew((void **)&dem->grains.mark, &dem->mark_capacity,
                              (size_t)(count - first) + WADI_DEM_LANES, sizeof *dem->grains.mark, "grains",
                              error));
    const float *value = array->data;
    WadiDemGrains *g = &dem->grains;
    memset(g->load, 0, ((size_t)(count - first) + (size_t)slots) * sizeof *g->load);
    for (int32_t i = 0; i < count; ++i, value += GRAIN_VALUES) {
        g->shift[i] = (WadiF4){ value[0], value[1], value[2], 0 };
        if (i >= first) {
            g->mark[i - first] = (WadiF4){ value[3], value[4], value[5], 0 };
        }
        g->skin[i] = value[6];
        g->motion[i] = (WadiF8){ 0, 0, 0, value[7], 0, 0, 0, value[8] };
        g->grown_radius[i] = dem->mass[i] = 0.0f;
        if (dem->rupture > 0.0) {
            g->bridge[i] = value[9];
            g->grip[i] = value[10];
        }
        if (dem->base != NULL) {
            memset(dem->base[i], 0, sizeof dem->base[i]);
        }
    }
    take_particles(dem);
    g->count = count;
    return WADI_OK;
}

static WadiStatus load_bodies(WadiDem *dem, const WadiState *state, WadiError *error)
{
    const WadiStateArray *base, *bodies;
    WADI_TRY(wadi_state_expect_reals(state, "dem_base", WADI_TYPE_F64, 3, (size_t)dem->grains.count,
                                     -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &base, error));
    memcpy(dem->base, base->data, (size_t)dem->grains.count * sizeof *dem->base);
    WADI_TRY(wadi_dem_make_bodies(dem, dem->grains.count, error));
    WADI_TRY(wadi_state_expect_reals(state, "dem_bodies", WADI_TYPE_F64, BODY_VALUES,
                                     (size_t)dem->bodies.count, -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX,
                                     &bodies, error));
    const double *v = bodies->data;
    for (int32_t b = 0; b < dem->bodies.count; ++b, v += BODY_VALUES) {
        WadiDemBody *body = &dem->bodies.body[b];
        const double square = v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6];
        if (!(fabs(square - 1.0) < 1e-6)) {
            return wadi_state_fail(error, bodies, (size_t)b, "its rotation has the length %g", sqrt(square));
        }
        body->shift = (WadiVec3){ v[0], v[1], v[2] };
        memcpy(body->turn, v + 3, sizeof body->turn);
        body->velocity = (WadiVec3){ v[7], v[8], v[9] };
        body->momentum = (WadiVec3){ v[10], v[11], v[12] };
    }
    return WADI_OK;
}

static WadiStatus load_loads(WadiDem *dem, const WadiState *state, WadiError *error)
{
    const WadiStateArray *array;
    dem->has_saved_loads = false;
    if (dem->sleep.is_on && wadi_dem_has_tile_loads(dem)) {
        const size_t tiles = dem->sleep.tile_count;
        WADI_TRY(wadi_state_expect_reals(state, "dem_tile_loads", WADI_TYPE_F64, 4, tiles,
                                         -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, &array, error));
        WADI_TRY(wadi_array_renew((void **)&dem->tile_load, &dem->tile_load_capacity, tiles,
                                  sizeof *dem->tile_load, "loads of tiles", error));
        if (tiles > 0) {
            memcpy(dem->tile_load, array->data, tiles * sizeof *dem->tile_load);
        }
        dem->has_saved_loads = true;
    }
    if (dem->surface != NULL && wadi_dem_surface_has_loads(dem)) {
        const int32_t first = dem->list.pairs.first;
        WADI_TRY(wadi_state_expect_reals(state, "dem_loads", WADI_TYPE_F32, 3,
                                         (size_t)(dem->grains.count - first), -WADI_STATE_REAL_MAX,
                                         WADI_STATE_REAL_MAX, &array, error));
        const float *force = array->data;
        for (int32_t i = first; i < dem->grains.count; ++i, force += 3) {
            dem->grains.load[i - first] = (WadiF8){ force[0], force[1], force[2] };
        }
    }
    return WADI_OK;
}

/* Radii of grains and their angular velocities. */
static WadiStatus check_columns(const WadiDem *dem, const WadiState *state, WadiError *error)
{
    const WadiStateArray *radius = wadi_state_find(state, "radius");
    WADI_TRY(wadi_state_check_reals(wadi_state_find(state, "angular_velocity"), -WADI_STATE_REAL_MAX,
                                    WADI_STATE_REAL_MAX, error));
    WADI_TRY(wadi_state_check_reals(radius, 0.0, 1.001 * wadi_dem_largest_radius(dem), error));
    for (size_t i = 0; i < radius->count; ++i) {
        if (!(((const float *)radius->data)[i] > 0.0f)) {
            return wadi_state_fail(error, radius, i, "a grain has no radius");
        }
    }
    const WadiStateArray *wetness = wadi_state_find(state, "wetness");
    return dem->rupture > 0.0 ? wadi_state_check_reals(wetness, 0.0, 1.0, error) : WADI_OK;
}

WadiStatus wadi_dem_load(void *solver, const WadiState *state, WadiError *error)
{
    WadiDem *dem = solver;
    const WadiParticles *p = dem->context.particles;
    const WadiStateArray *numbers;
    WADI_TRY(wadi_state_expect_numbers(state, "dem", NUMBERS, &numbers, error));
    WADI_TRY(take_numbers(dem, numbers, error));
    WADI_TRY(check_columns(dem, state, error));
    const int32_t listed = (int32_t)((const double *)numbers->data)[LISTED];
    const int32_t first = (int32_t)((const double *)numbers->data)[ASLEEP];
    if (dem->sleep.is_on) {
        WADI_TRY(wadi_sleep_load(&dem->sleep, p, dem->sleep.cell_size, state, error));
    }
    if (dem->surface != NULL) {
        WADI_TRY(wadi_dem_surface_load(dem, state, error));
    }
    const bool has_all = listed > 0 && !dem->is_stale && dem->known == p->count;
    WADI_TRY(check_numbers(dem, state, has_all, listed, error));
    if (has_all && first != dem->sleep.count) {
        return wadi_state_fail(error, numbers, 0, "%d grains of the list and %d of the store sleep", first,
                               dem->sleep.count);
    }
    WADI_TRY(wadi_dem_load_list(dem, first, listed, has_all, state, error));
    WADI_TRY(load_grains(dem, state, listed, error));
    if (has_all && dem->grain_column >= 0) {
        WADI_TRY(load_bodies(dem, state, error));
    }
    WADI_TRY(load_loads(dem, state, error));
    if (first > 0) {
        const float *radius = wadi_particles_column(p, dem->radius_column);
        WADI_TRY(wadi_dem_asleep_build(&dem->asleep, p, first < p->count ? first : p->count, radius,
                                       wadi_dem_largest_radius(dem), &dem->asleep_memory, error));
    }
    dem->is_stale = dem->is_stale || dem->is_world_new;
    return WADI_OK;
}
