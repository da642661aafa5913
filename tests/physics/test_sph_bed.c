/* Water on a bed of sand: where it stands the interface rests and nothing is exchanged; a jet presses
 * steadily. */
#include "scene_sim.h"
#include "sim/sim.h"

#define BED(more)                                                                                            \
    "{wadi: 1, name: bed, solver: sph, cell_size: 0.01, frames: 400, fps: 24," more                          \
    " domain: {min: [0, 0, 0], max: [0.04, 0.04, 0.08], walls: {friction: 0}},"                              \
    " materials: {sand: {kind: sand}, water: {kind: water}},"                                                \
    " bodies: [{material: sand, saturation: 1, shape: {box: {min: [0, 0, 0], max: [0.04, 0.04, 0.04]}}},"    \
    "          {material: water, shape: {box: {min: [0, 0, 0.04], max: [0.04, 0.04, 0.06]}}}]}"

static double sand_height(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->material[i] == 0 ? p->z[i] : 0.0;
        count += p->material[i] == 0;
    }
    return sum / count;
}

/* Mean of the pressure less that in the pores over that of sand under water, of the particles of sand in the
 * lower half. The walls carry nothing. */
static double effective_over_buoyant(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const float *pressure = column_of(p, "pressure"), *pore = column_of(p, "pore_pressure");
    double effective = 0.0, buoyant = 0.0, head = 0.0, water = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] == 0 && p->z[i] < 0.02) {
            effective += (double)(pressure[i] - pore[i]);
            buoyant += (1600.0 + 0.4 * 1000.0 - 1000.0) * 9.81 * (0.04 - p->z[i]);
            head += (double)pore[i];
            water += 1000.0 * 9.81 * (0.06 - p->z[i]);
        }
    }
    print_message("effective pressure %.3f of that of sand under water, in the pores %.3f of the water's\n",
                  effective / buoyant, head / water);
    CHECK_NEAR(head / water, 1.0, 0.03);
    return effective / buoyant;
}

static void water_stands_on_a_saturated_bed(void **unused)
{
    (void)unused;
    const double seconds = is_long_run() ? 10.0 : 2.0, spacing = 0.005;
    WadiScene *scene = load_scene(BED(""));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24);
    /* The mean height of the sand moves half as much as the interface. */
    const double before = sand_height(sim);
    const int32_t count = sim->particles.count;
    run_frames(sim, (int)(24.0 * seconds));
    const double drift = 2.0 * fabs(sand_height(sim) - before) / spacing / seconds;
    const float *wetness = column_of(&sim->particles, "wetness");
    double least = 1.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        least = sim->particles.material[i] == 0 ? fmin(least, (double)wetness[i]) : least;
    }
    print_message("interface drifts %.4f spacings a second; least saturation %.4f; %d of %d particles\n",
                  drift, least, (int)sim->particles.count, (int)count);
    CHECK_AT_MOST(drift, 0.05);
    /* The whole pressure would give 2.7: the water above does not strengthen the sand. */
    CHECK_NEAR(effective_over_buoyant(sim), 1.0, 0.2);
    assert_true(least > 0.95);
    CHECK_NEAR((double)sim->particles.count / count, 1.0, 0.01);
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Water in pores has the weight of a uniform force as it has that of gravity. */
static void a_uniform_force_is_a_weight_in_pores(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(BED(" gravity: [0, 0, 0], forces: [{kind: uniform, acceleration: [0, 0, -9.81]}],"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24);
    CHECK_NEAR(effective_over_buoyant(sim), 1.0, 0.2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#define JET                                                                                                  \
    "{wadi: 1, name: jet, solver: sph, cell_size: 0.006, frames: 400, fps: 24,"                              \
    " domain: {min: [0.05, 0.03, 0], max: [0.13, 0.07, 0.1], walls: {friction: 0.5}},"                       \
    " materials: {sand: {kind: sand, mud_viscosity: 0}, water: {kind: water}},"                              \
    " bodies: [{material: sand, shape: {box: {min: [0.05, 0.03, 0], max: [0.13, 0.07, 0.05]}}}],"            \
    " emitters: [{material: water, shape: {sphere: {center: [0.09, 0.05, 0.085], radius: 0.008}},"           \
    "             velocity: [0, 0, -0.9], rate: 1.8e-4}]}"

static double sand_pressure(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const float *pressure = column_of(p, "pressure");
    double sum = 0.0;
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->material[i] == 0 ? (double)pressure[i] : 0.0;
        count += p->material[i] == 0;
    }
    return sum / count;
}

/* The weight and the jet are the same in every step, and so is the mean pressure of the sand. */
static void a_jet_presses_steadily_on_sand(void **unused)
{
    (void)unused;
    enum { STEPS = 100 };
    WadiError error = { 0 };
    WadiScene *scene = load_scene(JET);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 6);
    double before = sand_pressure(sim), mean = 0.0, change = 0.0;
    for (int n = 0; n < STEPS; ++n) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const double now = sand_pressure(sim);
        mean += now / STEPS;
        change += fabs(now - before) / STEPS;
        before = now;
    }
    print_message("pressure under a jet %.0f Pa, from step to step %.0f more or less\n", mean, change);
    CHECK_AT_MOST(change / mean, 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_stands_on_a_saturated_bed),
        cmocka_unit_test(a_uniform_force_is_a_weight_in_pores),
        cmocka_unit_test(a_jet_presses_steadily_on_sand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
