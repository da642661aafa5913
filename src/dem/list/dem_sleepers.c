#include "dem/list/dem_sleepers.h"

#include "dem/list/dem_search.h"

static WadiBox box_of(const WadiDemListIn *in, int32_t first, int32_t end, double *reach)
{
    const WadiParticles *p = in->particles;
    WadiBox box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    *reach = 0.0;
    for (int32_t i = first; i < end; ++i) {
        box.min.x = fmin(box.min.x, p->x[i]), box.max.x = fmax(box.max.x, p->x[i]);
        box.min.y = fmin(box.min.y, p->y[i]), box.max.y = fmax(box.max.y, p->y[i]);
        box.min.z = fmin(box.min.z, p->z[i]), box.max.z = fmax(box.max.z, p->z[i]);
        *reach = fmax(*reach, (double)in->radius[i] + (double)in->margin[i]);
    }
    return box;
}

bool wadi_dem_sleepers_find(WadiDemSleepers *sleepers, const WadiDemListIn *in, int32_t first, int32_t end)
{
    const WadiParticles *p = in->particles;
    double reach;
    const WadiBox box = box_of(in, first, end, &reach);
    const double far = reach + in->largest_radius;
    WadiDemCellWalk walk;
    int32_t count = 0;
    sleepers->origin[0] = box.min.x, sleepers->origin[1] = box.min.y, sleepers->origin[2] = box.min.z;
    wadi_dem_cell_walk_box(&walk, in->asleep, &box, far);
    for (int32_t j; (j = wadi_dem_cell_walk_next(&walk)) >= 0;) {
        const bool is_near = p->x[j] > box.min.x - far && p->x[j] < box.max.x + far &&
                             p->y[j] > box.min.y - far && p->y[j] < box.max.y + far &&
                             p->z[j] > box.min.z - far && p->z[j] < box.max.z + far;
        if (is_near && count == WADI_DEM_SLEEPERS_MAX - WADI_DEM_LANES) {
            return false;
        }
        if (is_near) {
            sleepers->grain[count] = j;
            sleepers->x[0][count] = (float)(p->x[j] - sleepers->origin[0]);
            sleepers->x[1][count] = (float)(p->y[j] - sleepers->origin[1]);
            sleepers->x[2][count] = (float)(p->z[j] - sleepers->origin[2]);
            sleepers->radius[count++] = in->radius[j];
        }
    }
    for (int32_t n = count; n < count + WADI_DEM_LANES; ++n) {
        sleepers->x[0][n] = sleepers->x[1][n] = sleepers->x[2][n] = 0.0f;
        sleepers->radius[n] = -1e9f;
    }
    sleepers->count = count;
    return true;
}
