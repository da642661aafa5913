/* The first coarse level: the cells of a 2 x 2 x 2 block that are connected inside it become one unknown.
 *
 * Differs from plain aggregation [theory 5.3]: a block that a wall or gap divides gives one unknown per side,
 * so that a thin wall stays a wall on every level and each component ends as one unknown. */
#include <string.h>

#include "core/parallel.h"
#include "linsys/poisson_internal.h"

typedef struct Build {
    WadiPoissonFine *fine;
    WadiPoissonLevel *level;
    int32_t *split; /* per tile: blocks with more than one part */
    int64_t *space; /* per tile: offset of its edges in the temporary arrays */
    int32_t *to;
    float *coupling;
} Build;

/* The blocks of a tile that contain unknowns, by Morton code: bits x, y, z of the low half first. */
typedef struct Blocks {
    int32_t rows[64]; /* by index in the tile; set where the row exists */
    /* by code, set where occupied: bit per cell, bit a of a cell's number being its side along axis a */
    uint8_t present[64];
    uint64_t occupied;
} Blocks;

static void find_blocks(const WadiPoissonFine *f, int64_t tile, Blocks *blocks)
{
    static const uint8_t spread[4] = { 0, 1, 8, 9 };
    blocks->occupied = 0;
    int32_t row = f->rows->first[tile];
    for (uint64_t left = f->rows->mask[tile]; left != 0; left &= left - 1, ++row) {
        int index = __builtin_ctzll(left), j = index & 7, k = index >> 3;
        int pair = (j & 1) + 2 * (k & 1), code = spread[j >> 1] << 1 | spread[k >> 1] << 2;
        blocks->rows[index] = row;
        for (int m = 0; m < 4; ++m) {
            unsigned both = f->coupled[row] >> (2 * m) & 3u;
            int at = code | spread[m];
            if (both != 0) {
                if ((blocks->occupied >> at & 1) == 0) {
                    blocks->occupied |= UINT64_C(1) << at;
                    blocks->present[at] = 0;
                }
                blocks->present[at] = (uint8_t)(blocks->present[at] | both << (2 * pair));
            }
        }
    }
}

/* One block: a pair of cells in each of four rows. */
typedef struct Block {
    int32_t row[4]; /* 0 where no cell is present */
    int lane;
    unsigned present;
    unsigned part[8]; /* sets of connected cells */
    int part_count;
} Block;

static void block_at(const Blocks *blocks, int code, Block *block)
{
    int j = 2 * ((code >> 1 & 1) | (code >> 3 & 2)), k = 2 * ((code >> 2 & 1) | (code >> 4 & 2));
    block->lane = 2 * ((code & 1) | (code >> 2 & 2));
    block->present = blocks->present[code];
    for (int pair = 0; pair < 4; ++pair) {
        bool is_present = (block->present >> (2 * pair) & 3u) != 0;
        block->row[pair] = is_present ? blocks->rows[j + (pair & 1) + 8 * (k + (pair >> 1))] : 0;
    }
}

static inline size_t cell_of(const Block *block, int q)
{
    return 8 * (size_t)block->row[q >> 1] + (size_t)(block->lane + (q & 1));
}

static void split_block(const WadiPoissonFine *f, Block *block)
{
    const float *c[3] = { f->cx, f->cy, f->cz };
    unsigned neighbour[8] = { 0 };
    int joined = 0;
    for (int axis = 0; axis < 3; ++axis) {
        for (int q = 0; q < 8; ++q) {
            int low = q & ~(1 << axis);
            if (low != q && (block->present >> q & 1) != 0 && c[axis][cell_of(block, q)] > 0.0f) {
                neighbour[q] |= 1u << low;
                neighbour[low] |= 1u << q;
                ++joined;
            }
        }
    }
    if (joined == 12) {
        block->part[0] = block->present;
        block->part_count = 1;
        return;
    }
    block->part_count = 0;
    for (unsigned left = block->present; left != 0;) {
        unsigned part = left & (0u - left), grown = 0;
        while (grown != part) {
            unsigned fresh = part & ~grown;
            grown = part;
            for (; fresh != 0; fresh &= fresh - 1) {
                part |= neighbour[__builtin_ctz(fresh)];
            }
        }
        block->part[block->part_count++] = part;
        left &= ~part;
    }
}

