/* particles/store: columns, growth, permutation, removal, snapshots. */
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "expect.h"
#include "particles/store.h"

static void fill(WadiParticles *particles, int64_t count)
{
    WadiError error;
    int32_t first;
    CHECK_OK(wadi_particles_append(particles, count, &first, &error), error);
    for (int32_t i = first; i < particles->count; ++i) {
        particles->x[i] = i + 0.25;
        particles->vx[i] = (float)i;
        particles->material[i] = (uint8_t)(i % 3);
    }
}

static void an_empty_store_is_valid_everywhere(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    assert_true(wadi_particles_validate(&particles));
    int32_t first = -1;
    CHECK_OK(wadi_particles_append(&particles, 0, &first, &error), error);
    assert_int_equal(first, 0);
    CHECK_OK(wadi_particles_permute(&particles, NULL, &error), error);
    assert_int_equal(wadi_particles_remove(&particles, NULL), 0);
    WadiState state = { 0 };
    CHECK_OK(wadi_particles_save(&particles, &state, &error), error);
    CHECK_OK(wadi_particles_load(&particles, &state, &error), error);
    assert_int_equal(particles.count, 0);
    /* 3 doubles, 4 words, 1 byte, and one spare item of each width. */
    assert_int_equal(wadi_particles_bytes_each(&particles), 3 * 8 + 4 * 4 + 1 + 8 + 4 + 1);
    wadi_state_free(&state);
    wadi_particles_free(&particles);
    assert_int_equal(wadi_alloc_live_bytes(), 0);
}

static void growth_keeps_values_and_gives_fresh_ids(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    for (int round = 0; round < 50; ++round) {
        fill(&particles, 37);
        assert_true(wadi_particles_validate(&particles));
    }
    assert_int_equal(particles.count, 50 * 37);
    assert_int_equal(particles.next_id, 50 * 37);
    for (int32_t i = 0; i < particles.count; ++i) {
        assert_true(particles.x[i] == i + 0.25 && particles.id[i] == (uint32_t)i && particles.y[i] == 0.0);
    }
    wadi_particles_free(&particles);
}

static void permute_moves_all_columns_together(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    WadiError error;
    uint64_t hashes[3];
    int threads[3] = { 1, 2, 5 };
    int32_t *order = NULL;
    CHECK_OK(WADI_NEW(&order, N, "order", &error), error);
    for (int32_t i = 0; i < N; ++i) {
        order[i] = (int32_t)((int64_t)i * 7919 % N); /* 7919 is prime to N */
    }
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        WadiParticles particles;
        int flag;
        CHECK_OK(wadi_particles_init(&particles, &error), error);
        CHECK_OK(wadi_particles_add_column(&particles, "flag", WADI_TYPE_U8, &flag, &error), error);
        fill(&particles, N);
        for (int twice = 0; twice < 2; ++twice) {
            CHECK_OK(wadi_particles_permute(&particles, order, &error), error);
            assert_true(wadi_particles_validate(&particles));
        }
        for (int32_t i = 0; i < N; ++i) {
            int32_t old = order[order[i]];
            assert_true(particles.id[i] == (uint32_t)old && particles.x[i] == old + 0.25);
            assert_true(particles.vx[i] == (float)old && particles.material[i] == old % 3);
        }
        WadiState state = { 0 };
        CHECK_OK(wadi_particles_save(&particles, &state, &error), error);
        hashes[t] = wadi_state_hash(&state, WADI_USE_BOTH);
        wadi_state_free(&state);
        wadi_particles_free(&particles);
    }
    wadi_parallel_set_threads(0);
    WADI_DELETE(order, N);
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

