/* Meshes as OBJ files: v, vn and f. The format has no attributes; PLY has. */
#ifndef WADI_SURFACE_WRITE_OBJ_H
#define WADI_SURFACE_WRITE_OBJ_H

#include "surface/mesh/surface_mesh.h"
#include "surface/write/mesh_file.h"

/* Coordinates are rounded to a ten thousandth of a cell or finer, normals to five decimals. Atomic; same
 * bytes for any number of threads. */
WadiStatus wadi_surface_write_obj(const char *path, const WadiSurfaceMesh *surface,
                                  const WadiMeshFileInfo *info, WadiError *error);

#endif
