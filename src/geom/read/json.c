#include "geom/read/json.h"

#include <string.h>

#include "core/array.h"
#include "geom/read/mesh_text.h"

typedef struct Parser {
    const char *at, *end, *begin;
    WADI_ARRAY(WadiJsonValue) values;
    const char *name;
    WadiError *error;
} Parser;

static WadiStatus refuse(const Parser *parser, const char *what)
{
    size_t line = 1;
    for (const char *c = parser->begin; c < parser->at; ++c) {
        line += *c == '\n';
    }
    return wadi_fail(parser->error, WADI_ERR_FORMAT, "%s:%zu: damaged JSON: %s", parser->name, line, what);
}

static void skip_space(Parser *parser)
{
    while (parser->at < parser->end &&
           (*parser->at == ' ' || *parser->at == '\n' || *parser->at == '\r' || *parser->at == '\t')) {
        ++parser->at;
    }
}

static bool skip_if(Parser *parser, char wanted)
{
    skip_space(parser);
    if (parser->at < parser->end && *parser->at == wanted) {
        ++parser->at;
        return true;
    }
    return false;
}

static WadiStatus add_value(Parser *parser, WadiJsonType type, uint32_t *index)
{
    if (parser->values.count >= WADI_JSON_VALUES_MAX) {
        return wadi_fail(parser->error, WADI_ERR_FORMAT, "%s: more than %d values in its JSON", parser->name,
                         WADI_JSON_VALUES_MAX);
    }
    const WadiJsonValue value = { .type = type };
    WADI_TRY(WADI_ARRAY_PUSH(&parser->values, value, "JSON", parser->error));
    *index = (uint32_t)parser->values.count - 1;
    return WADI_OK;
}

static WadiStatus parse_string(Parser *parser)
{
    uint32_t index = 0;
    WADI_TRY(add_value(parser, WADI_JSON_STRING, &index));
    if (!skip_if(parser, '"')) {
        return refuse(parser, "a string was expected");
    }
    const char *begin = parser->at, *c = begin;
    while (c < parser->end && *c != '"' && *c != '\n') {
        c += *c == '\\' && parser->end - c > 1 ? 2 : 1;
    }
    if (c >= parser->end || *c != '"') {
        return refuse(parser, "a string does not end");
    }
    parser->values.data[index].begin = begin;
    parser->values.data[index].end = c;
    parser->values.data[index].next = index + 1;
    parser->at = c + 1;
    return WADI_OK;
}

static WadiStatus parse_word(Parser *parser)
{
    static const struct {
        const char *word;
        WadiJsonType type;
    } words[] = { { "null", WADI_JSON_NULL }, { "true", WADI_JSON_TRUE }, { "false", WADI_JSON_FALSE } };
    uint32_t index = 0;
    WADI_TRY(add_value(parser, WADI_JSON_NUMBER, &index));
    WadiJsonValue *value = &parser->values.data[index];
    value->next = index + 1;
    size_t left = (size_t)(parser->end - parser->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t length = strlen(words[i].word);
        if (left >= length && memcmp(parser->at, words[i].word, length) == 0) {
            value->type = words[i].type;
            parser->at += length;
            return WADI_OK;
        }
    }
    double number;
    value->begin = parser->at;
    if (!wadi_scan_number(&parser->at, parser->end, &number)) {
        return refuse(parser, "neither a value nor the end of a list");
    }
    value->end = parser->at;
    return WADI_OK;
}

static WadiStatus parse_value(Parser *parser, int depth)
{
    skip_space(parser);
    char first = parser->at < parser->end ? *parser->at : '\0';
    if (first == '"') {
        return parse_string(parser);
    }
    if (first != '{' && first != '[') {
        return parse_word(parser);
    }
    if (depth >= WADI_JSON_DEPTH_MAX) {
        return refuse(parser, "lists are nested more than 64 deep");
    }
    const bool is_object = first == '{';
    uint32_t index = 0;
    WADI_TRY(add_value(parser, is_object ? WADI_JSON_OBJECT : WADI_JSON_ARRAY, &index));
    ++parser->at;
    if (!skip_if(parser, is_object ? '}' : ']')) {
        do {
            if (is_object) {
                skip_space(parser);
                WADI_TRY(parse_string(parser));
                if (!skip_if(parser, ':')) {
                    return refuse(parser, "a ':' was expected behind a key");
                }
            }
            WADI_TRY(parse_value(parser, depth + 1));
            ++parser->values.data[index].count;
        } while (skip_if(parser, ','));
        if (!skip_if(parser, is_object ? '}' : ']')) {
            return refuse(parser, parser->at >= parser->end ? "the file ends in the middle"
                                                            : "a ',' or the end of a list was expected");
        }
    }
    parser->values.data[index].next = (uint32_t)parser->values.count;
    return WADI_OK;
}

