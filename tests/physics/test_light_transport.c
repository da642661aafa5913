/* The path tracer against optics with known answers: furnaces, Lambert's sphere, Snell's offset, Beer and
 * Lambert's absorption, Fresnel's losses, a bed under water, the sun's disc, blur by motion and by the
 * lens. */
#include "core/parallel.h"
#include "picture.h"
#include "render/trace/bsdf.h"
#include "render/trace/tracer_internal.h"

static const double pi = 3.14159265358979323846;

static const float one_sphere[1][4] = { { 0.0f, 0.0f, 0.0f, 1.0f } };

static WadiTraceSpheres sphere_set(const float (*sphere)[4], size_t count)
{
    return (WadiTraceSpheres){ .count = count, .sphere = sphere };
}

/* White, in even light: nothing is to be seen. Lambert, rough, and several that face each other. */
static void white_spheres_vanish_in_a_furnace(void **unused)
{
    (void)unused;
    static const float heap[4][4] = { { 0.0f, 0.0f, 0.0f, 1.0f },
                                      { 1.5f, 0.0f, 0.0f, 0.5f },
                                      { 0.0f, 1.3f, 0.4f, 0.4f },
                                      { 0.7f, 0.8f, 0.9f, 0.3f } };
    for (int kind = 0; kind < 3; ++kind) {
        WadiLook look = picture_matt(1.0f);
        look.diffuse_roughness = kind == 1 ? 1.0f : 0.0f;
        WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
        WadiTraceSpheres set = sphere_set(kind == 2 ? heap : one_sphere, kind == 2 ? 4 : 1);
        scene.spheres = &set;
        scene.spheres_count = 1;
        WadiCamera camera = picture_camera(wadi_vec3(4, 5, 3), wadi_vec3(0.3, 0.3, 0), 25.0);
        WadiTraceQuality quality = { .samples = 64, .depth = 64 };
        WadiFilm film = picture_take(&scene, &camera, 32, 32, &quality);
        CHECK_NEAR(picture_mean(&film, 0, 0, 32, 32), 1.0, 0.003);
        CHECK_NEAR(picture_mean(&film, 12, 12, 20, 20), 1.0, 0.006);
        for (int i = 0; i < 32 * 32; ++i) {
            CHECK_NEAR((double)film.light[i].x, 1.0, 0.25);
        }
        wadi_film_free(&film);
    }
}

static void glossy_spheres_lose_light_in_a_furnace(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; ++kind) {
        WadiLook look = kind == 2 ? wadi_look_sand(wadi_grey(1.0f)) : wadi_look_plain(wadi_grey(1.0f));
        look.coat = 1.0f;
        look.coat_roughness = kind == 1 ? 1.0f : 0.3f;
        WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
        WadiTraceSpheres set = sphere_set(one_sphere, 1);
        WadiTraceColour soaked = { 255, 255, 255, 255 };
        set.colour = kind == 2 ? &soaked : NULL;
        scene.spheres = &set;
        scene.spheres_count = 1;
        WadiCamera camera = picture_camera(wadi_vec3(4, 5, 3), wadi_vec3(0, 0, 0), 10.0);
        WadiTraceQuality quality = { .samples = 256, .depth = 8 };
        WadiFilm film = picture_take(&scene, &camera, 16, 16, &quality);
        double mean = picture_mean(&film, 0, 0, 16, 16);
        assert_true(mean < 1.002 && mean > 0.85);
        wadi_film_free(&film);
    }
}

/* Clear water in even light is as bright as the light, whatever its shape; and so are a white bed under it
 * and white balls in it. */
