/* The columns of mode `height_field`: creation, the largest step, checkpoints. */
#include "dem/dem_field.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "dem/dem_settings.h"
#include "matter/materials.h"

double wadi_dem_repose(const WadiScene *scene, double time)
{
    double sum = 0.0;
    int count = 0;
    for (int m = 0; m < scene->material_count; ++m) {
        if (!scene->materials[m].is_unused) {
            sum += wadi_curve_value(&scene->materials[m].friction_angle, time);
            count += 1;
        }
    }
    return (count > 0 ? sum / count : 30.0) * 3.14159265358979324 / 180.0;
}

WadiStatus wadi_dem_field_create(WadiDemField **field, const WadiSolverContext *context, double diameter,
                                 WadiError *error)
{
    const WadiWorld *world = context->world;
    WadiDemField *f = NULL;
    if (wadi_solids_are_moving(&world->solids)) {
        return wadi_fail(error, WADI_ERR_UNSUPPORTED,
                         "dem.mode: the columns of a height field have fixed floors, and a collider of this "
                         "scene moves; use `full`");
    }
    WADI_TRY(WADI_NEW(&f, 1, "height field", error));
    *field = f;
    f->context = context;
    f->diameter = diameter;
    f->radius = 0.5 * world->spacing;
    f->time_unit = wadi_scene_unit_time(world->scene, diameter);
    WADI_TRY(wadi_particles_add_column(context->particles, "held", WADI_TYPE_U8, &f->frozen_column, error));
    /* Whole spacings: bodies are seeded on a lattice, and all columns shall have as many particles. */
    const double spacings = wadi_dem_def(world->scene)->column_width * diameter / world->spacing;
    const WadiDemColumnsIn in = { .solids = &world->solids,
                                  .box = world->scene->domain,
                                  .width = fmax(1.0, floor(spacings + 0.5)) * world->spacing,
                                  .is_aligned = true,
                                  .least = diameter,
                                  .has_faces = true };
    WADI_TRY(wadi_dem_columns_create(&f->columns, &in, error));
    f->height = world->particle_volume / (f->columns->wx * f->columns->wy);
    return WADI_NEW(&f->frozen_count, (size_t)f->columns->count, "particles of columns", error);
}

void wadi_dem_field_destroy(WadiDemField *field)
{
    if (field != NULL) {
        WADI_DELETE(field->frozen_count, field->columns != NULL ? (size_t)field->columns->count : 0);
        wadi_dem_columns_destroy(field->columns);
        WADI_DELETE(field, 1);
    }
}

WadiDemBcre wadi_dem_field_law(const WadiDemField *field, double time)
{
    /* With the published rate sand runs on for tens of grains on slopes a few degrees below theta_0, and
     * poured heaps end at 22 degrees instead of 30. */
    const double deposition = 10.0;
    WadiDemBcre law =
        wadi_dem_bcre_default(field->diameter, wadi_dem_repose(field->context->world->scene, time),
                              field->diameter / (field->time_unit * field->time_unit));
    law.deposition = deposition;
    return law;
}

double wadi_dem_field_largest_dt(const WadiDemField *field, double time, const char **limit)
{
    const WadiDemBcre law = wadi_dem_field_law(field, time);
    /* Sand in the air: as in the solver `points`, with columns for cells. */
    const WadiForceStep in = { .time = time,
                               .dt = wadi_dem_bcre_largest_dt(field->columns, &law),
                               .distance = 2.0 * fmin(field->columns->wx, field->columns->wy) };
    const double strong = wadi_world_force_step(field->context->world, field->context->particles, &in);
    *limit = strong < in.dt ? "forces" : "rolling sand";
    return strong;
}

WadiStatus wadi_dem_field_save(const WadiDemField *field, WadiState *state, WadiError *error)
{
    const WadiDemColumns *c = field->columns;
    const double numbers[4] = { c->drained, field->volume_debt, (double)field->known_count,
                                (double)field->known_next_id };
    const size_t gaps = (size_t)c->count;
    WADI_TRY(wadi_state_put(state, "dem_field", WADI_TYPE_F64, 1, 4, numbers, error));
    WADI_TRY(wadi_state_put(state, "dem_height", WADI_TYPE_F64, 1, gaps, c->height, error));
    WADI_TRY(wadi_state_put(state, "dem_rolling", WADI_TYPE_F64, 1, gaps, c->rolling, error));
    WADI_TRY(wadi_state_put(state, "dem_held", WADI_TYPE_I32, 1, gaps, field->frozen_count, error));
    return wadi_state_put(state, "dem_crossed", WADI_TYPE_F64, 1, (size_t)c->face_count, c->crossed, error);
}

