#include "export/export_blender.h"

#include <stdio.h>
#include <string.h>

#include "core/random.h"
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

/* Size and colours of the grains that the surface of sand shows. */
static void put_grains(WadiText *text, const WadiExportFrame *frame, const WadiMaterial *material,
                       const WadiLook *look)
{
    double contrast, size = wadi_export_grain_size(frame, look, &contrast);
    wadi_text_append(text, ", \"grain_size\": ");
    wadi_text_append_number(text, size);
    wadi_text_append(text, ", \"contrast\": ");
    wadi_text_append_number(text, contrast);
    wadi_text_append(text, ", \"variation\": ");
    wadi_text_append_number(text, (double)look->variation);
    wadi_text_append(text, ", \"wetness\": ");
    wadi_text_append_number(text, material->look.wetness);
    wadi_text_append(text, ",\n     \"palette\": [");
    bool is_first = true;
    for (int m = 0; m < WADI_LOOK_MINERALS; ++m) {
        WadiRgb rgb = look->mineral[m];
        if (look->fraction[m] > 0.0f) {
            wadi_text_append(text, is_first ? "" : ", ");
            put_numbers(
                text,
                (const double[4]){ (double)rgb.x, (double)rgb.y, (double)rgb.z, (double)look->fraction[m] },
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
    wadi_text_append(text, ", \"roughness\": ");
    wadi_text_append_number(text, (double)look->coat_roughness);
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
            put_grains(text, frame, material, &frame_scene->looks[part->mesh_look]);
        }
        wadi_text_append(text, "}");
    }
    wadi_text_append(text, "]");
}

/* The looks of colliders and walls, by the names of their objects. */
static void put_solid_looks(WadiText *text, const WadiExportFrame *frame)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    put_key(text, "solids");
    wadi_text_append(text, "{");
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        const WadiFrameSceneSolid *solid = &frame_scene->solids[s];
        wadi_text_printf(text, "%s\n    \"solid.%d\": {", s > 0 ? "," : "", s);
        put_look(text, &frame_scene->looks[solid->look]);
        wadi_text_printf(text, ", \"has_pattern\": %s}", solid->texture != NULL ? "true" : "false");
    }
    wadi_text_append(text, "}");
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
        wadi_text_printf(&text, ", \"is_sand\": %s, \"checker\": ",
                         ground->look.kind == WADI_LOOK_SAND ? "true" : "false");
        wadi_text_append_number(&text, ground->look.texture == WADI_LOOK_TEXTURE_CHECKER
                                           ? (double)ground->look.texture_size
                                           : 0.0);
        wadi_text_append(&text, ", \"slabs\": ");
        wadi_text_append_number(
            &text, ground->look.texture == WADI_LOOK_TEXTURE_SLABS ? (double)ground->look.texture_size : 0.0);
        wadi_text_append(&text, ", \"checker_colour\": ");
        put_rgb(&text, ground->look.second_colour);
        wadi_text_append(&text, "}");
    } else {
        wadi_text_append(&text, "null");
    }
    put_solid_looks(&text, frame);
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

static WadiStatus write_grains(const WadiExportFrame *frame, const char *path, const WadiGrains *grains,
                               int material, WadiArena *arena, WadiError *error)
{
    WadiCloud cloud;
    WADI_TRY(wadi_export_grain_cloud(frame, grains, &cloud, arena, error));
    return wadi_export_ply_particles(frame, path, &cloud, material, error);
}

/* State of writing the objects of a frame. */
typedef struct Objects {
    WadiText *text;
    const WadiExportFrame *frame;
    const char *folder;
    WadiArena *arena;
    bool is_first;
} Objects;

/* The file of an object, "NAME.0001.ply", and its path. */
static void name_file(const Objects *o, const char *name, char file[300], char path[WADI_PATH_SIZE])
{
    snprintf(file, 300, "%.200s.%04d.ply", name, o->frame->frame);
    snprintf(path, WADI_PATH_SIZE, "%.3700s/%s", o->folder, file);
}

static WadiStatus put_points(Objects *o, const char *name, const char *kind, const char *look,
                             const WadiGrains *grains, int material, WadiError *error)
{
    char with_kind[300], file[300], path[WADI_PATH_SIZE];
    if (grains->count == 0) {
        return WADI_OK;
    }
    snprintf(with_kind, sizeof with_kind, "%.200s.grains", name);
    name_file(o, with_kind, file, path);
    WadiArenaMark mark = wadi_arena_mark(o->arena);
    WadiStatus status = write_grains(o->frame, path, grains, material, o->arena, error);
    wadi_arena_release(o->arena, mark);
    put_object(o->text, name, kind, look, file, &o->is_first);
    return status;
}

/* Grains are cells of a pattern about the particle next to a vertex: `grain_origin` is that particle, moved
 * by a hash, so that grains move with it and no two particles have the same. */
