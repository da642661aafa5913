/* Surfaces of a run. Worker threads process frames from a list, each with its own arena and thread team; the
 * calling thread reports the files in frame order. The bytes do not depend on the numbers of workers and
 * threads: frames are independent, and no stage depends on its thread count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/surface/surface_team.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/os/os_memory.h"
#include "core/parallel.h"
#include "core/status.h"

enum {
    SURFACE_DEF_COOKIE = 0x5afe5,
    /* From this size a frame uses all cores, and several at once would only cost memory. */
    LARGE_FRAME = 2000000
};

/* Memory of a frame in work (frame, cloud, bins, field, mesh): an order of magnitude, to choose the number of
 * workers. */
static const double bytes_per_particle = 1500.0;

WadiSurfaceDef wadi_default_surface_def(void)
{
    return (WadiSurfaceDef){ .cookie = SURFACE_DEF_COOKIE, .formats = WADI_SURFACE_PLY, .stale = 120.0 };
}

static bool is_stopped(const WadiSurfaceTeam *team)
{
    return wadi_stop_requested(team->def->stop);
}

/* Bits of the formats that must be written. */
unsigned wadi_surface_team_missing(const WadiSurfaceTeam *team, int part, int frame, uint64_t key)
{
    const WadiSurfacePlan *plan = team->plan;
    unsigned missing = plan->formats;
    char path[WADI_PATH_SIZE];
    for (unsigned f = 1; f <= WADI_SURFACE_VDB && !team->def->is_forced; f <<= 1) {
        if ((plan->formats & f) != 0) {
            wadi_surface_plan_path(plan, part, frame, (WadiSurfaceFormat)f, path, sizeof path);
            bool is_made = wadi_output_index_has(&team->outputs, path, key, false) &&
                           wadi_surface_frame_is_made(path, (WadiSurfaceFormat)f, key);
            missing &= is_made ? ~f : ~0u;
        }
    }
    return missing;
}

static WadiStatus write_files(WadiSurfaceWorker *worker, int part, const WadiFrameHeader *header,
                              uint64_t key, unsigned formats, const WadiSurfaceFrame *made, WadiError *error)
{
    const WadiSurfacePlan *plan = worker->team->plan;
    WadiMeshFileInfo info = { .material = plan->part[part].name,
                              .frame = header->frame,
                              .subframe = plan->subframe,
                              .time = header->time + plan->subframe / header->fps,
                              .fps = header->fps,
                              .cell = plan->frame.field.cell,
                              .is_y_up = plan->is_y_up,
                              .key = key };
    char path[WADI_PATH_SIZE];
    for (unsigned f = 1; f <= WADI_SURFACE_VDB; f <<= 1) {
        if ((formats & f) != 0) {
            wadi_surface_plan_path(plan, part, header->frame, (WadiSurfaceFormat)f, path, sizeof path);
            WADI_TRY(wadi_output_index_claim(&worker->team->outputs, path, error));
            WADI_TRY(wadi_surface_frame_write(made, path, (WadiSurfaceFormat)f, &info, error));
            WADI_TRY(wadi_output_index_add_file(&worker->team->outputs, path, key, error));
        }
    }
    return WADI_OK;
}

static WadiStatus make_part(WadiSurfaceWorker *worker, int part, const WadiFrameHeader *header, uint64_t key,
                            unsigned formats, WadiSurfaceMade *made, WadiError *error)
{
    const WadiSurfacePlan *plan = worker->team->plan;
    WadiSurfaceFrameDef def = plan->frame;
    WadiSurfaceFrame frame;
    WadiCloud cloud;
    def.memory = worker->team->memory;
    def.field.stop = worker->team->def->stop;
    WADI_STAGE(&worker->times, "read",
               WADI_TRY(wadi_cloud_from_frame(&cloud, &worker->frame, plan->part[part].material,
                                              plan->subframe / header->fps, error)));
    WadiStatus status = wadi_arena_reset(&worker->arena, error);
    if (status == WADI_OK) {
        status = wadi_surface_frame_build(&frame, &cloud, &def, &worker->arena, &worker->times, error);
    }
    if (status == WADI_OK) {
        if (plan->is_y_up) {
            wadi_surface_mesh_turn_up(&frame.surface);
        }
        WADI_STAGE(&worker->times, "write",
                   status = write_files(worker, part, header, key, formats, &frame, error));
        made->particles = cloud.count;
        made->triangles = (int64_t)frame.surface.mesh.triangle_count;
        made->vertices = (int64_t)frame.surface.mesh.vertex_count;
        made->written = status == WADI_OK ? formats : 0;
        wadi_surface_mesh_free(&frame.surface);
    }
    wadi_cloud_free(&cloud);
    return status;
}

