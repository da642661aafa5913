/* The flip solver's interface: creation, the largest step, checkpoints. The step is in flip_step.c. */
#include <math.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_vectors.h"

enum { SPEED_BLOCK = 8192 };

/* Materials with an affine velocity. Cohesive sand has one beside its FLIP velocity: else the mean of the
 * particles beside a face at the surface is that of a place inside, and a rigid rotation becomes a strain
 * [theory 6.13]. */
static bool uses_affine(const WadiFlip *flip, const WadiMaterial *material)
{
    return material->transfer == WADI_TRANSFER_APIC ||
           (material->transfer == WADI_TRANSFER_FLIP && flip->bonds_column >= 0 &&
            wadi_flip_is_cohesive(material));
}

/* Add the columns of APIC if a material uses it. */
static WadiStatus add_affine(WadiFlip *flip, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    for (int m = 0; m < scene->material_count; ++m) {
        flip->has_affine =
            flip->has_affine || (uses_affine(flip, &scene->materials[m]) && !scene->materials[m].is_unused);
    }
    if (!flip->has_affine) {
        return WADI_OK;
    }
    WADI_TRY(wadi_flip_affine_add(flip->context.particles, &flip->affine, error));
    for (int m = 0; m < scene->material_count; ++m) {
        const int like = scene->materials[m].is_unused ? flip->materials.first : m;
        flip->affine.is_used[m] = uses_affine(flip, &scene->materials[like]);
    }
    return WADI_OK;
}

/* Not with pair separation, which moves particles without the grid, nor with the paper's friction, whose
 * piles creep; scenes without sand not with the sweeps of INF585 either. */
static bool may_sleep(const WadiFlip *flip)
{
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    return def->sleep && def->pair_separation == 0 && def->friction == WADI_FLIP_FRICTION_SOLVE &&
           (flip->materials.has_sand || def->pressure != WADI_FLIP_PRESSURE_GAUSS_SEIDEL);
}

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    const WadiScene *scene = context->world->scene;
    WadiFlip *flip = NULL;
    WADI_TRY(WADI_NEW(&flip, 1, "flip solver", error));
    flip->context = *context;
    flip->next_id = UINT32_MAX;
    flip->unit_time = wadi_scene_unit_time(scene, context->world->cell_size);
    wadi_materials_init(&flip->materials, scene);
    WadiStatus status = wadi_flip_attributes_add(flip, error);
    if (status == WADI_OK) {
        status = wadi_flip_bonds_add(flip, error);
    }
    if (status == WADI_OK) {
        status = wadi_flip_compressed_add(flip, error);
    }
    if (status == WADI_OK) {
        status = add_affine(flip, error);
    }
    if (status != WADI_OK) {
        WADI_DELETE(flip, 1);
        return status;
    }
    *solver = flip;
    if (context->loads != NULL) { /* published methods do not report forces */
        context->loads->is_reported = wadi_flip_published(flip) == WADI_FLIP_PUBLISHED_NONE;
    }
    const int32_t reach = WADI_FLIP_MARGIN + (int32_t)ceil(wadi_flip_def(scene)->cfl);
    WADI_TRY(wadi_sleep_init(&flip->sleep, may_sleep(flip), reach, context->particles, error));
    if (!flip->sleep.is_on) {
        wadi_flip_attributes_skip_in_sort(flip, true);
    }
    if (flip->materials.used_count <= 1) {
        wadi_particles_skip_in_sort(context->particles, WADI_COLUMN_MATERIAL, true);
    }
    return WADI_OK;
}

static void destroy(void *solver)
{
    WadiFlip *flip = solver;
    wadi_flip_solid_cache_free(&flip->solid_cache);
    wadi_friction_memory_free(&flip->friction_memory);
    wadi_tile_memory_free(&flip->pressure_memory);
    wadi_sleep_free(&flip->sleep);
    wadi_sleep_loads_free(&flip->sleep_loads);
    wadi_tile_memory_free(&flip->sleep_stresses.pressure);
    wadi_friction_memory_free(&flip->sleep_stresses.friction);
    WADI_DELETE(flip, 1);
}

