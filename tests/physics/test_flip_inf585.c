/* The INF585 mode [A24] on whole scenes: density correction, walls and corners, symmetry, and the three
 * faults its report shows: particles stuck in corners, sand that climbs walls, layers. */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double pi = 3.14159265358979323846;

/* A closed tube without weight whose water was pressed to two thirds of its height. A share alpha of the
 * crowding f - 1 pushed out makes f / (1 + alpha (f - 1)) of the density f: (f - 1) / f, which is 1 - height
 * / height at rest, falls to 1 - alpha of itself each step. Half-life ln 2 dx / (alpha rho_0) for small
 * shares. */
static void crowded_water_swells_by_its_share_each_step(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        double alpha = n == 0 ? 0.05 : 0.1;
        char text[1000];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.1\nfps: 100\ngravity: [0, 0, 0]\n"
                 "domain: {min: [0, 0, 0], max: [0.8, 0.8, 4], walls: {friction: 0}}\n"
                 "materials: {water: {kind: water, transfer: pic}}\n"
                 "flip: {pressure: gauss_seidel, sweeps: 300, density_alpha: %g, density_band: 0}\n"
                 "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.8, 0.8, 2.4]}}}]\n",
                 alpha);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        WadiParticles *p = &sim->particles;
        double rest = mean_height(p), worst = 0.0, last = 1.0;
        for (int32_t i = 0; i < p->count; ++i) {
            p->z[i] *= 2.0 / 3.0;
        }
        /* Until a third of it is left: below, the chance crowding of single cells counts. */
        for (int step = 0; pow(1.0 - alpha, step) > 1.0 / 3.0; ++step) {
            double crowding = 1.0 - mean_height(p) / rest, expected = pow(1.0 - alpha, step) / 3.0;
            worst = fmax(worst, fabs(crowding / expected - 1.0));
            assert_true(crowding < last);
            last = crowding;
            run_frames(sim, 1);
            assert_int_equal(sim->steps, step + 1);
        }
        print_message("share %g: crowding follows the law to %.2f %%\n", alpha, 100.0 * worst);
        CHECK_AT_MOST(worst, 0.02);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static const char *const resting_tank =
    "wadi: 1\nsolver: flip\ncell_size: 0.05\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.4, 0.8], walls: {friction: 0}}\n"
    "materials: {water: {kind: water, transfer: pic}}\nflip: {pressure: gauss_seidel%s}\n"
    "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.6, 0.4, 0.4]}}}]\n";

/* Highest particle within a cell of a wall, and elsewhere. */
static void tops(const WadiSim *sim, double *at_wall, double *inside)
{
    const WadiParticles *p = &sim->particles;
    *at_wall = *inside = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        bool is_near = fmin(fmin(p->x[i], 0.6 - p->x[i]), fmin(p->y[i], 0.4 - p->y[i])) < 0.05;
        double *top = is_near ? at_wall : inside;
        *top = fmax(*top, p->z[i]);
    }
}

/* Even the largest share neither swells still water nor makes it climb walls. Without the band it swells
 * (negative control). */
