#include "geom/read/mesh_gltf.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/text.h"
#include "geom/mesh/mesh.h"

enum { NAME_SIZE = 256, PATH_SIZE = 4096 };

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

bool wadi_gltf_is_glb(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "glTF", 4) == 0;
}

/* GLB: 12 bytes of header, then chunks of (length, type, bytes); the first is JSON, the second the buffer. */
static WadiStatus open_glb(WadiGltf *gltf, const unsigned char *bytes, size_t size, WadiError *error)
{
    enum { CHUNK_JSON = 0x4E4F534A, CHUNK_BINARY = 0x004E4942 };
    const unsigned char *json = NULL;
    size_t json_size = 0;
    if (size < 20 || word_at(bytes + 4) != 2) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", gltf->name,
                         size < 20 ? "the file ends in its header" : "only version 2 of GLB is read");
    }
    for (size_t at = 12; size - at >= 8;) {
        size_t length = word_at(bytes + at);
        uint32_t type = word_at(bytes + at + 4);
        if (length > size - at - 8) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: a chunk has %zu bytes, but %zu follow: cut off?",
                             gltf->name, length, size - at - 8);
        }
        if (json == NULL && type == CHUNK_JSON) {
            json = bytes + at + 8;
            json_size = length;
        } else if (gltf->chunk == NULL && type == CHUNK_BINARY) {
            gltf->chunk = bytes + at + 8;
            gltf->chunk_size = length;
        }
        at += 8 + length;
    }
    return json == NULL ? wadi_fail(error, WADI_ERR_FORMAT, "%s: no JSON chunk in it", gltf->name)
                        : wadi_json_parse(&gltf->json, (const char *)json, json_size, gltf->name, error);
}

WadiStatus wadi_gltf_open(WadiGltf *gltf, const void *bytes, size_t size, const char *name, WadiError *error)
{
    *gltf = (WadiGltf){ .name = name };
    if (wadi_gltf_is_glb(bytes, size)) {
        WADI_TRY(open_glb(gltf, bytes, size, error));
    } else {
        WADI_TRY(wadi_json_parse(&gltf->json, bytes, size, name, error));
    }
    char version[16] = "none";
    uint32_t asset = wadi_json_get(&gltf->json, 0, "asset");
    if (!wadi_json_string(&gltf->json, wadi_json_get(&gltf->json, asset, "version"), version,
                          sizeof version) ||
        strncmp(version, "2.", 2) != 0) {
        wadi_gltf_close(gltf);
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: only version 2 of glTF is read, not \"%s\"", name,
                         version);
    }
    return WADI_OK;
}

void wadi_gltf_close(WadiGltf *gltf)
{
    wadi_json_free(&gltf->json);
    *gltf = (WadiGltf){ 0 };
}

static bool is_data(const WadiJsonValue *uri)
{
    return uri->end - uri->begin >= 5 && memcmp(uri->begin, "data:", 5) == 0;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c | 32 : c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* "my%20mesh.bin" becomes "my mesh.bin". false when the result is no plain file name. */
static bool decode_name(const char *uri, char *name)
{
    size_t length = 0;
    for (const char *c = uri; *c != '\0'; ++c) {
        char byte = *c;
        if (byte == '%') {
            int high = hex_digit(c[1]), low = high >= 0 ? hex_digit(c[2]) : -1;
            if (low < 0) {
                return false;
            }
            byte = (char)(16 * high + low);
            c += 2;
        }
        if (byte == '\0' || byte == '/' || byte == '\\') {
            return false;
        }
        name[length++] = byte;
    }
    name[length] = '\0';
    return length > 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static WadiStatus buffer_path(const WadiGltf *gltf, uint32_t uri, const char *mesh_path, char *path,
                              WadiError *error)
{
    char text[NAME_SIZE], name[NAME_SIZE];
    if (!wadi_json_string(&gltf->json, uri, text, sizeof text) || !decode_name(text, name)) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "%s: a buffer is not in a file beside the mesh; put it there, or export as GLB "
                         "(one file)",
                         gltf->name);
    }
    if (mesh_path == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: its buffer \"%.100s\" is a file of its own", gltf->name,
                         name);
    }
    const char *slash = strrchr(mesh_path, '/');
    int folder = slash != NULL ? (int)(slash - mesh_path + 1) : 0;
    return snprintf(path, PATH_SIZE, "%.*s%s", folder, mesh_path, name) < PATH_SIZE
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT, "%s: the path is too long", mesh_path);
}

