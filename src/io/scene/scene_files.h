/* The files that a scene names, and the scene's text with these names replaced. */
#ifndef WADI_IO_SCENE_FILES_H
#define WADI_IO_SCENE_FILES_H

#include "io/yaml/scene_yaml.h"
#include "world/scene.h"

typedef struct WadiSceneFile {
    int node;         /* index of its value in the tree */
    char *path;       /* as opened; of a sequence the pattern; owned */
    bool is_sequence; /* has the numbers first_number to last_number */
    int first_number, last_number;
    char *new_name; /* replacement for wadi_scene_files_rewrite; NULL: unchanged; owned */
} WadiSceneFile;

typedef struct WadiSceneFiles {
    WadiYaml yaml; /* of the scene's source */
    WADI_ARRAY(WadiSceneFile) list;
} WadiSceneFiles;

/* Lists all files in the order of the text; a value used several times (an anchor) is listed for each use. */
WadiStatus wadi_scene_files_read(WadiSceneFiles *files, const WadiScene *scene, WadiError *error);
void wadi_scene_files_free(WadiSceneFiles *files);

/* The scene's source with the new names and with its `name`, which may come from the file name: so the text
 * means the same in any folder. New names consist of letters, digits and "._-/%". Comments and layout remain,
 * except where a value cannot be replaced in place. */
WadiStatus wadi_scene_files_rewrite(WadiSceneFiles *files, const WadiScene *scene, WadiText *text,
                                    WadiError *error);

#endif
