/* The path tracer: same bytes for any thread count and any position of the scene, and degenerate scenes. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "picture.h"
#include "render/trace/sphere_clusters.h"

enum { BALLS = 3000 };

typedef struct Tank {
    WadiLook looks[4];
    PictureBox water, glass, block;
    WadiTraceMesh meshes[3];
    float sphere[BALLS][4];
    float velocity[BALLS][3];
    WadiTraceColour colour[BALLS];
    WadiTraceSpheres set;
    WadiTraceScene scene;
    WadiCamera camera;
} Tank;

/* Everything at once, `shift` metres away along x. Every length is a multiple of 2^-10 m, so that a shift is
 * exact in double. */
static void make_tank(Tank *tank, double shift)
{
    memset(tank, 0, sizeof *tank);
    tank->looks[0] = wadi_look_sand(wadi_srgb(210, 180, 140));
    tank->looks[1] = wadi_look_water(2.0);
    tank->looks[2] = wadi_look_glass();
    tank->looks[3] = wadi_look_plain(wadi_srgb(160, 60, 50));
    tank->water = picture_box(wadi_vec3(shift - 1, -0.5, -0.125), wadi_vec3(shift + 1, 0.5, 0.375), 0.0);
    tank->glass = picture_box(wadi_vec3(shift - 1, -0.5, -0.25), wadi_vec3(shift + 1, 0.5, 0.625), 0.0);
    tank->block = picture_box(wadi_vec3(shift + 0.25, -0.25, 0), wadi_vec3(shift + 0.5, 0.25, 0.75), 0.0);
    tank->meshes[0] = picture_box_mesh(&tank->water, 1);
    tank->meshes[1] = picture_box_mesh(&tank->glass, 2);
    tank->meshes[2] = picture_box_mesh(&tank->block, 3);
    for (uint64_t i = 0; i < BALLS; ++i) {
        double u[3];
        wadi_random_unit3(1, i, WADI_RANDOM_TEST, u);
        float ball[4] = { (float)(2.0 * u[0] - 1.0), (float)(u[1] - 0.5), (float)(0.25 * u[2]), 0.03f };
        memcpy(tank->sphere[i], ball, sizeof ball);
        tank->velocity[i][2] = (float)u[1];
        tank->colour[i] = (WadiTraceColour){ 200, (uint8_t)(150 + 60 * u[2]), 120, (uint8_t)(255 * u[0]) };
    }
    tank->set = (WadiTraceSpheres){ .count = BALLS,
                                    .sphere = (const float(*)[4])tank->sphere,
                                    .colour = tank->colour,
                                    .velocity = (const float(*)[3])tank->velocity };
    tank->scene = (WadiTraceScene){ .origin = { shift, 0.0, 0.0 },
                                    .looks = tank->looks,
                                    .look_count = 4,
                                    .meshes = tank->meshes,
                                    .mesh_count = 3,
                                    .spheres = &tank->set,
                                    .spheres_count = 1,
                                    .light = wadi_default_light_def(),
                                    .close = 0.0625 };
    tank->scene.ground = (WadiTraceGround){
        .is_present = true, .height = 0.0, .look = wadi_look_plain(wadi_grey(0.4f)), .wetness = 0.0f
    };
    tank->scene.ground.look.texture = WADI_LOOK_TEXTURE_CHECKER;
    tank->scene.ground.look.texture_size = 0.25f;
    tank->scene.ground.look.second_colour = wadi_grey(0.1f);
    tank->camera = picture_camera(wadi_vec3(shift + 1.5, -3, 1.25), wadi_vec3(shift, 0, 0.125), 40.0);
    tank->camera.lens_radius = 0.03125;
}

static WadiFilm take_tank(double shift)
{
    Tank tank;
    make_tank(&tank, shift);
    WadiTraceQuality quality = { .samples = 8, .depth = 6, .clamp = 4.0, .noise = 0.05, .is_denoised = true };
    return picture_take(&tank.scene, &tank.camera, 70, 40, &quality);
}

