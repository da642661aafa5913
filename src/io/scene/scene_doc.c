/* Writes the table as a JSON Schema (draft 2020-12), for editors that complete and check scene files. */
#include <string.h>

#include "core/check.h"
#include "io/scene/scene_schema.h"

void wadi_scene_field_range(const WadiSceneField *field, WadiText *text)
{
    bool is_above = (field->flags & WADI_SCENE_ABOVE_MIN) != 0,
         is_below = (field->flags & WADI_SCENE_BELOW_MAX) != 0;
    if (!is_above && !is_below) {
        wadi_text_append_number(text, field->minimum);
        wadi_text_append(text, " to ");
        wadi_text_append_number(text, field->maximum);
    } else {
        wadi_text_append(text, is_above ? "more than " : "");
        wadi_text_append_number(text, field->minimum);
        wadi_text_append(text, is_below ? " to less than " : ", at most ");
        wadi_text_append_number(text, field->maximum);
    }
    if (field->unit != NULL) {
        wadi_text_printf(text, " %s", field->unit);
    }
}

static void number_schema(const WadiSceneField *field, WadiText *text)
{
    bool is_whole = field->type == WADI_SCENE_INT || field->type == WADI_SCENE_WHOLE;
    wadi_text_printf(text, "\"type\": \"%s\", \"%s\": ", is_whole ? "integer" : "number",
                     (field->flags & WADI_SCENE_ABOVE_MIN) != 0 ? "exclusiveMinimum" : "minimum");
    wadi_text_append_number(text, field->minimum);
    wadi_text_printf(
        text, ", \"%s\": ", (field->flags & WADI_SCENE_BELOW_MAX) != 0 ? "exclusiveMaximum" : "maximum");
    wadi_text_append_number(text, field->maximum);
}

static void vector_schema(const WadiSceneField *field, WadiText *text)
{
    wadi_text_append(text, "\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {");
    number_schema(field, text);
    wadi_text_append(text, "}");
}

static void curve_schema(const WadiSceneField *field, WadiText *text)
{
    bool is_vector = field->type == WADI_SCENE_CURVE3 || field->type == WADI_SCENE_VEC3;
    bool has_keys = (field->flags & WADI_SCENE_KEYFRAMES) != 0;
    bool is_alternative = has_keys || (is_vector && (field->flags & WADI_SCENE_ONE_FOR_ALL) != 0);
    wadi_text_append(text, is_alternative ? "\"anyOf\": [{" : "");
    if (is_vector) {
        vector_schema(field, text);
        if ((field->flags & WADI_SCENE_ONE_FOR_ALL) != 0) {
            wadi_text_append(text, "}, {");
            number_schema(field, text);
        }
    } else {
        number_schema(field, text);
    }
    if (has_keys) {
        wadi_text_append(text, "}, {\"$ref\": \"#/$defs/keyframes\"");
    }
    wadi_text_append(text, is_alternative ? "}]" : "");
}

static void choices_schema(const WadiSceneChoices *choices, WadiText *text)
{
    wadi_text_append(text, "\"enum\": [");
    for (int i = 0; i < choices->count; ++i) {
        wadi_text_append(text, i > 0 ? ", " : "");
        if (choices->is_numbers) {
            wadi_text_append(text, choices->list[i].name);
        } else {
            wadi_text_append_json(text, choices->list[i].name);
        }
    }
    wadi_text_append(text, "]");
}

#define NAME_PATTERN "^[A-Za-z0-9_][A-Za-z0-9._-]*$"

static void entries_schema(const WadiSceneField *field, WadiText *text)
{
    if (field->type == WADI_SCENE_LIST) {
        wadi_text_printf(text, "\"type\": \"array\", \"maxItems\": %d, \"items\": {\"$ref\": \"#/$defs/%s\"}",
                         (int)field->maximum, field->object->name);
        return;
    }
    wadi_text_printf(
        text,
        "\"type\": \"object\", \"maxProperties\": %d, \"propertyNames\": {\"pattern\": \"" NAME_PATTERN
        "\"}, \"additionalProperties\": {\"$ref\": \"#/$defs/%s\"}",
        (int)field->maximum, field->object->name);
}

