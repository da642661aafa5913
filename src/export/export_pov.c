/* Scenes for POV-Ray: `povray NAME.0001.pov` renders them unchanged.
 *
 * Differs from wadi's own pictures: indirect light is missing; the sky is a dome of directional lights with
 * shadows, the ground's light one from below without; water casts shadows like clear glass. */
#include "export/export_pov.h"

#include <ctype.h>
#include <string.h>

static const double INVERSE_PI = 0.31830988618379067154;
static const double INDIRECT = 0.15; /* by eye: gaps between grains as dark as in wadi's own pictures */

/* "Wadi_NAME" with characters invalid in POV-Ray replaced; the material's number makes names unique. */
static void put_name(WadiExportOut *out, const WadiExportFrame *frame, int material, const char *what)
{
    char name[64] = "";
    const char *from = frame->scene->materials[material].name;
    for (size_t i = 0; i < 40 && from[i] != '\0'; ++i) {
        name[i] = isalnum((unsigned char)from[i]) ? from[i] : '_';
    }
    wadi_out_printf(out, "Wadi_%d_%s%s", material, name, what);
}

static void put_vector(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 a, int decimals)
{
    wadi_out_text(out, "<");
    wadi_out_vector(out, wadi_export_axes(frame, a), ',', decimals);
    wadi_out_text(out, ">");
}

static void put_rgb(WadiExportOut *out, WadiRgb c)
{
    wadi_out_text(out, "<");
    wadi_out_vector(out, wadi_vec3((double)c.x, (double)c.y, (double)c.z), ',', 5);
    wadi_out_text(out, ">");
}

/* POV-Ray has Fresnel reflection for mirrors only: of a rough coat only the highlight remains. */
static void put_plain(WadiExportOut *out, const WadiLook *look)
{
    wadi_out_text(out, "material { texture { pigment { rgb ");
    put_rgb(out, look->colour);
    wadi_out_printf(out, " } finish { ambient Wadi_Ambient diffuse 1 specular %.3g roughness %.3g } } }\n",
                    0.2 * (double)look->coat,
                    fmax(0.2 * (double)(look->coat_roughness * look->coat_roughness), 1e-3));
}

/* exp(-a d) remains after the distance d: POV-Ray's law for fade_power 1000 and more is exp(-(1 - fade_color)
 * d / fade_distance). */
static void put_water(WadiExportOut *out, const WadiLook *look)
{
    double most = (double)wadi_largestf(look->absorption);
    wadi_out_text(out, "material {\n  texture { pigment { rgbf 1 } finish { ambient 0 diffuse 0 specular 0.4 "
                       "roughness 0.002\n    reflection { 0, 1 fresnel on } conserve_energy } }\n");
    wadi_out_printf(out, "  interior { ior %.4g", (double)look->index);
    if (most > 0.0) {
        wadi_out_printf(out, " fade_distance %.6g fade_power 1001 fade_color rgb ", 1.0 / most);
        put_rgb(out,
                wadi_vec3f(1.0f - look->absorption.x / (float)most, 1.0f - look->absorption.y / (float)most,
                           1.0f - look->absorption.z / (float)most));
    }
    wadi_out_text(out, " }\n}\n");
}

/* A thin sheet does not refract; its reflection is Schlick's. */
static void put_glass(WadiExportOut *out, const WadiLook *look)
{
    double r = ((double)look->index - 1.0) / ((double)look->index + 1.0);
    wadi_out_text(out, "material { texture { pigment { rgb ");
    put_rgb(out, look->colour);
    wadi_out_printf(out, " filter 1 } finish { ambient 0 diffuse 0 reflection { %.3g, 1 falloff 5 } } } }\n",
                    r * r);
}

static void put_sand_call(WadiExportOut *out, WadiRgb colour, float wetness)
{
    wadi_out_text(out, " Wadi_Sand(");
    wadi_out_vector(out, wadi_vec3((double)colour.x, (double)colour.y, (double)colour.z), ',', 5);
    wadi_out_text(out, ",");
    wadi_out_number(out, (double)wetness, 3);
    wadi_out_text(out, ")");
}

static void put_look(WadiExportOut *out, const WadiLook *look, double wetness)
{
    switch (look->kind) {
    case WADI_LOOK_WATER: put_water(out, look); break;
    case WADI_LOOK_GLASS: put_glass(out, look); break;
    case WADI_LOOK_SAND:
        wadi_out_text(out, "material { ");
        put_sand_call(out, look->colour, (float)wetness);
        wadi_out_text(out, " }\n");
        break;
    default: put_plain(out, look); break;
    }
}

