/* wadi_render over time: where nothing moves pictures stay as they are, while sand is poured beside it. */
#include "expect.h"
#include "render/image/image.h"
#include "surface_run.h"

enum { FIRST = 25, LAST = 48, WIDTH = 112, HEIGHT = 63 };

/* The camera sees the half of a bed that is at rest; after a second sand is
 * poured on the other half, out of the picture. */
static const char SCENE[] =
    "wadi: 1\nname: still\nsolver: flip\ndomain: {min: [0, 0, 0], max: [1, 0.3, 0.3]}\ncell_size: 0.02\n"
    "frames: 48\nmaterials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [1, 0.3, 0.06]}}}]\n"
    "emitters: [{material: sand, shape: {sphere: {center: [0.9, 0.15, 0.22], radius: 0.03}},\n"
    "            velocity: [0, 0, -1], rate: 0.001, start: 1}]\n"
    "render: {width: 112, height: 63, shutter: 0,\n"
    "         camera: {from: [0.12, -0.5, 0.5], to: [0.12, 0.15, 0.05], angle: 16}}\n";

static void simulate(const char *folder)
{
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = SCENE;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiRunDef def = wadi_default_run_def();
    def.folder = folder;
    def.threads = 1;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    wadi_scene_destroy(scene);
}

static WadiImage read_picture(const char *run, int frame)
{
    char path[4200];
    WadiImage image;
    WadiError error = { 0 };
    snprintf(path, sizeof path, "%s/images/still.%04d.png", run, frame);
    CHECK_OK(wadi_image_read_png(&image, path, &error), error);
    return image;
}

static void what_rests_does_not_flicker(void **unused)
{
    (void)unused;
    char run[1024];
    WadiError error = { 0 };
    snprintf(run, sizeof run, "%s/still.run", scratch);
    simulate(run);
    WadiRenderDef def = wadi_default_render_def();
    def.quality = WADI_QUALITY_DRAFT;
    def.first_frame = FIRST;
    def.last_frame = LAST;
    def.has_video = false;
    def.threads = 1;
    CHECK_OK(wadi_render(run, &def, NULL, &error), error);
    WadiImage before = read_picture(run, FIRST);
    double largest = 0.0, all = 0.0;
    for (int frame = FIRST + 1; frame <= LAST; ++frame) {
        WadiImage after = read_picture(run, frame);
        double sum = 0.0;
        for (int i = 0; i < 3 * WIDTH * HEIGHT; ++i) {
            sum += fabs((double)after.rgb[i] - (double)before.rgb[i]);
        }
        sum /= 3.0 * WIDTH * HEIGHT;
        largest = fmax(largest, sum);
        all += sum / (LAST - FIRST);
        wadi_image_free(&before);
        before = after;
    }
    wadi_image_free(&before);
    print_message("change from picture to picture: %.3f grey levels on average, at most %.3f\n", all,
                  largest);
    assert_true(largest < 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_rests_does_not_flicker) };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
