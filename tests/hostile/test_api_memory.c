/* The calls that work in memory, without memory and with bytes that are wrong: an error that says something,
 * no leak, no crash. */
#include "failing_alloc.h"
#include "io_scratch.h"
#include "scene_sim.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 6\nframes: 3\nfps: 100\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "emitters: [{material: sand, shape: {sphere: {center: [0.1, 0.1, 0.2], radius: 0.03}}, rate: 0.01}]\n";

/* Made with all memory, so that an attempt is the one call. */
static WadiSim *begin(WadiScene **scene)
{
    alloc_calls_left = INT_MAX;
    *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(*scene, 1);
    WadiError error = { 0 };
    CHECK_OK(wadi_sim_step(sim, &error), error);
    return sim;
}

static void end(WadiScene *scene, WadiSim *sim)
{
    alloc_calls_left = INT_MAX;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static WadiStatus save(int calls)
{
    WadiScene *scene;
    WadiSim *sim = begin(&scene);
    WadiBuffer buffer;
    alloc_calls_left = calls;
    WadiStatus status = wadi_sim_save(sim, &buffer, NULL);
    assert_true((status == WADI_OK) == (buffer.bytes != NULL) && (status == WADI_OK) == (buffer.size > 0));
    alloc_calls_left = INT_MAX;
    wadi_buffer_release(&buffer);
    end(scene, sim);
    return status;
}

static WadiStatus load(int calls)
{
    WadiError error = { 0 };
    WadiScene *scene;
    WadiSim *sim = begin(&scene), *loaded;
    WadiBuffer buffer;
    CHECK_OK(wadi_sim_save(sim, &buffer, &error), error);
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    alloc_calls_left = calls;
    WadiStatus status = wadi_sim_load(&loaded, scene, &def, buffer.bytes, buffer.size, &error);
    assert_true((status == WADI_OK) == (loaded != NULL));
    alloc_calls_left = INT_MAX;
    wadi_sim_destroy(loaded);
    wadi_buffer_release(&buffer);
    end(scene, sim);
    return status;
}

static WadiStatus wrap_sim(int calls)
{
    WadiScene *scene;
    WadiSim *sim = begin(&scene);
    WadiMeshDef def = wadi_default_mesh_def();
    def.threads = 1;
    WadiMeshData mesh;
    alloc_calls_left = calls;
    WadiStatus status = wadi_sim_surface(sim, &def, &mesh, NULL);
    assert_true((status == WADI_OK) == (mesh.triangle_count > 0) &&
                (status == WADI_OK) == (mesh.memory != NULL));
    alloc_calls_left = INT_MAX;
    wadi_mesh_release(&mesh);
    end(scene, sim);
    return status;
}

static WadiStatus wrap_particles(int calls)
{
    static const double position[6] = { 0.1, 0.1, 0.1, 0.11, 0.1, 0.1 };
    static const float heat[2] = { 1.0f, 2.0f };
    WadiScene *scene;
    WadiSim *sim = begin(&scene);
    WadiParticleData data = wadi_default_particle_data();
    data.count = 2;
    data.position = position;
    data.spacing = 0.06;
    data.attribute_count = 1;
    data.attribute[0] = (WadiMeshAttribute){ "heat", 1, heat };
    WadiMeshDef def = wadi_default_mesh_def();
    def.threads = 1;
    WadiMeshData mesh;
    alloc_calls_left = calls;
    WadiStatus status = wadi_particles_surface(scene, &data, &def, &mesh, NULL);
    assert_true((status == WADI_OK) == (mesh.triangle_count > 0));
    alloc_calls_left = INT_MAX;
    wadi_mesh_release(&mesh);
    end(scene, sim);
    return status;
}

static WadiStatus read_info(int calls)
{
    WadiRunInfo info;
    alloc_calls_left = calls;
    WadiStatus status = wadi_run_info_read(&info, scratch_path("t.run"), NULL);
    assert_true((status == WADI_OK) == (info.memory != NULL) && (status == WADI_OK) == (info.frames == 3));
    alloc_calls_left = INT_MAX;
    wadi_run_info_release(&info);
    return status;
}

static WadiStatus write_job(int calls)
{
    static const char *const options[] = { "--quality", "final" };
    WadiFarmDef def = wadi_default_farm_def();
    def.system = WADI_FARM_OPENJD;
    def.options = options;
    def.option_count = 2;
    WadiFarmReport report;
    alloc_calls_left = calls;
    WadiStatus status = wadi_farm(scratch_path("t.run"), &def, &report, NULL);
    alloc_calls_left = INT_MAX;
    assert_true((status == WADI_OK) == (report.tasks == 3));
    return status;
}

static WadiStatus wrap_shared(int calls)
{
    WadiSurfaceDef def = wadi_default_surface_def();
    WadiSurfaceReport report;
    def.threads = 1;
    def.is_shared = true;
    alloc_calls_left = calls;
    WadiStatus status = wadi_surface(scratch_path("t.run"), &def, &report, NULL);
    alloc_calls_left = INT_MAX;
    assert_int_equal(scratch_count(scratch_path("t.run/surface"), ".wadi-claim"), 0);
    return status;
}

static void make_run(void)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiRunDef def = wadi_default_run_def();
    def.folder = scratch_path("t.run");
    def.threads = 1;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    wadi_scene_destroy(scene);
}

