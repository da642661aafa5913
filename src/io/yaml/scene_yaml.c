#include "io/yaml/scene_yaml.h"

#include <libfyaml.h>
#include <string.h>

#include "core/check.h"

enum { MAX_ANCHORS = 200, MAX_ANCHOR_NAME = 200 };

typedef struct Anchor {
    int name; /* scalar node */
    int node;
    bool is_open; /* its node is incomplete: an alias to it would contain itself */
} Anchor;

typedef struct Builder {
    WadiYaml *yaml;
    WadiReport *report;
    int set;
    int open[WADI_YAML_MAX_DEPTH];     /* nodes that have begun and not ended */
    int key[WADI_YAML_MAX_DEPTH];      /* of each open map: the key without a value yet, or -1 */
    bool is_flow[WADI_YAML_MAX_DEPTH]; /* it began with a bracket */
    int anchor[WADI_YAML_MAX_DEPTH];   /* of each open node, or -1 */
    int depth;
    int root;
    int document_count;
    WADI_ARRAY(Anchor) anchors;
    WadiSourceLocation last; /* of the last token: used for events without one */
    bool has_stopped;
} Builder;

void wadi_yaml_free(WadiYaml *yaml)
{
    WADI_ARRAY_FREE(&yaml->nodes);
    WADI_ARRAY_FREE(&yaml->text);
    yaml->root = -1;
}

static void stop(Builder *b, WadiSourceLocation location, const char *message)
{
    if (!b->has_stopped) {
        wadi_report_add(b->report, location, "", "%s", message);
    }
    b->has_stopped = true;
}

WadiStatus wadi_yaml_new(WadiYaml *yaml, WadiYamlKind kind, WadiSourceLocation location, int *index,
                         WadiError *error)
{
    WadiYamlNode node = {
        .kind = kind, .first_child = -1, .last_child = -1, .next = -1, .key = -1, .location = location
    };
    *index = -1;
    WADI_TRY(WADI_ARRAY_PUSH(&yaml->nodes, node, "the scene's text", error));
    *index = (int)yaml->nodes.count - 1;
    return WADI_OK;
}

WadiStatus wadi_yaml_new_text(WadiYaml *yaml, const char *text, size_t length, bool is_plain,
                              WadiSourceLocation location, int *index, WadiError *error)
{
    size_t offset = yaml->text.count;
    WADI_TRY(WADI_ARRAY_RESERVE(&yaml->text, offset + length + 1, "the scene's text", error));
    WADI_TRY(wadi_yaml_new(yaml, WADI_YAML_SCALAR, location, index, error));
    if (length > 0) {
        memcpy(yaml->text.data + offset, text, length);
    }
    yaml->text.data[offset + length] = '\0';
    yaml->text.count = offset + length + 1;
    WadiYamlNode *node = &yaml->nodes.data[*index];
    node->text = (uint32_t)offset;
    node->length = (uint32_t)length;
    node->is_plain = is_plain;
    return WADI_OK;
}

void wadi_yaml_append(WadiYaml *yaml, int parent, int key, int child)
{
    WadiYamlNode *nodes = yaml->nodes.data;
    nodes[child].key = key;
    nodes[child].next = -1;
    if (nodes[parent].last_child >= 0) {
        nodes[nodes[parent].last_child].next = child;
    } else {
        nodes[parent].first_child = child;
    }
    nodes[parent].last_child = child;
    ++nodes[parent].child_count;
}

void wadi_yaml_remove(WadiYaml *yaml, int parent, int child)
{
    WadiYamlNode *nodes = yaml->nodes.data;
    int before = -1;
    for (int i = nodes[parent].first_child; i != child; i = nodes[i].next) {
        WADI_ASSERT_ELSE(i >= 0, return;);
        before = i;
    }
    *(before >= 0 ? &nodes[before].next : &nodes[parent].first_child) = nodes[child].next;
    if (nodes[parent].last_child == child) {
        nodes[parent].last_child = before;
    }
    nodes[child].next = -1;
    --nodes[parent].child_count;
}

void wadi_yaml_replace(WadiYaml *yaml, int parent, int old, int child)
{
    WadiYamlNode *nodes = yaml->nodes.data;
    nodes[child].key = nodes[old].key;
    nodes[child].next = nodes[old].next;
    int *link = &nodes[parent].first_child;
    while (*link != old) {
        WADI_ASSERT_ELSE(*link >= 0, return;);
        link = &nodes[*link].next;
    }
    *link = child;
    if (nodes[parent].last_child == old) {
        nodes[parent].last_child = child;
    }
}

