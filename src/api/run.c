/* A run: connects the simulation and the run folder, and decides where to start. */
#include <stdio.h>
#include <string.h>

#include "api/change.h"
#include "api/pace.h"
#include "api/run_checks.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/os/os_memory.h"
#include "core/parallel.h"
#include "core/status.h"
#include "core/timer.h"
#include "io/files/files.h"
#include "io/run/run_assets.h"
#include "io/run/run_folder.h"
#include "particles/buried.h"
#include "sim/volume.h"
#include "wadi/run.h"

static const double CHECKPOINT_SECONDS = 1.0;

typedef struct Run {
    const WadiScene *scene;
    const WadiRunDef *def;
    WadiRunFolder *folder;
    WadiSim *sim;
    WadiState snapshot; /* the writer reads it until wadi_run_folder_flush */
    WadiState visible;  /* the same: the frame without hidden particles, where the scene has `visible_only` */
    WadiRunSummary summary;
    WadiRunSummary previous; /* run.json of the earlier session */
    char path[3500];         /* of the run folder */
    int frame_count;
    int safe_frames;        /* at the end: frames 1 to this one are on disk */
    int first_frame;        /* where this session started; 0 when it seeded */
    int kept;               /* frames that are kept; only the last of them is written again */
    double started;         /* s, on the clock of wadi_time_now */
    double checkpoint_time; /* the same clock: when the last checkpoint was submitted */
    bool has_checkpoint;    /* the present state was submitted as a checkpoint */
    WadiPace pace;
    WadiVolumeWatch volume;
    WadiText forces;      /* lines of the table of forces */
    WadiProgress pending; /* report of the last frame, sent when the frame is on disk */
} Run;

/* Warnings go to the caller and to run.json. */
static void record_warning(void *user, WadiLogLevel level, const char *text)
{
    Run *run = user;
    wadi_log(&run->def->log, level, "%s", text);
    WadiRunSummary *summary = &run->summary;
    if (level != WADI_LOG_WARNING || summary->warning_count >= WADI_RUN_WARNING_MAX) {
        return;
    }
    for (int i = 0; i < summary->warning_count; ++i) {
        if (strcmp(summary->warning[i], text) == 0) {
            return;
        }
    }
    if (wadi_string_copy(&summary->warning[summary->warning_count], text, strlen(text), NULL) == WADI_OK) {
        summary->warning_count += 1;
    }
}

static WadiStatus copy_text(char **copy, const char *text, WadiError *error)
{
    return wadi_string_copy(copy, text, strlen(text), error);
}

static WadiStatus begin_summary(Run *run, WadiError *error)
{
    const WadiScene *scene = run->scene;
    WadiRunSummary *summary = &run->summary;
    WADI_TRY(copy_text(&summary->scene, scene->path, error));
    WADI_TRY(copy_text(&summary->name, scene->name, error));
    WADI_TRY(copy_text(&summary->solver, scene->solver, error));
    for (int m = 0; m < scene->material_count; ++m) {
        WADI_TRY(copy_text(&summary->material_name[m], scene->materials[m].name, error));
        summary->material_count = m + 1;
    }
    summary->content_hash = scene->content_hash;
    if (run->previous.name != NULL) {
        wadi_run_summary_follow(summary, &run->previous);
    }
    summary->fps = scene->fps;
    summary->frame_count = run->frame_count;
    WADI_TRY(wadi_run_summary_list_frames(summary, run->frame_count, &run->previous, error));
    summary->threads = wadi_parallel_threads();
    run->volume.last.drift = run->previous.drift_volume;
    for (int i = 0; i < run->previous.warning_count; ++i) {
        WADI_TRY(copy_text(&summary->warning[summary->warning_count], run->previous.warning[i], error));
        summary->warning_count += 1;
    }
    return WADI_OK;
}

