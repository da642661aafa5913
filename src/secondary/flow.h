/* The water or the sand of a run at one moment between two frames, and what a point feels of it. */
#ifndef WADI_SECONDARY_FLOW_H
#define WADI_SECONDARY_FLOW_H

#include "core/state.h"
#include "surface/cloud/bins.h"

/* Where each id is in a frame: place[id], or -1. Empty when ids are so scattered that it would not fit: then
 * nothing is found, and particles move straight. */
typedef struct WadiFlowPlaces {
    int32_t *place;
    size_t size;
} WadiFlowPlaces;

/* Memory belongs to the arena. */
WadiStatus wadi_flow_places_find(WadiFlowPlaces *places, const WadiState *before, WadiArena *arena,
                                 WadiError *error);

typedef struct WadiFlowDef {
    const WadiState *before, *after; /* two frames; `before` may be NULL */
    double frame_time;               /* s between them */
    double part;                     /* 0: at `before`, 1: at `after` */
    double support;                  /* radius of the kernel in spacings of a particle */
    const bool *picks;               /* per material: whether its particles belong to the flow */
    const WadiFlowPlaces *places;    /* of `before`; NULL: it is made */
    /* What may be left out, none by default. Points that alone are sampled: what is too far from them for its
     * kernel to reach them; `near_size`: that reach, m, 0: the flow's own. Or a speed, m/s: what is too far
     * from anything faster to be a neighbour of a neighbour. */
    const WadiVec3 *near;
    int32_t near_count;
    double near_size, near_speed;
} WadiFlowDef;

/* Memory belongs to the arena. The particles are those of `after`, in its order. Smallest and largest
 * spacing are those of all particles of the picked materials. */
typedef struct WadiFlow {
    double support;       /* of the definition */
    WadiCloud cloud;      /* positions and sizes at that moment; not freed */
    float (*velocity)[3]; /* m/s, per particle */
    uint8_t *material;    /* per particle */
    float *wetness;       /* 0..1, per particle */
    WadiBins bins;
    float (*bin_velocity)[3]; /* in the order of the bins */
} WadiFlow;

/* A particle that exists in both frames moves on the cubic curve that has its positions and velocities there;
 * a new one on a straight line. */
WadiStatus wadi_flow_build(WadiFlow *flow, const WadiFlowDef *def, WadiArena *arena, WadiError *error);
/* The same without bins, which samples need. */
WadiStatus wadi_flow_collect(WadiFlow *flow, const WadiFlowDef *def, WadiArena *arena, WadiError *error);

typedef struct WadiFlowSample {
    float fill;        /* part of the surroundings that is filled: 0 far away, 1 inside, 1/2 at a surface */
    float gradient[3]; /* of `fill`, 1/m */
    float velocity[3]; /* m/s, mean of the surroundings; 0 where there are none */
} WadiFlowSample;

/* samples[i] is what the point x[i] feels. */
WadiStatus wadi_flow_sample(const WadiFlow *flow, const WadiVec3 *x, int32_t count, WadiFlowSample *samples,
                            WadiArena *arena, WadiError *error);

#endif
