/* Surfaces of the path tracer against integrals over the hemisphere, and its sample points against their
 * definition. */
#include <stdlib.h>

#include "expect.h"
#include "render/trace/bsdf.h"
#include "render/trace/sampler.h"

static const double pi = 3.14159265358979323846;

/* The fraction of uniform light reflected to `out`, and the integral of the density, by a midpoint rule. */
static double albedo_towards(const WadiBsdf *bsdf, WadiVec3f out, double *density)
{
    enum { POLAR = 1024, AROUND = 256 };
    double sum = 0.0;
    *density = 0.0;
    for (int j = 0; j < POLAR; ++j) {
        double theta = 0.5 * pi * (j + 0.5) / POLAR;
        for (int i = 0; i < AROUND; ++i) {
            double phi = 2.0 * pi * (i + 0.5) / AROUND,
                   solid = sin(theta) * (0.5 * pi / POLAR) * (2.0 * pi / AROUND);
            float pdf;
            WadiVec3f in = { (float)(sin(theta) * cos(phi)), (float)(sin(theta) * sin(phi)),
                             (float)cos(theta) };
            sum += solid * (double)wadi_bsdf_eval(bsdf, out, in, &pdf).y;
            *density += solid * (double)pdf;
        }
    }
    return sum;
}

static WadiVec3f tilted(double degrees)
{
    double a = degrees * pi / 180.0;
    return wadi_vec3f((float)sin(a), 0.0f, (float)cos(a));
}

/* The same by sampled directions. */
static double albedo_drawn(const WadiBsdf *bsdf, WadiVec3f out, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        WadiSampler sampler = { .pixel = 77, .sample = i };
        float u[3], pdf;
        wadi_sampler_next2(&sampler, u);
        u[2] = wadi_sampler_next(&sampler);
        WadiVec3f in = wadi_bsdf_sample(bsdf, out, u);
        WadiRgb value = wadi_bsdf_eval(bsdf, out, in, &pdf);
        sum += pdf > 0.0f ? (double)(value.y / pdf) : 0.0;
    }
    return sum / count;
}

static void white_base_sends_everything_back(void **unused)
{
    (void)unused;
    for (int r = 0; r <= 4; ++r) {
        WadiBsdf bsdf = { .albedo = wadi_grey(1.0f), .roughness = 0.25f * (float)r, .index = 1.0f };
        for (int angle = 0; angle <= 80; angle += 20) {
            double density, albedo = albedo_towards(&bsdf, tilted(angle), &density);
            CHECK_NEAR(albedo, 1.0, 0.003); /* the fit of the directional albedo is good to 0.1 % */
            CHECK_NEAR(density, 1.0, 1e-3);
        }
    }
}

static void nothing_sends_back_more_than_it_gets(void **unused)
{
    (void)unused;
    WadiLook plain = wadi_look_plain(wadi_grey(1.0f)), sand = wadi_look_sand(wadi_grey(1.0f));
    plain.coat = 1.0f;
    for (int r = 1; r <= 5; ++r) {
        plain.coat_roughness = sand.coat_roughness = 0.2f * (float)r;
        for (int angle = 0; angle <= 85; angle += 17) {
            WadiBsdf coated = wadi_bsdf_of_look(&plain, wadi_grey(1.0f), 0.0f, 1.0f);
            double albedo = albedo_drawn(&coated, tilted(angle), 1 << 13);
            assert_true(albedo < 1.002 && albedo > 0.7);
            for (int wet = 0; wet <= 4; ++wet) {
                WadiBsdf film = wadi_bsdf_of_look(&sand, wadi_grey(1.0f), 0.25f * (float)wet, 1.0f);
                albedo = albedo_drawn(&film, tilted(angle), 1 << 13);
                assert_true(albedo < 1.002 && albedo > 0.7);
            }
        }
    }
}

