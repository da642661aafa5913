/* Estimates the time of a run from two trials. The first steps of the scene (with larger cells if it is too
 * large) give the cost per particle and step. A complete run with much larger cells gives what changes over
 * time: speeds, which set the number of steps, emitted material, and sleeping particles. seconds = sum over
 * the steps of the coarse run of (steps of the scene in that time) (particles of the scene) (coarse cost per
 * particle and step) (ratio of costs). */
#include "api/estimate_time.h"

#include <math.h>

#include "core/timer.h"

/* Time limits of the trials. */
static const double FINE_SECONDS = 1.0, COARSE_SECONDS = 1.2;
enum { FINE_STEPS = 10, FIRST_STEPS = 6 };
/* Particles of the reduced trial for scenes that are too large. */
static const double REDUCED_PARTICLES = 400000.0;
/* Particles times steps that one core computes in about a second, and the smallest useful number of
 * particles. */
static const double COARSE_WORK = 8e5, COARSE_STEPS_PER_FRAME = 3.0, COARSE_LEAST = 600.0,
                    COARSE_MOST = 20000.0;

/* Steps taken and their cost. */
typedef struct Cost {
    double seconds, particle_steps;
    int steps;
} Cost;

static WadiStatus timed_step(WadiSim *sim, Cost *cost, WadiError *error)
{
    double begin = wadi_time_now();
    WADI_TRY(wadi_sim_step(sim, error));
    cost->seconds += wadi_time_now() - begin;
    cost->particle_steps += sim->particles.count;
    cost->steps += 1;
    return WADI_OK;
}

static double cost_per_particle_step(const Cost *cost)
{
    return cost->particle_steps > 0.0 ? cost->seconds / cost->particle_steps : -1.0;
}

static WadiStatus try_steps(WadiSim *sim, double most_seconds, int most_steps, Cost *cost, WadiError *error)
{
    do {
        WADI_TRY(timed_step(sim, cost, error));
    } while (cost->seconds < most_seconds && cost->steps < most_steps);
    return WADI_OK;
}

/* The scene with another cell size, seeded, without log messages. `scene` must outlive the simulation. */
static WadiStatus create_resized(WadiSim **sim, WadiScene *scene, const WadiSim *like, double cell_size,
                                 WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    *scene = *like->scene;
    scene->cell_size = cell_size;
    def.threads = like->threads;
    return wadi_sim_create(sim, scene, &def, error);
}

/* Seconds per particle and step in the scene's first steps; negative without particles at the start. */
static WadiStatus measure_fine(WadiSim *sim, bool has_stepped, const WadiEstimate *sizes, double *each,
                               WadiError *error)
{
    Cost cost = { 0 };
    *each = -1.0;
    if (sizes->particles_start == 0) {
        return WADI_OK;
    }
    if (has_stepped) {
        WADI_TRY(try_steps(sim, FINE_SECONDS, FINE_STEPS, &cost, error));
        *each = cost_per_particle_step(&cost);
        return WADI_OK;
    }
    WadiSim *reduced = NULL;
    WadiScene scene;
    double ratio = cbrt((double)sizes->particles_start / REDUCED_PARTICLES);
    WADI_TRY(create_resized(&reduced, &scene, sim, sim->world->cell_size * ratio, error));
    WadiStatus status = wadi_sim_step(reduced, error); /* allocates: not timed */
    if (status == WADI_OK) {
        status = try_steps(reduced, FINE_SECONDS, FINE_STEPS, &cost, error);
    }
    wadi_sim_destroy(reduced);
    *each = cost_per_particle_step(&cost);
    return status;
}

/* Steps per frame of the scene, from the limit of the coarse run at the same time. The limit at rest is known
 * for both cell sizes; the part of its inverse that is due to speed scales as 1 / cell size. */
