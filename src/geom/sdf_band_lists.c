/* Lists of triangles for the cells of a band that are not smooth.
 * A triangle is listed unless another one is nearer at every point of the cell: with r the cell's half
 * diagonal, it is nowhere nearer than its distance from the centre less r, and the distance from another
 * triangle is convex, so that it is largest at a corner. */
#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "geom/sdf_band_internal.h"

enum {
    LIST_MAX = 32,
    BLOCK = 2, /* cells whose lists are taken from one search */
    BLOCKS = WADI_TILE_SIDE / BLOCK,
    TILES_AT_ONCE = 32
};

/* In cells of the band: largest deviation of the corners from a plane, and of the gradient from 1. */
static const double bend_max = 0.1, slope_error_max = 0.06;
/* Grids do not use distances near the end of the band. */
static const double used_width = 0.9;

typedef struct TileLists {
    WadiMeshCandidate list[WADI_TILE_CELLS][LIST_MAX];
    int8_t count[WADI_TILE_CELLS]; /* -1: smooth, 0: too many */
} TileLists;

typedef struct ListBuild {
    const WadiSdfBand *band;
    const WadiMesh *mesh;
    const WadiMeshTree *tree;
    double half;
    int32_t first; /* tile of tiles[0] */
    TileLists *tiles;
} ListBuild;

static bool is_rough(const WadiSdfBand *band, const float *node)
{
    const WadiBandCell cell = { .node = node, .fx = 0.5, .fy = 0.5, .fz = 0.5 };
    WadiVec3 g;
    const double distance = wadi_band_cell_distance(&cell, &g);
    if (fabs(distance) > used_width * band->width) {
        return false;
    }
    double bend = fabs(wadi_norm(g) - band->cell) / slope_error_max * bend_max;
    for (int c = 0; c < 8; ++c) {
        const WadiVec3 offset = { (c & 1) - 0.5, (c >> 1 & 1) - 0.5, (c >> 2) - 0.5 };
        bend = fmax(bend, fabs(wadi_band_corner(&cell, c) - distance - wadi_dot(g, offset)));
    }
    return bend > bend_max * band->cell;
}

static double triangle_distance(const WadiMesh *mesh, uint32_t triangle, WadiVec3 x)
{
    const uint32_t *v = mesh->triangles[triangle];
    WadiVec3 point;
    double weight[3];
    return sqrt(wadi_triangle_nearest(mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], x,
                                      &point, weight));
}

/* Upper bound on the distance of the points of a cell from the nearest of `count` triangles. */
static double farthest_in_cell(const ListBuild *build, WadiVec3 centre, const uint32_t *triangles,
                               const double *distance, int count)
{
    const double half = 0.5 * build->band->cell, radius = sqrt(3.0) * half;
    double least = INFINITY;
    int nearest = 0;
    for (int n = 0; n < count; ++n) {
        nearest = distance[n] < distance[nearest] ? n : nearest;
    }
    for (int n = 0; n < count; ++n) {
        /* Others cannot improve the bound much. */
        if (distance[n] > distance[nearest] + 0.5 * radius) {
            continue;
        }
        double largest = 0.0;
        for (int c = 0; c < 8; ++c) {
            const WadiVec3 corner = wadi_add_scaled(
                centre, wadi_vec3(2 * (c & 1) - 1, 2 * (c >> 1 & 1) - 1, 2 * (c >> 2) - 1), half);
            largest = fmax(largest, triangle_distance(build->mesh, triangles[n], corner));
        }
        least = fmin(least, largest);
    }
    return least;
}

/* The list of a cell in rising distance from its centre. Returns its length, 0: too many. */
static int8_t make_list(const ListBuild *build, WadiVec3 centre, const uint32_t *triangles, int count,
                        WadiMeshCandidate list[LIST_MAX])
{
    double distance[WADI_GATHER_MAX];
    for (int n = 0; n < count; ++n) {
        distance[n] = triangle_distance(build->mesh, triangles[n], centre);
    }
    const double radius = 0.5 * sqrt(3.0) * build->band->cell;
    const double limit = 1.0001 * (farthest_in_cell(build, centre, triangles, distance, count) + radius);
    int used = 0;
    for (int n = 0; n < count; ++n) {
        if (distance[n] > limit) {
            continue;
        }
        if (used == LIST_MAX) {
            return 0;
        }
        const WadiMeshCandidate one = { triangles[n], (float)((1.0 - 1e-6) * distance[n]) };
        int at = used++;
        for (; at > 0 && list[at - 1].distance > one.distance; --at) {
            list[at] = list[at - 1];
        }
        list[at] = one;
    }
    return (int8_t)used;
}

