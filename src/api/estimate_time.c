/* The time of a run from two trials. The first steps of the scene itself, or of one with larger cells when it is too large, give the cost
 * of a particle and a step. A run with far larger cells, from beginning to end, gives what changes on the way: how fast the
 * material becomes, which sets the number of steps, how much is poured, and how much of it sleeps.
 *
 *   seconds = sum over the steps of the coarse run of
 *             (steps of the scene in that time) (particles of the scene) (coarse cost of a particle and step) (ratio of costs) */
#include "api/estimate_time.h"

#include <math.h>

#include "core/timer.h"

/* Bounds of the trials. */
static const double FINE_SECONDS = 1.0, COARSE_SECONDS = 1.2;
enum { FINE_STEPS = 10, FIRST_STEPS = 6 };
/* Particles of the trial for scenes that are too large themselves. */
static const double REDUCED_PARTICLES = 400000.0;
/* Particles and steps that the coarse run takes in about a second of one core, and how many particles tell anything. */
static const double COARSE_WORK = 8e5, COARSE_STEPS_A_FRAME = 3.0, COARSE_LEAST = 600.0,
                    COARSE_MOST = 20000.0;

/* Steps that were taken and what they cost. */
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

static double cost_each(const Cost *cost)
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

/* The scene with cells of another size, seeded, without a word. `scene` must outlive the simulation. */
static WadiStatus create_resized(WadiSim **sim, WadiScene *scene, const WadiSim *like, double cell_size,
                                 WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    *scene = *like->scene;
    scene->cell_size = cell_size;
    def.threads = like->threads;
    return wadi_sim_create(sim, scene, &def, error);
}

/* Seconds of a particle and step in the scene's first steps; negative: there are none at the start. */
static WadiStatus measure_fine(WadiSim *sim, bool is_tried, const WadiEstimate *sizes, double *each,
                               WadiError *error)
{
    Cost cost = { 0 };
    *each = -1.0;
    if (sizes->particles_start == 0) {
        return WADI_OK;
    }
    if (is_tried) {
        WADI_TRY(try_steps(sim, FINE_SECONDS, FINE_STEPS, &cost, error));
        *each = cost_each(&cost);
        return WADI_OK;
    }
    WadiSim *reduced = NULL;
    WadiScene scene;
    double ratio = cbrt((double)sizes->particles_start / REDUCED_PARTICLES);
    WADI_TRY(create_resized(&reduced, &scene, sim, sim->world->cell_size * ratio, error));
    WadiStatus status = wadi_sim_step(reduced, error); /* allocates: it does not count */
    if (status == WADI_OK) {
        status = try_steps(reduced, FINE_SECONDS, FINE_STEPS, &cost, error);
    }
    wadi_sim_destroy(reduced);
    *each = cost_each(&cost);
    return status;
}

/* Steps in a frame of the scene, from the limit of the coarse run at the same time. The limit of material at rest is known for both
 * cell sizes; what speed adds to its inverse goes as 1 / cell size. */
static double fine_steps_a_frame(const WadiSim *coarse, double coarse_limit, double coarse_rest,
                                 double fine_rest, double ratio)
{
    const WadiScene *scene = coarse->scene;
    double by_speed = fmax(0.0, 1.0 / coarse_limit - 1.0 / coarse_rest) * ratio;
    double rate = isinf(coarse_limit) ? 0.0 : 1.0 / fine_rest + by_speed;
    rate = fmax(rate, 1.0 / scene->max_step);
    return fmax(1.0, ceil(rate / scene->fps - 1e-9));
}

typedef struct CoarseRun {
    WadiSim *sim;
    double ratio; /* of cell sizes: coarse to fine */
    double fine_rest;
    int frames;
    double seconds; /* of the scene, at the coarse cost */
    Cost first;     /* to compare with the scene's first steps */
} CoarseRun;

static WadiStatus run_coarse(CoarseRun *run, WadiError *error)
{
    WadiSim *sim = run->sim;
    const char *limit_name;
    double begin = wadi_time_now(), end = wadi_scene_frame_time(sim->scene, run->frames),
           volume = pow(run->ratio, 3.0);
    double rest = sim->type->largest_dt(sim->solver, 0.0, &limit_name), rate = 0.0, before = 0.0;
    WADI_TRY(wadi_sim_step(sim, error)); /* allocates: it does not count */
    while (sim->frame < run->frames && wadi_time_now() - begin < COARSE_SECONDS) {
        Cost cost = { 0 };
        double limit = sim->type->largest_dt(sim->solver, sim->time, &limit_name);
        WADI_TRY(timed_step(sim, &cost, error));
        double fine = fine_steps_a_frame(sim, limit, rest, run->fine_rest, run->ratio);
        /* Per second of simulated time; a mean over what lies about a tenth of the run back fills in for what is not reached. */
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

WadiStatus wadi_estimate_time(WadiSim *sim, bool is_tried, int frames, const WadiEstimate *sizes,
                              double *seconds, WadiError *error)
{
    const char *limit_name;
    *seconds = -1.0;
    if (sizes->particles_end == 0) {
        return WADI_OK;
    }
    double build = 0.0, fine_each = 0.0, most = (double)sizes->particles_end;
    for (int i = 0; i < sim->times.count; ++i) {
        build += i < 2 ? sim->times.seconds[i] : 0.0; /* "build world" and "seed" come first */
    }
    CoarseRun run = { .frames = frames, .fine_rest = sim->type->largest_dt(sim->solver, 0.0, &limit_name) };
    WADI_TRY(measure_fine(sim, is_tried, sizes, &fine_each, error));
    double coarse =
        fmin(fmax(COARSE_WORK / (COARSE_STEPS_A_FRAME * frames), COARSE_LEAST), fmin(COARSE_MOST, most));
    run.ratio = cbrt(most / coarse);
    WadiScene scene;
    WADI_TRY(create_resized(&run.sim, &scene, sim, sim->world->cell_size * run.ratio, error));
    WadiStatus status = run_coarse(&run, error);
    double coarse_each = cost_each(&run.first);
    bool has_both = fine_each > 0.0 && coarse_each > 0.0;
    *seconds = build + run.seconds * (has_both ? fine_each / coarse_each : 1.0);
    wadi_sim_destroy(run.sim);
    return status;
}
