/* Converts the state to named arrays, for frames and checkpoints, and back. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/cbrt.h"
#include "sim/sim.h"
#include "world/water.h"

/* Version of the arrays below; a checkpoint of another version is rejected. */
enum { SNAPSHOT_VERSION = 1 };

static WadiStatus add_clock(const WadiSim *sim, WadiState *state, WadiError *error)
{
    uint64_t counts[4] = { SNAPSHOT_VERSION, (uint64_t)sim->frame, (uint64_t)sim->steps,
                           (uint64_t)sim->scene->emitter_count };
    double reals[2] = { sim->time, sim->max_divergence };
    WADI_TRY(wadi_state_put(state, "sim.counts", WADI_TYPE_U64, 1, 4, counts, error));
    WADI_TRY(wadi_state_put(state, "sim.reals", WADI_TYPE_F64, 1, 2, reals, error));
    uint64_t *ledger = NULL;
    size_t materials = (size_t)sim->scene->material_count;
    WADI_TRY(wadi_state_add(state, "sim.ledger", WADI_TYPE_U64, 3, materials, (void **)&ledger, error));
    for (size_t m = 0; m < materials; ++m) {
        ledger[3 * m] = (uint64_t)sim->born[m];
        ledger[3 * m + 1] = (uint64_t)sim->drained[m];
        ledger[3 * m + 2] = (uint64_t)sim->lost[m];
    }
    if (wadi_has_volumes(&sim->particles)) {
        WADI_TRY(wadi_state_put(state, "sim.drained_volume", WADI_TYPE_U64, 1, materials, sim->drained_volume,
                                error));
    }
    size_t emitters = (size_t)sim->scene->emitter_count;
    double *owed = NULL;
    uint64_t *emitted = NULL;
    WADI_TRY(wadi_state_add(state, "emit.owed", WADI_TYPE_F64, 1, emitters, (void **)&owed, error));
    WADI_TRY(wadi_state_add(state, "emit.counts", WADI_TYPE_U64, 2, emitters, (void **)&emitted, error));
    for (size_t i = 0; i < emitters; ++i) {
        owed[i] = sim->emit[i].owed;
        emitted[2 * i] = sim->emit[i].emitted;
        emitted[2 * i + 1] = sim->emit[i].tried;
    }
    if (wadi_water_column(&sim->particles) != NULL) {
        const uint64_t water[3] = { (uint64_t)sim->water_born, (uint64_t)sim->water_drained,
                                    (uint64_t)sim->water_evaporated };
        WADI_TRY(wadi_state_put(state, "sim.water", WADI_TYPE_U64, 3, 1, water, error));
    }
    /* The warnings given, so that a resumed run does not repeat them. Without warnings the array is
     * omitted. */
    return sim->overfull_warnings != 0 ? wadi_state_put(state, "sim.no_room_said", WADI_TYPE_U64, 1, 1,
                                                        &sim->overfull_warnings, error)
                                       : WADI_OK;
}

enum { PARTICLE_BLOCK = 16384 };

typedef struct MaterialAttributes {
    const uint8_t *material;
    float *radius, *density;           /* radius NULL: the solver has a column of them */
    float one_radius, density_of[256]; /* by material */
    const double *water;               /* NULL: the solver moves none between particles */
    const double *volume;              /* of different sizes; NULL: all 1 */
    double water_density;              /* of its unit, kg/m^3 */
    bool is_water[256];
} MaterialAttributes;

static void fill_attributes(void *context, int64_t first, int64_t end)
{
    const MaterialAttributes *fill = context;
    for (int64_t i = first; i < end; ++i) {
        fill->density[i] = fill->density_of[fill->material[i]];
    }
    for (int64_t i = first; i < end && fill->radius != NULL; ++i) {
        fill->radius[i] = fill->one_radius;
    }
    /* Particles of water are as large as what is left of them; wet sand is heavier. */
    for (int64_t i = first; i < end && fill->water != NULL; ++i) {
        const double mass = fill->water[i] * fill->water_density;
        if (!fill->is_water[fill->material[i]]) {
            fill->density[i] += (float)(fill->volume != NULL ? mass / fill->volume[i] : mass);
        } else if (fill->radius != NULL) {
            fill->radius[i] *= (float)wadi_cbrt(mass / (double)fill->density[i]);
        }
    }
}

