/* Forces of any strength, in every solver. A closed box holds its particles: a run goes on with all of them
 * inside, or ends with an error. Steps are so short that nothing moves farther than the solver allows, and
 * drag never exceeds the velocity of the wind. */
#include "scene_sim.h"
#include "sim/sim.h"
#include "world/water.h"

enum { TEXT = 2048 };

#define WATER "{kind: water}"
#define SAND "{kind: sand, friction_angle: 33}"
#define FLIP "solver: flip, cell_size: 0.02"
#define SPH "solver: sph, cell_size: 0.02"
#define DEM "solver: dem, cell_size: 0.01, particles_per_cell: 1"

typedef struct Solver {
    const char *name, *settings, *material;
    double farthest; /* m that a particle moves in a step at most; 0: any distance */
} Solver;

static const Solver solvers[] = {
    { "points", "solver: points, cell_size: 0.02", SAND, 0 },
    { "flip water", FLIP, WATER, 2 * 0.02 },
    { "flip sand", FLIP, SAND, 2 * 0.02 },
    { "flip apic", FLIP, "{kind: water, transfer: apic}", 2 * 0.02 },
    { "flip honey", FLIP, "{kind: water, viscosity: 50}", 2 * 0.02 },
    { "flip zb05", FLIP ", flip: {friction: zb05, solids: voxels}", SAND, 2 * 0.02 },
    { "flip inf585", FLIP ", flip: {pressure: gauss_seidel, pair_separation: 2}", WATER, 0 },
    { "sph water", SPH, WATER, 0.4 * 0.01 },
    { "sph sand", SPH, SAND, 0.4 * 0.01 },
    { "sph tait", SPH ", sph: {pressure: tait}", WATER, 0.4 * 0.01 },
    { "sph adaptive", SPH ", sph: {adaptive: {}}", WATER, 0.4 * 0.01 },
    { "sph ld09", SPH ", sph: {published: ld09}", SAND, 0.4 * 0.01 },
    { "sph t10", SPH ", sph: {published: t10}", WATER, 0.4 * 0.01 },
    { "dem", DEM, SAND, 0.1 * 0.01 },
    { "dem tetrahedra",
      "solver: dem, cell_size: 0.02, particles_per_cell: 1, dem: {shape: tetrahedra, surfaces: covered}",
      SAND, 0 },
    { "dem surface_flow", DEM ", dem: {mode: surface_flow}", SAND, 0 },
    { "dem height_field", DEM ", dem: {mode: height_field}", SAND, 0 },
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* `seconds`: until everything was pushed against a wall. */
static const struct {
    const char *text;
    double seconds;
} forces[] = {
    { "forces: [{kind: drag, velocity: [1000, 0, 0], rate: 1e6}]", 1.5e-4 },
    { "forces: [{kind: drag, velocity: [-700, 500, 600], rate: 300}]", 1e-3 },
    { "forces: [{kind: point, center: [0.06, 0.06, 0.06], strength: -1e4, radius: 1e6}]", 4e-3 },
    { "forces: [{kind: point, center: [0.06, 0.06, 0.06], strength: -1e5, radius: 1e6}]", 1.5e-3 },
    { "forces: [{kind: point, center: [0, 0, 0], strength: 1e5, radius: 1e6}]", 1.5e-3 },
    { "forces: [{kind: point, center: [0.12, 0.06, 0.01], strength: 1e5, radius: 0.05}]", 1.5e-3 },
    { "forces: [{kind: uniform, acceleration: [1e5, -1e5, 1e5]}]", 1.5e-3 },
    { "forces: [{kind: uniform, acceleration: [-1e5, 0, 0], start: 0.002}]", 3.5e-3 },
    { "gravity: [0, 0, -1e3]", 1.2e-2 },
    { "gravity: [0, 0, 1e5]", 1.2e-3 },
    { "gravity: [0, -1e5, 0]", 1.2e-3 },
    { "gravity: [0, 1e5, 0]", 1.2e-3 },
    { "gravity: [-1e5, 0, 0]", 1.2e-3 },
    { "gravity: [1e5, 1e5, -1e5]", 1e-3 },
    { "gravity: {keys: [[0, [0, 0, -9.81]], [0.0002, [1e5, 0, 0]]], interpolation: step}", 1.5e-3 },
    { "gravity: {keys: [[0, [1e5, 0, 0]], [0.0005, [-1e5, 0, 1e5]]], interpolation: step}", 2e-3 },
};
enum { FORCES = sizeof forces / sizeof *forces, STEPS_MAX = 400 };

#define BOX "domain: {min: [0, 0, 0], max: [0.12, 0.12, 0.12], walls: {friction: 0.5}}"
#define PLATE "{shape: {box: {min: [0.1, -0.01, -0.01], max: [0.101, 0.13, 0.13]}}}"
#define BALL "{shape: {sphere: {center: [0.06, 0.06, 0], radius: 0.02}}}"

static WadiScene *scene_of(const Solver *solver, const char *force, const char *more)
{
    static char text[TEXT];
    snprintf(text, sizeof text,
             "{wadi: 1, %s, frames: 100, fps: 200, materials: {m: %s}, bodies: [{material: m, shape: "
             "{box: {min: [0.04, 0.04, 0.04], max: [0.08, 0.08, 0.08]}}}], %s, %s}",
             solver->settings, solver->material, force, more);
    return load_scene(text);
}

/* Particles beyond a side of the box or, with solids, beyond the plate or inside the ball. */
static int count_outside(const WadiParticles *p, bool has_solids)
{
    int outside = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const bool is_inside =
            wadi_box_contains((WadiBox){ { 0, 0, 0 }, { 0.12, 0.12, 0.12 } }, x) && wadi_is_finite(x);
        const bool is_in_front =
            x.x < 0.1 && wadi_norm(wadi_sub(x, (WadiVec3){ 0.06, 0.06, 0.0 })) > 0.02 - 1e-9;
        outside += !(is_inside && (is_in_front || !has_solids));
    }
    return outside;
}

