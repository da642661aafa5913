/* Settings of the dem solver as the scene file gives them: the key `dem`. */
#ifndef WADI_DEM_SETTINGS_H
#define WADI_DEM_SETTINGS_H

#include "core/log.h"
#include "dem/bodies/dem_shapes.h"
#include "dem/contact/dem_law.h"
#include "world/scene.h"
#include "world/schema.h"

typedef enum WadiDemMode {
    WADI_DEM_FULL,         /* every grain that is awake is in contact with its neighbours */
    WADI_DEM_SURFACE_FLOW, /* grains above a height field [ZY10] */
    WADI_DEM_HEIGHT_FIELD, /* a height field alone */
} WadiDemMode;

typedef enum WadiDemSurfaces {
    WADI_DEM_SMOOTH,  /* grains meet colliders by their distance */
    WADI_DEM_COVERED, /* with spheres [ZY10] */
} WadiDemSurfaces;

typedef enum WadiDemPublished {
    WADI_DEM_PUBLISHED_NONE,
    WADI_DEM_ZY10, /* the method of ZY10 as printed: dem/published/ */
} WadiDemPublished;

typedef struct WadiDemDef {
    int mode;                /* WadiDemMode */
    int published;           /* WadiDemPublished */
    int law;                 /* WadiDemLaw */
    int shape;               /* WadiDemShape */
    double young;            /* Pa; negative: from `overlap` */
    double overlap;          /* diameters: largest overlap of grains at rest */
    double restitution;      /* 0..1 */
    double friction;         /* between grains; negative: by the material's friction angle */
    double rolling_friction; /* negative: by the material's friction angle */
    double grain_size;       /* m, mean diameter of a sphere with the volume of a grain; negative: spacing */
    double size_spread;      /* half the range of diameters over their mean */
    double contact_steps;    /* steps during the shortest contact */
    int surfaces;            /* WadiDemSurfaces */
    bool sleep;              /* grains at rest are left out */
    double column_width;     /* diameters: of a height field */
    double flow_depth;       /* diameters: sand nearer to the surface rests only where it is quiescent */
} WadiDemDef;

extern const WadiSceneObject wadi_dem_settings;

/* Settings of a scene whose solver is dem. */
static inline const WadiDemDef *wadi_dem_def(const WadiScene *scene)
{
    return scene->settings;
}

/* The normal force, and diameters below the surface that stay awake: those of the keys, or as published. */
WadiDemLaw wadi_dem_law(const WadiScene *scene);
double wadi_dem_flow_depth(const WadiScene *scene);

/* WadiSolverType.check. */
const char *wadi_dem_check_settings(const WadiScene *scene, char *text, size_t size);
/* WadiSolverType.warn. */
void wadi_dem_warn(const WadiScene *scene, const WadiLog *log);
/* Mean diameter of the grains of a scene, m: of a sphere with their volume. */
double wadi_dem_grain_size(const WadiScene *scene);
/* Spheres of a grain. */
int wadi_dem_spheres_each(const WadiScene *scene);

#endif
