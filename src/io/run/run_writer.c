#include "io/run/run_writer.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/run/run_files.h"
#include "io/run/run_forces.h"
#include "io/run/run_json.h"

/* Besides the milestones: the newest, and one more in case the newest is damaged. */
enum { CHECKPOINTS_KEPT = 2 };

void wadi_run_writer_free(WadiRunWriter *writer)
{
    wadi_text_free(&writer->json);
    wadi_text_free(&writer->forces);
    wadi_text_free(&writer->frame_forces);
    wadi_xdmf_free(&writer->xdmf);
}

void wadi_run_writer_remember_folder(WadiRunWriter *writer)
{
    struct stat info = { 0 };
    stat(writer->folder, &info);
    writer->device = (uint64_t)info.st_dev;
    writer->inode = (uint64_t)info.st_ino;
}

bool wadi_run_writer_has_folder(const WadiRunWriter *writer)
{
    struct stat info;
    return stat(writer->folder, &info) == 0 && (uint64_t)info.st_dev == writer->device &&
           (uint64_t)info.st_ino == writer->inode;
}

WadiStatus wadi_run_writer_load(WadiRunWriter *writer, const WadiRunItem *item, WadiError *error)
{
    writer->has_json = item->summary != NULL;
    if (writer->has_json) {
        wadi_text_clear(&writer->json);
        wadi_run_summary_append(item->summary, &writer->json);
        WADI_TRY(wadi_text_status(&writer->json, error));
    }
    wadi_text_clear(&writer->frame_forces);
    if (item->forces != NULL) {
        if (writer->forces.length == 0) {
            wadi_text_append(&writer->forces, item->forces_header);
        }
        wadi_text_append(&writer->frame_forces, item->forces);
        WADI_TRY(wadi_text_status(&writer->frame_forces, error));
    }
    writer->header = item->header;
    writer->has_frame = item->has_frame;
    writer->has_checkpoint = item->has_checkpoint;
    writer->is_checkpoint_kept = item->is_checkpoint_kept;
    wadi_state_select(item->frame != NULL ? item->frame : item->state, WADI_USE_FRAME, &writer->frame);
    wadi_state_select(item->state, WADI_USE_CHECKPOINT, &writer->checkpoint);
    return WADI_OK;
}

