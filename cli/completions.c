/* Shell completions for bash, zsh and fish, from the tables of commands.h. */
#include "commands.h"

#include <string.h>

#include "bench.h"
#include "gallery.h"
#include "manual.h"

static const char note[] =
    "# Made by wadi --dump-completion; change cli/commands.c or cli/completions.c instead.\n";

static void print_command_names(FILE *out)
{
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        fprintf(out, "%s%s", i > 0 ? " " : "", wadi_cli_commands[i].name);
    }
}

static void print_gallery_names(FILE *out)
{
    for (int i = 0; i < wadi_gallery_entry_count; ++i) {
        fprintf(out, "%s%s", i > 0 ? " " : "", wadi_gallery_entries[i].name);
    }
}

static void print_bench_names(FILE *out)
{
    for (int i = 0; i < wadi_bench_count; ++i) {
        fprintf(out, "%s%s", i > 0 ? " " : "", wadi_benches[i].name);
    }
}

static void print_case_names(FILE *out)
{
    const char *separator = "";
    for (int b = 0; b < wadi_bench_count; ++b) {
        for (int c = 0; c < wadi_benches[b].case_count; ++c) {
            fprintf(out, "%s%s", separator, wadi_benches[b].cases[c].name);
            separator = " ";
        }
    }
}

/* The words of an argument with a fixed set of values. */
static void print_words(FILE *out, WadiCliFiles files)
{
    switch (files) {
    case WADI_CLI_FILES_COMMAND: print_command_names(out); break;
    case WADI_CLI_FILES_GALLERY: print_gallery_names(out); break;
    case WADI_CLI_FILES_BENCH: print_bench_names(out); break;
    case WADI_CLI_FILES_CASE: print_case_names(out); break;
    case WADI_CLI_FILES_NONE:
    case WADI_CLI_FILES_SCENE:
    case WADI_CLI_FILES_FOLDER:
    case WADI_CLI_FILES_ANY: break;
    }
}

/* The options of a command as words. */
static void bash_options(FILE *out, const WadiCliCommand *command)
{
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        if (option->short_name != 0) {
            fprintf(out, "-%c ", option->short_name);
        }
        fprintf(out, "--%s%s", option->name, i + 1 < command->option_count ? " " : "");
    }
}

static const char *bash_files(WadiCliFiles files)
{
    switch (files) {
    case WADI_CLI_FILES_NONE: return ":";
    case WADI_CLI_FILES_SCENE: return "_wadi_files scene";
    case WADI_CLI_FILES_FOLDER: return "_wadi_files folder";
    case WADI_CLI_FILES_ANY: return "_wadi_files any";
    case WADI_CLI_FILES_COMMAND: return "_wadi_words \"$commands\"";
    case WADI_CLI_FILES_GALLERY: return "_wadi_words \"$gallery\"";
    case WADI_CLI_FILES_BENCH: return "_wadi_words \"$benches\"";
    case WADI_CLI_FILES_CASE: return "_wadi_words \"$cases\"";
    }
    return ":";
}

static void bash_command(FILE *out, const WadiCliCommand *command)
{
    fprintf(out, "    %s)\n", command->name);
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        if (option->argument == NULL) {
            continue;
        }
        fputs("        if [[ $previous == ", out);
        if (option->short_name != 0) {
            fprintf(out, "-%c || $previous == ", option->short_name);
        }
        fprintf(out, "--%s ]]; then\n            ", option->name);
        if (option->choices != NULL) {
            fprintf(out, "_wadi_words \"%s\"", option->choices);
        } else {
            fputs(bash_files(option->files), out);
        }
        fputs("\n            return\n        fi\n", out);
    }
    fputs("        if [[ $current == -* ]]; then\n            _wadi_words \"", out);
    bash_options(out, command);
    fprintf(out, "\"\n        else\n            %s\n        fi\n        ;;\n",
            command->operand != NULL ? bash_files(command->files) : ":");
}

