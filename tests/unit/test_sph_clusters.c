/* sph: rigid clusters of the papers' rule. */
#include "sph/friction/sph_clusters.h"
#include "sph_slab.h"

static Slab *slab;
static WadiArena arena;
static uint8_t is_rigid[SLAB_MAX];

/* All of a block in the air is rigid. */
static int set_up(void **state)
{
    (void)state;
    slab = slab_create(4096, 0, 0.0); /* places as in the solver */
    enum { SIDE = 10 };
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        const int cell[3] = { n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE) };
        for (int a = 0; a < 3; ++a) {
            slab->x[n][a] = 10.0 + cell[a];
        }
        slab->is_sand[n] = is_rigid[n] = 1;
        slab->inverse_density[n] = n % 2 == 0 ? 1.0f : 0.5f;
        slab->bound[n] = 1.0f;
    }
    slab->count = slab->pairs.count = slab->walls.count = SIDE * SIDE * SIDE;
    slab_find_walls(slab);
    slab_find_pairs(slab);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(slab);
    wadi_arena_free(&arena);
    return 0;
}

typedef struct Momenta {
    double linear[3], angular[3];
} Momenta;

static Momenta momenta(void)
{
    Momenta m = { 0 };
    for (int i = 0; i < slab->count; ++i) {
        const double mass = 1.0 / (double)slab->inverse_density[i];
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            m.linear[a] += mass * (double)slab->velocity[i][a];
            m.angular[a] += mass * (slab->x[i][b] * (double)slab->velocity[i][c] -
                                    slab->x[i][c] * (double)slab->velocity[i][b]);
        }
    }
    return m;
}

static void project(WadiSphClusters *clusters)
{
    WadiError error;
    const WadiSphFrictionIn in = slab_friction(slab);
    CHECK_OK(wadi_sph_clusters_find(clusters, is_rigid, slab->velocity, &in, &arena, &error), error);
    wadi_sph_clusters_move(slab->velocity, clusters, &in);
}

static void test_cluster_keeps_its_momenta_and_has_no_strain(void **state)
{
    (void)state;
    WadiSphClusters clusters;
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            slab->velocity[i][a] = (float)random_signed(5, 3 * (uint64_t)i + (uint64_t)a);
        }
    }
    const Momenta before = momenta();
    project(&clusters);
    const Momenta after = momenta();
    assert_int_equal(clusters.count, 1);
    for (int a = 0; a < 3; ++a) {
        /* The sums are exact but for the rounding of a thousand velocities to floats. */
        CHECK_NEAR(after.linear[a], before.linear[a], 1e-5);
        CHECK_NEAR(after.angular[a], before.angular[a], 2e-4);
    }
    /* Distances do not change. */
    for (int n = 0; n < 100; ++n) {
        const int i = n, j = slab->count - 1 - n;
        double rate = 0.0;
        for (int a = 0; a < 3; ++a) {
            rate += (slab->x[i][a] - slab->x[j][a]) *
                    ((double)slab->velocity[i][a] - (double)slab->velocity[j][a]);
        }
        CHECK_NEAR(rate, 0.0, 1e-5);
    }
}

static void test_rigid_motion_is_unchanged(void **state)
{
    (void)state;
    WadiSphClusters clusters;
    static WadiF4 before[SLAB_MAX];
    for (int i = 0; i < slab->count; ++i) {
        const double *x = slab->x[i];
        slab->velocity[i] = (WadiF4){ (float)(0.3 - 0.2 * x[1]), (float)(0.2 * x[0] - 0.1 * x[2]),
                                      (float)(0.1 * x[1] - 0.4), 0 };
        before[i] = slab->velocity[i];
    }
    project(&clusters);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR(slab->velocity[i][a], before[i][a], 1e-5);
        }
    }
}

/* Points of a lattice: M dx^2 (n^2 - 1) / 6 about each axis. */
static void test_inertia_is_that_of_a_box(void **state)
{
    (void)state;
    WadiSphClusters clusters;
    for (int i = 0; i < slab->count; ++i) {
        slab->inverse_density[i] = 1.0f;
    }
    project(&clusters);
    const WadiSphCluster *c = &clusters.cluster[0];
    const double exact = 1000.0 * (100.0 - 1.0) / 6.0;
    CHECK_NEAR(c->mass, 1000.0, 1e-9);
    CHECK_NEAR(c->inertia.xx / exact, 1.0, 1e-6);
    CHECK_NEAR(c->inertia.yy / exact, 1.0, 1e-6);
    CHECK_NEAR(c->inertia.zz / exact, 1.0, 1e-6);
    CHECK_NEAR(c->inertia.xy / exact, 0.0, 1e-6);
}

/* Particles farther than 1.2 spacings are of different clusters. */
static void test_gap_parts_clusters(void **state)
{
    (void)state;
    WadiSphClusters clusters;
    for (int i = 0; i < slab->count; ++i) {
        slab->x[i][0] += slab->x[i][0] > 14.5 ? 0.3 : 0.0;
    }
    slab_find_pairs(slab);
    project(&clusters);
    assert_int_equal(clusters.count, 2);
    assert_int_equal(clusters.cluster[0].count, 500);
    is_rigid[0] = 0;
    project(&clusters);
    assert_int_equal(clusters.of[0], -1);
    assert_int_equal(clusters.cluster[0].count + clusters.cluster[1].count, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cluster_keeps_its_momenta_and_has_no_strain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rigid_motion_is_unchanged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inertia_is_that_of_a_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gap_parts_clusters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
