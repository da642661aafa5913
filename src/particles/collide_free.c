/* Which paths meet nothing, for many particles at once: all but a few, and then a collision costs a few instructions.
 *
 * Walls: the inside of the domain is convex, so a straight path is free of them when both its ends are. Other solids:
 * neighbours in the store are neighbours in space once it is sorted, so a ball around a group of starts and its longest path
 * asks for one distance instead of one a particle. What this leaves open is for wadi_collide_move to decide. */
#include "particles/collide_free.h"

#include <math.h>
#include <string.h>

#include "particles/contact.h"

enum { GROUP = WADI_COLLIDE_GROUP };

static bool is_closed(const WadiSolids *solids, int side)
{
    return (solids->closed_sides & side) != 0;
}

/* Ends of one axis, and the bounds they have to lie between: false for what is no number. */
static void keep_between(const double *restrict x0, const double *restrict x1, double low, double high,
                         int count, uint8_t *restrict is_free)
{
    for (int l = 0; l < count; ++l) {
        bool is_inside = (x0[l] > low) & (x0[l] < high) & (x1[l] > low) & (x1[l] < high);
        is_free[l] = (uint8_t)(is_free[l] & is_inside);
    }
}

static void find_free_of_walls(const WadiCollideIn *in, const WadiCollideGroup *group, uint8_t is_free[GROUP])
{
    const WadiSolids *s = in->solids;
    double band = WADI_CONTACT_BAND * in->skin;
    const double low[3] = { is_closed(s, WADI_SIDE_X_MIN) ? s->domain.min.x + band : -HUGE_VAL,
                            is_closed(s, WADI_SIDE_Y_MIN) ? s->domain.min.y + band : -HUGE_VAL,
                            is_closed(s, WADI_SIDE_Z_MIN) ? s->domain.min.z + band : -HUGE_VAL };
    const double high[3] = { is_closed(s, WADI_SIDE_X_MAX) ? s->domain.max.x - band : HUGE_VAL,
                             is_closed(s, WADI_SIDE_Y_MAX) ? s->domain.max.y - band : HUGE_VAL,
                             is_closed(s, WADI_SIDE_Z_MAX) ? s->domain.max.z - band : HUGE_VAL };
    memset(is_free, 1, GROUP);
    for (int a = 0; a < 3; ++a) {
        keep_between(group->from[a], group->to[a], low[a], high[a], group->count, is_free);
    }
}

/* Whether all solids but the walls stay clear of the ball that holds every path of the group. */
static bool are_solids_far(const WadiCollideIn *in, const WadiCollideGroup *group)
{
    double centre[3], reach2 = 0.0;
    for (int a = 0; a < 3; ++a) {
        double low = group->from[a][0], high = low;
        for (int l = 1; l < group->count; ++l) {
            low = fmin(low, group->from[a][l]);
            high = fmax(high, group->from[a][l]);
        }
        centre[a] = 0.5 * (low + high);
    }
    for (int l = 0; l < group->count; ++l) {
        double start2 = 0.0, end2 = 0.0;
        for (int a = 0; a < 3; ++a) {
            double s = group->from[a][l] - centre[a], e = group->to[a][l] - centre[a];
            start2 += s * s;
            end2 += e * e;
        }
        reach2 = start2 > reach2 ? start2 : reach2;
        reach2 = end2 > reach2 ? end2 : reach2;
    }
    WadiSolids solids = *in->solids;
    solids.closed_sides = 0;
    WadiVec3 x = { centre[0], centre[1], centre[2] };
    double far = sqrt(reach2) + 2.0 * WADI_CONTACT_BAND * in->skin;
    far += (in->t1 - in->t0) * wadi_solids_speed_bound(&solids, x, far, in->t0, in->t1);
    return wadi_solids_distance(&solids, x, in->t0, far) >= far;
}

void wadi_collide_find_free(const WadiCollideIn *in, const WadiCollideGroup *group,
                            uint8_t is_free[WADI_COLLIDE_GROUP])
{
    find_free_of_walls(in, group, is_free);
    if (in->solids->count > 0 && !are_solids_far(in, group)) {
        memset(is_free, 0, GROUP);
    }
}
