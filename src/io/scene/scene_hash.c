/* Hash of everything that changes the simulation, by a walk of the table over the parsed values. Comments,
 * layout, names and the length of the run are excluded; the bytes of meshes and pictures are included. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/check.h"
#include "core/hash.h"
#include "geom/mesh/mesh.h"
#include "io/files/files.h"
#include "io/scene/scene_read.h"
#include "world/rest_on.h"

static void hash_number(uint64_t *hash, double value)
{
    value += 0.0; /* maps -0 to 0 */
    *hash = wadi_hash_bytes(*hash, &value, sizeof value);
}

static void hash_text(uint64_t *hash, const char *text)
{
    hash_number(hash, text != NULL ? (double)strlen(text) : -1.0);
    if (text != NULL) {
        *hash = wadi_hash_bytes(*hash, text, strlen(text));
    }
}

static void hash_curve(uint64_t *hash, const WadiCurve *curve)
{
    int components = curve->components;
    hash_number(hash, curve->key_count);
    for (int c = 0; c < components && curve->key_count == 0; ++c) {
        hash_number(hash, curve->constant.value[c]);
    }
    for (int k = 0; k < curve->key_count; ++k) {
        hash_number(hash, curve->keys[k].time);
        for (int c = 0; c < components; ++c) {
            hash_number(hash, curve->keys[k].value[c]);
        }
    }
    if (curve->key_count > 0) {
        hash_number(hash, (double)curve->interpolation);
        hash_number(hash, curve->does_repeat);
    }
}

static WadiStatus hash_file(uint64_t *hash, const char *path, WadiError *error)
{
    int fd;
    WADI_TRY(wadi_file_open_regular(path, &fd, error));
    FILE *file = fdopen(fd, "rb");
    if (file == NULL) {
        close(fd);
        return wadi_fail_errno(error, errno, "cannot read %s", path);
    }
    char block[1 << 14];
    size_t count;
    while ((count = fread(block, 1, sizeof block, file)) > 0) {
        *hash = wadi_hash_bytes(*hash, block, count);
    }
    WadiStatus status = ferror(file) ? wadi_fail_errno(error, errno, "cannot read %s", path) : WADI_OK;
    fclose(file);
    return status;
}

/* Hashes all files of the mesh: a glTF file has its triangles in separate buffers. */
static WadiStatus hash_mesh(uint64_t *hash, const char *path, WadiError *error)
{
    WadiMeshFiles files;
    WADI_TRY(wadi_mesh_files(&files, path, error));
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i < files.count && status == WADI_OK; ++i) {
        status = hash_file(hash, files.paths[i], error);
    }
    wadi_mesh_files_free(&files);
    return status;
}

/* Adds nothing to the hash of a shape without these keys. */
static void hash_placing(uint64_t *hash, const WadiShapeDef *def)
{
    const WadiMeshFit *fit = &def->fit;
    if (fit->has_size || fit->has_center || fit->up != WADI_MESH_UP_Z) {
        const double numbers[] = { fit->has_size, fit->size.x,     fit->size.y,
                                   fit->size.z,   fit->has_center, fit->center.x,
                                   fit->center.y, fit->center.z,   (double)fit->up };
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
            hash_number(hash, numbers[i]);
        }
    }
    if (wadi_rests_on(def) != NULL) {
        hash_text(hash, wadi_rests_on(def));
    }
}

static WadiStatus hash_shape(uint64_t *hash, const WadiShapeDef *def, WadiError *error)
{
    hash_number(hash, (double)def->kind);
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        hash_curve(hash, &def->parameter[i]);
    }
    hash_curve(hash, &def->translate);
    hash_curve(hash, &def->rotate);
    hash_curve(hash, &def->scale);
    hash_curve(hash, &def->pivot);
    hash_placing(hash, def);
    if (def->kind == WADI_SHAPE_MESH_SEQUENCE) {
        WadiText path = { 0 };
        WadiStatus status = WADI_OK;
        hash_number(hash, (double)def->last_number - def->first_number);
        for (int i = def->first_number; i <= def->last_number && status == WADI_OK; ++i) {
            wadi_text_clear(&path);
            wadi_file_pattern_expand(def->file, i, &path);
            status = wadi_text_status(&path, error);
            status = status == WADI_OK ? hash_mesh(hash, path.data, error) : status;
        }
        wadi_text_free(&path);
        WADI_TRY(status);
    } else if (def->file != NULL) {
        WADI_TRY(def->kind == WADI_SHAPE_MESH ? hash_mesh(hash, def->file, error)
                                              : hash_file(hash, def->file, error));
    }
    hash_number(hash, def->child_count);
    for (int i = 0; i < def->child_count; ++i) {
        WADI_TRY(hash_shape(hash, &def->children[i], error));
    }
    return WADI_OK;
}

