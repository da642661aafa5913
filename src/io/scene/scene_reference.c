/* Writes the table as the reference page. */
#include <string.h>

#include "io/scene/scene_schema.h"

static const char *type_name(const WadiSceneField *field)
{
    bool one_for_all = (field->flags & WADI_SCENE_ONE_FOR_ALL) != 0;
    switch (field->type) {
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_CURVE1: return "number";
    case WADI_SCENE_INT:
    case WADI_SCENE_WHOLE: return "whole number";
    case WADI_SCENE_BOOL: return "true or false";
    case WADI_SCENE_VEC3:
    case WADI_SCENE_CURVE3: return one_for_all ? "number or three numbers" : "three numbers";
    case WADI_SCENE_TEXT:
    case WADI_SCENE_ENUM:
        return field->choices == NULL ? "text" : field->choices->is_numbers ? "number" : "name";
    case WADI_SCENE_NAME: return "name: letters, digits, `.` `_` `-`";
    case WADI_SCENE_BITS_OFF: return "list of names";
    case WADI_SCENE_FILE: return "file";
    case WADI_SCENE_FILES: return "pattern of file names";
    case WADI_SCENE_OBJECT:
    case WADI_SCENE_SETTINGS: return "map";
    case WADI_SCENE_LIST: return "list";
    case WADI_SCENE_MAP: return "map by name";
    case WADI_SCENE_SHAPE:
    case WADI_SCENE_SHAPE_NEW: return "[shape](#shape)";
    case WADI_SCENE_SHAPES: return "list of [shapes](#shape)";
    case WADI_SCENE_KIND: return field->object == NULL ? "list of [shapes](#shape)" : "map";
    case WADI_SCENE_KEYS: return "list of [keys](#key)";
    case WADI_SCENE_KEY_VALUE: return "number or three numbers";
    }
    return "";
}

static bool is_numeric(WadiSceneType type)
{
    return type == WADI_SCENE_NUMBER || type == WADI_SCENE_INT || type == WADI_SCENE_WHOLE ||
           type == WADI_SCENE_VEC3 || type == WADI_SCENE_CURVE1 || type == WADI_SCENE_CURVE3;
}

static void append_values(const WadiSceneField *field, WadiText *text)
{
    bool is_object = field->type == WADI_SCENE_OBJECT || field->type == WADI_SCENE_SETTINGS ||
                     field->type == WADI_SCENE_LIST || field->type == WADI_SCENE_MAP;
    if (is_numeric(field->type)) {
        wadi_scene_field_range(field, text);
    } else if (field->choices != NULL) {
        for (int i = 0; i < field->choices->count; ++i) {
            wadi_text_printf(text, "%s`%s`", i > 0 ? ", " : "", field->choices->list[i].name);
        }
    } else if (is_object) {
        wadi_text_printf(text, "see [%s](#%s)", field->object->name, field->object->name);
    }
}

static void append_default(const WadiSceneField *field, WadiText *text)
{
    if ((field->flags & WADI_SCENE_REQUIRED) != 0) {
        wadi_text_append(text, "**required**");
    } else if (field->fallback_text != NULL) {
        wadi_text_append(text, field->fallback_text);
    } else if (field->type == WADI_SCENE_VEC3 || field->type == WADI_SCENE_CURVE3) {
        for (int i = 0; i < 3; ++i) {
            wadi_text_append(text, i > 0 ? ", " : "[");
            wadi_text_append_number(text, field->fallback[i]);
        }
        wadi_text_append(text, "]");
    } else if (is_numeric(field->type)) {
        wadi_text_append_number(text, field->fallback[0]);
    } else if (field->type == WADI_SCENE_BOOL) {
        wadi_text_append(text, field->fallback[0] != 0.0 ? "true" : "false");
    } else if (field->type == WADI_SCENE_ENUM) {
        for (int i = 0; i < field->choices->count; ++i) {
            if (field->choices->list[i].value == (int)field->fallback[0]) {
                wadi_text_printf(text, "`%s`", field->choices->list[i].name);
            }
        }
    }
}

static void append_kinds(const WadiSceneObject *object, const WadiSceneField *field, WadiText *text)
{
    const WadiSceneField *kind = wadi_scene_field(object, "kind");
    if (field->kinds == 0 || kind == NULL) {
        return;
    }
    wadi_text_append(text, "*(");
    const char *separator = "";
    for (int i = 0; i < kind->choices->count; ++i) {
        if (wadi_scene_field_fits(field, kind->choices->list[i].value)) {
            wadi_text_printf(text, "%s%s", separator, kind->choices->list[i].name);
            separator = ", ";
        }
    }
    wadi_text_append(text, " only)* ");
}

