/* Find material that has too little space. [theory 7.3] Tiles that touch form one body; one that has hardly
 * any air beside its cells and is denser than at rest is overfull. The pressure finds the air. */
#include <string.h>

#include "grid/tile_bodies.h"
#include "sph/sph.h"

enum { MIN_PARTICLES = 512 };

/* Largest mean density of a body of sand without a surface: that of impacts is less. */
static const double LARGEST_SAND = 1.22;
/* Part of the cells that has air beside it by chance. */
static const double AIR_PART = 0.02;

typedef struct Body {
    double density; /* sum */
    int64_t particles, cells, at_air;
} Body;

typedef struct Bodies {
    const WadiSphStep *step;
    Body *body;  /* by its first tile */
    int32_t *of; /* per tile */
} Bodies;

static double mean_density(const Body *body)
{
    return body->density / (double)body->particles;
}

static void add_tile(const Bodies *bodies, int32_t tile)
{
    const WadiSphStep *step = bodies->step;
    const WadiTileSort *sort = &step->sort;
    Body *body = &bodies->body[bodies->of[tile]];
    for (int32_t i = sort->tile_start[tile]; i < sort->tile_start[tile + 1]; ++i) {
        body->density += (double)step->density[i - sort->first];
    }
    body->particles += sort->tile_start[tile + 1] - sort->tile_start[tile];
    for (int32_t row = sort->row_first[tile]; row < sort->row_first[tile + 1]; ++row) {
        body->cells += __builtin_popcount(sort->lanes[row]);
        body->at_air += __builtin_popcount(step->solve.coarse.has_air[row + 1]);
    }
}

static bool is_overfull(const WadiSph *sph, const Body *body)
{
    const double largest = sph->materials.has_sand ? LARGEST_SAND : 1.0 + WADI_SPH_UNDER_DENSE;
    return body->particles >= MIN_PARTICLES && mean_density(body) > largest &&
           (double)body->at_air <= AIR_PART * (double)body->cells;
}

WadiStatus wadi_sph_begin_overfull(const WadiSph *sph, const WadiSphStep *step, WadiOverfullList *overfull,
                                   WadiError *error)
{
    return WADI_ARENA_NEW(sph->context.scratch, &overfull->region, (size_t)step->sort.tiles.count,
                          "overfull tiles", error);
}

WadiStatus wadi_sph_find_overfull(const WadiSph *sph, const WadiSphStep *step, WadiOverfullList *overfull,
                                  WadiError *error)
{
    const WadiTileMap *tiles = &step->sort.tiles;
    const size_t count = (size_t)tiles->count;
    const double size = WADI_TILE_SIDE * step->sort.cell_size;
    WadiArena *arena = sph->context.scratch;
    Bodies bodies = { .step = step };
    overfull->count = 0;
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    if (def->pressure == WADI_SPH_PRESSURE_TAIT || step->has_sizes) {
        return WADI_OK; /* an equation of state has no coarse grid, and different sizes have other cells */
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW(arena, &bodies.body, count, "overfull tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bodies.of, count, "overfull tiles", error));
    memset(bodies.body, 0, count * sizeof *bodies.body);
    wadi_tile_bodies_find(tiles, bodies.of);
    for (int32_t n = 0; n < tiles->count; ++n) {
        add_tile(&bodies, n);
    }
    for (int32_t n = 0; n < tiles->count; ++n) {
        const Body *body = &bodies.body[bodies.of[n]];
        if (is_overfull(sph, body)) {
            const WadiTile tile = tiles->tiles[n];
            const WadiVec3 low = { size * tile.x, size * tile.y, size * tile.z };
            overfull->region[overfull->count++] = (WadiOverfullRegion){
                { low, wadi_add(low, wadi_vec3(size, size, size)) }, mean_density(body), true
            };
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
