#include "view_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void **data, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) {
        return true;
    }
    const size_t larger = wanted + wanted / 2 + 64;
    void *grown = realloc(*data, larger * size);
    if (grown == NULL) {
        return false;
    }
    *data = grown;
    *capacity = larger;
    return true;
}

bool wadi_view_bytes_add(WadiViewBytes *bytes, const void *data, size_t size)
{
    if (!grow((void **)&bytes->data, &bytes->capacity, bytes->size + size, 1)) {
        return false;
    }
    if (size > 0) {
        memcpy(bytes->data + bytes->size, data, size);
    }
    bytes->size += size;
    return true;
}

void wadi_view_picture_free(WadiViewPicture *picture)
{
    free(picture->tiles);
    free(picture->words);
    free(picture->values);
    *picture = (WadiViewPicture){ 0 };
}

size_t wadi_view_picture_bytes(const WadiViewPicture *picture)
{
    return sizeof *picture + picture->tile_capacity * sizeof *picture->tiles + 5 * picture->capacity;
}

static double item(const WadiView *view, int component, size_t i)
{
    const void *at = (const char *)view->data[component] + i * view->stride;
    switch (view->type) {
    case WADI_VIEW_U8: return *(const uint8_t *)at;
    case WADI_VIEW_U32: return *(const uint32_t *)at;
    case WADI_VIEW_F32: return (double)*(const float *)at;
    case WADI_VIEW_F64: return *(const double *)at;
    case WADI_VIEW_I32: return *(const int32_t *)at;
    case WADI_VIEW_U64: return (double)*(const uint64_t *)at;
    }
    return 0.0;
}

/* The value, or the length of a vector. */
static double magnitude(const WadiView *view, size_t i)
{
    if (view->components == 1) {
        return item(view, 0, i);
    }
    double square = 0.0;
    for (int c = 0; c < view->components; ++c) {
        const double v = item(view, c, i);
        square += v * v;
    }
    return sqrt(square);
}

void wadi_view_attribute_range(const WadiView *attribute, double *low, double *high)
{
    *low = *high = 0.0;
    for (size_t i = 0; i < attribute->count; ++i) {
        const double v = magnitude(attribute, i);
        *low = i == 0 || v < *low ? v : *low;
        *high = i == 0 || v > *high ? v : *high;
    }
}

/* Tiles by their coordinates: open addressing, index + 1, 0 for a free place. */
typedef struct TileMap {
    uint32_t *place;
    size_t mask;
} TileMap;

static uint64_t mix(uint64_t h)
{
    h ^= h >> 31;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    return h;
}

static uint64_t hash_tile(const int32_t at[3])
{
    return mix(mix(mix((uint32_t)at[0]) + (uint32_t)at[1]) + (uint32_t)at[2]);
}

static bool is_same(const int32_t a[3], const int32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool rehash(TileMap *map, const WadiViewPicture *picture)
{
    const size_t size = 4 * (map->mask + 1);
    uint32_t *place = calloc(size, sizeof *place);
    if (place == NULL) {
        return false;
    }
    free(map->place);
    *map = (TileMap){ place, size - 1 };
    for (size_t t = 0; t < picture->tile_count; ++t) {
        size_t h = hash_tile(picture->tiles[t].at) & map->mask;
        while (map->place[h] != 0) {
            h = (h + 1) & map->mask;
        }
        map->place[h] = (uint32_t)t + 1;
    }
    return true;
}

/* Index of the tile, which is added when new; UINT32_MAX: no memory. */
static uint32_t find_tile(TileMap *map, WadiViewPicture *picture, const int32_t at[3])
{
    size_t h = hash_tile(at) & map->mask;
    while (map->place[h] != 0) {
        if (is_same(picture->tiles[map->place[h] - 1].at, at)) {
            return map->place[h] - 1;
        }
        h = (h + 1) & map->mask;
    }
    if (!grow((void **)&picture->tiles, &picture->tile_capacity, picture->tile_count + 1,
              sizeof *picture->tiles)) {
        return UINT32_MAX;
    }
    picture->tiles[picture->tile_count] = (WadiViewTile){ .at = { at[0], at[1], at[2] } };
    map->place[h] = (uint32_t)++picture->tile_count;
    if (4 * picture->tile_count > 3 * map->mask && !rehash(map, picture)) {
        return UINT32_MAX;
    }
    return (uint32_t)picture->tile_count - 1;
}

/* Spreads ids evenly, so that the same particles stay when fewer are shown. */
static bool is_kept(uint32_t id, int keep)
{
    return (int)(mix(id) & 0xffff) < keep;
}

/* Tile of each kept particle, UINT32_MAX for the others; counts them. */
static bool sort_into_tiles(WadiViewPicture *picture, const WadiViewInput *input, uint32_t *tile_of)
{
    TileMap map = { calloc(256, sizeof(uint32_t)), 255 };
    bool is_good = map.place != NULL;
    const double scale = 1.0 / input->tile_size;
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < input->position.count && is_good; ++i) {
        tile_of[i] = UINT32_MAX;
        if (input->keep < WADI_VIEW_KEEP_ALL && !is_kept((uint32_t)item(&input->id, 0, i), input->keep)) {
            continue;
        }
        int32_t at[3];
        for (int c = 0; c < 3; ++c) {
            const double x = floor(item(&input->position, c, i) * scale);
            at[c] = (int32_t)fmin(fmax(x, -2e9), 2e9);
        }
        if (last == UINT32_MAX || !is_same(picture->tiles[last].at, at)) {
            last = find_tile(&map, picture, at);
            is_good = last != UINT32_MAX;
        }
        if (is_good) {
            tile_of[i] = last;
            picture->tiles[last].count += 1;
            picture->count += 1;
        }
    }
    free(map.place);
    return is_good;
}

