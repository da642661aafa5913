/* A run folder opened for reading: surfaces, pictures, exports. */
#ifndef WADI_API_RUN_VIEW_H
#define WADI_API_RUN_VIEW_H

#include "core/text.h"
#include "io/run/run_folder.h"
#include "world/scene.h"

/* Immutable once open, so that threads may share it. */
typedef struct WadiRunView {
    const char *run;        /* borrowed */
    WadiScene *scene;       /* owned: RUN/scene.yaml with the overrides */
    WadiRunSummary summary; /* owned */
    int frame_count;        /* finished frames when it was opened */
    int first, last;        /* the requested frames */
    uint64_t assets_hash;   /* of files in RUN/assets that changed since the run; 0: none */
    WadiText warning;       /* names the first of them; empty: none */
} WadiRunView;

/* The request. */
typedef struct WadiRunViewDef {
    const char *const *sets; /* overrides of the scene */
    int set_count;
    const char *const
        *keys; /* prefixes of the keys that may be set, NULL-terminated: "surface", "materials.*.look" */
    const char *example; /* for the message about another key: "surface.radius=1" */
    int first, last;     /* frames; 0: the run's first and last */
    /* Frames that are not there yet may be requested; then `last` 0 is the last that the run will have. */
    bool is_shared;
    bool is_waiting; /* with is_shared: waits for the first frame of a simulation that goes on */
    WadiStop stop;   /* ends that */
    WadiLog log;     /* gets the warning */
} WadiRunViewDef;

/* WADI_ERR_SCENE: an override is wrong; WADI_ERR_IO: no run, or no frame yet; WADI_ERR_BUSY: a frame that the
 * run will have is not there yet. After a failure there is nothing to close. */
WadiStatus wadi_run_view_open(WadiRunView *view, const char *run, const WadiRunViewDef *def,
                              WadiError *error);
void wadi_run_view_close(WadiRunView *view);

/* Reads the layout of a frame's file, and fails when it is not that frame of this run. */
WadiStatus wadi_run_view_read_layout(const WadiRunView *view, int number, WadiFrameLayout *layout,
                                     WadiError *error);
/* The same, of all of the frame. */
WadiStatus wadi_run_view_read_frame(const WadiRunView *view, int number, WadiFrameHeader *header,
                                    WadiState *frame, WadiError *error);

/* Key for WadiOutputWork, not 0: processes with the same run and settings may share a folder. */
uint64_t wadi_run_view_work_key(const WadiRunView *view, uint64_t settings);

#endif
