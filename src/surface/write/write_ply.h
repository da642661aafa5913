/* Meshes as PLY files, binary little-endian. */
#ifndef WADI_SURFACE_WRITE_PLY_H
#define WADI_SURFACE_WRITE_PLY_H

#include "surface/mesh/surface_mesh.h"
#include "surface/write/mesh_file.h"

/* Vertices with x y z, nx ny nz, vx vy vz (the attribute `velocity`, m/s) and every other attribute under its
 * name (NAME_x NAME_y NAME_z with three components), all float; x y z are double where float would lose more
 * than a thousandth of a cell. Faces with the list vertex_indices. A mesh without triangles is a file with
 * two empty elements. Atomic; same bytes for any number of threads. */
WadiStatus wadi_surface_write_ply(const char *path, const WadiSurfaceMesh *surface,
                                  const WadiMeshFileInfo *info, WadiError *error);

#endif