WadiStatus wadi_sim_material_attributes(const WadiSim *sim, WadiState *state, WadiError *error)
{
    const WadiParticles *p = &sim->particles;
    size_t count = (size_t)p->count;
    MaterialAttributes fill = { .material = p->material, .one_radius = (float)(0.5 * sim->world->spacing) };
    for (int m = 0; m < sim->scene->material_count; ++m) {
        fill.density_of[m] = (float)sim->scene->materials[m].density;
        fill.is_water[m] = sim->scene->materials[m].kind == WADI_MATERIAL_WATER;
    }
    fill.water = wadi_water_column(p);
    fill.volume = wadi_volume_column(p);
    fill.water_density = wadi_water_density(sim->scene);
    /* A solver whose particles have sizes of their own shows them. */
    if (wadi_particles_find_column(p, "radius") < 0) {
        WADI_TRY(wadi_state_add(state, "radius", WADI_TYPE_F32, 1, count, (void **)&fill.radius, error));
    }
    WADI_TRY(wadi_state_add(state, "density", WADI_TYPE_F32, 1, count, (void **)&fill.density, error));
    wadi_parallel_for(p->count, PARTICLE_BLOCK, fill_attributes, &fill);
    return WADI_OK;
}

/* The changes so far, and the scene as they left it. Nothing without changes. */
static WadiStatus add_changes(const WadiSim *sim, WadiState *state, WadiError *error)
{
    if (sim->change_log.length == 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_put(state, "sim.changes", WADI_TYPE_U8, 1, sim->change_log.length,
                            sim->change_log.data, error));
    return wadi_state_put(state, "sim.scene", WADI_TYPE_U8, 1, strlen(sim->scene->source), sim->scene->source,
                          error);
}

WadiStatus wadi_sim_snapshot(const WadiSim *sim, WadiState *state, WadiError *error)
{
    wadi_state_clear(state);
    WADI_TRY(wadi_sim_check_idle(sim, error));
    if (sim->world == NULL) { /* a change could not be taken back */
        return wadi_sim_check_state(sim, error);
    }
    WADI_TRY(wadi_particles_save(&sim->particles, state, error));
    state->next_use = WADI_USE_CHECKPOINT;
    WADI_TRY(add_clock(sim, state, error));
    WADI_TRY(add_changes(sim, state, error));
    WADI_TRY(wadi_solid_loads_save(&sim->loads, state, error));
    if (sim->type->save != NULL) {
        WADI_TRY(sim->type->save(sim->solver, state, error));
    }
    state->next_use = WADI_USE_FRAME;
    return wadi_sim_material_attributes(sim, state, error);
}

/* Whether the numbers of a checkpoint add up without overflow: counts below 2^53, times and volumes
 * finite. */
static bool are_counts(const WadiStateArray *array)
{
    const uint64_t *value = array->data;
    bool is_good = true;
    for (size_t i = 0; i < array->count * (size_t)array->components; ++i) {
        is_good &= value[i] < UINT64_C(1) << 53;
    }
    return is_good;
}

static bool are_below(const WadiStateArray *array, double limit)
{
    const double *value = array->data;
    bool is_good = true;
    for (size_t i = 0; i < array->count * (size_t)array->components; ++i) {
        is_good &= fabs(value[i]) <= limit;
    }
    return is_good;
}

/* An emitter owes less than a particle: a forged volume would fill the memory in one step. A solver that
 * emits by itself makes only what fits. */
static bool are_debts(const WadiSim *sim, const double *owed)
{
    bool is_good = true;
    for (int i = 0; i < sim->scene->emitter_count; ++i) {
        const double most = sim->type->emit != NULL ? INT32_MAX : 1.001;
        is_good &= fabs(owed[i]) <= most * sim->world->emitters[i].particle_volume;
    }
    return is_good;
}

