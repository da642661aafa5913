/* The points solver against closed forms: free fall, bounces, forces, and the same bytes for any thread
 * count. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "scene_sim.h"

static double component(const WadiSim *sim, const char *name, int axis, size_t i)
{
    WadiError error = { 0 };
    WadiView view;
    CHECK_OK(wadi_sim_view(sim, name, &view, &error), error);
    const char *at = (const char *)view.data[axis] + i * view.stride;
    return view.type == WADI_VIEW_F64 ? *(const double *)(const void *)at
                                      : (double)*(const float *)(const void *)at;
}

static void free_fall_is_exact_for_any_step(void **unused)
{
    (void)unused;
    static const char *const steps[] = { "", "max_step: 0.001", "max_step: 0.00317" };
    for (int s = 0; s < 3; ++s) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: points\ncell_size: 0.05\nframes: 100\n%s\nmaterials: {sand: {kind: sand}}\n"
            "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 10], radius: 0.2}}, velocity: [3, -2, "
            "5]}]\n",
            steps[s]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 0);
        size_t n = wadi_sim_particle_count(sim);
        assert_true(n > 100);
        double x0[3][200];
        for (size_t i = 0; i < 200 && i < n; ++i) {
            for (int a = 0; a < 3; ++a) {
                x0[a][i] = component(sim, "position", a, i);
            }
        }
        WadiError error = { 0 };
        for (int frame = 1; frame < 49; ++frame) {
            CHECK_OK(wadi_sim_step_frame(sim, &error), error);
        }
        double t = 48.0 / 24.0;
        CHECK_NEAR(wadi_sim_time(sim), t, 0.0);
        for (size_t i = 0; i < 200 && i < n; ++i) {
            CHECK_NEAR(component(sim, "position", 0, i), x0[0][i] + 3.0 * t, 1e-11);
            CHECK_NEAR(component(sim, "position", 1, i), x0[1][i] - 2.0 * t, 1e-11);
            CHECK_NEAR(component(sim, "position", 2, i), x0[2][i] + 5.0 * t - 0.5 * 9.81 * t * t, 1e-11);
            CHECK_NEAR(component(sim, "velocity", 2, i), 5.0 - 9.81 * t, 1e-6);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void a_bounce_keeps_the_square_of_restitution(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: points\nresolution: 40\nmax_step: 0.0005\n"
                   "domain: {min: [0, 0, 0], max: [1, 1, 2], walls: {restitution: 0.8}}\n"
                   "materials: {sand: {kind: sand}}\n"
                   "bodies: [{material: sand, snap: none, shape: {box: {min: [0.5, 0.5, 1], max: "
                   "[0.6, 0.6, 1.05]}}}]\n");
    WadiSim *sim = start_sim(scene, 0);
    WadiError error = { 0 };
    double z0 = component(sim, "position", 2, 0);
    double top = 0.0;
    bool has_bounced = false;
    for (int step = 0; step < 2400; ++step) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        double v = component(sim, "velocity", 2, 0);
        has_bounced = has_bounced || v > 0.0;
        if (has_bounced) {
            double z = component(sim, "position", 2, 0);
            top = z > top ? z : top;
            if (v < 0.0) {
                break;
            }
        }
    }
    CHECK_NEAR(top / z0, 0.64, 0.003);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void drag_reaches_the_wind(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: points\ncell_size: 0.1\ngravity: [0, 0, 0]\nmaterials: {sand: {kind: sand}}\n"
        "bodies: [{material: sand, shape: {sphere: {radius: 0.3}}}]\nmax_step: 0.001\n"
        "forces: [{kind: drag, velocity: [2, 0, 0], rate: 1.5}]\n");
    WadiSim *sim = start_sim(scene, 0);
    WadiError error = { 0 };
    for (int frame = 1; frame <= 24; ++frame) {
        CHECK_OK(wadi_sim_step_frame(sim, &error), error);
    }
    /* v = wind (1 - exp(-rate t)); the explicit step errs by rate dt / 2. */
    CHECK_NEAR(component(sim, "velocity", 0, 0), 2.0 * (1.0 - exp(-1.5)), 2.0 * 1.5 * 0.001);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static const char *const busy_scene =
    "wadi: 1\nsolver: points\nresolution: 24\nframes: 30\n"
    "domain: {min: [0, 0, 0], max: [1, 1, 1], walls: {friction: 0.3, restitution: 0.3}}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n  - {material: sand, shape: {sphere: {center: [0.5, 0.5, 0.7], radius: 0.2}}, velocity: [1, 0, "
    "0]}\n"
    "  - {material: water, shape: {torus: {center: [0.5, 0.5, 0.3], radius: 0.3, tube: 0.08}}}\n"
    "colliders:\n  - shape: {box: {center: [0.5, 0.5, 0.15], size: [0.8, 0.02, 0.2]}, pivot: [0.5, 0.5, "
    "0.15],\n"
    "            rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 360]]], repeat: true}}\n"
    "emitters: [{material: water, shape: {sphere: {center: [0.2, 0.2, 0.9], radius: 0.05}}, rate: 0.01, "
    "velocity: [1, 1, 0]}]\n"
    "drains: [{shape: {box: {min: [0, 0, 0], max: [0.1, 1, 0.1]}}}]\n";

