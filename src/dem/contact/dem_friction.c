#include "dem/contact/dem_friction.h"

#include <math.h>

/* Angle in degrees, sliding friction. Measured by tools/validate/grain_angles.py; docs/dem.md has the
 * slopes. */
static const double table[][2] = { { 5.76, 0.0 },  { 20.0, 0.07 }, { 25.0, 0.115 },
                                   { 30.0, 0.18 }, { 35.0, 0.27 }, { 40.0, 0.34 } };
enum { ROWS = sizeof table / sizeof table[0] };

double wadi_dem_friction_of_angle(double degrees)
{
    int n = 1;
    while (n < ROWS - 1 && degrees > table[n][0]) {
        ++n;
    }
    const double part = (degrees - table[n - 1][0]) / (table[n][0] - table[n - 1][0]);
    const double friction = table[n - 1][1] + part * (table[n][1] - table[n - 1][1]);
    return fmax(friction, 0.0);
}
