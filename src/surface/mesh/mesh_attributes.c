/* Interpolates the particles' attributes to the vertices of a surface: sum k_i a_i / sum k_i, k = max(0, 1 -
 * s^2)^3, s = |x - x_i| / R_i.
 * Source: [ZB05 eqs 8, 10], the weights of the field.
 *
 * Consecutive vertices are close to each other, so that a group of them shares one query of the bins: the
 * particles whose support meets the group's box are copied into columns, and each vertex sums over the
 * columns eight at a time. Sums are of differences from one particle of the group, so that a value common to
 * all particles is reproduced exactly.
 *
 * A vertex outside all supports gets the values of the nearest particle, found by growing the query. */
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/mesh/surface_mesh.h"

enum {
    VERTEX_BLOCK = 2048,
    GROUP = 64,  /* vertices, at most */
    CHUNK = 256, /* particles at once; a multiple of 8 */
    COLUMNS = 8  /* components at once */
};

/* One component of one attribute. */
typedef struct Column {
    const float *from; /* of the cloud */
    float *to;         /* of the vertices */
    int stride;
} Column;

typedef struct Gather {
    const WadiCloud *cloud;
    const WadiBins *bins;
    const WadiMesh *mesh;
    const Column *column;
    int column_count;
    double group_width; /* m */
} Gather;

/* Vertices [first, first + count), relative to `origin`. */
typedef struct Group {
    size_t first;
    int count;
    WadiVec3 origin;
    float high[3]; /* high corner of its box; the low corner is the origin */
    float at[GROUP][3];
} Group;

/* A chunk of particles that affect the group, and the sums over all chunks before. */
typedef struct Sums {
    const Column *column;
    int columns, particles;
    bool has_base;
    float base[COLUMNS];
    _Alignas(32) float x[3][CHUNK], inverse[CHUNK]; /* 1 / R^2 */
    _Alignas(32) float value[COLUMNS][CHUNK];       /* minus base */
    double weight[GROUP], sum[GROUP][COLUMNS];
} Sums;

/* The longest run of vertices from `first` on that fits into a box of the group's width. */
static void next_group(const Gather *gather, size_t first, size_t end, Group *group)
{
    const WadiVec3 *vertices = gather->mesh->vertices;
    WadiBox box = { vertices[first], vertices[first] };
    int count = 1;
    while (count < GROUP && first + (size_t)count < end) {
        WadiBox grown = wadi_box_add_point(box, vertices[first + (size_t)count]);
        WadiVec3 size = wadi_box_size(grown);
        if (size.x > gather->group_width || size.y > gather->group_width || size.z > gather->group_width) {
            break;
        }
        box = grown;
        ++count;
    }
    WadiVec3 size = wadi_box_size(box);
    *group = (Group){ .first = first, .count = count, .origin = box.min };
    group->high[0] = (float)size.x;
    group->high[1] = (float)size.y;
    group->high[2] = (float)size.z;
    for (int v = 0; v < count; ++v) {
        WadiVec3 at = wadi_sub(vertices[first + (size_t)v], box.min);
        group->at[v][0] = (float)at.x;
        group->at[v][1] = (float)at.y;
        group->at[v][2] = (float)at.z;
    }
}

