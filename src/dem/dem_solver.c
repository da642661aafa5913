/* The dem solver's interface: creation, the largest step. The step is in dem_step.c, checkpoints in
 * dem_state.c. */
#include <math.h>

#include "core/alloc.h"
#include "dem/dem.h"

enum { SLEEP_RADIUS = 3 };            /* cells of sleep within which moving grains wake others */
static const double SLEEP_CELL = 0.5; /* diameters: tiles of sleep are 4 wide */
static const double FARTHEST = 0.1;   /* diameters that a grain moves in a step at most */

static WadiStatus create(void **solver, const WadiSolverContext *context, WadiError *error)
{
    WadiDem *dem = NULL;
    WadiParticles *p = context->particles;
    WADI_TRY(WADI_NEW(&dem, 1, "dem solver", error));
    *solver = dem;
    dem->context = *context;
    dem->spheres_each = wadi_dem_spheres_each(context->world->scene);
    /* Spheres of a grain share its volume. */
    dem->diameter = wadi_dem_grain_size(context->world->scene) / cbrt(dem->spheres_each);
    dem->spacing = cbrt(context->world->particle_volume);
    dem->unit_time = wadi_scene_unit_time(context->world->scene, dem->diameter);
    dem->is_stale = true;
    dem->grain_column = -1;
    wadi_materials_init(&dem->materials, context->world->scene);
    wadi_dem_set_law(dem);
    WADI_TRY(wadi_particles_add_column(p, "radius", WADI_TYPE_F32, &dem->radius_column, error));
    wadi_particles_show_column(p, dem->radius_column);
    const WadiDemDef *def = wadi_dem_def(context->world->scene);
    if (def->mode == WADI_DEM_HEIGHT_FIELD) {
        return wadi_dem_field_create(&dem->field, &dem->context, dem->diameter, error);
    }
    WADI_TRY(wadi_particles_add_vector(p, "angular_velocity", WADI_TYPE_F32, &dem->turning_column, error));
    WADI_TRY(wadi_particles_add_column(p, "list_number", WADI_TYPE_U32, &dem->number_column, error));
    if (dem->rupture > 0.0) {
        int wetness;
        WADI_TRY(wadi_particles_add_column(p, "wetness", WADI_TYPE_F32, &wetness, error));
        wadi_particles_show_column(p, wetness);
    }
    if (dem->spheres_each > 1) {
        WADI_TRY(wadi_particles_add_column(p, "grain", WADI_TYPE_U32, &dem->grain_column, error));
        wadi_particles_show_column(p, dem->grain_column);
    }
    if (def->surfaces == WADI_DEM_COVERED) {
        WADI_TRY(wadi_dem_cover_create(&dem->cover, &context->world->solids, context->world->solids.domain,
                                       0.5 * dem->diameter, error));
    }
    dem->sleep.cell_size = SLEEP_CELL * dem->diameter;
    WADI_TRY(wadi_sleep_init(&dem->sleep, def->sleep && def->mode == WADI_DEM_FULL, SLEEP_RADIUS, p, error));
    return def->mode == WADI_DEM_SURFACE_FLOW ? wadi_dem_surface_create(dem, error) : WADI_OK;
}

static void destroy(void *solver)
{
    WadiDem *dem = solver;
    wadi_dem_field_destroy(dem->field);
    wadi_dem_surface_destroy(dem->surface);
    wadi_dem_list_free(&dem->list);
    wadi_dem_walls_free(&dem->walls);
    wadi_dem_cover_free(&dem->cover);
    wadi_dem_bodies_free(&dem->bodies);
    wadi_dem_cold_free(&dem->cold);
    wadi_sleep_free(&dem->sleep);
    wadi_arena_free(&dem->asleep_memory);
    WADI_DELETE(dem->grains.shift, dem->shift_capacity);
    WADI_DELETE(dem->grains.mark, dem->mark_capacity);
    WADI_DELETE(dem->grains.motion, dem->motion_capacity);
    WADI_DELETE(dem->grains.bridge, dem->bridge_capacity);
    WADI_DELETE(dem->grains.load, dem->load_capacity);
    WADI_DELETE(dem->base, dem->base_capacity);
    WADI_DELETE(dem->mass, dem->mass_capacity);
    WADI_DELETE(dem->grains.whole, dem->whole_capacity);
    WADI_DELETE(dem->grains.way, dem->way_capacity);
    WADI_DELETE(dem, 1);
}

static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiDem *dem = solver;
    const WadiScene *scene = dem->context.world->scene;
    if (dem->field != NULL) {
        return wadi_dem_field_largest_dt(dem->field, time, limit);
    }
    if (wadi_sleep_is_undisturbed(&dem->sleep, &dem->context, time, time + 1.0 / scene->fps)) {
        *limit = "asleep";
        return INFINITY;
    }
    const double contact = wadi_dem_contact_step(dem, dem->fastest);
    const double way = FARTHEST * dem->diameter / fmax(dem->fastest, 1e-30);
    *limit = contact < way ? "contact" : "speed";
    return fmin(contact, way);
}

static WadiStatus save(const void *solver, WadiState *state, WadiError *error)
{
    const WadiDem *dem = solver;
    if (dem->field != NULL) {
        return wadi_dem_field_save(dem->field, state, error);
    }
    WADI_TRY(wadi_dem_save(dem, state, error));
    return dem->surface != NULL ? wadi_dem_surface_save(dem, state, error) : WADI_OK;
}

static WadiStatus load(void *solver, const WadiState *state, WadiError *error)
{
    WadiDem *dem = solver;
    if (dem->field != NULL) {
        return wadi_dem_field_load(dem->field, state, error);
    }
    WADI_TRY(wadi_dem_load(dem, state, error));
    return dem->surface != NULL ? wadi_dem_surface_load(dem, state, error) : WADI_OK;
}

const WadiSolverType wadi_dem_solver = {
    .settings = &wadi_dem_settings,
    .check = wadi_dem_check_settings,
    .has_grains = true,
    .has_pores = true, /* moist grains cohere; water does not flow */
    .wants_even_seeds = true,
    .seed_jitter = 0.5, /* less would leave a lattice that stands */
    .scratch_bytes_each = 500,
    .create = create,
    .destroy = destroy,
    .particles_each = wadi_dem_spheres_each,
    .born = wadi_dem_born,
    .largest_dt = largest_dt,
    .step = wadi_dem_take_step,
    .save = save,
    .load = load,
};
