/* Accounts for every particle: present, drained, or lost in an endless world, with a warning. One that passed
 * a closed wall or is not finite ends the run. */
#include <math.h>

#include "core/log.h"
#include "core/parallel.h"
#include "sim/sim.h"
#include "world/water.h"

/* Limit of the world without walls, in cells: cell indices stay far inside 32 bits. Particles that leave
 * through open sides are drained before (open_sides.c). */
static const double world_cells = 1 << 30;

/* Outside a closed wall no particle is valid; a tenth of a cell allows for rounding. */
static WadiBox closed_walls(const WadiSim *sim)
{
    const double cell = sim->world->cell_size;
    const WadiSolids *solids = &sim->world->solids;
    return wadi_box_closed_sides(wadi_box_grown(solids->domain, 0.1 * cell), solids->closed_sides);
}

static WadiBox world_limits(const WadiSim *sim)
{
    const double far = world_cells * sim->world->cell_size;
    const WadiBox all = { { -far, -far, -far }, { far, far, far } };
    return wadi_box_intersection(closed_walls(sim), all);
}

enum { LOOK_BLOCK = 8192 };

typedef struct Look {
    const WadiParticles *particles;
    WadiBox limits;
} Look;

/* Counts particles that are at the limit of the world, beyond it, or not finite. Nearly always 0, so the loop
 * has no branch. */
static double count_suspects(void *context, int64_t first, int64_t end)
{
    const Look *look = context;
    const WadiParticles *p = look->particles;
    const WadiVec3 low = look->limits.min, high = look->limits.max;
    int32_t fine = 0;
    for (int64_t i = first; i < end; ++i) {
        fine += (p->x[i] > low.x) & (p->x[i] < high.x) & (p->y[i] > low.y) & (p->y[i] < high.y) &
                (p->z[i] > low.z) & (p->z[i] < high.z) & (fabsf(p->vx[i]) < INFINITY) &
                (fabsf(p->vy[i]) < INFINITY) & (fabsf(p->vz[i]) < INFINITY);
    }
    return (double)(end - first - fine);
}

/* Particles that are not where they can be. */
typedef enum LostKind { NOT_FINITE, PASSED_A_WALL, LEFT, LOST_KINDS } LostKind;

typedef struct Lost {
    int64_t count[LOST_KINDS];
    int32_t example[LOST_KINDS];
} Lost;

static Lost find_lost(const WadiSim *sim, const WadiBox *limits, uint8_t *is_removed)
{
    const WadiParticles *p = &sim->particles;
    const WadiBox walls = closed_walls(sim);
    Lost lost = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const bool is_finite =
            wadi_is_finite(x) && isfinite(p->vx[i]) && isfinite(p->vy[i]) && isfinite(p->vz[i]);
        is_removed[i] = !is_finite || !wadi_box_contains(*limits, x);
        if (is_removed[i] == 0) {
            continue;
        }
        const LostKind kind = !is_finite ? NOT_FINITE : !wadi_box_contains(walls, x) ? PASSED_A_WALL : LEFT;
        lost.example[kind] = lost.count[kind] == 0 ? i : lost.example[kind];
        lost.count[kind] += 1;
    }
    return lost;
}

static WadiStatus fail_for_lost(const WadiSim *sim, const Lost *lost, WadiError *error)
{
    const WadiParticles *p = &sim->particles;
    const int32_t i = lost->example[lost->count[NOT_FINITE] > 0 ? NOT_FINITE : PASSED_A_WALL];
    if (lost->count[NOT_FINITE] > 0) {
        return wadi_fail(error, WADI_ERR_NUMERIC,
                         "step %lld, t = %.6g s: %lld particles have positions or velocities that are not "
                         "finite (one is id %u): a force or a speed is too large for the numbers; weaken it, "
                         "or set a smaller `max_step`",
                         (long long)sim->steps, sim->time, (long long)lost->count[NOT_FINITE], p->id[i]);
    }
    return wadi_fail(error, WADI_ERR_NUMERIC,
                     "step %lld, t = %.6g s: %lld particles passed a closed side of the domain (id %u at "
                     "%.4g, %.4g, %.4g); weaken the forces, set a smaller `max_step`, or open that side",
                     (long long)sim->steps, sim->time, (long long)lost->count[PASSED_A_WALL], p->id[i],
                     p->x[i], p->y[i], p->z[i]);
}

