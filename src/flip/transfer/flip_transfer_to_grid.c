/* Particles to grid: u_f = sum_p m_p w_pf v_p / sum_p m_p w_pf. [ZB05 sec. 4.2.2; JSSTS15; theory 2.1]
 * Each occupied tile adds its particles into its own padded buffer, 10^3 nodes of {momentum, mass} per
 * component; then each row of the grid adds the buffers that overlap it. Both orders are fixed, so the
 * bytes do not depend on the thread count. Only rows within the support of particles are cleared, stored
 * and added: nine for a droplet.
 * Differs: ZB05 averages velocities; here particles may have different masses. */
#include <float.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "flip/transfer/flip_transfer.h"
#include "flip/transfer/flip_transfer_block.h"

enum {
    SIDE = 10,            /* nodes of the buffer along an axis: cells -1 .. 8 of the tile */
    COMPONENT = 2 * SIDE, /* floats of one component of a row */
    ROW = 64,             /* floats of a row: {momentum, mass} pairs of u, of v, of w, and four that stay 0 */
    LAYER = SIDE * ROW,
    STREAMS = 4, /* positions in a tile from which particles are added in turn */
    STRIDE = WADI_FLIP_BLOCK / STREAMS,
    SCATTER_BLOCK = 2, /* tiles */
    SUM_BLOCK = 16
};

/* Rows of a tile's buffer within the support of its particles, and where they are stored. */
typedef struct Support {
    int32_t first;        /* index of the first stored row */
    uint16_t rows[SIDE];  /* per z: bit y */
    uint8_t before[SIDE]; /* per z: rows in the layers below */
} Support;

typedef struct ToGrid {
    const WadiFlipToGridIn *in;
    WadiFlipGrid *grid;
    const float *affine[9]; /* NULL without */
    float mass[WADI_MATERIALS_MAX];
    bool is_one_mass; /* all materials have mass[0] */
    Support *support; /* per occupied tile */
    float *stored;    /* rows of ROW floats */
} ToGrid;

static void find_support(uint64_t row_mask, Support *support)
{
    memset(support->rows, 0, sizeof support->rows);
    for (int k = 0; k < 8; ++k) {
        unsigned row = (unsigned)(row_mask >> 8 * k & 0xff);
        unsigned grown = row | row << 1 | row << 2;
        for (int z = k; z < k + 3; ++z) {
            support->rows[z] = (uint16_t)(support->rows[z] | grown);
        }
    }
    int before = 0;
    for (int z = 0; z < SIDE; ++z) {
        support->before[z] = (uint8_t)before;
        before += __builtin_popcount(support->rows[z]);
    }
}

static int support_count(const Support *support)
{
    return support->before[SIDE - 1] + __builtin_popcount(support->rows[SIDE - 1]);
}

static inline void add_four(float *to, WadiFour value)
{
    *(WadiF4 *)to += value;
}

/* Pairs {m w v, m w} of one component for sixteen particles at their two nodes along x: four floats a
 * particle, eight particles in the order 0 4 1 5 2 6 3 7, then the other eight. */
static inline void make_pairs(const float *restrict mass, const float *restrict fx,
                              const float *restrict velocity, float *restrict pairs)
{
    for (int l = 0; l < WADI_FLIP_BLOCK; l += 8) {
        const WadiF8 m = *(const WadiF8 *)(mass + l), v = *(const WadiF8 *)(velocity + l);
        const WadiF8 f = m * *(const WadiF8 *)(fx + l), g = m - f, fv = f * v, gv = g * v;
        const WadiF8 low = __builtin_shufflevector(gv, g, 0, 8, 1, 9, 4, 12, 5, 13);
        const WadiF8 low_next = __builtin_shufflevector(gv, g, 2, 10, 3, 11, 6, 14, 7, 15);
        const WadiF8 high = __builtin_shufflevector(fv, f, 0, 8, 1, 9, 4, 12, 5, 13);
        const WadiF8 high_next = __builtin_shufflevector(fv, f, 2, 10, 3, 11, 6, 14, 7, 15);
        WadiF8 *to = (WadiF8 *)(pairs + 4 * l);
        to[0] = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
        to[1] = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
        to[2] = __builtin_shufflevector(low_next, high_next, 0, 1, 8, 9, 4, 5, 12, 13);
        to[3] = __builtin_shufflevector(low_next, high_next, 2, 3, 10, 11, 6, 7, 14, 15);
    }
}

/* Particle l of a block in such a list. */
static inline __attribute__((always_inline)) const float *pairs_of(const float *pairs, int l)
{
    return pairs + 32 * (l >> 3) + 8 * (l & 3) + (l & 4);
}

