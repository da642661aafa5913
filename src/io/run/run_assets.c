#include "io/run/run_assets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/hash.h"
#include "geom/mesh/mesh.h"
#include "io/files/file_copy.h"
#include "io/files/files.h"
#include "io/scene/scene_files.h"
#include "io/scene/scene_read.h"

enum { KEY_DIGITS = 16, DEPTH_MAX = 8 };

/* A file and the name of its copy in assets/KEY. */
typedef struct Part {
    char *path, *name; /* owned */
    WadiFileDigest digest;
} Part;
typedef WADI_ARRAY(Part) Parts;

static void free_parts(Parts *parts)
{
    for (size_t i = 0; i < parts->count; ++i) {
        wadi_string_free(parts->data[i].path);
        wadi_string_free(parts->data[i].name);
    }
    WADI_ARRAY_FREE(parts);
}

/* Start of the copy's name in a path: the last component, or for a sequence the one with the number field. */
static const char *name_start(const char *path, bool is_sequence)
{
    const char *end = path + strlen(path);
    for (const char *c = path; is_sequence && *c != '\0'; ++c) {
        if (c[0] == '%' && c[1] == '%') {
            ++c;
        } else if (c[0] == '%') {
            end = c;
            break;
        }
    }
    while (end > path && end[-1] != '/') {
        --end;
    }
    return end;
}

/* Restricts a name to characters that need no quotes in YAML on any file system; the number field of a
 * pattern remains. */
static void clean_name(char *name)
{
    static const char good[] = WADI_NAME_CHARACTERS "/%";
    for (char *c = name; *c != '\0'; ++c) {
        bool is_start = c == name || c[-1] == '/';
        *c = strchr(good, *c) == NULL || (is_start && *c == '.') ? '_' : *c;
    }
}

static WadiStatus add_part(Parts *parts, const char *path, const char *name, WadiError *error)
{
    Part part = { 0 };
    WADI_TRY(wadi_file_digest(path, &part.digest, error));
    WadiStatus status = wadi_string_copy(&part.path, path, strlen(path), error);
    if (status == WADI_OK) {
        status = wadi_string_copy(&part.name, name, strlen(name), error);
    }
    if (status == WADI_OK) {
        status = WADI_ARRAY_PUSH(parts, part, "files of the scene", error);
    }
    if (status != WADI_OK) {
        wadi_string_free(part.path);
        wadi_string_free(part.name);
    }
    return status;
}

/* Adds the file and, for a glTF mesh, its buffers, with the names that the mesh file gives them. */
static WadiStatus add_files(Parts *parts, const char *path, const char *name, WadiError *error)
{
    WadiMeshFiles files;
    WadiText buffer_name = { 0 };
    WADI_TRY(wadi_mesh_files(&files, path, error));
    const char *slash = strrchr(name, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - name) : 0;
    WadiStatus status = add_part(parts, path, name, error);
    for (size_t i = 1; i < files.count && status == WADI_OK; ++i) {
        const char *buffer = strrchr(files.paths[i], '/');
        wadi_text_clear(&buffer_name);
        wadi_text_append_bytes(&buffer_name, name, folder);
        wadi_text_append(&buffer_name, buffer != NULL ? buffer + 1 : files.paths[i]);
        status = wadi_text_status(&buffer_name, error);
        status = status == WADI_OK ? add_part(parts, files.paths[i], buffer_name.data, error) : status;
    }
    wadi_text_free(&buffer_name);
    wadi_mesh_files_free(&files);
    return status;
}

static WadiStatus add_sequence(Parts *parts, const WadiSceneFile *file, const char *pattern, WadiError *error)
{
    WadiText path = { 0 }, name = { 0 };
    WadiStatus status = WADI_OK;
    for (int number = file->first_number; number <= file->last_number && status == WADI_OK; ++number) {
        wadi_text_clear(&path);
        wadi_text_clear(&name);
        wadi_file_pattern_expand(file->path, number, &path);
        wadi_file_pattern_expand(pattern, number, &name);
        status = wadi_text_status(&path, error);
        status = status == WADI_OK ? wadi_text_status(&name, error) : status;
        if (status == WADI_OK) {
            status = add_files(parts, path.data, name.data, error);
        }
    }
    wadi_text_free(&path);
    wadi_text_free(&name);
    return status;
}

