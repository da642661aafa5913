/* Whatever moves wakes what it touches or leaves, in every solver and mode that sleeps. A bed lies on two
 * blocks, in some cases around a ball; long after all of it is at rest something begins to move. */
#include "dem/dem.h"
#include "io_scratch.h"
#include "same_bytes.h"

#define START 2.5 /* s */

typedef struct Mode {
    const char *name, *settings;
    bool is_water;
    bool sleeps;     /* false: nothing is left out of its steps */
    bool has_grains; /* grains of dem: none may hang in the air */
    bool is_fixed;   /* a height field: it refuses solids that move, and gravity is along z */
    bool is_upright; /* sand rests in columns along z: it stays awake where gravity is not */
    bool is_packed;  /* what a jump overran stays compressed at the surface of the solid */
} Mode;

#define DEM(mode) "solver: dem\ndem: {mode: " mode "}\nparticles_per_cell: 1\n"
static const Mode full = { "dem, full", DEM("full"), .sleeps = true, .has_grains = true };
static const Mode surface_flow = { "dem, surface flow", DEM("surface_flow"), .sleeps = true,
                                   .has_grains = true, .is_upright = true };
static const Mode height_field = { "dem, height field", DEM("height_field"), .is_fixed = true };
static const Mode flip = { "flip", "solver: flip\n", .sleeps = true };
static const Mode water = { "flip, water", "solver: flip\n", .is_water = true, .sleeps = true };
static const Mode sph = { "sph", "solver: sph\n", .sleeps = true, .is_packed = true };

/* The same scene turned, of another size, or with a mesh. Texts of scenes are written for the usual one, and
 * mark what changes: L[x, y, z] a length, V[x, y, z] a velocity, U[x, y, z] a vector that keeps its length,
 * @t seconds after START. Accelerations are the same, so that times grow as roots of lengths. */
typedef struct Variant {
    const char *name;
    double scale;
    bool is_turned; /* down is -x */
    bool is_mesh;   /* the right block is one */
} Variant;

static const Variant usual = { "", .scale = 1 };

static void write_variant(const char *from, const Variant *variant, char *to, size_t size)
{
    const double s = variant->scale;
    size_t n = 0;
    while (*from != '\0' && n + 1 < size) {
        double x[3], t;
        int length = 0;
        if (strchr("LVU", *from) != NULL &&
            sscanf(from + 1, "[%lf, %lf, %lf]%n", x, x + 1, x + 2, &length) == 3) {
            const double unit = *from == 'L' ? s : *from == 'V' ? sqrt(s) : 1.0;
            const int first = variant->is_turned ? 2 : 0;
            n += (size_t)snprintf(to + n, size - n, "[%.9g, %.9g, %.9g]", unit * x[first],
                                  unit * x[(first + 1) % 3], unit * x[(first + 2) % 3]);
            from += 1 + length;
        } else if (*from == '@' && sscanf(from + 1, "%lf%n", &t, &length) == 1) {
            n += (size_t)snprintf(to + n, size - n, "%.9g", sqrt(s) * (START + t));
            from += 1 + length;
        } else {
            to[n++] = *from++;
        }
    }
    assert_true(n + 1 < size);
    to[n] = '\0';
}

/* What moves: keys of the right block and of the ball, and other parts of the scene. */
typedef struct Motion {
    const char *name;
    const char *block, *ball;
    const char *emitter, *drain, *gravity, *force; /* what is in the scene of rest is replaced */
    double seconds;                                /* from START to the check */
    double rise[2];                                /* m: limits of the change of the mean height */
    bool may_wake_none, is_long;                   /* is_long: with WADI_LONG alone */
    bool has_variants, overruns;                   /* overruns: a jump into the sand */
    bool is_balanced;                              /* by water, whose pressure may be negative */
} Motion;

#define KEYS(kind, list) ", " kind ": {keys: [" list "]}"
#define JUMP(kind, list) ", " kind ": {keys: [" list "], interpolation: step}"
#define D 0.01