static WadiStatus make_frame(WadiSurfaceWorker *worker, int frame, WadiSurfaceMade *made, WadiError *error)
{
    const WadiSurfaceTeam *team = worker->team;
    WadiFrameLayout layout;
    WADI_TRY(wadi_run_view_read_layout(&team->plan->view, frame, &layout, error));
    bool is_read = false;
    for (int p = 0; p < team->plan->part_count; ++p) {
        uint64_t key = wadi_surface_plan_key(team->plan, p, &layout);
        unsigned missing = wadi_surface_team_missing(team, p, frame, key);
        made[p].kept = team->plan->formats & ~missing;
        if (missing == 0) {
            continue;
        }
        if (!is_read) {
            WADI_STAGE(&worker->times, "read",
                       WADI_TRY(wadi_run_view_read_frame(&team->plan->view, frame, &layout.header,
                                                         &worker->frame, error)));
            is_read = true;
        }
        if (is_stopped(team)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped before frame %d", frame);
        }
        WADI_TRY(make_part(worker, p, &layout.header, key, missing, &made[p], error));
    }
    return WADI_OK;
}

/* Prefixes the error with the frame's file, unless it names it already. */
static void prefix_frame_path(const char *path, WadiError *error)
{
    if (error->status != WADI_ERR_STOPPED && strstr(error->text, path) == NULL) {
        WadiError inner = *error;
        wadi_fail(error, inner.status, "%s: %.3000s", path, inner.text);
    }
}

static void *run_worker(void *context)
{
    WadiSurfaceWorker *worker = context;
    WadiSurfaceTeam *team = worker->team;
    int parts = team->plan->part_count;
    wadi_parallel_set_threads(team->inner_threads);
    pthread_mutex_lock(&team->mutex);
    while (team->next < team->frame_count && team->failed == team->frame_count && !is_stopped(team)) {
        int index = team->next++;
        int frame = team->frames[index];
        pthread_mutex_unlock(&team->mutex);
        WadiError error = { 0 };
        char path[WADI_PATH_SIZE];
        wadi_run_frame_path(path, sizeof path, team->plan->view.run, team->plan->view.summary.name, frame);
        WadiStatus status = make_frame(worker, frame, &team->made[index * parts], &error);
        prefix_frame_path(path, &error);
        pthread_mutex_lock(&team->mutex);
        team->state[index] = status == WADI_OK ? WADI_FRAME_DONE : WADI_FRAME_FAILED;
        if (status != WADI_OK && index < team->failed) {
            team->failed = index;
            *team->error = error;
            team->error->status = status;
        }
        pthread_cond_signal(&team->changed);
    }
    team->running -= 1;
    for (int i = 0; i < worker->times.count; ++i) {
        wadi_stage_times_add(&team->times, worker->times.name[i], worker->times.seconds[i]);
    }
    pthread_cond_signal(&team->changed);
    pthread_mutex_unlock(&team->mutex);
    wadi_arena_free(&worker->arena);
    wadi_state_free(&worker->frame);
    return NULL;
}