int wadi_yaml_find(const WadiYaml *yaml, int map, const char *key)
{
    const WadiYamlNode *nodes = yaml->nodes.data;
    for (int i = nodes[map].first_child; i >= 0; i = nodes[i].next) {
        if (nodes[nodes[i].key].kind == WADI_YAML_SCALAR &&
            strcmp(wadi_yaml_text(yaml, nodes[i].key), key) == 0) {
            return i;
        }
    }
    return -1;
}

/* Appends a complete or just begun node to its parent. */
static void attach(Builder *b, int node)
{
    if (b->depth == 0) {
        b->root = node;
        return;
    }
    int parent = b->open[b->depth - 1];
    int *key = &b->key[b->depth - 1];
    if (b->yaml->nodes.data[parent].kind == WADI_YAML_LIST) {
        wadi_yaml_append(b->yaml, parent, -1, node);
    } else if (*key < 0) {
        *key = node;
    } else {
        wadi_yaml_append(b->yaml, parent, *key, node);
        *key = -1;
    }
}

static bool is_within_limit(Builder *b, WadiSourceLocation location)
{
    if (b->yaml->nodes.count >= WADI_YAML_MAX_NODES) {
        stop(b, location, "the scene expands to more than 1000000 values; do aliases hold aliases?");
    }
    return !b->has_stopped;
}

static WadiStatus copy_tree(Builder *b, int from, WadiSourceLocation location, int depth, int *copy,
                            WadiError *error)
{
    *copy = -1;
    if (!is_within_limit(b, location)) {
        return WADI_OK;
    }
    if (depth >= WADI_YAML_MAX_DEPTH) {
        stop(b, location, "values nest deeper than 64 levels");
        return WADI_OK;
    }
    WadiYamlNode node = b->yaml->nodes.data[from];
    WADI_TRY(wadi_yaml_new(b->yaml, node.kind, node.location, copy, error));
    WadiYamlNode *made = &b->yaml->nodes.data[*copy];
    made->text = node.text;
    made->length = node.length;
    made->is_plain = node.is_plain;
    for (int i = node.first_child; i >= 0 && !b->has_stopped; i = b->yaml->nodes.data[i].next) {
        int child;
        WADI_TRY(copy_tree(b, i, location, depth + 1, &child, error));
        if (child >= 0) {
            wadi_yaml_append(b->yaml, *copy, b->yaml->nodes.data[i].key, child);
        }
    }
    return WADI_OK;
}

static WadiStatus read_alias(Builder *b, const char *name, size_t length, WadiSourceLocation location,
                             WadiError *error)
{
    const Anchor *anchor = NULL;
    for (size_t i = b->anchors.count; i > 0 && anchor == NULL; --i) {
        const WadiYamlNode *known = wadi_yaml_node(b->yaml, b->anchors.data[i - 1].name);
        if (known->length == length &&
            memcmp(wadi_yaml_text(b->yaml, b->anchors.data[i - 1].name), name, length) == 0) {
            anchor = &b->anchors.data[i - 1];
        }
    }
    if (anchor == NULL) {
        stop(b, location, "this alias has no anchor before it");
    } else if (anchor->is_open) {
        stop(b, location, "this alias stands inside its own anchor");
    } else {
        int copy;
        WADI_TRY(copy_tree(b, anchor->node, location, b->depth, &copy, error));
        if (copy >= 0) {
            attach(b, copy);
        }
    }
    return WADI_OK;
}

static WadiStatus add_anchor(Builder *b, struct fy_token *token, int node, bool is_open, WadiError *error)
{
    if (token == NULL) {
        return WADI_OK;
    }
    WadiSourceLocation location = b->yaml->nodes.data[node].location;
    size_t length = 0;
    const char *name = fy_token_get_text(token, &length);
    if (name == NULL || length > MAX_ANCHOR_NAME || b->anchors.count >= MAX_ANCHORS) {
        stop(b, location, "too many anchors, or an anchor's name is too long");
        return WADI_OK;
    }
    Anchor anchor = { .node = node, .is_open = is_open };
    WADI_TRY(wadi_yaml_new_text(b->yaml, name, length, false, location, &anchor.name, error));
    return WADI_ARRAY_PUSH(&b->anchors, anchor, "anchors", error);
}

/* Copies the entries of `from` into `map`, except keys that the map has already. */
static void merge_map(Builder *b, int map, int from)
{
    WadiYaml *yaml = b->yaml;
    WadiSourceLocation location = yaml->nodes.data[from].location;
    if (yaml->nodes.data[from].kind != WADI_YAML_MAP) {
        stop(b, location, "'<<' merges a map or a list of maps, nothing else");
        return;
    }
    for (int i = yaml->nodes.data[from].first_child, next; i >= 0; i = next) {
        next = yaml->nodes.data[i].next;
        int key = yaml->nodes.data[i].key;
        if (yaml->nodes.data[map].child_count > WADI_YAML_MAX_MERGED) {
            stop(b, location, "a map with '<<' has more than 256 keys");
            return;
        }
        if (yaml->nodes.data[key].kind != WADI_YAML_SCALAR ||
            wadi_yaml_find(yaml, map, wadi_yaml_text(yaml, key)) < 0) {
            wadi_yaml_append(yaml, map, key, i);
        }
    }
}

