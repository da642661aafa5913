/* Whether a run begins with a bed of sand that the sides of its domain cut off: pictures show it go on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/render/render_plan.h"

/* Cells along each side of the domain, and all around it. */
enum { ALONG = 32, AROUND = 4 * ALONG };
/* Spacings: how far from a side its sand is. */
static const double NEAR = 1.5;
/* Fraction of the sides where sand is, for a bed; and its heights: the middle half of them differs by less than
 * this fraction of their median, or by two spacings. */
static const double COVERED = 0.5, UNEVEN = 0.3;

typedef struct Cell {
    double top, wetness; /* m, of the highest particle's upper end; 0..1, its */
    bool is_covered;
} Cell;

static int by_top(const void *a, const void *b)
{
    const Cell *x = a, *y = b;
    return (x->top > y->top) - (x->top < y->top);
}

/* The cell of a particle at a side of the domain; -1: it is at none. */
static int cell_of(WadiBox domain, const double *x, double near)
{
    for (int side = 0; side < 4; ++side) {
        const int axis = side / 2, across = 1 - axis;
        const double wall = wadi_component(side % 2 == 1 ? domain.max : domain.min, axis);
        const double low = wadi_component(domain.min, across), high = wadi_component(domain.max, across);
        if (fabs(x[axis] - wall) < near && high > low) {
            const double at = ALONG * (x[across] - low) / (high - low);
            return side * ALONG + (int)fmin(fmax(at, 0.0), ALONG - 1);
        }
    }
    return -1;
}

bool wadi_run_bed(WadiRunBed *bed, const WadiScene *scene, const WadiState *frame)
{
    *bed = (WadiRunBed){ 0 };
    const WadiStateArray *x = wadi_state_find(frame, "position"), *radius = wadi_state_find(frame, "radius"),
                         *material = wadi_state_find(frame, "material"),
                         *wetness = wadi_state_find(frame, "wetness");
    if (!scene->has_domain || x == NULL || radius == NULL || material == NULL || x->type != WADI_TYPE_F64 ||
        radius->type != WADI_TYPE_F32 || material->type != WADI_TYPE_U8 || radius->count != x->count ||
        material->count != x->count) {
        return false;
    }
    if (wetness != NULL && (wetness->type != WADI_TYPE_F32 || wetness->count != x->count)) {
        wetness = NULL;
    }
    Cell cells[AROUND] = { 0 };
    double spacing = 0.0;
    for (size_t i = 0; i < x->count; ++i) {
        const double *p = (const double *)x->data + 3 * i, r = (double)((const float *)radius->data)[i];
        const int index = ((const uint8_t *)material->data)[i];
        if (index >= scene->material_count || scene->materials[index].kind != WADI_MATERIAL_SAND ||
            scene->materials[index].look.style == WADI_STYLE_HIDDEN) {
            continue;
        }
        const int n = cell_of(scene->domain, p, 2.0 * NEAR * r);
        if (n >= 0 && (!cells[n].is_covered || p[2] + r > cells[n].top)) {
            cells[n] =
                (Cell){ p[2] + r, wetness != NULL ? (double)((const float *)wetness->data)[i] : 0.0, true };
            spacing = fmax(spacing, 2.0 * r);
        }
    }
    int count = 0;
    for (int n = 0; n < AROUND; ++n) {
        if (cells[n].is_covered) {
            cells[count++] = cells[n];
        }
    }
    if (count < COVERED * AROUND) {
        return false;
    }
    qsort(cells, (size_t)count, sizeof *cells, by_top);
    const double height = cells[count / 2].top - scene->domain.min.z,
                 range = cells[3 * count / 4].top - cells[count / 4].top;
    for (int n = 0; n < count; ++n) {
        bed->wetness += cells[n].wetness / count;
    }
    bed->spacing = spacing;
    bed->height = cells[count / 2].top;
    return range < fmax(UNEVEN * height, 2.0 * spacing);
}
