/* Forces inside sand: pressure, friction and pressure again. [theory 6.3]
 *   u = u* + div tau - grad P,   div u = 0,   tau in the yield set that P bounds, of least kinetic energy
 * Source: [ZB05 sec. 3] for the model; friction is one global problem instead of the paper's local rule.
 * Differs: with the stresses of the last step as initial guess, one friction solve between two pressure
 * solves is enough; the last solve is always the pressure. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/flip_stage.h"
#include "flip/friction/flip_friction_wall_sample.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

/* In the first step, which has no stresses of a last one. */
enum { FIRST_ROUNDS = 4 };
/* Of a solve of bonded sand, per cell of length: with 7 a block topples 6 % too fast, with 12 4 %. */
enum { BONDED_ITERATIONS = 12 };
/* Bonded sand couples pressure and friction: rounds go on until the velocity changes by less than this part
 * of a step of free fall, the root of the mean square over the faces. */
static const double BONDED_CHANGE = 0.002;
enum { BONDED_ROUNDS = 8 };
enum { TILE_BLOCK = 4 };

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
        const double least = load->tension != NULL ? -(double)load->tension[cell] : 0.0;
        double yield = (double)load->k[cell] * fmax(load->pressure[wadi_table_cell(table, cell)], least) +
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

/* Mark sand with a stress inside the yield set, in tiles that are shown. */
static void mark_rigid(const WadiFlipStep *step, const WadiFriction *friction, const WadiFrictionLoad *load)
{
    if (step->cells.is_shown != NULL) {
        wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mark_tiles, &(Rigid){ step, friction, load });
    }
}

/* Data of all rounds of one step. */
typedef struct Sand {
    float *free_flight[3];     /* u*: velocities before pressure and friction */
    float *last[3];            /* velocities after the last round; NULL: the number of rounds is fixed */
    WadiFrictionSolids solids; /* sampled by `friction` */
    WadiFriction *friction;
    WadiFrictionSettings settings;
    WadiFrictionLoad load;
    double *grain; /* pressure between grains; NULL: the pressure itself, there is no water */
    WadiFlipProjector *projector;
    int depth; /* cells */
    bool is_first;
    int rounds;
} Sand;

static WadiStatus save_free_flight(const WadiFlip *flip, const WadiFlipStep *step, Sand *sand,
                                   WadiError *error)
{
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &sand->free_flight[a],
                                wadi_rows_floats(&step->grid.rows), "face velocities", error));
    }
    copy_faces(step, step->grid.velocity, sand->free_flight);
    return WADI_OK;
}

/* Set up the operators of friction. */
static WadiStatus set_up_friction(WadiFlip *flip, WadiFlipStep *step, Sand *sand, WadiError *error)
{
    const WadiVec3 gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time);
    sand->solids = (WadiFrictionSolids){ &flip->context.world->solids, step->grid.cell_size, step->solid.time,
                                         step->time + 0.5 * step->dt };
    WadiFrictionGrid grid = { .rows = &step->grid.rows,
                              .fluid = step->cells.sleeping.sand,
                              .sleeping = step->cells.sleeping.cells,
                              .sleeping_memory = &flip->sleep_stresses.friction,
                              .solid = step->cells.inside,
                              .solid_row = step->solid.row,
                              .turn_row = step->saved_row,
                              .pressure_row = step->cells.pressure_row,
                              .sample_wall = wadi_friction_sample_solids,
                              .wall_context = &sand->solids,
                              .reference_density = flip->materials.density };
    for (int n = 0; n < 6; ++n) {
        grid.turn_strain[n] = step->cells.turn_strain[n];
    }
    for (int a = 0; a < 3; ++a) {
        grid.open[a] = step->solid.open[a];
        grid.fraction[a] = step->cells.bonds.fraction[a];
        grid.density[a] = step->cells.mix.face_density[a];
        /* Under water the weight is not only that of the grains. */
        grid.weight[a] = flip->materials.has_water ? 0.0 : step->force_dt * wadi_component(gravity, a);
    }
    sand->is_first = flip->friction_memory.stress.dt == 0.0;
    return wadi_friction_begin(&sand->friction, &grid, &flip->friction_memory, step->force_dt,
                               flip->context.scratch, error);
}

