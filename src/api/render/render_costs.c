#include "api/render/render_costs.h"

#include <string.h>

static void add(char text[WADI_RENDER_COSTS_SIZE], const char *cost)
{
    const size_t length = strlen(text);
    if (length + strlen(cost) + 3 < WADI_RENDER_COSTS_SIZE) {
        strcpy(text + length, length > 0 ? ", " : "");
        strcat(text, cost);
    }
}

static bool has_clear_liquid(const WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *of = &scene->materials[m];
        const bool is_mesh = of->look.style == WADI_STYLE_AUTO || of->look.style == WADI_STYLE_SURFACE;
        if (of->kind == WADI_MATERIAL_WATER && is_mesh &&
            wadi_frame_scene_liquid(of, 1.0).kind == WADI_LOOK_WATER) {
            return true;
        }
    }
    return false;
}

static bool has_glass(const WadiScene *scene)
{
    bool is_there = scene->render.walls == WADI_RENDER_WALLS_GLASS && scene->has_domain;
    for (int c = 0; c < scene->collider_count; ++c) {
        is_there = is_there || (scene->render.has_colliders && scene->colliders[c].look.is_glass);
    }
    return is_there;
}

void wadi_render_costs(const WadiScene *scene, const WadiTraceQuality *quality,
                       char text[WADI_RENDER_COSTS_SIZE])
{
    const WadiBox box = { { 0, 0, 0 }, { 1, 1, 1 } };
    text[0] = '\0';
    if (has_clear_liquid(scene)) {
        add(text, quality->photons > 0 ? "water with caustics" : "water");
    }
    if (has_glass(scene)) {
        add(text, "glass");
    }
    if (wadi_frame_scene_camera(scene, box, 0.0).lens_radius > 0.0) {
        add(text, "depth of field");
    }
    if (scene->render.shutter > 0.0) {
        add(text, "motion blur");
    }
}
