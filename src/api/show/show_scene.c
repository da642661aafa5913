/* Facts of a scene as JSON, and the shapes of its colliders as meshes. */
#include <math.h>
#include <string.h>

#include "api/show/show.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/text.h"
#include "flip/flip_settings.h"
#include "sim/sim.h"
#include "surface/mesh/shape_surface.h"
#include "surface/mesh/surface_mesh.h"

static void add_number(WadiText *text, const char *key, double value)
{
    wadi_text_printf(text, ", \"%s\": ", key);
    wadi_text_append_number(text, value);
}

static void add_point(WadiText *text, const char *key, WadiVec3 x)
{
    wadi_text_printf(text, ", \"%s\": [", key);
    wadi_text_append_number(text, x.x);
    wadi_text_append(text, ", ");
    wadi_text_append_number(text, x.y);
    wadi_text_append(text, ", ");
    wadi_text_append_number(text, x.z);
    wadi_text_append(text, "]");
}

static void add_text(WadiText *text, const char *key, const char *value)
{
    wadi_text_printf(text, ", \"%s\": ", key);
    wadi_text_append_json(text, value != NULL ? value : "");
}

/* Of the first body or emitter of a material; 0: there is none. */
static double saturation_of(const WadiScene *scene, int material)
{
    for (int b = 0; b < scene->body_count; ++b) {
        if (scene->bodies[b].material == material) {
            return scene->bodies[b].saturation;
        }
    }
    for (int e = 0; e < scene->emitter_count; ++e) {
        if (scene->emitters[e].material == material) {
            return scene->emitters[e].saturation;
        }
    }
    return 0.0;
}

static void add_material(WadiText *text, const WadiScene *scene, int index, double time)
{
    const WadiMaterial *material = &scene->materials[index];
    wadi_text_append(text, "{\"name\": ");
    wadi_text_append_json(text, material->name);
    add_text(text, "kind", material->kind == WADI_MATERIAL_WATER ? "water" : "sand");
    add_number(text, "density", material->density);
    add_number(text, "friction_angle", wadi_curve_value(&material->friction_angle, time));
    add_number(text, "cohesion", wadi_curve_value(&material->cohesion, time));
    add_number(text, "viscosity", wadi_curve_value(&material->viscosity, time));
    add_number(text, "surface_tension", wadi_curve_value(&material->surface_tension, time));
    add_number(text, "flip_share", material->flip_fraction);
    add_number(text, "cohesion_wet", material->pores.cohesion_wet);
    add_number(text, "saturation", saturation_of(scene, index));
    wadi_text_append(text, "}");
}

static void add_lists(WadiText *text, const WadiScene *scene, double time)
{
    wadi_text_append(text, ", \"materials\": [");
    for (int m = 0; m < scene->material_count; ++m) {
        wadi_text_append(text, m > 0 ? ", " : "");
        add_material(text, scene, m, time);
    }
    wadi_text_append(text, "], \"colliders\": [");
    for (int i = 0; i < scene->collider_count; ++i) {
        wadi_text_append(text, i > 0 ? ", {\"name\": " : "{\"name\": ");
        wadi_text_append_json(text, scene->colliders[i].name != NULL ? scene->colliders[i].name : "");
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "]");
}

