/* Emitters pour particles out of a shape at a rate; drains take them away. */
#ifndef WADI_PARTICLES_EMIT_H
#define WADI_PARTICLES_EMIT_H

#include "core/arena.h"
#include "geom/solids.h"
#include "particles/crowd.h"
#include "particles/store.h"

typedef struct WadiEmitIn {
    const WadiShape *shape;
    const WadiSolids *solids;  /* nothing is born inside a solid; may be NULL */
    const WadiCurve *velocity; /* m/s */
    const WadiCurve *gravity;  /* m/s^2, on the flight to the end of the step; NULL: none */
    const WadiCurve *rate;     /* m^3 of bulk material a second */
    double particle_volume;    /* m^3 that one particle stands for */
    double start, end;         /* s; end may be INFINITY */
    int64_t max_particles;     /* over the whole run; INT64_MAX: no limit */
    uint64_t seed;             /* differs from emitter to emitter */
    uint8_t material;
    double spacing;           /* m, between particles of bulk material */
    const WadiCrowds *crowds; /* nothing is born where there is no room; may be NULL */
    int outside_column; /* of bytes: gets the open sides (bits WADI_SIDE_…) that a place of birth is beyond; 0: none */
} WadiEmitIn;

/* What an emitter remembers; saved in checkpoints as three numbers. */
typedef struct WadiEmitState {
    double owed;      /* volume due and not yet poured, m^3; by rounding a little below 0 */
    uint64_t emitted; /* particles so far */
    uint64_t tried;   /* places looked at so far, those outside the shape included */
} WadiEmitState;

/* Append what is due in [time, time + dt]. Each particle is born at its own moment inside the step and has
 * already flown for the rest of it, so that a fast jet shows no clumps. An emitter that lies wholly inside
 * solids pours nothing. *crowd: where particles that were due found no room, and were not made; NULL: all did. */
WadiStatus wadi_emit_step(const WadiEmitIn *in, double time, double dt, WadiEmitState *state,
                          WadiParticles *particles, int64_t *count, const WadiCrowd **crowd,
                          WadiError *error);

/* Particles the emitter makes from 0 to `duration` if nothing stops it; for estimates. */
double wadi_emit_expected(const WadiEmitIn *in, double duration);

typedef struct WadiDrainIn {
    const WadiShape *shape;
    double start, end; /* s */
} WadiDrainIn;

/* Remove what is inside any of the drains at `time`; returns the count in *removed. */
WadiStatus wadi_drain_step(const WadiDrainIn *drains, int drain_count, double time, WadiParticles *particles,
                           WadiArena *scratch, int32_t *removed, WadiError *error);

#endif
