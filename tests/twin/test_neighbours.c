/* Neighbour lists from cells against all pairs: the same lists, exactly. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "expect.h"
#include "particles/cells.h"

enum { N = 3000 };

typedef enum Layout { UNIFORM, CLUSTERED, LATTICE, LAYOUT_COUNT } Layout;

static void place(WadiParticles *particles, Layout layout, double origin)
{
    WadiError error;
    int32_t first;
    CHECK_OK(wadi_particles_init(particles, &error), error);
    CHECK_OK(wadi_particles_append(particles, N, &first, &error), error);
    for (int i = 0; i < N; ++i) {
        double u[3], w[3];
        wadi_random_unit3(3, (uint64_t)i, WADI_RANDOM_TEST, u);
        wadi_random_unit3(4, (uint64_t)i, WADI_RANDOM_TEST, w);
        for (int a = 0; a < 3; ++a) {
            /* Clusters: most in a few dense clumps around the corners of a cube. */
            u[a] =
                layout == CLUSTERED ? (u[a] < 0.5 ? 0.2 : 0.8) + 0.1 * (w[a] - 0.5) * w[(a + 1) % 3] : u[a];
        }
        if (layout == LATTICE) {
            /* Distances equal to the radius and positions on the edges of cells, all subject to rounding. */
            u[0] = 0.1 * (i % 15), u[1] = 0.1 * (i / 15 % 15), u[2] = 0.1 * (i / 225);
        }
        particles->x[i] = origin + u[0];
        particles->y[i] = origin - u[1];
        particles->z[i] = -origin + u[2];
    }
}

static void check_against_all_pairs(const WadiParticles *particles, const WadiNeighbours *neighbours,
                                    double radius)
{
    int64_t next = 0;
    for (int32_t i = 0; i < N; ++i) {
        assert_int_equal(neighbours->start[i], next);
        for (int32_t j = 0; j < N; ++j) {
            double dx = particles->x[i] - particles->x[j], dy = particles->y[i] - particles->y[j],
                   dz = particles->z[i] - particles->z[j];
            if (i != j && dx * dx + dy * dy + dz * dz <= radius * radius) {
                assert_true(next < neighbours->start[i + 1]);
                assert_int_equal(neighbours->index[next], j);
                ++next;
            }
        }
        assert_int_equal(neighbours->start[i + 1], next);
    }
}

static void neighbours_are_all_pairs_for_any_threads(void **unused)
{
    (void)unused;
    double origins[3] = { 0.0, -0.5, 1e6 };
    for (int c = 0; c < LAYOUT_COUNT * 3; ++c) {
        WadiError error;
        WadiParticles particles;
        WadiArena arena = { 0 };
        place(&particles, (Layout)(c % LAYOUT_COUNT), origins[c / LAYOUT_COUNT]);
        for (int wide = 0; wide < 2; ++wide) {
            WadiCells cells;
            WadiNeighbours neighbours;
            CHECK_OK(wadi_cells_build(&cells, &particles, wide ? 0.17 : 0.1, &arena, &error), error);
            for (int threads = 1; threads <= 5; threads += 4) {
                wadi_parallel_set_threads(threads);
                CHECK_OK(wadi_neighbours_fixed(&neighbours, &cells, &particles, 0.1, &arena, &error), error);
                assert_true(neighbours.start[N] > 2 * N);
                check_against_all_pairs(&particles, &neighbours, 0.1);
            }
        }
        wadi_parallel_set_threads(0);
        wadi_arena_free(&arena);
        wadi_particles_free(&particles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_all_pairs_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
