/* The frame loop: choose a step size, run the solver, emit and drain, account for every particle. */
#include "sim/sim.h"

#include <math.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "sim/solvers.h"
#include "world/water.h"
#include "world/world_warnings.h"

enum { SIM_DEF_COOKIE = 0x51d3 };

WadiSimDef wadi_default_sim_def(void)
{
    return (WadiSimDef){ .cookie = SIM_DEF_COOKIE };
}

WadiStatus wadi_sim_prepare(WadiSim *sim, WadiError *error)
{
    sim->texture_column = sim->outside_column = 0;
    WADI_TRY(wadi_solver_check(sim->scene, error));
    sim->type = sim->scene->solver_type;
    WADI_STAGE(&sim->times, "build world",
               WADI_TRY(wadi_world_create(&sim->world, sim->scene, &sim->log, error)));
    WADI_TRY(wadi_particles_init(&sim->particles, error));
    if (sim->scene->has_texture) {
        WADI_TRY(wadi_particles_add_vector(&sim->particles, "texture", WADI_TYPE_F32, &sim->texture_column,
                                           error));
        wadi_particles_show_column(&sim->particles, sim->texture_column);
    }
    if (sim->scene->has_domain && (sim->scene->closed_sides & WADI_SIDE_ALL) != WADI_SIDE_ALL) {
        WADI_TRY(
            wadi_particles_add_column(&sim->particles, "outside", WADI_TYPE_U8, &sim->outside_column, error));
    }
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        sim->world->emitters[i].outside_column = sim->outside_column;
    }
    WADI_TRY(WADI_NEW(&sim->viewed, 1, "views", error));
    WADI_TRY(WADI_NEW(&sim->emit, (size_t)sim->scene->emitter_count, "emitters", error));
    WadiSolverContext context = { .world = sim->world,
                                  .particles = &sim->particles,
                                  .scratch = &sim->scratch,
                                  .times = &sim->times,
                                  .log = &sim->log,
                                  .loads = &sim->loads,
                                  .watch = &sim->watch };
    WADI_TRY(wadi_solid_loads_resize(&sim->loads, sim->world, error));
    return sim->type->create(&sim->solver, &context, error);
}

/* Reserves memory for everything the emitters will add: growing a column later needs two copies of it at a
 * time. */
static WadiStatus reserve_for_emitters(WadiSim *sim, WadiError *error)
{
    double duration = wadi_scene_frame_time(sim->scene, sim->scene->frames);
    double expected = sim->particles.count;
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        expected += wadi_world_emitted(sim->world, i, duration);
    }
    if (sim->scene->emitter_count == 0 || !(expected < WADI_PARTICLES_MAX)) {
        return WADI_OK; /* too many: the append that fails reports it, with its frame */
    }
    return wadi_particles_reserve(&sim->particles, (int64_t)expected + 1, error);
}

/* Stores the position at birth of the particles from `first` on. Particles of an emitter are all born in one
 * region, so their position is taken in a frame that moves with the stream; else later ones would repeat the
 * texture. */
static void set_texture(WadiSim *sim, int32_t first)
{
    const WadiParticles *p = &sim->particles;
    if (!sim->scene->has_texture) {
        return;
    }
    float *texture[3];
    for (int c = 0; c < 3; ++c) {
        texture[c] = wadi_particles_column(p, sim->texture_column + c);
    }
    for (int32_t i = first; i < p->count; ++i) {
        texture[0][i] = (float)(p->x[i] - sim->time * (double)p->vx[i]);
        texture[1][i] = (float)(p->y[i] - sim->time * (double)p->vy[i]);
        texture[2][i] = (float)(p->z[i] - sim->time * (double)p->vz[i]);
    }
}

WadiStatus wadi_sim_set_born(WadiSim *sim, int32_t first, WadiError *error)
{
    const int32_t seeds = sim->particles.count;
    WADI_TRY(wadi_particles_repeat(&sim->particles, first, sim->world->particles_each - 1, error));
    for (int32_t i = seeds; i < sim->particles.count; ++i) {
        sim->born[sim->particles.material[i]] += 1;
    }
    set_texture(sim, first);
    if (sim->type->born != NULL && first < sim->particles.count) {
        sim->type->born(sim->solver, first);
    }
    return WADI_OK;
}

