/* A folder for the files of one test program, and states to write to it. */
#ifndef WADI_TESTS_IO_SCRATCH_H
#define WADI_TESTS_IO_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/random.h"
#include "core/state.h"
#include "expect.h"
#include "io/run/run_folder.h"

static char scratch[512];

static inline int scratch_remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

static inline void scratch_remove_tree(const char *path)
{
    nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static inline int scratch_begin(void **unused)
{
    (void)unused;
    const char *base = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/wadi-test-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(scratch) == NULL;
}

static inline int scratch_end(void **unused)
{
    (void)unused;
    scratch_remove_tree(scratch);
    return 0;
}

/* Path below the scratch folder; two are valid at a time. */
static inline const char *scratch_path(const char *name)
{
    static char paths[2][1024];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
    return paths[turn];
}

static inline void scratch_write(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

/* Number of files and folders in a folder whose names contain `part`. */
static inline int scratch_count(const char *path, const char *part)
{
    int count = 0;
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        count += strstr(entry->d_name, part) != NULL;
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return count;
}

/* Every attribute of a frame, `count` particles of random bits that depend on `seed`. */
static inline WadiStatus scratch_fill(WadiState *state, size_t count, uint64_t seed, WadiError *error)
{
    static const struct {
        const char *name;
        WadiType type;
        int components;
    } columns[] = {
        { "position", WADI_TYPE_F64, 3 }, { "velocity", WADI_TYPE_F32, 3 }, { "id", WADI_TYPE_U32, 1 },
        { "material", WADI_TYPE_U8, 1 },  { "radius", WADI_TYPE_F32, 1 },   { "wetness", WADI_TYPE_F32, 1 },
        { "density", WADI_TYPE_F32, 1 },  { "pressure", WADI_TYPE_F32, 1 }, { "rigid", WADI_TYPE_U8, 1 },
        { "parent", WADI_TYPE_I32, 1 },   { "key", WADI_TYPE_U64, 1 },
    };
    wadi_state_clear(state);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; ++c) {
        void *data = NULL;
        WadiStatus status = wadi_state_add(state, columns[c].name, columns[c].type, columns[c].components,
                                           count, &data, error);
        if (status != WADI_OK) {
            return status;
        }
        size_t values = count * (size_t)columns[c].components;
        for (size_t i = 0; i < values; ++i) {
            double u = wadi_random_unit(seed + c, i, WADI_RANDOM_TEST);
            switch (columns[c].type) {
            case WADI_TYPE_F64: ((double *)data)[i] = u; break;
            case WADI_TYPE_F32: ((float *)data)[i] = (float)u; break;
            case WADI_TYPE_U8: ((uint8_t *)data)[i] = (uint8_t)(u * 256.0); break;
            case WADI_TYPE_I32: ((int32_t *)data)[i] = (int32_t)(u * 4e9 - 2e9); break;
            case WADI_TYPE_U64: ((uint64_t *)data)[i] = (uint64_t)(u * 1e19); break;
            default: ((uint32_t *)data)[i] = (uint32_t)(u * 4e9);
            }
        }
    }
    return WADI_OK;
}

static inline WadiRunSummary scratch_summary(int frames)
{
    static char scene[] = "scenes/column.yaml", name[] = "column", solver[] = "flip", sand[] = "wet \"sand\"";
    WadiRunSummary summary = { .scene = scene,
                               .name = name,
                               .solver = solver,
                               .content_hash = UINT64_C(0x0123456789abcdef),
                               .threads = 2,
                               .frames = frames,
                               .frame_count = 72,
                               .fps = 24.0,
                               .steps = 1000,
                               .material_count = 1,
                               .material_name = { sand },
                               .material_particles = { 123456789012 },
                               .seconds_total = 12.5,
                               .peak_rss_bytes = 1 << 30,
                               .state_hash = 42,
                               .drift_mass = 1e-17,
                               .max_divergence = 1e-9 };
    wadi_stage_times_add(&summary.stages, "sort by cell", 1.25);
    wadi_stage_times_add(&summary.stages, "project", 3.5);
    return summary;
}

/* Submit frame `frame` of `count` particles with a checkpoint, both of the same arrays. */
static inline WadiStatus scratch_submit(WadiRunFolder *folder, WadiState *state, int frame, size_t count,
                                        bool is_kept, WadiError *error)
{
    WadiStatus status = wadi_run_folder_flush(folder, error);
    if (status == WADI_OK) {
        status = scratch_fill(state, count, (uint64_t)frame * 100, error);
    }
    if (status != WADI_OK) {
        return status;
    }
    WadiRunSummary summary = scratch_summary(frame);
    WadiRunItem item = {
        .header = { .time = (frame - 1) / 24.0, .frame = frame, .fps = 24.0, .name = "column" },
        .state = state,
        .has_frame = true,
        .has_checkpoint = true,
        .is_checkpoint_kept = is_kept,
        .summary = &summary
    };
    return wadi_run_folder_submit(folder, &item, error);
}

#endif
