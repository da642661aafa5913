/* Checks on several values, and values derived from others. Each problem is reported where the user would
 * change the file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "io/scene/scene_read.h"
#include "sim/solvers.h"

static int given_node(const WadiSceneObject *object, const WadiSceneGiven *given, const char *key)
{
    const WadiSceneField *field = wadi_scene_field(object, key);
    WADI_ASSERT_ELSE(field != NULL, return -1);
    return given->node[field - object->fields];
}

static void report_at(WadiSceneReader *r, int node, const char *key, const char *text)
{
    size_t mark = wadi_read_enter(r, key);
    wadi_read_problem(r, node, "%s", text);
    wadi_read_leave(r, mark);
}

/* The first axis with max <= min, or -1. */
static int flat_axis(WadiVec3 min, WadiVec3 max)
{
    return !(max.x > min.x) ? 0 : !(max.y > min.y) ? 1 : !(max.z > min.z) ? 2 : -1;
}

static void check_corners(WadiSceneReader *r, int node, WadiVec3 min, WadiVec3 max)
{
    int axis = flat_axis(min, max);
    if (axis >= 0) {
        double low[3] = { min.x, min.y, min.z }, high[3] = { max.x, max.y, max.z };
        size_t mark = wadi_read_enter(r, "max");
        wadi_read_problem(r, node, "%c of max (%g) must be larger than %c of min (%g)", "xyz"[axis],
                          high[axis], "xyz"[axis], low[axis]);
        wadi_read_leave(r, mark);
    }
}

/* Moving corners: checked at every keyframe of either curve. */
static void check_moving_corners(WadiSceneReader *r, int node, const WadiCurve *min, const WadiCurve *max)
{
    const WadiCurve *curves[2] = { min, max };
    int before = wadi_read_problem_count(r);
    check_corners(r, node, wadi_curve_value3(min, 0.0), wadi_curve_value3(max, 0.0));
    for (int c = 0; c < 2; ++c) {
        for (int k = 0; k < curves[c]->key_count && wadi_read_problem_count(r) == before; ++k) {
            double time = curves[c]->keys[k].time;
            check_corners(r, node, wadi_curve_value3(min, time), wadi_curve_value3(max, time));
        }
    }
}

static bool have_same_times(const WadiCurve *a, const WadiCurve *b)
{
    if (a->key_count == 0 || b->key_count == 0) {
        return true;
    }
    bool is_same = a->key_count == b->key_count && a->interpolation == b->interpolation &&
                   a->does_repeat == b->does_repeat;
    for (int i = 0; is_same && i < a->key_count; ++i) {
        is_same = a->keys[i].time == b->keys[i].time;
    }
    return is_same;
}

/* center + side * size, as a curve with the keyframes of the one that has them. */
static WadiStatus combine(const WadiCurve *center, const WadiCurve *size, double side, WadiCurve *out,
                          WadiError *error)
{
    const WadiCurve *timing = center->key_count > 0 ? center : size;
    WADI_TRY(wadi_curve_copy(out, timing, error));
    int count = timing->key_count > 0 ? timing->key_count : 1;
    for (int k = 0; k < count; ++k) {
        const WadiKey *c = center->key_count > 0 ? &center->keys[k] : &center->constant;
        const WadiKey *s = size->key_count > 0 ? &size->keys[k] : &size->constant;
        WadiKey *made = out->key_count > 0 ? &out->keys[k] : &out->constant;
        for (int i = 0; i < 3; ++i) {
            made->value[i] = c->value[i] + side * s->value[i];
        }
    }
    if (out->key_count > 0) {
        out->constant = out->keys[0];
    }
    return WADI_OK;
}

