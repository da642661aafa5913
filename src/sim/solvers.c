#include "sim/solvers.h"

#include <stdio.h>
#include <string.h>

static const WadiSolverType planned = { 0 };

#define DECLARE(name, summary) extern const WadiSolverType wadi_##name##_solver;
#define ROW(name, summary) { #name, &wadi_##name##_solver },
#define PLANNED_ROW(name, summary) { #name, &planned },
WADI_SOLVERS(DECLARE, DECLARE, WADI_SOLVER_NOTHING)

static const struct {
    const char *name;
    const WadiSolverType *type;
} solvers[] = { WADI_SOLVERS(ROW, ROW, PLANNED_ROW) };

const WadiSolverType *wadi_solver_find(const char *name)
{
    for (int i = 0; i < WADI_SOLVER_COUNT; ++i) {
        if (strcmp(solvers[i].name, name) == 0) {
            return solvers[i].type;
        }
    }
    return NULL;
}

WadiStatus wadi_solver_check(const WadiScene *scene, WadiError *error)
{
    if (scene->solver_type != &planned) {
        return WADI_OK;
    }
    char known[256] = "";
    for (int i = 0; i < WADI_SOLVER_COUNT; ++i) {
        size_t used = strlen(known);
        if (solvers[i].type != &planned) {
            snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", solvers[i].name);
        }
    }
    return wadi_fail(
        error, WADI_ERR_UNSUPPORTED,
        "%s: solver: '%s' is not in this version of wadi; it has: %s (the scene's key `solver` chooses)",
        scene->where_solver.text, scene->solver, known);
}
