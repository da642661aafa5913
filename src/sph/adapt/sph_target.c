#include "sph/adapt/sph_target.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "math/cbrt.h"
#include "sph/adapt/sph_feature.h"

enum { ROW_BLOCK = 64, PARTICLE_BLOCK = 1024 };

/* A size grows by so much a finest spacing. A neighbour is about one size away, and 1.2^3 < 2. */
static const double GRADING = 0.2;

typedef struct Target {
    const WadiSphTargetIn *in;
    const WadiSphTarget *out;
    const WadiSphBodyGrid *grid;
    float *depth;
    float *limit, *next; /* m: what elfs is cut to; sizes follow by the factors of events */
    bool is_first_round;
    uint8_t *changed[2];   /* a byte per row: the round before, but for the first, and this one */
    double finest;         /* m: of it where particles are the finest */
    double largest;        /* m: depths are cut to it, and what elfs may be */
    double slope;          /* growth of the limit */
    bool has_interface;    /* there is sand and water, and a rule for where they meet */
    const uint8_t *has[2]; /* a byte per row: cells with water and with sand */
} Target;

/* Lowers the limit of a cell `distance` away from something with a rule. */
static void lower(const Target *t, size_t cell, double distance, double within)
{
    const double limit = t->finest + t->slope * (distance - within);
    t->limit[cell] = fminf(t->limit[cell], (float)limit);
}

static double collider_distance(const WadiSphTargetIn *in, WadiVec3 x)
{
    double distance = INFINITY;
    for (int s = 0; s < in->body.solids->count; ++s) {
        distance = fmin(distance, wadi_shape_clearance(in->body.solids->solids[s].shape, x, in->body.time));
    }
    return distance;
}

static unsigned interface_bits(const Target *t, int32_t row)
{
    unsigned bits = t->has[0][row] & t->has[1][row];
    for (int side = 0; side < 6; ++side) {
        bits |= t->has[0][row] & wadi_row_neighbour_bits(&t->grid->rows, t->has[1], row, side);
        bits |= t->has[1][row] & wadi_row_neighbour_bits(&t->grid->rows, t->has[0], row, side);
    }
    return bits;
}

static void rule_rows(void *context, int64_t first, int64_t end)
{
    const Target *t = context;
    const WadiSphNear *near = &t->in->near;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        const unsigned both = t->has_interface ? interface_bits(t, row) : 0u;
        for (int l = 0; l < 8; ++l) {
            const size_t cell = 8 * (size_t)row + (size_t)l;
            if ((t->grid->inside[row] >> l & 1) == 0) {
                t->limit[cell] = INFINITY;
                continue;
            }
            const WadiVec3 x = wadi_sph_body_centre(t->grid, cell);
            if (near->surface >= 0.0 && (double)t->depth[cell] < t->largest) {
                lower(t, cell, (double)t->depth[cell], near->surface);
            }
            if (near->colliders >= 0.0) {
                lower(t, cell, collider_distance(t->in, x), near->colliders);
            }
            for (int p = 0; p < 2; ++p) {
                if (near->points[p].within >= 0.0) {
                    lower(t, cell, wadi_norm(wadi_sub(x, near->points[p].at)), near->points[p].within);
                }
            }
            if ((both >> l & 1) != 0) {
                lower(t, cell, 0.0, near->interface);
            }
        }
    }
}

/* Whether neither a row nor those beside it changed in the round before. */
static bool stays(const Target *t, int32_t row)
{
    bool stays = !t->is_first_round && t->changed[0][row] == 0;
    for (int side = 0; side < 6 && stays; ++side) {
        stays = t->changed[0][t->grid->rows.neighbour[row][side]] == 0;
    }
    return stays;
}

/* One round of limiting by the neighbours. */
static double grade_rows(void *context, int64_t first, int64_t end)
{
    const Target *t = context;
    const float step = (float)(t->slope * t->grid->cell_size);
    int changed = 0;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        if (stays(t, row)) {
            t->changed[1][row] = 0;
            continue;
        }
        float least[8];
        memcpy(least, t->limit + 8 * (size_t)row, sizeof least);
        for (int side = 0; side < 6; ++side) {
            float beside[8];
            const unsigned body = wadi_row_neighbour_bits(&t->grid->rows, t->grid->inside, row, side);
            wadi_row_neighbours(&t->grid->rows, t->limit, row, side, beside);
            for (int l = 0; l < 8; ++l) {
                const float limit = (body >> l & 1) != 0 ? beside[l] + step : INFINITY;
                least[l] = limit < least[l] ? limit : least[l];
            }
        }
        int differs = 0;
        for (int l = 0; l < 8; ++l) {
            differs |= least[l] < t->limit[8 * (size_t)row + (size_t)l];
        }
        t->changed[1][row] = (uint8_t)differs;
        changed |= differs;
        memcpy(t->next + 8 * (size_t)row, least, sizeof least);
    }
    return changed;
}

