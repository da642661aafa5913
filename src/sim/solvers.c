#include "sim/solvers.h"

#include <stdio.h>
#include <string.h>

#include "flip/flip.h"
#include "points/points.h"

static const WadiSolverType *const solvers[] = { &wadi_points_solver, &wadi_flip_solver };
enum { SOLVER_COUNT = sizeof solvers / sizeof *solvers };

WadiStatus wadi_solver_find(const WadiScene *scene, const WadiSolverType **type, WadiError *error)
{
    char known[256] = "";
    for (int i = 0; i < SOLVER_COUNT; ++i) {
        if (strcmp(solvers[i]->name, scene->solver) == 0) {
            *type = solvers[i];
            return WADI_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", solvers[i]->name);
    }
    *type = NULL;
    return wadi_fail(error, WADI_ERR_UNSUPPORTED,
                     "%s: solver: '%s' is not in this version of wadi; it has: %s (choose with --solver)",
                     scene->where_solver.text, scene->solver, known);
}
