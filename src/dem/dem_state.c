/* Checkpoints of the dem solver: the springs of contacts, by the numbers of the last list. Lists are made
 * anew at the first step of a frame. */
#include <math.h>

#include "core/array.h"
#include "dem/dem.h"

enum { WALL_FLOATS = 12 }; /* spring, normal and distance */

/* Tangential spring, 0, rolling spring, 0. */
static void put_spring(const WadiDemSpring *spring, WadiF8 *out)
{
    const float *v = spring->value;
    *out = (WadiF8){ v[0], v[1], v[2], 0, v[3], v[4], v[5], 0 };
}

/* Contacts of sleeping grains come first: their rows are empty in the list. Counts where nothing is given. */
static size_t put_contacts(const WadiDem *dem, uint32_t *grains, WadiF8 *spring)
{
    const WadiDemPairs *pairs = &dem->list.pairs;
    const WadiDemSprings *cold = &dem->cold.springs;
    size_t n = 0;
    for (int32_t i = 0; i < cold->count && i < pairs->count; ++i) {
        for (int32_t p = cold->start[i]; p < cold->start[i + 1]; ++p, ++n) {
            if (grains != NULL) {
                grains[2 * n] = (uint32_t)i;
                grains[2 * n + 1] = (uint32_t)cold->other[p];
                put_spring(&cold->spring[p], &spring[n]);
            }
        }
    }
    WadiDemContacts at;
    for (wadi_dem_contacts_begin(&at, pairs); wadi_dem_contacts_next(&at); ++n) {
        if (grains != NULL) {
            grains[2 * n] = (uint32_t)at.owner;
            grains[2 * n + 1] = (uint32_t)pairs->other[at.pair];
            put_spring(at.spring, &spring[n]);
        }
    }
    return n;
}

static WadiStatus save_contacts(const WadiDem *dem, WadiState *state, WadiError *error)
{
    const size_t count = put_contacts(dem, NULL, NULL);
    uint32_t *grains = NULL;
    WadiF8 *spring = NULL;
    WADI_TRY(wadi_state_add(state, "dem_contacts", WADI_TYPE_U32, 2, count, (void **)&grains, error));
    WADI_TRY(wadi_state_add(state, "dem_springs", WADI_TYPE_F32, 8, count, (void **)&spring, error));
    put_contacts(dem, grains, spring);
    return WADI_OK;
}

static size_t put_walls(const WadiDemWall *walls, size_t count, int32_t *owner, float *value)
{
    size_t n = 0;
    for (size_t w = 0; w < count; ++w) {
        if (walls[w].touches == 0) {
            continue;
        }
        if (owner != NULL) {
            owner[2 * n] = walls[w].grain;
            owner[2 * n + 1] = walls[w].solid;
            *(WadiF8 *)(value + WALL_FLOATS * n) = walls[w].spring;
            *(WadiF4 *)(value + WALL_FLOATS * n + 8) = walls[w].normal;
        }
        ++n;
    }
    return n;
}

