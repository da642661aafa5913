/* The coarse levels after the first: well connected unknowns of one 2 x 2 x 2 block are joined, until each
 * component is a single unknown. Unknowns are in Morton order, so that a block is a run of equal codes. */
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

/* An edge joins only if it has at least this fraction of the strongest edge of both its ends. A narrow
 * opening between two large blocks has not, and they stay separate. The strongest edge of an unknown always
 * joins. */
#define JOIN_FRACTION 0.2f
/* From this level on all codes are zero and every edge joins: the next level is the last. */
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

/* A chunk of unknowns consists of whole blocks, so that chunks are coarsened independently. */
typedef struct Chunk {
    int32_t first, end;
    int32_t parent_first, parents; /* its coarse unknowns */
    int32_t member_first, members; /* unknowns that have a parent */
    int32_t edge_first, edges;     /* edges of its coarse unknowns */
} Chunk;

typedef struct Coarsen {
    WadiPoissonLevel *level, *coarse;
    float join_fraction;
    Chunk *chunk;
    int32_t *link; /* union-find: an earlier unknown of its part, or itself */
    /* Per chunk from the offset of its first unknown's edges: coarse edges are at most as many. */
    int32_t *to;
    float *coupling;
} Coarsen;

/* Cuts chunks of about WADI_POISSON_CELL_BLOCK unknowns. Returns the count. */
static int32_t cut_chunks(const WadiPoissonLevel *level, Chunk *chunk)
{
    int32_t count = 0;
    for (int32_t start = 0; start < level->count; ++count) {
        int32_t end = start + WADI_POISSON_CELL_BLOCK;
        end = end < level->count ? end : level->count;
        while (end < level->count && level->key[end] >> 3 == level->key[end - 1] >> 3) {
            ++end;
        }
        chunk[count] = (Chunk){ .first = start, .end = end };
        start = end;
    }
    return count;
}

/* Sets the parent of each unknown: the number of its connected part, in the order of the parts' first
 * unknowns, counted from the chunk's first. level->x is scratch: the strongest edge of each unknown. */
static void join_chunk(const Coarsen *job, Chunk *chunk)
{
    const WadiPoissonLevel *level = job->level;
    int32_t *link = job->link, parents = 0, members = 0;
    for (int32_t start = chunk->first, end; start < chunk->end; start = end) {
        uint64_t block = level->key[start] >> 3;
        for (end = start; end < chunk->end && level->key[end] >> 3 == block; ++end) {
            link[end] = end;
        }
        for (int32_t i = start; i < end; ++i) {
            for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
                int32_t to = level->to[e];
                if (to >= start && to < i &&
                    level->coupling[e] >=
                        job->join_fraction * (level->x[i] < level->x[to] ? level->x[i] : level->x[to])) {
                    /* The lower root stays: a part is identified by its first unknown. */
                    int32_t a = root_of(link, i), b = root_of(link, to);
                    link[a > b ? a : b] = a > b ? b : a;
                }
            }
        }
        for (int32_t i = start; i < end; ++i) {
            int32_t root = root_of(link, i);
            bool is_isolated = level->first[i] == level->first[i + 1];
            level->parent[i] = is_isolated ? -1 : root < i ? level->parent[root] : parents++;
            members += !is_isolated;
        }
    }
    chunk->parents = parents;
    chunk->members = members;
}

static void join_chunks(void *context, int64_t first, int64_t end)
{
    const Coarsen *job = context;
    for (int64_t n = first; n < end; ++n) {
        join_chunk(job, &job->chunk[n]);
    }
}

/* Makes the parents' numbers global, and lists the children of each parent. */
static void list_members(void *context, int64_t first, int64_t end)
{
    const Coarsen *job = context;
    const WadiPoissonLevel *level = job->level;
    for (int64_t n = first; n < end; ++n) {
        const Chunk *chunk = &job->chunk[n];
        int32_t *start = level->member_first + chunk->parent_first;
        memset(start, 0, (size_t)chunk->parents * sizeof *start);
        for (int32_t i = chunk->first; i < chunk->end; ++i) {
            if (level->parent[i] >= 0) {
                ++start[level->parent[i]];
            }
        }
        int32_t offset = chunk->member_first;
        for (int32_t c = 0; c < chunk->parents; ++c) {
            offset += start[c];
            start[c] = offset; /* end of its members, which are filled in backwards */
        }
        for (int32_t i = chunk->end - 1; i >= chunk->first; --i) {
            if (level->parent[i] >= 0) {
                level->member[--start[level->parent[i]]] = i;
                level->parent[i] += chunk->parent_first;
            }
        }
    }
}