typedef struct Speeds {
    const WadiParticles *particles;
    int32_t first; /* particles before it sleep */
} Speeds;

static double block_speed(void *context, int64_t first, int64_t end)
{
    const Speeds *speeds = context;
    const WadiParticles *p = speeds->particles;
    const float *vx = p->vx + speeds->first, *vy = p->vy + speeds->first, *vz = p->vz + speeds->first;
    WadiF8 largest = { 0 };
    int64_t i = first;
    for (; i + 8 <= end; i += 8) {
        const WadiF8 x = *(const WadiF8 *)(vx + i), y = *(const WadiF8 *)(vy + i);
        const WadiF8 z = *(const WadiF8 *)(vz + i), s = x * x + y * y + z * z;
        largest = WADI_MAX8(s, largest);
    }
    float square = 0.0f;
    for (int l = 0; l < 8; ++l) {
        square = largest[l] > square ? largest[l] : square;
    }
    for (; i < end; ++i) {
        float s = vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
        square = s > square ? s : square;
    }
    return sqrt((double)square);
}

/* Constant gravity alone is counted with the speeds, as that of a fall through a cell. */
static double force_step(const WadiFlip *flip, double time, double dt, double speed)
{
    const WadiWorld *world = flip->context.world;
    if (world->scene->force_count == 0 && wadi_curve_is_constant(&world->scene->gravity)) {
        return dt;
    }
    const WadiForceStep in = { .first = wadi_sleep_first(&flip->sleep, flip->context.particles),
                               .time = time,
                               .dt = dt,
                               .speed = speed,
                               .distance = wadi_flip_def(world->scene)->cfl * world->cell_size };
    return wadi_world_force_step(world, flip->context.particles, &in);
}

/* Sand has shorter steps, with which its friction was measured [theory 1.5]. */
static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiFlip *flip = solver;
    const WadiWorld *world = flip->context.world;
    const WadiParticles *p = flip->context.particles;
    if (wadi_sleep_is_undisturbed(&flip->sleep, &flip->context, time, time + 1.0 / world->scene->fps)) {
        *limit = "asleep";
        return INFINITY;
    }
    Speeds speeds = { p, wadi_sleep_first(&flip->sleep, p) };
    int32_t awake = p->count - speeds.first;
    double *partials = NULL;
    double speed = 0.0, h = world->cell_size;
    if (WADI_ARENA_NEW(flip->context.scratch, &partials,
                       (size_t)wadi_parallel_block_count(awake, SPEED_BLOCK), "speeds", NULL) == WADI_OK) {
        speed = fmax(0.0, wadi_parallel_max(awake, SPEED_BLOCK, block_speed, &speeds, partials));
    }
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, time));
    double dt = wadi_flip_def(world->scene)->cfl * h / (speed + sqrt(g * h) + 1e-30);
    *limit = "cells a step";
    const double strong = force_step(flip, time, dt, speed);
    if (strong < dt) {
        dt = strong;
        *limit = "forces";
    }
    const double sand = wadi_flip_def(world->scene)->sand_step * flip->unit_time;
    if (flip->materials.has_sand && wadi_flip_def(world->scene)->published == WADI_FLIP_PUBLISHED_NONE &&
        dt > sand) {
        dt = sand;
        *limit = "sand";
    }
    double capillary = wadi_flip_tension_largest_dt(flip, time);
    if (dt > capillary) {
        dt = capillary;
        *limit = "surface tension";
    }
    return dt;
}

enum { NUMBERS = 2 }; /* of the solver in a checkpoint */

