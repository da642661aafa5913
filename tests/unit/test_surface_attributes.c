/* surface: attributes of vertices against the sum over all particles. */
#include "core/parallel.h"
#include "surface_fixture.h"

enum { PARTICLES = 6000, SCALARS = 7 };

/* A box of particles of three sizes; the attributes are a constant, the position, and random numbers. */
typedef struct TestCloud {
    WadiCloud cloud;
    WadiVec3 position[PARTICLES];
    float spacing[PARTICLES];
    float constant[PARTICLES], place[PARTICLES][3], noise[PARTICLES][SCALARS];
    WadiArena arena;
    WadiBins bins;
} TestCloud;

static TestCloud test;

static void add_attribute(WadiCloud *cloud, const char *name, int components, float *values)
{
    WadiCloudAttribute *to = &cloud->attribute[cloud->attribute_count++];
    snprintf(to->name, sizeof to->name, "%s", name);
    to->components = components;
    to->values = values;
}

static void make_cloud(void)
{
    const float sizes[3] = { 0.1f, 0.13f, 0.31f };
    WadiCloud *cloud = &test.cloud;
    *cloud = (WadiCloud){ .count = PARTICLES, .position = test.position, .spacing = test.spacing };
    cloud->spacing_min = (double)sizes[0];
    cloud->spacing_max = (double)sizes[2];
    for (uint64_t i = 0; i < PARTICLES; ++i) {
        double u[3];
        wadi_random_unit3(1, i, WADI_RANDOM_TEST, u);
        test.position[i] = wadi_vec3(2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0, u[2] - 1.0);
        test.spacing[i] = sizes[i % 20 < 12 ? 0 : i % 20 < 19 ? 1 : 2];
        test.constant[i] = 0.1f;
        test.place[i][0] = (float)test.position[i].x;
        test.place[i][1] = (float)test.position[i].y;
        test.place[i][2] = (float)test.position[i].z;
        for (uint64_t c = 0; c < SCALARS; ++c) {
            test.noise[i][c] = (float)wadi_random_unit(2 + c, i, WADI_RANDOM_TEST);
        }
    }
    add_attribute(cloud, "constant", 1, test.constant);
    add_attribute(cloud, "place", 3, test.place[0]);
    add_attribute(cloud, "noise", SCALARS, test.noise[0]);
    WadiError error;
    test.arena = (WadiArena){ 0 };
    CHECK_OK(wadi_bins_build(&test.bins, cloud, 2.0, &test.arena, &error), error);
}

/* A ball centred on the top of the box, so that half of its vertices are far from any particle. */
static WadiSurfaceMesh make_surface(double radius)
{
    const int low[3] = { -3, -3, -3 }, high[3] = { 3, 3, 3 };
    const TestBall ball = { { 0.0, 0.0, 0.0 }, radius, 0.0 };
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.05, ball_distance, &ball);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    field_free(&fixture);
    return surface;
}

/* The definition, in double; returns the sum of the weights at x. */
static double sum_all(WadiVec3 x, double place[3], double *noise, int32_t *nearest)
{
    double weight = 0.0, best = INFINITY, sum[3] = { 0 }, scalar = 0.0;
    for (int32_t i = 0; i < PARTICLES; ++i) {
        WadiVec3 d = wadi_sub(x, test.position[i]);
        double s = wadi_norm(d) / (2.0 * (double)test.spacing[i]);
        if (wadi_norm(d) < best) {
            best = wadi_norm(d);
            *nearest = i;
        }
        double k = s < 1.0 ? pow(1.0 - s * s, 3.0) : 0.0;
        weight += k;
        scalar += k * (double)test.noise[i][SCALARS - 1];
        sum[0] += k * test.position[i].x;
        sum[1] += k * test.position[i].y;
        sum[2] += k * test.position[i].z;
    }
    *noise = scalar / weight;
    for (int c = 0; c < 3; ++c) {
        place[c] = sum[c] / weight;
    }
    return weight;
}

