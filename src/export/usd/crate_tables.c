/* The tables at the end of a crate file: tokens, fields, sets of fields, paths and specs. */
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "export/usd/crate_internal.h"

/* Kinds of specs. */
enum { ATTRIBUTE = 1, PRIM = 6, LAYER = 7 };

static void put(WadiCrate *crate, const void *bytes, size_t size)
{
    wadi_out_bytes(&crate->out, bytes, size);
}

static void put_u64(WadiCrate *crate, uint64_t value)
{
    put(crate, &value, sizeof value);
}

static void begin_section(WadiCrate *crate, const char *name)
{
    const WadiCrateSection section = { .name = name, .start = wadi_crate_align(crate) };
    if (crate->out.status == WADI_OK) {
        crate->out.status = WADI_ARRAY_PUSH(&crate->sections, section, "sections", crate->out.error);
    }
}

static void end_section(WadiCrate *crate)
{
    if (crate->out.status == WADI_OK) {
        WadiCrateSection *section = &crate->sections.data[crate->sections.count - 1];
        section->size = wadi_out_size(&crate->out) - section->start;
    }
}

/* Bytes before the `size` literals of an LZ4 block: the number of chunks minus one, then their length in a
 * half byte and as many further bytes as it takes. */
static size_t literal_head_size(size_t size)
{
    return size < 15 ? 2 : 2 + (size - 15) / 255 + 1;
}

/* The size of the block, its head; the caller puts its `size` bytes. */
static void begin_literals(WadiCrate *crate, size_t size)
{
    static const unsigned char chunks = 0, full = 255;
    put_u64(crate, literal_head_size(size) + size);
    put(crate, &chunks, 1);
    const unsigned char token = (unsigned char)((size < 15 ? size : 15) << 4);
    put(crate, &token, 1);
    if (size >= 15) {
        size_t rest = size - 15;
        for (; rest >= 255; rest -= 255) {
            put(crate, &full, 1);
        }
        const unsigned char last = (unsigned char)rest;
        put(crate, &last, 1);
    }
}

/* Integers as differences: the most common one, two bits of kind for each (3: 32 bits follow), the values. */
static void put_integers(WadiCrate *crate, const int32_t *values, size_t count)
{
    const int32_t common = 0;
    const size_t kinds = (2 * count + 7) / 8;
    begin_literals(crate, sizeof common + kinds + count * sizeof *values);
    put(crate, &common, sizeof common);
    for (size_t k = 0; k < kinds; ++k) {
        const size_t left = count - 4 * k;
        const unsigned char kind = (unsigned char)(left >= 4 ? 0xff : (1U << (2 * left)) - 1U);
        put(crate, &kind, 1);
    }
    uint32_t before = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t difference = (uint32_t)values[i] - before;
        put(crate, &difference, sizeof difference);
        before = (uint32_t)values[i];
    }
}

static void put_tokens(WadiCrate *crate)
{
    size_t size = 0;
    for (size_t t = 0; t < crate->tokens.count; ++t) {
        size += strlen(crate->tokens.data[t]) + 1;
    }
    begin_section(crate, "TOKENS");
    put_u64(crate, crate->tokens.count);
    put_u64(crate, size);
    begin_literals(crate, size);
    for (size_t t = 0; t < crate->tokens.count; ++t) {
        put(crate, crate->tokens.data[t], strlen(crate->tokens.data[t]) + 1);
    }
    end_section(crate);
    begin_section(crate, "STRINGS"); /* indices of tokens; none are used */
    put_u64(crate, 0);
    end_section(crate);
}

/* Arrays of the tables, one element a field, a node or an end of a set. */
typedef struct Tables {
    int32_t *set;   /* fields of each node, by node, each ended by -1 */
    int32_t *first; /* of a node, in `set` */
    int32_t *path;  /* of a node: its place in the order of paths */
    WadiCrateNode *order;
    int32_t *numbers; /* to be coded; as long as the longest of all */
    size_t set_count, number_count;
} Tables;

static void put_fields(WadiCrate *crate, Tables *t)
{
    const size_t count = crate->fields.count;
    begin_section(crate, "FIELDS");
    put_u64(crate, count);
    for (size_t f = 0; f < count; ++f) {
        t->numbers[f] = (int32_t)crate->fields.data[f].name;
    }
    put_integers(crate, t->numbers, count);
    begin_literals(crate, count * sizeof(WadiCrateValue));
    for (size_t f = 0; f < count; ++f) {
        put(crate, &crate->fields.data[f].value, sizeof(WadiCrateValue));
    }
    end_section(crate);
    begin_section(crate, "FIELDSETS");
    put_u64(crate, t->set_count);
    put_integers(crate, t->set, t->set_count);
    end_section(crate);
}

