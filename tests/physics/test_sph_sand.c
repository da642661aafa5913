/* sph: columns of sand that fall, piles that stand and moist sand. */
#include "scene_sim.h"
#include "sim/sim.h"

static const double spacing = 0.01, g = 9.81, degree = 0.017453292519943295;

enum { FPS = 60, TEXT = 2048 };

/* A rough floor at z = 0 in a domain with smooth walls. */
static void scene_text(char *text, const char *solver, int per_cell, const char *sand, const char *shape)
{
    snprintf(
        text, TEXT,
        "{wadi: 1, name: sand, solver: %s, cell_size: 0.01, particles_per_cell: %d, frames: 999, fps: %d,"
        " domain: {min: [0, 0, -0.02], max: [0.6, 0.06, 0.2], walls: {friction: 0}},"
        " materials: {sand: {kind: sand, density: 1600, friction_angle: 30, %s}},"
        " bodies: [{material: sand, shape: %s}],"
        " colliders: [{name: floor, friction: 0.577, shape: {box: {min: [-1, -1, -1], max: [9, 1, 0]}}}]}",
        solver, per_cell, FPS, sand, shape);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where 99.5 % of the particles are behind. */
static double front(const WadiParticles *p)
{
    double *x = malloc((size_t)p->count * sizeof *x);
    memcpy(x, p->x, (size_t)p->count * sizeof *x);
    qsort(x, (size_t)p->count, sizeof *x, compare);
    const double at = x[(int32_t)(0.995 * (p->count - 1))];
    free(x);
    return at;
}

/* Runs a block at rest for a while; m: its front. */
static double collapse(const char *solver, int per_cell, const char *sand, double height, double seconds)
{
    char text[TEXT], shape[128];
    snprintf(shape, sizeof shape, "{box: {min: [0, 0, 0], max: [0.1, 0.06, %g]}}", height);
    scene_text(text, solver, per_cell, sand, shape);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, (int)(seconds * FPS));
    const double at = front(&sim->particles);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return at;
}

static void test_column_runs_out_as_with_the_grid(void **state)
{
    (void)state;
    const double length = 0.1;
    const double particles = (collapse("sph", 1, "cohesion: 0", 0.1, 0.75) - length) / length;
    const double grid = (collapse("flip", 8, "cohesion: 0", 0.1, 0.75) - length) / length;
    print_message("run-out %.3f, flip %.3f\n", particles, grid);
    CHECK_NEAR(particles / grid, 1.0, 0.15);
}

/* A rough floor counts also where it lies flush with the smooth bottom of the domain. */
static void test_floor_flush_with_the_domain_is_rough(void **state)
{
    (void)state;
    char text[TEXT];
    scene_text(text, "sph", 1, "cohesion: 0", "{box: {min: [0, 0, 0], max: [0.1, 0.06, 0.1]}}");
    char *bottom = strstr(text, "-0.02");
    assert_non_null(bottom);
    memcpy(bottom, " 0.00", 5);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, (int)(0.5 * FPS));
    const double flush = front(&sim->particles), raised = collapse("sph", 1, "cohesion: 0", 0.1, 0.5);
    print_message("run-out on a floor flush with the domain %.3f, above it %.3f\n", flush - 0.1,
                  raised - 0.1);
    CHECK_NEAR((flush - 0.1) / (raised - 0.1), 1.0, 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A vertical face stands up to 4 c / (rho g) tan(45 + phi / 2). */
static void test_moist_column_stands_below_its_critical_height(void **state)
{
    (void)state;
    const double height = 0.1;
    for (int falls = 0; falls < 2; ++falls) {
        char sand[64];
        const double critical = height / (falls ? 1.5 : 0.6);
        const double cohesion = critical * 1600.0 * g / (4.0 * tan(60.0 * degree));
        snprintf(sand, sizeof sand, "cohesion: %.1f", cohesion);
        const double moved = (collapse("sph", 1, sand, height, 0.6) - 0.1) / spacing;
        print_message("%g of its height: front at %+.2f spacings\n", height / critical, moved);
        if (falls) {
            assert_true(moved > 3.0);
        } else {
            CHECK_AT_MOST(moved, 0.5);
        }
    }
}

/* A ridge two degrees below the friction angle: its drift from the first second on, spacings a second, and
 * its height at the end. */
typedef struct Ridge {
    double drift, height;
} Ridge;

static Ridge run_ridge(const char *more, double seconds)
{
    char text[TEXT], shape[512];
    const double slope = 28.0 * degree;
    snprintf(shape, sizeof shape,
             "{intersection: [{box: {min: [0, 0, 0], max: [0.6, 0.06, 0.2]}},"
             " {half_space: {point: [0.3, 0, 0.12], normal: [%g, 0, %g]}},"
             " {half_space: {point: [0.3, 0, 0.12], normal: [%g, 0, %g]}}]}",
             sin(slope), cos(slope), -sin(slope), cos(slope));
    scene_text(text, "sph", 1, "cohesion: 0", shape);
    strcpy(strrchr(text, '}'), more);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    run_frames(sim, FPS);
    WadiVec3 *before = malloc((size_t)p->next_id * sizeof *before);
    for (int32_t i = 0; i < p->count; ++i) {
        before[p->id[i]] = (WadiVec3){ p->x[i], p->y[i], p->z[i] };
    }
    run_frames(sim, (int)(FPS * seconds));
    double sum = 0.0;
    Ridge ridge = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        sum += wadi_norm(wadi_sub((WadiVec3){ p->x[i], p->y[i], p->z[i] }, before[p->id[i]]));
        ridge.height = fmax(ridge.height, p->z[i]);
    }
    ridge.drift = sum / p->count / spacing / seconds;
    print_message("%d particles, %.2e spacings a second, %.3f m high\n", p->count, ridge.drift, ridge.height);
    free(before);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return ridge;
}

static void test_pile_stands(void **state)
{
    (void)state;
    const Ridge ridge = run_ridge(", sph: {sleep: false}}", is_long_run() ? 20.0 : 1.0);
    CHECK_AT_MOST(ridge.drift, 1e-3);
    assert_true(ridge.height > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_runs_out_as_with_the_grid),
        cmocka_unit_test(test_floor_flush_with_the_domain_is_rough),
        cmocka_unit_test(test_moist_column_stands_below_its_critical_height),
        cmocka_unit_test(test_pile_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
