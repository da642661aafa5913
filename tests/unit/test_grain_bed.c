/* Grains of sand that are made where rays meet them: their geometry, their mean as a model, energy. */
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "picture.h"
#include "render/bed/grain_bed.h"
#include "render/trace/bsdf.h"

static const double pi = 3.14159265358979323846;

static double uniform(uint64_t seed, uint64_t id)
{
    return wadi_random_unit(seed, id, WADI_RANDOM_TEST);
}

static void make_shapes(WadiGrainShape shapes[WADI_GRAIN_SHAPES])
{
    for (int n = 0; n < WADI_GRAIN_SHAPES; ++n) {
        shapes[n] = wadi_grain_shape(n);
    }
}

static WadiVec3f direction(double polar, double azimuth)
{
    return wadi_vec3f((float)(sin(polar) * cos(azimuth)), (float)(sin(polar) * sin(azimuth)),
                      (float)cos(polar));
}

/* A plane turned and placed at random; axes of its frame in that of the lattice. */
static WadiGrainBed random_bed(const WadiGrainShape *shapes, uint64_t k, WadiVec3f *origin, WadiVec3f axis[3])
{
    axis[2] = direction(acos(2.0 * uniform(1, k) - 1.0), 2.0 * pi * uniform(2, k));
    wadi_framef(axis[2], &axis[0], &axis[1]);
    *origin = wadi_vec3f((float)(100.0 * uniform(4, k)), (float)(100.0 * uniform(5, k)),
                         (float)(100.0 * uniform(6, k)));
    return (WadiGrainBed){ shapes, k, axis[2], wadi_dotf(axis[2], *origin) };
}

static WadiVec3f turned(const WadiVec3f axis[3], WadiVec3f v)
{
    return wadi_add_scaledf(wadi_add_scaledf(wadi_scalef(axis[0], v.x), axis[1], v.y), axis[2], v.z);
}

/* A point of the surface lies on a face or on the ball, and a line through the middle enters and leaves. */
static void stones_are_convex_and_round_off(void **unused)
{
    (void)unused;
    for (int n = 0; n < WADI_GRAIN_SHAPES; ++n) {
        WadiGrainShape shape = wadi_grain_shape(n);
        for (uint64_t k = 0; k < 200; ++k) {
            WadiVec3f d = direction(acos(2.0 * uniform(1, k) - 1.0), 2.0 * pi * uniform(2, k));
            float enter, leave, nearest = 1.0f;
            assert_true(wadi_grain_shape_cross(&shape, wadi_vec3f(0, 0, 0), d, &enter, &leave));
            assert_true(enter < 0.0f && leave > 0.4f && leave <= 1.0001f);
            WadiVec3f p = wadi_scalef(d, leave), normal = wadi_grain_shape_normal(&shape, p);
            nearest = 1.0f - wadi_normf(p);
            for (int f = 0; f < WADI_GRAIN_FACES; ++f) {
                float gap = shape.distance[f] - (shape.x[f] * p.x + shape.y[f] * p.y + shape.z[f] * p.z);
                assert_true(gap > -1e-4f);
                nearest = fminf(nearest, gap);
            }
            CHECK_NEAR((double)nearest, 0.0, 1e-4);
            CHECK_NEAR((double)wadi_normf(normal), 1.0, 1e-5);
            assert_true(wadi_dotf(normal, d) > 0.2f);
        }
    }
}

/* All that is seen lies below the plane, faces the eye, and at most at the floor. */
static void every_ray_ends_on_a_grain_below_the_plane(void **unused)
{
    (void)unused;
    WadiGrainShape shapes[WADI_GRAIN_SHAPES];
    make_shapes(shapes);
    int floors = 0;
    enum { COUNT = 20000 };
    for (uint64_t k = 0; k < COUNT; ++k) {
        WadiVec3f axis[3], origin;
        WadiGrainBed bed = random_bed(shapes, k, &origin, axis);
        WadiVec3f d =
            turned(axis, wadi_scalef(direction(1.5 * uniform(7, k), 2.0 * pi * uniform(8, k)), -1.0f));
        WadiGrainHit hit = wadi_grain_bed_hit(&bed, origin, d);
        assert_true(hit.depth > -1e-3f && hit.depth < 3.01f);
        CHECK_NEAR((double)hit.depth, (double)(bed.height - wadi_dotf(bed.normal, hit.position)), 1e-3);
        WadiVec3f back = wadi_subf(hit.position, origin);
        CHECK_NEAR((double)wadi_normf(wadi_crossf(back, d)), 0.0, 2e-3); /* on the ray */
        floors += hit.depth > 2.99f;
    }
    CHECK_AT_MOST((double)floors / COUNT, 0.05);
}

