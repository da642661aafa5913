/* Changes of a running simulation: they act, they are refused where they must be, and a record of them
 * repeats the same states for any thread count, through checkpoints and in runs. */
#include "core/alloc.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "wadi/change.h"
#include "wadi/show.h"
#include "world/water.h"

static const char box_text[] =
    "wadi: 1\nname: t\nsolver: %s\ncell_size: 0.05\nframes: 8\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.5]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies: [{material: %s, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.2]}}}]\n"
    "colliders: [{name: ball, shape: {sphere: {center: [0.5, 0.15, 0.1], radius: 0.08}}}]\n";

static WadiScene *make_scene(const char *solver, const char *material)
{
    char text[1024];
    snprintf(text, sizeof text, box_text, solver, material);
    return load_scene(text);
}

static void play(WadiSim *sim, int part)
{
    WadiError error = { 0 };
    int64_t count = 0;
    switch (part) {
    case 0: CHECK_OK(wadi_sim_set(sim, "materials.sand.friction_angle=10", &error), error); break;
    case 1:
        CHECK_OK(wadi_sim_add_particles(sim,
                                        "{material: water, shape: {sphere: {center: [0.15, 0.15, 0.35], "
                                        "radius: 0.08}}, velocity: [0, 0, -1]}",
                                        &count, &error),
                 error);
        assert_true(count > 20);
        break;
    case 2:
        CHECK_OK(wadi_sim_move_collider(sim, "ball", (const double[3]){ -0.15, 0, 0 }, 0.04, &error), error);
        break;
    case 3:
        CHECK_OK(wadi_sim_remove_particles(sim, "{shape: {sphere: {center: [0, 0, 0], radius: 0.12}}}",
                                           &count, &error),
                 error);
        assert_true(count > 5);
        break;
    case 4:
        CHECK_OK(wadi_sim_add_collider(sim,
                                       "{name: wall, shape: {box: {min: [0.4, 0, 0], max: [0.45, 0.3, "
                                       "0.05]}}}",
                                       &error),
                 error);
        break;
    case 5: CHECK_OK(wadi_sim_set(sim, "gravity=[2, 0, -5]", &error), error); break;
    default: break;
    }
}

enum { PARTS = 6 };

/* A played session: changes between steps, also two at one. Returns its record. */
static char *play_all(WadiSim *sim, uint64_t *hash)
{
    WadiError error = { 0 };
    char *text = NULL;
    for (int part = 0; part < PARTS; ++part) {
        play(sim, part);
        for (int i = 0; i < part % 3; ++i) {
            CHECK_OK(wadi_sim_step(sim, &error), error);
        }
    }
    run_frames(sim, 2);
    *hash = wadi_sim_state_hash(sim);
    CHECK_OK(wadi_sim_changes(sim, &text, &error), error);
    return text;
}

static void check_repeats(const char *solver)
{
    WadiError error = { 0 };
    WadiScene *scene = make_scene(solver, "sand");
    WadiSim *sim = start_sim(scene, 1);
    uint64_t hash = 0;
    char *record = play_all(sim, &hash);
    const int64_t steps = wadi_sim_steps(sim);
    wadi_sim_destroy(sim);
    for (int threads = 1; threads <= 5; threads += 2) {
        WadiSim *again = start_sim(scene, threads);
        CHECK_OK(wadi_sim_repeat_changes(again, record, &error), error);
        for (int64_t step = 0; step < steps; ++step) {
            if (step == 2) { /* goes on in another simulation, made of a checkpoint */
                WadiBuffer saved = { 0 };
                WadiSimDef def = wadi_default_sim_def();
                CHECK_OK(wadi_sim_save(again, &saved, &error), error);
                wadi_sim_destroy(again);
                CHECK_OK(wadi_sim_load(&again, scene, &def, saved.bytes, saved.size, &error), error);
                CHECK_OK(wadi_sim_repeat_changes(again, record, &error), error);
                wadi_buffer_release(&saved);
            }
            CHECK_OK(wadi_sim_step(again, &error), error);
        }
        assert_true(wadi_sim_state_hash(again) == hash);
        char *second = NULL;
        CHECK_OK(wadi_sim_changes(again, &second, &error), error);
        assert_string_equal(second, record);
        wadi_text_release(second);
        wadi_sim_destroy(again);
    }
    wadi_text_release(record);
    wadi_scene_destroy(scene);
}

