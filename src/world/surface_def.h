/* Surface settings from the scene file: the key `surface` (scene_schema_surface.c). Lengths in spacings are
 * multiples of each particle's size. */
#ifndef WADI_WORLD_SURFACE_DEF_H
#define WADI_WORLD_SURFACE_DEF_H

#include <stdbool.h>

/* In the order of WadiSurfaceMethod in surface/field/field.h, which is in a higher layer. */
typedef enum WadiSurfaceMethodKey {
    WADI_SURFACE_KEY_ZHU_BRIDSON,
    WADI_SURFACE_KEY_ANISOTROPIC,
    WADI_SURFACE_KEY_BLOBBY,
    WADI_SURFACE_KEY_COLOR_FIELD,
    WADI_SURFACE_KEY_MLS,
} WadiSurfaceMethodKey;

typedef enum WadiSurfaceWalls {
    WADI_SURFACE_WALLS_CLOSED,
    WADI_SURFACE_WALLS_OPEN,
} WadiSurfaceWalls;

typedef enum WadiSurfaceMaterials {
    WADI_SURFACE_MATERIALS_SEPARATE,
    WADI_SURFACE_MATERIALS_JOINED,
} WadiSurfaceMaterials;

/* Of `smoothing`: as the method wants it. */
enum { WADI_SURFACE_AUTO_PASSES = -1 };

typedef struct WadiSurfaceSettings {
    WadiSurfaceMethodKey method;
    double cell_size; /* m; 0: the simulation's cell size / 2.5 */
    double reach;     /* spacings: R of ZB05 */
    double radius;    /* spacings: r of ZB05 */
    /* Spacings: inward displacement of the surface, zhu_bridson; INFINITY: such that the volume is
     * conserved. */
    double offset;
    bool fix_concave;   /* zhu_bridson */
    int smoothing;      /* passes on the field, or WADI_SURFACE_AUTO_PASSES */
    int lowering;       /* passes on the field that only add material */
    double flatten;     /* spacings: radius over which planes are averaged; 0: off; INFINITY: by the method */
    int mesh_smoothing; /* passes on the mesh */
    WadiSurfaceWalls walls;
    WadiSurfaceMaterials materials;
} WadiSurfaceSettings;

#endif
