/* sph with particles of different sizes: rest, pressure, and a dam break beside that of the finest particles
 * alone; what splits and merges keep; when there are none. */
#include <math.h>

#include "same_bytes.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "sph/sph_settings.h"
#include "world/water.h"

static void end(WadiSim *sim, WadiScene *scene)
{
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    assert_true(wadi_sim_mass_drift(sim, -1) == 0.0); /* whole quanta */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A tank 32 x 12 x 24 spacings of 1 cm. */
#define TANK                                                                                                 \
    "{wadi: 1, solver: sph, fps: 20, cell_size: 0.02, domain: {min: [0, 0, 0], max: [0.32, 0.12, 0.4]}, "    \
    "materials: {water: {kind: water}}, bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: "      \
    "[0.32, 0.12, 0.24]}}}], sph: {adaptive: {%s}}}"

/* Sums of a straight line through (z, p), by volume. */
typedef struct Line {
    double n, z, p, zz, zp;
} Line;

static void add_to_line(Line *line, double weight, double z, double p)
{
    line->n += weight, line->z += weight * z, line->p += weight * p;
    line->zz += weight * z * z, line->zp += weight * z * p;
}

static double slope_of(const Line *line)
{
    return (line->zp - line->z * line->p / line->n) / (line->zz - line->z * line->z / line->n);
}

/* Of the particles below 18 cm with x in a range: dp/dz over -rho g; their mean size. */
static double slope_in(const WadiParticles *p, double x_min, double x_max, double *size)
{
    const double *volume = wadi_volume_column(p);
    const float *pressure = column_of(p, "pressure");
    Line line = { 0 };
    double count = 0.0, sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->z[i] < 0.18 && p->x[i] > x_min && p->x[i] < x_max) {
            add_to_line(&line, volume[i], p->z[i], (double)pressure[i]);
            sum += cbrt(volume[i]);
            count += 1.0;
        }
    }
    *size = sum / count;
    return slope_of(&line) / -9810.0;
}

/* One half of the tank is the finest by a rule, the other as coarse as it may be. */
static void a_tank_of_two_sizes_rests_under_its_weight(void **unused)
{
    (void)unused;
    char text[1024];
    snprintf(text, sizeof text, TANK, "near: {point: [0, 0.06, 0.12], point_distance: 0.18}");
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const int32_t start = sim->particles.count;
    run_frames(sim, is_long_run() ? 60 : 24);
    const WadiParticles *p = &sim->particles;
    double fine_size, coarse_size;
    const double fine = slope_in(p, 0.0, 0.14, &fine_size), coarse = slope_in(p, 0.22, 0.32, &coarse_size);
    double fastest = 0.0, height = 0.0;
    const double *volume = wadi_volume_column(p);
    for (int32_t i = 0; i < p->count; ++i) {
        fastest =
            fmax(fastest, sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i])));
        height += p->z[i] * volume[i] / start;
    }
    print_message(
        "%d of %d particles; sizes %.2f and %.2f; dp/dz %.3f and %.3f; mean speed %.4f, fastest %.3f "
        "m/s; mean height %.4f\n",
        (int)p->count, (int)start, fine_size, coarse_size, fine, coarse, mean_speed(p), fastest, height);
    assert_true(fine_size < 1.05 && coarse_size > 1.4);
    CHECK_NEAR(fine, 1.0, 0.08);
    CHECK_NEAR(coarse, 1.0, 0.08);
    /* sqrt(gH) is 1.5 m/s; what the merges of the first second stirred up goes on slowly. */
    CHECK_AT_MOST(mean_speed(p), 0.03);
    CHECK_AT_MOST(fastest, 0.4);
    CHECK_NEAR(height, 0.12, 0.0015);
    end(sim, scene);
}

