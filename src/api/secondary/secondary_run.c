/* Foam, spray, bubbles and dust of a run: one file a frame, each made from the one before. While a frame is
 * computed the next one is read and the files of the last one are written. */
#include "wadi/secondary.h"

#include <stdio.h>
#include <string.h>

#include "api/run_view.h"
#include "api/secondary/read_ahead.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/status.h"
#include "core/timer.h"
#include "io/frame/xdmf.h"
#include "io/run/output_index.h"
#include "io/run/run_files.h"
#include "secondary/fine_grains.h"
#include "secondary/wet_sand.h"

enum {
    OPTIONS_COOKIE = 0x5ec0d,
    SECONDARY_VERSION = 3 /* increased when the same settings give other particles */
};

WadiSecondaryOptions wadi_default_secondary_options(void)
{
    return (WadiSecondaryOptions){ .cookie = OPTIONS_COOKIE };
}

/* The files of a frame that are written. */
typedef struct Pending {
    int number; /* 0: none */
    const WadiOutputIndex *outputs;
    char path[WADI_PATH_SIZE], wet_path[WADI_PATH_SIZE], grains_path[WADI_PATH_SIZE];
    WadiFrameHeader header;
    uint64_t key;
    WadiState file, wet, grains; /* the others have no arrays where no sand is wet, or has fine grains */
    int64_t particles;
    WadiFrameLayout made;
    WadiStatus status;
    WadiError error;
    WadiBackground background;
} Pending;

enum { FRAMES = 3 }; /* the two of a step, and the one that is read */

typedef struct Job {
    const WadiSecondaryOptions *options;
    WadiSecondaryReport *report;
    bool is_for_pictures; /* only where there is a liquid that foams, and nothing made with other settings */
    WadiRunView view;
    WadiWorld *world;
    WadiOutputIndex outputs;
    char folder[WADI_PATH_SIZE];
    WadiSecondary secondary;
    WadiWetSand wet;
    WadiFineGrains grains;
    int state_frame; /* whose state those three are; 0: not known */
    WadiState frame[FRAMES], file;
    int loaded[FRAMES]; /* numbers of the frames in `frame`; 0: none */
    WadiReadAhead ahead;
    Pending pending;
    WadiXdmf xdmf;
    WadiArena arena;
    double start; /* s */
} Job;

static uint64_t hash_number(uint64_t hash, double value)
{
    value += 0.0; /* maps -0 to 0 */
    return wadi_hash_bytes(hash, &value, sizeof value);
}

/* Of what all frames depend on. */
static uint64_t settings_key(const WadiRunView *view)
{
    const WadiSecondaryDef *def = &view->scene->secondary;
    const double numbers[] = { SECONDARY_VERSION, def->amount, def->dust, def->size, def->life,
                               def->dust_life,    def->slow,   def->fast, def->rise, def->drying };
    uint64_t key = wadi_hash_bytes(0, wadi_version(), strlen(wadi_version()));
    key = wadi_hash_combine(key, view->summary.content_hash);
    if (view->assets_hash != 0) {
        key = wadi_hash_combine(key, view->assets_hash);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        key = hash_number(key, numbers[i]);
    }
    if (wadi_fine_grains_apply(view->scene)) {
        key = hash_number(key, def->grains);
    }
    return key;
}

typedef void PathOf(char *path, size_t size, const char *folder, const char *name, int frame);

static void find_path(const Job *job, PathOf *path_of, int number, char path[WADI_PATH_SIZE])
{
    path_of(path, WADI_PATH_SIZE, job->view.run, job->view.summary.name, number);
}

static uint64_t next_key(uint64_t key, const WadiFrameLayout *layout)
{
    key = hash_number(hash_number(key, layout->header.frame), layout->header.time);
    for (int i = 0; i < layout->array_count; ++i) {
        key = wadi_hash_bytes(key, layout->array[i].name, strlen(layout->array[i].name));
        key = wadi_hash_combine(key, layout->array[i].checksum);
    }
    return key;
}