static void merge_keys(Builder *b, int map)
{
    int merged;
    while (!b->has_stopped && (merged = wadi_yaml_find(b->yaml, map, "<<")) >= 0) {
        wadi_yaml_remove(b->yaml, map, merged);
        const WadiYamlNode *node = wadi_yaml_node(b->yaml, merged);
        if (node->kind != WADI_YAML_LIST) {
            merge_map(b, map, merged);
            continue;
        }
        for (int i = node->first_child; i >= 0 && !b->has_stopped; i = wadi_yaml_node(b->yaml, i)->next) {
            merge_map(b, map, i);
        }
    }
}

static WadiStatus begin(Builder *b, WadiYamlKind kind, WadiSourceLocation location, bool is_flow,
                        struct fy_token *anchor, WadiError *error)
{
    if (b->depth >= WADI_YAML_MAX_DEPTH) {
        stop(b, location, "values nest deeper than 64 levels");
        return WADI_OK;
    }
    int node;
    WADI_TRY(wadi_yaml_new(b->yaml, kind, location, &node, error));
    attach(b, node);
    b->open[b->depth] = node;
    b->key[b->depth] = -1;
    b->is_flow[b->depth] = is_flow;
    b->anchor[b->depth] = -1;
    size_t anchor_count = b->anchors.count;
    WADI_TRY(add_anchor(b, anchor, node, true, error));
    if (b->anchors.count > anchor_count) {
        b->anchor[b->depth] = (int)anchor_count;
    }
    ++b->depth;
    return WADI_OK;
}

static void end(Builder *b)
{
    WADI_ASSERT_ELSE(b->depth > 0, return;);
    int node = b->open[--b->depth];
    if (b->anchor[b->depth] >= 0) {
        b->anchors.data[b->anchor[b->depth]].is_open = false;
    }
    if (b->yaml->nodes.data[node].kind == WADI_YAML_MAP && !b->has_stopped) {
        merge_keys(b, node);
    }
}

static WadiStatus read_scalar(Builder *b, const struct fy_event_scalar_data *data,
                              WadiSourceLocation location, WadiError *error)
{
    size_t length = 0;
    const char *text = data->value != NULL ? fy_token_get_text(data->value, &length) : "";
    bool is_plain = data->value == NULL || fy_token_scalar_style(data->value) == FYSS_PLAIN;
    if (text == NULL) {
        return wadi_fail_memory(error, 1, "the scene's text");
    }
    if (!wadi_yaml_is_printable(text, length)) {
        stop(b, location, "the text holds a control character; remove it");
        return WADI_OK;
    }
    int node;
    WADI_TRY(wadi_yaml_new_text(b->yaml, text, length, is_plain, location, &node, error));
    attach(b, node);
    return add_anchor(b, data->anchor, node, false, error);
}

/* A value that is not there, as in `key:`. libfyaml 0.7 has no token for it, 0.8 an empty one. */
static bool is_absent(const struct fy_event *event)
{
    size_t length = 0;
    struct fy_token *value = event->type == FYET_SCALAR ? event->scalar.value : NULL;
    if (value != NULL && fy_token_scalar_style(value) == FYSS_PLAIN) {
        fy_token_get_text(value, &length);
        return length == 0;
    }
    return event->type == FYET_SCALAR && value == NULL;
}

/* An absent value has the location of what stands before it. */
static WadiSourceLocation location_of(Builder *b, struct fy_event *event)
{
    const struct fy_mark *mark = is_absent(event) ? NULL : fy_event_start_mark(event);
    if (mark != NULL) {
        b->last = (WadiSourceLocation){ b->set, mark->line + 1, mark->column + 1 };
    }
    return b->last;
}

static bool is_bracket(struct fy_token *token)
{
    size_t length = 0;
    const char *text = token != NULL ? fy_token_get_text(token, &length) : NULL;
    return text != NULL && length == 1 && (*text == '{' || *text == '[');
}

