/* Pictures and videos of a run by path tracing, on any machine, without a graphics card or a display. */
#ifndef WADI_RENDER_H
#define WADI_RENDER_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiQuality {
    WADI_QUALITY_DRAFT,   /* a few seconds per picture: to check the result */
    WADI_QUALITY_PREVIEW, /* longer: good enough to show */
    WADI_QUALITY_FINAL,   /* minutes per picture */
} WadiQuality;

typedef struct WadiRenderDef {
    int cookie;                  /* set by wadi_default_render_def */
    int first_frame, last_frame; /* 0: the run's first and last */
    int every;                   /* only every n-th of them; 1 */
    const char *const
        *sets; /* "render.width=1280", "materials.sand.look.preset=desert", override RUN/scene.yaml */
    int set_count;
    WadiQuality quality;
    int samples; /* paths per pixel; 0: the quality's */

    const char *attribute; /* false colours of it: "speed", "pressure" …; NULL: natural colours */
    double low, high;      /* range of its scale; NAN: that of the run */
    const char *map;       /* "viridis", …; NULL: the default of the attribute */
    bool has_cut;          /* everything in front of a plane is removed */
    double cut_point[3];   /* m */
    double cut_normal[3];  /* points to the removed side; any length but 0 */
    bool is_cut_faced;     /* choose the normal's sign: remove the side of the camera's first position */

    const char *folder; /* of the pictures; NULL: RUN/images */
    /* NAME.mp4 when there is more than one picture: in the run, or in `folder`; for a part of the run's
     * frames NAME.0010-0020.mp4. */
    bool has_video;
    bool has_gif; /* NAME.gif, likewise */
    int sheet;    /* pictures on a contact sheet NAME.sheet.png, likewise; 0: none, at most 100 */

    bool is_forced; /* make pictures again that exist with the same frame and settings */
    int threads;    /* 0: all cores. The pictures do not depend on it */

    /* Experimental. Any number of processes, on any machines that see the folder, draw each frame once; the
     * last one makes the video and the sheet. Camera, exposure and scale are kept in FOLDER/NAME.plan.json,
     * which later calls with the same settings use too. Not with is_forced. docs/farm.md. */
    bool is_shared;
    bool is_waiting;    /* with is_shared: follow a simulation that goes on, and wait for other processes */
    bool is_video_only; /* with is_shared: draw nothing; WADI_ERR_BUSY while a picture is missing */
    double stale; /* s: after this time without a sign of life, 1 to 86400, a process counts as ended; 120 */

    WadiLog log; /* warnings: no ffmpeg, a camera inside a wall, a changed file in RUN/assets */
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    WadiStop stop; /* finishes the current picture */
} WadiRenderDef;

WADI_API WadiRenderDef wadi_default_render_def(void);

typedef struct WadiRenderReport {
    char folder[4096], video[4096], gif[4096], sheet[4096]; /* empty: not made */
    int pictures, kept;                                     /* made, and existing ones that were kept */
    double seconds;
    int warning_count;
    /* s, of the pictures drawn: their surfaces and grains with the trees around them, and their light */
    double prepare_seconds, light_seconds;
    char costs
        [80]; /* what makes their light slow: "water with caustics, glass, depth of field, motion blur" */
} WadiRenderReport;

/* Pictures FOLDER/NAME.0001.png, with false colours NAME.pressure.0001.png. The automatic camera, the
 * exposure and the scale of false colours are those of the whole run, for any range of frames, so several
 * processes may share a run. Finished pictures remain after any failure. WADI_ERR_SCENE: a setting is wrong.
 * Without ffmpeg a warning is given and no video is made. WADI_ERR_BUSY with is_shared: other processes draw
 * the frames that are left, or the simulation has not made them yet; call it again. `report` may be NULL. */
WADI_API WadiStatus wadi_render(const char *run, const WadiRenderDef *def, WadiRenderReport *report,
                                WadiError *error);

/* Wall-clock seconds of a picture of the scene's first state in its render.width and render.height, from a small
 * trial; without foam, files and video. *seconds < 0: it has too many particles for a trial. */
WADI_API WadiStatus wadi_estimate_drawing(const WadiScene *scene, WadiQuality quality, int threads,
                                          double *seconds, WadiError *error);

/* A scene as it is laid out, without simulating it: bodies, colliders, emitters with their direction, drains,
 * the domain and the camera. */
typedef struct WadiLayoutDef {
    int cookie;         /* set by wadi_default_layout_def */
    double time;        /* s: keyframes are evaluated here; bodies are drawn as they begin */
    const char *folder; /* of the pictures; NULL: the current one */
    int threads;        /* 0: all cores */
    WadiLog log;
} WadiLayoutDef;

WADI_API WadiLayoutDef wadi_default_layout_def(void);

typedef struct WadiLayoutReport {
    char picture[4096];  /* FOLDER/NAME.layout.png: what the camera sees */
    char overview[4096]; /* FOLDER/NAME.overview.png: the same from outside, with the camera; empty: the scene
                            has no camera of its own */
    double seconds;
} WadiLayoutReport;

/* `report` may be NULL. */
WADI_API WadiStatus wadi_render_layout(const WadiScene *scene, const WadiLayoutDef *def,
                                       WadiLayoutReport *report, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