static double fine_steps_per_frame(const WadiSim *coarse, double coarse_limit, double coarse_limit_at_rest,
                                   double fine_limit_at_rest, double ratio)
{
    const WadiScene *scene = coarse->scene;
    double by_speed = fmax(0.0, 1.0 / coarse_limit - 1.0 / coarse_limit_at_rest) * ratio;
    double rate = isinf(coarse_limit) ? 0.0 : 1.0 / fine_limit_at_rest + by_speed;
    rate = fmax(rate, 1.0 / scene->max_step);
    return fmax(1.0, ceil(rate / scene->fps - 1e-9));
}

typedef struct CoarseRun {
    WadiSim *sim;
    double ratio; /* coarse cell size / fine cell size */
    double fine_limit_at_rest;
    int frames;
    double seconds; /* of the scene, at the coarse cost */
    Cost first;     /* compared with the scene's first steps */
} CoarseRun;

static WadiStatus run_coarse(CoarseRun *run, WadiError *error)
{
    WadiSim *sim = run->sim;
    const char *limit_name;
    double begin = wadi_time_now(), end = wadi_scene_frame_time(sim->scene, run->frames),
           volume = pow(run->ratio, 3.0);
    double limit_at_rest = sim->type->largest_dt(sim->solver, 0.0, &limit_name), rate = 0.0, before = 0.0;
    WADI_TRY(wadi_sim_step(sim, error)); /* allocates: not timed */
    while (sim->frame < run->frames && wadi_time_now() - begin < COARSE_SECONDS) {
        Cost cost = { 0 };
        double limit = sim->type->largest_dt(sim->solver, sim->time, &limit_name);
        WADI_TRY(timed_step(sim, &cost, error));
        double fine = fine_steps_per_frame(sim, limit, limit_at_rest, run->fine_limit_at_rest, run->ratio);
        /* Per second of simulated time. If the trial ends early, a mean that decays over a tenth of the run
         * is used for the remainder. */
        double now = fine * sim->scene->fps * volume * cost.seconds,
               weight = exp(-10.0 * sim->dt / fmax(end, 1e-30));
        rate = before > 0.0 ? weight * rate + (1.0 - weight) * now : now;
        before = sim->time;
        run->seconds += now * sim->dt;
        if (run->first.steps < FIRST_STEPS) {
            run->first.seconds += cost.seconds;
            run->first.particle_steps += cost.particle_steps;
            run->first.steps += 1;
        }
    }
    run->seconds += rate * fmax(0.0, end - sim->time);
    return WADI_OK;
}

WadiStatus wadi_estimate_time(WadiSim *sim, bool has_stepped, int frames, const WadiEstimate *sizes,
                              double *seconds, WadiError *error)
{
    const char *limit_name;
    *seconds = -1.0;
    if (sizes->particles_end == 0) {
        return WADI_OK;
    }
    double build = 0.0, fine_each = 0.0, most = (double)sizes->particles_end;
    for (int i = 0; i < sim->times.count; ++i) {
        build += i < 2 ? sim->times.seconds[i] : 0.0; /* "build world" and "seed" are the first two */
    }
    CoarseRun run = { .frames = frames,
                      .fine_limit_at_rest = sim->type->largest_dt(sim->solver, 0.0, &limit_name) };
    WADI_TRY(measure_fine(sim, has_stepped, sizes, &fine_each, error));
    double coarse =
        fmin(fmax(COARSE_WORK / (COARSE_STEPS_PER_FRAME * frames), COARSE_LEAST), fmin(COARSE_MOST, most));
    run.ratio = cbrt(most / coarse);
    WadiScene scene;
    WADI_TRY(create_resized(&run.sim, &scene, sim, sim->world->cell_size * run.ratio, error));
    WadiStatus status = run_coarse(&run, error);
    double coarse_each = cost_per_particle_step(&run.first);
    bool has_both = fine_each > 0.0 && coarse_each > 0.0;
    *seconds = build + run.seconds * (has_both ? fine_each / coarse_each : 1.0);
    wadi_sim_destroy(run.sim);
    return status;
}
