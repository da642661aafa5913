/* The operator of the viscosity problem and the vector passes of its solver: a row of eight faces is one 256-bit vector, its
 * x-neighbours are shuffles with the rows beside it, and the null row stands for what is missing.
 *   (A u)_a = m u_a - [ N_aa(x) - N_aa(x - a) + sum over b of S_ab(x + b) - S_ab(x) ]
 *   N_aa = normal (u_a(x + a) - u_a(x)),   S_ab = edge (u_a(x) - u_a(x - b) + u_b(x) - u_b(x - a))
 * Differences are taken first: in float a smooth velocity loses nothing. Stresses are written and read again, because they
 * serve two or four faces each. */
#include "flip/flip_viscosity_passes.h"
#include "core/parallel.h"

typedef float F8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t I8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double D4 __attribute__((vector_size(32), aligned(8), may_alias));

#define ROW(array, row) (*(const F8 *)((array) + 8 * (size_t)(row)))
#define ROW_OUT(array, row) (*(F8 *)((array) + 8 * (size_t)(row)))
#define SHIFT_UP(before, row) __builtin_shufflevector(before, row, 7, 8, 9, 10, 11, 12, 13, 14)
#define SHIFT_DOWN(row, after) __builtin_shufflevector(row, after, 1, 2, 3, 4, 5, 6, 7, 8)
#define LOW_HALF(row) __builtin_convertvector(__builtin_shufflevector(row, row, 0, 1, 2, 3), D4)
#define HIGH_HALF(row) __builtin_convertvector(__builtin_shufflevector(row, row, 4, 5, 6, 7), D4)

typedef struct Pass {
    const WadiViscousPasses *passes;
    float *const *p, *const *q, *const *x, *const *r;
    float weight;
} Pass;

static inline __attribute__((always_inline)) void add_product(D4 *sum, const F8 *a, const F8 *b)
{
    *sum += LOW_HALF(*a) * LOW_HALF(*b) + HIGH_HALF(*a) * HIGH_HALF(*b);
}

static inline double sum_of(const D4 *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

static inline __attribute__((always_inline)) void keep_largest(F8 *largest, const F8 *values)
{
    const I8 magnitude = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
                           INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    F8 size = (F8)((I8)*values & magnitude);
    I8 is_larger = size > *largest;
    *largest = (F8)(((I8)size & is_larger) | ((I8)*largest & ~is_larger));
}

static inline double largest_of(const F8 *v)
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
        if (v->acts[row] == 0) {
            continue;
        }
        const int32_t *n = v->rows->neighbour[row];
        F8 a = ROW(u0, row), b = ROW(u1, row), c = ROW(u2, row), normal = ROW(v->normal, row);
        ROW_OUT(stress[0], row) = normal * (SHIFT_DOWN(a, ROW(u0, n[WADI_ROW_X_MAX])) - a);
        ROW_OUT(stress[1], row) = normal * (ROW(u1, n[WADI_ROW_Y_MAX]) - b);
        ROW_OUT(stress[2], row) = normal * (ROW(u2, n[WADI_ROW_Z_MAX]) - c);
        F8 b_left = SHIFT_UP(ROW(u1, n[WADI_ROW_X_MIN]), b), c_left = SHIFT_UP(ROW(u2, n[WADI_ROW_X_MIN]), c);
        ROW_OUT(stress[3], row) =
            ROW(v->edge[WADI_VISCOUS_XY], row) * ((a - ROW(u0, n[WADI_ROW_Y_MIN])) + (b - b_left));
        ROW_OUT(stress[4], row) =
            ROW(v->edge[WADI_VISCOUS_XZ], row) * ((a - ROW(u0, n[WADI_ROW_Z_MIN])) + (c - c_left));
        ROW_OUT(stress[5], row) = ROW(v->edge[WADI_VISCOUS_YZ], row) *
                                  ((b - ROW(u1, n[WADI_ROW_Z_MIN])) + (c - ROW(u2, n[WADI_ROW_Y_MIN])));
    }
}

