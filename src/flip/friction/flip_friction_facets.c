/* Walls of the friction solve: facets on closed sides, oblique walls across cells.
 * Source: [theory 6.8, 6.9].
 * Differs: in 3-D the traction on an oblique wall is a vector in the wall's plane. A face with a single FLUID
 * cell gets the traction of that cell twice. Each side along the grid has its own facet, so a corner of two
 * walls has the friction of both. */
#include <string.h>

#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "grid/row_lanes.h"

/* Walls of less area than this, in cell sides, are left out. */
#define LEAST_AREA 1e-3f
/* Cosine between normals that belong to one wall. */
#define SAME_WALL 0.98f

/* 1 / (number of FLUID cells that meet at the low face of a cell), 0 where the face is not free. */
static float face_weight(const WadiFriction *friction, int axis, WadiRowCell cell)
{
    if ((friction->slot[friction->slot_of[cell.row]].free[axis] >> cell.lane & 1) == 0) {
        return 0.0f;
    }
    WadiRowCell low = wadi_row_cell_neighbour(friction->grid.rows, cell, 2 * axis);
    const uint8_t *fluid = friction->grid.fluid;
    return 1.0f / (float)((fluid[cell.row] >> cell.lane & 1) + (fluid[low.row] >> low.lane & 1));
}

static float face_mass(const WadiFriction *friction, int axis, WadiRowCell cell)
{
    return friction->mass != NULL ? friction->mass[friction->slot_of[cell.row]].c[axis][cell.lane] : 1.0f;
}

static WadiFrictionWallPoint sample_side(const WadiFriction *friction, WadiRowCell cell, int side)
{
    int32_t first[3];
    wadi_rows_cell(friction->grid.rows, cell.row, first);
    double at[3] = { first[0] + cell.lane + 0.5, first[1] + 0.5, first[2] + 0.5 };
    at[side >> 1] += side & 1 ? 0.5 : -0.5;
    return friction->grid.sample_wall(friction->grid.wall_context, at);
}

/* The four copies of a row of facets: each acts on a face at the low or high end of the facet's cell. */
static void fill_copies(const WadiFriction *friction, WadiFrictionFacets *facets)
{
    const WadiFrictionSlot *slot = &friction->slot[facets->slot];
    const WadiF8 one = wadi_splat(1.0f);
    WadiF8 least = wadi_splat(INFINITY);
    for (int copy = 0; copy < 4; ++copy) {
        int axis = wadi_friction_tangent(facets->side, copy >> 1), neighbour_side = 2 * axis + (copy & 1);
        int32_t high = slot->near[2 * axis + 1];
        uint8_t free = slot->free[axis];
        WadiF8 mass = friction->mass != NULL ? friction->mass[facets->slot].c[axis] : one;
        if (copy & 1) {
            uint8_t free_high = friction->slot[high].free[axis];
            WadiF8 mass_high = friction->mass != NULL ? friction->mass[high].c[axis] : one;
            free = axis == 0 ? wadi_bits_from_right(free, free_high) : free_high;
            mass = axis == 0 ? (WadiF8)WADI_ROW_SHIFT_DOWN(mass, mass_high) : mass_high;
        }
        /* The cell is FLUID, so a face has weight 1/2 where the cell on its other side is FLUID too. */
        uint8_t both =
            wadi_row_neighbour_bits(friction->grid.rows, friction->grid.fluid, slot->row, neighbour_side);
        WadiI8 acts = wadi_lanes(free & slot->aligned[facets->side]);
        facets->weight.t[copy] = wadi_masked(WADI_ROW_SELECT(wadi_lanes(both), wadi_splat(0.5f), one), acts);
        least = WADI_ROW_SELECT(acts & (mass < least), mass, least);
    }
    WadiF8 zero = wadi_splat(0.0f), mass = WADI_ROW_SELECT(least < wadi_splat(INFINITY), least, one);
    for (int which = 0; which < 2; ++which) {
        const WadiF8 *weight = &facets->weight.t[2 * which];
        WadiF8 count = __builtin_convertvector(-((weight[0] > zero) + (weight[1] > zero)), WadiF8);
        facets->inverse[which] = one / WADI_MAX8(count, one);
        for (int high = 0; high < 2; ++high) {
            facets->step.t[2 * which + high] = wadi_splat(0.5f) * mass * count * weight[high];
        }
    }
}

