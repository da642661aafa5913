#include "view_message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What follows the word of a message. */
typedef enum Shape {
    SHAPE_NONE,
    SHAPE_NUMBER,  /* a whole number, 0 to 1e9 */
    SHAPE_NAME,    /* letters, digits, _ and - */
    SHAPE_TEXT,    /* the rest of the line, printable */
    SHAPE_VALUES,  /* finite numbers */
    SHAPE_AMOUNTS, /* a name and numbers */
} Shape;

typedef struct Row {
    const char *word;
    WadiViewKind kind;
    Shape shape;
    int count; /* of numbers */
} Row;

static const Row rows[] = {
    { "hello", WADI_VIEW_HELLO, SHAPE_TEXT, 0 },       { "ack", WADI_VIEW_ACK, SHAPE_NUMBER, 0 },
    { "play", WADI_VIEW_PLAY, SHAPE_NONE, 0 },         { "pause", WADI_VIEW_PAUSE, SHAPE_NONE, 0 },
    { "step", WADI_VIEW_STEP, SHAPE_NONE, 0 },         { "restart", WADI_VIEW_RESTART, SHAPE_NONE, 0 },
    { "seek", WADI_VIEW_SEEK, SHAPE_NUMBER, 0 },       { "speed", WADI_VIEW_SPEED, SHAPE_VALUES, 1 },
    { "set", WADI_VIEW_SET, SHAPE_TEXT, 0 },           { "pour", WADI_VIEW_POUR, SHAPE_AMOUNTS, 8 },
    { "dig", WADI_VIEW_DIG, SHAPE_VALUES, 4 },         { "push", WADI_VIEW_PUSH, SHAPE_VALUES, 4 },
    { "release", WADI_VIEW_RELEASE, SHAPE_NONE, 0 },   { "scene", WADI_VIEW_SCENE, SHAPE_NAME, 0 },
    { "solver", WADI_VIEW_SOLVER, SHAPE_NAME, 0 },     { "colour", WADI_VIEW_COLOUR, SHAPE_NAME, 0 },
    { "surface", WADI_VIEW_SURFACE, SHAPE_NUMBER, 0 }, { "record", WADI_VIEW_RECORD, SHAPE_NONE, 0 },
    { "wet", WADI_VIEW_WET, SHAPE_AMOUNTS, 1 },        { "back", WADI_VIEW_BACK, SHAPE_NAME, 0 },
    { "proof", WADI_VIEW_PROVE, SHAPE_TEXT, 0 },       { "range", WADI_VIEW_RANGE, SHAPE_VALUES, 2 },
    { "mark", WADI_VIEW_MARK, SHAPE_NONE, 0 },         { "undo", WADI_VIEW_UNDO, SHAPE_NONE, 0 },
    { "slice", WADI_VIEW_SLICE, SHAPE_VALUES, 2 },     { "link", WADI_VIEW_LINK, SHAPE_NONE, 0 },
    { "change", WADI_VIEW_CHANGE, SHAPE_TEXT, 0 },     { "reach", WADI_VIEW_REACH, SHAPE_NUMBER, 0 },
    { "stages", WADI_VIEW_STAGES, SHAPE_NONE, 0 },     { "other", WADI_VIEW_OTHER, SHAPE_NONE, 0 },
};

/* The next word of the line, without blanks; moves *at behind it and its blank. */
static bool next_word(const char **at, char *word, size_t size)
{
    const size_t length = strcspn(*at, " ");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    *at += (*at)[0] == ' ' && (*at)[1] != '\0';
    return true;
}

static bool read_name(const char **at, char *name)
{
    return next_word(at, name, WADI_VIEW_NAME_MAX) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(name);
}

static bool read_values(const char **at, double *value, int count)
{
    char word[32], *end;
    bool is_good = true;
    for (int i = 0; i < count && is_good; ++i) {
        is_good = next_word(at, word, sizeof word) && strspn(word, "0123456789+-.eE") == strlen(word);
        value[i] = is_good ? strtod(word, &end) : 0.0;
        is_good = is_good && *end == '\0' && isfinite(value[i]) && fabs(value[i]) < 1e9;
    }
    return is_good;
}

static bool read_number(const char **at, long *number)
{
    char word[16];
    const bool is_good =
        next_word(at, word, sizeof word) && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
    *number = is_good ? strtol(word, NULL, 10) : 0;
    return is_good;
}

static bool read_rest(const Row *row, const char *at, WadiViewMessage *message)
{
    bool is_good = true;
    switch (row->shape) {
    case SHAPE_NONE: break;
    case SHAPE_NUMBER: is_good = read_number(&at, &message->number); break;
    case SHAPE_NAME: is_good = read_name(&at, message->name); break;
    case SHAPE_VALUES: is_good = read_values(&at, message->value, row->count); break;
    case SHAPE_AMOUNTS:
        is_good = read_name(&at, message->name) && read_values(&at, message->value, row->count);
        break;
    case SHAPE_TEXT:
        is_good = *at != '\0' && *at != ' ';
        memcpy(message->text, at, strlen(at) + 1);
        at += strlen(at);
        break;
    }
    return is_good && *at == '\0';
}

bool wadi_view_message_read(const char *bytes, size_t size, WadiViewMessage *message)
{
    char line[WADI_VIEW_MESSAGE_MAX], word[16];
    *message = (WadiViewMessage){ 0 };
    if (size == 0 || size >= sizeof line) {
        return false;
    }
    for (size_t i = 0; i < size; ++i) {
        if ((unsigned char)bytes[i] < 0x20 || (unsigned char)bytes[i] > 0x7e) {
            return false;
        }
    }
    memcpy(line, bytes, size);
    line[size] = '\0';
    const char *at = line;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && next_word(&at, word, sizeof word); ++i, at = line) {
        if (strcmp(word, rows[i].word) == 0) {
            message->kind = rows[i].kind;
            if (read_rest(&rows[i], at, message)) {
                return true;
            }
            *message = (WadiViewMessage){ 0 };
            return false;
        }
    }
    return false;
}
