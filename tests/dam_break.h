/* A dam break against the measurements of [MM52]: column of width a = 2.25 in, height 2 a. Z = x / a over
 * T = t sqrt(2 g / a), H = height / (2 a) over t sqrt(g / a). tools/validate/dam.py draws the same.
 *
 * The front is where the water is a tenth of a deep, about two cells: thinner the grid does not resolve, and
 * the measured front is held back by its meniscus and the floor. */
#ifndef WADI_TESTS_DAM_BREAK_H
#define WADI_TESTS_DAM_BREAK_H

#include <stdio.h>

#include "particle_cells.h"
#include "scene_sim.h"

static const double a = 0.05715, gravity = 9.81;
enum { DAM_WIDTH = 4, FRAMES = 19, FPS = 100 };

static const double front_points[][2] = { { 0.41, 1.11 }, { 0.84, 1.22 }, { 1.19, 1.44 }, { 1.43, 1.67 },
                                          { 1.63, 1.89 }, { 1.83, 2.11 }, { 1.98, 2.33 }, { 2.20, 2.56 },
                                          { 2.32, 2.78 }, { 2.51, 3.00 }, { 2.65, 3.22 }, { 2.83, 3.44 },
                                          { 2.98, 3.67 } };
static const double height_points[][2] = { { 0.56, 0.94 }, { 0.77, 0.89 }, { 0.93, 0.83 }, { 1.08, 0.78 },
                                           { 1.28, 0.72 }, { 1.46, 0.67 }, { 1.66, 0.61 }, { 1.84, 0.56 },
                                           { 2.00, 0.50 }, { 2.21, 0.44 } };
enum {
    FRONTS = sizeof front_points / sizeof front_points[0],
    HEIGHTS = sizeof height_points / sizeof height_points[0]
};

typedef struct Series {
    double value[FRAMES + 1];
} Series;

static inline double at_time(const Series *series, double time)
{
    double place = fmin(fmax(time * FPS, 0.0), FRAMES - 1e-9);
    int n = (int)place;
    return series->value[n] + (place - n) * (series->value[n + 1] - series->value[n]);
}

/* Depth of every column of cells, m; the front by interpolation, and the mean depth of the two columns at
 * the back wall. */
static inline void measure(const WadiSim *sim, int cells, double *front, double *height)
{
    enum { LONGEST = 200 };
    const int length = 6 * cells;
    double depth[LONGEST + 1] = { 0 }, h = sim->world->cell_size;
    assert_true(length <= LONGEST);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        int column = (int)(sim->particles.x[i] / h);
        depth[column < 0 ? 0 : column < length ? column : length - 1] += h / (8.0 * DAM_WIDTH);
    }
    int last = length - 1;
    while (last > 0 && depth[last] < 0.1 * a) {
        --last;
    }
    *front = h * (last + 0.5 + (depth[last] - 0.1 * a) / (depth[last] - depth[last + 1]));
    *height = 0.5 * (depth[0] + depth[1]);
}

/* With so many cells in the column's width: fails where the front leaves the measured one by more than a part
 * `most_front` of it, the column's height by `most_height` of the first one, or the volume by
 * `most_volume`. */
static inline void check_dam_break(const char *solver, int cells_in_a, double most_front, double most_height,
                                   double most_volume)
{
    const double h = a / cells_in_a;
    char text[800];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: %s\ncell_size: %.17g\nfps: 100\n"
             "domain: {min: [0, 0, 0], max: [0.3429, %.17g, 0.17145], walls: {friction: 0}}\n"
             "materials: {water: {kind: water, viscosity: 0.001, surface_tension: 0.072}}\n"
             "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.05715, %.17g, 0.1143]}}}]\n",
             solver, h, DAM_WIDTH * h, DAM_WIDTH * h);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    Series front, height;
    measure(sim, cells_in_a, &front.value[0], &height.value[0]);
    for (int frame = 1; frame <= FRAMES; ++frame) {
        run_frames(sim, 1);
        measure(sim, cells_in_a, &front.value[frame], &height.value[frame]);
    }
    /* Their gate takes time to open: up to 0.1 in T. */
    double best = 1.0, shift = 0.0;
    for (int n = 0; n <= 20; ++n) {
        double late = 0.005 * n, worst = 0.0;
        for (int i = 0; i < FRONTS; ++i) {
            double z = at_time(&front, (front_points[i][0] - late) * sqrt(a / (2.0 * gravity))) / a;
            worst = fmax(worst, fabs(z / front_points[i][1] - 1.0));
        }
        if (worst < best) {
            best = worst;
            shift = late;
        }
    }
    double lowest = 0.0;
    for (int i = 0; i < HEIGHTS; ++i) {
        double t = (height_points[i][0] - shift / sqrt(2.0)) * sqrt(a / gravity);
        lowest = fmax(lowest, fabs(at_time(&height, t) / (2.0 * a) - height_points[i][1]));
    }
    ParticleCells cells = count_particle_cells(sim, 6 * cells_in_a, DAM_WIDTH, 3 * cells_in_a);
    print_message("%d particles: front within %.1f %% with the gate %.3f late, column within %.3f of its "
                  "height, volume %.4f\n",
                  sim->particles.count, 100.0 * best, shift, lowest, 1.0 / cells.fill);
    CHECK_AT_MOST(best, most_front);
    CHECK_AT_MOST(lowest, most_height);
    CHECK_NEAR(cells.fill, 1.0, most_volume);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    free_particle_cells(&cells);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#endif