/* The blocks reach below the floor, which is 0.1 m below their tops: no gap opens between them. The mean
 * height after a motion of the right one is then between that of a level surface and that of sand which
 * stays above its block. Sand that was thrown up lies a millimetre higher at
 * most, and 4 % denser. A jump puts a solid into sand: what is found inside comes to its surface and lifts
 * what lies above; sph leaves it compressed. Water that drains sinks to the floor, and sloshes higher than
 * sand where gravity turns. */
static const Motion motions[] = {
    { "nothing", .seconds = 0.3, .rise = { 0, 0 }, .may_wake_none = true },
    { "block down", .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.2, L[0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.0395, -0.030 }, .has_variants = true },
    { "block down, slowly", .block = KEYS("translate", "[@0, L[0, 0, 0]], [@1, L[0, 0, -0.001]]"),
      .seconds = 1, .rise = { -0.0006, -0.0004 } },
    { "block down, fast", .is_long = true,
      .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.012, L[0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.0395, -0.030 } },
    { "block down, late in a frame", .is_long = true,
      .block = KEYS("translate", "[@0.03, L[0, 0, 0]], [@0.2, L[0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.0395, -0.030 } },
    { "block down, a jump", .is_long = true,
      .block = JUMP("translate", "[0, L[0, 0, 0]], [@0.01, L[0, 0, -0.06]]"), .seconds = 0.6,
      .rise = { -0.0395, -0.030 } },
    { "block up", .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.2, L[0, 0, 0.04]]"), .seconds = 0.5,
      .rise = { 0.0155, 0.0205 }, .has_variants = true },
    { "block up, slowly", .is_long = true,
      .block = KEYS("translate", "[@0, L[0, 0, 0]], [@1, L[0, 0, 0.001]]"), .seconds = 1,
      .rise = { 0.0003, 0.0006 } },
    { "block up, fast", .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.008, L[0, 0, 0.04]]"),
      .seconds = 0.8, .rise = { 0.0144, 0.021 } },
    { "block up, very fast", .is_long = true,
      .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.002, L[0, 0, 0.04]]"), .seconds = 0.8,
      .rise = { 0.0144, 0.021 } },
    { "block up, a jump", .is_long = true,
      .block = JUMP("translate", "[0, L[0, 0, 0]], [@0.01, L[0, 0, 0.02]]"), .seconds = 1.2,
      .rise = { 0.0085, 0.011 }, .has_variants = true, .overruns = true },
    { "block away", .is_long = true, .block = KEYS("translate", "[@0, L[0, 0, 0]], [@0.3, L[0.2, 0, 0]]"),
      .seconds = 0.6, .rise = { -0.0755, -0.05 }, .has_variants = true },
    { "block turns like a trapdoor", .block = KEYS("rotate", "[@0, U[0, 0, 0]], [@0.3, U[0, 50, 0]]"),
      .seconds = 0.6, .rise = { -0.0237, -0.0179 } },
    { "block turns about an odd axis", .is_long = true,
      .block = KEYS("rotate", "[@0, U[0, 0, 0]], [@0.3, U[10, 40, 15]]"), .seconds = 0.7,
      .rise = { -0.0195, -0.0105 } },
    { "block shrinks", .is_long = true, .block = KEYS("scale", "[@0, U[1, 1, 1]], [@0.3, U[0.125, 1, 1]]"),
      .seconds = 0.6, .rise = { -0.0445, -0.025 } },
    { "ball goes sideways", .ball = KEYS("translate", "[@0, L[0, 0, 0]], [@0.2, L[0.05, 0, 0]]"),
      .seconds = 0.4, .rise = { -0.001, 0.002 } },
    { "ball goes up, fast", .is_long = true,
      .ball = KEYS("translate", "[@0, L[0, 0, 0]], [@0.02, L[0, 0, 0.12]]"), .seconds = 0.6,
      .rise = { -0.001, 0.001 } },
    { "ball shrinks", .is_long = true, .ball = KEYS("scale", "[@0, U[1, 1, 1]], [@0.2, U[0.2, 0.2, 0.2]]"),
      .seconds = 0.4, .rise = { -0.001, 0.001 } },
    { "ball shrinks slowly", .is_long = true,
      .ball = KEYS("scale", "[@0, U[1, 1, 1]], [@2, U[0.9, 0.9, 0.9]]"), .seconds = 2,
      .rise = { -0.001, 0.0005 } },
    { "ball jumps out",
      .ball = JUMP("translate", "[0, L[0, 0, 0]], [@0.01, L[0, 0, 0.1]], [@0.02, L[0.05, 0, 0.1]]"),
      .seconds = 0.4, .rise = { -0.001, 0.001 } },
    { "a drain opens", .drain = "@0.1", .seconds = 0.5, .rise = { -0.025, 0.02 } },
    { "an emitter starts", .emitter = "@0.1", .seconds = 0.6, .rise = { -0.01, 0.02 } },
    { "gravity turns sideways", .gravity = "[@0, U[0, 0, -9.81]], [@0.2, U[9.81, 0, 0]]", .seconds = 0.6,
      .rise = { 0.003, 0.125 } },
    { "gravity turns up", .is_long = true, .gravity = "[@0, U[0, 0, -9.81]], [@0.2, U[0, 0, 9.81]]",
      .seconds = 0.8, .rise = { 0.14, 0.152 }, .is_balanced = true },
    { "a force begins", .force = "[@0, U[0, 0, 0]], [@0.1, U[15, 0, 0]]", .seconds = 0.5,
      .rise = { 0.0001, 0.1 } },
};