WadiStatus wadi_run_writer_write_index(WadiRunWriter *writer, WadiError *error)
{
    char folder[WADI_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/particles", writer->folder);
    WADI_TRY(wadi_run_forces_write(writer->folder, &writer->forces, error));
    return wadi_xdmf_write(&writer->xdmf, folder, writer->name, error);
}

WadiStatus wadi_run_writer_rebuild_index(WadiRunWriter *writer, WadiError *error)
{
    wadi_xdmf_truncate(&writer->xdmf, 0);
    writer->safe_frames = 0;
    for (;;) {
        char path[WADI_PATH_SIZE];
        int frame = writer->safe_frames + 1;
        wadi_run_frame_path(path, sizeof path, writer->folder, writer->name, frame);
        WadiFrameLayout layout;
        WadiError problem;
        WadiStatus status = wadi_frame_file_read_layout(path, "particles", &layout, &problem);
        if (status == WADI_ERR_MEMORY) {
            return wadi_fail(error, status, "%s", problem.text);
        }
        if (status != WADI_OK) { /* the end, or a damaged frame that will be simulated again */
            return wadi_run_forces_read(writer->folder, writer->safe_frames, &writer->forces, error);
        }
        layout.header.frame = frame;
        WADI_TRY(wadi_xdmf_add(&writer->xdmf, writer->name, &layout, error));
        writer->safe_frames = frame;
    }
}

/* Whether the file at `path` holds the frame that is about to be written. */
static bool has_same_frame(const WadiRunWriter *writer, const char *path)
{
    WadiFrameLayout layout;
    bool is_same = wadi_frame_file_read_layout(path, "particles", &layout, NULL) == WADI_OK &&
                   layout.header.time == writer->header.time && layout.array_count == writer->frame.count;
    for (int i = 0; is_same && i < layout.array_count; ++i) {
        const WadiStateArray *array = &writer->frame.array[i];
        is_same = strcmp(layout.array[i].name, array->name) == 0 &&
                  layout.array[i].checksum == wadi_state_array_hash(array);
    }
    return is_same;
}

static WadiStatus write_frame(WadiRunWriter *writer, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_run_frame_path(path, sizeof path, writer->folder, writer->name, writer->header.frame);
    const bool is_same = has_same_frame(writer, path);
    WADI_TRY(wadi_frame_file_write(path, "particles", &writer->header, &writer->frame, error));
    /* Foam of another frame of this number would be drawn with the new one. */
    static void (*const path_of[])(char *, size_t, const char *, const char *,
                                   int) = { wadi_run_secondary_path, wadi_run_wet_path,
                                            wadi_run_grains_path };
    for (size_t i = 0; i < sizeof path_of / sizeof *path_of && !is_same; ++i) {
        path_of[i](path, sizeof path, writer->folder, writer->name, writer->header.frame);
        if (wadi_file_exists(path)) {
            WADI_TRY(wadi_file_remove(path, error));
        }
    }
    if (writer->header.frame == writer->safe_frames + 1) {
        writer->safe_frames += 1;
    }
    wadi_run_forces_truncate(&writer->forces, writer->header.frame - 1);
    wadi_text_append(&writer->forces, wadi_text_cstr(&writer->frame_forces));
    WADI_TRY(wadi_text_status(&writer->forces, error));
    WadiFrameLayout layout;
    wadi_frame_layout_of(&writer->header, &writer->frame, &layout);
    return wadi_xdmf_add(&writer->xdmf, writer->name, &layout, error);
}

static WadiStatus write_checkpoint(const WadiRunWriter *writer, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    WadiRunCheckpoint checkpoint = { writer->header.frame, writer->is_checkpoint_kept };
    wadi_run_checkpoint_path(path, sizeof path, writer->folder, writer->name, checkpoint);
    return wadi_frame_file_write(path, "state", &writer->header, &writer->checkpoint, error);
}

static WadiStatus write_summary(const WadiRunWriter *writer, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/run.json", writer->folder);
    return wadi_file_write(path, writer->json.data, writer->json.length, error);
}

static WadiStatus remove_old_checkpoints(const WadiRunWriter *writer, WadiError *error)
{
    WadiRunCheckpoints checkpoints = { 0 };
    WadiStatus status = wadi_run_find_checkpoints(writer->folder, writer->name, &checkpoints, error);
    int passed = 0;
    for (size_t i = 0; i < checkpoints.count && status == WADI_OK; ++i) {
        if (!checkpoints.data[i].is_kept && ++passed > CHECKPOINTS_KEPT) {
            char path[WADI_PATH_SIZE];
            wadi_run_checkpoint_path(path, sizeof path, writer->folder, writer->name, checkpoints.data[i]);
            status = wadi_file_remove(path, error);
        }
    }
    WADI_ARRAY_FREE(&checkpoints);
    return status;
}

/* Adds to the error which frames are complete, by a look at their files. */
static void append_safe_frames(WadiRunWriter *writer, WadiError *error)
{
    char safe[64];
    writer->safe_frames =
        wadi_run_writer_has_folder(writer) ? wadi_run_count_frames(writer->folder, writer->name) : 0;
    if (writer->safe_frames > 1) {
        snprintf(safe, sizeof safe, "frames 1 to %d are safe in", writer->safe_frames);
    } else {
        snprintf(safe, sizeof safe, writer->safe_frames == 1 ? "frame 1 is safe in" : "no frame is in");
    }
    wadi_fail_hint(error, error->status, WADI_HINT_RESUME, "%.3000s\n%s %.900s", error->text, safe,
                   writer->folder);
}

static WadiStatus check_folder(const WadiRunWriter *writer, WadiError *error)
{
    return wadi_run_writer_has_folder(writer)
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_IO,
                           "frame %d: the folder %s was moved, removed or replaced since the run began",
                           writer->header.frame, writer->folder);
}

WadiStatus wadi_run_writer_finish(WadiRunWriter *writer, WadiError *error)
{
    WADI_TRY(check_folder(writer, error));
    if (!writer->is_index_postponed) {
        return WADI_OK;
    }
    writer->is_index_postponed = false;
    WADI_TRY(wadi_run_writer_write_index(writer, error));
    return writer->has_json ? write_summary(writer, error) : WADI_OK;
}

WadiStatus wadi_run_writer_write(WadiRunWriter *writer, WadiError *error)
{
    /* Index and run.json take as long to write as a small frame, so without a checkpoint they are
     * postponed. */
    bool is_index_due = writer->has_checkpoint || !writer->has_frame || writer->header.frame == 1;
    WadiStatus status = check_folder(writer, error);
    if (status == WADI_OK && writer->has_frame) {
        status = write_frame(writer, error);
    }
    if (status == WADI_OK && writer->has_frame && is_index_due) {
        status = wadi_run_writer_write_index(writer, error);
    }
    if (status == WADI_OK && writer->has_checkpoint) {
        status = write_checkpoint(writer, error);
    }
    if (status == WADI_OK && writer->has_json && is_index_due) {
        status = write_summary(writer, error);
    }
    if (status == WADI_OK && writer->has_checkpoint) {
        status = remove_old_checkpoints(writer, error);
    }
    writer->is_index_postponed = !is_index_due;
    if (status != WADI_OK) {
        append_safe_frames(writer, error);
    }
    return status;
}