/* The pressure with the stresses of the last step. */
static WadiStatus first_projection(WadiFlip *flip, WadiFlipStep *step, Sand *sand, WadiError *error)
{
    wadi_friction_add(sand->friction, step->grid.velocity);
    wadi_flip_close_sleeping(step);
    sand->projector = NULL;
    return wadi_flip_project_step(flip, step, false, &sand->projector, error);
}

/* Bonded sand moves as a body across the grid, and its stresses, which stay on the grid, are a poor guess: as
 * many iterations as from zero [theory 6.7, 6.13]. */
static WadiStatus serve_bonds(WadiFlip *flip, const WadiFlipStep *step, Sand *sand, WadiError *error)
{
    if (step->cells.bonds.tension == NULL ||
        wadi_flip_def(flip->context.world->scene)->friction_iterations > 0) {
        return WADI_OK;
    }
    for (int axis = 0; axis < 3; ++axis) {
        int length;
        WADI_TRY(wadi_friction_depth(sand->friction, axis, &length, flip->context.scratch, error));
        const int least = BONDED_ITERATIONS * length;
        sand->settings.max_iterations =
            least > sand->settings.max_iterations ? least : sand->settings.max_iterations;
    }
    return WADI_OK;
}

static WadiStatus choose_settings(WadiFlip *flip, const WadiFlipStep *step, Sand *sand, WadiError *error)
{
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    WadiFrictionSettings *settings = &sand->settings;
    sand->rounds =
        sand->is_first && def->friction_rounds < FIRST_ROUNDS ? FIRST_ROUNDS : def->friction_rounds;
    WADI_TRY(wadi_friction_depth(sand->friction, 2, &sand->depth, flip->context.scratch, error));
    const double g_dt = wadi_flip_gravity_step(flip, step);
    *settings = sand->is_first ? wadi_friction_cold_settings(sand->depth, g_dt)
                               : wadi_friction_settings(sand->depth, g_dt);
    if (!sand->is_first && def->friction_iterations > 0) {
        settings->max_iterations = def->friction_iterations;
        settings->min_iterations = def->friction_iterations < settings->min_iterations
                                       ? def->friction_iterations
                                       : settings->min_iterations;
    }
    WADI_TRY(wadi_flip_friction_load(flip, step, &sand->load, &sand->grain, error));
    return serve_bonds(flip, step, sand, error);
}

/* From u_b = u* - grad P, the last projection less its stress. A cold start begins on coarse grids [theory
 * 6.7]. */
static WadiStatus solve_friction(WadiFlip *flip, WadiFlipStep *step, Sand *sand, bool is_cold,
                                 WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    float *const *velocity = step->grid.velocity;
    const float *const before[3] = { velocity[0], velocity[1], velocity[2] };
    if (is_cold) {
        WADI_TRY(wadi_friction_coarse_guess(sand->friction, before, &sand->load, sand->depth,
                                            wadi_flip_gravity_step(flip, step), arena, error));
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_friction_solve(sand->friction, before, &sand->load, &sand->settings, arena,
                                 &flip->friction_report, error));
    wadi_arena_release(arena, mark);
    step->friction_solves += 1;
    step->friction_iterations += flip->friction_report.iterations;
    return WADI_OK;
}

/* u* + div tau, for the next projection. */
static void add_friction(WadiFlipStep *step, const Sand *sand)
{
    copy_faces(step, sand->free_flight, step->grid.velocity);
    wadi_friction_add(sand->friction, step->grid.velocity);
}

/* Cells with a traction on a wall. */
static void mark_gripped(void *user, int64_t first, int64_t end)
{
    const Rigid *rigid = user;
    const WadiFlipStep *step = rigid->step;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        step->gripped[row] = 0;
        for (unsigned left = step->cells.pressure_cells[row]; left != 0; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            for (int side = 0; side < WADI_FRICTION_SIDES; ++side) {
                if (wadi_friction_traction(rigid->friction, row, lane, side) > 0.0) {
                    step->gripped[row] |= (uint8_t)(1u << lane);
                }
            }
        }
    }
}

