/* `flip: {published: ...}`: what the papers report of their own methods, and what follows from their rules
 * without a run. */
#include <stdlib.h>
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static double share_of_rigid(const WadiSim *sim)
{
    const uint8_t *rigid = (const uint8_t *)column_of(&sim->particles, "rigid");
    int64_t count = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        count += rigid[i];
    }
    return (double)count / sim->particles.count;
}

/* [ZB05 sec. 3.4]: "in what should be a stable sand pile, small numerical errors can allow some slippage; a
 * tiny amount of cohesion counters this error". A pile of 25 degrees of sand of 35 degrees, in cells of 1 cm
 * and the paper's steps. */
static const char *const pile_scene =
    "wadi: 1\nsolver: flip\ncell_size: 0.01\n"
    "domain: {min: [0, 0, -0.02], max: [0.6, 0.04, 0.3], walls: {friction: 0}}\n"
    "colliders: [{shape: {half_space: {}}, friction: 0.7}]\n"
    "materials: {sand: {kind: sand, friction_angle: 35, cohesion: %g}}\nflip: {published: zb05}\n"
    "bodies:\n- material: sand\n  shape:\n    intersection:\n"
    "    - box: {min: [0, 0, 0], max: [0.6, 0.04, 0.3]}\n"
    "    - half_space: {point: [0.4, 0, 0], normal: [0.42262, 0, 0.90631]}\n";

typedef struct Pile {
    double fallen, mean_speed;
} Pile;

/* Half a second after a second. */
static Pile pile_after(double cohesion)
{
    char text[1024];
    snprintf(text, sizeof text, pile_scene, cohesion);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const double before = mean_height(&sim->particles);
    run_frames(sim, 12);
    const Pile pile = { before - mean_height(&sim->particles), mean_speed(&sim->particles) };
    print_message("c = %g Pa: the pile sinks %.3f mm in 0.5 s, %.2f mm/s, %.1f %% rigid\n", cohesion,
                  1e3 * pile.fallen, 1e3 * pile.mean_speed, 100.0 * share_of_rigid(sim));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return pile;
}

static void a_stable_pile_slips_and_a_tiny_cohesion_counters_it(void **unused)
{
    (void)unused;
    const Pile loose = pile_after(0.0), held = pile_after(20.0), firm = pile_after(100.0);
    assert_true(loose.fallen > 1e-4);
    CHECK_AT_MOST(held.fallen, 0.5 * loose.fallen);
    CHECK_AT_MOST(held.mean_speed, 0.5 * loose.mean_speed);
    CHECK_AT_MOST(firm.fallen, held.fallen);
}

/* A column on a plane, its critical height 4 c / (rho g) tan(45 + 35/2). [ZB05 sec. 3.4]: "obviously unstable
 * structures are implausibly held rigid". */
static const char *const column_scene =
    "wadi: 1\nsolver: flip\ncell_size: 0.04\n"
    "domain: {min: [0, 0, -0.08], max: [1.6, 0.16, 0.8], walls: {friction: 0}}\n"
    "colliders: [{shape: {half_space: {}}, friction: 0.7}]\n"
    "materials: {soil: {kind: sand, friction_angle: 35, density: 1600, cohesion: %g}}\nflip: {published: "
    "%s}\n"
    "bodies: [{material: soil, shape: {box: {min: [0.64, 0, 0], max: [0.96, 0.16, 0.6]}}}]\n";

