/* Moves the surface inwards or outwards, by the same distance everywhere, until it encloses the volume of its
 * particles [theory 10.2]. The distance is bounded, so that compressed particles or spray do not displace
 * still water.
 *
 * The volume is that of the nodes inside, each a cube of one cell. Of a cube at the surface only the part
 * counts that is below the plane through the field's value and gradient at the node. */
#include <math.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/field/field_band.h"

enum { ROW_BLOCK = 512, STEPS_MAX = 4 };

/* particles: with fewer, the volume depends on their positions in the lattice */
static const double MANY = 500.0;
static const double NEAR = 0.05;      /* relative error at which one more step is enough */
static const double STEP = 0.05;      /* cells, for the derivative of the volume */
static const double SLOPE_MIN = 0.01; /* lower bound of each slope, over their sum */

typedef struct VolumeJob {
    WadiField *field;
    const WadiFieldDef *def;
    double *area; /* per block: cells^3 removed per cell of displacement */
    float shift;  /* m, inward displacement of the surface */
} VolumeJob;

static inline double greater(double a, double b)
{
    return a > b ? a : b;
}

static inline double beyond(double x, double low, double high)
{
    return greater(low - x, x - high);
}

/* Largest distance of the row's nodes outside the box, m; negative inside. */
static double row_beyond(const VolumeJob *job, int32_t row)
{
    int32_t node[3];
    const WadiBox clip = job->def->clip;
    double cell = job->field->cell;
    wadi_rows_cell(&job->field->rows, row, node);
    double ends = greater(clip.min.x - node[0] * cell, (node[0] + 7) * cell - clip.max.x);
    return greater(ends, greater(beyond(node[1] * cell, clip.min.y, clip.max.y),
                                 beyond(node[2] * cell, clip.min.z, clip.max.z)));
}

static inline unsigned signs_of(const float value[8])
{
    WadiI8 is_below = WADI_ROW(value, 0) < 0.0f;
    return wadi_row_bits(&is_below);
}

/* True when a node of the row differs in sign from a neighbour, walls ignored. A quick test: most rows have
 * no crossing. */
static bool has_crossing(const WadiField *field, int32_t row)
{
    const int32_t *neighbour = field->rows.neighbour[row];
    unsigned below = signs_of(field->value + 8 * (size_t)row);
    bool is_mixed = below != 0 && below != 0xff;
    for (int s = 0; s < 6 && !is_mixed; ++s) {
        unsigned other = signs_of(field->value + 8 * (size_t)neighbour[s]);
        unsigned lanes = s == WADI_ROW_X_MIN ? 0x80 : s == WADI_ROW_X_MAX ? 0x01 : 0xff;
        is_mixed = neighbour[s] != 0 && ((below ^ other) & lanes) != 0;
    }
    return is_mixed;
}

/* A row after clipping; `own` marks the lanes whose value is the field's. */
static void load_row(const VolumeJob *job, int32_t row, float value[WADI_ROW_CELLS], unsigned *own)
{
    const WadiField *field = job->field;
    const WadiBox clip = job->def->clip;
    double cell = field->cell;
    *own = 0xff;
    WADI_ROW_OUT(value, 0) = WADI_ROW(field->value, row);
    if (!job->def->is_clipped || row == 0) {
        return;
    }
    int32_t node[3];
    wadi_rows_cell(&field->rows, row, node);
    double side = greater(beyond(node[1] * cell, clip.min.y, clip.max.y),
                          beyond(node[2] * cell, clip.min.z, clip.max.z));
    double ends = greater(clip.min.x - node[0] * cell, (node[0] + 7) * cell - clip.max.x);
    if (greater(side, ends) < -2.0 * cell) {
        return; /* too deep inside for the box to matter */
    }
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        float distance = (float)greater(side, beyond((node[0] + l) * cell, clip.min.x, clip.max.x));
        if (distance >= value[l]) {
            value[l] = distance;
            *own &= ~(1U << l);
        }
    }
}

static inline double cube_of(double x)
{
    return x > 0.0 ? x * x * x : 0.0;
}

/* Fraction of a unit cube where value + slope . x < 0, x from its centre. */
static double part_below(double value, const double slope[3])
{
    double a = slope[0], b = slope[1], c = slope[2], all = a + b + c, d = 0.5 * all - value;
    d = d < 0.0 ? 0.0 : d > all ? all : d;
    double sum = cube_of(d) - cube_of(d - a) - cube_of(d - b) - cube_of(d - c) + cube_of(d - a - b) +
                 cube_of(d - a - c) + cube_of(d - b - c) - cube_of(d - all);
    return sum / (6.0 * a * b * c);
}

/* A row with its neighbours: side[2 a] and side[2 a + 1] are the previous and next nodes along axis a, or the
 * row itself at the border of the band. */
typedef struct Around {
    float value[8], side[6][8];
    unsigned own; /* lanes whose value is the field's, not the box's */
} Around;

