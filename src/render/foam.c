#include "render/foam.h"

#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "secondary/secondary.h"

enum { BLOCK = 1024, DROPS_MAX = 12 };

/* How a particle that is not at the surface is drawn: as some drops, bubbles or grains around it. Sizes are
 * over its radius. */
typedef struct Scatter {
    int count;
    double size;   /* mean radius of one */
    double spread; /* distance from the particle */
} Scatter;

static const Scatter SCATTER[] = {
    [WADI_SECONDARY_SPRAY] = { 6, 0.3, 3.0 },
    [WADI_SECONDARY_FOAM] = { 6, 0.3, 2.0 },
    [WADI_SECONDARY_BUBBLE] = { 3, 0.4, 2.5 },
    [WADI_SECONDARY_DUST] = { 12, 0.12, 5.0 },
};
/* Radius of a patch of foam, over that of its particle: of a new one, and of one whose life ends. */
static const double PATCH = 2.4, PATCH_LAST = 1.2;
/* s: foam with less life left shrinks. */
static const float FADING = 0.7f;
/* Foam farther from the water than this many cells of its mesh is drawn as drops; and spray and bubbles that
 * are nearer than the second number are foam: on a thin sheet or a small lump it is in the air by its
 * surroundings. */
static const double NEAR = 3.0, TOUCHING = 1.5;

/* Arrays of wadi_secondary_save. */
typedef struct Particles {
    WadiCloud cloud;
    const uint8_t *material, *kind;
    const float *life;
} Particles;

static WadiStatus find_arrays(Particles *p, const WadiState *state, WadiError *error)
{
    const WadiStateArray *material, *kind, *life;
    const size_t count = (size_t)p->cloud.count;
    WADI_TRY(wadi_state_expect(state, "material", WADI_TYPE_U8, 1, count, &material, error));
    WADI_TRY(wadi_state_expect(state, "kind", WADI_TYPE_U8, 1, count, &kind, error));
    WADI_TRY(wadi_state_expect(state, "life", WADI_TYPE_F32, 1, count, &life, error));
    p->material = material->data;
    p->kind = kind->data;
    p->life = life->data;
    for (size_t i = 0; i < count; ++i) {
        if (p->kind[i] > WADI_SECONDARY_DUST) {
            return wadi_fail(error, WADI_ERR_FORMAT, "foam: particle %u is of kind %d", p->cloud.id[i],
                             p->kind[i]);
        }
    }
    return WADI_OK;
}

/* The nearest vertex of the water's meshes for each particle that is foam there. */
typedef struct Projection {
    const Particles *particles;
    const WadiBins *bins;
    const WadiSurfaceMesh *mesh;
    WadiVec3 origin;
    WadiVec3f *projected; /* relative to the origin; x is NAN where there is no water near */
    float *distance;      /* m, to the vertex; INFINITY: none yet */
} Projection;

static void project_block(void *context, int64_t first, int64_t end)
{
    const Projection *p = context;
    for (int64_t i = first; i < end; ++i) {
        const WadiVec3 x = p->particles->cloud.position[i];
        const uint8_t kind = p->particles->kind[i];
        const float part = kind == WADI_SECONDARY_FOAM ? 1.0f : (float)(TOUCHING / NEAR);
        int32_t nearest = -1;
        float best = p->distance[i];
        WadiBinWalk walk = wadi_bins_walk(p->bins, (WadiBox){ x, x });
        for (WadiBinSpan span; kind != WADI_SECONDARY_DUST && wadi_bins_next(&walk, &span);) {
            const WadiVec3 at = wadi_sub(x, span.corner);
            for (int32_t n = span.first; n < span.end; ++n) {
                const float *v = p->bins->point[n];
                const float dx = v[0] - (float)at.x, dy = v[1] - (float)at.y, dz = v[2] - (float)at.z;
                const float distance = sqrtf(dx * dx + dy * dy + dz * dz);
                if (distance < best && distance < part * v[3]) {
                    best = distance;
                    nearest = p->bins->order[n];
                }
            }
        }
        if (nearest < 0) {
            continue;
        }
        const float *n = p->mesh->normal[nearest];
        const WadiVec3 normal =
            wadi_normalized_or(wadi_vec3((double)n[0], (double)n[1], (double)n[2]), wadi_vec3(0, 0, 1));
        const WadiVec3 away = wadi_sub(x, p->mesh->mesh.vertices[nearest]);
        const WadiVec3 on = wadi_add_scaled(x, normal, -wadi_dot(away, normal));
        p->distance[i] = best;
        p->projected[i] = wadi_to_vec3f(wadi_sub(on, p->origin));
    }
}

