/* Reads shapes: exactly one kind, its parameters or parts, and an optional transform. */
#include <string.h>

#include "io/scene/scene_read.h"
#include "world/rest_on.h"

/* Index of the field with the kind; -1 after reporting that none or several are given. */
static int find_kind(WadiSceneReader *r, int node, const WadiSceneGiven *given)
{
    const WadiSceneObject *object = &wadi_scene_shape_object;
    int found = -1;
    bool is_ambiguous = false;
    for (int i = 0; i < object->field_count; ++i) {
        if (object->fields[i].type != WADI_SCENE_KIND || given->node[i] < 0) {
            continue;
        }
        if (found >= 0) {
            int key = wadi_yaml_node(&r->yaml, given->node[i])->key;
            wadi_read_problem(r, key,
                              "two shapes in one: '%s' and '%s'; join them with union: [{%s: …}, {%s: …}]",
                              object->fields[found].key, object->fields[i].key, object->fields[found].key,
                              object->fields[i].key);
            is_ambiguous = true;
            break;
        }
        found = i;
    }
    /* An unknown key was reported already and is most likely the missing shape. */
    if (found < 0 && !given->has_unknown) {
        WadiText names = { 0 };
        for (int i = 0; i < object->field_count && object->fields[i].type == WADI_SCENE_KIND; ++i) {
            wadi_text_printf(&names, "%s%s", i > 0 ? ", " : "", object->fields[i].key);
        }
        wadi_read_problem(r, node, "no shape; expected one of %s", wadi_text_cstr(&names));
        wadi_read_drop(r, &names);
    }
    return is_ambiguous ? -1 : found;
}

static void read_kind(WadiSceneReader *r, int node, const WadiSceneField *field, WadiShapeDef *def)
{
    size_t mark = wadi_read_enter(r, field->key);
    if (field->object == NULL) {
        wadi_read_shapes(r, node, def, field->value == WADI_SHAPE_DIFFERENCE ? 2 : 1);
    } else {
        wadi_scene_set_defaults(field->object, def);
        wadi_read_object(r, node, field->object, def);
    }
    wadi_read_leave(r, mark);
}

void wadi_read_shape(WadiSceneReader *r, int node, WadiShapeDef *def)
{
    if (++r->shape_count > WADI_SCENE_SHAPE_MAX) {
        if (r->shape_count == WADI_SCENE_SHAPE_MAX + 1) {
            wadi_read_problem(r, node, "a scene has at most %d shapes", WADI_SCENE_SHAPE_MAX);
        }
        return;
    }
    WadiSceneGiven given;
    if (!wadi_read_collect(r, node, &wadi_scene_shape_object, &given)) {
        return;
    }
    int kind = find_kind(r, node, &given);
    *def = wadi_shape_def(kind >= 0 ? (WadiShapeKind)wadi_scene_shape_object.fields[kind].value
                                    : WADI_SHAPE_BOX);
    WadiText where = { 0 };
    wadi_report_append_location(&r->report, wadi_yaml_node(&r->yaml, node)->location, &where);
    if (wadi_read_ok(r, wadi_text_status(&where, r->error))) {
        size_t length = where.length < sizeof def->where - 1 ? where.length : sizeof def->where - 1;
        memcpy(def->where, wadi_text_cstr(&where), length);
    }
    wadi_text_free(&where);
    for (int i = 0; i < wadi_scene_shape_object.field_count && r->status == WADI_OK; ++i) {
        const WadiSceneField *field = &wadi_scene_shape_object.fields[i];
        if (given.node[i] < 0) {
            continue;
        }
        if (field->type != WADI_SCENE_KIND) {
            wadi_read_field(r, given.node[i], field, def);
        } else if (i == kind) {
            read_kind(r, given.node[i], field, def);
        }
    }
    if (def->on != NULL && def->mesh_on != NULL) {
        wadi_read_problem(r, node, "'on' is given twice, in the shape and in its mesh");
    }
}

void wadi_read_shapes(WadiSceneReader *r, int node, WadiShapeDef *parent, int least)
{
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    if (n->kind != WADI_YAML_LIST || n->child_count < least) {
        wadi_read_wrong_type(r, node,
                             least > 1 ? "a list of at least two shapes" : "a list of at least one shape");
        return;
    }
    if (n->child_count > WADI_SCENE_LIST_MAX) {
        wadi_read_problem(r, node, "%d shapes; at most %d are allowed", n->child_count, WADI_SCENE_LIST_MAX);
        return;
    }
    if (!wadi_read_ok(r, WADI_NEW(&parent->children, (size_t)n->child_count, "shapes", r->error))) {
        return;
    }
    parent->child_count = n->child_count;
    int index = 0;
    for (int i = n->first_child; i >= 0 && r->status == WADI_OK;
         i = wadi_yaml_node(&r->yaml, i)->next, ++index) {
        size_t mark = wadi_read_enter_index(r, index);
        wadi_read_shape(r, i, &parent->children[index]);
        if (wadi_rests_on(&parent->children[index]) != NULL) {
            wadi_read_problem(r, i, "'on' is for a whole shape, not for one of its parts");
        }
        wadi_read_leave(r, mark);
    }
}
