/* The scene of one frame as it is drawn: grains, meshes or balls among colliders and walls. Input of the path
 * tracer and of `wadi export`. */
#ifndef WADI_RENDER_FRAME_SCENE_H
#define WADI_RENDER_FRAME_SCENE_H

#include "core/state.h"
#include "math/affine.h"
#include "render/grains.h"
#include "render/sand_surface.h"
#include "render/trace/tracer.h"
#include "surface/mesh/surface_mesh.h"
#include "world/world.h"

/* Colours for the particles instead of those of their materials (render/false_colour.h). Called for each
 * material with its cloud; particle i of the cloud is particle[i] of the frame. */
typedef struct WadiFrameSceneColours {
    WadiStatus (*fill)(void *user, const WadiCloud *cloud, const WadiState *frame, const int32_t *particle,
                       WadiTraceColour *colour, WadiError *error);
    bool (*has_values)(const void *user, const WadiState *frame); /* for its particles */
    void *user;
} WadiFrameSceneColours;

typedef struct WadiFrameSceneDef {
    const WadiScene *scene;
    const WadiWorld *world;               /* made from the scene; its colliders are drawn */
    const WadiState *secondary;           /* foam, spray, bubbles and dust of the frame; NULL: none */
    const WadiState *fine_grains;         /* of its sand; NULL or no arrays: none */
    int grains_max;                       /* upper bound per particle that flies alone; 0: as the looks say */
    double pixel;                         /* m: width of a pixel where the scene is; 0: not known */
    const WadiFrameSceneColours *colours; /* NULL: as the looks say; otherwise particles are balls */
    bool is_layout;                       /* bodies, emitters, drains, domain and camera are drawn too */
    bool has_camera_drawn;                /* of a layout: the camera too, seen from elsewhere */
    double walls_height;                  /* m: of glass walls; 0: that of the domain */
    bool has_bed;                         /* the ground is sand, but for a pit with the domain in it */
    double bed_height, bed_wetness;       /* m: z of that ground; 0..1 */
    double bed_spacing;                   /* m: of its particles */
    bool has_cut;                         /* particles in front of the plane are not drawn */
    WadiVec3 cut_point, cut_normal;       /* m; the normal points to the removed side */
} WadiFrameSceneDef;

/* One material of the frame. */
typedef struct WadiFrameScenePart {
    int material;        /* of the scene */
    WadiLookStyle style; /* never AUTO */
    int look; /* index into looks: of the grains or balls, or of the mesh when there is nothing else */
    WadiSurfaceMesh mesh;  /* owned; empty: none */
    WadiRgb *mesh_colour;  /* in the arena; TEXTURE only */
    WadiSandOwners owners; /* GRAINS: of the vertices of the mesh */
    int mesh_look;
    WadiGrains grains; /* grains or balls; in the arena; count 0: none */
    bool is_angular;   /* they are stones, not balls */
} WadiFrameScenePart;

/* A collider, or a wall drawn as glass. */
typedef struct WadiFrameSceneSolid {
    const char *name;    /* of the collider, borrowed from the scene; NULL: none */
    WadiMesh mesh;       /* owned */
    float (*texture)[3]; /* m, per vertex: position in the texture; in the arena; NULL: none */
    double inset; /* m: pictures draw it smaller by this; of faces in one plane the first one is seen */
    /* m/s, per vertex: mean while the shutter is open; in the arena; NULL: it stands still */
    float (*velocity)[3];
    /* Where a solid that keeps its form has moved at the shutter's opening and closing, from its position at
     * the frame's time; `is_rigid` false: not known. */
    bool is_rigid;
    WadiAffine opening, closing;
    int look;
    bool is_moving; /* its mesh may differ from frame to frame */
} WadiFrameSceneSolid;

/* A zeroed frame scene is valid and empty. Use one for many frames in turn: its memory is reused. */
typedef struct WadiFrameScene {
    WadiArena arena;
    WadiVec3 origin; /* m: origin of the grains' positions and of the tracer */
    WadiBox bounds;  /* m, of the particles and the bounded colliders; may be empty */
    WadiFrameScenePart *parts;
    int part_count;
    WadiFrameSceneSolid *solids;
    int solid_count;
    WadiGrains foam; /* spray, bubbles, dust and loose foam; in the arena; count 0: none */
    int foam_look;
    WadiFoamPatch *foam_patches; /* foam on the water's meshes; in the arena */
    size_t patch_count;
    WadiLook *looks;
    int look_count;
    WadiTraceGround ground;
    double air; /* m, as of WadiTraceScene */
} WadiFrameScene;

void wadi_frame_scene_free(WadiFrameScene *frame_scene);

/* `frame` is a frame's state at `time`, s. */
WadiStatus wadi_frame_scene_build(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def,
                                  const WadiState *frame, double time, WadiError *error);

/* The tracer's input; arrays of meshes and spheres lie in the frame scene's arena. The caller sets `light`
 * and the shutter. */
WadiStatus wadi_frame_scene_trace(WadiFrameScene *frame_scene, const WadiScene *scene, WadiTraceScene *trace,
                                  WadiError *error);

/* The scene's camera at `time`, or one that frames `box`. */
WadiCamera wadi_frame_scene_camera(const WadiScene *scene, WadiBox box, double time);
/* The scene's light for that camera. `map` is the environment map of light.environment, or NULL. */
WadiLightDef wadi_frame_scene_light(const WadiScene *scene, const WadiCamera *camera, const WadiHdr *map);

/* m: size of the grains that are drawn: the material's, or of gravel where the preset is gravel and they are
 * finer. */
double wadi_frame_scene_grain_size(const WadiMaterial *material);
/* Grains of the look's preset, with the look's changes. */
WadiGrainDef wadi_frame_scene_grains(const WadiLookDef *look);
/* A liquid in a scene of `size` m. */
WadiLook wadi_frame_scene_liquid(const WadiMaterial *material, double size);
/* The same as a look of the tracer, with grains of `size` m. */
WadiLook wadi_frame_scene_sand(const WadiLookDef *def, double size);

#endif
