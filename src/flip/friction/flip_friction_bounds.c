/* What bounds the stresses and tractions of a friction solve, from the pressure. */
#include <math.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

typedef struct Bounds {
    const WadiFriction *friction;
    const WadiFrictionLoad *load;
    WadiVec8 *yield;
    WadiVec8 *force; /* per row of facets: what presses on them */
    WadiVec8 *area;
    WadiVec8 *share;      /* per row of facets: of that, what each unit of area around bears */
    WadiVec8 *wall_bound; /* mu times what presses */
} Bounds;

static void fill_bounds(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    const WadiFrictionLoad *load = bounds->load;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &bounds->friction->slot[s];
        size_t cell = 8 * (size_t)slot->row,
               pressing = wadi_table_cell(bounds->friction->grid.pressure_row, cell);
        for (size_t lane = 0; lane < 8; ++lane) {
            float yield = 0.0f;
            if (slot->fluid >> lane & 1) {
                yield = load->k[cell + lane] * (float)fmax(load->pressure[pressing + lane], 0.0);
                yield += load->cohesion != NULL ? load->cohesion[cell + lane] : 0.0f;
            }
            bounds->yield[s][lane] = yield;
        }
    }
}

/* Stress across a side along the grid, tension positive. */
static WadiVec8 normal_stress(const WadiFrictionStress *stress, int side)
{
    switch (side >> 1) {
    case 0: return stress->t[STRESS_XX];
    case 1: return stress->t[STRESS_YY];
    case 2: return -(stress->t[STRESS_XX] + stress->t[STRESS_YY]);
    default: return wadi_splat(0.0f);
    }
}

/* What presses on a side along the grid: the pressure less the deviatoric stress across it; in sand that spreads
 * the latter carries a third of the weight. That of the last solve is taken, so that the set stays fixed within
 * a solve. Walls across cells carry no normal stress. */
static float pressing(const Bounds *bounds, WadiRowCell cell, int side, float area)
{
    const WadiFriction *friction = bounds->friction;
    size_t at = wadi_table_cell(friction->grid.pressure_row, wadi_row_cell_index(cell));
    float p = (float)fmax(bounds->load->pressure[at], 0.0);
    WadiVec8 tension = normal_stress(&friction->stress[friction->slot_of[cell.row]], side);
    return p > 0.0f ? fmaxf(area * p - tension[cell.lane], 0.0f) : 0.0f;
}

/* Sand that is pulled towards a wall presses on it with a cell's own weight at least. Its pressure may be 0 where it spreads
 * thinner than a cell: without this, a sheet of grains would slide without end. */
static float own_weight(const Bounds *bounds, const WadiFrictionFacets *facets, int lane)
{
    const double *weight = bounds->friction->grid.weight;
    if (facets->side != OBLIQUE) {
        double pull = weight[facets->side >> 1];
        return facets->area[lane] * (float)fmax((facets->side & 1) != 0 ? pull : -pull, 0.0);
    }
    double pull = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        pull += weight[axis] * (double)bounds->friction->oblique[facets->oblique].normal[axis][lane];
    }
    return facets->area[lane] * (float)fmax(pull, 0.0);
}

static void find_forces(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    const WadiFriction *friction = bounds->friction;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        const WadiFrictionFacets *facets = &friction->facets[w];
        for (int lane = 0; lane < 8; ++lane) {
            WadiRowCell here = { friction->slot[facets->slot].row, lane };
            float force =
                facets->area[lane] > 0.0f ? pressing(bounds, here, facets->side, facets->area[lane]) : 0.0f;
            if (facets->lift[lane] > 0.0f) {
                /* P of a cell is that at its far end, behind the wall. */
                WadiRowCell away = wadi_row_cell_beside(friction->grid.rows, here, facets->side ^ 1);
                float before = pressing(bounds, away, facets->side, facets->area[lane]);
                force -= facets->lift[lane] * fmaxf(force - before, 0.0f);
            }
            bounds->force[w][lane] = fmaxf(force, own_weight(bounds, facets, lane));
        }
        bounds->wall_bound[w] = facets->mu * bounds->force[w];
    }
}

