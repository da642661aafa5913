/* Bounds of the stresses and tractions of a friction solve, from the pressure. */
#include <math.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

typedef struct Bounds {
    const WadiFriction *friction;
    const WadiFrictionLoad *load;
    WadiF8 *yield;
    const WadiF8 *extra; /* per slot: added to P; NULL: nothing */
    /* Per row of facets. */
    WadiF8 *force;   /* normal force on them */
    WadiF8 *bearing; /* walls across cells: area times the open part of the cell */
    /* Sum of `bearing` over the walls of the 27 cells around, times the cosine between the normals. */
    WadiF8 *bearing_sum;
    const WadiF8 *known_sum; /* `bearing_sum` once it is computed, else NULL */
    WadiF8 *wall_bound;      /* mu times the normal force */
} Bounds;

static void fill_bounds(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    const WadiFrictionLoad *load = bounds->load;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &bounds->friction->slot[s];
        size_t cell = 8 * (size_t)slot->row,
               pressure_at = wadi_table_cell(bounds->friction->grid.pressure_row, cell);
        for (size_t lane = 0; lane < 8; ++lane) {
            float yield = 0.0f;
            if (slot->fluid >> lane & 1) {
                float p = (float)load->pressure[pressure_at + lane];
                p += bounds->extra != NULL && p > 0.0f ? fminf(p, bounds->extra[s][lane]) : 0.0f;
                yield = wadi_friction_yield(load, cell + lane, p);
            }
            bounds->yield[s][lane] = yield;
        }
    }
}

/* Stress across a side along the grid, tension positive. */
static WadiF8 normal_stress(const WadiFrictionStress *stress, int side)
{
    switch (side >> 1) {
    case 0: return stress->t[STRESS_XX];
    case 1: return stress->t[STRESS_YY];
    case 2: return -(stress->t[STRESS_XX] + stress->t[STRESS_YY]);
    default: return wadi_splat(0.0f);
    }
}

/* Normal force on a side along the grid: the pressure less the deviatoric stress of the last solve across it
 * [theory 6.8]. Walls across cells carry no normal stress. */
static float normal_force(const Bounds *bounds, WadiRowCell cell, int side, float area)
{
    const WadiFriction *friction = bounds->friction;
    size_t at = wadi_table_cell(friction->grid.pressure_row, wadi_row_cell_index(cell));
    const float *bond = bounds->load->tension;
    const float least = bond != NULL ? -bond[wadi_row_cell_index(cell)] : 0.0f;
    float p = (float)fmax(bounds->load->pressure[at], (double)least);
    WadiF8 tension = normal_stress(&friction->stress[friction->slot_of[cell.row]], side);
    return p > least ? fmaxf(area * p - tension[cell.lane], 0.0f) : 0.0f;
}

/* Least normal force: the weight of one cell, because the pressure of a thin layer may be 0 [theory 6.8]. */
static float least_force(const Bounds *bounds, const WadiFrictionFacets *facets, int lane)
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

/* Mean of the open parts of a cell's sides. */
static WadiF8 open_part(const WadiFriction *friction, int32_t s)
{
    WadiF8 open[6], sum = wadi_splat(0.0f);
    wadi_friction_sides(friction, s, open);
    for (int side = 0; side < 6; ++side) {
        sum += open[side];
    }
    return wadi_splat(1.0f / 6.0f) * sum;
}

static void find_forces(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    const WadiFriction *friction = bounds->friction;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        const WadiFrictionFacets *facets = &friction->facets[w];
        for (int lane = 0; lane < 8; ++lane) {
            WadiRowCell here = { friction->slot[facets->slot].row, lane };
            float force = facets->area[lane] > 0.0f
                              ? normal_force(bounds, here, facets->side, facets->area[lane])
                              : 0.0f;
            if (facets->solid_fraction[lane] > 0.0f) {
                /* P of a cell is that at its far side, behind the wall. */
                WadiRowCell away = wadi_row_cell_neighbour(friction->grid.rows, here, facets->side ^ 1);
                float before = normal_force(bounds, away, facets->side, facets->area[lane]);
                force -= facets->solid_fraction[lane] * fmaxf(force - before, 0.0f);
            }
            bounds->force[w][lane] = fmaxf(force, least_force(bounds, facets, lane));
        }
        bounds->bearing[w] = wadi_splat(0.0f);
        if (facets->side == OBLIQUE) {
            bounds->bearing[w] = facets->area * open_part(friction, facets->slot);
        }
        bounds->wall_bound[w] = facets->mu * bounds->force[w];
    }
}

/* Neighbouring walls that face the same way exchange normal forces f, because the pressures at cell centres
 * scatter about those on the wall [theory 6.9]; b is the area times the open part of the cell, and the sum of
 * f stays:
 *   f_i += sum over j of n_i . n_j (b_i f_j - b_j f_i) / max(B_i, B_j),   B_i = sum over j of n_i . n_j
 * b_j */
typedef struct Walls {
    WadiF8 bearing, bearing_sum, force, normal[3];
} Walls;

static Walls gather_walls(const Bounds *bounds, int32_t s)
{
    const WadiFriction *friction = bounds->friction;
    int32_t w = friction->wall[s][OBLIQUE];
    if (w == 0) {
        return (Walls){ 0 };
    }
    const WadiFrictionOblique *oblique = &friction->oblique[friction->facets[w].oblique];
    return (Walls){ bounds->bearing[w],
                    bounds->known_sum != NULL ? bounds->known_sum[w] : wadi_splat(0.0f),
                    bounds->force[w],
                    { oblique->normal[0], oblique->normal[1], oblique->normal[2] } };
}

