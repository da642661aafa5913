/* flip: materials of different density. Heavy over light overturns at the rate of linear theory, light over
 * heavy stays, a block floats at Archimedes' level. */
#include <math.h>
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81;

/* A closed box full of two liquids: 0.4 m wide, each layer 0.2 m deep, 20 cells wide. */
static const double width = 0.4, depth = 0.2, cell = 0.02;

/* The surface between the liquids is z = depth + amplitude cos(pi x / width), in strips of half a cell. */
static WadiSim *start_layers(WadiScene **scene, double lower, double upper, double amplitude)
{
    static char text[32768];
    int used = snprintf(text, sizeof text,
                        "{wadi: 1, solver: flip, cell_size: %g, fps: 48,\n"
                        "domain: {min: [0, 0, 0], max: [%g, %g, %g], walls: {friction: 0}},\n"
                        "materials: {lower: {kind: water, density: %g}, upper: {kind: water, density: %g}},\n"
                        "bodies: [",
                        cell, width, 2.0 * cell, 2.0 * depth, lower, upper);
    const int strips = 2 * (int)lround(width / cell);
    for (int n = 0; n < 2 * strips; ++n) {
        const bool is_upper = n >= strips;
        const double x = width * (n % strips) / strips, next = width * (n % strips + 1) / strips;
        const double z = depth + amplitude * cos(pi * 0.5 * (x + next) / width);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{material: %s, jitter: 0.5, shape: {box: {min: [%g, 0, %g], max: [%g, %g, %g]}}}",
                         n == 0 ? "" : ",\n", is_upper ? "upper" : "lower", x, is_upper ? z : 0.0, next,
                         2.0 * cell, is_upper ? 2.0 * depth : z);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}\n");
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

/* Of the first mode of the surface between the liquids: the integral of cos(pi x / width) over the upper
 * liquid is -amplitude width/2 times the thickness. */
static double amplitude_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->material[i] == 1 ? cos(pi * p->x[i] / width) : 0.0;
    }
    return -2.0 * sum * cell * cell * cell / 8.0 / (width * 2.0 * cell);
}

static double height_of(const WadiSim *sim, int material)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0, count = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->material[i] == material ? p->z[i] : 0.0;
        count += p->material[i] == material;
    }
    return sum / count;
}

/* Square of the rate of growth, or of the angular frequency if negative. */
static double rate_square(double lower, double upper)
{
    const double k = pi / width;
    return gravity * k * (upper - lower) / (upper + lower) * tanh(k * depth);
}

static void heavy_over_light_grows_as_it_should(void **unused)
{
    (void)unused;
    static const double densities[][2] = { { 600, 1200 }, { 900, 1100 }, { 100, 1000 } };
    for (int n = 0; n < 3; ++n) {
        WadiScene *scene = NULL;
        WadiSim *sim = start_layers(&scene, densities[n][0], densities[n][1], 0.25 * cell);
        const double rate = sqrt(rate_square(densities[n][0], densities[n][1]));
        const int frames = (int)lround(2.0 / rate * 48.0);
        const double before = amplitude_of(sim);
        run_frames(sim, frames);
        const double measured = acosh(amplitude_of(sim) / before) / (frames / 48.0);
        print_message("%g under %g kg/m^3: rate %.2f 1/s, exact %.2f\n", densities[n][0], densities[n][1],
                      measured, rate);
        CHECK_NEAR(measured / rate, 1.0, 0.15);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* The surface lies on faces of the grid, where the means of whole cells see no disturbance. */
static void a_flat_surface_overturns_too(void **unused)
{
    (void)unused;
    WadiScene *scene = NULL;
    WadiSim *sim = start_layers(&scene, 600.0, 1200.0, 0.0);
    run_frames(sim, 108);
    print_message("middle of the heavy liquid at %.3f m, of the light one at %.3f m\n", height_of(sim, 1),
                  height_of(sim, 0));
    CHECK_AT_MOST(height_of(sim, 1), height_of(sim, 0));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void light_over_heavy_swings_about_rest(void **unused)
{
    (void)unused;
    WadiScene *scene = NULL;
    WadiSim *sim = start_layers(&scene, 1200.0, 600.0, 0.5 * cell);
    const double before = amplitude_of(sim), exact = 2.0 * pi / sqrt(-rate_square(1200.0, 600.0));
    double last = before, period = 0.0;
    for (int frame = 1; frame <= 72 && period == 0.0; ++frame) { /* rises through 0 after three quarters */
        run_frames(sim, 1);
        const double now = amplitude_of(sim);
        if (now >= 0.0 && last < 0.0) {
            period = (frame - now / (now - last)) / 48.0 / 0.75;
        }
        last = now;
    }
    print_message("period %.3f s, exact %.3f\n", period, exact);
    CHECK_NEAR(period / exact, 1.0, 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);

    sim = start_layers(&scene, 1200.0, 600.0, 0.0);
    const double upper = height_of(sim, 1);
    run_frames(sim, 96);
    print_message("at rest: %.4f m/s, rise %.4f cells\n", mean_speed(&sim->particles),
                  (height_of(sim, 1) - upper) / cell);
    CHECK_AT_MOST(mean_speed(&sim->particles), 0.01 * sqrt(gravity * cell));
    CHECK_NEAR(height_of(sim, 1), upper, 0.02 * cell);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A block of cohesive sand in a tank of three times its width, at the level where it displaces its mass.
 * It shifts by where it lies between cells; on average it must not. */
static void a_block_floats_at_its_draught(void **unused)
{
    (void)unused;
    static const double densities[] = { 300, 500, 800 };
    const double side = 0.1, h = 0.025;
    double mean = 0.0;
    for (int n = 0; n < 3; ++n) {
        const double low = 1.5 * side - densities[n] / 1000.0 * side;
        char hull[256], text[1536];
        snprintf(hull, sizeof hull, "{box: {min: [%g, %g, %g], max: [%g, %g, %g]}}", side, side, low,
                 2.0 * side, 2.0 * side, low + side);
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: flip, cell_size: %g, fps: 20,\n"
                 "domain: {min: [0, 0, 0], max: [0.3, 0.3, 0.4], walls: {friction: 0}},\n"
                 "materials: {w: {kind: water}, s: {kind: sand, density: %g, cohesion: 1e5, friction_angle: "
                 "40}},\n"
                 "bodies: [{material: w, jitter: 0.5, shape: {difference: [{box: {min: [0, 0, 0], max: [0.3, "
                 "0.3, 0.15]}}, %s]}},\n{material: s, jitter: 0.5, shape: %s}]}\n",
                 h, densities[n], hull, hull);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 40);
        double sum = 0.0;
        for (int frame = 0; frame < 20; ++frame) {
            run_frames(sim, 1);
            sum += (height_of(sim, 1) - (low + 0.5 * side)) / h;
        }
        print_message("block of %g kg/m^3: %.2f cells too high\n", densities[n], sum / 20);
        CHECK_NEAR(sum / 20, 0.0, 0.25);
        mean += sum / 60.0;
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    CHECK_NEAR(mean, 0.0, 0.12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heavy_over_light_grows_as_it_should),
        cmocka_unit_test(a_flat_surface_overturns_too),
        cmocka_unit_test(light_over_heavy_swings_about_rest),
        cmocka_unit_test(a_block_floats_at_its_draught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
