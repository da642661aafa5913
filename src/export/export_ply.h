/* Particles and meshes as binary little-endian PLY files, turned to the axes of an export. */
#ifndef WADI_EXPORT_PLY_H
#define WADI_EXPORT_PLY_H

#include "export/export_scene.h"

/* One vertex a particle: x y z, then float radius (half of what it fills), uint id, uchar material, float vx vy vz, and every other
 * attribute under its name (NAME_x NAME_y NAME_z with three components), float. x y z are double where float would lose more than
 * a thousandth of the spacing. Places and velocities are turned, other attributes are not. */
WadiStatus wadi_export_ply_particles(const WadiExportFrame *frame, const char *path, const WadiCloud *cloud,
                                     int material, WadiError *error);

/* Vertices with x y z, with nx ny nz where the mesh has normals, and the attributes as above; faces with the list vertex_indices.
 * `surface` may have a mesh alone. */
WadiStatus wadi_export_ply_mesh(const WadiExportFrame *frame, const char *path,
                                const WadiSurfaceMesh *surface, WadiError *error);

#endif