static void a_record_repeats_the_same_states(void **unused)
{
    (void)unused;
    check_repeats("flip");
    check_repeats("sph");
    check_repeats("points");
}

static void a_run_repeats_them_and_resumes(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = make_scene("flip", "sand");
    WadiSim *sim = start_sim(scene, 1);
    uint64_t hash = 0;
    char *record = play_all(sim, &hash);
    char run[600];
    snprintf(run, sizeof run, "%s/changes.run", scratch);
    WadiRunDef def = wadi_default_run_def();
    WadiRunReport report;
    def.folder = run;
    def.changes = record;
    def.threads = 2;
    def.frames = 2;
    CHECK_OK(wadi_run(scene, &def, &report, &error), error);
    def.changes = NULL; /* the folder has them */
    def.mode = WADI_RUN_RESUME;
    def.frames = wadi_sim_frame(sim);
    CHECK_OK(wadi_run(scene, &def, &report, &error), error);
    assert_true(report.state_hash == hash);
    wadi_sim_destroy(sim);
    wadi_text_release(record);
    wadi_scene_destroy(scene);
}

/* Water in the pores of dry sand: as much as the scene's porosity says, in all of it; then none again. */
static void check_wet(const char *solver)
{
    WadiError error = { 0 };
    WadiScene *scene = make_scene(solver, "sand");
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    CHECK_OK(wadi_sim_set_saturation(sim, "sand", 0.5, &error), error);
    WadiView wetness;
    CHECK_OK(wadi_sim_view(sim, "wetness", &wetness, &error), error);
    const int64_t count = wadi_sim_particle_count(sim);
    assert_true(wetness.count == (size_t)count && wetness.type == WADI_VIEW_F32);
    for (size_t i = 0; i < wetness.count; ++i) {
        assert_true(((const float *)wetness.data[0])[i] == 0.5f);
    }
    const double porosity = sim->scene->materials[0].pores.porosity;
    if (wadi_water_column(&sim->particles) != NULL) {
        assert_true(wadi_water_sum(&sim->particles, 0) ==
                    count * (int64_t)floor(0.5 * porosity * WADI_WATER_QUANTA));
        assert_true(sim->water_born - sim->water_drained == wadi_water_sum(&sim->particles, 0));
    }
    CHECK_OK(wadi_sim_step(sim, &error), error);
    CHECK_OK(wadi_sim_set(sim, "materials.sand.friction_angle=20", &error), error); /* it stays wet */
    CHECK_OK(wadi_sim_view(sim, "wetness", &wetness, &error), error);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    const uint64_t hash = wadi_sim_state_hash(sim);
    char *record = NULL;
    CHECK_OK(wadi_sim_changes(sim, &record, &error), error);
    CHECK_OK(wadi_sim_set_saturation(sim, "sand", 0.0, &error), error);
    assert_true(wadi_water_sum(&sim->particles, 0) == 0 && sim->water_born == sim->water_drained);
    wadi_sim_destroy(sim);

    WadiSim *again = start_sim(scene, 2);
    CHECK_OK(wadi_sim_repeat_changes(again, record, &error), error);
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(wadi_sim_step(again, &error), error);
    }
    assert_true(wadi_sim_state_hash(again) == hash);
    wadi_sim_destroy(again);
    wadi_text_release(record);
    wadi_scene_destroy(scene);
}

static void sand_is_wetted_while_it_runs(void **unused)
{
    (void)unused;
    check_wet("sph");
    check_wet("dem");
}

static void wetting_is_refused_where_it_has_no_meaning(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    const char *solvers[2] = { "flip", "sph" };
    for (int i = 0; i < 2; ++i) {
        WadiScene *scene = make_scene(solvers[i], "sand");
        WadiSim *sim = start_sim(scene, 1);
        const uint64_t hash = wadi_sim_state_hash(sim);
        assert_int_equal(wadi_sim_set_saturation(sim, i == 0 ? "sand" : "water", 0.5, &error),
                         WADI_ERR_ARGUMENT);
        assert_int_equal(wadi_sim_set_saturation(sim, "mud", 0.5, &error), WADI_ERR_ARGUMENT);
        assert_int_equal(wadi_sim_set_saturation(sim, NULL, 0.5, &error), WADI_ERR_ARGUMENT);
        assert_int_equal(wadi_sim_set_saturation(sim, "sand", 1.5, &error), WADI_ERR_ARGUMENT);
        assert_int_equal(wadi_sim_set_saturation(sim, "sand", NAN, &error), WADI_ERR_ARGUMENT);
        assert_true(wadi_sim_state_hash(sim) == hash);
        char *record = NULL;
        CHECK_OK(wadi_sim_changes(sim, &record, &error), error);
        assert_string_equal(record, "");
        wadi_text_release(record);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static double mean_of(const WadiSim *sim, const double *values)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += values[i];
    }
    return sum / sim->particles.count;
}

