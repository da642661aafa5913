/* The scenes inside the page; CMake writes them into a C file. */
#ifndef WADI_INSIDE_SCENES_H
#define WADI_INSIDE_SCENES_H

typedef struct WadiInsideScene {
    const char *name;
    const char *text; /* of the scene file */
} WadiInsideScene;

extern const WadiInsideScene wadi_inside_scenes[];
extern const int wadi_inside_scene_count;

#endif