static WadiStatus buffer_array(const WadiGltf *gltf, uint32_t *buffers, uint32_t *count, WadiError *error)
{
    *buffers = wadi_json_get(&gltf->json, 0, "buffers");
    *count = wadi_json_is(&gltf->json, *buffers, WADI_JSON_ARRAY) ? gltf->json.values[*buffers].count : 0;
    return *count <= WADI_GLTF_BUFFERS_MAX
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_FORMAT, "%s: more than %d buffers; export as GLB (one file)",
                           gltf->name, WADI_GLTF_BUFFERS_MAX);
}

static WadiStatus decode_base64(const WadiGltf *gltf, const WadiJsonValue *uri, WadiGltfBuffer *buffer,
                                WadiError *error)
{
    static const char mark[] = ";base64,";
    const size_t length = strlen(mark);
    const char *at = uri->begin, *last = uri->end - at < 128 ? uri->end : at + 128;
    while (last - at >= (ptrdiff_t)length && memcmp(at, mark, length) != 0) {
        at += 1;
    }
    if (last - at < (ptrdiff_t)length) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: a buffer in the file is not base64 text", gltf->name);
    }
    at += length;
    const size_t capacity = (size_t)(uri->end - at) + 1;
    WADI_TRY(wadi_alloc_unset((void **)&buffer->owned.data, capacity, 1, "glTF buffer", error));
    buffer->owned.size = capacity;
    size_t digits = 0, used = 0;
    for (; at < uri->end; ++at) {
        at += *at == '\\' && uri->end - at > 1 && at[1] == '/'; /* JSON's other way to write a slash */
        buffer->owned.data[digits++] = (unsigned char)*at;
    }
    /* In place: three bytes replace four digits. */
    if (!wadi_text_read_base64((const char *)buffer->owned.data, digits, buffer->owned.data, &used)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: a buffer in the file is damaged base64 text",
                         gltf->name);
    }
    buffer->data = buffer->owned.data;
    buffer->size = used;
    return WADI_OK;
}

/* A file that several buffers name is read once. */
static WadiStatus read_buffer_file(const WadiGltf *gltf, uint32_t uri, const char *mesh_path,
                                   WadiGltfBuffer *buffers, size_t index, WadiError *error)
{
    char path[PATH_SIZE];
    WadiGltfBuffer *buffer = &buffers[index];
    WADI_TRY(buffer_path(gltf, uri, mesh_path, path, error));
    for (size_t i = 0; i < index; ++i) {
        if (buffers[i].path != NULL && strcmp(buffers[i].path, path) == 0) {
            buffer->data = buffers[i].data;
            buffer->size = buffers[i].size;
            return WADI_OK;
        }
    }
    WADI_TRY(wadi_string_copy(&buffer->path, path, strlen(path), error));
    WADI_TRY(wadi_mesh_bytes_read(&buffer->owned, path, SIZE_MAX, false, error));
    buffer->data = buffer->owned.data;
    buffer->size = buffer->owned.size;
    return WADI_OK;
}

static WadiStatus read_buffer(const WadiGltf *gltf, uint32_t value, const char *mesh_path,
                              WadiGltfBuffer *buffers, size_t index, WadiError *error)
{
    WadiGltfBuffer *buffer = &buffers[index];
    uint32_t uri = wadi_json_get(&gltf->json, value, "uri");
    if (uri == WADI_JSON_NONE && index == 0 && gltf->chunk != NULL) {
        buffer->data = gltf->chunk;
        buffer->size = gltf->chunk_size;
    } else if (wadi_json_is(&gltf->json, uri, WADI_JSON_STRING) && is_data(&gltf->json.values[uri])) {
        WADI_TRY(decode_base64(gltf, &gltf->json.values[uri], buffer, error));
    } else {
        WADI_TRY(read_buffer_file(gltf, uri, mesh_path, buffers, index, error));
    }
    uint64_t length;
    if (!wadi_json_whole(&gltf->json, wadi_json_get(&gltf->json, value, "byteLength"), UINT64_MAX, &length) ||
        length > buffer->size) {
        return wadi_fail(
            error, WADI_ERR_FORMAT, "%s: buffer %zu has %zu bytes, fewer than its byteLength%s%s", gltf->name,
            index, buffer->size, buffer->path != NULL ? ": " : "", buffer->path != NULL ? buffer->path : "");
    }
    buffer->size = (size_t)length;
    return WADI_OK;
}

