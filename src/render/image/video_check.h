/* Checks that a video file is complete: ffmpeg reports success even when the disk was full. */
#ifndef WADI_RENDER_VIDEO_CHECK_H
#define WADI_RENDER_VIDEO_CHECK_H

#include <stdbool.h>

#include "core/status.h"

/* MP4: the boxes fill the file, and the index lists `pictures` pictures that lie in it. GIF: the blocks end
 * at the end of the file and hold 1 to `pictures` pictures. The message of WADI_ERR_FORMAT has no path. */
WadiStatus wadi_video_check(const char *path, bool is_gif, int pictures, WadiError *error);

#endif
