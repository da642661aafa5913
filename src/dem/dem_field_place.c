/* Positions of the particles that gaps hold: in their column and gap, never inside a solid or beyond a closed
 * wall. */
#include <math.h>

#include "dem/dem_field.h"

enum { BISECTIONS = 12 };

double wadi_dem_field_shift(const WadiDemColumns *c, double x, int32_t from, int32_t to, int axis)
{
    double begin, end, to_begin, to_end;
    wadi_dem_columns_span(c, from, axis, &begin, &end);
    wadi_dem_columns_span(c, to, axis, &to_begin, &to_end);
    /* Away from the border by more than rounding, so that the column found from the position is this one. */
    const double part = fmin(fmax((x - begin) / (end - begin), 1e-6), 1.0 - 1e-6);
    return to_begin + part * (to_end - to_begin);
}

/* The scene's solids stand still in this mode. */
static bool is_free(const WadiDemField *field, WadiVec3 x)
{
    return wadi_solids_distance(&field->context->world->solids, x, 0.0, field->radius) >= 0.0;
}

/* x, or the point nearest to it on the way to the axis of its column that is free. The axis is. */
static WadiVec3 free_point(const WadiDemField *field, int32_t gap, WadiVec3 x)
{
    if (field->context->world->solids.count == 0 || is_free(field, x)) {
        return x;
    }
    const int32_t column = wadi_dem_columns_of_gap(field->columns, gap);
    double begin[2], end[2];
    for (int a = 0; a < 2; ++a) {
        wadi_dem_columns_span(field->columns, column, a, &begin[a], &end[a]);
    }
    WadiVec3 axis = { 0.5 * (begin[0] + end[0]), 0.5 * (begin[1] + end[1]), x.z }, blocked = x;
    for (int k = 0; k < BISECTIONS; ++k) {
        const WadiVec3 middle = wadi_scale(wadi_add(axis, blocked), 0.5);
        *(is_free(field, middle) ? &axis : &blocked) = middle;
    }
    return axis;
}

void wadi_dem_field_place(const WadiDemField *field, int32_t i, int32_t gap, WadiVec3 x)
{
    const WadiDemColumns *c = field->columns;
    const WadiSolids *solids = &field->context->world->solids;
    WadiParticles *p = field->context->particles;
    const bool has_lid = (solids->closed_sides & WADI_SIDE_Z_MAX) != 0;
    const double ceiling = has_lid ? fmin(c->ceiling[gap], solids->domain.max.z) : c->ceiling[gap];
    const double skin = fmin(0.1 * field->radius, 0.25 * (ceiling - c->floor[gap]));
    x.z = fmin(fmax(x.z, c->floor[gap] + skin), ceiling - skin);
    x = free_point(field, gap, x);
    p->x[i] = x.x;
    p->y[i] = x.y;
    p->z[i] = x.z;
}

void wadi_dem_field_lower_to(const WadiDemField *field, int32_t i, int32_t gap, double z)
{
    const WadiParticles *p = field->context->particles;
    if (p->z[i] > z) {
        wadi_dem_field_place(field, i, gap, (WadiVec3){ p->x[i], p->y[i], z });
    }
}