WadiStatus wadi_scene_facts(const WadiScene *scene, double time, char **json, WadiError *error)
{
    WadiText text = { 0 };
    *json = NULL;
    wadi_text_append(&text, "{\"name\": ");
    wadi_text_append_json(&text, scene->name);
    add_text(&text, "solver", scene->solver);
    add_number(&text, "fps", scene->fps);
    add_number(&text, "frames", scene->frames);
    add_number(&text, "cell_size", scene->cell_size);
    add_number(&text, "resolution", scene->resolution); /* 0: not given */
    add_number(&text, "spacing", scene->cell_size / scene->particles_per_axis);
    add_point(&text, "gravity", wadi_curve_value3(&scene->gravity, time));
    add_number(&text, "wall_friction", wadi_curve_value(&scene->wall_friction, time));
    if (scene->has_domain) {
        wadi_text_printf(&text, ", \"domain\": {\"closed\": %d", scene->closed_sides);
        add_point(&text, "min", scene->domain.min);
        add_point(&text, "max", scene->domain.max);
        wadi_text_append(&text, "}");
    }
    if (strcmp(scene->solver, "flip") == 0 && scene->settings != NULL) {
        const WadiFlipDef *flip = scene->settings;
        add_number(&text, "pair_separation", flip->pair_separation);
    }
    add_point(&text, "ground_colour", scene->render.ground_colour);
    add_lists(&text, scene, time);
    wadi_text_append(&text, "}");
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_string_copy(json, text.data, text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

const WadiScene *wadi_sim_scene(const WadiSim *sim)
{
    return sim->scene;
}

const char *wadi_sim_view_name(const WadiSim *sim, int n)
{
    static const char *const derived[] = { "radius", "density" };
    WadiParticleArray arrays[WADI_COLUMN_MAX];
    const int count = wadi_particles_arrays(&sim->particles, arrays);
    for (int i = 0; i < count && n >= 0; ++i) {
        if (arrays[i].is_in_frames && n-- == 0) {
            return arrays[i].name;
        }
    }
    return n >= 0 && n < 2 ? derived[n] : NULL;
}

/* A quarter larger than the domain or the particles. */
static WadiBox view_box(const WadiWorld *world, WadiBox particles)
{
    WadiBox box = world->scene->has_domain ? world->scene->domain : particles;
    const WadiVec3 size = wadi_sub(box.max, box.min);
    const double largest = fmax(size.x, fmax(size.y, size.z));
    return wadi_box_grown(box, isfinite(largest) && largest > 0.0 ? 0.25 * largest : 1.0);
}

static const double FINEST = 1.0 / 200; /* cell of a collider's mesh, of the view */
static const double RESTING_FINE =
    1.0 / 100; /* the same of a shape at rest, which is made once: of the shape */

static double longest(WadiVec3 size)
{
    return fmax(size.x, fmax(size.y, size.z));
}

/* Moving shapes are made for each picture. */
static double cell_of(const WadiWorld *world, const WadiShape *shape, double time, WadiBox view)
{
    const double cell = fmax(world->cell_size, FINEST * longest(wadi_box_size(view)));
    const WadiBox seen = wadi_box_intersection(wadi_shape_bounds(shape, time), view);
    return wadi_shape_is_moving(shape) || wadi_box_is_empty(seen)
               ? cell
               : fmin(cell, RESTING_FINE * longest(wadi_box_size(seen)));
}

WadiStatus wadi_show_collider(const WadiWorld *world, int n, double time, WadiBox particles,
                              WadiMeshData *mesh, WadiError *error)
{
    *mesh = (WadiMeshData){ 0 };
    if (n < 0 || n >= world->scene->collider_count) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "no collider %d; the scene has %d", n,
                         world->scene->collider_count);
    }
    WadiArena arena = { 0 };
    WadiSurfaceMesh *surface = NULL;
    const WadiBox box = view_box(world, particles);
    const double cell = cell_of(world, world->collider_shapes[n], time, box);
    WadiStatus status = WADI_NEW(&surface, 1, "mesh of a collider", error);
    if (status == WADI_OK) {
        status = wadi_shape_surface_thin(&surface->mesh, world->collider_shapes[n], time, box, cell, &arena,
                                         error);
    }
    wadi_arena_free(&arena);
    if (status != WADI_OK) {
        WADI_DELETE(surface, 1);
        return status;
    }
    *mesh = (WadiMeshData){ .vertex_count = surface->mesh.vertex_count,
                            .triangle_count = surface->mesh.triangle_count,
                            .position = (const double *)surface->mesh.vertices,
                            .triangle = (const uint32_t *)surface->mesh.triangles,
                            .memory = surface };
    return WADI_OK;
}

bool wadi_show_moves(const WadiWorld *world, int n, double time)
{
    const double instant = 1e-3 / world->scene->fps;
    return n >= 0 && n < world->scene->collider_count && wadi_shape_is_moving(world->collider_shapes[n]) &&
           wadi_shape_speed_bound(world->collider_shapes[n], (WadiVec3){ 0 }, 1e6, time, time + instant) >
               0.0;
}

static WadiBox particle_box(const WadiParticles *p)
{
    WadiBox box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int32_t i = 0; i < p->count; ++i) {
        box.min = (WadiVec3){ fmin(box.min.x, p->x[i]), fmin(box.min.y, p->y[i]), fmin(box.min.z, p->z[i]) };
        box.max = (WadiVec3){ fmax(box.max.x, p->x[i]), fmax(box.max.y, p->y[i]), fmax(box.max.z, p->z[i]) };
    }
    return p->count > 0 ? box : (WadiBox){ { -1, -1, -1 }, { 1, 1, 1 } };
}

WadiStatus wadi_sim_collider_mesh(const WadiSim *sim, int n, WadiMeshData *mesh, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *mesh = (WadiMeshData){ 0 };
    WADI_TRY(wadi_sim_check_idle(sim, error));
    if (sim->world == NULL) { /* a change could not be taken back */
        return wadi_sim_check_state(sim, error);
    }
    const WadiStatus status =
        wadi_show_collider(sim->world, n, sim->time, particle_box(&sim->particles), mesh, error);
    return wadi_assert_status(status, asserts, error);
}

bool wadi_sim_collider_moves(const WadiSim *sim, int n)
{
    return sim->world != NULL && wadi_show_moves(sim->world, n, sim->time);
}
