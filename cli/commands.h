/* What can be said on the command line: one table of options a command. Parsing, --help, the manual page,
 * docs/cli.md and the shell completions are all made from these tables. */
#ifndef WADI_CLI_COMMANDS_H
#define WADI_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/* Everything a command line said. Strings are borrowed from argv. */
typedef struct WadiCliArgs {
    const char *program; /* argv[0]: the command that continues a stopped run begins with it */
    const char *command; /* the command's name: and goes on with it */
    const char *operand; /* NULL: none was given */
    const char *output;
    const char *solver;
    const char *bench_case;
    const char *method, *material, *subframe, *format, *frame_range; /* of surfaces */
    const char *quality, *size, *color, *range, *map, *cut;          /* of pictures */
    const char *to, *up;                                             /* of exports */
    const char **sets; /* "KEY=VALUE" in the order given; owned, with room for three more */
    int set_count;
    int frames;     /* 0: as the scene says */
    int from_frame; /* 0: not given */
    int threads;    /* 0: all cores */
    int scale;      /* particles of a bench; 0: its standard size */
    int every;      /* frames from picture to picture; 0: 1 */
    int samples;    /* paths a pixel; 0: as the quality says */
    int sheet;      /* pictures on a contact sheet; 0: none */
    bool no_video, gif;
    bool resume, overwrite, force, json, quiet, markdown, print, help, version;
} WadiCliArgs;

typedef enum WadiCliKind {
    WADI_CLI_FLAG,   /* bool */
    WADI_CLI_NUMBER, /* int, minimum to maximum */
    WADI_CLI_TEXT,   /* const char *, not empty */
    WADI_CLI_SET,    /* KEY=VALUE, added to WadiCliArgs.sets */
} WadiCliKind;

/* What a shell offers for an argument. */
typedef enum WadiCliFiles {
    WADI_CLI_FILES_NONE,
    WADI_CLI_FILES_SCENE,  /* the suffixes of wadi_cli_scene_suffixes, and folders on the way */
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
    const char *choices; /* the words that a shell offers, with blanks between; NULL: see `files` */
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
    WadiCliFiles files; /* what the operand is */
    const char *summary;
    const char *description;
    const WadiCliOption *options;
    int option_count;
    WadiCliExample examples[WADI_CLI_EXAMPLE_MAX];
    int (*run)(const WadiCliArgs *args); /* returns the exit code */
} WadiCliCommand;

extern const WadiCliCommand wadi_cli_commands[];
extern const int wadi_cli_command_count;
/* `wadi --help`, `wadi --version`: options that stand without a command. */
extern const WadiCliCommand wadi_cli_top;

/* Commands that are planned and not in this version; ends with NULL. */
extern const char *const wadi_cli_planned[];
/* Suffixes of scene files, without the dot; ends with NULL. */
extern const char *const wadi_cli_scene_suffixes[];

typedef enum WadiCliExit {
    WADI_CLI_EXIT_GOOD = 0,
    WADI_CLI_EXIT_FAILED = 1,
    WADI_CLI_EXIT_USAGE = 2,
    WADI_CLI_EXIT_STOPPED = 130, /* what a shell gives for a program ended by Ctrl-C */
} WadiCliExit;

typedef struct WadiCliExitText {
    WadiCliExit code;
    const char *meaning;
} WadiCliExitText;

enum { WADI_CLI_EXIT_COUNT = 4 };
extern const WadiCliExitText wadi_cli_exits[WADI_CLI_EXIT_COUNT];

/* NULL: there is none of that name. */
const WadiCliCommand *wadi_cli_find_command(const char *name);
bool wadi_cli_is_planned(const char *name);

/* The program, once the processor is known to be one that it was built for. */
int wadi_cli_main(int argc, char **argv);

/* The commands themselves, each in its cmd_*.c. */
int wadi_cli_run(const WadiCliArgs *args);
int wadi_cli_check(const WadiCliArgs *args);
int wadi_cli_info(const WadiCliArgs *args);
int wadi_cli_surface(const WadiCliArgs *args);
int wadi_cli_export(const WadiCliArgs *args);
int wadi_cli_render(const WadiCliArgs *args);
int wadi_cli_schema(const WadiCliArgs *args);
int wadi_cli_gallery(const WadiCliArgs *args);
int wadi_cli_bench(const WadiCliArgs *args);
int wadi_cli_help(const WadiCliArgs *args);

#endif