WadiStatus wadi_sim_pack(WadiSim *sim, int32_t first, WadiError *error)
{
    if (sim->type->pack != NULL && first < sim->particles.count) {
        WADI_STAGE(&sim->times, "pack", WADI_TRY(sim->type->pack(sim->solver, first, error)));
    }
    return WADI_OK;
}

void wadi_sim_warn(const WadiSim *sim)
{
    wadi_world_warn(sim->world, &sim->log);
    if (sim->type->warn != NULL) {
        sim->type->warn(sim->world->scene, &sim->log);
    }
}

WadiStatus wadi_sim_seed(WadiSim *sim, WadiError *error)
{
    wadi_sim_warn(sim);
    WADI_STAGE(&sim->times, "seed", WADI_TRY(wadi_world_seed(sim->world, &sim->particles, &sim->log, error)));
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sim->born[sim->particles.material[i]] += 1;
    }
    sim->water_born = wadi_water_sum(&sim->particles, 0);
    WADI_TRY(wadi_sim_set_born(sim, 0, error));
    WADI_TRY(wadi_sim_pack(sim, 0, error));
    wadi_sim_read_resampling(sim);
    return reserve_for_emitters(sim, error);
}

WadiStatus wadi_sim_create(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WADI_TRY(wadi_sim_create_empty(sim, scene, def, error));
    WadiStatus status = wadi_sim_check_memory(*sim, 0.0, error);
    if (status == WADI_OK) {
        status = wadi_sim_seed(*sim, error);
    }
    status = wadi_assert_status(status, asserts, error);
    if (status != WADI_OK) {
        wadi_sim_destroy(*sim);
        *sim = NULL;
    }
    return status;
}

WadiStatus wadi_sim_create_empty(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def,
                                 WadiError *error)
{
    *sim = NULL;
    if (def == NULL || def->cookie != SIM_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiSimDef was not made by wadi_default_sim_def");
    }
    if (def->threads < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "threads is %d, expected 0 (all cores) or more",
                         def->threads);
    }
    if (scene == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the scene is NULL");
    }
    WADI_TRY(WADI_NEW(sim, 1, "simulation", error));
    (*sim)->scene = scene;
    (*sim)->log = def->log;
    (*sim)->threads = def->threads;
    (*sim)->tasks = def->tasks;
    (*sim)->frame = 1;
    (*sim)->dt_limit = "none";
    wadi_parallel_set_tasks(def->threads, def->tasks);
    WadiStatus status = wadi_sim_prepare(*sim, error);
    if (status != WADI_OK) {
        wadi_sim_destroy(*sim);
        *sim = NULL;
    }
    return status;
}

void wadi_sim_release(WadiSim *sim)
{
    if (sim->solver != NULL) {
        sim->type->destroy(sim->solver);
        sim->solver = NULL;
    }
    WADI_DELETE(sim->emit, (size_t)sim->scene->emitter_count);
    sim->emit = NULL;
    if (sim->viewed != NULL) {
        wadi_state_free(sim->viewed);
        WADI_DELETE(sim->viewed, 1);
        sim->viewed = NULL;
    }
    wadi_particles_free(&sim->particles);
    wadi_world_destroy(sim->world);
    sim->world = NULL;
}

void wadi_sim_destroy(WadiSim *sim)
{
    if (sim == NULL) {
        return;
    }
    wadi_sim_release(sim);
    if (sim->destroy_changes != NULL) {
        sim->destroy_changes(sim->changes);
    }
    wadi_text_free(&sim->change_log);
    wadi_solid_loads_free(&sim->loads);
    wadi_arena_free(&sim->scratch);
    WADI_DELETE(sim, 1);
}

static const double shortest_step = 1e-15; /* s; light travels 0.3 micrometres in it */

/* The largest step allowed now, and the name of its limit. */
static double choose_limit(const WadiSim *sim, const char **limit)
{
    double dt = sim->type->largest_dt(sim->solver, sim->time, limit);
    if (sim->scene->max_step < dt) {
        dt = sim->scene->max_step;
        *limit = "max_step";
    }
    return dt;
}

/* Adds what the emitters pour during the step that just ended; new particles have already moved to its
 * end. */