/* The mean over grains of (n . in) where light arrives, over that of a plane, against the model; directions
 * lie between the nodes of its table. */
static void the_model_is_the_mean_over_grains(void **unused)
{
    (void)unused;
    static const double angles[][3] = { { 20, 40, 20 }, { 20, 40, 160 },  { 40, 57, 70 }, { 57, 40, 110 },
                                        { 0, 60, 0 },   { 60, 60, 22.5 }, { 72, 40, 0 },  { 40, 72, 180 } };
    WadiGrainShape shapes[WADI_GRAIN_SHAPES];
    make_shapes(shapes);
    enum { COUNT = 20000 };
    double all = 0.0, model = 0.0;
    for (size_t a = 0; a < sizeof angles / sizeof *angles; ++a) {
        WadiVec3f out = direction(angles[a][0] * pi / 180.0, 0.0),
                  in = direction(angles[a][1] * pi / 180.0, angles[a][2] * pi / 180.0);
        double sum = 0.0;
        for (uint64_t k = 0; k < COUNT; ++k) {
            WadiVec3f axis[3], origin;
            WadiGrainBed bed = random_bed(shapes, k, &origin, axis);
            WadiGrainHit hit = wadi_grain_bed_hit(&bed, origin, turned(axis, wadi_scalef(out, -1.0f)));
            WadiVec3f light = turned(axis, in);
            float cosine = wadi_dotf(hit.normal, light);
            if (cosine > 0.0f && wadi_grain_bed_is_lit(&bed, &hit, light)) {
                sum += (double)cosine;
            }
        }
        double found = sum / COUNT / (double)in.z, expected = (double)wadi_bed_single(out, in);
        CHECK_NEAR(found, expected, 0.06 * expected + 0.004);
        all += found;
        model += expected;
    }
    CHECK_NEAR(all / model, 1.0, 0.02);
}

/* White grains lose no light, towards any direction; f is reciprocal. */
static void white_grains_send_everything_back(void **unused)
{
    (void)unused;
    enum { POLAR = 256, AROUND = 64 };
    WadiBsdf bsdf = { .albedo = wadi_grey(1.0f), .mean = wadi_grey(1.0f), .bed = 1.0f, .index = 1.0f };
    for (int angle = 0; angle <= 80; angle += 20) {
        WadiVec3f out = direction(angle * pi / 180.0, 0.0);
        double sum = 0.0;
        for (int j = 0; j < POLAR; ++j) {
            double theta = 0.5 * pi * (j + 0.5) / POLAR,
                   solid = sin(theta) * (0.5 * pi / POLAR) * (2.0 * pi / AROUND);
            for (int i = 0; i < AROUND; ++i) {
                float pdf;
                WadiVec3f in = direction(theta, 2.0 * pi * (i + 0.5) / AROUND);
                sum += solid * (double)wadi_bsdf_eval(&bsdf, out, in, &pdf).y;
            }
        }
        CHECK_NEAR(sum, 1.0, 0.01);
    }
    WadiVec3f a = direction(0.3, 0.2), b = direction(1.1, 2.0);
    CHECK_NEAR((double)wadi_bed_single(a, b), (double)wadi_bed_single(b, a), 2e-3);
}

static WadiLook sand_look(float grain_size)
{
    WadiLook look = wadi_look_sand(wadi_grey(0.0f));
    look.grain_size = grain_size;
    look.variation = 0.2f;
    look.mineral[0] = wadi_vec3f(0.7f, 0.55f, 0.35f);
    look.mineral[1] = wadi_grey(0.2f);
    look.fraction[0] = 0.8f;
    look.fraction[1] = 0.2f;
    look.colour = wadi_add_scaledf(wadi_scalef(look.mineral[0], 0.8f), look.mineral[1], 0.2f);
    return look;
}

