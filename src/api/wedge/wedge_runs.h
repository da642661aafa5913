/* The runs of a wedge: their values, folders and states. */
#ifndef WADI_API_WEDGE_RUNS_H
#define WADI_API_WEDGE_RUNS_H

#include "core/array.h"
#include "core/text.h"
#include "io/files/files.h"
#include "wadi/farm.h"

enum { WADI_WEDGE_LABEL_SIZE = 160 };

typedef struct WadiWedgeKey {
    char *key;                 /* "materials.sand.friction_angle"; owned */
    const char *word;          /* its last part, or all of it where two keys end alike */
    WADI_ARRAY(char *) values; /* owned */
} WadiWedgeKey;

/* A zeroed one may be freed. */
typedef struct WadiWedge {
    const WadiWedgeDef *def;
    char folder[WADI_PATH_SIZE];
    int key_count, run_count;
    WadiWedgeKey keys[WADI_WEDGE_KEY_MAX];
} WadiWedge;

/* Reads the keys and their values; WADI_ERR_ARGUMENT says what is wrong with them. The folder is not set. */
WadiStatus wadi_wedge_read(WadiWedge *wedge, const WadiWedgeDef *def, WadiError *error);
void wadi_wedge_free(WadiWedge *wedge);

/* Of run i, from 0. */
const char *wadi_wedge_value(const WadiWedge *wedge, int i, int key);
void wadi_wedge_label(const WadiWedge *wedge, int i, char label[WADI_WEDGE_LABEL_SIZE]);
/* FOLDER/0001-friction_angle=20.run */
void wadi_wedge_run_path(const WadiWedge *wedge, int i, char path[WADI_PATH_SIZE]);
/* The file that has the error of a failed run. */
void wadi_wedge_error_path(const WadiWedge *wedge, int i, char path[WADI_PATH_SIZE]);

typedef enum WadiWedgeState {
    WADI_WEDGE_WAITING, /* not begun */
    WADI_WEDGE_RUNNING,
    WADI_WEDGE_STOPPED,
    WADI_WEDGE_DONE,
    WADI_WEDGE_FAILED,
} WadiWedgeState;

/* The state of a run, from its folder. */
WadiWedgeState wadi_wedge_state(const WadiWedge *wedge, int i);

/* Writes FOLDER/wedge.csv; counts the runs that are done and that failed. */
WadiStatus wadi_wedge_table(const WadiWedge *wedge, char path[4096], int *done, int *failed,
                            WadiError *error);
/* Draws FOLDER/mosaic.png of the runs that are done, of which there is one at least. */
WadiStatus wadi_wedge_mosaic(const WadiWedge *wedge, char path[4096], WadiError *error);

#endif
