/* Tiles that touch along a side form one body. */
#ifndef WADI_GRID_TILE_BODIES_H
#define WADI_GRID_TILE_BODIES_H

#include "grid/tile_map.h"

/* body[t]: the first tile of the body of tile t. */
void wadi_tile_bodies_find(const WadiTileMap *map, int32_t *body);
/* The same where tiles that touch at an edge or a corner are one body too; the map is linked. */
void wadi_tile_bodies_find_touching(const WadiTileMap *map, int32_t *body);

#endif
