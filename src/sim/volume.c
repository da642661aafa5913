#include "sim/volume.h"

#include <math.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/log.h"
#include "grid/tile_map.h"
#include "math/cbrt.h"
#include "world/water.h"

enum { SIDE = WADI_TILE_SIDE, DEPTH = 2, SPAN = SIDE + 2 * DEPTH, LEAST_CELLS = 64, TIMES_IN_A_ROW = 2 };

/* Bound of the random error, 0.3 / sqrt(cells): the count in a cell of eight fluctuates by about one.
 * Measured: 0.1 to 0.2. */
static const double CHANCE = 0.3;
static const double TOO_MUCH = 0.01;

typedef struct Cell {
    WadiTile tile;
    int inside; /* 0 .. 511: x fastest */
} Cell;

typedef struct Counts {
    WadiTileMap map;
    float *volume; /* WADI_TILE_CELLS per tile: sum over the particles in each cell, in spacings^3 */
    double size;   /* of a cell, m */
} Counts;

static inline Cell cell_of(const WadiParticles *p, int32_t i, double per_size)
{
    int32_t x = (int32_t)floor(p->x[i] * per_size), y = (int32_t)floor(p->y[i] * per_size),
            z = (int32_t)floor(p->z[i] * per_size);
    return (Cell){ .tile = { x >> 3, y >> 3, z >> 3 },
                   .inside = ((z & 7) * SIDE + (y & 7)) * SIDE + (x & 7) };
}

/* Cache of recent tiles: solvers sort particles by rows of cells, which alternate between few tiles. */
typedef struct Recent {
    WadiTile tile;
    int32_t index; /* -1: free */
} Recent;

enum { RECENT_COUNT = 1024 };

static void recent_clear(Recent *recent)
{
    for (int i = 0; i < RECENT_COUNT; ++i) {
        recent[i].index = -1;
    }
}

static Recent *recent_slot(Recent *recent, WadiTile tile)
{
    return &recent[((unsigned)tile.x + 31u * (unsigned)tile.y + 517u * (unsigned)tile.z) % RECENT_COUNT];
}

static bool recent_has(const Recent *slot, WadiTile tile)
{
    return slot->index >= 0 && wadi_tile_is_same(slot->tile, tile);
}

static WadiStatus find_tiles(const WadiParticles *p, Counts *counts, WadiError *error)
{
    WADI_ARRAY(WadiTile) tiles = { 0 };
    WadiStatus status = WADI_OK;
    const double per_size = 1.0 / counts->size;
    Recent recent[RECENT_COUNT];
    recent_clear(recent);
    for (int32_t i = 0; i < p->count && status == WADI_OK; ++i) {
        WadiTile tile = cell_of(p, i, per_size).tile;
        Recent *slot = recent_slot(recent, tile);
        if (!recent_has(slot, tile)) {
            *slot = (Recent){ tile, 0 };
            status = WADI_ARRAY_PUSH(&tiles, tile, "tiles", error);
        }
    }
    if (status == WADI_OK) {
        status = wadi_tile_map_create(&counts->map, tiles.data, tiles.count, error);
    }
    WADI_ARRAY_FREE(&tiles);
    return status == WADI_OK ? wadi_tile_map_link(&counts->map, error) : status;
}

/* Volumes of particles, in spacings^3. Water that enters pores leaves its own particle smaller. */
typedef struct Volumes {
    const WadiScene *scene;
    const WadiParticles *particles;
    const double *own, *water; /* columns; NULL: all 1, no pores */
    double density;            /* of the unit of `water` */
} Volumes;

static double volume_of(const Volumes *v, int32_t i)
{
    const WadiMaterial *material = &v->scene->materials[v->particles->material[i]];
    if (v->water != NULL && material->kind == WADI_MATERIAL_WATER) {
        return v->water[i] * v->density / material->density;
    }
    return v->own != NULL ? v->own[i] : 1.0;
}

/* Edge of a cell that holds eight of the largest particles. */
static double cell_size(const WadiSim *sim)
{
    const double *own = wadi_volume_column(&sim->particles);
    double largest = 1.0;
    for (int32_t i = 0; own != NULL && i < sim->particles.count; ++i) {
        largest = fmax(largest, own[i]);
    }
    return 2.0 * wadi_cbrt(largest) * sim->world->spacing;
}

