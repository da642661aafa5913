/* Bounds of the stresses and tractions of a friction solve, from the pressure. */
#include <math.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

typedef struct Bounds {
    const WadiFriction *friction;
    const WadiFrictionLoad *load;
    WadiF8 *yield;
    WadiF8 *wall_bound; /* per row of facets: mu times the normal force */
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
            bounds->wall_bound[w][lane] = facets->mu[lane] * fmaxf(force, least_force(bounds, facets, lane));
        }
    }
}

void wadi_friction_find_bounds(const WadiFriction *friction, const WadiFrictionLoad *load, WadiF8 *yield,
                               WadiF8 *wall_bound)
{
    Bounds bounds = { .friction = friction, .load = load, .yield = yield, .wall_bound = wall_bound };
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, fill_bounds, &bounds);
    wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, find_forces, &bounds);
}