static void finish_box(WadiSceneReader *r, int node, WadiShapeDef *def, const WadiSceneGiven *given,
                       bool is_sound)
{
    const WadiSceneObject *object = &wadi_scene_box_object;
    int min = given_node(object, given, "min"), max = given_node(object, given, "max");
    int center = given_node(object, given, "center"), size = given_node(object, given, "size");
    bool has_corners = min >= 0 || max >= 0, has_center = center >= 0 || size >= 0;
    if (has_corners && has_center) {
        wadi_read_problem(r, node, "give min and max, or center and size, not a mixture");
    } else if (has_corners && (min < 0 || max < 0)) {
        wadi_read_problem(r, node, "missing key '%s'", min < 0 ? "min" : "max");
    } else if (!has_corners && size < 0 && !given->has_unknown) {
        wadi_read_problem(r, node, "a box needs min and max, or center and size");
    } else if (is_sound && has_center) {
        if (!have_same_times(&def->parameter[2], &def->parameter[3])) {
            wadi_read_problem(r, node, "keyframed center and size need the same times and interpolation");
        } else {
            wadi_read_ok(r,
                         combine(&def->parameter[2], &def->parameter[3], -0.5, &def->parameter[0], r->error));
            wadi_read_ok(r,
                         combine(&def->parameter[2], &def->parameter[3], 0.5, &def->parameter[1], r->error));
        }
    } else if (is_sound && has_corners) {
        check_moving_corners(r, max, &def->parameter[0], &def->parameter[1]);
    }
    for (int i = 2; i < 4; ++i) {
        wadi_curve_free(&def->parameter[i]);
        def->parameter[i] = (WadiCurve){ 0 };
    }
}

static bool is_constant_zero(const WadiCurve *curve)
{
    return curve->key_count == 0 && curve->constant.value[0] == 0.0;
}

void wadi_finish_shape(WadiSceneReader *r, int node, const WadiSceneObject *parameters, WadiShapeDef *def,
                       const WadiSceneGiven *given, bool is_sound)
{
    switch (def->kind) {
    case WADI_SHAPE_BOX: finish_box(r, node, def, given, is_sound); return;
    case WADI_SHAPE_HEIGHTMAP:
        if (is_sound) {
            check_moving_corners(r, given_node(parameters, given, "max"), &def->parameter[0],
                                 &def->parameter[1]);
        }
        return;
    case WADI_SHAPE_CONE:
        if (is_sound && is_constant_zero(&def->parameter[2]) && is_constant_zero(&def->parameter[3])) {
            report_at(r, given_node(parameters, given, "radius"), "radius",
                      "radius and top_radius cannot both be 0");
        }
        /* fall through */
    case WADI_SHAPE_CYLINDER:
        if (is_sound && def->parameter[0].key_count == 0 && def->parameter[1].key_count == 0 &&
            wadi_norm(wadi_sub(wadi_curve_value3(&def->parameter[0], 0.0),
                               wadi_curve_value3(&def->parameter[1], 0.0))) == 0.0) {
            report_at(r, given_node(parameters, given, "to"), "to", "must differ from 'from'");
        }
        return;
    case WADI_SHAPE_MESH_SEQUENCE:
        if (is_sound && def->last_number < def->first_number) {
            size_t mark = wadi_read_enter(r, "last");
            wadi_read_problem(r, given_node(parameters, given, "last"), "%d comes before the first number %d",
                              def->last_number, def->first_number);
            wadi_read_leave(r, mark);
        } else if (is_sound) {
            size_t mark = wadi_read_enter(r, "files");
            wadi_check_sequence(r, given_node(parameters, given, "files"), def);
            wadi_read_leave(r, mark);
        }
        return;
    default: return;
    }
}

static void check_times(WadiSceneReader *r, const WadiSceneObject *object, const WadiSceneGiven *given,
                        double start, double end)
{
    if (end <= start) {
        int node = given_node(object, given, "end");
        const char *key = node >= 0 ? "end" : "start";
        size_t mark = wadi_read_enter(r, key);
        wadi_read_problem(r, node >= 0 ? node : given_node(object, given, "start"),
                          "end (%g s) must come after start (%g s)", end, start);
        wadi_read_leave(r, mark);
    }
}

