/* Sample the solids on the corners, centres and edges of one tile.
 * Source: [NMG09]: open fractions from the distances at the corners, each sampled once a tile. */
#include "flip/solids/flip_solid_lattice.h"

#include <string.h>

enum { LANES = WADI_ROW_CELLS };

/* Normals are needed up to this distance from the solids, in cells. */
#define NORMAL_WITHIN 1.3
/* And true distances beside combinations of shapes: farther samples do not change fractions. */
#define TRUE_WITHIN 1.5
/* From the centre of a tile to the farthest sample, a tenth beyond a corner of the lattice, plus FAR. */
static const double sample_radius = 10.0 + WADI_SOLID_FAR;

void wadi_flip_lattice_begin(WadiFlipLattice *lattice)
{
    const WadiFlipSolidIn *in = lattice->in;
    lattice->is_moving = wadi_solids_are_moving(in->solids);
    wadi_solids_near_begin(&lattice->near, in->solids, wadi_flip_point(in, lattice->tile, 4, 4, 4),
                           sample_radius * in->cell_size, TRUE_WITHIN * in->cell_size, in->time);
    lattice->has_moving_mesh = lattice->near.mesh_count > 0;
    memset(lattice->corner, 0xff, sizeof lattice->corner); /* all bits set is a NAN */
    for (int n = 0; n < WADI_LATTICE_CENTRES * WADI_LATTICE_CENTRES; ++n) {
        lattice->centre[n / WADI_LATTICE_CENTRES][n % WADI_LATTICE_CENTRES][0].distance = (double)NAN;
    }
    memset(lattice->plain, 0, sizeof lattice->plain);
    memset(lattice->known, 0, sizeof lattice->known);
}

double wadi_flip_lattice_distance(WadiFlipLattice *lattice, const double p[3])
{
    WadiVec3 x = wadi_flip_point(lattice->in, lattice->tile, p[0], p[1], p[2]);
    double d = wadi_solids_near_distance(&lattice->near, x);
    d /= lattice->in->cell_size;
    /* Infinite distances would give NAN in means and differences. */
    return d < 1e6 ? d : 1e6;
}

/* Sample the centres of a line of cells along x, always from its low end, so that the result depends only
 * on the solids. Far away a bound is enough: it changes by at most one a cell, and cells are skipped while
 * it exceeds WADI_SOLID_FAR. */
void wadi_flip_lattice_sample_line(WadiFlipLattice *lattice, WadiFlipCentre line[WADI_LATTICE_CENTRES], int b,
                                   int c)
{
    const double normal_within = NORMAL_WITHIN * lattice->in->cell_size;
    double bound = 0.0;
    for (int a = -1; a < LANES; ++a) {
        WadiFlipCentre *centre = &line[a + 1];
        if (lattice->is_same_along_x && a >= 0) {
            *centre = line[0];
            continue;
        }
        bound -= bound > 0.0 ? 1.0 : -1.0;
        if (fabs(bound) > WADI_SOLID_FAR) {
            *centre = (WadiFlipCentre){ .distance = bound };
            continue;
        }
        WadiVec3 x = wadi_flip_point(lattice->in, lattice->tile, a + 0.5, b + 0.5, c + 0.5);
        WadiSolidPoint point = wadi_solids_near_sample(&lattice->near, x, normal_within);
        centre->distance = fmin(point.surface.distance / lattice->in->cell_size, 1e6);
        centre->normal = point.surface.normal;
        centre->index = point.index;
        bound = centre->distance;
    }
}

double wadi_flip_lattice_edge(WadiFlipLattice *lattice, const int corner[3], int axis, int part)
{
    const int a = corner[0] + 1, b = corner[1] + 1, c = corner[2] + 1;
    uint8_t *known = &lattice->known[axis][c][b][a];
    double *d = &lattice->edge[axis][c][b][a][part];
    if ((*known >> part & 1) == 0) {
        double p[3] = { corner[0], corner[1], corner[2] };
        p[axis] += (double)part / WADI_FACE_PARTS;
        *d = wadi_flip_lattice_distance(lattice, p);
        *known |= (uint8_t)(1 << part);
    }
    return *d;
}

void wadi_flip_lattice_corners(WadiFlipLattice *lattice, const int cell[3], double d[8])
{
    for (int n = 0; n < 8; ++n) {
        d[n] =
            wadi_flip_lattice_corner(lattice, cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2));
    }
}

static bool find_plain(WadiFlipLattice *lattice, const int cell[3])
{
    const WadiFlipCentre *centre = wadi_flip_lattice_centre(lattice, cell[0], cell[1], cell[2]);
    if (fabs(centre->distance) > (lattice->has_moving_mesh ? WADI_CELL_UNIFORM : 1.0)) {
        return true; /* the wall is outside this cell (half its diagonal is 0.87) */
    }
    double d[8];
    wadi_flip_lattice_corners(lattice, cell, d);
    for (int n = 0; n < 8; ++n) {
        WadiVec3 offset = wadi_vec3((n & 1) - 0.5, (n >> 1 & 1) - 0.5, (n >> 2) - 0.5);
        double bend = d[n] - centre->distance - wadi_dot(centre->normal, offset);
        if (fabs(bend) > WADI_SOLID_BEND || (d[n] > WADI_SOLID_TOUCH && d[n] < WADI_SOLID_BEND)) {
            return false;
        }
    }
    return true;
}

bool wadi_flip_lattice_is_plain(WadiFlipLattice *lattice, const int cell[3])
{
    uint8_t *plain = &lattice->plain[cell[2] + 1][cell[1] + 1][cell[0] + 1];
    *plain = *plain != 0 ? *plain : 1 + find_plain(lattice, cell);
    return *plain == 2;
}
