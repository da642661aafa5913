/* The manual: docs/man/wadi.1 (mdoc) and docs/cli.md, both from the tables of commands.h. */
#include "manual.h"

#include <string.h>

#include "options.h"

/* Changed with the texts. */
#define MANUAL_DATE "November 15, 2026"

enum { TEXT_WIDTH = 100 };

typedef struct EventKey {
    const char *name, *meaning;
} EventKey;

enum { EVENT_KEY_MAX = 14 };

typedef struct Event {
    const char *name, *meaning;
    EventKey keys[EVENT_KEY_MAX];
} Event;

/* The events of `wadi run --json`; tests/cli/test_cli.py compares them with those of real runs. */
static const Event events[] = {
    { "start",
      "The scene is read and valid.",
      { { "wadi", "version of wadi" },
        { "scene", "path of the scene file" },
        { "name", "name of the scene" },
        { "solver", "the solver" },
        { "frames", "frames the run will have" },
        { "fps", "frames a second" } } },
    { "frame",
      "A frame is finished.",
      { { "frame", "its number, from 1" },
        { "frames", "frames in all" },
        { "particles", "particles now" },
        { "awake_particles", "of these: they moved in the last step" },
        { "sleeping_particles", "of these: left out of the last step because they rest" },
        { "steps", "steps since the start of the run" },
        { "seconds", "since this command began" },
        { "seconds_left", "estimate; null while unknown" },
        { "state_hash", "of the exact state, 16 hexadecimal digits" } } },
    { "info", "Something worth knowing.", { { "text", "what" } } },
    { "warning", "Something that may be wrong.", { { "text", "what" } } },
    { "end",
      "The run is finished.",
      { { "ok", "true" },
        { "run", "the run folder" },
        { "frames", "finished frames in it" },
        { "frames_done", "of these, by this command" },
        { "particles", "at the end" },
        { "steps", "since the start of the run" },
        { "lost_particles", "0 in a sound run" },
        { "drained_particles", "taken by drains or gone through open sides" },
        { "seconds", "this command took" },
        { "peak_rss_bytes", "most memory used" },
        { "warnings", "how many there were" },
        { "state_hash", "of the last frame" } } },
    { "mesh",
      "A file of wadi surface is there.",
      { { "frame", "its number, from 1" },
        { "frames_done", "frames whose files all exist" },
        { "frames", "frames this command looks at" },
        { "material", "its name" },
        { "path", "of the file" },
        { "kept", "true when it was there already; the counts are then 0" },
        { "particles", "it was made of" },
        { "triangles", "of the mesh" },
        { "vertices", "of the mesh" },
        { "seconds", "since this command began" },
        { "seconds_left", "estimate; null while unknown" } } },
    { "meshes",
      "All files of wadi surface exist.",
      { { "folder", "where they are" },
        { "frames", "frames looked at" },
        { "files", "written" },
        { "kept", "files that were there already" },
        { "particles", "in the files written, over all frames" },
        { "triangles", "in the files written" },
        { "vertices", "in the files written" },
        { "seconds", "this command took" },
        { "read_seconds", "reading frames, summed over frames made at once" },
        { "field_seconds", "sampling the function" },
        { "mesh_seconds", "making the mesh and its attributes" },
        { "write_seconds", "writing files" } } },
    { "image",
      "A picture of wadi render is there.",
      { { "frame", "its number, from 1" },
        { "frames_done", "existing pictures" },
        { "frames", "pictures this command looks at" },
        { "path", "of the file" },
        { "kept", "true when it was there already; counts and times are then 0" },
        { "grains", "spheres in it" },
        { "triangles", "in it" },
        { "stage_seconds", "making grains and meshes" },
        { "tree_seconds", "sorting them" },
        { "trace_seconds", "following light" },
        { "seconds", "since this command began" },
        { "seconds_left", "estimate; null while unknown" } } },
    { "images",
      "All pictures of wadi render exist, and what is made of them.",
      { { "folder", "where they are" },
        { "pictures", "drawn" },
        { "kept", "pictures that were there already" },
        { "video", "path of the MP4 file, or empty" },
        { "gif", "path of the GIF file, or empty" },
        { "sheet", "path of the contact sheet, or empty" },
        { "warnings", "how many there were" },
        { "seconds", "this command took" },
        { "prepare_seconds", "of these for surfaces and grains" },
        { "light_seconds", "and for light" },
        { "costs", "what makes the light slow, or empty" } } },
    { "layout",
      "The layout of a scene is drawn.",
      { { "picture", "path of what the camera sees" },
        { "overview", "path of the picture from outside, or empty" },
        { "seconds", "it took" } } },
    { "picture", "The contact sheet of a gallery entry is written.", { { "path", "of the PNG file" } } },
    { "compare",
      "A gallery entry whose source counts steps is done.",
      { { "steps", "of the run" },
        { "seconds_a_step", "of the run" },
        { "published_steps", "of the source" },
        { "published_seconds_a_step", "of the source" } } },
    { "compare_frames",
      "A run of any other gallery entry is done.",
      { { "run", "path of the run folder" },
        { "seconds_a_frame", "of the run" },
        { "awake_mean", "particles that moved, mean of the frames; null while unknown" },
        { "awake_most", "the same in the frame with the most; null while unknown" },
        { "published_seconds_a_frame", "of the source; null where it gives none" },
        { "published_awake", "particles that the source simulates of all; null where it gives none" },
        { "published_place", "section or table of the source, or empty" } } },
    { "export",
      "A frame of wadi export is written.",
      { { "frame", "its number, from 1" },
        { "frames_done", "existing frames" },
        { "frames", "frames this command looks at" },
        { "path", "of its main file" },
        { "kept", "true when it was there already; the counts are then 0" },
        { "grains", "spheres or particles in it" },
        { "triangles", "of its meshes" },
        { "seconds", "since this command began" },
        { "seconds_left", "estimate; null while unknown" } } },
    { "exports",
      "All frames of wadi export exist.",
      { { "folder", "where they are" },
        { "frames", "existing frames" },
        { "kept", "of them that were there already" },
        { "grains", "in the files written" },
        { "triangles", "in the files written" },
        { "seconds", "this command took" } } },
    { "farm",
      "The job of wadi farm is written.",
      { { "file", "path of the job" },
        { "video_file", "path of the job for the video where it is another file, or empty" },
        { "frames", "of the job" },
        { "tasks", "that they are divided into" },
        { "submit", "command that submits it, or what to do with the file" } } },
    { "variant",
      "A run of wadi wedge begins.",
      { { "run", "its number, from 1" }, { "runs", "of the wedge" }, { "values", "that it has" } } },
    { "variant_failed",
      "A run of wadi wedge failed; the others go on.",
      { { "run", "its number, from 1" },
        { "values", "that it has" },
        { "status", "as of the event error" },
        { "text", "what went wrong" } } },
    { "wedge",
      "All runs of wadi wedge that this command had to make have ended.",
      { { "folder", "of the runs" },
        { "runs", "of the wedge" },
        { "done", "that are finished" },
        { "failed", "that failed" },
        { "table", "path of wedge.csv" },
        { "mosaic", "path of the picture, or empty while runs are missing" },
        { "seconds", "this command took" } } },
    { "error",
      "It ended early; the last event then.",
      { { "status", "argument, memory, io, format, scene, busy, stopped, numeric or unsupported" },
        { "text", "what went wrong, one line a problem" },
        { "run", "the run folder; absent when the scene is wrong" },
        { "frames", "finished frames in it; absent when the scene is wrong" },
        { "resume", "command that continues the run, or empty; absent when the scene is wrong" } } },
};
enum { EVENT_COUNT = sizeof events / sizeof events[0] };

