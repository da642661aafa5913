/* The materials of a scene by number, and their means in cells that hold several [theory 7.1, 7.2]. */
#ifndef WADI_MATTER_MATERIALS_H
#define WADI_MATTER_MATERIALS_H

#include "world/scene.h"

enum { WADI_MATERIALS_MAX = 256 }; /* numbers that the material column of the particles can hold */

typedef struct WadiMaterials {
    int count;
    int first, used_count; /* of the materials of bodies and emitters; others have no influence */
    bool has_sand, has_water;
    double density; /* kg/m^3, of the first used material: the reference of the pressure */
    uint8_t is_sand[WADI_MATERIALS_MAX];
    float mass[WADI_MATERIALS_MAX]; /* of a particle, relative to the reference */
    /* The yield law (yield.h), set by the solver in every step: k, and c_k in the solver's unit of pressure.
     * 0 for water. */
    float slope[WADI_MATERIALS_MAX], cohesion[WADI_MATERIALS_MAX];
    /* Of the cohesion, the part that bonds between grains give, and the tension that they bear; flip only. */
    float bond[WADI_MATERIALS_MAX], tension[WADI_MATERIALS_MAX];
} WadiMaterials;

/* All but the yield law. */
void wadi_materials_init(WadiMaterials *materials, const WadiScene *scene);

/* sqrt(length / g), s: the time in which a grain falls half of `length`. With the cell size it is the unit of
 * all times chosen for a scene [theory 1.4]. g is the largest gravity of the scene, Earth's if it has
 * none. */
double wadi_scene_unit_time(const WadiScene *scene, double length);

/* Mean of a material property over the particles first .. end, at least one. */
static inline float wadi_materials_mean(const float *of_material, const uint8_t *material, int32_t first,
                                        int32_t end)
{
    float sum = 0.0f;
    for (int32_t i = first; i < end; ++i) {
        sum += of_material[material[i]];
    }
    return sum / (float)(end - first);
}

#endif
