/* Between the files that read a scene: the walk over the table, values, shapes, files. */
#ifndef WADI_IO_SCENE_READ_H
#define WADI_IO_SCENE_READ_H

#include "io/scene/scene_files.h"
#include "io/scene/scene_schema.h"
#include "io/scene/scene_yaml.h"
#include "world/scene.h"

typedef struct WadiSceneReader {
    WadiYaml yaml;
    WadiReport report;
    WadiScene *scene;
    WadiText path; /* of the value being read: "bodies[0].shape" */
    int shape_count;
    bool is_record;                /* files are not looked for */
    WadiSceneFiles *files;         /* where files are listed; NULL: nowhere */
    const WadiSceneField *keyed;   /* whose keyframes are being read */
    const WadiSceneObject *listed; /* whose keys the newest message of an unknown key listed */
    WadiStatus status;             /* the first failure that is not the scene's: memory */
    WadiError *error;
} WadiSceneReader;

/* What a map gave for each field of its object: the value's node, or -1. */
typedef struct WadiSceneGiven {
    int node[WADI_SCENE_FIELD_MAX];
    bool has_unknown;
    bool is_misspelt[WADI_SCENE_FIELD_MAX]; /* an unknown key was reported as a typo of this field */
} WadiSceneGiven;

/* The path for the time of one value: size_t mark = wadi_read_enter(r, key); …; wadi_read_leave(r, mark). */
size_t wadi_read_enter(WadiSceneReader *r, const char *key);
size_t wadi_read_enter_index(WadiSceneReader *r, int index);
void wadi_read_leave(WadiSceneReader *r, size_t mark);

/* Report a problem with the value `node`, at the current path. */
void wadi_read_problem(WadiSceneReader *r, int node, const char *format, ...) WADI_PRINTF(3, 4);
/* "expected EXPECTED, found …", with a hint where one is at hand. */
void wadi_read_wrong_type(WadiSceneReader *r, int node, const char *expected);
/* "WHAT; did you mean 'x'? (known: x, y)": the text of `node` is none of the names. */
void wadi_read_unknown(WadiSceneReader *r, int node, const char *what, const char *const *names, int count);
/* The name that a text most likely is a typo of, or NULL. */
const char *wadi_read_nearest(const char *word, const char *const *names, int count);
void wadi_read_missing(WadiSceneReader *r, int node, const WadiSceneField *field);
/* Problems so far: a check that needs several values is left out when one of them was wrong. */
int wadi_read_problem_count(const WadiSceneReader *r);
/* Remember the failure of a call that is not the scene's fault; true if it succeeded. */
bool wadi_read_ok(WadiSceneReader *r, WadiStatus status);

/* Release a text that went into a message, after checking that it is whole. */
void wadi_read_drop(WadiSceneReader *r, WadiText *text);

/* Assign the entries of a map to the object's fields. False: it is no map. */
bool wadi_read_collect(WadiSceneReader *r, int node, const WadiSceneObject *object, WadiSceneGiven *given);
/* Read a map into the struct at `base`, whose defaults are set. */
void wadi_read_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base);
void wadi_read_field(WadiSceneReader *r, int node, const WadiSceneField *field, void *base);

bool wadi_read_number(WadiSceneReader *r, int node, const WadiSceneField *field, double *value);
void wadi_read_value(WadiSceneReader *r, int node, const WadiSceneField *field, void *at);
void wadi_read_curve(WadiSceneReader *r, int node, const WadiSceneField *field, WadiCurve *curve);
void wadi_read_keys(WadiSceneReader *r, int node, WadiCurve *curve);
void wadi_read_file(WadiSceneReader *r, int node, char **path);
void wadi_read_file_pattern(WadiSceneReader *r, int node, char **path);

/* `def` is zeroed. */
void wadi_read_shape(WadiSceneReader *r, int node, WadiShapeDef *def);
void wadi_read_shapes(WadiSceneReader *r, int node, WadiShapeDef *parent, int least);

/* What takes several values to check, once an object was read. */
void wadi_finish_object(WadiSceneReader *r, int node, const WadiSceneObject *object, void *base,
                        const WadiSceneGiven *given, bool is_sound);
void wadi_finish_shape(WadiSceneReader *r, int node, const WadiSceneObject *parameters, WadiShapeDef *def,
                       const WadiSceneGiven *given, bool is_sound);

/* Apply the overrides to the tree. */
void wadi_scene_apply_sets(WadiSceneReader *r, const char *const *sets, int set_count);

/* A pattern has exactly one "%d", "%4d" or "%04d"; "%%" stands for a '%' in the folder's name, and there is no other. */
bool wadi_file_pattern_is_valid(const char *pattern);
void wadi_file_pattern_expand(const char *pattern, int number, WadiText *path);
/* Are all files of the sequence there? */
void wadi_check_sequence(WadiSceneReader *r, int node, const WadiShapeDef *def);

/* Hash of everything that changes the simulation, the content of its files included. */
WadiStatus wadi_scene_hash(const WadiScene *scene, uint64_t *hash, WadiError *error);

#endif
