/* Newton's third law at walls: force F and torque T on a grain about its centre x give the solid -F, and
 * -(x - pivot) x F - T about its pivot. */
#include "dem/walls/dem_wall_loads.h"

enum { NORMAL_FORCE = 3, STIFFNESS = 7 }; /* of WadiDemWall.spring */

static WadiVec3 head_of(const WadiF8 *v)
{
    return wadi_vec3((double)(*v)[0], (double)(*v)[1], (double)(*v)[2]);
}

static WadiVec3 tail_of(const WadiF8 *v)
{
    return wadi_vec3((double)(*v)[4], (double)(*v)[5], (double)(*v)[6]);
}

static WadiVec3 normal_of(const WadiDemWall *wall)
{
    return wadi_vec3((double)wall->normal[0], (double)wall->normal[1], (double)wall->normal[2]);
}

void wadi_dem_wall_remember(WadiDemWall *wall, const WadiF8 *load)
{
    const WadiVec3 n = normal_of(wall), force = head_of(load), spring = head_of(&wall->spring);
    const double normal = wadi_dot(force, n), stretch = wadi_norm(spring);
    const double friction = wadi_norm(wadi_add_scaled(force, n, -normal));
    wall->spring[NORMAL_FORCE] = (float)normal;
    wall->spring[STIFFNESS] = stretch > 0.0 ? (float)(friction / stretch) : 0.0f;
}

/* Of a grain at rest: damping vanishes, and springs act with their stiffness. */
static void load_at_rest(const WadiDemWall *wall, double radius, WadiVec3 *force, WadiVec3 *torque)
{
    const WadiVec3 n = normal_of(wall);
    const double stiffness = (double)wall->spring[STIFFNESS];
    const WadiVec3 friction = wadi_scale(head_of(&wall->spring), -stiffness);
    const WadiVec3 rolling = wadi_scale(tail_of(&wall->spring), -stiffness);
    *force = wadi_add_scaled(friction, n, (double)wall->spring[NORMAL_FORCE]);
    *torque = wadi_scale(wadi_cross(n, wadi_add(friction, rolling)), -radius);
}

/* Where the centre of the grain was when the normal was sampled, from the pivot: pressure acts through there
 * along the normal. Normals of flat walls hold everywhere. */
static WadiVec3 arm_of(const WadiDemWallLoads *in, const WadiDemWall *wall, WadiVec3 pivot)
{
    const WadiParticles *p = in->particles;
    const int32_t i = wall->grain;
    const WadiVec3 arm = wadi_sub(wadi_vec3(p->x[i], p->y[i], p->z[i]), pivot);
    if (in->load == NULL || wall->is_flat) {
        return arm;
    }
    const WadiF4 moved = in->shift[i] - wall->sampled;
    return wadi_sub(arm, wadi_vec3((double)moved[0], (double)moved[1], (double)moved[2]));
}

static int load_index(const WadiDemWallLoads *in, int32_t solid)
{
    const int32_t sphere = solid - in->solids->count;
    if (solid < 0) {
        return wadi_load_of_side(-1 - solid);
    }
    return wadi_load_of_collider(sphere >= 0 ? wadi_dem_cover_solid(in->cover, sphere) : solid);
}

void wadi_dem_add_wall_loads(const void *context, int64_t first, int64_t end, WadiSolidLoad *sum)
{
    const WadiDemWallLoads *in = context;
    const WadiParticles *p = in->particles;
    for (int64_t w = first; w < end; ++w) {
        const WadiDemWall *wall = &in->wall[w];
        if (wall->touches == 0 || wall->grain >= p->count) {
            continue;
        }
        const int32_t i = wall->grain;
        WadiVec3 force, torque;
        if (in->load != NULL) {
            force = head_of(&in->load[w]);
            torque = tail_of(&in->load[w]);
        } else {
            load_at_rest(wall, (double)in->radius[i], &force, &torque);
        }
        const int index = load_index(in, wall->solid);
        const WadiVec3 n = normal_of(wall), arm = arm_of(in, wall, in->pivot[index]);
        const WadiVec3 pressure = wadi_scale(n, wadi_dot(force, n));
        wadi_solid_load_press(&sum[index], arm, wadi_scale(pressure, -1.0));
        wadi_solid_load_rub(&sum[index], arm, wadi_sub(pressure, force));
        sum[index].friction_torque = wadi_sub(sum[index].friction_torque, torque);
    }
}
