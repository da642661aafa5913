/* Grid to particles and the paths of the step, in one pass over the particles. [ZB05 secs. 4.2.4, 4.2.5;
 * theory 2.2, 2.3]
 *   v = (1 - a) u(x) + a (v + (u - saved)(x));   x1 = x + dt u(x)
 * Each tile copies the velocities around it as {u, u - saved} pairs with two cells of margin, so that one
 * 128-bit load gives both fields at two nodes. u(x) is PIC's value and the first stage of the path. Only
 * rows near particles are copied.
 * Differs: ZB05 takes five steps of at most one cell in the field u; here u is the displacement of the step
 * / dt, and the path is its chord. With `path: rk2` and `rk3` one step in the field up to two cells long, and
 * several beyond (flip_transfer_long.c). */
#include "core/check.h"
#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "flip/transfer/flip_transfer.h"
#include "flip/transfer/flip_transfer_block.h"

enum {
    MARGIN = WADI_FLIP_GATHER_MARGIN,
    SIDE = WADI_FLIP_GATHER_SIDE,
    COMPONENT = 2 * SIDE,
    ROW = 3 * COMPONENT,
    LAYER = SIDE * ROW,
    TILE_BLOCK = 2
};

static const float STEP_CELLS = 2.0f;  /* the longest single midpoint step */
static const float STAGE_CELLS = 1.0f; /* the longest stage inside the copy */

/* Twelve pairs {u, u - saved} from a row of the tile and its neighbours left and right; {u, 0} without
 * saved. */
static inline __attribute__((always_inline)) void copy_line(const float *field, const float *saved,
                                                            const size_t rows[3], const size_t saved_rows[3],
                                                            float *to)
{
    WadiF4 left = *(const WadiF4 *)(field + 8 * rows[0] + 4), left_change = { 0.0f };
    WadiF8 here = WADI_ROW(field, rows[1]), change = { 0.0f };
    WadiF4 right = *(const WadiF4 *)(field + 8 * rows[2]), right_change = { 0.0f };
    if (saved != NULL) {
        left_change = left - *(const WadiF4 *)(saved + 8 * saved_rows[0] + 4);
        change = here - WADI_ROW(saved, saved_rows[1]);
        right_change = right - *(const WadiF4 *)(saved + 8 * saved_rows[2]);
    }
    *(WadiF4 *)to = __builtin_shufflevector(left, left_change, 2, 6, 3, 7);
    *(WadiF8 *)(to + 4) = __builtin_shufflevector(here, change, 0, 8, 1, 9, 2, 10, 3, 11);
    *(WadiF8 *)(to + 12) = __builtin_shufflevector(here, change, 4, 12, 5, 13, 6, 14, 7, 15);
    *(WadiF4 *)(to + 20) = __builtin_shufflevector(right, right_change, 0, 4, 1, 5);
}

/* Rows of the copy within the support of particles: per z, bit y. */
static void find_support(uint64_t occupied, uint32_t support[SIDE])
{
    for (int z = 0; z < SIDE; ++z) {
        support[z] = 0;
    }
    for (int k = 0; k < 8; ++k) {
        uint32_t bits = (uint32_t)(occupied >> 8 * k & 0xff);
        uint32_t grown = bits | bits << 1 | bits << 2 | bits << 3 | bits << 4;
        for (int z = k; z <= k + 2 * MARGIN; ++z) {
            support[z] |= grown;
        }
    }
}

static void fill_copy(const WadiFlipGather *work, int32_t tile, float *restrict copy)
{
    static const uint32_t part[3] = { 0x003, 0x3fc, 0xc00 }; /* bits y in the tile below, here and above */
    const WadiFlipGrid *grid = work->in->grid;
    const WadiRows *rows = &grid->rows;
    const int32_t *table = work->in->saved_row, *neighbours = grid->tiles.neighbours[grid->tile_of[tile]];
    uint32_t support[SIDE];
    find_support(work->in->sort->row_mask[tile], support);
    for (int z = 0; z < SIDE; ++z) {
        const int k = z - MARGIN, dz = k < 0 ? -1 : k > 7 ? 1 : 0;
        for (int dy = -1; dy <= 1; ++dy) {
            const int32_t *tiles = neighbours + 12 + 9 * dz + 3 * dy;
            for (uint32_t left = support[z] & part[dy + 1]; left != 0; left &= left - 1) {
                const int y = __builtin_ctz(left), bit = ((y - MARGIN) & 7) + 8 * (k & 7);
                size_t at[3], saved_at[3];
                for (int n = 0; n < 3; ++n) {
                    const int32_t row = wadi_rows_at(rows, tiles[n], bit);
                    at[n] = (size_t)row;
                    saved_at[n] = (size_t)wadi_table_row(table, row);
                }
                for (int c = 0; c < 3; ++c) {
                    copy_line(work->field[c], work->saved[c], at, saved_at,
                              copy + z * LAYER + y * ROW + c * COMPONENT);
                }
            }
        }
    }
}

