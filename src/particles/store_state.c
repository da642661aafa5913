/* Particles into a snapshot and back, and the check of the store's invariants. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "particles/store.h"

enum { COPY_BLOCK = 16384 };

int wadi_particles_arrays(const WadiParticles *particles, WadiParticleArray arrays[WADI_COLUMN_MAX])
{
    int count = 0;
    arrays[count++] = (WadiParticleArray){ "position", 0, 3, true };
    arrays[count++] = (WadiParticleArray){ "velocity", 3, 3, true };
    for (int i = 6; i < particles->column_count; i += arrays[count - 1].components) {
        const WadiColumn *column = &particles->column[i];
        /* Common columns are always in frames, those of a solver if it shows them. */
        arrays[count++] = (WadiParticleArray){ column->name, i, column->is_vector ? 3 : 1,
                                               i < WADI_COMMON_COLUMNS || column->is_in_frames };
    }
    return count;
}

/* Three columns and their interleaved array in a snapshot; items have `size` 4 or 8 bytes. */
typedef struct Interleaved {
    const WadiColumn *column;
    void *array;
    size_t size;
} Interleaved;

#define INTERLEAVE(type)                                                                                     \
    static void join_##type(const Interleaved *of, int64_t first, int64_t end)                               \
    {                                                                                                        \
        const type *a = of->column[0].data, *b = of->column[1].data, *c = of->column[2].data;                \
        type *restrict to = of->array;                                                                       \
        for (int64_t i = first; i < end; ++i) {                                                              \
            to[3 * i] = a[i];                                                                                \
            to[3 * i + 1] = b[i];                                                                            \
            to[3 * i + 2] = c[i];                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void part_##type(const Interleaved *of, int64_t first, int64_t end)                               \
    {                                                                                                        \
        type *restrict a = of->column[0].data, *restrict b = of->column[1].data;                             \
        type *restrict c = of->column[2].data;                                                               \
        const type *from = of->array;                                                                        \
        for (int64_t i = first; i < end; ++i) {                                                              \
            a[i] = from[3 * i];                                                                              \
            b[i] = from[3 * i + 1];                                                                          \
            c[i] = from[3 * i + 2];                                                                          \
        }                                                                                                    \
    }

INTERLEAVE(uint32_t)
INTERLEAVE(uint64_t)

static void join_columns(void *context, int64_t first, int64_t end)
{
    const Interleaved *of = context;
    if (of->size == 8) {
        join_uint64_t(of, first, end);
    } else {
        join_uint32_t(of, first, end);
    }
}

static void part_columns(void *context, int64_t first, int64_t end)
{
    const Interleaved *of = context;
    if (of->size == 8) {
        part_uint64_t(of, first, end);
    } else {
        part_uint32_t(of, first, end);
    }
}

WadiStatus wadi_particles_save(const WadiParticles *particles, WadiState *state, WadiError *error)
{
    WadiParticleArray arrays[WADI_COLUMN_MAX];
    int array_count = wadi_particles_arrays(particles, arrays);
    size_t count = (size_t)particles->count;
    for (int a = 0; a < array_count; ++a) {
        const WadiColumn *column = &particles->column[arrays[a].first];
        state->next_use = arrays[a].is_in_frames ? WADI_USE_BOTH : WADI_USE_CHECKPOINT;
        if (arrays[a].components == 1) {
            WADI_TRY(wadi_state_put(state, arrays[a].name, column->type, 1, count, column->data, error));
            continue;
        }
        Interleaved whole = { column, NULL, wadi_type_size(column->type) };
        WADI_TRY(wadi_state_add(state, arrays[a].name, column->type, 3, count, &whole.array, error));
        wadi_parallel_for((int64_t)count, COPY_BLOCK, join_columns, &whole);
    }
    state->next_use = WADI_USE_CHECKPOINT;
    return wadi_state_put(state, "next_id", WADI_TYPE_U32, 1, 1, &particles->next_id, error);
}

/* The id that occurs twice, or -1; *is_checked is false when there was no memory for the marks. */
static int64_t find_repeated_id(const uint32_t *id, size_t count, uint32_t next_id, bool *is_checked)
{
    uint64_t *marks = NULL;
    size_t words = (size_t)next_id / 64 + 1;
    *is_checked = WADI_NEW(&marks, words, "marks of ids", NULL) == WADI_OK;
    int64_t repeated = -1;
    for (size_t i = 0; *is_checked && i < count && repeated < 0; ++i) {
        uint64_t bit = UINT64_C(1) << (id[i] % 64);
        repeated = (marks[id[i] / 64] & bit) != 0 ? (int64_t)id[i] : -1;
        marks[id[i] / 64] |= bit;
    }
    WADI_DELETE(marks, words);
    return repeated;
}

static WadiStatus check_ids(const WadiStateArray *ids, uint32_t next_id, WadiError *error)
{
    const uint32_t *id = ids->data;
    for (size_t i = 0; i < ids->count; ++i) {
        if (id[i] >= next_id) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "array 'id': id %u of particle %zu is not below next_id %u", id[i], i, next_id);
        }
    }
    bool is_checked;
    int64_t repeated = find_repeated_id(id, ids->count, next_id, &is_checked);
    if (!is_checked) {
        return wadi_fail_memory(error, (size_t)next_id / 8, "the check of particle ids");
    }
    if (repeated >= 0) {
        return wadi_fail(error, WADI_ERR_FORMAT, "array 'id': id %lld occurs twice", (long long)repeated);
    }
    return WADI_OK;
}

