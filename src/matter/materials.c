#include "matter/materials.h"

#include <math.h>

void wadi_materials_init(WadiMaterials *materials, const WadiScene *scene)
{
    *materials = (WadiMaterials){ .count = scene->material_count };
    for (int m = scene->material_count - 1; m >= 0; --m) {
        materials->first = scene->materials[m].is_unused ? materials->first : m;
    }
    materials->density = scene->materials[materials->first].density;
    for (int m = 0; m < scene->material_count; ++m) {
        bool is_sand = scene->materials[m].kind == WADI_MATERIAL_SAND,
             is_used = !scene->materials[m].is_unused;
        materials->is_sand[m] = is_sand;
        materials->mass[m] = is_used ? (float)(scene->materials[m].density / materials->density) : 1.0f;
        materials->has_sand = materials->has_sand || (is_sand && is_used);
        materials->has_water = materials->has_water || (!is_sand && is_used);
        materials->used_count += is_used;
    }
}

double wadi_scene_unit_time(const WadiScene *scene, double length)
{
    const WadiCurve *gravity = &scene->gravity;
    double g = wadi_norm(wadi_curve_value3(gravity, 0.0));
    for (int k = 0; k < gravity->key_count; ++k) {
        g = fmax(g, wadi_norm(wadi_curve_value3(gravity, gravity->keys[k].time)));
    }
    return sqrt(length / (g > 0.0 ? g : 9.81));
}
