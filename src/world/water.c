#include "world/water.h"

#include <math.h>

double wadi_water_density(const WadiScene *scene)
{
    double density = 0.0;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (material->kind == WADI_MATERIAL_WATER && !material->is_unused) {
            density = fmax(density, material->density);
        }
    }
    return density > 0.0 ? density : 1000.0;
}

double wadi_water_at_birth(const WadiScene *scene, int material, double saturation)
{
    const WadiMaterial *m = &scene->materials[material];
    const double mass = m->kind == WADI_MATERIAL_WATER ? m->density / wadi_water_density(scene)
                                                       : m->pores.porosity * saturation;
    return floor(mass * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

static void *column_of(const WadiParticles *particles, const char *name)
{
    const int column = wadi_particles_find_column(particles, name);
    return column >= 0 ? particles->column[column].data : NULL;
}

double *wadi_water_column(const WadiParticles *particles)
{
    return column_of(particles, "water");
}

double *wadi_volume_column(const WadiParticles *particles)
{
    return column_of(particles, "volume");
}

bool wadi_has_volumes(const WadiParticles *particles)
{
    return wadi_particles_find_column(particles, "volume") >= 0;
}

double *wadi_film_column(const WadiParticles *particles)
{
    return column_of(particles, "film");
}

float *wadi_wetness_column(const WadiParticles *particles)
{
    return column_of(particles, "wetness");
}

int64_t wadi_water_sum(const WadiParticles *particles, int32_t first)
{
    const double *water = wadi_water_column(particles);
    const double *film = wadi_film_column(particles);
    int64_t sum = 0;
    for (int32_t i = first; water != NULL && i < particles->count; ++i) {
        sum += (int64_t)(water[i] * WADI_WATER_QUANTA);
    }
    for (int32_t i = first; film != NULL && i < particles->count; ++i) {
        sum += (int64_t)(film[i] * WADI_WATER_QUANTA);
    }
    return sum;
}
