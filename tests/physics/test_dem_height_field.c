/* Mode `height_field` of the solver dem: particles and columns hold the same sand. */
#include "dem/dem.h"
#include "same_bytes.h"

#define DEGREE (3.14159265358979323846 / 180.0)

#define SCENE(sides, rest)                                                                                   \
    "wadi: 1\nsolver: dem\ndem: {mode: height_field}\ncell_size: 0.02\nframes: 100\n"                        \
    "domain: {min: [-0.4, -0.4, 0], max: [0.4, 0.4, 0.6]" sides "}\n"                                        \
    "materials: {sand: {kind: sand, friction_angle: 30}}\n" rest

#define POUR                                                                                                 \
    "emitters: [{material: sand, shape: {cylinder: {from: [0, 0, 0.5], to: [0, 0, 0.52], radius: 0.03}}, "   \
    "velocity: [0, 0, -0.5], rate: 0.006, end: 1.5}]\n"
#define BLOCK "bodies: [{material: sand, shape: {box: {min: [-0.3, -0.2, 0], max: [-0.1, 0.1, 0.15]}}}]\n"
#define TABLE                                                                                                \
    "colliders: [{shape: {box: {min: [-0.15, -0.15, 0.1], max: [0.15, 0.15, 0.14]}}}, "                      \
    "{shape: {sphere: {center: [0.25, 0.2, 0.05], radius: 0.12}}}]\n"

static const WadiDemField *field_of(const WadiSim *sim)
{
    return ((const WadiDem *)sim->solver)->field;
}

static int32_t count_frozen(const WadiSim *sim)
{
    const uint8_t *is_frozen = wadi_particles_column(&sim->particles, field_of(sim)->frozen_column);
    int32_t held = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        held += is_frozen[i];
    }
    return held;
}

/* Columns have the volume of the particles that they hold; each gap holds as many as its volume, up to what
 * is left over at its faces; no particle is lost. */
static void check_balance(const WadiSim *sim)
{
    const WadiDemField *field = field_of(sim);
    const WadiDemColumns *c = field->columns;
    int64_t held = 0; /* what drains removed after the step is subtracted in the next one */
    for (int32_t i = 0; i < c->count; ++i) {
        held += field->frozen_count[i];
    }
    assert_true(held == count_frozen(sim) || sim->drained[0] > 0);
    const double volume = (double)held * sim->world->particle_volume;
    CHECK_NEAR(wadi_dem_columns_volume(c), volume, 1e-12 * volume + 1e-18);
    for (int32_t i = 0; i < c->count; ++i) {
        const double own = (c->height[i] - c->floor[i] + c->rolling[i]) / field->height;
        CHECK_NEAR(own, field->frozen_count[i], 4.01);
    }
    assert_int_equal(sim->lost[0], 0);
    assert_int_equal(sim->particles.count, (int32_t)(sim->born[0] - sim->drained[0]));
}

static void test_a_poured_heap_has_the_angle_of_its_sand(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE("", POUR));
    WadiSim *sim = start_sim(scene, 1);
    for (int k = 0; k < 5; ++k) {
        run_frames(sim, 10);
        check_balance(sim);
    }
    const WadiDemColumns *c = field_of(sim)->columns;
    assert_int_equal(count_frozen(sim), sim->particles.count);
    CHECK_NEAR(sim->particles.count * sim->world->particle_volume, 0.009, 1e-5);
    CHECK_AT_MOST(atan(wadi_dem_columns_steepest(c)) / DEGREE, 31.1);
    /* Slope of the flank between two radii, from the mean heights of rings. */
    double sum[2] = { 0.0 }, count[2] = { 0.0 };
    const double radius[2] = { 0.08, 0.18 };
    for (int32_t i = 0; i < c->count; ++i) {
        const double x = c->x0 + (i % c->nx + 0.5) * c->wx, y = c->y0 + (i / c->nx + 0.5) * c->wy;
        for (int k = 0; k < 2; ++k) {
            const bool is_near = fabs(sqrt(x * x + y * y) - radius[k]) < 0.02;
            sum[k] += is_near ? c->height[i] : 0.0;
            count[k] += is_near ? 1.0 : 0.0;
        }
    }
    const double drop = sum[0] / count[0] - sum[1] / count[1];
    const double angle = atan(drop / (radius[1] - radius[0])) / DEGREE;
    print_message("heap of %d: angle of the flank %.1f deg\n", sim->particles.count, angle);
    /* Poured fast, heaps end somewhat below 30 degrees. */
    CHECK_NEAR(angle, 28.0, 3.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_sand_stays_out_of_solids(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE("", POUR BLOCK TABLE));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 36);
    check_balance(sim);
    const WadiParticles *p = &sim->particles;
    int32_t above = 0, below = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const bool is_inside = fabs(p->x[i]) < 0.14 && fabs(p->y[i]) < 0.14;
        assert_false(is_inside && p->z[i] > 0.101 && p->z[i] < 0.139);
        above += is_inside && p->z[i] > 0.139;
        below += is_inside && p->z[i] < 0.101;
    }
    print_message("%d on the table, %d below it\n", above, below);
    assert_true(above > 500 && below > 100);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A drain in the floor makes a funnel; what it takes is gone from the columns. */
