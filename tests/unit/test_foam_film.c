/* render/points/foam_film: what part of water foam covers, near and far, and how bright it is. */
#include "core/parallel.h"
#include "core/random.h"
#include "picture.h"
#include "render/points/foam_film.h"

enum { MANY = 4000 };

static WadiFoamFilm film_of(const WadiFoamPatch *patches, size_t count)
{
    WadiFoamFilm film;
    assert_int_equal(wadi_foam_film_build(&film, patches, count, NULL), WADI_OK);
    return film;
}

/* Patches of radius 0.05 at random places of the square from 0 to 1, in the plane z = 0. */
static void scatter(WadiFoamPatch *patches, int count)
{
    for (int i = 0; i < count; ++i) {
        double u[3];
        wadi_random_unit3(7, (uint64_t)i, WADI_RANDOM_GRAIN, u);
        patches[i] = (WadiFoamPatch){ { (float)u[0], (float)u[1], 0.0f }, 0.05f, (uint32_t)i };
    }
}

/* Mean over the middle of the square. */
static double mean_cover(const WadiFoamFilm *film, float width)
{
    const WadiVec3f up = { 0, 0, 1 };
    double sum = 0.0;
    for (int i = 0; i < 160 * 160; ++i) {
        WadiVec3f at = { 0.1f + 0.8f * (float)(i % 160) / 160.0f, 0.1f + 0.8f * (float)(i / 160) / 160.0f,
                         0 };
        float cover = wadi_foam_film_cover(film, at, up, width);
        assert_true(cover >= 0.0f && cover <= 1.0f);
        sum += (double)cover / (160.0 * 160.0);
    }
    return sum;
}

static void a_patch_is_soft_and_flat(void **unused)
{
    (void)unused;
    const WadiFoamPatch patches[3] = { { { 1, 2, 3 }, 0.1f, 5 },
                                       { { NAN, 0, 0 }, 0.1f, 6 },
                                       { { 0, 0, 0 }, -1.0f, 7 } };
    WadiFoamFilm film = film_of(patches, 3);
    assert_int_equal(film.count, 1);
    const WadiVec3f up = { 0, 0, 1 };
    float before = 1.0f;
    for (int i = 0; i <= 10; ++i) { /* from the middle to the edge, seen from far */
        float cover = wadi_foam_film_cover(&film, wadi_vec3f(1.0f + 0.01f * (float)i, 2, 3), up, 1.0f);
        assert_true(cover < before);
        before = cover;
    }
    assert_true(before < 1e-6f);
    /* Half of the radius above its plane it covers as a quarter of the radius beside its middle. */
    assert_true(fabsf(wadi_foam_film_cover(&film, wadi_vec3f(1, 2, 3.05f), up, 1.0f) -
                      wadi_foam_film_cover(&film, wadi_vec3f(1.025f, 2, 3), up, 1.0f)) < 1e-5f);
    wadi_foam_film_free(&film);
    film = film_of(NULL, 0);
    assert_true(wadi_foam_film_cover(&film, wadi_vec3f(0, 0, 0), up, 1.0f) == 0.0f);
    wadi_foam_film_free(&film);
}

/* A patch has the depth 0.5 (1 - q)^2 over its disc. n patches of area a at random leave the
 * part of the surface that a Poisson process leaves: with depth t(q) each, exp(-n a <1 - exp(-t)>). */
static void cover_near_and_far_is_that_of_random_patches(void **unused)
{
    (void)unused;
    static WadiFoamPatch patches[MANY];
    static const int counts[3] = { 60, 200, 800 };
    double stopped = 0.0;
    for (int i = 0; i < 1000; ++i) {
        double q = (i + 0.5) / 1000.0;
        stopped += (1.0 - exp(-0.5 * (1.0 - q) * (1.0 - q))) / 1000.0;
    }
    for (int k = 0; k < 3; ++k) {
        scatter(patches, counts[k]);
        WadiFoamFilm film = film_of(patches, (size_t)counts[k]);
        double expected = 1.0 - exp(-counts[k] * 3.14159265 * 0.05 * 0.05 * stopped);
        double far = mean_cover(&film, 1.0f), near = mean_cover(&film, 1e-4f);
        CHECK_NEAR(far, expected, 0.1 * expected); /* where they happen to lie */
        CHECK_NEAR(near, far, 0.06 * far);
        wadi_foam_film_free(&film);
    }
}

/* Water under thick foam in even light has the colour of foam, from above and from inside; under none it is
 * as bright as the light. */
static void foam_is_white_in_a_furnace(void **unused)
{
    (void)unused;
    WadiLook look = wadi_look_water(0.0);
    PictureBox water = picture_box(wadi_vec3(-1, -1, -0.5), wadi_vec3(1, 1, 0.0), 0.0);
    WadiTraceMesh mesh = picture_box_mesh(&water, 0);
    static WadiFoamPatch patches[MANY];
    scatter(patches, MANY);
    for (int i = 0; i < MANY; ++i) {
        patches[i].position =
            wadi_vec3f(2.0f * patches[i].position.x - 1.0f, 2.0f * patches[i].position.y - 1.0f, 0.0f);
        patches[i].radius = 0.2f;
    }
    for (int has_foam = 0; has_foam < 2; ++has_foam) {
        WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
        scene.meshes = &mesh;
        scene.mesh_count = 1;
        scene.foam = patches;
        scene.foam_count = has_foam ? MANY : 0;
        WadiCamera camera = picture_camera(wadi_vec3(0.2, -1, 3), wadi_vec3(0, 0, 0), 8.0);
        WadiTraceQuality quality = { .samples = 64, .depth = 64 };
        WadiFilm film[2];
        for (int n = 0; n < 2; ++n) {
            wadi_parallel_set_threads(n == 0 ? 1 : 5);
            film[n] = picture_take(&scene, &camera, 24, 24, &quality);
        }
        wadi_parallel_set_threads(0);
        assert_memory_equal(film[0].light, film[1].light, 24 * 24 * sizeof *film[0].light);
        double expected = has_foam ? (double)wadi_look_foam().colour.y : 1.0;
        CHECK_NEAR(picture_mean(&film[0], 0, 0, 24, 24), expected, 0.01);
        wadi_film_free(&film[0]);
        wadi_film_free(&film[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_is_soft_and_flat),
        cmocka_unit_test(cover_near_and_far_is_that_of_random_patches),
        cmocka_unit_test(foam_is_white_in_a_furnace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
