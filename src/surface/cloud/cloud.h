/* The particles that one surface encloses: those of one material in one frame. */
#ifndef WADI_SURFACE_CLOUD_H
#define WADI_SURFACE_CLOUD_H

#include "core/state.h"
#include "math/vec3.h"

enum { WADI_CLOUD_ATTRIBUTE_MAX = 16 };

/* A per-particle quantity of `components` floats. */
typedef struct WadiCloudAttribute {
    char name[WADI_STATE_NAME_SIZE]; /* "velocity", "wetness", … */
    int components;
    float *values;
} WadiCloudAttribute;

/* Invariants: positions and attributes are finite; spacings are finite and positive; spacing_min and
 * spacing_max are those of `spacing` (0 when empty). A zeroed cloud is valid and empty. */
typedef struct WadiCloud {
    int32_t count;
    WadiVec3 *position; /* m */
    float *spacing;     /* m: the particle fills a cube of this edge; twice the frame's `radius` */
    uint32_t *id;       /* the frame's, that of the grain if it has such, or the index */
    double spacing_min, spacing_max;
    int attribute_count;
    WadiCloudAttribute attribute[WADI_CLOUD_ATTRIBUTE_MAX];
} WadiCloud;

/* The particles of `material` in a frame, in the frame's order (material < 0: all), moved along their
 * velocities for `advance` seconds. Copies the frame's first WADI_CLOUD_ATTRIBUTE_MAX attributes that have
 * one or three floats or one byte; `material` is an attribute when all materials are selected, so that it can
 * be blended. WADI_ERR_NUMERIC names the id of the first particle with a value that is not finite or a radius
 * that is not positive. */
WadiStatus wadi_cloud_from_frame(WadiCloud *cloud, const WadiState *frame, int material, double advance,
                                 WadiError *error);
/* From positions and one spacing, without attributes. */
WadiStatus wadi_cloud_from_points(WadiCloud *cloud, const WadiVec3 *position, int32_t count, double spacing,
                                  WadiError *error);
void wadi_cloud_free(WadiCloud *cloud);

/* NULL when there is none of that name. */
const WadiCloudAttribute *wadi_cloud_find(const WadiCloud *cloud, const char *name);
/* Sum of spacing^3, m^3. */
double wadi_cloud_volume(const WadiCloud *cloud);

#endif