static void shape_list_schema(WadiText *text)
{
    wadi_text_append(text, "\"type\": \"array\", \"minItems\": 1, \"items\": {\"$ref\": \"#/$defs/shape\"}");
}

static void object_schema(const WadiSceneObject *object, int indent, WadiText *text);

static void type_schema(const WadiSceneField *field, int indent, WadiText *text)
{
    switch (field->type) {
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_INT:
    case WADI_SCENE_WHOLE: number_schema(field, text); break;
    case WADI_SCENE_BOOL: wadi_text_append(text, "\"type\": \"boolean\""); break;
    case WADI_SCENE_VEC3:
    case WADI_SCENE_CURVE1:
    case WADI_SCENE_CURVE3: curve_schema(field, text); break;
    case WADI_SCENE_TEXT:
    case WADI_SCENE_ENUM:
        if (field->choices != NULL) {
            choices_schema(field->choices, text);
        } else {
            wadi_text_append(text, "\"type\": \"string\"");
        }
        break;
    case WADI_SCENE_NAME:
        wadi_text_append(text, "\"type\": \"string\", \"maxLength\": 100, \"pattern\": \"" NAME_PATTERN "\"");
        break;
    case WADI_SCENE_BITS_OFF:
        wadi_text_append(text, "\"type\": \"array\", \"items\": {");
        choices_schema(field->choices, text);
        wadi_text_append(text, "}");
        break;
    case WADI_SCENE_FILE: wadi_text_append(text, "\"type\": \"string\", \"minLength\": 1"); break;
    case WADI_SCENE_FILES:
        wadi_text_append(text, "\"type\": \"string\", \"pattern\": \"^[^%]*%[0-9]{0,2}d[^%]*$\"");
        break;
    case WADI_SCENE_OBJECT:
    case WADI_SCENE_SETTINGS: object_schema(field->object, indent, text); break;
    case WADI_SCENE_LIST:
    case WADI_SCENE_MAP: entries_schema(field, text); break;
    case WADI_SCENE_SHAPE:
    case WADI_SCENE_SHAPE_NEW: wadi_text_append(text, "\"$ref\": \"#/$defs/shape\""); break;
    case WADI_SCENE_SHAPES: shape_list_schema(text); break;
    case WADI_SCENE_KIND:
        if (field->object != NULL) {
            object_schema(field->object, indent, text);
        } else {
            shape_list_schema(text);
        }
        break;
    case WADI_SCENE_KEYS:
        wadi_text_append(text, "\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": [{\"$ref\": "
                               "\"#/$defs/key\"}, {\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2}]}");
        break;
    case WADI_SCENE_KEY_VALUE:
        wadi_text_append(text, "\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"array\", \"minItems\": 3, "
                               "\"maxItems\": 3, \"items\": {\"type\": \"number\"}}]");
        break;
    }
}

static void new_line(WadiText *text, int indent)
{
    wadi_text_printf(text, "\n%*s", indent, "");
}

static void required_list(const WadiSceneObject *object, unsigned kinds, WadiText *text)
{
    const char *separator = "";
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if ((field->flags & WADI_SCENE_REQUIRED) != 0 && field->kinds == kinds) {
            wadi_text_append(text, separator);
            wadi_text_append_json(text, field->key);
            separator = ", ";
        }
    }
}

/* Keys that only some kinds have: required there, rejected elsewhere. */
static void kind_rules(const WadiSceneObject *object, int indent, WadiText *text)
{
    const WadiSceneField *kind = wadi_scene_field(object, "kind");
    if (kind == NULL) {
        return;
    }
    wadi_text_append(text, ",");
    new_line(text, indent);
    wadi_text_append(text, "\"allOf\": [");
    for (int k = 0; k < kind->choices->count; ++k) {
        const WadiSceneChoice *choice = &kind->choices->list[k];
        wadi_text_append(text, k > 0 ? "," : "");
        new_line(text, indent + 2);
        wadi_text_printf(
            text, "{\"if\": {\"properties\": {\"kind\": {\"const\": \"%s\"}}}, \"then\": {\"required\": [",
            choice->name);
        required_list(object, 1u << choice->value, text);
        wadi_text_append(text, "], \"properties\": {");
        const char *separator = "";
        for (int i = 0; i < object->field_count; ++i) {
            if (!wadi_scene_field_fits(&object->fields[i], choice->value)) {
                wadi_text_printf(text, "%s\"%s\": false", separator, object->fields[i].key);
                separator = ", ";
            }
        }
        wadi_text_append(text, "}}}");
    }
    wadi_text_append(text, "]");
}

/* Rules on several fields; scene_finish.c has them for the parser. */
static void alternative_rules(const WadiSceneObject *object, int indent, WadiText *text)
{
    const char *rule = NULL;
    if (object == &wadi_scene_object) {
        rule = "\"allOf\": [{\"oneOf\": [{\"required\": [\"resolution\", \"domain\"]}, {\"required\": "
               "[\"cell_size\"]}]}, "
               "{\"anyOf\": [{\"required\": [\"bodies\"]}, {\"required\": [\"emitters\"]}]}]";
    } else if (object == &wadi_scene_box_object) {
        rule = "\"oneOf\": [{\"required\": [\"min\", \"max\"], \"properties\": {\"center\": false, \"size\": "
               "false}}, "
               "{\"required\": [\"size\"], \"properties\": {\"min\": false, \"max\": false}}]";
    } else if (object == &wadi_scene_shape_object) {
        wadi_text_append(text, ",");
        new_line(text, indent);
        wadi_text_append(text, "\"oneOf\": [");
        for (int i = 0; i < object->field_count && object->fields[i].type == WADI_SCENE_KIND; ++i) {
            wadi_text_printf(text, "%s{\"required\": [\"%s\"]}", i > 0 ? ", " : "", object->fields[i].key);
        }
        wadi_text_append(text, "]");
    }
    if (rule != NULL) {
        wadi_text_append(text, ",");
        new_line(text, indent);
        wadi_text_append(text, rule);
    }
}

/* The members of a schema object, without the enclosing braces. */
static void object_schema(const WadiSceneObject *object, int indent, WadiText *text)
{
    wadi_text_append(text, "\"type\": \"object\", \"additionalProperties\": false,");
    new_line(text, indent);
    wadi_text_append(text, "\"required\": [");
    required_list(object, 0, text);
    wadi_text_append(text, "],");
    new_line(text, indent);
    wadi_text_append(text, "\"properties\": {");
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        wadi_text_append(text, i > 0 ? "," : "");
        new_line(text, indent + 2);
        wadi_text_append_json(text, field->key);
        wadi_text_append(text, ": {\"description\": ");
        wadi_text_append_json(text, field->doc);
        wadi_text_append(text, ", ");
        type_schema(field, indent + 4, text);
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "}");
    alternative_rules(object, indent, text);
    kind_rules(object, indent, text);
}

void wadi_scene_schema_json(WadiText *text)
{
    int count;
    const WadiSceneObject *const *objects = wadi_scene_objects(&count);
    wadi_text_append(text, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                           "\"title\": \"wadi scene\",\n");
    object_schema(objects[0], 0, text);
    wadi_text_append(text, ",\n\"$defs\": {");
    for (int i = 1; i < count; ++i) {
        wadi_text_append(text, i > 1 ? "," : "");
        new_line(text, 2);
        wadi_text_append_json(text, objects[i]->name);
        wadi_text_append(text, ": {\"description\": ");
        wadi_text_append_json(text, objects[i]->doc);
        wadi_text_append(text, ", ");
        object_schema(objects[i], 4, text);
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "}}\n");
}
