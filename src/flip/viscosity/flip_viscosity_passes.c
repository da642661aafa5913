/* The operator of the viscosity problem and the vector passes of its solver: a row of eight faces is one
 * 256-bit vector, its x-neighbours are shuffles with the adjacent rows, and the null row replaces missing
 * ones.
 *   (A u)_a = m u_a - [ N_aa(x) - N_aa(x - a) + sum over b of S_ab(x + b) - S_ab(x) ]
 *   N_aa = normal (u_a(x + a) - u_a(x)),   S_ab = edge (u_a(x) - u_a(x - b) + u_b(x) - u_b(x - a))
 * Differences are taken first: in float a smooth velocity then loses nothing. Stresses are stored, because
 * each acts on two or four faces. */
#include "flip/viscosity/flip_viscosity_passes.h"
#include "core/parallel.h"
#include "grid/row_vectors.h"

typedef struct Pass {
    const WadiViscousPasses *passes;
    float *const *p, *const *q, *const *x, *const *r;
    float weight;
} Pass;

static inline __attribute__((always_inline)) void add_product(WadiD4 *sum, const WadiF8 *a, const WadiF8 *b)
{
    *sum += WADI_ROW_LOW_DOUBLE(*a) * WADI_ROW_LOW_DOUBLE(*b) +
            WADI_ROW_HIGH_DOUBLE(*a) * WADI_ROW_HIGH_DOUBLE(*b);
}

static inline double sum_of(const WadiD4 *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

static inline __attribute__((always_inline)) void update_largest(WadiF8 *largest, const WadiF8 *values)
{
    const WadiI8 magnitude = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
                               INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    WadiF8 size = (WadiF8)((WadiI8)*values & magnitude);
    WadiI8 is_larger = size > *largest;
    *largest = (WadiF8)(((WadiI8)size & is_larger) | ((WadiI8)*largest & ~is_larger));
}

static inline double largest_of(const WadiF8 *v)
{
    float m = 0.0f;
    for (int l = 0; l < 8; ++l) {
        m = (*v)[l] > m ? (*v)[l] : m;
    }
    return (double)m;
}

static void stress_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const WadiFlipViscous *v = pass->passes->viscous;
    float *const *stress = pass->passes->stress;
    const float *u0 = pass->p[0], *u1 = pass->p[1], *u2 = pass->p[2];
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (v->is_active[row] == 0) {
            continue;
        }
        const int32_t *n = v->rows->neighbour[row];
        WadiF8 a = WADI_ROW(u0, row), b = WADI_ROW(u1, row), c = WADI_ROW(u2, row),
               normal = WADI_ROW(v->normal, row);
        WADI_ROW_OUT(stress[0], row) = normal * (WADI_ROW_SHIFT_DOWN(a, WADI_ROW(u0, n[WADI_ROW_X_MAX])) - a);
        WADI_ROW_OUT(stress[1], row) = normal * (WADI_ROW(u1, n[WADI_ROW_Y_MAX]) - b);
        WADI_ROW_OUT(stress[2], row) = normal * (WADI_ROW(u2, n[WADI_ROW_Z_MAX]) - c);
        WadiF8 b_left = WADI_ROW_SHIFT_UP(WADI_ROW(u1, n[WADI_ROW_X_MIN]), b),
               c_left = WADI_ROW_SHIFT_UP(WADI_ROW(u2, n[WADI_ROW_X_MIN]), c);
        WADI_ROW_OUT(stress[3], row) =
            WADI_ROW(v->edge[WADI_VISCOUS_XY], row) * ((a - WADI_ROW(u0, n[WADI_ROW_Y_MIN])) + (b - b_left));
        WADI_ROW_OUT(stress[4], row) =
            WADI_ROW(v->edge[WADI_VISCOUS_XZ], row) * ((a - WADI_ROW(u0, n[WADI_ROW_Z_MIN])) + (c - c_left));
        WADI_ROW_OUT(stress[5], row) =
            WADI_ROW(v->edge[WADI_VISCOUS_YZ], row) *
            ((b - WADI_ROW(u1, n[WADI_ROW_Z_MIN])) + (c - WADI_ROW(u2, n[WADI_ROW_Y_MIN])));
    }
}

