/* The table of solvers. A new solver is one line here and a folder src/NAME/ that defines the WadiSolverType
 * wadi_NAME_solver. */
#ifndef WADI_SIM_SOLVERS_H
#define WADI_SIM_SOLVERS_H

#include "world/schema.h"
#include "world/solver.h"

/* Name, as in `solver:`, and its text in the reference page. SETTINGS: the solver has settings under the key
 * NAME and defines their table wadi_NAME_settings; PLAIN: no settings; PLANNED: does not exist yet. */
#define WADI_SOLVERS(PLAIN, SETTINGS, PLANNED)                                                               \
    PLAIN(points, "particles that fall and bounce without acting on each other")                             \
    SETTINGS(flip, "particles and a staggered grid; water, and sand by frictional plasticity")               \
    SETTINGS(sph, "smoothed particles; sand and water coupled")                                              \
    SETTINGS(dem, "grains in contact; dry sand")

#define WADI_SOLVER_NUMBER(name, summary) WADI_SOLVER_##name,
enum { WADI_SOLVERS(WADI_SOLVER_NUMBER, WADI_SOLVER_NUMBER, WADI_SOLVER_NUMBER) WADI_SOLVER_COUNT };
_Static_assert((int)WADI_SOLVER_COUNT <= (int)WADI_SOLVER_MAX, "raise WADI_SOLVER_MAX");

#define WADI_SOLVER_NOTHING(name, summary)
#define WADI_SOLVER_SETTINGS(name, summary) extern const WadiSceneObject wadi_##name##_settings;
WADI_SOLVERS(WADI_SOLVER_NOTHING, WADI_SOLVER_SETTINGS, WADI_SOLVER_NOTHING)

/* The solver of that name; NULL when the table has none. */
const WadiSolverType *wadi_solver_find(const char *name);
/* WADI_ERR_UNSUPPORTED when the scene's solver is only planned. */
WadiStatus wadi_solver_check(const WadiScene *scene, WadiError *error);

#endif
