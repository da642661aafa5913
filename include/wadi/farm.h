/* Jobs for many machines: the frames of a run as tasks of a scheduler, and sets of runs with varied settings.
 * Nothing is submitted. Experimental: functions may still change. docs/farm.md. */
#ifndef WADI_FARM_H
#define WADI_FARM_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/render.h"
#include "wadi/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiFarmSystem {
    WADI_FARM_SH,       /* a shell script: processes on one machine */
    WADI_FARM_SLURM,    /* two batch scripts: an array of tasks, and the video after it */
    WADI_FARM_OPENJD,   /* a template of Open Job Description 2023-09 */
    WADI_FARM_FLAMENCO, /* a job type of Flamenco 3, in JavaScript */
    WADI_FARM_OPENCUE,  /* a job specification of OpenCue, in XML */
} WadiFarmSystem;

enum { WADI_FARM_TASK_MAX = 1000 }; /* Slurm's arrays and the lists of OpenJD have few more */

typedef struct WadiFarmDef {
    int cookie; /* set by wadi_default_farm_def */
    WadiFarmSystem system;
    bool is_surface; /* tasks of `wadi surface`, else of `wadi render` */
    const char *const
        *options; /* words of that command, such as "--quality", "final"; passed on as they are */
    int option_count;
    bool has_video;              /* a job for the video and the sheet follows the pictures; true */
    int first_frame, last_frame; /* 0: the first and the last that the run will have */
    int chunk;                   /* frames of a task; 0: for about 64 tasks */
    int cpus;                    /* cores of a task; 0: not asked for */
    int memory;                  /* MiB of a task; 0: not asked for */
    int minutes;                 /* most time of a task; 0: not limited */
    const char *program;         /* wadi on the machines of the farm; NULL: "wadi", by their PATH */
    const char *folder;          /* of the job's files; NULL: RUN/farm */
} WadiFarmDef;

WADI_API WadiFarmDef wadi_default_farm_def(void);

typedef struct WadiFarmReport {
    char files[2][4096]; /* what was written; the second may be empty */
    int frames, tasks;
    char submit[12288]; /* a command that hands it to the system, or what to do with it */
} WadiFarmReport;

/* Writes the job of a run, also of one that is still being simulated. `report` may be NULL. */
WADI_API WadiStatus wadi_farm(const char *run, const WadiFarmDef *def, WadiFarmReport *report,
                              WadiError *error);

/* A wedge: runs of one scene with varied settings. */
enum { WADI_WEDGE_KEY_MAX = 8, WADI_WEDGE_RUN_MAX = 1000 };

typedef struct WadiWedgeDef {
    int cookie;              /* set by wadi_default_wedge_def */
    const char *scene;       /* path of the scene file */
    const char *const *sets; /* overrides of all runs */
    int set_count;
    /* "materials.sand.friction_angle=20,30,40": 1 to WADI_WEDGE_KEY_MAX keys and their values. Commas inside
     * brackets, braces and quotes belong to a value. */
    const char *const *vary;
    int vary_count;
    bool is_zip;        /* the i-th values of all keys together, instead of all combinations */
    int index;          /* this run only, from 1; 0: all, one after the other */
    bool is_resumed;    /* finished runs are kept, others go on */
    int frames;         /* > 0: overrides the scene's number of frames */
    const char *folder; /* NULL: "NAME.wedge" in the current folder */
    /* FOLDER/mosaic.png: each run's last frame, all from one camera, labelled with its values. */
    bool has_mosaic; /* true */
    WadiQuality quality;
    int width, height; /* pixels of one picture; 480, 270 */
    int threads;       /* 0: all cores */
    WadiLog log;
    WadiProgressFunction progress; /* of the run in work; may be NULL */
    void *progress_user;
    /* Before each run, with its number, the number of runs and its values; may be NULL. */
    void (*on_run)(void *user, int index, int count, const char *label);
    void (*on_failed)(void *user, int index, const char *label, const WadiError *error); /* may be NULL */
    void *user;                                                                          /* of both */
    WadiStop stop; /* as in WadiRunDef */
} WadiWedgeDef;

WADI_API WadiWedgeDef wadi_default_wedge_def(void);

typedef struct WadiWedgeReport {
    char folder[4096], table[4096], mosaic[4096]; /* empty: not made */
    int runs;                                     /* of the wedge */
    int done, failed; /* runs that are finished, and that failed; the others have not ended */
    double seconds;
} WadiWedgeReport;

/* Runs FOLDER/0001-KEY=VALUE.run and so on. FOLDER/wedge.csv has a line for each, also for those that failed,
 * with their error. A run that fails does not end the call, which then returns WADI_OK: see report->failed.
 * Several processes may work on one wedge, each with its `index`; the one that ends last makes the mosaic.
 * WADI_ERR_SCENE: no run has a valid scene. WADI_ERR_BUSY: with `index`, another process runs it. */
WADI_API WadiStatus wadi_wedge(const WadiWedgeDef *def, WadiWedgeReport *report, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
