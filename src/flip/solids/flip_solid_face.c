/* Open fractions of faces.
 * Source: [NMG09].
 * Differs: where the corners do not fit one plane they may miss details. There a face is divided into 4 x
 * 4 squares, and closed if a wall separates its two cells. */
#include <string.h>

#include "flip/solids/flip_solid_fraction.h"
#include "flip/solids/flip_solid_lattice.h"

/* In cells. Walls are thickened by SKIN on each side in the test for separated cells, so that none is
 * stepped over. */
#define SKIN 0.01
/* Smallest distance from the solid of the point that represents a cell. */
#define LIFT 0.1
/* Half the diagonal of a face. */
#define FACE_RADIUS 0.7072
/* With moving meshes the distances on a square are linear if its corners and its centre are, to within FLAT;
 * relative to their change where the square is cut. */
#define FLAT 0.01
/* And largest difference of their slope from the normals beside the face. */
#define SLOPE_ERROR 0.1

/* The point that represents a cell, in cells relative to the tile: its centre, moved out of the solid
 * along the normal. */
static WadiVec3 outside_point(WadiFlipLattice *lattice, const int cell[3])
{
    const WadiFlipCentre *centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    WadiVec3 x = wadi_vec3(cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
    return wadi_add_scaled(x, centre->normal, fmax(LIFT - centre->distance, 0.0));
}

/* The segment between the points that represent two cells, in cells relative to the tile. */
typedef struct Segment {
    WadiFlipLattice *lattice;
    WadiVec3 from, path;
    double length;
} Segment;

/* Distance of the point at t from the solids, less SKIN. */
static double clearance_at(const Segment *segment, double t)
{
    const WadiFlipSolidIn *in = segment->lattice->in;
    const WadiVec3 p = wadi_add_scaled(segment->from, segment->path, t / segment->length);
    const WadiVec3 x = wadi_flip_point(in, segment->lattice->tile, p.x, p.y, p.z);
    /* Moving meshes are sampled every step: their narrow band is accurate enough. */
    double d = segment->lattice->is_moving
                   ? wadi_solids_near_distance(&segment->lattice->near, x)
                   : wadi_solids_clearance(in->solids, x, in->time, 2.0 * in->cell_size);
    if (d >= 0.0 && d < SKIN * in->cell_size) {
        d = wadi_solids_distance_within(in->solids, x, in->time, 2.0 * in->cell_size);
    }
    return d / in->cell_size - SKIN;
}

/* Is there solid between `begin` and `end`? The middle first: often its ball covers all. */
static bool has_solid(const Segment *segment, double begin, double end)
{
    while (begin < end) {
        const double middle = 0.5 * (begin + end), d = clearance_at(segment, middle);
        if (d < 0.0) {
            return true;
        }
        const double free = d > 0.75 * SKIN ? d : 0.75 * SKIN; /* as below, to either side */
        if (has_solid(segment, begin, middle - free)) {
            return true;
        }
        begin = middle + free;
    }
    return false;
}

/* Is there solid on the segment between the points that represent two cells? Faces are open only if not,
 * so every path over open faces is a path through free space: nothing leaks, however thin the walls. */
static bool is_separated(WadiFlipLattice *lattice, const int a[3], const int b[3])
{
    Segment segment = { .lattice = lattice, .from = outside_point(lattice, a) };
    segment.path = wadi_sub(outside_point(lattice, b), segment.from);
    segment.length = wadi_norm(segment.path);
    const double near_a = wadi_flip_lattice_centre(lattice, a[0], a[1], a[2])->distance;
    const double near_b = wadi_flip_lattice_centre(lattice, b[0], b[1], b[2])->distance;
    /* The balls around centres that were not moved are free. */
    const double begin = near_a >= LIFT ? near_a - SKIN : 0.0;
    const double end = near_b >= LIFT ? segment.length - (near_b - SKIN) : segment.length;
    if (lattice->has_moving_mesh) {
        return has_solid(&segment, begin, end);
    }
    for (double t = begin; t < end;) {
        const double d = clearance_at(&segment, t);
        if (d < 0.0) {
            return true;
        }
        t += fmax(d, 1.5 * SKIN); /* the thinnest wall, thickened, is two skins thick */
    }
    return false;
}

/* A face divided into WADI_FACE_PARTS x WADI_FACE_PARTS squares. */
typedef struct Face {
    WadiFlipLattice *lattice;
    const WadiFlipCentre *centre[2]; /* of the cells on either side */
    int cell[3], s, t;               /* on the low side of the cell; the axes in the face */
    double d[WADI_FACE_PARTS + 1][WADI_FACE_PARTS + 1]; /* [n along t][m along s]; NAN: not sampled yet */
} Face;

static double sample_face(Face *face, int m, int n)
{
    int corner[3] = { face->cell[0], face->cell[1], face->cell[2] };
    if (m % WADI_FACE_PARTS != 0 && n % WADI_FACE_PARTS != 0) {
        double p[3] = { corner[0], corner[1], corner[2] };
        p[face->s] += (double)m / WADI_FACE_PARTS;
        p[face->t] += (double)n / WADI_FACE_PARTS;
        return wadi_flip_lattice_distance(face->lattice, p);
    }
    corner[face->s] += m / WADI_FACE_PARTS;
    corner[face->t] += n / WADI_FACE_PARTS;
    if (m % WADI_FACE_PARTS == 0 && n % WADI_FACE_PARTS == 0) {
        return wadi_flip_lattice_corner(face->lattice, corner[0], corner[1], corner[2]);
    }
    return m % WADI_FACE_PARTS != 0
               ? wadi_flip_lattice_edge(face->lattice, corner, face->s, m % WADI_FACE_PARTS)
               : wadi_flip_lattice_edge(face->lattice, corner, face->t, n % WADI_FACE_PARTS);
}

static double face_distance(Face *face, int m, int n)
{
    double *d = &face->d[n][m];
    *d = isnan(*d) ? sample_face(face, m, n) : *d;
    return *d;
}

static void square_corners(Face *face, int m, int n, int size, double d[4])
{
    for (int c = 0; c < 4; ++c) {
        d[c] = face_distance(face, m + (c & 1) * size, n + (c >> 1) * size);
    }
}

/* Do the distances on a square change as the normal of a cell beside the face has it? */
static bool has_slope(const Face *face, const double d[4], int size, const WadiFlipCentre *centre)
{
    const double scale = 0.5 * WADI_FACE_PARTS / size;
    const double s = scale * (d[1] - d[0] + d[3] - d[2]), t = scale * (d[2] - d[0] + d[3] - d[1]);
    return fabs(s - wadi_component(centre->normal, face->s)) < SLOPE_ERROR &&
           fabs(t - wadi_component(centre->normal, face->t)) < SLOPE_ERROR;
}

/* Is there neither a thin wall nor an edge? A wall makes a bend in the distances wherever it crosses the
 * square, unless it is at a corner. A deviation moves the line where they are 0 the more, the smaller their
 * slope is. */
static bool is_flat(const double d[4], double middle)
{
    const double mean = 0.25 * (d[0] + d[1] + d[2] + d[3]);
    const double deviation = 0.25 * fabs(d[0] - d[1] - d[2] + d[3]) + fabs(middle - mean);
    if (deviation >= FLAT) {
        return false;
    }
    double least = d[0], most = d[0];
    for (int c = 0; c < 4; ++c) {
        if (d[c] > WADI_SOLID_TOUCH && d[c] < WADI_SOLID_BEND) {
            return false;
        }
        least = d[c] < least ? d[c] : least;
        most = d[c] > most ? d[c] : most;
    }
    const bool is_cut = least < WADI_SOLID_BEND && most > -WADI_SOLID_BEND;
    return !is_cut || deviation < FLAT * (most - least);
}

/* Open fraction of the square of `size` squares that begins at (m, n). If its centre is farther from the
 * solids than its corners are from the centre, one sample is enough. */
static double square_open(Face *face, int m, int n, int size)
{
    double d[4];
    if (size == 1) {
        square_corners(face, m, n, 1, d);
        return wadi_square_open(d, WADI_SOLID_TOUCH);
    }
    const int half = size / 2;
    const double middle = face_distance(face, m + half, n + half);
    if (fabs(middle) > FACE_RADIUS * size / WADI_FACE_PARTS) {
        return middle > 0.0 ? 1.0 : 0.0;
    }
    if (face->lattice->has_moving_mesh) {
        square_corners(face, m, n, size, d);
        if (is_flat(d, middle) && has_slope(face, d, size, face->centre[0]) &&
            has_slope(face, d, size, face->centre[1])) {
            return wadi_square_open(d, WADI_SOLID_TOUCH);
        }
    }
    return 0.25 * (square_open(face, m, n, half) + square_open(face, m + half, n, half) +
                   square_open(face, m, n + half, half) + square_open(face, m + half, n + half, half));
}

static double fine_open(WadiFlipLattice *lattice, const int low[3], const int cell[3], int axis)
{
    Face face = { .lattice = lattice,
                  .cell = { cell[0], cell[1], cell[2] },
                  .s = axis == 0 ? 1 : 0,
                  .t = axis == 2 ? 1 : 2 };
    face.centre[0] = wadi_flip_lattice_centre(lattice, low[0], low[1], low[2]);
    face.centre[1] = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    memset(face.d, 0xff, sizeof face.d); /* all bits set is a NAN */
    return square_open(&face, 0, 0, WADI_FACE_PARTS);
}

/* Is the face inside the solids as a whole, as most between two cells inside walls of some cells? The
 * cheaper test of a moving mesh. */
static bool is_closed(WadiFlipLattice *lattice, const int cell[3], int axis, double here, double there)
{
    if (!lattice->has_moving_mesh || here > 0.0 || there > 0.0) {
        return false;
    }
    double middle[3] = { cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5 };
    middle[axis] -= 0.5;
    return fmin(here, there) < -WADI_CELL_UNIFORM ||
           wadi_flip_lattice_distance(lattice, middle) < -FACE_RADIUS;
}

double wadi_flip_face_open(WadiFlipLattice *lattice, const int cell[3], int axis)
{
    int low[3] = { cell[0], cell[1], cell[2] };
    low[axis] -= 1;
    const double here = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2])->distance;
    const double there = wadi_flip_lattice_centre(lattice, low[0], low[1], low[2])->distance;
    if (here > 1.25 && there > 1.25) {
        return 1.0; /* the face's corners are within 0.87 of either centre */
    }
    if (here < -1.25 && there < -1.25) {
        return 0.0;
    }
    const bool is_simple =
        wadi_flip_lattice_is_plain(lattice, cell) && wadi_flip_lattice_is_plain(lattice, low);
    if (!is_simple && (is_closed(lattice, cell, axis, here, there) || is_separated(lattice, low, cell))) {
        return 0.0;
    }
    if (lattice->in->is_binary) {
        return here > WADI_SOLID_TOUCH && there > WADI_SOLID_TOUCH ? 1.0 : 0.0;
    }
    if (!is_simple && lattice->has_moving_mesh && fmax(here, there) > WADI_CELL_UNIFORM) {
        return 1.0;
    }
    if (!is_simple) {
        return fine_open(lattice, low, cell, axis);
    }
    const int s = axis == 0 ? 1 : 0, t = axis == 2 ? 1 : 2;
    double d[4];
    for (int n = 0; n < 4; ++n) {
        int corner[3] = { cell[0], cell[1], cell[2] };
        corner[s] += n & 1;
        corner[t] += n >> 1;
        d[n] = wadi_flip_lattice_corner(lattice, corner[0], corner[1], corner[2]);
    }
    return wadi_square_open(d, WADI_SOLID_TOUCH);
}
