#include "io/scene/scene_files.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/scene/scene_parse.h"

/* A part of the source that is replaced. */
typedef struct Edit {
    size_t at, length;
    const char *text; /* borrowed */
} Edit;
typedef WADI_ARRAY(Edit) Edits;

void wadi_scene_files_free(WadiSceneFiles *files)
{
    for (size_t i = 0; i < files->list.count; ++i) {
        wadi_string_free(files->list.data[i].path);
        wadi_string_free(files->list.data[i].new_name);
    }
    WADI_ARRAY_FREE(&files->list);
    wadi_yaml_free(&files->yaml);
    *files = (WadiSceneFiles){ 0 };
}

static WadiSceneDef source_def(const WadiScene *scene, const char *text)
{
    return (WadiSceneDef){ .path = scene->path, .text = text, .folder = scene->folder };
}

WadiStatus wadi_scene_files_read(WadiSceneFiles *files, const WadiScene *scene, WadiError *error)
{
    *files = (WadiSceneFiles){ .yaml.root = -1 };
    WadiSceneDef def = source_def(scene, scene->source);
    WadiStatus status = wadi_scene_parse_files(files, &def, error);
    if (status != WADI_OK) {
        wadi_scene_files_free(files);
    }
    return status;
}

/* Byte offset of a location; columns count UTF-8 characters. */
static bool find_offset(const char *source, WadiSourceLocation location, size_t *offset)
{
    const char *at = source;
    for (int line = 1; line < location.line; ++line) {
        at = strchr(at, '\n');
        if (at == NULL) {
            return false;
        }
        ++at;
    }
    for (int column = 1; column < location.column; ++column) {
        if (*at == '\0' || *at == '\n') {
            return false;
        }
        do {
            ++at;
        } while (((unsigned char)*at & 0xc0) == 0x80);
    }
    *offset = (size_t)(at - source);
    return location.line > 0;
}

/* Bytes of "&name " in front of a value. */
static size_t anchor_length(const char *at)
{
    if (*at != '&') {
        return 0;
    }
    size_t name = strcspn(at, " \t\r\n");
    return name + strspn(at + name, " \t");
}

/* Bytes of the value that begins here, with its quotes; 0 when it is written in another form, such
 * as block text. */
static size_t value_length(const char *at, const char *value)
{
    if (*at == '"' || *at == '\'') {
        for (const char *c = at + 1; *c != '\0' && *c != '\n'; ++c) {
            if (*at == '"' && *c == '\\' && c[1] != '\0') {
                ++c;
            } else if (*at == '\'' && *c == '\'' && c[1] == '\'') {
                ++c;
            } else if (*c == *at) {
                return (size_t)(c + 1 - at);
            }
        }
        return 0;
    }
    size_t length = strlen(value);
    return strncmp(at, value, length) == 0 ? length : 0;
}

