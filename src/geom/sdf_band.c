/* Builds and samples the narrow band.
 * Tiles are found by descending an octree: a cube is dropped when the distance at its centre shows that
 * neither the band nor a change of sign is near. The gap between two stored tiles of a row has one sign,
 * so that one sign per stored tile, that of the gap after it, gives inside and outside everywhere. */
#include "geom/sdf_band_internal.h"

#include "core/alloc.h"
#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"
#include "geom/shape_internal.h"

static const double tiles_max = 1 << 20; /* along one side */

typedef WADI_ARRAY(WadiTile) TileList;

typedef struct Build {
    WadiSdfBand *band;
    const WadiShape *shape;
    double time;
    const WadiTile *cubes; /* of `side` tiles */
    int side;
    uint8_t *is_near;
} Build;

static WadiVec3 tile_corner(const WadiSdfBand *band, WadiTile tile)
{
    double size = WADI_TILE_SIDE * band->cell;
    return wadi_vec3(tile.x * size, tile.y * size, tile.z * size);
}

static void test_cubes(void *context, int64_t first, int64_t end)
{
    Build *build = context;
    double half = 0.5 * build->side * WADI_TILE_SIDE * build->band->cell;
    double radius = 1.0001 * sqrt(3.0) * half;
    for (int64_t i = first; i < end; ++i) {
        WadiVec3 center = wadi_add(tile_corner(build->band, build->cubes[i]), wadi_vec3(half, half, half));
        build->is_near[i] =
            !wadi_shape_is_uniform(build->shape, center, radius + build->band->width, build->time);
    }
}

static void fill_tiles(void *context, int64_t first, int64_t end)
{
    Build *build = context;
    WadiSdfBand *band = build->band;
    WadiVec3 step[3] = { { band->cell, 0, 0 }, { 0, band->cell, 0 }, { 0, 0, band->cell } };
    for (int64_t t = first; t < end; ++t) {
        double distance[WADI_BAND_TILE_NODES];
        wadi_shape_lattice(build->shape, tile_corner(band, band->map.tiles[t]), step, WADI_BAND_NODES,
                           band->width, build->time, distance);
        for (int n = 0; n < WADI_BAND_TILE_NODES; ++n) {
            band->node[t][n] = (float)distance[n];
        }
        WadiTile next = band->map.tiles[t];
        next.x += 1;
        double half = 0.5 * WADI_TILE_SIDE * band->cell;
        WadiVec3 center = wadi_add(tile_corner(band, next), wadi_vec3(half, half, half));
        bool has_neighbour = wadi_tile_map_find(&band->map, next) >= 0;
        band->after[t] = !has_neighbour && wadi_shape_contains(build->shape, center, build->time) ? -1 : 1;
    }
}

/* Replaces the cubes of a level by the eighths of those near the surface, down to single tiles. */
static WadiStatus descend(Build *build, TileList *cubes, WadiError *error)
{
    for (;;) {
        TileList next = { 0 };
        WadiStatus status = WADI_NEW(&build->is_near, cubes->count, "narrow band search", error);
        if (status != WADI_OK) {
            return status;
        }
        build->cubes = cubes->data;
        wadi_parallel_for((int64_t)cubes->count, 16, test_cubes, build);
        for (size_t i = 0; i < cubes->count && status == WADI_OK; ++i) {
            int half = build->side / 2;
            for (int c = 0; c < (half > 0 ? 8 : 1) && build->is_near[i] && status == WADI_OK; ++c) {
                WadiTile tile = cubes->data[i];
                tile.x += (c & 1) * half;
                tile.y += (c >> 1 & 1) * half;
                tile.z += (c >> 2) * half;
                status = WADI_ARRAY_PUSH(&next, tile, "narrow band search", error);
            }
        }
        WADI_DELETE(build->is_near, cubes->count);
        WADI_ARRAY_FREE(cubes);
        *cubes = next;
        if (status != WADI_OK || build->side == 1 || cubes->count == 0) {
            return status;
        }
        build->side /= 2;
    }
}

static WadiStatus find_tiles(Build *build, WadiError *error)
{
    WadiSdfBand *band = build->band;
    WadiBox box = wadi_shape_bounds(build->shape, build->time);
    if (wadi_box_is_empty(box)) {
        return WADI_OK;
    }
    box = wadi_box_grown(box, band->width);
    double size = WADI_TILE_SIDE * band->cell;
    WadiVec3 low = wadi_scale(box.min, 1.0 / size), high = wadi_scale(box.max, 1.0 / size);
    if (!(fmax(fmax(-low.x, -low.y), -low.z) < tiles_max && fmax(fmax(high.x, high.y), high.z) < tiles_max)) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "a narrow band needs a bounded shape within 2^20 tiles of the origin; cells are %g m",
            band->cell);
    }
    WadiTile first = { (int32_t)floor(low.x), (int32_t)floor(low.y), (int32_t)floor(low.z) };
    double longest = fmax(high.x - first.x, fmax(high.y - first.y, high.z - first.z));
    build->side = 1;
    while (build->side < longest + 1.0) {
        build->side *= 2;
    }
    TileList cubes = { 0 };
    WadiStatus status = WADI_ARRAY_PUSH(&cubes, first, "narrow band search", error);
    if (status == WADI_OK) {
        status = descend(build, &cubes, error);
    }
    if (status == WADI_OK) {
        status = wadi_tile_map_create(&band->map, cubes.data, cubes.count, error);
    }
    WADI_ARRAY_FREE(&cubes);
    return status;
}

