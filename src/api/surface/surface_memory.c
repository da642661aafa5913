/* Surfaces in memory: the particles of a simulation or of the caller as a mesh, without a run folder. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/os/os_memory.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "sim/sim.h"
#include "surface/surface_frame.h"

enum { MESH_DEF_COOKIE = 0x3e5b, PARTICLE_DATA_COOKIE = 0x9a27 };

/* m. The same limit as for frame files: squares of larger coordinates overflow single precision. */
static const double coordinate_max = 1e12;

/* Fraction of the computer's memory that building a surface may use. */
static const double memory_fraction = 0.8;

_Static_assert((int)WADI_MESH_ATTRIBUTE_MAX == (int)WADI_CLOUD_ATTRIBUTE_MAX,
               "attributes are copied one to one");
_Static_assert(sizeof(WadiVec3) == 3 * sizeof(double), "callers read vertices as three doubles each");

WadiMeshDef wadi_default_mesh_def(void)
{
    return (WadiMeshDef){ .cookie = MESH_DEF_COOKIE };
}

WadiParticleData wadi_default_particle_data(void)
{
    return (WadiParticleData){ .cookie = PARTICLE_DATA_COOKIE };
}

void wadi_mesh_release(WadiMeshData *mesh)
{
    if (mesh != NULL) {
        WadiSurfaceMesh *owned = mesh->memory;
        if (owned != NULL) {
            wadi_surface_mesh_free(owned);
            WADI_DELETE(owned, 1);
        }
        *mesh = (WadiMeshData){ 0 };
    }
}

static WadiStatus check_def(const WadiMeshDef *def, WadiError *error)
{
    if (def == NULL || def->cookie != MESH_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiMeshDef was not made by wadi_default_mesh_def");
    }
    if (def->threads < 0 || !isfinite(def->advance)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "threads must not be negative, and advance must be finite");
    }
    return WADI_OK;
}

/* Index of the material `name`; -1 if name is NULL: all materials. */
static WadiStatus find_material(const WadiScene *scene, const char *name, int *material, WadiError *error)
{
    *material = -1;
    for (int m = 0; name != NULL && m < scene->material_count; ++m) {
        if (strcmp(scene->materials[m].name, name) == 0) {
            *material = m;
        }
    }
    if (name != NULL && *material < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the scene has no material '%s'", name);
    }
    return WADI_OK;
}

/* Points the public struct to the arrays of `surface`, which it owns from now on. */
static void fill_mesh_data(WadiMeshData *mesh, WadiSurfaceMesh *surface)
{
    *mesh = (WadiMeshData){ .vertex_count = surface->mesh.vertex_count,
                            .triangle_count = surface->mesh.triangle_count,
                            .position = (const double *)surface->mesh.vertices,
                            .normal = (const float *)surface->normal,
                            .triangle = (const uint32_t *)surface->mesh.triangles,
                            .attribute_count = surface->attribute_count,
                            .memory = surface };
    for (int a = 0; a < surface->attribute_count; ++a) {
        const WadiCloudAttribute *from = &surface->attribute[a];
        mesh->attribute[a] = (WadiMeshAttribute){ from->name, from->components, from->values };
    }
}

static WadiStatus build(const WadiScene *scene, const WadiState *frame, const WadiMeshDef *def,
                        WadiSurfaceMesh *made, WadiError *error)
{
    int material;
    WADI_TRY(find_material(scene, def->material, &material, error));
    WadiCloud cloud;
    WADI_TRY(wadi_cloud_from_frame(&cloud, frame, material, def->advance, error));
    WadiSurfaceFrameDef settings = wadi_surface_frame_def(scene);
    settings.memory = memory_fraction * (double)wadi_memory_total();
    settings.field.stop = def->stop;
    WadiArena arena = { 0 };
    WadiStageTimes times = { 0 };
    WadiSurfaceFrame built = { 0 };
    WadiStatus status = wadi_surface_frame_build(&built, &cloud, &settings, &arena, &times, error);
    if (status == WADI_OK) {
        if (def->is_y_up) {
            wadi_surface_mesh_turn_up(&built.surface);
        }
        *made = built.surface;
    }
    wadi_arena_free(&arena);
    wadi_cloud_free(&cloud);
    return status;
}

/* Builds the mesh of a frame; the caller owns it. */
static WadiStatus make_mesh(const WadiScene *scene, const WadiState *frame, const WadiMeshDef *def,
                            WadiMeshData *mesh, WadiError *error)
{
    WadiSurfaceMesh *owned = NULL;
    WADI_TRY(WADI_NEW(&owned, 1, "mesh", error));
    WadiStatus status = build(scene, frame, def, owned, error);
    if (status != WADI_OK) {
        WADI_DELETE(owned, 1);
        return status;
    }
    fill_mesh_data(mesh, owned);
    return WADI_OK;
}

static WadiStatus finish(WadiStatus status, unsigned asserts, WadiMeshData *mesh, WadiError *error)
{
    status = wadi_assert_status(status, asserts, error);
    if (status != WADI_OK) {
        wadi_mesh_release(mesh);
    }
    return status;
}