static WadiStatus emit_by_solver(WadiSim *sim, int i, double dt, WadiError *error)
{
    const int32_t first = sim->particles.count;
    const WadiSolverStep now = { .time = sim->time, .dt = dt };
    double refused = 0.0;
    WADI_TRY(sim->type->emit(sim->solver, &sim->world->emitters[i], &now, &sim->emit[i], &refused, error));
    wadi_sim_warn_refused(sim, refused, i);
    sim->born[sim->scene->emitters[i].material] += sim->particles.count - first;
    wadi_world_set_water(sim->world, &sim->particles, first, sim->scene->emitters[i].saturation);
    sim->water_born += wadi_water_sum(&sim->particles, first);
    set_texture(sim, first);
    return WADI_OK;
}

static WadiStatus emit(WadiSim *sim, double dt, const WadiOverfullList *overfull, WadiError *error)
{
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        if (sim->type->emit != NULL) {
            WADI_TRY(emit_by_solver(sim, i, dt, error));
            continue;
        }
        const WadiOverfullRegion *region = NULL;
        WadiEmitIn in = sim->world->emitters[i];
        in.overfull = overfull;
        int64_t count = 0;
        int32_t first = sim->particles.count;
        WADI_TRY(wadi_emit_step(&in, sim->time, dt, &sim->emit[i], &sim->particles, &count, &region, error));
        wadi_sim_warn_overfull(sim, region, i);
        sim->born[sim->scene->emitters[i].material] += count;
        wadi_world_set_water(sim->world, &sim->particles, first, sim->scene->emitters[i].saturation);
        sim->water_born += wadi_water_sum(&sim->particles, first);
        WADI_TRY(wadi_sim_set_born(sim, first, error));
    }
    return WADI_OK;
}

/* By drains and through open sides. `has_moved` is false when all particles slept through the step; none then
 * crosses an open side. */
static WadiStatus drain(WadiSim *sim, double time, bool has_moved, WadiError *error)
{
    uint8_t *is_inside = NULL;
    WADI_TRY(wadi_drain_mark(sim->world->drains, sim->scene->drain_count, time, &sim->particles, &is_inside,
                             &sim->scratch, error));
    if (is_inside != NULL) {
        wadi_sim_remove_drained(sim, is_inside);
    }
    return has_moved ? wadi_sim_drain_open_sides(sim, error) : WADI_OK;
}

static void count_work(WadiSim *sim, const WadiStepReport *report)
{
    sim->work.steps += 1;
    sim->work.particle_steps += sim->particles.count;
    sim->work.pressure_solves += report->pressure_solves;
    sim->work.pressure_iterations += report->pressure_iterations;
    sim->work.friction_solves += report->friction_solves;
    sim->work.friction_iterations += report->friction_iterations;
    sim->work.cells = report->cells;
    sim->work.grid_cells = report->grid_cells;
    sim->work.scratch_bytes = sim->scratch.high_water;
}

WadiStatus wadi_sim_check_idle(const WadiSim *sim, WadiError *error)
{
    if (sim == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the simulation is NULL");
    }
    return !sim->is_stepping ? WADI_OK
                             : wadi_fail(error, WADI_ERR_ARGUMENT,
                                         "the simulation is within a step: a callback of the step may use "
                                         "other simulations, not this one");
}

WadiStatus wadi_sim_check_state(const WadiSim *sim, WadiError *error)
{
    WADI_TRY(wadi_sim_check_idle(sim, error));
    return sim->stopped == WADI_OK
               ? WADI_OK
               : wadi_fail(
                     error, sim->stopped,
                     "the simulation stopped at t = %.6g s in the stage %s and has no valid state; load "
                     "a checkpoint of it, or start it again",
                     sim->time, sim->stopped_stage);
}

const char *wadi_sim_stopped_stage(const WadiSim *sim)
{
    return sim->stopped != WADI_OK ? sim->stopped_stage : NULL;
}