static inline WadiFour load_four(const float *from)
{
    return *(const WadiF4 *)from;
}

/* {u, u - saved} of two particles at both nodes along x, interpolated along y and z. */
static inline __attribute__((always_inline)) void sample_two(const float *from, const float *other,
                                                             const WadiEight *along_y,
                                                             const WadiEight *along_z, WadiEight *pairs)
{
    WadiEight low = WADI_FLIP_TWO_FOURS(from, other);
    WadiEight low_y = WADI_FLIP_TWO_FOURS(from + ROW, other + ROW);
    WadiEight high = WADI_FLIP_TWO_FOURS(from + LAYER, other + LAYER);
    WadiEight high_y = WADI_FLIP_TWO_FOURS(from + LAYER + ROW, other + LAYER + ROW);
    low += (low_y - low) * *along_y;
    high += (high_y - high) * *along_y;
    *pairs = low + (high - low) * *along_z;
}

/* {u, u - saved} of four particles, one after the other. */
static inline __attribute__((always_inline)) void sample_four(const float *restrict copy,
                                                              const int32_t *offset, const float *fx,
                                                              const float *fy, const float *fz,
                                                              WadiEight *pairs)
{
    WadiFour x = load_four(fx), y = load_four(fy), z = load_four(fz);
    WadiEight along_y = __builtin_shufflevector(y, y, 0, 0, 0, 0, 2, 2, 2, 2);
    WadiEight along_z = __builtin_shufflevector(z, z, 0, 0, 0, 0, 2, 2, 2, 2);
    WadiEight even, odd;
    sample_two(copy + offset[0], copy + offset[2], &along_y, &along_z, &even);
    along_y = __builtin_shufflevector(y, y, 1, 1, 1, 1, 3, 3, 3, 3);
    along_z = __builtin_shufflevector(z, z, 1, 1, 1, 1, 3, 3, 3, 3);
    sample_two(copy + offset[1], copy + offset[3], &along_y, &along_z, &odd);
    WadiEight first = __builtin_shufflevector(even, odd, 0, 1, 8, 9, 4, 5, 12, 13);
    WadiEight second = __builtin_shufflevector(even, odd, 2, 3, 10, 11, 6, 7, 14, 15);
    *pairs = first + (second - first) * __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3);
}

/* {u, u - saved} of component c at n positions, eight at a time; lanes past n hold a valid position too.
 * Stored by eights because two stores cannot be forwarded to one load. */
static inline void sample(const float *restrict copy, const WadiFlipNodes *nodes, int c, int n,
                          float *restrict u, float *restrict change)
{
    const float *fx = c == 0 ? nodes->whole[0] : nodes->half[0];
    const float *fy = c == 1 ? nodes->whole[1] : nodes->half[1];
    const float *fz = c == 2 ? nodes->whole[2] : nodes->half[2];
    for (int l = 0; l < n; l += 8) {
        const int32_t *offset = nodes->offset[c] + l;
        WadiEight low, high;
        sample_four(copy, offset, fx + l, fy + l, fz + l, &low);
        sample_four(copy, offset + 4, fx + l + 4, fy + l + 4, fz + l + 4, &high);
        *(WadiF8 *)(u + l) = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
        *(WadiF8 *)(change + l) = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    }
}