static void update_summary(Run *run, int frames)
{
    const WadiSim *sim = run->sim;
    WadiRunSummary *summary = &run->summary;
    summary->frames = frames;
    summary->is_finished = frames >= run->frame_count;
    summary->steps = sim->steps;
    for (int m = 0; m < summary->material_count; ++m) {
        summary->material_particles[m] = wadi_sim_material_count(sim, m);
    }
    summary->lost_particles = wadi_sim_lost_particles(sim);
    summary->drained_particles = wadi_sim_drained_particles(sim);
    summary->seconds_total = run->previous.seconds_total + wadi_time_now() - run->started;
    summary->stages = sim->times;
    for (int i = 0; i < run->previous.stages.count && summary->stages.count < WADI_STAGE_MAX; ++i) {
        wadi_stage_times_add(&summary->stages, run->previous.stages.name[i], run->previous.stages.seconds[i]);
    }
    size_t peak = wadi_memory_peak_rss();
    summary->peak_rss_bytes = peak > run->previous.peak_rss_bytes ? peak : run->previous.peak_rss_bytes;
    summary->drift_mass = wadi_sim_mass_drift(sim, -1);
    summary->drift_water_mass = wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER);
    summary->drift_volume = run->volume.last.drift;
    summary->max_divergence = sim->max_divergence;
    const WadiResampling *resampling = &sim->resampling;
    summary->has_resampling = resampling->is_on;
    summary->splits = resampling->splits;
    summary->merges = resampling->merges;
    summary->shares = resampling->shares;
    summary->lost_energy = resampling->energy;
    summary->lost_spin[0] = resampling->spin.x;
    summary->lost_spin[1] = resampling->spin.y;
    summary->lost_spin[2] = resampling->spin.z;
}

static WadiProgress make_progress(const Run *run, const char *stage, bool is_frame_done)
{
    const WadiSim *sim = run->sim;
    double seconds = wadi_time_now() - run->started;
    double frame_start = wadi_scene_frame_time(run->scene, sim->frame);
    double fraction = is_frame_done ? 0.0 : (sim->time - frame_start) * run->scene->fps;
    double frames_remaining = run->frame_count - sim->frame - fraction;
    double pace = wadi_pace_seconds_per_frame(&run->pace);
    return (WadiProgress){ .frame = sim->frame,
                           .first_frame = run->first_frame > 0 ? run->first_frame : 1,
                           .frame_count = run->frame_count,
                           .frames_done = sim->frame,
                           .is_frame_done = is_frame_done,
                           .frame_fraction = fraction,
                           .stage = stage,
                           .particles = sim->particles.count,
                           .sleeping_particles = sim->sleeping_particles,
                           .steps = sim->steps,
                           .dt = sim->dt,
                           .dt_limit = sim->dt_limit,
                           .seconds = seconds,
                           .seconds_per_frame = pace,
                           .seconds_left = frames_remaining <= 0.0 ? 0.0
                                           : pace >= 0.0           ? pace * frames_remaining
                                                                   : -1.0,
                           .state_hash = is_frame_done ? run->summary.state_hash : 0 };
}

static void report(const Run *run, const WadiProgress *progress)
{
    if (run->def->progress != NULL) {
        run->def->progress(run->def->progress_user, progress);
    }
}

/* Waits for the frame being written, then reports it. */
static WadiStatus finish_write(Run *run, WadiError *error)
{
    WADI_TRY(wadi_run_folder_flush(run->folder, error));
    if (run->pending.is_frame_done) {
        report(run, &run->pending);
        run->pending.is_frame_done = false;
    }
    return WADI_OK;
}

/* Whether the frame just finished gets a checkpoint: the last, milestones, the one at a stop, and otherwise
 * so often that a killed run loses about a second. With fast frames, more checkpoints would take as long as
 * the frames. */
static bool needs_checkpoint(const Run *run, bool is_milestone)
{
    int frame = run->sim->frame;
    bool is_stopping = wadi_stop_requested(run->def->stop);
    return is_milestone || is_stopping || frame >= run->frame_count ||
           wadi_time_now() - run->checkpoint_time >= CHECKPOINT_SECONDS;
}

static WadiStatus find_visible(Run *run, WadiError *error)
{
    const WadiParticles *p = &run->sim->particles;
    WadiArena arena = { 0 };
    uint8_t *is_buried = NULL;
    WadiStatus status = wadi_find_buried(p, run->sim->world->spacing, &arena, &is_buried, error);
    if (status == WADI_OK) {
        status = wadi_state_drop_rows(&run->snapshot, WADI_USE_FRAME, is_buried, (size_t)p->count,
                                      &run->visible, error);
    }
    wadi_arena_free(&arena);
    return status;
}

/* Submits the present state to the writer: as a frame, mostly with its checkpoint, or as a checkpoint between
 * frames. */
