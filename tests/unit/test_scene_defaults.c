/* Writing a default changes nothing: for every key of the language whose default can be written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flip/flip_settings.h"
#include "io/scene/scene_schema.h"
#include "scene_sim.h"
#include "scene_text.h"

/* One of each object of the language: where its keys are inserted, and which other keys are required. */
typedef struct Insertion {
    const WadiSceneObject *object;
    const char *prefix;
    const char *kind; /* only keys of this kind */
} Insertion;

static const char whole[] =
    "wadi: 1\nsolver: flip\ncell_size: 0.1\nframes: 72\n"
    "domain: {min: [0, 0, 0], max: [1, 1, 1], walls: {friction: 0.5}}\n"
    "flip: {pressure: multigrid}\nsurface: {}\n"
    "render: {camera: {from: [3, 3, 3], to: [0, 0, 0]}, light: {}}\n"
    "materials: {sand: {kind: sand, look: {}}, water: {kind: water}}\n"
    "bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n"
    "colliders: [{shape: {sphere: {radius: 0.1}}}]\n"
    "emitters: [{material: sand, shape: {sphere: {radius: 0.1}}, rate: 0.001}]\n"
    "drains: [{shape: {half_space: {point: [0, 0, -1]}}}]\n"
    "forces: [{kind: uniform, acceleration: [1, 0, 0]}, {kind: drag, rate: 1},"
    " {kind: point, strength: 1}]\n";

/* The default as YAML; false: it cannot be written, or is not a plain value. */
static bool write_default(const WadiSceneField *field, char *out, size_t size)
{
    const double *v = field->fallback;
    char *end = NULL;
    if ((field->flags & WADI_SCENE_REQUIRED) != 0) {
        return false;
    }
    switch (field->type) {
    case WADI_SCENE_BOOL: snprintf(out, size, "%s", v[0] != 0.0 ? "true" : "false"); return true;
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_INT:
    case WADI_SCENE_WHOLE:
    case WADI_SCENE_CURVE1:
        snprintf(out, size, "%.17g", v[0]);
        if (field->fallback_text != NULL) {
            snprintf(out, size, "%s", field->fallback_text);
            strtod(out, &end);
            return *end == '\0';
        }
        return true;
    case WADI_SCENE_VEC3:
    case WADI_SCENE_CURVE3:
        snprintf(out, size, "[%.17g, %.17g, %.17g]", v[0], v[1], v[2]);
        return field->fallback_text == NULL;
    case WADI_SCENE_ENUM:
        for (int i = 0; i < field->choices->count; ++i) {
            if (field->choices->list[i].value == (int)v[0]) {
                snprintf(out, size, "%s", field->choices->list[i].name);
                return true;
            }
        }
        return false;
    default: return false;
    }
}

static bool is_same_object(const WadiSceneObject *object, const void *a, const void *b);

