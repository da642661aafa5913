/* Samples rows of tiles. The particles that affect a tile are collected once, from them those of each layer
 * of nodes, from these those of each row; the method then evaluates the row. */
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"
#include "surface/field/field_band.h"

enum { TILE_BLOCK = 16 };

typedef struct SampleJob {
    WadiFieldBand *band;
    const uint64_t *wanted;
    WadiFieldChunk *chunk; /* per block */
    uint8_t *has_failed;   /* per block: out of memory */
    int64_t *rows;         /* per block: sampled rows */
} SampleJob;

/* Growing arrays for the particles of one tile. */
typedef struct NearMemory {
    WadiFieldNear near;
    float *squared;       /* support^2 */
    int32_t *layer, *row; /* particle indices of a layer and of a row */
    /* of the layer's particles: y, and the squared support remaining after z */
    float *layer_y, *layer_squared;
    float *remaining; /* scratch: of a layer or of all particles */
    float *memory;
    size_t capacity; /* particles; a multiple of eight */
} NearMemory;

enum { NEAR_WORDS = 12 }; /* floats and 32-bit integers per particle */

static bool reserve_near(NearMemory *m, size_t wanted)
{
    if (wanted <= m->capacity) {
        return true;
    }
    size_t capacity = (wanted + wanted / 2 + 512) & ~(size_t)7;
    float *memory;
    if (WADI_NEW(&memory, NEAR_WORDS * capacity, "particles of a tile", NULL) != WADI_OK) {
        return false;
    }
    if (m->near.count > 0) {
        for (int column = 0; column < 5; ++column) {
            memcpy(memory + (size_t)column * capacity, m->memory + (size_t)column * m->capacity,
                   (size_t)m->near.count * sizeof *memory);
        }
    }
    WADI_DELETE(m->memory, NEAR_WORDS * m->capacity);
    m->memory = memory;
    m->capacity = capacity;
    m->near = (WadiFieldNear){ .count = m->near.count,
                               .x = memory,
                               .y = memory + capacity,
                               .z = memory + 2 * capacity,
                               .support = memory + 3 * capacity,
                               .slot = (int32_t *)(void *)(memory + 4 * capacity) };
    m->layer = (int32_t *)(void *)(memory + 5 * capacity);
    m->row = (int32_t *)(void *)(memory + 6 * capacity);
    m->layer_y = memory + 7 * capacity;
    m->layer_squared = memory + 8 * capacity;
    m->squared = memory + 9 * capacity;
    m->remaining = memory + 10 * capacity;
    m->near.remaining = memory + 11 * capacity;
    return true;
}

/* Distance from v to [0, 7]. */
static inline float beyond(float v)
{
    float low = -v, high = v - 7.0f, most = low > high ? low : high;
    return most > 0.0f ? most : 0.0f;
}

static bool collect_near(NearMemory *m, const WadiFieldSampler *sampler, WadiTile tile)
{
    double cell = sampler->def->cell, per_cell = 1.0 / cell;
    WadiVec3 low = { 8.0 * tile.x * cell, 8.0 * tile.y * cell, 8.0 * tile.z * cell };
    WadiBox box = { low, { low.x + 7.0 * cell, low.y + 7.0 * cell, low.z + 7.0 * cell } };
    m->near.count = 0;
    WadiBinWalk walk = wadi_bins_walk(sampler->bins, box);
    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
        if (!reserve_near(m, (size_t)m->near.count + (size_t)(span.end - span.first))) {
            return false;
        }
        WadiFieldNear *near = &m->near;
        WADI_ASSERT_ELSE(near->x != NULL, return false); /* since a span is never empty */
        float x0 = (float)((span.corner.x - low.x) * per_cell),
              y0 = (float)((span.corner.y - low.y) * per_cell),
              z0 = (float)((span.corner.z - low.z) * per_cell), scale = (float)per_cell;
        int32_t count = near->count;
        for (int32_t n = span.first; n < span.end; ++n) {
            const float *point = sampler->bins->point[n];
            float x = x0 + point[0] * scale, y = y0 + point[1] * scale, z = z0 + point[2] * scale;
            float support = point[3] * scale, dx = beyond(x), dy = beyond(y), dz = beyond(z);
            near->x[count] = x;
            near->y[count] = y;
            near->z[count] = z;
            near->support[count] = support;
            near->slot[count] = n;
            count += dx * dx + dy * dy + dz * dz < support * support;
        }
        near->count = count;
    }
    for (int32_t n = 0; n < m->near.count; ++n) {
        m->squared[n] = m->near.support[n] * m->near.support[n];
    }
    return true;
}