static void report_part(const WadiSurfaceTeam *team, int index, int part)
{
    WadiSurfaceReport *report = team->report;
    const WadiSurfacePlan *plan = team->plan;
    const WadiSurfaceMade *made = &team->made[index * plan->part_count + part];
    char path[WADI_PATH_SIZE];
    double seconds = wadi_time_now() - team->start;
    const int done = report->frames; /* before this one */
    WadiProgress progress = { .frame = team->frames[index],
                              .frames_done = done + (part == plan->part_count - 1),
                              .frame_count = team->total,
                              .first_frame = plan->view.first,
                              .is_frame_done = true,
                              .stage = "surface",
                              .seconds_per_frame = seconds / (done + 1),
                              .material = plan->part[part].name,
                              .path = path,
                              .seconds = seconds,
                              .seconds_left = seconds / (done + 1) * (team->total - done - 1) };
    report->particles += made->particles;
    report->triangles += made->triangles;
    report->vertices += made->vertices;
    for (unsigned f = 1; f <= WADI_SURFACE_VDB; f <<= 1) {
        progress.is_kept = (made->kept & f) != 0;
        if (progress.is_kept || (made->written & f) != 0) {
            report->kept += progress.is_kept;
            report->files += !progress.is_kept;
            progress.particles = progress.is_kept ? 0 : made->particles;
            progress.triangles = progress.is_kept ? 0 : made->triangles;
            progress.vertices = progress.is_kept ? 0 : made->vertices;
            wadi_surface_plan_path(plan, part, progress.frame, (WadiSurfaceFormat)f, path, sizeof path);
            if (team->def->progress != NULL) {
                team->def->progress(team->def->progress_user, &progress);
            }
        }
    }
}

void wadi_surface_team_report(const WadiSurfaceTeam *team, int index)
{
    for (int p = 0; p < team->plan->part_count; ++p) {
        report_part(team, index, p);
    }
    team->report->frames += 1;
}

/* Reports files until all workers are done. The mutex is not locked while the caller's function runs. */
static void report_files(WadiSurfaceTeam *team)
{
    int reported = 0;
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (reported < team->frame_count && team->state[reported] == WADI_FRAME_DONE) {
            pthread_mutex_unlock(&team->mutex);
            wadi_surface_team_report(team, reported++);
            pthread_mutex_lock(&team->mutex);
        }
        if (team->running == 0) {
            break;
        }
        pthread_cond_wait(&team->changed, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
}

static double stage_seconds(const WadiStageTimes *times, const char *name)
{
    for (int i = 0; i < times->count; ++i) {
        if (strcmp(times->name[i], name) == 0) {
            return times->seconds[i];
        }
    }
    return 0.0;
}

static void report_times(const WadiSurfaceTeam *team)
{
    WadiSurfaceReport *report = team->report;
    const WadiStageTimes *t = &team->times;
    report->read_seconds = stage_seconds(t, "read");
    report->field_seconds = stage_seconds(t, "bins") + stage_seconds(t, "field");
    report->mesh_seconds = stage_seconds(t, "march") + stage_seconds(t, "smooth mesh") +
                           stage_seconds(t, "open walls") + stage_seconds(t, "attributes");
    report->write_seconds = stage_seconds(t, "write");
    report->seconds = wadi_time_now() - team->start;
}

/* Number of frames at once: one per core while they are small and fit into memory together. */
static int choose_workers(WadiSurfaceTeam *team, int64_t particles)
{
    double total = (double)wadi_memory_total(), frame = bytes_per_particle * (double)particles;
    int threads = wadi_parallel_threads();
    int workers = threads < team->total ? threads : team->total;
    if (particles > LARGE_FRAME) {
        workers = 1;
    }
    while (workers > 1 && workers * frame > 0.5 * total) {
        --workers;
    }
    team->inner_threads = threads / workers;
    team->memory = 0.8 * total / workers;
    return workers;
}

static WadiStatus run_team(WadiSurfaceTeam *team, int count, WadiError *error)
{
    WadiSurfaceWorker *workers = team->workers;
    int started = 0, problem = 0;
    pthread_mutex_lock(&team->mutex);
    while (started < count && problem == 0) {
        workers[started].team = team;
        problem = pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]);
        started += problem == 0;
    }
    team->running = started;
    pthread_mutex_unlock(&team->mutex);
    if (started == 0) {
        return wadi_fail_errno(error, problem, "cannot start a thread");
    }
    report_files(team);
    for (int i = 0; i < started; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    if (team->failed < team->frame_count) {
        return wadi_fail(error, team->error->status, "%s", team->error->text);
    }
    if (team->next < team->frame_count) {
        return wadi_fail(error, WADI_ERR_STOPPED, "stopped before frame %d", team->frames[team->next]);
    }
    return WADI_OK;
}

