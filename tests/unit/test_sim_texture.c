/* The attribute `texture`: the position of a particle at birth, in frames and across checkpoints. */
#include "same_bytes.h"

static const char falling[] =
    "wadi: 1\nsolver: points\ncell_size: 0.1\nframes: 4\ntexture: true\n"
    "materials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, velocity: [1, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}]\n"
    "emitters: [{material: sand, rate: 0.01, velocity: [0, 0, 2], shape: {sphere: {center: [5, 0, 0], "
    "radius: 0.2}}}]\n";

static const WadiStateArray *find(const WadiState *state, const char *name)
{
    const WadiStateArray *array = wadi_state_find(state, name);
    assert_non_null(array);
    return array;
}

static void particles_keep_the_place_of_their_birth(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(falling);
    WadiSim *sim = start_sim(scene, 1);
    WadiState before = { 0 }, after = { 0 };
    CHECK_OK(wadi_sim_snapshot(sim, &before, &error), error);
    run_frames(sim, 3);
    CHECK_OK(wadi_sim_snapshot(sim, &after, &error), error);
    const WadiStateArray *texture = find(&after, "texture");
    assert_int_equal(texture->components, 3);
    assert_int_equal(texture->use, WADI_USE_BOTH);
    const double *start = find(&before, "position")->data;
    size_t seeded = find(&before, "position")->count, seen = 0;
    const uint32_t *id = find(&after, "id")->data;
    for (size_t i = 0; i < texture->count; ++i) {
        const float *t = (const float *)texture->data + 3 * i;
        if (id[i] < seeded) {
            for (int c = 0; c < 3; ++c) {
                CHECK_NEAR((double)t[c], start[3 * id[i] + (size_t)c], 1e-6);
            }
            ++seen;
        } else {
            /* Born in a ball of 0.2 m; the stream of each moment is below that of the moment before. */
            CHECK_NEAR((double)t[0], 5.0, 0.2);
            CHECK_AT_MOST((double)t[2], 0.2 + 2.0 / 24.0);
            CHECK_AT_MOST(-(double)t[2], 0.2 + 2.0 * 3.0 / 24.0);
        }
    }
    assert_int_equal(seen, seeded);
    assert_true(texture->count > seeded);
    wadi_state_free(&before);
    wadi_state_free(&after);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void it_survives_checkpoints(void **unused)
{
    (void)unused;
    check_same_bytes(falling, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_keep_the_place_of_their_birth),
        cmocka_unit_test(it_survives_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