/* The right block as triangles. */
static void write_mesh(const Variant *variant)
{
    char text[2048];
    size_t n = 0;
    for (int k = 0; k < 8; ++k) {
        const double x[3] = { (k & 1) != 0 ? 0.15 : 0.06, (k & 2) != 0 ? 0.06 : -0.02,
                              (k & 4) != 0 ? 0 : -0.15 };
        const int first = variant->is_turned ? 2 : 0;
        n += (size_t)snprintf(text + n, sizeof text - n, "v %.9g %.9g %.9g\n", variant->scale * x[first],
                              variant->scale * x[(first + 1) % 3], variant->scale * x[(first + 2) % 3]);
    }
    snprintf(text + n, sizeof text - n, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    scratch_write("block.obj", text);
}

static void write_motion(const Motion *m, const Mode *mode, const Variant *variant, char text[4096])
{
    char ball[256] = "", block[1200] = "box: {min: L[0.06, -0.3, -0.3], max: L[0.3, 0.3, 0]}", marked[4096];
    const double s = variant->scale;
    if (m->ball != NULL) {
        snprintf(ball, sizeof ball,
                 ", {shape: {sphere: {center: L[0.03, 0.02, 0.035], radius: %.9g}, pivot: L[0.03, 0.02, "
                 "0.035]%s}}",
                 0.01 * s, m->ball);
    }
    if (variant->is_mesh) {
        write_mesh(variant);
        snprintf(block, sizeof block, "mesh: {file: %s}", scratch_path("block.obj"));
    }
    snprintf(marked, sizeof marked,
             "wadi: 1\n%scell_size: %.9g\nfps: %.9g\nframes: 400\n"
             "domain: {min: L[0, 0, -0.1], max: L[0.12, 0.04, 0.2], walls: {friction: 0.3}}\n"
             "materials: {sand: {kind: %s}}\n"
             "gravity: {keys: [%s]}\n"
             "forces: [{kind: uniform, acceleration: {keys: [%s]}}]\n"
             "bodies: [{material: sand, shape: {box: {min: L[0, 0, 0], max: L[0.12, 0.04, 0.05]}}}]\n"
             "emitters: [{material: sand, shape: {box: {min: L[0.075, 0.01, 0.14], max: L[0.105, 0.03, "
             "0.16]}}, velocity: V[0, 0, -1], rate: %.9g, start: %s, end: @30}]\n"
             "drains: [{shape: {box: {min: L[0.01, 0.01, 0], max: L[0.05, 0.03, 0.02]}}, start: %s}]\n"
             "colliders: [{shape: {box: {min: L[-0.3, -0.3, -0.3], max: L[0.06, 0.3, 0]}}}, "
             "{shape: {%s, pivot: L[0.06, 0, 0]%s}}%s]\n",
             mode->settings, D * s, 24.0 / sqrt(s), mode->is_water ? "water" : "sand, friction_angle: 30",
             m->gravity != NULL ? m->gravity : "[0, U[0, 0, -9.81]], [1, U[0, 0, -9.81]]",
             m->force != NULL ? m->force : "[0, U[0, 0, 0]], [1, U[0, 0, 0]]", 2e-4 * s * s * sqrt(s),
             m->emitter != NULL ? m->emitter : "@20", m->drain != NULL ? m->drain : "@20", block,
             m->block != NULL ? m->block : "", ball);
    write_variant(marked, variant, text, 4096);
}

static WadiScene *load_motion(const Motion *m, const Mode *mode, const Variant *variant)
{
    char text[4096];
    write_motion(m, mode, variant, text);
    return load_scene(text);
}

/* Grains that sleep and lie on nothing: neither a grain nor a solid is below them, seen along gravity. */
static int32_t count_hanging(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiDem *dem = sim->solver;
    const double d = dem->spacing;
    const WadiVec3 down =
        wadi_normalized_or(wadi_world_gravity(sim->world, sim->time), (WadiVec3){ 0, 0, -1 });
    int32_t hanging = 0;
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        bool is_carried = wadi_solids_distance(&sim->world->solids, x, sim->time, INFINITY) < 0.7 * d;
        for (int32_t j = 0; j < p->count && !is_carried; ++j) {
            const WadiVec3 to = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
            is_carried = wadi_dot(to, down) > 0.0 && wadi_norm(to) < 1.3 * d;
        }
        hanging += !is_carried;
    }
    return hanging;
}

