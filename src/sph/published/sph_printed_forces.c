/* Density, pressure, viscosity and walls. [LD09 sec. 2; T10 eqs. 4 to 7]
 * The printed gradients are those of W(x_j - x_i): read so, pressure would draw particles together. Neither
 * paper says how walls act, or what negative pressures do: walls stand for half spaces of the same fluid with
 * the particle's own pressure, and no pressure is negative, since else nothing would part. */
#include <math.h>

#include "core/parallel.h"
#include "sph/published/sph_printed.h"

enum { BLOCK = 256 };

static double pair_of(double (*kernel)(double, double), double distance, double a, double b)
{
    return a == b ? kernel(distance, a) : 0.5 * (kernel(distance, a) + kernel(distance, b));
}

static void density_block(void *context, int64_t first, int64_t end)
{
    const WadiSphPrinted *p = context;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k, near = wadi_sph_near(p->walls, i);
        double sum = p->mass[i] * wadi_sph_printed_weight(0.0, p->radius[i]), open = 1.0;
        for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            sum += p->mass[j] *
                   wadi_sph_printed_weight(wadi_norm(wadi_sph_printed_between(p, i, j)), p->radius[i]);
        }
        for (int c = 0; near >= 0 && c < p->walls->contact_count[near]; ++c) {
            const WadiSphContact *contact = &p->walls->contact[near][c];
            const double distance = (double)contact->normal[3] * p->spacing;
            open *= 1.0 - (double)contact->weight * wadi_sph_printed_wall_part(distance, p->radius[i]);
        }
        p->density[i] = sum + p->rest_density[i] * (1.0 - open);
    }
}

void wadi_sph_printed_density(WadiSphPrinted *p)
{
    wadi_parallel_for(p->count, BLOCK, density_block, p);
}

void wadi_sph_printed_pressure(const WadiSphPrinted *p, double sound_speed)
{
    for (int32_t i = 0; i < p->count; ++i) {
        const double ratio = p->density[i] / p->rest_density[i];
        const double stiffness = p->rest_density[i] * sound_speed * sound_speed;
        p->pressure[i] = p->is_t10 && !p->is_sand[i]
                             ? stiffness * (ratio - 1.0)
                             : stiffness / 7.0 * (wadi_sph_printed_seventh(ratio) - 1.0);
        p->pressure[i] = fmax(0.0, p->pressure[i]);
    }
}

double wadi_sph_printed_wall_force(const WadiSphPrinted *p, int32_t i, const WadiSphContact *contact)
{
    const double distance = (double)contact->normal[3] * p->spacing;
    return 2.0 * fmax(0.0, p->pressure[i]) * wadi_sph_printed_volume(p, i) * (double)contact->weight *
           wadi_sph_printed_wall_slope(distance, p->radius[i]);
}

static void force_block(void *context, int64_t first, int64_t end)
{
    const WadiSphPrinted *p = context;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k, near = wadi_sph_near(p->walls, i);
        WadiVec3 sum = { 0 };
        for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            const WadiVec3 d = wadi_sph_printed_between(p, i, j);
            const double distance = wadi_norm(d);
            const double volumes = wadi_sph_printed_volume(p, i) * wadi_sph_printed_volume(p, j);
            const double slope = pair_of(wadi_sph_printed_spiky_slope, distance, p->radius[i], p->radius[j]);
            const double laplacian =
                pair_of(wadi_sph_printed_laplacian, distance, p->radius[i], p->radius[j]);
            const double viscosity = 0.5 * (p->viscosity[i] + p->viscosity[j]);
            sum = wadi_add_scaled(sum, d, -volumes * (p->pressure[i] + p->pressure[j]) * slope);
            sum = wadi_add_scaled(sum, wadi_sub(p->velocity[j], p->velocity[i]),
                                  viscosity * volumes * laplacian);
        }
        for (int c = 0; near >= 0 && c < p->walls->contact_count[near]; ++c) {
            const WadiSphContact *contact = &p->walls->contact[near][c];
            const WadiVec3 normal = { (double)contact->normal[0], (double)contact->normal[1],
                                      (double)contact->normal[2] };
            sum = wadi_add_scaled(sum, normal, wadi_sph_printed_wall_force(p, i, contact));
        }
        p->force[i] = sum;
    }
}

void wadi_sph_printed_forces(const WadiSphPrinted *p)
{
    wadi_parallel_for(p->count, BLOCK, force_block, (void *)p);
}