/* Edges of one part; it has at most 24 outer faces. */
typedef struct Edges {
    int count, from; /* from: first edge of the current side; other sides have other targets */
    int32_t to[24];
    float coupling[24];
} Edges;

static inline void add_face(Edges *edges, float coupling, int32_t parent)
{
    if (coupling <= 0.0f) {
        return;
    }
    int e = edges->from;
    while (e < edges->count && edges->to[e] != parent) {
        ++e;
    }
    if (e == edges->count) {
        edges->to[edges->count++] = parent;
        edges->coupling[e] = 0.0f;
    }
    edges->coupling[e] += coupling;
}

static inline void add_side(const WadiPoissonFine *f, const Block *block, unsigned part, int axis, int side,
                            Edges *edges)
{
    const float *c = axis == 0 ? f->cx : axis == 1 ? f->cy : f->cz;
    edges->from = edges->count;
    for (int pair = 0; pair < 4; ++pair) {
        unsigned cells = part >> (2 * pair) & 3u;
        if (cells == 0 || (axis > 0 && (pair >> (axis - 1) & 1) != side)) {
            continue;
        }
        int32_t row = block->row[pair], neighbour_row = f->rows->neighbour[row][2 * axis + side];
        size_t cell = 8 * (size_t)row + (size_t)block->lane;
        if (axis == 0) {
            size_t neighbour = side == 0 ? (block->lane > 0 ? cell - 1 : 8 * (size_t)neighbour_row + 7)
                                         : (block->lane < 6 ? cell + 2 : 8 * (size_t)neighbour_row);
            if ((cells >> side & 1) != 0) {
                add_face(edges, c[side == 0 ? cell : neighbour], f->parent[neighbour]);
            }
            continue;
        }
        size_t neighbour = 8 * (size_t)neighbour_row + (size_t)block->lane;
        for (size_t l = 0; l < 2; ++l) {
            if ((cells >> l & 1) != 0) {
                add_face(edges, c[side == 0 ? cell + l : neighbour + l], f->parent[neighbour + l]);
            }
        }
    }
}

static void part_edges(const WadiPoissonFine *f, const Block *block, unsigned part, Edges *edges)
{
    edges->count = 0;
    add_side(f, block, part, 0, 0, edges);
    add_side(f, block, part, 0, 1, edges);
    add_side(f, block, part, 1, 0, edges);
    add_side(f, block, part, 1, 1, edges);
    add_side(f, block, part, 2, 0, edges);
    add_side(f, block, part, 2, 1, edges);
}

/* The six edges of a block full of fluid and surrounded by fluid: its faces are equal, and those of a side
 * have one target. False for any other block. */
