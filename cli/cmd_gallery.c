/* wadi gallery: the published scenes, listed, printed, or run end to end with a contact sheet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "gallery.h"
#include "human.h"
#include "options.h"

enum { PATH_SIZE = 4096, NAMES_MAX = 32 };

static void list_text(void)
{
    for (int i = 0; i < wadi_gallery_entry_count; ++i) {
        const WadiGalleryEntry *entry = &wadi_gallery_entries[i];
        char count[WADI_CLI_HUMAN_SIZE], runs[16] = "";
        if (wadi_gallery_run_count(entry) > 1) {
            snprintf(runs, sizeof runs, ", %d runs", wadi_gallery_run_count(entry));
        }
        printf("%-20s %s\n%-20s %s particles%s, %s%s%s\n", entry->name, entry->summary, "",
               wadi_cli_human_count(count, entry->particles), runs, entry->source,
               entry->stand_in != NULL ? "; " : "", entry->stand_in != NULL ? entry->stand_in : "");
    }
}

static void list_json(void)
{
    for (int i = 0; i < wadi_gallery_entry_count; ++i) {
        const WadiGalleryEntry *entry = &wadi_gallery_entries[i];
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "name", entry->name);
        wadi_cli_json_text(&json, "summary", entry->summary);
        wadi_cli_json_text(&json, "source", entry->source);
        wadi_cli_json_text(&json, "stand_in", entry->stand_in != NULL ? entry->stand_in : "");
        wadi_cli_json_integer(&json, "particles", entry->particles);
        wadi_cli_json_integer(&json, "runs", wadi_gallery_run_count(entry));
        wadi_cli_json_bool(&json, "needs_bunny",
                           entry->mesh != NULL && strcmp(entry->mesh, "bunny.obj") == 0);
        wadi_cli_json_bool(&json, "needs_mesh", entry->mesh != NULL);
        wadi_cli_json_close(&json);
    }
}

static int unknown_entry(const char *word)
{
    const WadiCliCommand *command = wadi_cli_find_command("gallery");
    const char *names[NAMES_MAX];
    int count = 0;
    for (; count < wadi_gallery_entry_count && count < NAMES_MAX; ++count) {
        names[count] = wadi_gallery_entries[count].name;
    }
    const char *nearest = wadi_cli_nearest(word, names, count);
    if (nearest != NULL) {
        return wadi_cli_usage_error(command, "the gallery has no '%s'; did you mean '%s'?", word, nearest);
    }
    return wadi_cli_usage_error(command, "the gallery has no '%s'; wadi gallery lists what it has", word);
}

static int print_scene(const WadiGalleryEntry *entry, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "wadi: cannot read %s\n", path);
        return WADI_CLI_EXIT_FAILED;
    }
    char bytes[4096];
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;) {
        fwrite(bytes, 1, count, stdout);
    }
    bool has_failed = ferror(file) != 0;
    fclose(file);
    if (entry->mesh != NULL) {
        fprintf(stderr,
                "wadi: the scene looks for %s%s%s beside itself; wadi gallery keeps it in its cache folder "
                "(~/.cache/wadi)\n",
                entry->mesh, entry->mesh2 != NULL ? " and " : "", entry->mesh2 != NULL ? entry->mesh2 : "");
    }
    return has_failed ? WADI_CLI_EXIT_FAILED : WADI_CLI_EXIT_GOOD;
}

/* Everything needed to run an entry. */
typedef struct Job {
    const WadiGalleryEntry *entry;
    const WadiCliArgs *args;
    char scene[PATH_SIZE];
    char folder[PATH_SIZE]; /* of the meshes; empty: the scene's folder */
    char output[PATH_SIZE];
    char runs[WADI_GALLERY_RUN_MAX][PATH_SIZE]; /* the run folders */
    int run_count;
} Job;

static bool join(char *path, const char *folder, const char *name)
{
    return snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE;
}

/* The entry's settings first, then the user's, which take precedence. */
static WadiStatus load_scene(const Job *job, const WadiGalleryRun *run, WadiScene **scene, WadiError *error)
{
    const char **sets = calloc((size_t)job->args->set_count + WADI_GALLERY_SET_MAX, sizeof *sets);
    if (sets == NULL) {
        error->status = WADI_ERR_MEMORY;
        snprintf(error->text, sizeof error->text, "out of memory");
        return WADI_ERR_MEMORY;
    }
    WadiSceneDef def = wadi_default_scene_def();
    def.path = job->scene;
    def.folder = job->folder[0] != '\0' ? job->folder : NULL;
    def.sets = sets;
    for (int i = 0; i < WADI_GALLERY_SET_MAX && run->sets[i] != NULL; ++i) {
        sets[def.set_count++] = run->sets[i];
    }
    for (int i = 0; i < job->args->set_count; ++i) {
        sets[def.set_count++] = job->args->sets[i];
    }
    WadiStatus status = wadi_scene_load(scene, &def, error);
    free(sets);
    return status;
}

