#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "human.h"

static const double TERMINAL_INTERVAL = 0.1; /* s between two updates */
static const double LOG_INTERVAL = 5.0;      /* s between two lines of a log, which should remain small */

enum { BAR_LEAST = 10, BAR_MOST = 30, LINE_SIZE = 1024, PIECE_SIZE = 96 };

/* In the order in which they appear in the line. */
typedef enum Piece {
    PIECE_FRAME,
    PIECE_STAGE,
    PIECE_PARTICLES,
    PIECE_STEPS,
    PIECE_DT,
    PIECE_PACE,
    PIECE_FINISH,
    PIECE_COUNT,
} Piece;

/* By importance: a narrow terminal shows the first ones; the bar comes after the frame. */
static const Piece importance[PIECE_COUNT] = { PIECE_FRAME, PIECE_FINISH, PIECE_PARTICLES, PIECE_PACE,
                                               PIECE_STAGE, PIECE_DT,     PIECE_STEPS };

static double monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_dumb_terminal(void)
{
    const char *term = getenv("TERM");
    return term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

bool wadi_cli_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !is_dumb_terminal() && (no_colour == NULL || no_colour[0] == '\0');
}

int wadi_cli_terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    const char *columns = getenv("COLUMNS");
    long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < 10000 ? (int)width : 80;
}

WadiCliProgress wadi_cli_progress_open(bool is_silent)
{
    bool is_terminal = isatty(STDERR_FILENO) == 1;
    return (WadiCliProgress){ .has_particles = true,
                              .is_silent = is_silent,
                              .is_terminal = is_terminal,
                              .has_escapes = is_terminal && !is_dumb_terminal(),
                              .has_colour = wadi_cli_has_colour() };
}

static double finished_part(const WadiProgress *state)
{
    if (state->frame_count <= 0) {
        return 0.0;
    }
    double frames = state->frame + (state->is_frame_done ? 0.0 : state->frame_fraction);
    double part = frames / state->frame_count;
    return part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
}

static void make_pieces(bool has_particles, const WadiProgress *state, char pieces[PIECE_COUNT][PIECE_SIZE])
{
    char a[WADI_CLI_HUMAN_SIZE], b[WADI_CLI_HUMAN_SIZE];
    for (int i = 0; i < PIECE_COUNT; ++i) {
        pieces[i][0] = '\0';
    }
    snprintf(pieces[PIECE_FRAME], PIECE_SIZE, "frame %d/%d", state->frame, state->frame_count);
    if (state->stage != NULL) {
        snprintf(pieces[PIECE_STAGE], PIECE_SIZE, "%-6.24s", state->stage);
    }
    if (has_particles) {
        snprintf(pieces[PIECE_PARTICLES], PIECE_SIZE, "%s particles",
                 wadi_cli_human_count(a, state->particles));
    }
    if (state->steps > 0) {
        snprintf(pieces[PIECE_STEPS], PIECE_SIZE, "%s steps", wadi_cli_human_count(a, state->steps));
    }
    if (state->dt > 0.0) {
        bool has_limit = state->dt_limit != NULL && state->dt_limit[0] != '\0';
        snprintf(pieces[PIECE_DT], PIECE_SIZE, has_limit ? "dt %s (%.24s)" : "dt %s",
                 wadi_cli_human_small(a, state->dt, "s"), has_limit ? state->dt_limit : "");
    }
    if (state->seconds_per_frame > 0.0) {
        snprintf(pieces[PIECE_PACE], PIECE_SIZE, "%s s/frame",
                 wadi_cli_human_number(a, state->seconds_per_frame));
    }
    if (state->seconds_left >= 0.0) {
        snprintf(pieces[PIECE_FINISH], PIECE_SIZE, "done %s, %s left",
                 wadi_cli_human_clock(a, state->seconds_left),
                 wadi_cli_human_remaining(b, state->seconds_left));
    }
}

/* Replaces all but printable ASCII: an escape sequence or a tab would break the count of columns. */
static void make_plain(char *text)
{
    for (; *text != '\0'; ++text) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

/* Appends up to the end of `line`. */
static void add(char *line, size_t *used, const char *format, ...) WADI_PRINTF(3, 4);
static void add(char *line, size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line + *used, LINE_SIZE - *used, format, args);
    va_end(args);
    if (length > 0) {
        *used += (size_t)length < LINE_SIZE - *used ? (size_t)length : LINE_SIZE - *used - 1;
    }
}

