/* Sand that rests sleeps and does not move by a bit; it wakes when something comes near, and only then. */
#include <stdlib.h>
#include <string.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* Cells of 2 cm: sqrt(g dx) = 0.44 m/s, the window 0.45 s. A column that collapses to one side and lies still
 * after a second. */
#define COLUMN                                                                                               \
    "wadi: 1\nsolver: flip\nresolution: 40\n"                                                                \
    "domain: {min: [0, 0, 0], max: [0.8, 0.04, 0.5], walls: {friction: 0.7}}\n"                              \
    "materials: {sand: {kind: sand, friction_angle: 35}}\n"                                                  \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.04, 0.08]}}}]\n"

static const double cell = 0.02;

static bool is_all_asleep(const WadiSim *sim)
{
    return wadi_sim_sleeping_particles(sim) == sim->particles.count;
}

static void run_until(WadiSim *sim, double time)
{
    WadiError error = { 0 };
    while (sim->time < time - 1e-9) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
    }
}

/* Positions by id. */
static double (*positions(const WadiSim *sim))[3]
{
    double(*position)[3] = calloc(sim->particles.next_id, sizeof *position);
    assert_non_null(position);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        double *x = position[sim->particles.id[i]];
        x[0] = sim->particles.x[i], x[1] = sim->particles.y[i], x[2] = sim->particles.z[i];
    }
    return position;
}

/* Seconds in the stages of a name. */
static double seconds_of(const WadiSim *sim, const char *name)
{
    double sum = 0.0;
    for (int s = 0; s < sim->times.count; ++s) {
        sum += strcmp(sim->times.name[s], name) == 0 ? sim->times.seconds[s] : 0.0;
    }
    return sum;
}

/* Frames of two seconds: the pile falls asleep during the first one, and has the pressure of that time at its
 * end. */
static void sleepers_have_the_pressure_of_their_last_step(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(COLUMN "fps: 0.5\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.8);
    assert_true(is_all_asleep(sim));
    run_frames(sim, 1);
    const float *pressure = column_of(&sim->particles, "pressure");
    double high = 0.0, low = 0.0;
    int32_t count = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        /* Against the wall the column is four cells high as it was at first. */
        if (sim->particles.x[i] < 2.0 * cell && sim->particles.z[i] < cell) {
            low += (double)pressure[i];
            ++count;
        }
        high = fmax(high, (double)pressure[i]);
    }
    print_message("pressure at the foot %.0f Pa, at most %.0f\n", low / count, high);
    assert_true(count > 0);
    CHECK_NEAR(low / count, 1600.0 * 9.81 * 3.5 * cell, 0.15 * 1600.0 * 9.81 * 3.5 * cell);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_settled_pile_does_not_move_by_a_bit_and_costs_nothing(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(COLUMN);
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 0.4);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0); /* the column begins at rest but must not sleep */
    run_until(sim, 1.6);
    assert_true(is_all_asleep(sim));
    double(*before)[3] = positions(sim);
    double friction = seconds_of(sim, "friction"), sort = seconds_of(sim, "sort");
    int64_t steps = sim->steps;
    assert_true(friction > 0.0 && sort > 0.0);
    run_frames(sim, 60 * 24);
    double(*after)[3] = positions(sim);
    assert_memory_equal(before, after, sim->particles.next_id * sizeof *before);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        assert_true(sim->particles.vx[i] == 0.0f && sim->particles.vy[i] == 0.0f &&
                    sim->particles.vz[i] == 0.0f);
    }
    /* A step a frame, and none of the stages ran. */
    assert_int_equal(sim->steps - steps, 60 * 24);
    assert_true(seconds_of(sim, "friction") == friction && seconds_of(sim, "sort") == sort);
    free(before);
    free(after);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#define POURED                                                                                               \
    COLUMN "emitters: [{material: sand, shape: {box: {min: [0.06, 0.01, 0.36], max: [0.12, 0.03, 0.4]}}, "   \
           "velocity: [0, 0, -0.5], rate: 3e-4, start: 1.7, end: 1.9}]\n"

