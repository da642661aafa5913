/* Inside and outside of a mesh, and signed distances.
 * Away from the triangles the winding number is harmonic, and its gradient depends on the rims of the
 * holes alone, as the field of a current along them (Biot-Savart): |grad w| <= 1/(4 pi) sum over rim edges
 * of length / distance^2. Where that bound keeps w on one side of 1/2, one sign holds for a whole region;
 * without rims it is 0. */
#include "geom/mesh/mesh_solid.h"

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"

enum { SIGN_GRID_CELLS = 64, SIGN_BLOCK = 8, RIM_EDGES_MAX = 4096 };
static const double four_pi = 12.566370614359172954;

static double segment_distance(WadiVec3 a, WadiVec3 b, WadiVec3 x)
{
    WadiVec3 ab = wadi_sub(b, a), ax = wadi_sub(x, a);
    double squared = wadi_dot(ab, ab);
    double t = squared > 0.0 ? fmin(fmax(wadi_dot(ab, ax) / squared, 0.0), 1.0) : 0.0;
    return wadi_norm(wadi_add_scaled(ax, ab, -t));
}

double wadi_mesh_solid_winding_slope(const WadiMeshSolid *solid, WadiVec3 center, double radius)
{
    const WadiMeshTopology *topology = &solid->topology;
    if (topology->rim_count == 0) {
        return 0.0;
    }
    if (topology->rim_count > RIM_EDGES_MAX) {
        return INFINITY;
    }
    double sum = 0.0;
    for (size_t i = 0; i < topology->rim_count; ++i) {
        WadiVec3 a = solid->mesh.vertices[topology->rim[i].a], b = solid->mesh.vertices[topology->rim[i].b];
        double clear = segment_distance(a, b, center) - radius;
        if (!(clear > 0.0)) {
            return INFINITY;
        }
        sum += fabs((double)topology->rim[i].count) * wadi_norm(wadi_sub(b, a)) / (clear * clear);
    }
    return sum / four_pi;
}

bool wadi_mesh_solid_is_uniform(const WadiMeshSolid *solid, WadiVec3 center, double radius)
{
    WadiMeshNearest nearest;
    if (wadi_mesh_tree_nearest(solid->tree, center, radius, &nearest)) {
        return false;
    }
    double slope = wadi_mesh_solid_winding_slope(solid, center, radius);
    if (slope == 0.0) {
        return true;
    }
    if (!isfinite(slope)) {
        return false;
    }
    double w = solid->facing * wadi_winding_number(solid->winding, center, 4.0);
    return fabs(w - 0.5) > radius * slope + 0.02;
}

bool wadi_mesh_solid_contains(const WadiMeshSolid *solid, WadiVec3 x)
{
    if (!wadi_box_contains(solid->inside_bounds, x)) {
        return false;
    }
    const WadiSignGrid *grid = &solid->signs;
    if (grid->sign != NULL) {
        WadiVec3 u = wadi_scale(wadi_sub(x, grid->origin), 1.0 / grid->cell);
        int i = (int)u.x, j = (int)u.y, k = (int)u.z;
        if (i >= 0 && j >= 0 && k >= 0 && i < grid->size[0] && j < grid->size[1] && k < grid->size[2]) {
            int8_t sign = grid->sign[((size_t)k * (size_t)grid->size[1] + (size_t)j) * (size_t)grid->size[0] +
                                     (size_t)i];
            if (sign != 0) {
                return sign > 0;
            }
        }
    }
    return wadi_winding_is_inside(solid->winding, x, solid->facing);
}

void wadi_mesh_solid_nearest(const WadiMeshSolid *solid, WadiVec3 x, double search_radius,
                             WadiMeshNearest *nearest)
{
    double lower, upper = search_radius;
    if (!isfinite(upper)) {
        wadi_mesh_clearance_at(&solid->clearance, x, &lower, &upper);
    }
    bool has_found = wadi_mesh_tree_nearest(solid->tree, x, 1.0001 * upper, nearest) ||
                     wadi_mesh_tree_nearest(solid->tree, x, INFINITY, nearest);
    if (!has_found) {
        /* Beyond the range of single precision: the distance to the bounds is a lower bound. */
        WadiVec3 on_box = wadi_min(wadi_max(x, solid->bounds.min), solid->bounds.max);
        const uint32_t *v = solid->mesh.triangles[0];
        *nearest =
            (WadiMeshNearest){ wadi_norm(wadi_sub(x, on_box)), solid->mesh.vertices[v[0]], 0, { 1, 0, 0 } };
    }
}

bool wadi_mesh_solid_bound(const WadiMeshSolid *solid, WadiVec3 x, double search_radius,
                           WadiMeshNearest *nearest)
{
    double lower, upper;
    wadi_mesh_clearance_at(&solid->clearance, x, &lower, &upper);
    if (lower > solid->clearance.cell) {
        *nearest = (WadiMeshNearest){ .distance = lower };
        return false;
    }
    wadi_mesh_solid_nearest(solid, x, search_radius, nearest);
    return true;
}

