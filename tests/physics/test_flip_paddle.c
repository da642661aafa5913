/* flip: solids that move through sand and water push it ahead; afterwards nothing is inside them. */
#include <math.h>

#include "scene_sim.h"

static const double PI = 3.14159265358979323846;

/* Half sizes of the paddle, about an upright axis at (0.5, 0.5), from z = 0.03 to 0.3; one turn in two
 * seconds. */
#define PADDLE_X 0.3
#define PADDLE_Y 0.02

#define SCENE(kind)                                                                                          \
    "wadi: 1\n"                                                                                              \
    "solver: flip\n"                                                                                         \
    "domain: {min: [0, 0, 0], max: [1, 1, 0.5], walls: {friction: 0.5}}\n"                                   \
    "resolution: 24\n"                                                                                       \
    "materials:\n"                                                                                           \
    "  m: {kind: " kind "}\n"                                                                                \
    "bodies:\n"                                                                                              \
    "  - {material: m, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.2]}}}\n"                                  \
    "colliders:\n"                                                                                           \
    "  - friction: 0.5\n"                                                                                    \
    "    shape:\n"                                                                                           \
    "      box: {min: [0.2, 0.48, 0.03], max: [0.8, 0.52, 0.3]}\n"                                           \
    "      pivot: [0.5, 0.5, 0]\n"                                                                           \
    "      rotate: {keys: [[0, [0, 0, 0]], [2, [0, 0, 360]]]}\n"

/* Depth of a point in the paddle at `time`; negative outside. */
static double depth_in_paddle(const double x[3], double time)
{
    double angle = PI * time, dx = x[0] - 0.5, dy = x[1] - 0.5;
    double a = cos(angle) * dx + sin(angle) * dy, b = cos(angle) * dy - sin(angle) * dx;
    return fmin(fmin(PADDLE_X - fabs(a), PADDLE_Y - fabs(b)), fmin(0.3 - x[2], x[2] - 0.03));
}

static void a_paddle_goes_through(const char *kind, const char *text)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    double deepest = -1.0, fastest = 0.0;
    for (int frame = 0; frame < 12; ++frame) {
        run_frames(sim, 1);
        WadiError error;
        WadiView position, velocity;
        CHECK_OK(wadi_sim_view(sim, "position", &position, &error), error);
        CHECK_OK(wadi_sim_view(sim, "velocity", &velocity, &error), error);
        double time = wadi_sim_time(sim);
        assert_true(position.count > 10000);
        for (size_t i = 0; i < position.count; ++i) {
            double x[3], square = 0.0;
            for (int c = 0; c < 3; ++c) {
                x[c] = *(const double *)(const void *)((const char *)position.data[c] + i * position.stride);
                double v = (double)*(const float *)(const void *)((const char *)velocity.data[c] +
                                                                  i * velocity.stride);
                square += v * v;
            }
            deepest = fmax(deepest, depth_in_paddle(x, time));
            fastest = fmax(fastest, sqrt(square));
        }
    }
    print_message("%s: deepest %.2g m inside, fastest %.2f m/s (the paddle's tip: %.2f)\n", kind, deepest,
                  fastest, PI * PADDLE_X);
    CHECK_AT_MOST(deepest, 1e-6);
    /* A splash is faster than what makes it; ten times would not be one. */
    CHECK_AT_MOST(fastest, 5.0 * PI * PADDLE_X);
    CHECK_AT_MOST(0.5 * PI * PADDLE_X, fastest);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void sand_goes_out_of_the_way(void **unused)
{
    (void)unused;
    a_paddle_goes_through("sand", SCENE("sand, density: 1600, friction_angle: 30"));
}

static void water_goes_out_of_the_way(void **unused)
{
    (void)unused;
    a_paddle_goes_through("water", SCENE("water, density: 1000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_goes_out_of_the_way),
        cmocka_unit_test(water_goes_out_of_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