static int run_one(const Job *job, int index)
{
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    if (load_scene(job, &job->entry->runs[index], &scene, &error) != WADI_OK) {
        return wadi_cli_scene_failure(job->args, &error, "; nothing was run");
    }
    WadiCliArgs args = *job->args;
    args.output = job->runs[index];
    int code = wadi_cli_simulate(&args, scene, job->output);
    wadi_scene_destroy(scene);
    return code;
}

static WadiStatus draw_slices(const Job *job, const char *path, WadiError *error)
{
    WadiSliceDef def = wadi_default_slice_def();
    def.run = job->runs[0];
    def.settings = job->entry->slices;
    while (def.panel_count < WADI_GALLERY_SLICE_MAX && def.settings[def.panel_count] != NULL) {
        ++def.panel_count;
    }
    return wadi_slice_sheet(&def, path, error);
}

static WadiStatus draw_frames(const Job *job, const char *path, WadiError *error)
{
    const WadiGalleryEntry *entry = job->entry;
    const char *folders[WADI_GALLERY_RUN_MAX];
    for (int i = 0; i < job->run_count; ++i) {
        folders[i] = job->runs[i];
    }
    WadiSheetDef def = wadi_default_sheet_def();
    def.folders = folders;
    def.folder_count = job->run_count;
    def.frames = entry->sheet_frames;
    def.azimuth = entry->azimuth;
    def.elevation = entry->elevation;
    def.streak = entry->streak;
    return wadi_contact_sheet(&def, path, error);
}

static int draw(const Job *job)
{
    char path[PATH_SIZE];
    WadiError error = { 0 };
    bool has_slices = job->entry->slices[0] != NULL;
    if (!join(path, job->output, "contact.png") ||
        (has_slices ? draw_slices : draw_frames)(job, path, &error) != WADI_OK) {
        return wadi_cli_failure(job->args, &error);
    }
    if (job->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "picture");
        wadi_cli_json_text(&json, "path", path);
        wadi_cli_json_close(&json);
    } else if (!job->args->quiet) {
        printf("a look at it: %s\n", path);
    }
    return WADI_CLI_EXIT_GOOD;
}

/* Mean and largest number of particles that move, over the frames that have it; false: none has. */
static bool count_awake(const WadiRunInfo *info, double *mean, int64_t *most)
{
    int frames = 0;
    *mean = 0.0, *most = 0;
    for (int i = 0; i < info->listed_frames && i < info->frames; ++i) {
        const int64_t awake = info->awake_particles[i];
        frames += awake >= 0;
        *mean += awake >= 0 ? (double)awake : 0.0;
        *most = awake > *most ? awake : *most;
    }
    *mean /= frames > 0 ? frames : 1;
    return frames > 0;
}

/* Seconds a frame, and particles that move of all, beside those that the source of the entry gives. */
static void compare_frames(const Job *job, const WadiRunInfo *info, int run)
{
    const WadiGalleryEntry *entry = job->entry;
    const WadiGalleryRun *own = &entry->runs[run];
    const double published =
        own->published_frame_seconds > 0.0 ? own->published_frame_seconds : entry->published_frame_seconds;
    const int64_t published_awake = own->published_awake > 0 ? own->published_awake : entry->published_awake;
    const double seconds = info->frames > 0 ? info->seconds / info->frames : 0.0;
    double mean = 0.0;
    int64_t most = 0;
    const bool has_counts = count_awake(info, &mean, &most);
    if (job->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "compare_frames");
        wadi_cli_json_text(&json, "run", job->runs[run]);
        wadi_cli_json_number(&json, "seconds_a_frame", seconds);
        wadi_cli_json_number(&json, "awake_mean", has_counts ? mean : (double)NAN);
        wadi_cli_json_number(&json, "awake_most", has_counts ? (double)most : (double)NAN);
        wadi_cli_json_number(&json, "published_seconds_a_frame",
                             entry->published_place != NULL ? published : (double)NAN);
        wadi_cli_json_number(&json, "published_awake",
                             published_awake > 0 ? (double)published_awake : (double)NAN);
        wadi_cli_json_text(&json, "published_place",
                           entry->published_place != NULL ? entry->published_place : "");
        wadi_cli_json_close(&json);
        return;
    }
    if (job->args->quiet) {
        return;
    }
    char here[WADI_CLI_HUMAN_SIZE] = "unknown", largest[WADI_CLI_HUMAN_SIZE] = "unknown";
    char there[WADI_CLI_HUMAN_SIZE] = "no number";
    if (has_counts) {
        wadi_cli_human_count(here, (int64_t)(mean + 0.5));
        wadi_cli_human_count(largest, most);
    }
    if (published_awake > 0) {
        wadi_cli_human_count(there, published_awake);
    }
    if (run == 0) {
        puts("| run | s a frame | published | where | particles that move: mean | most | published |\n"
             "|---|---|---|---|---|---|---|");
    }
    printf("| %s | %.3f |", job->runs[run], seconds);
    if (entry->published_place != NULL) {
        printf(" %.2f | %s, %s |", published, entry->source, entry->published_place);
    } else {
        printf(" no time | %s |", entry->source);
    }
    printf(" %s | %s | %s |\n", here, largest, there);
}

