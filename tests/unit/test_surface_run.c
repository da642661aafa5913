/* wadi_surface on whole runs: which files there are, what is kept, what is refused, and that bytes do not
 * depend on threads. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "expect.h"
#include "io/files/files.h"
#include "stop_flag.h"
#include "surface/mesh/surface_mesh.h"
#include "surface_run.h"

static uint64_t file_hash(const char *run, const char *name)
{
    char path[2048];
    char *bytes = NULL;
    size_t size = 0;
    WadiError error = { 0 };
    snprintf(path, sizeof path, "%s/surface/%s", run, name);
    CHECK_OK(wadi_file_read(path, 1 << 28, &bytes, &size, &error), error);
    uint64_t hash = wadi_hash_bytes(0, bytes, size);
    wadi_free(bytes, size + 1, 1);
    return hash;
}

static WadiSurfaceFacts facts_of(const char *run, const char *name)
{
    char path[2048];
    WadiMesh mesh = { 0 };
    WadiSurfaceFacts facts;
    WadiError error = { 0 };
    snprintf(path, sizeof path, "%s/surface/%s", run, name);
    CHECK_OK(wadi_mesh_read(&mesh, path, &error), error);
    CHECK_OK(wadi_surface_facts(&facts, &mesh, &error), error);
    wadi_mesh_free(&mesh);
    return facts;
}

static WadiSurfaceReport make(const char *run, const WadiSurfaceDef *def)
{
    WadiSurfaceReport report;
    WadiError error = { 0 };
    CHECK_OK(wadi_surface(run, def, &report, &error), error);
    return report;
}

static void test_a_mesh_for_each_material_and_frame(void **state)
{
    (void)state;
    const char *run = run_make("a.run", "");
    WadiSurfaceDef def = wadi_default_surface_def();
    WadiSurfaceReport report = make(run, &def);
    assert_int_equal(report.frames, RUN_FRAMES);
    assert_int_equal(report.files, 3 * RUN_FRAMES);
    assert_int_equal(report.kept, 0);
    assert_true(report.triangles > 0 && report.particles > 0);
    assert_int_equal(scratch_count(report.folder, ".ply"), 3 * RUN_FRAMES);
    assert_int_equal(scratch_count(report.folder, "tmp"), 0);

    /* The sand lies against three walls: nothing of the mesh is beyond them, and nothing is far from the
     * box. */
    WadiSurfaceFacts sand = facts_of(run, "sand.0001.ply");
    assert_true(sand.is_closed && sand.is_manifold && sand.is_oriented);
    assert_true(sand.bounds.min.x >= 0.0 && sand.bounds.min.y >= 0.0 && sand.bounds.min.z >= 0.0);
    CHECK_NEAR(sand.bounds.min.x, 0.0, 1e-3);
    CHECK_NEAR(sand.bounds.max.x, 0.3, 0.025);
    /* Its three free sides lie within half a spacing of 0.025 m of where the body ended. */
    assert_true(sand.volume > 0.2875 * 0.2875 * 0.1875 && sand.volume < 0.3125 * 0.3125 * 0.2125);

    def.is_forced = true;
    make(run, &def);
    def.is_forced = false;
    report = make(run, &def);
    assert_int_equal(report.files, 0);
    assert_int_equal(report.kept, 3 * RUN_FRAMES);
}

static void test_changes_are_made_again_and_only_they(void **state)
{
    (void)state;
    const char *run = run_make("b.run", "");
    WadiSurfaceDef def = wadi_default_surface_def();
    make(run, &def);
    uint64_t before = file_hash(run, "sand.0002.ply");

    const char *const sets[] = { "surface.reach=2.5" };
    def.sets = sets;
    def.set_count = 1;
    assert_int_equal(make(run, &def).files, 3 * RUN_FRAMES);
    assert_true(file_hash(run, "sand.0002.ply") != before);
    def.set_count = 0;
    assert_int_equal(make(run, &def).files, 3 * RUN_FRAMES);
    assert_true(file_hash(run, "sand.0002.ply") == before);

    run_spoil(run, 3, "position", 0, 0.01);
    WadiSurfaceReport report = make(run, &def);
    assert_int_equal(report.files, 3);
    assert_int_equal(report.kept, 3 * (RUN_FRAMES - 1));

    def.formats = WADI_SURFACE_PLY | WADI_SURFACE_OBJ;
    report = make(run, &def);
    assert_int_equal(report.files, 3 * RUN_FRAMES);
    assert_int_equal(report.kept, 3 * RUN_FRAMES);
}

