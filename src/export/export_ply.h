/* Particles and meshes as binary little-endian PLY files, in the axes of an export. */
#ifndef WADI_EXPORT_PLY_H
#define WADI_EXPORT_PLY_H

#include "export/export_scene.h"

/* One vertex per particle: x y z, then float radius (half its spacing), uint id, uchar material, float vx vy
 * vz, and every other attribute under its name (NAME_x NAME_y NAME_z with three components), float. x y z are
 * double where float would lose more than a thousandth of the spacing. Positions and velocities are in the
 * axes of the export, other attributes are unchanged. */
WadiStatus wadi_export_ply_particles(const WadiExportFrame *frame, const char *path, const WadiCloud *cloud,
                                     int material, WadiError *error);

/* Vertices with x y z, nx ny nz if the mesh has normals, and the attributes as above; faces with the list
 * vertex_indices. `surface` may be a mesh without normals and attributes. */
WadiStatus wadi_export_ply_mesh(const WadiExportFrame *frame, const char *path,
                                const WadiSurfaceMesh *surface, WadiError *error);

/* The same of a solid: once for all frames when it stands still. */
WadiStatus wadi_export_ply_solid(const WadiExportFrame *frame, const char *path,
                                 const WadiFrameSceneSolid *solid, const WadiSurfaceMesh *surface,
                                 WadiError *error);

#endif
