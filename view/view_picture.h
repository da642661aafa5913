/* One state of the particles as the page draws it: about five bytes a particle, sorted into tiles.
 *
 * A particle is a word of 32 bits, its place in the tile (10 bits an axis) and its material (2 bits), and a
 * byte for one attribute. A page has a list of chunks of WADI_VIEW_CHUNK places; a tile owns as many as it
 * needs. Only chunks of tiles whose bytes changed are sent. view/README.md has the layout of a message. */
#ifndef WADI_VIEW_PICTURE_H
#define WADI_VIEW_PICTURE_H

#include "wadi/wadi.h"

enum { WADI_VIEW_CHUNK = 256, WADI_VIEW_KEEP_ALL = 65536 };

typedef struct WadiViewTile {
    int32_t at[3];         /* position = at * tile_size */
    uint32_t first, count; /* of its words */
    uint64_t hash;         /* of words and values */
} WadiViewTile;

/* A zeroed picture is valid and empty. */
typedef struct WadiViewPicture {
    uint32_t frame;
    int64_t steps;
    double time;        /* s */
    size_t particles;   /* of the state */
    size_t count;       /* of these in the picture */
    double tile_size;   /* m */
    float low, high;    /* attribute of the bytes 0 and 255 */
    char attribute[48]; /* its name */
    WadiViewTile *tiles;
    size_t tile_count, tile_capacity;
    uint32_t *words;
    uint8_t *values;
    size_t capacity; /* of words and values */
} WadiViewPicture;

/* What is drawn, and how. */
typedef struct WadiViewInput {
    WadiView position, material, id, attribute; /* attribute.count 0: none */
    double tile_size;
    double low, high; /* range of the attribute */
    int keep;         /* of WADI_VIEW_KEEP_ALL particles, chosen by id */
} WadiViewInput;

/* False: no memory; the picture is then empty. Reuses its memory. */
bool wadi_view_picture_make(WadiViewPicture *picture, const WadiViewInput *input);
void wadi_view_picture_free(WadiViewPicture *picture);
size_t wadi_view_picture_bytes(const WadiViewPicture *picture);
/* Largest value of the attribute (length of a vector), 0 without particles. */
void wadi_view_attribute_range(const WadiView *attribute, double *low, double *high);

/* What a page has. A zeroed struct: nothing. */
typedef struct WadiViewPage {
    struct WadiViewHeld *held; /* tiles, as a hash table */
    size_t held_count, held_capacity;
    uint32_t *free_chunks;
    size_t free_count, free_capacity;
    uint32_t chunk_count; /* used so far */
    uint32_t sequence;    /* of the pictures sent */
} WadiViewPage;

void wadi_view_page_free(WadiViewPage *page);

typedef struct WadiViewBytes {
    unsigned char *data;
    size_t size, capacity;
} WadiViewBytes;

bool wadi_view_bytes_add(WadiViewBytes *bytes, const void *data, size_t size);

/* The message that makes the page show the picture, given what it has. False: no memory; the page must then
 * be forgotten. */
bool wadi_view_page_send(WadiViewPage *page, const WadiViewPicture *picture, WadiViewBytes *message);

#endif
