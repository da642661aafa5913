/* Close gaps of less than a cell where two fronts of a viscous liquid meet. The density correction
 * restores the number of particles of each cell, but nothing moves them inside a cell, and the surface
 * would show a crack. [theory 7.4]
 * Holes are balls without particles around the centres of a cell's eight octants, in cells surrounded by
 * liquid or solids. Around them, pairs closer than at rest push each other apart a little each step, from
 * their positions at the start of the step: equal and opposite, so that the centre of mass stays. By
 * chance one position in 250 is such a hole. */
#include "flip/move/flip_spread.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/move/flip_separate.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { TILE_BLOCK = 4, ROWS_AROUND = 9, LANES_AROUND = 10, GATHERED = 4096 };

/* In diameters: largest displacement in a step. */
static const double LARGEST_MOVE = 0.25;
/* In diameters: closer pairs have the same position. */
#define SAME_POSITION 1e-6f

/* Particles in a row of cells and the eight rows around it along y and z, lanes -1 to 8; positions in
 * diameters from a corner of the row. */
typedef struct Around {
    WadiVec3 corner;
    double per_metre;
    int32_t start[ROWS_AROUND][LANES_AROUND + 1]; /* per lane: its first particle in the arrays */
    int32_t count;
    float x[GATHERED + 8], y[GATHERED + 8], z[GATHERED + 8];
    uint32_t id[GATHERED + 8];
} Around;

/* Index among the occupied rows of the sort of a row of the grid, or -1. */
static int32_t occupied_row(const WadiFlipSpreadIn *in, int32_t row)
{
    const WadiRows *rows = &in->grid->rows;
    return row == 0
               ? -1
               : wadi_tile_sort_row(in->sort, in->grid->sort_tile[rows->tile[row]], rows->index_in_tile[row]);
}

/* Particles that do not fit are left out: only with a hundred in each cell. */
static void gather_lane(const WadiFlipSpreadIn *in, int32_t occupied, int lane, Around *around)
{
    const int32_t *start = occupied >= 0 ? &in->sort->cell_start[8 * (size_t)occupied + (size_t)lane] : NULL;
    const WadiParticles *p = in->particles;
    for (int32_t j = start != NULL ? start[0] : 0; start != NULL && j < start[1] && around->count < GATHERED;
         ++j) {
        const int32_t n = around->count++;
        around->x[n] = (float)(around->per_metre * (p->x[j] - around->corner.x));
        around->y[n] = (float)(around->per_metre * (p->y[j] - around->corner.y));
        around->z[n] = (float)(around->per_metre * (p->z[j] - around->corner.z));
        around->id[n] = p->id[j];
    }
}

/* Row n of the nine, the row itself the fifth; 0: not in the grid. */
static int32_t row_around(const WadiRows *rows, int32_t row, int n)
{
    const int dy = n % 3 - 1, dz = n / 3 - 1;
    row = dy != 0 ? rows->neighbour[row][2 + (dy > 0)] : row;
    return dz != 0 ? rows->neighbour[row][4 + (dz > 0)] : row;
}

static void gather_around(const WadiFlipSpreadIn *in, int32_t row, Around *around)
{
    const WadiRows *rows = &in->grid->rows;
    const double h = in->grid->cell_size;
    int32_t cell[3];
    wadi_rows_cell(rows, row, cell);
    around->corner = wadi_vec3(h * cell[0], h * cell[1], h * cell[2]);
    around->per_metre = 1.0 / in->diameter;
    around->count = 0;
    for (int n = 0; n < ROWS_AROUND; ++n) {
        const int32_t at = row_around(rows, row, n);
        const int32_t own = occupied_row(in, at);
        for (int lane = -1; lane <= 8; ++lane) {
            around->start[n][lane + 1] = around->count;
            const bool is_own = lane >= 0 && lane < 8;
            gather_lane(in, is_own ? own : occupied_row(in, rows->neighbour[at][lane > 0]), lane & 7, around);
        }
        around->start[n][LANES_AROUND] = around->count;
    }
}

/* Sums over eight particles at a time, in a fixed order. */
typedef struct Push {
    WadiF8 x, y, z;
    WadiVec3 coincident; /* from particles at the same position */
} Push;

