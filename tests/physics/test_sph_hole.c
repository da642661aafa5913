/* sph: as much flows through a hole cut out of a plate as between four boxes that leave the same hole. */
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

enum { FPS = 24, FRAMES = 12 };

#define LOW "0.1037"  /* m: the plate, between planes of the grid */
#define HIGH "0.1437" /* m */

static const char *const CUT =
    "{difference: [{box: {min: [-0.1, -0.1, " LOW "], max: [0.3, 0.3, " HIGH "]}}, "
    "{box: {min: [0.053, 0.053, 0], max: [0.113, 0.113, 0.2]}}]}";
static const char *const JOINED =
    "{union: [{box: {min: [-0.1, -0.1, " LOW "], max: [0.053, 0.3, " HIGH "]}}, "
    "{box: {min: [0.113, -0.1, " LOW "], max: [0.3, 0.3, " HIGH "]}}, "
    "{box: {min: [0.053, -0.1, " LOW "], max: [0.113, 0.053, " HIGH "]}}, "
    "{box: {min: [0.053, 0.113, " LOW "], max: [0.113, 0.3, " HIGH "]}}]}";

/* Particles below the plate at the end. */
static int flow_through(const char *kind, const char *plate)
{
    char text[2048];
    const int length =
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: sph\ncell_size: 0.02\nfps: %d\n"
                 "domain: {min: [0, 0, 0], max: [0.16, 0.16, 0.4], walls: {friction: 0.3}}\n"
                 "materials: {m: {kind: %s}}\ncolliders: [{friction: 0.3, shape: %s}]\n"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, " HIGH "], max: [0.16, 0.16, 0.26]}}}]\n",
                 FPS, kind, plate);
    assert_true(length > 0 && (size_t)length < sizeof text);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, FRAMES);
    int below = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        below += sim->particles.z[i] < 0.1037;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return below;
}

static void a_cut_hole_lets_through_what_one_between_boxes_does(void **state)
{
    (void)state;
    static const char *const kinds[] = { "water", "sand" };
    for (int n = 0; n < 2; ++n) {
        const int cut = flow_through(kinds[n], CUT), joined = flow_through(kinds[n], JOINED);
        print_message("%s: %d particles through the cut hole, %d between boxes\n", kinds[n], cut, joined);
        CHECK_NEAR((double)cut / joined, 1.0, 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_hole_lets_through_what_one_between_boxes_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
