/* Shapes at positions where they have no effect, or not the intended one. Shapes are compared by their bounds
 * and by a lattice of samples: accurate enough for a warning, and at most about ten milliseconds per
 * shape. */
#include <math.h>
#include <stdio.h>

#include "core/log.h"
#include "world/world_warnings.h"

enum { SAMPLES = 20, SAMPLES_OF_MANY = 8, MANY = 50, TIMES = 64, ENOUGH_SAMPLES = 40 };

/* A mesh this many times larger than the domain is in millimetres or centimetres. */
static const double RATIO_MILLIMETRES = 100.0, RATIO_CENTIMETRES = 10.0;
/* Fractions of a body that may be cut off without a warning: by the domain, and by colliders. Vessels are
 * filled that way: a cone leaves a quarter of its box. */
static const double CUT_BY_DOMAIN = 0.02, CUT_BY_COLLIDERS = 0.8;
static const double EMITTER_OUTSIDE = 0.25;

static const char *const side_names[6] = { "x_min", "x_max", "y_min", "y_max", "z_min", "z_max" };

static double longest(WadiVec3 size)
{
    return fmax(size.x, fmax(size.y, size.z));
}

static double shortest(WadiVec3 size)
{
    return fmin(size.x, fmin(size.y, size.z));
}

/* Distance of the box beyond a side of the domain (index of WADI_SIDE_…, x_min first); negative: it extends
 * inside. */
static double beyond_side(WadiBox domain, WadiBox box, int side)
{
    int a = side / 2;
    return side % 2 == 0 ? wadi_component(domain.min, a) - wadi_component(box.max, a)
                         : wadi_component(box.min, a) - wadi_component(domain.max, a);
}

/* The side beyond which the whole box is, or -1. */
static int side_outside(const WadiScene *scene, WadiBox box)
{
    for (int side = 0; scene->has_domain && side < 6; ++side) {
        if (beyond_side(scene->domain, box, side) >= 0.0) {
            return side;
        }
    }
    return -1;
}

static bool has_mesh(const WadiShapeDef *def)
{
    bool is_mesh = def->kind == WADI_SHAPE_MESH || def->kind == WADI_SHAPE_MESH_SEQUENCE;
    for (int i = 0; !is_mesh && i < def->child_count; ++i) {
        is_mesh = has_mesh(&def->children[i]);
    }
    return is_mesh;
}

enum { HINT_SIZE = 200, NAME_SIZE = 80 };

/* Hint for a mesh that is far too large for the domain; empty otherwise. */
static void unit_hint(const WadiScene *scene, const WadiShapeDef *def, WadiBox box, char hint[HINT_SIZE])
{
    hint[0] = '\0';
    double size = longest(wadi_box_size(box)), domain = longest(wadi_box_size(scene->domain));
    if (!scene->has_domain || !has_mesh(def) || !(size > RATIO_CENTIMETRES * domain) || !isfinite(size)) {
        return;
    }
    bool is_millimetres = size > RATIO_MILLIMETRES * domain;
    snprintf(hint, HINT_SIZE,
             "; its mesh is %.3g m long and the domain %.3g m: if it is in %s, give the shape scale: %s",
             size, domain, is_millimetres ? "millimetres" : "centimetres", is_millimetres ? "0.001" : "0.01");
}

/* Lattice samples inside a shape, counted by what else contains them. */
typedef struct Parts {
    int inside, in_domain, in_colliders, in_bodies;
    int collider, body; /* the first that contains a sample; -1: none */
} Parts;

static bool overlaps(WadiBox a, WadiBox b)
{
    return !wadi_box_is_empty(wadi_box_intersection(a, b));
}

static bool is_in_collider(const WadiWorld *world, WadiVec3 x, WadiBox bounds, double time, int *which)
{
    for (int c = 0; c < world->scene->collider_count; ++c) {
        const WadiShape *shape = world->collider_shapes[c];
        if (overlaps(wadi_shape_bounds(shape, time), bounds) && wadi_shape_contains(shape, x, time)) {
            *which = *which < 0 ? c : *which;
            return true;
        }
    }
    return false;
}

static bool is_in_earlier_body(const WadiWorld *world, WadiVec3 x, int body_count, int *which)
{
    for (int b = 0; b < body_count; ++b) {
        if (wadi_shape_contains(world->body_shapes[b], x, 0.0)) {
            *which = *which < 0 ? b : *which;
            return true;
        }
    }
    return false;
}

