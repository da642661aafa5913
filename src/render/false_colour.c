#include "render/false_colour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"

/* Fraction of the values ignored at either end. */
static const double OUTLIER_FRACTION = 0.002;

typedef struct KnownAttribute {
    const char *name, *unit;
    WadiColourMap map;
    bool is_kind;
} KnownAttribute;

static const KnownAttribute known[] = {
    { "speed", "m/s", WADI_MAP_DUNE, false },
    { "velocity", "m/s", WADI_MAP_DUNE, false },
    { "pressure", "Pa", WADI_MAP_LAGOON, false },
    { "wetness", "", WADI_MAP_LAGOON, false },
    { "pore_pressure", "Pa", WADI_MAP_LAGOON, false },
    { "density", "kg/m^3", WADI_MAP_DUNE, false },
    { "radius", "m", WADI_MAP_DUNE, false },
    { "material", "", WADI_MAP_KINDS, true },
    { "rigid", "", WADI_MAP_KINDS, true },
    { "velocity.x", "m/s", WADI_MAP_SPLIT, false },
    { "velocity.y", "m/s", WADI_MAP_SPLIT, false },
    { "velocity.z", "m/s", WADI_MAP_SPLIT, false },
    { "position.x", "m", WADI_MAP_DUNE, false },
    { "position.y", "m", WADI_MAP_DUNE, false },
    { "position.z", "m", WADI_MAP_DUNE, false },
};

/* Source of the values: an array of the frame, and its component (-1: the length). */
typedef struct Source {
    const WadiStateArray *array;
    int component;
} Source;

static bool find_source(const WadiState *frame, const char *attribute, Source *source)
{
    char name[WADI_STATE_NAME_SIZE];
    snprintf(name, sizeof name, "%s", strcmp(attribute, "speed") == 0 ? "velocity" : attribute);
    source->component = -1;
    size_t length = strlen(name);
    if (length > 2 && name[length - 2] == '.' && name[length - 1] >= 'x' && name[length - 1] <= 'z') {
        source->component = name[length - 1] - 'x';
        name[length - 2] = '\0';
    }
    source->array = wadi_state_find(frame, name);
    return source->array != NULL && source->component < source->array->components &&
           (source->component < 0 || source->array->components == 3);
}

static double item_value(const WadiStateArray *array, size_t item)
{
    switch (array->type) {
    case WADI_TYPE_U8: return ((const uint8_t *)array->data)[item];
    case WADI_TYPE_U32: return ((const uint32_t *)array->data)[item];
    case WADI_TYPE_U64: return (double)((const uint64_t *)array->data)[item];
    case WADI_TYPE_I32: return ((const int32_t *)array->data)[item];
    case WADI_TYPE_F32: return (double)((const float *)array->data)[item];
    default: return ((const double *)array->data)[item];
    }
}

static double source_value(const Source *source, size_t particle)
{
    size_t components = (size_t)source->array->components;
    if (source->component >= 0) {
        return item_value(source->array, components * particle + (size_t)source->component);
    }
    if (components == 1) {
        return item_value(source->array, particle);
    }
    double sum = 0.0;
    for (size_t c = 0; c < components; ++c) {
        double value = item_value(source->array, components * particle + c);
        sum += value * value;
    }
    return sqrt(sum);
}

static WadiStatus fail_attribute(const char *attribute, const WadiState *frame, WadiError *error)
{
    WadiText names = { 0 };
    wadi_text_append(&names, "speed");
    for (int i = 0; i < frame->count; ++i) {
        if (strcmp(frame->array[i].name, "position") != 0) {
            wadi_text_printf(&names, ", %s", frame->array[i].name);
        }
    }
    WadiStatus status = wadi_text_status(&names, error);
    if (status == WADI_OK) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT, "particles have no attribute '%.40s'; they have %s",
                           attribute, wadi_text_cstr(&names));
    }
    wadi_text_free(&names);
    return status;
}

static WadiStatus fail_map(const char *map, WadiError *error)
{
    WadiText names = { 0 };
    for (int m = 0; m < WADI_MAP_COUNT; ++m) {
        wadi_text_printf(&names, "%s%s", m > 0 ? ", " : "", wadi_colour_map_name((WadiColourMap)m));
    }
    WadiStatus status = wadi_text_status(&names, error);
    if (status == WADI_OK) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT, "no colour map '%.40s'; known: %s", map,
                           wadi_text_cstr(&names));
    }
    wadi_text_free(&names);
    return status;
}

