#include "api/wedge/wedge_runs.h"

#include <stdio.h>
#include <string.h>

#include "io/files/lock.h"

/* Length of the value at `text`: to the next comma outside of brackets, braces and quotes. */
static size_t value_length(const char *text)
{
    int depth = 0;
    char quote = '\0';
    const char *c = text;
    for (; *c != '\0' && (*c != ',' || depth > 0 || quote != '\0'); ++c) {
        if (quote != '\0') {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        } else if (*c == '[' || *c == '{') {
            ++depth;
        } else if (*c == ']' || *c == '}') {
            --depth;
        }
    }
    return (size_t)(c - text);
}

static WadiStatus read_values(WadiWedgeKey *key, const char *vary, WadiError *error)
{
    const char *at = strchr(vary, '=');
    if (at == NULL || at == vary) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "vary '%s': expected a key and values, such as seed=1,2,3",
                         vary);
    }
    WADI_TRY(wadi_string_copy(&key->key, vary, (size_t)(at - vary), error));
    for (++at;; ++at) {
        const size_t length = value_length(at);
        char *value = NULL;
        if (length == 0) {
            return wadi_fail(error, WADI_ERR_ARGUMENT, "vary '%s': a value is empty", vary);
        }
        WADI_TRY(wadi_string_copy(&value, at, length, error));
        WadiStatus status = WADI_ARRAY_PUSH(&key->values, value, "values of a wedge", error);
        if (status != WADI_OK) {
            wadi_string_free(value);
            return status;
        }
        at += length;
        if (*at == '\0') {
            return WADI_OK;
        }
    }
}

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

static WadiStatus set_words(WadiWedge *wedge, WadiError *error)
{
    for (int k = 0; k < wedge->key_count; ++k) {
        wedge->keys[k].word = last_part(wedge->keys[k].key);
        for (int other = 0; other < wedge->key_count; ++other) {
            if (other < k && strcmp(wedge->keys[other].key, wedge->keys[k].key) == 0) {
                return wadi_fail(error, WADI_ERR_ARGUMENT, "vary: the key %s is there twice",
                                 wedge->keys[k].key);
            }
            if (other != k && strcmp(last_part(wedge->keys[other].key), last_part(wedge->keys[k].key)) == 0) {
                wedge->keys[k].word = wedge->keys[k].key;
            }
        }
    }
    return WADI_OK;
}

static WadiStatus count_runs(WadiWedge *wedge, WadiError *error)
{
    size_t count = wedge->def->is_zip ? wedge->keys[0].values.count : 1;
    for (int k = 0; k < wedge->key_count; ++k) {
        const size_t values = wedge->keys[k].values.count;
        if (wedge->def->is_zip && values != count) {
            return wadi_fail(
                error, WADI_ERR_ARGUMENT,
                "%s has %zu values and %s has %zu: values that are taken together need as many of "
                "each",
                wedge->keys[0].key, count, wedge->keys[k].key, values);
        }
        count *= wedge->def->is_zip ? 1 : values;
        if (count > WADI_WEDGE_RUN_MAX) {
            return wadi_fail(error, WADI_ERR_ARGUMENT, "the values give more than %d runs",
                             WADI_WEDGE_RUN_MAX);
        }
    }
    wedge->run_count = (int)count;
    return wedge->def->index >= 0 && wedge->def->index <= wedge->run_count
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT, "run %d of a wedge of %d runs", wedge->def->index,
                           wedge->run_count);
}

WadiStatus wadi_wedge_read(WadiWedge *wedge, const WadiWedgeDef *def, WadiError *error)
{
    *wedge = (WadiWedge){ .def = def };
    if (def->vary_count < 1 || def->vary_count > WADI_WEDGE_KEY_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a wedge varies 1 to %d keys of a scene, such as seed=1,2,3", WADI_WEDGE_KEY_MAX);
    }
    for (int k = 0; k < def->vary_count; ++k) {
        wedge->key_count = k + 1;
        WADI_TRY(read_values(&wedge->keys[k], def->vary[k], error));
    }
    WADI_TRY(set_words(wedge, error));
    return count_runs(wedge, error);
}

void wadi_wedge_free(WadiWedge *wedge)
{
    for (int k = 0; k < wedge->key_count; ++k) {
        WadiWedgeKey *key = &wedge->keys[k];
        for (size_t i = 0; i < key->values.count; ++i) {
            wadi_string_free(key->values.data[i]);
        }
        WADI_ARRAY_FREE(&key->values);
        wadi_string_free(key->key);
    }
    *wedge = (WadiWedge){ 0 };
}

/* Of all combinations the last key changes fastest. */
const char *wadi_wedge_value(const WadiWedge *wedge, int i, int key)
{
    size_t stride = 1;
    for (int k = wedge->key_count - 1; k > key; --k) {
        stride *= wedge->keys[k].values.count;
    }
    const WadiWedgeKey *at = &wedge->keys[key];
    return at->values.data[wedge->def->is_zip ? (size_t)i : (size_t)i / stride % at->values.count];
}

void wadi_wedge_label(const WadiWedge *wedge, int i, char label[WADI_WEDGE_LABEL_SIZE])
{
    size_t length = 0;
    label[0] = '\0';
    for (int k = 0; k < wedge->key_count && length < WADI_WEDGE_LABEL_SIZE - 1; ++k) {
        const int added = snprintf(label + length, WADI_WEDGE_LABEL_SIZE - length, "%s%s=%s",
                                   k > 0 ? ", " : "", wedge->keys[k].word, wadi_wedge_value(wedge, i, k));
        length += added > 0 ? (size_t)added : 0;
    }
}

void wadi_wedge_run_path(const WadiWedge *wedge, int i, char path[WADI_PATH_SIZE])
{
    char label[WADI_WEDGE_LABEL_SIZE], name[WADI_WEDGE_LABEL_SIZE];
    size_t length = 0;
    wadi_wedge_label(wedge, i, label);
    for (const char *c = label; *c != '\0'; ++c) {
        if (*c != ' ') {
            name[length++] = strchr(WADI_NAME_CHARACTERS "=,", *c) != NULL ? *c : '_';
        }
    }
    name[length] = '\0';
    snprintf(path, WADI_PATH_SIZE, "%.3500s/%04d-%.120s.run", wedge->folder, i + 1, name);
}

void wadi_wedge_error_path(const WadiWedge *wedge, int i, char path[WADI_PATH_SIZE])
{
    snprintf(path, WADI_PATH_SIZE, "%.3500s/.wadi-error-%04d", wedge->folder, i + 1);
}

WadiWedgeState wadi_wedge_state(const WadiWedge *wedge, int i)
{
    char path[WADI_PATH_SIZE];
    WadiRunInfo info;
    WadiLockHolder holder;
    wadi_wedge_run_path(wedge, i, path);
    if (wadi_lock_is_held(path, "lock", &holder)) {
        return WADI_WEDGE_RUNNING;
    }
    WadiWedgeState state = WADI_WEDGE_WAITING;
    if (wadi_run_info_read(&info, path, NULL) == WADI_OK) {
        state = info.is_finished ? WADI_WEDGE_DONE : WADI_WEDGE_STOPPED;
        wadi_run_info_release(&info);
    }
    wadi_wedge_error_path(wedge, i, path);
    return wadi_file_exists(path) ? WADI_WEDGE_FAILED : state;
}