double wadi_mesh_solid_distance(const WadiMeshSolid *solid, WadiVec3 x, WadiMeshNearest *nearest)
{
    WadiMeshNearest scratch;
    nearest = nearest != NULL ? nearest : &scratch;
    wadi_mesh_solid_nearest(solid, x, INFINITY, nearest);
    return wadi_mesh_solid_contains(solid, x) ? -nearest->distance : nearest->distance;
}

int wadi_mesh_solid_side(const WadiMeshSolid *solid, WadiVec3 x, const WadiMeshNearest *nearest)
{
    const double *w = nearest->weight;
    if (fmin(w[0], fmin(w[1], w[2])) < 1e-9) {
        return 0; /* on an edge, where the two triangles may disagree */
    }
    const uint32_t *v = solid->mesh.triangles[nearest->triangle];
    const WadiVec3 *p = solid->mesh.vertices;
    WadiVec3 face = wadi_cross(wadi_sub(p[v[1]], p[v[0]]), wadi_sub(p[v[2]], p[v[0]]));
    const double height = solid->facing * wadi_dot(face, wadi_sub(x, nearest->point));
    return (height > 0.0) - (height < 0.0);
}

WadiVec3 wadi_mesh_solid_normal(const WadiMeshSolid *solid, WadiVec3 x, bool is_outside,
                                const WadiMeshNearest *nearest)
{
    const uint32_t *v = solid->mesh.triangles[nearest->triangle];
    const WadiVec3 *p = solid->mesh.vertices;
    WadiVec3 face = wadi_cross(wadi_sub(p[v[1]], p[v[0]]), wadi_sub(p[v[2]], p[v[0]]));
    face = wadi_normalized_or(wadi_scale(face, solid->facing), wadi_vec3(0, 0, 1));
    WadiVec3 size = wadi_box_size(solid->bounds);
    /* Below it the direction to the nearest point is rounding error. */
    double tiny = 1e-12 * fmax(size.x, fmax(size.y, size.z));
    WadiVec3 away = wadi_scale(wadi_sub(x, nearest->point), is_outside ? 1.0 : -1.0);
    return nearest->distance > tiny ? wadi_normalized_or(away, face) : face;
}

double wadi_mesh_solid_sample(const WadiMeshSolid *solid, WadiVec3 x, bool was_outside,
                              WadiMeshNearest *nearest, WadiVec3 *normal)
{
    wadi_mesh_solid_nearest(solid, x, INFINITY, nearest);
    bool is_outside =
        (was_outside && wadi_mesh_solid_side(solid, x, nearest) > 0) || !wadi_mesh_solid_contains(solid, x);
    *normal = wadi_mesh_solid_normal(solid, x, is_outside, nearest);
    return is_outside ? nearest->distance : -nearest->distance;
}

typedef struct SignFill {
    WadiMeshSolid *solid;
    int blocks[3];
} SignFill;

static void set_signs(WadiSignGrid *grid, const int low[3], int side, int8_t sign)
{
    for (int k = low[2]; k < low[2] + side && k < grid->size[2]; ++k) {
        for (int j = low[1]; j < low[1] + side && j < grid->size[1]; ++j) {
            for (int i = low[0]; i < low[0] + side && i < grid->size[0]; ++i) {
                grid->sign[((size_t)k * (size_t)grid->size[1] + (size_t)j) * (size_t)grid->size[0] +
                           (size_t)i] = sign;
            }
        }
    }
}

static void classify(WadiMeshSolid *solid, const int low[3], int side)
{
    WadiSignGrid *grid = &solid->signs;
    double half = 0.5 * side * grid->cell;
    WadiVec3 center = { grid->origin.x + low[0] * grid->cell + half,
                        grid->origin.y + low[1] * grid->cell + half,
                        grid->origin.z + low[2] * grid->cell + half };
    /* Slightly more than the half diagonal, for points on the faces of the cell after rounding. */
    if (wadi_mesh_solid_is_uniform(solid, center, 1.001 * sqrt(3.0) * half)) {
        set_signs(grid, low, side, wadi_winding_is_inside(solid->winding, center, solid->facing) ? 1 : -1);
    } else if (side > 1) {
        for (int c = 0; c < 8; ++c) {
            int h = side / 2;
            int corner[3] = { low[0] + (c & 1) * h, low[1] + (c >> 1 & 1) * h, low[2] + (c >> 2) * h };
            if (corner[0] < grid->size[0] && corner[1] < grid->size[1] && corner[2] < grid->size[2]) {
                classify(solid, corner, h);
            }
        }
    }
}

static void fill_signs(void *context, int64_t first, int64_t end)
{
    SignFill *fill = context;
    for (int64_t b = first; b < end; ++b) {
        int64_t row = b / fill->blocks[0];
        int low[3] = { (int)(b % fill->blocks[0]) * SIGN_BLOCK, (int)(row % fill->blocks[1]) * SIGN_BLOCK,
                       (int)(row / fill->blocks[1]) * SIGN_BLOCK };
        classify(fill->solid, low, SIGN_BLOCK);
    }
}

