/* The public functions of scenes. */
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/text.h"
#include "io/scene/scene_parse.h"
#include "io/scene/scene_schema.h"

enum { SCENE_DEF_COOKIE = 0x5ce7e };

WadiSceneDef wadi_default_scene_def(void)
{
    return (WadiSceneDef){ .cookie = SCENE_DEF_COOKIE };
}

WadiStatus wadi_scene_load(WadiScene **scene, const WadiSceneDef *def, WadiError *error)
{
    *scene = NULL;
    if (def == NULL || def->cookie != SCENE_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiSceneDef was not made by wadi_default_scene_def");
    }
    if (def->path == NULL && def->text == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiSceneDef has neither a path nor a text");
    }
    for (int i = 0; i < def->set_count; ++i) {
        if (def->sets == NULL || def->sets[i] == NULL) {
            return wadi_fail(error, WADI_ERR_ARGUMENT, "WadiSceneDef.sets[%d] is NULL; set_count is %d", i,
                             def->set_count);
        }
    }
    const unsigned asserts = wadi_assert_count();
    WadiStatus status = wadi_assert_status(wadi_scene_parse(scene, def, error), asserts, error);
    if (status != WADI_OK) {
        wadi_scene_free(*scene);
        *scene = NULL;
    }
    return status;
}

void wadi_scene_destroy(WadiScene *scene)
{
    wadi_scene_free(scene);
}

const char *wadi_scene_name(const WadiScene *scene)
{
    return scene->name;
}

const char *wadi_scene_solver(const WadiScene *scene)
{
    return scene->solver;
}

int wadi_scene_frames(const WadiScene *scene)
{
    return scene->frames;
}

double wadi_scene_fps(const WadiScene *scene)
{
    return scene->fps;
}

/* Moves a finished text to the caller as a plain string. */
static WadiStatus move_text(WadiText *text, char **out, WadiError *error)
{
    *out = NULL;
    WadiStatus status = wadi_text_status(text, error);
    if (status == WADI_OK) {
        status = wadi_string_copy(out, wadi_text_cstr(text), text->length, error);
    }
    wadi_text_free(text);
    return status;
}

WadiStatus wadi_scene_schema(char **json, WadiError *error)
{
    WadiText text = { 0 };
    wadi_scene_schema_json(&text);
    return move_text(&text, json, error);
}

WadiStatus wadi_scene_reference(char **markdown, WadiError *error)
{
    WadiText text = { 0 };
    wadi_scene_reference_markdown(&text);
    return move_text(&text, markdown, error);
}

void wadi_text_release(char *text)
{
    wadi_string_free(text);
}
