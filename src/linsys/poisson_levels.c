/* The coarse levels after the first: unknowns of one block of 2 x 2 x 2 places that are well connected inside it are joined,
 * until each component of the fluid is a single unknown. Unknowns are in Morton order, so a block is a run of equal codes. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "linsys/poisson_internal.h"

WadiStatus wadi_poisson_level_alloc(WadiPoissonLevel *level, int32_t count, WadiArena *arena,
                                    WadiError *error)
{
    size_t n = (size_t)count;
    *level = (WadiPoissonLevel){ .count = count };
    WADI_TRY(WADI_ARENA_NEW(arena, &level->key, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->first, n + 1, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->excess, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->inverse, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->parent, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->member, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->b, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->x, n, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->t, n, "coarse grid", error));
    return WADI_OK;
}

static void invert_diagonals(void *context, int64_t first, int64_t end)
{
    WadiPoissonLevel *level = context;
    for (int64_t i = first; i < end; ++i) {
        double diagonal = (double)level->excess[i];
        for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
            diagonal += (double)level->coupling[e];
        }
        level->inverse[i] = diagonal > 0.0 ? (float)(1.0 / diagonal) : 0.0f;
    }
}

static int32_t root_of(const int32_t *link, int32_t i)
{
    while (link[i] != i) {
        i = link[i];
    }
    return i;
}

/* An edge joins only if it is no weaker than this share of the strongest edge of both its ends: a door between two rooms is
 * not, once blocks are much larger than the door, and the rooms stay apart. An unknown's strongest edge always joins. */
#define JOIN_SHARE 0.2f
/* From here on all codes are zero, and every edge joins: the next level is the last. */
enum { LAST_JOIN_LEVEL = 24 };

static void find_strongest(void *context, int64_t first, int64_t end)
{
    WadiPoissonLevel *level = context;
    for (int64_t i = first; i < end; ++i) {
        float strongest = 0.0f;
        for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
            strongest = level->coupling[e] > strongest ? level->coupling[e] : strongest;
        }
        level->x[i] = strongest;
    }
}

/* Give each unknown its parent: the number of the connected part of its block, in order of the parts' first unknowns.
 * Returns how many there are. `link` is scratch, and so is level->x: the strongest edge of each unknown. */
static int32_t join_blocks(WadiPoissonLevel *level, float join_share, int32_t *link)
{
    int32_t parents = 0;
    wadi_parallel_for(level->count, WADI_POISSON_CELL_BLOCK, find_strongest, level);
    for (int32_t start = 0, end; start < level->count; start = end) {
        uint64_t block = level->key[start] >> 3;
        for (end = start; end < level->count && level->key[end] >> 3 == block; ++end) {
            link[end] = end;
        }
        for (int32_t i = start; i < end; ++i) {
            for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
                int32_t to = level->to[e];
                if (to >= start && to < i &&
                    level->coupling[e] >= join_share * fminf(level->x[i], level->x[to])) {
                    /* The lower root stays: a part is known by its first unknown. */
                    int32_t a = root_of(link, i), b = root_of(link, to);
                    link[a > b ? a : b] = a > b ? b : a;
                }
            }
        }
        for (int32_t i = start; i < end; ++i) {
            int32_t root = root_of(link, i);
            bool is_alone = level->first[i] == level->first[i + 1];
            level->parent[i] = is_alone ? -1 : root < i ? level->parent[root] : parents++;
        }
    }
    return parents;
}

/* Children by parent. `fill` is scratch of `parents`. */
static void list_members(WadiPoissonLevel *level, int32_t parents, int32_t *fill)
{
    memset(level->member_first, 0, ((size_t)parents + 1) * sizeof *level->member_first);
    for (int32_t i = 0; i < level->count; ++i) {
        if (level->parent[i] >= 0) {
            ++level->member_first[level->parent[i]];
        }
    }
    wadi_prefix_sum(level->member_first, parents);
    memcpy(fill, level->member_first, (size_t)parents * sizeof *fill);
    for (int32_t i = 0; i < level->count; ++i) {
        if (level->parent[i] >= 0) {
            level->member[fill[level->parent[i]]++] = i;
        }
    }
}