/* Add the pairs of one particle and component at eight nodes. */
static inline __attribute__((always_inline)) void add_nodes(float *restrict to, const float *pairs, float fy,
                                                            float fz)
{
    WadiFour pair = *(const WadiF4 *)pairs;
    WadiFour high = pair * fz, low = pair - high;
    WadiFour low_y = low * fy, high_y = high * fy;
    add_four(to, low - low_y);
    add_four(to + ROW, low_y);
    add_four(to + LAYER, high - high_y);
    add_four(to + LAYER + ROW, high_y);
}

/* Consecutive particles add to the same nodes, and each would wait for the stores of the one before. So
 * the three components alternate, and so do the four quarters of the block, which come from distant parts
 * of the tile. */
static inline __attribute__((always_inline)) void scatter_some(float *restrict buffer,
                                                               const WadiFlipNodes *nodes, int n,
                                                               float pairs[3][4 * WADI_FLIP_BLOCK])
{
    for (int turn = 0; turn < WADI_FLIP_BLOCK; ++turn) {
        const int l = turn >> 2 | (turn & 3) << 2;
        if (l < n) {
            add_nodes(buffer + nodes->offset[0][l], pairs_of(pairs[0], l), nodes->half[1][l],
                      nodes->half[2][l]);
            add_nodes(buffer + nodes->offset[1][l], pairs_of(pairs[1], l), nodes->whole[1][l],
                      nodes->half[2][l]);
            add_nodes(buffer + nodes->offset[2][l], pairs_of(pairs[2], l), nodes->half[1][l],
                      nodes->whole[2][l]);
        }
    }
}

static inline void scatter(float *restrict buffer, const WadiFlipNodes *nodes, int n,
                           const float *restrict mass, float velocity[3][WADI_FLIP_BLOCK])
{
    float pairs[3][4 * WADI_FLIP_BLOCK];
    make_pairs(mass, nodes->whole[0], velocity[0], pairs[0]);
    make_pairs(mass, nodes->half[0], velocity[1], pairs[1]);
    make_pairs(mass, nodes->half[0], velocity[2], pairs[2]);
    if (n == WADI_FLIP_BLOCK) {
        scatter_some(buffer, nodes, WADI_FLIP_BLOCK, pairs);
    } else {
        scatter_some(buffer, nodes, n, pairs);
    }
}

/* The same for a velocity with the slopes (sx, sy, sz), m/s a cell, about the particle. */
static inline void add_nodes_affine(float *restrict to, float m, float fx, float fy, float fz, float v,
                                    float sx, float sy, float sz)
{
    float f = m * fx, g = m - f;
    float corner = v - (fx * sx + fy * sy + fz * sz);
    WadiFour pair = { g * corner, g, f * (corner + sx), f }, weight = { g, 0.0f, f, 0.0f };
    WadiFour up_y = pair + weight * sy, rise = weight * sz;
    add_four(to, pair * ((1.0f - fy) * (1.0f - fz)));
    add_four(to + ROW, up_y * (fy * (1.0f - fz)));
    add_four(to + LAYER, (pair + rise) * ((1.0f - fy) * fz));
    add_four(to + LAYER + ROW, (up_y + rise) * (fy * fz));
}

static inline void scatter_affine(float *restrict buffer, const WadiFlipNodes *nodes, int n,
                                  const float *restrict mass, float velocity[3][WADI_FLIP_BLOCK],
                                  float slope[9][WADI_FLIP_BLOCK])
{
    for (int turn = 0; turn < WADI_FLIP_BLOCK; ++turn) {
        int l = turn >> 1 | (turn & 1) << 3;
        if (l >= n) {
            continue;
        }
        add_nodes_affine(buffer + nodes->offset[0][l], mass[l], nodes->whole[0][l], nodes->half[1][l],
                         nodes->half[2][l], velocity[0][l], slope[0][l], slope[1][l], slope[2][l]);
        add_nodes_affine(buffer + nodes->offset[1][l], mass[l], nodes->half[0][l], nodes->whole[1][l],
                         nodes->half[2][l], velocity[1][l], slope[3][l], slope[4][l], slope[5][l]);
        add_nodes_affine(buffer + nodes->offset[2][l], mass[l], nodes->half[0][l], nodes->half[1][l],
                         nodes->whole[2][l], velocity[2][l], slope[6][l], slope[7][l], slope[8][l]);
    }
}