static void start_reading(Job *job, int number)
{
    wadi_read_ahead_join(&job->ahead);
    job->loaded[number % FRAMES] = 0;
    wadi_read_ahead_start(&job->ahead, &job->view, number, &job->frame[number % FRAMES]);
}

/* Frame `number` is then in job->frame[number % FRAMES]. */
static WadiStatus load_frame(Job *job, int number, WadiError *error)
{
    if (job->ahead.number != number) {
        start_reading(job, number);
    }
    WADI_TRY(wadi_read_ahead_finish(&job->ahead, error));
    job->loaded[number % FRAMES] = number;
    return WADI_OK;
}

/* The state after frame `number`, from its files unless it is known. */
static WadiStatus load_state(Job *job, int number, WadiError *error)
{
    if (job->state_frame == number) {
        return WADI_OK;
    }
    char path[WADI_PATH_SIZE];
    find_path(job, wadi_run_secondary_path, number, path);
    WadiFrameHeader header;
    WADI_TRY(wadi_frame_file_read(path, "particles", &header, &job->file, error));
    WadiError inner = { 0 };
    WadiStatus status = wadi_secondary_load(&job->secondary, &job->file, &inner);
    find_path(job, wadi_run_wet_path, number, path);
    job->wet.list.count = 0;
    if (status == WADI_OK && wadi_file_exists(path)) {
        WADI_TRY(wadi_frame_file_read(path, "particles", &header, &job->file, error));
        status = wadi_wet_sand_load(&job->wet, &job->file, &inner);
    }
    if (status == WADI_OK && wadi_fine_grains_apply(job->view.scene)) {
        find_path(job, wadi_run_grains_path, number, path);
        WADI_TRY(wadi_frame_file_read(path, "particles", &header, &job->file, error));
        status = wadi_fine_grains_load(&job->grains, &job->file, &inner);
    }
    return status == WADI_OK ? WADI_OK : wadi_fail(error, status, "%s: %.3000s", path, inner.text);
}

/* Dust is then made of dry sand only. */
static WadiStatus wet_sand(Job *job, int number, double frame_time, WadiError *error)
{
    WadiState *frame = &job->frame[number % FRAMES];
    if (!wadi_wet_sand_applies(job->view.scene, frame)) {
        return WADI_OK;
    }
    WADI_TRY(wadi_arena_reset(&job->arena, error));
    WADI_TRY(wadi_wet_sand_step(&job->wet, job->view.scene, frame, frame_time, &job->arena, error));
    return wadi_wet_sand_apply(&job->wet, frame, error);
}

static WadiStatus fine_grains(Job *job, int number, const WadiFrameLayout *layout, WadiError *error)
{
    if (!wadi_fine_grains_apply(job->view.scene)) {
        return WADI_OK;
    }
    const WadiSecondaryStep step = { .before = number > 1 ? &job->frame[(number - 1) % FRAMES] : NULL,
                                     .after = &job->frame[number % FRAMES],
                                     .frame = number,
                                     .time = layout->header.time,
                                     .frame_time = 1.0 / layout->header.fps };
    return wadi_fine_grains_step(&job->grains, job->world, &step, &job->arena, error);
}

static WadiStatus make_state(Job *job, int number, const WadiFrameLayout *layout, WadiError *error)
{
    if (number == 1) {
        job->secondary.list.count = job->wet.list.count = 0;
        WADI_TRY(load_frame(job, number, error));
        WADI_TRY(wet_sand(job, number, 0.0, error));
        return fine_grains(job, number, layout, error);
    }
    WADI_TRY(load_state(job, number - 1, error));
    if (job->loaded[(number - 1) % FRAMES] != number - 1) {
        WADI_TRY(load_frame(job, number - 1, error));
    }
    WADI_TRY(load_frame(job, number, error));
    if (number < job->view.last) {
        start_reading(job, number + 1);
    }
    WADI_TRY(wet_sand(job, number, 1.0 / layout->header.fps, error));
    WADI_TRY(fine_grains(job, number, layout, error));
    const WadiSecondaryStep step = { .before = &job->frame[(number - 1) % FRAMES],
                                     .after = &job->frame[number % FRAMES],
                                     .frame = number,
                                     .time = layout->header.time,
                                     .frame_time = 1.0 / layout->header.fps };
    return wadi_secondary_step(&job->secondary, job->world, &step, &job->arena, error);
}

