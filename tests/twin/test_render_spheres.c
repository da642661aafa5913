/* Clusters of spheres against Embree's own spheres: the same hits; and the cost of a frame of a heap.
 * WADI_LONG=1: 2.7 million spheres and pictures of 960 x 540, with the time of each. */
#include <stdlib.h>
#include <time.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "picture.h"
#include "render/trace/tracer_internal.h"

typedef struct Heap {
    size_t count;
    float (*sphere)[4];
    WadiTraceColour *colour;
    WadiLook look;
    WadiTraceSpheres set;
    WadiTraceScene scene;
} Heap;

/* Processor time of all threads. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A cone of 1 m radius and 0.6 m height, filled to 0.6 by spheres of nearly one size. */
static void make_heap(Heap *heap)
{
    size_t count = is_long_run() ? 2700000 : 40000;
    *heap = (Heap){ .count = count, .look = wadi_look_sand(wadi_grey(0.4f)) };
    double volume = 0.2 * 3.14159265, radius = cbrt(0.6 * volume / (4.18879 * (double)count));
    assert_int_equal(WADI_NEW(&heap->sphere, count, "heap", NULL), WADI_OK);
    assert_int_equal(WADI_NEW(&heap->colour, count, "heap", NULL), WADI_OK);
    for (size_t i = 0; i < count; ++i) {
        double u[3], x, y;
        uint64_t attempt = 0;
        do {
            wadi_random_unit3(11 + attempt++, i, WADI_RANDOM_TEST, u);
            x = 2.0 * u[0] - 1.0, y = 2.0 * u[1] - 1.0;
        } while (sqrt(x * x + y * y) > 1.0 - u[2]);
        float sphere[4] = { (float)x, (float)y, (float)(0.6 * u[2] + radius),
                            (float)(radius * (0.9 + 0.2 * u[0])) };
        memcpy(heap->sphere[i], sphere, sizeof sphere);
        heap->colour[i] =
            (WadiTraceColour){ (uint8_t)(200 + 40 * u[1]), 180, 130, (uint8_t)(u[0] > 0.5 ? 200 : 0) };
    }
    heap->set = (WadiTraceSpheres){ .count = count,
                                    .sphere = (const float(*)[4])heap->sphere,
                                    .colour = heap->colour };
    heap->scene = (WadiTraceScene){ .looks = &heap->look,
                                    .look_count = 1,
                                    .spheres = &heap->set,
                                    .spheres_count = 1,
                                    .light = wadi_default_light_def() };
}

static void free_heap(Heap *heap)
{
    WADI_DELETE(heap->sphere, heap->count);
    WADI_DELETE(heap->colour, heap->count);
}

static atomic_llong embree_bytes;

static bool count_bytes(void *context, ssize_t bytes, bool is_after)
{
    (void)context;
    (void)is_after;
    atomic_fetch_add(&embree_bytes, bytes);
    return true;
}

/* Rays from a lens next to the heap towards points in it. */
static WadiTraceRay ray_of(uint64_t i)
{
    double u[3], v[3];
    wadi_random_unit3(21, i, WADI_RANDOM_TEST, u);
    wadi_random_unit3(22, i, WADI_RANDOM_TEST, v);
    WadiVec3f from = { (float)(1.5 + v[0]), (float)(v[1] - 2.5), (float)(0.5 + v[2]) };
    WadiVec3f to = { (float)(1.6 * u[0] - 0.8), (float)(1.6 * u[1] - 0.8), (float)(0.5 * u[2]) };
    return (WadiTraceRay){ from, wadi_normalizedf_or(wadi_subf(to, from), to), 0.0f };
}

