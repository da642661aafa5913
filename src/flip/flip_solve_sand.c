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

/* Of each friction solve in the first step: deep columns start from coarse grids. */
enum { FIRST_ITERATIONS = 300 };
/* Of a solve from no stress, per cell of length. */
enum { COLD_ITERATIONS = 7 };
/* Fraction of the speed of a fall through its depth above which sand flows. Stresses may lag there, and
 * fewer iterations are enough; a deep heap that comes to rest needs more, or it wobbles. */
#define FLOWING 0.05
/* Factor of the iterations for sand that hardly moves on walls across cells: parts of them slip first, and
 * the load must be redistributed. */
enum { SLOW_AT_CUT_WALLS = 3 };
/* More iterations for sand at cut walls that move, while a stress changes by more than FAR weights of a cell:
 * cells are cut anew in every step, and what the stresses of the last one leave unbalanced throws grains. */
enum { EXTRA_AT_MOVING_WALLS = 40 };
#define FAR 0.3
/* Layers on such walls are at their limit at every depth at once: iterations a cell of depth, at least, for
 * those that hardly move and for those that flow. Deeper sand has too many already. */
enum { LAYER_SLOW = 20, LAYER_FLOWING = 8, DEEPEST_LAYER = 16 };
/* Rounds for layers on walls that move: cells are cut anew in every step, and the stresses of the last one
 * are a poor guess. */
enum { MOVING_LAYER_ROUNDS = 2 };
/* At most so many more rounds while moving walls throw sand. */
enum { THROWN_ROUNDS = 3 };
enum { SPEED_BLOCK = 8192, TILE_BLOCK = 4 };

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

/* Is the mean speed of the awake sand large? Sleeping sand has none. */
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
                                        bool is_flowing, const WadiFriction *friction)
{
    int setting = wadi_flip_def(flip->context.world->scene)->friction_iterations;
    WadiFrictionSettings settings =
        is_first ? wadi_friction_cold_settings(depth, g_dt) : wadi_friction_settings(depth, g_dt);
    if (is_first && settings.max_iterations > FIRST_ITERATIONS) {
        settings.max_iterations = FIRST_ITERATIONS;
    }
    if (!is_first && is_flowing) {
        settings.max_iterations = depth > 30 ? 2 * depth / 3 : 20;
    }
    if (!is_first && !is_flowing && wadi_friction_has_cut_walls(friction)) {
        settings.max_iterations *= SLOW_AT_CUT_WALLS;
    }
    if (!is_first && wadi_friction_has_moving_cut_walls(friction)) {
        settings.extra_iterations = EXTRA_AT_MOVING_WALLS;
        settings.far = FAR * g_dt;
    }
    if (!is_first && setting > 0) {
        settings.max_iterations = setting;
        settings.extra_iterations = 0;
        settings.min_iterations = setting < settings.min_iterations ? setting : settings.min_iterations;
    }
    return settings;
}

/* Data of all rounds of one step. */
typedef struct Sand {
    float *free_flight[3];     /* u*: velocities before pressure and friction */
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

/* Forces of the step, u* - u, act on the open parts of faces: their change of velocity is that times the
 * response. */
static void weigh_rows(void *user, int64_t first, int64_t end)
{
    const WadiFlipStep *step = user;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3 && step->saved_row[row] != 0; ++a) {
            WadiI8 is_reached;
            wadi_row_mask(step->reached[a][row], &is_reached);
            const WadiF8 u = WADI_ROW(step->grid.velocity[a], row),
                         saved = WADI_ROW(step->saved[a], step->saved_row[row]),
                         response = WADI_ROW(step->cells.response[a], row);
            const WadiI8 is_changed = is_reached & (response != 1.0f);
            WADI_ROW_OUT(step->grid.velocity[a], row) =
                WADI_ROW_SELECT(is_changed, saved + response * (u - saved), u);
        }
    }
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
                              .pressure_row = step->cells.pressure_row,
                              .sample_wall = wadi_friction_sample_solids,
                              .wall_context = &sand->solids,
                              .reference_density = flip->materials.density };
    for (int a = 0; a < 3; ++a) {
        grid.open[a] = step->solid.open[a];
        grid.fraction[a] = step->cells.bonds.fraction[a];
        grid.density[a] = step->cells.mix.face_density[a];
        /* Under water the weight is not only that of the grains. */
        grid.weight[a] = flip->materials.has_water ? 0.0 : step->force_dt * wadi_component(gravity, a);
    }
    sand->is_first = flip->friction_memory.stress.dt == 0.0;
    WADI_TRY(wadi_friction_begin(&sand->friction, &grid, &flip->friction_memory, step->force_dt,
                                 flip->context.scratch, error));
    return wadi_friction_face_response(sand->friction, step->cells.response, flip->context.scratch, error);
}

