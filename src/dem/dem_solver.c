/* The dem solver's interface: creation, the largest step, checkpoints. The step is in dem_step.c. */
#include "core/alloc.h"
#include "dem/dem.h"

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    WadiDem *dem = NULL;
    WADI_TRY(WADI_NEW(&dem, 1, "dem solver", error));
    *solver = dem;
    dem->context = *context;
    dem->diameter = wadi_dem_grain_size(context->world->scene);
    dem->unit_time = wadi_scene_unit_time(context->world->scene, dem->diameter);
    wadi_materials_init(&dem->materials, context->world->scene);
    WADI_TRY(
        wadi_particles_add_column(context->particles, "radius", WADI_TYPE_F32, &dem->radius_column, error));
    wadi_particles_show_column(context->particles, dem->radius_column);
    return wadi_particles_add_vector(context->particles, "angular_velocity", WADI_TYPE_F32,
                                     &dem->turning_column, error);
}

static void destroy(void *solver)
{
    WadiDem *dem = solver;
    WADI_DELETE(dem, 1);
}

static void born(void *solver, int32_t first)
{
    const WadiDem *dem = solver;
    const WadiParticles *p = dem->context.particles;
    float *radius = wadi_particles_column(p, dem->radius_column);
    for (int32_t i = first; i < p->count; ++i) {
        radius[i] = (float)(0.5 * dem->diameter);
    }
}

static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiDem *dem = solver;
    (void)time;
    *limit = "contact";
    return 0.01 * dem->unit_time;
}

const WadiSolverType wadi_dem_solver = {
    .settings = &wadi_dem_settings,
    .check = wadi_dem_check_settings,
    .wants_even_seeds = true,
    .scratch_bytes_each = 400,
    .create = create,
    .destroy = destroy,
    .born = born,
    .largest_dt = largest_dt,
    .step = wadi_dem_take_step,
};
