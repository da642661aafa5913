#include "export/usd/crate.h"

#include <string.h>

#include "export/usd/crate_internal.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "crate files are little-endian and are written without conversion"
#endif

static void note_status(WadiCrate *crate, WadiStatus status)
{
    if (crate->out.status == WADI_OK) {
        crate->out.status = status;
    }
}

static bool is_good(const WadiCrate *crate)
{
    return crate->out.status == WADI_OK;
}

uint64_t wadi_crate_align(WadiCrate *crate)
{
    static const char zeros[8] = { 0 };
    const uint64_t size = wadi_out_size(&crate->out);
    wadi_out_bytes(&crate->out, zeros, (8 - size % 8) % 8);
    return wadi_out_size(&crate->out);
}

void wadi_crate_open(WadiCrate *crate, const char *path, const char *note, WadiError *error)
{
    static const char head[WADI_CRATE_HEAD] = { 0 };
    *crate = (WadiCrate){ .has_values = true, .has_times = true };
    wadi_out_open(&crate->out, path, error);
    wadi_out_bytes(&crate->out, head, sizeof head);
    wadi_out_text(&crate->out, note);
    /* The names of attributes are stored as negative token numbers: 0 would lose its sign. */
    wadi_crate_token_number(crate, ";-)");
    if (is_good(crate)) {
        note_status(crate, WADI_ARRAY_PUSH(&crate->nodes, ((WadiCrateNodeData){ 0 }), "prims", error));
    }
    if (is_good(crate)) {
        crate->nodes.data[0].name = wadi_crate_token_number(crate, "");
    }
}

WadiStatus wadi_crate_close(WadiCrate *crate)
{
    if (is_good(crate)) {
        wadi_crate_put_tables(crate);
    }
    for (size_t t = 0; t < crate->tokens.count; ++t) {
        WADI_DELETE(crate->tokens.data[t], strlen(crate->tokens.data[t]) + 1);
    }
    WADI_ARRAY_FREE(&crate->tokens);
    WADI_ARRAY_FREE(&crate->nodes);
    WADI_ARRAY_FREE(&crate->fields);
    WADI_ARRAY_FREE(&crate->samples);
    WADI_ARRAY_FREE(&crate->sections);
    return wadi_out_close(&crate->out);
}

uint32_t wadi_crate_token_number(WadiCrate *crate, const char *text)
{
    for (size_t t = 0; t < crate->tokens.count; ++t) {
        if (strcmp(crate->tokens.data[t], text) == 0) {
            return (uint32_t)t;
        }
    }
    const size_t size = strlen(text) + 1;
    char *copy = NULL;
    if (is_good(crate)) {
        note_status(crate, WADI_NEW(&copy, size, "name", crate->out.error));
    }
    if (!is_good(crate)) {
        return 0;
    }
    memcpy(copy, text, size);
    note_status(crate, WADI_ARRAY_PUSH(&crate->tokens, copy, "names", crate->out.error));
    if (!is_good(crate)) {
        WADI_DELETE(copy, size);
        return 0;
    }
    return (uint32_t)crate->tokens.count - 1;
}

/* Finds or makes a child. *is_new is false after a failure. */
static WadiCrateNode child(WadiCrate *crate, WadiCrateNode parent, const char *name, bool is_attribute,
                           bool *is_new)
{
    *is_new = false;
    const uint32_t token = wadi_crate_token_number(crate, name);
    if (!is_good(crate)) {
        return 0;
    }
    for (WadiCrateNode n = crate->nodes.data[parent].first_child; n != 0; n = crate->nodes.data[n].next) {
        if (crate->nodes.data[n].name == token && crate->nodes.data[n].is_attribute == is_attribute) {
            return n;
        }
    }
    const WadiCrateNodeData data = { .name = token, .is_attribute = is_attribute, .parent = parent };
    note_status(crate, WADI_ARRAY_PUSH(&crate->nodes, data, "prims", crate->out.error));
    if (!is_good(crate)) {
        return 0;
    }
    const WadiCrateNode made = (WadiCrateNode)crate->nodes.count - 1;
    WadiCrateNodeData *above = &crate->nodes.data[parent];
    if (above->first_child == 0) {
        above->first_child = made;
    } else {
        crate->nodes.data[above->last_child].next = made;
    }
    above->last_child = made;
    *is_new = true;
    return made;
}

