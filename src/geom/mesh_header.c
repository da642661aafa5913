#include "geom/mesh_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_type(const char *word)
{
    static const char *const types[] = { "char",  "uchar",  "short",   "ushort", "int",   "uint",
                                         "float", "double", "int8",    "uint8",  "int16", "uint16",
                                         "int32", "uint32", "float32", "float64" };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        if (strcmp(word, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* One line of the header; `has_element` says whether an element came before it. */
static const char *line_problem(const char *line, bool *has_element, size_t file_size)
{
    char word[6][64] = { "", "", "", "", "", "" };
    int words =
        sscanf(line, "%63s %63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3], word[4], word[5]);
    if (words <= 0 || strcmp(word[0], "comment") == 0 || strcmp(word[0], "obj_info") == 0) {
        return words <= 0 ? "an empty line in the header" : NULL;
    }
    if (strcmp(word[0], "format") == 0) {
        bool is_known = strcmp(word[1], "ascii") == 0 || strcmp(word[1], "binary_little_endian") == 0 ||
                        strcmp(word[1], "binary_big_endian") == 0;
        return words == 3 && is_known ? NULL : "an unknown format line in the header";
    }
    if (strcmp(word[0], "element") == 0) {
        *has_element = true;
        size_t digits = strspn(word[2], "0123456789");
        if (words != 3 || digits == 0 || digits > 10 || word[2][digits] != '\0') {
            return "a damaged element line in the header";
        }
        unsigned long long count = strtoull(word[2], NULL, 10);
        return count <= file_size ? NULL : "an element count that the file is too short for";
    }
    if (strcmp(word[0], "property") == 0 && *has_element) {
        if (strcmp(word[1], "list") == 0) {
            return words == 5 && is_type(word[2]) && is_type(word[3])
                       ? NULL
                       : "a damaged property line in the header";
        }
        return words == 3 && is_type(word[1]) ? NULL : "a damaged property line in the header";
    }
    return "a line in the header that is not of this format";
}

const char *wadi_mesh_ply_problem(const char *begin, size_t size, size_t file_size)
{
    size_t at = 0;
    bool has_element = false;
    for (int number = 0;; ++number) {
        char line[512];
        size_t length = 0;
        while (at + length < size && begin[at + length] != '\n' && begin[at + length] != '\r') {
            ++length;
        }
        if (at + length >= size || length >= sizeof line || memchr(begin + at, '\0', length) != NULL) {
            return "the header does not end";
        }
        memcpy(line, begin + at, length);
        line[length] = '\0';
        at += length + 1;
        if (begin[at - 1] == '\r' && at < size && begin[at] == '\n') {
            ++at;
        }
        if (number == 0 && strcmp(line, "ply") != 0) {
            return "it does not begin with \"ply\"";
        }
        if (number > 0 && strcmp(line, "end_header") == 0) {
            return has_element ? NULL : "no elements";
        }
        const char *problem = number > 0 ? line_problem(line, &has_element, file_size) : NULL;
        if (problem != NULL) {
            return problem;
        }
    }
}
