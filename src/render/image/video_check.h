/* Whether a video file is whole: ffmpeg ends with success also when the disk was full. */
#ifndef WADI_RENDER_VIDEO_CHECK_H
#define WADI_RENDER_VIDEO_CHECK_H

#include <stdbool.h>

#include "core/status.h"

/* MP4: the boxes fill the file, the index is there and lists `pictures` pictures that lie in the file. GIF: the blocks lead to the
 * end of the file, with at least one picture and at most `pictures`. WADI_ERR_FORMAT says what is wrong, without the path. */
WadiStatus wadi_video_check(const char *path, bool is_gif, int pictures, WadiError *error);

#endif
