/* Marching cubes over the rows of a band: the field's zero as triangles. [LC87], with the cases of
 * march_table.c.
 *
 * Three passes over the rows: which nodes are inside; which edges are crossed, with counts per block of rows;
 * then vertices and triangles, each block at its offset. A vertex belongs to a lattice edge and is found by
 * counting bits (march.h), so that cells, rows and tiles share it without a search. The cost is proportional
 * to the rows of the band.
 *
 * An edge into a row that does not exist is not crossed (field.h: the node there has the sign of its
 * neighbour), and a cell with such a corner has no triangle. */
#include "surface/mesh/march.h"

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"
#include "surface/mesh/march_table.h"

/* The eight cells whose low nodes are those of a row. */
typedef struct CellRow {
    int32_t row[8];   /* at y + 2 z, then the next four along x */
    unsigned bits[4]; /* inside bits of the row and of the first node of the next: nine bits */
    unsigned active;  /* cells that the surface crosses */
} CellRow;

static void mark_inside(void *context, int64_t first, int64_t end)
{
    WadiMarch *march = context;
    for (int64_t row = first; row < end; ++row) {
        WadiI8 is_negative = WADI_ROW(march->field->value, row) < 0.0f;
        march->inside[row] = (uint8_t)wadi_row_bits(&is_negative);
    }
    if (first == 0) {
        march->inside[0] = 0;
    }
}

/* Moves bit `lane` to bit 3 lane. */
static uint32_t spread_bits(uint32_t bits)
{
    bits = (bits | bits << 8) & 0x00f00f;
    bits = (bits | bits << 4) & 0x0c30c3;
    return (bits | bits << 2) & 0x249249;
}

static uint32_t crossed_edges(const WadiMarch *march, int32_t row)
{
    const int32_t *neighbour = march->field->rows.neighbour[row];
    int32_t x = neighbour[WADI_ROW_X_MAX], y = neighbour[WADI_ROW_Y_MAX], z = neighbour[WADI_ROW_Z_MAX];
    unsigned own = march->inside[row];
    unsigned after = x > 0 ? (unsigned)march->inside[x] << 7 & 0x80 : own & 0x80;
    unsigned along_y = y > 0 ? own ^ march->inside[y] : 0;
    unsigned along_z = z > 0 ? own ^ march->inside[z] : 0;
    return spread_bits(own ^ (own >> 1 | after)) | spread_bits(along_y) << 1 | spread_bits(along_z) << 2;
}

static void find_cells(const WadiMarch *march, int32_t row, CellRow *cells)
{
    const WadiRows *rows = &march->field->rows;
    int32_t y = rows->neighbour[row][WADI_ROW_Y_MAX], z = rows->neighbour[row][WADI_ROW_Z_MAX];
    cells->row[0] = row;
    cells->row[1] = y;
    cells->row[2] = z;
    cells->row[3] = y > 0 ? rows->neighbour[y][WADI_ROW_Z_MAX] : 0;
    cells->active = 0;
    if (y == 0 || z == 0 || cells->row[3] == 0) {
        return;
    }
    unsigned any = 0, all = 0x1ff, whole = 0xff;
    for (int n = 0; n < 4; ++n) {
        int32_t after = rows->neighbour[cells->row[n]][WADI_ROW_X_MAX];
        cells->row[n + 4] = after;
        cells->bits[n] = march->inside[cells->row[n]] | (march->inside[after] & 1u) << 8;
        whole &= after > 0 ? 0xff : 0x7f;
        any |= cells->bits[n];
        all &= cells->bits[n];
    }
    cells->active = (any | any >> 1) & ~(all & all >> 1) & whole;
}

static unsigned cell_case(const CellRow *cells, int lane)
{
    return (cells->bits[0] >> lane & 3) | (cells->bits[1] >> lane & 3) << 2 |
           (cells->bits[2] >> lane & 3) << 4 | (cells->bits[3] >> lane & 3) << 6;
}

static void count_block(void *context, int64_t first, int64_t end)
{
    WadiMarch *march = context;
    const WadiMarchCase *table = wadi_march_table();
    int64_t vertices = 0, triangles = 0;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        march->crossed[row] = row > 0 ? crossed_edges(march, row) : 0;
        vertices += __builtin_popcount(march->crossed[row]);
        if (row == 0) {
            continue;
        }
        CellRow cells;
        find_cells(march, row, &cells);
        for (unsigned left = cells.active; left != 0; left &= left - 1) {
            triangles += table[cell_case(&cells, __builtin_ctz(left))].count;
        }
    }
    march->vertices[first / WADI_ROW_BLOCK] = vertices;
    march->triangles[first / WADI_ROW_BLOCK] = triangles;
}

