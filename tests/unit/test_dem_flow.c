/* Which grains rest in the height field: lattices of grains whose surface, rest and motion are known. */
#include <string.h>

#include "dem/columns/dem_flow.h"
#include "expect.h"

enum { NX = 8, NY = 8, LAYERS = 12 };
static const double D = 0.01;

/* A block of grains of LAYERS layers over 8 x 8 columns of 2 x 2 grains each. */
typedef struct Bed {
    WadiParticles particles;
    WadiDemColumns *columns;
    WadiDemFlow flow;
    WadiArena scratch;
    uint8_t *state;
    uint8_t *quiescent; /* NULL: the surface never freezes */
    float *mark[3];
} Bed;

static int32_t add(Bed *bed, double x, double y, double z)
{
    WadiError error;
    int32_t i = 0;
    CHECK_OK(wadi_particles_append(&bed->particles, 1, &i, &error), error);
    bed->particles.x[i] = x;
    bed->particles.y[i] = y;
    bed->particles.z[i] = z;
    return i;
}

static Bed make_bed(int extra)
{
    WadiError error;
    Bed bed = { 0 };
    CHECK_OK(wadi_particles_init(&bed.particles, &error), error);
    for (int k = 0; k < LAYERS; ++k) {
        for (int j = 0; j < 2 * NY; ++j) {
            for (int i = 0; i < 2 * NX; ++i) {
                add(&bed, (i + 0.5) * D, (j + 0.5) * D, (k + 0.5) * D);
            }
        }
    }
    for (int k = 0; k < extra; ++k) { /* a thin jet above one column, falling */
        const int32_t i = add(&bed, 0.085, 0.085, (LAYERS + 1.0 + 0.5 * k) * D);
        bed.particles.vz[i] = -1.0f;
    }
    CHECK_OK(wadi_dem_columns_create_flat(&bed.columns, NX, NY, 2.0 * D, &error), error);
    wadi_dem_flow_init(&bed.flow, bed.columns, D, 0.5, 9.81);
    const size_t count = (size_t)bed.particles.count;
    bed.state = calloc(count, 1);
    assert_non_null(bed.state);
    for (int a = 0; a < 3; ++a) {
        bed.mark[a] = calloc(count, sizeof(float));
        assert_non_null(bed.mark[a]);
    }
    return bed;
}

/* Marks are the present positions: all grains rest; `mover` moved by half a diameter. */
static WadiDemFlowOut evaluate(Bed *bed, int32_t first, int32_t mover, const uint8_t *disturbed)
{
    WadiError error;
    const WadiParticles *p = &bed->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        bed->mark[0][i] = (float)p->x[i];
        bed->mark[1][i] = (float)p->y[i];
        bed->mark[2][i] = (float)(p->z[i] + (i == mover || p->vz[i] < 0.0f ? 0.5 * D : 0.0));
    }
    const WadiDemFlowIn in = { .particles = p,
                               .first = first,
                               .state = bed->state,
                               .mark = { bed->mark[0], bed->mark[1], bed->mark[2] },
                               .elapsed = bed->flow.interval,
                               .quiescent = bed->quiescent,
                               .disturbed = disturbed };
    WadiDemFlowOut out = { .state = bed->state };
    CHECK_OK(wadi_dem_flow_evaluate(&bed->flow, &in, &out, &bed->scratch, &error), error);
    return out;
}

static void free_bed(Bed *bed)
{
    wadi_dem_columns_destroy(bed->columns);
    wadi_particles_free(&bed->particles);
    wadi_arena_free(&bed->scratch);
    free(bed->state);
    for (int a = 0; a < 3; ++a) {
        free(bed->mark[a]);
    }
}

static int32_t count_frozen(const Bed *bed)
{
    int32_t frozen = 0;
    for (int32_t i = 0; i < bed->particles.count; ++i) {
        frozen += bed->state[i] == WADI_DEM_FROZEN;
    }
    return frozen;
}

/* In the end h is R_min = 3 d below the surface of 12 d, and the 9 layers below freeze, from below. */
static void test_a_bed_at_rest_freezes_up_to_the_least_depth(void **state)
{
    (void)state;
    Bed bed = make_bed(0);
    for (int k = 0; k < 60; ++k) {
        evaluate(&bed, 0, -1, NULL);
        for (int32_t i = 0; i < bed.particles.count; ++i) {
            assert_true(bed.state[i] != WADI_DEM_FROZEN || bed.particles.z[i] < bed.columns->height[0]);
        }
    }
    CHECK_NEAR(bed.columns->height[0], 9.0 * D, 1e-9);
    CHECK_NEAR(bed.columns->height[0] + bed.columns->rolling[0], 12.0 * D, 1e-9);
    assert_int_equal(count_frozen(&bed), 9 * 4 * NX * NY);
    free_bed(&bed);
}

