/* Surface files that are there already, with any content: wadi_surface keeps or replaces each, and says
 * which. The first byte picks format and mode; the rest is the file, or changes (three bytes each: where, and
 * what) to the one wadi wrote. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/check.h"
#include "wadi/wadi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FORMAT_COUNT = 3, SIZE_MAX_OF_FILE = 1 << 18 };
static const unsigned formats[FORMAT_COUNT] = { WADI_SURFACE_PLY, WADI_SURFACE_OBJ, WADI_SURFACE_VDB };
static const char *const suffixes[FORMAT_COUNT] = { "ply", "obj", "vdb" };
static char run[64], paths[FORMAT_COUNT][128];
static unsigned char *whole[FORMAT_COUNT];
static size_t whole_size[FORMAT_COUNT];

static size_t read_all(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, SIZE_MAX_OF_FILE, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return size;
}

static WadiStatus make_surface(int format, WadiSurfaceReport *report, WadiError *error)
{
    WadiSurfaceDef def = wadi_default_surface_def();
    def.formats = formats[format];
    def.threads = 1;
    return wadi_surface(run, &def, report, error);
}

static void clean(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", run);
    if (system(command) != 0) {
        perror(run);
    }
}

/* A run of one frame in memory, and its surface in each format that this build can write. */
static void make_run(void)
{
    snprintf(run, sizeof run, "/dev/shm/wadi-fuzz-%ld.run", (long)getpid());
    atexit(clean);
    WadiSceneDef def = wadi_default_scene_def();
    def.text = "{wadi: 1, name: k, solver: points, resolution: 8, frames: 1, domain: {min: [0, 0, 0], max: "
               "[1, 1, 1]}, materials: "
               "{sand: {kind: sand}}, bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], "
               "radius: 0.2}}}]}";
    WadiScene *scene = NULL;
    WadiRunDef run_def = wadi_default_run_def();
    run_def.folder = run;
    run_def.mode = WADI_RUN_OVERWRITE;
    run_def.threads = 1;
    WADI_ASSERT(wadi_scene_load(&scene, &def, NULL) == WADI_OK);
    WADI_ASSERT(wadi_run(scene, &run_def, NULL, NULL) == WADI_OK);
    wadi_scene_destroy(scene);
    for (int f = 0; f < FORMAT_COUNT; ++f) {
        snprintf(paths[f], sizeof paths[f], "%s/surface/sand.0001.%s", run, suffixes[f]);
        WadiSurfaceReport report;
        WadiError error;
        WadiStatus status = make_surface(f, &report, &error);
        WADI_ASSERT(status == WADI_OK || (status == WADI_ERR_UNSUPPORTED && formats[f] == WADI_SURFACE_VDB));
        whole[f] = malloc(SIZE_MAX_OF_FILE);
        whole_size[f] = status == WADI_OK && whole[f] != NULL ? read_all(paths[f], whole[f]) : 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (whole[0] == NULL) {
        make_run();
    }
    if (size < 1 || size > SIZE_MAX_OF_FILE || whole_size[data[0] % FORMAT_COUNT] == 0) {
        return 0;
    }
    int f = data[0] % FORMAT_COUNT;
    static unsigned char bytes[SIZE_MAX_OF_FILE];
    size_t length = size - 1;
    memcpy(bytes, data + 1, length);
    if (data[0] & 128) {
        length = whole_size[f];
        memcpy(bytes, whole[f], length);
        for (size_t i = 1; i + 2 < size; i += 3) {
            bytes[((size_t)data[i] << 8 | data[i + 1]) % length] = data[i + 2];
        }
        length = (size - 1) % 3 == 1 ? length * data[size - 1] / 255 : length;
    }
    int fd = open(paths[f], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length) {
        abort();
    }
    close(fd);
    size_t live = wadi_alloc_live_bytes();
    WadiSurfaceReport report;
    WadiError error;
    WADI_ASSERT(make_surface(f, &report, &error) == WADI_OK && report.kept + report.files == 1);
    /* Kept or written: the file is whole. */
    size_t found = read_all(paths[f], bytes);
    WADI_ASSERT(found == whole_size[f] && memcmp(bytes, whole[f], found) == 0);
    WADI_ASSERT(wadi_alloc_live_bytes() == live);
    return 0;
}
