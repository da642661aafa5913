/* flip: curvature of surfaces made of particles, and the pressure of surface tension in a drop [Laplace].
 * Lengths in cells. */
#include "core/random.h"
#include "flip/pressure/flip_surface.h"
#include "flip/pressure/flip_tension.h"
#include "flip/pressure/flip_tension_push.h"
#include "flip_box.h"

enum { SIDE = 32 };

typedef double (*Level)(const double x[3]);

typedef struct Drop {
    FlipTank tank;
    float *fill, *distance, *curvature;
    uint8_t *fluid, *liquid;
} Drop;

static double radius;

static double ball(const double x[3])
{
    double square = 0.0;
    for (int a = 0; a < 3; ++a) {
        square += (x[a] - 16.2) * (x[a] - 16.2);
    }
    return sqrt(square) - radius;
}

static double thread(const double x[3])
{
    return sqrt((x[0] - 16.2) * (x[0] - 16.2) + (x[2] - 15.8) * (x[2] - 15.8)) - radius;
}

static double plane(const double x[3])
{
    return 0.6 * (x[0] - 16.2) + 0.8 * (x[2] - 16.2);
}

/* Jittered particles where `level` is negative, eight a cell. */
static void make(Drop *drop, Level level)
{
    flip_tank_make(&drop->tank, (const int[3]){ 0, 0, 0 }, (const int[3]){ SIDE, SIDE, SIDE }, 1.0);
    FlipBox *box = &drop->tank.box;
    flip_tank_open(&drop->tank, (const int[3]){ 0, 0, 0 }, (const int[3]){ SIDE, SIDE, SIDE });
    drop->fill = flip_box_floats(box, 0.0f);
    drop->distance = flip_box_floats(box, 0.0f);
    drop->curvature = flip_box_floats(box, 0.0f);
    drop->fluid = flip_box_array(box, 1);
    drop->liquid = flip_box_array(box, 1);
    uint64_t id = 0;
    for (int n = 0; n < 8 * SIDE * SIDE * SIDE; ++n) {
        double r[3], x[3];
        wadi_random_unit3(7, id++, WADI_RANDOM_TEST, r);
        x[0] = 0.5 * (n % (2 * SIDE) + r[0]);
        x[1] = 0.5 * (n / (2 * SIDE) % (2 * SIDE) + r[1]);
        x[2] = 0.5 * (n / (4 * SIDE * SIDE) + r[2]);
        if (level(x) < 0.0) {
            size_t at = flip_box_at(box, (int)x[0], (int)x[1], (int)x[2]);
            drop->fill[at] += 0.125f;
            drop->fluid[at / 8] |= (uint8_t)(1u << (at % 8));
        }
    }
    WadiError error = { 0 };
    WadiFlipSurfaceIn surface = {
        .rows = &box->rows, .fluid = drop->fluid, .fill = drop->fill, .fraction = NULL, .cell_size = 1.0
    };
    CHECK_OK(wadi_flip_surface_distance(&surface, drop->distance, drop->liquid, &box->arena, &error), error);
    WadiFlipCurvatureIn in = { .rows = &box->rows,
                               .fluid = drop->liquid,
                               .distance = drop->distance,
                               .cell_size = 1.0,
                               .passes = WADI_FLIP_CURVATURE_PASSES };
    CHECK_OK(wadi_flip_curvature(&in, drop->curvature, &box->arena, &error), error);
}

