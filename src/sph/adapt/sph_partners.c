#include "sph/adapt/sph_partners.h"

#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "math/cbrt.h"
#include "math/vec3.h"
#include "particles/cells.h"

enum { CELL_BLOCK = 64 };

typedef struct Search {
    const WadiSphPartnersIn *in;
    WadiCells cells;
    WadiVec3 *x;            /* in the order of the cells */
    double *size, *volume;  /* m, and over that of the finest; the same */
    int64_t *start;         /* per block of cells: where its pairs begin */
    bool is_fill;           /* pairs are written, else counted */
    WadiSphPartners *pairs; /* where they are written */
} Search;

static int compare_pairs(const void *x, const void *y)
{
    const WadiSphPartners *a = x, *b = y;
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    if (a->distance != b->distance) {
        return a->distance < b->distance ? -1 : 1;
    }
    if (a->id_a != b->id_a) {
        return a->id_a < b->id_a ? -1 : 1;
    }
    return a->id_b < b->id_b ? -1 : a->id_b > b->id_b;
}

/* The pairs of particle n of the cells with some others, the first of which is pair `to`; returns how many
 * there are. */
static int64_t pair_one(const Search *s, int32_t n, int32_t first, int32_t end, int64_t to)
{
    const WadiSphPartnersIn *in = s->in;
    const WadiParticles *p = in->particles;
    const int32_t a = s->cells.order[n];
    int64_t found = 0;
    for (int32_t m = first; m < end; ++m) {
        if (!(s->volume[n] > in->ratio * s->volume[m])) {
            continue;
        }
        const double size = 0.5 * (s->size[n] + s->size[m]), reach = 1.01 * in->farthest * size;
        const WadiVec3 d = wadi_sub(s->x[n], s->x[m]);
        const double square = wadi_dot(d, d);
        const int32_t b = s->cells.order[m];
        if (square > reach * reach || m == n || p->material[a] != p->material[b] ||
            !in->may_pair(in->context, a, b)) {
            continue;
        }
        const double distance = sqrt(square) / size;
        if (distance > in->farthest) {
            continue;
        }
        if (s->is_fill) {
            const int level = (int)floor(2.0 * log2(fmax(in->volume[a], in->volume[b])) + 0.5);
            s->pairs[to + found] = (WadiSphPartners){ level, distance, a, b, p->id[a], p->id[b] };
        }
        ++found;
    }
    return found;
}

/* Of the particles first .. end of the cells; 0 where none are too large. */
static double least_volume(const Search *s, int32_t first, int32_t end)
{
    double least = s->in->ratio > 0.0 ? (double)INFINITY : 0.0;
    for (int32_t n = first; n < end; ++n) {
        least = s->volume[n] < least ? s->volume[n] : least;
    }
    return least;
}

static void pair_cells(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    const WadiCells *cells = &s->cells;
    const int64_t block = first / CELL_BLOCK;
    int64_t found = 0;
    for (int64_t c = first; c < end; ++c) {
        const int32_t *at = cells->coordinate[c];
        for (int n = 0; n < 9; ++n) {
            int32_t from, to;
            wadi_cells_find_three(cells, at[0], at[1] + n % 3 - 1, at[2] + n / 3 - 1, &from, &to);
            const double least = least_volume(s, from, to);
            for (int32_t i = cells->start[c]; i < cells->start[c + 1]; ++i) {
                if (!(s->volume[i] > s->in->ratio * least)) {
                    continue;
                }
                found += pair_one(s, i, from, to, s->is_fill ? s->start[block] + found : 0);
            }
        }
    }
    if (!s->is_fill) {
        s->start[block + 1] = found;
    }
}

static WadiStatus begin(Search *s, WadiArena *arena, WadiError *error)
{
    const WadiSphPartnersIn *in = s->in;
    double largest = 0.0;
    for (int32_t n = 0; n < in->listed; ++n) {
        largest = fmax(largest, in->volume[in->list[n]]);
    }
    const double width = in->farthest * wadi_cbrt(largest) * in->spacing;
    WADI_TRY(wadi_cells_build_subset(&s->cells, in->particles, in->list, in->listed, width, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->x, (size_t)in->listed, "pairs to merge", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->size, (size_t)in->listed, "pairs to merge", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->volume, (size_t)in->listed, "pairs to merge", error));
    for (int32_t n = 0; n < in->listed; ++n) {
        const int32_t i = s->cells.order[n];
        s->x[n] = wadi_vec3(in->particles->x[i], in->particles->y[i], in->particles->z[i]);
        s->size[n] = wadi_cbrt(in->volume[i]) * in->spacing;
        s->volume[n] = in->volume[i];
    }
    const int64_t blocks = wadi_parallel_block_count(s->cells.cell_count, CELL_BLOCK);
    return WADI_ARENA_NEW(arena, &s->start, (size_t)blocks + 1, "pairs to merge", error);
}

WadiStatus wadi_sph_partners_find(WadiSphPartners **pairs, int64_t *count, const WadiSphPartnersIn *in,
                                  WadiArena *arena, WadiError *error)
{
    Search s = { .in = in };
    WADI_TRY(begin(&s, arena, error));
    const int32_t cells = s.cells.cell_count;
    const int64_t blocks = wadi_parallel_block_count(cells, CELL_BLOCK);
    wadi_parallel_for(cells, CELL_BLOCK, pair_cells, &s);
    s.start[0] = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        s.start[b + 1] += s.start[b];
    }
    *count = s.start[blocks];
    if (*count > 0) {
        WADI_TRY(WADI_ARENA_NEW(arena, pairs, (size_t)*count, "pairs to merge", error));
        s.is_fill = true;
        s.pairs = *pairs;
        wadi_parallel_for(cells, CELL_BLOCK, pair_cells, &s);
        qsort(*pairs, (size_t)*count, sizeof **pairs, compare_pairs);
    }
    return WADI_OK;
}
