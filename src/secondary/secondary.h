/* Foam, spray, bubbles and dust: particles that follow the water and sand of finished frames and do not act
 * on them. The state after frame n is made of that after frame n - 1 and of both frames, and of nothing else.
 * [IAAT12; theory 14] */
#ifndef WADI_SECONDARY_SECONDARY_H
#define WADI_SECONDARY_SECONDARY_H

#include "core/array.h"
#include "secondary/flow.h"
#include "world/world.h"

typedef enum WadiSecondaryKind {
    WADI_SECONDARY_SPRAY,  /* in the air */
    WADI_SECONDARY_FOAM,   /* at the surface of water */
    WADI_SECONDARY_BUBBLE, /* under water */
    WADI_SECONDARY_DUST,   /* of sand, in the air */
} WadiSecondaryKind;

typedef struct WadiSecondaryParticle {
    WadiVec3 x;   /* m */
    float v[3];   /* m/s */
    float radius; /* m */
    float life;   /* s that are left; 0: gone */
    uint32_t id;
    uint8_t kind;     /* WadiSecondaryKind */
    uint8_t material; /* that it came from */
} WadiSecondaryParticle;

typedef struct WadiSecondary {
    WADI_ARRAY(WadiSecondaryParticle) list; /* in rising order of ids */
} WadiSecondary;

/* The frames from which the next state is made. */
typedef struct WadiSecondaryStep {
    const WadiState *before, *after;
    int frame;         /* number of `after` */
    double time;       /* s, of `after` */
    double frame_time; /* s between them */
} WadiSecondaryStep;

void wadi_secondary_free(WadiSecondary *secondary);
/* From one frame to the next: what is there moves, then more is made. */
WadiStatus wadi_secondary_step(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, WadiArena *arena, WadiError *error);

/* As the arrays of a frame: position, velocity, id, material, radius, kind, life. */
WadiStatus wadi_secondary_save(const WadiSecondary *secondary, WadiState *state, WadiError *error);
WadiStatus wadi_secondary_load(WadiSecondary *secondary, const WadiState *state, WadiError *error);

/* m/s: below *slow nothing is made, above *fast no more. */
void wadi_secondary_speeds(const WadiScene *scene, bool is_sand, double *slow, double *fast);

/* Stages of wadi_secondary_step. The materials that the flows pick: */
void wadi_secondary_pick(const WadiScene *scene, double time, bool is_sand, bool picks[256]);
WadiStatus wadi_secondary_move(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, WadiArena *arena, WadiError *error);
WadiStatus wadi_secondary_make(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, bool is_sand, WadiArena *arena,
                               WadiError *error);

#endif
