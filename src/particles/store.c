#include "particles/store.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"

enum { PERMUTE_BLOCK = 4096 };

/* The common columns, in the order of the shortcuts. */
enum { COLUMN_X, COLUMN_Y, COLUMN_Z, COLUMN_VX, COLUMN_VY, COLUMN_VZ, COLUMN_ID };

static void refresh_shortcuts(WadiParticles *particles)
{
    particles->x = particles->column[COLUMN_X].data;
    particles->y = particles->column[COLUMN_Y].data;
    particles->z = particles->column[COLUMN_Z].data;
    particles->vx = particles->column[COLUMN_VX].data;
    particles->vy = particles->column[COLUMN_VY].data;
    particles->vz = particles->column[COLUMN_VZ].data;
    particles->id = particles->column[COLUMN_ID].data;
    particles->material = particles->column[WADI_COLUMN_MATERIAL].data;
}

static int64_t padded(int64_t count)
{
    return (count + WADI_PARTICLE_PAD - 1) / WADI_PARTICLE_PAD * WADI_PARTICLE_PAD;
}

enum { ZERO_BLOCK = 1 << 16 }; /* items */

typedef struct Zeros {
    const WadiColumn *column;
    int64_t first;
} Zeros;

static void zero_block(void *context, int64_t first, int64_t end)
{
    const Zeros *zeros = context;
    const size_t size = wadi_type_size(zeros->column->type);
    memset((char *)zeros->column->data + (size_t)(zeros->first + first) * size, 0,
           (size_t)(end - first) * size);
}

/* By all threads: first access to new memory takes most of the time. */
static void zero_items(const WadiColumn *column, int64_t first, int64_t end)
{
    if (end > first) {
        wadi_parallel_for(end - first, ZERO_BLOCK, zero_block, &(Zeros){ column, first });
    }
}

WadiStatus wadi_particles_init(WadiParticles *particles, WadiError *error)
{
    static const struct {
        const char *name;
        WadiType type;
    } common[] = {
        { "x", WADI_TYPE_F64 },  { "y", WADI_TYPE_F64 },       { "z", WADI_TYPE_F64 },
        { "vx", WADI_TYPE_F32 }, { "vy", WADI_TYPE_F32 },      { "vz", WADI_TYPE_F32 },
        { "id", WADI_TYPE_U32 }, { "material", WADI_TYPE_U8 },
    };
    *particles = (WadiParticles){ 0 };
    for (size_t i = 0; i < sizeof common / sizeof *common; ++i) {
        int index;
        WADI_TRY(wadi_particles_add_column(particles, common[i].name, common[i].type, &index, error));
        WADI_ASSERT_TRY(index == (int)i, error);
    }
    return WADI_OK;
}

void wadi_particles_free(WadiParticles *particles)
{
    for (int i = 0; i < particles->column_count; ++i) {
        WadiColumn *column = &particles->column[i];
        wadi_free(column->data, (size_t)column->capacity, wadi_type_size(column->type));
    }
    for (int i = 0; i < WADI_SPARE_COUNT; ++i) {
        wadi_free(particles->spare[i].data, (size_t)particles->spare[i].capacity, (size_t)1 << i);
    }
    *particles = (WadiParticles){ 0 };
}

static WadiStatus grow_column(WadiColumn *column, int64_t capacity, WadiError *error)
{
    if (column->capacity >= capacity) {
        return WADI_OK;
    }
    size_t size = wadi_type_size(column->type);
    /* Not zeroed: items are when they are appended. */
    WADI_TRY(column->capacity == 0
                 ? wadi_alloc_unset(&column->data, (size_t)capacity, size, column->name, error)
                 : wadi_realloc(&column->data, (size_t)column->capacity, (size_t)capacity, size, column->name,
                                error));
    column->capacity = (int32_t)capacity;
    return WADI_OK;
}

WadiStatus wadi_particles_add_column(WadiParticles *particles, const char *name, WadiType type, int *index,
                                     WadiError *error)
{
    WADI_ASSERT_TRY(particles->count == 0, error);
    WADI_ASSERT_TRY(particles->column_count < WADI_COLUMN_MAX, error);
    WADI_ASSERT_TRY(strlen(name) < WADI_STATE_NAME_SIZE && strcmp(name, "next_id") != 0, error);
    for (int i = 0; i < particles->column_count; ++i) {
        WADI_ASSERT_TRY(strcmp(particles->column[i].name, name) != 0, error);
    }
    *index = -1;
    WadiColumn column = { .type = type };
    snprintf(column.name, sizeof column.name, "%s", name);
    WADI_TRY(grow_column(&column, particles->capacity, error));
    *index = particles->column_count;
    particles->column[particles->column_count++] = column;
    return WADI_OK;
}

WadiStatus wadi_particles_add_vector(WadiParticles *particles, const char *name, WadiType type, int *index,
                                     WadiError *error)
{
    WADI_TRY(wadi_particles_add_column(particles, name, type, index, error));
    for (int c = 1; c < 3; ++c) {
        char component[WADI_STATE_NAME_SIZE];
        int ignored;
        snprintf(component, sizeof component, "%.40s.%c", name, "xyz"[c]);
        WADI_TRY(wadi_particles_add_column(particles, component, type, &ignored, error));
    }
    particles->column[*index].is_vector = true;
    return WADI_OK;
}

