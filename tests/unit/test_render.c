/* Quick pictures: positions of balls, occlusion, and PNG files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "expect.h"
#include "failing_alloc.h"
#include "geom/mesh/heightmap.h"
#include "io_scratch.h"
#include "render/points/splat.h"
#include "wadi/wadi.h"

typedef struct Ball {
    double x[3];
    float v[3];
    float radius;
} Ball;

static WadiState make_frame(const Ball *balls, size_t count)
{
    WadiState state = { 0 };
    double *x = NULL;
    float *v = NULL, *radius = NULL;
    assert_int_equal(wadi_state_add(&state, "position", WADI_TYPE_F64, 3, count, (void **)&x, NULL), WADI_OK);
    assert_int_equal(wadi_state_add(&state, "velocity", WADI_TYPE_F32, 3, count, (void **)&v, NULL), WADI_OK);
    assert_int_equal(wadi_state_add(&state, "radius", WADI_TYPE_F32, 1, count, (void **)&radius, NULL),
                     WADI_OK);
    for (size_t i = 0; i < count; ++i) {
        memcpy(x + 3 * i, balls[i].x, sizeof balls[i].x);
        memcpy(v + 3 * i, balls[i].v, sizeof balls[i].v);
        radius[i] = balls[i].radius;
    }
    return state;
}

static const uint8_t *pixel(const WadiImage *image, int x, int y)
{
    return image->rgb + 3 * (y * image->width + x);
}

static int brightness(const WadiImage *image, int x, int y)
{
    const uint8_t *p = pixel(image, x, y);
    return p[0] + p[1] + p[2];
}

static WadiImage draw(const WadiSplatView *view, const WadiState *frame, int width, int height)
{
    WadiImage image;
    assert_int_equal(wadi_image_init(&image, width, height, NULL), WADI_OK);
    assert_int_equal(wadi_splat_draw(view, frame, &image, 0, 0, width, height, NULL), WADI_OK);
    return image;
}

/* From the side x is to the right and z up: a window of 10 x 5 m on 100 x 50 pixels has 10 pixels a metre. */
static WadiSplatView side_view(void)
{
    WadiSplatView view = wadi_splat_view(0.0, 0.0);
    view.low[0] = view.low[1] = 0.0;
    view.high[0] = 10.0, view.high[1] = 5.0;
    view.near = 0.0, view.far = 10.0;
    view.speed = 1.0;
    return view;
}

static void test_ball_lands_where_it_is(void **state)
{
    (void)state;
    Ball ball = { .x = { 7.0, 3.0, 4.0 }, .radius = 0.5f };
    WadiState frame = make_frame(&ball, 1);
    WadiSplatView view = side_view();
    WadiImage image = draw(&view, &frame, 100, 50);
    int background = brightness(&image, 0, 0);
    double sum = 0.0, cx = 0.0, cy = 0.0;
    for (int y = 0; y < 50; ++y) {
        for (int x = 0; x < 100; ++x) {
            if (brightness(&image, x, y) != background) {
                sum += 1.0, cx += x + 0.5, cy += y + 0.5;
            }
        }
    }
    /* Its centre, 4 m above the bottom of 5 m, and its disc of 5 pixels' radius; pixels that it touches count
     * whole. */
    CHECK_NEAR(cx / sum, 70.0, 0.2);
    CHECK_NEAR(cy / sum, 10.0, 0.2);
    assert_true(sum > 3.14159 * 25.0 - 8.0 && sum < 3.14159 * 30.25);
    wadi_image_free(&image);
    wadi_state_free(&frame);
}

