/* Millions of spheres for Embree: neighbours along a space-filling curve, up to eight, are one primitive whose spheres are tested
 * together. Against one primitive a sphere (Embree's own): a third of the time to build and 42 bytes a sphere instead of 71, for
 * rays that are as fast to a fifth slower (tests/twin/test_render_spheres.c). */
#ifndef WADI_RENDER_SPHERE_CLUSTERS_H
#define WADI_RENDER_SPHERE_CLUSTERS_H

#include "render/trace/tracer.h"

enum { WADI_CLUSTER = 8 };

/* Free places have radius -1 and lie at the first sphere. Sphere k of cluster c has the number 8 c + k. */
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
    WadiBox bounds; /* of the centres at rest, grown by the largest radius; empty without spheres */
} WadiClusters;

/* Spheres that are not finite or whose radius is not positive are left out. */
WadiStatus wadi_clusters_build(WadiClusters *clusters, const WadiTraceSpheres *spheres, bool is_moving,
                               WadiError *error);
void wadi_clusters_free(WadiClusters *clusters);
size_t wadi_clusters_bytes(const WadiClusters *clusters);

/* Where cluster c is, `time` s after the frame's moment. */
void wadi_cluster_bounds(const WadiClusters *clusters, size_t c, float time, float low[3], float high[3]);

/* The nearest meeting in (near, far) of the ray with the spheres of cluster c: its distance, in units of the direction's length,
 * which must be 1; returns the sphere's number in the cluster, or -1. Of equally near ones the first. */
int wadi_cluster_hit(const WadiClusters *clusters, size_t c, WadiVec3f origin, WadiVec3f direction,
                     float time, float near, float far, float *distance);

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
