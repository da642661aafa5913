/* One step of the flip solver, stage by stage. [ZB05 sec. 4 for the order; sec. 3 for sand] */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/flip_extend.h"
#include "flip/flip_move.h"
#include "flip/flip_transfer.h"

enum { SPEED_BLOCK = 8192 };

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    const WadiScene *scene = context->world->scene;
    WadiFlip *flip = NULL;
    WADI_TRY(WADI_NEW(&flip, 1, "flip solver", error));
    flip->context = *context;
    wadi_flip_materials_init(&flip->materials, scene);
    WadiStatus status = wadi_flip_attributes_add(flip, error);
    if (status != WADI_OK) {
        WADI_DELETE(flip, 1);
        return status;
    }
    *solver = flip;
    return WADI_OK;
}

static void destroy(void *solver)
{
    WadiFlip *flip = solver;
    wadi_flip_solid_cache_free(&flip->solid_cache);
    wadi_friction_memory_free(&flip->friction_memory);
    wadi_flip_pressure_memory_free(&flip->pressure_memory);
    WADI_DELETE(flip, 1);
}

static double block_speed(void *context, int64_t first, int64_t end)
{
    const WadiParticles *p = context;
    float square = 0.0f;
    for (int64_t i = first; i < end; ++i) {
        float s = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
        square = s > square ? s : square;
    }
    return sqrt((double)square);
}

/* [models A0]; sand takes the shorter steps that its friction was measured with. */
static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiFlip *flip = solver;
    const WadiWorld *world = flip->context.world;
    WadiParticles *p = flip->context.particles;
    double *partials = NULL;
    double speed = 0.0, h = world->cell_size;
    if (WADI_ARENA_NEW(flip->context.scratch, &partials,
                       (size_t)wadi_parallel_block_count(p->count, SPEED_BLOCK), "speeds", NULL) == WADI_OK) {
        speed = fmax(0.0, wadi_parallel_max(p->count, SPEED_BLOCK, block_speed, p, partials));
    }
    double g = wadi_norm(wadi_curve_value3(&world->scene->gravity, time));
    double asked = world->scene->flip.cfl;
    double cells = asked > 0.0 ? asked : flip->materials.has_sand ? 1.0 : 2.0;
    double dt = cells * h / (speed + sqrt(g * h) + 1e-30);
    *limit = "cells a step";
    if (flip->materials.has_sand && asked <= 0.0 && dt > 1.0 / 240.0) {
        dt = 1.0 / 240.0;
        *limit = "sand";
    }
    return dt;
}

/* u* = u + dt a on the faces that particles reach. */
static void add_forces(const WadiFlip *flip, WadiFlipStep *step)
{
    const WadiWorld *world = flip->context.world;
    const WadiRows *rows = &step->grid.rows;
    double h = step->grid.cell_size, middle = step->time + 0.5 * step->dt;
    WadiVec3 g = wadi_curve_value3(&world->scene->gravity, middle);
    const float gravity[3] = { (float)(g.x * step->dt), (float)(g.y * step->dt), (float)(g.z * step->dt) };
    for (int a = 0; a < 3; ++a) {
        float *u = step->grid.velocity[a];
        const float *mass = step->grid.face_mass[a];
        for (size_t i = 8; i < wadi_rows_floats(rows); ++i) {
            u[i] += mass[i] > 0.0f ? gravity[a] : 0.0f;
        }
    }
    for (int32_t r = 1; r < rows->count && world->scene->force_count > 0; ++r) {
        int32_t cell[3];
        wadi_rows_cell(rows, r, cell);
        for (int i = 0; i < 24; ++i) {
            int a = i / 8, l = i % 8;
            float *u = &step->grid.velocity[a][8 * r + l];
            if (step->grid.face_mass[a][8 * r + l] > 0.0f) {
                WadiVec3 x = { h * (cell[0] + l + (a == 0 ? 0.0 : 0.5)), h * (cell[1] + (a == 1 ? 0.0 : 0.5)),
                               h * (cell[2] + (a == 2 ? 0.0 : 0.5)) };
                WadiVec3 v = { a == 0 ? (double)*u : 0.0, a == 1 ? (double)*u : 0.0,
                               a == 2 ? (double)*u : 0.0 };
                WadiVec3 force = wadi_sub(wadi_world_acceleration(world, x, v, middle), g);
                *u += (float)(step->dt * wadi_component(force, a));
            }
        }
    }
}

static WadiStatus extend(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    WadiFlipExtendIn in = { .rows = rows, .layers = WADI_FLIP_MARGIN + 1 };
    WadiFlipWallIn walls = { .rows = rows, .distance = step->solid.distance };
    for (int a = 0; a < 3; ++a) {
        in.known[a] = step->known[a];
        walls.open[a] = step->solid.open[a];
        walls.solid_velocity[a] = step->solid.velocity[a];
    }
    WADI_TRY(wadi_flip_extend(&in, step->grid.velocity, NULL, flip->context.scratch, error));
    return wadi_flip_extend_walls(&walls, step->grid.velocity, flip->context.scratch, error);
}

