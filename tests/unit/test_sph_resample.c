/* sph: particles that split, merge and share keep mass, water and momentum. [theory 11.9] */
#include <float.h>

#include "core/random.h"
#include "expect.h"
#include "failing_alloc.h"
#include "sph/adapt/sph_resample.h"
#include "world/water.h"

enum { SIDE = 16 };

static const double OWN[2] = { 1.6, 0.0 }; /* sand, and water whose mass is in the column */

typedef struct Cloud {
    WadiParticles particles;
    WadiArena arena;
    int volume, water, heat;
    float *above, *below;
    uint8_t *may;
    WadiSphLedger ledger;
} Cloud;

static double unit(uint32_t id, int use)
{
    return wadi_random_unit((uint64_t)use, id, WADI_RANDOM_TEST);
}

static double quanta(double x)
{
    return floor(x * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

/* A lattice of spacing 1 with jitter and velocities; every third layer is water. */
static void make_cloud(Cloud *cloud, int side)
{
    WadiError error;
    int32_t first;
    *cloud = (Cloud){ 0 };
    WadiParticles *p = &cloud->particles;
    CHECK_OK(wadi_particles_init(p, &error), error);
    CHECK_OK(wadi_particles_add_column(p, "volume", WADI_TYPE_F64, &cloud->volume, &error), error);
    CHECK_OK(wadi_particles_add_column(p, "water", WADI_TYPE_F64, &cloud->water, &error), error);
    CHECK_OK(wadi_particles_add_column(p, "heat", WADI_TYPE_F32, &cloud->heat, &error), error);
    CHECK_OK(wadi_particles_append(p, (int64_t)side * side * side, &first, &error), error);
    double *volume = wadi_particles_column(p, cloud->volume), *water = wadi_particles_column(p, cloud->water);
    float *heat = wadi_particles_column(p, cloud->heat);
    for (int32_t i = 0; i < p->count; ++i) {
        const uint32_t id = p->id[i];
        p->x[i] = i % side + 0.3 * unit(id, 1), p->y[i] = i / side % side + 0.3 * unit(id, 2);
        p->z[i] = i / side / side + 0.3 * unit(id, 3);
        p->vx[i] = (float)(unit(id, 4) - 0.2), p->vy[i] = (float)(unit(id, 5) - 0.5);
        p->vz[i] = (float)unit(id, 6);
        p->material[i] = i / side / side % 3 == 0;
        volume[i] = quanta(0.8 + 0.4 * unit(id, 7));
        water[i] = p->material[i] == 1 ? volume[i] : quanta(0.3 * unit(id, 8));
        heat[i] = (float)unit(id, 9);
    }
}

static void free_cloud(Cloud *cloud)
{
    wadi_particles_free(&cloud->particles);
    wadi_arena_free(&cloud->arena);
}

static const WadiSolids NO_SOLIDS = { .domain = { { -1e3, -1e3, -1e3 }, { 1e3, 1e3, 1e3 } } };

static WadiSphResampleIn input_of(Cloud *cloud)
{
    return (WadiSphResampleIn){ .particles = &cloud->particles,
                                .solids = &NO_SOLIDS,
                                .nearest = 1.0 / 3.0,
                                .own_mass = OWN,
                                .volume_column = cloud->volume,
                                .sums = { cloud->water },
                                .sum_count = 1,
                                .means = { cloud->heat },
                                .mean_count = 1,
                                .spacing = 1.0,
                                .largest = 8.0,
                                .split_above = cloud->above,
                                .merge_below = cloud->below,
                                .may = cloud->may,
                                .most = INT32_MAX };
}

static WadiStatus resample(Cloud *cloud, double above, double below, WadiError *error)
{
    const size_t count = (size_t)cloud->particles.count;
    WADI_TRY(WADI_ARENA_NEW(&cloud->arena, &cloud->above, count, "test", error));
    WADI_TRY(WADI_ARENA_NEW(&cloud->arena, &cloud->below, count, "test", error));
    WADI_TRY(WADI_ARENA_NEW(&cloud->arena, &cloud->may, count, "test", error));
    for (size_t i = 0; i < count; ++i) {
        cloud->above[i] = (float)above, cloud->below[i] = (float)below;
        cloud->may[i] = WADI_SPH_MAY_SPLIT | WADI_SPH_MAY_MERGE | WADI_SPH_MAY_SHARE;
    }
    const WadiSphResampleIn in = input_of(cloud);
    WADI_TRY(wadi_sph_resample(&in, &cloud->ledger, &cloud->arena, error));
    return wadi_arena_reset(&cloud->arena, error);
}

static void expect_resample(Cloud *cloud, double above, double below)
{
    WadiError error;
    CHECK_OK(resample(cloud, above, below, &error), error);
}

/* Sums over all particles, with what the ledger says. */
typedef struct Totals {
    double volume, water, heat;
    WadiVec3 momentum, spin, centre;
    double energy, size; /* size: sum of m |v|, for relative errors */
} Totals;

static Totals totals_of(Cloud *cloud)
{
    const WadiSphResampleIn in = input_of(cloud);
    const WadiParticles *p = &cloud->particles;
    const double *volume = wadi_particles_column(p, cloud->volume);
    const double *water = wadi_particles_column(p, cloud->water);
    const float *heat = wadi_particles_column(p, cloud->heat);
    Totals t = { .momentum = cloud->ledger.carried,
                 .spin = cloud->ledger.spin,
                 .energy = cloud->ledger.energy };
    for (int32_t i = 0; i < p->count; ++i) {
        const double m = in.own_mass[p->material[i]] * volume[i] + water[i];
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        t.volume += volume[i], t.water += water[i], t.heat += volume[i] * (double)heat[i];
        t.momentum = wadi_add_scaled(t.momentum, v, m);
        t.centre = wadi_add_scaled(t.centre, x, m);
        t.spin = wadi_add_scaled(t.spin, wadi_cross(x, v), m);
        t.energy += 0.5 * m * wadi_dot(v, v);
        t.size += m * wadi_norm(v);
    }
    return t;
}

static double vector_error(WadiVec3 a, WadiVec3 b, double size)
{
    return wadi_norm(wadi_sub(a, b)) / size;
}

static void ten_thousand_events_keep_everything(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_cloud(&cloud, SIDE);
    const Totals before = totals_of(&cloud);
    for (int round = 0; round < 27; ++round) {
        /* Coarser, then finer, then between, where neighbours share. */
        static const double above[3] = { 9.0, 1.5, 2.4 }, below[3] = { 3.0, 0.5, 1.2 };
        expect_resample(&cloud, above[round / 3 % 3], below[round / 3 % 3]);
    }
    const WadiSphLedger *ledger = &cloud.ledger;
    const Totals after = totals_of(&cloud);
    const double momentum = vector_error(after.momentum, before.momentum, before.size);
    const double spin = vector_error(after.spin, before.spin, SIDE * before.size);
    const double centre = vector_error(after.centre, before.centre, wadi_norm(before.centre));
    const double energy = fabs(after.energy - before.energy) / before.energy;
    print_message("%d splits, %d merges, %d shares: errors of momentum %.1e, spin %.1e, centre %.1e, energy "
                  "%.1e; carried %.1e\n",
                  (int)ledger->splits, (int)ledger->merges, (int)ledger->shares, momentum, spin, centre,
                  energy, wadi_norm(ledger->carried) / before.size);
    assert_true(ledger->splits + ledger->merges > 10000 && ledger->shares > 100);
    assert_true(after.volume == before.volume); /* whole quanta */
    assert_true(after.water == before.water);
    CHECK_AT_MOST(momentum, 1e-12);
    CHECK_AT_MOST(spin, 1e-12);
    CHECK_AT_MOST(centre, 1e-12);
    CHECK_AT_MOST(energy, 1e-12);
    CHECK_AT_MOST(fabs(after.heat - before.heat) / before.heat, 1e-5); /* a column of floats */
    /* Without what is carried: no more than the rounding of one particle. */
    CHECK_AT_MOST(wadi_norm(ledger->carried) / before.size, (double)FLT_EPSILON * 10.0 / (SIDE * SIDE));
    free_cloud(&cloud);
}

/* A cloud of two particles. */
static void make_two(Cloud *cloud)
{
    const uint8_t is_removed[8] = { 0, 0, 1, 1, 1, 1, 1, 1 };
    make_cloud(cloud, 2);
    wadi_particles_remove(&cloud->particles, is_removed);
}

/* Two of mass m that part at speed v each lose all their energy, m v^2, and their spin 2 m r v. */
static void a_merge_loses_what_it_must(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_two(&cloud);
    WadiParticles *p = &cloud.particles;
    double *volume = wadi_particles_column(p, cloud.volume), *water = wadi_particles_column(p, cloud.water);
    for (int i = 0; i < 2; ++i) {
        p->material[i] = 0, volume[i] = 1.0, water[i] = 0.4;
        p->x[i] = 5.0 + 0.5 * (2 * i - 1), p->y[i] = 7.0, p->z[i] = 9.0;
        p->vx[i] = 0.0f, p->vy[i] = 3.0f * (float)(2 * i - 1), p->vz[i] = 0.0f;
    }
    expect_resample(&cloud, 4.0, 2.0);
    assert_int_equal(p->count, 1);
    volume = wadi_particles_column(p, cloud.volume), water = wadi_particles_column(p, cloud.water);
    assert_true(volume[0] == 2.0 && water[0] == 0.8);
    CHECK_NEAR(p->x[0], 5.0, 1e-15);
    CHECK_NEAR(cloud.ledger.energy, 2.0 * 9.0, 1e-12);
    CHECK_NEAR(cloud.ledger.spin.z, 2.0 * 2.0 * 0.5 * 3.0, 1e-12);
    assert_true(p->vy[0] == 0.0f);
    free_cloud(&cloud);
}

/* Of the volumes 8 and 1 the large one gives what the small one has, and of 7 and 2 then until they differ
 * by 1.5: 5.4 and 3.6. Their distance grows with the sizes, the centre stays. */
static void neighbours_of_unlike_sizes_share(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_two(&cloud);
    WadiParticles *p = &cloud.particles;
    double *volume = wadi_particles_column(p, cloud.volume), *water = wadi_particles_column(p, cloud.water);
    for (int i = 0; i < 2; ++i) {
        p->material[i] = 0, volume[i] = i == 0 ? 8.0 : 1.0, water[i] = 0.5 * volume[i];
        p->x[i] = i == 0 ? 0.0 : 1.5, p->y[i] = p->z[i] = 0.0;
        p->vx[i] = p->vz[i] = 0.0f, p->vy[i] = i == 0 ? 0.0f : 9.0f;
    }
    const Totals before = totals_of(&cloud);
    expect_resample(&cloud, 27.0, 0.5);
    const Totals after = totals_of(&cloud);
    assert_int_equal(p->count, 2);
    CHECK_NEAR(volume[0], 5.4, 1e-9);
    CHECK_NEAR(volume[1], 3.6, 1e-9);
    assert_true(after.volume == before.volume && after.water == before.water);
    CHECK_NEAR(p->x[1] - p->x[0], 0.5 * (cbrt(5.4) + cbrt(3.6)), 1e-9);
    CHECK_AT_MOST(vector_error(after.centre, before.centre, wadi_norm(before.centre)), 1e-12);
    CHECK_AT_MOST(vector_error(after.momentum, before.momentum, before.size), 1e-12);
    CHECK_AT_MOST(vector_error(after.spin, before.spin, before.size), 1e-12);
    CHECK_NEAR(after.energy, before.energy, 1e-12 * before.energy);
    free_cloud(&cloud);
}

static void a_split_loses_nothing(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_cloud(&cloud, 4);
    double *volume = wadi_particles_column(&cloud.particles, cloud.volume);
    for (int32_t i = 0; i < cloud.particles.count; ++i) {
        volume[i] = 2.0 + 0x1p-36; /* an odd number of quanta: halves differ by one */
    }
    const Totals before = totals_of(&cloud);
    expect_resample(&cloud, 1.9, 0.1);
    const Totals after = totals_of(&cloud);
    assert_int_equal(cloud.particles.count, 128);
    assert_true(after.volume == before.volume && after.water == before.water);
    assert_true(cloud.ledger.energy == 0.0 && wadi_norm(cloud.ledger.spin) == 0.0);
    CHECK_AT_MOST(vector_error(after.momentum, before.momentum, before.size), 1e-14);
    CHECK_AT_MOST(vector_error(after.spin, before.spin, 4.0 * before.size), 1e-14);
    CHECK_AT_MOST(vector_error(after.centre, before.centre, wadi_norm(before.centre)), 1e-14);
    free_cloud(&cloud);
}

/* Whatever the volumes, after enough rounds with fixed bounds nothing happens any more. */
static void events_come_to_an_end(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_cloud(&cloud, 8);
    int64_t last = -1;
    int rounds = 0;
    for (; rounds < 100; ++rounds) {
        const WadiSphLedger *l = &cloud.ledger;
        if (l->splits + l->merges + l->shares == last) {
            break;
        }
        last = l->splits + l->merges + l->shares;
        expect_resample(&cloud, 4.0, 2.0);
    }
    print_message("%d events in %d rounds, %d particles left of 512\n", (int)last, rounds,
                  (int)cloud.particles.count);
    assert_true(rounds < 100);
    assert_true(cloud.particles.count < 300);
    free_cloud(&cloud);
}

/* A particle that may not, does not. */
static void what_may_not_change_stays(void **unused)
{
    (void)unused;
    Cloud cloud;
    make_cloud(&cloud, 4);
    WadiError error;
    const size_t count = (size_t)cloud.particles.count;
    CHECK_OK(WADI_ARENA_NEW(&cloud.arena, &cloud.above, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&cloud.arena, &cloud.below, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&cloud.arena, &cloud.may, count, "test", &error), error);
    for (size_t i = 0; i < count; ++i) {
        cloud.above[i] = 8.0f, cloud.below[i] = 4.0f, cloud.may[i] = i < 2 ? WADI_SPH_MAY_MERGE : 0;
    }
    WadiSphResampleIn in = input_of(&cloud);
    in.first = 1; /* the first of the two sleeps */
    CHECK_OK(wadi_sph_resample(&in, &cloud.ledger, &cloud.arena, &error), error);
    assert_int_equal(cloud.ledger.merges + cloud.ledger.splits + cloud.ledger.shares, 0);
    assert_int_equal(cloud.particles.count, 64);
    free_cloud(&cloud);
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    int failures = 0;
    for (int n = 0, is_done = 0; !is_done; ++n) {
        Cloud cloud;
        WadiError error;
        alloc_calls_left = INT_MAX;
        make_cloud(&cloud, 6);
        double *volume = wadi_particles_column(&cloud.particles, cloud.volume);
        for (int32_t i = 0; i < cloud.particles.count; i += 2) {
            volume[i] = 4.0;
        }
        alloc_calls_left = n;
        is_done = resample(&cloud, 2.5, 1.2, &error) == WADI_OK;
        failures += !is_done;
        alloc_calls_left = INT_MAX;
        free_cloud(&cloud);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    }
    wadi_set_allocator(NULL);
    assert_true(failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_events_keep_everything),
        cmocka_unit_test(a_merge_loses_what_it_must),
        cmocka_unit_test(neighbours_of_unlike_sizes_share),
        cmocka_unit_test(a_split_loses_nothing),
        cmocka_unit_test(events_come_to_an_end),
        cmocka_unit_test(what_may_not_change_stays),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