/* The table lists `materials` before every key that names one, so they have been read. */
static int find_material(WadiSceneReader *r, int node, const char *name)
{
    const WadiScene *scene = r->scene;
    const char *names[255];
    int count = 0;
    for (int i = 0; i < scene->material_count; ++i) {
        if (scene->materials[i].name == NULL) {
            continue;
        }
        if (strcmp(scene->materials[i].name, name) == 0) {
            return i;
        }
        names[count++] = scene->materials[i].name;
    }
    /* Missing or wrong `materials` were reported already. */
    int materials = wadi_yaml_find(&r->yaml, r->yaml.root, "materials");
    bool is_map = materials >= 0 && wadi_yaml_node(&r->yaml, materials)->kind == WADI_YAML_MAP;
    if (is_map && wadi_yaml_node(&r->yaml, materials)->child_count == scene->material_count) {
        WadiText what = { 0 };
        wadi_text_append(&what, "unknown material '");
        wadi_text_append_shown(&what, name, strlen(name));
        wadi_text_append(&what, "'");
        size_t mark = wadi_read_enter(r, "material");
        wadi_read_unknown(r, node, wadi_text_cstr(&what), names, count);
        wadi_read_leave(r, mark);
        wadi_read_drop(r, &what);
    }
    return -1;
}

static void check_saturation(WadiSceneReader *r, int node, int material)
{
    if (node >= 0 && material >= 0 && r->scene->materials[material].kind == WADI_MATERIAL_WATER) {
        report_at(r, node, "saturation", "water has no pores; saturation is for sand");
    }
}

/* What a sculpture does not say, follows from its material. */
static void finish_sculpture(WadiSceneReader *r, const WadiSceneGiven *given, WadiBodyDef *body)
{
    const WadiSceneObject *object = &wadi_scene_body_object;
    if (!body->is_sculpture || body->material < 0) {
        return;
    }
    const WadiMaterial *material = &r->scene->materials[body->material];
    if (material->kind != WADI_MATERIAL_SAND) {
        report_at(r, given_node(object, given, "sculpture"), "sculpture",
                  "a sculpture is of sand, and this material is water");
        return;
    }
    if (given_node(object, given, "snap") < 0) {
        body->snap = WADI_SNAP_LAYER;
    }
    if (given_node(object, given, "saturation") < 0) {
        body->saturation = material->pores.ideal_saturation;
    }
}

static void finish_cells(WadiSceneReader *r, int node, const WadiSceneGiven *given, bool is_sound)
{
    enum { MOST_CELLS = 1000000 };
    WadiScene *scene = r->scene;
    int resolution = given_node(&wadi_scene_object, given, "resolution");
    int cell_size = given_node(&wadi_scene_object, given, "cell_size");
    int domain = given_node(&wadi_scene_object, given, "domain");
    if (resolution >= 0 && cell_size >= 0) {
        report_at(r, wadi_yaml_node(&r->yaml, resolution)->key, "resolution",
                  "give resolution or cell_size, not both");
        return;
    }
    if (resolution < 0 && cell_size < 0) {
        wadi_read_problem(
            r, node, "missing key 'resolution' (cells along the domain's longest side) or 'cell_size' (m)");
        return;
    }
    if (resolution >= 0 && domain < 0) {
        report_at(r, wadi_yaml_node(&r->yaml, resolution)->key, "resolution",
                  "counts cells along the domain, and there is no domain; give cell_size (m) or a domain");
        return;
    }
    if (!is_sound || !scene->has_domain) {
        return;
    }
    WadiVec3 size = wadi_box_size(scene->domain);
    double longest = fmax(size.x, fmax(size.y, size.z));
    if (resolution >= 0) {
        const WadiSceneField *field = wadi_scene_field(&wadi_scene_object, "cell_size");
        scene->cell_size = longest / scene->resolution;
        if (scene->cell_size < field->minimum) {
            size_t mark = wadi_read_enter(r, "resolution");
            wadi_read_problem(r, resolution, "cells would be %g m wide; at least %g m are needed",
                              scene->cell_size, field->minimum);
            wadi_read_leave(r, mark);
        }
    } else if (longest / scene->cell_size > MOST_CELLS) {
        size_t mark = wadi_read_enter(r, "cell_size");
        wadi_read_problem(r, cell_size,
                          "gives %.0f cells along the domain's longest side; at most %d are possible",
                          longest / scene->cell_size, MOST_CELLS);
        wadi_read_leave(r, mark);
    }
}

