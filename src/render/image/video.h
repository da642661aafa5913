/* Makes a video or an animated GIF from pictures, with the program ffmpeg. */
#ifndef WADI_RENDER_VIDEO_H
#define WADI_RENDER_VIDEO_H

#include <stdbool.h>

#include "core/status.h"

typedef struct WadiVideoDef {
    const char *const *pictures; /* paths of PNG files of one size */
    int picture_count;
    double fps;
    bool is_gif; /* at most 640 pixels wide; otherwise H.264 in MP4 */
    WadiStop stop;
} WadiVideoDef;

/* Replaces `path` on success. WADI_ERR_UNSUPPORTED: ffmpeg is missing; the message says what to install.
 * WADI_ERR_IO: ffmpeg failed; the message ends with its last line. */
WadiStatus wadi_video_write(const char *path, const WadiVideoDef *def, WadiError *error);

#endif