static void without_memory_nothing_is_left_behind(void **unused)
{
    (void)unused;
    make_run();
    assert_true(failures_until_it_works(save) > 10);
    assert_true(failures_until_it_works(load) > 30);
    assert_true(failures_until_it_works(wrap_sim) > 20);
    assert_true(failures_until_it_works(wrap_particles) > 20);
    assert_true(failures_until_it_works(read_info) > 10);
    assert_true(failures_until_it_works(write_job) > 10);
    assert_true(failures_until_it_works(wrap_shared) > 50);
}

/* What bytes become: refused with words, or a simulation that steps. Returns whether they were refused. */
static bool is_refused(const WadiScene *scene, const unsigned char *bytes, size_t size)
{
    WadiError error = { 0 };
    WadiSim *sim = NULL;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    /* Exactly as long as said, so that a sanitizer sees a read past the end. */
    unsigned char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    WadiStatus status = wadi_sim_load(&sim, scene, &def, copy, size, &error);
    free(copy);
    if (status == WADI_OK) {
        assert_non_null(sim);
        (void)wadi_sim_step(sim, &error);
    } else {
        assert_null(sim);
        assert_true(status == WADI_ERR_FORMAT || status == WADI_ERR_UNSUPPORTED);
        assert_true(error.text[0] != '\0');
    }
    wadi_sim_destroy(sim);
    return status != WADI_OK;
}

static void damaged_bytes_are_refused(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene;
    WadiSim *sim = begin(&scene);
    WadiBuffer good;
    CHECK_OK(wadi_sim_save(sim, &good, &error), error);
    assert_false(is_refused(scene, good.bytes, good.size));
    const size_t live = wadi_alloc_live_bytes();

    /* Cut at every length in the header and then some, and too long. */
    for (size_t size = 0; size < good.size; size += size < 10000 ? 61 : 4099) {
        assert_true(is_refused(scene, good.bytes, size));
    }
    assert_true(is_refused(scene, good.bytes, good.size - 1));
    unsigned char *bytes = malloc(good.size + 1);
    assert_non_null(bytes);
    memcpy(bytes, good.bytes, good.size);
    bytes[good.size] = 0;
    assert_true(is_refused(scene, bytes, good.size + 1));

    /* One bit of the table or of an array: hashes see all of it but the gaps between arrays. */
    size_t refused = 0, tried = 0;
    for (size_t i = 0; i < good.size; i += i < 10000 ? 53 : 509) {
        bytes[i] ^= (unsigned char)(1u << (i % 8));
        refused += is_refused(scene, bytes, good.size);
        bytes[i] = good.bytes[i];
        ++tried;
    }
    print_message("%zu of %zu changed bits refused\n", refused, tried);
    assert_true(refused > tried * 9 / 10);

    /* Noise of any length. */
    for (size_t size = 0; size < 20000; size += 997) {
        for (size_t i = 0; i < size && i < good.size; ++i) {
            bytes[i] = (unsigned char)wadi_random_bits(7, i, (WadiRandomPurpose)(size % 7));
        }
        assert_true(is_refused(scene, bytes, size < good.size ? size : good.size));
    }
    free(bytes);
    assert_int_equal(wadi_alloc_live_bytes(), live);
    WadiSim *loaded = sim;
    WadiSimDef def = wadi_default_sim_def();
    assert_int_equal(wadi_sim_load(&loaded, scene, &def, NULL, 10, &error), WADI_ERR_ARGUMENT);
    assert_null(loaded);
    assert_int_equal(wadi_sim_load(&loaded, scene, &def, NULL, 0, &error), WADI_ERR_FORMAT);
    wadi_buffer_release(&good);
    end(scene, sim);
}

/* A frame file is whole and no checkpoint. */
static void a_frame_is_no_checkpoint(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiState state = { 0 };
    CHECK_OK(scratch_fill(&state, 40, 3, &error), error);
    unsigned char *bytes = NULL;
    size_t size = 0;
    WadiFrameHeader header = { .frame = 1, .fps = 24.0, .name = "t" };
    CHECK_OK(wadi_frame_bytes_write(&bytes, &size, "particles", &header, &state, &error), error);
    WadiScene *scene;
    WadiSim *sim = begin(&scene), *loaded;
    WadiSimDef def = wadi_default_sim_def();
    assert_int_equal(wadi_sim_load(&loaded, scene, &def, bytes, size, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "wadi-frame 1"));
    WADI_DELETE(bytes, size);
    wadi_state_free(&state);
    end(scene, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_nothing_is_left_behind),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(a_frame_is_no_checkpoint),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