/* The strain of a cell acts at its centre and at its three low edges. */
static void strain_rows(void *context, int64_t first, int64_t end)
{
    const WadiViscousPasses *passes = ((const Pass *)context)->passes;
    const WadiFlipViscous *v = passes->viscous;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t at = passes->strain_row[row];
        for (int n = 0; n < 6 && at != 0 && v->is_active[row] != 0; ++n) {
            const WadiF8 strain = WADI_ROW(passes->strain[n], at);
            WADI_ROW_OUT(passes->stress[n], row) +=
                n < 3 ? WADI_ROW(v->normal, row) * strain : 2.0f * WADI_ROW(v->edge[n - 3], row) * strain;
        }
    }
}

/* Force of the stresses on the low faces of a row. */
static inline __attribute__((always_inline)) void divergence(const WadiFlipViscous *v, float *const stress[6],
                                                             int32_t row, WadiF8 force[3])
{
    const int32_t *n = v->rows->neighbour[row];
    WadiF8 xx = WADI_ROW(stress[0], row), xy = WADI_ROW(stress[3], row), xz = WADI_ROW(stress[4], row),
           yz = WADI_ROW(stress[5], row);
    force[0] = xx - WADI_ROW_SHIFT_UP(WADI_ROW(stress[0], n[WADI_ROW_X_MIN]), xx) +
               (WADI_ROW(stress[3], n[WADI_ROW_Y_MAX]) - xy) + (WADI_ROW(stress[4], n[WADI_ROW_Z_MAX]) - xz);
    force[1] = WADI_ROW(stress[1], row) - WADI_ROW(stress[1], n[WADI_ROW_Y_MIN]) +
               (WADI_ROW_SHIFT_DOWN(xy, WADI_ROW(stress[3], n[WADI_ROW_X_MAX])) - xy) +
               (WADI_ROW(stress[5], n[WADI_ROW_Z_MAX]) - yz);
    force[2] = WADI_ROW(stress[2], row) - WADI_ROW(stress[2], n[WADI_ROW_Z_MIN]) +
               (WADI_ROW_SHIFT_DOWN(xz, WADI_ROW(stress[4], n[WADI_ROW_X_MAX])) - xz) +
               (WADI_ROW(stress[5], n[WADI_ROW_Y_MAX]) - yz);
}

static double multiply_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const WadiFlipViscous *v = pass->passes->viscous;
    WadiD4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (v->is_active[row] == 0) {
            continue;
        }
        WadiF8 force[3];
        divergence(v, pass->passes->stress, row, force);
        for (int a = 0; a < 3; ++a) {
            WadiF8 mass = WADI_ROW(v->mass[a], row), p = WADI_ROW(pass->p[a], row);
            WadiF8 product = mass * p - force[a];
            product = (WadiF8)((WadiI8)product & (WadiI8)(mass > 0.0f));
            WADI_ROW_OUT(pass->q[a], row) = product;
            add_product(&sum, &p, &product);
        }
    }
    return sum_of(&sum);
}

static double force_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const WadiFlipViscous *v = pass->passes->viscous;
    WadiF8 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (v->is_active[row] == 0) {
            continue;
        }
        WadiF8 force[3];
        divergence(v, pass->passes->stress, row, force);
        for (int a = 0; a < 3; ++a) {
            WadiF8 masked = (WadiF8)((WadiI8)force[a] & (WadiI8)(WADI_ROW(v->mass[a], row) > 0.0f));
            WADI_ROW_OUT(pass->q[a], row) = masked;
            update_largest(&largest, &masked);
        }
    }
    return largest_of(&largest);
}

static void diagonal_rows(void *context, int64_t first, int64_t end)
{
    const WadiViscousPasses *passes = context;
    const WadiFlipViscous *v = passes->viscous;
    const WadiF8 one = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *n = v->rows->neighbour[row];
        WadiF8 nn = WADI_ROW(v->normal, row), xy = WADI_ROW(v->edge[0], row), xz = WADI_ROW(v->edge[1], row),
               yz = WADI_ROW(v->edge[2], row);
        WadiF8 sum[3];
        sum[0] = nn + WADI_ROW_SHIFT_UP(WADI_ROW(v->normal, n[WADI_ROW_X_MIN]), nn) + xy +
                 WADI_ROW(v->edge[0], n[WADI_ROW_Y_MAX]) + xz + WADI_ROW(v->edge[1], n[WADI_ROW_Z_MAX]);
        sum[1] = nn + WADI_ROW(v->normal, n[WADI_ROW_Y_MIN]) + xy +
                 WADI_ROW_SHIFT_DOWN(xy, WADI_ROW(v->edge[0], n[WADI_ROW_X_MAX])) + yz +
                 WADI_ROW(v->edge[2], n[WADI_ROW_Z_MAX]);
        sum[2] = nn + WADI_ROW(v->normal, n[WADI_ROW_Z_MIN]) + xz +
                 WADI_ROW_SHIFT_DOWN(xz, WADI_ROW(v->edge[1], n[WADI_ROW_X_MAX])) + yz +
                 WADI_ROW(v->edge[2], n[WADI_ROW_Y_MAX]);
        for (int a = 0; a < 3; ++a) {
            WadiF8 mass = WADI_ROW(v->mass[a], row);
            WadiI8 is_unknown = mass > 0.0f;
            WadiF8 whole = (WadiF8)(((WadiI8)(mass + sum[a]) & is_unknown) | ((WadiI8)one & ~is_unknown));
            WADI_ROW_OUT(passes->inverse[a], row) = (WadiF8)((WadiI8)(one / whole) & is_unknown);
        }
    }
}

