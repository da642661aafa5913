/* Checks of mesh files before they go to assimp, for what it does not survive. */
#ifndef WADI_GEOM_MESH_HEADER_H
#define WADI_GEOM_MESH_HEADER_H

#include <stddef.h>

/* NULL, or what is wrong with a PLY file: assimp 5.2 loops for ever on some damaged headers. `begin` holds the first
 * `size` bytes of a file of `file_size` bytes; the header must lie in them. */
const char *wadi_mesh_ply_problem(const char *begin, size_t size, size_t file_size);

enum { WADI_MESH_HEADER_SIZE = 65536 };

#endif
