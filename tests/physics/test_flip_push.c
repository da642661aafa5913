/* flip: sand that a solid pushes leaves no faster than the push explains. */
#include <math.h>

#include "scene_sim.h"
#include "sim/sim.h"

static double fastest(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double square = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        square = fmax(square, (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    }
    return sqrt(square);
}

/* A solid moves at 0.4 m/s through 8 cells of sand that do not fall: without unbalanced stresses on slivers
 * of faces at its surface nothing gets much faster than it is. */
static void a_solid_throws_no_sand(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *shape;
    } pusher[] = {
        { "ball, down",
          "sphere: {radius: 0.08}, translate: {keys: [[0, [0, 0, 0.25]], [0.4, [0, 0, 0.09]]]}" },
        { "turned box, down", "box: {center: [0, 0, 0], size: [0.12, 0.12, 0.12]}, rotate: [30, 20, 10], "
                              "translate: {keys: [[0, [0, 0, 0.27]], [0.4, [0, 0, 0.11]]]}" },
        { "turned plate, sideways", "box: {center: [0, 0, 0], size: [0.05, 0.2, 0.2]}, rotate: [0, -20, 15], "
                                    "translate: {keys: [[0, [-0.08, 0, 0.18]], [0.4, [0.08, 0, 0.18]]]}" },
    };
    for (int n = 0; n < 3; ++n) {
        char text[800];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 25\n"
                 "domain: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.5]}\n"
                 "materials: {sand: {kind: sand}}\n"
                 "bodies: [{material: sand, shape: {box: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.16]}}}]\n"
                 "colliders: [{shape: {%s}}]\n",
                 pusher[n].shape);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double most = 0.0;
        for (int frame = 0; frame < 10; ++frame) {
            run_frames(sim, 1);
            most = fmax(most, fastest(sim));
        }
        print_message("%s at 0.4 m/s: nothing faster than %.2f m/s\n", pusher[n].name, most);
        CHECK_AT_MOST(most, 3.0 * 0.4);
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solid_throws_no_sand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
