/* The container of a glTF mesh: JSON, alone or as the first chunk of a GLB file, and the buffers it names. A
 * buffer is a chunk of the GLB file, base64 text or a regular file in the folder of the mesh; no other file
 * is ever opened. */
#ifndef WADI_GEOM_MESH_GLTF_H
#define WADI_GEOM_MESH_GLTF_H

#include "geom/read/json.h"
#include "geom/read/mesh_bytes.h"

enum { WADI_GLTF_BUFFERS_MAX = 1024 };

typedef struct WadiGltf {
    const char *name; /* for messages */
    WadiJson json;
    const unsigned char *chunk; /* binary chunk of a GLB file; NULL: none */
    size_t chunk_size;
} WadiGltf;

typedef struct WadiGltfBuffer {
    const unsigned char *data;
    size_t size;
    WadiMeshBytes owned; /* to be released: decoded text or the bytes of a file */
    char *path;          /* of that file; NULL: none */
} WadiGltfBuffer;

/* `bytes` must outlive it. */
WadiStatus wadi_gltf_open(WadiGltf *gltf, const void *bytes, size_t size, const char *name, WadiError *error);
void wadi_gltf_close(WadiGltf *gltf);
bool wadi_gltf_is_glb(const void *bytes, size_t size);

/* All buffers; `path` is the mesh file's, NULL: files are refused. Release count of them with
 * _buffers_free. */
WadiStatus wadi_gltf_buffers_read(const WadiGltf *gltf, const char *path, WadiGltfBuffer **buffers,
                                  size_t *count, WadiError *error);
void wadi_gltf_buffers_free(WadiGltfBuffer *buffers, size_t count);

/* A number of the object, `missing` if there is no such key. false when it is damaged. */
bool wadi_gltf_whole(const WadiJson *json, uint32_t object, const char *key, uint64_t missing,
                     uint64_t *number);

/* Numbers in a buffer: element i begins at data + i * stride and is one component or three. */
typedef struct WadiGltfAccessor {
    /* NULL: damaged, sparse, compressed, or neither scalars nor vectors of three. */
    const unsigned char *data;
    uint64_t count, stride;
    uint64_t step; /* bytes of a component */
    uint32_t type; /* of a component, as glTF numbers them */
    bool is_vector, is_index, is_normalized;
} WadiGltfAccessor;

/* Those of a file with the buffers they lie in. A zeroed one is valid and empty. */
typedef struct WadiGltfAccessors {
    WadiGltfAccessor *data;
    size_t count;
    WadiGltfBuffer *buffers;
    size_t buffer_count;
} WadiGltfAccessors;

/* On failure, too, release with _free. */
WadiStatus wadi_gltf_accessors_read(WadiGltfAccessors *accessors, const WadiGltf *gltf, const char *path,
                                    WadiError *error);
void wadi_gltf_accessors_free(WadiGltfAccessors *accessors);
double wadi_gltf_component(const WadiGltfAccessor *accessor, const unsigned char *at);

#endif