/* u* with the masses of friction. */
static WadiStatus begin_free_flight(const WadiFlip *flip, WadiFlipStep *step, Sand *sand, WadiError *error)
{
    if (step->cells.response[0] != NULL) {
        wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, weigh_rows, step);
    }
    return save_free_flight(flip, step, sand, error);
}

/* The pressure with the stresses of the last step. */
static WadiStatus first_projection(WadiFlip *flip, WadiFlipStep *step, Sand *sand, WadiError *error)
{
    wadi_friction_add(sand->friction, step->grid.velocity);
    wadi_flip_close_sleeping(step);
    sand->projector = NULL;
    return wadi_flip_project_step(flip, step, false, &sand->projector, error);
}

/* More iterations where most of the sand lies as a layer on walls across cells. */
static WadiStatus serve_layers(WadiFlip *flip, Sand *sand, bool is_flowing, WadiError *error)
{
    const int setting = wadi_flip_def(flip->context.world->scene)->friction_iterations;
    if (sand->is_first || setting > 0 || sand->depth > DEEPEST_LAYER) {
        return WADI_OK;
    }
    const WadiArenaMark mark = wadi_arena_mark(flip->context.scratch);
    bool is_layer;
    WADI_TRY(wadi_friction_is_layer(sand->friction, &sand->load, &is_layer, flip->context.scratch, error));
    wadi_arena_release(flip->context.scratch, mark);
    const bool is_moving = is_layer && wadi_friction_has_moving_cut_walls(sand->friction);
    const int a_cell = is_flowing && !is_moving ? LAYER_FLOWING : LAYER_SLOW;
    const int least = is_layer ? a_cell * sand->depth : 0;
    sand->settings.max_iterations =
        least > sand->settings.max_iterations ? least : sand->settings.max_iterations;
    sand->rounds = is_moving && sand->rounds < MOVING_LAYER_ROUNDS ? MOVING_LAYER_ROUNDS : sand->rounds;
    return WADI_OK;
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
        const int least = COLD_ITERATIONS * length;
        sand->settings.max_iterations =
            least > sand->settings.max_iterations ? least : sand->settings.max_iterations;
    }
    return WADI_OK;
}

static WadiStatus choose_settings(WadiFlip *flip, const WadiFlipStep *step, Sand *sand, WadiError *error)
{
    const int setting = wadi_flip_def(flip->context.world->scene)->friction_rounds;
    bool is_flowing;
    sand->rounds = sand->is_first && setting < 4 ? 4 : setting;
    WADI_TRY(wadi_friction_depth(sand->friction, 2, &sand->depth, flip->context.scratch, error));
    WADI_TRY(is_sand_flowing(flip, step, sand->depth, &is_flowing, error));
    sand->settings = settings_of(flip, sand->depth, wadi_flip_gravity_step(flip, step), sand->is_first,
                                 is_flowing, sand->friction);
    WADI_TRY(wadi_flip_friction_load(flip, step, &sand->load, &sand->grain, error));
    WADI_TRY(serve_bonds(flip, step, sand, error));
    return serve_layers(flip, sand, is_flowing, error);
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

WadiStatus wadi_flip_solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    Sand sand = { .projector = NULL };
    RUN("friction set-up", set_up_friction(flip, step, &sand, error));
    WADI_TRY(begin_free_flight(flip, step, &sand, error));
    RUN("pressure", first_projection(flip, step, &sand, error));
    if (wadi_flip_lift_pulled(flip, step, sand.friction)) {
        copy_faces(step, sand.free_flight, step->grid.velocity);
        RUN("friction set-up", set_up_friction(flip, step, &sand, error));
        RUN("pressure", first_projection(flip, step, &sand, error));
    }
    WADI_TRY(choose_settings(flip, step, &sand, error));
    const int max_rounds = sand.rounds + THROWN_ROUNDS;
    for (int round = 0; round < sand.rounds; ++round) {
        wadi_friction_subtract(sand.friction, step->grid.velocity);
        if (sand.grain != NULL) {
            RUN("grain pressure", wadi_flip_grain_pressure(flip, step, sand.grain, error));
        }
        RUN("friction", solve_friction(flip, step, &sand, sand.is_first && round == 0, error));
        add_friction(step, &sand);
        RUN("pressure", wadi_flip_project_step(flip, step, round + 1 == sand.rounds, &sand.projector, error));
        if (round + 1 == sand.rounds && round + 1 < max_rounds) {
            bool is_thrown;
            WADI_TRY(wadi_flip_is_thrown(flip, step, sand.free_flight, &is_thrown, error));
            sand.rounds += is_thrown;
        }
    }
    wadi_friction_clamp_slivers(sand.friction, step->grid.velocity, step->solid.velocity);
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
