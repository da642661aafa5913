/* Scenes for POV-Ray: `povray NAME.0001.pov` renders them unchanged.
 *
 * Differs from wadi's own pictures: indirect light is missing; the sky is a dome of directional lights with
 * shadows, the ground's light one from below without; water casts shadows like clear glass. Motion is a
 * function of `clock`: pictures for several values have to be averaged. */
#include "export/export_pov_internal.h"

#include <stdio.h>

#include "core/hash.h"

static void put_camera(WadiExportOut *out, const WadiExportFrame *frame, const WadiExportCamera *axes)
{
    double high = 2.0 * axes->half_height;
    wadi_out_text(out, "camera {\n  location ");
    wadi_pov_vector(out, frame, frame->camera.eye, 9);
    wadi_out_text(out, "\n  direction ");
    wadi_pov_vector(out, frame, axes->forward, 14);
    wadi_out_text(out, "\n  up ");
    wadi_pov_vector(out, frame, wadi_scale(axes->up, high), 14);
    wadi_out_text(out, "\n  right ");
    wadi_pov_vector(out, frame, wadi_scale(axes->right, high), 14);
    wadi_out_text(out, "*image_width/image_height\n");
    if (frame->camera.lens_radius > 0.0) {
        wadi_out_printf(out, "  aperture %.9g blur_samples 37 focal_point ", 2.0 * frame->camera.lens_radius);
        wadi_pov_vector(out, frame, wadi_add_scaled(frame->camera.eye, axes->forward, axes->focus), 9);
        wadi_out_text(out, "\n");
    }
    wadi_out_text(out, "}\n");
}

static WadiTraceColour bytes_of(WadiRgb c, float wetness)
{
    const float value[4] = { wadi_srgb_encode(c.x), wadi_srgb_encode(c.y), wadi_srgb_encode(c.z), wetness };
    uint8_t byte[4];
    for (int k = 0; k < 4; ++k) {
        byte[k] = (uint8_t)(wadi_minf(wadi_maxf(value[k], 0.0f), 1.0f) * 255.0f + 0.5f);
    }
    return (WadiTraceColour){ byte[0], byte[1], byte[2], byte[3] };
}

/* Colours of a mesh's vertices as grains, so that they are grouped the same way. `default_wetness` is the
 * wetness of a mesh without the attribute. */
static WadiStatus vertex_colours(const WadiFrameScenePart *part, const WadiLook *look, float default_wetness,
                                 WadiGrains *colours, WadiArena *arena, WadiError *error)
{
    const WadiSurfaceMesh *mesh = &part->mesh;
    const float *wetness = wadi_surface_mesh_attribute(mesh, "wetness", 1);
    *colours = (WadiGrains){ 0 };
    if (look->kind != WADI_LOOK_SAND || (part->mesh_colour == NULL && wetness == NULL)) {
        return WADI_OK;
    }
    colours->count = mesh->mesh.vertex_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &colours->colour, colours->count, "colours of vertices", error));
    for (size_t v = 0; v < colours->count; ++v) {
        WadiRgb c = part->mesh_colour != NULL ? part->mesh_colour[v] : look->colour;
        colours->colour[v] = bytes_of(c, wetness != NULL ? wetness[v] : default_wetness);
    }
    return WADI_OK;
}

/* A place that moves by `velocity` (m/s; NULL: it stands) times the time that the shutter is open while
 * `clock` goes from -0.5 to 0.5. Without the option clock is 0. */
static void put_moving(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 at, const float *velocity,
                       int decimals)
{
    wadi_pov_vector(out, frame, at, decimals);
    if (velocity == NULL) {
        return;
    }
    const double open = frame->scene->render.shutter / frame->fps; /* s */
    const WadiVec3 way =
        wadi_scale(wadi_vec3((double)velocity[0], (double)velocity[1], (double)velocity[2]), open);
    if (wadi_is_finite(way) && wadi_norm(way) > 2.0 * pow(10.0, -decimals)) {
        wadi_out_text(out, "+clock*");
        wadi_pov_vector(out, frame, way, decimals);
    }
}

