#include "io/scene/scene_hints.h"

#include <string.h>

/* Words of other programs, and the keys that they may be here. */
static const struct {
    const char *word, *key;
} synonyms[] = {
    { "angle_of_repose", "friction_angle" },
    { "axis_up", "up" },
    { "boundaries", "walls" },
    { "boundary", "walls" },
    { "bounce", "restitution" },
    { "bounciness", "restitution" },
    { "bubbles", "secondary" },
    { "color", "colour" },
    { "colors", "colour" },
    { "diameter", "radius" },
    { "dimensions", "size" },
    { "dt", "max_step" },
    { "duration", "frames" },
    { "dx", "cell_size" },
    { "end_frame", "frames" },
    { "extent", "size" },
    { "extents", "size" },
    { "f_stop", "aperture" },
    { "field_of_view", "angle" },
    { "filename", "file" },
    { "flow", "rate" },
    { "flow_rate", "rate" },
    { "fluid", "bodies" },
    { "fluids", "bodies" },
    { "foam", "secondary" },
    { "focal_length", "angle" },
    { "focus_distance", "focus" },
    { "fov", "angle" },
    { "frame_count", "frames" },
    { "frame_end", "frames" },
    { "frame_rate", "fps" },
    { "framerate", "fps" },
    { "friction", "friction_angle" },
    { "grid_size", "resolution" },
    { "inflow", "emitters" },
    { "inflows", "emitters" },
    { "initial_velocity", "velocity" },
    { "location", "center" },
    { "location", "from" },
    { "location", "translate" },
    { "look_at", "to" },
    { "lower", "min" },
    { "moisture", "saturation" },
    { "objects", "colliders" },
    { "obstacle", "colliders" },
    { "obstacles", "colliders" },
    { "offset", "translate" },
    { "origin", "center" },
    { "origin", "from" },
    { "outflow", "drains" },
    { "outflows", "drains" },
    { "particle_radius", "cell_size" },
    { "particle_separation", "cell_size" },
    { "particle_size", "cell_size" },
    { "path", "file" },
    { "position", "center" },
    { "position", "from" },
    { "position", "translate" },
    { "r", "radius" },
    { "rotation", "rotate" },
    { "seconds", "frames" },
    { "sinks", "drains" },
    { "size", "fit" },
    { "size", "radius" },
    { "solids", "colliders" },
    { "sources", "emitters" },
    { "spray", "secondary" },
    { "target", "to" },
    { "time_step", "max_step" },
    { "timestep", "max_step" },
    { "type", "kind" },
    { "upper", "max" },
    { "voxel_size", "cell_size" },
    { "wet", "saturation" },
    { "wetness", "saturation" },
    { "whitewater", "secondary" },
};

#define ENDS "'from' and 'to' are the middles of its ends: {from: [0, 0, 0], to: [0, 0, 1], radius: 0.3}"
#define BESIDE(kind, key) "'" key "' stands beside " kind ": {" kind ": {…}, " key ": …}"
#define MOVED                                                                                                \
    "keyframes of its shape move it: shape: {…, translate: {keys: [[0, [0, 0, 0]], [2, [1, 0, 0]]]}}"
#define PIXELS "the size of pictures is 'width' and 'height', or the option --size 1280x720 of wadi render"

