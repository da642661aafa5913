/* Seeding: volumes, independence of threads and of the shape, snapping, limits. */
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "geom/mesh/mesh.h"
#include "particles/cells.h"
#include "particles/seed.h"
#include "scene_shapes.h"

static const double PI = 3.14159265358979323846;

static WadiSeedIn seed_of(const WadiShape *shape, double cell_size)
{
    return (WadiSeedIn){ .shape = shape, .cell_size = cell_size, .per_axis = 2, .jitter = 1.0, .seed = 1 };
}

static uint64_t hash_of(const WadiParticles *particles)
{
    WadiError error;
    WadiState state = { 0 };
    CHECK_OK(wadi_particles_save(particles, &state, &error), error);
    uint64_t hash = wadi_state_hash(&state, WADI_USE_BOTH);
    wadi_state_free(&state);
    return hash;
}

static void an_aligned_box_is_filled_exactly(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *box = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(-0.5, 0, 1), wadi_vec3(0.5, 0.25, 1.5)));
    WadiSeedIn in = seed_of(box, 1.0 / 64.0);
    WadiParticles particles;
    int64_t count, filled;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    CHECK_OK(wadi_seed_count(&in, &count, &error), error);
    CHECK_OK(wadi_seed_fill(&in, &particles, &filled, &error), error);
    assert_int_equal(count, 64 * 16 * 32 * 8);
    assert_int_equal(filled, count);
    /* Eight in every cell, and the store is in the order of the cells. */
    WadiArena arena = { 0 };
    WadiCells cells;
    CHECK_OK(wadi_cells_build(&cells, &particles, in.cell_size, &arena, &error), error);
    assert_int_equal(cells.cell_count, 64 * 16 * 32);
    for (int32_t i = 0; i < particles.count; ++i) {
        assert_int_equal(cells.order[i], i);
        assert_int_equal(particles.id[i], i);
    }
    for (int32_t c = 0; c <= cells.cell_count; ++c) {
        assert_int_equal(cells.start[c], 8 * c);
    }
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
    wadi_shape_destroy(box);
}

static void a_sphere_has_its_volume_for_any_threads(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *sphere = shape_of(def_of_sphere(wadi_vec3(0.1, 0.2, 0.3), 0.5));
    uint64_t hashes[3];
    int threads[3] = { 1, 2, 5 };
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        WadiSeedIn in = seed_of(sphere, 0.02);
        in.snap = WADI_SNAP_ZB05;
        WadiParticles particles;
        int64_t count, counted;
        CHECK_OK(wadi_particles_init(&particles, &error), error);
        double start = wadi_time_now();
        CHECK_OK(wadi_seed_fill(&in, &particles, &count, &error), error);
        print_message("%lld particles in %.2f s on %d threads\n", (long long)count, wadi_time_now() - start,
                      threads[t]);
        CHECK_OK(wadi_seed_count(&in, &counted, &error), error);
        assert_int_equal(count, counted);
        double volume = PI / 6.0;
        CHECK_NEAR((double)count * 8e-6 / 8.0 / volume, 1.0, 0.01);
        assert_true(wadi_particles_validate(&particles));
        hashes[t] = hash_of(&particles);
        wadi_particles_free(&particles);
    }
    wadi_parallel_set_threads(0);
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
    wadi_shape_destroy(sphere);
}

/* A sheet of a fifth of a cell: one jittered particle in five falls inside. */
static void a_sheet_thinner_than_a_cell_has_its_volume(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *sheet = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0.0313), wadi_vec3(1, 1, 0.0333)));
    for (int snap = 0; snap < 3; ++snap) {
        WadiSeedIn in = seed_of(sheet, 0.01);
        in.snap = (WadiSnap)snap;
        WadiParticles particles;
        int64_t count;
        CHECK_OK(wadi_particles_init(&particles, &error), error);
        CHECK_OK(wadi_seed_fill(&in, &particles, &count, &error), error);
        /* 16,000 expected of 40,000 tries at 0.4; standard error 98, 0.6 %. */
        CHECK_NEAR((double)count * 1e-6 / 8.0 / 0.002, 1.0, 0.025);
        for (int32_t i = 0; i < particles.count; ++i) {
            assert_true(particles.z[i] > 0.0313 && particles.z[i] < 0.0333);
        }
        wadi_particles_free(&particles);
    }
    wadi_shape_destroy(sheet);
}

static void the_same_place_has_the_same_particle(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *box = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0), wadi_vec3(0.1, 0.1, 0.1)));
    WadiShape *larger = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(-1, -1, 0), wadi_vec3(0.1, 0.1, 0.1)));
    WadiSeedIn in = seed_of(box, 0.05), in_larger = seed_of(larger, 0.05);
    WadiParticles a, b;
    int64_t count;
    CHECK_OK(wadi_particles_init(&a, &error), error);
    CHECK_OK(wadi_particles_init(&b, &error), error);
    CHECK_OK(wadi_seed_fill(&in, &a, &count, &error), error);
    CHECK_OK(wadi_seed_fill(&in_larger, &b, &count, &error), error);
    assert_int_equal(a.count, 64);
    int found = 0;
    for (int32_t i = 0; i < a.count; ++i) {
        for (int32_t j = 0; j < b.count; ++j) {
            found += a.x[i] == b.x[j] && a.y[i] == b.y[j] && a.z[i] == b.z[j];
        }
    }
    assert_int_equal(found, 64);
    wadi_particles_free(&a);
    wadi_particles_free(&b);
    wadi_shape_destroy(box);
    wadi_shape_destroy(larger);
}

