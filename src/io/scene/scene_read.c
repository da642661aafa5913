/* Walks the table: a map's keys are matched with an object's fields, and each value is stored at its
 * offset. */
#include "io/scene/scene_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "io/scene/scene_hints.h"

enum { MAX_PATH_SHOWN = 240 };

size_t wadi_read_enter(WadiSceneReader *r, const char *key)
{
    size_t mark = r->path.length;
    wadi_text_append(&r->path, mark > 0 ? "." : "");
    wadi_text_append_shown(&r->path, key, strlen(key));
    return mark;
}

size_t wadi_read_enter_index(WadiSceneReader *r, int index)
{
    size_t mark = r->path.length;
    wadi_text_printf(&r->path, "[%d]", index);
    return mark;
}

void wadi_read_leave(WadiSceneReader *r, size_t mark)
{
    if (!r->path.has_failed) {
        r->path.length = mark;
        r->path.data[mark] = '\0';
    }
}

/* Shortens a long path from the front: its end identifies the value. */
static const char *shown_path(const WadiSceneReader *r)
{
    const char *path = wadi_text_cstr(&r->path);
    if (r->path.length <= MAX_PATH_SHOWN) {
        return path;
    }
    path += r->path.length - MAX_PATH_SHOWN;
    return path + strcspn(path, ".[");
}

bool wadi_read_ok(WadiSceneReader *r, WadiStatus status)
{
    if (status != WADI_OK && r->status == WADI_OK) {
        r->status = status;
    }
    return status == WADI_OK;
}

void wadi_read_drop(WadiSceneReader *r, WadiText *text)
{
    wadi_read_ok(r, wadi_text_status(text, r->error));
    wadi_text_free(text);
}

int wadi_read_problem_count(const WadiSceneReader *r)
{
    return (int)r->report.problems.count + r->report.dropped;
}

static void add_problem(WadiSceneReader *r, WadiSourceLocation location, WadiText *text)
{
    if (wadi_read_ok(r, wadi_text_status(text, r->error))) {
        wadi_report_add(&r->report, location, shown_path(r), "%s", wadi_text_cstr(text));
    }
    wadi_text_free(text);
}

void wadi_read_problem(WadiSceneReader *r, int node, const char *format, ...)
{
    WadiText text = { 0 };
    va_list args;
    va_start(args, format);
    wadi_text_vprintf(&text, format, args);
    va_end(args);
    add_problem(r, wadi_yaml_node(&r->yaml, node)->location, &text);
}

/* Explains why text that resembles a number is none. */
static void append_hint(const WadiYaml *yaml, int node, WadiText *text)
{
    const WadiYamlNode *n = wadi_yaml_node(yaml, node);
    if (n->kind != WADI_YAML_SCALAR || wadi_yaml_type(yaml, node) != WADI_YAML_TEXT || n->length == 0) {
        return;
    }
    const char *value = wadi_yaml_text(yaml, node);
    size_t number = strspn(value, "+-0123456789.eE");
    size_t digits = strspn(value, "+-.");
    bool begins = value[digits] >= '0' && value[digits] <= '9';
    if (!n->is_plain && begins && number == n->length) {
        wadi_text_append(text, " (remove the quotes)");
    } else if (begins && value[number] == ',' &&
               strspn(value + number + 1, "0123456789") + number + 1 == n->length) {
        wadi_text_append(text, " (a decimal point is written '.')");
    } else if (begins && number < n->length && n->length - number <= 6) {
        wadi_text_append(text, " (a number without unit or other text behind it)");
    }
}

void wadi_read_wrong_type(WadiSceneReader *r, int node, const char *expected)
{
    WadiText text = { 0 };
    wadi_text_printf(&text, "expected %s, found ", expected);
    wadi_yaml_describe(&r->yaml, node, &text);
    append_hint(&r->yaml, node, &text);
    add_problem(r, wadi_yaml_node(&r->yaml, node)->location, &text);
}

const char *wadi_read_nearest(const char *word, const char *const *names, int count)
{
    enum { LONGEST_TYPO = 40 };
    return strlen(word) <= LONGEST_TYPO ? wadi_text_nearest(word, names, count) : NULL;
}

