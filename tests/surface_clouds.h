/* Clouds of particles for tests of the surface. */
#ifndef WADI_TESTS_SURFACE_CLOUDS_H
#define WADI_TESTS_SURFACE_CLOUDS_H

#include <stdlib.h>

#include "core/random.h"
#include "surface/bins.h"
#include "surface/field.h"

typedef struct CloudFixture {
    WadiCloud cloud;
    int32_t capacity;
} CloudFixture;

static inline void cloud_add(CloudFixture *f, WadiVec3 at, double spacing)
{
    WadiCloud *c = &f->cloud;
    if (c->count == f->capacity) {
        f->capacity = f->capacity == 0 ? 1024 : 2 * f->capacity;
        c->position = realloc(c->position, (size_t)f->capacity * sizeof *c->position);
        c->spacing = realloc(c->spacing, (size_t)f->capacity * sizeof *c->spacing);
        if (c->position == NULL || c->spacing == NULL) {
            abort();
        }
    }
    c->position[c->count] = at;
    c->spacing[c->count] = (float)spacing;
    double kept = (double)c->spacing[c->count];
    c->spacing_min = c->count == 0 || kept < c->spacing_min ? kept : c->spacing_min;
    c->spacing_max = c->count == 0 || kept > c->spacing_max ? kept : c->spacing_max;
    ++c->count;
}

static inline void cloud_free(CloudFixture *f)
{
    free(f->cloud.position);
    free(f->cloud.spacing);
    *f = (CloudFixture){ 0 };
}

/* [-1, 1), a function of (seed, id). */
static inline WadiVec3 cloud_jitter(uint64_t seed, uint64_t id)
{
    double u[3];
    wadi_random_unit3(seed, id, WADI_RANDOM_TEST, u);
    return wadi_vec3(2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0, 2.0 * u[2] - 1.0);
}

/* A lattice of the box, each place jittered by `jitter` spacings; `keep` decides (NULL: all). */
static inline void cloud_add_lattice(CloudFixture *f, WadiBox box, double spacing, double jitter,
                                     uint64_t seed, bool (*keep)(WadiVec3))
{
    for (double z = box.min.z; z < box.max.z; z += spacing) {
        for (double y = box.min.y; y < box.max.y; y += spacing) {
            for (double x = box.min.x; x < box.max.x; x += spacing) {
                WadiVec3 at = wadi_vec3(x, y, z);
                if (keep == NULL || keep(at)) {
                    WadiVec3 move =
                        wadi_scale(cloud_jitter(seed, (uint64_t)f->cloud.count), jitter * spacing);
                    cloud_add(f, wadi_add(at, move), spacing);
                }
            }
        }
    }
}

static inline bool is_in_peer_ball(WadiVec3 x)
{
    WadiVec3 d = wadi_sub(x, wadi_vec3(0.5, 0.5, 0.5));
    return wadi_dot(d, d) < 0.04;
}

/* The cloud of the speed comparison with OpenVDB: a slab and a ball in the unit box, eight particles a cell of the simulation. */
static inline void cloud_add_peer(CloudFixture *f, int particles)
{
    double s = 0.5 * cbrt(8.0 * (0.9 * 0.9 * 0.1 + 4.18879 * 0.2 * 0.2 * 0.2) / particles);
    cloud_add_lattice(f, (WadiBox){ { 0.05, 0.05, 0.05 }, { 0.95, 0.95, 0.15 } }, s, 0.25, 1, NULL);
    cloud_add_lattice(f, (WadiBox){ { 0.3, 0.3, 0.3 }, { 0.7, 0.7, 0.7 } }, s, 0.25, 2, is_in_peer_ball);
}

#endif