static void put_vertices(WadiExportOut *out, const WadiExportFrame *frame, const WadiMesh *mesh,
                         const float (*normal)[3], const float (*velocity)[3], double step)
{
    int decimals = wadi_out_decimals(step);
    wadi_out_printf(out, "mesh2 {\nvertex_vectors { %zu", mesh->vertex_count);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        wadi_out_text(out, v % 4 == 0 ? ",\n" : ",");
        put_moving(out, frame, mesh->vertices[v], velocity != NULL ? velocity[v] : NULL, decimals);
    }
    wadi_out_text(out, " }\n");
    if (normal != NULL) {
        wadi_out_printf(out, "normal_vectors { %zu", mesh->vertex_count);
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            const float *n = normal[v];
            wadi_out_text(out, v % 4 == 0 ? ",\n" : ",");
            wadi_pov_vector(out, frame, wadi_vec3((double)n[0], (double)n[1], (double)n[2]), 4);
        }
        wadi_out_text(out, " }\n");
    }
}

/* Coordinates of cells as large as grains, of the three corners of each triangle: in the plane of the two
 * axes that the triangle faces least, from the particle that is nearest to its first corner, so that cells
 * move with the particles. Cells of one particle end where those of the next begin. */
static void put_cells(WadiExportOut *out, const WadiExportFrame *frame, const WadiFrameScenePart *part,
                      double size)
{
    const WadiMesh *mesh = &part->mesh.mesh;
    const int decimals = wadi_out_decimals(0.02 * size);
    wadi_out_printf(out, "uv_vectors { %zu", 3 * mesh->triangle_count);
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        const WadiVec3 *x = mesh->vertices,
                       n = wadi_cross(wadi_sub(x[v[1]], x[v[0]]), wadi_sub(x[v[2]], x[v[0]]));
        const int axis = fabs(n.x) > fabs(n.y) && fabs(n.x) > fabs(n.z) ? 0 : fabs(n.y) > fabs(n.z) ? 1 : 2;
        const uint32_t owner = part->owners.owner != NULL ? part->owners.owner[v[0]][0] : UINT32_MAX;
        WadiVec3 from = { 0 };
        if (owner != UINT32_MAX) {
            /* moved by some cells, so that no two particles have the same */
            const float *a = part->owners.anchor[owner];
            const uint64_t hash = wadi_hash_mix(part->owners.anchor_hash[owner]);
            const double shift = size * (double)(hash & 1023);
            from = wadi_add(frame->frame_scene->origin,
                            wadi_vec3((double)a[0] + shift, (double)a[1] + shift, (double)a[2] + shift));
        }
        for (int k = 0; k < 3; ++k) {
            const WadiVec3 d = wadi_sub(x[v[k]], from);
            wadi_out_text(out, k == 0 ? ",\n<" : ",<");
            wadi_out_number(out, axis == 0 ? d.y : d.x, decimals);
            wadi_out_text(out, ",");
            wadi_out_number(out, axis == 2 ? d.y : d.z, decimals);
            wadi_out_text(out, ">");
        }
    }
    wadi_out_text(out, " }\n");
}

static void put_cell_indices(WadiExportOut *out, size_t triangle_count)
{
    wadi_out_printf(out, "uv_indices { %zu", triangle_count);
    for (size_t t = 0; t < triangle_count; ++t) {
        wadi_out_printf(out, "%s<%zu,%zu,%zu>", t % 8 == 0 ? ",\n" : ",", 3 * t, 3 * t + 1, 3 * t + 2);
    }
    wadi_out_text(out, " }\n");
}

