/* The stories of the gallery's scenes of grains, on coarse versions of the same files: what moves, and where
 * the sand is in the end. Meshes are downloaded, so that shapes stand for them. */
#include "gallery_entry.h"
#include "sim/sim.h"

static const double PI = 3.14159265358979324, RADIAN = 3.14159265358979324 / 180.0;

static void finish(WadiSim *sim, WadiScene *scene)
{
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A vertical cylinder of space. */
typedef struct Well {
    double x, y, radius, low, high; /* m */
} Well;

/* Grains in it that move slower than 0.1 m/s, and the top of the highest. */
static int32_t rest_in(const WadiSim *sim, Well well, double *top)
{
    const WadiParticles *p = &sim->particles;
    int32_t count = 0;
    *top = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const float square = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
        if (square < 0.01f && hypot(p->x[i] - well.x, p->y[i] - well.y) < well.radius && p->z[i] > well.low &&
            p->z[i] < well.high) {
            count += 1;
            *top = fmax(*top, p->z[i] + 0.5 * sim->world->spacing);
        }
    }
    return count;
}

/* m^3 of bulk sand. */
static double volume_of(const WadiSim *sim, int32_t grains)
{
    return grains * sim->world->particle_volume;
}

/* Height of a cone of that much sand whose flanks have the slope tan_angle, m: V = pi h^3 / (3 tan^2). */
static double cone_height(double volume, double tan_angle)
{
    return cbrt(3.0 * volume * tan_angle * tan_angle / PI);
}

/* A heap of the sand's own angle, 30 degrees: its centre of mass is that of a cone of all its sand, at a
 * quarter of the cone's height. */
static void grains_on_a_floor_make_a_heap(void **unused)
{
    (void)unused;
    const char *const modes[] = { "dem.mode=surface_flow", "dem.mode=full" };
    const char *const resolution = is_long_run() ? "resolution=90" : "resolution=30";
    double height[2];
    for (int k = 0; k < 2; ++k) {
        const char *const sets[] = { resolution, modes[k], "dem.sleep=false" };
        WadiScene *scene = NULL;
        WadiSim *sim = start_entry(&scene, "floor-heap", sets, 3);
        run_frames(sim, 216);
        const Well all = { 0.0, 0.0, 2.0, 0.0, 0.6 };
        double top;
        const int32_t rest = rest_in(sim, all, &top);
        height[k] = mean_height(&sim->particles);
        const double cone = cone_height(volume_of(sim, sim->particles.count), tan(30.0 * RADIAN));
        print_message("%s: %d of %d grains at rest, centre at %.4f m, a cone %.3f m high\n", modes[k], rest,
                      sim->particles.count, height[k], cone);
        assert_true(rest > 19 * sim->particles.count / 20);
        CHECK_NEAR(height[k], 0.25 * cone, 0.025 * cone);
        finish(sim, scene);
    }
    CHECK_NEAR(height[0], height[1], 0.08 * height[1]);
}

/* On a round table in place of the figure sand stands as a cone as high as its angle and the radius say;
 * what does not find room lies around it. On a smooth table without friction nothing stays that high. */
static void sand_heaps_on_a_figure_and_around_it(void **unused)
{
    (void)unused;
    const double radius = 0.25, table = 0.4;
    const char *const resolution = is_long_run() ? "resolution=90" : "resolution=30";
    double top[2], around;
    for (int k = 0; k < 2; ++k) {
        const char *const sets[] = {
            resolution,
            "colliders[0].shape={cylinder: {from: [0, 0, 0], to: [0, 0, 0.4], radius: 0.25}}",
            k == 0 ? "dem.surfaces=covered" : "dem.surfaces=smooth",
            k == 0 ? "colliders[0].friction=1" : "colliders[0].friction=0",
        };
        WadiScene *scene = NULL;
        WadiSim *sim = start_entry(&scene, "figure-heaps", sets, 4);
        run_frames(sim, 192);
        const Well on_it = { 0.0, 0.0, radius, table, 0.75 }, below = { 0.0, 0.0, 2.0, 0.0, table };
        const int32_t rest = rest_in(sim, on_it, &top[k]), low = rest_in(sim, below, &around);
        print_message("%d grains on the table, up to %.3f m; %d around it, up to %.3f m\n", rest, top[k], low,
                      around);
        assert_true(low > 0.8 * sim->particles.count);
        finish(sim, scene);
    }
    CHECK_NEAR(top[0] - table, radius * tan(30.0 * RADIAN), 0.04);
    CHECK_AT_MOST(top[1], 0.75 * (top[0] - table) + table);
}

