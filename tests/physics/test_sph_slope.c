/* sph: sand under water keeps its friction by effective stress; sand that soaks in air loses it [theory
 * 11.6]. */
#include "scene_sim.h"
#include "sim/sim.h"

/* Mean path of the sand of a saturated slope of this angle (degrees) and 33 degree sand, spacings after a
 * third of a second; without water above it where it is dry. */
static double slide(double angle, bool is_flooded)
{
    const double spacing = 0.01, slope = tan(angle * 3.14159265358979 / 180.0);
    char sand[512], text[2048];
    snprintf(
        sand, sizeof sand,
        "{intersection: [{box: {min: [0, 0, 0.02], max: [0.5, 0.06, 0.25]}}, {half_space: {point: [0.02, "
        "0, 0.14], normal: [%.9g, 0, 1]}}]}",
        slope);
    snprintf(
        text, sizeof text,
        "wadi: 1\nsolver: sph\ncell_size: 0.02\nfps: 24\n"
        "domain: {min: [0, 0, 0], max: [0.5, 0.06, 0.3], walls: {friction: 0}}\n"
        "materials: {sand: {kind: sand, friction_angle: 33, mud_viscosity: 0}, water: {kind: water}}\n"
        "colliders: [{friction: 1, shape: {box: {min: [-1, -1, -1], max: [1, 1, 0.02]}}}]\n"
        "bodies: [{material: sand, saturation: 1, shape: %s}, {material: water, shape: {difference: [{box: "
        "{min: [0, 0, 0.02], max: [0.5, 0.06, %g]}}, %s]}}]\n",
        sand, is_flooded ? 0.2 : 0.03, sand);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double before = 0.0, after = 0.0, count = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        before += p->material[i] == 0 ? p->x[i] : 0.0;
        count += p->material[i] == 0;
    }
    run_frames(sim, 8);
    for (int32_t i = 0; i < p->count; ++i) {
        after += p->material[i] == 0 ? p->x[i] : 0.0;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return (after - before) / count / spacing;
}

static void a_flooded_slope_stands_up_to_its_friction_angle(void **unused)
{
    (void)unused;
    const double flat = slide(25.0, true), steep = slide(45.0, true), in_air = slide(25.0, false);
    print_message("slopes of saturated sand, 33 degrees, move by: 25 degrees under water %.3f spacings, 45 "
                  "degrees %.3f, 25 degrees in air %.3f\n",
                  flat, steep, in_air);
    CHECK_AT_MOST(flat, 0.1);
    CHECK_AT_MOST(3.0 * flat, steep);
    CHECK_AT_MOST(5.0 * flat, in_air);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_flooded_slope_stands_up_to_its_friction_angle) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