static float add_lanes(const WadiF8 *lanes)
{
    WadiF4 four = WADI_ROW_LOW(*lanes) + WADI_ROW_HIGH(*lanes);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Adds the chunk's particles to the sums of every vertex of the group, and empties the chunk. */
static void add_particles(const Group *group, Sums *sums)
{
    int count = sums->particles;
    for (; count % 8 != 0; ++count) {
        sums->x[0][count] = 1e15f;
        sums->x[1][count] = sums->x[2][count] = 0.0f;
        sums->inverse[count] = 1.0f;
        for (int c = 0; c < sums->columns; ++c) {
            sums->value[c][count] = 0.0f;
        }
    }
    sums->particles = 0;
    for (int v = 0; v < group->count; ++v) {
        const float *at = group->at[v];
        _Alignas(32) float weight[CHUNK];
        WadiF8 total = { 0 };
        for (int n = 0; n < count; n += 8) {
            WadiF8 dx = *(const WadiF8 *)&sums->x[0][n] - at[0];
            WadiF8 dy = *(const WadiF8 *)&sums->x[1][n] - at[1];
            WadiF8 dz = *(const WadiF8 *)&sums->x[2][n] - at[2];
            WadiF8 u = 1.0f - (dx * dx + dy * dy + dz * dz) * *(const WadiF8 *)&sums->inverse[n];
            u = (WadiF8)((WadiI8)u & (u > 0.0f));
            u = u * u * u;
            total += u;
            *(WadiF8 *)&weight[n] = u;
        }
        sums->weight[v] += (double)add_lanes(&total);
        for (int c = 0; c < sums->columns; ++c) {
            WadiF8 sum = { 0 };
            for (int n = 0; n < count; n += 8) {
                sum += *(const WadiF8 *)&weight[n] * *(const WadiF8 *)&sums->value[c][n];
            }
            sums->sum[v][c] += (double)add_lanes(&sum);
        }
    }
}

/* Distance between [x, x + width] and [0, high]. */
static float gap(float x, float width, float high)
{
    float above = x - high, below = -(x + width);
    float larger = above > below ? above : below;
    return larger > 0.0f ? larger : 0.0f;
}

/* Adds the particles of a bin whose support meets the group's box. */
static void add_bin(const Gather *gather, const WadiBinSpan *span, const Group *group, Sums *sums)
{
    WadiVec3 shift = wadi_sub(span->corner, group->origin);
    float sx = (float)shift.x, sy = (float)shift.y, sz = (float)shift.z;
    float width = (float)gather->bins->level[span->level].cell_size;
    float gx = gap(sx, width, group->high[0]), gy = gap(sy, width, group->high[1]);
    float gz = gap(sz, width, group->high[2]);
    if (gx * gx + gy * gy + gz * gz > width * width) {
        return;
    }
    for (int32_t n = span->first; n < span->end; ++n) {
        const float *point = gather->bins->point[n];
        float x = point[0] + sx, y = point[1] + sy, z = point[2] + sz, square = point[3] * point[3];
        float dx = gap(x, 0.0f, group->high[0]), dy = gap(y, 0.0f, group->high[1]);
        float dz = gap(z, 0.0f, group->high[2]);
        if (dx * dx + dy * dy + dz * dz >= square) {
            continue;
        }
        int to = sums->particles++;
        int32_t particle = gather->bins->order[n];
        sums->x[0][to] = x;
        sums->x[1][to] = y;
        sums->x[2][to] = z;
        sums->inverse[to] = 1.0f / square;
        for (int c = 0; c < sums->columns; ++c) {
            float value = sums->column[c].from[(size_t)sums->column[c].stride * (size_t)particle];
            sums->base[c] = sums->has_base ? sums->base[c] : value;
            sums->value[c][to] = value - sums->base[c];
        }
        sums->has_base = true;
        if (sums->particles == CHUNK) {
            add_particles(group, sums);
        }
    }
}

/* The particle nearest to x. `guess`, any particle, bounds the search. */
static int32_t find_nearest(const Gather *gather, WadiVec3 x, int32_t guess)
{
    const WadiBins *bins = gather->bins;
    int32_t nearest = guess;
    double best = wadi_norm(wadi_sub(gather->cloud->position[guess], x));
    double radius = bins->level[bins->level_count - 1].cell_size;
    bool is_found = false;
    while (!is_found) {
        radius = fmin(radius, best);
        WadiBox box = wadi_box_grown((WadiBox){ x, x }, radius);
        WadiBinWalk walk = wadi_bins_walk(bins, box);
        for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
            for (int32_t n = span.first; n < span.end; ++n) {
                int32_t i = bins->order[n];
                double distance = wadi_norm(wadi_sub(gather->cloud->position[i], x));
                if (distance < best || (distance == best && i < nearest)) {
                    best = distance;
                    nearest = i;
                }
            }
        }
        is_found = best <= radius;
        radius *= 2.0;
    }
    return nearest;
}