static WadiStatus add_grain_origins(const Objects *o, const WadiFrameScenePart *part, WadiSurfaceMesh *mesh,
                                    WadiError *error)
{
    const WadiSandOwners *owners = &part->owners;
    const WadiFrameScene *frame_scene = o->frame->frame_scene;
    if (owners->owner == NULL || mesh->attribute_count >= WADI_CLOUD_ATTRIBUTE_MAX) {
        return WADI_OK;
    }
    const double range = 500.0 * (double)frame_scene->looks[part->mesh_look].grain_size;
    float(*origin)[3];
    WADI_TRY(WADI_ARENA_NEW(o->arena, &origin, mesh->mesh.vertex_count, "origins of grains", error));
    for (size_t v = 0; v < mesh->mesh.vertex_count; ++v) {
        const uint32_t nearest = owners->owner[v][0];
        const bool has_owner = nearest != UINT32_MAX;
        double u[3];
        wadi_random_unit3(0, has_owner ? owners->anchor_hash[nearest] : 0, WADI_RANDOM_GRAIN, u);
        const double middle[3] = { frame_scene->origin.x, frame_scene->origin.y, frame_scene->origin.z };
        for (int axis = 0; axis < 3; ++axis) {
            const double at = has_owner ? (double)owners->anchor[nearest][axis] : 0.0;
            origin[v][axis] = (float)(middle[axis] + at + range * u[axis]);
        }
    }
    mesh->attribute[mesh->attribute_count++] = (WadiCloudAttribute){ "grain_origin", 3, (float *)origin };
    return WADI_OK;
}

static WadiStatus put_part(Objects *o, const WadiFrameScenePart *part, const WadiState *state,
                           WadiError *error)
{
    const char *name = o->frame->scene->materials[part->material].name;
    char with_kind[300], file[300], path[WADI_PATH_SIZE];
    if (part->style == WADI_STYLE_HIDDEN) {
        return WADI_OK;
    }
    if (part->style == WADI_STYLE_BALLS || part->style == WADI_STYLE_GRAINS) {
        snprintf(with_kind, sizeof with_kind, "%.200s.particles", name);
        name_file(o, with_kind, file, path);
        WADI_TRY(write_particles(o->frame, path, state, part->material, error));
        put_object(o->text, name, part->style == WADI_STYLE_BALLS ? "balls" : "particles", name, file,
                   &o->is_first);
    }
    if (part->style == WADI_STYLE_GRAINS) {
        WADI_TRY(put_points(o, name, "grains", name, &part->grains, part->material, error));
    }
    if (part->mesh.mesh.triangle_count > 0) {
        name_file(o, name, file, path);
        WadiSurfaceMesh mesh = part->mesh; /* borrows its arrays */
        WADI_TRY(add_grain_origins(o, part, &mesh, error));
        WADI_TRY(wadi_export_ply_mesh(o->frame, path, &mesh, error));
        put_object(o->text, name, "mesh", name, file, &o->is_first);
    }
    return WADI_OK;
}

static WadiStatus put_foam(Objects *o, WadiError *error)
{
    WadiGrains foam;
    WADI_TRY(wadi_export_foam(o->frame->frame_scene, &foam, o->arena, error));
    return put_points(o, "foam", "foam", "foam", &foam, 0, error);
}

static WadiStatus put_solid(Objects *o, int index, WadiError *error)
{
    const WadiFrameSceneSolid *solid = &o->frame->frame_scene->solids[index];
    char name[64], file[WADI_EXPORT_FILE_SIZE], path[WADI_PATH_SIZE];
    if (solid->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    snprintf(name, sizeof name, "solid.%d", index);
    wadi_export_solid_file(o->frame, solid, name, ".ply", file);
    snprintf(path, sizeof path, "%.3700s/%s", o->folder, file);
    WadiSurfaceMesh mesh = { .mesh = solid->mesh };
    WadiRgb *colours;
    WADI_TRY(wadi_export_solid_colours(o->frame->frame_scene, solid, &colours, o->arena, error));
    if (colours != NULL) {
        mesh.attribute_count = 1;
        mesh.attribute[0] = (WadiCloudAttribute){ "colour", 3, (float *)colours };
    }
    WADI_TRY(wadi_export_ply_solid(o->frame, path, solid, &mesh, error));
    put_object(o->text, solid->name != NULL && solid->name[0] != '\0' ? solid->name : name, "solid", name,
               file, &o->is_first);
    return WADI_OK;
}

static WadiStatus put_objects(WadiText *text, const WadiExportFrame *frame, const char *folder,
                              const WadiState *state, WadiArena *arena, WadiError *error)
{
    Objects o = { .text = text, .frame = frame, .folder = folder, .arena = arena, .is_first = true };
    put_key(text, "objects");
    wadi_text_append(text, "[");
    for (int p = 0; p < frame->frame_scene->part_count; ++p) {
        WADI_TRY(put_part(&o, &frame->frame_scene->parts[p], state, error));
    }
    WADI_TRY(put_foam(&o, error));
    for (int s = 0; s < frame->frame_scene->solid_count; ++s) {
        WADI_TRY(put_solid(&o, s, error));
    }
    wadi_text_append(text, "]\n}\n");
    return WADI_OK;
}

WadiStatus wadi_export_blender_frame(const WadiExportFrame *frame, const char *folder, const WadiState *state,
                                     const char *path, WadiArena *arena, WadiError *error)
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
    WadiStatus status = put_objects(&text, frame, folder, state, arena, error);
    if (status != WADI_OK) {
        wadi_text_free(&text);
        return status;
    }
    return write_text(&text, path, error);
}
