/* Sample the solids on the faces and cells of one tile.
 * Source: [NMG09]. Faces are in flip_solid_face.c. */
#include "flip/solids/flip_solid_tile.h"

#include <string.h>

#include "flip/solids/flip_solid_fraction.h"
#include "flip/solids/flip_solid_lattice.h"

enum { LANES = WADI_ROW_CELLS };

/* In cells. With moving meshes an octant of a cell is open or closed as a whole if the cell's centre or its
 * corner is farther than this from the solids: the octant's centre is 0.434 from either, and 0.25 from the
 * solids it counts as open. */
#define OCTANT_UNIFORM 0.7

/* Open fraction of a cell from the distances at the centres of its octants: corners miss a gap between two
 * solids, or an edge. */
static double fine_volume(WadiFlipLattice *lattice, const int cell[3])
{
    const double centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2])->distance;
    double open = 0.0, corner[8];
    wadi_flip_lattice_corners(lattice, cell, corner);
    for (int n = 0; n < 8; ++n) {
        const double known = fabs(corner[n]) > fabs(centre) ? corner[n] : centre;
        if (lattice->has_moving_mesh && fabs(known) > OCTANT_UNIFORM) {
            open += known > 0.0 ? 0.125 : 0.0;
            continue;
        }
        const double p[3] = { cell[0] + 0.25 + 0.5 * (n & 1), cell[1] + 0.25 + 0.5 * (n >> 1 & 1),
                              cell[2] + 0.25 + 0.5 * (n >> 2) };
        open += 0.125 * fmax(0.0, fmin(0.5 + 2.0 * wadi_flip_lattice_distance(lattice, p), 1.0));
    }
    /* A wall on a face of the cell cuts off nothing, whatever the rounding. */
    return open > 1.0 - 8.0 * WADI_SOLID_TOUCH ? 1.0 : open < 8.0 * WADI_SOLID_TOUCH ? 0.0 : open;
}

static double volume_open(WadiFlipLattice *lattice, const int cell[3])
{
    if (!wadi_flip_lattice_is_plain(lattice, cell)) {
        return fine_volume(lattice, cell);
    }
    double d[8];
    wadi_flip_lattice_corners(lattice, cell, d);
    return wadi_cube_open(d, WADI_SOLID_TOUCH);
}

static double velocity_time(const WadiFlipSolidIn *in)
{
    return in->time + in->velocity_delay;
}

/* Velocity of the solid at the centre of a cell's low face. For a single rigid solid it follows from the
 * plane at the nearer cell centre, without another sample. */
static WadiVec3 face_velocity(WadiFlipLattice *lattice, const int cell[3], int axis)
{
    const WadiFlipSolidIn *in = lattice->in;
    double p[3] = { cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5 }, toward = -0.5;
    int low[3] = { cell[0], cell[1], cell[2] };
    p[axis] -= 0.5;
    low[axis] -= 1;
    const WadiVec3 x = wadi_flip_point(in, lattice->tile, p[0], p[1], p[2]);
    const WadiFlipCentre *centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    const WadiFlipCentre *before = wadi_flip_lattice_centre(lattice, low[0], low[1], low[2]);
    if (fabs(before->distance) < fabs(centre->distance)) {
        centre = before;
        toward = 0.5;
    }
    WadiVec3 velocity;
    if (fabs(centre->distance) <= 1.25) {
        const double d = centre->distance + toward * wadi_component(centre->normal, axis);
        const WadiVec3 foot = wadi_add_scaled(x, centre->normal, -d * in->cell_size);
        if (wadi_solids_carry_velocity(in->solids, centre->index, foot, velocity_time(in), &velocity)) {
            return velocity;
        }
    }
    if (wadi_solids_near_sample(&lattice->near, x, 0.0).index == -1) {
        return wadi_vec3(0, 0, 0); /* walls of the domain rest */
    }
    return wadi_solids_sample_for_grid(in->solids, x, velocity_time(in)).surface.velocity;
}

static void repeat_first(float *values)
{
    for (int l = 1; l < LANES; ++l) {
        values[l] = values[0];
    }
}

