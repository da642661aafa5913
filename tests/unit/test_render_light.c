/* Light, maps, film, and automatic framing of the camera. */
#include "io_scratch.h"
#include "picture.h"
#include "render/trace/sampler.h"

static const double pi = 3.14159265358979323846;

/* An integral over all directions by samples of the surround, against one over a grid: checks the
 * densities. */
static void check_sampling(const WadiLight *light)
{
    double drawn[3] = { 0 }, grid[3] = { 0 }, density = 0.0;
    enum { COUNT = 1 << 16, POLAR = 512, AROUND = 1024 };
    for (uint32_t i = 0; i < COUNT; ++i) {
        WadiSampler sampler = { .pixel = 3, .sample = i };
        float u[2], pdf;
        wadi_sampler_next2(&sampler, u);
        WadiRgb radiance;
        WadiVec3f d = wadi_light_sample_surround(light, u, &radiance, &pdf);
        CHECK_NEAR((double)wadi_normf(d), 1.0, 1e-5);
        assert_true(pdf > 0.0f);
        CHECK_NEAR((double)radiance.y, (double)wadi_light_surround(light, d).y,
                   1e-3 * (double)radiance.y + 2e-4);
        double value = (double)radiance.y / (double)pdf / COUNT;
        drawn[0] += value, drawn[1] += value * (double)d.x, drawn[2] += value * (double)d.z;
    }
    for (int j = 0; j < POLAR; ++j) {
        double theta = pi * (j + 0.5) / POLAR, solid = sin(theta) * (pi / POLAR) * (2.0 * pi / AROUND);
        for (int i = 0; i < AROUND; ++i) {
            double phi = 2.0 * pi * (i + 0.5) / AROUND;
            WadiVec3f d = { (float)(sin(theta) * cos(phi)), (float)(sin(theta) * sin(phi)),
                            (float)cos(theta) };
            double value = (double)wadi_light_surround(light, d).y * solid;
            grid[0] += value, grid[1] += value * (double)d.x, grid[2] += value * (double)d.z;
            density += solid * (double)wadi_light_pdf_surround(light, d);
        }
    }
    CHECK_NEAR(density, 1.0, 2e-3);
    for (int k = 0; k < 3; ++k) {
        CHECK_NEAR(drawn[k], grid[k], 3e-3 * grid[0]);
    }
}

static void surrounds_are_sampled_by_their_light(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiRgb pixels[16 * 8];
    for (int i = 0; i < 16 * 8; ++i) {
        pixels[i] = wadi_grey(i == 37 ? 20.0f : 0.1f * (float)(i % 3));
    }
    WadiHdr map = { 16, 8, pixels };
    WadiLightDef def = wadi_default_light_def();
    def.map = &map;
    def.turn = 77.0;
    for (int kind = WADI_SURROUND_UNIFORM; kind <= WADI_SURROUND_MAP; ++kind) {
        def.surround = (WadiSurround)kind;
        WadiLight *light = NULL;
        CHECK_OK(wadi_light_create(&light, &def, &error), error);
        check_sampling(light);
        wadi_light_destroy(light);
    }
}

/* The middle of a map is +x, a quarter to its left is +y (seen from inside, x ahead, y is left), the upper
 * edge +z. */
static void maps_face_the_right_way(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiRgb pixels[64 * 32];
    for (int i = 0; i < 64 * 32; ++i) {
        pixels[i] = wadi_vec3f((float)(i % 64), (float)(i / 64), 0.0f);
    }
    WadiHdr map = { 64, 32, pixels };
    WadiLightDef def = wadi_default_light_def();
    def.surround = WADI_SURROUND_MAP;
    def.map = &map;
    WadiLight *light = NULL;
    CHECK_OK(wadi_light_create(&light, &def, &error), error);
    WadiRgb ahead = wadi_light_surround(light, wadi_vec3f(1, 0, 0)),
            left = wadi_light_surround(light, wadi_vec3f(0, 1, 0));
    CHECK_NEAR((double)ahead.x, 31.5, 0.01);
    CHECK_NEAR((double)ahead.y, 15.5, 0.01);
    CHECK_NEAR((double)left.x, 15.5, 0.01);
    CHECK_NEAR((double)wadi_light_surround(light, wadi_vec3f(0, 0, 1)).y, 0.0, 0.01);
    CHECK_NEAR((double)wadi_light_surround(light, wadi_vec3f(0, 0, -1)).y, 31.0, 0.01);
    wadi_light_destroy(light);
    def.turn = 90.0; /* what was ahead is now at +y */
    CHECK_OK(wadi_light_create(&light, &def, &error), error);
    CHECK_NEAR((double)wadi_light_surround(light, wadi_vec3f(0, 1, 0)).x, 31.5, 0.01);
    wadi_light_destroy(light);
}

