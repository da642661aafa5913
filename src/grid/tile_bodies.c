#include "grid/tile_bodies.h"

/* By union-find: body[t] is an earlier tile of the same body, or t. */
static int32_t first_of(int32_t *body, int32_t tile)
{
    while (body[tile] != tile) {
        body[tile] = body[body[tile]];
        tile = body[tile];
    }
    return tile;
}

static void join(int32_t *body, int32_t tile, int32_t other)
{
    if (other >= 0) {
        const int32_t a = first_of(body, tile), b = first_of(body, other);
        body[a > b ? a : b] = a > b ? b : a;
    }
}

static int32_t tile_after(const WadiTileMap *map, int32_t tile, int axis)
{
    WadiTile next = map->tiles[tile];
    next.x += axis == 0;
    next.y += axis == 1;
    next.z += axis == 2;
    return wadi_tile_map_find(map, next);
}

void wadi_tile_bodies_find(const WadiTileMap *map, int32_t *body)
{
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = n;
    }
    for (int32_t n = 0; n < map->count; ++n) {
        for (int axis = 0; axis < 3; ++axis) {
            join(body, n, tile_after(map, n, axis));
        }
    }
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = first_of(body, n);
    }
}

void wadi_tile_bodies_find_touching(const WadiTileMap *map, int32_t *body)
{
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = n;
        for (int k = 0; k < 13; ++k) { /* the other 13 come later */
            join(body, n, map->neighbours[n][k]);
        }
    }
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = first_of(body, n);
    }
}
