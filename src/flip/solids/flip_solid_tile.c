/* Sample the solids on the faces and cells of one tile.
 * Source: [NMG09]: open fractions from the distances at the corners, each sampled once a tile.
 * Differs: where the corners do not fit one plane they may miss details. There a face is divided into 4 x
 * 4 squares, and closed if a wall separates its two cells. */
#include "flip/solids/flip_solid_tile.h"

#include <string.h>

#include "flip/solids/flip_solid_fraction.h"
#include "geom/solids_near.h"

enum { LANES = WADI_ROW_CELLS, CORNERS = 10, CENTRES = 9, PARTS = 4 };

/* In cells. A face closer to a wall than TOUCH lies on it. Corners that deviate from a plane by BEND, or
 * are closer to a wall than BEND without touching it, may hide a thin wall or an edge. */
#define TOUCH 1e-6
#define BEND 0.04
/* Walls are thickened by this on each side in the test for separated cells, so that none is stepped over. */
#define SKIN 0.01
/* Smallest distance from the solid of the point that represents a cell. */
#define LIFT 0.1
/* Cut-off of cell distances. */
#define FAR 2.0

typedef struct Centre {
    double distance;
    WadiVec3 normal;
    int index; /* of the nearest solid; index and normal are not set beyond FAR */
} Centre;

/* Distances in cells, on the tile and one layer of cells below it; NAN: not sampled yet. */
typedef struct Lattice {
    const WadiFlipSolidIn *in;
    WadiTile tile;
    bool is_same_along_x;                     /* only walls of the domain are near, none of them across x */
    double corner[CORNERS][CORNERS][CORNERS]; /* [c][b][a]: at cell coordinates tile * 8 + (a, b, c) - 1 */
    Centre centre[CENTRES][CENTRES][CENTRES]; /* of the cell that begins at that corner */
    WadiSolidsNear near;
} Lattice;

/* Position in metres of a point in cells relative to the tile's low corner. */
static WadiVec3 point_of(const WadiFlipSolidIn *in, WadiTile tile, double a, double b, double c)
{
    const double h = in->cell_size;
    return wadi_vec3(h * (8.0 * tile.x + a), h * (8.0 * tile.y + b), h * (8.0 * tile.z + c));
}

static double exact_distance(Lattice *lattice, const double p[3])
{
    WadiVec3 x = point_of(lattice->in, lattice->tile, p[0], p[1], p[2]);
    double d = wadi_solids_near_distance(&lattice->near, x);
    /* Infinite distances would give NAN in means and differences. */
    return fmin(d / lattice->in->cell_size, 1e6);
}

static double corner_at(Lattice *lattice, int a, int b, int c)
{
    double *d = &lattice->corner[c + 1][b + 1][a + 1];
    if (isnan(*d)) {
        *d = exact_distance(lattice, (double[3]){ a, b, c });
    }
    return *d;
}

/* Sample the centres of a line of cells along x, always from its low end, so that the result depends only
 * on the solids. Beyond FAR a bound is enough: it changes by at most one a cell, and cells are skipped
 * while it exceeds FAR. */
static void sample_line(Lattice *lattice, Centre line[CENTRES], int b, int c)
{
    double bound = 0.0;
    for (int a = -1; a < LANES; ++a) {
        Centre *centre = &line[a + 1];
        if (lattice->is_same_along_x && a >= 0) {
            *centre = line[0];
            continue;
        }
        bound -= bound > 0.0 ? 1.0 : -1.0;
        if (fabs(bound) > FAR) {
            *centre = (Centre){ .distance = bound };
            continue;
        }
        WadiVec3 x = point_of(lattice->in, lattice->tile, a + 0.5, b + 0.5, c + 0.5);
        WadiSolidPoint point = wadi_solids_near_sample(&lattice->near, x);
        centre->distance = fmin(point.surface.distance / lattice->in->cell_size, 1e6);
        centre->normal = point.surface.normal;
        centre->index = point.index;
        bound = centre->distance;
    }
}

static const Centre *centre_at(Lattice *lattice, int a, int b, int c)
{
    Centre *line = lattice->centre[c + 1][b + 1];
    if (isnan(line[0].distance)) {
        sample_line(lattice, line, b, c);
    }
    return &line[a + 1];
}

static void cell_corners(Lattice *lattice, const int cell[3], double d[8])
{
    for (int n = 0; n < 8; ++n) {
        d[n] = corner_at(lattice, cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2));
    }
}

