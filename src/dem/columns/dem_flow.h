/* Which grains rest in the height field and which move above it [ZY10 sec. 3.1, sec. 3.2].
 *
 * Every few contact times the surface H of each gap is measured from its grains; h, the top of the static
 * sand, evolves by the exchange of the BCRE equations, with R = H - h; then grains below h that have come to
 * rest freeze, and frozen grains above h wake. Transport of R is not computed: the moving grains are it.
 * Where nothing has moved for a while R is 0: the surface freezes too, until something moves beside it.
 * The rules that differ from the paper are in docs/dem-surface-flow.md. */
#ifndef WADI_DEM_FLOW_H
#define WADI_DEM_FLOW_H

#include "core/arena.h"
#include "dem/columns/dem_columns.h"
#include "particles/store.h"

/* State of a grain, a byte: frozen, or awake with the number of intervals before it may freeze. */
#define WADI_DEM_FLOW_MARGIN (5.0 * 3.14159265358979324 / 180.0) /* of theta_0 above the angle of the heap */
enum { WADI_DEM_FROZEN = 255, WADI_DEM_WOKEN = 3, WADI_DEM_AWAKE = 0 };

typedef struct WadiDemFlow {
    WadiDemColumns *columns; /* height: h; rolling: H - h; both >= 0 above the floor */
    double diameter;         /* m */
    double least_depth;      /* m: R_min, the thickness that stays awake everywhere */
    double freeze_speed;     /* m/s: mean over an interval */
    double fall_speed;       /* m/s: faster falling grains are not part of the surface */
    double interval;         /* s, between two evaluations */
    WadiDemBcre law;
} WadiDemFlow;

/* Of the grains in the store, per particle. */
typedef struct WadiDemFlowIn {
    const WadiParticles *particles;
    int32_t first;                /* particles before it are frozen */
    const uint8_t *state;         /* as above */
    const float *mark[3];         /* position at the last evaluation, m, from the corner of the columns */
    double elapsed;               /* s, since then */
    const uint8_t *is_unbalanced; /* forces accelerate it: it does not freeze; NULL: none */
    uint8_t *
        quiescent; /* per gap, kept by the caller from 0 on: evaluations since something moved in it or beside
                      it; NULL: what is near the surface never freezes */
    const uint8_t
        *disturbed; /* per gap: it has lost grains or a solid moves near it: all of it wakes; or NULL */
    /* Per gap: the solid between it and the next gap above has moved away, so that it carries that one; or
     * NULL. */
    const uint8_t *opens;
} WadiDemFlowIn;

/* New states, per particle; those that do not change are as before. */
typedef struct WadiDemFlowOut {
    uint8_t *state;
    int32_t frozen, woken; /* numbers of grains that changed */
} WadiDemFlowOut;

/* Usual values: depth 3 d, interval 0.16 sqrt(d / g), freeze_speed 0.05 sqrt(g d), theta_0 5 degrees above
 * the angle of the heap. */
void wadi_dem_flow_init(WadiDemFlow *flow, WadiDemColumns *columns, double diameter, double repose, double g);

/* One evaluation. The height of the columns changes; scratch is released. */
WadiStatus wadi_dem_flow_evaluate(WadiDemFlow *flow, const WadiDemFlowIn *in, WadiDemFlowOut *out,
                                  WadiArena *scratch, WadiError *error);

#endif