/* `object`: of a key, for hints at other objects; NULL: the text of `node` is no key. */
static void report_unknown(WadiSceneReader *r, int node, const char *what, const WadiSceneObject *object,
                           const char *const *names, int count, bool does_list)
{
    enum { MOST_LISTED = WADI_SCENE_FIELD_MAX };
    if (wadi_report_is_full(&r->report)) {
        ++r->report.dropped;
        return;
    }
    WadiText text = { 0 };
    wadi_text_append(&text, what);
    const char *word = wadi_yaml_text(&r->yaml, node);
    bool has_hint = object != NULL &&
                    (wadi_scene_advice(object, word, &text) || wadi_scene_hint_below(object, word, &text));
    const char *nearest = has_hint ? NULL : wadi_read_nearest(word, names, count);
    if (nearest != NULL) {
        wadi_text_printf(&text, "; did you mean '%s'?", nearest);
        has_hint = true;
    }
    has_hint = has_hint || (object != NULL && wadi_scene_hint_elsewhere(object, word, &text));
    if (does_list) {
        wadi_text_append(&text, has_hint ? " (known: " : "; known: ");
        for (int i = 0; i < count && i < MOST_LISTED; ++i) {
            wadi_text_printf(&text, "%s%s", i > 0 ? ", " : "", names[i]);
        }
        wadi_text_append(&text, count > MOST_LISTED ? ", …" : "");
        wadi_text_append(&text, count == 0 ? "none" : "");
        wadi_text_append(&text, has_hint ? ")" : "");
    }
    add_problem(r, wadi_yaml_node(&r->yaml, node)->location, &text);
}

void wadi_read_unknown(WadiSceneReader *r, int node, const char *what, const char *const *names, int count)
{
    report_unknown(r, node, what, NULL, names, count, true);
}

/* A sentence of the table as part of another: lower-case first letter, no full stop. */
static void append_phrase(WadiText *text, const char *sentence)
{
    size_t length = strlen(sentence);
    bool is_word = length > 1 && islower((unsigned char)sentence[1]);
    wadi_text_printf(text, "%c", is_word ? tolower((unsigned char)sentence[0]) : sentence[0]);
    wadi_text_append_bytes(text, sentence + 1, sentence[length - 1] == '.' ? length - 2 : length - 1);
}

void wadi_read_missing(WadiSceneReader *r, int node, const WadiSceneField *field)
{
    WadiText text = { 0 };
    wadi_text_printf(&text, "missing key '%s': ", field->key);
    append_phrase(&text, field->doc);
    if (field->choices != NULL) {
        wadi_text_append(&text, " (");
        for (int i = 0; i < field->choices->count; ++i) {
            wadi_text_printf(&text, "%s%s", i > 0 ? ", " : "", field->choices->list[i].name);
        }
        wadi_text_append(&text, ")");
    } else if (field->unit != NULL) {
        wadi_text_printf(&text, " (%s)", field->unit);
    }
    add_problem(r, wadi_yaml_node(&r->yaml, node)->location, &text);
}

/* An object's keys are listed with the first unknown key only. */
static void report_unknown_key(WadiSceneReader *r, int key, const WadiSceneObject *object,
                               WadiSceneGiven *given)
{
    const char *names[WADI_SCENE_FIELD_MAX];
    for (int i = 0; i < object->field_count; ++i) {
        names[i] = object->fields[i].key;
    }
    report_unknown(r, key, "unknown key", object, names, object->field_count, r->listed_object != object);
    r->listed_object = object;
    given->has_unknown = true;
    const char *nearest = wadi_report_is_full(&r->report)
                              ? NULL
                              : wadi_read_nearest(wadi_yaml_text(&r->yaml, key), names, object->field_count);
    if (nearest != NULL) {
        given->is_misspelt[wadi_scene_field(object, nearest) - object->fields] = true;
    }
}

/* The keys of a map must be text. */
static bool check_key(WadiSceneReader *r, int key)
{
    if (wadi_yaml_node(&r->yaml, key)->kind == WADI_YAML_SCALAR &&
        wadi_yaml_type(&r->yaml, key) == WADI_YAML_TEXT) {
        return true;
    }
    wadi_read_wrong_type(r, key, "a text as key");
    return false;
}

