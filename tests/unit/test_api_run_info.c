/* A run's information as a struct: what the run reported and what run.json says; and one kind of progress for
 * all long calls. */
#include "io/files/files.h"
#include "io_scratch.h"
#include "scene_sim.h"

/* The body lies half outside, of which a warning tells; the drain takes some of it. */
static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 10\nframes: 4\nfps: 40\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.6, 0.2, 0.1]}}}\n"
    "drains: [{shape: {box: {min: [0.3, 0.1, 0], max: [0.4, 0.2, 0.02]}}}]\n";

typedef struct Seen {
    int calls, first_frame, last_done, frame_count, files;
    char stage[16];
} Seen;

static void see(void *user, const WadiProgress *progress)
{
    Seen *seen = user;
    assert_true(progress->frames_done >= seen->last_done);
    assert_true(progress->frames_done <= progress->frame_count);
    assert_non_null(progress->stage);
    snprintf(seen->stage, sizeof seen->stage, "%s", progress->stage);
    seen->calls += 1;
    seen->first_frame = progress->first_frame;
    seen->last_done = progress->frames_done;
    seen->frame_count = progress->frame_count;
    seen->files += progress->path != NULL && wadi_file_exists(progress->path);
}

static void check_seen(const Seen *seen, int first, int frames, int files, const char *stage)
{
    assert_int_equal(seen->first_frame, first);
    assert_int_equal(seen->last_done, frames);
    assert_int_equal(seen->frame_count, frames);
    assert_int_equal(seen->files, files);
    assert_string_equal(seen->stage, stage);
}

static const char *run_path(void)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/t.run", scratch);
    return path;
}

static void the_struct_says_what_the_run_reported(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    Seen seen = { 0 };
    WadiRunDef def = wadi_default_run_def();
    def.folder = run_path();
    def.threads = 2;
    def.progress = see;
    def.progress_user = &seen;
    WadiRunReport report;
    CHECK_OK(wadi_run(scene, &def, &report, &error), error);
    check_seen(&seen, 1, 4, 0, seen.stage);

    WadiRunInfo info;
    CHECK_OK(wadi_run_info_read(&info, run_path(), &error), error);
    assert_string_equal(info.name, "t");
    assert_string_equal(info.solver, "flip");
    assert_true(info.is_finished);
    assert_int_equal(info.frames, 4);
    assert_int_equal(info.frame_count, 4);
    assert_int_equal(info.threads, 2);
    CHECK_NEAR(info.fps, 40.0, 0.0);
    assert_int_equal(info.steps, report.steps);
    assert_true(info.state_hash == report.state_hash && info.state_hash != 0);
    assert_true(info.content_hash != 0);
    assert_int_equal(info.lost_particles, report.lost_particles);
    assert_int_equal(info.drained_particles, report.drained_particles);
    assert_true(info.drained_particles > 0);
    assert_int_equal(info.material_count, 2);
    assert_string_equal(info.materials[0].name, "sand");
    assert_string_equal(info.materials[1].name, "water");
    assert_int_equal(info.materials[0].particles + info.materials[1].particles, report.particles);
    assert_true(info.materials[0].particles > 0);
    assert_int_equal(info.warning_count, report.warning_count);
    assert_true(info.warning_count > 0);
    assert_non_null(strstr(info.warnings[0], "bod"));
    assert_true(info.stage_count > 5);
    double sum = 0.0;
    bool has_seed = false;
    for (int i = 0; i < info.stage_count; ++i) {
        sum += info.stages[i].seconds;
        has_seed |= strcmp(info.stages[i].name, "seed") == 0;
    }
    assert_true(has_seed);
    assert_true(sum > 0.0 && info.seconds > 0.0 && info.peak_rss_bytes > 0);
    CHECK_AT_MOST(fabs(info.drift_mass), 1e-6);
    wadi_run_info_release(&info);
    assert_null(info.name);
    wadi_run_info_release(&info);
    wadi_run_info_release(NULL);
    wadi_scene_destroy(scene);
}

static void surfaces_pictures_and_exports_tell_in_the_same_words(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    const char *small[] = { "render.width=32", "render.height=18" };
    Seen seen = { 0 };
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.first_frame = 2;
    surface.progress = see;
    surface.progress_user = &seen;
    CHECK_OK(wadi_surface(run_path(), &surface, NULL, &error), error);
    check_seen(&seen, 2, 3, 6, "surface"); /* two materials */

    seen = (Seen){ 0 };
    WadiRenderDef render = wadi_default_render_def();
    render.first_frame = 3;
    render.samples = 1;
    render.sets = small;
    render.set_count = 2;
    render.has_video = false;
    render.progress = see;
    render.progress_user = &seen;
    CHECK_OK(wadi_render(run_path(), &render, NULL, &error), error);
    check_seen(&seen, 3, 2, 2, "render");

    seen = (Seen){ 0 };
    WadiExportDef export = wadi_default_export_def();
    export.target = WADI_EXPORT_POV;
    export.last_frame = 2;
    export.progress = see;
    export.progress_user = &seen;
    CHECK_OK(wadi_export(run_path(), &export, NULL, &error), error);
    check_seen(&seen, 1, 2, 2, "export");
}

static void what_is_no_run_is_an_error(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiRunInfo info;
    assert_int_equal(wadi_run_info_read(&info, scratch_path("nothing"), &error), WADI_ERR_IO);
    assert_null(info.memory);
    assert_non_null(strstr(error.text, "run.json"));
    char path[700];
    snprintf(path, sizeof path, "%s/broken", scratch);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/broken/run.json", scratch);
    CHECK_OK(wadi_file_write(path, "{\"name\": ", 9, &error), error);
    assert_int_equal(wadi_run_info_read(&info, scratch_path("broken"), &error), WADI_ERR_FORMAT);
    assert_null(info.memory);
    assert_int_equal(info.material_count, 0);
    wadi_run_info_release(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_struct_says_what_the_run_reported),
        cmocka_unit_test(surfaces_pictures_and_exports_tell_in_the_same_words),
        cmocka_unit_test(what_is_no_run_is_an_error),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
