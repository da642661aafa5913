/* The ground of pictures: slabs, their joints and their mean, and the fade at the horizon. */
#include "picture.h"
#include "render/image/slabs.h"

static WadiLook slabs(void)
{
    WadiLook look = picture_matt(0.5f);
    look.texture = WADI_LOOK_TEXTURE_SLABS;
    look.texture_size = 0.4f;
    look.second_colour = wadi_grey(0.1f);
    return look;
}

/* Of a hundred slabs: 2.8 % is joint, the rest has the mean of the look, and no slab is another colour. */
static void slabs_have_joints_and_the_mean_colour(void **unused)
{
    (void)unused;
    enum { SIDE = 997 };
    WadiLook look = slabs();
    const double fine[2] = { 0.0, 0.0 };
    double sum = 0.0, joints = 0.0;
    for (int j = 0; j < SIDE; ++j) {
        for (int i = 0; i < SIDE; ++i) {
            float value = wadi_slabs_colour(&look, 4.0 * (i + 0.5) / SIDE, 4.0 * (j + 0.5) / SIDE, fine).y;
            if (value < 0.101f) {
                joints += 1.0;
            } else {
                sum += (double)value;
                assert_true(value > 0.25f && value < 0.75f);
            }
        }
    }
    CHECK_NEAR(joints / (SIDE * SIDE), 1.0 - (1.0 - 0.014) * (1.0 - 0.014), 2e-3);
    CHECK_NEAR(sum / (SIDE * SIDE - joints), 0.5, 0.01);
}

/* From far away nothing but the mean is left, and in between it fades. */
static void slabs_fade_to_their_mean(void **unused)
{
    (void)unused;
    WadiLook look = slabs();
    const double mean = 0.5 - 0.4 * (1.0 - (1.0 - 0.014) * (1.0 - 0.014));
    double deviation[3] = { 0 };
    for (int n = 0; n < 3; ++n) {
        const double side = (double[]){ 0.001, 0.1, 1.0 }[n], width[2] = { side, side };
        for (int i = 0; i < 400; ++i) {
            double value = (double)wadi_slabs_colour(&look, 0.0731 * i, 0.0517 * i, width).y - mean;
            deviation[n] += value * value / 400.0;
        }
    }
    assert_true(deviation[0] > 2.0 * deviation[1] && deviation[1] > deviation[2]);
    assert_true(deviation[2] < 1e-8);
}

/* A black ground in even light of 1: after the distance `air` the fraction 1 - 1/e of the light is that of
 * the horizon. */
static void far_ground_fades_into_the_horizon(void **unused)
{
    (void)unused;
    WadiTraceScene scene = picture_scene(NULL, 0, 1.0f);
    scene.ground =
        (WadiTraceGround){ .is_present = true, .height = 0.0, .look = picture_matt(0.0f), .wetness = 0.0f };
    for (int n = 0; n < 3; ++n) {
        const double air = (double[]){ 10.0, 20.0, 0.0 }[n], way = 20.0, fade = way / (n == 2 ? 2500.0 : air);
        scene.air = air;
        /* the eye 12 m up sees the point 16 m away along 20 m */
        double value = picture_value(&scene, wadi_vec3(0, 0, 12), wadi_vec3(16, 0, 0), 64, 1);
        CHECK_NEAR(value, 1.0 - exp(-fade), 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_have_joints_and_the_mean_colour),
        cmocka_unit_test(slabs_fade_to_their_mean),
        cmocka_unit_test(far_ground_fades_into_the_horizon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
