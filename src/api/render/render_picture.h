/* One picture of a run, from its frame file to the PNG file. */
#ifndef WADI_API_RENDER_PICTURE_H
#define WADI_API_RENDER_PICTURE_H

#include "api/render/render_plan.h"
#include "io/run/output_index.h"
#include "secondary/wet_sand.h"

/* State reused from picture to picture. A zeroed maker is valid. */
typedef struct WadiPictureMaker {
    WadiState frame, secondary, grains; /* of the last frame that was read */
    WadiState wet_file;
    WadiWetSand wet;
    WadiArena arena; /* for `wet` */
    WadiFrameScene frame_scene;
    WadiFilm film;
    WadiImage image;
    bool has_warned; /* about the camera */
    int warning_count;
    double stage_seconds, tree_seconds, trace_seconds; /* of the last picture */
    int64_t grain_count, triangles;
    const WadiOutputIndex *outputs; /* of the pictures' folder; borrowed */
} WadiPictureMaker;

void wadi_picture_maker_free(WadiPictureMaker *maker);

/* Sets the plan's shot from the frames that exist: the survey, and the exposure of a small picture of the
 * middle one. The same for all ranges of frames and all processes. */
WadiStatus wadi_picture_survey(WadiPictureMaker *maker, WadiRenderPlan *plan, WadiError *error);
/* The second part of it: sets plan->shot.exposure. */
WadiStatus wadi_picture_meter(WadiPictureMaker *maker, WadiRenderPlan *plan, WadiError *error);

/* The key of what is drawn of a frame, from the layouts of its files: particles, foam, wet sand and fine
 * grains. */
WadiStatus wadi_picture_key(const WadiRenderPlan *plan, const WadiFrameLayout *frame, uint64_t *key,
                            WadiError *error);
/* Reads a frame, its foam and its fine grains. Sand beside water, in frames without wetness, gets the wetness
 * that `wadi secondary` found, or else is wet where water touches it now. */
WadiStatus wadi_picture_read(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame,
                             WadiFrameHeader *header, WadiError *error);

/* *is_kept: the file existed, made from the same frame with the same settings. */
WadiStatus wadi_picture_make(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame, bool *is_kept,
                             WadiError *error);

/* Photons of a picture of that size: a small one shows no finer lines of light than its pixels. */
int wadi_picture_photons(const WadiTraceQuality *quality, int width, int height);

#endif