/* What one key would not say. */
static const struct {
    const char *object, *word, *text;
} advice[] = {
    { "scene", "substeps", "the solver chooses its steps; 'max_step' bounds them, in seconds" },
    { "scene", "steps", "the solver chooses its steps; 'max_step' bounds them, in seconds" },
    { "scene", "wind", "wind is a force: forces: [{kind: drag, velocity: [3, 0, 0], rate: 2}]" },
    { "domain", "size", "'min' and 'max' are its corners" },
    { "material", "wetness", "bodies have a 'saturation'; look: {wetness: 1} only draws it wet" },
    { "collider", "velocity", MOVED },
    { "collider", "keyframes", MOVED },
    { "collider", "animation", MOVED },
    { "shape", "keyframes", "a transform takes them: translate: {keys: [[0, [0, 0, 0]], [2, [1, 0, 0]]]}" },
    { "shape", "animate", "a transform takes them: translate: {keys: [[0, [0, 0, 0]], [2, [1, 0, 0]]]}" },
    { "shape", "keys", "a transform takes them: translate: {keys: [[0, [0, 0, 0]], [2, [1, 0, 0]]]}" },
    { "collider", "mass", "a collider has none: sand and water do not move it" },
    { "collider", "density", "a collider has none: sand and water do not move it" },
    { "collider", "material", "'look' says how it is drawn, 'friction' how sand slides on it" },
    { "shape", "cube", "a cube is a box: {center: [0, 0, 0.5], size: 1}" },
    { "shape", "ball", "a ball is a sphere: {center: [0, 0, 0.5], radius: 0.5}" },
    { "shape", "plane", "a plane is a half_space: {point: [0, 0, 0], normal: [0, 0, 1]}" },
    { "shape", "obj", "a file is a mesh: {file: …, fit: 0.3}" },
    { "shape", "file", "a file is a mesh: {file: …, fit: 0.3}" },
    { "cylinder", "height", ENDS },
    { "cylinder", "center", ENDS },
    { "cone", "height", ENDS },
    { "cone", "center", ENDS },
    { "capsule", "height", ENDS },
    { "capsule", "center", ENDS },
    { "mesh", "scale", "'fit' is its size in m; " BESIDE("mesh", "scale") },
    { "mesh", "translate", BESIDE("mesh", "translate") },
    { "mesh", "rotate", BESIDE("mesh", "rotate") },
    { "mesh", "rotation", BESIDE("mesh", "rotate") },
    { "render", "samples", "an option of the command: wadi render … --samples 64" },
    { "render", "quality", "an option of the command: wadi render … --quality final" },
    { "render", "size", PIXELS },
    { "render", "resolution", PIXELS },
    { "render", "background", "light: {surround: studio}, or light: {environment: …} with a picture" },
};

bool wadi_scene_advice(const WadiSceneObject *object, const char *word, WadiText *text)
{
    for (size_t i = 0; i < sizeof advice / sizeof *advice; ++i) {
        if (strcmp(advice[i].word, word) == 0 && strcmp(advice[i].object, object->name) == 0) {
            wadi_text_printf(text, "; %s", advice[i].text);
            return true;
        }
    }
    return false;
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

/* Whether the object, or one below it that is no entry of a list, has the key: of lists there are several
 * entries, so that a key in them is not "below" but elsewhere. */
static bool find_below(const WadiSceneObject *object, const char *key, Path *path)
{
    bool has_list = false;
    if (!find(object, key, 0, path)) {
        return false;
    }
    for (int i = 0; i + 1 < path->length; ++i) {
        has_list |= path->step[i]->type != WADI_SCENE_OBJECT;
    }
    return !has_list;
}

/* The n-th key that a word may stand for: itself, then what other programs mean by it; NULL: no more. */
static const char *meaning(const char *word, int n)
{
    if (n == 0) {
        return word;
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; ++i) {
        if (strcmp(synonyms[i].word, word) == 0 && --n == 0) {
            return synonyms[i].key;
        }
    }
    return NULL;
}

bool wadi_scene_hint_below(const WadiSceneObject *object, const char *word, WadiText *text)
{
    Path path;
    const char *key;
    for (int n = 0; (key = meaning(word, n)) != NULL && !find_below(object, key, &path); ++n) {
    }
    if (key == NULL) {
        return false;
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

static bool find_elsewhere(const WadiSceneObject *object, const char *key, Path *path)
{
    const bool is_scene = object == &wadi_scene_object;
    return find(&wadi_scene_object, key, is_scene ? 1 : 0, path);
}

bool wadi_scene_hint_elsewhere(const WadiSceneObject *object, const char *word, WadiText *text)
{
    Path path;
    const char *key;
    for (int n = 0; (key = meaning(word, n)) != NULL && !find_elsewhere(object, key, &path); ++n) {
    }
    if (key == NULL) {
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
