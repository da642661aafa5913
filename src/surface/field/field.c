#include "surface/field/field.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "core/status.h"
#include "surface/cloud/cloud_mirror.h"
#include "surface/field/field_band.h"

static const WadiFieldMethod *const METHODS[WADI_SURFACE_METHOD_COUNT] = {
    [WADI_SURFACE_ZHU_BRIDSON] = &wadi_field_zhu_bridson,
    [WADI_SURFACE_ANISOTROPIC] = &wadi_field_anisotropic,
    [WADI_SURFACE_BLOBBY] = &wadi_field_blobby,
    [WADI_SURFACE_COLOR_FIELD] = &wadi_field_color,
    [WADI_SURFACE_MLS] = &wadi_field_mls,
};

double wadi_field_outside(const WadiCloud *cloud, const WadiFieldDef *def)
{
    double distance = def->support > def->radius ? def->support - def->radius : def->support;
    return cloud->count > 0 ? distance * cloud->spacing_min : def->cell;
}

double wadi_field_reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    return METHODS[def->method]->reference(cloud, def, x);
}

typedef struct CopyJob {
    WadiField *field;
    const WadiFieldBand *band;
    const int32_t *from; /* tile of the band for each tile of the field */
} CopyJob;

static void copy_tiles(void *context, int64_t first, int64_t end)
{
    const CopyJob *job = context;
    const WadiRows *rows = &job->field->rows;
    float cell = (float)job->field->cell, outside = job->band->sampler->outside;
    for (int64_t t = first; t < end; ++t) {
        const WadiFieldTile *tile = &job->band->tile[job->from[t]];
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            uint64_t bit = UINT64_C(1) << rows->index_in_tile[r];
            if (tile->sampled & bit) {
                size_t before = (size_t)__builtin_popcountll(tile->sampled & (bit - 1));
                WADI_ROW_OUT(job->field->value, r) = WADI_ROW(tile->value, before) * cell;
            } else {
                WADI_ROW_OUT(job->field->value, r) = (WadiF8){ 0 } + outside;
            }
        }
    }
}

/* The needed rows of the band, with their values. */
static WadiStatus make_rows(WadiField *field, const WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)band->tiles.count, kept = 0;
    WadiTile *tiles;
    uint64_t *mask;
    int32_t *from;
    WADI_TRY(WADI_ARENA_NEW(arena, &tiles, count, "tiles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &mask, count, "tiles of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &from, count, "tiles of a surface", error));
    for (size_t t = 0; t < count; ++t) {
        mask[kept] = wadi_node_bits_rows(&band->needed[t]);
        if (mask[kept] != 0) {
            tiles[kept] = band->tiles.tiles[t];
            from[kept++] = (int32_t)t;
        }
    }
    WADI_TRY(wadi_tile_map_create_in_arena(&field->tiles, tiles, kept, arena, error));
    WADI_TRY(wadi_rows_build(&field->rows, &field->tiles, mask, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &field->value, wadi_rows_floats(&field->rows), "surface field", error));
    memset(field->value, 0, WADI_ROW_CELLS * sizeof *field->value);
    CopyJob job = { field, band, from };
    wadi_parallel_for(field->tiles.count, 64, copy_tiles, &job);
    return WADI_OK;
}

/* True when all neighbours of a row's nodes are in the band, so that a sign may change. bits: lanes whose
 * sign changes. */
static bool is_surrounded(const WadiRows *rows, int32_t row, unsigned bits)
{
    for (int dz = 0; dz < 3; ++dz) {
        int32_t layer = dz == 1 ? row : rows->neighbour[row][dz == 0 ? WADI_ROW_Z_MIN : WADI_ROW_Z_MAX];
        for (int dy = 0; dy < 3 && layer != 0; ++dy) {
            int32_t at = dy == 1 ? layer : rows->neighbour[layer][dy == 0 ? WADI_ROW_Y_MIN : WADI_ROW_Y_MAX];
            const int32_t *neighbour = rows->neighbour[at];
            if (at == 0 || ((bits & 1) != 0 && neighbour[WADI_ROW_X_MIN] == 0) ||
                ((bits & 0x80) != 0 && neighbour[WADI_ROW_X_MAX] == 0)) {
                return false;
            }
        }
        if (layer == 0) {
            return false;
        }
    }
    return true;
}

void wadi_field_change(WadiField *field, int32_t row, const WadiF8 *old, const WadiF8 *fresh)
{
    WadiI8 is_other = ((*old < 0.0f) ^ (*fresh < 0.0f)) | (*fresh == 0.0f);
    unsigned bits = wadi_row_bits(&is_other);
    if (bits != 0 && !is_surrounded(&field->rows, row, bits)) {
        WADI_ROW_OUT(field->value, row) = WADI_ROW_SELECT(is_other, *old, *fresh);
    } else {
        WADI_ROW_OUT(field->value, row) = *fresh;
    }
}

/* Largest margin, nodes; with a wider one the band would be a solid block. */
static const double margin_max = 10000.0;

