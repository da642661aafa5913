/* A small run of two materials in the scratch folder, for tests of surfaces. */
#ifndef WADI_TESTS_SURFACE_RUN_H
#define WADI_TESTS_SURFACE_RUN_H

#include "io_scratch.h"
#include "wadi/wadi.h"

enum { RUN_FRAMES = 4 };

#define RUN_SCENE                                                                                            \
    "wadi: 1\nname: two\nsolver: points\nframes: 4\nfps: 100\nresolution: 20\n"                              \
    "domain: {min: [0, 0, 0], max: [1, 1, 1], walls: {open: [z_max]}}\n"                                     \
    "materials: {sand: {kind: sand}, water: {kind: water}, none: {kind: water}}\n"                           \
    "bodies:\n"                                                                                              \
    "- {material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.2]}}}\n"                             \
    "- {material: water, velocity: [2, 0, 0], shape: {sphere: {center: [0.5, 0.5, 0.6], radius: 0.15}}}\n"

/* RUN_SCENE and `more` keys, simulated into a new folder; its path. */
static inline const char *run_make(const char *name, const char *more)
{
    static char path[1024];
    char text[4096];
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    snprintf(text, sizeof text, "%s%s", RUN_SCENE, more);
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = text;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiRunDef def = wadi_default_run_def();
    def.folder = path;
    def.threads = 1;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    wadi_scene_destroy(scene);
    return path;
}

static inline void run_frame_path(char path[2048], const char *run, int frame)
{
    wadi_run_frame_path(path, 2048, run, "two", frame);
}

/* Puts `value` at `index` of a float or double array of a frame. */
static inline void run_spoil(const char *run, int frame, const char *array, size_t index, double value)
{
    char path[2048];
    WadiError error = { 0 };
    WadiFrameHeader header;
    WadiState *state = calloc(1, sizeof *state);
    assert_non_null(state);
    run_frame_path(path, run, frame);
    CHECK_OK(wadi_frame_file_read(path, "particles", &header, state, &error), error);
    const WadiStateArray *found = wadi_state_find(state, array);
    assert_non_null(found);
    if (found->type == WADI_TYPE_F64) {
        ((double *)found->data)[index] = value;
    } else {
        ((float *)found->data)[index] = (float)value;
    }
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, state, &error), error);
    wadi_state_free(state);
    free(state);
}

#endif
