#include "export/export_blender.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "export/export_ply.h"
#include "wadi/base.h"

static void put_numbers(WadiText *text, const double *values, int count)
{
    wadi_text_append(text, "[");
    for (int i = 0; i < count; ++i) {
        wadi_text_append(text, i > 0 ? ", " : "");
        wadi_text_append_number(text, values[i]);
    }
    wadi_text_append(text, "]");
}

static void put_vector(WadiText *text, const WadiExportFrame *frame, WadiVec3 a)
{
    WadiVec3 b = wadi_export_axes(frame, a);
    put_numbers(text, (const double[3]){ b.x, b.y, b.z }, 3);
}

static void put_rgb(WadiText *text, WadiRgb c)
{
    put_numbers(text, (const double[3]){ (double)c.x, (double)c.y, (double)c.z }, 3);
}

static void put_key(WadiText *text, const char *key)
{
    wadi_text_append(text, ",\n  ");
    wadi_text_append_json(text, key);
    wadi_text_append(text, ": ");
}

static void put_head(WadiText *text, const WadiExportFrame *frame)
{
    wadi_text_printf(text, "{\n  \"key\": \"wadi_key %016llx\"", (unsigned long long)frame->key);
    put_key(text, "wadi");
    wadi_text_append_json(text, wadi_version());
    put_key(text, "name");
    wadi_text_append_json(text, frame->name);
}

static WadiStatus write_text(WadiText *text, const char *path, WadiError *error)
{
    WadiStatus status = wadi_text_status(text, error);
    if (status == WADI_OK) {
        status = wadi_file_write(path, text->data, text->length, error);
    }
    wadi_text_free(text);
    return status;
}

static void put_grains(WadiText *text, const WadiMaterial *material)
{
    WadiGrainDef grains = wadi_frame_scene_grains(&material->look);
    wadi_text_printf(text, ", \"grains\": %d, \"fill\": ", grains.per_particle);
    wadi_text_append_number(text, grains.fill);
    wadi_text_append(text, ", \"size_variation\": ");
    wadi_text_append_number(text, grains.size_variation);
    wadi_text_append(text, ", \"variation\": ");
    wadi_text_append_number(text, (double)grains.palette.variation);
    wadi_text_append(text, ", \"wetness\": ");
    wadi_text_append_number(text, (double)grains.wetness);
    wadi_text_append(text, ",\n     \"palette\": [");
    bool is_first = true;
    for (int c = 0; c < WADI_GRAIN_COLOURS; ++c) {
        const uint8_t *b = grains.palette.colour[c];
        if (grains.palette.fraction[c] > 0.0f) {
            WadiRgb rgb = wadi_srgb(b[0], b[1], b[2]);
            wadi_text_append(text, is_first ? "" : ", ");
            put_numbers(text,
                        (const double[4]){ (double)rgb.x, (double)rgb.y, (double)rgb.z,
                                           (double)grains.palette.fraction[c] },
                        4);
            is_first = false;
        }
    }
    wadi_text_append(text, "]");
}

static void put_look(WadiText *text, const WadiLook *look)
{
    static const char *const kinds[] = { "plain", "sand", "water", "glass" };
    wadi_text_printf(text, "\"look\": \"%s\", \"colour\": ", kinds[look->kind]);
    put_rgb(text, look->colour);
    wadi_text_append(text, ", \"ior\": ");
    wadi_text_append_number(text, (double)look->index);
    wadi_text_append(text, ", \"absorption\": ");
    put_rgb(text, look->absorption);
}

static void put_materials(WadiText *text, const WadiExportFrame *frame)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    put_key(text, "materials");
    wadi_text_append(text, "[");
    for (int p = 0; p < frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame_scene->parts[p];
        const WadiMaterial *material = &frame->scene->materials[part->material];
        wadi_text_append(text, p > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        wadi_text_append_json(text, material->name);
        wadi_text_append(text, ", ");
        put_look(text, &frame_scene->looks[part->style == WADI_STYLE_BALLS ? part->look : part->mesh_look]);
        if (part->style == WADI_STYLE_GRAINS) {
            put_grains(text, material);
        }
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "]");
}

