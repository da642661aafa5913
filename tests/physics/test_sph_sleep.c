/* sph: sand and pools at rest sleep, and what disturbs them wakes them. */
#include "same_bytes.h"
#include "sph/sph.h"

static const double spacing = 0.01;

enum { FPS = 30 };

/* A bed of 48 x 4 x 4 spacings, three tiles long; `more` adds to it. */
#define BED(more)                                                                                            \
    "{wadi: 1, name: bed, solver: sph, cell_size: 0.01, particles_per_cell: 1, frames: 999, fps: 30,"        \
    " domain: {min: [0, 0, 0], max: [0.48, 0.04, 0.3], walls: {friction: 0.6, open: [z_max]}},"              \
    " materials: {sand: {kind: sand, density: 1600, friction_angle: 30}}, " more                             \
    " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.48, 0.04, 0.04]}}}]}"

/* A ball that goes up and down in the first tile. */
static const char STIRRED[] =
    BED("colliders: [{name: ball, friction: 0.5, shape: {sphere: {center: [0.08, 0.02, 0.05], radius: 0.015},"
        " translate: {keys: [[0, [0, 0, 0]], [0.3, [0, 0, -0.02]], [0.6, [0, 0, 0]]], repeat: true}}}],");

static WadiSim *start(const char *text, WadiScene **scene)
{
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

static void end(WadiSim *sim, WadiScene *scene)
{
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_bed_falls_asleep_whole_and_stays(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(BED(""), &scene);
    const WadiParticles *p = &sim->particles;
    run_frames(sim, FPS);
    assert_int_equal(wadi_sim_sleeping_particles(sim), p->count);
    const uint64_t hash = wadi_sim_state_hash(sim);
    const int64_t steps = wadi_sim_steps(sim);
    const double x = p->x[0], z = p->z[p->count - 1];
    run_frames(sim, 20 * FPS);
    assert_true(p->x[0] == x && p->z[p->count - 1] == z);
    assert_true(wadi_sim_state_hash(sim) != hash); /* of another time */
    assert_int_equal(wadi_sim_steps(sim), steps + 20 * FPS);
    end(sim, scene);
}

static void test_part_of_a_bed_sleeps_beside_a_stirred_one(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim = start(STIRRED, &scene);
    const WadiParticles *p = &sim->particles;
    const WadiSph *sph = sim->solver;
    const int32_t count = p->count;
    const uint32_t next_id = p->next_id;
    run_frames(sim, FPS);
    const int64_t asleep = wadi_sim_sleeping_particles(sim);
    print_message("%lld of %d asleep\n", (long long)asleep, count);
    assert_true(asleep > count / 4 && asleep < count);
    assert_int_equal(p->count, count); /* the copies are gone */
    assert_int_equal(p->next_id, next_id);
    int64_t sum = 0;
    for (size_t t = 0; t < sph->sleep.tile_count; ++t) {
        sum += sph->sleep.tile[t].count;
    }
    assert_int_equal(sum, asleep);
    /* Sand beside the sleeping tiles rests on them as on sand that is awake. */
    double highest = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        highest = p->x[i] > 0.2 ? fmax(highest, p->z[i]) : highest;
    }
    CHECK_NEAR(highest / spacing, 3.5, 0.4);
    end(sim, scene);
}

static void test_same_bytes_with_a_part_asleep(void **state)
{
    (void)state;
    check_same_bytes(STIRRED, FPS, 8);
}

/* Wakes by a solid that comes, by particles that fall on it, and by particles that are taken away. */
static void test_what_touches_a_bed_wakes_it(void **state)
{
    (void)state;
    const char *scenes[3] = {
        BED("colliders: [{name: ball, shape: {sphere: {center: [0.3, 0.02, 0.2], radius: 0.015}, translate:"
            " {keys: [[0, [0, 0, 0]], [1, [0, 0, 0]], [1.4, [0, 0, -0.17]]]}}}],"),
        BED("emitters: [{material: sand, start: 1, end: 1.2, rate: 1e-4, velocity: [0, 0, -0.5],"
            " shape: {box: {min: [0.3, 0, 0.1], max: [0.34, 0.04, 0.11]}}}],"),
        BED("drains: [{start: 1, end: 1.5, shape: {box: {min: [0.3, 0, 0.02], max: [0.36, 0.04, 0.08]}}}],"),
    };
    for (int n = 0; n < 3; ++n) {
        WadiScene *scene;
        WadiSim *sim = start(scenes[n], &scene);
        run_frames(sim, FPS - 2);
        assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
        int64_t least = sim->particles.count;
        for (int frame = 0; frame < FPS / 2; ++frame) {
            run_frames(sim, 1);
            const int64_t asleep = wadi_sim_sleeping_particles(sim);
            least = asleep < least ? asleep : least;
        }
        print_message("%d: down to %lld of %d asleep\n", n, (long long)least, sim->particles.count);
        assert_true(least < sim->particles.count * 3 / 4);
        run_frames(sim, 2 * FPS);
        assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
        end(sim, scene);
    }
}

/* The same bed, moist; in fine sand water moves slowly. */
#define MOIST(material, more)                                                                                \
    "{wadi: 1, name: bed, solver: sph, cell_size: 0.01, particles_per_cell: 1, frames: 999, fps: 30,"        \
    " domain: {min: [0, 0, 0], max: [0.48, 0.04, 0.3], walls: {friction: 0.6, open: [z_max]}},"              \
    " materials: {sand: {kind: sand, friction_angle: 30, " material "},"                                     \
    " water: {kind: water}}, " more                                                                          \
    " bodies: [{material: sand, saturation: 0.3, shape: {box: {min: [0, 0, 0], max: [0.48, 0.04, 0.04]}}}]}"

static double pore_water(const WadiSim *sim)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += (double)column_of(&sim->particles, "wetness")[i];
    }
    return sum;
}

