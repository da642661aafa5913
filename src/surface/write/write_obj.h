/* Meshes as OBJ files: v, vn and f. The format has no place for attributes; PLY carries them. */
#ifndef WADI_SURFACE_WRITE_OBJ_H
#define WADI_SURFACE_WRITE_OBJ_H

#include "surface/mesh/surface_mesh.h"
#include "surface/write/mesh_file.h"

/* Coordinates have as many decimals as a ten thousandth of a cell needs, normals five. Atomic; same bytes for any number of
 * threads. */
WadiStatus wadi_surface_write_obj(const char *path, const WadiSurfaceMesh *surface,
                                  const WadiMeshFileInfo *info, WadiError *error);

#endif