static bool plain_edges(const WadiPoissonFine *f, const Block *block, Edges *edges)
{
    const int32_t *row = block->row;
    if (block->present != 0xff ||
        (f->is_plain[row[0]] & f->is_plain[row[1]] & f->is_plain[row[2]] & f->is_plain[row[3]]) == 0) {
        return false;
    }
    const size_t lane = (size_t)block->lane;
    const int32_t *parent = f->parent;
    for (int side = 0; side < 2; ++side) {
        /* The two rows that face this side along y, and the two along z. */
        const int32_t y[2] = { f->rows->neighbour[row[side]][2 + side],
                               f->rows->neighbour[row[2 + side]][2 + side] };
        const int32_t z[2] = { f->rows->neighbour[row[2 * side]][4 + side],
                               f->rows->neighbour[row[2 * side + 1]][4 + side] };
        size_t x[4];
        for (int pair = 0; pair < 4; ++pair) {
            size_t cell = 8 * (size_t)row[pair] + lane,
                   other = 8 * (size_t)f->rows->neighbour[row[pair]][side];
            x[pair] = side == 0 ? (lane > 0 ? cell - 1 : other + 7) : (lane < 6 ? cell + 2 : other);
        }
        const int32_t along_x = parent[x[0]];
        const int32_t *y0 = parent + 8 * (size_t)y[0] + lane, *y1 = parent + 8 * (size_t)y[1] + lane;
        const int32_t *z0 = parent + 8 * (size_t)z[0] + lane, *z1 = parent + 8 * (size_t)z[1] + lane;
        if (along_x != parent[x[1]] || along_x != parent[x[2]] || along_x != parent[x[3]] || y0[0] != y0[1] ||
            y0[0] != y1[0] || y0[0] != y1[1] || z0[0] != z0[1] || z0[0] != z1[0] || z0[0] != z1[1]) {
            return false;
        }
        edges->to[side] = along_x;
        edges->to[2 + side] = y0[0];
        edges->to[4 + side] = z0[0];
    }
    edges->count = 6;
    for (int e = 0; e < 6; ++e) {
        edges->coupling[e] = 4.0f * f->plain_coupling;
    }
    return true;
}

/* Numbers the parts of each tile from 0. */
static void split_tiles(void *context, int64_t first, int64_t end)
{
    const Build *build = context;
    const WadiPoissonFine *f = build->fine;
    for (int64_t tile = first; tile < end; ++tile) {
        Blocks blocks;
        int32_t count = 0, split = 0;
        find_blocks(f, tile, &blocks);
        for (uint64_t left = blocks.occupied; left != 0; left &= left - 1) {
            Block block;
            block_at(&blocks, __builtin_ctzll(left), &block);
            split_block(f, &block);
            split += block.part_count > 1;
            for (int p = 0; p < block.part_count; ++p, ++count) {
                for (unsigned cells = block.part[p]; cells != 0; cells &= cells - 1) {
                    f->parent[cell_of(&block, __builtin_ctz(cells))] = count;
                }
            }
        }
        f->tile_parent_count[tile] = count;
        build->split[tile] = split;
    }
}

static void number_tiles(void *context, int64_t first, int64_t end)
{
    const WadiPoissonFine *f = ((Build *)context)->fine;
    for (int64_t tile = first; tile < end; ++tile) {
        for (int32_t row = f->rows->first[tile]; row < f->rows->first[tile + 1]; ++row) {
            for (int l = 0; l < 8; ++l) {
                f->parent[8 * (size_t)row + (size_t)l] += f->tile_parent_first[tile];
            }
        }
    }
}

/* The parts of a block from their numbers: cells with the same parent. */
static void read_parts(const WadiPoissonFine *f, Block *block)
{
    block->part_count = 0;
    for (unsigned left = block->present; left != 0;) {
        int32_t parent = f->parent[cell_of(block, __builtin_ctz(left))];
        unsigned part = 0;
        for (unsigned remaining = left; remaining != 0; remaining &= remaining - 1) {
            int q = __builtin_ctz(remaining);
            part |= (unsigned)(f->parent[cell_of(block, q)] == parent) << q;
        }
        block->part[block->part_count++] = part;
        left &= ~part;
    }
}

static void sum_cells(const WadiPoissonFine *f, const Block *block, unsigned part, double *excess,
                      double *couplings)
{
    *excess = *couplings = 0.0;
    for (unsigned cells = part; cells != 0; cells &= cells - 1) {
        size_t cell = cell_of(block, __builtin_ctz(cells));
        *excess += (double)f->excess[cell];
        *couplings += 1.0 / (double)f->inverse[cell] - (double)f->excess[cell];
    }
}

/* Writes edges to the tile's range of the temporary arrays, their counts to level->first; also excess, code
 * and (in t) inner couplings of each unknown. */