static void test_a_drain_makes_a_funnel(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        SCENE("", "bodies: [{material: sand, shape: {box: {min: [-0.4, -0.4, 0], max: [0.4, 0.4, 0.1]}}}]\n"
                  "drains: [{shape: {cylinder: {from: [0, 0, -0.1], to: [0, 0, 0.012], radius: 0.04}}}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t before = sim->particles.count;
    for (int k = 0; k < 5; ++k) {
        run_frames(sim, 10);
        check_balance(sim);
    }
    const WadiDemColumns *c = field_of(sim)->columns;
    const int32_t middle = wadi_dem_columns_at(c, 0.001, 0.001),
                  corner = wadi_dem_columns_at(c, -0.39, -0.39);
    print_message("%d of %d drained, %.3f m in the middle\n", before - sim->particles.count, before,
                  c->height[middle]);
    CHECK_AT_MOST(c->height[middle], 0.03);
    CHECK_NEAR(c->height[corner], 0.1, 0.005);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* What rolls over the edge of the domain leaves through it, and is counted as drained. */
static void test_sand_leaves_by_an_open_side(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        SCENE(", walls: {open: [x_max]}",
              "bodies: [{material: sand, shape: {box: {min: [0, -0.4, 0], max: [0.4, 0.4, 0.2]}}}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t before = sim->particles.count;
    run_frames(sim, 30);
    print_message("%d of %d left\n", (int)sim->drained[0], before);
    assert_true(sim->drained[0] > before / 20);
    assert_int_equal(sim->lost[0], 0);
    assert_int_equal(sim->particles.count, before - (int32_t)sim->drained[0]);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Sand at rest below its angle of repose does not move at all. */
static void test_sand_at_rest_stays_where_it_was_put(void **state)
{
    (void)state;
    WadiScene *scene =
        load_scene(SCENE("", "bodies: [{material: sand, shape: {box: {min: [-0.4, -0.4, 0], max: [0.4, 0.4, "
                             "0.1]}}}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 1);
    WadiVec3 *x = calloc((size_t)sim->particles.count, sizeof(*x));
    assert_non_null(x);
    const WadiParticles *p = &sim->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        x[i] = (WadiVec3){ p->x[i], p->y[i], p->z[i] };
    }
    run_frames(sim, 10);
    for (int32_t i = 0; i < p->count; ++i) {
        assert_true(x[i].x == p->x[i] && x[i].y == p->y[i] && x[i].z == p->z[i]);
    }
    free(x);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A slot narrower than a column and a half: sand that falls into it has the height of its volume. */
static void test_a_narrow_slot_holds_its_volume(void **state)
{
    (void)state;
    for (double wide = 0.025; wide < 0.06; wide += 0.01) {
        char text[512];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: dem\ndem: {mode: height_field}\ncell_size: 0.02\nframes: 100\n"
                 "particles_per_cell: 1\ndomain: {min: [0, 0, 0], max: [0.4, %.9g, 1]}\n"
                 "materials: {sand: {kind: sand}}\n"
                 "bodies: [{material: sand, shape: {box: {min: [0, 0, 0.2], max: [0.4, %.9g, 0.4]}}}]\n",
                 wide, wide);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 24);
        const double volume = sim->particles.count * sim->world->particle_volume;
        print_message("%.3f m wide: mean height %.4f m\n", wide, mean_height(&sim->particles));
        /* Positions are within half a spacing of the column's own. */
        CHECK_NEAR(mean_height(&sim->particles), 0.5 * volume / (0.4 * wide), 0.01);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void test_the_same_bytes_for_any_threads_and_resumed(void **state)
{
    (void)state;
    check_same_bytes(
        SCENE(", walls: {open: [x_max]}", POUR BLOCK TABLE
              "drains: [{shape: {cylinder: {from: [0, -0.3, -0.1], to: [0, -0.3, 0.012], radius: 0.04}}}]\n"),
        8, 7);
}

static void test_what_a_height_field_cannot_do_is_refused(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    WadiScene *scene = NULL;
    def.text = "wadi: 1\nsolver: dem\ndem: {mode: height_field}\ncell_size: 0.02\n"
               "materials: {sand: {kind: sand}}\n" BLOCK;
    assert_int_equal(wadi_scene_load(&scene, &def, &error), WADI_ERR_SCENE);
    assert_non_null(strstr(error.text, "needs a `domain`"));
    scene = load_scene(SCENE("", BLOCK "colliders: [{shape: {sphere: {center: [0, 0, 0.5], radius: 0.05}, "
                                       "translate: {keys: [[0, [0, 0, 0]], [1, [0, 0, -0.4]]]}}}]\n"));
    WadiSimDef sim_def = wadi_default_sim_def();
    WadiSim *sim = NULL;
    assert_int_equal(wadi_sim_create(&sim, scene, &sim_def, &error), WADI_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "moves"));
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_poured_heap_has_the_angle_of_its_sand),
        cmocka_unit_test(test_sand_stays_out_of_solids),
        cmocka_unit_test(test_a_drain_makes_a_funnel),
        cmocka_unit_test(test_sand_leaves_by_an_open_side),
        cmocka_unit_test(test_sand_at_rest_stays_where_it_was_put),
        cmocka_unit_test(test_a_narrow_slot_holds_its_volume),
        cmocka_unit_test(test_the_same_bytes_for_any_threads_and_resumed),
        cmocka_unit_test(test_what_a_height_field_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
