/* The record of changes: written with each change, kept in checkpoints, repeated. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/change.h"
#include "core/alloc.h"
#include "core/check.h"
#include "io/scene/scene_parse.h"

static void destroy(WadiChanges *changes)
{
    for (size_t i = 0; i < changes->due.count; ++i) {
        wadi_string_free(changes->due.data[i].text);
    }
    WADI_ARRAY_FREE(&changes->due);
    wadi_scene_free(changes->scene);
    WADI_DELETE(changes, 1);
}

WadiStatus wadi_changes_get(WadiSim *sim, WadiChanges **changes, WadiError *error)
{
    if (sim->changes == NULL) {
        WADI_TRY(WADI_NEW(&sim->changes, 1, "changes", error));
        sim->destroy_changes = destroy;
    }
    *changes = sim->changes;
    return WADI_OK;
}

void wadi_change_write(const WadiYaml *yaml, int node, WadiText *text)
{
    const WadiYamlNode *n = wadi_yaml_node(yaml, node);
    if (n->kind == WADI_YAML_SCALAR) {
        const char *value = wadi_yaml_text(yaml, node);
        const bool is_simple = n->is_plain && n->length > 0 && strcspn(value, "{}[],:#\"'\n") == n->length;
        if (is_simple) {
            wadi_text_append(text, value);
        } else {
            wadi_text_append_json(text, value);
        }
        return;
    }
    const bool is_map = n->kind == WADI_YAML_MAP;
    wadi_text_append(text, is_map ? "{" : "[");
    for (int child = n->first_child; child >= 0; child = wadi_yaml_node(yaml, child)->next) {
        if (is_map) {
            wadi_change_write(yaml, wadi_yaml_node(yaml, child)->key, text);
            wadi_text_append(text, ": ");
        }
        wadi_change_write(yaml, child, text);
        wadi_text_append(text, wadi_yaml_node(yaml, child)->next >= 0 ? ", " : "");
    }
    wadi_text_append(text, is_map ? "}" : "]");
}

WadiStatus wadi_change_read(WadiYaml *yaml, const char *text, size_t size, const char *what, WadiError *error)
{
    WadiReport report = { .path = what };
    yaml->root = -1;
    WadiStatus status = wadi_yaml_read(yaml, text, size, -1, &report, &yaml->root, error);
    if (status == WADI_OK) {
        status = wadi_report_finish(&report, error);
    }
    wadi_report_free(&report);
    if (status == WADI_OK && yaml->root < 0) {
        status = wadi_fail(error, WADI_ERR_SCENE, "%s: is empty", what);
    }
    return status;
}

WadiStatus wadi_change_record(WadiSim *sim, const char *change, WadiError *error)
{
    WadiText line = { 0 };
    wadi_text_printf(&line, "- {step: %" PRId64 ", %s}\n", sim->steps, change);
    WadiStatus status = wadi_text_status(&line, error);
    if (status == WADI_OK) {
        wadi_text_append_bytes(&sim->change_log, line.data, line.length);
        status = wadi_text_status(&sim->change_log, error);
    }
    wadi_text_free(&line);
    return status;
}

WadiStatus wadi_sim_changes(const WadiSim *sim, char **text, WadiError *error)
{
    *text = NULL;
    WADI_TRY(wadi_sim_check_idle(sim, error));
    return wadi_string_copy(text, wadi_text_cstr(&sim->change_log), sim->change_log.length, error);
}

/* Applies what is due before the step that begins. */
static WadiStatus apply_due(WadiSim *sim, WadiError *error)
{
    WadiChanges *changes = sim->changes;
    while (changes->next < changes->due.count && changes->due.data[changes->next].step <= sim->steps) {
        const WadiDueChange *due = &changes->due.data[changes->next];
        int64_t count = 0;
        WadiError why = { 0 };
        const WadiStatus status = wadi_change_apply(sim, due->text, &count, &why);
        if (status != WADI_OK) {
            return wadi_fail(error, status, "change %zu, at step %" PRId64 ": %s", changes->next + 1,
                             due->step, why.text);
        }
        changes->next += 1;
    }
    return WADI_OK;
}