static void clusters_meet_what_single_spheres_meet(void **unused)
{
    (void)unused;
    Heap heap;
    make_heap(&heap);
    wadi_parallel_set_threads(1);
    double t0 = seconds();
    WadiError error = { 0 };
    WadiTracer *tracer = NULL;
    CHECK_OK(wadi_tracer_create(&tracer, &heap.scene, &error), error);
    double t1 = seconds();
    RTCDevice device = rtcNewDevice("threads=1,set_affinity=0");
    rtcSetDeviceMemoryMonitorFunction(device, count_bytes, NULL);
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_COMPACT);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, heap.sphere, 0, 16,
                               heap.count);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcCommitScene(scene);
    double t2 = seconds();
    enum { RAYS = 200000 };
    float *distance = NULL;
    assert_int_equal(WADI_NEW(&distance, RAYS, "distances", NULL), WADI_OK);
    double t3 = seconds();
    for (uint64_t i = 0; i < RAYS; ++i) {
        WadiTraceRay ray = ray_of(i);
        WadiTraceHit hit;
        distance[i] = wadi_tracer_nearest(tracer, &ray, &hit) ? hit.distance : INFINITY;
    }
    double t4 = seconds();
    int hits = 0, differ = 0;
    for (uint64_t i = 0; i < RAYS; ++i) {
        WadiTraceRay ray = ray_of(i);
        struct RTCRayHit single = { .ray = { .org_x = ray.origin.x,
                                             .org_y = ray.origin.y,
                                             .org_z = ray.origin.z,
                                             .dir_x = ray.direction.x,
                                             .dir_y = ray.direction.y,
                                             .dir_z = ray.direction.z,
                                             .tfar = INFINITY,
                                             .mask = UINT32_MAX },
                                    .hit = { .geomID = RTC_INVALID_GEOMETRY_ID } };
        wadi_embree_intersect(scene, &single);
        float expected = single.hit.geomID != RTC_INVALID_GEOMETRY_ID ? single.ray.tfar : INFINITY;
        hits += isfinite(expected);
        differ += !(expected == distance[i] || fabsf(expected - distance[i]) < 1e-4f);
    }
    double t5 = seconds();
    print_message("%zu spheres, one thread: clusters %.2f s, %.1f B a sphere, %.2f Mrays/s; single %.2f s, "
                  "%.1f B, %.2f Mrays/s\n",
                  heap.count, t1 - t0, (double)wadi_tracer_bytes(tracer) / (double)heap.count,
                  1e-6 * RAYS / (t4 - t3), t2 - t1,
                  (double)atomic_load(&embree_bytes) / (double)heap.count + 20.0, 1e-6 * RAYS / (t5 - t4));
    assert_true(hits > RAYS / 2);
    assert_true(differ < RAYS / 10000); /* at rims, where rounding decides */
    assert_true((double)wadi_tracer_bytes(tracer) < 60.0 * (double)heap.count);
    WADI_DELETE(distance, RAYS);
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
    wadi_tracer_destroy(tracer);
    wadi_parallel_set_threads(0);
    free_heap(&heap);
}

enum { SIDE = 300 };

/* Trees large enough for Embree to build them in parallel, of clusters and of triangles: the same film with
 * 1, 2 and 5 threads. Half of the spheres coincide with another, so that the tree alone decides which one is
 * hit. */