/* Slopes of n particles from index i, m/s a cell; 0 for materials without APIC. false: all are 0. */
static bool load_slopes(const ToGrid *work, int32_t i, int n, float slope[9][WADI_FLIP_BLOCK])
{
    const uint8_t *material = work->in->particles->material + i;
    float cell_size = (float)work->in->sort->cell_size;
    bool is_used[WADI_FLIP_BLOCK] = { false }, has_any = false;
    for (int l = 0; l < n; ++l) {
        is_used[l] = work->in->affine->is_used[material[l]];
        has_any = has_any || is_used[l];
    }
    for (int e = 0; e < 9 && has_any; ++e) {
        wadi_flip_load(work->affine[e] + i, n, slope[e]);
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            slope[e][l] = is_used[l] ? slope[e][l] * cell_size : 0.0f;
        }
    }
    return has_any;
}

/* Masses of particles from index i. */
static inline void load_masses(const ToGrid *work, int32_t i, int n, float *mass)
{
    for (int l = 0; l < n && !work->is_one_mass; ++l) {
        mass[l] = work->mass[work->in->particles->material[i + l]];
    }
}

/* Sixteen values, four each from addresses `step` apart. */
static inline void load_fours(const float *restrict from, ptrdiff_t step, float *restrict to)
{
    for (int l = 0; l < WADI_FLIP_BLOCK; l += 8, from += 2 * step) {
        *(WadiF8 *)(to + l) = WADI_FLIP_TWO_FOURS(from, from + step);
    }
}

/* A particle exactly on the low face of its cell has weight 0 at the far face, which would have velocity 0
 * if no other particle is near. A negligible weight gives that face the particle's velocity. */
static inline void weight_far_faces(WadiFlipNodes *nodes)
{
    const WadiF8 smallest = (WadiF8){ 0 } + 1e-20f;
    for (int a = 0; a < 3; ++a) {
        for (int l = 0; l < WADI_FLIP_BLOCK; l += 8) {
            WadiF8 *weight = (WadiF8 *)(nodes->whole[a] + l);
            *weight = WADI_MAX8(*weight, smallest);
        }
    }
}

/* Particles begin .. begin + STREAMS * length, as STREAMS interleaved sequences. */
static void scatter_streams(const ToGrid *work, WadiTile at, int32_t begin, int32_t length, float mass[],
                            float *restrict buffer)
{
    const WadiParticles *particles = work->in->particles;
    const double per_metre = 1.0 / work->in->sort->cell_size;
    for (int32_t i = begin; i < begin + length; i += STRIDE) {
        float position[3][WADI_FLIP_BLOCK], velocity[3][WADI_FLIP_BLOCK];
        wadi_flip_position_fours(particles->x + i, length, per_metre, 8.0 * at.x, position[0]);
        wadi_flip_position_fours(particles->y + i, length, per_metre, 8.0 * at.y, position[1]);
        wadi_flip_position_fours(particles->z + i, length, per_metre, 8.0 * at.z, position[2]);
        load_fours(particles->vx + i, length, velocity[0]);
        load_fours(particles->vy + i, length, velocity[1]);
        load_fours(particles->vz + i, length, velocity[2]);
        for (int stream = 0; stream < STREAMS; ++stream) {
            load_masses(work, i + stream * length, STRIDE, mass + STRIDE * stream);
        }
        WadiFlipNodes nodes;
        wadi_flip_locate(position, 0.0f, 1, 2, ROW, LAYER, COMPONENT, &nodes);
        weight_far_faces(&nodes);
        scatter(buffer, &nodes, WADI_FLIP_BLOCK, mass, velocity);
    }
}

static void scatter_tile(const ToGrid *work, int32_t tile, float *restrict buffer)
{
    const WadiTileSort *sort = work->in->sort;
    const WadiParticles *particles = work->in->particles;
    WadiTile at = sort->tiles.tiles[tile];
    double per_metre = 1.0 / sort->cell_size;
    int32_t begin = sort->tile_start[tile], end = sort->tile_start[tile + 1];
    float mass[WADI_FLIP_BLOCK];
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        mass[l] = work->mass[0];
    }
    if (work->affine[0] == NULL) {
        const int32_t length = (end - begin) / WADI_FLIP_BLOCK * STRIDE;
        scatter_streams(work, at, begin, length, mass, buffer);
        begin += STREAMS * length;
    }
    for (int32_t i = begin; i < end; i += WADI_FLIP_BLOCK) {
        int n = end - i < WADI_FLIP_BLOCK ? end - i : WADI_FLIP_BLOCK;
        float position[3][WADI_FLIP_BLOCK], velocity[3][WADI_FLIP_BLOCK];
        wadi_flip_position(particles->x + i, n, per_metre, 8.0 * at.x, position[0]);
        wadi_flip_position(particles->y + i, n, per_metre, 8.0 * at.y, position[1]);
        wadi_flip_position(particles->z + i, n, per_metre, 8.0 * at.z, position[2]);
        wadi_flip_load(particles->vx + i, n, velocity[0]);
        wadi_flip_load(particles->vy + i, n, velocity[1]);
        wadi_flip_load(particles->vz + i, n, velocity[2]);
        load_masses(work, i, n, mass);
        WadiFlipNodes nodes;
        wadi_flip_locate(position, 0.0f, 1, 2, ROW, LAYER, COMPONENT, &nodes);
        weight_far_faces(&nodes);
        float slope[9][WADI_FLIP_BLOCK];
        if (work->affine[0] != NULL && load_slopes(work, i, n, slope)) {
            scatter_affine(buffer, &nodes, n, mass, velocity, slope);
        } else {
            scatter(buffer, &nodes, n, mass, velocity);
        }
    }
}

