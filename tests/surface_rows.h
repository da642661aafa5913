/* Rows of a method sampled without the field's band, for tests. */
#ifndef WADI_TESTS_SURFACE_ROWS_H
#define WADI_TESTS_SURFACE_ROWS_H

#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "expect.h"
#include "surface/field/field_method.h"
#include "surface_clouds.h"

/* A method made ready for a cloud. */
typedef struct TestSampler {
    WadiArena arena;
    WadiBins bins;
    WadiFieldSampler sampler;
    const WadiFieldMethod *method;
    WadiFieldNear near;
    int32_t *index;
} TestSampler;

static inline void test_sampler_init(TestSampler *t, const WadiFieldMethod *method, const WadiCloud *cloud,
                                     const WadiFieldDef *def)
{
    *t = (TestSampler){ .method = method };
    WadiError error = { 0 };
    CHECK_OK(wadi_bins_build(&t->bins, cloud, def->support, &t->arena, &error), error);
    t->sampler = (WadiFieldSampler){ .cloud = cloud, .bins = &t->bins, .def = def, .outside = 1.0f };
    if (method->prepare != NULL) {
        CHECK_OK(method->prepare(&t->sampler, &t->arena, &error), error);
    }
    size_t count = (size_t)cloud->count;
    t->near.x = calloc(count, sizeof(float));
    t->near.y = calloc(count, sizeof(float));
    t->near.z = calloc(count, sizeof(float));
    t->near.support = calloc(count, sizeof(float));
    t->near.slot = calloc(count, sizeof(int32_t));
    t->index = calloc(count, sizeof(int32_t));
}

static inline void test_sampler_free(TestSampler *t)
{
    free(t->near.x);
    free(t->near.y);
    free(t->near.z);
    free(t->near.support);
    free(t->near.slot);
    free(t->index);
    wadi_arena_free(&t->arena);
}

/* Values, m, of eight nodes from `at` on along x, a cell apart. */
static inline void test_sample_row(TestSampler *t, WadiVec3 at, float value[WADI_ROW_CELLS])
{
    double cell = t->sampler.def->cell;
    int32_t count = 0;
    WadiBox box = { at, wadi_add(at, wadi_vec3(7.0 * cell, 0, 0)) };
    WadiBinWalk walk = wadi_bins_walk(t->sampler.bins, box);
    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
        for (int32_t s = span.first; s < span.end; ++s) {
            const float *point = t->sampler.bins->point[s];
            WadiVec3 p =
                wadi_add(span.corner, wadi_vec3((double)point[0], (double)point[1], (double)point[2]));
            t->near.x[count] = (float)((p.x - at.x) / cell);
            t->near.y[count] = (float)((p.y - at.y) / cell);
            t->near.z[count] = (float)((p.z - at.z) / cell);
            t->near.support[count] = (float)((double)point[3] / cell);
            t->near.slot[count] = s;
            t->index[count] = count;
            ++count;
        }
    }
    t->near.count = count;
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        value[l] = t->sampler.outside;
    }
    if (count > 0) {
        t->method->sample_row(&t->sampler, &t->near, t->index, count, 0.0f, 0.0f, value);
        for (int l = 0; l < WADI_ROW_CELLS; ++l) {
            value[l] *= (float)cell;
        }
    }
}

/* Largest difference between rows and the definition over a box, over the smallest spacing. */
static inline double test_rows_error(TestSampler *t, WadiBox box, int rows)
{
    const WadiCloud *cloud = t->sampler.cloud;
    double worst = 0.0, cell = t->sampler.def->cell;
    for (int n = 0; n < rows; ++n) {
        double r[3];
        wadi_random_unit3(11, (uint64_t)n, WADI_RANDOM_TEST, r);
        WadiVec3 at = wadi_add(box.min, wadi_mul(wadi_vec3(r[0], r[1], r[2]), wadi_box_size(box)));
        float value[WADI_ROW_CELLS];
        test_sample_row(t, at, value);
        for (int l = 0; l < WADI_ROW_CELLS; ++l) {
            WadiVec3 x = wadi_add(at, wadi_vec3(l * cell, 0, 0));
            double truth = t->method->reference(cloud, t->sampler.def, x);
            worst = fmax(worst, fabs((double)value[l] - truth) / cloud->spacing_min);
        }
    }
    return worst;
}

/* Where the values along a line upwards from `at` first become positive, by bisection; NAN when `at` is not
 * inside. */
static inline double test_height_of(TestSampler *t, WadiVec3 at, double step, int steps)
{
    float value[WADI_ROW_CELLS];
    test_sample_row(t, at, value);
    if (!(value[0] < 0.0f)) {
        return NAN;
    }
    for (int n = 0; n < steps; ++n) {
        WadiVec3 next = wadi_add(at, wadi_vec3(0, 0, step));
        test_sample_row(t, next, value);
        if (value[0] >= 0.0f) {
            for (int b = 0; b < 20; ++b) {
                WadiVec3 middle = wadi_lerp(at, next, 0.5);
                test_sample_row(t, middle, value);
                *(value[0] < 0.0f ? &at : &next) = middle;
            }
            return at.z;
        }
        at = next;
    }
    return INFINITY;
}

#endif