/* `class_of` is the texture of each vertex, or NULL. */
static void put_faces(WadiExportOut *out, const WadiMesh *mesh, const uint32_t *class_of)
{
    wadi_out_printf(out, "face_indices { %zu", mesh->triangle_count);
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        wadi_out_text(out, t % 8 == 0 ? ",\n" : ",");
        wadi_out_printf(out, "<%u,%u,%u>", v[0], v[1], v[2]);
        if (class_of != NULL) {
            wadi_out_printf(out, ",%u,%u,%u", class_of[v[0]], class_of[v[1]], class_of[v[2]]);
        }
    }
    wadi_out_text(out, " }\n");
}

/* A texture for each group of vertices: that of the material's grains, or one colour. `material` < 0: no
 * material. */
static WadiStatus put_coloured_faces(WadiExportOut *out, const WadiExportFrame *frame, int material,
                                     const WadiMesh *mesh, const WadiGrains *colours, WadiArena *arena,
                                     WadiError *error)
{
    WadiGrainGroups groups;
    uint32_t *class_of;
    WADI_TRY(wadi_grain_groups_make(&groups, colours, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &class_of, colours->count, "textures of vertices", error));
    wadi_out_printf(out, "texture_list { %zu", groups.count);
    for (size_t g = 0; g < groups.count; ++g) {
        const WadiGrainGroup *group = &groups.group[g];
        wadi_out_text(out, ",\n");
        if (material >= 0) {
            wadi_pov_name(out, frame, material, "_Grains");
            wadi_out_printf(out, "(%.3g, 1)", (double)group->wetness);
        } else {
            wadi_pov_sand(out, group->colour, group->wetness);
        }
        for (size_t i = 0; i < group->count; ++i) {
            class_of[groups.order[group->first + i]] = (uint32_t)g;
        }
    }
    wadi_out_text(out, " }\n");
    put_faces(out, mesh, class_of);
    return WADI_OK;
}

