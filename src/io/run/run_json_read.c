/* Parses run.json into a summary. JSON is a subset of YAML, so libfyaml reads it; nothing in the text is
 * trusted. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/run/run_files.h"
#include "io/run/run_json.h"

/* Source of the values. Only the first problem is recorded, so the readers below need no error checks. */
typedef struct Reader {
    const char *path;
    WadiStatus status;
    WadiError *error;
} Reader;

static void fail(Reader *reader, const char *key, const char *expected)
{
    if (reader->status == WADI_OK) {
        reader->status = wadi_fail(reader->error, WADI_ERR_FORMAT, "%s: '%s' is missing or not %s",
                                   reader->path, key, expected);
    }
}

static struct fy_node *find(struct fy_node *map, const char *key, enum fy_node_type type)
{
    void *cursor = NULL;
    struct fy_node_pair *pair;
    while (map != NULL && (pair = fy_node_mapping_iterate(map, &cursor)) != NULL) {
        size_t length = 0;
        struct fy_node *key_node = fy_node_pair_key(pair), *value = fy_node_pair_value(pair);
        const char *text = key_node != NULL ? fy_node_get_scalar(key_node, &length) : NULL;
        if (text != NULL && length == strlen(key) && memcmp(text, key, length) == 0) {
            return value != NULL && fy_node_get_type(value) == type ? value : NULL;
        }
    }
    return NULL;
}

static void read_text(Reader *reader, struct fy_node *node, const char *key, char **value)
{
    size_t length = 0;
    const char *text = node != NULL ? fy_node_get_scalar(node, &length) : NULL;
    if (text == NULL) {
        fail(reader, key, "a text");
    } else if (reader->status == WADI_OK) {
        reader->status = wadi_string_copy(value, text, length, reader->error);
    }
}

/* The scalar as a C string of at most 39 characters, enough for every number; "" when it is missing. */
static void short_text(struct fy_node *node, char text[40])
{
    size_t length = 0;
    const char *found = node != NULL ? fy_node_get_scalar(node, &length) : NULL;
    length = found == NULL || length > 39 || memchr(found, '\0', length) != NULL ? 0 : length;
    if (length > 0) {
        memcpy(text, found, length);
    }
    text[length] = '\0';
}

static int64_t read_integer(Reader *reader, struct fy_node *node, const char *key, int64_t limit)
{
    char text[40], *end = NULL;
    short_text(node, text);
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 0 || value > limit) {
        fail(reader, key, "a whole number in range");
        return 0;
    }
    return value;
}

static double read_number(Reader *reader, struct fy_node *node, const char *key)
{
    char text[40], *end = NULL;
    short_text(node, text);
    if (strcmp(text, "null") == 0) {
        return (double)NAN; /* a value that is not finite is written as null */
    }
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value)) {
        fail(reader, key, "a number");
        return 0.0;
    }
    return value;
}

static uint64_t read_hash(Reader *reader, struct fy_node *node, const char *key)
{
    char text[40];
    short_text(node, text);
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        fail(reader, key, "16 hexadecimal digits");
        return 0;
    }
    return strtoull(text, NULL, 16);
}

static bool read_bool(Reader *reader, struct fy_node *node, const char *key)
{
    char text[40];
    short_text(node, text);
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        fail(reader, key, "true or false");
    }
    return strcmp(text, "true") == 0;
}

static void read_particles(Reader *reader, struct fy_node *map, WadiRunSummary *summary)
{
    void *cursor = NULL;
    struct fy_node_pair *pair;
    if (map == NULL) {
        fail(reader, "particles", "a mapping");
    }
    while (map != NULL && reader->status == WADI_OK &&
           (pair = fy_node_mapping_iterate(map, &cursor)) != NULL) {
        if (summary->material_count == WADI_RUN_MATERIAL_MAX) {
            fail(reader, "particles", "a mapping of at most 255 materials");
            return;
        }
        int i = summary->material_count++;
        summary->material_particles[i] =
            read_integer(reader, fy_node_pair_value(pair), "particles", INT64_MAX);
        read_text(reader, fy_node_pair_key(pair), "particles", &summary->material_name[i]);
    }
}

static void read_count(Reader *reader, struct fy_node *list, const char *key, int64_t *count)
{
    void *cursor = NULL;
    struct fy_node *node;
    for (int i = 0; reader->status == WADI_OK && (node = fy_node_sequence_iterate(list, &cursor)) != NULL;
         ++i) {
        char text[40];
        short_text(node, text);
        count[i] =
            strcmp(text, "null") == 0 ? WADI_RUN_UNCOUNTED : read_integer(reader, node, key, INT64_MAX);
    }
}

