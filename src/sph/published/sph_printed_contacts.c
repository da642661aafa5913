/* What T10 adds to LD09 between particles: collisions and surface tension. [T10 secs. 3.2, 3.5]
 * Its collisions are "based on Molecular Dynamics" [BYM05] without a number: an impact of the speed of a fall
 * through all of the material stops within a tenth of a diameter and comes back with half of its speed. */
#include <math.h>

#include "core/parallel.h"
#include "sph/published/sph_printed.h"

enum { BLOCK = 256 };

static const double DEPTH = 0.1; /* of a diameter */
static const double LOSS = 0.6;  /* (k_d / k_r) (k_r / m)^0.4 v^0.2 for a restitution of about one half */
static const double RUB = 0.1;   /* of the slip that a step may stop */

bool wadi_sph_printed_is_touched(const WadiSphPrinted *p, const WadiParticles *particles)
{
    for (int32_t i = 0; i < p->count; ++i) {
        const bool moves = particles->vx[i] != 0.0f || particles->vy[i] != 0.0f || particles->vz[i] != 0.0f;
        if (p->is_sand[i] && moves) {
            return true;
        }
        for (int64_t n = p->near.start[i]; p->is_sand[i] && n < p->near.start[i + 1]; ++n) {
            if (!p->is_sand[p->near.index[n]]) {
                return true;
            }
        }
    }
    return false;
}

typedef struct Contacts {
    const WadiSphPrinted *p;
    double speed;        /* m/s */
    const double *kappa; /* per particle, m^3/s^2 */
} Contacts;

/* Force on i: k_r xi^3/2 + k_d xi^1/2 xi' apart, at least 0, and Coulomb's friction with the sand's mu_f. */
static WadiVec3 collision(const Contacts *c, int32_t i, int32_t j)
{
    const WadiSphPrinted *p = c->p;
    const WadiVec3 d = wadi_sph_printed_between(p, i, j);
    const double distance = wadi_norm(d),
                 diameter = 0.5 * (p->radius[i] + p->radius[j]) / WADI_SPH_PRINTED_SUPPORT;
    const double overlap = diameter - distance;
    if (!(overlap > 0.0) || !(distance > 0.0)) {
        return (WadiVec3){ 0 };
    }
    const double mass = p->mass[i] * p->mass[j] / (p->mass[i] + p->mass[j]), deep = DEPTH * diameter;
    const double stiffness = 1.25 * mass * c->speed * c->speed / (deep * deep * sqrt(deep));
    /* k_d of LOSS at this speed, with m / k_r = deep^5/2 / (1.25 v^2), 1.25^0.4 = 1.0934. */
    const double damping = LOSS * stiffness * deep / (1.0934 * c->speed);
    const WadiVec3 n = wadi_scale(d, 1.0 / distance), v = wadi_sub(p->velocity[i], p->velocity[j]);
    const double approach = -wadi_dot(v, n);
    const double normal = fmax(0.0, sqrt(overlap) * (stiffness * overlap + damping * approach));
    const WadiVec3 slip = wadi_add_scaled(v, n, approach);
    const double size = wadi_norm(slip), friction = fmax(p->friction[i], p->friction[j]);
    const double rub = size > 0.0 ? fmin(friction * normal, RUB * mass * size / p->dt) / size : 0.0;
    return wadi_add_scaled(wadi_scale(n, normal), slip, -rub);
}

static void collide_block(void *context, int64_t first, int64_t end)
{
    const Contacts *c = context;
    const WadiSphPrinted *p = c->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        for (int64_t n = p->near.start[i]; n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            if (p->is_sand[i] != p->is_sand[j]) {
                p->force[i] = wadi_add(p->force[i], collision(c, i, j));
            }
        }
    }
}

void wadi_sph_printed_collide(const WadiSphPrinted *p, double speed)
{
    wadi_parallel_for(p->count, BLOCK, collide_block, &(Contacts){ .p = p, .speed = speed });
}

/* m_i dv_i/dt = - kappa sum_j m_j W_ij (x_i - x_j) over water. */
static void cohere_block(void *context, int64_t first, int64_t end)
{
    const Contacts *c = context;
    const WadiSphPrinted *p = c->p;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        for (int64_t n = p->near.start[i]; c->kappa[i] > 0.0 && n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            if (c->kappa[j] > 0.0) {
                const WadiVec3 d = wadi_sph_printed_between(p, i, j);
                const double weight = p->mass[j] * wadi_sph_printed_weight(wadi_norm(d), p->radius[j]);
                p->force[i] = wadi_add_scaled(p->force[i], d, -c->kappa[i] * weight);
            }
        }
    }
}

void wadi_sph_printed_cohere(const WadiSphPrinted *p, const double *kappa)
{
    wadi_parallel_for(p->count, BLOCK, cohere_block, &(Contacts){ .p = p, .kappa = kappa });
}
