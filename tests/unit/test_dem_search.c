/* dem/list: searches against a look at every grain. */
#include <string.h>

#include "core/random.h"
#include "dem/list/dem_search.h"
#include "dem/list/dem_sleepers.h"
#include "expect.h"

enum { GRAINS = 3000 };

static double unit(uint32_t n, uint32_t k)
{
    return wadi_random_unit(7, n, 100 + k);
}

/* Grains in a cube of one metre, far from the origin. */
static const WadiVec3 CORNER = { -731.3, 4012.7, 0.2 };

static void add_grains(WadiParticles *p)
{
    WadiError error;
    int32_t first;
    CHECK_OK(wadi_particles_init(p, &error), error);
    CHECK_OK(wadi_particles_append(p, GRAINS, &first, &error), error);
    for (uint32_t i = 0; i < GRAINS; ++i) {
        p->x[i] = CORNER.x + unit(i, 0);
        p->y[i] = CORNER.y + unit(i, 1);
        p->z[i] = CORNER.z + unit(i, 2) * unit(i, 2);
    }
}

static bool is_in(const WadiParticles *p, int32_t i, const WadiBox *box, double far)
{
    return p->x[i] >= box->min.x - far && p->x[i] <= box->max.x + far && p->y[i] >= box->min.y - far &&
           p->y[i] <= box->max.y + far && p->z[i] >= box->min.z - far && p->z[i] <= box->max.z + far;
}

static void sleeping_grains_near_a_box_are_found(void **unused)
{
    (void)unused;
    const double radius = 0.02, far = 0.05;
    WadiParticles p;
    WadiArena arena = { 0 };
    WadiError error;
    WadiDemAsleep asleep;
    static WadiDemSleepers found;
    static float radii[GRAINS];
    add_grains(&p);
    for (int32_t i = 0; i < GRAINS; ++i) {
        radii[i] = (float)(radius * (0.5 + 0.5 * unit((uint32_t)i, 3)));
    }
    CHECK_OK(wadi_dem_asleep_build(&asleep, &p, GRAINS, radii, radius, &arena, &error), error);
    for (uint32_t n = 0; n < 200; ++n) {
        const WadiVec3 low = { CORNER.x + 1.2 * unit(n, 4) - 0.1, CORNER.y + 1.2 * unit(n, 5) - 0.1,
                               CORNER.z + 1.2 * unit(n, 6) - 0.1 };
        const double size = 0.1 * unit(n, 7);
        const WadiBox box = { low, { low.x + size, low.y + size, low.z + size } };
        assert_true(wadi_dem_sleepers_find(&found, &asleep, &box, far));
        int32_t inside = 0, seen = 0;
        for (int32_t i = 0; i < GRAINS; ++i) {
            inside += is_in(&p, i, &box, far);
        }
        for (int32_t k = 0; k < found.count; ++k) {
            const int32_t i = found.grain[k];
            seen += is_in(&p, i, &box, far);
            assert_true(is_in(&p, i, &box, far + 1e-5));
            assert_true(found.radius[k] == radii[i]);
        }
        assert_int_equal(seen, inside);
    }
    const WadiBox all = { CORNER, { CORNER.x + 1.0, CORNER.y + 1.0, CORNER.z + 1.0 } };
    assert_false(wadi_dem_sleepers_find(&found, &asleep, &all, far)); /* too many */
    wadi_arena_free(&arena);
    wadi_particles_free(&p);
}

static void a_walk_meets_each_grain_in_reach_once(void **unused)
{
    (void)unused;
    WadiParticles p;
    WadiArena arena = { 0 };
    WadiError error;
    WadiTileSort sort;
    add_grains(&p);
    CHECK_OK(wadi_tile_sort(&sort, &p, 0.03, &arena, &error), error);
    for (uint32_t n = 0; n < 200; ++n) {
        const WadiVec3 x = { CORNER.x + 1.4 * unit(n, 8) - 0.2, CORNER.y + 1.4 * unit(n, 9) - 0.2,
                             CORNER.z + 1.4 * unit(n, 10) - 0.2 };
        const WadiBox box = { x, x };
        const double reach = 0.3 * unit(n, 11);
        static uint8_t seen[GRAINS];
        memset(seen, 0, sizeof seen);
        WadiDemWalk walk;
        wadi_dem_walk_begin(&walk, &sort, x, reach);
        for (int32_t from, to; wadi_dem_walk_next(&walk, &from, &to);) {
            assert_true(from < to);
            for (int32_t i = from; i < to; ++i) {
                seen[i] += 1;
            }
        }
        for (int32_t i = 0; i < GRAINS; ++i) {
            /* Whole cells: what lies a cell beyond is not met. */
            assert_int_equal(seen[i], is_in(&p, i, &box, reach) ||
                                          (seen[i] == 1 && is_in(&p, i, &box, reach + 0.0301)));
        }
    }
    wadi_arena_free(&arena);
    wadi_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleeping_grains_near_a_box_are_found),
        cmocka_unit_test(a_walk_meets_each_grain_in_reach_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