static inline void clear_row(float *row)
{
    WadiF8 *to = (WadiF8 *)row, zero = { 0.0f };
    to[0] = to[1] = to[2] = to[3] = to[4] = to[5] = to[6] = to[7] = zero;
}

static inline void copy_row(float *restrict row, const float *restrict source)
{
    WadiF8 *to = (WadiF8 *)row;
    const WadiF8 *from = (const WadiF8 *)source;
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
    to[4] = from[4], to[5] = from[5], to[6] = from[6], to[7] = from[7];
}

static void scatter_tiles(void *context, int64_t first, int64_t end)
{
    const ToGrid *work = context;
    _Alignas(64) float buffer[SIDE * LAYER];
    for (int32_t t = (int32_t)first; t < end; ++t) {
        const Support *support = &work->support[t];
        for (int z = 0; z < SIDE; ++z) {
            for (unsigned left = support->rows[z]; left != 0; left &= left - 1) {
                clear_row(buffer + z * LAYER + __builtin_ctz(left) * ROW);
            }
        }
        scatter_tile(work, t, buffer);
        float *to = work->stored + (size_t)support->first * ROW;
        for (int z = 0; z < SIDE; ++z) {
            for (unsigned left = support->rows[z]; left != 0; left &= left - 1, to += ROW) {
                copy_row(to, buffer + z * LAYER + __builtin_ctz(left) * ROW);
            }
        }
    }
}

/* The stored row (y, z) of a tile's buffer, or NULL. */
static inline const float *stored_row(const float *stored, const Support *support, int y, int z)
{
    if (support == NULL || (support->rows[z] >> y & 1) == 0) {
        return NULL;
    }
    int32_t row =
        support->first + support->before[z] + __builtin_popcount(support->rows[z] & ((1u << y) - 1));
    return stored + (size_t)row * ROW;
}

/* {momentum, mass} pairs of eight cells, per component: of cells 0 .. 3 and 4 .. 7. */
typedef struct RowSum {
    WadiEight low[3], high[3];
} RowSum;

/* Add to eight cells the values from a row of tiles (left, own, right). */
static inline bool add_row(const float *stored, const Support *const *tiles, int y, int z, RowSum *sum)
{
    const float *left = stored_row(stored, tiles[0], y, z), *own = stored_row(stored, tiles[1], y, z),
                *right = stored_row(stored, tiles[2], y, z);
    for (int c = 0; c < 3 && left != NULL; ++c) {
        const float *last = left + c * COMPONENT + COMPONENT - 2;
        sum->low[c] += (WadiEight){ last[0], last[1] };
    }
    for (int c = 0; c < 3 && own != NULL; ++c) {
        sum->low[c] += *(const WadiF8 *)(own + c * COMPONENT + 2);
        sum->high[c] += *(const WadiF8 *)(own + c * COMPONENT + 10);
    }
    for (int c = 0; c < 3 && right != NULL; ++c) {
        const float *first = right + c * COMPONENT;
        sum->high[c] += (WadiEight){ 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, first[0], first[1] };
    }
    return left != NULL || own != NULL || right != NULL;
}

/* Sum over the tiles whose buffers hold row (j, k) of a tile: its own row of tiles, and the next ones
 * along y and z if the row is the tile's first or last. Node 9 of the tile below is node 1 here, node 0 of
 * the one above node 8. */
static bool sum_row(const float *stored, const Support *const *neighbours, int j, int k, RowSum *sum)
{
    bool has_any = false;
    for (int dz = k == 0 ? -1 : 0; dz <= (k == 7); ++dz) {
        for (int dy = j == 0 ? -1 : 0; dy <= (j == 7); ++dy) {
            has_any |=
                add_row(stored, neighbours + 12 + 9 * dz + 3 * dy, j + 1 - 8 * dy, k + 1 - 8 * dz, sum);
        }
    }
    return has_any;
}