/* Depth first, attributes before prims. A jump is the way to the next sibling: -2 there is neither child nor
 * sibling, -1 children alone, 0 a sibling alone, otherwise how far behind the sibling is. */
static size_t put_order(const WadiCrate *crate, Tables *t, WadiCrateNode node, size_t at)
{
    t->path[node] = (int32_t)at;
    t->order[at++] = node;
    for (int pass = 0; pass < 2; ++pass) {
        for (WadiCrateNode n = crate->nodes.data[node].first_child; n != 0; n = crate->nodes.data[n].next) {
            if (crate->nodes.data[n].is_attribute == (pass == 0)) {
                at = put_order(crate, t, n, at);
            }
        }
    }
    return at;
}

/* The next child of the same parent in the order of paths; 0: none. */
static WadiCrateNode next_sibling(const WadiCrate *crate, WadiCrateNode node)
{
    const WadiCrateNodeData *data = &crate->nodes.data[node];
    for (WadiCrateNode n = data->next; n != 0; n = crate->nodes.data[n].next) {
        if (crate->nodes.data[n].is_attribute == data->is_attribute) {
            return n;
        }
    }
    const bool may_have_prims = node != 0 && data->is_attribute;
    WadiCrateNode n = may_have_prims ? crate->nodes.data[data->parent].first_child : 0;
    while (n != 0 && crate->nodes.data[n].is_attribute) {
        n = crate->nodes.data[n].next;
    }
    return n;
}

static void put_paths(WadiCrate *crate, Tables *t)
{
    const size_t count = crate->nodes.count;
    put_order(crate, t, 0, 0);
    begin_section(crate, "PATHS");
    put_u64(crate, count);
    put_u64(crate, count);
    for (size_t p = 0; p < count; ++p) {
        t->numbers[p] = (int32_t)p;
    }
    put_integers(crate, t->numbers, count);
    for (size_t p = 0; p < count; ++p) {
        const WadiCrateNodeData *node = &crate->nodes.data[t->order[p]];
        t->numbers[p] = node->is_attribute ? -(int32_t)node->name : (int32_t)node->name;
    }
    put_integers(crate, t->numbers, count);
    for (size_t p = 0; p < count; ++p) {
        const WadiCrateNode sibling = next_sibling(crate, t->order[p]);
        const bool has_child = crate->nodes.data[t->order[p]].first_child != 0;
        t->numbers[p] = sibling == 0 ? (has_child ? -1 : -2) : has_child ? t->path[sibling] - (int32_t)p : 0;
    }
    put_integers(crate, t->numbers, count);
    end_section(crate);
}

static void put_specs(WadiCrate *crate, Tables *t)
{
    const size_t count = crate->nodes.count;
    begin_section(crate, "SPECS");
    put_u64(crate, count);
    put_integers(crate, t->path, count);
    put_integers(crate, t->first, count);
    for (size_t n = 0; n < count; ++n) {
        t->numbers[n] = n == 0 ? LAYER : crate->nodes.data[n].is_attribute ? ATTRIBUTE : PRIM;
    }
    put_integers(crate, t->numbers, count);
    end_section(crate);
}

/* The samples of one attribute as a value, and the first of them as its value at no time. */
static void set_samples(WadiCrate *crate, const WadiCrateSample *sample, size_t count)
{
    wadi_crate_set(crate, sample[0].node, "default", sample[0].value);
    if (!crate->has_times) {
        return;
    }
    uint64_t at = wadi_crate_align(crate);
    const uint64_t times = wadi_crate_value(WADI_CRATE_DOUBLE_VECTOR, at, 0);
    put_u64(crate, count);
    for (size_t s = 0; s < count; ++s) {
        put(crate, &sample[s].time, sizeof sample[s].time);
    }
    at = wadi_crate_align(crate);
    put_u64(crate, 8); /* bytes from here to the value of times */
    put_u64(crate, times);
    put_u64(crate, 8);
    put_u64(crate, count);
    for (size_t s = 0; s < count; ++s) {
        put_u64(crate, sample[s].value);
    }
    wadi_crate_set(crate, sample[0].node, "timeSamples", wadi_crate_value(WADI_CRATE_TIME_SAMPLES, at, 0));
}

static int by_node_then_time(const void *left, const void *right)
{
    const WadiCrateSample *a = left, *b = right;
    return a->node != b->node ? (a->node > b->node) - (a->node < b->node)
                              : (a->time > b->time) - (a->time < b->time);
}

