/* particles/emit: rates, places, births and drains; and allocation that fails at every call in turn. */
#include <stdlib.h>
#include <string.h>

#include "../physics/scene_shapes.h"
#include "core/arena.h"
#include "failing_alloc.h"
#include "particles/cells.h"
#include "particles/emit.h"
#include "particles/seed.h"

static const WadiOverfullRegion *region; /* of the last emission */

static WadiEmitIn emitter(const WadiShape *shape, const WadiCurve *rate, const WadiCurve *velocity,
                          double spacing)
{
    return (WadiEmitIn){ .shape = shape,
                         .velocity = velocity,
                         .rate = rate,
                         .particle_volume = spacing * spacing * spacing,
                         .start = 0.0,
                         .end = INFINITY,
                         .max_particles = INT64_MAX,
                         .seed = 9,
                         .spacing = spacing };
}

static int64_t pour(const WadiEmitIn *in, double duration, int steps, WadiParticles *particles)
{
    WadiError error;
    WadiEmitState state = { 0 };
    int64_t total = 0;
    for (int step = 0; step < steps; ++step) {
        int64_t count;
        double dt = duration / steps;
        CHECK_OK(wadi_emit_step(in, step * dt, dt, &state, particles, &count, &region, &error), error);
        total += count;
    }
    assert_int_equal(total, (int64_t)state.emitted);
    assert_int_equal(total, particles->count);
    assert_true(wadi_particles_validate(particles));
    return total;
}

static void the_rate_is_kept_to_one_particle(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *shape = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0), wadi_vec3(1, 1, 1)));
    WadiKey keys[3] = { { 0.5, { 0 } }, { 1.0, { 0.004 } }, { 2.0, { 0.001 } } };
    /* Integrals over [0, 3]: constant 0.002; linear 0.001 + 0.0025 + 0.001; eased the same by symmetry; in
     * steps 0.004 + 0.001; repeating every 1.5 s: two whole turns of 0.0035. */
    double integrals[5] = { 0.006, 0.0045, 0.0045, 0.005, 0.0035 + 0.0035 };
    for (int c = 0; c < 5; ++c) {
        WadiCurve rate = wadi_curve_constant(0.002), velocity = wadi_curve_constant3(1, 0, 0);
        if (c > 0) {
            WadiInterpolation kind[5] = { WADI_INTERPOLATION_LINEAR, WADI_INTERPOLATION_LINEAR,
                                          WADI_INTERPOLATION_SMOOTH, WADI_INTERPOLATION_STEP,
                                          WADI_INTERPOLATION_LINEAR };
            CHECK_OK(wadi_curve_create(&rate, keys, 3, 1, kind[c], c == 4, &error), error);
        }
        WadiEmitIn in = emitter(shape, &rate, &velocity, 0.01);
        CHECK_NEAR(wadi_emit_expected(&in, 3.0), floor(integrals[c] / 1e-6 + 1e-6), 1.0);
        for (int steps = 7; steps < 200; steps += 83) {
            WadiParticles particles;
            CHECK_OK(wadi_particles_init(&particles, &error), error);
            CHECK_NEAR((double)pour(&in, 3.0, steps, &particles), integrals[c] / 1e-6, 1.0);
            wadi_particles_free(&particles);
        }
        in.start = 1.0, in.end = 1.5, in.max_particles = 100;
        CHECK_NEAR(wadi_emit_expected(&in, 3.0), 100.0, 0.0);
        WadiParticles particles;
        CHECK_OK(wadi_particles_init(&particles, &error), error);
        assert_int_equal(pour(&in, 3.0, 10, &particles), 100);
        wadi_particles_free(&particles);
        wadi_curve_free(&rate);
    }
    wadi_shape_destroy(shape);
}

/* A disc of radius 0.1 m pours 2 m/s at the rate that fills its jet: the jet is bulk material, without
 * clumps or gaps. */
