/* wadi_render on whole runs: which pictures exist, are reused, agree with each other, or are refused. */
#include <math.h>
#include <string.h>

#include "api/render/render_plan.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "expect.h"
#include "io/files/files.h"
#include "render/image/image.h"
#include "stop_flag.h"
#include "surface_run.h"

static const char *const small[] = { "render.width=64", "render.height=36" };

static WadiRenderDef small_def(void)
{
    WadiRenderDef def = wadi_default_render_def();
    def.sets = small;
    def.set_count = 2;
    def.quality = WADI_QUALITY_DRAFT;
    def.samples = 2;
    def.has_video = false;
    def.threads = 1;
    return def;
}

static WadiRenderReport draw(const char *run, const WadiRenderDef *def)
{
    WadiRenderReport report;
    WadiError error = { 0 };
    CHECK_OK(wadi_render(run, def, &report, &error), error);
    return report;
}

static uint64_t file_hash(const char *folder, const char *name)
{
    char path[4200];
    char *bytes = NULL;
    size_t size = 0;
    WadiError error = { 0 };
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_OK(wadi_file_read(path, 1 << 28, &bytes, &size, &error), error);
    uint64_t hash = wadi_hash_bytes(0, bytes, size);
    wadi_free(bytes, size + 1, 1);
    return hash;
}

static WadiImage read_picture(const char *folder, const char *name)
{
    char path[4200];
    WadiImage image;
    WadiError error = { 0 };
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_OK(wadi_image_read_png(&image, path, &error), error);
    return image;
}

typedef struct Watch {
    int calls, kept, frames[16];
    int warnings;
    char warning[512];
    atomic_bool stop;
    int stop_after; /* pictures; 0: never */
} Watch;

static void on_progress(void *user, const WadiProgress *progress)
{
    Watch *watch = user;
    watch->frames[watch->calls++ % 16] = progress->frame;
    watch->kept += progress->is_kept;
    assert_int_equal(progress->frames_done, watch->calls);
    watch->stop = watch->stop_after > 0 && watch->calls >= watch->stop_after;
}

static void on_log(void *user, WadiLogLevel level, const char *text)
{
    Watch *watch = user;
    watch->warnings += level == WADI_LOG_WARNING;
    snprintf(watch->warning, sizeof watch->warning, "%s", text);
}

static void watch_with(Watch *watch, WadiRenderDef *def)
{
    *watch = (Watch){ 0 };
    def->progress = on_progress;
    def->progress_user = watch;
    def->log = (WadiLog){ .function = on_log, .user = watch };
    def->stop = stop_when(&watch->stop);
}

static void test_a_picture_for_each_frame_and_what_is_kept(void **state)
{
    (void)state;
    const char *run = run_make("a.run", "");
    WadiRenderDef def = small_def();
    def.sheet = 3;
    WadiRenderReport report = draw(run, &def);
    assert_int_equal(report.pictures, RUN_FRAMES);
    assert_int_equal(report.kept, 0);
    assert_int_equal(scratch_count(report.folder, ".png"), RUN_FRAMES);
    assert_int_equal(scratch_count(report.folder, "tmp"), 0);
    assert_non_null(strstr(report.sheet, "a.run/two.sheet.png"));
    assert_int_equal(report.video[0], '\0');

    report = draw(run, &def);
    assert_int_equal(report.kept, RUN_FRAMES);
    assert_int_equal(report.pictures, 0);
    uint64_t before = file_hash(report.folder, "two.0002.png");
    def.is_forced = true;
    assert_int_equal(draw(run, &def).pictures, RUN_FRAMES);
    assert_true(file_hash(report.folder, "two.0002.png") == before);
    def.is_forced = false;

    /* Another setting is another picture. */
    const char *const other[] = { "render.width=64", "render.height=36", "materials.sand.look.preset=soil" };
    def.sets = other;
    def.set_count = 3;
    def.first_frame = def.last_frame = 2;
    assert_int_equal(draw(run, &def).pictures, 1);
    assert_true(file_hash(report.folder, "two.0002.png") != before);
    def.samples = 3;
    assert_int_equal(draw(run, &def).pictures, 1);

    /* So is another frame, even of the same number; the others stay. */
    def = small_def();
    draw(run, &def);
    run_spoil(run, 4, "velocity", 0, 0.5);
    report = draw(run, &def);
    assert_int_equal(report.pictures, 1);
    assert_int_equal(report.kept, RUN_FRAMES - 1);

    /* A file that lost its end is no picture. */
    char path[4200];
    snprintf(path, sizeof path, "%s/two.0003.png", report.folder);
    assert_int_equal(truncate(path, 600), 0);
    assert_int_equal(draw(run, &def).pictures, 1);
}

