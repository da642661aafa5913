/* The walls' part of a friction iteration: tractions to velocities on the faces, slip to tractions.
 * Both forms are exact transposes of each other, so that walls at rest cannot raise the kinetic energy. */
#include "flip/friction/flip_friction_slots.h"

static void add_facets(const WadiFriction *friction, int32_t s, WadiFrictionFaces *force)
{
    const int32_t *near = friction->slot[s].near;
    for (unsigned left = friction->slot[s].face_walls & ALIGNED_SIDES; left != 0; left &= left - 1) {
        int side = __builtin_ctz(left);
        for (int which = 0; which < 2; ++which) {
            int axis = wadi_friction_tangent(side, which);
            int32_t here = friction->wall[s][side], low = friction->wall[near[2 * axis]][side];
            if ((here | low) == 0) {
                continue;
            }
            WadiF8 high_copy =
                friction->traction[low].t[2 * which + 1] * friction->facets[low].weight.t[2 * which + 1];
            if (axis == 0) {
                high_copy = WADI_ROW_SHIFT_UP(high_copy, friction->traction[here].t[1] *
                                                             friction->facets[here].weight.t[1]);
            }
            force->c[axis] +=
                friction->traction[here].t[2 * which] * friction->facets[here].weight.t[2 * which] +
                high_copy;
        }
    }
}

/* Force of the walls across the cells of a slot on their faces of one side. */
static WadiF8 oblique_force(const WadiFriction *friction, int32_t s, int side)
{
    int32_t w = friction->wall[s][OBLIQUE];
    if (w == 0) {
        return wadi_splat(0.0f);
    }
    return friction->traction[w].t[side >> 1] * friction->oblique[friction->facets[w].oblique].weight[side];
}

static void add_oblique(const WadiFriction *friction, int32_t s, WadiFrictionFaces *force)
{
    const int32_t *near = friction->slot[s].near;
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 high = oblique_force(friction, near[2 * axis], 2 * axis + 1);
        if (axis == 0) {
            high = WADI_ROW_SHIFT_UP(high, oblique_force(friction, s, 1));
        }
        force->c[axis] += oblique_force(friction, s, 2 * axis) + high;
    }
}

void wadi_friction_add_walls(const WadiFriction *friction, int32_t s, WadiFrictionFaces *force)
{
    add_facets(friction, s, force);
    if (friction->slot[s].face_walls >> OBLIQUE & 1) {
        add_oblique(friction, s, force);
    }
}

static inline WadiF8 extrapolated(WadiF8 now, WadiF8 old, float beta)
{
    return now + wadi_splat(beta) * (now - old);
}

static void faces_along(const WadiFrictionIteration *it, int32_t s, int axis, WadiF8 face[2])
{
    WadiF8 next = it->velocity[it->friction->slot[s].near[2 * axis + 1]].c[axis];
    face[0] = it->velocity[s].c[axis];
    face[1] = axis == 0 ? (WadiF8)WADI_ROW_SHIFT_DOWN(face[0], next) : next;
}

/* Slip against the solid on the four faces of a row of facets, and the disc of radius mu P. */
static void update_facets(const WadiFrictionIteration *it, int32_t w, WadiFrictionSums *sums)
{
    const WadiFriction *friction = it->friction;
    const WadiFrictionFacets *facets = &friction->facets[w];
    const WadiFrictionWall *now = &friction->traction[w];
    WadiFrictionWall *result = &friction->traction_previous[w];
    WadiF8 zero = wadi_splat(0.0f), square = zero, trial[4];
    for (int which = 0; which < 2; ++which) {
        WadiF8 face[2];
        faces_along(it, facets->slot, wadi_friction_tangent(facets->side, which), face);
        for (int high = 0; high < 2; ++high) {
            int n = 2 * which + high;
            WadiF8 slip = face[high] - facets->solid[which];
            WadiF8 y = extrapolated(now->t[n], result->t[n], it->beta);
            trial[n] =
                wadi_masked(y - wadi_splat(it->alpha) * facets->step.t[n] * slip, facets->weight.t[n] > zero);
            square += facets->inverse[which] * trial[n] * trial[n];
        }
    }
    WadiF8 factor = wadi_ball_factor(square, it->wall_bound[w]);
    for (int n = 0; n < 4; ++n) {
        WadiF8 value = factor * trial[n];
        WadiF8 step = value - now->t[n];
        sums->work += step * facets->weight.t[n] * facets->solid[n >> 1];
        sums->change = WADI_MAX8(wadi_abs8(step), sums->change);
        result->t[n] = value;
    }
}

/* Slip of the cells' material against the solid, its part in the plane of the wall, and the disc of radius
 * mu P |A|. */
static void update_oblique(const WadiFrictionIteration *it, int32_t w, WadiFrictionSums *sums)
{
    const WadiFriction *friction = it->friction;
    const WadiFrictionFacets *facets = &friction->facets[w];
    const WadiFrictionOblique *oblique = &friction->oblique[facets->oblique];
    const WadiFrictionWall *now = &friction->traction[w];
    WadiFrictionWall *result = &friction->traction_previous[w];
    WadiF8 zero = wadi_splat(0.0f);
    WadiF8 along = zero, square = zero, trial[3];
    WadiF8 gain = wadi_splat(it->alpha) * oblique->step;
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 face[2];
        faces_along(it, facets->slot, axis, face);
        WadiF8 slip = oblique->weight[2 * axis] * (face[0] - oblique->solid[axis]) +
                      oblique->weight[2 * axis + 1] * (face[1] - oblique->solid[axis]);
        trial[axis] = extrapolated(now->t[axis], result->t[axis], it->beta) - gain * slip;
        along += oblique->normal[axis] * trial[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        trial[axis] -= along * oblique->normal[axis];
        square += trial[axis] * trial[axis];
    }
    WadiF8 factor = wadi_ball_factor(square, it->wall_bound[w]);
    for (int axis = 0; axis < 3; ++axis) {
        WadiF8 value = wadi_masked(factor * trial[axis], oblique->step > zero);
        WadiF8 step = value - now->t[axis];
        sums->work +=
            step * (oblique->weight[2 * axis] + oblique->weight[2 * axis + 1]) * oblique->solid[axis];
        sums->change = WADI_MAX8(wadi_abs8(step), sums->change);
        result->t[axis] = value;
    }
}

void wadi_friction_update_walls(const WadiFrictionIteration *it, int32_t s, WadiFrictionSums *sums)
{
    const int32_t *wall = it->friction->wall[s];
    for (unsigned left = it->friction->slot[s].cell_walls & ALIGNED_SIDES; left != 0; left &= left - 1) {
        update_facets(it, wall[__builtin_ctz(left)], sums);
    }
    if (wall[OBLIQUE] != 0) {
        update_oblique(it, wall[OBLIQUE], sums);
    }
}