static void every_particle_is_accounted_for(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(busy_scene);
    WadiSim *sim = start_sim(scene, 0);
    WadiError error = { 0 };
    for (int frame = 1; frame < 30; ++frame) {
        CHECK_OK(wadi_sim_step_frame(sim, &error), error);
        for (size_t i = 0; i < wadi_sim_particle_count(sim); ++i) {
            for (int a = 0; a < 3; ++a) {
                double x = component(sim, "position", a, i);
                assert_true(x >= 0.0 && x <= 1.0);
            }
        }
    }
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(busy_scene);
    uint64_t hash[3];
    int threads[3] = { 1, 2, 5 };
    for (int k = 0; k < 3; ++k) {
        WadiSim *sim = start_sim(scene, threads[k]);
        WadiError error = { 0 };
        for (int frame = 1; frame < 20; ++frame) {
            CHECK_OK(wadi_sim_step_frame(sim, &error), error);
        }
        hash[k] = wadi_sim_state_hash(sim);
        wadi_sim_destroy(sim);
    }
    assert_true(hash[0] != 0);
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    wadi_scene_destroy(scene);
}

static void bodies_that_overlap_share_no_place(void **unused)
{
    (void)unused;
    /* Two boxes of 8 cells with 4 in common: 12 cells of 8 particles. */
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: points\ncell_size: 0.5\nmaterials: {a: {kind: sand}, b: {kind: water}}\n"
                   "bodies:\n  - {material: a, snap: none, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n"
                   "  - {material: b, snap: none, shape: {box: {min: [0.5, 0, 0], max: [1.5, 1, 1]}}}\n");
    WadiSim *sim = start_sim(scene, 0);
    size_t n = wadi_sim_particle_count(sim);
    assert_int_equal(n, 12 * 8);
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < i; ++j) {
            double square = 0.0;
            for (int a = 0; a < 3; ++a) {
                double d = component(sim, "position", a, i) - component(sim, "position", a, j);
                square += d * d;
            }
            assert_true(square > 1e-12);
        }
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_warm_step_does_not_allocate(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: points\nresolution: 20\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
        "materials: {a: {kind: sand}}\nbodies: [{material: a, shape: {sphere: {center: [0.5, 0.5, 0.5],"
        " radius: 0.3}}}]\ncolliders: [{shape: {sphere: {center: [0.5, 0.5, 0], radius: 0.2}}}]\n"
        "drains: [{shape: {box: {min: [0, 0, 0], max: [0.2, 1, 0.2]}}}]\n");
    WadiSim *sim = start_sim(scene, 2);
    run_frames(sim, 3);
    size_t calls = wadi_alloc_call_count();
    run_frames(sim, 16);
    assert_int_equal(wadi_alloc_call_count(), calls);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A smooth slope of 30 degrees as a closed mesh of many triangles: sliding crosses their edges all the
 * time. */
static void write_slope(const char *path)
{
    enum { N = 24 };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i <= N; ++i) {
            for (int j = 0; j <= N; ++j) {
                double x = -3.0 + 6.0 * i / N, y = -1.0 + 2.0 * j / N;
                fprintf(file, "v %.17g %.17g %.17g\n", x, y,
                        side == 0 ? -x * tan(3.14159265358979323846 / 6.0) : -5.0);
            }
        }
    }
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            int a = i * (N + 1) + j + 1, b = a + N + 1, bottom = (N + 1) * (N + 1);
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, b + 1, a, b + 1, a + 1);
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a + bottom, b + 1 + bottom, b + bottom, a + bottom,
                    a + 1 + bottom, b + 1 + bottom);
        }
    }
    fclose(file);
}

static void sand_slides_on_a_mesh_as_on_a_plane(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/wadi-slope-XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/slope.obj", folder);
    write_slope(path);
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.folder = folder;
    def.text = "wadi: 1\nsolver: points\ncell_size: 0.05\nmax_step: 0.005\nmaterials: {sand: {kind: sand}}\n"
               "bodies: [{material: sand, snap: none, shape: {box: {min: [-2.2, -0.2, 1.3], max: [-2.1, 0.2, "
               "1.35]}}}]\n"
               "colliders: [{friction: 0.3, shape: {mesh: {file: slope.obj}}}]\n";
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    WadiSim *sim = start_sim(scene, 0);
    double speed[2], cosine = cos(3.14159265358979323846 / 6.0);
    for (int i = 0; i < 2; ++i) {
        for (int frame = 0; frame < 12; ++frame) {
            CHECK_OK(wadi_sim_step_frame(sim, &error), error);
        }
        speed[i] = component(sim, "velocity", 0, 0) / cosine;
    }
    /* Landed after the first half second; the second adds g (sin - mu cos) t. */
    CHECK_NEAR(speed[1] - speed[0], 9.81 * (0.5 - 0.3 * cosine) * 0.5, 0.01 * 9.81 * 0.5);
    for (size_t i = 0; i < wadi_sim_particle_count(sim); ++i) {
        double above = component(sim, "position", 2, i) +
                       component(sim, "position", 0, i) * tan(3.14159265358979323846 / 6.0);
        assert_true(above > 0.0 && above < 1e-3);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_is_exact_for_any_step),
        cmocka_unit_test(a_bounce_keeps_the_square_of_restitution),
        cmocka_unit_test(drag_reaches_the_wind),
        cmocka_unit_test(every_particle_is_accounted_for),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(bodies_that_overlap_share_no_place),
        cmocka_unit_test(a_warm_step_does_not_allocate),
        cmocka_unit_test(sand_slides_on_a_mesh_as_on_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
