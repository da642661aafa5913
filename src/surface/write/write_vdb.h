/* The field as an OpenVDB level set, by the module of vdb_module.h where it is installed. */
#ifndef WADI_SURFACE_WRITE_VDB_H
#define WADI_SURFACE_WRITE_VDB_H

#include "surface/field/field.h"
#include "surface/write/mesh_file.h"

/* WADI_ERR_UNSUPPORTED when the module is missing; names what must be installed. */
WadiStatus wadi_surface_vdb_check(WadiError *error);
/* One grid `surface` of class level set, in metres: background 3 cells, positive outside. `info` becomes the
 * file's metadata. Atomic. */
WadiStatus wadi_surface_write_vdb(const char *path, const WadiField *field, const WadiMeshFileInfo *info,
                                  WadiError *error);
bool wadi_surface_vdb_has_key(const char *path, uint64_t key);

#endif
