/* Still beds of sand and water keep their height, however many particles a cell has; their surface lies
 * inside a cell. */
#include "scene_sim.h"
#include "sim/sim.h"

static void beds_keep_their_height(void **unused)
{
    (void)unused;
    static const char *const kinds[] = { "sand", "water" };
    static const int counts[] = { 8, 27, 64 };
    for (int k = 0; k < 2; ++k) {
        for (int c = 0; c < 3; ++c) {
            char text[512];
            snprintf(text, sizeof text,
                     "wadi: 1\nsolver: flip\ncell_size: 0.02\nparticles_per_cell: %d\n"
                     "domain: {min: [0, 0, 0], max: [0.16, 0.08, 0.3]}\nmaterials: {m: {kind: %s}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.16, 0.08, 0.189]}}}]\n",
                     counts[c], kinds[k]);
            WadiScene *scene = load_scene(text);
            WadiSim *sim = start_sim(scene, 1);
            double before = mean_height(&sim->particles);
            run_frames(sim, 24);
            print_message("%s, %d in a cell: height %.4f of the start\n", kinds[k], counts[c],
                          mean_height(&sim->particles) / before);
            CHECK_NEAR(mean_height(&sim->particles) / before, 1.0, 0.01);
            wadi_sim_destroy(sim);
            wadi_scene_destroy(scene);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(beds_keep_their_height) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
