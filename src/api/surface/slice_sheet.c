/* Slices through the surfaces of one frame, with different settings side by side. The inside is shaded, the
 * surface is a line, particles within half a spacing of the plane are dots. */
#include <math.h>
#include <string.h>

#include "api/surface/surface_plan.h"
#include "core/alloc.h"
#include "core/check.h"
#include "io/run/run_files.h"
#include "render/image/image.h"
#include "surface/cloud/cloud.h"
#include "wadi/picture.h"

enum { SLICE_DEF_COOKIE = 0x511ce, GAP = 4, PANEL_MAX = 16 };

WadiSliceDef wadi_default_slice_def(void)
{
    return (WadiSliceDef){ .cookie = SLICE_DEF_COOKIE, .width = 480 };
}

/* A panel being made. */
typedef struct Panel {
    WadiCloud cloud;
    WadiArena arena;
    WadiField field;
    double y, left, bottom, pixel; /* m: the plane, the corner of the panel, the edge of a pixel */
    int width, height;
    uint8_t *is_inside; /* per pixel, from the bottom */
} Panel;

/* Samples the field at a point of the plane; false where a node around it is not in the band. */
static bool sample(const WadiField *field, double x, double y, double z, double *value)
{
    double at[3] = { x / field->cell, y / field->cell, z / field->cell }, part[3];
    int32_t low[3];
    for (int a = 0; a < 3; ++a) {
        double whole = floor(at[a]);
        low[a] = (int32_t)whole;
        part[a] = at[a] - whole;
    }
    *value = 0.0;
    for (int n = 0; n < 8; ++n) {
        int32_t i = low[0] + (n & 1), j = low[1] + (n >> 1 & 1), k = low[2] + (n >> 2);
        int32_t row = wadi_rows_find(&field->rows, i, j, k);
        if (row == 0) {
            return false;
        }
        double weight = ((n & 1) != 0 ? part[0] : 1.0 - part[0]) *
                        ((n >> 1 & 1) != 0 ? part[1] : 1.0 - part[1]) *
                        ((n >> 2) != 0 ? part[2] : 1.0 - part[2]);
        *value += weight * (double)field->value[(size_t)WADI_ROW_CELLS * (size_t)row + (size_t)(i & 7)];
    }
    return true;
}

/* Outside the band a pixel has the side of the previous one: the band contains every change of side. */
static void find_inside(Panel *panel)
{
    for (int v = 0; v < panel->height; ++v) {
        uint8_t side = 0;
        for (int u = 0; u < panel->width; ++u) {
            double value, x = panel->left + (u + 0.5) * panel->pixel,
                          z = panel->bottom + (v + 0.5) * panel->pixel;
            if (sample(&panel->field, x, panel->y, z, &value)) {
                side = value < 0.0;
            }
            panel->is_inside[(size_t)v * (size_t)panel->width + (size_t)u] = side;
        }
    }
}

static bool is_inside(const Panel *panel, int u, int v)
{
    return u >= 0 && v >= 0 && u < panel->width && v < panel->height &&
           panel->is_inside[(size_t)v * (size_t)panel->width + (size_t)u] != 0;
}

static void set_pixel(WadiImage *image, int left, const Panel *panel, int u, int v, const uint8_t color[3])
{
    if (u >= 0 && v >= 0 && u < panel->width && v < panel->height) {
        size_t at = (size_t)(panel->height - 1 - v) * (size_t)image->width + (size_t)(left + u);
        memcpy(image->rgb + 3 * at, color, 3);
    }
}

static void draw_panel(const Panel *panel, WadiImage *image, int left)
{
    static const uint8_t inside[3] = { 196, 218, 240 }, line[3] = { 20, 60, 120 }, dot[3] = { 120, 120, 120 };
    for (int v = 0; v < panel->height; ++v) {
        for (int u = 0; u < panel->width; ++u) {
            bool is_in = is_inside(panel, u, v), is_edge = false;
            for (int n = 0; n < 9; ++n) {
                is_edge = is_edge || is_inside(panel, u + n % 3 - 1, v + n / 3 - 1) != is_in;
            }
            if (is_in || is_edge) {
                set_pixel(image, left, panel, u, v, is_edge ? line : inside);
            }
        }
    }
    for (int32_t i = 0; i < panel->cloud.count; ++i) {
        WadiVec3 p = panel->cloud.position[i];
        if (fabs(p.y - panel->y) < 0.5 * (double)panel->cloud.spacing[i]) {
            int u = (int)floor((p.x - panel->left) / panel->pixel),
                v = (int)floor((p.z - panel->bottom) / panel->pixel);
            for (int n = 0; n < 4; ++n) {
                set_pixel(image, left, panel, u + (n & 1), v + (n >> 1), dot);
            }
        }
    }
}

