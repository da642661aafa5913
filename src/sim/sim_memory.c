/* Checks before particles are made whether they fit into memory: the system would otherwise kill the
 * process later, without a message. */
#include <math.h>

#include "core/os/os_memory.h"
#include "math/cbrt.h"
#include "sim/sim.h"

/* Particles that the emitters add; 0 where drains or open sides may remove some. */
static double emitted_count(const WadiSim *sim, double duration)
{
    const WadiScene *scene = sim->scene;
    double count = 0.0;
    if (scene->drain_count > 0 || !scene->has_domain || scene->closed_sides != WADI_SIDE_ALL) {
        return 0.0;
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        count += wadi_world_emitted(sim->world, i, duration);
    }
    return count;
}

/* Bytes of the columns, their copy for the writer, and the scratch of a step, for each particle. */
static double bytes_each(const WadiSim *sim)
{
    return 2.0 * (double)wadi_particles_bytes_each(&sim->particles) + (double)sim->type->scratch_bytes_each;
}

WadiStatus wadi_sim_check_added(const WadiSim *sim, const WadiSeedIn *in, WadiError *error)
{
    double least = 0.0, likely = 0.0;
    WADI_TRY(wadi_seed_expect(in, &least, &likely, error));
    const double each = bytes_each(sim) * sim->world->particles_each, there = (double)wadi_memory_available();
    if (least * each <= there) {
        return WADI_OK;
    }
    const double count = likely * sim->world->particles_each;
    return wadi_fail(error, WADI_ERR_MEMORY,
                     "the body would have %.*f million particles, which need about %.1f GB of memory, and "
                     "%.1f GB are there; add a smaller one",
                     count < 1e8 ? 1 : 0, 1e-6 * count, 1e-9 * likely * each, 1e-9 * there);
}

WadiStatus wadi_sim_check_memory(const WadiSim *sim, double duration, WadiError *error)
{
    double least = 0.0, likely = 0.0, extra = emitted_count(sim, duration);
    WADI_TRY(wadi_world_expect(sim->world, &least, &likely, error));
    double each = bytes_each(sim);
    double there = (double)wadi_memory_available();
    if ((least + extra) * each <= there) {
        return WADI_OK;
    }
    double count = likely + extra,
           fitting = sim->world->cell_size * wadi_cbrt(count * each / fmax(there, each));
    return wadi_fail(
        error, WADI_ERR_MEMORY,
        "%s: %.*f million particles need about %.1f GB of memory, and %.1f GB are there; use larger cells "
        "(cell_size: %.2g would fit) or less material",
        sim->scene->path, count < 1e8 ? 1 : 0, 1e-6 * count, 1e-9 * count * each, 1e-9 * there, fitting);
}