/* Missing in files of older versions. */
static void read_counts(Reader *reader, struct fy_node *awake, struct fy_node *sleeping,
                        WadiRunSummary *summary)
{
    if (awake == NULL || sleeping == NULL || reader->status != WADI_OK) {
        return;
    }
    const int count = fy_node_sequence_item_count(awake);
    if (count == 0 && fy_node_sequence_item_count(sleeping) == 0) {
        return;
    }
    if (count != fy_node_sequence_item_count(sleeping) || count < 0 || count > WADI_RUN_LISTED_MAX) {
        fail(reader, "awake_particles", "as long as sleeping_particles and at most 50000 frames");
        return;
    }
    reader->status = wadi_run_summary_list_frames(summary, count, NULL, reader->error);
    if (reader->status == WADI_OK) {
        read_count(reader, awake, "awake_particles", summary->awake);
        read_count(reader, sleeping, "sleeping_particles", summary->sleeping);
    }
}

static void read_stages(Reader *reader, struct fy_node *map, WadiRunSummary *summary)
{
    void *cursor = NULL;
    struct fy_node_pair *pair;
    summary->are_stage_names_owned = true;
    if (map == NULL) {
        fail(reader, "stages", "a mapping");
    }
    while (map != NULL && reader->status == WADI_OK &&
           (pair = fy_node_mapping_iterate(map, &cursor)) != NULL) {
        if (summary->stages.count == WADI_STAGE_MAX) {
            fail(reader, "stages", "a mapping of at most 48 stages");
            return;
        }
        char *name = NULL;
        read_text(reader, fy_node_pair_key(pair), "stages", &name);
        double seconds = read_number(reader, fy_node_pair_value(pair), "stages");
        summary->stages.name[summary->stages.count] = name;
        summary->stages.seconds[summary->stages.count++] = seconds;
    }
}

/* Only runs whose scene was changed have it. */
static void read_earlier_scenes(Reader *reader, struct fy_node *list, WadiRunSummary *summary)
{
    void *cursor = NULL;
    struct fy_node *node;
    while (list != NULL && reader->status == WADI_OK && summary->earlier_scene_count < WADI_RUN_SCENE_MAX &&
           (node = fy_node_sequence_iterate(list, &cursor)) != NULL) {
        summary->earlier_scene[summary->earlier_scene_count++] = read_hash(reader, node, "earlier_scenes");
    }
}

/* Only runs with particles of different sizes have it. */
static void read_resampling(Reader *reader, struct fy_node *map, WadiRunSummary *summary)
{
    summary->has_resampling = map != NULL;
    if (map == NULL) {
        return;
    }
#define PART(key) find(map, key, FYNT_SCALAR), "resampling." key
    summary->splits = read_integer(reader, PART("splits"), INT64_MAX);
    summary->merges = read_integer(reader, PART("merges"), INT64_MAX);
    summary->shares = read_integer(reader, PART("shares"), INT64_MAX);
    summary->lost_energy = read_number(reader, PART("lost_energy"));
#undef PART
    struct fy_node *spin = find(map, "lost_spin", FYNT_SEQUENCE);
    for (int a = 0; a < 3; ++a) {
        summary->lost_spin[a] = read_number(
            reader, spin != NULL ? fy_node_sequence_get_by_index(spin, a) : NULL, "resampling.lost_spin");
    }
}

static void read_warnings(Reader *reader, struct fy_node *list, WadiRunSummary *summary)
{
    void *cursor = NULL;
    struct fy_node *node;
    if (list == NULL) {
        fail(reader, "warnings", "a list");
    }
    while (list != NULL && reader->status == WADI_OK && summary->warning_count < WADI_RUN_WARNING_MAX &&
           (node = fy_node_sequence_iterate(list, &cursor)) != NULL) {
        read_text(reader, node, "warnings", &summary->warning[summary->warning_count++]);
    }
}

