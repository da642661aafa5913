/* Used by both directions of the transfer: blocks of sixteen particles and their positions in a tile's
 * padded copy. Loops over a block have constant length and no branches, so that compilers vectorise them;
 * unused lanes hold a valid position. Private to flip_transfer_*.c and flip_advance.c. */
#ifndef WADI_FLIP_TRANSFER_BLOCK_H
#define WADI_FLIP_TRANSFER_BLOCK_H

#include "flip/transfer/flip_transfer.h"
#include "grid/row_vectors.h"

enum { WADI_FLIP_BLOCK = 16 };

/* Two neighbouring nodes along x with two floats each, and four of them. */
typedef float WadiFour __attribute__((vector_size(16)));
typedef float WadiEight __attribute__((vector_size(32)));

/* Per particle: offset (in floats) of the lowest of its eight nodes, per velocity component, and the
 * interpolation fractions along axes where nodes lie on cell faces (whole) or at cell centres (half).
 * Component c uses whole[a] for a == c. */
typedef struct WadiFlipNodes {
    int32_t offset[3][WADI_FLIP_BLOCK];
    float whole[3][WADI_FLIP_BLOCK], half[3][WADI_FLIP_BLOCK];
} WadiFlipNodes;

/* Four floats each from two addresses: the two nodes along x of two particles. */
#ifdef __AVX__
#define WADI_FLIP_TWO_FOURS(from, other)                                                                     \
    ((WadiEight)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), _mm_loadu_ps(other), 1))
#else
#define WADI_FLIP_TWO_FOURS(from, other)                                                                     \
    __builtin_shufflevector(*(const WadiF4 *)(from), *(const WadiF4 *)(other), 0, 1, 2, 3, 4, 5, 6, 7)
#endif

/* u at four positions, from the corners of their cells along y and z. */
static inline __attribute__((always_inline)) void wadi_flip_sample_four(const float *restrict copy,
                                                                        bool has_pairs, int stride_y,
                                                                        int stride_z, const int32_t *offset,
                                                                        const float *fx, const float *fy,
                                                                        const float *fz, WadiFour *u)
{
    const float *from[4] = { copy + offset[0], copy + offset[1], copy + offset[2], copy + offset[3] };
    WadiEight corner[4]; /* by y and z: both nodes along x of each of the four */
    for (int m = 0; m < 4; ++m) {
        int up = (m & 1) * stride_y + (m >> 1) * stride_z;
        WadiEight even = WADI_FLIP_TWO_FOURS(from[0] + up, from[2] + up);
        WadiEight odd = WADI_FLIP_TWO_FOURS(from[1] + up, from[3] + up);
        corner[m] = has_pairs ? __builtin_shufflevector(even, odd, 0, 2, 8, 10, 4, 6, 12, 14)
                              : __builtin_shufflevector(even, odd, 0, 1, 8, 9, 4, 5, 12, 13);
    }
    WadiFour x = *(const WadiF4 *)fx, y = *(const WadiF4 *)fy, z = *(const WadiF4 *)fz;
    WadiEight along_y = __builtin_shufflevector(y, y, 0, 0, 1, 1, 2, 2, 3, 3);
    WadiEight along_z = __builtin_shufflevector(z, z, 0, 0, 1, 1, 2, 2, 3, 3);
    WadiEight low = corner[0] + (corner[1] - corner[0]) * along_y;
    WadiEight high = corner[2] + (corner[3] - corner[2]) * along_y;
    low += (high - low) * along_z;
    WadiFour first = __builtin_shufflevector(low, low, 0, 2, 4, 6);
    WadiFour second = __builtin_shufflevector(low, low, 1, 3, 5, 7);
    *u = first + (second - first) * x;
}

/* Component c of u at n positions, eight at a time; lanes past n hold a valid position too. Nodes hold
 * pairs whose first number is u, or u alone; then a load reads two floats past the last node. Strides in
 * floats. Stored by eights because two stores cannot be forwarded to one load. */
static inline __attribute__((always_inline)) void wadi_flip_sample_eights(const float *restrict copy,
                                                                          bool has_pairs, int stride_y,
                                                                          int stride_z,
                                                                          const WadiFlipNodes *nodes, int c,
                                                                          int n, float *restrict u)
{
    const float *fx = c == 0 ? nodes->whole[0] : nodes->half[0];
    const float *fy = c == 1 ? nodes->whole[1] : nodes->half[1];
    const float *fz = c == 2 ? nodes->whole[2] : nodes->half[2];
    for (int l = 0; l < n; l += 8) {
        const int32_t *offset = nodes->offset[c] + l;
        WadiFour low, high;
        wadi_flip_sample_four(copy, has_pairs, stride_y, stride_z, offset, fx + l, fy + l, fz + l, &low);
        wadi_flip_sample_four(copy, has_pairs, stride_y, stride_z, offset + 4, fx + l + 4, fy + l + 4,
                              fz + l + 4, &high);
        *(WadiF8 *)(u + l) = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
}

/* Positions of sixteen particles, four each from x, x + step, x + 2 step and x + 3 step. The tile's corner
 * is subtracted in double, so that precision does not depend on the origin. Results are clamped to [0, 8). */
static inline void wadi_flip_position_fours(const double *restrict x, ptrdiff_t step, double cells_per_metre,
                                            double corner, float *restrict position)
{
    const WadiF8 smallest = { 0.0f }, largest = smallest + 0x1.fffffep2f;
    for (int l = 0; l < WADI_FLIP_BLOCK; l += 8, x += 2 * step) {
        WadiD4 low = *(const WadiD4 *)x * cells_per_metre - corner;
        WadiD4 high = *(const WadiD4 *)(x + step) * cells_per_metre - corner;
        WadiF8 p = __builtin_shufflevector(WADI_FLOATS(low), WADI_FLOATS(high), 0, 1, 2, 3, 4, 5, 6, 7);
        p = WADI_MAX8(p, smallest);
        *(WadiF8 *)(position + l) = WADI_MIN8(p, largest);
    }
}

/* The same for `count` consecutive particles; the other lanes repeat the first. */
static inline void wadi_flip_position(const double *restrict x, int count, double cells_per_metre,
                                      double corner, float *restrict position)
{
    double last[WADI_FLIP_BLOCK];
    if (count < WADI_FLIP_BLOCK) {
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            last[l] = x[l < count ? l : 0];
        }
        x = last;
    }
    wadi_flip_position_fours(x, 4, cells_per_metre, corner, position);
}

