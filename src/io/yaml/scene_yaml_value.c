/* Scalars in the YAML 1.2 core schema, and writing of the tree as text. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/os/os_file.h"
#include "io/yaml/scene_yaml.h"

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(text, ...)                                                                                 \
    is_one_of((text), (const char *const[]){ __VA_ARGS__ },                                                  \
              sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* [-+]? ( . digits | digits ( . digits? )? ) ( [eE] [-+]? digits )? , 0o and 0x, .inf and .nan. */
static bool is_number(const char *s)
{
    if (s[0] == '0' && s[1] == 'o') {
        return s[2] != '\0' && s[2 + strspn(s + 2, "01234567")] == '\0';
    }
    if (s[0] == '0' && s[1] == 'x') {
        return s[2] != '\0' && s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] == '\0';
    }
    s += *s == '-' || *s == '+';
    if (IS_ONE_OF(s, ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN")) {
        return true;
    }
    size_t whole = digits(s);
    s += whole;
    if (*s == '.') {
        size_t fraction = digits(++s);
        s += fraction;
        whole += fraction;
    }
    if (whole == 0) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        ++s;
        s += *s == '-' || *s == '+';
        size_t exponent = digits(s);
        if (exponent == 0) {
            return false;
        }
        s += exponent;
    }
    return *s == '\0';
}

WadiYamlType wadi_yaml_type(const WadiYaml *yaml, int scalar)
{
    const char *text = wadi_yaml_text(yaml, scalar);
    if (!wadi_yaml_node(yaml, scalar)->is_plain) {
        return WADI_YAML_TEXT;
    }
    if (IS_ONE_OF(text, "", "~", "null", "Null", "NULL")) {
        return WADI_YAML_NULL;
    }
    if (IS_ONE_OF(text, "true", "True", "TRUE", "false", "False", "FALSE")) {
        return WADI_YAML_BOOL;
    }
    return is_number(text) ? WADI_YAML_NUMBER : WADI_YAML_TEXT;
}

double wadi_yaml_number(const WadiYaml *yaml, int scalar)
{
    const char *text = wadi_yaml_text(yaml, scalar);
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
        errno = 0;
        unsigned long long value = strtoull(text + 2, NULL, text[1] == 'o' ? 8 : 16);
        return errno == ERANGE ? (double)INFINITY : (double)value;
    }
    const char *s = text + (*text == '-' || *text == '+');
    if (s[0] == '.' && (s[1] == 'n' || s[1] == 'N')) {
        return (double)NAN;
    }
    if (s[0] == '.' && (s[1] == 'i' || s[1] == 'I')) {
        return *text == '-' ? -(double)INFINITY : (double)INFINITY;
    }
    /* The calling program may have set a locale with a decimal comma. */
    return wadi_os_number(text);
}

void wadi_yaml_describe(const WadiYaml *yaml, int index, WadiText *text)
{
    const WadiYamlNode *node = wadi_yaml_node(yaml, index);
    if (node->kind != WADI_YAML_SCALAR) {
        const char *what = node->kind == WADI_YAML_LIST ? "list" : "map";
        if (node->child_count == 0) {
            wadi_text_printf(text, "an empty %s", what);
        } else {
            wadi_text_printf(text, "a %s of %d", what, node->child_count);
        }
        return;
    }
    const char *value = wadi_yaml_text(yaml, index);
    switch (wadi_yaml_type(yaml, index)) {
    case WADI_YAML_NULL: wadi_text_append(text, "nothing"); return;
    case WADI_YAML_BOOL: wadi_text_append(text, value); return;
    case WADI_YAML_NUMBER: wadi_text_append(text, "the number "); break;
    case WADI_YAML_TEXT: wadi_text_append(text, "the text '"); break;
    }
    wadi_text_append_shown(text, value, node->length);
    wadi_text_append(text, wadi_yaml_type(yaml, index) == WADI_YAML_TEXT ? "'" : "");
}

/* Whether the text needs no quotes, also inside [] and {}. */
static bool is_safe_plain(const char *s)
{
    if (!isalnum((unsigned char)s[0]) && !(strchr("+-._/", s[0]) != NULL && isalnum((unsigned char)s[1]))) {
        return false;
    }
    for (; *s != '\0'; ++s) {
        if (!isalnum((unsigned char)*s) && strchr("+-._/%", *s) == NULL) {
            return false;
        }
    }
    return true;
}

static void write_scalar(const WadiYaml *yaml, int node, WadiText *text)
{
    const char *value = wadi_yaml_text(yaml, node);
    if (wadi_yaml_type(yaml, node) == WADI_YAML_NULL) {
        wadi_text_append(text, "null");
    } else if (wadi_yaml_node(yaml, node)->is_plain && is_safe_plain(value)) {
        wadi_text_append(text, value);
    } else {
        wadi_text_append_json(text, value);
    }
}

static void write_flow(const WadiYaml *yaml, int node, WadiText *text)
{
    WadiYamlKind kind = wadi_yaml_node(yaml, node)->kind;
    if (kind == WADI_YAML_SCALAR) {
        write_scalar(yaml, node, text);
        return;
    }
    wadi_text_append(text, kind == WADI_YAML_LIST ? "[" : "{");
    const char *separator = "";
    for (int i = wadi_yaml_node(yaml, node)->first_child; i >= 0; i = wadi_yaml_node(yaml, i)->next) {
        wadi_text_append(text, separator);
        if (kind == WADI_YAML_MAP) {
            write_flow(yaml, wadi_yaml_node(yaml, i)->key, text);
            wadi_text_append(text, ": ");
        }
        write_flow(yaml, i, text);
        separator = ", ";
    }
    wadi_text_append(text, kind == WADI_YAML_LIST ? "]" : "}");
}

/* One key or entry per line on the two outer levels, braces and brackets inside: short, and valid at any
 * depth. */
static void write_block(const WadiYaml *yaml, int node, int depth, WadiText *text)
{
    const WadiYamlNode *n = wadi_yaml_node(yaml, node);
    if (n->kind == WADI_YAML_SCALAR || n->child_count == 0 || depth >= 2) {
        wadi_text_append(text, depth > 0 ? " " : "");
        write_flow(yaml, node, text);
        wadi_text_append(text, "\n");
        return;
    }
    wadi_text_append(text, depth > 0 ? "\n" : "");
    for (int i = n->first_child; i >= 0; i = wadi_yaml_node(yaml, i)->next) {
        wadi_text_printf(text, "%*s", 2 * depth, "");
        if (n->kind == WADI_YAML_LIST) {
            wadi_text_append(text, "-");
        } else {
            write_flow(yaml, wadi_yaml_node(yaml, i)->key, text);
            wadi_text_append(text, ":");
        }
        bool is_numbers =
            wadi_yaml_node(yaml, i)->kind == WADI_YAML_LIST && wadi_yaml_node(yaml, i)->child_count > 0 &&
            wadi_yaml_node(yaml, wadi_yaml_node(yaml, i)->first_child)->kind == WADI_YAML_SCALAR;
        write_block(yaml, i, is_numbers ? 2 : depth + 1, text);
    }
}

void wadi_yaml_write(const WadiYaml *yaml, int root, WadiText *text)
{
    write_block(yaml, root, 0, text);
}