static void clear_water_vanishes_in_a_furnace(void **unused)
{
    (void)unused;
    WadiLook looks[3] = { wadi_look_water(0.0), picture_matt(1.0f), wadi_look_glass() };
    looks[2].colour = wadi_grey(1.0f);
    PictureBox water = picture_box(wadi_vec3(-1, -1, -0.5), wadi_vec3(1, 1, 0.5), 0.0);
    PictureBox glass =
        picture_box(wadi_vec3(-1, -1, -0.5), wadi_vec3(1, 1, 0.5), 0.0); /* in the same planes */
    WadiTraceMesh meshes[2] = { picture_box_mesh(&water, 0), picture_box_mesh(&glass, 2) };
    static const float balls[2][4] = { { 0.3f, 0.2f, 0.0f, 0.3f }, { -0.4f, 0.0f, 0.4f, 0.3f } };
    WadiTraceSpheres set = sphere_set(balls, 2);
    for (int kind = 0; kind < 5; ++kind) {
        set.look = kind == 4 ? 0 : 1; /* at last drops of water in water, one of them half out of it */
        WadiTraceScene scene = picture_scene(looks, 3, 1.0f);
        scene.meshes = meshes;
        scene.mesh_count = kind >= 3 ? 2 : 1;
        scene.spheres = &set;
        scene.spheres_count = kind >= 1 ? 1 : 0;
        scene.ground = (WadiTraceGround){
            .is_present = kind >= 2, .height = -0.3, .look = picture_matt(1.0f), .wetness = 0.0f
        };
        WadiCamera camera = picture_camera(wadi_vec3(3, -4, 2), wadi_vec3(0, 0, 0), 20.0);
        WadiTraceQuality quality = { .samples = 64, .depth = 64 };
        WadiFilm film = picture_take(&scene, &camera, 32, 32, &quality);
        CHECK_NEAR(picture_mean(&film, 0, 0, 32, 32), 1.0, kind == 0 ? 1e-4 : 0.01);
        wadi_film_free(&film);
        if (kind == 0) { /* also when paths are given up inside */
            quality.depth = 1;
            film = picture_take(&scene, &camera, 32, 32, &quality);
            CHECK_NEAR(picture_mean(&film, 0, 0, 32, 32), 1.0, 1e-4);
            wadi_film_free(&film);
        }
    }
}

/* Deep water over a black bed in even light shows what it reflects, by Fresnel's law in every pixel: four
 * paths, and no speckle. The same behind a sheet of glass, which reflects as well. */
