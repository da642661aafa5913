/* Clouds of particles for tests of the surface. */
#ifndef WADI_TESTS_SURFACE_CLOUDS_H
#define WADI_TESTS_SURFACE_CLOUDS_H

#include <stdlib.h>

#include "core/random.h"
#include "surface/cloud/bins.h"
#include "surface/field/field.h"

/* A zeroed cloud is empty. Capacity doubles whenever the count is a power of two from 1024 on. */
static inline void cloud_add(WadiCloud *f, WadiVec3 at, double spacing)
{
    bool is_full = f->count == 0 || (f->count >= 1024 && (f->count & (f->count - 1)) == 0);
    if (is_full) {
        size_t room = f->count == 0 ? 1024 : 2 * (size_t)f->count;
        f->position = realloc(f->position, room * sizeof *f->position);
        f->spacing = realloc(f->spacing, room * sizeof *f->spacing);
        if (f->position == NULL || f->spacing == NULL) {
            abort();
        }
    }
    f->position[f->count] = at;
    f->spacing[f->count] = (float)spacing;
    double kept = (double)f->spacing[f->count];
    f->spacing_min = f->count == 0 || kept < f->spacing_min ? kept : f->spacing_min;
    f->spacing_max = f->count == 0 || kept > f->spacing_max ? kept : f->spacing_max;
    ++f->count;
}

static inline void cloud_free(WadiCloud *f)
{
    free(f->position);
    free(f->spacing);
    *f = (WadiCloud){ 0 };
}

/* [-1, 1), a function of (seed, id). */
static inline WadiVec3 cloud_jitter(uint64_t seed, uint64_t id)
{
    double u[3];
    wadi_random_unit3(seed, id, WADI_RANDOM_TEST, u);
    return wadi_vec3(2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0, 2.0 * u[2] - 1.0);
}

/* A lattice in the box, each point jittered by `jitter` spacings; `keep` selects points (NULL: all). */
static inline void cloud_add_lattice(WadiCloud *f, WadiBox box, double spacing, double jitter, uint64_t seed,
                                     bool (*keep)(WadiVec3))
{
    for (double z = box.min.z; z < box.max.z; z += spacing) {
        for (double y = box.min.y; y < box.max.y; y += spacing) {
            for (double x = box.min.x; x < box.max.x; x += spacing) {
                WadiVec3 at = wadi_vec3(x, y, z);
                if (keep == NULL || keep(at)) {
                    WadiVec3 move = wadi_scale(cloud_jitter(seed, (uint64_t)f->count), jitter * spacing);
                    cloud_add(f, wadi_add(at, move), spacing);
                }
            }
        }
    }
}

/* nx x ny x nz particles at the centres of their cubes, `low` the corner of the first, each displaced by up
 * to `jitter` spacings in every direction. */
static inline void cloud_add_block(WadiCloud *f, WadiVec3 low, int nx, int ny, int nz, double spacing,
                                   double jitter)
{
    for (int n = 0; n < nx * ny * nz; ++n) {
        WadiVec3 middle = { n % nx + 0.5, n / nx % ny + 0.5, n / (nx * ny) + 0.5 };
        WadiVec3 at = wadi_add_scaled(middle, cloud_jitter(7, (uint64_t)n), jitter);
        cloud_add(f, wadi_add_scaled(low, at, spacing), spacing);
    }
}

static inline bool is_in_peer_ball(WadiVec3 x)
{
    WadiVec3 d = wadi_sub(x, wadi_vec3(0.5, 0.5, 0.5));
    return wadi_dot(d, d) < 0.04;
}

/* The cloud of the speed comparison with OpenVDB: a slab and a ball in the unit box, eight particles a cell
 * of the simulation. */
static inline void cloud_add_peer(WadiCloud *f, int particles)
{
    double s = 0.5 * cbrt(8.0 * (0.9 * 0.9 * 0.1 + 4.18879 * 0.2 * 0.2 * 0.2) / particles);
    cloud_add_lattice(f, (WadiBox){ { 0.05, 0.05, 0.05 }, { 0.95, 0.95, 0.15 } }, s, 0.25, 1, NULL);
    cloud_add_lattice(f, (WadiBox){ { 0.3, 0.3, 0.3 }, { 0.7, 0.7, 0.7 } }, s, 0.25, 2, is_in_peer_ball);
}

#endif