static const char *const environment[][2] = {
    { "NO_COLOR", "When set and not empty, nothing is coloured." },
    { "TERM", "When dumb, nothing is coloured and no escape sequences are used." },
    { "WADI_DATA", "Folder that holds gallery/ where it does not lie beside the program: share/wadi." },
    { "XDG_CACHE_HOME", "Its folder wadi keeps the meshes that wadi gallery fetched; else ~/.cache/wadi." },
    { "COLUMNS", "Width of the progress line where the terminal does not tell its own." },
};
enum { ENVIRONMENT_COUNT = sizeof environment / sizeof environment[0] };

static const char json_note[] = "With --json a command writes one JSON object a line to standard output, "
                                "each with the key event and the keys below. The commands wadi check and "
                                "wadi info write one object; when they fail, it is the error event.";

/* Text as roff input: one sentence per line, no character interpreted as a request or an escape. */
static void man_text(FILE *out, const char *text)
{
    bool is_line_start = true;
    int column = 0;
    for (const char *c = text; *c != '\0'; ++c) {
        if (is_line_start && (*c == '.' || *c == '\'')) {
            fputs("\\&", out);
        }
        is_line_start = false;
        bool is_sentence_end = c > text && c[-1] == '.' && *c == ' ' && c[1] >= 'A' && c[1] <= 'Z';
        bool is_too_long = *c == ' ' && column + 1 + (int)strcspn(c + 1, " ") > 78;
        if (is_sentence_end || is_too_long) {
            fputc('\n', out);
            is_line_start = true;
            column = 0;
            continue;
        }
        switch (*c) {
        case '\\': fputs("\\e", out); break;
        case '-': fputs("\\-", out); break;
        case '\'': fputs("\\(aq", out); break;
        default: fputc(*c, out); break;
        }
        ++column;
    }
    fputc('\n', out);
}

