/* A moving mesh given as one file a frame: same triangles in every file, vertices interpolated linearly in
 * time. */
#ifndef WADI_GEOM_MESH_SEQUENCE_H
#define WADI_GEOM_MESH_SEQUENCE_H

#include "geom/mesh/mesh_distance.h"

typedef struct WadiMeshSequence WadiMeshSequence;

/* `pattern` has one field like %d or %04d for the file number (%% is a percent sign); files first..last, file
 * `first` at `first_time`, `fps` files a second. Before and after, the first and last file hold. */
WadiStatus wadi_mesh_sequence_create(WadiMeshSequence **sequence, const char *pattern, int first, int last,
                                     double first_time, double fps, WadiError *error);
void wadi_mesh_sequence_destroy(WadiMeshSequence *sequence);
/* Of the first file. */
WadiStatus wadi_mesh_sequence_topology(const WadiMeshSequence *sequence, WadiMeshTopology *topology,
                                       WadiError *error);

/* The file of one number; WADI_ERR_ARGUMENT when the pattern has not exactly one field. */
WadiStatus wadi_mesh_sequence_file(const char *pattern, int number, char *path, size_t size,
                                   WadiError *error);

bool wadi_mesh_sequence_is_moving(const WadiMeshSequence *sequence);
/* m/s: no vertex is faster during [t0, t1]. */
double wadi_mesh_sequence_speed(const WadiMeshSequence *sequence, double t0, double t1);
WadiBox wadi_mesh_sequence_bounds(const WadiMeshSequence *sequence, double time);

/* The triangles at `time`, to be freed by the caller; *facing is -1 when they face inward. */
WadiStatus wadi_mesh_sequence_at(const WadiMeshSequence *sequence, double time, WadiMesh *mesh,
                                 double *facing, WadiError *error);

void wadi_mesh_sequence_nearest(const WadiMeshSequence *sequence, WadiVec3 x, double time,
                                WadiMeshNearest *nearest);
double wadi_mesh_sequence_distance(const WadiMeshSequence *sequence, WadiVec3 x, double time);
double wadi_mesh_sequence_sample(const WadiMeshSequence *sequence, WadiVec3 x, double time,
                                 WadiMeshNearest *nearest, WadiVec3 *normal, WadiVec3 *velocity);
/* x is displaced as the surface point nearest to it. */
WadiVec3 wadi_mesh_sequence_carry(const WadiMeshSequence *sequence, WadiVec3 x, double t0, double t1);

#endif
