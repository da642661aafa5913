/* Gathers and checks the particles of one material. */
#include "surface/cloud/cloud.h"

#include <float.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"

enum { BLOCK = 4096 };

void wadi_cloud_free(WadiCloud *cloud)
{
    size_t count = (size_t)cloud->count;
    WADI_DELETE(cloud->position, count);
    WADI_DELETE(cloud->spacing, count);
    WADI_DELETE(cloud->id, count);
    for (int a = 0; a < cloud->attribute_count; ++a) {
        WADI_DELETE(cloud->attribute[a].values, count * (size_t)cloud->attribute[a].components);
    }
    *cloud = (WadiCloud){ 0 };
}

const WadiCloudAttribute *wadi_cloud_find(const WadiCloud *cloud, const char *name)
{
    for (int a = 0; a < cloud->attribute_count; ++a) {
        if (strcmp(cloud->attribute[a].name, name) == 0) {
            return &cloud->attribute[a];
        }
    }
    return NULL;
}

double wadi_cloud_volume(const WadiCloud *cloud)
{
    double sum = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        double s = (double)cloud->spacing[i];
        sum += s * s * s;
    }
    return sum;
}

/* The frame's arrays that a cloud is made of. */
typedef struct Source {
    size_t count;
    const double *position;
    const float *velocity;
    const float *radius;
    const uint8_t *material;
    const uint32_t *id; /* NULL: the index is used */
    double advance;     /* s */
    int attribute_count;
    const WadiStateArray *attribute[WADI_CLOUD_ATTRIBUTE_MAX];
} Source;

static bool is_attribute(const WadiStateArray *array, size_t count, int material)
{
    bool is_float = array->type == WADI_TYPE_F32 && (array->components == 1 || array->components == 3);
    bool is_byte = array->type == WADI_TYPE_U8 && array->components == 1;
    return array->count == count && (is_float || is_byte) &&
           (strcmp(array->name, "material") != 0 || material < 0);
}

