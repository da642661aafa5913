#include "dem/list/dem_skins.h"

#include "core/parallel.h"
#include "dem/list/dem_search.h"

enum { LEVELS = 11, BASE_MAX = 3, BLOCK = 4096, TILE_BLOCK = 1 };

/* Lowest level whose skin is large enough for the speed of a grain. */
static int level_of(const WadiDemSkins *m, const WadiParticles *p, int64_t i)
{
    const double vx = (double)p->vx[i], vy = (double)p->vy[i], vz = (double)p->vz[i];
    const double needed = sqrt(vx * vx + vy * vy + vz * vz) * m->seconds;
    int level = 0;
    while (level < LEVELS - 1 && wadi_dem_skin_of(m, level) < needed) {
        ++level;
    }
    return level;
}

int wadi_dem_skins_base(const WadiDemSkins *skins, const WadiParticles *particles, int32_t first)
{
    const int64_t count = particles->count - first;
    int64_t with[LEVELS] = { 0 };
    for (int32_t i = first; i < particles->count; ++i) {
        with[level_of(skins, particles, i)] += 1;
    }
    int base = 0;
    for (int64_t below = with[0]; base < BASE_MAX && 4 * below < 3 * count; below += with[base]) {
        ++base;
    }
    return base;
}

typedef struct Finder {
    const WadiDemSkins *skins;
    const WadiParticles *particles;
    const WadiTileSort *sort;
    uint8_t *level; /* per particle of the sort */
    float *skin;
} Finder;

static void find_levels(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    for (int64_t n = first; n < end; ++n) {
        f->level[n] = (uint8_t)level_of(f->skins, f->particles, n + f->sort->first);
    }
}

/* A grain that is hit moves at about half the speed of the one that hits it. */
static void set_cell(const Finder *f, int32_t tile, const WadiTileCell *cell)
{
    const int32_t shift = f->sort->first;
    WadiDemRanges near;
    int most = 0;
    wadi_dem_ranges_around(f->sort, tile, cell->row, cell->lane, &near);
    for (int r = 0; r < near.count; ++r) {
        for (int32_t j = near.first[r]; j < near.end[r]; ++j) {
            most = f->level[j - shift] > most ? f->level[j - shift] : most;
        }
    }
    const int least = most - 2 > f->skins->base ? most - 2 : f->skins->base;
    for (int32_t i = cell->first; i < cell->end; ++i) {
        const int own = f->level[i - shift];
        f->skin[i] = (float)wadi_dem_skin_of(f->skins, own > least ? own : least);
    }
}

static void set_tiles(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        WadiTileCell cell;
        for (wadi_tile_cells_begin(&cell, f->sort, t); wadi_tile_cells_next(&cell, f->sort);) {
            set_cell(f, t, &cell);
        }
    }
}

WadiStatus wadi_dem_skins_find(const WadiDemSkins *skins, const WadiParticles *particles,
                               const WadiTileSort *sort, float *skin, WadiArena *scratch, WadiError *error)
{
    Finder f = { .skins = skins, .particles = particles, .sort = sort, .skin = skin };
    const int64_t count = particles->count - sort->first;
    WADI_TRY(WADI_ARENA_NEW(scratch, &f.level, (size_t)count, "skins of grains", error));
    wadi_parallel_for(count, BLOCK, find_levels, &f);
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, set_tiles, &f);
    return WADI_OK;
}
