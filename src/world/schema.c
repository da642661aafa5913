#include "world/schema.h"

#include <string.h>

#include "core/alloc.h"
#include "geom/shape.h"

bool wadi_scene_field_fits(const WadiSceneField *field, int kind)
{
    return field->kinds == 0 || (field->kinds >> kind & 1u) != 0;
}

const WadiSceneField *wadi_scene_field(const WadiSceneObject *object, const char *key)
{
    for (int i = 0; i < object->field_count; ++i) {
        if (strcmp(object->fields[i].key, key) == 0) {
            return &object->fields[i];
        }
    }
    return NULL;
}

void wadi_scene_set_defaults(const WadiSceneObject *object, void *base)
{
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *f = &object->fields[i];
        void *at = (char *)base + f->offset;
        const double *v = f->fallback;
        switch (f->type) {
        case WADI_SCENE_NUMBER:
        case WADI_SCENE_WHOLE: *(double *)at = v[0]; break;
        case WADI_SCENE_INT:
        case WADI_SCENE_ENUM:
        case WADI_SCENE_BITS_OFF: *(int *)at = (int)v[0]; break;
        case WADI_SCENE_BOOL: *(bool *)at = v[0] != 0.0; break;
        case WADI_SCENE_VEC3: *(WadiVec3 *)at = wadi_vec3(v[0], v[1], v[2]); break;
        case WADI_SCENE_CURVE1: *(WadiCurve *)at = wadi_curve_constant(v[0]); break;
        case WADI_SCENE_CURVE3: *(WadiCurve *)at = wadi_curve_constant3(v[0], v[1], v[2]); break;
        case WADI_SCENE_OBJECT: wadi_scene_set_defaults(f->object, at); break;
        default: break; /* zero is the default of the others */
        }
    }
}

static void free_entries(const WadiSceneField *field, void *base)
{
    const WadiSceneObject *object = field->object;
    char *entries = *(char **)(void *)((char *)base + field->offset);
    const int count = *(const int *)(const void *)((const char *)base + field->count_offset);
    for (int i = 0; i < count; ++i) {
        char *entry = entries + (size_t)i * object->size;
        if (field->type == WADI_SCENE_MAP) {
            wadi_string_free(*(char **)(void *)(entry + object->name_offset));
        }
        wadi_scene_free_fields(object, entry);
    }
    wadi_free(entries, (size_t)count, object->size);
}

static void free_settings(const WadiSceneObject *object, void *settings)
{
    if (settings != NULL) {
        wadi_scene_free_fields(object, settings);
        wadi_free(settings, 1, object->size);
    }
}

void wadi_scene_free_fields(const WadiSceneObject *object, void *base)
{
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        void *at = (char *)base + field->offset;
        switch (field->type) {
        case WADI_SCENE_TEXT:
        case WADI_SCENE_NAME:
        case WADI_SCENE_FILE:
        case WADI_SCENE_FILES: wadi_string_free(*(char **)at); break;
        case WADI_SCENE_CURVE1:
        case WADI_SCENE_CURVE3: wadi_curve_free(at); break;
        case WADI_SCENE_OBJECT: wadi_scene_free_fields(field->object, at); break;
        case WADI_SCENE_SETTINGS: free_settings(field->object, *(void **)at); break;
        case WADI_SCENE_LIST:
        case WADI_SCENE_MAP: free_entries(field, base); break;
        case WADI_SCENE_SHAPE: wadi_shape_def_free(at); break;
        case WADI_SCENE_SHAPE_NEW: {
            WadiShapeDef *shape = *(WadiShapeDef **)at;
            if (shape != NULL) {
                wadi_shape_def_free(shape);
                WADI_DELETE(shape, 1);
            }
            break;
        }
        default: break; /* the others own nothing */
        }
    }
}
