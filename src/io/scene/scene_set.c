/* Overrides "a.b=c", "bodies[0].velocity=[0, 0, 1]": each inserts a small YAML document into the tree. */
#include <stdlib.h>
#include <string.h>

#include "io/scene/scene_read.h"

enum { MAX_SEGMENTS = 32, MAX_SEGMENT_LENGTH = 200 };

typedef struct SetPath {
    char segment[MAX_SEGMENTS][MAX_SEGMENT_LENGTH + 1];
    int count;
} SetPath;

/* Splits "bodies[0].velocity" and "bodies.0.velocity" into bodies, 0, velocity. */
static bool split_path(const char *text, size_t length, SetPath *path)
{
    path->count = 0;
    size_t i = 0;
    while (i < length) {
        bool is_index = text[i] == '[';
        i += is_index;
        size_t n = 0;
        while (i + n < length && (is_index ? text[i + n] != ']' : text[i + n] != '.' && text[i + n] != '[')) {
            ++n;
        }
        if (n == 0 || n > MAX_SEGMENT_LENGTH || path->count == MAX_SEGMENTS ||
            (is_index && i + n == length)) {
            return false;
        }
        memcpy(path->segment[path->count], text + i, n);
        path->segment[path->count++][n] = '\0';
        i += n + is_index;
        if (i < length && text[i] == '.') {
            if (++i == length) {
                return false;
            }
        } else if (i < length && text[i] != '[') {
            return false;
        }
    }
    return path->count > 0;
}

/* The entry of a list; -1 after reporting a problem. */
static int find_index(WadiSceneReader *r, WadiSourceLocation location, int list, const char *segment,
                      const char *shown)
{
    char *end;
    long index = strtol(segment, &end, 10);
    int count = wadi_yaml_node(&r->yaml, list)->child_count;
    if (*end != '\0' || end == segment || index < 0) {
        wadi_report_add(&r->report, location, shown, "is a list; give an index, as in %s[0]", shown);
        return -1;
    }
    if (index >= count) {
        wadi_report_add(&r->report, location, shown, "has %d %s, counted from 0; there is no [%ld]", count,
                        count == 1 ? "entry" : "entries", index);
        return -1;
    }
    int node = wadi_yaml_node(&r->yaml, list)->first_child;
    while (index-- > 0) {
        node = wadi_yaml_node(&r->yaml, node)->next;
    }
    return node;
}

/* Appends under `key` of the map `parent` an empty map or, at the end of the path, the value. */
static int append_entry(WadiSceneReader *r, WadiSourceLocation location, int parent, const char *key,
                        int value)
{
    int key_node, node = value;
    if (!wadi_read_ok(r,
                      wadi_yaml_new_text(&r->yaml, key, strlen(key), true, location, &key_node, r->error)) ||
        (value < 0 && !wadi_read_ok(r, wadi_yaml_new(&r->yaml, WADI_YAML_MAP, location, &node, r->error)))) {
        return -1;
    }
    wadi_yaml_append(&r->yaml, parent, key_node, node);
    return node;
}

static void put(WadiSceneReader *r, WadiSourceLocation location, const SetPath *path, int value)
{
    int current = r->yaml.root;
    WadiText shown = { 0 };
    for (int i = 0; i < path->count && current >= 0; ++i) {
        bool is_last = i == path->count - 1;
        const WadiYamlNode *node = wadi_yaml_node(&r->yaml, current);
        int child = -1;
        if (node->kind == WADI_YAML_LIST) {
            child = find_index(r, location, current, path->segment[i], wadi_text_cstr(&shown));
            wadi_text_printf(&shown, "[%s]", path->segment[i]);
            if (child < 0) {
                break;
            }
        } else if (node->kind == WADI_YAML_MAP) {
            child = wadi_yaml_find(&r->yaml, current, path->segment[i]);
            wadi_text_printf(&shown, "%s%s", i > 0 ? "." : "", path->segment[i]);
            if (child < 0) {
                current = append_entry(r, location, current, path->segment[i], is_last ? value : -1);
                continue;
            }
        } else {
            WadiText found = { 0 };
            wadi_yaml_describe(&r->yaml, current, &found);
            wadi_report_add(&r->report, location, wadi_text_cstr(&shown), "is %s; it has no '%s'",
                            wadi_text_cstr(&found), path->segment[i]);
            wadi_read_drop(r, &found);
            break;
        }
        if (is_last) {
            wadi_yaml_replace(&r->yaml, current, child, value);
        } else if (wadi_yaml_node(&r->yaml, child)->kind == WADI_YAML_SCALAR &&
                   wadi_yaml_type(&r->yaml, child) == WADI_YAML_NULL) {
            int map;
            if (wadi_read_ok(r, wadi_yaml_new(&r->yaml, WADI_YAML_MAP, location, &map, r->error))) {
                wadi_yaml_replace(&r->yaml, current, child, map);
                child = map;
            }
        }
        current = child;
    }
    wadi_read_drop(r, &shown);
}

/* Of two alternative keys, the one in the override replaces the one in the file. */
static void remove_alternative(WadiSceneReader *r, const SetPath *path)
{
    static const char *const rivals[2] = { "resolution", "cell_size" };
    for (int i = 0; i < 2 && path->count == 1; ++i) {
        int rival = wadi_yaml_find(&r->yaml, r->yaml.root, rivals[1 - i]);
        if (strcmp(path->segment[0], rivals[i]) == 0 && rival >= 0) {
            wadi_yaml_remove(&r->yaml, r->yaml.root, rival);
        }
    }
}

void wadi_scene_apply_sets(WadiSceneReader *r, const char *const *sets, int set_count)
{
    for (int i = 0; i < set_count && r->status == WADI_OK; ++i) {
        WadiSourceLocation location = { i, 0, 0 };
        const char *equals = strchr(sets[i], '=');
        SetPath path;
        if (equals == NULL || !split_path(sets[i], (size_t)(equals - sets[i]), &path)) {
            wadi_report_add(&r->report, location, "",
                            "expected a path, '=' and a value: bodies[0].velocity=[0, 0, 1]");
            continue;
        }
        int value;
        if (wadi_read_ok(r, wadi_yaml_read(&r->yaml, equals + 1, strlen(equals + 1), i, &r->report, &value,
                                           r->error)) &&
            value >= 0) {
            remove_alternative(r, &path);
            put(r, location, &path, value);
        }
    }
}