static void test_same_bytes_for_any_threads(void **state)
{
    (void)state;
    const char *run = run_make("c.run", "surface: {walls: open, mesh_smoothing: 2, fix_concave: true}\n");
    static const char *const names[3] = { "sand.0001.ply", "water.0004.ply", "water.0004.obj" };
    uint64_t expected[3];
    const int threads[3] = { 1, 2, 5 };
    for (int t = 0; t < 3; ++t) {
        WadiSurfaceDef def = wadi_default_surface_def();
        def.formats = WADI_SURFACE_PLY | WADI_SURFACE_OBJ;
        def.is_forced = true;
        def.threads = threads[t];
        /* All frames: several at once. One frame: several threads in it. */
        make(run, &def);
        for (int one = 0; one < 2; ++one) {
            for (int n = 0; n < 3; ++n) {
                uint64_t hash = file_hash(run, names[n]);
                expected[n] = t == 0 && one == 0 ? hash : expected[n];
                assert_true(hash == expected[n]);
            }
            def.first_frame = def.last_frame = 4;
            make(run, &def);
        }
    }
}

static void test_open_walls(void **state)
{
    (void)state;
    const char *run = run_make("d.run", "surface: {walls: open}\n");
    WadiSurfaceDef def = wadi_default_surface_def();
    make(run, &def);
    assert_false(facts_of(run, "sand.0001.ply").is_closed);
    assert_true(facts_of(run, "water.0001.ply").is_closed);
}

/* Water that flies at 2 m/s, 100 frames a second: half a frame later it is a centimetre further. */
static void test_subframe(void **state)
{
    (void)state;
    const char *run = run_make("e.run", "");
    WadiSurfaceDef def = wadi_default_surface_def();
    def.material = "water";
    assert_int_equal(make(run, &def).files, RUN_FRAMES);
    def.subframe = 0.5;
    assert_int_equal(make(run, &def).files, RUN_FRAMES);
    WadiSurfaceFacts whole = facts_of(run, "water.0001.ply");
    WadiSurfaceFacts half = facts_of(run, "water.s500.0001.ply");
    CHECK_NEAR(0.5 * (half.bounds.min.x + half.bounds.max.x),
               0.5 * (whole.bounds.min.x + whole.bounds.max.x) + 0.01, 0.002);
    def.subframe = 0.5000001;
    assert_int_equal(make(run, &def).kept, RUN_FRAMES);
}

static void test_joined(void **state)
{
    (void)state;
    const char *run = run_make("f.run", "surface: {materials: joined}\n");
    WadiSurfaceDef def = wadi_default_surface_def();
    assert_int_equal(make(run, &def).files, RUN_FRAMES);
    assert_int_equal(facts_of(run, "joined.0001.ply").parts, 2);
    def.material = "sand";
    WadiError error = { 0 };
    assert_int_equal(wadi_surface(run, &def, NULL, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "joined"));
}

static void test_a_material_without_particles(void **state)
{
    (void)state;
    const char *run = run_make("g.run", "");
    WadiSurfaceDef def = wadi_default_surface_def();
    def.material = "none";
    def.formats = WADI_SURFACE_PLY | WADI_SURFACE_OBJ;
    WadiSurfaceReport report = make(run, &def);
    assert_int_equal(report.files, 2 * RUN_FRAMES);
    assert_int_equal(report.triangles, 0);
    const char *const names[2] = { "none.0001.ply", "none.0001.obj" };
    for (int i = 0; i < 2; ++i) {
        char path[2048], *text = NULL;
        WadiError error = { 0 };
        snprintf(path, sizeof path, "%s/surface/%s", run, names[i]);
        CHECK_OK(wadi_describe(path, true, &text, &error), error);
        assert_non_null(strstr(text, "\"triangles\": 0, \"vertices\": 0, \"parts\": 0"));
        wadi_text_release(text);
    }
}

static void expect(const char *run, const WadiSurfaceDef *def, WadiStatus status, const char *text)
{
    WadiError error = { 0 };
    assert_int_equal(wadi_surface(run, def, NULL, &error), status);
    if (strstr(error.text, text) == NULL) {
        print_error("expected '%s' in: %s\n", text, error.text);
        fail();
    }
}

