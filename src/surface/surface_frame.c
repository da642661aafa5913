/* The stages of a surface in order [ZB05 sec. 5], timed. Memory is estimated before the field is built. */
#include "surface/surface_frame.h"

#include <math.h>

#include "core/alloc.h"
#include "surface/write/write_obj.h"
#include "surface/write/write_ply.h"
#include "surface/write/write_vdb.h"

/* Bytes per surface vertex of field, mesh and scratch together (250 measured), and vertices per square of one
 * cell: an inclined plane has up to sqrt(3). */
static const double bytes_per_vertex = 400.0;
static const double vertices_per_square = 1.5;

/* Spacings: bumps and dents of a particle go, threads and sheets of a few stay. */
static const double MOST_INWARD = 1.0, MOST_OUTWARD = 2.0;

/* Surface area of the particles of one level, as faces between occupied and empty bins: close for large
 * bodies. */
static double side_area(const WadiCells *cells)
{
    static const int side[6][3] = { { -1, 0, 0 }, { 1, 0, 0 },  { 0, -1, 0 },
                                    { 0, 1, 0 },  { 0, 0, -1 }, { 0, 0, 1 } };
    int64_t sides = 0;
    for (int32_t c = 0; c < cells->cell_count; ++c) {
        const int32_t *at = cells->coordinate[c];
        for (int s = 0; s < 6; ++s) {
            sides += wadi_cells_find(cells, at[0] + side[s][0], at[1] + side[s][1], at[2] + side[s][2]) < 0;
        }
    }
    return (double)sides * cells->cell_size * cells->cell_size;
}

/* Surface area of separate balls: an upper bound, close for drops. */
static double ball_area(const WadiBins *bins, int level, double radius_per_support)
{
    double sum = 0.0;
    for (int32_t i = bins->first[level]; i < bins->first[level + 1]; ++i) {
        double r = radius_per_support * (double)bins->point[i][3];
        sum += 12.566370614359172 * r * r;
    }
    return sum;
}

double wadi_surface_frame_estimate(const WadiBins *bins, const WadiFieldDef *def)
{
    double area = 0.0;
    for (int l = 0; l < bins->level_count; ++l) {
        area += fmin(side_area(&bins->level[l]), ball_area(bins, l, def->radius / def->support));
    }
    return bytes_per_vertex * vertices_per_square * area / (def->cell * def->cell);
}

static WadiStatus check_memory(const WadiBins *bins, const WadiSurfaceFrameDef *def, WadiError *error)
{
    double bytes = wadi_surface_frame_estimate(bins, &def->field);
    if (def->memory <= 0.0 || bytes <= def->memory) {
        return WADI_OK;
    }
    return wadi_fail(
        error, WADI_ERR_MEMORY,
        "cells of %g m need about %.1f GiB, and %.1f GiB are there; surface.cell_size=%.2g would do",
        def->field.cell, bytes * 0x1p-30, def->memory * 0x1p-30,
        1.05 * def->field.cell * sqrt(bytes / def->memory));
}

/* An empty mesh keeps the attribute names, so that every file of a series has the same columns. */
static void name_attributes(WadiSurfaceMesh *surface, const WadiCloud *cloud)
{
    surface->attribute_count = cloud->attribute_count;
    for (int a = 0; a < cloud->attribute_count; ++a) {
        surface->attribute[a] = cloud->attribute[a];
        surface->attribute[a].values = NULL;
    }
}

