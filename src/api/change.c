/* Changes of a running simulation. Each is a piece of YAML, "set: …" or "add: …", so that what is applied is
 * what is recorded, and what is repeated is the same. */
#include "api/change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "io/scene/scene_parse.h"

/* The scene as it is now with one key replaced. */
static WadiStatus derive(const WadiSim *sim, const char *assignment, WadiScene **scene, WadiError *error)
{
    return wadi_change_derive(sim, sim->scene, assignment, scene, error);
}

static void wake(WadiSim *sim)
{
    if (sim->type->wake != NULL) {
        sim->type->wake(sim->solver);
    }
}

static WadiStatus set_value(WadiSim *sim, const char *assignment, WadiError *error)
{
    WadiScene *scene = NULL;
    WADI_TRY(derive(sim, assignment, &scene, error));
    WADI_TRY(wadi_change_take_scene(sim, scene, error));
    wake(sim);
    return WADI_OK;
}

/* "KEY=VALUE" with the value as flow YAML. */
static WadiStatus assign(WadiText *text, const char *key, const WadiYaml *yaml, int value, WadiError *error)
{
    wadi_text_printf(text, "%s=[", key);
    wadi_change_write(yaml, value, text);
    wadi_text_append(text, "]");
    return wadi_text_status(text, error);
}

static WadiStatus add_collider(WadiSim *sim, const WadiYaml *yaml, int value, WadiError *error)
{
    WadiYaml scene = { .root = -1 };
    WadiText text = { 0 };
    wadi_text_append(&text, "colliders=[");
    WadiStatus status =
        wadi_change_read(&scene, sim->scene->source, strlen(sim->scene->source), "scene", error);
    const int list = status == WADI_OK ? wadi_yaml_find(&scene, scene.root, "colliders") : -1;
    const bool has_list = list >= 0 && wadi_yaml_node(&scene, list)->kind == WADI_YAML_LIST;
    for (int c = has_list ? wadi_yaml_node(&scene, list)->first_child : -1; c >= 0;
         c = wadi_yaml_node(&scene, c)->next) {
        wadi_change_write(&scene, c, &text);
        wadi_text_append(&text, ", ");
    }
    wadi_change_write(yaml, value, &text);
    wadi_text_append(&text, "]");
    if (status == WADI_OK) {
        status = wadi_text_status(&text, error);
    }
    if (status == WADI_OK) {
        status = set_value(sim, text.data, error);
    }
    wadi_text_free(&text);
    wadi_yaml_free(&scene);
    return status;
}

/* Number of the collider with that name or number. */
static WadiStatus find_collider(const WadiSim *sim, const char *name, int *index, WadiError *error)
{
    char *end;
    const long number = strtol(name, &end, 10);
    *index =
        end != name && *end == '\0' && number >= 0 && number < sim->scene->collider_count ? (int)number : -1;
    for (int i = 0; i < sim->scene->collider_count; ++i) {
        if (sim->scene->colliders[i].name != NULL && strcmp(sim->scene->colliders[i].name, name) == 0) {
            *index = i;
        }
    }
    return *index >= 0 ? WADI_OK
                       : wadi_fail(error, WADI_ERR_ARGUMENT, "no collider '%s'; the scene has %d", name,
                                   sim->scene->collider_count);
}

static void append_point(WadiText *text, const double x[3])
{
    for (int c = 0; c < 3; ++c) {
        wadi_text_append(text, c == 0 ? "[" : ", ");
        wadi_text_append_number(text, x[c]);
    }
    wadi_text_append(text, "]");
}

/* Numbers of a list or scalar; false: not exactly `count` finite numbers. */
static bool read_numbers(const WadiYaml *yaml, int node, double *values, int count)
{
    if (node < 0) {
        return false;
    }
    const WadiYamlNode *n = wadi_yaml_node(yaml, node);
    int item = n->kind == WADI_YAML_LIST ? n->first_child : node;
    bool is_good =
        n->kind == WADI_YAML_LIST ? n->child_count == count : n->kind == WADI_YAML_SCALAR && count == 1;
    for (int i = 0; i < count && is_good; ++i) {
        is_good = wadi_yaml_node(yaml, item)->kind == WADI_YAML_SCALAR &&
                  wadi_yaml_type(yaml, item) == WADI_YAML_NUMBER;
        values[i] = is_good ? wadi_yaml_number(yaml, item) : 0.0;
        is_good = is_good && isfinite(values[i]);
        item = wadi_yaml_node(yaml, item)->next;
    }
    return is_good;
}