/* Sampled and weighted directions give the integral, for a coat alone and for both layers. */
static void drawn_directions_give_the_integral(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; ++kind) {
        WadiBsdf bsdf = { .albedo = wadi_grey(kind == 0 ? 0.0f : 0.6f),
                          .roughness = 0.5f,
                          .coat = 1.0f,
                          .alpha = kind == 2 ? 0.6f : 0.15f,
                          .index = 1.5f };
        WadiVec3f out = tilted(60.0);
        double density, expected = albedo_towards(&bsdf, out, &density);
        CHECK_NEAR(albedo_drawn(&bsdf, out, 1 << 16), expected, 0.004 * expected + 5e-4);
    }
}

static void surfaces_are_reciprocal(void **unused)
{
    (void)unused;
    WadiLook sand = wadi_look_sand(wadi_vec3f(0.6f, 0.5f, 0.3f));
    WadiBsdf bsdf = wadi_bsdf_of_look(&sand, sand.colour, 0.5f, 1.0f);
    WadiVec3f a = tilted(20.0), b = wadi_vec3f(0.3f, 0.6f, sqrtf(1.0f - 0.45f));
    float pdf;
    WadiRgb ab = wadi_bsdf_eval(&bsdf, a, b, &pdf), ba = wadi_bsdf_eval(&bsdf, b, a, &pdf);
    CHECK_NEAR((double)(ab.x / b.z), (double)(ba.x / a.z), 1e-5);
    CHECK_NEAR((double)(ab.z / b.z), (double)(ba.z / a.z), 1e-5);
}

/* ((n - 1) / (n + 1))^2 at right angles, all beyond the critical angle and at grazing; none at Brewster's
 * angle in one polarisation, so half of the other's. */
static void fresnel_has_its_known_values(void **unused)
{
    (void)unused;
    CHECK_NEAR((double)wadi_fresnel(1.0f, 1.33f), 0.33 * 0.33 / (2.33 * 2.33), 1e-6);
    CHECK_NEAR((double)wadi_fresnel(1.0f, 1.0f / 1.33f), 0.33 * 0.33 / (2.33 * 2.33), 1e-6);
    CHECK_NEAR((double)wadi_fresnel(0.0f, 1.5f), 1.0, 1e-6);
    assert_true(wadi_fresnel(0.6f, 1.0f / 1.33f) == 1.0f); /* 53 degrees; the critical angle is 48.75 */
    double brewster = atan(1.5), other = asin(sin(brewster) / 1.5),
           s = sin(brewster - other) / sin(brewster + other);
    CHECK_NEAR((double)wadi_fresnel((float)cos(brewster), 1.5f), 0.5 * s * s, 1e-6);
}

static void fresnel_inside_is_the_integral(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; ++k) {
        double index = 1.2 + 0.15 * k, sum = 0.0;
        for (int i = 0; i < 100000; ++i) { /* of 2 cos sin dtheta = d(cos^2) */
            double cosine = sqrt((i + 0.5) / 100000.0);
            sum += (double)wadi_fresnel((float)cosine, (float)(1.0 / index)) / 100000.0;
        }
        CHECK_NEAR((double)wadi_fresnel_inside((float)index), sum, 0.006);
    }
}

/* Reflectance r of a deep layer: r = (1 - q) / (1 + q), q = sqrt(1 - s), where s is scattered evenly. */
static double soaked_grains(double r)
{
    double q = (1.0 - r) / (1.0 + r), s = 1.0 - q * q;
    s = 0.15 * s / (1.0 - 0.85 * s);
    q = sqrt(1.0 - s);
    return (1.0 - q) / (1.0 + q);
}

/* Soaked sand is as dark as in [LD88]: a film of water transmits 1 - R of diffuse light; inside, a is
 * absorbed at every reflection and p returns. The grains themselves scatter forward, by the similarity
 * relations: with g = 0.85 a single-scattering albedo s is 0.15 s / (1 - 0.85 s). */