/* Moves foam onto the meshes of the water. */
static WadiStatus project(const WadiFrameScene *frame_scene, Projection *p, WadiArena *arena,
                          WadiError *error)
{
    const size_t count = (size_t)p->particles->cloud.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &p->projected, count, "foam", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &p->distance, count, "foam", error));
    for (size_t i = 0; i < count; ++i) {
        p->distance[i] = INFINITY;
    }
    for (int m = 0; m < frame_scene->part_count; ++m) {
        const WadiFrameScenePart *part = &frame_scene->parts[m];
        const WadiSurfaceMesh *mesh = &part->mesh;
        if (frame_scene->looks[part->mesh_look].kind != WADI_LOOK_WATER || mesh->mesh.vertex_count == 0 ||
            mesh->mesh.vertex_count > INT32_MAX) {
            continue;
        }
        WadiCloud vertices;
        WADI_TRY(wadi_cloud_from_points(&vertices, mesh->mesh.vertices, (int32_t)mesh->mesh.vertex_count,
                                        mesh->cell, error));
        WadiBins bins;
        WadiStatus status = wadi_bins_build(&bins, &vertices, NEAR, arena, error);
        if (status == WADI_OK) {
            p->bins = &bins;
            p->mesh = mesh;
            wadi_parallel_for((int64_t)count, BLOCK, project_block, p);
        }
        wadi_cloud_free(&vertices);
        WADI_TRY(status);
    }
    return WADI_OK;
}

static WadiStatus add_patches(WadiFrameScene *frame_scene, const Projection *p, WadiError *error)
{
    const Particles *particles = p->particles;
    const size_t count = (size_t)particles->cloud.count;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &frame_scene->foam_patches, count, "foam", error));
    for (size_t i = 0; i < count; ++i) {
        if (!(p->distance[i] < INFINITY)) {
            continue;
        }
        const double left = fmin(fmax((double)(particles->life[i] / FADING), 0.0), 1.0);
        frame_scene->foam_patches[frame_scene->patch_count++] =
            (WadiFoamPatch){ .position = p->projected[i],
                             .radius = (float)((PATCH_LAST + (PATCH - PATCH_LAST) * left) * 0.5) *
                                       particles->cloud.spacing[i],
                             .hash = particles->cloud.id[i] };
    }
    return WADI_OK;
}

/* White, and dust as the sand that it came from. */
static WadiTraceColour colour_of(const Particles *p, size_t i, int number, const WadiScene *scene)
{
    const uint8_t of = p->material[i];
    if (of < scene->material_count && scene->materials[of].kind == WADI_MATERIAL_SAND) {
        const WadiGrainDef grains = wadi_frame_scene_grains(&scene->materials[of].look);
        return wadi_grain_colour(&grains.palette, p->cloud.id[i], number, 0.0f);
    }
    return (WadiTraceColour){ 245, 247, 248, 0 };
}

/* The number of drops of a particle: fewer where they would be smaller than half a pixel. */
static int drop_count(const Particles *p, size_t i, double pixel)
{
    const double size = SCATTER[p->kind[i]].size * (double)p->cloud.spacing[i];
    const double part = pixel > 0.0 ? fmin(4.0 * size * size / (pixel * pixel), 1.0) : 1.0;
    return (int)fmax(rint(SCATTER[p->kind[i]].count * part), 1.0);
}

static void place_drop(float sphere[4], const Particles *p, size_t i, int number, int count, WadiVec3 origin)
{
    const Scatter *scatter = &SCATTER[p->kind[i]];
    const double radius = 0.5 * (double)p->cloud.spacing[i];
    double u[3], v[3];
    wadi_random_unit3((uint64_t)number + 7000, p->cloud.id[i], WADI_RANDOM_GRAIN, u);
    wadi_random_unit3((uint64_t)number + 8000, p->cloud.id[i], WADI_RANDOM_GRAIN, v);
    const double z = 2.0 * u[0] - 1.0, across = sqrt(1.0 - z * z), angle = 2.0 * 3.14159265358979324 * u[1];
    const double r = count > 1 ? scatter->spread * radius * u[2] : 0.0;
    /* fewer drops have the cross-section of all */
    const double size = scatter->size * radius * sqrt((double)scatter->count / count) * (0.6 + 0.8 * v[0]);
    const WadiVec3 x = wadi_add_scaled(wadi_sub(p->cloud.position[i], origin),
                                       wadi_vec3(across * cos(angle), across * sin(angle), z), r);
    sphere[0] = (float)x.x;
    sphere[1] = (float)x.y;
    sphere[2] = (float)x.z;
    sphere[3] = (float)size;
}

