/* Distances from the solids on one tile of the grid and one layer of cells below it, in cells, each sampled
 * once: at corners and centres of cells, and on edges. Private to the files that sample a tile. */
#ifndef WADI_FLIP_SOLID_LATTICE_H
#define WADI_FLIP_SOLID_LATTICE_H

#include "flip/solids/flip_solid.h"
#include "geom/solids_near.h"

enum { WADI_LATTICE_CORNERS = 10, WADI_LATTICE_CENTRES = 9, WADI_FACE_PARTS = 4 };

/* In cells. A face closer to a wall than TOUCH lies on it. Corners that deviate from a plane by BEND, or
 * are closer to a wall than BEND without touching it, may hide a thin wall or an edge. */
#define WADI_SOLID_TOUCH 1e-6
#define WADI_SOLID_BEND 0.04
/* Cut-off of cell distances. */
#define WADI_SOLID_FAR 2.0
/* With moving meshes, which are sampled every step: a cell is open or closed as a whole if its centre is
 * farther than this from the solids. Its corners are at 0.867. */
#define WADI_CELL_UNIFORM 0.9

typedef struct WadiFlipCentre {
    double distance;
    WadiVec3 normal;
    int index; /* of the nearest solid; index and normal are not set far away */
} WadiFlipCentre;

/* Distances in cells, on the tile and one layer of cells below it; NAN: not sampled yet. */
typedef struct WadiFlipLattice {
    const WadiFlipSolidIn *in;
    WadiTile tile;
    bool is_same_along_x; /* only walls of the domain are near, none of them across x */
    bool is_moving;       /* a solid is */
    bool has_moving_mesh; /* whose samples are interpolated */
    /* [c][b][a]: at cell coordinates tile * 8 + (a, b, c) - 1. */
    double corner[WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS];
    /* Of the cell that begins at that corner. */
    WadiFlipCentre centre[WADI_LATTICE_CENTRES][WADI_LATTICE_CENTRES][WADI_LATTICE_CENTRES];
    /* Whether that cell is plain; 0: unknown, 1: no, 2: yes. */
    uint8_t plain[WADI_LATTICE_CENTRES][WADI_LATTICE_CENTRES][WADI_LATTICE_CENTRES];
    /* On the edge along each axis from that corner, in quarters; the bits of `known` tell which are set. */
    double edge[3][WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS][WADI_FACE_PARTS];
    uint8_t known[3][WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS][WADI_LATTICE_CORNERS];
    WadiSolidsNear near;
} WadiFlipLattice;

/* Sets all but `in`, `tile` and `is_same_along_x`. */
void wadi_flip_lattice_begin(WadiFlipLattice *lattice);

/* Position in metres of a point in cells relative to the tile's low corner. */
static inline WadiVec3 wadi_flip_point(const WadiFlipSolidIn *in, WadiTile tile, double a, double b, double c)
{
    const double h = in->cell_size;
    return wadi_vec3(h * (8.0 * tile.x + a), h * (8.0 * tile.y + b), h * (8.0 * tile.z + c));
}

double wadi_flip_lattice_distance(WadiFlipLattice *lattice, const double p[3]);

/* At the low corner of a cell. */
static inline double wadi_flip_lattice_corner(WadiFlipLattice *lattice, int a, int b, int c)
{
    double *d = &lattice->corner[c + 1][b + 1][a + 1];
    if (isnan(*d)) {
        *d = wadi_flip_lattice_distance(lattice, (double[3]){ a, b, c });
    }
    return *d;
}

/* Sample the centres of a line of cells along x. */
void wadi_flip_lattice_sample_line(WadiFlipLattice *lattice, WadiFlipCentre line[WADI_LATTICE_CENTRES], int b,
                                   int c);

static inline const WadiFlipCentre *wadi_flip_lattice_centre(WadiFlipLattice *lattice, int a, int b, int c)
{
    WadiFlipCentre *line = lattice->centre[c + 1][b + 1];
    if (isnan(line[0].distance)) {
        wadi_flip_lattice_sample_line(lattice, line, b, c);
    }
    return &line[a + 1];
}

/* On the edge along `axis` from a corner; up to four faces share it. */
double wadi_flip_lattice_edge(WadiFlipLattice *lattice, const int corner[3], int axis, int part);

/* At the corners of a cell, x fastest. */
void wadi_flip_lattice_corners(WadiFlipLattice *lattice, const int cell[3], double d[8]);

/* Whether the corners describe the cell: they fit one plane. */
bool wadi_flip_lattice_is_plain(WadiFlipLattice *lattice, const int cell[3]);

/* Open fraction of the low face of a cell along `axis`. */
double wadi_flip_face_open(WadiFlipLattice *lattice, const int cell[3], int axis);

#endif
