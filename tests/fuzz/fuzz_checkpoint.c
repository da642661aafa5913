/* Checkpoints that are well-formed and wrong: the arrays of a real one with values, lengths and names
 * changed, loaded into a simulation that then runs a frame. The first byte picks the scene; each five bytes
 * after it are one change: array, kind, where (two bytes), value. fuzz_frame has the bytes of the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../state_scenes.h"
#include "core/alloc.h"
#include "core/check.h"
#include "sim/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Start {
    WadiScene *scene;
    WadiState state; /* inside a frame where steps are short */
} Start;

static WadiSim *start_sim(const WadiScene *scene, bool is_empty)
{
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    WadiSim *sim = NULL;
    WadiStatus status =
        is_empty ? wadi_sim_create_empty(&sim, scene, &def, NULL) : wadi_sim_create(&sim, scene, &def, NULL);
    WADI_ASSERT(status == WADI_OK);
    return sim;
}

static void make_start(Start *start, const StateScene *of)
{
    WadiSceneDef def = wadi_default_scene_def();
    def.text = of->text;
    WadiError error = { 0 };
    WADI_ASSERT(wadi_scene_load(&start->scene, &def, &error) == WADI_OK);
    WadiSim *sim = start_sim(start->scene, false);
    while (wadi_sim_time(sim) <= of->from || wadi_sim_steps(sim) < 4) {
        WADI_ASSERT(wadi_sim_step(sim, NULL) == WADI_OK);
    }
    WADI_ASSERT(wadi_sim_snapshot(sim, &start->state, NULL) == WADI_OK);
    wadi_sim_destroy(sim);
}

static void set_value(WadiStateArray *array, size_t index, uint8_t choice)
{
    static const double reals[] = { 0.0,   -1.0,   NAN, INFINITY, -INFINITY, 1e30, -1e30,  1e300,
                                    1e-40, 1e-310, 1e9, -1e9,     0.5,       1e6,  3.4e38, -0.0 };
    static const uint64_t integers[] = { 0,
                                         1,
                                         2,
                                         255,
                                         65535,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x100000000,
                                         UINT64_MAX,
                                         (uint64_t)1 << 63,
                                         0x7fffffffffffffff };
    size_t width = wadi_type_size(array->type), total = array->count * (size_t)array->components;
    if (total == 0) {
        return;
    }
    char *place = (char *)array->data + index % total * width;
    double real = reals[choice % (sizeof reals / sizeof reals[0])];
    uint64_t integer = integers[choice % (sizeof integers / sizeof integers[0])];
    float single = (float)real;
    if (array->type == WADI_TYPE_F64) {
        memcpy(place, &real, width);
    } else if (array->type == WADI_TYPE_F32) {
        memcpy(place, &single, width);
    } else {
        memcpy(place, &integer, width); /* its low bytes */
    }
}

/* Copies the arrays, each with `change` applied where it is meant for it. */
static void copy_state(WadiState *to, const WadiState *from, const uint8_t *data, size_t size)
{
    WadiState view;
    wadi_state_select(from, WADI_USE_CHECKPOINT, &view);
    for (int a = 0; a < view.count; ++a) {
        const WadiStateArray *source = &view.array[a];
        size_t count = source->count;
        bool is_dropped = false;
        for (size_t i = 0; i + 4 < size; i += 5) {
            if (data[i] % view.count == a && data[i + 1] % 8 == 6) {
                count = count < data[i + 4] ? count : data[i + 4]; /* a short array */
            }
            is_dropped |= data[i] % view.count == a && data[i + 1] % 8 == 7 && data[i + 4] == 1;
        }
        if (is_dropped) {
            continue;
        }
        WADI_ASSERT(wadi_state_put(to, source->name, source->type, source->components, count, source->data,
                                   NULL) == WADI_OK);
        WadiStateArray *made = &to->array[to->count - 1];
        for (size_t i = 0; i + 4 < size; i += 5) {
            size_t where = (size_t)data[i + 2] << 8 | data[i + 3];
            if (data[i] % view.count != a) {
                continue;
            }
            if (data[i + 1] % 8 < 5) {
                set_value(made, where, data[i + 4]);
            } else if (data[i + 1] % 8 == 5 && made->count > 0) { /* one byte */
                ((uint8_t *)made->data)[where % wadi_state_array_bytes(made)] = data[i + 4];
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Start starts[STATE_SCENES];
    if (size < 1 || size > 200) {
        return 0;
    }
    Start *start = &starts[data[0] % STATE_SCENES];
    if (start->scene == NULL) {
        make_start(start, &state_scenes[data[0] % STATE_SCENES]);
    }
    size_t live = wadi_alloc_live_bytes();
    WadiState state = { 0 };
    copy_state(&state, &start->state, data + 1, size - 1);
    WadiSim *sim = start_sim(start->scene, true);
    WadiError error = { 0 };
    if (wadi_sim_restore(sim, &state, &error) != WADI_OK) {
        WADI_ASSERT(error.text[0] != '\0');
    } else {
        WadiState after = { 0 };
        /* A few steps: a forged time must not make a frame of many thousands. */
        WadiStatus status = WADI_OK;
        for (int i = 0; i < 2 && status == WADI_OK; ++i) {
            status = wadi_sim_step(sim, &error);
        }
        WADI_ASSERT(status == WADI_OK || error.text[0] != '\0');
        WADI_ASSERT(wadi_sim_snapshot(sim, &after, NULL) == WADI_OK);
        wadi_state_free(&after);
    }
    wadi_sim_destroy(sim);
    wadi_state_free(&state);
    WADI_ASSERT(wadi_alloc_live_bytes() == live);
    return 0;
}