static void large_trees_give_the_same_bytes(void **unused)
{
    (void)unused;
    Heap heap;
    make_heap(&heap);
    for (size_t i = 0; i + 1 < heap.count; i += 2) {
        memcpy(heap.sphere[i + 1], heap.sphere[i], sizeof heap.sphere[i]);
    }
    WadiVec3 *vertices = NULL;
    uint32_t(*triangles)[3] = NULL;
    size_t count = 2 * (SIDE - 1) * (SIDE - 1);
    assert_int_equal(WADI_NEW(&vertices, SIDE * SIDE, "waves", NULL), WADI_OK);
    assert_int_equal(WADI_NEW(&triangles, count, "waves", NULL), WADI_OK);
    for (uint32_t j = 0; j < SIDE; ++j) {
        for (uint32_t i = 0; i < SIDE; ++i) {
            double x = 2.0 * i / (SIDE - 1.0) - 1.0, y = 2.0 * j / (SIDE - 1.0) - 1.0;
            vertices[j * SIDE + i] = wadi_vec3(x, y, 0.2 + 0.05 * sin(20.0 * x) * cos(17.0 * y));
            if (i + 1 < SIDE && j + 1 < SIDE) {
                uint32_t a = j * SIDE + i, t = 2 * (j * (SIDE - 1) + i);
                memcpy(triangles[t], (uint32_t[3]){ a, a + 1, a + SIDE }, sizeof triangles[t]);
                memcpy(triangles[t + 1], (uint32_t[3]){ a + 1, a + SIDE + 1, a + SIDE }, sizeof triangles[t]);
            }
        }
    }
    WadiTraceMesh mesh = { .vertex_count = SIDE * SIDE,
                           .triangle_count = count,
                           .vertices = vertices,
                           .triangles = (const uint32_t(*)[3])triangles };
    heap.scene.meshes = &mesh;
    heap.scene.mesh_count = 1;
    WadiCamera camera = wadi_camera_framing((WadiBox){ { -1, -1, 0 }, { 1, 1, 0.6 } }, 16.0 / 9.0);
    WadiTraceQuality quality = wadi_trace_draft();
    static const int threads[3] = { 1, 2, 5 };
    WadiFilm first = { 0 };
    for (int k = 0; k < 3; ++k) {
        wadi_parallel_set_threads(threads[k]);
        WadiFilm film = picture_take(&heap.scene, &camera, 192, 108, &quality);
        if (k == 0) {
            first = film;
        } else {
            assert_memory_equal(film.light, first.light, 192 * 108 * sizeof *film.light);
            wadi_film_free(&film);
        }
    }
    wadi_parallel_set_threads(0);
    wadi_film_free(&first);
    WADI_DELETE(vertices, SIDE * SIDE);
    WADI_DELETE(triangles, count);
    free_heap(&heap);
}

static void frames_of_a_heap(void **unused)
{
    (void)unused;
    Heap heap;
    make_heap(&heap);
    heap.scene.ground = (WadiTraceGround){
        .is_present = true, .height = 0.0, .look = wadi_look_plain(wadi_grey(0.4f)), .wetness = 0.0f
    };
    WadiBox box = { { -1, -1, 0 }, { 1, 1, 0.6 } };
    WadiCamera camera = wadi_camera_framing(box, 16.0 / 9.0);
    int width = is_long_run() ? 960 : 96, height = width * 9 / 16;
    WadiTraceQuality levels[2] = { wadi_trace_draft(), wadi_trace_preview() };
    for (int k = 0; k < 2; ++k) {
        double busy = seconds(), start = wadi_time_now();
        WadiFilm film = picture_take(&heap.scene, &camera, width, height, &levels[k]);
        WadiImage image;
        assert_int_equal(wadi_image_init(&image, width, height, NULL), WADI_OK);
        wadi_film_develop(&film, &(WadiDevelop){ .is_auto_exposed = true }, &image);
        print_message(
            "%zu spheres, %d x %d, %s: %.2f s on %d threads, %.2f s of processor time, tree included\n",
            heap.count, width, height, k == 0 ? "draft" : "preview", wadi_time_now() - start,
            wadi_parallel_threads(), seconds() - busy);
        /* Lit sand in the middle, neither black nor white. */
        double middle = picture_mean(&film, width * 2 / 5, height / 2, width * 3 / 5, height * 2 / 3);
        assert_true(middle > 0.02 && middle < 1.0);
        wadi_image_free(&image);
        wadi_film_free(&film);
    }
    free_heap(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_meet_what_single_spheres_meet),
        cmocka_unit_test(large_trees_give_the_same_bytes),
        cmocka_unit_test(frames_of_a_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
