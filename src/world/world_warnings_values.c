/* Numbers that are valid but most likely in another unit: g/cm^3, radians, degrees for a coefficient, litres,
 * cm/s^2. */
#include <math.h>
#include <stdio.h>

#include "core/log.h"
#include "world/solver.h"
#include "world/world_warnings.h"

static const double PI = 3.14159265358979323846;

/* No bulk solid or liquid is lighter than 20 kg/m^3, and osmium has 22590. */
static const double LIGHTEST = 20.0, HEAVIEST = 23000.0;
/* Up to this an angle is hardly visible in degrees, and a right angle in radians. */
static const double LARGEST_RADIANS = 1.6;
/* Rubber on rubber has 1 to 2. */
static const double ROUGHEST = 5.0;
/* Mercury, the highest of all liquids at room temperature, has 0.49 N/m. */
static const double STRONGEST_TENSION = 1.0;
static const double LARGEST_GRAIN = 0.1; /* m */
/* Shortest plausible time in which an emitter fills the domain. */
static const double FASTEST_FILL = 1.0; /* s */

typedef struct Range {
    double least, most;
} Range;

static Range range_of(const WadiCurve *curve, int component)
{
    Range range = { curve->constant.value[component], curve->constant.value[component] };
    for (int k = 0; k < curve->key_count; ++k) {
        double value = curve->keys[k].value[component];
        range.least = k == 0 ? value : fmin(range.least, value);
        range.most = k == 0 ? value : fmax(range.most, value);
    }
    return range;
}

static void warn_angle(const char *where, const char *what, double angle, const WadiLog *log)
{
    wadi_log(log, WADI_LOG_WARNING,
             "%s: %s is %.4g degrees: angles are given in degrees; %.4g radians would be %.3g degrees", where,
             what, angle, angle, angle * 180.0 / PI);
}

static bool is_like_radians(double angle)
{
    return angle > 0.0 && angle < LARGEST_RADIANS;
}

static void warn_material(const WadiMaterial *m, const WadiLog *log)
{
    char what[160];
    if (m->density < LIGHTEST) {
        wadi_log(
            log, WADI_LOG_WARNING,
            "%s: materials.%s.density is %.4g kg/m^3, lighter than any sand or liquid: %.4g g/cm^3 would be "
            "%.4g kg/m^3",
            m->where_density.text, m->name, m->density, m->density, 1000.0 * m->density);
    } else if (m->density > HEAVIEST) {
        wadi_log(
            log, WADI_LOG_WARNING,
            "%s: materials.%s.density is %.6g kg/m^3, heavier than any metal: densities are in kg/m^3 (sand "
            "1600, water 1000)",
            m->where_density.text, m->name, m->density);
    }
    double angle = range_of(&m->friction_angle, 0).most;
    if (m->kind == WADI_MATERIAL_SAND && is_like_radians(angle)) {
        snprintf(what, sizeof what, "materials.%.100s.friction_angle", m->name);
        warn_angle(m->where_friction_angle.text, what, angle, log);
    }
    if (m->kind == WADI_MATERIAL_SAND && is_like_radians(m->friction_angle_fast)) {
        snprintf(what, sizeof what, "materials.%.100s.friction_angle_fast", m->name);
        warn_angle(m->where.text, what, m->friction_angle_fast, log);
    }
    double tension = range_of(&m->surface_tension, 0).most;
    if (tension > STRONGEST_TENSION) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: materials.%s.surface_tension is %.4g N/m, more than any liquid's: %.4g mN/m would be "
                 "%.3g N/m",
                 m->where.text, m->name, tension, tension, 1e-3 * tension);
    }
    if (m->kind == WADI_MATERIAL_SAND && m->grain_size > LARGEST_GRAIN) {
        wadi_log(log, WADI_LOG_WARNING, "%s: materials.%s.grain_size is %.3g m: %.3g mm would be %.3g m",
                 m->where.text, m->name, m->grain_size, m->grain_size, 1e-3 * m->grain_size);
    }
}

static void warn_friction(const char *where, const char *what, const WadiCurve *friction, const WadiLog *log)
{
    double most = range_of(friction, 0).most;
    if (most > ROUGHEST && most < 90.0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: %s is %.4g: it is a coefficient, not an angle; an angle of %.4g degrees would be %.2f",
                 where, what, most, most, tan(most * PI / 180.0));
    } else if (most > ROUGHEST) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: %s is %.4g: it is a coefficient, for sand on most walls 0.2 to 1", where, what, most);
    }
}

/* A rotation of 1.57, or of 3.14 or 6.28 correct to a thousandth. */
static bool is_turn_in_radians(double angle)
{
    double quarters = angle / (0.5 * PI), nearest = rint(quarters);
    bool is_round = nearest >= 2.0 && nearest <= 4.0 && fabs(quarters - nearest) < 1e-3 * nearest;
    return is_like_radians(angle) || is_round;
}

static void warn_rotation(const WadiShapeDef *def, const WadiLog *log)
{
    double most = 0.0;
    for (int a = 0; a < 3; ++a) {
        Range range = range_of(&def->rotate, a);
        most = fmax(most, fmax(range.most, -range.least));
    }
    if (is_turn_in_radians(most)) {
        warn_angle(def->where, "rotate of this shape", most, log);
    }
    for (int i = 0; i < def->child_count; ++i) {
        warn_rotation(&def->children[i], log);
    }
}