/* Runs until `seconds`; true: all particles are where they can be. */
static bool is_held(const Solver *solver, const char *force, double seconds, bool has_solids)
{
    WadiError error = { 0 };
    WadiScene *scene = scene_of(solver, force, has_solids ? BOX ", colliders: [" PLATE ", " BALL "]" : BOX);
    WadiSim *sim = start_sim(scene, 1);
    const int32_t born = sim->particles.count;
    WadiStatus status = WADI_OK;
    for (int n = 0; n < STEPS_MAX && sim->time < seconds && status == WADI_OK; ++n) {
        status = wadi_sim_step(sim, &error);
    }
    const WadiParticles *p = &sim->particles;
    const int outside = count_outside(p, has_solids);
    const bool is_good = status == WADI_OK && outside == 0 && wadi_sim_lost_particles(sim) == 0 &&
                         (p->count == born || wadi_has_volumes(p));
    if (!is_good) {
        print_error("%s, %s%s: %d of %d particles, %d outside, %lld steps, %g s %s\n", solver->name, force,
                    has_solids ? ", solids" : "", p->count, born, outside, (long long)sim->steps, sim->time,
                    error.text);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return is_good;
}

static void a_closed_box_holds_whatever_pushes(void **unused)
{
    (void)unused;
    int bad = 0;
    for (int s = 0; s < SOLVERS; ++s) {
        for (int f = 0; f < FORCES; ++f) {
            /* Half of the cases, if not WADI_LONG, have the solids. Columns of a height field do not see a
             * plate that is thinner than they are. */
            const bool is_field = strstr(solvers[s].name, "height_field") != NULL;
            if (is_field && strstr(forces[f].text, "gravity:") != NULL &&
                strstr(forces[f].text, "[0, 0, -1e3]") == NULL) {
                continue; /* refused: its columns stand along z */
            }
            if (is_long_run() || is_field || (s + f) % 2 == 0) {
                bad += !is_held(&solvers[s], forces[f].text, forces[f].seconds, false);
            }
            if (!is_field && (is_long_run() || (s + f) % 2 != 0)) {
                bad += !is_held(&solvers[s], forces[f].text, forces[f].seconds, true);
            }
        }
    }
    assert_int_equal(bad, 0);
}

/* Largest distance that a particle moves in one of the first steps, m. */
static double farthest_move(const Solver *solver, const char *force, double seconds)
{
    WadiError error = { 0 };
    WadiScene *scene = scene_of(solver, force, "domain: {min: [-2, -2, -2], max: [2, 2, 2]}");
    WadiSim *sim = start_sim(scene, 1);
    WadiVec3 *before = calloc((size_t)sim->particles.count, sizeof *before);
    double farthest = 0.0;
    for (int n = 0; n < 40 && sim->time < seconds; ++n) {
        const WadiParticles *p = &sim->particles;
        for (int32_t i = 0; i < p->count; ++i) {
            before[p->id[i]] = (WadiVec3){ p->x[i], p->y[i], p->z[i] };
        }
        CHECK_OK(wadi_sim_step(sim, &error), error);
        for (int32_t i = 0; i < p->count; ++i) {
            const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
            farthest = fmax(farthest, wadi_norm(wadi_sub(x, before[p->id[i]])));
        }
    }
    free(before);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return farthest;
}

static void no_force_moves_a_particle_farther_than_the_solver_allows(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double seconds;
    } pushes[] = {
        { "forces: [{kind: drag, velocity: [500, 300, 0], rate: 1e6}]", 1e-3 },
        { "forces: [{kind: drag, velocity: [0, 0, 200], rate: 100}]", 5e-3 },
        { "forces: [{kind: point, center: [5, 5, 5], strength: 1e5, radius: 1e3}]", 1e-2 },
        { "forces: [{kind: point, center: [-5, 0, 0], strength: -1e5, radius: 1e3}]", 1e-2 },
        { "forces: [{kind: uniform, acceleration: [0, 7e4, 7e4]}]", 1e-2 },
        { "forces: [{kind: uniform, acceleration: [1e5, 0, 0], start: 0.0117}]", 2e-2 },
        { "gravity: {keys: [[0, [0, 0, -9.81]], [0.0117, [1e5, 0, 0]]], interpolation: step}", 2e-2 },
        { "gravity: {keys: [[0, [0, 0, 0]], [0.003, [0, 0, 1e5]]]}", 2e-2 },
    };
    int bad = 0;
    for (int s = 0; s < SOLVERS; ++s) {
        for (size_t f = 0; f < sizeof pushes / sizeof *pushes && solvers[s].farthest > 0.0; ++f) {
            const double moved = farthest_move(&solvers[s], pushes[f].text, pushes[f].seconds);
            /* Pressure and contacts add a little to the velocity. */
            if (!(moved <= 1.25 * solvers[s].farthest)) {
                print_error("%s, %s: %g m in a step, at most %g m\n", solvers[s].name, pushes[f].text, moved,
                            solvers[s].farthest);
                bad += 1;
            }
        }
    }
    assert_int_equal(bad, 0);
}