static WadiStatus save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiFlip *flip = solver;
    const double numbers[NUMBERS] = { flip->last_dt, flip->are_attributes_old };
    WADI_TRY(wadi_state_put(state, "flip", WADI_TYPE_F64, NUMBERS, 1, numbers, error));
    /* Particles emitted after the last step, for flip_emitted.c. */
    if (flip->next_id < flip->context.particles->next_id && flip->materials.has_water) {
        WADI_TRY(wadi_state_put(state, "flip_next_id", WADI_TYPE_U32, 1, 1, &flip->next_id, error));
    }
    WADI_TRY(
        wadi_tile_memory_save(&flip->pressure_memory, &wadi_flip_pressure_kind, "pressure", state, error));
    WADI_TRY(wadi_friction_memory_save(&flip->friction_memory, "friction", state, error));
    WADI_TRY(wadi_sleep_save(&flip->sleep, state, error));
    WADI_TRY(wadi_sleep_loads_save(&flip->sleep_loads, state, error));
    if (!flip->sleep.is_on) {
        return WADI_OK;
    }
    WADI_TRY(wadi_tile_memory_save(&flip->sleep_stresses.pressure, &wadi_flip_pressure_kind, "sleep_pressure",
                                   state, error));
    return wadi_friction_memory_save(&flip->sleep_stresses.friction, "sleep_friction", state, error);
}

static WadiStatus load(void *solver, const WadiState *state, WadiError *error)
{
    WadiFlip *flip = solver;
    const WadiStateArray *numbers;
    WADI_TRY(wadi_state_expect_numbers(state, "flip", NUMBERS, &numbers, error));
    const double *number = numbers->data;
    if (!(number[0] >= 0.0 && number[0] <= 1e6 && (number[1] == 0.0 || number[1] == 1.0))) {
        return wadi_state_fail(error, numbers, 0, "a last step of %g s with attributes of age %g", number[0],
                               number[1]);
    }
    flip->last_dt = number[0];
    flip->are_attributes_old = number[1] != 0.0;
    flip->next_id = flip->context.particles->next_id;
    if (wadi_state_find(state, "flip_next_id") != NULL) {
        const WadiStateArray *next_id;
        WADI_TRY(wadi_state_expect(state, "flip_next_id", WADI_TYPE_U32, 1, 1, &next_id, error));
        flip->next_id = *(const uint32_t *)next_id->data;
    }
    WADI_TRY(
        wadi_tile_memory_load(&flip->pressure_memory, &wadi_flip_pressure_kind, "pressure", state, error));
    WADI_TRY(wadi_friction_memory_load(&flip->friction_memory, "friction", state, error));
    if (flip->context.loads != NULL) {
        WADI_TRY(wadi_sleep_loads_load(&flip->sleep_loads, flip->context.loads->count, state, error));
    }
    if (!flip->sleep.is_on) {
        return WADI_OK;
    }
    WADI_TRY(wadi_tile_memory_load(&flip->sleep_stresses.pressure, &wadi_flip_pressure_kind, "sleep_pressure",
                                   state, error));
    WADI_TRY(wadi_friction_memory_load(&flip->sleep_stresses.friction, "sleep_friction", state, error));
    return wadi_sleep_load(&flip->sleep, flip->context.particles, flip->context.world->cell_size, state,
                           error);
}

static void wake(void *solver)
{
    WadiFlip *flip = solver;
    wadi_sleep_wake_all(&flip->sleep);
}

const WadiSolverType wadi_flip_solver = {
    .settings = &wadi_flip_settings,
    .check = wadi_flip_check_settings,
    .resolve = wadi_flip_resolve_settings,
    .has_grid = true,
    .allowed_expansion = wadi_flip_allowed_expansion,
    /* For bodies too large for a trial. Measured: 49 in a compact body (307 a cell of eight particles,
     * with spare capacity), 134 at the height of a splash of 268,000 particles; in larger ones sheets and
     * drops are a smaller part. */
    .scratch_bytes_each = 88,
    .create = create,
    .destroy = destroy,
    .largest_dt = largest_dt,
    .step = wadi_flip_take_step,
    .save = save,
    .load = load,
    .wake = wake,
};
