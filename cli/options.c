/* Differs from getopt_long, which accepts any prefix of a name: here a typo is an error that names the
 * nearest option, and a script does not change its meaning when an option is added. */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <wadi/scene.h>

enum { NAME_MAX_LENGTH = 32, NAMES_MAX = 32, HELP_WIDTH = 80, HELP_INDENT = 26 };

static int minimum3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Number of edits (insert, delete, replace, swap neighbours) from `a` to `b`; both at most NAME_MAX_LENGTH
 * long. */
static int edit_distance(const char *a, const char *b)
{
    int distance[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    int a_length = (int)strlen(a), b_length = (int)strlen(b);
    for (int i = 0; i <= a_length; ++i) {
        for (int j = 0; j <= b_length; ++j) {
            if (i == 0 || j == 0) {
                distance[i][j] = i + j;
                continue;
            }
            int replace = distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            distance[i][j] = minimum3(distance[i - 1][j] + 1, distance[i][j - 1] + 1, replace);
            bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap && distance[i - 2][j - 2] + 1 < distance[i][j]) {
                distance[i][j] = distance[i - 2][j - 2] + 1;
            }
        }
    }
    return distance[a_length][b_length];
}

const char *wadi_cli_nearest(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    if (length == 0 || length > NAME_MAX_LENGTH) {
        return NULL;
    }
    const char *nearest = NULL, *longer = NULL;
    int least = 0, longer_count = 0;
    for (int i = 0; i < count; ++i) {
        int distance = edit_distance(word, names[i]);
        if (nearest == NULL || distance < least) {
            nearest = names[i];
            least = distance;
        }
        if (strncmp(word, names[i], length) == 0) {
            longer = names[i];
            ++longer_count;
        }
    }
    if (longer_count == 1 && length >= 2) {
        return longer;
    }
    /* Up to a third of the letters wrong is a typo; more is another word. */
    return nearest != NULL && 3 * least <= (int)strlen(nearest) + 1 ? nearest : NULL;
}

int wadi_cli_usage_error(const WadiCliCommand *command, const char *format, ...)
{
    fputs("wadi: ", stderr);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    const char *space = command->name[0] != '\0' ? " " : "";
    fprintf(stderr, "\nsee wadi%s%s --help\n", space, command->name);
    return WADI_CLI_EXIT_USAGE;
}

