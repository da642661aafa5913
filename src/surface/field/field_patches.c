#include "surface/field/field_patches.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"

enum { TILE_BLOCK = 64, PASSES_MAX = 100 };

static const float FACING = 0.5f; /* cosine: patches that differ more belong to another side */
/* Area of the opposite side over that of the same side, from which a patch belongs to a crevice or thin
 * sheet. */
static const float OTHER = 0.25f;
static const float TOWARDS = 0.75f; /* cosine: a patch that faces a wall, or away from it */
/* cubes: distance from a wall that a patch faces, or faces away from */
static const float GAP = 2.0f, FILM = 0.75f;

/* Lanes whose edge to the next node along each axis the surface crosses. */
static void find_crossings(const WadiField *field, int32_t row, unsigned crossed[3])
{
    const int32_t *neighbour = field->rows.neighbour[row];
    WadiI8 is_below = WADI_ROW(field->value, row) < 0.0f;
    unsigned own = wadi_row_bits(&is_below);
    unsigned next = (own >> 1) | (own & 0x80);
    if (neighbour[WADI_ROW_X_MAX] != 0) {
        next = (own >> 1) | (unsigned)(field->value[8 * (size_t)neighbour[WADI_ROW_X_MAX]] < 0.0f) << 7;
    }
    crossed[0] = own ^ next;
    for (int axis = 1; axis < 3; ++axis) {
        int32_t other = neighbour[2 * axis + 1];
        is_below = WADI_ROW(field->value, other) < 0.0f;
        crossed[axis] = other != 0 ? own ^ wadi_row_bits(&is_below) : 0;
    }
}

static int cube_of(int shift, int x, int place)
{
    int bits = 3 - shift;
    return x >> shift | ((place & 7) >> shift) << bits | (place >> 3 >> shift) << 2 * bits;
}

static void mark_cubes(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    const WadiRows *rows = &p->field->rows;
    for (int64_t t = first; t < end; ++t) {
        p->mask[t] = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            unsigned crossed[3];
            find_crossings(p->field, r, crossed);
            for (unsigned left = crossed[0] | crossed[1] | crossed[2]; left != 0; left &= left - 1) {
                p->mask[t] |= UINT64_C(1) << cube_of(p->shift, __builtin_ctz(left), rows->index_in_tile[r]);
            }
        }
    }
}

static void locate_cubes(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    int bits = 3 - p->shift, side = 1 << bits;
    for (int64_t t = first; t < end; ++t) {
        WadiTile tile = p->field->tiles.tiles[t], *cube = p->cube + p->first[t];
        for (uint64_t left = p->mask[t]; left != 0; left &= left - 1) {
            int place = __builtin_ctzll(left);
            *cube++ = (WadiTile){ tile.x * side + (place & (side - 1)),
                                  tile.y * side + (place >> bits & (side - 1)),
                                  tile.z * side + (place >> 2 * bits) };
        }
    }
}

/* A node as row and lane; row 0 when it is not in the band. */
typedef struct Node {
    int32_t row;
    int lane;
} Node;

static inline Node step(const WadiRows *rows, Node node, int side)
{
    if (side > WADI_ROW_X_MAX) {
        return (Node){ rows->neighbour[node.row][side], node.lane };
    }
    int lane = node.lane + (side == WADI_ROW_X_MAX ? 1 : -1);
    return lane >= 0 && lane < 8 ? (Node){ node.row, lane }
                                 : (Node){ rows->neighbour[node.row][side], lane & 7 };
}

static inline float value_of(const WadiField *field, Node node)
{
    return field->value[8 * (size_t)node.row + (size_t)node.lane];
}

/* Unit normal and position `along` where the surface crosses the edge from a node along an axis; false when a
 * node of the stencil is missing. */