static uint64_t parts_key(const Parts *parts)
{
    uint64_t key = 0;
    for (size_t i = 0; i < parts->count; ++i) {
        const Part *part = &parts->data[i];
        key = wadi_hash_bytes(key, part->name, strlen(part->name));
        key = wadi_hash_combine(wadi_hash_combine(key, part->digest.size), part->digest.hash);
    }
    return key;
}

static WadiStatus store_part(const char *run, const char *folder, const Part *part, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s/%s", run, folder, part->name) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot copy %.200s into %.200s", part->path, run);
    }
    if (wadi_file_has_digest(path, part->digest)) {
        return WADI_OK;
    }
    char *slash = strrchr(path, '/');
    *slash = '\0';
    WADI_TRY(wadi_folder_make(path, error));
    *slash = '/';
    return wadi_file_copy(part->path, path, part->digest, error);
}

/* Copies the file and sets its new name. */
static WadiStatus store_file(const char *run, WadiSceneFile *file, WadiError *error)
{
    const char *start = name_start(file->path, file->is_sequence);
    char folder[sizeof "assets/" + KEY_DIGITS];
    char *name = NULL;
    Parts parts = { 0 };
    WadiText made = { 0 };
    WADI_TRY(wadi_string_copy(&name, start, strlen(start), error));
    clean_name(name);
    WadiStatus status = file->is_sequence ? add_sequence(&parts, file, name, error)
                                          : add_files(&parts, file->path, name, error);
    snprintf(folder, sizeof folder, "assets/%016" PRIx64, parts_key(&parts));
    for (size_t i = 0; i < parts.count && status == WADI_OK; ++i) {
        status = store_part(run, folder, &parts.data[i], error);
    }
    if (status == WADI_OK) {
        wadi_text_printf(&made, "%s/%s", folder, name);
        status = wadi_text_status(&made, error);
    }
    if (status == WADI_OK) {
        status = wadi_string_copy(&file->new_name, made.data, made.length, error);
    }
    wadi_text_free(&made);
    wadi_string_free(name);
    free_parts(&parts);
    return status;
}

WadiStatus wadi_run_assets_bytes(const WadiScene *scene, double *bytes, WadiError *error)
{
    *bytes = 0.0;
    WadiSceneFiles files;
    WADI_TRY(wadi_scene_files_read(&files, scene, error));
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i < files.list.count && status == WADI_OK; ++i) {
        const WadiSceneFile *file = &files.list.data[i];
        bool is_repeated = false;
        for (size_t j = 0; j < i; ++j) {
            is_repeated |= strcmp(files.list.data[j].path, file->path) == 0;
        }
        if (is_repeated) {
            continue;
        }
        Parts parts = { 0 };
        const char *name = name_start(file->path, file->is_sequence);
        status = file->is_sequence ? add_sequence(&parts, file, name, error)
                                   : add_files(&parts, file->path, name, error);
        for (size_t p = 0; p < parts.count; ++p) {
            *bytes += (double)parts.data[p].digest.size;
        }
        free_parts(&parts);
    }
    wadi_scene_files_free(&files);
    return status;
}

WadiStatus wadi_run_assets_store(const char *run, const WadiScene *scene, WadiText *text, WadiError *error)
{
    WadiSceneFiles files;
    WADI_TRY(wadi_scene_files_read(&files, scene, error));
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i < files.list.count && status == WADI_OK; ++i) {
        status = store_file(run, &files.list.data[i], error);
    }
    if (status == WADI_OK) {
        status = wadi_scene_files_rewrite(&files, scene, text, error);
    }
    wadi_scene_files_free(&files);
    return status;
}

static bool is_key(const char *name)
{
    return strlen(name) == KEY_DIGITS && strspn(name, "0123456789abcdef") == KEY_DIGITS;
}