static double height_of(const WadiSim *sim, const Variant *variant)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += variant->is_turned ? p->x[i] : p->z[i];
    }
    return sum / p->count / variant->scale;
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

static void check_motion(const Motion *m, const Mode *mode, const Variant *variant, const WadiState *rest,
                         int *failures)
{
    WadiError error = { 0 };
    WadiScene *scene = load_motion(m, mode, variant);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_restore(sim, rest, &error), error);
    const double height = height_of(sim, variant);
    int64_t most_awake = 0;
    double fastest = 0.0;
    while (sim->time < sqrt(variant->scale) * (START + m->seconds)) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const int64_t awake = sim->particles.count - wadi_sim_sleeping_particles(sim);
        most_awake = awake > most_awake ? awake : most_awake;
        fastest = fmax(fastest, fastest_particle(sim));
    }
    const double rise = height_of(sim, variant) - height, depth = deepest(sim);
    const int32_t hanging = mode->has_grains ? count_hanging(sim) : 0;
    const double least = m->overruns && mode->is_packed ? 0.001 : m->rise[0];
    const bool is_right = hanging == 0 && depth > 0.0 && wadi_sim_lost_particles(sim) == 0 &&
                          (most_awake > 0 || m->may_wake_none) && rise >= least && rise <= m->rise[1];
    print_message(
        "%s %-17s %-28s %s%d awake at most, %d of %d asleep, %d hang, nearest %.2f d, rise %.5f m, fastest "
        "%.1f m/s, %d steps\n",
        is_right ? "  " : "!!", mode->name, m->name, variant->name, (int)most_awake,
        (int)wadi_sim_sleeping_particles(sim), sim->particles.count, hanging, depth / (D * variant->scale),
        rise, fastest, (int)sim->steps);
    *failures += !is_right;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The bed long after it has come to rest, without and with a ball in it. */