static void dump_bash(FILE *out)
{
    fputs(note, out);
    fputs("\n_wadi_words() {\n"
          "    local word\n"
          "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -W \"$1\" -- "
          "\"$current\")\n"
          "}\n"
          "\n_wadi_files() {\n"
          "    local word suffix\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(\n"
          "        case $1 in\n"
          "        any) compgen -f -- \"$current\" ;;\n"
          "        folder) compgen -d -- \"$current\" ;;\n"
          "        scene)\n"
          "            compgen -d -- \"$current\"\n"
          "            for suffix in",
          out);
    for (int i = 0; wadi_cli_scene_suffixes[i] != NULL; ++i) {
        fprintf(out, " %s", wadi_cli_scene_suffixes[i]);
    }
    fputs("; do compgen -f -X \"!*.$suffix\" -- \"$current\"; done\n"
          "            ;;\n"
          "        esac\n"
          "    )\n"
          "}\n"
          "\n_wadi() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous= command= commands='",
          out);
    print_command_names(out);
    fputs("'\n    local gallery='", out);
    print_gallery_names(out);
    fputs("' benches='", out);
    print_bench_names(out);
    fputs("'\n    local cases='", out);
    print_case_names(out);
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
          "    # Bash cuts --option=value into three words.\n"
          "    if [[ $current == = ]]; then\n"
          "        current=\n"
          "    elif [[ $previous == = ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $command in\n"
          "    '')\n"
          "        if [[ $current == -* ]]; then\n"
          "            _wadi_words \"",
          out);
    bash_options(out, &wadi_cli_top);
    fputs("\"\n        else\n            _wadi_words \"$commands\"\n        fi\n        ;;\n", out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        bash_command(out, &wadi_cli_commands[i]);
    }
    fputs("    esac\n}\n\ncomplete -F _wadi wadi\n", out);
}

