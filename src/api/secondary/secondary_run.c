/* Foam, spray, bubbles and dust of a run: one file a frame, each made from the one before. */
#include "wadi/secondary.h"

#include <stdio.h>
#include <string.h>

#include "api/run_view.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "io/frame/xdmf.h"
#include "io/run/output_index.h"
#include "io/run/run_files.h"
#include "secondary/secondary.h"
#include "secondary/wet_sand.h"

enum {
    OPTIONS_COOKIE = 0x5ec0d,
    SECONDARY_VERSION = 2 /* increased when the same settings give other particles */
};

WadiSecondaryOptions wadi_default_secondary_options(void)
{
    return (WadiSecondaryOptions){ .cookie = OPTIONS_COOKIE };
}

typedef struct Job {
    const WadiSecondaryOptions *options;
    WadiSecondaryReport *report;
    WadiRunView view;
    WadiWorld *world;
    WadiOutputIndex outputs;
    char folder[WADI_PATH_SIZE];
    WadiSecondary secondary;
    WadiWetSand wet;
    int state_frame; /* whose state `secondary` and `wet` are; 0: not known */
    WadiState frame[2], file;
    int loaded[2]; /* numbers of the frames in `frame`; 0: none */
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
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        key = hash_number(key, numbers[i]);
    }
    return key;
}

static void file_path(const Job *job, int number, char path[WADI_PATH_SIZE])
{
    wadi_run_secondary_path(path, WADI_PATH_SIZE, job->view.run, job->view.summary.name, number);
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

/* Frame `number` is then in job->frame[number % 2]. */
static WadiStatus load_frame(Job *job, int number, WadiFrameHeader *header, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_run_frame_path(path, sizeof path, job->view.run, job->view.summary.name, number);
    job->loaded[number % 2] = 0;
    WADI_TRY(wadi_frame_file_read(path, "particles", header, &job->frame[number % 2], error));
    job->loaded[number % 2] = number;
    return WADI_OK;
}

static void wet_path(const Job *job, int number, char path[WADI_PATH_SIZE])
{
    wadi_run_wet_path(path, WADI_PATH_SIZE, job->view.run, job->view.summary.name, number);
}

/* The state after frame `number`, from its files unless it is known. */
static WadiStatus load_state(Job *job, int number, WadiError *error)
{
    if (job->state_frame == number) {
        return WADI_OK;
    }
    char path[WADI_PATH_SIZE];
    file_path(job, number, path);
    WadiFrameHeader header;
    WADI_TRY(wadi_frame_file_read(path, "particles", &header, &job->file, error));
    WadiError inner = { 0 };
    WadiStatus status = wadi_secondary_load(&job->secondary, &job->file, &inner);
    wet_path(job, number, path);
    job->wet.list.count = 0;
    if (status == WADI_OK && wadi_file_exists(path)) {
        WADI_TRY(wadi_frame_file_read(path, "particles", &header, &job->file, error));
        status = wadi_wet_sand_load(&job->wet, &job->file, &inner);
    }
    return status == WADI_OK ? WADI_OK : wadi_fail(error, status, "%s: %.3000s", path, inner.text);
}

/* Dust is then made of dry sand only. */
static WadiStatus wet_sand(Job *job, int number, double frame_time, WadiError *error)
{
    WadiState *frame = &job->frame[number % 2];
    if (!wadi_wet_sand_applies(job->view.scene, frame)) {
        return WADI_OK;
    }
    WADI_TRY(wadi_arena_reset(&job->arena, error));
    WADI_TRY(wadi_wet_sand_step(&job->wet, job->view.scene, frame, frame_time, &job->arena, error));
    return wadi_wet_sand_apply(&job->wet, frame, error);
}

static WadiStatus make_state(Job *job, int number, const WadiFrameLayout *layout, WadiError *error)
{
    WadiFrameHeader header;
    if (number == 1) {
        job->secondary.list.count = job->wet.list.count = 0;
        job->secondary.next_id = 0;
        WADI_TRY(load_frame(job, number, &header, error));
        return wet_sand(job, number, 0.0, error);
    }
    WADI_TRY(load_state(job, number - 1, error));
    if (job->loaded[(number - 1) % 2] != number - 1) {
        WADI_TRY(load_frame(job, number - 1, &header, error));
    }
    WADI_TRY(load_frame(job, number, &header, error));
    WADI_TRY(wet_sand(job, number, 1.0 / layout->header.fps, error));
    const WadiSecondaryStep step = { .before = &job->frame[(number - 1) % 2],
                                     .after = &job->frame[number % 2],
                                     .frame = number,
                                     .time = layout->header.time,
                                     .frame_time = 1.0 / layout->header.fps };
    return wadi_secondary_step(&job->secondary, job->world, &step, &job->arena, error);
}

/* job->file to `path`. */
static WadiStatus write_file(Job *job, const char *path, const WadiFrameHeader *header, WadiFileNames *made,
                             WadiError *error)
{
    WADI_TRY(wadi_output_index_claim(&job->outputs, path, error));
    WADI_TRY(wadi_frame_file_write(path, "particles", header, &job->file, error));
    return wadi_file_names_add(made, path, error);
}

/* A file of wet sand only where there is some. */
static WadiStatus write_files(Job *job, const char *path, const WadiFrameHeader *header, WadiFileNames *made,
                              WadiError *error)
{
    char wet[WADI_PATH_SIZE];
    wet_path(job, header->frame, wet);
    WADI_TRY(wadi_secondary_save(&job->secondary, &job->file, error));
    WADI_TRY(write_file(job, path, header, made, error));
    if (job->wet.list.count > 0) {
        WADI_TRY(wadi_wet_sand_save(&job->wet, &job->frame[header->frame % 2], &job->file, error));
        return write_file(job, wet, header, made, error);
    }
    if (wadi_file_exists(wet)) {
        WADI_TRY(wadi_output_index_claim(&job->outputs, wet, error));
        return wadi_file_remove(wet, error);
    }
    return WADI_OK;
}

static WadiStatus write_state(Job *job, const char *path, uint64_t key, const WadiFrameHeader *header,
                              WadiError *error)
{
    WadiFileNames made = { 0 };
    WadiStatus status = write_files(job, path, header, &made, error);
    if (status == WADI_OK) {
        status = wadi_output_index_add(&job->outputs, &made, key, error);
    }
    wadi_file_names_free(&made);
    return status;
}

static void report_frame(Job *job, int number, const char *path, bool is_kept)
{
    const double seconds = wadi_time_now() - job->start;
    const int last = job->view.last;
    WadiSecondaryReport *report = job->report;
    const int64_t count = is_kept ? 0 : (int64_t)job->secondary.list.count;
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

static WadiStatus make_frame(Job *job, int number, uint64_t *key, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    WadiFrameLayout layout;
    wadi_run_frame_path(path, sizeof path, job->view.run, job->view.summary.name, number);
    WADI_TRY(wadi_frame_file_read_layout(path, "particles", &layout, error));
    if (layout.header.frame != number || !(layout.header.fps > 0.0)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: it says that it is frame %d, at %g frames a second",
                         path, layout.header.frame, layout.header.fps);
    }
    *key = next_key(*key, &layout);
    file_path(job, number, path);
    const bool is_kept = !job->options->is_forced && wadi_output_index_has(&job->outputs, path, *key, false);
    if (!is_kept) {
        WADI_TRY(make_state(job, number, &layout, error));
        job->state_frame = number;
        WADI_TRY(write_state(job, path, *key, &layout.header, error));
    }
    WadiFrameLayout made;
    WADI_TRY(wadi_frame_file_read_layout(path, "particles", &made, error));
    WADI_TRY(wadi_xdmf_add(&job->xdmf, job->view.summary.name, &made, error));
    report_frame(job, number, path, is_kept);
    return WADI_OK;
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
        if (job->options->stop != NULL && *job->options->stop != 0) {
            status = wadi_fail(error, WADI_ERR_STOPPED, "stopped");
            break;
        }
        status = make_frame(job, number, &key, error);
    }
    /* Also after a failure: ParaView then shows what is there. */
    WadiError unused = { 0 };
    WadiStatus written = write_index(job, status == WADI_OK ? error : &unused);
    return status == WADI_OK ? written : status;
}

