/* Programs can view every attribute of frames. */
#include "core/alloc.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const WadiViewType view_type[] = { WADI_VIEW_U8,  WADI_VIEW_U32, WADI_VIEW_U64,
                                          WADI_VIEW_I32, WADI_VIEW_F32, WADI_VIEW_F64 };

/* Compares the views with the frame that would be written, value for value; returns the number of arrays. */
static int check_frame(const WadiSim *sim)
{
    WadiError error = { 0 };
    WadiState state = { 0 };
    CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
    int count = 0;
    for (int i = 0; i < state.count; ++i) {
        const WadiStateArray *array = &state.array[i];
        if ((array->use & WADI_USE_FRAME) == 0) {
            continue;
        }
        WadiView view;
        CHECK_OK(wadi_sim_view(sim, array->name, &view, &error), error);
        assert_int_equal(view.type, view_type[array->type]);
        assert_int_equal(view.components, array->components);
        assert_int_equal(view.count, array->count);
        size_t size = wadi_type_size(array->type);
        for (size_t item = 0; item < array->count; ++item) {
            for (int c = 0; c < array->components; ++c) {
                const char *there =
                    (const char *)array->data + (item * (size_t)array->components + (size_t)c) * size;
                assert_memory_equal((const char *)view.data[c] + item * view.stride, there, size);
            }
        }
        ++count;
    }
    wadi_state_free(&state);
    return count;
}

static void check_scene(const char *text, int arrays)
{
    size_t before = wadi_alloc_live_bytes();
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    for (int frame = 0; frame < 3; ++frame) {
        run_frames(sim, 1);
        assert_int_equal(check_frame(sim), arrays);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    assert_int_equal(wadi_alloc_live_bytes(), before);
}

#define SCENE(solver)                                                                                        \
    "wadi: 1\nsolver: " solver "\ncell_size: 0.05\ndomain: {min: [0, 0, 0], max: [0.4, 0.2, 0.4]}\n"         \
    "materials: {sand: {kind: sand}, water: {kind: water, density: 900}}\n"                                  \
    "bodies:\n"                                                                                              \
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}\n"                           \
    "  - {material: water, shape: {box: {min: [0.2, 0, 0.1], max: [0.4, 0.2, 0.3]}}}\n"

static void every_attribute_of_a_frame_can_be_viewed(void **unused)
{
    (void)unused;
    /* position, velocity, id, material, radius, density; pressure, rigid; texture. */
    check_scene(SCENE("points"), 6);
    check_scene(SCENE("flip"), 8);
    check_scene(SCENE("flip") "texture: true\n", 9);
}

static void an_unknown_name_is_told_the_known_ones(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE("flip"));
    WadiSim *sim = start_sim(scene, 1);
    WadiError error = { 0 };
    WadiView view;
    assert_int_equal(wadi_sim_view(sim, "wetness", &view, &error), WADI_ERR_ARGUMENT);
    assert_string_equal(error.text,
                        "no quantity 'wetness'; there are position, velocity, id, material, pressure, rigid, "
                        "radius, density");
    assert_null(view.data[0]);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_attribute_of_a_frame_can_be_viewed),
        cmocka_unit_test(an_unknown_name_is_told_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