/* Sum the edges that leave each group of members. `slot` is scratch of one a coarse unknown. */
static void sum_edges(const WadiPoissonLevel *level, WadiPoissonLevel *coarse, int32_t *slot)
{
    int32_t edges = 0;
    memset(slot, 0, (size_t)coarse->count * sizeof *slot);
    for (int32_t c = 0; c < coarse->count; ++c) {
        double excess = 0.0, inside = 0.0;
        int32_t from = edges;
        coarse->first[c] = from;
        for (int32_t m = level->member_first[c]; m < level->member_first[c + 1]; ++m) {
            int32_t i = level->member[m];
            excess += (double)level->excess[i];
            for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
                int32_t to = level->parent[level->to[e]];
                if (to == c) {
                    inside += 0.5 * (double)level->coupling[e];
                    continue;
                }
                /* slot[to] is this unknown's edge only if it lies in this unknown's range and says so. */
                int32_t s = slot[to];
                if (s < from || s >= edges || coarse->to[s] != to) {
                    s = edges++;
                    slot[to] = s;
                    coarse->to[s] = to;
                    coarse->coupling[s] = 0.0f;
                }
                coarse->coupling[s] += level->coupling[e];
            }
        }
        coarse->t[c] = (float)inside;
        coarse->excess[c] = WADI_POISSON_COARSE_EXCESS * (float)excess;
        coarse->key[c] = level->key[level->member[level->member_first[c]]] >> 3;
    }
    coarse->first[coarse->count] = edges;
    for (int32_t c = 0; c < coarse->count; ++c) {
        for (int32_t e = coarse->first[c]; e < coarse->first[c + 1]; ++e) {
            coarse->coupling[e] =
                wadi_poisson_coarse_coupling(coarse->coupling[e], coarse->t[c], coarse->t[coarse->to[e]]);
        }
    }
}

static WadiStatus coarsen(WadiPoissonLevel *level, float join_share, WadiPoissonLevel *coarse,
                          WadiArena *arena, WadiError *error)
{
    int32_t *scratch;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &scratch, (size_t)level->count, "coarse grid", error));
    int32_t parents = join_blocks(level, join_share, scratch);
    WADI_TRY(WADI_ARENA_NEW(arena, &level->member_first, (size_t)parents + 1, "coarse grid", error));
    list_members(level, parents, scratch);
    WADI_TRY(wadi_poisson_level_alloc(coarse, parents, arena, error));
    size_t most = (size_t)level->first[level->count];
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->to, most, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->coupling, most, "coarse grid", error));
    sum_edges(level, coarse, scratch);
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}

WadiStatus wadi_poisson_tree_build(WadiPoissonTree *tree, const WadiPoisson *system, WadiArena *arena,
                                   WadiError *error)
{
    WADI_TRY(wadi_poisson_fine_build(&tree->fine, system, arena, error));
    WADI_TRY(wadi_poisson_aggregate(&tree->fine, &tree->level[0], arena, error));
    tree->level_count = 1;
    for (;;) {
        WadiPoissonLevel *level = &tree->level[tree->level_count - 1];
        wadi_parallel_for(level->count, WADI_POISSON_CELL_BLOCK, invert_diagonals, level);
        if (level->first[level->count] == 0) {
            /* Every unknown is a whole component. */
            for (int32_t i = 0; i < level->count; ++i) {
                level->parent[i] = -1;
            }
            return WADI_OK;
        }
        /* Codes have 63 bits and lose three a level: after 22 levels all lie in one block. */
        WADI_ASSERT(tree->level_count < WADI_POISSON_LEVELS);
        float join_share = tree->level_count < LAST_JOIN_LEVEL ? JOIN_SHARE : 0.0f;
        WADI_TRY(coarsen(level, join_share, level + 1, arena, error));
        ++tree->level_count;
    }
}