/* Only for new runs: finished runs with such names can still be read. */
static void check_file_names(WadiSceneReader *r)
{
    char problem[300];
    int clash = r->is_record ? -1 : wadi_scene_name_clash(r->scene, problem, sizeof problem);
    int materials = wadi_yaml_find(&r->yaml, r->yaml.root, "materials");
    if (clash < 0 || materials < 0) {
        return;
    }
    const char *name = r->scene->materials[clash].name;
    int value = wadi_yaml_find(&r->yaml, materials, name);
    size_t outer = wadi_read_enter(r, "materials"), inner = wadi_read_enter(r, name);
    wadi_read_problem(r, value >= 0 ? wadi_yaml_node(&r->yaml, value)->key : materials, "%s", problem);
    wadi_read_leave(r, inner);
    wadi_read_leave(r, outer);
}

/* Reports a solver's check of this key, "cell_size" or "flip.cfl". */
static void report_solver_check(WadiSceneReader *r, int node, const char *key, const char *text)
{
    const char *dot = strchr(key, '.');
    char outer[64];
    snprintf(outer, sizeof outer, "%.*s", dot != NULL ? (int)(dot - key) : (int)strlen(key), key);
    int found = wadi_yaml_find(&r->yaml, node, outer);
    if (found >= 0 && dot != NULL) {
        int inner = wadi_yaml_find(&r->yaml, found, dot + 1);
        found = inner >= 0 ? inner : found;
    }
    report_at(r, found >= 0 ? found : node, key, text);
}

/* Finds the solver and its settings; settings of another solver are an error. */
static void finish_solver(WadiSceneReader *r, int node, const WadiSceneGiven *given, bool is_sound)
{
    WadiScene *scene = r->scene;
    if (scene->solver == NULL) {
        return; /* reported already */
    }
    void *settings = NULL;
    scene->solver_type = wadi_solver_find(scene->solver);
    WADI_ASSERT(scene->solver_type != NULL); /* the table lists only existing solvers */
    for (int i = 0; i < wadi_scene_object.field_count; ++i) {
        const WadiSceneField *field = &wadi_scene_object.fields[i];
        if (field->type == WADI_SCENE_SETTINGS && field->object == scene->solver_type->settings) {
            settings = *(void **)(void *)((char *)scene + field->offset);
            scene->settings = settings;
        } else if (field->type == WADI_SCENE_SETTINGS && given->node[i] >= 0) {
            size_t mark = wadi_read_enter(r, field->key);
            wadi_read_problem(r, given->node[i], "settings of the solver %s, but the solver is %s",
                              field->key, scene->solver);
            wadi_read_leave(r, mark);
        }
    }
    char text[256];
    const char *key = is_sound && scene->solver_type->check != NULL
                          ? scene->solver_type->check(scene, text, sizeof text)
                          : NULL;
    if (key != NULL) {
        report_solver_check(r, node, key, text);
    } else if (is_sound && scene->solver_type->resolve != NULL) {
        scene->solver_type->resolve(scene, settings);
    }
}

/* A scene without bodies and emitters may be filled by a program, with any of its materials. */
static void find_unused_materials(WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        scene->materials[m].is_unused = scene->body_count + scene->emitter_count > 0;
    }
    for (int b = 0; b < scene->body_count; ++b) {
        const int m = scene->bodies[b].material;
        if (m >= 0 && m < scene->material_count) {
            scene->materials[m].is_unused = false;
        }
    }
    for (int e = 0; e < scene->emitter_count; ++e) {
        const int m = scene->emitters[e].material;
        if (m >= 0 && m < scene->material_count) {
            scene->materials[m].is_unused = false;
        }
    }
}

