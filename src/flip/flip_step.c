/* One step of the flip solver, stage by stage. [ZB05 sec. 4.2 for the order; sec. 3 for sand]
 * Differs: velocities belong to the middle of the step, and forces act from middle to middle (leapfrog
 * [theory 1.5]). */
#include "core/check.h"
#include "flip/flip.h"
#include "flip/flip_stage.h"
#include "flip/transfer/flip_transfer.h"

static void scope_open(const WadiFlip *flip, WadiFlipStep *step, WadiFlipScope scope)
{
    step->scope[scope] = wadi_arena_mark(flip->context.scratch);
}

/* The first two scopes release temporaries only: results that outlive them were allocated in between. */
static void scope_close(const WadiFlip *flip, WadiFlipStep *step, WadiFlipScope scope)
{
    WadiArena *arena = flip->context.scratch;
    switch (scope) {
    case WADI_FLIP_SCOPE_TRANSFER:
        wadi_arena_release_temporaries(arena, step->scope[scope]);
        step->grid.face_mass[0] = step->grid.face_mass[1] = step->grid.face_mass[2] = NULL;
        break;
    case WADI_FLIP_SCOPE_SURFACE:
        wadi_arena_release_temporaries(arena, step->scope[scope]);
        step->solid.fraction = NULL;
        step->solid.wall[0] = step->solid.wall[1] = step->solid.wall[2] = NULL;
        step->cells.fill = step->cells.is_fill_used_in_solve ? step->cells.fill : NULL;
        break;
    case WADI_FLIP_SCOPE_CELLS:
        wadi_arena_release(arena, step->scope[scope]);
        step->cells = (WadiFlipCells){ 0 };
        break;
    case WADI_FLIP_SCOPES: WADI_ASSERT(false);
    }
}

static WadiStatus step_begin(WadiFlip *flip, const WadiSolverStep *now, WadiFlipStep **step, WadiError *error)
{
    /* The papers add the forces of the whole step. */
    const bool is_printed = wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE;
    const double force_dt = is_printed ? now->dt : 0.5 * (flip->last_dt + now->dt);
    wadi_flip_materials_at(flip, now->time, now->dt, force_dt);
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, step, 1, "step", error));
    **step = (WadiFlipStep){ .time = now->time,
                             .dt = now->dt,
                             .ends_frame = now->ends_frame,
                             .force_dt = force_dt,
                             .first_new_id = flip->next_id };
    flip->next_id = flip->context.particles->next_id;
    return WADI_OK;
}

static WadiStatus build_grid(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    /* Velocities are sampled along the whole path of a step of up to five cells. */
    const bool is_far = wadi_flip_published(flip) == WADI_FLIP_PUBLISHED_ZB05;
    const int margin = is_far ? WADI_FLIP_MARGIN_MAX : WADI_FLIP_MARGIN;
    WADI_TRY(wadi_flip_grid_build(&step->grid, &step->sort, margin, flip->context.scratch, error));
    WADI_VALIDATE(wadi_tile_sort_validate(&step->sort, flip->context.particles) &&
                  wadi_flip_grid_validate(&step->grid, &step->sort));
    return WADI_OK;
}

static WadiStatus particles_to_grid(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiFlipToGridIn in = { .sort = &step->sort,
                                  .particles = flip->context.particles,
                                  .mass = flip->materials.mass,
                                  .material_count = flip->materials.count,
                                  .affine = flip->has_affine ? &flip->affine : NULL };
    WADI_TRY(wadi_flip_particles_to_grid(&step->grid, &in, flip->context.scratch, error));
    step->has_velocity = true;
    return WADI_OK;
}

/* Not with the published methods, and not where walls hold viscous liquids. */
static bool are_small_bodies_balanced(const WadiFlip *flip)
{
    return !wadi_flip_is_published(flip->context.world->scene) && !wadi_flip_is_viscous(flip);
}

/* Results per cell that outlive the cells, for the extension and the report. */
static WadiStatus make_results(const WadiFlip *flip, WadiFlipStep *step, WadiOverfullList *overfull,
                               WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const size_t rows = (size_t)step->grid.rows.count;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->known[a], rows, "known faces", error));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &step->occupied_air, rows, "occupied air", error));
    if (wadi_flip_path(flip->context.world->scene) == WADI_FLIP_PATH_CHORD) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->divergence, WADI_ROW_CELLS * (size_t)step->saved_rows,
                                "displacement", error));
    }
    if (are_small_bodies_balanced(flip)) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->filled, rows, "small bodies", error));
        if (flip->materials.has_sand) {
            WADI_TRY(WADI_ARENA_NEW(arena, &step->gripped, rows, "small bodies", error));
        }
    }
    if (flip->bonds_column >= 0) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->bonded, rows, "bonds", error));
    }
    return wadi_flip_overfull_begin(flip, step, overfull, error);
}