WadiStatus wadi_sim_surface(const WadiSim *sim, const WadiMeshDef *def, WadiMeshData *mesh, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *mesh = (WadiMeshData){ 0 };
    WADI_TRY(check_def(def, error));
    WADI_TRY(wadi_sim_check_idle(sim, error));
    wadi_parallel_set_tasks(def->threads, def->tasks);
    WadiState state = { 0 }, frame;
    WadiStatus status = wadi_sim_snapshot(sim, &state, error);
    if (status == WADI_OK) {
        wadi_state_select(&state, WADI_USE_FRAME, &frame);
        status = make_mesh(sim->scene, &frame, def, mesh, error);
    }
    wadi_state_free(&state);
    return finish(status, asserts, mesh, error);
}

static WadiStatus check_particles(const WadiScene *scene, const WadiParticleData *p, WadiError *error)
{
    if (p == NULL || p->cookie != PARTICLE_DATA_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiParticleData was not made by wadi_default_particle_data");
    }
    if (p->count > 0 && p->position == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%zu particles without positions: the array is NULL",
                         p->count);
    }
    if (p->radius == NULL && !(p->spacing > 0.0 && isfinite((float)p->spacing))) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "without radii the spacing must be finite and above 0; it is %g m", p->spacing);
    }
    for (size_t i = 0; i < p->count; ++i) {
        const double *x = p->position + 3 * i;
        if (!(fabs(x[0]) <= coordinate_max && fabs(x[1]) <= coordinate_max && fabs(x[2]) <= coordinate_max)) {
            return wadi_fail(error, WADI_ERR_NUMERIC,
                             "particle %zu: its position (%g, %g, %g) is not finite or beyond 1e12 m", i,
                             x[0], x[1], x[2]);
        }
        if (p->material != NULL && p->material[i] >= scene->material_count) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "particle %zu: material %d; the scene has %d materials, numbered from 0", i,
                             p->material[i], scene->material_count);
        }
    }
    return WADI_OK;
}

static WadiStatus check_attributes(const WadiParticleData *p, const WadiState *frame, WadiError *error)
{
    if (p->attribute_count < 0 || p->attribute_count > WADI_MESH_ATTRIBUTE_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%d attributes; 0 to %d are allowed", p->attribute_count,
                         WADI_MESH_ATTRIBUTE_MAX);
    }
    for (int a = 0; a < p->attribute_count; ++a) {
        const WadiMeshAttribute *attribute = &p->attribute[a];
        const char *name = attribute->name;
        bool is_named = name != NULL && name[0] != '\0' && strlen(name) < WADI_STATE_NAME_SIZE;
        for (int b = 0; is_named && b < a; ++b) {
            is_named = strcmp(p->attribute[b].name, name) != 0;
        }
        if (!is_named || wadi_state_find(frame, name) != NULL) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "attribute %d: its name must have 1 to %d bytes and differ from all others", a,
                             WADI_STATE_NAME_SIZE - 1);
        }
        if ((attribute->components != 1 && attribute->components != 3) ||
            (attribute->values == NULL && p->count > 0)) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "attribute '%s' must have values with 1 or 3 components", name);
        }
    }
    return WADI_OK;
}

/* Adds an array to the frame: a copy of `values`, or `value` in every element if that is NULL. */
static WadiStatus put_floats(WadiState *frame, const char *name, int components, size_t count,
                             const float *values, float value, WadiError *error)
{
    if (values != NULL) {
        return wadi_state_put(frame, name, WADI_TYPE_F32, components, count, values, error);
    }
    float *filled = NULL;
    WADI_TRY(wadi_state_add(frame, name, WADI_TYPE_F32, components, count, (void **)&filled, error));
    for (size_t i = 0; i < count * (size_t)components; ++i) {
        filled[i] = value;
    }
    return WADI_OK;
}

/* Copies the caller's particles into the arrays of a frame. */
static WadiStatus fill_frame(WadiState *frame, const WadiParticleData *p, WadiError *error)
{
    uint8_t *material = NULL;
    WADI_TRY(wadi_state_put(frame, "position", WADI_TYPE_F64, 3, p->count, p->position, error));
    WADI_TRY(put_floats(frame, "velocity", 3, p->count, p->velocity, 0.0f, error));
    WADI_TRY(put_floats(frame, "radius", 1, p->count, p->radius, (float)(0.5 * p->spacing), error));
    WADI_TRY(wadi_state_add(frame, "material", WADI_TYPE_U8, 1, p->count, (void **)&material, error));
    for (size_t i = 0; i < p->count; ++i) {
        material[i] = p->material != NULL ? p->material[i] : 0;
    }
    WADI_TRY(check_attributes(p, frame, error));
    for (int a = 0; a < p->attribute_count; ++a) {
        WADI_TRY(wadi_state_put(frame, p->attribute[a].name, WADI_TYPE_F32, p->attribute[a].components,
                                p->count, p->attribute[a].values, error));
    }
    return WADI_OK;
}

WadiStatus wadi_particles_surface(const WadiScene *scene, const WadiParticleData *particles,
                                  const WadiMeshDef *def, WadiMeshData *mesh, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *mesh = (WadiMeshData){ 0 };
    WADI_TRY(check_def(def, error));
    WADI_TRY(check_particles(scene, particles, error));
    wadi_parallel_set_tasks(def->threads, def->tasks);
    WadiState frame = { 0 };
    WadiStatus status = fill_frame(&frame, particles, error);
    if (status == WADI_OK) {
        status = make_mesh(scene, &frame, def, mesh, error);
    }
    wadi_state_free(&frame);
    return finish(status, asserts, mesh, error);
}
