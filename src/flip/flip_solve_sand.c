/* The forces inside sand: pressure, friction and pressure again.
 *   u = u* + div tau - grad P,   div u = 0,   tau in the yield set that P bounds, of least kinetic energy
 * Source: [ZB05 sec. 3] for the model, friction as one global problem instead of the paper's local rule. Differs: with warm starts
 * from the last step, one friction solve between two pressure solves is enough; the last solve is always the pressure. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/friction/flip_friction_rate.h"
#include "flip/friction/flip_friction_wall_sample.h"
#include "grid/row_lanes.h"

/* Of each of the first step's friction solves: deep columns start from coarse grids. */
enum { FIRST_ITERATIONS = 300 };
/* Sand faster than this part of the speed of a fall through its depth flows: stresses a little behind do no harm there, and fewer
 * iterations will do. A deep heap that stops with them wobbles like jelly. */
#define FLOWING 0.05
/* Times as many iterations for sand that hardly moves on walls across cells: some of these slip before others do, and the load must
 * find its way. */
enum { SLOW_AT_CUT_WALLS = 3 };
enum { SPEED_BLOCK = 8192, TILE_BLOCK = 4 };

typedef struct Fill {
    float *values;
    float value;
} Fill;

static void fill_block(void *user, int64_t first, int64_t end)
{
    const Fill *fill = user;
    for (int64_t i = first; i < end; ++i) {
        fill->values[i] = fill->value;
    }
}

static void fill_floats(float *values, size_t count, float value)
{
    wadi_parallel_for((int64_t)count, 8 * WADI_ROW_BLOCK, fill_block, &(Fill){ values, value });
}

typedef struct Copy {
    float *const *from, *const *to;
} Copy;

static void copy_rows(void *user, int64_t first, int64_t end)
{
    const Copy *copy = user;
    for (int a = 0; a < 3; ++a) {
        memcpy(copy->to[a] + 8 * first, copy->from[a] + 8 * first,
               (size_t)(8 * (end - first)) * sizeof(float));
    }
}

static void copy_faces(const WadiFlipStep *step, float *const from[3], float *const to[3])
{
    wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, copy_rows, &(Copy){ from, to });
}

/* Sand that shears fast, where its material says so. */
static WadiStatus make_rate_dependent(const WadiFlip *flip, const WadiFlipStep *step, float *slope,
                                      WadiError *error)
{
    const double degree = 0.017453292519943295;
    const WadiScene *scene = flip->context.world->scene;
    float ratio[256], grain_size[256], *ratios = NULL, *grain_sizes = NULL;
    bool does_depend = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        double slow = wadi_curve_value(&material->friction_angle, step->time),
               fast = material->friction_angle_fast;
        bool is_faster = flip->materials.is_sand[m] && !material->is_unused && slow > 0.0 && fast > slow;
        ratio[m] = is_faster ? (float)(tan(degree * fast) / tan(degree * slow)) : 1.0f;
        grain_size[m] = (float)material->grain_size;
        does_depend = does_depend || is_faster;
    }
    if (!does_depend) {
        return WADI_OK;
    }
    WADI_TRY(wadi_flip_material_mean(flip, step, ratio, &ratios, error));
    WADI_TRY(wadi_flip_material_mean(flip, step, grain_size, &grain_sizes, error));
    WadiFrictionRateIn in = {
        .rows = &step->grid.rows,
        .fluid = step->cells.pressure_cells,
        .velocity = { step->saved[0], step->saved[1], step->saved[2] },
        .velocity_row = step->saved_row,
        .pressure = step->cells.pressure,
        .pressure_row = step->cells.pressure_row,
        .cell_size = step->grid.cell_size,
        .dt = step->force_dt,
        .gravity_dt = wadi_flip_gravity_step(flip, step),
        .ratio = ratios,
        .grain_size = grain_sizes,
        .inertial_number = 0.3,
    };
    wadi_friction_rate(&in, slope);
    return WADI_OK;
}