static void a_column_of_three_critical_heights_stays_rigid(void **unused)
{
    (void)unused;
    static const char *const method[2] = { "zb05", "none" };
    const double cohesion = 0.6 / 3.0 * 1600.0 * 9.81 / (4.0 * tan(62.5 * 0.017453292519943295));
    double kept[2], rigid[2];
    for (int m = 0; m < 2; ++m) {
        char text[1024];
        snprintf(text, sizeof text, column_scene, cohesion, method[m]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const double before = mean_height(&sim->particles);
        run_frames(sim, 24);
        kept[m] = mean_height(&sim->particles) / before;
        rigid[m] = share_of_rigid(sim);
        print_message("%s, c = %.0f Pa: %.1f %% of its height after 1 s, %.0f %% rigid\n", method[m],
                      cohesion, 100.0 * kept[m], 100.0 * rigid[m]);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    assert_true(kept[0] > 0.98 && rigid[0] > 0.95);
    CHECK_AT_MOST(kept[1], 0.9); /* by the laws of soils it falls */
}

/* Steps of equal length: v = -g t after each, since a step has the gravity of all its length. */
static void free_fall_is_that_of_whole_steps(void **unused)
{
    (void)unused;
    static const char *const mode[3][2] = { { "sand", "zb05" },
                                            { "water", "zb05" },
                                            { "water", "a24, density_alpha: 0" } };
    for (int m = 0; m < 3; ++m) {
        char text[512];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.05\nmax_step: 0.0104166666\n"
                 "materials: {m: {kind: %s}}\nflip: {published: %s}\n"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}]\n",
                 mode[m][0], mode[m][1]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 2);
        const WadiParticles *p = &sim->particles;
        for (int32_t i = 0; i < p->count; ++i) {
            CHECK_NEAR(p->vz[i], -9.81 / 12.0, 2e-4);
            CHECK_NEAR(hypot((double)p->vx[i], (double)p->vy[i]), 0.0, 2e-4);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* [A24 sec. III]: "particles seem not to be going down" at the walls. In the first step of a fall along a
 * wall of velocity 0 a particle at a distance d < h/2 samples the part 1/2 + d/h of the fall. */
static void particles_hang_at_walls_of_velocity_zero(void **unused)
{
    (void)unused;
    const double h = 0.05, dt = 1.0 / 240.0;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.05\nmax_step: 0.004166666667\nfps: 240\n"
                   "domain: {min: [0, -1, -1], max: [1, 1, 1], walls: {friction: 0}}\n"
                   "materials: {m: {kind: water}}\nflip: {published: a24, density_alpha: 0}\n"
                   "bodies: [{material: m, shape: {box: {min: [0, -0.2, 0], max: [0.4, 0.2, 0.4]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double *x = calloc((size_t)p->count, sizeof *x);
    assert_non_null(x);
    for (int32_t i = 0; i < p->count; ++i) {
        x[p->id[i]] = p->x[i];
    }
    run_frames(sim, 1);
    int near = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double d = x[p->id[i]] / h, part = d < 0.5 ? 0.5 + d : 1.0;
        near += d < 0.5;
        CHECK_NEAR(p->vz[i], -9.81 * dt * part, 1e-5);
    }
    assert_true(near > 100);
    free(x);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Water at rest between walls stays at rest, and no particle is inside the ball or beyond a wall. */
static void particles_stay_outside_of_solids(void **unused)
{
    (void)unused;
    static const char *const method[2] = { "zb05", "a24" };
    for (int m = 0; m < 2; ++m) {
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.05\n"
                 "domain: {min: [0, 0, 0], max: [1, 0.4, 0.8], walls: {friction: 0}}\n"
                 "materials: {m: {kind: water}}\nflip: {published: %s}\n"
                 "colliders: [{shape: {sphere: {center: [0.6, 0.2, 0.1], radius: 0.15}}}]\n"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.6]}}}]\n",
                 method[m]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double fastest = 0.0;
        for (int frame = 0; frame < 24; ++frame) {
            run_frames(sim, 1);
            fastest = fmax(fastest, mean_speed(&sim->particles));
            const WadiParticles *p = &sim->particles;
            for (int32_t i = 0; i < p->count; ++i) {
                const double dx = p->x[i] - 0.6, dy = p->y[i] - 0.2, dz = p->z[i] - 0.1;
                assert_true(dx * dx + dy * dy + dz * dz >= 0.15 * 0.15 * 0.999);
                assert_true(p->x[i] >= 0.0 && p->x[i] <= 1.0 && p->z[i] >= 0.0 && p->z[i] <= 0.8);
            }
        }
        print_message("%s: the dam's largest mean speed is %.2f m/s\n", method[m], fastest);
        assert_true(fastest > 0.5 && fastest < sqrt(2.0 * 9.81 * 0.6));
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* [A24 sec. I-B]: "div(v) - alpha (rho - rho_0)", of both signs. A cell with n of its 8 particles then has
 * the outflow h alpha (n/8 - 1)/dt, a sixth of it at each face. Half of its particles are moved away, or
 * another cell's into it. */
static double outward_speed(int count)
{
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.05\nmax_step: 0.004166666667\nfps: 240\n"
                   "gravity: [0, 0, 0]\nmaterials: {m: {kind: water}}\n"
                   "flip: {published: a24, density_alpha: 0.5}\n"
                   "bodies: [{material: m, jitter: 0, snap: none, shape: {box: {min: [0, 0, 0], max: [0.1, "
                   "0.05, 0.05]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiParticles *p = &sim->particles;
    assert_int_equal(p->count, 16);
    for (int32_t i = 0; i < 16; ++i) {
        const bool is_second = p->x[i] > 0.05;
        p->x[i] += !is_second ? 0.0 : count == 16 ? -0.05 : 1.0;
        p->x[i] += count == 4 && p->z[i] > 0.025 ? 2.0 : 0.0;
    }
    run_frames(sim, 1);
    double sum = 0.0, parts = 0.0;
    for (int32_t i = 0; i < 16; ++i) {
        if (p->x[i] < 0.5) {
            sum += p->x[i] > 0.025 ? (double)p->vx[i] : -(double)p->vx[i];
            parts += 1.0;
        }
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return sum / parts;
}

static void crowded_cells_swell_and_thin_ones_shrink(void **unused)
{
    (void)unused;
    const double face = 0.05 * 0.5 * 240.0 / 6.0; /* m/s, of twice as many */
    const double crowded = outward_speed(16), full = outward_speed(8), thin = outward_speed(4);
    print_message("16, 8, 4 particles in a cell: %.3f, %.3f, %.3f m/s outwards\n", crowded, full, thin);
    /* Particles lie half way between the middle and the faces, and a quarter of a cell from those of empty
     * cells on two sides, where the velocity is 0. */
    const double sampled = 0.5 * 0.75 * 0.75;
    CHECK_NEAR(crowded, sampled * face, 1e-5);
    CHECK_NEAR(full, 0.0, 1e-6);
    CHECK_NEAR(thin, -0.5 * sampled * face, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stable_pile_slips_and_a_tiny_cohesion_counters_it),
        cmocka_unit_test(a_column_of_three_critical_heights_stays_rigid),
        cmocka_unit_test(free_fall_is_that_of_whole_steps),
        cmocka_unit_test(particles_hang_at_walls_of_velocity_zero),
        cmocka_unit_test(particles_stay_outside_of_solids),
        cmocka_unit_test(crowded_cells_swell_and_thin_ones_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
