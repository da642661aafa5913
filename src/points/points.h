/* The points solver: particles fly freely and collide with solids, never with each other. The reference for the collision
 * tests, and exact in free fall. */
#ifndef WADI_POINTS_POINTS_H
#define WADI_POINTS_POINTS_H

#include "world/solver.h"

extern const WadiSolverType wadi_points_solver;

#endif
