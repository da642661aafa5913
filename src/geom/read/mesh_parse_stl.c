/* STL: 50 bytes a triangle after a header of 84, or text. Vertices are not shared; equal positions are
 * welded later. */
#include <string.h>

#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_text.h"

enum { HEADER = 84, TRIANGLE = 50 };

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static double float_at(const unsigned char *bytes)
{
    uint32_t bits = word_at(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static WadiStatus parse_binary(WadiMeshGather *gather, const unsigned char *bytes, size_t count)
{
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->vertices, 3 * count, "mesh vertices", gather->error));
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->corners, 3 * count, "mesh triangles", gather->error));
    for (size_t t = 0; t < count; ++t) {
        const unsigned char *at = bytes + HEADER + TRIANGLE * t + 12; /* after the normal */
        uint32_t first = (uint32_t)gather->vertices.count;
        for (int k = 0; k < 3; ++k, at += 12) {
            WadiVec3 p = { float_at(at), float_at(at + 4), float_at(at + 8) };
            WADI_TRY(wadi_gather_vertex(gather, p));
        }
        WADI_TRY(wadi_gather_triangle(gather, first, first + 1, first + 2));
    }
    return WADI_OK;
}

/* Only the words "vertex" and "endloop" matter. */
static WadiStatus parse_text(WadiMeshGather *gather, const char *begin, size_t size)
{
    WadiScan scan = { .at = begin, .end = begin + size, .line = 1 };
    for (; scan.at < scan.end; wadi_scan_next_line(&scan)) {
        size_t length;
        const char *word = wadi_scan_word(&scan, &length);
        gather->line = scan.line;
        if (wadi_word_is(word, length, "vertex")) {
            double x[3] = { 0.0, 0.0, 0.0 };
            for (int k = 0; k < 3; ++k) {
                wadi_scan_blanks(&scan);
                if (!wadi_scan_number(&scan.at, scan.end, &x[k])) {
                    return wadi_gather_fail(gather, "\"vertex\" needs three finite numbers");
                }
            }
            WADI_TRY(wadi_gather_vertex(gather, (WadiVec3){ x[0], x[1], x[2] }));
            WADI_TRY(wadi_gather_corner(gather, (int64_t)gather->vertices.count - 1));
        } else if (wadi_word_is(word, length, "endloop")) {
            WADI_TRY(wadi_gather_polygon(gather));
        } else if (length > 0 && !wadi_word_is(word, length, "facet") &&
                   !wadi_word_is(word, length, "outer") && !wadi_word_is(word, length, "endfacet") &&
                   !wadi_word_is(word, length, "solid") && !wadi_word_is(word, length, "endsolid")) {
            return wadi_gather_fail(gather, "\"%.*s\" is no word of STL", length < 32 ? (int)length : 32,
                                    word);
        }
    }
    gather->line = 0;
    return gather->polygon.count == 0 ? WADI_OK
                                      : wadi_gather_fail(gather, "ends in the middle of a triangle");
}

WadiStatus wadi_mesh_parse_stl(WadiMeshGather *gather, const unsigned char *bytes, size_t size)
{
    uint64_t count = size >= HEADER ? word_at(bytes + 80) : 0;
    uint64_t wanted = HEADER + TRIANGLE * count;
    WadiScan scan = { .at = (const char *)bytes, .end = (const char *)bytes + size, .line = 1 };
    size_t length;
    wadi_scan_space(&scan, '\0');
    const char *word = wadi_scan_word(&scan, &length);
    /* Headers of binary files often begin with "solid", too: the size decides. */
    bool is_text = wadi_word_is(word, length, "solid") && !(size >= HEADER && wanted == size);
    if (is_text) {
        return parse_text(gather, (const char *)bytes, size);
    }
    if (size < HEADER || wanted > size) {
        return wadi_gather_fail(gather, "%zu bytes, but %llu triangles need %llu: cut off, or no STL file",
                                size, (unsigned long long)count, (unsigned long long)wanted);
    }
    return parse_binary(gather, bytes, (size_t)count);
}