static void write_vertices(void *context, int64_t first, int64_t end)
{
    WadiMarch *march = context;
    uint32_t next = (uint32_t)march->vertices[first / WADI_ROW_BLOCK];
    for (int64_t row = first; row < end; ++row) {
        march->start[row] = next;
        next += (uint32_t)__builtin_popcount(march->crossed[row]);
    }
    wadi_march_place_vertices(march, (int32_t)first, (int32_t)end);
}

static void write_triangles(void *context, int64_t first, int64_t end)
{
    const WadiMarch *march = context;
    const WadiMarchCase *table = wadi_march_table();
    uint32_t(*next)[3] = march->surface->mesh.triangles + march->triangles[first / WADI_ROW_BLOCK];
    for (int32_t row = (int32_t)(first > 0 ? first : 1); row < end; ++row) {
        CellRow cells;
        find_cells(march, row, &cells);
        for (unsigned left = cells.active; left != 0; left &= left - 1) {
            int lane = __builtin_ctz(left);
            const WadiMarchCase *of = &table[cell_case(&cells, lane)];
            for (int n = 0; n < of->count; ++n, ++next) {
                for (int v = 0; v < 3; ++v) {
                    int edge = of->edge[n][v], corner = wadi_march_edge_corner(edge);
                    int at = lane + (corner & 1);
                    int32_t from = cells.row[(corner >> 1) + (at & 8) / 2];
                    (*next)[v] = wadi_march_vertex(march, from, at & 7, edge >> 2);
                }
            }
        }
    }
}

static int64_t starts_from_counts(int64_t *counts, int64_t n)
{
    int64_t total = 0;
    for (int64_t b = 0; b < n; ++b) {
        int64_t count = counts[b];
        counts[b] = total;
        total += count;
    }
    return total;
}

static WadiStatus march_rows(WadiMarch *march, WadiArena *arena, WadiError *error)
{
    int64_t rows = march->field->rows.count, blocks = wadi_parallel_block_count(rows, WADI_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(arena, &march->inside, (size_t)rows, "surface rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &march->crossed, (size_t)rows, "surface rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &march->start, (size_t)rows, "surface rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &march->vertices, (size_t)blocks, "surface rows", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &march->triangles, (size_t)blocks, "surface rows", error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, mark_inside, march);
    wadi_parallel_for(rows, WADI_ROW_BLOCK, count_block, march);
    int64_t vertices = starts_from_counts(march->vertices, blocks);
    int64_t triangles = starts_from_counts(march->triangles, blocks);
    if (triangles > WADI_MESH_TRIANGLES_MAX || vertices > UINT32_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the surface would have %lld triangles, at most %d are possible: "
                         "choose cells larger than %g m",
                         (long long)triangles, WADI_MESH_TRIANGLES_MAX, march->field->cell);
    }
    WadiSurfaceMesh *surface = march->surface;
    WADI_TRY(WADI_NEW(&surface->mesh.vertices, (size_t)vertices, "surface vertices", error));
    surface->mesh.vertex_count = (size_t)vertices;
    WADI_TRY(WADI_NEW(&surface->normal, (size_t)vertices, "surface normals", error));
    WADI_TRY(WADI_NEW(&surface->mesh.triangles, (size_t)triangles, "surface triangles", error));
    surface->mesh.triangle_count = (size_t)triangles;
    wadi_parallel_for(rows, WADI_ROW_BLOCK, write_vertices, march);
    if (triangles > 0) {
        wadi_parallel_for(rows, WADI_ROW_BLOCK, write_triangles, march);
    }
    return WADI_OK;
}

WadiStatus wadi_surface_march(WadiSurfaceMesh *surface, const WadiField *field, WadiArena *arena,
                              WadiError *error)
{
    *surface = (WadiSurfaceMesh){ .cell = field->cell };
    if (field->rows.count <= 1) {
        return WADI_OK;
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiMarch march = { .field = field, .surface = surface };
    WadiStatus status = march_rows(&march, arena, error);
    wadi_arena_release(arena, mark);
    if (status != WADI_OK) {
        wadi_surface_mesh_free(surface);
    }
    return status;
}
