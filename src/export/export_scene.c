#include "export/export_scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "io/files/files.h"
#include "render/bed/grain_bed.h"
#include "render/trace/bsdf.h"
#include "wadi/base.h"

/* Radius of the ball that stands for a patch of foam, over that of the patch. */
static const float PATCH_BALL = 0.4f;

enum { CLASSES = 1 << 18, RINGS = 3, SECTORS = 4, SAMPLES = 8 };

void wadi_export_shared_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark,
                                 const char *what)
{
    wadi_out_printf(out, "%swadi %s: %.200s, %s\n", mark, wadi_version(), frame->name, what);
    wadi_out_printf(out, "%smetres, %c up; wadi_key %016" PRIx64 "\n", mark, frame->is_y_up ? 'y' : 'z',
                    frame->key);
}

void wadi_export_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark)
{
    char what[80] = "for several frames";
    if (frame->frame > 0) {
        snprintf(what, sizeof what, "frame %d, %.6f s", frame->frame, frame->time);
    }
    wadi_export_shared_comments(out, frame, mark, what);
}

bool wadi_export_is_made(const char *path, uint64_t key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "wadi_key %016" PRIx64, key);
    return wadi_file_head_has(path, wanted);
}

static bool has_name(const WadiFileNames *names, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < names->list.count; ++i) {
        if (strcmp(names->list.data[i], name) == 0) {
            return true;
        }
    }
    return false;
}

WadiStatus wadi_export_begin_file(const WadiExportFrame *frame, const char *path, WadiError *error)
{
    if (frame->outputs == NULL) {
        return WADI_OK;
    }
    if (has_name(frame->made, path)) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "two parts of the scene would be written to %s; the run's materials need other names", path);
    }
    WADI_TRY(wadi_output_index_claim(frame->outputs, path, error));
    return wadi_file_names_add(frame->made, path, error);
}

void wadi_export_solid_file(const WadiExportFrame *frame, const WadiFrameSceneSolid *solid, const char *stem,
                            const char *ending, char file[WADI_EXPORT_FILE_SIZE])
{
    char number[16] = "";
    if (solid->is_moving) {
        snprintf(number, sizeof number, ".%04d", frame->frame);
    }
    snprintf(file, WADI_EXPORT_FILE_SIZE, "%.200s%s%.16s", stem, number, ending);
}