static void finish_scene(WadiSceneReader *r, int node, const WadiSceneGiven *given, bool is_sound)
{
    finish_cells(r, node, given, is_sound);
    find_unused_materials(r->scene);
    check_file_names(r);
    finish_solver(r, node, given, is_sound);
    wadi_finish_rests(r);
    int bodies = given_node(&wadi_scene_object, given, "bodies");
    int emitters = given_node(&wadi_scene_object, given, "emitters");
    bool has_bodies = bodies >= 0 && wadi_yaml_node(&r->yaml, bodies)->child_count > 0;
    bool has_emitters = emitters >= 0 && wadi_yaml_node(&r->yaml, emitters)->child_count > 0;
    bool is_list = (bodies < 0 || wadi_yaml_node(&r->yaml, bodies)->kind == WADI_YAML_LIST) &&
                   (emitters < 0 || wadi_yaml_node(&r->yaml, emitters)->kind == WADI_YAML_LIST);
    const bool may_be_empty = r->is_record || r->may_be_empty;
    if (!has_bodies && !has_emitters && is_list && !may_be_empty) {
        wadi_read_problem(r,
                          bodies >= 0     ? bodies
                          : emitters >= 0 ? emitters
                                          : node,
                          "nothing to simulate; 'bodies' or 'emitters' needs at least one entry");
    }
}

/* Two values that do not fit together: "VALUE TEXT LIMIT", at `key` or, if that is not given, at `other`. */
static void report_pair(WadiSceneReader *r, const WadiSceneObject *object, const WadiSceneGiven *given,
                        const char *key, const char *other, double value, const char *text, double limit)
{
    const size_t mark = wadi_read_enter(r, key);
    const int node = given_node(object, given, key);
    wadi_read_problem(r, node >= 0 ? node : given_node(object, given, other), "%g %s %g", value, text, limit);
    wadi_read_leave(r, mark);
}

void wadi_finish_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base,
                        const WadiSceneGiven *given, bool is_sound)
{
    if (r->status != WADI_OK) {
        return;
    }
    if (object == &wadi_scene_object) {
        finish_scene(r, node, given, is_sound);
    } else if (object == &wadi_scene_domain_object) {
        const WadiScene *scene = base;
        if (is_sound) {
            check_corners(r, given_node(object, given, "max"), scene->domain.min, scene->domain.max);
        }
    } else if (object == &wadi_scene_surface_object) {
        const WadiSurfaceSettings *surface = &r->scene->surface;
        if (is_sound && surface->radius >= surface->reach) {
            report_pair(r, object, given, "radius", "reach", surface->radius,
                        "spacings; the surface of a lone particle must lie within its reach of",
                        surface->reach);
        }
    } else if (object == &wadi_scene_secondary_object) {
        const WadiSecondaryDef *secondary = &r->scene->secondary;
        if (is_sound && secondary->fast >= 0.0 && secondary->slow >= secondary->fast) {
            report_pair(r, object, given, "fast", "slow", secondary->fast,
                        "m/s; it must be more than `slow`,", secondary->slow);
        }
    } else if (object == &wadi_scene_material_object) {
        WadiMaterial *material = base;
        if (given_node(object, given, "density") < 0) {
            material->density = wadi_scene_default_density((int)material->kind);
        }
    } else if (object == &wadi_scene_body_object) {
        WadiBodyDef *body = base;
        if (body->material_name != NULL) {
            body->material = find_material(r, given_node(object, given, "material"), body->material_name);
            check_saturation(r, given_node(object, given, "saturation"), body->material);
            finish_sculpture(r, given, body);
        }
    } else if (object == &wadi_scene_emitter_object) {
        WadiEmitterDef *emitter = base;
        if (emitter->material_name != NULL) {
            emitter->material =
                find_material(r, given_node(object, given, "material"), emitter->material_name);
            check_saturation(r, given_node(object, given, "saturation"), emitter->material);
        }
        if (is_sound) {
            check_times(r, object, given, emitter->start, emitter->end);
        }
    } else if (object == &wadi_scene_drain_object && is_sound) {
        const WadiDrainDef *drain = base;
        check_times(r, object, given, drain->start, drain->end);
    } else if (object == &wadi_scene_force_object && is_sound) {
        const WadiForceDef *force = base;
        check_times(r, object, given, force->start, force->end);
    } else {
        for (int i = 0; i < wadi_scene_shape_object.field_count; ++i) {
            if (wadi_scene_shape_object.fields[i].object == object) {
                wadi_finish_shape(r, node, object, base, given, is_sound);
            }
        }
    }
}