/* Velocity of the solid nearest to a cell's centre. */
static WadiVec3 centre_velocity(WadiFlipLattice *lattice, const int cell[3])
{
    const WadiFlipSolidIn *in = lattice->in;
    const WadiVec3 x = wadi_flip_point(in, lattice->tile, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
    const WadiFlipCentre *centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    const WadiVec3 foot = wadi_add_scaled(x, centre->normal, -centre->distance * in->cell_size);
    WadiVec3 velocity = { 0, 0, 0 };
    if (centre->index == -1) {
        return velocity; /* walls of the domain rest */
    }
    if (centre->index >= 0 && wadi_shape_is_mesh(in->solids->solids[centre->index].shape) &&
        wadi_solids_carry_velocity(in->solids, centre->index, foot, velocity_time(in), &velocity)) {
        return velocity;
    }
    return wadi_solids_sample_for_grid(in->solids, x, velocity_time(in)).surface.velocity;
}

/* Rate at which the area of the surface around a foot point grows, 1/s: the divergence of its velocity along
 * the surface. 0 for a rigid motion, and beside another solid. */
static double area_growth(const WadiFlipSolidIn *in, const WadiFlipCentre *centre, WadiVec3 foot)
{
    const WadiVec3 side = fabs(centre->normal.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    const WadiVec3 first = wadi_normalized_or(wadi_cross(centre->normal, side), side);
    const WadiVec3 along[2] = { first, wadi_cross(centre->normal, first) };
    WadiShapeMotion motion;
    const double end = in->time + 2.0 * in->velocity_delay, reach = 0.5 * in->cell_size;
    double growth = 0.0;
    if (centre->index < 0 ||
        wadi_shape_rigid_motion(in->solids->solids[centre->index].shape, in->time, end, &motion)) {
        return 0.0;
    }
    for (int n = 0; n < 4; ++n) {
        const double sign = n % 2 == 0 ? 1.0 : -1.0;
        const WadiVec3 x = wadi_add_scaled(foot, along[n / 2], sign * reach);
        const WadiSolidPoint point = wadi_solids_sample_for_grid(in->solids, x, velocity_time(in));
        if (point.index != centre->index) {
            return 0.0;
        }
        growth += sign * wadi_dot(point.surface.velocity, along[n / 2]) / (2.0 * reach);
    }
    return growth;
}

/* Velocity of the solid that cuts a cell, for the area that its surface has in the middle of the step: the
 * cells have the area of its start. */
static WadiVec3 sweep_velocity(WadiFlipLattice *lattice, const int cell[3])
{
    const WadiFlipSolidIn *in = lattice->in;
    const WadiVec3 v = centre_velocity(lattice, cell);
    const WadiVec3 x = wadi_flip_point(in, lattice->tile, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
    const WadiFlipCentre *centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    if (wadi_dot(v, v) == 0.0) {
        return v;
    }
    const WadiVec3 foot = wadi_add_scaled(x, centre->normal, -centre->distance * in->cell_size);
    return wadi_scale(v, 1.0 + in->velocity_delay * area_growth(in, centre, foot));
}

/* Velocity of the solid that cuts a cell. */
static void sample_wall(WadiFlipLattice *lattice, const int cell[3], bool is_cut, WadiFlipSolidRow row,
                        int lane)
{
    const WadiVec3 zero = { 0, 0, 0 }, v = is_cut ? sweep_velocity(lattice, cell) : zero;
    for (int axis = 0; axis < 3; ++axis) {
        row.wall[axis][lane] = (float)wadi_component(v, axis);
    }
}

/* Are the cell and its low faces open? The corners of a face are within 0.87 of either centre. */
static bool is_cell_far(WadiFlipLattice *lattice, const int cell[3])
{
    const WadiFlipCentre *line = wadi_flip_lattice_centre(lattice, -1, cell[1], cell[2]) + 1;
    return line[cell[0]].distance > 1.25 && line[cell[0] - 1].distance > 1.25 &&
           wadi_flip_lattice_centre(lattice, cell[0], cell[1] - 1, cell[2])->distance > 1.25 &&
           wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2] - 1)->distance > 1.25;
}

static void fill_open_cell(WadiFlipSolidRow row, int lane)
{
    row.fraction[lane] = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        row.open[axis][lane] = 1.0f;
        if (row.velocity[axis] != NULL) {
            row.velocity[axis][lane] = row.wall[axis][lane] = 0.0f;
        }
    }
}

static void sample_row(WadiFlipLattice *lattice, int row_index, WadiFlipSolidRow row)
{
    const WadiFlipSolidIn *in = lattice->in;
    for (int l = 0; l < (lattice->is_same_along_x ? 1 : LANES); ++l) {
        const int cell[3] = { l, row_index & 7, row_index >> 3 };
        double centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2])->distance;
        row.distance[l] = (float)(in->cell_size * fmax(-WADI_SOLID_FAR, fmin(centre, WADI_SOLID_FAR)));
        if (is_cell_far(lattice, cell)) {
            fill_open_cell(row, l);
            continue;
        }
        double open = centre > 0.87 ? 1.0 : 0.0;
        if (in->is_binary) {
            open = centre > WADI_SOLID_TOUCH ? 1.0 : 0.0;
        } else if (fabs(centre) <= 0.87) {
            open = volume_open(lattice, cell);
        }
        row.fraction[l] = (float)(1.0 - open);
        if (lattice->is_moving) {
            sample_wall(lattice, cell, open > 0.0 && open < 1.0, row, l);
        }
        for (int axis = 0; axis < 3; ++axis) {
            float w = (float)wadi_flip_face_open(lattice, cell, axis);
            w = w < in->min_open ? 0.0f : w;
            row.open[axis][l] = w;
            if (row.velocity[axis] == NULL) {
                continue;
            }
            row.velocity[axis][l] = 0.0f;
            if (w < 1.0f && lattice->is_moving) {
                row.velocity[axis][l] = (float)wadi_component(face_velocity(lattice, cell, axis), axis);
            }
        }
    }
    if (lattice->is_same_along_x) {
        repeat_first(row.distance);
        repeat_first(row.fraction);
        for (int axis = 0; axis < 3; ++axis) {
            repeat_first(row.open[axis]);
            if (row.velocity[axis] != NULL) {
                repeat_first(row.velocity[axis]);
                repeat_first(row.wall[axis]);
            }
        }
    }
}