/* The copies of a value "assets/KEY/NAME"; false: another file, or one that is missing. */
static bool find_copy(const WadiSceneFile *file, const char *value, Parts *parts, uint64_t *stored,
                      WadiStatus *status, WadiError *error)
{
    static const char start[] = "assets/";
    char key[KEY_DIGITS + 1] = { 0 };
    if (strncmp(value, start, sizeof start - 1) != 0) {
        return false;
    }
    memcpy(key, value + sizeof start - 1, strnlen(value + sizeof start - 1, KEY_DIGITS));
    const char *name = value + sizeof start - 1 + strlen(key);
    if (!is_key(key) || name[0] != '/') {
        return false;
    }
    *stored = strtoull(key, NULL, 16);
    *status = file->is_sequence ? add_sequence(parts, file, name + 1, error)
                                : add_files(parts, file->path, name + 1, error);
    if (*status == WADI_ERR_IO) { /* reported by what needs the file */
        *status = WADI_OK;
        return false;
    }
    if (*status != WADI_OK && *status != WADI_ERR_MEMORY) { /* a mesh that cannot be read has changed */
        *status = WADI_OK;
    }
    return *status == WADI_OK;
}

WadiStatus wadi_run_assets_verify(const char *run, const WadiScene *scene, uint64_t *hash, WadiText *changed,
                                  WadiError *error)
{
    WadiSceneFiles files;
    *hash = 0;
    wadi_text_clear(changed);
    WADI_TRY(wadi_scene_files_read(&files, scene, error));
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i < files.list.count && status == WADI_OK; ++i) {
        const WadiSceneFile *file = &files.list.data[i];
        const char *value = wadi_yaml_text(&files.yaml, file->node);
        Parts parts = { 0 };
        uint64_t stored = 0;
        if (find_copy(file, value, &parts, &stored, &status, error) && parts_key(&parts) != stored) {
            *hash = wadi_hash_combine(*hash, parts_key(&parts));
            *hash += *hash == 0;
            if (changed->length == 0) {
                wadi_text_printf(changed, "%s/%s", run, value);
            }
        }
        free_parts(&parts);
    }
    wadi_scene_files_free(&files);
    return status == WADI_OK ? wadi_text_status(changed, error) : status;
}

typedef struct Removal {
    bool is_all; /* otherwise only temporary files */
    int depth;
} Removal;

static WadiStatus remove_below(const char *path, const Removal *removal, WadiError *error);

static WadiStatus remove_entry(void *user, const char *folder, const char *name, WadiError *error)
{
    const Removal *removal = user;
    char path[WADI_PATH_SIZE];
    struct stat info;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= WADI_PATH_SIZE || lstat(path, &info) != 0) {
        return WADI_OK;
    }
    if (S_ISDIR(info.st_mode)) {
        const Removal inner = { removal->is_all, removal->depth + 1 };
        return inner.depth <= DEPTH_MAX ? remove_below(path, &inner, error) : WADI_OK;
    }
    return removal->is_all || wadi_file_temporary_stem(name) > 0 ? wadi_file_remove(path, error) : WADI_OK;
}

/* Removes the files below `path`: all of them and the folder, or only temporary ones. Links are not
 * followed. */
static WadiStatus remove_below(const char *path, const Removal *removal, WadiError *error)
{
    WADI_TRY(wadi_folder_visit(path, remove_entry, (void *)removal, error));
    if (removal->is_all) {
        rmdir(path);
    }
    return WADI_OK;
}

/* `user`: the text of the scene; what it does not name goes. */
static WadiStatus clean_key(void *user, const char *folder, const char *name, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (!is_key(name) || snprintf(path, sizeof path, "%s/%s", folder, name) >= WADI_PATH_SIZE) {
        return WADI_OK;
    }
    return remove_below(path, &(Removal){ .is_all = strstr(user, name) == NULL }, error);
}

WadiStatus wadi_run_assets_clean(const char *run, const char *text, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/assets", run);
    const WadiStatus status = wadi_folder_visit(path, clean_key, (void *)text, error);
    rmdir(path); /* fails when the folder is not empty */
    return status;
}