static void a_jet_is_even(void **unused)
{
    (void)unused;
    WadiError error;
    double spacing = 0.01, area = 3.14159265358979323846 * 0.01;
    WadiShape *disc = shape_of(def_of_cylinder(wadi_vec3(0, 0, 0), wadi_vec3(0.001, 0, 0), 0.1));
    WadiCurve rate = wadi_curve_constant(2.0 * area), velocity = wadi_curve_constant3(2, 0, 0);
    WadiEmitIn in = emitter(disc, &rate, &velocity, spacing);
    WadiParticles p;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    WadiEmitState state = { 0 };
    /* Steps of 0.1 m each; the old ones are moved on by hand. */
    for (int step = 0; step < 10; ++step) {
        int64_t count;
        for (int32_t i = 0; i < p.count; ++i) {
            p.x[i] += 2.0 * 0.05;
        }
        CHECK_OK(wadi_emit_step(&in, step * 0.05, 0.05, &state, &p, &count, &region, &error), error);
    }
    CHECK_NEAR((double)p.count, area / 1e-6, 1.0);
    int slice[100] = { 0 }, quarter[4] = { 0 };
    for (int32_t i = 0; i < p.count; ++i) {
        assert_true(p.x[i] >= 0.0 && p.x[i] <= 1.0011);
        slice[(int)fmin(p.x[i] * 100.0, 99.0)] += 1;
        quarter[(p.y[i] > 0) + 2 * (p.z[i] > 0)] += 1;
        CHECK_NEAR((double)p.vx[i], 2.0, 0.0);
    }
    for (int s = 1; s < 99; ++s) {
        /* 314 in each centimetre; random births would scatter by 18. */
        CHECK_NEAR(slice[s], 314.0, 45.0);
    }
    for (int q = 0; q < 4; ++q) {
        CHECK_NEAR(quarter[q] / (double)p.count, 0.25, 0.002);
    }
    /* Few pairs are much nearer than a spacing: of random points 4/3 pi 0.3^3 = 11 % have a neighbour
     * within 0.3. */
    WadiArena arena = { 0 };
    WadiCells cells;
    WadiNeighbours near;
    CHECK_OK(wadi_cells_build(&cells, &p, spacing, &arena, &error), error);
    CHECK_OK(wadi_neighbours_fixed(&near, &cells, &p, 0.3 * spacing, &arena, &error), error);
    print_message("near pairs: %.2f %% of particles, random 11 %%\n",
                  100.0 * (double)near.start[p.count] / p.count);
    CHECK_AT_MOST((double)near.start[p.count] / p.count, 0.06);
    wadi_arena_free(&arena);
    wadi_particles_free(&p);
    wadi_shape_destroy(disc);
}

static void newborns_fall_on_their_way(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *shape = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0), wadi_vec3(1, 1, 1e-6)));
    WadiCurve rate = wadi_curve_constant(0.01), velocity = wadi_curve_constant3(0, 0, -1);
    WadiCurve gravity = wadi_curve_constant3(0, 0, -9.81);
    WadiEmitIn in = emitter(shape, &rate, &velocity, 0.01);
    in.gravity = &gravity;
    WadiParticles p;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    WadiEmitState state = { 0 };
    int64_t count = 0;
    CHECK_OK(wadi_emit_step(&in, 0.0, 0.1, &state, &p, &count, &region, &error), error);
    assert_int_equal(count, 1000);
    for (int32_t i = 0; i < p.count; ++i) {
        double flown = ((double)p.vz[i] + 1.0) / -9.81;
        assert_true(flown >= -1e-7 && flown <= 0.1);
        CHECK_NEAR(p.z[i], -flown - 0.5 * 9.81 * flown * flown, 2e-6);
    }
    wadi_particles_free(&p);
    wadi_shape_destroy(shape);
}

static void a_resumed_emitter_gives_the_same_particles(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *shape = shape_of(def_of_sphere(wadi_vec3(0, 0, 1), 0.3));
    WadiCurve rate = wadi_curve_constant(0.01), velocity = wadi_curve_constant3(0, 0, -3);
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiSolids floor_only = { NULL, 0, { { -1, -1, 0.95 }, { 1, 1, 2 } }, WADI_SIDE_ALL, &zero, &zero };
    WadiEmitIn in = emitter(shape, &rate, &velocity, 0.02);
    in.solids = &floor_only;
    WadiParticles a, b;
    CHECK_OK(wadi_particles_init(&a, &error), error);
    CHECK_OK(wadi_particles_init(&b, &error), error);
    WadiEmitState whole = { 0 }, part = { 0 };
    for (int step = 0; step < 20; ++step) {
        int64_t count;
        WadiEmitState copy = { part.owed, part.emitted, part.tried }; /* all that a checkpoint has */
        CHECK_OK(wadi_emit_step(&in, step * 0.1, 0.1, &whole, &a, &count, &region, &error), error);
        CHECK_OK(wadi_emit_step(&in, step * 0.1, 0.1, &copy, &b, &count, &region, &error), error);
        part = copy;
    }
    assert_true(a.count > 1000 && a.count == b.count);
    assert_memory_equal(a.x, b.x, (size_t)a.count * sizeof(double));
    for (int32_t i = 0; i < a.count; ++i) {
        /* None is born in the floor or flies into it. */
        assert_true(a.z[i] >= 0.95 && a.z[i] <= 1.3);
    }
    wadi_particles_free(&a);
    wadi_particles_free(&b);
    wadi_shape_destroy(shape);
}