/* Free fall without walls near: the speed after 1/50 s is g / 50. */
static void gravity_acts_from_the_next_step_on(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: points, cell_size: 0.1, fps: 50, materials: {sand: {kind: sand}}, bodies: "
        "[{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_set(sim, "gravity=[0, 3, 0]", &error), error);
    run_frames(sim, 1);
    CHECK_NEAR(sim->particles.vy[0], 0.06, 1e-6);
    CHECK_NEAR(sim->particles.vz[0], 0.0, 1e-9);
    CHECK_OK(wadi_sim_set(sim, "gravity=[0, -3, 0]", &error), error);
    run_frames(sim, 1);
    CHECK_NEAR(sim->particles.vy[0], 0.0, 1e-6);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A heap that sleeps: with less friction it must wake and flow. */
static void less_friction_wakes_a_sleeping_heap(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: flip, cell_size: 0.05, fps: 10, domain: {min: [0, 0, 0], max: [1.2, 0.2, 0.5]}, "
        "materials: {sand: {kind: sand, friction_angle: 40}}, bodies: [{material: sand, shape: {box: "
        "{min: [0, 0, 0], max: [0.4, 0.2, 0.3]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    for (int i = 0; i < 60 && wadi_sim_sleeping_particles(sim) < (int64_t)wadi_sim_particle_count(sim); ++i) {
        run_frames(sim, 1);
    }
    assert_int_equal(wadi_sim_sleeping_particles(sim), wadi_sim_particle_count(sim));
    const double before = mean_of(sim, sim->particles.x);
    run_frames(sim, 3);
    CHECK_NEAR(mean_of(sim, sim->particles.x), before, 0.0);
    CHECK_OK(wadi_sim_set(sim, "materials.sand.friction_angle=4", &error), error);
    run_frames(sim, 8);
    assert_true(mean_of(sim, sim->particles.x) > before + 0.05);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Added material stays out of present particles and solids; what is removed is counted. */
static void added_and_removed_particles_are_accounted_for(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = make_scene("flip", "water");
    WadiSim *sim = start_sim(scene, 2);
    const size_t start = wadi_sim_particle_count(sim);
    int64_t added = -1, removed = -1;
    const char *same = "{material: water, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.2]}}, jitter: 0}";
    CHECK_OK(wadi_sim_add_particles(sim, same, &added, &error), error);
    assert_true(added >= 0 && added < (int64_t)start / 20);
    const char *ball = "{material: sand, shape: {sphere: {center: [0.5, 0.15, 0.1], radius: 0.075}}}";
    CHECK_OK(wadi_sim_add_particles(sim, ball, &added, &error), error);
    assert_int_equal(added, 0);
    const size_t present = wadi_sim_particle_count(sim);
    /* A box of 4 x 4 x 2 cells with 8 particles each, in the air. */
    const char *air = "{material: sand, shape: {box: {min: [0, 0, 0.35], max: [0.2, 0.2, 0.45]}}, jitter: 0}";
    CHECK_OK(wadi_sim_add_particles(sim, air, &added, &error), error);
    assert_int_equal(added, 4 * 4 * 2 * 8);
    run_frames(sim, 1);
    CHECK_OK(wadi_sim_remove_particles(sim,
                                       "{material: sand, shape: {box: {min: [-1, -1, -1], max: [2, 2, 2]}}}",
                                       &removed, &error),
             error);
    assert_int_equal(removed, 4 * 4 * 2 * 8);
    assert_int_equal(wadi_sim_particle_count(sim), present);
    assert_int_equal(wadi_sim_drained_particles(sim), removed);
    CHECK_NEAR(wadi_sim_mass_drift(sim, -1), 0.0, 0.0);
    run_frames(sim, 1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A ball that moves by 0.3 m in 0.1 s is there after it, and pushed the sand ahead. */
static void a_collider_moves_in_a_straight_line(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = make_scene("flip", "sand");
    WadiSim *sim = start_sim(scene, 2);
    run_frames(sim, 2);
    CHECK_OK(wadi_sim_move_collider(sim, "ball", (const double[3]){ -0.3, 0, 0 }, 0.1, &error), error);
    const double start = wadi_sim_time(sim);
    const WadiCurve *translate = &sim->scene->colliders[0].shape.translate;
    CHECK_NEAR(wadi_curve_value3(translate, start + 0.05).x, -0.15, 1e-12);
    run_frames(sim, 6);
    translate = &sim->scene->colliders[0].shape.translate;
    CHECK_NEAR(wadi_curve_value3(translate, wadi_sim_time(sim)).x, -0.3, 1e-12);
    const WadiParticles *p = &sim->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        const double d = hypot(hypot(p->x[i] - 0.2, p->y[i] - 0.15), p->z[i] - 0.1);
        assert_true(d > 0.08 - 0.003);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void what_cannot_change_is_refused(void **unused)
{
    (void)unused;
    static const char *const cannot[] = { "cell_size=0.02",
                                          "solver=sph",
                                          "fps=25",
                                          "seed=4",
                                          "domain.max=[2,2,2]",
                                          "materials.mud={kind: sand}",
                                          "materials.sand.kind=water" };
    WadiError error = { 0 };
    WadiScene *scene = make_scene("flip", "sand");
    WadiSim *sim = start_sim(scene, 1);
    const uint64_t hash = wadi_sim_state_hash(sim);
    for (size_t i = 0; i < sizeof cannot / sizeof *cannot; ++i) {
        assert_int_equal(wadi_sim_set(sim, cannot[i], &error), WADI_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "cannot change while the simulation runs"));
    }
    assert_int_equal(wadi_sim_set(sim, "gravity=down", &error), WADI_ERR_SCENE);
    assert_int_equal(wadi_sim_set(sim, "gravty=[0,0,0]", &error), WADI_ERR_SCENE);
    assert_int_equal(wadi_sim_set(sim, "", &error), WADI_ERR_SCENE);
    assert_int_equal(wadi_sim_set(sim, NULL, &error), WADI_ERR_ARGUMENT);
    assert_true(wadi_sim_add_particles(sim, "{material: honey, shape: {sphere: {radius: 1}}}", NULL,
                                       &error) != WADI_OK);
    assert_true(wadi_sim_add_particles(sim, "{material: sand}, set: {a: b}", NULL, &error) != WADI_OK);
    assert_true(wadi_sim_add_particles(sim, "[", NULL, &error) != WADI_OK);
    assert_true(wadi_sim_remove_particles(sim, "{material: honey, shape: {sphere: {radius: 1}}}", NULL,
                                          &error) != WADI_OK);
    const double nowhere[3] = { 0, (double)NAN, 0 }, here[3] = { 0, 0, 0 };
    assert_true(wadi_sim_move_collider(sim, "ball", nowhere, 1, &error) != WADI_OK);
    assert_true(wadi_sim_move_collider(sim, "bull", here, 1, &error) != WADI_OK);
    assert_true(wadi_sim_move_collider(sim, "ball", here, -1, &error) != WADI_OK);
    char *record = NULL;
    CHECK_OK(wadi_sim_changes(sim, &record, &error), error);
    assert_string_equal(record, "");
    wadi_text_release(record);
    assert_true(wadi_sim_state_hash(sim) == hash);
    assert_true(wadi_sim_repeat_changes(sim, "- {step: -1, set: a}", &error) != WADI_OK);
    assert_true(wadi_sim_repeat_changes(sim, "- {step: 3, set: a}\n- {step: 2, set: a}", &error) != WADI_OK);
    assert_true(wadi_sim_repeat_changes(sim, "{step: 1}", &error) != WADI_OK);
    CHECK_OK(wadi_sim_repeat_changes(sim, "- {step: 0, set: gravty=1}", &error), error);
    assert_int_equal(wadi_sim_step(sim, &error), WADI_ERR_SCENE);
    assert_non_null(strstr(error.text, "change 1, at step 0"));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_repeats_the_same_states),
        cmocka_unit_test(a_run_repeats_them_and_resumes),
        cmocka_unit_test(sand_is_wetted_while_it_runs),
        cmocka_unit_test(wetting_is_refused_where_it_has_no_meaning),
        cmocka_unit_test(gravity_acts_from_the_next_step_on),
        cmocka_unit_test(less_friction_wakes_a_sleeping_heap),
        cmocka_unit_test(added_and_removed_particles_are_accounted_for),
        cmocka_unit_test(a_collider_moves_in_a_straight_line),
        cmocka_unit_test(what_cannot_change_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
