/* flip: bonds of cohesive sand break, stay broken, and heal where sand is pressed together; momentum in
 * flight, whole and bursting; same bytes for any thread count and after a resume [theory 6.13]. */
#include "same_bytes.h"

#define LUMP                                                                                                 \
    "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 50\ngravity: [0, 0, %g]\n"                                 \
    "domain: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.4], walls: {friction: 0.5}}\n"                         \
    "materials: {sand: {kind: sand, cohesion: 2000}}\n"                                                      \
    "bodies: [{material: sand, jitter: 0, velocity: [%g, 0, 0], shape: {box: {min: [-0.08, -0.04, %g], "     \
    "max: "                                                                                                  \
    "[0, 0.04, %g]}}}, {material: sand, jitter: 0, velocity: [%g, 0, 0], shape: {box: {min: [0, -0.04, "     \
    "%g], "                                                                                                  \
    "max: [0.08, 0.04, %g]}}}]\n"

static WadiScene *load_lump(double gravity, double speed, double bottom)
{
    char text[1024];
    snprintf(text, sizeof text, LUMP, gravity, -speed, bottom, bottom + 0.08, speed, bottom, bottom + 0.08);
    return load_scene(text);
}

/* Fraction of the particles whose bonds are broken. */
static double parted_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const uint8_t *bits = wadi_particles_column(p, wadi_particles_find_column(p, "bonds"));
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        count += bits[i] & 1;
    }
    return (double)count / p->count;
}

static void part_all(WadiSim *sim)
{
    WadiParticles *p = &sim->particles;
    uint8_t *bits = wadi_particles_column(p, wadi_particles_find_column(p, "bonds"));
    memset(bits, 1, (size_t)p->count);
}

/* Mean velocity along x of the right half less that of the left one. */
static double opening_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += (p->x[i] > 0.0 ? 2.0 : -2.0) * (double)p->vx[i] / p->count;
    }
    return sum;
}

