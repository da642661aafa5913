/* Force of a pressure at the free surface on the faces that it cuts. [ghost fluid: KFL00] */
#include "flip/pressure/flip_tension_push.h"

#include "core/parallel.h"
#include "flip/pressure/flip_project_faces.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct Push {
    const WadiFlipProjectIn *in;
    const float *pressure;
    float *const *velocity;
} Push;

static void push_rows(void *user, int64_t first, int64_t end)
{
    const Push *push = user;
    const WadiFlipProjectIn *in = push->in;
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
            const unsigned here = in->fluid[row];
            const unsigned low = wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
            if ((here ^ low) == 0) {
                continue;
            }
            const size_t at = LANES * (size_t)row;
            float low_pressure[LANES];
            WadiF8 gradient, theta;
            wadi_row_neighbours(in->rows, push->pressure, row, 2 * axis, low_pressure);
            wadi_flip_face_gradient(in, row, axis, &gradient);
            wadi_flip_face_theta(in, row, axis, &theta);
            for (int l = 0; l < LANES; ++l) {
                if (((here ^ low) >> l & 1) == 0) {
                    continue;
                }
                bool is_high = (here >> l & 1) != 0; /* the fluid is on the high side and is pushed upwards */
                float own = push->pressure[at + (size_t)l];
                float inner = is_high ? own : low_pressure[l], outer = is_high ? low_pressure[l] : own;
                float surface = inner + theta[l] * (outer - inner);
                push->velocity[axis][at + (size_t)l] += gradient[l] * (is_high ? surface : -surface);
            }
        }
    }
}

void wadi_flip_push_faces(const WadiFlipProjectIn *in, const float *surface_pressure,
                          float *const velocity[3])
{
    Push push = { in, surface_pressure, velocity };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, push_rows, &push);
}
