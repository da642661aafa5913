/* Bounds of the friction of a step: pressure between grains, slopes and cohesions of the yield law. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/friction/flip_friction_rate.h"

typedef struct Fill {
    float *values;
    float value;
} Fill;

static void fill_block(void *user, int64_t first, int64_t end)
{
    const Fill *fill = user;
    for (int64_t i = first; i < end; ++i) {
        fill->values[i] = fill->value;
    }
}

static void fill_floats(float *values, size_t count, float value)
{
    wadi_parallel_for((int64_t)count, 8 * WADI_ROW_BLOCK, fill_block, &(Fill){ values, value });
}

/* Larger slopes in sand that shears fast, if its material has a second friction angle. [theory 6.10] */
static WadiStatus make_rate_dependent(const WadiFlip *flip, const WadiFlipStep *step, float *slope,
                                      WadiError *error)
{
    const double degree = 0.017453292519943295;
    const WadiScene *scene = flip->context.world->scene;
    float ratio[WADI_MATERIALS_MAX], grain_size[WADI_MATERIALS_MAX], *ratios = NULL, *grain_sizes = NULL;
    bool does_depend = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        double slow = wadi_curve_value(&material->friction_angle, step->time),
               fast = material->friction_angle_fast;
        bool is_faster = flip->materials.is_sand[m] && !material->is_unused && slow > 0.0 && fast > slow;
        ratio[m] = is_faster ? (float)(tan(degree * fast) / tan(degree * slow)) : 1.0f;
        grain_size[m] = (float)material->grain_size;
        does_depend = does_depend || is_faster;
    }
    if (!does_depend) {
        return WADI_OK;
    }
    WADI_TRY(wadi_flip_material_mean(flip, step, ratio, &ratios, error));
    WADI_TRY(wadi_flip_material_mean(flip, step, grain_size, &grain_sizes, error));
    WadiFrictionRateIn in = {
        .rows = &step->grid.rows,
        .fluid = step->cells.pressure_cells,
        .velocity = { step->saved[0], step->saved[1], step->saved[2] },
        .velocity_row = step->saved_row,
        .pressure = step->cells.pressure,
        .pressure_row = step->cells.pressure_row,
        .cell_size = step->grid.cell_size,
        .dt = step->force_dt,
        .gravity_dt = wadi_flip_gravity_step(flip, step),
        .ratio = ratios,
        .grain_size = grain_sizes,
        .inertial_number = 0.3,
    };
    wadi_friction_rate(&in, slope);
    return WADI_OK;
}

WadiStatus wadi_flip_friction_load(const WadiFlip *flip, const WadiFlipStep *step, WadiFrictionLoad *load,
                                   double **grain, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    size_t floats = wadi_rows_floats(&step->grid.rows);
    float *slope = NULL, *cohesion = step->cells.mix.cohesion;
    *grain = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &slope, floats, "yield slopes", error));
    if (step->cells.mix.slope != NULL) {
        memcpy(slope, step->cells.mix.slope, floats * sizeof *slope);
    } else {
        fill_floats(slope, floats, flip->materials.slope[flip->materials.first]);
    }
    if (cohesion == NULL && flip->materials.cohesion[flip->materials.first] > 0.0f) {
        WADI_TRY(WADI_ARENA_NEW(arena, &cohesion, floats, "cohesion", error));
        fill_floats(cohesion, floats, flip->materials.cohesion[flip->materials.first]);
    }
    if (step->cells.bonds.cohesion != NULL) {
        cohesion = step->cells.bonds.cohesion;
    }
    WADI_TRY(make_rate_dependent(flip, step, slope, error));
    wadi_flip_sleep_weaken(&flip->sleep, wadi_curve_value3(&flip->context.world->scene->gravity, step->time),
                           &step->grid.rows, slope);
    if (flip->materials.has_water) {
        WADI_TRY(
            WADI_ARENA_NEW(arena, grain, 8 * (size_t)step->cells.pressure_rows, "grain pressure", error));
    }
    *load = (WadiFrictionLoad){ .pressure = *grain != NULL ? *grain : step->cells.pressure,
                                .k = slope,
                                .cohesion = cohesion,
                                .tension = step->cells.bonds.tension };
    return WADI_OK;
}