static WadiStatus check_particles(const WadiSim *sim, WadiError *error)
{
    const WadiParticles *p = &sim->particles;
    const double limit = 0x1p30 * sim->world->cell_size; /* cell indices fit into 32 bits */
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] >= sim->scene->material_count) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "particle %u of the checkpoint has material %d; the scene has %d", p->id[i],
                             p->material[i], sim->scene->material_count);
        }
        if (!(fabs(p->x[i]) <= limit && fabs(p->y[i]) <= limit && fabs(p->z[i]) <= limit)) {
            return wadi_fail(
                error, WADI_ERR_FORMAT,
                "particle %u of the checkpoint is at (%g, %g, %g): outside the grid; resume from "
                "another one",
                p->id[i], p->x[i], p->y[i], p->z[i]);
        }
    }
    return WADI_OK;
}

/* Whole quanta, at most those of two full particles. */
static bool are_masses(const double *mass, const double *volume, int32_t count)
{
    bool is_good = true;
    for (int32_t i = 0; i < count && mass != NULL && is_good; ++i) {
        is_good = mass[i] >= 0.0 && mass[i] <= 2.0 * (volume != NULL ? volume[i] : 1.0) &&
                  mass[i] * WADI_WATER_QUANTA == floor(mass[i] * WADI_WATER_QUANTA);
    }
    return is_good;
}

static WadiStatus restore_water(WadiSim *sim, const WadiState *state, WadiError *error)
{
    const WadiStateArray *array = NULL;
    const WadiParticles *p = &sim->particles;
    if (wadi_water_column(p) == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_expect(state, "sim.water", WADI_TYPE_U64, 3, 1, &array, error));
    const uint64_t *w = array->data;
    const bool is_good = w[0] < UINT64_C(1) << 62 && w[1] <= w[0] && w[2] <= w[0] &&
                         are_masses(wadi_water_column(p), wadi_volume_column(p), p->count) &&
                         are_masses(wadi_film_column(p), wadi_volume_column(p), p->count);
    if (!is_good) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the masses of water of the checkpoint make no sense; resume from another one");
    }
    sim->water_born = (int64_t)w[0];
    sim->water_drained = (int64_t)w[1];
    sim->water_evaporated = (int64_t)w[2];
    return WADI_OK;
}

/* What left before particles had sizes had the volume 1. */
static WadiStatus restore_drained_volume(WadiSim *sim, const WadiState *state, WadiError *error)
{
    const WadiStateArray *array = NULL;
    const size_t materials = (size_t)sim->scene->material_count;
    if (!wadi_has_volumes(&sim->particles)) {
        return WADI_OK;
    }
    for (size_t m = 0; m < materials; ++m) {
        sim->drained_volume[m] = (int64_t)((double)sim->drained[m] * WADI_WATER_QUANTA);
    }
    if (wadi_state_find(state, "sim.drained_volume") == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_state_expect(state, "sim.drained_volume", WADI_TYPE_U64, 1, materials, &array, error));
    const uint64_t *quanta = array->data;
    for (size_t m = 0; m < materials; ++m) {
        if (quanta[m] > UINT64_C(1) << 62) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "the drained volumes of the checkpoint make no sense; resume from another one");
        }
        sim->drained_volume[m] = (int64_t)quanta[m];
    }
    return WADI_OK;
}