/* Over the cells at the surface that are eight cells from the ends of the box. */
static void check_curvature(Level level, double expected, double mean_error, double spread)
{
    Drop drop;
    make(&drop, level);
    double sum = 0.0, square = 0.0;
    int count = 0;
    for (size_t at = 8; at < wadi_rows_floats(&drop.tank.box.rows); ++at) {
        int c[3];
        flip_box_cell(&drop.tank.box, at, c);
        bool is_far = true;
        for (int a = 0; a < 3; ++a) {
            is_far = is_far && (level == ball || (c[a] >= 8 && c[a] < SIDE - 8));
        }
        if (drop.curvature[at] != 0.0f && is_far) {
            double kappa = (double)drop.curvature[at];
            sum += kappa;
            square += kappa * kappa;
            ++count;
        }
    }
    assert_true(count > 100);
    double mean = sum / count, deviation = sqrt(square / count - mean * mean);
    print_message("curvature %.4f +- %.4f, exact %.4f\n", mean, deviation, expected);
    CHECK_NEAR(mean, expected, mean_error);
    CHECK_AT_MOST(deviation, spread);
    flip_tank_free(&drop.tank);
}

static void balls_threads_and_planes_are_as_curved_as_they_are(void **unused)
{
    (void)unused;
    radius = 10.0;
    check_curvature(ball, 0.2, 0.05 * 0.2, 0.04);
    radius = 6.0;
    check_curvature(ball, 2.0 / 6.0, 0.05 / 3.0, 0.05);
    check_curvature(thread, 1.0 / 6.0, 0.05 / 6.0, 0.05);
    check_curvature(plane, 0.0, 0.005, 0.05);
}

/* p = 2 sigma / R inside a ball, with sigma = 1, rho = 1000 (of the tank), dt = 1, h = 1: P = p / 1000. */
static void a_drop_has_laplaces_pressure(void **unused)
{
    (void)unused;
    radius = 8.0;
    Drop drop;
    make(&drop, ball);
    FlipTank *tank = &drop.tank;
    for (size_t at = 0; at < wadi_rows_floats(&tank->box.rows); ++at) {
        drop.curvature[at] /= 1000.0f;
    }
    wadi_flip_surface_theta(&tank->box.rows, drop.liquid, drop.distance, WADI_FLIP_THETA_GHOST, tank->theta);
    tank->in.fluid = drop.liquid;
    for (int a = 0; a < 3; ++a) {
        tank->in.theta[a] = tank->theta[a];
    }
    tank->in.solver.tolerance = 1e-9;
    wadi_flip_push_faces(&tank->in, drop.curvature, tank->out.velocity);
    flip_tank_project(tank);
    double worst = 0.0, exact = 2.0 / radius;
    for (size_t at = 8; at < wadi_rows_floats(&tank->box.rows); ++at) {
        int c[3];
        flip_box_cell(&tank->box, at, c);
        if (ball((const double[3]){ c[0] + 0.5, c[1] + 0.5, c[2] + 0.5 }) < -3.0) {
            worst = fmax(worst, fabs(1000.0 * tank->out.pressure[at] / exact - 1.0));
        }
    }
    print_message("pressure in a drop: off by at most %.1f %%\n", 100.0 * worst);
    CHECK_AT_MOST(worst, 0.05);
    flip_tank_free(tank);
}

/* A uniform value on the whole surface is no force. */
static void an_even_pressure_moves_nothing(void **unused)
{
    (void)unused;
    radius = 7.0;
    Drop drop;
    make(&drop, ball);
    FlipTank *tank = &drop.tank;
    wadi_flip_surface_theta(&tank->box.rows, drop.liquid, drop.distance, WADI_FLIP_THETA_GHOST, tank->theta);
    tank->in.fluid = drop.liquid;
    for (int a = 0; a < 3; ++a) {
        tank->in.theta[a] = tank->theta[a];
    }
    wadi_flip_push_faces(&tank->in, flip_box_floats(&tank->box, 3.0f), tank->out.velocity);
    flip_tank_project(tank);
    CHECK_AT_MOST(flip_tank_max_speed(tank), 1e-4);
    CHECK_NEAR(tank->out.pressure[flip_box_at(&tank->box, 16, 16, 16)], 3.0, 1e-6);
    flip_tank_free(tank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_threads_and_planes_are_as_curved_as_they_are),
        cmocka_unit_test(a_drop_has_laplaces_pressure),
        cmocka_unit_test(an_even_pressure_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