/* A body at rest asks for nothing once its sizes are those that it has; sleep is off. */
static void a_block_at_rest_has_no_events(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, fps: 20, cell_size: 0.02, domain: {min: [0, 0, 0], max: [0.2, 0.12, 0.4], "
        "walls: {friction: 0.5}}, materials: {sand: {kind: sand}}, bodies: [{material: sand, shape: {box: "
        "{min: "
        "[0, 0, 0], max: [0.2, 0.12, 0.2]}}}], sph: {sleep: false, adaptive: {}}}");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 30);
    const WadiResampling before = sim->resampling;
    const int64_t steps = sim->steps;
    while (sim->steps < steps + (is_long_run() ? 1000 : 300)) {
        run_frames(sim, 1);
    }
    const WadiResampling after = sim->resampling;
    print_message("%d merges, %d splits, %d shares in %d steps; then %d, %d and %d in %d\n",
                  (int)before.merges, (int)before.splits, (int)before.shares, (int)steps,
                  (int)(after.merges - before.merges), (int)(after.splits - before.splits),
                  (int)(after.shares - before.shares), (int)(sim->steps - steps));
    assert_true(before.merges > 800);
    assert_int_equal(after.merges + after.splits, before.merges + before.splits);
    end(sim, scene);
}

/* How far the pressure scatters about its straight line below 18 cm, over rho g times a spacing. */
static double pressure_noise(const WadiParticles *p)
{
    const double *volume = wadi_volume_column(p);
    const float *pressure = column_of(p, "pressure");
    Line line = { 0 };
    double square = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->z[i] < 0.18) {
            add_to_line(&line, volume[i], p->z[i], (double)pressure[i]);
        }
    }
    const double slope = slope_of(&line);
    for (int32_t i = 0; i < p->count; ++i) {
        const double off = (double)pressure[i] - line.p / line.n - slope * (p->z[i] - line.z / line.n);
        square += p->z[i] < 0.18 ? volume[i] * off * off : 0.0;
    }
    return sqrt(square / line.n) / 98.1;
}

static double mean_noise(WadiSim *sim, int steps)
{
    WadiError error = { 0 };
    double sum = 0.0;
    for (int n = 0; n < steps; ++n) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        sum += pressure_noise(&sim->particles) / steps;
    }
    return sum;
}

/* The same coarse tank, in which all particles are then asked to be fine: a part of them is split at once. */
static void the_pressure_is_calm_ten_steps_after_splits(void **unused)
{
    (void)unused;
    char text[1024];
    if (!is_long_run()) {
        skip();
    }
    snprintf(text, sizeof text, TANK, "");
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24);
    const double before = mean_noise(sim, 20);
    WadiSphAdaptDef *def =
        &((WadiSphDef *)(void *)sim->scene->settings)->adapt; /* as an artist would later */
    def->point = 10.0;
    const int64_t splits = sim->resampling.splits;
    while (sim->resampling.splits < splits + 50) {
        mean_noise(sim, 1);
    }
    const int64_t made = sim->resampling.splits - splits;
    def->point = -1.0;
    const double first = mean_noise(sim, 3);
    mean_noise(sim, 6);
    const double later = mean_noise(sim, 10);
    mean_noise(sim, 20);
    const double level = mean_noise(sim, 20);
    print_message("noise of the pressure %.3f rho g dx; in the 3 steps after %d splits %.3f, from "
                  "step 10 on %.3f, from 40 on %.3f\n",
                  before, (int)made, first, later, level);
    /* The level of the mixture that they made; that of particles alike is lower. */
    CHECK_AT_MOST(later, 1.15 * level);
    CHECK_AT_MOST(later, 2.0 * before);
    end(sim, scene);
}

#define DAM                                                                                                  \
    "{wadi: 1, solver: sph, fps: 60, cell_size: 0.02, domain: {min: [0, 0, 0], max: [0.9, 0.12, 0.4]}, "     \
    "materials: {water: {kind: water}}, bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: "      \
    "[0.3, 0.12, 0.3]}}}]%s}"

/* The x behind which all but a hundredth of the water lies, m. */
static double front_of(const WadiParticles *p)
{
    const double *volume = wadi_volume_column(p);
    double low = 0.0, high = 1.0, all = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        all += volume != NULL ? volume[i] : 1.0;
    }
    for (int n = 0; n < 30; ++n) {
        const double middle = 0.5 * (low + high);
        double beyond = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            beyond += p->x[i] > middle ? (volume != NULL ? volume[i] : 1.0) : 0.0;
        }
        *(100.0 * beyond > all ? &low : &high) = middle;
    }
    return high;
}

