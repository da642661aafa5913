/* `dem.published: zy10`: what is below the frontier is fixed, all else moves; no grain is lost. */
#include "dem/dem.h"
#include "dem/published/dem_frontier.h"
#include "same_bytes.h"

/* A box of settling grains, 10 diameters wide and about 20 deep. */
#define SCENE(rest)                                                                                          \
    "wadi: 1\nsolver: dem\ndem: {mode: surface_flow, published: zy10}\ncell_size: 0.02\nframes: 100\n"       \
    "domain: {min: [0, 0, 0], max: [0.108, 0.108, 0.4]}\nmaterials: {sand: {kind: sand, friction_angle: "    \
    "30}}\n"                                                                                                 \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.16]}}}]\n" rest

static const double RADIAN = 3.14159265358979324 / 180.0;

static const WadiDem *dem_of(const WadiSim *sim)
{
    return sim->solver;
}

/* The gap of a particle. */
static int32_t gap_of(const WadiSim *sim, int32_t i)
{
    const WadiDemColumns *c = dem_of(sim)->surface->flow.columns;
    const WadiParticles *p = &sim->particles;
    const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
    return column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
}

/* The frontier of a bed ends where nothing is exchanged: R is at its threshold, or h slopes by theta_0, below
 * a surface that is flat. What is below h is fixed and stays exactly where it was. */
static void the_frontier_ends_without_exchange(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE(""));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    WadiVec3 *before = calloc((size_t)count, sizeof *before);
    bool *was_fixed = calloc((size_t)count, sizeof *was_fixed);
    assert_non_null(before);
    assert_non_null(was_fixed);
    WadiError error = { 0 };
    int64_t compared = 0;
    while (sim->frame < 14) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const WadiParticles *p = &sim->particles;
        const WadiDem *dem = dem_of(sim);
        const WadiDemColumns *c = dem->surface->flow.columns;
        assert_int_equal(p->count, count);
        for (int32_t i = 0; i < count; ++i) {
            const bool is_fixed = i < dem->sleep.count;
            const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
            if (is_fixed) {
                assert_true(p->z[i] < c->height[gap_of(sim, i)]);
                assert_true(p->vx[i] == 0.0f && p->vy[i] == 0.0f && p->vz[i] == 0.0f);
            }
            if (is_fixed && was_fixed[p->id[i]]) {
                assert_memory_equal(&x, &before[p->id[i]], sizeof x);
                compared += 1;
            }
            was_fixed[p->id[i]] = is_fixed;
            before[p->id[i]] = x;
        }
    }
    const WadiDem *dem = dem_of(sim);
    const WadiDemColumns *c = dem->surface->flow.columns;
    for (int32_t i = 0; i < c->count; ++i) {
        const double theta = wadi_dem_frontier_angle(c, i) / RADIAN;
        assert_true(c->rolling[i] >= 2.49 * dem->diameter && theta < 31.0);
        assert_true(c->rolling[i] < 2.7 * dem->diameter || theta > 24.0);
    }
    print_message("%d of %d fixed, %.0f comparisons\n", dem->sleep.count, count, (double)compared);
    assert_true(compared > 0 && dem->sleep.count > count / 4);
    free(before);
    free(was_fixed);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* What the printed method lacks: nothing wakes sand that has lost what carries it. A drain takes the bottom
 * of a bed away, and fixed grains hang above it. */
static void fixed_grains_hang_above_a_drain(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE(
        "drains: [{shape: {cylinder: {from: [0.05, 0.05, -0.1], to: [0.05, 0.05, 0.012], radius: 0.03}}, "
        "start: 0.45}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    run_frames(sim, 17);
    const WadiParticles *p = &sim->particles;
    int32_t hanging = 0;
    for (int32_t i = 0; i < dem_of(sim)->sleep.count; ++i) {
        bool is_carried = p->z[i] < 0.008;
        for (int32_t j = 0; j < p->count && !is_carried; ++j) {
            const double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j], dz = p->z[i] - p->z[j];
            is_carried = dz > 0.0 && dx * dx + dy * dy + dz * dz < 0.013 * 0.013;
        }
        hanging += !is_carried;
    }
    print_message("%d of %d drained, %d hang\n", count - p->count, count, hanging);
    assert_true(p->count < count && hanging > 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void it_is_a_method_of_surface_flow(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.text =
        "{wadi: 1, solver: dem, dem: {published: zy10}, cell_size: 0.02, frames: 2, domain: {min: [0, 0, "
        "0], max: [0.1, 0.1, 0.1]}, materials: {sand: {kind: sand}}, bodies: [{material: sand, shape: "
        "{box: {min: [0, 0, 0], max: [0.1, 0.1, 0.05]}}}]}";
    WadiScene *scene = NULL;
    assert_int_not_equal(wadi_scene_load(&scene, &def, &error), WADI_OK);
    assert_non_null(strstr(error.text, "mode: surface_flow"));
}

static void the_same_bytes_for_any_threads_and_resumed(void **unused)
{
    (void)unused;
    check_same_bytes(
        SCENE("drains: [{shape: {cylinder: {from: [0.05, 0.05, -0.1], to: [0.05, 0.05, 0.012], "
              "radius: 0.03}}, start: 0.26}]\nemitters: [{material: sand, shape: {cylinder: {from: "
              "[0.05, 0.05, 0.3], to: [0.05, 0.05, 0.32], radius: 0.02}}, velocity: [0, 0, -0.6], "
              "rate: 2e-4}]\n"),
        6, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frontier_ends_without_exchange),
        cmocka_unit_test(fixed_grains_hang_above_a_drain),
        cmocka_unit_test(it_is_a_method_of_surface_flow),
        cmocka_unit_test(the_same_bytes_for_any_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
