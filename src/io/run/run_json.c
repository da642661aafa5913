/* Writes run.json. Its keys are a contract: docs/formats.md. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "io/run/run_folder.h"
#include "io/run/run_json.h"

void wadi_run_summary_free(WadiRunSummary *summary)
{
    wadi_string_free(summary->scene);
    wadi_string_free(summary->name);
    wadi_string_free(summary->solver);
    for (int i = 0; i < summary->material_count; ++i) {
        wadi_string_free(summary->material_name[i]);
    }
    for (int i = 0; i < summary->warning_count; ++i) {
        wadi_string_free(summary->warning[i]);
    }
    for (int i = 0; i < summary->stages.count && summary->are_stage_names_owned; ++i) {
        wadi_string_free((char *)(uintptr_t)summary->stages.name[i]);
    }
    WADI_DELETE(summary->awake, (size_t)summary->listed_frames);
    WADI_DELETE(summary->sleeping, (size_t)summary->listed_frames);
    *summary = (WadiRunSummary){ 0 };
}

WadiStatus wadi_run_summary_list_frames(WadiRunSummary *summary, int frames, const WadiRunSummary *previous,
                                        WadiError *error)
{
    const int count = frames < WADI_RUN_LISTED_MAX ? frames : WADI_RUN_LISTED_MAX;
    WADI_TRY(WADI_NEW(&summary->awake, (size_t)count, "counts of frames", error));
    summary->listed_frames = count;
    WADI_TRY(WADI_NEW(&summary->sleeping, (size_t)count, "counts of frames", error));
    for (int i = 0; i < count; ++i) {
        const bool is_known = previous != NULL && i < previous->listed_frames;
        summary->awake[i] = is_known ? previous->awake[i] : WADI_RUN_UNCOUNTED;
        summary->sleeping[i] = is_known ? previous->sleeping[i] : WADI_RUN_UNCOUNTED;
    }
    return WADI_OK;
}

void wadi_run_summary_count(WadiRunSummary *summary, int frame, int64_t particles, int64_t sleeping)
{
    if (frame <= summary->listed_frames) {
        summary->awake[frame - 1] = particles - sleeping;
        summary->sleeping[frame - 1] = sleeping;
    }
}

static void append_text(WadiText *text, const char *key, const char *value)
{
    wadi_text_printf(text, "  \"%s\": ", key);
    wadi_text_append_json(text, value != NULL ? value : "");
    wadi_text_append(text, ",\n");
}

static void append_number(WadiText *text, const char *indent, const char *key, double value, const char *end)
{
    wadi_text_printf(text, "%s\"%s\": ", indent, key);
    wadi_text_append_number(text, value);
    wadi_text_append(text, end);
}

static void append_particles(WadiText *text, const WadiRunSummary *summary)
{
    wadi_text_append(text, "  \"particles\": {");
    for (int i = 0; i < summary->material_count; ++i) {
        wadi_text_append(text, i > 0 ? ",\n    " : "\n    ");
        wadi_text_append_json(text, summary->material_name[i]);
        wadi_text_printf(text, ": %" PRId64, summary->material_particles[i]);
    }
    wadi_text_append(text, summary->material_count > 0 ? "\n  },\n" : "},\n");
}

static void append_counts(WadiText *text, const char *key, const int64_t *count, int frames)
{
    wadi_text_printf(text, "  \"%s\": [", key);
    for (int i = 0; i < frames; ++i) {
        wadi_text_append(text, i == 0 ? "" : ", ");
        if (count[i] == WADI_RUN_UNCOUNTED) {
            wadi_text_append(text, "null");
        } else {
            wadi_text_printf(text, "%" PRId64, count[i]);
        }
    }
    wadi_text_append(text, "],\n");
}

static void append_seconds(WadiText *text, const WadiRunSummary *summary)
{
    wadi_text_append(text, "  \"seconds\": {\n");
    append_number(text, "    ", "total", summary->seconds_total, ",\n");
    append_number(text, "    ", "per_frame",
                  summary->frames > 0 ? summary->seconds_total / summary->frames : 0.0, ",\n");
    wadi_text_append(text, "    \"stages\": {");
    for (int i = 0; i < summary->stages.count; ++i) {
        wadi_text_append(text, i > 0 ? ",\n      " : "\n      ");
        wadi_text_append_json(text, summary->stages.name[i]);
        wadi_text_append(text, ": ");
        wadi_text_append_number(text, summary->stages.seconds[i]);
    }
    wadi_text_append(text, summary->stages.count > 0 ? "\n    }\n  },\n" : "}\n  },\n");
}

static void append_resampling(WadiText *text, const WadiRunSummary *summary)
{
    if (!summary->has_resampling) {
        return;
    }
    wadi_text_printf(text,
                     "  \"resampling\": {\n    \"splits\": %" PRId64 ",\n    \"merges\": %" PRId64
                     ",\n    \"shares\": %" PRId64 ",\n",
                     summary->splits, summary->merges, summary->shares);
    append_number(text, "    ", "lost_energy", summary->lost_energy, ",\n    \"lost_spin\": [");
    for (int a = 0; a < 3; ++a) {
        wadi_text_append_number(text, summary->lost_spin[a]);
        wadi_text_append(text, a < 2 ? ", " : "]\n  },\n");
    }
}

void wadi_run_summary_append(const WadiRunSummary *summary, WadiText *text)
{
    wadi_text_append(text, "{\n");
    append_text(text, "wadi", wadi_version());
    append_text(text, "scene", summary->scene);
    append_text(text, "name", summary->name);
    append_text(text, "solver", summary->solver);
    wadi_text_printf(text, "  \"content_hash\": \"%016" PRIx64 "\",\n", summary->content_hash);
    for (int i = 0; i < summary->earlier_scene_count; ++i) {
        wadi_text_printf(text, "%s\"%016" PRIx64 "\"%s", i == 0 ? "  \"earlier_scenes\": [" : ", ",
                         summary->earlier_scene[i], i + 1 == summary->earlier_scene_count ? "],\n" : "");
    }
    wadi_text_printf(text, "  \"threads\": %d,\n", summary->threads);
    wadi_text_printf(text, "  \"finished\": %s,\n", summary->is_finished ? "true" : "false");
    wadi_text_printf(text, "  \"frames\": %d,\n", summary->frames);
    wadi_text_printf(text, "  \"frame_count\": %d,\n", summary->frame_count);
    append_number(text, "  ", "fps", summary->fps, ",\n");
    wadi_text_printf(text, "  \"steps\": %" PRId64 ",\n", summary->steps);
    append_particles(text, summary);
    const int listed = summary->frames < summary->listed_frames ? summary->frames : summary->listed_frames;
    append_counts(text, "awake_particles", summary->awake, listed);
    append_counts(text, "sleeping_particles", summary->sleeping, listed);
    wadi_text_printf(text, "  \"lost_particles\": %" PRId64 ",\n", summary->lost_particles);
    wadi_text_printf(text, "  \"drained_particles\": %" PRId64 ",\n", summary->drained_particles);
    append_seconds(text, summary);
    wadi_text_printf(text, "  \"peak_rss_bytes\": %zu,\n", summary->peak_rss_bytes);
    wadi_text_printf(text, "  \"state_hash\": \"%016" PRIx64 "\",\n", summary->state_hash);
    wadi_text_append(text, "  \"drift\": {\n");
    append_number(text, "    ", "mass", summary->drift_mass, ",\n");
    append_number(text, "    ", "water_mass", summary->drift_water_mass, ",\n");
    append_number(text, "    ", "volume", summary->drift_volume, "\n  },\n");
    append_number(text, "  ", "max_divergence", summary->max_divergence, ",\n");
    append_resampling(text, summary);
    wadi_text_append(text, "  \"warnings\": [");
    for (int i = 0; i < summary->warning_count; ++i) {
        wadi_text_append(text, i > 0 ? ",\n    " : "\n    ");
        wadi_text_append_json(text, summary->warning[i]);
    }
    wadi_text_append(text, summary->warning_count > 0 ? "\n  ]\n}\n" : "]\n}\n");
}

WadiStatus wadi_run_summary_json(const WadiRunSummary *summary, char **json, WadiError *error)
{
    *json = NULL;
    WadiText text = { 0 };
    wadi_run_summary_append(summary, &text);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_string_copy(json, text.data, text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

bool wadi_run_summary_has_scene(const WadiRunSummary *summary, uint64_t scene)
{
    bool is_there = scene == 0 || scene == summary->content_hash;
    for (int i = 0; i < summary->earlier_scene_count && !is_there; ++i) {
        is_there = summary->earlier_scene[i] == scene;
    }
    return is_there;
}

WadiStatus wadi_run_check_scene(const WadiRunSummary *summary, const char *path, uint64_t scene,
                                WadiError *error)
{
    return wadi_run_summary_has_scene(summary, scene)
               ? WADI_OK
               : wadi_fail(
                     error, WADI_ERR_FORMAT,
                     "%s is of another run: the content hash of its scene is %016" PRIx64
                     ", that of this run is %016" PRIx64
                     "; put the file of this run back, or remove it and continue the run, which makes it "
                     "again",
                     path, scene, summary->content_hash);
}

static void add_scene(WadiRunSummary *summary, uint64_t scene)
{
    if (wadi_run_summary_has_scene(summary, scene)) {
        return;
    }
    if (summary->earlier_scene_count == WADI_RUN_SCENE_MAX) { /* the oldest is forgotten */
        memmove(summary->earlier_scene, summary->earlier_scene + 1,
                (WADI_RUN_SCENE_MAX - 1) * sizeof *summary->earlier_scene);
        summary->earlier_scene_count -= 1;
    }
    summary->earlier_scene[summary->earlier_scene_count++] = scene;
}

void wadi_run_summary_follow(WadiRunSummary *summary, const WadiRunSummary *previous)
{
    for (int i = 0; i < previous->earlier_scene_count; ++i) {
        add_scene(summary, previous->earlier_scene[i]);
    }
    add_scene(summary, previous->content_hash);
}
