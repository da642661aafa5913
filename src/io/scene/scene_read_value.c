/* Reads numbers, vectors, names, choices and keyframes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "io/scene/scene_read.h"

static bool is_keyframes(const WadiSceneReader *r, int node)
{
    return wadi_yaml_node(&r->yaml, node)->kind == WADI_YAML_MAP &&
           wadi_yaml_find(&r->yaml, node, "keys") >= 0;
}

/* Reports keyframes where one value for the whole run is expected. */
static bool refuse_keyframes(WadiSceneReader *r, int node)
{
    if (is_keyframes(r, node)) {
        wadi_read_problem(r, node, "cannot be keyframed; give one value");
        return true;
    }
    return false;
}

static bool is_number(const WadiSceneReader *r, int node)
{
    return wadi_yaml_node(&r->yaml, node)->kind == WADI_YAML_SCALAR &&
           wadi_yaml_type(&r->yaml, node) == WADI_YAML_NUMBER;
}

/* Products of two such numbers are finite doubles, and each is a finite float. */
static const double smallest = 1e-30;

static bool check_range(WadiSceneReader *r, int node, const WadiSceneField *field, double value)
{
    bool is_low =
        (field->flags & WADI_SCENE_ABOVE_MIN) != 0 ? value <= field->minimum : value < field->minimum;
    bool is_high =
        (field->flags & WADI_SCENE_BELOW_MAX) != 0 ? value >= field->maximum : value > field->maximum;
    if (isfinite(value) && !is_low && !is_high && (value == 0.0 || fabs(value) >= smallest)) {
        return true;
    }
    if (isfinite(value) && !is_low && !is_high) {
        wadi_read_problem(r, node, "%g is too close to 0 to be reckoned with; write 0, or at least %g", value,
                          smallest);
        return false;
    }
    WadiText range = { 0 }, shown = { 0 };
    wadi_scene_field_range(field, &range);
    wadi_text_append_shown(&shown, wadi_yaml_text(&r->yaml, node), wadi_yaml_node(&r->yaml, node)->length);
    wadi_read_problem(r, node, "%s is %s; expected %s", wadi_text_cstr(&shown),
                      isnan(value)   ? "not a number"
                      : isinf(value) ? "not finite"
                                     : "out of range",
                      wadi_text_cstr(&range));
    wadi_read_drop(r, &shown);
    wadi_read_drop(r, &range);
    return false;
}

bool wadi_read_number(WadiSceneReader *r, int node, const WadiSceneField *field, double *value)
{
    bool is_whole = field->type == WADI_SCENE_INT || field->type == WADI_SCENE_WHOLE;
    if (!is_number(r, node)) {
        if (!refuse_keyframes(r, node)) {
            wadi_read_wrong_type(r, node, is_whole ? "a whole number" : "a number");
        }
        return false;
    }
    *value = wadi_yaml_number(&r->yaml, node);
    if (is_whole && isfinite(*value) && *value != floor(*value)) {
        wadi_read_wrong_type(r, node, "a whole number");
        return false;
    }
    return check_range(r, node, field, *value);
}

static bool is_colour(const WadiSceneField *field)
{
    return field->unit != NULL && strcmp(field->unit, "sRGB") == 0;
}

static bool read_vector(WadiSceneReader *r, int node, const WadiSceneField *field, double value[3])
{
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    bool one_for_all = (field->flags & WADI_SCENE_ONE_FOR_ALL) != 0;
    value[0] = value[1] = value[2] = 0.0;
    if (one_for_all && n->kind == WADI_YAML_SCALAR && is_number(r, node)) {
        bool is_good = wadi_read_number(r, node, field, &value[0]);
        value[1] = value[2] = value[0];
        return is_good;
    }
    if (n->kind != WADI_YAML_LIST || n->child_count != 3) {
        if (!refuse_keyframes(r, node)) {
            wadi_read_wrong_type(r, node,
                                 one_for_all ? "a number or a list of three numbers"
                                 : is_colour(field)
                                     ? "a list of three numbers from 0 to 1, [red, green, blue]"
                                     : "a list of three numbers, [x, y, z]");
        }
        return false;
    }
    bool is_good = true;
    int component = 0;
    for (int i = n->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next, ++component) {
        size_t mark = wadi_read_enter_index(r, component);
        is_good = wadi_read_number(r, i, field, &value[component]) && is_good;
        wadi_read_leave(r, mark);
    }
    if (is_good && (field->flags & WADI_SCENE_NOT_ZERO) != 0 &&
        !(hypot(hypot(value[0], value[1]), value[2]) > 1e-12)) {
        wadi_read_problem(r, node, "a direction cannot be [0, 0, 0]");
        return false;
    }
    return is_good;
}

