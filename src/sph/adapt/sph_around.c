#include "sph/adapt/sph_around.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/cbrt.h"
#include "sph/pairs/sph_list.h"
#include "sph/pairs/sph_simd_group.h"

enum { CELL_BLOCK = 16, BLOCK = 64, GROUP = WADI_SPH_SIMD_GROUP, ROWS = 9 };

static const double SKIN = 0.3; /* of the lists, sizes */

typedef struct Range {
    int32_t first, end;
} Range;

typedef struct Search {
    WadiSphAround *around;
    const WadiSphAroundIn *in;
    int32_t *axis[3], *cell_of; /* in the order of the cells; padded by GROUP */
    float *half;                /* places, half the support; padded by GROUP */
    uint8_t *changed;           /* a bit each */
    int32_t *changed_before;    /* in the order of the cells */
    uint8_t *is_listed;
    WadiSphLaneTable table;
    bool is_fill;
} Search;

void wadi_sph_around_place(const WadiSphAround *around, const WadiParticles *p, int32_t own)
{
    const int32_t i = around->cells.order[own];
    const double at[3] = { p->x[i], p->y[i], p->z[i] };
    int32_t *place = (int32_t *)&around->place[own];
    for (int a = 0; a < 3; ++a) {
        place[a] = (int32_t)(uint32_t)(uint64_t)(int64_t)floor(at[a] * around->scale); /* wraps */
    }
}

/* The particles of the cells about a cell, three cells a range. */
static void find_ranges(const WadiCells *cells, int32_t cell, Range out[ROWS])
{
    const int32_t *at = cells->coordinate[cell];
    for (int n = 0; n < ROWS; ++n) {
        wadi_cells_find_three(cells, at[0], at[1] + n % 3 - 1, at[2] + n / 3 - 1, &out[n].first, &out[n].end);
    }
}

static void set_centre(const Search *s, int32_t own, double margin, WadiSphCentre *centre)
{
    centre->has_sizes = true;
    centre->half = s->half;
    centre->reach = s->half[own] * (float)(1.0 + margin);
    for (int a = 0; a < 3; ++a) {
        centre->axis[a] = s->axis[a];
        centre->at[a] = (uint32_t)s->axis[a][own];
    }
}

static unsigned changed_bits(const uint8_t *changed, int32_t j)
{
    uint32_t bits;
    memcpy(&bits, changed + (j >> 3), sizeof bits);
    return bits >> (j & 7) & 0xffffu;
}

static bool has_changed(const Search *s, const Range ranges[ROWS])
{
    int32_t count = 0;
    for (int r = 0; r < ROWS; ++r) {
        count += s->changed_before[ranges[r].end] - s->changed_before[ranges[r].first];
    }
    return count > 0;
}

static bool is_near_changed(const Search *s, int32_t own, const Range ranges[ROWS])
{
    WadiSphCentre centre;
    unsigned near = 0;
    set_centre(s, own, 0.0, &centre);
    for (int r = 0; r < ROWS && near == 0; ++r) {
        for (int32_t j = ranges[r].first; j < ranges[r].end && near == 0; j += GROUP) {
            const int32_t left = ranges[r].end - j;
            const unsigned changed =
                changed_bits(s->changed, j) & (left < GROUP ? (1u << left) - 1 : 0xffffu);
            near = changed != 0 ? changed & wadi_sph_within(&centre, j) : 0;
        }
    }
    return near != 0;
}

static void list_cells(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    const WadiCells *cells = &s->around->cells;
    for (int32_t c = (int32_t)first; c < end; ++c) {
        Range ranges[ROWS];
        find_ranges(cells, c, ranges);
        const bool may_be_near = has_changed(s, ranges);
        for (int32_t own = cells->start[c]; own < cells->start[c + 1]; ++own) {
            const int32_t i = cells->order[own];
            const bool may_move = s->in->may_move[i] != 0 && s->in->is_removed[i] == 0;
            s->cell_of[own] = c;
            s->is_listed[own] = may_be_near && may_move && is_near_changed(s, own, ranges);
        }
    }
}

/* The list of one particle, or its length. */
static void search_one(const Search *s, int32_t n, const Range ranges[ROWS])
{
    WadiSphAround *around = s->around;
    const int32_t own = around->list[n];
    WadiSphCentre centre;
    uint32_t found[WADI_SPH_LIST_BUFFER + GROUP + WADI_SPH_LANES]; /* room for what is overwritten */
    int buffered = 0;
    int64_t count = 0;
    uint32_t *to = s->is_fill ? around->offset + around->start[n] : NULL;
    set_centre(s, own, SKIN, &centre);
    for (int r = 0; r < ROWS; ++r) {
        const int32_t end = ranges[r].end;
        for (int32_t j = ranges[r].first; j < end; j += GROUP) {
            unsigned bits = wadi_sph_within(&centre, j);
            bits &= end - j < GROUP ? (1u << (end - j)) - 1 : 0xffffu;
            bits &= ~((uint32_t)own - (uint32_t)j < GROUP ? 1u << (own - j) : 0u);
            count += __builtin_popcount(bits);
            if (s->is_fill) {
                buffered += wadi_sph_append(&s->table, found + buffered, j, bits);
                if (buffered > WADI_SPH_LIST_BUFFER) {
                    memcpy(to, found, (size_t)buffered * sizeof *found);
                    to += buffered, buffered = 0;
                }
            }
        }
    }
    if (s->is_fill) {
        memcpy(to, found, (size_t)buffered * sizeof *found);
    } else {
        around->start[n + 1] = count;
    }
}

