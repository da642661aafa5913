/* Quick pictures of runs: particles as small balls, coloured by speed. */
#ifndef WADI_PICTURE_H
#define WADI_PICTURE_H

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A contact sheet: frames of one or several runs side by side in one picture, all at the same scale. */
typedef struct WadiSheetDef {
    int cookie;                 /* set by wadi_default_sheet_def */
    const char *const *folders; /* run folders; several are drawn as one row each, in this order */
    int folder_count;
    int frames;       /* per run, from its first to its last, denser at the beginning; 1 to 64, default 6 */
    int width;        /* pixels of one frame, 16 to 4096, default 480; the height follows */
    double azimuth;   /* degrees of rotation about the vertical; 0: view along +y, x to the right */
    double elevation; /* degrees of view downwards; default 15 */
    double streak;    /* s: particles are lines as long as their displacement in this time; 0: balls */
} WadiSheetDef;

WADI_API WadiSheetDef wadi_default_sheet_def(void);

/* Writes the sheet as a PNG file, replacing `path`. Runs may differ in their number of frames. */
WADI_API WadiStatus wadi_contact_sheet(const WadiSheetDef *def, const char *path, WadiError *error);

/* Slices through the surfaces of one frame: one panel per surface setting, in the x-z plane through the
 * middle. */
typedef struct WadiSliceDef {
    int cookie; /* set by wadi_default_slice_def */
    const char *run;
    int frame;                   /* 0: the last */
    const char *const *settings; /* one per panel, overrides of the run's scene: "surface={method: blobby}" */
    int panel_count;             /* 1 to 16 */
    int width;                   /* pixels of one panel, 16 to 1000, default 480; the height follows */
} WadiSliceDef;

WADI_API WadiSliceDef wadi_default_slice_def(void);

/* Writes the slices of the first material as a PNG file, replacing `path`. */
WADI_API WadiStatus wadi_slice_sheet(const WadiSliceDef *def, const char *path, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
