/* Opens and closes a run folder, passes items to its writing thread, and truncates it. The thread's work is
 * in run_writer.c. */
#include "io/run/run_folder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/os/os_thread.h"
#include "io/files/lock.h"
#include "io/run/run_files.h"
#include "io/run/run_json.h"
#include "io/run/run_owner.h"
#include "io/run/run_writer.h"

/* `writer` belongs to the thread while is_busy is set, otherwise to the caller; the mutex guards the other
 * members of the second group. */
struct WadiRunFolder {
    char path[WADI_RUN_PATH_MAX + 1];
    char name[WADI_RUN_NAME_MAX + 1];
    WadiLog log;
    WadiLock lock;
    const WadiRunSummary *owner; /* borrowed; NULL: checkpoints of any run are read */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_busy;
    bool is_closing;
    WadiStatus status; /* of the first failed write; never reset */
    WadiError error;
    WadiRunWriter writer;
};

static void *write_until_closed(void *argument)
{
    WadiRunFolder *folder = argument;
    pthread_mutex_lock(&folder->mutex);
    for (;;) {
        while (!folder->is_busy && !folder->is_closing) {
            pthread_cond_wait(&folder->changed, &folder->mutex);
        }
        if (!folder->is_busy) {
            break;
        }
        pthread_mutex_unlock(&folder->mutex);
        WadiError error = { 0 };
        WadiStatus status = wadi_run_writer_write(&folder->writer, &error);
        pthread_mutex_lock(&folder->mutex);
        if (status != WADI_OK) {
            folder->status = status;
            folder->error = error;
        }
        folder->is_busy = false;
        pthread_cond_broadcast(&folder->changed);
    }
    pthread_mutex_unlock(&folder->mutex);
    return NULL;
}

static WadiStatus start_thread(WadiRunFolder *folder, WadiError *error)
{
    const int problem = wadi_os_thread_start(&folder->thread, write_until_closed, folder);
    folder->has_thread = problem == 0;
    return problem == 0 ? WADI_OK : wadi_fail_errno(error, problem, "cannot start the thread that writes");
}

static WadiStatus prepare(WadiRunFolder *folder, WadiRunMode mode, WadiError *error)
{
    char sub[WADI_PATH_SIZE];
    WADI_TRY(wadi_run_owner_check(folder->path, error));
    WADI_TRY(wadi_folder_make(folder->path, error));
    wadi_run_writer_remember_folder(&folder->writer);
    WADI_TRY(wadi_lock_acquire(&folder->lock, folder->path, "lock", "", &folder->log, error));
    snprintf(sub, sizeof sub, "%s/particles", folder->path);
    WADI_TRY(wadi_folder_make(sub, error));
    snprintf(sub, sizeof sub, "%s/checkpoint", folder->path);
    WADI_TRY(wadi_folder_make(sub, error));
    WADI_TRY(wadi_run_remove_temporaries(folder->path, error));
    bool has_results = false;
    if (mode == WADI_RUN_NEW) {
        WADI_TRY(wadi_run_has_results(folder->path, &has_results, error));
    }
    if (has_results) {
        return wadi_fail_hint(error, WADI_ERR_ARGUMENT, WADI_HINT_HAS_FRAMES,
                              "%s already holds frames or checkpoints", folder->path);
    }
    if (!wadi_run_owner_has_scene(folder->path)) {
        WADI_TRY(wadi_run_owner_mark(folder->path, NULL, error));
    }
    if (mode != WADI_RUN_RESUME) {
        WADI_TRY(wadi_run_remove_results(folder->path, folder->name, error));
    }
    WADI_TRY(wadi_run_writer_rebuild_index(&folder->writer, error));
    return start_thread(folder, error);
}

WadiStatus wadi_run_folder_open(WadiRunFolder **folder, const char *path, const char *name, WadiRunMode mode,
                                const WadiLog *log, WadiError *error)
{
    *folder = NULL;
    size_t length = strlen(name);
    if (length == 0 || length > WADI_RUN_NAME_MAX || strchr(name, '/') != NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "'%.60s' cannot be part of file names: 1 to %d bytes without '/'", name,
                         WADI_RUN_NAME_MAX);
    }
    size_t path_length = strlen(path);
    while (path_length > 1 && path[path_length - 1] == '/') {
        --path_length;
    }
    if (path_length > WADI_RUN_PATH_MAX) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot use %.200s as a run folder", path);
    }
    WadiRunFolder *made = NULL;
    WADI_TRY(WADI_NEW(&made, 1, "run folder", error));
    memcpy(made->path, path, path_length);
    memcpy(made->name, name, length);
    made->log = log != NULL ? *log : (WadiLog){ 0 };
    made->lock.fd = -1;
    made->writer.folder = made->path;
    made->writer.name = made->name;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    WadiStatus status = prepare(made, mode, error);
    if (status != WADI_OK) {
        wadi_run_folder_close(made, NULL);
        return status;
    }
    *folder = made;
    return WADI_OK;
}

