/* What a method of wrapping particles gives to the field; the field gives it the rows to sample. Internal to the field.
 *
 * A method is one file field_NAME.c with one WadiFieldMethod, and one line in the table of field.c. */
#ifndef WADI_SURFACE_FIELD_METHOD_H
#define WADI_SURFACE_FIELD_METHOD_H

#include "grid/row_vectors.h"
#include "surface/field/field.h"

/* What a method works with. `bins` are those of the cloud, built with def->reach; a method that moves particles or sees another
 * distance puts bins of its own in their place when it prepares. A value is wanted wherever a particle of the bins reaches, and
 * is `outside` (positive, m) everywhere else. */
typedef struct WadiFieldSampler {
    const WadiCloud *cloud;
    const WadiBins *bins;
    const WadiFieldDef *def;
    float outside;
    const void *data; /* the method's own */
} WadiFieldSampler;

/* The particles that may reach a tile of 8^3 nodes. Lengths are in cells, places relative to the first node of the tile: node
 * (i, j, k) of the tile is at exactly (i, j, k). */
typedef struct WadiFieldNear {
    int32_t count;
    float *x, *y, *z, *reach;
    int32_t *slot; /* index into bins->place and bins->order */
    float *
        rest; /* of a row, in the order of its list: reach^2 less the squared distance from the line of its nodes */
} WadiFieldNear;

typedef struct WadiFieldMethod {
    /* NULL: nothing to do. Memory belongs to the arena. */
    WadiStatus (*prepare)(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error);
    /* The values, in cells, of the eight nodes (0 .. 7, y, z) of a tile. index[0..count), count > 0, are the particles of `near`
     * within reach of the line x -> (x, y, z), always in the same order, and near->rest[n] belongs to index[n]; some nodes may
     * be out of reach of all of them. Runs on many threads. */
    void (*sample_row)(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS]);
    /* Is space that is evenly filled with particles, at two thirds or more of what their spacing fills, inside for sure? Rows
     * there are then not sampled. NULL: no. */
    bool (*is_inside_where_filled)(const WadiFieldDef *def);
    /* The same in double at any one point, m: the definition. */
    double (*reference)(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x);
} WadiFieldMethod;

extern const WadiFieldMethod wadi_field_zhu_bridson, wadi_field_anisotropic, wadi_field_blobby,
    wadi_field_color;

/* What the field is where no particle reaches, m: for every method that has no better idea. */
double wadi_field_outside(const WadiCloud *cloud, const WadiFieldDef *def);

/* wadi_field_build with a method that need not be in the table. */
WadiStatus wadi_field_build_by(WadiField *field, const WadiFieldMethod *method, const WadiCloud *cloud,
                               const WadiBins *bins, const WadiFieldDef *def, WadiArena *arena,
                               WadiError *error);

#endif