/* "{step: 3, set: x}" becomes step 3 and "set: x". */
static WadiStatus read_entry(const WadiYaml *yaml, int node, size_t number, WadiDueChange *due,
                             WadiError *error)
{
    const bool is_map = wadi_yaml_node(yaml, node)->kind == WADI_YAML_MAP;
    const int step = is_map ? wadi_yaml_find(yaml, node, "step") : -1;
    const bool has_step = step >= 0 && wadi_yaml_node(yaml, step)->kind == WADI_YAML_SCALAR &&
                          wadi_yaml_type(yaml, step) == WADI_YAML_NUMBER;
    const double value = has_step ? wadi_yaml_number(yaml, step) : -1.0;
    if (!(value >= 0.0 && value < 0x1p53 && value == floor(value)) ||
        wadi_yaml_node(yaml, node)->child_count != 2) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "change %zu: expected {step: N, KIND: VALUE} with N a whole number", number);
    }
    due->step = (int64_t)value;
    WadiText text = { 0 };
    const int first = wadi_yaml_node(yaml, node)->first_child;
    const int other = first == step ? wadi_yaml_node(yaml, first)->next : first;
    wadi_change_write(yaml, wadi_yaml_node(yaml, other)->key, &text);
    wadi_text_append(&text, ": ");
    wadi_change_write(yaml, other, &text);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_string_copy(&due->text, wadi_text_cstr(&text), text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

static WadiStatus read_entries(WadiChanges *changes, const WadiYaml *yaml, WadiError *error)
{
    if (wadi_yaml_node(yaml, yaml->root)->kind != WADI_YAML_LIST) {
        return wadi_fail(error, WADI_ERR_FORMAT, "changes: expected a list, one change a line");
    }
    int node = wadi_yaml_node(yaml, yaml->root)->first_child;
    for (; node >= 0; node = wadi_yaml_node(yaml, node)->next) {
        WadiDueChange due = { 0 };
        WADI_TRY(read_entry(yaml, node, changes->due.count + 1, &due, error));
        WadiStatus status = WADI_ARRAY_PUSH(&changes->due, due, "changes", error);
        if (status != WADI_OK) {
            wadi_string_free(due.text);
            return status;
        }
        if (changes->due.count > 1 && due.step < changes->due.data[changes->due.count - 2].step) {
            return wadi_fail(error, WADI_ERR_FORMAT,
                             "change %zu: its step %" PRId64 " is before that of "
                             "the change above it",
                             changes->due.count, due.step);
        }
    }
    return WADI_OK;
}

/* The simulation already has the first of the changes: those of its own record. */
static WadiStatus skip_own(WadiSim *sim, WadiChanges *changes, WadiError *error)
{
    WadiText text = { 0 };
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i <= changes->due.count && text.length < sim->change_log.length; ++i) {
        if (i < changes->due.count) {
            wadi_text_printf(&text, "- {step: %" PRId64 ", %s}\n", changes->due.data[i].step,
                             changes->due.data[i].text);
        }
        changes->next = i + 1;
    }
    status = wadi_text_status(&text, error);
    if (status == WADI_OK && strcmp(wadi_text_cstr(&text), wadi_text_cstr(&sim->change_log)) != 0) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT,
                           "the changes to repeat do not begin with those that the simulation already has");
    } else if (status == WADI_OK && changes->next < changes->due.count &&
               changes->due.data[changes->next].step < sim->steps) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT,
                           "change %zu is for step %" PRId64 ", and the simulation has taken %" PRId64,
                           changes->next + 1, changes->due.data[changes->next].step, sim->steps);
    }
    wadi_text_free(&text);
    return status;
}

static void forget_due(WadiChanges *changes)
{
    for (size_t i = 0; i < changes->due.count; ++i) {
        wadi_string_free(changes->due.data[i].text);
    }
    changes->due.count = changes->next = 0;
}