/* {collider: NAME, to: [x, y, z], duration: s} */
static WadiStatus move_collider(WadiSim *sim, const WadiYaml *yaml, int value, WadiError *error)
{
    double to[3], duration;
    int index = 0;
    const bool is_map = wadi_yaml_node(yaml, value)->kind == WADI_YAML_MAP;
    const int name = is_map ? wadi_yaml_find(yaml, value, "collider") : -1;
    if (name < 0 || wadi_yaml_node(yaml, name)->kind != WADI_YAML_SCALAR ||
        !read_numbers(yaml, wadi_yaml_find(yaml, value, "to"), to, 3) ||
        !read_numbers(yaml, wadi_yaml_find(yaml, value, "duration"), &duration, 1) || duration < 0.0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "move: expected {collider: NAME, to: [x, y, z], duration: s} with finite numbers");
    }
    WADI_TRY(find_collider(sim, wadi_yaml_text(yaml, name), &index, error));
    const WadiVec3 now = wadi_curve_value3(&sim->scene->colliders[index].shape.translate, sim->time);
    WadiText text = { 0 };
    wadi_text_printf(&text, "colliders[%d].shape.translate=", index);
    const double end = sim->time + duration;
    if (end > sim->time) {
        wadi_text_append(&text, "{keys: [[");
        wadi_text_append_number(&text, sim->time);
        wadi_text_append(&text, ", ");
        append_point(&text, (const double[3]){ now.x, now.y, now.z });
        wadi_text_append(&text, "], [");
        wadi_text_append_number(&text, end);
        wadi_text_append(&text, ", ");
        append_point(&text, to);
        wadi_text_append(&text, "]]}");
    } else {
        append_point(&text, to);
    }
    WadiScene *scene = NULL;
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = derive(sim, text.data, &scene, error);
    }
    if (status == WADI_OK) {
        status = wadi_change_take_scene(sim, scene, error);
    }
    wadi_text_free(&text);
    if (status == WADI_OK && !(end > sim->time)) {
        wake(sim); /* a moving solid wakes what it comes near to, one that jumps does not */
    }
    return status;
}

/* The scene with the body to add as its only one. */
static WadiStatus derive_body(const WadiSim *sim, const WadiYaml *yaml, int value, WadiScene **scene,
                              WadiError *error)
{
    WadiText text = { 0 };
    WadiStatus status = assign(&text, "bodies", yaml, value, error);
    if (status == WADI_OK) {
        status = derive(sim, text.data, scene, error);
    }
    wadi_text_free(&text);
    return status;
}

WadiStatus wadi_change_use_material(WadiSim *sim, int material, bool is_used, WadiError *error)
{
    WadiScene *scene = NULL;
    WADI_TRY(derive(sim, NULL, &scene, error));
    scene->materials[material].is_unused = scene->materials[material].is_unused && !is_used;
    return wadi_change_take_scene(sim, scene, error);
}

static WadiStatus add_particles(WadiSim *sim, const WadiYaml *yaml, int value, int64_t *added,
                                WadiError *error)
{
    WadiScene *scene = NULL;
    WADI_TRY(derive_body(sim, yaml, value, &scene, error));
    const int material = scene->bodies[0].material;
    const bool is_new = sim->scene->materials[material].is_unused;
    WadiStatus status = is_new ? wadi_change_use_material(sim, material, true, error) : WADI_OK;
    if (status == WADI_OK) {
        status = wadi_sim_add_body(sim, &scene->bodies[0], added, error);
        if (status != WADI_OK && is_new) {
            (void)wadi_change_use_material(sim, material, false, NULL);
        }
    }
    wadi_scene_free(scene);
    return status;
}

/* Number of the material that the key `material` of a map names; -1: it has no such key. */
static WadiStatus find_material(const WadiSim *sim, const WadiYaml *yaml, int map, const char *what,
                                int *material, WadiError *error)
{
    const int name = wadi_yaml_find(yaml, map, "material");
    *material = -1;
    if (name < 0) {
        return WADI_OK;
    }
    const bool is_text = wadi_yaml_node(yaml, name)->kind == WADI_YAML_SCALAR;
    for (int m = 0; is_text && m < sim->scene->material_count; ++m) {
        *material = strcmp(sim->scene->materials[m].name, wadi_yaml_text(yaml, name)) == 0 ? m : *material;
    }
    return *material >= 0 ? WADI_OK
                          : wadi_fail(error, WADI_ERR_ARGUMENT, "%s: the scene has no material '%.100s'",
                                      what, is_text ? wadi_yaml_text(yaml, name) : "…");
}

/* The scene with that saturation of the bodies and emitters of a material: a solver has columns for water
 * when its scene is moist. */