WadiStatus wadi_flip_friction_load(const WadiFlip *flip, const WadiFlipStep *step, WadiFrictionLoad *load,
                                   double **grain, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    size_t floats = wadi_rows_floats(&step->grid.rows);
    float *slope = step->cells.mix.slope, *cohesion = step->cells.mix.cohesion;
    *grain = NULL;
    if (slope == NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &slope, floats, "yield slopes", error));
        fill_floats(slope, floats, flip->materials.slope[flip->materials.first]);
    }
    if (cohesion == NULL && flip->materials.cohesion[flip->materials.first] > 0.0f) {
        WADI_TRY(WADI_ARENA_NEW(arena, &cohesion, floats, "cohesion", error));
        fill_floats(cohesion, floats, flip->materials.cohesion[flip->materials.first]);
    }
    WADI_TRY(make_rate_dependent(flip, step, slope, error));
    wadi_flip_sleep_weaken(&flip->sleep, wadi_curve_value3(&flip->context.world->scene->gravity, step->time),
                           &step->grid.rows, slope);
    if (flip->materials.has_water) {
        WADI_TRY(
            WADI_ARENA_NEW(arena, grain, 8 * (size_t)step->cells.pressure_rows, "grain pressure", error));
    }
    *load = (WadiFrictionLoad){ .pressure = *grain != NULL ? *grain : step->cells.pressure,
                                .k = slope,
                                .cohesion = cohesion };
    return WADI_OK;
}

typedef struct Rigid {
    const WadiFlipStep *step;
    const WadiFriction *friction;
    const WadiFrictionLoad *load;
} Rigid;

static uint8_t rigid_cells(const Rigid *rigid, int32_t r)
{
    const WadiFrictionLoad *load = rigid->load;
    const int32_t *table = rigid->step->cells.pressure_row;
    uint8_t marks = 0;
    for (unsigned left = rigid->step->cells.pressure_cells[r]; left != 0; left &= left - 1) {
        int l = __builtin_ctz(left);
        size_t cell = 8 * (size_t)r + (size_t)l;
        double yield = (double)load->k[cell] * fmax(load->pressure[wadi_table_cell(table, cell)], 0.0) +
                       (load->cohesion != NULL ? (double)load->cohesion[cell] : 0.0);
        marks |= (uint8_t)((wadi_friction_stress(rigid->friction, r, l) < 0.999 * yield) << l);
    }
    return marks;
}

static void mark_tiles(void *user, int64_t first, int64_t end)
{
    const Rigid *rigid = user;
    const WadiFlipStep *step = rigid->step;
    for (int64_t t = first; t < end; ++t) {
        for (uint64_t left = step->cells.is_shown[t] != 0 ? step->sort.row_mask[t] : 0; left != 0;
             left &= left - 1) {
            int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            step->cells.rigid[row] = rigid_cells(rigid, row);
        }
    }
}

/* Sand whose stress is inside the yield set, for those who are shown. */
static void mark_rigid(const WadiFlipStep *step, const WadiFriction *friction, const WadiFrictionLoad *load)
{
    if (step->cells.is_shown != NULL) {
        wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mark_tiles, &(Rigid){ step, friction, load });
    }
}

static double square_of_speeds(void *user, int64_t first, int64_t end)
{
    const WadiFlip *flip = user;
    const WadiParticles *p = flip->context.particles;
    const float *vx = p->vx, *vy = p->vy, *vz = p->vz;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = first; i < end; ++i) {
        sum += (double)(vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
    }
    return sum;
}

/* Does the awake sand move fast on the whole? Those asleep have no speed. */
static WadiStatus is_sand_flowing(WadiFlip *flip, const WadiFlipStep *step, int depth, bool *is_flowing,
                                  WadiError *error)
{
    int32_t count = flip->context.particles->count;
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &partials,
                            (size_t)wadi_parallel_block_count(count, SPEED_BLOCK), "speeds", error));
    double square =
        wadi_parallel_sum(count, SPEED_BLOCK, square_of_speeds, flip, partials) / (count - step->sort.first);
    double g = wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
    *is_flowing = square > FLOWING * FLOWING * g * depth * step->grid.cell_size;
    return WADI_OK;
}

static WadiFrictionSettings settings_of(const WadiFlip *flip, int depth, double g_dt, bool is_first,
                                        bool is_flowing, bool has_cut_walls)
{
    int asked = wadi_flip_def(flip->context.world->scene)->friction_iterations;
    WadiFrictionSettings settings =
        is_first ? wadi_friction_cold_settings(depth, g_dt) : wadi_friction_settings(depth, g_dt);
    if (is_first && settings.max_iterations > FIRST_ITERATIONS) {
        settings.max_iterations = FIRST_ITERATIONS;
    }
    if (!is_first && is_flowing) {
        settings.max_iterations = depth > 30 ? 2 * depth / 3 : 20;
    }
    if (!is_first && !is_flowing && has_cut_walls) {
        settings.max_iterations *= SLOW_AT_CUT_WALLS;
    }
    if (!is_first && asked > 0) {
        settings.max_iterations = asked;
        settings.min_iterations = asked < settings.min_iterations ? asked : settings.min_iterations;
    }
    return settings;
}