WadiStatus wadi_json_parse(WadiJson *json, const char *text, size_t size, const char *name, WadiError *error)
{
    static const char byte_order_mark[3] = { '\xEF', '\xBB', '\xBF' };
    Parser parser = { .at = text, .end = text + size, .begin = text, .name = name, .error = error };
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        parser.at += 3;
    }
    /* Some writers pad the chunk of a GLB file with zeros, against the format. */
    while (parser.end > parser.at && parser.end[-1] == '\0') {
        --parser.end;
    }
    WadiStatus status = parse_value(&parser, 0);
    skip_space(&parser);
    if (status == WADI_OK && parser.at < parser.end) {
        status = refuse(&parser, "something follows the last '}'");
    }
    *json = (WadiJson){ parser.values.data, (uint32_t)parser.values.count, parser.values.capacity };
    if (status != WADI_OK) {
        wadi_json_free(json);
    }
    return status;
}

void wadi_json_free(WadiJson *json)
{
    WADI_DELETE(json->values, json->capacity);
    *json = (WadiJson){ 0 };
}

bool wadi_json_is(const WadiJson *json, uint32_t value, WadiJsonType type)
{
    return value < json->count && json->values[value].type == type;
}

uint32_t wadi_json_begin(const WadiJson *json, uint32_t array, uint32_t *count)
{
    *count = wadi_json_is(json, array, WADI_JSON_ARRAY) ? json->values[array].count : 0;
    return array + 1;
}

uint32_t wadi_json_get(const WadiJson *json, uint32_t object, const char *key)
{
    if (!wadi_json_is(json, object, WADI_JSON_OBJECT)) {
        return WADI_JSON_NONE;
    }
    size_t length = strlen(key);
    uint32_t at = object + 1;
    for (uint32_t i = 0; i < json->values[object].count; ++i) {
        const WadiJsonValue *name = &json->values[at];
        if ((size_t)(name->end - name->begin) == length && memcmp(name->begin, key, length) == 0) {
            return at + 1;
        }
        at = json->values[at + 1].next;
    }
    return WADI_JSON_NONE;
}

bool wadi_json_number(const WadiJson *json, uint32_t value, double *number)
{
    if (!wadi_json_is(json, value, WADI_JSON_NUMBER)) {
        return false;
    }
    const char *at = json->values[value].begin;
    return wadi_scan_number(&at, json->values[value].end, number);
}

bool wadi_json_whole(const WadiJson *json, uint32_t value, uint64_t max, uint64_t *number)
{
    double found;
    /* Above 2^53 a double no longer holds every whole number. */
    if (!wadi_json_number(json, value, &found) || !(found >= 0.0 && found < 9007199254740992.0) ||
        (double)(uint64_t)found != found || (uint64_t)found > max) {
        return false;
    }
    *number = (uint64_t)found;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u, or -1. */
static int32_t hex_word(const char *at, const char *end)
{
    int32_t word = 0;
    for (int i = 0; i < 4; ++i) {
        int digit = end - at > i ? hex_digit(at[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        word = 16 * word + digit;
    }
    return word;
}

static size_t encode_utf8(int32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int lead[4] = { 0, 0xC0, 0xE0, 0xF0 };
    out[0] = (char)(lead[extra] | (code >> (6 * extra)));
    for (size_t i = 1; i <= extra; ++i) {
        out[i] = (char)(0x80 | ((code >> (6 * (extra - i))) & 0x3F));
    }
    return extra + 1;
}

/* One character after a backslash; its bytes in `out`, their number returned, 0 when damaged. */
static size_t unescape(const char **at, const char *end, char out[4])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = *at < end && **at != '\0' ? strchr(from, **at) : NULL;
    if (found != NULL) {
        out[0] = to[found - from];
        ++*at;
        return 1;
    }
    int32_t code = *at < end && **at == 'u' ? hex_word(*at + 1, end) : -1;
    if (code < 0) {
        return 0;
    }
    *at += 5;
    if (code >= 0xD800 && code < 0xDC00 && end - *at > 1 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        int32_t low = hex_word(*at + 2, end);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            *at += 6;
        }
    }
    return encode_utf8(code, out);
}

bool wadi_json_string(const WadiJson *json, uint32_t value, char *text, size_t size)
{
    if (!wadi_json_is(json, value, WADI_JSON_STRING)) {
        return false;
    }
    const char *at = json->values[value].begin, *end = json->values[value].end;
    size_t length = 0;
    while (at < end) {
        char bytes[4] = { *at, 0, 0, 0 };
        size_t count = 1;
        if (*at++ == '\\') {
            count = unescape(&at, end, bytes);
        }
        if (count == 0 || bytes[0] == '\0' || length + count >= size) {
            return false;
        }
        memcpy(text + length, bytes, count);
        length += count;
    }
    text[length] = '\0';
    return true;
}
