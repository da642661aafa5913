/* Mode `height_field`: sand is columns (dem/columns), and its particles go where the columns' sand goes.
 *
 * A particle flies freely until it meets the sand or a solid below it; then its volume belongs to the gap of
 * its column, and the gap holds it. Sand that flows from gap to gap takes along the uppermost particles, one
 * for each particle's volume that crossed a face. All other particles stay where they are. Invariant: the
 * volume of a gap, in particles, is the number that it holds plus what is left over at its faces, at most
 * half a particle each where the upper gap had one to give. */
#ifndef WADI_DEM_FIELD_H
#define WADI_DEM_FIELD_H

#include "dem/columns/dem_columns.h"
#include "world/solver.h"

typedef struct WadiDemField {
    const WadiSolverContext *context; /* of the solver */
    WadiDemColumns *columns;
    double diameter;       /* m, of grains */
    double radius;         /* m: half a spacing */
    double height;         /* m: of a particle's volume spread over a column */
    double time_unit;      /* s: sqrt(diameter / g) */
    int frozen_column;     /* of bytes: 1 for particles that a gap holds, 0 in flight */
    int32_t *frozen_count; /* number of particles of each gap */
    /* Store after the last step: what is missing in the next one was removed between them. */
    int32_t known_count;
    uint32_t known_next_id;
    double
        volume_debt; /* m: volume over column area that was removed with particles and not yet from a gap */
} WadiDemField;

/* Parts of a step. */
typedef struct WadiDemFieldStep {
    double time, dt;
    int32_t *gap; /* of each particle; -1: none */
    /* Held particles by gap: order[start[g]] .. ; NULL until sorted. */
    int32_t *start, *order;
} WadiDemFieldStep;

/* dem_field.c */
WadiStatus wadi_dem_field_create(WadiDemField **field, const WadiSolverContext *context, double diameter,
                                 WadiError *error);
void wadi_dem_field_destroy(WadiDemField *field);
double wadi_dem_field_largest_dt(const WadiDemField *field, double time, const char **limit);
WadiStatus wadi_dem_field_save(const WadiDemField *field, WadiState *state, WadiError *error);
WadiStatus wadi_dem_field_load(WadiDemField *field, const WadiState *state, WadiError *error);
/* The angle of repose of a scene's sand at a time: the mean of its materials. And the law with it. */
double wadi_dem_repose(const WadiScene *scene, double time);
WadiDemBcre wadi_dem_field_law(const WadiDemField *field, double time);

/* dem_field_step.c */
WadiStatus wadi_dem_field_take_step(WadiDemField *field, const WadiSolverStep *now, WadiStepReport *report,
                                    WadiError *error);
/* Lists particles by gap: those whose column of bytes is `frozen`. */
WadiStatus wadi_dem_field_sort(const WadiDemField *field, WadiDemFieldStep *step, uint8_t frozen,
                               WadiError *error);
/* Sorts particles by height, from below. */
void wadi_dem_field_sort_by_height(const WadiParticles *particles, int32_t *items, int32_t count);

/* dem_field_fly.c: particles in flight move; those that meet sand or solids below join a gap. */
WadiStatus wadi_dem_field_fly(WadiDemField *field, WadiDemFieldStep *step, WadiStepReport *report,
                              WadiError *error);
WadiStatus wadi_dem_field_land(WadiDemField *field, WadiDemFieldStep *step, WadiError *error);

/* dem_field_place.c: a coordinate (axis 0: x, 1: y) moved to the same part of another column. */
double wadi_dem_field_shift(const WadiDemColumns *columns, double x, int32_t from, int32_t to, int axis);
/* Moves particle i of a gap to x, or to the nearest free point towards the axis of the column. */
void wadi_dem_field_place(const WadiDemField *field, int32_t i, int32_t gap, WadiVec3 x);
/* The same, straight down to z, if the particle is higher. */
void wadi_dem_field_lower_to(const WadiDemField *field, int32_t i, int32_t gap, double z);

/* dem_field_transfer.c: takes the volume of particles that were removed; moves particles with the sand. */
WadiStatus wadi_dem_field_remove(WadiDemField *field, WadiDemFieldStep *step, WadiError *error);
void wadi_dem_field_pay_debt(WadiDemField *field);
WadiStatus wadi_dem_field_transfer(WadiDemField *field, WadiDemFieldStep *step, WadiError *error);
/* No frozen particle lies above its sand. */
void wadi_dem_field_lower(const WadiDemField *field, const WadiDemFieldStep *step);

#endif
