/* The scene language as a table, which the parser walks, and the documents made from it. */
#ifndef WADI_IO_SCENE_SCHEMA_H
#define WADI_IO_SCENE_SCHEMA_H

#include "core/text.h"
#include "world/schema.h"

enum { WADI_SCENE_LIST_MAX = 10000, WADI_SCENE_SHAPE_MAX = 100000, WADI_SCENE_VERSION = 1 };

extern const WadiSceneObject wadi_scene_object;
extern const WadiSceneObject wadi_scene_body_object;
extern const WadiSceneObject wadi_scene_emitter_object;
extern const WadiSceneObject wadi_scene_drain_object;
extern const WadiSceneObject wadi_scene_force_object;
extern const WadiSceneObject wadi_scene_material_object;
extern const WadiSceneObject wadi_scene_domain_object;
extern const WadiSceneObject wadi_scene_surface_object;
extern const WadiSceneObject wadi_scene_secondary_object;
extern const WadiSceneObject wadi_scene_render_object;
extern const WadiSceneObject wadi_scene_camera_object;
extern const WadiSceneObject wadi_scene_light_object;
extern const WadiSceneObject wadi_scene_solid_look_object;
extern const WadiSceneObject wadi_scene_look_object;
extern const WadiSceneObject wadi_scene_shape_object;
extern const WadiSceneObject wadi_scene_box_object;
extern const WadiSceneObject wadi_scene_curve_object;
extern const WadiSceneObject wadi_scene_key_object;

/* All objects in the order of the reference page, the scene first. */
const WadiSceneObject *const *wadi_scene_objects(int *count);
/* Default density of a material kind, kg/m^3. */
double wadi_scene_default_density(int material_kind);

/* The JSON Schema (draft 2020-12) of scene files, and the reference page. */
void wadi_scene_schema_json(WadiText *text);
void wadi_scene_reference_markdown(WadiText *text);
/* "> 0, at most 90 degrees" */
void wadi_scene_field_range(const WadiSceneField *field, WadiText *text);

#endif
