/* Weights of the viscosity problem: unknown faces, liquid fractions of the control volumes, and
 * coefficients of cells and edges.
 * Source: [BB08 sec. 4].
 * Differs: fractions come from the distance to the surface at the centre of the volume (exact for surfaces
 * along the grid). An edge between a fluid face and a face in a solid is divided by theta, the fluid
 * fraction of the segment between them, so that the wall lies at its true position. Edges between
 * materials take the harmonic mean, across which the shear stress is continuous. */
#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "flip/viscosity/flip_viscosity.h"

enum { LANES = WADI_ROW_CELLS };

/* A face with less liquid than min_fraction is no unknown unless it touches fluid. Faces without
 * particles have no velocity of their own and get a negligible mass. */
static const float min_fraction = 0.1f, min_mass = 0.05f, no_particle_mass = 0.01f;
static const float min_theta = 0.1f;

typedef struct Setup {
    const WadiFlipViscosityIn *in;
    WadiFlipViscous *out;
    uint8_t *closed[3]; /* per row and component */
} Setup;

static float liquid_fraction(float distance, float h)
{
    return wadi_minf(wadi_maxf(0.5f - distance / h, 0.0f), 1.0f);
}

/* Distance of cells from the surface, or from the labels if it is not given. */
static void cell_distances(const WadiFlipViscosityIn *in, int32_t row, float distance[LANES])
{
    const float h = (float)in->cell_size;
    for (int l = 0; l < LANES; ++l) {
        float plain = (in->fluid[row] >> l & 1) != 0 ? -0.5f * h : 0.5f * h;
        distance[l] = in->distance != NULL ? in->distance[(size_t)LANES * (size_t)row + (size_t)l] : plain;
    }
}

static void shift_lanes(const float own[LANES], float before, float to[LANES])
{
    to[0] = before;
    memcpy(to + 1, own, (LANES - 1) * sizeof(float));
}

/* Distances of the cells on the low side of a row's cells along an axis. */
static void low_distances(const WadiFlipViscosityIn *in, int32_t row, int axis, float distance[LANES])
{
    float neighbour[LANES];
    cell_distances(in, in->rows->neighbour[row][2 * axis], neighbour);
    if (axis == 0) {
        float own[LANES];
        cell_distances(in, row, own);
        shift_lanes(own, neighbour[LANES - 1], distance);
    } else {
        memcpy(distance, neighbour, sizeof neighbour);
    }
}

static void find_faces(const Setup *setup, int32_t row, int axis)
{
    const WadiFlipViscosityIn *in = setup->in;
    const size_t at = (size_t)LANES * (size_t)row, solid_at = wadi_table_cell(in->solid_row, at);
    const float h = (float)in->cell_size;
    unsigned touches = in->fluid[row] | wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
    unsigned solid = in->solid[row], low_solid = wadi_row_neighbour_bits(in->rows, in->solid, row, 2 * axis);
    float own[LANES], low[LANES];
    cell_distances(in, row, own);
    low_distances(in, row, axis, low);
    unsigned unknown = 0, closed = 0;
    for (int l = 0; l < LANES; ++l) {
        bool is_own_solid = (solid >> l & 1) != 0, is_low_solid = (low_solid >> l & 1) != 0;
        float distance = is_own_solid ? low[l] : is_low_solid ? own[l] : 0.5f * (own[l] + low[l]);
        bool has_particles = in->reached[axis] == NULL || (in->reached[axis][row] >> l & 1) != 0;
        float fraction = liquid_fraction(distance, h);
        bool is_open = in->open[axis][solid_at + (size_t)l] > 0.0f;
        bool is_unknown = is_open && ((touches >> l & 1) != 0 || (has_particles && fraction >= min_fraction));
        /* Particles lie behind the surface, so their velocity at a face there is too small in a rotating
         * body. The less liquid a face has, the less its velocity counts. */
        float weight = in->reached[axis] != NULL ? 2.0f * fraction - 1.0f : fraction;
        float mass = has_particles ? wadi_maxf(weight, min_mass) : no_particle_mass;
        mass *= in->density[axis] != NULL ? in->density[axis][at + (size_t)l] / (float)in->reference_density
                                          : 1.0f;
        setup->out->mass[axis][at + (size_t)l] = is_unknown ? mass : 0.0f;
        unknown |= (unsigned)is_unknown << l;
        closed |= (unsigned)!is_open << l;
    }
    setup->out->unknown[axis][row] = (uint8_t)unknown;
    setup->closed[axis][row] = (uint8_t)closed;
}

static void faces_block(void *context, int64_t first, int64_t end)
{
    const Setup *setup = context;
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
            find_faces(setup, row, axis);
        }
    }
}