bool wadi_read_collect(WadiSceneReader *r, int node, const WadiSceneObject *object, WadiSceneGiven *given)
{
    *given = (WadiSceneGiven){ .has_unknown = false };
    for (int i = 0; i < WADI_SCENE_FIELD_MAX; ++i) {
        given->node[i] = -1;
    }
    if (wadi_yaml_node(&r->yaml, node)->kind != WADI_YAML_MAP) {
        WadiText expected = { 0 };
        wadi_text_append(&expected, "a map with ");
        for (int i = 0; i < object->field_count && i < 4; ++i) {
            wadi_text_printf(&expected, "%s%s", i > 0 ? ", " : "", object->fields[i].key);
        }
        wadi_text_append(&expected, object->field_count > 4 ? ", …" : "");
        wadi_read_wrong_type(r, node, wadi_text_cstr(&expected));
        wadi_read_drop(r, &expected);
        return false;
    }
    for (int i = wadi_yaml_node(&r->yaml, node)->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next) {
        int key = wadi_yaml_node(&r->yaml, i)->key;
        if (!check_key(r, key)) {
            given->has_unknown = true;
            continue;
        }
        const WadiSceneField *field = wadi_scene_field(object, wadi_yaml_text(&r->yaml, key));
        size_t mark = wadi_read_enter(r, wadi_yaml_text(&r->yaml, key));
        if (field == NULL) {
            report_unknown_key(r, key, object, given);
        } else if (given->node[field - object->fields] >= 0) {
            WadiSourceLocation first =
                wadi_yaml_node(&r->yaml, given->node[field - object->fields])->location;
            wadi_read_problem(r, key, "duplicate key; it was given before in line %d", first.line);
        } else {
            given->node[field - object->fields] = i;
        }
        wadi_read_leave(r, mark);
    }
    return true;
}

/* The object's kind decides which keys it has; -1: no kinds, or the kind is missing or wrong. */
static int read_kind(WadiSceneReader *r, const WadiSceneObject *object, void *base,
                     const WadiSceneGiven *given)
{
    const WadiSceneField *field = wadi_scene_field(object, "kind");
    if (field == NULL || given->node[field - object->fields] < 0) {
        return -1;
    }
    int before = wadi_read_problem_count(r);
    wadi_read_field(r, given->node[field - object->fields], field, base);
    return wadi_read_problem_count(r) == before
               ? *(const int *)(const void *)((const char *)base + field->offset)
               : -1;
}

static void report_wrong_kind(WadiSceneReader *r, int node, const WadiSceneObject *object, int field,
                              int kind)
{
    const WadiSceneField *kind_field = wadi_scene_field(object, "kind");
    const char *kind_name = "";
    for (int i = 0; i < kind_field->choices->count; ++i) {
        if (kind_field->choices->list[i].value == kind) {
            kind_name = kind_field->choices->list[i].name;
        }
    }
    WadiText known = { 0 };
    for (int i = 0; i < object->field_count; ++i) {
        if (wadi_scene_field_fits(&object->fields[i], kind)) {
            wadi_text_printf(&known, "%s%s", known.length > 0 ? ", " : "", object->fields[i].key);
        }
    }
    size_t mark = wadi_read_enter(r, object->fields[field].key);
    wadi_read_problem(r, wadi_yaml_node(&r->yaml, node)->key, "not a key of the kind '%s'; known: %s",
                      kind_name, wadi_text_cstr(&known));
    wadi_read_leave(r, mark);
    wadi_read_drop(r, &known);
}

void wadi_read_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base)
{
    WadiSceneGiven given;
    int before = wadi_read_problem_count(r);
    if (!wadi_read_collect(r, node, object, &given)) {
        return;
    }
    int kind = read_kind(r, object, base, &given);
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        bool fits = kind < 0 || wadi_scene_field_fits(field, kind);
        if (given.node[i] < 0) {
            bool is_missing = (field->flags & WADI_SCENE_REQUIRED) != 0 && fits &&
                              (field->kinds == 0 || kind >= 0) && !given.is_misspelt[i];
            if (is_missing) {
                wadi_read_missing(r, node, field);
            }
        } else if (!fits) {
            report_wrong_kind(r, given.node[i], object, i, kind);
        } else if (strcmp(field->key, "kind") != 0) {
            wadi_read_field(r, given.node[i], field, base);
        }
    }
    wadi_finish_object(r, node, object, base, &given, wadi_read_problem_count(r) == before);
}

