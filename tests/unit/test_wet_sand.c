/* secondary/wet_sand: sand that water touches is wet, and dries after the water has left. */
#include "core/parallel.h"
#include "scene_sim.h"
#include "secondary/wet_sand.h"

static const double SPACING = 0.05;
enum { SIDE = 8, BLOCK = SIDE * SIDE * SIDE };

/* A block of sand in z < 0, and one of water whose lowest layer is `gap` above it. */
static void set_frame(WadiState *state, double gap)
{
    double *x;
    float *v, *radius;
    uint32_t *id;
    uint8_t *material;
    const size_t count = 2 * BLOCK;
    wadi_state_clear(state);
    assert_int_equal(wadi_state_add(state, "position", WADI_TYPE_F64, 3, count, (void **)&x, NULL), 0);
    assert_int_equal(wadi_state_add(state, "velocity", WADI_TYPE_F32, 3, count, (void **)&v, NULL), 0);
    assert_int_equal(wadi_state_add(state, "radius", WADI_TYPE_F32, 1, count, (void **)&radius, NULL), 0);
    assert_int_equal(wadi_state_add(state, "id", WADI_TYPE_U32, 1, count, (void **)&id, NULL), 0);
    assert_int_equal(wadi_state_add(state, "material", WADI_TYPE_U8, 1, count, (void **)&material, NULL), 0);
    for (int i = 0; i < 2 * BLOCK; ++i) {
        const int n = i % BLOCK, layer = n / (SIDE * SIDE);
        const bool is_water = i >= BLOCK;
        x[3 * i] = (n % SIDE + 0.5) * SPACING;
        x[3 * i + 1] = (n / SIDE % SIDE + 0.5) * SPACING;
        x[3 * i + 2] = is_water ? gap + (layer + 0.5) * SPACING : -(layer + 0.5) * SPACING;
        v[3 * i] = v[3 * i + 1] = v[3 * i + 2] = 0.0f;
        radius[i] = (float)(0.5 * SPACING);
        /* Descending and with gaps: nothing may depend on ids being indices. */
        id[i] = (uint32_t)(3 * (2 * BLOCK - i));
        material[i] = is_water;
    }
}

static WadiScene *shore_scene(void)
{
    return load_scene("wadi: 1\nsolver: flip\ndomain: {min: [-5, -5, -5], max: [5, 5, 5]}\ncell_size: 0.1\n"
                      "materials: {sand: {kind: sand}, water: {kind: water}}\n"
                      "bodies: [{material: water, shape: {sphere: {radius: 0.3}}}]\n"
                      "secondary: {drying: 10}\n");
}

/* Least and largest wetness of a layer of the sand, away from the sides. */
static void layer_range(WadiState *frame, int layer, float *least, float *largest)
{
    const WadiStateArray *wetness;
    assert_int_equal(wadi_state_expect(frame, "wetness", WADI_TYPE_F32, 1, 2 * BLOCK, &wetness, NULL), 0);
    *least = 2.0f;
    *largest = -1.0f;
    for (int n = 0; n < SIDE * SIDE; ++n) {
        if (n % SIDE < 2 || n % SIDE > 5 || n / SIDE < 2 || n / SIDE > 5) {
            continue;
        }
        const float value = ((const float *)wetness->data)[layer * SIDE * SIDE + n];
        *least = fminf(*least, value);
        *largest = fmaxf(*largest, value);
    }
}