static void test_same_bytes_for_any_threads(void **state)
{
    (void)state;
    const char *run = run_make("threads.run", "");
    const int threads[3] = { 1, 2, 5 };
    uint64_t first = 0;
    for (int i = 0; i < 3; ++i) {
        WadiRenderDef def = small_def();
        def.quality = WADI_QUALITY_PREVIEW;
        def.threads = threads[i];
        def.first_frame = def.last_frame = 2;
        def.is_forced = true;
        WadiRenderReport report = draw(run, &def);
        uint64_t hash = file_hash(report.folder, "two.0002.png");
        first = i == 0 ? hash : first;
        assert_true(hash == first);
    }
}

/* A picture does not depend on which others are asked for, so that machines can share a run. */
static void test_one_frame_alone_is_the_same(void **state)
{
    (void)state;
    const char *run = run_make("alone.run", "");
    WadiRenderDef def = small_def();
    Watch watch;
    watch_with(&watch, &def);
    def.every = 2;
    WadiRenderReport report = draw(run, &def);
    assert_int_equal(report.pictures, 2);
    assert_int_equal(watch.frames[0], 1);
    assert_int_equal(watch.frames[1], 3);
    uint64_t together = file_hash(report.folder, "two.0003.png");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/pictures", scratch);
    def = small_def();
    def.first_frame = def.last_frame = 3;
    def.folder = folder;
    def.sheet = 1;
    report = draw(run, &def);
    assert_string_equal(report.folder, folder);
    assert_true(file_hash(folder, "two.0003.png") == together);
    assert_int_equal(scratch_count(folder, "two.0003-0003.sheet.png"), 1);
}

static WadiBox bounds_of(const char *run)
{
    WadiRunView view;
    WadiRunSurvey survey = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_run_view_open(&view, run, &(WadiRunViewDef){ 0 }, &error), error);
    CHECK_OK(wadi_run_survey(&survey, &view, NULL, &error), error);
    wadi_run_view_close(&view);
    return survey.box;
}

/* All particles of RUN_SCENE lie between 0 and 0.65 + 2 * 0.03 m in x; a few far away do not matter. */
static void test_the_camera_does_not_follow_strays(void **state)
{
    (void)state;
    const char *run = run_make("stray.run", "");
    WadiBox before = bounds_of(run);
    assert_true(before.min.x < 0.02 && before.min.z < 0.02);
    assert_true(before.max.x > 0.65 && before.max.x < 0.8);
    assert_true(before.max.z > 0.7 && before.max.z < 0.85);
    run_spoil(run, 1, "position", 0, 1000.0);
    run_spoil(run, 3, "position", 5, -1000.0);
    WadiBox after = bounds_of(run);
    CHECK_NEAR(wadi_norm(wadi_sub(after.min, before.min)), 0.0, 0.02);
    CHECK_NEAR(wadi_norm(wadi_sub(after.max, before.max)), 0.0, 0.02);
}

static void test_a_hidden_material_is_not_framed(void **state)
{
    (void)state;
    const char *run = run_make("hidden.run", "");
    static const char *const sets[] = { "materials.water.look.style=hidden" };
    static const char *const keys[] = { "materials.*.look", NULL };
    WadiRunView view;
    WadiRunSurvey survey = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_run_view_open(&view, run, &(WadiRunViewDef){ .sets = sets, .set_count = 1, .keys = keys },
                                &error),
             error);
    CHECK_OK(wadi_run_survey(&survey, &view, NULL, &error), error);
    wadi_run_view_close(&view);
    WadiBox box = survey.box;
    /* Only the block of sand, which ends at 0.3, 0.3, 0.2, and falls to the floor on which it stands. */
    assert_true(box.max.x > 0.28 && box.max.x < 0.34 && box.max.z < 0.24);
}

