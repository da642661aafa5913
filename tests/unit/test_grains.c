/* Grains of particles: their volume, their distance from the particle, and no clumps. */
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "expect.h"
#include "render/grains.h"

enum { SIDE = 20, CUBE = SIDE * SIDE * SIDE };
static const double SPACING = 0.01;

static WadiVec3 jittered(int32_t n, double z_scale)
{
    double u[3];
    wadi_random_unit3(7, (uint64_t)n, WADI_RANDOM_TEST, u);
    WadiVec3 x = { n % SIDE + 0.5 * u[0], n / SIDE % SIDE + 0.5 * u[1],
                   z_scale * (n / (SIDE * SIDE) + 0.5 * u[2]) };
    return wadi_scale(x, SPACING);
}

static WadiGrainDef grain_def(void)
{
    return (WadiGrainDef){ .per_particle = 10,
                           .fill = 0.6,
                           .size_variation = 0.3,
                           .palette = {
                               .colour = { { 214, 188, 142 } }, .fraction = { 1.0f }, .variation = 0.2f } };
}

/* Grains of `count` points, their memory in the arena. */
static WadiGrains grains_of(const WadiVec3 *x, int32_t count, WadiVec3 origin, const WadiGrainDef *def,
                            WadiArena *arena)
{
    WadiError error;
    WadiCloud cloud;
    WadiBins bins;
    WadiGrains grains;
    CHECK_OK(wadi_cloud_from_points(&cloud, x, count, SPACING, &error), error);
    CHECK_OK(wadi_bins_build(&bins, &cloud, WADI_GRAIN_SUPPORT, arena, &error), error);
    CHECK_OK(wadi_grains_make(&grains, &cloud, &bins, origin, def, arena, &error), error);
    wadi_cloud_free(&cloud);
    return grains;
}

static void make_cube(WadiVec3 x[CUBE], WadiVec3 at)
{
    for (int32_t n = 0; n < CUBE; ++n) {
        x[n] = wadi_add(at, jittered(n, 1.0));
    }
}

static void test_grains_fill_their_part(void **state)
{
    (void)state;
    static WadiVec3 x[CUBE];
    make_cube(x, wadi_vec3(0, 0, 0));
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    WadiGrains grains = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
    assert_int_equal(grains.count, 10 * CUBE);
    double volume = 0.0;
    for (size_t g = 0; g < grains.count; ++g) {
        double r = (double)grains.sphere[g][3];
        volume += 4.0 / 3.0 * 3.14159265358979 * r * r * r;
    }
    CHECK_NEAR(volume, 0.6 * CUBE * SPACING * SPACING * SPACING, 0.003 * volume);
    wadi_arena_free(&arena);
}

/* Inside an even body the number of grains in small cubes varies no more than that of random points: no
 * clumps, and no gaps between handfuls. */
static void test_even_bodies_have_even_grains(void **state)
{
    (void)state;
    static WadiVec3 x[CUBE];
    make_cube(x, wadi_vec3(0, 0, 0));
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    WadiGrains grains = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
    enum { LOW = 4, HIGH = 15, N = 2 * (HIGH - LOW) }; /* boxes of half a spacing, away from the rim */
    static int in_box[N][N][N];
    memset(in_box, 0, sizeof in_box);
    for (size_t g = 0; g < grains.count; ++g) {
        int at[3];
        bool is_inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            at[axis] = (int)floor(((double)grains.sphere[g][axis] / SPACING - LOW) * 2.0);
            is_inside = is_inside && at[axis] >= 0 && at[axis] < N;
        }
        if (is_inside) {
            in_box[at[0]][at[1]][at[2]] += 1;
        }
    }
    double sum = 0.0, square = 0.0;
    for (int b = 0; b < N * N * N; ++b) {
        sum += (&in_box[0][0][0])[b];
        square += (double)(&in_box[0][0][0])[b] * (&in_box[0][0][0])[b];
    }
    double mean = sum / (N * N * N), variance = square / (N * N * N) - mean * mean;
    CHECK_NEAR(mean, 10.0 / 8.0, 0.02);
    assert_true(variance < mean);
    wadi_arena_free(&arena);
}

