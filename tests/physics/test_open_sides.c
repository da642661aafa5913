/* Open sides of the domain: particles that cross them are removed and counted as drained; particles poured
 * outside may enter. */
#include "core/state.h"
#include "scene_sim.h"
#include "sim/sim.h"

static int warning_count;

static void count_warnings(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    if (level == WADI_LOG_WARNING) {
        print_message("warning: %s\n", text);
        assert_null(strstr(text, "pours nothing")); /* outside an open side it does pour */
        ++warning_count;
    }
}

static WadiSim *start(const WadiScene *scene, int threads)
{
    WadiError error = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    def.log = (WadiLog){ .function = count_warnings };
    WadiSim *sim = NULL;
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    warning_count = 0; /* warnings about the scene are not tested here */
    return sim;
}

/* Number of particles beyond open sides; also checks that all are accounted for and none was lost. */
static int count_outside(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    int64_t born = 0;
    int outside = 0;
    for (int m = 0; m < sim->scene->material_count; ++m) {
        born += sim->born[m];
    }
    assert_int_equal(born, p->count + wadi_sim_drained_particles(sim));
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    assert_int_equal(warning_count, 0);
    for (int32_t i = 0; i < p->count; ++i) {
        outside += !wadi_box_contains(sim->scene->domain, wadi_vec3(p->x[i], p->y[i], p->z[i]));
    }
    return outside;
}

static void water_leaves_through_an_open_side(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene("{wadi: 1, solver: flip, cell_size: 0.04, domain: {min: [0, 0, 0], max: "
                                  "[1, 0.2, 0.5], walls: {friction: 0, open: "
                                  "[x_max]}},\n"
                                  " materials: {water: {kind: water}}, bodies: [{material: water, shape: "
                                  "{box: {min: [0, 0, 0], max: [0.4, 0.2, "
                                  "0.4]}}}]}\n");
    WadiSim *sim = start(scene, 1);
    int64_t begin = sim->particles.count;
    for (int frame = 2; frame <= 61; ++frame) {
        run_frames(sim, 1);
        assert_int_equal(count_outside(sim), 0);
    }
    /* 0.4 m of water, an edge 0.6 m away: nearly all of it has fallen over the edge after 2.5 s. */
    print_message("drained %lld of %lld\n", (long long)wadi_sim_drained_particles(sim), (long long)begin);
    assert_true((double)wadi_sim_drained_particles(sim) > 0.8 * (double)begin);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void each_side_removes(void **unused)
{
    (void)unused;
    static const char *const side[6] = { "x_min", "x_max", "y_min", "y_max", "z_min", "z_max" };
    static const char *const solver[2] = { "points", "flip" };
    for (int s = 0; s < 12; ++s) {
        double g[3] = { 0 };
        char text[600];
        g[s % 6 / 2] = s % 2 == 0 ? -9.81 : 9.81;
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: %s, cell_size: 0.05, gravity: [%g, %g, %g],\n"
                 " domain: {min: [-0.5, -0.5, -0.5], max: [0.5, 0.5, 0.5], walls: {open: [%s]}},\n"
                 " materials: {water: {kind: water}},\n"
                 " bodies: [{material: water, shape: {sphere: {center: [0, 0, 0], radius: 0.15}}}]}\n",
                 solver[s / 6], g[0], g[1], g[2], side[s % 6]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start(scene, 1);
        for (int frame = 2; frame <= 11; ++frame) { /* a fall of 0.65 m takes 0.36 s */
            run_frames(sim, 1);
            assert_int_equal(count_outside(sim), 0);
        }
        assert_int_equal(sim->particles.count, 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A jet from above that rises first, and one from the side: all of it arrives. */
static void what_is_poured_outside_comes_in(void **unused)
{
    (void)unused;
    static const char *const solver[2] = { "points", "flip" };
    for (int s = 0; s < 2; ++s) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: %s, cell_size: 0.05, domain: {min: [0, 0, 0], max: [1, 1, 1], walls: "
                 "{open: [z_max, x_min]}},\n"
                 " materials: {water: {kind: water}},\n"
                 " emitters: [{material: water, velocity: [0, 0, 1], rate: 0.01, end: 0.3, shape: {sphere: "
                 "{center: [0.8, 0.3, "
                 "1.2], radius: 0.1}}},\n"
                 "  {material: water, velocity: [2, 0, 1], rate: 0.01, end: 0.3, shape: {sphere: {center: "
                 "[-0.3, 0.5, 0.6], "
                 "radius: 0.1}}}]}\n",
                 solver[s]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start(scene, 1);
        run_frames(sim, 4);
        assert_true(count_outside(sim) > 0);
        run_frames(sim, 14);
        assert_int_equal(count_outside(sim), 0);
        assert_int_equal(wadi_sim_drained_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* An emitter inside whose jet is outside after its first step, and a fountain through an open top. */
static void a_jet_that_leaves_is_gone(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene("{wadi: 1, solver: points, cell_size: 0.05, domain: {min: [0, 0, 0], max: "
                                  "[1, 1, 1], walls: {open: [z_max, x_max]}},\n"
                                  " materials: {water: {kind: water}},\n"
                                  " emitters: [{material: water, velocity: [20, 0, 0], rate: 0.01, shape: "
                                  "{sphere: {center: [0.9, 0.5, 0.5], radius: "
                                  "0.05}}},\n"
                                  "  {material: water, velocity: [0, 0, 5], rate: 0.01, shape: {sphere: "
                                  "{center: [0.4, 0.5, 0.5], radius: 0.05}}}]}\n");
    WadiSim *sim = start(scene, 1);
    for (int frame = 2; frame <= 25; ++frame) {
        run_frames(sim, 1);
        assert_int_equal(count_outside(sim), 0);
    }
    assert_true(sim->particles.count < 0.2 * (double)sim->born[0]);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void threads_and_resume_give_the_same_bytes(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene =
        load_scene("{wadi: 1, solver: flip, cell_size: 0.05, domain: {min: [0, 0, 0], max: [1, 0.5, 0.5], "
                   "walls: {open: [z_max, x_max]}},\n"
                   " materials: {water: {kind: water}, sand: {kind: sand}},\n"
                   " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.8, 0.5, 0.4]}}}],\n"
                   " emitters: [{material: sand, velocity: [0, 0, -3], rate: 0.02, shape: {sphere: {center: "
                   "[0.5, 0.25, 1], radius: "
                   "0.1}}}]}\n");
    WadiSim *one = start(scene, 1), *five = start(scene, 5), *again = NULL;
    run_frames(one, 6);
    run_frames(five, 6);
    assert_true(wadi_sim_state_hash(one) == wadi_sim_state_hash(five));
    WadiState state = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    CHECK_OK(wadi_sim_snapshot(one, &state, &error), error);
    CHECK_OK(wadi_sim_create_empty(&again, scene, &def, &error), error);
    CHECK_OK(wadi_sim_restore(again, &state, &error), error);
    wadi_state_free(&state);
    run_frames(one, 4);
    run_frames(again, 4);
    assert_true(wadi_sim_drained_particles(one) > 0);
    assert_int_equal(wadi_sim_drained_particles(one), wadi_sim_drained_particles(again));
    assert_true(wadi_sim_state_hash(one) == wadi_sim_state_hash(again));
    wadi_sim_destroy(one);
    wadi_sim_destroy(five);
    wadi_sim_destroy(again);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_leaves_through_an_open_side),      cmocka_unit_test(each_side_removes),
        cmocka_unit_test(what_is_poured_outside_comes_in),        cmocka_unit_test(a_jet_that_leaves_is_gone),
        cmocka_unit_test(threads_and_resume_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
