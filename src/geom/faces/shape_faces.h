/* The smooth surfaces that bound the parts of a shape: planes of boxes, sides and ends of cylinders, and so
 * on. Each goes on beyond its part's edges. A face of a combination lies on one of them. */
#ifndef WADI_GEOM_SHAPE_FACES_H
#define WADI_GEOM_SHAPE_FACES_H

#include "geom/shape_internal.h"

typedef struct WadiFace {
    WadiAffine inverse;     /* world -> frame of the part */
    const WadiShape *field; /* sampled as a whole: meshes, smooth unions, ellipsoids; NULL: see below */
    WadiPrimitive primitive;
    int side;        /* of the primitive */
    bool is_plane;   /* else several of its points may be near each other */
    bool has_tip;    /* of a cone: its normals are not known there */
    WadiVec3 middle; /* of the part, if it has a tip */
    double nearest;  /* m: lower bound on the distance from the query point */
} WadiFace;

/* The faces at most `within` metres from x, the nearest first; the nearest `room` of them if there are
 * more. */
int wadi_shape_faces(const WadiShape *shape, WadiVec3 x, double time, double within, WadiFace *face,
                     int room);

/* First-order distance from x and the unit normal there. */
double wadi_face_sample(const WadiFace *face, WadiVec3 x, double time, WadiVec3 *normal);

#endif