static void test_moist_sand_sleeps_and_wakes_when_water_arrives(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim =
        start(MOIST("permeability: 1e-10", "emitters: [{material: water, start: 1, end: 1.2, rate: 1e-4,"
                                           " velocity: [0, 0, -0.5], shape: {box: {min: [0.3, 0, 0.1],"
                                           " max: [0.34, 0.04, 0.11]}}}],"),
              &scene);
    run_frames(sim, FPS - 2);
    assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
    const double before = pore_water(sim);
    int64_t least = sim->particles.count;
    for (int frame = 0; frame < FPS; ++frame) {
        run_frames(sim, 1);
        const int64_t asleep = wadi_sim_sleeping_particles(sim);
        least = asleep < least ? asleep : least;
    }
    print_message("down to %lld of %d asleep, water of %.1f particles came into pores\n", (long long)least,
                  sim->particles.count, 0.4 * (pore_water(sim) - before));
    assert_true(least < sim->particles.count * 3 / 4);
    assert_true(pore_water(sim) > before + 1.0);
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    end(sim, scene);
}

/* A ball presses on moist sand that sleeps. */
static void test_moist_sand_wakes_by_a_load(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim =
        start(MOIST("permeability: 1e-10",
                    "colliders: [{name: ball, shape: {sphere: {center: [0.3, 0.02, 0.2], radius: 0.015},"
                    " translate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 0]], [1.4, [0, 0, -0.17]]]}}}],"),
              &scene);
    run_frames(sim, FPS - 2);
    assert_int_equal(wadi_sim_sleeping_particles(sim), sim->particles.count);
    run_frames(sim, FPS / 2);
    assert_true(wadi_sim_sleeping_particles(sim) < sim->particles.count * 3 / 4);
    end(sim, scene);
}

static void test_same_bytes_with_moist_sand_asleep(void **state)
{
    (void)state;
    check_same_bytes(MOIST("permeability: 1e-10",
                           "emitters: [{material: water, start: 0.2, end: 0.4, rate: 1e-5, velocity: [0, 0, "
                           "-0.5], shape: {box: {min: [0, 0, 0.1], max: [0.02, 0.04, 0.11]}}}],"),
                     FPS, 12);
}

/* Sand that dries, and sand in which water still moves by 0.1 of the pores a second, stays awake. */
static void test_sand_whose_water_moves_stays_awake(void **state)
{
    (void)state;
    const char *scenes[2] = { MOIST("permeability: 1e-10, evaporation: 1e-3", ""),
                              MOIST("permeability: 1e-9", "") };
    for (int n = 0; n < 2; ++n) {
        WadiScene *scene;
        WadiSim *sim = start(scenes[n], &scene);
        run_frames(sim, FPS);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
        end(sim, scene);
    }
}

/* Particles of water alone never stop: all of a pool three tiles long falls asleep at once. A drop that falls
 * into its one end wakes all of it. */
static void test_a_pool_sleeps_and_wakes_as_a_whole(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim =
        start("{wadi: 1, solver: sph, cell_size: 0.02, fps: 30, domain: {min: [0, 0, 0], max: [0.44, "
              "0.06, 0.3]}, materials: {water: {kind: water}}, emitters: [{material: water, start: 4, "
              "end: 4.05, rate: 1e-3, shape: {sphere: {center: [0.03, 0.03, 0.25], radius: 0.02}}}], "
              "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.44, 0.06, 0.08]}}}]}",
              &scene);
    const WadiParticles *p = &sim->particles;
    int64_t asleep = 0, frame = 0;
    for (; frame < 4 * FPS && asleep == 0; ++frame) {
        run_frames(sim, 1);
        asleep = wadi_sim_sleeping_particles(sim);
    }
    print_message("asleep after %.2f s, mean height %.4f m\n", (double)frame / FPS, mean_height(p));
    assert_int_equal(asleep, p->count);
    assert_true(mean_speed(p) == 0.0);
    CHECK_NEAR(mean_height(p), 0.04, 0.001);
    run_frames(sim, 4 * FPS + 9 - (int)frame);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    end(sim, scene);
}

static void test_a_pool_that_drains_stays_awake(void **state)
{
    (void)state;
    WadiScene *scene;
    WadiSim *sim =
        start("{wadi: 1, solver: sph, cell_size: 0.02, fps: 30, domain: {min: [0, 0, 0], max: [0.44, "
              "0.06, 0.3]}, materials: {water: {kind: water}}, drains: [{shape: {box: {min: [0, 0, 0], "
              "max: [0.012, 0.012, 0.012]}}}], "
              "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.44, 0.06, 0.08]}}}]}",
              &scene);
    const WadiParticles *p = &sim->particles;
    for (int n = 0; n < 5; ++n) {
        const int32_t before = p->count;
        run_frames(sim, FPS / 3);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
        assert_true(p->count < before || p->count == 0);
    }
    end(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bed_falls_asleep_whole_and_stays),
        cmocka_unit_test(test_part_of_a_bed_sleeps_beside_a_stirred_one),
        cmocka_unit_test(test_same_bytes_with_a_part_asleep),
        cmocka_unit_test(test_what_touches_a_bed_wakes_it),
        cmocka_unit_test(test_moist_sand_sleeps_and_wakes_when_water_arrives),
        cmocka_unit_test(test_moist_sand_wakes_by_a_load),
        cmocka_unit_test(test_same_bytes_with_moist_sand_asleep),
        cmocka_unit_test(test_sand_whose_water_moves_stays_awake),
        cmocka_unit_test(test_a_pool_sleeps_and_wakes_as_a_whole),
        cmocka_unit_test(test_a_pool_that_drains_stays_awake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