static void fill_facets(const WadiFriction *friction, WadiFrictionFacets *facets)
{
    const WadiFrictionSlot *slot = &friction->slot[facets->slot];
    int side = facets->side, a = wadi_friction_tangent(side, 0), b = wadi_friction_tangent(side, 1);
    uint8_t cells = slot->aligned[side],
            fractional = wadi_friction_fractional(friction, facets->slot) & cells;
    for (unsigned left = cells; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left);
        WadiFrictionWallPoint point = sample_side(friction, (WadiRowCell){ slot->row, lane }, side);
        facets->mu[lane] = point.friction;
        facets->solid[0][lane] = point.velocity[a];
        facets->solid[1][lane] = point.velocity[b];
    }
    facets->area = wadi_masked(wadi_splat(1.0f), wadi_lanes(cells));
    if (fractional != 0) {
        WadiF8 open[6];
        wadi_friction_sides(friction, facets->slot, open);
        WadiF8 sum = open[2 * a] + open[2 * a + 1] + open[2 * b] + open[2 * b + 1];
        facets->area = WADI_ROW_SELECT(wadi_lanes(fractional), open[side ^ 1], facets->area);
        facets->solid_fraction =
            wadi_masked(wadi_splat(1.0f) - wadi_splat(0.25f) * sum, wadi_lanes(fractional));
    }
    fill_copies(friction, facets);
}

typedef struct ObliqueWall {
    float area, mu, normal[3], velocity[3]; /* normal into the solid */
} ObliqueWall;

static float dot3(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The wall nearest to a point that lies `step` cells along `direction` from the centre of a cell. */
static ObliqueWall nearest_wall(const WadiFriction *friction, WadiRowCell cell, const float direction[3],
                                double step)
{
    int32_t first[3];
    wadi_rows_cell(friction->grid.rows, cell.row, first);
    double at[3] = { first[0] + cell.lane + 0.5, first[1] + 0.5, first[2] + 0.5 };
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] += step * (double)direction[axis];
    }
    WadiFrictionWallPoint point = friction->grid.sample_wall(friction->grid.wall_context, at);
    float size = sqrtf(dot3(point.normal, point.normal));
    ObliqueWall wall = { .mu = point.friction };
    for (int axis = 0; axis < 3; ++axis) {
        wall.normal[axis] = size > 0.0f ? -point.normal[axis] / size : 0.0f;
        wall.velocity[axis] = point.velocity[axis];
    }
    return wall;
}

/* A second wall that cuts the cell: sampled along the part of the area vector across the normal of the
 * first. */
static bool find_second_wall(const WadiFriction *friction, WadiRowCell cell, const float area[3],
                             const ObliqueWall *one, ObliqueWall *two)
{
    float along = dot3(area, one->normal), direction[3];
    for (int axis = 0; axis < 3; ++axis) {
        direction[axis] = area[axis] - along * one->normal[axis];
    }
    float size = sqrtf(dot3(direction, direction));
    if (size < LEAST_AREA) {
        return false; /* the other side of a thin wall */
    }
    for (int axis = 0; axis < 3; ++axis) {
        direction[axis] /= size;
    }
    for (int n = 1; n < 3; ++n) {
        *two = nearest_wall(friction, cell, direction, 0.5 * n);
        if (fabsf(dot3(one->normal, two->normal)) < SAME_WALL && dot3(direction, two->normal) > 0.0f) {
            return true;
        }
    }
    return false;
}

/* The wall across a cell from its area vector. Where two walls meet, area = a n + b m: their bounds mu a and
 * mu b are added, and the normal is their mean by these bounds. */
static ObliqueWall oblique_wall(const WadiFriction *friction, WadiRowCell cell, const float area[3],
                                float size)
{
    ObliqueWall one = nearest_wall(friction, cell, area, 0.0), two, both = one;
    both.area = size;
    for (int axis = 0; axis < 3; ++axis) {
        both.normal[axis] = area[axis] / size;
    }
    if (dot3(both.normal, one.normal) > SAME_WALL || !find_second_wall(friction, cell, area, &one, &two)) {
        return both;
    }
    float c = dot3(one.normal, two.normal), a = dot3(area, one.normal), b = dot3(area, two.normal);
    one.area = fmaxf(0.0f, (a - c * b) / (1.0f - c * c));
    two.area = fmaxf(0.0f, (b - c * a) / (1.0f - c * c));
    float strength[2] = { one.mu * one.area, two.mu * two.area }, normal[3];
    const ObliqueWall *rougher = strength[1] > strength[0] ? &two : &one;
    for (int axis = 0; axis < 3; ++axis) {
        normal[axis] = strength[0] * one.normal[axis] + strength[1] * two.normal[axis];
    }
    float length = sqrtf(dot3(normal, normal));
    if (length == 0.0f) {
        both.mu = 0.0f;
        return both;
    }
    both = *rougher;
    both.area = (strength[0] + strength[1]) / rougher->mu;
    for (int axis = 0; axis < 3; ++axis) {
        both.normal[axis] = normal[axis] / length;
    }
    return both;
}

