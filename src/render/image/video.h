/* Pictures into a video or an animated GIF, by the program ffmpeg. */
#ifndef WADI_RENDER_VIDEO_H
#define WADI_RENDER_VIDEO_H

#include <stdbool.h>

#include "core/status.h"

typedef struct WadiVideoDef {
    const char *const *pictures; /* paths of PNG files of one size */
    int picture_count;
    double fps;
    bool is_gif;              /* at most 640 pixels wide; otherwise H.264 in MP4, which plays everywhere */
    const volatile int *stop; /* when not NULL and not 0: give up, WADI_ERR_STOPPED */
} WadiVideoDef;

/* Replaces `path` when all went well. WADI_ERR_UNSUPPORTED: there is no ffmpeg; the text says what to install. WADI_ERR_IO: it
 * failed; the text ends with what it said last. */
WadiStatus wadi_video_write(const char *path, const WadiVideoDef *def, WadiError *error);

#endif
