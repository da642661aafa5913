/* wadi: sand and water simulation for computer animation. Include this. */
#ifndef WADI_WADI_H
#define WADI_WADI_H

#include "wadi/abi.h"
#include "wadi/base.h"
#include "wadi/change.h"
#include "wadi/export.h"
#include "wadi/farm.h"
#include "wadi/json.h"
#include "wadi/picture.h"
#include "wadi/progress.h"
#include "wadi/render.h"
#include "wadi/run.h"
#include "wadi/scene.h"
#include "wadi/secondary.h"
#include "wadi/show.h"
#include "wadi/sim.h"
#include "wadi/surface.h"

#endif
