/* The materials of a scene by number, and their means where several meet.
 * Several sands at one place have the mean of their yield laws; sand and water are one fluid of varying density to the
 * pressure. */
#ifndef WADI_MATTER_MATERIALS_H
#define WADI_MATTER_MATERIALS_H

#include "world/scene.h"

enum { WADI_MATERIALS_MAX = 256 }; /* numbers that the material column of the particles can hold */

typedef struct WadiMaterials {
    int count;
    int first, used_count; /* of those that bodies or emitters are made of; the others have no influence */
    bool has_sand, has_water;
    double density; /* kg/m^3, of that first one: the reference of the pressure */
    uint8_t is_sand[WADI_MATERIALS_MAX];
    float mass[WADI_MATERIALS_MAX]; /* of a particle, relative to the reference */
    /* The yield law (yield.h), set by the solver in every step: k, and c_k in its unit of pressure. 0 for water. */
    float slope[WADI_MATERIALS_MAX], cohesion[WADI_MATERIALS_MAX];
} WadiMaterials;

/* All but the yield law. */
void wadi_materials_init(WadiMaterials *materials, const WadiScene *scene);

/* sqrt(length / g), s: the time in which a grain falls half of `length`. With the cell size the unit of all times that are
 * chosen for a scene, so that scenes of any size behave alike. g is the largest gravity of the scene, Earth's where it has none. */
double wadi_scene_unit_time(const WadiScene *scene, double length);

/* Mean of a number of the materials over the particles first .. end, at least one. */
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
