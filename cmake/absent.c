/* What a solver without other libraries does not have, see SolverLibrary.cmake: run folders (HDF5), meshes
 * (Embree), height maps (libpng), volumes (OpenVDB). */
#include <stdlib.h>

#include "geom/mesh/heightmap.h"
#include "geom/mesh/mesh_distance.h"
#include "io/frame/frame_file.h"
#include "surface/write/write_vdb.h"
#include "wadi/wadi.h"

static WadiStatus lacks(WadiError *error, const char *what)
{
    return wadi_fail(error, WADI_ERR_UNSUPPORTED, "this build of wadi has no %s: use wadi for Linux", what);
}

WadiStatus wadi_heightmap_read(WadiMesh *mesh, const char *path, WadiBox box, WadiError *error)
{
    (void)path;
    (void)box;
    *mesh = (WadiMesh){ 0 };
    return lacks(error, "height maps");
}

WadiStatus wadi_mesh_tree_create(WadiMeshTree **tree, const WadiMesh *mesh, WadiError *error)
{
    (void)mesh;
    *tree = NULL;
    return lacks(error, "shapes from mesh files");
}

WadiStatus wadi_mesh_tree_create_moving(WadiMeshTree **tree, const WadiMesh *mesh, const WadiMesh *end,
                                        WadiError *error)
{
    (void)end;
    return wadi_mesh_tree_create(tree, mesh, error);
}

WadiStatus wadi_run(const WadiScene *scene, const WadiRunDef *def, WadiRunReport *report, WadiError *error)
{
    (void)scene;
    (void)def;
    *report = (WadiRunReport){ 0 };
    return lacks(error, "run folders");
}

/* No checkpoints in memory: a simulation that stops is simulated again from its start. */
WadiStatus wadi_frame_bytes_write(unsigned char **bytes, size_t *size, const char *group,
                                  const WadiFrameHeader *header, const WadiState *state, WadiError *error)
{
    (void)group;
    (void)header;
    (void)state;
    *bytes = NULL;
    *size = 0;
    return lacks(error, "checkpoints");
}

WadiStatus wadi_frame_bytes_read(const void *bytes, size_t size, const char *name, const char *group,
                                 WadiFrameHeader *header, WadiState *state, WadiError *error)
{
    (void)bytes;
    (void)size;
    (void)name;
    (void)group;
    (void)header;
    (void)state;
    return lacks(error, "checkpoints");
}

WadiStatus wadi_run_reader_open(WadiRunReader **reader, const char *run, WadiError *error)
{
    (void)run;
    *reader = NULL;
    return lacks(error, "run folders");
}

WadiStatus wadi_surface_vdb_check(WadiError *error)
{
    return lacks(error, "OpenVDB");
}

WadiStatus wadi_surface_write_vdb(const char *path, const WadiField *field, const WadiMeshFileInfo *info,
                                  WadiError *error)
{
    (void)path;
    (void)field;
    (void)info;
    return lacks(error, "OpenVDB");
}

bool wadi_surface_vdb_has_key(const char *path, uint64_t key)
{
    (void)path;
    (void)key;
    return false;
}

WadiRunDef wadi_default_run_def(void)
{
    return (WadiRunDef){ 0 };
}

void wadi_mesh_tree_destroy(WadiMeshTree *tree)
{
    (void)tree; /* NULL */
}

void wadi_run_reader_close(WadiRunReader *reader)
{
    (void)reader; /* NULL */
}

/* Functions of trees and readers, of which there are none: they are never called. */
#define NEVER(function)                                                                                      \
    function                                                                                                 \
    {                                                                                                        \
        abort();                                                                                             \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"

NEVER(bool wadi_mesh_tree_nearest(const WadiMeshTree *tree, WadiVec3 x, double limit,
                                  WadiMeshNearest *nearest))
NEVER(bool wadi_mesh_tree_nearest_at(const WadiMeshTree *tree, WadiVec3 x, double s, double limit,
                                     WadiMeshNearest *nearest))
NEVER(int wadi_mesh_tree_gather(const WadiMeshTree *tree, WadiVec3 x, double radius, double search_radius,
                                uint32_t *triangles, int capacity))
NEVER(bool wadi_mesh_tree_hit(const WadiMeshTree *tree, WadiVec3 x, WadiVec3 displacement, double *fraction,
                              WadiVec3 *normal))
NEVER(double wadi_mesh_tree_error(const WadiMeshTree *tree, WadiVec3 x))
NEVER(void wadi_mesh_nearest_of(const WadiMesh *mesh, const WadiMeshCandidate *candidates, int count,
                                WadiVec3 x, double offset, WadiMeshNearest *nearest))
NEVER(double wadi_triangle_nearest(WadiVec3 a, WadiVec3 b, WadiVec3 c, WadiVec3 x, WadiVec3 *point,
                                   double weight[3]))
NEVER(const WadiScene *wadi_run_reader_scene(const WadiRunReader *reader))
NEVER(int wadi_run_reader_frames(const WadiRunReader *reader))
NEVER(WadiStatus wadi_run_reader_read(WadiRunReader *reader, int frame, WadiError *error))
NEVER(int wadi_run_reader_frame(const WadiRunReader *reader))
NEVER(double wadi_run_reader_time(const WadiRunReader *reader))
NEVER(WadiStatus wadi_run_reader_view(const WadiRunReader *reader, const char *name, WadiView *view,
                                      WadiError *error))
NEVER(const char *wadi_run_reader_view_name(const WadiRunReader *reader, int n))
NEVER(WadiStatus wadi_run_reader_collider_mesh(WadiRunReader *reader, int n, WadiMeshData *mesh,
                                               WadiError *error))
NEVER(bool wadi_run_reader_collider_moves(WadiRunReader *reader, int n))
NEVER(WadiStatus wadi_run_reader_solid(WadiRunReader *reader, const double *points, size_t count,
                                       uint8_t *is_inside, WadiError *error))