WadiStatus wadi_sim_remove_lost(WadiSim *sim, WadiError *error)
{
    WadiParticles *p = &sim->particles;
    const WadiBox limits = world_limits(sim);
    Look look = { p, limits };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &partials, (size_t)wadi_parallel_block_count(p->count, LOOK_BLOCK),
                            "lost particles", error));
    if (wadi_parallel_sum(p->count, LOOK_BLOCK, count_suspects, &look, partials) == 0.0) {
        return WADI_OK;
    }
    uint8_t *is_removed = NULL;
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &is_removed, (size_t)p->count, "lost particles", error));
    const Lost lost = find_lost(sim, &limits, is_removed);
    if (lost.count[NOT_FINITE] > 0 || lost.count[PASSED_A_WALL] > 0) {
        return fail_for_lost(sim, &lost, error);
    }
    if (lost.count[LEFT] == 0) {
        return WADI_OK;
    }
    const int32_t example = lost.example[LEFT];
    wadi_log(&sim->log, WADI_LOG_WARNING,
             "step %lld, t = %.6g s: %lld particles left the world (id %u at %.4g, %.4g, %.4g); a drain "
             "takes them away "
             "on purpose",
             (long long)sim->steps, sim->time, (long long)lost.count[LEFT], p->id[example], p->x[example],
             p->y[example], p->z[example]);
    for (int32_t i = 0; i < p->count; ++i) {
        sim->lost[p->material[i]] += is_removed[i];
    }
    wadi_particles_remove(p, is_removed);
    return WADI_OK;
}

/* Density relative to the rest density from which a warning is given: sand at rest may have 1.2. */
static double warning_density(const WadiSim *sim)
{
    return wadi_scene_has_sand(sim->scene) ? 1.25 : 1.1;
}

/* The moving collider nearest to x, if it is within `radius`: the likely cause of the compression. */
static const char *nearest_mover(const WadiSim *sim, WadiVec3 x, double radius)
{
    const char *name = NULL;
    for (int i = 0; i < sim->scene->collider_count; ++i) {
        const WadiShape *shape = sim->world->collider_shapes[i];
        if (!wadi_shape_is_moving(shape)) {
            continue;
        }
        const double distance = fabs(wadi_shape_clearance(shape, x, sim->time));
        if (distance < radius) {
            radius = distance;
            name = sim->scene->colliders[i].name != NULL ? sim->scene->colliders[i].name
                                                         : sim->scene->colliders[i].where.text;
        }
    }
    return name;
}

/* Of WadiSim.overfull_warnings; -1: no emitter. */
static uint64_t warning_bit(int emitter)
{
    return UINT64_C(1) << (emitter < 62 ? emitter + 1 : 63);
}

void wadi_sim_warn_refused(WadiSim *sim, double refused, int emitter)
{
    if (!(refused > 0.0) || (sim->overfull_warnings & warning_bit(emitter)) != 0) {
        return;
    }
    sim->overfull_warnings |= warning_bit(emitter);
    wadi_log(
        &sim->log, WADI_LOG_WARNING,
        "frame %d, t = %.4g s: no room for all grains of the emitter of %s: it makes as many as fit into its "
        "shape and does not make up for the others; give it a larger shape, a higher velocity or a "
        "lower rate (at most area times velocity fits)",
        sim->frame + 1, sim->time, sim->scene->emitters[emitter].where.text);
}

