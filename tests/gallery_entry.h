/* Scenes of the gallery as simulations in memory. */
#ifndef WADI_TESTS_GALLERY_ENTRY_H
#define WADI_TESTS_GALLERY_ENTRY_H

#include "scene_sim.h"

/* The scene of an entry with values set, and its simulation on one thread. */
static inline WadiSim *start_entry(WadiScene **scene, const char *name, const char *const *sets,
                                   int set_count)
{
    WadiError error = { 0 };
    char path[512];
    snprintf(path, sizeof path, WADI_SOURCE_DIR "/scenes/gallery/%s/%s.yaml", name, name);
    WadiSceneDef def = wadi_default_scene_def();
    def.path = path;
    def.sets = sets;
    def.set_count = set_count;
    CHECK_OK(wadi_scene_load(scene, &def, &error), error);
    return start_sim(*scene, 1);
}

#endif
