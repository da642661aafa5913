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

static void join(const WadiTileMap *map, int32_t *body, int32_t tile, int axis)
{
    WadiTile next = map->tiles[tile];
    next.x += axis == 0;
    next.y += axis == 1;
    next.z += axis == 2;
    const int32_t other = wadi_tile_map_find(map, next);
    if (other >= 0) {
        const int32_t a = first_of(body, tile), b = first_of(body, other);
        body[a > b ? a : b] = a > b ? b : a;
    }
}

void wadi_tile_bodies_find(const WadiTileMap *map, int32_t *body)
{
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = n;
    }
    for (int32_t n = 0; n < map->count; ++n) {
        for (int axis = 0; axis < 3; ++axis) {
            join(map, body, n, axis);
        }
    }
    for (int32_t n = 0; n < map->count; ++n) {
        body[n] = first_of(body, n);
    }
}
