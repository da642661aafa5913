/* Runs as USD stages: NAME.usda is opened; it names NAME.static.usdc (what never moves) and, as value clips,
 * NAME.manifest.usdc and one NAME.0001.usdc a frame, or one NAME.usdc with all frames. Times are frame
 * numbers. Prims: /wadi/geo/MATERIAL/{surface,grains,particles}, /wadi/foam, /wadi/colliders/COLLIDER,
 * /wadi/ground, /wadi/camera, /wadi/lights, /wadi/materials, /wadi/collider_materials,
 * /wadi/point_materials. */
#ifndef WADI_EXPORT_USD_EXPORT_USD_H
#define WADI_EXPORT_USD_EXPORT_USD_H

#include "export/export_scene.h"
#include "export/usd/crate.h"

/* Particles of the frame, and those of foam; each may be empty. */
typedef struct WadiUsdStates {
    const WadiState *frame, *secondary;
} WadiUsdStates;

/* Opens a layer with frames `first` to `last`; `what` is one line about it. */
void wadi_usd_open(WadiCrate *crate, const WadiExportFrame *frame, const char *path, const char *what,
                   int first, int last, WadiError *error);
/* Adds everything that may change with time, at the frame's time. */
WadiStatus wadi_usd_put_frame(WadiCrate *crate, const WadiExportFrame *frame, const WadiUsdStates *states,
                              WadiArena *arena, WadiError *error);
/* The layer of what never moves: ground and fixed colliders. */
WadiStatus wadi_usd_write_static(const WadiExportFrame *frame, const char *path, WadiArena *arena,
                                 WadiError *error);

typedef struct WadiUsdRoot {
    int first_frame, last_frame;
    bool is_one_file;
    const char *folder;  /* of the files */
    const char *sky;     /* file name of the surround */
    const char *volumes; /* folder of level sets from this one, "../vdb"; NULL: none */
} WadiUsdRoot;
/* Whether the level set of a material and frame exists; a part of the root's key. */
bool wadi_usd_has_volume(const WadiUsdRoot *root, const char *material, int frame);
/* NAME.usda. */
WadiStatus wadi_usd_write_root(const WadiExportFrame *frame, const WadiUsdRoot *root, const char *path,
                               WadiError *error);

/* The file NAME.KIND.usdc. */
void wadi_usd_file(const WadiExportFrame *frame, const char *kind, char file[WADI_EXPORT_FILE_SIZE]);

/* Names of prims: letters, digits and '_', unique among their kind. */
enum { WADI_USD_NAME_SIZE = 128 };
void wadi_usd_material_name(const WadiScene *scene, int material, char name[WADI_USD_NAME_SIZE]);
void wadi_usd_solid_name(const WadiFrameScene *frame_scene, int solid, char name[WADI_USD_NAME_SIZE]);

/* m: what is taken from all coordinates and given to /wadi as a translation. Coordinates are floats: where
 * the domain lies so far from the origin that more than three of their 24 bits would be lost, its middle. */
WadiVec3 wadi_usd_origin(const WadiExportFrame *frame);

/* The colour of a mesh without colours of its own. */
WadiRgb wadi_usd_part_colour(const WadiExportFrame *frame, const WadiFrameScenePart *part, float wetness);

/* Camera by USD's conventions: a film of 36 mm, lengths in tenths of a metre. */
typedef struct WadiUsdCamera {
    double rows[16]; /* camera to world, vectors are rows */
    double aperture[2], focal_length, focus, f_stop;
} WadiUsdCamera;
bool wadi_usd_camera(const WadiExportFrame *frame, WadiUsdCamera *camera);

#endif
