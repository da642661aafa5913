/* Pictures and videos of a run, drawn by light: on any machine, without a graphics card or a display. */
#ifndef WADI_RENDER_H
#define WADI_RENDER_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiQuality {
    WADI_QUALITY_DRAFT,   /* a few seconds a picture: is it what I wanted? */
    WADI_QUALITY_PREVIEW, /* some more: good enough to show */
    WADI_QUALITY_FINAL,   /* minutes */
} WadiQuality;

typedef struct WadiRenderDef {
    int cookie;                  /* set by wadi_default_render_def */
    int first_frame, last_frame; /* 0: the run's first and last */
    int every;                   /* only every n-th of them; 1 */
    const char *const
        *sets; /* "render.width=1280", "materials.sand.look.preset=desert", over what RUN/scene.yaml says */
    int set_count;
    WadiQuality quality;
    int samples; /* paths a pixel; 0: as the quality says */

    const char *attribute; /* false colours of this attribute, "speed", "pressure" …; NULL: natural colours */
    double low, high;      /* ends of its scale; NAN: those of the run */
    const char *map;       /* "viridis", …; NULL: the one that fits the attribute */
    bool has_cut;          /* what lies in front of a plane is left out */
    double cut_point[3];   /* m */
    double cut_normal[3]; /* towards what is left out; any length but 0 */
    bool is_cut_faced;    /* either way: left out is the side on which the camera stands at the start */

    const char *folder; /* of the pictures; NULL: RUN/images */
    bool
        has_video; /* NAME.mp4 when there is more than one picture: in the run, or in `folder`; of a part of the
                         * run's frames NAME.0010-0020.mp4 */
    bool has_gif; /* NAME.gif, likewise */
    int sheet;    /* pictures on a contact sheet NAME.sheet.png, likewise; 0: none, at most 100 */

    bool is_forced; /* redo pictures that are there and were made of the same frame in the same way */
    int threads;    /* 0: all cores. The pictures do not depend on it */
    WadiLog log;    /* no ffmpeg, a camera inside a wall */
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    const volatile int *stop; /* when not NULL and not 0: finish the picture begun, return WADI_ERR_STOPPED */
} WadiRenderDef;

WADI_API WadiRenderDef wadi_default_render_def(void);

typedef struct WadiRenderReport {
    char folder[4096], video[4096], gif[4096], sheet[4096]; /* empty: not made */
    int pictures, kept;                                     /* made, and those that were there */
    double seconds;
    int warning_count;
} WadiRenderReport;

/* Pictures FOLDER/NAME.0001.png, NAME.pressure.0001.png with false colours. The camera that finds its own place, the exposure and
 * the scale of false colours are those of the whole run, whichever frames are asked for: several processes may share a run.
 * Every finished picture stays whatever happens. WADI_ERR_SCENE: a setting is wrong. Where there is no
 * ffmpeg, a warning says so and there is no video. `report` may be NULL. */
WADI_API WadiStatus wadi_render(const char *run, const WadiRenderDef *def, WadiRenderReport *report,
                                WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
