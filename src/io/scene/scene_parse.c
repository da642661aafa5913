#include "io/scene/scene_parse.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/scene/scene_read.h"

void wadi_scene_free(WadiScene *scene)
{
    if (scene == NULL) {
        return;
    }
    wadi_scene_free_fields(&wadi_scene_object, scene);
    wadi_string_free(scene->path);
    wadi_string_free(scene->folder);
    wadi_string_free(scene->source);
    WADI_DELETE(scene, 1);
}

/* Sets the table's defaults, including those of every solver's settings. */
static WadiStatus set_defaults(WadiScene *scene, WadiError *error)
{
    wadi_scene_set_defaults(&wadi_scene_object, scene);
    for (int i = 0; i < wadi_scene_object.field_count; ++i) {
        const WadiSceneField *field = &wadi_scene_object.fields[i];
        if (field->type == WADI_SCENE_SETTINGS) {
            void **settings = (void **)(void *)((char *)scene + field->offset);
            WADI_TRY(wadi_alloc(settings, 1, field->object->size, field->doc, error));
            wadi_scene_set_defaults(field->object, *settings);
        }
    }
    return WADI_OK;
}

/* The path up to the last slash; "." without a slash. */
static WadiStatus set_folder(WadiScene *scene, const WadiSceneDef *def, WadiError *error)
{
    const char *folder = def->folder, *slash = def->path != NULL ? strrchr(def->path, '/') : NULL;
    size_t length = folder != NULL ? strlen(folder) : 1;
    if (folder == NULL && slash != NULL) {
        folder = def->path;
        length = slash == def->path ? 1 : (size_t)(slash - def->path);
    } else if (folder == NULL) {
        folder = ".";
    }
    return wadi_string_copy(&scene->folder, folder, length, error);
}

/* The file name without its ending; characters that a name may not have are replaced. */
static WadiStatus set_default_name(WadiScene *scene, const char *path, WadiError *error)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *stem = path == NULL ? "scene" : slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(stem, '.');
    size_t length = dot != NULL && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    length = length > 100 ? 100 : length;
    WADI_TRY(wadi_string_copy(&scene->name, length > 0 ? stem : "scene", length > 0 ? length : 5, error));
    for (char *c = scene->name; *c != '\0'; ++c) {
        bool is_good = strchr(WADI_NAME_CHARACTERS, *c) != NULL;
        bool is_bad_start = c == scene->name && (*c == '.' || *c == '-');
        *c = is_good && !is_bad_start ? *c : '_';
    }
    return WADI_OK;
}

/* In another version every other key may have another meaning, so only the version is reported. */
static bool check_version(WadiSceneReader *r)
{
    const WadiYamlNode *root = wadi_yaml_node(&r->yaml, r->yaml.root);
    if (root->kind != WADI_YAML_MAP) {
        wadi_read_wrong_type(r, r->yaml.root, "a scene, a map that begins with 'wadi: 1'");
        return false;
    }
    int version = wadi_yaml_find(&r->yaml, r->yaml.root, "wadi");
    if (version < 0 || wadi_yaml_node(&r->yaml, version)->kind != WADI_YAML_SCALAR ||
        wadi_yaml_type(&r->yaml, version) != WADI_YAML_NUMBER ||
        wadi_yaml_number(&r->yaml, version) == WADI_SCENE_VERSION) {
        return true;
    }
    WadiText shown = { 0 };
    wadi_text_append_shown(&shown, wadi_yaml_text(&r->yaml, version),
                           wadi_yaml_node(&r->yaml, version)->length);
    size_t mark = wadi_read_enter(r, "wadi");
    wadi_read_problem(r, version, "the scene is written in version %s; this wadi reads version %d",
                      wadi_text_cstr(&shown), WADI_SCENE_VERSION);
    wadi_read_leave(r, mark);
    wadi_read_drop(r, &shown);
    return false;
}

