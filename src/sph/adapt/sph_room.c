#include "sph/adapt/sph_room.h"

#include <math.h>

#include "core/random.h"
#include "math/cbrt.h"

enum { AROUND_MAX = 96 };
enum { DIRECTIONS = 32 }; /* in which the halves of a split may lie; the one with most room is taken */

/* Particles about one that is split. */
typedef struct Around {
    int32_t count;
    int32_t index[AROUND_MAX];
} Around;

static WadiVec3 position_of(const WadiParticles *p, int32_t i)
{
    return wadi_vec3(p->x[i], p->y[i], p->z[i]);
}

WadiStatus wadi_sph_room_begin(WadiSphRoom *room, const int32_t *list, int32_t listed, double largest,
                               WadiArena *arena, WadiError *error)
{
    room->reach = (0.5 + 1.0) * largest * room->spacing; /* offset of a half, and its neighbour beyond */
    return wadi_cells_build_subset(&room->cells, room->particles, list, listed, room->reach, arena, error);
}

static void find_around(const WadiSphRoom *room, int32_t i, Around *around)
{
    const WadiParticles *p = room->particles;
    const WadiCells *cells = &room->cells;
    const double reach = room->reach;
    const WadiVec3 x = position_of(p, i);
    const int32_t at[3] = { (int32_t)floor(x.x / reach), (int32_t)floor(x.y / reach),
                            (int32_t)floor(x.z / reach) };
    around->count = 0;
    for (int n = 0; n < 9; ++n) {
        int32_t first, end;
        wadi_cells_find_three(cells, at[0], at[1] + n % 3 - 1, at[2] + n / 3 - 1, &first, &end);
        for (int32_t k = first; k < end; ++k) {
            const int32_t j = cells->order[k];
            const WadiVec3 d = wadi_sub(position_of(p, j), x);
            if (j != i && wadi_dot(d, d) < reach * reach && around->count < AROUND_MAX) {
                around->index[around->count++] = j;
            }
        }
    }
}

/* How far a half at x stays off the others and off solids: 1 as in a lattice. */
static double room_at(const WadiSphRoom *room, WadiVec3 x, double size, const Around *around,
                      bool is_near_solid)
{
    double least = 1.0;
    for (int32_t n = 0; n < around->count; ++n) {
        const int32_t j = around->index[n];
        const double beside = 0.5 * (size + wadi_cbrt(room->volume[j])) * room->spacing;
        least = fmin(least, wadi_norm(wadi_sub(position_of(room->particles, j), x)) / beside);
    }
    if (is_near_solid) {
        const double beside = 0.5 * size * room->spacing;
        least = fmin(least, wadi_solids_distance_within(room->solids, x, room->time, beside) / beside);
    }
    return least;
}

WadiVec3 wadi_sph_room_direction(const WadiSphRoom *room, int32_t i, uint32_t id, double size,
                                 double distance)
{
    const WadiVec3 centre = position_of(room->particles, i);
    const double off = distance * room->spacing, far = off + 0.5 * size * room->spacing;
    const bool is_near_solid = wadi_solids_distance_within(room->solids, centre, room->time, far) < far;
    Around around;
    find_around(room, i, &around);
    WadiVec3 best = wadi_vec3(1.0, 0.0, 0.0);
    double most = -INFINITY;
    for (uint64_t n = 0; n < DIRECTIONS && most < 1.0; ++n) {
        double u[3];
        wadi_random_unit3(n, id, WADI_RANDOM_SPLIT, u);
        const WadiVec3 along =
            wadi_normalized_or(wadi_vec3(u[0] - 0.5, u[1] - 0.5, u[2] - 0.5), wadi_vec3(1.0, 0.0, 0.0));
        double least = 1.0;
        for (int side = -1; side <= 1 && least > most; side += 2) {
            const WadiVec3 x = wadi_add_scaled(centre, along, side * off);
            least = fmin(least, room_at(room, x, size, &around, is_near_solid));
        }
        if (least > most) {
            best = along;
            most = least;
        }
    }
    return best;
}