WadiStatus wadi_sim_repeat_changes(WadiSim *sim, const char *text, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WadiChanges *changes = NULL;
    WADI_TRY(wadi_sim_check_idle(sim, error));
    WADI_TRY(wadi_changes_get(sim, &changes, error));
    forget_due(changes);
    sim->before_step = NULL;
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0') {
        return WADI_OK;
    }
    WadiYaml yaml = { 0 };
    WadiStatus status = wadi_change_read(&yaml, text, strlen(text), "changes", error);
    if (status == WADI_OK) {
        status = read_entries(changes, &yaml, error);
    }
    if (status == WADI_OK) {
        status = skip_own(sim, changes, error);
    }
    wadi_yaml_free(&yaml);
    if (status != WADI_OK) {
        forget_due(changes);
        return status;
    }
    sim->before_step = apply_due;
    return wadi_assert_status(WADI_OK, asserts, error);
}

WadiStatus wadi_sim_apply_due(WadiSim *sim, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WADI_TRY(wadi_sim_check_state(sim, error));
    return wadi_assert_status(sim->before_step != NULL ? sim->before_step(sim, error) : WADI_OK, asserts,
                              error);
}

/* The bytes of an array as text. */
static WadiStatus copy_array(const WadiState *state, const char *name, char **text, WadiError *error)
{
    const WadiStateArray *array = NULL;
    *text = NULL;
    WADI_TRY(wadi_state_expect(state, name, WADI_TYPE_U8, 1, SIZE_MAX, &array, error));
    if (array->count > WADI_YAML_MAX_BYTES || memchr(array->data, 0, array->count) != NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "the text '%s' of the checkpoint makes no sense", name);
    }
    return wadi_string_copy(text, array->data, array->count, error);
}

/* Materials with particles so far count as used, as when the checkpoint was written. */
static WadiStatus mark_used(WadiScene *scene, const WadiState *state, WadiError *error)
{
    const WadiStateArray *ledger = NULL;
    WADI_TRY(wadi_state_expect(state, "sim.ledger", WADI_TYPE_U64, 3, (size_t)scene->material_count, &ledger,
                               error));
    for (int m = 0; m < scene->material_count; ++m) {
        scene->materials[m].is_unused =
            scene->materials[m].is_unused && ((const uint64_t *)ledger->data)[3 * m] == 0;
    }
    return WADI_OK;
}

static WadiStatus read_scene(const WadiSim *sim, const WadiState *state, const char *source,
                             WadiScene **scene, WadiError *error)
{
    WadiSceneDef def = wadi_default_scene_def();
    def.path = sim->scene->path;
    def.folder = sim->scene->folder;
    def.text = source;
    WADI_TRY(wadi_scene_parse_record(scene, &def, error));
    (*scene)->content_hash = sim->scene->content_hash;
    const char *unfit = wadi_change_unfit_key(sim->scene, *scene);
    if (unfit != NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "%s is another one in the checkpoint; resume from another one", unfit);
    }
    return mark_used(*scene, state, error);
}

WadiStatus wadi_changes_restore(WadiSim *sim, const WadiState *state, WadiError *error)
{
    WadiChanges *changes = NULL;
    char *log = NULL, *source = NULL;
    WadiScene *scene = NULL;
    if (wadi_state_find(state, "sim.changes") == NULL) {
        return WADI_OK;
    }
    WadiStatus status = copy_array(state, "sim.changes", &log, error);
    if (status == WADI_OK) {
        status = copy_array(state, "sim.scene", &source, error);
    }
    if (status == WADI_OK) {
        status = read_scene(sim, state, source, &scene, error);
    }
    if (status == WADI_OK) {
        status = wadi_changes_get(sim, &changes, error);
    }
    if (status == WADI_OK) {
        wadi_sim_release(sim);
        changes->scene = scene;
        sim->scene = scene;
        scene = NULL;
        wadi_text_append(&sim->change_log, log);
        status = wadi_text_status(&sim->change_log, error);
    }
    if (status == WADI_OK) {
        status = wadi_sim_prepare(sim, error);
    }
    wadi_scene_free(scene);
    wadi_string_free(log);
    wadi_string_free(source);
    return status;
}
