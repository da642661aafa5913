/* The files that a scene names, and its text with other names in their place. */
#ifndef WADI_IO_SCENE_FILES_H
#define WADI_IO_SCENE_FILES_H

#include "io/scene/scene_yaml.h"
#include "world/scene.h"

typedef struct WadiSceneFile {
    int node;         /* its value in the tree */
    char *path;       /* as opened; of a sequence: the pattern; owned */
    bool is_sequence; /* with the numbers from first_number to last_number */
    int first_number, last_number;
    char *new_name; /* what wadi_scene_files_rewrite puts there; NULL: it stays; owned */
} WadiSceneFile;

typedef struct WadiSceneFiles {
    WadiYaml yaml; /* of the scene's source */
    WADI_ARRAY(WadiSceneFile) list;
} WadiSceneFiles;

/* All of them, in the order of the text; of a value that is used several times (an anchor), each use. */
WadiStatus wadi_scene_files_read(WadiSceneFiles *files, const WadiScene *scene, WadiError *error);
void wadi_scene_files_free(WadiSceneFiles *files);

/* The source of the scene with the new names, and with its `name`, which may come from the name of its file: so the text means the
 * same wherever it stands. New names are made of letters, digits and "._-/%" only. Comments and layout stay where the values
 * can be replaced in place, which is almost everywhere. */
WadiStatus wadi_scene_files_rewrite(WadiSceneFiles *files, const WadiScene *scene, WadiText *text,
                                    WadiError *error);

#endif