static void search_block(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    int32_t last = -1;
    Range ranges[ROWS];
    for (int32_t n = (int32_t)first; n < end; ++n) {
        const int32_t cell = s->cell_of[s->around->list[n]];
        if (cell != last) {
            find_ranges(&s->around->cells, cell, ranges);
            last = cell;
        }
        search_one(s, n, ranges);
    }
}

static WadiStatus begin(Search *s, WadiArena *arena, WadiError *error)
{
    WadiSphAround *around = s->around;
    const WadiParticles *p = s->in->particles;
    const size_t all = (size_t)p->count;
    double largest = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        largest = fmax(largest, s->in->volume[i]);
    }
    const double width = WADI_SPH_SUPPORT * (1.0 + SKIN) * wadi_cbrt(largest) * s->in->spacing;
    WADI_TRY(wadi_cells_build(&around->cells, p, width, arena, error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &s->axis[a], all + GROUP, "shifts", error));
        memset(s->axis[a] + all, 0, GROUP * sizeof(int32_t));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &s->half, all + GROUP, "shifts", error));
    memset(s->half + all, 0, GROUP * sizeof *s->half);
    WADI_TRY(WADI_ARENA_NEW(arena, &s->cell_of, all, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->is_listed, all, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->changed_before, all + 1, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->changed, all / 8 + sizeof(uint32_t) + 1, "shifts", error));
    memset(s->changed, 0, all / 8 + sizeof(uint32_t) + 1);
    WADI_TRY(WADI_ARENA_NEW(arena, &around->place, all, "shifts", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &around->list, all, "shifts", error));
    wadi_sph_lane_table(&s->table);
    return WADI_OK;
}

static void place_block(void *context, int64_t first, int64_t end)
{
    const Search *s = context;
    WadiSphAround *around = s->around;
    for (int32_t own = (int32_t)first; own < end; ++own) {
        const int32_t i = around->cells.order[own];
        const float size = (float)wadi_cbrt(s->in->volume[i]);
        wadi_sph_around_place(around, s->in->particles, own);
        ((float *)around->place)[4 * (size_t)own + 3] = s->in->is_removed[i] != 0 ? 0.0f : size;
        s->half[own] = size * (float)(0.5 * WADI_SPH_SUPPORT * WADI_SPH_PLACES);
        for (int a = 0; a < 3; ++a) {
            s->axis[a][own] = around->place[own][a];
        }
    }
}

/* The lists of those that are listed. */
static WadiStatus make_lists(Search *s, WadiArena *arena, WadiError *error)
{
    WadiSphAround *around = s->around;
    for (int32_t own = 0; own < around->cells.particle_count; ++own) {
        around->list[around->listed] = own;
        around->listed += s->is_listed[own];
    }
    const int32_t listed = around->listed;
    WADI_TRY(WADI_ARENA_NEW(arena, &around->start, (size_t)listed + 1, "shifts", error));
    wadi_parallel_for(listed, BLOCK, search_block, s);
    around->start[0] = 0;
    for (int32_t n = 0; n < listed; ++n) {
        around->start[n + 1] += around->start[n];
    }
    const size_t total = (size_t)around->start[listed];
    WADI_TRY(WADI_ARENA_NEW(arena, &around->offset, total + WADI_SPH_LANES, "shifts", error));
    memset(around->offset + total, 0, WADI_SPH_LANES * sizeof *around->offset);
    s->is_fill = true;
    wadi_parallel_for(listed, BLOCK, search_block, s);
    return WADI_OK;
}

WadiStatus wadi_sph_around_find(WadiSphAround *around, const WadiSphAroundIn *in, WadiArena *arena,
                                WadiError *error)
{
    Search s = { .around = around, .in = in };
    *around = (WadiSphAround){ .scale = WADI_SPH_PLACES / in->spacing };
    WADI_TRY(begin(&s, arena, error));
    const int32_t count = around->cells.particle_count;
    wadi_parallel_for(count, CELL_BLOCK * BLOCK, place_block, &s);
    s.changed_before[0] = 0;
    for (int32_t own = 0; own < count; ++own) {
        const unsigned is_changed = in->is_changed[around->cells.order[own]] != 0;
        s.changed[own >> 3] |= (uint8_t)(is_changed << (own & 7));
        s.changed_before[own + 1] = s.changed_before[own] + (int32_t)is_changed;
    }
    wadi_parallel_for(around->cells.cell_count, CELL_BLOCK, list_cells, &s);
    return make_lists(&s, arena, error);
}