WadiCrateNode wadi_crate_prim(WadiCrate *crate, WadiCrateNode parent, const char *name, const char *type)
{
    enum { DEFINED = 0, OVER = 1 };
    bool is_new;
    const WadiCrateNode node = child(crate, parent, name, false, &is_new);
    if (is_new) {
        wadi_crate_set(
            crate, node, "specifier",
            wadi_crate_value(WADI_CRATE_SPECIFIER, type != NULL ? DEFINED : OVER, WADI_CRATE_IS_INLINED));
        if (type != NULL) {
            wadi_crate_set(crate, node, "typeName", wadi_crate_token(crate, type));
        }
    }
    return node;
}

WadiCrateNode wadi_crate_attribute(WadiCrate *crate, WadiCrateNode prim, const char *name, const char *type)
{
    bool is_new;
    const WadiCrateNode node = child(crate, prim, name, true, &is_new);
    if (is_new) {
        wadi_crate_set(crate, node, "typeName", wadi_crate_token(crate, type));
    }
    return node;
}

void wadi_crate_set(WadiCrate *crate, WadiCrateNode node, const char *field, WadiCrateValue value)
{
    const WadiCrateField made = { node, wadi_crate_token_number(crate, field), value };
    for (size_t f = 0; f < crate->fields.count; ++f) {
        if (crate->fields.data[f].node == node && crate->fields.data[f].name == made.name) {
            crate->fields.data[f].value = value;
            return;
        }
    }
    if (is_good(crate)) {
        note_status(crate, WADI_ARRAY_PUSH(&crate->fields, made, "fields", crate->out.error));
    }
}

void wadi_crate_sample(WadiCrate *crate, WadiCrateNode attribute, double time, WadiCrateValue value)
{
    const WadiCrateSample sample = { attribute, time, value };
    if (is_good(crate) && crate->has_values) {
        note_status(crate, WADI_ARRAY_PUSH(&crate->samples, sample, "samples", crate->out.error));
    }
}

WadiCrateValue wadi_crate_token(WadiCrate *crate, const char *text)
{
    return wadi_crate_value(WADI_CRATE_TOKEN, wadi_crate_token_number(crate, text), WADI_CRATE_IS_INLINED);
}

WadiCrateValue wadi_crate_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return wadi_crate_value(WADI_CRATE_FLOAT, bits, WADI_CRATE_IS_INLINED);
}

WadiCrateValue wadi_crate_double(WadiCrate *crate, double value)
{
    const float rounded = (float)value;
    if ((double)rounded == value) { /* readers take the bits of a float for an inlined double */
        return wadi_crate_float(rounded) ^ wadi_crate_value(WADI_CRATE_FLOAT ^ WADI_CRATE_DOUBLE, 0, 0);
    }
    const uint64_t at = wadi_crate_align(crate);
    wadi_out_bytes(&crate->out, &value, sizeof value);
    return wadi_crate_value(WADI_CRATE_DOUBLE, at, 0);
}

WadiCrateValue wadi_crate_bool(bool value)
{
    return wadi_crate_value(WADI_CRATE_BOOL, value, WADI_CRATE_IS_INLINED);
}

WadiCrateValue wadi_crate_uniform(void)
{
    return wadi_crate_value(WADI_CRATE_VARIABILITY, 1, WADI_CRATE_IS_INLINED);
}

WadiCrateValue wadi_crate_matrix(WadiCrate *crate, const double rows[16])
{
    const uint64_t at = wadi_crate_align(crate);
    wadi_out_bytes(&crate->out, rows, 16 * sizeof(double));
    return wadi_crate_value(WADI_CRATE_MATRIX4, at, 0);
}

WadiCrateValue wadi_crate_array(WadiCrate *crate, WadiCrateType type, size_t count)
{
    if (count == 0) {
        return wadi_crate_value((int)type, 0, WADI_CRATE_IS_ARRAY);
    }
    const uint64_t at = wadi_crate_align(crate), length = count;
    wadi_out_bytes(&crate->out, &length, sizeof length);
    return wadi_crate_value((int)type, at, WADI_CRATE_IS_ARRAY);
}

WadiCrateValue wadi_crate_tokens(WadiCrate *crate, const char *const *texts, size_t count)
{
    const WadiCrateValue value = wadi_crate_array(crate, WADI_CRATE_TOKEN, count);
    for (size_t t = 0; t < count; ++t) {
        const uint32_t number = wadi_crate_token_number(crate, texts[t]);
        wadi_out_bytes(&crate->out, &number, sizeof number);
    }
    return value;
}
