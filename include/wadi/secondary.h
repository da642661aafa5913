/* Foam, spray, bubbles and dust of a finished run, as particles of their own file sequence. They follow the
 * water and sand and do not act on them. */
#ifndef WADI_SECONDARY_H
#define WADI_SECONDARY_H

#include <stdbool.h>

#include "wadi/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WadiSecondaryOptions {
    int cookie;              /* set by wadi_default_secondary_options */
    int last_frame;          /* 0: the run's last. Each frame needs the one before, so that all are made */
    const char *const *sets; /* "secondary.amount=2", override RUN/scene.yaml */
    int set_count;
    bool is_forced;                /* make files again that exist with the same frames and settings */
    int threads;                   /* 0: all cores. The files do not depend on it */
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    WadiStop stop; /* finishes the current file */
    WadiLog log;   /* warnings: a changed file in RUN/assets */
} WadiSecondaryOptions;

WADI_API WadiSecondaryOptions wadi_default_secondary_options(void);

typedef struct WadiSecondaryReport {
    char folder[4096];       /* where the files are */
    int frames, files, kept; /* frames finished, files written, existing files kept */
    int64_t particles;       /* of the last frame made */
    int64_t most;            /* of the fullest frame made */
    double seconds;          /* wall-clock */
} WadiSecondaryReport;

/* Files RUN/secondary/NAME.0001.h5, in the format of frames with the attributes `kind` (0 spray, 1 foam,
 * 2 bubble, 3 dust) and `life` (s), and NAME.xdmf for ParaView; NAME.wet.0001.h5 with wet sand, and with
 * `secondary.grains` NAME.grains.0001.h5 with fine grains. Finished files remain after any failure, and
 * the next call goes on from them to the same bytes. `report` may be NULL. WADI_ERR_SCENE: a setting is
 * wrong. */
WADI_API WadiStatus wadi_secondary(const char *run, const WadiSecondaryOptions *options,
                                   WadiSecondaryReport *report, WadiError *error);

/* The same where pictures of the run would show foam or fine grains: it has a liquid that foams and
 * `secondary.amount` is not off, or sand and `secondary.grains`; `render.secondary` is not off, and no files
 * are there that were made with other settings. Otherwise nothing is made, and report->frames is 0. `sets`
 * may also have what wadi_render takes. */
WADI_API WadiStatus wadi_secondary_for_pictures(const char *run, const WadiSecondaryOptions *options,
                                                WadiSecondaryReport *report, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