static void assert_same(const WadiFilm *a, const WadiFilm *b)
{
    size_t count = (size_t)a->width * (size_t)a->height;
    assert_memory_equal(a->light, b->light, count * sizeof *a->light);
    assert_memory_equal(a->normal, b->normal, count * sizeof *a->normal);
    WadiImage first, second;
    assert_int_equal(wadi_image_init(&first, a->width, a->height, NULL), WADI_OK);
    assert_int_equal(wadi_image_init(&second, b->width, b->height, NULL), WADI_OK);
    WadiDevelop develop = { .is_auto_exposed = true };
    wadi_film_develop(a, &develop, &first);
    wadi_film_develop(b, &develop, &second);
    assert_memory_equal(first.rgb, second.rgb, 3 * count);
    wadi_image_free(&first);
    wadi_image_free(&second);
}

static void same_bytes_for_any_threads(void **unused)
{
    (void)unused;
    static const int threads[3] = { 1, 2, 5 };
    WadiFilm first = { 0 };
    for (int k = 0; k < 3; ++k) {
        wadi_parallel_set_threads(threads[k]);
        WadiFilm film = take_tank(0.0);
        if (k == 0) {
            first = film;
        } else {
            assert_same(&film, &first);
            wadi_film_free(&film);
        }
    }
    wadi_parallel_set_threads(0);
    wadi_film_free(&first);
}

static void same_bytes_far_from_the_origin(void **unused)
{
    (void)unused;
    WadiFilm here = take_tank(0.0), there = take_tank(16384.0);
    assert_same(&here, &there);
    wadi_film_free(&here);
    wadi_film_free(&there);
}

static void odd_scenes_do_no_harm(void **unused)
{
    (void)unused;
    WadiLook looks[2] = { picture_matt(0.5f), wadi_look_water(1.0) };
    WadiTraceQuality quality = { .samples = 4, .depth = 4, .is_denoised = true };
    WadiCamera camera = picture_camera(wadi_vec3(0, -5, 1), wadi_vec3(0, 0, 0), 40.0);
    /* An empty scene: the light everywhere. */
    WadiTraceScene scene = picture_scene(NULL, 0, 0.75f);
    WadiFilm film = picture_take(&scene, &camera, 9, 7, &quality);
    CHECK_NEAR(picture_mean(&film, 0, 0, 9, 7), 0.75, 1e-6);
    wadi_film_free(&film);
    /* Triangles without area, vertices and spheres that are not finite, spheres without radius: invisible. */
    WadiVec3 vertices[5] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { NAN, 0, 0 }, { 1, INFINITY, 1 } };
    uint32_t triangles[4][3] = { { 0, 0, 0 }, { 0, 1, 2 }, { 0, 1, 3 }, { 0, 4, 2 } };
    float normals[5][3] = { { 0 } };
    WadiTraceMesh mesh = { .vertex_count = 5,
                           .triangle_count = 4,
                           .vertices = vertices,
                           .triangles = (const uint32_t(*)[3])triangles,
                           .normal = (const float(*)[3])normals };
    static const float spheres[5][4] = {
        { 0, 0, 0, 0 }, { 0, 0, 0, -1 }, { NAN, 0, 0, 1 }, { 0, 0, 0, INFINITY }, { 0, 0, 0, NAN }
    };
    WadiTraceSpheres set = { .count = 5, .sphere = spheres };
    scene = picture_scene(looks, 2, 0.75f);
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.spheres = &set;
    scene.spheres_count = 1;
    film = picture_take(&scene, &camera, 9, 7, &quality);
    CHECK_NEAR(picture_mean(&film, 0, 0, 9, 7), 0.75, 1e-6);
    wadi_film_free(&film);
    /* A camera inside a block, inside water, inside a ball, on a face, in the ground. */
    PictureBox box = picture_box(wadi_vec3(-1, -6, -1), wadi_vec3(1, 1, 2), 0.0);
    for (int look = 0; look < 2; ++look) {
        mesh = picture_box_mesh(&box, look);
        film = picture_take(&scene, &camera, 9, 7, &quality);
        assert_true(picture_mean(&film, 0, 0, 9, 7) < 0.75);
        wadi_film_free(&film);
        WadiCamera edge = picture_camera(wadi_vec3(-1, -6, 0), wadi_vec3(1, 1, 0), 40.0);
        film = picture_take(&scene, &edge, 9, 7, &quality);
        wadi_film_free(&film);
    }
    static const float around[1][4] = { { 0.0f, -5.0f, 1.0f, 0.5f } };
    set = (WadiTraceSpheres){ .count = 1, .sphere = around };
    scene.mesh_count = 0;
    scene.ground = (WadiTraceGround){ .is_present = true, .height = 1.0, .look = looks[0], .wetness = 0.0f };
    film = picture_take(&scene, &camera, 9, 7, &quality);
    CHECK_NEAR(picture_mean(&film, 0, 0, 9, 7), 0.0, 1e-6);
    wadi_film_free(&film);
}

