/* Incompressibility by relaxing the face velocities cell by cell (`pressure: gauss_seidel`), to reproduce
 * [A24] and as a plain reference; the default is flip_project.h. */
#ifndef WADI_FLIP_RELAX_H
#define WADI_FLIP_RELAX_H

#include "flip/pressure/flip_project.h"

/* As wadi_flip_project, by in->solver.max_iterations sweeps (fewer if `tolerance` or `absolute` is not 0
 * and is reached); 0 < over_relaxation < 2, 1: plain Gauss-Seidel. in->solve is not called. The pressure
 * starts from zero; with in->is_unilateral none becomes negative. report->solve.residual is that of the
 * last sweep, each cell before its own change. */
WadiStatus wadi_flip_relax(const WadiFlipProjectIn *in, double over_relaxation, WadiFlipProjectOut *out,
                           WadiArena *scratch, WadiFlipProjectReport *report, WadiError *error);

#endif