static void put_looks(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    wadi_out_text(out, "\n// Sand of a linear colour and a wetness, 0 to 1: water between the grains makes "
                       "them darker, the film\n"
                       "// over them makes them shine.\n"
                       "#macro Wadi_Wet(C, W)\n"
                       "  #local D = pow(min(max(C, 0), 0.98), 1 + 0.4*W);\n"
                       "  (D*(1 - W) + W*D*0.53/(1 - 0.47*D))\n"
                       "#end\n"
                       "#macro Wadi_Sand(R, G, B, W)\n"
                       "  texture { pigment { rgb <Wadi_Wet(R, W), Wadi_Wet(G, W), Wadi_Wet(B, W)> }\n"
                       "    finish { ambient Wadi_Ambient diffuse 1 specular 0.35*W roughness 0.02 } }\n"
                       "#end\n");
    for (int p = 0; p < frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame_scene->parts[p];
        double wetness = frame->scene->materials[part->material].look.wetness;
        wadi_out_text(out, "#declare ");
        put_name(out, frame, part->material, "");
        wadi_out_text(out, " = ");
        put_look(out, &frame_scene->looks[part->mesh_look], wetness);
        if (part->style == WADI_STYLE_BALLS) {
            wadi_out_text(out, "#declare ");
            put_name(out, frame, part->material, "_Balls");
            wadi_out_text(out, " = ");
            put_look(out, &frame_scene->looks[part->look], wetness);
        }
    }
    bool is_declared[2] = { false, false };
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        const WadiLook *look = &frame_scene->looks[frame_scene->solids[s].look];
        bool is_glass = look->kind == WADI_LOOK_GLASS;
        if (!is_declared[is_glass]) {
            is_declared[is_glass] = true;
            wadi_out_printf(out, "#declare Wadi_%s = ", is_glass ? "Glass" : "Collider");
            put_look(out, look, 0.0);
        }
    }
}

static void put_light(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 direction, WadiRgb light,
                      double gain, const char *more)
{
    if (!(wadi_largestf(light) > 0.0f)) {
        return;
    }
    /* Far enough away to be directional. */
    WadiVec3 middle = frame->frame_scene->origin;
    double away = 1e3 * fmax(1.0, wadi_norm(wadi_sub(frame->camera.eye, middle)));
    wadi_out_text(out, "light_source { ");
    put_vector(out, frame, wadi_add_scaled(middle, direction, away), 3);
    wadi_out_text(out, " rgb ");
    put_rgb(out, wadi_scalef(light, (float)(gain * INVERSE_PI)));
    wadi_out_text(out, " parallel point_at ");
    put_vector(out, frame, middle, 6);
    wadi_out_printf(out, "%s }\n", more);
}

/* Indirect light between grains, as a fraction of the irradiance on level ground. */
static void put_ambient(WadiExportOut *out, const WadiExportFrame *frame, const WadiDomeLight *dome,
                        WadiRgb sun, double gain)
{
    WadiVec3 to_sun = wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1));
    WadiRgb level = wadi_scalef(sun, (float)fmax(to_sun.z, 0.0));
    for (int k = 0; k < WADI_EXPORT_DOME; ++k) {
        level = wadi_add_scaledf(level, dome[k].light, (float)fmax(dome[k].direction.z, 0.0));
    }
    wadi_out_text(out, "#declare Wadi_Ambient = rgb ");
    put_rgb(out, wadi_scalef(level, (float)(INDIRECT * gain * INVERSE_PI)));
    wadi_out_text(out, ";\n");
}

static WadiStatus put_lights(WadiExportOut *out, const WadiExportFrame *frame, const char *sky,
                             WadiError *error)
{
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    double gain = exp2(frame->exposure);
    WADI_TRY(wadi_export_dome(&frame->light, dome, &sun, error));
    put_ambient(out, frame, dome, sun, gain);
    wadi_out_text(out, "\n// The sun, then the sky as lights that cast shadows.\n");
    put_light(out, frame, wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1)), sun, gain, "");
    for (int k = 0; k < WADI_EXPORT_DOME; ++k) {
        bool is_below = dome[k].direction.z < 0.0;
        put_light(out, frame, dome[k].direction, dome[k].light, is_below ? 0.5 * gain : gain,
                  is_below ? " shadowless" : "");
    }
    wadi_out_printf(out,
                    "sky_sphere { pigment { image_map { hdr \"%.300s\" map_type 1 interpolate 2 } %s } }\n",
                    sky, frame->is_y_up ? "rotate 180*y" : "rotate 90*x rotate 180*z");
    return WADI_OK;
}

