/* flip: what lies on a floor without friction, along the grid or not, keeps its momentum along it: single
 * particles exactly, drops that spread nearly. On a rough floor a grain stops where Coulomb's law says. */
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

enum { FPS = 24, SECONDS = 4 };

#define CELL 0.1
#define UNIT_SPEED 0.990454 /* sqrt(g dx), m/s */
#define ON_GRID "min: [4, 4, 0], max: [4.05, 4.05, 0.05]"

static WadiSim *start(WadiScene **scene, const char *kind, const char *gravity, double friction,
                      const char *floor, const char *velocity, const char *box)
{
    char text[1024];
    const int length =
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: %g\nfps: %d\ngravity: %s\n"
                 "domain: {min: [0, 0, 0], max: [8, 8, 8], walls: {friction: %g}}\n"
                 "materials: {m: {kind: %s}}\nflip: {sleep: false}\ncolliders: [%s]\n"
                 "bodies: [{material: m, jitter: 0, snap: none, velocity: %s, shape: {box: {%s}}}]\n",
                 CELL, FPS, gravity, friction, kind, floor, velocity, box);
    assert_true(length > 0 && (size_t)length < sizeof text);
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

static void mean_velocity(const WadiParticles *p, double v[3])
{
    v[0] = v[1] = v[2] = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        v[0] += (double)p->vx[i] / p->count;
        v[1] += (double)p->vy[i] / p->count;
        v[2] += (double)p->vz[i] / p->count;
    }
}

static void a_lone_particle_keeps_its_speed_on_a_smooth_floor(void **state)
{
    (void)state;
    static const struct {
        const char *name, *gravity, *floor, *velocity, *box;
        double expected[3];
    } cases[] = {
        { "on the grid", "[0, 0, -9.81]", "", "[0.05, 0, 0]", ON_GRID, { 0.05, 0, 0 } },
        { "between grid planes",
          "[0, 0, -9.81]",
          "{friction: 0, shape: {half_space: {point: [0, 0, 0.137], normal: [0, 0, 1]}}}",
          "[0.05, 0, 0]",
          "min: [4, 4, 0.15], max: [4.05, 4.05, 0.2]",
          { 0.05, 0, 0 } },
        { "along x",
          "[-9.81, 0, 0]",
          "",
          "[0, 0, 0.05]",
          "min: [0, 4, 4], max: [0.05, 4.05, 4.05]",
          { 0, 0, 0.05 } },
        { "oblique",
          "[2.7684, -1.8456, -9.2280]",
          "{friction: 0, shape: {half_space: {point: [4, 4, 2], normal: [-0.3, 0.2, 1]}}}",
          "[0.048, 0, 0.0144]",
          "min: [4, 4, 2.05], max: [4.05, 4.05, 2.1]",
          { 0.048, 0, 0.0144 } },
    };
    static const char *const kinds[] = { "water", "sand" };
    for (size_t n = 0; n < 2 * sizeof cases / sizeof cases[0]; ++n) {
        const char *kind = kinds[n % 2];
        double v[3];
        WadiScene *scene = NULL;
        WadiSim *sim = start(&scene, kind, cases[n / 2].gravity, 0.0, cases[n / 2].floor,
                             cases[n / 2].velocity, cases[n / 2].box);
        assert_int_equal(sim->particles.count, 1);
        run_frames(sim, FPS * SECONDS);
        mean_velocity(&sim->particles, v);
        print_message("%s, %s: %.4f, %.4f, %.4f m/s\n", cases[n / 2].name, kind, v[0], v[1], v[2]);
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR(v[a], cases[n / 2].expected[a], 0.02 * 0.05);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* The parts of a drop on a floor fly apart at a few tenths of sqrt(g dx). */
static void a_drop_that_spreads_keeps_its_momentum(void **state)
{
    (void)state;
    static const char *const boxes[] = { "min: [4.05, 4, 0], max: [4.15, 4.05, 0.05]",
                                         "min: [4, 4, 0], max: [4.1, 4.1, 0.1]",
                                         "min: [4, 4, 0], max: [4.2, 4.1, 0.1]" };
    for (int n = 0; n < 3; ++n) {
        double v[3];
        WadiScene *scene = NULL;
        WadiSim *sim = start(&scene, "water", "[0, 0, -9.81]", 0.0, "", "[0.05, 0, 0]", boxes[n]);
        run_frames(sim, FPS * SECONDS);
        mean_velocity(&sim->particles, v);
        print_message("%d particles: %.4f m/s along, %.4f across\n", sim->particles.count, v[0], v[1]);
        CHECK_NEAR(v[0], 0.05, 0.02 * UNIT_SPEED);
        CHECK_NEAR(v[1], 0.0, 0.02 * UNIT_SPEED);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void a_grain_stops_on_a_rough_floor(void **state)
{
    (void)state;
    WadiScene *scene = NULL;
    WadiSim *sim = start(&scene, "sand", "[0, 0, -9.81]", 0.5, "", "[2, 0, 0]", ON_GRID);
    run_frames(sim, FPS);
    const double way = sim->particles.x[0] - 4.025, expected = 2.0 * 2.0 / (2.0 * 0.5 * 9.81);
    print_message("a grain slid %.3f of %.3f m\n", way, expected);
    CHECK_NEAR(way, expected, 0.05 * expected);
    CHECK_NEAR(mean_speed(&sim->particles), 0.0, 1e-4);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_particle_keeps_its_speed_on_a_smooth_floor),
        cmocka_unit_test(a_drop_that_spreads_keeps_its_momentum),
        cmocka_unit_test(a_grain_stops_on_a_rough_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
