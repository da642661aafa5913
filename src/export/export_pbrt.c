/* Scenes for pbrt-v4: `pbrt NAME.0001.pbrt` writes NAME.0001.exr. Light values are wadi's times the exposure;
 * pbrt's default sensor does not change them.
 *
 * Differs from wadi's own pictures: the wetness of sand has eight steps, grains have the colour of their
 * group, and surfaces are not blurred by motion, single grains, balls and foam are. */
#include "export/export_pbrt.h"

#include <stdio.h>
#include <string.h>

#include "export/export_ply.h"
#include "render/trace/bsdf.h"

static const double RADIANS = 0.01745329251994329577;

static void put_vector(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 a, int decimals)
{
    wadi_out_vector(out, wadi_export_axes(frame, a), ' ', decimals);
}

static void put_rgb(WadiExportOut *out, const char *parameter, WadiRgb c)
{
    wadi_out_printf(out, " \"rgb %s\" [", parameter);
    wadi_out_vector(out, wadi_vec3((double)c.x, (double)c.y, (double)c.z), ' ', 5);
    wadi_out_text(out, "]");
}

/* Material names consist of letters, digits, '.', '_' and '-': nothing to escape. */
static void put_name(WadiExportOut *out, const WadiExportFrame *frame, int material, const char *what)
{
    wadi_out_printf(out, "\"%s%s\"", frame->scene->materials[material].name, what);
}

/* Parameters after the type, which is "diffuse" for dry sand and "coateddiffuse" for wet sand, whose film of
 * water is pbrt's coat. */
static void put_sand(WadiExportOut *out, WadiRgb colour, float wetness)
{
    const WadiRgb c = wadi_export_wet_colour(colour, wetness);
    const float film = wadi_wet_film(wetness);
    if (film > 0.0f) {
        wadi_out_printf(out, " \"float roughness\" [%.3g] \"float eta\" [1.333]", 0.6 - 0.45 * (double)film);
    }
    put_rgb(out, "reflectance", c);
}

static const char *sand_type(float wetness)
{
    return wadi_wet_film(wetness) > 0.0f ? "\"coateddiffuse\"" : "\"diffuse\"";
}

/* The parameters of a look: MakeNamedMaterial has the type as one of them. */
static void put_named(WadiExportOut *out, const WadiLook *look, float wetness)
{
    switch (look->kind) {
    case WADI_LOOK_WATER:
        wadi_out_printf(out, " \"string type\" \"dielectric\" \"float eta\" [%.4g]", (double)look->index);
        break;
    case WADI_LOOK_GLASS:
        wadi_out_printf(out, " \"string type\" \"thindielectric\" \"float eta\" [%.4g]", (double)look->index);
        break;
    case WADI_LOOK_SAND:
        wadi_out_printf(out, " \"string type\" %s", sand_type(wetness));
        put_sand(out, wadi_export_bed_colour(look, wetness), wetness);
        break;
    default:
        wadi_out_printf(out, " \"string type\" \"%s\"", look->coat > 0.0f ? "coateddiffuse" : "diffuse");
        if (look->coat > 0.0f) {
            wadi_out_printf(out, " \"float roughness\" [%.3g]",
                            (double)(look->coat_roughness * look->coat_roughness));
        }
        put_rgb(out, "reflectance", look->colour);
        break;
    }
    wadi_out_text(out, "\n");
}

static void put_part_looks(WadiExportOut *out, const WadiExportFrame *frame, const WadiFrameScenePart *part)
{
    const WadiLook *look = &frame->frame_scene->looks[part->mesh_look];
    float wetness = (float)frame->scene->materials[part->material].look.wetness;
    wadi_out_text(out, "MakeNamedMaterial ");
    put_name(out, frame, part->material, "");
    put_named(out, look, wetness);
    if (look->kind == WADI_LOOK_WATER) {
        wadi_out_text(out, "MakeNamedMedium ");
        put_name(out, frame, part->material, " inside");
        wadi_out_text(out, " \"string type\" \"homogeneous\"");
        put_rgb(out, "sigma_a", look->absorption);
        wadi_out_text(out, " \"rgb sigma_s\" [0 0 0]\n");
    }
    if (part->style == WADI_STYLE_BALLS) {
        wadi_out_text(out, "MakeNamedMaterial ");
        put_name(out, frame, part->material, " balls");
        put_named(out, &frame->frame_scene->looks[part->look], wetness);
    }
}