/* d u_c / d (x, y, z) per cell at n positions: the slopes of the trilinear interpolation, APIC's C. */
static inline void sample_slopes(const float *restrict copy, const WadiFlipNodes *nodes, int c, int n,
                                 float slope[3][WADI_FLIP_BLOCK])
{
    const float *fx = c == 0 ? nodes->whole[0] : nodes->half[0];
    const float *fy = c == 1 ? nodes->whole[1] : nodes->half[1];
    const float *fz = c == 2 ? nodes->whole[2] : nodes->half[2];
    for (int l = 0; l < n; ++l) {
        const float *from = copy + nodes->offset[c][l];
        WadiFour low = load_four(from), low_y = load_four(from + ROW);
        WadiFour high = load_four(from + LAYER), high_y = load_four(from + LAYER + ROW);
        WadiFour dy = low_y - low, dy_high = high_y - high;
        low += dy * fy[l];
        high += dy_high * fy[l];
        dy += (dy_high - dy) * fz[l];
        WadiFour dz = high - low;
        low += dz * fz[l];
        slope[0][l] = low[2] - low[0];
        slope[1][l] = dy[0] + (dy[2] - dy[0]) * fx[l];
        slope[2][l] = dz[0] + (dz[2] - dz[0]) * fx[l];
    }
}

/* Velocity at positions displaced by `scale` times u (cells) inside the copy; other lanes are marked in
 * is_long. */
static inline void sample_stage(const float *restrict copy, float position[3][WADI_FLIP_BLOCK],
                                float u[3][WADI_FLIP_BLOCK], float scale, int n, float *restrict is_long,
                                float result[3][WADI_FLIP_BLOCK])
{
    float moved[3][WADI_FLIP_BLOCK];
    for (int a = 0; a < 3; ++a) {
#pragma omp simd
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            float step = scale * u[a][l];
            is_long[l] = step <= STAGE_CELLS && step >= -STAGE_CELLS ? is_long[l] : 1.0f;
        }
    }
    for (int a = 0; a < 3; ++a) {
#pragma omp simd
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            float step = is_long[l] > 0.0f ? 0.0f : scale * u[a][l];
            moved[a][l] = position[a][l] + step;
        }
    }
    WadiFlipNodes nodes;
    wadi_flip_locate(moved, (float)MARGIN, MARGIN, 2, ROW, LAYER, COMPONENT, &nodes);
    for (int c = 0; c < 3; ++c) {
        wadi_flip_sample_eights(copy, true, ROW, LAYER, &nodes, c, n, result[c]);
    }
}

static inline void update_velocity(float *restrict v, const float *restrict u, const float *restrict change,
                                   const float *restrict flip_fraction, int n)
{
#pragma omp simd
    for (int l = 0; l < n; ++l) {
        v[l] = (1.0f - flip_fraction[l]) * u[l] + flip_fraction[l] * (v[l] + change[l]);
    }
}

/* C of n particles from index i; 0 for materials without APIC. */
static void update_affine(const WadiFlipGather *work, const float *restrict copy, const WadiFlipNodes *nodes,
                          int32_t i, int n, float per_metre)
{
    const uint8_t *material = work->particles->material + i;
    float is_used[WADI_FLIP_BLOCK];
    bool has_any = false;
    for (int l = 0; l < n; ++l) {
        is_used[l] = work->in->affine->is_used[material[l]] ? per_metre : 0.0f;
        has_any = has_any || is_used[l] > 0.0f;
    }
    for (int c = 0; c < 3; ++c) {
        float slope[3][WADI_FLIP_BLOCK] = { { 0.0f } };
        if (has_any) {
            sample_slopes(copy, nodes, c, n, slope);
        }
        for (int a = 0; a < 3; ++a) {
            for (int l = 0; l < n; ++l) {
                work->affine[3 * c + a][i + l] = slope[a][l] * is_used[l];
            }
        }
    }
}

static inline void write_end(double *restrict end, const double *restrict x, const float *restrict u,
                             double dt, int n)
{
#pragma omp simd
    for (int l = 0; l < n; ++l) {
        end[l] = x[l] + dt * (double)u[l];
    }
}

static inline unsigned lanes_above_zero(const float *value)
{
    const WadiI8 low = *(const WadiF8 *)value > 0.0f, high = *(const WadiF8 *)(value + 8) > 0.0f;
    return wadi_row_bits(&low) | wadi_row_bits(&high) << 8;
}

static inline void write_ends(const WadiFlipGather *work, float u[3][WADI_FLIP_BLOCK], int32_t i, int n,
                              const WadiFlipPath *path)
{
    const WadiParticles *particles = work->particles;
    const double dt = work->in->dt;
    write_end(path->x + (i - path->first), particles->x + i, u[0], dt, n);
    write_end(path->y + (i - path->first), particles->y + i, u[1], dt, n);
    write_end(path->z + (i - path->first), particles->z + i, u[2], dt, n);
}

