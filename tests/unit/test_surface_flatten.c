/* What flattening removes and preserves, on functions whose surfaces are known. Lengths are in spacings;
 * cells are 0.8 spacings, the default. */
#include "core/parallel.h"
#include "surface/field/field_band.h"
#include "surface_fixture.h"

static const double CELL = 0.8, REACH = 4.0;
static const WadiBox EVERYWHERE = { { -1e9, -1e9, -1e9 }, { 1e9, 1e9, 1e9 } };

/* A plane that passes by the nodes, with waves along its two tangents. */
static const double LEVEL = 0.13;

typedef struct Waves {
    WadiVec3 normal;
    double height, length;
} Waves;

static void tangents_of(WadiVec3 normal, WadiVec3 tangent[2])
{
    tangent[0] = wadi_normalized_or(wadi_cross(normal, wadi_vec3(0, 1, 0)), wadi_vec3(1, 0, 0));
    tangent[1] = wadi_cross(normal, tangent[0]);
}

static double wave_at(const Waves *w, WadiVec3 x)
{
    WadiVec3 tangent[2];
    tangents_of(w->normal, tangent);
    double k = 6.283185307179586 / w->length;
    return w->height * sin(k * wadi_dot(x, tangent[0])) * sin(k * wadi_dot(x, tangent[1]));
}

static double waves_distance(const void *context, WadiVec3 x)
{
    const Waves *w = context;
    return wadi_dot(x, w->normal) - LEVEL - wave_at(w, x);
}

static double sheet_distance(const void *context, WadiVec3 x)
{
    return fabs(x.z) - *(const double *)context;
}

static double tilted_sheet_distance(const void *context, WadiVec3 x)
{
    return fabs(wadi_dot(x, wadi_vec3(0.36, 0.48, 0.8))) - *(const double *)context;
}

static void make_field(FieldFixture *fixture, int tiles, FieldFunction function, const void *context)
{
    const int low[3] = { -tiles, -tiles, -tiles }, high[3] = { tiles, tiles, tiles };
    field_from_function(fixture, low, high, CELL, function, context);
}

static void flatten_within(FieldFixture *fixture, double length, WadiBox within)
{
    WadiError error = { 0 };
    CHECK_OK(wadi_field_flatten(&fixture->field, length, 1.0, within, &fixture->arena, &error), error);
}

static void flatten(FieldFixture *fixture)
{
    flatten_within(fixture, REACH, EVERYWHERE);
}

/* What is left of the waves in the middle of the box. */
typedef struct Left {
    double part;  /* heights of vertices along the normal, fitted to the waves */
    double rms;   /* of the heights */
    double worst; /* distance from the waves as they were */
} Left;

static Left measure(WadiVec3 normal, double height, double length)
{
    const Waves waves = { normal, height, length };
    FieldFixture fixture;
    make_field(&fixture, 5, waves_distance, &waves);
    flatten(&fixture);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    double both = 0.0, squares = 0.0, heights = 0.0;
    int count = 0;
    Left left = { 0 };
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        WadiVec3 x = surface.mesh.vertices[v];
        if (wadi_norm(x) < 14.0) {
            double wave = wave_at(&waves, x), found = wadi_dot(x, normal) - LEVEL;
            both += wave * found;
            squares += wave * wave;
            heights += found * found;
            left.worst = fmax(left.worst, fabs(found - wave));
            ++count;
        }
    }
    assert_true(count > 500);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
    left.part = squares > 0.0 ? both / squares : 0.0;
    left.rms = sqrt(heights / count);
    return left;
}

static void bumps_are_removed_and_waves_kept(void **unused)
{
    (void)unused;
    const WadiVec3 normals[] = { { 0, 0, 1 }, { 0.36, 0.48, 0.8 }, { 2.0 / 3, -1.0 / 3, 2.0 / 3 } };
    for (int n = 0; n < 3; ++n) {
        Left plane = measure(normals[n], 0.0, 6.0), bumps = measure(normals[n], 0.4, 6.0);
        assert_true(plane.rms < 1e-5);
        assert_true(fabs(bumps.part) < 0.12 && bumps.rms < 0.06);
        /* A curvature that raises the mean by less than a tenth of a spacing may be noise. */
        Left low = measure(normals[n], 1.5, 60.0), high = measure(normals[n], 4.0, 60.0);
        print_message("normal %d: bumps of 0.4 go to %.3f, waves move by %.3f and %.3f spacings at most\n", n,
                      bumps.rms, low.worst, high.worst);
        assert_true(low.worst < 0.13 && high.worst < 0.13);
        CHECK_NEAR(high.part, 1.0, 0.03);
    }
}

/* Heights over a wide plane, 100 spacings to each side; all rows exist, so that the surface may move
 * anywhere. */
typedef double (*HeightFunction)(const void *context, double x, double y);

typedef struct Heights {
    HeightFunction of;
    const void *context;
} Heights;

