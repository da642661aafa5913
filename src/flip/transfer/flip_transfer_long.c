/* Paths of more than two cells, in steps of at most two: x' = u(x) by the midpoint rule or Ralston's of
 * third order. [theory 2.3]
 * A tile with many of them copies the velocities six cells around it and follows sixteen at a time; a few,
 * or those that leave the copy, sample the grid directly. Where the grid has no row the copy holds NaN,
 * and a particle continues with its last velocity. */
#include <math.h>
#include <string.h>

#include "flip/transfer/flip_transfer.h"
#include "flip/transfer/flip_transfer_block.h"

enum {
    MARGIN = 6,
    SIDE = 8 + 2 * MARGIN,
    ROW = 3 * SIDE,
    LAYER = SIDE * ROW,
    SLACK = 4,      /* floats that a load of four may read past the last node */
    MANY = 48,      /* particles from which the copy is cheaper than single samples */
    STEPS_MAX = 64, /* of one path; longer ones leave any grid */
    COPY_STEPS_MAX = 8
};

static const double STEP_CELLS = 2.0;

/* `count` floats of each component from a row, or NaN where it does not exist; components are SIDE apart. */
static inline __attribute__((always_inline)) void copy_lanes(const WadiFlipGrid *grid, size_t row, int lane,
                                                             int count, float *restrict to)
{
    for (int c = 0; c < 3; ++c) {
        const float *from = grid->velocity[c] + WADI_ROW_CELLS * row + lane;
        for (int l = 0; l < count; ++l) {
            to[c * SIDE + l] = row != 0 ? from[l] : NAN;
        }
    }
}

/* `width`: cells around the tile that are filled, up to MARGIN. */
static void fill_copy(const WadiFlipGrid *grid, int32_t tile, int width, float *restrict copy)
{
    const int32_t *neighbours = grid->tiles.neighbours[tile];
    for (int k = -width; k < 8 + width; ++k) {
        for (int j = -width; j < 8 + width; ++j) {
            const int32_t *tiles = neighbours + 12 + 3 * (j >> 3) + 9 * (k >> 3);
            int bit = (j & 7) + 8 * (k & 7);
            float *to = copy + (size_t)((k + MARGIN) * SIDE + j + MARGIN) * ROW;
            size_t left = (size_t)wadi_rows_at(&grid->rows, tiles[0], bit);
            size_t here = (size_t)wadi_rows_at(&grid->rows, tiles[1], bit);
            size_t right = (size_t)wadi_rows_at(&grid->rows, tiles[2], bit);
            copy_lanes(grid, left, 8 - MARGIN, MARGIN, to);
            copy_lanes(grid, here, 0, 8, to + MARGIN);
            copy_lanes(grid, right, 0, MARGIN, to + MARGIN + 8);
        }
    }
    memset(copy + SIDE * LAYER, 0, SLACK * sizeof *copy);
}

/* Sixteen paths from `start` (cells from the tile's corner). */
typedef struct Paths {
    float start[3][WADI_FLIP_BLOCK];
    float moved[3][WADI_FLIP_BLOCK]; /* cells: displacement so far */
    float u[3][WADI_FLIP_BLOCK];     /* m/s: last valid sample */
    float is_out[WADI_FLIP_BLOCK];   /* 1: left the copy, the result is invalid */
    float low, high;                 /* positions between which the copy is filled */
} Paths;

/* Sample the velocity at the current position plus `scale` (cells per m/s, per path) times `along`, into
 * paths->u. */
static void sample_along(const float *restrict copy, Paths *paths, float scale[WADI_FLIP_BLOCK],
                         float along[3][WADI_FLIP_BLOCK], int n)
{
    const float low = paths->low, high = paths->high;
    float position[3][WADI_FLIP_BLOCK], u[3][WADI_FLIP_BLOCK] = { { 0.0f } };
    for (int a = 0; a < 3; ++a) {
#pragma omp simd
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            float p = paths->start[a][l] + (paths->moved[a][l] + scale[l] * along[a][l]);
            bool is_in = p >= low && p <= high;
            paths->is_out[l] = is_in ? paths->is_out[l] : 1.0f;
            position[a][l] = is_in ? p : 0.0f;
        }
    }
    WadiFlipNodes nodes;
    wadi_flip_locate(position, (float)MARGIN, MARGIN, 1, ROW, LAYER, SIDE, &nodes);
    for (int c = 0; c < 3; ++c) {
        wadi_flip_sample_eights(copy, false, ROW, LAYER, &nodes, c, n, u[c]);
    }