/* Bits of faces with a velocity: unknown or the solid's. */
static unsigned has_velocity(const Setup *setup, int axis, int32_t row)
{
    return row == 0 ? 0u : (unsigned)(setup->out->unknown[axis][row] | setup->closed[axis][row]);
}

static unsigned low_neighbours(unsigned own, unsigned before, int axis)
{
    return axis == 0 ? (own << 1 | before >> 7) & 0xff : before;
}

static void find_cells(const Setup *setup, int32_t row)
{
    const WadiFlipViscosityIn *in = setup->in;
    const WadiFlipViscous *out = setup->out;
    float *normal = out->normal + (size_t)LANES * (size_t)row;
    unsigned whole = 0xff, any = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int32_t next = in->rows->neighbour[row][2 * axis + 1];
        unsigned here = has_velocity(setup, axis, row), beyond = has_velocity(setup, axis, next);
        unsigned high = axis == 0 ? here >> 1 | (beyond << 7 & 0x80) : beyond;
        whole &= here & high;
        any |= out->unknown[axis][row] |
               wadi_row_neighbour_bits(in->rows, out->unknown[axis], row, 2 * axis + 1);
    }
    whole &= any & (unsigned)~in->solid[row];
    float distance[LANES];
    cell_distances(in, row, distance);
    for (int l = 0; l < LANES; ++l) {
        float fraction = liquid_fraction(distance[l], (float)in->cell_size);
        float value = 2.0f * fraction * in->coefficient[(size_t)LANES * (size_t)row + (size_t)l];
        normal[l] = whole >> l & 1 ? value : 0.0f;
    }
}

/* Values of the four cells around the low edges of a row: the cell itself, its low neighbours along a and
 * b, and the one low along both. */
typedef struct EdgeCells {
    float value[4][LANES];
} EdgeCells;

static void gather_cells(const WadiRows *rows, const int32_t *table, const float *values, int32_t row, int a,
                         int b, EdgeCells *cells)
{
    const size_t row_bytes = LANES * sizeof(float);
    int32_t low = rows->neighbour[row][2 * b];
    memcpy(cells->value[0], values + (size_t)LANES * (size_t)wadi_table_row(table, row), row_bytes);
    wadi_table_row_neighbours(rows, table, values, row, 2 * a, cells->value[1]);
    memcpy(cells->value[2], values + (size_t)LANES * (size_t)wadi_table_row(table, low), row_bytes);
    wadi_table_row_neighbours(rows, table, values, low, 2 * a, cells->value[3]);
}

static void gather_distances(const WadiFlipViscosityIn *in, int32_t row, int a, int b, EdgeCells *cells)
{
    int32_t low = in->rows->neighbour[row][2 * b];
    cell_distances(in, row, cells->value[0]);
    low_distances(in, row, a, cells->value[1]);
    cell_distances(in, low, cells->value[2]);
    low_distances(in, low, a, cells->value[3]);
}

/* Fraction of the segment between two faces outside the solid, if one of them lies in it. */
static float theta_of(float inner, float outer)
{
    float span = outer - inner;
    return span > 0.0f ? wadi_minf(wadi_maxf(outer / span, min_theta), 1.0f) : 0.5f;
}

/* theta of a pair of parallel faces, one fluid and one in a wall. `next` is the cell that shares the high
 * face with cell 0; depth NULL: the wall lies on the edge. */
static float wall_theta(const EdgeCells *depth, int lane, int next, bool is_high_fluid)
{
    float high = 0.5f, low = -0.5f;
    if (depth != NULL) {
        high = depth->value[0][lane] + depth->value[next][lane];
        low = depth->value[3 - next][lane] + depth->value[3][lane];
    }
    return is_high_fluid ? theta_of(low, high) : theta_of(high, low);
}

/* Liquid fraction of an edge's volume times the harmonic mean of the coefficients of its liquid cells. */
static float edge_coefficient(const EdgeCells *distance, const EdgeCells *coefficient,
                              const unsigned solid[4], int lane, float h)
{
    float sum = 0.0f, inverse_sum = 0.0f, cells = 0.0f, liquid_cells = 0.0f;
    for (int n = 0; n < 4; ++n) {
        if ((solid[n] >> lane & 1) != 0) {
            continue;
        }
        float d = distance->value[n][lane];
        sum += d;
        cells += 1.0f;
        if (d < 0.5f * h) {
            inverse_sum += 1.0f / wadi_maxf(coefficient->value[n][lane], 1e-30f);
            liquid_cells += 1.0f;
        }
    }
    return liquid_cells > 0.0f ? liquid_fraction(sum / cells, h) * (liquid_cells / inverse_sum) : 0.0f;
}

