/* What a picture shows of one frame: particles become grains, meshes or balls, colliders and walls stand where they are then.
 * The tracer draws it; wadi export writes it for other programs. */
#ifndef WADI_RENDER_STAGE_H
#define WADI_RENDER_STAGE_H

#include "core/state.h"
#include "render/grains.h"
#include "render/trace/tracer.h"
#include "surface/mesh/surface_mesh.h"
#include "world/world.h"

/* Colours for the particles of a frame in place of those of their materials: render/false_colour.h. Called for each material
 * with its cloud; particle i of the cloud is particle[i] of the frame. */
typedef struct WadiStageColours {
    WadiStatus (*fill)(void *user, const WadiCloud *cloud, const WadiState *frame, const int32_t *particle,
                       WadiTraceColour *colour, WadiError *error);
    void *user;
} WadiStageColours;

typedef struct WadiStageDef {
    const WadiScene *scene;
    const WadiWorld *world;          /* of the scene: its colliders are drawn */
    int grains_max;                  /* at most so many a particle; 0: as the looks say */
    bool has_underlay;               /* sand drawn as grains is closed underneath by its mesh */
    const WadiStageColours *colours; /* NULL: as the looks say; otherwise particles are balls */
    bool has_cut;                    /* what lies in front of the plane is not drawn */
    WadiVec3 cut_point, cut_normal;  /* m; towards what is left out */
} WadiStageDef;

/* One material of the frame as it is drawn. */
typedef struct WadiStagePart {
    int material;         /* of the scene */
    WadiLookStyle style;  /* never AUTO */
    int look;             /* index into looks: of the grains, balls, or of the mesh when it is all there is */
    WadiSurfaceMesh mesh; /* owned; empty: none */
    WadiRgb *mesh_colour; /* in the arena; TEXTURE only */
    int mesh_look;
    WadiGrains grains; /* grains or balls; in the arena; count 0: none */
} WadiStagePart;

/* A collider, or a wall as glass. */
typedef struct WadiStageSolid {
    const char *name; /* of the collider, borrowed from the scene; NULL: none */
    WadiMesh mesh;    /* owned */
    int look;
} WadiStageSolid;

/* Everything about one frame. A zeroed stage is valid and empty; it is meant to be used for one frame after the other, so that
 * its memory is reused. */
typedef struct WadiStage {
    WadiArena arena;
    WadiVec3 origin; /* m: what grains and the tracer count from */
    WadiBox
        bounds; /* m, of the particles and, unless unbounded, the colliders; empty when there is nothing */
    WadiStagePart *parts;
    int part_count;
    WadiStageSolid *solids;
    int solid_count;
    WadiLook *looks;
    int look_count;
    WadiTraceGround ground;
} WadiStage;

void wadi_stage_free(WadiStage *stage);

/* `frame` is a frame's state at `time`, s. */
WadiStatus wadi_stage_build(WadiStage *stage, const WadiStageDef *def, const WadiState *frame, double time,
                            WadiError *error);

/* The stage as the tracer wants it; arrays of meshes and spheres in the stage's arena. `light` and the shutter are the
 * caller's to fill in. */
WadiStatus wadi_stage_trace(WadiStage *stage, const WadiScene *scene, WadiTraceScene *trace,
                            WadiError *error);

/* Where the picture is taken from at `time`: the scene's camera, or one that shows `box`. */
WadiCamera wadi_stage_camera(const WadiScene *scene, WadiBox box, double time);
/* The scene's light for that camera. `map` is what light.environment names, NULL when it names none. */
WadiLightDef wadi_stage_light(const WadiScene *scene, const WadiCamera *camera, const WadiHdr *map);

/* Grains of a preset with what the look changes of it. */
WadiGrainDef wadi_stage_grains(const WadiLookDef *look);

#endif
