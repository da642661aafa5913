/* Plan of a wadi_render call: frames, camera, light, settings and output files. */
#ifndef WADI_API_RENDER_PLAN_H
#define WADI_API_RENDER_PLAN_H

#include "api/run_view.h"
#include "io/files/files.h"
#include "render/false_colour.h"
#include "render/frame_scene.h"
#include "wadi/render.h"

/* Sand at the sides of the domain: in the first frame, and where it has settled to. */
typedef struct WadiRunBed {
    double height;  /* m: z of its surface */
    double wetness; /* 0..1 */
    double spacing; /* m: of the largest of its particles */
} WadiRunBed;

/* What all pictures of a run have in common and its frames decide. FOLDER/NAME.plan.json keeps it, so that
 * pictures made while a run goes on are those of the whole run. */
typedef struct WadiRenderShot {
    WadiBox box;    /* m: shown by a camera without a given position */
    bool has_glass; /* the walls that the scene leaves open are glass */
    double glass;   /* m: their height */
    bool has_bed;   /* the ground is the bed of sand that the domain cuts off */
    WadiRunBed bed;
    double low, high; /* scale of false colours; 0 without */
    double exposure;  /* stops */
} WadiRenderShot;

/* Immutable once the shot is set. */
/* Files of a picture beside the frame: foam, wet sand, fine grains. */
enum { WADI_PICTURE_FILES = 3 };

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
    WadiRenderShot shot;    /* set by wadi_render_shot_make or wadi_render_shot_set */
    uint64_t shot_hash;     /* of the settings that decide the shot: all but the quality */
    uint64_t settings_hash; /* of all settings */
} WadiRenderPlan;

/* Nothing is written, and no shot is set. Warnings go to def->log. After a failure there is nothing to
 * close. */
WadiStatus wadi_render_plan_open(WadiRenderPlan *plan, const char *run, const WadiRenderDef *def,
                                 WadiError *error);
void wadi_render_plan_close(WadiRenderPlan *plan);

/* Number of pictures, and the frame of the i-th. */
int wadi_render_plan_count(const WadiRenderPlan *plan);
int wadi_render_plan_frame(const WadiRenderPlan *plan, int i);
void wadi_render_plan_path(const WadiRenderPlan *plan, int frame, char *path, size_t size);
/* Equal keys mean equal pictures: made from the settings and the checksums of the frame's arrays. */
uint64_t wadi_render_plan_key(const WadiRenderPlan *plan, const WadiFrameLayout *frame,
                              const WadiFrameLayout others[WADI_PICTURE_FILES]);

/* Facts common to all pictures of a run, from up to 8 frames. `box` is where most of the run is: the union of
 * the boxes that hold all but half a percent of the particles on each side, enlarged a little, so that stray
 * drops do not shrink the picture, and of nearby colliders (`world` may be NULL). Empty without particles. */
typedef struct WadiRunSurvey {
    WadiBox box;
    bool has_liquid_at_walls; /* in one of the frames, a liquid is at a closed side of the domain */
    bool has_bed;
    WadiRunBed bed;
    const char *attribute, *map; /* in: false colours; NULL: none */
    WadiFalseColour colour;      /* with the range over these frames */
} WadiRunSurvey;

/* The shot of the frames that exist, but for the exposure. Of a run that goes on it has room for what will be
 * in its domain. */
WadiStatus wadi_render_shot_survey(const WadiRenderPlan *plan, WadiRenderShot *shot, WadiError *error);
/* Sets the camera, the walls, the cut and the colours of the plan. */
WadiStatus wadi_render_shot_set(WadiRenderPlan *plan, const WadiRenderShot *shot, WadiError *error);
/* FOLDER/NAME.plan.json. *is_there: it was made with the same settings. WADI_ERR_FORMAT: it is damaged. */
void wadi_render_shot_path(const WadiRenderPlan *plan, char path[WADI_PATH_SIZE]);
WadiStatus wadi_render_shot_read(const WadiRenderPlan *plan, WadiRenderShot *shot, bool *is_there,
                                 WadiError *error);
WadiStatus wadi_render_shot_write(const WadiRenderPlan *plan, WadiError *error);

/* False: there is no bed, or its surface is uneven there. */
bool wadi_run_bed(WadiRunBed *bed, const WadiScene *scene, const WadiState *frame);

WadiStatus wadi_run_survey(WadiRunSurvey *survey, const WadiRunView *view, const WadiWorld *world,
                           WadiError *error);

#endif
