/* Private parts of the frame scene, shared by its files. */
#ifndef WADI_RENDER_FRAME_SCENE_INTERNAL_H
#define WADI_RENDER_FRAME_SCENE_INTERNAL_H

#include "render/frame_scene.h"
#include "surface/cloud/cloud.h"

/* Relative to the size of the view: distance of sheets and ground from what touches them. */
#define WADI_FRAME_CLEARANCE 5e-4
/* Pa s: thicker liquids are drawn as syrup unless they have a colour, with smooth surfaces. */
#define WADI_SYRUP_VISCOSITY 1.0
enum { WADI_FRAME_DETAIL = 400, WADI_FRAME_SHEETS_MAX = 6 };

typedef struct WadiFrameBuilder {
    WadiFrameScene *frame_scene;
    const WadiFrameSceneDef *def;
    const WadiState *frame;
    double time;
    WadiBox view; /* the domain, or the bounds of the particles */
    double size;  /* m, of the view */
} WadiFrameBuilder;

int wadi_frame_scene_add_look(WadiFrameScene *frame_scene, WadiLook look);

/* frame_scene_solids.c: colliders and glass walls. */
WadiStatus wadi_frame_scene_add_solids(WadiFrameBuilder *s, WadiError *error);

/* The look of a material in this picture. */
WadiLook wadi_frame_scene_material(const WadiFrameBuilder *s, const WadiMaterial *material);

/* frame_scene_ground.c */
WadiStatus wadi_frame_scene_set_ground(WadiFrameBuilder *s, WadiError *error);

/* The sides of the pit in a ground of sand, down to the floor of the domain. */
WadiStatus wadi_frame_scene_add_pit(WadiFrameBuilder *s, WadiBox pit, WadiLook look, WadiError *error);

/* liquid_edge.c: the particles that the surface of a liquid encloses. In the arena, not freed. */
WadiStatus wadi_frame_scene_edge(const WadiFrameBuilder *s, const WadiCloud *cloud, WadiCloud *edged,
                                 WadiError *error);

/* frame_scene_layout.c: bodies, emitters, drains, the domain and the camera as solids of their own colours.
 * The count is an upper bound of these solids and of their looks. */
size_t wadi_layout_count(const WadiScene *scene);
WadiStatus wadi_frame_scene_add_layout(WadiFrameBuilder *s, WadiError *error);

#endif