static void set_all_samples(WadiCrate *crate)
{
    const size_t count = crate->samples.count;
    if (count > 0) {
        qsort(crate->samples.data, count, sizeof *crate->samples.data, by_node_then_time);
    }
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1;
             end < count && crate->samples.data[end].node == crate->samples.data[first].node;) {
            ++end;
        }
        set_samples(crate, crate->samples.data + first, end - first);
    }
}

/* The names of a node's children as the field that lists them. */
static void set_children(WadiCrate *crate, WadiCrateNode node, bool is_attribute)
{
    uint64_t count = 0;
    for (WadiCrateNode n = crate->nodes.data[node].first_child; n != 0; n = crate->nodes.data[n].next) {
        count += crate->nodes.data[n].is_attribute == is_attribute;
    }
    if (count == 0) {
        return;
    }
    const uint64_t at = wadi_crate_align(crate);
    put_u64(crate, count);
    for (WadiCrateNode n = crate->nodes.data[node].first_child; n != 0; n = crate->nodes.data[n].next) {
        if (crate->nodes.data[n].is_attribute == is_attribute) {
            put(crate, &crate->nodes.data[n].name, sizeof crate->nodes.data[n].name);
        }
    }
    wadi_crate_set(crate, node, is_attribute ? "properties" : "primChildren",
                   wadi_crate_value(WADI_CRATE_TOKEN_VECTOR, at, 0));
}

static WadiStatus new_tables(const WadiCrate *crate, Tables *t, WadiError *error)
{
    const size_t nodes = crate->nodes.count;
    t->set_count = crate->fields.count + nodes;
    t->number_count = t->set_count;
    WADI_TRY(WADI_NEW(&t->set, t->set_count, "sets of fields", error));
    WADI_TRY(WADI_NEW(&t->first, nodes, "sets of fields", error));
    WADI_TRY(WADI_NEW(&t->path, nodes, "paths", error));
    WADI_TRY(WADI_NEW(&t->order, nodes, "paths", error));
    return WADI_NEW(&t->numbers, t->number_count, "numbers of a table", error);
}

static void free_tables(const WadiCrate *crate, Tables *t)
{
    WADI_DELETE(t->set, t->set_count);
    WADI_DELETE(t->first, crate->nodes.count);
    WADI_DELETE(t->path, crate->nodes.count);
    WADI_DELETE(t->order, crate->nodes.count);
    WADI_DELETE(t->numbers, t->number_count);
}

/* Sorts the fields by node, in the order they were set. */
static void fill_sets(const WadiCrate *crate, Tables *t)
{
    int32_t *count = t->numbers;
    memset(count, 0, crate->nodes.count * sizeof *count);
    for (size_t f = 0; f < crate->fields.count; ++f) {
        count[crate->fields.data[f].node] += 1;
    }
    int32_t at = 0;
    for (size_t n = 0; n < crate->nodes.count; ++n) {
        t->first[n] = at;
        at += count[n];
        t->set[at++] = -1;
        count[n] = t->first[n];
    }
    for (size_t f = 0; f < crate->fields.count; ++f) {
        t->set[count[crate->fields.data[f].node]++] = (int32_t)f;
    }
}

static void put_contents(WadiCrate *crate)
{
    const uint64_t at = wadi_crate_align(crate);
    put_u64(crate, crate->sections.count);
    for (size_t s = 0; s < crate->sections.count; ++s) {
        char name[16] = { 0 };
        const size_t length = strlen(crate->sections.data[s].name);
        WADI_ASSERT_ELSE(length < sizeof name, return;);
        memcpy(name, crate->sections.data[s].name, length);
        put(crate, name, sizeof name);
        put_u64(crate, crate->sections.data[s].start);
        put_u64(crate, crate->sections.data[s].size);
    }
    unsigned char head[24] = { 'P', 'X', 'R', '-', 'U', 'S', 'D', 'C', 0, 8, 0 };
    memcpy(head + 16, &at, sizeof at);
    wadi_out_rewrite(&crate->out, 0, head, sizeof head);
}

void wadi_crate_put_tables(WadiCrate *crate)
{
    Tables tables = { 0 };
    set_all_samples(crate);
    for (WadiCrateNode n = 0; n < (WadiCrateNode)crate->nodes.count; ++n) {
        set_children(crate, n, true);
        set_children(crate, n, false);
    }
    if (crate->out.status == WADI_OK) {
        crate->out.status = new_tables(crate, &tables, crate->out.error);
    }
    if (crate->out.status == WADI_OK) {
        fill_sets(crate, &tables);
        put_tokens(crate);
        put_fields(crate, &tables);
        put_paths(crate, &tables);
        put_specs(crate, &tables);
        put_contents(crate);
    }
    free_tables(crate, &tables);
}
