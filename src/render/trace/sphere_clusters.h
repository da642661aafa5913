/* Millions of spheres for Embree: up to eight neighbours along a space-filling curve form one primitive and
 * are tested together. Compared with Embree's spheres: a third of the build time, 42 bytes per sphere instead
 * of 71, and rays up to a fifth slower (tests/twin/test_render_spheres.c). */
#ifndef WADI_RENDER_SPHERE_CLUSTERS_H
#define WADI_RENDER_SPHERE_CLUSTERS_H

#include "render/bed/grain_shape.h"
#include "render/trace/tracer.h"

enum { WADI_CLUSTER = 8 };

/* Unused slots have radius -1 and the position of the first sphere. Sphere k of cluster c has the number 8 c
 * + k. */
typedef struct WadiCluster {
    float x[WADI_CLUSTER], y[WADI_CLUSTER], z[WADI_CLUSTER], radius[WADI_CLUSTER]; /* m */
} WadiCluster;

typedef struct WadiClusterVelocity {
    float x[WADI_CLUSTER], y[WADI_CLUSTER], z[WADI_CLUSTER]; /* m/s */
} WadiClusterVelocity;

/* Arrays are owned. */
typedef struct WadiClusters {
    size_t count;
    WadiCluster *cluster;
    WadiClusterVelocity *velocity;           /* NULL: at rest */
    WadiTraceColour (*colour)[WADI_CLUSTER]; /* NULL: the look's */
    const WadiGrainShape
        *shapes;    /* borrowed; spheres are the bounds of such stones; NULL: they are spheres */
    WadiBox bounds; /* of the centres at rest, grown by the largest radius; empty without spheres */
} WadiClusters;

/* Drops spheres that are not finite or whose radius is not positive. */
WadiStatus wadi_clusters_build(WadiClusters *clusters, const WadiTraceSpheres *spheres, bool is_moving,
                               WadiError *error);
void wadi_clusters_free(WadiClusters *clusters);
size_t wadi_clusters_bytes(const WadiClusters *clusters);

/* Bounds of cluster c, `time` s after the frame. */
void wadi_cluster_bounds(const WadiClusters *clusters, size_t c, float time, float low[3], float high[3]);

/* Nearest intersection in (near, far) of the ray, of unit direction, with the spheres of cluster c. Returns
 * the sphere's index in the cluster, or -1; of equally near ones the first. */
int wadi_cluster_hit(const WadiClusters *clusters, size_t c, WadiVec3f origin, WadiVec3f direction,
                     float time, float near, float far, float *distance);

/* The normal of stone k of cluster c at the offset `from` from its centre. */
WadiVec3f wadi_cluster_normal(const WadiClusters *clusters, size_t c, int k, WadiVec3f from);

static inline WadiVec3f wadi_cluster_center(const WadiClusters *clusters, size_t c, int k, float time)
{
    const WadiCluster *at = &clusters->cluster[c];
    WadiVec3f center = { at->x[k], at->y[k], at->z[k] };
    if (clusters->velocity != NULL) {
        const WadiClusterVelocity *v = &clusters->velocity[c];
        center = wadi_add_scaledf(center, wadi_vec3f(v->x[k], v->y[k], v->z[k]), time);
    }
    return center;
}

#endif
