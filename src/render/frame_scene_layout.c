/* The layout of a scene without simulating it: bodies in the colours of their materials, emitters with an
 * arrow along their velocity, drains, and the edges of the domain and of the camera's view as thin bars. */
#include "core/alloc.h"
#include "render/frame_scene_internal.h"
#include "surface/mesh/shape_surface.h"

enum { BARS_MAX = 16 };
/* Thickness of bars, relative to the size of the view. */
static const double BAR = 0.003;

size_t wadi_layout_count(const WadiScene *scene)
{
    /* Every emitter has an arrow; then the domain and the camera. */
    return (size_t)scene->body_count + 2 * (size_t)scene->emitter_count + (size_t)scene->drain_count + 2;
}

static WadiStatus add_shape(WadiFrameBuilder *s, const WadiShape *shape, double time, WadiLook look,
                            WadiError *error)
{
    WadiFrameScene *frame_scene = s->frame_scene;
    WadiFrameSceneSolid *solid = &frame_scene->solids[frame_scene->solid_count];
    *solid = (WadiFrameSceneSolid){ .look = wadi_frame_scene_add_look(frame_scene, look) };
    WADI_TRY(wadi_shape_surface(&solid->mesh, shape, time, s->view, s->size / WADI_FRAME_DETAIL,
                                &frame_scene->arena, error));
    frame_scene->solid_count += 1;
    return WADI_OK;
}

/* Square bars between pairs of points, pointed at the second where `is_arrow`. */
typedef struct Bars {
    WadiVec3 from[BARS_MAX], to[BARS_MAX];
    int count;
    double width;
    bool is_arrow;
} Bars;

static void add_bar(Bars *bars, WadiVec3 from, WadiVec3 to)
{
    bars->from[bars->count] = from;
    bars->to[bars->count] = to;
    bars->count += wadi_norm(wadi_sub(to, from)) > 0.0 ? 1 : 0;
}

static WadiStatus add_bars(WadiFrameBuilder *s, const Bars *bars, WadiRgb colour, WadiError *error)
{
    static const uint32_t faces[12][3] = { { 0, 2, 1 }, { 0, 3, 2 }, { 4, 5, 6 }, { 4, 6, 7 },
                                           { 0, 1, 5 }, { 0, 5, 4 }, { 1, 2, 6 }, { 1, 6, 5 },
                                           { 2, 3, 7 }, { 2, 7, 6 }, { 3, 0, 4 }, { 3, 4, 7 } };
    WadiVec3 vertex[8 * BARS_MAX];
    uint32_t triangle[12 * BARS_MAX][3];
    if (bars->count == 0) {
        return WADI_OK;
    }
    for (int b = 0; b < bars->count; ++b) {
        WadiVec3 along = wadi_normalized_or(wadi_sub(bars->to[b], bars->from[b]), wadi_vec3(0, 0, 1));
        WadiVec3 side = wadi_cross(along, fabs(along.z) < 0.9 ? wadi_vec3(0, 0, 1) : wadi_vec3(1, 0, 0));
        side = wadi_scale(wadi_normalized_or(side, wadi_vec3(1, 0, 0)), bars->width);
        WadiVec3 other = wadi_cross(along, side);
        for (int n = 0; n < 8; ++n) {
            double scale = bars->is_arrow && n >= 4 ? 0.05 : 1.0;
            double u = n % 4 == 0 || n % 4 == 3 ? -scale : scale, v = n % 4 < 2 ? -scale : scale;
            WadiVec3 end = n < 4 ? bars->from[b] : bars->to[b];
            vertex[8 * b + n] = wadi_add_scaled(wadi_add_scaled(end, side, u), other, v);
        }
        for (int f = 0; f < 12; ++f) {
            for (int k = 0; k < 3; ++k) {
                triangle[12 * b + f][k] = (uint32_t)(8 * b) + faces[f][k];
            }
        }
    }
    WadiFrameSceneSolid *solid = &s->frame_scene->solids[s->frame_scene->solid_count];
    *solid =
        (WadiFrameSceneSolid){ .look = wadi_frame_scene_add_look(s->frame_scene, wadi_look_plain(colour)) };
    WADI_TRY(wadi_mesh_create(&solid->mesh, vertex, 8 * (size_t)bars->count, (const uint32_t(*)[3])triangle,
                              12 * (size_t)bars->count, error));
    s->frame_scene->solid_count += 1;
    return WADI_OK;
}

