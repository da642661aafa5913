/* One item that is being written to a run folder. */
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
    bool is_index_postponed; /* index and run.json do not include the last frame yet */
    WadiText json;
    WadiText forces, frame_forces; /* forces.csv, and what the frame adds to it */
    WadiXdmf xdmf;
    int safe_frames;        /* frames 1 to this one were written, or found when the folder was opened */
    uint64_t device, inode; /* of the folder when it was opened */
} WadiRunWriter;

/* Remembers which folder has this path now. */
void wadi_run_writer_remember_folder(WadiRunWriter *writer);
/* Whether the path still names that folder. */
bool wadi_run_writer_has_folder(const WadiRunWriter *writer);

void wadi_run_writer_free(WadiRunWriter *writer);
/* Loads the item: the state is borrowed, the summary copied. */
WadiStatus wadi_run_writer_load(WadiRunWriter *writer, const WadiRunItem *item, WadiError *error);
/* Writes frame, index, checkpoint, run.json, in this order, then removes old checkpoints. Without a
 * checkpoint, index and run.json are postponed to the next one. The error names the frames that are complete,
 * by a look at their files. */
WadiStatus wadi_run_writer_write(WadiRunWriter *writer, WadiError *error);
/* Writes index and run.json if they were postponed. */
WadiStatus wadi_run_writer_finish(WadiRunWriter *writer, WadiError *error);
/* Rebuilds the index from the existing frames. */
WadiStatus wadi_run_writer_rebuild_index(WadiRunWriter *writer, WadiError *error);
WadiStatus wadi_run_writer_write_index(WadiRunWriter *writer, WadiError *error);

#endif
