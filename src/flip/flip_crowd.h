/* Tiles that are overfull. */
#ifndef WADI_FLIP_CROWD_H
#define WADI_FLIP_CROWD_H

#include "flip/flip.h"
#include "particles/crowd.h"

/* Room for all that a step can find; before the labels are made. */
WadiStatus wadi_flip_crowds_begin(const WadiFlip *flip, const WadiFlipStep *step, WadiCrowds *crowds,
                                  WadiError *error);
/* Needs the fill and the labels. */
WadiStatus wadi_flip_find_crowds(const WadiFlip *flip, const WadiFlipStep *step, WadiCrowds *crowds,
                                 WadiError *error);

#endif