static WadiStatus submit(Run *run, bool is_frame, WadiError *error)
{
    WadiSim *sim = run->sim;
    int every = run->scene->checkpoint_every;
    bool is_milestone = is_frame && every > 0 && sim->frame % every == 0;
    run->has_checkpoint = !is_frame || needs_checkpoint(run, is_milestone);
    WADI_STAGE(&sim->times, "wait for disk", WADI_TRY(finish_write(run, error)));
    WADI_STAGE(&sim->times, "snapshot", WADI_TRY(wadi_sim_snapshot(sim, &run->snapshot, error));
               wadi_state_hash_arrays(&run->snapshot, WADI_USE_BOTH));
    if (is_frame && (sim->frame % WADI_VOLUME_EVERY == 1 || sim->frame == run->frame_count)) {
        WADI_STAGE(&sim->times, "volume", WADI_TRY(wadi_volume_watch(&run->volume, sim, error)));
    }
    const bool is_visible_only = is_frame && run->scene->is_visible_only;
    if (is_visible_only) {
        WADI_STAGE(&sim->times, "visible", WADI_TRY(find_visible(run, error)));
    }
    update_summary(run, sim->frame);
    if (is_frame) {
        wadi_run_summary_count(&run->summary, sim->frame, sim->particles.count, sim->sleeping_particles);
        run->summary.state_hash = wadi_state_hash(&run->snapshot, WADI_USE_CHECKPOINT);
        run->pending = make_progress(run, "write", true);
    }
    WADI_TRY(wadi_sim_forces_rows(sim, &run->forces, error));
    WadiRunItem item = { .header = { .time = sim->time,
                                     .frame = sim->frame,
                                     .fps = run->scene->fps,
                                     .scene = run->scene->content_hash },
                         .state = &run->snapshot,
                         .frame = is_visible_only ? &run->visible : NULL,
                         .has_frame = is_frame,
                         .has_checkpoint = run->has_checkpoint,
                         .is_checkpoint_kept = is_milestone,
                         .summary = &run->summary,
                         .forces_header = wadi_sim_forces_header(),
                         .forces = is_frame && run->forces.length > 0 ? run->forces.data : NULL };
    snprintf(item.header.name, sizeof item.header.name, "%s", run->scene->name);
    if (run->has_checkpoint) {
        run->checkpoint_time = wadi_time_now();
    }
    return wadi_run_folder_submit(run->folder, &item, error);
}

/* Loads the newest state to continue from, or seeds. */
static WadiStatus find_start(Run *run, bool *is_fresh, WadiError *error)
{
    const WadiRunDef *def = run->def;
    *is_fresh = true;
    int frames = wadi_run_folder_frames(run->folder);
    if (def->from_frame > frames) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "from frame %d: %s has %d frames", def->from_frame,
                         run->path, frames);
    }
    bool is_same = run->previous.content_hash == run->scene->content_hash;
    if (frames > 0 && run->previous.name != NULL && !is_same && def->from_frame == 0) {
        return wadi_fail_hint(
            error, WADI_ERR_ARGUMENT, WADI_HINT_SCENE_CHANGED,
            "%s was made by another scene: %s has changed since, so its frames cannot simply go on",
            run->path, run->scene->path);
    }
    int last = def->from_frame > 0 ? def->from_frame : frames;
    if (run->previous.name != NULL) { /* without run.json the scenes of the frames are not known */
        WADI_TRY(wadi_run_folder_check_frames(run->folder, &run->previous, last, error));
    }
    wadi_run_folder_expect(run->folder, run->previous.name != NULL ? &run->previous : &run->summary);
    WadiFrameHeader header = { 0 };
    bool is_found = false;
    WadiState state = { 0 };
    WadiStatus status = wadi_run_folder_read_checkpoint(run->folder, last, &state, &header, &is_found, error);
    if (status == WADI_OK && is_found) {
        if (def->from_frame > 0 && !is_same && header.frame != def->from_frame) {
            status = wadi_fail(
                error, WADI_ERR_ARGUMENT,
                "from frame %d: the scene has changed and frame %d has no checkpoint; the "
                "nearest before it is of frame %d (checkpoint_every in the scene says how many are kept)",
                def->from_frame, def->from_frame, header.frame);
        } else {
            status = wadi_changes_restore(run->sim, &state, error);
            if (status == WADI_OK) {
                status = wadi_sim_restore(run->sim, &state, error);
            }
            *is_fresh = false;
        }
    } else if (status == WADI_OK && def->from_frame > 1 && !is_same) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT,
                           "from frame %d: the scene has changed and %s has no checkpoint of a frame up to "
                           "it (checkpoint_every in the scene says how many are kept)",
                           def->from_frame, run->path);
    }
    wadi_state_free(&state);
    WADI_TRY(status);
    run->kept = frames;
    if (def->from_frame > 0) {
        /* A changed scene that starts at its first frame is seeded again: then frame 1 is not kept either. */
        run->kept = *is_fresh && !is_same ? 0 : def->from_frame;
        WADI_TRY(wadi_run_folder_truncate(run->folder, run->kept, error));
    }
    return WADI_OK;
}

