/* Colour maps, and the text and scales of legends. */
#include <string.h>

#include "expect.h"
#include "render/false_colour.h"
#include "render/image/lettering.h"
#include "render/image/look.h"
#include "scene_sim.h"

/* Lightness, 0..1, of an sRGB colour in OKLab [Ott20]. */
static double lightness_of(const uint8_t rgb[3])
{
    WadiRgb c = wadi_srgb(rgb[0], rgb[1], rgb[2]);
    double red = (double)c.x, green = (double)c.y, blue = (double)c.z;
    double l = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    double m = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    double s = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

/* Equal steps look equal. A colour outside sRGB would be clipped and break this. */
static void lightness_rises_evenly(void **unused)
{
    (void)unused;
    const WadiColourMap maps[] = { WADI_MAP_DUNE, WADI_MAP_LAGOON, WADI_MAP_GREY };
    for (int m = 0; m < 3; ++m) {
        uint8_t low[3], high[3], rgb[3];
        wadi_colour_map_at(maps[m], 0.0, low);
        wadi_colour_map_at(maps[m], 1.0, high);
        double from = lightness_of(low), to = lightness_of(high);
        assert_true(to - from > 0.6);
        for (int n = 0; n <= 100; ++n) {
            wadi_colour_map_at(maps[m], n / 100.0, rgb);
            CHECK_NEAR(lightness_of(rgb), from + (to - from) * n / 100.0, 0.012);
        }
    }
}

static void the_split_map_is_white_in_the_middle(void **unused)
{
    (void)unused;
    uint8_t left[3], middle[3], right[3];
    wadi_colour_map_at(WADI_MAP_SPLIT, 0.0, left);
    wadi_colour_map_at(WADI_MAP_SPLIT, 0.5, middle);
    wadi_colour_map_at(WADI_MAP_SPLIT, 1.0, right);
    CHECK_NEAR(lightness_of(left), lightness_of(right), 0.01);
    CHECK_NEAR(lightness_of(middle), 0.96, 0.01);
    assert_true(left[2] > left[0] && right[0] > right[2]);
    CHECK_NEAR(middle[0], middle[2], 1.0);
}

static void numbers_beyond_the_ends_are_clamped(void **unused)
{
    (void)unused;
    uint8_t end[3], beyond[3];
    wadi_colour_map_at(WADI_MAP_DUNE, 1.0, end);
    wadi_colour_map_at(WADI_MAP_DUNE, 7.0, beyond);
    assert_memory_equal(end, beyond, 3);
    wadi_colour_map_at(WADI_MAP_DUNE, 0.0, end);
    wadi_colour_map_at(WADI_MAP_DUNE, (double)NAN, beyond);
    assert_memory_equal(end, beyond, 3);
}

static void check_ticks(double low, double high, int count, const double *expected)
{
    double tick[12];
    assert_int_equal(wadi_scale_ticks(low, high, 5, tick, 12), count);
    for (int t = 0; t < count; ++t) {
        CHECK_NEAR(tick[t], expected[t], 1e-9 * fabs(high));
    }
}

static void ticks_are_round_numbers(void **unused)
{
    (void)unused;
    check_ticks(0.0, 1.0, 6, (const double[]){ 0.0, 0.2, 0.4, 0.6, 0.8, 1.0 });
    check_ticks(-3.0, 7.0, 5, (const double[]){ -2.0, 0.0, 2.0, 4.0, 6.0 });
}

static WadiImage white_image(int width, int height)
{
    WadiError error;
    WadiImage image;
    CHECK_OK(wadi_image_init(&image, width, height, &error), error);
    memset(image.rgb, 255, (size_t)(3 * width * height));
    return image;
}

static int count_dark(const WadiImage *image)
{
    int dark = 0;
    for (int p = 0; p < image->width * image->height; ++p) {
        dark += image->rgb[3 * p] == 0;
    }
    return dark;
}

static void letters_are_drawn_and_cut_at_the_rim(void **unused)
{
    (void)unused;
    static const uint8_t black[3] = { 0, 0, 0 };
    WadiImage image = white_image(40, 20);
    wadi_letter_text(&image, 2, 2, 1, "1", black); /* 2 + 1 + 1 + 1 + 1 + 1 + 3 dots */
    assert_int_equal(count_dark(&image), 10);
    wadi_letter_text(&image, 20, 2, 2, "1", black);
    assert_int_equal(count_dark(&image), 50);
    wadi_letter_text(&image, -500, -3, 4, "wadi", black);
    wadi_letter_text(&image, 39, 19, 4, "\xc3", black);
    assert_int_equal(wadi_letter_text_width("1.5", 2), 34);
    assert_int_equal(wadi_letter_text_width("", 2), 0);
    wadi_image_free(&image);
}

/* Speeds 0 .. 999 mm/s and one stray particle of 50 m/s. */
static void make_frame(WadiState *frame)
{
    WadiError error;
    float *v, *p;
    double *x;
    uint8_t *material;
    CHECK_OK(wadi_state_add(frame, "position", WADI_TYPE_F64, 3, 1000, (void **)&x, &error), error);
    CHECK_OK(wadi_state_add(frame, "velocity", WADI_TYPE_F32, 3, 1000, (void **)&v, &error), error);
    CHECK_OK(wadi_state_add(frame, "pressure", WADI_TYPE_F32, 1, 1000, (void **)&p, &error), error);
    CHECK_OK(wadi_state_add(frame, "material", WADI_TYPE_U8, 1, 1000, (void **)&material, &error), error);
    for (int i = 0; i < 1000; ++i) {
        x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = 0.0;
        v[3 * i] = 0.6e-3f * (float)i;
        v[3 * i + 1] = 0.0f;
        v[3 * i + 2] = -0.8e-3f * (float)i;
        p[i] = 5.0f;
        material[i] = 0;
    }
    v[3 * 500] = 50.0f;
}

static const char scene_text[] =
    "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {dry: {kind: sand}, wet: {kind: sand}}\n"
    "bodies: [{material: dry, shape: {sphere: {radius: 0.2}}}]\n";

static void ranges_leave_out_strays(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState frame = { 0 };
    WadiScene *scene = load_scene(scene_text);
    make_frame(&frame);
    WadiFalseColour colour;
    CHECK_OK(wadi_false_colour_open(&colour, "speed", NULL, &frame, scene, &error), error);
    CHECK_OK(wadi_false_colour_include(&colour, &frame, &error), error);
    wadi_false_colour_finish(&colour);
    CHECK_NEAR(colour.low, 0.0, 1e-9);
    CHECK_NEAR(colour.high, 0.998, 0.0015);
    CHECK_OK(wadi_false_colour_open(&colour, "velocity.z", NULL, &frame, scene, &error), error);
    CHECK_OK(wadi_false_colour_include(&colour, &frame, &error), error);
    wadi_false_colour_finish(&colour);
    CHECK_NEAR(colour.low, -colour.high, 0.0);
    CHECK_NEAR(colour.high, 0.8, 0.003);
    CHECK_OK(wadi_false_colour_open(&colour, "pressure", "grey", &frame, scene, &error), error);
    CHECK_OK(wadi_false_colour_include(&colour, &frame, &error), error);
    wadi_false_colour_finish(&colour);
    CHECK_NEAR(colour.low, 2.5, 1e-9); /* all the same: half of it to either side */
    CHECK_NEAR(colour.high, 7.5, 1e-9);
    wadi_state_free(&frame);
    wadi_scene_destroy(scene);
}

static void unknown_names_are_reported_with_the_known(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState frame = { 0 };
    WadiScene *scene = load_scene(scene_text);
    make_frame(&frame);
    WadiFalseColour colour;
    assert_int_equal(wadi_false_colour_open(&colour, "wetnes", NULL, &frame, scene, &error),
                     WADI_ERR_ARGUMENT);
    assert_string_equal(
        error.text, "particles have no attribute 'wetnes'; they have speed, velocity, pressure, material");
    assert_int_equal(wadi_false_colour_open(&colour, "speed", "rainbow", &frame, scene, &error),
                     WADI_ERR_ARGUMENT);
    assert_string_equal(error.text, "no colour map 'rainbow'; known: dune, lagoon, split, grey, kinds");
    assert_int_equal(wadi_false_colour_open(&colour, "pressure.y", NULL, &frame, scene, &error),
                     WADI_ERR_ARGUMENT);
    wadi_state_free(&frame);
    wadi_scene_destroy(scene);
}

/* The legend's bar has the map's colours from bottom to top, and kinds have their names. */
static void legends_show_the_map(void **unused)
{
    (void)unused;
    WadiImage image = white_image(480, 270);
    WadiFalseColour colour = {
        .attribute = "pressure", .unit = "Pa", .map = WADI_MAP_LAGOON, .low = 0, .high = 100
    };
    wadi_false_colour_legend(&colour, &image);
    bool has_low = false, has_high = false;
    uint8_t low[3], high[3];
    wadi_colour_map_at(WADI_MAP_LAGOON, 0.0, low);
    wadi_colour_map_at(WADI_MAP_LAGOON, 1.0, high);
    for (int p = 0; p < 480 * 270; ++p) {
        has_low = has_low || memcmp(image.rgb + 3 * p, low, 3) == 0;
        has_high = has_high || memcmp(image.rgb + 3 * p, high, 3) == 0;
        assert_true(p % 480 >= 240 || image.rgb[3 * p] == 255); /* the left half is unchanged */
    }
    assert_true(has_low && has_high);
    colour = (WadiFalseColour){
        .attribute = "material", .map = WADI_MAP_KINDS, .is_kind = true, .high = 1, .kind = { "dry" }
    };
    wadi_false_colour_legend(&colour, &image);
    wadi_image_free(&image);
    image = white_image(16, 16); /* smaller than its legend */
    wadi_false_colour_legend(&colour, &image);
    colour.is_kind = false;
    wadi_false_colour_legend(&colour, &image);
    wadi_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lightness_rises_evenly),
        cmocka_unit_test(the_split_map_is_white_in_the_middle),
        cmocka_unit_test(numbers_beyond_the_ends_are_clamped),
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(letters_are_drawn_and_cut_at_the_rim),
        cmocka_unit_test(ranges_leave_out_strays),
        cmocka_unit_test(unknown_names_are_reported_with_the_known),
        cmocka_unit_test(legends_show_the_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
