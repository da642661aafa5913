/* Pressure and viscosity of a viscous liquid together: the velocity that minimises kinetic energy and
 * dissipation without divergence, by conjugate gradients on the pressure.
 * Source: [CC88; theory 5.6]. */
#include <math.h>
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_stage.h"

/* The iteration ends when the projection after the viscosity changes the velocity by less than this part of
 * it, or of a step of free fall. Every pass leaves a velocity without divergence. */
static const double tolerance = 0.1, rest_tolerance = 1e-3;
enum { MAX_ITERATIONS = 20 };

typedef struct Stokes {
    const WadiFlip *flip;
    WadiFlipStep *step;
    WadiFlipProjectIn in, still; /* still: walls at rest and no expansion, for changes of velocity */
    WadiFlipProjector *projector;
    float *viscous[3];             /* u: velocity after viscosity, which may have divergence */
    float *impulse[3], *change[3]; /* of the pressure `direction` on the faces; w: change of u by it */
    float *residual, *image;       /* h (e - div u), and -h div w */
    double *z, *direction, *sum;
    size_t cells, faces;
} Stokes;

static WadiStatus alloc_vectors(Stokes *s, WadiError *error)
{
    WadiArena *arena = s->flip->context.scratch;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &s->viscous[a], s->faces, "viscosity", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &s->change[a], s->faces, "viscosity", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &s->impulse[a], s->faces, "viscosity", error));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &s->residual, s->cells, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->image, s->cells, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->z, s->cells, "viscosity", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->direction, s->cells, "viscosity", error));
    memset(s->z, 0, s->cells * sizeof *s->z);
    memset(s->direction, 0, s->cells * sizeof *s->direction);
    return WADI_OK;
}

/* The change of velocity by the last projection, as a root mean square: against the velocity after it, or
 * against that of free fall for a liquid at rest. */
static bool is_change_small(const Stokes *s)
{
    double change = 0.0, all = 0.0, faces = 0.0;
    for (int a = 0; a < 3; ++a) {
        const float *after = s->step->grid.velocity[a], *before = s->viscous[a];
        for (int32_t row = 1; row < s->step->grid.rows.count; ++row) {
            for (unsigned left = s->step->known[a][row]; left != 0; left &= left - 1) {
                const size_t at = WADI_ROW_CELLS * (size_t)row + (size_t)__builtin_ctz(left);
                const double difference = (double)after[at] - (double)before[at];
                change += difference * difference;
                all += (double)after[at] * (double)after[at];
                faces += 1.0;
            }
        }
    }
    const double fall = rest_tolerance * wadi_flip_gravity_step(s->flip, s->step);
    return change <= fmax(tolerance * tolerance * all, fall * fall * faces);
}

/* z = M r: the pressure that stops the divergence against inertia, from the last projection, and that
 * against viscosity: the stress 2 mu D of u = grad phi is 2 mu times the Laplacian of phi. */
static void precondition(const Stokes *s)
{
    const WadiFlipCells *cells = &s->step->cells;
    for (int32_t row = 1; row < s->step->grid.rows.count; ++row) {
        if (cells->pressure_row[row] == 0) {
            continue;
        }
        const size_t to = WADI_ROW_CELLS * (size_t)cells->pressure_row[row];
        const float *coefficient = cells->viscosity + WADI_ROW_CELLS * (size_t)row;
        for (size_t l = 0; l < WADI_ROW_CELLS; ++l) {
            s->z[to + l] =
                cells->pressure[to + l] + 2.0 * (double)coefficient[l] * (double)s->residual[to + l];
        }
    }
}

static double dot(const double *a, const float *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += a[i] * (double)b[i];
    }
    return sum;
}

