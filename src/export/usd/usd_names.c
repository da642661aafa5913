/* Names, places and cameras as USD has them. */
#include <stdio.h>
#include <string.h>

#include "export/usd/export_usd.h"

/* Lost bits of a float's 24 above which coordinates are moved to the origin. */
static const double FAR_AWAY = 8.0;
static const double FILM_WIDTH = 0.36; /* tenths of a metre */

void wadi_usd_file(const WadiExportFrame *frame, const char *kind, char file[WADI_EXPORT_FILE_SIZE])
{
    snprintf(file, WADI_EXPORT_FILE_SIZE, "%.200s.%.60s.usdc", frame->name, kind);
}

/* Letters, digits and '_'; a leading digit gets a '_' before it. */
static void to_identifier(const char *text, char name[WADI_USD_NAME_SIZE])
{
    const char *lead = text[0] >= '0' && text[0] <= '9' ? "_" : "";
    snprintf(name, WADI_USD_NAME_SIZE, "%s%.100s", lead, text);
    for (char *c = name; *c != '\0'; ++c) {
        if (*c == '.' || *c == '-') {
            *c = '_';
        }
    }
}

/* Materials "a.b" and "a-b" have one identifier: those after the first get their number. */
static void number_from(int index, bool is_taken, char name[WADI_USD_NAME_SIZE])
{
    if (is_taken) {
        const size_t length = strlen(name);
        snprintf(name + length, WADI_USD_NAME_SIZE - length, "__%d", index);
    }
}

void wadi_usd_material_name(const WadiScene *scene, int material, char name[WADI_USD_NAME_SIZE])
{
    bool is_taken = false;
    to_identifier(scene->materials[material].name, name);
    for (int m = 0; m < material; ++m) {
        char other[WADI_USD_NAME_SIZE];
        to_identifier(scene->materials[m].name, other);
        is_taken |= strcmp(other, name) == 0;
    }
    number_from(material, is_taken, name);
}

static void plain_solid_name(const WadiFrameScene *frame_scene, int solid, char name[WADI_USD_NAME_SIZE])
{
    const char *given = frame_scene->solids[solid].name;
    if (given != NULL && given[0] != '\0') {
        to_identifier(given, name);
    } else {
        snprintf(name, WADI_USD_NAME_SIZE, "solid_%d", solid);
    }
}

void wadi_usd_solid_name(const WadiFrameScene *frame_scene, int solid, char name[WADI_USD_NAME_SIZE])
{
    bool is_taken = false;
    plain_solid_name(frame_scene, solid, name);
    for (int s = 0; s < solid; ++s) {
        char other[WADI_USD_NAME_SIZE];
        plain_solid_name(frame_scene, s, other);
        is_taken |= strcmp(other, name) == 0;
    }
    number_from(solid, is_taken, name);
}

WadiVec3 wadi_usd_origin(const WadiExportFrame *frame)
{
    const WadiBox domain = frame->scene->domain;
    const WadiVec3 middle = wadi_scale(wadi_add(domain.min, domain.max), 0.5);
    const bool is_far =
        frame->scene->has_domain && wadi_norm(middle) > FAR_AWAY * wadi_norm(wadi_box_size(domain));
    return is_far ? middle : wadi_vec3(0.0, 0.0, 0.0);
}

bool wadi_usd_camera(const WadiExportFrame *frame, WadiUsdCamera *camera)
{
    WadiExportCamera axes;
    if (!wadi_export_camera(&frame->camera, &axes)) {
        return false;
    }
    /* A camera looks along its -z. */
    const WadiVec3 rows[4] = { wadi_export_axes(frame, axes.right), wadi_export_axes(frame, axes.up),
                               wadi_export_axes(frame, wadi_scale(axes.forward, -1.0)),
                               wadi_export_axes(frame, wadi_sub(frame->camera.eye, wadi_usd_origin(frame))) };
    for (int r = 0; r < 4; ++r) {
        const double row[4] = { rows[r].x, rows[r].y, rows[r].z, r == 3 ? 1.0 : 0.0 };
        memcpy(camera->rows + 4 * r, row, sizeof row);
    }
    const WadiRenderSettings *render = &frame->scene->render;
    camera->aperture[0] = FILM_WIDTH;
    camera->aperture[1] = FILM_WIDTH * render->height / render->width;
    camera->focal_length = camera->aperture[1] / (2.0 * axes.half_height);
    camera->focus = axes.focus;
    /* The diameter of the opening is the focal length over the stop; 0: everything is sharp. */
    camera->f_stop = frame->camera.lens_radius > 0.0
                         ? 0.1 * camera->focal_length / (2.0 * frame->camera.lens_radius)
                         : 0.0;
    return true;
}
