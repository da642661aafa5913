/* Accelerated projected gradient on the friction stress at given pressure: FISTA [BT09], restarted where the
 * objective rises [OC15]. That test needs three numbers a cell, on the faces; the other test of [OC15], by
 * the direction of travel, needs 14. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

enum { CHANGE_INTERVAL = 4 }; /* iterations between two checks of the largest change */

/* Factor on the gradient step with the whole stress of bonded sand: the largest eigenvalue is 12 instead of
 * 8, that of longitudinal waves [theory 6.5, 6.13]. */
#define BONDED_STEP (8.0f / 12.0f)

typedef struct Start {
    const WadiFriction *friction;
    const float *const *before;
    WadiFrictionFaces *start;
} Start;

static void copy_start(void *context, int64_t first, int64_t end)
{
    const Start *start = context;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        int32_t row = start->friction->slot[s].row;
        for (int axis = 0; axis < 3; ++axis) {
            start->start[s].c[axis] = WADI_ROW(start->before[axis], row);
        }
    }
}

#ifdef WADI_CHECKS
static double energy(const WadiFriction *friction, const WadiFrictionFaces *faces)
{
    double sum = 0.0;
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 u = wadi_masked(faces[s].c[axis], wadi_lanes(friction->slot[s].free[axis]));
            for (int lane = 0; lane < 8; ++lane) {
                double mass = friction->mass != NULL ? (double)friction->mass[s].c[axis][lane] : 1.0;
                sum += 0.5 * mass * (double)u[lane] * (double)u[lane];
            }
        }
    }
    return sum;
}
#endif

WadiFrictionSettings wadi_friction_settings(int depth, double gravity_dt)
{
    return (WadiFrictionSettings){
        .alpha = 0.125,
        .tolerance = 1e-3 * gravity_dt * fmin(1.0, 16.0 / fmax(depth, 1.0)),
        .relative = 0.05,
        .min_iterations = 4,
        .max_iterations = 6 * (depth > 8 ? depth : 8),
        .has_momentum = true,
    };
}

WadiFrictionSettings wadi_friction_cold_settings(int depth, double gravity_dt)
{
    enum { DEEPEST = 32 }; /* deeper columns start from coarse grids */
    WadiFrictionSettings settings = wadi_friction_settings(depth < DEEPEST ? depth : DEEPEST, gravity_dt);
    settings.tolerance *= 0.01;
    settings.relative = 0.0;
    return settings;
}

/* Make the new stress, in `previous`, the current one. */
static void swap_stresses(WadiFriction *friction)
{
    WadiFrictionStress *stress = friction->stress;
    WadiFrictionWall *traction = friction->traction;
    friction->stress = friction->previous;
    friction->previous = stress;
    friction->traction = friction->traction_previous;
    friction->traction_previous = traction;
    WadiF8 *mean = friction->mean;
    friction->mean = friction->mean_previous;
    friction->mean_previous = mean;
}

/* Change of twice the objective: kinetic energy and the work of the stress on walls and faces of given
 * velocity and on the strain of turning. */
static double objective_change(const WadiFrictionIteration *it, int64_t blocks)
{
    double sum = 0.0;
    for (int64_t b = 0; b < blocks; ++b) {
        sum += it->rise[b] - 2.0 * it->work[b];
    }
    return sum;
}

/* Largest change that counts as converged: beside the tolerance the mean shear rate, because in a flow the
 * next step goes on from the stresses of this one [theory 6.5]. */
static double largest_change(const WadiFrictionIteration *it, const WadiFrictionSettings *settings,
                             int64_t blocks, int64_t cells)
{
    double square = 0.0;
    for (int64_t b = 0; b < blocks; ++b) {
        square += it->rate[b];
    }
    return settings->tolerance + settings->relative * sqrt(square / (double)(cells > 0 ? cells : 1));
}

static int64_t count_cells(const WadiFriction *friction)
{
    int64_t cells = 0;
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        cells += __builtin_popcount(friction->slot[s].fluid);
    }
    return cells;
}

