/* Removes the particles' bumps where the surface is otherwise a plane or slightly curved [theory 10.5].
 *
 * Each small cube of the lattice gets averages of the surface around it, over `flatten` spacings: position,
 * normal and curvature, which is a parabolic cap. The field becomes the distance from the nearby caps, with
 * weights that sum to one [OBATS03] and are reduced
 * - where their normals disagree: rims, crests and edges;
 * - where the surface ends: drops, threads and the borders of sheets;
 * - with distance, by Tukey's biweight: a drop above the surface has no effect, and nothing moves far;
 * - with curvature. The curvature of a nearly flat cap is noise and is dropped. Thin sheets, voids below the
 *   surface and gaps at walls are left out (field_patches.c). Caps that agree with one plane over eight times
 *   the length become that plane (field_wide.c). */
#include <math.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/field/field_band.h"
#include "surface/field/field_caps.h"

enum { TILE_BLOCK = 16, CUBES_MAX = 6 * 6 * 6 };

static const double CUBE = 1.6; /* spacings: intended side of a cube */
static const float FAR = 2.5f;  /* spacings: a cap this far away has no weight */
/* Ramps from no to full weight: by the length of the mean normal; by the mean square distance of the averaged
 * surface over that of an unbounded plane. From full to no weight: by the cap's height over its mean,
 * spacings. */
static const float AGREE[2] = { 0.8f, 0.9f }, WIDE[2] = { 0.6f, 0.8f }, CURVED[2] = { 0.3f, 0.6f };
static const float BENT[2] = { 0.05f, 0.15f }; /* spacings: from noise to curvature, by the same height */

typedef struct FlattenJob {
    WadiField *field;
    WadiPatches patches;
    WadiCap *cap;
    float spacing; /* cells */
    float spread;  /* variance of the weights along one direction, cells^2 */
} FlattenJob;

/* Mean square distance over that without a wall, at `off` standard deviations from the wall: the averages are
 * reflected there. */
static double spread_by_wall(double off)
{
    if (!(off < 3.0)) {
        return 1.0;
    }
    off = fmax(off, 0.0);
    double folded = 0.7978845608028654 * exp(-0.5 * off * off) + off * erf(off * 0.7071067811865476);
    return 1.0 + 2.0 * off * (off - folded);
}

/* The mean square distance for a plane through a patch, bounded by the walls. */
static float plane_spread(const FlattenJob *job, int32_t patch, const float normal[3])
{
    const WadiPatches *p = &job->patches;
    WadiTile cube = p->cube[patch];
    double size = 1 << p->shift, middle = 0.5 * (size - 1.0), per = 1.0 / sqrt((double)job->spread),
           sum = 0.0;
    const double at[3] = { cube.x * size + middle, cube.y * size + middle, cube.z * size + middle };
    for (int a = 0; a < 3; ++a) {
        double flat = 1.0 - (double)(normal[a] * normal[a]);
        sum += flat * spread_by_wall((at[a] - wadi_component(p->within.min, a)) * per) *
               spread_by_wall((wadi_component(p->within.max, a) - at[a]) * per);
    }
    return (float)sum * job->spread;
}

static void make_caps(void *context, int64_t first, int64_t end)
{
    FlattenJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        const float *mean = job->patches.mean[n], *normal = mean + 3;
        float length = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        WadiCap cap = { 0 };
        if (job->patches.area[n] > 0.0f) {
            float spread = plane_spread(job, (int32_t)n, normal);
            cap.weight = wadi_cap_ramp(length, AGREE) * wadi_cap_ramp(mean[7] / spread, WIDE);
        }
        if (cap.weight > 0.0f) {
            float along = normal[0] * mean[0] + normal[1] * mean[1] + normal[2] * mean[2];
            /* On a parabola n . x changes by twice the height. */
            float height = 0.5f * (mean[6] - along), ratio = fabsf(height) / job->spacing;
            cap.weight *= 1.0f - wadi_cap_ramp(ratio, CURVED);
            height *= wadi_cap_ramp(ratio, BENT);
            cap.level = along / length + height;
            cap.bend = 0.5f * height / job->spread;
            for (int a = 0; a < 3; ++a) {
                cap.normal[a] = normal[a] / length;
                cap.middle[a] = mean[a];
            }
        }
        job->cap[n] = cap;
    }
}