/* v(t) = w (1 - exp(-rate t)). */
static void drag_approaches_the_wind_and_never_exceeds_it(void **unused)
{
    (void)unused;
    static const double rates[] = { 3.0, 300.0, 1e6 };
    for (int s = 0; s < SOLVERS; ++s) {
        for (int r = 0; r < 3 && strstr(solvers[s].name, "height_field") == NULL; ++r) {
            char force[128];
            WadiError error = { 0 };
            snprintf(force, sizeof force,
                     "gravity: [0, 0, 0], forces: [{kind: drag, velocity: [2, 0, 0], rate: %g}]", rates[r]);
            WadiScene *scene = scene_of(&solvers[s], force, "domain: {min: [-2, -2, -2], max: [2, 2, 2]}");
            WadiSim *sim = start_sim(scene, 1);
            double most = 0.0, sum = 0.0;
            while (sim->frame < 3) {
                CHECK_OK(wadi_sim_step(sim, &error), error);
                for (int32_t i = 0; i < sim->particles.count; ++i) {
                    most = fmax(most, (double)sim->particles.vx[i]);
                }
            }
            for (int32_t i = 0; i < sim->particles.count; ++i) {
                sum += (double)sim->particles.vx[i];
            }
            /* The leapfrog of flip has the velocity of half a step earlier. */
            const double late = strncmp(solvers[s].name, "flip", 4) == 0 ? 0.5 * sim->dt : 0.0;
            const double expected = 2.0 * (1.0 - exp(-rates[r] * (0.01 - late)));
            const double mean = sum / sim->particles.count;
            /* Of grains of several spheres it is not the mean of their masses. */
            if (!(fabs(mean - expected) <= 0.03 * expected)) {
                print_error("%s, rate %g: mean %g, expected %g\n", solvers[s].name, rates[r], mean, expected);
                fail();
            }
            /* Grains and particles of a fluid push each other a little. */
            CHECK_AT_MOST(most, strcmp(solvers[s].name, "points") == 0 ? 2.0 : 2.4);
            wadi_sim_destroy(sim);
            wadi_scene_destroy(scene);
        }
    }
}