/* Stores the scene as run: the file itself, or the result of the overrides. */
static WadiStatus set_source(WadiSceneReader *r, const WadiSceneDef *def, const char *bytes, size_t size,
                             WadiError *error)
{
    if (def->set_count == 0) {
        return wadi_string_copy(&r->scene->source, bytes, size, error);
    }
    WadiText text = { 0 };
    wadi_text_append(&text, "# as run with the settings");
    for (int i = 0; i < def->set_count; ++i) {
        wadi_text_append(&text, " ");
        wadi_text_append_shown(&text, def->sets[i], strlen(def->sets[i]));
    }
    wadi_text_append(&text, "\n");
    wadi_yaml_write(&r->yaml, r->yaml.root, &text);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_string_copy(&r->scene->source, wadi_text_cstr(&text), text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

/* Where a setting on the command line chooses the solver, the file's settings of other solvers are left out:
 * any scene runs with any solver. A file that contradicts itself is refused later. */
static void leave_out_other_settings(WadiSceneReader *r)
{
    const int root = r->yaml.root, solver = wadi_yaml_find(&r->yaml, root, "solver");
    WadiWhere *where = &r->scene->where_other_settings;
    if (solver < 0 || wadi_yaml_node(&r->yaml, solver)->kind != WADI_YAML_SCALAR ||
        wadi_yaml_node(&r->yaml, solver)->location.set < 0) {
        return;
    }
    for (int i = 0; i < wadi_scene_object.field_count; ++i) {
        const WadiSceneField *field = &wadi_scene_object.fields[i];
        const int node =
            field->type == WADI_SCENE_SETTINGS && strcmp(field->key, wadi_yaml_text(&r->yaml, solver)) != 0
                ? wadi_yaml_find(&r->yaml, root, field->key)
                : -1;
        if (node < 0 || wadi_yaml_node(&r->yaml, node)->location.set >= 0) {
            continue;
        }
        WadiText text = { 0 };
        wadi_report_append_location(&r->report, wadi_yaml_node(&r->yaml, node)->location, &text);
        if (wadi_read_ok(r, wadi_text_status(&text, r->error)) && where->text[0] == '\0') {
            snprintf(where->text, sizeof where->text, "%s: %s", wadi_text_cstr(&text), field->key);
        }
        wadi_text_free(&text);
        wadi_yaml_remove(&r->yaml, root, node);
    }
}

/* Fills r->scene from the text. */
static WadiStatus read_scene(WadiSceneReader *r, const WadiSceneDef *def, const char *bytes, size_t size,
                             WadiError *error)
{
    WADI_TRY(wadi_yaml_read(&r->yaml, bytes, size, -1, &r->report, &r->yaml.root, error));
    if (r->yaml.root >= 0) {
        if (wadi_yaml_node(&r->yaml, r->yaml.root)->kind == WADI_YAML_MAP) {
            wadi_scene_apply_sets(r, def->sets, def->set_count);
            leave_out_other_settings(r);
        }
        if (r->status == WADI_OK && check_version(r)) {
            wadi_read_object(r, r->yaml.root, &wadi_scene_object, r->scene);
        }
    }
    WADI_TRY(r->status);
    WADI_TRY(wadi_text_status(&r->path, error));
    WADI_TRY(wadi_report_finish(&r->report, error));
    if (r->scene->name == NULL) {
        WADI_TRY(set_default_name(r->scene, def->path, error));
    }
    if (!r->is_record) {
        WADI_TRY(wadi_scene_hash(r->scene, &r->scene->content_hash, error));
    }
    return set_source(r, def, bytes, size, error);
}

static WadiStatus read_file(const char *path, bool is_record, char **bytes, size_t *size, WadiError *error)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is a folder, not a scene file", path);
    }
    /* A scene may come through a pipe; a run folder has regular files only. */
    return is_record ? wadi_file_read(path, WADI_YAML_MAX_BYTES, bytes, size, error)
                     : wadi_file_read_any(path, WADI_YAML_MAX_BYTES, bytes, size, error);
}

/* `files` NULL: files are not listed. */
static WadiStatus parse(WadiScene **scene, const WadiSceneDef *def, bool is_record, WadiSceneFiles *files,
                        WadiError *error)
{
    *scene = NULL;
    if (def->text == NULL && def->path == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a scene needs a path or a text");
    }
    const char *path = def->path != NULL ? def->path : "<text>";
    char *file_bytes = NULL;
    const char *bytes = def->text;
    size_t size = def->text != NULL && def->text_length == 0 ? strlen(def->text) : def->text_length;
    if (def->text == NULL) {
        WADI_TRY(read_file(path, is_record, &file_bytes, &size, error));
        bytes = file_bytes;
    }

    WadiSceneReader reader = { .report = { .path = path, .sets = def->sets },
                               .is_record = is_record,
                               .may_be_empty = def->may_be_empty,
                               .files = files,
                               .error = error };
    reader.yaml.root = -1;
    WadiStatus status = WADI_NEW(&reader.scene, 1, "scene", error);
    if (status == WADI_OK) {
        status = set_defaults(reader.scene, error);
    }
    if (status == WADI_OK) {
        status = wadi_string_copy(&reader.scene->path, path, strlen(path), error);
    }
    if (status == WADI_OK) {
        status = set_folder(reader.scene, def, error);
    }
    if (status == WADI_OK) {
        status = read_scene(&reader, def, bytes, size, error);
    }
    wadi_report_free(&reader.report);
    wadi_text_free(&reader.path);
    if (files != NULL && status == WADI_OK) {
        files->yaml = reader.yaml;
    } else {
        wadi_yaml_free(&reader.yaml);
    }
    if (file_bytes != NULL) {
        wadi_free(file_bytes, size + 1, 1);
    }
    if (status == WADI_OK) {
        *scene = reader.scene;
    } else {
        wadi_scene_free(reader.scene);
    }
    return status;
}

WadiStatus wadi_scene_parse(WadiScene **scene, const WadiSceneDef *def, WadiError *error)
{
    return parse(scene, def, false, NULL, error);
}

WadiStatus wadi_scene_parse_record(WadiScene **scene, const WadiSceneDef *def, WadiError *error)
{
    return parse(scene, def, true, NULL, error);
}

WadiStatus wadi_scene_parse_files(WadiSceneFiles *files, const WadiSceneDef *def, WadiError *error)
{
    WadiScene *scene = NULL;
    WadiStatus status = parse(&scene, def, true, files, error);
    wadi_scene_free(scene);
    return status;
}