/* Fast particles are farther from sleeping ones than the stencils of the stages extend. */
static void check_distance(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiFlip *flip = sim->solver;
    for (int32_t i = flip->sleep.count; i < p->count; ++i) {
        double square = (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
        for (int32_t j = 0; j < flip->sleep.count && square > 9.81 * cell; ++j) {
            double far =
                fmax(fabs(p->x[i] - p->x[j]), fmax(fabs(p->y[i] - p->y[j]), fabs(p->z[i] - p->z[j])));
            assert_true(far > WADI_FLIP_MARGIN * cell);
        }
    }
}

static WadiSim *pour(const WadiScene *scene, double *waking)
{
    WadiError error = { 0 };
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.6);
    *waking = 1e9;
    bool was_asleep = is_all_asleep(sim);
    int64_t asleep = wadi_sim_sleeping_particles(sim);
    while (sim->time < 4.1) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        if (was_asleep && asleep > sim->sleeping_particles && *waking > 1e8) {
            *waking = sim->time;
        } else if (sim->sleeping_particles > 0 && sim->time < 2.4) {
            check_distance(sim);
        }
    }
    return sim;
}

/* Column heights of cells of 4 cm. */
static void profile(const WadiSim *sim, double height[20])
{
    for (int b = 0; b < 20; ++b) {
        height[b] = 0.0;
    }
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        int b = (int)(sim->particles.x[i] / 0.04);
        height[b] += sim->world->particle_volume / (0.04 * 0.04);
    }
}

static void poured_sand_wakes_a_pile_before_it_arrives(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(POURED), *awake = load_scene(POURED "flip: {sleep: false}\n");
    double waking, never;
    WadiSim *sim = pour(scene, &waking), *other = pour(awake, &never);
    /* It falls from 0.36 m, at first at 0.5 m/s, and is within four cells of the top at 0.08 m after 0.2 m:
     * 0.16 s. */
    print_message("woke at %.3f s\n", waking);
    assert_true(waking > 1.8 && waking < 1.92);
    assert_true(never > 1e8);
    assert_true(is_all_asleep(sim));
    assert_int_equal(sim->particles.count, other->particles.count);
    double one[20], two[20], worst = 0.0;
    profile(sim, one);
    profile(other, two);
    for (int b = 0; b < 20; ++b) {
        worst = fmax(worst, fabs(one[b] - two[b]));
    }
    print_message("heights differ by at most %.3f cells\n", worst / cell);
    CHECK_AT_MOST(worst, 0.5 * cell);
    wadi_sim_destroy(sim);
    wadi_sim_destroy(other);
    wadi_scene_destroy(scene);
    wadi_scene_destroy(awake);
}

/* All sleep until the step that reaches the time `change`; in the next one at least `some` are awake. */
static void check_wakes(WadiSim *sim, double change, int64_t some)
{
    WadiError error = { 0 };
    run_until(sim, change - 0.1);
    assert_true(is_all_asleep(sim));
    while (sim->time < change + 1e-9) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
    }
    CHECK_OK(wadi_sim_step(sim, &error), error);
    int64_t awake = sim->particles.count - wadi_sim_sleeping_particles(sim);
    assert_true(awake >= (some > 0 ? some : sim->particles.count));
    CHECK_AT_MOST(sim->time, change + 2.0 / 120.0 + 1e-9); /* two steps of sand */
}

static double mean_x(const WadiSim *sim)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += sim->particles.x[i];
    }
    return sum / sim->particles.count;
}