/* Called with the mutex locked: waits for the current write and returns the first failure. */
static WadiStatus wait_idle(WadiRunFolder *folder, WadiError *error)
{
    while (folder->is_busy) {
        pthread_cond_wait(&folder->changed, &folder->mutex);
    }
    return folder->status == WADI_OK ? WADI_OK : wadi_fail_as(error, &folder->error);
}

WadiStatus wadi_run_folder_flush(WadiRunFolder *folder, WadiError *error)
{
    pthread_mutex_lock(&folder->mutex);
    WadiStatus status = wait_idle(folder, error);
    pthread_mutex_unlock(&folder->mutex);
    return status;
}

WadiStatus wadi_run_folder_submit(WadiRunFolder *folder, const WadiRunItem *item, WadiError *error)
{
    pthread_mutex_lock(&folder->mutex);
    WadiStatus status = wait_idle(folder, error);
    if (status == WADI_OK) {
        status = wadi_run_writer_load(&folder->writer, item, error);
    }
    if (status == WADI_OK) {
        folder->is_busy = true;
        pthread_cond_broadcast(&folder->changed);
    }
    pthread_mutex_unlock(&folder->mutex);
    return status;
}

WadiStatus wadi_run_folder_close(WadiRunFolder *folder, WadiError *error)
{
    if (folder == NULL) {
        return WADI_OK;
    }
    WadiStatus status = wadi_run_folder_flush(folder, error);
    if (folder->has_thread) {
        pthread_mutex_lock(&folder->mutex);
        folder->is_closing = true;
        pthread_cond_broadcast(&folder->changed);
        pthread_mutex_unlock(&folder->mutex);
        pthread_join(folder->thread, NULL);
    }
    /* A failure of the run itself has priority. What run.json then lacks, the next run reads from the
     * frames. */
    WadiError late;
    WadiStatus finished = folder->has_thread ? wadi_run_writer_finish(&folder->writer, &late) : WADI_OK;
    if (status == WADI_OK && finished != WADI_OK) {
        status = wadi_fail(error, finished, "%s", late.text);
    }
    wadi_lock_release(&folder->lock);
    wadi_run_writer_free(&folder->writer);
    pthread_cond_destroy(&folder->changed);
    pthread_mutex_destroy(&folder->mutex);
    WADI_DELETE(folder, 1);
    return status;
}

WadiStatus wadi_run_folder_write_scene(WadiRunFolder *folder, const char *text, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    WadiFileDigest digest = wadi_bytes_digest(text, strlen(text));
    snprintf(path, sizeof path, "%s/scene.yaml", folder->path);
    /* The mark first: a scene.yaml that does not match it is treated as written by the user. */
    WADI_TRY(wadi_run_owner_mark(folder->path, &digest, error));
    return wadi_file_write(path, text, strlen(text), error);
}

void wadi_run_folder_expect(WadiRunFolder *folder, const WadiRunSummary *owner)
{
    folder->owner = owner;
}

WadiStatus wadi_run_folder_check_frames(WadiRunFolder *folder, const WadiRunSummary *owner, int last,
                                        WadiError *error)
{
    for (int frame = 1; frame <= last; ++frame) {
        char path[WADI_PATH_SIZE];
        WadiFrameLayout layout;
        wadi_run_frame_path(path, sizeof path, folder->path, folder->name, frame);
        WADI_TRY(wadi_frame_file_read_layout(path, "particles", &layout, error));
        WADI_TRY(wadi_run_check_scene(owner, path, layout.header.scene, error));
    }
    return WADI_OK;
}