int wadi_particles_find_column(const WadiParticles *particles, const char *name)
{
    for (int c = 0; c < particles->column_count; ++c) {
        if (strcmp(particles->column[c].name, name) == 0) {
            return c;
        }
    }
    return -1;
}

void wadi_particles_show_column(WadiParticles *particles, int index)
{
    WADI_ASSERT_ELSE(index >= WADI_COMMON_COLUMNS && index < particles->column_count, return;);
    particles->column[index].is_in_frames = true;
}

void wadi_particles_skip_in_sort(WadiParticles *particles, int index, bool is_skipped)
{
    WADI_ASSERT_ELSE(index >= WADI_COLUMN_MATERIAL && index < particles->column_count, return;);
    particles->column[index].is_skipped_in_sort = is_skipped;
}

void *wadi_particles_column(const WadiParticles *particles, int index)
{
    WADI_ASSERT_ELSE(index >= 0 && index < particles->column_count, return NULL);
    return particles->column[index].data;
}

WadiStatus wadi_particles_reserve(WadiParticles *particles, int64_t capacity, WadiError *error)
{
    if (capacity > WADI_PARTICLES_MAX) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "%lld particles are more than the %d a simulation can hold; "
                         "use larger cells, fewer particles a cell or smaller bodies",
                         (long long)capacity, (int)WADI_PARTICLES_MAX);
    }
    int64_t wanted = padded(capacity);
    if (wanted <= particles->capacity) {
        return WADI_OK;
    }
    for (int i = 0; i < particles->column_count; ++i) {
        WadiStatus status = grow_column(&particles->column[i], wanted, error);
        if (status != WADI_OK) {
            refresh_shortcuts(particles);
            return status;
        }
    }
    particles->capacity = (int32_t)wanted;
    refresh_shortcuts(particles);
    return WADI_OK;
}

WadiStatus wadi_particles_append(WadiParticles *particles, int64_t count, int32_t *first, WadiError *error)
{
    WADI_ASSERT_TRY(count >= 0, error);
    *first = particles->count;
    if (count > (int64_t)UINT32_MAX - particles->next_id) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "no particle ids left: %u were given out and %lld more are wanted, of %u in a run; "
                         "lower the emitters' rates or limit them with max_particles",
                         particles->next_id, (long long)count, UINT32_MAX);
    }
    int64_t total = particles->count + count;
    if (total > particles->capacity) {
        int64_t grown = (int64_t)particles->capacity + particles->capacity / 2;
        grown = grown < WADI_PARTICLES_MAX ? grown : WADI_PARTICLES_MAX;
        WADI_TRY(wadi_particles_reserve(particles, total > grown ? total : grown, error));
    }
    for (int i = 0; i < particles->column_count; ++i) {
        zero_items(&particles->column[i], particles->count, padded(total));
    }
    for (int64_t i = 0; i < count; ++i) {
        particles->id[particles->count + i] = particles->next_id + (uint32_t)i;
    }
    particles->next_id += (uint32_t)count;
    particles->count = (int32_t)total;
    return WADI_OK;
}

WadiStatus wadi_particles_repeat(WadiParticles *particles, int32_t first, int times, WadiError *error)
{
    const int32_t count = particles->count - first;
    int32_t copy;
    for (int n = 0; n < times && count > 0; ++n) {
        WADI_TRY(wadi_particles_append(particles, count, &copy, error));
        for (int c = 0; c < particles->column_count; ++c) {
            const size_t size = wadi_type_size(particles->column[c].type);
            char *data = particles->column[c].data;
            if (particles->column[c].data != (void *)particles->id) {
                memcpy(data + (size_t)copy * size, data + (size_t)first * size, (size_t)count * size);
            }
        }
    }
    return WADI_OK;
}

void wadi_particles_drop_newest(WadiParticles *particles, int64_t count)
{
    WADI_ASSERT_ELSE(count >= 0 && count <= particles->count, return;);
    for (int i = 0; i < particles->column_count; ++i) {
        zero_items(&particles->column[i], particles->count - count, particles->count);
    }
    particles->count -= (int32_t)count;
    particles->next_id -= (uint32_t)count;
}

typedef struct Gather {
    const void *from;
    void *to;
    const int32_t *order;
} Gather;

#define GATHER(type)                                                                                         \
    static void gather_##type(void *context, int64_t first, int64_t end)                                     \
    {                                                                                                        \
        const Gather *gather = context;                                                                      \
        const type *restrict from = gather->from;                                                            \
        type *restrict to = gather->to;                                                                      \
        for (int64_t i = first; i < end; ++i) {                                                              \
            to[i] = from[gather->order[i]];                                                                  \
        }                                                                                                    \
    }

GATHER(uint8_t)
GATHER(uint32_t)
GATHER(uint64_t)