/* Pushes of particles first .. end on particle i, in diameters: (1 - r) dx / r each. */
static void add_pushes(const Around *around, int32_t i, int32_t first, int32_t end, Push *push)
{
    const WadiI8 lanes = { 0, 1, 2, 3, 4, 5, 6, 7 };
    for (int32_t n = first; n < end; n += 8) {
        WadiF8 x, y, z;
        memcpy(&x, around->x + n, sizeof x);
        memcpy(&y, around->y + n, sizeof y);
        memcpy(&z, around->z + n, sizeof z);
        x = around->x[i] - x;
        y = around->y[i] - y;
        z = around->z[i] - z;
        const WadiF8 square = x * x + y * y + z * z;
        const WadiI8 is_here = lanes + n < end;
        WadiF8 r;
        for (int l = 0; l < 8; ++l) {
            r[l] = sqrtf(square[l]);
        }
        const WadiI8 is_near = is_here & (r < 1.0f) & (r > SAME_POSITION),
                     is_coincident = is_here & (r <= SAME_POSITION);
        const WadiF8 weight = (WadiF8)((WadiI8)((1.0f - r) / r) & is_near);
        push->x += weight * x;
        push->y += weight * y;
        push->z += weight * z;
        for (unsigned left = wadi_row_bits(&is_coincident); left != 0; left &= left - 1) {
            const int32_t other = n + __builtin_ctz(left);
            if (other != i) {
                push->coincident =
                    wadi_add(push->coincident, wadi_flip_any_direction(around->id[i], around->id[other]));
            }
        }
    }
}

static WadiVec3 sum_of(const Push *push)
{
    WadiVec3 sum = push->coincident;
    for (int l = 0; l < 8; ++l) {
        sum = wadi_add(sum, wadi_vec3((double)push->x[l], (double)push->y[l], (double)push->z[l]));
    }
    return sum;
}

typedef struct Spread {
    const WadiFlipSpreadIn *in;
    uint8_t *hollow; /* per row: cells with a hole */
    WadiFlipPath *path;
} Spread;

/* Cells of a row with particles and with liquid or solids on all sides. */
static unsigned inner_cells(const WadiFlipSpreadIn *in, int32_t row)
{
    const WadiRows *rows = &in->grid->rows;
    unsigned inner = in->grid->occupied[row];
    for (int side = 0; side < 6; ++side) {
        const unsigned has_particles = wadi_row_neighbour_bits(rows, in->grid->occupied, row, side);
        const unsigned is_air = wadi_row_neighbour_bits(rows, in->occupied_air, row, side);
        float distance[WADI_ROW_CELLS];
        wadi_table_row_neighbours(rows, in->solid_row, in->solid_distance, row, side, distance);
        unsigned solid = 0;
        for (int l = 0; l < 8; ++l) {
            solid |= (unsigned)(distance[l] < 0.0f) << l;
        }
        inner &= (has_particles & ~is_air) | solid;
    }
    return inner;
}

/* Is no particle of the 27 cells around `lane` within the radius of a hole around x? */
static bool is_hole(const Around *around, int lane, const float x[3], float square)
{
    const WadiI8 lanes = { 0, 1, 2, 3, 4, 5, 6, 7 };
    WadiI8 is_near = { 0 };
    for (int n = 0; n < ROWS_AROUND; ++n) {
        const int32_t end = around->start[n][lane + 3];
        for (int32_t k = around->start[n][lane]; k < end; k += 8) {
            WadiF8 a, b, c;
            memcpy(&a, around->x + k, sizeof a);
            memcpy(&b, around->y + k, sizeof b);
            memcpy(&c, around->z + k, sizeof c);
            a = x[0] - a;
            b = x[1] - b;
            c = x[2] - c;
            is_near |= (a * a + b * b + c * c < square) & (lanes + k < end);
        }
    }
    return wadi_row_bits(&is_near) == 0;
}

/* Octants of a cell that hold particles; `side` is the size of a cell in diameters. */
static unsigned octants_with_particles(const Around *around, int lane, float side)
{
    unsigned octants = 0;
    for (int32_t k = around->start[4][lane + 1]; k < around->start[4][lane + 2]; ++k) {
        const bool high[3] = { around->x[k] > ((float)lane + 0.5f) * side, around->y[k] > 0.5f * side,
                               around->z[k] > 0.5f * side };
        octants |= 1u << (high[0] + 2 * high[1] + 4 * high[2]);
    }
    return octants;
}

