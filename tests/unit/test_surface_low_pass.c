/* surface: a filter removes waves by their length and leaves thin parts, walls and volumes; voids go. */
#include "core/parallel.h"
#include "surface_fixture.h"

static const int low[3] = { -3, -3, -3 }, high[3] = { 3, 3, 3 };
static const double pi = 3.14159265358979324, cell = 0.1;

static WadiSurfaceMesh mesh_of(FieldFunction function, const void *context, WadiArena *arena)
{
    WadiError error;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, cell, function, context);
    WadiSurfaceMesh surface;
    CHECK_OK(wadi_surface_march(&surface, &fixture.field, arena, &error), error);
    field_free(&fixture);
    return surface;
}

typedef struct Waves {
    double length, height;
} Waves;

static const WadiBox tank = { { -2, -2, -2 }, { 2, 2, 2 } };

/* A tank up to z = 0.03, with waves along x. */
static double wave_distance(const void *context, WadiVec3 x)
{
    const Waves *waves = context;
    double top = 0.03 + waves->height * cos(2.0 * pi * x.x / waves->length);
    return fmax(fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - 2.0, x.z - top);
}

/* The height of the waves in the middle, by Fourier's sum. */
static double height_of(const WadiSurfaceMesh *surface, double length)
{
    double sum = 0.0;
    int count = 0;
    for (size_t v = 0; v < surface->mesh.vertex_count; ++v) {
        WadiVec3 x = surface->mesh.vertices[v];
        if (fabs(x.x) < length && fabs(x.y) < 0.8 && fabs(x.z) < 0.5) {
            sum += 2.0 * (x.z - 0.03) * cos(2.0 * pi * x.x / length);
            ++count;
        }
    }
    return sum / count;
}

/* Of a wave (1 + s) exp(-s) is left, s = 1.678 (length of the filter / length of the wave)^2. A vertex has
 * the eigenvalue (pi / n)^2 of a wave of n cells only in the mean over directions, hence the tolerance. */
static void waves_go_by_their_length(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    for (int n = 0; n < 3; ++n) {
        Waves waves = { n == 0 ? 0.45 : n == 1 ? 0.9 : 1.8, 0.02 };
        WadiSurfaceMesh surface = mesh_of(wave_distance, &waves, &arena);
        double before = height_of(&surface, waves.length), volume = surface_facts(&surface).volume;
        WadiLowPassDef filter = { .length = 0.9, .inward = 0.1, .outward = 0.2 };
        CHECK_OK(wadi_surface_low_pass(&surface, &filter, true, tank, &arena, &error), error);
        double s = 1.678347 * pow(filter.length / waves.length, 2.0);
        CHECK_NEAR(height_of(&surface, waves.length) / before, (1.0 + s) * exp(-s), 0.12);
        CHECK_NEAR(surface_facts(&surface).volume, volume, 1e-9 * volume);
        wadi_surface_mesh_free(&surface);
    }
    wadi_arena_free(&arena);
}

/* Two balls and a thread of a radius of two cells between them, and a drop of that size beside. */
static double thread_distance(const void *context, WadiVec3 x)
{
    const double *radius = context;
    WadiVec3 left = { -1.4, 0, 0 }, right = { 1.4, 0, 0 }, drop = { 0, 1.2, 0.3 };
    double along = fmax(-1.4, fmin(1.4, x.x));
    double thread = wadi_norm(wadi_vec3(x.x - along, x.y, x.z)) - *radius;
    return fmin(fmin(fmin(wadi_norm(wadi_sub(x, left)), wadi_norm(wadi_sub(x, right))) - 0.8, thread),
                wadi_norm(wadi_sub(x, drop)) - *radius);
}

static void threads_and_drops_stay(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const double radius = 0.2;
    WadiSurfaceMesh surface = mesh_of(thread_distance, &radius, &arena);
    WadiLowPassDef filter = { .length = 1.2, .inward = 0.125, .outward = 0.25 };
    double volume = surface_facts(&surface).volume;
    CHECK_OK(wadi_surface_low_pass(&surface, &filter, false, tank, &arena, &error), error);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_manifold);
    assert_int_equal(facts.parts, 2);
    CHECK_NEAR(facts.volume, volume, 1e-9 * volume);
    double thread = 0.0, drop = 0.0;
    int threads = 0, drops = 0;
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        WadiVec3 x = surface.mesh.vertices[v];
        if (fabs(x.x) < 0.3 && fabs(x.y) < 0.5) {
            thread += hypot(x.y, x.z);
            ++threads;
        } else if (x.y > 0.9 && fabs(x.x) < 0.5) {
            drop += wadi_norm(wadi_sub(x, wadi_vec3(0, 1.2, 0.3)));
            ++drops;
        }
    }
    CHECK_AT_MOST(0.7 * radius, thread / threads);
    CHECK_NEAR(drop / drops, radius, 0.1 * radius);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static void walls_hold_and_threads_do_not_matter(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    WadiSurfaceMesh made[2];
    Waves waves = { 0.7, 0.05 };
    for (int n = 0; n < 2; ++n) {
        wadi_parallel_set_threads(n == 0 ? 1 : 5);
        made[n] = mesh_of(wave_distance, &waves, &arena);
        WadiLowPassDef filter = { .length = 1.0, .inward = 0.1, .outward = 0.2 };
        WadiVec3 *before;
        CHECK_OK(WADI_ARENA_NEW(&arena, &before, made[n].mesh.vertex_count, "test", &error), error);
        memcpy(before, made[n].mesh.vertices, made[n].mesh.vertex_count * sizeof *before);
        CHECK_OK(wadi_surface_low_pass(&made[n], &filter, true, tank, &arena, &error), error);
        for (size_t v = 0; v < made[n].mesh.vertex_count; ++v) {
            for (int axis = 0; axis < 3; ++axis) {
                double at = wadi_component(before[v], axis);
                assert_true(fabs(at) < 2.0 - 2e-4 || wadi_component(made[n].mesh.vertices[v], axis) == at);
            }
        }
    }
    wadi_parallel_set_threads(0);
    assert_memory_equal(made[0].mesh.vertices, made[1].mesh.vertices,
                        made[0].mesh.vertex_count * sizeof(WadiVec3));
    assert_memory_equal(made[0].normal, made[1].normal, made[0].mesh.vertex_count * sizeof *made[0].normal);
    wadi_surface_mesh_free(&made[0]);
    wadi_surface_mesh_free(&made[1]);
    wadi_arena_free(&arena);
}

/* A ball with two hollows, one of them with a ball in it. */
static double hollow_distance(const void *context, WadiVec3 x)
{
    (void)context;
    double far = wadi_norm(x), left = wadi_norm(wadi_sub(x, wadi_vec3(-0.8, 0, 0))),
           right = wadi_norm(wadi_sub(x, wadi_vec3(0.8, 0, 0)));
    return fmin(fmax(far - 2.0, fmax(0.6 - left, 0.6 - right)), left - 0.3);
}

static void voids_are_dropped(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    WadiSurfaceMesh surface = mesh_of(hollow_distance, NULL, &arena);
    assert_int_equal(surface_facts(&surface).parts, 4);
    CHECK_OK(wadi_surface_drop_voids(&surface, &arena, &error), error);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_manifold);
    assert_int_equal(facts.parts, 2);
    double whole = 4.0 / 3.0 * pi * (8.0 + 0.027);
    CHECK_NEAR(facts.volume, whole, 0.01 * whole);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_go_by_their_length),
        cmocka_unit_test(threads_and_drops_stay),
        cmocka_unit_test(voids_are_dropped),
        cmocka_unit_test(walls_hold_and_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