static void put_ground(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiTraceGround *ground = &frame->frame_scene->ground;
    if (!ground->is_present) {
        return;
    }
    char up = frame->is_y_up ? 'y' : 'z';
    wadi_out_printf(out, "plane { %c, ", up);
    wadi_out_number(out, ground->height, 9);
    wadi_out_text(out, " texture { pigment { ");
    if (ground->look.texture == WADI_LOOK_TEXTURE_CHECKER) {
        /* The plane cuts the checker's cubes in the middle. */
        wadi_out_text(out, "checker rgb ");
        put_rgb(out, ground->look.colour);
        wadi_out_text(out, " rgb ");
        put_rgb(out, ground->look.second_colour);
        wadi_out_printf(out, " scale %.9g translate %.9g*%c", (double)ground->look.texture_size,
                        ground->height + 0.5 * (double)ground->look.texture_size, up);
    } else {
        wadi_out_text(out, "rgb ");
        put_rgb(out, ground->look.colour);
    }
    wadi_out_text(out, " } finish { ambient Wadi_Ambient diffuse 1 } } }\n");
}

WadiStatus wadi_export_pov_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                  WadiError *error)
{
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_export_shared_comments(&out, frame, "// ", "what all frames share");
    WadiStatus lights = put_lights(&out, frame, sky, error);
    out.status = out.status == WADI_OK ? lights : out.status;
    put_looks(&out, frame);
    put_ground(&out, frame);
    wadi_export_end(&out, frame, "// ");
    return wadi_out_close(&out);
}

static void put_camera(WadiExportOut *out, const WadiExportFrame *frame, const WadiExportCamera *axes)
{
    double high = 2.0 * axes->half_height;
    wadi_out_text(out, "camera {\n  location ");
    put_vector(out, frame, frame->camera.eye, 9);
    wadi_out_text(out, "\n  direction ");
    put_vector(out, frame, axes->forward, 14);
    wadi_out_text(out, "\n  up ");
    put_vector(out, frame, wadi_scale(axes->up, high), 14);
    wadi_out_text(out, "\n  right ");
    put_vector(out, frame, wadi_scale(axes->right, high), 14);
    wadi_out_text(out, "*image_width/image_height\n");
    if (frame->camera.lens_radius > 0.0) {
        wadi_out_printf(out, "  aperture %.9g blur_samples 37 focal_point ", 2.0 * frame->camera.lens_radius);
        put_vector(out, frame, wadi_add_scaled(frame->camera.eye, axes->forward, axes->focus), 9);
        wadi_out_text(out, "\n");
    }
    wadi_out_text(out, "}\n");
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
        const float value[4] = { wadi_srgb_encode(c.x), wadi_srgb_encode(c.y), wadi_srgb_encode(c.z),
                                 wetness != NULL ? wetness[v] : default_wetness };
        uint8_t byte[4];
        for (int k = 0; k < 4; ++k) {
            byte[k] = (uint8_t)(wadi_minf(wadi_maxf(value[k], 0.0f), 1.0f) * 255.0f + 0.5f);
        }
        colours->colour[v] = (WadiTraceColour){ byte[0], byte[1], byte[2], byte[3] };
    }
    return WADI_OK;
}

static void put_vertices(WadiExportOut *out, const WadiExportFrame *frame, const WadiMesh *mesh,
                         const float (*normal)[3], double step)
{
    int decimals = wadi_out_decimals(step);
    wadi_out_printf(out, "mesh2 {\nvertex_vectors { %zu", mesh->vertex_count);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        wadi_out_text(out, v % 4 == 0 ? ",\n" : ",");
        put_vector(out, frame, mesh->vertices[v], decimals);
    }
    wadi_out_text(out, " }\n");
    if (normal != NULL) {
        wadi_out_printf(out, "normal_vectors { %zu", mesh->vertex_count);
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            const float *n = normal[v];
            wadi_out_text(out, v % 4 == 0 ? ",\n" : ",");
            put_vector(out, frame, wadi_vec3((double)n[0], (double)n[1], (double)n[2]), 4);
        }
        wadi_out_text(out, " }\n");
    }
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

