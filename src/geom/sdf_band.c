/* Builds and samples the narrow band.
 * Tiles are found by descending an octree: a cube is dropped when the distance at its centre shows that
 * neither the band nor a change of sign is near. The gap between two stored tiles of a row has one sign,
 * so that one sign per stored tile, that of the gap after it, gives inside and outside everywhere. Tiles
 * store 9^3 nodes: shared faces twice, so that a sample reads one tile. */
#include "geom/sdf_band.h"

#include "core/alloc.h"
#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"
#include "geom/shape_internal.h"

enum { NODES = WADI_TILE_SIDE + 1, TILE_NODES = NODES * NODES * NODES };
static const double tiles_max = 1 << 20; /* along one side */

struct WadiSdfBand {
    WadiTileMap map;
    float (*node)[TILE_NODES]; /* m, by tile */
    int8_t *after;             /* -1: the gap after the tile, in +x, is inside; +1: outside */
    double cell, width;
};

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
        double distance[TILE_NODES];
        wadi_shape_lattice(build->shape, tile_corner(band, band->map.tiles[t]), step, NODES, band->width,
                           build->time, distance);
        for (int n = 0; n < TILE_NODES; ++n) {
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
        wadi_tile_map_free(&band->map);
        WADI_DELETE(band, 1);
    }
}

/* The cell of the band around a point. */
typedef struct Cell {
    double v[8];       /* m: distances at its corners, x fastest */
    double fx, fy, fz; /* position in it, 0..1 */
} Cell;

void wadi_sdf_band_hint_clear(WadiBandHint *hint)
{
    for (int n = 0; n < WADI_BAND_HINTS; ++n) {
        hint->last[n].index = -2;
    }
}

static int32_t find_tile(const WadiSdfBand *band, WadiTile tile, WadiBandHint *hint)
{
    if (hint == NULL) {
        return wadi_tile_map_find(&band->map, tile);
    }
    const int n = (tile.x & 3) | (tile.y & 3) << 2 | (tile.z & 3) << 4;
    if (hint->last[n].index == -2 || !wadi_tile_is_same(hint->last[n].tile, tile)) {
        hint->last[n].tile = tile;
        hint->last[n].index = wadi_tile_map_find(&band->map, tile);
    }
    return hint->last[n].index;
}

/* false: the band has no tile there, and *beyond is its width with the right sign. */
static bool find_cell(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, Cell *cell, double *beyond)
{
    *beyond = band->width;
    WadiVec3 u = wadi_scale(x, 1.0 / band->cell);
    WadiVec3 tile_f = { floor(u.x / WADI_TILE_SIDE), floor(u.y / WADI_TILE_SIDE),
                        floor(u.z / WADI_TILE_SIDE) };
    if (!(fabs(tile_f.x) < 1e9 && fabs(tile_f.y) < 1e9 && fabs(tile_f.z) < 1e9)) {
        return false;
    }
    WadiTile tile = { (int32_t)tile_f.x, (int32_t)tile_f.y, (int32_t)tile_f.z };
    int32_t index = find_tile(band, tile, hint);
    if (index < 0) {
        index = wadi_tile_map_find_before(&band->map, tile);
        *beyond = index >= 0 && band->after[index] < 0 ? -band->width : band->width;
        return false;
    }
    double f[3] = { u.x - WADI_TILE_SIDE * tile_f.x, u.y - WADI_TILE_SIDE * tile_f.y,
                    u.z - WADI_TILE_SIDE * tile_f.z };
    int n[3];
    for (int a = 0; a < 3; ++a) {
        n[a] = f[a] < WADI_TILE_SIDE - 1 ? (int)f[a] : WADI_TILE_SIDE - 1;
        f[a] -= n[a];
    }
    const float *at = &band->node[index][(n[2] * NODES + n[1]) * NODES + n[0]];
    for (int c = 0; c < 8; ++c) {
        cell->v[c] = (double)at[((c >> 2) * NODES + (c >> 1 & 1)) * NODES + (c & 1)];
    }
    cell->fx = f[0];
    cell->fy = f[1];
    cell->fz = f[2];
    return true;
}

/* Distances are exact at nodes and 1-Lipschitz: the error is at most the weighted mean of the distances to
 * the nodes, which is at most their root mean square, size * sqrt(sum of f (1 - f)). */
static double error_in(const Cell *cell, double size)
{
    double square = cell->fx * (1.0 - cell->fx) + cell->fy * (1.0 - cell->fy) + cell->fz * (1.0 - cell->fz);
    return square > 0.0 ? size * sqrt(square) : 0.0;
}