static WadiStatus put_part_mesh(WadiExportOut *out, const WadiExportFrame *frame,
                                const WadiFrameScenePart *part, WadiArena *arena, WadiError *error)
{
    const WadiSurfaceMesh *surface = &part->mesh;
    const WadiLook *look = &frame->frame_scene->looks[part->mesh_look];
    if (surface->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    WadiGrains colours;
    float even = (float)frame->scene->materials[part->material].look.wetness;
    WADI_TRY(vertex_colours(part, look, even, &colours, arena, error));
    const float *velocity =
        frame->scene->render.shutter > 0.0 ? wadi_surface_mesh_attribute(surface, "velocity", 3) : NULL;
    put_vertices(out, frame, &surface->mesh, (const float(*)[3])surface->normal,
                 (const float(*)[3])(const void *)velocity, 1e-4 * surface->cell);
    const bool is_grain = wadi_pov_has_grains(look) && part->mesh_colour == NULL;
    if (is_grain) {
        double contrast;
        put_cells(out, frame, part, wadi_export_grain_size(frame, look, &contrast));
    }
    if (colours.count > 0) {
        WADI_TRY(put_coloured_faces(out, frame, is_grain ? part->material : -1, &surface->mesh, &colours,
                                    arena, error));
        if (is_grain) {
            put_cell_indices(out, surface->mesh.triangle_count);
        }
    } else {
        put_faces(out, &surface->mesh, NULL);
        if (is_grain) {
            put_cell_indices(out, surface->mesh.triangle_count);
        }
        wadi_out_printf(out, "inside_vector %c\nmaterial { ", frame->is_y_up ? 'y' : 'z');
        wadi_pov_name(out, frame, part->material, "");
        wadi_out_text(out, " }\n");
    }
    wadi_out_text(out, "}\n");
    return WADI_OK;
}

static void put_sphere(WadiExportOut *out, const WadiExportFrame *frame, const WadiGrains *grains,
                       uint32_t grain, int decimals)
{
    const float *s = grains->sphere[grain];
    WadiVec3 at = wadi_vec3((double)s[0], (double)s[1], (double)s[2]);
    wadi_out_text(out, "sphere{");
    put_moving(out, frame, wadi_add(frame->frame_scene->origin, at),
               grains->velocity != NULL ? grains->velocity[grain] : NULL, decimals);
    wadi_out_text(out, ",");
    wadi_out_number(out, (double)s[3], decimals);
}

/* `balls` is the material whose balls they are; < 0: each has its own colour. */
static WadiStatus put_grains(WadiExportOut *out, const WadiExportFrame *frame, const WadiGrains *grains,
                             int balls, WadiArena *arena, WadiError *error)
{
    WadiGrainGroups groups;
    WADI_TRY(wadi_grain_groups_make(&groups, grains, arena, error));
    for (size_t g = 0; g < groups.count; ++g) {
        const WadiGrainGroup *group = &groups.group[g];
        const uint32_t *order = groups.order + group->first;
        int decimals = wadi_out_decimals(2e-3 * (double)grains->sphere[order[0]][3]);
        if (group->count == 1) { /* POV-Ray warns about a union of one */
            put_sphere(out, frame, grains, order[0], decimals);
        } else {
            wadi_out_text(out, "union {\n");
            for (size_t i = 0; i < group->count; ++i) {
                put_sphere(out, frame, grains, order[i], decimals);
                wadi_out_text(out, "}\n");
            }
        }
        if (balls < 0) {
            wadi_pov_sand(out, group->colour, group->wetness);
        } else {
            wadi_out_text(out, " material { ");
            wadi_pov_name(out, frame, balls, "_Balls");
            wadi_out_text(out, " }");
        }
        wadi_out_text(out, "\n}\n");
    }
    return WADI_OK;
}

static WadiStatus put_solid(WadiExportOut *out, const WadiExportFrame *frame, int index, WadiArena *arena,
                            WadiError *error)
{
    const WadiFrameSceneSolid *solid = &frame->frame_scene->solids[index];
    if (solid->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    WadiBox box = wadi_mesh_bounds(&solid->mesh);
    wadi_out_printf(out, "// %.200s\n", solid->name != NULL ? solid->name : "a wall");
    put_vertices(out, frame, &solid->mesh, NULL, (const float(*)[3])solid->velocity,
                 1e-6 * wadi_norm(wadi_box_size(box)));
    WadiRgb *pattern;
    WADI_TRY(wadi_export_solid_colours(frame->frame_scene, solid, &pattern, arena, error));
    if (pattern != NULL) {
        WadiGrains colours = { .count = solid->mesh.vertex_count };
        WADI_TRY(WADI_ARENA_NEW(arena, &colours.colour, colours.count, "colours of a solid", error));
        for (size_t v = 0; v < colours.count; ++v) {
            colours.colour[v] = bytes_of(pattern[v], 0.0f);
        }
        WADI_TRY(put_coloured_faces(out, frame, -1, &solid->mesh, &colours, arena, error));
        wadi_out_text(out, "}\n");
        return WADI_OK;
    }
    put_faces(out, &solid->mesh, NULL);
    wadi_out_printf(out, "material { Wadi_Solid_%d }\n}\n", index);
    return WADI_OK;
}

/* A solid that stands still is a file of its own, which all frames include. */
static WadiStatus put_shared_solid(WadiExportOut *out, const WadiExportFrame *frame, const char *folder,
                                   int index, WadiArena *arena, WadiError *error)
{
    char stem[WADI_EXPORT_FILE_SIZE], file[WADI_EXPORT_FILE_SIZE], path[WADI_PATH_SIZE];
    snprintf(stem, sizeof stem, "%.180s.solid.%d", frame->name, index);
    const WadiFrameSceneSolid *solid = &frame->frame_scene->solids[index];
    wadi_export_solid_file(frame, solid, stem, ".inc", file);
    snprintf(path, sizeof path, "%.3700s/%s", folder, file);
    wadi_out_printf(out, "#include \"%.300s\"\n", file);
    WadiExportSolid own;
    bool is_wanted;
    WADI_TRY(wadi_export_begin_solid(frame, solid, path, &own, &is_wanted, error));
    if (!is_wanted) {
        return WADI_OK;
    }
    WadiStatus status = wadi_export_begin_file(&own.as, path, error);
    if (status == WADI_OK) {
        WadiExportOut inner;
        wadi_out_open(&inner, path, error);
        wadi_export_comments(&inner, &own.as, "// ");
        status = put_solid(&inner, frame, index, arena, error);
        inner.status = inner.status == WADI_OK ? status : inner.status;
        status = wadi_out_close(&inner);
    }
    return wadi_export_end_solid(&own, status, error);
}

static WadiStatus put_solids(WadiExportOut *out, const WadiExportFrame *frame, const char *folder,
                             WadiArena *arena, WadiError *error)
{
    for (int i = 0; i < frame->frame_scene->solid_count; ++i) {
        WadiArenaMark mark = wadi_arena_mark(arena);
        WadiStatus status = frame->frame_scene->solids[i].is_moving
                                ? put_solid(out, frame, i, arena, error)
                                : put_shared_solid(out, frame, folder, i, arena, error);
        wadi_arena_release(arena, mark);
        WADI_TRY(status);
    }
    return WADI_OK;
}

static WadiStatus put_foam(WadiExportOut *out, const WadiExportFrame *frame, WadiArena *arena,
                           WadiError *error)
{
    WadiGrains foam;
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiStatus status = wadi_export_foam(frame->frame_scene, &foam, arena, error);
    if (status == WADI_OK && foam.count > 0) {
        wadi_out_printf(out, "// foam, spray, bubbles, dust: %zu\n", foam.count);
        status = put_grains(out, frame, &foam, -1, arena, error);
    }
    wadi_arena_release(arena, mark);
    return status;
}

static WadiStatus put_parts(WadiExportOut *out, const WadiExportFrame *frame, WadiArena *arena,
                            WadiError *error)
{
    for (int p = 0; p < frame->frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame->frame_scene->parts[p];
        WadiArenaMark mark = wadi_arena_mark(arena);
        wadi_out_printf(out, "// %.200s: %zu grains, %zu triangles\n",
                        frame->scene->materials[part->material].name, part->grains.count,
                        part->mesh.mesh.triangle_count);
        WadiStatus status = put_part_mesh(out, frame, part, arena, error);
        if (status == WADI_OK && part->grains.count > 0) {
            const bool is_sand = frame->frame_scene->looks[part->look].kind == WADI_LOOK_SAND;
            status = put_grains(out, frame, &part->grains, is_sand ? -1 : part->material, arena, error);
        }
        wadi_arena_release(arena, mark);
        WADI_TRY(status);
    }
    return WADI_OK;
}

WadiStatus wadi_export_pov_frame(const WadiExportFrame *frame, const char *folder, const char *path,
                                 const char *shared, WadiArena *arena, WadiError *error)
{
    const WadiRenderSettings *render = &frame->scene->render;
    WadiExportCamera camera;
    if (!wadi_export_camera(&frame->camera, &camera)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the camera looks nowhere: see render.camera");
    }
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_export_comments(&out, frame, "// ");
    wadi_out_printf(&out, "// povray +W%d +H%d +A0.2 -D THIS_FILE\n#version 3.7;\n", render->width,
                    render->height);
    wadi_out_text(&out, "global_settings { assumed_gamma 1 max_trace_level 12 adc_bailout 0.02 }\n");
    wadi_out_printf(&out, "#include \"%.300s\"\n", shared);
    put_camera(&out, frame, &camera);
    WadiStatus status = put_parts(&out, frame, arena, error);
    status = status == WADI_OK ? put_foam(&out, frame, arena, error) : status;
    status = status == WADI_OK ? put_solids(&out, frame, folder, arena, error) : status;
    out.status = out.status == WADI_OK ? status : out.status;
    return wadi_out_close(&out);
}