static void few_paths_do_not_speckle(void **unused)
{
    (void)unused;
    enum { SIZE = 24 };
    WadiLook looks[2] = { wadi_look_water(0.0), wadi_look_glass() };
    looks[1].colour = wadi_grey(1.0f);
    PictureBox water = picture_box(wadi_vec3(-50, -50, -2), wadi_vec3(50, 50, 0), 0.0);
    static const uint32_t sheet[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    static const WadiVec3 corners[4] = { { -50, -50, 1 }, { 50, -50, 1 }, { 50, 50, 1 }, { -50, 50, 1 } };
    WadiTraceMesh meshes[2] = {
        picture_box_mesh(&water, 0),
        { .vertex_count = 4, .triangle_count = 2, .vertices = corners, .triangles = sheet, .look = 1 }
    };
    for (int kind = 0; kind < 2; ++kind) {
        WadiTraceScene scene = picture_scene(looks, 2, 1.0f);
        scene.meshes = meshes;
        scene.mesh_count = 1 + kind;
        scene.ground = (WadiTraceGround){
            .is_present = true, .height = -1.0, .look = picture_matt(0.0f), .wetness = 0.0f
        };
        WadiCamera camera = picture_camera(wadi_vec3(0, -8, 6), wadi_vec3(0, 0, 0), 2.0);
        WadiTraceQuality quality = { .samples = 4, .depth = 2 };
        WadiFilm film = picture_take(&scene, &camera, SIZE, SIZE, &quality);
        double f = (double)wadi_fresnel(0.6f, 1.333f), sheet_f = (double)wadi_fresnel(0.6f, 1.5f);
        sheet_f = 2.0 * sheet_f / (1.0 + sheet_f);
        /* A little less: some of what the water reflects comes back from the sheet. */
        double expected = kind == 0 ? f : sheet_f + (1.0 - sheet_f) * f;
        for (int i = 0; i < SIZE * SIZE; ++i) {
            CHECK_NEAR((double)film.light[i].y, expected, 0.1 * expected);
        }
        wadi_film_free(&film);
    }
}

/* albedo / pi * E * cos of the angle between the normal and the sun, at every pixel away from rim and
 * terminator. */
static void sphere_in_the_sun_follows_lambert(void **unused)
{
    (void)unused;
    enum { SIZE = 48 };
    WadiLook look = picture_matt(0.7f);
    WadiTraceScene scene = picture_scene(&look, 1, 0.0f);
    scene.light.sun = wadi_vec3(1, -0.5, 0.8);
    scene.light.sun_angle = 0.1;
    scene.light.sun_light = wadi_grey(3.0f);
    WadiTraceSpheres set = sphere_set(one_sphere, 1);
    scene.spheres = &set;
    scene.spheres_count = 1;
    double away = 200.0, half = 1.05 / away; /* far away: rays are parallel */
    WadiCamera camera =
        picture_camera(wadi_vec3(0, -away, 0), wadi_vec3(0, 0, 0), 2.0 * atan(half) * 180.0 / pi);
    WadiTraceQuality quality = { .samples = 64, .depth = 2 };
    WadiFilm film = picture_take(&scene, &camera, SIZE, SIZE, &quality);
    WadiVec3 sun = wadi_normalized_or(scene.light.sun, wadi_vec3(0, 0, 1));
    int checked = 0;
    for (int y = 0; y < SIZE; ++y) {
        for (int x = 0; x < SIZE; ++x) {
            double a = 1.05 * (2.0 * (x + 0.5) / SIZE - 1.0), b = 1.05 * (1.0 - 2.0 * (y + 0.5) / SIZE);
            double square = a * a + b * b;
            if (square > 0.7) {
                continue;
            }
            double cosine = wadi_dot(wadi_vec3(a, -sqrt(1.0 - square), b), sun);
            double light = (double)film.light[y * SIZE + x].y;
            if (cosine > 0.2) {
                CHECK_NEAR(light, 0.7 / pi * 3.0 * cosine, 0.01 * 0.7 / pi * 3.0);
                ++checked;
            } else if (cosine < -0.1) {
                assert_true(light == 0.0);
            }
        }
    }
    assert_true(checked > 500);
    wadi_film_free(&film);
}

/* The light that arrives from the whole disc is what the definition says, for a small and a large sun. */
static void sun_disc_has_its_energy(void **unused)
{
    (void)unused;
    enum { SIZE = 64 };
    for (int kind = 0; kind < 2; ++kind) {
        WadiTraceScene scene = picture_scene(NULL, 0, 0.0f);
        scene.light.sun = wadi_vec3(0, 1, 0);
        scene.light.sun_angle = kind == 0 ? 0.53 : 10.0;
        scene.light.sun_light = wadi_grey(2.0f);
        double angle = 1.5 * scene.light.sun_angle, half = tan(0.5 * angle * pi / 180.0);
        WadiCamera camera = picture_camera(wadi_vec3(0, 0, 0), wadi_vec3(0, 1, 0), angle);
        WadiTraceQuality quality = { .samples = 64, .depth = 1 };
        WadiFilm film = picture_take(&scene, &camera, SIZE, SIZE, &quality);
        double sum = 0.0;
        for (int y = 0; y < SIZE; ++y) {
            for (int x = 0; x < SIZE; ++x) {
                double a = half * (2.0 * (x + 0.5) / SIZE - 1.0), b = half * (2.0 * (y + 0.5) / SIZE - 1.0);
                double solid = pow(2.0 * half / SIZE, 2) / pow(1.0 + a * a + b * b, 1.5);
                sum += solid * (double)film.light[y * SIZE + x].y;
            }
        }
        CHECK_NEAR(sum, 2.0, 0.01);
        wadi_film_free(&film);
    }
}

/* A glossy plane under a wide sun, where both ways of drawing directions have weight, against the integral
 * over the disc. */
static void glossy_plane_under_a_wide_sun(void **unused)
{
    (void)unused;
    WadiLook look = wadi_look_plain(wadi_grey(0.3f));
    look.coat = 1.0f;
    for (int kind = 0; kind < 3; ++kind) {
        look.coat_roughness = (float[]){ 0.15f, 0.35f, 0.8f }[kind];
        WadiTraceScene scene = picture_scene(NULL, 0, 0.0f);
        scene.ground = (WadiTraceGround){ .is_present = true, .height = 0.0, .look = look, .wetness = 0.0f };
        scene.light.sun = wadi_vec3(0, 1, 1);
        scene.light.sun_angle = 8.0;
        scene.light.sun_light = wadi_grey(1.0f);
        double value = picture_value(&scene, wadi_vec3(0, -10, 9), wadi_vec3(0, 0, 0), 256, 2);
        WadiBsdf bsdf = wadi_bsdf_of_look(&look, look.colour, 0.0f, 1.0f);
        double length = sqrt(181.0), half = 4.0 * pi / 180.0, solid = 2.0 * pi * (1.0 - cos(half)), sum = 0.0;
        WadiVec3f out = { 0.0f, (float)(-10.0 / length), (float)(9.0 / length) };
        enum { STEPS = 400 };
        for (int j = 0; j < STEPS; ++j) {
            double c = 1.0 - (1.0 - cos(half)) * (j + 0.5) / STEPS, s = sqrt(1.0 - c * c);
            for (int i = 0; i < STEPS; ++i) {
                double phi = 2.0 * pi * (i + 0.5) / STEPS, x = s * cos(phi), y = s * sin(phi), h = sqrt(0.5);
                float pdf;
                WadiVec3f in = { (float)x, (float)(h * c - h * y), (float)(h * c + h * y) };
                sum += (double)wadi_bsdf_eval(&bsdf, out, in, &pdf).y / solid * solid / (STEPS * STEPS);
            }
        }
        CHECK_NEAR(value, sum, 0.01 * sum);
    }
}

/* Where an edge behind a tilted slab of water is seen: beside its place by d sin i (1 - cos i / sqrt(n^2 -
 * sin^2 i)). */
static void slab_shifts_an_edge(void **unused)
{
    (void)unused;
    enum { WIDTH = 200, HEIGHT = 4 };
    double thickness = 0.5, incidence = 45.0 * pi / 180.0, away = 100.0, width = 2.0, edge[2];
    WadiLook looks[3] = { wadi_look_water(0.0), picture_matt(1.0f), picture_matt(0.0f) };
    PictureBox slab = picture_box(wadi_vec3(-3, -3, 2.0 - 0.5 * thickness),
                                  wadi_vec3(3, 3, 2.0 + 0.5 * thickness), incidence);
    PictureBox black = picture_box(wadi_vec3(-9, -9, -4), wadi_vec3(0, 9, -3), 0.0);
    PictureBox white = picture_box(wadi_vec3(0, -9, -4), wadi_vec3(9, 9, -3), 0.0);
    WadiTraceMesh meshes[3] = { picture_box_mesh(&black, 2), picture_box_mesh(&white, 1),
                                picture_box_mesh(&slab, 0) };
    for (int k = 0; k < 2; ++k) {
        WadiTraceScene scene = picture_scene(looks, 3, 0.0f);
        scene.meshes = meshes;
        scene.mesh_count = 2 + k;
        /* Sun only, from the camera's side: through water it goes straight, so that the boards are evenly
         * lit. */
        scene.light.sun = wadi_vec3(0, 0, 1);
        scene.light.sun_light = wadi_grey(1.0f);
        double view = 2.0 * atan(0.5 * width * HEIGHT / WIDTH / (away + 3.0)) * 180.0 / pi;
        WadiCamera camera = picture_camera(wadi_vec3(0, 0, away), wadi_vec3(0, 0, -3), view);
        camera.up = wadi_vec3(0, 1, 0);
        WadiTraceQuality quality = { .samples = 256, .depth = 1 };
        WadiFilm film = picture_take(&scene, &camera, WIDTH, HEIGHT, &quality);
        double bright = picture_mean(&film, WIDTH - 30, 0, WIDTH - 10, HEIGHT);
        assert_true(bright > 0.2);
        edge[k] =
            WIDTH * (1.0 - picture_mean(&film, 0, 0, WIDTH, HEIGHT) / bright); /* pixels from the left */
        wadi_film_free(&film);
    }
    double n = (double)looks[0].index, s = sin(incidence), c = cos(incidence);
    double shift = thickness * s * (1.0 - c / sqrt(n * n - s * s)) / (width / WIDTH);
    CHECK_NEAR(edge[0], 0.5 * WIDTH, 0.1);
    /* A turn about y by +45 degrees lifts the side of -x towards the camera: the line of sight moves to +x in
     * the slab, so the edge at x = 0 is seen at -x. */
    assert_true(shift > 10.0);
    CHECK_NEAR(fabs(edge[1] - edge[0]), shift, 0.5);
}

/* Through d metres of water and its two faces, at right angles: (1 - F)^2 exp(-a d). */
static void slab_absorbs_and_reflects(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; ++k) {
        double absorption = 0.8 * k, thickness = 0.7;
        WadiLook look = wadi_look_water(0.0);
        look.index = 1.33f;
        look.absorption = wadi_grey((float)absorption);
        PictureBox slab = picture_box(wadi_vec3(-3, -3, 0), wadi_vec3(3, 3, thickness), 0.0);
        WadiTraceMesh mesh = picture_box_mesh(&slab, 0);
        WadiTraceScene scene = picture_scene(&look, 1, 0.0f);
        scene.meshes = &mesh;
        scene.mesh_count = 1;
        scene.light.has_backdrop = true; /* seen by what is not reflected */
        scene.light.backdrop = wadi_grey(1.0f);
        double f = pow(0.33 / 2.33, 2), t = exp(-absorption * thickness);
        double value = picture_value(&scene, wadi_vec3(0, 0, 20), wadi_vec3(0, 0, 0), 1024, 16);
        CHECK_NEAR(value, (1.0 - f) * (1.0 - f) * t, 0.001);
        /* In even light everything counts: what passes and what is thrown back, between the faces again and
         * again. */
        scene.light.has_backdrop = false;
        scene.light.colour = wadi_grey(1.0f);
        double passed = (1.0 - f) * (1.0 - f) * t / (1.0 - f * f * t * t);
        double back = f + (1.0 - f) * (1.0 - f) * f * t * t / (1.0 - f * f * t * t);
        CHECK_NEAR(picture_value(&scene, wadi_vec3(0, 0, 20), wadi_vec3(0, 0, 0), 1024, 16), passed + back,
                   0.001);
        /* A shadow ray through it. */
        WadiLook bed = picture_matt(0.5f);
        scene.ground = (WadiTraceGround){ .is_present = true, .height = -1.0, .look = bed, .wetness = 0.0f };
        scene.light.colour = wadi_grey(0.0f);
        scene.light.sun = wadi_vec3(0, 0, 1);
        scene.light.sun_light = wadi_grey((float)pi);
        value = picture_value(&scene, wadi_vec3(2, 0, -0.3), wadi_vec3(0, 0, -1), 256, 1);
        CHECK_NEAR(value, 0.5 * (1.0 - f) * (1.0 - f) * t, 0.002);
    }
}

