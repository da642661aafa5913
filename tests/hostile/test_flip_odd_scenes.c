/* Scenes at the edge of sense: the flip solver runs them without losing a particle or a number, or says what
 * is wrong. */
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

#define CUBE "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"

/* All warnings of a run: those about the scene come before the first step. */
typedef struct Warnings {
    char about_scene[1500], about_run[1500];
    bool is_running;
} Warnings;

static void remember(void *context, WadiLogLevel level, const char *text)
{
    Warnings *warnings = context;
    char *to = warnings->is_running ? warnings->about_run : warnings->about_scene;
    if (level == WADI_LOG_WARNING) {
        size_t length = strlen(to);
        snprintf(to + length, sizeof warnings->about_run - length, "%s\n", text);
    }
}

/* Runs `frames` frames. Returns the particles. */
static int64_t run_odd(const char *text, int frames, Warnings *warnings)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(text);
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    def.log = (WadiLog){ remember, warnings };
    WadiSim *sim = NULL;
    *warnings = (Warnings){ 0 };
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    int64_t count = sim->particles.count;
    warnings->is_running = true;
    run_frames(sim, frames);
    assert_int_equal(wadi_particles_find_not_finite(&sim->particles), -1);
    assert_int_equal(sim->particles.count, count);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return count;
}

static void coarse_grids_run(void **unused)
{
    (void)unused;
    Warnings warnings;
    for (int i = 1; i <= 3; i += 2) {
        for (int sand = 0; sand < 2; ++sand) {
            char text[400];
            snprintf(text, sizeof text,
                     "wadi: 1\nsolver: flip\nresolution: %d\n" CUBE "materials: {m: {kind: %s}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.5]}}}]\n",
                     i, sand ? "sand" : "water");
            assert_int_equal(run_odd(text, 6, &warnings), 4 * i * i * i);
            assert_string_equal(warnings.about_run, "");
        }
    }
}

static void bodies_without_particles_are_named(void **unused)
{
    (void)unused;
    Warnings warnings;
    int64_t count = run_odd("wadi: 1\nsolver: flip\nresolution: 20\n" CUBE "materials: {m: {kind: sand}}\n"
                            "bodies: [{material: m, shape: {box: {min: [2, 0, 0], max: [3, 1, 1]}}}]\n",
                            2, &warnings);
    assert_int_equal(count, 0);
    assert_non_null(strstr(warnings.about_scene,
                           ":6:10: bodies[0] of m: this body has no particles: it lies outside the domain"));
    count = run_odd("wadi: 1\nsolver: flip\nresolution: 20\n" CUBE "materials: {m: {kind: sand}}\n"
                    "bodies: [{material: m, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}}]\n"
                    "colliders: [{shape: {box: {min: [-1, -1, -1], max: [2, 2, 2]}}}]\n",
                    2, &warnings);
    assert_int_equal(count, 0);
    assert_non_null(strstr(warnings.about_scene, "it lies inside colliders[0]"));
}

static void extreme_numbers_run(void **unused)
{
    (void)unused;
    Warnings warnings;
    static const char *const odd[] = {
        "gravity: [0, 0, 0]\nmaterials: {m: {kind: sand}}\n",
        "gravity: [0, 0, 1000]\nmaterials: {m: {kind: sand}}\n",
        "materials: {m: {kind: sand, friction_angle: 0}}\n",
        "materials: {m: {kind: sand, friction_angle: 89.9}}\n",
        "materials: {m: {kind: sand, cohesion: 1e7}}\n",
        "materials: {m: {kind: sand, density: 1e-3}}\n",
        "materials: {m: {kind: water, density: 1e5}}\n",
        "materials: {m: {kind: water}}\nflip: {cfl: 20}\n",
        "materials: {m: {kind: sand}}\nflip: {cfl: 5}\n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
        char text[500];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\nresolution: 16\n" CUBE
                 "%sbodies: [{material: m, velocity: [3, 0, 0], "
                 "shape: {sphere: {center: [0.5, 0.5, 0.4], radius: 0.2}}}]\n",
                 odd[i]);
        assert_true(run_odd(text, 8, &warnings) > 900);
        assert_string_equal(warnings.about_run, "");
    }
}

static void a_closing_press_loses_nothing(void **unused)
{
    (void)unused;
    Warnings warnings;
    int64_t count = run_odd(
        "wadi: 1\nsolver: flip\nresolution: 10\n" CUBE "materials: {m: {kind: sand}, w: {kind: water}}\n"
        "bodies: [{material: m, shape: {box: {min: [0.3, 0.3, 0], max: [0.7, 0.7, 0.3]}}},\n"
        "  {material: w, shape: {box: {min: [0, 0, 0], max: [0.3, 1, 0.3]}}}]\n"
        "colliders: [{shape: {box: {min: [0, 0, 0.5], max: [1, 1, 1]}, translate: {keys: [[0, [0, 0, 0]], "
        "[0.5, [0, 0, -0.5]], [1, [0, 0, 0]]]}}}]\n",
        26, &warnings);
    assert_true(count > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_grids_run),
        cmocka_unit_test(bodies_without_particles_are_named),
        cmocka_unit_test(extreme_numbers_run),
        cmocka_unit_test(a_closing_press_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
