/* Clips the field at a box, the domain: the larger of the field and the distance to the box. The closed
 * surface then ends flat in the planes of the walls, wherever these lie between the nodes.
 *
 * The distance is that to the nearest plane: linear along a lattice edge, so that marching cubes finds its
 * zero exactly. */
#include "core/parallel.h"
#include "surface/field/field_band.h"

enum { ROW_BLOCK = 512 };

typedef struct ClipJob {
    WadiField *field;
    WadiBox box;
} ClipJob;

/* Positive outside [low, high]; computed from the nearer end in double, so that it is exact far from the
 * origin. */
static inline double beyond(double x, double low, double high)
{
    return fmax(low - x, x - high);
}

static void clip_rows(void *context, int64_t first, int64_t end)
{
    const ClipJob *job = context;
    const WadiRows *rows = &job->field->rows;
    double cell = job->field->cell;
    for (int64_t r = first > 0 ? first : 1; r < end; ++r) {
        int32_t node[3];
        wadi_rows_cell(rows, (int32_t)r, node);
        double side = fmax(beyond(node[1] * cell, job->box.min.y, job->box.max.y),
                           beyond(node[2] * cell, job->box.min.z, job->box.max.z));
        float *value = job->field->value + (size_t)WADI_ROW_CELLS * (size_t)r;
        for (int l = 0; l < WADI_ROW_CELLS; ++l) {
            float distance = (float)fmax(side, beyond((node[0] + l) * cell, job->box.min.x, job->box.max.x));
            value[l] = value[l] > distance ? value[l] : distance;
        }
    }
}

void wadi_field_clip(WadiField *field, WadiBox box)
{
    ClipJob job = { field, box };
    wadi_parallel_for(field->rows.count, ROW_BLOCK, clip_rows, &job);
}

/* Nodes along one axis of a tile, a bit each: strictly inside, strictly outside, and at most the margin
 * outside. */
typedef struct AxisBits {
    unsigned inside, outside, near;
} AxisBits;

static AxisBits axis_bits(double cell, int32_t tile, double low, double high, double margin)
{
    AxisBits bits = { 0 };
    for (int i = 0; i < 8; ++i) {
        float distance = (float)beyond((8.0 * tile + i) * cell, low, high);
        bits.inside |= (unsigned)(distance < 0.0f) << i;
        bits.outside |= (unsigned)(distance > 0.0f) << i;
        bits.near |= (unsigned)((double)distance <= margin) << i;
    }
    return bits;
}

static inline uint64_t lanes_to_word(unsigned bits)
{
    return bits * UINT64_C(0x0101010101010101);
}

static inline uint64_t rows_to_word(unsigned bits)
{
    uint64_t word = 0;
    for (int j = 0; j < 8; ++j) {
        word |= (bits >> j & 1) != 0 ? UINT64_C(0xff) << 8 * j : 0;
    }
    return word;
}

static inline uint64_t layer_to_word(unsigned bits, int k)
{
    return (bits >> k & 1) != 0 ? ~UINT64_C(0) : 0;
}

void wadi_clip_signs(const WadiFieldDef *def, WadiTile at, WadiNodeBits *negative, WadiNodeBits *positive)
{
    AxisBits x = axis_bits(def->cell, at.x, def->clip.min.x, def->clip.max.x, 0.0);
    AxisBits y = axis_bits(def->cell, at.y, def->clip.min.y, def->clip.max.y, 0.0);
    AxisBits z = axis_bits(def->cell, at.z, def->clip.min.z, def->clip.max.z, 0.0);
    uint64_t inside = lanes_to_word(x.inside) & rows_to_word(y.inside);
    uint64_t outside = lanes_to_word(x.outside) | rows_to_word(y.outside);
    for (int k = 0; k < 8; ++k) {
        negative->word[k] &= inside & layer_to_word(z.inside, k);
        positive->word[k] |= outside | layer_to_word(z.outside, k);
    }
}

void wadi_clip_near(const WadiFieldDef *def, WadiTile at, int margin, WadiNodeBits *near)
{
    double width = margin * def->cell;
    AxisBits x = axis_bits(def->cell, at.x, def->clip.min.x, def->clip.max.x, width);
    AxisBits y = axis_bits(def->cell, at.y, def->clip.min.y, def->clip.max.y, width);
    AxisBits z = axis_bits(def->cell, at.z, def->clip.min.z, def->clip.max.z, width);
    uint64_t word = lanes_to_word(x.near) & rows_to_word(y.near);
    for (int k = 0; k < 8; ++k) {
        near->word[k] = word & layer_to_word(z.near, k);
    }
}
