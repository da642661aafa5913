/* Estimates what a run needs. The world is built and its particles are counted exactly; memory and disk
 * follow from the solver's columns. */
#include <math.h>

#include "api/estimate_time.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/log.h"
#include "core/os/os_memory.h"
#include "core/parallel.h"
#include "io/frame/frame_file.h"
#include "io/run/run_assets.h"
#include "sim/sim.h"
#include "wadi/run.h"
#include "world/world_warnings.h"

/* Resident memory that does not depend on the scene and is allocated later: pages of HDF5 and of the writer's
 * stack. Measured on an empty scene. */
static const double fixed_bytes = 3.0e6;
/* run.json and the lock; one frame's entry in the XDMF index. */
static const double folder_bytes = 4096.0, index_bytes_a_frame = 1500.0;

/* Up to this count one real step measures the solver's memory; for more particles its figure per particle is
 * used. */
static const int64_t trial_particles = 2000000;
/* Growth of a step's memory while material spreads, with blocks a quarter larger than needed: measured 1.8
 * (columns that slump) to 2.4 (a ball that splashes). */
static const double spread = 2.4;

/* Bytes of the solver and its steps, without the particles. */
static WadiStatus measure_scratch(WadiSim *sim, const WadiEstimate *out, double *bytes, bool *has_stepped,
                                  WadiError *error)
{
    double end = (double)out->particles_end, start = (double)out->particles_start;
    *bytes = end * (double)sim->type->scratch_bytes_each;
    *has_stepped = out->particles_start > 0 && out->particles_start <= trial_particles;
    if (!*has_stepped) {
        return WADI_OK;
    }
    size_t before = wadi_alloc_live_bytes();
    WADI_TRY(wadi_sim_seed(sim, error));
    WADI_TRY(wadi_sim_step(sim, error));
    double particles = (double)sim->particles.capacity * (double)wadi_particles_bytes_each(&sim->particles);
    double scratch = fmax((double)wadi_alloc_live_bytes() - (double)before - particles, 0.0);
    *bytes = spread * scratch * end / start;
    return WADI_OK;
}

/* Particles seeded and emitted up to a time. */
static double particles_at(const WadiSim *sim, double seeded, double time)
{
    double count = seeded;
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        count += wadi_world_emitted(sim->world, i, time);
    }
    return count;
}

typedef struct Sizes {
    double frame_each, frame_fixed; /* bytes per particle, bytes per file */
    double checkpoint_each, checkpoint_fixed;
    double snapshot_each; /* frame and checkpoint together, in memory */
} Sizes;

static WadiStatus measure_sizes(const WadiSim *sim, Sizes *sizes, WadiError *error)
{
    WadiState empty = { 0 };
    WadiStatus status = wadi_sim_snapshot(sim, &empty, error);
    if (status == WADI_OK) {
        WadiState part;
        wadi_state_select(&empty, WADI_USE_FRAME, &part);
        double frame_fixed = (double)wadi_frame_file_bytes(&part);
        wadi_state_select(&empty, WADI_USE_CHECKPOINT, &part);
        *sizes = (Sizes){ .frame_fixed = frame_fixed,
                          .checkpoint_fixed = (double)wadi_frame_file_bytes(&part),
                          .checkpoint_each = (double)wadi_particles_bytes_each(&sim->particles),
                          .snapshot_each = (double)wadi_particles_bytes_each(&sim->particles) };
        for (int i = 0; i < empty.count; ++i) {
            const WadiStateArray *array = &empty.array[i];
            double each = (double)array->components * (double)wadi_type_size(array->type);
            sizes->frame_each += array->use & WADI_USE_FRAME ? each : 0.0;
            sizes->snapshot_each += array->use == WADI_USE_FRAME ? each : 0.0;
        }
    }
    wadi_state_free(&empty);
    return status;
}

