/* Writes the frames of a run as a job for a scheduler. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/farm/farm_job.h"
#include "core/alloc.h"
#include "io/files/files.h"
#include "io/run/output_index.h"

enum { FARM_DEF_COOKIE = 0xfa43, TASKS_WANTED = 64 };

typedef struct System {
    WadiFarmWriter *write;
    const char *ending, *video_ending;
    bool is_openjd; /* its texts hold references in {{ }} */
} System;

static const System systems[] = {
    [WADI_FARM_SH] = { wadi_farm_write_sh, "sh", "", false },
    [WADI_FARM_SLURM] = { wadi_farm_write_slurm, "frames.sbatch", "video.sbatch", false },
    [WADI_FARM_OPENJD] = { wadi_farm_write_openjd, "openjd.json", "", true },
    [WADI_FARM_FLAMENCO] = { wadi_farm_write_flamenco, "flamenco.js", "", false },
    [WADI_FARM_OPENCUE] = { wadi_farm_write_opencue, "opencue.xml", "", false },
};

WadiFarmDef wadi_default_farm_def(void)
{
    return (WadiFarmDef){ .cookie = FARM_DEF_COOKIE, .has_video = true };
}

void wadi_farm_shell_word(WadiText *text, const char *word)
{
    const bool is_plain = word[0] != '\0' && word[strspn(word, WADI_NAME_CHARACTERS "/=:,+@%")] == '\0';
    wadi_text_append(text, is_plain ? " " : " '");
    for (const char *c = word; *c != '\0'; ++c) {
        if (*c == '\'') {
            wadi_text_append(text, "'\\''");
        } else {
            wadi_text_append_bytes(text, c, 1);
        }
    }
    wadi_text_append(text, is_plain ? "" : "'");
}

const char *wadi_farm_skip(const WadiText *text, size_t skip)
{
    return wadi_text_cstr(text) + (text->length > skip ? skip : text->length);
}

void wadi_farm_append_part(WadiText *text, const WadiText *part, size_t skip)
{
    wadi_text_append(text, wadi_farm_skip(part, skip));
    text->has_failed = text->has_failed || part->has_failed;
}

/* Options that make something of all pictures: how many words they take, 0 for others. */
static int product_words(const char *option)
{
    return strcmp(option, "--sheet") == 0                                        ? 2
           : strcmp(option, "--gif") == 0 || strncmp(option, "--sheet=", 8) == 0 ? 1
                                                                                 : 0;
}

void wadi_farm_words(const WadiFarmJob *job, WadiFarmCommand command, WadiText *text, WadiFarmWord *word)
{
    word(text, job->verb);
    word(text, job->run);
    for (int i = 0; i < job->def->option_count; ++i) {
        const int count = command == WADI_FARM_VIDEO ? 0 : product_words(job->def->options[i]);
        if (count == 0) {
            word(text, job->def->options[i]);
        } else {
            i += count - 1;
        }
    }
    word(text, "--share");
    if (command == WADI_FARM_VIDEO) {
        word(text, "--video");
        return;
    }
    if (job->has_video) {
        word(text, "--no-video");
    }
    if (job->def->cpus > 0) {
        char threads[16];
        snprintf(threads, sizeof threads, "%d", job->def->cpus);
        word(text, "--threads");
        word(text, threads);
    }
    if (command == WADI_FARM_ALL) {
        word(text, "--wait");
        return;
    }
    word(text, "--frames");
}

static WadiStatus check(const WadiFarmDef *def, WadiError *error)
{
    if (def == NULL || def->cookie != FARM_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiFarmDef was not made by wadi_default_farm_def");
    }
    if ((unsigned)def->system >= sizeof systems / sizeof *systems) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a farm of a system that is not known");
    }
    if (def->chunk < 0 || def->cpus < 0 || def->memory < 0 || def->minutes < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "frames, cores, memory and minutes of a task: not below 0");
    }
    for (int i = 0; i < def->option_count; ++i) {
        const char *word = def->options[i];
        for (const char *c = word; *c != '\0'; ++c) {
            if ((unsigned char)*c < ' ') {
                return wadi_fail(error, WADI_ERR_ARGUMENT,
                                 "the option '%.200s' has a control character, which no job file can hold",
                                 word);
            }
        }
        if (systems[def->system].is_openjd && strstr(word, "{{") != NULL) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "the option '%.200s' has {{, which Open Job Description takes for a reference: "
                             "put a blank between the braces",
                             word);
        }
    }
    return WADI_OK;
}

static WadiStatus choose_frames(WadiFarmJob *job, int last, WadiError *error)
{
    const WadiFarmDef *def = job->def;
    job->first = def->first_frame > 0 ? def->first_frame : 1;
    job->last = def->last_frame > 0 ? def->last_frame : last;
    if (job->first > job->last || job->last > last) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "frames %d to %d: %s will have frames up to %d",
                         job->first, job->last, job->run, last);
    }
    const int count = job->last - job->first + 1;
    job->chunk = def->chunk > 0 ? def->chunk : (count + TASKS_WANTED - 1) / TASKS_WANTED;
    job->tasks = (count + job->chunk - 1) / job->chunk;
    return job->tasks <= WADI_FARM_TASK_MAX
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT,
                           "%d tasks of %d frames: at most %d tasks; take at least %d frames a task",
                           job->tasks, job->chunk, WADI_FARM_TASK_MAX, (count - 1) / WADI_FARM_TASK_MAX + 1);
}