static void find_edges(const Setup *setup, int32_t row, int a, int b, float *edge)
{
    const WadiFlipViscosityIn *in = setup->in;
    const WadiFlipViscous *out = setup->out;
    const int32_t *neighbour = in->rows->neighbour[row];
    const int32_t low_a = neighbour[2 * a], low_b = neighbour[2 * b];
    unsigned ua = out->unknown[a][row], ua_low = out->unknown[a][low_b];
    unsigned ub = out->unknown[b][row], ub_low = low_neighbours(ub, out->unknown[b][low_a], a);
    unsigned va = has_velocity(setup, a, row), va_low = has_velocity(setup, a, low_b);
    unsigned vb = has_velocity(setup, b, row), vb_low = low_neighbours(vb, has_velocity(setup, b, low_a), a);
    unsigned valid = va & va_low & vb & vb_low & (ua | ua_low | ub | ub_low);
    /* Pairs of a fluid face and a wall face. */
    unsigned wall_a = ua ^ ua_low, wall_b = ub ^ ub_low;
    if (in->is_slippery) {
        valid &= ~(wall_a | wall_b);
    }
    memset(edge, 0, LANES * sizeof *edge);
    if (valid == 0) {
        return;
    }
    EdgeCells distance, coefficient, depth, *known_depth = NULL;
    gather_distances(in, row, a, b, &distance);
    gather_cells(in->rows, NULL, in->coefficient, row, a, b, &coefficient);
    if (in->solid_distance != NULL) {
        gather_cells(in->rows, in->solid_row, in->solid_distance, row, a, b, &depth);
        known_depth = &depth;
    }
    unsigned low_row_solid = in->solid[low_b];
    const unsigned solid[4] = { in->solid[row], wadi_row_neighbour_bits(in->rows, in->solid, row, 2 * a),
                                low_row_solid, wadi_row_neighbour_bits(in->rows, in->solid, low_b, 2 * a) };
    for (int l = 0; l < LANES; ++l) {
        if ((valid >> l & 1) == 0) {
            continue;
        }
        float theta = 1.0f;
        if (wall_a >> l & 1) {
            theta = wadi_minf(theta, wall_theta(known_depth, l, 1, (ua >> l & 1) != 0));
        }
        if (wall_b >> l & 1) {
            theta = wadi_minf(theta, wall_theta(known_depth, l, 2, (ub >> l & 1) != 0));
        }
        edge[l] = edge_coefficient(&distance, &coefficient, solid, l, (float)in->cell_size) / theta;
    }
}

static double stresses_block(void *context, int64_t first, int64_t end)
{
    const Setup *setup = context;
    WadiFlipViscous *out = setup->out;
    static const int axes[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
    float largest = 0.0f;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row;
        find_cells(setup, row);
        unsigned unknown = out->unknown[0][row] | out->unknown[1][row] | out->unknown[2][row];
        float row_largest = 0.0f;
        for (int l = 0; l < LANES; ++l) {
            row_largest = wadi_maxf(row_largest, out->normal[at + (size_t)l]);
        }
        for (int kind = 0; kind < 3; ++kind) {
            find_edges(setup, row, axes[kind][0], axes[kind][1], out->edge[kind] + at);
            for (int l = 0; l < LANES; ++l) {
                row_largest = wadi_maxf(row_largest, out->edge[kind][at + (size_t)l]);
            }
        }
        out->is_active[row] = unknown != 0 || row_largest > 0.0f;
        largest = wadi_maxf(largest, row_largest);
    }
    return (double)largest;
}

WadiStatus wadi_flip_viscosity_setup(const WadiFlipViscosityIn *in, WadiFlipViscous *viscous,
                                     WadiArena *arena, WadiError *error)
{
    const size_t floats = wadi_rows_floats(in->rows), rows = (size_t)in->rows->count;
    *viscous = (WadiFlipViscous){ .rows = in->rows };
    Setup setup = { .in = in, .out = viscous };
    float **arrays[7] = { &viscous->mass[0], &viscous->mass[1], &viscous->mass[2], &viscous->normal,
                          &viscous->edge[0], &viscous->edge[1], &viscous->edge[2] };
    for (int n = 0; n < 7; ++n) {
        WADI_TRY(WADI_ARENA_NEW(arena, arrays[n], floats, "viscosity", error));
        memset(*arrays[n], 0, LANES * sizeof(float));
    }
    double *partials = NULL;
    int64_t blocks = wadi_parallel_block_count(in->rows->count, WADI_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)blocks, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &viscous->is_active, rows, "viscosity", error));
    viscous->is_active[0] = 0;
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &viscous->unknown[axis], rows, "viscosity", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &setup.closed[axis], rows, "viscosity", error));
        viscous->unknown[axis][0] = setup.closed[axis][0] = 0;
    }
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, faces_block, &setup);
    viscous->largest =
        (float)wadi_parallel_max(in->rows->count, WADI_ROW_BLOCK, stresses_block, &setup, partials);
    return WADI_OK;
}