/* Corners describe a cell if they fit one plane. */
static bool is_plain(Lattice *lattice, const int cell[3])
{
    const Centre *centre = centre_at(lattice, cell[0], cell[1], cell[2]);
    if (fabs(centre->distance) > 1.0) {
        return true; /* the wall is outside this cell (half its diagonal is 0.87) */
    }
    double d[8];
    cell_corners(lattice, cell, d);
    for (int n = 0; n < 8; ++n) {
        WadiVec3 offset = wadi_vec3((n & 1) - 0.5, (n >> 1 & 1) - 0.5, (n >> 2) - 0.5);
        double bend = d[n] - centre->distance - wadi_dot(centre->normal, offset);
        if (fabs(bend) > BEND || (d[n] > TOUCH && d[n] < BEND)) {
            return false;
        }
    }
    return true;
}

/* The point that represents a cell, in cells relative to the tile: its centre, moved out of the solid
 * along the normal. */
static WadiVec3 outside_point(Lattice *lattice, const int cell[3])
{
    const Centre *centre = centre_at(lattice, cell[0], cell[1], cell[2]);
    WadiVec3 x = wadi_vec3(cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
    return wadi_add_scaled(x, centre->normal, fmax(LIFT - centre->distance, 0.0));
}

/* Is there solid on the segment between the points that represent two cells? Faces are open only if not,
 * so every path over open faces is a path through free space: nothing leaks, however thin the walls. */
static bool is_separated(Lattice *lattice, const int a[3], const int b[3])
{
    const WadiFlipSolidIn *in = lattice->in;
    const WadiVec3 from = outside_point(lattice, a), path = wadi_sub(outside_point(lattice, b), from);
    const double length = wadi_norm(path);
    const double near_a = centre_at(lattice, a[0], a[1], a[2])->distance;
    const double near_b = centre_at(lattice, b[0], b[1], b[2])->distance;
    const bool is_moving = wadi_solids_are_moving(in->solids);
    /* The balls around centres that were not moved are free. */
    const double begin = near_a >= LIFT ? near_a - SKIN : 0.0;
    const double end = near_b >= LIFT ? length - (near_b - SKIN) : length;
    for (double t = begin; t < end;) {
        WadiVec3 p = wadi_add_scaled(from, path, t / length);
        WadiVec3 x = point_of(lattice->in, lattice->tile, p.x, p.y, p.z);
        /* Moving meshes are sampled every step: their narrow band is accurate enough. */
        double d = is_moving ? wadi_solids_near_distance(&lattice->near, x)
                             : wadi_solids_clearance(in->solids, x, in->time, 2.0 * in->cell_size);
        d = d / in->cell_size - SKIN;
        if (d < 0.0) {
            return true;
        }
        t += fmax(d, 1.5 * SKIN); /* the thinnest wall, thickened, is two skins thick */
    }
    return false;
}

/* A face divided into PARTS x PARTS squares. */
typedef struct Face {
    Lattice *lattice;
    int cell[3], s, t;              /* on the low side of the cell; the axes in the face */
    double d[PARTS + 1][PARTS + 1]; /* [n along t][m along s]; NAN: not sampled yet */
} Face;

static double face_distance(Face *face, int m, int n)
{
    double *d = &face->d[n][m];
    if (isnan(*d)) {
        double p[3] = { face->cell[0], face->cell[1], face->cell[2] };
        p[face->s] += (double)m / PARTS;
        p[face->t] += (double)n / PARTS;
        bool is_corner = m % PARTS == 0 && n % PARTS == 0;
        *d = is_corner ? corner_at(face->lattice, (int)p[0], (int)p[1], (int)p[2])
                       : exact_distance(face->lattice, p);
    }
    return *d;
}

/* Open fraction of the square of `size` squares that begins at (m, n). If its centre is farther from the
 * solids than its corners are from the centre, one sample is enough. */
static double square_open(Face *face, int m, int n, int size)
{
    if (size == 1) {
        const double corner[4] = { face_distance(face, m, n), face_distance(face, m + 1, n),
                                   face_distance(face, m, n + 1), face_distance(face, m + 1, n + 1) };
        return wadi_square_open(corner, TOUCH);
    }
    const int half = size / 2;
    const double middle = face_distance(face, m + half, n + half);
    if (fabs(middle) > 0.7072 * size / PARTS) {
        return middle > 0.0 ? 1.0 : 0.0;
    }
    return 0.25 * (square_open(face, m, n, half) + square_open(face, m + half, n, half) +
                   square_open(face, m, n + half, half) + square_open(face, m + half, n + half, half));
}

static double fine_open(Lattice *lattice, const int cell[3], int axis)
{
    Face face = { lattice, { cell[0], cell[1], cell[2] }, axis == 0 ? 1 : 0, axis == 2 ? 1 : 2, { { 0 } } };
    memset(face.d, 0xff, sizeof face.d); /* all bits set is a NAN */
    return square_open(&face, 0, 0, PARTS);
}

/* Open fraction of a cell from the distances at the centres of its octants: corners miss a gap between two
 * solids, or an edge. */
static double fine_volume(Lattice *lattice, const int cell[3])
{
    double open = 0.0;
    for (int n = 0; n < 8; ++n) {
        const double p[3] = { cell[0] + 0.25 + 0.5 * (n & 1), cell[1] + 0.25 + 0.5 * (n >> 1 & 1),
                              cell[2] + 0.25 + 0.5 * (n >> 2) };
        open += 0.125 * fmax(0.0, fmin(0.5 + 2.0 * exact_distance(lattice, p), 1.0));
    }
    /* A wall on a face of the cell cuts off nothing, whatever the rounding. */
    return open > 1.0 - 8.0 * TOUCH ? 1.0 : open < 8.0 * TOUCH ? 0.0 : open;
}

static double volume_open(Lattice *lattice, const int cell[3])
{
    if (!is_plain(lattice, cell)) {
        return fine_volume(lattice, cell);
    }
    double d[8];
    cell_corners(lattice, cell, d);
    return wadi_cube_open(d, TOUCH);
}

static double face_open(Lattice *lattice, const int cell[3], int axis)
{
    int low[3] = { cell[0], cell[1], cell[2] };
    low[axis] -= 1;
    const double here = centre_at(lattice, cell[0], cell[1], cell[2])->distance;
    const double there = centre_at(lattice, low[0], low[1], low[2])->distance;
    if (here > 1.25 && there > 1.25) {
        return 1.0; /* the face's corners are within 0.87 of either centre */
    }
    if (here < -1.25 && there < -1.25) {
        return 0.0;
    }
    const bool is_simple = is_plain(lattice, cell) && is_plain(lattice, low);
    if (!is_simple && is_separated(lattice, low, cell)) {
        return 0.0;
    }
    if (lattice->in->is_binary) {
        return here > TOUCH && there > TOUCH ? 1.0 : 0.0;
    }
    if (!is_simple) {
        return fine_open(lattice, cell, axis);
    }
    const int s = axis == 0 ? 1 : 0, t = axis == 2 ? 1 : 2;
    double d[4];
    for (int n = 0; n < 4; ++n) {
        int corner[3] = { cell[0], cell[1], cell[2] };
        corner[s] += n & 1;
        corner[t] += n >> 1;
        d[n] = corner_at(lattice, corner[0], corner[1], corner[2]);
    }
    return wadi_square_open(d, TOUCH);
}

/* Velocity of the solid at the centre of a cell's low face. For a single rigid solid it follows from the
 * plane at the nearer cell centre, without another sample. */
static WadiVec3 face_velocity(Lattice *lattice, const int cell[3], int axis)
{
    const WadiFlipSolidIn *in = lattice->in;
    double p[3] = { cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5 }, toward = -0.5;
    int low[3] = { cell[0], cell[1], cell[2] };
    p[axis] -= 0.5;
    low[axis] -= 1;
    const WadiVec3 x = point_of(in, lattice->tile, p[0], p[1], p[2]);
    const Centre *centre = centre_at(lattice, cell[0], cell[1], cell[2]);
    const Centre *before = centre_at(lattice, low[0], low[1], low[2]);
    if (fabs(before->distance) < fabs(centre->distance)) {
        centre = before;
        toward = 0.5;
    }
    WadiVec3 velocity;
    if (fabs(centre->distance) <= 1.25) {
        const double d = centre->distance + toward * wadi_component(centre->normal, axis);
        const WadiVec3 foot = wadi_add_scaled(x, centre->normal, -d * in->cell_size);
        if (wadi_solids_carry_velocity(in->solids, centre->index, foot, in->time, &velocity)) {
            return velocity;
        }
    }
    return wadi_solids_sample_for_grid(in->solids, x, in->time).surface.velocity;
}

static void repeat_first(float *values)
{
    for (int l = 1; l < LANES; ++l) {
        values[l] = values[0];
    }
}

/* Velocity of the solid that cuts a cell. */
static void sample_wall(const Lattice *lattice, const int cell[3], bool is_cut, WadiFlipSolidRow row,
                        int lane)
{
    const WadiFlipSolidIn *in = lattice->in;
    WadiVec3 v = { 0, 0, 0 };
    if (is_cut) {
        WadiVec3 x = point_of(in, lattice->tile, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
        v = wadi_solids_sample_for_grid(in->solids, x, in->time).surface.velocity;
    }
    for (int axis = 0; axis < 3; ++axis) {
        row.wall[axis][lane] = (float)wadi_component(v, axis);
    }
}

static void sample_row(Lattice *lattice, int row_index, WadiFlipSolidRow row)
{
    const WadiFlipSolidIn *in = lattice->in;
    const bool is_moving = wadi_solids_are_moving(in->solids);
    for (int l = 0; l < (lattice->is_same_along_x ? 1 : LANES); ++l) {
        const int cell[3] = { l, row_index & 7, row_index >> 3 };
        double centre = centre_at(lattice, cell[0], cell[1], cell[2])->distance;
        row.distance[l] = (float)(in->cell_size * fmax(-FAR, fmin(centre, FAR)));
        double open = centre > 0.87 ? 1.0 : 0.0;
        if (in->is_binary) {
            open = centre > TOUCH ? 1.0 : 0.0;
        } else if (fabs(centre) <= 0.87) {
            open = volume_open(lattice, cell);
        }
        row.fraction[l] = (float)(1.0 - open);
        if (is_moving) {
            sample_wall(lattice, cell, open > 0.0 && open < 1.0, row, l);
        }
        for (int axis = 0; axis < 3; ++axis) {
            float w = (float)face_open(lattice, cell, axis);
            w = w < in->min_open ? 0.0f : w;
            row.open[axis][l] = w;
            if (row.velocity[axis] == NULL) {
                continue;
            }
            row.velocity[axis][l] = 0.0f;
            if (w < 1.0f && is_moving) {
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
        row.distance[l] = (float)(is_open ? FAR * cell_size : -FAR * cell_size);
        row.fraction[l] = is_open ? 0.0f : 1.0f;
    }
    for (int axis = 0; axis < 3 && row.velocity[axis] != NULL; ++axis) {
        memset(row.velocity[axis], 0, LANES * sizeof(float));
        memset(row.wall[axis], 0, LANES * sizeof(float));
    }
}

/* Radii, in cells, around the centre of a row (8 x 1 x 1), a tile, a lattice and a cell: half diagonal
 * plus FAR; for the cell half a cell plus FAR. */
static const double row_radius = 4.07 + FAR, tile_radius = 6.93 + FAR, lattice_radius = 8.0 + FAR;
static const double cell_radius = 0.5 + FAR;
/* From the centre of a tile to the farthest sample, LIFT beyond a corner of the lattice, plus FAR. */
static const double sample_radius = 10.0 + FAR;

bool wadi_flip_solid_is_near_tile(const WadiFlipSolidIn *in, WadiTile tile)
{
    double radius = tile_radius * in->cell_size;
    return wadi_solids_distance(in->solids, point_of(in, tile, 4, 4, 4), in->time, radius) < radius;
}

/* True if only walls of the domain are near and none of them is across x, as in most tiles at a wall. */
static bool is_same_along_x(const WadiFlipSolidIn *in, WadiTile tile)
{
    WadiSolids others = *in->solids;
    others.closed_sides &= WADI_SIDE_X_MIN | WADI_SIDE_X_MAX;
    const double radius = lattice_radius * in->cell_size;
    return wadi_solids_distance(&others, point_of(in, tile, 4, 4, 4), in->time, radius) >= radius;
}

static WadiVec3 centre_of_row(const WadiFlipSolidIn *in, WadiTile tile, int row_index)
{
    return point_of(in, tile, 4.0, (row_index & 7) + 0.5, (row_index >> 3) + 0.5);
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

WadiFlipTileRows wadi_flip_solid_tile(const WadiFlipSolidIn *in, WadiTile tile, uint64_t rows,
                                      WadiFlipSolidRow (*target)(void *user, int row_index), void *user)
{
    WadiFlipTileRows out = { 0 };
    Lattice lattice; /* large: initialised for the first row that is sampled */
    lattice.in = in;
    lattice.tile = tile;
    lattice.is_same_along_x = is_same_along_x(in, tile);
    const double radius = (lattice.is_same_along_x ? cell_radius : row_radius) * in->cell_size;
    bool is_ready = false;
    for (uint64_t left = rows; left != 0; left &= left - 1) {
        const int row_index = __builtin_ctzll(left);
        const uint64_t bit = UINT64_C(1) << row_index;
        WadiVec3 middle = centre_of_row(in, tile, row_index);
        double d = wadi_solids_clearance(in->solids, middle, in->time, radius);
        if (d >= radius) {
            out.open |= bit;
        } else if (d <= -radius && !wadi_solids_are_moving(in->solids)) {
            out.closed |= bit;
        } else {
            if (!is_ready) {
                memset(lattice.corner, 0xff, sizeof lattice.corner); /* all bits set is a NAN */
                memset(lattice.centre, 0xff, sizeof lattice.centre);
                wadi_solids_near_begin(&lattice.near, in->solids, point_of(in, tile, 4, 4, 4),
                                       sample_radius * in->cell_size, in->cell_size, in->time);
                is_ready = true;
            }
            sample_row(&lattice, row_index, target(user, row_index));
        }
    }
    return out;
}