/* A wide bed under level water in the sun: what enters, T(sun) E cos, is sent up by the bed, kept inside by
 * the surface for a part p, again and again, and 1 / n^2 of its radiance leaves through T(view) [LD88]. */
/* Straight down into hazy water over a black floor, in uniform light L: besides the mirror's F L the eye sees
 * c L k / (k + a) (1 - exp(-(k + a) d)) of the haze, through the surface. */
static void haze_glows_by_the_length_of_the_way(void **unused)
{
    (void)unused;
    const double absorption = 0.7, haze = 1.3, colour = 0.4, light = 2.0;
    for (int n = 0; n < 3; ++n) {
        double depth = n == 0 ? 0.2 : n == 1 ? 1.0 : 20.0;
        WadiLook looks[2] = { wadi_look_water(0.0), picture_matt(0.0f) };
        looks[0].absorption = wadi_grey((float)absorption);
        looks[0].haze = (float)haze;
        looks[0].haze_colour = wadi_grey((float)colour);
        WadiTraceScene scene = picture_scene(looks, 2, (float)light);
        PictureBox water = picture_box(wadi_vec3(-50, -50, -depth), wadi_vec3(50, 50, 0), 0.0),
                   floor = picture_box(wadi_vec3(-60, -60, -depth - 1.0), wadi_vec3(60, 60, -depth), 0.0);
        WadiTraceMesh meshes[2] = { picture_box_mesh(&water, 0), picture_box_mesh(&floor, 1) };
        scene.meshes = meshes;
        scene.mesh_count = 2;
        double mirror = (double)wadi_fresnel(1.0f, looks[0].index), sum = absorption + haze;
        double expected = light * (mirror + (1.0 - mirror) * colour * haze / sum * (1.0 - exp(-sum * depth)));
        double found = picture_value(&scene, wadi_vec3(0.0, 0.0, 3.0), wadi_vec3(0.0, 0.0, 0.0), 256, 4);
        CHECK_NEAR(found, expected, 0.02 * expected);
    }
}