static Walls walls_from_left(const Walls *left, const Walls *here)
{
    Walls moved = { .bearing = WADI_ROW_SHIFT_UP(left->bearing, here->bearing),
                    .bearing_sum = WADI_ROW_SHIFT_UP(left->bearing_sum, here->bearing_sum),
                    .force = WADI_ROW_SHIFT_UP(left->force, here->force) };
    for (int axis = 0; axis < 3; ++axis) {
        moved.normal[axis] = WADI_ROW_SHIFT_UP(left->normal[axis], here->normal[axis]);
    }
    return moved;
}

static Walls walls_from_right(const Walls *here, const Walls *right)
{
    Walls moved = { .bearing = WADI_ROW_SHIFT_DOWN(here->bearing, right->bearing),
                    .bearing_sum = WADI_ROW_SHIFT_DOWN(here->bearing_sum, right->bearing_sum),
                    .force = WADI_ROW_SHIFT_DOWN(here->force, right->force) };
    for (int axis = 0; axis < 3; ++axis) {
        moved.normal[axis] = WADI_ROW_SHIFT_DOWN(here->normal[axis], right->normal[axis]);
    }
    return moved;
}

/* n_i . n_j, 0 where the walls face away from each other. */
static WadiF8 normal_cosine(const Walls *a, const Walls *b)
{
    WadiF8 dot = a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2];
    return WADI_MAX8(dot, wadi_splat(0.0f));
}

/* Terms of the sums: n_i . n_j b_j, and the force that wall i gets from wall j. */
static WadiF8 bearing_term(const Walls *wall_i, const Walls *wall_j)
{
    return normal_cosine(wall_i, wall_j) * wall_j->bearing;
}

static WadiF8 force_term(const Walls *wall_i, const Walls *wall_j)
{
    WadiF8 most = WADI_MAX8(wall_i->bearing_sum, wall_j->bearing_sum), zero = wadi_splat(0.0f);
    WadiF8 gain =
        normal_cosine(wall_i, wall_j) * (wall_i->bearing * wall_j->force - wall_j->bearing * wall_i->force);
    return gain / WADI_ROW_SELECT(most > zero, most, wadi_splat(1.0f));
}

typedef WadiF8 (*PairFn)(const Walls *wall_i, const Walls *wall_j);

/* Sum over the walls in the 27 cells around each cell. */
static inline __attribute__((always_inline)) WadiF8 sum_around(const Bounds *bounds, int32_t s, PairFn pair)
{
    static const int8_t near[9] = { -1,         NEAR_YM,    NEAR_YP,    NEAR_ZM,   NEAR_ZP,
                                    NEAR_YM_ZM, NEAR_YM_ZP, NEAR_YP_ZM, NEAR_YP_ZP };
    const WadiFrictionSlot *slot = bounds->friction->slot;
    const Walls wall_i = gather_walls(bounds, s);
    WadiF8 sum = wadi_splat(0.0f);
    for (int n = 0; n < 9; ++n) {
        int32_t at = n == 0 ? s : slot[s].near[near[n]];
        if (at == 0) {
            continue;
        }
        Walls here = gather_walls(bounds, at), left = gather_walls(bounds, slot[at].near[NEAR_XM]),
              right = gather_walls(bounds, slot[at].near[NEAR_XP]);
        left = walls_from_left(&left, &here);
        right = walls_from_right(&here, &right);
        sum += pair(&wall_i, &here) + pair(&wall_i, &left) + pair(&wall_i, &right);
    }
    return sum;
}

static void sum_bearings(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        const WadiFrictionFacets *facets = &bounds->friction->facets[w];
        if (facets->side == OBLIQUE) {
            bounds->bearing_sum[w] = sum_around(bounds, facets->slot, bearing_term);
        }
    }
}

static void exchange_forces(void *context, int64_t first, int64_t end)
{
    const Bounds *bounds = context;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        const WadiFrictionFacets *facets = &bounds->friction->facets[w];
        if (facets->side == OBLIQUE) {
            WadiF8 force = bounds->force[w] + sum_around(bounds, facets->slot, force_term);
            bounds->wall_bound[w] = facets->mu * WADI_MAX8(force, wadi_splat(0.0f)); /* rounding */
        }
    }
}

WadiStatus wadi_friction_find_bounds(const WadiFriction *friction, const WadiFrictionLoad *load,
                                     WadiF8 *yield, WadiF8 *wall_bound, WadiArena *arena, WadiError *error)
{
    Bounds bounds = { .friction = friction, .load = load, .yield = yield, .wall_bound = wall_bound };
    size_t walls = (size_t)friction->wall_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.force, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.bearing, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bounds.bearing_sum, walls, "friction", error));
    WADI_TRY(wadi_friction_find_columns(friction, load, &bounds.extra, arena, error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_bounds, &bounds);
    wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, find_forces, &bounds);
    if (friction->oblique_count > 0) {
        wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, sum_bearings, &bounds);
        bounds.known_sum = bounds.bearing_sum;
        wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, exchange_forces, &bounds);
    }
    return WADI_OK;
}
