/* One step of the flip solver, stage by stage. [ZB05 sec. 4 for the order; sec. 3 for sand]
 * Differs: velocities belong to the middle of the step that they move particles by, and forces act from middle to middle
 * (leapfrog), so that free fall is exact and long steps do not run ahead of time by half a step. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/flip_crowd.h"
#include "flip/move/flip_advance.h"
#include "flip/move/flip_separate.h"
#include "flip/move/flip_spread.h"
#include "flip/transfer/flip_extend.h"
#include "flip/transfer/flip_extend_air.h"
#include "flip/transfer/flip_transfer.h"
#include "grid/row_vectors.h"

enum { SPEED_BLOCK = 8192 };

/* The columns of APIC where a material asks for it. */
static WadiStatus add_affine(WadiFlip *flip, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    for (int m = 0; m < scene->material_count; ++m) {
        flip->has_affine = flip->has_affine || scene->materials[m].transfer == WADI_TRANSFER_APIC;
    }
    if (!flip->has_affine) {
        return WADI_OK;
    }
    WADI_TRY(wadi_flip_affine_add(flip->context.particles, &flip->affine, error));
    for (int m = 0; m < scene->material_count; ++m) {
        flip->affine.is_used[m] = scene->materials[m].transfer == WADI_TRANSFER_APIC;
    }
    return WADI_OK;
}

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    const WadiScene *scene = context->world->scene;
    WadiFlip *flip = NULL;
    WADI_TRY(WADI_NEW(&flip, 1, "flip solver", error));
    flip->context = *context;
    flip->unit_time = wadi_flip_unit_time(scene, context->world->cell_size);
    wadi_flip_materials_init(&flip->materials, scene);
    WadiStatus status = wadi_flip_attributes_add(flip, error);
    if (status == WADI_OK) {
        status = add_affine(flip, error);
    }
    if (status != WADI_OK) {
        WADI_DELETE(flip, 1);
        return status;
    }
    *solver = flip;
    WADI_TRY(wadi_flip_sleep_init(&flip->sleep, scene, context->particles, error));
    if (!flip->sleep.is_on) {
        wadi_flip_attributes_leave(flip, true);
    }
    if (scene->material_count == 1) {
        wadi_particles_leave_column(context->particles, WADI_COLUMN_MATERIAL, true);
    }
    return WADI_OK;
}

static void destroy(void *solver)
{
    WadiFlip *flip = solver;
    wadi_flip_solid_cache_free(&flip->solid_cache);
    wadi_friction_memory_free(&flip->friction_memory);
    wadi_flip_pressure_memory_free(&flip->pressure_memory);
    wadi_flip_sleep_free(&flip->sleep);
    WADI_DELETE(flip, 1);
}

