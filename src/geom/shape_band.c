/* Narrow bands for the meshes of a shape that move: in their own frames they rest, so that a band is made once. */
#include "core/check.h"
#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

/* Cells of a band to one of the grid, and how far it reaches: beyond the two cells that grids look. With two instead of three a
 * step of a turning paddle costs a tenth more: more places near edges are left to the triangles. */
static const double fineness = 3.0, reach = 2.5;
/* Tiles of a band, 3 kB each. */
static const double tiles_most = 8192.0;

static bool is_solid_mesh(const WadiShape *shape)
{
    if (shape->solid == NULL) {
        return false;
    }
    const WadiCurve *thickness = &shape->parameter[0];
    return shape->kind == WADI_SHAPE_HEIGHTMAP ||
           (thickness->key_count < 2 && !(wadi_curve_value(thickness, 0.0) > 0.0));
}

/* stretch: metres to one of the shape's parent. */
static WadiStatus add_bands(WadiShape *shape, double cell_size, bool is_carried, double stretch,
                            WadiError *error)
{
    is_carried |= shape->placing == WADI_PLACING_MOVING;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        WadiPlacement scratch;
        stretch *= wadi_shape_placement(shape, 0.0, &scratch)->stretch;
    }
    for (int i = 0; i < shape->child_count; ++i) {
        WADI_TRY(add_bands(&shape->children[i], cell_size, is_carried, stretch, error));
    }
    if (!is_carried || !is_solid_mesh(shape) || !(stretch > 0.0)) {
        return WADI_OK;
    }
    const double cell = cell_size / (fineness * stretch), tile = WADI_TILE_SIDE * cell;
    /* Three tiles across the surface, which is more than there are. */
    if (3.0 * wadi_mesh_area(&shape->solid->mesh) / (tile * tile) > tiles_most) {
        return WADI_OK;
    }
    const WadiVec3 zero = { 0, 0, 0 }, one = { 1, 1, 1 };
    WadiShape own = *shape;
    own.placing = WADI_PLACING_IDENTITY;
    own.fixed.map = own.fixed.inverse = wadi_affine_compose(zero, zero, one, zero);
    own.fixed.stretch = 1.0;
    own.is_moving = false;
    own.bounds = shape->solid->inside_bounds;
    return wadi_sdf_band_create(&shape->band, &own, cell, fineness * reach, 0.0, error);
}

WadiStatus wadi_shape_add_bands(WadiShape *shape, double cell_size, WadiError *error)
{
    return shape->is_moving ? add_bands(shape, cell_size, false, 1.0, error) : WADI_OK;
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

/* Let p be the surface point nearest to x and d its distance. No node is farther than |node - p| from the surface, and by the
 * root's concavity |node - p| <= d + n . (node - x) + |node - x|^2 / 2d with n the normal at x. In the weights' mean the middle
 * term vanishes and the last is error^2 / 2d: the band says at most d + error^2 / 2d, which is solved for d. Of its two
 * solutions the greater holds from where distance - error, which is true anyway, is past the smaller. */
double wadi_band_least(double distance, double error)
{
    return distance > 1.5 * error ? 0.5 * (distance + sqrt(distance * distance - 2.0 * error * error))
                                  : distance - error;
}