/* Force of the stresses on the low faces of a row. */
static inline __attribute__((always_inline)) void divergence(const WadiFlipViscous *v, float *const stress[6],
                                                             int32_t row, F8 force[3])
{
    const int32_t *n = v->rows->neighbour[row];
    F8 xx = ROW(stress[0], row), xy = ROW(stress[3], row), xz = ROW(stress[4], row), yz = ROW(stress[5], row);
    force[0] = xx - SHIFT_UP(ROW(stress[0], n[WADI_ROW_X_MIN]), xx) +
               (ROW(stress[3], n[WADI_ROW_Y_MAX]) - xy) + (ROW(stress[4], n[WADI_ROW_Z_MAX]) - xz);
    force[1] = ROW(stress[1], row) - ROW(stress[1], n[WADI_ROW_Y_MIN]) +
               (SHIFT_DOWN(xy, ROW(stress[3], n[WADI_ROW_X_MAX])) - xy) +
               (ROW(stress[5], n[WADI_ROW_Z_MAX]) - yz);
    force[2] = ROW(stress[2], row) - ROW(stress[2], n[WADI_ROW_Z_MIN]) +
               (SHIFT_DOWN(xz, ROW(stress[4], n[WADI_ROW_X_MAX])) - xz) +
               (ROW(stress[5], n[WADI_ROW_Y_MAX]) - yz);
}

static double multiply_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const WadiFlipViscous *v = pass->passes->viscous;
    D4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (v->acts[row] == 0) {
            continue;
        }
        F8 force[3];
        divergence(v, pass->passes->stress, row, force);
        for (int a = 0; a < 3; ++a) {
            F8 mass = ROW(v->mass[a], row), p = ROW(pass->p[a], row);
            F8 product = mass * p - force[a];
            product = (F8)((I8)product & (I8)(mass > 0.0f));
            ROW_OUT(pass->q[a], row) = product;
            add_product(&sum, &p, &product);
        }
    }
    return sum_of(&sum);
}

static double force_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    const WadiFlipViscous *v = pass->passes->viscous;
    F8 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (v->acts[row] == 0) {
            continue;
        }
        F8 force[3];
        divergence(v, pass->passes->stress, row, force);
        for (int a = 0; a < 3; ++a) {
            F8 kept = (F8)((I8)force[a] & (I8)(ROW(v->mass[a], row) > 0.0f));
            ROW_OUT(pass->q[a], row) = kept;
            keep_largest(&largest, &kept);
        }
    }
    return largest_of(&largest);
}

static void diagonal_rows(void *context, int64_t first, int64_t end)
{
    const WadiViscousPasses *passes = context;
    const WadiFlipViscous *v = passes->viscous;
    const F8 one = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t *n = v->rows->neighbour[row];
        F8 nn = ROW(v->normal, row), xy = ROW(v->edge[0], row), xz = ROW(v->edge[1], row),
           yz = ROW(v->edge[2], row);
        F8 sum[3];
        sum[0] = nn + SHIFT_UP(ROW(v->normal, n[WADI_ROW_X_MIN]), nn) + xy +
                 ROW(v->edge[0], n[WADI_ROW_Y_MAX]) + xz + ROW(v->edge[1], n[WADI_ROW_Z_MAX]);
        sum[1] = nn + ROW(v->normal, n[WADI_ROW_Y_MIN]) + xy +
                 SHIFT_DOWN(xy, ROW(v->edge[0], n[WADI_ROW_X_MAX])) + yz + ROW(v->edge[2], n[WADI_ROW_Z_MAX]);
        sum[2] = nn + ROW(v->normal, n[WADI_ROW_Z_MIN]) + xz +
                 SHIFT_DOWN(xz, ROW(v->edge[1], n[WADI_ROW_X_MAX])) + yz + ROW(v->edge[2], n[WADI_ROW_Y_MAX]);
        for (int a = 0; a < 3; ++a) {
            F8 mass = ROW(v->mass[a], row);
            I8 is_unknown = mass > 0.0f;
            F8 whole = (F8)(((I8)(mass + sum[a]) & is_unknown) | ((I8)one & ~is_unknown));
            ROW_OUT(passes->inverse[a], row) = (F8)((I8)(one / whole) & is_unknown);
        }
    }
}

static double advance_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    F8 largest = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->acts[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            ROW_OUT(pass->x[a], row) = ROW(pass->x[a], row) + pass->weight * ROW(pass->p[a], row);
            F8 r = ROW(pass->r[a], row) - pass->weight * ROW(pass->q[a], row);
            ROW_OUT(pass->r[a], row) = r;
            keep_largest(&largest, &r);
        }
    }
    return largest_of(&largest);
}

static double scale_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    D4 sum = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->acts[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            F8 r = ROW(pass->r[a], row), z = ROW(pass->passes->inverse[a], row) * r;
            ROW_OUT(pass->x[a], row) = z;
            add_product(&sum, &r, &z);
        }
    }
    return sum_of(&sum);
}

static void direction_rows(void *context, int64_t first, int64_t end)
{
    const Pass *pass = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (pass->passes->viscous->acts[row] == 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            ROW_OUT(pass->p[a], row) = ROW(pass->x[a], row) + pass->weight * ROW(pass->p[a], row);
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