static void removal_keeps_the_order_of_the_others(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    fill(&particles, 100);
    uint8_t flags[100] = { 0 };
    for (int i = 0; i < 100; ++i) {
        flags[i] = i % 3 == 0;
    }
    assert_int_equal(wadi_particles_remove(&particles, flags), 34);
    assert_int_equal(particles.count, 66);
    assert_true(wadi_particles_validate(&particles));
    for (int32_t i = 0; i < particles.count; ++i) {
        uint32_t old = (uint32_t)(i / 2 * 3 + 1 + i % 2);
        assert_int_equal(particles.id[i], old);
        assert_true(particles.x[i] == old + 0.25);
    }
    fill(&particles, 1);
    assert_int_equal(particles.id[66], 100); /* ids are not used again */
    assert_true(particles.y[66] == 0.0);
    memset(flags, 1, sizeof flags);
    assert_int_equal(wadi_particles_remove(&particles, flags), 67);
    assert_int_equal(particles.count, 0);
    wadi_particles_free(&particles);
}

static void absurd_counts_are_refused_with_advice(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    int32_t first;
    assert_int_equal(wadi_particles_append(&particles, INT64_C(3000000000), &first, &error), WADI_ERR_MEMORY);
    assert_non_null(strstr(error.text, "3000000000"));
    assert_int_equal(wadi_particles_append(&particles, INT64_MAX, &first, &error), WADI_ERR_MEMORY);
    particles.next_id = UINT32_MAX - 5;
    CHECK_OK(wadi_particles_append(&particles, 5, &first, &error), error);
    assert_int_equal(wadi_particles_append(&particles, 1, &first, &error), WADI_ERR_MEMORY);
    assert_non_null(strstr(error.text, "ids"));
    assert_int_equal(particles.count, 5);
    wadi_particles_free(&particles);
}

static void a_snapshot_comes_back_and_a_wrong_one_does_not(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiParticles particles, copy;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    CHECK_OK(wadi_particles_init(&copy, &error), error);
    fill(&particles, 77);
    fill(&copy, 300);
    WadiState state = { 0 }, again = { 0 };
    CHECK_OK(wadi_particles_save(&particles, &state, &error), error);
    CHECK_OK(wadi_particles_load(&copy, &state, &error), error);
    assert_true(wadi_particles_validate(&copy));
    CHECK_OK(wadi_particles_save(&copy, &again, &error), error);
    assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&again, WADI_USE_BOTH));

    uint32_t *id = wadi_state_find(&state, "id")->data;
    id[3] = 4;
    assert_int_equal(wadi_particles_load(&copy, &state, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "twice"));
    id[3] = 77;
    assert_int_equal(wadi_particles_load(&copy, &state, &error), WADI_ERR_FORMAT);
    id[3] = 3;
    double *x = wadi_state_find(&state, "position")->data;
    double kept = x[5];
    x[5] = NAN;
    assert_int_equal(wadi_particles_load(&copy, &state, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "finite"));
    x[5] = kept;
    CHECK_OK(wadi_particles_load(&copy, &state, &error), error);
    state.array[2].count -= 1;
    assert_int_equal(wadi_particles_load(&copy, &state, &error), WADI_ERR_FORMAT);
    assert_int_equal(copy.count, 77);
    wadi_state_free(&state);
    wadi_state_free(&again);
    wadi_particles_free(&copy);
    wadi_particles_free(&particles);
}

static void validate_sees_broken_stores(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles particles;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    fill(&particles, 20);
    assert_true(wadi_particles_validate(&particles));
    particles.id[3] = 4;
    assert_false(wadi_particles_validate(&particles));
    particles.id[3] = 20;
    assert_false(wadi_particles_validate(&particles));
    particles.id[3] = 3;
    particles.y[25] = 1.0; /* padding */
    assert_false(wadi_particles_validate(&particles));
    particles.y[25] = 0.0;
    assert_true(wadi_particles_validate(&particles));
    wadi_particles_free(&particles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_store_is_valid_everywhere),
        cmocka_unit_test(growth_keeps_values_and_gives_fresh_ids),
        cmocka_unit_test(permute_moves_all_columns_together),
        cmocka_unit_test(removal_keeps_the_order_of_the_others),
        cmocka_unit_test(absurd_counts_are_refused_with_advice),
        cmocka_unit_test(a_snapshot_comes_back_and_a_wrong_one_does_not),
        cmocka_unit_test(validate_sees_broken_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
