/* Sand drawn as grains: each particle becomes a handful of grains whose offsets, sizes and colours are fixed
 * by its id, so that nothing flickers [LD09].
 *
 * Differs: a handful of fixed shape shows as a clump where particles separate. Here it fills the volume of
 * its particle: it spreads where neighbours are few, and takes the shape of the neighbourhood (flat at a
 * surface, long in a jet). */
#ifndef WADI_RENDER_GRAINS_H
#define WADI_RENDER_GRAINS_H

#include "core/arena.h"
#include "render/trace/tracer.h"
#include "surface/cloud/bins.h"

enum { WADI_GRAIN_MAX = 64, WADI_GRAIN_COLOURS = 4 };

/* sRGB colours of grains and the fraction of each. */
typedef struct WadiGrainPalette {
    uint8_t colour[WADI_GRAIN_COLOURS][3];
    float fraction[WADI_GRAIN_COLOURS]; /* sum to 1 */
    float variation;                    /* 0..1: largest relative change of a grain's brightness */
} WadiGrainPalette;

typedef struct WadiGrainDef {
    int per_particle; /* 1 .. WADI_GRAIN_MAX */
    /* fraction of a particle's volume that its grains fill, which sets their size; 0.6 */
    double fill;
    double size_variation; /* 0..0.9: largest relative deviation of the radii from their mean */
    WadiGrainPalette palette;
    float wetness;     /* default where the cloud has no such attribute */
    bool has_velocity; /* for motion blur */
} WadiGrainDef;

/* Memory belongs to the arena. Grains of one particle are consecutive, in the order of the cloud. */
typedef struct WadiGrains {
    size_t count;
    float (*sphere)[4]; /* m: position relative to the given origin, and the radius */
    WadiTraceColour *colour;
    float (*velocity)[3]; /* NULL without has_velocity */
} WadiGrains;

/* The colour of grain `number` of particle `id`. */
WadiTraceColour wadi_grain_colour(const WadiGrainPalette *palette, uint32_t id, int number, float wetness);

/* `bins` are those of the cloud with the support WADI_GRAIN_SUPPORT, spacings. */
#define WADI_GRAIN_SUPPORT 2.0
WadiStatus wadi_grains_make(WadiGrains *grains, const WadiCloud *cloud, const WadiBins *bins, WadiVec3 origin,
                            const WadiGrainDef *def, WadiArena *arena, WadiError *error);
/* One grain for each particle, of its size and with a colour by its id. */
WadiStatus wadi_grains_single(WadiGrains *grains, const WadiCloud *cloud, WadiVec3 origin,
                              const WadiGrainDef *def, WadiArena *arena, WadiError *error);

#endif
