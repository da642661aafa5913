/* Interface of the surface methods. Internal to the field.
 *
 * A method is one file field_NAME.c with one WadiFieldMethod, and one line in the table of field.c. */
#ifndef WADI_SURFACE_FIELD_METHOD_H
#define WADI_SURFACE_FIELD_METHOD_H

#include "grid/row_vectors.h"
#include "surface/field/field.h"

/* Input of a method. `bins` are those of the cloud, built with def->support; a method that moves particles or
 * has another support replaces them in `prepare`. Values are computed inside the support of the particles in
 * `bins`; everywhere else the field is `outside` (positive, m). */
typedef struct WadiFieldSampler {
    const WadiCloud *cloud;
    const WadiBins *bins;
    const WadiFieldDef *def;
    float outside;
    const void *data; /* private data of the method */
} WadiFieldSampler;

/* The particles whose kernel may cover a tile of 8^3 nodes. Lengths are in cells, positions relative to the
 * first node of the tile: node (i, j, k) of the tile is at (i, j, k). */
typedef struct WadiFieldNear {
    int32_t count;
    float *x, *y, *z, *support;
    int32_t *slot; /* index into bins->point and bins->order */
    /* for the current row, in the order of its list: support^2 less the squared distance from the line of
     * nodes */
    float *remaining;
} WadiFieldNear;

/* Support radius of the neighbourhoods from which `mls` estimates planes, over that of the field: half of
 * the bumps that `zhu_bridson` has. With 1.5 as many, and wider ones round off edges. */
#define WADI_MLS_SUPPORT 2.0

/* Spacings: radius of a ball of the particle's volume. */
#define WADI_FIELD_BALL 0.62035049089940002

typedef struct WadiFieldMethod {
    /* Distance over def->support within which particles matter to each other before they are sampled;
     * 0: 1. */
    double neighbourhood;
    /* May be NULL. Memory belongs to the arena. */
    WadiStatus (*prepare)(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error);
    /* The values, in cells, of the eight nodes (0 .. 7, y, z) of a tile. index[0..count), count > 0, are the
     * particles of `near` whose support meets the line x -> (x, y, z), always in the same order;
     * near->remaining[n] belongs to index[n]. Some nodes may be outside all supports. Called from many
     * threads. */
    void (*sample_row)(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS]);
    /* True when space evenly filled with particles, to at least two thirds of its volume, is inside: rows
     * there are not sampled. NULL: false. */
    bool (*is_inside_where_filled)(const WadiFieldDef *def);
    /* The value at one point in double, m: the definition. */
    double (*reference)(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x);
} WadiFieldMethod;

extern const WadiFieldMethod wadi_field_zhu_bridson, wadi_field_anisotropic, wadi_field_blobby,
    wadi_field_color, wadi_field_mls;

/* Default value outside all supports, m. */
double wadi_field_outside(const WadiCloud *cloud, const WadiFieldDef *def);

/* wadi_field_build with a method that need not be in the table. */
WadiStatus wadi_field_build_by(WadiField *field, const WadiFieldMethod *method, const WadiCloud *cloud,
                               const WadiBins *bins, const WadiFieldDef *def, WadiArena *arena,
                               WadiError *error);

#endif
