/* Bytes of mesh files: regular files only, opened without blocking, read whole. */
#ifndef WADI_GEOM_MESH_BYTES_H
#define WADI_GEOM_MESH_BYTES_H

#include <stdbool.h>

#include "core/status.h"

#define WADI_MESH_FILE_BYTES_MAX (UINT64_C(1) << 32)

typedef struct WadiMeshBytes {
    unsigned char *data;
    size_t size;
} WadiMeshBytes;

/* The first bytes of a file, at most `limit`. A file with more than WADI_MESH_FILE_BYTES_MAX, a folder, a
 * device or a pipe is refused; so is a link when `allows_link` is false. */
WadiStatus wadi_mesh_bytes_read(WadiMeshBytes *bytes, const char *path, size_t limit, bool allows_link,
                                WadiError *error);
void wadi_mesh_bytes_free(WadiMeshBytes *bytes);

#endif