static void append_table(const WadiSceneObject *object, WadiSceneType skipped, WadiText *text)
{
    wadi_text_append(text,
                     "| key | type | values | default | keyframes | meaning |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if (field->type == skipped) {
            continue;
        }
        wadi_text_printf(text, "| `%s` | %s | ", field->key, type_name(field));
        append_values(field, text);
        wadi_text_append(text, " | ");
        append_default(field, text);
        wadi_text_printf(text, " | %s | ", (field->flags & WADI_SCENE_KEYFRAMES) != 0 ? "yes" : "");
        append_kinds(object, field, text);
        wadi_text_printf(text, "%s |\n", field->doc);
    }
    wadi_text_append(text, "\n");
}

/* Lists the meaning of each choice where the table has one. */
static void append_choices(const WadiSceneObject *object, WadiText *text)
{
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneChoices *choices = object->fields[i].choices;
        for (int k = 0; choices != NULL && k < choices->count; ++k) {
            if (choices->list[k].doc[0] != '\0') {
                wadi_text_printf(text, "- `%s`: %s%s\n", choices->list[k].name, choices->list[k].doc,
                                 k == choices->count - 1 ? "\n" : "");
            }
        }
    }
}

static void append_shapes(const WadiSceneObject *object, WadiText *text)
{
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if (field->type != WADI_SCENE_KIND) {
            continue;
        }
        wadi_text_printf(text, "### %s\n\n%s\n\n", field->key, field->doc);
        if (field->object != NULL) {
            append_table(field->object, WADI_SCENE_KIND, text);
        }
    }
}

static bool has_section(const WadiSceneObject *object)
{
    int count;
    const WadiSceneObject *const *objects = wadi_scene_objects(&count);
    bool is_listed = false;
    for (int i = 0; i < count; ++i) {
        is_listed = is_listed || objects[i] == object;
    }
    return is_listed;
}

/* Maps inside the settings of a solver, which have no section of their own, behind these; two deep. */
static void append_maps(const WadiSceneObject *object, int depth, WadiText *text)
{
    for (int i = 0; i < object->field_count && depth > 0; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if (field->type != WADI_SCENE_OBJECT || has_section(field->object)) {
            continue;
        }
        wadi_text_printf(text, "### %s\n\n%s\n\n", field->object->name, field->object->doc);
        if (field->object->example != NULL) {
            wadi_text_printf(text, "```yaml\n%s\n```\n\n", field->object->example);
        }
        append_table(field->object, WADI_SCENE_KIND, text);
        append_maps(field->object, depth - 1, text);
    }
}

void wadi_scene_reference_markdown(WadiText *text)
{
    int count;
    const WadiSceneObject *const *objects = wadi_scene_objects(&count);
    wadi_text_append(
        text,
        "# The scene file\n\n"
        "Made from the table that the parser reads (`src/io/scene/scene_schema.c`); do not edit by hand.\n"
        "`WADI_BLESS=1 test_scene_doc` writes it anew.\n\n"
        "A scene is a YAML 1.2 file (JSON is accepted too). Units are SI, z is up. Unknown keys, wrong "
        "types and\n"
        "impossible values are errors that name the file, line, column and key. Anchors, aliases and "
        "merge keys\n"
        "(`<<`) work; tags do not. Files are looked up beside the scene file. Every value can be "
        "overridden on the\n"
        "command line: `--set domain.walls.friction=0.3 --set 'bodies[0].velocity=[0, 0, 1]'`.\n\n"
        "```yaml\n"
        "wadi: 1\n"
        "name: column\n"
        "solver: flip\n"
        "domain: {min: [0, 0, 0], max: [1.0, 0.6, 0.6], walls: {friction: 0.6}}\n"
        "resolution: 100            # cells along the longest side (or cell_size: 0.01)\n"
        "frames: 72\n"
        "fps: 24\n"
        "materials:\n"
        "  sand: {kind: sand, density: 1600, friction_angle: 35}\n"
        "bodies:\n"
        "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.25, 0.6, 0.36]}}}\n"
        "```\n\n");
    for (int i = 0; i < count; ++i) {
        const WadiSceneObject *object = objects[i];
        wadi_text_printf(text, "## %s\n\n%s\n\n", object->name, object->doc);
        if (object->example != NULL) {
            wadi_text_printf(text, "```yaml\n%s\n```\n\n", object->example);
        }
        append_table(object, WADI_SCENE_KIND, text);
        append_choices(object, text);
        append_shapes(object, text);
        append_maps(object, 2, text);
    }
    while (text->length > 1 && !text->has_failed && strcmp(text->data + text->length - 2, "\n\n") == 0) {
        text->data[--text->length] = '\0';
    }
}
