/* Settings of the flip solver as the scene file gives them: the key `flip`. */
#ifndef WADI_FLIP_SETTINGS_H
#define WADI_FLIP_SETTINGS_H

#include "world/scene.h"
#include "world/schema.h"

typedef enum WadiFlipPressure {
    WADI_FLIP_PRESSURE_MULTIGRID,
    WADI_FLIP_PRESSURE_GAUSS_SEIDEL,
} WadiFlipPressure;

/* Materials whose pressure may not be negative. */
typedef enum WadiFlipUnilateral {
    WADI_FLIP_UNILATERAL_SAND,
    WADI_FLIP_UNILATERAL_ALL,
    WADI_FLIP_UNILATERAL_NONE,
} WadiFlipUnilateral;

typedef enum WadiFlipSurfaceChoice {
    WADI_FLIP_SURFACE_AUTO, /* ghost fluid for water, first order for sand */
    WADI_FLIP_SURFACE_FIRST_ORDER,
    WADI_FLIP_SURFACE_FACE,
    WADI_FLIP_SURFACE_GHOST_FLUID,
} WadiFlipSurfaceChoice;

typedef enum WadiFlipSolids {
    WADI_FLIP_SOLIDS_CUT_CELLS,
    WADI_FLIP_SOLIDS_VOXELS,
} WadiFlipSolids;

typedef enum WadiFlipFrictionRule {
    WADI_FLIP_FRICTION_SOLVE,
    WADI_FLIP_FRICTION_ZB05,
} WadiFlipFrictionRule;

/* A whole method as printed; the keys that it replaces are set by `resolve`. */
typedef enum WadiFlipPublished {
    WADI_FLIP_PUBLISHED_NONE,
    WADI_FLIP_PUBLISHED_ZB05,
    WADI_FLIP_PUBLISHED_A24,
} WadiFlipPublished;

typedef enum WadiFlipWallFriction {
    WADI_FLIP_WALL_FRICTION_PRESSURE,
    WADI_FLIP_WALL_FRICTION_ZB05,
} WadiFlipWallFriction;

typedef enum WadiFlipPathRule {
    WADI_FLIP_PATH_AUTO,  /* chord; rk2 with the published methods */
    WADI_FLIP_PATH_CHORD, /* straight, in a displacement that keeps volume */
    WADI_FLIP_PATH_RK2,   /* in the velocity field of the step */
    WADI_FLIP_PATH_RK3,
} WadiFlipPathRule;

typedef struct WadiFlipDef {
    WadiFlipPublished published;
    WadiFlipPressure pressure;
    double tolerance; /* of the divergence, relative */
    int sweeps;       /* of Gauss-Seidel */
    double over_relaxation;
    WadiFlipUnilateral unilateral;
    WadiFlipSurfaceChoice surface;
    WadiFlipSolids solids;
    WadiFlipFrictionRule friction;
    int friction_iterations; /* largest number a step once warm; 0: the solver's choice */
    int friction_rounds;     /* friction and pressure in turn, a step */
    WadiFlipWallFriction wall_friction;
    double density_rate;  /* 1/s; negative: by cell size */
    double density_band;  /* fraction of the density; negative: by material */
    double density_alpha; /* with Gauss-Seidel, 0..1 */
    int pair_separation;  /* iterations a step */
    WadiFlipPathRule path;
    double cfl;       /* cells a step */
    double sand_step; /* sqrt(dx/g): no step of sand is longer */
    bool sleep;
    WadiWhere where_density_alpha, where_cfl; /* empty: not given */
} WadiFlipDef;

extern const WadiSceneObject wadi_flip_settings;

/* Settings of a scene whose solver is flip. */
static inline const WadiFlipDef *wadi_flip_def(const WadiScene *scene)
{
    return scene->settings;
}

/* Pressure or friction by the rules of a paper: the other stages follow the papers too. */
bool wadi_flip_is_published(const WadiScene *scene);
/* The path of the scene, never auto. */
WadiFlipPathRule wadi_flip_path(const WadiScene *scene);

/* WadiSolverType.check, .resolve and .allowed_expansion. */
const char *wadi_flip_check_settings(const WadiScene *scene, char *text, size_t size);
void wadi_flip_resolve_settings(WadiScene *scene, void *settings);
double wadi_flip_allowed_expansion(const WadiScene *scene);

#endif