typedef struct Change {
    const WadiFlipStep *step;
    const Sand *sand;
} Change;

static double sum_change(void *user, int64_t first, int64_t end)
{
    const Change *change = user;
    double sum = 0.0;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            for (unsigned left = change->step->known[a][row]; left != 0; left &= left - 1) {
                const size_t face = 8 * (size_t)row + (size_t)__builtin_ctz(left);
                const double d =
                    (double)change->step->grid.velocity[a][face] - (double)change->sand->last[a][face];
                sum += d * d;
            }
        }
    }
    return sum;
}

static double count_faces(void *user, int64_t first, int64_t end)
{
    const Change *change = user;
    int count = 0;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            count += __builtin_popcount(change->step->known[a][row]);
        }
    }
    return count;
}

/* Whether bonded sand needs another round: its velocity still changes. */
static WadiStatus still_changes(const WadiFlip *flip, const WadiFlipStep *step, const Sand *sand,
                                bool *changes, WadiError *error)
{
    const int64_t rows = step->grid.rows.count;
    const double least = BONDED_CHANGE * wadi_flip_gravity_step(flip, step);
    Change change = { step, sand };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &partials,
                            (size_t)wadi_parallel_block_count(rows, WADI_ROW_BLOCK), "rounds", error));
    const double sum = wadi_parallel_sum(rows, WADI_ROW_BLOCK, sum_change, &change, partials),
                 faces = wadi_parallel_sum(rows, WADI_ROW_BLOCK, count_faces, &change, partials);
    *changes = sum > least * least * faces;
    copy_faces(step, step->grid.velocity, sand->last);
    return WADI_OK;
}

WadiStatus wadi_flip_solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    Sand sand = { .projector = NULL };
    RUN("friction set-up", set_up_friction(flip, step, &sand, error));
    WADI_TRY(save_free_flight(flip, step, &sand, error));
    RUN("pressure", first_projection(flip, step, &sand, error));
    if (wadi_flip_lift_pulled(flip, step, sand.friction)) {
        copy_faces(step, sand.free_flight, step->grid.velocity);
        RUN("friction set-up", set_up_friction(flip, step, &sand, error));
        RUN("pressure", first_projection(flip, step, &sand, error));
    }
    WADI_TRY(choose_settings(flip, step, &sand, error));
    if (step->cells.bonds.tension != NULL) {
        for (int a = 0; a < 3; ++a) {
            WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &sand.last[a], wadi_rows_floats(&step->grid.rows),
                                    "face velocities", error));
        }
        copy_faces(step, step->grid.velocity, sand.last);
    }
    bool changes = sand.last[0] != NULL;
    for (int round = 0; round < sand.rounds || (changes && round < BONDED_ROUNDS); ++round) {
        wadi_friction_subtract(sand.friction, step->grid.velocity);
        if (sand.grain != NULL) {
            RUN("grain pressure", wadi_flip_grain_pressure(flip, step, sand.grain, error));
        }
        RUN("friction", solve_friction(flip, step, &sand, sand.is_first && round == 0, error));
        add_friction(step, &sand);
        RUN("pressure", wadi_flip_project_step(flip, step, round + 1 >= sand.rounds, &sand.projector, error));
        if (sand.last[0] != NULL) {
            WADI_TRY(still_changes(flip, step, &sand, &changes, error));
        }
    }
    RUN("forces on solids", wadi_flip_add_loads(flip, step, sand.friction, error));
    wadi_flip_stop_sleeping(step);
    DO("bonds", wadi_flip_update_bonds(flip, step, sand.friction, &sand.load));
    DO("sleep", wadi_flip_check_sleeping(flip, step, sand.friction));
    DO("friction set-up", mark_rigid(step, sand.friction, &sand.load));
    if (step->gripped != NULL) {
        wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, mark_gripped,
                          &(Rigid){ .step = step, .friction = sand.friction });
    }
    RUN("friction set-up", wadi_friction_store(sand.friction, &flip->friction_memory, error));
    return WADI_OK;
}
