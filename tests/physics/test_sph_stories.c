/* The stories of the gallery's sculptures, on coarse versions of the same files: a sculpture of moist sand
 * stands, water reaches it, its base is wet first, and it slumps. */
#include <math.h>

#include "gallery_entry.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "world/water.h"

/* What is left of the sculpture, by volume. */
typedef struct State {
    double top;       /* m: all but a hundredth of the sand lies below */
    double centre;    /* m: mean height of the sand */
    double low, high; /* saturation of the sand in the lowest fifth and the upper half of its first height */
} State;

static double part_above(const WadiParticles *p, const double *volume, double z)
{
    double all = 0.0, above = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        all += p->material[i] == 0 ? volume[i] : 0.0;
        above += p->material[i] == 0 && p->z[i] > z ? volume[i] : 0.0;
    }
    return above / all;
}

static State look_at(const WadiSim *sim, double height)
{
    const WadiParticles *p = &sim->particles;
    const double *volume = wadi_volume_column(p);
    const float *wetness = column_of(p, "wetness");
    State state = { 0 };
    double low = 0.0, high = 1.0, sum[3] = { 0 }, of[3] = { 0 };
    for (int n = 0; n < 30; ++n) {
        const double middle = 0.5 * (low + high);
        *(part_above(p, volume, middle) > 0.01 ? &low : &high) = middle;
    }
    state.top = high;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] != 0) {
            continue;
        }
        const int where = p->z[i] < 0.2 * height ? 0 : p->z[i] > 0.5 * height ? 1 : 2;
        sum[where] += volume[i] * (double)wetness[i];
        of[where] += volume[i];
        state.centre += volume[i] * p->z[i];
    }
    state.centre /= of[0] + of[1] + of[2];
    state.low = sum[0] / of[0];
    state.high = of[1] > 0.0 ? sum[1] / of[1] : 0.0;
    return state;
}

typedef struct Story {
    const char *name;
    const char *const *sets;
    int set_count;
    int standing, end;     /* frames: before the water is there, and the last one */
    double stands, slumps; /* of the mean height of the sand, at least and at most */
    double wet;            /* saturation of the base in the end, at least */
} Story;

static void check_story(const Story *story)
{
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, story->name, story->sets, story->set_count);
    const double height = look_at(sim, 1.0).top;
    const State start = look_at(sim, height);
    run_frames(sim, story->standing);
    const State before = look_at(sim, height);
    run_frames(sim, story->end - story->standing);
    const State after = look_at(sim, height);
    print_message(
        "%s: %.1f cm tall; before the water its centre at %.2f of its height; at the end %.2f, top %.2f, "
        "base %.2f wet, upper half %.2f\n",
        story->name, 100.0 * height, before.centre / start.centre, after.centre / start.centre,
        after.top / height, after.low, after.high);
    assert_true(before.centre > story->stands * start.centre);
    CHECK_AT_MOST(after.centre, story->slumps * start.centre);
    assert_true(after.low > story->wet);
    assert_true(after.high < after.low);
    CHECK_AT_MOST(fabs(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER)), 1e-12);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_wave_soaks_a_duck(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "cell_size=0.01" : "cell_size=0.014" };
    check_story(&(Story){ "sand-duck", sets, 1, 3, 18, 0.9, 0.95, 0.75 });
}

static void a_bear_slumps_in_a_wave(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "cell_size=0.015" : "cell_size=0.024" };
    check_story(&(Story){ "sand-bear", sets, 1, 3, 53, 0.9, 0.8, 0.9 });
}

/* The meshes are downloaded: a post with a head stands for the bunny, balls for the dragons. */
#define POST                                                                                                 \
    "bodies[0].shape={union: [{cylinder: {from: [0, 0, 0], to: [0, 0, 0.05], radius: 0.035}}, {sphere: "     \
    "{center: [0, 0, 0.08], radius: 0.035}}]}"

static void balls_of_water_bring_a_figure_down(void **unused)
{
    (void)unused;
    const char *const sets[] = { "cell_size=0.011", POST,
                                 "bodies[1].shape={sphere: {center: [-0.11, 0, 0.1], radius: 0.04}}",
                                 "bodies[2].shape={sphere: {center: [0.11, 0, 0.1], radius: 0.04}}" };
    if (!is_long_run()) {
        skip();
    }
    check_story(&(Story){ "sand-bunny-dragons", sets, 4, 1, 50, 0.9, 0.9, 0.7 });
}

static void a_bear_of_water_falls_on_a_figure(void **unused)
{
    (void)unused;
    const char *const sets[] = { "cell_size=0.011", POST };
    if (!is_long_run()) {
        skip();
    }
    check_story(&(Story){ "sand-bunny-bear", sets, 2, 1, 60, 0.9, 0.9, 0.7 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_soaks_a_duck),
        cmocka_unit_test(a_bear_slumps_in_a_wave),
        cmocka_unit_test(balls_of_water_bring_a_figure_down),
        cmocka_unit_test(a_bear_of_water_falls_on_a_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