typedef struct Speeds {
    const WadiParticles *particles;
    int32_t first; /* those before it sleep */
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
        largest = WADI_LARGER(s, largest);
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

/* [models A0]; sand takes the shorter steps that its friction was measured with, cells of a millimetre to some centimetres at
 * 1/120 s. */
static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiFlip *flip = solver;
    const WadiWorld *world = flip->context.world;
    const WadiParticles *p = flip->context.particles;
    if (wadi_flip_sleep_is_sound(&flip->sleep, &flip->context, time, time + 1.0 / world->scene->fps)) {
        *limit = "asleep";
        return INFINITY;
    }
    Speeds speeds = { p, wadi_flip_sleep_first(&flip->sleep, p) };
    int32_t awake = p->count - speeds.first;
    double *partials = NULL;
    double speed = 0.0, h = world->cell_size;
    if (WADI_ARENA_NEW(flip->context.scratch, &partials,
                       (size_t)wadi_parallel_block_count(awake, SPEED_BLOCK), "speeds", NULL) == WADI_OK) {
        speed = fmax(0.0, wadi_parallel_max(awake, SPEED_BLOCK, block_speed, &speeds, partials));
    }
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, time));
    double dt = world->scene->flip.cfl * h / (speed + sqrt(g * h) + 1e-30);
    *limit = "cells a step";
    const double sand = world->scene->flip.sand_step * flip->unit_time;
    if (flip->materials.has_sand && dt > sand) {
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

/* What a gentle wave of few cells asks of the air above it: with 0.3 instead of 0.6 its particles stay crowded, with 1 a ball
 * that drops into water splashes more than without any. */
static const float AIR_MOST = 0.6f, AIR_FAST = 4.0f; /* of sqrt(g dx) */

static WadiStatus extend(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WadiFlipExtendIn in = { .rows = rows, .layers = WADI_FLIP_MARGIN + 1 };
    WadiFlipWallIn walls = { .rows = rows,
                             .solid_row = step->solid.row,
                             .distance = step->solid.distance,
                             .deepest = step->grid.cell_size };
    const double g = wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
    const float speed = (float)sqrt(g * step->grid.cell_size) + 1e-30f;
    WadiFlipAirIn air = { .rows = rows,
                          .cells = step->loose,
                          .solid_row = step->solid.row,
                          .most = AIR_MOST * speed,
                          .fast = AIR_FAST * speed };
    for (int a = 0; a < 3; ++a) {
        in.known[a] = air.known[a] = step->known[a];
        walls.open[a] = air.open[a] = step->solid.open[a];
        walls.solid_velocity[a] = air.solid_velocity[a] = step->solid.velocity[a];
    }
    WADI_TRY(wadi_flip_extend(&in, step->grid.velocity, NULL, flip->context.scratch, error));
    if (!flip->materials.has_sand) {
        WADI_TRY(wadi_flip_extend_air(&air, step->grid.velocity, flip->context.scratch, error));
    }
    return wadi_flip_extend_walls(&walls, step->grid.velocity, flip->context.scratch, error);
}

static WadiStatus separate(const WadiFlip *flip, const WadiFlipStep *step, WadiFlipPath *path,
                           WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    WadiFlipSeparateIn in = { .particles = flip->context.particles,
                              .diameter = wadi_flip_separate_diameter(step->grid.cell_size,
                                                                      scene->particles_per_axis),
                              .iterations = scene->flip.pair_separation };
    WadiFlipSeparateReport report;
    return wadi_flip_separate(&in, path->x, path->y, path->z, flip->context.scratch, &report, error);
}

/* Liquids so viscous that nothing stirs them inside a cell: a Reynolds number sqrt(g h) h rho / mu below this. */
static const double REYNOLDS_STIRRED = 50.0;
/* Pairs gain this part of what they miss in a sqrt(dx / g), 10/s for cells of 5 mm; a quarter of it a step at most. */
static const double SPREAD_RATE = 0.23, SPREAD_MOST = 0.25;
/* Radius of a hole, in cells: by chance a ball of this size is empty in one of 250 places. */
static const double HOLE = 0.55;

/* Which materials these are; false: none. */
static bool find_unstirred(const WadiFlip *flip, double time, bool is_unstirred[256])
{
    const WadiScene *scene = flip->context.world->scene;
    const double g = wadi_norm(wadi_curve_value3(&scene->gravity, time)), h = flip->context.world->cell_size;
    bool has_any = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double mu = wadi_curve_value(&material->viscosity, time);
        is_unstirred[m] = mu > 0.0 && sqrt(g * h) * h * material->density < REYNOLDS_STIRRED * mu;
        has_any = has_any || is_unstirred[m];
    }
    return has_any;
}

static WadiStatus spread(const WadiFlip *flip, const WadiFlipStep *step, const bool is_unstirred[256],
                         WadiFlipPath *path, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    WadiFlipSpreadIn in = { .sort = &step->sort,
                            .grid = &step->grid,
                            .particles = flip->context.particles,
                            .is_spread = is_unstirred,
                            .loose = step->loose,
                            .solid_row = step->solid.row,
                            .solid_distance = step->solid.distance,
                            .hole = HOLE * step->grid.cell_size,
                            .diameter =
                                wadi_flip_separate_diameter(step->grid.cell_size, scene->particles_per_axis),
                            .share = fmin(SPREAD_RATE * step->dt / flip->unit_time, SPREAD_MOST) };
    return wadi_flip_spread(&in, path, flip->context.scratch, error);
}

