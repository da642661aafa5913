#include "secondary/wet_sand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Radius in which water is felt, spacings: with it two layers of particles are wet, as deep as a picture's
 * surface averages. */
static const double SUPPORT = 3.0;
/* Filled part of the surroundings: of sand that water hardly touches, and of sand that it wets. */
static const float TOUCHED = 0.004f, WETTED = 0.04f;

void wadi_wet_sand_free(WadiWetSand *wet)
{
    WADI_ARRAY_FREE(&wet->list);
}

static void pick(const WadiScene *scene, WadiMaterialKind kind, bool picks[256])
{
    memset(picks, 0, 256 * sizeof *picks);
    for (int m = 0; m < scene->material_count; ++m) {
        picks[m] = scene->materials[m].kind == kind;
    }
}

bool wadi_wet_sand_applies(const WadiScene *scene, const WadiState *frame)
{
    bool has_sand = false, has_water = false;
    for (int m = 0; m < scene->material_count; ++m) {
        has_sand = has_sand || scene->materials[m].kind == WADI_MATERIAL_SAND;
        has_water = has_water || scene->materials[m].kind == WADI_MATERIAL_WATER;
    }
    return has_sand && has_water && wadi_state_find(frame, "wetness") == NULL;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = ((const WadiWetParticle *)a)->id, y = ((const WadiWetParticle *)b)->id;
    return x < y ? -1 : x > y;
}

static float wetness_of(const WadiWetSand *wet, uint32_t id)
{
    const WadiWetParticle key = { .id = id };
    const WadiWetParticle *found =
        wet->list.count > 0 ? bsearch(&key, wet->list.data, wet->list.count, sizeof *wet->list.data, by_id)
                            : NULL;
    return found != NULL ? found->wetness : 0.0f;
}

/* The wetness of each particle of sand, from its old one and the water around it. */
static WadiStatus wet_all(const WadiWetSand *wet, WadiWetSand *next, const WadiFlow *sand,
                          const WadiFlow *water, float dried, WadiArena *arena, WadiError *error)
{
    WadiFlowSample *samples;
    WADI_TRY(WADI_ARENA_NEW(arena, &samples, (size_t)sand->cloud.count, "wet sand", error));
    WADI_TRY(wadi_flow_sample(water, sand->cloud.position, sand->cloud.count, samples, arena, error));
    for (int32_t i = 0; i < sand->cloud.count; ++i) {
        const float fill = (samples[i].fill - TOUCHED) / (WETTED - TOUCHED);
        const float old = wetness_of(wet, sand->cloud.id[i]) - dried;
        const float wetness = fminf(fmaxf(fill, old), 1.0f);
        if (wetness > 0.0f) {
            const WadiWetParticle particle = { sand->cloud.id[i], wetness };
            WADI_TRY(WADI_ARRAY_PUSH(&next->list, particle, "wet sand", error));
        }
    }
    if (next->list.count > 0) {
        qsort(next->list.data, next->list.count, sizeof *next->list.data, by_id);
    }
    return WADI_OK;
}

static WadiStatus build_flow(WadiFlow *flow, const WadiScene *scene, const WadiState *frame,
                             WadiMaterialKind kind, WadiArena *arena, WadiError *error)
{
    bool picks[256];
    pick(scene, kind, picks);
    const WadiFlowDef def = {
        .after = frame, .frame_time = 1.0, .part = 1.0, .support = SUPPORT, .picks = picks
    };
    return wadi_flow_build(flow, &def, arena, error);
}

WadiStatus wadi_wet_sand_step(WadiWetSand *wet, const WadiScene *scene, const WadiState *frame, double dt,
                              WadiArena *arena, WadiError *error)
{
    WadiFlow sand, water;
    WADI_TRY(build_flow(&sand, scene, frame, WADI_MATERIAL_SAND, arena, error));
    WADI_TRY(build_flow(&water, scene, frame, WADI_MATERIAL_WATER, arena, error));
    WadiWetSand next = { 0 };
    WadiStatus status =
        wet_all(wet, &next, &sand, &water, (float)(dt / scene->secondary.drying), arena, error);
    if (status != WADI_OK) {
        wadi_wet_sand_free(&next);
        return status;
    }
    wadi_wet_sand_free(wet);
    *wet = next;
    return WADI_OK;
}