/* A lone particle: a ball of the volume that its weight has without neighbours. */
static void test_a_lone_particle_spreads_its_grains(void **state)
{
    (void)state;
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    def.per_particle = WADI_GRAIN_MAX;
    WadiVec3 x = { 1.0, 2.0, 3.0 };
    WadiGrains grains = grains_of(&x, 1, x, &def, &arena);
    double furthest = 0.0, ball = 0.62035 * 1.12 * SPACING * cbrt(4.0 * 3.14159265 * 8.0 * 16.0 / 315.0);
    for (size_t g = 0; g < grains.count; ++g) {
        const float *s = grains.sphere[g];
        furthest = fmax(furthest, sqrt((double)(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])));
    }
    assert_true(furthest <= ball * 1.0001 && furthest > 0.8 * ball);
    wadi_arena_free(&arena);
}

/* In a sheet one particle thick, handfuls are flat. */
static void test_a_sheet_has_flat_handfuls(void **state)
{
    (void)state;
    static WadiVec3 x[SIDE * SIDE];
    for (int32_t n = 0; n < SIDE * SIDE; ++n) {
        x[n] = jittered(n, 0.0);
    }
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    WadiGrains grains = grains_of(x, SIDE * SIDE, wadi_vec3(0, 0, 0), &def, &arena);
    double along = 0.0, across = 0.0;
    for (size_t g = 0; g < grains.count; ++g) {
        double dx = (double)grains.sphere[g][0] - x[g / 10].x;
        along += dx * dx;
        across += (double)(grains.sphere[g][2] * grains.sphere[g][2]);
    }
    assert_true(sqrt(across) <
                0.65 * sqrt(along)); /* the rule gives a half of what it gives along an even direction */
    wadi_arena_free(&arena);
}

/* A body moved as a whole has the same grains, at any position and in any order of the particles. */
static void test_grains_stay_with_their_particles(void **state)
{
    (void)state;
    static WadiVec3 x[CUBE];
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    WadiVec3 far = { 10000.0, -3.0, 512.0 };
    make_cube(x, wadi_vec3(0, 0, 0));
    WadiGrains here = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
    make_cube(x, far);
    WadiGrains there = grains_of(x, CUBE, far, &def, &arena);
    for (size_t g = 0; g < here.count; ++g) {
        for (int c = 0; c < 4; ++c) {
            CHECK_NEAR((double)here.sphere[g][c], (double)there.sphere[g][c], 1e-3 * SPACING);
        }
        assert_memory_equal(&here.colour[g], &there.colour[g], sizeof here.colour[g]);
    }
    wadi_arena_free(&arena);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static WadiVec3 x[CUBE];
    make_cube(x, wadi_vec3(0, 0, 0));
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    wadi_parallel_set_threads(1);
    WadiGrains one = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
    for (int threads = 2; threads <= 5; threads += 3) {
        wadi_parallel_set_threads(threads);
        WadiGrains many = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
        assert_memory_equal(one.sphere, many.sphere, one.count * sizeof *one.sphere);
        assert_memory_equal(one.colour, many.colour, one.count * sizeof *one.colour);
    }
    wadi_parallel_set_threads(0);
    wadi_arena_free(&arena);
}

static void test_palettes_have_their_shares(void **state)
{
    (void)state;
    static WadiVec3 x[CUBE];
    make_cube(x, wadi_vec3(0, 0, 0));
    WadiArena arena = { 0 };
    WadiGrainDef def = grain_def();
    def.palette =
        (WadiGrainPalette){ .colour = { { 200, 0, 0 }, { 0, 200, 0 } }, .fraction = { 0.25f, 0.75f } };
    WadiGrains grains = grains_of(x, CUBE, wadi_vec3(0, 0, 0), &def, &arena);
    size_t red = 0;
    for (size_t g = 0; g < grains.count; ++g) {
        red += grains.colour[g].red == 200;
        assert_true((grains.colour[g].red == 200) != (grains.colour[g].green == 200));
    }
    CHECK_NEAR((double)red / (double)grains.count, 0.25, 0.006);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grains_fill_their_part),
        cmocka_unit_test(test_even_bodies_have_even_grains),
        cmocka_unit_test(test_a_lone_particle_spreads_its_grains),
        cmocka_unit_test(test_a_sheet_has_flat_handfuls),
        cmocka_unit_test(test_grains_stay_with_their_particles),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_palettes_have_their_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
