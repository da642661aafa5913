#include "view_slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void wadi_view_slice_free(WadiViewSlice *slice)
{
    free(slice->type);
    free(slice->velocity);
    free(slice->particles);
    *slice = (WadiViewSlice){ 0 };
}

static void axes_of(int axis, int other[2])
{
    other[0] = axis == 0 ? 1 : 0;
    other[1] = axis == 2 ? 1 : 2;
}

static double at_f64(const WadiView *view, int component, size_t i)
{
    return *(const double *)(const void *)((const char *)view->data[component] + i * view->stride);
}

static double at_f32(const WadiView *view, int component, size_t i)
{
    return (double)*(const float *)(const void *)((const char *)view->data[component] + i * view->stride);
}

/* Adds particle i to its cell, if that is in the plane. */
static void add_particle(WadiViewSlice *slice, const WadiViewSliceInput *input, const int other[2], size_t i)
{
    const double per_cell = 1.0 / slice->cell;
    int at[2];
    if ((int)floor((at_f64(&input->position, slice->axis, i) - slice->low[slice->axis]) * per_cell) !=
        slice->layer) {
        return;
    }
    for (int c = 0; c < 2; ++c) {
        const double x = (at_f64(&input->position, other[c], i) - slice->low[other[c]]) * per_cell;
        if (!(x >= 0.0 && x < slice->count[c])) {
            return;
        }
        at[c] = (int)x;
    }
    const size_t n = (size_t)at[1] * (size_t)slice->count[0] + (size_t)at[0];
    const uint8_t material =
        *(const uint8_t *)((const char *)input->material.data[0] + i * input->material.stride);
    slice->type[n] |= input->is_water[material] ? WADI_VIEW_WATER : WADI_VIEW_SAND;
    slice->particles[n] += 1;
    for (int c = 0; c < 2; ++c) {
        slice->velocity[n][c] += (float)at_f32(&input->velocity, other[c], i);
    }
}

bool wadi_view_slice_make(WadiViewSlice *slice, const WadiViewSliceInput *input)
{
    int other[2];
    double size[3];
    *slice = (WadiViewSlice){ .axis = input->axis, .cell = input->cell_size };
    axes_of(input->axis, other);
    for (int c = 0; c < 3; ++c) {
        slice->low[c] = input->low[c];
        size[c] = input->high[c] - input->low[c];
        if (!(size[c] > 0.0) || !isfinite(size[c])) {
            return false;
        }
    }
    const double cells = size[other[0]] * size[other[1]] / (slice->cell * slice->cell);
    slice->cell *= fmax(1.0, ceil(sqrt(cells / WADI_VIEW_SLICE_CELLS)));
    for (int c = 0; c < 2; ++c) {
        slice->count[c] = (int)ceil(size[other[c]] / slice->cell - 1e-6);
    }
    const int layers = (int)ceil(size[input->axis] / slice->cell - 1e-6);
    const int layer = (int)(input->fraction * layers);
    slice->layer = layer < 0 ? 0 : layer < layers ? layer : layers - 1;
    const size_t count = (size_t)slice->count[0] * (size_t)slice->count[1];
    slice->type = calloc(count, sizeof *slice->type);
    slice->velocity = calloc(count, sizeof *slice->velocity);
    slice->particles = calloc(count, sizeof *slice->particles);
    if (slice->type == NULL || slice->velocity == NULL || slice->particles == NULL) {
        wadi_view_slice_free(slice);
        return false;
    }
    for (size_t i = 0; i < input->position.count; ++i) {
        add_particle(slice, input, other, i);
    }
    for (size_t n = 0; n < count; ++n) {
        for (int c = 0; c < 2 && slice->particles[n] > 0; ++c) {
            slice->velocity[n][c] /= (float)slice->particles[n];
        }
    }
    return true;
}

void wadi_view_slice_middle(const WadiViewSlice *slice, size_t n, double at[3])
{
    int other[2];
    axes_of(slice->axis, other);
    at[slice->axis] = slice->low[slice->axis] + (slice->layer + 0.5) * slice->cell;
    const size_t row = n / (size_t)slice->count[0], column = n % (size_t)slice->count[0];
    at[other[0]] = slice->low[other[0]] + ((double)column + 0.5) * slice->cell;
    at[other[1]] = slice->low[other[1]] + ((double)row + 0.5) * slice->cell;
}

unsigned char *wadi_view_slice_message(const WadiViewSlice *slice, size_t *size)
{
    const size_t count = (size_t)slice->count[0] * (size_t)slice->count[1], padded = (count + 3) / 4 * 4;
    const uint32_t head[4] = { 4, (uint32_t)slice->axis, (uint32_t)slice->count[0],
                               (uint32_t)slice->count[1] };
    double corner[3], reals[4];
    wadi_view_slice_middle(slice, 0, corner);
    for (int c = 0; c < 3; ++c) {
        reals[c] = corner[c] - (c == slice->axis ? 0.0 : 0.5 * slice->cell);
    }
    reals[3] = slice->cell;
    *size = sizeof head + sizeof reals + padded + 8 * count;
    unsigned char *data = calloc(1, *size);
    if (data == NULL) {
        return NULL;
    }
    unsigned char *at = data;
    memcpy(at, head, sizeof head);
    memcpy(at += sizeof head, reals, sizeof reals);
    memcpy(at += sizeof reals, slice->type, count);
    memcpy(at + padded, slice->velocity, 8 * count);
    return data;
}