static void make_heights(FieldFixture *fixture, const Heights *heights)
{
    enum { SIDE = 16 };
    const int low[3] = { -SIDE, -SIDE, -1 }, high[3] = { SIDE, SIDE, 1 },
              size[3] = { 16 * SIDE, 16 * SIDE, 16 };
    float *value = malloc((size_t)size[0] * (size_t)size[1] * (size_t)size[2] * sizeof *value);
    assert_non_null(value);
    for (int j = 0; j < size[1]; ++j) {
        for (int i = 0; i < size[0]; ++i) {
            double x = CELL * (i - 8 * SIDE), y = CELL * (j - 8 * SIDE),
                   h = heights->of(heights->context, x, y);
            for (int k = 0; k < size[2]; ++k) {
                value[box_index(size, i, j, k)] = (float)(CELL * (k - 8) - LEVEL - h);
            }
        }
    }
    field_from_values(fixture, low, high, CELL, value, false);
    free(value);
}

/* The fraction of the heights that remains, their rms, and the largest displacement, in a central square. */
static Left measure_heights(const Heights *heights, WadiBox within, double half)
{
    FieldFixture fixture;
    make_heights(&fixture, heights);
    flatten_within(&fixture, 5.0, within);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    double both = 0.0, squares = 0.0, sum = 0.0;
    int count = 0;
    Left left = { 0 };
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        WadiVec3 x = surface.mesh.vertices[v];
        if (fabs(x.x) < half && fabs(x.y) < half) {
            double was = heights->of(heights->context, x.x, x.y), is = x.z - LEVEL;
            both += was * is;
            squares += was * was;
            sum += is * is;
            left.worst = fmax(left.worst, fabs(is - was));
            ++count;
        }
    }
    assert_true(count > 500);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
    left.part = squares > 0.0 ? both / squares : 0.0;
    left.rms = sqrt(sum / count);
    return left;
}

typedef struct LongWave {
    double height, length;
    bool is_crossed; /* with one along y */
} LongWave;

static double long_wave(const void *context, double x, double y)
{
    const LongWave *w = context;
    double k = 6.283185307179586 / w->length;
    return w->height * sin(k * x) * (w->is_crossed ? sin(k * y) : 1.0);
}

/* Waves too low for particles to resolve are removed at any length; of a wave of one spacing from trough to
 * crest no more is lost than without the wide planes, whose weight ends at an rms of 0.3. */
static void long_bumps_are_removed_and_long_waves_kept(void **unused)
{
    (void)unused;
    const double length[] = { 24.0, 40.0, 60.0 }, lost[] = { 0.40, 0.20, 0.15 };
    for (int n = 0; n < 6; ++n) {
        LongWave wave = { 0.08, length[n / 2], n % 2 == 1 };
        const Heights heights = { long_wave, &wave };
        Left bumps = measure_heights(&heights, EVERYWHERE, 50.0);
        wave.height = wave.is_crossed ? 1.0 : 0.5;
        Left waves = measure_heights(&heights, EVERYWHERE, 50.0);
        print_message(
            "length %.0f%s: bumps of 0.08 go to %.4f; of waves of %.1f %.2f is left, moved by %.2f\n",
            wave.length, wave.is_crossed ? ", crossed" : "", bumps.rms, wave.height, waves.part, waves.worst);
        assert_true(bumps.rms < 0.004);
        assert_true(wave.is_crossed ? n == 1 || waves.part > 0.8 : waves.part > 1.0 - lost[n / 2]);
        assert_true(waves.worst < (n == 1 ? 0.65 : 0.2));
    }
}

static double slope(const void *context, double x, double y)
{
    return *(const double *)context * (x + 0.5 * y);
}

static double cone(const void *context, double x, double y)
{
    return -*(const double *)context * hypot(x, y);
}

static void slopes_and_crests_are_unchanged(void **unused)
{
    (void)unused;
    const double steep[] = { 0.002, 0.01, 0.04 };
    for (int n = 0; n < 3; ++n) {
        const Heights plane = { slope, &steep[n] }, crest = { cone, &steep[n] };
        Left planes = measure_heights(&plane, EVERYWHERE, 60.0),
             cones = measure_heights(&crest, EVERYWHERE, 60.0);
        print_message("slope %.3f: moved by %.5f; cone: by %.3f at most\n", steep[n], planes.worst,
                      cones.worst);
        assert_true(planes.worst < 1e-3); /* what marching keeps vertices off nodes */
        assert_true(cones.worst < 0.16);
    }
}

/* Bumps are removed up to the walls and in the corners of a domain, and a slope is not tilted. */
static void walls_do_not_matter(void **unused)
{
    (void)unused;
    const double side[] = { 15.0, 30.0, 70.0 };
    for (int n = 0; n < 3; ++n) {
        const WadiBox within = { { -side[n], -side[n], -1e9 }, { side[n], side[n], 1e9 } };
        const LongWave wave = { 0.3, 6.0, true };
        const double steep = 0.03;
        const Heights bumpy = { long_wave, &wave }, plane = { slope, &steep };
        Left bumps = measure_heights(&bumpy, within, side[n] - 0.1);
        Left planes = measure_heights(&plane, within, side[n] - 0.1);
        print_message("%.0f spacings wide: bumps of 0.3 go to %.4f, a slope moves by %.5f\n", 2.0 * side[n],
                      bumps.rms, planes.worst);
        assert_true(bumps.rms < 0.02 && planes.worst < 1e-4);
    }
}