static WadiStatus derive_moist(const WadiSim *sim, int material, double saturation, WadiScene **scene,
                               WadiError *error)
{
    const WadiScene *now = sim->scene;
    WADI_TRY(derive(sim, NULL, scene, error));
    for (int n = 0; n < now->body_count + now->emitter_count; ++n) {
        const bool is_body = n < now->body_count;
        const int i = is_body ? n : n - now->body_count;
        if ((is_body ? now->bodies[i].material : now->emitters[i].material) != material) {
            continue;
        }
        char assignment[96];
        WadiScene *next = NULL;
        snprintf(assignment, sizeof assignment, "%s[%d].saturation=%.17g", is_body ? "bodies" : "emitters", i,
                 saturation);
        const WadiStatus status = wadi_change_derive(sim, *scene, assignment, &next, error);
        wadi_scene_free(*scene);
        *scene = next;
        WADI_TRY(status);
    }
    return WADI_OK;
}

/* {material: NAME, saturation: S} */
static WadiStatus set_saturation(WadiSim *sim, const WadiYaml *yaml, int value, WadiError *error)
{
    const bool is_map = wadi_yaml_node(yaml, value)->kind == WADI_YAML_MAP;
    double saturation = 0.0;
    int material = -1;
    if (!is_map || !read_numbers(yaml, wadi_yaml_find(yaml, value, "saturation"), &saturation, 1) ||
        saturation < 0.0 || saturation > 1.0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "wet: expected {material: NAME, saturation: S} with S from 0 to 1");
    }
    WADI_TRY(find_material(sim, yaml, value, "wet", &material, error));
    if (material < 0 || sim->scene->materials[material].kind != WADI_MATERIAL_SAND) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "wet: the material must be one of sand");
    }
    if (!sim->type->has_pores) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "wet: the solver %s has no water in sand; sph and dem have", sim->scene->solver);
    }
    WadiScene *scene = NULL;
    WADI_TRY(derive_moist(sim, material, saturation, &scene, error));
    if (saturation == 0.0) {
        wadi_sim_wet(sim, material, 0.0); /* a dry scene may have no columns for water: they end empty */
    }
    WADI_TRY(wadi_change_take_scene(sim, scene, error));
    wadi_sim_wet(sim, material, saturation);
    wake(sim);
    return WADI_OK;
}

static WadiStatus remove_particles(WadiSim *sim, const WadiYaml *yaml, int value, int64_t *removed,
                                   WadiError *error)
{
    WadiText text = { 0 };
    WadiScene *scene = NULL;
    int material = -1;
    const bool is_map = wadi_yaml_node(yaml, value)->kind == WADI_YAML_MAP;
    const int shape = is_map ? wadi_yaml_find(yaml, value, "shape") : -1;
    if (shape < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "remove: expected {shape: SHAPE} or {shape: SHAPE, material: NAME}");
    }
    WADI_TRY(find_material(sim, yaml, value, "remove", &material, error));
    wadi_text_append(&text, "drains=[{shape: ");
    wadi_change_write(yaml, shape, &text);
    wadi_text_append(&text, "}]");
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = derive(sim, text.data, &scene, error);
    }
    wadi_text_free(&text);
    if (status == WADI_OK) {
        status = wadi_sim_remove_inside(sim, &scene->drains[0].shape, material, removed, error);
    }
    wadi_scene_free(scene);
    return status;
}

static WadiStatus apply_value(WadiSim *sim, const WadiYaml *yaml, int value, int64_t *count, WadiError *error)
{
    const char *kind = wadi_yaml_text(yaml, wadi_yaml_node(yaml, value)->key);
    if (strcmp(kind, "set") == 0 && wadi_yaml_node(yaml, value)->kind == WADI_YAML_SCALAR) {
        return set_value(sim, wadi_yaml_text(yaml, value), error);
    }
    if (strcmp(kind, "collider") == 0) {
        return add_collider(sim, yaml, value, error);
    }
    if (strcmp(kind, "move") == 0) {
        return move_collider(sim, yaml, value, error);
    }
    if (strcmp(kind, "add") == 0) {
        return add_particles(sim, yaml, value, count, error);
    }
    if (strcmp(kind, "remove") == 0) {
        return remove_particles(sim, yaml, value, count, error);
    }
    if (strcmp(kind, "points") == 0 && wadi_yaml_node(yaml, value)->kind == WADI_YAML_SCALAR) {
        return wadi_change_add_points(sim, wadi_yaml_text(yaml, value), count, error);
    }
    if (strcmp(kind, "wet") == 0) {
        return set_saturation(sim, yaml, value, error);
    }
    return wadi_fail(error, WADI_ERR_FORMAT,
                     "'%.40s' is no change; expected set: TEXT, collider, move, add, points, remove or "
                     "wet",
                     kind);
}