static WadiStatus open_and_make(Job *job, WadiError *error)
{
    snprintf(job->folder, sizeof job->folder, "%.*s/secondary", WADI_RUN_PATH_MAX, job->view.run);
    snprintf(job->report->folder, sizeof job->report->folder, "%s", job->folder);
    WADI_TRY(wadi_world_create(&job->world, job->view.scene, NULL, error));
    WADI_TRY(wadi_output_index_open(&job->outputs, job->folder, error));
    WadiStatus status = make_frames(job, error);
    wadi_output_index_close(&job->outputs);
    return status;
}

static void close_job(Job *job)
{
    wadi_world_destroy(job->world);
    wadi_secondary_free(&job->secondary);
    wadi_wet_sand_free(&job->wet);
    for (int i = 0; i < 2; ++i) {
        wadi_state_free(&job->frame[i]);
    }
    wadi_state_free(&job->file);
    wadi_xdmf_free(&job->xdmf);
    wadi_arena_free(&job->arena);
    wadi_run_view_close(&job->view);
}

WadiStatus wadi_secondary(const char *run, const WadiSecondaryOptions *options, WadiSecondaryReport *report,
                          WadiError *error)
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
    *job = (Job){ .options = options, .report = report, .start = wadi_time_now() };
    static const char *const keys[] = { "secondary", NULL };
    WadiStatus status = wadi_run_view_open(&job->view, run,
                                           &(WadiRunViewDef){ .sets = options->sets,
                                                              .set_count = options->set_count,
                                                              .keys = keys,
                                                              .example = "secondary.amount=2",
                                                              .last = options->last_frame },
                                           error);
    if (status == WADI_OK) {
        status = open_and_make(job, error);
        close_job(job);
    }
    WADI_DELETE(job, 1);
    return wadi_assert_status(status, asserts, error);
}