/* A block on the floor of a room: its sides and top are free, its bottom is not. */
static void free_surfaces_are_snapped_and_resting_ones_not(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *box = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(-0.5, -0.5, 0), wadi_vec3(0.5, 0.5, 0.5)));
    WadiSolids room = { NULL, 0, { { -2, -2, 0 }, { 2, 2, 2 } }, WADI_SIDE_ALL, NULL, NULL };
    for (int snap = WADI_SNAP_ZB05; snap <= WADI_SNAP_LAYER; ++snap) {
        double h = 0.05, depth = snap == WADI_SNAP_ZB05 ? h / 2 : h / 4;
        WadiSeedIn in = seed_of(box, h);
        in.snap = (WadiSnap)snap;
        in.solids = &room;
        in.velocity = wadi_vec3(1, 2, 3);
        in.angular_velocity = wadi_vec3(0, 0, 2);
        in.material = 4;
        WadiParticles p;
        int64_t count;
        CHECK_OK(wadi_particles_init(&p, &error), error);
        CHECK_OK(wadi_seed_fill(&in, &p, &count, &error), error);
        assert_int_equal(count, 20 * 20 * 10 * 8);
        int at_depth = 0, near_floor = 0;
        for (int32_t i = 0; i < p.count; ++i) {
            double top = 0.5 - p.z[i], side = 0.5 - fmax(fabs(p.x[i]), fabs(p.y[i]));
            /* Nothing is left nearer to a free face than the depth, but for places that see the floor
             * first. */
            if (p.z[i] > 2 * h) {
                assert_true(fmin(top, side) >= depth - 1e-9);
                at_depth += fabs(fmin(top, side) - depth) < 1e-9;
            }
            near_floor += p.z[i] < depth;
            CHECK_NEAR((double)p.vx[i], 1 - 2 * p.y[i], 1e-6);
            CHECK_NEAR((double)p.vy[i], 2 + 2 * p.x[i], 1e-6);
            assert_int_equal(p.material[i], 4);
        }
        assert_true(at_depth > 2000);
        /* Without the rule for resting faces there would be none at all. */
        assert_true(near_floor > (snap == WADI_SNAP_ZB05 ? 1300 : 600));
        wadi_particles_free(&p);
    }
    wadi_shape_destroy(box);
}

static void nothing_is_seeded_in_solids_or_out_of_the_domain(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *ground = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0.75), wadi_vec3(0, 0, 1)));
    WadiShape *ball = shape_of(def_of_sphere(wadi_vec3(0.5, 0.5, 0.3), 0.25));
    WadiSolid solid = { ball, NULL, NULL };
    WadiSolids solids = { &solid, 1, { { 0.03, 0, 0 }, { 1, 1, 1 } }, 0, NULL, NULL };
    WadiSeedIn in = seed_of(ground, 0.02);
    in.solids = &solids;
    WadiParticles p;
    int64_t count;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    CHECK_OK(wadi_seed_fill(&in, &p, &count, &error), error);
    double volume = 0.97 * 0.75 - 4.0 / 3.0 * PI * pow(0.25, 3);
    CHECK_NEAR((double)count * 1e-6 / volume, 1.0, 0.01);
    for (int32_t i = 0; i < p.count; ++i) {
        WadiVec3 x = { p.x[i], p.y[i], p.z[i] };
        assert_true(wadi_box_contains(solids.domain, x));
        assert_true(wadi_norm(wadi_sub(x, wadi_vec3(0.5, 0.5, 0.3))) >= 0.25);
    }
    wadi_particles_free(&p);
    wadi_shape_destroy(ground);
    wadi_shape_destroy(ball);
}

static void bodies_without_end_and_absurd_counts_are_refused(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiShape *ground = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), wadi_vec3(0, 0, 1)));
    WadiShape *sphere = shape_of(def_of_sphere(wadi_vec3(0, 0, 0), 100.0));
    WadiSeedIn in = seed_of(ground, 0.1);
    int64_t count = 1;
    assert_int_equal(wadi_seed_count(&in, &count, &error), WADI_ERR_SCENE);
    assert_non_null(strstr(error.text, "no end"));
    assert_int_equal(count, 0);
    size_t calls = wadi_alloc_peak_bytes();
    double sizes[3] = { 0.05, 1e-3, 1e-6 };
    for (int i = 0; i < 3; ++i) {
        in = seed_of(sphere, sizes[i]);
        double start = wadi_time_now();
        assert_int_equal(wadi_seed_count(&in, &count, &error), WADI_ERR_SCENE);
        assert_non_null(strstr(error.text, "particles"));
        CHECK_BENCH(wadi_time_now() - start, 2.0);
    }
    CHECK_AT_MOST((double)(wadi_alloc_peak_bytes() - calls), 2e7);
    in = seed_of(sphere, 1e-9);
    assert_int_equal(wadi_seed_count(&in, &count, &error), WADI_ERR_SCENE);
    assert_non_null(strstr(error.text, "too far"));
    wadi_shape_destroy(ground);
    wadi_shape_destroy(sphere);
}