static void bad_arguments_are_told(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiTracer *tracer = NULL;
    WadiLook look = picture_matt(0.5f);
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    WadiVec3 vertices[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    uint32_t triangle[1][3] = { { 0, 1, 3 } };
    WadiTraceMesh mesh = { .vertex_count = 3,
                           .triangle_count = 1,
                           .vertices = vertices,
                           .triangles = (const uint32_t(*)[3])triangle };
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    assert_int_equal(wadi_tracer_create(&tracer, &scene, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "vertex 3 of 3"));
    assert_null(tracer);
    scene.mesh_count = 0;
    scene.light.sun.x = NAN;
    assert_int_equal(wadi_tracer_create(&tracer, &scene, &error), WADI_ERR_ARGUMENT);
    scene.light.sun.x = 0.0;
    scene.light.surround = WADI_SURROUND_MAP;
    assert_int_equal(wadi_tracer_create(&tracer, &scene, &error), WADI_ERR_ARGUMENT);
    scene.light.surround = WADI_SURROUND_UNIFORM;
    scene.close = -1.0;
    assert_int_equal(wadi_tracer_create(&tracer, &scene, &error), WADI_ERR_ARGUMENT);
    scene.close = 0.0;
    CHECK_OK(wadi_tracer_create(&tracer, &scene, &error), error);
    WadiFilm film;
    assert_int_equal(wadi_film_init(&film, 0, 4, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(wadi_film_init(&film, 4, 1 << 20, &error), WADI_ERR_ARGUMENT);
    CHECK_OK(wadi_film_init(&film, 4, 4, &error), error);
    WadiTraceQuality quality = wadi_trace_draft();
    WadiCamera camera = picture_camera(wadi_vec3(1, 1, 1), wadi_vec3(1, 1, 1), 40.0);
    assert_int_equal(wadi_tracer_render(tracer, &camera, &quality, &film, &error), WADI_ERR_ARGUMENT);
    camera = picture_camera(wadi_vec3(1, 1, 1), wadi_vec3(0, 0, 0), 180.0);
    assert_int_equal(wadi_tracer_render(tracer, &camera, &quality, &film, &error), WADI_ERR_ARGUMENT);
    camera.view_angle = 40.0;
    quality.samples = 0;
    assert_int_equal(wadi_tracer_render(tracer, &camera, &quality, &film, &error), WADI_ERR_ARGUMENT);
    wadi_film_free(&film);
    wadi_tracer_destroy(tracer);
}

static void failing_memory_leaks_nothing(void **unused)
{
    (void)unused;
    static Tank tank;
    make_tank(&tank, 0.0);
    WadiTraceQuality quality = { .samples = 1, .depth = 1, .is_denoised = true };
    wadi_set_allocator(&failing_allocator);
    WadiStatus status = WADI_ERR_MEMORY;
    int allowed = 0;
    for (; status != WADI_OK; ++allowed) {
        alloc_calls_left = allowed;
        WadiError error = { 0 };
        WadiTracer *tracer = NULL;
        WadiFilm film = { 0 };
        status = wadi_tracer_create(&tracer, &tank.scene, &error);
        status = status == WADI_OK ? wadi_film_init(&film, 8, 8, &error) : status;
        status =
            status == WADI_OK ? wadi_tracer_render(tracer, &tank.camera, &quality, &film, &error) : status;
        wadi_tracer_destroy(tracer);
        wadi_film_free(&film);
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    }
    assert_true(allowed > 10);
    alloc_calls_left = INT_MAX;
    wadi_set_allocator(NULL);
}

/* Colours, normals and wetness are linear between the vertices: on a level board whose colour rises along
 * x. */
static void attributes_are_interpolated(void **unused)
{
    (void)unused;
    WadiLook look = picture_matt(0.0f);
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    WadiVec3 vertices[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } };
    uint32_t triangles[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    float colour[4][3] = { { 0.1f, 0.2f, 0 }, { 0.9f, 0.6f, 0 }, { 0.9f, 0.6f, 0 }, { 0.1f, 0.2f, 0 } };
    float normal[4][3] = { { 0, 0, 2 }, { 0, 0, 2 }, { 0, 2, 2 }, { 0, 2, 2 } };
    float wetness[4] = { 0, 1, 1, 0 };
    WadiTraceMesh mesh = { .vertex_count = 4,
                           .triangle_count = 2,
                           .vertices = vertices,
                           .triangles = (const uint32_t(*)[3])triangles,
                           .colour = (const float(*)[3])colour,
                           .normal = (const float(*)[3])normal };
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    WadiTraceQuality quality = { .samples = 16, .depth = 1 };
    for (int k = 1; k < 4; ++k) {
        double x = 0.25 * k;
        WadiCamera camera = picture_camera(wadi_vec3(x, 0.5, 9), wadi_vec3(x, 0.5, 0), 0.01);
        WadiFilm film = picture_take(&scene, &camera, 1, 1, &quality);
        CHECK_NEAR((double)film.albedo[0].x, 0.1 + 0.8 * x, 1e-3);
        CHECK_NEAR((double)film.albedo[0].y, 0.2 + 0.4 * x, 1e-3);
        CHECK_NEAR((double)(film.normal[0].y / film.normal[0].z), 0.5, 1e-3);
        CHECK_NEAR((double)film.distance[0], 9.0, 1e-3);
        wadi_film_free(&film);
    }
    /* Wetness darkens sand, more at x = 1 than at x = 0. */
    look = wadi_look_sand(wadi_grey(0.5f));
    mesh.colour = NULL;
    mesh.normal = NULL;
    mesh.wetness = wetness;
    double dry = picture_value(&scene, wadi_vec3(0.05, 0.5, 9), wadi_vec3(0.05, 0.5, 0), 64, 1);
    double half = picture_value(&scene, wadi_vec3(0.5, 0.5, 9), wadi_vec3(0.5, 0.5, 0), 64, 1);
    double wet = picture_value(&scene, wadi_vec3(0.95, 0.5, 9), wadi_vec3(0.95, 0.5, 0), 64, 1);
    assert_true(dry > 1.15 * half && half > 1.15 * wet);
}

/* Each sphere is in one cluster, inside its bounds; a ray hits the nearest of all spheres, as by testing each
 * one. */
static void clusters_hold_every_sphere_once(void **unused)
{
    (void)unused;
    static Tank tank;
    make_tank(&tank, 0.0);
    for (int i = 0; i < 100; ++i) { /* a hundred in one place */
        memcpy(tank.sphere[i], tank.sphere[0], sizeof tank.sphere[0]);
    }
    WadiClusters clusters;
    WadiError error = { 0 };
    CHECK_OK(wadi_clusters_build(&clusters, &tank.set, true, &error), error);
    size_t count = 0;
    double sum[2] = { 0.0, 0.0 };
    for (size_t c = 0; c < clusters.count; ++c) {
        float low[3], high[3];
        wadi_cluster_bounds(&clusters, c, 0.5f, low, high);
        for (int k = 0; k < WADI_CLUSTER && clusters.cluster[c].radius[k] > 0.0f; ++k) {
            WadiVec3f p = wadi_cluster_center(&clusters, c, k, 0.5f);
            float r = clusters.cluster[c].radius[k];
            assert_true(p.x - r >= low[0] && p.y - r >= low[1] && p.z - r >= low[2]);
            assert_true(p.x + r <= high[0] && p.y + r <= high[1] && p.z + r <= high[2]);
            sum[0] += (double)clusters.cluster[c].x[k];
            ++count;
        }
    }
    assert_int_equal(count, BALLS);
    assert_true(clusters.count < BALLS / 4);
    for (int i = 0; i < BALLS; ++i) {
        sum[1] += (double)tank.sphere[i][0];
    }
    CHECK_NEAR(sum[0], sum[1], 1e-9 * BALLS);
    WadiVec3f origin = { 3.0f, -2.0f, 1.0f };
    for (uint64_t i = 0; i < 200; ++i) {
        double u[3];
        wadi_random_unit3(5, i, WADI_RANDOM_TEST, u);
        WadiVec3f to = { (float)(2.0 * u[0] - 1.0), (float)(u[1] - 0.5), (float)(0.3 * u[2]) };
        WadiVec3f d = wadi_normalizedf_or(wadi_subf(to, origin), to);
        float best = INFINITY;
        for (size_t c = 0; c < clusters.count; ++c) {
            float distance;
            if (wadi_cluster_hit(&clusters, c, origin, d, 0.0f, 0.0f, best, &distance) >= 0) {
                best = distance;
            }
        }
        double nearest = INFINITY;
        for (int b = 0; b < BALLS; ++b) {
            WadiVec3 away = { (double)tank.sphere[b][0] - 3.0, (double)tank.sphere[b][1] + 2.0,
                              (double)tank.sphere[b][2] - 1.0 };
            WadiVec3 way = { (double)d.x, (double)d.y, (double)d.z };
            double along = wadi_dot(away, way), r = (double)tank.sphere[b][3];
            double inside = r * r - wadi_dot(away, away) + along * along;
            nearest = inside > 0.0 ? fmin(nearest, along - sqrt(inside)) : nearest;
        }
        assert_true(isinf(nearest) == isinf((double)best) || fabs(nearest) < 1e9);
        if (isfinite(nearest) && isfinite((double)best)) {
            CHECK_NEAR((double)best, nearest, 2e-3); /* at a rim float and double part */
        }
    }
    wadi_clusters_free(&clusters);
}

/* The upright edge of a box that the camera faces covers the same part of each pixel of a column, so that a
 * picture of few samples shows it as a line: every row of a column has the same colour. */
static void upright_edges_are_straight(void **unused)
{
    (void)unused;
    WadiLook look = wadi_look_plain(wadi_srgb(160, 60, 50));
    PictureBox box = picture_box(wadi_vec3(-0.41, 0, -4), wadi_vec3(0.33, 1, 4), 0.0);
    WadiTraceMesh mesh = picture_box_mesh(&box, 0);
    WadiTraceScene scene = { .looks = &look,
                             .look_count = 1,
                             .meshes = &mesh,
                             .mesh_count = 1,
                             .light = wadi_default_light_def(),
                             .close = 0.0625 };
    WadiCamera camera = picture_camera(wadi_vec3(0, -3, 0), wadi_vec3(0, 0, 0), 40.0);
    WadiTraceQuality quality = wadi_trace_draft();
    quality.is_denoised = false;
    WadiFilm film = picture_take(&scene, &camera, 32, 24, &quality);
    const float sky = film.albedo[0].x, side = film.albedo[film.width / 2].x;
    int edges = 0;
    for (int x = 0; x < film.width; ++x) {
        float first = film.albedo[x].x;
        edges +=
            fabsf(first - sky) > 0.1f * fabsf(side - sky) && fabsf(first - side) > 0.1f * fabsf(side - sky);
        for (int y = 1; y < film.height; ++y) {
            assert_float_equal(film.albedo[y * film.width + x].x, first, 1e-5f);
        }
    }
    assert_true(edges >= 2); /* both edges are there, and partly covered pixels at them */
    wadi_film_free(&film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),   cmocka_unit_test(same_bytes_far_from_the_origin),
        cmocka_unit_test(odd_scenes_do_no_harm),        cmocka_unit_test(bad_arguments_are_told),
        cmocka_unit_test(failing_memory_leaks_nothing), cmocka_unit_test(clusters_hold_every_sphere_once),
        cmocka_unit_test(attributes_are_interpolated),  cmocka_unit_test(upright_edges_are_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