static unsigned hollow_cells(const WadiFlipSpreadIn *in, const Around *around, unsigned cells)
{
    const float side = (float)(in->grid->cell_size / in->diameter),
                hole = (float)(in->hole_radius / in->diameter);
    unsigned hollow = 0;
    for (unsigned left = cells; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        for (unsigned octants = 0xff & ~octants_with_particles(around, lane, side); octants != 0;
             octants &= octants - 1) {
            const int octant = __builtin_ctz(octants);
            const float x[3] = { side * ((float)lane + 0.25f + 0.5f * (float)(octant & 1)),
                                 side * (0.25f + 0.5f * (float)(octant >> 1 & 1)),
                                 side * (0.25f + 0.5f * (float)(octant >> 2)) };
            if (is_hole(around, lane, x, hole * hole)) {
                hollow |= 1u << lane;
                break;
            }
        }
    }
    return hollow;
}

/* Cells of a row with a hole in them or in one of the 26 cells around. */
static unsigned cells_near_holes(const Spread *spread, int32_t row)
{
    const WadiRows *rows = &spread->in->grid->rows;
    unsigned near = 0;
    for (int n = 0; n < ROWS_AROUND; ++n) {
        const int32_t at = row_around(rows, row, n);
        const unsigned own = spread->hollow[at];
        near |= own | own << 1 | own >> 1 | spread->hollow[rows->neighbour[at][0]] >> 7 |
                (spread->hollow[rows->neighbour[at][1]] & 1u) << 7;
    }
    return near & 0xff;
}

static void spread_row(const Spread *spread, int32_t row, int32_t occupied, Around *around)
{
    const WadiFlipSpreadIn *in = spread->in;
    WadiFlipPath *path = spread->path;
    const unsigned cells = in->sort->lanes[occupied] & cells_near_holes(spread, row);
    if (cells == 0) {
        return;
    }
    gather_around(in, row, around);
    for (unsigned left = cells; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const int32_t first = in->sort->cell_start[8 * (size_t)occupied + (size_t)lane];
        for (int32_t k = around->start[4][lane + 1]; k < around->start[4][lane + 2]; ++k) {
            const int32_t i = first + k - around->start[4][lane + 1];
            if (!in->is_spread[in->particles->material[i]]) {
                continue;
            }
            Push push = { 0 };
            for (int n = 0; n < ROWS_AROUND; ++n) {
                add_pushes(around, k, around->start[n][lane], around->start[n][lane + 3], &push);
            }
            const WadiVec3 sum = sum_of(&push);
            const double length = in->push_fraction * wadi_norm(sum);
            const double scale =
                in->diameter * in->push_fraction * (length > LARGEST_MOVE ? LARGEST_MOVE / length : 1.0);
            path->x[i - path->first] += scale * sum.x;
            path->y[i - path->first] += scale * sum.y;
            path->z[i - path->first] += scale * sum.z;
        }
    }
}

typedef void (*RowWork)(const Spread *spread, int32_t row, int32_t occupied, Around *around);

static void find_holes_in_row(const Spread *spread, int32_t row, int32_t occupied, Around *around)
{
    (void)occupied;
    const unsigned inner = inner_cells(spread->in, row);
    if (inner != 0) {
        gather_around(spread->in, row, around);
        spread->hollow[row] = (uint8_t)hollow_cells(spread->in, around, inner);
    }
}

static void for_rows(const Spread *spread, int64_t first, int64_t end, RowWork work)
{
    const WadiTileSort *sort = spread->in->sort;
    const WadiFlipGrid *grid = spread->in->grid;
    Around around;
    memset(around.x, 0, sizeof around.x); /* the last vector of a sum may extend past the particles */
    memset(around.y, 0, sizeof around.y);
    memset(around.z, 0, sizeof around.z);
    for (int64_t t = first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row = wadi_rows_at(&grid->rows, grid->tile_of[t], __builtin_ctzll(left));
            work(spread, row, occupied, &around);
        }
    }
}

static void find_holes(void *user, int64_t first, int64_t end)
{
    for_rows(user, first, end, find_holes_in_row);
}

static void spread_tiles(void *user, int64_t first, int64_t end)
{
    for_rows(user, first, end, spread_row);
}

WadiStatus wadi_flip_spread(const WadiFlipSpreadIn *in, WadiFlipPath *path, WadiArena *scratch,
                            WadiError *error)
{
    Spread spread = { .in = in, .path = path };
    const size_t rows = (size_t)in->grid->rows.count;
    WADI_TRY(WADI_ARENA_NEW(scratch, &spread.hollow, rows, "holes", error));
    memset(spread.hollow, 0, rows);
    wadi_parallel_for(in->sort->tiles.count, TILE_BLOCK, find_holes, &spread);
    wadi_parallel_for(in->sort->tiles.count, TILE_BLOCK, spread_tiles, &spread);
    return WADI_OK;
}
