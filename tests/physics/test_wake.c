/* Whatever moves wakes what it touches or leaves, in every solver and mode that sleeps. A bed lies on two
 * plates, in some cases around a ball; long after all of it is at rest something begins to move. */
#include "dem/dem.h"
#include "same_bytes.h"

#define START 8.0 /* s */

typedef struct Mode {
    const char *name, *settings;
    bool sleeps;     /* false: nothing is left out of its steps */
    bool has_grains; /* grains of dem: none may hang in the air */
    bool is_slow;    /* motions marked as long run with WADI_LONG alone */
    bool is_fixed;   /* a height field: it refuses solids that move, and gravity is along z */
} Mode;

#define DEM(mode) "solver: dem\ndem: {mode: " mode "}\nparticles_per_cell: 1\n"
static const Mode full = { "dem, full", DEM("full"), .sleeps = true, .has_grains = true, .is_slow = true };
static const Mode surface_flow = { "dem, surface flow", DEM("surface_flow"), .sleeps = true,
                                   .has_grains = true, .is_slow = true };
static const Mode height_field = { "dem, height field", DEM("height_field"), .is_slow = true,
                                   .is_fixed = true };
static const Mode flip = { "flip", "solver: flip\n", .sleeps = true };
static const Mode sph = { "sph", "solver: sph\n", .sleeps = true, .is_slow = true };

/* What moves: keys of the right plate and of the ball, and other parts of the scene. */
typedef struct Motion {
    const char *name;
    const char *plate, *ball;
    const char *emitter, *drain, *gravity, *force; /* what is in the scene of rest is replaced */
    double seconds;                                /* from START to the check */
    double rise[2];                                /* m: limits of the change of the mean height */
    bool may_wake_none, is_long;                   /* is_long: in a slow mode with WADI_LONG alone */
} Motion;

#define KEYS(kind, list) ", " kind ": {keys: [" list "]}"
#define JUMP(kind, list) ", " kind ": {keys: [" list "], interpolation: step}"
#define D 0.01

/* Limits of the rise follow from the room: what falls past a plate lies on the floor, 0.1 m below it. Powders
 * pass the gaps that plates leave to each other, grains of 1 cm do not. */