static bool is_text(const WadiSceneReader *r, int node)
{
    return wadi_yaml_node(&r->yaml, node)->kind == WADI_YAML_SCALAR &&
           wadi_yaml_type(&r->yaml, node) == WADI_YAML_TEXT;
}

static const WadiSceneChoice *read_choice(WadiSceneReader *r, int node, const WadiSceneChoices *choices)
{
    const char *names[WADI_SCENE_CHOICE_MAX];
    bool is_scalar = wadi_yaml_node(&r->yaml, node)->kind == WADI_YAML_SCALAR;
    for (int i = 0; i < choices->count; ++i) {
        names[i] = choices->list[i].name;
        if (!is_scalar) {
            continue;
        }
        bool is_right_type = choices->is_numbers ? is_number(r, node) : is_text(r, node);
        if (is_right_type && strcmp(wadi_yaml_text(&r->yaml, node), names[i]) == 0) {
            return &choices->list[i];
        }
    }
    if (choices->is_numbers || !is_text(r, node)) {
        if (refuse_keyframes(r, node)) {
            return NULL;
        }
        WadiText expected = { 0 };
        wadi_text_append(&expected, "one of ");
        for (int i = 0; i < choices->count; ++i) {
            wadi_text_printf(&expected, "%s%s", i > 0 ? ", " : "", names[i]);
        }
        wadi_read_wrong_type(r, node, wadi_text_cstr(&expected));
        wadi_read_drop(r, &expected);
        return NULL;
    }
    for (int i = 0; i < choices->withdrawn_count; ++i) {
        if (strcmp(wadi_yaml_text(&r->yaml, node), choices->withdrawn[i].name) == 0) {
            wadi_read_problem(r, node, "'%s' was withdrawn; %s", choices->withdrawn[i].name,
                              choices->withdrawn[i].doc);
            return NULL;
        }
    }
    for (int i = 0; i < choices->hint_count; ++i) {
        if (strcmp(wadi_yaml_text(&r->yaml, node), choices->hints[i].name) == 0) {
            wadi_read_problem(r, node, "there is no '%s'; %s", choices->hints[i].name, choices->hints[i].doc);
            return NULL;
        }
    }
    WadiText what = { 0 };
    wadi_text_append(&what, "unknown name '");
    wadi_text_append_shown(&what, wadi_yaml_text(&r->yaml, node), wadi_yaml_node(&r->yaml, node)->length);
    wadi_text_append(&what, "'");
    wadi_read_unknown(r, node, wadi_text_cstr(&what), names, choices->count);
    wadi_read_drop(r, &what);
    return NULL;
}

static void read_text(WadiSceneReader *r, int node, const WadiSceneField *field, char **text)
{
    if (field->choices != NULL) {
        if (read_choice(r, node, field->choices) == NULL) {
            return;
        }
    } else if (!is_text(r, node)) {
        bool is_number_text = is_number(r, node);
        wadi_read_wrong_type(r, node, is_number_text ? "a text (put it in quotes)" : "a text");
        return;
    }
    wadi_read_ok(r, wadi_string_copy(text, wadi_yaml_text(&r->yaml, node),
                                     wadi_yaml_node(&r->yaml, node)->length, r->error));
}