static uint32_t encode(const WadiViewInput *input, const int32_t at[3], size_t i)
{
    uint32_t word = 0;
    for (int c = 0; c < 3; ++c) {
        const double inside = item(&input->position, c, i) / input->tile_size - at[c];
        word |= (uint32_t)fmin(fmax(inside * 1024.0, 0.0), 1023.0) << (10 * c);
    }
    const uint32_t material = (uint32_t)item(&input->material, 0, i);
    return word | (material < 3 ? material : 3) << 30;
}

/* The free slots of a tile in groups: each eighth slot, those that make it each fourth, each second, the
 * others. The groups belong to 1/8, 1/8, 1/4 and 1/2 of all ids: a page that draws only each eighth, fourth
 * or second slot draws mostly the same particles in all pictures. */
enum { SLOT_GROUPS = 4 };
static const uint32_t SLOT_FIRST[SLOT_GROUPS] = { 0, 4, 2, 1 }, SLOT_STEP[SLOT_GROUPS] = { 8, 8, 4, 2 };

typedef struct Slots {
    uint32_t next[SLOT_GROUPS], end[SLOT_GROUPS]; /* counted inside each group */
} Slots;

static int slot_group(uint32_t id)
{
    const int bits = (int)(mix(id) >> 16 & 7); /* others than those of is_kept */
    return bits < 2 ? bits : bits < 4 ? 2 : 3;
}

/* The next slot of the group, or of a full group the last one of the group with the most free slots. */
static uint32_t take_slot(Slots *slots, int group)
{
    if (slots->next[group] < slots->end[group]) {
        return SLOT_FIRST[group] + SLOT_STEP[group] * slots->next[group]++;
    }
    int other = 0;
    for (int g = 1; g < SLOT_GROUPS; ++g) {
        other = slots->end[g] - slots->next[g] > slots->end[other] - slots->next[other] ? g : other;
    }
    return SLOT_FIRST[other] + SLOT_STEP[other] * --slots->end[other];
}

static void fill(WadiViewPicture *picture, const WadiViewInput *input, const uint32_t *tile_of, Slots *slots)
{
    uint32_t first = 0;
    for (size_t t = 0; t < picture->tile_count; ++t) {
        const uint32_t count = picture->tiles[t].count;
        picture->tiles[t].first = first;
        slots[t] = (Slots){ .end = { (count + 7) / 8, (count + 3) / 8, (count + 1) / 4, count / 2 } };
        first += count;
    }
    const double scale = input->high > input->low ? 255.0 / (input->high - input->low) : 0.0;
    for (size_t i = 0; i < input->position.count; ++i) {
        if (tile_of[i] == UINT32_MAX) {
            continue;
        }
        const WadiViewTile *tile = &picture->tiles[tile_of[i]];
        const uint32_t id = (uint32_t)item(&input->id, 0, i);
        const size_t slot = tile->first + take_slot(&slots[tile_of[i]], slot_group(id));
        picture->words[slot] = encode(input, tile->at, i);
        const double value =
            input->attribute.count > 0 ? (magnitude(&input->attribute, i) - input->low) * scale + 0.5 : 0.0;
        picture->values[slot] = (uint8_t)(value > 0.0 ? fmin(value, 255.0) : 0.0);
    }
    for (size_t t = 0; t < picture->tile_count; ++t) {
        WadiViewTile *tile = &picture->tiles[t];
        uint64_t hash = tile->count;
        for (size_t n = tile->first; n < (size_t)tile->first + tile->count; ++n) {
            hash = mix(hash + picture->words[n] + ((uint64_t)picture->values[n] << 32));
        }
        tile->hash = hash;
    }
}

bool wadi_view_picture_make(WadiViewPicture *picture, const WadiViewInput *input)
{
    const size_t count = input->position.count;
    picture->tile_count = picture->count = 0;
    picture->particles = count;
    picture->tile_size = input->tile_size;
    picture->low = (float)input->low;
    picture->high = (float)input->high;
    uint32_t *tile_of = malloc((count + 1) * sizeof *tile_of);
    size_t words = picture->capacity, values = picture->capacity;
    bool is_good = tile_of != NULL && sort_into_tiles(picture, input, tile_of);
    Slots *slots = malloc((picture->tile_count + 1) * sizeof *slots);
    is_good = is_good && slots != NULL &&
              grow((void **)&picture->words, &words, picture->count, sizeof *picture->words) &&
              grow((void **)&picture->values, &values, picture->count, 1);
    picture->capacity = words < values ? words : values;
    if (is_good) {
        fill(picture, input, tile_of, slots);
    } else {
        picture->tile_count = picture->count = 0;
    }
    free(slots);
    free(tile_of);
    return is_good;
}
