/* wadi bench: the standard workloads, timed by stage. Only the steps are timed: no seeding, no files. */
#include <string.h>
#include <time.h>

#include "bench.h"
#include "bench_stream.h"
#include "bench_surface.h"
#include "command.h"
#include "human.h"
#include "options.h"
#include "signals.h"

enum { NAMES_MAX = 32, FRAMES_DEFAULT = 24 };

/* One case that was run: the profile has the differences to the time before the first step. */
typedef struct Result {
    const WadiBench *bench;
    const WadiBenchCase *bench_case;
    int frames, resolution;
    int64_t particles;
    double seconds; /* wall-clock over the steps */
    WadiProfile profile;
    WadiBenchWork work;
    double triad; /* bytes per second; 0: unknown */
} Result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Subtracts what ran before the first step. */
static void subtract(WadiProfile *profile, const WadiProfile *before)
{
    for (int i = 0; i < before->stage_count; ++i) {
        profile->seconds[i] -= before->seconds[i];
    }
}

static WadiStatus simulate(Result *result, const WadiScene *scene, int threads, WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    WadiSim *sim = NULL;
    WadiStatus status = wadi_sim_create(&sim, scene, &def, error);
    if (status != WADI_OK) {
        return status;
    }
    WadiProfile before;
    wadi_sim_profile(sim, &before);
    WadiProfile last = before;
    while (status == WADI_OK && wadi_sim_frame(sim) <= result->frames && !wadi_cli_is_stopped()) {
        double start = now();
        status = wadi_sim_step(sim, error);
        result->seconds += now() - start;
        wadi_sim_profile(sim, &result->profile);
        wadi_bench_work_add(&result->work, &last, &result->profile);
        last = result->profile;
    }
    result->particles = (int64_t)wadi_sim_particle_count(sim);
    wadi_sim_profile(sim, &result->profile);
    subtract(&result->profile, &before);
    if (status == WADI_OK && wadi_cli_is_stopped()) {
        status = error->status = WADI_ERR_STOPPED;
        snprintf(error->text, sizeof error->text, "stopped in %s", result->bench_case->name);
    }
    wadi_sim_destroy(sim);
    return status;
}

static WadiStatus run_case(Result *result, int threads, WadiError *error)
{
    char resolution[48];
    snprintf(resolution, sizeof resolution, "resolution=%d", result->resolution);
    const char *sets[] = { resolution };
    WadiSceneDef def = wadi_default_scene_def();
    def.path = result->bench_case->name;
    def.text = result->bench_case->scene;
    def.sets = sets;
    def.set_count = 1;
    WadiScene *scene = NULL;
    WadiStatus status = wadi_scene_load(&scene, &def, error);
    if (status == WADI_OK) {
        status = simulate(result, scene, threads, error);
    }
    wadi_scene_destroy(scene);
    return status;
}

static double ratio(double a, double b)
{
    return b > 0.0 ? a / b : 0.0;
}

static double stage_seconds(const WadiProfile *profile, const char *name)
{
    for (int i = 0; i < profile->stage_count; ++i) {
        if (strcmp(profile->stage[i], name) == 0) {
            return profile->seconds[i];
        }
    }
    return 0.0;
}

static double rate(const WadiProfile *profile, const char *stage)
{
    return ratio((double)profile->particle_steps, stage_seconds(profile, stage));
}

static void print_stage(const Result *result, const char *name, double seconds)
{
    printf("  %-24s %10.3f %7.1f%%\n", name, 1e3 * ratio(seconds, (double)result->profile.steps),
           100.0 * ratio(seconds, result->seconds));
}

static void print_streams(const Result *result)
{
    WadiBenchStreams streams;
    wadi_bench_streams(&result->profile, &result->work, &streams);
    if (streams.count == 0 || !(result->triad > 0.0)) {
        return;
    }
    printf("  memory bandwidth: triad %.1f GB/s;", 1e-9 * result->triad);
    for (int i = 0; i < streams.count; ++i) {
        printf("%s %s %.1f (%.0f %%)", i > 0 ? "," : "", streams.name[i], 1e-9 * streams.rate[i],
               100.0 * streams.rate[i] / result->triad);
    }
    printf("\n");
}

