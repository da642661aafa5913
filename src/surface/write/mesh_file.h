/* Header comments of mesh files, with the same wording in every format. */
#ifndef WADI_SURFACE_MESH_FILE_H
#define WADI_SURFACE_MESH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

typedef struct WadiMeshFileInfo {
    const char *material; /* name */
    int frame;
    double subframe; /* 0..1 of a frame after it */
    double time;     /* s, subframe included */
    double fps;
    double cell; /* m, of the lattice: sets the number of digits */
    bool is_y_up;
    uint64_t key; /* hash of the settings and the frame's particles: an equal key means an equal file */
} WadiMeshFileInfo;

/* One line each, prefixed by `mark` ("comment ", "# "): version, material, frame, time, fps, up, unit,
 * key. */
void wadi_mesh_file_comments(WadiText *text, const WadiMeshFileInfo *info, const char *mark);

/* True when a PLY or OBJ file with this key exists. Files are renamed when complete, so that reading the
 * header is enough. */
bool wadi_mesh_file_has_key(const char *path, uint64_t key);

#endif
