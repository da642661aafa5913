/* Changes of a running simulation: another scene for the same particles, particles added and removed. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "sim/sim.h"
#include "sleep/sleep.h"
#include "world/rest_on.h"
#include "world/water.h"

/* Adds zeros for the columns that the state lacks, volumes of 1; nothing of it sleeps. */
static WadiStatus complete_columns(const WadiSim *sim, WadiState *state, WadiError *error)
{
    WadiParticleArray arrays[WADI_COLUMN_MAX];
    const int count = wadi_particles_arrays(&sim->particles, arrays);
    const WadiStateArray *positions = wadi_state_find(state, "position");
    for (int a = 0; a < count; ++a) {
        const WadiStateArray *found = wadi_state_find(state, arrays[a].name);
        void *data = found != NULL ? found->data : NULL;
        const WadiType type = sim->particles.column[arrays[a].first].type;
        if (found == NULL) {
            WADI_TRY(wadi_state_add(state, arrays[a].name, type, arrays[a].components, positions->count,
                                    &data, error));
        }
        if (found == NULL || strcmp(arrays[a].name, WADI_SLEEP_COLUMN) == 0) {
            memset(data, 0, positions->count * (size_t)arrays[a].components * wadi_type_size(type));
        }
        for (size_t i = 0; found == NULL && strcmp(arrays[a].name, "volume") == 0 && i < positions->count;
             ++i) {
            ((double *)data)[i] = 1.0;
        }
    }
    return WADI_OK;
}

static WadiStatus build_with(WadiSim *sim, const WadiScene *scene, bool is_other, WadiState *state,
                             WadiError *error)
{
    wadi_sim_release(sim);
    sim->scene = scene;
    WADI_TRY(wadi_sim_prepare(sim, error));
    if (is_other && sim->type->renew != NULL) {
        sim->type->renew(sim->solver);
    }
    const bool had_sizes = wadi_state_find(state, "volume") != NULL;
    const bool has_sizes = wadi_has_volumes(&sim->particles);
    if (had_sizes && !has_sizes) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "particles of different sizes cannot become alike while the simulation runs; keep "
                         "`adaptive` or start it again without");
    }
    if (wadi_sim_restore(sim, state, NULL) == WADI_OK) {
        return WADI_OK;
    }
    /* The scenes have different columns, as when the first sand joins water: the solver starts anew. */
    wadi_sim_release(sim);
    WADI_TRY(wadi_sim_prepare(sim, error));
    const bool had_water = wadi_state_find(state, "sim.water") != NULL;
    WADI_TRY(complete_columns(sim, state, error));
    if (!had_water) {
        const uint64_t none[3] = { 0 };
        WADI_TRY(wadi_state_put(state, "sim.water", WADI_TYPE_U64, 3, 1, none, error));
    }
    WADI_TRY(wadi_sim_restore_particles(sim, state, error));
    if (!had_water) { /* so far nothing moved water between particles: sand is dry */
        wadi_world_set_water(sim->world, &sim->particles, 0, 0.0);
        sim->water_born = wadi_water_sum(&sim->particles, 0);
    }
    if (has_sizes && !had_sizes) {
        sim->type->born(sim->solver, 0); /* radii */
    }
    return WADI_OK;
}

/* The former world goes last: the next one may share its meshes. */
static WadiStatus continue_with(WadiSim *sim, const WadiScene *scene, bool is_other, WadiState *state,
                                WadiError *error)
{
    WadiWorld *former = sim->world;
    sim->world = NULL;
    const WadiStatus status = build_with(sim, scene, is_other, state, error);
    wadi_world_destroy(former);
    return status;
}

WadiStatus wadi_sim_change_scene(WadiSim *sim, const WadiScene *scene, WadiError *error)
{
    WadiState state = { 0 };
    const WadiScene *before = sim->scene;
    WadiStatus status = wadi_sim_check_state(sim, error);
    if (status == WADI_OK) {
        status = wadi_sim_snapshot(sim, &state, error);
    }
    if (status == WADI_OK) {
        status = continue_with(sim, scene, true, &state, error);
        if (status != WADI_OK && continue_with(sim, before, false, &state, NULL) != WADI_OK) {
            wadi_sim_release(sim);
            sim->stopped = status;
            sim->stopped_stage = "change";
        }
    }
    wadi_state_free(&state);
    return status;
}

/* Particles by cells of one spacing, in a box around the new ones: the first of each cell, chained. */
typedef struct Occupied {
    WadiVec3 low;
    double cell;
    int64_t size[3];
    int32_t *head, *next; /* -1: none */
} Occupied;