static inline void wadi_flip_load(const float *restrict from, int count, float *restrict to)
{
    if (count == WADI_FLIP_BLOCK) {
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            to[l] = from[l];
        }
        return;
    }
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        to[l] = l < count ? from[l] : 0.0f;
    }
}

/* `position` is in cells from the tile's corner. The copy begins `low` cells below the tile; strides in
 * floats. `shift` (a whole number) makes all positions positive, so that truncation is floor. Where adding
 * it rounds up, a fraction is -1e-7 instead of 1 - 1e-7 of the node below: the same value of a continuous
 * interpolation. */
static inline void wadi_flip_locate(float position[3][WADI_FLIP_BLOCK], float shift, int low, int stride_x,
                                    int stride_y, int stride_z, int stride_component, WadiFlipNodes *nodes)
{
    const int32_t stride[3] = { stride_x, stride_y, stride_z };
    /* Offset of the node on the cell's low faces; the node at cell centres lies half a cell below or above
     * it. */
    const int32_t corner = (low - (int32_t)shift) * (stride_x + stride_y + stride_z);
    for (int l = 0; l < WADI_FLIP_BLOCK; l += 8) {
        WadiI8 whole[3], half[3];
        for (int a = 0; a < 3; ++a) {
            const WadiF8 p = *(const WadiF8 *)(position[a] + l), middle = (WadiF8){ 0.0f } + 0.5f;
            const WadiI8 i = __builtin_convertvector(p + shift, WadiI8);
            const WadiF8 f = p - (__builtin_convertvector(i, WadiF8) - shift);
            const WadiI8 up = f >= middle, sign = up & INT32_MIN;
            whole[a] = i * stride[a];
            half[a] = whole[a] + (up & stride[a]);
            *(WadiF8 *)(nodes->whole[a] + l) = f;
            *(WadiF8 *)(nodes->half[a] + l) = f + (WadiF8)((WadiI8)middle ^ sign);
        }
        *(WadiI8 *)(nodes->offset[0] + l) = whole[0] + half[1] + half[2] + (corner - stride_y - stride_z);
        *(WadiI8 *)(nodes->offset[1] + l) =
            half[0] + whole[1] + half[2] + (corner - stride_x - stride_z + stride_component);
        *(WadiI8 *)(nodes->offset[2] + l) =
            half[0] + half[1] + whole[2] + (corner - stride_x - stride_y + 2 * stride_component);
    }
}

/* Particles of one tile with long paths: their indices, and the grid velocity at their positions. */
enum { WADI_FLIP_LONG_MAX = 4096 };

typedef struct WadiFlipLong {
    const WadiFlipGrid *grid;
    const WadiParticles *particles;
    const WadiFlipPath *path; /* ends are written */
    double dt;
    int order;
    int32_t index[WADI_FLIP_LONG_MAX];
    float u[3][WADI_FLIP_LONG_MAX];
} WadiFlipLong;

void wadi_flip_follow_long(const WadiFlipLong *in, int32_t tile, int count);

/* Grid to particles by parts of tiles, so that the caller can move the particles of a part before the next
 * is read. */
enum {
    WADI_FLIP_GATHER_MARGIN =
        2, /* cells: a stage of the path goes up to one cell away, and its nodes one further */
    WADI_FLIP_GATHER_SIDE = 8 + 2 * WADI_FLIP_GATHER_MARGIN /* nodes of a tile's copy along an axis */
};

typedef struct WadiFlipGather {
    const WadiFlipToParticlesIn *in;
    WadiParticles *particles;
    float *affine[9];
    const float *field[3], *saved[3];        /* saved: NULL without FLIP */
    float flip_fraction[WADI_MATERIALS_MAX]; /* by material */
    bool is_fraction_uniform;                /* all materials have the same fraction */
} WadiFlipGather;

/* Scratch of one thread: velocities around a tile as pairs {u, u - saved} of three components, and the
 * long paths. */
typedef struct WadiFlipGatherScratch {
    _Alignas(64) float copy[WADI_FLIP_GATHER_SIDE * WADI_FLIP_GATHER_SIDE * WADI_FLIP_GATHER_SIDE * 3 * 2];
    WadiFlipLong long_list;
} WadiFlipGatherScratch;

void wadi_flip_gather_begin(WadiFlipGather *work, WadiParticles *particles, const WadiFlipToParticlesIn *in);

void wadi_flip_gather_fill(const WadiFlipGather *work, int32_t tile, WadiFlipGatherScratch *scratch);

/* New velocities and path ends of particles first .. end of a tile, after wadi_flip_gather_fill. Returns
 * the number of long paths. */
int64_t wadi_flip_gather_part(const WadiFlipGather *work, int32_t tile, int32_t first, int32_t end,
                              const WadiFlipPath *path, WadiFlipGatherScratch *scratch);

#endif
