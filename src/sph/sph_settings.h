/* Settings of the sph solver as the scene file gives them: the key `sph`. */
#ifndef WADI_SPH_SETTINGS_H
#define WADI_SPH_SETTINGS_H

#include "world/scene.h"
#include "world/schema.h"

typedef enum WadiSphPressure {
    WADI_SPH_PRESSURE_SOLVE,
    WADI_SPH_PRESSURE_TAIT,
} WadiSphPressure;

/* A whole method as printed; the keys that it replaces are set by `resolve`. */
typedef enum WadiSphPublished {
    WADI_SPH_PUBLISHED_NONE,
    WADI_SPH_PUBLISHED_LD09,
    WADI_SPH_PUBLISHED_T10,
} WadiSphPublished;

/* Particle sizes that follow the body. */
typedef struct WadiSphAdaptDef {
    double largest;      /* size over the finest, that of the scene's spacing */
    double split, merge; /* alpha and beta of the extended local feature size */
    int interval;        /* steps between resampling passes */
    int wait;            /* passes in a row that request an event */
    /* Distances in spacings within which particles are the finest; negative: the rule is off. */
    double surface, interface, colliders;
    double point; /* the same of `at`, m */
    WadiVec3 at;
    double camera; /* the same of the scene's camera, m */
} WadiSphAdaptDef;

typedef struct WadiSphDef {
    int published;           /* WadiSphPublished */
    double cluster_range;    /* spacings: h' of [LD09] */
    int pressure;            /* WadiSphPressure */
    double tolerance;        /* of the pressure: mean residual over g dt */
    int pressure_iterations; /* largest number a solve */
    int friction_iterations; /* the same of friction */
    int friction_rounds;     /* of friction and pressure a step */
    bool sleep;              /* sand at rest is left out */
    double cfl;              /* spacings a step */
    double step;             /* sqrt(dx/g): no step is longer */
    double density_rate;     /* part of the excess density that a step removes */
    double density_speed;    /* sqrt(g dx): no faster than this */
    double damping;          /* dx sqrt(g dx): a viscosity of everything that is no material's own */
    bool is_adaptive;
    WadiSphAdaptDef adapt; /* where it is */
} WadiSphDef;

extern const WadiSceneObject wadi_sph_settings;

/* WadiSolverType.check and .resolve. */
const char *wadi_sph_check_settings(const WadiScene *scene, char *text, size_t size);
void wadi_sph_resolve_settings(WadiScene *scene, void *settings);

/* Settings of a scene whose solver is sph. */
static inline const WadiSphDef *wadi_sph_def(const WadiScene *scene)
{
    return scene->settings;
}

#endif
