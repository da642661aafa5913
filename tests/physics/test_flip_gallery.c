/* The stories of the gallery's scenes of `flip`, on coarse versions of the same files: what levels, what
 * stays, what keeps moving. The bunny is downloaded, so that a ball stands for it. */
#include <stdlib.h>

#include "gallery_entry.h"
#include "sim/sim.h"

static const double PI = 3.14159265358979324;

static void finish(WadiSim *sim, WadiScene *scene)
{
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static double farthest(const WadiSim *sim)
{
    double most = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        most = fmax(most, sim->particles.x[i]);
    }
    return most;
}

/* Of a column 0.25 m wide and 0.36 m tall, in a box of 1 m: water comes to a level of 0.09 m, with its centre
 * of mass at half of that; sand runs out by 1.2 times its height at most [LHSF05] and rests as a pile. */
static void a_column_of_water_levels_and_one_of_sand_stays_a_pile(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "resolution=100" : "resolution=30" };
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, "water-column", sets, 1);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    const double level = mean_height(&sim->particles);
    print_message("water: mean height %.4f of 0.045 m\n", level);
    CHECK_NEAR(level, 0.045, 0.006);
    finish(sim, scene);
    sim = start_entry(&scene, "sand-column", sets, 1);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    const double pile = mean_height(&sim->particles), end = farthest(sim);
    print_message("sand: mean height %.4f m, up to x = %.2f m, %.1e m/s\n", pile, end,
                  mean_speed(&sim->particles));
    CHECK_AT_MOST(mean_speed(&sim->particles), 0.01);
    CHECK_AT_MOST(end, 0.25 + 1.2 * 0.36 + 0.1);
    assert_true(pile > 1.3 * 0.045);
    finish(sim, scene);
}

/* The mean height of what a ball of 0.19 m becomes. */
static double height_of_ball(const char *entry, double *speed)
{
    const char *const sets[] = {
        is_long_run() ? "resolution=100" : "resolution=30",
        "bodies[0].shape={sphere: {center: [0.5, 0.5, 0.195], radius: 0.19}}",
    };
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, entry, sets, 2);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    const double height = mean_height(&sim->particles);
    *speed = mean_speed(&sim->particles);
    print_message("%s: mean height %.4f m, %.1e m/s\n", entry, height, *speed);
    finish(sim, scene);
    return height;
}

/* With friction 0.6 the sand is a pile of at most its own angle, 35 degrees: the centre of mass of such a
 * cone is at a quarter of its height, cbrt(3 V tan^2 / pi). On a slippery floor it spreads, as water does. */
static void sand_stays_where_the_floor_is_rough(void **unused)
{
    (void)unused;
    double speed[3];
    const double volume = 4.0 / 3.0 * PI * pow(0.19, 3.0);
    const double cone = 0.25 * cbrt(3.0 * volume * pow(tan(35.0 * PI / 180.0), 2.0) / PI);
    const double rough = height_of_ball("bunny-sand", &speed[0]),
                 slippery = height_of_ball("bunny-sand-slippery", &speed[1]),
                 water = height_of_ball("bunny-water", &speed[2]);
    print_message("a cone of 35 degrees: %.4f m\n", cone);
    CHECK_AT_MOST(rough, 1.1 * cone);
    assert_true(rough > 0.5 * cone);
    CHECK_AT_MOST(speed[0], 0.01);
    CHECK_AT_MOST(slippery, 0.6 * rough);
    CHECK_AT_MOST(water, 0.6 * rough);
}

/* [ZB05 fig. 3]: small motions are kept by FLIP and smoothed away by PIC. */
static void flip_keeps_moving_where_pic_has_stopped(void **unused)
{
    (void)unused;
    double speed[2];
    static const char *const transfer[2] = { "materials.water={kind: water, transfer: flip, flip_share: 1}",
                                             "materials.water={kind: water, transfer: pic}" };
    for (int k = 0; k < 2; ++k) {
        const char *const sets[] = { transfer[k], is_long_run() ? "resolution=80" : "resolution=40" };
        WadiScene *scene = NULL;
        WadiSim *sim = start_entry(&scene, "flip-vs-pic", sets, 2);
        run_frames(sim, wadi_scene_frames(scene) - 1);
        speed[k] = mean_speed(&sim->particles);
        finish(sim, scene);
    }
    print_message("after 1.5 s: flip %.3f m/s, pic %.3f m/s\n", speed[0], speed[1]);
    CHECK_AT_MOST(speed[1], 0.7 * speed[0]);
}

/* Of a box of side 1: the part of the particles that share a cell with more than 11 others, and the height at
 * the sides that all but a hundredth of the particles there do not reach, m. */
typedef struct Crowd {
    double part, at_sides;
} Crowd;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static Crowd crowd_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const double cell = sim->world->cell_size;
    const int side = (int)(1.0 / cell + 0.5);
    int *count = calloc((size_t)side * (size_t)side * (size_t)side, sizeof *count);
    int *of = calloc((size_t)p->count, sizeof *of);
    double *heights = calloc((size_t)p->count, sizeof *heights);
    assert_non_null(count);
    assert_non_null(of);
    assert_non_null(heights);
    size_t beside = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double x[3] = { p->x[i], p->y[i], p->z[i] };
        int at[3];
        for (int a = 0; a < 3; ++a) {
            at[a] = (int)fmin(x[a] / cell, side - 1);
        }
        of[i] = at[0] + side * (at[1] + side * at[2]);
        count[of[i]] += 1;
        if (at[0] == 0 || at[0] == side - 1 || at[1] == 0 || at[1] == side - 1) {
            heights[beside++] = x[2];
        }
    }
    int32_t crowded = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        crowded += count[of[i]] > 12;
    }
    assert_true(beside > 100);
    qsort(heights, beside, sizeof *heights, compare);
    const Crowd crowd = { (double)crowded / p->count, heights[beside - beside / 100] };
    free(count);
    free(of);
    free(heights);
    return crowd;
}

/* [A24 sec. III, fig. 11, 12]: "the effect of an alpha greater than zero reduces the compression of the
 * fluid", and "the sand tends to climb up the walls when the value for alpha is too high". */
static void a_density_correction_spreads_and_a_strong_one_climbs(void **unused)
{
    (void)unused;
    static const char *const alpha[3] = { "flip.density_alpha=0", "flip.density_alpha=0.1",
                                          "flip.density_alpha=1" };
    Crowd crowd[3];
    double cell = 0.0;
    for (int k = 0; k < 3; ++k) {
        const char *const sets[] = { alpha[k], is_long_run() ? "resolution=32" : "resolution=20" };
        WadiScene *scene = NULL;
        WadiSim *sim = start_entry(&scene, "inf585-alpha", sets, 2);
        run_frames(sim, wadi_scene_frames(scene) - 1);
        cell = sim->world->cell_size;
        crowd[k] = crowd_of(sim);
        print_message("%s: %.3f of the particles are crowded, up to %.3f m at the sides\n", alpha[k],
                      crowd[k].part, crowd[k].at_sides);
        finish(sim, scene);
    }
    CHECK_AT_MOST(crowd[1].part, 0.5 * crowd[0].part);
    CHECK_AT_MOST(crowd[2].part, 0.5 * crowd[1].part);
    assert_true(crowd[2].at_sides > crowd[0].at_sides + cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_of_water_levels_and_one_of_sand_stays_a_pile),
        cmocka_unit_test(sand_stays_where_the_floor_is_rough),
        cmocka_unit_test(flip_keeps_moving_where_pic_has_stopped),
        cmocka_unit_test(a_density_correction_spreads_and_a_strong_one_climbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
