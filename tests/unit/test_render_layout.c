/* Layouts of scenes without a run, and the looks of colliders. */
#include <stdio.h>

#include "io_scratch.h"
#include "render/image/image.h"
#include "render/image/look.h"
#include "render/smooth_normals.h"
#include "render/trace/film.h"
#include "scene_sim.h"
#include "wadi/render.h"

static const char text[] =
    "wadi: 1\nname: stage\nsolver: points\ncell_size: 0.05\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
    "materials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.2], radius: 0.1}}}]\n"
    "colliders:\n"
    "  - shape: {translate: {keys: [[0, [0.2, 0.5, 0.8]], [2, [0.8, 0.5, 0.8]]]}, sphere: {radius: 0.1}}\n"
    "    look: {colour: [0.9, 0.02, 0.02], roughness: 1}\n"
    "emitters:\n"
    "  - {material: sand, shape: {sphere: {center: [0.5, 0.1, 0.9], radius: 0.03}}, velocity: [0, 0, -1],\n"
    "     rate: 0.001}\n"
    "render: {width: 160, height: 90, camera: {from: [0.5, -3, 0.6], to: [0.5, 0.5, 0.6], angle: 25},\n"
    "         light: {surround: studio}}\n";

/* Mean column of the pixels that are much redder than the emitter. */
static double red_column(const char *path)
{
    WadiError error = { 0 };
    WadiImage image;
    CHECK_OK(wadi_image_read_png(&image, path, &error), error);
    double sum = 0.0, count = 0.0;
    for (int i = 0; i < image.width * image.height; ++i) {
        const uint8_t *p = image.rgb + 3 * (size_t)i;
        if (p[0] > 60 && p[0] > 3 * p[1] && p[0] > 3 * p[2]) {
            sum += i % image.width;
            count += 1.0;
        }
    }
    wadi_image_free(&image);
    assert_true(count > 50.0);
    return sum / count;
}

static void keyframes_are_drawn_at_their_time(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(text);
    WadiLayoutDef def = wadi_default_layout_def();
    WadiLayoutReport report;
    double column[2];
    def.folder = scratch;
    for (int n = 0; n < 2; ++n) {
        def.time = 2.0 * n;
        CHECK_OK(wadi_render_layout(scene, &def, &report, &error), error);
        column[n] = red_column(report.picture);
        assert_true(report.overview[0] != '\0');
    }
    /* At 3.5 m the picture is 2 * 3.5 * tan(12.5 degrees) * 16 / 9 = 2.759 m wide. */
    CHECK_NEAR(column[1] - column[0], 0.6 / 2.759 * 160.0, 2.0);
    def.time = -1.0;
    assert_int_equal(wadi_render_layout(scene, &def, &report, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "-1 s"));
    wadi_scene_destroy(scene);
}

