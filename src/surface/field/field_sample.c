/* Sample rows of tiles from the particles that reach them: collect the particles of a tile once, those of each layer of nodes
 * from them and those of each row from these, then ask the method for the row. */
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"
#include "surface/field/field_band.h"

enum { TILE_BLOCK = 16 };

typedef struct SampleJob {
    WadiFieldBand *band;
    const uint64_t *wanted;
    WadiFieldChunk *chunk; /* of each block */
    uint8_t *has_failed;   /* memory, of each block */
    int64_t *rows;         /* sampled, of each block */
} SampleJob;

/* Growing memory for the particles of one tile. */
typedef struct NearMemory {
    WadiFieldNear near;
    float *squared;                 /* reach */
    int32_t *layer, *row;           /* numbers of those of a layer and of a row */
    float *layer_y, *layer_squared; /* of those of the layer: y, and what is left of the squared reach */
    float *rest;                    /* of all of a layer, or of all */
    float *memory;
    size_t capacity; /* particles; a multiple of eight */
} NearMemory;

enum { NEAR_WORDS = 12 }; /* floats and 32-bit numbers a particle */

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
                               .reach = memory + 3 * capacity,
                               .slot = (int32_t *)(void *)(memory + 4 * capacity) };
    m->layer = (int32_t *)(void *)(memory + 5 * capacity);
    m->row = (int32_t *)(void *)(memory + 6 * capacity);
    m->layer_y = memory + 7 * capacity;
    m->layer_squared = memory + 8 * capacity;
    m->squared = memory + 9 * capacity;
    m->rest = memory + 10 * capacity;
    m->near.rest = memory + 11 * capacity;
    return true;
}

/* How far v is outside of 0 .. 7. */
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
        WADI_ASSERT_ELSE(near->x != NULL, return false); /* a span is not empty */
        float x0 = (float)((span.corner.x - low.x) * per_cell),
              y0 = (float)((span.corner.y - low.y) * per_cell),
              z0 = (float)((span.corner.z - low.z) * per_cell), scale = (float)per_cell;
        int32_t count = near->count;
        for (int32_t n = span.first; n < span.end; ++n) {
            const float *place = sampler->bins->place[n];
            float x = x0 + place[0] * scale, y = y0 + place[1] * scale, z = z0 + place[2] * scale;
            float reach = place[3] * scale, dx = beyond(x), dy = beyond(y), dz = beyond(z);
            near->x[count] = x;
            near->y[count] = y;
            near->z[count] = z;
            near->reach[count] = reach;
            near->slot[count] = n;
            count += dx * dx + dy * dy + dz * dz < reach * reach;
        }
        near->count = count;
    }
    for (int32_t n = 0; n < m->near.count; ++n) {
        m->squared[n] = m->near.reach[n] * m->near.reach[n];
    }
    return true;
}

/* What is left of the squared reach of `count` particles at a node along one axis. A loop of vectors of its own. */
static void find_rest(int32_t count, float node, const float *restrict place, const float *restrict squared,
                      float *restrict rest)
{
    for (int32_t n = 0; n < count; ++n) {
        float d = node - place[n];
        rest[n] = squared[n] - d * d;
    }
}

/* 1 unless negative, from the sign bit: a comparison would cost more than all else in the loops below. */
static inline int32_t is_left(float rest)
{
    uint32_t bits;
    memcpy(&bits, &rest, sizeof bits);
    return 1 - (int32_t)(bits >> 31);
}

/* Particles within reach of the plane of nodes z. */
static int32_t find_layer(const NearMemory *m, float z)
{
    const float *restrict y = m->near.y, *restrict rest = m->rest;
    float *restrict layer_y = m->layer_y, *restrict layer_squared = m->layer_squared;
    int32_t *restrict layer = m->layer;
    find_rest(m->near.count, z, m->near.z, m->squared, m->rest);
    int32_t count = 0;
    for (int32_t n = 0; n < m->near.count; ++n) {
        layer[count] = n;
        layer_y[count] = y[n];
        layer_squared[count] = rest[n];
        count += is_left(rest[n]);
    }
    return count;
}

/* Those of the layer within reach of the line of nodes y. */
static int32_t find_row(const NearMemory *m, int32_t layer_count, float y)
{
    const float *restrict rest = m->rest;
    const int32_t *restrict layer = m->layer;
    float *restrict row_rest = m->near.rest;
    int32_t *restrict row = m->row;
    find_rest(layer_count, y, m->layer_y, m->layer_squared, m->rest);
    int32_t count = 0;
    for (int32_t n = 0; n < layer_count; ++n) {
        row[count] = layer[n];
        row_rest[count] = rest[n];
        count += is_left(rest[n]);
    }
    return count;
}

/* Values of the wanted rows, at 8 place; returns those that a particle reaches. */
static uint64_t sample_rows(const WadiFieldBand *band, const NearMemory *m, uint64_t wanted, float *value)
{
    uint64_t reached = 0;
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
                reached |= UINT64_C(1) << place;
            }
        }
    }
    return reached;
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
            WadiI8 is_below = row<0.0f, is_above = row> 0.0f;
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

/* The values of a block's tiles, [tile][place][lane], into memory of their own, together with those the tiles had. */
static bool keep_values(SampleJob *job, int64_t first, int64_t end, float *value, const uint64_t *reached)
{
    WadiFieldChunk *chunk = &job->chunk[first / TILE_BLOCK];
    size_t rows = 0;
    for (int64_t t = first; t < end; ++t) {
        rows += job->wanted[t] != 0
                    ? (size_t)__builtin_popcountll(job->band->tile[t].sampled | reached[t - first])
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
        tile->sampled |= reached[t - first];
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
    uint64_t reached[TILE_BLOCK] = { 0 };
    NearMemory memory = { 0 };
    bool is_good = true;
    int64_t rows = 0;
    for (int64_t t = first; t < end && is_good; ++t) {
        uint64_t wanted = job->wanted[t] & ~job->band->tile[t].sampled;
        if (wanted != 0) {
            is_good = collect_near(&memory, job->band->sampler, job->band->tiles.tiles[t]);
            if (is_good && memory.near.count > 0) {
                reached[t - first] =
                    sample_rows(job->band, &memory, wanted, value + (size_t)(t - first) * WADI_TILE_CELLS);
                rows += __builtin_popcountll(reached[t - first]);
            }
        }
    }
    is_good = is_good && keep_values(job, first, end, value, reached);
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
