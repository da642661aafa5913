/* Writer of USD's binary files (.usdc, "crate", version 0.8.0): a tree of prims with attributes, whose values
 * go to the file as they are made. There is no specification but OpenUSD's reader
 * (pxr/usd/usd/crateFile.cpp); docs/export.md has what is used of it. Tables are LZ4 blocks of literals alone
 * and integers are coded with 32 bits each, which every reader accepts.
 *
 * After the first failure all calls do nothing and wadi_crate_close returns it. */
#ifndef WADI_EXPORT_USD_CRATE_H
#define WADI_EXPORT_USD_CRATE_H

#include "core/array.h"
#include "export/export_out.h"

/* Type, flags and place of a value. */
typedef uint64_t WadiCrateValue;

typedef enum WadiCrateType {
    WADI_CRATE_INT = 3,
    WADI_CRATE_INT64 = 5,
    WADI_CRATE_FLOAT = 8,
    WADI_CRATE_DOUBLE = 9,
    WADI_CRATE_TOKEN = 11,
    WADI_CRATE_MATRIX4 = 15, /* of doubles, by rows; vectors are rows */
    WADI_CRATE_FLOAT3 = 24
} WadiCrateType;

/* A prim or an attribute; 0 is the root, whose fields are those of the file. */
typedef int32_t WadiCrateNode;

typedef struct WadiCrateNodeData {
    uint32_t name; /* token */
    bool is_attribute;
    WadiCrateNode parent, first_child, last_child, next; /* 0: none */
} WadiCrateNodeData;

typedef struct WadiCrateField {
    WadiCrateNode node;
    uint32_t name; /* token */
    WadiCrateValue value;
} WadiCrateField;

typedef struct WadiCrateSample {
    WadiCrateNode node;
    double time;
    WadiCrateValue value;
} WadiCrateSample;

typedef struct WadiCrateSection {
    const char *name;
    uint64_t start, size;
} WadiCrateSection;

typedef struct WadiCrate {
    WadiExportOut out;
    bool has_values; /* false: samples are not written, so that the file declares attributes alone */
    bool has_times;  /* false: of what never moves: samples have no time */
    WADI_ARRAY(char *) tokens; /* owned */
    WADI_ARRAY(WadiCrateNodeData) nodes;
    WADI_ARRAY(WadiCrateField) fields;
    WADI_ARRAY(WadiCrateSample) samples;
    WADI_ARRAY(WadiCrateSection) sections;
} WadiCrate;

/* `note` is text for people and for wadi at the beginning of the file, which readers of USD skip. */
void wadi_crate_open(WadiCrate *crate, const char *path, const char *note, WadiError *error);
/* The file exists exactly when this returns WADI_OK. */
WadiStatus wadi_crate_close(WadiCrate *crate);

/* The child of that name, made where there is none. `type` is "Mesh", or NULL for an attribute without one; a
 * prim without a type is an opinion about one of another file. */
WadiCrateNode wadi_crate_prim(WadiCrate *crate, WadiCrateNode parent, const char *name, const char *type);
/* `type` is that of a text file: "point3f[]". */
WadiCrateNode wadi_crate_attribute(WadiCrate *crate, WadiCrateNode prim, const char *name, const char *type);
/* Sets a field, or replaces its value. */
void wadi_crate_set(WadiCrate *crate, WadiCrateNode node, const char *field, WadiCrateValue value);
/* The value of an attribute at a time; times of an attribute increase. */
void wadi_crate_sample(WadiCrate *crate, WadiCrateNode attribute, double time, WadiCrateValue value);

WadiCrateValue wadi_crate_token(WadiCrate *crate, const char *text);
WadiCrateValue wadi_crate_double(WadiCrate *crate, double value);
WadiCrateValue wadi_crate_float(float value);
WadiCrateValue wadi_crate_bool(bool value);
/* An attribute that never changes with time, by its field "variability". */
WadiCrateValue wadi_crate_uniform(void);
WadiCrateValue wadi_crate_matrix(WadiCrate *crate, const double rows[16]);
WadiCrateValue wadi_crate_tokens(WadiCrate *crate, const char *const *texts, size_t count);
/* The caller writes the elements to `out` next, and nothing else between. */
WadiCrateValue wadi_crate_array(WadiCrate *crate, WadiCrateType type, size_t count);

#endif
