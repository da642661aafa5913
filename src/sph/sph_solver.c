/* The sph solver's interface: creation, the largest step, checkpoints. The step is in sph_step.c. */
#include <math.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "sph/sph.h"

enum { SPEED_BLOCK = 8192 };

/* Sand whose friction brings it to rest, and pools. */
static bool may_sleep(const WadiSph *sph)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    return def->sleep && def->pressure == WADI_SPH_PRESSURE_SOLVE;
}

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    WadiSph *sph = NULL;
    WADI_TRY(WADI_NEW(&sph, 1, "sph solver", error));
    *solver = sph;
    sph->context = *context;
    sph->spacing = context->world->spacing;
    sph->unit_time = wadi_scene_unit_time(context->world->scene, sph->spacing);
    wadi_materials_init(&sph->materials, context->world->scene);
    wadi_sph_kernel_init(&sph->kernel, sph->materials.has_sand);
    WADI_TRY(wadi_sph_adapt_create(sph, error));
    WADI_TRY(wadi_particles_add_column(context->particles, "pressure", WADI_TYPE_F32, &sph->pressure_column,
                                       error));
    wadi_particles_show_column(context->particles, sph->pressure_column);
    if (sph->materials.has_water) {
        WADI_TRY(
            wadi_particles_add_column(context->particles, "shift", WADI_TYPE_F32, &sph->shift_column, error));
    }
    WADI_TRY(wadi_sph_add_friction_columns(sph, error));
    WADI_TRY(wadi_sph_porous_create(sph, error));
    if (context->loads != NULL) { /* the papers' rules move rigid groups, walls or not */
        context->loads->is_reported = !wadi_sph_is_published(sph);
    }
    sph->sleep.cell_size = (double)sph->kernel.of[0].support * sph->spacing;
    const WadiSphDef *def = wadi_sph_def(context->world->scene);
    const int32_t reach = def->is_adaptive ? (int32_t)ceil(def->adapt.largest) : 1;
    return wadi_sleep_init(&sph->sleep, may_sleep(sph), reach, context->particles, error);
}

static void destroy(void *solver)
{
    WadiSph *sph = solver;
    wadi_sleep_free(&sph->sleep);
    wadi_sleep_loads_free(&sph->sleep_loads);
    WADI_DELETE(sph, 1);
}

typedef struct Speeds {
    const WadiParticles *particles;
    int32_t first; /* particles before it sleep */
} Speeds;

static double block_speed(void *context, int64_t first, int64_t end)
{
    const Speeds *speeds = context;
    const WadiParticles *p = speeds->particles;
    float square = 0.0f;
    for (int64_t i = first + speeds->first; i < end + speeds->first; ++i) {
        const float s = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
        square = s > square ? s : square;
    }
    return sqrt((double)square);
}

/* The largest speed of the awake particles, m/s. */
static double largest_speed(const WadiSph *sph)
{
    const WadiParticles *p = sph->context.particles;
    const Speeds speeds = { .particles = p, .first = wadi_sleep_first(&sph->sleep, p) };
    const int32_t awake = p->count - speeds.first;
    double *partials = NULL;
    if (WADI_ARENA_NEW(sph->context.scratch, &partials, (size_t)wadi_parallel_block_count(awake, SPEED_BLOCK),
                       "speeds", NULL) != WADI_OK) {
        return 0.0;
    }
    return fmax(0.0, wadi_parallel_max(awake, SPEED_BLOCK, block_speed, (void *)&speeds, partials));
}

double wadi_sph_longest_step(const WadiSph *sph)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    return def->step * sph->unit_time * sqrt(wadi_sph_smallest_size(sph));
}

double wadi_sph_tolerance(const WadiSph *sph)
{
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    return wadi_sph_def(sph->context.world->scene)->tolerance * wadi_sph_longest_step(sph) * g;
}