static void a_blocked_emitter_pours_nothing(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *shape = shape_of(def_of_sphere(wadi_vec3(0, 0, 0), 0.1));
    WadiCurve rate = wadi_curve_constant(0.01), velocity = wadi_curve_constant3(0, 0, 0);
    WadiSolids solids = { NULL, 0, { { -1, -1, 5 }, { 1, 1, 6 } }, WADI_SIDE_ALL, &rate, &rate };
    WadiEmitIn in = emitter(shape, &rate, &velocity, 0.02);
    in.solids = &solids;
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    assert_int_equal(pour(&in, 1.0, 4, &particles), 0);
    assert_int_equal(particles.next_id, 0);
    wadi_particles_free(&particles);
    wadi_shape_destroy(shape);
}

static void drains_mark_what_is_inside_while_open(void **unused)
{
    (void)unused;
    WadiError error;
    WadiShape *shape = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, -1, -1), wadi_vec3(9.5, 1, 1)));
    WadiDrainIn drain = { shape, 1.0, 2.0 };
    WadiParticles particles;
    WadiArena arena = { 0 };
    int32_t first;
    uint8_t *is_inside;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    CHECK_OK(wadi_drain_mark(&drain, 1, 1.5, &particles, &is_inside, &arena, &error), error);
    assert_null(is_inside);
    CHECK_OK(wadi_particles_append(&particles, 20, &first, &error), error);
    for (int i = 0; i < 20; ++i) {
        particles.x[i] = i + 0.25;
    }
    CHECK_OK(wadi_drain_mark(&drain, 1, 0.5, &particles, &is_inside, &arena, &error), error);
    assert_null(is_inside);
    CHECK_OK(wadi_drain_mark(&drain, 1, 1.5, &particles, &is_inside, &arena, &error), error);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(is_inside[i], i < 10);
    }
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
    wadi_shape_destroy(shape);
}

static WadiStatus everything(const WadiSeedIn *seed, const WadiEmitIn *emit, const WadiDrainIn *drain,
                             WadiParticles *p, WadiArena *arena, WadiState *state)
{
    WadiCells cells;
    WadiNeighbours neighbours;
    WadiEmitState poured = { 0 };
    int64_t count;
    uint8_t *is_inside;
    int column;
    WADI_TRY(wadi_particles_init(p, NULL));
    WADI_TRY(wadi_particles_add_column(p, "heat", WADI_TYPE_F32, &column, NULL));
    WADI_TRY(wadi_seed_fill(seed, p, &count, NULL));
    WADI_TRY(wadi_emit_step(emit, 0.0, 0.1, &poured, p, &count, &region, NULL));
    WADI_TRY(wadi_cells_build(&cells, p, seed->cell_size, arena, NULL));
    WADI_TRY(wadi_particles_permute(p, cells.order, NULL));
    WADI_TRY(wadi_cells_build(&cells, p, seed->cell_size, arena, NULL));
    WADI_TRY(wadi_neighbours_fixed(&neighbours, &cells, p, seed->cell_size, arena, NULL));
    WADI_TRY(wadi_drain_mark(drain, 1, 0.0, p, &is_inside, arena, NULL));
    WADI_TRY(wadi_particles_save(p, state, NULL));
    return wadi_particles_load(p, state, NULL);
}

static void memory_may_fail_at_every_call(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    WadiShape *box = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0), wadi_vec3(0.5, 0.5, 0.5)));
    WadiCurve rate = wadi_curve_constant(1.0), velocity = wadi_curve_constant3(0, 0, 0);
    WadiSeedIn seed = { .shape = box, .cell_size = 0.1, .per_axis = 2, .jitter = 1, .snap = WADI_SNAP_ZB05 };
    WadiEmitIn emit = emitter(box, &rate, &velocity, 0.05);
    WadiDrainIn drain = { box, 0, 1 };
    size_t before = wadi_alloc_live_bytes();
    WadiStatus status = WADI_ERR_MEMORY;
    int n = 0;
    for (; status != WADI_OK && n < 10000; ++n) {
        WadiParticles particles = { 0 };
        WadiArena arena = { 0 };
        WadiState state = { 0 };
        alloc_calls_left = n;
        status = everything(&seed, &emit, &drain, &particles, &arena, &state);
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_true(particles.column_count < 8 || wadi_particles_validate(&particles));
        wadi_state_free(&state);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
        assert_int_equal(wadi_alloc_live_bytes(), before);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(n > 50);
    print_message("%d allocations failed in turn\n", n - 1);
    wadi_shape_destroy(box);
    assert_int_equal(wadi_alloc_live_bytes(), 0);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_kept_to_one_particle),
        cmocka_unit_test(a_jet_is_even),
        cmocka_unit_test(newborns_fall_on_their_way),
        cmocka_unit_test(a_resumed_emitter_gives_the_same_particles),
        cmocka_unit_test(a_blocked_emitter_pours_nothing),
        cmocka_unit_test(drains_mark_what_is_inside_while_open),
        cmocka_unit_test(memory_may_fail_at_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