static void soaked_sand_is_darker(void **unused)
{
    (void)unused;
    WadiLook sand = wadi_look_sand(wadi_grey(0.45f));
    sand.index = 1.33f;
    sand.coat_roughness = 0.2f;
    WadiBsdf bsdf = wadi_bsdf_of_look(&sand, sand.colour, 1.0f, 1.0f);
    double sum = 0.0, weights = 0.0;
    for (int angle = 5; angle < 90; angle += 10) {
        double density, a = angle * pi / 180.0;
        sum += albedo_towards(&bsdf, tilted(angle), &density) * sin(a) * cos(a);
        weights += sin(a) * cos(a);
    }
    double outside = 0.066, p = 1.0 - (1.0 - outside) / (1.33 * 1.33), taken = 1.0 - soaked_grains(0.45);
    double expected = 1.0 - (1.0 - outside) * taken / (1.0 - p * (1.0 - taken));
    CHECK_NEAR(sum / weights, expected, 0.015);
    /* Under water the film is the water. */
    WadiBsdf under = wadi_bsdf_of_look(&sand, sand.colour, 1.0f, 1.33f);
    CHECK_NEAR((double)under.albedo.x, soaked_grains(0.45), 1e-6);
    assert_true(under.coat == 0.0f);
}

/* Beach sand as it is seen, a bed of grains: moist, at 0.4, it is clearly darker than dry and has no gloss;
 * soaked it is less than half as bright as dry and clearly darker than moist. White stays white. */
static void moist_and_soaked_sand_can_be_told_apart(void **unused)
{
    (void)unused;
    WadiLook sand = wadi_look_sand(wadi_grey(0.6f));
    sand.grain_size = 0.0004f;
    double albedo[3];
    for (int n = 0; n < 3; ++n) {
        WadiBsdf bsdf = wadi_bsdf_of_look(&sand, sand.colour, (float[]){ 0.0f, 0.4f, 1.0f }[n], 1.0f);
        assert_true((bsdf.coat > 0.0f) == (n == 2));
        bsdf.coat = 0.0f; /* without the mirror of the film */
        double density;
        albedo[n] = albedo_towards(&bsdf, tilted(40.0), &density);
    }
    assert_true(albedo[1] < 0.78 * albedo[0] && albedo[1] > 0.6 * albedo[0]);
    assert_true(albedo[2] < 0.5 * albedo[0] && albedo[2] < 0.7 * albedo[1]);
    for (int n = 0; n <= 4; ++n) {
        CHECK_NEAR((double)wadi_wet_grains(1.0f, 0.25f * (float)n), 1.0, 1e-6);
        CHECK_NEAR((double)wadi_wet_grains(0.0f, 0.25f * (float)n), 0.0, 1e-6);
    }
}

/* Of 2^k points, every box of 2^-a by 2^-(k - a) has one. */
static void sample_points_are_stratified(void **unused)
{
    (void)unused;
    for (uint64_t pixel = 0; pixel < 4; ++pixel) {
        for (int k = 1; k <= 10; ++k) {
            for (int a = 0; a <= k; ++a) {
                int wide = 1 << a, high = 1 << (k - a), hit[1024] = { 0 };
                for (uint32_t i = 0; i < 1u << k; ++i) {
                    WadiSampler sampler = { .pixel = pixel * 7919, .sample = i, .pair = (uint32_t)pixel };
                    float u[2];
                    wadi_sampler_next2(&sampler, u);
                    assert_true(u[0] >= 0.0f && u[0] < 1.0f && u[1] >= 0.0f && u[1] < 1.0f);
                    ++hit[(int)(u[0] * (float)wide) * high + (int)(u[1] * (float)high)];
                }
                for (int i = 0; i < 1 << k; ++i) {
                    assert_int_equal(hit[i], 1);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_base_sends_everything_back),
        cmocka_unit_test(nothing_sends_back_more_than_it_gets),
        cmocka_unit_test(drawn_directions_give_the_integral),
        cmocka_unit_test(surfaces_are_reciprocal),
        cmocka_unit_test(fresnel_has_its_known_values),
        cmocka_unit_test(fresnel_inside_is_the_integral),
        cmocka_unit_test(soaked_sand_is_darker),
        cmocka_unit_test(moist_and_soaked_sand_can_be_told_apart),
        cmocka_unit_test(sample_points_are_stratified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
