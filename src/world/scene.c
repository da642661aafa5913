#include "world/scene.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"

double wadi_scene_frame_time(const WadiScene *scene, int frame)
{
    return (double)(frame - 1) / scene->fps;
}

static void free_body(WadiBodyDef *body)
{
    wadi_string_free(body->material_name);
    wadi_shape_def_free(&body->shape);
}

static void free_collider(WadiColliderDef *collider)
{
    wadi_string_free(collider->name);
    wadi_shape_def_free(&collider->shape);
    wadi_curve_free(&collider->friction);
    wadi_curve_free(&collider->restitution);
}

static void free_emitter(WadiEmitterDef *emitter)
{
    wadi_string_free(emitter->material_name);
    wadi_shape_def_free(&emitter->shape);
    wadi_curve_free(&emitter->velocity);
    wadi_curve_free(&emitter->rate);
}

static void free_force(WadiForceDef *force)
{
    wadi_curve_free(&force->acceleration);
    wadi_curve_free(&force->velocity);
    wadi_curve_free(&force->rate);
    wadi_curve_free(&force->center);
    wadi_curve_free(&force->strength);
    if (force->region != NULL) {
        wadi_shape_def_free(force->region);
        WADI_DELETE(force->region, 1);
    }
}

void wadi_scene_free(WadiScene *scene)
{
    if (scene == NULL) {
        return;
    }
    for (int i = 0; i < scene->material_count; ++i) {
        wadi_string_free(scene->materials[i].name);
        wadi_curve_free(&scene->materials[i].friction_angle);
        wadi_curve_free(&scene->materials[i].cohesion);
        wadi_curve_free(&scene->materials[i].viscosity);
        wadi_curve_free(&scene->materials[i].surface_tension);
    }
    for (int i = 0; i < scene->body_count; ++i) {
        free_body(&scene->bodies[i]);
    }
    for (int i = 0; i < scene->collider_count; ++i) {
        free_collider(&scene->colliders[i]);
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        free_emitter(&scene->emitters[i]);
    }
    for (int i = 0; i < scene->drain_count; ++i) {
        wadi_shape_def_free(&scene->drains[i].shape);
    }
    for (int i = 0; i < scene->force_count; ++i) {
        free_force(&scene->forces[i]);
    }
    WADI_DELETE(scene->materials, (size_t)scene->material_count);
    WADI_DELETE(scene->bodies, (size_t)scene->body_count);
    WADI_DELETE(scene->colliders, (size_t)scene->collider_count);
    WADI_DELETE(scene->emitters, (size_t)scene->emitter_count);
    WADI_DELETE(scene->drains, (size_t)scene->drain_count);
    WADI_DELETE(scene->forces, (size_t)scene->force_count);
    wadi_curve_free(&scene->wall_friction);
    wadi_curve_free(&scene->wall_restitution);
    wadi_curve_free(&scene->gravity);
    wadi_curve_free(&scene->render.camera.from);
    wadi_curve_free(&scene->render.camera.to);
    wadi_curve_free(&scene->render.camera.up);
    wadi_curve_free(&scene->render.camera.angle);
    wadi_curve_free(&scene->render.camera.aperture);
    wadi_curve_free(&scene->render.camera.focus);
    wadi_string_free(scene->render.light.environment);
    wadi_string_free(scene->name);
    wadi_string_free(scene->solver);
    wadi_string_free(scene->path);
    wadi_string_free(scene->folder);
    wadi_string_free(scene->source);
    WADI_DELETE(scene, 1);
}

/* Behind a material's name come ".particles" in exports and ".s500" of half a frame in surfaces. */
static bool is_own_ending(const char *ending)
{
    return strcmp(ending, ".particles") == 0 ||
           (strncmp(ending, ".s", 2) == 0 && strlen(ending) == 5 && strspn(ending + 2, "0123456789") == 3);
}

/* Exports name the meshes of solids so, with a number behind. */
static bool is_solid_name(const char *name)
{
    static const char *const starts[] = { "collider.", "wall.", "solid." };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
        size_t length = strlen(starts[i]);
        if (strncmp(name, starts[i], length) == 0 && name[length] != '\0' &&
            name[length + strspn(name + length, "0123456789")] == '\0') {
            return true;
        }
    }
    return false;
}

int wadi_scene_name_clash(const WadiScene *scene, char *text, size_t size)
{
    for (int m = 0; m < scene->material_count; ++m) {
        const char *name = scene->materials[m].name;
        if (name != NULL && is_solid_name(name)) {
            snprintf(text, size, "the meshes of solids are called so in exports; choose another name");
            return m;
        }
        for (int other = 0; other < scene->material_count && name != NULL; ++other) {
            const char *first = scene->materials[other].name;
            size_t length = first != NULL ? strlen(first) : 0;
            if (other != m && length > 0 && strncmp(name, first, length) == 0 &&
                is_own_ending(name + length)) {
                snprintf(
                    text, size,
                    "files of this material and of '%.100s' would have the same names; choose another name",
                    first);
                return m;
            }
        }
    }
    return -1;
}