static void iterate(WadiFriction *friction, WadiFrictionIteration *it, const WadiFrictionSettings *settings,
                    WadiFrictionReport *report)
{
    int64_t blocks = wadi_parallel_block_count(friction->slot_count, FRICTION_BLOCK);
    const int64_t cells = count_cells(friction);
    double theta = 1.0;
    it->beta = 0.0f;
    wadi_friction_drop_momentum(it);
    while (report->iterations < settings->max_iterations && !report->has_converged) {
        report->iterations += 1;
        it->needs_change =
            report->iterations % CHANGE_INTERVAL == 0 || report->iterations == settings->max_iterations;
        wadi_friction_cells_pass(it);
        swap_stresses(friction);
        if (it->needs_change) {
            double change = 0.0;
            for (int64_t b = 0; b < blocks; ++b) {
                change = fmax(change, it->change[b]);
            }
            report->last_change = change;
            report->has_converged = report->iterations >= settings->min_iterations &&
                                    change <= largest_change(it, settings, blocks, cells);
        }
        double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
        it->beta = settings->has_momentum ? (float)((theta - 1.0) / next) : 0.0f;
        theta = next;
        wadi_friction_faces_pass(it);
        if (objective_change(it, blocks) > 0.0) {
            theta = 1.0;
            it->beta = 0.0f;
            wadi_friction_drop_momentum(it);
            report->restarts += 1;
        }
    }
}

typedef struct FillBonded {
    const WadiFriction *friction;
    const WadiFrictionLoad *load;
    WadiFrictionBonded *bonded;
} FillBonded;

static void fill_bonded(void *context, int64_t first, int64_t end)
{
    const FillBonded *fill = context;
    const WadiFrictionLoad *load = fill->load;
    for (int64_t s = first; s < end; ++s) {
        const WadiFrictionSlot *slot = &fill->friction->slot[s];
        WadiFrictionBonded *bonded = &fill->bonded[s];
        *bonded = (WadiFrictionBonded){ 0 };
        fill->friction->mean[s] = fill->friction->mean_previous[s] = wadi_splat(0.0f);
        for (unsigned left = slot->fluid; left != 0; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            const size_t cell = 8 * (size_t)slot->row + (size_t)lane;
            const double pressure = load->pressure[wadi_table_cell(fill->friction->grid.pressure_row, cell)];
            bonded->is_bonded[lane] = load->tension[cell] > 0.0f ? -1 : 0;
            bonded->room[lane] = fmaxf((float)pressure + load->tension[cell], 0.0f);
            bonded->slope[lane] = load->k[cell];
        }
    }
}

/* The solve finds the whole stress of bonded sand. Its isotropic part is that by which the pressure changes
 * in the next projection; it is dropped at the end. */
static WadiStatus begin_bonded(WadiFriction *friction, const WadiFrictionLoad *load,
                               WadiFrictionIteration *it, WadiArena *arena, WadiError *error)
{
    if (load->tension == NULL) {
        return WADI_OK;
    }
    const size_t slots = (size_t)friction->slot_count;
    WadiFrictionBonded *bonded;
    WADI_TRY(WADI_ARENA_NEW(arena, &bonded, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->mean, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->mean_previous, slots, "friction", error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_bonded,
                      &(FillBonded){ friction, load, bonded });
    it->bonded = bonded;
    it->alpha *= BONDED_STEP;
    return WADI_OK;
}

static void end_bonded(WadiFriction *friction)
{
    if (friction->mean != NULL) {
        friction->mean = friction->mean_previous = NULL;
        friction->has_force = false;
    }
}

WadiStatus wadi_friction_solve(WadiFriction *friction, const float *const before[3],
                               const WadiFrictionLoad *load, const WadiFrictionSettings *settings,
                               WadiArena *arena, WadiFrictionReport *report, WadiError *error)
{
    *report = (WadiFrictionReport){ 0 };
    WADI_ASSERT(settings->alpha > 0.0 && settings->max_iterations >= settings->min_iterations);
    size_t slots = (size_t)friction->slot_count, walls = (size_t)friction->wall_count;
    size_t blocks = (size_t)wadi_parallel_block_count(friction->slot_count, FRICTION_BLOCK);
    WadiFrictionFaces *start;
    WadiF8 *yield, *wall_bound;
    WadiFrictionIteration it = { .friction = friction, .alpha = (float)settings->alpha };
    WADI_TRY(WADI_ARENA_NEW(arena, &start, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &yield, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &wall_bound, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &it.velocity, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &it.rise, blocks, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &it.work, blocks, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &it.change, blocks, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &it.rate, blocks, "friction", error));
    wadi_friction_find_force(friction);
    it.force = friction->force;
    memset(&it.velocity[0], 0, sizeof it.velocity[0]);
    memset(&start[0], 0, sizeof start[0]);
    wadi_friction_find_bounds(friction, load, yield, wall_bound);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, copy_start, &(Start){ friction, before, start });
    it.before = start;
    it.yield = yield;
    it.wall_bound = wall_bound;
    WADI_TRY(begin_bonded(friction, load, &it, arena, error));
    iterate(friction, &it, settings, report);
#ifdef WADI_CHECKS
    report->energy_before = energy(friction, start);
    it.beta = 0.0f;
    wadi_friction_faces_pass(&it);
    report->energy_after = energy(friction, it.velocity);
#endif
    end_bonded(friction);
    return WADI_OK;
}