/* Prints text inside a single-quoted word, with a backslash before each of `special`. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; ++text) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fprintf(out, strchr(special, *text) != NULL ? "\\%c" : "%c", *text);
        }
    }
}

static void zsh_action(FILE *out, const char *argument, WadiCliFiles files, const char *choices)
{
    fprintf(out, ":%s:", argument);
    if (choices != NULL) {
        fprintf(out, "(%s)", choices);
        return;
    }
    switch (files) {
    case WADI_CLI_FILES_NONE: break;
    case WADI_CLI_FILES_SCENE:
        fputs("_files -g \"*.(", out);
        for (int i = 0; wadi_cli_scene_suffixes[i] != NULL; ++i) {
            fprintf(out, "%s%s", i > 0 ? "|" : "", wadi_cli_scene_suffixes[i]);
        }
        fputs(")(-.)\"", out);
        break;
    case WADI_CLI_FILES_FOLDER: fputs("_files -/", out); break;
    case WADI_CLI_FILES_ANY: fputs("_files", out); break;
    case WADI_CLI_FILES_COMMAND:
    case WADI_CLI_FILES_GALLERY:
    case WADI_CLI_FILES_BENCH:
    case WADI_CLI_FILES_CASE:
        fputc('(', out);
        print_words(out, files);
        fputc(')', out);
        break;
    }
}

static void zsh_options(FILE *out, const WadiCliCommand *command, const char *indent)
{
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        bool has_argument = option->argument != NULL;
        fprintf(out, " \\\n%s", indent);
        if (option->short_name != 0) {
            fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->short_name, option->name, option->short_name,
                    has_argument ? "+" : "", option->name, has_argument ? "=" : "");
        } else {
            fprintf(out, "'%s--%s%s[",
                    option->kind == WADI_CLI_SET || option->kind == WADI_CLI_VARY ? "*" : "", option->name,
                    has_argument ? "=" : "");
        }
        print_quoted(out, option->help, "[]:\\");
        fputc(']', out);
        if (has_argument) {
            zsh_action(out, option->argument, option->files, option->choices);
        }
        fputc('\'', out);
    }
}

static void dump_zsh(FILE *out)
{
    fputs("#compdef wadi\n", out);
    fputs(note, out);
    fputs("\n_wadi() {\n"
          "    local context state state_descr line\n"
          "    typeset -A opt_args\n"
          "    _arguments -C",
          out);
    zsh_options(out, &wadi_cli_top, "        ");
    fputs(" \\\n        '1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n"
          "    command)\n"
          "        local -a commands\n"
          "        commands=(\n",
          out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        fprintf(out, "            '%s:", wadi_cli_commands[i].name);
        print_quoted(out, wadi_cli_commands[i].summary, ":\\");
        fputs("'\n", out);
    }
    fputs("        )\n"
          "        _describe command commands\n"
          "        ;;\n"
          "    argument)\n"
          "        case $words[1] in\n",
          out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        const WadiCliCommand *command = &wadi_cli_commands[i];
        fprintf(out, "        %s)\n            _arguments", command->name);
        zsh_options(out, command, "                ");
        if (command->operand != NULL) {
            fputs(" \\\n                '1", out);
            zsh_action(out, command->operand, command->files, NULL);
            fputc('\'', out);
        }
        fputs("\n            ;;\n", out);
    }
    fputs("        esac\n        ;;\n    esac\n}\n\n_wadi \"$@\"\n", out);
}

static void fish_files(FILE *out, WadiCliFiles files, const char *choices)
{
    if (choices != NULL) {
        fprintf(out, " -a '%s'", choices);
        return;
    }
    switch (files) {
    case WADI_CLI_FILES_NONE: break;
    case WADI_CLI_FILES_SCENE:
        fputs(" -k -a '(__fish_complete_suffix", out);
        for (int i = 0; wadi_cli_scene_suffixes[i] != NULL; ++i) {
            fprintf(out, " .%s", wadi_cli_scene_suffixes[i]);
        }
        fputs(")'", out);
        break;
    case WADI_CLI_FILES_FOLDER: fputs(" -a '(__fish_complete_directories)'", out); break;
    case WADI_CLI_FILES_ANY: fputs(" -F", out); break;
    case WADI_CLI_FILES_COMMAND:
    case WADI_CLI_FILES_GALLERY:
    case WADI_CLI_FILES_BENCH:
    case WADI_CLI_FILES_CASE:
        fputs(" -a '", out);
        print_words(out, files);
        fputc('\'', out);
        break;
    }
}

static void fish_command(FILE *out, const WadiCliCommand *command)
{
    char condition[64] = "__fish_use_subcommand";
    if (command->name[0] != '\0') {
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", command->name);
    }
    for (int i = 0; i < command->option_count; ++i) {
        const WadiCliOption *option = &command->options[i];
        fprintf(out, "complete -c wadi -n '%s'", condition);
        if (option->short_name != 0) {
            fprintf(out, " -s %c", option->short_name);
        }
        fprintf(out, " -l %s", option->name);
        if (option->argument != NULL) {
            fputs(" -x", out);
            fish_files(out, option->files, option->choices);
        }
        fputs(" -d '", out);
        print_quoted(out, option->help, "\\");
        fputs("'\n", out);
    }
    if (command->operand != NULL) {
        fprintf(out, "complete -c wadi -n '%s'", condition);
        fish_files(out, command->files, NULL);
        fputc('\n', out);
    }
}

static void dump_fish(FILE *out)
{
    fputs(note, out);
    fputs("complete -c wadi -f\n", out);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        fprintf(out, "complete -c wadi -n __fish_use_subcommand -a %s -d '", wadi_cli_commands[i].name);
        print_quoted(out, wadi_cli_commands[i].summary, "\\");
        fputs("'\n", out);
    }
    fish_command(out, &wadi_cli_top);
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        fish_command(out, &wadi_cli_commands[i]);
    }
}

bool wadi_cli_dump_completion(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        dump_bash(out);
    } else if (strcmp(shell, "zsh") == 0) {
        dump_zsh(out);
    } else if (strcmp(shell, "fish") == 0) {
        dump_fish(out);
    } else {
        return false;
    }
    return true;
}