static bool is_same_curve(const WadiCurve *a, const WadiCurve *b)
{
    return a->key_count == b->key_count &&
           memcmp(a->constant.value, b->constant.value, sizeof a->constant.value) == 0;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const void *at(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

/* Shapes are compared by the content hash. */
static bool is_same_field(const WadiSceneField *field, const void *base_a, const void *base_b)
{
    const void *a = at(base_a, field->offset), *b = at(base_b, field->offset);
    if (field->presence != 0 &&
        *(const bool *)at(base_a, field->presence) != *(const bool *)at(base_b, field->presence)) {
        return false;
    }
    switch (field->type) {
    case WADI_SCENE_NUMBER:
    case WADI_SCENE_WHOLE: return memcmp(a, b, sizeof(double)) == 0;
    case WADI_SCENE_INT:
    case WADI_SCENE_ENUM:
    case WADI_SCENE_BITS_OFF: return memcmp(a, b, sizeof(int)) == 0;
    case WADI_SCENE_BOOL: return *(const bool *)a == *(const bool *)b;
    case WADI_SCENE_VEC3: return memcmp(a, b, sizeof(WadiVec3)) == 0;
    case WADI_SCENE_CURVE1:
    case WADI_SCENE_CURVE3: return is_same_curve(a, b);
    case WADI_SCENE_TEXT:
    case WADI_SCENE_NAME:
    case WADI_SCENE_FILE: return is_same_text(*(char *const *)a, *(char *const *)b);
    case WADI_SCENE_OBJECT: return is_same_object(field->object, a, b);
    case WADI_SCENE_LIST:
    case WADI_SCENE_MAP: {
        const int count = *(const int *)at(base_a, field->count_offset);
        const void *list_a = *(void *const *)a, *list_b = *(void *const *)b;
        bool is_same = count == *(const int *)at(base_b, field->count_offset);
        for (int i = 0; i < count && is_same; ++i) {
            const size_t entry = (size_t)i * field->object->size;
            is_same = is_same_object(field->object, at(list_a, entry), at(list_b, entry));
        }
        return is_same;
    }
    default: return true;
    }
}

static bool is_same_object(const WadiSceneObject *object, const void *a, const void *b)
{
    for (int i = 0; i < object->field_count; ++i) {
        if (!is_same_field(&object->fields[i], a, b)) {
            print_message("%s.%s differs\n", object->name, object->fields[i].key);
            return false;
        }
    }
    return true;
}

static bool is_of_kind(const Insertion *insertion, const WadiSceneField *field)
{
    if (field->kinds == 0 || insertion->kind == NULL) {
        return field->kinds == 0;
    }
    const WadiSceneField *kind = wadi_scene_field(insertion->object, "kind");
    for (int i = 0; i < kind->choices->count; ++i) {
        if (strcmp(kind->choices->list[i].name, insertion->kind) == 0) {
            return wadi_scene_field_fits(field, kind->choices->list[i].value);
        }
    }
    return false;
}

static void every_default_can_be_written(void **unused)
{
    (void)unused;
    const Insertion insertions[] = {
        { &wadi_scene_object, "", NULL },
        { &wadi_scene_domain_object, "domain.", NULL },
        { &wadi_flip_settings, "flip.", NULL },
        { &wadi_scene_surface_object, "surface.", NULL },
        { &wadi_scene_render_object, "render.", NULL },
        { &wadi_scene_camera_object, "render.camera.", NULL },
        { &wadi_scene_light_object, "render.light.", NULL },
        { &wadi_scene_material_object, "materials.sand.", "sand" },
        { &wadi_scene_material_object, "materials.water.", "water" },
        { &wadi_scene_look_object, "materials.sand.look.", NULL },
        { &wadi_scene_body_object, "bodies[0].", NULL },
        { &wadi_scene_shape_object, "bodies[0].shape.", NULL },
        { &wadi_scene_emitter_object, "emitters[0].", NULL },
        { &wadi_scene_drain_object, "drains[0].", NULL },
        { &wadi_scene_force_object, "forces[0].", "uniform" },
        { &wadi_scene_force_object, "forces[1].", "drag" },
        { &wadi_scene_force_object, "forces[2].", "point" },
    };
    WadiScene *plain = parse(whole);
    int written = 0;
    for (size_t p = 0; p < sizeof insertions / sizeof insertions[0]; ++p) {
        for (int i = 0; i < insertions[p].object->field_count; ++i) {
            const WadiSceneField *field = &insertions[p].object->fields[i];
            char value[128], set[256];
            if (!is_of_kind(&insertions[p], field) || !write_default(field, value, sizeof value)) {
                continue;
            }
            snprintf(set, sizeof set, "%s%s=%s", insertions[p].prefix, field->key, value);
            const char *sets[] = { set };
            WadiScene *scene = parse_with(whole, sets, 1);
            if (scene->content_hash != plain->content_hash ||
                !is_same_object(&wadi_scene_object, scene, plain)) {
                fail_msg("%s changes the scene", set);
            }
            wadi_scene_free(scene);
            ++written;
        }
    }
    print_message("%d defaults written\n", written);
    assert_true(written > 60);
    wadi_scene_free(plain);
}

static uint64_t run_with(const char *text, const char *set)
{
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.text = text;
    def.sets = &set;
    def.set_count = set != NULL;
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 4);
    uint64_t hash = wadi_sim_state_hash(sim);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return hash;
}

#define SAND_AND_RAIN                                                                                        \
    "materials: {m: {kind: sand}, w: {kind: water}}\n"                                                       \
    "emitters: [{material: w, rate: 0.1, shape: {box: {min: [0.6, 0, 0.6], max: [0.8, 0.2, 0.8]}}}]\n"

/* Also for the solver, which may treat a given number and a missing one differently. */
static void settings_of_the_solver_written_out_give_the_same_bytes(void **unused)
{
    (void)unused;
    static const char *const kinds[] = {
        "materials: {m: {kind: sand}}\n",
        "materials: {m: {kind: water}}\n",
        (SAND_AND_RAIN),
    };
    for (int k = 0; k < 3; ++k) {
        char text[1024], value[128], set[256];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.05\ndomain: {min: [0, 0, 0], max: [1, 0.2, 1]}\n%s"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.3, 0.2, 0.6]}}}]\n",
                 kinds[k]);
        uint64_t plain = run_with(text, NULL);
        assert_true(run_with(text, "flip.cfl=2") == plain);
        for (int i = 0; i < wadi_flip_settings.field_count; ++i) {
            const WadiSceneField *field = &wadi_flip_settings.fields[i];
            if (write_default(field, value, sizeof value)) {
                snprintf(set, sizeof set, "flip.%s=%s", field->key, value);
                if (run_with(text, set) != plain) {
                    fail_msg("%s changes the run of %s", set, kinds[k]);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_can_be_written),
        cmocka_unit_test(settings_of_the_solver_written_out_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