void wadi_flip_solid_row_fill(WadiFlipSolidRow row, bool is_open, double cell_size)
{
    for (int l = 0; l < LANES; ++l) {
        for (int axis = 0; axis < 3; ++axis) {
            row.open[axis][l] = is_open ? 1.0f : 0.0f;
        }
        row.distance[l] = (float)(is_open ? WADI_SOLID_FAR * cell_size : -WADI_SOLID_FAR * cell_size);
        row.fraction[l] = is_open ? 0.0f : 1.0f;
    }
    for (int axis = 0; axis < 3 && row.velocity[axis] != NULL; ++axis) {
        memset(row.velocity[axis], 0, LANES * sizeof(float));
        memset(row.wall[axis], 0, LANES * sizeof(float));
    }
}

/* Radii, in cells, around the centre of a row (8 x 1 x 1), a tile, a lattice and a cell: half diagonal
 * plus WADI_SOLID_FAR; for the cell half a cell plus WADI_SOLID_FAR. */
static const double row_radius = 4.07 + WADI_SOLID_FAR, tile_radius = 6.93 + WADI_SOLID_FAR,
                    lattice_radius = 8.0 + WADI_SOLID_FAR;
static const double cell_radius = 0.5 + WADI_SOLID_FAR;

bool wadi_flip_solid_is_near_tile(const WadiFlipSolidIn *in, WadiTile tile)
{
    double radius = tile_radius * in->cell_size;
    return wadi_solids_distance(in->solids, wadi_flip_point(in, tile, 4, 4, 4), in->time, radius) < radius;
}

/* True if only walls of the domain are near and none of them is across x, as in most tiles at a wall. */
static bool is_same_along_x(const WadiFlipSolidIn *in, WadiTile tile)
{
    WadiSolids others = *in->solids;
    others.closed_sides &= WADI_SIDE_X_MIN | WADI_SIDE_X_MAX;
    const double radius = lattice_radius * in->cell_size;
    return wadi_solids_distance(&others, wadi_flip_point(in, tile, 4, 4, 4), in->time, radius) >= radius;
}

static WadiVec3 centre_of_row(const WadiFlipSolidIn *in, WadiTile tile, int row_index)
{
    return wadi_flip_point(in, tile, 4.0, (row_index & 7) + 0.5, (row_index >> 3) + 0.5);
}

uint64_t wadi_flip_solid_rows_near(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows)
{
    const double radius = row_radius * in->cell_size;
    uint64_t near = 0;
    for (uint64_t left = rows; left != 0; left &= left - 1) {
        const int row_index = __builtin_ctzll(left);
        WadiVec3 middle = centre_of_row(in, tile, row_index);
        bool is_near = wadi_solids_distance(in->solids, middle, in->time, radius) < radius;
        near |= (uint64_t)is_near << row_index;
    }
    return near;
}

WadiFlipTileRows wadi_flip_solid_tile(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows, bool are_near,
                                      WadiFlipSolidRow (*target)(void *user, int row_index), void *user)
{
    WadiFlipTileRows out = { 0 };
    WadiFlipLattice lattice; /* large: initialised for the first row that is sampled */
    lattice.in = in;
    lattice.tile = tile;
    lattice.is_same_along_x = !are_near && is_same_along_x(in, tile);
    const double radius = (lattice.is_same_along_x ? cell_radius : row_radius) * in->cell_size;
    bool is_ready = false;
    for (uint64_t left = rows; left != 0; left &= left - 1) {
        const int row_index = __builtin_ctzll(left);
        const uint64_t bit = UINT64_C(1) << row_index;
        WadiVec3 middle = centre_of_row(in, tile, row_index);
        double d = are_near ? 0.0 : wadi_solids_clearance(in->solids, middle, in->time, radius);
        if (d >= radius) {
            out.open |= bit;
        } else if (d <= -radius && !wadi_solids_are_moving(in->solids)) {
            out.closed |= bit;
        } else {
            if (!is_ready) {
                wadi_flip_lattice_begin(&lattice);
                is_ready = true;
            }
            sample_row(&lattice, row_index, target(user, row_index));
        }
    }
    return out;
}
