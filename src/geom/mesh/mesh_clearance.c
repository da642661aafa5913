#include "geom/mesh/mesh_clearance.h"

#include "core/alloc.h"
#include "core/parallel.h"

enum { CELLS_MAX = 32, BLOCK = 8 };

static size_t cell_count(const WadiMeshClearance *clearance)
{
    return (size_t)clearance->size[0] * (size_t)clearance->size[1] * (size_t)clearance->size[2];
}

static WadiVec3 point_at(const WadiMeshClearance *clearance, double i, double j, double k)
{
    return wadi_add_scaled(clearance->box.min, wadi_vec3(i, j, k), clearance->cell);
}

static size_t index_of(const WadiMeshClearance *clearance, int i, int j, int k)
{
    return ((size_t)k * (size_t)clearance->size[1] + (size_t)j) * (size_t)clearance->size[0] + (size_t)i;
}

/* The distance at the centre of a block gives bounds for all its cells. */
static void spread(WadiMeshClearance *clearance, const int low[3], int side, WadiVec3 center, double distance)
{
    for (int k = low[2]; k < low[2] + side && k < clearance->size[2]; ++k) {
        for (int j = low[1]; j < low[1] + side && j < clearance->size[1]; ++j) {
            for (int i = low[0]; i < low[0] + side && i < clearance->size[0]; ++i) {
                double offset = wadi_norm(wadi_sub(point_at(clearance, i + 0.5, j + 0.5, k + 0.5), center));
                size_t at = index_of(clearance, i, j, k);
                /* Rounded outwards, for the conversion to float. */
                clearance->lower[at] = (float)((distance - offset) * (1.0 - 1e-6));
                clearance->upper[at] = (float)((distance + offset) * (1.0 + 1e-6));
            }
        }
    }
}

typedef struct Fill {
    WadiMeshClearance *clearance;
    const WadiMeshTree *tree;
    int blocks[3];
} Fill;

static void classify(const Fill *fill, const int low[3], int side, double limit)
{
    WadiMeshClearance *clearance = fill->clearance;
    double half = 0.5 * side, diagonal = sqrt(3.0) * half * clearance->cell;
    WadiVec3 center = point_at(clearance, low[0] + half, low[1] + half, low[2] + half);
    WadiMeshNearest nearest;
    if (!wadi_mesh_tree_nearest(fill->tree, center, limit, &nearest)) {
        wadi_mesh_tree_nearest(fill->tree, center, INFINITY, &nearest);
    }
    /* Blocks far away stay coarse: their bounds are still good to a quarter. */
    if (side == 1 || nearest.distance > 4.0 * diagonal) {
        spread(clearance, low, side, center, nearest.distance);
        return;
    }
    int h = side / 2;
    for (int c = 0; c < 8; ++c) {
        int corner[3] = { low[0] + (c & 1) * h, low[1] + (c >> 1 & 1) * h, low[2] + (c >> 2) * h };
        if (corner[0] < clearance->size[0] && corner[1] < clearance->size[1] &&
            corner[2] < clearance->size[2]) {
            classify(fill, corner, h, 1.001 * (nearest.distance + 0.5 * diagonal));
        }
    }
}

static void fill_blocks(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    for (int64_t b = first; b < end; ++b) {
        int64_t row = b / fill->blocks[0];
        int low[3] = { (int)(b % fill->blocks[0]) * BLOCK, (int)(row % fill->blocks[1]) * BLOCK,
                       (int)(row / fill->blocks[1]) * BLOCK };
        classify(fill, low, BLOCK, INFINITY);
    }
}

WadiStatus wadi_mesh_clearance_create(WadiMeshClearance *clearance, const WadiMeshTree *tree, WadiBox bounds,
                                      WadiError *error)
{
    *clearance = (WadiMeshClearance){ .box = bounds };
    WadiVec3 size = wadi_box_size(bounds);
    double longest = fmax(size.x, fmax(size.y, size.z));
    if (!(longest > 0.0)) {
        return WADI_OK;
    }
    clearance->cell = longest / CELLS_MAX;
    const double length[3] = { size.x, size.y, size.z };
    Fill fill = { .clearance = clearance, .tree = tree };
    for (int a = 0; a < 3; ++a) {
        clearance->size[a] = (int)(length[a] / clearance->cell) + 1;
        fill.blocks[a] = (clearance->size[a] + BLOCK - 1) / BLOCK;
    }
    size_t count = cell_count(clearance);
    WADI_TRY(WADI_NEW(&clearance->lower, count, "mesh clearance", error));
    WadiStatus status = WADI_NEW(&clearance->upper, count, "mesh clearance", error);
    if (status != WADI_OK) {
        wadi_mesh_clearance_free(clearance);
        return status;
    }
    wadi_parallel_for((int64_t)fill.blocks[0] * fill.blocks[1] * fill.blocks[2], 1, fill_blocks, &fill);
    return WADI_OK;
}

void wadi_mesh_clearance_free(WadiMeshClearance *clearance)
{
    WADI_DELETE(clearance->lower, cell_count(clearance));
    WADI_DELETE(clearance->upper, cell_count(clearance));
    *clearance = (WadiMeshClearance){ 0 };
}

void wadi_mesh_clearance_at(const WadiMeshClearance *clearance, WadiVec3 x, double *lower, double *upper)
{
    *lower = 0.0;
    *upper = INFINITY;
    if (clearance->upper == NULL) {
        return;
    }
    WadiVec3 inside = wadi_min(wadi_max(x, clearance->box.min), clearance->box.max);
    WadiVec3 u = wadi_scale(wadi_sub(inside, clearance->box.min), 1.0 / clearance->cell);
    int i = (int)u.x, j = (int)u.y, k = (int)u.z;
    i = i < clearance->size[0] ? i : clearance->size[0] - 1;
    j = j < clearance->size[1] ? j : clearance->size[1] - 1;
    k = k < clearance->size[2] ? k : clearance->size[2] - 1;
    double offset = wadi_norm(wadi_sub(x, point_at(clearance, i + 0.5, j + 0.5, k + 0.5)));
    size_t at = index_of(clearance, i, j, k);
    double to_box = wadi_norm(wadi_sub(x, inside));
    *lower = fmax(to_box, (double)clearance->lower[at] - offset);
    *upper = (double)clearance->upper[at] + offset;
}
