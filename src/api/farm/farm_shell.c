/* Jobs that a shell reads: a script for one machine, and batch scripts of Slurm. */
#include <string.h>

#include "api/farm/farm_job.h"

static void append_command(const WadiFarmJob *job, WadiFarmCommand command, WadiText *text)
{
    WadiText program = { 0 };
    wadi_farm_shell_word(&program, job->program);
    wadi_farm_append_part(text, &program, 1); /* without the blank */
    wadi_text_free(&program);
    wadi_farm_words(job, command, text, wadi_farm_shell_word);
}

void wadi_farm_write_sh(const WadiFarmJob *job, WadiText *frames, WadiText *video)
{
    (void)video;
    wadi_text_printf(frames,
                     "#!/bin/sh\n"
                     "# Written by wadi %s: frames %d to %d of '%s'.\n"
                     "# Usage: sh THIS [PROCESSES]. It may run on several machines at a time.\n"
                     "set -u\n"
                     "pids=\n"
                     "n=0\n"
                     "while [ \"$n\" -lt \"${1:-2}\" ]; do\n"
                     "    ",
                     wadi_version(), job->first, job->last, job->name);
    append_command(job, WADI_FARM_ALL, frames);
    wadi_text_printf(frames,
                     " --frames %d-%d &\n"
                     "    pids=\"$pids $!\"\n"
                     "    n=$((n + 1))\n"
                     "done\n"
                     "code=0\n"
                     "for pid in $pids; do\n"
                     "    wait \"$pid\" || code=$?\n"
                     "done\n",
                     job->first, job->last);
    if (job->has_video) {
        wadi_text_append(frames, "if [ \"$code\" -eq 0 ]; then\n    ");
        append_command(job, WADI_FARM_VIDEO, frames);
        wadi_text_printf(frames, " --frames %d-%d || code=$?\nfi\n", job->first, job->last);
    }
    wadi_text_append(frames, "exit \"$code\"\n");
}

/* Lines that both scripts begin with. In file names of Slurm a % begins a pattern. */
static void append_head(const WadiFarmJob *job, const char *what, const char *log, WadiText *text)
{
    wadi_text_printf(text,
                     "#!/bin/bash\n"
                     "# Written by wadi %s: %s of '%s', frames %d to %d.\n"
                     "#SBATCH --job-name=%s-%s\n"
                     "#SBATCH --output=\"",
                     wadi_version(), what, job->name, job->first, job->last, job->name, what);
    for (const char *c = job->folder; *c != '\0'; ++c) {
        wadi_text_append_bytes(text, c, 1);
        wadi_text_append(text, *c == '%' ? "%" : "");
    }
    wadi_text_printf(text, "/%s-%s\"\n#SBATCH --requeue\n", job->name, log);
}

static void append_needs(const WadiFarmJob *job, WadiText *text)
{
    const WadiFarmDef *def = job->def;
    if (def->cpus > 0) {
        wadi_text_printf(text, "#SBATCH --cpus-per-task=%d\n", def->cpus);
    }
    if (def->memory > 0) {
        wadi_text_printf(text, "#SBATCH --mem=%dM\n", def->memory);
    }
    if (def->minutes > 0) {
        wadi_text_printf(text, "#SBATCH --time=%d\n", def->minutes);
    }
}

/* Code 75: not now. Slurm starts the task again later, five times by default. */
static const char requeue[] = " || code=$?\n"
                              "if [ \"$code\" -eq 75 ]; then\n"
                              "    scontrol requeue \"$SLURM_JOB_ID\"\n"
                              "fi\n"
                              "exit \"$code\"\n";

void wadi_farm_write_slurm(const WadiFarmJob *job, WadiText *frames, WadiText *video)
{
    append_head(job, job->verb, "%A_%a.log", frames);
    wadi_text_printf(frames, "#SBATCH --array=0-%d\n", job->tasks - 1);
    append_needs(job, frames);
    wadi_text_printf(frames,
                     "first=$((%d + SLURM_ARRAY_TASK_ID * %d))\n"
                     "last=$((first + %d))\n"
                     "[ \"$last\" -le %d ] || last=%d\n"
                     "code=0\n",
                     job->first, job->chunk, job->chunk - 1, job->last, job->last);
    append_command(job, WADI_FARM_TASK, frames);
    wadi_text_printf(frames, " \"$first-$last\"%s", requeue);
    if (job->has_video) {
        append_head(job, "video", "video-%j.log", video);
        wadi_text_append(video, "code=0\n");
        append_command(job, WADI_FARM_VIDEO, video);
        wadi_text_printf(video, " --frames %d-%d%s", job->first, job->last, requeue);
    }
}
