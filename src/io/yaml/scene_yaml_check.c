/* Admits only text that libfyaml handles well: printable UTF-8 of bounded size, without input on which it
 * takes minutes (millions of open brackets, one long directive). */
#include <string.h>

#include "io/yaml/scene_yaml.h"

/* Decodes the character at s[0..size); 0 for bytes that are not UTF-8. *length is its length (at least 1). */
static uint32_t decode(const unsigned char *s, size_t size, size_t *length)
{
    *length = 1;
    if (s[0] < 0x80) {
        return s[0];
    }
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || n > size) {
        return 0;
    }
    uint32_t c = s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; ++i) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    static const uint32_t smallest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
        return 0;
    }
    *length = n;
    return c;
}

static bool is_printable(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7F) || (c >= 0xA0 && c < 0xFFFE) ||
           c >= 0x10000;
}

static bool check_characters(const unsigned char *bytes, size_t size, int set, WadiReport *report)
{
    WadiSourceLocation location = { set, 1, 1 };
    if (size > WADI_YAML_MAX_BYTES) {
        wadi_report_add(report, (WadiSourceLocation){ set, 0, 0 }, "",
                        "the scene has %.1f MiB; at most %d MiB are read", (double)size / (1 << 20),
                        WADI_YAML_MAX_BYTES >> 20);
        return false;
    }
    for (size_t i = 0; i < size;) {
        size_t length;
        uint32_t c = decode(bytes + i, size - i, &length);
        if (c == 0 && bytes[i] != 0) {
            wadi_report_add(report, location, "",
                            "the byte 0x%02x is not UTF-8 text; is this a scene file? Save it as UTF-8",
                            bytes[i]);
            return false;
        }
        if (!is_printable(c)) {
            wadi_report_add(report, location, "",
                            "the control character 0x%02x is not allowed; is this a scene file?", c);
            return false;
        }
        bool is_break = c == '\n' || (c == '\r' && (i + 1 >= size || bytes[i + 1] != '\n'));
        location.line += is_break;
        location.column = is_break ? 1 : location.column + 1;
        i += length;
    }
    return true;
}

bool wadi_yaml_is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes;
        if (!is_printable(decode((const unsigned char *)text + i, length - i, &bytes))) {
            return false;
        }
        i += bytes;
    }
    return true;
}

/* Counts brackets and commas roughly, including those in quotes and comments; so the limits are far above the
 * reader's own. */
static bool check_structure(const char *bytes, size_t size, int set, WadiReport *report)
{
    enum { MOST_OPEN = 16 * WADI_YAML_MAX_DEPTH, MOST_MARKS = 3 * WADI_YAML_MAX_NODES };
    WadiSourceLocation location = { set, 1, 0 };
    size_t line_start = 0;
    int open = 0, marks = 0;
    for (size_t i = 0; i < size; ++i) {
        char c = bytes[i];
        open += (c == '[' || c == '{') - (c == ']' || c == '}');
        open = open < 0 ? 0 : open;
        marks += c == '[' || c == '{' || c == ',';
        const char *problem = open > MOST_OPEN     ? "values nest deeper than 64 levels"
                              : marks > MOST_MARKS ? "the scene has more than 1000000 values"
                              : c == '%' && i == line_start
                                  ? "directives ('%…') are not part of the scene language; remove the line"
                                  : NULL;
        if (problem != NULL) {
            location.column = (int)(i - line_start) + 1;
            wadi_report_add(report, location, "", "%s", problem);
            return false;
        }
        if (c == '\n' || c == '\r') {
            location.line += c == '\n' || i + 1 >= size || bytes[i + 1] != '\n';
            line_start = i + 1;
        }
    }
    return true;
}

bool wadi_yaml_check(const char *bytes, size_t size, int set, WadiReport *report)
{
    return check_characters((const unsigned char *)bytes, size, set, report) &&
           check_structure(bytes, size, set, report);
}