/* Builds the cloud of the plan's first material, its field, and the panel. */
static WadiStatus build_panel(Panel *panel, const WadiSurfacePlan *plan, int width, WadiError *error)
{
    WadiFrameHeader header;
    WadiState state = { 0 };
    WadiStatus status = wadi_run_view_read_frame(&plan->view, plan->view.first, &header, &state, error);
    if (status == WADI_OK) {
        status = wadi_cloud_from_frame(&panel->cloud, &state, plan->part[0].material, 0.0, error);
    }
    wadi_state_free(&state);
    WADI_TRY(status);
    if (panel->cloud.count == 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%s: frame %d has no particles to draw", plan->view.run,
                         plan->view.first);
    }
    WadiBins bins;
    const WadiFieldDef *def = &plan->frame.field;
    WADI_TRY(wadi_bins_build(&bins, &panel->cloud, def->support, &panel->arena, error));
    WADI_TRY(wadi_field_build(&panel->field, &panel->cloud, &bins, def, &panel->arena, error));

    WadiBox box = wadi_box_empty();
    for (int32_t i = 0; i < panel->cloud.count; ++i) {
        box = wadi_box_add_point(box, panel->cloud.position[i]);
    }
    box = wadi_box_grown(box, 3.0 * panel->cloud.spacing_max);
    panel->y = 0.5 * (box.min.y + box.max.y);
    panel->left = box.min.x;
    panel->bottom = box.min.z;
    panel->pixel = (box.max.x - box.min.x) / width;
    panel->width = width;
    panel->height = (int)fmin(ceil((box.max.z - box.min.z) / panel->pixel), 4.0 * width);
    return WADI_NEW(&panel->is_inside, (size_t)panel->width * (size_t)panel->height, "slice", error);
}

static void panel_free(Panel *panel)
{
    WADI_DELETE(panel->is_inside, (size_t)panel->width * (size_t)panel->height);
    wadi_cloud_free(&panel->cloud);
    wadi_arena_free(&panel->arena);
}

static WadiStatus add_panel(const WadiSliceDef *def, int index, WadiImage *image, WadiError *error)
{
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.sets = &def->settings[index];
    surface.set_count = 1;
    surface.first_frame = surface.last_frame = def->frame;
    WadiSurfacePlan *plan = NULL;
    WADI_TRY(WADI_NEW(&plan, 1, "slice", error));
    Panel panel = { 0 };
    WadiStatus status = wadi_surface_plan_open(plan, def->run, &surface, error);
    if (status == WADI_OK) {
        plan->view.first = plan->view.last;
        status = build_panel(&panel, plan, def->width, error);
        wadi_surface_plan_close(plan);
    }
    if (status == WADI_OK && index == 0) {
        status = wadi_image_init(image, def->panel_count * (def->width + GAP) - GAP, panel.height, error);
        if (status == WADI_OK) {
            memset(image->rgb, 255, (size_t)image->width * (size_t)image->height * 3);
        }
    }
    if (status == WADI_OK) {
        find_inside(&panel);
        draw_panel(&panel, image, index * (def->width + GAP));
    }
    panel_free(&panel);
    WADI_DELETE(plan, 1);
    return status;
}

WadiStatus wadi_slice_sheet(const WadiSliceDef *def, const char *path, WadiError *error)
{
    if (def == NULL || def->cookie != SLICE_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the definition of slices is not from wadi_default_slice_def");
    }
    if (def->run == NULL || path == NULL || def->settings == NULL || def->panel_count < 1 ||
        def->panel_count > PANEL_MAX || def->width < 16 || def->width > 1000 || def->frame < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "slices need a run, a path, 1 to %d settings and a width of 16 to 1000 pixels",
                         PANEL_MAX);
    }
    const unsigned asserts = wadi_assert_count();
    WadiImage image = { 0 };
    WadiStatus status = WADI_OK;
    for (int i = 0; i < def->panel_count && status == WADI_OK; ++i) {
        status = add_panel(def, i, &image, error);
    }
    if (status == WADI_OK) {
        status = wadi_image_write_png(&image, path, error);
    }
    wadi_image_free(&image);
    return wadi_assert_status(status, asserts, error);
}
