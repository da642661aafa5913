/* Fill of the cells of calm water as a continuous function of the particle positions. [theory 4.2]
 * If each particle counts for one cell only, the surface jumps whenever a particle crosses a face, and
 * still water never comes to rest. So a particle near a face counts for the cells on both sides, half and
 * half on the face itself.
 * Particles at rest count for their own cell only: a seeded body keeps its exact surface. So do fast
 * particles, whose crossings are part of the flow.
 * Source: none. */
#include "flip/transfer/flip_split_at_faces.h"

#include <string.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"

enum { SIDE = WADI_TILE_SIDE + 2, BOX = SIDE * SIDE * SIDE, TILE_BLOCK = 4 };

/* In cells: distance from a face below which a particle is split. With half of it some water does not come
 * to rest; with twice it takes longer. */
#define FACE_DISTANCE 0.05f
/* Multiples of sqrt(g dx). Splitting rises from 0 to 1 between SPEED[0] and twice it, and falls from 1 to
 * 0 between SPEED[1] and SPEED[2]. SPEED[0] is the residual motion at rest, far above the error of the
 * pressure solver. */
static const float SPEED[3] = { 1e-5f, 0.25f, 0.5f };
typedef struct Splitting {
    const WadiFlipSplitIn *in;
    int32_t *box_of; /* per tile of the grid: index in `boxes`, -1: none */
    float *boxes;    /* changes by the particles of a tile: its cells and one layer around them */
    float *fill;
} Splitting;

/* Fraction of a particle of this speed that is split between cells. */
static float split_fraction(float square, float unit)
{
    const float speed = sqrtf(square) / unit;
    const float more = (speed - SPEED[0]) / SPEED[0], less = (SPEED[2] - speed) / (SPEED[2] - SPEED[1]);
    return wadi_minf(1.0f, wadi_minf(more, less));
}

static float square_of(const WadiParticles *p, int32_t i)
{
    return p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
}

/* Does the tile have a particle that may be split? */
static bool is_calm(const Splitting *s, int32_t tile)
{
    const float slowest = SPEED[0] * s->in->speed, fastest = SPEED[2] * s->in->speed;
    const int32_t end = s->in->sort->tile_start[tile + 1];
    for (int32_t i = s->in->sort->tile_start[tile]; i < end; ++i) {
        const float square = square_of(s->in->particles, i);
        if (square > slowest * slowest && square < fastest * fastest) {
            return true;
        }
    }
    return false;
}

/* Split particle i of the cell `at`, whose index in the box is `own`. */
static void split_particle(const Splitting *s, int32_t i, const int32_t at[3], int own, float *box)
{
    static const int stride[3] = { 1, SIDE, SIDE * SIDE };
    const WadiParticles *p = s->in->particles;
    const float slowest = SPEED[0] * s->in->speed, fastest = SPEED[2] * s->in->speed;
    const float square = square_of(p, i);
    if (square <= slowest * slowest || square >= fastest * fastest) {
        return;
    }
    const double x[3] = { p->x[i], p->y[i], p->z[i] };
    float fraction[3];
    int step[3];
    bool is_near = false;
    for (int a = 0; a < 3; ++a) {
        const float inside = (float)(x[a] * s->in->cells_per_metre - (double)at[a]);
        const float to_face = inside < 0.5f ? inside : 1.0f - inside;
        step[a] = inside < 0.5f ? -stride[a] : stride[a];
        fraction[a] = to_face < FACE_DISTANCE ? 0.5f * (1.0f - to_face / FACE_DISTANCE) : 0.0f;
        is_near = is_near || fraction[a] > 0.0f;
    }
    if (!is_near) {
        return;
    }
    const float volume = s->in->volume * split_fraction(square, s->in->speed);
    box[own] -= volume;
    for (int n = 0; n < 8; ++n) {
        float weight = volume;
        int to = own;
        for (int a = 0; a < 3; ++a) {
            weight *= (n >> a & 1) != 0 ? fraction[a] : 1.0f - fraction[a];
            to += (n >> a & 1) != 0 ? step[a] : 0;
        }
        if (weight > 0.0f) {
            box[to] += weight;
        }
    }
}