double wadi_friction_stress(const WadiFriction *friction, int32_t row, int lane)
{
    const WadiFrictionSlot *slot = &friction->slot[friction->slot_of[row]];
    const WadiFrictionStress *stress = &friction->stress[friction->slot_of[row]];
    double xx = (double)stress->t[STRESS_XX][lane], yy = (double)stress->t[STRESS_YY][lane];
    double square = 0.5 * (xx * xx + yy * yy + (xx + yy) * (xx + yy));
    for (int kind = 0; kind < 3; ++kind) {
        int count = 0;
        for (int e = 0; e < 4; ++e) {
            count += slot->edge[4 * kind + e] >> lane & 1;
        }
        for (int e = 0; e < 4; ++e) {
            double t = (double)stress->t[2 + 4 * kind + e][lane];
            square += t * t / (count > 0 ? count : 1);
        }
    }
    return sqrt(square);
}

double wadi_friction_normal_stress(const WadiFriction *friction, int32_t row, int lane, int axis)
{
    const WadiFrictionStress *stress = &friction->stress[friction->slot_of[row]];
    const double xx = (double)stress->t[STRESS_XX][lane], yy = (double)stress->t[STRESS_YY][lane];
    return axis == 0 ? xx : axis == 1 ? yy : -(xx + yy);
}

double wadi_friction_traction(const WadiFriction *friction, int32_t row, int lane, int side)
{
    int32_t w = friction->wall[friction->slot_of[row]][side];
    const WadiF8 *t = friction->traction[w].t;
    double square = 0.0;
    if (side == OBLIQUE) {
        for (int axis = 0; axis < 3; ++axis) {
            square += (double)t[axis][lane] * (double)t[axis][lane];
        }
        return sqrt(square);
    }
    for (int which = 0; which < 2; ++which) {
        const WadiF8 *weight = &friction->facets[w].weight.t[2 * which];
        int count = (weight[0][lane] > 0.0f) + (weight[1][lane] > 0.0f);
        double low = (double)t[2 * which][lane], high = (double)t[2 * which + 1][lane];
        square += count > 0 ? (low * low + high * high) / count : 0.0;
    }
    return sqrt(square);
}

bool wadi_friction_wall_impulse(const WadiFriction *friction, int32_t row, int lane, int side,
                                double impulse[3])
{
    const int32_t w = friction->wall[friction->slot_of[row]][side];
    const WadiF8 *t = friction->traction[w].t;
    impulse[0] = impulse[1] = impulse[2] = 0.0;
    if (w == 0) {
        return false;
    }
    for (int n = 0; n < (side == OBLIQUE ? 6 : 4); ++n) {
        const int axis = side == OBLIQUE ? n >> 1 : wadi_friction_tangent(side, n >> 1);
        const WadiF8 weight = side == OBLIQUE ? friction->oblique[friction->facets[w].oblique].weight[n]
                                              : friction->facets[w].weight.t[n];
        impulse[axis] += (double)weight[lane] * (double)t[side == OBLIQUE ? axis : n][lane];
    }
    return impulse[0] != 0.0 || impulse[1] != 0.0 || impulse[2] != 0.0;
}