static WadiStatus add_emitter(WadiFrameBuilder *s, int i, WadiError *error)
{
    const WadiEmitterDef *def = &s->def->scene->emitters[i];
    const WadiShape *shape = s->def->world->emitter_shapes[i];
    bool is_on = s->time >= def->start && s->time < def->end;
    WadiRgb colour = is_on ? wadi_srgb(240, 120, 20) : wadi_srgb(150, 125, 105);
    WADI_TRY(add_shape(s, shape, s->time, wadi_look_plain(colour), error));
    WadiBox box = wadi_shape_bounds(shape, s->time);
    WadiVec3 middle = wadi_scale(wadi_add(box.min, box.max), 0.5);
    WadiVec3 velocity = wadi_curve_value3(&def->velocity, s->time);
    if (!wadi_is_finite(middle) || !(wadi_norm(velocity) > 0.0)) {
        return WADI_OK;
    }
    double length = 0.12 * s->size + 0.5 * wadi_norm(wadi_box_size(box));
    Bars arrow = { .width = 3.0 * BAR * s->size, .is_arrow = true };
    add_bar(&arrow, middle, wadi_add_scaled(middle, velocity, length / wadi_norm(velocity)));
    return add_bars(s, &arrow, colour, error);
}

static WadiVec3 corner_of(WadiBox box, int n)
{
    return wadi_vec3(n & 1 ? box.max.x : box.min.x, n & 2 ? box.max.y : box.min.y,
                     n & 4 ? box.max.z : box.min.z);
}

static WadiStatus add_domain(WadiFrameBuilder *s, WadiError *error)
{
    Bars edges = { .width = 0.5 * BAR * s->size };
    for (int n = 0; n < 8 && s->def->scene->has_domain; ++n) {
        for (int axis = 0; axis < 3; ++axis) {
            if ((n >> axis & 1) == 0) {
                add_bar(&edges, corner_of(s->def->scene->domain, n),
                        corner_of(s->def->scene->domain, n | 1 << axis));
            }
        }
    }
    return add_bars(s, &edges, wadi_srgb(60, 70, 90), error);
}

/* The camera as the pyramid of its view, a fifth of the way to its target. */
static WadiStatus add_camera(WadiFrameBuilder *s, WadiError *error)
{
    const WadiScene *scene = s->def->scene;
    WadiCamera camera = wadi_frame_scene_camera(scene, s->view, s->time);
    WadiCameraFrame frame;
    double aspect = (double)scene->render.width / scene->render.height;
    if (!scene->render.camera.is_given || !wadi_camera_frame(&camera, camera.eye, aspect, &frame)) {
        return WADI_OK;
    }
    double length = 0.2 * wadi_norm(wadi_sub(camera.target, camera.eye));
    Bars edges = { .width = BAR * s->size };
    WadiVec3 corner[4];
    for (int n = 0; n < 4; ++n) {
        const float lens[2] = { 0 };
        WadiVec3f origin, d;
        frame.lens_radius = 0.0f;
        wadi_camera_ray(&frame, n == 1 || n == 2 ? 1.0f : 0.0f, n >= 2 ? 1.0f : 0.0f, lens, &origin, &d);
        corner[n] = wadi_add_scaled(camera.eye, wadi_vec3((double)d.x, (double)d.y, (double)d.z), length);
    }
    for (int n = 0; n < 4; ++n) {
        add_bar(&edges, camera.eye, corner[n]);
        add_bar(&edges, corner[n], corner[(n + 1) % 4]);
    }
    return add_bars(s, &edges, wadi_srgb(200, 30, 110), error);
}

WadiStatus wadi_frame_scene_add_layout(WadiFrameBuilder *s, WadiError *error)
{
    const WadiScene *scene = s->def->scene;
    const WadiWorld *world = s->def->world;
    for (int i = 0; i < scene->body_count; ++i) {
        int material = scene->bodies[i].material;
        if (scene->materials[material].look.style != WADI_STYLE_HIDDEN) {
            /* parts have the materials' order and their looks */
            WadiLook look = s->frame_scene->looks[s->frame_scene->parts[material].mesh_look];
            WADI_TRY(add_shape(s, world->body_shapes[i], 0.0, look, error));
        }
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        WADI_TRY(add_emitter(s, i, error));
    }
    for (int i = 0; i < scene->drain_count; ++i) {
        WADI_TRY(
            add_shape(s, world->drain_shapes[i], s->time, wadi_look_plain(wadi_srgb(120, 20, 20)), error));
    }
    WADI_TRY(add_domain(s, error));
    return s->def->has_camera_drawn ? add_camera(s, error) : WADI_OK;
}