/* Path ends of n particles from index i in the field. Long paths are added to `long_list` for
 * wadi_flip_follow_long. */
static int follow(const WadiFlipGather *work, const float *restrict copy, float position[3][WADI_FLIP_BLOCK],
                  float u[3][WADI_FLIP_BLOCK], int32_t i, int n, const WadiFlipPath *path,
                  WadiFlipLong *long_list, int long_count)
{
    float cells_per_speed = (float)(work->in->dt / work->in->sort->cell_size),
          limit = STEP_CELLS * STEP_CELLS;
    float is_long[WADI_FLIP_BLOCK], k[2][3][WADI_FLIP_BLOCK] = { 0 };
#pragma omp simd
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        float sx = u[0][l] * cells_per_speed, sy = u[1][l] * cells_per_speed, sz = u[2][l] * cells_per_speed;
        is_long[l] = sx * sx + sy * sy + sz * sz < limit ? 0.0f : 1.0f;
    }
    const unsigned all = (1u << n) - 1;
    const bool has_short = (lanes_above_zero(is_long) & all) != all;
    float(*mean)[WADI_FLIP_BLOCK] = k[0];
    if (has_short) {
        sample_stage(copy, position, u, 0.5f * cells_per_speed, n, is_long, k[0]);
    }
    if (has_short && work->in->order == 3) {
        sample_stage(copy, position, k[0], 0.75f * cells_per_speed, n, is_long, k[1]);
        for (int a = 0; a < 3; ++a) {
            for (int l = 0; l < n; ++l) {
                k[1][a][l] = (2.0f * u[a][l] + 3.0f * k[0][a][l] + 4.0f * k[1][a][l]) / 9.0f;
            }
        }
        mean = k[1];
    }
    write_ends(work, mean, i, n, path);
    for (unsigned left = lanes_above_zero(is_long) & all; left != 0; left &= left - 1, ++long_count) {
        int l = __builtin_ctz(left);
        long_list->index[long_count] = i + l;
        for (int a = 0; a < 3; ++a) {
            long_list->u[a][long_count] = u[a][l];
        }
    }
    return long_count;
}

void wadi_flip_gather_fill(const WadiFlipGather *work, int32_t tile, WadiFlipGatherScratch *scratch)
{
    fill_copy(work, tile, scratch->copy);
}

int64_t wadi_flip_gather_part(const WadiFlipGather *work, int32_t tile, int32_t first, int32_t end,
                              const WadiFlipPath *path, WadiFlipGatherScratch *scratch)
{
    const WadiTileSort *sort = work->in->sort;
    WadiParticles *particles = work->particles;
    const float *restrict copy = scratch->copy;
    WadiFlipLong *long_list = &scratch->long_list;
    long_list->grid = work->in->grid;
    long_list->particles = particles;
    long_list->path = path;
    long_list->dt = work->in->dt;
    long_list->order = work->in->order;
    WadiTile at = sort->tiles.tiles[tile];
    double per_metre = 1.0 / sort->cell_size;
    float flip_fraction[WADI_FLIP_BLOCK];
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        flip_fraction[l] = work->flip_fraction[0];
    }
    int64_t long_paths = 0;
    int long_count = 0;
    for (int32_t i = first; i < end; i += WADI_FLIP_BLOCK) {
        int n = end - i < WADI_FLIP_BLOCK ? end - i : WADI_FLIP_BLOCK;
        float position[3][WADI_FLIP_BLOCK], u[3][WADI_FLIP_BLOCK] = { { 0.0f } }, change[3][WADI_FLIP_BLOCK];
        wadi_flip_position(particles->x + i, n, per_metre, 8.0 * at.x, position[0]);
        wadi_flip_position(particles->y + i, n, per_metre, 8.0 * at.y, position[1]);
        wadi_flip_position(particles->z + i, n, per_metre, 8.0 * at.z, position[2]);
        WadiFlipNodes nodes;
        wadi_flip_locate(position, (float)MARGIN, MARGIN, 2, ROW, LAYER, COMPONENT, &nodes);
        sample(copy, &nodes, 0, n, u[0], change[0]);
        sample(copy, &nodes, 1, n, u[1], change[1]);
        sample(copy, &nodes, 2, n, u[2], change[2]);
        for (int l = 0; l < n && !work->is_fraction_uniform; ++l) {
            flip_fraction[l] = work->flip_fraction[particles->material[i + l]];
        }
        update_velocity(particles->vx + i, u[0], change[0], flip_fraction, n);
        update_velocity(particles->vy + i, u[1], change[1], flip_fraction, n);
        update_velocity(particles->vz + i, u[2], change[2], flip_fraction, n);
        if (work->affine[0] != NULL) {
            update_affine(work, copy, &nodes, i, n, (float)per_metre);
        }
        if (work->in->order == 1) {
            write_ends(work, u, i, n, path);
            continue;
        }
        long_count = follow(work, copy, position, u, i, n, path, long_list, long_count);
        if (long_count > WADI_FLIP_LONG_MAX - WADI_FLIP_BLOCK || (i + n == end && long_count > 0)) {
            wadi_flip_follow_long(long_list, work->in->grid->tile_of[tile], long_count);
            long_paths += long_count;
            long_count = 0;
        }
    }
    return long_paths;
}

