/* A scene as plain data: the content of the scene file, checked and with defaults. io/scene/scene_parse.c
 * fills it by walking the table of io/scene/scene_schema.c, so that each key is defined once. */
#ifndef WADI_WORLD_SCENE_H
#define WADI_WORLD_SCENE_H

#include "core/status.h"
#include "geom/shape.h"
#include "particles/seed.h"
#include "world/render_def.h"
#include "world/secondary_def.h"
#include "world/surface_def.h"

typedef enum WadiMaterialKind {
    WADI_MATERIAL_SAND,
    WADI_MATERIAL_WATER,
    WADI_MATERIAL_KIND_COUNT,
} WadiMaterialKind;

/* How particles get velocities from a grid. */
typedef enum WadiTransfer {
    WADI_TRANSFER_FLIP,
    WADI_TRANSFER_PIC,
    WADI_TRANSFER_APIC,
} WadiTransfer;

/* The slope k of the yield law sigma_bar <= k p + c from a friction angle [theory 6.1]. */
typedef enum WadiYieldRule {
    WADI_YIELD_TAN,          /* tan(angle): the friction angle is the angle of repose */
    WADI_YIELD_PLANE,        /* sin(angle): Mohr-Coulomb in plane strain without dilation */
    WADI_YIELD_ZB05,         /* sqrt(3/2) sin(angle): the sliding rule of [ZB05 eq. 2] for both tests */
    WADI_YIELD_TRIAXIAL,     /* 2 sqrt 3 sin / (3 - sin): Mohr-Coulomb matched in triaxial compression */
    WADI_YIELD_ZB05_PRINTED, /* the two different slopes of [ZB05 eq. 1, eq. 2], for `published: zb05` */
    WADI_YIELD_RULE_COUNT,
} WadiYieldRule;

/* Location in the scene file, for messages after parsing: "pile.yaml:12:5". */
typedef struct WadiWhere {
    char text[160];
} WadiWhere;

/* Pores of sand and what water in them does [theory 11.6]. S is the saturation: water over room for it. */
typedef struct WadiPoresDef {
    double porosity;           /* room for water over the bulk volume */
    double permeability;       /* m^2 */
    double capillary_pressure; /* Pa, of dry sand */
    double capillary_exponent; /* a: suction is proportional to (1 - S)^a */
    double flow_exponent;      /* b: permeability is proportional to S^b */
    double ideal_saturation;   /* S', of the largest cohesion */
    double cohesion_wet;       /* Pa, at S' */
    double mud_viscosity;      /* Pa s, at S = 1 */
    double residual_friction;  /* at S = 1, over that of dry sand */
    double stickiness;         /* 1/s^2, to solids, at S' */
    double evaporation;        /* 1/s, of a lone particle */
} WadiPoresDef;

typedef struct WadiMaterial {
    char *name;
    WadiMaterialKind kind;
    double density;           /* kg/m^3, bulk */
    WadiCurve friction_angle; /* degrees */
    WadiYieldRule yield;
    WadiCurve cohesion;         /* Mohr-Coulomb's, Pa */
    double tensile_strength;    /* Pa; negative: by the yield law (matter/yield.h) */
    double friction_angle_fast; /* degrees; 0: independent of the shear rate */
    double grain_size;          /* m */
    WadiCurve viscosity;        /* Pa s */
    WadiCurve surface_tension;  /* N/m */
    WadiTransfer transfer;
    double flip_fraction; /* FLIP fraction left after 1/100 s; negative: by kind and cell size */
    WadiPoresDef pores;
    WadiLookDef look;
    bool is_unused; /* no body or emitter uses it; set after parsing */
    WadiWhere where;
    WadiWhere where_density, where_friction_angle, where_transfer, where_pores; /* empty: not given */
} WadiMaterial;

typedef struct WadiBodyDef {
    char *material_name;
    int material; /* index, set after parsing */
    WadiShapeDef shape;
    WadiVec3 velocity;         /* m/s */
    WadiVec3 angular_velocity; /* rad/s */
    double jitter;             /* 0..1 */
    WadiSnap snap;
    double saturation; /* 0..1, of sand */
    bool is_sculpture; /* other defaults of snap and saturation, set while parsing */
    WadiWhere where, where_saturation;
} WadiBodyDef;

typedef struct WadiColliderDef {
    char *name;
    WadiShapeDef shape;
    WadiCurve friction;
    WadiCurve restitution;
    WadiSolidLookDef look;
    WadiWhere where;
} WadiColliderDef;