static void test_a_camera_inside_a_collider(void **state)
{
    (void)state;
    const char *run =
        run_make("inside.run", "colliders:\n- {name: vault, shape: {box: {min: [0.7, 0.7, 0], max: "
                               "[0.9, 0.9, 0.2]}}}\n");
    WadiRenderDef def = small_def();
    Watch watch;
    watch_with(&watch, &def);
    const char *const sets[] = { "render.width=64", "render.height=36",
                                 "render.camera={from: [0.8, 0.8, 0.1], to: [0, 0, 0]}" };
    def.sets = sets;
    def.set_count = 3;
    assert_int_equal(draw(run, &def).warning_count, 1);
    assert_int_equal(watch.warnings, 1);
    assert_non_null(strstr(watch.warning, "inside the collider vault"));
    const char *const below[] = { "render.width=64", "render.height=36",
                                  "render.camera={from: [0.8, 0.8, -1], to: [0, 0, 0]}" };
    def.sets = below;
    watch_with(&watch, &def);
    draw(run, &def);
    assert_non_null(strstr(watch.warning, "below the ground"));
}

/* Sand that is still to come: ground and sky, and no error. The upper edge sees the sky, which is bluer than
 * the ground. */
static void test_an_empty_frame(void **state)
{
    (void)state;
    static const char text[] =
        "wadi: 1\nname: later\nsolver: points\nframes: 2\nfps: 10\nresolution: 8\n"
        "domain: {min: [0, 0, 0], max: [1, 1, 1]}\nmaterials: {sand: {kind: sand}}\n"
        "render: {width: 64, height: 36, camera: {from: [0.5, -2, 0.5], to: [0.5, 0, 0.5]}}\n"
        "emitters:\n- {material: sand, rate: 0.01, start: 5, end: 6, shape: {sphere: {center: [0.5, 0.5, "
        "0.5], radius: 0.2}}}\n";
    char run[1024];
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = text;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiRunDef run_def = wadi_default_run_def();
    snprintf(run, sizeof run, "%s/later.run", scratch);
    run_def.folder = run;
    CHECK_OK(wadi_run(scene, &run_def, NULL, &error), error);
    wadi_scene_destroy(scene);
    WadiRenderDef def = small_def();
    def.quality = WADI_QUALITY_PREVIEW;
    WadiRenderReport report = draw(run, &def);
    assert_int_equal(report.pictures, 2);
    WadiImage image = read_picture(report.folder, "later.0001.png");
    const uint8_t *sky = image.rgb + 3 * 32, *ground = image.rgb + 3 * (34 * 64 + 32);
    assert_true(sky[2] > sky[0] + 10);
    assert_true(abs(ground[2] - ground[0]) < 40 && ground[0] > 40);
    wadi_image_free(&image);
}

static void test_stop_and_go_on(void **state)
{
    (void)state;
    const char *run = run_make("stop.run", "");
    WadiRenderDef def = small_def();
    Watch watch;
    watch_with(&watch, &def);
    watch.stop_after = 2;
    WadiRenderReport report;
    WadiError error = { 0 };
    assert_int_equal(wadi_render(run, &def, &report, &error), WADI_ERR_STOPPED);
    assert_int_equal(report.pictures, 2);
    watch_with(&watch, &def);
    report = draw(run, &def);
    assert_int_equal(report.kept, 2);
    assert_int_equal(report.pictures, RUN_FRAMES - 2);
    assert_int_equal(watch.kept, 2);
}

static void refuse(const char *run, const WadiRenderDef *def, WadiStatus status, const char *part)
{
    WadiError error = { 0 };
    assert_int_equal(wadi_render(run, def, NULL, &error), status);
    if (strstr(error.text, part) == NULL) {
        print_error("'%s' is not in '%s'\n", part, error.text);
        fail();
    }
}