static WadiStatus write_file(const Pending *pending, const char *path, const WadiState *state,
                             WadiFileNames *made, WadiError *error)
{
    WADI_TRY(wadi_output_index_claim(pending->outputs, path, error));
    WADI_TRY(wadi_frame_file_write(path, "particles", &pending->header, state, error));
    return wadi_file_names_add(made, path, error);
}

/* A file that is there only when there is something in it. */
static WadiStatus write_or_remove(const Pending *pending, const char *path, const WadiState *state,
                                  WadiFileNames *made, WadiError *error)
{
    if (state->count > 0) {
        return write_file(pending, path, state, made, error);
    }
    if (wadi_file_exists(path)) {
        WADI_TRY(wadi_output_index_claim(pending->outputs, path, error));
        WADI_TRY(wadi_file_remove(path, error));
    }
    return WADI_OK;
}

static WadiStatus write_files(const Pending *pending, WadiFileNames *made, WadiError *error)
{
    WADI_TRY(write_file(pending, pending->path, &pending->file, made, error));
    WADI_TRY(write_or_remove(pending, pending->wet_path, &pending->wet, made, error));
    WADI_TRY(write_or_remove(pending, pending->grains_path, &pending->grains, made, error));
    return wadi_output_index_add(pending->outputs, made, pending->key, error);
}

static void write_pending(void *context)
{
    Pending *pending = context;
    WadiFileNames made = { 0 };
    pending->status = write_files(pending, &made, &pending->error);
    wadi_file_names_free(&made);
    if (pending->status == WADI_OK) {
        pending->status =
            wadi_frame_file_read_layout(pending->path, "particles", &pending->made, &pending->error);
    }
}

static void report_frame(Job *job, int number, const char *path, int64_t count, bool is_kept)
{
    const double seconds = wadi_time_now() - job->start;
    const int last = job->view.last;
    WadiSecondaryReport *report = job->report;
    report->frames = number;
    report->files += !is_kept;
    report->kept += is_kept;
    report->particles = is_kept ? report->particles : count;
    report->most = count > report->most ? count : report->most;
    report->seconds = seconds;
    WadiProgress progress = { .frame = number,
                              .frames_done = number,
                              .frame_count = last,
                              .first_frame = 1,
                              .is_frame_done = true,
                              .is_kept = is_kept,
                              .stage = "secondary",
                              .path = path,
                              .particles = count,
                              .seconds = seconds,
                              .seconds_per_frame = seconds / number,
                              .seconds_left = seconds / number * (last - number) };
    if (job->options->progress != NULL) {
        job->options->progress(job->options->progress_user, &progress);
    }
}

/* Waits for the files that are being written, and reports them. */
static WadiStatus finish_pending(Job *job, WadiError *error)
{
    Pending *pending = &job->pending;
    const int number = pending->number;
    pending->number = 0;
    if (number == 0) {
        return WADI_OK;
    }
    wadi_background_join(&pending->background);
    if (pending->status != WADI_OK) {
        if (error != NULL) {
            *error = pending->error;
        }
        return pending->status;
    }
    WADI_TRY(wadi_xdmf_add(&job->xdmf, job->view.summary.name, &pending->made, error));
    report_frame(job, number, pending->path, pending->particles, false);
    return WADI_OK;
}