static int by_offset(const void *a, const void *b)
{
    const Edit *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* False: some value cannot be replaced in place. */
static bool find_edits(const WadiSceneFiles *files, const char *source, const char *name_line, Edits *edits,
                       WadiStatus *status, WadiError *error)
{
    const WadiYaml *yaml = &files->yaml;
    *status = WADI_OK;
    for (size_t i = 0; i < files->list.count && *status == WADI_OK; ++i) {
        const WadiSceneFile *file = &files->list.data[i];
        Edit edit = { .text = file->new_name };
        if (file->new_name == NULL) {
            continue;
        }
        if (!find_offset(source, wadi_yaml_node(yaml, file->node)->location, &edit.at)) {
            return false;
        }
        edit.at += anchor_length(source + edit.at);
        if (edit.at > 0 && strchr("\"'", source[edit.at - 1]) != NULL) {
            --edit.at; /* libfyaml's location of a quoted value is after the quote */
        }
        edit.length = value_length(source + edit.at, wadi_yaml_text(yaml, file->node));
        if (edit.length == 0) {
            return false;
        }
        *status = WADI_ARRAY_PUSH(edits, edit, "changes of the scene's text", error);
    }
    if (*status == WADI_OK && name_line != NULL) {
        Edit edit = { .text = name_line };
        int first = wadi_yaml_node(yaml, yaml->root)->first_child;
        if (first < 0 ||
            !find_offset(source, wadi_yaml_node(yaml, wadi_yaml_node(yaml, first)->key)->location,
                         &edit.at)) {
            return false;
        }
        *status = WADI_ARRAY_PUSH(edits, edit, "changes of the scene's text", error);
    }
    if (*status == WADI_OK && edits->count > 1) {
        qsort(edits->data, edits->count, sizeof *edits->data, by_offset);
    }
    return *status == WADI_OK;
}

static void apply_edits(const Edits *edits, const char *source, WadiText *text)
{
    size_t done = 0;
    for (size_t i = 0; i < edits->count; ++i) {
        const Edit *edit = &edits->data[i];
        if (i > 0 && edit->at == edits->data[i - 1].at && edits->data[i - 1].length > 0) {
            continue; /* another use of the same value */
        }
        wadi_text_append_bytes(text, source + done, edit->at - done);
        wadi_text_append(text, edit->text);
        done = edit->at + edit->length;
    }
    wadi_text_append(text, source + done);
}

/* Makes "name: X" in front of the first key: on its own line, or inside the braces of {wadi: 1, …}. */
static WadiStatus make_name_line(const WadiSceneFiles *files, const WadiScene *scene, WadiText *line,
                                 WadiError *error)
{
    const WadiYaml *yaml = &files->yaml;
    const WadiYamlNode *root = wadi_yaml_node(yaml, yaml->root);
    size_t offset;
    bool is_flow = find_offset(scene->source, root->location, &offset) && scene->source[offset] == '{';
    wadi_text_append(line, "name: ");
    wadi_text_append_json(line, scene->name);
    if (is_flow || root->first_child < 0) {
        wadi_text_append(line, ", ");
    } else {
        int column = wadi_yaml_node(yaml, wadi_yaml_node(yaml, root->first_child)->key)->location.column;
        wadi_text_printf(line, "\n%*s", column - 1, "");
    }
    return wadi_text_status(line, error);
}

/* Puts the new names into the tree. */
static WadiStatus rename_nodes(WadiSceneFiles *files, WadiError *error)
{
    WadiYaml *yaml = &files->yaml;
    for (size_t i = 0; i < files->list.count; ++i) {
        const WadiSceneFile *file = &files->list.data[i];
        int made;
        if (file->new_name != NULL) {
            WADI_TRY(wadi_yaml_new_text(yaml, file->new_name, strlen(file->new_name), true,
                                        (WadiSourceLocation){ -1, 0, 0 }, &made, error));
            WadiYamlNode *node = &yaml->nodes.data[file->node];
            node->text = wadi_yaml_node(yaml, made)->text;
            node->length = wadi_yaml_node(yaml, made)->length;
            node->is_plain = true;
        }
    }
    return WADI_OK;
}

static WadiStatus add_name(WadiYaml *yaml, const WadiScene *scene, WadiError *error)
{
    WadiSourceLocation location = { -1, 0, 0 };
    int key, value;
    WADI_TRY(wadi_yaml_new_text(yaml, "name", strlen("name"), true, location, &key, error));
    WADI_TRY(wadi_yaml_new_text(yaml, scene->name, strlen(scene->name), false, location, &value, error));
    wadi_yaml_append(yaml, yaml->root, key, value);
    return WADI_OK;
}

/* Whether the text parses to this tree, apart from an added name. An anchor may share a file's name with
 * another value, which would have changed with it. */
static WadiStatus compare_scene(const WadiScene *scene, const WadiText *text, const char *tree, bool has_name,
                                bool *is_same, WadiError *error)
{
    WadiSceneFiles read = { .yaml.root = -1 };
    WadiSceneDef def = source_def(scene, wadi_text_cstr(text));
    WadiText found = { 0 };
    *is_same = false;
    WADI_TRY(wadi_text_status(text, error));
    WadiStatus status = wadi_scene_parse_files(&read, &def, error);
    int name = status == WADI_OK ? wadi_yaml_find(&read.yaml, read.yaml.root, "name") : -1;
    if (name >= 0) {
        bool is_named = strcmp(wadi_yaml_text(&read.yaml, name), scene->name) == 0;
        if (!has_name) {
            wadi_yaml_remove(&read.yaml, read.yaml.root, name);
        }
        wadi_yaml_write(&read.yaml, read.yaml.root, &found);
        status = wadi_text_status(&found, error);
        *is_same = is_named && strcmp(wadi_text_cstr(&found), tree) == 0;
    }
    wadi_text_free(&found);
    wadi_scene_files_free(&read);
    return status == WADI_ERR_MEMORY ? status : WADI_OK;
}

WadiStatus wadi_scene_files_rewrite(WadiSceneFiles *files, const WadiScene *scene, WadiText *text,
                                    WadiError *error)
{
    WadiYaml *yaml = &files->yaml;
    WadiText name_line = { 0 }, tree = { 0 };
    Edits edits = { 0 };
    bool has_name = wadi_yaml_find(yaml, yaml->root, "name") >= 0;
    WadiStatus status = has_name ? WADI_OK : make_name_line(files, scene, &name_line, error);
    bool is_done = status == WADI_OK &&
                   find_edits(files, scene->source, has_name ? NULL : name_line.data, &edits, &status, error);
    wadi_text_clear(text);
    if (status == WADI_OK) {
        status = rename_nodes(files, error);
    }
    if (status == WADI_OK && is_done) {
        wadi_yaml_write(yaml, yaml->root, &tree);
        apply_edits(&edits, scene->source, text);
        status = wadi_text_status(&tree, error);
        status = status == WADI_OK
                     ? compare_scene(scene, text, wadi_text_cstr(&tree), has_name, &is_done, error)
                     : status;
    }
    if (status == WADI_OK && !is_done) { /* rewritten from the tree: comments and layout are lost */
        status = has_name ? WADI_OK : add_name(yaml, scene, error);
        wadi_text_clear(text);
        wadi_yaml_write(yaml, yaml->root, text);
    }
    WADI_ARRAY_FREE(&edits);
    wadi_text_free(&name_line);
    wadi_text_free(&tree);
    return status == WADI_OK ? wadi_text_status(text, error) : status;
}