/* A piston that closes against a wall, in a corner: nothing is left outside the box. */
static void a_piston_presses_nothing_through_a_wall(void **unused)
{
    (void)unused;
    for (int s = 0; s < SOLVERS; ++s) {
        if (strstr(solvers[s].name, "height_field") != NULL) {
            continue; /* its colliders stand still */
        }
        WadiError error = { 0 };
        WadiScene *scene =
            scene_of(&solvers[s], "gravity: [-1e3, -1e3, -1e3]",
                     BOX ", colliders: [{shape: {box: {min: [0, -1, -1], max: [0.3, 1, 1]}, translate: "
                         "{keys: [[0, [0.1, 0, 0]], [0.01, [-0.01, 0, 0]]]}}}]");
        WadiSim *sim = start_sim(scene, 1);
        const int32_t born = sim->particles.count;
        WadiStatus status = WADI_OK;
        for (int n = 0; n < 2000 && sim->time < 0.012 && status == WADI_OK; ++n) {
            status = wadi_sim_step(sim, &error);
        }
        CHECK_OK(status, error);
        assert_int_equal(count_outside(&sim->particles, false), 0);
        assert_true(sim->particles.count == born || wadi_has_volumes(&sim->particles));
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* The last guard: should a solver fail, the run ends, and says why. */
static void a_particle_beyond_a_closed_wall_ends_the_run(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; ++kind) {
        WadiError error = { 0 };
        WadiScene *scene =
            scene_of(&solvers[0], "gravity: [0, 0, 0]",
                     "domain: {min: [0, 0, 0], max: [0.12, 0.12, 0.12], walls: {open: [x_max]}}");
        WadiSim *sim = start_sim(scene, 1);
        const int32_t born = sim->particles.count;
        if (kind == 0) {
            sim->particles.y[5] = -1.0;
        } else if (kind == 1) {
            sim->particles.vz[5] = NAN;
        } else {
            sim->particles.vx[5] = 1e3f; /* leaves by the open side */
        }
        if (kind == 0) {
            CHECK_OK(wadi_arena_reset(&sim->scratch, &error), error);
            assert_int_equal(wadi_sim_remove_lost(sim, &error), WADI_ERR_NUMERIC);
            assert_non_null(strstr(error.text, "closed side"));
        } else if (kind == 1) {
            assert_int_equal(wadi_sim_step_frame(sim, &error), WADI_ERR_NUMERIC);
            assert_non_null(strstr(error.text, "finite"));
        } else {
            CHECK_OK(wadi_sim_step_frame(sim, &error), error);
            assert_int_equal(sim->particles.count, born - 1);
            assert_int_equal(wadi_sim_drained_particles(sim), 1);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_box_holds_whatever_pushes),
        cmocka_unit_test(no_force_moves_a_particle_farther_than_the_solver_allows),
        cmocka_unit_test(drag_approaches_the_wind_and_never_exceeds_it),
        cmocka_unit_test(a_piston_presses_nothing_through_a_wall),
        cmocka_unit_test(a_particle_beyond_a_closed_wall_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