/* "Fl o Ar RUN" or "Fl \-frames Ar N". */
static void man_option(FILE *out, const WadiCliOption *option, bool prefers_short)
{
    if (prefers_short && option->short_name != 0) {
        fprintf(out, "Fl %c", option->short_name);
    } else {
        fputs("Fl \\-", out);
        for (const char *c = option->name; *c != '\0'; ++c) {
            fprintf(out, *c == '-' ? "\\-" : "%c", *c);
        }
    }
    if (option->argument != NULL) {
        fprintf(out, " Ar %s", option->argument);
    }
}

static void man_synopsis(FILE *out, const WadiCliCommand *command)
{
    fprintf(out, ".Nm wadi\n.Cm %s\n", command->name);
    if (command->operand != NULL) {
        fprintf(out, command->is_operand_optional ? ".Op Ar %s\n" : ".Ar %s\n", command->operand);
    }
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        if (strcmp(option->name, "help") != 0) {
            fputs(".Op ", out);
            man_option(out, option, option->argument != NULL);
            fputs(option->kind == WADI_CLI_SET || option->kind == WADI_CLI_VARY ? " ...\n" : "\n", out);
        }
    }
    if (command->rest != NULL) {
        fprintf(out, ".Op \\-\\- Ar %s\n", command->rest);
    }
}

static void man_options(FILE *out, const WadiCliCommand *command)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        fputs(".It ", out);
        if (option->short_name != 0) {
            man_option(out, option, true);
            fputs(" , ", out);
        }
        man_option(out, option, false);
        fputc('\n', out);
        man_text(out, option->help);
    }
    fputs(".El\n", out);
}

static void man_examples(FILE *out, const WadiCliCommand *command)
{
    for (int i = 0; i < WADI_CLI_EXAMPLE_MAX && command->examples[i].command != NULL; ++i) {
        fputs(".Bd -literal -offset indent -compact\n", out);
        /* Not filled: the line must remain one line. */
        for (const char *c = command->examples[i].command; *c != '\0'; ++c) {
            fprintf(out, *c == '-' ? "\\-" : *c == '\'' ? "\\(aq" : "%c", *c);
        }
        fputs("\n.Ed\n", out);
        if (command->examples[i].meaning[0] != '\0') {
            fputs(".Bd -ragged -offset 10n -compact\n", out);
            man_text(out, command->examples[i].meaning);
            fputs(".Ed\n", out);
        }
    }
}