WadiStatus wadi_sdf_band_create(WadiSdfBand **band, const WadiShape *shape, double cell_size,
                                double band_cells, double time, WadiError *error)
{
    *band = NULL;
    if (!(cell_size > 0.0) || !(band_cells >= 1.0) || !isfinite(cell_size * band_cells)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "narrow band: cell size %g m and %g cells must be positive", cell_size, band_cells);
    }
    WadiSdfBand *made;
    WADI_TRY(WADI_NEW(&made, 1, "narrow band", error));
    made->cell = cell_size;
    made->cells_per_metre = 1.0 / cell_size;
    made->width = cell_size * band_cells;
    Build build = { .band = made, .shape = shape, .time = time };
    WadiStatus status = find_tiles(&build, error);
    if (status == WADI_OK) {
        status = WADI_NEW(&made->node, (size_t)made->map.count, "narrow band", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&made->after, (size_t)made->map.count, "narrow band", error);
    }
    if (status != WADI_OK) {
        wadi_sdf_band_destroy(made);
        return status;
    }
    wadi_parallel_for(made->map.count, 1, fill_tiles, &build);
    *band = made;
    return WADI_OK;
}

void wadi_sdf_band_destroy(WadiSdfBand *band)
{
    if (band != NULL) {
        WADI_DELETE(band->node, (size_t)band->map.count);
        WADI_DELETE(band->after, (size_t)band->map.count);
        WADI_DELETE(band->list, (size_t)band->map.count);
        WADI_DELETE(band->lists, band->lists_capacity);
        WADI_DELETE(band->candidates, band->candidates_capacity);
        wadi_tile_map_free(&band->map);
        WADI_DELETE(band, 1);
    }
}

void wadi_sdf_band_hint_clear(WadiBandHint *hint)
{
    for (int n = 0; n < WADI_BAND_HINTS; ++n) {
        hint->last[n].index = WADI_BAND_NO_TILE;
    }
}

int32_t wadi_sdf_band_search(const WadiSdfBand *band, WadiTile tile)
{
    const int32_t index = wadi_tile_map_find(&band->map, tile);
    if (index >= 0) {
        return index;
    }
    const int32_t before = wadi_tile_map_find_before(&band->map, tile);
    return before >= 0 && band->after[before] < 0 ? -2 : -1;
}

/* Distances are exact at nodes and 1-Lipschitz: the error is at most the weighted mean of the distances to
 * the nodes, which is at most their root mean square, size * sqrt(sum of f (1 - f)). */
double wadi_band_cell_error(const WadiBandCell *cell, double size)
{
    double square = cell->fx * (1.0 - cell->fx) + cell->fy * (1.0 - cell->fy) + cell->fz * (1.0 - cell->fz);
    return square > 0.0 ? size * sqrt(square) : 0.0;
}

bool wadi_sdf_band_distance(const WadiSdfBand *band, WadiVec3 x, double *distance, double *error)
{
    WadiBandCell cell;
    *error = 0.0;
    if (!wadi_sdf_band_find(band, x, NULL, &cell, distance)) {
        return false;
    }
    *distance = wadi_band_cell_distance(&cell, NULL);
    *error = wadi_band_cell_error(&cell, band->cell);
    return fabs(*distance) < band->width;
}

/* Neither the ball of radius `clear` around x nor that of a corner's distance around the corner contains
 * surface: where the two overlap, they are on the same side. */
int wadi_band_cell_side(const WadiBandCell *cell, double size, double clear)
{
    for (int c = 0; c < 8; ++c) {
        WadiVec3 offset = { (c & 1) - cell->fx, (c >> 1 & 1) - cell->fy, (c >> 2) - cell->fz };
        /* A little less: the distance of the corner is in single precision. */
        const double v = wadi_band_corner(cell, c), radii = clear + (1.0 - 1e-6) * fabs(v);
        if (size * size * wadi_dot(offset, offset) < radii * radii) {
            return v > 0.0 ? 1 : -1;
        }
    }
    return 0;
}

int wadi_sdf_band_side(const WadiSdfBand *band, WadiVec3 x, double clear)
{
    WadiBandCell cell;
    double beyond;
    if (!wadi_sdf_band_find(band, x, NULL, &cell, &beyond)) {
        return beyond > 0.0 ? 1 : -1;
    }
    return wadi_band_cell_side(&cell, band->cell, clear);
}

bool wadi_sdf_band_sample(const WadiSdfBand *band, WadiVec3 x, double *distance, WadiVec3 *gradient)
{
    WadiBandCell cell;
    WadiVec3 slope = { 0, 0, 0 };
    bool is_in_band = wadi_sdf_band_find(band, x, NULL, &cell, distance);
    if (is_in_band) {
        *distance = wadi_band_cell_distance(&cell, &slope);
        is_in_band = fabs(*distance) < band->width;
    }
    if (gradient != NULL) {
        *gradient = wadi_scale(slope, 1.0 / band->cell);
    }
    return is_in_band;
}

double wadi_sdf_band_cell(const WadiSdfBand *band)
{
    return band->cell;
}

size_t wadi_sdf_band_bytes(const WadiSdfBand *band)
{
    return sizeof *band + (size_t)band->map.count * (sizeof *band->node + 1) +
           (band->list != NULL ? (size_t)band->map.count * sizeof *band->list : 0) +
           band->lists_capacity * sizeof *band->lists + band->candidates_capacity * sizeof *band->candidates +
           wadi_tile_map_bytes(&band->map);
}

int32_t wadi_sdf_band_tile_count(const WadiSdfBand *band)
{
    return band->map.count;
}
