/* flip: sand kept flowing by walls that move: a turning drum, and a thin plate that ploughs a bed. How many
 * iterations the friction takes, how far it is from done, and what the sand does. WADI_LONG=1: the drum for a
 * whole turn, and once more with five times the iterations; the plate on a grid twice as fine. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double gravity = 9.81, degree = 0.017453292519943295;

/* The largest number is 12 a cell of depth, and the drum has 30. */
enum { MEAN_ITERATIONS = 240, MOST_ITERATIONS = 360 };

/* What the friction solves of some steps reported. */
typedef struct Effort {
    int steps, most;
    double mean;     /* iterations a step */
    double residual; /* mean over the steps of the last change of a stress, in g dt */
} Effort;

/* The first step of a scene starts cold: it is not counted. */
static Effort run_for(WadiSim *sim, double seconds)
{
    Effort effort = { 0 };
    const double end = wadi_sim_time(sim) + seconds - 1e-6;
    const WadiFlip *flip = sim->solver;
    while (wadi_sim_time(sim) < end) {
        const double time = wadi_sim_time(sim);
        WadiError error = { 0 };
        CHECK_OK(wadi_sim_step(sim, &error), error);
        if (time > 0.0) {
            const WadiFrictionReport *report = &flip->friction_report;
            effort.steps += 1;
            effort.mean += report->iterations;
            effort.residual += report->last_change / (gravity * (wadi_sim_time(sim) - time));
            effort.most = report->iterations > effort.most ? report->iterations : effort.most;
        }
    }
    effort.mean /= effort.steps;
    effort.residual /= effort.steps;
    return effort;
}

static void check_effort(const char *name, Effort effort, double residual)
{
    print_message("%s: %d steps, %.1f friction iterations a step, at most %d; last change %.4f g dt\n", name,
                  effort.steps, effort.mean, effort.most, effort.residual);
    CHECK_AT_MOST(effort.mean, MEAN_ITERATIONS);
    assert_true(effort.most <= MOST_ITERATIONS);
    /* A thousandth of g dt in every cell is converged. Flowing sand stops before that, and its next step goes
     * on from there: what is left is the change of the one worst cell. */
    CHECK_AT_MOST(effort.residual, residual);
}

#define DRUM_RADIUS 0.2
#define DRUM_WIDTH 0.04
#define DRUM_CELL 0.01

/* Slope of the surface in degrees, over the middle half of the drum: columns of sand on the round floor, by
 * volume. */
static double drum_angle(const WadiSim *sim)
{
    enum { BINS = 10 };
    const WadiParticles *p = &sim->particles;
    const double wide = DRUM_RADIUS / BINS, grain = DRUM_CELL * DRUM_CELL * DRUM_CELL / 8.0;
    double top[BINS], xz = 0.0, xx = 0.0, mean = 0.0;
    for (int b = 0; b < BINS; ++b) {
        double x = (b + 0.5) * wide - 0.5 * DRUM_RADIUS;
        top[b] = -sqrt(DRUM_RADIUS * DRUM_RADIUS - x * x);
    }
    for (int32_t i = 0; i < p->count; ++i) {
        double b = floor((p->x[i] + 0.5 * DRUM_RADIUS) / wide);
        if (b >= 0.0 && b < BINS) {
            top[(int)b] += grain / (wide * DRUM_WIDTH);
        }
    }
    for (int b = 0; b < BINS; ++b) {
        mean += top[b] / BINS;
    }
    for (int b = 0; b < BINS; ++b) {
        double x = (b + 0.5) * wide - 0.5 * DRUM_RADIUS;
        xz += x * (top[b] - mean);
        xx += x * x;
    }
    return atan(xz / xx) / degree;
}

/* What a drum did in its last part, after the first avalanche. */
typedef struct Turn {
    double mean, low, high; /* slope of the surface, degrees */
    Effort effort;          /* means of the worst quarter of a second */
} Turn;

/* Half full, one turn in ten seconds: slow enough (w^2 R / g = 0.008) for a flat surface at the angle of
 * repose. */
static Turn turn_drum(int parts, int iterations)
{
    char text[1400], asked[64] = "";
    if (iterations > 0) {
        snprintf(asked, sizeof asked, "flip: {friction_iterations: %d}\n", iterations);
    }
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: %g\nfps: 24\n%s"
             "domain: {min: [-0.24, 0, -0.24], max: [0.24, %g, 0.24], walls: {friction: 0}}\n"
             "materials: {sand: {kind: sand, friction_angle: 30}}\n"
             "bodies: [{material: sand, shape: {box: {min: [-0.2, 0, -0.2], max: [0.2, %g, 0]}}}]\n"
             "colliders: [{friction: 1, shape: {difference: [{box: {min: [-0.4, -1, -0.4], max: [0.4, 1, "
             "0.4]}}, {cylinder: {from: [0, -2, 0], to: [0, 2, 0], radius: %g}}], "
             "rotate: {keys: [[0, [0, 0, 0]], [20, [0, -720, 0]]]}}}]\n",
             DRUM_CELL, asked, DRUM_WIDTH, DRUM_WIDTH, DRUM_RADIUS);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const int32_t count = p->count;
    Turn turn = { .low = 90.0, .high = -90.0, .effort = run_for(sim, 1.75) };
    for (int part = 0; part < parts; ++part) {
        Effort effort = run_for(sim, 0.25);
        double angle = drum_angle(sim);
        turn.mean += angle / parts;
        turn.low = fmin(turn.low, angle);
        turn.high = fmax(turn.high, angle);
        turn.effort.mean = fmax(turn.effort.mean, effort.mean);
        turn.effort.residual = fmax(turn.effort.residual, effort.residual);
        turn.effort.most = effort.most > turn.effort.most ? effort.most : turn.effort.most;
        turn.effort.steps += effort.steps;
    }
    print_message("drum: surface at %.1f degrees, %.1f to %.1f over %.2f s\n", turn.mean, turn.low, turn.high,
                  0.25 * parts);
    assert_int_equal(p->count, count);
    for (int32_t i = 0; i < count; ++i) {
        CHECK_AT_MOST(sqrt(p->x[i] * p->x[i] + p->z[i] * p->z[i]), DRUM_RADIUS + 1e-6);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return turn;
}