static void man_events(FILE *out)
{
    fputs(".Sh JSON EVENTS\n", out);
    man_text(out, json_note);
    fputs(".Bl -tag -width Ds\n", out);
    for (int i = 0; i < EVENT_COUNT; ++i) {
        fprintf(out, ".It Cm %s\n", events[i].name);
        man_text(out, events[i].meaning);
        fputs(".Bl -tag -width peak_rss_bytes -compact\n", out);
        for (int k = 0; k < EVENT_KEY_MAX && events[i].keys[k].name != NULL; ++k) {
            fprintf(out, ".It Va %s\n", events[i].keys[k].name);
            man_text(out, events[i].keys[k].meaning);
        }
        fputs(".El\n", out);
    }
    fputs(".El\n", out);
}

void wadi_cli_dump_man(FILE *out)
{
    fputs(".\\\" Made by wadi --dump-man; change cli/commands.c or cli/manual.c instead.\n", out);
    fprintf(out, ".Dd %s\n.Dt WADI 1\n.Os wadi %s\n", MANUAL_DATE, wadi_version());
    fprintf(out, ".Sh NAME\n.Nm wadi\n.Nd %s\n.Sh SYNOPSIS\n", wadi_cli_top.summary);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        man_synopsis(out, &wadi_cli_commands[i]);
    }
    fputs(".Nm wadi\n.Fl \\-help | Fl \\-version\n", out);
    fputs(".Sh DESCRIPTION\n", out);
    man_text(out, wadi_cli_top.description);
    fputs(".Pp\n", out);
    man_text(out, "Options may stand before or after the operand. --option value and --option=value mean the "
                  "same, and -- "
                  "ends the options.");
    fputs(".Sh COMMANDS\n", out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        fprintf(out, ".Ss wadi %s\n", wadi_cli_commands[i].name);
        man_text(out, wadi_cli_commands[i].description);
        man_options(out, &wadi_cli_commands[i]);
    }
    fputs(".Ss Without a command\n", out);
    man_options(out, &wadi_cli_top);
    man_events(out);
    fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n", out);
    for (int i = 0; i < ENVIRONMENT_COUNT; ++i) {
        fprintf(out, ".It Ev %s\n", environment[i][0]);
        man_text(out, environment[i][1]);
    }
    fputs(".El\n.Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
    for (int i = 0; i < WADI_CLI_EXIT_COUNT; ++i) {
        fprintf(out, ".It %d\n", (int)wadi_cli_exits[i].code);
        man_text(out, wadi_cli_exits[i].meaning);
    }
    fputs(".El\n.Sh EXAMPLES\n", out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        man_examples(out, &wadi_cli_commands[i]);
    }
}

/* Text for a table cell. */
static void markdown_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        if (strchr("|*_<>[]\\", *text) != NULL) {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

static bool is_same_option(const WadiCliOption *one, const WadiCliOption *other)
{
    return strcmp(one->name, other->name) == 0 && strcmp(one->help, other->help) == 0;
}

/* Options that several commands have with the same text stand on the page once. */
static bool is_common_option(const WadiCliOption *option)
{
    enum { LEAST = 2 };
    int count = 0;
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        for (int k = 0; k < wadi_cli_commands[i].option_count; ++k) {
            count += is_same_option(option, &wadi_cli_commands[i].options[k]) ? 1 : 0;
        }
    }
    return count >= LEAST;
}

static void markdown_option(FILE *out, const WadiCliOption *option)
{
    fputs("- ", out);
    if (option->short_name != 0) {
        fprintf(out, "`-%c`, ", option->short_name);
    }
    fprintf(out, "`--%s%s%s`: ", option->name, option->argument != NULL ? " " : "",
            option->argument != NULL ? option->argument : "");
    markdown_cell(out, option->help);
    fputs("\n", out);
}