WadiStatus wadi_sim_restore_particles(WadiSim *sim, const WadiState *state, WadiError *error)
{
    const WadiStateArray *counts = NULL, *reals = NULL, *ledger = NULL, *owed = NULL, *emitted = NULL;
    size_t emitters = (size_t)sim->scene->emitter_count;
    size_t materials = (size_t)sim->scene->material_count;
    WADI_TRY(wadi_state_expect(state, "sim.counts", WADI_TYPE_U64, 1, 4, &counts, error));
    WADI_TRY(wadi_state_expect(state, "sim.reals", WADI_TYPE_F64, 1, 2, &reals, error));
    WADI_TRY(wadi_state_expect(state, "sim.ledger", WADI_TYPE_U64, 3, materials, &ledger, error));
    WADI_TRY(wadi_state_expect(state, "emit.owed", WADI_TYPE_F64, 1, emitters, &owed, error));
    WADI_TRY(wadi_state_expect(state, "emit.counts", WADI_TYPE_U64, 2, emitters, &emitted, error));
    const uint64_t *c = counts->data;
    if (c[0] != SNAPSHOT_VERSION) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the checkpoint has version %llu, this wadi reads version %d",
                         (unsigned long long)c[0], SNAPSHOT_VERSION);
    }
    if (c[1] > INT32_MAX || !are_counts(counts) || !are_counts(ledger) || !are_counts(emitted) ||
        !are_below(reals, 1e30) || !are_debts(sim, owed->data) || ((const double *)reals->data)[0] < 0.0) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the counts and times of the checkpoint make no sense; resume from another one");
    }
    WADI_TRY(wadi_particles_load(&sim->particles, state, error));
    WADI_TRY(check_particles(sim, error));
    WADI_TRY(restore_water(sim, state, error));
    sim->frame = (int)c[1];
    sim->steps = (int64_t)c[2];
    sim->time = ((const double *)reals->data)[0];
    sim->max_divergence = ((const double *)reals->data)[1];
    /* The invariant of WadiSim: a step must end after it begins. */
    if (!(sim->time >= wadi_scene_frame_time(sim->scene, sim->frame)) ||
        !(sim->time < wadi_scene_frame_time(sim->scene, sim->frame + 1))) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the checkpoint is of frame %d and t = %.9g s, but the scene has that frame at %.9g "
                         "s: resume with the fps "
                         "it was run with, or from another one",
                         sim->frame, sim->time, wadi_scene_frame_time(sim->scene, sim->frame));
    }
    const uint64_t *l = ledger->data;
    for (size_t m = 0; m < materials; ++m) {
        sim->born[m] = (int64_t)l[3 * m];
        sim->drained[m] = (int64_t)l[3 * m + 1];
        sim->lost[m] = (int64_t)l[3 * m + 2];
    }
    WADI_TRY(restore_drained_volume(sim, state, error));
    WADI_TRY(wadi_solid_loads_load(&sim->loads, state, error));
    for (size_t i = 0; i < emitters; ++i) {
        sim->emit[i].owed = ((const double *)owed->data)[i];
        sim->emit[i].emitted = ((const uint64_t *)emitted->data)[2 * i];
        sim->emit[i].tried = ((const uint64_t *)emitted->data)[2 * i + 1];
    }
    sim->overfull_warnings = 0;
    if (wadi_state_find(state, "sim.no_room_said") != NULL) {
        const WadiStateArray *overfull_warnings = NULL;
        WADI_TRY(
            wadi_state_expect(state, "sim.no_room_said", WADI_TYPE_U64, 1, 1, &overfull_warnings, error));
        sim->overfull_warnings = *(const uint64_t *)overfull_warnings->data;
    }
    return WADI_OK;
}

/* Messages about arrays in general do not say what to do with a checkpoint. */
static WadiStatus advise(WadiStatus status, WadiError *error)
{
    if (status != WADI_ERR_FORMAT || error == NULL || strstr(error->text, "resume") != NULL) {
        return status;
    }
    const WadiError cause = *error;
    return wadi_fail(error, status, "the checkpoint is damaged: %s; resume from an earlier one", cause.text);
}

WadiStatus wadi_sim_restore(WadiSim *sim, const WadiState *state, WadiError *error)
{
    WadiStatus status = wadi_sim_restore_particles(sim, state, error);
    if (status == WADI_OK && sim->type->load != NULL) {
        status = sim->type->load(sim->solver, state, error);
    }
    WADI_TRY(advise(status, error));
    wadi_sim_read_resampling(sim);
    return WADI_OK;
}
