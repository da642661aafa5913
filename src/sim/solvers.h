/* The solvers this build has. */
#ifndef WADI_SIM_SOLVERS_H
#define WADI_SIM_SOLVERS_H

#include "world/solver.h"

/* The solver a scene asks for. WADI_ERR_UNSUPPORTED says which ones there are. */
WadiStatus wadi_solver_find(const WadiScene *scene, const WadiSolverType **type, WadiError *error);

#endif