/* Equal keys mean equal files of a solid. */
static uint64_t solid_key(const WadiExportFrame *frame, const WadiFrameSceneSolid *solid)
{
    const WadiMesh *mesh = &solid->mesh;
    uint64_t key =
        wadi_hash_bytes(frame->settings_key, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    key = wadi_hash_bytes(key, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    return solid->texture != NULL
               ? wadi_hash_bytes(key, solid->texture, mesh->vertex_count * sizeof *solid->texture)
               : key;
}

WadiStatus wadi_export_begin_solid(const WadiExportFrame *frame, const WadiFrameSceneSolid *solid,
                                   const char *path, WadiExportSolid *file, bool *is_wanted, WadiError *error)
{
    *file = (WadiExportSolid){ .as = *frame };
    file->as.frame = 0;
    file->as.key = solid_key(frame, solid);
    file->as.made = &file->made;
    *is_wanted = true;
    if (frame->outputs == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_file_names_add(frame->made, path, error));
    if (has_name(frame->shared, path)) {
        *is_wanted = false;
        return WADI_OK;
    }
    *is_wanted = frame->is_forced || !wadi_output_index_has(frame->outputs, path, file->as.key, false);
    return wadi_file_names_add(frame->shared, path, error);
}

WadiStatus wadi_export_end_solid(WadiExportSolid *file, WadiStatus status, WadiError *error)
{
    if (status == WADI_OK && file->as.outputs != NULL) {
        status = wadi_output_index_add(file->as.outputs, &file->made, file->as.key, error);
    }
    wadi_file_names_free(&file->made);
    return status;
}

void wadi_export_end(WadiExportOut *out, const WadiExportFrame *frame, const char *mark)
{
    char words[WADI_OUTPUT_END_SIZE];
    wadi_output_end_line(frame->key, words);
    wadi_out_printf(out, "%s%s\n", mark, words);
}

bool wadi_export_camera(const WadiCamera *camera, WadiExportCamera *axes)
{
    WadiCameraFrame rough;
    if (!wadi_camera_frame(camera, camera->eye, 1.0, &rough)) {
        return false;
    }
    WadiVec3 side = wadi_vec3((double)rough.right.x, (double)rough.right.y, (double)rough.right.z);
    axes->forward = wadi_normalized_or(wadi_sub(camera->target, camera->eye), wadi_vec3(0, 1, 0));
    side = wadi_add_scaled(side, axes->forward, -wadi_dot(side, axes->forward));
    axes->right = wadi_normalized_or(side, wadi_vec3(1, 0, 0));
    axes->up = wadi_cross(axes->right, axes->forward);
    axes->half_height = tan(camera->view_angle * 0.00872664625997164788);
    axes->focus = (double)rough.focus;
    return true;
}

void wadi_export_close_gaps(WadiFrameScene *frame_scene)
{
    for (int p = 0; p < frame_scene->part_count && frame_scene->ground.is_present; ++p) {
        WadiSurfaceMesh *surface = &frame_scene->parts[p].mesh;
        bool is_water = frame_scene->looks[frame_scene->parts[p].mesh_look].kind == WADI_LOOK_WATER;
        double ground = frame_scene->ground.height;
        for (size_t v = 0; v < surface->mesh.vertex_count && is_water; ++v) {
            WadiVec3 *x = &surface->mesh.vertices[v];
            if (surface->normal[v][2] < -0.3f && fabs(x->z - ground) < surface->cell) {
                x->z = ground - 0.5 * surface->cell;
            }
        }
    }
}

static uint32_t class_of(WadiTraceColour c)
{
    return ((uint32_t)c.red >> 3) << 13 | ((uint32_t)c.green >> 3) << 8 | ((uint32_t)c.blue >> 3) << 3 |
           (uint32_t)c.wetness >> 5;
}

/* Representative value of a class of 8; the ends of the range are exact. */
static int middle(uint32_t top)
{
    return (int)(top * 255 / 31);
}

static WadiGrainGroup group_of(uint32_t class, size_t first, size_t count)
{
    return (WadiGrainGroup){ .colour = wadi_srgb(middle(class >> 13), middle(class >> 8 & 31),
                                                 middle(class >> 3 & 31)),
                             .wetness = (float)(class & 7) / 7.0f,
                             .first = first,
                             .count = count };
}

WadiStatus wadi_grain_groups_make(WadiGrainGroups *groups, const WadiGrains *grains, WadiArena *arena,
                                  WadiError *error)
{
    *groups = (WadiGrainGroups){ 0 };
    uint32_t *next = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &groups->order, grains->count, "order of grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &next, CLASSES, "classes of colours", error));
    memset(next, 0, CLASSES * sizeof *next);
    for (size_t g = 0; g < grains->count; ++g) {
        next[class_of(grains->colour[g])] += 1;
    }
    size_t used = 0;
    for (uint32_t c = 0; c < CLASSES; ++c) {
        used += next[c] > 0;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &groups->group, used, "groups of grains", error));
    uint32_t first = 0;
    for (uint32_t c = 0; c < CLASSES; ++c) {
        uint32_t count = next[c];
        if (count > 0) {
            groups->group[groups->count++] = group_of(c, first, count);
        }
        next[c] = first;
        first += count;
    }
    for (size_t g = 0; g < grains->count; ++g) {
        groups->order[next[class_of(grains->colour[g])]++] = (uint32_t)g;
    }
    return WADI_OK;
}

WadiStatus wadi_export_foam(const WadiFrameScene *frame_scene, WadiGrains *foam, WadiArena *arena,
                            WadiError *error)
{
    const WadiGrains *drops = &frame_scene->foam;
    const size_t count = drops->count + frame_scene->patch_count;
    *foam = (WadiGrains){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &foam->sphere, count, "foam", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &foam->colour, count, "foam", error));
    for (size_t i = 0; i < drops->count; ++i) {
        memcpy(foam->sphere[i], drops->sphere[i], sizeof foam->sphere[i]);
        foam->colour[i] = drops->colour[i];
    }
    for (size_t i = 0; i < frame_scene->patch_count; ++i) {
        const WadiFoamPatch *patch = &frame_scene->foam_patches[i];
        const float ball[4] = { patch->position.x, patch->position.y, patch->position.z,
                                PATCH_BALL * patch->radius };
        memcpy(foam->sphere[drops->count + i], ball, sizeof ball);
        foam->colour[drops->count + i] = (WadiTraceColour){ 245, 247, 248, 0 };
    }
    foam->count = count;
    return WADI_OK;
}