static WadiStatus make_grid(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    WadiStageTimes *times = context->times;
    WadiArena *arena = context->scratch;
    WADI_STAGE(times, "grid",
               WADI_TRY(wadi_flip_grid_build(&step->grid, &step->sort, WADI_FLIP_MARGIN, arena, error)));
    WADI_VALIDATE(wadi_flip_sort_validate(&step->sort, context->particles) &&
                  wadi_flip_grid_validate(&step->grid, &step->sort));
    WadiFlipToGridIn to_grid = { .sort = &step->sort,
                                 .particles = context->particles,
                                 .mass = flip->materials.mass,
                                 .material_count = context->world->scene->material_count,
                                 .affine = flip->has_affine ? &flip->affine : NULL };
    WADI_STAGE(times, "particles to grid",
               WADI_TRY(wadi_flip_particles_to_grid(&step->grid, &to_grid, arena, error)));
    return WADI_OK;
}

static WadiFlipSleepIn sleep_in(WadiFlip *flip, const WadiFlipStep *step)
{
    return (WadiFlipSleepIn){ .context = &flip->context,
                              .pressure = &flip->pressure_memory,
                              .friction = &flip->friction_memory,
                              .time = step->time,
                              .dt = step->dt };
}

/* Sort those who are awake; who that is may change by where they are. */
static WadiStatus sort_awake(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    WadiStageTimes *times = context->times;
    WadiFlipSleepIn in = sleep_in(flip, step);
    WADI_STAGE(times, "sleep", WADI_TRY(wadi_flip_sleep_wake(&flip->sleep, &in, error)));
    for (bool is_changed = true; is_changed && flip->sleep.count < context->particles->count;) {
        /* Among those who are awake; who falls asleep or wakes takes them along. */
        wadi_flip_attributes_leave(flip, !flip->sleep.is_on || flip->are_attributes_old);
        WADI_STAGE(times, "sort",
                   WADI_TRY(wadi_flip_sort_from(&step->sort, context->particles, flip->sleep.count,
                                                context->world->cell_size, context->scratch, error)));
        wadi_flip_attributes_leave(flip, !flip->sleep.is_on);
        WADI_STAGE(times, "sleep",
                   WADI_TRY(wadi_flip_sleep_update(&flip->sleep, &in, &step->sort, &is_changed, error)));
    }
    wadi_flip_sleep_end(&flip->sleep, context->particles);
    return WADI_OK;
}

static void fill_report(const WadiFlipStep *step, WadiStepReport *report)
{
    const WadiRows *rows = &step->grid.rows;
    *report = (WadiStepReport){ .max_divergence = step->max_divergence,
                                .pressure_solves = step->pressure_solves,
                                .pressure_iterations = step->pressure_iterations,
                                .friction_solves = step->friction_solves,
                                .friction_iterations = step->friction_iterations,
                                .grid_cells = 8 * (int64_t)rows->count };
    for (int32_t r = 0; r < rows->count; ++r) {
        report->cells += __builtin_popcount(step->grid.fluid[r]);
    }
}