#pragma omp simd
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        float sum = u[0][l] + u[1][l] + u[2][l];
        bool is_known = sum == sum;
        paths->u[0][l] = is_known ? u[0][l] : paths->u[0][l];
        paths->u[1][l] = is_known ? u[1][l] : paths->u[1][l];
        paths->u[2][l] = is_known ? u[2][l] : paths->u[2][l];
    }
}

/* One step of each path, `step` in cells per m/s, 0 for those that have arrived. The velocity at the start
 * of the first step is given. */
static void advance(const float *restrict copy, Paths *paths, bool is_first, float step[WADI_FLIP_BLOCK],
                    int order, int n)
{
    float scale[WADI_FLIP_BLOCK] = { 0.0f }, k1[3][WADI_FLIP_BLOCK], k2[3][WADI_FLIP_BLOCK];
    if (!is_first) {
        sample_along(copy, paths, scale, paths->u, n);
    }
    memcpy(k1, paths->u, sizeof k1);
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        scale[l] = 0.5f * step[l];
    }
    sample_along(copy, paths, scale, k1, n);
    memcpy(k2, paths->u, sizeof k2);
    if (order == 3) {
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            scale[l] = 0.75f * step[l];
        }
        sample_along(copy, paths, scale, k2, n);
    }
    for (int a = 0; a < 3; ++a) {
        for (int l = 0; l < WADI_FLIP_BLOCK && order == 3; ++l) {
            k2[a][l] = (2.0f * k1[a][l] + 3.0f * k2[a][l] + 4.0f * paths->u[a][l]) / 9.0f;
        }
#pragma omp simd
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            paths->moved[a][l] += step[l] * k2[a][l];
        }
    }
}

/* By sampling the grid, for any length. `position` is in cells and is advanced. */
static void follow_by_sampling(const WadiFlipGrid *grid, double position[3], const float first[3],
                               double cells_per_speed, int order)
{
    double u[3] = { (double)first[0], (double)first[1], (double)first[2] };
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) * cells_per_speed;
    double needed = ceil(length / STEP_CELLS);
    int steps = needed >= 1.0 && needed < STEPS_MAX ? (int)needed : STEPS_MAX;
    double dt = cells_per_speed / steps;
    for (int s = 0; s < steps; ++s) {
        double k1[3], k2[3], at[3];
        wadi_flip_grid_sample(grid, position, u);
        memcpy(k1, u, sizeof u);
        for (int a = 0; a < 3; ++a) {
            at[a] = position[a] + 0.5 * dt * k1[a];
        }
        wadi_flip_grid_sample(grid, at, u);
        memcpy(k2, u, sizeof u);
        for (int a = 0; a < 3; ++a) {
            at[a] = position[a] + 0.75 * dt * k2[a];
        }
        if (order == 3) {
            wadi_flip_grid_sample(grid, at, u);
        }
        for (int a = 0; a < 3; ++a) {
            position[a] += dt * (order == 3 ? (2.0 * k1[a] + 3.0 * k2[a] + 4.0 * u[a]) / 9.0 : k2[a]);
        }
    }
}

static void follow_one(const WadiFlipLong *in, int number)
{
    const int32_t i = in->index[number];
    const float first[3] = { in->u[0][number], in->u[1][number], in->u[2][number] };
    double h = in->grid->cell_size;
    double at[3] = { in->particles->x[i] / h, in->particles->y[i] / h, in->particles->z[i] / h };
    follow_by_sampling(in->grid, at, first, in->dt / h, in->order);
    int32_t n = i - in->path->first;
    in->path->x[n] = at[0] * h;
    in->path->y[n] = at[1] * h;
    in->path->z[n] = at[2] * h;
}

