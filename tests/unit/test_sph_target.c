/* sph: the sizes that particles of known bodies are asked to have. [theory 11.9] */
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "expect.h"
#include "sph/adapt/sph_feature.h"
#include "sph/adapt/sph_target.h"

typedef struct Body {
    WadiParticles particles;
    WadiArena arena;
    double *volume;
    uint8_t *is_sand;
    WadiSolids solids;
    WadiShape *collider;
    WadiSolid solid;
    float *above, *below, *depth;
} Body;

typedef bool (*Inside)(WadiVec3 x);

/* Particles of a size on a jittered lattice, in a box from -12 to 12 on a floor at -12. */
static void make_body(Body *body, Inside is_inside, double size)
{
    WadiError error;
    *body = (Body){ 0 };
    WadiParticles *p = &body->particles;
    CHECK_OK(wadi_particles_init(p, &error), error);
    const int side = (int)(24.0 / size);
    for (int n = 0; n < side * side * side; ++n) {
        double u[3];
        wadi_random_unit3(1, (uint64_t)n, WADI_RANDOM_TEST, u);
        const WadiVec3 x = { size * (n % side + 0.45 + 0.1 * u[0]) - 12.0,
                             size * (n / side % side + 0.45 + 0.1 * u[1]) - 12.0,
                             size * (n / side / side + 0.45 + 0.1 * u[2]) - 12.0 };
        int32_t at;
        if (is_inside(x)) {
            CHECK_OK(wadi_particles_append(p, 1, &at, &error), error);
            p->x[at] = x.x, p->y[at] = x.y, p->z[at] = x.z;
        }
    }
    const size_t count = (size_t)p->count;
    CHECK_OK(WADI_ARENA_NEW(&body->arena, &body->volume, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&body->arena, &body->is_sand, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&body->arena, &body->above, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&body->arena, &body->below, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&body->arena, &body->depth, count, "test", &error), error);
    for (size_t i = 0; i < count; ++i) {
        body->volume[i] = size * size * size;
        body->is_sand[i] = p->x[i] < 0.0;
    }
    body->solids =
        (WadiSolids){ .domain = { { -12, -12, -12 }, { 12, 12, 40 } }, .closed_sides = WADI_SIDE_ALL };
}

static void free_body(Body *body)
{
    wadi_particles_free(&body->particles);
    wadi_arena_free(&body->arena);
    wadi_shape_destroy(body->collider);
}

static bool is_in_ball(WadiVec3 x)
{
    return wadi_norm(x) < 10.0;
}

static bool is_in_pool(WadiVec3 x)
{
    return x.z < -5.2;
}

static bool is_in_box(WadiVec3 x)
{
    return x.z < 12.0;
}

static WadiSphBodyGridIn grid_input(const Body *body)
{
    return (WadiSphBodyGridIn){
        .particles = &body->particles, .volume = body->volume, .spacing = 1.0, .solids = &body->solids
    };
}

/* Mean and largest error of lfs over the cells of a body. */
static void measure_lfs(Inside is_inside, double size, double wanted)
{
    Body body;
    WadiSphBodyGrid grid;
    WadiError error;
    make_body(&body, is_inside, size);
    const WadiSphBodyGridIn in = grid_input(&body);
    CHECK_OK(wadi_sph_body_grid(&grid, &in, &body.arena, &error), error);
    float *feature = NULL;
    CHECK_OK(WADI_ARENA_NEW(&body.arena, &feature, wadi_rows_floats(&grid.rows), "test", &error), error);
    const WadiSphFeatureIn feature_in = {
        .rows = &grid.rows, .inside = grid.inside, .solid = grid.solid, .cell_size = 1.0, .largest = 100.0
    };
    CHECK_OK(wadi_sph_feature_size(grid.depth, feature, &feature_in, &body.arena, &error), error);
    double sum = 0.0, worst = 0.0;
    int count = 0;
    for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
        if ((grid.inside[at / 8] >> (at % 8) & 1) != 0) {
            const double lfs = (double)feature[at] - (double)grid.depth[at];
            sum += lfs, worst = fmax(worst, fabs(lfs - wanted)), ++count;
        }
    }
    print_message("%d particles of size %g: lfs %.2f for %.2f, at most %.2f off\n", (int)body.particles.count,
                  size, sum / count, wanted, worst);
    CHECK_NEAR(sum / count, wanted, 1.0);
    CHECK_AT_MOST(worst, 1.0 + size);
    free_body(&body);
}

static void lfs_of_bodies_of_particles_is_known(void **unused)
{
    (void)unused;
    measure_lfs(is_in_ball, 1.0, 10.0);
    measure_lfs(is_in_ball, 2.0, 10.0);
    measure_lfs(is_in_pool, 1.0, 7.0);
    measure_lfs(is_in_pool, 2.0, 6.0);
}

static void find_target(Body *body, WadiSphNear near)
{
    WadiError error;
    const WadiSphTargetIn in = { .body = grid_input(body),
                                 .is_sand = body->is_sand,
                                 .split = 1.0,
                                 .merge = 2.0,
                                 .largest = 2.0,
                                 .near = near };
    const WadiSphTarget target = { body->above, body->below, body->depth };
    CHECK_OK(wadi_sph_target(&target, &in, &body->arena, &error), error);
}

