/* Sculptures: moist sand that fills a shape up to its surface and stands. */
#include <math.h>

#include "scene_sim.h"
#include "sim/sim.h"

#define BALL                                                                                                 \
    "wadi: 1\nsolver: sph\ncell_size: 0.02\nframes: 3\ngravity: [0, 0, 0]\n"                                 \
    "domain: {min: [-0.3, -0.3, -0.3], max: [0.3, 0.3, 0.3]}\n"                                              \
    "materials: {sand: {kind: sand, ideal_saturation: 0.3}, water: {kind: water}}\n"                         \
    "bodies:\n - {material: sand, sculpture: true, shape: {sphere: {center: [0.003, 0, 0], radius: "         \
    "0.1}}%s}\n"

static WadiSim *start_ball(WadiScene **scene, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, BALL, more);
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

/* Depths in spacings of 1 cm. */
static double depth_of(const WadiParticles *p, int32_t i)
{
    return 100.0 * (0.1 - sqrt(pow(p->x[i] - 0.003, 2.0) + p->y[i] * p->y[i] + p->z[i] * p->z[i]));
}

static void a_sculpture_is_moist_and_reaches_its_surface(void **unused)
{
    (void)unused;
    WadiScene *scene = NULL;
    WadiSim *sim = start_ball(&scene, "");
    const WadiParticles *p = &sim->particles;
    const float *wetness = column_of(p, "wetness");
    int32_t outermost = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        CHECK_NEAR((double)wetness[i], 0.3, 1e-6);
        /* Half a spacing deep, or deeper than the layer. */
        const double depth = depth_of(p, i);
        assert_true(fabs(depth - 0.5) < 1e-6 || depth > 0.999);
        outermost += depth < 0.9;
    }
    print_message("%d particles, %d in the outermost layer\n", (int)p->count, (int)outermost);
    /* As many as the volume holds, and about one a square spacing of the layer. */
    CHECK_NEAR(p->count / (4.0 / 3.0 * 3.14159 * 1000.0), 1.0, 0.02);
    CHECK_NEAR(outermost / (4.0 * 3.14159 * 9.5 * 9.5), 1.0, 0.2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void what_is_given_counts(void **unused)
{
    (void)unused;
    WadiScene *scene = NULL;
    WadiSim *sim = start_ball(&scene, ", saturation: 0.1, snap: none, jitter: 0");
    const WadiParticles *p = &sim->particles;
    CHECK_NEAR((double)column_of(p, "wetness")[0], 0.1, 1e-6);
    int32_t shallow = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        shallow += depth_of(p, i) < 0.4;
    }
    assert_true(shallow > 50);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static double top_of(const WadiParticles *p)
{
    double top = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        top = fmax(top, p->z[i]);
    }
    return top;
}

/* A head on a body, 20 cm tall. By its cohesion it could be 0.4 m; dry, the head comes down. */
static double top_after(const char *saturation, int frames)
{
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: sph\ncell_size: 0.02\ndomain: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.3]}\n"
             "materials: {sand: {kind: sand, friction_angle: 35}, water: {kind: water}}\n"
             "bodies:\n - material: sand\n   sculpture: true\n   saturation: %s\n   shape:\n"
             "     smooth_union:\n       radius: 0.01\n       shapes:\n"
             "        - cone: {from: [0, 0, 0], to: [0, 0, 0.13], radius: 0.06, top_radius: 0.05}\n"
             "        - sphere: {center: [0, 0, 0.15], radius: 0.05}\n",
             saturation);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const double start = top_of(&sim->particles);
    run_frames(sim, frames);
    const double part = top_of(&sim->particles) / start;
    print_message(
        "%d particles, saturation %s: top at %.3f of the start after %d frames, mean speed %.1e m/s\n",
        (int)sim->particles.count, saturation, part, frames, mean_speed(&sim->particles));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return part;
}

static void a_sculpture_stands_by_its_moisture(void **unused)
{
    (void)unused;
    assert_true(top_after("0.4", 12) > 0.97);
    assert_true(top_after("0", 12) < 0.85);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sculpture_is_moist_and_reaches_its_surface),
        cmocka_unit_test(what_is_given_counts),
        cmocka_unit_test(a_sculpture_stands_by_its_moisture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
