/* The wadi command: finds the command, parses its options and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "manual.h"
#include "options.h"

/* Opens missing standard streams: the next opened file would get their number, and printed text would go into
 * it. Standard output is opened read-only, so that printing to it still fails. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int opened = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
            if (opened != fd) {
                _exit(WADI_CLI_EXIT_FAILED);
            }
        }
    }
}

/* A late write error, such as a full disk, appears only when the stream is closed. */
static int close_output(int code)
{
    bool had_error = ferror(stdout) != 0;
    errno = 0;
    bool has_failed = fclose(stdout) != 0;
    if (!had_error && !has_failed) {
        return code;
    }
    fprintf(stderr, "wadi: cannot write to standard output%s%s\n", has_failed ? ": " : "",
            has_failed ? strerror(errno) : "");
    return code == WADI_CLI_EXIT_GOOD ? WADI_CLI_EXIT_FAILED : code;
}

int wadi_cli_help(const WadiCliArgs *args)
{
    const WadiCliCommand *command = &wadi_cli_top;
    if (args->operand != NULL) {
        command = wadi_cli_find_command(args->operand);
        if (command == NULL) {
            return wadi_cli_command_error(args->operand);
        }
    }
    wadi_cli_print_help(stdout, command);
    return WADI_CLI_EXIT_GOOD;
}

/* Prints the generated files of the tree; not for users, so not in a table. Returns -1 when `word` is none of
 * them. */
static int dump(const char *word, const char *argument)
{
    if (strcmp(word, "--dump-man") == 0) {
        wadi_cli_dump_man(stdout);
    } else if (strcmp(word, "--dump-markdown") == 0) {
        wadi_cli_dump_markdown(stdout);
    } else if (strcmp(word, "--dump-completion") != 0) {
        return -1;
    } else if (argument == NULL || !wadi_cli_dump_completion(stdout, argument)) {
        return wadi_cli_usage_error(&wadi_cli_top,
                                    "--dump-completion: expected bash, zsh or fish, found '%s'",
                                    argument != NULL ? argument : "");
    }
    return WADI_CLI_EXIT_GOOD;
}

static int run_top(int count, char **argv, WadiCliArgs *args)
{
    int dumped = count > 0 ? dump(argv[0], count > 1 ? argv[1] : NULL) : -1;
    if (dumped >= 0) {
        return dumped;
    }
    if (!wadi_cli_parse(&wadi_cli_top, count, argv, args)) {
        return WADI_CLI_EXIT_USAGE;
    }
    if (args->version) {
        printf("wadi %s\n", wadi_version());
        return WADI_CLI_EXIT_GOOD;
    }
    wadi_cli_print_help(args->help ? stdout : stderr, &wadi_cli_top);
    return args->help ? WADI_CLI_EXIT_GOOD : WADI_CLI_EXIT_USAGE;
}

static int run_command(int argc, char **argv, WadiCliArgs *args)
{
    if (argc < 2 || argv[1][0] == '-') {
        return run_top(argc > 1 ? argc - 1 : 0, argv + 1, args);
    }
    const WadiCliCommand *command = wadi_cli_find_command(argv[1]);
    if (command == NULL) {
        return wadi_cli_command_error(argv[1]);
    }
    args->command = command->name;
    if (!wadi_cli_parse(command, argc - 2, argv + 2, args)) {
        return WADI_CLI_EXIT_USAGE;
    }
    if (args->help) {
        wadi_cli_print_help(stdout, command);
        return WADI_CLI_EXIT_GOOD;
    }
    return command->run(args);
}

enum { STACK_BYTES = 512 * 1024 };

static __attribute__((noinline)) void touch_stack(void)
{
    volatile char stack[STACK_BYTES];
    for (size_t i = 0; i < sizeof stack; i += 4096) {
        stack[i] = 0;
    }
}

/* The kernel kills a process whose stack cannot grow, without a message: the stack for the deepest calls is
 * touched at the start. */
static bool grow_stack(void)
{
    void *stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
        return false;
    }
    munmap(stack, 2 * STACK_BYTES);
    touch_stack();
    return true;
}

int wadi_cli_main(int argc, char **argv)
{
    fill_standard_streams();
    /* A closed pipe and a file past its size limit are then ordinary write errors. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    WadiCliArgs args = { .program = argc > 0 ? argv[0] : "wadi" };
    args.sets = calloc(3 * (size_t)argc + 3, sizeof *args.sets); /* three lists, each no longer than argv */
    args.vary = args.sets != NULL ? args.sets + argc + 3 : NULL;
    args.rest = args.sets != NULL ? args.vary + argc : NULL;
    if (args.sets == NULL || !grow_stack()) {
        fputs("wadi: out of memory\n", stderr);
        return WADI_CLI_EXIT_FAILED;
    }
    int code = run_command(argc, argv, &args);
    free(args.sets);
    return close_output(code);
}
