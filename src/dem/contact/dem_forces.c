/* Contacts of a chunk: find the pairs that touch, then compute them eight at a time. The same bytes for any
 * number of threads: each load has one writer and one order of addition [theory 13.2]. */
#include "dem/contact/dem_forces.h"

#include <string.h>

#include "core/parallel.h"
#include "dem/contact/dem_kernel.h"

enum { BATCH = 256, LANES = WADI_DEM_LANES };

typedef struct Forces {
    const WadiDemGrains *grains;
    const WadiDemPairs *pairs;
    const WadiDemLawConstants *law;
} Forces;

/* Pairs that touch; padded to whole groups. */
typedef struct Batch {
    int count;
    int32_t pair[BATCH + LANES], owner[BATCH + LANES], spring[BATCH + LANES];
    WadiF4 offset[BATCH + LANES];
} Batch;

static inline __attribute__((always_inline)) void load_lanes(const Forces *f, const Batch *b, int from,
                                                             WadiDemLanes *lanes)
{
    const WadiDemGrains *g = f->grains;
    WadiF8 d[8];
    for (int l = 0; l < LANES; ++l) {
        const int32_t p = b->pair[from + l], i = b->owner[from + l], j = f->pairs->other[p];
        const WadiF4 o = b->offset[from + l];
        lanes->motion[0][l] = g->motion[i];
        lanes->motion[1][l] = g->motion[j];
        wadi_dem_spring_load(&f->pairs->spring[b->spring[from + l]], &lanes->spring[l]);
        /* A sleeping grain does not move, as if it had no end of mass. */
        const float other = j < f->pairs->first ? 0.0f : g->mass[j];
        const float bond = f->pairs->spring[b->spring[from + l]].bond;
        d[l] = (WadiF8){ o[0], o[1], o[2], bond, g->shift[i][3], g->shift[j][3], g->mass[i], other };
    }
    wadi_dem_transpose(d);
    wadi_dem_transpose(lanes->motion[0]);
    wadi_dem_transpose(lanes->motion[1]);
    wadi_dem_transpose(lanes->spring);
    wadi_dem_spheres(d, &d[4], &d[5], lanes);
    lanes->mass = WADI_ROW_SELECT(d[7] > 0.0f, d[6] * d[7] / (d[6] + d[7]), d[6]);
    lanes->damping = (WadiF8){ 0 } + f->law->damping;
    lanes->friction[0] = WADI_MIN8(lanes->motion[0][3], lanes->motion[1][3]);
    lanes->friction[1] = WADI_MIN8(lanes->motion[0][7], lanes->motion[1][7]);
}

/* Pulls of bridges: largest in contact, none at the gap where they break. Springs are those of contacts. */
static inline __attribute__((always_inline)) void load_bridges(const Forces *f, const Batch *b, int from,
                                                               WadiDemLanes *lanes)
{
    for (int l = 0; l < LANES; ++l) {
        const int32_t i = b->owner[from + l], j = f->pairs->other[b->pair[from + l]];
        const WadiF4 o = b->offset[from + l];
        const float length = sqrtf(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]);
        const float bond = f->pairs->spring[b->spring[from + l]].bond;
        const float gap = length - f->grains->shift[i][3] - f->grains->shift[j][3] - bond;
        const float part = fminf(1.0f, fmaxf(0.0f, 1.0f - gap / f->law->rupture));
        lanes->bridge[l] = part * fminf(f->grains->bridge[i], f->grains->bridge[j]);
        lanes->grip[l] = gap > 0.0f ? 0.0f : fminf(f->grains->grip[i], f->grains->grip[j]);
        for (int c = 0; c < 8 && gap > 0.0f; ++c) {
            lanes->spring[c][l] = 0.0f;
        }
    }
}

static inline __attribute__((always_inline)) void compute_batch(const Forces *f, Batch *b, WadiDemLaw law,
                                                                bool has_bridges)
{
    /* A copy with a constant law, so that its branches vanish. */
    const WadiDemLawConstants constants = { law,
                                            f->law->stiffness,
                                            f->law->damping,
                                            f->law->last_dt,
                                            f->law->kick,
                                            has_bridges ? f->law->rupture : 0.0f,
                                            f->law->has_viscous_friction };
    for (int l = 0; l < LANES && b->count > 0; ++l) {
        b->pair[b->count + l] = b->pair[b->count - 1];
        b->owner[b->count + l] = b->owner[b->count - 1];
        b->spring[b->count + l] = b->spring[b->count - 1];
        b->offset[b->count + l] = b->offset[b->count - 1];
    }
    for (int from = 0; from < b->count; from += LANES) {
        WadiDemLanes lanes;
        load_lanes(f, b, from, &lanes);
        if (has_bridges) {
            load_bridges(f, b, from, &lanes);
        }
        wadi_dem_contact(&constants, &lanes);
        wadi_dem_transpose(lanes.load[0]);
        wadi_dem_transpose(lanes.load[1]);
        wadi_dem_transpose(lanes.spring);
        const int count = b->count - from < LANES ? b->count - from : LANES;
        for (int l = 0; l < count; ++l) {
            f->grains->load[b->owner[from + l] - f->pairs->first] += lanes.load[0][l];
            f->grains->load[f->pairs->target[b->pair[from + l]]] += lanes.load[1][l];
            wadi_dem_spring_store(&lanes.spring[l], &f->pairs->spring[b->spring[from + l]]);
        }
    }
    b->count = 0;
}

