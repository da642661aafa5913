/* Attributes of particles for frames: the pressure, and whether the sand yields, of the particle's cell in
 * the last step. Written in steps that end a frame; in others only for particles that may fall asleep in
 * the next step, because sleeping particles are not updated. */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"

enum { TILE_BLOCK = 16 };

WadiStatus wadi_flip_attributes_add(WadiFlip *flip, WadiError *error)
{
    WadiParticles *particles = flip->context.particles;
    WADI_TRY(wadi_particles_add_column(particles, "pressure", WADI_TYPE_F32, &flip->pressure_column, error));
    wadi_particles_show_column(particles, flip->pressure_column);
    flip->rigid_column = -1;
    if (flip->materials.has_sand) {
        WADI_TRY(wadi_particles_add_column(particles, "rigid", WADI_TYPE_U8, &flip->rigid_column, error));
        wadi_particles_show_column(particles, flip->rigid_column);
    }
    return WADI_OK;
}

void wadi_flip_attributes_skip_in_sort(const WadiFlip *flip, bool are_skipped)
{
    wadi_particles_skip_in_sort(flip->context.particles, flip->pressure_column, are_skipped);
    if (flip->rigid_column >= 0) {
        wadi_particles_skip_in_sort(flip->context.particles, flip->rigid_column, are_skipped);
    }
}

WadiStatus wadi_flip_attributes_begin(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const size_t tiles = (size_t)step->sort.tiles.count;
    bool may_fall = false;
    if (step->ends_frame || flip->sleep.is_on) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->cells.is_shown, tiles, "attributes", error));
    }
    if (flip->sleep.is_on) {
        WadiSleepStep now = { .context = &flip->context, .time = step->time, .dt = step->dt };
        wadi_sleep_flag_next(&flip->sleep, &now, &step->sort, step->cells.is_shown, &may_fall);
    }
    if (step->ends_frame) {
        memset(step->cells.is_shown, 1, tiles);
    }
    step->cells.is_shown = step->ends_frame || may_fall ? step->cells.is_shown : NULL;
    flip->are_attributes_old = !may_fall;
    return WADI_OK;
}

typedef struct Context {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    float *pressure;
    uint8_t *rigid; /* NULL: not a column */
    float unit;     /* Pa per unit of P */
} Context;

static void write_tiles(void *user, int64_t first, int64_t end)
{
    const Context *context = user;
    const WadiFlipStep *step = context->step;
    const WadiTileSort *sort = &step->sort;
    const uint8_t *material = context->flip->context.particles->material;
    const uint8_t *is_sand = context->flip->materials.is_sand;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        uint64_t left = step->cells.is_shown[t] != 0 ? sort->row_mask[t] : 0;
        for (; left != 0; left &= left - 1, ++occupied) {
            int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[8 * (size_t)occupied];
            for (int l = 0; l < 8; ++l) {
                float p = context->unit *
                          (float)step->cells.pressure[8 * (size_t)step->cells.pressure_row[row] + (size_t)l];
                uint8_t rigid = step->cells.rigid != NULL ? step->cells.rigid[row] >> l & 1 : 0;
                for (int32_t i = start[l]; i < start[l + 1]; ++i) {
                    context->pressure[i] = p;
                    if (context->rigid != NULL) {
                        context->rigid[i] = rigid & is_sand[material[i]];
                    }
                }
            }
        }
    }
}

void wadi_flip_write_attributes(const WadiFlip *flip, const WadiFlipStep *step)
{
    WadiParticles *particles = flip->context.particles;
    if (step->cells.is_shown == NULL) {
        return;
    }
    Context context = { .flip = flip,
                        .step = step,
                        .pressure = wadi_particles_column(particles, flip->pressure_column),
                        .unit = (float)(flip->materials.density * step->grid.cell_size / step->force_dt) };
    if (flip->rigid_column >= 0) {
        context.rigid = wadi_particles_column(particles, flip->rigid_column);
    }
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, write_tiles, &context);
}