static void sand_is_wet_where_water_was_and_dries(void **unused)
{
    (void)unused;
    WadiScene *scene = shore_scene();
    WadiState frame = { 0 };
    WadiWetSand wet = { 0 };
    WadiArena arena = { 0 };
    float least, largest;
    set_frame(&frame, 0.0);
    assert_true(wadi_wet_sand_applies(scene, &frame));
    assert_int_equal(wadi_wet_sand_step(&wet, scene, &frame, 0.0, &arena, NULL), WADI_OK);
    assert_int_equal(wadi_wet_sand_apply(&wet, &frame, NULL), WADI_OK);
    assert_false(wadi_wet_sand_applies(scene, &frame));
    layer_range(&frame, 0, &least, &largest);
    assert_true(least == 1.0f);
    layer_range(&frame, 1, &least, &largest);
    assert_true(least > 0.5f);
    layer_range(&frame, 4, &least, &largest);
    assert_true(largest == 0.0f);
    /* The water has left: after 4 of 10 s, 0.6 of the wetness is left; after 10 more none. */
    set_frame(&frame, 1.0);
    assert_int_equal(wadi_wet_sand_step(&wet, scene, &frame, 4.0, &arena, NULL), WADI_OK);
    assert_int_equal(wadi_wet_sand_apply(&wet, &frame, NULL), WADI_OK);
    layer_range(&frame, 0, &least, &largest);
    assert_true(fabsf(least - 0.6f) < 1e-5f && fabsf(largest - 0.6f) < 1e-5f);
    set_frame(&frame, 1.0);
    assert_int_equal(wadi_wet_sand_step(&wet, scene, &frame, 10.0, &arena, NULL), WADI_OK);
    assert_int_equal(wet.list.count, 0);
    wadi_wet_sand_free(&wet);
    wadi_arena_free(&arena);
    wadi_state_free(&frame);
    wadi_scene_destroy(scene);
}

static uint64_t hash_after(const WadiScene *scene, bool is_resumed, int threads)
{
    wadi_parallel_set_threads(threads);
    WadiState frame = { 0 }, saved = { 0 };
    WadiWetSand wet = { 0 };
    WadiArena arena = { 0 };
    for (int n = 0; n < 4; ++n) {
        set_frame(&frame, 0.02 * n);
        assert_int_equal(wadi_arena_reset(&arena, NULL), WADI_OK);
        assert_int_equal(wadi_wet_sand_step(&wet, scene, &frame, 0.04, &arena, NULL), WADI_OK);
        assert_int_equal(wadi_wet_sand_save(&wet, &frame, &saved, NULL), WADI_OK);
        if (is_resumed) {
            wadi_wet_sand_free(&wet);
            assert_int_equal(wadi_wet_sand_load(&wet, &saved, NULL), WADI_OK);
        }
    }
    const uint64_t hash = wadi_state_hash(&saved, WADI_USE_BOTH);
    wadi_wet_sand_free(&wet);
    wadi_arena_free(&arena);
    wadi_state_free(&saved);
    wadi_state_free(&frame);
    wadi_parallel_set_threads(1);
    return hash;
}

static void bytes_do_not_depend_on_threads_or_resuming(void **unused)
{
    (void)unused;
    WadiScene *scene = shore_scene();
    const uint64_t hash = hash_after(scene, false, 1);
    assert_true(hash_after(scene, true, 1) == hash);
    assert_true(hash_after(scene, true, 2) == hash);
    assert_true(hash_after(scene, false, 5) == hash);
    wadi_scene_destroy(scene);
}

static void a_damaged_file_is_refused(void **unused)
{
    (void)unused;
    WadiState state = { 0 };
    WadiWetSand wet = { 0 };
    const uint32_t id[2] = { 4, 1 };
    const float wetness[2] = { 0.5f, NAN };
    assert_int_equal(wadi_state_put(&state, "id", WADI_TYPE_U32, 1, 2, id, NULL), 0);
    assert_int_equal(wadi_state_put(&state, "wetness", WADI_TYPE_F32, 1, 2, wetness, NULL), 0);
    assert_int_equal(wadi_wet_sand_load(&wet, &state, NULL), WADI_ERR_FORMAT);
    assert_int_equal(wet.list.count, 0);
    wadi_wet_sand_free(&wet);
    wadi_state_free(&state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_is_wet_where_water_was_and_dries),
        cmocka_unit_test(bytes_do_not_depend_on_threads_or_resuming),
        cmocka_unit_test(a_damaged_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
