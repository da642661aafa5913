#include "view_record.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Nothing of that name, or an empty folder. */
static bool is_free(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        return errno == ENOENT;
    }
    DIR *folder = S_ISDIR(info.st_mode) ? opendir(path) : NULL;
    if (folder == NULL) {
        return false;
    }
    const struct dirent *entry;
    bool is_empty = true;
    while (is_empty && (entry = readdir(folder)) != NULL) {
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(folder);
    return is_empty;
}

/* `wanted`, or the first of NAME-2.run, NAME-3.run, … that is free. */
static bool find_folder(WadiViewRecorder *recorder)
{
    size_t length = strlen(recorder->wanted);
    while (length > 1 && recorder->wanted[length - 1] == '/') {
        recorder->wanted[--length] = '\0';
    }
    static const char end[] = ".run";
    const bool has_end = length > strlen(end) && strcmp(recorder->wanted + length - strlen(end), end) == 0;
    const int stem = (int)(has_end ? length - strlen(end) : length);
    snprintf(recorder->folder, sizeof recorder->folder, "%s", recorder->wanted);
    bool is_found = is_free(recorder->folder);
    for (int n = 2; n < 10000 && !is_found; ++n) {
        snprintf(recorder->folder, sizeof recorder->folder, "%.*s-%d%s", stem, recorder->wanted, n,
                 has_end ? end : "");
        is_found = is_free(recorder->folder);
    }
    return is_found;
}

static void note_progress(void *user, const WadiProgress *progress)
{
    WadiViewRecorder *recorder = user;
    if (progress->is_frame_done) {
        atomic_store(&recorder->frame, progress->frame);
    }
}

static void *record(void *user)
{
    WadiViewRecorder *recorder = user;
    WadiRunDef def = wadi_default_run_def();
    def.folder = recorder->folder;
    def.mode = WADI_RUN_NEW;
    def.frames = recorder->frames;
    def.changes = recorder->changes;
    def.threads = 1;
    def.stop = recorder->stop;
    def.progress = note_progress;
    def.progress_user = recorder;
    WadiRunReport report = { 0 };
    recorder->status = wadi_run(recorder->scene, &def, &report, &recorder->error);
    atomic_store(&recorder->frame, report.frames);
    atomic_store(&recorder->has_ended, true);
    return NULL;
}

static WadiStatus fail(WadiError *error, WadiStatus status, const char *text)
{
    *error = (WadiError){ .status = status };
    snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

WadiStatus wadi_view_record_begin(WadiViewRecorder *recorder, const WadiViewDef *def, const WadiScene *scene,
                                  char *changes, int frames, WadiError *error)
{
    *recorder = (WadiViewRecorder){ .scene = scene, .changes = changes, .stop = def->stop, .frames = frames };
    const int length = def->output != NULL
                           ? snprintf(recorder->wanted, 2900, "%s", def->output)
                           : snprintf(recorder->wanted, 2900, "%s.play.run", wadi_scene_name(scene));
    WadiStatus status = WADI_OK;
    if (length >= 2900 || !find_folder(recorder)) {
        status =
            fail(error, WADI_ERR_IO, "no folder for the recording: its name is too long, or 10,000 exist");
    } else if (pthread_create(&recorder->thread, NULL, record, recorder) != 0) {
        status = fail(error, WADI_ERR_MEMORY, "no thread for the recording");
    }
    recorder->is_busy = status == WADI_OK;
    if (status != WADI_OK) {
        wadi_text_release(recorder->changes);
        *recorder = (WadiViewRecorder){ 0 };
    }
    return status;
}

static void join(WadiViewRecorder *recorder)
{
    pthread_join(recorder->thread, NULL);
    wadi_text_release(recorder->changes);
    if (recorder->owns_scene) {
        wadi_scene_destroy((WadiScene *)recorder->scene);
    }
    recorder->changes = NULL;
    recorder->scene = NULL;
    recorder->is_busy = recorder->owns_scene = false;
}

bool wadi_view_record_take(WadiViewRecorder *recorder)
{
    const bool has_ended = recorder->is_busy && atomic_load(&recorder->has_ended);
    if (has_ended) {
        join(recorder);
    }
    return has_ended;
}

bool wadi_view_record_adopt(WadiViewRecorder *recorder, const WadiScene *scene)
{
    const bool is_used = recorder->is_busy && recorder->scene == scene;
    recorder->owns_scene = recorder->owns_scene || is_used;
    return is_used;
}

void wadi_view_record_tell(const WadiViewRecorder *recorder, char *text, size_t size)
{
    const int frame = atomic_load(&recorder->frame);
    const WadiError *error = &recorder->error; /* without the remedy in terms of the library */
    const int length = error->hint != WADI_HINT_NONE ? error->hint_at : (int)strlen(error->text);
    if (recorder->status == WADI_OK) {
        snprintf(text, size, "%s has the session, %d frame%s; draw it: wadi render %s", recorder->folder,
                 frame, frame == 1 ? "" : "s", recorder->folder);
    } else if (frame > 0) {
        snprintf(
            text, size,
            "%s has frames 1 to %d of %d: %.*s; continue: wadi run %s/scene.yaml -o %s --resume --frames %d",
            recorder->folder, frame, recorder->frames, length, error->text, recorder->folder,
            recorder->folder, recorder->frames);
    } else {
        snprintf(text, size, "%s: nothing was recorded: %.*s", recorder->folder, length, error->text);
    }
}

void wadi_view_record_end(WadiViewRecorder *recorder)
{
    if (recorder->is_busy) {
        char text[WADI_ERROR_TEXT_SIZE + 7000];
        join(recorder);
        wadi_view_record_tell(recorder, text, sizeof text);
        fprintf(stderr, "%s: %s\n", recorder->status == WADI_OK ? "recorded" : "recording", text);
    }
}
