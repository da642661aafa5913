/* Surfaces in memory: of a simulation, the mesh that a run's frame gives; of the caller's particles, the
 * volume that they fill. */
#include "core/alloc.h"
#include "io_scratch.h"
#include "scene_sim.h"
#include "stop_flag.h"
#include "surface/surface_frame.h"
#include "world/scene.h"

/* Turned away from the axes by its shapes, with two materials and a wall that both touch. */
static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 16\nframes: 3\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "surface: {method: zhu_bridson, mesh_smoothing: 2}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.3, 0.15]}, rotate: [0, 20, 0]}}\n"
    "  - {material: water, shape: {sphere: {center: [0.4, 0.15, 0.2], radius: 0.12}}}\n";

/* What a frame file of the run gives, by the stages themselves. */
static void build_from_file(const char *path, const WadiScene *scene, int material, double advance,
                            WadiSurfaceMesh *mesh)
{
    WadiError error = { 0 };
    WadiFrameHeader header;
    WadiState frame = { 0 };
    CHECK_OK(wadi_frame_file_read(path, "particles", &header, &frame, &error), error);
    WadiCloud cloud;
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, material, advance, &error), error);
    WadiArena arena = { 0 };
    WadiStageTimes times = { 0 };
    WadiSurfaceFrame built;
    WadiSurfaceFrameDef def = wadi_surface_frame_def(scene);
    CHECK_OK(wadi_surface_frame_build(&built, &cloud, &def, &arena, &times, &error), error);
    *mesh = built.surface;
    wadi_arena_free(&arena);
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

static void check_same(const WadiMeshData *mesh, const WadiSurfaceMesh *expected)
{
    assert_true(mesh->triangle_count > 100);
    assert_int_equal(mesh->vertex_count, expected->mesh.vertex_count);
    assert_int_equal(mesh->triangle_count, expected->mesh.triangle_count);
    assert_memory_equal(mesh->position, expected->mesh.vertices, mesh->vertex_count * 3 * sizeof(double));
    assert_memory_equal(mesh->normal, expected->normal, mesh->vertex_count * 3 * sizeof(float));
    assert_memory_equal(mesh->triangle, expected->mesh.triangles,
                        mesh->triangle_count * 3 * sizeof(uint32_t));
    assert_int_equal(mesh->attribute_count, expected->attribute_count);
    assert_true(mesh->attribute_count >= 3);
    for (int a = 0; a < mesh->attribute_count; ++a) {
        assert_string_equal(mesh->attribute[a].name, expected->attribute[a].name);
        assert_int_equal(mesh->attribute[a].components, expected->attribute[a].components);
        assert_memory_equal(mesh->attribute[a].values, expected->attribute[a].values,
                            mesh->vertex_count * (size_t)mesh->attribute[a].components * sizeof(float));
    }
}