/* Sums the edges that leave the members of one coarse unknown; returns their count. */
static int32_t sum_edges(const Coarsen *job, int32_t c, int32_t *restrict edge_to, float *restrict coupling)
{
    const WadiPoissonLevel *level = job->level;
    WadiPoissonLevel *coarse = job->coarse;
    double excess = 0.0, inside = 0.0;
    int32_t edges = 0;
    for (int32_t m = level->member_first[c]; m < level->member_first[c + 1]; ++m) {
        int32_t i = level->member[m];
        excess += (double)level->excess[i];
        for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
            int32_t to = level->parent[level->to[e]];
            if (to == c) {
                inside += 0.5 * (double)level->coupling[e];
                continue;
            }
            int32_t s = 0;
            while (s < edges && edge_to[s] != to) {
                ++s;
            }
            if (s == edges) {
                edge_to[edges++] = to;
                coupling[s] = 0.0f;
            }
            coupling[s] += level->coupling[e];
        }
    }
    coarse->t[c] = (float)inside;
    coarse->excess[c] = WADI_POISSON_COARSE_EXCESS * (float)excess;
    coarse->key[c] = level->key[level->member[level->member_first[c]]] >> 3;
    return edges;
}

static void sum_chunks(void *context, int64_t first, int64_t end)
{
    const Coarsen *job = context;
    for (int64_t n = first; n < end; ++n) {
        Chunk *chunk = &job->chunk[n];
        const int32_t begin = job->level->first[chunk->first];
        int32_t edges = 0;
        for (int32_t c = chunk->parent_first; c < chunk->parent_first + chunk->parents; ++c) {
            job->coarse->first[c] = edges;
            edges += sum_edges(job, c, job->to + begin + edges, job->coupling + begin + edges);
        }
        chunk->edges = edges;
    }
}

static void pack_chunks(void *context, int64_t first, int64_t end)
{
    const Coarsen *job = context;
    WadiPoissonLevel *coarse = job->coarse;
    for (int64_t n = first; n < end; ++n) {
        const Chunk *chunk = &job->chunk[n];
        const int32_t begin = job->level->first[chunk->first], last = chunk->parent_first + chunk->parents;
        for (int32_t c = chunk->parent_first; c < last; ++c) {
            const int32_t from = coarse->first[c], next = c + 1 < last ? coarse->first[c + 1] : chunk->edges;
            for (int32_t e = from; e < next; ++e) {
                const int32_t to = job->to[begin + e];
                coarse->to[chunk->edge_first + e] = to;
                coarse->coupling[chunk->edge_first + e] =
                    wadi_poisson_coarse_coupling(job->coupling[begin + e], coarse->t[c], coarse->t[to]);
            }
            coarse->first[c] = chunk->edge_first + from;
        }
    }
}

static WadiStatus coarsen(WadiPoissonLevel *level, float join_fraction, WadiPoissonLevel *coarse,
                          WadiArena *arena, WadiError *error)
{
    Coarsen job = { .level = level, .coarse = coarse, .join_fraction = join_fraction };
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const size_t edge_capacity = (size_t)level->first[level->count];
    const size_t chunk_capacity = (size_t)wadi_parallel_block_count(level->count, WADI_POISSON_CELL_BLOCK);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &job.link, (size_t)level->count, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &job.chunk, chunk_capacity, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &job.to, edge_capacity, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &job.coupling, edge_capacity, "coarse grid", error));
    const int32_t chunks = cut_chunks(level, job.chunk);
    wadi_parallel_for(level->count, WADI_POISSON_CELL_BLOCK, find_strongest, level);
    wadi_parallel_for(chunks, 1, join_chunks, &job);
    int32_t parents = 0, members = 0, edges = 0;
    for (int32_t n = 0; n < chunks; ++n) {
        job.chunk[n].parent_first = parents;
        job.chunk[n].member_first = members;
        parents += job.chunk[n].parents;
        members += job.chunk[n].members;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &level->member_first, (size_t)parents + 1, "coarse grid", error));
    level->member_first[parents] = members;
    wadi_parallel_for(chunks, 1, list_members, &job);
    WADI_TRY(wadi_poisson_level_alloc(coarse, parents, arena, error));
    wadi_parallel_for(chunks, 1, sum_chunks, &job);
    for (int32_t n = 0; n < chunks; ++n) {
        job.chunk[n].edge_first = edges;
        edges += job.chunk[n].edges;
    }
    coarse->first[parents] = edges;
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->to, (size_t)edges, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &coarse->coupling, (size_t)edges, "coarse grid", error));
    wadi_parallel_for(chunks, 1, pack_chunks, &job);
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
        /* Codes have 63 bits and lose three per level: after 22 levels all lie in one block. */
        WADI_ASSERT_TRY(tree->level_count < WADI_POISSON_LEVELS, error);
        float join_fraction = tree->level_count < LAST_JOIN_LEVEL ? JOIN_FRACTION : 0.0f;
        WADI_TRY(coarsen(level, join_fraction, level + 1, arena, error));
        ++tree->level_count;
    }
}
