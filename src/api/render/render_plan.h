/* Plan of a wadi_render call: frames, camera, light, settings and output files. */
#ifndef WADI_API_RENDER_PLAN_H
#define WADI_API_RENDER_PLAN_H

#include "api/run_view.h"
#include "render/false_colour.h"
#include "render/frame_scene.h"
#include "wadi/render.h"

/* Immutable once open. */
typedef struct WadiRenderPlan {
    WadiRunView view;
    const WadiRenderDef *def;      /* borrowed */
    WadiWorld *world;              /* owned */
    char folder[4096];             /* of the pictures */
    char name[512];                /* of the pictures: NAME, or NAME.ATTRIBUTE */
    char base[4096];               /* of the video and the sheet: BASE.mp4 */
    WadiHdr environment;           /* owned; empty: none */
    WadiFalseColour colour;        /* with def->attribute; then also: */
    WadiFrameSceneColours colours; /* borrowed by frame_scene */
    WadiFrameSceneDef frame_scene;
    WadiTraceQuality quality;
    WadiBox box;     /* m: shown by a camera without a given position */
    double exposure; /* stops, for all frames */
    uint64_t settings_hash;
} WadiRenderPlan;

/* Nothing is written. Warnings go to def->log. After a failure there is nothing to close. */
WadiStatus wadi_render_plan_open(WadiRenderPlan *plan, const char *run, const WadiRenderDef *def,
                                 WadiError *error);
void wadi_render_plan_close(WadiRenderPlan *plan);

/* Number of pictures, and the frame of the i-th. */
int wadi_render_plan_count(const WadiRenderPlan *plan);
int wadi_render_plan_frame(const WadiRenderPlan *plan, int i);
void wadi_render_plan_path(const WadiRenderPlan *plan, int frame, char *path, size_t size);
/* Equal keys mean equal pictures: made from the settings and the checksums of the frame's arrays. */
uint64_t wadi_render_plan_key(const WadiRenderPlan *plan, const WadiFrameLayout *frame,
                              const WadiFrameLayout *secondary, const WadiFrameLayout *wet);

/* Facts common to all pictures of a run, from up to 8 frames. `box` is where most of the run is: the union of
 * the boxes that hold all but half a percent of the particles on each side, enlarged a little, so that stray
 * drops do not shrink the picture, and of nearby colliders (`world` may be NULL). Empty without particles. */
typedef struct WadiRunSurvey {
    WadiBox box;
    bool has_liquid_at_walls;    /* in one of the frames, a liquid is at a closed side of the domain */
    const char *attribute, *map; /* in: false colours; NULL: none */
    WadiFalseColour colour;      /* with the range over these frames */
} WadiRunSurvey;

WadiStatus wadi_run_survey(WadiRunSurvey *survey, const WadiRunView *view, const WadiWorld *world,
                           WadiError *error);

#endif
