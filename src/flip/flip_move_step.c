/* New velocities and positions of the particles; separation of particles. */
#include <math.h>

#include "core/check.h"
#include "flip/flip.h"
#include "flip/flip_stage.h"
#include "flip/move/flip_advance.h"
#include "flip/move/flip_separate.h"
#include "flip/move/flip_spread.h"

static WadiStatus separate(const WadiFlip *flip, const WadiFlipStep *step, WadiFlipPath *path,
                           WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    WadiFlipSeparateIn in = { .particles = flip->context.particles,
                              .diameter = wadi_flip_separate_diameter(step->grid.cell_size,
                                                                      scene->particles_per_axis),
                              .iterations = wadi_flip_def(scene)->pair_separation };
    WadiFlipSeparateReport report;
    return wadi_flip_separate(&in, path->x, path->y, path->z, flip->context.scratch, &report, error);
}

/* Reynolds number sqrt(g h) h rho / mu below which nothing mixes particles inside a cell. */
static const double REYNOLDS_MIXED = 50.0;
/* Fraction of the overlap removed in a time sqrt(dx / g) (10/s for cells of 5 mm), and at most in a step. */
static const double SPREAD_RATE = 0.23, SPREAD_LIMIT = 0.25;
/* Radius of a hole, in cells: by chance a ball of this size is empty at one position in 250. */
static const double HOLE_RADIUS = 0.55;

/* Materials below that Reynolds number; false: none. */
static bool find_unmixed(const WadiFlip *flip, double time, bool is_unmixed[WADI_MATERIALS_MAX])
{
    const WadiScene *scene = flip->context.world->scene;
    const double g = wadi_norm(wadi_curve_value3(&scene->gravity, time)), h = flip->context.world->cell_size;
    bool has_any = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double mu = wadi_curve_value(&material->viscosity, time);
        is_unmixed[m] =
            !material->is_unused && mu > 0.0 && sqrt(g * h) * h * material->density < REYNOLDS_MIXED * mu;
        has_any = has_any || is_unmixed[m];
    }
    return has_any;
}

static WadiStatus spread(const WadiFlip *flip, const WadiFlipStep *step,
                         const bool is_unmixed[WADI_MATERIALS_MAX], WadiFlipPath *path, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    WadiFlipSpreadIn in = { .sort = &step->sort,
                            .grid = &step->grid,
                            .particles = flip->context.particles,
                            .is_spread = is_unmixed,
                            .occupied_air = step->occupied_air,
                            .solid_row = step->solid.row,
                            .solid_distance = step->solid.distance,
                            .hole_radius = HOLE_RADIUS * step->grid.cell_size,
                            .diameter =
                                wadi_flip_separate_diameter(step->grid.cell_size, scene->particles_per_axis),
                            .push_fraction = fmin(SPREAD_RATE * step->dt / flip->unit_time, SPREAD_LIMIT) };
    return wadi_flip_spread(&in, path, flip->context.scratch, error);
}

static int path_order(const WadiScene *scene)
{
    switch (wadi_flip_path(scene)) {
    case WADI_FLIP_PATH_RK2: return 2;
    case WADI_FLIP_PATH_RK3: return 3;
    case WADI_FLIP_PATH_AUTO:
    case WADI_FLIP_PATH_CHORD: break;
    }
    return 1;
}

static WadiFlipToParticlesIn to_particles_in(const WadiFlip *flip, const WadiFlipStep *step)
{
    return (WadiFlipToParticlesIn){ .sort = &step->sort,
                                    .grid = &step->grid,
                                    .saved = (const float *const *)step->saved,
                                    .saved_row = step->saved_row,
                                    .flip_fraction = flip->flip_fraction,
                                    .material_count = flip->materials.count,
                                    .affine = flip->has_affine ? &flip->affine : NULL,
                                    .dt = step->dt,
                                    .order = path_order(flip->context.world->scene) };
}

static WadiFlipMoveIn move_in(const WadiFlip *flip, const WadiFlipStep *step)
{
    return (WadiFlipMoveIn){ .solids = &flip->context.world->solids,
                             .cell_size = step->grid.cell_size,
                             .time = step->time,
                             .dt = step->dt,
                             .sort = &step->sort,
                             .grid = &step->grid,
                             .solid = &step->solid,
                             .compressed = wadi_flip_compressed_marks(flip) };
}

/* In three passes, because all path ends must be known before any particle moves. Sleeping particles are
 * not in the sort and do not move. */
static WadiStatus move_apart(const WadiFlip *flip, const WadiFlipStep *step, const bool *is_unmixed,
                             const WadiFlipWatch *watch, WadiCollideReport *moved, WadiError *error)
{
    const WadiFlipToParticlesIn velocity = to_particles_in(flip, step);
    const WadiFlipMoveIn move = move_in(flip, step);
    WadiFlipPath path;
    RUN("grid to particles",
        wadi_flip_grid_to_particles(flip->context.particles, &path, &velocity, flip->context.scratch, error));
    if (wadi_flip_def(flip->context.world->scene)->pair_separation > 0) {
        WADI_ASSERT(!flip->sleep.is_on);
        RUN("separation", separate(flip, step, &path, error));
    } else {
        RUN("spread", spread(flip, step, is_unmixed, &path, error));
    }
    if (watch != NULL) {
        DO("sleep", wadi_flip_watch_paths(watch, &path));
    }
    DO("move", *moved = wadi_flip_move(flip->context.particles, &path, &move));
    return WADI_OK;
}

static WadiStatus move_at_once(const WadiFlip *flip, const WadiFlipStep *step, const WadiFlipWatch *watch,
                               WadiCollideReport *moved, WadiError *error)
{
    const WadiFlipToParticlesIn velocity = to_particles_in(flip, step);
    const WadiFlipMoveIn move = move_in(flip, step);
    DO("grid to particles", *moved = wadi_flip_advance(flip->context.particles, &velocity, watch, &move));
    return WADI_OK;
}

WadiStatus wadi_flip_move_particles(WadiFlip *flip, WadiFlipStep *step, WadiCollideReport *moved,
                                    WadiError *error)
{
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        return wadi_flip_move_published(flip, step, moved, error);
    }
    const WadiSleepStep sleep = wadi_flip_sleep_now(flip, step);
    WadiFlipWatch displacements, *watch = flip->sleep.is_on ? &displacements : NULL;
    if (watch != NULL) {
        WADI_TRY(wadi_flip_watch_begin(watch, &sleep, &step->sort, &flip->materials, error));
    }
    bool is_unmixed[WADI_MATERIALS_MAX];
    const bool is_spread = find_unmixed(flip, step->time, is_unmixed);
    if (is_spread || wadi_flip_def(flip->context.world->scene)->pair_separation > 0) {
        WADI_TRY(move_apart(flip, step, is_unmixed, watch, moved, error));
    } else {
        WADI_TRY(move_at_once(flip, step, watch, moved, error));
    }
    if (watch != NULL) {
        RUN("sleep", wadi_flip_pools_watch(watch, flip->context.scratch, error));
        RUN("sleep", wadi_sleep_watch(&flip->sleep, &sleep, &step->sort, watch->is_slow,
                                      watch->mean_displacement, error));
    }
    return WADI_OK;
}
