#include "world/world.h"

#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "world/rest_on.h"
#include "world/solver.h"
#include "world/water.h"
#include "world/world_warnings.h"

/* Builds `count` shapes; consecutive definitions are `stride` bytes apart. */
static WadiStatus build_shapes(WadiShape ***shapes, const WadiScene *scene, const WadiShapeDef *first,
                               size_t stride, int count, const WadiLog *log, WadiError *error)
{
    WADI_TRY(WADI_NEW(shapes, (size_t)count, "shapes", error));
    for (int i = 0; i < count; ++i) {
        const WadiShapeDef *def =
            (const WadiShapeDef *)(const void *)((const char *)first + (size_t)i * stride);
        WADI_TRY(wadi_rest_create_shape(&(*shapes)[i], scene, def, log, error));
    }
    return WADI_OK;
}

static void destroy_shapes(WadiShape **shapes, int count)
{
    for (int i = 0; shapes != NULL && i < count; ++i) {
        wadi_shape_destroy(shapes[i]);
    }
    WADI_DELETE(shapes, (size_t)count);
}

static WadiStatus gather_solids(WadiWorld *world, WadiError *error)
{
    const WadiScene *scene = world->scene;
    WadiSolids *solids = &world->solids;
    solids->domain = scene->has_domain
                         ? scene->domain
                         : (WadiBox){ { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    solids->closed_sides = scene->has_domain ? scene->closed_sides : 0;
    solids->wall_friction = &scene->wall_friction;
    solids->wall_restitution = &scene->wall_restitution;
    WADI_TRY(WADI_NEW(&solids->solids, (size_t)scene->collider_count, "colliders", error));
    solids->count = scene->collider_count;
    for (int i = 0; i < scene->collider_count; ++i) {
        solids->solids[i] = (WadiSolid){ .shape = world->collider_shapes[i],
                                         .friction = &scene->colliders[i].friction,
                                         .restitution = &scene->colliders[i].restitution };
    }
    return WADI_OK;
}

static WadiStatus prepare_emitters(WadiWorld *world, WadiError *error)
{
    const WadiScene *scene = world->scene;
    WADI_TRY(WADI_NEW(&world->emitters, (size_t)scene->emitter_count, "emitters", error));
    for (int i = 0; i < scene->emitter_count; ++i) {
        const WadiEmitterDef *def = &scene->emitters[i];
        world->emitters[i] = (WadiEmitIn){
            .shape = world->emitter_shapes[i],
            .solids = &world->solids,
            .velocity = &def->velocity,
            .gravity = &scene->gravity,
            .rate = &def->rate,
            .particle_volume = world->particle_volume * world->particles_each,
            .start = def->start,
            .end = def->end,
            .max_particles = def->max_particles < 9e18 ? (int64_t)def->max_particles : INT64_MAX,
            .seed = wadi_hash_combine((uint64_t)scene->seed, (uint64_t)i + 1),
            .material = (uint8_t)def->material,
            .spacing = world->spacing,
        };
    }
    WADI_TRY(WADI_NEW(&world->drains, (size_t)scene->drain_count, "drains", error));
    for (int i = 0; i < scene->drain_count; ++i) {
        world->drains[i] = (WadiDrainIn){ .shape = world->drain_shapes[i],
                                          .start = scene->drains[i].start,
                                          .end = scene->drains[i].end };
    }
    return WADI_OK;
}

static WadiStatus prepare_forces(WadiWorld *world, const WadiLog *log, WadiError *error)
{
    const WadiScene *scene = world->scene;
    WADI_TRY(WADI_NEW(&world->forces, (size_t)scene->force_count, "forces", error));
    for (int i = 0; i < scene->force_count; ++i) {
        world->forces[i].def = &scene->forces[i];
        if (scene->forces[i].region != NULL) {
            WADI_TRY(
                wadi_rest_create_shape(&world->forces[i].region, scene, scene->forces[i].region, log, error));
        }
    }
    return WADI_OK;
}

static WadiStatus build(WadiWorld *world, const WadiLog *log, WadiError *error)
{
    const WadiScene *scene = world->scene;
    world->cell_size = scene->cell_size;
    world->spacing = scene->cell_size / scene->particles_per_axis;
    const WadiSolverType *type = scene->solver_type;
    world->particles_each = type != NULL && type->particles_each != NULL ? type->particles_each(scene) : 1;
    world->particle_volume = world->spacing * world->spacing * world->spacing / world->particles_each;
    WADI_TRY(build_shapes(&world->collider_shapes, scene,
                          scene->collider_count ? &scene->colliders[0].shape : NULL, sizeof(WadiColliderDef),
                          scene->collider_count, log, error));
    WADI_TRY(build_shapes(&world->body_shapes, scene, scene->body_count ? &scene->bodies[0].shape : NULL,
                          sizeof(WadiBodyDef), scene->body_count, log, error));
    WADI_TRY(build_shapes(&world->emitter_shapes, scene,
                          scene->emitter_count ? &scene->emitters[0].shape : NULL, sizeof(WadiEmitterDef),
                          scene->emitter_count, log, error));
    WADI_TRY(build_shapes(&world->drain_shapes, scene, scene->drain_count ? &scene->drains[0].shape : NULL,
                          sizeof(WadiDrainDef), scene->drain_count, log, error));
    for (int i = 0; i < scene->collider_count; ++i) {
        WADI_TRY(wadi_shape_add_bands(world->collider_shapes[i], world->cell_size, error));
    }
    WADI_TRY(gather_solids(world, error));
    WADI_TRY(prepare_emitters(world, error));
    return prepare_forces(world, log, error);
}

void wadi_world_share_meshes(const WadiWorld *world, WadiScene *scene)
{
    const WadiScene *from = world != NULL ? world->scene : NULL;
    for (int i = 0; i < scene->collider_count; ++i) {
        const bool has = from != NULL && i < from->collider_count;
        wadi_shape_def_share(&scene->colliders[i].shape, has ? &from->colliders[i].shape : NULL,
                             has ? world->collider_shapes[i] : NULL);
    }
    for (int i = 0; i < scene->body_count; ++i) {
        const bool has = from != NULL && i < from->body_count;
        wadi_shape_def_share(&scene->bodies[i].shape, has ? &from->bodies[i].shape : NULL,
                             has ? world->body_shapes[i] : NULL);
    }
}

WadiStatus wadi_world_create(WadiWorld **world, const WadiScene *scene, const WadiLog *log, WadiError *error)
{
    WADI_TRY(WADI_NEW(world, 1, "world", error));
    (*world)->scene = scene;
    WadiStatus status = build(*world, log, error);
    if (status != WADI_OK) {
        wadi_world_destroy(*world);
        *world = NULL;
    }
    return status;
}

void wadi_world_destroy(WadiWorld *world)
{
    if (world == NULL) {
        return;
    }
    const WadiScene *scene = world->scene;
    destroy_shapes(world->body_shapes, scene->body_count);
    destroy_shapes(world->collider_shapes, scene->collider_count);
    destroy_shapes(world->emitter_shapes, scene->emitter_count);
    destroy_shapes(world->drain_shapes, scene->drain_count);
    for (int i = 0; world->forces != NULL && i < scene->force_count; ++i) {
        wadi_shape_destroy(world->forces[i].region);
    }
    WADI_DELETE(world->forces, (size_t)scene->force_count);
    WADI_DELETE(world->emitters, (size_t)scene->emitter_count);
    WADI_DELETE(world->drains, (size_t)scene->drain_count);
    WADI_DELETE(world->solids.solids, (size_t)scene->collider_count);
    WADI_DELETE(world, 1);
}

static const double EVEN_JITTER = 0.1; /* see WadiSolverType.wants_even_seeds */

WadiSeedIn wadi_world_seed_in(const WadiWorld *world, const WadiBodyDef *body, const WadiShape *shape)
{
    const WadiSolverType *type = world->scene->solver_type;
    const bool is_even = type != NULL && type->wants_even_seeds;
    const double even = is_even && type->seed_jitter > 0.0 ? type->seed_jitter : EVEN_JITTER;
    return (WadiSeedIn){ .shape = shape,
                         .solids = &world->solids,
                         .cell_size = world->cell_size,
                         .per_axis = world->scene->particles_per_axis,
                         .jitter = is_even ? even * body->jitter : body->jitter,
                         .snap = is_even && body->snap == WADI_SNAP_ZB05 ? WADI_SNAP_NONE : body->snap,
                         .seed = (uint64_t)world->scene->seed,
                         .time = 0.0,
                         .material = (uint8_t)body->material,
                         .velocity = body->velocity,
                         .angular_velocity = body->angular_velocity };
}

static WadiSeedIn seed_of_body(const WadiWorld *world, int i)
{
    WadiSeedIn in = wadi_world_seed_in(world, &world->scene->bodies[i], world->body_shapes[i]);
    in.earlier = (const WadiShape *const *)world->body_shapes;
    in.earlier_count = i;
    return in;
}

void wadi_world_set_water(const WadiWorld *world, WadiParticles *particles, int32_t first, double saturation)
{
    double *water = wadi_water_column(particles);
    float *wetness = wadi_wetness_column(particles);
    for (int32_t i = first; water != NULL && i < particles->count; ++i) {
        water[i] = wadi_water_at_birth(world->scene, particles->material[i], saturation);
    }
    for (int32_t i = first; wetness != NULL && i < particles->count; ++i) {
        wetness[i] = (float)saturation;
    }
}

/* The velocity gradient of a rotation, for solvers whose particles carry one. */
static void set_rotation(WadiParticles *particles, int32_t first, WadiVec3 spin)
{
    static const char *const names[6] = { "c01", "c02", "c10", "c12", "c20", "c21" };
    const double slope[6] = { -spin.z, spin.y, spin.z, -spin.x, -spin.y, spin.x };
    for (int e = 0; e < 6; ++e) {
        const int index = wadi_particles_find_column(particles, names[e]);
        float *column = index >= 0 ? wadi_particles_column(particles, index) : NULL;
        for (int32_t i = first; column != NULL && i < particles->count; ++i) {
            column[i] = (float)slope[e];
        }
    }
}

WadiStatus wadi_world_seed(const WadiWorld *world, WadiParticles *particles, const WadiLog *log,
                           WadiError *error)
{
    for (int i = 0; i < world->scene->body_count; ++i) {
        WadiSeedIn in = seed_of_body(world, i);
        int64_t count = 0;
        const int32_t first = particles->count;
        WADI_TRY(wadi_seed_fill(&in, particles, &count, error));
        wadi_world_set_water(world, particles, first, world->scene->bodies[i].saturation);
        set_rotation(particles, first, world->scene->bodies[i].angular_velocity);
        wadi_warn_count(world, i, count, log);
    }
    return WADI_OK;
}

WadiStatus wadi_world_expect(const WadiWorld *world, double *least, double *likely, WadiError *error)
{
    *least = *likely = 0.0;
    for (int i = 0; i < world->scene->body_count; ++i) {
        WadiSeedIn in = seed_of_body(world, i);
        double body_least, body_likely;
        WADI_TRY(wadi_seed_expect(&in, &body_least, &body_likely, error));
        *least += body_least * world->particles_each;
        *likely += body_likely * world->particles_each;
    }
    return WADI_OK;
}

double wadi_world_emitted(const WadiWorld *world, int emitter, double duration)
{
    return wadi_emit_expected(&world->emitters[emitter], duration) * world->particles_each;
}

WadiStatus wadi_world_count(const WadiWorld *world, double duration, int64_t *seeded, int64_t *emitted,
                            const WadiLog *log, WadiError *error)
{
    *seeded = 0;
    *emitted = 0;
    for (int i = 0; i < world->scene->body_count; ++i) {
        WadiSeedIn in = seed_of_body(world, i);
        int64_t count = 0;
        WADI_TRY(wadi_seed_count(&in, &count, error));
        *seeded += count * world->particles_each;
        wadi_warn_count(world, i, count, log);
    }
    double expected = 0.0;
    for (int i = 0; i < world->scene->emitter_count; ++i) {
        expected += wadi_world_emitted(world, i, duration);
    }
    *emitted = (int64_t)fmin(expected, 9e18);
    return WADI_OK;
}