/* Blue overhead, brighter at the horizon and near the sun; a low sun is red and dim. */
static void sky_is_blue_above_and_brighter_near_the_sun(void **unused)
{
    (void)unused;
    WadiVec3 sun = wadi_normalized_or(wadi_vec3(1, 0, 1), wadi_vec3(0, 0, 1)),
             away = { -0.5, 0.0, sqrt(0.75) };
    WadiRgb zenith = wadi_sky_radiance(wadi_vec3(0, 0, 1), sun, 2.5),
            back = wadi_sky_radiance(away, sun, 2.5);
    WadiRgb horizon = wadi_sky_radiance(wadi_vec3(0, 1, 0), sun, 2.5);
    WadiRgb near = wadi_sky_radiance(wadi_normalized_or(wadi_vec3(1, 0.1, 1), sun), sun, 2.5);
    assert_true(zenith.z > 1.5f * zenith.x);
    assert_true(wadi_luminance(horizon) > 1.5f * wadi_luminance(back));
    assert_true(wadi_luminance(near) > 2.0f * wadi_luminance(back));
    assert_true(horizon.z / horizon.x < zenith.z / zenith.x);
    WadiRgb high = wadi_sky_sun(wadi_vec3(0, 0, 1), 2.5), low = wadi_sky_sun(wadi_vec3(1, 0, 0.06), 2.5);
    assert_true(wadi_luminance(high) > 2.5f && wadi_luminance(high) < 3.9f); /* 80 to 120 klx: pi is 100 */
    assert_true(low.x < 0.7f * high.x && low.x > 3.0f * low.z);
    /* A clear sky gives a level sheet 0.8 + 15.5 sqrt(sin height) klx (IESNA). */
    for (int height = 15; height <= 75; height += 15) {
        double sum = 0.0, h = height * pi / 180.0;
        sun = wadi_vec3(cos(h), 0.0, sin(h));
        for (int j = 0; j < 100; ++j) {
            for (int i = 0; i < 200; ++i) {
                double theta = 0.5 * pi * (j + 0.5) / 100, phi = 2.0 * pi * i / 200.0;
                double weight = cos(theta) * sin(theta) * pi * pi / 20000.0;
                WadiVec3 d = { sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta) };
                sum += (double)wadi_luminance(wadi_sky_radiance(d, sun, 2.5)) * weight;
            }
        }
        CHECK_NEAR(sum * 100.0 / pi, 0.8 + 15.5 * sqrt(sin(h)), 1.5);
    }
}