static void bed_under_water_is_as_bright_as_it_should(void **unused)
{
    (void)unused;
    WadiLook look = wadi_look_water(0.0);
    look.index = 1.33f;
    for (int k = 0; k < 6; ++k) { /* the last two: the sun's light as photons */
        double albedo = k % 2 == 0 ? 0.3 : 0.8;
        /* The bed in the water, or 1 mm under it and touching it. */
        PictureBox water =
            picture_box(wadi_vec3(-2000, -2000, k % 4 < 2 ? -1 : 0.001), wadi_vec3(2000, 2000, 1), 0.0);
        WadiTraceMesh mesh = picture_box_mesh(&water, 0);
        WadiTraceScene scene = picture_scene(&look, 1, 0.0f);
        scene.meshes = &mesh;
        scene.mesh_count = 1;
        scene.ground = (WadiTraceGround){
            .is_present = true, .height = 0.0, .look = picture_matt((float)albedo), .wetness = 0.0f
        };
        scene.light.sun = wadi_vec3(0, 1, 1);
        scene.light.sun_light = wadi_grey((float)pi);
        scene.contact = k % 4 < 2 ? -1.0 : 0.002;
        scene.photons = k < 4 ? 0 : 200000;
        WadiVec3 eye = { 10, 0, 15 }, down = wadi_normalized_or(eye, eye);
        double value = 0.0;
        int spots = k < 4 ? 1 : 8; /* 28 photons are averaged at each */
        for (int n = 0; n < spots; ++n) {
            WadiVec3 spot = wadi_vec3(90.0 * n, 37.0 * n, 0.0);
            value += picture_value(&scene, wadi_add(eye, spot), spot, 1024 / spots, 24) / spots;
        }
        double enter = 1.0 - (double)wadi_fresnel(sqrtf(0.5f), 1.33f),
               leave = 1.0 - (double)wadi_fresnel((float)down.z, 1.33f);
        double p = (double)wadi_fresnel_inside(1.33f),
               inside = albedo * enter * sqrt(0.5) / (1.0 - p * albedo);
        double expected = leave * inside / (1.33 * 1.33);
        CHECK_NEAR(value, expected, (k < 4 ? 0.015 : 0.03) * expected);
    }
}