static void read_name(WadiSceneReader *r, int node, char **text)
{
    static const WadiSceneField plain = { .key = "name", .type = WADI_SCENE_TEXT };
    enum { LONGEST = 100 };
    if (is_text(r, node)) {
        const char *name = wadi_yaml_text(&r->yaml, node);
        size_t length = wadi_yaml_node(&r->yaml, node)->length;
        size_t good = strspn(name, WADI_NAME_CHARACTERS);
        if (length == 0 || length > LONGEST) {
            wadi_read_problem(r, node,
                              length == 0 ? "a name cannot be empty" : "a name has at most 100 characters");
            return;
        }
        if (good < length || name[0] == '.' || name[0] == '-') {
            WadiText shown = { 0 };
            wadi_text_append_shown(&shown, name, length);
            wadi_read_problem(r, node, "the name '%s' %s", wadi_text_cstr(&shown),
                              good < length ? "may hold letters, digits, '.', '_' and '-' only"
                                            : "may not begin with '.' or '-'");
            wadi_read_drop(r, &shown);
            return;
        }
    }
    read_text(r, node, &plain, text);
}

static void read_bits_off(WadiSceneReader *r, int node, const WadiSceneField *field, int *bits)
{
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    if (n->kind != WADI_YAML_LIST) {
        wadi_read_wrong_type(r, node, "a list of names such as [z_max]");
        return;
    }
    int index = 0;
    for (int i = n->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next, ++index) {
        size_t mark = wadi_read_enter_index(r, index);
        const WadiSceneChoice *choice = read_choice(r, i, field->choices);
        *bits &= choice != NULL ? ~choice->value : ~0;
        wadi_read_leave(r, mark);
    }
}

static void read_bool(WadiSceneReader *r, int node, bool *value)
{
    if (wadi_yaml_node(&r->yaml, node)->kind != WADI_YAML_SCALAR ||
        wadi_yaml_type(&r->yaml, node) != WADI_YAML_BOOL) {
        wadi_read_wrong_type(r, node, "true or false");
        return;
    }
    char first = wadi_yaml_text(&r->yaml, node)[0];
    *value = first == 't' || first == 'T';
}

void wadi_read_value(WadiSceneReader *r, int node, const WadiSceneField *field, void *at)
{
    double value[3] = { 0, 0, 0 };
    switch (field->type) {
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_WHOLE:
        if (wadi_read_number(r, node, field, value)) {
            *(double *)at = value[0];
        }
        break;
    case WADI_SCENE_INT:
        if (wadi_read_number(r, node, field, value)) {
            *(int *)at = (int)value[0];
        }
        break;
    case WADI_SCENE_VEC3:
        if (read_vector(r, node, field, value)) {
            *(WadiVec3 *)at = wadi_vec3(value[0], value[1], value[2]);
        }
        break;
    case WADI_SCENE_ENUM: {
        const WadiSceneChoice *choice = read_choice(r, node, field->choices);
        *(int *)at = choice != NULL ? choice->value : *(int *)at;
        break;
    }
    case WADI_SCENE_BITS_OFF: read_bits_off(r, node, field, at); break;
    case WADI_SCENE_BOOL: read_bool(r, node, at); break;
    case WADI_SCENE_TEXT: read_text(r, node, field, at); break;
    case WADI_SCENE_NAME: read_name(r, node, at); break;
    case WADI_SCENE_FILE: wadi_read_file(r, node, at); break;
    case WADI_SCENE_FILES: wadi_read_file_pattern(r, node, at); break;
    case WADI_SCENE_KEY_VALUE: {
        double *out = at;
        bool is_vector = r->keyframed->type == WADI_SCENE_CURVE3;
        if (is_vector ? read_vector(r, node, r->keyframed, value)
                      : wadi_read_number(r, node, r->keyframed, value)) {
            memcpy(out, value, sizeof(double) * (is_vector ? 3 : 1));
        }
        break;
    }
    default: WADI_ASSERT(!"a type that wadi_read_field reads");
    }
}

/* A map with `keys`, or with a likely typo of one of a keyframe's keys. */
static bool looks_like_keyframes(const WadiSceneReader *r, int node)
{
    const char *names[WADI_SCENE_FIELD_MAX];
    for (int i = 0; i < wadi_scene_curve_object.field_count; ++i) {
        names[i] = wadi_scene_curve_object.fields[i].key;
    }
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    for (int i = n->first_child, tries = 0; i >= 0 && tries < 10;
         i = wadi_yaml_node(&r->yaml, i)->next, ++tries) {
        int key = wadi_yaml_node(&r->yaml, i)->key;
        if (is_text(r, key) && wadi_read_nearest(wadi_yaml_text(&r->yaml, key), names,
                                                 wadi_scene_curve_object.field_count) != NULL) {
            return true;
        }
    }
    return false;
}

