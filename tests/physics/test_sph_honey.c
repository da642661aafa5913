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

/* Angular momentum about the axis of a cylinder that began to turn, over that of a rigid rotation, a time of
 * `part` R^2/nu later: 1 - 8 sum exp(-k^2 part) / k^2 over the zeros k of J_1. */
static double spin_up(double part)
{
    static const double zeros[] = { 3.83171, 7.01559, 10.17347, 13.32369, 16.47063 };
    double sum = 0.0;
    for (size_t n = 0; n < sizeof zeros / sizeof *zeros; ++n) {
        sum += exp(-zeros[n] * zeros[n] * part) / (zeros[n] * zeros[n]);
    }
    return 1.0 - 8.0 * sum;
}

/* A tube of honey of 20 Pa s begins to turn: viscosity carries the rotation to the axis, and in the end all
 * turns with the tube, which is no strain. The ends slip. */
static void honey_turns_with_a_cylinder(void **unused)
{
    (void)unused;
    static const double radius = 0.05, nu = 0.02, speed = 2.0;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: sph\ncell_size: 0.0125\nfps: 2000\ngravity: [0, 0, 0]\n"
        "materials: {honey: {kind: water, viscosity: 20}}\n"
        "colliders: [{shape: {difference: [{box: {min: [-0.1, -0.1, -0.05], max: [0.1, 0.1, 0.05]}}, "
        "{cylinder: "
        "{from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.05}}], rotate: {keys: [[0, [0, 0, 0]], [5, [0, 0, "
        "572.957795]]]}}}]\n"
        "bodies: [{material: honey, shape: {cylinder: {from: [0, 0, -0.05], to: [0, 0, 0.05], radius: "
        "0.05}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    for (int frame = 1; frame <= 250; ++frame) {
        double turned = 0.0, rigid = 0.0;
        run_frames(sim, 1);
        for (int32_t i = 0; i < p->count; ++i) {
            turned += p->x[i] * (double)p->vy[i] - p->y[i] * (double)p->vx[i];
            rigid += speed * (p->x[i] * p->x[i] + p->y[i] * p->y[i]);
        }
        const double part = nu * sim->time / (radius * radius), exact = spin_up(part);
        if (frame == 20 || frame == 50 || frame == 250) {
            print_message("cylinder: %.4f of the rigid rotation after %.2f R^2/nu, exact %.4f\n",
                          turned / rigid, part, exact);
            CHECK_NEAR(turned / rigid, exact, frame == 250 ? 0.003 : 0.04);
        }
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(honey_flows_out_of_a_slit),
                                        cmocka_unit_test(honey_turns_with_a_cylinder) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