static WadiStatus check_reals(const WadiStateArray *array, WadiError *error)
{
    const bool is_real = array->type == WADI_TYPE_F32 || array->type == WADI_TYPE_F64;
    return is_real ? wadi_state_check_reals(array, -WADI_STATE_REAL_MAX, WADI_STATE_REAL_MAX, error)
                   : WADI_OK;
}

WadiStatus wadi_particles_load(WadiParticles *particles, const WadiState *state, WadiError *error)
{
    const WadiStateArray *found[WADI_COLUMN_MAX] = { NULL };
    const WadiStateArray *next_id = NULL;
    size_t count = SIZE_MAX;
    WadiParticleArray arrays[WADI_COLUMN_MAX];
    int array_count = wadi_particles_arrays(particles, arrays);
    for (int a = 0; a < array_count; ++a) {
        WADI_TRY(wadi_state_expect(state, arrays[a].name, particles->column[arrays[a].first].type,
                                   arrays[a].components, count, &found[a], error));
        WADI_TRY(check_reals(found[a], error));
        count = found[a]->count;
    }
    WADI_TRY(wadi_state_expect(state, "next_id", WADI_TYPE_U32, 1, 1, &next_id, error));
    if (count > WADI_PARTICLES_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "array 'position' has %zu items, at most %d are possible",
                         count, (int)WADI_PARTICLES_MAX);
    }
    uint32_t new_next_id;
    memcpy(&new_next_id, next_id->data, sizeof new_next_id);
    WADI_TRY(check_ids(wadi_state_find(state, "id"), new_next_id, error));
    WADI_TRY(wadi_particles_reserve(particles, (int64_t)count, error));

    size_t padded = (count + WADI_PARTICLE_PAD - 1) / WADI_PARTICLE_PAD * WADI_PARTICLE_PAD;
    for (int a = 0; a < array_count && count > 0; ++a) {
        int components = arrays[a].components;
        WadiColumn *column = &particles->column[arrays[a].first];
        size_t size = wadi_type_size(column->type);
        if (components == 1) {
            memcpy(column->data, found[a]->data, count * size);
        } else {
            Interleaved whole = { column, found[a]->data, size };
            wadi_parallel_for((int64_t)count, COPY_BLOCK, part_columns, &whole);
        }
        for (int c = 0; c < components; ++c) {
            memset((char *)column[c].data + count * size, 0, (padded - count) * size);
        }
    }
    particles->count = (int32_t)count;
    particles->next_id = new_next_id;
    return WADI_OK;
}

int32_t wadi_particles_find_not_finite(const WadiParticles *p)
{
    for (int32_t i = 0; i < p->count; ++i) {
        if (!isfinite(p->x[i]) || !isfinite(p->y[i]) || !isfinite(p->z[i]) || !isfinite(p->vx[i]) ||
            !isfinite(p->vy[i]) || !isfinite(p->vz[i])) {
            return i;
        }
    }
    return -1;
}

bool wadi_particles_validate(const WadiParticles *particles)
{
    if (particles->count < 0 || particles->count > particles->capacity ||
        particles->capacity > WADI_PARTICLES_MAX || particles->capacity % WADI_PARTICLE_PAD != 0 ||
        particles->x != particles->column[0].data || particles->material != particles->column[7].data) {
        return false;
    }
    size_t count = (size_t)particles->count;
    size_t padded = (count + WADI_PARTICLE_PAD - 1) / WADI_PARTICLE_PAD * WADI_PARTICLE_PAD;
    for (int c = 0; c < particles->column_count; ++c) {
        const WadiColumn *column = &particles->column[c];
        size_t size = wadi_type_size(column->type);
        if (column->capacity < particles->capacity || (uintptr_t)column->data % WADI_ALIGNMENT != 0) {
            return false;
        }
        const unsigned char *bytes = column->data;
        for (size_t i = count * size; i < padded * size; ++i) {
            if (bytes[i] != 0) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (particles->id[i] >= particles->next_id) {
            return false;
        }
    }
    bool is_checked;
    return find_repeated_id(particles->id, count, particles->next_id, &is_checked) < 0;
}