static void bound_block(void *context, int64_t first, int64_t end)
{
    const Target *t = context;
    const WadiSphTargetIn *in = t->in;
    const WadiParticles *p = in->body.particles;
    const double support = 2.0 * in->body.spacing; /* of a particle of size 1 */
    for (int64_t i = first; i < end; ++i) {
        const double x[3] = { p->x[i], p->y[i], p->z[i] };
        double values[2];
        const bool is_in =
            wadi_sph_body_sample(t->grid, (const float *const[]){ t->limit, t->depth }, x, values);
        const double limit = is_in ? fmax(t->finest, values[0]) : t->finest, depth = values[1];
        const double split = limit / (in->split * support), merge = limit / (in->merge * support);
        t->out->split_above[i] = (float)(split * split * split);
        t->out->merge_below[i] = (float)(merge * merge * merge);
        t->out->depth[i] = (float)(depth / (wadi_cbrt(in->body.volume[i]) * in->body.spacing));
    }
}

/* The cells of the cube that a particle fills. */
static void mark_cube(const Target *t, int32_t i, uint8_t *bits)
{
    const WadiSphBodyGridIn *in = &t->in->body;
    const double half = 0.5 * wadi_cbrt(in->volume[i]) + 0.1; /* cells; so that cubes of neighbours touch */
    const double at[3] = { in->particles->x[i], in->particles->y[i], in->particles->z[i] };
    int32_t low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        low[a] = (int32_t)floor(at[a] / in->spacing - half);
        high[a] = (int32_t)floor(at[a] / in->spacing + half);
    }
    for (int32_t k = low[2]; k <= high[2]; ++k) {
        for (int32_t j = low[1]; j <= high[1]; ++j) {
            for (int32_t c = low[0]; c <= high[0]; ++c) {
                bits[wadi_rows_find(&t->grid->rows, c, j, k)] |= (uint8_t)(1u << (c & 7));
            }
        }
    }
    bits[0] = 0; /* the null row stays empty */
}

static bool has_both_kinds(const WadiSphTargetIn *in)
{
    bool has_both = false;
    for (int32_t i = 1; i < in->body.particles->count; ++i) {
        has_both = has_both || (in->is_sand[i] != 0) != (in->is_sand[0] != 0);
    }
    return has_both;
}

static WadiStatus mark_kinds(Target *t, WadiArena *arena, WadiError *error)
{
    const WadiParticles *p = t->in->body.particles;
    uint8_t *has[2] = { NULL, NULL };
    for (int kind = 0; kind < 2; ++kind) {
        WADI_TRY(WADI_ARENA_NEW(arena, &has[kind], (size_t)t->grid->rows.count, "particle sizes", error));
        memset(has[kind], 0, (size_t)t->grid->rows.count);
        t->has[kind] = has[kind];
    }
    for (int32_t i = 0; i < p->count; ++i) {
        mark_cube(t, i, has[t->in->is_sand[i] != 0]);
    }
    return WADI_OK;
}

static WadiStatus grade(Target *t, WadiArena *arena, WadiError *error)
{
    double *partials = NULL;
    uint8_t *changed[2] = { NULL, NULL };
    const int64_t rows = t->grid->rows.count - 1;
    for (int n = 0; n < 2; ++n) {
        WADI_TRY(WADI_ARENA_NEW(arena, &changed[n], (size_t)rows + 1, "particle sizes", error));
        changed[n][0] = 0; /* the null row */
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &t->next, wadi_rows_floats(&t->grid->rows), "particle sizes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)wadi_parallel_block_count(rows, ROW_BLOCK),
                            "particle sizes", error));
    memset(t->next, 0, 8 * sizeof(float));
    for (int round = 0, is_done = 0; !is_done; ++round) { /* limits fall, each by a cell's growth at least */
        t->is_first_round = round == 0;
        t->changed[0] = changed[(round + 1) % 2];
        t->changed[1] = changed[round % 2];
        is_done = wadi_parallel_max(rows, ROW_BLOCK, grade_rows, t, partials) <= 0.0;
        float *swap = t->limit;
        t->limit = t->next, t->next = swap;
    }
    return WADI_OK;
}

WadiStatus wadi_sph_target(const WadiSphTarget *target, const WadiSphTargetIn *in, WadiArena *arena,
                           WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const double support = 2.0 * in->body.spacing;
    WadiSphBodyGrid grid;
    WADI_TRY(wadi_sph_body_grid(&grid, &in->body, arena, error));
    Target t = { .in = in,
                 .out = target,
                 .grid = &grid,
                 .depth = grid.depth,
                 .finest = in->split * support,
                 .largest = 0.999 * in->merge * support * in->largest,
                 .slope = GRADING * 2.0 * in->split };
    WADI_TRY(WADI_ARENA_NEW(arena, &t.limit, wadi_rows_floats(&grid.rows), "particle sizes", error));
    const WadiSphFeatureIn feature = { .rows = &grid.rows,
                                       .inside = grid.inside,
                                       .solid = grid.solid,
                                       .cell_size = grid.cell_size,
                                       .largest = in->merge * support * in->largest };
    WADI_TRY(wadi_sph_feature_size(grid.depth, t.limit, &feature, arena, error));
    t.has_interface = in->near.interface >= 0.0 && has_both_kinds(in);
    if (t.has_interface) {
        WADI_TRY(mark_kinds(&t, arena, error));
    }
    wadi_parallel_for(grid.rows.count - 1, ROW_BLOCK, rule_rows, &t);
    WADI_TRY(grade(&t, arena, error));
    wadi_parallel_for(in->body.particles->count, PARTICLE_BLOCK, bound_block, &t);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