/* Squared support remaining after the distance along one axis. A separate loop, so that the compiler
 * vectorizes it. */
static void find_remaining(int32_t count, float node, const float *restrict position,
                           const float *restrict squared, float *restrict remaining)
{
    for (int32_t n = 0; n < count; ++n) {
        float d = node - position[n];
        remaining[n] = squared[n] - d * d;
    }
}

/* 1 unless negative, from the sign bit: a comparison would dominate the cost of the loops below. */
static inline int32_t is_within(float remaining)
{
    uint32_t bits;
    memcpy(&bits, &remaining, sizeof bits);
    return 1 - (int32_t)(bits >> 31);
}

/* Particles whose support meets the plane of nodes z. */
static int32_t find_layer(const NearMemory *m, float z)
{
    const float *restrict y = m->near.y, *restrict remaining = m->remaining;
    float *restrict layer_y = m->layer_y, *restrict layer_squared = m->layer_squared;
    int32_t *restrict layer = m->layer;
    find_remaining(m->near.count, z, m->near.z, m->squared, m->remaining);
    int32_t count = 0;
    for (int32_t n = 0; n < m->near.count; ++n) {
        layer[count] = n;
        layer_y[count] = y[n];
        layer_squared[count] = remaining[n];
        count += is_within(remaining[n]);
    }
    return count;
}

/* Particles of the layer whose support meets the line of nodes y. */
static int32_t find_row(const NearMemory *m, int32_t layer_count, float y)
{
    const float *restrict remaining = m->remaining;
    const int32_t *restrict layer = m->layer;
    float *restrict row_remaining = m->near.remaining;
    int32_t *restrict row = m->row;
    find_remaining(layer_count, y, m->layer_y, m->layer_squared, m->remaining);
    int32_t count = 0;
    for (int32_t n = 0; n < layer_count; ++n) {
        row[count] = layer[n];
        row_remaining[count] = remaining[n];
        count += is_within(remaining[n]);
    }
    return count;
}

/* Values of the wanted rows, at 8 place; returns the rows that a support meets. */
static uint64_t sample_rows(const WadiFieldBand *band, const NearMemory *m, uint64_t wanted, float *value)
{
    uint64_t covered = 0;
    for (int k = 0; k < 8; ++k) {
        if ((wanted >> 8 * k & 0xff) == 0) {
            continue;
        }
        int32_t layer_count = find_layer(m, (float)k);
        for (int j = 0; j < 8 && layer_count > 0; ++j) {
            int place = j + 8 * k;
            if ((wanted >> place & 1) == 0) {
                continue;
            }
            int32_t row_count = find_row(m, layer_count, (float)j);
            if (row_count > 0) {
                band->method->sample_row(band->sampler, &m->near, m->row, row_count, (float)j, (float)k,
                                         value + (size_t)WADI_ROW_CELLS * (size_t)place);
                covered |= UINT64_C(1) << place;
            }
        }
    }
    return covered;
}

static const float *row_values(const WadiFieldTile *tile, int place)
{
    uint64_t before = tile->sampled & ((UINT64_C(1) << place) - 1);
    return tile->value + (size_t)WADI_ROW_CELLS * (size_t)__builtin_popcountll(before);
}

static void mark_signs(WadiFieldBand *band, int64_t t, const float *value)
{
    const WadiFieldTile *tile = &band->tile[t];
    WadiNodeBits negative = { { 0 } }, positive = { { 0 } };
    for (int place = 0; place < WADI_TILE_ROWS; ++place) {
        unsigned below = 0, above = 0;
        if (tile->sampled >> place & 1) {
            WadiF8 row = WADI_ROW(value, place);
            WadiI8 is_below = row < 0.0f;
            WadiI8 is_above = row > 0.0f;
            below = wadi_row_bits(&is_below);
            above = wadi_row_bits(&is_above);
        } else if (tile->inside >> place & 1) {
            below = 0xff;
        } else {
            above = 0xff;
        }
        negative.word[place >> 3] |= (uint64_t)below << 8 * (place & 7);
        positive.word[place >> 3] |= (uint64_t)above << 8 * (place & 7);
    }
    band->negative[t] = negative;
    band->positive[t] = positive;
}