static void follow_block(const WadiFlipLong *in, WadiTile tile, const float *restrict copy, int width,
                         int first, int n)
{
    const WadiParticles *particles = in->particles;
    const double h = in->grid->cell_size, per_metre = 1.0 / h, cells_per_speed = in->dt / h;
    const double corner[3] = { 8.0 * tile.x, 8.0 * tile.y, 8.0 * tile.z };
    Paths paths = { .low = 1.0f - (float)width, .high = 6.999f + (float)width };
    float steps[WADI_FLIP_BLOCK], max_steps = 0.0f;
    for (int l = 0; l < n; ++l) {
        int32_t i = in->index[first + l];
        paths.start[0][l] = (float)(particles->x[i] * per_metre - corner[0]);
        paths.start[1][l] = (float)(particles->y[i] * per_metre - corner[1]);
        paths.start[2][l] = (float)(particles->z[i] * per_metre - corner[2]);
    }
    for (int a = 0; a < 3; ++a) {
        memcpy(paths.u[a], in->u[a] + first, (size_t)n * sizeof(float));
    }
    const float steps_per_speed = (float)(cells_per_speed / STEP_CELLS);
#pragma omp simd reduction(max : max_steps)
    for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
        const float ux = paths.u[0][l], uy = paths.u[1][l], uz = paths.u[2][l];
        float needed = ceilf(sqrtf(ux * ux + uy * uy + uz * uz) * steps_per_speed);
        bool is_short = needed <= COPY_STEPS_MAX;
        steps[l] = is_short && needed >= 1.0f ? needed : 1.0f;
        paths.is_out[l] = is_short ? 0.0f : 1.0f;
        max_steps = steps[l] > max_steps ? steps[l] : max_steps;
    }
    for (int s = 0; s < (int)max_steps; ++s) {
        float step[WADI_FLIP_BLOCK];
#pragma omp simd
        for (int l = 0; l < WADI_FLIP_BLOCK; ++l) {
            const float whole = (float)cells_per_speed / steps[l];
            step[l] = (float)s < steps[l] && paths.is_out[l] == 0.0f ? whole : 0.0f;
        }
        advance(copy, &paths, s == 0, step, in->order, n);
    }
    for (int l = 0; l < n; ++l) {
        int32_t i = in->index[first + l];
        if (paths.is_out[l] > 0.0f) {
            follow_one(in, first + l);
        } else {
            int32_t n_end = i - in->path->first;
            in->path->x[n_end] = particles->x[i] + h * (double)paths.moved[0][l];
            in->path->y[n_end] = particles->y[i] + h * (double)paths.moved[1][l];
            in->path->z[n_end] = particles->z[i] + h * (double)paths.moved[2][l];
        }
    }
}

void wadi_flip_follow_long(const WadiFlipLong *in, int32_t tile, int count)
{
    if (count < MANY) {
        for (int n = 0; n < count; ++n) {
            follow_one(in, n);
        }
        return;
    }
    /* The length of the fastest path at its present speed, and one cell. */
    float square = 0.0f;
    for (int n = 0; n < count; ++n) {
        const float ux = in->u[0][n], uy = in->u[1][n], uz = in->u[2][n], here = ux * ux + uy * uy + uz * uz;
        square = here > square ? here : square;
    }
    const double cells = ceil(sqrt((double)square) * in->dt / in->grid->cell_size) + 1.0;
    const int width = cells < MARGIN ? (int)cells : MARGIN;
    _Alignas(64) float copy[SIDE * LAYER + SLACK];
    fill_copy(in->grid, tile, width, copy);
    for (int n = 0; n < count; n += WADI_FLIP_BLOCK) {
        follow_block(in, in->grid->tiles.tiles[tile], copy, width, n,
                     count - n < WADI_FLIP_BLOCK ? count - n : WADI_FLIP_BLOCK);
    }
}