static void a_simulation_gives_the_mesh_of_the_runs_frame(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiRunDef run_def = wadi_default_run_def();
    char run[600], path[1200];
    snprintf(run, sizeof run, "%s/t.run", scratch);
    run_def.folder = run;
    run_def.threads = 1;
    CHECK_OK(wadi_run(scene, &run_def, NULL, &error), error);
    wadi_run_frame_path(path, sizeof path, run, "t", 3);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    const char *materials[] = { "sand", "water", NULL };
    for (int n = 0; n < 3; ++n) {
        const double advance = n == 1 ? 0.01 : 0.0;
        WadiSurfaceMesh expected;
        build_from_file(path, scene, n < 2 ? n : -1, advance, &expected);
        for (int threads = 1; threads <= 5; threads += 2) {
            WadiMeshDef def = wadi_default_mesh_def();
            def.material = materials[n];
            def.advance = advance;
            def.threads = threads;
            WadiMeshData mesh;
            CHECK_OK(wadi_sim_surface(sim, &def, &mesh, &error), error);
            check_same(&mesh, &expected);
            wadi_mesh_release(&mesh);
            assert_null(mesh.position);
        }
        wadi_surface_mesh_free(&expected);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Sum of the tetrahedra between the origin and the triangles: the volume of a closed mesh. */
static double volume_of(const WadiMeshData *mesh)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const double *a = mesh->position + 3 * mesh->triangle[3 * t],
                     *b = mesh->position + 3 * mesh->triangle[3 * t + 1],
                     *c = mesh->position + 3 * mesh->triangle[3 * t + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6.0;
}

enum { SIDE = 24, MOST = SIDE * SIDE * SIDE };
static double position[3 * MOST];
static float heat[MOST], velocity[3 * MOST];
static uint8_t material[MOST];

/* A ball of points on a lattice; `heat` is the height above its middle. */
static size_t make_ball(double spacing, const double center[3], double radius)
{
    size_t count = 0;
    for (int n = 0; n < MOST; ++n) {
        const int at[3] = { n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE) };
        double x[3], squared = 0.0;
        for (int c = 0; c < 3; ++c) {
            x[c] = (at[c] - 0.5 * (SIDE - 1)) * spacing;
            squared += x[c] * x[c];
        }
        if (squared <= radius * radius) {
            for (int c = 0; c < 3; ++c) {
                position[3 * count + (size_t)c] = center[c] + x[c];
                velocity[3 * count + (size_t)c] = (float)c;
            }
            material[count] = 1;
            heat[count++] = (float)x[2];
        }
    }
    return count;
}

static WadiParticleData ball_data(size_t count, double spacing)
{
    WadiParticleData data = wadi_default_particle_data();
    data.count = count;
    data.position = position;
    data.velocity = velocity;
    data.spacing = spacing;
    data.material = material;
    data.attribute_count = 1;
    data.attribute[0] = (WadiMeshAttribute){ "heat", 1, heat };
    return data;
}

static const WadiMeshAttribute *find(const WadiMeshData *mesh, const char *name)
{
    for (int a = 0; a < mesh->attribute_count; ++a) {
        if (strcmp(mesh->attribute[a].name, name) == 0) {
            return &mesh->attribute[a];
        }
    }
    fail_msg("no attribute %s", name);
    return NULL;
}

static void points_in_a_ball_become_a_ball(void **unused)
{
    (void)unused;
    static const struct {
        double spacing, center[3];
    } cases[] = { { 0.01, { 0.3, 0.15, 0.2 } },
                  { 0.02, { 0.3, 0.4, 0.5 } },
                  { 1.0, { 500.0, -700.0, 90.0 } } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const double s = cases[k].spacing, *center = cases[k].center;
        char text[600];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: points, cell_size: %g, materials: {sand: {kind: sand}, water: {kind: "
                 "water}}, bodies: [{material: sand, shape: {sphere: {center: [0, 0, 0], radius: %g}}}]}",
                 2.0 * s, 5.0 * s);
        WadiError error = { 0 };
        WadiScene *scene = load_scene(text);
        const size_t count = make_ball(s, center, 10.0 * s);
        WadiParticleData data = ball_data(count, s);
        WadiMeshDef def = wadi_default_mesh_def();
        def.material = "water";
        WadiMeshData mesh;
        CHECK_OK(wadi_particles_surface(scene, &data, &def, &mesh, &error), error);
        assert_true(mesh.triangle_count > 1000);
        CHECK_NEAR(volume_of(&mesh) / ((double)count * s * s * s), 1.0, 0.05);
        const WadiMeshAttribute *carried = find(&mesh, "heat"), *speed = find(&mesh, "velocity");
        for (size_t v = 0; v < mesh.vertex_count; ++v) {
            double r[3], length = 0.0, along = 0.0;
            for (int c = 0; c < 3; ++c) {
                r[c] = mesh.position[3 * v + (size_t)c] - center[c];
                length += r[c] * r[c];
                along += r[c] * (double)mesh.normal[3 * v + (size_t)c];
                CHECK_NEAR((double)speed->values[3 * v + (size_t)c], c, 1e-5);
            }
            length = sqrt(length);
            CHECK_NEAR(length / s, 10.0, 1.2);
            assert_true(along > 0.5 * length); /* outward */
            CHECK_NEAR((double)carried->values[v] / s, r[2] / s, 1.5);
        }
        wadi_mesh_release(&mesh);
        def.material = "sand"; /* of which there is none */
        CHECK_OK(wadi_particles_surface(scene, &data, &def, &mesh, &error), error);
        assert_int_equal(mesh.vertex_count + mesh.triangle_count, 0);
        wadi_mesh_release(&mesh);
        wadi_scene_destroy(scene);
    }
}

static void y_up_turns_positions_normals_and_velocities(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiParticleData data = ball_data(make_ball(0.01, (double[3]){ 0.2, 0.15, 0.12 }, 0.05), 0.01);
    WadiMeshDef def = wadi_default_mesh_def();
    WadiMeshData plain, turned;
    CHECK_OK(wadi_particles_surface(scene, &data, &def, &plain, &error), error);
    def.is_y_up = true;
    CHECK_OK(wadi_particles_surface(scene, &data, &def, &turned, &error), error);
    assert_int_equal(plain.vertex_count, turned.vertex_count);
    assert_true(plain.vertex_count > 0);
    const float *u = find(&plain, "velocity")->values, *v = find(&turned, "velocity")->values;
    for (size_t i = 0; i < plain.vertex_count; ++i) {
        CHECK_NEAR(turned.position[3 * i + 1], plain.position[3 * i + 2], 0.0);
        CHECK_NEAR(turned.position[3 * i + 2], -plain.position[3 * i + 1], 0.0);
        CHECK_NEAR((double)turned.normal[3 * i + 1], (double)plain.normal[3 * i + 2], 0.0);
        CHECK_NEAR((double)v[3 * i + 2], -(double)u[3 * i + 1], 0.0);
    }
    wadi_mesh_release(&plain);
    wadi_mesh_release(&turned);
    wadi_scene_destroy(scene);
}

static void refuses(const WadiScene *scene, const WadiParticleData *data, const WadiMeshDef *def,
                    WadiStatus expected, const char *part)
{
    WadiError error = { 0 };
    WadiMeshData mesh;
    assert_int_equal(wadi_particles_surface(scene, data, def, &mesh, &error), expected);
    if (strstr(error.text, part) == NULL) {
        fail_msg("'%s' is not in: %s", part, error.text);
    }
    assert_null(mesh.memory);
    assert_int_equal(mesh.vertex_count, 0);
    wadi_mesh_release(&mesh);
}

static void wrong_particles_are_named(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    const WadiParticleData good = ball_data(make_ball(0.01, (double[3]){ 0.2, 0.15, 0.12 }, 0.05), 0.01);
    const WadiMeshDef def = wadi_default_mesh_def();
    WadiParticleData data = good;
    WadiMeshDef other = def;
    other.material = "gravel";
    refuses(scene, &good, &other, WADI_ERR_ARGUMENT, "gravel");
    other = def;
    other.cookie = 0;
    refuses(scene, &good, &other, WADI_ERR_ARGUMENT, "wadi_default_mesh_def");
    other = def;
    other.advance = (double)NAN;
    refuses(scene, &good, &other, WADI_ERR_ARGUMENT, "advance");
    atomic_bool stop = true;
    other = def;
    other.stop = stop_when(&stop);
    refuses(scene, &good, &other, WADI_ERR_STOPPED, "");
    data.cookie = 0;
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "wadi_default_particle_data");
    data = good, data.position = NULL;
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "without positions");
    data = good, data.spacing = 0.0;
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "spacing");
    data = good, data.attribute[0].name = "radius";
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "name");
    data = good, data.attribute[0].components = 2;
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "heat");
    data = good, data.attribute_count = 2, data.attribute[1] = data.attribute[0];
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "attribute 1");
    data = good, data.attribute_count = 17;
    refuses(scene, &data, &def, WADI_ERR_ARGUMENT, "17 attributes");
    material[7] = 2;
    refuses(scene, &good, &def, WADI_ERR_ARGUMENT, "particle 7: material 2");
    material[7] = 1;
    position[3 * 9 + 1] = (double)INFINITY;
    refuses(scene, &good, &def, WADI_ERR_NUMERIC, "particle 9");
    position[3 * 9 + 1] = 1e300;
    refuses(scene, &good, &def, WADI_ERR_NUMERIC, "particle 9");
    position[3 * 9 + 1] = 0.1;
    heat[3] = NAN;
    refuses(scene, &good, &def, WADI_ERR_NUMERIC, "heat");
    heat[3] = 0.0f;
    data = good, data.count = 0, data.position = NULL;
    WadiMeshData mesh;
    WadiError error = { 0 };
    CHECK_OK(wadi_particles_surface(scene, &data, &def, &mesh, &error), error); /* nothing is no error */
    assert_int_equal(mesh.triangle_count, 0);
    wadi_mesh_release(&mesh);
    wadi_mesh_release(NULL);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulation_gives_the_mesh_of_the_runs_frame),
        cmocka_unit_test(points_in_a_ball_become_a_ball),
        cmocka_unit_test(y_up_turns_positions_normals_and_velocities),
        cmocka_unit_test(wrong_particles_are_named),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