/* A jet is not part of the surface. */
static void test_a_jet_does_not_raise_the_surface(void **state)
{
    (void)state;
    Bed bed = make_bed(40);
    evaluate(&bed, 0, -1, NULL);
    const int32_t column = wadi_dem_columns_at(bed.columns, 0.085, 0.085);
    CHECK_NEAR(bed.columns->height[column] + bed.columns->rolling[column], 12.0 * D, 0.1 * D);
    free_bed(&bed);
}

/* Nothing freezes above a grain that moves. */
static void test_nothing_freezes_above_a_moving_grain(void **state)
{
    (void)state;
    Bed bed = make_bed(0);
    int32_t mover = 0;
    while (fabs(bed.particles.z[mover] - 4.5 * D) > 1e-9) {
        mover += 1;
    }
    const int32_t column = wadi_dem_columns_at(bed.columns, bed.particles.x[mover], bed.particles.y[mover]);
    for (int k = 0; k < 60; ++k) {
        evaluate(&bed, 0, mover, NULL);
    }
    for (int32_t i = 0; i < bed.particles.count; ++i) {
        if (wadi_dem_columns_at(bed.columns, bed.particles.x[i], bed.particles.y[i]) == column) {
            assert_true(bed.state[i] != WADI_DEM_FROZEN || bed.particles.z[i] < 4.0 * D);
        }
    }
    free_bed(&bed);
}

/* Frozen grains wake where the surface sinks towards them, where the sand beside them is gone, and in a
 * stirred gap; they may not freeze again at once. */
static void test_frozen_grains_wake_when_they_lose_cover_or_support(void **state)
{
    (void)state;
    for (int stirred = 0; stirred < 2; ++stirred) {
        Bed bed = make_bed(0);
        uint8_t disturbed[NX * NY] = { 0 };
        for (int k = 0; k < 60; ++k) {
            evaluate(&bed, 0, -1, NULL);
        }
        /* Layers are in the store from below: the frozen ones are its first. */
        const int32_t frozen = count_frozen(&bed);
        assert_int_equal(evaluate(&bed, frozen, -1, NULL).woken, 0);
        if (stirred) {
            disturbed[3 * NX + 3] = 1;
            assert_int_equal(evaluate(&bed, frozen, -1, disturbed).woken, 9 * 4);
        } else {
            for (int32_t i = frozen; i < bed.particles.count; ++i) {
                bed.particles.z[i] -= bed.particles.x[i] < 0.08 ? 1.0 : 0.0; /* far below the floor: gone */
            }
            const WadiDemFlowOut out = evaluate(&bed, frozen, -1, NULL);
            /* Frozen grains are kept up to 2 d below the surface: two layers wake in half of the columns,
             * fewer at the edge, where the smoothed surface is higher. */
            assert_true(out.woken >= 2 * 4 * (NX / 2 - 1) * NY && out.woken <= 2 * 4 * NX / 2 * NY);
            for (int32_t i = 0; i < frozen; ++i) {
                assert_true(bed.state[i] == WADI_DEM_FROZEN || bed.state[i] == WADI_DEM_WOKEN);
            }
        }
        free_bed(&bed);
    }
}

/* Where nothing moves, nor beside it, the sand freezes up to its top. Around a column above which a grain
 * falls 3 d stay awake; one grain is no jet. When a fall begins, those nearer than 2 d wake there. */
static void test_a_calm_surface_freezes_until_something_moves_beside_it(void **state)
{
    (void)state;
    enum { ALL = LAYERS * 4 * NX * NY, BESIDE = 5 * 4 };
    Bed bed = make_bed(1);
    uint8_t calm[NX * NY] = { 0 };
    bed.quiescent = calm;
    for (int k = 0; k < 60; ++k) {
        evaluate(&bed, 0, -1, NULL);
    }
    assert_int_equal(count_frozen(&bed), ALL - 3 * BESIDE);
    bed.particles.vz[ALL] = 0.0f;
    for (int k = 0; k < 60; ++k) {
        evaluate(&bed, 0, -1, NULL);
    }
    assert_int_equal(count_frozen(&bed), ALL);
    bed.particles.vz[ALL] = -1.0f;
    assert_int_equal(evaluate(&bed, 0, -1, NULL).woken, 2 * BESIDE);
    free_bed(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bed_at_rest_freezes_up_to_the_least_depth),
        cmocka_unit_test(test_a_jet_does_not_raise_the_surface),
        cmocka_unit_test(test_nothing_freezes_above_a_moving_grain),
        cmocka_unit_test(test_frozen_grains_wake_when_they_lose_cover_or_support),
        cmocka_unit_test(test_a_calm_surface_freezes_until_something_moves_beside_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