static void write_where(WadiSceneReader *r, int node, char where[160])
{
    WadiText text = { 0 };
    wadi_report_append_location(&r->report, wadi_yaml_node(&r->yaml, node)->location, &text);
    if (wadi_read_ok(r, wadi_text_status(&text, r->error))) {
        snprintf(where, 160, "%s", wadi_text_cstr(&text));
    }
    wadi_text_free(&text);
}

/* Reads a list or map of structs. */
static void read_entries(WadiSceneReader *r, int node, const WadiSceneField *field, void *base)
{
    bool is_map = field->type == WADI_SCENE_MAP;
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    if (n->kind != (is_map ? WADI_YAML_MAP : WADI_YAML_LIST)) {
        wadi_read_wrong_type(r, node, is_map ? "a map of names" : "a list");
        return;
    }
    if (n->child_count > (int)field->maximum) {
        wadi_read_problem(r, node, "%d entries; at most %d are allowed", n->child_count, (int)field->maximum);
        return;
    }
    const WadiSceneObject *object = field->object;
    void **entries = (void **)(void *)((char *)base + field->offset);
    int *count = (int *)(void *)((char *)base + field->count_offset);
    if (!wadi_read_ok(r, wadi_alloc(entries, (size_t)n->child_count, object->size, field->key, r->error))) {
        return;
    }
    *count = n->child_count;
    int index = 0;
    for (int i = n->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next, ++index) {
        char *entry = (char *)*entries + (size_t)index * object->size;
        wadi_scene_set_defaults(object, entry);
        write_where(r, i, entry + object->where);
        int key = wadi_yaml_node(&r->yaml, i)->key;
        if (is_map && !check_key(r, key)) {
            continue;
        }
        size_t mark =
            is_map ? wadi_read_enter(r, wadi_yaml_text(&r->yaml, key)) : wadi_read_enter_index(r, index);
        if (is_map) {
            const WadiSceneField name = { .key = "name", .type = WADI_SCENE_NAME };
            wadi_read_value(r, key, &name, entry + object->name_offset);
            if (wadi_yaml_find(&r->yaml, node, wadi_yaml_text(&r->yaml, key)) != i) {
                wadi_read_problem(r, key, "duplicate key");
            }
        }
        wadi_read_object(r, i, object, entry);
        wadi_read_leave(r, mark);
    }
}

void wadi_read_field(WadiSceneReader *r, int node, const WadiSceneField *field, void *base)
{
    if (r->status != WADI_OK) {
        return;
    }
    size_t mark = wadi_read_enter(r, field->key);
    void *at = (char *)base + field->offset;
    if (field->presence != 0) {
        *(bool *)((char *)base + field->presence) = true;
    }
    if (field->where != 0) {
        write_where(r, node, (char *)base + field->where);
    }
    switch (field->type) {
    case WADI_SCENE_OBJECT: wadi_read_object(r, node, field->object, at); break;
    case WADI_SCENE_SETTINGS: wadi_read_object(r, node, field->object, *(void **)at); break;
    case WADI_SCENE_LIST:
    case WADI_SCENE_MAP: read_entries(r, node, field, base); break;
    case WADI_SCENE_SHAPE: wadi_read_shape(r, node, at); break;
    case WADI_SCENE_SHAPE_NEW: {
        WadiShapeDef **shape = at;
        if (wadi_read_ok(r, WADI_NEW(shape, 1, field->key, r->error))) {
            wadi_read_shape(r, node, *shape);
        }
        break;
    }
    case WADI_SCENE_SHAPES: wadi_read_shapes(r, node, base, 1); break;
    case WADI_SCENE_KIND:
        WADI_ASSERT(field->object != NULL);
        wadi_read_object(r, node, field->object, base);
        break;
    case WADI_SCENE_CURVE1:
    case WADI_SCENE_CURVE3: wadi_read_curve(r, node, field, at); break;
    case WADI_SCENE_KEYS: wadi_read_keys(r, node, base); break;
    default: wadi_read_value(r, node, field, at); break;
    }
    wadi_read_leave(r, mark);
}
