/* sph: what lies beside split and merged particles shifts until all lie evenly. [theory 11.9] */
#include <string.h>

#include "expect.h"
#include "sph/adapt/sph_relax.h"

enum { SIDE = 9, COUNT = SIDE * SIDE * SIDE, MIDDLE = COUNT / 2 };

/* Positions are compared as whole numbers of 2^-20 spacings. */
static const double PLACE = 2.0 / 1048576.0;

typedef struct Cloud {
    WadiParticles particles;
    WadiArena arena;
    double volume[COUNT];
    uint8_t is_removed[COUNT], is_changed[COUNT], may_move[COUNT];
} Cloud;

/* A lattice of spacing 2; the one in the middle changed. Only what has all its neighbours may move. */
static void make_cloud(Cloud *cloud)
{
    WadiError error;
    int32_t first;
    *cloud = (Cloud){ 0 };
    WadiParticles *p = &cloud->particles;
    CHECK_OK(wadi_particles_init(p, &error), error);
    CHECK_OK(wadi_particles_append(p, COUNT, &first, &error), error);
    for (int32_t i = 0; i < COUNT; ++i) {
        const int at[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE };
        p->x[i] = 2.0 * at[0], p->y[i] = 2.0 * at[1], p->z[i] = 2.0 * at[2];
        cloud->volume[i] = 1.0;
        cloud->may_move[i] = 1;
        for (int a = 0; a < 3; ++a) {
            cloud->may_move[i] &= at[a] >= 2 && at[a] < SIDE - 2;
        }
    }
    cloud->is_changed[MIDDLE] = 1;
}

static void free_cloud(Cloud *cloud)
{
    wadi_particles_free(&cloud->particles);
    wadi_arena_free(&cloud->arena);
}

static const WadiSolids NO_SOLIDS = { .domain = { { -1e3, -1e3, -1e3 }, { 1e3, 1e3, 1e3 } } };

static WadiSphRelaxIn relax_in(Cloud *cloud)
{
    static WadiSphKernel kernel;
    wadi_sph_kernel_init(&kernel, false);
    return (WadiSphRelaxIn){ .particles = &cloud->particles,
                             .solids = &NO_SOLIDS,
                             .volume = cloud->volume,
                             .spacing = 2.0,
                             .spline = &kernel.of[1],
                             .is_removed = cloud->is_removed,
                             .is_changed = cloud->is_changed,
                             .may_move = cloud->may_move };
}

static WadiStatus relax(Cloud *cloud, WadiError *error)
{
    const WadiSphRelaxIn in = relax_in(cloud);
    return wadi_sph_relax(&in, &cloud->arena, error);
}

/* How far a particle is from its place in the lattice. */
static double distance_off(const Cloud *cloud, int32_t i)
{
    const WadiParticles *p = &cloud->particles;
    const double d[3] = { p->x[i] - 2.0 * (i % SIDE), p->y[i] - 2.0 * (i / SIDE % SIDE),
                          p->z[i] - 2.0 * (i / SIDE / SIDE) };
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double most_off(const Cloud *cloud)
{
    double most = 0.0;
    for (int32_t i = 0; i < COUNT; ++i) {
        most = fmax(most, distance_off(cloud, i));
    }
    return most;
}

static void a_lattice_stays(void **unused)
{
    (void)unused;
    WadiError error;
    Cloud cloud;
    make_cloud(&cloud);
    CHECK_OK(relax(&cloud, &error), error);
    CHECK_AT_MOST(most_off(&cloud), PLACE);
    free_cloud(&cloud);
}

/* It goes back into its gap; those beside it yield a little, and none that may not move does. */
static void a_particle_off_its_place_goes_back(void **unused)
{
    (void)unused;
    WadiError error;
    Cloud cloud;
    make_cloud(&cloud);
    cloud.particles.x[MIDDLE] += 0.6;
    CHECK_OK(relax(&cloud, &error), error);
    print_message("0.3 spacings off before, %.3f after; another one %.3f at most\n",
                  0.5 * distance_off(&cloud, MIDDLE), 0.5 * most_off(&cloud));
    CHECK_AT_MOST(most_off(&cloud), 0.5 * 0.6);
    for (int32_t i = 0; i < COUNT; ++i) {
        assert_true(cloud.may_move[i] != 0 || distance_off(&cloud, i) == 0.0);
    }
    free_cloud(&cloud);
}

/* Neighbours move into the gap of a removed particle, equally far by symmetry. */
static void a_gap_is_filled_from_all_sides(void **unused)
{
    (void)unused;
    WadiError error;
    Cloud cloud;
    make_cloud(&cloud);
    cloud.is_removed[MIDDLE] = 1;
    CHECK_OK(relax(&cloud, &error), error);
    const WadiParticles *p = &cloud.particles;
    const double left = p->x[MIDDLE - 1] - (p->x[MIDDLE] - 2.0),
                 right = p->x[MIDDLE] + 2.0 - p->x[MIDDLE + 1];
    print_message("the two beside a gap move by %.3f and %.3f spacings\n", 0.5 * left, 0.5 * right);
    assert_true(left > 0.0);
    CHECK_NEAR(left, right, 2.0 * PLACE);
    CHECK_NEAR(p->y[MIDDLE - 1], p->y[MIDDLE], PLACE);
    free_cloud(&cloud);
}

/* The lattice stands on a floor half a spacing below its lowest row, and the particle in the middle of that
 * row may move. The floor holds it where it is, and lifts it where it is too low. */
static void a_floor_holds_what_lies_on_it(void **unused)
{
    (void)unused;
    enum { LOW = SIDE / 2 + SIDE * (SIDE / 2) };
    const WadiSolids floor = { .domain = { { -100.0, -100.0, -1.0 }, { 100.0, 100.0, 100.0 } },
                               .closed_sides = WADI_SIDE_Z_MIN };
    for (int n = 0; n < 2; ++n) {
        WadiError error;
        Cloud cloud;
        make_cloud(&cloud);
        memset(cloud.may_move, 0, sizeof cloud.may_move);
        memset(cloud.is_changed, 0, sizeof cloud.is_changed);
        cloud.may_move[LOW] = cloud.is_changed[LOW] = 1;
        cloud.particles.z[LOW] = -0.3 * n;
        WadiSphRelaxIn in = relax_in(&cloud);
        in.solids = &floor;
        CHECK_OK(wadi_sph_relax(&in, &cloud.arena, &error), error);
        print_message("%.2f spacings off before, %.3f after\n", 0.15 * n, 0.5 * distance_off(&cloud, LOW));
        CHECK_AT_MOST(0.5 * distance_off(&cloud, LOW), 0.05);
        free_cloud(&cloud);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lattice_stays),
        cmocka_unit_test(a_particle_off_its_place_goes_back),
        cmocka_unit_test(a_gap_is_filled_from_all_sides),
        cmocka_unit_test(a_floor_holds_what_lies_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