static void compute_moist(const Forces *f, Batch *b)
{
    switch (f->law->law) {
    case WADI_DEM_VISCOELASTIC: compute_batch(f, b, WADI_DEM_VISCOELASTIC, true); break;
    case WADI_DEM_HERTZ: compute_batch(f, b, WADI_DEM_HERTZ, true); break;
    case WADI_DEM_LINEAR: compute_batch(f, b, WADI_DEM_LINEAR, true); break;
    }
}

static void compute(const Forces *f, Batch *b)
{
    if (f->grains->bridge != NULL) {
        compute_moist(f, b);
        return;
    }
    switch (f->law->law) {
    case WADI_DEM_VISCOELASTIC: compute_batch(f, b, WADI_DEM_VISCOELASTIC, false); break;
    case WADI_DEM_HERTZ: compute_batch(f, b, WADI_DEM_HERTZ, false); break;
    case WADI_DEM_LINEAR: compute_batch(f, b, WADI_DEM_LINEAR, false); break;
    }
}

/* Adds the near pairs that touch to the batch; the springs of those that parted are lost. spring: that of the
 * first one. */
static inline void find_touching(const Forces *f, int32_t from, const WadiDemNear *near, int32_t count,
                                 int32_t spring, Batch *b)
{
    const WadiDemPairs *pairs = f->pairs;
    const float rupture = f->grains->bridge != NULL ? f->law->rupture : 0.0f;
    for (int32_t n = 0; n < count; ++n) {
        const int32_t p = wadi_dem_near_pair(pairs, from, near[n]), i = wadi_dem_near_owner(from, near[n]);
        const WadiF4 own = f->grains->shift[i], other = f->grains->shift[pairs->other[p]];
        WadiF4 d;
        wadi_dem_offset_load(pairs, p, &d);
        d += other - own;
        /* A bridge forms in contact and breaks at its rupture. */
        const float bond = pairs->spring[spring + n].bond;
        const float sum = own[3] + other[3] + (pairs->touches[p] != 0 ? rupture + bond : 0.0f);
        const uint8_t touches = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < sum * sum;
        b->pair[b->count] = p;
        b->owner[b->count] = i;
        b->spring[b->count] = spring + n;
        b->offset[b->count] = d;
        b->count += touches;
        if (touches < pairs->touches[p]) {
            pairs->spring[spring + n] = (WadiDemSpring){ 0 };
        }
        pairs->touches[p] = touches;
    }
}

static void compute_chunks(void *context, int64_t first, int64_t end)
{
    const Forces *f = context;
    const WadiDemPairs *pairs = f->pairs;
    const int32_t from = pairs->first + (int32_t)first, to = pairs->first + (int32_t)end;
    const int64_t chunk = first / WADI_DEM_CHUNK;
    Batch batch;
    batch.count = 0;
    memset(f->grains->load + first, 0, (size_t)(to - from) * sizeof(WadiF8));
    const int32_t slot = pairs->chunk_slot[chunk], slots = pairs->chunk_slot[chunk + 1] - slot;
    memset(f->grains->load + (pairs->count - pairs->first + slot), 0, (size_t)slots * sizeof(WadiF8));
    const WadiDemNear *near = pairs->near + pairs->start[from];
    for (int32_t n = 0, count = pairs->near_count[chunk]; n < count;) {
        const int32_t room = BATCH - batch.count, now = count - n < room ? count - n : room;
        find_touching(f, from, near + n, now, pairs->spring_start[chunk] + n, &batch);
        n += now;
        if (batch.count > BATCH - 2 * LANES) {
            compute(f, &batch);
        }
    }
    compute(f, &batch);
}

void wadi_dem_find_forces(const WadiDemGrains *grains, const WadiDemPairs *pairs,
                          const WadiDemLawConstants *law)
{
    Forces f = { grains, pairs, law };
    wadi_parallel_for(pairs->count - pairs->first, WADI_DEM_CHUNK, compute_chunks, &f);
}
