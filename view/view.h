/* The live view: a simulation or a finished run, shown and played with on a page in a browser. */
#ifndef WADI_VIEW_H
#define WADI_VIEW_H

#include "wadi/wadi.h"

/* A scene that the page can choose. */
typedef struct WadiViewScene {
    const char *name, *summary;
    char *path;       /* of the scene file */
    const char *text; /* the scene itself, instead of a file; NULL: `path` */
    double coarsen;   /* factor on its cells, so that it runs live */
} WadiViewScene;

typedef struct WadiViewDef {
    const char *run;    /* a run folder to play; NULL: a scene is simulated */
    const char *beside; /* another one, to compare with; NULL: none */
    WadiSceneDef scene; /* without a run: the scene to start with */
    const char *solver; /* instead of the scene's; NULL: the scene's */
    const char *output; /* folder for recordings; NULL: NAME.play.run in the current one */
    const WadiViewScene *scenes;
    int scene_count;
    int threads;        /* 0: all cores */
    int pictures_ahead; /* sent beside the one that is being drawn: 0, or 1 where both take long */
    int port;           /* 0: 8585, or a free one when that is taken */
    const char *listen; /* address; NULL: 127.0.0.1 */
    bool is_json;       /* the address as a line of JSON */
    bool opens_browser; /* on a desktop */
    bool is_paused;     /* begins paused */
    bool has_surface;   /* begins with water as a surface */
    WadiStop stop;      /* ends it */
} WadiViewDef;

/* Serves until a stop is requested. WADI_ERR_UNSUPPORTED: built without what it needs; the text says how to
 * get it. */
WadiStatus wadi_view(const WadiViewDef *def, WadiError *error);

#endif
