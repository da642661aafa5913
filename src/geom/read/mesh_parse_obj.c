/* Wavefront OBJ: positions and faces of all objects and groups together. Material libraries are never
 * opened. */
#include <string.h>

#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_text.h"

/* Blanks, and line ends after a backslash. */
static void skip_blanks(WadiScan *scan)
{
    for (;;) {
        wadi_scan_blanks(scan);
        const char *at = scan->at;
        if (scan->end - at < 2 || at[0] != '\\' || (at[1] != '\n' && at[1] != '\r')) {
            return;
        }
        ++scan->at;
        wadi_scan_next_line(scan);
    }
}

static bool is_word_end(const WadiScan *scan)
{
    return scan->at >= scan->end || strchr(" \t\r\n\v\f\\", *scan->at) != NULL;
}

/* The keyword at the begin of a line: 'v', 'f' or 0 for all others. */
static char keyword(WadiScan *scan)
{
    wadi_scan_blanks(scan);
    if (scan->end - scan->at < 2 || (scan->at[1] != ' ' && scan->at[1] != '\t')) {
        return '\0';
    }
    char word = scan->at[0];
    if (word != 'v' && word != 'f') {
        return '\0';
    }
    ++scan->at;
    return word;
}

static WadiStatus parse_vertex(WadiMeshGather *gather, WadiScan *scan)
{
    double x[3] = { 0.0, 0.0, 0.0 };
    gather->line = scan->line;
    for (int k = 0; k < 3; ++k) {
        skip_blanks(scan);
        if (!wadi_scan_number(&scan->at, scan->end, &x[k]) || !is_word_end(scan)) {
            return wadi_gather_fail(gather, "a vertex (\"v\") needs three finite numbers");
        }
    }
    return wadi_gather_vertex(gather, (WadiVec3){ x[0], x[1], x[2] });
}

/* `vertex_count` vertices came before this line: where -1 counts from. */
static WadiStatus parse_face(WadiMeshGather *gather, WadiScan *scan, size_t vertex_count)
{
    gather->line = scan->line;
    for (;;) {
        skip_blanks(scan);
        if (wadi_scan_is_at_line_end(scan) || *scan->at == '#') {
            return wadi_gather_polygon(gather);
        }
        int64_t index;
        if (!wadi_scan_whole(&scan->at, scan->end, &index) || index == 0 || index == INT64_MIN) {
            return wadi_gather_fail(
                gather, "a face (\"f\") needs numbers of vertices from 1 on, such as 1/1/1 2/2/2 3/3/3");
        }
        if (scan->at < scan->end && *scan->at == '/') {
            while (!is_word_end(scan)) {
                ++scan->at;
            }
        } else if (!is_word_end(scan)) {
            return wadi_gather_fail(gather, "something follows the number %lld of a face", (long long)index);
        }
        WADI_TRY(wadi_gather_corner(gather, index > 0 ? index - 1 : (int64_t)vertex_count + index));
    }
}

/* A face may name a vertex of a later line, so the vertices are read first. */
WadiStatus wadi_mesh_parse_obj(WadiMeshGather *gather, const unsigned char *bytes, size_t size)
{
    const char *begin = (const char *)bytes;
    WadiScan scan = { .at = begin, .end = begin + size, .line = 1 };
    while (scan.at < scan.end) {
        if (keyword(&scan) == 'v') {
            WADI_TRY(parse_vertex(gather, &scan));
        }
        wadi_scan_next_line(&scan);
    }
    size_t vertex_count = 0;
    scan = (WadiScan){ .at = begin, .end = begin + size, .line = 1 };
    while (scan.at < scan.end) {
        char word = keyword(&scan);
        if (word == 'f') {
            WADI_TRY(parse_face(gather, &scan, vertex_count));
        }
        vertex_count += word == 'v';
        wadi_scan_next_line(&scan);
    }
    gather->line = 0;
    return WADI_OK;
}