static void radiance_pictures_are_read(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiHdr hdr;
    /* Two rows of eight: runs, then pixels as they are. 128 * 2^(129 - 136) = 1. */
    unsigned char file[200];
    size_t size = (size_t)sprintf((char *)file, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 8\n");
    static const unsigned char runs[] = { 2,  2,   0,   8,   136, 128, 8, 0,   32, 64,
                                          96, 128, 160, 192, 224, 136, 0, 136, 129 };
    memcpy(file + size, runs, sizeof runs);
    size += sizeof runs;
    for (int i = 0; i < 8; ++i) {
        memcpy(file + size, (unsigned char[]){ 64, 64, 64, (unsigned char)(i == 0 ? 0 : 130) }, 4);
        size += 4;
    }
    CHECK_OK(wadi_hdr_read_memory(&hdr, file, size, "a.hdr", &error), error);
    assert_true(hdr.width == 8 && hdr.height == 2);
    CHECK_NEAR((double)hdr.pixels[5].x, 128.5 / 128.0, 1e-6);
    CHECK_NEAR((double)hdr.pixels[5].y, 160.5 / 128.0, 1e-6);
    CHECK_NEAR((double)hdr.pixels[8].x, 0.0, 0.0);
    CHECK_NEAR((double)hdr.pixels[9].x, 64.5 / 64.0, 1e-6);
    wadi_hdr_free(&hdr);
    /* Cut anywhere, or with a byte changed: refused or read, never more. */
    for (size_t cut = 0; cut < size; ++cut) {
        unsigned char *copy = malloc(cut + 1);
        memcpy(copy, file, cut);
        assert_int_equal(wadi_hdr_read_memory(&hdr, copy, cut, "a.hdr", &error), WADI_ERR_FORMAT);
        assert_null(hdr.pixels);
        free(copy);
    }
    for (size_t at = 0; at < size; ++at) {
        for (int value = 0; value < 256; value += 15) {
            unsigned char *copy = malloc(size);
            memcpy(copy, file, size);
            copy[at] = (unsigned char)value;
            if (wadi_hdr_read_memory(&hdr, copy, size, "a.hdr", &error) == WADI_OK) {
                for (int i = 0; i < hdr.width * hdr.height; ++i) {
                    assert_true(hdr.pixels[i].x >= 0.0f && hdr.pixels[i].x <= 1e12f);
                }
            }
            wadi_hdr_free(&hdr);
            free(copy);
        }
    }
}

static void float_maps_are_read(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiHdr hdr;
    const char *path = scratch_path("map.pfm");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const float values[6] = { 1.0f, 2.0f, -3.0f, NAN, 5.0f, 6.0f }; /* the lower row comes first */
    fputs("PF\n1 2\n-1.0\n", file);
    fwrite(values, sizeof values, 1, file);
    fclose(file);
    CHECK_OK(wadi_hdr_read(&hdr, path, &error), error);
    assert_true(hdr.width == 1 && hdr.height == 2);
    assert_true(hdr.pixels[0].x == 0.0f && hdr.pixels[0].y == 5.0f && hdr.pixels[1].y == 2.0f &&
                hdr.pixels[1].z == 0.0f);
    wadi_hdr_free(&hdr);
    static const char *const bad[] = { "PF\n1 2\n-1.0\nabc",
                                       "PF\n-1 2\n1\n",
                                       "PF\n1 -2\n1\nabcdefghijklmnop",
                                       "PF\n99999 99999\n1\nabc",
                                       "PF\n1 1\n0\nabcdefghijkl",
                                       "PNG",
                                       "",
                                       "#?\n\n",
                                       "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16384 +X 16384\n" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_int_equal(wadi_hdr_read_memory(&hdr, bad[i], strlen(bad[i]), "bad", &error), WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, "bad"));
    }
    assert_int_equal(wadi_hdr_read(&hdr, scratch_path("none.hdr"), &error), WADI_ERR_IO);
}

/* Every corner of the box is in the picture, inside its margin, and one of them is near the margin. */
static void framing_shows_the_whole_box(void **unused)
{
    (void)unused;
    static const WadiBox boxes[] = { { { 0, 0, 0 }, { 1, 1, 1 } },
                                     { { -10, 5, 2 }, { 10, 6, 3 } },
                                     { { 1e5, 0, 0 }, { 1e5 + 1e-3, 2e-3, 5e-3 } },
                                     { { 0, 0, 0 }, { 0, 0, 0 } },
                                     { { 1, 1, 1 }, { 0, 0, 0 } } };
    static const double aspects[] = { 16.0 / 9.0, 1.0, 0.5 };
    for (size_t b = 0; b < sizeof boxes / sizeof boxes[0]; ++b) {
        for (int a = 0; a < 3; ++a) {
            WadiBox box =
                wadi_box_is_empty(boxes[b]) ? (WadiBox){ { -0.5, -0.5, -0.5 }, { 0.5, 0.5, 0.5 } } : boxes[b];
            WadiCamera camera = wadi_camera_framing(boxes[b], aspects[a]);
            WadiCameraFrame frame;
            assert_true(wadi_camera_frame(&camera, box.min, aspects[a], &frame));
            double most = 0.0;
            for (int k = 0; k < 8; ++k) {
                WadiVec3 p = { k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y,
                               k & 4 ? box.max.z : box.min.z };
                WadiVec3f way = wadi_subf(wadi_to_vec3f(wadi_sub(p, box.min)), frame.eye);
                double depth = (double)wadi_dotf(way, frame.forward);
                assert_true(depth > 0.0);
                most =
                    fmax(most, fabs((double)wadi_dotf(way, frame.right)) / depth / (double)frame.half_width);
                most = fmax(most, fabs((double)wadi_dotf(way, frame.up)) / depth / (double)frame.half_height);
            }
            assert_true(most < 0.95);
            assert_true(most > 0.8 || b == 3);
            WadiVec3 sun = wadi_camera_sun(&camera);
            CHECK_NEAR(wadi_norm(sun), 1.0, 1e-9);
            assert_true(sun.z > 0.3);
        }
    }
}

