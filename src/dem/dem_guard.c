/* The last guard of closed walls: contacts are springs, and a force or an impact that is too strong for them
 * would press a grain through a solid. Grains whose centre comes near a surface, or that move farther than
 * their contacts are known, are followed to it continuously [theory 3.4], and stopped there. */
#include <math.h>

#include "dem/dem.h"
#include "particles/collide.h"

static const double SKIN = 1e-3;  /* diameters: distance of a centre from a solid after a contact */
static const double FAR = 0.25;   /* radii: longer ways in a step may pass a surface at half a radius */
static const double EXACT = 1e-3; /* skins: shorter corrections are rounding */
enum { PASSES = 4 };

/* The surfaces that a grain may meet are in its list of walls, as long as it has not used up its skin. */
bool wadi_dem_guard_is_needed(const WadiDem *dem, int64_t i, double way, double used)
{
    return dem->is_deep[i] != 0 || used > 1.0 || !(way < FAR * (double)dem->grains.shift[i][3]);
}

static WadiCollideIn collide_in(const WadiDem *dem, const WadiDemStep *step)
{
    return (WadiCollideIn){ .solids = &dem->context.world->solids,
                            .t0 = step->time,
                            .t1 = step->time + step->dt,
                            .skin = SKIN * dem->diameter };
}

/* Solids end the path elsewhere than at `to`: in a contact, or where a path that grazes them was followed as
 * far as a bounded number of steps does. */
static bool is_stopped_by(const WadiCollideIn *in, const WadiCollideOut *out, WadiVec3 to)
{
    return out->contacts > 0 || wadi_norm(wadi_sub(out->x, to)) > EXACT * in->skin;
}

void wadi_dem_guard_sphere(const WadiDem *dem, const WadiDemStep *step, int64_t i, WadiVec3 x0)
{
    const WadiCollideIn in = collide_in(dem, step);
    WadiParticles *p = dem->context.particles;
    WadiF8 *motion = &dem->grains.motion[i];
    WadiF4 *shift = &dem->grains.shift[i];
    const WadiVec3 x1 = { p->x[i], p->y[i], p->z[i] };
    const WadiVec3 v = { (double)(*motion)[0], (double)(*motion)[1], (double)(*motion)[2] };
    const WadiCollideOut out = wadi_collide_move(&in, x0, x1, v);
    if (is_stopped_by(&in, &out, x1)) {
        const WadiVec3 back = wadi_sub(out.x, x1);
        p->x[i] = out.x.x, p->y[i] = out.x.y, p->z[i] = out.x.z;
        (*motion)[0] = (float)out.v.x, (*motion)[1] = (float)out.v.y, (*motion)[2] = (float)out.v.z;
        *shift += (WadiF4){ (float)back.x, (float)back.y, (float)back.z, 0 };
    }
}

/* The sphere whose path is cut most by solids: the correction of its end, and the change of its velocity. */
typedef struct Cut {
    WadiVec3 back, change;
    double length; /* m, of `back` */
} Cut;

static Cut find_cut(const WadiDem *dem, const WadiCollideIn *in, const WadiDemBody *body)
{
    const WadiParticles *p = dem->context.particles;
    const int32_t *member = dem->bodies.member + body->first;
    const WadiVec3 spin = wadi_dem_body_spin(body), centre = wadi_add(body->centre, body->shift);
    Cut cut = { .length = 0.0 };
    for (int32_t k = 0; k < body->count; ++k) {
        const int32_t i = member[k];
        const WadiVec3 arm = wadi_dem_body_arm(body, dem->base[i]);
        const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] }, x1 = wadi_add(centre, arm);
        const WadiVec3 v = wadi_add(body->velocity, wadi_cross(spin, arm));
        const WadiCollideOut out = wadi_collide_move(in, x0, x1, v);
        const WadiVec3 back = wadi_sub(out.x, x1);
        if (wadi_norm(back) > cut.length) {
            cut = (Cut){ back, wadi_sub(out.v, v), wadi_norm(back) };
        }
    }
    return cut;
}

/* A body that solids stop moves as the sphere that they cut most, and loses its rotation. One that they hold
 * on several sides stays where it was. */
void wadi_dem_guard_body(const WadiDem *dem, const WadiDemStep *step, WadiDemBody *body,
                         const WadiDemBody *before)
{
    const WadiCollideIn in = collide_in(dem, step);
    for (int pass = 0; pass < PASSES; ++pass) {
        const Cut cut = find_cut(dem, &in, body);
        if (!(cut.length > EXACT * in.skin)) {
            return;
        }
        body->shift = wadi_add(body->shift, cut.back);
        body->velocity = wadi_add(body->velocity, cut.change);
        body->momentum = (WadiVec3){ 0, 0, 0 };
    }
    *body = *before;
    body->velocity = body->momentum = (WadiVec3){ 0, 0, 0 };
}

bool wadi_dem_guard_flight(const WadiDem *dem, const WadiDemStep *step)
{
    const WadiCollideIn in = collide_in(dem, step);
    WadiParticles *p = dem->context.particles;
    const bool are_bodies = dem->spheres_each > 1;
    bool is_stopped = false;
    for (int pass = are_bodies ? 0 : 1; pass < 2 && !is_stopped; ++pass) {
        for (int32_t i = dem->grains.count; i < p->count; ++i) {
            const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
            const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
            const WadiVec3 to = wadi_add_scaled(x, v, step->dt);
            WadiCollideReport report = { 0 };
            if (pass == 0) {
                const WadiCollideOut out = wadi_collide_move(&in, x, to, v);
                is_stopped = is_stopped || is_stopped_by(&in, &out, to);
            } else if (are_bodies) {
                p->x[i] = to.x, p->y[i] = to.y, p->z[i] = to.z;
            } else {
                wadi_collide_move_one(&in, p, i, to, &report);
            }
        }
    }
    return is_stopped;
}
