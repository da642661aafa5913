/* What was most likely meant by a key that an object does not have. */
#ifndef WADI_IO_SCENE_HINTS_H
#define WADI_IO_SCENE_HINTS_H

#include "io/scene/scene_schema.h"

/* Appends "; a cube is a box: …" for a word that needs a sentence. False: there is none. */
bool wadi_scene_advice(const WadiSceneObject *object, const char *word, WadiText *text);
/* Appends "; did you mean look: {colour: …}?" for a word that is another usual name of a key of this object,
 * or of an object below it. False: there is none. */
bool wadi_scene_hint_below(const WadiSceneObject *object, const char *word, WadiText *text);
/* The same for keys elsewhere in the scene: "'saturation' is a key of bodies". */
bool wadi_scene_hint_elsewhere(const WadiSceneObject *object, const char *word, WadiText *text);

#endif
