#include "io/scene/scene_hints.h"

#include <string.h>

/* Words of other programs, and what they are here. */
static const struct {
    const char *word, *key;
} synonyms[] = {
    { "color", "colour" },        { "colors", "colour" },
    { "wetness", "saturation" },  { "wet", "saturation" },
    { "moisture", "saturation" }, { "position", "translate" },
    { "location", "translate" },  { "offset", "translate" },
    { "rotation", "rotate" },     { "diameter", "radius" },
    { "filename", "file" },       { "path", "file" },
    { "axis_up", "up" },          { "objects", "colliders" },
    { "obstacles", "colliders" }, { "solids", "colliders" },
    { "obstacle", "colliders" },  { "fluids", "bodies" },
    { "fluid", "bodies" },        { "inflow", "emitters" },
    { "inflows", "emitters" },    { "sources", "emitters" },
    { "outflow", "drains" },      { "outflows", "drains" },
    { "sinks", "drains" },        { "duration", "frames" },
    { "seconds", "frames" },      { "frame_count", "frames" },
    { "framerate", "fps" },       { "frame_rate", "fps" },
    { "dt", "max_step" },         { "time_step", "max_step" },
    { "timestep", "max_step" },   { "bounciness", "restitution" },
    { "bounce", "restitution" },  { "angle_of_repose", "friction_angle" },
    { "dx", "cell_size" },        { "voxel_size", "cell_size" },
};

static const char *meant(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; ++i) {
        if (strcmp(synonyms[i].word, word) == 0) {
            return synonyms[i].key;
        }
    }
    return word;
}

enum { DEPTH_MAX = 5 };

typedef struct Path {
    const WadiSceneField *step[DEPTH_MAX];
    int length;
} Path;

static bool is_container(const WadiSceneField *field)
{
    return field->type == WADI_SCENE_OBJECT || field->type == WADI_SCENE_LIST ||
           field->type == WADI_SCENE_MAP || field->type == WADI_SCENE_SETTINGS;
}

/* The key at exactly `depth` steps below the object: short paths are tried first. */
static bool find_at(const WadiSceneObject *object, const char *key, int depth, Path *path)
{
    const int at = path->length++;
    for (int i = 0; i < object->field_count; ++i) {
        path->step[at] = &object->fields[i];
        if (depth == 0 && strcmp(object->fields[i].key, key) == 0) {
            return true;
        }
        if (depth > 0 && is_container(&object->fields[i]) &&
            find_at(object->fields[i].object, key, depth - 1, path)) {
            return true;
        }
    }
    path->length = at;
    return false;
}

static bool find(const WadiSceneObject *object, const char *key, int first_depth, Path *path)
{
    bool is_found = false;
    for (int depth = first_depth; depth < DEPTH_MAX && !is_found; ++depth) {
        *path = (Path){ 0 };
        is_found = find_at(object, key, depth, path);
    }
    return is_found;
}

bool wadi_scene_hint_below(const WadiSceneObject *object, const char *word, WadiText *text)
{
    Path path;
    const char *key = meant(word);
    bool has_list = false;
    if (!find(object, key, 0, &path)) {
        return false;
    }
    for (int i = 0; i + 1 < path.length; ++i) {
        has_list |= path.step[i]->type != WADI_SCENE_OBJECT;
    }
    if (has_list) {
        return false; /* of entries there are several: not "below" but elsewhere */
    }
    wadi_text_append(text, "; did you mean ");
    if (path.length == 1) {
        wadi_text_printf(text, "'%s'?", key);
        return true;
    }
    for (int i = 0; i < path.length; ++i) {
        wadi_text_printf(text, "%s%s: ", i > 0 ? "{" : "", path.step[i]->key);
    }
    wadi_text_append(text, "…");
    for (int i = 1; i < path.length; ++i) {
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "?");
    return true;
}

bool wadi_scene_hint_elsewhere(const WadiSceneObject *object, const char *word, WadiText *text)
{
    Path path;
    const char *key = meant(word);
    if (object == &wadi_scene_object) {
        if (!find(object, key, 1, &path)) {
            return false;
        }
    } else if (!find(&wadi_scene_object, key, 0, &path)) {
        return false;
    }
    if (path.length == 1) {
        wadi_text_printf(text, "; '%s' is a key of the scene itself", key);
        return true;
    }
    wadi_text_printf(text, "; '%s' is a key of ", key);
    for (int i = 0; i + 1 < path.length; ++i) {
        wadi_text_printf(text, "%s%s", i > 0 ? "." : "", path.step[i]->key);
    }
    return true;
}