WadiStatus wadi_run_folder_read_checkpoint(WadiRunFolder *folder, int max_frame, WadiState *state,
                                           WadiFrameHeader *header, bool *found, WadiError *error)
{
    *found = false;
    *header = (WadiFrameHeader){ 0 };
    wadi_state_clear(state);
    WADI_TRY(wadi_run_folder_flush(folder, error));
    WadiRunCheckpoints checkpoints = { 0 };
    WadiStatus status = wadi_run_find_checkpoints(folder->path, folder->name, &checkpoints, error);
    for (size_t i = 0; i < checkpoints.count && status == WADI_OK && !*found; ++i) {
        if (checkpoints.data[i].frame > max_frame) {
            continue;
        }
        char path[WADI_PATH_SIZE];
        wadi_run_checkpoint_path(path, sizeof path, folder->path, folder->name, checkpoints.data[i]);
        WadiError problem = { 0 };
        WadiStatus result = wadi_frame_file_read(path, "state", header, state, &problem);
        *found = result == WADI_OK;
        if (*found && folder->owner != NULL) {
            status = wadi_run_check_scene(folder->owner, path, header->scene, error);
        } else if (result == WADI_ERR_MEMORY) {
            status = wadi_fail(error, result, "%s", problem.text);
        } else if (result != WADI_OK) {
            wadi_log(&folder->log, WADI_LOG_WARNING, "%s; taking an older checkpoint", problem.text);
        }
    }
    WADI_ARRAY_FREE(&checkpoints);
    return status;
}

/* Sets run.json to the state after `frame` as far as it is known; a damaged run.json is removed. */
static WadiStatus correct_summary(WadiRunFolder *folder, int frame, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/run.json", folder->path);
    if (!wadi_file_exists(path)) {
        return WADI_OK;
    }
    WadiRunSummary summary;
    WadiError problem;
    WadiStatus status = wadi_run_summary_read(folder->path, &summary, &problem);
    if (status == WADI_ERR_FORMAT) {
        return wadi_file_remove(path, error);
    }
    if (status != WADI_OK) {
        return wadi_fail(error, status, "%s", problem.text);
    }
    if (summary.frames > frame) {
        summary.frames = frame;
        summary.is_finished = false;
        summary.state_hash = 0;
        WadiText text = { 0 };
        wadi_run_summary_append(&summary, &text);
        status = wadi_text_status(&text, error);
        if (status == WADI_OK) {
            status = wadi_file_write(path, text.data, text.length, error);
        }
        wadi_text_free(&text);
    }
    wadi_run_summary_free(&summary);
    return status;
}

static WadiStatus remove_checkpoints_after(WadiRunFolder *folder, int frame, WadiError *error)
{
    WadiRunCheckpoints checkpoints = { 0 };
    WadiStatus status = wadi_run_find_checkpoints(folder->path, folder->name, &checkpoints, error);
    for (size_t i = 0; i < checkpoints.count && status == WADI_OK; ++i) {
        if (checkpoints.data[i].frame > frame) {
            char path[WADI_PATH_SIZE];
            wadi_run_checkpoint_path(path, sizeof path, folder->path, folder->name, checkpoints.data[i]);
            status = wadi_file_remove(path, error);
        }
    }
    WADI_ARRAY_FREE(&checkpoints);
    return status;
}

WadiStatus wadi_run_folder_truncate(WadiRunFolder *folder, int frame, WadiError *error)
{
    WADI_TRY(wadi_run_folder_flush(folder, error));
    WADI_TRY(correct_summary(folder, frame, error));
    WADI_TRY(remove_checkpoints_after(folder, frame, error));
    /* From the last frame down, so that a killed process leaves no gap. */
    int last = 0;
    WADI_TRY(wadi_run_find_last_frame(folder->path, folder->name, &last, error));
    for (int i = last; i > frame; --i) {
        char path[WADI_PATH_SIZE];
        wadi_run_frame_path(path, sizeof path, folder->path, folder->name, i);
        WADI_TRY(wadi_file_remove(path, error));
    }
    WADI_TRY(wadi_run_writer_rebuild_index(&folder->writer, error));
    return wadi_run_writer_write_index(&folder->writer, error);
}

int wadi_run_count_frames(const char *folder, const char *name)
{
    int frame = 0;
    for (;;) {
        char path[WADI_PATH_SIZE];
        wadi_run_frame_path(path, sizeof path, folder, name, frame + 1);
        if (wadi_frame_file_check(path, NULL) != WADI_OK) {
            return frame;
        }
        ++frame;
    }
}

int wadi_run_folder_frames(const WadiRunFolder *folder)
{
    return wadi_run_count_frames(folder->path, folder->name);
}

int wadi_run_folder_safe_frames(const WadiRunFolder *folder)
{
    return wadi_run_writer_has_folder(&folder->writer) ? folder->writer.safe_frames : 0;
}
