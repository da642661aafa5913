/* surface: the 256 cases fit together for any neighbouring cells. */
#include <stdbool.h>

#include "expect.h"
#include "surface/mesh/march_table.h"

/* Faces are numbered by axis and side. */
static bool is_on_face(int edge, int axis, int side)
{
    int corner = wadi_march_edge_corner(edge);
    return edge >> 2 != axis && (corner >> axis & 1) == side;
}

/* The number of an edge in the cell across the face. */
static int across(int edge, int axis)
{
    for (int other = 0; other < 12; ++other) {
        if (other >> 2 == edge >> 2 &&
            wadi_march_edge_corner(other) == (wadi_march_edge_corner(edge) ^ 1 << axis)) {
            return other;
        }
    }
    return -1;
}

/* runs[a][b]: triangles that run from a to b. */
static void count_runs(const WadiMarchCase *of, int runs[12][12])
{
    for (int a = 0; a < 144; ++a) {
        runs[a / 12][a % 12] = 0;
    }
    for (int n = 0; n < of->count; ++n) {
        for (int v = 0; v < 3; ++v) {
            ++runs[of->edge[n][v]][of->edge[n][(v + 1) % 3]];
        }
    }
}

static bool share_face(int a, int b)
{
    for (int face = 0; face < 6; ++face) {
        if (is_on_face(a, face >> 1, face & 1) && is_on_face(b, face >> 1, face & 1)) {
            return true;
        }
    }
    return false;
}

static void cells_are_sheets_bounded_by_their_faces(void **unused)
{
    (void)unused;
    const WadiMarchCase *table = wadi_march_table();
    for (int inside = 0; inside < 256; ++inside) {
        int runs[12][12];
        count_runs(&table[inside], runs);
        for (int a = 0; a < 12; ++a) {
            int corner = wadi_march_edge_corner(a), is_used = 0, rim = 0;
            for (int b = 0; b < 12; ++b) {
                is_used |= runs[a][b];
                rim += runs[a][b] == 1 && runs[b][a] == 0;
                assert_true(runs[a][b] <= 1);
                /* On a face: one run, part of the rim. Within the cell: two that cancel. */
                if (runs[a][b] == 1) {
                    assert_int_equal(runs[b][a], share_face(a, b) ? 0 : 1);
                }
            }
            /* Exactly the crossed edges have a vertex, and the rim passes once through each. */
            bool is_crossed = ((inside >> corner ^ inside >> (corner | 1 << (a >> 2))) & 1) != 0;
            assert_int_equal(is_used, is_crossed);
            assert_int_equal(rim, is_crossed);
        }
    }
}

static void neighbours_agree_on_every_face(void **unused)
{
    (void)unused;
    const WadiMarchCase *table = wadi_march_table();
    long pairs = 0;
    for (int left = 0; left < 256; ++left) {
        int here[12][12], there[12][12];
        count_runs(&table[left], here);
        for (int right = 0; right < 256; ++right) {
            count_runs(&table[right], there);
            for (int axis = 0; axis < 3; ++axis) {
                int is_matching = 1;
                for (int c = 0; c < 8; ++c) {
                    is_matching &= (c >> axis & 1) == 0 || ((left >> c ^ right >> (c ^ 1 << axis)) & 1) == 0;
                }
                if (!is_matching) {
                    continue;
                }
                ++pairs;
                for (int a = 0; a < 12; ++a) {
                    for (int b = 0; b < 12; ++b) {
                        if (is_on_face(a, axis, 1) && is_on_face(b, axis, 1)) {
                            assert_int_equal(here[a][b], there[across(b, axis)][across(a, axis)]);
                        }
                    }
                }
            }
        }
    }
    assert_int_equal(pairs, 3 * 256 * 16);
}

static void triangles_face_the_outside(void **unused)
{
    (void)unused;
    /* One corner inside: the triangle around it faces away from it, so its edges run as the axes do. */
    const WadiMarchCase *table = wadi_march_table();
    assert_int_equal(table[1].count, 1);
    int first = table[1].edge[0][0] >> 2;
    assert_int_equal(table[1].edge[0][1] >> 2, (first + 1) % 3);
    assert_int_equal(table[1].edge[0][2] >> 2, (first + 2) % 3);
    assert_int_equal(table[254].count, 1);
    first = table[254].edge[0][0] >> 2;
    assert_int_equal(table[254].edge[0][1] >> 2, (first + 2) % 3);
    assert_int_equal(table[0].count, 0);
    assert_int_equal(table[255].count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_sheets_bounded_by_their_faces),
        cmocka_unit_test(neighbours_agree_on_every_face),
        cmocka_unit_test(triangles_face_the_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