/* The block first stands behind a gate, so that its sizes are its own. */
static void a_dam_break_is_that_of_the_finest_particles(void **unused)
{
    (void)unused;
    double front[2][2];
    int32_t count[2];
    for (int n = 0; n < 2; ++n) {
        char text[1024];
        snprintf(text, sizeof text, DAM,
                 n == 0 ? ", colliders: [{shape: {box: {min: [0.3, -1, -1], max: [0.32, 1, 1]}, translate: "
                          "{keys: [[0, [0, 0, 0]], [0.4, [0, 0, 0]], [0.42, [0, 0, 3]]]}}}]"
                        : ", sph: {adaptive: {}}, colliders: [{shape: {box: {min: [0.3, -1, -1], max: [0.32, "
                          "1, 1]}, translate: {keys: [[0, [0, 0, 0]], [0.4, [0, 0, 0]], [0.42, [0, 0, "
                          "3]]]}}}]");
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 34);
        front[n][0] = front_of(&sim->particles);
        run_frames(sim, 5);
        front[n][1] = front_of(&sim->particles);
        count[n] = sim->particles.count;
        print_message("%d particles: front %.3f, %.3f m; %d splits\n", (int)count[n], front[n][0],
                      front[n][1], (int)sim->resampling.splits);
        end(sim, scene);
    }
    assert_true(2 * count[1] <= count[0]);
    for (int k = 0; k < 2; ++k) {
        CHECK_NEAR((front[1][k] - 0.3) / (front[0][k] - 0.3), 1.0, 0.05);
    }
}

/* A ball of liquid that turns and flies: without forces from outside. Its momentum is that of the start to
 * the rounding of velocities, and its mass exactly. */
static void momentum_and_mass_stay_over_many_events(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, fps: 50, cell_size: 0.02, gravity: [0, 0, 0], materials: {water: {kind: "
        "water}}, "
        "bodies: [{material: water, shape: {sphere: {center: [0, 0, 0], radius: 0.12}}, velocity: [1, 0.5, "
        "0.25], angular_velocity: [0, 0, 60]}], sph: {adaptive: {interval: 2, wait: 1}}}");
    WadiSim *sim = start_sim(scene, 1);
    double momentum[3] = { 0 };
    for (int pass = 0; pass < 2; ++pass) {
        const WadiParticles *p = &sim->particles;
        const double *volume = wadi_volume_column(p);
        double sum[3] = { 0 }, all = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            const double m = volume[i];
            sum[0] += m * (double)p->vx[i], sum[1] += m * (double)p->vy[i], sum[2] += m * (double)p->vz[i];
            all += m;
        }
        for (int a = 0; a < 3; ++a) {
            if (pass == 1) {
                CHECK_NEAR(sum[a] / all, momentum[a], 2e-6);
            }
            momentum[a] = sum[a] / all;
        }
        if (pass == 0) {
            run_frames(sim, is_long_run() ? 300 : 8);
        }
    }
    const WadiResampling *r = &sim->resampling;
    print_message("%d merges, %d splits, %d shares\n", (int)r->merges, (int)r->splits, (int)r->shares);
    assert_true(r->merges + r->splits > (is_long_run() ? 10000 : 800));
    end(sim, scene);
}

static const char mixed_text[] =
    "{wadi: 1, solver: sph, cell_size: 0.04, fps: 24, domain: {min: [0, 0, 0], max: [0.8, 0.3, 0.6], walls: "
    "{friction: 0.4}}, materials: {water: {kind: water}, sand: {kind: sand, ideal_saturation: 0.4}}, bodies: "
    "[{material: sand, saturation: 0.4, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.3]}}}, {material: "
    "water, shape: {box: {min: [0.4, 0, 0], max: [0.8, 0.3, 0.36]}}}], sph: {adaptive: {interval: 3}}}";

static void threads_and_resuming_change_no_byte(void **unused)
{
    (void)unused;
    check_same_bytes(mixed_text, 2, 2);
    WadiScene *scene = load_scene(mixed_text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    const int64_t before = sim->resampling.merges + sim->resampling.splits;
    run_frames(sim, 2);
    const int64_t after = sim->resampling.merges + sim->resampling.splits;
    print_message("%d events before the resume, %d after it\n", (int)before, (int)(after - before));
    assert_true(before > 0 && after > before);
    end(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tank_of_two_sizes_rests_under_its_weight),
        cmocka_unit_test(a_block_at_rest_has_no_events),
        cmocka_unit_test(the_pressure_is_calm_ten_steps_after_splits),
        cmocka_unit_test(a_dam_break_is_that_of_the_finest_particles),
        cmocka_unit_test(momentum_and_mass_stay_over_many_events),
        cmocka_unit_test(threads_and_resuming_change_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
