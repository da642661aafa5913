/* Changes of a running simulation, for what restores one. */
#ifndef WADI_API_CHANGE_H
#define WADI_API_CHANGE_H

#include "io/yaml/scene_yaml.h"
#include "sim/sim.h"
#include "wadi/change.h"

/* A change that is to be repeated. */
typedef struct WadiDueChange {
    int64_t step;
    char *text; /* "set: gravity=[0, 0, 0]"; owned */
} WadiDueChange;

typedef struct WadiChanges {
    WadiScene *scene; /* after the changes; owned; NULL: that of the simulation's creator */
    WADI_ARRAY(WadiDueChange) due;
    size_t next; /* of `due` */
} WadiChanges;

/* Before wadi_sim_restore: gives a simulation without particles the scene and the record of the checkpoint.
 * Does nothing for a checkpoint without changes. */
WadiStatus wadi_changes_restore(WadiSim *sim, const WadiState *state, WadiError *error);

/* run_changes.c: the changes that a run repeats, those of the caller or (NULL) of RUN/changes.yaml, which an
 * earlier session wrote. Writes that file, or removes it from a run without changes. */
WadiStatus wadi_run_start_changes(WadiSim *sim, const char *run, const char *changes, bool is_fresh,
                                  WadiError *error);

/* change_log.c: `changes` of the simulation, made when missing. */
WadiStatus wadi_changes_get(WadiSim *sim, WadiChanges **changes, WadiError *error);
/* Appends the value of a node as one line of flow YAML. */
void wadi_change_write(const WadiYaml *yaml, int node, WadiText *text);
/* Reads a text written by a program into a tree; `what` names it in messages. */
WadiStatus wadi_change_read(WadiYaml *yaml, const char *text, size_t size, const char *what,
                            WadiError *error);
/* Records the change "set: …" at the present step. */
WadiStatus wadi_change_record(WadiSim *sim, const char *change, WadiError *error);
/* change_scene.c: the scene `from` of the simulation with one key replaced; NULL: none. */
WadiStatus wadi_change_derive(const WadiSim *sim, const WadiScene *from, const char *assignment,
                              WadiScene **scene, WadiError *error);
/* change_scene.c: continues with `scene`, which it takes over or frees. */
WadiStatus wadi_change_take_scene(WadiSim *sim, WadiScene *scene, WadiError *error);
/* change_scene.c: the key that makes scene `b` unfit for the particles of `a`; NULL: none. */
const char *wadi_change_unfit_key(const WadiScene *a, const WadiScene *b);
/* change.c: continues with a scene in which the material is used, or, without particles of it, is not. */
WadiStatus wadi_change_use_material(WadiSim *sim, int material, bool is_used, WadiError *error);
/* change_points.c: adds the particles of a change "points: BASE64", which is WadiPoint after WadiPoint. */
WadiStatus wadi_change_add_points(WadiSim *sim, const char *base64, int64_t *added, WadiError *error);
/* change.c: records and applies "KIND: VALUE"; `value` is YAML, or quoted here. *count may be NULL. */
WadiStatus wadi_change_apply_kind(WadiSim *sim, const char *kind, const char *value, bool is_quoted,
                                  int64_t *count, WadiError *error);
/* change.c: applies the change "set: …" and records it. *count: particles added or removed. */
WadiStatus wadi_change_apply(WadiSim *sim, const char *change, int64_t *count, WadiError *error);

#endif