static void fill_oblique(const WadiFriction *friction, WadiFrictionFacets *facets)
{
    WadiFrictionOblique *oblique = &friction->oblique[facets->oblique];
    const WadiFrictionSlot *slot = &friction->slot[facets->slot];
    uint8_t fractional = wadi_friction_fractional(friction, facets->slot);
    WadiF8 open[6];
    wadi_friction_sides(friction, facets->slot, open);
    for (int lane = 0; lane < 8; ++lane) {
        float area[3], square = 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            bool is_aligned = (slot->aligned[2 * axis] | slot->aligned[2 * axis + 1]) >> lane & 1;
            area[axis] = is_aligned ? 0.0f : open[2 * axis][lane] - open[2 * axis + 1][lane];
            square += area[axis] * area[axis];
        }
        float size = sqrtf(square);
        if ((fractional >> lane & 1) == 0 || size < LEAST_AREA) {
            continue;
        }
        WadiRowCell cell[2] = { { slot->row, lane } };
        ObliqueWall wall = oblique_wall(friction, cell[0], area, size);
        facets->mu[lane] = wall.mu;
        facets->area[lane] = wall.area;
        float stiffest = 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            oblique->normal[axis][lane] = wall.normal[axis];
            oblique->solid[axis][lane] = wall.velocity[axis];
            cell[1] = wadi_row_cell_neighbour(friction->grid.rows, cell[0], 2 * axis + 1);
            float sum = open[2 * axis][lane] + open[2 * axis + 1][lane], stiffness = 0.0f;
            for (int high = 0; high < 2 && sum > 0.0f; ++high) {
                float mass = face_mass(friction, axis, cell[high]);
                if (mass > 0.0f) {
                    float weight =
                        2.0f * face_weight(friction, axis, cell[high]) * open[2 * axis + high][lane] / sum;
                    oblique->weight[2 * axis + high][lane] = weight;
                    stiffness += weight * weight / mass;
                }
            }
            stiffest = fmaxf(stiffest, stiffness);
        }
        oblique->step[lane] = stiffest > 0.0f ? 0.8f / stiffest : 0.0f;
    }
}

static void fill_walls(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    for (int64_t w = first > 0 ? first : 1; w < end; ++w) {
        WadiFrictionFacets *facets = &friction->facets[w];
        *facets =
            (WadiFrictionFacets){ .slot = facets->slot, .side = facets->side, .oblique = facets->oblique };
        if (facets->side == OBLIQUE) {
            friction->oblique[facets->oblique] = (WadiFrictionOblique){ 0 };
            fill_oblique(friction, facets);
        } else {
            fill_facets(friction, facets);
        }
    }
}

static void find_walls(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    const WadiFrictionGrid *grid = &friction->grid;
    for (int32_t s = (int32_t)first; s < end; ++s) {
        WadiFrictionSlot *slot = &friction->slot[s];
        int32_t *wall = friction->wall[s];
        memset(wall, 0, sizeof friction->wall[s]);
        if (slot->fluid == 0) {
            continue;
        }
        for (int side = 0; side < 6; ++side) {
            if (grid->open[0] == NULL) {
                slot->aligned[side] =
                    wadi_row_neighbour_bits(grid->rows, grid->solid, slot->row, side) & slot->fluid;
            }
            wall[side] = slot->aligned[side] != 0;
        }
        wall[OBLIQUE] = wadi_friction_fractional(friction, s) != 0;
        for (int kind = 0; kind < WALL_KINDS; ++kind) {
            slot->cell_walls |= (uint8_t)(wall[kind] << kind);
        }
    }
}

/* Number the rows of facets and mark the slots on whose faces they act. */
WadiStatus wadi_friction_make_walls(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->wall, (size_t)friction->slot_count, "friction", error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_walls, friction);
    int32_t count = 1, oblique_count = 0;
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        for (int kind = 0; kind < WALL_KINDS && friction->slot[s].cell_walls != 0; ++kind) {
            count += friction->wall[s][kind];
        }
        oblique_count += friction->wall[s][OBLIQUE];
    }
    size_t walls = (size_t)count, obliques = (size_t)oblique_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->facets, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->oblique, obliques, "friction", error));
    friction->facets[0] = (WadiFrictionFacets){ 0 };
    friction->wall_count = 1;
    friction->oblique_count = 0;
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        WadiFrictionSlot *slot = &friction->slot[s];
        if (slot->cell_walls == 0) {
            continue;
        }
        for (int kind = 0; kind < WALL_KINDS; ++kind) {
            if (friction->wall[s][kind] == 0) {
                continue;
            }
            int32_t w = friction->wall_count++;
            friction->wall[s][kind] = w;
            friction->facets[w].slot = s;
            friction->facets[w].side = kind;
            friction->facets[w].oblique = kind == OBLIQUE ? friction->oblique_count++ : 0;
        }
        slot->face_walls |= slot->cell_walls;
        friction->slot[slot->near[NEAR_XP]].face_walls |= slot->cell_walls;
        friction->slot[slot->near[NEAR_YP]].face_walls |= slot->cell_walls;
        friction->slot[slot->near[NEAR_ZP]].face_walls |= slot->cell_walls;
    }
    friction->slot[0].face_walls = 0;
    wadi_parallel_for(friction->wall_count, FRICTION_BLOCK, fill_walls, friction);
    return WADI_OK;
}