/* Copies the state; its files are then written beside what is computed next. */
static WadiStatus start_writing(Job *job, const char *path, uint64_t key, const WadiFrameHeader *header,
                                WadiError *error)
{
    Pending *pending = &job->pending;
    pending->outputs = &job->outputs;
    pending->header = *header;
    pending->key = key;
    pending->particles = (int64_t)(job->secondary.list.count + job->grains.list.count);
    snprintf(pending->path, sizeof pending->path, "%s", path);
    find_path(job, wadi_run_wet_path, header->frame, pending->wet_path);
    find_path(job, wadi_run_grains_path, header->frame, pending->grains_path);
    WADI_TRY(wadi_secondary_save(&job->secondary, &pending->file, error));
    wadi_state_clear(&pending->wet);
    if (job->wet.list.count > 0) {
        WADI_TRY(wadi_wet_sand_save(&job->wet, &job->frame[header->frame % FRAMES], &pending->wet, error));
    }
    wadi_state_clear(&pending->grains);
    if (wadi_fine_grains_apply(job->view.scene)) {
        WADI_TRY(wadi_fine_grains_save(&job->grains, &pending->grains, error));
    }
    pending->number = header->frame;
    wadi_background_start(&pending->background, write_pending, pending);
    return WADI_OK;
}

static WadiStatus make_frame(Job *job, int number, uint64_t *key, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    WadiFrameLayout layout;
    WADI_TRY(wadi_run_view_read_layout(&job->view, number, &layout, error));
    *key = next_key(*key, &layout);
    find_path(job, wadi_run_secondary_path, number, path);
    if (!job->options->is_forced && wadi_output_index_has(&job->outputs, path, *key, false)) {
        WADI_TRY(finish_pending(job, error));
        WADI_TRY(wadi_frame_file_read_layout(path, "particles", &layout, error));
        WADI_TRY(wadi_xdmf_add(&job->xdmf, job->view.summary.name, &layout, error));
        report_frame(job, number, path, 0, true);
        return WADI_OK;
    }
    WADI_TRY(make_state(job, number, &layout, error));
    job->state_frame = number;
    WADI_TRY(finish_pending(job, error));
    return start_writing(job, path, *key, &layout.header, error);
}

static WadiStatus write_index(Job *job, WadiError *error)
{
    static const char *const endings[] = { "xdmf", "vertices" };
    char path[WADI_PATH_SIZE];
    for (int i = 0; i < 2; ++i) {
        snprintf(path, sizeof path, "%.*s/%s.%s", WADI_RUN_PATH_MAX + 16, job->folder, job->view.summary.name,
                 endings[i]);
        WADI_TRY(wadi_output_index_claim(&job->outputs, path, error));
    }
    return wadi_xdmf_write(&job->xdmf, job->folder, job->view.summary.name, error);
}

static WadiStatus make_frames(Job *job, WadiError *error)
{
    uint64_t key = settings_key(&job->view);
    WadiStatus status = WADI_OK;
    int number = 1;
    for (; number <= job->view.last && status == WADI_OK; ++number) {
        if (wadi_stop_requested(job->options->stop)) {
            status = wadi_fail(error, WADI_ERR_STOPPED, "stopped");
            break;
        }
        status = make_frame(job, number, &key, error);
    }
    WadiError unused = { 0 };
    WadiStatus finished = finish_pending(job, status == WADI_OK ? error : &unused);
    status = status == WADI_OK ? finished : status;
    /* Also after a failure: ParaView then shows what is there. */
    WadiStatus written = write_index(job, status == WADI_OK ? error : &unused);
    return status == WADI_OK ? written : status;
}

/* Whether pictures of the scene show foam or fine grains. */
static bool is_shown(const WadiScene *scene)
{
    bool picks[256], has_liquid = false;
    wadi_secondary_pick(scene, 0.0, false, picks);
    for (int m = 0; m < scene->material_count; ++m) {
        has_liquid = has_liquid || picks[m];
    }
    const bool foams = has_liquid && scene->secondary.amount > 0.0;
    return (foams || wadi_fine_grains_apply(scene)) && scene->render.has_secondary;
}

/* Whether the last file that is there was made with other settings: those files stay. */
static WadiStatus are_others_there(Job *job, bool *are_there, WadiError *error)
{
    uint64_t key = settings_key(&job->view), last_key = 0;
    char path[WADI_PATH_SIZE], last[WADI_PATH_SIZE] = "";
    for (int number = 1; number <= job->view.last; ++number) {
        WadiFrameLayout layout;
        WADI_TRY(wadi_run_view_read_layout(&job->view, number, &layout, error));
        key = next_key(key, &layout);
        find_path(job, wadi_run_secondary_path, number, path);
        if (wadi_file_exists(path)) {
            memcpy(last, path, sizeof last);
            last_key = key;
        }
    }
    *are_there = last[0] != '\0' && !wadi_output_index_has(&job->outputs, last, last_key, false);
    return WADI_OK;
}