/* A ball of clear water under a sun in the zenith: a ray that enters at the angle a leaves at the same angle,
 * so that the fraction (1 - F(a))^2 passes: its mean over the ball's disc. No photon depends on threads. */
static void photons_carry_the_light_that_passes(void **unused)
{
    (void)unused;
    enum { AROUND = 96, DOWN = 48, COUNT = AROUND * (DOWN - 1) + 2, PHOTONS = 40000 };
    WadiVec3 *vertex = malloc(COUNT * sizeof *vertex);
    float(*normal)[3] = malloc(COUNT * sizeof *normal);
    uint32_t(*triangle)[3] = malloc(2 * AROUND * DOWN * sizeof *triangle);
    size_t triangles = 0;
    for (uint32_t v = 0; v < COUNT; ++v) { /* the poles come last */
        double polar = v < COUNT - 2    ? pi * (v / AROUND + 1) / DOWN
                       : v == COUNT - 2 ? 0.0
                                        : pi,
               around = 2.0 * pi * (v % AROUND) / AROUND;
        vertex[v] = wadi_vec3(sin(polar) * cos(around), sin(polar) * sin(around), cos(polar));
        normal[v][0] = (float)vertex[v].x, normal[v][1] = (float)vertex[v].y,
        normal[v][2] = (float)vertex[v].z;
    }
    for (uint32_t j = 0; j < DOWN; ++j) {
        for (uint32_t i = 0; i < AROUND; ++i) {
            uint32_t next = (i + 1) % AROUND, up = (j - 1) * AROUND, down = j * AROUND;
            uint32_t a = j > 0 ? up + i : COUNT - 2, b = j > 0 ? up + next : COUNT - 2,
                     c = j + 1 < DOWN ? down + i : COUNT - 1, d = j + 1 < DOWN ? down + next : COUNT - 1;
            if (j + 1 < DOWN) {
                memcpy(triangle[triangles++], (uint32_t[3]){ a, c, d }, sizeof *triangle);
            }
            if (j > 0) {
                memcpy(triangle[triangles++], (uint32_t[3]){ a, d, b }, sizeof *triangle);
            }
        }
    }
    WadiLook look = wadi_look_water(0.0);
    WadiTraceMesh mesh = { .vertex_count = COUNT,
                           .triangle_count = triangles,
                           .vertices = vertex,
                           .triangles = (const uint32_t(*)[3])triangle,
                           .normal = (const float(*)[3])normal };
    WadiTraceScene scene = picture_scene(&look, 1, 0.0f);
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.ground =
        (WadiTraceGround){ .is_present = true, .height = -3.0, .look = picture_matt(0.5f), .wetness = 0.0f };
    scene.light.sun = wadi_vec3(0, 0, 1);
    scene.light.sun_light = wadi_grey(2.0f);
    scene.photons = PHOTONS;
    WadiTracer *tracer[2];
    WadiError error = { 0 };
    double expected = 0.0, flux = 0.0;
    for (int n = 0; n < 2; ++n) {
        wadi_parallel_set_threads(n == 0 ? 1 : 5);
        CHECK_OK(wadi_tracer_create(&tracer[n], &scene, &error), error);
    }
    wadi_parallel_set_threads(0);
    const WadiCaustics *light = &tracer[0]->caustics;
    assert_int_equal(light->count, tracer[1]->caustics.count);
    assert_memory_equal(light->photons, tracer[1]->caustics.photons, light->count * sizeof *light->photons);
    for (size_t k = 0; k < light->count; ++k) {
        flux += (double)light->photons[k].flux.y;
    }
    for (int i = 0; i < 1000; ++i) {
        double square = (i + 0.5) / 1000.0,
               passed = 1.0 - (double)wadi_fresnel((float)sqrt(1.0 - square), look.index);
        expected += passed * passed / 1000.0;
    }
    CHECK_NEAR(flux, 2.0 * pi * expected, 0.015 * flux); /* the mesh is a little smaller than the ball */
    wadi_tracer_destroy(tracer[0]);
    wadi_tracer_destroy(tracer[1]);
    free(vertex);
    free(normal);
    free(triangle);
}