static void split_tile(const Splitting *s, int32_t tile, float *box)
{
    const WadiTileSort *sort = s->in->sort;
    const WadiTile corner = sort->tiles.tiles[tile];
    WadiTileCell cell;
    for (wadi_tile_cells_begin(&cell, sort, tile); wadi_tile_cells_next(&cell, sort);) {
        const int l = cell.lane, j = cell.row & 7, k = cell.row >> 3;
        const int32_t at[3] = { 8 * corner.x + l, 8 * corner.y + j, 8 * corner.z + k };
        for (int32_t i = cell.first; i < cell.end; ++i) {
            split_particle(s, i, at, l + 1 + SIDE * (j + 1 + SIDE * (k + 1)), box);
        }
    }
}

static void split_tiles(void *user, int64_t first, int64_t end)
{
    const Splitting *s = user;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        const int32_t n = s->box_of[s->in->tile_of[tile]];
        if (n >= 0) {
            float *box = s->boxes + BOX * (size_t)n;
            memset(box, 0, BOX * sizeof *box);
            split_tile(s, tile, box);
        }
    }
}

/* Range [from, to) of a tile's cells along an axis that the box of the neighbour at offset d (-1, 0, 1)
 * covers. */
static void overlap(int d, int *from, int *to)
{
    *from = d > 0 ? 7 : 0;
    *to = d < 0 ? 1 : 8;
}

/* Add to a tile the changes by the particles of its neighbour n (as in WadiTileMap.neighbours). */
static void add_box(const Splitting *s, int32_t tile, int n, const float *box)
{
    const WadiRows *rows = s->in->rows;
    const int d[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
    int low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        overlap(d[a], &low[a], &high[a]);
    }
    for (int k = low[2]; k < high[2]; ++k) {
        for (int j = low[1]; j < high[1]; ++j) {
            const int32_t row = wadi_rows_at(rows, tile, j + 8 * k);
            const float *from = box + SIDE * (j - 8 * d[1] + 1 + SIDE * (k - 8 * d[2] + 1)) + 1 - 8 * d[0];
            for (int l = low[0]; l < high[0] && row != 0; ++l) {
                s->fill[8 * (size_t)row + (size_t)l] += from[l];
            }
        }
    }
}

/* Each tile adds the changes by its own particles and by those of the tiles around it. */
static void gather_tiles(void *user, int64_t first, int64_t end)
{
    const Splitting *s = user;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        for (int n = 0; n < 27; ++n) {
            const int32_t other = s->in->rows->tiles->neighbours[tile][n];
            if (other >= 0 && s->box_of[other] >= 0) {
                add_box(s, tile, n, s->boxes + BOX * (size_t)s->box_of[other]);
            }
        }
    }
}

WadiStatus wadi_flip_split_at_faces(const WadiFlipSplitIn *in, float *fill, WadiArena *scratch,
                                    WadiError *error)
{
    const WadiRows *rows = in->rows;
    Splitting s = { .in = in, .fill = fill };
    WADI_TRY(WADI_ARENA_NEW(scratch, &s.box_of, (size_t)rows->tiles->count, "split particles", error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        s.box_of[t] = -1;
    }
    int32_t boxes = 0;
    for (int32_t t = 0; t < in->sort->tiles.count; ++t) {
        if (is_calm(&s, t)) {
            s.box_of[in->tile_of[t]] = boxes++;
        }
    }
    if (boxes == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &s.boxes, BOX * (size_t)boxes, "split particles", error));
    wadi_parallel_for(in->sort->tiles.count, TILE_BLOCK, split_tiles, &s);
    wadi_parallel_for(rows->tiles->count, TILE_BLOCK, gather_tiles, &s);
    return WADI_OK;
}
