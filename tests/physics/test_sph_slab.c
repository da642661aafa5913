/* sph: a disordered slab of sand on an incline without ends, settled level before gravity tilts. The infinite
 * slope holds up to the friction angle, and beyond it accelerates by g (sin a - k cos a). */
#include "sph_slab.h"

static const double g = 9.81, degree = 0.017453292519943295;

/* Of the upper half. */
static double mean_velocity(const Slab *slab)
{
    double sum = 0.0;
    const int first = slab->count / 2;
    for (int i = first; i < slab->count; ++i) {
        sum += (double)slab->velocity[i][0];
    }
    return sum / (slab->count - first);
}

static void run(Slab *slab, double angle, double seconds)
{
    WadiArena arena = { 0 };
    slab->gravity[0] = g * sin(angle * degree);
    slab->gravity[2] = -g * cos(angle * degree);
    for (int n = (int)ceil(seconds / slab->dt); n > 0; --n) {
        slab_step(slab, &arena);
    }
    wadi_arena_free(&arena);
}

/* A copy whose pointers lead into itself. */
static Slab *copy(const Slab *slab)
{
    Slab *to = slab_create(slab->period, 0, 0.0);
    Slab made = *to;
    *to = *slab;
    made.pairs.count = slab->pairs.count, made.walls.count = slab->walls.count;
    to->pairs = made.pairs, to->walls = made.walls, to->friction = made.friction;
    return to;
}

static void test_slope_sticks_below_and_slides_above_its_friction_angle(void **state)
{
    (void)state;
    const double phi = 30.0, k = tan(phi * degree);
    Slab *slab = is_long_run() ? slab_create(12, 8, 0.4) : slab_create(8, 6, 0.4);
    slab->slope = (float)k;
    slab->wall_friction = is_long_run() ? 2.0f : (float)k;
    run(slab, 0.0, 0.5);
    Slab *steep = copy(slab);
    run(slab, phi - 2.5, 0.5);
    print_message("phi - 2.5: %g m/s\n", mean_velocity(slab));
    CHECK_AT_MOST(fabs(mean_velocity(slab)), 1e-3);
    run(steep, phi + 10.0, 0.2);
    const double early = mean_velocity(steep);
    run(steep, phi + 10.0, 0.3);
    const double a = (phi + 10.0) * degree, rate = (mean_velocity(steep) - early) / 0.3;
    print_message("phi + 10: %g of the law\n", rate / (g * (sin(a) - k * cos(a))));
    CHECK_NEAR(rate / (g * (sin(a) - k * cos(a))), 1.0, 0.06);
    free(slab);
    free(steep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope_sticks_below_and_slides_above_its_friction_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