WadiStatus wadi_export_solid_colours(const WadiFrameScene *frame_scene, const WadiFrameSceneSolid *solid,
                                     WadiRgb **colours, WadiArena *arena, WadiError *error)
{
    *colours = NULL;
    if (solid->texture == NULL) {
        return WADI_OK;
    }
    const WadiLook *look = &frame_scene->looks[solid->look];
    WADI_TRY(WADI_ARENA_NEW(arena, colours, solid->mesh.vertex_count, "colours of a solid", error));
    for (size_t v = 0; v < solid->mesh.vertex_count; ++v) {
        const float *t = solid->texture[v];
        (*colours)[v] = wadi_look_colour(look, wadi_vec3((double)t[0], (double)t[1], (double)t[2]));
    }
    return WADI_OK;
}

double wadi_export_grain_size(const WadiExportFrame *frame, const WadiLook *look, double *contrast)
{
    const double distance = wadi_norm(wadi_sub(frame->camera.target, frame->camera.eye));
    const double pixel =
        2.0 * tan(frame->camera.view_angle * 0.00872664625997164788) * distance / frame->scene->render.height;
    const double grain = (double)look->grain_size, size = fmax(grain, pixel);
    *contrast = size > 0.0 ? grain / size : 0.0;
    return size;
}

WadiStatus wadi_export_grain_cloud(const WadiExportFrame *frame, const WadiGrains *grains, WadiCloud *made,
                                   WadiArena *arena, WadiError *error)
{
    const size_t count = grains->count;
    if (count > INT32_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%zu grains are too many for a file", count);
    }
    WadiCloud cloud = { .count = (int32_t)count, .spacing_min = INFINITY, .attribute_count = 2 };
    float *colour, *wetness;
    WADI_TRY(WADI_ARENA_NEW(arena, &cloud.position, count, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &cloud.spacing, count, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &cloud.id, count, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &colour, 3 * count, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &wetness, count, "grains", error));
    for (size_t i = 0; i < count; ++i) {
        const float *s = grains->sphere[i];
        const WadiTraceColour c = grains->colour[i];
        const WadiRgb linear = wadi_srgb(c.red, c.green, c.blue);
        cloud.position[i] =
            wadi_add(frame->frame_scene->origin, wadi_vec3((double)s[0], (double)s[1], (double)s[2]));
        cloud.spacing[i] = 2.0f * s[3];
        cloud.spacing_min = fmin(cloud.spacing_min, (double)cloud.spacing[i]);
        cloud.spacing_max = fmax(cloud.spacing_max, (double)cloud.spacing[i]);
        cloud.id[i] = (uint32_t)i;
        colour[3 * i] = linear.x;
        colour[3 * i + 1] = linear.y;
        colour[3 * i + 2] = linear.z;
        wetness[i] = (float)c.wetness / 255.0f;
    }
    cloud.attribute[0] = (WadiCloudAttribute){ "colour", 3, colour };
    cloud.attribute[1] = (WadiCloudAttribute){ "wetness", 1, wetness };
    if (grains->velocity != NULL) {
        cloud.attribute[cloud.attribute_count++] =
            (WadiCloudAttribute){ "velocity", 3, (float *)grains->velocity };
    }
    *made = cloud;
    return WADI_OK;
}

