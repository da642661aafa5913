/* Accessors of a glTF file: the positions of numbers in the buffers, checked once, so that reading them
 * needs no check. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geom/read/mesh_gltf.h"

enum { INT8 = 5120, UINT8 = 5121, INT16 = 5122, UINT16 = 5123, UINT32 = 5125, FLOAT32 = 5126 };

typedef struct View {
    const unsigned char *data;
    uint64_t size, stride; /* stride 0: packed */
    bool is_compressed;
} View;

bool wadi_gltf_whole(const WadiJson *json, uint32_t object, const char *key, uint64_t missing,
                     uint64_t *number)
{
    uint32_t value = wadi_json_get(json, object, key);
    *number = missing;
    return value == WADI_JSON_NONE || wadi_json_whole(json, value, UINT64_MAX, number);
}

static bool read_view(View *view, const WadiGltfAccessors *accessors, const WadiJson *json, uint32_t value)
{
    uint64_t buffer, offset;
    if (!wadi_gltf_whole(json, value, "buffer", UINT64_MAX, &buffer) ||
        !wadi_gltf_whole(json, value, "byteOffset", 0, &offset) ||
        !wadi_gltf_whole(json, value, "byteLength", UINT64_MAX, &view->size) ||
        !wadi_gltf_whole(json, value, "byteStride", 0, &view->stride) || buffer >= accessors->buffer_count ||
        view->stride > 252) {
        return false;
    }
    const WadiGltfBuffer *from = &accessors->buffers[buffer];
    if (offset > from->size || view->size > from->size - offset) {
        return false;
    }
    uint32_t extensions = wadi_json_get(json, value, "extensions");
    view->data = from->data + offset;
    view->is_compressed = wadi_json_get(json, extensions, "EXT_meshopt_compression") != WADI_JSON_NONE;
    return true;
}

static uint64_t component_size(uint64_t type)
{
    return type == INT8 || type == UINT8 ? 1 : type == INT16 || type == UINT16 ? 2 : 4;
}

/* One that is no part of the geometry may be anything; one that cannot be read has no data. */
static WadiGltfAccessor read_accessor(const WadiJson *json, uint32_t value, const View *views,
                                      uint32_t view_count)
{
    WadiGltfAccessor accessor = { 0 };
    char kind[8] = "";
    uint64_t view, offset, type;
    if (!wadi_gltf_whole(json, value, "bufferView", UINT64_MAX, &view) ||
        !wadi_gltf_whole(json, value, "byteOffset", 0, &offset) ||
        !wadi_gltf_whole(json, value, "count", 0, &accessor.count) ||
        !wadi_gltf_whole(json, value, "componentType", 0, &type) ||
        !wadi_json_string(json, wadi_json_get(json, value, "type"), kind, sizeof kind) ||
        wadi_json_get(json, value, "sparse") != WADI_JSON_NONE || view >= view_count ||
        views[view].is_compressed) {
        return accessor;
    }
    const View *from = &views[view];
    bool is_scalar = strcmp(kind, "SCALAR") == 0, is_triple = strcmp(kind, "VEC3") == 0;
    accessor.type = (uint32_t)type;
    accessor.is_vector = is_triple && ((type >= INT8 && type <= UINT16) || type == FLOAT32);
    accessor.is_index = is_scalar && (type == UINT8 || type == UINT16 || type == UINT32);
    accessor.is_normalized = wadi_json_is(json, wadi_json_get(json, value, "normalized"), WADI_JSON_TRUE);
    accessor.step = component_size(type);
    uint64_t size = accessor.step * (is_triple ? 3 : 1);
    accessor.stride = from->stride != 0 ? from->stride : size;
    if ((accessor.is_vector || accessor.is_index) && accessor.stride >= size && offset <= from->size &&
        (accessor.count == 0 || (size <= from->size - offset &&
                                 accessor.count - 1 <= (from->size - offset - size) / accessor.stride))) {
        accessor.data = from->data + offset;
    }
    return accessor;
}

WadiStatus wadi_gltf_accessors_read(WadiGltfAccessors *accessors, const WadiGltf *gltf, const char *path,
                                    WadiError *error)
{
    const WadiJson *json = &gltf->json;
    *accessors = (WadiGltfAccessors){ 0 };
    WADI_TRY(wadi_gltf_buffers_read(gltf, path, &accessors->buffers, &accessors->buffer_count, error));
    uint32_t view_count, count;
    uint32_t value = wadi_json_begin(json, wadi_json_get(json, 0, "bufferViews"), &view_count);
    View *views;
    WADI_TRY(WADI_NEW(&views, view_count, "glTF views", error));
    WadiStatus status = WADI_OK;
    for (uint32_t i = 0; i < view_count && status == WADI_OK; ++i, value = json->values[value].next) {
        if (!read_view(&views[i], accessors, json, value)) {
            status = wadi_fail(error, WADI_ERR_FORMAT, "%s: buffer view %u is damaged or outside its buffer",
                               gltf->name, i);
        }
    }
    value = wadi_json_begin(json, wadi_json_get(json, 0, "accessors"), &count);
    if (status == WADI_OK) {
        status = WADI_NEW(&accessors->data, count, "glTF accessors", error);
    }
    for (uint32_t i = 0; i < count && status == WADI_OK; ++i, value = json->values[value].next) {
        accessors->data[i] = read_accessor(json, value, views, view_count);
        accessors->count = i + 1;
    }
    WADI_DELETE(views, view_count);
    return status;
}

void wadi_gltf_accessors_free(WadiGltfAccessors *accessors)
{
    WADI_DELETE(accessors->data, accessors->count);
    wadi_gltf_buffers_free(accessors->buffers, accessors->buffer_count);
    *accessors = (WadiGltfAccessors){ 0 };
}

double wadi_gltf_component(const WadiGltfAccessor *accessor, const unsigned char *at)
{
    uint32_t bits = 0;
    for (uint64_t i = 0; i < accessor->step; ++i) {
        bits |= (uint32_t)at[i] << (8 * i);
    }
    float value;
    bool is_normalized = accessor->is_normalized;
    switch (accessor->type) {
    case INT8: return is_normalized ? fmax((int8_t)bits / 127.0, -1.0) : (double)(int8_t)bits;
    case UINT8: return is_normalized ? bits / 255.0 : (double)bits;
    case INT16: return is_normalized ? fmax((int16_t)bits / 32767.0, -1.0) : (double)(int16_t)bits;
    case UINT16: return is_normalized ? bits / 65535.0 : (double)bits;
    case FLOAT32: memcpy(&value, &bits, sizeof value); return (double)value;
    default: return (double)bits;
    }
}