WadiStatus wadi_field_check_stop(const WadiFieldDef *def, WadiError *error)
{
    return wadi_stop_requested(def->stop) ? wadi_fail(error, WADI_ERR_STOPPED, "stopped within a frame")
                                          : WADI_OK;
}

static double flatten_unit(const WadiFieldDef *def, const WadiCloud *cloud)
{
    return fmax(cloud->spacing_min, def->flatten_unit);
}

static WadiStatus build(WadiField *field, WadiFieldBand *band, double volume, WadiArena *arena,
                        WadiError *error)
{
    const WadiFieldDef *def = band->sampler->def;
    WADI_TRY(wadi_field_band_build(band, arena, error));
    field->sampled = band->sampled;
    WADI_TRY(make_rows(field, band, arena, error));
    WADI_TRY(wadi_field_check_stop(def, error));
    WADI_TRY(wadi_field_smooth(field, def->smoothing, def->lowering, arena, error));
    WADI_TRY(wadi_field_match_volume(field, def, volume, band->sampler->cloud->spacing_min, arena, error));
    WADI_TRY(wadi_field_check_stop(def, error));
    const WadiBox everywhere = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    WADI_TRY(wadi_field_flatten(field, def->flatten, flatten_unit(def, band->sampler->cloud),
                                def->is_clipped ? def->clip : everywhere, arena, error));
    if (def->is_clipped) {
        wadi_field_clip(field, def->clip);
    }
    return WADI_OK;
}

/* Volume of the particles in the box, and of what is below those of the lowest layer. */
static double volume_within(const WadiCloud *cloud, const WadiFieldDef *def)
{
    double sum = 0.0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        const double s = (double)cloud->spacing[i];
        const bool is_lowest = cloud->position[i].z < def->clip.min.z + def->sunk + s;
        const double height = is_lowest ? s + def->sunk : s;
        sum += wadi_box_contains(def->clip, cloud->position[i]) ? s * s * height : 0.0;
    }
    return sum;
}

WadiStatus wadi_field_build(WadiField *field, const WadiCloud *cloud, const WadiBins *bins,
                            const WadiFieldDef *def, WadiArena *arena, WadiError *error)
{
    WADI_ASSERT_TRY(METHODS[def->method] != NULL, error);
    return wadi_field_build_by(field, METHODS[def->method], cloud, bins, def, arena, error);
}

WadiStatus wadi_field_build_by(WadiField *field, const WadiFieldMethod *method, const WadiCloud *cloud,
                               const WadiBins *bins, const WadiFieldDef *def, WadiArena *arena,
                               WadiError *error)
{
    WADI_ASSERT_TRY(def->cell > 0.0 && def->support > 0.0 && def->smoothing >= 0 && def->lowering >= 0,
                    error);
    *field = (WadiField){ .cell = def->cell };
    double volume = def->is_clipped ? volume_within(cloud, def) : wadi_cloud_volume(cloud);
    WadiCloud mirrored;
    WadiBins mirrored_bins;
    if (def->is_clipped && def->is_mirrored) {
        double depth = fmax(1.0, method->neighbourhood) * def->support;
        WadiBox walls = def->clip;
        walls.min.z += def->sunk;
        WADI_TRY(wadi_cloud_mirror(&mirrored, cloud, walls, depth, arena, error));
        if (mirrored.count > cloud->count) {
            WADI_TRY(wadi_bins_build(&mirrored_bins, &mirrored, def->support, arena, error));
            cloud = &mirrored;
            bins = &mirrored_bins;
        }
    }
    WadiFieldSampler sampler = { .cloud = cloud, .bins = bins, .def = def };
    sampler.outside = (float)wadi_field_outside(cloud, def);
    if (method->prepare != NULL) {
        WADI_TRY(method->prepare(&sampler, arena, error));
    }
    /* A pass moves a sign change by at most one node, and an error of the border by one. After p passes the
     * cells around the sign changes lie within p + 1 nodes of the first ones, and their values depend on p
     * nodes more. */
    int passes = def->smoothing + def->lowering;
    double margin = 2.0 * passes + 1.0;
    if (def->flatten > 0.0) {
        /* wadi_field_change refuses a sign change that a pass and the flattening would both move. */
        margin += wadi_field_flatten_margin(def->cell, flatten_unit(def, cloud)) - (passes > 0 ? 1.0 : 0.0);
    }
    if (!(margin <= margin_max)) {
        return wadi_fail(error, WADI_ERR_MEMORY,
                         "cells of %g m are far too small for particles that are %g m apart; "
                         "surface.cell_size=%.2g would do",
                         def->cell, cloud->spacing_min, 0.1 * cloud->spacing_min);
    }
    WadiFieldBand band = { .method = method, .sampler = &sampler, .margin = (int)margin };

    WADI_TRY(wadi_field_check_stop(def, error));
    WadiStatus status = build(field, &band, volume, arena, error);
    wadi_field_band_free(&band);
    if (status != WADI_OK) {
        *field = (WadiField){ .cell = def->cell };
    }
    return status;
}
