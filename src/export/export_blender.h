/* A run for Blender: a script, its scene data as JSON, and PLY files. */
#ifndef WADI_EXPORT_BLENDER_H
#define WADI_EXPORT_BLENDER_H

#include "export/export_scene.h"

/* The script's text, share/blender/load.py. */
extern const char wadi_blender_script[];
extern const size_t wadi_blender_script_size;

/* scene.json, common to all frames: names, looks, sun, ground and the size of the picture. `last_frame` is
 * the run's. `sky` names the .hdr picture in the same folder. */
WadiStatus wadi_export_blender_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                      int last_frame, WadiError *error);

/* NAME.0001.json, written after the files it names: of materials MATERIAL.particles.0001.ply (those drawn as
 * grains or balls), MATERIAL.grains.0001.ply (single grains: those that fly, or all stones) and
 * MATERIAL.0001.ply (meshes); foam.grains.0001.ply; solid.INDEX.0001.ply. */
WadiStatus wadi_export_blender_frame(const WadiExportFrame *frame, const char *folder, const WadiState *state,
                                     const char *path, WadiArena *arena, WadiError *error);

#endif