static WadiStatus simulate(Run *run, WadiError *error)
{
    WadiSim *sim = run->sim;
    wadi_pace_add(&run->pace, sim->time * run->scene->fps, wadi_time_now());
    while (sim->frame < run->frame_count) {
        int frame = sim->frame;
        WADI_TRY(wadi_sim_step(sim, error));
        wadi_pace_add(&run->pace, sim->time * run->scene->fps, wadi_time_now());
        bool is_frame_done = sim->frame > frame;
        run->has_checkpoint = false;
        if (is_frame_done && sim->frame >= run->kept) {
            WADI_TRY(submit(run, true, error));
        }
        WadiProgress progress = make_progress(run, "step", false);
        report(run, &progress);
        if (wadi_stop_requested(run->def->stop) && sim->frame < run->frame_count) {
            /* While frames that exist are simulated again, the checkpoint at the start of this session is
             * enough. */
            if (!run->has_checkpoint && sim->frame >= run->kept) {
                WADI_TRY(submit(run, false, error));
            }
            WADI_TRY(finish_write(run, error));
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped after frame %d of %d; a checkpoint is in %s",
                             sim->frame, run->frame_count, run->path);
        }
    }
    return finish_write(run, error);
}

/* A changed scene goes on: run.json names both scenes before the first new frame is there. */
static WadiStatus record_change(Run *run, WadiError *error)
{
    if (run->previous.name == NULL || run->kept == 0 ||
        run->previous.content_hash == run->scene->content_hash) {
        return WADI_OK;
    }
    update_summary(run, run->kept);
    WadiRunItem item = { .header = { .frame = run->kept },
                         .state = &run->snapshot,
                         .summary = &run->summary };
    WADI_TRY(wadi_run_folder_submit(run->folder, &item, error));
    return wadi_run_folder_flush(run->folder, error);
}

/* Writes RUN/scene.yaml, which names copies in RUN/assets: the folder can be moved, drawn and continued
 * anywhere. */
static WadiStatus record_scene(Run *run, WadiError *error)
{
    WadiText text = { 0 };
    WadiStatus status = wadi_run_assets_store(run->path, run->scene, &text, error);
    if (status == WADI_OK) {
        status = wadi_run_folder_write_scene(run->folder, text.data, error);
    }
    if (status == WADI_OK) {
        status = wadi_run_assets_clean(run->path, text.data, error);
    }
    wadi_text_free(&text);
    return status;
}

static WadiStatus create_sim(Run *run, bool is_fresh, WadiError *error)
{
    WadiSimDef sim_def = wadi_default_sim_def();
    sim_def.threads = run->def->threads;
    sim_def.log = (WadiLog){ record_warning, run };
    WADI_TRY(wadi_sim_create_empty(&run->sim, run->scene, &sim_def, error));
    double duration = wadi_scene_frame_time(run->scene, run->frame_count);
    return is_fresh ? wadi_sim_check_memory(run->sim, duration, error) : WADI_OK;
}