/* New velocities and places. Where particles keep apart the ends of all paths are known before anyone moves: three passes. */
static WadiStatus advance(WadiFlip *flip, WadiFlipStep *step, WadiCollideReport *moved, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    WadiStageTimes *times = context->times;
    WadiFlipToParticlesIn velocity = { .sort = &step->sort,
                                       .grid = &step->grid,
                                       .saved = (const float *const *)step->saved,
                                       .saved_row = step->saved_row,
                                       .keep = flip->materials.keep,
                                       .material_count = flip->materials.count,
                                       .affine = flip->has_affine ? &flip->affine : NULL,
                                       .dt = step->dt,
                                       .order = context->world->scene->flip.path_order };
    WadiFlipMoveIn move = { .solids = &context->world->solids,
                            .cell_size = step->grid.cell_size,
                            .time = step->time,
                            .dt = step->dt,
                            .sort = &step->sort,
                            .grid = &step->grid,
                            .solid = &step->solid };
    if (context->world->scene->flip.pair_separation > 0) {
        WADI_ASSERT(!flip->sleep.is_on);
        WadiFlipPath path;
        WADI_STAGE(times, "grid to particles",
                   WADI_TRY(wadi_flip_grid_to_particles(context->particles, &path, &velocity,
                                                        context->scratch, error)));
        WADI_STAGE(times, "separation", WADI_TRY(separate(flip, step, &path, error)));
        WADI_STAGE(times, "move", *moved = wadi_flip_move(context->particles, &path, &move));
        return WADI_OK;
    }
    bool is_unstirred[256];
    if (!flip->sleep.is_on && find_unstirred(flip, step->time, is_unstirred)) {
        WadiFlipPath path;
        WADI_STAGE(times, "grid to particles",
                   WADI_TRY(wadi_flip_grid_to_particles(context->particles, &path, &velocity,
                                                        context->scratch, error)));
        WADI_STAGE(times, "spread", WADI_TRY(spread(flip, step, is_unstirred, &path, error)));
        WADI_STAGE(times, "move", *moved = wadi_flip_move(context->particles, &path, &move));
        return WADI_OK;
    }
    if (!flip->sleep.is_on) {
        WADI_STAGE(times, "grid to particles",
                   *moved = wadi_flip_advance(context->particles, &velocity, NULL, &move));
        return WADI_OK;
    }
    WadiFlipSleepIn sleep = sleep_in(flip, step);
    WadiFlipWatch watch;
    WADI_TRY(wadi_flip_watch_begin(&watch, &sleep, &step->sort, error));
    WADI_STAGE(times, "grid to particles",
               *moved = wadi_flip_advance(context->particles, &velocity, &watch, &move));
    WADI_STAGE(times, "sleep", WADI_TRY(wadi_flip_sleep_watch(&flip->sleep, &sleep, &watch, error)));
    return WADI_OK;
}