/* A ray through the middle of the picture goes to the target; the upper edge is half the view angle above
 * it. */
static void camera_rays_go_where_they_should(void **unused)
{
    (void)unused;
    WadiCamera camera = picture_camera(wadi_vec3(0, -2, 0), wadi_vec3(0, 0, 0), 60.0);
    WadiCameraFrame frame;
    assert_true(wadi_camera_frame(&camera, wadi_vec3(0, 0, 0), 2.0, &frame));
    const float lens[2] = { 0.3f, 0.7f };
    WadiVec3f o, d;
    wadi_camera_ray(&frame, 0.5f, 0.5f, lens, &o, &d);
    CHECK_NEAR((double)d.y, 1.0, 1e-6);
    wadi_camera_ray(&frame, 0.5f, 0.0f, lens, &o, &d);
    CHECK_NEAR(atan2((double)d.z, (double)d.y), pi / 6.0, 1e-6);
    wadi_camera_ray(&frame, 1.0f, 0.5f, lens, &o, &d);
    CHECK_NEAR((double)(d.x / d.y), 2.0 * tan(pi / 6.0), 1e-6);
    /* Straight down, where `up` gives no direction. */
    camera = picture_camera(wadi_vec3(0, 0, 2), wadi_vec3(0, 0, 0), 60.0);
    assert_true(wadi_camera_frame(&camera, wadi_vec3(0, 0, 0), 2.0, &frame));
    CHECK_NEAR((double)wadi_normf(frame.right), 1.0, 1e-6);
    CHECK_NEAR((double)wadi_dotf(frame.up, frame.forward), 0.0, 1e-6);
}

/* Under uniform light a white sheet has its radiance; the sun adds irradiance / pi. */
static void level_is_that_of_a_white_sheet(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiLightDef def = wadi_default_light_def();
    WadiLight *light;
    def.surround = WADI_SURROUND_UNIFORM;
    def.colour = wadi_vec3f(0.2f, 0.5f, 1.0f);
    def.sun = wadi_vec3(0.0, 0.6, 0.8);
    def.sun_light = wadi_grey(2.0f);
    CHECK_OK(wadi_light_create(&light, &def, &error), error);
    WadiRgb level = wadi_light_level(light);
    CHECK_NEAR((double)level.x, 0.2 + 2.0 * 0.8 / pi, 2e-3);
    CHECK_NEAR((double)level.z, 1.0 + 2.0 * 0.8 / pi, 2e-3);
    wadi_light_destroy(light);
}