static void test_what_is_wrong_with_a_call(void **state)
{
    (void)state;
    const char *run = run_make("h.run", "");
    WadiSurfaceDef def = { 0 };
    expect(run, &def, WADI_ERR_ARGUMENT, "wadi_default_surface_def");
    def = wadi_default_surface_def();
    expect(scratch_path("nowhere.run"), &def, WADI_ERR_IO, "no such run folder");
    expect(scratch, &def, WADI_ERR_IO, "run.json");
    def.material = "sandd";
    expect(run, &def, WADI_ERR_ARGUMENT, "no material 'sandd'");
    def.material = NULL;
    def.subframe = 1.5;
    expect(run, &def, WADI_ERR_ARGUMENT, "subframe");
    def.subframe = NAN;
    expect(run, &def, WADI_ERR_ARGUMENT, "subframe");
    def.subframe = 0.0;
    def.formats = 0;
    expect(run, &def, WADI_ERR_ARGUMENT, "format");
    def.formats = WADI_SURFACE_PLY;
    def.first_frame = 3;
    def.last_frame = RUN_FRAMES + 1;
    expect(run, &def, WADI_ERR_ARGUMENT, "has frames up to 4");
    def.first_frame = def.last_frame = 0;

    const char *sets[1] = { "surface.method=anisotopic" };
    def.sets = sets;
    def.set_count = 1;
    expect(run, &def, WADI_ERR_SCENE, "did you mean 'anisotropic'?");
    sets[0] = "surface.cell_size=0";
    expect(run, &def, WADI_ERR_SCENE, "out of range");
    sets[0] = "surface.radius=-1";
    expect(run, &def, WADI_ERR_SCENE, "out of range");
    sets[0] = "resolution=3";
    expect(run, &def, WADI_ERR_SCENE, "only what does not change it");
    sets[0] = "surface.cell_size=1e-7";
    expect(run, &def, WADI_ERR_MEMORY, "surface.cell_size=");
    expect(run, &def, WADI_ERR_MEMORY, "two.0001.h5");
}

static void test_frames_that_are_broken(void **state)
{
    (void)state;
    const char *run = run_make("i.run", "");
    WadiSurfaceDef def = wadi_default_surface_def();
    def.threads = 1;
    run_spoil(run, 3, "position", 3 * 7 + 1, NAN);
    expect(run, &def, WADI_ERR_NUMERIC, "two.0003.h5: particle ");
    assert_int_equal(scratch_count(scratch_path("i.run/surface"), ".ply"), 3 * 2);

    char path[2048];
    run_frame_path(path, run, 2);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - 100), 0);
    def.is_forced = true;
    expect(run, &def, WADI_ERR_FORMAT, "two.0002.h5");
    assert_int_equal(unlink(path), 0);
    expect(run, &def, WADI_ERR_IO, "two.0002.h5");
    def.first_frame = def.last_frame = 4;
    assert_int_equal(make(run, &def).frames, 1);
}

typedef struct Watch {
    int calls, last_frame;
    atomic_bool stop;
} Watch;

static void stop_after_one(void *user, const WadiProgress *progress)
{
    Watch *watch = user;
    assert_true(progress->frame >= watch->last_frame);
    assert_true(wadi_file_exists(progress->path));
    watch->last_frame = progress->frame;
    watch->calls += 1;
    watch->stop = true;
}

static void test_stop(void **state)
{
    (void)state;
    const char *run = run_make("j.run", "");
    Watch watch = { 0 };
    WadiSurfaceDef def = wadi_default_surface_def();
    def.progress = stop_after_one;
    def.progress_user = &watch;
    watch.stop = true;
    def.stop = stop_when(&watch.stop);
    WadiSurfaceReport report;
    WadiError error = { 0 };
    assert_int_equal(wadi_surface(run, &def, &report, &error), WADI_ERR_STOPPED);
    assert_int_equal(watch.calls, 0);
    assert_int_equal(report.files, 0);
    def.stop = (WadiStop){ 0 };
    report = make(run, &def);
    assert_int_equal(watch.calls, 3 * RUN_FRAMES);
    assert_int_equal(watch.last_frame, RUN_FRAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mesh_for_each_material_and_frame),
        cmocka_unit_test(test_changes_are_made_again_and_only_they),
        cmocka_unit_test(test_same_bytes_for_any_threads),
        cmocka_unit_test(test_open_walls),
        cmocka_unit_test(test_subframe),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_a_material_without_particles),
        cmocka_unit_test(test_what_is_wrong_with_a_call),
        cmocka_unit_test(test_frames_that_are_broken),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
