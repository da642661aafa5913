/* The filter of films: removes noise and preserves means, colours and edges. */
#include "core/random.h"
#include "expect.h"
#include "render/trace/denoise.h"

enum { WIDTH = 64, HEIGHT = 48 };

/* A wall seen straight on, lit by 1 on the left half and `right` on the other, with noise of a fifth of it.
 * Halves differ in their normals. */
static WadiFilm make_film(double right)
{
    WadiFilm film;
    assert_int_equal(wadi_film_init(&film, WIDTH, HEIGHT, NULL), WADI_OK);
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) {
            int i = y * WIDTH + x;
            double u[3], level = x < WIDTH / 2 ? 1.0 : right, colour = (x / 4 + y / 4) % 2 == 0 ? 0.2 : 0.8;
            wadi_random_unit3(3, (uint64_t)i, WADI_RANDOM_TEST, u);
            double noise = 0.2 * level * (u[0] + u[1] + u[2] - 1.5) * 2.0; /* deviation: 0.2 of the level */
            film.albedo[i] = wadi_grey((float)colour);
            film.light[i] = wadi_grey((float)(colour * (level + noise)));
            film.variance[i] = (float)(0.04 * level * level * colour * colour);
            film.normal[i] = x < WIDTH / 2 || right == 1.0 ? wadi_vec3f(0, 0, 1) : wadi_vec3f(1, 0, 0);
            film.distance[i] = 5.0f;
        }
    }
    return film;
}

/* Mean and deviation of light over colour. */
static void measure(const WadiFilm *film, int left, int right, double *mean, double *deviation)
{
    double sum = 0.0, square = 0.0, count = 0.0;
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = left; x < right; ++x) {
            double value = (double)(film->light[y * WIDTH + x].y / film->albedo[y * WIDTH + x].y);
            sum += value, square += value * value, count += 1.0;
        }
    }
    *mean = sum / count;
    *deviation = sqrt(fmax(square / count - *mean * *mean, 0.0));
}

static void noise_is_removed_and_colours_preserved(void **unused)
{
    (void)unused;
    WadiFilm film = make_film(1.0);
    double mean[2], deviation[2];
    measure(&film, 0, WIDTH, &mean[0], &deviation[0]);
    CHECK_NEAR(deviation[0], 0.2, 0.01);
    assert_int_equal(wadi_film_denoise(&film, NULL), WADI_OK);
    /* If a colour were smeared over a checker's edge, light over colour would be 4 times too bright or dark
     * there. */
    measure(&film, 0, WIDTH, &mean[1], &deviation[1]);
    CHECK_NEAR(mean[1], mean[0], 0.01);
    CHECK_AT_MOST(deviation[1], 0.25 * deviation[0]);
    wadi_film_free(&film);
}

static void edges_of_shapes_are_preserved(void **unused)
{
    (void)unused;
    WadiFilm film = make_film(3.0);
    assert_int_equal(wadi_film_denoise(&film, NULL), WADI_OK);
    double mean, deviation;
    measure(&film, WIDTH / 2 - 2, WIDTH / 2, &mean, &deviation);
    CHECK_NEAR(mean, 1.0, 0.05);
    measure(&film, WIDTH / 2, WIDTH / 2 + 2, &mean, &deviation);
    CHECK_NEAR(mean, 3.0, 0.15);
    wadi_film_free(&film);
}

/* Without noise nothing changes, and black stays black. */
static void clean_films_are_unchanged(void **unused)
{
    (void)unused;
    WadiFilm film;
    assert_int_equal(wadi_film_init(&film, 5, 3, NULL), WADI_OK);
    assert_int_equal(wadi_film_denoise(&film, NULL), WADI_OK);
    for (int i = 0; i < 15; ++i) {
        assert_true(film.light[i].x == 0.0f);
        film.light[i] = wadi_vec3f(0.3f * (float)i, 0.1f * (float)i, 0.05f);
        film.albedo[i] = wadi_grey(1.0f);
    }
    assert_int_equal(wadi_film_denoise(&film, NULL), WADI_OK);
    for (int i = 0; i < 15; ++i) {
        CHECK_NEAR((double)film.light[i].x, 0.3 * i, 0.003 * i + 1e-6);
    }
    wadi_film_free(&film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_removed_and_colours_preserved),
        cmocka_unit_test(edges_of_shapes_are_preserved),
        cmocka_unit_test(clean_films_are_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