/* More of the sky is white with more clouds; none at the horizon, and a clear sky is as before. */
static void clouds_cover_their_part_of_the_sky(void **unused)
{
    (void)unused;
    WadiVec3 sun = wadi_vec3(0.5, 0.0, 0.8);
    double covered[4] = { 0.0 };
    for (int c = 0; c < 4; ++c) {
        for (int i = 0; i < 400; ++i) {
            double angle = 0.7 * i, rise = 0.25 + 0.7 * (i + 0.5) / 400.0, across = sqrt(1.0 - rise * rise);
            WadiVec3 d = wadi_vec3(across * cos(angle), across * sin(angle), rise);
            WadiRgb sky = wadi_sky_radiance(d, sun, 2.5), seen = wadi_sky_clouds(sky, d, sun, 2.5, c / 3.0);
            covered[c] += seen.x / seen.z > 1.1f * sky.x / sky.z ? 1.0 / 400.0 : 0.0;
            assert_true(seen.x >= 0.0f && seen.x < 3.0f);
        }
    }
    CHECK_NEAR(covered[0], 0.0, 0.0);
    CHECK_NEAR(covered[1], 1.0 / 3.0, 0.15);
    CHECK_NEAR(covered[2], 2.0 / 3.0, 0.15);
    CHECK_NEAR(covered[3], 1.0, 0.05);
    WadiVec3 low = wadi_vec3(1.0, 0.0, 0.01);
    WadiRgb sky = wadi_sky_radiance(low, sun, 2.5), seen = wadi_sky_clouds(sky, low, sun, 2.5, 1.0);
    CHECK_NEAR((double)seen.y, (double)sky.y, 0.0);
}

static void film_curve_is_neutral_and_monotonic(void **unused)
{
    (void)unused;
    CHECK_NEAR((double)wadi_film_curve(0.0f), 0.0, 0.0);
    CHECK_NEAR((double)wadi_film_curve(0.18f), 0.18, 0.001);
    CHECK_NEAR((double)wadi_film_curve(2.88f), 0.90, 0.001);
    CHECK_NEAR((double)wadi_film_curve(INFINITY), 1.0, 0.0);
    CHECK_NEAR((double)wadi_film_curve(NAN), 0.0, 0.0);
    float before = 0.0f;
    for (float x = 1e-4f; x < 1e6f; x *= 1.1f) {
        float value = wadi_film_curve(x);
        assert_true(value > before || value > 0.9999f);
        assert_true(value <= 1.0f);
        before = value;
    }
    for (int i = 0; i < 256; ++i) {
        CHECK_NEAR((double)wadi_srgb_encode(wadi_srgb_decode((float)i / 255.0f)), i / 255.0, 1e-6);
    }
    WadiError error = { 0 };
    WadiFilm film;
    WadiImage image;
    CHECK_OK(wadi_film_init(&film, 8, 4, &error), error);
    CHECK_OK(wadi_image_init(&image, 8, 4, &error), error);
    CHECK_NEAR(wadi_film_auto_exposure(&film), 1.0, 0.0); /* black */
    for (int i = 0; i < 32; ++i) {
        film.light[i] = wadi_grey(0.015f);
        film.albedo[i] = wadi_grey(0.45f);
        film.distance[i] = 1.0f;
    }
    CHECK_NEAR(wadi_film_auto_exposure(&film), 20.0, 1e-4);
    /* 0.3 on the curve is 0.314, and that in sRGB 0.596: 152 of 255. */
    WadiDevelop develop = { .is_auto_exposed = true };
    wadi_film_develop(&film, &develop, &image);
    for (int i = 0; i < 96; ++i) {
        CHECK_NEAR(image.rgb[i], 152.1, 1.0);
    }
    develop = (WadiDevelop){ .is_linear = true, .exposure = 1.0 };
    film.light[0] = wadi_vec3f(0.5f * wadi_srgb_decode(100.0f / 255.0f), 7.0f, -1.0f);
    wadi_film_develop(&film, &develop, &image);
    assert_true(image.rgb[0] == 100 && image.rgb[1] == 255 && image.rgb[2] == 0);
    wadi_film_free(&film);
    wadi_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surrounds_are_sampled_by_their_light),
        cmocka_unit_test(maps_face_the_right_way),
        cmocka_unit_test(sky_is_blue_above_and_brighter_near_the_sun),
        cmocka_unit_test(radiance_pictures_are_read),
        cmocka_unit_test(float_maps_are_read),
        cmocka_unit_test(framing_shows_the_whole_box),
        cmocka_unit_test(camera_rays_go_where_they_should),
        cmocka_unit_test(level_is_that_of_a_white_sheet),
        cmocka_unit_test(clouds_cover_their_part_of_the_sky),
        cmocka_unit_test(film_curve_is_neutral_and_monotonic),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
