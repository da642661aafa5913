/* A YAML document as a plain tree with locations, read with libfyaml's event parser. Aliases and merge keys
 * are expanded, so that later code sees maps, lists and scalars only and an override changes one value
 * only. */
#ifndef WADI_IO_SCENE_YAML_H
#define WADI_IO_SCENE_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "core/array.h"
#include "core/text.h"
#include "io/yaml/scene_report.h"

enum {
    WADI_YAML_MAX_BYTES = 16 << 20,
    WADI_YAML_MAX_NODES = 1000000, /* after expansion of aliases */
    WADI_YAML_MAX_DEPTH = 64,
    WADI_YAML_MAX_MERGED = 256, /* keys of a map that merges another */
};

typedef enum WadiYamlKind {
    WADI_YAML_SCALAR,
    WADI_YAML_LIST,
    WADI_YAML_MAP,
} WadiYamlKind;

/* Indices into WadiYaml.nodes, -1 for none. Entries of a list or map are chained from first_child through
 * next. An entry of a map is its value node, which has the index of its key node. */
typedef struct WadiYamlNode {
    WadiYamlKind kind;
    bool is_plain;   /* a scalar without quotes: may be a number, true, null, … */
    uint32_t text;   /* scalar: offset into WadiYaml.text of a terminated string */
    uint32_t length; /* of that string */
    int first_child, last_child;
    int child_count;
    int next;
    int key;
    WadiSourceLocation location;
} WadiYamlNode;

typedef struct WadiYaml {
    WADI_ARRAY(WadiYamlNode) nodes;
    WADI_ARRAY(char) text;
    int root; /* -1: no document */
} WadiYaml;

/* Type of a scalar in the YAML 1.2 core schema. */
typedef enum WadiYamlType {
    WADI_YAML_NULL,
    WADI_YAML_BOOL,
    WADI_YAML_NUMBER, /* finite or not */
    WADI_YAML_TEXT,
} WadiYamlType;

void wadi_yaml_free(WadiYaml *yaml);

/* Reads one document of `size` bytes into a tree whose locations have this `set` (-1: the scene file); *root
 * is its index. Nodes are added to existing ones. Problems of the text are reported, and *root is then -1. */
WadiStatus wadi_yaml_read(WadiYaml *yaml, const char *bytes, size_t size, int set, WadiReport *report,
                          int *root, WadiError *error);

/* Whether libfyaml may be given this text; reports why not. */
bool wadi_yaml_check(const char *bytes, size_t size, int set, WadiReport *report);
/* UTF-8 without control characters. */
bool wadi_yaml_is_printable(const char *text, size_t length);

static inline const WadiYamlNode *wadi_yaml_node(const WadiYaml *yaml, int index)
{
    return &yaml->nodes.data[index];
}

static inline const char *wadi_yaml_text(const WadiYaml *yaml, int index)
{
    return yaml->text.data + yaml->nodes.data[index].text;
}

WadiYamlType wadi_yaml_type(const WadiYaml *yaml, int scalar);
/* The value of a WADI_YAML_NUMBER; INFINITY or NAN for .inf, .nan and what overflows. */
double wadi_yaml_number(const WadiYaml *yaml, int scalar);
/* The value of `key` in a map (the first, if repeated), or -1. */
int wadi_yaml_find(const WadiYaml *yaml, int map, const char *key);

/* Used by overrides. */
WadiStatus wadi_yaml_new(WadiYaml *yaml, WadiYamlKind kind, WadiSourceLocation location, int *index,
                         WadiError *error);
WadiStatus wadi_yaml_new_text(WadiYaml *yaml, const char *text, size_t length, bool is_plain,
                              WadiSourceLocation location, int *index, WadiError *error);
void wadi_yaml_append(WadiYaml *yaml, int parent, int key, int child);
void wadi_yaml_remove(WadiYaml *yaml, int parent, int child);
/* Replaces `old` by `child`, under the same key. */
void wadi_yaml_replace(WadiYaml *yaml, int parent, int old, int child);

/* Writes the tree as YAML text that parses to the same values. */
void wadi_yaml_write(const WadiYaml *yaml, int root, WadiText *text);

/* Describes a node for a message: "the text 'abc'", "a list of 2". */
void wadi_yaml_describe(const WadiYaml *yaml, int index, WadiText *text);

#endif