/* false: no material uses FLIP. */
static bool read_fractions(const WadiFlipToParticlesIn *in, WadiFlipGather *work)
{
    int count = in->flip_fraction != NULL ? in->material_count : 0;
    WADI_ASSERT(count <= WADI_MATERIALS_MAX);
    bool has_flip = false;
    work->is_fraction_uniform = true;
    for (int m = 0; m < count; ++m) {
        float fraction = in->flip_fraction[m];
        WADI_ASSERT(fraction >= 0.0f && fraction <= 1.0f && (fraction == 0.0f || in->saved != NULL));
        work->flip_fraction[m] = fraction;
        has_flip = has_flip || fraction > 0.0f;
        work->is_fraction_uniform = work->is_fraction_uniform && fraction == in->flip_fraction[0];
    }
    return has_flip;
}

void wadi_flip_gather_begin(WadiFlipGather *work, WadiParticles *particles, const WadiFlipToParticlesIn *in)
{
    WADI_ASSERT(in->order >= 1 && in->order <= 3);
    *work = (WadiFlipGather){ .in = in, .particles = particles };
    bool has_flip = read_fractions(in, work);
    for (int a = 0; a < 3; ++a) {
        work->field[a] = in->grid->velocity[a];
        work->saved[a] = has_flip ? in->saved[a] : NULL;
    }
    for (int e = 0; e < 9 && in->affine != NULL; ++e) {
        work->affine[e] = wadi_particles_column(particles, in->affine->column[e]);
    }
}

typedef struct WholePaths {
    const WadiFlipGather *gather;
    const WadiFlipPath *path;
} WholePaths;

static double gather_tiles(void *context, int64_t first, int64_t end)
{
    const WholePaths *whole = context;
    const int32_t *start = whole->gather->in->sort->tile_start;
    int64_t long_paths = 0;
    WadiFlipGatherScratch scratch;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        wadi_flip_gather_fill(whole->gather, t, &scratch);
        long_paths += wadi_flip_gather_part(whole->gather, t, start[t], start[t + 1], whole->path, &scratch);
    }
    return (double)long_paths;
}

WadiStatus wadi_flip_grid_to_particles(WadiParticles *particles, WadiFlipPath *path,
                                       const WadiFlipToParticlesIn *in, WadiArena *arena, WadiError *error)
{
    *path = (WadiFlipPath){ 0 };
    WadiFlipPath result = { 0 };
    size_t count = (size_t)particles->count;
    double *partials;
    WADI_TRY(WADI_ARENA_NEW(arena, &result.x, count, "paths of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &result.y, count, "paths of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &result.z, count, "paths of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &partials,
                            (size_t)wadi_parallel_block_count(in->sort->tiles.count, TILE_BLOCK),
                            "paths of particles", error));
    WadiFlipGather gather;
    wadi_flip_gather_begin(&gather, particles, in);
    WholePaths whole = { &gather, &result };
    result.long_paths =
        (int64_t)wadi_parallel_sum(in->sort->tiles.count, TILE_BLOCK, gather_tiles, &whole, partials);
    *path = result;
    return WADI_OK;
}