/* Samples of the lattice over `box`. */
static Parts sample_parts(const WadiWorld *world, const WadiShape *shape, WadiBox box, double time,
                          int body_count)
{
    const WadiScene *scene = world->scene;
    Parts parts = { .collider = -1, .body = -1 };
    if (wadi_box_is_empty(box) || !wadi_is_finite(box.min) || !wadi_is_finite(box.max)) {
        return parts;
    }
    int n =
        scene->body_count + scene->emitter_count + scene->collider_count > MANY ? SAMPLES_OF_MANY : SAMPLES;
    WadiVec3 size = wadi_box_size(box);
    for (int i = 0; i < n * n * n; ++i) {
        const int at[3] = { i % n, i / n % n, i / (n * n) };
        WadiVec3 part = { (at[0] + 0.5) / n, (at[1] + 0.5) / n, (at[2] + 0.5) / n };
        WadiVec3 x = wadi_add(box.min, wadi_mul(size, part));
        if (!wadi_shape_contains(shape, x, time)) {
            continue;
        }
        parts.inside += 1;
        if (scene->has_domain && !wadi_box_contains(scene->domain, x)) {
            continue;
        }
        parts.in_domain += 1;
        if (is_in_collider(world, x, box, time, &parts.collider)) {
            parts.in_colliders += 1;
        } else if (is_in_earlier_body(world, x, body_count, &parts.body)) {
            parts.in_bodies += 1;
        }
    }
    return parts;
}

static const char *collider_name(const WadiScene *scene, int index, char name[NAME_SIZE])
{
    const char *given = scene->colliders[index].name;
    if (given != NULL && given[0] != '\0') {
        snprintf(name, NAME_SIZE, "colliders[%d] '%.40s'", index, given);
    } else {
        snprintf(name, NAME_SIZE, "colliders[%d]", index);
    }
    return name;
}

static void warn_empty(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiBodyDef *body = &scene->bodies[index];
    WadiBox box = wadi_shape_bounds(world->body_shapes[index], 0.0);
    char hint[HINT_SIZE], name[NAME_SIZE], why[480];
    unit_hint(scene, &body->shape, box, hint);
    int side = side_outside(scene, box);
    double size = longest(wadi_box_size(box));
    if (wadi_box_is_empty(box)) {
        snprintf(why, sizeof why, "its shape is empty");
    } else if (side >= 0) {
        snprintf(why, sizeof why, "it lies outside the domain, %.3g m beyond its side %s",
                 beyond_side(scene->domain, box, side), side_names[side]);
    } else if (size < world->spacing) {
        snprintf(
            why, sizeof why,
            "it is %.3g m long and smaller than one particle (%.3g m): use smaller cells, or is it given in "
            "another unit than metres?",
            size, world->spacing);
    } else if (shortest(wadi_box_size(box)) < world->spacing) {
        snprintf(why, sizeof why, "it is %.3g m thin, less than one particle (%.3g m): use smaller cells",
                 shortest(wadi_box_size(box)), world->spacing);
    } else {
        Parts parts = sample_parts(world, world->body_shapes[index], box, 0.0, index);
        if (parts.in_domain == 0 && parts.inside > 0) {
            snprintf(why, sizeof why, "it lies outside the domain");
        } else if (parts.in_colliders > parts.in_bodies) {
            snprintf(why, sizeof why, "it lies inside %s", collider_name(scene, parts.collider, name));
        } else if (parts.in_bodies > 0) {
            snprintf(why, sizeof why, "it lies inside bodies[%d], which comes first", parts.body);
        } else {
            snprintf(why, sizeof why, "it is smaller than a cell, inside solids or inside bodies before it");
        }
    }
    wadi_log(log, WADI_LOG_WARNING, "%s: bodies[%d] of %s: this body has no particles: %s%s",
             body->where.text, index, body->material_name, why, hint);
}

void wadi_warn_count(const WadiWorld *world, int index, int64_t count, const WadiLog *log)
{
    const WadiBodyDef *body = &world->scene->bodies[index];
    double thin = shortest(wadi_box_size(wadi_shape_bounds(world->body_shapes[index], 0.0)));
    if (count == 0) {
        warn_empty(world, index, log);
    } else if (thin < world->cell_size * (1.0 - 1e-9)) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: bodies[%d] of %s is %.3g m thin, less than a cell of %.3g m: use smaller cells, or is "
                 "it given in "
                 "another unit than metres?",
                 body->where.text, index, body->material_name, thin, world->cell_size);
    }
}