/* Water between the grains darkens them, as in render/trace/bsdf.c. */
static float wet_channel(float colour, float wetness)
{
    return wadi_minf(wadi_wet_grains(colour, wetness), 0.98f);
}

/* The surface of dry sand: half of the light leaves after one reflection among its grains. */
static WadiRgb bed_colour(WadiRgb c, float wetness)
{
    const float once = wadi_bed_albedo_mean();
    WadiRgb dry = { once * c.x / (1.0f - (1.0f - once) * c.x), once * c.y / (1.0f - (1.0f - once) * c.y),
                    once * c.z / (1.0f - (1.0f - once) * c.z) };
    return wadi_lerpf(dry, c, wadi_wet_film(wetness));
}

WadiRgb wadi_export_wet_colour(WadiRgb colour, float wetness)
{
    return (WadiRgb){ wet_channel(colour.x, wetness), wet_channel(colour.y, wetness),
                      wet_channel(colour.z, wetness) };
}

WadiRgb wadi_export_bed_colour(const WadiLook *look, float wetness)
{
    return look->grain_size > 0.0f ? bed_colour(look->colour, wetness) : look->colour;
}

/* Mean radiance of the surround over a patch of directions: heights z0 to z1, azimuths a0 to a1. */
static WadiRgb patch_light(const WadiLight *light, double z0, double z1, double a0, double a1)
{
    WadiRgb sum = { 0 };
    for (int i = 0; i < SAMPLES * SAMPLES; ++i) {
        int row = i / SAMPLES, column = i % SAMPLES;
        double z = z0 + (z1 - z0) * (row + 0.5) / SAMPLES, r = sqrt(1.0 - z * z);
        double a = a0 + (a1 - a0) * (column + 0.5) / SAMPLES;
        sum = wadi_addf(sum, wadi_light_surround(light, wadi_to_vec3f(wadi_vec3(r * cos(a), r * sin(a), z))));
    }
    return wadi_scalef(sum, 1.0f / (SAMPLES * SAMPLES));
}

WadiStatus wadi_export_dome(const WadiLightDef *def, WadiDomeLight dome[WADI_EXPORT_DOME], WadiRgb *sun,
                            WadiError *error)
{
    _Static_assert(RINGS * SECTORS + 1 == WADI_EXPORT_DOME, "patches of the dome");
    WadiLight *light = NULL;
    WADI_TRY(wadi_light_create(&light, def, error));
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < RINGS * SECTORS; ++k) {
        /* Patches of equal solid angle; every other ring is rotated by half a patch. */
        int ring = k / SECTORS;
        double z0 = (double)ring / RINGS, z1 = (ring + 1.0) / RINGS, z = 0.5 * (z0 + z1);
        double a0 = 2.0 * pi * (k % SECTORS + 0.5 * (ring % 2)) / SECTORS, a1 = a0 + 2.0 * pi / SECTORS;
        double a = 0.5 * (a0 + a1), r = sqrt(1.0 - z * z);
        dome[k].direction = wadi_vec3(r * cos(a), r * sin(a), z);
        dome[k].light =
            wadi_scalef(patch_light(light, z0, z1, a0, a1), (float)(2.0 * pi / (RINGS * SECTORS)));
    }
    dome[RINGS * SECTORS] =
        (WadiDomeLight){ wadi_vec3(0.0, 0.0, -1.0),
                         wadi_scalef(patch_light(light, -1.0, 0.0, 0.0, 2.0 * pi), (float)pi) };
    WadiRgb sun_colour =
        def->surround == WADI_SURROUND_SKY ? wadi_sky_sun(def->sun, def->turbidity) : wadi_grey(1.0f);
    *sun = wadi_mulf(sun_colour, def->sun_light);
    wadi_light_destroy(light);
    return WADI_OK;
}
