/* Small pictures for tests: a film, shapes as meshes, means of pixels. */
#ifndef WADI_TESTS_PICTURE_H
#define WADI_TESTS_PICTURE_H

#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "render/trace/tracer.h"

/* Corners in binary order, faces outward; `turn`, radians, about the y axis through the centre. */
typedef struct PictureBox {
    WadiVec3 corners[8];
    uint32_t triangles[12][3];
} PictureBox;

static inline PictureBox picture_box(WadiVec3 low, WadiVec3 high, double turn)
{
    static const uint32_t faces[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
                                           { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
                                           { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    PictureBox box;
    WadiVec3 middle = wadi_scale(wadi_add(low, high), 0.5);
    for (int k = 0; k < 8; ++k) {
        WadiVec3 p = wadi_vec3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
        p = wadi_sub(p, middle);
        p = wadi_vec3(p.x * cos(turn) + p.z * sin(turn), p.y, p.z * cos(turn) - p.x * sin(turn));
        box.corners[k] = wadi_add(middle, p);
    }
    memcpy(box.triangles, faces, sizeof faces);
    return box;
}

static inline WadiTraceMesh picture_box_mesh(const PictureBox *box, int look)
{
    return (WadiTraceMesh){ .vertex_count = 8,
                            .triangle_count = 12,
                            .vertices = box->corners,
                            .triangles = (const uint32_t(*)[3])box->triangles,
                            .look = look };
}

/* An empty scene with uniform light of this radiance. */
static inline WadiTraceScene picture_scene(const WadiLook *looks, int count, float radiance)
{
    WadiTraceScene scene = { .looks = looks, .look_count = count };
    scene.light = wadi_default_light_def();
    scene.light.surround = WADI_SURROUND_UNIFORM;
    scene.light.colour = wadi_grey(radiance);
    scene.light.sun_light = wadi_grey(0.0f);
    return scene;
}

static inline WadiLook picture_matt(float albedo)
{
    return (WadiLook){ .kind = WADI_LOOK_PLAIN, .colour = wadi_grey(albedo), .index = 1.0f };
}

static inline WadiCamera picture_camera(WadiVec3 eye, WadiVec3 target, double view_angle)
{
    return (WadiCamera){ .eye = eye, .target = target, .up = { 0.0, 0.0, 1.0 }, .view_angle = view_angle };
}

static inline WadiFilm picture_take(const WadiTraceScene *scene, const WadiCamera *camera, int width,
                                    int height, const WadiTraceQuality *quality)
{
    WadiError error = { 0 };
    WadiTracer *tracer = NULL;
    WadiFilm film;
    CHECK_OK(wadi_tracer_create(&tracer, scene, &error), error);
    CHECK_OK(wadi_film_init(&film, width, height, &error), error);
    CHECK_OK(wadi_tracer_render(tracer, camera, quality, &film, &error), error);
    wadi_tracer_destroy(tracer);
    for (int i = 0; i < width * height; ++i) {
        assert_true(wadi_is_finitef(film.light[i]) && film.light[i].x >= 0.0f);
    }
    return film;
}

/* Mean of the green of a part of the film. */
static inline double picture_mean(const WadiFilm *film, int left, int top, int right, int bottom)
{
    double sum = 0.0;
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
            sum += (double)film->light[y * film->width + x].y;
        }
    }
    return sum / ((right - left) * (bottom - top));
}

/* The mean of a small picture of `target`. */
static inline double picture_value(const WadiTraceScene *scene, WadiVec3 eye, WadiVec3 target, int samples,
                                   int depth)
{
    WadiCamera camera = picture_camera(eye, target, 0.05);
    WadiTraceQuality quality = { .samples = samples, .depth = depth };
    WadiFilm film = picture_take(scene, &camera, 8, 8, &quality);
    double mean = picture_mean(&film, 0, 0, 8, 8);
    wadi_film_free(&film);
    return mean;
}

#endif
