/* Sand as it is drawn: each particle becomes a handful of grains, whose places about it, sizes and colours are fixed by its id,
 * so that nothing flickers [LD09].
 *
 * Differs: a handful of fixed shape shows as a clump where particles part. Here it fills the room that its particle has: it
 * spreads where neighbours are few, and takes the shape of their cloud (flat at a surface, long in a jet). */
#ifndef WADI_RENDER_GRAINS_H
#define WADI_RENDER_GRAINS_H

#include "core/arena.h"
#include "render/trace/tracer.h"
#include "surface/cloud/bins.h"

enum { WADI_GRAIN_MAX = 64, WADI_GRAIN_COLOURS = 4 };

/* What a heap of grains is made of: sRGB colours with their shares. */
typedef struct WadiGrainPalette {
    uint8_t colour[WADI_GRAIN_COLOURS][3];
    float share[WADI_GRAIN_COLOURS]; /* sum to 1 */
    float variation;                 /* 0..1: how much brighter or darker than its colour a grain may be */
} WadiGrainPalette;

typedef struct WadiGrainDef {
    int per_particle;      /* 1 .. WADI_GRAIN_MAX */
    double fill;           /* part of a particle's volume that its grains fill, which sets their size; 0.6 */
    double size_variation; /* 0..0.9: radii differ from the mean by up to this part */
    WadiGrainPalette palette;
    float wetness;     /* where the cloud has no such attribute */
    bool has_velocity; /* for motion blur */
} WadiGrainDef;

/* Ten grains a particle. */
WadiGrainDef wadi_default_grain_def(void);

/* Memory belongs to the arena. Grains of one particle are neighbours, in the order of the cloud. */
typedef struct WadiGrains {
    size_t count;
    float (*sphere)[4]; /* m: relative to the origin given, and the radius */
    WadiTraceColour *colour;
    float (*velocity)[3]; /* NULL without has_velocity */
} WadiGrains;

/* The colour of grain `number` of the particle `id`. */
WadiTraceColour wadi_grain_colour(const WadiGrainPalette *palette, uint32_t id, int number, float wetness);

/* `bins` are those of the cloud with the reach WADI_GRAIN_REACH. */
#define WADI_GRAIN_REACH 2.0
WadiStatus wadi_grains_make(WadiGrains *grains, const WadiCloud *cloud, const WadiBins *bins, WadiVec3 origin,
                            const WadiGrainDef *def, WadiArena *arena, WadiError *error);

#endif
