/* Emitters add particles in a shape at a rate; drains remove them. */
#ifndef WADI_PARTICLES_EMIT_H
#define WADI_PARTICLES_EMIT_H

#include "core/arena.h"
#include "geom/solids.h"
#include "particles/overfull.h"
#include "particles/store.h"

typedef struct WadiEmitIn {
    const WadiShape *shape;
    const WadiSolids *solids;  /* nothing is emitted inside a solid; may be NULL */
    const WadiCurve *velocity; /* m/s */
    const WadiCurve *gravity;  /* m/s^2, until the end of the step; NULL: none */
    const WadiCurve *rate;     /* m^3 of bulk material a second */
    double particle_volume;    /* m^3, bulk volume of a particle */
    double start, end;         /* s; end may be INFINITY */
    int64_t max_particles;     /* over the whole run; INT64_MAX: no limit */
    uint64_t seed;             /* differs from emitter to emitter */
    uint8_t material;
    double spacing;                   /* m, between particles of bulk material */
    const WadiOverfullList *overfull; /* nothing is emitted in overfull bodies; may be NULL */
    /* Column of bytes, set to the open sides (bits WADI_SIDE_…) that the position of birth is beyond; 0:
     * none. */
    int outside_column;
} WadiEmitIn;

/* State of an emitter; saved in checkpoints as three numbers. */
typedef struct WadiEmitState {
    double owed;      /* m^3, volume due and not yet emitted; by rounding slightly below 0 */
    uint64_t emitted; /* particles so far */
    uint64_t tried;   /* candidate positions so far, those outside the shape included */
} WadiEmitState;

/* Append the particles due in [time, time + dt]. Each is born at its own time within the step and has
 * moved for the remainder, so that a fast jet has no clumps. An emitter wholly inside solids emits
 * nothing. *region: the overfull region where particles were due and not made; NULL: none. */
WadiStatus wadi_emit_step(const WadiEmitIn *in, double time, double dt, WadiEmitState *state,
                          WadiParticles *particles, int64_t *count, const WadiOverfullRegion **region,
                          WadiError *error);

/* Volume poured from t0 to t1, m^3. */
double wadi_emit_poured(const WadiEmitIn *in, double t0, double t1);
/* Displacement from 0 to `time` of what moves with the emitter's velocity, m. */
WadiVec3 wadi_emit_travel(const WadiEmitIn *in, double time);
/* Whole particles in a volume. One is due when all but a billionth of its volume is, so that rounding does
 * not delay the last one. */
double wadi_emit_due(double volume, double particle_volume);
/* Sets the column of open sides of particle i, which was born at x. The position of birth counts, not the one
 * after the flight: a particle that crosses an open side in its first step has left. */
void wadi_emit_record_open_sides(const WadiEmitIn *in, WadiVec3 x, WadiParticles *particles, int64_t i);

/* Particles emitted from 0 to `duration` without obstruction; for estimates. */
double wadi_emit_expected(const WadiEmitIn *in, double duration);

typedef struct WadiDrainIn {
    const WadiShape *shape;
    double start, end; /* s */
} WadiDrainIn;

/* Marks the particles inside any of the drains at `time`, in the arena; NULL: there are none. */
WadiStatus wadi_drain_mark(const WadiDrainIn *drains, int drain_count, double time,
                           const WadiParticles *particles, uint8_t **is_inside, WadiArena *arena,
                           WadiError *error);

#endif