/* The ends of the scale are those of the run: a picture alone has the colours that it has among the
 * others. */
static void test_one_scale_for_all_frames(void **state)
{
    (void)state;
    const char *run = run_make("colour.run", "");
    WadiRenderDef def = small_def();
    def.attribute = "speed";
    WadiRenderReport report = draw(run, &def);
    assert_int_equal(report.pictures, RUN_FRAMES);
    uint64_t together = file_hash(report.folder, "two.speed.0002.png");
    def.first_frame = def.last_frame = 2;
    def.is_forced = true;
    draw(run, &def);
    assert_true(file_hash(report.folder, "two.speed.0002.png") == together);
    /* Exposure settings of the scene do not change them: they match the legend. */
    WadiImage plain = read_picture(report.folder, "two.speed.0002.png");
    const char *const darker[] = { small[0], small[1], "render.exposure=-2" };
    def.sets = darker;
    def.set_count = 3;
    draw(run, &def);
    WadiImage dark = read_picture(report.folder, "two.speed.0002.png");
    assert_int_equal(plain.width, dark.width);
    assert_int_equal(plain.height, dark.height);
    assert_memory_equal(plain.rgb, dark.rgb, (size_t)(3 * plain.width * plain.height));
    wadi_image_free(&plain);
    wadi_image_free(&dark);
    def.sets = small;
    def.set_count = 2;
    def.low = 0.0;
    def.high = 100.0;
    draw(run, &def);
    assert_true(file_hash(report.folder, "two.speed.0002.png") != together);
    def.high = -1.0;
    refuse(run, &def, WADI_ERR_ARGUMENT, "scale of speed");
    def.attribute = "sped";
    refuse(run, &def, WADI_ERR_ARGUMENT, "velocity");
    def.attribute = "speed";
    def.map = "rainbow";
    refuse(run, &def, WADI_ERR_ARGUMENT, "known: ");
}

static void test_what_is_refused(void **state)
{
    (void)state;
    const char *run = run_make("wrong.run", "");
    WadiRenderDef def = small_def();
    refuse(run, &(WadiRenderDef){ 0 }, WADI_ERR_ARGUMENT, "wadi_default_render_def");
    refuse(scratch_path("none.run"), &def, WADI_ERR_IO, "no such run folder");
    def.every = 0;
    refuse(run, &def, WADI_ERR_ARGUMENT, "every 0-th");
    def = small_def();
    def.samples = 70000;
    refuse(run, &def, WADI_ERR_ARGUMENT, "samples");
    def = small_def();
    def.has_cut = true;
    refuse(run, &def, WADI_ERR_ARGUMENT, "not zero");
    def = small_def();
    def.first_frame = 9;
    def.last_frame = 12;
    refuse(run, &def, WADI_ERR_ARGUMENT, "frames up to 4");
    const char *const sets[4] = { "render.width=1000000", "materials.sand.density=3", "resolution=3",
                                  "render.wdith=3" };
    const char *const parts[4] = { "16384", "only what does not change it", "only what does not change it",
                                   "width" };
    for (int i = 0; i < 4; ++i) {
        def = small_def();
        def.sets = &sets[i];
        def.set_count = 1;
        refuse(run, &def, WADI_ERR_SCENE, parts[i]);
    }
    /* A path that cannot be a folder. */
    char path[2048];
    snprintf(path, sizeof path, "%s/run.json/images", run);
    def = small_def();
    def.folder = path;
    refuse(run, &def, WADI_ERR_IO, "run.json");
    run_spoil(run, 2, "position", 0, (double)NAN);
    def = small_def();
    refuse(run, &def, WADI_ERR_NUMERIC, "two.0002.h5");
}

/* A bed of sand along all sides goes on outside of the domain at its height, 0.2 m; one along 0.45 of them, and
 * one that is seen by a camera of its own, do not. */