static bool find_cell(const Occupied *occupied, WadiVec3 x, int64_t cell[3])
{
    const double at[3] = { x.x - occupied->low.x, x.y - occupied->low.y, x.z - occupied->low.z };
    bool is_inside = true;
    for (int a = 0; a < 3; ++a) {
        const double c = floor(at[a] / occupied->cell);
        is_inside = is_inside && c >= 0.0 && c < (double)occupied->size[a];
        cell[a] = is_inside ? (int64_t)c : 0;
    }
    return is_inside;
}

static WadiVec3 position(const WadiParticles *p, int32_t i)
{
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

static int64_t index_of(const Occupied *occupied, const int64_t c[3])
{
    return (c[2] * occupied->size[1] + c[1]) * occupied->size[0] + c[0];
}

/* A box of the particles from `first` on, one cell wider on each side. */
static void place(Occupied *occupied, const WadiParticles *p, int32_t first, double spacing)
{
    WadiVec3 low = position(p, first), high = low;
    for (int32_t i = first; i < p->count; ++i) {
        low = (WadiVec3){ fmin(low.x, p->x[i]), fmin(low.y, p->y[i]), fmin(low.z, p->z[i]) };
        high = (WadiVec3){ fmax(high.x, p->x[i]), fmax(high.y, p->y[i]), fmax(high.z, p->z[i]) };
    }
    occupied->cell = spacing;
    const double most = 4.0 * (double)(p->count - first) + 1e6; /* thin shapes have much empty room */
    double cells = INFINITY;
    while (cells > most) {
        const double extent[3] = { high.x - low.x, high.y - low.y, high.z - low.z };
        cells = 1.0;
        for (int a = 0; a < 3; ++a) {
            occupied->size[a] = 3 + (int64_t)(extent[a] / occupied->cell);
            cells *= (double)occupied->size[a];
        }
        occupied->low = wadi_sub(low, (WadiVec3){ occupied->cell, occupied->cell, occupied->cell });
        occupied->cell *= cells > most ? 2.0 : 1.0;
    }
}

static WadiStatus fill(Occupied *occupied, const WadiParticles *p, int32_t first, WadiArena *scratch,
                       WadiError *error)
{
    const int64_t cells = occupied->size[0] * occupied->size[1] * occupied->size[2];
    WADI_TRY(WADI_ARENA_NEW(scratch, &occupied->head, (size_t)cells, "occupied cells", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &occupied->next, (size_t)first, "occupied cells", error));
    memset(occupied->head, 0xff, (size_t)cells * sizeof *occupied->head);
    for (int32_t i = 0; i < first; ++i) {
        int64_t c[3];
        if (find_cell(occupied, position(p, i), c)) {
            int32_t *head = &occupied->head[index_of(occupied, c)];
            occupied->next[i] = *head;
            *head = i;
        }
    }
    return WADI_OK;
}

static bool has_neighbour(const Occupied *occupied, const WadiParticles *p, WadiVec3 x, double distance)
{
    int64_t c[3];
    if (!find_cell(occupied, x, c)) {
        return false;
    }
    for (int n = 0; n < 27; ++n) {
        const int64_t at[3] = { c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1 };
        if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= occupied->size[0] || at[1] >= occupied->size[1] ||
            at[2] >= occupied->size[2]) {
            continue;
        }
        for (int32_t i = occupied->head[index_of(occupied, at)]; i >= 0; i = occupied->next[i]) {
            const WadiVec3 d = wadi_sub(x, position(p, i));
            if (wadi_dot(d, d) < distance * distance) {
                return true;
            }
        }
    }
    return false;
}

static const double NEAREST = 0.75; /* spacings, of a new particle to a present one */

/* Removes those of the particles from `first` on whose place is taken. */
WadiStatus wadi_sim_drop_crowded(WadiSim *sim, int32_t first, int64_t *added, WadiError *error)
{
    WadiParticles *p = &sim->particles;
    const double spacing = sim->world->spacing;
    Occupied occupied = { 0 };
    uint8_t *is_removed = NULL;
    if (*added == 0 || first == 0) {
        return WADI_OK;
    }
    place(&occupied, p, first, spacing);
    WADI_TRY(fill(&occupied, p, first, &sim->scratch, error));
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &is_removed, (size_t)p->count, "crowded particles", error));
    memset(is_removed, 0, (size_t)p->count);
    for (int32_t i = first; i < p->count; ++i) {
        is_removed[i] = has_neighbour(&occupied, p, position(p, i), NEAREST * spacing);
    }
    *added -= wadi_particles_remove(p, is_removed);
    return WADI_OK;
}