WadiStatus wadi_change_apply(WadiSim *sim, const char *change, int64_t *count, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WadiYaml yaml = { .root = -1 };
    WadiText text = { 0 };
    *count = 0;
    wadi_text_printf(&text, "{%s}", change);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_change_read(&yaml, text.data, text.length, "change", error);
    }
    if (status == WADI_OK && (wadi_yaml_node(&yaml, yaml.root)->kind != WADI_YAML_MAP ||
                              wadi_yaml_node(&yaml, yaml.root)->child_count != 1)) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "expected one change, found '%.100s'", change);
    }
    if (status == WADI_OK) {
        const int value = wadi_yaml_node(&yaml, yaml.root)->first_child;
        wadi_text_clear(&text);
        wadi_change_write(&yaml, wadi_yaml_node(&yaml, value)->key, &text);
        wadi_text_append(&text, ": ");
        wadi_change_write(&yaml, value, &text);
        status = wadi_text_status(&text, error);
        if (status == WADI_OK) {
            status = wadi_sim_check_state(sim, error);
        }
        if (status == WADI_OK) {
            status = apply_value(sim, &yaml, value, count, error);
        }
        if (status == WADI_OK) {
            status = wadi_change_record(sim, text.data, error);
        }
    }
    wadi_text_free(&text);
    wadi_yaml_free(&yaml);
    return wadi_assert_status(status, asserts, error);
}

WadiStatus wadi_change_apply_kind(WadiSim *sim, const char *kind, const char *value, bool is_quoted,
                                  int64_t *count, WadiError *error)
{
    WadiText text = { 0 };
    int64_t ignored = 0;
    WADI_TRY(wadi_sim_check_state(sim, error));
    if (value == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%s: the text is NULL", kind);
    }
    wadi_text_printf(&text, "%s: ", kind);
    if (is_quoted) {
        wadi_text_append_json(&text, value);
    } else {
        wadi_text_append(&text, value);
    }
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_change_apply(sim, text.data, count != NULL ? count : &ignored, error);
    }
    wadi_text_free(&text);
    return status;
}

WadiStatus wadi_sim_set(WadiSim *sim, const char *assignment, WadiError *error)
{
    return wadi_change_apply_kind(sim, "set", assignment, true, NULL, error);
}

WadiStatus wadi_sim_add_collider(WadiSim *sim, const char *collider, WadiError *error)
{
    return wadi_change_apply_kind(sim, "collider", collider, false, NULL, error);
}

WadiStatus wadi_sim_add_particles(WadiSim *sim, const char *body, int64_t *added, WadiError *error)
{
    return wadi_change_apply_kind(sim, "add", body, false, added, error);
}

WadiStatus wadi_sim_expect_particles(const WadiSim *sim, const char *body, double *count, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WadiYaml yaml = { .root = -1 };
    WadiScene *scene = NULL;
    *count = 0.0;
    if (body == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "add: the text is NULL");
    }
    WadiStatus status = wadi_sim_check_state(sim, error);
    if (status == WADI_OK) {
        status = wadi_change_read(&yaml, body, strlen(body), "add", error);
    }
    if (status == WADI_OK) {
        status = derive_body(sim, &yaml, yaml.root, &scene, error);
    }
    if (status == WADI_OK) {
        status = wadi_sim_expect_body(sim, &scene->bodies[0], count, error);
    }
    wadi_scene_free(scene);
    wadi_yaml_free(&yaml);
    return wadi_assert_status(status, asserts, error);
}

WadiStatus wadi_sim_remove_particles(WadiSim *sim, const char *region, int64_t *removed, WadiError *error)
{
    return wadi_change_apply_kind(sim, "remove", region, false, removed, error);
}

WadiStatus wadi_sim_set_saturation(WadiSim *sim, const char *material, double saturation, WadiError *error)
{
    WadiText text = { 0 };
    wadi_text_append(&text, "{material: ");
    wadi_text_append_json(&text, material != NULL ? material : "");
    wadi_text_append(&text, ", saturation: ");
    wadi_text_append_number(&text, saturation);
    wadi_text_append(&text, "}");
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_change_apply_kind(sim, "wet", text.data, false, NULL, error);
    }
    wadi_text_free(&text);
    return status;
}

WadiStatus wadi_sim_move_collider(WadiSim *sim, const char *collider, const double to[3], double duration,
                                  WadiError *error)
{
    WadiText text = { 0 };
    wadi_text_append(&text, "{collider: ");
    wadi_text_append_json(&text, collider != NULL ? collider : "");
    wadi_text_append(&text, ", to: ");
    append_point(&text, to);
    wadi_text_append(&text, ", duration: ");
    wadi_text_append_number(&text, duration);
    wadi_text_append(&text, "}");
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_change_apply_kind(sim, "move", text.data, false, NULL, error);
    }
    wadi_text_free(&text);
    return status;
}