WadiStatus wadi_export_blender_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                      int last_frame, WadiError *error)
{
    const WadiRenderSettings *render = &frame->scene->render;
    const WadiTraceGround *ground = &frame->frame_scene->ground;
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    WADI_TRY(wadi_export_dome(&frame->light, dome, &sun, error));
    WadiText text = { 0 };
    put_head(&text, frame);
    wadi_text_printf(&text, ",\n  \"up\": \"%c\",\n  \"last_frame\": %d,\n  \"size\": [%d, %d]",
                     frame->is_y_up ? 'y' : 'z', last_frame, render->width, render->height);
    put_key(&text, "fps");
    wadi_text_append_number(&text, frame->fps);
    put_key(&text, "exposure");
    wadi_text_append_number(&text, frame->exposure);
    put_key(&text, "shutter");
    wadi_text_append_number(&text, render->shutter);
    put_key(&text, "sky");
    wadi_text_append_json(&text, sky);
    put_key(&text, "sun");
    wadi_text_append(&text, "{\"towards\": ");
    put_vector(&text, frame, wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1)));
    wadi_text_append(&text, ", \"irradiance\": ");
    put_rgb(&text, sun);
    wadi_text_append(&text, ", \"angle\": ");
    wadi_text_append_number(&text, frame->light.sun_angle);
    wadi_text_append(&text, "}");
    put_key(&text, "ground");
    if (ground->is_present) {
        wadi_text_append(&text, "{\"height\": ");
        wadi_text_append_number(&text, ground->height);
        wadi_text_append(&text, ", \"colour\": ");
        put_rgb(&text, ground->look.colour);
        wadi_text_append(&text, ", \"checker\": ");
        wadi_text_append_number(&text, ground->look.texture == WADI_LOOK_TEXTURE_CHECKER
                                           ? (double)ground->look.texture_size
                                           : 0.0);
        wadi_text_append(&text, ", \"checker_colour\": ");
        put_rgb(&text, ground->look.second_colour);
        wadi_text_append(&text, "}");
    } else {
        wadi_text_append(&text, "null");
    }
    WadiVec3 c = render->collider_colour;
    put_key(&text, "collider");
    put_rgb(&text, wadi_vec3f(wadi_srgb_decode((float)c.x), wadi_srgb_decode((float)c.y),
                              wadi_srgb_decode((float)c.z)));
    put_materials(&text, frame);
    wadi_text_append(&text, "\n}\n");
    return write_text(&text, path, error);
}

static void put_camera(WadiText *text, const WadiExportFrame *frame, const WadiExportCamera *axes)
{
    put_key(text, "camera");
    wadi_text_append(text, "{\"eye\": ");
    put_vector(text, frame, frame->camera.eye);
    wadi_text_append(text, ", \"right\": ");
    put_vector(text, frame, axes->right);
    wadi_text_append(text, ", \"up\": ");
    put_vector(text, frame, axes->up);
    wadi_text_append(text, ", \"forward\": ");
    put_vector(text, frame, axes->forward);
    wadi_text_append(text, ", \"view_angle\": ");
    wadi_text_append_number(text, frame->camera.view_angle);
    wadi_text_append(text, ", \"lens_radius\": ");
    wadi_text_append_number(text, frame->camera.lens_radius);
    wadi_text_append(text, ", \"focus\": ");
    wadi_text_append_number(text, axes->focus);
    wadi_text_append(text, "}");
}

/* Writes one entry of the list of objects, and its `file`. */
static void put_object(WadiText *text, const char *name, const char *kind, const char *look, const char *file,
                       bool *is_first)
{
    const char *const members[4][2] = {
        { "name", name }, { "kind", kind }, { "look", look }, { "file", file }
    };
    wadi_text_append(text, *is_first ? "\n    {" : ",\n    {");
    for (int m = 0; m < 4; ++m) {
        wadi_text_printf(text, "%s\"%s\": ", m > 0 ? ", " : "", members[m][0]);
        wadi_text_append_json(text, members[m][1]);
    }
    wadi_text_append(text, "}");
    *is_first = false;
}