static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiSph *sph = solver;
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const WadiWorld *world = sph->context.world;
    if (wadi_sleep_is_undisturbed(&sph->sleep, &sph->context, time, time + 1.0 / world->scene->fps)) {
        *limit = "asleep";
        return INFINITY;
    }
    const double speed = largest_speed(sph);
    const double g = wadi_norm(wadi_curve_value3(&sph->context.world->scene->gravity, time));
    const double finest = wadi_sph_smallest_size(sph);
    const double longest = wadi_sph_longest_step(sph);
    const double fast = def->cfl * finest * sph->spacing / (speed + g * longest + 1e-30);
    const double pressure_dt = wadi_sph_pressure_limited_dt(sph, time);
    const double dt = fmin(fast, pressure_dt);
    *limit = dt >= longest ? "sph.step" : dt == fast ? "spacings a step" : "pressure";
    const double tension = wadi_sph_tension_largest_dt(sph, time);
    const double sound =
        def->pressure == WADI_SPH_PRESSURE_TAIT ? wadi_sph_sound_step(sph, time) : (double)INFINITY;
    if (fmin(tension, sound) < fmin(dt, longest)) {
        *limit = tension < sound ? "surface_tension" : "the speed of sound";
    }
    const double printed = def->published != WADI_SPH_PUBLISHED_NONE
                               ? wadi_sph_published_largest_dt(sph, time)
                               : (double)INFINITY;
    *limit = printed < fmin(fmin(dt, longest), fmin(tension, sound)) ? "the published step" : *limit;
    const double least = fmin(printed, fmin(fmin(dt, longest), fmin(tension, sound)));
    const WadiForceStep in = { .first = wadi_sleep_first(&sph->sleep, sph->context.particles),
                               .time = time,
                               .dt = least,
                               .speed = speed,
                               .distance = def->cfl * finest * sph->spacing };
    const double strong = wadi_world_force_step(world, sph->context.particles, &in);
    *limit = strong < least ? "forces" : *limit;
    return strong;
}

enum { NUMBERS = 5 }; /* of the solver in a checkpoint */

static WadiStatus save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiSph *sph = solver;
    const double numbers[NUMBERS] = { sph->largest, (double)sph->steps, sph->largest_friction,
                                      sph->sound_speed, sph->stiffness };
    WADI_TRY(wadi_state_put(state, "sph", WADI_TYPE_F64, NUMBERS, 1, numbers, error));
    WADI_TRY(wadi_sph_adapt_save(sph, state, error));
    WADI_TRY(wadi_sleep_loads_save(&sph->sleep_loads, state, error));
    return wadi_sleep_save(&sph->sleep, state, error);
}

static WadiStatus load(void *solver, const WadiState *state, WadiError *error)
{
    WadiSph *sph = solver;
    const WadiStateArray *array;
    WADI_TRY(wadi_state_expect_numbers(state, "sph", NUMBERS, &array, error));
    const double *numbers = array->data;
    if (!(numbers[0] >= 0.0 && numbers[0] <= 1e6 && numbers[1] >= 0.0 && numbers[1] <= 1e15 &&
          numbers[2] >= 0.0 && numbers[2] <= 1e6 && numbers[3] >= 0.0 && numbers[3] <= 1e9 &&
          numbers[4] >= 0.0 && numbers[4] <= 1e12)) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the numbers of the solver sph in the checkpoint are %g, %g, %g, %g and %g; resume "
                         "from another one",
                         numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }
    sph->largest = numbers[0];
    sph->steps = (int64_t)numbers[1];
    sph->largest_friction = numbers[2];
    sph->sound_speed = numbers[3];
    sph->stiffness = numbers[4];
    WADI_TRY(wadi_sph_adapt_load(sph, state, error));
    if (sph->context.loads != NULL) {
        WADI_TRY(wadi_sleep_loads_load(&sph->sleep_loads, sph->context.loads->count, state, error));
    }
    return sph->sleep.is_on
               ? wadi_sleep_load(&sph->sleep, sph->context.particles, sph->sleep.cell_size, state, error)
               : WADI_OK;
}

static void wake(void *solver)
{
    WadiSph *sph = solver;
    wadi_sleep_wake_all(&sph->sleep);
}

/* Poured sand stays loose, and water in motion has gaps. */
static double allowed_expansion(const WadiScene *scene)
{
    return wadi_scene_has_sand(scene) ? 0.2 : 0.1;
}

const WadiSolverType wadi_sph_solver = {
    .settings = &wadi_sph_settings,
    .check = wadi_sph_check_settings,
    .resolve = wadi_sph_resolve_settings,
    .wants_even_seeds = true,
    .has_pores = true,
    .allowed_expansion = allowed_expansion,
    /* Where particles are disordered, their number differs by up to 3 % from the density by the kernel. */
    .allowed_drift = 0.04,
    /* Measured: 370 to 450 for water and sand, dry or wet; a third of it lists of neighbours, which are
     * longer where particles are over-dense. */
    .scratch_bytes_each = 500,
    .create = create,
    .destroy = destroy,
    .born = wadi_sph_adapt_born,
    .largest_dt = largest_dt,
    .step = wadi_sph_take_step,
    .save = save,
    .load = load,
    .resampling = wadi_sph_report_resampling,
    .wake = wake,
};
