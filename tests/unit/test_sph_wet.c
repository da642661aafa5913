/* Scenes with water in sand: no water is lost, results do not depend on threads, solvers without pores say
 * so. */
#include "io/scene/scene_parse.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "world/water.h"

#define POUR                                                                                                 \
    "{wadi: 1, name: pour, solver: sph, cell_size: 0.02, frames: 30, fps: 60,"                               \
    " domain: {min: [0, 0, 0], max: [0.08, 0.06, 0.1]},"                                                     \
    " materials: {sand: {kind: sand, evaporation: 0.5}, water: {kind: water}},"                              \
    " bodies: [{material: sand, saturation: 0.1, shape: {box: {min: [0, 0, 0], max: [0.08, 0.06, 0.04]}}},"  \
    "          {material: water, shape: {box: {min: [0, 0, 0.04], max: [0.03, 0.06, 0.07]}}}],"              \
    " emitters: [{material: water, rate: 1e-4, velocity: [0, 0, -1],"                                        \
    "             shape: {sphere: {center: [0.06, 0.03, 0.085], radius: 0.01}}},"                            \
    "            {material: sand, saturation: 0.4, rate: 2e-5, velocity: [0, 0, -0.5],"                      \
    "             shape: {sphere: {center: [0.03, 0.03, 0.09], radius: 0.008}}}],"                           \
    " drains: [{shape: {box: {min: [0.06, 0, 0], max: [0.08, 0.06, 0.012]}}, start: 0.05}]}"

/* Also through emitters, drains and evaporation, all of which happen. */
static void no_water_is_lost_in_a_run(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(POUR);
    WadiSim *sim = start_sim(scene, 1);
    for (int frame = 0; frame < 8; ++frame) {
        run_frames(sim, 1);
        assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
        assert_true(wadi_sim_mass_drift(sim, -1) == 0.0);
        const float *wetness = column_of(&sim->particles, "wetness");
        for (int32_t i = 0; i < sim->particles.count; ++i) {
            assert_true(wetness[i] >= 0.0f && wetness[i] <= 1.0f);
        }
    }
    WadiError error = { 0 };
    WadiState state = { 0 };
    const WadiStateArray *radius = NULL, *density = NULL;
    const size_t count = (size_t)sim->particles.count;
    CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
    CHECK_OK(wadi_state_expect(&state, "radius", WADI_TYPE_F32, 1, count, &radius, &error), error);
    CHECK_OK(wadi_state_expect(&state, "density", WADI_TYPE_F32, 1, count, &density, &error), error);
    for (size_t i = 0; i < count; ++i) {
        const double water = wadi_water_column(&sim->particles)[i];
        const bool is_sand = sim->particles.material[i] == 0;
        const double r = (double)((const float *)radius->data)[i];
        CHECK_NEAR(r * r * r, 0.005 * 0.005 * 0.005 * (is_sand ? 1.0 : water), 1e-12);
        CHECK_NEAR(((const float *)density->data)[i], is_sand ? 1600.0 + 1000.0 * water : 1000.0, 1e-3);
    }
    wadi_state_free(&state);
    assert_true(sim->water_drained > 0 && sim->water_evaporated > 0);
    const int64_t poured = sim->emit[0].emitted > 0 ? (int64_t)sim->emit[0].emitted : 0;
    assert_true(poured > 10 && sim->water_born > poured);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void the_flow_does_not_depend_on_threads(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(POUR);
    uint64_t hash[2];
    for (int n = 0; n < 2; ++n) {
        WadiSim *sim = start_sim(scene, n == 0 ? 1 : 3);
        run_frames(sim, 3);
        hash[n] = wadi_sim_state_hash(sim);
        wadi_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1]);
    wadi_scene_destroy(scene);
}

static void a_checkpoint_holds_the_water(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(POUR);
    WadiSim *sim = start_sim(scene, 1);
    WadiState state = { 0 };
    run_frames(sim, 2);
    CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
    WadiSim *again = start_sim(scene, 1);
    CHECK_OK(wadi_sim_restore(again, &state, &error), error);
    run_frames(sim, 2);
    run_frames(again, 2);
    assert_true(wadi_sim_state_hash(sim) == wadi_sim_state_hash(again));
    assert_true(again->water_born == sim->water_born && again->water_drained == sim->water_drained);
    assert_true(wadi_sim_mass_drift(again, WADI_MATERIAL_WATER) == 0.0);
    wadi_state_free(&state);
    wadi_sim_destroy(sim);
    wadi_sim_destroy(again);
    wadi_scene_destroy(scene);
}

