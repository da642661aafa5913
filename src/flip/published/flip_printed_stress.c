/* The stop rule and the sliding stress as printed. [ZB05 sec. 3.2]
 *   sigma_rigid = rho dx^2 D / dt (eq. 3),  RIGID: sqrt 3 sigma_bar < sin(phi) p + c (eqs. 1, 5)
 *   sigma_f = sin(phi) p D / (sqrt(1/3) |D|_F) (eq. 2)
 * Differs: the sign. The printed stresses are -D and are added with +div: shear would feed itself. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/published/flip_printed.h"
#include "flip/published/flip_rigid_cells.h"

enum { ROW_BLOCK = 256 };

/* Slope of eq. 1 over that of eq. 2: sin / sqrt 3 over sqrt(3/2) sin. */
static const double STOP_OVER_SLIDE = 0.47140452079103168;

typedef struct Stress {
    const WadiFrictionGrid *grid;
    const float *const *velocity;
    const WadiRigidLoad *load;
    const WadiRigidCells *cells;
    float *const *result;
} Stress;

/* Index of a component of a symmetric tensor: xx, yy, zz, xy, xz, yz. */
static const int component[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };

/* Twice the velocity at the centre of a cell. */
static double centre_sum(const Stress *work, int32_t c, int axis)
{
    const float *u = work->velocity[axis];
    return (double)u[c] + (double)u[wadi_cell_neighbour(work->grid->rows, c, 2 * axis + 1)];
}

static void strain_rate(const Stress *work, int32_t c, double rate[6])
{
    const WadiRows *rows = work->grid->rows;
    double gradient[3][3]; /* d u_a / d x_b times dx */
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            const int32_t low = wadi_cell_neighbour(rows, c, 2 * b),
                          high = wadi_cell_neighbour(rows, c, 2 * b + 1);
            gradient[a][b] = a == b ? (double)work->velocity[a][high] - (double)work->velocity[a][c]
                                    : 0.25 * (centre_sum(work, high, a) - centre_sum(work, low, a));
        }
    }
    for (int a = 0; a < 3; ++a) {
        for (int b = a; b < 3; ++b) {
            rate[component[a][b]] = 0.5 * (gradient[a][b] + gradient[b][a]);
        }
    }
}

static void classify_rows(void *context, int64_t first, int64_t end)
{
    const Stress *work = context;
    const WadiRigidLoad *load = work->load;
    for (int32_t c = 8 * (int32_t)(first > 0 ? first : 1); c < 8 * end; ++c) {
        if (!wadi_cell_bit(work->grid->fluid, c)) {
            continue;
        }
        double d[6], square = 0.0, shear = 0.0;
        strain_rate(work, c, d);
        const double mean = (d[0] + d[1] + d[2]) / 3.0;
        for (int n = 0; n < 6; ++n) {
            const double deviator = n < 3 ? d[n] - mean : d[n];
            square += (n < 3 ? 1.0 : 2.0) * d[n] * d[n];
            shear += (n < 3 ? 0.5 : 1.0) * deviator * deviator;
            work->cells->rate[n][c] = (float)d[n];
        }
        const double pressure = load->pressure[wadi_table_cell(work->grid->pressure_row, (size_t)c)];
        const double cohesion = load->cohesion != NULL ? (double)load->cohesion[c] : 0.0;
        const double slide = (double)load->k[c] * pressure; /* sigma_bar of eq. 2 */
        double ratio = 1.0;
        if (sqrt(shear) < STOP_OVER_SLIDE * slide + cohesion) {
            work->cells->rigid[c >> 3] |= (uint8_t)(1 << (c & 7));
        } else {
            ratio = square > 0.0 ? sqrt(2.0) * slide / sqrt(square) : 0.0;
        }
        work->cells->stress_ratio[c] = (float)ratio;
    }
}

WadiStatus wadi_printed_classify(const WadiFrictionGrid *grid, const float *const velocity[3],
                                 const WadiRigidLoad *load, WadiRigidCells *cells, WadiArena *arena,
                                 WadiError *error)
{
    *cells = (WadiRigidCells){ 0 };
    const size_t count = wadi_rows_floats(grid->rows);
    for (int n = 0; n < 6; ++n) {
        WADI_TRY(WADI_ARENA_NEW(arena, &cells->rate[n], count, "strain rates", error));
        memset(cells->rate[n], 0, count * sizeof(float));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->stress_ratio, count, "stresses", error));
    memset(cells->stress_ratio, 0, count * sizeof(float));
    WADI_TRY(WADI_ARENA_NEW(arena, &cells->rigid, (size_t)grid->rows->count, "rigid cells", error));
    memset(cells->rigid, 0, (size_t)grid->rows->count);
    Stress work = { .grid = grid, .velocity = velocity, .load = load, .cells = cells };
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, classify_rows, &work);
    return WADI_OK;
}

/* Stress of a cell over rho dx^2 / dt; 0 in air and in solids. */
static double stress_at(const Stress *work, int32_t c, int a, int b)
{
    return (double)work->cells->stress_ratio[c] * (double)work->cells->rate[component[a][b]][c];
}

static void slide_rows(void *context, int64_t first, int64_t end)
{
    const Stress *work = context;
    const WadiRows *rows = work->grid->rows;
    const int32_t stop = 8 * (int32_t)end;
    for (int32_t c = wadi_cell_with_faces(work->grid, 8 * (int32_t)(first > 0 ? first : 1), stop); c < stop;
         c = wadi_cell_with_faces(work->grid, c + 1, stop)) {
        for (int a = 0; a < 3; ++a) {
            const int32_t low = wadi_cell_neighbour(rows, c, 2 * a);
            if (wadi_cell_bit(work->cells->rigid, c) || wadi_cell_bit(work->cells->rigid, low) ||
                !wadi_face_is_free(work->grid, c, a)) {
                continue;
            }
            double force = stress_at(work, c, a, a) - stress_at(work, low, a, a);
            for (int b = 0; b < 3; ++b) {
                for (int n = 0; n < 2 && b != a; ++n) {
                    const int32_t at = n == 0 ? c : low;
                    force += 0.25 * (stress_at(work, wadi_cell_neighbour(rows, at, 2 * b + 1), a, b) -
                                     stress_at(work, wadi_cell_neighbour(rows, at, 2 * b), a, b));
                }
            }
            work->result[a][c] += (float)force;
        }
    }
}

void wadi_printed_slide(const WadiFrictionGrid *grid, const WadiRigidCells *cells, float *const velocity[3])
{
    Stress work = { .grid = grid, .cells = cells, .result = velocity };
    wadi_parallel_for(grid->rows->count, ROW_BLOCK, slide_rows, &work);
}