static WadiStatus write_particles(const WadiExportFrame *frame, const char *path, const WadiState *state,
                                  int material, WadiError *error)
{
    WadiCloud cloud;
    WADI_TRY(wadi_cloud_from_frame(&cloud, state, material, 0.0, error));
    WadiStatus status = wadi_export_ply_particles(frame, path, &cloud, material, error);
    wadi_cloud_free(&cloud);
    return status;
}

static WadiStatus put_part(WadiText *text, const WadiExportFrame *frame, const WadiFrameScenePart *part,
                           const char *folder, const WadiState *state, bool *is_first, WadiError *error)
{
    const char *name = frame->scene->materials[part->material].name;
    char file[300], path[WADI_PATH_SIZE];
    bool is_balls = part->style == WADI_STYLE_BALLS;
    if (part->style == WADI_STYLE_HIDDEN) {
        return WADI_OK;
    }
    if (is_balls || part->style == WADI_STYLE_GRAINS) {
        snprintf(file, sizeof file, "%.200s.particles.%04d.ply", name, frame->frame);
        snprintf(path, sizeof path, "%.3700s/%s", folder, file);
        WADI_TRY(write_particles(frame, path, state, part->material, error));
        put_object(text, name, is_balls ? "balls" : "grains", name, file, is_first);
    }
    if (part->mesh.mesh.triangle_count > 0) {
        snprintf(file, sizeof file, "%.200s.%04d.ply", name, frame->frame);
        snprintf(path, sizeof path, "%.3700s/%s", folder, file);
        WADI_TRY(wadi_export_ply_mesh(frame, path, &part->mesh, error));
        put_object(text, name, "mesh", name, file, is_first);
    }
    return WADI_OK;
}

static WadiStatus put_solid(WadiText *text, const WadiExportFrame *frame, int index, const char *folder,
                            bool *is_first, WadiError *error)
{
    const WadiFrameSceneSolid *solid = &frame->frame_scene->solids[index];
    bool is_glass = frame->frame_scene->looks[solid->look].kind == WADI_LOOK_GLASS;
    char name[64], file[300], path[WADI_PATH_SIZE];
    if (solid->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    snprintf(name, sizeof name, "%s.%d", is_glass ? "wall" : "collider", index);
    snprintf(file, sizeof file, "%s.%04d.ply", name, frame->frame);
    snprintf(path, sizeof path, "%.3700s/%s", folder, file);
    WadiSurfaceMesh mesh = { .mesh = solid->mesh };
    WADI_TRY(wadi_export_ply_mesh(frame, path, &mesh, error));
    put_object(text, name, "solid", is_glass ? "glass" : "collider", file, is_first);
    return WADI_OK;
}

static WadiStatus put_objects(WadiText *text, const WadiExportFrame *frame, const char *folder,
                              const WadiState *state, WadiError *error)
{
    bool is_first = true;
    put_key(text, "objects");
    wadi_text_append(text, "[");
    for (int p = 0; p < frame->frame_scene->part_count; ++p) {
        WADI_TRY(put_part(text, frame, &frame->frame_scene->parts[p], folder, state, &is_first, error));
    }
    for (int s = 0; s < frame->frame_scene->solid_count; ++s) {
        WADI_TRY(put_solid(text, frame, s, folder, &is_first, error));
    }
    wadi_text_append(text, "]\n}\n");
    return WADI_OK;
}

WadiStatus wadi_export_blender_frame(const WadiExportFrame *frame, const char *folder, const WadiState *state,
                                     const char *path, WadiError *error)
{
    WadiExportCamera camera;
    if (!wadi_export_camera(&frame->camera, &camera)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the camera looks nowhere: see render.camera");
    }
    WadiText text = { 0 };
    put_head(&text, frame);
    wadi_text_printf(&text, ",\n  \"frame\": %d", frame->frame);
    put_key(&text, "time");
    wadi_text_append_number(&text, frame->time);
    put_camera(&text, frame, &camera);
    WadiStatus status = put_objects(&text, frame, folder, state, error);
    if (status != WADI_OK) {
        wadi_text_free(&text);
        return status;
    }
    return write_text(&text, path, error);
}