/* All hills are under sand in the end, and all of it is in the box. */
static void sand_covers_the_hills(void **unused)
{
    (void)unused;
    const double hill[4][3] = {
        { 0.55, 0.3, 0.13 }, { 1.1, 0.7, 0.15 }, { 1.35, 0.2, 0.1 }, { 0.3, 0.85, 0.11 }
    };
    const char *const sets[] = { is_long_run() ? "resolution=80" : "resolution=28" };
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, "terrain-splash", sets, 1);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    for (int h = 0; h < 4; ++h) {
        const Well well = { hill[h][0], hill[h][1], 0.06, 0.0, 0.9 };
        double top;
        const int32_t rest = rest_in(sim, well, &top);
        print_message("hill of %.2f m: %d grains on its top, up to %.3f m\n", hill[h][2], rest, top);
        assert_true(top > hill[h][2] + sim->world->spacing);
    }
    assert_int_equal(wadi_sim_drained_particles(sim), 0);
    finish(sim, scene);
}

/* The bowl holds what fits and nothing lies on its outside below. */
static void the_bowl_holds_the_sand(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "resolution=80" : "resolution=24" };
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, "bowl-pour", sets, 1);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    const WadiParticles *p = &sim->particles;
    int32_t outside = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double r2 = p->x[i] * p->x[i] + p->y[i] * p->y[i] + (p->z[i] - 0.72) * (p->z[i] - 0.72);
        outside += r2 > 0.7 * 0.7;
    }
    double top;
    const int32_t rest = rest_in(sim, (Well){ 0.05, 0.0, 2.0, 0.0, 1.05 }, &top);
    print_message("%d of %d grains at rest, %d outside of the bowl, up to %.3f m\n", rest, p->count, outside,
                  top);
    assert_true(rest > 19 * p->count / 20);
    CHECK_AT_MOST(outside, p->count / 100);
    finish(sim, scene);
}

/* Waves run past the dragon, here a box as wide and high, to the glass; sand ends in a heap at both. */
static void waves_reach_the_dragon_and_the_glass(void **unused)
{
    (void)unused;
    const char *const sets[] = {
        is_long_run() ? "resolution=100" : "resolution=34",
        "colliders[0].shape={box: {min: [1.08, 0.25, 0], max: [1.42, 0.95, 0.45]}}",
    };
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, "dragon-waves", sets, 2);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    double dragon, glass, between;
    rest_in(sim, (Well){ 0.98, 0.6, 0.1, 0.0, 0.8 }, &dragon);
    rest_in(sim, (Well){ 1.95, 0.6, 0.6, 0.0, 0.8 }, &glass);
    rest_in(sim, (Well){ 0.2, 0.6, 0.2, 0.0, 0.8 }, &between);
    print_message("sand up to %.3f m at the dragon, %.3f m at the glass, %.3f m where they came from\n",
                  dragon, glass, between);
    assert_true(dragon > 0.12 && glass > 0.12);
    CHECK_AT_MOST(between, 0.5 * glass);
    finish(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grains_on_a_floor_make_a_heap),
        cmocka_unit_test(sand_heaps_on_a_figure_and_around_it),
        cmocka_unit_test(sand_covers_the_hills),
        cmocka_unit_test(the_bowl_holds_the_sand),
        cmocka_unit_test(waves_reach_the_dragon_and_the_glass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