/* Steps and their seconds beside those that the source of the entry gives. */
static void compare_steps(const Job *job, const WadiRunInfo *read)
{
    const WadiGalleryEntry *entry = job->entry;
    const WadiRunInfo info = *read;
    const double seconds = info.steps > 0 ? info.seconds / (double)info.steps : 0.0;
    const double published = entry->published_steps * entry->published_seconds;
    if (job->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "compare");
        wadi_cli_json_integer(&json, "steps", info.steps);
        wadi_cli_json_number(&json, "seconds_a_step", seconds);
        wadi_cli_json_integer(&json, "published_steps", entry->published_steps);
        wadi_cli_json_number(&json, "published_seconds_a_step", entry->published_seconds);
        wadi_cli_json_close(&json);
    } else if (!job->args->quiet && seconds > 0.0) {
        char start[WADI_CLI_HUMAN_SIZE] = "changed", last[WADI_CLI_HUMAN_SIZE];
        int64_t particles = 0;
        for (int m = 0; m < info.material_count; ++m) {
            particles += info.materials[m].particles;
        }
        if (job->args->set_count == 0) {
            wadi_cli_human_count(start, entry->particles);
        }
        printf(
            "| scene | particles at the start | in the last frame | steps | s a step | %s: steps | s a step "
            "| "
            "ratio of a step | of the run |\n|---|---|---|---|---|---|---|---|---|\n| %s | %s | %s | %lld | "
            "%.3f | %d | %.2f | %.0f | %.0f |\n",
            entry->source, entry->name, start, wadi_cli_human_count(last, particles), (long long)info.steps,
            seconds, entry->published_steps, entry->published_seconds, entry->published_seconds / seconds,
            published / info.seconds);
    }
}

/* The times of the runs beside those that their source gives. */
static int compare(const Job *job)
{
    for (int run = 0; run < job->run_count; ++run) {
        WadiRunInfo info;
        WadiError error = { 0 };
        if (wadi_run_info_read(&info, job->runs[run], &error) != WADI_OK) {
            return wadi_cli_failure(job->args, &error);
        }
        if (job->entry->published_steps > 0) {
            compare_steps(job, &info);
        } else {
            compare_frames(job, &info, run);
        }
        wadi_run_info_release(&info);
    }
    return WADI_CLI_EXIT_GOOD;
}

static bool name_folders(Job *job)
{
    const WadiGalleryEntry *entry = job->entry;
    int length = job->args->output != NULL ? snprintf(job->output, PATH_SIZE, "%s", job->args->output)
                                           : snprintf(job->output, PATH_SIZE, "%s.run", entry->name);
    bool is_good = length < PATH_SIZE;
    job->run_count = wadi_gallery_run_count(entry);
    for (int i = 0; i < job->run_count; ++i) {
        is_good = is_good && (entry->runs[i].name != NULL
                                  ? join(job->runs[i], job->output, entry->runs[i].name)
                                  : snprintf(job->runs[i], PATH_SIZE, "%s", job->output) < PATH_SIZE);
    }
    return is_good;
}

static int run_entry(Job *job)
{
    if (!name_folders(job)) {
        return wadi_cli_usage_error(wadi_cli_find_command("gallery"),
                                    "the path of the run folder is too long");
    }
    for (int i = 0; i < job->run_count; ++i) {
        int code = run_one(job, i);
        if (code != WADI_CLI_EXIT_GOOD) {
            return code;
        }
    }
    const int code = draw(job);
    return code == WADI_CLI_EXIT_GOOD ? compare(job) : code;
}

int wadi_cli_gallery(const WadiCliArgs *args)
{
    if (args->operand == NULL) {
        args->json ? list_json() : list_text();
        return WADI_CLI_EXIT_GOOD;
    }
    const WadiGalleryEntry *entry = wadi_gallery_find(args->operand);
    if (entry == NULL) {
        return unknown_entry(args->operand);
    }
    if (args->overwrite && args->resume) {
        return wadi_cli_usage_error(
            wadi_cli_find_command("gallery"),
            "--overwrite removes the frames that --resume would keep; give one of the "
            "two");
    }
    Job job = { .entry = entry, .args = args };
    char gallery[PATH_SIZE], name[128];
    snprintf(name, sizeof name, "%s/%s.yaml", entry->name, entry->name);
    if (!wadi_gallery_folder(gallery, sizeof gallery) || !join(job.scene, gallery, name)) {
        return WADI_CLI_EXIT_FAILED;
    }
    if (args->print) {
        return print_scene(entry, job.scene);
    }
    const char *const meshes[] = { entry->mesh, entry->mesh2 };
    for (int m = 0; m < 2; ++m) {
        if (meshes[m] != NULL &&
            !wadi_gallery_mesh_folder(gallery, meshes[m], job.folder, sizeof job.folder)) {
            return WADI_CLI_EXIT_FAILED;
        }
    }
    return run_entry(&job);
}