static void a_plate_that_starts_to_move_wakes_its_pile(void **unused)
{
    (void)unused;
    /* From 1.4 s on the plate moves at 0.1 m/s, slow enough to carry the pile: 0.05 m in the half second that
     * follows. */
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\nmaterials: {sand: {kind: sand, friction_angle: 35}}\n"
        "colliders: [{shape: {box: {min: [-0.5, -0.5, -0.2], max: [0.9, 0.5, 0]}, "
        "translate: {keys: [[1.4, [0, 0, 0]], [2, [0.06, 0, 0]]]}}, friction: 0.7}]\n"
        "bodies: [{material: sand, shape: {cone: {from: [0, 0, 0], to: [0, 0, 0.08], radius: 0.2, "
        "top_radius: "
        "0.001}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.3);
    double start = mean_x(sim);
    check_wakes(sim, 1.4, 0);
    CHECK_NEAR(mean_x(sim), start, 0.1 * 2.0 / 120.0 + 1e-3); /* two steps on the plate */
    run_until(sim, 1.9);
    assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    CHECK_NEAR(mean_x(sim) - start, 0.05, 0.01);
    run_until(sim, 3.4);
    assert_true(is_all_asleep(sim));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void gravity_that_turns_wakes_everything(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(COLUMN "gravity: {keys: [[1.6, [0, 0, -9.81]], [1.8, [8, 0, -5.7]]]}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.5);
    double start = mean_x(sim);
    check_wakes(sim, 1.6, 0);
    run_until(sim, 2.1);
    assert_true(mean_x(sim) - start > 2.0 * cell);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_drain_under_a_pile_wakes_it(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        COLUMN "drains: [{shape: {box: {min: [0.05, 0, -0.1], max: [0.15, 0.04, 0.03]}}, start: 1.6}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.5);
    int32_t start = sim->particles.count, near = 0;
    for (int32_t i = 0; i < start; ++i) { /* remaining particles of the tile above the drain */
        near += sim->particles.x[i] < 0.16 && sim->particles.z[i] > 0.04;
    }
    assert_true(near > start / 4);
    check_wakes(sim, 1.6, near);
    int32_t robbed = sim->particles.count;
    run_until(sim, 2.1);
    /* The sand above falls into the hole and is drained too. */
    assert_true(robbed < start && sim->particles.count < robbed - (start - robbed) / 2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Cones of sand of friction angle 30 degrees that begin at rest. One of 40 degrees slides, and does not sleep
 * before it has; one of 15 degrees sleeps where it is, soon after the window. */
static void a_steep_cone_slides_and_a_flat_one_stays(void **unused)
{
    (void)unused;
    const double height[2] = { 0.2 * 0.839, 0.2 * 0.268 };
    for (int flat = 0; flat < 2; ++flat) {
        char text[512];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: 0.02\ndomain: {min: [-0.5, -0.5, 0], max: [0.5, 0.5, 0.5], "
            "walls: {friction: 0.7}}\n"
            "materials: {sand: {kind: sand, friction_angle: 30}}\n"
            "bodies: [{material: sand, shape: {cone: {from: [0, 0, 0], to: [0, 0, %.4f], radius: 0.2, "
            "top_radius: 0.001}}}]\n",
            height[flat]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double(*before)[3] = positions(sim), moved = 0.0, top = 0.0;
        run_until(sim, 0.44);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
        run_until(sim, 0.9);
        print_message("asleep: %d of %d\n", (int)wadi_sim_sleeping_particles(sim), sim->particles.count);
        /* The fringes of the steep one lie in tiles of their own, and lie still. */
        assert_true(flat ? is_all_asleep(sim) : wadi_sim_sleeping_particles(sim) < sim->particles.count / 10);
        double(*after)[3] = positions(sim);
        for (uint32_t i = 0; i < sim->particles.next_id; ++i) {
            moved += fabs(after[i][0] - before[i][0]) / sim->particles.next_id;
            top = fmax(top, after[i][2]);
        }
        print_message("%s cone: moved by %.3f cells on average, top at %.3f m of %.3f\n",
                      flat ? "flat" : "steep", moved / cell, top, height[flat]);
        assert_true(flat ? moved < 0.05 * cell : top < height[0] - cell);
        free(before);
        free(after);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void a_ball_at_the_top_of_its_flight_does_not_sleep(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.02\nmaterials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, shape: {sphere: {radius: 0.05}}, velocity: [0, 0, 4.905]}]\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiError error = { 0 };
    while (sim->time < 1.0) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        assert_int_equal(wadi_sim_sleeping_particles(sim), 0);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Two piles: one is woken, the other sleeps on. */
static void islands_wake_alone(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\ndomain: {min: [-0.5, -0.2, 0], max: [0.9, 0.2, 0.5], walls: "
        "{friction: 0.7}}\nmaterials: {sand: {kind: sand, friction_angle: 35}}\n"
        "bodies: [{material: sand, shape: {cone: {from: [0, 0, 0], to: [0, 0, 0.04], radius: 0.12, "
        "top_radius: "
        "0.001}}}, {material: sand, shape: {cone: {from: [0.5, 0, 0], to: [0.5, 0, 0.04], radius: 0.12, "
        "top_radius: 0.001}}}]\n"
        "emitters: [{material: sand, shape: {box: {min: [-0.02, -0.02, 0.3], max: [0.02, 0.02, 0.34]}}, "
        "velocity: [0, 0, -0.5], rate: 2e-4, start: 1.4, end: 1.6}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_until(sim, 1.3);
    assert_true(is_all_asleep(sim));
    double(*before)[3] = positions(sim);
    int32_t count = sim->particles.count;
    run_until(sim, 1.8);
    double(*after)[3] = positions(sim);
    int32_t far = 0;
    for (int32_t i = 0; i < count; ++i) {
        bool is_far = before[i][0] > 0.25, is_same = memcmp(before[i], after[i], sizeof before[i]) == 0;
        assert_true(!is_far || is_same);
        far += is_far;
    }
    assert_int_equal(wadi_sim_sleeping_particles(sim), far);
    assert_true(far > count / 3 && far < 2 * count / 3);
    free(before);
    free(after);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Through falling asleep, waking and falling asleep again; the last run is cut twice: while all sleep, and
 * just after. */
static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(POURED);
    uint64_t hash[4];
    int threads[4] = { 1, 2, 5, 2 };
    for (int k = 0; k < 4; ++k) {
        WadiError error = { 0 };
        WadiSim *sim = start_sim(scene, threads[k]);
        int64_t most = 0;
        for (int frame = 0; frame < 66; ++frame) {
            if (k == 3 && (frame == 20 || frame == 39 || frame == 46)) {
                WadiState state = { 0 };
                CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
                wadi_sim_destroy(sim);
                sim = start_sim(scene, 1);
                CHECK_OK(wadi_sim_restore(sim, &state, &error), error);
                wadi_state_free(&state);
            }
            run_frames(sim, 1);
            most = sim->sleeping_particles > most ? sim->sleeping_particles : most;
        }
        assert_true(most > 0);
        hash[k] = wadi_sim_state_hash(sim);
        wadi_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2] && hash[0] == hash[3]);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleepers_have_the_pressure_of_their_last_step),
        cmocka_unit_test(a_settled_pile_does_not_move_by_a_bit_and_costs_nothing),
        cmocka_unit_test(poured_sand_wakes_a_pile_before_it_arrives),
        cmocka_unit_test(a_plate_that_starts_to_move_wakes_its_pile),
        cmocka_unit_test(gravity_that_turns_wakes_everything),
        cmocka_unit_test(a_drain_under_a_pile_wakes_it),
        cmocka_unit_test(a_steep_cone_slides_and_a_flat_one_stays),
        cmocka_unit_test(a_ball_at_the_top_of_its_flight_does_not_sleep),
        cmocka_unit_test(islands_wake_alone),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