/* The larger of the first and the last frame: most runs grow or remain equal. */
static int64_t guess_particles(const WadiSurfacePlan *plan)
{
    int64_t most = 0;
    for (int end = 0; end < 2; ++end) {
        char path[WADI_PATH_SIZE];
        WadiFrameLayout layout;
        wadi_run_frame_path(path, sizeof path, plan->view.run, plan->view.summary.name,
                            end == 0 ? plan->view.first : plan->view.last);
        if (wadi_frame_file_read_layout(path, "particles", &layout, NULL) == WADI_OK &&
            layout.array_count > 0) {
            int64_t count = (int64_t)layout.array[0].count;
            most = count > most ? count : most;
        }
    }
    return most;
}

WadiStatus wadi_surface_team_make(WadiSurfaceTeam *team, const int *frames, int frame_count, WadiError *error)
{
    team->frames = frames;
    team->frame_count = team->failed = frame_count;
    team->next = 0;
    memset(team->made, 0, (size_t)(frame_count * team->plan->part_count) * sizeof *team->made);
    memset(team->workers, 0, (size_t)team->worker_count * sizeof *team->workers);
    for (int i = 0; i < frame_count; ++i) {
        team->state[i] = WADI_FRAME_WAITS;
    }
    return run_team(team, team->worker_count < frame_count ? team->worker_count : frame_count, error);
}

static WadiStatus work(WadiSurfaceTeam *team, WadiError *error)
{
    const WadiRunView *view = &team->plan->view;
    const WadiOutputWork output = { team->plan->folder, team->name,
                                    wadi_run_view_work_key(view, team->plan->settings_hash) };
    WADI_TRY(wadi_output_index_open(&team->outputs, &output, NULL, error));
    WadiStatus status;
    if (team->def->is_shared) {
        status = wadi_surface_team_share(team, error);
    } else {
        for (int i = 0; i < team->total; ++i) {
            team->list[i] = view->first + i;
        }
        status = wadi_surface_team_make(team, team->list, team->total, error);
    }
    wadi_output_index_close(&team->outputs);
    return status;
}

static WadiStatus make_all(const WadiSurfacePlan *plan, const WadiSurfaceDef *def, WadiSurfaceReport *report,
                           WadiError *error)
{
    WadiSurfaceTeam team = { .plan = plan,
                             .def = def,
                             .report = report,
                             .total = plan->view.last - plan->view.first + 1,
                             .start = wadi_time_now(),
                             .mutex = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER };
    snprintf(team.name, sizeof team.name, "surface.s%03d", (int)lrint(1000.0 * plan->subframe));
    size_t frames = (size_t)team.total, parts = (size_t)plan->part_count;
    wadi_parallel_set_threads(def->threads);
    team.worker_count = choose_workers(&team, guess_particles(plan));
    const size_t count = (size_t)team.worker_count;
    WadiStatus status = WADI_NEW(&team.made, frames * parts, "list of surfaces", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&team.state, frames, "list of frames", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&team.list, frames, "list of frames", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&team.error, 1, "error of a frame", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&team.workers, count, "threads of surfaces", error);
    }
    if (status == WADI_OK) {
        status = work(&team, error);
    }
    report_times(&team);
    WADI_DELETE(team.workers, count);
    WADI_DELETE(team.error, 1);
    WADI_DELETE(team.list, frames);
    WADI_DELETE(team.state, frames);
    WADI_DELETE(team.made, frames * parts);
    return status;
}

WadiStatus wadi_surface(const char *run, const WadiSurfaceDef *def, WadiSurfaceReport *report,
                        WadiError *error)
{
    WadiSurfaceReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiSurfaceReport){ 0 };
    if (def == NULL || def->cookie != SURFACE_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiSurfaceDef was not made by wadi_default_surface_def");
    }
    const unsigned asserts = wadi_assert_count();
    WadiSurfacePlan *plan = NULL;
    WADI_TRY(WADI_NEW(&plan, 1, "plan of surfaces", error));
    WadiStatus status = wadi_surface_plan_open(plan, run, def, error);
    if (status == WADI_OK) {
        memcpy(report->folder, plan->folder, sizeof report->folder);
        status = make_all(plan, def, report, error);
        wadi_surface_plan_close(plan);
    }
    WADI_DELETE(plan, 1);
    return wadi_assert_status(status, asserts, error);
}