static WadiStatus write_file(const WadiFarmJob *job, const char *ending, const WadiText *text,
                             char path[4096], WadiError *error)
{
    WADI_TRY(wadi_text_status(text, error));
    if (text->length == 0) {
        return WADI_OK;
    }
    snprintf(path, 4096, "%.3700s/%.250s.%s%s", job->folder, job->name,
             job->def->is_surface ? "surface." : "", ending);
    WADI_TRY(wadi_output_check_foreign(path, error));
    return wadi_file_write(path, text->data, text->length, error);
}

/* What a person does with the files. */
static WadiStatus set_submit(const WadiFarmJob *job, WadiFarmReport *report, WadiError *error)
{
    WadiText text = { 0 }, one = { 0 }, two = { 0 }, run = { 0 };
    wadi_farm_shell_word(&one, report->files[0]);
    wadi_farm_shell_word(&two, report->files[1]);
    wadi_farm_shell_word(&run, job->run);
    const char *file = wadi_farm_skip(&one, 1);
    switch (job->def->system) {
    case WADI_FARM_SH: wadi_text_printf(&text, "sh %s PROCESSES", file); break;
    case WADI_FARM_SLURM:
        if (job->has_video) {
            wadi_text_printf(&text, "sbatch --dependency=afterok:$(sbatch --parsable %s)%s", file,
                             wadi_text_cstr(&two));
        } else {
            wadi_text_printf(&text, "sbatch %s", file);
        }
        break;
    case WADI_FARM_OPENJD:
        wadi_text_printf(&text, "openjd check %s; its parameter Run is%s", file, wadi_text_cstr(&run));
        break;
    case WADI_FARM_FLAMENCO:
        wadi_text_printf(&text, "cp %s scripts/    (beside flamenco-manager)", file);
        break;
    case WADI_FARM_OPENCUE:
        wadi_text_printf(&text,
                         "python3 -c 'import opencue, sys; "
                         "opencue.api.launchSpecAndWait(open(sys.argv[1]).read())' %s",
                         file);
        break;
    }
    snprintf(report->submit, sizeof report->submit, "%s", wadi_text_cstr(&text));
    text.has_failed = text.has_failed || one.has_failed || two.has_failed || run.has_failed;
    const WadiStatus status = wadi_text_status(&text, error);
    wadi_text_free(&text);
    wadi_text_free(&one);
    wadi_text_free(&two);
    wadi_text_free(&run);
    return status;
}

static WadiStatus write_job(WadiFarmJob *job, WadiFarmReport *report, WadiError *error)
{
    const System *system = &systems[job->def->system];
    WadiText frames = { 0 }, video = { 0 };
    system->write(job, &frames, &video);
    WadiStatus status = write_file(job, system->ending, &frames, report->files[0], error);
    if (status == WADI_OK) {
        status = write_file(job, system->video_ending, &video, report->files[1], error);
    }
    wadi_text_free(&frames);
    wadi_text_free(&video);
    if (status == WADI_OK) {
        status = set_submit(job, report, error);
    }
    if (status == WADI_OK) {
        report->frames = job->last - job->first + 1;
        report->tasks = job->tasks;
    }
    return status;
}

/* The machines of a farm start elsewhere: all paths are absolute. */
static WadiStatus find_folders(WadiFarmJob *job, const char *run, char paths[2][PATH_MAX], WadiError *error)
{
    char folder[WADI_PATH_SIZE];
    if (realpath(run, paths[0]) == NULL) {
        return wadi_fail(error, WADI_ERR_IO, "%s: no such run folder", run);
    }
    const int length = job->def->folder != NULL ? snprintf(folder, sizeof folder, "%s", job->def->folder)
                                                : snprintf(folder, sizeof folder, "%s/farm", paths[0]);
    if (length < 1 || length > 3600) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is %s",
                         length < 1 ? "empty" : "too long");
    }
    WADI_TRY(wadi_folder_make(folder, error));
    if (realpath(folder, paths[1]) == NULL) {
        return wadi_fail(error, WADI_ERR_IO, "%s: no such folder", folder);
    }
    job->run = paths[0];
    job->folder = paths[1];
    return WADI_OK;
}

WadiStatus wadi_farm(const char *run, const WadiFarmDef *def, WadiFarmReport *report, WadiError *error)
{
    WadiFarmReport unused;
    WadiRunInfo info;
    char(*paths)[PATH_MAX] = NULL;
    report = report != NULL ? report : &unused;
    *report = (WadiFarmReport){ 0 };
    WADI_TRY(check(def, error));
    WADI_TRY(wadi_run_info_read(&info, run, error));
    WadiStatus status = WADI_NEW(&paths, 2, "paths of a farm", error);
    if (status == WADI_OK) {
        WadiFarmJob job = { .def = def,
                            .name = info.name,
                            .program = def->program != NULL ? def->program : "wadi",
                            .verb = def->is_surface ? "surface" : "render",
                            .has_video = !def->is_surface && def->has_video };
        const int last = info.frame_count > info.frames ? info.frame_count : info.frames;
        job.run = run;
        status = choose_frames(&job, last, error);
        if (status == WADI_OK) {
            status = find_folders(&job, run, paths, error);
        }
        if (status == WADI_OK) {
            status = write_job(&job, report, error);
        }
    }
    WADI_DELETE(paths, 2);
    wadi_run_info_release(&info);
    return status;
}