WadiStatus wadi_flip_solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    WadiStageTimes *times = flip->context.times;
    float *const *velocity = step->grid.velocity;
    float *free_flight[3];
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &free_flight[a], wadi_rows_floats(&step->grid.rows), "face velocities",
                                error));
    }
    copy_faces(step, velocity, free_flight);
    WadiVec3 gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time);
    WadiFrictionSolids solids = { &flip->context.world->solids, step->grid.cell_size, step->time + step->dt };
    WadiFrictionGrid grid = { .rows = &step->grid.rows,
                              .fluid = step->cells.sleeping.sand,
                              .held = step->cells.sleeping.cells,
                              .rest = &flip->sleep.friction,
                              .solid = step->cells.inside,
                              .solid_row = step->solid.row,
                              .pressure_row = step->cells.pressure_row,
                              .sample_wall = wadi_friction_sample_solids,
                              .wall_context = &solids,
                              .density = step->cells.mix.density,
                              .reference_density = flip->materials.density };
    for (int a = 0; a < 3; ++a) {
        grid.open[a] = step->solid.open[a];
        /* Under water the weight is not that of the grains alone. */
        grid.weight[a] = flip->materials.has_water ? 0.0 : step->force_dt * wadi_component(gravity, a);
    }
    bool is_first = flip->friction_memory.dt == 0.0;
    WadiFriction *friction = NULL;
    WADI_STAGE(
        times, "friction set-up",
        WADI_TRY(wadi_friction_begin(&friction, &grid, &flip->friction_memory, step->force_dt, arena, error));
        wadi_friction_add(friction, velocity));
    wadi_flip_close_sleeping(step);
    int asked = wadi_flip_def(flip->context.world->scene)->friction_rounds,
        rounds = is_first && asked < 4 ? 4 : asked;
    WadiFlipProjector *projector = NULL;
    WADI_STAGE(times, "pressure", WADI_TRY(wadi_flip_project_step(flip, step, false, &projector, error)));

    int depth = 0;
    WADI_TRY(wadi_friction_depth(friction, 2, &depth, arena, error));
    double g_dt = wadi_flip_gravity_step(flip, step);
    bool is_flowing;
    WADI_TRY(is_sand_flowing(flip, step, depth, &is_flowing, error));
    WadiFrictionSettings settings =
        settings_of(flip, depth, g_dt, is_first, is_flowing, wadi_friction_has_cut_walls(friction));
    WadiFrictionLoad load;
    double *grain;
    WADI_TRY(wadi_flip_friction_load(flip, step, &load, &grain, error));
    for (int round = 0; round < rounds; ++round) {
        /* u_b = u* - grad P: what the last projection made, less the stress that went into it. */
        const float *const before[3] = { velocity[0], velocity[1], velocity[2] };
        wadi_friction_subtract(friction, velocity);
        if (grain != NULL) {
            WADI_STAGE(times, "grain pressure", WADI_TRY(wadi_flip_grain_pressure(flip, step, grain, error)));
        }
        if (is_first && round == 0) {
            WADI_STAGE(
                times, "friction",
                WADI_TRY(wadi_friction_coarse_guess(friction, before, &load, depth, g_dt, arena, error)));
        }
        const WadiArenaMark mark = wadi_arena_mark(arena);
        WADI_STAGE(times, "friction",
                   WADI_TRY(wadi_friction_solve(friction, before, &load, &settings, arena,
                                                &flip->friction_report, error)));
        wadi_arena_release(arena, mark);
        step->friction_solves += 1;
        step->friction_iterations += flip->friction_report.iterations;
        copy_faces(step, free_flight, velocity);
        wadi_friction_add(friction, velocity);
        WADI_STAGE(times, "pressure",
                   WADI_TRY(wadi_flip_project_step(flip, step, round + 1 == rounds, &projector, error)));
    }
    wadi_friction_calm_slivers(friction, velocity, step->solid.velocity);
    wadi_flip_stop_sleeping(step);
    WADI_STAGE(times, "sleep", wadi_flip_check_sleeping(flip, step, friction));
    WADI_STAGE(times, "friction set-up", mark_rigid(step, friction, &load);
               WADI_TRY(wadi_friction_store(friction, &flip->friction_memory, error)));
    return WADI_OK;
}