/* Adds a multiple of the search direction to the pressure, and of its response to u. */
static WadiStatus iterate(Stokes *s, double *last, bool *has_moved, WadiError *error)
{
    WadiFlipStep *step = s->step;
    wadi_flip_projector_rhs(s->projector, &s->in, s->viscous, s->residual);
    precondition(s);
    const double rz = dot(s->z, s->residual, s->cells), beta = *last > 0.0 ? rz / *last : 0.0;
    for (size_t i = 0; i < s->cells; ++i) {
        s->direction[i] = s->z[i] + beta * s->direction[i];
    }
    wadi_flip_pressure_impulse(&s->in, s->direction, s->impulse);
    WADI_TRY(wadi_flip_smooth_change(s->flip, step, s->impulse, s->change, error));
    wadi_flip_projector_rhs(s->projector, &s->still, s->change, s->image);
    const double curvature = -dot(s->direction, s->image, s->cells);
    *has_moved = rz > 0.0 && curvature > 0.0;
    *last = rz;
    if (!*has_moved) {
        return WADI_OK;
    }
    const double alpha = rz / curvature;
    for (size_t i = 0; i < s->cells; ++i) {
        s->sum[i] += alpha * s->direction[i];
    }
    for (int a = 0; a < 3; ++a) {
        for (size_t i = 0; i < s->faces; ++i) {
            s->viscous[a][i] += (float)alpha * s->change[a][i];
        }
    }
    return WADI_OK;
}

/* The projection of u, into the velocity of the step. */
static WadiStatus project(Stokes *s, WadiError *error)
{
    WadiFlipStep *step = s->step;
    for (int a = 0; a < 3; ++a) {
        memcpy(step->grid.velocity[a], s->viscous[a], s->faces * sizeof(float));
    }
    memset(step->cells.pressure, 0, s->cells * sizeof *step->cells.pressure);
    return wadi_flip_project_step(s->flip, step, true, &s->projector, error);
}

/* The published methods and pressures without tension, whose projections are not linear, take one pass. */
static bool is_coupled(const WadiFlip *flip, const WadiFlipProjectIn *in)
{
    return !wadi_flip_is_published(flip->context.world->scene) && !in->is_unilateral;
}

static WadiStatus solve_together(Stokes *s, WadiError *error)
{
    const WadiFlip *flip = s->flip;
    WadiFlipStep *step = s->step;
    double last = 0.0;
    bool has_moved = true;
    for (int a = 0; a < 3; ++a) {
        memcpy(s->viscous[a], step->grid.velocity[a], s->faces * sizeof(float));
    }
    RUN("pressure", project(s, error));
    if (!is_coupled(flip, &s->in)) {
        return WADI_OK;
    }
    for (int n = 0; n < MAX_ITERATIONS && has_moved && !is_change_small(s); ++n) {
        RUN("viscosity", iterate(s, &last, &has_moved, error));
        RUN("pressure", project(s, error));
    }
    return WADI_OK;
}

/* A projection first: viscosity must not see the fall that the pressure stops, or walls would drag at water
 * at rest [theory 5.6]. The pressure of the step is the sum of all. */
WadiStatus wadi_flip_solve_viscous(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    Stokes s = { .flip = flip,
                 .step = step,
                 .in = wadi_flip_projection(flip, step),
                 .sum = step->cells.pressure,
                 .cells = WADI_ROW_CELLS * (size_t)step->cells.pressure_rows,
                 .faces = wadi_rows_floats(&step->grid.rows) };
    s.still = s.in;
    s.still.expansion = NULL;
    memset(s.still.solid_velocity, 0, sizeof s.still.solid_velocity);
    RUN("pressure", wadi_flip_project_step(flip, step, false, &s.projector, error));
    RUN("viscosity", wadi_flip_apply_viscosity(flip, step, error));
    WADI_TRY(alloc_vectors(&s, error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->cells.pressure, s.cells, "pressure", error));
    WADI_TRY(solve_together(&s, error));
    for (size_t i = 0; i < s.cells; ++i) {
        s.sum[i] += step->cells.pressure[i];
    }
    step->cells.pressure = s.sum;
    return WADI_OK;
}