static WadiStatus estimate(WadiSim *sim, int frames, bool has_time, WadiEstimate *out, WadiError *error)
{
    const WadiScene *scene = sim->scene;
    double duration = wadi_scene_frame_time(scene, frames);
    int64_t emitted = 0;
    WADI_TRY(wadi_sim_check_memory(sim, duration, error));
    wadi_sim_warn(sim);
    WADI_TRY(wadi_world_count(sim->world, duration, &out->particles_start, &emitted, &sim->log, error));
    out->particles_end = out->particles_start + emitted;
    if (out->particles_end == 0) {
        wadi_log(&sim->log, WADI_LOG_WARNING,
                 "%s: nothing would be simulated: no body has a particle and no emitter pours one",
                 scene->path);
    }
    WadiLog log = sim->log;
    sim->log = (WadiLog){ 0 }; /* the warnings of seeding were given already */
    Sizes sizes = { 0 };
    WADI_TRY(measure_sizes(sim, &sizes, error));

    double n = (double)out->particles_end, resident = (double)wadi_memory_rss(), scratch = 0.0;
    double each = (double)wadi_particles_bytes_each(&sim->particles) + sizes.snapshot_each;
    double limit = fmin(sim->type->largest_dt(sim->solver, 0.0, &out->step_limit), scene->max_step);
    bool has_stepped = false;
    WADI_TRY(measure_scratch(sim, out, &scratch, &has_stepped, error));
    /* Reading meshes may have needed more memory than the run will. */
    out->memory_bytes = fmax((double)wadi_memory_peak_rss(), resident + fixed_bytes + n * each + scratch);

    WADI_TRY(wadi_run_assets_bytes(scene, &out->disk_bytes, error));
    out->disk_bytes += folder_bytes;
    int every = scene->checkpoint_every;
    for (int frame = 1; frame <= frames; ++frame) {
        double count = particles_at(sim, (double)out->particles_start, wadi_scene_frame_time(scene, frame));
        out->disk_bytes += sizes.frame_fixed + sizes.frame_each * count + index_bytes_a_frame;
        /* The newest two checkpoints and the milestones are kept. */
        if (frame > frames - 2 || (every > 0 && frame % every == 0)) {
            out->disk_bytes += sizes.checkpoint_fixed + sizes.checkpoint_each * count;
        }
    }
    out->cell_size = sim->world->cell_size;
    out->spacing = sim->world->spacing;
    out->seconds = -1.0;
    if (has_time) {
        WADI_TRY(wadi_estimate_time(sim, has_stepped, frames, out, &out->seconds, error));
    }
    out->threads = wadi_parallel_threads();
    sim->log = log;
    double frame_time = 1.0 / scene->fps;
    out->step_limit = limit == scene->max_step ? "max_step" : limit >= frame_time ? "frame" : out->step_limit;
    out->steps_per_frame = fmax(1.0, ceil(frame_time / limit - 1e-9));
    out->step = frame_time / out->steps_per_frame;
    return WADI_OK;
}

static WadiStatus estimate_scene(const WadiScene *scene, int frames, int threads, bool has_time,
                                 const WadiLog *log, WadiEstimate *out, WadiError *error)
{
    *out = (WadiEstimate){ 0 };
    const unsigned asserts = wadi_assert_count();
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    if (log != NULL) {
        def.log = *log;
    }
    WadiSim *sim = NULL;
    WADI_TRY(wadi_sim_create_empty(&sim, scene, &def, error));
    WadiStatus status = estimate(sim, frames > 0 ? frames : scene->frames, has_time, out, error);
    wadi_sim_destroy(sim);
    return wadi_assert_status(status, asserts, error);
}

WadiStatus wadi_estimate(const WadiScene *scene, int frames, int threads, const WadiLog *log,
                         WadiEstimate *out, WadiError *error)
{
    return estimate_scene(scene, frames, threads, true, log, out, error);
}

WadiStatus wadi_estimate_sizes(const WadiScene *scene, int frames, const WadiLog *log, WadiEstimate *out,
                               WadiError *error)
{
    return estimate_scene(scene, frames, 0, false, log, out, error);
}