static bool ends_like_scene(const char *word)
{
    const char *dot = strrchr(word, '.');
    for (int i = 0; dot != NULL && wadi_cli_scene_suffixes[i] != NULL; ++i) {
        if (strcmp(dot + 1, wadi_cli_scene_suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Words of other programs, and what they are here. */
typedef struct Synonym {
    const char *word, *text;
} Synonym;

static const char *find_synonym(const Synonym *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(list[i].word, word) == 0) {
            return list[i].text;
        }
    }
    return NULL;
}

static const Synonym other_commands[] = {
    { "simulate", "run" },         { "sim", "run" },        { "bake", "run" },
    { "mesh", "surface" },         { "draw", "render" },    { "play", "view" },
    { "whitewater", "secondary" }, { "validate", "check" },
};
static const Synonym other_options[] = {
    { "width", "--size WxH" },
    { "height", "--size WxH" },
    { "res", "--set resolution=N" },
    { "jobs", "--threads N" },
    { "cores", "--threads N" },
    { "camera", "--set 'render.camera={from: [x, y, z], to: [x, y, z]}'" },
    { "foam", "--set secondary.amount=N" },
    { "spp", "--samples N" },
};
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

int wadi_cli_command_error(const char *word)
{
    if (wadi_cli_is_planned(word)) {
        return wadi_cli_usage_error(&wadi_cli_top, "'%s' is planned, but not in this version (%s)", word,
                                    wadi_version());
    }
    const char *names[NAMES_MAX];
    int count = 0;
    for (; count < wadi_cli_command_count && count < NAMES_MAX; ++count) {
        names[count] = wadi_cli_commands[count].name;
    }
    const char *nearest = find_synonym(other_commands, COUNT_OF(other_commands), word);
    nearest = nearest != NULL ? nearest : wadi_cli_nearest(word, names, count);
    if (nearest != NULL) {
        return wadi_cli_usage_error(&wadi_cli_top, "unknown command '%s'; did you mean '%s'?", word, nearest);
    }
    if (ends_like_scene(word)) {
        return wadi_cli_usage_error(&wadi_cli_top, "unknown command '%s'; did you mean 'wadi run %s'?", word,
                                    word);
    }
    return wadi_cli_usage_error(&wadi_cli_top, "unknown command '%s'", word);
}

/* `label` is the option as the user wrote it, for messages. */
static bool store_value(const WadiCliCommand *command, const WadiCliOption *option, const char *label,
                        const char *value, WadiCliArgs *args)
{
    char *target = (char *)args + option->offset;
    switch (option->kind) {
    case WADI_CLI_FLAG: *(bool *)(void *)target = true; return true;
    case WADI_CLI_TEXT:
        if (value == NULL || value[0] == '\0') {
            wadi_cli_usage_error(command, "%s: expected %s, found nothing", label, option->argument);
            return false;
        }
        *(const char **)(void *)target = value;
        return true;
    case WADI_CLI_NUMBER: {
        char *end = NULL;
        errno = 0;
        long number = strtol(value, &end, 10);
        /* strtol would skip leading blanks and a plus sign. */
        bool is_number = (value[0] == '-' || (value[0] >= '0' && value[0] <= '9')) && *end == '\0';
        if (!is_number || errno != 0 || number < option->minimum || number > option->maximum) {
            wadi_cli_usage_error(command, "%s: expected a whole number from %d to %d, found '%s'", label,
                                 option->minimum, option->maximum, value);
            return false;
        }
        *(int *)(void *)target = (int)number;
        return true;
    }
    case WADI_CLI_SET:
        if (value == NULL || value[0] == '=' || strchr(value, '=') == NULL) {
            wadi_cli_usage_error(command, "%s: expected KEY=VALUE, found '%s'", label,
                                 value != NULL ? value : "");
            return false;
        }
        args->sets[args->set_count++] = value;
        return true;
    case WADI_CLI_VARY:
        if (value == NULL || value[0] == '=' || strchr(value, '=') == NULL) {
            wadi_cli_usage_error(command, "%s: expected KEY=A,B,C, found '%s'", label,
                                 value != NULL ? value : "");
            return false;
        }
        args->vary[args->vary_count++] = value;
        return true;
    }
    return false;
}

static bool takes_sets(const WadiCliCommand *command)
{
    for (int i = 0; i < command->option_count; ++i) {
        if (strcmp(command->options[i].name, "set") == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the word up to its first dot is a key of scenes; cell-size becomes cell_size. */
static bool is_scene_key(char *word)
{
    char pattern[NAME_MAX_LENGTH + 32], *schema = NULL;
    WadiError error;
    for (char *c = word; *c != '\0'; ++c) {
        *c = *c == '-' ? '_' : *c;
    }
    if (wadi_scene_schema(&schema, &error) != WADI_OK) {
        return false;
    }
    snprintf(pattern, sizeof pattern, "\n  \"%.*s\": {\"description\"", (int)strcspn(word, "."), word);
    const char *at = strstr(schema, pattern), *entries = strstr(schema, "\"$defs\"");
    const bool is_key = at != NULL && (entries == NULL || at < entries);
    wadi_text_release(schema);
    return is_key;
}

static void unknown_option(const WadiCliCommand *command, const char *name, int length)
{
    char word[NAME_MAX_LENGTH + 1];
    const char *names[NAMES_MAX];
    int count = 0;
    for (; count < command->option_count && count < NAMES_MAX; ++count) {
        names[count] = command->options[count].name;
    }
    const char *nearest = NULL, *synonym = NULL;
    bool is_of_scene = false;
    if (length <= NAME_MAX_LENGTH) {
        snprintf(word, sizeof word, "%.*s", length, name);
        synonym = find_synonym(other_options, COUNT_OF(other_options), word);
        nearest = wadi_cli_nearest(word, names, count);
        is_of_scene = takes_sets(command) && is_scene_key(word);
    }
    if (is_of_scene) {
        wadi_cli_usage_error(command,
                             "unknown option '--%.*s'; did you mean --set %s=…, a value of the scene?",
                             length, name, word);
    } else if (synonym != NULL) {
        wadi_cli_usage_error(command, "unknown option '--%.*s'; did you mean %s?", length, name, synonym);
    } else if (nearest != NULL) {
        wadi_cli_usage_error(command, "unknown option '--%.*s'; did you mean '--%s'?", length, name, nearest);
    } else {
        wadi_cli_usage_error(command, "unknown option '--%.*s'", length, name);
    }
}

static const WadiCliOption *find_option(const WadiCliCommand *command, const char *name, int length,
                                        char short_name)
{
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        bool is_long = name != NULL && (int)strlen(option->name) == length &&
                       strncmp(option->name, name, (size_t)length) == 0;
        if (is_long || (short_name != 0 && option->short_name == short_name)) {
            return option;
        }
    }
    return NULL;
}

/* Parses the option at argv[*index] with its value, which may be the next word: *index then moves on. */
static bool parse_option(const WadiCliCommand *command, int count, char **argv, int *index, WadiCliArgs *args)
{
    const char *word = argv[*index];
    const char *value = NULL;
    const WadiCliOption *option;
    char label[NAME_MAX_LENGTH + 4];
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        int length = equals != NULL ? (int)(equals - word) - 2 : (int)strlen(word) - 2;
        option = find_option(command, word + 2, length, 0);
        if (option == NULL) {
            unknown_option(command, word + 2, length);
            return false;
        }
        value = equals != NULL ? equals + 1 : NULL;
        snprintf(label, sizeof label, "--%.*s", NAME_MAX_LENGTH, option->name);
    } else {
        option = find_option(command, NULL, 0, word[1]);
        if (option == NULL || (option->argument == NULL && word[2] != '\0')) {
            wadi_cli_usage_error(command, "unknown option '%s'", word);
            return false;
        }
        value = word[2] != '\0' ? word + 2 : NULL;
        snprintf(label, sizeof label, "-%c", option->short_name);
    }
    if (option->argument == NULL && value != NULL) {
        wadi_cli_usage_error(command, "%s takes no value, found '%s'", label, value);
        return false;
    }
    if (option->argument != NULL && value == NULL) {
        if (*index + 1 >= count) {
            wadi_cli_usage_error(command, "%s needs a value: %s %s", label, label, option->argument);
            return false;
        }
        value = argv[++*index];
    }
    return store_value(command, option, label, value, args);
}

bool wadi_cli_parse(const WadiCliCommand *command, int count, char **argv, WadiCliArgs *args)
{
    bool are_options_over = false;
    for (int i = 0; i < count; ++i) {
        const char *word = argv[i];
        if (are_options_over && command->rest != NULL) {
            args->rest[args->rest_count++] = word;
        } else if (!are_options_over && strcmp(word, "--") == 0) {
            are_options_over = true;
        } else if (!are_options_over && word[0] == '-' && word[1] != '\0') {
            if (!parse_option(command, count, argv, &i, args)) {
                return false;
            }
            if (args->help || args->version) {
                return true;
            }
        } else if (command->operand == NULL || args->operand != NULL) {
            wadi_cli_usage_error(command, "unexpected argument '%s'", word);
            return false;
        } else if (word[0] == '\0') {
            wadi_cli_usage_error(command, "%s is empty", command->operand);
            return false;
        } else {
            args->operand = word;
        }
    }
    if (command->operand != NULL && !command->is_operand_optional && args->operand == NULL) {
        wadi_cli_usage_error(command, "%s is missing", command->operand);
        return false;
    }
    return true;
}

int wadi_cli_parse_counts(const char *text, char separator, int counts[2])
{
    for (int i = 0; i < 2; ++i) {
        char *end = NULL;
        errno = 0;
        long number = strtol(text, &end, 10);
        /* strtol would skip leading blanks and signs. */
        if (text[0] < '0' || text[0] > '9' || errno != 0 || number < 1 || number > 9999999) {
            return 0;
        }
        counts[i] = (int)number;
        if (*end == '\0') {
            return i + 1;
        }
        if (*end != separator) {
            return 0;
        }
        text = end + 1;
    }
    return 0;
}

void wadi_cli_print_wrapped(FILE *out, const char *text, int column, int indent, int width)
{
    bool is_first = true;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (!is_first && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!is_first) {
            fputc(' ', out);
            ++column;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
        is_first = false;
    }
    fputc('\n', out);
}

/* Prints a piece in brackets without a line break inside it. */
static void print_usage_piece(FILE *out, const char *piece, int *column, int indent)
{
    int length = (int)strlen(piece);
    if (*column + 1 + length > HELP_WIDTH) {
        fprintf(out, "\n%*s", indent, "");
        *column = indent;
    }
    fprintf(out, " %s", piece);
    *column += 1 + length;
}

void wadi_cli_print_usage(FILE *out, const WadiCliCommand *command, int column)
{
    column += fprintf(out, "wadi%s%s", command->name[0] != '\0' ? " " : "", command->name);
    int indent = column;
    char piece[96];
    if (command->operand != NULL) {
        snprintf(piece, sizeof piece, command->is_operand_optional ? "[%s]" : "%s", command->operand);
        print_usage_piece(out, piece, &column, indent);
    }
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        if (strcmp(option->name, "help") == 0) {
            continue;
        }
        char name[NAME_MAX_LENGTH + 4];
        /* The short form where a value follows: it is the usual way to type it. */
        if (option->short_name != 0 && option->argument != NULL) {
            snprintf(name, sizeof name, "-%c", option->short_name);
        } else {
            snprintf(name, sizeof name, "--%s", option->name);
        }
        snprintf(piece, sizeof piece, "[%s%s%s]%s", name, option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "",
                 option->kind == WADI_CLI_SET || option->kind == WADI_CLI_VARY ? "..." : "");
        print_usage_piece(out, piece, &column, indent);
    }
    if (command->rest != NULL) {
        snprintf(piece, sizeof piece, "[-- %s]", command->rest);
        print_usage_piece(out, piece, &column, indent);
    }
    fputc('\n', out);
}

static void print_two_columns(FILE *out, const char *left, const char *right)
{
    int column = fprintf(out, "  %s", left);
    if (right[0] == '\0') {
        fputc('\n', out);
        return;
    }
    if (column > HELP_INDENT - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", HELP_INDENT - column, "");
    wadi_cli_print_wrapped(out, right, HELP_INDENT, HELP_INDENT, HELP_WIDTH);
}

static void print_options(FILE *out, const WadiCliCommand *command)
{
    fputs("\nOptions:\n", out);
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        char name[96], initial[8] = "    ";
        if (option->short_name != 0) {
            snprintf(initial, sizeof initial, "-%c, ", option->short_name);
        }
        snprintf(name, sizeof name, "%s--%s%s%s", initial, option->name, option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "");
        print_two_columns(out, name, option->help);
    }
}

void wadi_cli_print_help(FILE *out, const WadiCliCommand *command)
{
    bool is_top = command->name[0] == '\0';
    if (is_top) {
        fprintf(out, "wadi %s: %s\n\nUsage: wadi COMMAND [ARGUMENTS]\n\n", wadi_version(), command->summary);
    } else {
        int column = fprintf(out, "Usage: ");
        wadi_cli_print_usage(out, command, column);
        fputc('\n', out);
    }
    wadi_cli_print_wrapped(out, command->description, 0, 0, HELP_WIDTH);
    if (is_top) {
        fputs("\nCommands:\n", out);
        for (int i = 0; i < wadi_cli_command_count; ++i) {
            print_two_columns(out, wadi_cli_commands[i].name, wadi_cli_commands[i].summary);
        }
    }
    print_options(out, command);
    fputs("\nExit codes:\n", out);
    for (int i = 0; i < WADI_CLI_EXIT_COUNT; ++i) {
        fprintf(out, "  %3d  ", (int)wadi_cli_exits[i].code);
        wadi_cli_print_wrapped(out, wadi_cli_exits[i].meaning, 7, 7, HELP_WIDTH);
    }
    fputs("\nExamples:\n", out);
    for (int i = 0; i < WADI_CLI_EXAMPLE_MAX && command->examples[i].command != NULL; ++i) {
        fprintf(out, "  %s\n", command->examples[i].command);
        if (command->examples[i].meaning[0] != '\0') {
            fprintf(out, "      %s\n", command->examples[i].meaning);
        }
    }
    if (is_top) {
        fputs("\n'wadi help COMMAND' tells more about a command.\n", out);
    }
}