/* Halves that fly apart part at once, and do not pull each other after that. */
static void halves_that_part_do_not_pull(void **unused)
{
    (void)unused;
    WadiScene *scene = load_lump(0.0, 0.5, 0.16);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    const double soon = opening_of(sim);
    run_frames(sim, 5);
    print_message("halves part at %.3f m/s, later %.3f\n", soon, opening_of(sim));
    CHECK_AT_MOST(0.8, soon);
    CHECK_NEAR(opening_of(sim), soon, 0.02);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Sand without load stays parted; on the floor its weight presses it together. */
static void pressed_sand_heals(void **unused)
{
    (void)unused;
    for (int is_pressed = 0; is_pressed < 2; ++is_pressed) {
        WadiScene *scene = load_lump(is_pressed ? -9.81 : 0.0, 0.0, is_pressed ? 0.0 : 0.16);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 1);
        CHECK_AT_MOST(parted_of(sim), 0.0);
        part_all(sim);
        run_frames(sim, 2);
        print_message("%s: %.3f of the particles have parted\n", is_pressed ? "pressed" : "without load",
                      parted_of(sim));
        if (is_pressed) {
            CHECK_AT_MOST(parted_of(sim), 0.3);
        } else {
            CHECK_AT_MOST(0.999, parted_of(sim));
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A floor that drops away at 3 m/s leaves a lump behind in free fall, and does not tear at it. */
static void walls_do_not_pull(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 50\n"
        "domain: {min: [-0.2, -0.2, -0.8], max: [0.2, 0.2, 0.4]}\n"
        "materials: {sand: {kind: sand, cohesion: 5000}}\n"
        "colliders: [{shape: {box: {min: [-0.4, -0.4, -0.3], max: [0.4, 0.4, 0]}, translate: {keys: [[0, [0, "
        "0, 0]], [0.1, [0, 0, 0]], [0.3, [0, 0, -0.6]]]}}}]\n"
        "bodies: [{material: sand, jitter: 0, shape: {box: {min: [-0.08, -0.08, 0], max: [0.08, 0.08, "
        "0.1]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double centre[2] = { 0 }, spread[2] = { 0 };
    for (int when = 0; when < 2; ++when) {
        for (int32_t i = 0; i < p->count; ++i) {
            centre[when] += p->z[i] / p->count;
            spread[when] += p->z[i] * p->z[i] / p->count;
        }
        spread[when] = sqrt(spread[when] - centre[when] * centre[when]);
        run_frames(sim, when == 0 ? 13 : 0);
    }
    print_message("in %.3f s of free fall the lump sinks by %.4f m, and has %.3f of its height\n", 0.16,
                  centre[0] - centre[1], spread[1] / spread[0]);
    /* The fall begins at a step, not at 0.1 s. */
    CHECK_NEAR(centre[0] - centre[1], 0.5 * 9.81 * 0.16 * 0.16, 0.01);
    CHECK_NEAR(spread[1] / spread[0], 1.0, 0.02);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A block topples on the floor and breaks there, beside an overhang that breaks off. */
/* Mean of the positions down a plane turned about y. */
static double mean_along(const WadiSim *sim, double turn)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += (cos(turn) * p->x[i] - sin(turn) * p->z[i]) / p->count;
    }
    return sum;
}

/* Mean of (x - centre) x v about y, and of v. */
static double spin_of(const WadiSim *sim, double velocity[3])
{
    const WadiParticles *p = &sim->particles;
    double centre[3] = { 0 }, spin = 0.0;
    memset(velocity, 0, 3 * sizeof *velocity);
    for (int32_t i = 0; i < p->count; ++i) {
        const double x[3] = { p->x[i], p->y[i], p->z[i] },
                     v[3] = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        for (int a = 0; a < 3; ++a) {
            centre[a] += x[a] / p->count;
            velocity[a] += v[a] / p->count;
        }
        spin += (x[2] * v[0] - x[0] * v[2]) / p->count;
    }
    return spin - centre[2] * velocity[0] + centre[0] * velocity[2];
}

/* Lumps that burst as they spin at 10 rad/s, free of forces: whatever breaks, momentum stays. */
static void lumps_that_burst_keep_their_momentum(void **unused)
{
    (void)unused;
    static const char *const shapes[] = {
        "box: {min: [-0.16, -0.04, -0.04], max: [0.16, 0.04, 0.04]}",
        "union: [{box: {min: [-0.1, -0.04, -0.04], max: [0.1, 0.04, 0.04]}}, "
        "{box: {min: [-0.1, -0.04, 0.04], max: [-0.02, 0.04, 0.14]}}]",
    };
    for (int n = 0; n < 4; ++n) {
        char text[1024];
        double before[3], after[3];
        const int cohesion = n < 2 ? 2000 : 4000;
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 20\ngravity: [0, 0, 0]\n"
                 "materials: {sand: {kind: sand, cohesion: %d}}\n"
                 "bodies: [{material: sand, angular_velocity: [0, 10, 0], shape: {%s}}]\n",
                 cohesion, shapes[n % 2]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const double first = spin_of(sim, before);
        run_frames(sim, 8);
        const double spin = spin_of(sim, after) / first, parted = parted_of(sim);
        double change = 0.0; /* of 0.8 m/s, the mean speed */
        for (int a = 0; a < 3; ++a) {
            change = fmax(change, fabs(after[a] - before[a]) / 0.8);
        }
        print_message(
            "%d Pa, shape %d: %.3f of its angular momentum, momentum changed by %.3f, %.2f parted\n",
            cohesion, n % 2, spin, change, parted);
        CHECK_AT_MOST(0.02, parted);
        CHECK_NEAR(spin, 1.0, 0.1);
        CHECK_AT_MOST(change, 0.04);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A bar of half length a that spins about its middle bears rho omega^2 a^2/2 there; it bursts where that is
 * its strength c/(1/sqrt 3 + k/3). Turned against the grid it bursts at 0.55 to 0.7 of that spin. */
static void bars_burst_as_they_spin(void **unused)
{
    (void)unused;
    static const double k = 0.700207538, spins[] = { 0.5, 1.1 };
    static const struct {
        double cohesion, half, width;
    } bars[] = { { 4000, 0.16, 0.04 }, { 1000, 0.12, 0.06 }, { 20000, 0.2, 0.04 } };
    for (int n = 0; n < 6; ++n) {
        const double half = bars[n / 2].half, width = bars[n / 2].width, cohesion = bars[n / 2].cohesion;
        const double spin = spins[n % 2] * sqrt(2.0 * cohesion / (1.0 / sqrt(3.0) + k / 3.0) / 1600.0) / half;
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 10\ngravity: [0, 0, 0]\n"
                 "materials: {sand: {kind: sand, density: 1600, friction_angle: 35, cohesion: %g}}\n"
                 "bodies: [{material: sand, angular_velocity: [0, %.9g, 0], shape: {box: {min: [%g, %g, %g], "
                 "max: [%g, %g, %g]}}}]\n",
                 cohesion, spin, -half, -width, -width, half, width, width);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 3);
        const WadiParticles *p = &sim->particles;
        double longest = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            longest = fmax(longest, sqrt(p->x[i] * p->x[i] + p->z[i] * p->z[i]));
        }
        print_message("%g Pa, %.1f of the critical spin: %.2f of its length\n", cohesion, spins[n % 2],
                      longest / sqrt(half * half + width * width));
        if (n % 2 == 0) {
            CHECK_AT_MOST(longest, 1.05 * sqrt(half * half + width * width));
        } else {
            CHECK_AT_MOST(1.5 * half, longest);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Blocks on a plane turned by `turn` about y, in gravity at the angle with which a rigid block would tip
 * about an edge `inset` cells inside its own. On a plane along the grid the edge lies about half a cell
 * inside, on planes across cells 2 to 2.5. */
static void blocks_tip_about_an_edge_inside(void **unused)
{
    (void)unused;
    static const struct {
        int width, height; /* cells */
        double turn, inset;
        bool tips;
    } blocks[] = {
        { 4, 12, 0, 0.8, false },  { 6, 15, 0, 0.8, false },  { 8, 20, 0, -0.2, true },
        { 8, 20, 20, 3.0, false }, { 6, 15, 27, 2.5, false }, { 8, 20, 37, -0.2, true },
    };
    for (size_t n = 0; n < sizeof blocks / sizeof *blocks; ++n) {
        const double h = 0.01, radian = 3.14159265358979 / 180.0, width = blocks[n].width * h,
                     height = blocks[n].height * h;
        const double tilt = atan2(0.5 * width - blocks[n].inset * h, 0.5 * height) - blocks[n].turn * radian;
        char text[1024];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: %g\nfps: 10\ngravity: [%.9g, 0, %.9g]\n"
            "domain: {min: [-0.5, -0.1, -0.5], max: [0.5, 0.2, 0.5]}\n"
            "colliders: [{friction: 2, shape: {box: {min: [-3, -3, -1], max: [3, 3, 0]}, rotate: [0, %g, "
            "0]}}]\n"
            "materials: {sand: {kind: sand, cohesion: 20000, friction_angle: 35}}\n"
            "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [%g, 0.06, %g]}, rotate: [0, "
            "%g, 0], pivot: [0, 0, 0]}}]\n",
            h, 9.81 * sin(tilt), -9.81 * cos(tilt), blocks[n].turn, width, height, blocks[n].turn);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const double start = mean_along(sim, blocks[n].turn * radian);
        run_frames(sim, 6);
        const double way = mean_along(sim, blocks[n].turn * radian) - start;
        print_message(
            "%d x %d cells, plane turned by %g, edge %g cells inside: moved by %.2f of its height\n",
            blocks[n].width, blocks[n].height, blocks[n].turn, blocks[n].inset, way / height);
        if (blocks[n].tips) {
            CHECK_AT_MOST(0.4, way / height);
        } else {
            CHECK_AT_MOST(way / height, 0.05);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A block whose particles come to lie on faces of cells: cells that it has just entered do not slow it. */
static void a_block_in_flight_keeps_its_velocity(void **unused)
{
    (void)unused;
    static const double speed[3] = { 0.5, 0.3, 0.2 };
    WadiScene *scene = load_scene("wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 20\ngravity: [0, 0, 0]\n"
                                  "flip: {density_rate: 0}\n"
                                  "materials: {sand: {kind: sand, cohesion: 1e5}}\n"
                                  "bodies: [{material: sand, jitter: 0, velocity: [0.5, 0.3, 0.2], shape: "
                                  "{box: {min: [-0.1, -0.04, -0.04], max: [0, 0.04, 0.04]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    double velocity[3];
    run_frames(sim, 8);
    spin_of(sim, velocity);
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(velocity[a], speed[a], 1e-5);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void bonds_have_the_same_bytes(void **unused)
{
    (void)unused;
    check_same_bytes("wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 25\ngravity: [5, 0, -8]\n"
                     "domain: {min: [-0.1, -0.1, 0], max: [0.7, 0.2, 0.4], walls: {friction: 2}}\n"
                     "materials: {sand: {kind: sand, cohesion: 1500}, dry: {kind: sand}}\n"
                     "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, 0.08, 0.24]}}}, "
                     "{material: sand, shape: {box: {min: [0.08, 0, 0.16], max: [0.2, 0.08, 0.24]}}}, "
                     "{material: dry, shape: {box: {min: [0.4, 0, 0], max: [0.5, 0.08, 0.08]}}}]\n",
                     3, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_that_part_do_not_pull),
        cmocka_unit_test(pressed_sand_heals),
        cmocka_unit_test(walls_do_not_pull),
        cmocka_unit_test(lumps_that_burst_keep_their_momentum),
        cmocka_unit_test(bars_burst_as_they_spin),
        cmocka_unit_test(blocks_tip_about_an_edge_inside),
        cmocka_unit_test(a_block_in_flight_keeps_its_velocity),
        cmocka_unit_test(bonds_have_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
