/* The frame scene as input of the path tracer. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "render/frame_scene.h"
#include "render/smooth_normals.h"

/* Solids with more triangles are drawn with the normals of the triangles, which are then small. */
enum { SMOOTH_MAX = 4000000 };

static void trace_mesh(WadiTraceMesh *to, const WadiMesh *mesh, int look)
{
    *to = (WadiTraceMesh){ .vertex_count = mesh->vertex_count,
                           .triangle_count = mesh->triangle_count,
                           .vertices = mesh->vertices,
                           .triangles = (const uint32_t(*)[3])mesh->triangles,
                           .look = look };
}

static WadiTraceSpheres trace_grains(const WadiGrains *grains, int look, bool is_angular)
{
    return (WadiTraceSpheres){ .count = grains->count,
                               .sphere = (const float(*)[4])grains->sphere,
                               .colour = grains->colour,
                               .velocity = (const float(*)[3])grains->velocity,
                               .is_angular = is_angular,
                               .look = look };
}

/* Sand is at least as wet as its look. */
static WadiStatus raise_wetness(WadiFrameScene *frame_scene, WadiTraceMesh *mesh, float wetness,
                                WadiError *error)
{
    float *values;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &values, mesh->vertex_count, "wetness of a mesh", error));
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        values[v] = mesh->wetness != NULL ? fmaxf(mesh->wetness[v], wetness) : wetness;
    }
    mesh->wetness = values;
    return WADI_OK;
}

/* The vertices of a solid, moved in by its inset along the mean normals of the triangles around them. */
static WadiStatus draw_in(const WadiVec3 **vertices, const WadiFrameSceneSolid *solid, WadiArena *arena,
                          WadiError *error)
{
    const WadiMesh *mesh = &solid->mesh;
    *vertices = mesh->vertices;
    if (!(solid->inset > 0.0)) {
        return WADI_OK;
    }
    WadiVec3 *moved; /* first the sums of the normals */
    WADI_TRY(WADI_ARENA_NEW(arena, &moved, mesh->vertex_count, "vertices of a solid", error));
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        moved[v] = wadi_vec3(0, 0, 0);
    }
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        const WadiVec3 a = mesh->vertices[v[0]];
        const WadiVec3 area =
            wadi_cross(wadi_sub(mesh->vertices[v[1]], a), wadi_sub(mesh->vertices[v[2]], a));
        for (int k = 0; k < 3; ++k) {
            moved[v[k]] = wadi_add(moved[v[k]], wadi_normalized_or(area, wadi_vec3(0, 0, 0)));
        }
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        const WadiVec3 out = wadi_normalized_or(moved[v], wadi_vec3(0, 0, 0));
        moved[v] = wadi_add_scaled(mesh->vertices[v], out, -solid->inset);
    }
    *vertices = moved;
    return WADI_OK;
}

/* A solid with a vertex for every corner of its triangles, so that normals may differ across an edge. */
static WadiStatus trace_solid(WadiFrameScene *frame_scene, WadiTraceMesh *to,
                              const WadiFrameSceneSolid *solid, WadiError *error)
{
    WadiArena *arena = &frame_scene->arena;
    const WadiMesh *mesh = &solid->mesh;
    const WadiVec3 *drawn;
    WADI_TRY(draw_in(&drawn, solid, arena, error));
    trace_mesh(to, mesh, solid->look);
    to->vertices = drawn;
    to->texture = (const float(*)[3])solid->texture;
    to->velocity = (const float(*)[3])solid->velocity;
    size_t count = 3 * mesh->triangle_count;
    if (mesh->triangle_count > SMOOTH_MAX || count == 0) {
        return WADI_OK;
    }
    float(*normal)[3], (*texture)[3] = NULL, (*velocity)[3] = NULL;
    WadiVec3 *vertices;
    uint32_t(*triangles)[3];
    WADI_TRY(wadi_smooth_normals(&normal, mesh, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &vertices, count, "corners of a solid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &triangles, mesh->triangle_count, "corners of a solid", error));
    if (solid->texture != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &texture, count, "texture of a solid", error));
    }
    if (solid->velocity != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &velocity, count, "motion of a solid", error));
    }
    for (size_t c = 0; c < count; ++c) {
        uint32_t v = mesh->triangles[c / 3][c % 3];
        vertices[c] = drawn[v];
        triangles[c / 3][c % 3] = (uint32_t)c;
        if (texture != NULL) {
            memcpy(texture[c], solid->texture[v], sizeof texture[c]);
        }
        if (velocity != NULL) {
            memcpy(velocity[c], solid->velocity[v], sizeof velocity[c]);
        }
    }
    *to = (WadiTraceMesh){ .vertex_count = count,
                           .triangle_count = mesh->triangle_count,
                           .vertices = vertices,
                           .triangles = (const uint32_t(*)[3])triangles,
                           .normal = (const float(*)[3])normal,
                           .texture = (const float(*)[3])texture,
                           .velocity = (const float(*)[3])velocity,
                           .look = solid->look };
    return WADI_OK;
}

WadiStatus wadi_frame_scene_trace(WadiFrameScene *frame_scene, const WadiScene *scene, WadiTraceScene *trace,
                                  WadiError *error)
{
    WadiTraceMesh *meshes;
    WadiTraceSpheres *spheres;
    size_t count = (size_t)frame_scene->part_count + (size_t)frame_scene->solid_count;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &meshes, count, "meshes of a picture", error));
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &spheres, (size_t)frame_scene->part_count + 1,
                            "grains of a picture", error));
    *trace = (WadiTraceScene){ .origin = frame_scene->origin,
                               .looks = frame_scene->looks,
                               .look_count = frame_scene->look_count,
                               .meshes = meshes,
                               .spheres = spheres,
                               .foam = frame_scene->foam_patches,
                               .foam_count = frame_scene->patch_count,
                               .ground = frame_scene->ground,
                               .air = frame_scene->air };
    bool is_blurred = scene->render.shutter > 0.0;
    for (int p = 0; p < frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame_scene->parts[p];
        const WadiSurfaceMesh *mesh = &part->mesh;
        if (mesh->mesh.triangle_count > 0) {
            WadiTraceMesh *to = &meshes[trace->mesh_count++];
            trace_mesh(to, &mesh->mesh, part->mesh_look);
            to->normal = (const float(*)[3])mesh->normal;
            to->velocity =
                is_blurred ? (const float(*)[3])wadi_surface_mesh_attribute(mesh, "velocity", 3) : NULL;
            to->wetness = wadi_surface_mesh_attribute(mesh, "wetness", 1);
            to->colour = (const float(*)[3])part->mesh_colour;
            to->owner = (const uint32_t(*)[WADI_TRACE_OWNERS])part->owners.owner;
            to->anchor = (const float(*)[3])part->owners.anchor;
            to->anchor_hash = part->owners.anchor_hash;
            to->anchor_count = part->owners.anchor_count;
            float wetness = (float)scene->materials[part->material].look.wetness;
            if (wetness > 0.0f) {
                WADI_TRY(raise_wetness(frame_scene, to, wetness, error));
            }
        }
        if (part->grains.count > 0) {
            spheres[trace->spheres_count++] = trace_grains(&part->grains, part->look, part->is_angular);
        }
    }
    if (frame_scene->foam.count > 0) {
        spheres[trace->spheres_count++] = trace_grains(&frame_scene->foam, frame_scene->foam_look, false);
    }
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        WADI_TRY(trace_solid(frame_scene, &meshes[trace->mesh_count++], &frame_scene->solids[s], error));
    }
    return WADI_OK;
}