void wadi_sim_warn_overfull(WadiSim *sim, const WadiOverfullRegion *region, int emitter)
{
    const uint64_t bit = warning_bit(emitter);
    if (region == NULL || (sim->overfull_warnings & bit) != 0 ||
        (emitter < 0 && region->density < warning_density(sim))) {
        return;
    }
    sim->overfull_warnings |= bit;
    const WadiVec3 x = wadi_scale(wadi_add(region->box.min, region->box.max), 0.5);
    if (emitter >= 0) {
        wadi_log(&sim->log, WADI_LOG_WARNING,
                 "frame %d, t = %.4g s: no room for the emitter of %s: around (%.4g, %.4g, %.4g) the "
                 "material is %.2f times "
                 "as dense as at rest and has no air above it; the emitter waits until there is room and "
                 "does not make up for it",
                 sim->frame + 1, sim->time, sim->scene->emitters[emitter].where.text, x.x, x.y, x.z,
                 region->density);
        return;
    }
    WadiVec3 size = wadi_box_size(sim->scene->has_domain ? sim->scene->domain : region->box);
    const char *mover = nearest_mover(sim, x, fmax(size.x, fmax(size.y, size.z)));
    wadi_log(&sim->log, WADI_LOG_WARNING,
             "frame %d, t = %.4g s: around (%.4g, %.4g, %.4g) the material has no room and is %.2f times as "
             "dense as at "
             "rest%s%s; leave it a way out",
             sim->frame + 1, sim->time, x.x, x.y, x.z, region->density,
             mover != NULL ? ": perhaps squeezed by the collider " : "", mover != NULL ? mover : "");
}

int32_t wadi_sim_remove_drained(WadiSim *sim, const uint8_t *is_removed)
{
    WadiParticles *p = &sim->particles;
    const double *volume = wadi_volume_column(p);
    const int64_t water = wadi_water_sum(p, 0);
    for (int32_t i = 0; i < p->count; ++i) {
        sim->drained[p->material[i]] += is_removed[i];
        if (volume != NULL && is_removed[i] != 0) {
            sim->drained_volume[p->material[i]] += (int64_t)(volume[i] * WADI_WATER_QUANTA);
        }
    }
    const int32_t removed = wadi_particles_remove(p, is_removed);
    sim->water_drained += water - wadi_water_sum(p, 0);
    return removed;
}

void wadi_sim_read_resampling(WadiSim *sim)
{
    sim->resampling = (WadiResampling){ 0 };
    if (sim->type->resampling != NULL) {
        sim->type->resampling(sim->solver, &sim->resampling);
    }
}

int64_t wadi_sim_material_count(const WadiSim *sim, int material)
{
    int64_t count = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        count += sim->particles.material[i] == material;
    }
    return count;
}

/* What is there of a material and what should be, in particles of the scene's spacing. */
static double find_volume(const WadiSim *sim, int material, double *expected)
{
    const double *volume = wadi_volume_column(&sim->particles);
    *expected = (double)(sim->born[material] - sim->drained[material]);
    if (!wadi_has_volumes(&sim->particles)) {
        return (double)wadi_sim_material_count(sim, material);
    }
    int64_t quanta = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        quanta += sim->particles.material[i] == material ? (int64_t)(volume[i] * WADI_WATER_QUANTA) : 0;
    }
    *expected = (double)sim->born[material] - (double)sim->drained_volume[material] / WADI_WATER_QUANTA;
    return (double)quanta / WADI_WATER_QUANTA;
}

double wadi_sim_mass_drift(const WadiSim *sim, int kind)
{
    double expected = 0.0, present = 0.0;
    /* Water goes from particle to particle: its mass is counted, not its particles. */
    const bool has_water = wadi_water_column(&sim->particles) != NULL;
    if (has_water && kind != WADI_MATERIAL_SAND) {
        const double quantum =
            wadi_water_density(sim->scene) * sim->world->particle_volume / WADI_WATER_QUANTA;
        expected = quantum * (double)(sim->water_born - sim->water_drained - sim->water_evaporated);
        present = quantum * (double)wadi_water_sum(&sim->particles, 0);
    }
    for (int m = 0; m < sim->scene->material_count; ++m) {
        const WadiMaterial *material = &sim->scene->materials[m];
        if (kind >= 0 && (int)material->kind != kind) {
            continue;
        }
        double mass = material->density * sim->world->particle_volume;
        if (has_water && material->kind == WADI_MATERIAL_WATER) {
            continue;
        }
        double wanted;
        present += mass * find_volume(sim, m, &wanted);
        expected += mass * wanted;
    }
    return expected > 0.0 ? (present - expected) / expected : 0.0;
}