/* A picture of side x side pixels. */
static void draw_square(const WadiTraceScene *scene, const WadiCamera *camera,
                        const WadiTraceQuality *quality, int side, WadiFilm *film)
{
    WadiError error = { 0 };
    WadiTracer *tracer;
    CHECK_OK(wadi_film_init(film, side, side, &error), error);
    CHECK_OK(wadi_tracer_create(&tracer, scene, &error), error);
    CHECK_OK(wadi_tracer_render(tracer, camera, quality, film, &error), error);
    wadi_tracer_destroy(tracer);
}

/* The mean colour of a plain of sand with grains of this size, seen and lit at these angles, degrees. */
static WadiRgb plain_colour(float grain_size, double height, double sun_height, double sun_azimuth,
                            bool is_sky)
{
    enum { SIDE = 192 };
    WadiLook look = sand_look(grain_size);
    WadiTraceScene scene = picture_scene(&look, 1, is_sky ? 1.0f : 0.0f);
    scene.ground = (WadiTraceGround){ .is_present = true, .look = look };
    WadiVec3f sun = direction((90.0 - sun_height) * pi / 180.0, sun_azimuth * pi / 180.0);
    scene.light.sun = wadi_vec3((double)sun.x, (double)sun.y, (double)sun.z);
    scene.light.sun_light = wadi_grey(is_sky ? 0.0f : 3.0f);
    WadiVec3f eye = direction((90.0 - height) * pi / 180.0, 0.0);
    WadiCamera camera =
        picture_camera(wadi_vec3((double)eye.x, (double)eye.y, (double)eye.z), wadi_vec3(0, 0, 0), 20.0);
    WadiTraceQuality quality = wadi_trace_draft();
    quality.samples = 4;
    quality.depth = 1;
    quality.clamp = 0.0;
    quality.is_denoised = false;
    WadiFilm film;
    draw_square(&scene, &camera, &quality, SIDE, &film);
    WadiRgb sum = { 0 };
    for (int i = 0; i < SIDE * SIDE; ++i) {
        sum = wadi_add_scaledf(sum, film.light[i], 1.0f / (float)(SIDE * SIDE));
    }
    wadi_film_free(&film);
    return sum;
}

/* Grains several pixels wide, about a pixel wide, and far below: the same mean brightness and colour. */
static void near_and_far_are_equally_bright(void **unused)
{
    (void)unused;
    static const double views[][3] = { { 50, 40, 70 }, { 70, 60, 180 }, { 40, 25, 40 } };
    for (int v = 0; v < 4; ++v) {
        const double *view = views[v < 3 ? v : 0];
        WadiRgb far = plain_colour(1e-5f, view[0], view[1], view[2], v == 3);
        for (int n = 0; n < 3; ++n) { /* a pixel is 1.8 mm wide */
            WadiRgb near = plain_colour(n == 0   ? 0.005f
                                        : n == 1 ? 0.002f
                                                 : 0.001f,
                                        view[0], view[1], view[2], v == 3);
            CHECK_NEAR((double)(near.x / far.x), 1.0, 0.03);
            CHECK_NEAR((double)(near.y / far.y), 1.0, 0.03);
            CHECK_NEAR((double)(near.z / far.z), 1.0, 0.03);
        }
    }
}

/* Under an even sky all parts of a plain are lit alike, also seen flatly: lumps leave no dark marks. Each
 * value is the mean over a square of pixels, which has many grains. */
static void flat_views_have_no_dark_marks(void **unused)
{
    (void)unused;
    enum { SIDE = 240, SQUARE = 12 };
    WadiLook look = sand_look(1e-3f);
    look.lumps = 1.0f;
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    scene.ground = (WadiTraceGround){ .is_present = true, .look = look };
    WadiCamera camera = picture_camera(wadi_vec3(0, -1.0, 0.06), wadi_vec3(0, 0, 0), 6.0);
    WadiTraceQuality quality = wadi_trace_draft();
    quality.samples = 16;
    quality.depth = 1;
    quality.is_denoised = false;
    WadiFilm film;
    draw_square(&scene, &camera, &quality, SIDE, &film);
    double mean = 0.0, darkest = INFINITY;
    for (int n = 0; n < SIDE / SQUARE * (SIDE / SQUARE); ++n) {
        double sum = 0.0;
        for (int k = 0; k < SQUARE * SQUARE; ++k) {
            int x = n % (SIDE / SQUARE) * SQUARE + k % SQUARE, y = n / (SIDE / SQUARE) * SQUARE + k / SQUARE;
            sum += (double)film.light[y * SIDE + x].y / (SQUARE * SQUARE);
        }
        mean += sum * SQUARE * SQUARE / (SIDE * SIDE);
        darkest = fmin(darkest, sum);
    }
    print_message("darkest %.3f of the mean\n", darkest / mean);
    CHECK_AT_MOST(0.75 * mean, darkest);
    wadi_film_free(&film);
}