/* Stores the values of a block's tiles, [tile][place][lane], together with those sampled before. */
static bool store_values(SampleJob *job, int64_t first, int64_t end, float *value, const uint64_t *covered)
{
    WadiFieldChunk *chunk = &job->chunk[first / TILE_BLOCK];
    size_t rows = 0;
    for (int64_t t = first; t < end; ++t) {
        rows += job->wanted[t] != 0
                    ? (size_t)__builtin_popcountll(job->band->tile[t].sampled | covered[t - first])
                    : 0;
    }
    if (rows > 0 && WADI_NEW(&chunk->value, rows * WADI_ROW_CELLS, "sampled rows", NULL) != WADI_OK) {
        return false;
    }
    chunk->count = rows * WADI_ROW_CELLS;
    float *to = chunk->value;
    for (int64_t t = first; t < end; ++t) {
        if (job->wanted[t] == 0) {
            continue;
        }
        WadiFieldTile *tile = &job->band->tile[t];
        float *dense = value + (size_t)(t - first) * WADI_TILE_CELLS;
        for (uint64_t left = tile->sampled; left != 0; left &= left - 1) {
            int place = __builtin_ctzll(left);
            memcpy(dense + WADI_ROW_CELLS * place, row_values(tile, place), WADI_ROW_CELLS * sizeof *dense);
        }
        tile->inside &= ~job->wanted[t];
        tile->sampled |= covered[t - first];
        tile->value = to;
        for (uint64_t left = tile->sampled; left != 0; left &= left - 1, to += WADI_ROW_CELLS) {
            memcpy(to, dense + WADI_ROW_CELLS * __builtin_ctzll(left), WADI_ROW_CELLS * sizeof *to);
        }
        mark_signs(job->band, t, dense);
    }
    return true;
}

static void sample_tiles(void *context, int64_t first, int64_t end)
{
    SampleJob *job = context;
    float value[TILE_BLOCK * WADI_TILE_CELLS];
    uint64_t covered[TILE_BLOCK] = { 0 };
    NearMemory memory = { 0 };
    bool is_good = true;
    int64_t rows = 0;
    for (int64_t t = first; t < end && is_good; ++t) {
        uint64_t wanted = job->wanted[t] & ~job->band->tile[t].sampled;
        if (wanted != 0) {
            is_good = collect_near(&memory, job->band->sampler, job->band->tiles.tiles[t]);
            if (is_good && memory.near.count > 0) {
                covered[t - first] =
                    sample_rows(job->band, &memory, wanted, value + (size_t)(t - first) * WADI_TILE_CELLS);
                rows += __builtin_popcountll(covered[t - first]);
            }
        }
    }
    is_good = is_good && store_values(job, first, end, value, covered);
    WADI_DELETE(memory.memory, NEAR_WORDS * memory.capacity);
    job->has_failed[first / TILE_BLOCK] = !is_good;
    job->rows[first / TILE_BLOCK] = rows;
}

WadiStatus wadi_field_sample(WadiFieldBand *band, const uint64_t *wanted, WadiArena *arena, WadiError *error)
{
    size_t blocks = (size_t)wadi_parallel_block_count(band->tiles.count, TILE_BLOCK);
    SampleJob job = { .band = band, .wanted = wanted };
    WADI_TRY(WADI_ARENA_NEW(arena, &job.chunk, blocks, "sampled rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.has_failed, blocks, "sampled rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.rows, blocks, "sampled rows", error));
    WADI_TRY(WADI_ARRAY_RESERVE(&band->chunks, band->chunks.count + blocks, "sampled rows", error));
    memset(job.chunk, 0, blocks * sizeof *job.chunk);
    wadi_parallel_for(band->tiles.count, TILE_BLOCK, sample_tiles, &job);
    bool has_failed = false;
    for (size_t b = 0; b < blocks; ++b) {
        if (job.chunk[b].value != NULL) {
            band->chunks.data[band->chunks.count++] = job.chunk[b];
        }
        band->sampled += WADI_ROW_CELLS * job.rows[b];
        has_failed = has_failed || job.has_failed[b];
    }
    return has_failed ? wadi_fail(error, WADI_ERR_MEMORY,
                                  "out of memory for the samples of a surface; "
                                  "a larger cell needs less")
                      : WADI_OK;
}
