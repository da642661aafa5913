/* Scenes: load a scene file or text, check it, override values. */
#ifndef WADI_SCENE_H
#define WADI_SCENE_H

#include <stdbool.h>

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A valid scene. Immutable; may be shared by several simulations. */
typedef struct WadiScene WadiScene;

typedef struct WadiSceneDef {
    int cookie;              /* set by wadi_default_scene_def */
    const char *path;        /* the scene file, or with `text` the name used in messages; NULL: "<text>" */
    const char *text;        /* the scene as text; NULL: read `path` */
    size_t text_length;      /* bytes of `text`; 0: it is zero-terminated */
    const char *folder;      /* folder of relative mesh and image files; NULL: the folder of `path`, or "." */
    const char *const *sets; /* overrides "a.b=c", "bodies[0].velocity=[0,0,1]", applied in order */
    int set_count;
    bool may_be_empty; /* without bodies and emitters: the program adds the particles, wadi_sim_add_points */
} WadiSceneDef;

WADI_API WadiSceneDef wadi_default_scene_def(void);

/* WADI_ERR_SCENE: the text has one line "file:line:column: key: problem; expected value" per problem, all at
 * once. *scene is NULL after a failure. */
WADI_API WadiStatus wadi_scene_load(WadiScene **scene, const WadiSceneDef *def, WadiError *error);
WADI_API void wadi_scene_destroy(WadiScene *scene);

WADI_API const char *wadi_scene_name(const WadiScene *scene);
WADI_API const char *wadi_scene_solver(const WadiScene *scene);
WADI_API int wadi_scene_frames(const WadiScene *scene);
WADI_API double wadi_scene_fps(const WadiScene *scene);

/* The JSON Schema of scene files and the reference page, made from the parser's table. Release the text with
 * wadi_text_release. */
WADI_API WadiStatus wadi_scene_schema(char **json, WadiError *error);
WADI_API WadiStatus wadi_scene_reference(char **markdown, WadiError *error);
WADI_API void wadi_text_release(char *text);

#ifdef __cplusplus
}
#endif
#endif