static void test_nearest_ball_wins_in_any_order(void **state)
{
    (void)state;
    Ball slow = { .x = { 5.0, 1.0, 2.5 }, .radius = 0.5f };
    Ball fast = { .x = { 5.0, 6.0, 2.5 }, .v = { 9.0f, 0.0f, 0.0f }, .radius = 0.5f };
    Ball forth[2] = { slow, fast }, back[2] = { fast, slow };
    WadiState a = make_frame(forth, 2), b = make_frame(back, 2), alone = make_frame(&slow, 1);
    WadiSplatView view = side_view();
    WadiImage first = draw(&view, &a, 100, 50), second = draw(&view, &b, 100, 50);
    WadiImage third = draw(&view, &alone, 100, 50);
    assert_memory_equal(first.rgb, second.rgb, 100 * 50 * 3);
    assert_memory_equal(first.rgb, third.rgb, 100 * 50 * 3);
    wadi_image_free(&first), wadi_image_free(&second), wadi_image_free(&third);
    wadi_state_free(&a), wadi_state_free(&b), wadi_state_free(&alone);
}

/* Looking down by 90 degrees y is up in the picture; turned by 90 degrees about z the view is along -x. */
static void test_views_turn(void **state)
{
    (void)state;
    WadiSplatView down = wadi_splat_view(0.0, 90.0), turned = wadi_splat_view(90.0, 0.0);
    CHECK_NEAR(down.up.y, 1.0, 1e-12);
    CHECK_NEAR(down.away.z, -1.0, 1e-12);
    CHECK_NEAR(turned.right.y, 1.0, 1e-12);
    CHECK_NEAR(turned.away.x, -1.0, 1e-12);
    Ball balls[2] = { { .x = { 1.0, 2.0, 3.0 }, .radius = 0.5f },
                      { .x = { -4.0, 8.0, 0.0 }, .radius = 0.25f } };
    WadiState frame = make_frame(balls, 2);
    WadiSplatView side = wadi_splat_view(0.0, 0.0);
    assert_int_equal(wadi_splat_include(&side, &frame, NULL), WADI_OK);
    CHECK_NEAR(side.low[0], -4.25, 1e-12);
    CHECK_NEAR(side.high[0], 1.5, 1e-12);
    CHECK_NEAR(side.low[1], -0.25, 1e-12);
    CHECK_NEAR(side.high[1], 3.5, 1e-12);
    CHECK_NEAR(side.near, 1.5, 1e-12);
    CHECK_NEAR(side.far, 8.25, 1e-12);
    wadi_state_free(&frame);
}

/* A streak of 1 s at 3 m/s extends 30 pixels back along the path, and none forward. */
static void test_streaks_follow_the_velocity(void **state)
{
    (void)state;
    Ball ball = { .x = { 6.0, 1.0, 2.5 }, .v = { 3.0f, 0.0f, 0.0f }, .radius = 0.1f };
    WadiState frame = make_frame(&ball, 1);
    WadiSplatView view = side_view();
    view.streak = 1.0;
    WadiImage image = draw(&view, &frame, 100, 50);
    int background = brightness(&image, 0, 0);
    assert_true(brightness(&image, 32, 24) > background || brightness(&image, 32, 25) > background);
    assert_true(brightness(&image, 58, 24) > background || brightness(&image, 58, 25) > background);
    assert_int_equal(brightness(&image, 63, 24), background);
    assert_int_equal(brightness(&image, 27, 24), background);
    wadi_image_free(&image);
    wadi_state_free(&frame);
}