/* Without permeability water stays where it is, and has its weight and strength. */
static void impermeable_sand_keeps_its_water(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, name: a, solver: sph, cell_size: 0.02, frames: 3, fps: 24,"
        " domain: {min: [0, 0, 0], max: [0.06, 0.06, 0.06]},"
        " materials: {sand: {kind: sand, permeability: 0}, water: {kind: water}},"
        " bodies: [{material: sand, saturation: 0.5,"
        "           shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.02]}}},"
        "          {material: water, shape: {box: {min: [0, 0, 0.02], max: [0.06, 0.06, 0.04]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    const float *wetness = column_of(&sim->particles, "wetness");
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const bool is_sand = sim->particles.material[i] == 0;
        CHECK_NEAR((double)wetness[i], is_sand ? 0.5 : 0.0, 1e-6);
        CHECK_NEAR(wadi_water_column(&sim->particles)[i], is_sand ? 0.2 : 1.0, 1e-9);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* On top of a saturated bed without water near. */
static void water_on_saturated_sand_becomes_a_particle(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(
        "{wadi: 1, name: film, solver: sph, cell_size: 0.02, frames: 3, fps: 240,"
        " domain: {min: [0, 0, 0], max: [0.06, 0.06, 0.1]}, materials: {sand: {kind: sand}, water: {kind: "
        "water}},"
        " bodies: [{material: sand, saturation: 1, shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.04]}}},"
        "          {material: water, shape: {box: {min: [0, 0, 0.08], max: [0.02, 0.02, 0.1]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    WadiParticles *p = &sim->particles;
    const int32_t count = p->count;
    int32_t top = 0;
    for (int32_t i = 0; i < count; ++i) {
        const bool is_inner = fabs(p->x[i] - 0.035) < 0.008 && fabs(p->y[i] - 0.035) < 0.008;
        top = p->material[i] == 0 && is_inner && p->z[i] > p->z[top] ? i : top;
    }
    const double z = p->z[top];
    wadi_film_column(p)[top] = 0.75;
    sim->water_born += (int64_t)(0.75 * WADI_WATER_QUANTA);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    assert_int_equal(p->count, count + 1);
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    assert_int_equal(p->material[count], 1);
    CHECK_NEAR(wadi_water_column(p)[count], 0.75, 1e-3); /* sand that has lost some takes it from the film */
    CHECK_NEAR(p->z[count], z + 0.8 * 0.01, 0.3 * 0.01);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A layer of sand under a ceiling: d (1 - d) k_s dx against g, with d of half a spacing. */
static void moist_sand_sticks_to_a_ceiling(void **unused)
{
    (void)unused;
    static const struct {
        double stickiness, saturation;
        bool sticks;
    } cases[] = { { 12000.0, 0.4, true }, { 5000.0, 0.4, false }, { 12000.0, 0.95, false } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char text[600];
        snprintf(text, sizeof text,
                 "{wadi: 1, name: a, solver: sph, cell_size: 0.01, frames: 5, fps: 24,"
                 " domain: {min: [0, 0, 0], max: [0.04, 0.04, 0.08]},"
                 " materials: {sand: {kind: sand, stickiness: %g}}, bodies: [{material: sand, saturation: %g,"
                 " jitter: 0, shape: {box: {min: [0, 0, 0.0751], max: [0.04, 0.04, 0.08]}}}]}",
                 cases[n].stickiness, cases[n].saturation);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        assert_int_equal(sim->particles.count, 64);
        run_frames(sim, 4);
        assert_true((mean_height(&sim->particles) > 0.075) == cases[n].sticks);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void count_warnings(void *user, WadiLogLevel level, const char *text)
{
    if (level == WADI_LOG_WARNING && strstr(text, "has no water in sand") != NULL) {
        *(int *)user += 1;
    }
}

static void solvers_without_pores_say_so_once(void **unused)
{
    (void)unused;
    static const struct {
        const char *solver, *keys, *body;
        int warnings;
    } cases[] = {
        { "flip", ", porosity: 0.3, permeability: 1e-10", "", 1 },
        { "points", "", ", saturation: 0.4", 1 },
        { "flip", "", "", 0 },
        { "sph", ", porosity: 0.3", ", saturation: 0.4", 0 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char text[500];
        WadiError error = { 0 };
        snprintf(text, sizeof text,
                 "{wadi: 1, name: a, solver: %s, cell_size: 0.1, frames: 1, fps: 24,"
                 " materials: {sand: {kind: sand%s}},"
                 " bodies: [{material: sand, shape: {box: {center: [0, 0, 0], size: [1, 1, 1]}}%s}]}",
                 cases[n].solver, cases[n].keys, cases[n].body);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = NULL;
        WadiSimDef def = wadi_default_sim_def();
        int warnings = 0;
        def.log = (WadiLog){ .function = count_warnings, .user = &warnings };
        CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
        assert_int_equal(warnings, cases[n].warnings);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void keep_warning(void *user, WadiLogLevel level, const char *text)
{
    if (level == WADI_LOG_WARNING) {
        snprintf(user, 200, "%s", text);
    }
}

/* A scene with settings of its own solver runs with another one, and says in a line what it leaves out. The
 * scene as run is one that can be read again. */
static void settings_of_another_solver_are_left_out(void **unused)
{
    (void)unused;
    static const char text[] =
        "{wadi: 1, solver: flip, cell_size: 0.1, flip: {cfl: 1},\n materials: {m: {kind: water}},"
        " bodies: [{material: m, shape: {box: {center: [0, 0, 0], size: [1, 1, 1]}}}]}";
    static const char *const sets[] = { "solver=sph", "sph.cfl=0.3" };
    WadiError error = { 0 };
    WadiScene *scene = NULL, *again = NULL;
    WadiSim *sim = NULL;
    char said[200] = "";
    const WadiSceneDef read = { .text = text, .sets = sets, .set_count = 2 };
    CHECK_OK(wadi_scene_parse(&scene, &read, &error), error);
    WadiSimDef def = wadi_default_sim_def();
    def.log = (WadiLog){ .function = keep_warning, .user = said };
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    assert_non_null(strstr(said, "flip: settings of another solver have no effect; the solver is sph"));
    const WadiSceneDef record = { .text = scene->source };
    CHECK_OK(wadi_scene_parse(&again, &record, &error), error);
    assert_true(again->content_hash == scene->content_hash);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    wadi_scene_destroy(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_water_is_lost_in_a_run),
        cmocka_unit_test(the_flow_does_not_depend_on_threads),
        cmocka_unit_test(a_checkpoint_holds_the_water),
        cmocka_unit_test(impermeable_sand_keeps_its_water),
        cmocka_unit_test(water_on_saturated_sand_becomes_a_particle),
        cmocka_unit_test(moist_sand_sticks_to_a_ceiling),
        cmocka_unit_test(solvers_without_pores_say_so_once),
        cmocka_unit_test(settings_of_another_solver_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
