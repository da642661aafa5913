/* Checks of the key `on`, once all colliders are read: its name exists, and nothing rests on itself. */
#include <string.h>

#include "io/scene/scene_read.h"
#include "world/rest_on.h"

/* Node of the entry `index` of the list `list` of the scene; -1: none. */
static int entry_node(const WadiSceneReader *r, const char *list, int index)
{
    const int entries = wadi_yaml_find(&r->yaml, r->yaml.root, list);
    int node = entries >= 0 ? wadi_yaml_node(&r->yaml, entries)->first_child : -1;
    for (int i = 0; i < index && node >= 0; ++i) {
        node = wadi_yaml_node(&r->yaml, node)->next;
    }
    return node;
}

static void report_unknown(WadiSceneReader *r, int node, const char *name)
{
    const char *names[WADI_SCENE_FIELD_MAX] = { WADI_REST_ON_GROUND };
    int count = 1;
    for (int i = 0; i < r->scene->collider_count && count < WADI_SCENE_FIELD_MAX; ++i) {
        if (r->scene->colliders[i].name != NULL) {
            names[count++] = r->scene->colliders[i].name;
        }
    }
    WadiText what = { 0 };
    wadi_text_printf(&what, "no collider is named '%s'", name);
    wadi_read_unknown(r, node, wadi_text_cstr(&what), names, count);
    wadi_read_drop(r, &what);
}

/* Whether the chain of shapes below it is a circle. */
static bool rests_on_itself(const WadiScene *scene, const WadiShapeDef *def)
{
    int steps = 0;
    for (; wadi_rests_on(def) != NULL && steps <= scene->collider_count; ++steps) {
        const int below = wadi_rest_find(scene, wadi_rests_on(def));
        if (below < 0) {
            return false;
        }
        def = &scene->colliders[below].shape;
    }
    return steps > scene->collider_count;
}

static void check(WadiSceneReader *r, const char *list, int index, const char *shape_key,
                  const WadiShapeDef *def)
{
    const char *name = wadi_rests_on(def);
    int node = name != NULL ? entry_node(r, list, index) : -1;
    if (node < 0) {
        return;
    }
    const size_t mark = wadi_read_enter(r, list);
    wadi_read_enter_index(r, index);
    wadi_read_enter(r, shape_key);
    const char *const path[] = { shape_key, def->on != NULL ? "on" : "mesh", def->on != NULL ? NULL : "on" };
    for (int i = 0; i < 3 && path[i] != NULL; ++i) {
        const int inner = wadi_yaml_find(&r->yaml, node, path[i]);
        node = inner >= 0 ? inner : node;
    }
    wadi_read_enter(r, "on");
    if (wadi_rest_find(r->scene, name) < 0 && strcmp(name, WADI_REST_ON_GROUND) != 0) {
        report_unknown(r, node, name);
    } else if (rests_on_itself(r->scene, def)) {
        wadi_read_problem(r, node, "'%s' rests on this shape in turn; one of them needs a position", name);
    }
    wadi_read_leave(r, mark);
}

void wadi_finish_rests(WadiSceneReader *r)
{
    const WadiScene *scene = r->scene;
    for (int i = 0; i < scene->collider_count; ++i) {
        check(r, "colliders", i, "shape", &scene->colliders[i].shape);
    }
    for (int i = 0; i < scene->body_count; ++i) {
        check(r, "bodies", i, "shape", &scene->bodies[i].shape);
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        check(r, "emitters", i, "shape", &scene->emitters[i].shape);
    }
    for (int i = 0; i < scene->drain_count; ++i) {
        check(r, "drains", i, "shape", &scene->drains[i].shape);
    }
    for (int i = 0; i < scene->force_count; ++i) {
        if (scene->forces[i].region != NULL) {
            check(r, "forces", i, "region", scene->forces[i].region);
        }
    }
}