static void add_particles(const WadiSim *sim, Counts *counts)
{
    const WadiParticles *p = &sim->particles;
    const Volumes volumes = { .scene = sim->scene,
                              .particles = p,
                              .own = wadi_volume_column(p),
                              .water = wadi_water_column(p),
                              .density = wadi_water_density(sim->scene) };
    const double per_size = 1.0 / counts->size;
    Recent recent[RECENT_COUNT];
    recent_clear(recent);
    for (int32_t i = 0; i < p->count; ++i) {
        Cell cell = cell_of(p, i, per_size);
        Recent *slot = recent_slot(recent, cell.tile);
        if (!recent_has(slot, cell.tile)) {
            *slot = (Recent){ cell.tile, wadi_tile_map_find(&counts->map, cell.tile) };
        }
        counts->volume[(size_t)slot->index * WADI_TILE_CELLS + (size_t)cell.inside] +=
            (float)volume_of(&volumes, i);
    }
}

/* Bit k: the cell k - DEPTH of the row (y, z), possibly in a neighbouring tile, has particles. */
static unsigned row_bits(const Counts *counts, int32_t tile, int y, int z)
{
    unsigned bits = 0;
    int dy = y < 0 ? -1 : y >= SIDE, dz = z < 0 ? -1 : z >= SIDE;
    for (int dx = -1; dx <= 1; ++dx) {
        int32_t index = counts->map.neighbours[tile][(dz + 1) * 9 + (dy + 1) * 3 + dx + 1];
        if (index < 0) {
            continue;
        }
        const float *row =
            &counts->volume[(size_t)index * WADI_TILE_CELLS + (size_t)(((z & 7) * SIDE + (y & 7)) * SIDE)];
        for (int x = 0; x < SIDE; ++x) {
            int k = dx * SIDE + x + DEPTH;
            bits |= k >= 0 && k < SPAN && row[x] > 0.0f ? 1u << k : 0u;
        }
    }
    return bits;
}

/* For each row of a tile: bit x is set when all cells within DEPTH of cell x have particles. */
static void find_deep(const Counts *counts, int32_t tile, unsigned deep[SIDE][SIDE])
{
    unsigned along_x[SPAN][SPAN];
    for (int z = 0; z < SPAN; ++z) {
        for (int y = 0; y < SPAN; ++y) {
            unsigned bits = row_bits(counts, tile, y - DEPTH, z - DEPTH);
            along_x[z][y] = bits & bits >> 1 & bits >> 2 & bits >> 3 & bits >> 4;
        }
    }
    for (int z = 0; z < SIDE; ++z) {
        for (int y = 0; y < SIDE; ++y) {
            deep[z][y] = (1u << SIDE) - 1;
            for (int k = 0; k < (2 * DEPTH + 1) * (2 * DEPTH + 1); ++k) {
                deep[z][y] &= along_x[z + k / (2 * DEPTH + 1)][y + k % (2 * DEPTH + 1)];
            }
        }
    }
}

/* Near an emitter that pours, the material is denser until the next step. */
static bool is_pouring_near(const WadiSim *sim, WadiVec3 x, double radius)
{
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        const WadiEmitterDef *emitter = &sim->scene->emitters[i];
        if (sim->time > emitter->start && sim->time - sim->dt < emitter->end &&
            wadi_shape_clearance(sim->world->emitter_shapes[i], x, sim->time) <= radius) {
            return true;
        }
    }
    return false;
}

/* No collider within `radius` of the point, and no pouring emitter within `radius` plus a cell. */
static bool is_clear(const WadiSim *sim, WadiVec3 x, double radius, double cell_size)
{
    return (sim->scene->collider_count == 0 ||
            wadi_solids_distance(&sim->world->solids, x, sim->time, radius) > radius) &&
           !is_pouring_near(sim, x, radius + cell_size);
}

static WadiVec3 cell_center(const Counts *counts, WadiTile tile, double x, double y, double z)
{
    return wadi_vec3(counts->size * (SIDE * (double)tile.x + x), counts->size * (SIDE * (double)tile.y + y),
                     counts->size * (SIDE * (double)tile.z + z));
}