static void still_water_neither_swells_nor_climbs(void **unused)
{
    (void)unused;
    static const char *const settings[3] = { ", density_alpha: 0.1", ", density_alpha: 1",
                                             ", density_alpha: 1, density_band: 0" };
    for (int s = 0; s < 3; ++s) {
        char text[1000];
        snprintf(text, sizeof text, resting_tank, settings[s]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double before = mean_height(&sim->particles), at_wall, inside;
        run_frames(sim, 120);
        tops(sim, &at_wall, &inside);
        double swelling = mean_height(&sim->particles) / before - 1.0;
        print_message("%s: mean height %+.1f %% after 5 s, top %.3f m at the walls, %.3f m inside\n",
                      settings[s] + 2, 100.0 * swelling, at_wall, inside);
        if (s < 2) {
            CHECK_NEAR(swelling, 0.0, 0.02);
            CHECK_AT_MOST(at_wall, 0.4 + 0.01);
            CHECK_NEAR(at_wall, inside, 0.05);
        } else {
            assert_true(swelling > 0.05);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* A block that fills a shaft from wall to wall falls everywhere alike. Velocities are floats: PIC averages of
 * equal numbers round, 6e-8 of the speed a step, so that 1e-10 is reached on the grid (test_flip_relax.c) but
 * not by particles. */
static void a_block_falls_at_the_walls_as_in_the_middle(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\ncell_size: 0.05\n"
                   "domain: {min: [0, 0, 0], max: [0.4, 0.3, 3], walls: {friction: 0}}\n"
                   "materials: {water: {kind: water, transfer: pic}}\nflip: {pressure: gauss_seidel}\n"
                   "bodies: [{material: water, shape: {box: {min: [0, 0, 2], max: [0.4, 0.3, 2.5]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const WadiParticles *p = &sim->particles;
    double worst = 0.0, sideways = 0.0, edge = 1.0;
    for (int32_t i = 0; i < p->count; ++i) {
        worst = fmax(worst, fabs((double)p->vz[i] + 9.81 * (0.5 - 0.5 * sim->dt)));
        sideways = fmax(sideways, fmax(fabs((double)p->vx[i]), fabs((double)p->vy[i])));
        edge = fmin(edge, fmax(p->x[i], p->y[i]));
    }
    print_message("after 0.5 s: speed differs by %.2g m/s from g (t - dt / 2), %.2g m/s sideways, nearest to "
                  "an edge %.3f m\n",
                  worst, sideways, edge);
    assert_true(edge < 0.02);
    CHECK_AT_MOST(worst, 1e-5 * 9.81 * 0.5);
    CHECK_AT_MOST(sideways, 1e-5);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A block of 9 cells in a tank of 27 collapses to both sides. The sweeps keep the symmetry to the bit
 * (test_flip_relax.c); sums over particles are in float and in the order of the cells, from the left. */
static void a_symmetric_collapse_stays_symmetric(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.03125\n"
        "domain: {min: [0, 0, 0], max: [0.84375, 0.0625, 0.5], walls: {friction: 0}}\n"
        "materials: {water: {kind: water, transfer: pic}}\nflip: {pressure: gauss_seidel}\n"
        "bodies: [{material: water, jitter: 0, shape: {box: {min: [0.28125, 0, 0], max: [0.5625, 0.0625, "
        "0.3125]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiParticles *p = &sim->particles;
    const double middle = 0.421875;
    int32_t *image = malloc((size_t)p->count * sizeof *image);
    for (int32_t i = 0; i < p->count; ++i) {
        image[p->id[i]] = -1;
        for (int32_t j = 0; j < p->count; ++j) {
            bool is_image = fabs(p->x[i] + p->x[j] - 2.0 * middle) < 1e-9 && fabs(p->y[i] - p->y[j]) < 1e-9 &&
                            fabs(p->z[i] - p->z[j]) < 1e-9;
            image[p->id[i]] = is_image ? (int32_t)p->id[j] : image[p->id[i]];
        }
        assert_true(image[p->id[i]] >= 0);
    }
    int32_t *at = malloc((size_t)p->count * sizeof *at);
    for (int frame = 1; frame <= 6; ++frame) {
        run_frames(sim, 1);
        double worst = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            at[p->id[i]] = i;
        }
        for (int32_t i = 0; i < p->count; ++i) {
            int32_t j = at[image[p->id[i]]];
            worst = fmax(worst, fabs(p->x[i] + p->x[j] - 2.0 * middle) / 0.03125);
            worst = fmax(worst, fabs(p->z[i] - p->z[j]) / 0.03125);
        }
        print_message("frame %d: asymmetry %.2g cells\n", frame, worst);
        CHECK_AT_MOST(worst, 1e-4);
    }
    free(at);
    free(image);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* How much the particles lie in level sheets: in windows of four cells along x, the size of the mean of exp(2
 * pi i z / wavelength) beyond what as many random places have; the mean over the windows, largest over
 * wavelengths from 0.2 to 1.2 cells. 0: none, 1: sheets. */
static double layering(const WadiParticles *p, double cell)
{
    double largest = 0.0;
    for (int w = 10; w <= 60; ++w) {
        double wavelength = 0.02 * w, sum = 0.0;
        int windows = 0;
        for (int k = 0; k < 32; k += 4) {
            double c = 0.0, s = 0.0;
            int32_t count = 0;
            for (int32_t i = 0; i < p->count; ++i) {
                double x = p->x[i] / cell, z = p->z[i] / cell;
                if (x >= k && x < k + 4 && z > 0.5 && z < 8.0) {
                    double angle = 2.0 * pi * z / wavelength;
                    c += cos(angle);
                    s += sin(angle);
                    ++count;
                }
            }
            if (count > 200) {
                sum += sqrt(c * c + s * s) / count - 1.0 / sqrt((double)count);
                ++windows;
            }
        }
        largest = windows > 0 ? fmax(largest, sum / windows) : largest;
    }
    return largest;
}

/* The layers of the report are the lattice that the particles were seeded on, drawn into sheets by the flow:
 * a field that is smooth on the scale of a cell keeps what lies within one. Seeded with jitter, the default,
 * there are none. */
static void a_dam_break_has_layers_only_if_seeded_in_layers(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3; ++n) {
        int jitter = n > 0, separation = n == 2 ? 2 : 0;
        char text[1000];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.025\n"
                 "domain: {min: [0, 0, 0], max: [0.8, 0.05, 0.6], walls: {friction: 0}}\n"
                 "materials: {water: {kind: water, transfer: pic}}\n"
                 "flip: {pressure: gauss_seidel, density_alpha: 0.1, pair_separation: %d}\n"
                 "bodies: [{material: water, jitter: %d, shape: {box: {min: [0, 0, 0], max: [0.4, 0.05, "
                 "0.5]}}}]\n",
                 separation, jitter);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 4);
        double early = layering(&sim->particles, 0.025);
        run_frames(sim, 20);
        double late = layering(&sim->particles, 0.025);
        print_message("jitter %d, pair separation %d: layering %.3f after 4 frames, %.3f after 24\n", jitter,
                      separation, early, late);
        if (jitter == 0) {
            assert_true(early > 0.12);
        } else {
            CHECK_AT_MOST(early, 0.06);
            CHECK_AT_MOST(late, 0.03);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowded_water_swells_by_its_share_each_step),
        cmocka_unit_test(still_water_neither_swells_nor_climbs),
        cmocka_unit_test(a_block_falls_at_the_walls_as_in_the_middle),
        cmocka_unit_test(a_symmetric_collapse_stays_symmetric),
        cmocka_unit_test(a_dam_break_has_layers_only_if_seeded_in_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