bool wadi_sdf_band_distance(const WadiSdfBand *band, WadiVec3 x, double *distance, double *error)
{
    Cell cell;
    *error = 0.0;
    if (!find_cell(band, x, NULL, &cell, distance)) {
        return false;
    }
    const double *v = cell.v, fx = cell.fx, fy = cell.fy, fz = cell.fz;
    double x00 = v[0] + fx * (v[1] - v[0]), x10 = v[2] + fx * (v[3] - v[2]);
    double x01 = v[4] + fx * (v[5] - v[4]), x11 = v[6] + fx * (v[7] - v[6]);
    double y0 = x00 + fy * (x10 - x00), y1 = x01 + fy * (x11 - x01);
    *distance = y0 + fz * (y1 - y0);
    *error = error_in(&cell, band->cell);
    return fabs(*distance) < band->width;
}

/* Largest deviation of the corners from the linear function of the distance and the gradient g, per cell. */
static double bend_of(const Cell *cell, double distance, WadiVec3 g)
{
    const double *v = cell->v;
    const double x[2] = { g.x * (0.0 - cell->fx), g.x * (1.0 - cell->fx) };
    const double y[2] = { g.y * (0.0 - cell->fy), g.y * (1.0 - cell->fy) };
    const double z[2] = { g.z * (0.0 - cell->fz), g.z * (1.0 - cell->fz) };
    double largest = 0.0;
    for (int c = 0; c < 8; ++c) {
        const double bend = fabs(v[c] - distance - (x[c & 1] + y[c >> 1 & 1] + z[c >> 2]));
        largest = bend > largest ? bend : largest;
    }
    return largest;
}

bool wadi_sdf_band_query(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, WadiBandPoint *point)
{
    Cell cell;
    *point = (WadiBandPoint){ 0 };
    if (!find_cell(band, x, hint, &cell, &point->distance)) {
        return false;
    }
    const double *v = cell.v, fx = cell.fx, fy = cell.fy, fz = cell.fz;
    double x00 = v[0] + fx * (v[1] - v[0]), x10 = v[2] + fx * (v[3] - v[2]);
    double x01 = v[4] + fx * (v[5] - v[4]), x11 = v[6] + fx * (v[7] - v[6]);
    double y0 = x00 + fy * (x10 - x00), y1 = x01 + fy * (x11 - x01);
    double gx0 = (v[1] - v[0]) + fy * ((v[3] - v[2]) - (v[1] - v[0]));
    double gx1 = (v[5] - v[4]) + fy * ((v[7] - v[6]) - (v[5] - v[4]));
    WadiVec3 g = { gx0 + fz * (gx1 - gx0), (x10 - x00) + fz * ((x11 - x01) - (x10 - x00)), y1 - y0 };
    point->distance = y0 + fz * (y1 - y0);
    point->gradient = wadi_scale(g, 1.0 / band->cell);
    point->error = error_in(&cell, band->cell);
    point->bend = bend_of(&cell, point->distance, g);
    return fabs(point->distance) < band->width;
}

/* Neither the ball of radius `clear` around x nor that of a corner's distance around the corner contains
 * surface: where the two overlap, they are on the same side. */
int wadi_sdf_band_side(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, double clear)
{
    Cell cell;
    double beyond;
    if (!find_cell(band, x, hint, &cell, &beyond)) {
        return beyond > 0.0 ? 1 : -1;
    }
    for (int c = 0; c < 8; ++c) {
        WadiVec3 offset = { (c & 1) - cell.fx, (c >> 1 & 1) - cell.fy, (c >> 2) - cell.fz };
        /* A little less: the distance of the corner is in single precision. */
        double radii = clear + (1.0 - 1e-6) * fabs(cell.v[c]);
        if (band->cell * band->cell * wadi_dot(offset, offset) < radii * radii) {
            return cell.v[c] > 0.0 ? 1 : -1;
        }
    }
    return 0;
}

bool wadi_sdf_band_sample(const WadiSdfBand *band, WadiVec3 x, double *distance, WadiVec3 *gradient)
{
    WadiBandPoint point;
    bool is_in_band = wadi_sdf_band_query(band, x, NULL, &point);
    *distance = point.distance;
    if (gradient != NULL) {
        *gradient = point.gradient;
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
           wadi_tile_map_bytes(&band->map);
}

int32_t wadi_sdf_band_tile_count(const WadiSdfBand *band)
{
    return band->map.count;
}