static const Motion motions[] = {
    { "nothing", .seconds = 0.3, .rise = { 0, 0 }, .may_wake_none = true },
    { "plate down", .plate = KEYS("translate", "[8, [0, 0, 0]], [8.2, [0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.1, -0.02 } },
    { "plate down, slowly", .plate = KEYS("translate", "[8, [0, 0, 0]], [9, [0, 0, -0.001]]"), .seconds = 1,
      .rise = { -0.0008, -0.0002 } },
    { "plate down, fast", .is_long = true,
      .plate = KEYS("translate", "[8, [0, 0, 0]], [8.012, [0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.1, -0.02 } },
    { "plate down, late in a frame", .is_long = true,
      .plate = KEYS("translate", "[8.03, [0, 0, 0]], [8.2, [0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.1, -0.02 } },
    { "plate down, a jump", .is_long = true,
      .plate = JUMP("translate", "[0, [0, 0, 0]], [8.01, [0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.1, -0.02 } },
    { "plate up", .plate = KEYS("translate", "[8, [0, 0, 0]], [8.2, [0, 0, 0.04]]"), .seconds = 0.5,
      .rise = { 0.0, 0.03 } },
    { "plate up, slowly", .is_long = true, .plate = KEYS("translate", "[8, [0, 0, 0]], [9, [0, 0, 0.001]]"),
      .seconds = 1, .rise = { 0.0002, 0.0008 } },
    { "plate up, fast", .plate = KEYS("translate", "[8, [0, 0, 0]], [8.008, [0, 0, 0.04]]"), .seconds = 0.8,
      .rise = { -0.1, 0.05 } },
    { "plate up, very fast", .is_long = true,
      .plate = KEYS("translate", "[8, [0, 0, 0]], [8.002, [0, 0, 0.04]]"), .seconds = 0.8,
      .rise = { -0.1, 0.1 } },
    { "plate up, a jump", .is_long = true, .plate = JUMP("translate", "[0, [0, 0, 0]], [8.01, [0, 0, 0.02]]"),
      .seconds = 0.8, .rise = { -0.02, 0.05 } },
    { "plate away", .is_long = true, .plate = KEYS("translate", "[8, [0, 0, 0]], [8.3, [0.2, 0, 0]]"),
      .seconds = 0.6, .rise = { -0.1, -0.02 } },
    { "plate turns like a trapdoor", .plate = KEYS("rotate", "[8, [0, 0, 0]], [8.3, [0, 50, 0]]"),
      .seconds = 0.6, .rise = { -0.09, -0.01 } },
    { "plate shrinks", .is_long = true, .plate = KEYS("scale", "[8, [1, 1, 1]], [8.3, [0.2, 1, 1]]"),
      .seconds = 0.6, .rise = { -0.09, 0.03 } },
    { "ball goes sideways", .ball = KEYS("translate", "[8, [0, 0, 0]], [8.2, [0.05, 0, 0]]"), .seconds = 0.4,
      .rise = { -0.01, 0.01 } },
    { "ball goes up, fast", .is_long = true,
      .ball = KEYS("translate", "[8, [0, 0, 0]], [8.02, [0, 0, 0.12]]"), .seconds = 0.6,
      .rise = { -0.01, 0.03 } },
    { "ball shrinks", .is_long = true, .ball = KEYS("scale", "[8, [1, 1, 1]], [8.2, [0.2, 0.2, 0.2]]"),
      .seconds = 0.4, .rise = { -0.01, 0.002 } },
    { "ball jumps out",
      .ball = JUMP("translate", "[0, [0, 0, 0]], [8.01, [0, 0, 0.1]], [8.02, [0.05, 0, 0.1]]"),
      .seconds = 0.4, .rise = { -0.01, 0.002 } },
    { "a drain opens", .drain = "8.1", .seconds = 0.5, .rise = { -0.02, 0.02 } },
    { "an emitter starts", .emitter = "8.1", .seconds = 0.6, .rise = { -0.01, 0.02 } },
    { "gravity turns sideways", .gravity = "[8, [0, 0, -9.81]], [8.2, [9.81, 0, 0]]", .seconds = 0.6,
      .rise = { 0.003, 0.1 } },
    { "gravity turns up", .is_long = true, .gravity = "[8, [0, 0, -9.81]], [8.2, [0, 0, 9.81]]",
      .seconds = 0.8, .rise = { 0.03, 0.2 } },
    { "a force begins", .force = "[8, [0, 0, 0]], [8.1, [15, 0, 0]]", .seconds = 0.5,
      .rise = { 0.0001, 0.1 } },
};

static void write_motion(const Motion *m, const Mode *mode, char text[4096])
{
    char ball[256] = "";
    if (m->ball != NULL) {
        snprintf(ball, sizeof ball,
                 ", {shape: {sphere: {center: [0.03, 0.03, 0.035], radius: 0.012}, pivot: [0.03, 0.03, "
                 "0.035]%s}}",
                 m->ball);
    }
    snprintf(
        text, 4096,
        "wadi: 1\n%scell_size: 0.01\nfps: 24\nframes: 400\n"
        "domain: {min: [0, 0, -0.1], max: [0.12, 0.06, 0.2], walls: {friction: 0.3}}\n"
        "materials: {sand: {kind: sand, friction_angle: 30}}\n"
        "gravity: {keys: [%s]}\n"
        "forces: [{kind: uniform, acceleration: {keys: [%s]}}]\n"
        "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.12, 0.06, 0.05]}}}]\n"
        "emitters: [{material: sand, shape: {box: {min: [0.075, 0.015, 0.14], max: [0.105, 0.035, 0.16]}}, "
        "velocity: [0, 0, -1], rate: 2e-4, start: %s, end: 30}]\n"
        "drains: [{shape: {box: {min: [0.01, 0.015, 0], max: [0.05, 0.035, 0.02]}}, start: %s}]\n"
        "colliders: [{shape: {box: {min: [-1, -1, -0.02], max: [0.06, 1, 0]}}}, "
        "{shape: {box: {min: [0.06, -1, -0.02], max: [0.3, 1, 0]}, pivot: [0.06, 0, 0]%s}}%s]\n",
        mode->settings, m->gravity != NULL ? m->gravity : "[0, [0, 0, -9.81]], [1, [0, 0, -9.81]]",
        m->force != NULL ? m->force : "[0, [0, 0, 0]], [1, [0, 0, 0]]",
        m->emitter != NULL ? m->emitter : "20", m->drain != NULL ? m->drain : "20",
        m->plate != NULL ? m->plate : "", ball);
}

static WadiScene *load_motion(const Motion *m, const Mode *mode)
{
    char text[4096];
    write_motion(m, mode, text);
    return load_scene(text);
}

/* Grains that sleep and lie on nothing: neither a grain nor a solid is below them, seen along gravity. */
static int32_t count_hanging(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiDem *dem = sim->solver;
    const WadiVec3 down =
        wadi_normalized_or(wadi_world_gravity(sim->world, sim->time), (WadiVec3){ 0, 0, -1 });
    int32_t hanging = 0;
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        bool is_carried = wadi_solids_distance(&sim->world->solids, x, sim->time, INFINITY) < 0.7 * D;
        for (int32_t j = 0; j < p->count && !is_carried; ++j) {
            const WadiVec3 to = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
            is_carried = wadi_dot(to, down) > 0.0 && wadi_norm(to) < 1.3 * D;
        }
        hanging += !is_carried;
    }
    return hanging;
}

static double deepest(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double least = INFINITY;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        least = fmin(least, wadi_solids_distance(&sim->world->solids, x, sim->time, INFINITY));
    }
    return least;
}

static double fastest_particle(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double square = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        square = fmax(square, (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    }
    return sqrt(square);
}

static void check_motion(const Motion *m, const Mode *mode, const WadiState *rest, int *failures)
{
    WadiError error = { 0 };
    WadiScene *scene = load_motion(m, mode);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_restore(sim, rest, &error), error);
    const double height = mean_height(&sim->particles);
    int64_t most_awake = 0;
    double fastest = 0.0;
    while (sim->time < START + m->seconds) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const int64_t awake = sim->particles.count - wadi_sim_sleeping_particles(sim);
        most_awake = awake > most_awake ? awake : most_awake;
        fastest = fmax(fastest, fastest_particle(sim));
    }
    const double rise = mean_height(&sim->particles) - height, depth = deepest(sim);
    const int32_t hanging = mode->has_grains ? count_hanging(sim) : 0;
    const bool is_right = hanging == 0 && depth > 0.0 && wadi_sim_lost_particles(sim) == 0 &&
                          (most_awake > 0 || m->may_wake_none) && rise >= m->rise[0] && rise <= m->rise[1];
    print_message(
        "%s %-17s %-28s %d awake at most, %d of %d asleep, %d hang, nearest %.2f d, rise %.4f m, fastest "
        "%.1f m/s, %d steps\n",
        is_right ? "  " : "!!", mode->name, m->name, (int)most_awake, (int)wadi_sim_sleeping_particles(sim),
        sim->particles.count, hanging, depth / D, rise, fastest, (int)sim->steps);
    *failures += !is_right;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The bed long after it has come to rest, without and with a ball in it. */
static void settle(const Mode *mode, WadiState rest[2])
{
    for (int k = 0; k < 2; ++k) {
        WadiError error = { 0 };
        const Motion still = { .ball = k == 1 ? "" : NULL };
        WadiScene *scene = load_motion(&still, mode);
        WadiSim *sim = start_sim(scene, 1);
        while (sim->time < START - 1e-9) {
            run_frames(sim, 1);
        }
        const int asleep = (int)wadi_sim_sleeping_particles(sim);
        print_message("%s: %d of %d asleep\n", mode->name, asleep, sim->particles.count);
        /* In a surface flow single grains beside the ball stay awake. */
        assert_true(!mode->sleeps ? asleep == 0
                    : k == 0      ? asleep == sim->particles.count
                                  : asleep > sim->particles.count * 9 / 10);
        CHECK_OK(wadi_sim_snapshot(sim, &rest[k], &error), error);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Gravity that a program changes while all sleeps. */
static void check_change(const Mode *mode, const WadiState *rest)
{
    WadiError error = { 0 };
    WadiScene *scene = load_motion(&motions[0], mode);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_restore(sim, rest, &error), error);
    double before = 0.0, after = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        before += sim->particles.x[i] / sim->particles.count;
    }
    CHECK_OK(wadi_sim_set(sim, "gravity=[9, 0, -1]", &error), error);
    run_frames(sim, 6);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        after += sim->particles.x[i] / sim->particles.count;
    }
    print_message("%s: moved by %.4f m\n", mode->name, after - before);
    assert_true(after > before + 0.01);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void check_mode(const Mode *mode)
{
    WadiState rest[2];
    memset(rest, 0, sizeof rest);
    int failures = 0;
    settle(mode, rest);
    if (!mode->is_fixed) {
        check_change(mode, &rest[0]);
    }
    for (size_t k = 0; k < sizeof motions / sizeof *motions; ++k) {
        const bool is_fixed = motions[k].plate == NULL && motions[k].ball == NULL &&
                              motions[k].gravity == NULL && motions[k].force == NULL;
        if ((motions[k].is_long && mode->is_slow && !is_long_run()) || (mode->is_fixed && !is_fixed)) {
            continue;
        }
        check_motion(&motions[k], mode, &rest[motions[k].ball != NULL ? 1 : 0], &failures);
    }
    for (int k = 0; k < 2; ++k) {
        wadi_state_free(&rest[k]);
    }
    assert_int_equal(failures, 0);
}

static void what_moves_wakes_grains(void **unused)
{
    (void)unused;
    check_mode(&full);
}

static void what_moves_wakes_a_surface_flow(void **unused)
{
    (void)unused;
    check_mode(&surface_flow);
}

static void what_moves_wakes_a_height_field(void **unused)
{
    (void)unused;
    check_mode(&height_field);
}

static void what_moves_wakes_flip(void **unused)
{
    (void)unused;
    check_mode(&flip);
}

static void what_moves_wakes_sph(void **unused)
{
    (void)unused;
    check_mode(&sph);
}

/* Frozen sand is resumed before the motion, which wakes it in the middle of a frame. */
static void the_same_bytes_for_any_threads_and_resumed(void **unused)
{
    (void)unused;
    char text[4096];
    const Motion motion = { .plate = KEYS("translate", "[8.03, [0, 0, 0]], [8.1, [0, 0, 0.02]]") };
    write_motion(&motion, &surface_flow, text);
    check_same_bytes(text, 192, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_wakes_grains),
        cmocka_unit_test(what_moves_wakes_a_surface_flow),
        cmocka_unit_test(what_moves_wakes_a_height_field),
        cmocka_unit_test(what_moves_wakes_flip),
        cmocka_unit_test(what_moves_wakes_sph),
        cmocka_unit_test(the_same_bytes_for_any_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