static void a_drum_keeps_its_sand_near_the_angle_of_repose(void **unused)
{
    (void)unused;
    const int parts = is_long_run() ? 33 : 5;
    Turn turn = turn_drum(parts, 0);
    check_effort("drum", turn.effort, 0.3);
    /* Grains in slow drums flow a few degrees above their angle of repose; a surface of 20 cells adds a step
     * or two of a cell. */
    CHECK_NEAR(turn.mean, 33.0, 5.0);
    CHECK_AT_MOST(turn.high - turn.low, 7.0);
    if (is_long_run()) {
        CHECK_NEAR(turn_drum(parts, 100).mean, turn.mean, 2.5);
    }
}

#define PLATE_SPEED 0.25
#define BED_DEPTH 0.08

/* The plate is a tenth of a cell thick, from below the floor to far above the sand and from wall to wall. */
static WadiSim *plough_start(double cell, bool is_mesh, WadiScene **scene)
{
    char folder[] = "/tmp/wadi_plough_XXXXXX", path[64], shape[160], text[1200];
    const double half = 0.05 * cell;
    snprintf(shape, sizeof shape, "box: {min: [%.9g, -0.1, -0.1], max: [%.9g, 0.2, 0.4]}", 0.2 - half,
             0.2 + half);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/plate.obj", folder);
    if (is_mesh) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (int i = 0; i < 8; ++i) {
            fprintf(file, "v %.9g %g %g\n", 0.2 + ((i & 1) != 0 ? half : -half), (i & 2) != 0 ? 0.2 : -0.1,
                    (i & 4) != 0 ? 0.4 : -0.1);
        }
        fprintf(file, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
        fclose(file);
        snprintf(shape, sizeof shape, "mesh: {file: %s}", path);
    }
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: %g\nfps: 24\n"
             "domain: {min: [0, 0, 0], max: [1, 0.08, 0.4], walls: {friction: 0}}\n"
             "materials: {sand: {kind: sand, friction_angle: 30}}\n"
             "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [1, 0.08, %g]}}}]\n"
             "colliders: [{friction: 0.6, shape: {box: {min: [-1, -1, -1], max: [2, 1, 0]}}}, "
             "{friction: 0.3, shape: {%s, translate: {keys: [[0, [0, 0, 0]], [2, [%g, 0, 0]]]}}}]\n",
             cell, BED_DEPTH, shape, 2.0 * PLATE_SPEED);
    *scene = load_scene(text);
    WadiSim *sim = start_sim(*scene, 1);
    unlink(path);
    rmdir(folder);
    return sim;
}

static void a_plate_ploughs(bool is_mesh)
{
    const double cell = is_long_run() ? 0.01 : 0.02, seconds = 1.0;
    WadiScene *scene;
    WadiSim *sim = plough_start(cell, is_mesh, &scene);
    const WadiParticles *p = &sim->particles;
    const int32_t count = p->count;
    bool *is_ahead = calloc((size_t)count, sizeof *is_ahead);
    assert_non_null(is_ahead);
    for (int32_t i = 0; i < count; ++i) {
        is_ahead[p->id[i]] = p->x[i] > 0.2;
    }
    /* The finer grid has twice the cells across the same heap, and no more iterations. */
    check_effort(is_mesh ? "plate, a mesh" : "plate, a box", run_for(sim, seconds),
                 is_long_run() ? 0.4 : 0.2);
    /* Who was ahead still is, who was behind still is. */
    const double plate = 0.2 + PLATE_SPEED * seconds, far = plate + 0.3;
    int32_t passed = 0;
    double near_volume = 0.0, far_volume = 0.0;
    assert_int_equal(p->count, count);
    for (int32_t i = 0; i < count; ++i) {
        passed += (p->x[i] > plate) != is_ahead[p->id[i]];
        near_volume += p->x[i] > plate && p->x[i] < plate + 0.06;
        far_volume += p->x[i] > far && p->x[i] < far + 0.06;
    }
    const double to_height = cell * cell * cell / 8.0 / (0.06 * 0.08);
    print_message(
        "plate: %d of %d grains passed; %.3f m of sand before it, %.3f m far ahead, %.3f at first\n", passed,
        count, near_volume * to_height, far_volume * to_height, BED_DEPTH);
    assert_int_equal(passed, 0);
    /* What was in its way, 0.25 x 0.08 m^2, is before it, most of it as a heap: on a bed that does not give
     * way, a triangle of 30 degrees would be 0.15 m high. */
    CHECK_AT_MOST(1.5 * BED_DEPTH, near_volume * to_height);
    CHECK_NEAR(far_volume * to_height, BED_DEPTH, 0.25 * BED_DEPTH); /* the bed is shoved on as a whole */
    free(is_ahead);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_thin_plate_pushes_a_heap_and_nothing_passes(void **unused)
{
    (void)unused;
    a_plate_ploughs(false);
}

static void a_thin_plate_as_a_mesh_does_the_same(void **unused)
{
    (void)unused;
    a_plate_ploughs(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drum_keeps_its_sand_near_the_angle_of_repose),
        cmocka_unit_test(a_thin_plate_pushes_a_heap_and_nothing_passes),
        cmocka_unit_test(a_thin_plate_as_a_mesh_does_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
