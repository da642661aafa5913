/* Friction of sand: rigid or sliding by Mohr and Coulomb, with the frictional stress of what slides.
 * [LD09 eqs. 2 to 5; T10 eqs. 8 to 12, 19, 20]
 * Not as printed, since units are wrong there or no run would last: D is a rate, not the strain of a step;
 * eq. 2 has the pressure and the sign of +D, as [ZB05 eq. 2] should have; its stress is bounded by a part of
 * what stops the strain within the step, without which sand gains energy and boils. */
#include <math.h>

#include "core/parallel.h"
#include "sph/published/sph_printed.h"

enum { BLOCK = 256 };

/* Of eq. 4 with the spacing for h: with the factor 2 of the force a quarter of it. */
static const double SLIDING = 0.125;

typedef struct Sand {
    const WadiSphPrinted *p;
    const WadiSphPrintedSand *sand;
} Sand;

/* sum_j V_j v_j grad W [T10 eq. 9]: of v_j, so that moving sand has a strain at its surface. What LD09 has
 * for v_j cannot be read in the copy at hand: taken as v_j - v_i, as in the source of its eq. 3 [SSP07]. */
static void strain_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    const WadiSphPrinted *p = s->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        double g[9] = { 0 };
        for (int64_t n = p->near.start[i]; p->is_sand[i] && n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            if (!p->is_sand[j]) {
                continue;
            }
            const WadiVec3 d = wadi_sph_printed_between(p, i, j);
            const WadiVec3 v = p->is_t10 ? p->velocity[j] : wadi_sub(p->velocity[j], p->velocity[i]);
            const double f =
                wadi_sph_printed_volume(p, j) * wadi_sph_printed_slope(wadi_norm(d), p->radius[j]);
            g[0] += f * v.x * d.x, g[1] += f * v.x * d.y, g[2] += f * v.x * d.z;
            g[3] += f * v.y * d.x, g[4] += f * v.y * d.y, g[5] += f * v.y * d.z;
            g[6] += f * v.z * d.x, g[7] += f * v.z * d.y, g[8] += f * v.z * d.z;
        }
        for (int c = 0; c < 9; ++c) {
            s->sand->gradient[i][c] = g[c];
        }
        s->sand->strain[i] = (WadiSym3){ .xx = g[0],
                                         .yy = g[4],
                                         .zz = g[8],
                                         .xy = 0.5 * (g[1] + g[3]),
                                         .xz = 0.5 * (g[2] + g[6]),
                                         .yz = 0.5 * (g[5] + g[7]) };
    }
}

void wadi_sph_printed_strain(const WadiSphPrinted *p, WadiSphPrintedSand *sand)
{
    wadi_parallel_for(p->count, BLOCK, strain_block, &(Sand){ p, sand });
}

void wadi_sph_printed_yield(const WadiSphPrinted *p, WadiSphPrintedSand *sand)
{
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiSym3 strain = sand->strain[i];
        const double h = p->radius[i], size = wadi_sym3_frobenius(strain);
        const double shear =
            p->density[i] * h * h / p->dt * wadi_sym3_frobenius(wadi_sym3_deviator(strain)) / sqrt(2.0);
        const double bound = p->friction[i] * p->pressure[i] + p->cohesion[i];
        sand->is_rigid[i] = p->is_sand[i] && sqrt(3.0) * shear < bound;
        const double most = SLIDING * p->density[i] * p->spacing * p->spacing / p->dt;
        sand->is_sliding[i] = p->is_sand[i] && !sand->is_rigid[i] && size > 0.0 && p->pressure[i] > 0.0;
        const double stress =
            sand->is_sliding[i] ? p->friction[i] * p->pressure[i] / (sqrt(1.0 / 3.0) * size) : 0.0;
        sand->stress[i] = wadi_sym3_scale(strain, fmin(stress, most));
    }
}

/* The force of the stress of i on j, -2 V_i (I + grad u_i^T) sigma_i d_ij, with the working sign; d_ij is
 * V_j grad W. The factor 2 belongs to strains that are not halved. */
static WadiVec3 stress_force(const WadiSphPrinted *p, const WadiSphPrintedSand *sand, int32_t i, int32_t j)
{
    if (!sand->is_sliding[i]) {
        return (WadiVec3){ 0 };
    }
    const WadiVec3 d = wadi_sph_printed_between(p, i, j);
    const double f = wadi_sph_printed_volume(p, j) * wadi_sph_printed_slope(wadi_norm(d), p->radius[j]);
    const WadiSym3 s = sand->stress[i];
    const WadiVec3 t = { s.xx * d.x + s.xy * d.y + s.xz * d.z, s.xy * d.x + s.yy * d.y + s.yz * d.z,
                         s.xz * d.x + s.yz * d.y + s.zz * d.z };
    const double *g = sand->gradient[i], dt = p->dt;
    const WadiVec3 moved = { t.x + dt * (g[0] * t.x + g[3] * t.y + g[6] * t.z),
                             t.y + dt * (g[1] * t.x + g[4] * t.y + g[7] * t.z),
                             t.z + dt * (g[2] * t.x + g[5] * t.y + g[8] * t.z) };
    return wadi_scale(moved, -2.0 * wadi_sph_printed_volume(p, i) * f);
}

/* Each force has its opposite: both sums are over the same pairs. */
static void friction_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    const WadiSphPrinted *p = s->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        for (int64_t n = p->near.start[i]; p->is_sand[i] && n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            if (p->is_sand[j]) {
                p->force[i] = wadi_add(p->force[i], stress_force(p, s->sand, j, i));
                p->force[i] = wadi_sub(p->force[i], stress_force(p, s->sand, i, j));
            }
        }
    }
}

void wadi_sph_printed_friction(const WadiSphPrinted *p, const WadiSphPrintedSand *sand)
{
    WadiSphPrintedSand all = *sand;
    wadi_parallel_for(p->count, BLOCK, friction_block, &(Sand){ p, &all });
}

void wadi_sph_printed_wall_friction(const WadiSphPrinted *p, const uint8_t *is_left_out, WadiVec3 *velocity)
{
    for (int32_t i = 0; i < p->count; ++i) {
        const int32_t near = p->is_sand[i] && !is_left_out[i] ? wadi_sph_near(p->walls, i) : -1;
        for (int c = 0; near >= 0 && c < p->walls->contact_count[near]; ++c) {
            const WadiSphContact *contact = &p->walls->contact[near][c];
            const WadiVec3 normal = { (double)contact->normal[0], (double)contact->normal[1],
                                      (double)contact->normal[2] };
            const WadiVec3 wall = { (double)contact->velocity[0], (double)contact->velocity[1],
                                    (double)contact->velocity[2] };
            const WadiVec3 relative = wadi_sub(velocity[i], wall);
            const WadiVec3 slip = wadi_add_scaled(relative, normal, -wadi_dot(relative, normal));
            const double most =
                (double)contact->friction * wadi_sph_printed_wall_force(p, i, contact) * p->dt / p->mass[i];
            const double size = wadi_norm(slip);
            velocity[i] = wadi_add_scaled(velocity[i], slip, size > most ? -most / size : -1.0);
        }
    }
}
