/* A pressure solve as a step of sph has it: v*, the forces of the guess, the solve. */
#ifndef WADI_TESTS_SPH_SOLVE_H
#define WADI_TESTS_SPH_SOLVE_H

#include <string.h>

#include "expect.h"
#include "sph/pressure/sph_pressure.h"

/* `velocity`: v* on entry, v after; `pressure`: a guess on entry. */
static inline WadiSphPressureReport sph_solve_pressure(WadiF4 *velocity, float *pressure,
                                                       WadiSphPressureIn in, WadiArena *arena)
{
    WadiError error;
    WadiSphPressureReport report;
    WadiF4 *v_star = NULL;
    const size_t count = (size_t)in.pairs->count;
    CHECK_OK(WADI_ARENA_NEW(arena, &v_star, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(arena, &in.laplacian, count, "test", &error), error);
    memcpy(v_star, velocity, count * sizeof *v_star);
    in.v_star = v_star;
    wadi_sph_pressure_apply(velocity, pressure, &in);
    CHECK_OK(wadi_sph_pressure_solve(velocity, pressure, &in, &report, arena, &error), error);
    return report;
}

#endif