WadiStatus wadi_export_pbrt_shared(const WadiExportFrame *frame, const char *path, WadiError *error)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_export_shared_comments(&out, frame, "# ", "what all frames share");
    for (int p = 0; p < frame_scene->part_count; ++p) {
        put_part_looks(&out, frame, &frame_scene->parts[p]);
    }
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        WadiLook look = frame_scene->looks[frame_scene->solids[s].look];
        if (look.texture != WADI_LOOK_TEXTURE_NONE) { /* pbrt has no colours of vertices: the mean of both */
            look.colour = wadi_lerpf(look.colour, look.second_colour, 0.5f);
        }
        wadi_out_printf(&out, "MakeNamedMaterial \"wadi solid %d\"", s);
        put_named(&out, &look, 0.0f);
    }
    wadi_export_end(&out, frame, "# ");
    return wadi_out_close(&out);
}

/* pbrt is left-handed: the reflection before LookAt corrects the picture. Its field of view is that of the
 * shorter side. */
static void put_options(WadiExportOut *out, const WadiExportFrame *frame, const WadiExportCamera *axes)
{
    const WadiRenderSettings *render = &frame->scene->render;
    double aspect = (double)render->width / render->height, half = axes->half_height * fmin(aspect, 1.0);
    wadi_out_text(out, "Scale -1 1 1\nLookAt ");
    put_vector(out, frame, frame->camera.eye, 9);
    wadi_out_text(out, "  ");
    put_vector(out, frame, wadi_add(frame->camera.eye, axes->forward), 9);
    wadi_out_text(out, "  ");
    put_vector(out, frame, axes->up, 9);
    wadi_out_printf(out, "\nCamera \"perspective\" \"float fov\" [%.9g]", 2.0 * atan(half) / RADIANS);
    if (frame->camera.lens_radius > 0.0) {
        wadi_out_printf(out, " \"float lensradius\" [%.9g] \"float focaldistance\" [%.9g]",
                        frame->camera.lens_radius, axes->focus);
    }
    wadi_out_printf(
        out,
        "\nFilm \"rgb\" \"integer xresolution\" [%d] \"integer yresolution\" [%d] \"string filename\" "
        "\"%.200s.%04d.exr\"\n",
        render->width, render->height, frame->name, frame->frame);
    wadi_out_text(out, "Sampler \"zsobol\" \"integer pixelsamples\" [128]\n"
                       "Integrator \"volpath\" \"integer maxdepth\" [24]\nWorldBegin\n");
}

static WadiStatus put_lights(WadiExportOut *out, const WadiExportFrame *frame, const char *sky,
                             WadiError *error)
{
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    double gain = exp2(frame->exposure);
    WADI_TRY(wadi_export_dome(&frame->light, dome, &sun, error));
    wadi_out_text(out, "AttributeBegin\n");
    if (frame->is_y_up) {
        wadi_out_text(out, "  Rotate -90 1 0 0\n");
    }
    wadi_out_printf(out, "  LightSource \"infinite\" \"string filename\" \"%.300s\" \"float scale\" [%.6g]\n",
                    sky, gain);
    wadi_out_text(out, "AttributeEnd\n");
    if (wadi_largestf(sun) > 0.0f) {
        wadi_out_text(out, "LightSource \"distant\" \"point3 from\" [");
        put_vector(out, frame, wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1)), 9);
        wadi_out_text(out, "] \"point3 to\" [0 0 0]");
        /* A colour of luminance 1, so that pbrt's scaling of the spectrum of L has no effect. */
        put_rgb(out, "L", wadi_scalef(sun, 1.0f / wadi_luminance(sun)));
        wadi_out_printf(out, " \"float scale\" [%.6g]\n", gain * (double)wadi_luminance(sun));
    }
    return WADI_OK;
}

static void put_ground(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiTraceGround *ground = &frame->frame_scene->ground;
    if (!ground->is_present) {
        return;
    }
    /* Large enough for its edge to be the horizon. */
    WadiVec3 middle = frame->camera.eye;
    double size = 1e3 * fmax(1.0, wadi_norm(wadi_sub(frame->camera.eye, frame->camera.target)));
    wadi_out_text(out, "AttributeBegin\n");
    if (ground->look.texture == WADI_LOOK_TEXTURE_CHECKER) {
        double repeat = size / (double)ground->look.texture_size; /* one square per unit of pbrt's pattern */
        wadi_out_text(out, "  Texture \"wadi ground\" \"spectrum\" \"checkerboard\"");
        wadi_out_printf(out, " \"float uscale\" [%.9g] \"float vscale\" [%.9g]", 2.0 * repeat, 2.0 * repeat);
        put_rgb(out, "tex1", ground->look.colour);
        put_rgb(out, "tex2", ground->look.second_colour);
        wadi_out_text(out, "\n  Material \"diffuse\" \"texture reflectance\" \"wadi ground\"\n");
    } else {
        wadi_out_text(out, "  Material \"diffuse\"");
        put_rgb(out, "reflectance", ground->look.colour);
        wadi_out_text(out, "\n");
    }
    wadi_out_text(out, "  Shape \"bilinearmesh\" \"point3 P\" [");
    for (int k = 0; k < 4; ++k) {
        WadiVec3 corner =
            wadi_vec3(middle.x + (k & 1 ? size : -size), middle.y + (k & 2 ? size : -size), ground->height);
        wadi_out_text(out, k > 0 ? "  " : "");
        put_vector(out, frame, corner, 9);
    }
    wadi_out_text(out, "]\nAttributeEnd\n");
}

