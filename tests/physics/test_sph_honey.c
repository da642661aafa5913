/* sph: thick liquids that are confined: viscosity and pressure hold at once [theory 11.7]. */
#include "scene_sim.h"
#include "sim/sim.h"

enum { FRAMES = 10 };

/* A piston pushes half of the honey through a slit a quarter as high as the vessel, at 0.1 m/s: what it
 * displaces flows out, and what is left is not compressed. */
static void honey_flows_out_of_a_slit(void **unused)
{
    (void)unused;
    static const double viscosity[] = { 5.0, 20.0 };
    for (size_t n = 0; n < sizeof viscosity / sizeof *viscosity; ++n) {
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: sph\ncell_size: 0.0125\nfps: 10\n"
                 "domain: {min: [-0.2, 0, 0], max: [0.5, 0.05, 0.1], walls: {friction: 0}}\n"
                 "materials: {honey: {kind: water, viscosity: %g}}\n"
                 "colliders: [{friction: 0, shape: {box: {min: [-0.15, -0.1, -0.1], max: [0, 0.2, 0.3]}, "
                 "translate: {keys: [[0, [0, 0, 0]], [2, [0.2, 0, 0]]]}}},\n"
                 "  {friction: 0, shape: {box: {min: [0.2, -0.1, 0.025], max: [0.225, 0.2, 0.3]}}}]\n"
                 "bodies: [{material: honey, jitter: 0.3, shape: {box: {min: [0, 0, 0], max: [0.2, 0.05, "
                 "0.1]}}}]\n",
                 viscosity[n]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const WadiParticles *p = &sim->particles;
        double worst = 0.0, displaced = 0.0, outside = 0.0;
        for (int frame = 0; frame < FRAMES; ++frame) {
            run_frames(sim, 1);
            double inside = 0.0;
            for (int32_t i = 0; i < p->count; ++i) {
                inside += p->x[i] < 0.2;
            }
            displaced = 0.1 * sim->time / 0.2;
            outside = 1.0 - inside / p->count;
            worst = fmax(worst, fabs((1.0 - outside) / (1.0 - displaced) - 1.0));
        }
        print_message(
            "%g Pa s: density in the vessel within %.4f, outflow %.4f of what the piston displaced\n",
            viscosity[n], worst, outside / displaced);
        CHECK_AT_MOST(worst, 0.01);
        CHECK_NEAR(outside / displaced, 1.0, 0.02);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(honey_flows_out_of_a_slit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