/* A cube has three normals at each corner, a finely divided cylinder one. */
static void edges_stay_sharp_and_curves_are_smooth(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    enum { SIDES = 24 };
    WadiVec3 vertex[2 * SIDES];
    uint32_t triangle[2 * SIDES][3];
    for (int flat = 0; flat < 2; ++flat) { /* 24 sides are turned by 15 degrees, 4 sides by 90 */
        uint32_t sides = flat ? 4 : SIDES;
        for (uint32_t i = 0; i < sides; ++i) {
            double angle = 2.0 * 3.14159265358979 * i / sides;
            uint32_t next = (i + 1) % sides;
            vertex[i] = wadi_vec3(cos(angle), sin(angle), 0.0);
            vertex[sides + i] = wadi_vec3(cos(angle), sin(angle), 1.0);
            memcpy(triangle[2 * i], (uint32_t[3]){ i, next, sides + next }, sizeof triangle[0]);
            memcpy(triangle[2 * i + 1], (uint32_t[3]){ i, sides + next, sides + i }, sizeof triangle[0]);
        }
        WadiMesh mesh;
        CHECK_OK(
            wadi_mesh_create(&mesh, vertex, 2 * sides, (const uint32_t(*)[3])triangle, 2 * sides, &error),
            error);
        float(*normal)[3];
        CHECK_OK(wadi_smooth_normals(&normal, &mesh, &arena, &error), error);
        for (size_t c = 0; c < 3 * mesh.triangle_count; ++c) {
            WadiVec3 n = wadi_normalized_or(
                wadi_vec3((double)normal[c][0], (double)normal[c][1], (double)normal[c][2]),
                wadi_vec3(0, 0, 1));
            const uint32_t *t = mesh.triangles[c / 3];
            WadiVec3 face = wadi_cross(wadi_sub(mesh.vertices[t[1]], mesh.vertices[t[0]]),
                                       wadi_sub(mesh.vertices[t[2]], mesh.vertices[t[0]]));
            WadiVec3 x = mesh.vertices[t[c % 3]];
            double expected =
                flat ? wadi_dot(n, wadi_normalized_or(face, n)) : wadi_dot(n, wadi_vec3(x.x, x.y, 0));
            /* one of a side's two triangles counts twice at a corner: up to a third of 15 degrees off */
            CHECK_NEAR(expected, 1.0, flat ? 1e-6 : 0.01);
        }
        wadi_mesh_free(&mesh);
    }
    wadi_arena_free(&arena);
}

/* The pattern of bands and cubes at positions worked out by hand. */
static void textures_have_two_colours(void **unused)
{
    (void)unused;
    WadiLook look = wadi_look_plain(wadi_grey(0.8f));
    look.texture_size = 0.5f;
    look.second_colour = wadi_grey(0.2f);
    look.texture = WADI_LOOK_TEXTURE_BANDS;
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(9, 9, 0.4)).x, 0.8, 1e-6);
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(9, 9, 0.6)).x, 0.2, 1e-6);
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(9, 9, -0.1)).x, 0.2, 1e-6);
    look.texture = WADI_LOOK_TEXTURE_CHECKER;
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(0.1, 0.1, 0.1)).x, 0.8, 1e-6);
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(0.6, 0.1, 0.1)).x, 0.2, 1e-6);
    CHECK_NEAR((double)wadi_look_colour(&look, wadi_vec3(0.6, -0.1, 0.1)).x, 0.8, 1e-6);
    for (int t = WADI_LOOK_TEXTURE_WOOD; t <= WADI_LOOK_TEXTURE_STONE; ++t) { /* between the two */
        look.texture = (WadiLookTexture)t;
        double low = 1.0, high = 0.0;
        for (int i = 0; i < 4000; ++i) {
            double c = (double)wadi_look_colour(&look, wadi_vec3(0.013 * i, 0.007 * i, 0.011 * i)).x;
            low = fmin(low, c);
            high = fmax(high, c);
        }
        assert_true(low > 0.199 && high < 0.801 && high - low > 0.3);
    }
}

/* Two grounds in the same light: the dark one stays darker, by most of the ratio of the colours. */
static void dark_ground_stays_dark(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    double shown[2];
    for (int n = 0; n < 2; ++n) {
        WadiFilm film;
        float albedo = n == 0 ? 0.45f : 0.06f;
        CHECK_OK(wadi_film_init(&film, 8, 4, &error), error);
        for (int i = 0; i < 32; ++i) {
            film.albedo[i] = wadi_grey(albedo);
            film.light[i] = wadi_grey(2.0f * albedo);
            film.distance[i] = 1.0f;
        }
        shown[n] = wadi_film_auto_exposure(&film) * 2.0 * (double)albedo;
        wadi_film_free(&film);
    }
    CHECK_NEAR(shown[0], 0.3, 1e-6); /* the middling colour is middle grey */
    CHECK_NEAR(shown[1] / shown[0], pow(0.06 / 0.45, 0.75), 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyframes_are_drawn_at_their_time),
        cmocka_unit_test(edges_stay_sharp_and_curves_are_smooth),
        cmocka_unit_test(textures_have_two_colours),
        cmocka_unit_test(dark_ground_stays_dark),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
