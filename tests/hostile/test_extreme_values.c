/* Every number of the scene language at the ends of its range and at tiny and huge values: rejected with a
 * message, or simulated, surfaced and drawn without a crash. Each case is a separate process with limits on
 * time and memory; still running after a twentieth of a second counts as success. Tiny and huge values are
 * tried by the build with sanitizers, which sees more. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "io/scene/scene_schema.h"
#include "io_scratch.h"
#include "wadi/wadi.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 6\nframes: 2\nfps: 240\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.3, 0.3], walls: {friction: 0.5}}\n"
    "materials:\n"
    "  sand: {kind: sand}\n"
    "  water: {kind: water}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.3, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.3, 0.1]}}}\n"
    "colliders: [{shape: {sphere: {center: [0.2, 0.1, 0.1], radius: 0.05}}}]\n"
    "emitters:\n"
    "  - {material: sand, shape: {sphere: {center: [0.1, 0.1, 0.2], radius: 0.05}}, velocity: [0, 0, -1], "
    "rate: 0.001}\n"
    "drains: [{shape: {box: {min: [0.3, 0.2, 0], max: [0.4, 0.3, 0.05]}}}]\n"
    "forces:\n"
    "  - {kind: uniform, acceleration: [1, 0, 0]}\n"
    "  - {kind: drag, velocity: [1, 0, 0], rate: 1}\n"
    "  - {kind: point, center: [0.2, 0.1, 0.1], strength: 1, radius: 0.2}\n"
    "render: {width: 16, height: 16}\n";

enum { MAX_SETS = 3 };

/* Where each object of the table stands in the scene above. */
static const struct {
    const char *object, *place;
    int kind;                         /* of a material or force; -1: any */
    const char *before[MAX_SETS - 1]; /* set first; NULL: nothing */
} places[] = {
    { "scene", "", -1, { NULL } },
    { "domain", "domain.", -1, { NULL } },
    { "walls", "domain.walls.", -1, { NULL } },
    { "material", "materials.sand.", 0, { NULL } },
    { "material", "materials.water.", 1, { NULL } },
    { "body", "bodies[1].", -1, { NULL } },
    { "collider", "colliders[0].", -1, { NULL } },
    { "emitter", "emitters[0].", -1, { NULL } },
    { "drain", "drains[0].", -1, { NULL } },
    { "force", "forces[0].", 0, { NULL } },
    { "force", "forces[1].", 1, { NULL } },
    { "force", "forces[2].", 2, { NULL } },
    { "shape", "colliders[0].shape.", -1, { NULL } },
    { "shape", "bodies[1].shape.", -1, { NULL } },
    { "flip", "flip.", -1, { NULL } },
    { "sph", "sph.", -1, { "solver=sph" } },
    { "dem", "dem.", -1, { "solver=dem", "bodies[1].material=sand" } },
    { "surface", "surface.", -1, { NULL } },
    { "look", "materials.sand.look.", -1, { NULL } },
    { "look", "materials.water.look.", -1, { NULL } },
    { "render", "render.", -1, { NULL } },
    { "camera", "render.camera.", -1, { NULL } },
    { "light", "render.light.", -1, { NULL } },
};

/* Shapes whose single numbers are changed, as body and as collider. */
static const struct {
    const char *kind, *whole;
} shapes[] = {
    { "sphere", "{sphere: {center: [0.2, 0.1, 0.1], radius: 0.05}}" },
    { "box", "{box: {center: [0.2, 0.1, 0.1], size: 0.1}}" },
    { "ellipsoid", "{ellipsoid: {center: [0.2, 0.1, 0.1], radii: [0.1, 0.05, 0.05]}}" },
    { "cylinder", "{cylinder: {from: [0.2, 0.1, 0.1], to: [0.2, 0.1, 0.2], radius: 0.05}}" },
    { "cone", "{cone: {from: [0.2, 0.1, 0.1], to: [0.2, 0.1, 0.2], radius: 0.05, top_radius: 0.01}}" },
    { "capsule", "{capsule: {from: [0.2, 0.1, 0.1], to: [0.2, 0.1, 0.2], radius: 0.05}}" },
    { "torus", "{torus: {center: [0.2, 0.1, 0.1], major_radius: 0.08, minor_radius: 0.02}}" },
    { "half_space", "{half_space: {point: [0, 0, 0.05]}}" },
};

/* In the child process: simulates two frames, then surfaces and draws the last one if the key concerns
 * that. */
static void work(const WadiScene *scene, const char *folder, bool is_drawn)
{
    WadiError error = { 0 };
    WadiRunDef run = wadi_default_run_def();
    run.folder = folder;
    run.frames = 2;
    run.mode = WADI_RUN_OVERWRITE;
    run.threads = 1;
    if (wadi_run(scene, &run, NULL, &error) != WADI_OK || !is_drawn) {
        return;
    }
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.first_frame = surface.last_frame = 2;
    surface.threads = 1;
    (void)wadi_surface(folder, &surface, NULL, &error);
    WadiRenderDef render = wadi_default_render_def();
    render.first_frame = render.last_frame = 2;
    render.threads = render.samples = 1;
    (void)wadi_render(folder, &render, NULL, &error);
}

static int crash_count, case_count, slow_count;