static void warn_gravity(const WadiScene *scene, const WadiLog *log)
{
    const char *where = scene->where_gravity.text;
    Range x = range_of(&scene->gravity, 0), y = range_of(&scene->gravity, 1),
          z = range_of(&scene->gravity, 2);
    WadiVec3 g = wadi_curve_value3(&scene->gravity, 0.0);
    double strength = wadi_norm(g);
    if (z.least > 0.0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: gravity points up ([%.4g, %.4g, %.4g]): z is up, so its z is negative", where, g.x, g.y,
                 g.z);
    } else if (wadi_curve_is_constant(&scene->gravity) && g.z == 0.0 && g.x == 0.0 && g.y < 0.0) {
        wadi_log(
            log, WADI_LOG_WARNING,
            "%s: gravity points along y ([0, %.4g, 0]): z is up here, as in Blender; [0, 0, %.4g] is down",
            where, g.y, g.y);
    }
    if (fabs(strength - 981.0) < 2.0 || fabs(strength - 9810.0) < 20.0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: gravity is %.5g m/s^2: lengths are metres, so that of the earth is 9.81", where,
                 strength);
    }
    bool is_weightless =
        x.least == 0.0 && x.most == 0.0 && y.least == 0.0 && y.most == 0.0 && z.least == 0.0 && z.most == 0.0;
    bool has_motion = scene->force_count > 0 || scene->emitter_count > 0;
    for (int m = 0; m < scene->material_count; ++m) {
        has_motion = has_motion || range_of(&scene->materials[m].surface_tension, 0).most > 0.0;
    }
    for (int b = 0; b < scene->body_count; ++b) {
        has_motion = has_motion || wadi_norm(scene->bodies[b].velocity) > 0.0 ||
                     wadi_norm(scene->bodies[b].angular_velocity) > 0.0;
    }
    if (scene->frames > 1 && is_weightless && !has_motion && scene->collider_count == 0) {
        wadi_log(
            log, WADI_LOG_WARNING,
            "%s: nothing moves: gravity is [0, 0, 0], and there is no velocity, force, emitter or collider",
            where);
    }
}

static void warn_rate(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiEmitterDef *emitter = &scene->emitters[index];
    double rate = range_of(&emitter->rate, 0).most;
    double duration = wadi_scene_frame_time(scene, scene->frames);
    if (rate > 0.0 && emitter->start < duration && fmin(emitter->end, duration) > emitter->start &&
        wadi_emit_expected(&world->emitters[index], duration) < 1.0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: emitters[%d] pours no particle in %.3g s: its rate is %.3g m^3/s and a particle has "
                 "%.3g m^3",
                 emitter->where.text, index, duration, rate, world->particle_volume);
    }
    if (!scene->has_domain) {
        return;
    }
    WadiVec3 size = wadi_box_size(scene->domain);
    double volume = size.x * size.y * size.z;
    if (rate * FASTEST_FILL > volume) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: emitters[%d].rate is %.4g m^3/s, which fills the whole domain in %.2g s: rates are in "
                 "m^3/s, "
                 "and a litre is 0.001 m^3",
                 emitter->where.text, index, rate, volume / rate);
    }
}

/* One line for all keys of pores that the solver does not know. */
static void warn_pores(const WadiScene *scene, const WadiLog *log)
{
    const char *where = NULL, *key = "saturation";
    for (int b = 0; b < scene->body_count; ++b) {
        where = scene->bodies[b].saturation > 0.0 ? scene->bodies[b].where_saturation.text : where;
    }
    for (int e = 0; e < scene->emitter_count; ++e) {
        where = scene->emitters[e].saturation > 0.0 ? scene->emitters[e].where_saturation.text : where;
    }
    for (int m = 0; m < scene->material_count && where == NULL; ++m) {
        if (scene->materials[m].where_pores.text[0] != '\0') {
            where = scene->materials[m].where_pores.text;
            key = "the keys of a material's pores";
        }
    }
    if (where != NULL && scene->solver_type != NULL && !scene->solver_type->has_pores) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: the solver %s has no water in sand: %s %s no effect; the solver sph has it", where,
                 scene->solver, key, key[0] == 's' ? "has" : "have");
    }
}

static void warn_other_settings(const WadiScene *scene, const WadiLog *log)
{
    if (scene->where_other_settings.text[0] != '\0') {
        wadi_log(log, WADI_LOG_WARNING, "%s: settings of another solver have no effect; the solver is %s",
                 scene->where_other_settings.text, scene->solver);
    }
}

void wadi_warn_values(const WadiScene *scene, const WadiLog *log)
{
    char what[160];
    for (int m = 0; m < scene->material_count; ++m) {
        warn_material(&scene->materials[m], log);
    }
    warn_friction(scene->where_wall_friction.text, "domain.walls.friction", &scene->wall_friction, log);
    for (int c = 0; c < scene->collider_count; ++c) {
        snprintf(what, sizeof what, "colliders[%d].friction", c);
        warn_friction(scene->colliders[c].where.text, what, &scene->colliders[c].friction, log);
        warn_rotation(&scene->colliders[c].shape, log);
    }
    for (int b = 0; b < scene->body_count; ++b) {
        warn_rotation(&scene->bodies[b].shape, log);
    }
    for (int e = 0; e < scene->emitter_count; ++e) {
        warn_rotation(&scene->emitters[e].shape, log);
    }
    warn_gravity(scene, log);
    warn_pores(scene, log);
    warn_other_settings(scene, log);
    double view = range_of(&scene->render.camera.angle, 0).most;
    if (scene->render.camera.is_given && is_like_radians(view)) {
        warn_angle(scene->where_camera.text, "render.camera.angle", view, log);
    }
}

void wadi_world_warn(const WadiWorld *world, const WadiLog *log)
{
    if (log == NULL || log->function == NULL) {
        return;
    }
    wadi_warn_values(world->scene, log);
    for (int e = 0; e < world->scene->emitter_count; ++e) {
        warn_rate(world, e, log);
    }
    wadi_warn_positions(world, log);
}