/* Grains take no memory, and threads do not change them: 10^8 of 0.1 mm on a square metre are seen here. */
static void grains_cost_no_memory(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiFilm film[2];
    size_t bytes[2];
    for (int n = 0; n < 2; ++n) {
        WadiLook look = sand_look(1e-4f);
        look.lumps = 1.0f;
        look.sparkle = 1.0f;
        WadiTraceScene scene = picture_scene(&look, 1, 0.5f);
        PictureBox box = picture_box(wadi_vec3(-0.5, -0.5, -0.2), wadi_vec3(0.5, 0.5, 0.0), 0.1);
        WadiTraceMesh mesh = picture_box_mesh(&box, 0);
        scene.meshes = &mesh;
        scene.mesh_count = 1;
        scene.light.sun_light = wadi_grey(3.0f);
        if (n == 1) {
            look.grain_size = 0.1f;
        }
        WadiTracer *tracer;
        CHECK_OK(wadi_tracer_create(&tracer, &scene, &error), error);
        bytes[n] = wadi_tracer_bytes(tracer);
        wadi_tracer_destroy(tracer);
        look.grain_size = 1e-4f;
        wadi_parallel_set_threads(n == 0 ? 1 : 5);
        CHECK_OK(wadi_tracer_create(&tracer, &scene, &error), error);
        CHECK_OK(wadi_film_init(&film[n], 96, 54, &error), error);
        WadiCamera camera = picture_camera(wadi_vec3(0.0, -0.02, 0.03), wadi_vec3(0, 0, 0), 20.0);
        WadiTraceQuality quality = wadi_trace_draft();
        CHECK_OK(wadi_tracer_render(tracer, &camera, &quality, &film[n], &error), error);
        wadi_tracer_destroy(tracer);
    }
    wadi_parallel_set_threads(0);
    CHECK_AT_MOST((double)bytes[0], 1e6);
    CHECK_NEAR((double)bytes[0], (double)bytes[1], 1e5);
    assert_memory_equal(film[0].light, film[1].light, 96 * 54 * sizeof(WadiRgb));
    wadi_film_free(&film[0]);
    wadi_film_free(&film[1]);
}

/* Flashes of facets are rare and bright; over all directions of facets they add no light. */
static void sparkle_adds_no_light(void **unused)
{
    (void)unused;
    enum { COUNT = 200000 };
    WadiGrainShape shapes[WADI_GRAIN_SHAPES];
    make_shapes(shapes);
    /* One grain below a plane far above it, seen and lit from above: nothing shades it. */
    WadiBsdfGrain grain = { .bed = { shapes, 1, { 0, 0, 1 }, 0.0f },
                            .hit = { .normal = { 0, 0, 1 } },
                            .axis = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    WadiBsdf bsdf = { .albedo = wadi_grey(0.5f), .bed = 1.0f, .grain = &grain, .index = 1.0f };
    WadiVec3f out = direction(0.3, 0.0), in = direction(0.6, 2.0);
    double sum = 0.0, largest = 0.0, plain = (double)wadi_bsdf_bed(&bsdf, out, in);
    bsdf.sparkle = 1.0f;
    for (uint64_t k = 0; k < COUNT; ++k) {
        grain.mirror = direction(acos(2.0 * uniform(1, k) - 1.0), 2.0 * pi * uniform(2, k));
        double value = (double)wadi_bsdf_bed(&bsdf, out, in) / plain;
        sum += value;
        largest = fmax(largest, value);
    }
    CHECK_NEAR(sum / COUNT, 1.0, 0.03);
    assert_true(largest > 20.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stones_are_convex_and_round_off),
        cmocka_unit_test(every_ray_ends_on_a_grain_below_the_plane),
        cmocka_unit_test(the_model_is_the_mean_over_grains),
        cmocka_unit_test(white_grains_send_everything_back),
        cmocka_unit_test(sparkle_adds_no_light),
        cmocka_unit_test(flat_views_have_no_dark_marks),
        cmocka_unit_test(grains_cost_no_memory),
        cmocka_unit_test(near_and_far_are_equally_bright),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