/* Warns with the side and the fraction `part` of a bounded body that the domain cuts off. */
static bool warn_cut_by_domain(const WadiWorld *world, int index, WadiBox box, double part,
                               const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiBodyDef *body = &scene->bodies[index];
    char hint[HINT_SIZE], sides[64] = "";
    int used = 0;
    for (int side = 0; side < 6; ++side) {
        int a = side / 2;
        double over = side % 2 == 0 ? wadi_component(scene->domain.min, a) - wadi_component(box.min, a)
                                    : wadi_component(box.max, a) - wadi_component(scene->domain.max, a);
        if (over > world->cell_size) {
            used += snprintf(sides + used, sizeof sides - (size_t)used, "%s%s", used > 0 ? ", " : "",
                             side_names[side]);
        }
    }
    if (!(part > CUT_BY_DOMAIN) || used == 0) {
        return false;
    }
    unit_hint(scene, &body->shape, box, hint);
    wadi_log(log, WADI_LOG_WARNING,
             "%s: bodies[%d] of %s is cut off by the domain: %s%.0f %% of it lie beyond %s%s",
             body->where.text, index, body->material_name, part > 0.99 ? "more than " : "",
             fmin(fmax(1.0, 100.0 * part), 99.0), sides, hint);
    return true;
}

static void warn_body(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiBodyDef *body = &scene->bodies[index];
    WadiBox box = wadi_shape_bounds(world->body_shapes[index], 0.0);
    double size = longest(wadi_box_size(box));
    char name[NAME_SIZE];
    if (wadi_box_is_empty(box) || side_outside(scene, box) >= 0 || size < world->spacing) {
        return; /* no particles: another warning explains it */
    }
    Parts parts = sample_parts(world, world->body_shapes[index], box, 0.0, 0);
    if (parts.inside < ENOUGH_SAMPLES) {
        return;
    }
    double cut = 1.0 - (double)parts.in_domain / parts.inside;
    if (parts.in_domain == 0 && scene->has_domain) {
        /* The body may be so much larger than the domain that no sample fell into it. */
        WadiBox common = wadi_box_intersection(box, scene->domain);
        parts = sample_parts(world, world->body_shapes[index], common, 0.0, 0);
    }
    if (parts.in_domain == 0 || parts.in_colliders == parts.in_domain) {
        return;
    }
    if (scene->has_domain && warn_cut_by_domain(world, index, box, cut, log)) {
        return;
    }
    double part = (double)parts.in_colliders / parts.in_domain;
    if (part > CUT_BY_COLLIDERS) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: bodies[%d] of %s is cut off: %.0f %% of it lie inside colliders, such as %s",
                 body->where.text, index, body->material_name, 100.0 * part,
                 collider_name(scene, parts.collider, name));
    }
}

static double last_key(const WadiCurve *curve)
{
    return curve->key_count > 0 ? curve->keys[curve->key_count - 1].time : 0.0;
}

/* Time of the shape's last keyframe, or of the last mesh of its sequence. */
static double end_of_motion(const WadiShapeDef *def)
{
    double end = fmax(fmax(last_key(&def->translate), last_key(&def->rotate)),
                      fmax(last_key(&def->scale), last_key(&def->pivot)));
    for (int p = 0; p < WADI_SHAPE_PARAMETER_MAX; ++p) {
        end = fmax(end, last_key(&def->parameter[p]));
    }
    if (def->kind == WADI_SHAPE_MESH_SEQUENCE) {
        double fps = wadi_curve_value(&def->parameter[2], 0.0);
        end = fmax(end,
                   wadi_curve_value(&def->parameter[1], 0.0) + (def->last_number - def->first_number) / fps);
    }
    for (int i = 0; i < def->child_count; ++i) {
        end = fmax(end, end_of_motion(&def->children[i]));
    }
    return end;
}

/* The side of the domain beyond which the shape remains from `start` to `end`, or -1. */
static int side_always_outside(const WadiWorld *world, const WadiShape *shape, const WadiShapeDef *def,
                               double start, double end)
{
    const WadiScene *scene = world->scene;
    double duration = wadi_scene_frame_time(scene, scene->frames);
    end = fmin(end, fmax(duration, end_of_motion(def)));
    int times = wadi_shape_is_moving(shape) && end > start ? TIMES : 0, side = -1;
    for (int i = 0; i <= times; ++i) {
        side = side_outside(scene, wadi_shape_bounds(shape, start + (end - start) * i / TIMES));
        if (side < 0) {
            return -1;
        }
    }
    return side;
}