WadiStatus wadi_sim_finish_added(WadiSim *sim, int32_t first, double saturation, bool is_loose,
                                 WadiError *error)
{
    WadiParticles *p = &sim->particles;
    for (int32_t i = first; i < p->count; ++i) {
        sim->born[p->material[i]] += 1;
    }
    wadi_world_set_water(sim->world, p, first, saturation);
    sim->water_born += wadi_water_sum(p, first);
    WadiStatus status = wadi_sim_set_born(sim, first, error);
    if (status == WADI_OK && is_loose) {
        status = wadi_sim_pack(sim, first, error);
    }
    if (status != WADI_OK) {
        sim->stopped = status;
        sim->stopped_stage = "change";
        return status;
    }
    return wadi_arena_reset(&sim->scratch, error);
}

static WadiSeedIn seed_in(const WadiSim *sim, const WadiBodyDef *body, const WadiShape *shape)
{
    WadiSeedIn in = wadi_world_seed_in(sim->world, body, shape);
    in.snap = WADI_SNAP_NONE; /* two bodies that meet have no free surface between them */
    in.time = sim->time;
    return in;
}

static WadiStatus seed_body(WadiSim *sim, const WadiBodyDef *body, const WadiShape *shape, int64_t *added,
                            WadiError *error)
{
    WadiParticles *p = &sim->particles;
    const int32_t first = p->count;
    const WadiSeedIn in = seed_in(sim, body, shape);
    WADI_TRY(wadi_sim_check_added(sim, &in, error));
    WADI_TRY(wadi_seed_fill(&in, p, added, error));
    const WadiStatus status = wadi_sim_drop_crowded(sim, first, added, error);
    if (status != WADI_OK) {
        wadi_particles_drop_newest(p, *added);
        *added = 0;
        return status;
    }
    return wadi_sim_finish_added(sim, first, body->saturation, true, error);
}

WadiStatus wadi_sim_expect_body(const WadiSim *sim, const WadiBodyDef *body, double *count, WadiError *error)
{
    WadiShape *shape = NULL;
    double least = 0.0;
    *count = 0.0;
    WADI_TRY(wadi_rest_create_shape(&shape, sim->scene, &body->shape, &sim->log, error));
    const WadiSeedIn in = seed_in(sim, body, shape);
    const WadiStatus status = wadi_seed_expect(&in, &least, count, error);
    *count *= sim->world->particles_each;
    wadi_shape_destroy(shape);
    return status;
}

WadiStatus wadi_sim_add_body(WadiSim *sim, const WadiBodyDef *body, int64_t *added, WadiError *error)
{
    WadiShape *shape = NULL;
    *added = 0;
    WADI_TRY(wadi_rest_create_shape(&shape, sim->scene, &body->shape, &sim->log, error));
    const WadiStatus status = seed_body(sim, body, shape, added, error);
    wadi_shape_destroy(shape);
    return status;
}

static WadiStatus remove_inside(WadiSim *sim, const WadiShape *shape, int material, int64_t *removed,
                                WadiError *error)
{
    const WadiParticles *p = &sim->particles;
    uint8_t *is_removed = NULL;
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &is_removed, (size_t)p->count, "removed particles", error));
    for (int32_t i = 0; i < p->count; ++i) {
        is_removed[i] = (material < 0 || p->material[i] == material) &&
                        wadi_shape_contains(shape, position(p, i), sim->time);
    }
    *removed = wadi_sim_remove_drained(sim, is_removed);
    return wadi_arena_reset(&sim->scratch, error);
}

WadiStatus wadi_sim_remove_inside(WadiSim *sim, const WadiShapeDef *def, int material, int64_t *removed,
                                  WadiError *error)
{
    WadiShape *shape = NULL;
    *removed = 0;
    WADI_TRY(wadi_rest_create_shape(&shape, sim->scene, def, &sim->log, error));
    const WadiStatus status = remove_inside(sim, shape, material, removed, error);
    wadi_shape_destroy(shape);
    return status;
}

void wadi_sim_wet(WadiSim *sim, int material, double saturation)
{
    const WadiParticles *p = &sim->particles;
    double *water = wadi_water_column(p), *film = wadi_film_column(p);
    float *wetness = wadi_wetness_column(p);
    const double *volume = wadi_volume_column(p);
    const double whole = wadi_water_at_birth(sim->scene, material, saturation);
    const int64_t before = wadi_water_sum(p, 0);
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] != material) {
            continue;
        }
        if (water != NULL) {
            const double part = volume != NULL ? volume[i] : 1.0;
            water[i] = floor(whole * part * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
        }
        if (film != NULL) {
            film[i] = 0.0;
        }
        if (wetness != NULL) {
            wetness[i] = (float)saturation;
        }
    }
    const int64_t added = wadi_water_sum(p, 0) - before;
    sim->water_born += added > 0 ? added : 0;
    sim->water_drained += added < 0 ? -added : 0;
}