void wadi_read_curve(WadiSceneReader *r, int node, const WadiSceneField *field, WadiCurve *curve)
{
    bool is_vector = field->type == WADI_SCENE_CURVE3;
    bool is_map = wadi_yaml_node(&r->yaml, node)->kind == WADI_YAML_MAP;
    if (is_map && (field->flags & WADI_SCENE_KEYFRAMES) != 0) {
        if (!looks_like_keyframes(r, node)) {
            wadi_read_wrong_type(r, node,
                                 is_vector
                                     ? "a list of three numbers or keyframes {keys: [[time, [x, y, z]], …]}"
                                     : "a number or keyframes {keys: [[time, value], …]}");
            return;
        }
        const WadiSceneField *outer = r->keyframed;
        r->keyframed = field;
        WadiCurve read = { .components = is_vector ? 3 : 1 };
        wadi_read_object(r, node, &wadi_scene_curve_object, &read);
        r->keyframed = outer;
        *curve = read;
        return;
    }
    double value[3] = { 0, 0, 0 };
    if (is_vector ? read_vector(r, node, field, value) : wadi_read_number(r, node, field, value)) {
        *curve =
            is_vector ? wadi_curve_constant3(value[0], value[1], value[2]) : wadi_curve_constant(value[0]);
    }
}

/* [time, value] for {time: …, value: …}. */
static void read_short_key(WadiSceneReader *r, int node, WadiKey *key)
{
    int index = 0;
    for (int i = wadi_yaml_node(&r->yaml, node)->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next) {
        const WadiSceneField *field = &wadi_scene_key_object.fields[index];
        size_t mark = wadi_read_enter_index(r, index++);
        wadi_read_value(r, i, field, (char *)key + field->offset);
        wadi_read_leave(r, mark);
    }
}

void wadi_read_keys(WadiSceneReader *r, int node, WadiCurve *curve)
{
    WADI_ASSERT(wadi_scene_key_object.field_count == 2);
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    if (n->kind != WADI_YAML_LIST || n->child_count == 0) {
        wadi_read_wrong_type(r, node, "a list of keyframes, [[time, value], …]");
        return;
    }
    WadiKey *keys = NULL;
    size_t count = (size_t)n->child_count;
    if (!wadi_read_ok(r, WADI_NEW(&keys, count, "keyframes", r->error))) {
        return;
    }
    int before = wadi_read_problem_count(r), index = 0;
    for (int i = n->first_child; i >= 0; i = wadi_yaml_node(&r->yaml, i)->next, ++index) {
        const WadiYamlNode *key = wadi_yaml_node(&r->yaml, i);
        int here = wadi_read_problem_count(r);
        size_t mark = wadi_read_enter_index(r, index);
        if (key->kind == WADI_YAML_LIST && key->child_count == 2) {
            read_short_key(r, i, &keys[index]);
        } else if (key->kind == WADI_YAML_MAP) {
            wadi_read_object(r, i, &wadi_scene_key_object, &keys[index]);
        } else {
            wadi_read_wrong_type(r, i, "{time: …, value: …} or [time, value]");
        }
        bool is_sound = wadi_read_problem_count(r) == here;
        if (is_sound && index > 0 && wadi_read_problem_count(r) == before &&
            keys[index].time <= keys[index - 1].time) {
            wadi_read_problem(r, i, "times must rise: %g s comes after %g s", keys[index].time,
                              keys[index - 1].time);
        }
        wadi_read_leave(r, mark);
    }
    if (wadi_read_problem_count(r) == before && r->status == WADI_OK) {
        wadi_read_ok(r, wadi_curve_create(curve, keys, (int)count, curve->components,
                                          WADI_INTERPOLATION_LINEAR, false, r->error));
    }
    WADI_DELETE(keys, count);
}
