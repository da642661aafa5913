/* Whether the surroundings of sleeping material change during a step. Functions of time alone, so a resumed
 * run decides as the unbroken one. */
#include "world/world.h"

static bool force_is_steady(const WadiForce *force, double t0, double t1)
{
    const WadiForceDef *def = force->def;
    if (def->end < t0 || def->start > t1) {
        return true;
    }
    if (def->start > t0 || def->end < t1 || (force->region != NULL && wadi_shape_is_moving(force->region))) {
        return false;
    }
    const WadiCurve *curve[5] = { &def->acceleration, &def->velocity, &def->rate, &def->center,
                                  &def->strength };
    for (int i = 0; i < 5; ++i) {
        if (!wadi_curve_is_steady(curve[i], t0, t1)) {
            return false;
        }
    }
    return true;
}

bool wadi_world_forces_are_steady(const WadiWorld *world, double t0, double t1)
{
    bool is_steady = wadi_curve_is_steady(&world->scene->gravity, t0, t1);
    for (int i = 0; i < world->scene->force_count && is_steady; ++i) {
        is_steady = force_is_steady(&world->forces[i], t0, t1);
    }
    return is_steady;
}

bool wadi_world_is_steady(const WadiWorld *world, double t0, double t1)
{
    const WadiScene *scene = world->scene;
    bool is_steady = wadi_world_forces_are_steady(world, t0, t1) &&
                     wadi_curve_is_steady(&scene->wall_friction, t0, t1) &&
                     wadi_curve_is_steady(&scene->wall_restitution, t0, t1);
    for (int m = 0; m < scene->material_count && is_steady; ++m) {
        is_steady = scene->materials[m].is_unused ||
                    (wadi_curve_is_steady(&scene->materials[m].friction_angle, t0, t1) &&
                     wadi_curve_is_steady(&scene->materials[m].cohesion, t0, t1) &&
                     wadi_curve_is_steady(&scene->materials[m].viscosity, t0, t1) &&
                     wadi_curve_is_steady(&scene->materials[m].surface_tension, t0, t1));
    }
    for (int i = 0; i < scene->collider_count && is_steady; ++i) {
        is_steady = wadi_curve_is_steady(&scene->colliders[i].friction, t0, t1) &&
                    wadi_curve_is_steady(&scene->colliders[i].restitution, t0, t1);
    }
    return is_steady;
}

static bool solid_disturbs(const WadiShape *shape, WadiVec3 x, double radius, double t0, double t1)
{
    const double speed = wadi_shape_speed_bound(shape, x, radius, t0, t1);
    const int jumps = wadi_shape_jump_count(shape, t0, t1);
    if (!(speed > 0.0) && jumps == 0) {
        return false;
    }
    /* Between two jumps it may be anywhere. */
    return jumps > 1 ||
           fmin(wadi_shape_clearance(shape, x, t0), wadi_shape_clearance(shape, x, t1)) - speed * (t1 - t0) <
               radius;
}

bool wadi_world_disturbs(const WadiWorld *world, WadiVec3 x, double radius, double t0, double t1)
{
    for (int i = 0; i < world->solids.count; ++i) {
        const WadiShape *shape = world->solids.solids[i].shape;
        if (wadi_shape_is_moving(shape) && solid_disturbs(shape, x, radius, t0, t1)) {
            return true;
        }
    }
    return false;
}

double wadi_world_solid_speed(const WadiWorld *world, WadiBox box, double t0, double t1)
{
    double speed = 0.0;
    for (int i = 0; i < world->solids.count; ++i) {
        const WadiShape *shape = world->solids.solids[i].shape;
        if (!wadi_shape_is_moving(shape)) {
            continue;
        }
        const WadiBox there = wadi_box_intersection(
            box, wadi_box_union(wadi_shape_bounds(shape, t0), wadi_shape_bounds(shape, t1)));
        const WadiVec3 size = wadi_box_size(there);
        if (size.x >= 0.0 && size.y >= 0.0 && size.z >= 0.0) {
            const WadiVec3 middle = wadi_scale(wadi_add(there.min, there.max), 0.5);
            speed = fmax(speed, wadi_shape_speed_bound(shape, middle, 0.5 * wadi_norm(size), t0, t1));
        }
    }
    return speed;
}

bool wadi_world_is_closed(const WadiWorld *world, double t0, double t1)
{
    const WadiScene *scene = world->scene;
    for (int i = 0; i < scene->emitter_count; ++i) {
        if (scene->emitters[i].start < t1 && scene->emitters[i].end > t0) {
            return false;
        }
    }
    for (int i = 0; i < scene->drain_count; ++i) {
        if (scene->drains[i].start <= t1 && scene->drains[i].end >= t0) {
            return false;
        }
    }
    return true;
}
