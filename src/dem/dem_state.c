/* Checkpoints of the dem solver: the springs of contacts, by the numbers of the last list. Lists are made
 * anew at the first step of a frame. */
#include <math.h>

#include "core/array.h"
#include "dem/dem.h"

enum { WALL_FLOATS = 12 }; /* spring, normal and distance */

static size_t count_contacts(const WadiDemPairs *pairs)
{
    size_t count = 0;
    for (int32_t p = 0; pairs->count > 0 && p < pairs->start[pairs->count]; ++p) {
        count += pairs->touches[p];
    }
    return count;
}

static WadiStatus save_contacts(const WadiDemPairs *pairs, WadiState *state, WadiError *error)
{
    const size_t count = count_contacts(pairs);
    uint32_t *grains = NULL;
    WadiF8 *spring = NULL;
    WADI_TRY(wadi_state_add(state, "dem_contacts", WADI_TYPE_U32, 2, count, (void **)&grains, error));
    WADI_TRY(wadi_state_add(state, "dem_springs", WADI_TYPE_F32, 8, count, (void **)&spring, error));
    size_t n = 0;
    for (int32_t i = 0; i < pairs->count; ++i) {
        for (int32_t p = pairs->start[i]; p < pairs->start[i + 1]; ++p) {
            if (pairs->touches[p] != 0) {
                grains[2 * n] = (uint32_t)i;
                grains[2 * n + 1] = (uint32_t)pairs->other[p];
                spring[n++] = pairs->spring[p];
            }
        }
    }
    return WADI_OK;
}

static WadiStatus save_walls(const WadiDemWalls *walls, WadiState *state, WadiError *error)
{
    size_t count = 0, n = 0;
    for (size_t w = 0; w < walls->count; ++w) {
        count += walls->wall[w].touches;
    }
    int32_t *owner = NULL;
    float *value = NULL;
    WADI_TRY(wadi_state_add(state, "dem_walls", WADI_TYPE_I32, 2, count, (void **)&owner, error));
    WADI_TRY(
        wadi_state_add(state, "dem_wall_springs", WADI_TYPE_F32, WALL_FLOATS, count, (void **)&value, error));
    for (size_t w = 0; w < walls->count; ++w) {
        const WadiDemWall *wall = &walls->wall[w];
        if (wall->touches != 0) {
            owner[2 * n] = wall->grain;
            owner[2 * n + 1] = wall->solid;
            *(WadiF8 *)(value + WALL_FLOATS * n) = wall->spring;
            *(WadiF4 *)(value + WALL_FLOATS * n + 8) = wall->normal;
            ++n;
        }
    }
    return WADI_OK;
}

WadiStatus wadi_dem_save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiDem *dem = solver;
    const double numbers[2] = { dem->fastest, (double)dem->list.pairs.count };
    WADI_TRY(wadi_state_put(state, "dem", WADI_TYPE_F64, 2, 1, numbers, error));
    WADI_TRY(save_contacts(&dem->list.pairs, state, error));
    return save_walls(&dem->walls, state, error);
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
    WADI_TRY(wadi_state_expect(state, "dem", WADI_TYPE_F64, 2, 1, &numbers, error));
    WADI_TRY(wadi_state_expect(state, "dem_contacts", WADI_TYPE_U32, 2, SIZE_MAX, &contacts, error));
    WADI_TRY(wadi_state_expect(state, "dem_springs", WADI_TYPE_F32, 8, contacts->count, &springs, error));
    WADI_TRY(wadi_state_expect(state, "dem_walls", WADI_TYPE_I32, 2, SIZE_MAX, &walls, error));
    WADI_TRY(wadi_state_expect(state, "dem_wall_springs", WADI_TYPE_F32, WALL_FLOATS, walls->count,
                               &wall_springs, error));
    const double *number = numbers->data;
    if (!(number[0] >= 0.0 && number[0] <= 1e9 && number[1] >= 0.0 && number[1] <= INT32_MAX / 8 &&
          contacts->count <= INT32_MAX / 4 && are_contacts(contacts, number[1]) && are_walls(walls) &&
          are_finite(springs) && are_finite(wall_springs) && are_numbers(dem, number[1]))) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the contacts of the solver dem in the checkpoint are damaged; resume from another "
                         "one");
    }
    dem->fastest = number[0];
    dem->is_stale = true;
    dem->grains.count = 0;
    dem->known = dem->context.particles->count;
    WADI_TRY(load_walls(&dem->walls, walls, wall_springs, error));
    return wadi_dem_list_restore(&dem->list, (int32_t)number[1], (int32_t)contacts->count, contacts->data,
                                 springs->data, error);
}