static void load_around(const VolumeJob *job, int32_t row, Around *around)
{
    const int32_t *neighbour = job->field->rows.neighbour[row];
    unsigned unused;
    load_row(job, row, around->value, &around->own);
    for (int s = 0; s < 6; ++s) {
        load_row(job, neighbour[s] != 0 ? neighbour[s] : row, around->side[s], &unused);
    }
    WadiF8 own = WADI_ROW(around->value, 0), before = WADI_ROW(around->side[0], 0),
           after = WADI_ROW(around->side[1], 0);
    before[7] = neighbour[WADI_ROW_X_MIN] != 0 ? before[7] : own[0];
    after[0] = neighbour[WADI_ROW_X_MAX] != 0 ? after[0] : own[7];
    WADI_ROW_OUT(around->side[0], 0) = WADI_ROW_SHIFT_UP(before, own);
    WADI_ROW_OUT(around->side[1], 0) = WADI_ROW_SHIFT_DOWN(own, after);
}

/* Sum of the nodes inside, from the positions of the crossings along x, with fractions for the cubes at the
 * surface. */
static double sum_rows(void *context, int64_t first, int64_t end)
{
    const VolumeJob *job = context;
    double per_cell = 1.0 / job->field->cell, sum = 0.0, area = 0.0;
    for (int64_t r = first > 0 ? first : 1; r < end; ++r) {
        bool is_walled = job->def->is_clipped && row_beyond(job, (int32_t)r) > -3.0 * job->field->cell;
        if (!is_walled && !has_crossing(job->field, (int32_t)r)) {
            continue;
        }
        Around around;
        load_around(job, (int32_t)r, &around);
        unsigned below = signs_of(around.value), near = 0;
        for (int s = 0; s < 6; ++s) {
            near |= below ^ signs_of(around.side[s]);
        }
        int32_t node[3];
        wadi_rows_cell(&job->field->rows, (int32_t)r, node);
        for (unsigned left = below ^ signs_of(around.side[1]); left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            sum += (below >> l & 1) != 0 ? node[0] + l + 1.0 : -(node[0] + l + 1.0);
        }
        for (; near != 0; near &= near - 1) {
            int l = __builtin_ctz(near);
            double slope[3], all = 0.0, value = (double)around.value[l] * per_cell;
            for (int a = 0; a < 3; ++a) {
                double change = (double)around.side[2 * a + 1][l] - (double)around.side[2 * a][l];
                slope[a] = 0.5 * per_cell * fabs(change);
                all += slope[a];
            }
            for (int a = 0; a < 3; ++a) {
                slope[a] = fmax(slope[a], SLOPE_MIN * all + 1e-9);
            }
            double part = part_below(value, slope);
            sum += part - (double)(below >> l & 1);
            area += (around.own >> l & 1) != 0 ? (part - part_below(value + STEP, slope)) / STEP : 0.0;
        }
    }
    job->area[first / ROW_BLOCK] = area;
    return sum;
}

static void shift_rows(void *context, int64_t first, int64_t end)
{
    const VolumeJob *job = context;
    for (int64_t r = first > 0 ? first : 1; r < end; ++r) {
        WadiF8 old = WADI_ROW(job->field->value, r), fresh = old + job->shift;
        wadi_field_change(job->field, (int32_t)r, &old, &fresh);
    }
}

WadiStatus wadi_field_match_volume(WadiField *field, const WadiFieldDef *def, double volume, double spacing,
                                   WadiArena *arena, WadiError *error)
{
    if ((def->volume_slack[0] <= 0.0 && def->volume_slack[1] <= 0.0) || field->rows.count <= 1) {
        return WADI_OK;
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    VolumeJob job = { .field = field, .def = def };
    size_t blocks = (size_t)wadi_parallel_block_count(field->rows.count, ROW_BLOCK);
    double *partials;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, blocks, "volume", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.area, blocks, "volume", error));
    double cell = field->cell, wanted = volume / (cell * cell * cell), moved = 0.0;
    double limit = fmin(volume / (MANY * spacing * spacing * spacing), 1.0) * spacing;
    /* Newton steps; one is enough unless most of the volume is near the surface. */
    for (int n = 0; n < STEPS_MAX; ++n) {
        double found = wadi_parallel_sum(field->rows.count, ROW_BLOCK, sum_rows, &job, partials), area = 0.0;
        for (size_t b = 0; b < blocks; ++b) {
            area += job.area[b];
        }
        double to = moved + (area > 0.0 ? (found - wanted) / area * cell : 0.0);
        to = fmax(-limit * def->volume_slack[1], fmin(to, limit * def->volume_slack[0]));
        job.shift = (float)(to - moved);
        moved = to;
        wadi_parallel_for(field->rows.count, ROW_BLOCK, shift_rows, &job);
        if (fabs(found - wanted) < NEAR * wanted) {
            break;
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
