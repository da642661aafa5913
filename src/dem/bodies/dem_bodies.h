/* Grains of several spheres: rigid bodies. The spheres are the particles; lists, contacts and walls are
 * theirs. A body adds up their loads, moves, and sets their displacements and velocities [theory 13.5].
 *
 * The column `grain` of a sphere is the id of the first sphere of its grain. That column, positions and
 * velocities are the whole state: bodies are made anew with every list. Where spheres of a grain are removed,
 * the others go on as the body that they are. */
#ifndef WADI_DEM_BODIES_H
#define WADI_DEM_BODIES_H

#include "core/arena.h"
#include "dem/contact/dem_pairs.h"
#include "math/vec3.h"

typedef struct WadiDemBody {
    WadiVec3 centre;      /* m: of mass, when the list was made */
    WadiVec3 shift;       /* m: displacement since */
    double turn[4];       /* rotation since, a quaternion */
    WadiVec3 velocity;    /* m/s */
    WadiVec3 momentum;    /* angular, kg m^2/s */
    WadiVec3 inverse[3];  /* 1/(kg m^2): of the inertia tensor when the list was made; rows */
    double mass;          /* kg */
    int32_t first, count; /* its awake spheres in `member` */
    int32_t anchor;       /* a sleeping sphere of it: the body stays where it is; -1: none */
} WadiDemBody;

/* Zeroed: none. */
typedef struct WadiDemBodies {
    WadiDemBody *body;
    int32_t count;
    int32_t *member; /* grains of the list, body by body, in rising order */
    size_t body_capacity, member_capacity;
} WadiDemBodies;

typedef struct WadiDemBodiesIn {
    int32_t first, count;    /* grains before `first` sleep */
    const uint32_t *grain;   /* per grain of the list: the column */
    const double (*base)[3]; /* m: positions */
    const float *mass;       /* kg */
    const float *radius;     /* m: as large as it will be */
    const WadiF8 *motion;    /* as WadiDemGrains.motion */
} WadiDemBodiesIn;

/* Bodies of the awake grains of a list. */
WadiStatus wadi_dem_bodies_build(WadiDemBodies *bodies, const WadiDemBodiesIn *in, WadiArena *scratch,
                                 WadiError *error);
void wadi_dem_bodies_free(WadiDemBodies *bodies);

/* From the centre of mass to a point that was at `base` when the list was made, now. */
WadiVec3 wadi_dem_body_arm(const WadiDemBody *body, const double base[3]);
/* Angular velocity, 1/s. */
WadiVec3 wadi_dem_body_spin(const WadiDemBody *body);
/* What changes a body's velocities during `time`: a force, a torque about the centre, and gravity. */
typedef struct WadiDemBodyKick {
    WadiVec3 force, torque; /* N, N m */
    WadiVec3 push;          /* m/s */
    double time;            /* s */
} WadiDemBodyKick;
/* A kick, then a step along the velocities. */
void wadi_dem_body_move(WadiDemBody *body, const WadiDemBodyKick *kick, double dt);

#endif
