/* Shared by the files that read a scene: the walk over the table, values, shapes, files. */
#ifndef WADI_IO_SCENE_READ_H
#define WADI_IO_SCENE_READ_H

#include "io/scene/scene_files.h"
#include "io/scene/scene_schema.h"
#include "io/yaml/scene_yaml.h"
#include "world/scene.h"

typedef struct WadiSceneReader {
    WadiYaml yaml;
    WadiReport report;
    WadiScene *scene;
    WadiText path; /* of the value being read: "bodies[0].shape" */
    int shape_count;
    bool is_record;                       /* a finished run: files are not opened */
    bool may_be_empty;                    /* WadiSceneDef.may_be_empty */
    WadiSceneFiles *files;                /* list of files; NULL: none is made */
    const WadiSceneField *keyframed;      /* field whose keyframes are being read */
    const WadiSceneObject *listed_object; /* object whose keys the last message of an unknown key listed */
    WadiStatus status;                    /* the first failure that is not an error of the scene: memory */
    WadiError *error;
} WadiSceneReader;

/* For each field of an object, the node of its value in the map, or -1. */
typedef struct WadiSceneGiven {
    int node[WADI_SCENE_FIELD_MAX];
    bool has_unknown;
    bool is_misspelt[WADI_SCENE_FIELD_MAX]; /* an unknown key was reported as a typo of this field */
} WadiSceneGiven;

/* Path of the value being read: size_t mark = wadi_read_enter(r, key); …; wadi_read_leave(r, mark). */
size_t wadi_read_enter(WadiSceneReader *r, const char *key);
size_t wadi_read_enter_index(WadiSceneReader *r, int index);
void wadi_read_leave(WadiSceneReader *r, size_t mark);

/* Reports a problem with the value `node` at the current path. */
void wadi_read_problem(WadiSceneReader *r, int node, const char *format, ...) WADI_PRINTF(3, 4);
/* Reports "expected EXPECTED, found …", with a hint where one exists. */
void wadi_read_wrong_type(WadiSceneReader *r, int node, const char *expected);
/* Reports "WHAT; did you mean 'x'? (known: x, y)": the text of `node` is none of the names. */
void wadi_read_unknown(WadiSceneReader *r, int node, const char *what, const char *const *names, int count);
/* The name of which `word` is most likely a typo, or NULL. */
const char *wadi_read_nearest(const char *word, const char *const *names, int count);
void wadi_read_missing(WadiSceneReader *r, int node, const WadiSceneField *field);
/* Number of problems so far: a check of several values is skipped when one of them was wrong. */
int wadi_read_problem_count(const WadiSceneReader *r);
/* Records a failure that is not an error of the scene; true if `status` is WADI_OK. */
bool wadi_read_ok(WadiSceneReader *r, WadiStatus status);

/* Frees a text used in a message and records a failure of its allocations. */
void wadi_read_drop(WadiSceneReader *r, WadiText *text);

/* Assigns the entries of a map to the object's fields. False: the node is no map. */
bool wadi_read_collect(WadiSceneReader *r, int node, const WadiSceneObject *object, WadiSceneGiven *given);
/* Reads a map into the struct at `base`, which must have its defaults. */
void wadi_read_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base);
void wadi_read_field(WadiSceneReader *r, int node, const WadiSceneField *field, void *base);

bool wadi_read_number(WadiSceneReader *r, int node, const WadiSceneField *field, double *value);
void wadi_read_value(WadiSceneReader *r, int node, const WadiSceneField *field, void *at);
void wadi_read_curve(WadiSceneReader *r, int node, const WadiSceneField *field, WadiCurve *curve);
void wadi_read_keys(WadiSceneReader *r, int node, WadiCurve *curve);
void wadi_read_file(WadiSceneReader *r, int node, char **path);
void wadi_read_file_pattern(WadiSceneReader *r, int node, char **path);

/* `def` must be zeroed. */
void wadi_read_shape(WadiSceneReader *r, int node, WadiShapeDef *def);
void wadi_read_shapes(WadiSceneReader *r, int node, WadiShapeDef *parent, int least);

/* Checks on several values, after an object was read. */
void wadi_finish_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base,
                        const WadiSceneGiven *given, bool is_sound);
void wadi_finish_shape(WadiSceneReader *r, int node, const WadiSceneObject *parameters, WadiShapeDef *def,
                       const WadiSceneGiven *given, bool is_sound);

/* Checks of the key `on` of all shapes, after the scene was read. */
void wadi_finish_rests(WadiSceneReader *r);

/* Applies the overrides to the tree. */
void wadi_scene_apply_sets(WadiSceneReader *r, const char *const *sets, int set_count);

/* A pattern has exactly one "%d", "%4d" or "%04d"; "%%" means a '%' in the folder's name, and no other '%' is
 * allowed. */
bool wadi_file_pattern_is_valid(const char *pattern);
void wadi_file_pattern_expand(const char *pattern, int number, WadiText *path);
/* Reports missing files of the sequence. */
void wadi_check_sequence(WadiSceneReader *r, int node, const WadiShapeDef *def);

/* Hash of everything that changes the simulation, including the content of its files. */
WadiStatus wadi_scene_hash(const WadiScene *scene, uint64_t *hash, WadiError *error);

#endif