static bool find_normal(const WadiField *field, Node from, int axis, float normal[3], float *along)
{
    const WadiRows *rows = &field->rows;
    Node to = step(rows, from, 2 * axis + 1);
    float start = value_of(field, from), stop = value_of(field, to), square = 0.0f;
    *along = start / (start - stop);
    for (int a = 0; a < 3; ++a) {
        if (a == axis) {
            normal[a] = stop - start;
        } else {
            Node neighbour[4] = { step(rows, from, 2 * a), step(rows, from, 2 * a + 1), step(rows, to, 2 * a),
                                  step(rows, to, 2 * a + 1) };
            if (neighbour[0].row == 0 || neighbour[1].row == 0 || neighbour[2].row == 0 ||
                neighbour[3].row == 0) {
                return false;
            }
            float low = value_of(field, neighbour[1]) - value_of(field, neighbour[0]);
            float high = value_of(field, neighbour[3]) - value_of(field, neighbour[2]);
            normal[a] = 0.5f * (low + (high - low) * *along);
        }
        square += normal[a] * normal[a];
    }
    float scale = square > 0.0f ? 1.0f / sqrtf(square) : 0.0f;
    for (int a = 0; a < 3; ++a) {
        normal[a] *= scale;
    }
    return true;
}

/* Adds the crossings of one row and axis. A crossing represents the area |n_axis|: a square of one cell is
 * crossed by |n_x| + |n_y| + |n_z| edges, so that the areas add up for any slope. */
static void add_crossings(WadiPatches *p, int64_t tile, int32_t row, int axis, unsigned crossed)
{
    const WadiRows *rows = &p->field->rows;
    int place = rows->index_in_tile[row], low = (1 << p->shift) - 1;
    float middle = 0.5f * (float)low;
    int32_t node[3];
    wadi_rows_cell(rows, row, node);
    for (; crossed != 0; crossed &= crossed - 1) {
        int x = __builtin_ctz(crossed);
        uint64_t before = p->mask[tile] & ((UINT64_C(1) << cube_of(p->shift, x, place)) - 1);
        int32_t patch = p->first[tile] + __builtin_popcountll(before);
        float normal[3], along,
            at[3] = { (float)(x & low) - middle, (float)(place & low) - middle,
                      (float)(place >> 3 & low) - middle };
        if (!find_normal(p->field, (Node){ row, x }, axis, normal, &along)) {
            continue;
        }
        WadiVec3 global = { node[0] + x + (axis == 0 ? (double)along : 0.0),
                            node[1] + (axis == 1 ? (double)along : 0.0),
                            node[2] + (axis == 2 ? (double)along : 0.0) };
        if (!wadi_box_contains(p->within, global)) {
            continue;
        }
        at[axis] += along;
        float area = fabsf(normal[axis]), *mean = p->mean[patch];
        p->area[patch] += area;
        for (int a = 0; a < 3; ++a) {
            mean[a] += area * at[a];
            mean[3 + a] += area * normal[a];
            mean[6] += area * normal[a] * at[a];
            mean[7] += area * at[a] * at[a];
        }
    }
}

static inline float length_of(const float v[3])
{
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void measure_patches(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    const WadiRows *rows = &p->field->rows;
    for (int64_t t = first; t < end; ++t) {
        if (p->mask[t] == 0) {
            continue;
        }
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            unsigned crossed[3];
            find_crossings(p->field, r, crossed);
            for (int axis = 0; axis < 3; ++axis) {
                add_crossings(p, t, r, axis, crossed[axis]);
            }
        }
        for (int32_t n = p->first[t]; n < p->first[t + 1]; ++n) {
            float *mean = p->mean[n], scale = p->area[n] > 0.0f ? 1.0f / p->area[n] : 0.0f;
            for (int c = 0; c < 8; ++c) {
                mean[c] *= scale;
            }
            p->area[n] = length_of(mean + 3) > FACING ? p->area[n] : 0.0f;
            memcpy(p->position[n], mean, sizeof p->position[n]);
        }
    }
}