static void settle(const Mode *mode, const Variant *variant, int count, WadiState *rest)
{
    for (int k = 0; k < count; ++k) {
        WadiError error = { 0 };
        const Motion still = { .ball = k == 1 ? "" : NULL };
        WadiScene *scene = load_motion(&still, mode, variant);
        WadiSim *sim = start_sim(scene, 1);
        while (sim->time < sqrt(variant->scale) * START - 1e-6) {
            run_frames(sim, 1);
        }
        const int asleep = (int)wadi_sim_sleeping_particles(sim);
        print_message("%s: %s%d of %d asleep\n", mode->name, variant->name, asleep, sim->particles.count);
        /* In a surface flow single grains beside the ball stay awake. */
        const bool sleeps = mode->sleeps && !(mode->is_upright && variant->is_turned);
        assert_true(!sleeps  ? asleep == 0
                    : k == 0 ? asleep == sim->particles.count
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
    WadiScene *scene = load_motion(&motions[0], mode, &usual);
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

static void check_variants(const Mode *mode, int *failures)
{
    static const Variant variants[] = { { "turned, ", .scale = 1, .is_turned = true },
                                        { "20 times as large, ", .scale = 20 },
                                        { "a mesh, ", .scale = 1, .is_mesh = true } };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; ++v) {
        WadiState rest = { 0 };
        settle(mode, &variants[v], 1, &rest);
        bool is_done = false; /* the first; the others with WADI_LONG alone */
        for (size_t k = 0; k < sizeof motions / sizeof *motions; ++k) {
            /* Grains that a jump overran are thrown: how they pack again is chance. */
            const bool is_chance = motions[k].overruns && mode->has_grains;
            if (motions[k].has_variants && !is_chance && !(is_done && !is_long_run())) {
                check_motion(&motions[k], mode, &variants[v], &rest, failures);
                is_done = true;
            }
        }
        wadi_state_free(&rest);
    }
}

static void check_mode(const Mode *mode)
{
    WadiState rest[2];
    memset(rest, 0, sizeof rest);
    int failures = 0;
    settle(mode, &usual, 2, rest);
    if (!mode->is_fixed) {
        check_change(mode, &rest[0]);
    }
    for (size_t k = 0; k < sizeof motions / sizeof *motions; ++k) {
        const bool is_fixed = motions[k].block == NULL && motions[k].ball == NULL &&
                              motions[k].gravity == NULL && motions[k].force == NULL;
        if ((motions[k].is_long && !is_long_run()) || (mode->is_fixed && !is_fixed) ||
            (mode->is_water && motions[k].is_balanced)) {
            continue;
        }
        check_motion(&motions[k], mode, &usual, &rest[motions[k].ball != NULL ? 1 : 0], &failures);
    }
    if (!mode->is_fixed) {
        check_variants(mode, &failures);
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

static void what_moves_wakes_water(void **unused)
{
    (void)unused;
    check_mode(&water);
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
    const Motion motion = { .block = KEYS("translate", "[@0.03, L[0, 0, 0]], [@0.1, L[0, 0, 0.02]]") };
    write_motion(&motion, &surface_flow, &usual, text);
    check_same_bytes(text, (int)(24 * START), 6);
    const Motion jump = { .block = JUMP("translate", "[0, L[0, 0, 0]], [@-0.05, L[0, 0, 0.02]]") };
    write_motion(&jump, &water, &usual, text);
    check_same_bytes(text, (int)(24 * START), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_wakes_grains),
        cmocka_unit_test(what_moves_wakes_a_surface_flow),
        cmocka_unit_test(what_moves_wakes_a_height_field),
        cmocka_unit_test(what_moves_wakes_flip),
        cmocka_unit_test(what_moves_wakes_water),
        cmocka_unit_test(what_moves_wakes_sph),
        cmocka_unit_test(the_same_bytes_for_any_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