/* Moves the particles and the clock: a failure in here leaves no valid state. */
static WadiStatus move_state(WadiSim *sim, double end, bool is_last, WadiError *error)
{
    WadiStepReport report = { 0 };
    const WadiSolverStep now_step = { .time = sim->time, .dt = sim->dt, .ends_frame = is_last };
    wadi_solid_loads_begin(&sim->loads, sim->world, sim->time, sim->dt);
    WADI_TRY(sim->type->step(sim->solver, &now_step, &report, error));
    wadi_solid_loads_end(&sim->loads, is_last);
    double now = is_last ? end : sim->time + sim->dt;
    WADI_STAGE(&sim->times, "emit", WADI_TRY(emit(sim, sim->dt, &report.overfull, error)));
    for (int32_t n = 0; n < report.overfull.count; ++n) {
        wadi_sim_warn_overfull(sim, &report.overfull.region[n], -1);
    }
    const bool has_moved =
        report.sleeping_particles < sim->particles.count || sim->sleeping_particles < sim->particles.count;
    WADI_STAGE(&sim->times, "drain", WADI_TRY(drain(sim, now, has_moved, error)));
    WADI_STAGE(&sim->times, "account", WADI_TRY(wadi_sim_remove_lost(sim, error)));
    WADI_VALIDATE(wadi_particles_validate(&sim->particles));

    sim->max_divergence = fmax(sim->max_divergence, report.max_divergence);
    sim->stuck_particles = report.stuck_particles;
    sim->sleeping_particles = report.sleeping_particles;
    sim->water_evaporated += report.evaporated_water;
    wadi_sim_read_resampling(sim);
    count_work(sim, &report);
    sim->time = now;
    sim->frame += is_last;
    sim->steps += 1;
    return wadi_arena_reset(&sim->scratch, error);
}

static WadiStatus take_step(WadiSim *sim, WadiError *error)
{
    WADI_TRY(wadi_sim_check_state(sim, error));
    wadi_parallel_set_tasks(sim->threads, sim->tasks);
    if (sim->before_step != NULL) {
        WADI_TRY(sim->before_step(sim, error));
    }
    double end = wadi_scene_frame_time(sim->scene, sim->frame + 1);
    double remaining = end - sim->time;
    double limit = choose_limit(sim, &sim->dt_limit);
    /* Equal steps to the end of the frame, so that none is tiny. */
    double steps_remaining = ceil(remaining / limit - 1e-9);
    bool is_last = !(steps_remaining > 1.0);
    if (is_last) {
        sim->dt_limit = "frame";
    }
    sim->dt = is_last ? remaining : remaining / steps_remaining;
    if (!is_last && !(sim->dt >= shortest_step && sim->time + sim->dt > sim->time)) {
        return wadi_fail(
            error, WADI_ERR_NUMERIC,
            "t = %.6g s: a step of %g s, limited by %s, is too short for time to pass; something "
            "moves far too fast",
            sim->time, sim->dt, sim->dt_limit);
    }

    sim->times.running = NULL;
    sim->is_stepping = true;
    const WadiStatus status = move_state(sim, end, is_last, error);
    sim->is_stepping = false;
    if (status != WADI_OK) {
        sim->stopped = status;
        sim->stopped_stage = sim->times.running != NULL ? sim->times.running : "step";
    }
    return status;
}

WadiStatus wadi_sim_step(WadiSim *sim, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    return wadi_assert_status(take_step(sim, error), asserts, error);
}

WadiStatus wadi_sim_step_frame(WadiSim *sim, WadiError *error)
{
    WADI_TRY(wadi_sim_check_idle(sim, error));
    int frame = sim->frame;
    while (sim->frame == frame) {
        WADI_TRY(wadi_sim_step(sim, error));
    }
    return WADI_OK;
}

int wadi_sim_frame(const WadiSim *sim)
{
    return sim->frame;
}

double wadi_sim_time(const WadiSim *sim)
{
    return sim->time;
}

int64_t wadi_sim_steps(const WadiSim *sim)
{
    return sim->steps;
}

size_t wadi_sim_particle_count(const WadiSim *sim)
{
    return (size_t)sim->particles.count;
}

static int64_t sum_of_materials(const int64_t count[256])
{
    int64_t sum = 0;
    for (int m = 0; m < 256; ++m) {
        sum += count[m];
    }
    return sum;
}

int64_t wadi_sim_lost_particles(const WadiSim *sim)
{
    return sum_of_materials(sim->lost);
}

int64_t wadi_sim_drained_particles(const WadiSim *sim)
{
    return sum_of_materials(sim->drained);
}

int64_t wadi_sim_sleeping_particles(const WadiSim *sim)
{
    return sim->sleeping_particles;
}

uint64_t wadi_sim_state_hash(const WadiSim *sim)
{
    WadiState state = { 0 };
    uint64_t hash = 0;
    if (wadi_sim_snapshot(sim, &state, NULL) == WADI_OK) {
        hash = wadi_state_hash(&state, WADI_USE_CHECKPOINT);
    }
    wadi_state_free(&state);
    return hash;
}
