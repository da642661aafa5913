#include "secondary/wet_sand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"

enum { BLOCK = 4096 };

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

/* Wetness by id. */
typedef struct Table {
    const WadiWetSand *wet;
    float *value; /* NULL when ids are so scattered that it would not fit: then the list is searched */
    size_t size;
} Table;

static WadiStatus make_table(Table *table, const WadiWetSand *wet, WadiError *error)
{
    const size_t count = wet->list.count, size = count > 0 ? (size_t)wet->list.data[count - 1].id + 1 : 0;
    *table = (Table){ .wet = wet };
    if (size <= 64 * count + 1000000) {
        WADI_TRY(WADI_NEW(&table->value, size, "wetness by id", error));
        table->size = size;
        for (size_t i = 0; i < count; ++i) {
            table->value[wet->list.data[i].id] = wet->list.data[i].wetness;
        }
    }
    return WADI_OK;
}

static void free_table(Table *table)
{
    WADI_DELETE(table->value, table->size);
}

static float wetness_of(const Table *table, uint32_t id)
{
    if (table->value != NULL) {
        return id < table->size ? table->value[id] : 0.0f;
    }
    const WadiWetSand *wet = table->wet;
    const WadiWetParticle key = { .id = id };
    const WadiWetParticle *found =
        wet->list.count > 0 ? bsearch(&key, wet->list.data, wet->list.count, sizeof *wet->list.data, by_id)
                            : NULL;
    return found != NULL ? found->wetness : 0.0f;
}

/* The wetness that is left of each particle. */
typedef struct Drying {
    const Table *table;
    const uint32_t *id;
    float dried;
    float *wetness;
} Drying;

static void dry_block(void *context, int64_t first, int64_t end)
{
    const Drying *drying = context;
    for (int64_t i = first; i < end; ++i) {
        drying->wetness[i] = fmaxf(wetness_of(drying->table, drying->id[i]) - drying->dried, 0.0f);
    }
}

/* Sand, and those of its particles that water may touch, with how much of it they feel. */
typedef struct Shore {
    WadiFlow sand, near;
    WadiFlowSample *samples; /* per particle of `near` */
    float *wetness;          /* per particle of `sand` */
} Shore;

static WadiStatus find_shore(Shore *shore, const WadiWetSand *wet, const WadiScene *scene,
                             const WadiState *frame, float dried, WadiArena *arena, WadiError *error)
{
    bool is_sand[256], is_water[256];
    pick(scene, WADI_MATERIAL_SAND, is_sand);
    pick(scene, WADI_MATERIAL_WATER, is_water);
    WadiFlow water;
    WadiFlowDef def = {
        .after = frame, .frame_time = 1.0, .part = 1.0, .support = SUPPORT, .picks = is_sand
    };
    WADI_TRY(wadi_flow_collect(&shore->sand, &def, arena, error));
    const WadiCloud *sand = &shore->sand.cloud;
    def.picks = is_water;
    def.near = sand->position;
    def.near_count = sand->count;
    WADI_TRY(wadi_flow_build(&water, &def, arena, error));
    def.picks = is_sand;
    def.near = water.cloud.position;
    def.near_count = water.cloud.count;
    def.near_size = wadi_bins_size(SUPPORT * water.cloud.spacing_max);
    WADI_TRY(wadi_flow_collect(&shore->near, &def, arena, error));
    const WadiCloud *near = &shore->near.cloud;
    WADI_TRY(WADI_ARENA_NEW(arena, &shore->samples, (size_t)near->count, "wet sand", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &shore->wetness, (size_t)sand->count, "wet sand", error));
    WADI_TRY(wadi_flow_sample(&water, near->position, near->count, shore->samples, arena, error));
    Table table;
    WADI_TRY(make_table(&table, wet, error));
    Drying drying = { &table, sand->id, dried, shore->wetness };
    wadi_parallel_for(sand->count, BLOCK, dry_block, &drying);
    free_table(&table);
    return WADI_OK;
}

static WadiStatus list_wet(WadiWetSand *next, const Shore *shore, WadiError *error)
{
    const WadiCloud *sand = &shore->sand.cloud, *near = &shore->near.cloud;
    /* Both are in the order of the frame. */
    for (int32_t i = 0, k = 0; i < sand->count; ++i) {
        float wetness = shore->wetness[i];
        if (k < near->count && near->id[k] == sand->id[i]) {
            const float fill = (shore->samples[k++].fill - TOUCHED) / (WETTED - TOUCHED);
            wetness = fminf(fmaxf(fill, wetness), 1.0f);
        }
        if (wetness > 0.0f) {
            const WadiWetParticle particle = { sand->id[i], wetness };
            WADI_TRY(WADI_ARRAY_PUSH(&next->list, particle, "wet sand", error));
        }
    }
    if (next->list.count > 0) {
        qsort(next->list.data, next->list.count, sizeof *next->list.data, by_id);
    }
    return WADI_OK;
}

WadiStatus wadi_wet_sand_step(WadiWetSand *wet, const WadiScene *scene, const WadiState *frame, double dt,
                              WadiArena *arena, WadiError *error)
{
    Shore shore;
    WadiWetSand next = { 0 };
    const float dried = (float)(dt / scene->secondary.drying);
    WADI_TRY(find_shore(&shore, wet, scene, frame, dried, arena, error));
    WadiStatus status = list_wet(&next, &shore, error);
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
    Table table;
    WADI_TRY(wadi_state_add(frame, "wetness", WADI_TYPE_F32, 1, count, (void **)&wetness, error));
    WADI_TRY(make_table(&table, wet, error));
    Drying drying = { .table = &table, .id = ids, .wetness = wetness };
    wadi_parallel_for((int64_t)count, BLOCK, dry_block, &drying);
    free_table(&table);
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

static WadiStatus save_picked(const Table *table, const WadiState *frame, uint32_t *pick, WadiState *state,
                              WadiError *error)
{
    static const char *const names[] = { "position", "velocity", "id", "material", "radius" };
    const WadiStateArray *id;
    WADI_TRY(wadi_state_expect(frame, "id", WADI_TYPE_U32, 1, SIZE_MAX, &id, error));
    const uint32_t *ids = id->data;
    size_t count = 0;
    for (size_t i = 0; i < id->count && count < table->wet->list.count; ++i) {
        if (wetness_of(table, ids[i]) > 0.0f) {
            pick[count++] = (uint32_t)i;
        }
    }
    float *wetness;
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        WADI_TRY(save_array(names[n], frame, pick, count, state, error));
    }
    WADI_TRY(wadi_state_add(state, "wetness", WADI_TYPE_F32, 1, count, (void **)&wetness, error));
    for (size_t i = 0; i < count; ++i) {
        wetness[i] = wetness_of(table, ids[pick[i]]);
    }
    return WADI_OK;
}

WadiStatus wadi_wet_sand_save(const WadiWetSand *wet, const WadiState *frame, WadiState *state,
                              WadiError *error)
{
    wadi_state_clear(state);
    uint32_t *pick = NULL;
    Table table;
    WADI_TRY(make_table(&table, wet, error));
    WadiStatus status = WADI_NEW(&pick, wet->list.count, "wet sand", error);
    if (status == WADI_OK) {
        status = save_picked(&table, frame, pick, state, error);
        WADI_DELETE(pick, wet->list.count);
    }
    free_table(&table);
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
