/* Values on the faces of a row for the projections. Private to flip_project*.c, flip_relax.c and
 * flip_tension_push.c. */
#ifndef WADI_FLIP_PROJECT_FACES_H
#define WADI_FLIP_PROJECT_FACES_H

#include "flip/pressure/flip_project.h"
#include "flip/pressure/flip_surface.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_vectors.h"

/* theta of the faces on the low side of a row's cells; valid only between fluid and air. */
static inline __attribute__((always_inline)) void wadi_flip_face_theta(const WadiFlipProjectIn *in,
                                                                       int32_t row, int axis, WadiF8 *theta)
{
    *theta = (WadiF8){ 0 } + 1.0f;
    if (in->theta[axis] != NULL) {
        *theta = WADI_ROW(in->theta[axis], row);
    } else if (in->surface_distance != NULL) {
        const WadiF8 own = WADI_ROW(in->surface_distance, row);
        WadiF8 neighbour = WADI_ROW(in->surface_distance, in->rows->neighbour[row][2 * axis]);
        if (axis == 0) {
            neighbour = WADI_ROW_SHIFT_UP(neighbour, own);
        }
        wadi_flip_row_theta(&own, &neighbour, in->fluid[row], theta);
    }
}

/* Velocity change per difference of P on the low faces of a row's cells, (rho_ref / rho_f) / theta_f over the
 * fraction of the face; 0 where the face is closed or touches no fluid. */
static inline __attribute__((always_inline)) void wadi_flip_face_gradient(const WadiFlipProjectIn *in,
                                                                          int32_t row, int axis,
                                                                          WadiF8 *gradient)
{
    const unsigned here = in->fluid[row], low = wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
    *gradient = (WadiF8){ 0 };
    if ((here | low) == 0) {
        return;
    }
    const WadiF8 one = (WadiF8){ 0 } + 1.0f;
    WadiI8 has_any, has_one;
    wadi_row_mask(here | low, &has_any);
    wadi_row_mask(here ^ low, &has_one);
    WadiF8 g = one;
    if (here != low) {
        WadiF8 theta;
        wadi_flip_face_theta(in, row, axis, &theta);
        g = one / WADI_ROW_SELECT(has_one, theta, one);
    }
    if (in->density[axis] != NULL) {
        g *= (float)in->reference_density / WADI_ROW_SELECT(has_any, WADI_ROW(in->density[axis], row), one);
    }
    if (in->fraction[axis] != NULL) {
        g /= WADI_ROW(in->fraction[axis], row);
    }
    WadiI8 is_open = WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, row)) > 0.0f;
    *gradient = (WadiF8)((WadiI8)g & has_any & is_open);
}

/* Net outflow of each cell of a row through the open and closed parts of its faces, by half rows: h times
 * the divergence. */
static inline __attribute__((always_inline)) void wadi_flip_outflow(const WadiFlipProjectIn *in,
                                                                    float *const velocity[3], int32_t row,
                                                                    WadiD4 out[2])
{
    out[0] = out[1] = (WadiD4){ 0 };
    const int32_t solid = wadi_table_row(in->solid_row, row);
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t next = in->rows->neighbour[row][2 * axis + 1];
        const int32_t next_solid = wadi_table_row(in->solid_row, next);
        WadiF8 w0 = WADI_ROW(in->open[axis], solid), w1 = WADI_ROW(in->open[axis], next_solid);
        WadiF8 u0 = WADI_ROW(velocity[axis], row), u1 = WADI_ROW(velocity[axis], next);
        WadiF8 s0 = { 0 }, s1 = { 0 };
        if (in->solid_velocity[axis] != NULL) {
            s0 = WADI_ROW(in->solid_velocity[axis], solid);
            s1 = WADI_ROW(in->solid_velocity[axis], next_solid);
        }
        if (axis == 0) {
            w1 = WADI_ROW_SHIFT_DOWN(w0, w1);
            u1 = WADI_ROW_SHIFT_DOWN(u0, u1);
            s1 = WADI_ROW_SHIFT_DOWN(s0, s1);
        }
        out[0] += (WADI_ROW_LOW_DOUBLE(w1) * WADI_ROW_LOW_DOUBLE(u1) +
                   (1.0 - WADI_ROW_LOW_DOUBLE(w1)) * WADI_ROW_LOW_DOUBLE(s1)) -
                  (WADI_ROW_LOW_DOUBLE(w0) * WADI_ROW_LOW_DOUBLE(u0) +
                   (1.0 - WADI_ROW_LOW_DOUBLE(w0)) * WADI_ROW_LOW_DOUBLE(s0));
        out[1] += (WADI_ROW_HIGH_DOUBLE(w1) * WADI_ROW_HIGH_DOUBLE(u1) +
                   (1.0 - WADI_ROW_HIGH_DOUBLE(w1)) * WADI_ROW_HIGH_DOUBLE(s1)) -
                  (WADI_ROW_HIGH_DOUBLE(w0) * WADI_ROW_HIGH_DOUBLE(u0) +
                   (1.0 - WADI_ROW_HIGH_DOUBLE(w0)) * WADI_ROW_HIGH_DOUBLE(s0));
    }
}

#endif
