/* The command line as tables of options, one per command. Parsing, --help, the manual page, docs/cli.md and
 * the shell completions are all made from these tables. */
#ifndef WADI_CLI_COMMANDS_H
#define WADI_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/* A parsed command line. Strings are borrowed from argv. */
typedef struct WadiCliArgs {
    const char *program; /* argv[0]; first word of the command that continues a stopped run */
    const char *command; /* the command's name; second word of it */
    const char *operand; /* NULL: not given */
    const char *output;
    const char *solver;
    const char *bench_case;
    const char *changes;                                             /* file of a played session */
    const char *listen;                                              /* address of the view */
    const char *method, *material, *subframe, *format, *frame_range; /* of surfaces */
    const char *quality, *size, *color, *range, *map, *cut, *time;   /* of pictures */
    const char *to, *up;                                             /* of exports */
    const char *work, *wadi;                                         /* of farms */
    const char **sets; /* "KEY=VALUE" in the order given; owned, with space for three more */
    int set_count;
    const char **vary; /* "KEY=A,B,C" in the order given */
    int vary_count;
    const char **rest; /* words after "--", of commands that pass them on */
    int rest_count;
    int frames;                /* 0: the scene's */
    int from_frame;            /* 0: not given */
    int threads;               /* 0: all cores */
    int port;                  /* of the view; 0: any */
    int scale;                 /* particles of a bench; 0: its standard size */
    int every;                 /* frames between pictures; 0: 1 */
    int samples;               /* paths per pixel; 0: the quality's */
    int sheet;                 /* pictures on a contact sheet; 0: none */
    int stale;                 /* s: of claims; 0: 120 */
    int chunk;                 /* frames of a task; 0: chosen */
    int cpus, memory, minutes; /* of a task: cores, MiB, time; 0: not given */
    int index;                 /* of a wedge's run; 0: all */
    bool no_video, gif, layout;
    bool share, wait, video;   /* of shared frames */
    bool grid, zip, no_mosaic; /* of wedges */
    const char *beside;        /* run of the view */
    bool no_open, paused;      /* of the view */
    bool no_time;              /* of the check */
    bool one_file;             /* of exports */
    bool resume, overwrite, force, json, quiet, markdown, print, help, version;
} WadiCliArgs;

typedef enum WadiCliKind {
    WADI_CLI_FLAG,   /* bool */
    WADI_CLI_NUMBER, /* int, minimum to maximum */
    WADI_CLI_TEXT,   /* const char *, not empty */
    WADI_CLI_SET,    /* KEY=VALUE, added to WadiCliArgs.sets */
    WADI_CLI_VARY,   /* KEY=A,B,C, added to WadiCliArgs.vary */
} WadiCliKind;

/* Completions that a shell offers for an argument. */
typedef enum WadiCliFiles {
    WADI_CLI_FILES_NONE,
    WADI_CLI_FILES_SCENE,  /* the suffixes of wadi_cli_scene_suffixes, and folders */
    WADI_CLI_FILES_FOLDER, /* folders */
    WADI_CLI_FILES_ANY,
    WADI_CLI_FILES_COMMAND, /* a command of wadi */
    WADI_CLI_FILES_GALLERY, /* an entry of the gallery */
    WADI_CLI_FILES_BENCH,   /* a bench */
    WADI_CLI_FILES_CASE,    /* a case of a bench */
} WadiCliFiles;

typedef struct WadiCliOption {
    const char *name;     /* without the dashes */
    char short_name;      /* 0: none */
    const char *argument; /* NULL for a flag */
    WadiCliKind kind;
    size_t offset; /* of the value in WadiCliArgs; unused for WADI_CLI_SET */
    int minimum, maximum;
    WadiCliFiles files;
    const char *choices; /* words that a shell offers, separated by blanks; NULL: see `files` */
    const char *help;    /* sentences */
} WadiCliOption;

typedef struct WadiCliExample {
    const char *command, *meaning;
} WadiCliExample;

enum { WADI_CLI_EXAMPLE_MAX = 5 };

typedef struct WadiCliCommand {
    const char *name;    /* "": wadi itself, without a command */
    const char *operand; /* "SCENE"; NULL: none */
    bool is_operand_optional;
    WadiCliFiles files; /* type of the operand */
    const char *rest;   /* what may follow after "--", such as "OPTIONS"; NULL: operands */
    const char *summary;
    const char *description;
    const WadiCliOption *options;
    int option_count;
    WadiCliExample examples[WADI_CLI_EXAMPLE_MAX];
    int (*run)(const WadiCliArgs *args); /* returns the exit code */
} WadiCliCommand;

extern const WadiCliCommand wadi_cli_commands[];
extern const int wadi_cli_command_count;
/* `wadi --help`, `wadi --version`: options without a command. */
extern const WadiCliCommand wadi_cli_top;

/* Commands that are planned but not in this version; NULL-terminated. */
extern const char *const wadi_cli_planned[];
/* Suffixes of scene files, without the dot; NULL-terminated. */
extern const char *const wadi_cli_scene_suffixes[];

typedef enum WadiCliExit {
    WADI_CLI_EXIT_GOOD = 0,
    WADI_CLI_EXIT_FAILED = 1,
    WADI_CLI_EXIT_USAGE = 2,
    WADI_CLI_EXIT_BUSY = 75,     /* EX_TEMPFAIL of sysexits.h: schedulers try again */
    WADI_CLI_EXIT_STOPPED = 130, /* the shell's value for a program ended by Ctrl-C */
} WadiCliExit;

typedef struct WadiCliExitText {
    WadiCliExit code;
    const char *meaning;
} WadiCliExitText;

enum { WADI_CLI_EXIT_COUNT = 5 };
extern const WadiCliExitText wadi_cli_exits[WADI_CLI_EXIT_COUNT];

/* NULL when no command has this name. */
const WadiCliCommand *wadi_cli_find_command(const char *name);
bool wadi_cli_is_planned(const char *name);

/* The program, called after the check of the processor. */
int wadi_cli_main(int argc, char **argv);

/* The commands, each in its cmd_*.c. */
int wadi_cli_view(const WadiCliArgs *args);
int wadi_cli_run(const WadiCliArgs *args);
int wadi_cli_check(const WadiCliArgs *args);
int wadi_cli_info(const WadiCliArgs *args);
int wadi_cli_surface(const WadiCliArgs *args);
int wadi_cli_secondary(const WadiCliArgs *args);
int wadi_cli_export(const WadiCliArgs *args);
int wadi_cli_render(const WadiCliArgs *args);
int wadi_cli_schema(const WadiCliArgs *args);
int wadi_cli_gallery(const WadiCliArgs *args);
int wadi_cli_bench(const WadiCliArgs *args);
int wadi_cli_farm(const WadiCliArgs *args);
int wadi_cli_wedge(const WadiCliArgs *args);
int wadi_cli_help(const WadiCliArgs *args);

#endif