static void print_text(const Result *result)
{
    const WadiProfile *p = &result->profile;
    char count[WADI_CLI_HUMAN_SIZE], bytes[WADI_CLI_HUMAN_SIZE];
    double steps = (double)p->steps;
    printf("%s: %s particles, resolution %d, %d frames, %lld steps, %d thread%s\n", result->bench_case->name,
           wadi_cli_human_count(count, result->particles), result->resolution, result->frames,
           (long long)p->steps, p->threads, p->threads == 1 ? "" : "s");
    printf("  %-24s %10s %8s\n", "stage", "ms a step", "share");
    double other = result->seconds;
    for (int i = 0; i < p->stage_count; ++i) {
        if (p->seconds[i] >= 0.0005 * result->seconds) {
            print_stage(result, p->stage[i], p->seconds[i]);
            other -= p->seconds[i];
        }
    }
    print_stage(result, "other", other);
    print_stage(result, "all", result->seconds);
    printf("  %.3f s a frame, %.2f million particle-steps a second\n", ratio(result->seconds, result->frames),
           1e-6 * ratio((double)p->particle_steps, result->seconds));
    if (p->cells > 0) {
        printf("  to the grid %.1f, back %.1f million particles a second\n",
               1e-6 * rate(p, "particles to grid"), 1e-6 * rate(p, "grid to particles"));
    }
    printf("  pressure: %.1f iterations a solve, %.2f solves a step\n",
           ratio((double)p->pressure_iterations, (double)p->pressure_solves),
           ratio((double)p->pressure_solves, steps));
    if (p->friction_solves > 0) {
        printf("  friction: %.1f iterations a solve, %.2f solves a step\n",
               ratio((double)p->friction_iterations, (double)p->friction_solves),
               ratio((double)p->friction_solves, steps));
    }
    print_streams(result);
    printf("  memory: %zu bytes a particle, a step's scratch ", p->particle_bytes);
    if (p->cells > 0) {
        printf("%.0f bytes a cell of material (%s cells, %.2f times as many in the grid), ",
               ratio((double)p->scratch_bytes, (double)p->cells), wadi_cli_human_count(count, p->cells),
               ratio((double)p->grid_cells, (double)p->cells));
    } else {
        printf("%.0f bytes a particle, ", ratio((double)p->scratch_bytes, (double)result->particles));
    }
    printf("%s in all\n\n", wadi_cli_human_bytes(bytes, (double)p->live_bytes));
    fflush(stdout);
}

static void print_json(const Result *result)
{
    const WadiProfile *p = &result->profile;
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "bench", result->bench->name);
    wadi_cli_json_text(&json, "case", result->bench_case->name);
    wadi_cli_json_text(&json, "wadi", wadi_version());
    wadi_cli_json_integer(&json, "threads", p->threads);
    wadi_cli_json_integer(&json, "particles", result->particles);
    wadi_cli_json_integer(&json, "resolution", result->resolution);
    wadi_cli_json_integer(&json, "frames", result->frames);
    wadi_cli_json_integer(&json, "steps", p->steps);
    wadi_cli_json_number(&json, "seconds", result->seconds);
    wadi_cli_json_number(&json, "seconds_per_frame", ratio(result->seconds, result->frames));
    wadi_cli_json_number(&json, "particle_steps_per_second",
                         ratio((double)p->particle_steps, result->seconds));
    wadi_cli_json_number(&json, "to_grid_per_second", rate(p, "particles to grid"));
    wadi_cli_json_number(&json, "to_particles_per_second", rate(p, "grid to particles"));
    wadi_cli_json_integer(&json, "pressure_solves", p->pressure_solves);
    wadi_cli_json_integer(&json, "pressure_iterations", p->pressure_iterations);
    wadi_cli_json_integer(&json, "friction_solves", p->friction_solves);
    wadi_cli_json_integer(&json, "friction_iterations", p->friction_iterations);
    wadi_cli_json_integer(&json, "cells", p->cells);
    wadi_cli_json_integer(&json, "grid_cells", p->grid_cells);
    wadi_cli_json_integer(&json, "particle_bytes", (int64_t)p->particle_bytes);
    wadi_cli_json_integer(&json, "scratch_bytes", (int64_t)p->scratch_bytes);
    wadi_cli_json_integer(&json, "live_bytes", (int64_t)p->live_bytes);
    wadi_cli_json_numbers(&json, "stages", p->stage, p->seconds, p->stage_count);
    WadiBenchStreams streams;
    wadi_bench_streams(p, &result->work, &streams);
    wadi_cli_json_number(&json, "triad_bytes_per_second", result->triad);
    wadi_cli_json_numbers(&json, "bytes_per_second", streams.name, streams.rate, streams.count);
    wadi_cli_json_close(&json);
}

