/* One step of the frontier, in the order of ZY10's eq. 4: H, h, dh, h, R, R', h'. */
#include "dem/published/dem_frontier.h"

#include <math.h>

#include "core/parallel.h"

enum { GAP_BLOCK = 1024 };

typedef struct Step {
    WadiDemColumns *columns;
    const double *surface;
    const WadiDemFrontier *law;
    double dt;
} Step;

double wadi_dem_frontier_angle(const WadiDemColumns *c, int32_t gap)
{
    double steepest = 0.0;
    for (int side = 0; side < WADI_DEM_SIDES; ++side) {
        const double width = side < WADI_DEM_SOUTH ? c->wx : c->wy;
        int32_t gaps[WADI_DEM_LINKS_MAX];
        const int links = wadi_dem_neighbours(c, gap, side, gaps);
        for (int n = 0; n < links; ++n) {
            steepest = fmax(steepest, fabs(c->height[gaps[n]] - c->height[gap]) / width);
        }
    }
    return atan(steepest);
}

static void exchange_block(void *context, int64_t first, int64_t end)
{
    const Step *s = context;
    const WadiDemColumns *c = s->columns;
    for (int64_t i = first; i < end; ++i) {
        const double surface = s->surface[i], h = fmin(c->height[i], surface);
        const double theta = wadi_dem_frontier_angle(c, (int32_t)i);
        const double exchange = s->law->rate * (surface - h) * (theta - s->law->repose);
        const double evolved = h - s->dt * exchange;
        const double rolling = fmax(surface - evolved, s->law->thinnest);
        c->next[i] = fmax(surface - rolling, c->floor[i]);
    }
}

static void adopt_block(void *context, int64_t first, int64_t end)
{
    const Step *s = context;
    const WadiDemColumns *c = s->columns;
    for (int64_t i = first; i < end; ++i) {
        c->height[i] = c->next[i];
        c->rolling[i] = fmax(s->surface[i] - c->next[i], 0.0);
    }
}

void wadi_dem_frontier_evolve(WadiDemColumns *columns, const double *surface, const WadiDemFrontier *law,
                              double dt)
{
    Step step = { .columns = columns, .surface = surface, .law = law, .dt = dt };
    wadi_parallel_for(columns->count, GAP_BLOCK, exchange_block, &step);
    wadi_parallel_for(columns->count, GAP_BLOCK, adopt_block, &step);
}