static void make_edges(void *context, int64_t first, int64_t end)
{
    const Build *build = context;
    const WadiPoissonFine *f = build->fine;
    WadiPoissonLevel *level = build->level;
    for (int64_t tile = first; tile < end; ++tile) {
        Blocks blocks;
        int32_t c = f->tile_parent_first[tile];
        int64_t at = build->space[tile];
        find_blocks(f, tile, &blocks);
        for (uint64_t left = blocks.occupied; left != 0; left &= left - 1) {
            Block block;
            Edges edges;
            edges.count = 0; /* set below either way, which gcc does not see at -O1 */
            int code = __builtin_ctzll(left);
            block_at(&blocks, code, &block);
            const bool is_plain = plain_edges(f, &block, &edges);
            if (is_plain) {
                block.part_count = 1;
            } else {
                read_parts(f, &block);
            }
            for (int p = 0; p < block.part_count; ++p, ++c) {
                double excess = 0.0, outside = 0.0, couplings = 48.0 * (double)f->plain_coupling;
                if (!is_plain) {
                    part_edges(f, &block, block.part[p], &edges);
                    sum_cells(f, &block, block.part[p], &excess, &couplings);
                }
                for (int e = 0; e < edges.count; ++e, ++at) {
                    build->to[at] = edges.to[e];
                    build->coupling[at] = edges.coupling[e];
                    outside += (double)edges.coupling[e];
                }
                level->first[c] = edges.count;
                level->t[c] = couplings > 1.0001 * outside ? (float)(0.5 * (couplings - outside)) : 0.0f;
                level->key[c] = level->key[c] << 6 | (uint64_t)code;
                level->excess[c] = WADI_POISSON_COARSE_EXCESS * (float)excess;
            }
        }
    }
}

static void pack_edges(void *context, int64_t first, int64_t end)
{
    const Build *build = context;
    WadiPoissonLevel *level = build->level;
    for (int64_t tile = first; tile < end; ++tile) {
        int32_t c = build->fine->tile_parent_first[tile], at = level->first[c];
        size_t count = (size_t)(level->first[c + build->fine->tile_parent_count[tile]] - at);
        if (count == 0) {
            continue;
        }
        memcpy(level->to + at, build->to + build->space[tile], count * sizeof *level->to);
        const float *sum = build->coupling + build->space[tile];
        for (int32_t i = c; i < c + build->fine->tile_parent_count[tile]; ++i) {
            for (int32_t e = level->first[i]; e < level->first[i + 1]; ++e) {
                level->coupling[e] =
                    wadi_poisson_coarse_coupling(sum[e - at], level->t[i], level->t[level->to[e]]);
            }
        }
    }
}

/* A part has one edge per side, except towards a split block: its four faces may then have four targets,
 * three more, for each of the six neighbours of a split block. */
static int64_t edge_space(const Build *build, int32_t tile)
{
    static const int neighbour[7] = { 13, 12, 14, 10, 16, 4, 22 };
    int64_t space = 6 * (int64_t)build->fine->tile_parent_count[tile];
    for (int n = 0; n < 7; ++n) {
        int32_t other = build->fine->rows->tiles->neighbours[tile][neighbour[n]];
        space += other >= 0 ? 18 * (int64_t)build->split[other] : 0;
    }
    return space;
}

