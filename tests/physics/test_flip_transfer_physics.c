/* T7: what transfers lose of a vortex without viscosity. Taylor-Green in a closed, full, frictionless box one unit wide:
 * u = sin(pi x) cos(pi y), v = -cos(pi x) sin(pi y), a steady flow; its middle turns once in 2 s. */
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static const double pi = 3.14159265358979323846;

static double energy(const WadiParticles *p)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += 0.5 * (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
    }
    return sum / p->count;
}

/* Part of the energy that one turnover loses. */
static double loss(const char *transfer)
{
    char text[1000];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 0.03125\ngravity: [0, 0, 0]\nmax_step: 0.02\n"
             "domain: {min: [0, 0, 0], max: [1, 1, 0.0625], walls: {friction: 0}}\n"
             "materials: {water: {kind: water, %s}}\n"
             "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.0625]}}}]\n",
             transfer);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    WadiParticles *p = &sim->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        p->vx[i] = (float)(sin(pi * p->x[i]) * cos(pi * p->y[i]));
        p->vy[i] = (float)(-cos(pi * p->x[i]) * sin(pi * p->y[i]));
    }
    double before = energy(p);
    CHECK_NEAR(before, 0.25, 0.01);
    run_frames(sim, 48);
    double lost = 1.0 - energy(&sim->particles) / before;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return lost;
}

static void transfers_lose_energy_in_their_order(void **unused)
{
    (void)unused;
    double flip = loss("transfer: flip, flip_share: 0.99"), apic = loss("transfer: apic"),
           pic = loss("transfer: pic");
    print_message("energy lost in one turnover: FLIP 0.99 %.1f %%, APIC %.1f %%, PIC %.1f %%\n", 100.0 * flip,
                  100.0 * apic, 100.0 * pic);
    CHECK_AT_MOST(flip, 0.05);
    assert_true(flip > -0.01);
    assert_true(pic > 0.20);
    assert_true(flip < apic && apic < pic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_lose_energy_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