/* The patches in the 27 cubes around and including one; where[n] is the index of the cube. */
static int find_around(const WadiPatches *p, int64_t tile, int place, int32_t patch[27], int where[27])
{
    int bits = 3 - p->shift, low = (8 >> p->shift) - 1, count = 0;
    int x = place & low, y = place >> bits & low, z = place >> 2 * bits;
    for (int n = 0; n < 27; ++n) {
        int32_t at = wadi_patch_at(p, (int32_t)tile, x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1);
        if (at >= 0 && p->area[at] > 0.0f) {
            where[count] = n;
            patch[count++] = at;
        }
    }
    return count;
}

static inline float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* True when a patch belongs to a crevice or a film at a wall. Its opposite side is the mirror image, which
 * has no patch. */
static bool is_by_wall(const WadiPatches *p, int32_t patch)
{
    const float *mean = p->mean[patch];
    const int32_t cube[3] = { p->cube[patch].x, p->cube[patch].y, p->cube[patch].z };
    float size = (float)(1 << p->shift), least = TOWARDS * length_of(mean + 3);
    for (int a = 0; a < 3; ++a) {
        double at = (double)(size * ((float)cube[a] + 0.5f) - 0.5f + mean[a]);
        for (int side = 0; side < 2; ++side) {
            float off = side == 0 ? (float)(at - wadi_component(p->within.min, a))
                                  : (float)(wadi_component(p->within.max, a) - at);
            float towards = side == 0 ? -mean[3 + a] : mean[3 + a];
            if ((towards > least && off < GAP * size) || (towards < -least && off < FILM * size)) {
                return true;
            }
        }
    }
    return false;
}

/* Areas around a patch that face the same way; the other way behind it (through the material); the other way
 * before it. */
typedef struct Sides {
    float same, behind, before;
} Sides;

static Sides find_sides(const WadiPatches *p, int64_t tile, int place, int32_t patch)
{
    int32_t around[27];
    int where[27], count = find_around(p, tile, place, around, where);
    const float *own = p->mean[patch];
    float size = (float)(1 << p->shift);
    Sides sides = { 0 };
    for (int n = 0; n < count; ++n) {
        const float *mean = p->mean[around[n]];
        const int step[3] = { where[n] % 3 - 1, where[n] / 3 % 3 - 1, where[n] / 9 - 1 };
        float offset[3];
        for (int a = 0; a < 3; ++a) {
            offset[a] = size * (float)step[a] + mean[a] - own[a];
        }
        bool is_same = dot(own + 3, mean + 3) > 0.0f, is_behind = dot(own + 3, offset) < 0.0f;
        *(is_same ? &sides.same : is_behind ? &sides.behind : &sides.before) += p->area[around[n]];
    }
    return sides;
}

/* scratch[0] > 0 for patches of crevices: voids below the surface, gaps and films at walls. */
static void find_crevices(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    for (int64_t t = first; t < end; ++t) {
        int32_t patch = p->first[t];
        for (uint64_t left = p->mask[t]; left != 0; left &= left - 1, ++patch) {
            Sides sides = find_sides(p, t, __builtin_ctzll(left), patch);
            p->scratch[patch][0] = is_by_wall(p, patch) ? 1.0f : sides.before - OTHER * sides.same;
        }
    }
}

/* scratch[0] > 0 for patches of thin sheets. Runs after the crevices are excluded, since water over a void is
 * no sheet. */
static void find_sheets(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    for (int64_t t = first; t < end; ++t) {
        int32_t patch = p->first[t];
        for (uint64_t left = p->mask[t]; left != 0; left &= left - 1, ++patch) {
            Sides sides = find_sides(p, t, __builtin_ctzll(left), patch);
            p->scratch[patch][0] = sides.behind - OTHER * sides.same;
        }
    }
}

static void exclude(WadiPatches *p, WadiBlockFn find)
{
    wadi_parallel_for(p->field->tiles.count, TILE_BLOCK, find, p);
    for (int32_t n = 0; n < p->count; ++n) {
        p->area[n] = p->scratch[n][0] > 0.0f ? 0.0f : p->area[n];
    }
}

