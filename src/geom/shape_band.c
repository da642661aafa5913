/* Narrow bands for moving meshes: a mesh is at rest in its local frame, so that its band is made once. */
#include "core/check.h"
#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

/* Cells of a band per cell of the grid, wanted and at least, and the width of a band to either side in
 * cells of the grid: grids sample up to two cells from a surface. */
static const double fineness = 3.0, fineness_min = 1.0, width_cells = 2.5;
/* Tiles of a band, about 3 kB each. */
static const double tiles_max = 32768.0;

static bool is_rigid_mesh(const WadiShape *shape)
{
    return shape->solid != NULL && (shape->kind == WADI_SHAPE_HEIGHTMAP || shape->parameter[0].key_count < 2);
}

/* Metres in the world per metre of a local frame, over all times. */
typedef struct Stretch {
    double min, max;
} Stretch;

static void include_scale(Stretch *all, WadiVec3 scale)
{
    const double x = fabs(scale.x), y = fabs(scale.y), z = fabs(scale.z);
    all->min = fmin(all->min, fmin(x, fmin(y, z)));
    all->max = fmax(all->max, fmax(x, fmax(y, z)));
}

/* Curves are monotone between keys, so that the extremes are at keys. */
static Stretch stretch_within(const WadiShape *shape, Stretch parent)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return parent;
    }
    Stretch own = { INFINITY, 0.0 };
    include_scale(&own, wadi_shape_scale_at(shape, 0.0));
    for (int k = 0; k < shape->scale.key_count; ++k) {
        include_scale(&own, wadi_shape_scale_at(shape, shape->scale.keys[k].time));
    }
    return (Stretch){ parent.min * own.min, parent.max * own.max };
}

/* Upper bound on the tiles of a band: layers of tiles on either side of the triangles. */
static double tiles_at_most(const WadiShape *shape, double cell, double width)
{
    const double tile = WADI_TILE_SIDE * cell;
    return (1.0 + 2.0 * ceil(width / tile)) * wadi_mesh_area(&shape->solid->mesh) / (tile * tile);
}

static WadiStatus make_band(WadiShape *shape, double cell_size, Stretch stretch, WadiError *error)
{
    const double half = wadi_shape_half_thickness(shape, 0.0), width = width_cells * cell_size / stretch.min;
    double fine = fineness;
    while (fine > fineness_min && tiles_at_most(shape, cell_size / (fine * stretch.max), width) > tiles_max) {
        fine -= 1.0;
    }
    const double cell = cell_size / (fine * stretch.max);
    if (tiles_at_most(shape, cell, width) > tiles_max) {
        return WADI_OK;
    }
    WadiMeshSolid *solid = shape->solid;
    if (solid->band != NULL && solid->band_cell == cell && solid->band_width == width &&
        solid->band_half == half) {
        shape->band = solid->band;
        return WADI_OK;
    }
    const WadiVec3 zero = { 0, 0, 0 }, one = { 1, 1, 1 };
    WadiShape own = *shape;
    own.placing = WADI_PLACING_IDENTITY;
    own.fixed.map = own.fixed.inverse = wadi_affine_compose(zero, zero, one, zero);
    own.fixed.stretch = 1.0;
    own.is_moving = false;
    own.bounds = half > 0.0 ? wadi_box_grown(shape->solid->bounds, half) : shape->solid->inside_bounds;
    WADI_TRY(wadi_sdf_band_create(&shape->band, &own, cell, width / cell, 0.0, error));
    WADI_TRY(wadi_sdf_band_add_lists(shape->band, &solid->mesh, solid->tree, half, error));
    if (solid->band == NULL) {
        solid->band = shape->band;
        solid->band_cell = cell, solid->band_width = width, solid->band_half = half;
    }
    return WADI_OK;
}

static WadiStatus add_bands(WadiShape *shape, double cell_size, bool is_carried, Stretch stretch,
                            WadiError *error)
{
    is_carried |= shape->placing == WADI_PLACING_MOVING;
    stretch = stretch_within(shape, stretch);
    for (int i = 0; i < shape->child_count; ++i) {
        WADI_TRY(add_bands(&shape->children[i], cell_size, is_carried, stretch, error));
    }
    return is_carried && is_rigid_mesh(shape) && stretch.min > 0.0
               ? make_band(shape, cell_size, stretch, error)
               : WADI_OK;
}

WadiStatus wadi_shape_add_bands(WadiShape *shape, double cell_size, WadiError *error)
{
    return shape->is_moving ? add_bands(shape, cell_size, false, (Stretch){ 1.0, 1.0 }, error) : WADI_OK;
}

double wadi_shape_band_error(const WadiShape *shape, double time)
{
    double error = 0.0;
    for (int i = 0; i < shape->child_count; ++i) {
        error = fmax(error, wadi_shape_band_error(&shape->children[i], time));
    }
    if (shape->band != NULL) {
        /* Half the diagonal of a cell of the band. */
        error = fmax(error, 0.8661 * wadi_sdf_band_cell(shape->band));
    }
    WadiPlacement scratch;
    return error > 0.0 && shape->placing != WADI_PLACING_IDENTITY
               ? error * wadi_shape_placement(shape, time, &scratch)->stretch
               : error;
}

/* Let d be the true distance. Nodes are at most |node - p| from the surface, p the nearest surface point
 * to x, and in their weighted mean the linear term vanishes: the band has at most d + error^2 / 2d. This
 * is solved for d. */
double wadi_band_least(double distance, double error)
{
    return distance > 1.5 * error ? 0.5 * (distance + sqrt(distance * distance - 2.0 * error * error))
                                  : distance - error;
}