/* Patches that affect a tile: those of its cubes and of one more on every side. */
static bool find_caps(const FlattenJob *job, int64_t tile, int32_t found[CUBES_MAX])
{
    int side = (8 >> job->patches.shift) + 2;
    bool has_any = false;
    for (int n = 0; n < side * side * side; ++n) {
        int32_t patch = wadi_patch_at(&job->patches, (int32_t)tile, n % side - 1, n / side % side - 1,
                                      n / (side * side) - 1);
        found[n] = patch;
        has_any = has_any || (patch >= 0 && job->cap[patch].weight > 0.0f);
    }
    return has_any;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Adds one cap's contribution to a row. `weight` is the cap's weight at the row's y and z, (dy, dz) the row
 * relative to the centre of the cap's cube, x that centre in the tile. */
static inline __attribute__((always_inline)) void add_cap(const WadiCap *cap, const WadiF8 *value, float x,
                                                          float dy, float dz, float weight,
                                                          float inverse_size, float inverse_far, WadiF8 *sum,
                                                          WadiF8 *total)
{
    WadiF8 dx = LANE - x, off = dx * inverse_size;
    off = WADI_ROW_SELECT(off < 0.0f, -off, off);
    WadiF8 t = 1.0f - off;
    t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 }) * weight;
    WadiF8 along = dx * cap->normal[0] + (dy * cap->normal[1] + dz * cap->normal[2]);
    WadiF8 rx = dx - cap->middle[0];
    float ry = dy - cap->middle[1], rz = dz - cap->middle[2];
    WadiF8 distance = along - cap->level;
    distance += cap->bend * (rx * rx + (ry * ry + rz * rz) - distance * distance);
    WadiF8 change = distance - *value, ratio = change * inverse_far;
    WadiF8 tukey = 1.0f - ratio * ratio;
    tukey = WADI_ROW_SELECT(tukey > 0.0f, tukey, (WadiF8){ 0 });
    *sum += t * cap->weight * change * (tukey * tukey);
    *total += t;
}

static void flatten_row(const FlattenJob *job, int32_t row, const int32_t *found)
{
    const WadiRows *rows = &job->field->rows;
    int shift = job->patches.shift, side = (8 >> shift) + 2, place = rows->index_in_tile[row];
    float size = (float)(1 << shift), middle = 0.5f * (size - 1.0f), inverse_size = 1.0f / size;
    float y = (float)(place & 7), z = (float)(place >> 3);
    int low_y = (int)floorf((y - middle) * inverse_size), low_z = (int)floorf((z - middle) * inverse_size);
    float per_cell = (float)(1.0 / job->field->cell), inverse_far = 1.0f / (FAR * job->spacing);
    WadiF8 old = WADI_ROW(job->field->value, row), value = old * per_cell, sum = { 0 }, total = { 0 };
    bool has_any = false;
    for (int n = 0; n < 4; ++n) {
        int by = low_y + (n & 1), bz = low_z + (n >> 1);
        float dy = y - (middle + size * (float)by), dz = z - (middle + size * (float)bz);
        float weight = (1.0f - fabsf(dy) * inverse_size) * (1.0f - fabsf(dz) * inverse_size);
        const int32_t *line = found + side * ((by + 1) + side * (bz + 1));
        for (int bx = 0; bx < side; ++bx) {
            if (line[bx] >= 0 && weight > 0.0f) {
                add_cap(&job->cap[line[bx]], &value, middle + size * (float)(bx - 1), dy, dz, weight,
                        inverse_size, inverse_far, &sum, &total);
                has_any = true;
            }
        }
    }
    if (!has_any) {
        return;
    }
    total = WADI_ROW_SELECT(total > 0.25f, total, (WadiF8){ 0 } + 0.25f);
    WadiF8 fresh = old + sum / total * (float)job->field->cell;
    wadi_field_change(job->field, row, &old, &fresh);
}

static void flatten_tiles(void *context, int64_t first, int64_t end)
{
    const FlattenJob *job = context;
    const WadiRows *rows = &job->field->rows;
    int32_t found[CUBES_MAX];
    for (int64_t t = first; t < end; ++t) {
        if (find_caps(job, t, found)) {
            for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
                flatten_row(job, r, found);
            }
        }
    }
}

double wadi_field_flatten_margin(double cell, double spacing)
{
    /* The largest change under Tukey's weight: x (1 - x^2)^2 at x^2 = 1/5. */
    return ceil(0.2862 * (double)FAR * spacing / cell);
}

WadiStatus wadi_field_flatten(WadiField *field, double length, double spacing, WadiBox within,
                              WadiArena *arena, WadiError *error)
{
    double cells = spacing / field->cell;
    int shift = (int)lround(log2(CUBE * cells));
    if (shift < 0 || length <= 0.0 || field->rows.count <= 1) {
        return WADI_OK; /* the cells do not resolve the bumps */
    }
    shift = shift < 1 ? 1 : shift > 3 ? 3 : shift;
    WadiArenaMark mark = wadi_arena_mark(arena);
    FlattenJob job = { .field = field, .spacing = (float)cells };
    WADI_TRY(wadi_patches_build(&job.patches, field, within, shift, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.cap, (size_t)job.patches.count, "caps of a surface", error));
    job.spread = (float)pow(wadi_patches_average(&job.patches, length * cells), 2.0);
    wadi_parallel_for(job.patches.count, 1024, make_caps, &job);
    WADI_TRY(wadi_caps_widen(job.cap, &job.patches, (double)sqrtf(job.spread), cells, arena, error));
    wadi_parallel_for(field->tiles.count, TILE_BLOCK, flatten_tiles, &job);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