/* Copies an array of the checkpoint whose values are in a range. */
static WadiStatus load_array(const WadiState *state, const char *name, double *to, size_t count, double low,
                             double high, WadiError *error)
{
    const WadiStateArray *array;
    WADI_TRY(wadi_state_expect_reals(state, name, WADI_TYPE_F64, 1, count, low, high, &array, error));
    if (count > 0) {
        memcpy(to, array->data, count * sizeof(*to));
    }
    return WADI_OK;
}

/* No gap holds more particles than there are in it, unless some were removed since the last step. */
static WadiStatus check_frozen_count(const WadiDemField *field, const WadiStateArray *frozen,
                                     WadiError *error)
{
    const WadiParticles *p = field->context->particles;
    const WadiDemColumns *c = field->columns;
    const uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    const int64_t born = (int64_t)p->next_id - (int64_t)field->known_next_id;
    if (field->known_count + born != p->count) {
        return WADI_OK;
    }
    int32_t *left = NULL;
    const size_t gaps = (size_t)c->count;
    WADI_TRY(WADI_NEW(&left, gaps, "particles of columns", error));
    memcpy(left, field->frozen_count, gaps * sizeof(*left));
    for (int32_t i = 0; i < p->count; ++i) {
        const int32_t column = is_frozen[i] ? wadi_dem_columns_at(c, p->x[i], p->y[i]) : -1;
        const int32_t gap = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
        left[gap >= 0 ? gap : 0] -= gap >= 0;
    }
    size_t wrong = 0;
    while (wrong < gaps && left[wrong] <= 0) {
        ++wrong;
    }
    WADI_DELETE(left, gaps);
    return wrong == gaps ? WADI_OK
                         : wadi_state_fail(error, frozen, wrong, "%d particles are more than the column has",
                                           field->frozen_count[wrong]);
}

WadiStatus wadi_dem_field_load(WadiDemField *field, const WadiState *state, WadiError *error)
{
    WadiDemColumns *c = field->columns;
    const double most = 1e9; /* m */
    double numbers[4];
    const size_t gaps = (size_t)c->count;
    const WadiStateArray *frozen;
    WADI_TRY(wadi_state_check_integers(wadi_state_find(state, "held"), 0, 1, error));
    WADI_TRY(load_array(state, "dem_field", numbers, 4, -1e30, 1e30, error));
    WADI_TRY(load_array(state, "dem_height", c->height, gaps, -most, most, error));
    WADI_TRY(load_array(state, "dem_rolling", c->rolling, gaps, -field->diameter, most, error));
    /* A few particles' volumes; their numbers are added. */
    WADI_TRY(load_array(state, "dem_crossed", c->crossed, (size_t)c->face_count, -1e6 * field->height,
                        1e6 * field->height, error));
    WADI_TRY(wadi_state_expect_integers(state, "dem_held", WADI_TYPE_I32, 1, gaps, 0, WADI_PARTICLES_MAX,
                                        &frozen, error));
    memcpy(field->frozen_count, frozen->data, gaps * sizeof(*field->frozen_count));
    if (!(numbers[2] >= 0.0 && numbers[2] <= WADI_PARTICLES_MAX && numbers[3] >= numbers[2] &&
          numbers[3] <= field->context->particles->next_id && numbers[2] == floor(numbers[2]) &&
          numbers[3] == floor(numbers[3]))) {
        return wadi_state_fail(error, wadi_state_find(state, "dem_field"), 2,
                               "%g particles are not possible with ids below %g", numbers[2], numbers[3]);
    }
    c->drained = numbers[0];
    field->volume_debt = numbers[1];
    field->known_count = (int32_t)numbers[2];
    field->known_next_id = (uint32_t)numbers[3];
    return check_frozen_count(field, frozen, error);
}