static WadiStatus put_mesh(WadiExportOut *out, const WadiExportFrame *frame, const WadiFrameScenePart *part,
                           const char *folder, WadiError *error)
{
    const char *name = frame->scene->materials[part->material].name;
    char file[700], path[WADI_PATH_SIZE];
    if (part->mesh.mesh.triangle_count == 0) {
        return WADI_OK;
    }
    snprintf(file, sizeof file, "%.200s.%.200s.%04d.ply", frame->name, name, frame->frame);
    snprintf(path, sizeof path, "%.3300s/%s", folder, file);
    WADI_TRY(wadi_export_ply_mesh(frame, path, &part->mesh, error));
    wadi_out_text(out, "AttributeBegin\n  NamedMaterial ");
    put_name(out, frame, part->material, "");
    if (frame->frame_scene->looks[part->mesh_look].kind == WADI_LOOK_WATER) {
        wadi_out_text(out, "\n  MediumInterface ");
        put_name(out, frame, part->material, " inside");
        wadi_out_text(out, " \"\"");
    }
    wadi_out_printf(out, "\n  Shape \"plymesh\" \"string filename\" \"%s\"\nAttributeEnd\n", file);
    return WADI_OK;
}

static void put_translation(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 to, int decimals)
{
    wadi_out_text(out, "Transform [1 0 0 0 0 1 0 0 0 0 1 0 ");
    put_vector(out, frame, wadi_add(frame->frame_scene->origin, to), decimals);
    wadi_out_text(out, " 1] ");
}

/* A motion, in the axes of the file, as the columns of a matrix. */
static void put_affine(WadiExportOut *out, const WadiExportFrame *frame, const WadiAffine *map)
{
    static const WadiVec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const WadiVec3 origin = wadi_vec3(0, 0, 0);
    wadi_out_text(out, "Transform [");
    for (int column = 0; column < 3; ++column) {
        /* the direction of wadi's axes that is this one of the file */
        const WadiVec3 u =
            frame->is_y_up ? wadi_vec3(unit[column].x, -unit[column].z, unit[column].y) : unit[column];
        put_vector(out, frame, wadi_affine_vector(map, u), 9);
        wadi_out_text(out, " 0 ");
    }
    put_vector(out, frame, wadi_affine_point(map, origin), 9);
    wadi_out_text(out, " 1]\n");
}

/* A sphere at the opening and at the closing of the shutter, between which pbrt sweeps it: the transforms of
 * its two times, 0 and 1, which are also those of its camera. `is_swept` keeps whether the one before was. */
static void put_sphere(WadiExportOut *out, const WadiExportFrame *frame, const WadiGrains *grains,
                       uint32_t grain, int decimals, bool *is_swept)
{
    const float *s = grains->sphere[grain];
    const WadiVec3 at = wadi_vec3((double)s[0], (double)s[1], (double)s[2]);
    const double half = 0.5 * frame->scene->render.shutter / frame->fps; /* s */
    WadiVec3 way = { 0 };
    if (grains->velocity != NULL) {
        const float *v = grains->velocity[grain];
        way = wadi_scale(wadi_vec3((double)v[0], (double)v[1], (double)v[2]), half);
    }
    const bool moves = wadi_is_finite(way) && wadi_norm(way) > pow(10.0, -decimals);
    if (moves) {
        wadi_out_text(out, "ActiveTransform StartTime ");
        put_translation(out, frame, wadi_sub(at, way), decimals);
        wadi_out_text(out, "ActiveTransform EndTime ");
        put_translation(out, frame, wadi_add(at, way), decimals);
    } else {
        wadi_out_text(out, *is_swept ? "ActiveTransform All " : "");
        put_translation(out, frame, at, decimals);
    }
    *is_swept = moves;
    wadi_out_text(out, "Shape \"sphere\" \"float radius\" [");
    wadi_out_number(out, (double)s[3], decimals);
    wadi_out_text(out, "]\n");
}