static WadiStatus build(WadiSurfaceFrame *frame, const WadiCloud *cloud, const WadiSurfaceFrameDef *def,
                        WadiArena *arena, WadiStageTimes *times, WadiError *error)
{
    WadiSurfaceMesh *surface = &frame->surface;
    const WadiFieldDef *field = &def->field;
    WadiBins bins;
    WADI_STAGE(times, "bins", WADI_TRY(wadi_bins_build(&bins, cloud, field->support, arena, error)));
    WADI_TRY(check_memory(&bins, def, error));
    WADI_TRY(wadi_field_check_stop(field, error));
    WADI_STAGE(times, "field", WADI_TRY(wadi_field_build(&frame->field, cloud, &bins, field, arena, error)));
    WADI_TRY(wadi_field_check_stop(field, error));
    WADI_STAGE(times, "march", WADI_TRY(wadi_surface_march(surface, &frame->field, arena, error)));
    WADI_TRY(wadi_field_check_stop(field, error));
    if (def->has_sharp_edges && field->is_clipped) {
        WADI_TRY(wadi_surface_sharpen(surface, field->clip, arena, error));
    }
    if (def->has_no_voids) {
        WADI_TRY(wadi_surface_drop_voids(surface, arena, error));
    }
    if (def->bumps > 0.0) {
        double spacing = fmax(cloud->spacing_min, field->flatten_unit);
        WadiLowPassDef filter = { def->bumps * spacing, MOST_INWARD * spacing, MOST_OUTWARD * spacing };
        WADI_STAGE(
            times, "smooth mesh",
            WADI_TRY(wadi_surface_low_pass(surface, &filter, field->is_clipped, field->clip, arena, error)));
    }
    if (def->mesh_smoothing > 0) {
        WADI_STAGE(times, "smooth mesh",
                   WADI_TRY(wadi_surface_smooth(surface, def->mesh_smoothing, field->is_clipped, field->clip,
                                                arena, error)));
    }
    if (def->are_walls_open && field->is_clipped) {
        WADI_STAGE(times, "open walls",
                   WADI_TRY(wadi_surface_open_walls(
                       surface, field->clip, WADI_SURFACE_WALL_TOLERANCE * field->cell, arena, error)));
    }
    WADI_TRY(wadi_field_check_stop(field, error));
    if (surface->mesh.vertex_count > 0) {
        WADI_STAGE(times, "attributes", WADI_TRY(wadi_surface_attributes(surface, cloud, &bins, error)));
    } else {
        name_attributes(surface, cloud);
    }
    return WADI_OK;
}

WadiStatus wadi_surface_frame_build(WadiSurfaceFrame *frame, const WadiCloud *cloud,
                                    const WadiSurfaceFrameDef *def, WadiArena *arena, WadiStageTimes *times,
                                    WadiError *error)
{
    *frame = (WadiSurfaceFrame){ .field.cell = def->field.cell };
    if (cloud->count == 0) {
        name_attributes(&frame->surface, cloud);
        return WADI_OK;
    }
    WadiStatus status = build(frame, cloud, def, arena, times, error);
    if (status != WADI_OK) {
        wadi_surface_mesh_free(&frame->surface);
        *frame = (WadiSurfaceFrame){ 0 };
    }
    return status;
}

const char *wadi_surface_format_name(WadiSurfaceFormat format)
{
    return format == WADI_SURFACE_PLY ? "ply" : format == WADI_SURFACE_OBJ ? "obj" : "vdb";
}

WadiStatus wadi_surface_format_check(WadiSurfaceFormat format, WadiError *error)
{
    return format == WADI_SURFACE_VDB ? wadi_surface_vdb_check(error) : WADI_OK;
}

WadiStatus wadi_surface_frame_write(const WadiSurfaceFrame *frame, const char *path, WadiSurfaceFormat format,
                                    const WadiMeshFileInfo *info, WadiError *error)
{
    switch (format) {
    case WADI_SURFACE_PLY: return wadi_surface_write_ply(path, &frame->surface, info, error);
    case WADI_SURFACE_OBJ: return wadi_surface_write_obj(path, &frame->surface, info, error);
    default: return wadi_surface_write_vdb(path, &frame->field, info, error);
    }
}

bool wadi_surface_frame_is_made(const char *path, WadiSurfaceFormat format, uint64_t key)
{
    return format == WADI_SURFACE_VDB ? wadi_surface_vdb_has_key(path, key)
                                      : wadi_mesh_file_has_key(path, key);
}
