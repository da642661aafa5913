/* One item of a run folder on its way to the disk. */
#ifndef WADI_IO_RUN_WRITER_H
#define WADI_IO_RUN_WRITER_H

#include "core/text.h"
#include "io/frame/xdmf.h"
#include "io/run/run_folder.h"

typedef struct WadiRunWriter {
    const char *folder, *name; /* borrowed from the WadiRunFolder */
    WadiFrameHeader header;
    WadiState frame, checkpoint; /* views of the caller's snapshot */
    bool has_frame, has_checkpoint, has_json;
    bool is_checkpoint_kept;
    bool is_behind; /* index and run.json do not tell of the last frame yet */
    WadiText json;
    WadiXdmf xdmf;
    int safe_frames; /* frames 1 to it are on disk */
} WadiRunWriter;

void wadi_run_writer_free(WadiRunWriter *writer);
/* Take the item over: the state borrowed, the summary copied. */
WadiStatus wadi_run_writer_load(WadiRunWriter *writer, const WadiRunItem *item, WadiError *error);
/* Frame, index, checkpoint, run.json, in this order; then remove checkpoints that are no longer needed. Index and run.json wait
 * for the next checkpoint when a frame comes without one. The error also says which frames are safe. */
WadiStatus wadi_run_writer_write(WadiRunWriter *writer, WadiError *error);
/* Index and run.json catch up with the frames. */
WadiStatus wadi_run_writer_finish(WadiRunWriter *writer, WadiError *error);
/* Read the index back from the frames that are there. */
WadiStatus wadi_run_writer_rebuild_index(WadiRunWriter *writer, WadiError *error);
WadiStatus wadi_run_writer_write_index(WadiRunWriter *writer, WadiError *error);

#endif