static void try_sets(const char *const *sets, int set_count)
{
    const char *folder = scratch_path("run"), *changed = sets[set_count - 1];
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    WadiScene *scene;
    def.text = scene_text;
    def.sets = sets;
    def.set_count = set_count;
    ++case_count;
    if (wadi_scene_load(&scene, &def, &error) != WADI_OK) {
        assert_non_null(strchr(error.text, ':'));
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct itimerval limit = { .it_value = { 0, 50000 } };
        struct rlimit core = { 0, 0 };
        setrlimit(RLIMIT_CORE, &core);
#if !defined(WADI_ASAN) && !defined(__clang__)
        struct rlimit memory = { (rlim_t)3 << 30, (rlim_t)3 << 30 };
        setrlimit(RLIMIT_AS, &memory);
#endif
        signal(SIGPROF, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        setitimer(ITIMER_PROF, &limit, NULL);
        work(scene, folder,
             strstr(changed, "surface") != NULL || strstr(changed, "render") != NULL ||
                 strstr(changed, "look") != NULL);
        _exit(0);
    }
    wadi_scene_destroy(scene);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    bool is_slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    slow_count += is_slow;
    if (!is_slow && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        ++crash_count;
        for (int i = 0; i < set_count; ++i) {
            print_error("--set %s ", sets[i]);
        }
        print_error(": %s %d\n", WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static bool is_number(WadiSceneType type)
{
    return type == WADI_SCENE_NUMBER || type == WADI_SCENE_INT || type == WADI_SCENE_WHOLE ||
           type == WADI_SCENE_VEC3 || type == WADI_SCENE_CURVE1 || type == WADI_SCENE_CURVE3;
}

/* Sets `before` first. Tiny and huge values are tried if `is_thorough`. */
static void try_field(const WadiSceneField *field, const char *place, const char *const before[MAX_SETS - 1],
                      bool is_thorough)
{
    double tiny = 4.9e-324, span = field->maximum - field->minimum;
    const double values[] = {
        field->minimum, field->maximum, field->minimum + 1e-9 * span, tiny, 1e-40, 1e300
    };
    const char *sets[MAX_SETS];
    int count = 0;
    while (count < MAX_SETS - 1 && before[count] != NULL) {
        sets[count] = before[count];
        count += 1;
    }
    for (size_t i = 0; i < (is_thorough ? sizeof values / sizeof *values : 2); ++i) {
        char set[256];
        bool is_vector = field->type == WADI_SCENE_VEC3 || field->type == WADI_SCENE_CURVE3;
        bool is_whole = field->type == WADI_SCENE_INT || field->type == WADI_SCENE_WHOLE;
        double value = is_whole ? floor(values[i]) : values[i];
        sets[count] = set;
        snprintf(set, sizeof set, is_vector ? "%s%s=[%.17g, %.17g, %.17g]" : "%s%s=%.17g", place, field->key,
                 value, value, value);
        try_sets(sets, count + 1);
        if (is_vector && i < 2) {
            snprintf(set, sizeof set, "%s%s=[%.17g, 0.1, 0.1]", place, field->key, value);
            try_sets(sets, count + 1);
        }
    }
}

static const WadiSceneObject *object_of(const char *name)
{
    int count;
    const WadiSceneObject *const *objects = wadi_scene_objects(&count);
    for (int i = 0; i < count; ++i) {
        if (strcmp(objects[i]->name, name) == 0) {
            return objects[i];
        }
    }
    return NULL;
}

static void every_number_of_the_scene(void **unused)
{
    (void)unused;
    crash_count = 0;
    for (size_t p = 0; p < sizeof places / sizeof *places; ++p) {
        const WadiSceneObject *object = object_of(places[p].object);
        assert_non_null(object);
        for (int i = 0; i < object->field_count; ++i) {
            const WadiSceneField *field = &object->fields[i];
            bool fits = places[p].kind < 0 || wadi_scene_field_fits(field, places[p].kind);
            bool is_size = strcmp(field->key, "frames") == 0 || strcmp(field->key, "width") == 0 ||
                           strcmp(field->key, "height") == 0;
            if (is_number(field->type) && fits && !is_size) {
                static const char *const without_resolution[] = { "resolution=null", NULL };
                const bool is_cell_size = p == 0 && strcmp(field->key, "cell_size") == 0;
                try_field(field, places[p].place, is_cell_size ? without_resolution : places[p].before,
                          is_sanitized() || is_long_run());
            }
        }
    }
    print_message("%d cases, %d stopped for time\n", case_count, slow_count);
    assert_int_equal(crash_count, 0);
}

static void every_number_of_the_shapes(void **unused)
{
    (void)unused;
    crash_count = 0;
    const WadiSceneObject *object = object_of("shape");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s) {
        const WadiSceneField *kind = wadi_scene_field(object, shapes[s].kind);
        assert_true(kind != NULL && kind->object != NULL);
        for (int i = 0; i < 2 * kind->object->field_count; ++i) {
            const char *owner = i % 2 == 0 ? "colliders[0].shape" : "bodies[1].shape";
            char before[256], place[128];
            snprintf(before, sizeof before, "%s=%s", owner, shapes[s].whole);
            snprintf(place, sizeof place, "%s.%s.", owner, shapes[s].kind);
            if (is_number(kind->object->fields[i / 2].type)) {
                try_field(&kind->object->fields[i / 2], place, (const char *[]){ before, NULL },
                          i % 2 == 0 && s == 0);
            }
        }
    }
    print_message("%d cases, %d stopped for time\n", case_count, slow_count);
    assert_int_equal(crash_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_the_scene),
        cmocka_unit_test(every_number_of_the_shapes),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
