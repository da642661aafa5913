/* flip: piles of sand that stand, collapse and come to rest. */
#include <stdlib.h>
#include <string.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double h = 0.02, gravity = 9.81;

/* A quarter of a round body on a floor as rough as the sand is inside, between smooth walls. */
#define ROUND                                                                                                \
    "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 2\nflip: {sleep: false}\n"                                 \
    "domain: {min: [0, 0, 0], max: [1, 1, 0.5], walls: {friction: 0}}\n"                                     \
    "materials: {sand: {kind: sand, friction_angle: 30}}\n"                                                  \
    "colliders: [{friction: 0.57735, shape: {half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}}]\n"

typedef struct Positions {
    double (*x)[3]; /* by id */
} Positions;

static void record(const WadiParticles *p, Positions *positions)
{
    for (int32_t i = 0; i < p->count; ++i) {
        positions->x[p->id[i]][0] = p->x[i];
        positions->x[p->id[i]][1] = p->y[i];
        positions->x[p->id[i]][2] = p->z[i];
    }
}

/* Mean distance from the recorded positions, cells. */
static double mean_displacement(const WadiParticles *p, const Positions *positions)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double *from = positions->x[p->id[i]];
        sum += sqrt(pow(p->x[i] - from[0], 2) + pow(p->y[i] - from[1], 2) + pow(p->z[i] - from[2], 2));
    }
    return sum / p->count / h;
}

/* A cone of 28 degrees, 24 cells in radius, of sand of 30 degrees. WADI_LONG: 5 s instead of 2. */
static void a_cone_below_its_angle_stands(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(ROUND "bodies: [{material: sand, shape: {cone: {from: [0, 0, 0], to: [0, 0, "
                         "0.25522], radius: 0.48, top_radius: 0}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiFlip *flip = sim->solver;
    Positions start = { calloc((size_t)sim->particles.count, sizeof *start.x) },
              late = { calloc((size_t)sim->particles.count, sizeof *late.x) };
    assert_true(start.x != NULL && late.x != NULL);
    bool is_long = is_long_run();
    int frames = is_long ? 10 : 4;
    record(&sim->particles, &start);
    run_frames(sim, frames - 2);
    record(&sim->particles, &late);
    run_frames(sim, 2);
    double all = mean_displacement(&sim->particles, &start), last = mean_displacement(&sim->particles, &late);
    print_message("%g s: %.4f cells, last second %.5f cell/s, %d iterations\n", 0.5 * frames, all, last,
                  flip->friction_report.iterations);
    CHECK_AT_MOST(all, 0.02);
    CHECK_AT_MOST(last, 1e-3);
    assert_true(!is_long || flip->friction_report.iterations <= 10);
    free(start.x);
    free(late.x);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Mean thickness, in cells, of rings one cell wide. */
static void find_profile(const WadiParticles *p, double thickness[64])
{
    memset(thickness, 0, 64 * sizeof *thickness);
    for (int32_t i = 0; i < p->count; ++i) {
        int ring = (int)(hypot(p->x[i], p->y[i]) / h);
        double area = 0.25 * 3.14159265358979 * (2.0 * ring + 1.0);
        if (ring < 64) {
            thickness[ring] += 0.125 / area;
        }
    }
}

/* A column as high as it is wide [LHSH04; LMV04: run-out 1.0 to 1.24 radii]; the toe is
 * where less than half a cell is left. */
static void a_column_runs_out_and_stays(void **unused)
{
    (void)unused;
    bool is_long = is_long_run();
    int cells = is_long ? 20 : 16;
    char text[1500];
    snprintf(text, sizeof text,
             "%sbodies: [{material: sand, shape: {cylinder: {from: [0, 0, 0], to: [0, 0, %g], "
             "radius: %g}}}]\n",
             ROUND, cells * h, cells * h);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    Positions late = { calloc((size_t)sim->particles.count, sizeof *late.x) };
    assert_true(late.x != NULL);
    run_frames(sim, 4);
    record(&sim->particles, &late);
    run_frames(sim, 1);
    double thickness[64], last = 2.0 * mean_displacement(&sim->particles, &late);
    find_profile(&sim->particles, thickness);
    int toe = 63;
    while (toe > 0 && thickness[toe] < 0.5) {
        --toe;
    }
    double run_out = (double)(toe + 1 - cells) / cells, height = thickness[1] / cells;
    print_message("run-out %.2f, height %.3f, last half second %.4f cell/s\n", run_out, height, last);
    assert_true(run_out >= 0.8 && run_out <= 1.25);
    assert_true(height >= 0.70 && height <= 0.82);
    CHECK_AT_MOST(last, 0.005);
    free(late.x);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A heap poured for 2.5 s comes to rest: mean speed and drift 2.5 to 3.5 s after the last grain left. */
static void a_poured_heap_comes_to_rest(void **unused)
{
    (void)unused;
    if (!is_long_run()) {
        skip();
    }
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 2\nflip: {sleep: false}\n"
        "domain: {min: [-0.8, 0, 0], max: [0.8, 0.08, 1], walls: {friction: 0}}\n"
        "materials: {sand: {kind: sand, friction_angle: 30}}\n"
        "emitters: [{material: sand, shape: {box: {min: [-0.06, 0, 0.7], max: [0.06, 0.08, 0.74]}}, "
        "velocity: [0, "
        "0, -0.5], rate: 0.0048, end: 2.5}]\n"
        "colliders: [{friction: 0.57735, shape: {half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 10);
    const WadiParticles *p = &sim->particles;
    Positions late = { calloc((size_t)p->count, sizeof *late.x) };
    assert_true(late.x != NULL);
    record(p, &late);
    run_frames(sim, 2);
    double speed = 0.0, top = 0.0, width = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        speed += sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i])) / p->count;
        top = fmax(top, p->z[i]);
        width = fmax(width, fabs(p->x[i]));
    }
    double angle = atan2(top, width) * 57.29577951308232;
    print_message("mean speed %.2g sqrt(g h), %.4f cell/s, height over half width %.1f deg\n",
                  speed / sqrt(gravity * h), mean_displacement(p, &late), angle);
    CHECK_AT_MOST(speed, 1e-3 * sqrt(gravity * h));
    CHECK_AT_MOST(mean_displacement(p, &late), 0.01);
    free(late.x);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cone_below_its_angle_stands),
        cmocka_unit_test(a_column_runs_out_and_stays),
        cmocka_unit_test(a_poured_heap_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
