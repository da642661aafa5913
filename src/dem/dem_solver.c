/* The dem solver's interface: creation, the largest step. The steps of the modes are in dem_step_full.c,
 * dem_step_surface.c and dem_field_step.c, checkpoints in dem_state.c. */
#include <math.h>

#include "core/alloc.h"
#include "dem/dem.h"
#include "math/cbrt.h"

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
    dem->diameter = wadi_dem_grain_size(context->world->scene) / wadi_cbrt(dem->spheres_each);
    dem->spacing = wadi_cbrt(context->world->particle_volume);
    dem->unit_time = wadi_scene_unit_time(context->world->scene, dem->diameter);
    dem->is_stale = true;
    dem->grain_column = -1;
    wadi_materials_init(&dem->materials, context->world->scene);
    wadi_dem_set_law(dem);
    WADI_TRY(wadi_particles_add_column(p, "radius", WADI_TYPE_F32, &dem->radius_column, error));
    wadi_particles_show_column(p, dem->radius_column);
    WADI_TRY(wadi_particles_add_column(p, "size_class", WADI_TYPE_U8, &dem->size_column, error));
    const WadiDemDef *def = wadi_dem_def(context->world->scene);
    if (def->mode == WADI_DEM_HEIGHT_FIELD) {
        return wadi_dem_field_create(&dem->field, &dem->context, dem->diameter, error);
    }
    if (context->loads != NULL) {
        context->loads->is_reported = true;
    }
    WADI_TRY(wadi_particles_add_vector(p, "angular_velocity", WADI_TYPE_F32, &dem->angular_velocity_column,
                                       error));
    WADI_TRY(wadi_particles_add_column(p, "list_number", WADI_TYPE_U32, &dem->list_index_column, error));
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
    wadi_dem_sleeping_free(&dem->sleeping);
    wadi_sleep_free(&dem->sleep);
    wadi_arena_free(&dem->asleep_memory);
    wadi_arena_free(&dem->plug.memory);
    WADI_DELETE(dem->grains.shift, dem->shift_capacity);
    WADI_DELETE(dem->grains.mark, dem->mark_capacity);
    WADI_DELETE(dem->grains.motion, dem->motion_capacity);
    WADI_DELETE(dem->grains.bridge, dem->bridge_capacity);
    WADI_DELETE(dem->grains.grip, dem->grip_capacity);
    WADI_DELETE(dem->grains.load, dem->load_capacity);
    WADI_DELETE(dem->base, dem->base_capacity);
    WADI_DELETE(dem->mass, dem->mass_capacity);
    WADI_DELETE(dem->sleeping_load, dem->sleeping_load_capacity);
    WADI_DELETE(dem->tile_load, dem->tile_load_capacity);
    WADI_DELETE(dem->grains.grown_radius, dem->grown_radius_capacity);
    WADI_DELETE(dem->grains.skin, dem->skin_capacity);
    WADI_DELETE(dem, 1);
}

/* A box around all grains. */
static WadiBox box_of_grains(const WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    WadiBox box = wadi_box_empty();
    for (int32_t i = 0; i < p->count; ++i) {
        box = wadi_box_add_point(box, (WadiVec3){ p->x[i], p->y[i], p->z[i] });
    }
    return wadi_box_grown(box, dem->diameter);
}

/* Whether all grains rest and nothing can wake or join them during [t0, t1]. Tiles of sleep are those of mode
 * `full`; in a surface flow the box of all grains stands for the columns. */
static bool is_undisturbed(const WadiDem *dem, double t0, double t1)
{
    const WadiWorld *world = dem->context.world;
    if (dem->surface == NULL) {
        return wadi_sleep_is_undisturbed(&dem->sleep, &dem->context, t0, t1);
    }
    if (!wadi_dem_surface_is_frozen(dem) || !wadi_world_is_steady(world, t0, t1) ||
        !wadi_world_is_closed(world, t0, t1)) {
        return false;
    }
    if (!wadi_solids_are_moving(&world->solids)) {
        return true;
    }
    const WadiBox box = box_of_grains(dem);
    return !wadi_world_disturbs(world, wadi_scale(wadi_add(box.min, box.max), 0.5),
                                0.5 * wadi_norm(wadi_box_size(box)), t0, t1);
}

static double largest_dt(const void *solver, double time, const char **limit)
{
    const WadiDem *dem = solver;
    const WadiWorld *world = dem->context.world;
    if (dem->field != NULL) {
        return wadi_dem_field_largest_dt(dem->field, time, limit);
    }
    if (is_undisturbed(dem, time, time + 1.0 / world->scene->fps)) {
        *limit = "asleep";
        return INFINITY;
    }
    const double rest = wadi_dem_contact_step(dem, 0.0);
    const double solids = dem->context.particles->count > 0 && wadi_solids_are_moving(&world->solids)
                              ? wadi_world_solid_speed(world, box_of_grains(dem), time, time + rest)
                              : 0.0;
    const double fastest = fmax(dem->fastest, solids), contact = wadi_dem_contact_step(dem, fastest);
    const double way = FARTHEST * dem->diameter / fmax(fastest, 1e-30);
    *limit = contact < way ? "contact" : solids > dem->fastest ? "moving collider" : "speed";
    /* With sleeping grains: after a removal their number is not known yet. */
    const WadiForceStep in = {
        .time = time, .dt = fmin(contact, way), .speed = dem->fastest, .distance = FARTHEST * dem->diameter
    };
    const double strong = wadi_world_force_step(world, dem->context.particles, &in);
    *limit = strong < in.dt ? "forces" : *limit;
    return strong;
}

static WadiStatus take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report, WadiError *error)
{
    WadiDem *dem = solver;
    if (wadi_dem_def(dem->context.world->scene)->published == WADI_DEM_ZY10) {
        return wadi_dem_step_zy10(dem, now, report, error);
    }
    switch ((WadiDemMode)wadi_dem_def(dem->context.world->scene)->mode) {
    case WADI_DEM_SURFACE_FLOW: return wadi_dem_step_surface(dem, now, report, error);
    case WADI_DEM_HEIGHT_FIELD: return wadi_dem_field_take_step(dem->field, now, report, error);
    case WADI_DEM_FULL: break;
    }
    return wadi_dem_step_full(dem, now, report, error);
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
    return wadi_dem_load(dem, state, error);
}

static void renew(void *solver)
{
    WadiDem *dem = solver;
    dem->is_world_new = true;
}

static void wake(void *solver)
{
    WadiDem *dem = solver;
    if (dem->surface != NULL) {
        wadi_dem_surface_wake(dem);
    } else {
        wadi_sleep_wake_all(&dem->sleep);
    }
    dem->is_stale = true; /* walls and bridges may be others */
}

const WadiSolverType wadi_dem_solver = {
    .settings = &wadi_dem_settings,
    .check = wadi_dem_check_settings,
    .warn = wadi_dem_warn,
    .has_grains = true,
    .has_pores = true, /* moist grains cohere; water does not flow */
    .wants_even_seeds = true,
    .seed_jitter = 0.5, /* more makes packing longer */
    .scratch_bytes_each = 500,
    .create = create,
    .destroy = destroy,
    .particles_each = wadi_dem_spheres_each,
    .born = wadi_dem_born,
    .pack = wadi_dem_pack_bodies,
    .emit = wadi_dem_emit,
    .largest_dt = largest_dt,
    .step = take_step,
    .save = save,
    .load = load,
    .renew = renew,
    .wake = wake,
};