/* A wall across cells is pressed on by the pressures at the cells' centres, some of which lie a little before it and some a little
 * behind: by 8 % more or less in a slab of 6 cells. The sum over all is right, but near the threshold of sliding every
 * second cell would slip and load its neighbours. So each wall spreads its force over the area of those around it that
 * face the same way; the sum stays. */
typedef struct Beside {
    WadiVec8 value, normal[3];
} Beside;

static Beside walls_at(const Bounds *bounds, const WadiVec8 *values, int32_t s)
{
    const WadiFriction *friction = bounds->friction;
    int32_t w = friction->wall[s][OBLIQUE];
    const WadiFrictionOblique *oblique = &friction->oblique[friction->facets[w].oblique];
    Beside beside = { .value = w != 0 ? values[w] : wadi_splat(0.0f) };
    for (int axis = 0; axis < 3; ++axis) {
        beside.normal[axis] = w != 0 ? oblique->normal[axis] : wadi_splat(0.0f);
    }
    return beside;
}

static WadiVec8 aligned_with(const WadiVec8 normal[3], const WadiVec8 other[3])
{
    WadiVec8 dot = normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2];
    return wadi_larger(dot, wadi_splat(0.0f));
}

/* Sum of values of the walls in the 27 cells around each cell, as far as they face the same way. */
static WadiVec8 sum_around(const Bounds *bounds, const WadiVec8 *values, int32_t s)
{
    static const int8_t near[9] = { -1,         NEAR_YM,    NEAR_YP,    NEAR_ZM,   NEAR_ZP,
                                    NEAR_YM_ZM, NEAR_YM_ZP, NEAR_YP_ZM, NEAR_YP_ZP };
    const WadiFrictionSlot *slot = bounds->friction->slot;
    const Beside own = walls_at(bounds, values, s);
    WadiVec8 sum = wadi_splat(0.0f);
    for (int n = 0; n < 9; ++n) {
        int32_t at = n == 0 ? s : slot[s].near[near[n]];
        if (at == 0) {
            continue;
        }
        Beside here = walls_at(bounds, values, at), left = walls_at(bounds, values, slot[at].near[NEAR_XM]),
               right = walls_at(bounds, values, slot[at].near[NEAR_XP]);
        left.value = wadi_from_left(left.value, here.value);
        right.value = wadi_from_right(here.value, right.value);
        for (int axis = 0; axis < 3; ++axis) {
            left.normal[axis] = wadi_from_left(left.normal[axis], here.normal[axis]);
            right.normal[axis] = wadi_from_right(here.normal[axis], right.normal[axis]);
        }
        sum += here.value * aligned_with(own.normal, here.normal);
        sum += left.value * aligned_with(own.normal, left.normal);
        sum += right.value * aligned_with(own.normal, right.normal);
    }
    return sum;
}

static void share_forces(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    const WadiVec8 zero = wadi_splat(0.0f), one = wadi_splat(1.0f);
    for (int64_t w = first; w < end; ++w) {
        const WadiFrictionFacets *facets = &bounds->friction->facets[w];
        bounds->share[w] = zero;
        if (w > 0 && facets->side == OBLIQUE) {
            WadiVec8 area = sum_around(bounds, bounds->area, facets->slot);
            bounds->share[w] = bounds->force[w] / wadi_select(area > zero, area, one);
        }
    }
}

static void spread_forces(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        const WadiFrictionFacets *facets = &bounds->friction->facets[w];
        if (facets->side == OBLIQUE) {
            bounds->wall_bound[w] =
                facets->mu * facets->area * sum_around(bounds, bounds->share, facets->slot);
        }
    }
}

WadiStatus wadi_friction_find_bounds(const WadiFriction *friction, const WadiFrictionLoad *load,
                                     WadiVec8 *yield, WadiVec8 *wall_bound, WadiArena *arena,
                                     WadiError *error)
{
    Bounds bounds = { .friction = friction, .load = load, .yield = yield, .wall_bound = wall_bound };
    size_t walls = (size_t)friction->wall_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.force, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.share, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.area, walls, "friction", error));
    for (size_t w = 0; w < walls; ++w) {
        bounds.area[w] = friction->facets[w].area;
    }
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_bounds, &bounds);
    wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, find_forces, &bounds);
    if (friction->oblique_count > 0) {
        wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, share_forces, &bounds);
        wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, spread_forces, &bounds);
    }
    return WADI_OK;
}
