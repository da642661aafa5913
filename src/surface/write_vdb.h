/* The field as an OpenVDB level set. In the build only where CMake found OpenVDB (WADI_HAS_OPENVDB). This header is C++ too, and
 * so names the nodes in its own way. */
#ifndef WADI_SURFACE_WRITE_VDB_H
#define WADI_SURFACE_WRITE_VDB_H

#include "surface/mesh_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The C++ file is compiled with everything visible (CMakeLists.txt). */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* Eight nodes along x, the first at a multiple of eight. */
typedef struct WadiVdbRow {
    int32_t node[3];
    const float *value; /* m */
} WadiVdbRow;

typedef struct WadiVdbRows {
    double cell; /* m */
    size_t count;
    const WadiVdbRow *row;
} WadiVdbRows;

/* One grid `surface` of class level set, in metres: background 3 cells, positive outside. The facts of `info` are metadata of the
 * file. Atomic. */
WadiStatus wadi_surface_write_vdb(const char *path, const WadiVdbRows *rows, const WadiMeshFileInfo *info,
                                  WadiError *error);
bool wadi_surface_vdb_has_key(const char *path, uint64_t key);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