static uint64_t spread_bits(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & UINT64_C(0x001f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x001f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    v = (v | v << 2) & UINT64_C(0x1249249249249249);
    return v;
}

typedef struct TileKey {
    uint64_t key;
    int32_t tile;
} TileKey;

/* Stable merge sort between two arrays; returns the one with the result. */
static TileKey *sort_keys(TileKey *keys, TileKey *other, int32_t count)
{
    for (int32_t width = 1; width < count; width *= 2) {
        for (int32_t start = 0; start < count; start += 2 * width) {
            int32_t middle = start + width < count ? start + width : count;
            int32_t end = middle + width < count ? middle + width : count;
            int32_t a = start, b = middle;
            for (int32_t o = start; o < end; ++o) {
                other[o] = b >= end || (a < middle && keys[a].key <= keys[b].key) ? keys[a++] : keys[b++];
            }
        }
        TileKey *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

/* Tiles in Morton order from the smallest coordinates, 19 bits per axis. Beyond that codes repeat for distant
 * tiles, which is harmless since only connected unknowns are joined. */
static WadiStatus order_tiles(const WadiRows *rows, TileKey **sorted, WadiArena *arena, WadiError *error)
{
    int32_t count = rows->tiles->count;
    const WadiTile *tiles = rows->tiles->tiles;
    TileKey *keys, *other;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &keys, (size_t)count, "tile order", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &other, (size_t)count, "tile order", error));
    WadiTile low = tiles[0];
    for (int32_t t = 1; t < count; ++t) {
        low.x = tiles[t].x < low.x ? tiles[t].x : low.x;
        low.y = tiles[t].y < low.y ? tiles[t].y : low.y;
        low.z = tiles[t].z < low.z ? tiles[t].z : low.z;
    }
    for (int32_t t = 0; t < count; ++t) {
        uint64_t x = (uint32_t)tiles[t].x - (uint32_t)low.x, y = (uint32_t)tiles[t].y - (uint32_t)low.y;
        uint64_t z = (uint32_t)tiles[t].z - (uint32_t)low.z;
        keys[t].key =
            spread_bits(x & 0x7ffff) | spread_bits(y & 0x7ffff) << 1 | spread_bits(z & 0x7ffff) << 2;
        keys[t].tile = t;
    }
    *sorted = sort_keys(keys, other, count);
    return WADI_OK;
}

WadiStatus wadi_poisson_aggregate(WadiPoissonFine *fine, WadiPoissonLevel *level, WadiArena *arena,
                                  WadiError *error)
{
    int32_t tiles = fine->rows->tiles->count;
    Build build = { .fine = fine, .level = level };
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->parent, wadi_rows_floats(fine->rows), "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->tile_parent_first, (size_t)tiles, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fine->tile_parent_count, (size_t)tiles, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &build.split, (size_t)tiles, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &build.space, (size_t)tiles, "coarse grid", error));
    memset(fine->parent, 0, wadi_rows_floats(fine->rows) * sizeof *fine->parent);
    wadi_parallel_for(tiles, WADI_POISSON_TILE_BLOCK, split_tiles, &build);
    TileKey *order = NULL;
    if (tiles > 0) {
        WADI_TRY(order_tiles(fine->rows, &order, arena, error));
    }
    int32_t count = 0;
    int64_t space = 0;
    for (int32_t o = 0; o < tiles; ++o) {
        int32_t tile = order[o].tile;
        fine->tile_parent_first[tile] = count;
        build.space[tile] = space;
        count += fine->tile_parent_count[tile];
        space += edge_space(&build, tile);
    }
    WADI_TRY(wadi_poisson_level_alloc(level, count, arena, error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &build.to, (size_t)space, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &build.coupling, (size_t)space, "coarse grid", error));
    for (int32_t o = 0; o < tiles; ++o) {
        for (int32_t c = 0; c < fine->tile_parent_count[order[o].tile]; ++c) {
            level->key[fine->tile_parent_first[order[o].tile] + c] = order[o].key;
        }
    }
    wadi_parallel_for(tiles, WADI_POISSON_TILE_BLOCK, number_tiles, &build);
    wadi_parallel_for(tiles, WADI_POISSON_TILE_BLOCK, make_edges, &build);
    int64_t edges = wadi_prefix_sum(level->first, count);
    WADI_TRY(WADI_ARENA_NEW(arena, &level->to, (size_t)edges, "coarse grid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &level->coupling, (size_t)edges, "coarse grid", error));
    wadi_parallel_for(tiles, WADI_POISSON_TILE_BLOCK, pack_edges, &build);
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}