/* Balls of 30 and 60 spacings keep their radius; balls and sheets that are small or thin keep every byte. */
static void curved_and_thin_parts_are_unchanged(void **unused)
{
    (void)unused;
    FieldFixture fixture;
    TestBall ball = { .center = { 0.1, 0.2, 0.3 } };
    for (int n = 0; n < 2; ++n) {
        ball.radius = n == 0 ? 30.0 : 60.0;
        make_field(&fixture, n == 0 ? 6 : 11, ball_distance, &ball);
        flatten(&fixture);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        double worst = 0.0;
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            double radius = wadi_norm(wadi_sub(surface.mesh.vertices[v], ball.center));
            worst = fmax(worst, fabs(radius - ball.radius));
        }
        print_message("ball of %.0f spacings: radius off by %.4f at most\n", ball.radius, worst);
        assert_true(worst < 0.03);
        wadi_surface_mesh_free(&surface);
        field_free(&fixture);
    }

    /* Radii of balls, and halves of the thickness of sheets. */
    const double size[] = { 0.7, 2.0, 6.0, 0.4, 0.8, 0.5, 0.8 };
    const FieldFunction function[] = { ball_distance,        ball_distance,  ball_distance,
                                       sheet_distance,       sheet_distance, tilted_sheet_distance,
                                       tilted_sheet_distance };
    for (int n = 0; n < 7; ++n) {
        ball.radius = size[n];
        make_field(&fixture, n < 3 ? 2 : 6, function[n], n < 3 ? (const void *)&ball : &size[n]);
        size_t bytes = wadi_rows_floats(&fixture.field.rows) * sizeof(float);
        float *before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, fixture.field.value, bytes);
        flatten(&fixture);
        double moved = 0.0;
        for (size_t v = 0; v < bytes / sizeof(float); ++v) {
            moved = fmax(moved, (double)fabsf(fixture.field.value[v] - before[v]));
        }
        assert_true(n < 5 ? moved == 0.0 : moved < 0.03); /* some corners of tilted ones have one side only */
        free(before);
        field_free(&fixture);
    }
}

/* A ring with a drop on it, and noise at every node. */
typedef struct Rough {
    TestBall part[2];
    double noise;
} Rough;

static double rough_distance(const void *context, WadiVec3 x)
{
    const Rough *rough = context;
    uint64_t node =
        (uint64_t)(int64_t)(1000000.0 * round(x.z / CELL) + 1000.0 * round(x.y / CELL) + x.x / CELL);
    double u = wadi_random_unit(5, node, WADI_RANDOM_TEST);
    return two_balls_distance(rough->part, x) + rough->noise * (u - 0.5);
}

/* Only the rows around the surface exist, so that moves beyond them must be refused. */
static void a_narrow_band_stays_closed(void **unused)
{
    (void)unused;
    for (int n = 0; n < 5; ++n) {
        FieldFixture fixture;
        Rough rough = { { { .center = { 0, 0, 0 }, .radius = 20.0, .tube = 9.0 + 0.1 * n },
                          { .center = { 20.0, 0, 9.5 }, .radius = 1.2 } },
                        0.4 * n };
        make_field(&fixture, 6, rough_distance, &rough);
        flatten(&fixture);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
        wadi_surface_mesh_free(&surface);
        field_free(&fixture);
    }
}

static void same_bytes_for_any_threads(void **unused)
{
    (void)unused;
    const Waves waves = { { 0.36, 0.48, 0.8 }, 0.4, 6.0 };
    float *first = NULL;
    const int threads[] = { 1, 2, 5 };
    for (int t = 0; t < 3; ++t) {
        FieldFixture fixture;
        wadi_parallel_set_threads(threads[t]);
        make_field(&fixture, 4, waves_distance, &waves);
        flatten(&fixture);
        size_t bytes = wadi_rows_floats(&fixture.field.rows) * sizeof(float);
        if (t == 0) {
            first = malloc(bytes);
            assert_non_null(first);
            memcpy(first, fixture.field.value, bytes);
        }
        assert_memory_equal(first, fixture.field.value, bytes);
        field_free(&fixture);
    }
    wadi_parallel_set_threads(0);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bumps_are_removed_and_waves_kept),
        cmocka_unit_test(long_bumps_are_removed_and_long_waves_kept),
        cmocka_unit_test(slopes_and_crests_are_unchanged),
        cmocka_unit_test(walls_do_not_matter),
        cmocka_unit_test(curved_and_thin_parts_are_unchanged),
        cmocka_unit_test(a_narrow_band_stays_closed),
        cmocka_unit_test(same_bytes_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
