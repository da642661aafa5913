/* Areas and volumes cut by linear distances. Values are distances at corners, positive outside the solid. */
#ifndef WADI_FLIP_SOLID_FRACTION_H
#define WADI_FLIP_SOLID_FRACTION_H

/* Open fraction of a unit square with values at (0,0), (1,0), (0,1), (1,1), linear along its edges. A
 * square within `touch` of the solid everywhere is closed; one that touches it in parts only is open. */
double wadi_square_open(const double d[4], double touch);

/* Open fraction of a unit cube with values at corner x + 2 y + 4 z: exact for planes along the grid,
 * second order otherwise. */
double wadi_cube_open(const double d[8], double touch);

#endif