/* What passes a place for a part of the shutter's time darkens it by that part: a ball and a board. */
static void blur_is_the_share_of_time(void **unused)
{
    (void)unused;
    WadiLook look = picture_matt(0.0f);
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    static const float ball[1][4] = { { 0.0f, 0.0f, 0.0f, 0.1f } },
                       velocity[8][3] = { { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 },
                                          { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 } };
    WadiTraceSpheres set = sphere_set(ball, 1);
    set.velocity = velocity;
    PictureBox board = picture_box(wadi_vec3(-0.15, 0, 1.0), wadi_vec3(0.15, 0.001, 2.0), 0.0);
    WadiTraceMesh mesh = picture_box_mesh(&board, 0);
    mesh.velocity = velocity;
    scene.open = -0.125;
    scene.close = 0.125; /* 1 m of way */
    scene.spheres = &set;
    scene.meshes = &mesh;
    WadiVec3 eye = { 0.1, -50, 0 }, there = { 0.1, 0, 0 }, above = { 0.1, 0, 1.5 },
             eye_above = { 0.1, -50, 1.5 };
    scene.spheres_count = 1;
    WadiCamera camera = picture_camera(eye, there, 0.02); /* a pixel in the middle of the track */
    WadiTraceQuality quality = { .samples = 4096, .depth = 1 };
    WadiFilm film = picture_take(&scene, &camera, 2, 2, &quality);
    CHECK_NEAR(picture_mean(&film, 0, 0, 2, 2), 1.0 - 0.2 / 1.0, 0.004);
    wadi_film_free(&film);
    scene.spheres_count = 0;
    scene.mesh_count = 1;
    CHECK_NEAR(picture_value(&scene, eye_above, above, 1024, 1), 1.0 - 0.3, 0.004);
    scene.open = scene.close = 0.0;
    CHECK_NEAR(picture_value(&scene, eye_above, wadi_vec3(0.0, 0, 1.5), 16, 1), 0.0, 1e-6);
}

/* The same board over a white sheet: seen, but without a shadow where it is told to have none. Its shadow of
 * the sun, which stands above, would be black. */
static void edges_of_the_domain_cast_no_shadow(void **unused)
{
    (void)unused;
    for (int casts_none = 0; casts_none < 2; ++casts_none) {
        WadiLook looks[2] = { picture_matt(0.0f), picture_matt(0.5f) };
        looks[0].casts_no_shadow = casts_none == 1;
        WadiTraceScene scene = picture_scene(looks, 2, 0.0f);
        scene.light.sun = wadi_vec3(0, 0, 1);
        scene.light.sun_light = wadi_grey(1.0f);
        PictureBox board = picture_box(wadi_vec3(-1, -1, 1.0), wadi_vec3(1, 1, 1.01), 0.0),
                   sheet = picture_box(wadi_vec3(-5, -5, -0.01), wadi_vec3(5, 5, 0.0), 0.0);
        WadiTraceMesh meshes[2] = { picture_box_mesh(&board, 0), picture_box_mesh(&sheet, 1) };
        scene.meshes = meshes;
        scene.mesh_count = 2;
        const WadiVec3 eye = { 0, -8, 0.4 };
        const double under = picture_value(&scene, eye, wadi_vec3(0, 0, 0), 16, 1),
                     beside = picture_value(&scene, eye, wadi_vec3(3, 0, 0), 16, 1),
                     seen = picture_value(&scene, wadi_vec3(0, -8, 3), wadi_vec3(0, 0, 1.01), 16, 1);
        assert_true(beside > 0.1);
        CHECK_NEAR(under, casts_none == 1 ? beside : 0.0, 0.02 * beside);
        CHECK_NEAR(seen, 0.0, 1e-6);
    }
}