WadiStatus wadi_wet_sand_apply(const WadiWetSand *wet, WadiState *frame, WadiError *error)
{
    const WadiStateArray *id;
    float *wetness;
    WADI_TRY(wadi_state_expect(frame, "id", WADI_TYPE_U32, 1, SIZE_MAX, &id, error));
    const size_t count = id->count;
    const uint32_t *ids = id->data;
    WADI_TRY(wadi_state_add(frame, "wetness", WADI_TYPE_F32, 1, count, (void **)&wetness, error));
    for (size_t i = 0; i < count; ++i) {
        wetness[i] = wetness_of(wet, ids[i]);
    }
    return WADI_OK;
}

/* Copies the items of an array of the frame that are wet. */
static WadiStatus save_array(const char *name, const WadiState *frame, const uint32_t *pick, size_t count,
                             WadiState *state, WadiError *error)
{
    const WadiStateArray *from = wadi_state_find(frame, name);
    if (from == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "the frame has no %s", name);
    }
    unsigned char *to;
    WADI_TRY(wadi_state_add(state, name, from->type, from->components, count, (void **)&to, error));
    const size_t size = wadi_type_size(from->type) * (size_t)from->components;
    for (size_t i = 0; i < count; ++i) {
        memcpy(to + i * size, (const unsigned char *)from->data + (size_t)pick[i] * size, size);
    }
    return WADI_OK;
}

static WadiStatus save_picked(const WadiWetSand *wet, const WadiState *frame, uint32_t *pick,
                              WadiState *state, WadiError *error)
{
    static const char *const names[] = { "position", "velocity", "id", "material", "radius" };
    const WadiStateArray *id;
    WADI_TRY(wadi_state_expect(frame, "id", WADI_TYPE_U32, 1, SIZE_MAX, &id, error));
    const uint32_t *ids = id->data;
    size_t count = 0;
    for (size_t i = 0; i < id->count && count < wet->list.count; ++i) {
        if (wetness_of(wet, ids[i]) > 0.0f) {
            pick[count++] = (uint32_t)i;
        }
    }
    float *wetness;
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        WADI_TRY(save_array(names[n], frame, pick, count, state, error));
    }
    WADI_TRY(wadi_state_add(state, "wetness", WADI_TYPE_F32, 1, count, (void **)&wetness, error));
    for (size_t i = 0; i < count; ++i) {
        wetness[i] = wetness_of(wet, ids[pick[i]]);
    }
    return WADI_OK;
}

WadiStatus wadi_wet_sand_save(const WadiWetSand *wet, const WadiState *frame, WadiState *state,
                              WadiError *error)
{
    wadi_state_clear(state);
    uint32_t *pick = NULL;
    WADI_TRY(WADI_NEW(&pick, wet->list.count, "wet sand", error));
    WadiStatus status = save_picked(wet, frame, pick, state, error);
    WADI_DELETE(pick, wet->list.count);
    return status;
}

WadiStatus wadi_wet_sand_load(WadiWetSand *wet, const WadiState *state, WadiError *error)
{
    const WadiStateArray *id, *wetness;
    WADI_TRY(wadi_state_expect(state, "id", WADI_TYPE_U32, 1, SIZE_MAX, &id, error));
    WADI_TRY(wadi_state_expect(state, "wetness", WADI_TYPE_F32, 1, id->count, &wetness, error));
    wet->list.count = 0;
    WADI_TRY(WADI_ARRAY_RESERVE(&wet->list, id->count, "wet sand", error));
    for (size_t i = 0; i < id->count; ++i) {
        const WadiWetParticle particle = { ((const uint32_t *)id->data)[i],
                                           ((const float *)wetness->data)[i] };
        if (!(particle.wetness >= 0.0f && particle.wetness <= 1.0f)) {
            wet->list.count = 0;
            return wadi_fail(error, WADI_ERR_FORMAT, "particle %u: its wetness is %g", particle.id,
                             (double)particle.wetness);
        }
        wet->list.data[wet->list.count++] = particle;
    }
    if (wet->list.count > 0) {
        qsort(wet->list.data, wet->list.count, sizeof *wet->list.data, by_id);
    }
    return WADI_OK;
}