/* A transform per grain: pbrt's spheres are centred on the origin. `Transform` replaces the previous one,
 * which is shorter than an attribute block. `balls` is the material whose balls they are; < 0: each has its
 * own colour. */
static WadiStatus put_grains(WadiExportOut *out, const WadiExportFrame *frame, const WadiGrains *grains,
                             int balls, WadiArena *arena, WadiError *error)
{
    WadiGrainGroups groups;
    WADI_TRY(wadi_grain_groups_make(&groups, grains, arena, error));
    for (size_t g = 0; g < groups.count; ++g) {
        const WadiGrainGroup *group = &groups.group[g];
        int decimals = wadi_out_decimals(2e-3 * (double)grains->sphere[groups.order[group->first]][3]);
        bool is_swept = false;
        wadi_out_text(out, "AttributeBegin\n");
        if (balls < 0) {
            wadi_out_printf(out, "Material %s", sand_type(group->wetness));
            put_sand(out, group->colour, group->wetness);
            wadi_out_text(out, "\n");
        } else {
            wadi_out_text(out, "NamedMaterial ");
            put_name(out, frame, balls, " balls");
            wadi_out_text(out, "\n");
        }
        for (size_t i = 0; i < group->count; ++i) {
            put_sphere(out, frame, grains, groups.order[group->first + i], decimals, &is_swept);
        }
        wadi_out_text(out, "AttributeEnd\n");
    }
    return WADI_OK;
}

static WadiStatus put_solid(WadiExportOut *out, const WadiExportFrame *frame, int index, const char *folder,
                            WadiError *error)
{
    const WadiFrameSceneSolid *solid = &frame->frame_scene->solids[index];
    char stem[WADI_EXPORT_FILE_SIZE], file[WADI_EXPORT_FILE_SIZE], path[WADI_PATH_SIZE];
    if (solid->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    snprintf(stem, sizeof stem, "%.180s.solid.%d", frame->name, index);
    wadi_export_solid_file(frame, solid, stem, ".ply", file);
    snprintf(path, sizeof path, "%.3700s/%s", folder, file);
    WadiSurfaceMesh mesh = { .mesh = solid->mesh };
    WADI_TRY(wadi_export_ply_solid(frame, path, solid, &mesh, error));
    if (solid->is_rigid) {
        wadi_out_text(out, "AttributeBegin\nActiveTransform StartTime ");
        put_affine(out, frame, &solid->opening);
        wadi_out_text(out, "ActiveTransform EndTime ");
        put_affine(out, frame, &solid->closing);
    }
    wadi_out_printf(out, "NamedMaterial \"wadi solid %d\"\nShape \"plymesh\" \"string filename\" \"%s\"\n",
                    index, file);
    wadi_out_text(out, solid->is_rigid ? "AttributeEnd\n" : "");
    return WADI_OK;
}

static WadiStatus put_world(WadiExportOut *out, const WadiExportFrame *frame, const char *folder,
                            const char *sky, WadiArena *arena, WadiError *error)
{
    WADI_TRY(put_lights(out, frame, sky, error));
    put_ground(out, frame);
    for (int p = 0; p < frame->frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame->frame_scene->parts[p];
        WADI_TRY(put_mesh(out, frame, part, folder, error));
        WadiArenaMark mark = wadi_arena_mark(arena);
        const bool is_sand = frame->frame_scene->looks[part->look].kind == WADI_LOOK_SAND;
        WadiStatus status = part->grains.count > 0 ? put_grains(out, frame, &part->grains,
                                                                is_sand ? -1 : part->material, arena, error)
                                                   : WADI_OK;
        wadi_arena_release(arena, mark);
        WADI_TRY(status);
    }
    WadiGrains foam;
    WADI_TRY(wadi_export_foam(frame->frame_scene, &foam, arena, error));
    WADI_TRY(put_grains(out, frame, &foam, -1, arena, error));
    for (int s = 0; s < frame->frame_scene->solid_count; ++s) {
        WADI_TRY(put_solid(out, frame, s, folder, error));
    }
    return WADI_OK;
}

WadiStatus wadi_export_pbrt_frame(const WadiExportFrame *frame, const char *folder, const char *path,
                                  const char *shared, const char *sky, WadiArena *arena, WadiError *error)
{
    WadiExportCamera camera;
    if (!wadi_export_camera(&frame->camera, &camera)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the camera looks nowhere: see render.camera");
    }
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_export_comments(&out, frame, "# ");
    put_options(&out, frame, &camera);
    wadi_out_printf(&out, "Include \"%.300s\"\n", shared);
    WadiStatus status = put_world(&out, frame, folder, sky, arena, error);
    out.status = out.status == WADI_OK ? status : out.status;
    return wadi_out_close(&out);
}