static void test_png_reads_back(void **state)
{
    (void)state;
    WadiImage image;
    assert_int_equal(wadi_image_init(&image, 3, 2, NULL), WADI_OK);
    for (int i = 0; i < 18; ++i) {
        image.rgb[i] = (uint8_t)(100 * (i / 9)); /* the lower row grey, the upper black */
    }
    WadiError error = { 0 };
    const char *path = scratch_path("picture.png");
    CHECK_OK(wadi_image_write_png(&image, path, &error), error);
    assert_int_equal(wadi_image_write_png(&image, scratch_path("no/such/folder.png"), &error), WADI_ERR_IO);
    /* The reader of height maps is another piece of code: the first row is at max.y, black at min.z. */
    WadiMesh mesh = { 0 };
    WadiBox box = { { 0.0, 0.0, 0.0 }, { 2.0, 1.0, 255.0 } };
    CHECK_OK(wadi_heightmap_read(&mesh, path, box, &error), error);
    int grey = 0, black = 0;
    for (size_t i = 0; i < mesh.vertex_count; ++i) {
        grey += fabs(mesh.vertices[i].z - 100.0) < 1e-6 && mesh.vertices[i].y == 0.0;
        black += mesh.vertices[i].z == 0.0 && mesh.vertices[i].y == 1.0;
    }
    assert_int_equal(grey, 3);
    assert_int_equal(black, 3);
    wadi_mesh_free(&mesh);
    wadi_image_free(&image);
    assert_int_equal(wadi_image_init(&image, 0, 2, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(wadi_image_init(&image, 2, 100000, &error), WADI_ERR_ARGUMENT);
}

static void test_sheets_refuse_what_they_cannot_draw(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiSheetDef def = { 0 };
    assert_int_equal(wadi_contact_sheet(&def, "x.png", &error), WADI_ERR_ARGUMENT);
    def = wadi_default_sheet_def();
    assert_int_equal(wadi_contact_sheet(&def, "x.png", &error), WADI_ERR_ARGUMENT);
    const char *folder = "/nowhere.run";
    def.folders = &folder;
    def.folder_count = 1;
    assert_int_equal(wadi_contact_sheet(&def, "x.png", &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "nowhere.run"));
    def.frames = 1000;
    assert_int_equal(wadi_contact_sheet(&def, "x.png", &error), WADI_ERR_ARGUMENT);
    Ball ball = { .radius = 1.0f };
    WadiState frame = make_frame(&ball, 1);
    WadiImage image;
    WadiSplatView view = side_view();
    assert_int_equal(wadi_image_init(&image, 10, 10, NULL), WADI_OK);
    assert_int_equal(wadi_splat_draw(&view, &frame, &image, 5, 0, 6, 10, &error), WADI_ERR_ARGUMENT);
    wadi_image_free(&image);
    wadi_state_free(&frame);
}

static const char *const scene_text =
    "wadi: 1\nname: fall\nsolver: points\nresolution: 8\nframes: 3\ndomain: {min: [0, 0, 0], max: [2, 1, "
    "1]}\n"
    "materials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0.5], max: [2, 1, 1]}}}]\n";

/* Three frames are drawn: four pictures in two rows of the given width; when the n-th allocation fails there
 * is an error, no leak, and the old picture. */
static void test_sheet_of_a_run(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = scene_text;
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("fall.run"));
    WadiRunDef run_def = wadi_default_run_def();
    run_def.folder = folder;
    run_def.threads = 1;
    CHECK_OK(wadi_run(scene, &run_def, NULL, &error), error);
    wadi_scene_destroy(scene);

    const char *const folders[] = { folder };
    WadiSheetDef def = wadi_default_sheet_def();
    def.folders = folders;
    def.folder_count = 1;
    def.frames = 4;
    def.width = 40;
    def.elevation = 0.0;
    const char *path = scratch_path("sheet.png");
    CHECK_OK(wadi_contact_sheet(&def, path, &error), error);
    unsigned char header[24];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_memory_equal(header, "\x89PNG\r\n\x1a\n", 8);
    /* Two pictures and the gap between them. */
    assert_int_equal(header[18] << 8 | header[19], 2 * 40 + 4);
    assert_true((header[22] << 8 | header[23]) > 20);

    wadi_set_allocator(&failing_allocator);
    int allowed = 0;
    for (;; ++allowed) {
        alloc_calls_left = allowed;
        WadiStatus status = wadi_contact_sheet(&def, path, &error);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
        if (status == WADI_OK) {
            break;
        }
        assert_true(status == WADI_ERR_MEMORY || status == WADI_ERR_IO);
    }
    assert_true(allowed > 10);
    alloc_calls_left = INT_MAX;
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball_lands_where_it_is),
        cmocka_unit_test(test_nearest_ball_wins_in_any_order),
        cmocka_unit_test(test_views_turn),
        cmocka_unit_test(test_streaks_follow_the_velocity),
        cmocka_unit_test(test_png_reads_back),
        cmocka_unit_test(test_sheets_refuse_what_they_cannot_draw),
        cmocka_unit_test(test_sheet_of_a_run),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
