/* wadi bench surface: particles to meshes, from frame file to mesh file. The frame is in a temporary folder
 * under TMPDIR, which is removed afterwards. */
#include "bench_surface.h"

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "human.h"
#include "signals.h"

enum { ROUNDS = 7, PATH_MAX_LENGTH = 4096 };

/* m, at the standard size: 1/250 of the domain. */
static const double SURFACE_CELL = 0.004;

/* The fastest round: slower ones were disturbed by other programs. */
typedef struct Result {
    const WadiBench *bench;
    const WadiBenchCase *bench_case;
    int threads, rounds;
    WadiSurfaceReport best;
} Result;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static WadiStatus fail(WadiError *error, WadiStatus status, const char *what)
{
    error->status = status;
    snprintf(error->text, sizeof error->text, "%s", what);
    return status;
}

/* Writes one frame of the case's particles to disk. */
static WadiStatus make_run(const Result *result, int64_t particles, const char *folder, WadiError *error)
{
    char resolution[48], cell[64];
    int cells = wadi_bench_resolution(result->bench_case, particles);
    snprintf(resolution, sizeof resolution, "resolution=%d", cells);
    snprintf(cell, sizeof cell, "surface.cell_size=%.6g",
             SURFACE_CELL * result->bench_case->resolution / cells);
    const char *sets[] = { resolution, cell };
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.path = result->bench_case->name;
    scene_def.text = result->bench_case->scene;
    scene_def.sets = sets;
    scene_def.set_count = 2;
    WadiScene *scene = NULL;
    WadiStatus status = wadi_scene_load(&scene, &scene_def, error);
    if (status == WADI_OK) {
        WadiRunDef run = wadi_default_run_def();
        run.folder = folder;
        run.threads = result->threads;
        status = wadi_run(scene, &run, NULL, error);
    }
    wadi_scene_destroy(scene);
    return status;
}

static WadiStatus measure(Result *result, const char *folder, WadiError *error)
{
    WadiSurfaceDef def = wadi_default_surface_def();
    def.is_forced = true;
    def.threads = result->threads;
    def.stop = wadi_cli_stop();
    for (int round = 0; round < result->rounds; ++round) {
        WadiSurfaceReport report;
        WadiStatus status = wadi_surface(folder, &def, &report, error);
        if (status != WADI_OK) {
            return status;
        }
        if (round == 0 || report.seconds < result->best.seconds) {
            result->best = report;
        }
    }
    return WADI_OK;
}

static void print_text(const Result *result)
{
    const WadiSurfaceReport *r = &result->best;
    char particles[WADI_CLI_HUMAN_SIZE], triangles[WADI_CLI_HUMAN_SIZE], vertices[WADI_CLI_HUMAN_SIZE];
    printf("%s: %s particles, best of %d rounds\n", result->bench_case->name,
           wadi_cli_human_count(particles, r->particles), result->rounds);
    printf("  %-24s %10s\n", "stage", "ms");
    printf("  %-24s %10.1f\n", "read", 1e3 * r->read_seconds);
    printf("  %-24s %10.1f\n", "field", 1e3 * r->field_seconds);
    printf("  %-24s %10.1f\n", "mesh", 1e3 * r->mesh_seconds);
    printf("  %-24s %10.1f\n", "write", 1e3 * r->write_seconds);
    printf("  %-24s %10.1f\n", "all", 1e3 * r->seconds);
    printf("  %s triangles, %s vertices\n\n", wadi_cli_human_count(triangles, r->triangles),
           wadi_cli_human_count(vertices, r->vertices));
    fflush(stdout);
}

static void print_json(const Result *result)
{
    const WadiSurfaceReport *r = &result->best;
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "bench", result->bench->name);
    wadi_cli_json_text(&json, "case", result->bench_case->name);
    wadi_cli_json_text(&json, "wadi", wadi_version());
    wadi_cli_json_integer(&json, "rounds", result->rounds);
    wadi_cli_json_integer(&json, "particles", r->particles);
    wadi_cli_json_integer(&json, "triangles", r->triangles);
    wadi_cli_json_integer(&json, "vertices", r->vertices);
    wadi_cli_json_number(&json, "seconds", r->seconds);
    wadi_cli_json_number(&json, "read_seconds", r->read_seconds);
    wadi_cli_json_number(&json, "field_seconds", r->field_seconds);
    wadi_cli_json_number(&json, "mesh_seconds", r->mesh_seconds);
    wadi_cli_json_number(&json, "write_seconds", r->write_seconds);
    wadi_cli_json_close(&json);
}

static WadiStatus run_case(Result *result, int64_t particles, WadiError *error)
{
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX_LENGTH];
    int length = snprintf(folder, sizeof folder, "%s/wadi-bench-XXXXXX",
                          temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (length >= (int)sizeof folder || mkdtemp(folder) == NULL) {
        return fail(error, WADI_ERR_IO, "cannot make a folder for the bench; TMPDIR says where");
    }
    WadiStatus status = make_run(result, particles, folder, error);
    if (status == WADI_OK) {
        status = measure(result, folder, error);
    }
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}

int wadi_bench_surface(const WadiCliArgs *args, const WadiBench *bench, int first, int end)
{
    for (int c = first; c < end; ++c) {
        Result result = { .bench = bench,
                          .bench_case = &bench->cases[c],
                          .threads = args->threads,
                          .rounds = args->frames > 0 ? args->frames : ROUNDS };
        WadiError error = { 0 };
        if (run_case(&result, args->scale, &error) != WADI_OK) {
            return wadi_cli_failure(args, &error);
        }
        args->json ? print_json(&result) : print_text(&result);
    }
    return WADI_CLI_EXIT_GOOD;
}