static void write_values(const Gather *gather, const Group *group, const Sums *sums, int32_t *nearest)
{
    for (int v = 0; v < group->count; ++v) {
        size_t vertex = group->first + (size_t)v;
        bool is_covered = sums->weight[v] > 0.0;
        if (!is_covered) {
            *nearest = find_nearest(gather, gather->mesh->vertices[vertex], *nearest);
        }
        for (int c = 0; c < sums->columns; ++c) {
            const Column *column = &sums->column[c];
            column->to[(size_t)column->stride * vertex] =
                is_covered ? (float)((double)sums->base[c] + sums->sum[v][c] / sums->weight[v])
                           : column->from[(size_t)column->stride * (size_t)*nearest];
        }
    }
}

static void gather_block(void *context, int64_t first, int64_t end)
{
    const Gather *gather = context;
    int32_t nearest = gather->bins->order[0];
    Group group;
    for (size_t vertex = (size_t)first; vertex < (size_t)end; vertex += (size_t)group.count) {
        next_group(gather, vertex, (size_t)end, &group);
        WadiBox box = { group.origin,
                        wadi_add(group.origin, wadi_vec3((double)group.high[0], (double)group.high[1],
                                                         (double)group.high[2])) };
        for (int c = 0; c < gather->column_count; c += COLUMNS) {
            int left = gather->column_count - c;
            Sums sums;
            sums.column = gather->column + c;
            sums.columns = left < COLUMNS ? left : COLUMNS;
            sums.particles = 0;
            sums.has_base = false;
            memset(sums.weight, 0, sizeof sums.weight);
            memset(sums.sum, 0, sizeof sums.sum);
            WadiBinWalk walk = wadi_bins_walk(gather->bins, box);
            for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
                add_bin(gather, &span, &group, &sums);
            }
            add_particles(&group, &sums);
            write_values(gather, &group, &sums, &nearest);
        }
    }
}

static void drop_attributes(WadiSurfaceMesh *surface)
{
    for (int a = 0; a < surface->attribute_count; ++a) {
        WadiCloudAttribute *attribute = &surface->attribute[a];
        WADI_DELETE(attribute->values, surface->mesh.vertex_count * (size_t)attribute->components);
        *attribute = (WadiCloudAttribute){ 0 };
    }
    surface->attribute_count = 0;
}

static WadiStatus add_attributes(WadiSurfaceMesh *surface, const WadiCloud *cloud, WadiError *error)
{
    for (int a = 0; a < cloud->attribute_count; ++a) {
        WadiCloudAttribute *to = &surface->attribute[a];
        *to = cloud->attribute[a];
        to->values = NULL;
        surface->attribute_count = a + 1;
        size_t count = surface->mesh.vertex_count * (size_t)to->components;
        WADI_TRY(WADI_NEW(&to->values, count, "surface attributes", error));
    }
    return WADI_OK;
}

WadiStatus wadi_surface_attributes(WadiSurfaceMesh *surface, const WadiCloud *cloud, const WadiBins *bins,
                                   WadiError *error)
{
    drop_attributes(surface);
    Column *columns = NULL;
    size_t column_count = 0;
    for (int a = 0; a < cloud->attribute_count; ++a) {
        column_count += (size_t)cloud->attribute[a].components;
    }
    WadiStatus status = add_attributes(surface, cloud, error);
    if (status == WADI_OK) {
        status = WADI_NEW(&columns, column_count, "surface attributes", error);
    }
    if (status != WADI_OK) {
        drop_attributes(surface);
        return status;
    }
    Gather gather = { .cloud = cloud, .bins = bins, .mesh = &surface->mesh, .column = columns };
    const bool has_both = cloud->count > 0 && surface->mesh.vertex_count > 0;
    for (int a = 0; has_both && a < cloud->attribute_count; ++a) {
        int components = cloud->attribute[a].components;
        for (int c = 0; c < components; ++c) {
            columns[gather.column_count++] =
                (Column){ cloud->attribute[a].values + c, surface->attribute[a].values + c, components };
        }
    }
    if (gather.column_count > 0) {
        gather.group_width = 3.0 * bins->level[bins->level_count - 1].cell_size;
        wadi_parallel_for((int64_t)surface->mesh.vertex_count, VERTEX_BLOCK, gather_block, &gather);
    }
    WADI_DELETE(columns, column_count);
    return WADI_OK;
}
