/* sph: water moves as water: a standing wave and a U-tube, of particles of one size and of different ones,
 * keep their periods and their heights. */
#include <stdio.h>
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static const double PI = 3.14159265358979323846;

/* An even tank 30 spacings long and 15 deep, its surface half a wave of 1.5 spacings: linear theory has
 * w^2 = g k tanh(k depth). */
enum { STRIPS = 30 };
static const double LENGTH = 0.6, DEPTH = 0.3, AMPLITUDE = 0.03;

static WadiSim *start_wave(WadiScene **scene)
{
    static char text[16384];
    int to =
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: sph, cell_size: 0.04, fps: 100, domain: {min: [0, 0, 0], max: [%g, 0.12, "
                 "0.5], walls: {friction: 0}}, materials: {w: {kind: water}}, bodies: [",
                 LENGTH);
    for (int i = 0; i < STRIPS; ++i) {
        const double x = LENGTH * i / STRIPS, top = DEPTH + AMPLITUDE * cos(PI * (i + 0.5) / STRIPS);
        to += snprintf(text + to, sizeof text - (size_t)to,
                       "%s{material: w, shape: {box: {min: [%g, 0, 0], max: [%g, 0.12, %g]}}}",
                       i > 0 ? ", " : "", x, x + LENGTH / STRIPS, top);
    }
    snprintf(text + to, sizeof text - (size_t)to, "]}");
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

/* Amplitude of the longest wave, of any unit. */
static double wave_of(const WadiParticles *p)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += cos(PI * p->x[i] / LENGTH);
    }
    return sum / p->count;
}

static void a_standing_wave_keeps_its_period_and_its_height(void **state)
{
    (void)state;
    const double k = PI / LENGTH, period = 2.0 * PI / sqrt(9.81 * k * tanh(k * DEPTH));
    WadiScene *scene;
    WadiSim *sim = start_wave(&scene);
    const int frames = (int)ceil(1.4 * period * 100.0);
    double last = wave_of(&sim->particles), first = last, falls[2] = { 0 }, kept = 0.0;
    int found = 0;
    for (int n = 1; n <= frames; ++n) {
        run_frames(sim, 1);
        const double now = wave_of(&sim->particles);
        if (last > 0.0 && now <= 0.0 && found < 2) {
            falls[found++] = n - 1 + last / (last - now);
        }
        kept = n > 0.75 * period * 100.0 ? fmax(kept, now / first) : 0.0;
        last = now;
    }
    const double measured = (falls[1] - falls[0]) / 100.0 / period;
    print_message("standing wave: period %.3f of theory, %.3f of its height left after it, %ld steps\n",
                  measured, kept, (long)sim->steps);
    assert_int_equal(found, 2);
    CHECK_NEAR(measured, 1.0, 0.03);
    CHECK_AT_MOST(0.79, kept);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Two arms 12 spacings wide, joined by as wide a channel, without friction. */
typedef struct Tube {
    double half; /* level difference after half a period over the first */
    double time; /* s */
} Tube;

static Tube run_tube(const char *settings)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{wadi: 1, solver: sph, %s cell_size: 0.02, fps: 100, domain: {min: [0, 0, 0], max: [0.36, 0.08, "
        "0.5], "
        "walls: {friction: 0}}, materials: {w: {kind: water}}, colliders: [{friction: 0, shape: {box: {min: "
        "[0.12, -0.1, 0.12], max: [0.24, 0.2, 0.6]}}}], bodies: [{material: w, shape: {box: {min: [0, 0, 0], "
        "max: [0.12, 0.08, 0.30]}}}, {material: w, shape: {box: {min: [0.12, 0, 0], max: [0.24, 0.08, "
        "0.12]}}}, {material: w, shape: {box: {min: [0.24, 0, 0], max: [0.36, 0.08, 0.22]}}}]}",
        settings);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const int volume = wadi_particles_find_column(p, "radius");
    Tube tube = { 0 };
    double least = 1.0;
    for (int n = 1; n <= 75; ++n) {
        run_frames(sim, 1);
        double left = 0.0, right = 0.0; /* volumes */
        const float *radius = volume >= 0 ? wadi_particles_column(p, volume) : NULL;
        for (int32_t i = 0; i < p->count; ++i) {
            const double s = radius != NULL ? 2.0 * (double)radius[i] : 0.01;
            left += p->x[i] < 0.12 && p->z[i] > 0.12 ? s * s * s : 0.0;
            right += p->x[i] > 0.24 && p->z[i] > 0.12 ? s * s * s : 0.0;
        }
        const double part = (left - right) / (0.12 * 0.08 * 0.08);
        if (part < least) {
            least = part;
            tube.time = n / 100.0;
        }
    }
    tube.half = -least;
    print_message("U-tube %s: %.3f of the difference after half a period of %.2f s, %ld steps\n", settings,
                  tube.half, tube.time, (long)sim->steps);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return tube;
}

static void a_u_tube_swings_back(void **state)
{
    (void)state;
    const Tube even = run_tube(""), adaptive = run_tube("sph: {adaptive: {}},");
    CHECK_AT_MOST(0.8, even.half);
    CHECK_NEAR(adaptive.half / even.half, 1.0, 0.05);
}

/* Root of the mean square of the distances from the axis of particles between two x, m. */
static double width_of(const WadiParticles *p, double from, double to)
{
    double sum = 0.0, count = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->x[i] >= from && p->x[i] < to) {
            sum += p->y[i] * p->y[i] + p->z[i] * p->z[i];
            count += 1.0;
        }
    }
    return sqrt(sum / count);
}

/* A free jet of 8 x 8 spacings, without gravity: nothing widens it. */
static void a_jet_keeps_its_width(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: sph, cell_size: 0.01, fps: 100, gravity: [0, 0, 0], domain: {min: [0, "
        "-0.2, -0.2], max: "
        "[0.7, 0.2, 0.2], walls: {open: [x_max]}}, materials: {w: {kind: water}}, emitters: [{material: w, "
        "velocity: [2, 0, "
        "0], rate: 0.0032, shape: {box: {min: [0, -0.02, -0.02], max: [0.02, 0.02, 0.02]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 33);
    const double near = width_of(&sim->particles, 0.05, 0.1), far = width_of(&sim->particles, 0.5, 0.55);
    print_message(
        "jet of 8 spacings: %.3f times as wide after 90 of them, %.3f of a square's, %d particles\n",
        far / near, near / sqrt(2.0 * 0.04 * 0.04 / 12.0), (int)sim->particles.count);
    CHECK_AT_MOST(far / near, 1.15);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standing_wave_keeps_its_period_and_its_height),
        cmocka_unit_test(a_u_tube_swings_back),
        cmocka_unit_test(a_jet_keeps_its_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
