/* Yield slopes from the rate of shear of the last step.
 * Source: [JFP06; theory 6.10]. Explicit: the law lags by one step. */
#include "flip/friction/flip_friction_rate.h"

#include <math.h>

#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"

static bool is_fluid(const WadiFrictionRateIn *in, WadiRowCell cell)
{
    return (in->fluid[cell.row] >> cell.lane & 1) != 0;
}

/* Velocity of the face on the low side of a cell. */
static double face_velocity(const WadiFrictionRateIn *in, WadiRowCell cell, int axis)
{
    return (double)in->velocity[axis][wadi_table_cell(in->velocity_row, wadi_row_cell_index(cell))];
}

/* Velocity along `axis` at the centre of a cell. */
static double centre_velocity(const WadiFrictionRateIn *in, WadiRowCell cell, int axis)
{
    WadiRowCell high = wadi_row_cell_neighbour(in->rows, cell, 2 * axis + 1);
    return 0.5 * (face_velocity(in, cell, axis) + face_velocity(in, high, axis));
}

/* Change of u_axis along another axis, per cell: a central difference, one-sided where only one of the two
 * neighbours is FLUID. */
static double velocity_slope(const WadiFrictionRateIn *in, WadiRowCell cell, int axis, int along)
{
    WadiRowCell low = wadi_row_cell_neighbour(in->rows, cell, 2 * along),
                high = wadi_row_cell_neighbour(in->rows, cell, 2 * along + 1);
    bool has_low = is_fluid(in, low), has_high = is_fluid(in, high);
    if (!has_low && !has_high) {
        return 0.0;
    }
    double change =
        centre_velocity(in, has_high ? high : cell, axis) - centre_velocity(in, has_low ? low : cell, axis);
    return change / (has_low && has_high ? 2.0 : 1.0);
}

/* 2 |D|, |D|^2 = 1/2 sum of the squares of the deviatoric rate of strain, 1/s. */
static double shear_rate(const WadiFrictionRateIn *in, WadiRowCell cell)
{
    double strain[3], mean = 0.0, square = 0.0;
    for (int a = 0; a < 3; ++a) {
        WadiRowCell high = wadi_row_cell_neighbour(in->rows, cell, 2 * a + 1);
        strain[a] = face_velocity(in, high, a) - face_velocity(in, cell, a);
        mean += strain[a] / 3.0;
    }
    for (int a = 0; a < 3; ++a) {
        square += 0.5 * (strain[a] - mean) * (strain[a] - mean);
        for (int b = a + 1; b < 3; ++b) {
            double shear = 0.5 * (velocity_slope(in, cell, a, b) + velocity_slope(in, cell, b, a));
            square += shear * shear;
        }
    }
    return 2.0 * sqrt(square) / in->cell_size;
}

typedef struct Rate {
    const WadiFrictionRateIn *in;
    float *k;
} Rate;

static void rate_rows(void *context, int64_t first, int64_t end)
{
    const Rate *rate = context;
    const WadiFrictionRateIn *in = rate->in;
    for (int32_t row = first > 0 ? (int32_t)first : 1; row < end; ++row) {
        for (unsigned left = in->fluid[row]; left != 0; left &= left - 1) {
            WadiRowCell cell = { row, __builtin_ctz(left) };
            size_t at = wadi_row_cell_index(cell);
            double pressure = in->pressure[wadi_table_cell(in->pressure_row, at)];
            double p = fmax(pressure, 1e-3 * in->gravity_dt) * in->cell_size / in->dt; /* over rho */
            double number = shear_rate(in, cell) * (double)in->grain_size[at] / sqrt(p);
            rate->k[at] *=
                (float)(1.0 + ((double)in->ratio[at] - 1.0) * number / (in->inertial_number + number));
        }
    }
}

void wadi_friction_rate(const WadiFrictionRateIn *in, float *k)
{
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, rate_rows, &(Rate){ in, k });
}
