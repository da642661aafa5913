#include "human.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* Longer than any run; keeps conversions to integers defined. */
static const double LONGEST = 1e9;

const char *wadi_cli_human_count(char *text, int64_t count)
{
    char digits[WADI_CLI_HUMAN_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRId64, count);
    int used = 0;
    for (int i = 0; i < length; ++i) {
        bool is_group = i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0;
        if (is_group) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *wadi_cli_human_bytes(char *text, double bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
    int unit = 0;
    /* From 1023.5 on the value would be printed as 1024 of the smaller unit. */
    while (bytes >= 1023.5 && unit < 5) {
        bytes /= 1024.0;
        ++unit;
    }
    snprintf(text, WADI_CLI_HUMAN_SIZE, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

const char *wadi_cli_human_duration(char *text, double seconds)
{
    if (!(seconds >= 0.0 && seconds < LONGEST)) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "?");
    } else if (seconds < 9.995) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%.2f s", seconds);
    } else if (seconds < 99.95) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%.1f s", seconds);
    } else if (seconds < 3600.0) {
        long whole = lround(seconds);
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%ld min %02ld s", whole / 60, whole % 60);
    } else {
        long minutes = lround(seconds / 60.0);
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%ld h %02ld min", minutes / 60, minutes % 60);
    }
    return text;
}

const char *wadi_cli_human_remaining(char *text, double seconds)
{
    if (!(seconds >= 0.0 && seconds < LONGEST)) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "?");
        return text;
    }
    long whole = lround(seconds);
    if (whole < 3600) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%ld:%02ld", whole / 60, whole % 60);
    } else if (whole < 86400) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "%ld d %ld h", whole / 86400, whole / 3600 % 24);
    }
    return text;
}

const char *wadi_cli_human_number(char *text, double value)
{
    /* %g would write an exponent from 999.5 on. */
    bool is_large = fabs(value) >= 999.5 && fabs(value) < LONGEST;
    snprintf(text, WADI_CLI_HUMAN_SIZE, is_large ? "%.0f" : "%.3g", value);
    return text;
}

const char *wadi_cli_human_small(char *text, double value, const char *unit)
{
    static const struct {
        double scale;
        const char *prefix;
    } prefixes[] = { { 1.0, "" }, { 1e-3, "m" }, { 1e-6, "u" } };
    int i = 0;
    while (i < 2 && fabs(value) < 0.9995 * prefixes[i].scale && value != 0.0) {
        ++i;
    }
    wadi_cli_human_number(text, value / prefixes[i].scale);
    size_t used = strlen(text);
    snprintf(text + used, WADI_CLI_HUMAN_SIZE - used, " %s%s", prefixes[i].prefix, unit);
    return text;
}

const char *wadi_cli_human_clock(char *text, double seconds)
{
    struct tm local;
    time_t when = time(NULL);
    if (!(seconds >= 0.0 && seconds < LONGEST)) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "?");
        return text;
    }
    when += (time_t)seconds;
    if (localtime_r(&when, &local) == NULL) {
        snprintf(text, WADI_CLI_HUMAN_SIZE, "?");
        return text;
    }
    /* From a week on the name of the day is ambiguous. */
    size_t length;
    if (seconds < 600.0) {
        length = strftime(text, WADI_CLI_HUMAN_SIZE, "%H:%M:%S", &local);
    } else if (seconds < 43200.0) {
        length = strftime(text, WADI_CLI_HUMAN_SIZE, "%H:%M", &local);
    } else if (seconds < 6 * 86400.0) {
        length = strftime(text, WADI_CLI_HUMAN_SIZE, "%a %H:%M", &local);
    } else {
        length = strftime(text, WADI_CLI_HUMAN_SIZE, "%Y-%m-%d", &local);
    }
    if (length == 0) {
        text[0] = '\0';
    }
    return text;
}

void wadi_cli_print_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = word; *c != '\0'; ++c) {
        if (*c == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*c, out);
        }
    }
    fputc('\'', out);
}