static WadiStatus execute(Run *run, WadiError *error)
{
    const WadiRunDef *def = run->def;
    WadiRunMode mode = def->from_frame > 0 ? WADI_RUN_RESUME : def->mode;
    const bool is_same_scene = mode == WADI_RUN_RESUME && def->from_frame == 0;
    WADI_TRY(wadi_run_check_folder(run->scene, run->path, is_same_scene, error));
    WadiLog log = { record_warning, run };
    if (mode != WADI_RUN_RESUME) {
        /* An invalid scene creates no folder and removes no earlier run. */
        WADI_TRY(create_sim(run, true, error));
    }
    WADI_TRY(wadi_run_folder_open(&run->folder, run->path, run->scene->name, mode, &log, error));
    if (mode == WADI_RUN_RESUME && wadi_run_folder_frames(run->folder) > 0) {
        WadiError ignored;
        if (wadi_run_summary_read(run->path, &run->previous, &ignored) != WADI_OK) {
            wadi_log(&log, WADI_LOG_WARNING, "run.json is not readable and will be made anew: %s",
                     ignored.text);
            run->previous.content_hash = run->scene->content_hash;
        }
    }
    WADI_TRY(begin_summary(run, error));

    if (mode == WADI_RUN_RESUME) {
        WADI_TRY(create_sim(run, wadi_run_folder_frames(run->folder) == 0, error));
    }
    run->summary.threads = wadi_parallel_threads();
    bool is_fresh = true;
    if (mode == WADI_RUN_RESUME) {
        WADI_TRY(find_start(run, &is_fresh, error));
    }
    if (run->sim->frame > run->frame_count) {
        return wadi_fail_hint(error, WADI_ERR_ARGUMENT, WADI_HINT_FEWER_FRAMES,
                              "%s already has %d frames and %d are wanted; nothing was changed", run->path,
                              run->sim->frame, run->frame_count);
    }
    run->first_frame = run->sim->frame;
    if (!is_fresh && run->previous.frames == run->sim->frame) {
        run->summary.state_hash = run->previous.state_hash; /* also of a state inside the next frame */
    }
    WADI_TRY(record_scene(run, error));
    WADI_TRY(record_change(run, error));
    WADI_TRY(wadi_run_start_changes(run->sim, run->path, def->changes, is_fresh, error));
    if (is_fresh) {
        WadiProgress progress = { .stage = "seed",
                                  .first_frame = 1,
                                  .frame_count = run->frame_count,
                                  .dt_limit = run->sim->dt_limit,
                                  .seconds_per_frame = -1.0,
                                  .seconds_left = -1.0 };
        report(run, &progress);
        run->first_frame = 0;
        WADI_TRY(wadi_sim_seed(run->sim, error));
        if (run->kept <= 1) {
            WADI_TRY(submit(run, true, error));
        }
    } else if (run->sim->frame == run->frame_count) {
        /* No frame to simulate, but the requested settings may have changed: run.json is updated. */
        WADI_TRY(submit(run, true, error));
    }
    return simulate(run, error);
}

static void fill_report(const Run *run, WadiRunReport *report)
{
    snprintf(report->folder, sizeof report->folder, "%s", run->path);
    report->seconds = wadi_time_now() - run->started;
    report->peak_rss_bytes = wadi_memory_peak_rss();
    report->warning_count = run->summary.warning_count;
    if (run->sim != NULL) {
        report->frames = run->safe_frames;
        int kept = run->kept > run->first_frame ? run->kept : run->first_frame;
        bool has_done = run->safe_frames > 0 && run->sim->frame > kept;
        report->frames_done = has_done ? run->sim->frame - kept : 0;
        report->steps = run->sim->steps;
        report->particles = run->sim->particles.count;
        report->lost_particles = wadi_sim_lost_particles(run->sim);
        report->drained_particles = wadi_sim_drained_particles(run->sim);
        report->state_hash = run->summary.state_hash;
    }
}

WadiStatus wadi_run(const WadiScene *scene, const WadiRunDef *def, WadiRunReport *report, WadiError *error)
{
    if (report != NULL) {
        *report = (WadiRunReport){ 0 };
    }
    WADI_TRY(wadi_run_check_def(def, error));
    const unsigned asserts = wadi_assert_count();
    Run *run = NULL;
    WADI_TRY(WADI_NEW(&run, 1, "run", error));
    run->scene = scene;
    run->def = def;
    run->started = run->checkpoint_time = wadi_time_now();
    run->frame_count = def->frames > 0 ? def->frames : scene->frames;
    int length = def->folder != NULL ? snprintf(run->path, sizeof run->path, "%s", def->folder)
                                     : snprintf(run->path, sizeof run->path, "%s.run", scene->name);
    wadi_parallel_set_threads(def->threads);
    WadiStatus status = length < (int)sizeof run->path
                            ? execute(run, error)
                            : wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the run folder is too long");
    if (run->folder != NULL) {
        wadi_run_folder_flush(run->folder, NULL); /* closing returns its error */
        run->safe_frames = wadi_run_folder_safe_frames(run->folder);
    }
    /* An error of closing is returned only if nothing failed before; a stopped run says what is on disk. */
    WadiError late = { 0 };
    WadiStatus close_status = wadi_run_folder_close(run->folder, &late);
    if (close_status != WADI_OK && (status == WADI_OK || status == WADI_ERR_STOPPED)) {
        status = wadi_fail_as(error, &late);
    }
    if (report != NULL) {
        fill_report(run, report);
    }
    wadi_sim_destroy(run->sim);
    wadi_state_free(&run->snapshot);
    wadi_state_free(&run->visible);
    wadi_text_free(&run->forces);
    wadi_run_summary_free(&run->summary);
    wadi_run_summary_free(&run->previous);
    WADI_DELETE(run, 1);
    return wadi_assert_status(status, asserts, error);
}