WadiStatus wadi_patches_build(WadiPatches *patches, const WadiField *field, WadiBox within, int shift,
                              WadiArena *arena, WadiError *error)
{
    double per_cell = 1.0 / field->cell;
    *patches = (WadiPatches){ .field = field, .shift = shift };
    patches->within = (WadiBox){ wadi_scale(within.min, per_cell), wadi_scale(within.max, per_cell) };
    size_t tiles = (size_t)field->tiles.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->mask, tiles, "patches of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->first, tiles + 1, "patches of a surface", error));
    wadi_parallel_for(field->tiles.count, TILE_BLOCK, mark_cubes, patches);
    int32_t count = 0; /* at most the number of rows */
    for (size_t t = 0; t < tiles; ++t) {
        patches->first[t] = count;
        count += __builtin_popcountll(patches->mask[t]);
    }
    patches->first[tiles] = patches->count = count;
    if (count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->cube, (size_t)count, "patches of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->position, (size_t)count, "patches of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->area, (size_t)count, "patches of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->mean, (size_t)count, "patches of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &patches->scratch, (size_t)count, "patches of a surface", error));
    memset(patches->area, 0, (size_t)count * sizeof *patches->area);
    memset(patches->mean, 0, (size_t)count * sizeof *patches->mean);
    wadi_parallel_for(field->tiles.count, TILE_BLOCK, locate_cubes, patches);
    wadi_parallel_for(field->tiles.count, TILE_BLOCK, measure_patches, patches);
    exclude(patches, find_crevices);
    exclude(patches, find_sheets);
    return WADI_OK;
}

/* One pass: each patch becomes the area-weighted mean of its neighbours that face the same way, with
 * positions relative to its own cube. */
static void average_tiles(void *context, int64_t first, int64_t end)
{
    WadiPatches *p = context;
    float size = (float)(1 << p->shift);
    for (int64_t t = first; t < end; ++t) {
        int32_t patch = p->first[t];
        for (uint64_t left = p->mask[t]; left != 0; left &= left - 1, ++patch) {
            int32_t around[27];
            int where[27], count = find_around(p, t, __builtin_ctzll(left), around, where);
            const float *own = p->mean[patch];
            float least = FACING * length_of(own + 3), sum[8] = { 0 }, total = 0.0f;
            for (int n = 0; n < count; ++n) {
                const float *mean = p->mean[around[n]];
                if (dot(own + 3, mean + 3) <= least * length_of(mean + 3)) {
                    continue;
                }
                float area = p->area[around[n]];
                const int step[3] = { where[n] % 3 - 1, where[n] / 3 % 3 - 1, where[n] / 9 - 1 };
                float move[3] = { size * (float)step[0], size * (float)step[1], size * (float)step[2] };
                for (int c = 0; c < 8; ++c) {
                    sum[c] += area * mean[c];
                }
                for (int a = 0; a < 3; ++a) {
                    sum[a] += area * move[a];
                    sum[6] += area * move[a] * mean[3 + a];
                    sum[7] += area * move[a] * (2.0f * mean[a] + move[a]);
                }
                total += area;
            }
            float scale = total > 0.0f ? 1.0f / total : 0.0f;
            for (int c = 0; c < 8; ++c) {
                p->scratch[patch][c] = sum[c] * scale;
            }
        }
    }
}

double wadi_patches_average(WadiPatches *patches, double deviation)
{
    /* A pass adds the variance of three equal weights, 2/3 of the squared cube side. */
    double size = (double)(1 << patches->shift), wanted = 1.5 * pow(deviation / size, 2.0);
    int passes = (int)fmax(1.0, fmin(wanted + 0.5, PASSES_MAX));
    for (int n = 0; n < passes; ++n) {
        wadi_parallel_for(patches->field->tiles.count, TILE_BLOCK, average_tiles, patches);
        float(*averaged)[8] = patches->scratch;
        patches->scratch = patches->mean;
        patches->mean = averaged;
    }
    return size * sqrt(passes / 1.5);
}