static void list(bool as_json)
{
    for (int i = 0; i < wadi_bench_count; ++i) {
        const WadiBench *bench = &wadi_benches[i];
        if (!as_json) {
            printf("%-14s %s\n", bench->name, bench->summary);
        }
        for (int c = 0; c < bench->case_count; ++c) {
            const WadiBenchCase *bench_case = &bench->cases[c];
            char count[WADI_CLI_HUMAN_SIZE];
            if (as_json) {
                WadiCliJson json = wadi_cli_json_open(stdout);
                wadi_cli_json_text(&json, "bench", bench->name);
                wadi_cli_json_text(&json, "case", bench_case->name);
                wadi_cli_json_text(&json, "summary", bench_case->summary);
                wadi_cli_json_integer(&json, "particles", bench_case->particles);
                wadi_cli_json_close(&json);
            } else {
                printf("  %-12s %s, about %s particles\n", bench_case->name, bench_case->summary,
                       wadi_cli_human_count(count, bench_case->particles));
            }
        }
    }
}

static int unknown_name(const char *what, const char *word, const char *const *names, int count)
{
    const char *nearest = wadi_cli_nearest(word, names, count);
    const WadiCliCommand *command = wadi_cli_find_command("bench");
    if (nearest != NULL) {
        return wadi_cli_usage_error(command, "no %s '%s'; did you mean '%s'?", what, word, nearest);
    }
    return wadi_cli_usage_error(command, "no %s '%s'; wadi bench lists them", what, word);
}

static int find_bench(const char *word, const WadiBench **bench)
{
    const char *names[NAMES_MAX];
    *bench = wadi_bench_find(word);
    for (int i = 0; i < wadi_bench_count && i < NAMES_MAX; ++i) {
        names[i] = wadi_benches[i].name;
    }
    return *bench != NULL ? WADI_CLI_EXIT_GOOD : unknown_name("bench", word, names, wadi_bench_count);
}

/* Range of the requested cases: all, or the one of --case. */
static int find_case(const WadiBench *bench, const char *word, int *first, int *end)
{
    *first = 0;
    *end = bench->case_count;
    if (word == NULL) {
        return WADI_CLI_EXIT_GOOD;
    }
    const char *names[NAMES_MAX];
    for (int c = 0; c < bench->case_count && c < NAMES_MAX; ++c) {
        names[c] = bench->cases[c].name;
        if (strcmp(word, names[c]) == 0) {
            *first = c;
            *end = c + 1;
            return WADI_CLI_EXIT_GOOD;
        }
    }
    return unknown_name("case", word, names, bench->case_count);
}

int wadi_cli_bench(const WadiCliArgs *args)
{
    if (args->operand == NULL) {
        list(args->json);
        return WADI_CLI_EXIT_GOOD;
    }
    const WadiBench *bench = NULL;
    int first = 0, end = 0;
    int code = find_bench(args->operand, &bench);
    if (code == WADI_CLI_EXIT_GOOD) {
        code = find_case(bench, args->bench_case, &first, &end);
    }
    if (code != WADI_CLI_EXIT_GOOD) {
        return code;
    }
    wadi_cli_catch_signals(NULL);
    if (strcmp(bench->name, "surface") == 0) {
        return wadi_bench_surface(args, bench, first, end);
    }
    double triad = -1.0; /* not measured yet */
    for (int c = first; c < end; ++c) {
        Result result = { .bench = bench,
                          .bench_case = &bench->cases[c],
                          .frames = args->frames > 0 ? args->frames : FRAMES_DEFAULT,
                          .resolution = wadi_bench_resolution(&bench->cases[c], args->scale) };
        WadiError error = { 0 };
        if (run_case(&result, args->threads, &error) != WADI_OK) {
            return wadi_cli_failure(args, &error);
        }
        triad = triad < 0.0 ? wadi_bench_triad(result.profile.threads) : triad;
        result.triad = triad;
        args->json ? print_json(&result) : print_text(&result);
    }
    return WADI_CLI_EXIT_GOOD;
}