static void a_small_body_in_a_huge_box_is_quick(void **unused)
{
    (void)unused;
    /* Two balls 200 m apart with cells of 1 cm: 20,000 cells across. */
    WadiError error;
    WadiShape *pair = shape_of(def_of_two(WADI_SHAPE_UNION, def_of_sphere(wadi_vec3(-100, -100, -100), 0.2),
                                          def_of_sphere(wadi_vec3(100, 100, 100), 0.2)));
    WadiSeedIn in = seed_of(pair, 0.01);
    int64_t count;
    double start = wadi_time_now();
    CHECK_OK(wadi_seed_count(&in, &count, &error), error);
    CHECK_BENCH(wadi_time_now() - start, 5.0);
    CHECK_NEAR((double)count * 1e-6 / 8.0 / (2.0 * 4.0 / 3.0 * PI * 0.008), 1.0, 0.02);
    wadi_shape_destroy(pair);
}

static double random_volume(const WadiShape *shape)
{
    enum { POINTS = 100000 };
    WadiBox box = wadi_shape_bounds(shape, 0.0);
    WadiVec3 size = wadi_box_size(box);
    int inside = 0;
    for (int i = 0; i < POINTS; ++i) {
        double u[3];
        wadi_random_unit3(31, (uint64_t)i, WADI_RANDOM_TEST, u);
        inside +=
            wadi_shape_contains(shape, wadi_add(box.min, wadi_mul(size, wadi_vec3(u[0], u[1], u[2]))), 0.0);
    }
    return size.x * size.y * size.z * inside / POINTS;
}

/* The cow is closed: its volume is that of its triangles by the divergence theorem. The bunny has holes
 * underneath, and the volume of what counts as its inside is measured with random points (standard error
 * 0.5 %). */
static void meshes_have_their_volume(void **unused)
{
    (void)unused;
    const char *places[] = { WADI_SOURCE_DIR "/../shared/meshes", WADI_SOURCE_DIR "/../../shared/meshes" };
    const char *names[] = { "spot.obj", "stanford-bunny.obj" };
    int found = 0;
    for (int i = 0; i < 4; ++i) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", places[i / 2], names[i % 2]);
        if (access(path, R_OK) != 0 || found == 2) {
            continue;
        }
        ++found;
        WadiError error;
        WadiMesh mesh = { 0 };
        CHECK_OK(wadi_mesh_read(&mesh, path, &error), error);
        WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
        CHECK_OK(wadi_string_copy(&def.file, path, strlen(path), &error), error);
        WadiShape *shape = shape_of(def);
        double volume = i % 2 == 0 ? wadi_mesh_volume(&mesh) : random_volume(shape);
        WadiVec3 size = wadi_box_size(wadi_shape_bounds(shape, 0.0));
        double spacing = fmax(size.x, fmax(size.y, size.z)) / 100.0;
        WadiSeedIn in = seed_of(shape, spacing);
        in.per_axis = 1;
        in.snap = WADI_SNAP_LAYER;
        WadiParticles particles;
        int64_t count;
        CHECK_OK(wadi_particles_init(&particles, &error), error);
        double start = wadi_time_now();
        CHECK_OK(wadi_seed_fill(&in, &particles, &count, &error), error);
        double ratio = (double)count * spacing * spacing * spacing / volume;
        print_message("%s: %lld particles in %.2f s, volume off by %.2f %%\n", names[i % 2], (long long)count,
                      wadi_time_now() - start, 100.0 * (ratio - 1.0));
        CHECK_NEAR(ratio, 1.0, 0.01);
        wadi_particles_free(&particles);
        wadi_shape_destroy(shape);
        wadi_mesh_free(&mesh);
    }
    if (found == 0) {
        print_message("the meshes are not here: skipped\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_aligned_box_is_filled_exactly),
        cmocka_unit_test(a_sphere_has_its_volume_for_any_threads),
        cmocka_unit_test(a_sheet_thinner_than_a_cell_has_its_volume),
        cmocka_unit_test(the_same_place_has_the_same_particle),
        cmocka_unit_test(free_surfaces_are_snapped_and_resting_ones_not),
        cmocka_unit_test(nothing_is_seeded_in_solids_or_out_of_the_domain),
        cmocka_unit_test(bodies_without_end_and_absurd_counts_are_refused),
        cmocka_unit_test(meshes_have_their_volume),
        cmocka_unit_test(a_small_body_in_a_huge_box_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
