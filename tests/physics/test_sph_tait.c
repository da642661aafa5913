/* sph: the equation of state gives the dam break of the pressure solve, without gaining energy. */
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

typedef struct Dam {
    double front, energy; /* m; over that of the start */
} Dam;

static Dam run_dam(const char *pressure)
{
    char text[600];
    snprintf(text, sizeof text,
             "{wadi: 1, solver: sph, sph: {pressure: %s}, cell_size: 0.06, fps: 24, domain: {min: [0, 0, 0], "
             "max: [1.5, 0.12, 0.6]}, materials: {w: {kind: water}}, bodies: [{material: w, shape: {box: "
             "{min: [0, 0, 0], max: [0.24, 0.12, 0.48]}}}]}",
             pressure);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const double before = 9.81 * mean_height(p);
    Dam dam = { 0 };
    for (int frame = 0; frame < 9; ++frame) {
        run_frames(sim, 1);
        double energy = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            const double square = (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
            energy += (0.5 * square + 9.81 * p->z[i]) / p->count;
            dam.front = fmax(dam.front, p->z[i] < 0.1 * 0.24 ? p->x[i] : 0.0);
        }
        dam.energy = fmax(dam.energy, frame > 2 ? energy / before : 0.0);
    }
    print_message("%s: front %.3f m, energy %.3f, %ld steps\n", pressure, dam.front, dam.energy,
                  (long)sim->steps);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return dam;
}

static void the_front_is_that_of_the_solve(void **unused)
{
    (void)unused;
    const Dam solve = run_dam("solve"), tait = run_dam("tait");
    CHECK_NEAR(tait.front / solve.front, 1.0, 0.1);
    CHECK_AT_MOST(tait.energy, 1.01);
    CHECK_AT_MOST(solve.energy, 1.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_front_is_that_of_the_solve) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
