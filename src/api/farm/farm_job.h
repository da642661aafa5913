/* A job as the systems share it: the words of its commands, its frames and what a task needs. */
#ifndef WADI_API_FARM_JOB_H
#define WADI_API_FARM_JOB_H

#include "core/text.h"
#include "io/run/run_folder.h"
#include "wadi/farm.h"

typedef struct WadiFarmJob {
    const WadiFarmDef *def;
    const char *name;    /* of the scene: letters, digits, '.', '_', '-' */
    const char *run;     /* absolute path */
    const char *folder;  /* absolute path, of the job's files */
    const char *program; /* wadi */
    const char *verb;    /* "render" or "surface" */
    int first, last, chunk, tasks;
    bool has_video;
} WadiFarmJob;

/* Which command a list of words is. */
typedef enum WadiFarmCommand {
    WADI_FARM_TASK,  /* a range of frames; its --frames comes last and is left to the caller */
    WADI_FARM_ALL,   /* all frames, waiting for the others */
    WADI_FARM_VIDEO, /* the video of the pictures */
} WadiFarmCommand;

/* Calls `word` with each word of a command. */
typedef void WadiFarmWord(WadiText *text, const char *word);
void wadi_farm_words(const WadiFarmJob *job, WadiFarmCommand command, WadiText *text, WadiFarmWord *word);
/* " WORD", quoted for a shell where needed. */
void wadi_farm_shell_word(WadiText *text, const char *word);

/* The text without its first `skip` bytes; empty where memory ran out before. */
const char *wadi_farm_skip(const WadiText *text, size_t skip);
/* Appends that. A part without memory fails the whole text. */
void wadi_farm_append_part(WadiText *text, const WadiText *part, size_t skip);

/* The text of the job; `video` stays empty where the job is one file. */
typedef void WadiFarmWriter(const WadiFarmJob *job, WadiText *frames, WadiText *video);
void wadi_farm_write_sh(const WadiFarmJob *job, WadiText *frames, WadiText *video);
void wadi_farm_write_slurm(const WadiFarmJob *job, WadiText *frames, WadiText *video);
void wadi_farm_write_openjd(const WadiFarmJob *job, WadiText *frames, WadiText *video);
void wadi_farm_write_flamenco(const WadiFarmJob *job, WadiText *frames, WadiText *video);
void wadi_farm_write_opencue(const WadiFarmJob *job, WadiText *frames, WadiText *video);

#endif
