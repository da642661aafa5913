#include "dem/contact/dem_bonds.h"

#include <math.h>

#include "core/parallel.h"

typedef struct Forming {
    WadiDemPairs *pairs;
    const WadiDemGrains *grains;
    const WadiDemBondsIn *in;
} Forming;

/* Overlap whose elastic force is `force`, m. */
static double overlap_of(const WadiDemBondsIn *in, double force, double radius)
{
    return in->law == WADI_DEM_LINEAR ? force / in->stiffness
                                      : pow(force / (in->stiffness * sqrt(radius)), 2.0 / 3.0);
}

static void form_chunk(void *context, int64_t first, int64_t end)
{
    (void)end;
    const Forming *f = context;
    const WadiDemGrains *g = f->grains;
    WadiDemPairs *pairs = f->pairs;
    const int64_t chunk = first / WADI_DEM_CHUNK;
    const int32_t from = pairs->first + (int32_t)first;
    for (int32_t n = 0; n < pairs->near_count[chunk]; ++n) {
        const WadiDemNear near = pairs->near[pairs->start[from] + n];
        const int32_t p = wadi_dem_near_pair(pairs, from, near), i = wadi_dem_near_owner(from, near);
        const int32_t j = pairs->other[p];
        const double pull = (double)fminf(g->bridge[i], g->bridge[j]);
        if ((f->in->list_index[i] != 0 && f->in->list_index[j] != 0) || pairs->touches[p] != 0 ||
            !(pull > 0.0)) {
            continue;
        }
        WadiF4 d;
        wadi_dem_offset_load(pairs, p, &d);
        d += g->shift[j] - g->shift[i];
        const double ri = (double)g->shift[i][3], rj = (double)g->shift[j][3];
        const double gap = sqrt((double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])) - ri - rj;
        if (gap < WADI_DEM_BOND_GAP * f->in->rupture) {
            pairs->touches[p] = 1;
            pairs->spring[pairs->spring_start[chunk] + n].bond =
                (float)(gap + overlap_of(f->in, pull, ri * rj / (ri + rj)));
        }
    }
}

void wadi_dem_bonds_form(WadiDemPairs *pairs, const WadiDemGrains *grains, const WadiDemBondsIn *in)
{
    Forming f = { pairs, grains, in };
    wadi_parallel_for(pairs->count - pairs->first, WADI_DEM_CHUNK, form_chunk, &f);
}