static WadiStatus to_particles(const WadiFlip *flip, WadiFlipStep *step, WadiFlipPath *path, WadiError *error)
{
    WadiFlipToParticlesIn in = { .sort = &step->sort,
                                 .grid = &step->grid,
                                 .saved = (const float *const *)step->saved,
                                 .flip = (double)flip->materials.keep[0],
                                 .dt = step->dt,
                                 .order = flip->context.world->scene->flip.path_order };
    return wadi_flip_grid_to_particles(flip->context.particles, path, &in, flip->context.scratch, error);
}

static WadiStatus make_grid(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiSolverContext *context = &flip->context;
    WadiStageTimes *times = context->times;
    WadiArena *arena = context->scratch;
    WADI_STAGE(
        times, "sort",
        WADI_TRY(wadi_flip_sort(&step->sort, context->particles, context->world->cell_size, arena, error)));
    WADI_STAGE(times, "grid",
               WADI_TRY(wadi_flip_grid_build(&step->grid, &step->sort, WADI_FLIP_MARGIN, arena, error)));
    WadiFlipToGridIn to_grid = { .sort = &step->sort,
                                 .particles = context->particles,
                                 .mass = flip->materials.mass,
                                 .material_count = context->world->scene->material_count };
    WADI_STAGE(times, "particles to grid",
               WADI_TRY(wadi_flip_particles_to_grid(&step->grid, &to_grid, arena, error)));
    size_t floats = wadi_rows_floats(&step->grid.rows);
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->saved[a], floats, "saved velocities", error));
        memcpy(step->saved[a], step->grid.velocity[a], floats * sizeof(float));
    }
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
    const WadiScene *scene = context->world->scene;
    wadi_flip_materials_at(&flip->materials, scene, time, dt, context->world->cell_size);
    WadiFlipStep *step = NULL;
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &step, 1, "step", error));
    *step = (WadiFlipStep){ .time = time, .dt = dt };

    WADI_TRY(make_grid(flip, step, error));
    WADI_STAGE(times, "forces", add_forces(flip, step));
    WadiFlipSolidIn solid = {
        .rows = &step->grid.rows,
        .solids = &context->world->solids,
        .cell_size = step->grid.cell_size,
        .time = time + dt,
        /* Slivers that are shut bend the wall: 0.1 slows sliding sand by 5 %, 0.02 by none. */
        .min_open = flip->materials.has_sand ? 0.02f : 0.1f,
        .is_binary = scene->flip.solids == WADI_FLIP_SOLIDS_VOXELS
    };
    WADI_STAGE(times, "solids",
               WADI_TRY(wadi_flip_solid(&solid, &flip->solid_cache, &step->solid, context->scratch, error)));
    WADI_STAGE(times, "label", WADI_TRY(wadi_flip_label(flip, step, error)));
    WADI_STAGE(times, "density correction", WADI_TRY(wadi_flip_correct_density(flip, step, error)));
    WADI_TRY(wadi_flip_solve(flip, step, error));
    WADI_STAGE(times, "attributes", wadi_flip_attributes(flip, step));
    WADI_STAGE(times, "extend", WADI_TRY(extend(flip, step, error)));
    WadiFlipPath path;
    WADI_STAGE(times, "grid to particles", WADI_TRY(to_particles(flip, step, &path, error)));
    WadiCollideReport moved;
    WADI_STAGE(times, "move",
               moved = wadi_flip_move(context->particles, &path, &context->world->solids,
                                      step->grid.cell_size, time, dt));
    report->max_divergence = step->max_divergence;
    report->stuck_particles = moved.stuck;
    return wadi_solver_check_stage(context, "move", error);
}

static WadiStatus save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiFlip *flip = solver;
    WADI_TRY(wadi_flip_pressure_memory_save(&flip->pressure_memory, state, error));
    return wadi_friction_memory_save(&flip->friction_memory, state, error);
}

static WadiStatus load(void *solver, const WadiState *state, WadiError *error)
{
    WadiFlip *flip = solver;
    WADI_TRY(wadi_flip_pressure_memory_load(&flip->pressure_memory, state, error));
    return wadi_friction_memory_load(&flip->friction_memory, state, error);
}

static WadiStatus view(const void *solver, WadiState *frame, WadiError *error)
{
    (void)solver, (void)frame, (void)error;
    return WADI_OK;
}

static size_t scratch_bytes_each(const void *solver)
{
    (void)solver;
    /* Sorted copies, end positions and about 320 bytes a cell of eight particles. */
    return 24 + 24 + 40;
}

const WadiSolverType wadi_flip_solver = {
    .name = "flip",
    .summary = "particles and a staggered grid: water, and sand by frictional plasticity",
    .create = create,
    .destroy = destroy,
    .largest_dt = largest_dt,
    .step = take_step,
    .save = save,
    .load = load,
    .view = view,
    .scratch_bytes_each = scratch_bytes_each,
};
