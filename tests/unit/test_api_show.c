/* What viewers are given: facts, names of quantities, meshes of colliders, frames of runs. */
#include "io_scratch.h"
#include "scene_sim.h"
#include "wadi/change.h"
#include "wadi/show.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\ncell_size: 0.05\nframes: 3\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4], walls: {friction: 0.25}}\n"
    "gravity: {keys: [[0, [0, 0, -10]], [1, [0, 0, -20]]]}\n"
    "materials: {sand: {kind: sand, friction_angle: 31}, water: {kind: water, viscosity: 2}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.15, 0.3, 0.15]}}}]\n"
    "colliders:\n"
    "  - {name: block, shape: {box: {min: [0.3, 0.1, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "  - {name: lift, shape: {sphere: {center: [0.5, 0.15, 0.1], radius: 0.05}, translate: {keys: [[0, [0, "
    "0, 0]],"
    " [0.02, [0, 0, 0.1]]]}}}\n"
    "  - {shape: {difference: [{box: {min: [0, 0, 0.3], max: [0.2, 0.3, 0.4]}}, {sphere: {center: [0.1, 0.1, "
    "0.4], "
    "radius: 0.05}}]}}\n";

static void facts_are_those_of_the_time_and_after_changes(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    char *json = NULL;
    CHECK_OK(wadi_scene_facts(scene, 0.5, &json, &error), error);
    static const char *const parts[] = { "\"name\": \"t\"",
                                         "\"gravity\": [0, 0, -15]",
                                         "\"friction_angle\": 31",
                                         "\"viscosity\": 2",
                                         "\"wall_friction\": 0.25",
                                         "\"spacing\": 0.025",
                                         "\"colliders\": [{\"name\": \"block\"}, {\"name\": \"lift\"}" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        if (strstr(json, parts[i]) == NULL) {
            fail_msg("%s is not in %s", parts[i], json);
        }
    }
    wadi_text_release(json);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_set(sim, "materials.sand.friction_angle=12", &error), error);
    CHECK_OK(wadi_scene_facts(wadi_sim_scene(sim), 0.0, &json, &error), error);
    assert_non_null(strstr(json, "\"friction_angle\": 12"));
    wadi_text_release(json);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void every_named_quantity_can_be_viewed(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    int count = 0;
    bool has_velocity = false, has_density = false;
    for (const char *name; (name = wadi_sim_view_name(sim, count)) != NULL; ++count) {
        WadiView view;
        CHECK_OK(wadi_sim_view(sim, name, &view, &error), error);
        assert_int_equal(view.count, wadi_sim_particle_count(sim));
        has_velocity |= strcmp(name, "velocity") == 0;
        has_density |= strcmp(name, "density") == 0;
    }
    assert_true(count >= 6 && has_velocity && has_density);
    assert_null(wadi_sim_view_name(sim, -1));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void box_of(const WadiMeshData *mesh, double low[3], double high[3])
{
    for (size_t c = 0; c < 3; ++c) {
        low[c] = INFINITY, high[c] = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            low[c] = fmin(low[c], mesh->position[3 * v + c]);
            high[c] = fmax(high[c], mesh->position[3 * v + c]);
        }
    }
    for (size_t t = 0; t < 3 * mesh->triangle_count; ++t) {
        assert_true(mesh->triangle[t] < mesh->vertex_count);
    }
}

static void colliders_have_meshes_where_they_are(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    WadiMeshData mesh;
    double low[3], high[3];
    CHECK_OK(wadi_sim_collider_mesh(sim, 0, &mesh, &error), error);
    box_of(&mesh, low, high);
    CHECK_NEAR(low[0], 0.3, 1e-12);
    CHECK_NEAR(high[2], 0.1, 1e-12);
    wadi_mesh_release(&mesh);
    assert_false(wadi_sim_collider_moves(sim, 0));
    assert_true(wadi_sim_collider_moves(sim, 1));
    run_frames(sim, 2); /* 0.04 s: the ball is up and rests */
    CHECK_OK(wadi_sim_collider_mesh(sim, 1, &mesh, &error), error);
    box_of(&mesh, low, high);
    CHECK_NEAR(high[2], 0.25, 2e-3);
    wadi_mesh_release(&mesh);
    assert_false(wadi_sim_collider_moves(sim, 1));
    CHECK_OK(wadi_sim_collider_mesh(sim, 2, &mesh, &error), error);
    assert_true(mesh.triangle_count > 12);
    wadi_mesh_release(&mesh);
    assert_int_equal(wadi_sim_collider_mesh(sim, 3, &mesh, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(wadi_sim_collider_mesh(sim, -1, &mesh, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(mesh.vertex_count, 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static double volume_of(const WadiMeshData *mesh)
{
    double volume = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const double *p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = mesh->position + 3 * mesh->triangle[3 * t + (size_t)k];
        }
        volume += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                   p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                   p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
                  6.0;
    }
    return volume;
}

static int count_on_plane(const WadiMeshData *mesh, int axis, double at)
{
    int count = 0;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        count += fabs(mesh->position[3 * v + (size_t)axis] - at) < 1e-9;
    }
    return count;
}

/* A tray of 8 mm walls on cells of 50 mm: all four have an outer and an inner face, wherever the tray is
 * on the grid, and the volume is that of two boxes. */
static void thin_walls_of_cut_shapes_are_all_there(void **unused)
{
    (void)unused;
    const double wall = 0.008, low[3] = { 0.1, 0.1, 0.0 }, size[3] = { 0.4, 0.3, 0.2 };
    for (int i = 0; i < 6; ++i) {
        const double at = 0.009 * i;
        char text[900];
        WadiError error = { 0 };
        WadiMeshData mesh;
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: points\ncell_size: 0.05\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                 "materials: {sand: {kind: sand}}\n"
                 "bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.8], radius: 0.1}}}]\n"
                 "colliders: [{shape: {translate: [%g, %g, 0], difference: [{box: {min: [0.1, 0.1, 0], max: "
                 "[0.5, 0.4, "
                 "0.2]}}, {box: {min: [0.108, 0.108, 0.008], max: [0.492, 0.392, 1]}}]}}]\n",
                 at, at);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        CHECK_OK(wadi_sim_collider_mesh(sim, 0, &mesh, &error), error);
        for (int axis = 0; axis < 2; ++axis) {
            assert_true(count_on_plane(&mesh, axis, at + low[axis]) > 5);
            assert_true(count_on_plane(&mesh, axis, at + low[axis] + wall) > 5);
            assert_true(count_on_plane(&mesh, axis, at + low[axis] + size[axis]) > 5);
            assert_true(count_on_plane(&mesh, axis, at + low[axis] + size[axis] - wall) > 5);
        }
        const double exact =
            size[0] * size[1] * size[2] - (size[0] - 2 * wall) * (size[1] - 2 * wall) * (size[2] - wall);
        CHECK_NEAR(volume_of(&mesh), exact, 0.1 * exact);
        wadi_mesh_release(&mesh);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void a_reader_has_the_particles_of_the_run(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiRunDef def = wadi_default_run_def();
    char run[600];
    snprintf(run, sizeof run, "%s/show.run", scratch);
    def.folder = run;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 1);
    WadiRunReader *reader = NULL;
    CHECK_OK(wadi_run_reader_open(&reader, run, &error), error);
    assert_int_equal(wadi_run_reader_frames(reader), 3);
    assert_string_equal(wadi_scene_name(wadi_run_reader_scene(reader)), "t");
    WadiView found, expected;
    assert_int_equal(wadi_run_reader_view(reader, "position", &found, &error), WADI_ERR_ARGUMENT);
    CHECK_OK(wadi_run_reader_read(reader, 2, &error), error);
    CHECK_NEAR(wadi_run_reader_time(reader), 0.02, 1e-12);
    CHECK_OK(wadi_run_reader_view(reader, "position", &found, &error), error);
    CHECK_OK(wadi_sim_view(sim, "position", &expected, &error), error);
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; ++i) {
        for (int c = 0; c < 3; ++c) {
            const void *a = (const char *)found.data[c] + i * found.stride;
            const void *b = (const char *)expected.data[c] + i * expected.stride;
            assert_memory_equal(a, b, sizeof(double));
        }
    }
    WadiMeshData mesh;
    CHECK_OK(wadi_run_reader_collider_mesh(reader, 0, &mesh, &error), error);
    assert_int_equal(mesh.triangle_count, 12);
    wadi_mesh_release(&mesh);
    assert_true(wadi_run_reader_read(reader, 4, &error) != WADI_OK);
    assert_true(wadi_run_reader_read(reader, 0, &error) != WADI_OK);
    assert_int_equal(wadi_run_reader_frame(reader), 2); /* the one before stays */
    CHECK_OK(wadi_run_reader_view(reader, "position", &found, &error), error);
    assert_int_equal(found.count, expected.count);
    wadi_run_reader_close(reader);
    assert_int_equal(wadi_run_reader_open(&reader, "/nonexistent", &error), WADI_ERR_IO);
    assert_null(reader);
    wadi_run_reader_close(NULL);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_those_of_the_time_and_after_changes),
        cmocka_unit_test(every_named_quantity_can_be_viewed),
        cmocka_unit_test(colliders_have_meshes_where_they_are),
        cmocka_unit_test(thin_walls_of_cut_shapes_are_all_there),
        cmocka_unit_test(a_reader_has_the_particles_of_the_run),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