static void find_occupied_air(WadiFlipStep *step)
{
    for (int32_t r = 0; r < step->grid.rows.count; ++r) {
        step->occupied_air[r] = (uint8_t)(step->grid.occupied[r] & ~step->cells.pressure_cells[r]);
        if (step->filled != NULL) {
            step->filled[r] = (uint8_t)(step->grid.occupied[r] | step->cells.pressure_cells[r]);
        }
    }
}

static void fill_report(const WadiFlipStep *step, WadiStepReport *report)
{
    const WadiRows *rows = &step->grid.rows;
    report->max_divergence = step->max_divergence;
    report->pressure_solves = step->pressure_solves;
    report->pressure_iterations = step->pressure_iterations;
    report->friction_solves = step->friction_solves;
    report->friction_iterations = step->friction_iterations;
    report->grid_cells = WADI_ROW_CELLS * (int64_t)rows->count;
    for (int32_t r = 0; r < rows->count; ++r) {
        report->cells += __builtin_popcount(step->grid.occupied[r]);
    }
}

/* last_dt 0: all particles sleep, and the next step starts from rest. */
static WadiStatus step_end(WadiFlip *flip, double last_dt, WadiStepReport *report)
{
    flip->last_dt = last_dt;
    report->sleeping_particles = flip->sleep.count;
    return WADI_OK;
}

WadiStatus wadi_flip_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                               WadiError *error)
{
    WadiFlip *flip = solver;
    WadiFlipStep *step = NULL;
    WadiCollideReport moved;
    if (flip->context.particles->count == 0) {
        flip->next_id = flip->context.particles->next_id;
        return WADI_OK;
    }
    WADI_TRY(step_begin(flip, now, &step, error));
    WADI_TRY(wadi_flip_sort_awake(flip, step, error));
    if (flip->sleep.count == flip->context.particles->count) {
        wadi_solid_loads_repeat(flip->context.loads);
        return step_end(flip, 0.0, report);
    }
    scope_open(flip, step, WADI_FLIP_SCOPE_TRANSFER);
    RUN("grid", build_grid(flip, step, error));
    RUN("particles to grid", particles_to_grid(flip, step, error));
    RUN("save velocity", wadi_flip_save_velocity(flip, step, error));
    RUN("save velocity", wadi_flip_save_face_fraction(flip, step, error));
    DO("forces", wadi_flip_add_forces(flip, step));
    scope_close(flip, step, WADI_FLIP_SCOPE_TRANSFER);

    scope_open(flip, step, WADI_FLIP_SCOPE_SURFACE);
    RUN("solids", wadi_flip_find_solids(flip, step, error));
    WADI_TRY(make_results(flip, step, &report->overfull, error));
    scope_open(flip, step, WADI_FLIP_SCOPE_CELLS);
    RUN("label", wadi_flip_label(flip, step, error));
    RUN("label", wadi_flip_find_overfull(flip, step, &report->overfull, error));
    RUN("bonds", wadi_flip_find_bonds(flip, step, error));
    RUN("density correction", wadi_flip_correct_density(flip, step, error));
    if (step->divergence != NULL) {
        RUN("displacement", wadi_flip_displace(flip, step, error));
    }
    RUN("surface tension", wadi_flip_find_tension(flip, step, error));
    scope_close(flip, step, WADI_FLIP_SCOPE_SURFACE);
    WADI_TRY(wadi_flip_attributes_begin(flip, step, error));
    WADI_TRY(wadi_flip_solve(flip, step, error)); /* its own stages: pressure, friction, viscosity */
    DO("attributes", wadi_flip_write_attributes(flip, step));
    find_occupied_air(step);
    fill_report(step, report);
    scope_close(flip, step, WADI_FLIP_SCOPE_CELLS);

    RUN("extend", wadi_flip_extend_velocity(flip, step, error));
    RUN("extend", wadi_flip_balance_small_bodies(flip, step, error));
    WADI_TRY(wadi_flip_move_particles(flip, step, &moved, error)); /* grid to particles, move, sleep */
    report->stuck_particles = moved.stuck;
    return step_end(flip, now->dt, report);
}