WadiStatus wadi_gltf_buffers_read(const WadiGltf *gltf, const char *path, WadiGltfBuffer **buffers,
                                  size_t *count, WadiError *error)
{
    uint32_t array, wanted;
    *buffers = NULL;
    *count = 0;
    WADI_TRY(buffer_array(gltf, &array, &wanted, error));
    WADI_TRY(WADI_NEW(buffers, wanted, "glTF buffers", error));
    *count = wanted;
    uint32_t value = array + 1;
    for (uint32_t i = 0; i < wanted; ++i) {
        WadiStatus status = read_buffer(gltf, value, path, *buffers, i, error);
        if (status != WADI_OK) {
            wadi_gltf_buffers_free(*buffers, *count);
            *buffers = NULL;
            *count = 0;
            return status;
        }
        value = gltf->json.values[value].next;
    }
    return WADI_OK;
}

void wadi_gltf_buffers_free(WadiGltfBuffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        wadi_mesh_bytes_free(&buffers[i].owned);
        wadi_string_free(buffers[i].path);
    }
    WADI_DELETE(buffers, count);
}

static WadiStatus add_path(WadiMeshFiles *files, const char *path, WadiError *error)
{
    for (size_t i = 0; i < files->count; ++i) {
        if (strcmp(files->paths[i], path) == 0) {
            return WADI_OK;
        }
    }
    WADI_TRY(WADI_RESIZE(&files->paths, files->count, files->count + 1, "paths", error));
    ++files->count;
    return wadi_string_copy(&files->paths[files->count - 1], path, strlen(path), error);
}

static WadiStatus add_buffers(WadiMeshFiles *files, const char *path, WadiError *error)
{
    WadiMeshBytes bytes;
    WadiGltf gltf;
    WADI_TRY(wadi_mesh_bytes_read(&bytes, path, SIZE_MAX, true, error));
    WadiStatus status = wadi_gltf_open(&gltf, bytes.data, bytes.size, path, error);
    uint32_t array = 0, count = 0;
    if (status == WADI_OK) {
        status = buffer_array(&gltf, &array, &count, error);
    }
    uint32_t value = array + 1;
    for (uint32_t i = 0; i < count && status == WADI_OK; ++i) {
        uint32_t uri = wadi_json_get(&gltf.json, value, "uri");
        if (wadi_json_is(&gltf.json, uri, WADI_JSON_STRING) && !is_data(&gltf.json.values[uri])) {
            char file[PATH_SIZE];
            status = buffer_path(&gltf, uri, path, file, error);
            status = status == WADI_OK ? add_path(files, file, error) : status;
        }
        value = gltf.json.values[value].next;
    }
    wadi_gltf_close(&gltf);
    wadi_mesh_bytes_free(&bytes);
    return status;
}

WadiStatus wadi_mesh_files(WadiMeshFiles *files, const char *path, WadiError *error)
{
    *files = (WadiMeshFiles){ 0 };
    WadiMeshBytes begin;
    WADI_TRY(wadi_mesh_bytes_read(&begin, path, 4, true, error));
    const char *dot = strrchr(path, '.');
    bool is_gltf = wadi_gltf_is_glb(begin.data, begin.size) ||
                   (dot != NULL && (strcasecmp(dot, ".gltf") == 0 || strcasecmp(dot, ".glb") == 0));
    wadi_mesh_bytes_free(&begin);
    WadiStatus status = add_path(files, path, error);
    if (status == WADI_OK && is_gltf) {
        status = add_buffers(files, path, error);
    }
    if (status != WADI_OK) {
        wadi_mesh_files_free(files);
    }
    return status;
}

void wadi_mesh_files_free(WadiMeshFiles *files)
{
    for (size_t i = 0; i < files->count; ++i) {
        wadi_string_free(files->paths[i]);
    }
    WADI_DELETE(files->paths, files->count);
    *files = (WadiMeshFiles){ 0 };
}