static void warn_collider(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiColliderDef *def = &scene->colliders[index];
    const WadiShape *shape = world->collider_shapes[index];
    WadiBox box = wadi_shape_bounds(shape, 0.0);
    char name[NAME_SIZE], hint[HINT_SIZE];
    unit_hint(scene, &def->shape, box, hint);
    int side = side_always_outside(world, shape, &def->shape, 0.0, INFINITY);
    /* One that lies flush with a side gives the side its friction. */
    if (side >= 0 && beyond_side(scene->domain, box, side) > 0.0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: %s has no effect: it lies outside the domain, %.3g m beyond its side %s%s",
                 def->where.text, collider_name(scene, index, name), beyond_side(scene->domain, box, side),
                 side_names[side], hint);
    } else if (hint[0] != '\0') {
        wadi_log(log, WADI_LOG_WARNING, "%s: %s is far larger than the domain%s", def->where.text,
                 collider_name(scene, index, name), hint);
    }
}

static void warn_emitter(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiEmitterDef *def = &scene->emitters[index];
    const WadiShape *shape = world->emitter_shapes[index];
    char name[NAME_SIZE], hint[HINT_SIZE];
    unit_hint(scene, &def->shape, wadi_shape_bounds(shape, def->start), hint);
    int side = side_always_outside(world, shape, &def->shape, def->start, def->end);
    if (side >= 0 && (scene->closed_sides >> side & 1) == 0) {
        return; /* poured material may enter through the open side */
    }
    if (side >= 0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: emitters[%d] pours nothing: it lies outside the domain, beyond its side %s%s",
                 def->where.text, index, side_names[side], hint);
        return;
    }
    if (wadi_shape_is_moving(shape)) {
        return;
    }
    Parts parts = sample_parts(world, shape, wadi_shape_bounds(shape, def->start), def->start, 0);
    if (parts.inside < ENOUGH_SAMPLES) {
        return;
    }
    double outside = 1.0 - (double)parts.in_domain / parts.inside;
    bool is_buried = parts.in_domain > 0 && parts.in_colliders == parts.in_domain;
    if (is_buried && !wadi_shape_is_moving(world->collider_shapes[parts.collider])) {
        wadi_log(log, WADI_LOG_WARNING, "%s: emitters[%d] pours nothing: it lies inside %s", def->where.text,
                 index, collider_name(scene, parts.collider, name));
    } else if (outside > EMITTER_OUTSIDE && scene->closed_sides == WADI_SIDE_ALL) {
        wadi_log(log, WADI_LOG_WARNING, "%s: emitters[%d]: %.0f %% of it lie outside the domain%s",
                 def->where.text, index, 100.0 * outside, hint);
    }
}

static void warn_drain(const WadiWorld *world, int index, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiDrainDef *def = &scene->drains[index];
    int side = side_always_outside(world, world->drain_shapes[index], &def->shape, def->start, def->end);
    /* Beyond an open side it may be intended as an outlet. */
    if (side >= 0 && (scene->closed_sides >> side & 1) != 0) {
        wadi_log(log, WADI_LOG_WARNING,
                 "%s: drains[%d] removes nothing: it lies outside the domain, beyond its closed side %s",
                 def->where.text, index, side_names[side]);
    }
}

static void warn_camera(const WadiWorld *world, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    const WadiCurve *from = &scene->render.camera.from;
    double duration = wadi_scene_frame_time(scene, scene->frames);
    for (int i = 0; scene->render.camera.is_given && scene->render.has_colliders && i <= 4; ++i) {
        double time = duration * i / 4.0;
        WadiVec3 eye = wadi_curve_value3(from, time);
        char name[NAME_SIZE];
        int which = -1;
        if (is_in_collider(world, eye, (WadiBox){ eye, eye }, time, &which)) {
            wadi_log(log, WADI_LOG_WARNING,
                     "%s: render.camera: at %.3g s it stands at [%.3g, %.3g, %.3g], inside %s: pictures will "
                     "be dark",
                     scene->where_camera.text, time, eye.x, eye.y, eye.z, collider_name(scene, which, name));
            return;
        }
    }
}

void wadi_warn_positions(const WadiWorld *world, const WadiLog *log)
{
    const WadiScene *scene = world->scene;
    for (int i = 0; i < scene->body_count; ++i) {
        warn_body(world, i, log);
    }
    for (int i = 0; i < scene->collider_count; ++i) {
        warn_collider(world, i, log);
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        warn_emitter(world, i, log);
    }
    for (int i = 0; i < scene->drain_count; ++i) {
        warn_drain(world, i, log);
    }
    warn_camera(world, log);
}
