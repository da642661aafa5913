/* Particles as columns. Positions are double (no precision is lost far from the origin, and contacts of
 * small overlap stay exact); everything else is float. `id` is identity, the index is not: sorting and
 * removal move particles.
 *
 * Columns that all solvers use are members; a solver adds its own by name before the first particle. Every
 * column is 64-byte aligned and padded with zeros to a multiple of WADI_PARTICLE_PAD items. Invariants:
 * count <= capacity <= WADI_PARTICLES_MAX; ids are unique and below next_id. */
#ifndef WADI_PARTICLES_STORE_H
#define WADI_PARTICLES_STORE_H

#include "core/state.h"
#include "math/vec3.h"

enum {
    WADI_PARTICLE_PAD = 16,
    WADI_COLUMN_MAX = 32,
    WADI_COMMON_COLUMNS = 8,
    WADI_COLUMN_MATERIAL = 7, /* the last of them */
    WADI_PARTICLES_MAX = 2000000000
};

typedef struct WadiColumn {
    char name[WADI_STATE_NAME_SIZE];
    WadiType type;
    bool is_in_frames;       /* written to frames, not only to checkpoints */
    bool is_skipped_in_sort; /* not permuted: all items are equal, or are written anew before they are read */
    /* It and the two columns after it are written as one array of three components, under its name. */
    bool is_vector;
    void *data;
    /* items allocated: the capacity of the store, or more after a growth that failed in part */
    int32_t capacity;
} WadiColumn;

/* Target of a permutation, then exchanged with a column of the same width. */
typedef struct WadiSpare {
    void *data;
    int32_t capacity;
} WadiSpare;

enum { WADI_SPARE_COUNT = 4 }; /* widths 1, 2, 4, 8 bytes */

typedef struct WadiParticles {
    int32_t count;
    int32_t capacity;
    uint32_t next_id;
    /* Shortcuts to the first columns; refreshed whenever the store grows or is permuted. */
    double *x, *y, *z;   /* m */
    float *vx, *vy, *vz; /* m/s */
    uint32_t *id;
    uint8_t *material; /* index into the scene's materials */
    WadiColumn column[WADI_COLUMN_MAX];
    int column_count;
    WadiSpare spare[WADI_SPARE_COUNT]; /* made by the first permutation or loan */
} WadiParticles;

/* An empty store with the common columns. */
WadiStatus wadi_particles_init(WadiParticles *particles, WadiError *error);
void wadi_particles_free(WadiParticles *particles);

/* Add a column before the first particle; returns its index for wadi_particles_column. */
WadiStatus wadi_particles_add_column(WadiParticles *particles, const char *name, WadiType type, int *index,
                                     WadiError *error);
/* Three columns that snapshots hold as one array of three components; *index is that of the first. */
WadiStatus wadi_particles_add_vector(WadiParticles *particles, const char *name, WadiType type, int *index,
                                     WadiError *error);
/* Makes a column of a solver an attribute of frames, under its name. */
void wadi_particles_show_column(WadiParticles *particles, int index);
/* Whether permutations skip a column: its solver writes it anew after each of them, or all its items are
 * equal. */
void wadi_particles_skip_in_sort(WadiParticles *particles, int index, bool is_skipped);
/* Index of the column of that name, or -1. */
int wadi_particles_find_column(const WadiParticles *particles, const char *name);
/* The present memory of a column; invalid after any growth or permutation of the store. */
void *wadi_particles_column(const WadiParticles *particles, int index);

/* Capacity for `capacity` particles in all. */
WadiStatus wadi_particles_reserve(WadiParticles *particles, int64_t capacity, WadiError *error);

/* Append `count` particles: zeroed columns, fresh ids; *first is the index of the first. Growth is by
 * half. */
WadiStatus wadi_particles_append(WadiParticles *particles, int64_t count, int32_t *first, WadiError *error);

/* Append `times` copies of all particles from `first` on, in their order, with fresh ids. */
WadiStatus wadi_particles_repeat(WadiParticles *particles, int32_t first, int times, WadiError *error);

/* Remove the newest `count` particles of the last append, their ids too. */
void wadi_particles_drop_newest(WadiParticles *particles, int64_t count);

/* New order: particle i becomes what was particle order[i]. `order` is a permutation of 0..count-1. */
WadiStatus wadi_particles_permute(WadiParticles *particles, const int32_t *order, WadiError *error);
/* The same for the particles from `first` on: particle first + i becomes what was particle first +
 * order[i]. */
WadiStatus wadi_particles_permute_from(WadiParticles *particles, int32_t first, const int32_t *order,
                                       WadiError *error);

/* Remove the particles whose flag is not 0, keeping the order of the others; returns their number. */
int32_t wadi_particles_remove(WadiParticles *particles, const uint8_t *is_removed);

/* Columns as in snapshots: positions, velocities and vectors of a solver as one array of three components,
 * every other column by itself. */
typedef struct WadiParticleArray {
    const char *name;
    int first;         /* column */
    int components;    /* columns */
    bool is_in_frames; /* not in checkpoints only */
} WadiParticleArray;
/* Those of a store, in column order; returns their number. */
int wadi_particles_arrays(const WadiParticles *particles, WadiParticleArray arrays[WADI_COLUMN_MAX]);

/* Saves and restores the exact state: arrays "position" and "velocity" (three components), "id",
 * "material" for frame and checkpoint, "next_id" and the solver's columns for the checkpoint alone. Load
 * replaces the content; the columns must be the same. */
WadiStatus wadi_particles_save(const WadiParticles *particles, WadiState *state, WadiError *error);
WadiStatus wadi_particles_load(WadiParticles *particles, const WadiState *state, WadiError *error);

/* Bytes of one particle in the store. */
size_t wadi_particles_bytes_each(const WadiParticles *particles);

/* Index of the first particle whose position or velocity is not finite, or -1. */
int32_t wadi_particles_find_not_finite(const WadiParticles *particles);

/* Checks the invariants above, for WADI_VALIDATE. Needs a bit for each id so far; without that memory the
 * uniqueness of ids is not checked. */
bool wadi_particles_validate(const WadiParticles *particles);

#endif