/* Lists of the rough cells of a block of cells, of which (i, j, k) is the first. */
static void list_block(const ListBuild *build, int32_t tile, TileLists *out, const int at[3])
{
    const WadiSdfBand *band = build->band;
    uint32_t triangles[WADI_GATHER_MAX];
    int count = -2; /* not yet searched */
    const WadiTile corner = band->map.tiles[tile];
    for (int n = 0; n < BLOCK * BLOCK * BLOCK; ++n) {
        const int i = at[0] + (n & 1), j = at[1] + (n >> 1 & 1), k = at[2] + (n >> 2);
        const int c = (k * WADI_TILE_SIDE + j) * WADI_TILE_SIDE + i;
        const float *node = band->node[tile];
        out->count[c] = -1;
        if (!is_rough(band, &node[k * WADI_BAND_LAYER + j * WADI_BAND_NODES + i])) {
            continue;
        }
        if (count == -2) {
            const int middle[3] = { at[0] + 1, at[1] + 1, at[2] + 1 };
            const double known =
                (double)node[middle[2] * WADI_BAND_LAYER + middle[1] * WADI_BAND_NODES + middle[0]];
            const WadiVec3 x = { (8.0 * corner.x + middle[0]) * band->cell,
                                 (8.0 * corner.y + middle[1]) * band->cell,
                                 (8.0 * corner.z + middle[2]) * band->cell };
            const double nearest = build->half > 0.0 ? known + build->half : fabs(known);
            count = wadi_mesh_tree_gather(build->tree, x, 1.001 * sqrt(3.0) * band->cell, nearest, triangles,
                                          WADI_GATHER_MAX);
        }
        const WadiVec3 centre = { (8.0 * corner.x + i + 0.5) * band->cell,
                                  (8.0 * corner.y + j + 0.5) * band->cell,
                                  (8.0 * corner.z + k + 0.5) * band->cell };
        out->count[c] = count > 0 ? make_list(build, centre, triangles, count, out->list[c]) : 0;
    }
}

static void list_tiles(void *user, int64_t first, int64_t end)
{
    const ListBuild *build = user;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        for (int n = 0; n < BLOCKS * BLOCKS * BLOCKS; ++n) {
            const int at[3] = { BLOCK * (n % BLOCKS), BLOCK * (n / BLOCKS % BLOCKS),
                                BLOCK * (n / (BLOCKS * BLOCKS)) };
            list_block(build, build->first + t, &build->tiles[t], at);
        }
    }
}

/* Append the lists of a tile to those of the band. */
static WadiStatus store_lists(WadiSdfBand *band, int32_t tile, const TileLists *from, WadiError *error)
{
    for (int c = 0; c < WADI_TILE_CELLS; ++c) {
        band->list[tile][c] = 0;
        if (from->count[c] < 0) {
            continue;
        }
        const size_t count = (size_t)from->count[c];
        WADI_TRY(wadi_array_reserve((void **)&band->candidates, &band->candidates_capacity,
                                    band->candidates_count + count, sizeof *band->candidates, "narrow band",
                                    error));
        WADI_TRY(wadi_array_reserve((void **)&band->lists, &band->lists_capacity, band->lists_count + 1,
                                    sizeof *band->lists, "narrow band", error));
        band->lists[band->lists_count++] =
            (WadiBandList){ (uint32_t)band->candidates_count, (uint32_t)count };
        band->list[tile][c] = (uint32_t)band->lists_count;
        if (count > 0) {
            memcpy(band->candidates + band->candidates_count, from->list[c],
                   count * sizeof *band->candidates);
        }
        band->candidates_count += count;
    }
    return WADI_OK;
}

WadiStatus wadi_sdf_band_add_lists(WadiSdfBand *band, const WadiMesh *mesh, const WadiMeshTree *tree,
                                   double half, WadiError *error)
{
    WADI_TRY(WADI_NEW(&band->list, (size_t)band->map.count, "narrow band", error));
    ListBuild build = { .band = band, .mesh = mesh, .tree = tree, .half = half };
    WADI_TRY(WADI_NEW(&build.tiles, TILES_AT_ONCE, "narrow band", error));
    WadiStatus status = WADI_OK;
    for (; build.first < band->map.count && status == WADI_OK; build.first += TILES_AT_ONCE) {
        const int32_t left = band->map.count - build.first,
                      count = left < TILES_AT_ONCE ? left : TILES_AT_ONCE;
        wadi_parallel_for(count, 1, list_tiles, &build);
        for (int32_t t = 0; t < count && status == WADI_OK; ++t) {
            status = store_lists(band, build.first + t, &build.tiles[t], error);
        }
    }
    WADI_DELETE(build.tiles, TILES_AT_ONCE);
    return status;
}
