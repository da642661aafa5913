/* A run for Blender: a script, what it needs to know of the scene as JSON, and PLY files. */
#ifndef WADI_EXPORT_BLENDER_H
#define WADI_EXPORT_BLENDER_H

#include "export/export_scene.h"

/* The script's text, share/blender/load.py. */
extern const char wadi_blender_script[];
extern const size_t wadi_blender_script_size;

/* scene.json: what all frames share, that is names, looks, sun, ground and the size of the picture. `last_frame` is the run's.
 * `sky` names the .hdr picture beside it. */
WadiStatus wadi_export_blender_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                      int last_frame, WadiError *error);

/* NAME.0001.json, written behind the files it names: MATERIAL.particles.0001.ply of the materials that are seen as grains or
 * balls, MATERIAL.0001.ply of those that have a mesh, collider.INDEX.0001.ply. */
WadiStatus wadi_export_blender_frame(const WadiExportFrame *frame, const char *folder, const WadiState *state,
                                     const char *path, WadiError *error);

#endif