static WadiStatus open_source(Source *source, const WadiState *frame, int material, double advance,
                              WadiError *error)
{
    const WadiStateArray *x = NULL, *v = NULL, *radius = NULL, *materials = NULL;
    WADI_TRY(wadi_state_expect(frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    WADI_TRY(wadi_state_expect(frame, "velocity", WADI_TYPE_F32, 3, x->count, &v, error));
    WADI_TRY(wadi_state_expect(frame, "radius", WADI_TYPE_F32, 1, x->count, &radius, error));
    WADI_TRY(wadi_state_expect(frame, "material", WADI_TYPE_U8, 1, x->count, &materials, error));
    if (x->count > INT32_MAX / 4) {
        return wadi_fail(error, WADI_ERR_UNSUPPORTED, "%zu particles; surfaces take at most %d", x->count,
                         INT32_MAX / 4);
    }
    /* Particles of one grain have one colour. */
    const WadiStateArray *grain = wadi_state_find(frame, "grain");
    const WadiStateArray *id = grain != NULL ? grain : wadi_state_find(frame, "id");
    bool has_id = id != NULL && id->type == WADI_TYPE_U32 && id->components == 1 && id->count == x->count;
    *source = (Source){ .count = x->count,
                        .position = x->data,
                        .velocity = v->data,
                        .radius = radius->data,
                        .material = materials->data,
                        .id = has_id ? id->data : NULL,
                        .advance = advance };
    for (int i = 0; i < frame->count && source->attribute_count < WADI_CLOUD_ATTRIBUTE_MAX; ++i) {
        if (is_attribute(&frame->array[i], x->count, material)) {
            source->attribute[source->attribute_count++] = &frame->array[i];
        }
    }
    return WADI_OK;
}

static uint32_t id_of(const Source *source, size_t i)
{
    return source->id != NULL ? source->id[i] : (uint32_t)i;
}

static WadiVec3 advanced(const Source *source, size_t i)
{
    const double *x = source->position + 3 * i;
    const float *v = source->velocity + 3 * i;
    double t = source->advance;
    return wadi_vec3(x[0] + t * (double)v[0], x[1] + t * (double)v[1], x[2] + t * (double)v[2]);
}

/* Name of the particle's invalid quantity, or NULL. */
static const char *find_fault(const Source *source, size_t i)
{
    float radius = source->radius[i];
    const double *x = source->position + 3 * i;
    if (!wadi_is_finite(wadi_vec3(x[0], x[1], x[2]))) {
        return "position";
    }
    if (!(radius > 0.0f) || !(radius < FLT_MAX / 4.0f)) {
        return "radius";
    }
    for (int a = 0; a < source->attribute_count; ++a) {
        const WadiStateArray *array = source->attribute[a];
        size_t components = (size_t)array->components;
        const float *value = array->data;
        for (size_t c = 0; array->type == WADI_TYPE_F32 && c < components; ++c) {
            if (!isfinite(value[components * i + c])) {
                return array->name;
            }
        }
    }
    return wadi_is_finite(advanced(source, i)) ? NULL : "velocity";
}

static WadiStatus fail_particle(const Source *source, size_t i, const char *fault, WadiError *error)
{
    unsigned id = id_of(source, i);
    if (strcmp(fault, "radius") == 0) {
        return wadi_fail(error, WADI_ERR_NUMERIC,
                         "particle %u: its radius is %g m; a surface needs finite ones above 0", id,
                         (double)source->radius[i]);
    }
    return wadi_fail(error, WADI_ERR_NUMERIC,
                     "particle %u: its %s is not finite, so that no surface goes around it", id, fault);
}

typedef struct Gather {
    const Source *source;
    const int32_t *pick;
    WadiCloud *cloud;
} Gather;

static void gather_attribute(const WadiStateArray *array, const int32_t *pick, float *values, int64_t first,
                             int64_t end)
{
    size_t components = (size_t)array->components;
    for (int64_t k = first; k < end; ++k) {
        if (array->type == WADI_TYPE_U8) {
            values[k] = (float)((const uint8_t *)array->data)[pick[k]];
            continue;
        }
        const float *from = (const float *)array->data + components * (size_t)pick[k];
        for (size_t c = 0; c < components; ++c) {
            values[components * (size_t)k + c] = from[c];
        }
    }
}

static void gather(void *user, int64_t first, int64_t end)
{
    const Gather *g = user;
    WadiCloud *cloud = g->cloud;
    for (int64_t k = first; k < end; ++k) {
        size_t i = (size_t)g->pick[k];
        cloud->position[k] = advanced(g->source, i);
        cloud->spacing[k] = 2.0f * g->source->radius[i];
        cloud->id[k] = id_of(g->source, i);
    }
    for (int a = 0; a < cloud->attribute_count; ++a) {
        gather_attribute(g->source->attribute[a], g->pick, cloud->attribute[a].values, first, end);
    }
}

static void measure_spacing(WadiCloud *cloud)
{
    float low = cloud->count > 0 ? cloud->spacing[0] : 0.0f, high = low;
    for (int32_t i = 1; i < cloud->count; ++i) {
        low = cloud->spacing[i] < low ? cloud->spacing[i] : low;
        high = cloud->spacing[i] > high ? cloud->spacing[i] : high;
    }
    cloud->spacing_min = (double)low;
    cloud->spacing_max = (double)high;
}

/* Allocates `count` particles. The count is set first, so that wadi_cloud_free releases a partial cloud. */
static WadiStatus allocate(WadiCloud *cloud, int32_t count, const Source *source, WadiError *error)
{
    cloud->count = count;
    WADI_TRY(WADI_NEW(&cloud->position, (size_t)count, "positions of a surface's particles", error));
    WADI_TRY(WADI_NEW(&cloud->spacing, (size_t)count, "sizes of a surface's particles", error));
    WADI_TRY(WADI_NEW(&cloud->id, (size_t)count, "ids of a surface's particles", error));
    for (int a = 0; source != NULL && a < source->attribute_count; ++a) {
        const WadiStateArray *from = source->attribute[a];
        WadiCloudAttribute *to = &cloud->attribute[a];
        memcpy(to->name, from->name, sizeof to->name);
        to->components = from->components;
        cloud->attribute_count = a + 1;
        WADI_TRY(WADI_NEW(&to->values, (size_t)count * (size_t)to->components,
                          "attributes of a surface's particles", error));
    }
    return WADI_OK;
}

WadiStatus wadi_cloud_from_frame(WadiCloud *cloud, const WadiState *frame, int material, double advance,
                                 WadiError *error)
{
    *cloud = (WadiCloud){ 0 };
    Source source;
    WADI_TRY(open_source(&source, frame, material, advance, error));
    int32_t *pick = NULL;
    WADI_TRY(WADI_NEW(&pick, source.count, "list of a surface's particles", error));
    WadiStatus status = WADI_OK;
    int32_t count = 0;
    for (size_t i = 0; i < source.count && status == WADI_OK; ++i) {
        if (material < 0 || source.material[i] == material) {
            const char *fault = find_fault(&source, i);
            if (fault != NULL) {
                status = fail_particle(&source, i, fault, error);
            }
            pick[count++] = (int32_t)i;
        }
    }
    if (status == WADI_OK) {
        status = allocate(cloud, count, &source, error);
    }
    if (status == WADI_OK) {
        wadi_parallel_for(count, BLOCK, gather, &(Gather){ &source, pick, cloud });
        measure_spacing(cloud);
    } else {
        wadi_cloud_free(cloud);
    }
    WADI_DELETE(pick, source.count);
    return status;
}

WadiStatus wadi_cloud_from_points(WadiCloud *cloud, const WadiVec3 *position, int32_t count, double spacing,
                                  WadiError *error)
{
    *cloud = (WadiCloud){ 0 };
    if (!(spacing > 0.0) || !((float)spacing > 0.0f) || !isfinite((float)spacing)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a spacing of %g m; it must be finite and above 0",
                         spacing);
    }
    for (int32_t i = 0; i < count; ++i) {
        if (!wadi_is_finite(position[i])) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "point %d: its position is not finite", i);
        }
    }
    WadiStatus status = allocate(cloud, count, NULL, error);
    if (status != WADI_OK) {
        wadi_cloud_free(cloud);
        return status;
    }
    for (int32_t i = 0; i < count; ++i) {
        cloud->position[i] = position[i];
        cloud->spacing[i] = (float)spacing;
        cloud->id[i] = (uint32_t)i;
    }
    measure_spacing(cloud);
    return WADI_OK;
}