static WadiStatus save_walls(const WadiDem *dem, WadiState *state, WadiError *error)
{
    const WadiDemCold *cold = &dem->cold;
    const size_t asleep = put_walls(cold->wall, cold->wall_count, NULL, NULL);
    const size_t count = asleep + put_walls(dem->walls.wall, dem->walls.count, NULL, NULL);
    int32_t *owner = NULL;
    float *value = NULL;
    WADI_TRY(wadi_state_add(state, "dem_walls", WADI_TYPE_I32, 2, count, (void **)&owner, error));
    WADI_TRY(
        wadi_state_add(state, "dem_wall_springs", WADI_TYPE_F32, WALL_FLOATS, count, (void **)&value, error));
    if (count > 0) {
        put_walls(cold->wall, cold->wall_count, owner, value);
        put_walls(dem->walls.wall, dem->walls.count, owner + 2 * asleep, value + WALL_FLOATS * asleep);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiDem *dem = solver;
    const double numbers[4] = { dem->fastest, (double)dem->list.pairs.count, dem->checked_at,
                                dem->listed_at };
    WADI_TRY(wadi_state_put(state, "dem", WADI_TYPE_F64, 4, 1, numbers, error));
    WADI_TRY(save_contacts(dem, state, error));
    WADI_TRY(save_walls(dem, state, error));
    return wadi_sleep_save(&dem->sleep, state, error);
}

static bool are_finite(const WadiStateArray *array)
{
    const float *value = array->data;
    for (size_t n = 0; n < array->count * (size_t)array->components; ++n) {
        if (!isfinite(value[n])) {
            return false;
        }
    }
    return true;
}

/* Owners rise, and all are grains of the list. */
static bool are_contacts(const WadiStateArray *array, double grains)
{
    const uint32_t *grain = array->data;
    for (size_t n = 0; n < array->count; ++n) {
        if (!(grain[2 * n] < grains && grain[2 * n + 1] < grains) ||
            (n > 0 && grain[2 * n] < grain[2 * n - 2])) {
            return false;
        }
    }
    return true;
}

static bool are_walls(const WadiStateArray *array)
{
    const int32_t *owner = array->data;
    for (size_t n = 0; n < array->count; ++n) {
        if (owner[2 * n] < 0 || (n > 0 && owner[2 * n] < owner[2 * n - 2])) {
            return false;
        }
    }
    return true;
}

static WadiStatus load_walls(WadiDemWalls *walls, const WadiStateArray *owners, const WadiStateArray *values,
                             WadiError *error)
{
    const int32_t *owner = owners->data;
    const float *value = values->data;
    walls->count = 0;
    WADI_TRY(wadi_array_renew((void **)&walls->wall, &walls->capacity, owners->count, sizeof *walls->wall,
                              "walls", error));
    walls->count = owners->count;
    for (size_t n = 0; n < owners->count; ++n) {
        walls->wall[n] = (WadiDemWall){ .grain = owner[2 * n],
                                        .solid = owner[2 * n + 1],
                                        .spring = *(const WadiF8 *)(value + WALL_FLOATS * n),
                                        .normal = *(const WadiF4 *)(value + WALL_FLOATS * n + 8),
                                        .touches = 1 };
    }
    return WADI_OK;
}

/* Numbers of the list. Whether one is there twice is not checked: that gives a wrong spring and no more. */
static bool are_numbers(const WadiDem *dem, double grains)
{
    const WadiParticles *p = dem->context.particles;
    const uint32_t *number = wadi_particles_column(p, dem->number_column);
    for (int32_t i = 0; i < p->count; ++i) {
        if (!(number[i] <= grains)) {
            return false;
        }
    }
    return true;
}

WadiStatus wadi_dem_load(void *solver, const WadiState *state, WadiError *error)
{
    WadiDem *dem = solver;
    const WadiStateArray *numbers, *contacts, *springs, *walls, *wall_springs;
    WADI_TRY(wadi_state_expect(state, "dem", WADI_TYPE_F64, 4, 1, &numbers, error));
    WADI_TRY(wadi_state_expect(state, "dem_contacts", WADI_TYPE_U32, 2, SIZE_MAX, &contacts, error));
    WADI_TRY(wadi_state_expect(state, "dem_springs", WADI_TYPE_F32, 8, contacts->count, &springs, error));
    WADI_TRY(wadi_state_expect(state, "dem_walls", WADI_TYPE_I32, 2, SIZE_MAX, &walls, error));
    WADI_TRY(wadi_state_expect(state, "dem_wall_springs", WADI_TYPE_F32, WALL_FLOATS, walls->count,
                               &wall_springs, error));
    const double *number = numbers->data;
    if (!(number[0] >= 0.0 && number[0] <= 1e9 && number[1] >= 0.0 && number[1] <= INT32_MAX / 8 &&
          isfinite(number[2]) && isfinite(number[3]) && contacts->count <= INT32_MAX / 4 &&
          are_contacts(contacts, number[1]) && are_walls(walls) && are_finite(springs) &&
          are_finite(wall_springs) && are_numbers(dem, number[1]))) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the contacts of the solver dem in the checkpoint are damaged; resume from another "
                         "one");
    }
    dem->fastest = number[0];
    dem->checked_at = number[2];
    dem->listed_at = dem->now = number[3];
    dem->is_set_changed = true;
    wadi_dem_cold_free(&dem->cold);
    dem->is_stale = true;
    dem->grains.count = 0;
    dem->known = dem->context.particles->count;
    WADI_TRY(load_walls(&dem->walls, walls, wall_springs, error));
    WADI_TRY(wadi_dem_list_restore(&dem->list, (int32_t)number[1], (int32_t)contacts->count, contacts->data,
                                   springs->data, error));
    return dem->sleep.is_on
               ? wadi_sleep_load(&dem->sleep, dem->context.particles, dem->sleep.cell_size, state, error)
               : WADI_OK;
}
