/* `render.shutter_steps`: motion blur by moved particles. A drop that flies straight is blurred alike by
 * moved vertices and by moved particles, and the film of several parts is their mean. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "io_scratch.h"
#include "render/image/image.h"
#include "render/trace/film.h"
#include "wadi/render.h"

enum { WIDTH = 96, HEIGHT = 48 };

static const char *make_run(void)
{
    static char run[1024];
    static const char text[] =
        "wadi: 1\nname: drop\nsolver: points\nframes: 1\nfps: 10\ncell_size: 0.1\ngravity: [0, 0, 0]\n"
        "materials: {milk: {kind: water, look: {style: surface, cloudiness: 1}}}\n"
        "bodies: [{material: milk, velocity: [6, 0, 0], shape: {sphere: {radius: 0.3}}}]\n"
        "render: {width: 96, height: 48, ground: none,\n"
        "  camera: {from: [0, -4, 0], to: [0, 0, 0], angle: 30}}\n";
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = text;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiRunDef run_def = wadi_default_run_def();
    snprintf(run, sizeof run, "%s/drop.run", scratch);
    run_def.folder = run;
    CHECK_OK(wadi_run(scene, &run_def, NULL, &error), error);
    wadi_scene_destroy(scene);
    return run;
}

static WadiImage draw(const char *run, const char *shutter, const char *steps)
{
    const char *const sets[] = { shutter, steps };
    WadiRenderDef def = wadi_default_render_def();
    def.sets = sets;
    def.set_count = 2;
    def.samples = 64;
    def.has_video = false;
    def.is_forced = true;
    def.threads = 1;
    WadiRenderReport report;
    WadiError error = { 0 };
    CHECK_OK(wadi_render(run, &def, &report, &error), error);
    char path[4200];
    WadiImage image;
    snprintf(path, sizeof path, "%s/drop.0001.png", report.folder);
    CHECK_OK(wadi_image_read_png(&image, path, &error), error);
    return image;
}

/* Mean difference of the levels of two pictures in the rows of the drop. */
static double difference(const WadiImage *a, const WadiImage *b)
{
    double sum = 0.0;
    const int first = 3 * WIDTH * HEIGHT / 3, end = 3 * WIDTH * 2 * HEIGHT / 3;
    for (int i = first; i < end; ++i) {
        sum += abs(a->rgb[i] - b->rgb[i]);
    }
    return sum / (end - first);
}

static void a_drop_is_blurred_alike_by_vertices_and_by_particles(void **unused)
{
    (void)unused;
    const char *run = make_run();
    WadiImage sharp = draw(run, "render.shutter=0", "render.shutter_steps=8"),
              vertices = draw(run, "render.shutter=1", "render.shutter_steps=1"),
              particles = draw(run, "render.shutter=1", "render.shutter_steps=8");
    const double blur = difference(&sharp, &vertices), apart = difference(&vertices, &particles);
    print_message("the blur changes %.1f levels, its kind %.1f\n", blur, apart);
    assert_true(blur > 2.0);
    CHECK_AT_MOST(apart, 0.25 * blur);
    wadi_image_free(&sharp);
    wadi_image_free(&vertices);
    wadi_image_free(&particles);
}

static void a_film_of_parts_is_their_mean(void **unused)
{
    (void)unused;
    WadiFilm film = { 0 }, part = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_film_init(&film, 3, 2, &error), error);
    CHECK_OK(wadi_film_init(&part, 3, 2, &error), error);
    film.light[5].y = 100.0f; /* of an older picture */
    for (int k = 0; k < 4; ++k) {
        part.light[5].y = (float)(k + 1);
        part.distance[2] = (float)(8 * k);
        part.variance[1] = 4.0f;
        wadi_film_add(&film, &part, k, 4);
    }
    CHECK_NEAR(film.light[5].y, 2.5, 1e-6);
    CHECK_NEAR(film.distance[2], 12.0, 1e-6);
    CHECK_NEAR(film.variance[1], 1.0, 1e-6); /* of a mean of four */
    wadi_film_free(&film);
    wadi_film_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drop_is_blurred_alike_by_vertices_and_by_particles),
        cmocka_unit_test(a_film_of_parts_is_their_mean),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