static WadiStatus make_wanted(Job *job, WadiError *error)
{
    bool are_others = false;
    if (job->is_for_pictures) {
        WADI_TRY(are_others_there(job, &are_others, error));
    }
    return are_others ? WADI_OK : make_frames(job, error);
}

static WadiStatus open_and_make(Job *job, WadiError *error)
{
    if (job->is_for_pictures && !is_shown(job->view.scene)) {
        return WADI_OK;
    }
    snprintf(job->folder, sizeof job->folder, "%.*s/secondary", WADI_RUN_PATH_MAX, job->view.run);
    snprintf(job->report->folder, sizeof job->report->folder, "%s", job->folder);
    WADI_TRY(wadi_world_create(&job->world, job->view.scene, NULL, error));
    /* Each frame is made from the one before, so that one process makes all. */
    const WadiOutputWork work = { .folder = job->folder, .name = job->view.summary.name };
    WADI_TRY(wadi_output_index_open(&job->outputs, &work, NULL, error));
    WadiStatus status = make_wanted(job, error);
    wadi_output_index_close(&job->outputs);
    return status;
}

static void close_job(Job *job)
{
    wadi_read_ahead_join(&job->ahead);
    wadi_background_join(&job->pending.background);
    wadi_world_destroy(job->world);
    wadi_secondary_free(&job->secondary);
    wadi_wet_sand_free(&job->wet);
    wadi_fine_grains_free(&job->grains);
    for (int i = 0; i < FRAMES; ++i) {
        wadi_state_free(&job->frame[i]);
    }
    wadi_state_free(&job->pending.file);
    wadi_state_free(&job->pending.wet);
    wadi_state_free(&job->pending.grains);
    wadi_state_free(&job->file);
    wadi_xdmf_free(&job->xdmf);
    wadi_arena_free(&job->arena);
    wadi_run_view_close(&job->view);
}

static WadiStatus make(const char *run, const WadiSecondaryOptions *options, bool is_for_pictures,
                       WadiSecondaryReport *report, WadiError *error)
{
    WadiSecondaryReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiSecondaryReport){ 0 };
    if (run == NULL || options == NULL || options->cookie != OPTIONS_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "no run, or options that are not from wadi_default_secondary_options");
    }
    const unsigned asserts = wadi_assert_count();
    wadi_parallel_set_threads(options->threads);
    Job *job = NULL;
    WADI_TRY(WADI_NEW(&job, 1, "secondary particles", error));
    *job = (Job){
        .options = options, .report = report, .is_for_pictures = is_for_pictures, .start = wadi_time_now()
    };
    static const char *const own[] = { "secondary", NULL };
    static const char *const of_pictures[] = { "secondary",         "render", "surface", "materials.*.look",
                                               "colliders[*].look", NULL };
    WadiStatus status = wadi_run_view_open(&job->view, run,
                                           &(WadiRunViewDef){ .sets = options->sets,
                                                              .set_count = options->set_count,
                                                              .keys = is_for_pictures ? of_pictures : own,
                                                              .example = "secondary.amount=2",
                                                              .last = options->last_frame,
                                                              .log = options->log },
                                           error);
    if (status == WADI_OK) {
        status = open_and_make(job, error);
        close_job(job);
    }
    WADI_DELETE(job, 1);
    return wadi_assert_status(status, asserts, error);
}

WadiStatus wadi_secondary(const char *run, const WadiSecondaryOptions *options, WadiSecondaryReport *report,
                          WadiError *error)
{
    return make(run, options, false, report, error);
}

WadiStatus wadi_secondary_for_pictures(const char *run, const WadiSecondaryOptions *options,
                                       WadiSecondaryReport *report, WadiError *error)
{
    return make(run, options, true, report, error);
}