static void beds_of_sand_go_on(void **unused)
{
    (void)unused;
    static const struct {
        double width;
        const char *set;
        bool has_bed;
    } cases[] = { { 1.0, "render.exposure=0", true },
                  { 0.4, "render.exposure=0", false },
                  { 1.0, "render.ground=slabs", false },
                  { 1.0, "render.camera={from: [3, -3, 2], to: [0.5, 0.5, 0]}", false } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char name[16], body[100];
        snprintf(name, sizeof name, "bed%zu", n);
        snprintf(body, sizeof body, "- {material: sand, shape: {box: {min: [0, 0, 0], max: [%g, 1, 0.2]}}}\n",
                 cases[n].width);
        const char *run = run_make(name, body);
        WadiRenderDef def = small_def();
        def.sets = &cases[n].set;
        def.set_count = 1;
        WadiRenderPlan plan;
        WadiError error = { 0 };
        WadiRenderShot shot;
        CHECK_OK(wadi_render_plan_open(&plan, run, &def, &error), error);
        CHECK_OK(wadi_render_shot_survey(&plan, &shot, &error), error);
        assert_int_equal(shot.has_bed, cases[n].has_bed);
        if (shot.has_bed) {
            CHECK_NEAR(shot.bed.height, 0.2, 0.02);
        }
        wadi_render_plan_close(&plan);
    }
}

/* Glass appears where the water of a run stands against a side, as high as the run reaches: the ball of
 * water of RUN_SCENE is 0.35 m away from the nearest. */
static void tanks_have_glass(void **unused)
{
    (void)unused;
    static const char *const tank =
        "- {material: water, shape: {box: {min: [0.6, 0, 0], max: [1, 0.4, 0.3]}}}\n";
    static const struct {
        const char *bodies, *set;
        bool has_glass;
    } cases[] = {
        { "", "render={walls: auto}", false },
        { "tank", "render={walls: auto}", true },
        { "tank", "render={walls: hidden}", false },
        { "tank", "render={exposure: 0}", false }, /* not asked for */
        { "tank", "render={walls: auto, ground: water}", false },
        { "tank", "render={walls: auto, ground: sand}", false },
        { "", "render={walls: glass}", true },
        { "tank", "render={walls: auto, camera: {from: [0.5, 0.5, 0.9], to: [1, 1, 0]}}", false },
        { "tank", "render={walls: auto, camera: {from: [3, -3, 2], to: [0.5, 0.5, 0]}}", true },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char name[16];
        snprintf(name, sizeof name, "glass%zu", n);
        const char *run = run_make(name, cases[n].bodies[0] != 0 ? tank : "");
        WadiRenderDef def = small_def();
        def.sets = &cases[n].set;
        def.set_count = 1;
        WadiRenderPlan plan;
        WadiError error = { 0 };
        WadiRenderShot shot;
        CHECK_OK(wadi_render_plan_open(&plan, run, &def, &error), error);
        CHECK_OK(wadi_render_shot_survey(&plan, &shot, &error), error);
        CHECK_OK(wadi_render_shot_set(&plan, &shot, &error), error);
        assert_int_equal(plan.view.scene->render.walls == WADI_RENDER_WALLS_GLASS, cases[n].has_glass);
        if (n ==
            1) { /* the ball's top is at 0.75 m, less half a percent of the particles, plus 3 % of the box */
            CHECK_NEAR(plan.frame_scene.walls_height, 0.75, 0.06);
        }
        wadi_render_plan_close(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beds_of_sand_go_on),
        cmocka_unit_test(tanks_have_glass),
        cmocka_unit_test(test_a_picture_for_each_frame_and_what_is_kept),
        cmocka_unit_test(test_same_bytes_for_any_threads),
        cmocka_unit_test(test_one_frame_alone_is_the_same),
        cmocka_unit_test(test_the_camera_does_not_follow_strays),
        cmocka_unit_test(test_a_hidden_material_is_not_framed),
        cmocka_unit_test(test_a_camera_inside_a_collider),
        cmocka_unit_test(test_an_empty_frame),
        cmocka_unit_test(test_stop_and_go_on),
        cmocka_unit_test(test_one_scale_for_all_frames),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