static WadiStatus hash_object(uint64_t *hash, const WadiSceneObject *object, const void *base,
                              WadiError *error);

static WadiStatus hash_entries(uint64_t *hash, const WadiSceneField *field, const void *base,
                               WadiError *error)
{
    const WadiSceneObject *object = field->object;
    const char *entries = *(const char *const *)(const void *)((const char *)base + field->offset);
    int count = *(const int *)(const void *)((const char *)base + field->count_offset);
    hash_number(hash, count);
    for (int i = 0; i < count; ++i) {
        const char *entry = entries + (size_t)i * object->size;
        if (field->type == WADI_SCENE_MAP) {
            hash_text(hash, *(const char *const *)(const void *)(entry + object->name_offset));
        }
        WADI_TRY(hash_object(hash, object, entry, error));
    }
    return WADI_OK;
}

static WadiStatus hash_field(uint64_t *hash, const WadiSceneField *field, const void *base, WadiError *error)
{
    const void *at = (const char *)base + field->offset;
    switch (field->type) {
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_WHOLE: hash_number(hash, *(const double *)at); return WADI_OK;
    case WADI_SCENE_INT:
    case WADI_SCENE_ENUM:
    case WADI_SCENE_BITS_OFF: hash_number(hash, *(const int *)at); return WADI_OK;
    case WADI_SCENE_BOOL: hash_number(hash, *(const bool *)at); return WADI_OK;
    case WADI_SCENE_VEC3: {
        const WadiVec3 *v = at;
        hash_number(hash, v->x);
        hash_number(hash, v->y);
        hash_number(hash, v->z);
        return WADI_OK;
    }
    case WADI_SCENE_CURVE1:
    case WADI_SCENE_CURVE3: hash_curve(hash, at); return WADI_OK;
    case WADI_SCENE_TEXT:
    case WADI_SCENE_NAME: hash_text(hash, *(const char *const *)at); return WADI_OK;
    case WADI_SCENE_FILE: {
        const char *path = *(const char *const *)at;
        hash_number(hash, path != NULL);
        return path != NULL ? hash_file(hash, path, error) : WADI_OK;
    }
    case WADI_SCENE_OBJECT: return hash_object(hash, field->object, at, error);
    case WADI_SCENE_SETTINGS: return hash_object(hash, field->object, *(const void *const *)at, error);
    case WADI_SCENE_LIST:
    case WADI_SCENE_MAP: return hash_entries(hash, field, base, error);
    case WADI_SCENE_SHAPE: return hash_shape(hash, at, error);
    case WADI_SCENE_SHAPE_NEW: {
        const WadiShapeDef *shape = *(const WadiShapeDef *const *)at;
        return shape != NULL ? hash_shape(hash, shape, error) : WADI_OK;
    }
    default: WADI_ASSERT(!"a type of shapes or keyframes"); return WADI_OK;
    }
}

static bool is_default(const WadiSceneField *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    WADI_ASSERT(field->type == WADI_SCENE_NUMBER || field->type == WADI_SCENE_ENUM);
    return field->type == WADI_SCENE_ENUM ? *(const int *)at == (int)field->fallback[0]
                                          : *(const double *)at == field->fallback[0];
}

/* Settings of solvers other than the scene's have no effect. */
static bool has_effect(const WadiSceneField *field, const void *base)
{
    if (field->type == WADI_SCENE_SETTINGS && !field->object->is_always_hashed) {
        return *(const void *const *)(const void *)((const char *)base + field->offset) ==
               ((const WadiScene *)base)->settings;
    }
    if ((field->flags & WADI_SCENE_HASH_IF_CHANGED) != 0 && is_default(field, base)) {
        return false;
    }
    return (field->flags & WADI_SCENE_NO_EFFECT) == 0;
}

static WadiStatus hash_object(uint64_t *hash, const WadiSceneObject *object, const void *base,
                              WadiError *error)
{
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        if (!has_effect(field, base)) {
            continue;
        }
        *hash = wadi_hash_bytes(*hash, field->key, strlen(field->key));
        if (field->presence != 0) {
            hash_number(hash, *(const bool *)((const char *)base + field->presence));
        }
        WADI_TRY(hash_field(hash, field, base, error));
    }
    return WADI_OK;
}

WadiStatus wadi_scene_hash(const WadiScene *scene, uint64_t *hash, WadiError *error)
{
    *hash = 0;
    return hash_object(hash, &wadi_scene_object, scene, error);
}