static double advance_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    WadiF8 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->is_active[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            WADI_ROW_OUT(pass->x[a], row) =
                WADI_ROW(pass->x[a], row) + pass->weight * WADI_ROW(pass->p[a], row);
            WadiF8 r = WADI_ROW(pass->r[a], row) - pass->weight * WADI_ROW(pass->q[a], row);
            WADI_ROW_OUT(pass->r[a], row) = r;
            update_largest(&largest, &r);
        }
    }
    return largest_of(&largest);
}

static double scale_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    WadiD4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->is_active[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            WadiF8 r = WADI_ROW(pass->r[a], row), z = WADI_ROW(pass->passes->inverse[a], row) * r;
            WADI_ROW_OUT(pass->x[a], row) = z;
            add_product(&sum, &r, &z);
        }
    }
    return sum_of(&sum);
}

static void direction_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->is_active[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            WADI_ROW_OUT(pass->p[a], row) =
                WADI_ROW(pass->x[a], row) + pass->weight * WADI_ROW(pass->p[a], row);
        }
    }
}

static int64_t row_count(const WadiViscousPasses *passes)
{
    return passes->viscous->rows->count;
}

void wadi_viscous_diagonal(const WadiViscousPasses *passes)
{
    wadi_parallel_for(row_count(passes), WADI_VISCOUS_BLOCK, diagonal_rows, (void *)passes);
}

double wadi_viscous_multiply(const WadiViscousPasses *passes, float *const p[3], float *const q[3])
{
    Pass pass = { .passes = passes, .p = p, .q = q };
    wadi_parallel_for(row_count(passes), WADI_VISCOUS_BLOCK, stress_rows, &pass);
    return wadi_parallel_sum(row_count(passes), WADI_VISCOUS_BLOCK, multiply_rows, &pass, passes->partials);
}

double wadi_viscous_force(const WadiViscousPasses *passes, float *const u[3], float *const r[3])
{
    Pass pass = { .passes = passes, .p = u, .q = r };
    wadi_parallel_for(row_count(passes), WADI_VISCOUS_BLOCK, stress_rows, &pass);
    if (passes->strain[0] != NULL) {
        wadi_parallel_for(row_count(passes), WADI_VISCOUS_BLOCK, strain_rows, &pass);
    }
    return wadi_parallel_max(row_count(passes), WADI_VISCOUS_BLOCK, force_rows, &pass, passes->partials);
}

double wadi_viscous_advance(const WadiViscousPasses *passes, float alpha, float *const p[3],
                            float *const q[3], float *const x[3], float *const r[3])
{
    Pass pass = { .passes = passes, .weight = alpha, .p = p, .q = q, .x = x, .r = r };
    return wadi_parallel_max(row_count(passes), WADI_VISCOUS_BLOCK, advance_rows, &pass, passes->partials);
}

double wadi_viscous_scale(const WadiViscousPasses *passes, float *const r[3], float *const z[3])
{
    Pass pass = { .passes = passes, .r = r, .x = z };
    return wadi_parallel_sum(row_count(passes), WADI_VISCOUS_BLOCK, scale_rows, &pass, passes->partials);
}

void wadi_viscous_direction(const WadiViscousPasses *passes, float beta, float *const z[3], float *const p[3])
{
    Pass pass = { .passes = passes, .weight = beta, .x = z, .p = p };
    wadi_parallel_for(row_count(passes), WADI_VISCOUS_BLOCK, direction_rows, &pass);
}
