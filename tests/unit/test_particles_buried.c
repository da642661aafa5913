/* particles/buried: which particles cannot be seen. */
#include "expect.h"
#include "particles/buried.h"

enum { SIDE = 12 };

/* A cube of 12 x 12 x 12 on a lattice, with a channel of two by two along x through its middle. */
static int32_t count_buried(bool has_channel, const uint8_t **flags, WadiParticles *p, WadiArena *arena)
{
    WadiError error;
    int32_t first;
    uint8_t *is_buried = NULL;
    CHECK_OK(wadi_particles_init(p, &error), error);
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        const int i = n % SIDE, j = n / SIDE % SIDE, k = n / SIDE / SIDE;
        if (has_channel && j / 2 == 2 && k / 2 == 2) {
            continue;
        }
        CHECK_OK(wadi_particles_append(p, 1, &first, &error), error);
        p->x[first] = 0.1 * (i + 0.5), p->y[first] = 0.1 * (j + 0.5), p->z[first] = 0.1 * (k + 0.5);
    }
    CHECK_OK(wadi_find_buried(p, 0.1, arena, &is_buried, &error), error);
    int32_t buried = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        buried += is_buried[i];
    }
    *flags = is_buried;
    return buried;
}

/* Cells are two spacings wide: of 6 x 6 x 6 the inner 4 x 4 x 4 are hidden. A channel is seen into: of the
 * 4 x 4 columns of inner cells the 3 x 3 around it are not hidden. */
static void what_has_neighbours_on_every_side_is_hidden(void **unused)
{
    (void)unused;
    for (int channel = 0; channel < 2; ++channel) {
        WadiParticles p;
        WadiArena arena = { 0 };
        const uint8_t *is_buried;
        const int32_t buried = count_buried(channel == 1, &is_buried, &p, &arena);
        assert_int_equal(buried, channel == 1 ? (16 - 9) * 4 * 8 : 64 * 8);
        for (int32_t i = 0; i < p.count; ++i) {
            const double low = fmin(p.x[i], fmin(p.y[i], p.z[i]));
            const double high = fmax(p.x[i], fmax(p.y[i], p.z[i]));
            assert_true(is_buried[i] == 0 || (low > 0.2 && high < 1.0));
        }
        wadi_arena_free(&arena);
        wadi_particles_free(&p);
    }
}

static void nothing_is_hidden_among_no_particles(void **unused)
{
    (void)unused;
    WadiError error;
    WadiParticles p;
    WadiArena arena = { 0 };
    uint8_t *is_buried = NULL;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    CHECK_OK(wadi_find_buried(&p, 0.1, &arena, &is_buried, &error), error);
    wadi_arena_free(&arena);
    wadi_particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_neighbours_on_every_side_is_hidden),
        cmocka_unit_test(nothing_is_hidden_among_no_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