static WadiStatus reserve(WadiFrameScene *frame_scene, size_t count, bool has_velocity, WadiError *error)
{
    WadiGrains *foam = &frame_scene->foam;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->sphere, count, "foam", error));
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->colour, count, "colours of foam", error));
    if (has_velocity) {
        WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->velocity, count, "velocities of foam", error));
    }
    return WADI_OK;
}

/* What is not a patch, as drops. */
static WadiStatus add_drops(WadiFrameScene *frame_scene, const Projection *p, const WadiFrameSceneDef *def,
                            WadiError *error)
{
    const Particles *particles = p->particles;
    const WadiCloudAttribute *velocity =
        def->scene->render.shutter > 0.0 ? wadi_cloud_find(&particles->cloud, "velocity") : NULL;
    size_t total = 0;
    for (size_t i = 0; i < (size_t)particles->cloud.count; ++i) {
        total += p->distance[i] < INFINITY ? 0 : (size_t)drop_count(particles, i, def->pixel);
    }
    WADI_TRY(reserve(frame_scene, total, velocity != NULL, error));
    WadiGrains *foam = &frame_scene->foam;
    for (size_t i = 0; i < (size_t)particles->cloud.count; ++i) {
        const int count = p->distance[i] < INFINITY ? 0 : drop_count(particles, i, def->pixel);
        for (int n = 0; n < count; ++n, ++foam->count) {
            place_drop(foam->sphere[foam->count], particles, i, n, count, frame_scene->origin);
            foam->colour[foam->count] = colour_of(particles, i, n, def->scene);
            if (velocity != NULL) {
                memcpy(foam->velocity[foam->count], velocity->values + 3 * i, sizeof *foam->velocity);
            }
        }
    }
    return WADI_OK;
}

/* For false colours: a ball a particle. */
static WadiStatus add_balls(WadiFrameScene *frame_scene, const WadiCloud *cloud, const WadiFrameSceneDef *def,
                            WadiError *error)
{
    int32_t *particle;
    WadiGrains *foam = &frame_scene->foam;
    WADI_TRY(reserve(frame_scene, (size_t)cloud->count, false, error));
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &particle, (size_t)cloud->count, "foam", error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        const WadiVec3f x = wadi_to_vec3f(wadi_sub(cloud->position[i], frame_scene->origin));
        memcpy(foam->sphere[i], (const float[4]){ x.x, x.y, x.z, 0.5f * cloud->spacing[i] },
               sizeof foam->sphere[i]);
        particle[i] = i;
    }
    foam->count = (size_t)cloud->count;
    return def->colours->fill(def->colours->user, cloud, def->secondary, particle, foam->colour, error);
}

static WadiStatus fill(WadiFrameScene *frame_scene, Particles *particles, const WadiFrameSceneDef *def,
                       WadiError *error)
{
    frame_scene->foam_look = frame_scene->look_count++;
    frame_scene->looks[frame_scene->foam_look] = wadi_look_foam();
    if (def->colours != NULL) {
        return add_balls(frame_scene, &particles->cloud, def, error);
    }
    WADI_TRY(find_arrays(particles, def->secondary, error));
    Projection projection = { .particles = particles, .origin = frame_scene->origin };
    WADI_TRY(project(frame_scene, &projection, &frame_scene->arena, error));
    WADI_TRY(add_patches(frame_scene, &projection, error));
    return add_drops(frame_scene, &projection, def, error);
}

WadiStatus wadi_foam_add(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def, WadiError *error)
{
    frame_scene->foam = (WadiGrains){ 0 };
    frame_scene->foam_patches = NULL;
    frame_scene->patch_count = 0;
    if (def->secondary == NULL || wadi_state_find(def->secondary, "position") == NULL ||
        !def->scene->render.has_secondary || def->has_cut) {
        return WADI_OK;
    }
    if (def->colours != NULL && !def->colours->has_values(def->colours->user, def->secondary)) {
        return WADI_OK; /* foam has a speed, but no wetness */
    }
    Particles particles = { 0 };
    WADI_TRY(wadi_cloud_from_frame(&particles.cloud, def->secondary, -1, 0.0, error));
    WadiStatus status = particles.cloud.count > 0 ? fill(frame_scene, &particles, def, error) : WADI_OK;
    wadi_cloud_free(&particles.cloud);
    return status;
}