static WadiStatus put_coloured_faces(WadiExportOut *out, const WadiMesh *mesh, const WadiGrains *colours,
                                     WadiArena *arena, WadiError *error)
{
    WadiGrainGroups groups;
    uint32_t *class_of;
    WADI_TRY(wadi_grain_groups_make(&groups, colours, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &class_of, colours->count, "textures of vertices", error));
    wadi_out_printf(out, "texture_list { %zu", groups.count);
    for (size_t g = 0; g < groups.count; ++g) {
        const WadiGrainGroup *group = &groups.group[g];
        wadi_out_text(out, ",\n");
        put_sand_call(out, group->colour, group->wetness);
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
    put_vertices(out, frame, &surface->mesh, (const float(*)[3])surface->normal, 1e-4 * surface->cell);
    if (colours.count > 0) {
        WADI_TRY(put_coloured_faces(out, &surface->mesh, &colours, arena, error));
    } else {
        put_faces(out, &surface->mesh, NULL);
        wadi_out_printf(out, "inside_vector %c\nmaterial { ", frame->is_y_up ? 'y' : 'z');
        put_name(out, frame, part->material, "");
        wadi_out_text(out, " }\n");
    }
    wadi_out_text(out, "}\n");
    return WADI_OK;
}

static void put_sphere(WadiExportOut *out, const WadiExportFrame *frame, const float s[4], int decimals)
{
    WadiVec3 at = wadi_vec3((double)s[0], (double)s[1], (double)s[2]);
    wadi_out_text(out, "sphere{");
    put_vector(out, frame, wadi_add(frame->frame_scene->origin, at), decimals);
    wadi_out_text(out, ",");
    wadi_out_number(out, (double)s[3], decimals);
}

static WadiStatus put_grains(WadiExportOut *out, const WadiExportFrame *frame, const WadiFrameScenePart *part,
                             WadiArena *arena, WadiError *error)
{
    const WadiGrains *grains = &part->grains;
    WadiGrainGroups groups;
    WADI_TRY(wadi_grain_groups_make(&groups, grains, arena, error));
    for (size_t g = 0; g < groups.count; ++g) {
        const WadiGrainGroup *group = &groups.group[g];
        const uint32_t *order = groups.order + group->first;
        int decimals = wadi_out_decimals(2e-3 * (double)grains->sphere[order[0]][3]);
        if (group->count == 1) { /* POV-Ray warns about a union of one */
            put_sphere(out, frame, grains->sphere[order[0]], decimals);
        } else {
            wadi_out_text(out, "union {\n");
            for (size_t i = 0; i < group->count; ++i) {
                put_sphere(out, frame, grains->sphere[order[i]], decimals);
                wadi_out_text(out, "}\n");
            }
        }
        if (frame->frame_scene->looks[part->look].kind == WADI_LOOK_SAND) {
            put_sand_call(out, group->colour, group->wetness);
        } else {
            wadi_out_text(out, " material { ");
            put_name(out, frame, part->material, "_Balls");
            wadi_out_text(out, " }");
        }
        wadi_out_text(out, "\n}\n");
    }
    return WADI_OK;
}

static void put_solids(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        const WadiFrameSceneSolid *solid = &frame_scene->solids[s];
        if (solid->mesh.triangle_count == 0) {
            continue;
        }
        WadiBox box = wadi_mesh_bounds(&solid->mesh);
        wadi_out_printf(out, "// %.200s\n", solid->name != NULL ? solid->name : "a wall");
        put_vertices(out, frame, &solid->mesh, NULL, 1e-6 * wadi_norm(wadi_box_size(box)));
        put_faces(out, &solid->mesh, NULL);
        bool is_glass = frame_scene->looks[solid->look].kind == WADI_LOOK_GLASS;
        wadi_out_printf(out, "material { Wadi_%s }\n}\n", is_glass ? "Glass" : "Collider");
    }
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
            status = put_grains(out, frame, part, arena, error);
        }
        wadi_arena_release(arena, mark);
        WADI_TRY(status);
    }
    return WADI_OK;
}

WadiStatus wadi_export_pov_frame(const WadiExportFrame *frame, const char *path, const char *shared,
                                 WadiArena *arena, WadiError *error)
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
    WadiStatus parts = put_parts(&out, frame, arena, error);
    out.status = out.status == WADI_OK ? parts : out.status;
    put_solids(&out, frame);
    return wadi_out_close(&out);
}