static WadiStatus take_step(void *solver, double time, double dt, WadiStepReport *report, WadiError *error)
{
    WadiFlip *flip = solver;
    const WadiSolverContext *context = &flip->context;
    WadiStageTimes *times = context->times;
    if (context->particles->count == 0) {
        return WADI_OK;
    }
    double kick = 0.5 * (flip->last_dt + dt);
    wadi_flip_materials_at(flip, time, dt, kick);
    WadiFlipStep *step = NULL;
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &step, 1, "step", error));
    *step = (WadiFlipStep){ .time = time, .dt = dt, .kick = kick };

    WADI_TRY(sort_awake(flip, step, error));
    if (flip->sleep.count == context->particles->count) {
        report->sleeping_particles = flip->sleep.count;
        flip->last_dt = 0.0;
        return WADI_OK;
    }
    const WadiArenaMark before_grid = wadi_arena_mark(context->scratch);
    WADI_TRY(make_grid(flip, step, error));
    WADI_STAGE(times, "forces", WADI_TRY(wadi_flip_forces(flip, step, error)));
    wadi_arena_release_temporaries(context->scratch, before_grid);
    const WadiArenaMark before_solids = wadi_arena_mark(context->scratch);
    WADI_STAGE(times, "solids", WADI_TRY(wadi_flip_find_solids(flip, step, error)));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(context->scratch, &step->known[a], (size_t)step->grid.rows.count,
                                "known faces", error));
    }
    WADI_TRY(
        WADI_ARENA_NEW(context->scratch, &step->loose, (size_t)step->grid.rows.count, "loose cells", error));
    WadiCrowds crowds;
    WADI_TRY(wadi_flip_crowds_begin(flip, step, &crowds, error));
    /* From here to the attributes: what the cells are and what presses in them. */
    const WadiArenaMark mark = wadi_arena_mark(context->scratch);
    WADI_STAGE(times, "label", WADI_TRY(wadi_flip_label(flip, step, error)));
    WADI_STAGE(times, "label", WADI_TRY(wadi_flip_find_crowds(flip, step, &crowds, error)));
    WADI_STAGE(times, "density correction", WADI_TRY(wadi_flip_correct_density(flip, step, error)));
    WADI_STAGE(times, "surface tension", WADI_TRY(wadi_flip_find_tension(flip, step, error)));
    wadi_arena_release_temporaries(context->scratch, before_solids);
    WADI_TRY(wadi_flip_attributes_begin(flip, step, error));
    WADI_TRY(wadi_flip_solve(flip, step, error));
    WADI_STAGE(times, "attributes", wadi_flip_attributes(flip, step));
    fill_report(step, report);
    report->crowds = crowds;
    for (int32_t r = 0; r < step->grid.rows.count; ++r) { /* for the extension, when labels are gone */
        step->loose[r] = (uint8_t)(step->grid.fluid[r] & ~step->fluid[r]);
    }
    wadi_arena_release(context->scratch, mark);
    WADI_STAGE(times, "extend", WADI_TRY(extend(flip, step, error)));
    WadiCollideReport moved;
    WADI_TRY(advance(flip, step, &moved, error));
    flip->last_dt = dt;
    report->sleeping_particles = flip->sleep.count;
    report->stuck_particles = moved.stuck;
    return wadi_solver_check_stage(context, "move", error);
}

static WadiStatus save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiFlip *flip = solver;
    WADI_TRY(wadi_state_put(state, "flip_dt", WADI_TYPE_F64, 1, 1, &flip->last_dt, error));
    WADI_TRY(wadi_flip_pressure_memory_save(&flip->pressure_memory, "pressure", state, error));
    WADI_TRY(wadi_friction_memory_save(&flip->friction_memory, state, error));
    return wadi_flip_sleep_save(&flip->sleep, state, error);
}

static WadiStatus load(void *solver, const WadiState *state, WadiError *error)
{
    WadiFlip *flip = solver;
    const WadiStateArray *last_dt;
    WADI_TRY(wadi_state_expect(state, "flip_dt", WADI_TYPE_F64, 1, 1, &last_dt, error));
    flip->last_dt = *(const double *)last_dt->data;
    if (!(flip->last_dt >= 0.0 && flip->last_dt <= 1e6)) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the last step of the checkpoint is %g s; resume from another one", flip->last_dt);
    }
    WADI_TRY(wadi_flip_pressure_memory_load(&flip->pressure_memory, "pressure", state, error));
    WADI_TRY(wadi_friction_memory_load(&flip->friction_memory, state, error));
    return wadi_flip_sleep_load(&flip->sleep, flip->context.particles, flip->context.world->cell_size, state,
                                error);
}

static WadiStatus view(const void *solver, WadiState *frame, WadiError *error)
{
    (void)solver, (void)frame, (void)error;
    return WADI_OK;
}

static size_t scratch_bytes_each(const void *solver)
{
    (void)solver;
    /* For bodies too large to be tried. Measured: 49 in a compact one (307 a cell of eight particles, and room for growth), 134 at
     * the height of a splash of 268,000; sheets and drops are a smaller part of a larger one. */
    return 88;
}

const WadiSolverType wadi_flip_solver = {
    .name = "flip",
    .summary = "particles and a staggered grid: water, and sand by frictional plasticity",
    .keeps_volume = true,
    .create = create,
    .destroy = destroy,
    .largest_dt = largest_dt,
    .step = take_step,
    .save = save,
    .load = load,
    .view = view,
    .scratch_bytes_each = scratch_bytes_each,
};