static int width_log2(WadiType type)
{
    size_t size = wadi_type_size(type);
    return size == 1 ? 0 : size == 4 ? 2 : 3;
}

/* Items before `first` are in the column, the others in the spare block: join them with the smaller copy. */
static void join_halves(WadiColumn *column, WadiSpare *spare, size_t first, size_t count)
{
    size_t size = wadi_type_size(column->type);
    if (2 * first > count) {
        memcpy((char *)column->data + first * size, (char *)spare->data + first * size,
               (count - first) * size);
        return;
    }
    if (first > 0) {
        memcpy(spare->data, column->data, first * size);
    }
    WadiSpare old = { column->data, column->capacity };
    column->data = spare->data;
    column->capacity = spare->capacity;
    *spare = old;
}

static WadiStatus reserve_spare(WadiParticles *particles, int width, WadiError *error)
{
    WadiSpare *spare = &particles->spare[width];
    if (spare->capacity >= particles->capacity) {
        return WADI_OK;
    }
    wadi_free(spare->data, (size_t)spare->capacity, (size_t)1 << width);
    *spare = (WadiSpare){ 0 };
    WADI_TRY(wadi_alloc_unset(&spare->data, (size_t)particles->capacity, (size_t)1 << width,
                              "reordering of particles", error));
    spare->capacity = particles->capacity;
    return WADI_OK;
}

WadiStatus wadi_particles_permute(WadiParticles *particles, const int32_t *order, WadiError *error)
{
    return wadi_particles_permute_from(particles, 0, order, error);
}

WadiStatus wadi_particles_permute_from(WadiParticles *particles, int32_t first, const int32_t *order,
                                       WadiError *error)
{
    WADI_ASSERT_TRY(first >= 0 && first <= particles->count, error);
    static const WadiBlockFn gather_of_width[WADI_SPARE_COUNT] = { gather_uint8_t, NULL, gather_uint32_t,
                                                                   gather_uint64_t };
    for (int i = 0; i < particles->column_count; ++i) {
        WADI_TRY(reserve_spare(particles, width_log2(particles->column[i].type), error));
    }
    for (int i = 0; i < particles->column_count; ++i) {
        WadiColumn *column = &particles->column[i];
        if (column->is_skipped_in_sort) {
            continue;
        }
        int width = width_log2(column->type);
        WadiSpare *spare = &particles->spare[width];
        size_t skip = (size_t)first << width;
        Gather gather = { column->data == NULL ? NULL : (char *)column->data + skip,
                          spare->data == NULL ? NULL : (char *)spare->data + skip, order };
        wadi_parallel_for(particles->count - first, PERMUTE_BLOCK, gather_of_width[width], &gather);
        join_halves(column, spare, (size_t)first, (size_t)particles->count);
        zero_items(column, particles->count, padded(particles->count));
    }
    refresh_shortcuts(particles);
    return WADI_OK;
}

typedef struct Compact {
    WadiParticles *particles;
    const uint8_t *is_removed;
} Compact;

#define COMPACT(type)                                                                                        \
    static int64_t compact_##type(type *data, const uint8_t *is_removed, int64_t count)                      \
    {                                                                                                        \
        int64_t kept = 0;                                                                                    \
        for (int64_t i = 0; i < count; ++i) {                                                                \
            data[kept] = data[i];                                                                            \
            kept += is_removed[i] == 0;                                                                      \
        }                                                                                                    \
        return kept;                                                                                         \
    }

COMPACT(uint8_t)
COMPACT(uint32_t)
COMPACT(uint64_t)

/* Columns are independent of each other; a column is compacted in place by one thread. */
static void compact_columns(void *context, int64_t first, int64_t end)
{
    Compact *compact = context;
    for (int64_t i = first; i < end; ++i) {
        WadiColumn *column = &compact->particles->column[i];
        int64_t count = compact->particles->count;
        int width = width_log2(column->type);
        int64_t kept = width == 0   ? compact_uint8_t(column->data, compact->is_removed, count)
                       : width == 2 ? compact_uint32_t(column->data, compact->is_removed, count)
                                    : compact_uint64_t(column->data, compact->is_removed, count);
        zero_items(column, kept, count);
    }
}

int32_t wadi_particles_remove(WadiParticles *particles, const uint8_t *is_removed)
{
    int32_t removed = 0;
    for (int32_t i = 0; i < particles->count; ++i) {
        removed += is_removed[i] != 0;
    }
    if (removed > 0) {
        Compact compact = { particles, is_removed };
        wadi_parallel_for(particles->column_count, 1, compact_columns, &compact);
        particles->count -= removed;
    }
    return removed;
}

size_t wadi_particles_bytes_each(const WadiParticles *particles)
{
    size_t bytes = 0;
    bool has_width[WADI_SPARE_COUNT] = { false };
    for (int i = 0; i < particles->column_count; ++i) {
        bytes += wadi_type_size(particles->column[i].type);
        has_width[width_log2(particles->column[i].type)] = true;
    }
    for (int i = 0; i < WADI_SPARE_COUNT; ++i) {
        bytes += has_width[i] ? (size_t)1 << i : 0;
    }
    return bytes;
}