static void vertices_have_the_weighted_mean_of_particles(void **unused)
{
    (void)unused;
    WadiError error;
    make_cloud();
    WadiSurfaceMesh surface = make_surface(0.9);
    for (int pass = 0; pass < 2; ++pass) { /* the second replaces the first */
        CHECK_OK(wadi_surface_attributes(&surface, &test.cloud, &test.bins, &error), error);
    }
    assert_int_equal(surface.attribute_count, 3);
    assert_string_equal(surface.attribute[1].name, "place");
    assert_int_equal(surface.attribute[2].components, SCALARS);
    size_t reached = 0, missed = 0;
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        /* Equal to the last bit. */
        assert_true(surface.attribute[0].values[v] == 0.1f);
        if (v % 7 != 0) {
            continue;
        }
        double place[3], noise;
        int32_t nearest = 0;
        double weight = sum_all(surface.mesh.vertices[v], place, &noise, &nearest);
        if (weight > 1e-9) {
            for (int c = 0; c < 3; ++c) {
                CHECK_NEAR((double)surface.attribute[1].values[3 * v + (size_t)c], place[c], 2e-6);
            }
            CHECK_NEAR((double)surface.attribute[2].values[SCALARS * v + SCALARS - 1], noise, 2e-5);
            ++reached;
        } else if (weight == 0.0) {
            assert_memory_equal(&surface.attribute[1].values[3 * v], test.place[nearest], 3 * sizeof(float));
            assert_memory_equal(&surface.attribute[2].values[SCALARS * v], test.noise[nearest],
                                SCALARS * sizeof(float));
            ++missed;
        }
    }
    assert_true(reached > 100 && missed > 100);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&test.arena);
}

static void linear_fields_stay_linear_inside(void **unused)
{
    (void)unused;
    /* On a lattice of particles, away from their rim, the mean of the places is the place but for what the
     * lattice shows of itself. */
    enum { SIDE = 18 };
    WadiError error;
    static WadiVec3 position[SIDE * SIDE * SIDE];
    static float spacing[SIDE * SIDE * SIDE], place[SIDE * SIDE * SIDE][3];
    WadiCloud cloud = { .count = SIDE * SIDE * SIDE,
                        .position = position,
                        .spacing = spacing,
                        .spacing_min = (double)0.1f,
                        .spacing_max = (double)0.1f };
    for (int n = 0; n < cloud.count; ++n) {
        int i[3] = { n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE };
        double x[3];
        for (int c = 0; c < 3; ++c) {
            x[c] = 0.1 * (i[c] - SIDE / 2);
            place[n][c] = (float)x[c];
        }
        position[n] = wadi_vec3(x[0], x[1], x[2]);
        spacing[n] = 0.1f;
    }
    add_attribute(&cloud, "place", 3, place[0]);
    WadiArena arena = { 0 };
    WadiBins bins;
    CHECK_OK(wadi_bins_build(&bins, &cloud, 2.0, &arena, &error), error);
    WadiSurfaceMesh surface = make_surface(0.6);
    CHECK_OK(wadi_surface_attributes(&surface, &cloud, &bins, &error), error);
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        for (int c = 0; c < 3; ++c) {
            double at = wadi_component(surface.mesh.vertices[v], c);
            CHECK_NEAR((double)surface.attribute[0].values[3 * v + (size_t)c], at, 0.01 * 0.1);
        }
    }
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static void nothing_from_nothing(void **unused)
{
    (void)unused;
    WadiError error;
    WadiBins bins = { 0 };
    WadiArena arena = { 0 };
    WadiSurfaceMesh surface = make_surface(0.3);
    float value = 3.0f;
    WadiCloud empty = { 0 };
    add_attribute(&empty, "wetness", 1, &value);
    CHECK_OK(wadi_bins_build(&bins, &empty, 2.0, &arena, &error), error);
    CHECK_OK(wadi_surface_attributes(&surface, &empty, &bins, &error), error);
    assert_true(surface.attribute_count == 1 && surface.attribute[0].values[5] == 0.0f);
    wadi_surface_mesh_free(&surface);

    make_cloud();
    WadiSurfaceMesh none = { 0 };
    CHECK_OK(wadi_surface_attributes(&none, &test.cloud, &test.bins, &error), error);
    assert_int_equal(none.attribute_count, 3);
    wadi_surface_mesh_free(&none);
    wadi_arena_free(&test.arena);
    wadi_arena_free(&arena);
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    WadiError error;
    make_cloud();
    WadiSurfaceMesh surface = make_surface(0.9);
    float *first = calloc(surface.mesh.vertex_count * SCALARS, sizeof *first);
    assert_non_null(first);
    const int threads[3] = { 1, 2, 5 };
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(threads[n]);
        CHECK_OK(wadi_surface_attributes(&surface, &test.cloud, &test.bins, &error), error);
        size_t bytes = surface.mesh.vertex_count * SCALARS * sizeof *first;
        if (n == 0) {
            memcpy(first, surface.attribute[2].values, bytes);
        }
        assert_memory_equal(surface.attribute[2].values, first, bytes);
    }
    wadi_parallel_set_threads(0);
    free(first);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&test.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_have_the_weighted_mean_of_particles),
        cmocka_unit_test(linear_fields_stay_linear_inside),
        cmocka_unit_test(nothing_from_nothing),
        cmocka_unit_test(threads_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