static void draw_bar(const WadiCliProgress *progress, char *line, size_t *used, int width, double part)
{
    int full = (int)(part * width);
    add(line, used, "[%s", progress->has_colour ? "\033[36m" : "");
    for (int i = 0; i < width; ++i) {
        add(line, used, "%c", i < full ? '#' : '.');
    }
    add(line, used, "%s] ", progress->has_colour ? "\033[0m" : "");
}

/* One line of at most `width` columns: the most important pieces that fit, and a bar in the remaining
 * space. */
static int draw_line(const WadiCliProgress *progress, const WadiProgress *state, int width, char *line)
{
    char pieces[PIECE_COUNT][PIECE_SIZE];
    bool is_taken[PIECE_COUNT] = { false };
    make_pieces(progress->has_particles, state, pieces);

    int columns = 0;
    bool has_bar = false;
    for (int i = 0; i < PIECE_COUNT; ++i) {
        Piece piece = importance[i];
        make_plain(pieces[piece]);
        int length = (int)strlen(pieces[piece]);
        int gap = columns > 0 ? 2 : 0;
        if (length > 0 && columns + gap + length <= width) {
            is_taken[piece] = true;
            columns += gap + length;
        }
        if (piece == PIECE_FRAME && columns + BAR_LEAST + 3 <= width) {
            has_bar = true;
            columns += BAR_LEAST + 3;
        }
    }

    size_t used = 0;
    line[0] = '\0';
    if (has_bar) {
        int bar =
            BAR_LEAST + (width - columns < BAR_MOST - BAR_LEAST ? width - columns : BAR_MOST - BAR_LEAST);
        columns += bar - BAR_LEAST;
        draw_bar(progress, line, &used, bar, finished_part(state));
    }
    bool needs_gap = false;
    for (int i = 0; i < PIECE_COUNT; ++i) {
        if (is_taken[i]) {
            add(line, &used, "%s%s", needs_gap ? "  " : "", pieces[i]);
            needs_gap = true;
        }
    }
    return columns;
}

static void update_terminal(WadiCliProgress *progress, const WadiProgress *state)
{
    char line[LINE_SIZE];
    /* The width is queried each time, because the window may change. The last column is not used: some
     * terminals start a new line once it is filled. */
    int columns = draw_line(progress, state, wadi_cli_terminal_width() - 1, line);
    if (progress->has_escapes) {
        fprintf(stderr, "\r%s\033[K", line);
    } else {
        int blanks = progress->is_shown ? progress->shown_columns - columns : 0;
        fprintf(stderr, "\r%s%*s", line, blanks > 0 ? blanks : 0, "");
        columns += blanks > 0 ? blanks : 0;
    }
    fflush(stderr);
    progress->is_shown = true;
    progress->shown_columns = columns;
}

static void update_log(bool has_particles, const WadiProgress *state)
{
    char a[WADI_CLI_HUMAN_SIZE], c[WADI_CLI_HUMAN_SIZE];
    fprintf(stderr, "frame %d/%d", state->frame, state->frame_count);
    if (has_particles) {
        fprintf(stderr, ", %s particles", wadi_cli_human_count(a, state->particles));
    }
    if (state->steps > 0) {
        fprintf(stderr, ", %s steps", wadi_cli_human_count(a, state->steps));
    }
    if (state->seconds_per_frame > 0.0) {
        fprintf(stderr, ", %s s a frame", wadi_cli_human_number(a, state->seconds_per_frame));
    }
    if (state->seconds_left >= 0.0 && state->frame < state->frame_count) {
        fprintf(stderr, ", %s left", wadi_cli_human_remaining(c, state->seconds_left));
    }
    fputc('\n', stderr);
}

void wadi_cli_progress_update(WadiCliProgress *progress, const WadiProgress *state)
{
    if (progress->is_silent) {
        return;
    }
    double now = monotonic_seconds();
    double interval = progress->is_terminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
    bool is_last = state->is_frame_done && state->frame >= state->frame_count;
    bool is_due = !progress->was_printed || now - progress->printed_at >= interval || is_last;
    if (!is_due || (!progress->is_terminal && !state->is_frame_done)) {
        return;
    }
    progress->was_printed = true;
    progress->printed_at = now;
    if (progress->is_terminal) {
        update_terminal(progress, state);
    } else {
        update_log(progress->has_particles, state);
    }
}

void wadi_cli_progress_clear(WadiCliProgress *progress)
{
    if (!progress->is_shown) {
        return;
    }
    if (progress->has_escapes) {
        fputs("\r\033[K", stderr);
    } else {
        fprintf(stderr, "\r%*s\r", progress->shown_columns, "");
    }
    fflush(stderr);
    progress->is_shown = false;
}