static WadiStatus read_event(Builder *b, struct fy_event *event, WadiError *error)
{
    WadiSourceLocation location = location_of(b, event);
    struct fy_token *tag = event->type == FYET_SCALAR           ? event->scalar.tag
                           : event->type == FYET_SEQUENCE_START ? event->sequence_start.tag
                           : event->type == FYET_MAPPING_START  ? event->mapping_start.tag
                                                                : NULL;
    if (tag != NULL) {
        stop(b, location, "tags ('!…') are not part of the scene language; remove it");
        return WADI_OK;
    }
    if (!is_within_limit(b, location)) {
        return WADI_OK;
    }
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++b->document_count > 1) {
            const struct fy_mark *mark = event->document_start.document_start != NULL
                                             ? fy_token_start_mark(event->document_start.document_start)
                                             : NULL;
            stop(b,
                 mark != NULL ? (WadiSourceLocation){ b->set, mark->line + 1, mark->column + 1 } : location,
                 "a second document begins here; a scene file holds one");
        }
        return WADI_OK;
    case FYET_MAPPING_START:
        return begin(b, WADI_YAML_MAP, location, is_bracket(event->mapping_start.mapping_start),
                     event->mapping_start.anchor, error);
    case FYET_SEQUENCE_START:
        return begin(b, WADI_YAML_LIST, location, is_bracket(event->sequence_start.sequence_start),
                     event->sequence_start.anchor, error);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: end(b); return WADI_OK;
    case FYET_SCALAR: return read_scalar(b, &event->scalar, location, error);
    case FYET_ALIAS: {
        size_t length = 0;
        const char *name = fy_token_get_text(event->alias.anchor, &length);
        return name != NULL ? read_alias(b, name, length, location, error) : WADI_OK;
    }
    default: return WADI_OK;
    }
}

/* Appends libfyaml's message and a hint. */
static void report_syntax(Builder *b, struct fy_diag *diag)
{
    void *iterator = NULL;
    const struct fy_diag_error *found = fy_diag_errors_iterate(diag, &iterator);
    if (found == NULL) {
        stop(b, b->last, "this is not YAML");
        return;
    }
    char message[400];
    WadiSourceLocation location = { b->set, found->line, found->column };
    snprintf(message, sizeof message, "%s", found->msg);
    size_t used = strcspn(message, "\n");
    message[used] = '\0';
    int depth = b->depth;
    const char *hint = strstr(message, "tab character") != NULL   ? "; use spaces"
                       : strstr(message, "quoted scalar") != NULL ? "; is the closing quote missing?"
                                                                  : NULL;
    if (hint != NULL) {
        snprintf(message + used, sizeof message - used, "%s", hint);
    } else if (depth > 0 && b->is_flow[depth - 1]) {
        WadiSourceLocation opened = wadi_yaml_node(b->yaml, b->open[depth - 1])->location;
        snprintf(message + used, sizeof message - used, "; the '%c' of line %d, column %d is still open",
                 wadi_yaml_node(b->yaml, b->open[depth - 1])->kind == WADI_YAML_MAP ? '{' : '[', opened.line,
                 opened.column);
    }
    stop(b, location, message);
}

WadiStatus wadi_yaml_read(WadiYaml *yaml, const char *bytes, size_t size, int set, WadiReport *report,
                          int *root, WadiError *error)
{
    Builder b = { .yaml = yaml, .report = report, .set = set, .root = -1, .last = { set, 1, 1 } };
    *root = -1;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    if (!wadi_yaml_check(bytes, size, set, report)) {
        return WADI_OK;
    }

    WadiStatus status = WADI_OK;
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    struct fy_parser *parser = NULL;
    if (diag != NULL) {
        fy_diag_set_collect_errors(diag, true);
        struct fy_parse_cfg config = { .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DISABLE_MMAP_OPT |
                                                FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
                                       .diag = diag };
        parser = fy_parser_create(&config);
    }
    if (parser == NULL || fy_parser_set_string(parser, bytes, size) != 0) {
        status = wadi_fail_memory(error, size, "the YAML parser");
    }
    for (struct fy_event *event;
         status == WADI_OK && !b.has_stopped && (event = fy_parser_parse(parser)) != NULL;) {
        status = read_event(&b, event, error);
        fy_parser_event_free(parser, event);
    }
    if (status == WADI_OK && !b.has_stopped && fy_parser_get_stream_error(parser)) {
        report_syntax(&b, diag);
    }
    if (status == WADI_OK && !b.has_stopped && b.root < 0) {
        stop(&b, (WadiSourceLocation){ set, set < 0 ? 1 : 0, 1 },
             set < 0 ? "the scene is empty" : "the value is empty");
    }
    if (parser != NULL) {
        fy_parser_destroy(parser);
    }
    if (diag != NULL) {
        fy_diag_destroy(diag);
    }
    WADI_ARRAY_FREE(&b.anchors);
    *root = status == WADI_OK && !b.has_stopped ? b.root : -1;
    return status;
}
