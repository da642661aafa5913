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

bool wadi_world_is_steady(const WadiWorld *world, double t0, double t1)
{
    const WadiScene *scene = world->scene;
    bool is_steady = wadi_curve_is_steady(&scene->gravity, t0, t1) &&
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
    for (int i = 0; i < scene->force_count && is_steady; ++i) {
        is_steady = force_is_steady(&world->forces[i], t0, t1);
    }
    return is_steady;
}

bool wadi_world_disturbs(const WadiWorld *world, WadiVec3 x, double radius, double t0, double t1)
{
    for (int i = 0; i < world->solids.count; ++i) {
        const WadiShape *shape = world->solids.solids[i].shape;
        if (!wadi_shape_is_moving(shape)) {
            continue;
        }
        double speed = wadi_shape_speed_bound(shape, x, radius, t0, t1);
        double before = wadi_shape_clearance(shape, x, t0), after = wadi_shape_clearance(shape, x, t1);
        /* Shapes that jump from key to key have no speed: compare the distances. */
        bool does_move = speed > 0.0 || before != after;
        if (does_move && fmin(before, after) - speed * (t1 - t0) < radius) {
            return true;
        }
    }
    return false;
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