/* A ground at z = 0 with a pit 0.5 m deep: seen from 2 m above, its floor is 2.5 m away; from inside the pit the
 * sky is seen through its opening, and a shadow ray passes there. */
static void a_pit_is_lower(void **unused)
{
    (void)unused;
    WadiLook look = picture_matt(0.5f);
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    scene.ground = (WadiTraceGround){
        .is_present = true, .look = look, .has_pit = true, .pit = { { -1, -1, -0.5 }, { 1, 1, 0 } }
    };
    static const struct {
        WadiVec3 eye, to;
        double distance;
    } cases[] = { { { 0.5, 0.5, 2 }, { 0.5, 0.5, 0 }, 2.5 },
                  { { 1.5, 0.5, 2 }, { 1.5, 0.5, 0 }, 2.0 },
                  { { 0, 0, -0.25 }, { 0, 0.1, 1 }, 0.0 },
                  { { 0, 0, -0.25 }, { 0, 0.3, -0.55 }, 0.25 * 1.41421356 } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        WadiCamera camera = picture_camera(cases[n].eye, cases[n].to, 0.01);
        WadiTraceQuality quality = { .samples = 4, .depth = 1 };
        WadiFilm film = picture_take(&scene, &camera, 2, 2, &quality);
        CHECK_NEAR((double)film.distance[0], cases[n].distance, 1e-3);
        wadi_film_free(&film);
    }
}

/* An edge at distance z, focus at f, lens radius r: beside the edge it fades over r |z - f| / f to each
 * side. */
static void lens_blurs_by_similar_triangles(void **unused)
{
    (void)unused;
    WadiLook look = picture_matt(0.0f);
    WadiTraceScene scene = picture_scene(&look, 1, 1.0f);
    PictureBox board = picture_box(wadi_vec3(-9, 10, -9), wadi_vec3(0, 10.0001, 9), 0.0);
    WadiTraceMesh mesh = picture_box_mesh(&board, 0);
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    double radius = 0.2, focus = 5.0, reach = radius * (10.0 - focus) / focus;
    /* Places at the board's distance, in reaches, and how much of the lens, a disc, sees past the edge. */
    for (int k = -6; k <= 6; ++k) {
        double at = 0.2 * k, u = fmin(fmax(at, -1.0), 1.0);
        double share = 0.5 + (u * sqrt(1.0 - u * u) + asin(u)) / pi;
        WadiCamera camera = picture_camera(wadi_vec3(0, 0, 0), wadi_vec3(at * reach, 10, 0), 0.01);
        camera.lens_radius = radius;
        camera.focus = focus;
        WadiTraceQuality quality = { .samples = 1024, .depth = 1 };
        WadiFilm film = picture_take(&scene, &camera, 2, 2, &quality);
        CHECK_NEAR(picture_mean(&film, 0, 0, 2, 2), share, 0.01);
        wadi_film_free(&film);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_spheres_vanish_in_a_furnace),
        cmocka_unit_test(glossy_spheres_lose_light_in_a_furnace),
        cmocka_unit_test(clear_water_vanishes_in_a_furnace),
        cmocka_unit_test(few_paths_do_not_speckle),
        cmocka_unit_test(sphere_in_the_sun_follows_lambert),
        cmocka_unit_test(sun_disc_has_its_energy),
        cmocka_unit_test(glossy_plane_under_a_wide_sun),
        cmocka_unit_test(slab_shifts_an_edge),
        cmocka_unit_test(slab_absorbs_and_reflects),
        cmocka_unit_test(haze_glows_by_the_length_of_the_way),
        cmocka_unit_test(photons_carry_the_light_that_passes),
        cmocka_unit_test(bed_under_water_is_as_bright_as_it_should),
        cmocka_unit_test(blur_is_the_share_of_time),
        cmocka_unit_test(edges_of_the_domain_cast_no_shadow),
        cmocka_unit_test(a_pit_is_lower),
        cmocka_unit_test(lens_blurs_by_similar_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