typedef struct WadiEmitterDef {
    char *material_name;
    int material;
    WadiShapeDef shape;
    WadiCurve velocity;   /* m/s */
    WadiCurve rate;       /* m^3/s */
    double start, end;    /* s; end INFINITY when not given */
    double max_particles; /* INFINITY when not given */
    double saturation;    /* 0..1, of sand */
    WadiWhere where, where_saturation;
} WadiEmitterDef;

typedef struct WadiDrainDef {
    WadiShapeDef shape;
    double start, end;
    WadiWhere where;
} WadiDrainDef;

typedef enum WadiForceKind {
    WADI_FORCE_UNIFORM, /* an acceleration */
    WADI_FORCE_DRAG,    /* relaxes velocities towards `velocity` with `rate` per second */
    /* Attracts to (strength > 0) or repels from `center`: constant within `radius`, falling as 1/r^2
     * outside. */
    WADI_FORCE_POINT,
} WadiForceKind;

typedef struct WadiForceDef {
    WadiForceKind kind;
    WadiCurve acceleration; /* uniform: m/s^2 */
    WadiCurve velocity;     /* drag: of the wind, m/s */
    WadiCurve rate;         /* drag: 1/s */
    WadiCurve center;       /* point: m */
    WadiCurve strength;     /* point: m/s^2 */
    double radius;          /* point: m */
    WadiShapeDef *region;   /* NULL: everywhere; owned */
    double start, end;      /* s */
    WadiWhere where;
} WadiForceDef;

typedef struct WadiSolverType WadiSolverType;
enum { WADI_SOLVER_MAX = 8 };

typedef struct WadiScene {
    int version; /* the key `wadi` */
    char *name;  /* prefix of the frame files; never empty */
    char *solver;
    const WadiSolverType *solver_type;      /* of that name; world/solver.h */
    void *solver_settings[WADI_SOLVER_MAX]; /* of every solver; defaults for those the scene does not use */
    const void *settings;                   /* of the scene's solver, in its own type; NULL: none */
    bool has_domain;
    WadiBox domain;
    int closed_sides; /* WADI_SIDE_… */
    WadiCurve wall_friction, wall_restitution;
    int resolution;         /* cells along the longest side; 0 when cell_size was given */
    double cell_size;       /* m; always set after parsing */
    int particles_per_axis; /* per cell, 1..4 */
    int frames;
    double fps;
    double seed;       /* whole number, 0 .. 2^53 */
    WadiCurve gravity; /* m/s^2 */
    double max_step;   /* s; upper bound of a step, INFINITY when not given */
    WadiSurfaceSettings surface;
    WadiSecondaryDef secondary;
    WadiRenderSettings render;
    bool has_texture;     /* particles store their position at birth as the attribute `texture` */
    bool is_visible_only; /* frames hold the particles that can be seen */
    int checkpoint_every; /* frames between milestone checkpoints; the newest two are always kept */

    WadiMaterial *materials;
    int material_count; /* at most 255 */
    WadiBodyDef *bodies;
    int body_count;
    WadiColliderDef *colliders;
    int collider_count;
    WadiEmitterDef *emitters;
    int emitter_count;
    WadiDrainDef *drains;
    int drain_count;
    WadiForceDef *forces;
    int force_count;

    char *path;   /* of the scene file as given; "<text>" when parsed from memory */
    char *folder; /* relative files are resolved in it */
    char *source; /* the document as run, after --set: written to run/scene.yaml */
    /* Of everything that changes the simulation, without `frames` and `name`: compared by --resume. */
    uint64_t content_hash;
    WadiWhere where_solver;         /* of `solver:` for "not in this build" */
    WadiWhere where_other_settings; /* of the first settings left out, those of another solver */
    WadiWhere where_gravity, where_wall_friction, where_camera; /* for warnings; empty: not given */
} WadiScene;

/* Index of a material whose output files would collide with others ("sand.particles" and "sand",
 * "collider.0"), with the names in `text`; -1 without a collision. */
int wadi_scene_name_clash(const WadiScene *scene, char *text, size_t size);

/* Time of a frame: frame n is the state at (n - 1) / fps. */
double wadi_scene_frame_time(const WadiScene *scene, int frame);
/* Whether a body or an emitter of the scene is of sand. */
bool wadi_scene_has_sand(const WadiScene *scene);

#endif