static inline void write_row(const RowSum *sum, int c, float *restrict velocity, float *restrict mass)
{
    WadiEight momentum = __builtin_shufflevector(sum->low[c], sum->high[c], 0, 2, 4, 6, 8, 10, 12, 14);
    WadiEight masses = __builtin_shufflevector(sum->low[c], sum->high[c], 1, 3, 5, 7, 9, 11, 13, 15);
    *(WadiF8 *)mass = masses;
    *(WadiF8 *)velocity = momentum;
#pragma omp simd
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        velocity[l] = mass[l] >= FLT_MIN ? velocity[l] / mass[l] : 0.0f;
    }
}

static void clear_rows(WadiFlipGrid *grid, size_t first, size_t count)
{
    for (int c = 0; c < 3; ++c) {
        memset(grid->velocity[c] + WADI_ROW_CELLS * first, 0, WADI_ROW_CELLS * count * sizeof(float));
        memset(grid->face_mass[c] + WADI_ROW_CELLS * first, 0, WADI_ROW_CELLS * count * sizeof(float));
    }
}

static void sum_tiles(void *context, int64_t first, int64_t end)
{
    const ToGrid *work = context;
    WadiFlipGrid *grid = work->grid;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        const Support *neighbours[27];
        for (int n = 0; n < 27; ++n) {
            int32_t tile = grid->tiles.neighbours[t][n], occupied = tile >= 0 ? grid->sort_tile[tile] : -1;
            neighbours[n] = occupied >= 0 ? &work->support[occupied] : NULL;
        }
        size_t row = (size_t)grid->rows.first[t];
        for (uint64_t left = grid->mask[t]; left != 0; left &= left - 1, ++row) {
            int bit = __builtin_ctzll(left);
            RowSum sum = { 0 };
            if (!sum_row(work->stored, neighbours, bit & 7, bit >> 3, &sum)) {
                clear_rows(grid, row, 1);
                continue;
            }
            for (int c = 0; c < 3; ++c) {
                write_row(&sum, c, grid->velocity[c] + WADI_ROW_CELLS * row,
                          grid->face_mass[c] + WADI_ROW_CELLS * row);
            }
        }
    }
}

WadiStatus wadi_flip_particles_to_grid(WadiFlipGrid *grid, const WadiFlipToGridIn *in, WadiArena *scratch,
                                       WadiError *error)
{
    WADI_ASSERT(in->sort->tiles.count == 0 ||
                in->sort->tile_start[in->sort->tiles.count] == in->particles->count);
    ToGrid work = { .in = in, .grid = grid };
    work.is_one_mass = true;
    for (int m = 0; m < WADI_MATERIALS_MAX; ++m) {
        work.mass[m] = m < in->material_count ? in->mass[m] : 1.0f;
        work.is_one_mass = work.is_one_mass && (m >= in->material_count || work.mass[m] == work.mass[0]);
    }
    for (int e = 0; e < 9 && in->affine != NULL; ++e) {
        work.affine[e] = wadi_particles_column(in->particles, in->affine->column[e]);
    }
    int32_t tiles = in->sort->tiles.count;
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    WADI_TRY(WADI_ARENA_NEW(scratch, &work.support, (size_t)tiles, "transfer to the grid", error));
    int32_t rows = 0;
    for (int32_t t = 0; t < tiles; ++t) {
        find_support(in->sort->row_mask[t], &work.support[t]);
        work.support[t].first = rows;
        rows += support_count(&work.support[t]);
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &work.stored, (size_t)rows * ROW, "transfer to the grid", error));
    wadi_parallel_for(tiles, SCATTER_BLOCK, scatter_tiles, &work);
    wadi_parallel_for(grid->tiles.count, SUM_BLOCK, sum_tiles, &work);
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}

WadiStatus wadi_flip_affine_add(WadiParticles *particles, WadiFlipAffine *affine, WadiError *error)
{
    static const char *const names[9] = { "c00", "c01", "c02", "c10", "c11", "c12", "c20", "c21", "c22" };
    for (int e = 0; e < 9; ++e) {
        WADI_TRY(wadi_particles_add_column(particles, names[e], WADI_TYPE_F32, &affine->column[e], error));
    }
    for (int m = 0; m < WADI_MATERIALS_MAX; ++m) {
        affine->is_used[m] = true;
    }
    return WADI_OK;
}
