/* A vertical cut in cohesive sand stands up to the height H_c = 4 C / (rho g) tan(45 + phi/2) of Mohr and
 * Coulomb, C its cohesion. One of 0.6 H_c stands and one of 1.6 H_c falls, in every solver that bears tension
 * and at every size. */
#include "scene_sim.h"
#include "sim/sim.h"

static const double DENSITY = 1600.0, GRAVITY = 9.81;

typedef struct Solver {
    const char *name, *settings;
    int cells;    /* along the height */
    double angle; /* degrees */
} Solver;

/* Part of its first mean height that a cut of `ratio` H_c has after 8 sqrt(H/g). */
static double height_left(const Solver *solver, double height, double ratio)
{
    const double h = height / solver->cells, degree = 3.14159265358979324 / 180.0;
    const double cohesion =
        DENSITY * GRAVITY * height / (4.0 * tan((45.0 + 0.5 * solver->angle) * degree) * ratio);
    char text[2048];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: %s\ncell_size: %.9g\n%sfps: %.9g\n"
             "domain: {min: [0, 0, %.9g], max: [%.9g, %.9g, %.9g], walls: {friction: 0}}\n"
             "colliders: [{friction: 1, shape: {box: {min: [%.9g, %.9g, %.9g], max: [%.9g, %.9g, 0]}}}]\n"
             "materials: {a: {kind: sand, density: %.9g, friction_angle: %.9g, cohesion: %.9g}}\n"
             "bodies: [{material: a, shape: {box: {min: [0, 0, 0], max: [%.9g, %.9g, %.9g]}}}]\n",
             solver->name, h, solver->settings, 1.0 / sqrt(height / GRAVITY), -2.0 * h, 2.5 * height, 5.0 * h,
             1.25 * height, -height, -height, -height, 4.0 * height, height, DENSITY, solver->angle, cohesion,
             0.75 * height, 5.0 * h, height);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const double before = mean_height(&sim->particles);
    run_frames(sim, 8);
    const double left = mean_height(&sim->particles) / before;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return left;
}

static void cuts_stand_below_and_fall_above_the_critical_height(void **unused)
{
    (void)unused;
    static const Solver solvers[] = {
        { "dem", "particles_per_cell: 1\n", 14, 30.0 },
        { "dem", "particles_per_cell: 1\n", 14, 20.0 },
        { "dem", "particles_per_cell: 1\n", 14, 40.0 },
        { "flip", "", 14, 30.0 },
        { "sph", "", 14, 30.0 },
    };
    static const double heights[] = { 0.2, 20.0 };
    for (size_t n = 0; n < sizeof solvers / sizeof *solvers; ++n) {
        for (size_t k = 0; k < sizeof heights / sizeof *heights; ++k) {
            const double stands = height_left(&solvers[n], heights[k], 0.6);
            const double falls = height_left(&solvers[n], heights[k], 1.6);
            print_message("%s, %g degrees, %g m: 0.6 H_c leaves %.3f of the height, 1.6 H_c %.3f\n",
                          solvers[n].name, solvers[n].angle, heights[k], stands, falls);
            CHECK_AT_MOST(0.96, stands);
            CHECK_AT_MOST(falls, 0.9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_stand_below_and_fall_above_the_critical_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
