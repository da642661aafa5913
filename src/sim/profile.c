/* Time and memory used so far, for benchmarks. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "sim/sim.h"

void wadi_sim_profile(const WadiSim *sim, WadiProfile *profile)
{
    wadi_parallel_set_tasks(sim->threads, sim->tasks);
    *profile = (WadiProfile){ .threads = wadi_parallel_threads(),
                              .stage_count = sim->times.count,
                              .steps = sim->work.steps,
                              .particle_steps = sim->work.particle_steps,
                              .pressure_solves = sim->work.pressure_solves,
                              .pressure_iterations = sim->work.pressure_iterations,
                              .friction_solves = sim->work.friction_solves,
                              .friction_iterations = sim->work.friction_iterations,
                              .cells = sim->work.cells,
                              .grid_cells = sim->work.grid_cells,
                              .particle_bytes = wadi_particles_bytes_each(&sim->particles),
                              .scratch_bytes = sim->work.scratch_bytes,
                              .live_bytes = wadi_alloc_live_bytes() };
    for (int i = 0; i < sim->times.count; ++i) {
        profile->stage[i] = sim->times.name[i];
        profile->seconds[i] = sim->times.seconds[i];
    }
}
