/* Narrow bands for the meshes of a shape that move: in their own frames they rest, so that a band is made once. */
#include "core/check.h"
#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

/* Cells of a band to one of the grid, at best and at least, and how far it reaches: beyond the two cells that grids look. With two
 * instead of three a step of a turning paddle costs a tenth more: more places near edges are left to the triangles. */
static const double fineness = 3.0, fineness_least = 1.0, reach = 2.5;
/* Tiles of a band, 3 kB each. */
static const double tiles_most = 32768.0;

static bool is_rigid_mesh(const WadiShape *shape)
{
    return shape->solid != NULL && (shape->kind == WADI_SHAPE_HEIGHTMAP || shape->parameter[0].key_count < 2);
}

/* Metres in the world to one of a frame, over all times. */
typedef struct Stretch {
    double least, most;
} Stretch;

static void include_scale(Stretch *all, WadiVec3 scale)
{
    const double x = fabs(scale.x), y = fabs(scale.y), z = fabs(scale.z);
    all->least = fmin(all->least, fmin(x, fmin(y, z)));
    all->most = fmax(all->most, fmax(x, fmax(y, z)));
}

/* Between keys a scale is between theirs. */
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
    return (Stretch){ parent.least * own.least, parent.most * own.most };
}

/* More tiles than a band has: those that the sheets on either side of the surface meet. */
static double tiles_at_most(const WadiShape *shape, double cell, double width)
{
    const double tile = WADI_TILE_SIDE * cell;
    return (1.0 + 2.0 * ceil(width / tile)) * wadi_mesh_area(&shape->solid->mesh) / (tile * tile);
}

static WadiStatus make_band(WadiShape *shape, double cell_size, Stretch stretch, WadiError *error)
{
    const double half = wadi_shape_half_thickness(shape, 0.0), width = reach * cell_size / stretch.least;
    double fine = fineness;
    while (fine > fineness_least &&
           tiles_at_most(shape, cell_size / (fine * stretch.most), width) > tiles_most) {
        fine -= 1.0;
    }
    const double cell = cell_size / (fine * stretch.most);
    if (tiles_at_most(shape, cell, width) > tiles_most) {
        return WADI_OK;
    }
    const WadiVec3 zero = { 0, 0, 0 }, one = { 1, 1, 1 };
    WadiShape own = *shape;
    own.placing = WADI_PLACING_IDENTITY;
    own.fixed.map = own.fixed.inverse = wadi_affine_compose(zero, zero, one, zero);
    own.fixed.stretch = 1.0;
    own.is_moving = false;
    own.bounds = half > 0.0 ? wadi_box_grown(shape->solid->bounds, half) : shape->solid->inside_bounds;
    return wadi_sdf_band_create(&shape->band, &own, cell, width / cell, 0.0, error);
}

static WadiStatus add_bands(WadiShape *shape, double cell_size, bool is_carried, Stretch stretch,
                            WadiError *error)
{
    is_carried |= shape->placing == WADI_PLACING_MOVING;
    stretch = stretch_within(shape, stretch);
    for (int i = 0; i < shape->child_count; ++i) {
        WADI_TRY(add_bands(&shape->children[i], cell_size, is_carried, stretch, error));
    }
    return is_carried && is_rigid_mesh(shape) && stretch.least > 0.0
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

/* Let p be the surface point nearest to x and d its distance. No node is farther than |node - p| from the surface, and by the
 * root's concavity |node - p| <= d + n . (node - x) + |node - x|^2 / 2d with n the normal at x. In the weights' mean the middle
 * term vanishes and the last is error^2 / 2d: the band says at most d + error^2 / 2d, which is solved for d. Of its two
 * solutions the greater holds from where distance - error, which is true anyway, is past the smaller. */
double wadi_band_least(double distance, double error)
{
    return distance > 1.5 * error ? 0.5 * (distance + sqrt(distance * distance - 2.0 * error * error))
                                  : distance - error;
}