static void markdown_common_options(FILE *out)
{
    fputs("\n## Common options\n\nThese mean the same wherever a command has them.\n\n", out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        for (int k = 0; k < wadi_cli_commands[i].option_count; ++k) {
            const WadiCliOption *option = &wadi_cli_commands[i].options[k];
            bool is_listed = false;
            for (int j = 0; j < i; ++j) {
                for (int l = 0; l < wadi_cli_commands[j].option_count; ++l) {
                    is_listed = is_listed || is_same_option(option, &wadi_cli_commands[j].options[l]);
                }
            }
            if (!is_listed && is_common_option(option)) {
                markdown_option(out, option);
            }
        }
    }
}

static void markdown_command(FILE *out, const WadiCliCommand *command)
{
    bool is_top = command->name[0] == '\0';
    if (is_top) {
        fputs("\n## Without a command\n\n", out);
    } else {
        fprintf(out, "\n## wadi %s\n\n```\n", command->name);
        wadi_cli_print_usage(out, command, 0);
        fputs("```\n\n", out);
        wadi_cli_print_wrapped(out, command->description, 0, 0, TEXT_WIDTH);
        fputc('\n', out);
    }
    bool has_own = false;
    for (int i = 0; i < command->option_count; ++i) {
        if (is_top || !is_common_option(&command->options[i])) {
            markdown_option(out, &command->options[i]);
            has_own = true;
        }
    }
    if (is_top) {
        return;
    }
    fputs(has_own ? "\n```sh\n" : "```sh\n", out);
    for (int i = 0; i < WADI_CLI_EXAMPLE_MAX && command->examples[i].command != NULL; ++i) {
        bool has_meaning = command->examples[i].meaning[0] != '\0';
        fprintf(out, "%s%s%s\n", command->examples[i].command, has_meaning ? "  # " : "",
                command->examples[i].meaning);
    }
    fputs("```\n", out);
}

void wadi_cli_dump_markdown(FILE *out)
{
    fputs("<!-- Made by wadi --dump-markdown; change cli/commands.c or cli/manual.c instead. -->\n", out);
    fprintf(out, "# The wadi command\n\n");
    wadi_cli_print_wrapped(out, wadi_cli_top.description, 0, 0, TEXT_WIDTH);
    fputs("\nOptions may stand before or after the operand. `--option value` and `--option=value` mean the "
          "same, and `--` "
          "ends\nthe options.\n",
          out);
    markdown_common_options(out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        markdown_command(out, &wadi_cli_commands[i]);
    }
    markdown_command(out, &wadi_cli_top);
    fputs("\n## Exit codes\n\n| code | meaning |\n|---|---|\n", out);
    for (int i = 0; i < WADI_CLI_EXIT_COUNT; ++i) {
        fprintf(out, "| %d | %s |\n", (int)wadi_cli_exits[i].code, wadi_cli_exits[i].meaning);
    }
    fputs("\n## Environment\n\n| variable | meaning |\n|---|---|\n", out);
    for (int i = 0; i < ENVIRONMENT_COUNT; ++i) {
        fprintf(out, "| `%s` | %s |\n", environment[i][0], environment[i][1]);
    }
    fputs("\n## JSON events\n\n", out);
    wadi_cli_print_wrapped(out, json_note, 0, 0, TEXT_WIDTH);
    fputs("\nThe manual page, `man wadi`, says what each key means.\n\n| event | when | keys "
          "|\n|---|---|---|\n",
          out);
    for (int i = 0; i < EVENT_COUNT; ++i) {
        fprintf(out, "| `%s` | %s | ", events[i].name, events[i].meaning);
        for (int k = 0; k < EVENT_KEY_MAX && events[i].keys[k].name != NULL; ++k) {
            fprintf(out, "%s`%s`", k > 0 ? ", " : "", events[i].keys[k].name);
        }
        fputs(" |\n", out);
    }
}