static size_t sign_count(const WadiSignGrid *grid)
{
    return (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
}

static WadiStatus make_sign_grid(WadiMeshSolid *solid, WadiError *error)
{
    WadiVec3 size = wadi_box_size(solid->bounds);
    double longest = fmax(size.x, fmax(size.y, size.z));
    if (!(longest > 0.0)) {
        return WADI_OK;
    }
    WadiSignGrid *grid = &solid->signs;
    grid->cell = longest / SIGN_GRID_CELLS;
    grid->origin = solid->bounds.min;
    const double length[3] = { size.x, size.y, size.z };
    SignFill fill = { .solid = solid };
    for (int a = 0; a < 3; ++a) {
        grid->size[a] = (int)(length[a] / grid->cell) + 1;
        fill.blocks[a] = (grid->size[a] + SIGN_BLOCK - 1) / SIGN_BLOCK;
    }
    WADI_TRY(WADI_NEW(&grid->sign, sign_count(grid), "mesh sign grid", error));
    wadi_parallel_for((int64_t)fill.blocks[0] * fill.blocks[1] * fill.blocks[2], 1, fill_signs, &fill);
    return WADI_OK;
}

/* With flipped triangles or overlapping open parts the winding number can pass 1/2 outside the bounds.
 * There it is harmonic and largest on the box: if it is small on the faces of the box, nothing beyond is
 * inside. Otherwise at distance r it is at most length of the rims / (4 pi r) and area / (4 pi r^2). */
static WadiBox find_inside_bounds(const WadiMeshSolid *solid)
{
    enum { SAMPLES = 16 };
    WadiVec3 size = wadi_box_size(solid->bounds);
    if (solid->topology.is_oriented) {
        return solid->bounds;
    }
    WadiBox box = wadi_box_grown(solid->bounds, 0.01 * fmax(size.x, fmax(size.y, size.z)));
    for (int i = 0; i < 6 * SAMPLES * SAMPLES; ++i) {
        int face = i / (SAMPLES * SAMPLES), axis = face / 2;
        double u[3];
        u[axis] = face % 2;
        u[(axis + 1) % 3] = (i % SAMPLES + 0.5) / SAMPLES;
        u[(axis + 2) % 3] = (i / SAMPLES % SAMPLES + 0.5) / SAMPLES;
        WadiVec3 x = wadi_add(box.min, wadi_mul(wadi_box_size(box), wadi_vec3(u[0], u[1], u[2])));
        if (solid->facing * wadi_winding_number(solid->winding, x, 2.0) > 0.45) {
            double rim = 0.0;
            for (size_t e = 0; e < solid->topology.rim_count; ++e) {
                const WadiRimEdge *edge = &solid->topology.rim[e];
                WadiVec3 along = wadi_sub(solid->mesh.vertices[edge->b], solid->mesh.vertices[edge->a]);
                rim += fabs((double)edge->count) * wadi_norm(along);
            }
            double margin = fmin(rim * 2.0 / four_pi, sqrt(wadi_mesh_area(&solid->mesh) * 2.0 / four_pi));
            return wadi_box_grown(solid->bounds, margin);
        }
    }
    return box;
}

WadiStatus wadi_mesh_solid_create(WadiMeshSolid *solid, WadiMesh *mesh, bool has_sign_grid, WadiError *error)
{
    *solid = (WadiMeshSolid){ .mesh = *mesh };
    *mesh = (WadiMesh){ 0 };
    WADI_ASSERT(solid->mesh.triangle_count > 0);
    solid->bounds = wadi_mesh_bounds(&solid->mesh);
    solid->facing = wadi_mesh_volume(&solid->mesh) < 0.0 ? -1.0 : 1.0;
    WadiStatus status = wadi_mesh_topology(&solid->mesh, &solid->topology, error);
    if (status == WADI_OK) {
        status = wadi_mesh_tree_create(&solid->tree, &solid->mesh, error);
    }
    if (status == WADI_OK) {
        status = wadi_winding_create(&solid->winding, &solid->mesh, error);
    }
    if (status == WADI_OK) {
        solid->inside_bounds = find_inside_bounds(solid);
        status = wadi_mesh_clearance_create(&solid->clearance, solid->tree, solid->bounds, error);
    }
    if (status == WADI_OK && has_sign_grid) {
        status = make_sign_grid(solid, error);
    }
    if (status != WADI_OK) {
        wadi_mesh_solid_free(solid);
    }
    return status;
}

void wadi_mesh_solid_free(WadiMeshSolid *solid)
{
    WADI_DELETE(solid->signs.sign, sign_count(&solid->signs));
    wadi_mesh_clearance_free(&solid->clearance);
    wadi_winding_destroy(solid->winding);
    wadi_mesh_tree_destroy(solid->tree);
    wadi_mesh_topology_free(&solid->topology);
    wadi_mesh_free(&solid->mesh);
    *solid = (WadiMeshSolid){ 0 };
}
