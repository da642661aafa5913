/* Sand for pictures: a mesh around the particles that lie together, each vertex with the particles whose
 * grains it shows, and single grains for particles that fly alone. */
#ifndef WADI_RENDER_SAND_SURFACE_H
#define WADI_RENDER_SAND_SURFACE_H

#include "render/grains.h"

/* The cloud in two: particles with few neighbours, and the others, with copies on the floor of the box
 * `walls` under those that hang just above it. What lies against a side of the box has its images for
 * neighbours. *drop, of the loose ones: m, how far below one is what it lies on; INFINITY: it flies. All lie in
 * the arena and are not freed. */
WadiStatus wadi_sand_split(WadiCloud *bulk, WadiCloud *loose, float **drop, const WadiCloud *cloud,
                           WadiBox walls, WadiArena *arena, WadiError *error);

/* Particles next to the vertices of a mesh. Memory belongs to the arena. */
typedef struct WadiSandOwners {
    uint32_t (*owner)[WADI_TRACE_OWNERS]; /* per vertex: indices of the nearest anchors, the nearest first */
    float (*anchor)[3];                   /* m, relative to the origin */
    uint32_t *anchor_hash;                /* ids of the particles */
    size_t anchor_count;
} WadiSandOwners;

WadiStatus wadi_sand_owners(WadiSandOwners *owners, const WadiCloud *cloud, const WadiVec3 *vertices,
                            size_t vertex_count, WadiVec3 origin, WadiArena *arena, WadiError *error);

typedef struct WadiLooseDef {
    double size;       /* m, diameter of the grains */
    double smallest;   /* m: smaller grains are drawn this large and fewer, with the same area; 0: none */
    double floor;      /* m: no grain lies lower; -INFINITY: none */
    int count_max;     /* per particle */
    const float *drop; /* of wadi_sand_split; NULL: all fly */
    WadiGrainPalette palette;
    float wetness;     /* where the cloud has no such attribute */
    bool has_velocity; /* for motion blur */
} WadiLooseDef;

/* Grains scattered about each particle, as many as fill its volume or count_max; those of one that lies on sand
 * or the floor lie there, side by side. */
WadiStatus wadi_loose_grains(WadiGrains *grains, const WadiCloud *cloud, WadiVec3 origin,
                             const WadiLooseDef *def, WadiArena *arena, WadiError *error);

#endif