static void add_tile(const WadiSim *sim, const Counts *counts, int32_t index, int64_t *cells,
                     double *material)
{
    unsigned deep[SIDE][SIDE];
    find_deep(counts, index, deep);
    WadiTile tile = counts->map.tiles[index];
    const double half_diagonal = 0.5 * sqrt(3.0) * counts->size;
    bool is_tile_clear = is_clear(sim, cell_center(counts, tile, 0.5 * SIDE, 0.5 * SIDE, 0.5 * SIDE),
                                  SIDE * half_diagonal, counts->size);
    for (int c = 0; c < WADI_TILE_CELLS; ++c) {
        int x = c % SIDE, y = c / SIDE % SIDE, z = c / (SIDE * SIDE);
        if ((deep[z][y] >> x & 1u) != 0 &&
            (is_tile_clear || is_clear(sim, cell_center(counts, tile, x + 0.5, y + 0.5, z + 0.5),
                                       half_diagonal, counts->size))) {
            *cells += 1;
            *material += (double)counts->volume[(size_t)index * WADI_TILE_CELLS + (size_t)c];
        }
    }
}

WadiStatus wadi_volume_measure(const WadiSim *sim, WadiVolumeDrift *volume, WadiError *error)
{
    *volume = (WadiVolumeDrift){ .drift = sim->type->allowed_expansion == NULL ? (double)NAN : 0.0 };
    if (sim->type->allowed_expansion == NULL || sim->particles.count == 0) {
        return WADI_OK;
    }
    Counts counts = { .size = cell_size(sim) };
    int64_t cells = 0;
    double material = 0.0;
    WadiStatus status = find_tiles(&sim->particles, &counts, error);
    size_t count = (size_t)counts.map.count * WADI_TILE_CELLS;
    if (status == WADI_OK) {
        status = WADI_NEW(&counts.volume, count, "volumes of cells", error);
    }
    if (status == WADI_OK) {
        add_particles(sim, &counts);
        for (int32_t tile = 0; tile < counts.map.count; ++tile) {
            add_tile(sim, &counts, tile, &cells, &material);
        }
    }
    WADI_DELETE(counts.volume, count);
    wadi_tile_map_free(&counts.map);
    if (cells >= LEAST_CELLS) {
        const double edge = counts.size / sim->world->spacing;
        *volume = (WadiVolumeDrift){ .drift = edge * edge * edge * (double)cells / material - 1.0,
                                     .cells = cells,
                                     .tolerance = CHANCE / sqrt((double)cells) };
    }
    return status;
}

WadiStatus wadi_volume_watch(WadiVolumeWatch *watch, const WadiSim *sim, WadiError *error)
{
    WADI_TRY(wadi_volume_measure(sim, &watch->last, error));
    double allowed = sim->type->allowed_drift > 0.0 ? sim->type->allowed_drift : TOO_MUCH;
    double drift = watch->last.drift, limit = allowed + watch->last.tolerance;
    double expansion = sim->type->allowed_expansion != NULL ? sim->type->allowed_expansion(sim->scene) : 0.0;
    bool is_too_much = drift < -limit || drift > limit + expansion;
    watch->times = is_too_much ? watch->times + 1 : 0;
    if (watch->times < TIMES_IN_A_ROW || watch->has_warned) {
        return WADI_OK;
    }
    watch->has_warned = true;
    if (drift < 0.0) {
        wadi_log(
            &sim->log, WADI_LOG_WARNING,
            "frame %d, t = %.4g s: the material is squeezed into %.1f %% less space than its particles have "
            "(drift.volume in run.json): is an emitter or a solid pressing it into a space without a way "
            "out?",
            sim->frame, sim->time, -100.0 * drift);
    } else {
        wadi_log(&sim->log, WADI_LOG_WARNING,
                 "frame %d, t = %.4g s: the material takes %.1f %% more space than its particles have "
                 "(drift.volume in "
                 "run.json)",
                 sim->frame, sim->time, 100.0 * drift);
    }
    return WADI_OK;
}
