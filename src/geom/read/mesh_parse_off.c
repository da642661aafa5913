/* OFF: the word, three counts, a line a vertex, a line a face. What follows the coordinates in a line is left
 * out. */
#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_text.h"

enum { COMMENT = '#' };

static WadiStatus parse_counts(WadiMeshGather *gather, WadiScan *scan, int64_t count[2])
{
    size_t length;
    wadi_scan_space(scan, COMMENT);
    const char *word = wadi_scan_word(scan, &length);
    static const char *const words[] = { "off",   "coff",   "noff",   "cnoff",
                                         "stoff", "stcoff", "stnoff", "stcnoff" };
    bool is_known = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        is_known |= wadi_word_is(word, length, words[i]);
    }
    gather->line = scan->line;
    if (!is_known) {
        return wadi_gather_fail(gather, "does not begin with \"OFF\"");
    }
    for (int k = 0; k < 2; ++k) {
        wadi_scan_space(scan, COMMENT);
        gather->line = scan->line;
        /* Each takes a line of two bytes at least. */
        if (!wadi_scan_whole(&scan->at, scan->end, &count[k]) || count[k] < 0 ||
            count[k] > scan->end - scan->at) {
            return wadi_gather_fail(gather, "the numbers of vertices and faces are missing or too large for "
                                            "the file (binary OFF is not read: export it as text)");
        }
    }
    wadi_scan_next_line(scan);
    return WADI_OK;
}

WadiStatus wadi_mesh_parse_off(WadiMeshGather *gather, const unsigned char *bytes, size_t size)
{
    WadiScan scan = { .at = (const char *)bytes, .end = (const char *)bytes + size, .line = 1 };
    int64_t count[2] = { 0, 0 };
    WADI_TRY(parse_counts(gather, &scan, count));
    for (int64_t i = 0; i < count[0]; ++i) {
        double x[3] = { 0.0, 0.0, 0.0 };
        wadi_scan_space(&scan, COMMENT);
        gather->line = scan.line;
        for (int k = 0; k < 3; ++k) {
            wadi_scan_blanks(&scan);
            if (!wadi_scan_number(&scan.at, scan.end, &x[k])) {
                return wadi_gather_fail(gather, "vertex %lld of %lld needs three finite numbers",
                                        (long long)i, (long long)count[0]);
            }
        }
        WADI_TRY(wadi_gather_vertex(gather, (WadiVec3){ x[0], x[1], x[2] }));
        wadi_scan_next_line(&scan);
    }
    for (int64_t i = 0; i < count[1]; ++i) {
        wadi_scan_space(&scan, COMMENT);
        gather->line = scan.line;
        int64_t corners = 0, index = 0;
        bool is_good = wadi_scan_whole(&scan.at, scan.end, &corners) && corners >= 0;
        for (int64_t k = 0; is_good && k < corners; ++k) {
            wadi_scan_blanks(&scan);
            is_good = wadi_scan_whole(&scan.at, scan.end, &index);
            WADI_TRY(is_good ? wadi_gather_corner(gather, index) : WADI_OK);
        }
        if (!is_good) {
            return wadi_gather_fail(gather, "face %lld of %lld is damaged or missing", (long long)i,
                                    (long long)count[1]);
        }
        WADI_TRY(wadi_gather_polygon(gather));
        wadi_scan_next_line(&scan);
    }
    gather->line = 0;
    return WADI_OK;
}