static const WadiSphNear NONE = { -1.0, -1.0, -1.0, { { .within = -1.0 }, { .within = -1.0 } } };

/* 24 deep under a free surface: as coarse as allowed everywhere. elfs is cut to merge r of size 2. */
static void a_deep_pool_is_coarse(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, is_in_box, 1.0);
    find_target(&body, NONE);
    for (int32_t i = 0; i < body.particles.count; ++i) {
        CHECK_NEAR((double)body.above[i], 64.0, 1e-4);
        CHECK_NEAR((double)body.below[i], 8.0, 1e-5);
        CHECK_NEAR((double)body.depth[i], fmin(8.0, 12.0 - body.particles.z[i]), 1.0);
    }
    free_body(&body);
}

/* Each rule: finest within its distance, larger beyond, and neighbours' masses within a factor of 2. */
static void expect_rule(Body *body, WadiSphNear near, double within, double (*distance_of)(WadiVec3))
{
    find_target(body, near);
    const WadiParticles *p = &body->particles;
    int fine = 0, coarse = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double d = distance_of(wadi_vec3(p->x[i], p->y[i], p->z[i]));
        if (d < within - 1.0) {
            CHECK_NEAR((double)body->above[i], 1.0, 0.3);
            ++fine;
        }
        /* The size grows by 0.2 a spacing, along axes. */
        const double most = 1.0 + 0.2 * sqrt(3.0) * fmax(0.0, d - within + 2.0);
        CHECK_AT_MOST(cbrt((double)body->above[i]), most);
        coarse += body->above[i] > 8.0f;
        for (int32_t j = 0; j < i; ++j) {
            const double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j], dz = p->z[i] - p->z[j];
            const double ratio = (double)(body->above[i] / body->above[j]);
            if (dx * dx + dy * dy + dz * dz < 1.1 * 1.1) {
                CHECK_AT_MOST(fmax(ratio, 1.0 / ratio), 2.0);
            }
        }
    }
    print_message("%d fine, %d coarse\n", fine, coarse);
    assert_true(fine > 10);
    assert_true(coarse > 50);
}

static double distance_to_surface(WadiVec3 x)
{
    return 12.0 - x.z;
}

static double distance_to_interface(WadiVec3 x)
{
    return fabs(x.x);
}

static double distance_to_corner(WadiVec3 x)
{
    return wadi_norm(wadi_sub(x, wadi_vec3(12.0, 12.0, 12.0)));
}

static double distance_to_collider(WadiVec3 x)
{
    return wadi_norm(wadi_sub(x, wadi_vec3(0.0, 0.0, -14.0))) - 5.0;
}

static void rules_ask_for_the_finest(void **unused)
{
    (void)unused;
    Body body;
    WadiError error;
    make_body(&body, is_in_box, 2.0);
    for (int32_t i = 0; i < body.particles.count; ++i) {
        body.volume[i] = 8.0;
    }
    WadiSphNear near = NONE;
    near.surface = 4.0;
    expect_rule(&body, near, 4.0, distance_to_surface);
    near = NONE, near.interface = 3.0;
    expect_rule(&body, near, 3.0, distance_to_interface);
    near = NONE, near.points[0].within = 8.0, near.points[0].at = wadi_vec3(12.0, 12.0, 12.0);
    expect_rule(&body, near, 8.0, distance_to_corner);
    WadiShapeDef ball = wadi_shape_def(WADI_SHAPE_SPHERE);
    ball.parameter[0] = wadi_curve_constant3(0.0, 0.0, -14.0);
    ball.parameter[1] = wadi_curve_constant(5.0);
    CHECK_OK(wadi_shape_create(&body.collider, &ball, NULL, &error), error);
    body.solid.shape = body.collider;
    body.solids.solids = &body.solid;
    body.solids.count = 1;
    near = NONE, near.colliders = 4.0;
    expect_rule(&body, near, 4.0, distance_to_collider);
    wadi_shape_def_free(&ball);
    free_body(&body);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Body body[3];
    WadiSphNear near = { -1.0, 1.0, 1.0, { { 3.0, { 4, 4, 4 } }, { .within = -1.0 } } };
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n == 2 ? 5 : n + 1);
        make_body(&body[n], is_in_ball, 1.0);
        find_target(&body[n], near);
    }
    wadi_parallel_set_threads(0);
    const size_t bytes = (size_t)body[0].particles.count * sizeof(float);
    for (int n = 1; n < 3; ++n) {
        assert_memory_equal(body[0].above, body[n].above, bytes);
        assert_memory_equal(body[0].depth, body[n].depth, bytes);
    }
    for (int n = 0; n < 3; ++n) {
        free_body(&body[n]);
    }
}

static void a_particle_nowhere_is_reported(void **unused)
{
    (void)unused;
    Body body;
    WadiError error;
    WadiSphBodyGrid grid;
    make_body(&body, is_in_ball, 2.0);
    body.particles.y[7] = NAN;
    const WadiSphBodyGridIn in = grid_input(&body);
    assert_int_equal(wadi_sph_body_grid(&grid, &in, &body.arena, &error), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "particle 7"));
    free_body(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lfs_of_bodies_of_particles_is_known),
        cmocka_unit_test(a_deep_pool_is_coarse),
        cmocka_unit_test(rules_ask_for_the_finest),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_particle_nowhere_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