WadiStatus wadi_false_colour_open(WadiFalseColour *colour, const char *attribute, const char *map,
                                  const WadiState *frame, const WadiScene *scene, WadiError *error)
{
    *colour = (WadiFalseColour){ .map = WADI_MAP_DUNE, .low = INFINITY, .high = -INFINITY };
    Source source;
    if (strlen(attribute) >= sizeof colour->attribute || !find_source(frame, attribute, &source)) {
        return fail_attribute(attribute, frame, error);
    }
    snprintf(colour->attribute, sizeof colour->attribute, "%s", attribute);
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        if (strcmp(known[k].name, attribute) == 0) {
            snprintf(colour->unit, sizeof colour->unit, "%s", known[k].unit);
            colour->map = known[k].map;
            colour->is_kind = known[k].is_kind;
        }
    }
    if (map != NULL) {
        int found = wadi_colour_map_find(map);
        if (found < 0) {
            return fail_map(map, error);
        }
        colour->map = (WadiColourMap)found;
        colour->is_kind = found == WADI_MAP_KINDS;
    }
    if (strcmp(attribute, "material") == 0) {
        for (int m = 0; m < scene->material_count && m < WADI_FALSE_COLOUR_KINDS; ++m) {
            colour->kind[m] = scene->materials[m].name;
        }
    } else if (strcmp(attribute, "rigid") == 0) {
        colour->kind[0] = "flows";
        colour->kind[1] = "rests";
    }
    return WADI_OK;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

WadiStatus wadi_false_colour_include(WadiFalseColour *colour, const WadiState *frame, WadiError *error)
{
    Source source;
    if (!find_source(frame, colour->attribute, &source)) {
        return fail_attribute(colour->attribute, frame, error);
    }
    size_t count = source.array->count, finite = 0;
    float *values = NULL;
    WADI_TRY(WADI_NEW(&values, count, "values of an attribute", error));
    for (size_t i = 0; i < count; ++i) {
        double value = source_value(&source, i);
        values[finite] = (float)value;
        finite += isfinite(value);
    }
    if (finite > 0) {
        size_t outliers = colour->is_kind ? 0 : (size_t)(OUTLIER_FRACTION * (double)finite);
        qsort(values, finite, sizeof *values, compare_floats);
        colour->low = fmin(colour->low, (double)values[outliers]);
        colour->high = fmax(colour->high, (double)values[finite - 1 - outliers]);
    }
    WADI_DELETE(values, count);
    return WADI_OK;
}

void wadi_false_colour_finish(WadiFalseColour *colour)
{
    if (!(colour->low <= colour->high)) {
        colour->low = 0.0;
        colour->high = 1.0;
    }
    if (colour->map == WADI_MAP_SPLIT) {
        colour->high = fmax(fabs(colour->low), fabs(colour->high));
        colour->low = -colour->high;
    } else if (colour->low > 0.0 && colour->low < 0.25 * colour->high) {
        colour->low = 0.0; /* a scale that nearly begins at zero begins at zero */
    }
    if (!(colour->high > colour->low)) {
        double half = fmax(0.5 * fabs(colour->low), 1e-6);
        colour->low -= half;
        colour->high += half;
    }
}

static bool has_values(const void *user, const WadiState *frame)
{
    const WadiFalseColour *colour = user;
    Source source;
    return find_source(frame, colour->attribute, &source);
}

static WadiStatus fill_colours(void *user, const WadiCloud *cloud, const WadiState *frame,
                               const int32_t *particle, WadiTraceColour *to, WadiError *error)
{
    const WadiFalseColour *colour = user;
    Source source;
    if (!find_source(frame, colour->attribute, &source)) {
        return fail_attribute(colour->attribute, frame, error);
    }
    for (int32_t i = 0; i < cloud->count; ++i) {
        double value = source_value(&source, (size_t)particle[i]);
        double t = colour->is_kind ? value : (value - colour->low) / (colour->high - colour->low);
        uint8_t rgb[3];
        wadi_colour_map_at(colour->map, t, rgb);
        to[i] = (WadiTraceColour){ rgb[0], rgb[1], rgb[2], 0 };
    }
    return WADI_OK;
}

WadiFrameSceneColours wadi_false_colour_frame_scene(WadiFalseColour *colour)
{
    return (WadiFrameSceneColours){ .fill = fill_colours, .has_values = has_values, .user = colour };
}
