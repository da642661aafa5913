#include "sph/published/sph_printed_resample.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "math/cbrt.h"
#include "math/vec3.h"
#include "particles/cells.h"

/* Of the halves of a split from its place, over the edge of the cube that it fills; and their distance from
 * solids, over the same. */
static const double OFFSET = 0.25, CLEARANCE = 0.2;

typedef struct Resample {
    const WadiSphPrintedResampleIn *in;
    double *volume, *water; /* water: NULL without a column */
    uint8_t *is_done, *is_removed;
} Resample;

static void take_columns(Resample *r)
{
    r->volume = wadi_particles_column(r->in->particles, r->in->volume_column);
    r->water = r->in->water_column >= 0 ? wadi_particles_column(r->in->particles, r->in->water_column) : NULL;
}

static double mass_of(const Resample *r, int32_t i)
{
    return r->in->own_mass[r->in->particles->material[i]] * r->volume[i] +
           (r->water != NULL ? r->water[i] : 0.0);
}

static WadiVec3 place_of(const WadiParticles *p, int32_t i)
{
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

static bool is_mergeable(const Resample *r, int32_t i)
{
    return r->is_done[i] == 0 && r->volume[i] <= (double)r->in->merge_below[i] &&
           2.0 * r->volume[i] <= r->in->largest * (1.0 + 1e-9);
}

static int32_t find_partner(const Resample *r, const WadiNeighbours *near, int32_t i)
{
    const WadiParticles *p = r->in->particles;
    double nearest = r->in->support * wadi_cbrt(r->volume[i]);
    int32_t partner = -1;
    for (int64_t n = near->start[i]; n < near->start[i + 1]; ++n) {
        const int32_t j = near->index[n];
        const double distance = wadi_norm(wadi_sub(place_of(p, i), place_of(p, j)));
        if (j != i && p->material[j] == p->material[i] && r->volume[j] == r->volume[i] &&
            is_mergeable(r, j) && distance < nearest) {
            nearest = distance, partner = j;
        }
    }
    return partner;
}

static void merge(const Resample *r, int32_t i, int32_t j)
{
    WadiParticles *p = r->in->particles;
    const double a = mass_of(r, i), b = mass_of(r, j), part = b / (a + b);
    p->x[i] += part * (p->x[j] - p->x[i]);
    p->y[i] += part * (p->y[j] - p->y[i]);
    p->z[i] += part * (p->z[j] - p->z[i]);
    p->vx[i] = (float)((1.0 - part) * (double)p->vx[i] + part * (double)p->vx[j]);
    p->vy[i] = (float)((1.0 - part) * (double)p->vy[i] + part * (double)p->vy[j]);
    p->vz[i] = (float)((1.0 - part) * (double)p->vz[i] + part * (double)p->vz[j]);
    r->volume[i] += r->volume[j];
    if (r->water != NULL) {
        r->water[i] += r->water[j];
    }
    r->is_done[i] = r->is_done[j] = r->is_removed[j] = 1;
}

static WadiStatus merge_all(Resample *r, int64_t *merges, WadiArena *arena, WadiError *error)
{
    const WadiParticles *p = r->in->particles;
    WadiCells cells;
    WadiNeighbours near;
    double largest = 1.0;
    for (int32_t i = 0; i < p->count; ++i) {
        largest = fmax(largest, r->volume[i]);
    }
    const double reach = r->in->support * wadi_cbrt(largest);
    WADI_TRY(wadi_cells_build(&cells, p, reach, arena, error));
    WADI_TRY(wadi_neighbours_fixed(&near, &cells, p, reach, arena, error));
    for (int32_t i = 0; i < p->count; ++i) {
        const int32_t j = is_mergeable(r, i) ? find_partner(r, &near, i) : -1;
        if (j >= 0) {
            merge(r, i, j);
            *merges += 1;
        }
    }
    return WADI_OK;
}

/* From the place of a particle to that of its first half, m. */
static WadiVec3 offset_of(const Resample *r, int32_t i)
{
    double u[3];
    wadi_random_unit3((uint64_t)r->volume[i], r->in->particles->id[i], WADI_RANDOM_SPLIT, u);
    const WadiVec3 direction = { u[0] - 0.5, u[1] - 0.5, u[2] - 0.5 };
    return wadi_scale(wadi_normalized_or(direction, (WadiVec3){ 1.0, 0.0, 0.0 }),
                      OFFSET * r->in->spacing * wadi_cbrt(r->volume[i]));
}

static bool is_splittable(const Resample *r, int32_t i)
{
    if (r->is_done[i] != 0 || r->volume[i] < 2.0 || !(r->volume[i] > (double)r->in->split_above[i])) {
        return false;
    }
    const double clearance = CLEARANCE * r->in->spacing * wadi_cbrt(r->volume[i]);
    const WadiVec3 x = place_of(r->in->particles, i), offset = offset_of(r, i);
    for (int side = -1; side <= 1; side += 2) {
        const WadiVec3 half = wadi_add_scaled(x, offset, side);
        if (wadi_solids_distance_within(r->in->solids, half, r->in->time, clearance) < clearance) {
            return false;
        }
    }
    return true;
}

static void split(const Resample *r, int32_t from, int32_t to)
{
    WadiParticles *p = r->in->particles;
    const WadiVec3 offset = offset_of(r, from);
    p->x[to] = p->x[from] - offset.x, p->x[from] += offset.x;
    p->y[to] = p->y[from] - offset.y, p->y[from] += offset.y;
    p->z[to] = p->z[from] - offset.z, p->z[from] += offset.z;
    p->vx[to] = p->vx[from], p->vy[to] = p->vy[from], p->vz[to] = p->vz[from];
    p->material[to] = p->material[from];
    r->volume[from] = r->volume[to] = 0.5 * r->volume[from];
    if (r->water != NULL) {
        const double half = floor(0.5 * r->water[from] * 0x1p36) / 0x1p36;
        r->water[to] = half;
        r->water[from] -= half;
    }
}

static WadiStatus split_all(Resample *r, int64_t *splits, WadiArena *arena, WadiError *error)
{
    WadiParticles *p = r->in->particles;
    int32_t *from = NULL, count = 0, first = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &from, (size_t)p->count, "splits", error));
    for (int32_t i = 0; i < p->count; ++i) {
        if (r->is_removed[i] == 0 && is_splittable(r, i)) {
            from[count++] = i;
        }
    }
    if (count > 0) {
        WADI_TRY(wadi_particles_append(p, count, &first, error));
        take_columns(r);
    }
    for (int32_t n = 0; n < count; ++n) {
        split(r, from[n], first + n);
    }
    *splits += count;
    return WADI_OK;
}

WadiStatus wadi_sph_printed_resample(const WadiSphPrintedResampleIn *in, int64_t *splits, int64_t *merges,
                                     WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)in->particles->count, room = 2 * count;
    const int64_t merged = *merges;
    Resample r = { .in = in };
    take_columns(&r);
    WADI_TRY(WADI_ARENA_NEW(arena, &r.is_done, count, "merges", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &r.is_removed, room, "merges", error));
    memset(r.is_done, 0, count);
    memset(r.is_removed, 0, room);
    WADI_TRY(merge_all(&r, merges, arena, error));
    WADI_TRY(split_all(&r, splits, arena, error));
    if (*merges > merged) {
        wadi_particles_remove(in->particles, r.is_removed);
    }
    return WADI_OK;
}
