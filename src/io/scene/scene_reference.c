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
    case WADI_SCENE_WHOLE: return "integer";
    case WADI_SCENE_BOOL: return "boolean";
    case WADI_SCENE_VEC3:
    case WADI_SCENE_CURVE3: return one_for_all ? "number or vector" : "vector";
    case WADI_SCENE_TEXT:
    case WADI_SCENE_ENUM: return field->choices == NULL ? "text" : "";
    case WADI_SCENE_NAME: return "name";
    case WADI_SCENE_BITS_OFF: return "list of ";
    case WADI_SCENE_FILE: return "file";
    case WADI_SCENE_FILES: return "pattern of file names";
    case WADI_SCENE_OBJECT:
    case WADI_SCENE_SETTINGS: return "";
    case WADI_SCENE_LIST: return "list of ";
    case WADI_SCENE_MAP: return "map by name of ";
    case WADI_SCENE_SHAPE:
    case WADI_SCENE_SHAPE_NEW: return "[shape](#shape)";
    case WADI_SCENE_SHAPES: return "list of [shapes](#shape)";
    case WADI_SCENE_KIND: return field->object == NULL ? "list of [shapes](#shape)" : "map";
    case WADI_SCENE_KEYS: return "list of [keys](#key)";
    case WADI_SCENE_KEY_VALUE: return "number or vector";
    }
    return "";
}

static bool is_numeric(WadiSceneType type)
{
    return type == WADI_SCENE_NUMBER || type == WADI_SCENE_INT || type == WADI_SCENE_WHOLE ||
           type == WADI_SCENE_VEC3 || type == WADI_SCENE_CURVE1 || type == WADI_SCENE_CURVE3;
}

/* Bounds that no sensible scene meets are left out; the schema has them. */
static void append_range(const WadiSceneField *field, WadiText *text)
{
    const double large = 1e5, small = 1e-4;
    bool has_maximum = field->maximum < large;
    bool is_positive = field->minimum > 0.0 && field->minimum < small;
    bool is_above = is_positive || (field->flags & WADI_SCENE_ABOVE_MIN) != 0;
    if (field->minimum <= -large || (field->minimum < 0.0 && !has_maximum)) {
        wadi_text_append(text, field->unit != NULL ? "," : "");
    } else if (!has_maximum || is_above) {
        wadi_text_append(text, is_above ? ", > " : ", ≥ ");
        wadi_text_append_number(text, is_positive ? 0.0 : field->minimum);
        if (has_maximum) {
            wadi_text_append(text, ", ≤ ");
            wadi_text_append_number(text, field->maximum);
        }
    } else {
        wadi_text_append(text, ", ");
        wadi_text_append_number(text, field->minimum);
        wadi_text_append(text, (field->flags & WADI_SCENE_BELOW_MAX) != 0 ? " to < " : " to ");
        wadi_text_append_number(text, field->maximum);
    }
    if (field->unit != NULL) {
        wadi_text_printf(text, " %s", field->unit);
    }
}

static void append_type(const WadiSceneField *field, WadiText *text)
{
    bool is_object = field->type == WADI_SCENE_OBJECT || field->type == WADI_SCENE_SETTINGS ||
                     field->type == WADI_SCENE_LIST || field->type == WADI_SCENE_MAP;
    wadi_text_append(text, type_name(field));
    if (is_numeric(field->type) && field->choices == NULL) {
        append_range(field, text);
    } else if (field->choices != NULL) {
        for (int i = 0; i < field->choices->count; ++i) {
            wadi_text_printf(text, "%s`%s`", i > 0 ? ", " : "", field->choices->list[i].name);
        }
    } else if (is_object) {
        wadi_text_printf(text, "[%s](#%s)", field->object->name, field->object->name);
    }
    wadi_text_append(text, (field->flags & WADI_SCENE_KEYFRAMES) != 0 ? "; keys" : "");
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
                break; /* the first of several names */
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
    wadi_text_append(text, "| key | type | default | meaning |\n|---|---|---|---|\n");
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if (field->type == skipped) {
            continue;
        }
        wadi_text_printf(text, "| `%s` | ", field->key);
        append_type(field, text);
        wadi_text_append(text, " | ");
        append_default(field, text);
        wadi_text_append(text, " | ");
        append_kinds(object, field, text);
        wadi_text_printf(text, "%s |\n", field->doc);
    }
    wadi_text_append(text, "\n");
}

/* A line for each key whose choices have meanings. */
static void append_choices(const WadiSceneObject *object, WadiText *text)
{
    bool has_any = false;
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneChoices *choices = object->fields[i].choices;
        const char *separator = NULL;
        for (int k = 0; choices != NULL && k < choices->count; ++k) {
            if (choices->list[k].doc[0] != '\0') {
                if (separator == NULL) {
                    wadi_text_printf(text, "- `%s`:", object->fields[i].key);
                }
                wadi_text_printf(text, "%s `%s` (%s)", separator != NULL ? separator : "",
                                 choices->list[k].name, choices->list[k].doc);
                separator = ",";
            }
        }
        wadi_text_append(text, separator != NULL ? "\n" : "");
        has_any = has_any || separator != NULL;
    }
    wadi_text_append(text, has_any ? "\n" : "");
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
        "`wadi schema --markdown` writes this page from the table that the parser reads.\n\n"
        "A scene is a YAML 1.2 file, or JSON. Units are SI, z is up. Anchors, aliases and merge keys (`<<`) "
        "work; tags do not.\nFiles are looked up beside the scene file. Any value can be set on the command "
        "line:\n`--set domain.walls.friction=0.3 --set 'bodies[0].velocity=[0, 0, 1]'`.\n\n"
        "A vector is three numbers, a name has letters, digits, `.`, `_` and `-`. Where the type says "
        "*keys*, [keyframes](#keyframes)\nmay stand for the value. Limits that no sensible scene meets are "
        "left out here; [the schema](scene.schema.json) has them.\n\n"
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