static void read_summary(Reader *reader, struct fy_node *root, WadiRunSummary *summary)
{
#define SCALAR(key) find(root, key, FYNT_SCALAR), key
    read_text(reader, SCALAR("scene"), &summary->scene);
    read_text(reader, SCALAR("name"), &summary->name);
    /* It is part of the names of files. */
    if (reader->status == WADI_OK &&
        (!wadi_text_is_name(summary->name) || strlen(summary->name) > WADI_RUN_NAME_MAX)) {
        fail(reader, "name", "a name of at most 200 letters, digits, '.', '_' and '-'");
    }
    read_text(reader, SCALAR("solver"), &summary->solver);
    summary->content_hash = read_hash(reader, SCALAR("content_hash"));
    read_earlier_scenes(reader, find(root, "earlier_scenes", FYNT_SEQUENCE), summary);
    summary->threads = (int)read_integer(reader, SCALAR("threads"), INT_MAX);
    summary->is_finished = read_bool(reader, SCALAR("finished"));
    summary->frames = (int)read_integer(reader, SCALAR("frames"), INT_MAX);
    summary->frame_count = (int)read_integer(reader, SCALAR("frame_count"), INT_MAX);
    summary->fps = read_number(reader, SCALAR("fps"));
    summary->steps = read_integer(reader, SCALAR("steps"), INT64_MAX);
    read_particles(reader, find(root, "particles", FYNT_MAPPING), summary);
    read_counts(reader, find(root, "awake_particles", FYNT_SEQUENCE),
                find(root, "sleeping_particles", FYNT_SEQUENCE), summary);
    summary->lost_particles = read_integer(reader, SCALAR("lost_particles"), INT64_MAX);
    if (find(root, "drained_particles", FYNT_SCALAR) != NULL) { /* missing in files of older versions */
        summary->drained_particles = read_integer(reader, SCALAR("drained_particles"), INT64_MAX);
    }
    struct fy_node *seconds = find(root, "seconds", FYNT_MAPPING);
    summary->seconds_total = read_number(reader, find(seconds, "total", FYNT_SCALAR), "seconds.total");
    read_stages(reader, find(seconds, "stages", FYNT_MAPPING), summary);
    summary->peak_rss_bytes = (size_t)read_integer(reader, SCALAR("peak_rss_bytes"), INT64_MAX);
    summary->state_hash = read_hash(reader, SCALAR("state_hash"));
    struct fy_node *drift = find(root, "drift", FYNT_MAPPING);
    summary->drift_mass = read_number(reader, find(drift, "mass", FYNT_SCALAR), "drift.mass");
    summary->drift_water_mass =
        read_number(reader, find(drift, "water_mass", FYNT_SCALAR), "drift.water_mass");
    summary->drift_volume = read_number(reader, find(drift, "volume", FYNT_SCALAR), "drift.volume");
    summary->max_divergence = read_number(reader, SCALAR("max_divergence"));
    read_resampling(reader, find(root, "resampling", FYNT_MAPPING), summary);
    read_warnings(reader, find(root, "warnings", FYNT_SEQUENCE), summary);
#undef SCALAR
}

/* Discards messages: FYPCF_QUIET alone still prints errors. */
static void drop_output(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

WadiStatus wadi_run_summary_parse(const char *path, const char *text, size_t length, WadiRunSummary *summary,
                                  WadiError *error)
{
    *summary = (WadiRunSummary){ 0 };
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = drop_output;
    struct fy_diag *diag = fy_diag_create(&quiet);
    if (diag == NULL) {
        return wadi_fail_memory(error, 0, path);
    }
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg config = { .flags = FYPCF_QUIET | FYPCF_JSON_FORCE, .diag = diag };
    struct fy_document *document = length > 0 ? fy_document_build_from_string(&config, text, length) : NULL;
    struct fy_node *root = document != NULL ? fy_document_root(document) : NULL;
    Reader reader = { path, WADI_OK, error };
    if (root == NULL || fy_node_get_type(root) != FYNT_MAPPING) {
        void *cursor = NULL;
        const struct fy_diag_error *first = fy_diag_errors_iterate(diag, &cursor);
        reader.status = wadi_fail(error, WADI_ERR_FORMAT, "%s:%d:%d: not a JSON object%s%s", path,
                                  first != NULL ? first->line : 1, first != NULL ? first->column : 1,
                                  first != NULL ? ": " : "", first != NULL ? first->msg : "");
    } else {
        read_summary(&reader, root, summary);
    }
    if (document != NULL) {
        fy_document_destroy(document);
    }
    fy_diag_destroy(diag);
    if (reader.status != WADI_OK) {
        wadi_run_summary_free(summary);
    }
    return reader.status;
}

WadiStatus wadi_run_summary_read(const char *folder, WadiRunSummary *summary, WadiError *error)
{
    *summary = (WadiRunSummary){ 0 };
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/run.json", folder) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot read %.200s/run.json", folder);
    }
    char *text = NULL;
    size_t length = 0;
    WADI_TRY(wadi_file_read(path, WADI_RUN_JSON_LIMIT, &text, &length, error));
    WadiStatus status = wadi_run_summary_parse(path, text, length, summary, error);
    wadi_free(text, length + 1, 1);
    return status;
}
